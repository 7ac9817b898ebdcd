/* What fits where, and the words for what fits nowhere (capacity.h). Pure functions of a workflow and
 * of what nodes have. */
#include "model/capacity.h"

#include <math.h>
#include <stdio.h>

struct capacity capacity_demand(const struct workflow *w, uint32_t task)
{
    return (struct capacity){
        .cores = w->cores[task], .memory = w->memory[task], .has = w->needs ? w->needs[task] : 0};
}

struct capacity capacity_least(const struct capacity *a, const struct capacity *b)
{
    return (struct capacity){.cores = a->cores < b->cores ? a->cores : b->cores,
                             .memory = fmin(a->memory, b->memory),
                             .has = a->has & b->has};
}

struct capacity capacity_most(const struct capacity *a, const struct capacity *b)
{
    return (struct capacity){.cores = a->cores > b->cores ? a->cores : b->cores,
                             .memory = fmax(a->memory, b->memory),
                             .has = a->has | b->has};
}

/* Joints and tasks whose results are there take nothing. */
static bool capacity_is_asked(const struct workflow *w, const uint8_t *runs, uint32_t task)
{
    return !(runs && !runs[task]) && !(w->command && !w->command[task]);
}

struct capacity_misfits capacity_find_misfits(const struct workflow *w, const uint8_t *runs,
                                              const struct capacity *nodes, size_t n)
{
    struct capacity_misfits out = {.first = NONE};
    struct capacity least = n ? nodes[0] : (struct capacity){0};
    for (size_t i = 1; i < n; i++)
        least = capacity_least(&least, &nodes[i]);
    for (uint32_t t = 0; t < w->ntasks; t++) {
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

const char *capacity_text(const struct workflow *w, const struct capacity *asks, char *out,
                          size_t size)
{
    char bytes[32], words[200];
    int n = snprintf(out, size, "%u core%s", asks->cores, asks->cores == 1 ? "" : "s");
    if (asks->memory > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, " and %s of memory",
                      capacity_bytes(asks->memory, bytes, sizeof bytes));
    if (asks->has && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " with %s",
                 capacity_words_of(w, asks->has, words, sizeof words));
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
                         "task '%s' spans %u nodes, and this run has this machine alone%s: `--on "
                         "local:%u`, agents and Slurm have more",
                         name, misfits->span, more, misfits->widest);
    return error_set(err, ERROR_INFEASIBLE,
                     "task '%s' spans %u nodes with %s on each; of %s %u %s%s: lower its `nodes`, "
                     "or %s",
                     name, misfits->span, text, words->where, misfits->room,
                     misfits->room < n ? "have room for it" : "are there", more, words->nodes);
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
                         "task '%s' asks for %u cores; %s%s has %u%s: lower its `cores`, or %s -j "
                         "%u%s",
                         name, asks->cores, largest, words->where, most.cores, more, words->before,
                         asks->cores, words->after);
    if (asks->memory > most.memory)
        return error_set(err, ERROR_INFEASIBLE,
                         "task '%s' asks for %s of memory; %s%s has %s%s: lower its `memory`, or "
                         "%s -m %s%s",
                         name, wanted, largest, words->where, there, more, words->before, wanted,
                         words->after);
    if (asks->has & ~most.has)
        return error_set(
            err, ERROR_INFEASIBLE, "task '%s' needs %s, which %s%s has not%s: %s --has %s%s", name,
            capacity_words_of(w, asks->has & ~most.has, text, sizeof text), n > 1 ? "none of " : "",
            words->where, more, words->before, text, words->after);
    return error_set(
        err, ERROR_INFEASIBLE,
        "task '%s' asks for %s; none of %s has all of it%s: lower what it asks for, or "
        "%s as much%s",
        name, capacity_text(w, asks, text, sizeof text), words->where, more, words->before,
        words->after);
}
