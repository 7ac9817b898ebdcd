/* The format that docs/adding-a-format.md shows, compiled from the page: it reads, writes, refuses and
 * names what it drops, as the page says. */
#include "formats/format.h"
extern const struct format format_pairs;
#include "adding_format.c"
#include "formats/index_rows.h"

static const char *const lines =
#define X(name) #name
#include "adding_format.def"
    ;

static void test_reading(void)
{
    struct error err = {0};
    struct workflow *w =
        read_text(&format_pairs,
                  "# two\ntask a 3\ntask b 4.5\nedge a b 100\ntask c 1\nedge b c 0\n", NULL, &err);
    if (!ok(w && w->ntasks == 3 && w->npairs == 2, "the example is read %s", err.text))
        return;
    ok(has_edge(w, "a", "b") && has_edge(w, "b", "c"), "its edges");
    struct strbuf out = {0}, dropped = {0};
    ok(format_pairs.write_workflow(w, &out, &dropped, &err), "it is written %s", err.text);
    is_str(strbuf_text(&dropped), "", "nothing is dropped");
    struct workflow *back = read_text(&format_pairs, strbuf_text(&out), NULL, &err);
    ok(back && workflow_equal(w, back, &err), "and comes back %s", err.text);
    is_int(format_pairs.sniff("x.pairs", out.at, out.n), 3, "and is recognised");
    workflow_free(back);
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

static void test_losses(void)
{
    struct error err = {0};
    struct workflow *w = read_text(
        &format_native, "weft: 1\ntasks:\n  a: {work: 1, memory: 5, sandbox: false}\n", NULL, &err);
    struct strbuf out = {0}, dropped = {0};
    ok(w && format_pairs.write_workflow(w, &out, &dropped, &err), "it is written %s", err.text);
    is_str(strbuf_text(&dropped), "memory of 1 task\nrunning without a sandbox of 1 task\n",
           "what is lost is named");
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

int main(void)
{
    is_str(lines, "pairs", "the page lists it");
    TAP_DO(test_reading());
    TAP_DO(test_losses());
    refuses(&format_pairs, "task a 1\nedge a z 3\n", "test-file:2:", "an edge to nowhere");
    refuses(&format_pairs, "task a 1\ntask b 1\nedge a b 1\nedge b a 1\n", "cycle", "a cycle");
    refuses(&format_pairs, "task a\n", "test-file:1:", "a cut line");
    return tap_done();
}
