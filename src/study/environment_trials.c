/* The studies of the environment paper, run: every program graph is scheduled by the planner
 * `constraints`, checked, executed in the simulator with noise, and judged by what its study asked
 * for. One row a graph and study; nothing is written here. */
#include "study/environment_trials.h"
#include "base/mem.h"
#include "base/rng.h"
#include "experiment/merge.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/constraints/rules.h"
#include "plan/planner.h"
#include "report/gantt.h"
#include "sim/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four versions of two tasks: 16 combinations, as in the paper's experiments. */
enum { VERSIONS = 4 };

/* The paper does not say by how much task times vary; 2 % is a choice, and the report says so. */
const double environment_noise = 0.02;

/* ---- scheduling and executing one graph ---- */

/* Under these constraints: `rules` NULL for the default ones, `more` added to either. */
/* 20 seconds and two million states are far beyond what any of these graphs needs: a guard. */
static struct plan *trial_schedule(const struct environment_study *s, const struct workflow *w,
                                   const struct platform *p, const char *rules, const char *more,
                                   struct error *err)
{
    struct option_value values[4] = {{"limit", "20s"}, {"states", "2000000"}};
    size_t count = 2;
    if (rules)
        values[count++] = (struct option_value){"rules", rules};
    if (more)
        values[count++] = (struct option_value){"assert", more};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = values, .noptions = count, .seed = s->o->seed};
    struct plan *plan = planner_run(planner_find("constraints"), &request, err);
    if (!plan)
        return NULL;
    struct check_result result;
    bool good = check_plan(plan, w, p, &result, err);
    if (good && result.total)
        good = error_set(err, ERROR_FAILED, "%s: a schedule that is not valid: %s",
                         workflow_text(w, w->name), result.violations.at[0].detail);
    check_result_free(&result);
    if (good)
        return plan;
    plan_free(plan);
    return NULL;
}

/* What the paper did on its workstations: tasks take a little more or less than predicted. */
static bool trial_execute(const struct environment_study *s, const struct workflow *w,
                          const struct platform *p, const struct plan *plan,
                          struct replay_result *result, struct error *err)
{
    struct replay_options options;
    replay_options_init(&options);
    options.seed = s->o->seed;
    options.noise = environment_noise;
    return replay_run(w, p, plan, &options, result, err);
}

/* Those that the default constraints allow: used by others at most 3 % of the time. */
static uint32_t selected_processors(const struct platform *p)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < p->nnodes; n++)
        count += p->utilization[n] <= 0.03;
    return count;
}

/* What every study notes of a graph; the rest stays zero. */
static struct environment_row row_of(const char *name, const struct workflow *w,
                                     const struct platform *p, const struct plan *plan,
                                     const struct replay_result *real)
{
    struct environment_row row = {.tasks = w->ntasks,
                                  .dependencies = w->npairs,
                                  .states = constraints_states(plan),
                                  .seconds = plan->planning_seconds,
                                  .planned = plan_makespan(plan),
                                  .executed = real->makespan,
                                  .scheduled = plan_nodes_used(plan, p),
                                  .selected = selected_processors(p)};
    snprintf(row.name, sizeof row.name, "%s", name);
    for (uint32_t t = 0; t < w->ntasks; t++)
        row.serial += w->work[t];
    return row;
}

/* Schedule, execute, note. The plan goes to *kept when that is not NULL. */
static bool run_graph(struct environment_study *s, const char *name, const struct workflow *w,
                      const struct platform *p, const char *rules, const char *more,
                      struct environment_row *row, struct plan **kept, struct replay_result *real,
                      struct error *err)
{
    struct plan *plan = trial_schedule(s, w, p, rules, more, err);
    bool good = plan && trial_execute(s, w, p, plan, real, err);
    if (good)
        *row = row_of(name, w, p, plan, real);
    if (good && kept)
        *kept = plan;
    else
        plan_free(plan);
    return good;
}

static void trial_report_progress(struct environment_study *s, size_t i, const char *what)
{
    progress_report(s->o->progress, (double)i / (double)s->count, what);
}

/* One program graph under one study: what every study of them begins and ends with. */
struct environment_trial {
    struct workflow *w;
    struct platform *p;
    struct plan *plan;
    struct environment_row row;
    struct replay_result real;
};

/* `named`: on the paper's processors of that name. False: an error; trial_end() all the same. */
static bool trial_begin(struct environment_study *s, size_t i, const char *what, bool named,
                        struct environment_trial *t, struct error *err)
{
    trial_report_progress(s, i, what);
    *t = (struct environment_trial){0};
    t->w = image_graph(&s->shapes[i], err);
    t->p = image_workstations(s->shapes[i].seed, named, err);
    return t->w && t->p;
}

/* False: an error. The plan and the replay stay in the trial for the study to judge. */
static bool trial_run(struct environment_study *s, size_t i, const char *rules, const char *more,
                      struct environment_trial *t, struct error *err)
{
    return run_graph(s, s->shapes[i].name, t->w, t->p, rules, more, &t->row, &t->plan, &t->real,
                     err);
}

/* Also after a failure at any point. */
static void trial_end(struct environment_trial *t)
{
    plan_free(t->plan);
    replay_result_free(&t->real);
    platform_free(t->p);
    workflow_free(t->w);
}

/* ---- study 1: the default constraints ---- */

/* Figures 5 and 6. */
static bool run_default(struct environment_study *s, struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->count && good; i++) {
        struct environment_trial t;
        good = trial_begin(s, i, "default constraints", false, &t, err) &&
               trial_run(s, i, NULL, NULL, &t, err);
        if (good)
            array_push(&s->plain, t.row);
        trial_end(&t);
    }
    return good;
}

/* ---- study 2: experiments ---- */

/* An experiment that was not read from a file; experiment_free() frees all of it. */
static void name_experiment(struct experiment *x, const char *name)
{
    experiment_init(x);
    x->file = mem_copy_string("<generated>");
    x->name = mem_copy_string(name);
    x->workflow = mem_copy_string("<generated>");
    x->results = mem_copy_string("results");
}

/* Another thing for a task; its alternatives follow. */
static struct substitution *add_substitution(struct experiment *x, const char *name,
                                             const char *task)
{
    struct substitution *sub = array_add(&x->substitutions);
    *sub = (struct substitution){
        .name = mem_copy_string(name), .target = SUBSTITUTE_TASK, .what = mem_copy_string(task)};
    return sub;
}

/* One more thing that may stand at its place: another command, another time. */
static void add_version(struct substitution *sub, const char *label, const char *what, double work)
{
    struct strbuf command = {0};
    strbuf_printf(&command, "%s {in} {out}", what);
    struct alternative *a = array_add(&sub->by);
    *a = (struct alternative){.label = mem_copy_string(label)};
    a->change = (struct task_change){.command = strbuf_steal(&command),
                                     .work = work,
                                     .memory = NAN,
                                     .cores = NAN,
                                     .timeout = NAN,
                                     .retries = NAN};
}

/* Times within 30 % of the original's: versions differ, but not in kind. */
static void add_versions(struct experiment *x, const char *name, const struct workflow *w,
                         uint32_t task, struct rng *rng)
{
    struct substitution *sub = add_substitution(x, name, workflow_task_name(w, task));
    for (int k = 1; k <= VERSIONS; k++) {
        char label[16], what[128];
        snprintf(label, sizeof label, "v%d", k);
        snprintf(what, sizeof what, "%s version %d", workflow_task_name(w, task), k);
        add_version(sub, label, what, w->work[task] * rng_uniform(rng, 0.7, 1.3));
    }
}

/* An input task and another one drawn at random, four versions of each. */
static void draw_experiment(struct experiment *x, const struct image_shape *shape,
                            const struct workflow *w)
{
    struct rng rng;
    rng_seed_stream(&rng, shape->seed, 2);
    name_experiment(x, shape->name);
    uint32_t input = (uint32_t)rng_below(&rng, shape->inputs);
    uint32_t other = shape->inputs + (uint32_t)rng_below(&rng, w->ntasks - shape->inputs);
    add_versions(x, "input", w, input, &rng);
    add_versions(x, "task", w, other, &rng);
}

/* The paper's own example: read, detect edges, display; a second image, two more detectors. */
static bool run_figure4(struct environment_study *s, struct error *err)
{
    static const char *const tasks[] = {"Input_image_region_a", "Sobel", "Display_image"};
    static const char *const images[] = {"Input_image_region_a", "Input_image_region_b"};
    static const char *const detectors[] = {"Sobel", "Prewitt", "Canny"};
    struct builder *b = builder_new("<generated>", "native");
    for (uint32_t t = 0; t < 3; t++) {
        builder_task(b, tasks[t], strlen(tasks[t]), 0);
        builder_work(b, t, 1, 0);
        if (t)
            builder_data_edge(b, t - 1, t, 1, 0);
    }
    struct workflow *w = builder_finish(b, err);
    struct experiment x;
    name_experiment(&x, "edges");
    struct substitution *sub = add_substitution(&x, "image", tasks[0]);
    for (int i = 0; i < 2; i++)
        add_version(sub, images[i], images[i], 1);
    sub = add_substitution(&x, "detector", tasks[1]);
    for (int i = 0; i < 3; i++)
        add_version(sub, detectors[i], detectors[i], 1);
    struct merged *merged = w ? experiment_merge(&x, w, true, err) : NULL;
    if (merged) {
        s->edges_instances = merged->ncombinations;
        s->edges_plain = merged->tasks_without_reuse;
        s->edges_reused = merged->workflow->ntasks;
    }
    bool good = merged != NULL;
    merged_free(merged);
    experiment_free(&x);
    workflow_free(w);
    return good;
}

static bool run_experiments(struct environment_study *s, struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->count && good; i++) {
        trial_report_progress(s, i, "experiments");
        struct environment_row row = {0};
        struct replay_result real = {0};
        struct experiment x = {0};
        struct merged *merged = NULL;
        struct workflow *w = image_graph(&s->shapes[i], err);
        struct platform *p = image_workstations(s->shapes[i].seed, false, err);
        if (w)
            draw_experiment(&x, &s->shapes[i], w);
        merged = w && p ? experiment_merge(&x, w, true, err) : NULL;
        good = merged && run_graph(s, s->shapes[i].name, merged->workflow, p, NULL, NULL, &row,
                                   NULL, &real, err);
        if (good) {
            row.plain_tasks = (double)merged->tasks_without_reuse;
            row.combinations = merged->ncombinations;
            array_push(&s->experiments, row);
        }
        replay_result_free(&real);
        merged_free(merged);
        experiment_free(&x);
        platform_free(p);
        workflow_free(w);
    }
    return good;
}

/* ---- study 3: constraints of the user ---- */

/* Only oddvar and norge, and the first should finish at least twice as late as the second. A
 * processor without tasks finishes at 0, so that the wish cannot be met by leaving oddvar empty. */
/* In the paper's words: its utilisation example with other names. */
const char environment_early_rules[] =
    "assert relationship requirement (\n"
    "  (select proc-task-list from proc where proc-name <> 'oddvar' and proc-name <> 'norge')\n"
    "  = UNKNOWN );\n"
    "assert relationship preference (\n"
    "  2 * (select proc-finish-time from proc where proc-name = 'norge') <=\n"
    "  (select proc-finish-time from proc where proc-name = 'oddvar') );\n";

static void finishes_of(const struct plan *plan, const struct replay_result *real, uint32_t node,
                        double *planned, double *executed)
{
    *planned = *executed = 0;
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].node == node) {
            *planned = fmax(*planned, plan->placements.at[i].finish);
            *executed = fmax(*executed, real->finish[i]);
        }
}

/* With the tolerance that sums of the same numbers need. */
static bool at_least(double a, double b)
{
    return a >= b - 1e-9 * fmax(1, fabs(b));
}

/* Figure 8. Processors have names here, and none is used by others. */
static bool run_early(struct environment_study *s, struct error *err)
{
    /* all default constraints but the one on utilization */
    const char *rules = strstr(constraints_default_rules, "-- 2.");
    bool good = true;
    for (size_t i = 0; i < s->count && good; i++) {
        struct environment_trial t;
        good = trial_begin(s, i, "processor finish times", true, &t, err) &&
               trial_run(s, i, rules, environment_early_rules, &t, err);
        if (good) {
            static const char *const names[] = {"oddvar", "norge"};
            struct environment_row *row = &t.row;
            for (int k = 0; k < 2; k++)
                finishes_of(t.plan, &t.real, platform_find_node(t.p, names[k]), &row->early[k],
                            &row->early_real[k]);
            row->fulfilled = at_least(row->early[0], 2 * row->early[1]);
            row->fulfilled_real = at_least(row->early_real[0], 2 * row->early_real[1]);
            array_push(&s->early, *row);
        }
        trial_end(&t);
    }
    return good;
}

/* "Each constraint adds a dependency between a pair of output tasks", in addition to the default
 * constraints: the paper's first example, as a preference or as a requirement. */
static void add_order(struct strbuf *out, const char *importance, uint32_t first, uint32_t second)
{
    strbuf_printf(out,
                  "assert relationship %s (\n"
                  "  (select task-finish-time from task where task-id = %u) <=\n"
                  "  (select task-finish-time from task where task-id = %u) );\n",
                  importance, first + 1, second + 1);
}

void environment_add_orders(struct strbuf *out, const char *importance, const uint32_t *outputs,
                            uint32_t count)
{
    for (uint32_t k = 1; k < count; k++)
        add_order(out, importance, outputs[k - 1], outputs[k]);
}

uint32_t environment_outputs(const struct workflow *w, uint64_t seed, uint32_t *outputs)
{
    struct rng rng;
    rng_seed_stream(&rng, seed, 3);
    uint32_t count = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (w->succ_off[t] == w->succ_off[t + 1])
            outputs[count++] = t;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = (uint32_t)rng_below(&rng, i), swap = outputs[k];
        outputs[k] = outputs[i - 1];
        outputs[i - 1] = swap;
    }
    return count;
}

/* Do the outputs end in this order? Fills the first of the executed times. */
/* Equal times count as ordered: at_least() forgives rounding. */
static void judge_order(const struct plan *plan, const struct replay_result *real,
                        const uint32_t *outputs, uint32_t count, uint32_t ntasks,
                        struct environment_row *row)
{
    double *planned = mem_new(double, ntasks), *executed = mem_new(double, ntasks);
    for (size_t i = 0; i < plan->placements.n; i++) {
        planned[plan->placements.at[i].task] = plan->placements.at[i].finish;
        executed[plan->placements.at[i].task] = real->finish[i];
    }
    row->outputs = count;
    row->fulfilled = row->fulfilled_real = true;
    for (uint32_t i = 0; i < ENVIRONMENT_OUTPUTS; i++)
        row->finish[i] = i < count ? executed[outputs[i]] : NAN;
    for (uint32_t i = 1; i < count; i++) {
        row->fulfilled &= at_least(planned[outputs[i]], planned[outputs[i - 1]]);
        row->fulfilled_real &= at_least(executed[outputs[i]], executed[outputs[i - 1]]);
    }
    free(planned);
    free(executed);
}

/* Table 1, as preferences (what the paper did) and as requirements. */
static bool run_ordered(struct environment_study *s, const char *importance, environment_rows *rows,
                        struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->count && good; i++) {
        struct environment_trial t;
        struct strbuf more = {0};
        good = trial_begin(s, i, "orders of outputs", false, &t, err);
        uint32_t *outputs = good ? mem_new(uint32_t, t.w->ntasks) : NULL;
        uint32_t count = good ? environment_outputs(t.w, s->shapes[i].seed, outputs) : 0;
        if (good)
            environment_add_orders(&more, importance, outputs, count);
        good = good && trial_run(s, i, NULL, strbuf_text(&more), &t, err);
        if (good) {
            judge_order(t.plan, &t.real, outputs, count, t.w->ntasks, &t.row);
            array_push(rows, t.row);
        }
        strbuf_free(&more);
        free(outputs);
        trial_end(&t);
    }
    return good;
}

const char environment_assigned_rules[] =
    "assert value preference (opt-type = minimize, priority = 100,\n"
    "  function = assert relationship preference (\n"
    "    (select task-assigned-proc-id from task where task-kind = 'Display Image') =\n"
    "    (select proc-id from proc where proc-name = 'willow')),\n"
    "  min = 0, max = 1);\n";

/* Figure 9; the schedule of the graph with most "Display Image" tasks is drawn. */
static bool run_assigned(struct environment_study *s, struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->count && good; i++) {
        struct environment_trial t;
        good = trial_begin(s, i, "task to processor assignments", true, &t, err) &&
               trial_run(s, i, NULL, environment_assigned_rules, &t, err);
        size_t display = 0;
        t.row.fulfilled = true;
        for (size_t k = 0; good && k < t.plan->placements.n; k++) {
            const struct placement *x = &t.plan->placements.at[k];
            if (strcmp(workflow_text(t.w, t.w->kind[x->task]), "Display Image") != 0)
                continue;
            display++;
            t.row.fulfilled &= strcmp(platform_node_name(t.p, x->node), "willow") == 0;
        }
        if (good) {
            t.row.outputs = (uint32_t)display;
            array_push(&s->assigned, t.row);
        }
        if (good && display > s->display) {
            struct gantt_options options = {.used_only = true};
            s->display = display;
            strbuf_clear(&s->gantt);
            report_gantt_svg(t.plan, t.w, t.p, &s->gantt, &options);
            snprintf(s->gantt_name, sizeof s->gantt_name, "%s", t.row.name);
        }
        trial_end(&t);
    }
    return good;
}

/* In the order of the paper; the first error ends it. */
bool environment_run(struct environment_study *s, const struct reproduction_options *o,
                     struct error *err)
{
    s->o = o;
    s->count = o->quick ? 6 : IMAGE_GRAPHS;
    image_shapes(s->shapes, s->count, o->seed);
    return run_default(s, err) && run_figure4(s, err) && run_experiments(s, err) &&
           run_early(s, err) && run_ordered(s, "preference", &s->ordered, err) &&
           run_ordered(s, "requirement", &s->required, err) && run_assigned(s, err);
}

void environment_free(struct environment_study *s)
{
    environment_rows *const lists[] = {&s->plain,   &s->experiments, &s->early,
                                       &s->ordered, &s->required,    &s->assigned};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        array_free(lists[i]);
    strbuf_free(&s->gantt);
}
