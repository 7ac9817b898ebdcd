/* Kinds of tasks, as task_kind.h lists them. */
#include "model/builder.h"
#include "model/task_kind.h"
#include "tap.h"

/* Name, command, what is stated as its kind ("": nothing), and the kind that it must have. */
struct kind_row {
    const char *name, *command, *stated, *kind;
};

static void test_kinds(void)
{
    static const struct kind_row rows[] = {
        {"a", "python a.py", "", "a"},
        {"b", "python b.py", "", "b"},
        {"count@doc=a", "wc x", "count", "count"},
        {"count@doc=b/7", "wc y", "count", "count"},
        {"align_7", "bwa 7", "", "align"},
        {"align_08", "bwa 8", "", "align"},
        {"s1_map", "map s1", "", "s#_map"},
        {"s12_map", "map s12", "", "s#_map"},
        {"md5", "md5sum x", "", "md5"},
        {"sha256sum", "sha256sum x", "", "sha256sum"},
        {"late-3", "late", "", "late"},
        {"17", "echo", "", "17"},
        {"step1", "python3 -u a.py", "", "step python a.py"},
        {"step2", "python3 -u b.py", "", "step python b.py"},
        {"step3", "python3 a.py --n 3", "", "step python a.py"},
        {"x1", "python x.py", "same", "same"},
        {"x2", "python y.py", "same", "same"},
        {"joint", "", "", "joint"},
        {"fit@n=1/sort", "sort", "", "fit/sort"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct builder *b = builder_new("kinds", "test");
    for (uint32_t t = 0; t < ROWS; t++) {
        builder_task(b, rows[t].name, strlen(rows[t].name), 0);
        if (*rows[t].command)
            builder_command(b, t, rows[t].command, strlen(rows[t].command));
        if (*rows[t].stated)
            builder_kind(b, t, rows[t].stated, strlen(rows[t].stated));
    }
    struct workflow *w = builder_finish(b, NULL);
    struct task_kinds kinds;
    task_kinds_find(w, &kinds);
    for (uint32_t t = 0; t < ROWS; t++)
        is_str(intern_text(&kinds.names, kinds.of[t]), rows[t].kind, "%s: %s", rows[t].name,
               rows[t].command);
    task_kinds_free(&kinds);
    workflow_free(w);
}

static void test_fits(void)
{
    ok(task_kind_fits("align", "align_7") && task_kind_fits("align", "align9"), "without a number");
    ok(task_kind_fits("count", "count@doc=a"), "a member");
    ok(!task_kind_fits("a", "b") && !task_kind_fits("python", "a"), "another");
}

static void test_none(void)
{
    struct workflow *w = builder_finish(builder_new("none", "test"), NULL);
    struct task_kinds kinds;
    task_kinds_find(w, &kinds);
    is_int(kinds.names.n, 0, "no task, no kind");
    task_kinds_free(&kinds);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_kinds),
        TAP_CASE(test_fits),
        TAP_CASE(test_none),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
