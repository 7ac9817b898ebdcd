/* Gantt charts of static plans as SVG: lanes are cores, bars are placements, arrows are transfers.
 * The drawing itself is timeline.c's; here a plan becomes lanes, bars and texts. O(placements log
 * placements); arrows cost transfers x placements and are drawn only when there are few. */
#include "report/gantt.h"
#include "report/gantt_kinds.h"
#include "report/human.h"
#include "report/timeline.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More arrows than 60 make a tangle. Up to 64 cores idle ones are shown too: that a core has
 * nothing to do is something to see. */
enum { ARROWS_MOST = 60, ALL_LANES_MOST = 64 };

struct static_plan {
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p;
    uint32_t *pinned; /* per task: the constraint that chose its node, 0: none; NULL: no pins */
};

/* Plans of others may be wrong; what cannot be drawn is left out, the checker says what is wrong.
 */
bool gantt_usable(const struct placement *pl, const struct workflow *w, const struct platform *p)
{
    return pl->task < w->ntasks && pl->node < p->nnodes && isfinite(pl->start) &&
           isfinite(pl->finish) && pl->finish >= pl->start && pl->start >= 0;
}

/* Cores that a bar covers: never past the last core of the node. */
uint32_t gantt_cores(const struct placement *pl, const struct workflow *w, const struct platform *p)
{
    uint32_t cores = w->cores[pl->task], have = p->cores[pl->node];
    if (pl->core >= have)
        return 1;
    cores = cores < 1 ? 1 : cores;
    return cores < have - pl->core ? cores : have - pl->core;
}

/* "FLOW on PLATFORM, planned by PLANNER", with what is not known left out. The caller frees. */
char *gantt_title(const struct plan *plan, const struct workflow *w, const struct platform *p,
                  const struct gantt_options *options)
{
    if (options && options->title)
        return mem_copy_string(options->title);
    const char *flow = workflow_text(w, w->name), *where = p ? pool_text(&p->text, p->name) : "";
    if (!*flow)
        flow = plan->workflow_name ? plan->workflow_name : "workflow";
    struct strbuf text = {0};
    strbuf_add(&text, flow);
    if (*where)
        strbuf_printf(&text, " on %s", where);
    if (plan->planner)
        strbuf_printf(&text, ", planned by %s", plan->planner);
    return strbuf_steal(&text);
}

/* ---- static plans ---- */

/* Lanes are grouped by node: one name for all its cores. */
static const char *gantt_node_name(void *context, uint32_t node)
{
    const struct static_plan *s = context;
    return platform_node_name(s->p, node);
}

/* The name alone for the bar, everything for the tooltip (`whole`). */
static void gantt_describe(void *context, const struct timeline_bar *bar, bool whole,
                           struct strbuf *out)
{
    const struct static_plan *s = context;
    const struct placement *pl = &s->plan->placements.at[bar->id];
    strbuf_add(out, workflow_task_name(s->w, pl->task));
    if (!whole)
        return;
    char start[HUMAN_SIZE], finish[HUMAN_SIZE], length[HUMAN_SIZE];
    const char *kind = workflow_text(s->w, s->w->kind[pl->task]);
    if (*kind && strcmp(kind, workflow_task_name(s->w, pl->task)) != 0)
        strbuf_printf(out, " (%s)", kind);
    if (pl->copy)
        strbuf_printf(out, ", copy %u", pl->copy);
    strbuf_printf(out, " on %s", platform_node_name(s->p, pl->node));
    if (s->p->cores[pl->node] > 1)
        strbuf_printf(out, " core %u", pl->core);
    strbuf_printf(out, ": %s to %s, %s", human_number(start, pl->start),
                  human_number(finish, pl->finish), human_seconds(length, pl->finish - pl->start));
    uint32_t pin = s->pinned ? s->pinned[pl->task] : 0;
    if (pin)
        strbuf_printf(out, ", pinned by constraint %u", pin);
    if (pin && pin <= s->plan->constraints.n)
        strbuf_printf(out, " (%s)", s->plan->constraints.at[pin - 1]);
}

static void describe_transfer(void *context, const struct timeline_arrow *arrow, struct strbuf *out)
{
    const struct static_plan *s = context;
    const struct transfer *t = &s->plan->transfers.at[arrow->id];
    char label[256], size[HUMAN_SIZE], start[HUMAN_SIZE], finish[HUMAN_SIZE];
    strbuf_printf(out, "%s (%s) from %s to %s: %s to %s",
                  workflow_object_label(s->w, t->object, label, sizeof label),
                  human_bytes(size, s->w->size[t->object]), platform_node_name(s->p, t->from),
                  platform_node_name(s->p, t->to), human_number(start, t->start),
                  human_number(finish, t->finish));
}

/* One core of one node. */
struct lane {
    uint32_t node, core;
};

static int by_node(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

typedef ARRAY(struct lane) lane_list;

/* Which nodes have nothing to do; how many, and the first and last of them. The caller frees. */
static uint8_t *idle_nodes(const struct static_plan *s, uint32_t *n, uint32_t *first,
                           uint32_t *last)
{
    uint8_t *idle = mem_new(uint8_t, s->p->nnodes + 1);
    memset(idle, 1, s->p->nnodes + 1);
    for (size_t i = 0; i < s->plan->placements.n; i++)
        if (gantt_usable(&s->plan->placements.at[i], s->w, s->p))
            idle[s->plan->placements.at[i].node] = 0;
    *n = 0;
    for (uint32_t node = 0; node < s->p->nnodes; node++) {
        if (!idle[node])
            continue;
        *first = *n ? *first : node;
        *last = node;
        (*n)++;
    }
    return idle;
}

/* "14 nodes have no task: n3 ... n16." NULL: lanes show it. The caller frees. */
static char *idle_note(const struct static_plan *s, bool used_only)
{
    uint32_t n, first = 0, last = 0;
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    free(idle_nodes(s, &n, &first, &last));
    if (n == 0 || n == s->p->nnodes ||
        (n <= GANTT_IDLE && !used_only && platform_total_cores(s->p) <= ALL_LANES_MOST))
        return NULL;
    strbuf_printf(&text, "%s node%s no task: %s", human_count(number, n),
                  n == 1 ? " has" : "s have", platform_node_name(s->p, first));
    if (n > 1)
        strbuf_printf(&text, "%s%s", n == 2 ? ", " : " ... ", platform_node_name(s->p, last));
    strbuf_add(&text, ". ");
    return strbuf_steal(&text);
}

/* All cores when they are few, otherwise those with something on them; nodes without a task only when those are
 * few. Sorted, each once. */
static void list_lanes(const struct static_plan *s, bool used_only, lane_list *lanes)
{
    uint32_t nidle, first = 0, last = 0;
    uint8_t *idle = idle_nodes(s, &nidle, &first, &last);
    /* a plan that places nothing shows its platform: then idle nodes are all there is to see */
    bool fold = nidle > GANTT_IDLE && nidle < s->p->nnodes;
    if (!used_only && platform_total_cores(s->p) <= ALL_LANES_MOST)
        for (uint32_t n = 0; n < s->p->nnodes; n++)
            for (uint32_t c = 0; c < s->p->cores[n] && !(fold && idle[n]); c++)
                array_push(lanes, (struct lane){n, c});
    free(idle);
    for (size_t i = 0; i < s->plan->placements.n; i++) {
        const struct placement *pl = &s->plan->placements.at[i];
        if (!gantt_usable(pl, s->w, s->p))
            continue;
        uint32_t cores = gantt_cores(pl, s->w, s->p);
        for (uint32_t c = 0; c < cores && c < TIMELINE_LANES; c++)
            array_push(lanes, (struct lane){pl->node, pl->core + c});
    }
    if (!lanes->n)
        return;
    qsort(lanes->at, lanes->n, sizeof *lanes->at, by_node);
    size_t kept = 1;
    for (size_t i = 1; i < lanes->n; i++)
        if (by_node(&lanes->at[i], &lanes->at[kept - 1]) != 0)
            lanes->at[kept++] = lanes->at[i];
    lanes->n = kept;
}

/* UINT32_MAX: a lane that is not shown. */
static uint32_t gantt_find_lane(const lane_list *lanes, uint32_t node, uint32_t core)
{
    struct lane key = {node, core};
    const struct lane *found =
        lanes->n ? bsearch(&key, lanes->at, lanes->n, sizeof key, by_node) : NULL;
    return found ? (uint32_t)(found - lanes->at) : UINT32_MAX;
}

/* Arrows go from the copy that made the object to the first that waits for it. Only few transfers
 * are drawn, so a walk over all placements finds those of the tasks concerned. */
static void add_arrows(const struct static_plan *s, const lane_list *lanes, struct timeline *t)
{
    const struct plan *plan = s->plan;
    size_t n = plan->transfers.n;
    uint32_t *from = mem_new(uint32_t, n + 1), *to = mem_new(uint32_t, n + 1);
    double *waiting = mem_new(double, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct transfer *x = &plan->transfers.at[i];
        /* numbers of a plan from a file may point anywhere */
        bool known = x->object < s->w->nobjects && x->from < s->p->nnodes && x->to < s->p->nnodes;
        from[i] = to[i] = UINT32_MAX;
        waiting[i] = INFINITY;
        if (!known || !isfinite(x->start) || !isfinite(x->finish) || x->start < 0)
            continue;
        uint32_t producer = s->w->producer[x->object], consumers;
        const uint32_t *consumer = workflow_consumers(s->w, x->object, &consumers);
        for (size_t k = 0; k < plan->placements.n; k++) {
            const struct placement *pl = &plan->placements.at[k];
            if (!gantt_usable(pl, s->w, s->p) || (pl->node != x->from && pl->node != x->to))
                continue;
            uint32_t lane = gantt_find_lane(lanes, pl->node, pl->core);
            if (pl->node == x->from && pl->task == producer)
                from[i] = lane;
            /* a consumer that starts before the transfer ends does not wait for it; 1e-9 forgives
             * rounding */
            if (pl->node != x->to || pl->start >= waiting[i] || pl->start < x->finish * (1 - 1e-9))
                continue;
            for (uint32_t c = 0; c < consumers; c++)
                if (consumer[c] == pl->task) {
                    waiting[i] = pl->start;
                    to[i] = lane;
                    break;
                }
        }
        if (from[i] != UINT32_MAX && to[i] != UINT32_MAX)
            array_push(&t->arrows,
                       (struct timeline_arrow){x->start, x->finish, from[i], to[i], (uint32_t)i});
    }
    free(from);
    free(to);
    free(waiting);
}

/* `busy` is in core seconds. The caller frees. */
static char *static_subtitle(const struct static_plan *s, double busy)
{
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    double makespan = plan_makespan(s->plan);
    uint32_t used = plan_nodes_used(s->plan, s->p);
    strbuf_printf(&text, "makespan %s", human_seconds(number, makespan));
    strbuf_printf(&text, ", %s task%s", human_count(number, s->w->ntasks), plural(s->w->ntasks));
    if (s->plan->placements.n > s->w->ntasks)
        strbuf_printf(&text, " in %s copies", human_count(number, s->plan->placements.n));
    strbuf_printf(&text, " on %u of %u node%s", used, s->p->nnodes, plural(s->p->nnodes));
    if (makespan > 0)
        strbuf_printf(
            &text, ", %s of the cores' time busy",
            human_percent(number, busy / (makespan * (double)platform_total_cores(s->p))));
    if (s->plan->transfers.n)
        strbuf_printf(&text, ", %s transfer%s", human_count(number, s->plan->transfers.n),
                      plural(s->plan->transfers.n));
    return strbuf_steal(&text);
}

/* What the numbers on the bars mean: each constraint that pinned something, in order. */
static void explain_pins(const struct static_plan *s, struct timeline *t)
{
    const struct plan *plan = s->plan;
    size_t *tasks = mem_new_zero(size_t, plan->constraints.n + 1);
    for (size_t i = 0; i < plan->pins.n; i++)
        if (plan->pins.at[i].constraint <= plan->constraints.n)
            tasks[plan->pins.at[i].constraint]++;
    for (size_t i = 1; i <= plan->constraints.n; i++) {
        if (!tasks[i])
            continue;
        struct strbuf text = {0};
        char number[HUMAN_SIZE];
        strbuf_printf(&text, "%s task%s pinned by %s", human_count(number, tasks[i]),
                      plural(tasks[i]), plan->constraints.at[i - 1]);
        array_push(&t->marks, (struct timeline_mark){(uint32_t)i, strbuf_steal(&text)});
    }
    free(tasks);
}

static void static_svg(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct strbuf *out, const struct gantt_options *options)
{
    struct static_plan s = {plan, w, p, plan_pins_by_task(plan, w->ntasks)};
    struct kinds kinds;
    kinds_of(&kinds, w);
    struct timeline t = {
        .kinds = &kinds,
        .context = &s,
        .group_name = gantt_node_name,
        .describe = gantt_describe,
        .describe_arrow = describe_transfer,
        .end = plan_makespan(plan),
        .end_label = "makespan",
        .width = options ? options->width : 0,
        .from = options ? options->from : 0,
        .to = options ? options->to : 0,
    };
    /* lanes first: bars name them by index */
    lane_list lanes = {0};
    list_lanes(&s, options && options->used_only, &lanes);
    for (size_t i = 0; i < lanes.n; i++)
        array_push(&t.lanes, lanes.at[i].node);
    double busy = 0;
    bool copies = false;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *pl = &plan->placements.at[i];
        if (!gantt_usable(pl, w, p))
            continue;
        uint32_t span = gantt_cores(pl, w, p);
        busy += (pl->finish - pl->start) * span;
        copies = copies || pl->copy;
        array_push(&t.bars, (struct timeline_bar){pl->start, pl->finish,
                                                  gantt_find_lane(&lanes, pl->node, pl->core), span,
                                                  (uint32_t)i, kinds.colour[pl->task], pl->copy > 0,
                                                  false, s.pinned ? s.pinned[pl->task] : 0});
    }
    /* arrows only where they can be followed with the eye, and only in pictures with single bars */
    bool arrows =
        plan->transfers.n <= ARROWS_MOST && plan->placements.n <= TIMELINE_BARS && lanes.n <= 64;
    if (arrows && !(options && options->no_transfers))
        add_arrows(&s, &lanes, &t);
    t.title = gantt_title(plan, w, p, options);
    t.subtitle = static_subtitle(&s, busy);
    struct strbuf note = {0};
    char *idle = idle_note(&s, options && options->used_only);
    strbuf_add(&note, idle ? idle : "");
    strbuf_add(&note, copies ? "Pale bars with a dashed edge are further copies of a task." : "");
    t.note = note.n ? strbuf_steal(&note) : NULL;
    strbuf_free(&note);
    free(idle);
    if (s.pinned)
        explain_pins(&s, &t);
    timeline_svg(&t, out);
    free(s.pinned);
    array_free(&lanes);
    kinds_free(&kinds);
}

void report_gantt_svg(const struct plan *plan, const struct workflow *w,
                      const struct platform *platform, struct strbuf *out,
                      const struct gantt_options *options)
{
    switch (plan->kind) {
    case PLAN_STATIC:
        static_svg(plan, w, platform, out, options);
        break;
    case PLAN_PARTITION:
        gantt_partition_svg(plan, w, platform, out, options);
        break;
    case PLAN_STREAM:
        gantt_stream_svg(plan, w, platform, out, options);
        break;
    case PLAN_ORDER:
        gantt_order_svg(plan, w, platform, out, options);
        break;
    }
}
