#include "base/strbuf.h"
#include "tap.h"
#include "weft/weft.h"

#include <string.h>
#include <time.h>

static const char flow[] = "weft: 1 # a flow\n"
                           "parameters: { sigma: 2 }\n"
                           "tasks:\n"
                           "  blur:\n"
                           "    run: blur {sigma} {in} {out}\n"
                           "    in: [a.png, { name: mask.png, optional: true }]\n"
                           "    out: { soft: soft.png }\n"
                           "  edges: { run: 'sobel {in} {out}', in: b.png, out: edges.png }\n";

static void test_edit(void)
{
    struct weft_error error;
    struct weft_edit *e = weft_edit_new(flow, strlen(flow), "flow.yaml", &error);
    const char *const port[] = {"in", NULL}, *const place[] = {"parameters", "sigma", NULL};
    struct weft_edit_task task;
    struct weft_edit_key key;
    struct weft_edit_port file;
    if (!ok(e, "a text is opened"))
        return;
    ok(weft_edit_task(e, 0, &task) && task.line == 4 && task.last == 7, "its first task, in lines");
    ok(weft_edit_task(e, 1, &task) && strcmp(task.name, "edges") == 0, "its second");
    ok(!weft_edit_task(e, 2, &task), "and no third");
    ok(weft_edit_task_key(e, 0, 2, &key) && key.yaml && strcmp(key.key, "out") == 0,
       "keys of a task");
    is_str(key.value, "{soft: soft.png}", "with their values");
    ok(weft_edit_port(e, 0, 1, &file) && strcmp(file.file, "mask.png") == 0 && !file.out,
       "what it reads");
    ok(strcmp(file.place[0], "in") == 0 && strcmp(file.place[1], "1") == 0 && !file.place[2],
       "and where that stands");
    ok(weft_edit_port(e, 0, 2, &file) && file.out && strcmp(file.place[1], "soft") == 0,
       "what it makes");
    ok(!weft_edit_port(e, 0, 3, &file), "and no more");
    ok(weft_edit_member(e, "parameters", 0, &key) && strcmp(key.value, "2") == 0, "parameters");
    const char *const ins[] = {"tasks", "blur", "in", NULL}, *const top[] = {NULL};
    ok(weft_edit_at(e, ins, 0, &key) && strcmp(key.value, "a.png") == 0 && !*key.key,
       "an element of a list at a place");
    ok(weft_edit_at(e, ins, 1, &key) && key.yaml && !weft_edit_at(e, ins, 2, &key), "all of them");
    ok(weft_edit_at(e, place, 0, &key) && strcmp(key.value, "2") == 0, "a value at a place");
    ok(!weft_edit_at(e, place, 1, &key), "which is one");
    ok(weft_edit_at(e, top, 2, &key) && strcmp(key.key, "tasks") == 0 && key.line == 3,
       "a member of the file");
    ok(weft_edit_connect(e, "blur", "soft.png", "edges", port, &error), "a wire");
    has_str(weft_edit_text(e, NULL), "in: soft.png, out", "is a name");
    ok(!weft_edit_connect(e, "edges", "edges.png", "blur", NULL, &error) &&
           error.status == WEFT_BAD_INPUT,
       "not in a circle: %s", error.text);
    weft_edit_begin(e);
    ok(weft_edit_set(e, place, "3", false, &error) && weft_edit_rename_task(e, "blur", "x", &error),
       "two changes");
    ok(weft_edit_end(e, true) && weft_edit_undo(e), "undone in one step");
    ok(strstr(weft_edit_text(e, NULL), "  blur:") != NULL, "both");
    const char *const both[] = {"blur", "edges", NULL};
    char *copy = weft_edit_copy(e, both, &error);
    has_str(copy, "weft: 1\nparameters:\n  sigma: 2\ntasks:\n  blur:\n", "a copy of both");
    char *names = weft_edit_add(e, copy, strlen(copy), true, &error);
    is_str(names, "blur2\nedges2\n", "is added under other names");
    weft_text_free(names);
    char *module = weft_edit_group(e, both, "both", "both.yaml", &error);
    has_str(module, "  edges: {", "a group is a workflow");
    has_str(weft_edit_text(e, NULL), "flow: both.yaml", "and a task");
    weft_text_free(module);
    weft_text_free(copy);
    while (weft_edit_undo(e))
        ;
    is_str(weft_edit_text(e, NULL), flow, "and all is undone");
    weft_edit_free(e);
    ok(!weft_edit_new("a: [", 4, "f", &error), "what is no YAML is refused: %s", error.text);
}

static void test_wires(void)
{
    static const char text[] = "weft: 1\ntasks:\n"
                               "  read: {each: i, out: '{i}.png'}\n"
                               "  one: {in: [x.txt, a.png], out: b.png, after: read}\n"
                               "  all: {in: 'n{x}.png', out: '{y}.txt'}\n"
                               "  last: {in: [b.png, 'a{z}.txt']}\n";
    static const struct weft_edit_wire expected[] = {{0, 1, 0, 1},
                                                     {0, 2, 0, 0},
                                                     {0, 3, 0, 0},
                                                     {1, 3, 2, 0},
                                                     {2, 1, 1, 0},
                                                     {2, 3, 1, 1},
                                                     {0, 1, WEFT_NONE, WEFT_NONE}};
    struct weft_error error;
    struct weft_edit *e = weft_edit_new(text, strlen(text), "f", &error);
    struct weft_edit_wire wire;
    struct weft_edit_spot spots[4];
    double extent[] = {1, 2, 1, 1};
    size_t n = 0, wrong = 0;
    for (; e && weft_edit_wire(e, n, &wire); n++) {
        bool there = false;
        for (size_t i = 0; i < 7; i++)
            there |= memcmp(&wire, &expected[i], sizeof wire) == 0;
        wrong += !there;
    }
    ok(n == 7 && !wrong, "%zu wires: names that some value makes the same", n);
    ok(weft_edit_layout(e, extent, 1, spots, &error), "a layout%s", error.text);
    ok(spots[0].column == 0 && spots[2].column == 1 && spots[1].column == 2 && spots[3].column == 3,
       "whose columns are levels");
    weft_edit_free(e);
    static const char circle[] = "weft: 1\ntasks:\n  a: {in: x, out: y}\n  b: {in: y, out: x}\n";
    e = weft_edit_new(circle, strlen(circle), "f", &error);
    ok(!weft_edit_layout(e, extent, 1, spots, &error), "none in a circle: %s", error.text);
    weft_edit_free(e);
}

/* A second of work for thousands of tasks would be minutes, were a name looked for among all names. */
static void test_many_wires(void)
{
    enum { MANY = 6000 };
    struct strbuf text = {0};
    struct weft_error error;
    struct weft_edit_wire wire;
    struct weft_edit_port port;
    struct weft_edit_task task;
    strbuf_add(&text, "weft: 1\ntasks:\n");
    for (unsigned t = 0; t < MANY; t++)
        strbuf_printf(&text, "  t%u: {in: [f%u, start], out: f%u, after: [t%u, nobody]}\n", t, t,
                      t + 1, t / 2);
    clock_t began = clock();
    struct weft_edit *e = weft_edit_new(text.at, text.n, "f", &error);
    size_t wires = 0, wrong = 0, ports = 0;
    for (; e && weft_edit_wire(e, wires, &wire); wires++)
        wrong += wires < MANY - 1 ? wire.from != wires || wire.to != wires + 1 || wire.made != 2
                                  : wire.from != wire.to / 2 || wire.made != WEFT_NONE;
    for (size_t t = 0; e && weft_edit_task(e, t, &task); t++)
        for (size_t k = 0; weft_edit_port(e, t, k, &port); k++)
            ports++;
    double took = (double)(clock() - began) / CLOCKS_PER_SEC;
    ok(wires == 2 * MANY - 1 && !wrong, "%zu wires of %d tasks, in the order of the text", wires,
       MANY);
    ok(ports == 3 * MANY && took < 20, "all of it in %.3g s", took);
    ok(e && weft_edit_task(e, 7, &task) && strcmp(task.name, "t7") == 0,
       "one before the last that was asked for");
    ok(e && weft_edit_remove_task(e, "t3", &error) && weft_edit_task(e, 7, &task) &&
           strcmp(task.name, "t8") == 0,
       "and after a change what stands there now");
    weft_edit_free(e);
    strbuf_free(&text);
}

/* A variable alone could be every name: what was read says which it is. */
static void test_known_wires(void)
{
    static const char text[] =
        "weft: 1\nlists: {file: [a.txt, b.txt]}\ntasks:\n"
        "  make: {run: 'echo > {out}', out: b.txt}\n"
        "  read: {each: file, run: 'cp {in} {out}', in: '{file}', out: 'c/{file}'}\n"
        "  last: {run: 'cat {in} > {out}', in: 'c/{file}', out: d.txt}\n";
    struct weft_error error;
    struct weft_edit *e = weft_edit_new(text, strlen(text), "f.yaml", &error);
    struct weft_workflow *w = weft_workflow_read_text(text, strlen(text), "f.yaml", NULL, &error);
    struct weft_edit_wire wire;
    struct weft_edit_spot spots[3];
    double extent[] = {1, 1, 1};
    size_t n = 0;
    ok(w && !weft_edit_layout(e, extent, 1, spots, &error), "by names alone it is a circle");
    ok(w && weft_edit_know(e, w, &error) && weft_edit_layout(e, extent, 1, spots, &error),
       "by what was read it is none");
    while (weft_edit_wire(e, n, &wire) && wire.from + 1 == wire.to)
        n++;
    ok(n == 2 && !weft_edit_wire(e, n, &wire), "and its wires are those that it has: %zu", n);
    ok(weft_edit_know(e, NULL, &error) && !weft_edit_layout(e, extent, 1, spots, &error),
       "which can be forgotten");
    weft_workflow_free(w);
    weft_edit_free(e);
}

static void test_keys(void)
{
    struct weft_task_key key;
    bool run = false, each = false;
    size_t n = 0;
    for (; weft_task_key(n, &key); n++) {
        run |= strcmp(key.name, "run") == 0 && *key.summary;
        each |= strcmp(key.name, "each") == 0;
    }
    ok(run && each && n > 30, "%zu keys of tasks", n);
}

static void test_library(void)
{
    struct weft_error error;
    const char *const folders[] = {"no/such/folder", WEFT_SOURCE_DIR "/tasks", NULL};
    struct weft_library *l = weft_library_read(folders, &error);
    struct weft_library_task t;
    size_t n = 0, bad = 0;
    bool blur = false;
    if (!ok(l, "the library is read"))
        return;
    for (; weft_library_task(l, n, &t); n++) {
        bad += t.problem || !*t.about || strcmp(t.group, "mine") == 0;
        blur |= strcmp(t.name, "blur") == 0 && strcmp(t.group, "images") == 0 &&
                strcmp(t.needs, "imagemagick") == 0;
        struct weft_edit *e = weft_edit_new("weft: 1\ntasks:\n", 15, "new.yaml", &error);
        char *names = e ? weft_edit_add(e, t.text, strlen(t.text), true, &error) : NULL;
        struct weft_workflow *w = names ? weft_workflow_read_text(weft_edit_text(e, NULL),
                                                                  strlen(weft_edit_text(e, NULL)),
                                                                  "new.yaml", NULL, &error)
                                        : NULL;
        if (!w)
            printf("# %s: %s\n", t.name, error.text);
        bad += !w;
        weft_workflow_free(w);
        weft_text_free(names);
        weft_edit_free(e);
    }
    ok(n >= 30 && blur, "%zu tasks", n);
    is_int(bad, 0, "each says what it does, and a workflow can be made of it");
    weft_library_free(l);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_edit),       TAP_CASE(test_wires),
                                            TAP_CASE(test_many_wires), TAP_CASE(test_known_wires),
                                            TAP_CASE(test_keys),       TAP_CASE(test_library)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
