#include "formats/native/native_edit.h"
#include "base/file.h"
#include "formats/native/native.h"
#include "tap.h"

#include <string.h>

static const char flow[] =
    "weft: 1\n"
    "# how much\n"
    "parameters: { sigma: 1.4 }\n"
    "tasks:\n"
    "  smooth: # first\n"
    "    run: blur {sigma} {in} {out}\n"
    "    in: photo.pgm\n"
    "    out: soft.pgm\n"
    "  detect:\n"
    "    run: sobel {in} {out}\n"
    "    in: { name: soft.pgm, size: 3M }\n"
    "    out: [edges.pgm, log.txt]\n"
    "    after: [smooth]\n"
    "  show: { run: 'cat {in}', in: { picture: edges.pgm }, after: detect }\n";

static bool edit_begin(struct yaml_edit *e, const char *text)
{
    struct error err = {0};
    return ok(yaml_edit_new(e, "flow.yaml", text, strlen(text), &err), "it reads");
}

/* The text says `part`, and is a workflow. */
static void says(const struct yaml_edit *e, const char *part, const char *name)
{
    struct error err = {0};
    struct strbuf copy = {0};
    strbuf_add_bytes(&copy, e->text.at, e->text.n);
    struct format_source source = {.path = "flow.yaml", .text = copy.at, .length = copy.n};
    struct workflow *w = native_read_workflow(&source, &err);
    has_str(e->text.at, part, "%s", name);
    ok(w, "%s: it is a workflow%s", name, err.text);
    workflow_free(w);
    strbuf_free(&copy);
}

static void test_wires(void)
{
    struct yaml_edit e;
    struct error err = {0};
    struct yaml_path none = {{NULL}, 0}, first = {{"in"}, 1}, named = {{"in", "picture"}, 2};
    if (!edit_begin(&e, flow))
        return;
    ok(edit_connect(&e, "smooth", "soft.pgm", "show", &none, &err), "a second input");
    says(&e, "in: { picture: edges.pgm, more: soft.pgm }", "among named ones it has a name");
    ok(edit_connect(&e, "smooth", "soft.pgm", "show", &none, &err) == false, "not twice");
    has_str(err.text, "reads 'soft.pgm' already", "says so");
    error_clear(&err);
    ok(!edit_connect(&e, "detect", "edges.pgm", "smooth", &first, &err), "no circle");
    has_str(err.text, "would close a circle", "says so");
    error_clear(&err);
    ok(!edit_connect(&e, "detect", "log.txt", "show", &named, &err), "no text where a picture is");
    has_str(err.text, "'log.txt' is txt, and this input is pgm", "says so");
    error_clear(&err);
    ok(edit_disconnect(&e, "show", "soft.pgm", &err), "out again");
    says(&e, "in: { picture: edges.pgm }", "as it was");
    ok(edit_connect(&e, "smooth", "soft.pgm", "show", &named, &err), "another wire for an input");
    says(&e, "in: { picture: soft.pgm }", "in its place");
    ok(edit_disconnect(&e, "detect", "soft.pgm", &err), "the only input");
    ok(!strstr(e.text.at, "size: 3M"), "takes its key along");
    ok(edit_connect(&e, "smooth", "soft.pgm", "detect", &none, &err), "and back");
    says(&e, "    in: soft.pgm\n", "as the first");
    while (yaml_edit_undo(&e))
        ;
    is_str(e.text.at, flow, "all undone");
    yaml_edit_free(&e);
}

static void test_names(void)
{
    struct yaml_edit e;
    struct error err = {0};
    if (!edit_begin(&e, flow))
        return;
    ok(edit_rename_task(&e, "detect", "find edges", &err), "a task is renamed");
    says(&e, "after: find edges }", "and what names it");
    ok(!edit_rename_task(&e, "smooth", "show", &err), "not to a name that is taken: %s", err.text);
    error_clear(&err);
    ok(edit_rename_file(&e, "soft.pgm", "s/soft 2.pgm", &err), "a file is renamed");
    says(&e, "in: { name: s/soft 2.pgm, size: 3M }", "where it is read");
    says(&e, "out: s/soft 2.pgm\n", "and where it is made");
    ok(edit_remove_task(&e, "smooth", &err), "a task goes");
    says(&e, "tasks:\n  find edges:\n", "with its lines");
    ok(!strstr(e.text.at, "after: [smooth]"), "and nobody waits for it");
    has_str(e.text.at, "# how much\n", "other comments stay");
    ok(yaml_edit_undo(&e) && yaml_edit_undo(&e) && yaml_edit_undo(&e) && !yaml_edit_undo(&e),
       "three steps");
    is_str(e.text.at, flow, "all undone");
    yaml_edit_free(&e);
}

static void test_adding(void)
{
    static const char blur[] = "# Blurs.\nweft: 1\nname: blur\nparameters:\n  sigma: 2\ntasks:\n"
                               "  smooth:\n    run: |\n      convert {in} -blur 0x{sigma} {out}\n"
                               "    in: picture.png\n    out: soft.pgm\n";
    struct yaml_edit e;
    struct error err = {0};
    struct strbuf names = {0}, copy = {0};
    if (!edit_begin(&e, flow))
        return;
    ok(edit_add(&e, blur, strlen(blur), true, &names, &err), "a task of the library%s", err.text);
    is_str(strbuf_text(&names), "smooth2\n", "has a name of its own");
    says(&e, "parameters: { sigma: 1.4, sigma2: 2 }\n", "and its parameter, too");
    says(&e, "  smooth2:\n    run: |\n      convert {in} -blur 0x{sigma2} {out}\n", "as written");
    says(&e, "out: soft2.pgm\n", "and what it makes");
    static const char *const both[] = {"smooth", "show"};
    ok(edit_copy(&e, both, 2, &copy, &err), "two tasks are copied");
    is_str(strbuf_text(&copy),
           "weft: 1\nparameters:\n  sigma: 1.4\ntasks:\n  smooth: # first\n    run: blur {sigma} "
           "{in} {out}\n    in: photo.pgm\n    out: soft.pgm\n  show: { run: 'cat {in}', in: { "
           "picture: edges.pgm }, after: detect }\n",
           "with what they need");
    strbuf_clear(&names);
    ok(edit_add(&e, copy.at, copy.n, false, &names, &err), "and pasted%s", err.text);
    is_str(strbuf_text(&names), "smooth3\nshow2\n", "beside the others");
    says(&e, "out: soft3.pgm\n", "with files of their own");
    ok(!strstr(e.text.at, "sigma3"), "and the same parameter");
    while (yaml_edit_undo(&e))
        ;
    is_str(e.text.at, flow, "all undone");
    yaml_edit_free(&e);
    static const char empty[] = "weft: 1\ntasks: {}\n";
    if (edit_begin(&e, empty)) {
        strbuf_clear(&names);
        ok(edit_add(&e, blur, strlen(blur), true, &names, &err), "into an empty workflow%s",
           err.text);
        says(&e, "sigma: 2", "with its parameter");
        yaml_edit_free(&e);
    }
    strbuf_free(&names);
    strbuf_free(&copy);
}

static void test_group(void)
{
    struct yaml_edit e;
    struct error err = {0};
    struct strbuf module = {0};
    static const char *const both[] = {"smooth", "detect"};
    if (!edit_begin(&e, flow))
        return;
    ok(edit_group(&e, both, 2, "find", "find.yaml", &module, &err), "two tasks become one box%s",
       err.text);
    has_str(e.text.at,
            "  find:\n    flow: find.yaml\n    in: {photo.pgm: photo.pgm}\n"
            "    out: {edges.pgm: edges.pgm, log.txt: log.txt}\n",
            "which says what goes in and out");
    has_str(strbuf_text(&module), "weft: 1\nparameters:\n  sigma: 1.4\ntasks:\n  smooth: # first\n",
            "and the others are a workflow of their own");
    ok(yaml_edit_undo(&e) && strcmp(e.text.at, flow) == 0, "in one step");
    yaml_edit_free(&e);
    strbuf_free(&module);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_wires), TAP_CASE(test_names),
                                            TAP_CASE(test_adding), TAP_CASE(test_group)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
