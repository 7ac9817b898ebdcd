/* What a replay adds up at its end: totals, the critical chain, and, when it stood still, why. */
#include "base/bitset.h"
#include "base/strbuf.h"
#include "base/plural.h"
#include "sim/replay_state.h"

/* Back from the task that ended last, each time to the one that let it start. */
/* The chain explains the makespan: its compute, data, fault and idle parts add up to it. */
static void follow_chain(struct replay *r, uint32_t last)
{
    struct replay_result *out = r->result;
    ARRAY(uint32_t) chain = {0};
    uint32_t i = last;
    for (;;) {
        array_push(&chain, i);
        out->chain_compute += out->finish[i] - out->start[i];
        /* the highest bit says that data were the last thing missing (CAUSE_DATA in replay.c) */
        uint32_t cause = r->cause[i];
        uint32_t before = cause == NONE ? NONE : cause & ~(1u << 31);
        double gap = out->start[i] - (before == NONE ? 0 : out->finish[before]);
        bool by_data = before != NONE && cause & 1u << 31;
        /* after a loss, start - finish of the cause holds both a transfer and lost time: data_ready
         * tells them apart */
        if (r->losses && r->losses[i]) {
            double data = by_data ? out->data_ready[i] - out->finish[before] : 0;
            out->chain_data += data;
            out->chain_fault += gap - data;
        } else if (by_data)
            out->chain_data += gap;
        else if (r->down)
            out->chain_fault += gap;
        else
            out->chain_idle += gap;
        if (before == NONE)
            break;
        i = before;
    }
    for (size_t k = 0; k < chain.n / 2; k++) {
        uint32_t swap = chain.at[k];
        chain.at[k] = chain.at[chain.n - 1 - k];
        chain.at[chain.n - 1 - k] = swap;
    }
    out->nchain = (uint32_t)chain.n;
    out->chain = chain.at;
}

/* `complete` false: what ran so far. Utilisation counts all cores of the nodes that the plan uses.
 */
void replay_account(struct replay *r, bool complete)
{
    struct replay_result *out = r->result;
    const struct plan *plan = r->plan;
    uint32_t last = NONE;
    for (uint32_t i = 0; i < out->nplacements; i++) {
        if (isnan(out->finish[i])) { /* never ran */
            out->start[i] = NAN;
            continue;
        }
        const struct placement *x = &plan->placements.at[i];
        double busy = (out->finish[i] - out->start[i]) * r->workflow->cores[x->task];
        out->compute += busy;
        out->node_busy[x->node] += busy;
        if (last == NONE || out->finish[i] > out->finish[last])
            last = i;
    }
    out->makespan = last == NONE ? 0 : out->finish[last];
    uint64_t cores = 0;
    for (uint32_t i = 0; i < r->platform->nnodes; i++)
        if (r->lanes.node_first[i + 1] > r->lanes.node_first[i])
            cores += r->platform->cores[i];
    out->utilization =
        cores && out->makespan > 0 ? out->compute / ((double)cores * out->makespan) : 0;
    out->events = r->engine.events;
    out->transfers = r->network->delivered;
    out->bytes_moved = r->network->bytes;
    for (uint32_t i = 0; i < r->platform->nnodes; i++) {
        out->node_sending[i] = r->network->out_busy[i];
        out->node_receiving[i] = r->network->in_busy[i];
    }
    if (complete && last != NONE)
        follow_chain(r, last);
}

/* ---- deadlock ---- */

/* Adds "object 'x'" as the user knows it. */
static void say_object(struct strbuf *b, const struct replay *r, uint32_t object)
{
    char label[256];
    strbuf_printf(b, "object '%s'",
                  workflow_object_label(r->workflow, object, label, sizeof label));
}

/* Why demand x is not met. */
static void say_demand(struct strbuf *b, const struct replay *r, uint32_t x)
{
    const struct demand *d = &r->demands.at[x];
    const struct platform *p = r->platform;
    say_object(b, r, d->object);
    if (r->demands.state[x] == DEMAND_IDLE) {
        uint32_t producer = r->workflow->producer[d->object];
        strbuf_printf(b, " of task '%s'", workflow_task_name(r->workflow, producer));
        return;
    }
    for (size_t i = 0; i < r->impossible.n; i++)
        if (r->impossible.at[i] == x) {
            strbuf_printf(b, ", which cannot travel: no network between nodes '%s' and '%s'",
                          platform_node_name(p, d->source), platform_node_name(p, d->node));
            return;
        }
    uint32_t down = r->down && bitset_get(r->down, d->source) ? d->source : d->node;
    strbuf_printf(b, " from node '%s'", platform_node_name(p, d->source));
    if (r->down && bitset_get(r->down, down))
        strbuf_printf(b, " (node '%s' failed and does not come back)", platform_node_name(p, down));
}

/* The demand, not met, that placement i waits for; NONE: only an ordering predecessor. */
static uint32_t open_demand(const struct replay *r, uint32_t i)
{
    const struct workflow *w = r->workflow;
    const struct placement *x = &r->plan->placements.at[i];
    for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++) {
        uint32_t object = w->pred_object[e];
        if (object == NONE)
            continue;
        for (uint32_t y = r->demands.off[object]; y < r->demands.off[object + 1]; y++)
            if (r->demands.at[y].node == x->node && r->demands.state[y] != DEMAND_ARRIVED)
                return y;
    }
    return NONE;
}

/* An ordering predecessor of placement i of which no copy has ended; NONE: none. */
static uint32_t open_predecessor(const struct replay *r, uint32_t i)
{
    const struct workflow *w = r->workflow;
    uint32_t task = r->plan->placements.at[i].task;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t before = w->pred_task[e];
        bool done = false;
        for (uint32_t c = r->demands.copy_off[before]; c < r->demands.copy_off[before + 1]; c++)
            done = done || !isnan(r->result->finish[r->demands.copy[c]]);
        if (w->pred_object[e] == NONE && !done)
            return before;
    }
    return NONE;
}

/* Always false. One clause for the first placement of up to six lanes; more would not help anybody.
 */
bool replay_explain_standstill(struct replay *r, struct error *err)
{
    enum { SHOWN = 6 };
    struct strbuf b = {0};
    const struct workflow *w = r->workflow;
    uint32_t shown = 0, heads = 0;
    /* Only the first of each lane: the others wait for it, which would bury the reason. */
    for (uint32_t lane = 0; lane < r->lanes.nlanes; lane++) {
        size_t head = r->lanes.head[lane];
        if (head == r->lanes.off[lane + 1])
            continue;
        uint32_t i = r->lanes.placement[head];
        const struct placement *x = &r->plan->placements.at[i];
        heads++;
        if (shown == SHOWN)
            continue;
        const char *node = platform_node_name(r->platform, x->node);
        strbuf_printf(&b, "%s task '%s' on '%s' waits for ", shown++ ? ";" : "",
                      workflow_task_name(w, x->task), node);
        uint32_t demand = r->demands.missing[i] ? open_demand(r, i) : NONE;
        uint32_t before = r->demands.missing[i] ? open_predecessor(r, i) : NONE;
        if (demand != NONE)
            say_demand(&b, r, demand);
        else if (before != NONE)
            strbuf_printf(&b, "task '%s' to end", workflow_task_name(w, before));
        else if (r->down && bitset_get(r->down, x->node))
            strbuf_printf(&b, "its node, which failed and does not come back");
        else
            for (uint32_t c = 0; c < w->cores[x->task]; c++) {
                uint32_t other = r->lanes.node_first[x->node] + x->core + c;
                uint32_t first = r->lanes.placement[r->lanes.head[other]];
                if (first != i) {
                    strbuf_printf(&b, "core %u, where task '%s' is planned first", x->core + c,
                                  workflow_task_name(w, r->plan->placements.at[first].task));
                    break;
                }
            }
    }
    if (heads > shown)
        strbuf_printf(&b, "; and %u more core%s", heads - shown,
                      plural_word(heads - shown, " waits", "s wait"));
    error_set(err, ERROR_FAILED,
              "the simulation cannot progress at time %g, %u of %u task%s left:%s", r->engine.now,
              r->left, r->result->nplacements, plural(r->result->nplacements), strbuf_text(&b));
    strbuf_free(&b);
    return false;
}
