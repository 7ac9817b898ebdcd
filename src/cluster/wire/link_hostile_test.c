/* Links and strangers on bare sockets: who cannot prove the key, and friends whose frames are
 * replayed, changed, cut or too large. */
#include "cluster/wire/link_testing.h"

static int stranger_connects(const struct side *s)
{
    struct sockaddr_in to;
    uv_ip4_addr("127.0.0.1", port_of(s), &to);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        printf("# connect: %s\n", strerror(errno));
    return fd;
}

/* All that comes until the other end closes, or for a while. */
static void stranger_receives(int fd, struct strbuf *out, size_t enough)
{
    char piece[4096];
    for (int i = 0; i < 400 && out->n < enough; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        ssize_t n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        if (n > 0)
            strbuf_add_bytes(out, piece, (size_t)n);
        else if (n == 0 || errno != EAGAIN)
            return;
        else
            poll(NULL, 0, 1);
    }
}

/* What a stranger says, and what must stand in the log. */
static void stranger_is_refused(const char *what, const void *data, size_t n, bool end,
                                const char *want)
{
    struct side a;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.handshake = 0.2;
    begin(&a, &c);
    int fd = stranger_connects(&a);
    send(fd, data, n, MSG_NOSIGNAL);
    if (end)
        shutdown(fd, SHUT_WR);
    struct strbuf heard = {0};
    stranger_receives(fd, &heard, SIZE_MAX);
    ok(until(&a.closed, 1), "%s: closed", what);
    has_str(strbuf_text(&a.log), want, "%s: logged", what);
    ok(heard.n <= 32, "%s: it hears the challenge at most", what);
    is_int(a.opened + a.messages, 0, "%s: nothing was let in", what);
    is_int(links_counts(a.all).refused, 1, "%s: counted", what);
    strbuf_free(&heard);
    close(fd);
    finish(&a, NULL);
}

/* Somebody who has the key and speaks over a bare socket: as far as the open session. */
struct friend
{
    int fd;
    struct seal *seal;
    struct strbuf said; /* all bytes it ever sent */
};

static void friend_meets(struct friend *f, struct side *a, uint32_t version)
{
    struct strbuf heard = {0}, out = {0};
    struct error err = {0};
    const void *frame;
    size_t size;
    static const struct seal_names friends = {"00000000000000000000000000000000", "friend", "a"};
    *f = (struct friend){.fd = stranger_connects(a)};
    f->seal = seal_new(&key, true, version, "9.9.9", &friends);
    stranger_receives(f->fd, &heard, 32);
    seal_take(f->seal, heard.at, heard.n, &out, &frame, &size, &err);
    strbuf_add_bytes(&f->said, out.at, out.n);
    send(f->fd, out.at, out.n, MSG_NOSIGNAL);
    strbuf_free(&out);
    strbuf_clear(&heard);
    stranger_receives(f->fd, &heard, 32 + 2 + 20); /* it is written at once: all of it is there */
    enum seal_progress p = seal_take(f->seal, heard.at, heard.n, &out, &frame, &size, &err);
    if (version != LINK_VERSION) {
        is_int(p, SEAL_BROKEN, "another version is refused");
        char both[160];
        snprintf(both, sizeof both,
                 "the other end is weft " WEFT_VERSION " (protocol %d), this is weft 9.9.9 "
                 "(protocol %d): install the same version on both",
                 LINK_VERSION, (int)version);
        has_str(err.text, both, "with a text that names both");
    }
    strbuf_free(&heard);
    strbuf_free(&out);
}

static void friend_seals(struct friend *f, const char *text, struct strbuf *out)
{
    seal_frame(f->seal, text, strlen(text), NULL, 0, out);
}

static void friend_sends(struct friend *f, const struct strbuf *bytes)
{
    strbuf_add_bytes(&f->said, bytes->at, bytes->n);
    send(f->fd, bytes->at, bytes->n, MSG_NOSIGNAL);
}

static void friend_goes(struct friend *f)
{
    close(f->fd);
    seal_free(f->seal);
    strbuf_free(&f->said);
}

enum evil { REPLAY, FLIP, FLIP_LENGTH, CUT, OVERSIZED, NO_KIND, BAD_OWN };

static void test_evil_frame(enum evil evil, const char *what, const char *want)
{
    struct side a;
    listen_as(&a, "a");
    struct friend f;
    struct strbuf out = {0};
    friend_meets(&f, &a, LINK_VERSION);
    friend_seals(&f, "\1good", &out);
    friend_sends(&f, &out);
    ok(until(&a.messages, 1), "%s: what is right before it arrives", what);
    if (evil != REPLAY) {
        strbuf_clear(&out);
        if (evil == NO_KIND)
            seal_frame(f.seal, NULL, 0, NULL, 0, &out);
        else if (evil == BAD_OWN)
            seal_frame(f.seal, "\0zz", 3, NULL, 0, &out);
        else
            friend_seals(&f, "\1evil", &out);
        if (evil == FLIP)
            out.at[7] ^= 1;
        if (evil == FLIP_LENGTH)
            out.at[0] ^= 1;
        if (evil == CUT)
            out.n -= 3;
        if (evil == OVERSIZED)
            out.at[3] = 1;
    }
    friend_sends(&f, &out);
    if (evil == CUT)
        shutdown(f.fd, SHUT_WR);
    ok(until(&a.closed, 1), "%s: closed", what);
    has_str(strbuf_text(&a.log), want, "%s: logged", what);
    is_int(a.messages, 1, "%s: not delivered", what);
    is_int(links_counts(a.all).refused, 1, "%s: counted", what);
    strbuf_free(&out);
    friend_goes(&f);
    finish(&a, NULL);
}

static void test_replay_of_a_session(void)
{
    struct side a;
    listen_as(&a, "a");
    struct friend f;
    struct strbuf out = {0};
    friend_meets(&f, &a, LINK_VERSION);
    friend_seals(&f, "\1pay 100", &out);
    friend_sends(&f, &out);
    until(&a.messages, 1);
    is_str(a.text, "1:pay 100", "a session that somebody records");
    int fd = stranger_connects(&a);
    struct strbuf heard = {0};
    send(fd, f.said.at, f.said.n, MSG_NOSIGNAL);
    stranger_receives(fd, &heard, SIZE_MAX);
    until(&a.closed, 1);
    has_str(strbuf_text(&a.log), "plays an old conversation again",
            "played again: refused and logged");
    is_int(a.messages, 1, "nothing of it is delivered");
    is_int(heard.n, 32, "nothing but a challenge is heard");
    close(fd);
    strbuf_free(&heard);
    strbuf_free(&out);
    friend_goes(&f);
    finish(&a, NULL);
}

static void test_other_version(void)
{
    struct side a;
    listen_as(&a, "a");
    struct friend f;
    friend_meets(&f, &a, LINK_VERSION + 1);
    until(&a.closed, 1);
    char both[160];
    snprintf(both, sizeof both, "is weft 9.9.9 (protocol %d), this is weft", LINK_VERSION + 1);
    has_str(strbuf_text(&a.log), both, "the agent's log names both versions too");
    friend_goes(&f);
    finish(&a, NULL);
}

static void test_silence(void)
{
    struct side a;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.silence = 0.2;
    begin(&a, &c);
    struct friend f;
    friend_meets(&f, &a, LINK_VERSION);
    ok(until(&a.closed, 1), "who says nothing any more is given up");
    has_str(strbuf_text(&a.log), "silence", "with a log line");
    friend_goes(&f);
    finish(&a, NULL);
}

/* Somebody who answers a caller without the key. */
static void test_false_answer(void)
{
    struct side b;
    struct links_config c = config_of(&b, NULL, "the caller's secret hello");
    c.handshake = 0.3;
    begin(&b, &c);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    if (bind(fd, (struct sockaddr *)&at, size) || listen(fd, 4) ||
        getsockname(fd, (struct sockaddr *)&at, &size))
        printf("# %s\n", strerror(errno));
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(at.sin_port));
    for (unsigned round = 0; round < 3; round++) {
        link_connect(b.all, address, "a");
        turn(3);
        int peer = accept(fd, NULL, NULL);
        char bytes[200];
        memset(bytes, 'x', sizeof bytes);
        if (round > 0)
            send(peer, bytes, 32, MSG_NOSIGNAL);
        struct strbuf heard = {0};
        stranger_receives(peer, &heard, 60);
        ok(!heard.n || !memmem(heard.at, heard.n, "secret", 6), "its hello cannot be read");
        bytes[32] = 100; /* a possible size */
        bytes[33] = 0;
        if (round == 1)
            send(peer, bytes, sizeof bytes, MSG_NOSIGNAL);
        until(&b.closed, round + 1);
        has_str(b.why, round == 1 ? "another key" : "too slow", "a false answer does not open");
        strbuf_free(&heard);
        close(peer);
    }
    is_int(b.opened, 0, "never");
    close(fd);
    finish(&b, NULL);
}

static void test_strangers(void)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: weft\r\n\r\n";
    stranger_is_refused("http", http, sizeof http - 1, false, "garbage");
    stranger_is_refused("one wrong byte", "x", 1, false, "garbage");
    stranger_is_refused("silence from the start", "", 0, false, "too slow");
    stranger_is_refused("a hello that stops", "weft", 4, false, "too slow");
    stranger_is_refused("a hello that is cut", "weftsea1", 8, true, "truncated");
    stranger_is_refused("nothing at all", "", 0, true, "truncated");
    char call[2000];
    memset(call, 7, sizeof call);
    memcpy(call, "weftsea1", 8);
    call[40] = call[41] = (char)0xff;
    stranger_is_refused("a hello of impossible size", call, sizeof call, false, "impossible size");
    call[40] = 100;
    call[41] = 0;
    stranger_is_refused("a proof out of thin air", call, 142, false, "proof is wrong");
    stranger_is_refused("half of it", call, 100, true, "truncated");
}

static void test_flood_of_strangers(void)
{
    struct side a;
    listen_as(&a, "a");
    unsigned n = 120;
    for (unsigned i = 0; i < n; i++) {
        int fd = stranger_connects(&a);
        send(fd, "nonsense", 8, MSG_NOSIGNAL);
        close(fd);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ok(until(&a.closed, n), "%u strangers are sent away", n);
    is_int(links_counts(a.all).refused, n, "all counted");
    unsigned lines = 0;
    for (size_t i = 0; i < a.log.n; i++)
        lines += a.log.at[i] == '\n';
    ok(lines < n && lines >= 50, "the log does not grow with them: %u lines", lines);
    finish(&a, NULL);
}

/* They connect and say nothing: those that wait longest go, and a friend comes through. */
static void test_idle_strangers(void)
{
    enum { IDLE = 300 };
    struct side a, b;
    static int fds[IDLE];
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.handshake = 60; /* nobody goes because of that */
    begin(&a, &c);
    for (unsigned i = 0; i < IDLE; i++)
        fds[i] = stranger_connects(&a);
    ok(until(&a.closed, IDLE - 64), "of %d that say nothing %u were sent away", IDLE, a.closed);
    has_str(a.log.at, "has not proved the key", "the log says why");
    call_as(&b, "b");
    link_send(link_connect(b.all, links_address(a.all), "a"), 2, "x", 1, NULL, 0);
    ok(until(&a.messages, 1), "a friend is let in meanwhile");
    ok(a.closed <= IDLE - 63, "and the others may stay");
    for (unsigned i = 0; i < IDLE; i++)
        close(fds[i]);
    finish(&a, &b);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    seal_key_random(&key);
    TAP_DO(test_strangers());
    TAP_DO(test_evil_frame(REPLAY, "a frame played again", "played again"));
    TAP_DO(test_evil_frame(FLIP, "a flipped bit", "was changed"));
    TAP_DO(test_evil_frame(FLIP_LENGTH, "a flipped length", "was changed"));
    TAP_DO(test_evil_frame(CUT, "a frame that is cut", "truncated"));
    TAP_DO(test_evil_frame(OVERSIZED, "an impossible length", "oversized"));
    TAP_DO(test_evil_frame(NO_KIND, "a frame without a kind", "without a kind"));
    TAP_DO(test_evil_frame(BAD_OWN, "a frame of the links' own", "no known kind"));
    TAP_DO(test_replay_of_a_session());
    TAP_DO(test_other_version());
    TAP_DO(test_silence());
    TAP_DO(test_false_answer());
    TAP_DO(test_flood_of_strangers());
    TAP_DO(test_idle_strangers());
    is_int(uv_loop_close(&loop), 0, "nothing is left in the loop");
    return tap_done();
}
