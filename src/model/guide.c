/* From a plan to edges, times and places, and into a workflow: guide.h.
 *
 * G1. Edges of a plan go from what ends earlier to what starts later, as the workflow's own do: together
 *     they have no cycle, unless the plan is no plan of this workflow. workflow_sort() finds out.
 * G2. A workflow that took a guide is what the builder would have made of the same edges, to the place in
 *     every array: stores count edges by place, and agents compare what they read by its hash.
 * G3. Tasks, objects and their numbers are not touched: what is known about them (memo/need.h) stays
 *     true. */
#include "model/guide.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const follow_names[] = {"default", "strict", "order", "hint"};

const char *plan_follow_name(enum plan_follow follow)
{
    return follow_names[follow];
}

bool plan_follow_parse(const char *word, enum plan_follow *out)
{
    for (int i = FOLLOW_STRICT; i <= FOLLOW_HINT; i++)
        if (strcmp(word, follow_names[i]) == 0) {
            *out = (enum plan_follow)i;
            return true;
        }
    return false;
}

void guide_free(struct guide *g)
{
    array_free(&g->edges);
    array_free(&g->starts);
    array_free(&g->places);
    array_free(&g->added);
}

/* ---- from a plan ---- */

/* Each task is placed, and where placements count, once: a run does nothing twice, and leaves nothing
 * out. */
static bool guide_check_placements(const struct workflow *w, const struct plan *plan, bool once,
                                   struct error *err)
{
    uint8_t *seen = mem_new_zero(uint8_t, (size_t)w->ntasks + 1);
    bool good = true;
    for (size_t i = 0; i < plan->placements.n && good; i++) {
        uint32_t task = plan->placements.at[i].task;
        bool again = seen[task];
        seen[task] = 1;
        if (again && once)
            good = error_set(err, ERROR_INFEASIBLE,
                             "the plan runs copies of task '%.100s', and a run does it once; "
                             "--follow order takes its order alone",
                             workflow_task_name(w, task));
    }
    for (uint32_t t = 0; t < w->ntasks && good; t++)
        if (!seen[t])
            good = error_set(err, ERROR_INPUT,
                             "the plan does not place task '%.100s': it is of another workflow, or "
                             "of an older state of this one; plan again",
                             workflow_task_name(w, t));
    free(seen);
    return good;
}

/* A placement with its task's place in the workflow's order, which decides where tasks take no time. */
struct guide_turn {
    double start, finish;
    uint32_t task, node, core, rank;
};

/* Total, so that the same plan gives the same edges: of two tasks that take no time at the same moment the
 * one that the workflow has earlier goes first, and no cycle comes of it (G1). */
static int guide_turn_order(const void *a, const void *b)
{
    const struct guide_turn *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static struct guide_turn *guide_turns(const struct workflow *w, const struct plan *plan)
{
    size_t n = plan->placements.n;
    uint32_t *rank = mem_new(uint32_t, (size_t)w->ntasks + 1);
    struct guide_turn *turn = mem_new(struct guide_turn, n + 1);
    for (uint32_t i = 0; i < w->ntasks; i++)
        rank[w->topo[i]] = i;
    for (size_t i = 0; i < n; i++) {
        const struct placement *p = &plan->placements.at[i];
        turn[i] =
            (struct guide_turn){p->start, p->finish, p->task, p->node, p->core, rank[p->task]};
    }
    qsort(turn, n, sizeof *turn, guide_turn_order);
    free(rank);
    return turn;
}

/* A core of a node, and who had it last. */
struct guide_core {
    uint32_t core, last;
};

/* Each task after the one before it, on every core that it holds. A node has few cores: those of each
 * are a list. */
static void guide_chain_cores(struct guide *g, const struct workflow *w, const struct plan *plan)
{
    typedef ARRAY(struct guide_core) core_list;
    uint32_t nodes = 0;
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].node >= nodes)
            nodes = plan->placements.at[i].node + 1;
    core_list *cores = mem_new_zero(core_list, (size_t)nodes + 1);
    struct guide_turn *turn = guide_turns(w, plan);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct guide_turn *t = &turn[i];
        core_list *list = &cores[t->node];
        uint32_t wide = w->cores[t->task] ? w->cores[t->task] : 1, before = NONE;
        array_push(&g->places, (struct guide_place){t->task, t->node});
        for (uint32_t core = t->core; core < t->core + wide; core++) {
            size_t at = 0;
            while (at < list->n && list->at[at].core != core)
                at++;
            if (at == list->n)
                array_push(list, (struct guide_core){core, NONE});
            uint32_t last = list->at[at].last;
            if (last != NONE && last != before) /* of a wide one before: once is enough */
                array_push(&g->edges, (struct guide_edge){last, t->task});
            before = last;
            list->at[at].last = t->task;
        }
    }
    for (uint32_t n = 0; n < nodes; n++)
        array_free(&cores[n]);
    free(cores);
    free(turn);
}

/* Times of the plan itself are not kept, but for waits: a task that could start earlier than planned, since
 * others were quick, starts. What a constraint needs to be idle for stands in the waits. */
bool guide_of_plan(struct guide *g, const struct workflow *w, const struct plan *plan,
                   enum plan_follow follow, struct error *err)
{
    *g = (struct guide){0};
    if (follow == FOLLOW_STRICT && plan->kind != PLAN_STATIC)
        return error_set(err, ERROR_INFEASIBLE,
                         "a plan of kind '%s' has no placements that a run could keep to; --follow "
                         "order takes its order",
                         plan_kind_name(plan->kind));
    if (follow != FOLLOW_HINT && plan->kind == PLAN_STATIC &&
        !guide_check_placements(w, plan, follow == FOLLOW_STRICT, err))
        return false;
    if (follow == FOLLOW_STRICT)
        guide_chain_cores(g, w, plan);
    for (size_t i = 0; i < plan->waits.n && follow != FOLLOW_HINT; i++) {
        const struct plan_wait *wait = &plan->waits.at[i];
        if (wait->after != NONE)
            array_push(&g->edges, (struct guide_edge){wait->after, wait->task});
        else if (follow == FOLLOW_STRICT)
            array_push(&g->starts, (struct guide_start){wait->task, wait->until});
    }
    return true;
}

/* ---- into a workflow ---- */

static int guide_edge_order(const void *a, const void *b)
{
    const struct guide_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The shorter list would be as good; a task has few parents, but may have many children. */
static bool guide_has_edge(const struct workflow *w, uint32_t from, uint32_t to)
{
    for (uint32_t e = w->pred_off[to]; e < w->pred_off[to + 1]; e++)
        if (w->pred_task[e] == from)
            return true;
    return false;
}

/* Those that are new, sorted, each once. */
static void guide_new_edges(const struct workflow *w, struct guide *g)
{
    qsort(g->edges.at, g->edges.n, sizeof *g->edges.at, guide_edge_order);
    g->added.n = 0;
    for (size_t i = 0; i < g->edges.n; i++) {
        struct guide_edge *edge = &g->edges.at[i];
        bool again = g->added.n && guide_edge_order(&array_last(&g->added), edge) == 0;
        if (!again && !guide_has_edge(w, edge->from, edge->to))
            array_push(&g->added, *edge);
    }
}

/* Behind the edges of each task that carry data, where edges that carry none stand: so an object's
 * consumers stay together, and the first of them moves by the new edges before it. */
static void guide_put_successors(struct workflow *w, const struct guide_edge *edge, uint32_t n)
{
    uint32_t total = w->nedges + n, out = 0, next = 0;
    uint32_t *task = mem_new(uint32_t, (size_t)total + 1),
             *object = mem_new(uint32_t, (size_t)total + 1);
    uint32_t *moved = mem_new(uint32_t, (size_t)w->nedges + 1); /* where each old edge stands now */
    uint32_t from = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t e = from, end = w->succ_off[t + 1];
        from = end;
        w->succ_off[t] = out;
        /* those without data are sorted by consumer, and stay so */
        while (e < end || (next < n && edge[next].from == t)) {
            bool ours =
                next < n && edge[next].from == t &&
                (e == end || (w->succ_object[e] == NONE && w->succ_task[e] > edge[next].to));
            if (!ours)
                moved[e] = out;
            task[out] = ours ? edge[next].to : w->succ_task[e];
            object[out++] = ours ? NONE : w->succ_object[e];
            next += ours;
            e += !ours;
        }
    }
    w->succ_off[w->ntasks] = out;
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->producer[o] != NONE && w->object_edge[o] != NONE)
            w->object_edge[o] = moved[w->object_edge[o]];
    free(moved);
    free(w->succ_task);
    free(w->succ_object);
    w->succ_task = task;
    w->succ_object = object;
    w->nedges = total;
    w->npairs += n;
}

static const char agent_word[] = "agent:";

/* What fits where is decided by attributes already, for stealing, pushing and waiting for a node that is
 * not there: so an agent's number is one more, which the agent alone has. No file can name it: words of
 * files have no colon. */

/* The number of the agent's word among the workflow's attributes; NONE: there is no room for it. */
static uint32_t guide_agent_word(struct workflow *w, uint32_t agent)
{
    char word[32];
    snprintf(word, sizeof word, "%s%u", agent_word, agent);
    for (uint32_t i = 0; i < w->nattributes; i++)
        if (strcmp(workflow_text(w, w->attribute[i]), word) == 0)
            return i;
    if (w->nattributes == 64)
        return NONE;
    w->attribute = mem_resize(w->attribute, (size_t)w->nattributes + 1);
    w->attribute[w->nattributes] = pool_add(&w->text, word, strlen(word));
    return w->nattributes++;
}

/* Beside the attributes that the task asks for itself. */
static bool guide_put_places(struct workflow *w, const struct guide *g, struct error *err)
{
    if (g->places.n && !w->needs)
        w->needs = mem_new_zero(uint64_t, w->ntasks);
    for (size_t i = 0; i < g->places.n; i++) {
        uint32_t word = guide_agent_word(w, g->places.at[i].node);
        if (word == NONE)
            return error_set(
                err, ERROR_INFEASIBLE,
                "the plan places tasks on more agents than can be told apart (64, with "
                "the attributes that tasks need); --follow order takes its order");
        w->needs[g->places.at[i].task] |= UINT64_C(1) << word;
    }
    return true;
}

/* It may have come over a wire. */
static bool guide_is_of(const struct workflow *w, const struct guide *g)
{
    for (size_t i = 0; i < g->edges.n; i++)
        if (g->edges.at[i].from >= w->ntasks || g->edges.at[i].to >= w->ntasks)
            return false;
    for (size_t i = 0; i < g->starts.n; i++)
        if (g->starts.at[i].task >= w->ntasks)
            return false;
    for (size_t i = 0; i < g->places.n; i++)
        if (g->places.at[i].task >= w->ntasks)
            return false;
    return true;
}

/* Without edges `at` may be NULL, and qsort() is not to see it. */
static bool guide_put_edges(struct workflow *w, struct guide *g, struct error *err)
{
    uint32_t at = 0;
    if (g->edges.n)
        guide_new_edges(w, g);
    if (!g->added.n)
        return true;
    guide_put_successors(w, g->added.at, (uint32_t)g->added.n);
    workflow_index_predecessors(w);
    uint32_t *left = workflow_sort(w);
    if (!left)
        return true;
    while (!left[at])
        at++;
    free(left);
    return error_set(err, ERROR_INPUT,
                     "the plan's order contradicts the workflow's: task '%.100s' would wait for "
                     "itself; plan again",
                     workflow_task_name(w, at));
}

bool workflow_take_guide(struct workflow *w, struct guide *g, bool agents, struct error *err)
{
    if (!guide_is_of(w, g))
        return error_set(err, ERROR_FAILED, "the plan's orders are of another workflow");
    g->attributes = w->nattributes;
    g->needs = w->needs != NULL;
    g->in_place = true;
    if (!guide_put_edges(w, g, err))
        return false;
    if (g->starts.n && !w->not_before)
        w->not_before = mem_new_zero(double, w->ntasks);
    for (size_t i = 0; i < g->starts.n; i++) {
        double *start = &w->not_before[g->starts.at[i].task];
        *start = g->starts.at[i].until > *start ? g->starts.at[i].until : *start;
    }
    return !agents || guide_put_places(w, g, err);
}

/* The edges that were added are passed over, in the order in which they stand. */
static void guide_drop_successors(struct workflow *w, const struct guide *g)
{
    uint32_t out = 0, from = 0;
    uint32_t *moved = mem_new(uint32_t, (size_t)w->nedges + 1);
    size_t next = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t end = w->succ_off[t + 1];
        w->succ_off[t] = out;
        for (uint32_t e = from; e < end; e++) {
            moved[e] = out;
            if (next < g->added.n && g->added.at[next].from == t && w->succ_object[e] == NONE &&
                g->added.at[next].to == w->succ_task[e]) {
                next++;
                continue;
            }
            w->succ_task[out] = w->succ_task[e];
            w->succ_object[out++] = w->succ_object[e];
        }
        from = end;
    }
    w->succ_off[w->ntasks] = w->nedges = out;
    w->npairs -= (uint32_t)g->added.n;
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->producer[o] != NONE && w->object_edge[o] != NONE)
            w->object_edge[o] = moved[w->object_edge[o]];
    free(moved);
}

void workflow_drop_guide(struct workflow *w, struct guide *g)
{
    if (!g->in_place)
        return;
    if (g->added.n) {
        guide_drop_successors(w, g);
        workflow_index_predecessors(w);
        free(workflow_sort(w)); /* it had an order before: nothing is left */
    }
    free(w->not_before);
    w->not_before = NULL;
    uint64_t kept = g->attributes < 64 ? (UINT64_C(1) << g->attributes) - 1 : UINT64_MAX;
    for (uint32_t t = 0; w->needs && t < w->ntasks; t++)
        w->needs[t] &= kept;
    w->nattributes = g->attributes;
    if (!g->needs) {
        free(w->needs);
        w->needs = NULL;
    }
    g->added.n = 0;
    g->in_place = false;
}

uint64_t workflow_agent_mask(const struct workflow *w, const char *has, uint32_t agent)
{
    uint64_t mask = workflow_attribute_mask(w, has);
    char number[16];
    snprintf(number, sizeof number, "%u", agent);
    size_t n = sizeof agent_word - 1;
    for (uint32_t i = 0; i < w->nattributes; i++) {
        const char *word = workflow_text(w, w->attribute[i]);
        if (strncmp(word, agent_word, n) == 0)
            mask = (mask & ~(UINT64_C(1) << i)) | (uint64_t)(strcmp(word + n, number) == 0) << i;
    }
    return mask;
}

static bool guide_is_agent_word(const struct workflow *w, uint32_t attribute)
{
    return strncmp(workflow_text(w, w->attribute[attribute]), agent_word, sizeof agent_word - 1) ==
           0;
}

/* O(attributes). */
bool workflow_place(struct workflow *w, uint32_t task, uint32_t agent)
{
    if (!w->needs || task >= w->ntasks)
        return false;
    uint32_t word = agent != NONE ? guide_agent_word(w, agent) : NONE;
    if (agent != NONE && word == NONE)
        return false;
    for (uint32_t i = 0; i < w->nattributes; i++)
        if (guide_is_agent_word(w, i))
            w->needs[task] &= ~(UINT64_C(1) << i);
    if (word != NONE)
        w->needs[task] |= UINT64_C(1) << word;
    return true;
}

bool workflow_is_placed(const struct workflow *w)
{
    for (uint32_t i = 0; i < w->nattributes; i++)
        if (guide_is_agent_word(w, i))
            return true;
    return false;
}

/* ---- as bytes ---- */

/* For whoever opens the same run: numbers of tasks mean the same there (session/place.h). */
void guide_put(const struct guide *g, struct strbuf *out)
{
    bytes_put_u32(out, (uint32_t)g->edges.n);
    for (size_t i = 0; i < g->edges.n; i++) {
        bytes_put_u32(out, g->edges.at[i].from);
        bytes_put_u32(out, g->edges.at[i].to);
    }
    bytes_put_u32(out, (uint32_t)g->starts.n);
    for (size_t i = 0; i < g->starts.n; i++) {
        bytes_put_u32(out, g->starts.at[i].task);
        bytes_put_f64(out, g->starts.at[i].until);
    }
    bytes_put_u32(out, (uint32_t)g->places.n);
    for (size_t i = 0; i < g->places.n; i++) {
        bytes_put_u32(out, g->places.at[i].task);
        bytes_put_u32(out, g->places.at[i].node);
    }
}

/* Counts are not believed: a reader that has run out of bytes ends. */
bool guide_take(struct bytes *in, struct guide *g)
{
    *g = (struct guide){0};
    for (uint32_t n = bytes_u32(in); n && !in->bad; n--) {
        uint32_t from = bytes_u32(in);
        array_push(&g->edges, (struct guide_edge){from, bytes_u32(in)});
    }
    for (uint32_t n = bytes_u32(in); n && !in->bad; n--) {
        uint32_t task = bytes_u32(in);
        array_push(&g->starts, (struct guide_start){task, bytes_f64(in)});
    }
    for (uint32_t n = bytes_u32(in); n && !in->bad; n--) {
        uint32_t task = bytes_u32(in);
        array_push(&g->places, (struct guide_place){task, bytes_u32(in)});
    }
    return !in->bad;
}
