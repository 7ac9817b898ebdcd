/* Two hubs in one loop, and a hostile stranger on a bare socket. */
#include "cluster/wire/link.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

struct side {
    struct links *all;
    struct link *last; /* to open or to be accepted */
    unsigned opened, closed, messages, drained, broken;
    uint64_t bytes;
    char why[1024], hello[256], text[64];
    struct strbuf log;
    bool echo, told_empty;
    uint32_t expected; /* the next number */
    unsigned close_after;
};

static uv_loop_t loop;
static struct seal_key key;

static void on_open(void *context, struct link *l)
{
    struct side *s = context;
    s->opened++;
    s->last = l;
    snprintf(s->hello, sizeof s->hello, "%s", link_hello(l));
}

static void on_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    struct side *s = context;
    s->messages++;
    s->bytes += n;
    if (kind == 9 && n >= 4) { /* numbered */
        uint32_t number;
        memcpy(&number, data, 4);
        s->broken += number != s->expected++;
    } else {
        snprintf(s->text, sizeof s->text, "%u:%.*s", kind, n > 50 ? 50 : (int)n,
                 (const char *)data);
    }
    if (s->echo)
        link_send(l, kind, data, n, NULL, 0);
    if (s->close_after && s->messages == s->close_after)
        link_close(l, "");
}

static void on_closed(void *context, struct link *l, const char *why)
{
    struct side *s = context;
    s->closed++;
    if (s->last == l)
        s->last = NULL;
    s->told_empty = !*why;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void on_drained(void *context, struct link *l)
{
    struct side *s = context;
    s->drained++;
    if (link_queued(l))
        s->broken++;
}

static void on_log(void *context, const char *line)
{
    struct side *s = context;
    strbuf_add(&s->log, line);
    strbuf_add_char(&s->log, '\n');
}

static struct links_config config_of(struct side *s, const char *bind, const char *hello)
{
    return (struct links_config){.loop = &loop,
                                 .key = key,
                                 .bind = bind,
                                 .hello = hello,
                                 .open = on_open,
                                 .message = on_message,
                                 .closed = on_closed,
                                 .drained = on_drained,
                                 .log = on_log,
                                 .context = s};
}

static void begin(struct side *s, const struct links_config *c)
{
    struct error err = {0};
    *s = (struct side){0};
    struct links_config own = *c;
    own.context = s;
    s->all = links_new(&own, &err);
    if (!s->all) {
        printf("# %s\n", err.text);
        exit(1);
    }
}

static void listen_as(struct side *s, const char *hello)
{
    struct links_config c = config_of(s, "127.0.0.1:0", hello);
    begin(s, &c);
}

static void call_as(struct side *s, const char *hello)
{
    struct links_config c = config_of(s, NULL, hello);
    begin(s, &c);
}

static int port_of(const struct side *s)
{
    return (int)strtol(strrchr(links_address(s->all), ':') + 1, NULL, 10);
}

/* Turn the loop until the number is reached; gives up after some ten seconds. */
static bool until(const unsigned *number, unsigned value)
{
    uint64_t end = uv_hrtime() + 20000000000u;
    while (*number < value && uv_hrtime() < end) {
        uv_run(&loop, UV_RUN_NOWAIT);
        if (*number < value)
            poll(NULL, 0, 1);
    }
    return *number >= value;
}

static void turn(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        poll(NULL, 0, 1);
    }
}

static void finish(struct side *a, struct side *b)
{
    links_free(a->all);
    if (b)
        links_free(b->all);
    uv_run(&loop, UV_RUN_DEFAULT);
    strbuf_free(&a->log);
    if (b)
        strbuf_free(&b->log);
}

/* ---- friends ---- */

static void test_talk(void)
{
    struct side a, b;
    listen_as(&a, "{\"role\":\"agent\",\"node\":3}");
    call_as(&b, "{\"role\":\"client\"}");
    struct link *l = link_connect(b.all, links_address(a.all));
    ok(!link_is_open(l) && link_is_caller(l), "a link that connects is not open yet");
    is_str(link_address(l), links_address(a.all), "and knows where it goes");
    link_send(l, 5, "he", 2, "llo", 3);
    link_send(l, 6, NULL, 0, NULL, 0);
    ok(link_queued(l) > 0 && a.messages == 0, "what is sent early is queued");
    ok(until(&a.messages, 2), "and arrives");
    is_str(a.text, "6:", "in order, empty messages too");
    is_int(a.opened + b.opened, 2, "both ends were told of the opening");
    is_str(a.hello, "{\"role\":\"client\"}", "the caller's hello came");
    is_str(b.hello, "{\"role\":\"agent\",\"node\":3}", "the other's too");
    ok(a.last && !link_is_caller(a.last) && link_is_open(a.last), "the accepted end is open");
    link_set_data(a.last, &a);
    ok(link_data(a.last) == &a, "a link keeps its owner's pointer");
    link_send(a.last, 7, "back", 4, NULL, 0);
    ok(until(&b.messages, 1), "the other direction uses the same link");
    is_str(b.text, "7:back", "with its content");
    link_send(a.last, 8, "bye", 3, NULL, 0);
    link_close(a.last, "");
    link_send(a.last, 8, "too late", 8, NULL, 0);
    ok(until(&b.closed, 1) && until(&a.closed, 1), "closed in order by the accepting end");
    is_str(b.text, "8:bye", "what was queued before came, nothing after it");
    ok(a.told_empty && b.told_empty, "both say it was in order");
    struct links_counts ca = links_counts(a.all), cb = links_counts(b.all);
    is_int(ca.received, cb.sent, "bytes sent are bytes received");
    is_int(ca.sent, cb.received, "both ways");
    is_int(ca.refused + cb.refused, 0, "nobody was refused");
    is_str(strbuf_text(&a.log), "", "nothing to log");
    finish(&a, &b);
}

static void test_close_by_caller(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "b");
    struct link *l = link_connect(b.all, links_address(a.all));
    link_send(l, 3, "only this", 9, NULL, 0);
    link_close(l, "");
    ok(until(&b.closed, 1) && until(&a.closed, 1), "sent and closed before the hands are shaken");
    is_str(a.text, "3:only this", "the message arrived all the same");
    is_int(b.opened, 0, "the caller who left is not told of an opening");
    ok(a.told_empty && b.told_empty, "in order");

    link_connect(b.all, links_address(a.all));
    until(&b.opened, 1);
    link_close(b.last, "tired of it");
    is_int(b.closed, 1, "nobody is told from within his own call");
    until(&b.closed, 2);
    is_str(b.why, "tired of it", "a reason is told to the owner");
    until(&a.closed, 2);
    has_str(a.why, "without a goodbye", "the other end sees a stream that was cut");
    has_str(strbuf_text(&a.log), "without a goodbye", "and logs it");

    l = link_connect(b.all, links_address(a.all));
    link_close(l, "");
    until(&b.closed, 3);
    is_str(b.why, "", "closed before anything happened");
    a.close_after = a.messages + 1;
    l = link_connect(b.all, links_address(a.all));
    link_send(l, 3, "x", 1, NULL, 0);
    link_send(l, 3, "y", 1, NULL, 0);
    ok(until(&a.closed, 3) && until(&b.closed, 4), "closed from within a message");
    is_int(a.messages, a.close_after, "nothing is delivered after it");
    finish(&a, &b);
}

static void test_free_with_open_links(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "b");
    for (int i = 0; i < 20; i++)
        link_send(link_connect(b.all, links_address(a.all)), 2, "x", 1, NULL, 0);
    until(&a.messages, 20);
    link_connect(b.all, links_address(a.all)); /* still connecting */
    link_connect(b.all, "localhost:1");        /* still looking it up */
    finish(&b, &a);
    is_int(b.closed, 22, "freeing closes every link and tells of each");
    is_int(a.opened, a.closed, "and the other hub is told of as many");
}

static void test_many(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "b");
    a.echo = true;
    struct link *l = link_connect(b.all, links_address(a.all));
    unsigned n = 20000;
    char body[100] = {0};
    for (uint32_t i = 0; i < n; i++)
        link_send(l, 9, &i, 4, body, i % sizeof body);
    ok(until(&b.messages, n), "%u messages there and back", n);
    is_int(a.broken + b.broken, 0, "in order");
    is_int(a.bytes, b.bytes, "with all their bytes");
    ok(b.drained > 0 && a.drained > 0, "told when the queues were empty");
    finish(&a, &b);
}

static void test_backlog(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "b");
    link_connect(b.all, links_address(a.all));
    until(&b.opened, 1);
    char *big = mem_new_zero(char, LINK_MESSAGE_MAX);
    unsigned n = 24, before = b.drained;
    for (uint32_t i = 0; i < n; i++)
        link_send(b.last, 9, &i, 4, big, LINK_MESSAGE_MAX - 4);
    ok(link_queued(b.last) > (size_t)n * (LINK_MESSAGE_MAX - 4), "a large backlog is counted");
    ok(until(&a.messages, n), "and arrives, in messages of the largest size");
    is_int(a.bytes, (long long)n * LINK_MESSAGE_MAX, "all of it");
    until(&b.drained, before + 1);
    is_int(link_queued(b.last), 0, "then the queue is empty");
    is_int(a.broken + b.broken, 0, "in order");
    for (uint32_t i = 0; i < 4; i++)
        link_send(b.last, 9, &(uint32_t){n + i}, 4, big, LINK_MESSAGE_MAX - 4);
    link_close(b.last, "");
    ok(until(&a.closed, 1) && until(&b.closed, 1), "closed with a backlog");
    is_int(a.messages, n + 4, "which is sent before the end");
    link_connect(b.all, links_address(a.all));
    until(&b.opened, 2);
    link_send(b.last, 9, "abcd", 4, big, LINK_MESSAGE_MAX - 3);
    until(&b.closed, 2);
    has_str(b.why, "at most", "a message that is too large closes the link of who sends it");
    is_int(a.messages, n + 4, "and is not sent");
    free(big);
    finish(&a, &b);
}

static void test_no_reader(void)
{
    struct side a;
    listen_as(&a, "a");
    /* a friend with the key, on a bare socket, who shakes hands and then never reads */
    struct seal *s = seal_new(&key, true, LINK_VERSION, WEFT_VERSION, "lazy");
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to;
    uv_ip4_addr("127.0.0.1", port_of(&a), &to);
    is_int(connect(fd, (struct sockaddr *)&to, sizeof to), 0, "a lazy reader connects");
    turn(5);
    char challenge[32];
    is_int(recv(fd, challenge, 32, 0), 32, "it gets its challenge");
    struct strbuf out = {0};
    struct error err = {0};
    const void *frame;
    size_t size;
    seal_take(s, challenge, 32, &out, &frame, &size, &err);
    send(fd, out.at, out.n, MSG_NOSIGNAL);
    ok(until(&a.opened, 1), "and is let in");
    char *big = mem_new_zero(char, LINK_MESSAGE_MAX);
    unsigned sent = 0;
    while (a.closed == 0 && sent++ < 400 && a.last) {
        link_send(a.last, 4, big, LINK_MESSAGE_MAX, NULL, 0);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ok(until(&a.closed, 1), "who does not read is given up after %u MiB", sent);
    has_str(a.why, "does not read", "with the reason");
    has_str(strbuf_text(&a.log), "does not read", "in the log");
    free(big);
    strbuf_free(&out);
    seal_free(s);
    close(fd);
    finish(&a, NULL);
}

static void test_cannot_connect(void)
{
    struct side b;
    call_as(&b, "b");
    is_str(links_address(b.all), "", "a hub that does not listen has no address");
    static const char *const wrong[] = {
        "", "nowhere", ":7", "host:", "host:x", "::1:7000", "a:999999", "127.0.0.1:-1"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        link_connect(b.all, wrong[i]);
        until(&b.closed, i + 1);
        has_str(b.why, "is no address", "'%s' is no address", wrong[i]);
    }
    unsigned n = b.closed;
    link_connect(b.all, "127.0.0.1:1");
    until(&b.closed, n + 1);
    has_str(b.why, "cannot be reached", "nobody listens there");
    link_connect(b.all, "no-such-host.invalid:80");
    until(&b.closed, n + 2);
    has_str(b.why, "no such host", "a name that does not exist");
    finish(&b, NULL);

    struct error err = {0};
    struct links_config c = config_of(&b, "300.1.2.3.4:0", "x");
    ok(!links_new(&c, &err), "cannot listen at such a host");
    has_str(err.text, "cannot listen", "and says so");
    c.bind = "127.0.0.1";
    error_clear(&err);
    ok(!links_new(&c, &err), "an address to listen at needs a port");
    has_str(err.text, "HOST:PORT", "and says so");
    uv_run(&loop, UV_RUN_DEFAULT);
}

static void test_names(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "b");
    char name[64];
    snprintf(name, sizeof name, "localhost%s", strrchr(links_address(a.all), ':'));
    link_send(link_connect(b.all, name), 4, "by name", 7, NULL, 0);
    ok(until(&a.messages, 1), "a name with several addresses: one of them answers");
    finish(&a, &b);

    struct error err = {0};
    struct links_config c = config_of(&a, "[::1]:0", "six");
    a = (struct side){0};
    a.all = links_new(&c, &err);
    if (!a.all) {
        tap_skip("IPv6", err.text);
        uv_run(&loop, UV_RUN_DEFAULT);
        return;
    }
    ok(strncmp(links_address(a.all), "[::1]:", 6) == 0, "IPv6 in brackets");
    call_as(&b, "b");
    link_send(link_connect(b.all, links_address(a.all)), 4, "six", 3, NULL, 0);
    ok(until(&a.messages, 1), "and can be called so");
    finish(&a, &b);
}

static void test_wrong_key(void)
{
    struct side a, b;
    listen_as(&a, "secret place");
    struct links_config c = config_of(&b, NULL, "thief");
    seal_key_random(&c.key);
    begin(&b, &c);
    link_send(link_connect(b.all, links_address(a.all)), 4, "in", 2, NULL, 0);
    until(&b.closed, 1);
    until(&a.closed, 1);
    is_int(a.opened + b.opened + a.messages, 0, "another key opens nothing");
    has_str(a.why, "another key", "the one who answers says why");
    has_str(strbuf_text(&a.log), "link 127.0.0.1:", "in a log line with the address");
    has_str(b.why, "another key", "the caller has a guess");
    is_int(links_counts(a.all).refused, 1, "counted");
    is_int(links_counts(a.all).sent, 32, "not a byte but the challenge was sent");
    finish(&a, &b);
}

static void test_too_many(void)
{
    struct side a, b;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.most = 2;
    begin(&a, &c);
    call_as(&b, "b");
    for (int i = 0; i < 2; i++)
        link_connect(b.all, links_address(a.all));
    until(&a.opened, 2);
    until(&b.opened, 2);
    link_connect(b.all, links_address(a.all));
    until(&b.closed, 1);
    is_int(b.opened, 2, "the third of two is not let in");
    has_str(strbuf_text(&a.log), "too many: 2", "with a line in the log");
    link_close(b.last, "");
    until(&a.closed, 2);
    link_connect(b.all, links_address(a.all));
    ok(until(&a.opened, 3), "when one has gone, the next is let in");
    finish(&a, &b);
}

static void test_keep_alive(void)
{
    struct side a, b;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.silence = 0.3;
    begin(&a, &c);
    c = config_of(&b, NULL, "b");
    c.silence = 0.3;
    begin(&b, &c);
    link_connect(b.all, links_address(a.all));
    until(&b.opened, 1);
    uint64_t before = links_counts(b.all).received;
    turn(600);
    is_int(a.closed + b.closed, 0, "two that have nothing to say stay together");
    ok(links_counts(b.all).received > before && b.messages == 0,
       "by messages that only the links see");
    finish(&a, &b);
}

/* ---- strangers ---- */

static int stranger(const struct side *s)
{
    struct sockaddr_in to;
    uv_ip4_addr("127.0.0.1", port_of(s), &to);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        printf("# connect: %s\n", strerror(errno));
    return fd;
}

/* All that comes until the other end closes, or for a while. */
static void hear(int fd, struct strbuf *out, size_t enough)
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
static void refused(const char *what, const void *data, size_t n, bool end, const char *want)
{
    struct side a;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.handshake = 0.2;
    begin(&a, &c);
    int fd = stranger(&a);
    send(fd, data, n, MSG_NOSIGNAL);
    if (end)
        shutdown(fd, SHUT_WR);
    struct strbuf heard = {0};
    hear(fd, &heard, SIZE_MAX);
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
    *f = (struct friend){.fd = stranger(a)};
    f->seal = seal_new(&key, true, version, "9.9.9", "friend");
    hear(f->fd, &heard, 32);
    seal_take(f->seal, heard.at, heard.n, &out, &frame, &size, &err);
    strbuf_add_bytes(&f->said, out.at, out.n);
    send(f->fd, out.at, out.n, MSG_NOSIGNAL);
    strbuf_free(&out);
    strbuf_clear(&heard);
    hear(f->fd, &heard, 32 + 2 + 20); /* it is written at once: all of it is there */
    enum seal_progress p = seal_take(f->seal, heard.at, heard.n, &out, &frame, &size, &err);
    if (version != LINK_VERSION) {
        is_int(p, SEAL_BROKEN, "another version is refused");
        has_str(err.text,
                "the other end is weft " WEFT_VERSION
                " (protocol 1), this is weft 9.9.9 (protocol 2): install the same version on both",
                "with a text that names both");
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
    int fd = stranger(&a);
    struct strbuf heard = {0};
    send(fd, f.said.at, f.said.n, MSG_NOSIGNAL);
    hear(fd, &heard, SIZE_MAX);
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
    has_str(strbuf_text(&a.log), "is weft 9.9.9 (protocol 2), this is weft",
            "the agent's log names both versions too");
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
        link_connect(b.all, address);
        turn(3);
        int peer = accept(fd, NULL, NULL);
        char bytes[200];
        memset(bytes, 'x', sizeof bytes);
        if (round > 0)
            send(peer, bytes, 32, MSG_NOSIGNAL);
        struct strbuf heard = {0};
        hear(peer, &heard, 60);
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
    refused("http", http, sizeof http - 1, false, "garbage");
    refused("one wrong byte", "x", 1, false, "garbage");
    refused("silence from the start", "", 0, false, "too slow");
    refused("a hello that stops", "weft", 4, false, "too slow");
    refused("a hello that is cut", "weftsea1", 8, true, "truncated");
    refused("nothing at all", "", 0, true, "truncated");
    char call[2000];
    memset(call, 7, sizeof call);
    memcpy(call, "weftsea1", 8);
    call[40] = call[41] = (char)0xff;
    refused("a hello of impossible size", call, sizeof call, false, "impossible size");
    call[40] = 100;
    call[41] = 0;
    refused("a proof out of thin air", call, 142, false, "proof is wrong");
    refused("half of it", call, 100, true, "truncated");
}

static void test_flood_of_strangers(void)
{
    struct side a;
    listen_as(&a, "a");
    unsigned n = 120;
    for (unsigned i = 0; i < n; i++) {
        int fd = stranger(&a);
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

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    seal_key_random(&key);
    TAP_DO(test_talk());
    TAP_DO(test_close_by_caller());
    TAP_DO(test_free_with_open_links());
    TAP_DO(test_many());
    TAP_DO(test_backlog());
    TAP_DO(test_no_reader());
    TAP_DO(test_cannot_connect());
    TAP_DO(test_names());
    TAP_DO(test_wrong_key());
    TAP_DO(test_too_many());
    TAP_DO(test_keep_alive());
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
    is_int(uv_loop_close(&loop), 0, "nothing is left in the loop");
    return tap_done();
}
