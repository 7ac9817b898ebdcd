/* The problem space: states, the operator, worth. space.h says what a state is and what going from
 * one to another costs.
 *
 *    states     0 initial
 *               1 (parent 0, task a on n1)   2 (parent 0, task a on n2)
 *               3 (parent 1, task b on n1)   ...
 *    path       the states from the root to the one laid out; going to another takes back
 *               those in which the two differ
 *
 * Requirements that a pair of task and node decides alone are a table (`forbidden`) before the
 * search begins. Nodes that no constraint can tell apart have one `kind`, and of empty nodes of a
 * kind one is tried; the hash of a state is blind to their names. */
#include "plan/constraints/space.h"
#include "base/bitset.h"
#include "base/mem.h"
#include "model/graph.h"
#include "plan/list/list.h"

#include <string.h>

/* ---- making ---- */

struct space *space_new(const struct plan_request *request, struct error *err)
{
    struct space *s = mem_new_zero(struct space, 1);
    s->request = request;
    s->w = request->workflow;
    s->p = request->platform;
    s->first = s->killer = SIZE_MAX;
    s->costs = costs_new(s->w, s->p, err);
    if (!s->costs) {
        space_free(s);
        return NULL;
    }
    double *times = rank_times(s->costs), *level = rank_upward(s->costs, times);
    s->by_rank = rank_order(s->w, level);
    s->relations = relations_new(s->costs, level, s->by_rank);
    free(times);
    free(level);
    s->query = query_new(s->relations, err);
    if (!s->query) {
        space_free(s);
        return NULL;
    }
    s->schedule = schedule_new(s->costs);
    return s;
}

void space_free(struct space *s)
{
    if (!s)
        return;
    query_free(s->query);
    relations_free(s->relations);
    schedule_free(s->schedule);
    costs_free(s->costs);
    array_free(&s->requirements);
    array_free(&s->preferences);
    array_free(&s->softened);
    orders_free(&s->orders);
    array_free(&s->stated);
    array_free(&s->stated_by);
    free(s->info);
    free(s->killed);
    free(s->forbidden);
    free(s->by_rank);
    free(s->rank);
    free(s->tail);
    free(s->least);
    free(s->kind);
    free(s->missing);
    free(s->ready);
    free(s->contents);
    free(s->core);
    array_free(&s->path);
    array_free(&s->states);
    array_free(&s->children);
    free(s);
}

/* Least times, and the least time that must pass after a task's end. */
static void fill_bounds(struct space *s)
{
    const struct workflow *w = s->w;
    s->tail = mem_new_zero(double, w->ntasks);
    s->least = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        s->least[t] = costs_least(s->costs, t, NULL);
        s->root_busy += s->least[t] * w->cores[t];
    }
    for (uint32_t i = w->ntasks; i > 0; i--) {
        uint32_t t = w->topo[i - 1];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t next = w->succ_task[e];
            s->tail[t] = fmax(s->tail[t], s->least[next] + s->tail[next]);
        }
        s->root_makespan = fmax(s->root_makespan, s->least[t] + s->tail[t]);
    }
    s->cores = (double)platform_total_cores(s->p);
}

/* Equal in everything a plan or a constraint could notice. */
static bool equal_nodes(const struct space *s, uint32_t a, uint32_t b)
{
    const struct platform *p = s->p;
    if (p->speed[a] != p->speed[b] || p->memory[a] != p->memory[b] || p->cores[a] != p->cores[b] ||
        p->utilization[a] != p->utilization[b] || p->up[a] != p->up[b] ||
        strcmp(platform_resources(p, a), platform_resources(p, b)) != 0 ||
        strcmp(platform_has(p, a), platform_has(p, b)) != 0)
        return false;
    for (uint32_t t = 0; s->costs->unrelated && t < s->w->ntasks; t++)
        if (costs_time(s->costs, t, a) != costs_time(s->costs, t, b))
            return false;
    return true;
}

/* kind[n]: the first node that n cannot be told from, by the platform and by the constraints. */
static void sort_nodes(struct space *s)
{
    uint32_t n = s->p->nnodes;
    bool *single = mem_new_zero(bool, n);
    bool alike = query_symmetry(s->query, single) && platform_is_uniform(s->p);
    s->kind = mem_new(uint32_t, n);
    for (uint32_t a = 0; a < n; a++) {
        s->kind[a] = a;
        for (uint32_t b = 0; alike && !single[a] && b < a; b++)
            if (s->kind[b] == b && !single[b] && equal_nodes(s, a, b)) {
                s->kind[a] = b;
                break;
            }
    }
    free(single);
}

static bool say_nowhere(struct space *s, uint32_t task, size_t constraint, struct error *err)
{
    struct strbuf text = {0};
    space_describe(s, constraint, &text);
    error_set(err, ERROR_INFEASIBLE,
              "no schedule fulfils the requirements: task '%s' may run on no processor that can "
              "run it, because of %s",
              workflow_task_name(s->w, task), strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

/* No choice of processors helps: exit 3 without a search. */
static bool say_contradiction(struct space *s, size_t constraint, struct error *err)
{
    struct strbuf text = {0};
    space_describe(s, constraint, &text);
    error_set(err, ERROR_INFEASIBLE,
              "no schedule fulfils the requirements: this order contradicts the dependencies or "
              "the orders before it: %s",
              strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

/* Requirements that each (task, node) pair decides alone become a table. */
static bool fill_forbidden(struct space *s, struct error *err)
{
    ARRAY(size_t) decided = {0};
    for (size_t i = 0; i < query_size(s->query); i++) {
        const struct constraint_info *info = &s->info[i];
        if (!info->requirement || (s->manner.order_yields && space_is_default_order(s, i)))
            continue;
        if (info->assignment)
            array_push(&decided, i);
        else if (s->manner.soft)
            array_push(&s->softened, i);
        else
            array_push(&s->requirements, i);
    }
    bool good = true;
    uint32_t nnodes = s->p->nnodes;
    if (decided.n)
        s->forbidden = mem_new_zero(uint64_t, bitset_words((size_t)s->w->ntasks * nnodes));
    for (uint32_t t = 0; good && decided.n && t < s->w->ntasks; t++) {
        /* scheduled alone on each node it can run on: do the requirements hold? */
        uint32_t possible = 0, could = 0;
        size_t last = decided.at[0];
        for (uint32_t n = 0; n < nnodes; n++) {
            double seconds = costs_time(s->costs, t, n);
            if (!(seconds < INFINITY))
                continue;
            could++;
            bool fine = true;
            query_push(s->query, t, n, 0, seconds);
            for (size_t k = 0; fine && k < decided.n; k++)
                if (!query_holds(s->query, decided.at[k])) {
                    fine = false;
                    last = decided.at[k];
                    s->killed[last]++;
                }
            query_pop(s->query);
            possible += fine;
            if (!fine)
                bitset_set(s->forbidden, (size_t)t * nnodes + n);
        }
        s->pinned += possible < could;
        if (!possible)
            good = say_nowhere(s, t, last, err);
    }
    array_free(&decided);
    return good;
}

bool space_is_default_order(const struct space *s, size_t constraint)
{
    const struct constraint_info *info = &s->info[constraint];
    return info->by_task && strcmp(info->name, SPACE_DEFAULT_RULES) == 0;
}

static void list_stated_orders(struct space *s)
{
    for (size_t i = 0; i < query_size(s->query); i++) {
        query_time_orders(s->query, i, &s->stated);
        while (s->stated_by.n < s->stated.n)
            array_push(&s->stated_by, i);
    }
}

/* Orders that requirements ask for, then those of preferences, the most important first. Those of a
 * preference that contradict what is there are left to luck; those of requirements are proof. */
static bool keep_orders(struct space *s, struct error *err)
{
    time_orders found = {0};
    bool good = true;
    s->orders.firm = s->manner.firm;
    for (int wishes = 0; wishes <= s->manner.keeps_wishes && good; wishes++)
        for (size_t i = 0; i < query_size(s->query) && good; i++) {
            bool impossible = false;
            found.n = 0;
            if (s->info[i].requirement == (wishes > 0) || !query_time_orders(s->query, i, &found))
                continue;
            if (!orders_add(&s->orders, s->w, &found, &impossible) && impossible && !wishes)
                good = say_contradiction(s, i, err);
        }
    orders_begin(&s->orders, s->w);
    array_free(&found);
    return good;
}

/* As the rules say; guided, what is fulfilled or not comes before how far a state is, in the order
 * of the priorities. */
static void weigh_preferences(struct space *s)
{
    double most = 0;
    for (size_t i = 0; i < s->preferences.n; i++)
        most = fmax(most, s->info[s->preferences.at[i]].priority);
    for (size_t i = 0; i < s->preferences.n; i++) {
        struct constraint_info *info = &s->info[s->preferences.at[i]];
        if (s->manner.guided && info->wish && most > 0)
            info->priority *= 10 * fmax(1, (s->p1 > 0 ? s->p1 : 1) / most);
        s->weights += info->priority;
    }
    /* a requirement that only weighs does so more than all else together */
    s->soft_weight = 10 * fmax(1, s->weights + s->p1);
    s->weights += s->soft_weight * (double)s->softened.n;
}

/* The first preference for more scheduled tasks becomes H with weight p1; all others are G. */
static void sort_preferences(struct space *s, double p1)
{
    s->all_grow = true;
    for (size_t i = 0; i < query_size(s->query); i++) {
        const struct constraint_info *info = &s->info[i];
        if (info->requirement)
            continue;
        if (info->scheduled_count && s->first == SIZE_MAX) {
            s->first = i;
            s->p1 = p1 >= 0 ? p1 : info->priority;
            s->info[i].priority = s->p1;
            continue;
        }
        array_push(&s->preferences, i);
        s->all_grow &= info->grows;
    }
    weigh_preferences(s);
    /* without the preference, the search still needs to know how far a state is */
    if (s->first == SIZE_MAX)
        s->p1 = p1 >= 0 ? p1 : 0;
}

/* After the rules are read: tables, bounds, the initial state. */
bool space_begin(struct space *s, double p1, struct error *err)
{
    if (!query_begin(s->query, err))
        return false;
    if (s->manner.guided)
        query_count_unused(s->query);
    uint32_t n = s->w->ntasks;
    s->info = mem_new(struct constraint_info, query_size(s->query));
    for (size_t i = 0; i < query_size(s->query); i++)
        s->info[i] = query_info(s->query, i);
    s->killed = mem_new_zero(uint64_t, query_size(s->query));
    if (!fill_forbidden(s, err) || (s->manner.keeps_orders && !keep_orders(s, err)))
        return false;
    sort_preferences(s, p1);
    list_stated_orders(s);
    fill_bounds(s);
    sort_nodes(s);
    s->sees_order = query_sees_order(s->query) || platform_limits_ports(s->p);
    s->rank = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        s->rank[s->by_rank[i]] = i;
    s->missing = mem_new(uint32_t, n);
    s->core = mem_new(uint32_t, n);
    s->ready = mem_new_zero(uint64_t, bitset_words(n));
    s->contents = mem_new_zero(uint64_t, s->p->nnodes);
    for (uint32_t t = 0; t < n; t++) {
        s->missing[t] = s->w->pred_off[t + 1] - s->w->pred_off[t];
        if (s->orders.waits)
            s->missing[t] += s->orders.waits[t + 1] - s->orders.waits[t];
        if (!s->missing[t])
            bitset_set(s->ready, s->rank[t]);
    }
    struct space_state *root = array_add(&s->states);
    *root = (struct space_state){.parent = NONE,
                                 .task = NONE,
                                 .h = 1,
                                 .makespan = fmax(s->root_makespan, s->root_busy / s->cores),
                                 .busy = s->root_busy};
    root->g = space_g(s, false);
    return !query_failed(s->query, err);
}

void space_describe(const struct space *s, size_t constraint, struct strbuf *out)
{
    struct constraint_info info = s->info[constraint];
    int length = (int)strlen(info.text);
    strbuf_printf(out, "%s:%u:%u: %.*s%s", info.name, info.line, info.column,
                  length > 200 ? 200 : length, info.text, length > 200 ? " ..." : "");
}

/* ---- moving ---- */

/* MurmurHash3's finaliser. */
static uint64_t space_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* What one placement adds to its node's hash. Equal states have equal hashes however they came
 * about, unless the order of scheduling is part of them; states that differ by a permutation of
 * processors that cannot be told apart have equal ones too. */
static uint64_t placement_hash(const struct space *s, uint32_t task,
                               const struct schedule_slot *slot, uint32_t depth)
{
    uint64_t start;
    memcpy(&start, &slot->start, sizeof start);
    uint64_t h =
        space_mix(start + 0x9e3779b97f4a7c15) ^ space_mix(((uint64_t)task << 32) + slot->core + 1);
    return space_mix(s->sees_order ? h ^ ((uint64_t)depth << 40) : h);
}

/* By kind, not by number: permuted equal nodes give the same sum. */
static uint64_t node_hash(const struct space *s, uint32_t node, uint64_t contents)
{
    return space_mix(contents + space_mix(s->kind[node] + UINT64_C(0x51ed270b)));
}

/* The hash of the state with one more placement, O(1). */
static uint64_t hash_with(const struct space *s, uint32_t task, const struct schedule_slot *slot)
{
    uint64_t before = s->contents[slot->node];
    uint64_t after = before + placement_hash(s, task, slot, s->relations->depth + 1);
    return s->hash - node_hash(s, slot->node, before) + node_hash(s, slot->node, after);
}

static void space_apply(struct space *s, uint32_t task, struct schedule_slot slot)
{
    const struct workflow *w = s->w;
    uint64_t added = placement_hash(s, task, &slot, s->relations->depth + 1);
    s->hash = hash_with(s, task, &slot);
    s->contents[slot.node] += added;
    s->core[task] = slot.core;
    query_push(s->query, task, slot.node, slot.start, slot.finish);
    bitset_clear(s->ready, s->rank[task]);
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        if (--s->missing[w->succ_task[e]] == 0)
            bitset_set(s->ready, s->rank[w->succ_task[e]]);
    const struct kept_orders *o = &s->orders;
    for (uint32_t e = o->held ? o->held[task] : 0; o->held && e < o->held[task + 1]; e++)
        if (--s->missing[o->waiting[e]] == 0)
            bitset_set(s->ready, s->rank[o->waiting[e]]);
}

/* All of taking back but the hash. */
static void space_uncover(struct space *s)
{
    const struct workflow *w = s->w;
    uint32_t task = s->relations->stack[s->relations->depth - 1];
    query_pop(s->query);
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        if (s->missing[w->succ_task[e]]++ == 0)
            bitset_clear(s->ready, s->rank[w->succ_task[e]]);
    const struct kept_orders *o = &s->orders;
    for (uint32_t e = o->held ? o->held[task] : 0; o->held && e < o->held[task + 1]; e++)
        if (s->missing[o->waiting[e]]++ == 0)
            bitset_clear(s->ready, s->rank[o->waiting[e]]);
    bitset_set(s->ready, s->rank[task]);
}

/* Take back the newest task, hash included. */
static void space_unplace(struct space *s, const struct schedule_slot *slot)
{
    uint32_t depth = s->relations->depth, task = s->relations->stack[depth - 1];
    uint64_t now = s->contents[slot->node];
    uint64_t before = now - placement_hash(s, task, slot, depth);
    s->hash += node_hash(s, slot->node, before) - node_hash(s, slot->node, now);
    s->contents[slot->node] = before;
    space_uncover(s);
}

/* Back to the common ancestor, then forward; timelines are filled anew unless the new state
 * continues the old one. */
void space_go(struct space *s, uint32_t state)
{
    const struct space_state *all = s->states.at;
    uint32_t depth = all[state].depth, shared = depth;
    /* the states on the way, and how far both ways agree */
    array_reserve(&s->path, s->w->ntasks + 1u);
    uint32_t at = state;
    while (shared > s->path.n) {
        at = all[at].parent;
        shared--;
    }
    while (shared && s->path.at[shared - 1] != at) {
        at = all[at].parent;
        shared--;
    }
    while (s->path.n > shared) {
        uint32_t last = array_pop(&s->path);
        space_unplace(s, &all[last].slot);
    }
    if (s->placed > shared)
        s->stale = true;
    s->path.n = depth;
    at = state;
    for (uint32_t i = depth; i > shared; i--) {
        s->path.at[i - 1] = at;
        at = all[at].parent;
    }
    for (uint32_t i = shared; i < depth; i++)
        space_apply(s, all[s->path.at[i]].task, all[s->path.at[i]].slot);
    if (s->stale) {
        schedule_reset(s->schedule);
        s->placed = 0;
        s->stale = false;
    }
    for (; s->placed < depth; s->placed++) {
        const struct space_state *step = &all[s->path.at[s->placed]];
        schedule_place(s->schedule, step->task, step->slot);
    }
}

void space_push(struct space *s, uint32_t task, struct schedule_slot slot)
{
    space_apply(s, task, slot);
    schedule_place(s->schedule, task, slot);
}

void space_reset(struct space *s)
{
    while (s->relations->depth)
        space_uncover(s);
    memset(s->contents, 0, s->p->nnodes * sizeof *s->contents);
    s->hash = 0;
    s->path.n = 0;
    s->placed = 0;
    s->stale = false;
    schedule_reset(s->schedule);
}

/* ---- worth ---- */

/* By how much a requirement that only weighs is missed, 0 to 1: closer is better where it has a
 * measure, and any miss is worse than none. */
static double missed_by(struct space *s, size_t constraint)
{
    const struct constraint_info *info = &s->info[constraint];
    if (query_holds(s->query, constraint))
        return 0;
    double measure = query_measure(s->query, constraint);
    if (info->type != CONSTRAINT_VALUE)
        return 0.5 + 0.5 * measure / (1 + measure);
    double beyond = measure < info->low ? info->low - measure : measure - info->high;
    return 0.5 + 0.5 * beyond / (1 + beyond);
}

double space_g(struct space *s, bool quick)
{
    double g = 0;
    for (size_t i = 0; i < s->preferences.n; i++) {
        size_t index = s->preferences.at[i];
        const struct constraint_info *info = &s->info[index];
        if (!quick || info->incremental)
            g += info->priority * query_scaled(s->query, index);
    }
    for (size_t i = 0; i < s->softened.n; i++)
        if (!quick || s->info[s->softened.at[i]].incremental)
            g += s->soft_weight * missed_by(s, s->softened.at[i]);
    return g;
}

/* Who is to blame when nothing is left: who removed the deepest states. An order of scheduling
 * removes all but one task at every step, and is blamed only where nobody else is. */
static void blame_constraint(struct space *s, size_t index)
{
    uint32_t depth = s->relations->depth;
    bool other = s->killer == SIZE_MAX || s->info[s->killer].by_task;
    bool order = s->info[index].by_task;
    if ((other && !order) || (other == order && depth >= s->killer_depth) ||
        s->killer == SIZE_MAX) {
        s->killer = index;
        s->killer_depth = depth;
    }
}

/* Do the requirements hold? With `goal_only` they are asked of complete schedules only, but for
 * those that no longer can. */
bool space_allows(struct space *s, bool quick, bool goal)
{
    for (size_t i = 0; i < s->requirements.n; i++) {
        size_t index = s->requirements.at[i];
        if ((quick && !s->info[index].incremental) ||
            (s->manner.goal_only && !goal && !s->info[index].stays))
            continue;
        if (!query_holds(s->query, index)) {
            s->killed[index]++;
            s->refused = index;
            blame_constraint(s, index);
            return false;
        }
    }
    return true;
}

/* F of A*; with p1 = 0 and preferences that never fall, the bound, which is admissible. */
double space_f(const struct space *s, const struct space_state *state)
{
    double total = s->weights + s->p1;
    if (s->p1 == 0 && s->all_grow)
        return total > 0 ? state->bound / total : 0;
    return total > 0 ? (state->g + s->p1 * state->h) / total : state->h;
}

/* A lower bound of g of all goals below: preferences that never fall stay at least what they are,
 * a makespan at least what the tasks to come need, the others may become 0. */
static double bound_of(struct space *s, const struct space_state *child)
{
    double bound = 0;
    for (size_t i = 0; i < s->preferences.n; i++) {
        size_t index = s->preferences.at[i];
        const struct constraint_info *info = &s->info[index];
        if (info->makespan)
            bound += info->priority * query_scale(s->query, index, child->makespan);
        else if (info->grows)
            bound += info->priority * query_scaled(s->query, index);
    }
    return bound;
}

struct schedule_slot space_slot(struct space *s, uint32_t task, uint32_t node)
{
    double least = s->delay ? s->delay[task] : 0;
    if (s->orders.waits && s->orders.waits[task + 1] > s->orders.waits[task])
        least = fmax(least, orders_least_start(&s->orders, task, costs_time(s->costs, task, node),
                                               s->relations->start, s->relations->finish));
    return schedule_from(s->schedule, task, node, s->insertion, least);
}

/* An empty node that cannot be told from an earlier empty one need not be tried. */
static bool is_twin(const struct space *s, uint32_t node)
{
    if (s->kind[node] == node || s->relations->load[node].tasks)
        return false;
    for (uint32_t n = s->kind[node]; n < node; n++)
        if (s->kind[n] == s->kind[node] && !s->relations->load[n].tasks)
            return true;
    return false;
}

/* A requirement on the end of everything is broken as soon as the rest cannot be done in time. */
static bool ends_in_time(struct space *s, const struct space_state *child)
{
    for (size_t i = 0; i < s->requirements.n; i++) {
        size_t index = s->requirements.at[i];
        const struct constraint_info *info = &s->info[index];
        if (info->makespan && child->makespan > info->high * (1 + 1e-9)) {
            s->killed[index]++;
            blame_constraint(s, index);
            return false;
        }
    }
    return true;
}

/* One task on all nodes; false: no successor. */
static bool expand_task(struct space *s, uint32_t task, const struct space_state *parent,
                        bool quick)
{
    size_t before = s->children.n;
    uint32_t depth = s->relations->depth + 1;
    bool goal = depth == s->w->ntasks, order_failed = false;
    for (uint32_t n = 0; n < s->p->nnodes && !order_failed; n++) {
        if (!space_may(s, task, n) || is_twin(s, n))
            continue;
        struct schedule_slot slot = space_slot(s, task, n);
        if (!(slot.finish < INFINITY))
            continue;
        struct space_state child = {.task = task, .slot = slot};
        child.hash = hash_with(s, task, &slot);
        query_push(s->query, task, n, slot.start, slot.finish);
        child.busy = parent->busy + (slot.finish - slot.start - s->least[task]) * s->w->cores[task];
        child.makespan = fmax(parent->makespan, slot.finish + s->tail[task]);
        child.makespan = fmax(child.makespan, child.busy / s->cores);
        bool allowed = space_allows(s, quick, goal);
        if (allowed && ends_in_time(s, &child)) {
            child.g = space_g(s, quick);
            child.h = 1 - (double)depth / s->w->ntasks;
            child.bound = quick ? 0 : bound_of(s, &child);
            array_push(&s->children, child);
        } else if (!allowed && !s->manner.goal_only && s->info[s->refused].by_task) {
            order_failed = true; /* it fails on every node alike */
        }
        query_pop(s->query);
    }
    return s->children.n > before;
}

void space_expand(struct space *s, uint32_t most, bool quick)
{
    const struct space_state none = {0};
    const struct space_state *parent = s->path.n     ? &s->states.at[s->path.at[s->path.n - 1]]
                                       : s->states.n ? s->states.at
                                                     : &none;
    uint32_t found = 0, tried = 0;
    s->children.n = 0;
    for (size_t word = 0; word < bitset_words(s->w->ntasks); word++)
        for (uint64_t bits = s->ready[word]; bits; bits &= bits - 1) {
            uint32_t rank = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
            found += expand_task(s, s->by_rank[rank], parent, quick);
            tried++;
            if (most && found && tried >= most)
                return;
        }
}
