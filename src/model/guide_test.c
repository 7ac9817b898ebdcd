/* Guides in workflows, against the same edges given to the builder; and out again. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/guide.h"
#include "tap.h"

enum { MOST = 24 };

/* A drawn graph: edges with data, without, and those of a guide, each from a lower to a higher number. */
struct drawn {
    uint32_t n;
    uint8_t data[MOST][MOST], plain[MOST][MOST], guided[MOST][MOST];
};

static void drawn_make(struct drawn *d, struct rng *r)
{
    *d = (struct drawn){.n = 2 + (uint32_t)rng_below(r, MOST - 2)};
    for (uint32_t a = 0; a < d->n; a++)
        for (uint32_t b = a + 1; b < d->n; b++) {
            d->data[a][b] = rng_below(r, 6) == 0;
            d->plain[a][b] = rng_below(r, 9) == 0;
            d->guided[a][b] = rng_below(r, 4) == 0;
        }
}

static struct workflow *drawn_build(const struct drawn *d, bool guided)
{
    struct builder *b = builder_new("drawn", "test");
    char name[32];
    struct error err = {0};
    for (uint32_t t = 0; t < d->n; t++) {
        snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, strlen(name), 0);
    }
    for (uint32_t t = 0; t < d->n; t++)
        for (uint32_t to = t + 1; to < d->n; to++) {
            snprintf(name, sizeof name, "o%u", t);
            if (d->data[t][to]) {
                uint32_t object = builder_object(b, name, strlen(name));
                builder_produces(b, t, object, 0);
                builder_consumes(b, to, object, 0);
            }
            if (d->plain[t][to] || (guided && d->guided[t][to]))
                builder_edge(b, t, to, 0);
        }
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

static bool same_numbers(const uint32_t *a, const uint32_t *b, size_t n)
{
    return !n || memcmp(a, b, n * sizeof *a) == 0;
}

/* To the number: stores and schedulers count by place. */
static bool same_edges(const struct workflow *a, const struct workflow *b)
{
    return a->nedges == b->nedges && a->npairs == b->npairs &&
           same_numbers(a->succ_off, b->succ_off, a->ntasks + 1u) &&
           same_numbers(a->succ_task, b->succ_task, a->nedges) &&
           same_numbers(a->succ_object, b->succ_object, a->nedges) &&
           same_numbers(a->pred_off, b->pred_off, a->ntasks + 1u) &&
           same_numbers(a->pred_task, b->pred_task, a->nedges) &&
           same_numbers(a->pred_object, b->pred_object, a->nedges) &&
           same_numbers(a->object_edge, b->object_edge, a->nobjects) &&
           same_numbers(a->topo, b->topo, a->ntasks);
}

static void test_edges(void)
{
    struct rng r;
    rng_seed(&r, 17);
    bool put = true, dropped = true;
    for (int round = 0; round < 500; round++) {
        struct drawn d;
        struct guide g = {0};
        struct error err = {0};
        drawn_make(&d, &r);
        struct workflow *w = drawn_build(&d, false), *before = drawn_build(&d, false),
                        *after = drawn_build(&d, true);
        for (uint32_t a = 0; a < d.n; a++)
            for (uint32_t b = d.n; b-- > a + 1;)
                if (d.guided[a][b])
                    array_push(&g.edges, (struct guide_edge){a, b});
        array_push(&g.starts, (struct guide_start){0, 2.5});
        array_push(&g.places, (struct guide_place){1, 7});
        put &= workflow_take_guide(w, &g, true, &err) && same_edges(w, after) &&
               w->not_before[0] == 2.5 && workflow_agent_mask(w, NULL, 7) == w->needs[1] &&
               w->needs[1] && !workflow_agent_mask(w, "agent:7", 8);
        workflow_drop_guide(w, &g);
        dropped &= same_edges(w, before) && !w->not_before && !w->needs && !w->nattributes;
        guide_free(&g);
        workflow_free(w);
        workflow_free(before);
        workflow_free(after);
    }
    ok(put, "a guide's edges stand as if the workflow had them");
    ok(dropped, "and without it the workflow is as it was");
}

static void test_refused(void)
{
    struct drawn d = {.n = 3};
    d.data[0][1] = d.data[1][2] = 1;
    struct error err = {0};
    struct workflow *w = drawn_build(&d, false);
    struct guide g = {0};
    array_push(&g.edges, (struct guide_edge){2, 0});
    ok(!workflow_take_guide(w, &g, false, &err) && err.kind == ERROR_INPUT &&
           strstr(err.text, "would wait for itself"),
       "an order against the workflow's is refused: %s", err.text);
    workflow_drop_guide(w, &g);
    g.edges.at[0].to = 3;
    error_clear(&err);
    ok(!workflow_take_guide(w, &g, false, &err), "tasks that are not there: %s", err.text);
    guide_free(&g);
    workflow_free(w);
}

static void test_bytes(void)
{
    struct guide g = {0}, back;
    struct strbuf out = {0};
    array_push(&g.edges, (struct guide_edge){1, 2});
    array_push(&g.starts, (struct guide_start){3, 0.25});
    array_push(&g.places, (struct guide_place){4, 5});
    guide_put(&g, &out);
    struct bytes in = {out.at, out.n, false};
    ok(guide_take(&in, &back) && bytes_end(&in) && back.edges.at[0].to == 2 &&
           back.starts.at[0].until == 0.25 && back.places.at[0].node == 5,
       "as bytes and back");
    guide_free(&back);
    bool refused = true;
    for (size_t n = 0; n < out.n; n++) {
        in = (struct bytes){out.at, n, false};
        refused &= !guide_take(&in, &back);
        guide_free(&back);
    }
    ok(refused, "cut bytes are told");
    guide_free(&g);
    strbuf_free(&out);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_edges),
        TAP_CASE(test_refused),
        TAP_CASE(test_bytes),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
