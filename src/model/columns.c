/* The rows of column_list.h as an array, and what can be asked about any column. Optional numbers
 * and switches are answered from their row alone; a column of its own has a case in
 * column_is_set() and in column_is_equal(). formats/columns_test.c sees a case that was forgotten.
 *
 *      column_list.h            here                 asked by
 *      -------------            ----                 --------
 *      OWN(run, ...)     ---->  task_column[0]       column_is_set(), column_is_equal(): a case each
 *      SWITCH(...)       ---->  .flag, .usual        the same, from the row
 *      NUMBER(timeout..) ---->  .field, .absent      column_number(), and the same */
#include "model/columns.h"
#include "base/strbuf.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* One macro a sort of row: the fields that the sort has. */
#define OWN_ROW(name, defaults, lost_, example_, type_, fallback_, summary_)                       \
    [COLUMN_##name] = {.key = #name,                                                               \
                       .lost = lost_,                                                              \
                       .example = example_,                                                        \
                       .type = type_,                                                              \
                       .fallback = fallback_,                                                      \
                       .summary = summary_,                                                        \
                       .sort = COLUMN_OWN},
#define NUMBER_ROW(name, ctype, unit_, absent_, lost_, example_, type_, fallback_, summary_)       \
    [COLUMN_##name] = {.key = #name,                                                               \
                       .lost = lost_,                                                              \
                       .example = example_,                                                        \
                       .type = type_,                                                              \
                       .fallback = fallback_,                                                      \
                       .summary = summary_,                                                        \
                       .sort = COLUMN_OPTIONAL,                                                    \
                       .unit = unit_,                                                              \
                       .absent = absent_,                                                          \
                       .field = offsetof(struct workflow, name),                                   \
                       .whole = _Generic((ctype)0, uint32_t                                        \
                                         : true, double                                            \
                                         : false)},
#define SWITCH_ROW(name, flag_, usual_, lost_, example_, type_, fallback_, summary_)               \
    [COLUMN_##name] = {.key = #name,                                                               \
                       .lost = lost_,                                                              \
                       .example = example_,                                                        \
                       .type = type_,                                                              \
                       .fallback = fallback_,                                                      \
                       .summary = summary_,                                                        \
                       .sort = COLUMN_SWITCH,                                                      \
                       .flag = flag_,                                                              \
                       .usual = usual_},
const struct column_row task_column[TASK_COLUMN_COUNT] = {
    TASK_COLUMNS(OWN_ROW, NUMBER_ROW, SWITCH_ROW)};

/* The array of an optional column; NULL: no task has a value. */
static const void *column_array(const struct workflow *w, const struct column_row *c)
{
    return *(void *const *)((const char *)w + c->field);
}

double column_number(const struct workflow *w, uint32_t task, enum column_id id)
{
    const struct column_row *c = &task_column[id];
    const void *array = column_array(w, c);
    if (!array)
        return c->absent;
    return c->whole ? ((const uint32_t *)array)[task] : ((const double *)array)[task];
}

const enum column_id task_text[TASK_TEXT_COUNT] = {
#define TEXT_ID(name) COLUMN_##name,
    TASK_TEXTS(TEXT_ID)
#undef TEXT_ID
};

const char *column_text(const struct workflow *w, uint32_t task, enum column_id id)
{
    const str_id *column = NULL;
    switch ((int)id) {
#define TEXT_CASE(name)                                                                            \
    case COLUMN_##name:                                                                            \
        column = w->name;                                                                          \
        break;
        TASK_TEXTS(TEXT_CASE)
#undef TEXT_CASE
    default:
        break;
    }
    return column && column[task] ? workflow_text(w, column[task]) : NULL;
}

/* A command is `run` or `call`, told apart by a flag: one column in memory, two in files. */
static bool has_command(const struct workflow *w, uint32_t task, bool call)
{
    return w->command && w->command[task] && !(w->flags[task] & TASK_CALL) == !call;
}

/* The length of a task's list; 0 when no task has one. */
static uint32_t csr_count(const uint32_t *off, uint32_t task)
{
    return off ? off[task + 1] - off[task] : 0;
}

static uint32_t optional_count(const struct workflow *w, uint32_t task)
{
    uint32_t n = 0;
    for (uint32_t i = w->in_optional ? w->in_off[task] : 0;
         w->in_optional && i < w->in_off[task + 1]; i++)
        n += w->in_optional[i];
    return n;
}

bool column_is_set(const struct workflow *w, uint32_t task, enum column_id id)
{
    const struct column_row *c = &task_column[id];
    if (c->sort == COLUMN_OPTIONAL)
        return column_number(w, task, id) != c->absent;
    if (c->sort == COLUMN_SWITCH)
        return w->flags[task] & c->flag;
    switch (id) {
    case COLUMN_run:
        return has_command(w, task, false);
    case COLUMN_call:
        return has_command(w, task, true);
    case COLUMN_in:
        return w->pred_off[task] < w->pred_off[task + 1] || csr_count(w->input_off, task);
    case COLUMN_out:
        return w->object_off[task] < w->object_end[task];
    case COLUMN_after: /* ordering edges are not told apart here: structure */
        return false;
    case COLUMN_times:
        return csr_count(w->time_off, task);
    case COLUMN_work:
        return w->flags[task] & TASK_HAS_WORK || w->work[task] != 0;
    case COLUMN_memory:
        return w->memory[task] != 0;
    case COLUMN_cores:
        return w->cores[task] != 1;
    case COLUMN_needs:
        return w->needs && w->needs[task];
    case COLUMN_resources:
        return workflow_demand(w, task) != NULL;
    case COLUMN_kind: {
        const char *kind = workflow_text(w, w->kind[task]);
        return *kind && strcmp(kind, workflow_task_name(w, task)) != 0;
    }
    case COLUMN_shell:
        return w->shell && w->shell[task];
#define CASE_TEXT(name) case COLUMN_##name:
        TASK_TEXTS(CASE_TEXT)
        return column_text(w, task, id) != NULL;
    case COLUMN_when:
        return w->when && w->when[task];
    case COLUMN_retry_on:
        return w->retry_on && w->retry_on[task];
    case COLUMN_optional:
        return optional_count(w, task);
    case COLUMN_rungs:
        return csr_count(w->more_off, task);
    default: /* COLUMN_temporary is a mark of objects */
        return false;
    }
}

uint32_t column_count(const struct workflow *w, enum column_id id)
{
    const struct column_row *c = &task_column[id];
    if (c->sort == COLUMN_OPTIONAL && !column_array(w, c))
        return 0;
    uint32_t count = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        count += column_is_set(w, t, id);
    return count;
}

/* ---- comparison ---- */

static bool same_command(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                         bool call)
{
    bool one = has_command(a, s, call), two = has_command(b, t, call);
    return one == two &&
           (!one || strcmp(workflow_text(a, a->command[s]), workflow_text(b, b->command[t])) == 0);
}

/* The last time that a task states for a node; NAN: none. There are times. */
static double column_time_on(const struct workflow *w, uint32_t task, const char *node)
{
    for (uint32_t i = w->time_off[task + 1]; i-- > w->time_off[task];)
        if (strcmp(workflow_text(w, w->time[i].node), node) == 0)
            return w->time[i].seconds;
    return NAN;
}

/* Every time of `a` also in `b`, whatever the order. Tasks name a handful of nodes. */
static bool times_within(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t)
{
    uint32_t n = csr_count(a->time_off, s);
    for (uint32_t i = n ? a->time_off[s] : 0, end = i + n; i < end; i++) {
        const char *node = workflow_text(a, a->time[i].node);
        if (!b->time_off || column_time_on(b, t, node) != column_time_on(a, s, node))
            return false;
    }
    return true;
}

static bool same_rungs(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t)
{
    uint32_t n = csr_count(a->more_off, s);
    return n == csr_count(b->more_off, t) &&
           (!n || memcmp(a->more_memory + a->more_off[s], b->more_memory + b->more_off[t],
                         n * sizeof *a->more_memory) == 0);
}

static bool same_text(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                      enum column_id id)
{
    const char *one = column_text(a, s, id), *two = column_text(b, t, id);
    return one && two ? strcmp(one, two) == 0 : one == two;
}

/* By words: two workflows number them as they meet them. */
static bool same_needs(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t)
{
    struct strbuf words = {0};
    uint64_t one = a->needs ? a->needs[s] : 0, two = b->needs ? b->needs[t] : 0;
    if (one)
        workflow_needs_text(a, s, &words);
    bool same = __builtin_popcountll(one) == __builtin_popcountll(two) &&
                workflow_attribute_mask(b, strbuf_text(&words)) == two;
    strbuf_free(&words);
    return same;
}

/* By names, likewise. */
static bool same_resources(const struct workflow *a, uint32_t s, const struct workflow *b,
                           uint32_t t)
{
    const uint32_t *one = workflow_demand(a, s), *two = workflow_demand(b, t);
    uint32_t left = 0;
    if (!one || !two)
        return !one && !two;
    for (uint32_t i = 0; i < b->nresources; i++)
        left += two[i] > 0;
    for (uint32_t i = 0; i < a->nresources; i++) {
        if (!one[i])
            continue;
        uint32_t k = workflow_find_resource(b, workflow_text(a, a->resource[i]));
        if (k == NONE || two[k] != one[i])
            return false;
        left--;
    }
    return !left;
}

/* Doubles are compared as they are: a format that rounds has lost something. */
/* A text of a task, "" where it has none. */
static bool same_words(const struct workflow *a, const str_id *x, uint32_t s,
                       const struct workflow *b, const str_id *y, uint32_t t)
{
    return strcmp(x ? workflow_text(a, x[s]) : "", y ? workflow_text(b, y[t]) : "") == 0;
}

/* By name: the order of inputs is compared elsewhere, where it matters. */
static bool same_optional(const struct workflow *a, uint32_t s, const struct workflow *b,
                          uint32_t t)
{
    char one[8192], two[8192];
    bool same = optional_count(a, s) == optional_count(b, t);
    for (uint32_t i = a->in_optional ? a->in_off[s] : 0;
         same && a->in_optional && b->in_optional && i < a->in_off[s + 1]; i++) {
        if (!a->in_optional[i])
            continue;
        const char *name = workflow_object_label(a, a->in_object[i], one, sizeof one);
        same = false;
        for (uint32_t k = b->in_off[t]; k < b->in_off[t + 1] && !same; k++)
            same = b->in_optional[k] &&
                   strcmp(workflow_object_label(b, b->in_object[k], two, sizeof two), name) == 0;
    }
    return same;
}

bool column_is_equal(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                     enum column_id id)
{
    const struct column_row *c = &task_column[id];
    if (c->sort == COLUMN_OPTIONAL)
        return column_number(a, s, id) == column_number(b, t, id);
    if (c->sort == COLUMN_SWITCH)
        return !((a->flags[s] ^ b->flags[t]) & c->flag);
    switch (id) {
    case COLUMN_run:
        return same_command(a, s, b, t, false);
    case COLUMN_call:
        return same_command(a, s, b, t, true);
    case COLUMN_times:
        return times_within(a, s, b, t) && times_within(b, t, a, s);
    case COLUMN_work: /* whether it was stated counts: predictions fill only what was not */
        return a->work[s] == b->work[t] && !((a->flags[s] ^ b->flags[t]) & TASK_HAS_WORK);
    case COLUMN_memory:
        return a->memory[s] == b->memory[t];
    case COLUMN_cores:
        return a->cores[s] == b->cores[t];
    case COLUMN_needs:
        return same_needs(a, s, b, t);
    case COLUMN_resources:
        return same_resources(a, s, b, t);
    case COLUMN_kind:
        return strcmp(workflow_text(a, a->kind[s]), workflow_text(b, b->kind[t])) == 0;
    case COLUMN_shell:
        return strcmp(a->shell ? workflow_text(a, a->shell[s]) : "",
                      b->shell ? workflow_text(b, b->shell[t]) : "") == 0;
        TASK_TEXTS(CASE_TEXT)
        return same_text(a, s, b, t, id);
    case COLUMN_when:
        return same_words(a, a->when, s, b, b->when, t);
    case COLUMN_retry_on:
        return same_words(a, a->retry_on, s, b, b->retry_on, t);
    case COLUMN_optional:
        return same_optional(a, s, b, t);
    case COLUMN_rungs:
        return same_rungs(a, s, b, t);
    default: /* in, out, after, temporary: objects and edges, which equal.c compares */
        return true;
    }
}
