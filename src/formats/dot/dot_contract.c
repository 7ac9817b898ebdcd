/* Nextflow's drawings without their channels and operators: processes are joined wherever a way
 * leads from one to the other through other nodes.
 *
 * First every operator is given the one node it leads to (its alias), from the ends backwards, so
 * that chains cost one step; then a search from each process passes only nodes that branch.
 * O(nodes + edges) for the first part; the second is the size of its result times the branching
 * between. */
#include "formats/dot/dot_contract.h"

#define NONE UINT32_MAX

struct contraction {
    uint32_t n;
    uint32_t *off, *to; /* successors */
    const bool *process;
    uint32_t *alias; /* of a resolved non-process node: the one node that it leads to; itself when
                        it branches; NONE: nowhere */
    uint32_t *stamp;
};

/* Edges by their first end (CSR, counting sort). */
static void build_successors(struct contraction *c, const struct dot_graph *g)
{
    c->off = mem_new_zero(uint32_t, (size_t)c->n + 2);
    for (size_t i = 0; i < g->edges.n; i++)
        c->off[g->edges.at[i].from + 2]++;
    for (uint32_t i = 0; i < c->n; i++)
        c->off[i + 2] += c->off[i + 1];
    c->to = mem_new(uint32_t, g->edges.n ? g->edges.n : 1);
    for (size_t i = 0; i < g->edges.n; i++)
        c->to[c->off[g->edges.at[i].from + 1]++] = g->edges.at[i].to;
}

static uint32_t contract_lead_on(const struct contraction *c, uint32_t node)
{
    return c->process[node] ? node : c->alias[node];
}

/* Where does each non-process lead? In reverse topological order, so that chains of operators
 * collapse to their end: the walks afterwards only pass nodes that branch. Returns a node on a
 * cycle of non-processes, NONE when all is well. */
static uint32_t resolve_aliases(struct contraction *c, const struct dot_graph *g)
{
    uint32_t *left = mem_new_zero(uint32_t, (size_t)c->n + 1), *in_off, *in, done = 0, others = 0;
    in_off = mem_new_zero(uint32_t, (size_t)c->n + 2);
    in = mem_new(uint32_t, g->edges.n ? g->edges.n : 1);
    for (size_t i = 0; i < g->edges.n; i++) {
        in_off[g->edges.at[i].to + 2]++;
        left[g->edges.at[i].from] += !c->process[g->edges.at[i].to];
    }
    for (uint32_t i = 0; i < c->n; i++)
        in_off[i + 2] += in_off[i + 1];
    for (size_t i = 0; i < g->edges.n; i++)
        in[in_off[g->edges.at[i].to + 1]++] = g->edges.at[i].from;
    uint32_t *queue = mem_new(uint32_t, (size_t)c->n + 1);
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->process[i]) {
            others++;
            if (!left[i])
                queue[done++] = i;
        }
    for (uint32_t head = 0; head < done; head++) {
        uint32_t node = queue[head], only = NONE;
        bool several = false;
        for (uint32_t e = c->off[node]; e < c->off[node + 1]; e++) {
            uint32_t next = contract_lead_on(c, c->to[e]);
            several |= next != NONE && only != NONE && next != only;
            only = next != NONE ? next : only;
        }
        c->alias[node] = several ? node : only;
        for (uint32_t e = in_off[node]; e < in_off[node + 1]; e++)
            if (!c->process[in[e]] && !--left[in[e]])
                queue[done++] = in[e];
    }
    uint32_t stuck = NONE;
    for (uint32_t i = 0; done < others && i < c->n && stuck == NONE; i++)
        if (!c->process[i] && left[i])
            stuck = i;
    /* Every unresolved node has an unresolved successor: after n steps along them we are on a
     * cycle, not just before one. */
    for (uint32_t step = 0; stuck != NONE && step < c->n; step++) {
        uint32_t e = c->off[stuck];
        while (c->process[c->to[e]] || !left[c->to[e]])
            e++;
        stuck = c->to[e];
    }
    free(left);
    free(in_off);
    free(in);
    free(queue);
    return stuck;
}

/* Pairs of kept nodes into `out`, each once. Returns NONE, or a node on a cycle of others. */
uint32_t dot_contract(const struct dot_graph *g, const bool *keep, struct dot_pairs *out)
{
    struct contraction c = {.n = (uint32_t)g->node_line.n, .process = keep};
    c.alias = mem_new(uint32_t, (size_t)c.n + 1);
    c.stamp = mem_new_zero(uint32_t, (size_t)c.n + 1);
    for (uint32_t i = 0; i < c.n; i++)
        c.alias[i] = NONE;
    build_successors(&c, g);
    uint32_t stuck = resolve_aliases(&c, g);
    ARRAY(uint32_t) stack = {0};
    for (uint32_t p = 0; p < c.n && stuck == NONE; p++) {
        if (!keep[p])
            continue;
        array_push(&stack, p);
        while (stack.n) {
            uint32_t node = array_pop(&stack);
            for (uint32_t e = c.off[node]; e < c.off[node + 1]; e++) {
                uint32_t next = contract_lead_on(&c, c.to[e]);
                if (next == NONE || c.stamp[next] == p + 1)
                    continue;
                c.stamp[next] = p + 1;
                if (keep[next])
                    array_push(out, (struct dot_pair){p, next});
                else
                    array_push(&stack, next);
            }
        }
    }
    array_free(&stack);
    free(c.off);
    free(c.to);
    free(c.alias);
    free(c.stamp);
    return stuck;
}
