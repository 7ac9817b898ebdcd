#include "memo/inputs.h"
#include "base/tree.h"
#include "folder_testing.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>

/* What inputs_unchanged() says after `change`, which is a shell command in the folder; "" when
 * nothing changed. `rest`: microseconds before, so that files are no longer young. */
static const char *after(const char *command, const char *change, unsigned rest)
{
    static char said[2048];
    struct bench_folder f = folder_make();
    struct error err = {0};
    char shell[1024];
    snprintf(shell, sizeof shell,
             "cd %s && mkdir -p dir/sub && printf one >a && printf two >b && "
             "printf x >dir/x && printf y >dir/sub/y && chmod 755 b",
             f.path);
    if (system(shell) != 0)
        abort();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "t", command, "a dir b > out");
    struct workflow *w = builder_finish(b, &err);
    struct memo *memo = memo_open(NULL, NULL, &err);
    struct needs n;
    struct input_marks marks = {0};
    struct input_change c = {0};
    uint32_t which = NONE;
    snprintf(said, sizeof said, "%s", err.text);
    if (needs_find(&n, w, f.path, memo, &(struct need_options){0}, &err)) {
        usleep(rest);
        snprintf(shell, sizeof shell, "cd %s && %s", f.path, change);
        bool begun = inputs_begin(&n, 0, &marks, &which, &err);
        if (!begun || system(shell) != 0)
            snprintf(said, sizeof said, "not begun: %s", err.text);
        else if (inputs_unchanged(&n, 0, &marks, &c))
            said[0] = 0;
        else
            snprintf(said, sizeof said, "%.100s: %.300s",
                     workflow_text(w, w->object_name[c.object]), strbuf_text(&c.how));
        needs_free(&n);
    }
    strbuf_free(&c.how);
    input_marks_free(&marks);
    memo_close(memo, NULL);
    workflow_free(w);
    tree_remove(f.path);
    return said;
}

static void test_changes(void)
{
    is_str(after("cat {in}", "true", 30000), "", "nothing changed");
    is_str(after("cat {in}", "true", 0), "", "nor in files that are a moment old");
    is_str(after("cat {in}", "cat a dir/x >/dev/null", 30000), "", "reading is no change");
    is_str(after("cat {in}", "printf z >>a", 30000), "a: it had 3 bytes and has 4", "a file grew");
    is_str(after("cat {in}", "cp -p a s && printf ONE >a && touch -r s a", 30000),
           "a: it has another content of the same size", "an edit, its time put back");
    is_str(after("cat {in}", "cp -p a s && printf ONE >a && cp -p s a", 30000),
           "a: it was written to and put back, or has another owner or attributes",
           "put back altogether");
    is_str(after("cat {in}", "touch a", 30000),
           "a: it was written to, and has its old content again", "put back with another time");
    is_str(after("cat {in}", "cp -p a s && mv s a", 30000), "a: it was replaced by another file",
           "another file");
    is_str(after("cat {in}", "rm b", 30000), "b: it is gone", "one that is gone");
    is_str(after("cat {in}", "printf z >>dir/sub/y", 30000),
           "dir: 'dir/sub/y' had 1 bytes and has 2", "a file deep in a folder");
    has_str(after("cat {in}", "printf z >dir/a", 30000), "dir: 'dir/a' is new", "a new one");
    has_str(after("cat {in}", "printf z >dir/z", 30000), "dir: 'dir/z' is new", "as the last");
    is_str(after("cat {in}", "rm dir/x", 30000), "dir: a file in it is gone", "the last is gone");
    is_str(after("cat {in}", "printf z >dir/t && rm dir/t", 30000), "",
           "a file of a moment in a folder is none");
    is_str(after("cat {in}", "chmod 644 b", 30000), "", "other permission bits are none");
    is_str(after("cat {in}", "ln a link", 30000), "", "nor is a link to it");
    is_str(after("chmod +x b", "chmod 755 b", 30000), "", "nor chmod that changes nothing");
    has_str(after("cat {in}", "chmod 755 b", 30000), "b: it was written to",
            "unless nobody in the workflow does that");
    is_str(after("chmod +x b", "printf ONE >a && chmod 755 b", 30000),
           "a: it has another content of the same size", "a write is one all the same");
}

/* Of the same size, in the same tick: no time tells. Tried often, since it may need luck. */
static void test_same_tick(void)
{
    unsigned seen = 0, tried = 40;
    for (unsigned i = 0; i < tried; i++)
        seen += after("cat {in}", "printf ONE >a", 0)[0] != 0;
    is_int(seen, tried, "a change within a tick of the clock is seen by reading");
}

static void test_refused(void)
{
    struct bench_folder f = folder_make();
    struct error err = {0};
    folder_write(&f, "start", "one");
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "t", "cat {in}", "start > out");
    struct workflow *w = builder_finish(b, &err);
    struct memo *memo = memo_open(NULL, NULL, &err);
    struct needs n;
    struct input_marks marks = {0};
    uint32_t which = NONE;
    ok(needs_find(&n, w, f.path, memo, &(struct need_options){0}, &err), "hashed %s", err.text);
    folder_write(&f, "start", "one");
    ok(inputs_begin(&n, 0, &marks, &which, &err), "written again as it was: it may be read");
    folder_write(&f, "start", "two");
    ok(!inputs_begin(&n, 0, &marks, &which, &err), "with another content it may not");
    has_str(err.text, "input 'start' is not what it was", "and is named");
    ok(which == workflow_find_object(w, "start"), "also by number");
    error_clear(&err);
    unlink(folder_file(&f, "start"));
    ok(!inputs_begin(&n, 0, &marks, &which, &err), "nor when it is gone");
    has_str(err.text, "'start' is gone", "which is said");
    input_marks_free(&marks);
    needs_free(&n);
    memo_close(memo, NULL);
    workflow_free(w);
    tree_remove(f.path);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_changes),
        TAP_CASE(test_same_tick),
        TAP_CASE(test_refused),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
