/* The wishes of the environment paper, executed: program graphs whose tasks wait their time, planned
 * under the wishes of Figure 8, Table 1 and Figure 9, and run by agents of this machine.
 *
 *     graph ── times scaled, no data ──▶ FOLDER/executed/NAME.yaml ─┐
 *       └────── constraints ──────────▶ FOLDER/executed/NAME.json ─┴▶ runner ──▶ when and where tasks ended
 *
 * Data is left out: on one machine it takes no time, and the simulated part has it. What comes out depends
 * on how busy the machine is, so it stands in a file of its own, not in the report that repeats. */
#include "study/environment_trials.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "formats/format.h"
#include "model/builder.h"
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of all tasks of a graph together: so long that what an agent needs to start a task (some
 * hundredths of a second) matters little, and so short that the study ends in minutes. */
static const double SERIAL_SECONDS = 4, SERIAL_QUICK = 1;
enum { EXECUTED_GRAPHS = 6, EXECUTED_AGENTS = 3 };

/* A wish, and who judges whether it came true. */
enum executed_wish { WISH_EARLY, WISH_ORDER, WISH_ASSIGNED, EXECUTED_WISHES };

static const struct {
    const char *name, *file;
    const char *nodes[EXECUTED_AGENTS]; /* NULL: fewer */
} executed_wish[EXECUTED_WISHES] = {
    {"Figure 8: oddvar finishes at least twice as late as norge", "early", {"oddvar", "norge"}},
    {"Table 1: outputs in the order asked for", "order", {"oddvar", "norge", "willow"}},
    {"Figure 9: all \"Display Image\" tasks on willow", "assigned", {"oddvar", "norge", "willow"}},
};

/* One graph under one wish. */
struct executed_trial {
    enum executed_wish wish;
    struct workflow *w;
    struct platform *p;
    struct plan *plan;
    uint32_t *outputs, noutputs; /* WISH_ORDER: in the order asked for */
    double *finish;              /* by task, as it happened */
    uint32_t *agent;
};

struct executed_row {
    uint32_t graphs, planned, held,
        placed;    /* held: when executed; placed: each task where planned */
    double longer; /* sum of executed / planned */
};

/* The same tasks and edges; each waits for its share of the seconds. */
static struct workflow *executed_workflow(const struct workflow *w, double serial,
                                          struct error *err)
{
    struct builder *b = builder_new("<generated>", "native");
    double sum = 0;
    char command[64];
    for (uint32_t t = 0; t < w->ntasks; t++)
        sum += w->work[t];
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t), *kind = workflow_text(w, w->kind[t]);
        double seconds = w->work[t] * serial / sum;
        builder_task(b, name, strlen(name), 0);
        builder_kind(b, t, kind, strlen(kind));
        builder_work(b, t, seconds, 0);
        builder_command(b, t, command,
                        (size_t)snprintf(command, sizeof command, "sleep %.4f", seconds));
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            builder_edge(b, t, w->succ_task[e], 0);
    return builder_finish(b, err);
}

/* Where its file will be: the plan names it. */
static void executed_path(const struct environment_study *s, const char *name,
                          enum executed_wish wish, const char *suffix, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/executed/%s-%s.%s", s->o->folder, name, executed_wish[wish].file,
                  suffix);
}

static struct platform *executed_platform(const struct environment_study *s,
                                          enum executed_wish wish, struct error *err)
{
    struct strbuf file = {0};
    executed_path(s, "nodes", wish, "yaml", &file);
    struct platform_builder *b = platform_builder_new(file_basename(file.at));
    strbuf_free(&file);
    for (int i = 0; i < EXECUTED_AGENTS && executed_wish[wish].nodes[i]; i++)
        platform_builder_node(b, executed_wish[wish].nodes[i], strlen(executed_wish[wish].nodes[i]),
                              0);
    return platform_builder_finish(b, err);
}

/* In the paper's words, as in the simulated part, in addition to the default constraints; orders as
 * requirements. */
static struct plan *executed_plan(struct environment_study *s, struct executed_trial *t,
                                  uint64_t seed, struct error *err)
{
    struct strbuf more = {0};
    if (t->wish == WISH_ORDER) {
        t->outputs = mem_new(uint32_t, t->w->ntasks);
        t->noutputs = environment_outputs(t->w, seed, t->outputs);
        environment_add_orders(&more, "requirement", t->outputs, t->noutputs);
    } else {
        strbuf_add(&more,
                   t->wish == WISH_EARLY ? environment_early_rules : environment_assigned_rules);
    }
    struct option_value values[] = {{"assert", strbuf_text(&more)}, {"limit", "20s"}};
    struct plan_request request = {
        .workflow = t->w, .platform = t->p, .options = values, .noptions = 2, .seed = s->o->seed};
    struct plan *plan = planner_run(planner_find("constraints"), &request, err);
    strbuf_free(&more);
    return plan;
}

/* Files that a user can run again: weft run NAME.yaml --plan NAME.json --on local:3 --force */
static bool executed_run(const struct environment_study *s, const char *name,
                         struct executed_trial *t, struct error *err)
{
    struct strbuf flow = {0}, plan = {0}, nodes = {0}, text = {0}, dropped = {0};
    executed_path(s, name, t->wish, "yaml", &flow);
    executed_path(s, name, t->wish, "json", &plan);
    executed_path(s, "nodes", t->wish, "yaml", &nodes);
    t->finish = mem_new_zero(double, t->w->ntasks);
    t->agent = mem_new_zero(uint32_t, t->w->ntasks);
    plan_json_write(t->plan, t->w, t->p, &text);
    bool good =
        make_parents(flow.at, err) &&
        format_write_workflow(flow.at, format_find("native"), t->w, &dropped, err) &&
        format_write_platform(nodes.at, format_find("native"), t->p, &dropped, err) &&
        file_write(plan.at, text.at, text.n, err) &&
        s->o->runner->run(flow.at, plan.at, t->p->nnodes, t->w->ntasks, t->finish, t->agent, err);
    strbuf_free(&flow);
    strbuf_free(&plan);
    strbuf_free(&nodes);
    strbuf_free(&text);
    strbuf_free(&dropped);
    return good;
}

/* ---- judged ---- */

/* Agents have no names: one is a node of the plan when it has that node's tasks and no others'. */
static bool executed_as_placed(const struct executed_trial *t)
{
    uint32_t agent_of[EXECUTED_AGENTS], node_of[EXECUTED_AGENTS];
    for (int i = 0; i < EXECUTED_AGENTS; i++)
        agent_of[i] = node_of[i] = NONE;
    for (size_t i = 0; i < t->plan->placements.n; i++) {
        const struct placement *x = &t->plan->placements.at[i];
        uint32_t agent = t->agent[x->task];
        if (agent >= EXECUTED_AGENTS || (agent_of[x->node] != NONE && agent_of[x->node] != agent) ||
            (node_of[agent] != NONE && node_of[agent] != x->node))
            return false;
        agent_of[x->node] = agent;
        node_of[agent] = x->node;
    }
    return true;
}

/* By the end of each task: as planned, or as it happened. */
static bool executed_holds(const struct executed_trial *t, const double *finish)
{
    double end[EXECUTED_AGENTS] = {0};
    uint32_t willow = platform_find_node(t->p, "willow");
    bool good = true;
    for (size_t i = 0; i < t->plan->placements.n; i++) {
        const struct placement *x = &t->plan->placements.at[i];
        end[x->node] = fmax(end[x->node], finish[x->task]);
        if (t->wish == WISH_ASSIGNED &&
            strcmp(workflow_text(t->w, t->w->kind[x->task]), "Display Image") == 0)
            good &= x->node == willow;
    }
    for (uint32_t i = 1; t->wish == WISH_ORDER && i < t->noutputs; i++)
        good &= finish[t->outputs[i - 1]] <= finish[t->outputs[i]] + 1e-9;
    if (t->wish == WISH_EARLY)
        good &= end[0] >= 2 * end[1] - 1e-9;
    return good;
}

static void executed_judge(const struct executed_trial *t, struct executed_row *row)
{
    double *planned = mem_new_zero(double, t->w->ntasks), last = 0;
    for (size_t i = 0; i < t->plan->placements.n; i++)
        planned[t->plan->placements.at[i].task] = t->plan->placements.at[i].finish;
    for (uint32_t k = 0; k < t->w->ntasks; k++)
        last = fmax(last, t->finish[k]);
    bool placed = executed_as_placed(t);
    row->graphs++;
    row->placed += placed;
    row->planned += executed_holds(t, planned);
    row->held += placed && executed_holds(t, t->finish);
    row->longer += last / plan_makespan(t->plan);
    free(planned);
}

static bool executed_one(struct environment_study *s, size_t i, enum executed_wish wish,
                         struct executed_row *row, struct error *err)
{
    struct executed_trial t = {.wish = wish};
    struct workflow *graph = image_graph(&s->shapes[i], err);
    t.w = graph ? executed_workflow(graph, s->o->quick ? SERIAL_QUICK : SERIAL_SECONDS, err) : NULL;
    t.p = t.w ? executed_platform(s, wish, err) : NULL;
    t.plan = t.p ? executed_plan(s, &t, s->shapes[i].seed, err) : NULL;
    bool good = t.plan && executed_run(s, s->shapes[i].name, &t, err);
    if (good)
        executed_judge(&t, row);
    plan_free(t.plan);
    platform_free(t.p);
    workflow_free(t.w);
    workflow_free(graph);
    free(t.outputs);
    free(t.finish);
    free(t.agent);
    return good;
}

bool environment_execute(struct environment_study *s, struct strbuf *out, struct error *err)
{
    struct executed_row row[EXECUTED_WISHES] = {0};
    size_t graphs = s->o->quick ? 1 : EXECUTED_GRAPHS;
    bool good = true;
    for (size_t i = 0; i < graphs && i < s->count; i++)
        for (int k = 0; k < EXECUTED_WISHES && good; k++) {
            progress_report(s->o->progress, (double)i / (double)graphs, "executed");
            good = executed_one(s, i, (enum executed_wish)k, &row[k], err);
        }
    strbuf_printf(
        out,
        "## Executed by agents of this machine\n\n"
        "The same wishes, really executed, of the first graphs (%zu): tasks wait their time, "
        "scaled to\n%g s for all tasks of a graph, and hand over no data. An agent stands for each "
        "of two or three\nprocessors, and each keeps to its plan. Workflows and plans stand in "
        "`executed/`: `weft run NAME.yaml\n--plan NAME.json --on local:3 --force` runs one again. "
        "How long tasks take depends on what else the\nmachine does; orders and places do not.\n\n"
        "| wish | in the schedule | executed | tasks where planned | time, executed / planned |\n"
        "|---|---|---|---|---|\n",
        graphs, s->o->quick ? SERIAL_QUICK : SERIAL_SECONDS);
    for (int k = 0; k < EXECUTED_WISHES; k++)
        strbuf_printf(out, "| %s | %u of %u | %u of %u | %u of %u | %.2f |\n",
                      executed_wish[k].name, row[k].planned, row[k].graphs, row[k].held,
                      row[k].graphs, row[k].placed, row[k].graphs,
                      row[k].graphs ? row[k].longer / row[k].graphs : NAN);
    return good;
}
