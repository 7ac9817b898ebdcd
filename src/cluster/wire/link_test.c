/* Links between friends: messages both ways, closing, names, limits, silence that is none. */
#include "cluster/wire/link_testing.h"

static void test_talk(void)
{
    struct side a, b;
    listen_as(&a, "a");
    call_as(&b, "{\"role\":\"client\"}");
    struct link *l = link_connect(b.all, links_address(a.all), "a");
    ok(!link_is_open(l) && link_is_caller(l), "a link that connects is not open yet");
    is_str(link_address(l), links_address(a.all), "and knows where it goes");
    link_send(l, 5, "he", 2, "llo", 3);
    link_send(l, 6, NULL, 0, NULL, 0);
    ok(link_queued(l) > 0 && a.messages == 0, "what is sent early is queued");
    ok(until(&a.messages, 2), "and arrives");
    is_str(a.text, "6:", "in order, empty messages too");
    is_int(a.opened + b.opened, 2, "both ends were told of the opening");
    is_str(a.hello, "{\"role\":\"client\"}", "the caller's hello came");
    is_str(b.hello, "a", "the other's too");
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
    struct link *l = link_connect(b.all, links_address(a.all), "a");
    link_send(l, 3, "only this", 9, NULL, 0);
    link_close(l, "");
    ok(until(&b.closed, 1) && until(&a.closed, 1), "sent and closed before the hands are shaken");
    is_str(a.text, "3:only this", "the message arrived all the same");
    is_int(b.opened, 0, "the caller who left is not told of an opening");
    ok(a.told_empty && b.told_empty, "in order");

    link_connect(b.all, links_address(a.all), "a");
    until(&b.opened, 1);
    link_close(b.last, "tired of it");
    is_int(b.closed, 1, "nobody is told from within his own call");
    until(&b.closed, 2);
    is_str(b.why, "tired of it", "a reason is told to the owner");
    until(&a.closed, 2);
    has_str(a.why, "without a goodbye", "the other end sees a stream that was cut");
    has_str(strbuf_text(&a.log), "without a goodbye", "and logs it");

    l = link_connect(b.all, links_address(a.all), "a");
    link_close(l, "");
    until(&b.closed, 3);
    is_str(b.why, "", "closed before anything happened");
    a.close_after = a.messages + 1;
    l = link_connect(b.all, links_address(a.all), "a");
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
        link_send(link_connect(b.all, links_address(a.all), "a"), 2, "x", 1, NULL, 0);
    until(&a.messages, 20);
    link_connect(b.all, links_address(a.all), "a"); /* still connecting */
    link_connect(b.all, "localhost:1", "a");        /* still looking it up */
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
    struct link *l = link_connect(b.all, links_address(a.all), "a");
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
    link_connect(b.all, links_address(a.all), "a");
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
    link_connect(b.all, links_address(a.all), "a");
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
    static const struct seal_names lazy = {"00000000000000000000000000000000", "lazy", "a"};
    struct seal *s = seal_new(&key, true, LINK_VERSION, WEFT_VERSION, &lazy);
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
        link_connect(b.all, wrong[i], "a");
        until(&b.closed, i + 1);
        has_str(b.why, "is no address", "'%s' is no address", wrong[i]);
    }
    unsigned n = b.closed;
    link_connect(b.all, "127.0.0.1:1", "a");
    until(&b.closed, n + 1);
    has_str(b.why, "cannot be reached", "nobody listens there");
    link_connect(b.all, "no-such-host.invalid:80", "a");
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
    link_send(link_connect(b.all, name, "a"), 4, "by name", 7, NULL, 0);
    ok(until(&a.messages, 1), "a name with several addresses: one of them answers");
    finish(&a, &b);

    struct error err = {0};
    struct links_config c = config_of(&a, "[::1]:0", "a");
    a = (struct side){0};
    a.all = links_new(&c, &err);
    if (!a.all) {
        tap_skip("IPv6", err.text);
        uv_run(&loop, UV_RUN_DEFAULT);
        return;
    }
    ok(strncmp(links_address(a.all), "[::1]:", 6) == 0, "IPv6 in brackets");
    call_as(&b, "b");
    link_send(link_connect(b.all, links_address(a.all), "a"), 4, "six", 3, NULL, 0);
    ok(until(&a.messages, 1), "and can be called so");
    finish(&a, &b);
}

static void test_wrong_key(void)
{
    struct side a, b;
    listen_as(&a, "a");
    struct links_config c = config_of(&b, NULL, "thief");
    seal_key_random(&c.key);
    begin(&b, &c);
    link_send(link_connect(b.all, links_address(a.all), "a"), 4, "in", 2, NULL, 0);
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
        link_connect(b.all, links_address(a.all), "a");
    until(&a.opened, 2);
    until(&b.opened, 2);
    link_connect(b.all, links_address(a.all), "a");
    until(&b.closed, 1);
    is_int(b.opened, 2, "the third of two is not let in");
    has_str(strbuf_text(&a.log), "too many: 2", "with a line in the log");
    link_close(b.last, "");
    until(&a.closed, 2);
    link_connect(b.all, links_address(a.all), "a");
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
    link_connect(b.all, links_address(a.all), "a");
    until(&b.opened, 1);
    uint64_t before = links_counts(b.all).received;
    turn(600);
    is_int(a.closed + b.closed, 0, "two that have nothing to say stay together");
    ok(links_counts(b.all).received > before && b.messages == 0,
       "by messages that only the links see");
    finish(&a, &b);
}

/* The machine is so busy that the loop, about to wait, goes on long after somebody came. */
static void hold_up(uv_prepare_t *h)
{
    const struct side *a = h->data;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port_of(a)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    is_int(connect(fd, (struct sockaddr *)&to, sizeof to), 0, "somebody comes");
    poll(NULL, 0, 1500);
    uv_update_time(&loop);
    uv_prepare_stop(h);
    h->data = (void *)(intptr_t)fd;
}

/* Who comes then is not taken for somebody who was silent all that time; nor is who was there before. */
static void test_held_up(void)
{
    struct side a, b;
    struct links_config c = config_of(&a, "127.0.0.1:0", "a");
    c.silence = c.handshake = 0.6;
    begin(&a, &c);
    call_as(&b, "b");
    link_connect(b.all, links_address(a.all), "a");
    until(&b.opened, 1);
    until(&a.opened, 1);
    uv_prepare_t h = {.data = &a};
    uv_prepare_init(&loop, &h);
    uv_prepare_start(&h, hold_up);
    turn(10);
    ok(!strstr(strbuf_text(&a.log), "too slow"), "and is not too slow: %s", strbuf_text(&a.log));
    is_int(a.closed, 0, "nor was the other silent");
    close((int)(intptr_t)h.data);
    uv_close((uv_handle_t *)&h, NULL);
    finish(&a, &b);
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
    TAP_DO(test_held_up());
    is_int(uv_loop_close(&loop), 0, "nothing is left in the loop");
    return tap_done();
}
