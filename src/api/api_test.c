/* The library as a program sees it: memory that runs out at every allocation, handles that outlive
 * each other, options of an older header, planners of one's own, graphs built in code. */
#include "api/testing.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *api_path(const char *name)
{
    static char buffer[2][4096];
    static int turn;
    char *out = buffer[turn ^= 1];
    snprintf(out, sizeof buffer[0], "%s/examples/%s", WEFT_SOURCE_DIR, name);
    return out;
}

/* ---- every allocation fails once ---- */

static bool api_case_read(struct weft_error *error)
{
    struct weft_workflow *w = weft_workflow_read(api_path("heft-paper.yaml"), NULL, error);
    weft_workflow_free(w);
    return w != NULL;
}

static bool api_case_build(struct weft_error *error)
{
    error->status = WEFT_NO_MEMORY;
    strcpy(error->text, "out of memory"); /* weft_builder_new() has no error */
    struct weft_builder *b = weft_builder_new("built");
    if (!b)
        return false;
    uint32_t first = weft_builder_task(b, "first"), second = weft_builder_task(b, "second");
    uint32_t file = weft_builder_object(b, "file");
    weft_builder_command(b, first, "true");
    weft_builder_writes(b, first, file);
    weft_builder_reads(b, second, file);
    weft_builder_work(b, first, 2);
    weft_builder_deadline(b, second, 5);
    weft_builder_parameter(b, "x", "1");
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        uint32_t t = weft_builder_task(b, name);
        weft_builder_order(b, first, t);
    }
    struct weft_workflow *w = weft_builder_finish(b, error);
    weft_workflow_free(w);
    return w != NULL;
}

/* Read, plan, check, simulate, write: what a program does. */
static bool api_whole(const char *planner, const char *flow, const char *on,
                      struct weft_error *error)
{
    struct weft_problem_options where = WEFT_PROBLEM_INIT;
    struct weft_plan_options how = WEFT_PLAN_INIT;
    static const char *const quick[] = {"budget=300moves", NULL};
    struct weft_problem problem;
    where.platform = on;
    where.no_predict = true;
    if (!weft_problem_read(flow, &where, &problem, error))
        return false;
    if (!strcmp(planner, "auto"))
        how.options = quick;
    struct weft_plan *plan =
        weft_plan_make(problem.workflow, problem.platform, planner, &how, error);
    bool good = plan && weft_plan_check(plan, error) == 0;
    if (good) {
        struct weft_sim_options often = WEFT_SIM_INIT;
        often.keep = true;
        often.repeat = 3;
        often.noise = 0.1;
        struct weft_sim *s = weft_sim_plan(plan, &often, error);
        char *trace = s ? weft_sim_trace(s, NULL, error) : NULL;
        good = trace != NULL;
        weft_text_free(trace);
        weft_sim_free(s);
    }
    char *text = good ? weft_plan_write_text(plan, NULL, error) : NULL;
    good = text != NULL;
    weft_text_free(text);
    weft_plan_free(plan);
    weft_problem_free(&problem);
    return good;
}

static bool api_case_heft(struct weft_error *error)
{
    return api_whole("heft", api_path("heft-paper.yaml"), api_path("heft-paper-nodes.yaml"), error);
}

static bool api_case_auto(struct weft_error *error)
{
    return api_whole("auto", api_path("heft-paper.yaml"), api_path("heft-paper-nodes.yaml"), error);
}

static bool api_case_mos(struct weft_error *error)
{
    return api_whole("mos", api_path("edges.yaml"), "8", error);
}

static bool api_case_constraints(struct weft_error *error)
{
    return api_whole("constraints", api_path("heft-paper.yaml"), api_path("heft-paper-nodes.yaml"),
                     error);
}

static bool api_write_as(const char *format, struct weft_error *error)
{
    struct weft_write_options o = WEFT_WRITE_INIT;
    struct weft_read_options back = WEFT_READ_INIT;
    o.format = back.format = format;
    struct weft_workflow *w = weft_workflow_read(api_path("montage-25.dag"), NULL, error);
    size_t n = 0;
    char *text = w ? weft_workflow_write_text(w, &o, &n, error) : NULL;
    struct weft_workflow *again =
        text ? weft_workflow_read_text(text, n, "again", &back, error) : NULL;
    bool good = again != NULL;
    weft_workflow_free(again);
    weft_text_free(text);
    weft_workflow_free(w);
    return good;
}

static bool api_case_json(struct weft_error *error)
{
    return api_write_as("wfformat", error);
}

static bool api_case_dot(struct weft_error *error)
{
    return api_write_as("dot", error);
}

static bool api_case_native(struct weft_error *error)
{
    return api_write_as("native", error);
}

static bool api_case_xml(struct weft_error *error)
{
    static const char text[] =
        "<?xml version=\"1.0\"?>\n<adag xmlns=\"http://pegasus.isi.edu/schema/DAX\" "
        "version=\"3.3\" "
        "name=\"x\">\n<job id=\"A\" name=\"a\" runtime=\"2\"><uses file=\"f\" link=\"output\" "
        "size=\"10\"/></job>\n<job id=\"B\" name=\"b\" runtime=\"3\"><uses file=\"f\" "
        "link=\"input\" size=\"10\"/></job>\n<child ref=\"B\"><parent "
        "ref=\"A\"/></child>\n</adag>\n";
    struct weft_workflow *w = weft_workflow_read_text(text, sizeof text - 1, "x.dax", NULL, error);
    weft_workflow_free(w);
    return w != NULL;
}

/* CHOLMOD's objects, by both ways into its analysis. */
static bool api_matrix(const char *const *options, struct weft_error *error)
{
    struct weft_read_options o = WEFT_READ_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/formats/mtx.mtx", WEFT_SOURCE_DIR);
    o.options = options;
    struct weft_workflow *w = weft_workflow_read(path, &o, error);
    weft_workflow_free(w);
    return w != NULL;
}

static bool api_case_matrix(struct weft_error *error)
{
    static const char *const relaxed[] = {"tree=assembly", "relax=yes", NULL};
    return api_matrix(NULL, error) && api_matrix(relaxed, error);
}

static bool api_case_compare(struct weft_error *error)
{
    static const char *const names[] = {"heft", "peft", "minmin", NULL};
    struct weft_compare_options o = WEFT_COMPARE_INIT;
    o.planners = names;
    struct weft_workflow *w = weft_workflow_read(api_path("heft-paper.yaml"), NULL, error);
    struct weft_platform *p =
        w ? weft_platform_named(api_path("heft-paper-nodes.yaml"), error) : NULL;
    struct weft_compare *c = p ? weft_compare_new(w, p, &o, error) : NULL;
    bool good = c != NULL;
    weft_compare_free(c);
    weft_platform_free(p);
    weft_workflow_free(w);
    return good;
}

static bool api_case_clients(struct weft_error *error)
{
    struct weft_workflow *w = weft_workflow_generate("cholesky", NULL, 1, error);
    struct weft_sim *s = w ? weft_sim_clients(w, NULL, NULL, error) : NULL;
    bool good = s != NULL;
    weft_sim_free(s);
    weft_workflow_free(w);
    return good;
}

static void test_memory(void)
{
    api_fail_each("read", api_case_read, 100000);
    api_fail_each("build", api_case_build, 100000);
    api_fail_each("heft", api_case_heft, 400);
    api_fail_each("auto", api_case_auto, 300);
    api_fail_each("mos", api_case_mos, 200);
    api_fail_each("constraints", api_case_constraints, 300);
    api_fail_each("JSON", api_case_json, 1000);
    api_fail_each("DOT", api_case_dot, 1000);
    api_fail_each("YAML", api_case_native, 1000);
    api_fail_each("XML", api_case_xml, 1000);
    api_fail_each("matrix", api_case_matrix, 1000);
    api_fail_each("compare", api_case_compare, 300);
    api_fail_each("clients", api_case_clients, 300);
}

/* ---- handles ---- */

static void test_handles(void)
{
    struct weft_error error = {WEFT_FAILED, "old"};
    struct weft_workflow *w = weft_workflow_read(api_path("heft-paper.yaml"), NULL, &error);
    struct weft_platform *p = weft_platform_read(api_path("heft-paper-nodes.yaml"), NULL, &error);
    ok(w && p && error.status == WEFT_DONE && !*error.text, "a success clears the error");
    struct weft_plan *plan = weft_plan_make(w, p, "heft", NULL, &error);
    weft_workflow_free(w);
    weft_platform_free(p);
    ok(plan != NULL, "a plan");
    is_dbl(weft_plan_objective(plan, "makespan"), 80, 1e-9, "HEFT's own example");
    is_str(weft_workflow_task_name(weft_plan_workflow(plan), 0), "n1", "it keeps its workflow");
    is_int(weft_platform_nodes(weft_plan_platform(plan)), 3, "and its platform");
    struct weft_check *c = weft_check_new(plan, &error);
    is_int(weft_check_total(c), 0, "and is valid");
    is_dbl(weft_check_objective(c, "makespan"), 80, 1e-9, "as recomputed");
    weft_check_free(c);
    ok(!weft_workflow_read("/nowhere", NULL, &error) && error.status == WEFT_BAD_INPUT, "an error");
    ok(!weft_plan_make(weft_plan_workflow(plan), weft_plan_platform(plan), "hefd", NULL, &error) &&
           strstr(error.text, "heft"),
       "a name that is near");
    weft_plan_free(plan);
    ok(!weft_workflow_read("/nowhere", NULL, NULL), "an error that nobody wants");
}

static void test_options(void)
{
    /* A program that was compiled when the struct had only its first two fields. */
    struct {
        size_t size;
        const char *const *options;
    } older = {sizeof older, NULL};
    struct weft_error error;
    struct weft_workflow *w = weft_workflow_generate("chain", NULL, 1, &error);
    struct weft_platform *p = weft_platform_named("2", &error);
    struct weft_plan *plan = weft_plan_make(w, p, "heft", (const void *)&older, &error);
    ok(plan != NULL, "options of an older header");
    weft_plan_free(plan);
    struct weft_plan_options none = {0};
    ok(!weft_plan_make(w, p, "heft", &none, &error) && strstr(error.text, "INIT"),
       "options without a size are refused");
    weft_platform_free(p);
    weft_workflow_free(w);
}

/* ---- a planner of one's own ---- */

static bool api_all_on_first(void *context, struct weft_draft *d)
{
    double now = 0;
    const struct weft_workflow *w = weft_draft_workflow(d);
    const uint32_t *order = weft_workflow_topological(w);
    ++*(int *)context;
    for (uint32_t i = 0; i < weft_workflow_tasks(w); i++) {
        double takes = weft_draft_time(d, order[i], 0);
        if (!weft_draft_place(d, &(struct weft_placement){order[i], 0, 0, 0, now, now + takes}))
            return false;
        now += takes;
    }
    return weft_draft_note(d, "all on the first") && weft_draft_progress(d, 1, "done");
}

static bool api_gives_up(void *context, struct weft_draft *d)
{
    (void)context;
    weft_draft_fail(d, WEFT_INFEASIBLE, weft_draft_option(d, "why"));
    return false;
}

static bool api_case_own(struct weft_error *error)
{
    int calls = 0;
    struct weft_planner_own own = WEFT_PLANNER_INIT;
    own.name = "all-on-first";
    own.run = api_all_on_first;
    own.context = &calls;
    if (!weft_planner_register(&own, error))
        return false;
    struct weft_workflow *w = weft_workflow_read(api_path("heft-paper.yaml"), NULL, error);
    struct weft_platform *p =
        w ? weft_platform_named(api_path("heft-paper-nodes.yaml"), error) : NULL;
    struct weft_plan *plan = p ? weft_plan_make(w, p, "all-on-first", NULL, error) : NULL;
    bool good = plan != NULL;
    weft_plan_free(plan);
    weft_platform_free(p);
    weft_workflow_free(w);
    return weft_planner_unregister("all-on-first") && good;
}

static void test_own_planner(void)
{
    struct weft_error error;
    struct weft_planner listed;
    int calls = 0;
    struct weft_planner_own own = WEFT_PLANNER_INIT;
    own.name = "all-on-first";
    own.run = api_all_on_first;
    own.context = &calls;
    own.in_auto = true;
    ok(weft_planner_register(&own, &error), "registered");
    ok(!weft_planner_register(&own, &error), "but not twice");
    size_t number = weft_planner_find("all-on-first", &error);
    ok(number != SIZE_MAX && weft_planner(number, &listed) && listed.own, "it is listed");
    struct weft_workflow *w = weft_workflow_read(api_path("heft-paper.yaml"), NULL, &error);
    struct weft_platform *p = weft_platform_named(api_path("heft-paper-nodes.yaml"), &error);
    struct weft_plan *plan = weft_plan_make(w, p, "all-on-first", NULL, &error);
    ok(plan && calls == 1, "it plans");
    is_str(weft_plan_planner(plan), "all-on-first", "and signs");
    is_str(weft_plan_note(plan, 0), "all on the first", "and notes");
    is_int(weft_plan_nodes_used(plan), 1, "on one node");
    weft_plan_free(plan);
    static const char *const quick[] = {"budget=100moves", NULL};
    struct weft_plan_options o = WEFT_PLAN_INIT;
    o.options = quick;
    plan = weft_plan_make(w, p, "auto", &o, &error);
    ok(plan && calls == 2, "auto tries it as well");
    weft_plan_free(plan);
    ok(weft_planner_suits("all-on-first", w, p, &error), "it suits");

    static const struct weft_option why[] = {
        {"why", "text", "no reason", NULL, 0, 0, "what it says"}, {0}};
    struct weft_planner_own other = WEFT_PLANNER_INIT;
    other.name = "gives-up";
    other.run = api_gives_up;
    other.options = why;
    static const char *const reason[] = {"why=it rains", NULL};
    o.options = reason;
    ok(weft_planner_register(&other, &error), "another, with an option");
    ok(!weft_plan_make(w, p, "gives-up", &o, &error) && error.status == WEFT_INFEASIBLE,
       "that gives up");
    is_str(error.text, "it rains", "and says why");
    ok(weft_planner_unregister("gives-up") && weft_planner_unregister("all-on-first"), "forgotten");
    ok(!weft_planner_unregister("all-on-first"), "once");
    weft_platform_free(p);
    weft_workflow_free(w);
    api_fail_each("a planner of one's own", api_case_own, 1000);
}

/* ---- graphs built, read through callbacks, walked ---- */

struct api_source {
    const char *at;
    size_t left;
};

static ptrdiff_t api_read_slowly(void *context, char *buffer, size_t size)
{
    struct api_source *s = context;
    size_t n = s->left < 7 ? s->left : 7;
    n = n < size ? n : size;
    memcpy(buffer, s->at, n);
    s->at += n;
    s->left -= n;
    return (ptrdiff_t)n;
}

static ptrdiff_t api_read_badly(void *context, char *buffer, size_t size)
{
    (void)context;
    (void)buffer;
    (void)size;
    errno = EIO;
    return -1;
}

static bool api_write_count(void *context, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
    return true;
}

static void api_count_line(void *context, const char *line)
{
    (void)line;
    ++*(int *)context;
}

static void test_workflows(void)
{
    static const char text[] = "weft: 1\nname: two\ntasks:\n  a: {work: 2, memory: 1M, out: [x]}\n"
                               "  b: {in: [x], deadline: 9, priority: 3}\n";
    struct weft_error error;
    struct api_source source = {text, sizeof text - 1};
    struct weft_workflow *w =
        weft_workflow_read_from(api_read_slowly, &source, "mem", NULL, &error);
    ok(w != NULL, "through a callback");
    is_str(weft_workflow_name(w), "two", "its name");
    is_int(weft_workflow_objects(w), 1, "an object");
    struct weft_task_info task;
    struct weft_object_info object;
    ok(weft_workflow_task(w, weft_workflow_find_task(w, "a"), &task), "a task");
    ok(task.work == 2 && task.memory == 1e6 && isinf(task.deadline), "its figures");
    ok(weft_workflow_object(w, weft_workflow_find_object(w, "x"), &object), "the object");
    ok(object.producer == 0 && object.nconsumers == 1 && object.consumers[0] == 1, "its ends");
    const uint32_t *tasks, *objects;
    is_int(weft_workflow_successors(w, 0, &tasks, &objects), 1, "an edge out");
    ok(tasks[0] == 1 && objects[0] == 0, "to b");
    is_int(weft_workflow_predecessors(w, 1, &tasks, &objects), 1, "and into it");
    is_int(weft_workflow_find_task(w, "c"), WEFT_NONE, "none such");
    struct weft_statistics s;
    ok(weft_workflow_statistics(w, &s, &error) && s.depth == 2 && !strcmp(s.tree, "chain"),
       "statistics");
    size_t bytes = 0;
    ok(weft_workflow_write_to(w, api_write_count, &bytes, NULL, &error) && bytes > 40,
       "written through a callback");
    int lines = 0;
    struct weft_write_options dot = WEFT_WRITE_INIT;
    dot.format = "stg";
    dot.dropped = api_count_line;
    dot.context = &lines;
    char *out = weft_workflow_write_text(w, &dot, NULL, &error);
    ok(out && lines > 0, "what a format cannot carry is told");
    weft_text_free(out);
    ok(!weft_workflow_remark(w, 0), "no remarks");
    struct weft_platform *one = weft_platform_named("1", &error);
    struct weft_plan *order = weft_plan_make(w, one, "ic", NULL, &error);
    const char *proof;
    ok(order && weft_plan_order(order, &tasks) == 2 && weft_plan_verdict(order, &proof),
       "an order");
    ok(weft_workflow_prioritize(w, order, &error) && weft_workflow_task(w, 0, &task) &&
           task.priority == 2,
       "as priorities");
    weft_plan_free(order);
    weft_platform_free(one);
    weft_workflow_free(w);
    ok(!weft_workflow_read_from(api_read_badly, NULL, "mem", NULL, &error) &&
           strstr(error.text, "Input/output error"),
       "a callback that fails");
    struct weft_builder *b = weft_builder_new("wrong");
    uint32_t a = weft_builder_task(b, "a"), c = weft_builder_task(b, "c");
    weft_builder_order(b, a, c);
    weft_builder_order(b, c, a);
    ok(!weft_builder_finish(b, &error) && strstr(error.text, "cycle"),
       "a cycle is told at the end");
    b = weft_builder_new(NULL);
    weft_builder_work(b, 7, 1);
    weft_builder_size(b, 7, 1);
    ok(!weft_builder_finish(b, &error) && strstr(error.text, "no task number 7"),
       "a number that is none");
    b = weft_builder_new(NULL);
    a = weft_builder_task(b, "a");
    weft_builder_command(b, a, "x | y");
    weft_builder_shell(b, a, "sh |");
    ok(!weft_builder_finish(b, &error) && strstr(error.text, "shell is 'sh |'"), "no shell");
    b = weft_builder_new(NULL);
    a = weft_builder_task(b, "a");
    weft_builder_command(b, a, "x | y");
    weft_builder_shell(b, a, "sh");
    w = weft_builder_finish(b, &error);
    char *native = w ? weft_workflow_write_text(w, NULL, NULL, &error) : NULL;
    ok(native && strstr(native, "shell: sh"), "a shell of its own");
    weft_text_free(native);
    weft_workflow_free(w);
    b = weft_builder_new(NULL);
    a = weft_builder_task(b, "a");
    weft_builder_call(b, a, "lib.so:f");
    weft_builder_kind(b, a, "k");
    weft_builder_time(b, a, "n", 3);
    weft_builder_memory(b, a, 5);
    weft_builder_cores(b, a, 2);
    weft_builder_priority(b, a, 1);
    weft_builder_retries(b, a, 4);
    weft_builder_temporary(b, weft_builder_object(b, "o"));
    weft_builder_writes(b, a, weft_builder_object(b, "o"));
    weft_builder_constraint(b, "true");
    w = weft_builder_finish(b, &error);
    ok(w && weft_workflow_task(w, 0, &task) && task.is_call && task.cores == 2 && task.retries == 4,
       "every attribute");
    weft_workflow_free(w);
    b = weft_builder_new(NULL);
    a = weft_builder_task(b, "a");
    weft_builder_call(b, a, "lib.so:f");
    weft_builder_timeout(b, a, 9);
    ok(!weft_builder_finish(b, &error) &&
           strstr(error.text, "task 'a' has a timeout and is a call"),
       "but for a timeout of a call, which nobody could keep");
}

static void test_platforms(void)
{
    struct weft_error error;
    struct weft_node nodes[2] = {WEFT_NODE_INIT("a"), WEFT_NODE_INIT("b")};
    struct weft_link slow = {0, 1, 10, 2};
    struct weft_network net = WEFT_NETWORK_INIT;
    nodes[1].speed = 2;
    nodes[1].cores = 4;
    net.bandwidth = 100;
    net.links = &slow;
    net.nlinks = 1;
    struct weft_platform *p = weft_platform_build("pair", nodes, 2, &net, &error);
    ok(p != NULL, "built");
    is_str(weft_platform_name(p), "pair", "its name");
    is_int(weft_platform_cores(p), 5, "its cores");
    is_int(weft_platform_find_node(p, "b"), 1, "a node by name");
    is_dbl(weft_platform_transfer(p, 0, 1, 50), 7, 1e-12, "latency and bandwidth of the pair");
    double bandwidth, latency;
    weft_platform_link(p, 0, 1, &bandwidth, &latency);
    ok(bandwidth == 10 && latency == 2, "as it was given");
    struct weft_node node;
    ok(weft_platform_node(p, 1, &node) && node.speed == 2 && !weft_platform_node(p, 2, &node),
       "a node's figures");
    char *text = weft_platform_write_text(p, NULL, NULL, &error);
    struct weft_platform *again =
        weft_platform_read_text(text, strlen(text), "again", NULL, &error);
    ok(again && weft_platform_cores(again) == 5, "written and read again");
    weft_platform_free(again);
    weft_text_free(text);
    ok(!weft_platform_memory(p), "what counts in memory is not stated");
    weft_platform_free(p);
    net.memory = "tasks";
    p = weft_platform_build("pair", nodes, 2, &net, &error);
    is_str(weft_platform_memory(p), "tasks", "what counts in memory, as it was given");
    weft_platform_free(p);
    net.memory = "all";
    ok(!weft_platform_build("pair", nodes, 2, &net, &error) && error.status == WEFT_BAD_INPUT,
       "a word for it that there is not");
    nodes[1].name = "a";
    ok(!weft_platform_build("twice", nodes, 2, NULL, &error) && error.status == WEFT_BAD_INPUT,
       "two nodes of one name");
}

static void test_lists(void)
{
    struct weft_error error;
    struct weft_format format;
    struct weft_generator generator;
    struct weft_option option;
    size_t n = 0;
    while (weft_format(n, &format))
        n++;
    ok(n > 10 && !weft_format(n + 5, &format), "formats");
    ok(weft_generator_find("chian", &error) == SIZE_MAX && strstr(error.text, "chain"),
       "a generator that is near");
    size_t chain = weft_generator_find("chain", &error);
    ok(weft_generator(chain, &generator) && weft_generator_option(chain, 0, &option) &&
           option.standard,
       "a generator and its option");
    size_t heft = weft_planner_find("auto", &error);
    ok(weft_planner_option(heft, 0, &option), "an option of a planner");
    ok(weft_policy(0) && !weft_policy(100), "policies");
    is_int(weft_api(), WEFT_API, "the library is the header's");
    ok(*weft_version(), "and has a version");
}

static void test_streams_and_schedulers(void)
{
    struct weft_error error;
    struct weft_workflow *w = weft_workflow_generate("chain", NULL, 1, &error);
    struct weft_platform *p = weft_platform_named("homogeneous:n=8,bandwidth=1e6", &error);
    size_t n;
    struct weft_plan **front = weft_plan_front(w, p, "stream", 5, NULL, &n, &error);
    ok(front && n > 0, "a front of a stream");
    struct weft_stream_cluster cluster;
    ok(n && weft_plan_cluster(front[0], 0, &cluster) && cluster.ntasks > 0, "its clusters");
    weft_plans_free(front, n);
    ok(!weft_plan_front(w, p, "heft", 5, NULL, &n, &error), "heft has none");
    weft_platform_free(p);
    weft_workflow_free(w);
    struct weft_schedulers_options o = WEFT_SCHEDULERS_INIT;
    static const char *const small[] = {"tasks=200", NULL};
    o.dag = "fan-in";
    o.schedulers = 4;
    o.settings = small;
    struct weft_schedulers *s = weft_sim_schedulers(NULL, &o, &error);
    struct weft_schedulers_figures r;
    struct weft_bound bound;
    ok(s != NULL, "a cluster of schedulers");
    weft_schedulers_figures(s, &r);
    ok(r.tasks == 200 && weft_schedulers_bound(NULL, &o, &bound, &error) &&
           bound.timespan <= r.makespan * 1.01,
       "and its bound");
    weft_schedulers_free(s);
    o.policy = "none";
    ok(!weft_sim_schedulers(NULL, &o, &error), "a policy that is none");
}

static void test_runs_beside_each_other(void)
{
    struct weft_error error;
    struct weft_workflow *w = weft_workflow_generate("chain", NULL, 1, &error);
    struct weft_platform *p = weft_platform_named("homogeneous:n=2,bandwidth=1e6", &error);
    struct weft_sim_run runs[] = {{w, 0, 0}, {w, 1, 2}};
    struct weft_schedulers_options o = WEFT_SCHEDULERS_INIT;
    struct weft_run_figures f;
    o.schedulers = 0;
    o.platform = p;
    struct weft_schedulers *s = weft_sim_runs(runs, 2, &o, &error);
    ok(s && weft_schedulers_run(s, 1, &f) && f.first >= 1 && f.finish > f.first &&
           f.slowdown >= 0.99,
       "two runs on the nodes of a platform");
    ok(s && !weft_schedulers_run(s, 2, &f) && weft_schedulers_fairness(s) <= 1, "no third one");
    weft_schedulers_free(s);
    runs[1].priority = 99;
    ok(!weft_sim_runs(runs, 2, &o, &error) && strstr(error.text, "priority"), "a priority of 99");
    runs[1] = (struct weft_sim_run){w, -1, 0};
    ok(!weft_sim_runs(runs, 2, &o, &error), "a time before the first");
    ok(!weft_sim_runs(runs, 0, &o, &error), "no run at all");
    o.platform = NULL;
    ok(!weft_sim_schedulers(w, &o, &error), "no node at all");
    weft_platform_free(p);
    weft_workflow_free(w);
}

/* The same constraints on the plans of two planners: who was not asked to keep them may break them. */
static void test_constraints(void)
{
    struct weft_error error;
    static const char flow[] =
        "weft: 1\nassert: |\n  assert relationship requirement ("
        "(select task-assigned-proc-id from task where task-name = \"a\") =\n"
        "    (select proc-id from proc where proc-name = \"n2\"))\ntasks:\n  a: {work: 3}\n  b: "
        "{work: 3}\n";
    struct weft_workflow *w =
        weft_workflow_read_text(flow, strlen(flow), "flow.yaml", NULL, &error);
    struct weft_platform *p = weft_platform_named("2", &error);
    ok(w && p, "a workflow with a constraint: %s", w ? "" : error.text);
    ok(w && weft_workflow_constraints(w, &error), "which can be read");
    static const char wrong[] = "weft: 1\nassert: makespan < 100\ntasks:\n  a: {work: 3}\n";
    struct weft_workflow *bad =
        weft_workflow_read_text(wrong, strlen(wrong), "flow.yaml", NULL, &error);
    ok(bad && !weft_workflow_constraints(bad, &error) && strstr(error.text, "flow.yaml:2"),
       "one that cannot, with its place: %s", error.text);
    weft_workflow_free(bad);
    static const struct {
        const char *planner;
        bool held;
    } rows[] = {{"constraints", true}, {"heft", false}};
    for (size_t i = 0; w && p && i < 2; i++) {
        struct weft_plan *plan = weft_plan_make(w, p, rows[i].planner, NULL, &error);
        struct weft_constraints *c = plan ? weft_plan_constraints(plan, NULL, &error) : NULL;
        struct weft_constraint one = {0};
        ok(c && weft_constraints_get(c, 0, &one), "%s: judged", rows[i].planner);
        ok(c && one.requirement && one.held == rows[i].held, "%s: %s", rows[i].planner,
           rows[i].held ? "held" : "broken");
        ok(c && !weft_constraints_get(c, 1, &one), "and there are no more");
        weft_constraints_free(c);
        weft_plan_free(plan);
    }
    weft_workflow_free(w);
    weft_platform_free(p);
}

int main(void)
{
    setenv("WEFT_HISTORY", "none", 1);
    test_handles();
    test_constraints();
    test_options();
    test_workflows();
    test_platforms();
    test_lists();
    test_own_planner();
    test_streams_and_schedulers();
    test_runs_beside_each_other();
    test_memory();
    return tap_done();
}
