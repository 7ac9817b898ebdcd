#include "formats/yaml/yaml_edit.h"
#include "base/rng.h"
#include "tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- an oracle of its own: a document as a list of "path = text", written apart from the editor ---- */

struct flat {
    char *at[4000];
    size_t n;
};

static void flat_add(const struct yaml *y, yaml_ref v, const char *path, struct flat *f)
{
    char line[2000];
    if (yaml_type(y, v) == YAML_SCALAR) {
        snprintf(line, sizeof line, "%s = %s%s", path, yaml_is_null(y, v) ? "~" : "'",
                 yaml_is_null(y, v) ? "" : yaml_text(y, v, NULL));
        f->at[f->n++] = strdup(line);
        return;
    }
    unsigned i = 0;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k), i++) {
        if (yaml_type(y, v) == YAML_MAPPING)
            snprintf(line, sizeof line, "%s/%s", path, yaml_text(y, k, NULL));
        else
            snprintf(line, sizeof line, "%s/%u", path, i);
        flat_add(y, yaml_type(y, v) == YAML_MAPPING ? yaml_value(k) : k, line, f);
    }
    if (!yaml_size(y, v)) {
        snprintf(line, sizeof line, "%s = ~", path); /* empty and nothing are the same here */
        f->at[f->n++] = strdup(line);
    }
}

static void flat_of(const struct yaml_edit *e, struct flat *f)
{
    struct yaml y;
    struct error err = {0};
    f->n = 0;
    if (yaml_load(&y, "f", strbuf_text(&e->text), e->text.n, &err)) {
        flat_add(&y, 0, "", f);
        yaml_free(&y);
    }
}

static void flat_free(struct flat *f)
{
    while (f->n)
        free(f->at[--f->n]);
}

static bool flat_has(const struct flat *f, const char *line)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->at[i], line) == 0)
            return true;
    return false;
}

/* Lines of `a` that are not in `b`, but for those under `but`. */
static size_t flat_lost(const struct flat *a, const struct flat *b, const char *but)
{
    size_t lost = 0;
    for (size_t i = 0; i < a->n; i++)
        lost += strncmp(a->at[i], but, strlen(but)) != 0 && !flat_has(b, a->at[i]);
    return lost;
}

/* ---- by hand ---- */

static const char written[] = "# my flow\n"
                              "weft: 1   # version\n"
                              "parameters: { sigma: 1.4, mode: 'fast' }   # tuned\n"
                              "tasks:\n"
                              "  # the first\n"
                              "  blur:\n"
                              "    run: blur {in} {out}   # slow\n"
                              "    in: [a.pgm,   b.pgm]\n"
                              "    out: soft.pgm\n"
                              "\n"
                              "  edges:\n"
                              "    run: |\n"
                              "      sobel {in}\n"
                              "      # not a comment\n"
                              "    in:\n"
                              "      - soft.pgm # from blur\n"
                              "      - name: mask.pgm\n"
                              "        size: 3\n"
                              "    out:\n"
                              "  flat: {run: 'x', in: {}, after: [blur]}\n"
                              "# the end";

static struct yaml_path path_of(const char *text, char *buffer)
{
    struct yaml_path p = {{NULL}, 0};
    strcpy(buffer, text);
    for (char *word = strtok(buffer, "/"); word; word = strtok(NULL, "/"))
        p.at[p.n++] = word;
    return p;
}

enum hand { SET, SET_YAML, REMOVE, RENAME, APPEND, LINES };

static void by_hand(enum hand what, const char *where, const char *value, const char *old,
                    const char *new, const char *name)
{
    struct yaml_edit e;
    struct error err = {0};
    char buffer[200];
    struct yaml_path p = path_of(where, buffer);
    if (!ok(yaml_edit_new(&e, "f.yaml", written, strlen(written), &err), "%s: reads", name))
        return;
    bool good = what == REMOVE   ? yaml_edit_remove(&e, &p, &err)
                : what == RENAME ? yaml_edit_rename(&e, &p, value, &err)
                : what == APPEND ? yaml_edit_append(&e, &p, (struct yaml_new){value, false}, &err)
                : what == LINES
                    ? yaml_edit_insert_lines(&e, &p, value, &err)
                    : yaml_edit_set(&e, &p, (struct yaml_new){value, what == SET_YAML}, &err);
    ok(good, "%s: done", name);
    if (!good)
        printf("# %s\n", err.text);
    /* the text with `old` exchanged for `new`, and nothing else */
    struct strbuf expected = {0};
    const char *at = strstr(written, old);
    strbuf_add_bytes(&expected, written, (size_t)(at - written));
    strbuf_add(&expected, new);
    strbuf_add(&expected, at + strlen(old));
    is_str(strbuf_text(&e.text), strbuf_text(&expected), "%s: this and nothing else", name);
    ok(yaml_edit_undo(&e) && strcmp(e.text.at, written) == 0, "%s: undone", name);
    ok(yaml_edit_redo(&e) && strcmp(e.text.at, expected.at) == 0, "%s: and done again", name);
    strbuf_free(&expected);
    yaml_edit_free(&e);
}

static void test_places(void)
{
    by_hand(SET, "parameters/sigma", "2", "sigma: 1.4", "sigma: 2", "a value in braces");
    by_hand(SET, "parameters/mode", "a, b", "'fast'", "'a, b'", "that has to be quoted");
    by_hand(SET, "parameters/more", "x", "'fast' }", "'fast', more: x }", "a member in braces");
    by_hand(SET, "tasks/blur/run", "cat", "blur {in} {out}   #", "cat   #", "before a comment");
    by_hand(SET, "tasks/blur/memory", "2G", "    out: soft.pgm\n",
            "    out: soft.pgm\n    memory: 2G\n", "a member in lines");
    by_hand(SET, "tasks/edges/out", "e.pgm", "    out:\n", "    out: e.pgm\n", "of nothing");
    by_hand(SET, "tasks/edges/run", "one\ntwo\n", "|\n      sobel {in}\n      # not a comment\n",
            "|\n      one\n      two\n", "lines for lines");
    by_hand(SET_YAML, "tasks/edges/in", "[x, y]",
            "\n      - soft.pgm # from blur\n      - name: mask.pgm\n        size: 3", " [x, y]",
            "brackets for lines");
    by_hand(REMOVE, "tasks/blur/in", NULL, "    in: [a.pgm,   b.pgm]\n", "", "a line goes");
    by_hand(REMOVE, "tasks/blur/in/0", NULL, "a.pgm,   ", "", "an element goes with its comma");
    by_hand(REMOVE, "tasks/blur/in/1", NULL, ",   b.pgm", "", "the last one, too");
    by_hand(REMOVE, "tasks/edges/in/0", NULL, "      - soft.pgm # from blur\n", "",
            "an element of lines");
    by_hand(REMOVE, "tasks/flat", NULL, "  flat: {run: 'x', in: {}, after: [blur]}\n", "",
            "a task in one line");
    by_hand(RENAME, "tasks/blur", "soft: er", "  blur:\n", "  'soft: er':\n", "a key");
    by_hand(APPEND, "tasks/edges/in", "z", "        size: 3\n", "        size: 3\n      - z\n",
            "an element in lines");
    by_hand(APPEND, "tasks/flat/after", "edges", "[blur]", "[blur, edges]", "and in brackets");
    by_hand(SET, "tasks/flat/in/x", "f", "in: {}", "in: {x: f}", "the first in braces");
    by_hand(SET, "tasks/edges/env/A", "1", "    out:\n", "    out:\n    env:\n      A: 1\n",
            "a mapping is made on the way");
    by_hand(SET, "tasks/flat/env/A", "1", "after: [blur]}", "after: [blur], env: {A: 1}}",
            "in braces, where it is in some");
    by_hand(SET, "canvas/notes/one/text", "a: b", "after: [blur]}\n",
            "after: [blur]}\ncanvas:\n  notes:\n    one:\n      text: 'a: b'\n",
            "several, in lines");
    by_hand(LINES, "tasks", "new:\n  run: x\n  in: y\n", "after: [blur]}\n",
            "after: [blur]}\n  new:\n    run: x\n    in: y\n", "a task in lines");
    by_hand(LINES, "parameters", "new: 5\n", "'fast' }", "'fast', new: 5 }", "lines into braces");
}

static void test_refusals(void)
{
    static const char odd[] = "? a\n: 1\nb:\n  - c: 1\n    d: 2\nk: &x 1\n", plain[] = "a: 1\n";
    struct yaml_edit e;
    struct error err = {0};
    char buffer[50];
    ok(!yaml_edit_new(&e, "f", odd, strlen(odd), &err), "what cannot be read cannot be edited");
    error_clear(&err);
    ok(yaml_edit_new(&e, "f", "b:\n  - c: 1\n    d: 2\n", 21, &err), "a mapping behind a dash");
    struct yaml_path p = path_of("b/0/c", buffer);
    ok(!yaml_edit_remove(&e, &p, &err) && strstr(err.text, "f:2: "), "its first line stays: %s",
       err.text);
    is_str(e.text.at, "b:\n  - c: 1\n    d: 2\n", "and nothing was changed");
    error_clear(&err);
    p = path_of("b/7", buffer);
    ok(!yaml_edit_remove(&e, &p, &err) && strstr(err.text, "b / 7"), "no such place: %s", err.text);
    yaml_edit_free(&e);
    error_clear(&err);
    if (!ok(yaml_edit_new(&e, "f", plain, 5, &err), "a text"))
        return;
    p = path_of("b", buffer);
    ok(!yaml_edit_set(&e, &p, (struct yaml_new){"[1", true}, &err), "a value that is no YAML");
    error_clear(&err);
    yaml_edit_begin(&e);
    ok(yaml_edit_set(&e, &p, (struct yaml_new){"2", false}, &err), "a step of two");
    p = path_of("a/x", buffer);
    ok(!yaml_edit_set(&e, &p, (struct yaml_new){"2", false}, &err) && !yaml_edit_end(&e, false),
       "whose second fails");
    is_str(e.text.at, plain, "is not there at all");
    ok(!yaml_edit_undo(&e) && !yaml_edit_redo(&e), "and cannot be undone or done again");
    yaml_edit_free(&e);
}

/* ---- at random ---- */

static char random_path[400];

/* A place of the document, drawn by walking down. */
static yaml_ref random_place(const struct yaml_edit *e, struct rng *r, struct yaml_path *p,
                             char (*words)[40])
{
    const struct yaml *y = &e->y;
    yaml_ref v = 0;
    p->n = 0;
    random_path[0] = 0;
    while (p->n < 6 && yaml_type(y, v) != YAML_SCALAR && yaml_size(y, v) &&
           (!p->n || rng_below(r, 4))) {
        uint32_t i = (uint32_t)rng_below(r, yaml_size(y, v));
        yaml_ref k = yaml_first(y, v);
        for (uint32_t j = 0; j < i; j++)
            k = yaml_next(y, v, k);
        if (yaml_type(y, v) == YAML_MAPPING)
            snprintf(words[p->n], 40, "%s", yaml_text(y, k, NULL));
        else
            snprintf(words[p->n], 40, "%u", i);
        p->at[p->n] = words[p->n];
        strcat(strcat(random_path, "/"), words[p->n]);
        p->n++;
        v = yaml_type(y, v) == YAML_MAPPING ? yaml_value(k) : k;
    }
    return v;
}

static const char *const texts[] = {"plain",        "two words",    "5",      "a: b",
                                    "'q'",          "# no comment", "x\ny\n", "",
                                    "{in} > {out}", "ünï",          "- dash", "true"};

/* One edit at random; false: it was refused, which must leave the text as it was. */
static bool random_edit(struct yaml_edit *e, struct rng *r, char *expected, size_t size)
{
    struct yaml_path p;
    struct error err = {0};
    char words[8][40], key[20];
    yaml_ref v = random_place(e, r, &p, words);
    const char *text = texts[rng_below(r, sizeof texts / sizeof *texts)];
    expected[0] = 0;
    switch (rng_below(r, 4)) {
    case 0:
        if (yaml_type(&e->y, v) == YAML_MAPPING && p.n < 8) {
            snprintf(key, sizeof key, "k%u", (unsigned)rng_below(r, 1000));
            snprintf(words[p.n], 40, "%s", key);
            strcat(strcat(random_path, "/"), key);
            p.at[p.n] = words[p.n];
            p.n++;
        }
        snprintf(expected, size, *text ? "%s = '%s" : "%s = '", random_path, text);
        return yaml_edit_set(e, &p, (struct yaml_new){text, false}, &err);
    case 1:
        return yaml_edit_remove(e, &p, &err);
    case 2:
        snprintf(key, sizeof key, "r%u", (unsigned)rng_below(r, 1000));
        return yaml_edit_rename(e, &p, key, &err);
    default:
        return yaml_edit_append(e, &p, (struct yaml_new){text, false}, &err);
    }
}

/* What the last patch left alone is byte for byte what it was. */
static bool patch_is_honest(const struct yaml_edit *e, const char *old, size_t n)
{
    const struct yaml_patch *p = &e->patches.at[e->done - 1];
    return memcmp(old, e->text.at, p->at) == 0 && n - p->nremoved + p->ninserted == e->text.n &&
           memcmp(old + p->at + p->nremoved, e->text.at + p->at + p->ninserted,
                  n - p->at - p->nremoved) == 0;
}

static void test_random(void)
{
    struct rng r;
    unsigned done = 0, refused = 0, wrong = 0;
    static struct flat before, after;
    rng_seed(&r, 18);
    for (unsigned round = 0; round < 60; round++) {
        struct yaml_edit e;
        struct error err = {0};
        if (!yaml_edit_new(&e, "f", written, strlen(written), &err))
            break;
        for (unsigned i = 0; i < 30; i++) {
            char *old = strdup(e.text.at), expected[500];
            size_t n = e.text.n;
            flat_of(&e, &before);
            if (!random_edit(&e, &r, expected, sizeof expected)) {
                refused++;
                wrong += strcmp(old, e.text.at) != 0;
            } else {
                done++;
                flat_of(&e, &after);
                wrong += !patch_is_honest(&e, old, n) || (*expected && !flat_has(&after, expected));
                /* list elements behind a removed one have other numbers: only sets can be judged so */
                if (*expected)
                    wrong += flat_lost(&before, &after, random_path) > 1;
                flat_free(&after);
            }
            if (wrong && !*expected)
                printf("# %s\n", e.text.at);
            flat_free(&before);
            free(old);
        }
        char *last = strdup(e.text.at);
        while (yaml_edit_undo(&e))
            ;
        wrong += strcmp(e.text.at, written) != 0;
        while (yaml_edit_redo(&e))
            ;
        wrong += strcmp(e.text.at, last) != 0;
        free(last);
        yaml_edit_free(&e);
    }
    ok(done >= 1000, "%u random edits are done, %u refused", done, refused);
    is_int(wrong, 0, "each says what was asked, leaves the rest, byte for byte, and can be undone");
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_places), TAP_CASE(test_refusals),
                                            TAP_CASE(test_random)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
