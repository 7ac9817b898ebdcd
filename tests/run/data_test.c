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
    struct workflow *w = builder_finish(b, NULL);
    struct bench_folder f = folder_make();
    struct run_result r = {0};
    struct error err = {0};
    bool good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.done == 5, "functions and a command %s: %s", err.text,
       r.failures.n && r.failures.at[0].text ? r.failures.at[0].text : "");
    is_str(folder_read(&f, "size.txt"), "8000\n", "what a command reads is a file");
    is_str(folder_read(&f, "s.sum"), "999000", "files are read and written like memory");
    is_str(folder_read(&f, "c"), "", "what only functions read is none");
    run_result_free(&r);
    good = run_here(&f, w, (struct run_options){0}, &r, &err);
    ok(good && r.reused == 5, "and never twice: %u", r.reused);
    run_result_free(&r);
    workflow_free(w);
    tree_remove(f.path);
}

/* The same with a command in the workflow, which a crew does not carry out. */
static void check_fault(const char *function, const char *objects, bool command, const char *text)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_call(b, "m", "make_numbers", "> a");
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
        check_fault("writes_to_input", "a > z", command, "wrote to its input 'a'");
        unsetenv("WEFT_CHECK_DATA");
    }
}

int main(void)
{
    TAP_DO(test_crew());
    setenv("WEFT_CHECK_DATA", "1", 1);
    TAP_DO(test_crew());
    unsetenv("WEFT_CHECK_DATA");
    TAP_DO(test_files());
    TAP_DO(test_faults());
    return tap_done();
}
