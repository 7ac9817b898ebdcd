#include "formats/registry.h"
#include "base/rng.h"
#include "formats/index_rows.h"
#include <math.h>

static struct platform *platform_text(const char *text, struct error *err)
{
    *err = (struct error){0};
    char *copy = strdup(text);
    struct format_source source = {.path = "test-file", .text = copy, .length = strlen(copy)};
    struct platform *p = format_native.read_platform(&source, err);
    free(copy);
    return p;
}

#define refuses_platform(input, part, ...)                                                         \
    do {                                                                                           \
        struct error refused_;                                                                     \
        struct platform *read_ = platform_text((input), &refused_);                                \
        bool good_ = !read_ && refused_.kind == ERROR_INPUT && strstr(refused_.text, (part));      \
        if (!ok(good_, __VA_ARGS__))                                                               \
            printf("# got: %s\n# expected: %s\n", refused_.text, (part));                          \
        platform_free(read_);                                                                      \
    } while (0)

static const char full[] =
    "# everything the format has\n"
    "weft: 1\n"
    "name: edges\n"
    "defaults: { cores: 2, memory: 100M, retries: 1, timeout: 1h, replicable: false }\n"
    "parameters: { sigma: 1.4, title: 'a b', empty: '' }\n"
    "tasks:\n"
    "  read:\n"
    "    run: cp {in} {out}\n"
    "    in: [data/region_a.pgm]\n"
    "    out: [{name: a.pgm, size: 12M}]\n"
    "    work: 3.5\n"
    "    times: { P1: 14, P2: 16ms }\n"
    "    memory: 200M\n"
    "    cores: 1\n"
    "    kind: input\n"
    "    replicable: true\n"
    "    timeout: 10m\n"
    "    retries: 2\n"
    "    deadline: 2h\n"
    "    priority: -3\n"
    "  smooth:\n"
    "    call: libx.so:smooth\n"
    "    in: a.pgm\n"
    "    out:\n"
    "      - b.pgm\n"
    "      - name: c.pgm\n"
    "        size: 1Ki\n"
    "  look:\n"
    "    run: |\n"
    "      sobel {sigma} {in} \\\n"
    "        > {out}\n"
    "    in: [b.pgm, c.pgm, {name: table, size: 7}]\n"
    "    after: [read, idle]\n"
    "  idle:\n"
    "  late: { after: look, in: , work: 0 }\n";

static void test_full(void)
{
    struct error err;
    struct workflow *w = read_text(&format_native, full, NULL, &err);
    if (!ok(w, "the full file reads %s", err.text))
        return;
    is_int(w->ntasks, 5, "five tasks");
    is_int(w->npairs, 5, "five edges");
    is_int(w->nobjects, 5, "five objects");
    is_int(w->ninputs, 2, "two inputs");
    is_str(workflow_text(w, w->name), "edges", "name");
    is_str(workflow_text(w, w->format), "native", "format");
    is_str(workflow_task_name(w, 0), "read", "tasks in file order");
    is_str(workflow_text(w, w->command[0]), "cp {in} {out}", "the command as it stands");
    is_dbl(w->work[0], 3.5, 0, "work");
    is_dbl(w->memory[0], 200e6, 0, "memory");
    is_int(w->cores[0], 1, "cores");
    is_str(workflow_text(w, w->kind[0]), "input", "kind");
    is_dbl(w->timeout[0], 600, 0, "timeout");
    is_int(w->retries[0], 2, "retries");
    is_dbl(w->deadline[0], 7200, 0, "deadline");
    is_dbl(w->priority[0], -3, 0, "priority");
    ok(!(w->flags[0] & TASK_NOT_REPLICABLE), "a task overrides replicable");
    is_int(w->time_off[1] - w->time_off[0], 2, "times on two nodes");
    is_str(workflow_text(w, w->time[1].node), "P2", "the second node");
    is_dbl(w->time[1].seconds, 0.016, 1e-15, "its seconds");
    is_int(w->cores[1], 2, "default cores");
    is_dbl(w->memory[1], 100e6, 0, "default memory");
    is_int(w->retries[1], 1, "default retries");
    is_dbl(w->timeout[2], 3600, 0, "default timeout");
    ok(w->timeout[1] == INFINITY, "a call cannot have one");
    ok(w->flags[1] & TASK_NOT_REPLICABLE, "default replicable");
    ok(w->flags[1] & TASK_CALL, "call");
    is_str(workflow_text(w, w->kind[1]), "smooth", "the kind of a call is its name");
    is_str(workflow_text(w, w->kind[2]), "sobel", "the kind is the first word of run");
    is_str(workflow_text(w, w->command[2]), "sobel {sigma} {in} \\\n  > {out}\n",
           "a command of two lines");
    is_str(workflow_text(w, w->kind[3]), "idle", "the kind is the name");
    ok(!(w->flags[3] & TASK_HAS_WORK) && (w->flags[4] & TASK_HAS_WORK), "work 0 is stated work");
    is_int(w->line[2], 28, "the line of a task");
    uint32_t a = workflow_find_object(w, "a.pgm"), c = workflow_find_object(w, "c.pgm");
    is_dbl(w->size[a], 12e6, 0, "size in M");
    is_dbl(w->size[c], 1024, 0, "size in Ki");
    is_dbl(w->size[workflow_find_object(w, "table")], 7, 0, "size of an input");
    ok(has_edge(w, "read", "smooth") && has_edge(w, "smooth", "look") &&
           has_edge(w, "read", "look") && has_edge(w, "idle", "look") &&
           has_edge(w, "look", "late"),
       "the edges are these");
    is_int(w->nparameters, 3, "parameters");
    is_str(workflow_text(w, w->parameter_value[0]), "1.4", "a number as text");

    struct strbuf out = {0}, dropped = {0};
    ok(format_native.write_workflow(w, &out, &dropped, &err), "it is written");
    is_str(strbuf_text(&dropped), "", "nothing is dropped");
    struct workflow *again = read_text(&format_native, out.at, NULL, &err);
    if (ok(again, "and read again %s", err.text)) {
        ok(workflow_equal(w, again, &err), "equal %s", err.text);
        bool same = again->nparameters == 3 && again->deadline[0] == 7200 &&
                    again->priority[0] == -3 && again->timeout[2] == 3600 &&
                    again->retries[1] == 1 && again->time[0].seconds == 14 &&
                    memcmp(w->flags, again->flags, w->ntasks * sizeof *w->flags) == 0 &&
                    strcmp(workflow_text(again, again->parameter_value[1]), "a b") == 0 &&
                    strcmp(workflow_text(again, again->parameter_value[2]), "") == 0;
        ok(same, "also in what workflow_equal does not look at");
        struct strbuf twice = {0};
        format_native.write_workflow(again, &twice, NULL, &err);
        is_str(twice.at, out.at, "the second writing is the first");
        strbuf_free(&twice);
    }
    workflow_free(again);
    strbuf_free(&out);
    strbuf_free(&dropped);
    workflow_free(w);
}

/* What only a run looks at, and the order in which {in} and {out} name files: that of the file,
 * whoever mentioned an object first. */
static void test_running(void)
{
    struct error err;
    struct workflow *w =
        read_text(&format_native,
                  "weft: 1\ntasks:\n"
                  "  b: {run: 'x {in}', in: [q, p, r], memory: [2G, 4G, 8G], sandbox: false}\n"
                  "  a: {run: 'y {out}', out: [r, {name: p, temporary: true}, o]}\n"
                  "  c: {run: z, out: [{name: m}, n], temporary: true}\n",
                  NULL, &err);
    if (!ok(w, "a file to be run reads %s", err.text))
        return;
    for (int round = 0; round < 2 && w; round++) {
        char in[8] = "", out[8] = "", kept[8] = "";
        for (uint32_t i = w->in_off[0]; i < w->in_off[1]; i++)
            strcat(in, workflow_text(w, w->object_name[w->in_object[i]]));
        for (uint32_t i = w->object_off[1]; i < w->object_off[2]; i++)
            strcat(out, workflow_text(w, w->object_name[w->out_object[i]]));
        for (uint32_t t = 0; t < 3; t++)
            for (uint32_t i = w->object_off[t]; i < w->object_end[t]; i++)
                if (!w->object_flags[w->out_object[i]])
                    strcat(kept, workflow_text(w, w->object_name[w->out_object[i]]));
        is_str(in, "qpr", "{in} in the order of the file");
        is_str(out, "rpo", "{out} too");
        is_str(kept, "ro", "and what is not temporary");
        ok(w->more_off[1] == 2 && w->more_off[3] == 2 && w->memory[0] == 2e9 &&
               w->more_memory[0] == 4e9 && w->more_memory[1] == 8e9,
           "memory by attempt");
        ok((w->flags[0] & TASK_IN_PLACE) && !(w->flags[1] & TASK_IN_PLACE), "sandbox");
        struct strbuf text = {0};
        format_native.write_workflow(w, &text, NULL, &err);
        workflow_free(w);
        w = read_text(&format_native, text.at, NULL, &err);
        ok(w, "written and read again %s", w ? "" : err.text);
        strbuf_free(&text);
    }
    workflow_free(w);
}

static void test_assertions(void)
{
    static const char first[] = "assert relationship requirement (\n  1 < 2)\n";
    struct error err;
    struct workflow *w =
        read_text(&format_native,
                  "weft: 1\nassert:\n  - |\n    assert relationship requirement (\n      1 < 2)\n"
                  "  - \"-- 'nothing': # at all\"\ntasks: {a: {}}\n",
                  NULL, &err);
    if (!ok(w, "constraints are read %s", err.text))
        return;
    is_int(w->nassertions, 2, "both of them");
    is_int(w->assertion_line[1], 6, "with their lines");
    for (int round = 0; round < 2 && w; round++) {
        is_str(workflow_text(w, w->assertion[0]), first, "a text of several lines");
        is_str(workflow_text(w, w->assertion[1]), "-- 'nothing': # at all",
               "and one that YAML quotes");
        struct strbuf text = {0}, dropped = {0};
        format_native.write_workflow(w, &text, &dropped, &err);
        is_str(strbuf_text(&dropped), "", "nothing is dropped");
        workflow_free(w);
        w = read_text(&format_native, text.at, NULL, &err);
        ok(w && w->nassertions == 2, "written and read again %s", w ? "" : err.text);
        strbuf_free(&text);
        strbuf_free(&dropped);
    }
    workflow_free(w);
    w = read_text(&format_native, "weft: 1\nassert: one\ntasks: {}\n", NULL, &err);
    ok(w && w->nassertions == 1, "a text instead of a list");
    workflow_free(w);
    refuses(&format_native, "weft: 1\nassert: {a: b}\ntasks: {}\n",
            "test-file:2: assert is a mapping", "a mapping of constraints");
    refuses(&format_native, "weft: 1\nassert: [one, '']\ntasks: {}\n", "assert is empty",
            "an empty constraint");
}

/* What people draw around tasks: read by nobody here, but told where it could not be drawn. */
static void test_canvas(void)
{
    static const struct {
        const char *canvas, *problem;
    } cases[] = {
        {"{frame: {}}", "did you mean 'frames'"},
        {"[a]", "canvas"},
        {"{frames: {both: a}}", "a frame is a list of tasks"},
        {"{frames: {both: [{a: b}]}}", "a task of the frame"},
        {"{notes: {one: {txt: why}}}", "did you mean 'text'"},
        {"{notes: [why]}", "notes"},
    };
    struct error err = {0};
    struct workflow *w = read_text(&format_native,
                                   "weft: 1\ntasks: {a: {}, b: {}}\n"
                                   "canvas: {frames: {both: [a, b, gone]}, notes: {one: why, two: "
                                   "{text: why, beside: a}}}\n",
                                   NULL, &err);
    ok(w && w->ntasks == 2, "frames and notes: %s", err.text);
    workflow_free(w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "weft: 1\ntasks: {a: {}}\ncanvas: %s\n", cases[i].canvas);
        refuses(&format_native, text, cases[i].problem, "canvas: %s", cases[i].canvas);
    }
}

static void test_errors(void)
{
    const struct format *f = &format_native;
#define HEAD "weft: 1\ntasks:\n"
    refuses(f, "", "empty", "an empty file");
    refuses(f, "name: x\ntasks: {a: {}}\n", "test-file:1: the key 'weft' is missing", "no version");
    refuses(f, "weft: 2\ntasks: {}\n",
            "test-file:1: weft: 2 is not supported; this program reads version 1",
            "another version");
    refuses(f, "weft: x\ntasks: {}\n", "weft is 'x'", "no version at all");
    refuses(f, "weft: 1\nname: x\n", "the key 'tasks' is missing", "no tasks");
    refuses(f, "weft: 1\nnodes: [{name: a}]\n", "this is a platform file; expected a workflow",
            "a platform");
    refuses(f, "weft: 1\ntasks: {}\nnodes: []\n", "both", "a workflow and a platform");
    refuses(f, "[1, 2]\n", "expected a mapping", "a list");
    refuses(f, "weft: 1\ntaks: {}\ntasks: {}\n",
            "test-file:2: unknown key 'taks'; did you mean 'tasks'?", "an unknown key at the top");
    refuses(f, HEAD "  a:\n    mem: 3\n", "test-file:4: task 'a': unknown key 'mem'",
            "an unknown key of a task");
    refuses(f, HEAD "  a:\n    memroy: 3\n", "did you mean 'memory'?", "with a suggestion");
    refuses(f, "weft: 1\ndefaults: {run: x}\ntasks: {}\n", "defaults: unknown key 'run'",
            "a command as default");
    refuses(f, "weft: 1\ndefaults: {cores: 0}\ntasks: {}\n", "test-file:2: defaults: cores is 0",
            "a wrong default");
    refuses(f, HEAD "  a: {}\n  b: {}\n  a: {}\n",
            "test-file:5: the key 'a' is there twice; the first stands on line 3", "a task twice");
    refuses(f, HEAD "  '': {}\n", "test-file:3:", "an empty name");
    refuses(f, HEAD "  a: 3\n", "test-file:3: task 'a': its description is '3'",
            "a number for a task");
    refuses(f, HEAD "  - a\n", "tasks is a list; expected a mapping", "a list of tasks");
    refuses(f, HEAD "  a: {work: -3}\n", "work is -3", "negative work");
    refuses(f, HEAD "  a: {work: .nan}\n", "work is '.nan'; expected a finite number", "NaN");
    refuses(f, HEAD "  a: {work: .inf}\n", "finite", "infinity");
    refuses(f, HEAD "  a: {work: 1e999}\n", "finite", "past the range");
    refuses(f, HEAD "  a: {work: }\n", "work is nothing", "no value");
    refuses(f, HEAD "  a: {work: [1]}\n", "work is a list", "a list for a number");
    refuses(f, HEAD "  a: {work: abc}\n", "work is 'abc'", "a word for a number");
    refuses(f, HEAD "  a: {memory: -3}\n", "memory is '-3'; expected a size", "negative memory");
    refuses(f, HEAD "  a: {memory: 3Q}\n", "memory is '3Q'", "a wrong unit");
    refuses(f, HEAD "  a: {memory: [4G, 2G]}\n", "memory grows", "memories that shrink");
    refuses(f, HEAD "  a: {memory: []}\n", "an empty list", "no memories");
    refuses(f, HEAD "  a: {timeout: 3 weeks}\n", "timeout is '3 weeks'; expected a time",
            "a wrong time");
    refuses(f, HEAD "  a: {cores: 1.5}\n", "cores is 1.5", "half a core");
    refuses(f, HEAD "  a: {cores: 0}\n", "cores is 0", "no core");
    refuses(f, HEAD "  a: {retries: -1}\n", "retries is -1", "negative retries");
    refuses(f, HEAD "  a: {replicable: maybe}\n", "expected true or false", "a wrong truth value");
    refuses(f, HEAD "  a: {kind: [x]}\n", "kind is a list", "a list for a text");
    refuses(f, HEAD "  a: {run: }\n", "run is nothing", "an empty command");
    refuses(f, HEAD "  a: {run: ' '}\n", "run is blank", "a blank command");
    refuses(f, HEAD "  a: {run: x, call: 'l:f'}\n", "both run and call", "two commands");
    refuses(f, HEAD "  a: {call: lib}\n", "expected library:function", "a call without a function");
    refuses(f, HEAD "  a:\n    after: [b]\n",
            "test-file:4: task 'a': after names 'b', which is not a task", "a dangling after");
    refuses(f, HEAD "  read: {}\n  b:\n    after:\n      - raed\n",
            "test-file:6: task 'b': after names 'raed', which is not a task; did you mean 'read'?",
            "with a suggestion");
    refuses(f, HEAD "  a: {after: [a]}\n", "test-file:3: task 'a' depends on itself",
            "a self loop");
    refuses(f, HEAD "  a: {in: [x], out: [x]}\n", "task 'a' reads its own output 'x'",
            "a self loop of data");
    refuses(f,
            HEAD "  a: {in: [z], out: [x]}\n  b: {in: [x], out: [y]}\n  c: {in: [y], out: [z]}\n",
            "a -> b -> c -> a", "a cycle is named");
    refuses(f, HEAD "  a: {out: [x]}\n  b: {out: [x]}\n", "'x' is made by two tasks, 'a' and 'b'",
            "two producers");
    refuses(f, HEAD "  a: {out: [{name: x, size: -1}]}\n", "size is '-1'", "a negative size");
    refuses(f, HEAD "  a: {out: [{size: 1}]}\n", "has no name", "an output without a name");
    refuses(f, HEAD "  a: {in: [{name: x, temporary: true}]}\n", "temporary belongs to the task",
            "a reader cannot say that a file is temporary");
    refuses(f, HEAD "  a: {in: ['']}\n", "an entry of in is empty", "an empty file name");
    refuses(f, HEAD "  a: {in: [[x]]}\n", "an entry of in is a list", "a list of lists");
    refuses(f, HEAD "  a: {times: [1]}\n", "times is a list", "times as a list");
    refuses(f, HEAD "  a: {times: {p: -1}}\n", "the time on node 'p' is '-1'", "a negative time");
    refuses(f, "weft: 1\nparameters: {a: [1]}\ntasks: {}\n", "parameter 'a' is a list",
            "a list as parameter");
    refuses(f, "weft: 1\nparameters: {a: }\ntasks: {}\n", "has no value",
            "a parameter without value");
    refuses(f, HEAD "  a: {in: [x\n", "test-file:", "a truncated file");
    refuses(f, HEAD "  a: {run: \"x\xff\"}\n", "test-file:3: byte 0xFF is not valid UTF-8",
            "a wrong encoding");

    struct error err;
    struct workflow *w = read_text(f, "weft: 1\ntasks:\n", NULL, &err);
    ok(w && w->ntasks == 0, "no tasks is a workflow %s", err.text);
    workflow_free(w);
    w = read_text(f, HEAD "  a: {out: [{name: x, size: 3}]}\n  b: {in: [{name: x, size: 4}]}\n",
                  NULL, &err);
    ok(w && w->size[0] == 3 && has_warning(w, "second size"),
       "two sizes: the first counts, with a warning");
    workflow_free(w);
}

static const char *const nasty[] = {
    "a b",   "null",   "1",           "1.5",
    "yes",   "-",      "- x",         "a: b",
    "#x",    "x #y",   "[",           "{in}",
    "'",     "\"",     "\\",          "\xe7\x95\x8c",
    " lead", "trail ", "line\nbreak", "tab\t",
    "~",     "a->b",   "->",          "@",
    "%",     "&a",     "*a",          "!",
    "|",     ">",      "?",           ":",
    "::",    "a,b",    "\x01",        "\xe2\x80\xa8",
    "''''",  "0x1",    "2024-01-01",  "...",
    "---",
};
enum { NASTY = sizeof nasty / sizeof *nasty };

static struct workflow *random_workflow(struct rng *rng, bool names)
{
    struct builder *b = builder_new("<random>", "native");
    uint32_t n = (uint32_t)rng_below(rng, 40), objects = 0, named[120];
    const char *title = nasty[rng_below(rng, NASTY)];
    builder_name(b, title, strlen(title));
    for (uint32_t t = 0; t < n; t++) {
        char name[80];
        snprintf(name, sizeof name, "%s%.0u", names && t < NASTY ? nasty[t] : "t",
                 names && t < NASTY ? 0 : t + 1);
        builder_task(b, name, strlen(name), t + 1);
        if (rng_below(rng, 2))
            builder_work(b, t, rng_unit(rng) * 1e6, 0);
        if (rng_below(rng, 3) == 0)
            builder_memory(b, t, floor(rng_unit(rng) * 1e12), 0);
        if (rng_below(rng, 3) == 0)
            builder_cores(b, t, 1 + (double)rng_below(rng, 8), 0);
        const char *word = nasty[rng_below(rng, NASTY)];
        if (rng_below(rng, 3) == 0)
            builder_kind(b, t, word, strlen(word));
        char command[200];
        snprintf(command, sizeof command, "%s %s\n  %s", nasty[rng_below(rng, NASTY)],
                 nasty[rng_below(rng, NASTY)], nasty[rng_below(rng, NASTY)]);
        if (rng_below(rng, 2))
            builder_command(b, t, command, strlen(command));
        if (rng_below(rng, 5) == 0)
            builder_flag(b, t, TASK_NOT_REPLICABLE);
        for (uint32_t k = (uint32_t)rng_below(rng, 3); k--; objects++) {
            snprintf(name, sizeof name, "%s%u", nasty[rng_below(rng, NASTY)], objects);
            uint32_t o = named[objects] = builder_object(b, name, strlen(name));
            if (rng_below(rng, 4))
                builder_produces(b, t, o, 0);
            else
                builder_consumes(b, t, o, 0);
            if (rng_below(rng, 2))
                builder_size(b, o, rng_unit(rng) * 1e9, 0);
        }
        for (uint32_t k = t ? (uint32_t)rng_below(rng, 12) : 0; k--;) {
            uint32_t from = (uint32_t)rng_below(rng, t);
            if (rng_below(rng, 3) == 0)
                builder_edge(b, from, t, 0);
            else if (rng_below(rng, 2))
                builder_data_edge(b, from, t, 1 + floor(rng_unit(rng) * 1e6), 0);
        }
    }
    /* readers of named objects come later than their makers */
    for (uint32_t i = 0; objects && n && i < 2 * n; i++) {
        uint32_t o = named[rng_below(rng, objects)], p = builder_producer(b, o);
        uint32_t from = p == NONE ? 0 : p + 1;
        if (from < n)
            builder_consumes(b, from + (uint32_t)rng_below(rng, n - from), o, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

static void test_random(void)
{
    struct rng rng;
    rng_seed(&rng, 3);
    int bad = 0, tasks = 0;
    for (int i = 0; i < 300; i++) {
        struct workflow *w = random_workflow(&rng, i % 2), *again = NULL;
        struct strbuf out = {0};
        struct error err = {0};
        bool good = w && format_native.write_workflow(w, &out, NULL, &err) &&
                    (again = read_text(&format_native, out.at, NULL, &err)) &&
                    workflow_equal(w, again, &err) && workflow_equal(again, w, &err);
        if (!good && !bad)
            printf("# round %d: %s\n%s\n", i, err.text, strbuf_text(&out));
        bad += !good;
        tasks += w ? (int)w->ntasks : 0;
        workflow_free(w);
        workflow_free(again);
        strbuf_free(&out);
    }
    is_int(bad, 0, "300 random workflows with nasty names come back equal");
    ok(tasks > 3000, "and they were not empty");
}

static void test_labels(void)
{
    /* two anonymous objects whose labels are the same text, and a named one that has it already */
    struct builder *b = builder_new("<test>", "native");
    const char *names[] = {"a", "a->b", "b->c", "c"};
    for (uint32_t i = 0; i < 4; i++)
        builder_task(b, names[i], strlen(names[i]), 0);
    builder_data_edge(b, 0, 2, 5, 0);
    builder_data_edge(b, 1, 3, 6, 0);
    uint32_t o = builder_object(b, "a->b->c", 7);
    builder_produces(b, 0, o, 0);
    builder_consumes(b, 3, o, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct strbuf out = {0};
    format_native.write_workflow(w, &out, NULL, &err);
    struct workflow *again = read_text(&format_native, out.at, NULL, &err);
    if (ok(again, "labels that are alike are told apart %s", err.text)) {
        is_int(again->nobjects, 3, "three objects");
        is_int(again->npairs, 3, "three edges");
        ok(has_edge(again, "a", "b->c") && has_edge(again, "a->b", "c") &&
               has_edge(again, "a", "c"),
           "the same ones");
    }
    workflow_free(again);
    workflow_free(w);
    strbuf_free(&out);

    /* names longer than a YAML key may be */
    b = builder_new("<test>", "native");
    char *longest = malloc(5001);
    memset(longest, 'x', 5000);
    longest[5000] = 0;
    builder_task(b, longest, 5000, 0);
    builder_task(b, "z", 1, 0);
    builder_edge(b, 0, 1, 0);
    w = builder_finish(b, &err);
    format_native.write_workflow(w, &out, NULL, &err);
    ok(strstr(out.at, "  ? xxx"), "a long name is an explicit key");
    again = read_text(&format_native, out.at, NULL, &err);
    ok(again && workflow_equal(w, again, &err), "and comes back %s", err.text);
    workflow_free(again);
    workflow_free(w);
    strbuf_free(&out);
    free(longest);

    /* what the format cannot carry is told */
    b = builder_new("<test>", "native");
    builder_task(b, "a\xff", 2, 0);
    builder_flag(b, 0, TASK_DONE);
    w = builder_finish(b, &err);
    struct strbuf dropped = {0};
    format_native.write_workflow(w, &out, &dropped, &err);
    has_str(dropped.at, "done marks of 1 task", "done marks are told");
    has_str(dropped.at, "not UTF-8", "broken names are told");
    workflow_free(w);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

static void test_platform(void)
{
    struct error err;
    struct platform *p =
        platform_text("weft: 1\n"
                      "name: four-fold\n"
                      "network: { bandwidth: 500, latency: 1ms, ports: 4 }\n"
                      "nodes:\n"
                      "  - { name: fat, count: 9, speed: 0.5, memory: 3G, utilization: 0.02 }\n"
                      "  - name: head\n"
                      "    cores: 8\n"
                      "    up: false\n"
                      "    memory: unlimited\n"
                      "links:\n"
                      "  - { between: [fat1, fat2], bandwidth: 1K, latency: 2ms }\n"
                      "  - { between: [fat3, head], latency: 0 }\n"
                      "  - { between: [fat3, fat4], bandwidth: unlimited }\n",
                      &err);
    if (!ok(p, "a platform reads %s", err.text))
        return;
    is_int(p->nnodes, 10, "ten nodes");
    is_str(platform_node_name(p, 8), "fat9", "counted names");
    is_str(platform_node_name(p, 9), "head", "a name without count");
    is_dbl(p->speed[8], 0.5, 0, "speed");
    is_dbl(p->memory[0], 3e9, 0, "memory");
    ok(isinf(p->memory[9]), "unlimited memory");
    is_int(p->cores[9], 8, "cores");
    ok(p->up[0] && !p->up[9], "up and down");
    is_dbl(p->utilization[0], 0.02, 0, "utilization");
    is_dbl(p->bandwidth, 500, 0, "bandwidth");
    is_dbl(p->latency, 0.001, 0, "latency");
    is_int(p->ports, 4, "ports");
    is_int(p->nlinks, 3, "links");
    is_dbl(p->links[0].bandwidth, 1000, 0, "a link's bandwidth");
    struct strbuf out = {0};
    format_native.write_platform(p, &out, NULL, &err);
    has_str(out.at, "name: fat, count: 9", "equal nodes are written as one");
    struct platform *again = platform_text(out.at, &err);
    ok(again && platform_equal(p, again, &err), "it comes back %s", err.text);
    platform_free(again);
    platform_free(p);
    strbuf_free(&out);

    p = platform_text("weft: 1\nlinks:\n- { between: [a, b], bandwidth: 9 }\n- { between: [a, c], "
                      "bandwidth: 2 }\nnetwork: { bandwidth: 10, disk: 5, memory: 80 }\n"
                      "nodes: [{ name: a }, { name: b }, { name: c }]\n",
                      &err);
    if (ok(p, "disk and memory %s", err.text)) {
        is_dbl(platform_transfer(p, 1, 2, 20), 4, 0, "a transfer has the least of all three");
        is_dbl(platform_transfer(p, 0, 1, 20), 4, 0, "over a quicker link, too");
        is_dbl(platform_transfer(p, 0, 2, 20), 10, 0, "a slower link is the least");
    }
    platform_free(p);
    refuses_platform("weft: 1\nnetwork: { disk: 0 }\nnodes: [{ name: a }]\n",
                     "disk of the network is 0", "a disk that gives nothing");
    refuses_platform("weft: 1\ntasks: {}\n", "this is a workflow file; expected a platform",
                     "a workflow");
    refuses_platform("weft: 1\nnodes: {}\n", "nodes is a mapping; expected a list",
                     "a mapping of nodes");
    refuses_platform("weft: 1\nnodes: []\n", "no nodes", "no nodes");
    refuses_platform("weft: 1\nnodes:\n  - {speed: 1}\n", "test-file:3: a node has no name",
                     "no name");
    refuses_platform("weft: 1\nnodes:\n  - {name: a}\n  - {name: a}\n",
                     "test-file:4: node 'a' is defined twice", "a node twice");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, count: 2}\n  - {name: a2}\n",
                     "'a2' is defined twice", "a counted node twice");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, sped: 1}\n",
                     "unknown key 'sped'; did you mean 'speed'?", "an unknown key");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, speed: 0}\n", "speed is 0", "speed 0");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, speed: .nan}\n", "speed is '.nan'",
                     "speed NaN");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, memory: -1}\n", "memory is '-1'",
                     "negative memory");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, cores: 0.5}\n", "cores is 0.5", "half a core");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, utilization: 2}\n", "utilization is 2",
                     "overload");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, count: 0}\n", "count is 0", "none of a kind");
    refuses_platform("weft: 1\nnodes:\n  - {name: a, count: 1e18}\n", "count is 1e+18", "too many");
    refuses_platform("weft: 1\nnetwork: {bandwith: 1}\nnodes:\n  - {name: a}\n",
                     "did you mean 'bandwidth'?", "a misspelt network");
    refuses_platform("weft: 1\nnetwork: {bandwidth: 0}\nnodes:\n  - {name: a}\n", "bandwidth is 0",
                     "no bandwidth");
    refuses_platform("weft: 1\nnetwork: {ports: 1.5}\nnodes:\n  - {name: a}\n", "ports is 1.5",
                     "half a port");
    refuses_platform(
        "weft: 1\nnodes:\n  - {name: fat, count: 3}\nlinks:\n  - {between: [fat1, fat22]}\n",
        "test-file:5: there is no node 'fat22'; did you mean 'fat2'?", "an unknown node in a link");
    refuses_platform("weft: 1\nnodes:\n  - {name: a}\nlinks:\n  - {between: [a]}\n",
                     "has 1 entries", "one end");
    refuses_platform("weft: 1\nnodes:\n  - {name: a}\nlinks:\n  - {bandwidth: 3}\n", "no 'between'",
                     "no ends");
    refuses_platform("weft: 1\nnodes:\n  - {name: a}\nlinks:\n  - {between: [a, a]}\n",
                     "with itself", "a loop");
    refuses_platform("weft: 1\nnodes:\n  - {name: a}\n  - 3\n", "a node is '3'",
                     "a number for a node");
    refuses_platform("", "empty", "an empty file");
}

static void test_random_platforms(void)
{
    struct rng rng;
    rng_seed(&rng, 9);
    int bad = 0;
    for (int i = 0; i < 100; i++) {
        struct platform_builder *b = platform_builder_new("<random>");
        if (i % 3)
            platform_builder_network(b, 1 + rng_unit(&rng) * 1e9, rng_unit(&rng),
                                     (double)rng_below(&rng, 4), 0);
        uint32_t n = 0;
        for (uint32_t k = 0; k < NASTY && k < 1 + rng_below(&rng, 30); k++) {
            double speed = 0.1 + rng_unit(&rng);
            uint32_t run = 1 + (uint32_t)rng_below(&rng, 12);
            for (uint32_t j = 1; j <= run; j++, n++) {
                char name[80];
                snprintf(name, sizeof name, "%s%u", nasty[k], j);
                uint32_t node = platform_builder_node(b, name, strlen(name), 0);
                platform_builder_speed(b, node, rng_below(&rng, 10) ? speed : 2 * speed, 0);
                if (k % 2)
                    platform_builder_memory(b, node, 1e9 * k, 0);
                if (k % 3 == 0)
                    platform_builder_cores(b, node, k + 1, 0);
            }
        }
        for (uint32_t k = 1; k < n && i % 2; k += 1 + (uint32_t)rng_below(&rng, 5))
            platform_builder_link(b, 0, k, rng_unit(&rng) * 100, rng_unit(&rng), 0);
        struct error err = {0};
        struct platform *p = platform_builder_finish(b, &err), *again = NULL;
        struct strbuf out = {0};
        bool good = p && format_native.write_platform(p, &out, NULL, &err) &&
                    (again = platform_text(out.at, &err)) && platform_equal(p, again, &err);
        for (uint32_t k = 0; good && k < p->nnodes; k++)
            good = strcmp(platform_node_name(p, k), platform_node_name(again, k)) == 0;
        if (!good && !bad)
            printf("# %s\n%s\n", err.text, strbuf_text(&out));
        bad += !good;
        platform_free(p);
        platform_free(again);
        strbuf_free(&out);
    }
    is_int(bad, 0, "100 random platforms come back equal, nodes in order");
}

static void test_sniff(void)
{
    static const struct {
        const char *path, *text;
        int sure;
    } cases[] = {
        {"x", "weft: 1\n", 3},
        {"x", "# c\n\nname: a\nweft: 1\n", 3},
        {"x", "{\"weft\": 1, \"tasks\": {}}", 3},
        {"x", "{ weft: 1 }", 3},
        {"x", "\xef\xbb\xbfweft: 1\n", 3},
        {"x", "a:\n  weft: 1\n", 0},
        {"x", "# weft: 1\n", 0},
        {"x", "wefts: 1\n", 0},
        {"x.yaml", "tasks: {}\n", 1},
        {"x", "tasks: {}\n", 0},
        {"x", "", 0},
        {"x.json", "{\"schema\": \"weft-plan/1\"}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(format_native.sniff(cases[i].path, cases[i].text, strlen(cases[i].text)),
               cases[i].sure, "sniffing, case %zu", i);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_full),     TAP_CASE(test_running),          TAP_CASE(test_assertions),
        TAP_CASE(test_errors),   TAP_CASE(test_random),           TAP_CASE(test_labels),
        TAP_CASE(test_platform), TAP_CASE(test_random_platforms), TAP_CASE(test_sniff),
        TAP_CASE(test_canvas),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
