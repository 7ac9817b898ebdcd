/* The table of columns against everything that should follow from it: for each column and each format
 * that weft writes, a workflow that has the column is written and read back. The column is the same,
 * or the writer named it as dropped: nothing is lost without a word. Also: workflow_equal() sees every
 * column, and the page about the native format describes every key. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "formats/index_rows.h"
#include "formats/registry.h"
#include "model/columns.h"
#include "model/image.h"

/* Three tasks in a tree, "3" being the one that gets the column ("1" the mark `temporary`, which is
 * about outputs). Names are numbers, which every format can carry. */
static struct workflow *with_column(int id, struct error *err)
{
    const struct column_row *c = id < TASK_COLUMN_COUNT ? &task_column[id] : NULL;
    const char *key = c ? id == COLUMN_rungs      ? "memory"
                          : id == COLUMN_optional ? "in"
                                                  : c->key
                        : "";
    struct strbuf text = {0};
    strbuf_add(&text, "weft: 1\nname: small\ntasks:\n"
                      "  \"1\":\n    out: [{name: x, size: 10}]\n    work: 1\n");
    if (id == COLUMN_temporary)
        strbuf_printf(&text, "    temporary: %s\n", c->example);
    strbuf_add(&text, "  \"2\":\n    in: [x]\n    work: 2\n  \"3\":\n");
    if (id != COLUMN_after)
        strbuf_add(&text, "    after: [\"1\"]\n");
    if (c && id != COLUMN_temporary && id != COLUMN_done)
        strbuf_printf(&text, "    %s: %s\n", key, c->example);
    if (id != COLUMN_work)
        strbuf_add(&text, "    work: 3\n");
    struct workflow *w = read_text(&format_native, strbuf_text(&text), NULL, err);
    if (w && id == COLUMN_done) /* no key in native YAML */
        w->flags[workflow_find_task(w, "3")] |= TASK_DONE;
    strbuf_free(&text);
    return w;
}

static bool is_named(const struct strbuf *dropped, const char *lost)
{
    const char *all = dropped->n ? dropped->at : "";
    size_t n = strlen(lost);
    for (const char *line = all; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, lost, n) == 0 && strncmp(line + n, " of ", 4) == 0)
            return true;
    return false;
}

/* A format that renames tasks keeps their order. */
static uint32_t third_task(const struct workflow *back, bool names)
{
    return names ? workflow_find_task(back, "3") : 2;
}

static void one_trip(const struct format *f, int id, const struct workflow *w)
{
    const struct column_row *c = &task_column[id];
    struct strbuf out = {0}, dropped = {0};
    struct error err = {0}, why = {0};
    bool written = f->write_workflow(w, &out, &dropped, &err);
    struct workflow *back = written ? read_text(f, strbuf_text(&out), NULL, &err) : NULL;
    if (!ok(back && back->ntasks == 3, "%s with %s: written and read %s", f->name, c->key,
            err.text)) {
        printf("# %s\n", strbuf_text(&out));
    } else if (c->lost) {
        uint32_t t = third_task(back, !is_named(&dropped, "names"));
        bool same = t != NONE &&
                    column_is_equal(w, workflow_find_task(w, "3"), back, t, (enum column_id)id);
        bool named = is_named(&dropped, c->lost), carries = f->carries >> id & 1;
        if (!ok(carries ? same != named : named, "%s with %s: %s", f->name, c->key,
                named  ? "named as dropped"
                : same ? "carried"
                       : "lost without a word"))
            printf("# dropped: %s# written: %s\n", strbuf_text(&dropped), strbuf_text(&out));
    }
    if (back && !dropped.n &&
        !ok(workflow_equal(w, back, &why), "%s with %s: nothing dropped, all the same", f->name,
            c->key))
        printf("# %s\n%s\n", why.text, strbuf_text(&out));
    ok(dropped.n || (f->carries & CARRIES_GRAPH) == CARRIES_GRAPH,
       "%s with %s: structure is carried or named", f->name, c->key);
    workflow_free(back);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

/* Through an image (model/image.h), which no table of formats lists. */
static void image_trip(const struct workflow *w, const char *what)
{
    char *at = NULL;
    size_t n = 0;
    struct image_sink count = {0}, to = {.stream = open_memstream(&at, &n)};
    struct error why = {0};
    workflow_image_write(w, &count);
    workflow_image_write(w, &to);
    fclose(to.stream);
    ok(!to.failed && n == count.bytes, "%s: an image of as many bytes as it says", what);
    struct workflow *back = workflow_image_read(at, n);
    ok(back && workflow_equal(w, back, &why), "%s: the image is the same %s", what, why.text);
    ok(!workflow_image_read(at, n - 8), "%s: less of it is none", what);
    workflow_free(back);
    free(at);
    struct strbuf squeezed = {0};
    workflow_image_squeeze(w, &squeezed);
    back = workflow_image_unsqueeze(squeezed.at, squeezed.n);
    ok(back && workflow_equal(w, back, &why), "%s: squeezed, too %s", what, why.text);
    ok(!workflow_image_unsqueeze(squeezed.at, squeezed.n - 1), "%s: less of it is none", what);
    workflow_free(back);
    strbuf_free(&squeezed);
}

static void test_columns(void)
{
    struct error err = {0}, why = {0};
    struct workflow *plain = with_column(TASK_COLUMN_COUNT, &err);
    for (int id = 0; id < TASK_COLUMN_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        struct workflow *w = with_column(id, &err);
        if (!ok(w && plain, "%s: %s is read %s", c->key, c->example, err.text))
            continue;
        ok(workflow_equal(w, w, &why), "%s: equal to itself %s", c->key, why.text);
        error_clear(&why);
        ok(!workflow_equal(plain, w, &why) && !workflow_equal(w, plain, NULL),
           "%s: workflow_equal sees it: %s", c->key, why.text);
        for (size_t i = 0; format_registry[i]; i++)
            if (format_registry[i]->write_workflow)
                one_trip(format_registry[i], id, w);
        image_trip(w, c->key);
        workflow_free(w);
    }
    workflow_free(plain);
}

/* What belongs to the workflow as a whole. */
static void test_whole(void)
{
    static const struct {
        const char *text, *lost;
        uint64_t bit;
    } cases[] = {
        {"weft: 1\nname: titled\ntasks:\n  \"1\": {work: 1}\n", "the workflow's name",
         CARRIES_TITLE},
        {"weft: 1\nparameters: {sigma: 1.4}\ntasks:\n  \"1\": {work: 1}\n", "values of 1 parameter",
         CARRIES_PARAMETERS},
        {"weft: 1\nassert: makespan < 10\ntasks:\n  \"1\": {work: 1}\n", "texts of 1 assert",
         CARRIES_ASSERTIONS},
        {"weft: 1\nhooks: {done: mail, task_failed: 'cat >> {x}'}\ntasks:\n  \"1\": {work: 1}\n",
         "commands of 2 hooks", CARRIES_HOOKS},
        {"weft: 1\ntasks:\n  \"1\": {memory: 5, after: \"2\"}\n  \"2\": {work: 1}\n",
         "absence of work", CARRIES_UNSTATED},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t i = 0; format_registry[i]; i++) {
            const struct format *f = format_registry[i];
            struct error err = {0};
            struct workflow *w = read_text(&format_native, cases[k].text, NULL, &err);
            struct strbuf out = {0}, dropped = {0};
            if (!w || !f->write_workflow || !f->write_workflow(w, &out, &dropped, &err)) {
                ok(w && !f->write_workflow, "%s: written %s", f->name, err.text);
            } else {
                bool named = dropped.n && strstr(dropped.at, cases[k].lost);
                bool void_ = cases[k].bit == CARRIES_UNSTATED && !(f->carries & CARRIES(work));
                ok(void_ || named == !(f->carries & cases[k].bit), "%s: %s is %s", f->name,
                   cases[k].lost, named ? "named" : "carried");
                struct workflow *back = read_text(f, strbuf_text(&out), NULL, &err);
                if (!dropped.n)
                    ok(back && workflow_equal(w, back, &err), "%s: and is the same %s", f->name,
                       err.text);
                workflow_free(back);
            }
            workflow_free(w);
            strbuf_free(&out);
            strbuf_free(&dropped);
        }
}

/* {in} and {out} follow the order of the lists. */
static void test_order(void)
{
    static const char text[] =
        "weft: 1\nname: order\ntasks:\n"
        "  a: {run: 'make {out}', out: [z, {name: y, temporary: true}, unread, x, "
        "{name: gone, temporary: true}]}\n"
        "  b: {run: 'make {out}', out: [m, {name: k, size: 5}]}\n"
        "  c: {run: 'join {in}', in: [k, input2, x, m, input1, z, y], memory: [1, 2, 3]}\n";
    for (size_t i = 0; format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        struct error err = {0};
        struct workflow *w = read_text(&format_native, text, NULL, &err);
        struct strbuf out = {0}, dropped = {0};
        if (w && i == 0)
            image_trip(w, "an order of files");
        if (w && (f->carries & CARRIES_GRAPH) == CARRIES_GRAPH &&
            f->write_workflow(w, &out, &dropped, &err)) {
            struct workflow *back = read_text(f, strbuf_text(&out), NULL, &err);
            is_str(strbuf_text(&dropped), "", "%s: nothing is dropped", f->name);
            if (!ok(back && workflow_equal(w, back, &err), "%s: files keep their order %s", f->name,
                    err.text))
                printf("# %s\n", strbuf_text(&out));
            workflow_free(back);
        }
        workflow_free(w);
        strbuf_free(&out);
        strbuf_free(&dropped);
    }
    refuses(&format_dot, "digraph { a [command=x, inputs=\"1 p\\n1 q\", in_order=\"1 1\"] }",
            "the order of its inputs is not one of 2", "an order that is none");
    refuses(&format_dot, "digraph { a [command=x, inputs=\"1 p\", in_order=\"7\"] }",
            "the order of its inputs is not one of 1", "a place that is not there");
}

/* A page has this row. */
static void expect_row(const struct text *page, const struct strbuf *row, const char *key)
{
    if (!ok(strstr(page->at, row->at) != NULL, "the page tells of %s", key))
        printf("# expected a row that begins: %s\n", row->at + 1);
}

/* The table of keys in docs/formats/native.md. */
static void test_keys_page(void)
{
    struct error err = {0};
    struct text page;
    if (!ok(file_read(WEFT_SOURCE_DIR "/docs/formats/native.md", &page, &err), "the page %s",
            err.text))
        return;
    for (int id = 0; id < TASK_KEY_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        struct strbuf row = {0};
        strbuf_printf(&row, "\n| `%s` | %s | %s | %s", c->key, c->type, c->fallback, c->summary);
        expect_row(&page, &row, c->key);
        strbuf_free(&row);
    }
    text_free(&page);
}

/* The table of what each format carries in docs/formats/README.md. */
static void test_carries_page(void)
{
    struct error err = {0};
    struct text page;
    if (!ok(file_read(WEFT_SOURCE_DIR "/docs/formats/README.md", &page, &err), "the page %s",
            err.text))
        return;
    for (int id = -1; id < TASK_COLUMN_COUNT; id++) {
        struct strbuf row = {0};
        if (id < 0)
            strbuf_add(&row, "\n| ");
        else if (!task_column[id].lost)
            continue;
        else if (id < TASK_KEY_COUNT)
            strbuf_printf(&row, "\n| `%s`", task_column[id].key);
        else
            strbuf_printf(&row, "\n| %s", task_column[id].lost);
        for (size_t i = 0; format_registry[i]; i++) {
            const struct format *f = format_registry[i];
            if (f->write_workflow && id < 0)
                strbuf_printf(&row, "| `%s` ", f->name);
            else if (f->write_workflow)
                strbuf_add(&row, f->carries >> id & 1 ? " | yes" : " |");
        }
        strbuf_add(&row, id < 0 ? "|\n" : " |\n");
        expect_row(&page, &row, id < 0 ? "the formats" : task_column[id].key);
        strbuf_free(&row);
    }
    text_free(&page);
}

int main(void)
{
    TAP_DO(test_columns());
    TAP_DO(test_whole());
    TAP_DO(test_order());
    TAP_DO(test_keys_page());
    TAP_DO(test_carries_page());
    return tap_done();
}
