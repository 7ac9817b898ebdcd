/* `weft sim`: arguments to weft_sim_plan() and weft_sim_clients(), and what they found. */
#include "api/inside.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "cli/sim_schedulers.h"
#include "report/sim_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"workflow", 0, "FILE", "the workflow of the plan, instead of the one it names"},
    OPTION_ON,
    {"with", 0, "PLANNER", "for a workflow: plan it with this first (default heft)"},
    {"set", 0, "NAME=VALUE", "an option of the planner or of the cluster; may be repeated"},
    {"network", 0, "MODEL",
     "free, kport or fair (default: kport where ports are limited, else free)"},
    {"ports", 0, "K", "ports a node under kport (default: the plan's, else the platform's)"},
    {"noise", 0, "CV", "lognormal noise on task times: deviation / mean (0.1 is 10 %)"},
    {"fail", 0, "NODE@TIME[+REPAIR]",
     "this node fails then, for good or for so long; may be repeated"},
    {"change", 0, "NODE@TIME:speed=S,memory=M",
     "from then on the node is so fast and has so much memory; what has not begun is planned "
     "again; "
     "may be repeated"},
    {"keep-plan", 0, NULL, "with --change: the plan stays as it is"},
    {"mtbf", 0, "TIME", "every node fails at random, so long apart on average"},
    {"repair", 0, "TIME", "how long a node is down after a failure of --mtbf (default: for good)"},
    {"planned-times", 0, NULL, "tasks take the time the plan says, not work / speed"},
    {"items", 0, "N", "streams: items to process (default 200)"},
    {"fed", 0, "HOW",
     "streams: period (the plan's pace, by its schedule; default), window, or flood (all at once)"},
    {"period", 0, "TIME", "streams: time between items (default: the plan's)"},
    {"window", 0, "N", "streams: most items in the system at once"},
    {"clients", 0, NULL, "a server hands the tasks to clients that come and go"},
    {"interarrival", 0, "TIME", "clients: mean time between batches of requests (default 1)"},
    {"batch", 0, "N", "clients: mean number of requests a batch (default 16)"},
    {"arrivals", 0, "KIND", "clients: exponential, fixed or uniform (default exponential)"},
    {"run-time", 0, "TIME", "clients: mean run time of every task; 0: its own work (default 1)"},
    {"deviation", 0, "SHARE", "clients: deviation of run times / mean (default 0.1)"},
    {"slow", 0, "SHARE[xFACTOR]", "clients: so many are slower, by this factor (default 10)"},
    {"vanish", 0, "SHARE", "clients: so many never answer"},
    {"timeout", 0, "TIME", "clients: when a task of one that vanished is given again (default 10)"},
    {"fifo", 0, NULL, "clients: first in, first out instead of the plan's order"},
    {"schedulers", 0, "N|all",
     "a cluster of so many distributed schedulers runs the graph, without a plan; all: one on each "
     "node of --on"},
    {"beside", 0, "FLOW[@TIME[:PRIORITY]]",
     "schedulers: another run on the same nodes, submitted then; each more of priority doubles its "
     "share; may be repeated"},
    {"dag", 0, "NAME",
     "schedulers: a benchmark instead of FLOW: bot, fan-out, fan-in, pipeline, stacking, "
     "all-pairs"},
    {"policy", 0, "NAME",
     "schedulers: " SCHED_POLICY_NAMES "auto, or all to compare them (default flds)"},
    {"cores", 0, "N", "schedulers: cores of each (default 2)"},
    {"submit", 0, "HOW",
     "schedulers: best, hash or worst case, or even: shares of equal work (default best)"},
    {"repeat", 0, "N", "so many runs over the cores: means and confidence intervals"},
    {"confidence", 0, "SHARE", "of the intervals (default 0.95)"},
    {"threads", 'j', "N", "threads for repeats (default: one a core); results do not depend on it"},
    {"trace", 0, "FILE", "write what happened as a Chrome/Perfetto trace"},
    {"gantt", 0, "FILE", "draw what happened (SVG)"},
    OPTION_ZOOM,
    {"utilization", 0, "FILE", "draw the utilisation of the cores over time (SVG)"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART_ONLY,
    OPTION_ASSUME,
    OPTION_RISK,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule sim_rules[] = {
    {"policy cores submit beside", "schedulers dag", NULL},
    {"confidence threads", "repeat schedulers dag",
     NULL}, /* the last two have words of their own */
    {"repair", "mtbf schedulers dag", NULL},
    {"zoom", "gantt", NULL},
    {"keep-plan", "change", NULL},
    RULES_END,
};

/* ---- options ---- */

static bool sim_seconds(const struct arguments *a, const char *name, double standard, double *out,
                        struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    if (text && !quantity_seconds(text, strlen(text), out))
        return error_set(err, ERROR_INPUT, "--%s is '%s'; expected a time (10, 1.5s, 3ms, 2h)",
                         name, text);
    return true;
}

static bool sim_count(const struct arguments *a, const char *name, uint32_t standard,
                      uint32_t least, uint32_t *out, struct error *err)
{
    int64_t value;
    if (!arguments_integer(a, name, standard, least, UINT32_MAX - 1, &value, err))
        return false;
    *out = (uint32_t)value;
    return true;
}

/* NODE@TIME[+REPAIR] */
static bool sim_parse_fault(const char *text, const struct weft_platform *p, struct weft_fault *f,
                            struct error *err)
{
    const char *at = strrchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
    if (!at || at == text)
        return error_set(err, ERROR_INPUT, "--fail is '%s'; expected NODE@TIME or NODE@TIME+REPAIR",
                         text);
    char *name = mem_copy_bytes(text, (size_t)(at - text));
    f->node = weft_platform_find_node(p, name);
    free(name);
    if (f->node == WEFT_NONE)
        return error_set(err, ERROR_INPUT, "--fail is '%s'; the platform has no node of that name",
                         text);
    f->repair = INFINITY;
    size_t len = plus ? (size_t)(plus - at - 1) : strlen(at + 1);
    if (!quantity_seconds(at + 1, len, &f->time) ||
        (plus && !quantity_seconds(plus + 1, strlen(plus + 1), &f->repair)))
        return error_set(err, ERROR_INPUT, "--fail is '%s'; expected times after '@' and '+'",
                         text);
    return true;
}

/* One of speed=S and memory=M, from `text` on for `len` bytes. */
static bool sim_parse_change_value(const char *text, size_t len, struct weft_node_change *c)
{
    static const char speed[] = "speed=", memory[] = "memory=";
    size_t s = sizeof speed - 1, m = sizeof memory - 1;
    if (len > s && strncmp(text, speed, s) == 0)
        return isnan(c->speed) && quantity_number(text + s, len - s, &c->speed) && c->speed > 0 &&
               isfinite(c->speed);
    if (len > m && strncmp(text, memory, m) == 0)
        return isnan(c->memory) && quantity_bytes(text + m, len - m, &c->memory) && c->memory >= 0;
    return false;
}

/* NODE@TIME:speed=S,memory=M, of which one may be left out */
static bool sim_parse_change(const char *text, const struct weft_platform *p,
                             struct weft_node_change *c, struct error *err)
{
    const char *at = strrchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
    *c = (struct weft_node_change){.speed = NAN, .memory = NAN};
    bool good = at && at != text && colon &&
                quantity_seconds(at + 1, (size_t)(colon - at - 1), &c->time) && c->time >= 0;
    for (const char *value = colon ? colon + 1 : NULL; good && value;) {
        size_t len = strcspn(value, ",");
        good = sim_parse_change_value(value, len, c);
        value = value[len] ? value + len + 1 : NULL;
    }
    if (!good)
        return error_set(
            err, ERROR_INPUT,
            "--change is '%s'; expected NODE@TIME:speed=S,memory=M, or one of the two: "
            "n1@40s:speed=0.5",
            text);
    char *name = mem_copy_bytes(text, (size_t)(at - text));
    c->node = weft_platform_find_node(p, name);
    free(name);
    return c->node != WEFT_NONE ||
           error_set(err, ERROR_INPUT, "--change is '%s'; the platform has no node of that name",
                     text);
}

/* The array is the caller's to free. */
static bool sim_changes(const struct arguments *a, const struct weft_platform *p,
                        struct weft_node_change **changes, size_t *n, struct error *err)
{
    *changes = mem_new_zero(struct weft_node_change, a->ngiven + 1);
    *n = 0;
    size_t at = 0;
    for (const char *text; (text = arguments_next(a, "change", &at));)
        if (!sim_parse_change(text, p, &(*changes)[(*n)++], err))
            return false;
    return true;
}

static bool sim_parse_arrivals(const char *text, enum weft_arrivals *out, struct error *err)
{
    static const char *const names[] = {"exponential", "fixed", "uniform"};
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum weft_arrivals)i;
            return true;
        }
    return !text || error_set(err, ERROR_INPUT,
                              "--arrivals is '%s'; expected exponential, fixed or uniform", text);
}

static bool sim_parse_slow(const char *text, struct weft_sim_options *o, struct error *err)
{
    if (!text)
        return true;
    const char *x = strchr(text, 'x');
    size_t len = x ? (size_t)(x - text) : strlen(text);
    if (!quantity_number(text, len, &o->slow_share) ||
        (x && !quantity_number(x + 1, strlen(x + 1), &o->slow_factor)))
        return error_set(err, ERROR_INPUT, "--slow is '%s'; expected a share, as 0.1 or 0.1x5",
                         text);
    return true;
}

/* --fail of the platform; the array is the caller's to free. */
static bool sim_faults(const struct arguments *a, const struct weft_platform *p,
                       struct weft_fault **faults, size_t *n, struct error *err)
{
    *faults = mem_new_zero(struct weft_fault, a->ngiven + 1);
    *n = 0;
    size_t at = 0;
    for (const char *text; (text = arguments_next(a, "fail", &at));)
        if (!sim_parse_fault(text, p, &(*faults)[(*n)++], err))
            return false;
    return true;
}

static bool sim_general(const struct arguments *a, struct weft_sim_options *o, struct error *err)
{
    int64_t seed;
    uint32_t threads;
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, err) ||
        !sim_count(a, "repeat", 1, 1, &o->repeat, err) ||
        !sim_count(a, "threads", 0, 0, &threads, err) ||
        !arguments_number(a, "confidence", 0.95, &o->confidence, err))
        return false;
    if (!(o->confidence > 0 && o->confidence < 1))
        return error_set(err, ERROR_INPUT, "--confidence is %g; expected a share below 1",
                         o->confidence);
    o->seed = (uint64_t)seed;
    o->threads = threads;
    o->network = arguments_value(a, "network");
    o->keep = arguments_value(a, "trace") || arguments_value(a, "gantt");
    return true;
}

static bool sim_for_plans(const struct arguments *a, struct weft_sim_options *o, struct error *err)
{
    o->planned_times = arguments_flag(a, "planned-times");
    o->stay = arguments_flag(a, "keep-plan");
    return sim_count(a, "ports", 0, 0, &o->ports, err) &&
           arguments_number(a, "noise", 0, &o->noise, err) &&
           sim_seconds(a, "mtbf", 0, &o->mtbf, err) &&
           sim_seconds(a, "repair", INFINITY, &o->repair, err);
}

static bool sim_for_streams(const struct arguments *a, struct weft_sim_options *o,
                            struct error *err)
{
    const char *period = arguments_value(a, "period");
    o->fed = arguments_value(a, "fed");
    if (!sim_count(a, "ports", 0, 0, &o->ports, err) ||
        !sim_count(a, "items", 200, 1, &o->items, err) ||
        !sim_count(a, "window", 0, 1, &o->window, err) ||
        !arguments_number(a, "noise", 0, &o->noise, err) ||
        !sim_seconds(a, "period", 0, &o->period, err))
        return false;
    return !period || o->period > 0 ||
           error_set(err, ERROR_INPUT,
                     "--period %s: expected more than 0; --fed flood has all items there at once",
                     period);
}

static bool sim_for_clients(const struct arguments *a, struct weft_sim_options *o,
                            struct error *err)
{
    return sim_seconds(a, "interarrival", 1, &o->interarrival, err) &&
           arguments_number(a, "batch", 16, &o->batch, err) &&
           sim_seconds(a, "run-time", 1, &o->run_time, err) &&
           arguments_number(a, "deviation", 0.1, &o->deviation, err) &&
           arguments_number(a, "vanish", 0, &o->vanish_share, err) &&
           sim_seconds(a, "timeout", 10, &o->timeout, err) &&
           sim_parse_arrivals(arguments_value(a, "arrivals"), &o->arrivals, err) &&
           sim_parse_slow(arguments_value(a, "slow"), o, err);
}

/* ---- results ---- */

/* Trace, Gantt chart, utilisation; the exit status, 0: written. */
static int sim_write_pictures(const struct arguments *a, const struct weft_sim *s,
                              const struct sim_subject *subject)
{
    const char *trace = arguments_value(a, "trace"), *gantt = arguments_value(a, "gantt");
    const char *utilization = arguments_value(a, "utilization");
    struct weft_error error;
    struct error err = {0};
    if (utilization && weft_sim_kind(s) != WEFT_SIM_REPLAY) {
        error_set(&err, ERROR_INPUT, "--utilization is for plans with placements only");
        return cli_fail(&err);
    }
    if (trace) {
        size_t n;
        char *text = weft_sim_trace(s, &n, &error);
        if (!text)
            return cli_failed(&error);
        bool good = file_write(trace, text, n, &err);
        weft_text_free(text);
        if (!good)
            return cli_fail(&err);
    }
    if (gantt && !cli_write_gantt(a, gantt, weft_sim_happened(s), &err))
        return cli_fail(&err);
    if (utilization) {
        struct strbuf text = {0};
        sim_view_utilization(subject, &s->replay, &text);
        bool good = cli_write_text(utilization, &text, &err);
        strbuf_free(&text);
        if (!good)
            return cli_fail(&err);
    }
    return 0;
}

/* The caller frees it. */
static struct sim_changed *sim_changed(const struct weft_sim *s, size_t *n)
{
    ARRAY(struct sim_changed) list = {0};
    struct weft_changed x;
    for (size_t i = 0; weft_sim_change(s, i, &x); i++)
        array_push(&list, (struct sim_changed){x.time, x.left, x.moved, x.stays, x.makespan});
    *n = list.n;
    return list.at;
}

static int sim_show(const struct arguments *a, const struct weft_sim *s)
{
    size_t nchanged;
    struct sim_changed *changed = sim_changed(s, &nchanged);
    bool json = arguments_flag(a, "json");
    struct sim_subject subject = {
        .workflow = inside_workflow(s->workflow),
        .platform = s->platform ? inside_platform(s->platform) : NULL, /* clients have none */
        .plan = s->plan,
        .network = s->network,
        .seed = s->options.seed,
        .seconds = s->seconds,
        .repeat = s->repeated ? &s->repeat : NULL,
        .confidence = s->options.confidence,
        .colour = cli_colour(),
        .changed = changed,
        .nchanged = nchanged,
    };
    struct strbuf out = {0};
    if (weft_sim_kind(s) == WEFT_SIM_REPLAY)
        sim_view_replay(&subject, &s->replay, json, &out);
    else if (weft_sim_kind(s) == WEFT_SIM_STREAM)
        sim_view_stream(&subject, &s->stream, json, &out);
    else
        sim_view_order(&subject, &s->order_options, &s->order, json, &out);
    int status;
    struct error err = {0};
    if (strcmp(s->network ? s->network : "kport", "kport") != 0 &&
        !arguments_refuse(a, "ports", "a network without ports (--network kport has them)", &err))
        status = cli_fail(&err);
    else
        status = sim_write_pictures(a, s, &subject);
    if (!status)
        status = cli_print(&out);
    strbuf_free(&out);
    free(changed);
    return status;
}

/* ---- the command ---- */

static struct weft_plan *sim_make_plan(const struct arguments *a,
                                       const struct weft_problem *problem, uint64_t seed,
                                       struct weft_error *error)
{
    struct error err = {0};
    const char *with = arguments_value(a, "with");
    struct weft_plan_options o = WEFT_PLAN_INIT;
    const char **list = cli_list(a, "set", &err);
    if (!list) {
        error->status = (enum weft_status)err.kind;
        snprintf(error->text, sizeof error->text, "%s", err.text);
        return NULL;
    }
    o.options = list;
    o.seed = seed;
    o.progress = cli_progress_of(a, "simulating");
    struct weft_plan *plan =
        weft_plan_make(problem->workflow, problem->platform, with ? with : "heft", &o, error);
    cli_progress_done();
    free(list);
    return plan;
}

/* Which of the options belong to one way of simulating, and not to the others. */
static bool sim_options_fit(const struct arguments *a, bool clients, bool stream, bool planned,
                            struct error *err)
{
    static const char of_placements[] = "fail change mtbf repair planned-times utilization";
    static const char of_streams[] = "fed items period window";
    static const char of_clients[] = "interarrival batch arrivals run-time deviation slow vanish "
                                     "timeout fifo";
    static const char of_plans[] = "network ports noise";
    if (clients)
        return arguments_refuse(a, of_placements, "clients", err) &&
               arguments_refuse(a, of_streams, "clients", err) &&
               arguments_refuse(a, of_plans, "clients", err);
    bool random = arguments_given(a, "noise") || arguments_given(a, "mtbf");
    return arguments_refuse(a, of_clients, "a plan; it is of --clients", err) &&
           arguments_refuse(a, stream ? of_placements : of_streams,
                            stream ? "a stream" : "a plan that is no stream", err) &&
           (!planned || random ||
            arguments_refuse(a, "seed", "a plan without --noise and --mtbf: nothing is random",
                             err));
}

/* `planned`: the plan came out of a file. */
static int sim_run(const struct arguments *a, const struct weft_problem *problem, bool planned,
                   struct weft_sim_options *o)
{
    const struct weft_plan *plan = problem->plan;
    struct weft_error error;
    struct error err = {0};
    struct weft_fault *faults = NULL;
    struct weft_node_change *changes = NULL;
    bool clients =
             arguments_flag(a, "clients") || (plan && weft_plan_kind(plan) == WEFT_PLAN_ORDER),
         stream = !clients && weft_plan_kind(plan) == WEFT_PLAN_STREAM;
    bool good = sim_options_fit(a, clients, stream, planned, &err);
    if (good && clients)
        good = sim_for_clients(a, o, &err);
    else if (good && stream)
        good = sim_for_streams(a, o, &err);
    else if (good)
        good = sim_for_plans(a, o, &err) &&
               sim_faults(a, problem->platform, &faults, &o->nfaults, &err) &&
               sim_changes(a, problem->platform, &changes, &o->nchanges, &err);
    o->faults = faults;
    o->changes = changes;
    o->progress = cli_progress_of(a, "simulating");
    struct weft_sim *s = NULL;
    if (good && clients)
        s = weft_sim_clients(problem->workflow, arguments_flag(a, "fifo") ? NULL : plan, o, &error);
    else if (good)
        s = weft_sim_plan(plan, o, &error);
    cli_progress_done();
    int status = s ? sim_show(a, s) : good ? cli_failed(&error) : cli_fail(&err);
    weft_sim_free(s);
    free(faults);
    free(changes);
    return status;
}

static int sim_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct weft_problem problem;
    struct weft_sim_options o = WEFT_SIM_INIT;
    if (arguments_value(a, "schedulers") || arguments_value(a, "dag"))
        return sim_schedulers_run(a);
    if (!a->noperands)
        error_set(&err, ERROR_INPUT, "no workflow or plan; give one, or --schedulers and --dag");
    if (!a->noperands || !sim_general(a, &o, &err))
        return cli_fail(&err);
    if (!cli_problem(a, a->operand[0], NULL, &problem, &error))
        return cli_failed(&error);
    /* First in, first out needs no plan. */
    bool given = problem.plan != NULL;
    bool needs = !given && !(arguments_flag(a, "clients") && !arguments_value(a, "with"));
    bool good = given   ? arguments_refuse(a, "with set", "a plan that is there", &err)
                : needs ? arguments_refuse(a, "workflow", "a workflow", &err)
                        : arguments_refuse(a, "workflow on set", "clients without a plan", &err);
    if (good && needs)
        problem.plan = sim_make_plan(a, &problem, o.seed, &error);
    int status = !good                    ? cli_fail(&err)
                 : needs && !problem.plan ? cli_failed(&error)
                                          : sim_run(a, &problem, given, &o);
    weft_problem_free(&problem);
    return status;
}

const struct command command_sim = {
    .name = "sim",
    .operands = "[FLOW|PLAN [TARGET...]]",
    .least = 0,
    .most = SIZE_MAX,
    .summary = "execute a plan in virtual time",
    .details =
        "A plan is replayed by its kind: a static plan task by task, a stream mapping item by "
        "item,\n"
        "an order by a server whose clients come and go. A workflow is planned first (--with), or\n"
        "handed to clients first in, first out (--clients). The same seed gives the same run.\n"
        "With --repeat the figures above the table are those of the first run.\n\n"
        "Exit status 1: the simulation cannot progress, and says which tasks wait for what.\n\n"
        "examples:\n"
        "  weft sim plan.json --network fair\n"
        "  weft sim flow.yaml --on cluster.yaml --with heft --noise 0.2 --repeat 100\n"
        "  weft sim flow.yaml --on cluster.yaml --fail fast1@10+5 --trace trace.json\n"
        "  weft sim tree-plan.json --change fast1@40:speed=0.5,memory=2G\n"
        "  weft sim stream-plan.json --items 1000 --period 0.5\n"
        "  weft sim --schedulers 100 --dag fan-in --policy all\n"
        "  weft sim long.yaml --schedulers 4 --beside short.yaml@10m --beside urgent.yaml@1h:2\n"
        "  weft sim flow.yaml --schedulers all --on cluster.yaml\n"
        "  weft sim flow.yaml --clients --interarrival 1 --batch 16 --repeat 500\n",
    .options = options,
    .rules = sim_rules,
    .run = sim_command,
};
