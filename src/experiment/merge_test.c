/* Merging by hand: the experiment of Figure 4, reuse, branches that meet, needless tasks, mistakes,
 * ten thousand combinations. merge_oracle_test.c has random ones. */
#include "experiment/merge.h"
#include "base/pool.h"
#include "base/rng.h"
#include "experiment/testing.h"
#include "model/builder.h"
#include "model/command.h"
#include "tap.h"

static const char *expanded(const struct merged *m, const char *name, struct strbuf *out)
{
    uint32_t t = workflow_find_task(m->workflow, name);
    strbuf_clear(out);
    if (t != NONE)
        command_expand(m->workflow, t, out, NULL);
    return t == NONE ? "(no such task)" : strbuf_text(out);
}

/* ---- Figure 4 of the environment paper ---- */

static struct workflow *figure_2(bool commands)
{
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t in = task(b, "input", commands ? "cat region_a.pgm > {out}" : NULL);
    makes(b, in, "image");
    uint32_t detect = task(b, "detect", commands ? "sobel {in} {out}" : NULL);
    reads(b, detect, "image");
    makes(b, detect, "edges");
    uint32_t show = task(b, "display", commands ? "display {in}" : NULL);
    reads(b, show, "edges");
    builder_work(b, in, 1, 0);
    builder_work(b, detect, 5, 0);
    builder_work(b, show, 1, 0);
    return builder_finish(b, NULL);
}

static void figure_4(bool commands)
{
    struct workflow *w = figure_2(commands);
    struct experiment x;
    start_experiment(&x);
    struct substitution *s = substitute(&x, "image", SUBSTITUTE_TASK, "input");
    by(s, "region_a", NULL);
    struct alternative *b = by(s, "region_b", commands ? "cat region_b.pgm > {out}" : NULL);
    b->change.work = 2;
    s = substitute(&x, "filter", SUBSTITUTE_TASK, "detect");
    by(s, "sobel", NULL);
    by(s, "prewitt", commands ? "prewitt {in} {out}" : NULL)->change.work = 6;
    by(s, "canny", commands ? "canny {in} {out}" : NULL)->change.work = 7;
    struct merged *m = experiment_merge(&x, w, true, NULL);
    is_int(m->ncombinations, 6, "Figure 4: six combinations");
    is_int(m->tasks_without_reuse, 18, "eighteen tasks when every instance stands alone");
    is_int(m->workflow->ntasks, 2 + 6 + 6, "each input task once, six detectors, six displays");
    uint32_t a = workflow_find_task(m->workflow, "input@image=region_a"), n;
    ok(a != NONE && workflow_find_task(m->workflow, "input@image=region_b") != NONE,
       "both inputs are there");
    workflow_consumers(m->workflow, m->workflow->object_off[a], &n);
    is_int(n, 3, "region a goes to three detectors");
    ok(workflow_find_task(m->workflow, "display@image=region_b,filter=canny") != NONE,
       "tasks are named by what they depend on");
    double work = 0;
    for (uint32_t t = 0; t < m->workflow->ntasks; t++)
        work += m->workflow->work[t];
    is_dbl(work, 1 + 2 + 2 * (5 + 6 + 7) + 6, 1e-9, "work is that of the alternatives");
    is_dbl(w->work[0], 1, 0, "the original is as it was");
    struct merged *apart = experiment_merge(&x, w, false, NULL);
    is_int(apart->workflow->ntasks, 18, "without reuse: eighteen");
    merged_free(apart);
    merged_free(m);
    experiment_free(&x);
    workflow_free(w);
}

/* ---- parameters, data, files ---- */

static void reuse_by_what_is_named(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_parameter(b, "sigma", "9");
    builder_parameter(b, "level", "1");
    uint32_t smooth = task(b, "smooth", "gauss {sigma} {in} {out}");
    reads(b, smooth, "in.pgm");
    makes(b, smooth, "soft.pgm");
    uint32_t detect = task(b, "detect", "canny {sigma} -t{level} soft.pgm --out=deep/edges.pgm");
    reads(b, detect, "soft.pgm");
    makes(b, detect, "deep/edges.pgm");
    uint32_t size = task(b, "size", "wc -c {in} > {out}");
    reads(b, size, "in.pgm");
    makes(b, size, "../size.txt");
    struct workflow *w = builder_finish(b, NULL);
    struct experiment x;
    start_experiment(&x);
    struct substitution *s = substitute(&x, "image", SUBSTITUTE_DATA, "in.pgm");
    by(s, "a", "data/a.pgm");
    by(s, "b", "data/b.pgm");
    s = substitute(&x, "sigma", SUBSTITUTE_PARAMETER, "sigma");
    by(s, "1", "1");
    by(s, "2", "2");
    s = substitute(&x, "level", SUBSTITUTE_PARAMETER, "level");
    by(s, "low", "{10}");
    by(s, "high", "99");
    struct merged *m = experiment_merge(&x, w, true, NULL);
    is_int(m->ncombinations, 8, "two images, two sigmas, two levels");
    is_int(m->workflow->ntasks, 4 + 8 + 2, "smooth knows no level, size neither sigma nor level");
    is_int(m->nfiles, 2, "two input files");
    struct strbuf text = {0};
    is_str(expanded(m, "smooth@image=b,sigma=2", &text),
           "gauss 2 data/b.pgm results/steps/image=b,sigma=2/soft.pgm", "files and parameters");
    is_str(expanded(m, "detect@image=a,sigma=1,level=low", &text),
           "canny 1 -t{10} results/steps/image=a,sigma=1/soft.pgm "
           "--out=results/image=a,sigma=1,level=low/deep/edges.pgm",
           "files named in the command follow; braces of a value stay");
    is_str(expanded(m, "size@image=a", &text), "wc -c data/a.pgm > results/image=a/size.txt",
           "results stay in their folder");
    uint32_t object[4];
    is_int(merged_most_results(m), 2, "two results a combination");
    is_int(merged_results(m, 7, object, NULL), 2, "they are found");
    is_str(workflow_text(m->workflow, m->workflow->object_name[object[0]]),
           "results/image=b,sigma=2,level=high/deep/edges.pgm", "the one that depends on all");
    is_str(workflow_text(m->workflow, m->workflow->object_name[object[1]]),
           "results/image=b/size.txt", "the one that depends on the image only");
    strbuf_clear(&text);
    merged_label(m, &x, 7, &text);
    is_str(strbuf_text(&text), "image=b,sigma=2,level=high", "a combination's label");
    strbuf_free(&text);
    merged_free(m);
    experiment_free(&x);
    workflow_free(w);
}

/* Two branches that come to the same meet again: the same file under two names, then the same
 * command; a task that reads both gets one object twice. */
static void branches_meet(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    for (int i = 0; i < 2; i++) {
        char name[32], file[32], out[32];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(file, sizeof file, "in%d", i);
        snprintf(out, sizeof out, "out%d", i);
        uint32_t t = task(b, name, "f {in} {out}");
        reads(b, t, file);
        makes(b, t, out);
    }
    uint32_t join = task(b, "join", "diff {in} | sed 's/{{x}}/{}/' {in[1]} {in[2]} {{");
    reads(b, join, "out0");
    reads(b, join, "out1");
    reads(b, join, "list");
    makes(b, join, "result");
    struct workflow *w = builder_finish(b, NULL);
    struct experiment x;
    start_experiment(&x);
    struct substitution *s = substitute(&x, "left", SUBSTITUTE_DATA, "in0");
    by(s, "p", "p");
    by(s, "q", "q");
    s = substitute(&x, "right", SUBSTITUTE_DATA, "in1");
    by(s, "p", "p");
    by(s, "q", "q");
    struct merged *m = experiment_merge(&x, w, true, NULL);
    is_int(m->tasks_without_reuse, 12, "twelve tasks alone");
    is_int(m->workflow->ntasks, 2 + 4, "f of p and f of q once, joined in four ways");
    struct strbuf text = {0};
    is_str(expanded(m, "join@left=p,right=p", &text),
           "diff results/steps/left=p/out0 results/steps/left=p/out0 list | sed 's/{x}/{}/' "
           "results/steps/left=p/out0 list {",
           "one object in two places");
    is_str(expanded(m, "join@left=p,right=q", &text),
           "diff results/steps/left=p/out0 results/steps/right=q/out1 list | sed 's/{x}/{}/' "
           "results/steps/right=q/out1 list {",
           "two objects");
    has_str(expanded(m, "join@left=q,right=p", &text),
            "diff results/steps/right=q/out1 results/steps/left=p/out0 list",
            "named by this combination, whoever computed its inputs first");
    strbuf_free(&text);
    merged_free(m);
    experiment_free(&x);
    workflow_free(w);
}

/* A produced object replaced by a file: who made it only for that is left out. */
static void needless_tasks_go(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = task(b, "slow", "slow {out}");
    makes(b, t, "table");
    t = task(b, "use", "use {in} {out}");
    reads(b, t, "table");
    makes(b, t, "end");
    struct workflow *w = builder_finish(b, NULL);
    struct experiment x;
    start_experiment(&x);
    struct substitution *s = substitute(&x, "table", SUBSTITUTE_DATA, "table");
    by(s, "computed", "table");
    by(s, "stored", "stored.txt");
    struct merged *m = experiment_merge(&x, w, true, NULL);
    is_int(m->workflow->ntasks, 3, "slow once, use twice");
    is_int(m->tasks_without_reuse, 3, "slow is needed once only");
    merged_free(m);
    array_push(&x.listed, 1);
    x.combine = COMBINE_LISTED;
    m = experiment_merge(&x, w, true, NULL);
    is_int(m->workflow->ntasks, 1, "without it, use alone is left");
    merged_free(m);
    experiment_free(&x);
    workflow_free(w);
}

/* ---- mistakes ---- */

static void fails(struct workflow *w, enum substitution_target target, const char *what,
                  const char *text, const char *message)
{
    struct experiment x;
    struct error err = {0};
    start_experiment(&x);
    by(substitute(&x, "s", target, what), "l", text);
    struct merged *m = experiment_merge(&x, w, true, &err);
    ok(!m, "refused: %s", what);
    has_str(err.text, message, "says why");
    merged_free(m);
    experiment_free(&x);
}

static void mistakes(void)
{
    struct workflow *w = figure_2(true);
    fails(w, SUBSTITUTE_TASK, "detct", "x",
          "there is no task 'detct' in flow.yaml; did you mean 'detect'?");
    fails(w, SUBSTITUTE_DATA, "imge", "x", "there is no data object 'imge'");
    fails(w, SUBSTITUTE_PARAMETER, "sigma", "1", "there is no parameter 'sigma'");
    fails(w, SUBSTITUTE_TASK, "detect", "x {in[1]}", "names {in[1]}, but it has 1 input");
    fails(w, SUBSTITUTE_DATA, "image", "edges", "would wait for itself");
    fails(w, SUBSTITUTE_DATA, "image", "results/a", "another one with 'results: FOLDER'");
    struct experiment x;
    struct error err = {0};
    start_experiment(&x);
    by(substitute(&x, "s", SUBSTITUTE_TASK, "detect"), "l", "x");
    by(substitute(&x, "t", SUBSTITUTE_TASK, "detect"), "l", "y");
    ok(!experiment_merge(&x, w, true, &err), "two substitutions of one task");
    has_str(err.text, "substitutions 's' and 't' both replace 'detect'", "are named");
    experiment_free(&x);
    workflow_free(w);
}

/* ---- size ---- */

static bool key_is_even(void *context, uint32_t t, const struct digest *key)
{
    (void)t;
    ++*(uint32_t *)context;
    return key->at[0] % 2 == 0;
}

static void large(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_parameter(b, "p", "0");
    builder_parameter(b, "q", "0");
    for (unsigned t = 0; t < 20; t++) {
        char name[32];
        snprintf(name, sizeof name, "t%u", t);
        task(b, name, t == 5 ? "x {p} {in} {out}" : t == 12 ? "y {q} {in} {out}" : "z {in} {out}");
        snprintf(name, sizeof name, "o%u", t - 1);
        reads(b, t, t ? name : "input");
        snprintf(name, sizeof name, "o%u", t);
        makes(b, t, name);
    }
    struct workflow *w = builder_finish(b, NULL);
    struct experiment x;
    start_experiment(&x);
    for (unsigned i = 0; i < 2; i++) {
        struct substitution *s = substitute(&x, i ? "b" : "a", SUBSTITUTE_PARAMETER, i ? "q" : "p");
        for (unsigned k = 0; k < 100; k++) {
            char text[32];
            snprintf(text, sizeof text, "%u", k);
            by(s, text, text);
        }
    }
    struct merged *m = experiment_merge(&x, w, true, NULL);
    is_int(m->ncombinations, 10000, "ten thousand combinations");
    is_int(m->tasks_without_reuse, 200000, "of twenty tasks");
    is_int(m->workflow->ntasks, 5 + 7 * 100 + 8 * 10000, "merge into what differs");
    uint32_t asked = 0;
    double work;
    uint32_t left = merged_remaining(m, &(struct known_results){key_is_even, &asked}, &work);
    ok(left > 39000 && left < 42000 && asked == m->workflow->ntasks,
       "what is known need not be computed: %u left", left);
    is_int(merged_remaining(m, NULL, &work), m->workflow->ntasks, "nothing known: all of it");
    merged_free(m);
    experiment_free(&x);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(figure_4(true));
    TAP_DO(figure_4(false));
    TAP_DO(reuse_by_what_is_named());
    TAP_DO(branches_meet());
    TAP_DO(needless_tasks_go());
    TAP_DO(mistakes());
    TAP_DO(large());
    return tap_done();
}
