/* Static plans: what is in the memory of a node at once fits into it. Tasks count while they run; files
 * (residence.h) where the plan says that it counted them, or the platform that they count. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/check_rules.h"
#include "model/residence.h"

/* A residence that begins or ends. */
struct level {
    uint32_t node, residence;
    double time, change;
};

static int compare_levels(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    /* What ends makes room before what starts. */
    return x->change < y->change ? -1 : x->change > y->change;
}

/* "'a' 10, 'x' 60 and 3 more": everything that is there at the time. */
static void say_residents(struct check *c, const residence_list *all, uint32_t node, double time,
                          struct strbuf *out)
{
    enum { SHOWN = 8 };
    char label[512];
    uint32_t shown = 0, more = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct residence *x = &all->at[i];
        if (x->node != node || x->start + c->tolerance > time || x->finish - c->tolerance <= time)
            continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        if (x->object == NONE)
            strbuf_printf(out, "%stask '%s' %.10g", shown ? ", " : "",
                          workflow_task_name(c->w, x->task), x->bytes);
        else
            strbuf_printf(out, "%sfile '%s' %.10g", shown ? ", " : "",
                          workflow_object_label(c->w, x->object, label, sizeof label), x->bytes);
        shown++;
    }
    if (more)
        strbuf_printf(out, " and %u more", more);
}

/* Where only tasks count the sentence is the one it always was; past CHECK_MOST nobody reads it. */
static void say_overfull(struct check *c, const residence_list *all, const struct level *at,
                         double used, bool files)
{
    const struct residence *x = &all->at[at->residence];
    if (c->result->total >= CHECK_MOST || !files) {
        check_say(c, VIOLATION_MEMORY, x->task,
                  "when '%s' starts at %.10g, '%s' needs %.10g bytes of its %.10g",
                  x->task == NONE ? "" : workflow_task_name(c->w, x->task), at->time,
                  platform_node_name(c->p, at->node), used, c->p->memory[at->node]);
        return;
    }
    struct strbuf there = {0};
    say_residents(c, all, at->node, at->time, &there);
    check_say(c, VIOLATION_MEMORY, x->task, "at %.10g, '%s' needs %.10g bytes of its %.10g: %s",
              x->start, platform_node_name(c->p, at->node), used, c->p->memory[at->node],
              strbuf_text(&there));
    strbuf_free(&there);
}

/* Shrunk by the tolerance, so that a start at the very end of another task does not overlap it. */
static bool memory_lasts(const struct check *c, const struct residence *x)
{
    return x->finish - x->start > 2 * c->tolerance;
}

/* A beginning or an end, of the node at hand. */
struct memory_change {
    double time, bytes;
};

static int compare_memory_changes(const void *a, const void *b)
{
    const struct memory_change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes; /* what ends makes room first */
}

/* Is there never too much on the node? */
static bool memory_fits_node(struct memory_change *at, size_t n, double memory)
{
    double used = 0;
    if (n)
        qsort(at, n, sizeof *at, compare_memory_changes);
    for (size_t i = 0; i < n; i++) {
        used += at[i].bytes;
        if (at[i].bytes > 0 && used > memory * (1 + 1e-9))
            return false;
    }
    return true;
}

/* Nearly every plan that is checked is valid, and planners check many: so what is found first is only whether there is
 * anything to say, by a sort a node of nothing but times and bytes. Of what begins at one instant the sums grow, so that the last
 * is the largest. */
static bool memory_fits(const struct check *c, const residence_list *all)
{
    size_t *off = mem_new_zero(size_t, (size_t)c->p->nnodes + 2);
    for (size_t i = 0; i < all->n; i++)
        off[all->at[i].node + 2] += memory_lasts(c, &all->at[i]) ? 2 : 0;
    for (uint32_t n = 0; n < c->p->nnodes; n++)
        off[n + 2] += off[n + 1];
    struct memory_change *changes = mem_new(struct memory_change, off[c->p->nnodes + 1] + 1);
    for (size_t i = 0; i < all->n; i++) {
        const struct residence *x = &all->at[i];
        if (!memory_lasts(c, x))
            continue;
        size_t at = off[x->node + 1];
        off[x->node + 1] = at + 2;
        changes[at] = (struct memory_change){x->start + c->tolerance, x->bytes};
        changes[at + 1] = (struct memory_change){x->finish - c->tolerance, -x->bytes};
    }
    bool fits = true;
    for (uint32_t n = 0; n < c->p->nnodes && fits; n++)
        fits = memory_fits_node(changes + off[n], off[n + 1] - off[n], c->p->memory[n]);
    free(changes);
    free(off);
    return fits;
}

/* A sweep over beginnings and ends, node by node: O(n log n). */
static void memory_say_all(struct check *c, const residence_list *all, bool files)
{
    ARRAY(struct level) levels = {0};
    for (size_t i = 0; i < all->n; i++) {
        const struct residence *x = &all->at[i];
        if (!memory_lasts(c, x))
            continue;
        array_push(&levels,
                   (struct level){x->node, (uint32_t)i, x->start + c->tolerance, x->bytes});
        array_push(&levels,
                   (struct level){x->node, (uint32_t)i, x->finish - c->tolerance, -x->bytes});
    }
    if (levels.n)
        qsort(levels.at, levels.n, sizeof *levels.at, compare_levels);
    double used = 0;
    for (size_t i = 0; i < levels.n && !(c->first && c->result->total); i++) {
        const struct level *x = &levels.at[i];
        if (i && levels.at[i - 1].node != x->node)
            used = 0;
        used += x->change;
        /* of what begins at one instant only the sum is judged */
        bool last = i + 1 == levels.n || levels.at[i + 1].node != x->node ||
                    levels.at[i + 1].time != x->time;
        if (x->change > 0 && (last || !files) && used > c->p->memory[x->node] * (1 + 1e-9))
            say_overfull(c, all, x, used, files);
    }
    array_free(&levels);
}

void check_memory(struct check *c)
{
    bool files = plan_counts_files(c->plan, c->p);
    residence_list all = {0};
    residence_collect(c->plan, c->w, c->p, files, &all);
    if (!memory_fits(c, &all)) {
        residence_sort(&all);
        memory_say_all(c, &all, files);
    }
    array_free(&all);
}

/* For planners: they make the plan anew, or refuse it, before anybody sees it. */
bool check_plan_memory(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct error *err)
{
    return check_one_rule(plan, w, p, check_memory, err);
}
