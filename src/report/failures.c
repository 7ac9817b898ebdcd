/* Failures by cause. The record of a real run says which failures have one cause; where there is no
 * record (a simulation, a run of an older weft, the thousand-and-first failure) tasks of one kind
 * that ended alike stand together. */
#include "report/failures.h"

#include "base/mem.h"
#include "model/command.h"
#include "report/human.h"
#include "report/summary.h"

#include <math.h>
#include <stdlib.h>

enum {
    NAMES_SHOWN = 3,
    UNRECORDED_MOST = 100
}; /* groups made of events alone: the last takes all */

/* The record of each task that has one, for a binary search. */
struct failure_index {
    uint32_t task, place;
};

static int failure_index_order(const void *a, const void *b)
{
    const struct failure_index *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

static uint32_t failure_find(const struct failure_index *index, size_t n, uint32_t task)
{
    struct failure_index want = {.task = task};
    const struct failure_index *at =
        n ? bsearch(&want, index, n, sizeof want, failure_index_order) : NULL;
    return at ? at->place : NONE;
}

/* The group of an event without a record. */
static uint32_t failure_alike(const struct failure_groups *g, const struct run_figures *f,
                              const struct trace_event *e)
{
    uint32_t seen = 0, last = NONE;
    for (uint32_t i = 0; i < g->group.n; i++) {
        const struct failure_group *other = &g->group.at[i];
        if (other->record)
            continue;
        last = i;
        if (other->event->outcome == e->outcome && other->event->status == e->status &&
            f->kind_of[other->event->id] == f->kind_of[e->id])
            return i;
        if (++seen == UNRECORDED_MOST)
            return last;
    }
    return NONE;
}

void failure_groups_of(struct failure_groups *g, const struct run_figures *f)
{
    const struct run_record *r = f->record;
    size_t n = f->failures.n, known = r->failures.n;
    *g = (struct failure_groups){.tasks = mem_new(uint32_t, n + 1)};
    struct failure_index *index = mem_new(struct failure_index, known + 1);
    uint32_t *of_cause = mem_new(uint32_t, known + 1), *of = mem_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < known; i++) {
        index[i] = (struct failure_index){r->failures.at[i].task, i};
        of_cause[i] = NONE;
    }
    if (known)
        qsort(index, known, sizeof *index, failure_index_order);
    /* which group each belongs to, then room for its tasks, then the tasks */
    for (size_t i = 0; i < n; i++) {
        const struct trace_event *e = &r->events.at[f->failures.at[i]];
        uint32_t at = failure_find(index, known, e->id);
        uint32_t cause = at != NONE ? r->failures.at[at].cause : NONE;
        uint32_t *group = cause < known ? &of_cause[cause] : NULL;
        uint32_t place = group ? *group : failure_alike(g, f, e);
        if (place == NONE) {
            place = (uint32_t)g->group.n;
            array_push(&g->group, (struct failure_group){
                                      .record = group ? &r->failures.at[cause] : NULL, .event = e});
            if (group)
                *group = place;
        }
        of[i] = place;
        g->group.at[place].n++;
    }
    uint32_t room = 0;
    for (size_t i = 0; i < g->group.n; i++) {
        g->group.at[i].tasks = g->tasks + room;
        room += g->group.at[i].n;
        g->group.at[i].n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct failure_group *group = &g->group.at[of[i]];
        g->tasks[group->tasks - g->tasks + group->n++] = r->events.at[f->failures.at[i]].id;
    }
    free(index);
    free(of_cause);
    free(of);
}

void failure_groups_free(struct failure_groups *g)
{
    array_free(&g->group);
    free(g->tasks);
}

/* All of them when naming them is as short as counting them. */
void failure_names(const struct failure_group *g, const struct run_figures *f, struct strbuf *out)
{
    char buffer[32], a[HUMAN_SIZE];
    uint32_t shown = g->n <= NAMES_SHOWN + 1 ? g->n : NAMES_SHOWN;
    for (uint32_t i = 0; i < shown; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "",
                      figures_task_name(f, g->tasks[i], buffer, sizeof buffer));
    if (shown < g->n)
        strbuf_printf(out, " and %s more", human_count(a, g->n - shown));
}

void failure_ending(const struct failure_group *g, const struct run_figures *f, struct strbuf *out)
{
    const struct workflow *w = f->record->workflow;
    double limit = g->record                       ? g->record->limit
                   : w && g->event->id < w->ntasks ? w->memory[g->event->id]
                                                   : 0;
    if (g->record && g->record->reason)
        strbuf_add(out, g->record->reason);
    else
        report_ending(g->event, limit, out);
    if (g->event->attempt > 1)
        strbuf_printf(out, ", at attempt %u", g->event->attempt);
}

bool failure_command(const struct failure_group *g, const struct run_figures *f, struct strbuf *out)
{
    if (!g->record || !g->record->command)
        return command_readable(f->record->workflow, g->tasks[0], g->event->attempt, out);
    strbuf_add(out, g->record->command);
    return true;
}

/* Enough for what it used, or would have: a fifth more, else twice as much at the next attempt. */
static void failure_memory_hint(const struct failure_group *g, struct strbuf *out)
{
    double limit = g->record ? g->record->limit : 0;
    double used = g->event->memory > limit ? g->event->memory : limit;
    if (used > 0)
        strbuf_printf(out,
                      "give it more (memory: %.0fM), or more at each attempt (memory: [%.0fM, "
                      "%.0fM] with retries: 1)",
                      ceil(used * 1.2 / 1e6), ceil(used / 1e6), ceil(used * 2 / 1e6));
    else
        strbuf_add(out, "give it more memory, or more at each attempt (memory: [2G, 4G] with "
                        "retries)");
}

void failure_hint(const struct failure_group *g, struct strbuf *out)
{
    const struct trace_event *e = g->event;
    char a[HUMAN_SIZE];
    if (g->record && g->record->hint)
        strbuf_add(out, g->record->hint);
    else if (e->outcome == TRACE_MEMORY)
        failure_memory_hint(g, out);
    else if (e->outcome == TRACE_TIMEOUT)
        strbuf_printf(out, "raise its timeout if %s is not enough",
                      human_seconds(a, e->finish - e->start));
    else if (e->status == 127)
        strbuf_add(out, "is the program installed, and in PATH where weft was started?");
    else if (e->status == 126)
        strbuf_add(out, "make the file executable (chmod +x), or name its interpreter");
    else if (e->status == 128 + 9)
        strbuf_add(out, "if it ran out of memory, declare what it needs (memory: ...), so that "
                        "less runs beside it");
}

static void failure_put_cause(const struct failure_group *g, const struct run_figures *f,
                              struct json_writer *j)
{
    struct strbuf text = {0};
    char buffer[32];
    json_write_object(j);
    failure_ending(g, f, &text);
    json_put_string(j, "what", strbuf_text(&text));
    strbuf_clear(&text);
    json_put_text(j, "command", failure_command(g, f, &text) ? strbuf_text(&text) : NULL);
    strbuf_clear(&text);
    failure_hint(g, &text);
    json_put_text(j, "hint", text.n ? strbuf_text(&text) : NULL);
    strbuf_free(&text);
    json_put_text(j, "log", g->record ? g->record->log : NULL);
    json_put_text(j, "last_lines", g->record ? g->record->tail : NULL);
    json_put_integer(j, "count", g->n);
    json_write_key(j, "tasks");
    json_write_array_inline(j);
    for (uint32_t k = 0; k < g->n; k++)
        json_write_string(j, figures_task_name(f, g->tasks[k], buffer, sizeof buffer));
    json_write_end_array(j);
    json_write_end_object(j);
}

void failure_put_causes(const struct failure_groups *g, const struct run_figures *f,
                        struct json_writer *j)
{
    json_write_key(j, "causes");
    json_write_array(j);
    for (size_t i = 0; i < g->group.n; i++)
        failure_put_cause(&g->group.at[i], f, j);
    json_write_end_array(j);
}
