/* Kept results of a session: see kept_results.h.
 *
 * I1. Results are kept as their tasks end (need_done()), so that a run that is killed has kept what it
 *     made; and once more at the end, which finds what was there already or came from agents.
 * I2. Bounds are applied when something was kept, by who has the folder. */
#include "session/kept_results.h"

#include "base/plural.h"
#include "report/human.h"
#include "session/growing.h"
#include "session/recording.h"

#include <string.h>

struct keeping *kept_results_begin(struct session *s)
{
    struct keeping *k = &s->keeping;
    if (!k->objects)
        k->objects = objects_open(s->ws.state);
    k->all = s->o.keep_results;
    k->overwrite = s->o.overwrite;
    k->most = s->keep.results.size;
    /* what agents read of a workflow that grows has been put together when it is opened */
    k->computes = s->o.elsewhere && s->w && s->w->future;
    return k;
}

void kept_results_free(struct session *s)
{
    objects_close(s->keeping.objects);
    strbuf_free(&s->keeping.aside);
    s->keeping = (struct keeping){0};
}

/* Lists that what was restored decides are read, and what joins may be restored in turn. */
bool session_restore(struct session *s, struct error *err)
{
    bool good = true;
    s->keeping.started = !s->o.look;
    while (good && !s->o.look && s->needs.kept) {
        keeping_restore_all(&s->needs, 0);
        good = growing_begin(s, err);
    }
    return good;
}

void kept_results_record(struct session *s)
{
    const struct workflow *w = s->w;
    struct needs *n = &s->needs;
    if (!s->keeping.restored || !s->history || !s->record.run)
        return;
    struct trace_sink sink = history_sink(s->history);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        if (n->present[o] != NEED_RESTORED)
            continue;
        struct trace_file f = {.object = o,
                               .task = w->producer[o],
                               .digest = n->content[o],
                               .size = n->bytes[o],
                               .path =
                                   w->object_name[o] ? workflow_text(w, w->object_name[o]) : NULL,
                               .restored = true};
        need_key(n, f.task, &f.key);
        if (f.path)
            sink.file(sink.context, &f);
        n->present[o] = 1; /* told once */
    }
}

void kept_results_record_alone(struct session *s)
{
    struct error err = {0};
    if (!s->keeping.restored)
        return;
    if (!s->history)
        recording_open_history(s);
    recording_begin(s);
    if (!s->record.run || !s->history)
        return;
    kept_results_record(s);
    struct trace_sink sink = history_sink(s->history);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        if (s->needs.task[t] == NEED_NOT)
            sink.event(sink.context, &(struct trace_event){.kind = TRACE_REUSED, .id = t});
    if (!history_end(s->history, &s->record, &err))
        remark(&s->o.remarks, REMARK_WARNING, "the record of this run is not complete: %s",
               err.text);
}

static void kept_results_evict(struct session *s)
{
    char gone[HUMAN_SIZE], left[HUMAN_SIZE];
    struct objects_eviction e = {.age = s->keep.results.age, .size = s->keep.results.size};
    objects_evict(s->keeping.objects, &e);
    if (e.count)
        remark(&s->o.remarks, REMARK_INFO,
               "%u kept result%s (%s) %s let go, %u (%s) stay; WEFT_KEEP_RESULTS says how many",
               e.count, plural(e.count), human_bytes(gone, e.bytes),
               plural_word(e.count, "was", "were"), e.left_count, human_bytes(left, e.left_bytes));
}

static void kept_results_tell(struct session *s)
{
    const struct keeping *k = &s->keeping;
    if (k->damaged)
        remark(&s->o.remarks, REMARK_WARNING,
               "%u kept result%s damaged, and removed; %s computed instead", k->damaged,
               plural_word(k->damaged, " was", "s were"),
               plural_word(k->damaged, "it was", "they were"));
    else if (k->computes && !s->o.elsewhere)
        remark(&s->o.remarks, REMARK_WARNING,
               "kept results could not be restored, and were computed instead: %s", k->why.text);
    if (k->unkept)
        remark(&s->o.remarks, REMARK_WARNING, "%u result%s could not be kept: %s", k->unkept,
               plural(k->unkept), k->why.text);
    for (const char *line = strbuf_text(&k->aside); *line;) {
        size_t n = strcspn(line, "\n");
        remark(&s->o.remarks, REMARK_INFO, "weft did not make what stood there: %.*s", (int)n,
               line);
        line += n + (line[n] == '\n');
    }
}

void kept_results_end(struct session *s)
{
    struct keeping *k = &s->keeping;
    if (!k->objects || s->o.look)
        return;
    k->unkept = 0; /* what could not be kept when its task ended is tried once more */
    keeping_keep_all(&s->needs);
    if (k->kept)
        kept_results_evict(s);
    kept_results_tell(s);
}
