/* Objects in memory between functions, through real runs: by a crew, beside commands, on record, and what
 * is said of functions that do not keep to the rules. */
#include "drive/testing.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* "a b > c d": names with a dot at their end stay files, the others are in memory. */
static uint32_t add_call(struct builder *b, const char *name, const char *function,
                         const char *objects)
{
    char command[600], text[200];
    snprintf(command, sizeof command, "%s:%s", TEST_FUNCTIONS, function);
    snprintf(text, sizeof text, "%s", objects);
    uint32_t t = add_task(b, name, command, objects);
    builder_flag(b, t, TASK_CALL);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));)
        if (strcmp(word, ">") != 0 && !strchr(word, '.'))
            builder_in_memory(b, builder_object(b, word, strlen(word)));
    return t;
}

/* 4 readers of one object, sums of them, and on in place: sum of i is 499500. */
static struct workflow *sums_workflow(const char *last)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_call(b, "m", "make_numbers", "> a b");
    add_call(b, "x1", "add_numbers", "a b > x1");
    add_call(b, "x2", "add_numbers", "a > x2");
    add_call(b, "x3", "add_in_place", "b > x3");
    builder_edge(b, 3, 1, 0); /* x3 is not the last to read b */
    add_call(b, "p1", "add_in_place", "x2 > y2");
    add_call(b, "p2", "add_in_place", "y2 > z2");
    add_call(b, "s", last, "x1 x3 z2");
    return builder_finish(b, NULL);
}

static void test_crew(void)
{
    for (int recorded = 0; recorded < 2; recorded++) {
        struct workflow *w = sums_workflow("sum_to_folder");
        struct bench_folder f = folder_make();
        struct run_result r = {0};
        struct error err = {0};
        bool good =
            recorded
                ? run_here(&f, w, (struct run_options){0}, &r, &err)
                : run_workflow(&(struct run_options){.workflow = w, .folder = f.path, .cores = 2},
                               &r, &err);
        ok(good && r.done == 7, "functions hand each other data %s: %s", err.text,
           r.failures.n && r.failures.at[0].text ? r.failures.at[0].text : "");
        is_str(folder_read(&f, "s.sum"), "2001000", "which nobody spoils"); /* 4 sums + 3 x 1000 */
        run_result_free(&r);
        if (recorded) {
            good = run_here(&f, w, (struct run_options){0}, &r, &err);
            ok(good && r.reused == 7 && !r.attempts, "nothing runs twice: %u reused", r.reused);
            run_result_free(&r);
            workflow_free(w);
            w = sums_workflow("add_numbers"); /* the last one is another: all it reads is gone */
            good = run_here(&f, w, (struct run_options){0}, &r, &err);
            ok(good && r.attempts == 7, "what is needed again is made again: %u of 7", r.attempts);
            run_result_free(&r);
        }
        workflow_free(w);
        tree_remove(f.path);
    }
}

/* Files beside objects in memory, and an object that a command reads. */
static void test_files(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_call(b, "m", "make_numbers", "> a b");
    add_call(b, "n", "add_numbers", "a > c n.dat");
    add_task(b, "size", "wc -c < b > {out}", "b > size.txt");
    add_call(b, "o", "add_numbers", "c n.dat > o.dat");
    add_call(b, "s", "sum_to_folder", "o.dat");
    add_call(b, "again", "asks_again", "> again.dat");
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct run_result r = {0};
    struct error err = {0};
    bool good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.done == 6, "functions and a command %s: %s", err.text,
       r.failures.n && r.failures.at[0].text ? r.failures.at[0].text : "");
    is_str(folder_read(&f, "size.txt"), "8000\n", "what a command reads is a file");
    is_str(folder_read(&f, "s.sum"), "999000", "files are read and written like memory");
    is_str(folder_read(&f, "again.dat"), "bbbbbbbbbbbbbbbbbbbb",
           "a file may be asked for again, larger");
    is_str(folder_read(&f, "c"), "", "what only functions read is none");
    run_result_free(&r);
    good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.reused == 6, "and never twice: %u", r.reused);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

/* The same with a command in the workflow, which a crew does not carry out. */
static void check_fault(const char *function, const char *objects, bool command, const char *text)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_call(b, "m", "make_numbers", "> a a.dat");
    add_call(b, "bad", function, objects);
    add_call(b, "s", "sum_to_folder", "a z");
    if (command)
        add_task(b, "c", "true", "");
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct run_result r = {0};
    struct error err = {0};
    ok(!run_here(&f, w, (struct run_options){.keep_going = true}, &r, &err) && r.failed == 1,
       "%s%s is caught", function, command ? " beside a command" : "");
    has_str(r.failures.n && r.failures.at[0].text ? r.failures.at[0].text : "", text,
            "and what it did is said");
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_faults(void)
{
    for (int command = 0; command < 2; command++) {
        check_fault("makes_nothing", "> z", command, "never asked for its output 'z'");
        setenv("WEFT_CHECK_DATA", "1", 1);
        check_fault("writes_past_end", "> z", command, "past the end of its output 'z'");
        check_fault("writes_past_file", "> z f.dat", command, "past the end of its output 'f.dat'");
        check_fault("writes_past_scratch", "> z", command, "past the end of its scratch memory");
        check_fault("writes_to_input", "a > z", command, "wrote to its input 'a'");
        check_fault("writes_to_input", "a.dat > z", command, "wrote to its input 'a.dat'");
        unsetenv("WEFT_CHECK_DATA");
    }
}

/* ---- limits ---- */

enum { OBJECT = 8000, WIDTH = 12, TASKS = 2 * WIDTH + 3 }; /* bytes that every function makes */

/* Much is made early and read late, last made first: m0 .. m11 make, x11 .. x0 add up. `command`: what a crew is not for. `broken`:
 * a function at the end of a branch of its own, which takes much, fails. */
static struct workflow *piled_workflow(bool command, bool broken)
{
    struct builder *b = builder_new("flow.yaml", "native");
    char name[16], objects[64];
    for (int i = 0; i < WIDTH; i++) {
        snprintf(name, sizeof name, "m%d", i);
        snprintf(objects, sizeof objects, "> a%d", i);
        add_call(b, name, "make_numbers", objects);
    }
    for (int i = WIDTH; i--;) {
        snprintf(name, sizeof name, "x%d", i);
        snprintf(objects, sizeof objects, "a%d x%d > x%d", i, i + 1, i);
        if (i == WIDTH - 1)
            snprintf(objects, sizeof objects, "a%d > x%d", i, i);
        add_call(b, name, "add_numbers", objects);
    }
    add_call(b, "s", "sum_to_folder", "x0");
    add_call(b, "bad", broken ? "fails" : "make_numbers", "> z");
    add_call(b, "after", "sum_to_folder", "z");
    if (command)
        add_task(b, "size", "echo done > {out}", "> size.txt");
    for (uint32_t o = 0; o < 2 * WIDTH + 1; o++)
        builder_size(b, o, OBJECT, 0);
    return builder_finish(b, NULL);
}

static void check_limit(double limit, bool command, bool broken)
{
    struct workflow *w = piled_workflow(command, broken);
    struct bench_folder f = folder_make();
    struct run_result r = {0};
    struct error err = {0};
    uint32_t order[TASKS + 1];
    for (uint32_t t = 0; t < w->ntasks; t++)
        order[t] = t;
    struct run_options o = {
        .data_memory = limit, .data_limited = true, .order = order, .keep_going = broken};
    bool good = run_here(&f, w, o, &r, &err);
    ok(good == !broken && r.failed == broken && r.done + 2 * broken == w->ntasks,
       "%.0f bytes for data%s%s: %u done (%s %s)", limit, command ? ", a command beside them" : "",
       broken ? ", one fails" : "", r.done, err.text,
       r.failures.n && r.failures.at[0].text ? r.failures.at[0].text : "");
    is_str(folder_read(&f, "s.sum"), "5994000", "the same numbers");
    ok(r.data_peak > 0 && r.data_peak <= limit, "%.0f bytes at the peak", r.data_peak);
    ok((r.data_evictions > 0) == (limit < WIDTH * OBJECT), "%u made room", r.data_evictions);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

static void test_limits(void)
{
    static const double limits[] = {3 * OBJECT, 5 * OBJECT, 2 * WIDTH * OBJECT};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int kind = 0; kind < 4; kind++)
            check_limit(limits[i], kind & 1, kind & 2);
}

/* Where a task does not fit alone nothing begins. */
static void test_no_room(void)
{
    struct workflow *w = piled_workflow(false, false);
    struct bench_folder f = folder_make();
    struct run_result r = {0};
    struct error err = {0};
    uint32_t order[TASKS + 1];
    for (uint32_t t = 0; t < w->ntasks; t++)
        order[t] = t;
    struct run_options o = {.data_memory = 3 * OBJECT - 1, .data_limited = true, .order = order};
    ok(!run_here(&f, w, o, &r, &err) && err.kind == ERROR_INFEASIBLE && !r.attempts,
       "too little for one: %s", err.text);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

int main(void)
{
    TAP_DO(test_crew());
    setenv("WEFT_CHECK_DATA", "1", 1);
    TAP_DO(test_crew());
    unsetenv("WEFT_CHECK_DATA");
    TAP_DO(test_files());
    TAP_DO(test_faults());
    TAP_DO(test_limits());
    TAP_DO(test_no_room());
    return tap_done();
}
