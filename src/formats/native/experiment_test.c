#include "formats/native/experiment.h"
#include "base/mem.h"
#include "tap.h"

static bool parse(const char *text, struct experiment *x, struct error *err)
{
    char *copy = mem_copy_string(text);
    memset(err, 0, sizeof *err);
    bool good = experiment_file_parse("dir/exp.yaml", copy, strlen(copy), x, err);
    free(copy);
    return good;
}

static void refuses(const char *text, const char *message)
{
    struct experiment x;
    struct error err;
    bool good = parse(text, &x, &err);
    ok(!good && err.kind == ERROR_INPUT, "refused: %.40s", message);
    has_str(err.text, message, "and says so");
    if (good)
        experiment_free(&x);
}

#define HEAD "weft: 1\nworkflow: flow.yaml\nsubstitute:\n"

static void whole_file(void)
{
    struct experiment x;
    struct error err;
    bool good =
        parse("weft: 1\nexperiment: edges\nworkflow: flow.yaml\nresults: out//\nsubstitute:\n"
              "  image: { data: in.pgm, by: [data/a.pgm, b.tar.gz, .hidden, other/a.pgm] }\n"
              "  place: { data: x, by: { north: x y, 'so/uth': z } }\n"
              "  filter:\n    task: detect\n    by:\n"
              "      as-is: {}\n      sobel: sobel {in} {out}\n"
              "      canny: { run: 'canny {in}', in: [a, b], kind: c, work: 3, memory: 2G, "
              "cores: 2, timeout: 1m, retries: 4 }\n"
              "      lib: { call: 'x.so:f', in: }\n"
              "  sigma: { parameter: s, by: [1.0, 1.4, '1,4', 1_4, ''] }\n"
              "  step: { parameter: t, range: { from: 0.1, to: 0.5, step: 0.1 } }\n"
              "  down: { parameter: u, range: { from: 3, to: 1, step: -1 } }\n"
              "combine: { sample: 10, seed: 3 }\n",
              &x, &err);
    if (!ok(good, "a file with everything: %s", err.text))
        return;
    is_str(x.name, "edges", "name");
    is_str(x.workflow, "dir/flow.yaml", "the workflow stands beside the experiment");
    is_str(x.results, "out", "folder of results");
    is_int(x.substitutions.n, 6, "six substitutions");
    const struct substitution *s = x.substitutions.at;
    static const char *const labels[][6] = {{"data_a.pgm", "b.tar", ".hidden", "other_a.pgm"},
                                            {"north", "so_uth"},
                                            {"as-is", "sobel", "canny", "lib"},
                                            {"1.0", "1.4", "1_4", "1_4-2", "empty"},
                                            {"0.1", "0.2", "0.3", "0.4", "0.5"},
                                            {"3", "2", "1"}};
    for (size_t i = 0; i < 6; i++) {
        size_t n = 0;
        while (n < 6 && labels[i][n])
            n++;
        is_int(s[i].by.n, n, "%s: alternatives", s[i].name);
        for (size_t k = 0; k < n && k < s[i].by.n; k++)
            is_str(s[i].by.at[k].label, labels[i][k], "%s: label", s[i].name);
    }
    is_int(s[0].target, SUBSTITUTE_DATA, "data");
    is_str(s[0].what, "in.pgm", "which");
    is_str(s[0].by.at[3].text, "other/a.pgm", "by a file");
    is_str(s[1].by.at[0].text, "x y", "by a labelled file");
    is_int(s[2].line, 8, "line of a substitution");
    const struct task_change *none = &s[2].by.at[0].change, *text = &s[2].by.at[1].change;
    const struct task_change *all = &s[2].by.at[2].change, *call = &s[2].by.at[3].change;
    ok(!none->command && !none->has_inputs && isnan(none->work), "{}: nothing changes");
    is_str(text->command, "sobel {in} {out}", "a command alone");
    ok(!strcmp(all->command, "canny {in}") && !all->is_call && !strcmp(all->kind, "c") &&
           all->work == 3 && all->memory == 2e9 && all->cores == 2 && all->timeout == 60 &&
           all->retries == 4,
       "a description");
    ok(all->has_inputs && all->input.n == 2 && !strcmp(all->input.at[1], "b"), "other inputs");
    ok(call->is_call && call->has_inputs && !call->input.n, "a call, without inputs");
    is_str(s[3].by.at[2].text, "1,4", "a value as it stands");
    is_str(s[4].by.at[2].text, "0.3", "a range has round values");
    ok(x.combine == COMBINE_SAMPLE && x.sample == 10 && x.seed == 3, "a sample");
    experiment_free(&x);
}

static void combinations(void)
{
    struct experiment x;
    struct error err;
    ok(parse(HEAD "  a: { parameter: p, by: [1, 2] }\n  b: { data: f, by: [d/x.txt] }\n"
                  "combine:\n  - { b: d/x.txt, a: 2 }\n  - { a: 1 }\n",
             &x, &err),
       "listed: %s", err.text);
    ok(x.combine == COMBINE_LISTED && x.listed.n == 4, "two rows");
    ok(x.listed.at[0] == 1 && x.listed.at[1] == 0 && x.listed.at[2] == 0 &&
           x.listed.at[3] == CHOICE_ORIGINAL,
       "by label or by text; what is not named stays");
    is_str(x.name, "", "no name");
    is_str(x.results, "results", "the standard folder");
    experiment_free(&x);
    ok(parse(HEAD "  a: { parameter: p, by: [1] }\ncombine: all\n", &x, &err), "all");
    is_int(x.combine, COMBINE_ALL, "combinations");
    experiment_free(&x);
}

static void mistakes(void)
{
    refuses("tasks: {}\n", "the key 'weft' is missing");
    refuses("weft: 1\ntasks: {}\n", "this is a workflow file; expected an experiment");
    refuses("weft: 1\nnodes: []\n", "this is a platform file; expected an experiment");
    refuses("weft: 1\nworkflow: x\n", "the key 'substitute' is missing; expected an experiment");
    refuses("weft: 1\nsubstitute: {a: {parameter: x, by: [1]}}\n", "'workflow' is missing");
    refuses("weft: 1\nworkfow: x\nsubstitute: {}\n", "exp.yaml:2: unknown key 'workfow'; did you "
                                                     "mean 'workflow'?");
    refuses("weft: 1\nworkflow: x\nsubstitute: {}\n", "substitute is empty");
    refuses("weft: 1\nworkflow: x\nsubstitute: [a]\n", "expected a mapping");
    refuses(HEAD "  a b: { parameter: x, by: [1] }\n", "substitution 'a b': a name has");
    refuses(HEAD "  a: { by: [1] }\n", "exp.yaml:4: substitution 'a': none of data");
    refuses(HEAD "  a: { data: x, task: y, by: [1] }\n", "more than one of data");
    refuses(HEAD "  a: { data: x }\n", "expected by");
    refuses(HEAD "  a: { parameter: x, by: [1], range: {from: 1, to: 2} }\n", "not both");
    refuses(HEAD "  a: { data: x, range: {from: 1, to: 2} }\n", "range is for parameters");
    refuses(HEAD "  a: { parameter: x, range: {from: 1} }\n", "from, to and a step");
    refuses(HEAD "  a: { parameter: x, range: {from: 1, to: 2, step: 0} }\n", "not 0");
    refuses(HEAD "  a: { parameter: x, range: {from: 2, to: 1} }\n", "are 0 values");
    refuses(HEAD "  a: { parameter: x, range: {from: 0, to: 1, step: 1e-9} }\n", "expected 1 to");
    refuses(HEAD "  a: { data: x, by: [] }\n", "by is empty");
    refuses(HEAD "  a: { data: x, by: 3 }\n", "by is a list");
    refuses(HEAD "  a: { data: x, by: [[1]] }\n", "expected the name of a file");
    refuses(HEAD "  a: { task: x, by: [1] }\n", "by of a task is a mapping");
    refuses(HEAD "  a: { task: x, by: {l: {rn: y}} }\n", "did you mean 'run'?");
    refuses(HEAD "  a: { task: x, by: {l: {out: y}} }\n", "same outputs");
    refuses(HEAD "  a: { task: x, by: {l: {run: y, call: 'z:z'}} }\n", "both run and call");
    refuses(HEAD "  a: { task: x, by: {l: {call: z}} }\n", "expected library:function");
    refuses(HEAD "  a: { task: x, by: {l: {work: -1}} }\n", "expected 0 or more");
    refuses(HEAD "  a: { task: x, by: {l: {cores: 0.5}} }\n", "whole number, 1 or more");
    refuses(HEAD "  a: { parameter: x, by: [1] }\ncombine: some\n", "expected all");
    refuses(HEAD "  a: { parameter: x, by: [1] }\ncombine: []\n", "lists no combination");
    refuses(HEAD "  a: { parameter: x, by: [1] }\ncombine: {seed: 1}\n", "no sample");
    refuses(HEAD "  a: { parameter: x, by: [1] }\ncombine: {sample: 0}\n", "1 or more");
    refuses(HEAD "  image: { parameter: x, by: [1] }\ncombine: [{imge: 1}]\n",
            "no substitution 'imge'; did you mean 'image'?");
    refuses(HEAD "  a: { parameter: x, by: [sobel] }\ncombine: [{a: sobl}]\n",
            "no alternative of 'a' called 'sobl'; did you mean 'sobel'?");
    struct experiment x;
    struct error err = {0};
    ok(!experiment_file_read("no/such/file.yaml", &x, &err), "a file that is not there");
    has_str(err.text, "no/such/file.yaml", "is named");
}

/* Whatever stands in the file: an experiment or an error, and no leak. */
static void cut_anywhere(void)
{
    static const char text[] =
        HEAD "  a: { data: x, by: {l: q, m: r} }\n  f: { task: t, by: {s: {run: z, in: [u]}, "
             "c: w} }\n  p: {parameter: b, range: {from: 1, to: 3}}\ncombine: [{a: l, f: s}]\n";
    int read = 0;
    for (size_t n = 0; n < sizeof text; n++) {
        struct experiment x;
        struct error err = {0};
        char *copy = mem_copy_bytes(text, n);
        if (experiment_file_parse("x", copy, n, &x, &err)) {
            read++;
            experiment_free(&x);
        } else if (!*err.text) {
            read = -1000;
        }
        free(copy);
    }
    ok(read > 0, "cut at every byte: an experiment or an error (%d read)", read);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(whole_file),
        TAP_CASE(combinations),
        TAP_CASE(mistakes),
        TAP_CASE(cut_anywhere),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
