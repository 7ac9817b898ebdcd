/* The client alone, against servers that say exactly what the test wants: order and window,
 * connections that are lost, MOVED, ASK, "not yet", forgotten scripts, refusals. The servers are
 * sockets of this thread; step() lets them and the client take turns. */
#include "store/redis/client_state.h"
#include "store/redis/testing.h"
#include "tap.h"
#include <poll.h>

#define FAKES 2
#define COMMANDS 64

struct fake {
    int listen, fd, port;
    redisReader *reader;
    bool silent;         /* reads, and answers nothing */
    char next[4][128];   /* replies to the next commands that are no greeting; then +OK */
    int planned, asked;  /* asked: ASKING came before the next command */
    ARRAY(char *) heard; /* the last word of each command that is no greeting */
    int asking;          /* times that it heard ASKING */
};

struct probe {
    struct redis_command command;
    char text[32];
    char reply[160];
    bool done, refused, resent;
};

static struct fake fakes[FAKES];
static struct probe probes[COMMANDS];
static int order[COMMANDS], ordered;

/* ---- servers ---- */

static void fake_open(struct fake *f)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    *f = (struct fake){.fd = -1};
    f->listen = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(f->listen, (struct sockaddr *)&a, size) < 0 || listen(f->listen, 8) < 0 ||
        getsockname(f->listen, (struct sockaddr *)&a, &size) < 0) {
        printf("Bail out! no port\n");
        exit(1);
    }
    f->port = ntohs(a.sin_port);
}

static void fake_hang_up(struct fake *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    if (f->reader)
        redisReaderFree(f->reader);
    f->reader = NULL;
}

static void fake_close(struct fake *f)
{
    fake_hang_up(f);
    close(f->listen);
    for (size_t i = 0; i < f->heard.n; i++)
        free(f->heard.at[i]);
    array_free(&f->heard);
}

static void fake_say(const struct fake *f, const char *text)
{
    if (f->fd >= 0 && send(f->fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        printf("# the client is gone\n");
}

static void fake_answer(struct fake *f, const redisReply *command)
{
    char text[512], info[] = "redis_version:7.0.0\r\nredis_mode:cluster\r\n";
    const char *first = command->element[0]->str,
               *last = command->element[command->elements - 1]->str;
    if (strcmp(first, "INFO") == 0) {
        snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(info), info);
    } else if (strcmp(first, "CONFIG") == 0) { /* a user who may not ask */
        snprintf(text, sizeof text, "-NOPERM no\r\n");
    } else if (strcmp(first, "SCRIPT") == 0) {
        snprintf(text, sizeof text, "$4\r\nfeed\r\n");
    } else if (strcmp(first, "CLUSTER") == 0) { /* all slots are the first one's */
        snprintf(text, sizeof text, "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n",
                 fakes[0].port);
    } else if (strcmp(first, "ASKING") == 0) {
        f->asking++;
        snprintf(text, sizeof text, "+OK\r\n");
    } else {
        array_push(&f->heard, mem_copy_string(last));
        if (f->silent)
            return;
        snprintf(text, sizeof text, "%s", f->planned ? f->next[0] : "+OK\r\n");
        if (f->planned) {
            memmove(f->next[0], f->next[1], sizeof f->next - sizeof f->next[0]);
            f->planned--;
        }
    }
    fake_say(f, text);
}

static void fake_step(struct fake *f)
{
    char bytes[4096];
    void *command = NULL;
    int fd = accept4(f->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        fake_hang_up(f);
        f->fd = fd;
        f->reader = redisReaderCreate();
    }
    ssize_t n = f->fd >= 0 ? recv(f->fd, bytes, sizeof bytes, 0) : -1;
    if (n > 0)
        redisReaderFeed(f->reader, bytes, (size_t)n);
    while (f->reader && redisReaderGetReply(f->reader, &command) == REDIS_OK && command) {
        fake_answer(f, command);
        freeReplyObject(command);
    }
}

static void fake_plan(struct fake *f, const char *reply)
{
    snprintf(f->next[f->planned++], sizeof f->next[0], "%s\r\n", reply);
}

/* ---- the owner ---- */

static size_t probe_compose(void *owner, struct redis_command *c, double now, const char **words,
                            size_t *lengths)
{
    struct probe *p = (struct probe *)c;
    (void)owner, (void)now;
    words[0] = c->script >= 0 ? "0" : "ECHO";
    words[1] = p->text;
    lengths[0] = strlen(words[0]);
    lengths[1] = strlen(words[1]);
    return 2;
}

static void probe_answered(void *owner, struct redis_channel *ch, struct redis_command *c,
                           const redisReply *reply)
{
    struct probe *p = (struct probe *)c;
    (void)owner, (void)ch;
    snprintf(p->reply, sizeof p->reply, "%s", reply->str ? reply->str : "");
    p->done = true;
    p->resent = c->resent;
    order[ordered++] = (int)(p - probes);
}

static bool probe_refused(void *owner, struct redis_command *c, const struct redis_conn *by,
                          const char *text)
{
    struct probe *p = (struct probe *)c;
    (void)owner, (void)by;
    snprintf(p->reply, sizeof p->reply, "%s", text);
    p->refused = true;
    return true;
}

static void probe_release(void *owner, struct redis_command *c)
{
    (void)owner, (void)c;
}

static const struct redis_client_ops probe_ops = {
    .compose = probe_compose,
    .answered = probe_answered,
    .refused = probe_refused,
    .release = probe_release,
};

static struct redis_client *open_client(uint32_t window, struct redis_channel **ch)
{
    static const char *const scripts[] = {"return 1"};
    char servers[64];
    struct error err = {0};
    memset(probes, 0, sizeof probes);
    ordered = 0;
    for (int i = 0; i < FAKES; i++)
        fake_open(&fakes[i]);
    snprintf(servers, sizeof servers, "127.0.0.1:%d", fakes[0].port);
    struct redis_client *cl = redis_client_new(
        &(struct redis_client_config){
            .servers = servers, .scripts = scripts, .nscripts = 1, .silence = 5, .ops = &probe_ops},
        &err);
    ok(cl != NULL, "a client %s", err.text);
    *ch = redis_client_channel(cl, "key", window);
    return cl;
}

static void close_client(struct redis_client *cl)
{
    redis_client_free(cl);
    for (int i = 0; i < FAKES; i++)
        fake_close(&fakes[i]);
}

static void ask_probe(struct redis_client *cl, struct redis_channel *ch, int i, int script)
{
    snprintf(probes[i].text, sizeof probes[i].text, "%d", i);
    probes[i].command.script = script;
    redis_client_ask(cl, ch, &probes[i].command);
    redis_client_kick(cl);
}

/* Turns until the client has nothing open, or for so many of them. */
static void step(struct redis_client *cl, int turns)
{
    for (int i = 0; i < turns && !redis_client_is_idle(cl); i++) {
        for (int k = 0; k < FAKES; k++)
            fake_step(&fakes[k]);
        redis_client_poll(cl, 2);
    }
}

/* ---- tests ---- */

static void test_order(uint32_t window)
{
    struct redis_channel *ch;
    struct redis_client *cl = open_client(window, &ch);
    for (int i = 0; i < 20; i++)
        ask_probe(cl, ch, i, i % 2 - 1);
    size_t most = 0;
    for (int turn = 0; turn < 2000 && !redis_client_is_idle(cl); turn++) {
        size_t flying = 0;
        for (int i = 0; i < 20; i++)
            flying += !probes[i].done && probes[i].command.in_flight;
        most = flying > most ? flying : most;
        step(cl, 1);
    }
    bool in_order = ordered == 20;
    for (int i = 0; i < ordered; i++)
        in_order &= order[i] == i;
    ok(in_order, "window %u: twenty answers in the order of asking", window);
    is_int(most, window == 1 ? 1 : 20, "at most so many in flight");
    is_int(redis_client_counts(cl).resent, 0, "none was sent twice");
    close_client(cl);
}

/* The server reads two commands and hangs up: nobody knows whether they were applied. */
static void test_loss(void)
{
    struct redis_channel *ch;
    struct redis_client *cl = open_client(2, &ch);
    fakes[0].silent = true;
    for (int i = 0; i < 3; i++)
        ask_probe(cl, ch, i, -1);
    for (int i = 0; i < 2000 && fakes[0].heard.n < 2; i++)
        step(cl, 1);
    is_int(fakes[0].heard.n, 2, "the window is with the server");
    fake_hang_up(&fakes[0]);
    fakes[0].silent = false;
    step(cl, 2000);
    ok(probes[0].done && probes[1].done && probes[2].done, "all are answered in the end");
    ok(probes[0].resent && probes[1].resent, "two may have been applied twice, and say so");
    ok(!probes[2].resent, "the third was never sent before");
    is_int(fakes[0].heard.n, 5, "five commands came there");
    ok(strcmp(fakes[0].heard.at[2], "0") == 0 && strcmp(fakes[0].heard.at[3], "1") == 0,
       "again in the same order");
    close_client(cl);
}

static void test_redirections(void)
{
    struct redis_channel *ch;
    struct redis_client *cl = open_client(1, &ch);
    char text[64];
    snprintf(text, sizeof text, "-ASK %u 127.0.0.1:%d", ch->slot, fakes[1].port);
    fake_plan(&fakes[0], text);
    ask_probe(cl, ch, 0, -1);
    step(cl, 2000);
    ok(probes[0].done && !probes[0].resent, "ASK: answered by the other, and applied once");
    is_int(fakes[1].asking, 1, "which was told so before");
    ask_probe(cl, ch, 1, -1);
    step(cl, 2000);
    is_int(fakes[0].heard.n, 2, "the next goes to the first again");

    snprintf(text, sizeof text, "-MOVED %u 127.0.0.1:%d", ch->slot, fakes[1].port);
    fake_plan(&fakes[0], text);
    ask_probe(cl, ch, 2, -1);
    for (int i = 0; i < 2000 && !probes[2].done; i++)
        step(cl, 1);
    ok(probes[2].done && fakes[1].heard.n == 2, "MOVED: answered by the other");
    is_int(redis_client_counts(cl).redirected, 2, "two redirections");
    close_client(cl);
}

static void test_errors(void)
{
    struct redis_channel *ch;
    struct redis_client *cl = open_client(1, &ch);
    fake_plan(&fakes[0], "-TRYAGAIN not yet");
    fake_plan(&fakes[0], "-LOADING the file");
    ask_probe(cl, ch, 0, -1);
    step(cl, 2000);
    ok(probes[0].done && fakes[0].heard.n == 3, "what passes by itself is tried again");
    fake_plan(&fakes[0], "-NOSCRIPT forgotten");
    ask_probe(cl, ch, 1, 0);
    step(cl, 2000);
    ok(probes[1].done, "a script that was forgotten is loaded, and called again");
    fake_plan(&fakes[0], "-ERR never");
    ask_probe(cl, ch, 2, -1);
    step(cl, 2000);
    ok(probes[2].refused && strcmp(probes[2].reply, "ERR never") == 0, "what does not is refused");
    probes[3].command.script = -1;
    redis_client_refuse(cl, ch, &probes[3].command, "impossible");
    ok(!probes[3].refused, "a verdict waits for poll");
    step(cl, 100);
    ok(probes[3].refused && strcmp(probes[3].reply, "impossible") == 0, "and comes there");
    close_client(cl);
}

static void test_pause(void)
{
    struct redis_channel *ch;
    struct redis_client *cl = open_client(1, &ch);
    ask_probe(cl, ch, 0, -1);
    step(cl, 2000);
    redis_client_pause(cl);
    ask_probe(cl, ch, 1, -1);
    step(cl, 20);
    ok(!probes[1].done && fakes[0].heard.n == 1, "paused: nothing is sent");
    redis_client_resume(cl);
    step(cl, 2000);
    ok(probes[1].done, "resumed: it is");
    close_client(cl);
}

int main(void)
{
    TAP_DO(test_order(1));
    TAP_DO(test_order(UINT32_MAX));
    TAP_DO(test_loss());
    TAP_DO(test_redirections());
    TAP_DO(test_errors());
    TAP_DO(test_pause());
    return tap_done();
}
