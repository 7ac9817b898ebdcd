/* A stream on record: a run of the history with figures in place of attempts (session/streamed.h).
 *
 *     stream.items, .throughput, .latency ...      of the whole
 *     filter.items, .seconds, .waiting             by the label `filter`: a task
 *     node.busy                                    by `node`: cluster and replica go by its name
 *     channel.busy, .transfers                     by `channel`: "a - b", or "helper 2"
 *
 * They are told once a second, so that others see them while it runs. The history is a help, never a
 * condition: what goes wrong there is said, and the stream goes on. */
#include "api/stream_handle.h"
#include "base/clock.h"
#include "session/streamed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of each list as many are kept: who has more of them asks for --figures. */
enum { RECORDED_MOST = 256, RECORDED_ALL = 16 + 3 * RECORDED_MOST + 3 * RECORDED_MOST };

struct stream_board {
    size_t n;
    struct history_figure at[RECORDED_ALL];
    size_t names;
    char name[2 * RECORDED_MOST][128]; /* of nodes and channels, made here */
};

static void record_add(struct stream_board *b, const char *name, const char *label, const char *of,
                       double value)
{
    if (b->n < RECORDED_ALL)
        b->at[b->n++] = (struct history_figure){name, label, of, value};
}

/* What the summary begins with, by the names that docs/streams.md lists; a promise that there is not is
 * NAN, and the history leaves it out. */
static void record_whole(const struct weft_stream *s, struct stream_board *b)
{
    struct weft_stream_figures f;
    weft_stream_figures(s, &f);
    record_add(b, "stream.taken", NULL, NULL, (double)f.taken);
    record_add(b, "stream.items", NULL, NULL, (double)f.done);
    record_add(b, "stream.empty", NULL, NULL, (double)f.empty);
    record_add(b, "stream.given_up", NULL, NULL, (double)f.given_up);
    record_add(b, "stream.retried", NULL, NULL, (double)f.retried);
    record_add(b, "stream.seconds", NULL, NULL, f.seconds);
    record_add(b, "stream.throughput", NULL, NULL, f.throughput);
    record_add(b, "stream.latency", NULL, NULL, f.latency_mean);
    record_add(b, "stream.latency_50", NULL, NULL, f.latency_50);
    record_add(b, "stream.latency_95", NULL, NULL, f.latency_95);
    record_add(b, "stream.latency_99", NULL, NULL, f.latency_99);
    record_add(b, "stream.latency_max", NULL, NULL, f.latency_max);
    record_add(b, "stream.promised_throughput", NULL, NULL, f.promised_throughput);
    record_add(b, "stream.promised_latency", NULL, NULL, f.promised_latency);
}

/* A plan gives a node to one cluster, so its name tells its workers apart; threads have numbers. */
static void record_places(const struct weft_stream *s, struct stream_board *b)
{
    struct weft_stream_worker w;
    struct weft_stream_channel c;
    for (size_t i = 0; i < RECORDED_MOST && weft_stream_worker(s, i, &w); i++) {
        char *name = b->name[b->names++];
        if (w.node)
            snprintf(name, sizeof *b->name, "%s", w.node);
        else
            snprintf(name, sizeof *b->name, "thread %zu", i);
        record_add(b, "node.busy", "node", name, w.busy);
    }
    size_t at = 0;
    for (size_t i = 0; i < RECORDED_MOST && weft_stream_channel(s, &at, &c); i++) {
        char *name = b->name[b->names++];
        if (c.from)
            snprintf(name, sizeof *b->name, "%.60s - %.60s", c.from, c.to);
        else
            snprintf(name, sizeof *b->name, "helper %u", c.helper);
        record_add(b, "channel.busy", "channel", name, c.busy);
        record_add(b, "channel.transfers", "channel", name, (double)c.transfers);
    }
}

/* All figures of this moment. They are read while workers write them: numbers that belong together may be
 * a few items apart, as on the screen. The board is too large for a stack that a caller may have made
 * small, and lives for one call. */
static void record_tell(void *stream)
{
    struct weft_stream *s = stream;
    struct stream_board *b = mem_new(struct stream_board, 1);
    struct weft_stream_task t;
    b->n = b->names = 0;
    record_whole(s, b);
    for (size_t i = 0; i < RECORDED_MOST && weft_stream_task(s, i, &t); i++) {
        record_add(b, "filter.items", "filter", t.name, (double)t.items);
        record_add(b, "filter.seconds", "filter", t.name, t.seconds);
        record_add(b, "filter.waiting", "filter", t.name, (double)t.waiting);
    }
    record_places(s, b);
    streamed_tell(s->record, b->at, b->n);
    free(b);
}

/* In its turn among the remarks of the stream: the history has no voice of its own here. */
static void record_say(struct weft_stream *s, const char *what, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "%s: %.900s", what, why);
    flow_remark(s->flow, text);
}

/* Before the agents start: a stream that waits for them is seen in the list of runs already. Workers count
 * as cores, which is what a plan gives it; threads without one may be more than the machine has. */
static void record_begin(void *stream)
{
    struct weft_stream *s = stream;
    const struct plan *plan = flow_plan(s->flow);
    struct flow_worker_figures w;
    struct error err = {0};
    uint32_t workers = 0;
    while (flow_worker(s->flow, workers, &w))
        workers++;
    s->record =
        streamed_begin(s->workflow->model, s->folder, plan ? plan->planner : NULL, workers, &err);
    s->recorded = s->record ? streamed_run(s->record) : 0;
    if (err.kind != ERROR_NONE)
        record_say(s, "this stream is not recorded", err.text);
}

void stream_record_begin(struct weft_stream *s)
{
    size_t asked;
    if (!s->options.no_history && !s->recorded && !mem_try(NULL, record_begin, s, &asked))
        record_say(s, "this stream is not recorded", "out of memory");
    s->told = clock_seconds();
}

/* Of what finds no memory the next second tells again. */
void stream_record_tick(struct weft_stream *s)
{
    size_t asked;
    double now = clock_seconds();
    if (!s->record || now - s->told < 1)
        return;
    s->told = now;
    mem_try(NULL, record_tell, s, &asked);
}

struct record_ending {
    struct weft_stream *stream;
    bool good;
};

/* The last figures, then the end: who asks for a stream that is over finds those of its last item. */
static void record_end(void *ending)
{
    const struct record_ending *e = ending;
    struct weft_stream *s = e->stream;
    struct flow_failure x;
    struct weft_stream_task t;
    struct weft_stream_figures f;
    struct error err = {0};
    uint32_t ran = 0;
    record_tell(s);
    for (size_t i = 0; weft_stream_task(s, i, &t); i++)
        ran += t.items > 0;
    for (size_t i = 0; flow_failure(s->flow, i, &x); i++)
        streamed_add_failure(s->record, x.task, x.item, x.why);
    weft_stream_figures(s, &f);
    struct streamed *record = s->record;
    s->record = NULL;
    /* who stops a stream that has no end of its own, and loses nothing by it, has what he wanted */
    enum record_outcome outcome = e->good                                   ? RECORD_DONE
                                  : atomic_load(&s->stopped) && !f.given_up ? RECORD_CANCELLED
                                                                            : RECORD_FAILED;
    if (!streamed_end(record, outcome, f.seconds, ran, &err))
        record_say(s, "the record of this stream is not complete", err.text);
}

void stream_record_end(struct weft_stream *s, bool good)
{
    size_t asked;
    struct record_ending ending = {s, good};
    if (s->record && !mem_try(NULL, record_end, &ending, &asked))
        record_say(s, "the record of this stream is not complete", "out of memory");
}
