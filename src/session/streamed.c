/* Streams on record (streamed.h): what recording.c does for runs, without their events. */
#include "session/streamed.h"

#include "base/mem.h"
#include "formats/format.h"
#include "session/causes.h"
#include "session/recording.h"

#include <math.h>

struct streamed {
    struct history *history;
    struct run_record record;
};

/* The workflow is the stream's, not the record's. */
static void streamed_free(struct streamed *s)
{
    s->record.workflow = NULL;
    record_free(&s->record);
    history_close(s->history);
    free(s);
}

/* Everything that fails here is told by the caller, and the stream goes on without a record. */
struct streamed *streamed_begin(const struct workflow *w, const char *folder, const char *planner,
                                uint32_t workers, struct error *err)
{
    char *path = history_default_path();
    struct history *h = path ? history_open(path, err) : NULL;
    free(path);
    if (!h)
        return NULL;
    struct streamed *s = mem_new_zero(struct streamed, 1);
    struct strbuf text = {0}, dropped = {0};
    s->history = h;
    char name[256];
    recording_stamp(&s->record, workflow_display_name(w, name, sizeof name),
                    w->file ? workflow_text(w, w->file) : NULL, folder);
    s->record.planner = planner ? mem_copy_string(planner) : NULL;
    s->record.cores = workers;
    s->record.tasks = w->ntasks;
    s->record.workflow = (struct workflow *)w;
    /* the text is what shows the graph years later, as for runs */
    bool good = format_find("native")->write_workflow(w, &text, &dropped, err);
    s->record.run = good ? history_begin(h, &s->record, text.at, text.n, err) : 0;
    strbuf_free(&text);
    strbuf_free(&dropped);
    if (s->record.run)
        return s;
    streamed_free(s);
    return NULL;
}

int64_t streamed_run(const struct streamed *s)
{
    return s->record.run;
}

void streamed_tell(struct streamed *s, const struct history_figure *figures, size_t n)
{
    history_figures(s->history, figures, n);
}

/* The item stands in the reason: a failure of a run has a task and an attempt, and no item. */
void streamed_add_failure(struct streamed *s, uint32_t task, uint64_t item, const char *why)
{
    struct strbuf reason = {0};
    strbuf_printf(&reason, "item %llu: %s", (unsigned long long)item, why);
    array_push(
        &s->record.failures,
        ((struct record_failure){
            .task = task, .attempt = 1, .outcome = TRACE_FAILED, .reason = strbuf_steal(&reason)}));
}

/* Did an earlier failure name the same task? There are a thousand at most. */
static bool streamed_named(const struct run_record *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (r->failures.at[i].task == r->failures.at[at].task)
            return true;
    return false;
}

/* A task that had to give items up has failed, once. */
bool streamed_end(struct streamed *s, enum record_outcome outcome, double seconds, uint32_t ran,
                  struct error *err)
{
    struct run_record *r = &s->record;
    r->outcome = outcome;
    r->seconds = seconds;
    causes_group(r);
    for (size_t i = 0; i < r->failures.n; i++)
        r->failed += !streamed_named(r, i);
    r->ran = ran > r->failed ? ran - r->failed : 0;
    bool good = history_end(s->history, r, err);
    streamed_free(s);
    return good;
}
