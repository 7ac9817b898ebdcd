/* The fixed side of a partition: processors by decreasing memory, preorder numbers, work and least
 * memory of every whole subtree. setting.h says what is what; everything is O(n log n) and
 * read-only afterwards. */
#include "plan/tree/setting.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* The harmonic mean: a unit of work takes 1 / mean_speed on the average. */
static void sum_speeds(struct tree_setting *s)
{
    double slow = 0;
    s->all_speeds = 0;
    s->top_speed = 0;
    for (uint32_t q = 0; q < s->nprocs; q++) {
        s->all_speeds += s->speed[q];
        slow += 1 / s->speed[q];
        s->top_speed = fmax(s->top_speed, s->speed[q]);
    }
    s->mean_speed = s->nprocs / slow;
    for (uint32_t q = 0; q < s->nprocs; q++)
        s->equal[q] = s->mean_speed;
}

static void list_processors(struct tree_setting *s)
{
    const struct platform *p = s->platform;
    s->node = mem_new(uint32_t, p->nnodes);
    for (uint32_t i = 0; i < p->nnodes; i++)
        if (p->up[i])
            s->node[s->nprocs++] = i;
    platform_sort_by_memory(p, s->node, s->nprocs);
    s->speed = mem_new(double, p->nnodes);
    s->equal = mem_new(double, p->nnodes);
    s->memory = mem_new(double, p->nnodes);
    for (uint32_t q = 0; q < s->nprocs; q++) {
        s->speed[q] = p->speed[s->node[q]];
        s->memory[q] = p->memory[s->node[q]];
    }
}

/* Preorder numbers without a stack: sizes from the leaves up, then places from the root down. */
static void number_subtrees(struct tree_setting *s)
{
    const struct tree *t = s->t;
    s->enter = mem_new(uint32_t, t->n);
    s->leave = mem_new(uint32_t, t->n);
    s->work = mem_new(double, t->n);
    uint32_t *size = s->leave;
    for (uint32_t x = t->n; x--;) {
        size[x] = 1;
        s->work[x] = t->work[x];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            size[x] += size[c];
            s->work[x] += s->work[c];
        }
    }
    s->enter[0] = 0;
    for (uint32_t x = 0; x < t->n; x++) {
        uint32_t next = s->enter[x] + 1;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            s->enter[c] = next;
            next += size[c];
        }
    }
    for (uint32_t x = 0; x < t->n; x++)
        s->leave[x] = s->enter[x] + size[x];
}

struct tree_setting *setting_new(const struct tree *t, const struct platform *platform,
                                 enum tree_count counting, struct error *err)
{
    struct tree_setting *s = mem_new_zero(struct tree_setting, 1);
    s->t = t;
    s->platform = platform;
    s->counting = counting;
    list_processors(s);
    if (s->nprocs == 0) {
        error_set(err, ERROR_INFEASIBLE, "every node of the platform is down");
        setting_free(s);
        return NULL;
    }
    sum_speeds(s);
    s->uniform = platform_is_uniform(platform);
    s->latency = platform->latency;
    s->per_byte = 1 / platform->bandwidth;
    s->root_transfer = t->file[0] > 0 ? platform->latency + t->file[0] / platform->bandwidth : 0;
    if (!s->uniform) {
        platform_mean_transfer(platform, &s->latency, &s->per_byte);
        if (!isfinite(s->per_byte)) /* some pair cannot talk: plan with the network's own value */
            s->per_byte = 1 / platform->bandwidth;
    }
    number_subtrees(s);
    s->least = mem_new(double, t->n);
    s->need = mem_new(double, t->n);
    s->hills = hills_new(t);
    for (uint32_t x = 0; x < t->n; x++) {
        s->least[x] = hills_whole(s->hills, x);
        s->need[x] = counting == TREE_STRICT ? tree_need(t, x) : t->memory[x] + t->file[x];
    }
    return s;
}

void setting_restrict(struct tree_setting *s, double limit)
{
    uint32_t kept = 0;
    while (kept < s->nprocs && s->memory[kept] >= limit)
        s->memory[kept++] = limit;
    s->nprocs = kept ? kept : 1;
    sum_speeds(s);
}

void setting_keep(struct tree_setting *s, const uint8_t *keep)
{
    uint32_t kept = 0;
    double latency = 0, per_byte = 0, pairs = 0;
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (keep[q]) {
            s->node[kept] = s->node[q];
            s->speed[kept] = s->speed[q];
            s->memory[kept++] = s->memory[q];
        }
    s->nprocs = kept;
    sum_speeds(s);
    for (uint32_t a = 0; a < kept; a++)
        for (uint32_t b = 0; b < a; b++) {
            double rate, late;
            platform_link(s->platform, s->node[a], s->node[b], &rate, &late);
            if (!(rate > 0))
                continue; /* these two cannot talk */
            latency += late;
            per_byte += 1 / rate;
            pairs++;
        }
    if (pairs > 0) {
        s->latency = latency / pairs;
        s->per_byte = per_byte / pairs;
    }
}

void setting_free(struct tree_setting *s)
{
    if (!s)
        return;
    free(s->node);
    free(s->speed);
    free(s->equal);
    free(s->memory);
    free(s->enter);
    free(s->leave);
    free(s->work);
    free(s->least);
    free(s->need);
    hills_free(s->hills);
    free(s);
}
