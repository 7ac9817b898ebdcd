/* The key that docs/adding-a-key.md adds by one row: model and formats are compiled once more with
 * that row, and nothing else is changed. It is read, compared, written where there is a place for it
 * and named where there is none. */
#include "formats/index_rows.h"
#include "formats/registry.h"
#include "model/columns.h"

static const char text[] = {
#include "adding_key_yaml.inc"
    , 0};

static void test_trip(const struct workflow *w, const struct format *f, bool carried)
{
    struct error err = {0};
    struct strbuf out = {0}, dropped = {0};
    ok(f->write_workflow(w, &out, &dropped, &err), "%s: written %s", f->name, err.text);
    struct workflow *back = read_text(f, strbuf_text(&out), NULL, &err);
    ok(back != NULL, "%s: read %s", f->name, err.text);
    if (carried)
        ok(back && workflow_equal(w, back, &err), "%s: carried %s", f->name, err.text);
    else
        has_str(strbuf_text(&dropped), "niceness of 1 task", "%s: named", f->name);
    workflow_free(back);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

int main(void)
{
    struct error err = {0};
    struct workflow *w = read_text(&format_native, text, NULL, &err);
    if (!ok(w && w->nice, "the key is read %s", err.text))
        return tap_done();
    is_dbl(w->nice[workflow_find_task(w, "polite")], 5, 0, "where it stands");
    is_dbl(w->nice[workflow_find_task(w, "rude")], 0, 0, "and where it does not");
    test_trip(w, &format_native, true);
    test_trip(w, &format_dot, true);
    test_trip(w, &format_stg, false);
    workflow_free(w);
    refuses(&format_native, "weft: 1\ntasks:\n  a: {nise: 5}\n", "did you mean 'nice'?",
            "a misspelt key");
    w = read_text(&format_native, "weft: 1\ndefaults: {nice: 2}\ntasks:\n  a: {}\n", NULL, &err);
    ok(w && w->nice && w->nice[0] == 2, "it may stand in defaults %s", err.text);
    workflow_free(w);
    return tap_done();
}
