/* Workflows that grow part by part against the same workflow known from the start. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/builder.h"
#include "model/future.h"
#include "tap.h"

/* A description of a graph, apart from the model: task i reads files of tasks before it and inputs. */
enum { MOST = 60 };
struct sketch {
    uint32_t n;
    uint32_t outputs[MOST];            /* 0 to 2 */
    uint64_t reads[MOST], comes[MOST]; /* masks of earlier tasks: their first output; `after` */
    uint32_t inputs[MOST];             /* mask of in0 .. in3 */
    uint32_t extra[MOST];              /* bits: which columns */
};

static void sketch_make(struct sketch *s, struct rng *r)
{
    *s = (struct sketch){.n = 2 + (uint32_t)rng_below(r, MOST - 2)};
    for (uint32_t t = 0; t < s->n; t++) {
        s->outputs[t] = (uint32_t)rng_below(r, 3);
        s->inputs[t] = (uint32_t)rng_below(r, 16) & (uint32_t)rng_below(r, 16);
        s->extra[t] = (uint32_t)rng_below(r, 64) & (uint32_t)rng_below(r, 64);
        for (uint32_t p = 0; p < t; p++) {
            if (s->outputs[p] && rng_below(r, 8) == 0)
                s->reads[t] |= UINT64_C(1) << p;
            if (rng_below(r, 15) == 0)
                s->comes[t] |= UINT64_C(1) << p;
        }
    }
}

static void sketch_columns(struct builder *b, uint32_t task, uint32_t t, uint32_t extra)
{
    char text[40];
    if (extra & 1)
        builder_memory(b, task, 1e6 * (t + 1), 0);
    if (extra & 2)
        builder_time(b, task, t % 2 ? "left" : "right", t % 2 ? 4 : 5, t, 0);
    if ((extra & 5) == 5)
        builder_more_memory(b, task, 1e9, 0);
    if (extra & 8)
        builder_timeout(b, task, 10 + t, 0);
    if (extra & 16) {
        snprintf(text, sizeof text, "word%u", t % 5);
        builder_needs(b, task, text, strlen(text), 0);
    }
    if ((extra & 20) == 20) {
        snprintf(text, sizeof text, "thing%u=%u,gpu=0.5", t % 7, 1 + t % 3);
        builder_resources(b, task, text, strlen(text), 0);
    }
    if (extra & 32)
        builder_shell(b, task, "sh", 2, 0);
}

/* Tasks first .. end-1. `links`: edges from tasks before them; NULL: there are none before. */
static struct workflow *sketch_build(const struct sketch *s, uint32_t first, uint32_t end,
                                     struct future_part *links)
{
    struct builder *b = builder_new("sketch", "test");
    char name[40];
    builder_parameter(b, "p", "1");
    for (uint32_t t = first; t < end; t++) {
        int n = snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, (size_t)n, t + 1);
    }
    for (uint32_t t = first; t < end; t++) {
        uint32_t task = t - first;
        for (uint32_t k = 0; k < s->outputs[t]; k++) {
            int n = snprintf(name, sizeof name, "d%u/t%u.%u", t % 3, t, k);
            uint32_t o = builder_object(b, name, (size_t)n);
            builder_produces(b, task, o, 0);
            if (s->extra[t] & 2)
                builder_temporary(b, o);
            builder_size(b, o, 100.0 * t, 0);
        }
        for (uint32_t p = t; p--;)
            if (s->reads[t] >> p & 1) {
                int n = snprintf(name, sizeof name, "d%u/t%u.0", p % 3, p);
                builder_consumes(b, task, builder_object(b, name, (size_t)n), 0);
            }
        for (uint32_t i = 0; i < 4; i++)
            if (s->inputs[t] >> i & 1) {
                int n = snprintf(name, sizeof name, "in%u", i);
                builder_consumes(b, task, builder_object(b, name, (size_t)n), 0);
            }
        for (uint32_t p = 0; p < t; p++)
            if (s->comes[t] >> p & 1) {
                if (p >= first)
                    builder_edge(b, p - first, task, 0);
                else
                    array_push(&links->links, (struct growth_link){p, task});
            }
        builder_command(b, task, "do {in} {out} {p}", strlen("do {in} {out} {p}"));
        sketch_columns(b, task, t, s->extra[t]);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        ok(false, "sketch: %s", err.text);
    return w;
}

/* Temporary marks and sizes of files that a part only reads are their maker's. */
static struct workflow *grow_in_parts(const struct sketch *s, struct rng *r, bool *good)
{
    uint32_t end = 1 + (uint32_t)rng_below(r, s->n);
    struct workflow *w = sketch_build(s, 0, end, NULL);
    while (end < s->n && *good) {
        uint32_t first = end;
        struct future_part part = {0};
        struct error err = {0};
        end += 1 + (uint32_t)rng_below(r, s->n - end);
        part.workflow = sketch_build(s, first, end, &part);
        *good = workflow_append(w, part.workflow, part.links.at, part.links.n, &err);
        if (!*good)
            printf("# append: %s\n", err.text);
        future_part_free(&part);
    }
    return w;
}

/* Every edge of pred_* is once in succ_* or in later, and nothing else is. */
static bool adjacency_agrees(const struct workflow *w)
{
    size_t preds = w->pred_off[w->ntasks], found = 0;
    const struct later_edge *l;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t p = w->pred_task[e], o = w->pred_object[e], times = 0;
            for (uint32_t i = w->succ_off[p]; i < w->succ_off[p + 1]; i++)
                times += w->succ_task[i] == t && w->succ_object[i] == o;
            growth_each_later(w, p, l) times += l->task == t && l->object == o;
            if (times != 1)
                return false;
            found++;
        }
    size_t later = w->growth ? w->growth->later.n : 0;
    return found == preds && preds == w->nedges + later;
}

/* Objects of a task are its own, and its lists name what the whole's do. */
static bool lists_agree(const struct workflow *w, const struct workflow *whole)
{
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (strcmp(workflow_task_name(w, t), workflow_task_name(whole, t)) != 0 ||
            w->object_end[t] - w->object_off[t] != whole->object_end[t] - whole->object_off[t] ||
            w->in_off[t + 1] - w->in_off[t] != whole->in_off[t + 1] - whole->in_off[t])
            return false;
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
            if (w->producer[o] != t || w->producer[w->out_object[o]] != t)
                return false;
        for (uint32_t i = w->in_off[t], k = whole->in_off[t]; i < w->in_off[t + 1]; i++, k++)
            if (strcmp(workflow_text(w, w->object_name[w->in_object[i]]),
                       workflow_text(whole, whole->object_name[whole->in_object[k]])) != 0)
                return false;
    }
    uint8_t seen[MOST] = {0};
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (!seen[w->pred_task[e]])
                return false;
        seen[t]++;
    }
    return memchr(seen, 0, w->ntasks) == NULL;
}

static void test_random_parts(void)
{
    struct rng r;
    rng_seed(&r, 16);
    int equal = 0, joined = 0, lists = 0, rounds = 300;
    for (int i = 0; i < rounds; i++) {
        struct sketch s;
        struct error err = {0};
        sketch_make(&s, &r);
        bool good = true;
        struct workflow *w = grow_in_parts(&s, &r, &good);
        struct workflow *oracle = sketch_build(&s, 0, s.n, NULL), *whole = growth_whole(w);
        bool same = good && workflow_equal(whole ? whole : w, oracle, &err);
        if (good && !same)
            printf("# round %d: %s\n", i, err.text);
        equal += same;
        joined += good && adjacency_agrees(w);
        lists += good && lists_agree(w, oracle);
        workflow_free(whole);
        workflow_free(oracle);
        workflow_free(w);
    }
    ok(equal == rounds, "what grew is what was known from the start");
    ok(joined == rounds, "every edge from old to new stands once, both ways");
    ok(lists == rounds, "inputs, outputs and a topological order, part after part");
}

static struct workflow *one_task(const char *name, const char *in, const char *out)
{
    struct builder *b = builder_new("more.yaml", "test");
    struct error err = {0};
    uint32_t t = builder_task(b, name, strlen(name), 7);
    if (in)
        builder_consumes(b, t, builder_object(b, in, strlen(in)), 0);
    if (out)
        builder_produces(b, t, builder_object(b, out, strlen(out)), 0);
    builder_command(b, t, "true", 4);
    return builder_finish(b, &err);
}

static void refused(const char *name, const char *in, const char *out, const char *why,
                    const char *what)
{
    struct error err = {0};
    struct workflow *w = one_task("a", "raw", "d/x"), *p = one_task(name, in, out);
    uint32_t tasks = w->ntasks, objects = w->nobjects;
    bool added = workflow_append(w, p, NULL, 0, &err);
    ok(!added && strstr(err.text, why) && strstr(err.text, "more.yaml:7") && w->ntasks == tasks &&
           w->nobjects == objects,
       "%s: %s", what, err.text);
    workflow_free(w);
    workflow_free(p);
}

static void test_refusals(void)
{
    refused("a", NULL, "y", "in the run already", "a name twice");
    refused("b", NULL, "d/x", "task 'a' makes", "two makers of a file");
    refused("b", NULL, "d/x/y", "task 'a' makes", "a file in what is a file");
    refused("b", NULL, "raw", "did not wait", "a file that was read as an input");
    refused("b", "d", "y", "name the files", "a folder that old tasks make files in");
}

static void test_folder(void)
{
    struct error err = {0};
    struct workflow *w = one_task("split", NULL, "parts/"), *p = one_task("b", "parts/1", "y");
    const struct later_edge *l;
    uint32_t later = 0;
    bool good = workflow_append(w, p, NULL, 0, &err);
    growth_each_later(w, 0, l) later += l->task == 1 && l->object == NONE;
    ok(good && later == 1 && w->pred_off[2] - w->pred_off[1] == 1,
       "who reads a file in a folder comes after its maker");
    workflow_free(w);
    workflow_free(p);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_random_parts),
        TAP_CASE(test_refusals),
        TAP_CASE(test_folder),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
