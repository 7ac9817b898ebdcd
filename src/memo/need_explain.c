/* Why a task runs, or does not, in words. */
#include "memo/need.h"

const char *need_name(enum need need)
{
    static const char *const names[NEED_KINDS] = {
        "done",    "new",    "command changed", "input changed", "output", "input will change",
        "restore", "forced", "skipped",         "kept"};
    return need < NEED_KINDS ? names[need] : "?";
}

void need_explain(const struct needs *n, uint32_t task, struct strbuf *out)
{
    char label[512];
    uint32_t because = n->because[task];
    bool named = because != NONE;
    const char *note = n->note ? n->note[task] : NULL;
    switch ((enum need)n->task[task]) {
    case NEED_NOT:
        strbuf_add(out,
                   "does not run: the same command ran on the same inputs, and its outputs are "
                   "as it left them");
        break;
    case NEED_NEVER:
        strbuf_printf(out, "runs: %s", note ? note : "there is no record that it ever ended well");
        return; /* with a note that is all there is to say */
    case NEED_COMMAND:
        strbuf_add(out, "runs: its command, its parameters or the names of its outputs changed "
                        "since it last ran");
        break;
    case NEED_INPUT:
        if (named)
            strbuf_printf(out, "runs: its input '%s' changed since it last ran",
                          workflow_object_label(n->w, because, label, sizeof label));
        else
            strbuf_add(out, "runs: the list of its inputs changed since it last ran");
        break;
    case NEED_OUTPUT:
        if (named && n->present[because])
            strbuf_printf(out, "runs: its output '%s' is not what it left there",
                          workflow_object_label(n->w, because, label, sizeof label));
        else if (named)
            strbuf_printf(out, "runs: its output '%s' is gone",
                          workflow_object_label(n->w, because, label, sizeof label));
        else
            strbuf_add(out, "runs: its outputs are not those of the record");
        break;
    case NEED_PARENT:
        if (named)
            strbuf_printf(out,
                          "runs if '%s', which runs before it, gives another result than last time",
                          workflow_task_name(n->w, because));
        else
            strbuf_add(out, "runs: whether it is taken cannot be said before");
        break;
    case NEED_RESTORE:
        strbuf_printf(out, "runs: its %soutput '%s' is %s and is needed again",
                      named && !workflow_is_temporary(n->w, because) ? "" : "temporary ",
                      named ? workflow_object_label(n->w, because, label, sizeof label) : "?",
                      named && !workflow_is_temporary(n->w, because) ? "not here" : "gone");
        break;
    case NEED_FORCED:
        strbuf_add(out, "runs: because you said so (--force)");
        break;
    case NEED_SKIPPED:
        if (named)
            strbuf_printf(out, "is skipped: it needs what '%s' makes, which is skipped",
                          workflow_task_name(n->w, because));
        else
            strbuf_add(out, "is skipped: its `when` does not hold: ");
        if (!named)
            workflow_when_text(n->w, task, out);
        break;
    case NEED_KEPT:
        strbuf_printf(out, "is restored: its output '%s' is %s, and was kept",
                      named ? workflow_object_label(n->w, because, label, sizeof label) : "?",
                      named && n->present[because] ? "another" : "gone");
        break;
    case NEED_KINDS:
        break;
    }
    if (need_runs(n, task) && n->w->when && n->w->when[task]) {
        strbuf_add(out, "; if its `when` holds: ");
        workflow_when_text(n->w, task, out);
    }
    if (note)
        strbuf_printf(out, "; %s", note);
}
