/* What fits where, and the words for what fits nowhere (capacity.h). Pure functions of a workflow and
 * of what nodes have. */
#include "model/capacity.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the same terms as what nodes have, so that fitting is comparing. */
struct capacity capacity_demand(const struct workflow *w, uint32_t task)
{
    struct capacity c = {
        .cores = w->cores[task], .memory = w->memory[task], .has = w->needs ? w->needs[task] : 0};
    const uint32_t *demand = workflow_demand(w, task);
    for (uint32_t i = 0; demand && i < w->nresources; i++) {
        c.thing[i] = demand[i];
        c.things |= (uint32_t)(demand[i] > 0) << i;
    }
    return c;
}

void capacity_set_things(struct capacity *c, const struct workflow *w, const char *text)
{
    struct thing_list list = {0};
    struct error ignored = {0}; /* whoever took the text has checked it */
    c->things = 0;
    memset(c->thing, 0, sizeof c->thing);
    if (!w->nresources || !text || !*text)
        return;
    if (thing_list_read(text, &list, &ignored))
        for (uint32_t i = 0; i < w->nresources; i++) {
            const struct thing_sort *s = thing_list_find(&list, workflow_text(w, w->resource[i]));
            c->thing[i] = s ? s->amount : 0;
            c->things |= (uint32_t)(s && s->ids.n) << i;
        }
    thing_list_free(&list);
}

/* Only what is asked for is looked at: most tasks ask for nothing. */
bool capacity_holds(const struct capacity *there, const struct capacity *demand)
{
    for (uint32_t left = demand->things; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!thing_fits(there->thing[i], there->things >> i & 1, demand->thing[i]))
            return false;
    }
    return true;
}

/* Of things with ids where one has them: a part of one may be asked for on the other alone. */
struct capacity capacity_least(const struct capacity *a, const struct capacity *b)
{
    struct capacity c = {.cores = a->cores < b->cores ? a->cores : b->cores,
                         .memory = fmin(a->memory, b->memory),
                         .has = a->has & b->has,
                         .things = a->things | b->things,
                         .ends = a->ends > 0 && b->ends > 0 ? fmin(a->ends, b->ends)
                                                            : fmax(a->ends, b->ends),
                         .seconds = fmin(a->seconds, b->seconds)};
    for (uint32_t i = 0; i < THING_SORTS; i++)
        c.thing[i] = a->thing[i] < b->thing[i] ? a->thing[i] : b->thing[i];
    return c;
}

/* For words alone: no node need have all of it. */
struct capacity capacity_most(const struct capacity *a, const struct capacity *b)
{
    struct capacity c = {.cores = a->cores > b->cores ? a->cores : b->cores,
                         .memory = fmax(a->memory, b->memory),
                         .has = a->has | b->has,
                         .things = a->things | b->things,
                         .ends = a->ends > 0 && b->ends > 0 ? fmax(a->ends, b->ends) : 0,
                         .seconds = fmax(a->seconds, b->seconds)};
    for (uint32_t i = 0; i < THING_SORTS; i++)
        c.thing[i] = a->thing[i] > b->thing[i] ? a->thing[i] : b->thing[i];
    return c;
}

/* Joints and tasks whose results are there take nothing. */
static bool capacity_is_asked(const struct workflow *w, const uint8_t *runs, uint32_t task)
{
    return !(runs && !runs[task]) && !(w->command && !w->command[task]);
}

/* The same as capacity_fits() for a task on one node that asks for no things: nearly all, and a whole struct for each of
 * a million tasks would be most of the work. */
static bool capacity_fits_plainly(const struct capacity *there, const struct workflow *w,
                                  uint32_t task)
{
    return w->cores[task] <= there->cores && w->memory[task] <= there->memory &&
           !(w->needs && w->needs[task] & ~there->has) && !workflow_demand(w, task) &&
           workflow_span(w, task) == 1;
}

/* What fits the least of all nodes fits each of them; only the rest is tried node by node. */
struct capacity_misfits capacity_find_misfits(const struct workflow *w, uint32_t from,
                                              const uint8_t *runs, const struct capacity *nodes,
                                              size_t n)
{
    struct capacity_misfits out = {.first = NONE};
    struct capacity least = n ? nodes[0] : (struct capacity){0};
    for (size_t i = 1; i < n; i++)
        least = capacity_least(&least, &nodes[i]);
    for (uint32_t t = from; t < w->ntasks; t++) {
        if (n && capacity_fits_plainly(&least, w, t))
            continue;
        struct capacity asks = capacity_demand(w, t);
        uint32_t span = workflow_span(w, t), room = 0;
        if ((capacity_fits(&least, &asks) && span <= n) || !capacity_is_asked(w, runs, t))
            continue;
        for (size_t i = 0; i < n && room < span; i++)
            room += capacity_fits(&nodes[i], &asks);
        if (room == span)
            continue;
        out.widest = span > out.widest ? span : out.widest;
        if (!out.count++) {
            out.first = t;
            out.asks = asks;
            out.span = span;
            out.room = room;
        }
    }
    return out;
}

/* As a user would write it: 500M, 1.5G. */
static const char *capacity_bytes(double bytes, char *out, size_t size)
{
    static const char units[] = " KMGTP";
    int unit = 0;
    while (bytes >= 999.95 && units[unit + 1]) {
        bytes /= 1000;
        unit++;
    }
    if (unit)
        snprintf(out, size, "%.4g%c", bytes, units[unit]);
    else
        snprintf(out, size, "%.0f bytes", bytes);
    return out;
}

/* The attributes of a mask, in a row. */
static const char *capacity_words_of(const struct workflow *w, uint64_t has, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < w->nattributes && n < size; i++)
        if (has >> i & 1)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "",
                                  workflow_text(w, w->attribute[i]));
    return out;
}

/* For messages; what does not fit into `out` is cut. */
const char *capacity_text(const struct workflow *w, const struct capacity *asks, char *out,
                          size_t size)
{
    char bytes[32], words[200];
    int n = snprintf(out, size, "%u core%s", asks->cores, plural(asks->cores));
    if (asks->memory > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, " and %s of memory",
                      capacity_bytes(asks->memory, bytes, sizeof bytes));
    if (asks->has && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, " with %s",
                      capacity_words_of(w, asks->has, words, sizeof words));
    for (uint32_t i = 0; i < w->nresources && asks->things; i++)
        if (asks->things >> i & 1 && (size_t)n < size)
            n += snprintf(out + n, size - (size_t)n, " and %g %s",
                          (double)asks->thing[i] / THING_ONE, workflow_text(w, w->resource[i]));
    return out;
}

/* It would fit, were there enough nodes like those that have room for it. */
static bool capacity_refuse_span(const struct workflow *w, const struct capacity_misfits *misfits,
                                 size_t n, const struct capacity_words *words, const char *more,
                                 struct error *err)
{
    char text[300];
    const char *name = workflow_task_name(w, misfits->first);
    capacity_text(w, &misfits->asks, text, sizeof text);
    if (!words->nodes)
        return error_set(err, ERROR_INFEASIBLE,
                         "task '%s' spans %u node%s, and this run has this machine alone%s: `--on "
                         "local:%u`, agents and Slurm have more",
                         name, misfits->span, plural(misfits->span), more, misfits->widest);
    return error_set(err, ERROR_INFEASIBLE,
                     "task '%s' spans %u node%s with %s on each; of %s %u %s%s: lower its `nodes`, "
                     "or %s",
                     name, misfits->span, plural(misfits->span), text, words->where, misfits->room,
                     misfits->room < n ? "have room for it" : "are there", more, words->nodes);
}

/* A sort of thing of which no node has enough; NONE: of each, some node has. */
static uint32_t capacity_lacking(const struct capacity *asks, const struct capacity *nodes,
                                 size_t n, double *most)
{
    for (uint32_t left = asks->things; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), amount = 0;
        bool fits = false;
        for (size_t k = 0; k < n; k++) {
            fits |= thing_fits(nodes[k].thing[i], nodes[k].things >> i & 1, asks->thing[i]);
            amount = nodes[k].thing[i] > amount ? nodes[k].thing[i] : amount;
        }
        *most = (double)amount / THING_ONE;
        if (!fits)
            return i;
    }
    return NONE;
}

/* "no gpu", "2 gpu"; what would help: ids, where a part is asked for or `gpu` stands for them. */
static bool capacity_refuse_things(const struct workflow *w, const struct capacity_misfits *misfits,
                                   uint32_t thing, double most, const char *largest,
                                   const struct capacity_words *words, struct error *err)
{
    const char *name = workflow_text(w, w->resource[thing]);
    double asked = (double)misfits->asks.thing[thing] / THING_ONE;
    char more[64] = "", there[64] = "none";
    if (misfits->count > 1)
        snprintf(more, sizeof more, " (%u tasks fit nowhere)", misfits->count);
    if (most > 0)
        snprintf(there, sizeof there, "%g", most);
    /* a part and a whole one are never one thing with an id, as those of `gpu` are */
    bool odd = asked > 1 && misfits->asks.thing[thing] % THING_ONE && strcmp(name, "gpu") == 0;
    if (odd || asked <= most)
        return error_set(
            err, ERROR_INFEASIBLE,
            "task '%s' asks for %g %s; %s has %s with ids%s: of those a task gets whole "
            "ones, or a part of one; round its `resources`",
            workflow_task_name(w, misfits->first), asked, name, words->where, there, more);
    return error_set(err, ERROR_INFEASIBLE,
                     "task '%s' asks for %g %s; %s%s has %s%s: say what there is: %s %s"
                     "%s=%g%s%s%s%s, or lower its `resources`",
                     workflow_task_name(w, misfits->first), asked, name, largest, words->where,
                     there, more, words->before, words->things ? words->things : "--resources ",
                     name, asked < 1 ? 1 : asked, words->after, asked <= 1 ? " (or " : "",
                     asked <= 1 ? name : "", asked <= 1 ? "=[0], with ids)" : "");
}

/* Which of the three it is about, first: each may be there, but not all on one node. */
bool capacity_refuse(const struct workflow *w, const struct capacity_misfits *misfits,
                     const struct capacity *nodes, size_t n, const struct capacity_words *words,
                     struct error *err)
{
    const struct capacity *asks = &misfits->asks;
    struct capacity most = {0};
    char more[64] = "", wanted[32], there[32], text[300];
    const char *name = workflow_task_name(w, misfits->first);
    const char *largest = n > 1 ? "the largest of " : "";
    for (size_t i = 0; i < n; i++)
        most = capacity_most(&most, &nodes[i]);
    if (misfits->count > 1)
        snprintf(more, sizeof more, " (%u tasks fit nowhere)", misfits->count);
    if (misfits->room)
        return capacity_refuse_span(w, misfits, n, words, more, err);
    capacity_bytes(asks->memory, wanted, sizeof wanted);
    capacity_bytes(most.memory, there, sizeof there);
    if (asks->cores > most.cores)
        return error_set(err, ERROR_INFEASIBLE,
                         "task '%s' asks for %u core%s; %s%s has %u%s: lower its `cores`, or %s %s"
                         "%u%s",
                         name, asks->cores, plural(asks->cores), largest, words->where, most.cores,
                         more, words->before, words->cores ? words->cores : "-j ", asks->cores,
                         words->after);
    if (asks->memory > most.memory)
        return error_set(err, ERROR_INFEASIBLE,
                         "task '%s' asks for %s of memory; %s%s has %s%s: lower its `memory`, or "
                         "%s %s%s%s",
                         name, wanted, largest, words->where, there, more, words->before,
                         words->memory ? words->memory : "-m ", wanted, words->after);
    if (asks->has & ~most.has)
        return error_set(err, ERROR_INFEASIBLE, "task '%s' needs %s, which %s%s has%s%s: %s %s%s%s",
                         name, capacity_words_of(w, asks->has & ~most.has, text, sizeof text),
                         n > 1 ? "none of " : "", words->where, n > 1 ? "" : " not", more,
                         words->before, words->has ? words->has : "--has ", text, words->after);
    double amount = 0;
    uint32_t thing = capacity_lacking(asks, nodes, n, &amount);
    if (thing != NONE)
        return capacity_refuse_things(w, misfits, thing, amount, largest, words, err);
    return error_set(
        err, ERROR_INFEASIBLE,
        "task '%s' asks for %s; none of %s has all of it%s: lower what it asks for, or "
        "%s as much%s",
        name, capacity_text(w, asks, text, sizeof text), words->where, more, words->before,
        words->after);
}
