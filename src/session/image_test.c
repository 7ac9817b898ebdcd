/* Images of workflows: the same workflow comes back, from what stands there; and nothing but this very
 * text under this very name, undamaged, does. */
#include "session/image.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char where[64], image_path[128];

/* A workflow of n tasks with every kind of thing: 20,000 make more than a megabyte. */
static void flow_text(struct strbuf *out, uint32_t n)
{
    strbuf_clear(out);
    strbuf_add(out, "weft: 1\nname: large\nparameters: { sigma: 2 }\nassert: [\"makespan <= 9\"]\n"
                    "defaults: { memory: [1M, 2M] }\ntasks:\n");
    for (uint32_t t = 0; t < n; t++)
        strbuf_printf(out,
                      "  t%u: { in: [%s%u], out: [{ name: o%u, size: %u, temporary: %s }], "
                      "run: 'cp {in} {out}; echo {sigma}', timeout: %u, times: { P1: %u } }\n",
                      t, t % 3 ? "o" : "input", t ? t - 1 : 0, t, t, t % 2 ? "true" : "false",
                      t + 1, t);
}

/* Read as a run would, with the image in `where`. */
static struct workflow *read_flow(const char *name, const struct strbuf *text, struct image *i)
{
    struct error err = {0};
    struct text copy = {malloc(text->n + 1), text->n};
    memcpy(copy.at, text->at, text->n + 1);
    struct format_file *f = format_file_of(name, copy, NULL, NULL);
    struct workflow *w = image_read_workflow(i, where, f, &err);
    format_file_close(f);
    ok(w != NULL, "%s is read%s", name, err.text);
    return w;
}

/* Whatever stands there, reading gives what the text says. Was the image used? */
static bool reads_as(const char *name, const struct strbuf *text, const struct workflow *want)
{
    struct image i;
    struct error why = {0};
    struct workflow *w = read_flow(name, text, &i);
    ok(w && workflow_equal(w, want, &why), "as the text says%s%s", why.text[0] ? ": " : "",
       why.text);
    bool used = i.stands;
    workflow_free(w);
    image_free(&i);
    return used;
}

static void test_same_and_others(void)
{
    struct strbuf text = {0};
    struct image i;
    flow_text(&text, 20000);
    struct workflow *w = read_flow("dir/flow.yaml", &text, &i);
    ok(!i.stands && i.path && strcmp(i.path, image_path) == 0, "no image yet");
    image_keep(&i, w);
    ok(i.stands && access(image_path, F_OK) == 0, "it is kept");
    image_free(&i);
    ok(reads_as("dir/flow.yaml", &text, w), "and used");
    ok(!reads_as("flow.yaml", &text, w), "not under another path, which messages name");
    char *digit = strstr(text.at, "sigma: 2") + 7;
    *digit = '3'; /* of the same length */
    struct workflow *other = read_flow("dir/flow.yaml", &text, &i);
    ok(!i.stands && strcmp(workflow_text(other, other->parameter_value[0]), "3") == 0,
       "not for another text");
    image_keep(&i, other);
    image_free(&i);
    ok(reads_as("dir/flow.yaml", &text, other), "whose image takes its place");
    *digit = '2';
    ok(!reads_as("dir/flow.yaml", &text, w), "and is not used for the first");
    workflow_free(other);
    workflow_free(w);
    flow_text(&text, 100);
    w = read_flow("dir/flow.yaml", &text, &i);
    ok(!i.path && !i.stands, "a small text has none");
    image_keep(&i, w);
    image_free(&i);
    workflow_free(w);
    strbuf_free(&text);
}

static void test_damage(void)
{
    struct strbuf text = {0};
    struct image i;
    struct text good;
    flow_text(&text, 20000);
    struct workflow *w = read_flow("dir/flow.yaml", &text, &i);
    image_keep(&i, w);
    image_free(&i);
    if (!ok(file_read(image_path, &good, NULL), "the image is there"))
        return;
    /* in the head, then spread over the body */
    for (size_t k = 0; k < 24; k++) {
        size_t at = k < 8 ? k * 7 : k * (good.n - 1) / 23;
        good.at[at] ^= 1 << (k % 8);
        file_write(image_path, good.at, good.n, NULL);
        ok(!reads_as("dir/flow.yaml", &text, w), "a bit changed at %zu: not used", at);
        good.at[at] ^= 1 << (k % 8);
    }
    for (size_t k = 0; k < 4; k++) {
        file_write(image_path, good.at, k * good.n / 4, NULL);
        ok(!reads_as("dir/flow.yaml", &text, w), "cut off at %zu: not used", k * good.n / 4);
    }
    file_write(image_path, good.at, good.n, NULL);
    ok(reads_as("dir/flow.yaml", &text, w), "whole again: used");
    text_free(&good);
    workflow_free(w);
    strbuf_free(&text);
}

static void test_unfinished(void)
{
    struct strbuf text = {0}, left = {0};
    struct image i;
    flow_text(&text, 20000);
    strbuf_printf(&left, "%s.tmp-0123456789abcdef", image_path);
    file_write(left.at, "half", 4, NULL);
    unlink(image_path);
    struct workflow *w = read_flow("dir/flow.yaml", &text, &i);
    image_keep(&i, w);
    ok(i.stands && access(left.at, F_OK) != 0, "what a killed weft had begun to write is removed");
    image_free(&i);
    workflow_free(w);
    strbuf_free(&left);
    strbuf_free(&text);
}

int main(void)
{
    snprintf(where, sizeof where, "/tmp/weft-image-test-XXXXXX");
    if (!mkdtemp(where))
        abort();
    snprintf(image_path, sizeof image_path, "%s/image-flow.yaml", where);
    TAP_DO(test_same_and_others());
    TAP_DO(test_damage());
    TAP_DO(test_unfinished());
    tree_remove(where);
    return tap_done();
}
