/* What stands in a ticket: a workflow of some size with its image before it, which is used by the build that
 * wrote it and passed over by every other. */
#include "session/place.h"

#include "base/strbuf.h"
#include "formats/format.h"
#include "tap.h"

#include <string.h>

/* What session.c makes of a workflow, and the workflow. */
static struct workflow *place_flow(uint32_t n, struct strbuf *text)
{
    struct error err = {0};
    strbuf_add(text, "weft: 1\ntasks:\n");
    for (uint32_t t = 0; t < n; t++)
        strbuf_printf(text, "  t%u: { in: [%s%u], out: [o%u], run: 'cp {in} {out}' }\n", t,
                      t ? "o" : "input", t ? t - 1 : 0, t);
    struct workflow *w = place_read_workflow(text->at, text->n, &err);
    ok(w != NULL, "%u tasks are read%s", n, err.text);
    return w;
}

static void reads_the_same(const struct workflow *w, const struct strbuf *text, const char *what)
{
    struct error err = {0};
    struct workflow *again = place_read_workflow(text->at, text->n, &err);
    ok(again && workflow_equal(w, again, &err), "%s: the same workflow%s", what, err.text);
    bool same = again && again->ntasks == w->ntasks;
    for (uint32_t t = 0; same && t < w->ntasks; t++)
        same = strcmp(workflow_task_name(w, t), workflow_task_name(again, t)) == 0;
    ok(same, "%s: and the same numbers", what);
    workflow_free(again);
}

static void test_large(void)
{
    struct strbuf text = {0};
    struct error err = {0};
    struct workflow *w = place_flow(2000, &text);
    struct strbuf changed = {0};
    strbuf_add_bytes(&changed, text.at, text.n);
    size_t plain = text.n, marks = 1 + 4; /* where the readers' digest begins */
    place_put_image(w, &text);
    ok(text.at[0] == 3, "an image stands before the text");
    ok(text.n < plain, "and both take less than the text: %zu of %zu bytes", text.n, plain);
    reads_the_same(w, &text, "the image");
    text.at[marks] = (char)(text.at[marks] == 'x' ? 'y' : 'x');
    reads_the_same(w, &text, "another build's image");
    /* the text decides then: put the image before another one */
    memcpy(memmem(changed.at, changed.n, "t7:", 3), "uu:", 3);
    place_put_image(w, &changed);
    struct workflow *other = place_read_workflow(changed.at, changed.n, &err);
    ok(other && workflow_find_task(other, "uu") == NONE, "our image is what is read");
    workflow_free(other);
    changed.at[marks] = text.at[marks];
    other = place_read_workflow(changed.at, changed.n, &err);
    ok(other && workflow_find_task(other, "uu") != NONE, "of another the text");
    workflow_free(other);
    strbuf_free(&changed);
    unsigned read = 0;
    for (size_t cut = 1; cut < text.n; cut += 97) {
        error_clear(&err);
        other = place_read_workflow(text.at, cut, &err);
        read += other != NULL || err.kind != ERROR_FAILED;
        workflow_free(other);
    }
    is_int(read, 0, "one that is cut off anywhere is an error");
    error_clear(&err);
    ok(!place_read_workflow(text.at, 40, &err) && err.kind == ERROR_FAILED,
       "half of an image is an error: %s", err.text);
    workflow_free(w);
    strbuf_free(&text);
}

static void test_small(void)
{
    struct strbuf text = {0};
    struct workflow *w = place_flow(5, &text);
    size_t plain = text.n;
    place_put_image(w, &text);
    is_int(text.n, plain, "a small one is its text alone");
    workflow_free(w);
    strbuf_free(&text);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_large), TAP_CASE(test_small)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
