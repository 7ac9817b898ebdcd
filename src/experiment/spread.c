/* Dependence by comparison. Readings that differ in one substitution's value alone are a class; a
 * computation that stands in all readings of each class that it is met in does not depend on that
 * value. Of a class of one nothing is known: then it may depend on it, and its label says so.
 *
 * O(pairs x substitutions that are read with the file). */
#include "experiment/spread.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void spread_note(struct spread *s, uint32_t task, uint32_t reading)
{
    while (s->last.n <= task)
        array_push(&s->last, 0);
    if (s->last.at[task] == reading + 1)
        return;
    s->last.at[task] = reading + 1;
    array_push(&s->task, task);
    array_push(&s->reading, reading);
}

void spread_free(struct spread *s)
{
    array_free(&s->task);
    array_free(&s->reading);
    array_free(&s->last);
}

/* Per reading the class of those that differ from it in substitution `but` alone, and how many each
 * class has. Readings differ in what is `with_file` only. */
static void spread_classes(const struct experiment *x, const uint32_t *const *row,
                           uint32_t nreadings, size_t but, uint32_t *class, uint32_t *size)
{
    struct intern seen;
    struct strbuf others = {0};
    intern_init(&seen);
    memset(size, 0, nreadings * sizeof *size);
    for (uint32_t r = 0; r < nreadings; r++) {
        strbuf_clear(&others);
        for (size_t s = 0; s < x->substitutions.n; s++)
            if (x->substitutions.at[s].with_file && s != but)
                strbuf_printf(&others, "%u ", row[r][s]);
        class[r] = intern_number(&seen, strbuf_text(&others), others.n);
        size[class[r]]++;
    }
    strbuf_free(&others);
    intern_free(&seen);
}

/* Pairs by task: the readings of task t are at[off[t]] .. at[off[t + 1] - 1]. */
static uint32_t *spread_group(const struct spread *s, uint32_t ntasks, uint32_t **at)
{
    uint32_t *off = mem_new_zero(uint32_t, (size_t)ntasks + 2);
    *at = mem_new(uint32_t, s->task.n);
    for (size_t i = 0; i < s->task.n; i++)
        off[s->task.at[i] + 2]++;
    for (uint32_t t = 0; t < ntasks; t++)
        off[t + 2] += off[t + 1];
    for (size_t i = 0; i < s->task.n; i++)
        (*at)[off[s->task.at[i] + 1]++] = s->reading.at[i];
    return off;
}

uint64_t *spread_narrow(const struct spread *s, const struct experiment *x,
                        const uint32_t *const *row, uint32_t nreadings, uint32_t ntasks,
                        size_t words)
{
    uint64_t *sets = mem_new_zero(uint64_t, ntasks * words);
    uint32_t *class = mem_new(uint32_t, nreadings), *size = mem_new(uint32_t, nreadings);
    uint32_t *met = mem_new_zero(uint32_t, nreadings), *at;
    uint32_t *off = spread_group(s, ntasks, &at);
    for (size_t but = 0; but < x->substitutions.n; but++) {
        if (!x->substitutions.at[but].with_file)
            continue;
        spread_classes(x, row, nreadings, but, class, size);
        for (uint32_t t = 0; t < ntasks; t++) {
            bool depends = false;
            for (uint32_t i = off[t]; i < off[t + 1]; i++)
                met[class[at[i]]]++;
            for (uint32_t i = off[t]; i < off[t + 1]; i++) {
                uint32_t c = class[at[i]];
                depends |= met[c] && (met[c] != size[c] || size[c] == 1);
                met[c] = 0;
            }
            if (depends)
                sets[t * words + but / 64] |= (uint64_t)1 << (but % 64);
        }
    }
    free(class);
    free(size);
    free(met);
    free(at);
    free(off);
    return sets;
}
