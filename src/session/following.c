/* Following a plan on this machine, and judging a run by its constraints: following.h.
 *
 * Nodes of a plan need not be there for a local run: a node is a row of cores, and a core is whatever lane
 * of the executor is free. That two tasks of one core never overlap, and come in its order, is all that
 * a processor is to a constraint. */
#include "session/following.h"

#include "base/mem.h"
#include "base/plural.h"
#include "drive/order.h"
#include "session/in_memory.h"
#include "model/future.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void following_free(struct following *f)
{
    if (!f)
        return;
    plan_free(f->plan);
    if (!f->lent)
        platform_free(f->platform);
    guide_free(&f->guide);
    free(f->agent);
    free(f->home);
    array_free(&f->spilled);
    paces_free(f->paces);
    free(f);
}

/* ---- choosing ---- */

/* What waits, or was put somewhere because a constraint asks for it, is to be kept. */
static bool following_is_constrained(const struct plan *plan)
{
    return plan->waits.n || plan->pins.n ||
           (plan->planner && strcmp(plan->planner, "constraints") == 0);
}

/* Cores that tasks are placed on: of each node the largest number that is used. A plan for a node of 64 that
 * uses two of them in a row takes two. */
static uint32_t following_cores(const struct following *f)
{
    const struct plan *plan = f->plan;
    uint32_t nodes = f->platform->nnodes, cores = 0;
    uint32_t *used = mem_new_zero(uint32_t, (size_t)nodes + 1);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *p = &plan->placements.at[i];
        used[p->node] = p->core + 1 > used[p->node] ? p->core + 1 : used[p->node];
    }
    for (uint32_t n = 0; n < nodes; n++)
        cores += used[n];
    free(used);
    return cores;
}

static bool following_check_here(const struct session *s, const struct following *f,
                                 struct error *err)
{
    uint32_t cores = following_cores(f);
    if (f->follow != FOLLOW_STRICT || s->o.elsewhere || cores <= s->cores)
        return true;
    return error_set(err, ERROR_INFEASIBLE,
                     "the plan uses %u core%s (%s), and this run has %u; run with -j %u, plan for "
                     "%u, or take its order alone with --follow order",
                     cores, plural(cores),
                     f->plan->platform_name ? f->plan->platform_name : "its platform", s->cores,
                     cores, s->cores);
}

/* What nobody knows yet cannot be planned, and comes behind what is. */
static bool following_check_kind(const struct session *s, const struct following *f,
                                 struct error *err)
{
    if (f->plan->kind == PLAN_STREAM)
        return error_set(err, ERROR_INPUT,
                         "a plan for a stream of items; `weft run` runs a workflow once");
    if (f->follow == FOLLOW_STRICT && workflow_is_open(s->w))
        return error_set(err, ERROR_INFEASIBLE,
                         "the workflow grows while it runs, and no plan has the tasks that join; "
                         "--follow order prefers tasks in the plan's order");
    return true;
}

/* Edges stand in arrays that a growing workflow lengthens in its own way. */
static bool following_can_grow(const struct session *s, const struct following *f,
                               struct error *err)
{
    if (!f->guide.edges.n || !workflow_is_open(s->w))
        return true;
    return error_set(
        err, ERROR_INFEASIBLE,
        "the workflow grows while it runs, and the plan waits for tasks; --follow hint "
        "prefers tasks in the plan's order");
}

/* A plan of parts becomes one of rows, a part a row. NULL: it cannot be; the plan is freed either way. */
static struct plan *following_rows(const struct session *s, struct plan *plan,
                                   const struct platform *platform, struct error *err)
{
    if (plan->kind != PLAN_PARTITION || plan->placements.n)
        return plan;
    struct plan *rows = plan_of_parts(plan, s->w, platform, err);
    plan_free(plan);
    return rows;
}

/* Files that a plan writes to disk between two tasks of a row: where files are in memory, that is done, and only in that order.
 * Else this machine has its files on the disk anyway. */
static bool following_writes_out(const struct session *s, const struct plan *plan)
{
    return s->o.in_memory && plan->evictions.n;
}

bool following_take(struct session *s, struct plan *plan, struct platform *platform, bool lent,
                    enum plan_follow follow, struct error *err)
{
    struct following *f = mem_new_zero(struct following, 1);
    plan = following_rows(s, plan, platform, err);
    f->plan = plan;
    f->lent = lent;
    f->platform = platform;
    f->follow = follow != FOLLOW_DEFAULT ? follow
                : plan && (following_is_constrained(plan) || following_writes_out(s, plan))
                    ? FOLLOW_STRICT
                    : FOLLOW_ORDER;
    if (!plan || !following_check_kind(s, f, err) || !in_memory_spills(s, f, err) ||
        !guide_of_plan(&f->guide, s->w, plan, f->follow, err) || !following_can_grow(s, f, err) ||
        !following_check_here(s, f, err)) {
        following_free(f);
        return false;
    }
    following_free(s->following);
    s->following = f;
    session_follow(s, plan);
    return true;
}

/* Every processor has all of the memory: how much tasks hold together the scheduler sees to, which lets one
 * wait and changes no order. A task of several cores needs a node that has them. */
struct platform *following_platform(const struct session *s, bool processors, struct error *err)
{
    uint32_t most = 1;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        most = s->w->cores[t] > most ? s->w->cores[t] : most;
    if (!processors || most > 1)
        return session_platform(s, err);
    struct platform_builder *b = platform_builder_new("this-machine");
    platform_builder_name(b, "this machine", strlen("this machine"));
    for (uint32_t core = 0; core < s->cores; core++) {
        char name[32];
        snprintf(name, sizeof name, "n%u", core + 1);
        uint32_t node = platform_builder_node(b, name, strlen(name), 0);
        platform_builder_memory(b, node, s->memory, 0);
        if (s->o.resources)
            platform_builder_resources(b, node, s->o.resources, strlen(s->o.resources), 0);
    }
    platform_builder_memory_rule(b, MEMORY_TASKS); /* files are on the disk */
    return platform_builder_finish(b, err);
}

/* The text in quotes behind `proc-name =`; NULL: there is none any more. */
static const char *following_next_name(const char *at, size_t *n)
{
    while ((at = strstr(at, "proc"))) {
        at += strlen("proc");
        if ((*at != '-' && *at != '_') || strncmp(at + 1, "name", 4) != 0)
            continue;
        at += 5;
        at += strspn(at, " \t\n\r");
        if (*at != '=')
            continue;
        at++;
        at += strspn(at, " \t\n\r=");
        const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
        if (!end)
            continue;
        *n = (size_t)(end - at - 1);
        return at + 1;
    }
    return NULL;
}

/* A look at the text alone: an expression that makes a name out of parts is not found, and does no harm that
 * it does not do in a plan. O(text x nodes). */
static bool following_text_names_nodes(const char *text, const char *where, uint32_t line,
                                       const struct platform *p, struct error *err)
{
    const char *at = text;
    for (size_t n; (at = following_next_name(at, &n)); at += n) {
        bool there = false;
        for (uint32_t node = 0; node < p->nnodes && !there; node++) {
            const char *name = platform_node_name(p, node);
            there = strlen(name) == n && memcmp(name, at, n) == 0;
        }
        if (there)
            continue;
        char place[32] = "";
        if (line)
            snprintf(place, sizeof place, ":%u", line);
        return error_set(err, ERROR_INFEASIBLE,
                         "%s%s: a constraint names processor '%.*s'; this run has %u, "
                         "called %s%s. `weft plan --on FILE -o plan.json` plans for others, "
                         "`weft run --plan plan.json` follows that",
                         where, place, (int)(n < 100 ? n : 100), at, p->nnodes,
                         platform_node_name(p, 0), p->nnodes > 1 ? " and so on" : "");
    }
    return true;
}

bool following_names_nodes(const struct session *s, const struct plan_request *r,
                           const struct platform *p, struct error *err)
{
    for (uint32_t i = 0; i < s->w->nassertions; i++)
        if (!following_text_names_nodes(workflow_text(s->w, s->w->assertion[i]), s->flow,
                                        s->w->assertion_line[i], p, err))
            return false;
    for (size_t i = 0; i < r->noptions; i++)
        if ((strcmp(r->options[i].name, "assert") == 0 ||
             strcmp(r->options[i].name, "rules") == 0) &&
            !following_text_names_nodes(r->options[i].text, r->options[i].name, 0, p, err))
            return false;
    return true;
}

/* ---- running ---- */

bool following_begin_here(struct session *s, struct error *err)
{
    struct following *f = s->following;
    if (!f)
        return true;
    f->begun = true;
    return workflow_take_guide(s->w, &f->guide, false, err);
}

/* ---- afterwards ---- */

/* The node of the platform that an attempt ran on. A plan that was kept to says it: two tasks of one core
 * never overlapped. Else the lane, where nodes are cores of this machine. */
static uint32_t following_node(const struct session *s, const uint32_t *planned,
                               const struct trace_event *e)
{
    const struct following *f = s->following;
    uint32_t nodes = f->platform->nnodes;
    for (uint32_t n = 0; f->agent && n < nodes; n++)
        if (f->agent[n] == e->node)
            return n;
    if (f->follow == FOLLOW_STRICT && planned[e->id] < nodes)
        return planned[e->id];
    return nodes > 1 && e->lane < nodes ? e->lane : 0;
}

/* Times are the run's own, of the last attempt that was good: what failed before it delayed it, and that is
 * in when it began. */
uint32_t following_happened(const struct session *s, struct placement *at)
{
    const struct following *f = s->following;
    const struct run_record *r = &s->record;
    uint32_t n = s->w->ntasks, count = 0;
    uint32_t *planned = mem_new(uint32_t, (size_t)n + 1);
    for (uint32_t t = 0; t < n; t++) {
        at[t] = (struct placement){.task = NONE};
        planned[t] = NONE;
    }
    for (size_t i = 0; i < f->plan->placements.n; i++)
        planned[f->plan->placements.at[i].task] = f->plan->placements.at[i].node;
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || e->id >= n || e->outcome != TRACE_DONE)
            continue;
        count += at[e->id].task == NONE;
        at[e->id] = (struct placement){.task = e->id,
                                       .node = following_node(s, planned, e),
                                       .start = e->start,
                                       .finish = e->finish};
    }
    /* a task without a command only joins others, and is over when they are */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = s->w->topo[i];
        if (at[t].task != NONE || s->w->command[t])
            continue;
        at[t] = (struct placement){.task = t, .node = planned[t] != NONE ? planned[t] : 0};
        for (uint32_t e = s->w->pred_off[t]; e < s->w->pred_off[t + 1]; e++)
            at[t].start = fmax(at[t].start, at[s->w->pred_task[e]].finish);
        at[t].finish = at[t].start;
        count++;
    }
    free(planned);
    return count;
}

/* Times of several agents are of several clocks, which agree to some milliseconds. What a task waited for
 * had ended before it began, whatever they say: the store counts the edges of workflow and guide. So a task
 * that seems to begin before that is moved to the moment after; how long it took stays. In topological
 * order, with the guide in the workflow. */
static void following_align_clocks(const struct workflow *w, struct placement *at)
{
    for (uint32_t i = 0; i < w->ntasks; i++) {
        struct placement *task = &at[w->topo[i]];
        double after = task->start;
        for (uint32_t e = w->pred_off[w->topo[i]]; e < w->pred_off[w->topo[i] + 1]; e++) {
            const struct placement *before = &at[w->pred_task[e]];
            if (before->task != NONE && before->finish > after)
                after = nextafter(before->finish, INFINITY);
        }
        task->finish += after - task->start;
        task->start = after;
    }
}

/* The constraints' own time of a task is what it took. */
/* All other attributes are as they were planned with. The times that the workflow states are put back: the
 * session may be asked about it afterwards. */
static bool following_ask(struct session *s, const struct placement *at, constraint_outcomes *out,
                          struct error *err)
{
    const struct following *f = s->following;
    uint32_t n = s->w->ntasks;
    double *stated = mem_new(double, (size_t)n + 1), *took = mem_new(double, (size_t)n + 1);
    memcpy(stated, s->w->work, n * sizeof *stated);
    for (uint32_t t = 0; t < n; t++)
        took[t] = (at[t].finish - at[t].start) * f->platform->speed[at[t].node];
    struct option_value *options = mem_new(struct option_value, f->plan->options.n + 1);
    for (size_t i = 0; i < f->plan->options.n; i++)
        options[i] =
            (struct option_value){f->plan->options.at[i].name, f->plan->options.at[i].value};
    workflow_set_work(s->w, took, NULL);
    struct plan_request request = {.workflow = s->w,
                                   .platform = f->platform,
                                   .options = options,
                                   .noptions = f->plan->options.n};
    bool good = !constraints_are_given(&request) || constraints_judge(&request, at, n, out, err);
    workflow_set_work(s->w, stated, NULL);
    free(stated);
    free(took);
    free(options);
    return good;
}

/* Into the record, and what did not hold into `err`. The run itself is done: its record says so, and only
 * whoever waits for it gets the error. */
static bool following_tell(struct session *s, const constraint_outcomes *o, struct error *err)
{
    uint32_t broken = 0, required = 0;
    const char *first = NULL;
    for (size_t i = 0; i < o->n; i++) {
        const struct constraint_outcome *c = &o->at[i];
        required += c->requirement;
        broken += c->requirement && !c->held;
        if (c->requirement && !c->held && !first)
            first = c->text;
        array_push(&s->record.constraints,
                   (struct record_constraint){.text = mem_copy_string(c->text),
                                              .requirement = c->requirement,
                                              .wish = c->wish,
                                              .held = c->held,
                                              .measure = c->measure});
    }
    if (!broken)
        return true;
    return error_set(err, ERROR_FAILED,
                     "all tasks are done, but %u of %u required constraints did not hold in what "
                     "happened: %.300s",
                     broken, required, first);
}

/* An agent was gone, and others took what was placed there. */
static void following_say_moved(const struct session *s)
{
    const struct following *f = s->following;
    const struct run_record *r = &s->record;
    uint32_t moved = 0;
    if (f->follow != FOLLOW_STRICT || !f->home)
        return;
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        moved += e->kind == TRACE_TASK && e->id < s->w->ntasks && e->outcome == TRACE_DONE &&
                 f->home[e->id] != e->node;
    }
    if (moved)
        remark(
            &s->o.remarks, REMARK_WARNING,
            "%u task%s ran on other agents than planned, since theirs %s gone; the order was kept",
            moved, plural(moved), moved == 1 ? "was" : "were");
}

/* Judged is a run in which every task ran: times of results that were there already are of another run. */
bool following_end(struct session *s, bool good, struct error *err)
{
    struct following *f = s->following;
    if (!f)
        return true;
    struct placement *at = mem_new(struct placement, (size_t)s->w->ntasks + 1);
    uint32_t ran = following_happened(s, at);
    if (f->begun && f->agent)
        following_align_clocks(s->w, at);
    if (f->begun)
        workflow_drop_guide(s->w, &f->guide);
    f->begun = false;
    if (!good || s->detached) {
        free(at);
        return true;
    }
    following_say_moved(s);
    constraint_outcomes outcomes = {0};
    struct error why = {0};
    bool held = true;
    if (ran < s->w->ntasks)
        remark(&s->o.remarks, REMARK_INFO,
               "%u of %u task%s did not run this time: constraints are not judged on what happened",
               s->w->ntasks - ran, s->w->ntasks, plural(s->w->ntasks));
    else if (!following_ask(s, at, &outcomes, &why))
        remark(&s->o.remarks, REMARK_WARNING,
               "constraints could not be judged on what happened: %s", why.text);
    else
        held = following_tell(s, &outcomes, err);
    constraint_outcomes_free(&outcomes);
    free(at);
    return held;
}
