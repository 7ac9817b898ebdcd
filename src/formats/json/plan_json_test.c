#include "base/json.h"
#include "base/mem.h"
#include "formats/index_rows.h"
#include "formats/json/trace_json.h"

#include <unistd.h>

/* Two tasks with a file between them, a third joined by an anonymous object. */
static struct workflow *small_workflow(void)
{
    struct error err = {0};
    struct builder *b = builder_new("flow.yaml", "test");
    builder_name(b, "small", 5);
    uint32_t a = builder_task(b, "a", 1, 1), c = builder_task(b, "b \"x\"", 5, 2);
    uint32_t d = builder_task(b, "c", 1, 3), f = builder_object(b, "file", 4);
    builder_work(b, a, 2, 0);
    builder_produces(b, a, f, 0);
    builder_consumes(b, c, f, 0);
    builder_size(b, f, 10, 0);
    builder_data_edge(b, c, d, 7, 0);
    return builder_finish(b, &err);
}

static struct platform *small_platform(void)
{
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("nodes.yaml");
    platform_builder_node(b, "n1", 2, 0);
    platform_builder_node(b, "n2", 2, 0);
    platform_builder_cores(b, 1, 2, 0);
    return platform_builder_finish(b, &err);
}

/* A file with this text beside which other files may stand. The caller frees the path and removes
 * the file. */
static char *temporary(const char *text)
{
    char path[] = "weft-plan-test-XXXXXX";
    const char *folder = getenv("TMPDIR");
    struct strbuf full = {0};
    strbuf_printf(&full, "%s/%s", folder ? folder : P_tmpdir, path);
    int fd = mkstemp(full.at);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        ok(false, "cannot write a temporary file");
    close(fd);
    return strbuf_steal(&full);
}

static struct plan *read_plan(const char *text, const struct workflow *w, const struct platform *p,
                              struct error *err)
{
    *err = (struct error){0};
    char *path = temporary(text);
    struct plan_file *f = plan_file_open(path, err);
    struct plan *plan = f ? plan_file_read(f, w, p, err) : NULL;
    plan_file_close(f);
    unlink(path);
    free(path);
    return plan;
}

/* Written, read, and written again: the same text. */
static struct plan *round_trip(const struct plan *plan, const struct workflow *w,
                               const struct platform *p)
{
    struct strbuf first = {0}, second = {0};
    struct error err;
    plan_json_write(plan, w, p, &first);
    struct plan *again = read_plan(strbuf_text(&first), w, p, &err);
    if (ok(again, "the %s plan reads back %s", plan_kind_name(plan->kind), err.text)) {
        plan_json_write(again, w, p, &second);
        is_str(strbuf_text(&second), strbuf_text(&first), "and is written the same");
    }
    strbuf_free(&first);
    strbuf_free(&second);
    return again;
}

static struct plan *static_plan(void)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    plan->planner = mem_copy_string("heft");
    plan->seed = UINT64_MAX - 1;
    plan->planning_seconds = 0.25;
    plan_set_option(plan, "budget", "1s");
    plan_set_objective(plan, "makespan", 12.5);
    plan_set_objective(plan, "lower_bound", NAN);
    plan_note(plan, "a note with \"quotes\"");
    array_push(&plan->placements, (struct placement){0, 0, 0, 0, 0, 2});
    array_push(&plan->placements, (struct placement){1, 0, 1, 1, 3, 4});
    array_push(&plan->placements, (struct placement){2, 1, 1, 0, 0.1 + 0.2, 12.5});
    plan_sort(plan);
    array_push(&plan->transfers, (struct transfer){0, 0, 1, 2, 3});
    array_push(&plan->transfers, (struct transfer){1, 1, 0, 4, 5});
    return plan;
}

static void test_kinds(const struct workflow *w, const struct platform *p)
{
    struct plan *plan = static_plan(), *again = round_trip(plan, w, p);
    if (again) {
        ok(again->seed == UINT64_MAX - 1, "a seed of 64 bits");
        is_str(again->notes.at[0], "a note with \"quotes\"", "its note");
        is_str(again->options.at[0].value, "1s", "its option");
        is_dbl(plan_objective(again, "makespan"), 12.5, 0, "its objective");
        ok(isnan(plan_objective(again, "lower_bound")),
           "an objective that is no number is left out");
        is_str(again->workflow_file, "flow.yaml", "its workflow's file");
        is_int(again->placements.n, 3, "placements");
        ok(again->placements.at[1].start == 0.1 + 0.2, "exact times");
        is_int(again->transfers.at[1].object, 1, "an anonymous object by its label");
    }
    plan_free(again);
    plan_free(plan);

    plan = static_plan();
    array_push(&plan->constraints, mem_copy_string("rules.sql:1:1: assert \"x\""));
    array_push(&plan->constraints, mem_copy_string("rules.sql:2:1: assert y"));
    array_push(&plan->pins, (struct plan_pin){2, 2});
    again = round_trip(plan, w, p);
    uint32_t *pinned = again ? plan_pins_by_task(again, w->ntasks) : NULL;
    if (ok(pinned, "what constraints pinned survives")) {
        ok(!pinned[0] && !pinned[1] && pinned[2] == 2, "for the task that was pinned");
        is_str(again->constraints.at[0], "rules.sql:1:1: assert \"x\"", "with the constraints");
    }
    free(pinned);
    plan_free(again);
    plan_free(plan);

    plan = plan_new(PLAN_PARTITION);
    uint32_t three[] = {0, 1, 2, 0};
    for (int i = 0; i < 4; i++)
        array_push(&plan->tasks, three[i]);
    array_push(&plan->parts, (struct part){0, 0, 0, 2, 2, 123});
    array_push(&plan->parts, (struct part){2, 1, 2, NONE, 1, NAN});
    plan_set_objective(plan, "makespan", 5);
    again = round_trip(plan, w, p);
    if (again) {
        is_int(again->parts.n, 2, "parts");
        is_int(again->tasks.at[again->parts.at[0].order], 2, "an order");
        ok(isnan(again->parts.at[1].memory) && again->parts.at[1].order == NONE,
           "what is not stated");
    }
    plan_free(again);
    plan_free(plan);

    plan = plan_new(PLAN_STREAM);
    for (int i = 0; i < 4; i++)
        array_push(&plan->tasks, three[i]);
    array_push(&plan->nodes, 1);
    array_push(&plan->nodes, 0);
    array_push(&plan->clusters, (struct cluster){0, 2, 2, 1, 0, 2, 1.4});
    array_push(&plan->clusters, (struct cluster){3, 1, 4, 0, 2, 0, 1});
    plan->pipelined = true;
    plan->ports = 4;
    again = round_trip(plan, w, p);
    if (again) {
        ok(again->pipelined && again->ports == 4, "pipelined with ports");
        is_int(again->clusters.at[0].nduplicates, 1, "duplicates");
        is_int(again->nodes.at[again->clusters.at[0].nodes], 1, "nodes");
        is_dbl(again->clusters.at[0].replicas, 1.4, 0, "replicas");
    }
    plan_free(again);
    plan_free(plan);

    plan = plan_new(PLAN_ORDER);
    for (int i = 0; i < 3; i++)
        array_push(&plan->order, (uint32_t)i);
    for (int i = 0; i < 4; i++)
        array_push(&plan->eligible, i < 3);
    plan->verdict = mem_copy_string("IC_PROVED");
    plan->proof = mem_copy_string("all of them");
    again = round_trip(plan, w, NULL);
    if (again) {
        is_str(again->verdict, "IC_PROVED", "a verdict");
        is_int(again->eligible.n, 4, "eligible");
        is_int(again->order.at[2], 2, "order");
    }
    plan_free(again);
    plan_free(plan);
}

static void refused_plan(const char *text, const char *part, const struct workflow *w,
                         const struct platform *p)
{
    struct error err;
    struct plan *plan = read_plan(text, w, p, &err);
    ok(!plan && err.kind == ERROR_INPUT && strstr(err.text, part), "refused for '%s': %s", part,
       err.text);
    plan_free(plan);
}

static void test_bad(const struct workflow *w, const struct platform *p)
{
    struct error err;
    struct plan *plan =
        read_plan("{\"schema\":\"weft-plan/1\",\"kind\":\"static\",\"objectives\":{\"makespan\":3},"
                  "\"placements\":[{\"task\":\"a\",\"node\":\"n1\",\"start\":0,\"finish\":3}]}",
                  w, p, &err);
    ok(plan && plan->placements.n == 1, "a plan with only what is needed %s", err.text);
    plan_free(plan);
#define PLAN "{\"schema\":\"weft-plan/1\",\"kind\":\"static\",\n"
    refused_plan("", "empty", w, p);
    refused_plan("[]", "expected an object", w, p);
    refused_plan("{}", "schema is missing", w, p);
    refused_plan("{\"schema\":\"weft-plan/2\"}", "'weft-plan/2'", w, p);
    refused_plan("{\"schema\":\"weft-plan/1\"}", "\"kind\" is missing", w, p);
    refused_plan("{\"schema\":\"weft-plan/1\",\"kind\":\"magic\"}", "'magic'", w, p);
    refused_plan(PLAN "\"x\":1}", "\"placements\" is missing", w, p);
    refused_plan(PLAN "\"placements\":{}}", "expected an array", w, p);
    refused_plan(PLAN "\"placements\":[1]}", "expected an object", w, p);
    refused_plan(PLAN "\"placements\":[\n{\"task\":\"zz\"}]}", ":3: the workflow has no task 'zz'",
                 w, p);
    refused_plan(PLAN "\"placements\":[{\"task\":\"a\",\"node\":\"zz\"}]}", "no node 'zz'", w, p);
    refused_plan(PLAN "\"placements\":[{\"task\":\"a\",\"node\":\"n1\"}]}", "\"start\" is missing",
                 w, p);
    refused_plan(PLAN "\"placements\":[{\"task\":\"a\",\"node\":\"n1\",\"core\":-1}]}",
                 "\"core\" is -1", w, p);
    refused_plan(PLAN "\"placements\":[{\"task\":\"a\",\"node\":\"n1\",\"copy\":1.5}]}",
                 "whole number", w, p);
    refused_plan(PLAN
                 "\"placements\":[{\"task\":\"a\",\"node\":\"n1\",\"start\":null,\"finish\":1}]}",
                 "missing", w, p);
    refused_plan(PLAN "\"placements\":[],\"transfers\":[{\"object\":\"zz\"}]}", "no object 'zz'", w,
                 p);
    refused_plan(PLAN "\"placements\":[],\"objectives\":{\"makespan\":\"3\"}}",
                 "objective 'makespan'", w, p);
    refused_plan(PLAN "\"placements\":[{\"task\":\"a\",\"node\":\"n1\"}]}", "no platform is given",
                 w, NULL);
    refused_plan("{\"schema\":\"weft-plan/1\",\"kind\":\"order\"}", "\"order\" is missing", w, p);
    refused_plan("{\"schema\":\"weft-plan/1\",\"kind\":\"order\",\"order\":[3]}",
                 "a task is a number", w, p);
    refused_plan("{\"schema\":\"weft-plan/"
                 "1\",\"kind\":\"partition\",\"parts\":[{\"root\":\"a\",\"node\":\"n1\","
                 "\"tasks\":[\"a\"],\"order\":[]}]}",
                 "its order lists 0", w, p);
    refused_plan("{\"schema\":\"weft-plan/1\",\"kind\":\"stream\",\"clusters\":[{}]}",
                 "\"tasks\" is missing", w, p);
    struct plan_file *f = plan_file_open("no/such/plan.json", &err);
    ok(!f, "a missing file is an error");
}

static void test_paths(void)
{
    char *other = temporary("x");
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "{\"schema\":\"weft-plan/"
                  "1\",\"workflow\":{\"file\":\"%s\"},\"platform\":{\"file\":\"no-such-file\"}}",
                  file_basename(other));
    char *path = temporary(strbuf_text(&text));
    struct error err = {0};
    struct plan_file *f = plan_file_open(path, &err);
    if (ok(f, "a plan with paths %s", err.text)) {
        is_str(plan_file_workflow(f), other, "found beside the plan");
        is_str(plan_file_platform(f), "no-such-file", "not found: as stated");
    }
    struct format_file *opened = format_file_open(path, NULL, NULL, &err);
    ok(opened && format_file_is_plan(opened), "sniffed as a plan");
    format_file_close(opened);
    opened = format_file_open(other, NULL, NULL, &err);
    ok(opened && !format_file_is_plan(opened), "and another file not");
    format_file_close(opened);
    plan_file_close(f);
    unlink(path);
    unlink(other);
    free(path);
    free(other);
    strbuf_free(&text);
}

/* ---- traces ---- */

static int count_phase(const struct json *j, json_ref events, const char *phase)
{
    int n = 0;
    for (json_ref v = json_first(j, events); v != JSON_NONE; v = json_next_element(j, events, v))
        n += json_is_string(j, json_get(j, v, "ph"), phase);
    return n;
}

static void test_trace(const struct workflow *w, const struct platform *p)
{
    struct plan *plan = static_plan();
    struct strbuf out = {0};
    struct json j;
    struct error err = {0};
    trace_json_write_plan(plan, w, p, &out);
    if (ok(json_parse(&j, "trace", out.at, out.n, &err), "a trace is JSON %s", err.text)) {
        json_ref events = json_get(&j, 0, "traceEvents");
        is_int(count_phase(&j, events, "X"), 3 + 2 * 2,
               "slices: tasks, and transfers at both ends");
        is_int(count_phase(&j, events, "s"), 2, "arrows begin");
        is_int(count_phase(&j, events, "f"), 2, "arrows end");
        is_int(count_phase(&j, events, "M"), 2 + 3 + 4, "names of processes, cores, lanes");
        json_ref first = JSON_NONE;
        for (json_ref v = json_first(&j, events); v != JSON_NONE && first == JSON_NONE;
             v = json_next_element(&j, events, v))
            first = json_is_string(&j, json_get(&j, v, "ph"), "X") ? v : JSON_NONE;
        is_dbl(json_number(&j, json_get(&j, first, "dur")), 2e6, 0, "microseconds");
        json_free(&j);
    }
    plan_free(plan);

    /* events as a simulator reports them, through a stream */
    strbuf_clear(&out);
    char *memory = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&memory, &length);
    struct trace_json *t = trace_json_open(w, p, stream, NULL);
    struct trace_sink sink = trace_json_sink(t);
    for (int i = 0; i < 2000; i++) {
        struct trace_event e = {.kind = TRACE_TRANSFER,
                                .id = 0,
                                .node = 0,
                                .other = 1,
                                .start = i / 2,
                                .finish = i / 2 + 1};
        sink.event(sink.context, &e);
    }
    struct trace_event fault = {.kind = TRACE_FAULT, .node = 1, .start = 3, .finish = INFINITY};
    struct trace_event count = {
        .kind = TRACE_COUNTER, .id = COUNTER_MEMORY, .node = 1, .start = 3, .amount = 8};
    struct trace_event failed = {
        .kind = TRACE_TASK, .id = 1, .node = 1, .start = 1, .finish = 2, .outcome = 1};
    struct trace_event endless = {
        .kind = TRACE_TASK, .id = 1, .node = 1, .start = 1, .finish = INFINITY};
    sink.event(sink.context, &fault);
    sink.event(sink.context, &count);
    sink.event(sink.context, &failed);
    sink.event(sink.context, &endless);
    fault.finish = 5;
    sink.event(sink.context, &fault);
    trace_json_close(t);
    fclose(stream);
    if (ok(json_parse(&j, "trace", memory, length, &err), "a streamed trace is JSON %s",
           err.text)) {
        json_ref events = json_get(&j, 0, "traceEvents");
        is_int(count_phase(&j, events, "X"), 2 * 2000 + 2, "slices; a task without an end is none");
        is_int(count_phase(&j, events, "i"), 1, "a node that stays down");
        is_int(count_phase(&j, events, "C"), 1, "a counter");
        is_int(count_phase(&j, events, "M"), 2 + 4 + 2,
               "two at once need two lanes at each end, no more");
        json_free(&j);
    }
    free(memory);
    strbuf_free(&out);
}

int main(void)
{
    struct workflow *w = small_workflow();
    struct platform *p = small_platform();
    TAP_DO(test_kinds(w, p));
    TAP_DO(test_bad(w, p));
    TAP_DO(test_paths());
    TAP_DO(test_trace(w, p));
    workflow_free(w);
    platform_free(p);
    return tap_done();
}
