/* A run that grows among simulated schedulers: tasks that join when others are done (model/joins.h).
 *
 *   COMPLETE of the last task that decides, in the store
 *      └─▶ the node that ran it offers what joins at the store: there and back, and a service
 *            └─▶ EVENT_JOIN: every scheduler learns of it (sched_grow), its tasks are PUT and submitted
 *                there; the others steal them, as they do from an agent (cluster/agent/job_growth.c)
 *
 * A task is unknown while a row of joins that has it waits, or a parent of it is unknown: what depends on
 * what nobody knows is not known itself. `unknown` counts both; at 0 it joins, and its children are
 * counted down. All of it is O(tasks + edges + deciding tasks) a run, and nothing where nothing joins. */
#include "sim/schedulers_state.h"

struct growth_decision {
    uint32_t by, nby, left; /* tasks that decide; those of them that are not done */
    uint32_t rows;          /* of joins, the last one; NONE: none */
};

struct growth_offer {
    uint32_t *tasks, n;
};

struct schedulers_growth {
    uint32_t *unknown; /* by task */
    uint8_t *first;    /* by task: it is known when the run begins */
    ARRAY(struct growth_decision) decisions;
    uint32_t *next_row;         /* by row of joins: the one before it of the same decision; NONE */
    uint32_t *off, *decided_by; /* by task: the decisions that it is one of */
    ARRAY(struct growth_offer) offers;
};

/* Rows that wait for the same tasks are one decision. Files have few of them, but for rounds, each of which
 * follows the one before: so the last one is looked at first, and then no further than the rows do. */
static uint32_t find_decision(struct schedulers_growth *g, const struct join *row)
{
    for (size_t i = g->decisions.n; i-- && g->decisions.n - i < 64;)
        if (g->decisions.at[i].by == row->by && g->decisions.at[i].nby == row->nby)
            return (uint32_t)i;
    array_push(&g->decisions, (struct growth_decision){row->by, row->nby, row->nby, NONE});
    return (uint32_t)g->decisions.n - 1;
}

/* off[t] .. off[t + 1]: the decisions of task t. */
static void index_deciders(struct schedulers_growth *g, uint32_t ntasks)
{
    g->off = mem_new_zero(uint32_t, (size_t)ntasks + 2);
    for (size_t i = 0; i < g->decisions.n; i++)
        for (uint32_t t = 0; t < g->decisions.at[i].nby; t++)
            g->off[g->decisions.at[i].by + t + 2]++;
    for (uint32_t t = 0; t < ntasks; t++)
        g->off[t + 2] += g->off[t + 1];
    g->decided_by = mem_new(uint32_t, g->off[ntasks + 1]);
    for (size_t i = 0; i < g->decisions.n; i++)
        for (uint32_t t = 0; t < g->decisions.at[i].nby; t++)
            g->decided_by[g->off[g->decisions.at[i].by + t + 1]++] = (uint32_t)i;
}

void schedulers_growth_open(struct schedulers *c)
{
    const struct workflow *w = c->dag->workflow;
    if (!w || !w->joins || !w->joins->at.n)
        return;
    struct schedulers_growth *g = c->growth = mem_new_zero(struct schedulers_growth, 1);
    g->unknown = mem_new_zero(uint32_t, w->ntasks);
    g->first = mem_new_zero(uint8_t, w->ntasks);
    g->next_row = mem_new(uint32_t, w->joins->at.n);
    for (size_t i = 0; i < w->joins->at.n; i++) {
        const struct join *row = &w->joins->at.at[i];
        uint32_t decision = find_decision(g, row);
        g->next_row[i] = g->decisions.at[decision].rows;
        g->decisions.at[decision].rows = (uint32_t)i;
        for (uint32_t t = row->first; t < row->first + row->count; t++)
            g->unknown[t]++;
    }
    index_deciders(g, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        g->first[t] = !g->unknown[t];
        for (uint32_t e = w->succ_off[t]; g->unknown[t] && e < w->succ_off[t + 1]; e++)
            g->unknown[w->succ_task[e]]++;
    }
}

void schedulers_growth_close(struct schedulers *c)
{
    struct schedulers_growth *g = c->growth;
    if (!g)
        return;
    for (size_t i = 0; i < g->offers.n; i++)
        free(g->offers.at[i].tasks);
    array_free(&g->offers);
    array_free(&g->decisions);
    free(g->unknown);
    free(g->first);
    free(g->next_row);
    free(g->off);
    free(g->decided_by);
    free(g);
}

bool schedulers_is_first(const struct schedulers *c, uint32_t task)
{
    return !c->growth || c->growth->first[task];
}

typedef ARRAY(uint32_t) task_list;

static void count_down(struct schedulers_growth *g, uint32_t task, task_list *known)
{
    if (--g->unknown[task] == 0)
        array_push(known, task);
}

/* What became known, and what became known by that. */
static void spread_known(const struct workflow *w, struct schedulers_growth *g, task_list *known)
{
    for (size_t i = 0; i < known->n; i++) {
        uint32_t t = known->at[i];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            count_down(g, w->succ_task[e], known);
    }
}

void schedulers_growth_done(struct schedulers *c, uint32_t task, uint32_t node)
{
    struct schedulers_growth *g = c->growth;
    const struct workflow *w = c->dag->workflow;
    task_list known = {0};
    for (uint32_t i = g->off[task]; i < g->off[task + 1]; i++) {
        struct growth_decision *d = &g->decisions.at[g->decided_by[i]];
        if (--d->left)
            continue;
        for (uint32_t row = d->rows; row != NONE; row = g->next_row[row])
            for (uint32_t t = 0; t < w->joins->at.at[row].count; t++)
                count_down(g, w->joins->at.at[row].first + t, &known);
    }
    spread_known(w, g, &known);
    if (!known.n) {
        array_free(&known);
        return;
    }
    array_push(&g->offers, (struct growth_offer){known.at, (uint32_t)known.n});
    schedulers_later(c, c->now + 2 * c->config.latency + c->config.store_service, EVENT_JOIN,
                     (uint32_t)g->offers.n - 1, node);
    c->result->store_operations++;
    c->result->joined += known.n;
}

/* PUT by who offered it, and told to its scheduler. The caller has told all schedulers that there is more. */
void schedulers_growth_submit(struct schedulers *c, uint32_t offer, uint32_t node,
                              struct sched_event *e)
{
    const struct growth_offer *x = &c->growth->offers.at[offer];
    double *free_at = &c->links[node].server_free;
    for (uint32_t i = 0; i < x->n; i++) {
        struct meta_op put = {.kind = META_PUT, .task = x->tasks[i], .node = node, .time = c->now};
        store_table_apply(&c->table, &put, NULL);
    }
    *free_at = (*free_at > c->now ? *free_at : c->now) + x->n * c->config.store_service;
    c->result->store_operations += x->n;
    e->kind = SCHED_EVENT_SUBMIT;
    e->submit.tasks = x->tasks;
    e->submit.n = x->n;
}
