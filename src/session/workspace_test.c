/* The workspace: naming, one run at a time, the mark of a crash, leftovers. */
#include "session/workspace.h"

#include "base/strbuf.h"
#include "base/tree.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char where[64];

struct heard {
    int n;
    char last[256];
};

static void hear_remark(void *context, enum remark_kind kind, const char *text)
{
    struct heard *h = context;
    (void)kind;
    h->n++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static void test_names(void)
{
    struct workspace ws;
    static const char *const cases[][4] = {
        /* file, folder given, folder, state */
        {"flow.yaml", NULL, ".", "./.weft"},
        {"a/b/flow.yaml", NULL, "a/b", "a/b/.weft"},
        {"/flow.yaml", NULL, "/", "/.weft"},
        {"a/flow.yaml", "elsewhere", "elsewhere", "elsewhere/.weft"},
        {"a/flow.yaml", "slash/", "slash/", "slash/.weft"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        workspace_begin(&ws, cases[i][0], cases[i][1], false);
        ok(strcmp(ws.folder, cases[i][2]) == 0, "%s is in %s", cases[i][0], cases[i][2]);
        ok(strcmp(ws.state, cases[i][3]) == 0, "and its state in %s", cases[i][3]);
        workspace_close(&ws, NULL);
    }
}

static void test_nothing_created(void)
{
    struct workspace ws;
    struct error err = {0};
    struct stat st;
    char state[80];
    snprintf(state, sizeof state, "%s/.weft", where);
    workspace_begin(&ws, "flow.yaml", where, false);
    ok(!ws.loader && stat(state, &st) != 0, "naming creates nothing");
    workspace_close(&ws, NULL);
    workspace_begin(&ws, "flow.yaml", "/dev/null", false);
    ok(!workspace_open(&ws, 0, NULL, &err) && err.kind == ERROR_INPUT, "a file is no folder");
    workspace_close(&ws, NULL);
}

static void test_one_at_a_time(void)
{
    struct workspace first, second;
    struct error err = {0};
    workspace_begin(&first, "flow.yaml", where, false);
    ok(workspace_open(&first, 0, NULL, &err) && first.memo && !first.crashed, "it opens");
    workspace_begin(&second, "flow.yaml", where, false);
    ok(second.loader, "the memo is there now, and is read ahead");
    ok(!workspace_open(&second, 0, NULL, &err), "but somebody has it");
    char who[32];
    snprintf(who, sizeof who, "process %d (", (int)getpid());
    ok(strstr(err.text, who) && strstr(err.text, "since "), "and is named: %s", err.text);
    workspace_close(&second, NULL);
    workspace_begin(&second, "flow.yaml", where, true);
    ok(workspace_open(&second, 0, NULL, &err) && second.memo, "one may look all the same");
    workspace_close(&second, NULL);
    workspace_close(&first, NULL);
}

static void test_crash(void)
{
    struct workspace ws;
    struct error err = {0};
    struct heard heard = {0};
    struct remarks remarks = {hear_remark, &heard};
    struct strbuf path = {0};
    struct stat st;
    workspace_begin(&ws, "flow.yaml", where, false);
    workspace_open(&ws, 0, &remarks, &err);
    workspace_mark(&ws, true);
    strbuf_printf(&path, "%s/sandbox", ws.state);
    mkdir(path.at, 0777);
    workspace_close(&ws, &remarks); /* without taking the mark away: as if it had been killed */

    workspace_begin(&ws, "flow.yaml", where, false);
    ok(workspace_open(&ws, 0, &remarks, &err) && ws.crashed,
       "a mark that is left tells of a crash");
    workspace_clear_leftovers(&ws, &remarks);
    ok(stat(path.at, &st) != 0, "its sandboxes are removed");
    workspace_mark(&ws, false);
    workspace_close(&ws, &remarks);
    workspace_begin(&ws, "flow.yaml", where, false);
    ok(workspace_open(&ws, 0, &remarks, &err) && !ws.crashed, "and then all is well again");
    workspace_close(&ws, &remarks);
    is_int(heard.n, 0, "of which nothing had to be said");
    strbuf_free(&path);
}

int main(void)
{
    snprintf(where, sizeof where, "/tmp/weft-workspace-XXXXXX");
    ok(mkdtemp(where) != NULL, "a folder to work in");
    test_names();
    test_nothing_created();
    test_one_at_a_time();
    test_crash();
    tree_remove(where);
    return tap_done();
}
