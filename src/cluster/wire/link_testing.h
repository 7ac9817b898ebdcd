/* Two hubs in one loop, for the tests of links. */
#pragma once
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

static inline void on_open(void *context, struct link *l)
{
    struct side *s = context;
    s->opened++;
    s->last = l;
    snprintf(s->hello, sizeof s->hello, "%s", link_name(l));
}

static inline void on_message(void *context, struct link *l, uint8_t kind, const void *data,
                              size_t n)
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

static inline void on_closed(void *context, struct link *l, const char *why)
{
    struct side *s = context;
    s->closed++;
    if (s->last == l)
        s->last = NULL;
    s->told_empty = !*why;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static inline void on_drained(void *context, struct link *l)
{
    struct side *s = context;
    s->drained++;
    if (link_queued(l))
        s->broken++;
}

static inline void on_log(void *context, const char *line)
{
    struct side *s = context;
    strbuf_add(&s->log, line);
    strbuf_add_char(&s->log, '\n');
}

static inline struct links_config config_of(struct side *s, const char *bind, const char *hello)
{
    return (struct links_config){.loop = &loop,
                                 .key = key,
                                 .bind = bind,
                                 .self = hello,
                                 .open = on_open,
                                 .message = on_message,
                                 .closed = on_closed,
                                 .drained = on_drained,
                                 .log = on_log,
                                 .context = s};
}

static inline void begin(struct side *s, const struct links_config *c)
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

static inline void listen_as(struct side *s, const char *hello)
{
    struct links_config c = config_of(s, "127.0.0.1:0", hello);
    begin(s, &c);
}

static inline void call_as(struct side *s, const char *hello)
{
    struct links_config c = config_of(s, NULL, hello);
    begin(s, &c);
}

static inline int port_of(const struct side *s)
{
    return (int)strtol(strrchr(links_address(s->all), ':') + 1, NULL, 10);
}

/* Turn the loop until the number is reached; gives up after some ten seconds. */
static inline bool until(const unsigned *number, unsigned value)
{
    uint64_t end = uv_hrtime() + 20000000000u;
    while (*number < value && uv_hrtime() < end) {
        uv_run(&loop, UV_RUN_NOWAIT);
        if (*number < value)
            poll(NULL, 0, 1);
    }
    return *number >= value;
}

static inline void turn(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        poll(NULL, 0, 1);
    }
}

static inline void finish(struct side *a, struct side *b)
{
    links_free(a->all);
    if (b)
        links_free(b->all);
    uv_run(&loop, UV_RUN_DEFAULT);
    strbuf_free(&a->log);
    if (b)
        strbuf_free(&b->log);
}
