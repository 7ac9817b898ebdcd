/* A plan whose agents are not all there: it is made again for those that are (following.h).
 *
 *     what happened            is given: tasks that have ended or run are where they are, and took what they took
 *     the order of the plan    stays: its edges are in the run's workflow, and the store counts them
 *     tasks of who is gone     find other nodes, under the same constraints
 *     tasks of who is there    stay; only if there is no schedule so, those that have not begun move, too
 *
 * A1. What is given is said in the constraints' own words, requirements on `task-assigned-proc-id`: so the search
 *     needs to know nothing of runs. Nodes that are gone stay in the platform, since names and numbers of
 *     processors are the constraints'; nothing more is placed on them.
 * A2. Times of the new plan begin when it is made. Whether requirements hold is asked of the schedule that the
 *     run is expected to have from here on, not of the one that the search has in mind.
 * A3. A task that begins elsewhere while we plan was not given, and runs where it runs: the verdict at the end of
 *     the run is about what happened. */
#include "session/replan.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds for each search: agents wait a little longer before they share out what nobody planned
 * (cluster/agent/job_told.c). */
static const char search_limit[] = "2s";

/* Seconds: nothing begins in the very moment in which another ends. */
static const double a_moment = 1e-6;

void replan_free(struct replan *a)
{
    free(a->gone);
    free(a->node);
    free(a->state);
    free(a->at);
    free(a->stated);
    free(a->took);
    free(a->needs);
}

/* ---- what is given ---- */

const struct member *replan_agent(const struct client *c, uint32_t agent)
{
    size_t n;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        if (m[i].node == agent && client_is_alive(c, &m[i]))
            return &m[i];
    return NULL;
}

static uint32_t replan_node_of(const struct following *f, uint32_t agent)
{
    for (uint32_t n = 0; n < f->platform->nnodes; n++)
        if (f->agent[n] == agent)
            return n;
    return NONE;
}

void replan_look(struct replan *a, const struct client *c, const struct client_follow *follow)
{
    const struct workflow *w = a->s->w;
    const struct following *f = a->f;
    const struct platform *p = f->platform;
    a->now = client_follow_now(follow);
    a->gone = mem_new_zero(bool, (size_t)p->nnodes + 1);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        const struct member *m = f->agent[n] != NONE ? replan_agent(c, f->agent[n]) : NULL;
        a->gone[n] = !m || m->state == BOARD_LEAVING;
    }
    a->node = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    a->state = mem_new_zero(uint8_t, (size_t)w->ntasks + 1);
    for (size_t i = f->plan->placements.n; i-- > 0;)
        a->node[f->plan->placements.at[i].task] = f->plan->placements.at[i].node;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t agent, node;
        bool ended;
        if (!client_follow_began(follow, t, &agent, &ended))
            continue;
        node = replan_node_of(f, agent);
        if (!ended && !replan_agent(c, agent))
            continue; /* it ran where nothing runs any more */
        a->state[t] = ended ? REPLAN_ENDED : REPLAN_RUNS;
        a->node[t] = node != NONE ? node : a->node[t];
    }
    a->at = mem_new_zero(struct placement, (size_t)w->ntasks + 1);
    following_happened(a->s, a->at);
}

/* Work that gives on its node the seconds that it took; of others what they are expected to take. Words of agents
 * are no attributes that nodes of a platform have. */
void replan_dress_workflow(struct replan *a)
{
    struct workflow *w = a->s->w;
    size_t n = w->ntasks;
    a->stated = mem_new(double, n + 1);
    a->took = mem_new(double, n + 1);
    memcpy(a->stated, w->work, n * sizeof *a->stated);
    memcpy(a->took, w->work, n * sizeof *a->took);
    for (uint32_t t = 0; t < n; t++)
        if (a->at[t].task != NONE && a->state[t] == REPLAN_ENDED)
            a->took[t] = (a->at[t].finish - a->at[t].start) * a->f->platform->speed[a->at[t].node];
    workflow_set_work(w, a->took, NULL);
    if (!w->needs)
        return;
    uint64_t kept =
        a->f->guide.attributes < 64 ? (UINT64_C(1) << a->f->guide.attributes) - 1 : UINT64_MAX;
    a->needs = mem_new(uint64_t, n + 1);
    memcpy(a->needs, w->needs, n * sizeof *a->needs);
    for (uint32_t t = 0; t < n; t++)
        w->needs[t] &= kept;
}

void replan_undress_workflow(struct replan *a)
{
    struct workflow *w = a->s->w;
    workflow_set_work(w, a->stated, NULL);
    if (a->needs)
        memcpy(w->needs, a->needs, w->ntasks * sizeof *a->needs);
}

static bool replan_pins(const struct replan *a, uint32_t task, bool all)
{
    return a->state[task] != REPLAN_WAITS || (!all && !a->gone[a->node[task]]);
}

/* A1: one requirement on the processor of some tasks. */
static void replan_require(const struct replan *a, struct strbuf *out, bool pinned, bool all,
                           uint32_t node)
{
    struct strbuf ids = {0};
    for (uint32_t t = 0; t < a->s->w->ntasks; t++)
        if (replan_pins(a, t, all) == pinned && (!pinned || a->node[t] == node))
            strbuf_printf(&ids, "%s%u", ids.n ? ", " : "", t + 1);
    if (ids.n)
        strbuf_printf(out,
                      "\nassert relationship requirement ((select task-assigned-proc-id from task "
                      "where task-id in (%s)) %s %u);",
                      ids.at, pinned ? "=" : "<>", node + 1);
    strbuf_free(&ids);
}

/* `all`: whatever has not begun may move. */
static void replan_put_given(const struct replan *a, bool all, struct strbuf *out)
{
    for (uint32_t n = 0; n < a->f->platform->nnodes; n++) {
        replan_require(a, out, true, all, n);
        if (a->gone[n])
            replan_require(a, out, false, all, n);
    }
}

/* ---- the search ---- */

typedef ARRAY(struct option_value) replan_options;

/* Those of the plan, if the same planner made it. */
static void replan_take_options(const struct plan *plan, const char *assertion, replan_options *out)
{
    bool same = plan->planner && strcmp(plan->planner, "constraints") == 0, limited = false;
    for (size_t i = 0; same && i < plan->options.n; i++) {
        const struct plan_option *o = &plan->options.at[i];
        if (assertion && strcmp(o->name, "assert") == 0)
            continue;
        limited |= strcmp(o->name, "limit") == 0;
        array_push(out, (struct option_value){o->name, o->value});
    }
    if (assertion)
        array_push(out, (struct option_value){"assert", assertion});
    if (!limited)
        array_push(out, (struct option_value){"limit", search_limit});
}

static const char *replan_assertion(const struct plan *plan)
{
    for (size_t i = 0; i < plan->options.n; i++)
        if (strcmp(plan->options.at[i].name, "assert") == 0)
            return plan->options.at[i].value;
    return "";
}

bool replan_has_constraints(const struct session *s, const struct plan *plan)
{
    replan_options options = {0};
    replan_take_options(plan, NULL, &options);
    bool given = constraints_are_given(
        &(struct plan_request){.workflow = s->w, .options = options.at, .noptions = options.n});
    array_free(&options);
    return given;
}

/* A2: what is left begins now, in the order of the plan. A core is free when what is before it has ended. */
static void replan_expect(struct replan *a, const struct plan *plan)
{
    const struct workflow *w = a->s->w;
    const struct platform *p = a->f->platform;
    size_t cores = 0, *first = mem_new(size_t, (size_t)p->nnodes + 1);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        first[n] = cores;
        cores += p->cores[n] ? p->cores[n] : 1;
    }
    double *free_at = mem_new_zero(double, cores + 1);
    for (size_t i = 0; i < plan->placements.n; i++) {
        struct placement x = plan->placements.at[i];
        struct placement *to = &a->at[x.task];
        double *core = &free_at[first[x.node] + x.core];
        if (a->state[x.task] != REPLAN_ENDED || to->task == NONE) {
            double length = x.finish - x.start;
            x.start = a->state[x.task] == REPLAN_WAITS ? fmax(a->now, *core) : *core;
            for (uint32_t e = w->pred_off[x.task]; e < w->pred_off[x.task + 1]; e++)
                x.start = fmax(x.start, a->at[w->pred_task[e]].finish + a_moment);
            x.finish = fmax(x.start + length, a->state[x.task] == REPLAN_RUNS ? a->now : 0);
            *to = x;
        }
        *core = fmax(*core, to->finish);
    }
    free(free_at);
    free(first);
}

/* The first requirement that would not hold, into `err`. */
static bool replan_would_hold(struct replan *a, const struct plan *plan,
                              const struct plan_request *request, struct error *err)
{
    constraint_outcomes outcomes = {0};
    struct placement *before = mem_new(struct placement, (size_t)a->s->w->ntasks + 1);
    memcpy(before, a->at, a->s->w->ntasks * sizeof *before);
    replan_expect(a, plan);
    bool good = constraints_judge(request, a->at, a->s->w->ntasks, &outcomes, err);
    for (size_t i = 0; i < outcomes.n && good; i++)
        if (outcomes.at[i].requirement && !outcomes.at[i].held)
            good = error_set(err, ERROR_INFEASIBLE, "%.300s would not hold", outcomes.at[i].text);
    if (!good)
        memcpy(a->at, before, a->s->w->ntasks * sizeof *before);
    free(before);
    constraint_outcomes_free(&outcomes);
    return good;
}

/* NULL: there is none, and why. */
static struct plan *replan_search(struct replan *a, bool all, struct error *err)
{
    struct strbuf given = {0};
    replan_options options = {0};
    strbuf_add(&given, replan_assertion(a->f->plan));
    replan_put_given(a, all, &given);
    replan_take_options(a->f->plan, strbuf_text(&given), &options);
    struct plan_request request = {.workflow = a->s->w,
                                   .platform = a->f->platform,
                                   .options = options.at,
                                   .noptions = options.n,
                                   .seed = 1};
    const struct planner *planner = planner_find("constraints");
    struct plan *plan = a->f->lent ? planner_run(planner, &request, err)
                                   : following_search(a->s, planner, &request, a->f->platform, err);
    if (plan && !replan_would_hold(a, plan, &request, err)) {
        plan_free(plan);
        plan = NULL;
    }
    array_free(&options);
    strbuf_free(&given);
    return plan;
}

/* ---- what comes of it ---- */

void replan_name_nodes(const struct replan *a, const bool *which, struct strbuf *out)
{
    for (uint32_t n = 0; n < a->f->platform->nnodes; n++)
        if (which[n])
            strbuf_printf(out, "%s'%.100s'", out->n ? ", " : "",
                          platform_node_name(a->f->platform, n));
}

/* Agents are told, and our own workflow says so, too. */
static void replan_tell(struct replan *a, struct client_follow *follow,
                        const struct guide_place *moved, size_t n)
{
    for (size_t i = 0; i < n; i++)
        workflow_place(a->s->w, moved[i].task, moved[i].node);
    client_follow_place(follow, moved, n);
}

size_t replan_move(struct replan *a, struct client_follow *follow, const struct plan *plan,
                   bool *to)
{
    struct following *f = a->f;
    ARRAY(struct guide_place) moved = {0};
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (a->state[x->task] != REPLAN_WAITS || a->node[x->task] == x->node)
            continue;
        array_push(&moved, (struct guide_place){x->task, f->agent[x->node]});
        f->home[x->task] = f->agent[x->node];
        to[x->node] = true;
    }
    size_t n = moved.n;
    replan_tell(a, follow, moved.at, n);
    array_free(&moved);
    return n;
}

/* Whoever likes does what is left of those that are gone. */
static void replan_leave_open(struct replan *a, struct client_follow *follow)
{
    ARRAY(struct guide_place) moved = {0};
    for (uint32_t t = 0; t < a->s->w->ntasks; t++)
        if (a->state[t] == REPLAN_WAITS && a->gone[a->node[t]])
            array_push(&moved, (struct guide_place){t, NONE});
    replan_tell(a, follow, moved.at, moved.n);
    array_free(&moved);
}

/* The plan that is followed is the new one: the verdict at the end asks it where a task was to be. */
static void replan_place(struct replan *a, struct client_follow *follow, const struct plan *plan)
{
    struct following *f = a->f;
    bool *to = mem_new_zero(bool, (size_t)f->platform->nnodes + 1);
    struct strbuf gone = {0}, there = {0};
    size_t moved = replan_move(a, follow, plan, to);
    for (size_t i = 0; i < f->plan->placements.n; i++) {
        struct placement *x = &f->plan->placements.at[i];
        *x = a->at[x->task];
    }
    replan_name_nodes(a, a->gone, &gone);
    replan_name_nodes(a, to, &there);
    if (moved)
        remark(&a->s->o.remarks, REMARK_WARNING,
               "%s %s gone: %zu task%s planned again under the same constraints, on %s",
               strbuf_text(&gone), strchr(strbuf_text(&gone), ',') ? "are" : "is", moved,
               moved == 1 ? " was" : "s were", strbuf_text(&there));
    strbuf_free(&gone);
    strbuf_free(&there);
    free(to);
}

static bool replan_plan(struct replan *a, struct client_follow *follow, struct error *err)
{
    struct error why = {0};
    replan_dress_workflow(a);
    struct plan *plan = replan_search(a, false, &why);
    if (!plan) {
        why = (struct error){0};
        plan = replan_search(a, true, &why);
    }
    replan_undress_workflow(a);
    if (plan) {
        replan_place(a, follow, plan);
        plan_free(plan);
        return true;
    }
    struct strbuf gone = {0};
    replan_name_nodes(a, a->gone, &gone);
    error_set(err, why.kind,
              "%s %s gone, and nodes that are left cannot do the rest under the plan's "
              "requirements (%.400s); what is done stays: run again when all are back, or with "
              "--follow order, which goes on without",
              strbuf_text(&gone), strchr(strbuf_text(&gone), ',') ? "are" : "is", why.text);
    strbuf_free(&gone);
    return false;
}

bool following_gone(struct session *s, const struct client *client, struct client_follow *follow,
                    struct error *err)
{
    struct replan a = {.s = s, .f = s->following};
    if (!a.f || !a.f->begun || !a.f->agent || a.f->follow != FOLLOW_STRICT)
        return true;
    bool good = true, lost = false, left = false;
    replan_look(&a, client, follow);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        lost |= a.state[t] == REPLAN_WAITS && a.gone[a.node[t]];
    for (uint32_t n = 0; n < a.f->platform->nnodes; n++)
        left |= !a.gone[n];
    /* with nobody left there is nothing to plan for: the run waits until somebody comes */
    if (lost && left && replan_has_constraints(s, a.f->plan))
        good = replan_plan(&a, follow, err);
    else if (lost && left)
        replan_leave_open(&a, follow);
    replan_free(&a);
    return good;
}

/* ---- before it begins ---- */

/* Seconds that the plan gives each task, as work. */
static double *replan_planned_work(const struct session *s, const struct following *f)
{
    double *work = mem_new(double, (size_t)s->w->ntasks + 1);
    memcpy(work, s->w->work, s->w->ntasks * sizeof *work);
    for (size_t i = 0; i < f->plan->placements.n; i++) {
        const struct placement *x = &f->plan->placements.at[i];
        work[x->task] = (x->finish - x->start) * f->platform->speed[x->node];
    }
    return work;
}

bool following_plan_anew(struct session *s, const struct client *client, const struct error *why,
                         struct error *err)
{
    const struct following *f = s->following;
    if (!replan_has_constraints(s, f->plan))
        return error_set(err, why->kind, "%s", why->text);
    uint32_t *numbers = NULL;
    replan_options options = {0};
    double *work = replan_planned_work(s, f);
    workflow_set_work(s->w, work, NULL);
    free(work);
    replan_take_options(f->plan, NULL, &options);
    struct platform *p = following_agents(s, client, &numbers, err);
    struct plan_request request = {
        .workflow = s->w, .platform = p, .options = options.at, .noptions = options.n, .seed = 1};
    bool named = p && following_names_nodes(s, &request, p, err);
    struct plan *plan =
        named ? following_search(s, planner_find("constraints"), &request, p, err) : NULL;
    array_free(&options);
    uint32_t nodes = p ? p->nnodes : 0;
    bool good = plan && following_take(s, plan, p, false, FOLLOW_STRICT, err);
    if (!plan)
        platform_free(p);
    if (!good) {
        free(numbers);
        return false;
    }
    s->following->agent = numbers;
    remark(&s->o.remarks, REMARK_WARNING,
           "%s: planned again under the plan's constraints, for the %u agent%s that %s there",
           why->text, nodes, nodes == 1 ? "" : "s", nodes == 1 ? "is" : "are");
    return true;
}
