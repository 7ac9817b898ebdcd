#include "formats/registry.h"
#include "base/clock.h"
#include "base/tree.h"
#include "formats/index_rows.h"
#include "model/command.h"
#include <unistd.h>

static char folder[] = "/tmp/weft-family-XXXXXX";

static void put(const char *name, const char *text)
{
    struct strbuf path = {0};
    struct error err = {0};
    make_parents(path_in(folder, name, &path), &err);
    if (!file_write(path.at, text, strlen(text), &err))
        abort();
    strbuf_free(&path);
}

static struct workflow *flow_with(const char *text, const struct option_value *given,
                                  struct error *err)
{
    struct strbuf all = {0};
    strbuf_printf(&all, "weft: 1\n%s", text);
    struct format_source source = {
        .path = "flow.yaml", .text = all.at, .length = all.n, .options = given, .folder = folder};
    struct workflow *w = format_native.read_workflow(&source, err);
    strbuf_free(&all);
    return w;
}

/* "count@doc=a: cat x < in.txt" a line a task: its name and its whole command. */
static char *commands_of(const struct workflow *w)
{
    struct strbuf out = {0};
    for (uint32_t t = 0; w && t < w->ntasks; t++) {
        struct error err = {0};
        strbuf_printf(&out, "%s: ", workflow_task_name(w, t));
        if (w->command && w->command[t])
            command_expand(w, t, &out, &err);
        strbuf_add(&out, "\n");
    }
    strbuf_add(&out, "");
    return strbuf_steal(&out);
}

static void expands_with(const struct option_value *given, const char *text, const char *expected,
                         const char *what)
{
    struct error err = {0};
    struct workflow *w = flow_with(text, given, &err);
    char *got = w ? commands_of(w) : mem_copy_string(err.text);
    is_str(got, expected, "%s", what);
    free(got);
    workflow_free(w);
}

static void expands(const char *text, const char *expected, const char *what)
{
    expands_with(NULL, text, expected, what);
}

static void refused(const char *text, const char *part)
{
    struct error err = {0};
    struct workflow *w = flow_with(text, NULL, &err);
    bool good = !w && err.kind == ERROR_INPUT && strstr(err.text, part);
    if (!ok(good, "refused: %.70s", part))
        printf("# got: %s\n", w ? "a workflow" : err.text);
    workflow_free(w);
}

/* ---- */

static void test_lists(void)
{
    expands("lists: {s: {rows: [{k: x, m: 1}, {m: 2, k: y}]}}\n"
            "tasks: {t: {each: s, run: 'f {k} {m}'}}\n",
            "t@k=x: f x 1\nt@k=y: f y 2\n", "rows that stand in the file, keys in any order");
    refused("lists: {s: {rows: [{k: x, m: 1}, {k: y}]}}\ntasks: {}\n",
            "list 's': this row has no 'm'; the first has");
    refused("lists: {s: {rows: [{k: x}, {k: y, m: 1}]}}\ntasks: {}\n",
            "list 's': this row has 2 values, the first has 1");
    refused("lists: {s: {rows: 3}}\ntasks: {}\n", "expected [{ COLUMN: VALUE, ... }, ...]");
    refused("lists: {s: {rows: [{}]}}\ntasks: {}\n", "list 's' is empty");
    refused("lists: {s: {rows: [{k: x}], lines: f}}\ntasks: {}\n", "one kind only");
    expands("lists: {a: [x, y], n: {from: 1, to: 2}}\n"
            "tasks: {t: {each: [a, n], run: 'f {a} {n} {out}', out: '{a}/{n}'}}\n",
            "t@a=x,n=1: f x 1 x/1\nt@a=x,n=2: f x 2 x/2\nt@a=y,n=1: f y 1 y/1\n"
            "t@a=y,n=2: f y 2 y/2\n",
            "all combinations, the last list turning fastest");
    expands("lists: {x: {from: 0.1, to: 0.35, step: 0.1}, y: {from: 3, to: 1, step: -2}}\n"
            "tasks: {t: {each: x, run: 'f {x}'}, u: {each: y, run: 'f {y}'}}\n",
            "t@x=0.1: f 0.1\nt@x=0.2: f 0.2\nt@x=0.3: f 0.3\nu@y=3: f 3\nu@y=1: f 1\n",
            "ranges count in whole steps");
    put("names.txt", "anna\r\n\nbert o'hara\n");
    expands("lists: {who: {lines: names.txt}}\n"
            "tasks: {t: {each: who, run: 'f {who}'}}\n",
            "t@who=anna: f anna\nt@who=bert o'hara: f 'bert o'\\''hara'\n",
            "lines; what comes from outside is one word of the command");
    put("in/b_1.fq", "");
    put("in/a_x_2.fq", "");
    put("in/a_x_1.fq", "");
    put("in/.hidden_1.fq", "");
    put("in/other.txt", "");
    expands("lists: {reads: {files: 'in/{s}_{lane}.fq'}}\n"
            "tasks: {t: {each: reads, run: 'f {in} {s}', in: 'in/{s}_{lane}.fq'},\n"
            "        u: {each: s, run: 'g {in}', in: 'in/{s}_{lane}.fq'}}\n",
            "t@s=a_x,lane=1: f in/a_x_1.fq a_x\nt@s=a_x,lane=2: f in/a_x_2.fq a_x\n"
            "t@s=b,lane=1: f in/b_1.fq b\nu@s=a_x: g in/a_x_1.fq in/a_x_2.fq\n"
            "u@s=b: g in/b_1.fq\n",
            "files with two variables: a member a row, or grouped by one of them");
    put("sheet.csv", "sample,lane,file\na,1,\"x,1.fq\"\na,2,x2.fq\r\n\nb,1,y\n");
    expands(
        "lists: {reads: {table: sheet.csv}}\n"
        "tasks: {t: {each: reads, run: 'f {in} > {out}', in: '{file}', out: 'o/{sample}{lane}'},\n"
        "        m: {each: sample, run: 'm {in}', in: 'o/{sample}{lane}'},\n"
        "        all: {run: 'a {in}', in: 'o/{sample}{lane}'}}\n",
        "t@sample=a,lane=1: f x,1.fq > o/a1\nt@sample=a,lane=2: f x2.fq > o/a2\n"
        "t@sample=b,lane=1: f y > o/b1\nm@sample=a: m o/a1 o/a2\nm@sample=b: m o/b1\n"
        "all: a o/a1 o/a2 o/b1\n",
        "a table: rows, grouped by a column, gathered whole");
}

static void test_parameters(void)
{
    expands("parameters: {n: 3, dir: out}\n"
            "tasks: {t: {run: 'f {n} {out}', out: '{dir}/x{n}', cores: '{n}'}}\n",
            "t: f 3 out/x3\n", "parameters stand in names and settings");
    struct option_value given[] = {{"n", "7"}, {"s", "8,9"}, {NULL, NULL}};
    expands_with(given,
                 "parameters: {n: 3}\nlists: {s: [1, 2, 3]}\n"
                 "tasks: {t: {each: s, run: 'f {n} {s}'}}\n",
                 "t@s=8: f 7 8\nt@s=9: f 7 9\n", "given from outside, both");
    struct option_value slip[] = {{"signa", "7"}, {NULL, NULL}};
    struct error err = {0};
    struct workflow *w =
        flow_with("parameters: {sigma: 3}\ntasks: {t: {run: 'f {sigma}'}}\n", slip, &err);
    ok(!w && strstr(err.text, "-p signa: there is no parameter and no list of that name; did you "
                              "mean 'sigma'?"),
       "a slip in -p: %s", err.text);
    expands("parameters: {sigma: 2}\ntasks: {t: {run: 'f {sigma} {{sigma}}'}}\n",
            "t: f 2 {sigma}\n", "a parameter of commands alone stays the model's");
}

static void test_except(void)
{
    static const char lists[] = "lists: {a: [1, 2], b: [x, y]}\n";
    char text[1000];
    snprintf(text, sizeof text,
             "%stasks:\n"
             "  t: {each: [a, b], except: [{a: 1, b: y}], run: 'f > {out}', out: '{a}{b}'}\n"
             "  all: {run: 'g {in}', in: '{a}{b}'}\n",
             lists);
    expands(text, "t@a=1,b=x: f > 1x\nt@a=2,b=x: f > 2x\nt@a=2,b=y: f > 2y\nall: g 1x 2x 2y\n",
            "left out, and left out of what gathers");
    snprintf(text, sizeof text,
             "%stasks:\n"
             "  t: {each: [a, b], except: {a: 1, b: y}, run: 'f > {out}', out: '{a}{b}'}\n"
             "  own: {run: 'h > {out}', out: 1y}\n"
             "  all: {run: 'g {in}', in: '{a}{b}'}\n",
             lists);
    expands(text,
            "t@a=1,b=x: f > 1x\nt@a=2,b=x: f > 2x\nt@a=2,b=y: f > 2y\nown: h > 1y\n"
            "all: g 1x 1y 2x 2y\n",
            "made by another task after all");
    snprintf(text, sizeof text,
             "%stasks:\n"
             "  t: {each: [a, b], except: {a: 1, b: y}, run: 'f > {out}', out: '{a}{b}'}\n"
             "  u: {each: [a, b], run: 'g {in}', in: '{a}{b}'}\n",
             lists);
    refused(text, "task 'u@a=1,b=y': it reads '1y', which 't' would make but for its `except`");
}

static void test_after(void)
{
    struct error err = {0};
    struct workflow *w = flow_with("lists: {a: [1, 2, 3]}\n"
                                   "tasks:\n"
                                   "  t: {each: a, run: f}\n"
                                   "  whole: {run: g, after: t}\n"
                                   "  one: {each: a, run: h, after: 't@a={a}'}\n"
                                   "  some: {run: h, after: 'one@a={a}'}\n",
                                   NULL, &err);
    ok(w && w->nedges == 9, "after a family, after its member, after all members by a variable: %s",
       err.text);
    ok(w && strcmp(workflow_text(w, w->kind[workflow_find_task(w, "t@a=2")]), "t") == 0,
       "a member's kind is its family");
    workflow_free(w);
}

static void test_named(void)
{
    expands("lists: {a: [1, 2, 3]}\n"
            "tasks:\n"
            "  t: {run: 'f {in.genome} {in.reads} {in[0]} > {out.first} 2> {out.log}',\n"
            "      in: {reads: 'r/{a}', genome: [g.fa, r/2], empty: []},\n"
            "      out: {log: l, first: o}}\n",
            "t: f g.fa r/2 r/1 r/2 r/3 r/1 > o 2> l\n",
            "named inputs and outputs; a file under two names has one place");
    expands("tasks:\n"
            "  t: {run: 'f {in.list} {in.x.list} {in.y.list}', in: {x: [a, b], y: c}}\n",
            "t: f .weft-list-2 .weft-list-12 .weft-list-27\n", "files with names of files");
    refused("tasks: {t: {run: 'f {in.geonme}', in: {genome: g}}}\n",
            "its command names {in.geonme}, but no input is called 'geonme'; did you mean "
            "'genome'?");
    refused("tasks: {t: {run: 'f {in.x}', in: [g]}}\n", "{in.x}");
    refused("tasks: {t: {run: 'f', in: {'a b': g}}}\n", "'a b' cannot be the name of an input");
    expands("tasks: {t: {run: 'f {in.x.list}', sandbox: false, in: {x: g}}}\n",
            "t: f .weft-list-2\n", "also without a sandbox");
}

static void test_refusals(void)
{
    refused("lists: {a: []}\ntasks: {}\n", "list 'a' is empty");
    refused("lists: {a: [1, 2, 1]}\ntasks: {}\n", "list 'a' has the value '1' twice");
    refused("lists: {a: 3}\ntasks: {}\n", "list 'a' is '3'; expected [values]");
    refused("lists: {a: {from: 0, to: 1000000000}}\ntasks: {}\n", "list 'a' has more than");
    refused("lists: {a: {from: 0, to: 1e300}}\ntasks: {}\n", "list 'a' has more than");
    refused("lists: {a: {from: 0, to: 5, step: -1}}\ntasks: {}\n", "no steps of -1 lead");
    refused("lists: {a: {from: 0, too: 5}}\ntasks: {}\n", "did you mean 'to'");
    refused("lists: {a: {lines: nothere}}\ntasks: {}\n", "list 'a': ");
    refused("lists: {a: {files: 'x/{a}.none'}}\ntasks: {}\n", "no file is like x/{a}.none in ");
    refused("lists: {a: {files: 'x/*.none'}}\ntasks: {}\n", "files has no variable; write {a}");
    refused("lists: {in: [1]}\ntasks: {}\n", "{in} means something else");
    refused("lists: {a: [1], b: {files: '{a}'}}\ntasks: {}\n", "a");
    refused("parameters: {a: 1}\nlists: {a: [1]}\ntasks: {}\n",
            "'a' is a parameter and a variable of a list");
    put("bad.tsv", "s\tx\na\tb\nc\n");
    refused("lists: {t: {table: bad.tsv}}\ntasks: {}\n", "bad.tsv:3 has 1 cell, its header has 2");
    put("twice.tsv", "s\ts\na\tb\n");
    refused("lists: {t: {table: twice.tsv}}\ntasks: {}\n", "list 't' has the column 's' twice");
    put("quote.csv", "s,x\na\"b,c\n");
    refused("lists: {t: {table: quote.csv}}\ntasks: {}\n", "quote.csv:2: a quote in the middle");
    put("rows.csv", "s,x\na,b\nc,d\na,b\n");
    refused("lists: {t: {table: rows.csv}}\ntasks: {}\n",
            "has the row that begins with 'a' twice, the second time in line 4");
    static const char lists[] = "lists: {doc: [1, 2]}\n";
    char text[400];
    snprintf(text, sizeof text, "%stasks: {t: {each: dco, run: f}}\n", lists);
    refused(text, "each names 'dco', which is no list and no variable of one; did you mean 'doc'?");
    snprintf(text, sizeof text, "%stasks: {t: {each: doc, run: 'f {dco}'}}\n", lists);
    refused(text, "{dco}");
    snprintf(text, sizeof text, "%stasks: {t: {each: doc, run: f, out: 'o/{dco}'}}\n", lists);
    refused(text, "{dco} is no variable and no parameter; did you mean {doc}?");
    snprintf(text, sizeof text, "%stasks: {t: {run: f, out: 'o/{doc}'}}\n", lists);
    refused(text, "which {doc}? Only in names of inputs and in `after`");
    snprintf(text, sizeof text, "%stasks: {t: {run: 'f {doc}'}}\n", lists);
    refused(text, "which {doc}?");
    snprintf(text, sizeof text, "%stasks: {t: {each: doc, run: 'f > {out}', out: o}}\n", lists);
    refused(text, "o");
    snprintf(text, sizeof text, "%stasks: {t: {run: f, except: {doc: 1}}}\n", lists);
    refused(text, "except goes with each");
    snprintf(text, sizeof text, "%stasks: {t: {each: doc, except: {doc: 3}, run: f}}\n", lists);
    refused(text, "except names {doc} '3', which it never is");
    refused("tasks: {t: {each: doc, run: f}}\n", "the file has no `lists`");
}

/* Texts are cut into pieces once for all members: those that are more than variables are not. */
static void test_texts(void)
{
    expands(
        "parameters: {q: 5}\nlists: {a: [x, y], b: {from: -1, to: 0}}\n"
        "tasks: {t: {each: [a, b], run: 'f {a}{b} {{a}} ${a} {q} {x,y} {out}', out: 'o/{a}{b}'}}\n",
        "t@a=x,b=-1: f x-1 {a} ${a} 5 {x,y} o/x-1\nt@a=x,b=0: f x0 {a} ${a} 5 {x,y} o/x0\n"
        "t@a=y,b=-1: f y-1 {a} ${a} 5 {x,y} o/y-1\nt@a=y,b=0: f y0 {a} ${a} 5 {x,y} o/y0\n",
        "braces of all kinds, for each member");
    expands("lists: {a: [1, 2], b: [3, 4]}\n"
            "tasks:\n  t: {each: [a, b], run: 'f > {out}', out: '{a}.{b}'}\n"
            "  g: {each: a, run: 'g {in} > {out}', in: '{a}.{b}', out: '{{{a}}}'}\n",
            "t@a=1,b=3: f > 1.3\nt@a=1,b=4: f > 1.4\nt@a=2,b=3: f > 2.3\nt@a=2,b=4: f > 2.4\n"
            "g@a=1: g 1.3 1.4 > '{1}'\ng@a=2: g 2.3 2.4 > '{2}'\n",
            "the same text bound, free and with braces of its own");
}

static void test_size(void)
{
    struct error err = {0};
    double began = clock_seconds();
    struct workflow *w = flow_with("lists: {a: {from: 1, to: 1000}, b: {from: 1, to: 100}}\n"
                                   "tasks:\n"
                                   "  t: {each: [a, b], run: 'f {a} < {in} > {out}', in: 'i/{a}',"
                                   " out: 'o/{a}_{b}'}\n"
                                   "  g: {each: a, run: 'g {in}', in: 'o/{a}_{b}'}\n",
                                   NULL, &err);
    ok(w && w->ntasks == 101000, "100,000 members and 1,000 that gather them");
    printf("# %.0f ns a member\n", (clock_seconds() - began) * 1e9 / 1e5);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        {"lists", test_lists},   {"parameters", test_parameters},
        {"except", test_except}, {"after", test_after},
        {"named", test_named},   {"refusals", test_refusals},
        {"texts", test_texts},   {"size", test_size},
    };
    if (!mkdtemp(folder))
        abort();
    int status = tap_run(cases, sizeof cases / sizeof *cases);
    tree_remove(folder);
    return status;
}
