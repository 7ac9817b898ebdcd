#include "sim/stream.h"
#include "base/file.h"
#include "base/json.h"
#include "model/builder.h"
#include "tap.h"

static struct platform *processors(uint32_t n)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 1, 0, NAN, 0);
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "P%u", i + 1);
        platform_builder_node(b, name, (size_t)len, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

static struct builder *tasks_of(uint32_t n, const double *time)
{
    struct builder *b = builder_new("<test>", "test");
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "t%u", i + 1);
        builder_work(b, builder_task(b, name, (size_t)len, 0), time[i], 0);
    }
    return b;
}

/* A cluster of the given tasks on the next `procs` nodes. */
static void cluster(struct plan *p, uint32_t *next_node, uint32_t procs, const uint32_t *tasks,
                    uint32_t ntasks, const uint32_t *duplicates, uint32_t nduplicates)
{
    struct cluster c = {.tasks = (uint32_t)p->tasks.n, .ntasks = ntasks, .replicas = procs};
    for (uint32_t i = 0; i < ntasks; i++)
        array_push(&p->tasks, tasks[i]);
    c.duplicates = (uint32_t)p->tasks.n;
    c.nduplicates = nduplicates;
    for (uint32_t i = 0; i < nduplicates; i++)
        array_push(&p->tasks, duplicates[i]);
    c.nodes = (uint32_t)p->nodes.n;
    c.nnodes = procs;
    for (uint32_t i = 0; i < procs; i++)
        array_push(&p->nodes, (*next_node)++);
    array_push(&p->clusters, c);
}

/* 4.1.3 of the report: two tasks of 10, a transfer of 50; one processor each: 1/50; two each: 2/50.
 */
static void replicas(void)
{
    double time[] = {10, 10};
    struct builder *b = tasks_of(2, time);
    builder_data_edge(b, 0, 1, 50, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct platform *p = processors(4);
    for (uint32_t procs = 1; procs <= 2; procs++) {
        struct plan *plan = plan_new(PLAN_STREAM);
        plan->pipelined = true;
        plan->ports = 1;
        uint32_t next = 0, one[] = {0}, two[] = {1};
        cluster(plan, &next, procs, one, 1, NULL, 0);
        cluster(plan, &next, procs, two, 1, NULL, 0);
        struct stream_options o;
        stream_options_init(&o);
        struct stream_result r;
        ok(stream_run(w, p, plan, &o, &r, &err), "4.1.3 with %u replica(s) %s", procs, err.text);
        is_dbl(r.throughput, procs / 50.0, 1e-4, "%u item(s) every 50", procs);
        is_dbl(r.latency_first, 70, 1e-9, "replicas do not change the latency of an item");
        is_int(r.nprocessors, 2 * procs, "processors");
        is_int(r.nchannels, procs, "replica n talks to replica n only");
        is_dbl(r.channels[0].occupancy, 200.0 / procs * 50 / r.makespan, 1e-9, "channel occupancy");
        is_dbl(r.processors[0].occupancy, 200.0 / procs * 10 / r.makespan, 1e-9,
               "processor occupancy");
        is_dbl(r.bytes_moved, 200 * 50, 0, "bytes");
        stream_result_free(&r);

        o.fed = FEED_PERIOD;
        o.period = 60;
        o.items = 20;
        ok(stream_run(w, p, plan, &o, &r, &err), "one item a minute");
        ok(r.latency_mean == 70 && r.latency_max == 70 && r.latency_p99 == 70,
           "a slow source leaves every item its least latency");
        is_dbl(r.throughput, 1 / 60.0, 1e-9, "and the throughput is that of the source");
        stream_result_free(&r);

        plan->pipelined = false;
        o.fed = FEED_FLOOD;
        o.period = 0;
        ok(stream_run(w, p, plan, &o, &r, &err), "not pipelined");
        is_dbl(r.makespan, 20 * 70, 1e-9, "one item after the other");
        stream_result_free(&r);
        plan_free(plan);
    }
    platform_free(p);
    workflow_free(w);
}

/* A broadcast: one object read by two tasks of one cluster travels once an item. */
static void once(void)
{
    double time[] = {1, 1, 1};
    struct builder *b = tasks_of(3, time);
    uint32_t object = builder_object(b, "o", 1);
    builder_size(b, object, 5, 0);
    builder_produces(b, 0, object, 0);
    builder_consumes(b, 1, object, 0);
    builder_consumes(b, 2, object, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct platform *p = processors(2);
    struct plan *plan = plan_new(PLAN_STREAM);
    plan->pipelined = true;
    uint32_t next = 0, one[] = {0}, two[] = {1, 2};
    cluster(plan, &next, 1, one, 1, NULL, 0);
    cluster(plan, &next, 1, two, 2, NULL, 0);
    struct stream_options o;
    stream_options_init(&o);
    o.items = 10;
    struct stream_result r;
    ok(stream_run(w, p, plan, &o, &r, &err), "a broadcast %s", err.text);
    is_int(r.transfers, 10, "one transfer an item");
    is_dbl(r.latency_first, 8, 1e-12, "1 + 5 + 1 + 1");
    stream_result_free(&r);
    o.noise = 0.2;
    struct stream_result again;
    stream_run(w, p, plan, &o, &r, &err);
    stream_run(w, p, plan, &o, &again, &err);
    ok(r.makespan == again.makespan && r.makespan != 52, "noise repeats by its seed");
    stream_result_free(&again);
    stream_result_free(&r);

    struct {
        const char *what, *part;
    } bad[] = {{"0 items", "0 items"},
               {"no period", "period"},
               {"a wrong kind", "'order'"},
               {"a missing task", "at home in no"},
               {"an unknown node", "node number 9"},
               {"a cluster without nodes", "no nodes"},
               {"a task twice", "twice"}};
    for (int i = 0; i < 7; i++) {
        stream_options_init(&o);
        if (i == 0)
            o.items = 0;
        else if (i == 1)
            o.period = NAN;
        else if (i == 2)
            plan->kind = PLAN_ORDER;
        else if (i == 3)
            plan->clusters.at[1].ntasks = 1;
        else if (i == 4)
            plan->nodes.at[1] = 9;
        else if (i == 5)
            plan->clusters.at[1].nnodes = 0;
        else
            plan->tasks.at[2] = 1;
        error_clear(&err);
        ok(!stream_run(w, p, plan, &o, &r, &err) && err.kind == ERROR_INPUT, "%s is refused",
           bad[i].what);
        has_str(err.text, bad[i].part, "%s is named", bad[i].what);
        stream_result_free(&r);
        plan->kind = PLAN_STREAM;
        plan->clusters.at[1].ntasks = 2;
        plan->nodes.at[1] = 1;
        plan->clusters.at[1].nnodes = 1;
        plan->tasks.at[2] = 2;
    }
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

/* ---- the worked examples, with the figures of another simulator ---- */

static double fraction(const struct json *j, json_ref v)
{
    if (json_type(j, v) == JSON_NUMBER)
        return json_number(j, v);
    const char *text = json_string(j, v, NULL);
    double a = strtod(text, NULL);
    const char *slash = strchr(text, '/');
    return slash ? a / strtod(slash + 1, NULL) : a;
}

static void one_case(const struct json *j, json_ref c)
{
    const char *id = json_string(j, json_get(j, c, "id"), NULL);
    json_ref graph = json_get(j, c, "graph"), map = json_get(j, c, "mapping");
    json_ref simulation = json_get(j, c, "simulation");
    double time[64];
    uint32_t n = 0;
    json_ref list = json_get(j, graph, "tasks");
    for (json_ref t = json_first(j, list); t != JSON_NONE; t = json_next_element(j, list, t))
        time[n++] = fraction(j, t);
    struct builder *b = tasks_of(n, time);
    list = json_get(j, graph, "edges");
    for (json_ref e = json_first(j, list); e != JSON_NONE; e = json_next_element(j, list, e)) {
        json_ref from = json_first(j, e), to = json_next_element(j, e, from);
        json_ref weight = json_next_element(j, e, to);
        builder_data_edge(b, (uint32_t)json_number(j, from), (uint32_t)json_number(j, to),
                          fraction(j, weight), 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    uint32_t home[64], k = 0;
    list = json_get(j, map, "home");
    for (json_ref h = json_first(j, list); h != JSON_NONE; h = json_next_element(j, list, h))
        home[k++] = (uint32_t)json_number(j, h);
    struct plan *plan = plan_new(PLAN_STREAM);
    plan->pipelined = true;
    json_ref ports = json_get(j, c, "k");
    plan->ports = json_type(j, ports) == JSON_NUMBER ? (uint32_t)json_number(j, ports) : 0;
    list = json_get(j, map, "clusters");
    json_ref replicas_list = json_get(j, map, "nr");
    json_ref nr = json_first(j, replicas_list);
    uint32_t next = 0, index = 0;
    for (json_ref x = json_first(j, list); x != JSON_NONE; x = json_next_element(j, list, x)) {
        uint32_t at_home[64], away[64], nhome = 0, naway = 0;
        for (json_ref t = json_first(j, x); t != JSON_NONE; t = json_next_element(j, x, t)) {
            uint32_t task = (uint32_t)json_number(j, t);
            if (home[task] == index)
                at_home[nhome++] = task;
            else
                away[naway++] = task;
        }
        cluster(plan, &next, (uint32_t)ceil(fraction(j, nr)), at_home, nhome, away, naway);
        nr = json_next_element(j, replicas_list, nr);
        index++;
    }
    struct platform *p = processors(next);
    struct stream_options o;
    stream_options_init(&o);
    o.items = 1;
    struct stream_result r;
    double want = fraction(j, json_get(j, simulation, "latency_one_item"));
    if (ok(stream_run(w, p, plan, &o, &r, &err), "%s runs %s", id, err.text))
        is_dbl(r.latency_first, want, 1e-9, "%s: latency of one item", id);
    stream_result_free(&r);
    o.items = 400;
    want = fraction(j, json_get(j, simulation, "throughput_saturated"));
    if (ok(stream_run(w, p, plan, &o, &r, &err), "%s runs saturated", id))
        is_dbl(r.throughput, want, 0.015 * want, "%s: saturated throughput", id);
    stream_result_free(&r);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

static void worked_examples(void)
{
    const char *shared = tap_shared();
    if (!shared) {
        tap_skip("worked examples of the MOS report", "no shared data");
        return;
    }
    char path[4400];
    snprintf(path, sizeof path, "%s/cases/mos-cases.json", shared);
    struct text text;
    struct json j;
    struct error err = {0};
    if (!ok(file_read(path, &text, &err), "the cases are there"))
        return;
    ok(json_parse(&j, path, text.at, text.n, &err), "and read");
    json_ref cases = json_get(&j, 0, "cases");
    int count = 0;
    for (json_ref c = json_first(&j, cases); c != JSON_NONE; c = json_next_element(&j, cases, c))
        if (json_get(&j, c, "simulation") != JSON_NONE &&
            json_type(&j, json_get(&j, c, "simulation")) == JSON_OBJECT) {
            one_case(&j, c);
            count++;
        }
    ok(count >= 10, "%d cases with simulated figures", count);
    json_free(&j);
    text_free(&text);
}

/* One task feeds two, 4 seconds each: with one port at its node an item every 8 seconds, with two
 * every 4; the receivers have one. */
static void own_ports(void)
{
    double time[] = {1, 1, 1};
    struct builder *b = tasks_of(3, time);
    builder_data_edge(b, 0, 1, 4, 0);
    builder_data_edge(b, 0, 2, 4, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    for (uint32_t ports = 1; ports <= 2; ports++) {
        struct platform_builder *pb = platform_builder_new("<test>");
        platform_builder_network(pb, 1, 0, 3 - ports, 0);
        for (int i = 0; i < 3; i++)
            platform_builder_node(pb, &"abc"[i], 1, 0);
        platform_builder_ports(pb, 0, ports, 0);
        struct platform *p = platform_builder_finish(pb, &err);
        struct plan *plan = plan_new(PLAN_STREAM);
        uint32_t next = 0, task[] = {0, 1, 2};
        plan->pipelined = true;
        for (int i = 0; i < 3; i++)
            cluster(plan, &next, 1, &task[i], 1, NULL, 0);
        struct stream_options o;
        struct stream_result r;
        stream_options_init(&o);
        ok(stream_run(w, p, plan, &o, &r, &err), "%u port(s) at the source %s", ports, err.text);
        is_dbl(r.throughput, ports / 8.0, 1e-4, "an item every %u seconds", 8 / ports);
        is_dbl(r.latency_first, ports == 1 ? 10 : 6, 1e-9, "the first is late by its own ports");
        is_dbl(r.processors[0].communication, 200 * 8.0 / ports / r.makespan, 1e-9,
               "occupancy counts the node's own ports");
        stream_result_free(&r);
        plan_free(plan);
        platform_free(p);
    }
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(replicas),
        TAP_CASE(own_ports),
        TAP_CASE(once),
        TAP_CASE(worked_examples),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
