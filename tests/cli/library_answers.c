/* What the library answers, for answers_check.py to compare with what the command answers. A program
 * like anybody's: public headers and the shared library, nothing of the inside.
 *
 *   library_answers plan FLOW PLATFORM PLANNER SEED OUTPUT [NAME=VALUE ...]
 *   library_answers check PLAN PLATFORM
 *   library_answers compare FLOW PLATFORM PLANNER ...
 *   library_answers sim FLOW-OR-PLAN PLATFORM SEED NOISE REPEAT TRACE
 *   library_answers clients FLOW SEED
 *
 * PLATFORM is what --on takes; "-" for it or for PLANNER: not given. The answer is JSON, with numbers
 * in as many digits as tell them apart. An error is the command's line and exit status. */
#include <weft/weft.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *given(const char *argument)
{
    return strcmp(argument, "-") == 0 ? NULL : argument;
}

static int failed(const struct weft_error *error)
{
    fprintf(stderr, "weft: %s\n", error->text);
    return error->status;
}

static void put_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void put_field(const char *name, double value)
{
    put_text(name);
    if (isfinite(value))
        printf(": %.17g, ", value);
    else
        printf(": null, ");
}

static int answer_plan(int argc, char **argv)
{
    struct weft_error error;
    struct weft_plan_options o = WEFT_PLAN_INIT;
    struct weft_problem problem = {0};
    struct weft_problem_options reading = WEFT_PROBLEM_INIT;
    if (argc < 5)
        return WEFT_BAD_INPUT;
    reading.platform = given(argv[1]);
    if (!weft_problem_read(argv[0], &reading, &problem, &error))
        return failed(&error);
    o.seed = strtoull(argv[3], NULL, 10);
    o.options = (const char *const *)argv + 5; /* main's list ends with NULL as this must */
    struct weft_plan *plan =
        weft_plan_make(problem.workflow, problem.platform, given(argv[2]), &o, &error);
    weft_problem_free(&problem); /* the plan keeps what it needs */
    int status = plan && weft_plan_write(plan, argv[4], &error) ? 0 : failed(&error);
    weft_plan_free(plan);
    return status;
}

static int answer_check(int argc, char **argv)
{
    struct weft_error error;
    struct weft_problem problem = {0};
    struct weft_problem_options reading = WEFT_PROBLEM_INIT;
    static const char *const objectives[] = {"makespan", "latency", "throughput", "processors"};
    if (argc != 2)
        return WEFT_BAD_INPUT;
    reading.platform = given(argv[1]);
    reading.only_plans = true;
    if (!weft_problem_read(argv[0], &reading, &problem, &error))
        return failed(&error);
    struct weft_check *c = weft_check_new(problem.plan, &error);
    if (!c) {
        weft_problem_free(&problem);
        return failed(&error);
    }
    printf("{\"total\": %zu, \"violations\": [", weft_check_total(c));
    struct weft_violation v;
    for (size_t i = 0; weft_check_violation(c, i, &v); i++) {
        printf("%s{\"kind\": \"%s\", \"task\": ", i ? ", " : "", v.kind);
        if (v.task == WEFT_NONE)
            printf("null");
        else
            put_text(weft_workflow_task_name(problem.workflow, v.task));
        printf(", \"detail\": ");
        put_text(v.detail);
        printf("}");
    }
    printf("], ");
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        put_field(objectives[i], weft_check_objective(c, objectives[i]));
    int status = weft_check_total(c) ? WEFT_FAILED : WEFT_DONE;
    printf("\"short\": %s}\n",
           (weft_plan_check(problem.plan, NULL) != 0) == (status != 0) ? "true" : "false");
    weft_check_free(c);
    weft_problem_free(&problem);
    return status;
}

static int answer_compare(int argc, char **argv)
{
    struct weft_error error;
    struct weft_problem problem = {0};
    struct weft_problem_options reading = WEFT_PROBLEM_INIT;
    struct weft_compare_options o = WEFT_COMPARE_INIT;
    if (argc < 3)
        return WEFT_BAD_INPUT;
    reading.platform = given(argv[1]);
    if (!weft_problem_read(argv[0], &reading, &problem, &error))
        return failed(&error);
    o.planners = (const char *const *)argv + 2;
    struct weft_compare *c = weft_compare_new(problem.workflow, problem.platform, &o, &error);
    weft_problem_free(&problem);
    if (!c)
        return failed(&error);
    double sequential, critical_path;
    size_t left_out;
    weft_compare_scale(c, &sequential, &critical_path, &left_out);
    printf("{");
    put_field("sequential", sequential);
    put_field("critical_path", critical_path);
    printf("\"rows\": [");
    struct weft_compare_row r;
    for (size_t i = 0; weft_compare_row(c, i, &r); i++) {
        printf("%s{\"planner\": \"%s\", ", i ? ", " : "", r.planner);
        put_field("makespan", r.makespan);
        put_field("speedup", r.speedup);
        put_field("efficiency", r.efficiency);
        put_field("slr", r.slr);
        if (r.failure) {
            printf("\"failure\": ");
            put_text(r.failure);
            printf(", ");
        }
        printf("\"nodes_used\": %u, \"valid\": %s}", r.nodes_used, r.valid ? "true" : "false");
    }
    printf("]}\n");
    weft_compare_free(c);
    return 0;
}

static void put_metrics(const struct weft_sim *s)
{
    struct weft_metric m;
    printf("{");
    for (size_t i = 0; weft_sim_metric(s, i, &m); i++) {
        put_text(m.name);
        printf(": {");
        put_field("value", m.value);
        put_field("mean", m.mean);
        put_field("deviation", m.deviation);
        put_field("half_width", m.half_width);
        put_field("min", m.least);
        put_field("median", m.median);
        put_field("max", m.most);
        printf("\"\": 0}, ");
    }
    printf("\"\": {}}\n");
}

/* The trace into a file; the simulation's error status. */
static int put_trace(const struct weft_sim *s, const char *path, struct weft_error *error)
{
    size_t n;
    char *text = weft_sim_trace(s, &n, error);
    if (!text)
        return failed(error);
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(text, 1, n, f) == n;
    good = f && fclose(f) == 0 && good;
    weft_text_free(text);
    return good ? 0 : WEFT_FAILED;
}

static int answer_sim(int argc, char **argv)
{
    struct weft_error error;
    struct weft_problem problem = {0};
    struct weft_problem_options reading = WEFT_PROBLEM_INIT;
    struct weft_sim_options o = WEFT_SIM_INIT;
    if (argc != 6)
        return WEFT_BAD_INPUT;
    reading.platform = given(argv[1]);
    reading.plans = true;
    if (!weft_problem_read(argv[0], &reading, &problem, &error))
        return failed(&error);
    o.seed = strtoull(argv[2], NULL, 10);
    o.noise = strtod(argv[3], NULL);
    o.repeat = (uint32_t)strtoul(argv[4], NULL, 10);
    o.keep = given(argv[5]) != NULL;
    /* `weft sim FLOW` plans with heft first, and with the simulation's seed. */
    struct weft_plan_options planning = WEFT_PLAN_INIT;
    planning.seed = o.seed;
    if (!problem.plan)
        problem.plan =
            weft_plan_make(problem.workflow, problem.platform, "heft", &planning, &error);
    struct weft_sim *s = problem.plan ? weft_sim_plan(problem.plan, &o, &error) : NULL;
    int status = s ? 0 : failed(&error);
    if (s)
        put_metrics(s);
    if (s && o.keep)
        status = put_trace(s, argv[5], &error);
    weft_sim_free(s);
    weft_problem_free(&problem);
    return status;
}

static int answer_clients(int argc, char **argv)
{
    struct weft_error error;
    struct weft_sim_options o = WEFT_SIM_INIT;
    if (argc != 2)
        return WEFT_BAD_INPUT;
    struct weft_workflow *w = weft_workflow_read(argv[0], NULL, &error);
    o.seed = strtoull(argv[1], NULL, 10);
    struct weft_sim *s = w ? weft_sim_clients(w, NULL, &o, &error) : NULL;
    int status = s ? 0 : failed(&error);
    if (s)
        put_metrics(s);
    weft_sim_free(s);
    weft_workflow_free(w);
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*answer)(int argc, char **argv);
    } questions[] = {
        {"plan", answer_plan}, {"check", answer_check},     {"compare", answer_compare},
        {"sim", answer_sim},   {"clients", answer_clients},
    };
    for (size_t i = 0; argc > 1 && i < sizeof questions / sizeof *questions; i++)
        if (strcmp(argv[1], questions[i].name) == 0)
            return questions[i].answer(argc - 2, argv + 2);
    return WEFT_BAD_INPUT;
}
