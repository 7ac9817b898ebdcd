/* Tasks that a program adds: two sides that take the same parts in the same order have the same tasks, whatever the
 * reader's own lists do in between; what is cut off anywhere joins nothing. */
#include "formats/open_end.h"

#include "base/strbuf.h"
#include "formats/format.h"
#include "tap.h"

static struct workflow *read_text(const char *text)
{
    struct error err = {0};
    char *copy = mem_copy_string(text);
    struct workflow *w = format_find("native")->read_workflow(
        &(struct format_source){
            .path = "test", .text = copy, .length = strlen(copy), .grows = true},
        &err);
    free(copy);
    return w;
}

static struct workflow *opened(const char *text)
{
    struct workflow *w = read_text(text);
    if (w)
        open_end_begin(w);
    return w;
}

static const char chain[] = "weft: 1\ntasks:\n  a: { run: 'true', out: a.txt }\n";
static const char list[] = "weft: 1\nlists: { v: { lines: v.txt, after: a } }\ntasks:\n"
                           "  a: { run: 'true', out: v.txt }\n  b: { each: v, run: 'true' }\n";

static void test_sides(const char *text, const char *what)
{
    struct workflow *here = opened(text), *there = opened(text);
    struct workflow *more =
        read_text("weft: 1\ntasks:\n  x: { run: 'cat a.txt > {out}', in: a.txt, out: x.txt }\n"
                  "  y: { run: 'true', after: x }\n");
    struct strbuf part = {0};
    struct error err = {0};
    if (!ok(here && there && more, "%s: they read", what))
        return;
    uint32_t before = here->ntasks;
    ok(workflow_is_open(here), "%s: it is open", what);
    ok(open_end_put_part(more, &part, &err), "%s: a part %s", what, err.text);
    ok(future_append_part(here, part.at, part.n, &err) &&
           future_append_part(there, part.at, part.n, &err),
       "%s: joins both %s", what, err.text);
    is_int(here->ntasks, before + 2, "two tasks more");
    is_str(workflow_task_name(there, before), "x", "of this name");
    ok(workflow_is_open(here), "%s: and it is open still", what);
    err = (struct error){0};
    ok(!future_append_part(here, part.at, part.n, &err) && strstr(err.text, "already"),
       "%s: a second time: %s", what, err.text);
    uint32_t tasks = there->ntasks;
    for (size_t n = 0; n < part.n; n++) {
        err = (struct error){0};
        future_append_part(there, part.at, n, &err);
    }
    is_int(there->ntasks, tasks, "what is cut off joins nothing");
    strbuf_free(&part);
    workflow_free(more);
    workflow_free(here);
    workflow_free(there);
}

int main(void)
{
    test_sides(chain, "all is known");
    test_sides(list, "a list is not");
    struct workflow *w = read_text(chain), *more = read_text(chain);
    struct strbuf part = {0};
    struct error err = {0};
    ok(open_end_put_part(more, &part, &err) && !future_append_part(w, part.at, part.n, &err),
       "a workflow without an open end takes none: %s", err.text);
    strbuf_free(&part);
    workflow_free(w);
    workflow_free(more);
    return tap_done();
}
