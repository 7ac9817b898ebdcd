/* The estimates for streams against exact values: the worked examples of the report and random
 * mappings, with the communication schedule, the minimum cycle times and the channels. */
#include "base/file.h"
#include "base/json.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/stream.h"
#include "generate/generate.h"
#include "plan/planner.h"
#include "sim/stream.h"
#include "tap.h"

static double fraction(const struct json *j, json_ref v)
{
    if (json_type(j, v) == JSON_NUMBER)
        return json_number(j, v);
    char *rest;
    double value = strtod(json_string(j, v, NULL), &rest);
    return *rest == '/' ? value / strtod(rest + 1, NULL) : value;
}

static double number_at(const struct json *j, json_ref array, uint32_t index)
{
    json_ref v = json_first(j, array);
    while (index--)
        v = json_next_element(j, array, v);
    return fraction(j, v);
}

static struct workflow *read_graph(const struct json *j, json_ref graph, bool replicable)
{
    struct builder *b = builder_new("<case>", "test");
    struct error err = {0};
    char name[16];
    json_ref tasks = json_get(j, graph, "tasks"), edges = json_get(j, graph, "edges");
    uint32_t n = 0;
    for (json_ref v = json_first(j, tasks); v != JSON_NONE; v = json_next_element(j, tasks, v)) {
        uint32_t t = builder_task(b, name, (size_t)sprintf(name, "t%u", ++n), 0);
        builder_work(b, t, fraction(j, v), 0);
        if (!replicable)
            builder_flag(b, t, TASK_NOT_REPLICABLE);
    }
    for (json_ref v = json_first(j, edges); v != JSON_NONE; v = json_next_element(j, edges, v))
        builder_data_edge(b, (uint32_t)number_at(j, v, 0), (uint32_t)number_at(j, v, 1),
                          number_at(j, v, 2), 0);
    return builder_finish(b, &err);
}

static struct platform *equal_nodes(uint32_t count, double ports)
{
    struct platform_builder *b = platform_builder_new("<case>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, 1, 0, ports, 0);
    for (uint32_t i = 0; i < count; i++)
        platform_builder_node(b, name, (size_t)sprintf(name, "n%u", i), 0);
    return platform_builder_finish(b, &err);
}

/* The case's mapping as a plan, which is what the checker and everybody else sees. */
static struct plan *read_mapping(const struct json *j, json_ref mapping)
{
    struct plan *plan = plan_new(PLAN_STREAM);
    json_ref clusters = json_get(j, mapping, "clusters"), home = json_get(j, mapping, "home");
    json_ref nr = json_get(j, mapping, "nr");
    uint32_t number = 0;
    plan->pipelined = true;
    for (json_ref v = json_first(j, clusters); v != JSON_NONE;
         v = json_next_element(j, clusters, v), number++) {
        struct cluster x = {.tasks = (uint32_t)plan->tasks.n, .replicas = number_at(j, nr, number)};
        for (int duplicates = 0; duplicates < 2; duplicates++) {
            if (duplicates)
                x.duplicates = (uint32_t)plan->tasks.n;
            for (json_ref t = json_first(j, v); t != JSON_NONE; t = json_next_element(j, v, t)) {
                uint32_t task = (uint32_t)json_number(j, t);
                bool away = (uint32_t)number_at(j, home, task) != number;
                if (away != duplicates)
                    continue;
                array_push(&plan->tasks, task);
                x.ntasks += !duplicates;
                x.nduplicates += duplicates;
            }
        }
        array_push(&plan->clusters, x);
    }
    return plan;
}

static void compare_schedule(const struct json *j, json_ref expect, const struct stream_graph *g,
                             const struct stream_estimate *e, const char *id)
{
    json_ref schedule = json_get(j, expect, "schedule");
    is_int(e->messages.n, json_size(j, schedule), "%s: transfers", id);
    size_t i = 0, wrong = 0;
    for (json_ref v = json_first(j, schedule); v != JSON_NONE && i < e->messages.n;
         v = json_next_element(j, schedule, v), i++) {
        const struct stream_message *m = &e->messages.at[i];
        double got[] = {g->edge_from[m->edge],
                        g->w->succ_task[m->edge],
                        m->from,
                        m->to,
                        m->start,
                        m->finish,
                        m->from_channel,
                        m->to_channel};
        for (uint32_t k = 0; k < 8; k++)
            wrong += fabs(number_at(j, v, k) - got[k]) > 1e-9;
    }
    is_int(wrong, 0, "%s: slots and channels of every transfer", id);
}

static void evaluate(const struct json *j, json_ref c, const char *id)
{
    struct workflow *w = read_graph(j, json_get(j, c, "graph"), true);
    json_ref k = json_get(j, c, "k"), expect = json_get(j, c, "expect");
    struct platform *p = equal_nodes(16, json_type(j, k) == JSON_NULL ? NAN : json_number(j, k));
    struct plan *plan = read_mapping(j, json_get(j, c, "mapping"));
    struct check_result r;
    struct error err = {0};
    bool valid = check_plan(plan, w, p, &r, &err) && r.total == 0;
    ok(valid, "%s is a valid mapping%s", id, r.violations.n ? r.violations.at[0].detail : "");
    double throughput = fraction(j, json_get(j, expect, "throughput"));
    is_dbl(plan_objective(r.recomputed, "throughput"), throughput, 1e-12, "%s: throughput", id);
    is_dbl(plan_objective(r.recomputed, "latency"), fraction(j, json_get(j, expect, "latency")),
           1e-9, "%s: latency", id);
    is_dbl(plan_objective(r.recomputed, "processors"),
           fraction(j, json_get(j, expect, "processors")), 0, "%s: processors", id);
    json_ref minct = json_get(j, expect, "minct");
    is_int(r.cycle_times.n, json_size(j, minct), "%s: channels in use", id);
    size_t i = 0;
    bool same = true;
    for (json_ref v = json_first(j, minct); v != JSON_NONE && i < r.cycle_times.n;
         v = json_next_element(j, minct, v), i++)
        same &= number_at(j, v, 0) == r.cycle_times.at[i].cluster &&
                number_at(j, v, 1) == r.cycle_times.at[i].channel &&
                fabs(number_at(j, v, 2) - r.cycle_times.at[i].seconds) < 1e-9;
    ok(same, "%s: minimum cycle times", id);
    /* the same through the interface of the planners, with the communication schedule */
    uint32_t n = w->ntasks, copies = 0, *off = mem_new_zero(uint32_t, n + 1),
             *cluster = mem_new(uint32_t, 256);
    uint32_t *home = mem_new(uint32_t, n), *procs = mem_new(uint32_t, 16);
    for (uint32_t t = 0; t < n; t++) {
        off[t] = copies;
        for (uint32_t x = 0; x < plan->clusters.n; x++) {
            const struct cluster *y = &plan->clusters.at[x];
            procs[x] = (uint32_t)ceil(y->replicas);
            for (uint32_t q = 0; q < y->ntasks + y->nduplicates; q++) {
                if (plan->tasks.at[y->tasks + q] != t)
                    continue;
                cluster[copies++] = x;
                if (q < y->ntasks)
                    home[t] = x;
            }
        }
    }
    off[n] = copies;
    struct stream_graph *g = stream_graph_new(w, p);
    struct stream_work *work = stream_work_new(g);
    struct stream_estimate e = {0};
    struct stream_map map = {(uint32_t)plan->clusters.n, off, cluster, home, procs, NULL, NULL};
    ok(stream_estimate(work, &map, p->ports, INFINITY, NULL, &e), "%s can be estimated", id);
    is_dbl(e.computation_rate, fraction(j, json_get(j, expect, "computation_rate")), 1e-12,
           "%s: computation rate", id);
    is_dbl(e.data_rate, fraction(j, json_get(j, expect, "data_rate")), 1e-12, "%s: data rate", id);
    compare_schedule(j, expect, g, &e, id);
    stream_estimate_free(&e);
    stream_work_free(work);
    stream_graph_free(g);
    free(off);
    free(cluster);
    free(home);
    free(procs);
    check_result_free(&r);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

static struct plan *plan_with(const char *name, const struct workflow *w, const struct platform *p,
                              double throughput, bool duplication, struct error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", throughput);
    struct option_value options[] = {{"throughput", text},
                                     {"duplication", duplication ? "on" : "off"}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = options, .noptions = 2, .seed = 1};
    return planner_run(planner_find(name), &request, err);
}

static void optimum(const struct json *j, json_ref c, const char *id)
{
    bool replicable = json_type(j, json_get(j, c, "replicable")) == JSON_TRUE;
    struct workflow *w = read_graph(j, json_get(j, c, "graph"), replicable);
    struct platform *p = equal_nodes((uint32_t)json_number(j, json_get(j, c, "processors")),
                                     json_number(j, json_get(j, c, "k")));
    double throughput = fraction(j, json_get(j, c, "throughput"));
    json_ref expect = json_get(j, c, "expect"), list = json_get(j, c, "list_schedule_latency");
    struct stream_graph *g = stream_graph_new(w, p);
    struct stream_work *work = stream_work_new(g);
    uint32_t *processor = mem_new(uint32_t, w->ntasks);
    memset(processor, 0xff, w->ntasks * sizeof *processor);
    is_dbl(stream_item(work, p->nnodes, NULL, p->ports, processor), fraction(j, list), 1e-9,
           "%s: list schedule", id);
    json_ref bounds = json_get(j, c, "bounds");
    is_dbl(g->longest, fraction(j, json_get(j, bounds, "lower_bound")), 1e-9, "%s: lower bound",
           id);
    is_dbl(g->total, fraction(j, json_get(j, bounds, "sum")), 1e-9, "%s: sum of the times", id);
    free(processor);
    stream_work_free(work);
    stream_graph_free(g);
    for (int beyond = 0; beyond < 2; beyond++) {
        const char *name = beyond ? "stream" : "mos";
        struct error err = {0};
        struct plan *plan = plan_with(name, w, p, throughput, false, &err);
        if (json_type(j, expect) == JSON_NULL) {
            ok(!plan && err.kind == ERROR_INFEASIBLE, "%s: %s says that no mapping exists: %s", id,
               name, err.text);
        } else if (ok(plan != NULL, "%s: %s plans %s", id, name, err.text)) {
            double best = fmin(fraction(j, json_get(j, expect, "latency")),
                               throughput * fraction(j, list) <= 1 ? fraction(j, list) : INFINITY);
            double latency = plan_objective(plan, "latency");
            ok(plan_objective(plan, "throughput") >= throughput * (1 - 1e-9),
               "%s: %s meets the throughput", id, name);
            if (beyond)
                ok(latency <= best * (1 + 1e-9), "%s: stream finds the optimum (%g, %g)", id,
                   latency, best);
            else
                ok(latency >= best * (1 - 1e-9) && latency <= best * 1.72,
                   "%s: mos is not below the optimum and near it (%g, %g)", id, latency, best);
        }
        plan_free(plan);
    }
    platform_free(p);
    workflow_free(w);
}

/* ---- promises and the replay ---- */

static bool replay(void *context, const struct workflow *w, const struct platform *p,
                   const struct plan *plan, struct replayed *out)
{
    struct stream_options o;
    struct stream_result r;
    struct error err = {0};
    stream_options_init(&o);
    o.items = *(const uint32_t *)context;
    bool good = stream_run(w, p, plan, &o, &r, &err);
    if (good)
        *out = (struct replayed){r.throughput, r.latency_mean};
    stream_result_free(&r);
    return good;
}

/* `stream` never promises what 1,000 items do not confirm; how far `mos` is off is printed. A replay's
 * throughput is the slope of its completions: where replicas complete items in groups, it depends on where
 * in a group the last one lies, by about one part in the square of the items (10^5 items: none). */
static void test_promises(void)
{
    static const char *const at[] = {"0.9Tmax", "0.5Tmax", "0.25Tmax", "0"};
    static const char *const ccr[] = {"0.1", "1", "10"};
    uint32_t items = 1000;
    struct replayer replayer = {replay, &items};
    double least[2] = {INFINITY, INFINITY}, phase = 1.0 / ((double)items * items);
    int runs = 0, broken = 0, missed = 0;
    for (uint64_t i = 0; i < 12; i++) {
        struct error err = {0};
        char n[16];
        snprintf(n, sizeof n, "%d", 6 + (int)i);
        struct option_value values[] = {{"n", n}, {"ccr", ccr[i % 3]}};
        struct workflow *w = generator_workflow(generator_find("tgff"), values, 2, i + 1, &err);
        struct platform *p = equal_nodes(3 + (uint32_t)i % 5, 1 + (double)(i % 3));
        for (int x = 0; x < 2; x++) {
            struct option_value options[] = {{"throughput", at[i % 4]}, {"effort", "0.05"}};
            struct plan_request request = {.workflow = w,
                                           .platform = p,
                                           .replayer = &replayer,
                                           .options = options,
                                           .noptions = x ? 2 : 1,
                                           .seed = 1};
            struct plan *plan = planner_run(planner_find(x ? "stream" : "mos"), &request, &err);
            struct replayed reached = {0};
            double promised = plan ? plan_objective(plan, "throughput") : 0;
            if (!plan || !replay(&items, w, p, plan, &reached)) {
                printf("# %s\n", err.text);
                missed++;
            } else {
                least[x] = fmin(least[x], reached.throughput / promised);
                broken += x && reached.throughput < promised * (1 - phase);
            }
            plan_free(plan);
        }
        runs++;
        platform_free(p);
        workflow_free(w);
    }
    printf("# replay / promise, least of %d: mos %.4f, stream %.4f\n", runs, least[0], least[1]);
    is_int(missed, 0, "all graphs are planned and replayed");
    is_int(broken, 0, "stream promises no throughput that a replay does not reach");
}

int main(void)
{
    TAP_DO(test_promises());
    const char *shared = tap_shared();
    if (!shared) {
        tap_skip("the cases of the specification", "no shared data");
        return tap_done();
    }
    char path[4200];
    struct error err = {0};
    struct text text = {0};
    struct json j;
    snprintf(path, sizeof path, "%s/cases/mos-cases.json", shared);
    if (!ok(file_read(path, &text, &err) && json_parse(&j, path, text.at, text.n, &err),
            "%s is read %s", "mos-cases.json", err.text))
        return tap_done();
    json_ref cases = json_get(&j, 0, "cases");
    for (json_ref c = json_first(&j, cases); c != JSON_NONE; c = json_next_element(&j, cases, c)) {
        const char *id = json_string(&j, json_get(&j, c, "id"), NULL);
        if (json_is_string(&j, json_get(&j, c, "kind"), "evaluate"))
            evaluate(&j, c, id);
        else
            optimum(&j, c, id);
    }
    json_free(&j);
    text_free(&text);
    return tap_done();
}
