/* What tasks ask for of their nodes. Many ask for the same: each demand is kept once, and a task has its
 * number, so that a million tasks cost 4 bytes each and a scheduler can treat equal demands as one.
 *
 *     "gpu=1, licence=2"  ──parts──▶  sorted by name  ──text──▶  "gpu=1,licence=2"  ──▶  demand 3 */
#include "base/quantity.h"
#include "model/builder.h"
#include "model/builder_state.h"
#include "model/things.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void builder_free_demands(struct builder *b)
{
    struct builder_demands *d = &b->demands;
    array_free(&d->resource);
    array_free(&d->text);
    array_free(&d->first);
    array_free(&d->parts);
    name_index_free(&d->index);
    strbuf_free(&d->last);
}

/* Names that would give a task a variable that means something else. */
static bool is_taken(const char *name, size_t n)
{
    static const char *const taken[] = {"task", "attempt", "cores", "folder", "owner", "memory"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == n && strncasecmp(taken[i], name, n) == 0)
            return true;
    return false;
}

/* The name's number, given when it is first met. NONE: it is none, and the error says so. */
static uint32_t find_resource(struct builder *b, uint32_t task, const char *name, size_t n,
                              size_t line)
{
    struct builder_demands *d = &b->demands;
    const char *own = builder_task_name(b, task), *fault = thing_name_fault(name, n);
    if (!fault && is_taken(name, n))
        fault = "tasks have a variable of that name already; expected another name";
    if (fault) {
        builder_error(b, line, "task '%s': resources has '%.*s': %s", own, (int)(n < 60 ? n : 60),
                      name, fault);
        return NONE;
    }
    for (uint32_t i = 0; i < d->resource.n; i++) {
        const char *known = pool_text(&b->w->text, d->resource.at[i]);
        if (strlen(known) != n || strncasecmp(known, name, n) != 0)
            continue;
        if (memcmp(known, name, n) == 0)
            return i;
        builder_error(
            b, line,
            "task '%s': resources has '%.*s', another task '%s': one variable would stand "
            "for both; write them alike",
            own, (int)n, name, known);
        return NONE;
    }
    if (d->resource.n == THING_SORTS) {
        builder_error(b, line,
                      "task '%s': resources has '%.*s': more than %d different ones in a workflow",
                      own, (int)n, name, THING_SORTS);
        return NONE;
    }
    array_push(&d->resource, pool_add(&b->w->text, name, n));
    return (uint32_t)d->resource.n - 1;
}

struct part_list {
    struct demand_part at[THING_SORTS];
    uint32_t n;
};

/* "NAME=AMOUNT"; nothing of a thing is not asking for it. */
static bool read_part(struct builder *b, uint32_t task, const char *word, size_t n, size_t line,
                      struct part_list *out)
{
    const char *equals = memchr(word, '=', n);
    size_t name = equals ? (size_t)(equals - word) : n;
    double x = NAN;
    uint32_t amount;
    if (!equals || !quantity_number(equals + 1, n - name - 1, &x) || !thing_amount(x, &amount))
        return builder_error(
            b, line,
            "task '%s': resources has %.*s '%.*s'; expected how many, such as 1 or "
            "0.5: 0 to %d, in ten-thousandths at the finest",
            builder_task_name(b, task), (int)name, word, (int)(equals ? n - name - 1 : 0),
            equals ? equals + 1 : "", THING_MOST);
    if (!amount)
        return true;
    uint32_t resource = find_resource(b, task, word, name, line);
    if (resource == NONE)
        return false;
    for (uint32_t i = 0; i < out->n; i++)
        if (out->at[i].resource == resource)
            return builder_error(b, line, "task '%s': resources has '%.*s' twice",
                                 builder_task_name(b, task), (int)name, word);
    out->at[out->n++] = (struct demand_part){resource, amount};
    return true;
}

static bool read_parts(struct builder *b, uint32_t task, const char *list, size_t len, size_t line,
                       struct part_list *out)
{
    for (size_t at = 0; at < len;) {
        size_t n = 0;
        while (at + n < len && !strchr(", ", list[at + n]))
            n++;
        if (n && !read_part(b, task, list + at, n, line, out))
            return false;
        at += n + 1;
    }
    return true;
}

/* By name: insertion, there are few. */
static void sort_parts(const struct builder *b, struct part_list *p)
{
    const struct pool *text = &b->w->text;
    const str_id *name = b->demands.resource.at;
    for (uint32_t i = 1; i < p->n; i++)
        for (uint32_t k = i; k && strcmp(pool_text(text, name[p->at[k].resource]),
                                         pool_text(text, name[p->at[k - 1].resource])) < 0;
             k--) {
            struct demand_part swap = p->at[k];
            p->at[k] = p->at[k - 1];
            p->at[k - 1] = swap;
        }
}

/* The demand's number; the first one, 0, asks for nothing. */
static uint32_t demand_number(struct builder *b, struct part_list *p)
{
    struct builder_demands *d = &b->demands;
    if (!d->text.n) {
        name_index_init(&d->index);
        array_push(&d->text, 0);
        array_push(&d->first, 0);
    }
    if (!p->n)
        return 0;
    sort_parts(b, p);
    struct strbuf text = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        strbuf_printf(&text, "%s%s=", i ? "," : "",
                      pool_text(&b->w->text, d->resource.at[p->at[i].resource]));
        thing_amount_text(p->at[i].amount, &text);
    }
    uint32_t found = name_index_find(&d->index, &b->w->text, d->text.at, text.at, text.n);
    if (found == UINT32_MAX) {
        found = (uint32_t)d->text.n;
        array_push(&d->text, pool_add(&b->w->text, text.at, text.n));
        array_push(&d->first, (uint32_t)d->parts.n);
        for (uint32_t i = 0; i < p->n; i++)
            array_push(&d->parts, p->at[i]);
        name_index_add(&d->index, &b->w->text, d->text.at, found);
    }
    strbuf_free(&text);
    return found;
}

void builder_resources(struct builder *b, uint32_t task, const char *list, size_t len, size_t line)
{
    struct builder_demands *d = &b->demands;
    struct part_list parts = {.n = 0};
    if (task >= b->task_name.n)
        return;
    if (!(d->text.n && d->last.n == len && memcmp(strbuf_text(&d->last), list, len) == 0)) {
        if (!read_parts(b, task, list, len, line, &parts))
            return;
        d->last_demand = demand_number(b, &parts);
        strbuf_clear(&d->last);
        strbuf_add_bytes(&d->last, list, len);
    }
    if (!d->last_demand && task >= b->asks.n)
        return;
    column_extend(&b->asks, (size_t)task + 1, 0);
    b->asks.at[task] = d->last_demand;
}

struct resource_name {
    const char *name;
    uint32_t met;
};

static int compare_resources(const void *a, const void *b)
{
    return strcmp(((const struct resource_name *)a)->name, ((const struct resource_name *)b)->name);
}

void builder_forget_limits(struct builder *b, uint32_t task)
{
    if (task < b->timeout.n)
        b->timeout.at[task] = INFINITY;
    if (task < b->processes.n)
        b->processes.at[task] = 0;
}

void builder_check_calls(struct builder *b)
{
    for (uint32_t t = 0; t < b->timeout.n && t < b->flags.n; t++)
        if (isfinite(b->timeout.at[t]) && b->flags.at[t] & TASK_CALL)
            builder_error(b, b->line.at[t],
                          "task '%s' has a timeout and is a call, which do not go together: a "
                          "function cannot be ended from outside",
                          builder_task_name(b, t));
    for (uint32_t t = 0; t < b->nodes.n && t < b->flags.n; t++)
        if (b->nodes.at[t] > 1 && b->flags.at[t] & TASK_CALL)
            builder_error(b, b->line.at[t],
                          "task '%s' has nodes: %u and is a call, which do not go together: a "
                          "function runs in one process",
                          builder_task_name(b, t), b->nodes.at[t]);
}

/* Rows of amounts, a column a resource, by name: the same workflow has the same rows whatever its
 * tasks' order. */
void builder_finish_demands(struct builder *b, struct workflow *w)
{
    struct builder_demands *d = &b->demands;
    uint32_t n = (uint32_t)d->resource.n, column[THING_SORTS] = {0};
    struct resource_name order[THING_SORTS];
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct resource_name){pool_text(&w->text, d->resource.at[i]), i};
    qsort(order, n, sizeof *order, compare_resources);
    w->nresources = n;
    w->nasks = (uint32_t)d->text.n;
    w->resource = mem_new(str_id, n);
    for (uint32_t i = 0; i < n; i++) {
        w->resource[i] = d->resource.at[order[i].met];
        column[order[i].met] = i;
    }
    w->amount = mem_new_zero(uint32_t, (size_t)w->nasks * THING_SORTS);
    for (uint32_t k = 1; k < w->nasks; k++) {
        uint32_t end = k + 1 < w->nasks ? d->first.at[k + 1] : (uint32_t)d->parts.n;
        for (uint32_t i = d->first.at[k]; i < end; i++)
            w->amount[(size_t)k * THING_SORTS + column[d->parts.at[i].resource]] =
                d->parts.at[i].amount;
    }
}
