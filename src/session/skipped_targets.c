/* Who asked for a file, or for a task, is told that it is not made: a run of which all else went well
 * ends well. Of a family that is a target the summary counts the members. */
#include "session/skipped_targets.h"

#include "report/summary.h"

/* Why it was skipped, as the run's events have it, or as was known before; false: it was not. */
static bool skipped_why(const struct session *s, uint32_t task, struct trace_event *out)
{
    for (size_t i = 0; i < s->record.events.n; i++)
        if (s->record.events.at[i].kind == TRACE_SKIPPED && s->record.events.at[i].id == task) {
            *out = s->record.events.at[i];
            return true;
        }
    *out = (struct trace_event){.kind = TRACE_SKIPPED, .id = task, .other = NONE};
    if (!s->needs.task || s->needs.task[task] != NEED_SKIPPED)
        return false;
    out->other = s->needs.because[task];
    return true;
}

void session_remark_skipped(struct session *s)
{
    struct trace_event e;
    struct strbuf why = {0};
    for (const char *const *t = s->o.targets; t && *t; t++) {
        struct error ignored = {0}; /* a family */
        uint32_t task = session_find_task(s, *t, &ignored);
        if (task == NONE || !skipped_why(s, task, &e))
            continue;
        strbuf_clear(&why);
        report_skipped(s->w, &e, &why);
        remark(&s->o.remarks, REMARK_WARNING, "target '%s' is not made: task '%s' is %s", *t,
               workflow_task_name(s->w, task), strbuf_text(&why));
    }
    strbuf_free(&why);
}
