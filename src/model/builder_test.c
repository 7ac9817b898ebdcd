/* What the builder accepts, refuses and how it says so. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/graph.h"
#include "tap.h"

static struct builder *with_tasks(const char *names)
{
    struct builder *b = builder_new("flow.yaml", "test");
    for (size_t line = 1; *names; names++, line++)
        builder_task(b, names, 1, line);
    return b;
}

static void refuses(struct builder *b, const char *text, const char *what)
{
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    ok(!w && err.kind == ERROR_INPUT, "%s is refused", what);
    has_str(err.text, text, "%s: says why", what);
    workflow_free(w);
}

static void test_errors(void)
{
    struct builder *b = with_tasks("ab");
    builder_task(b, "a", 1, 9);
    refuses(b, "flow.yaml:9: task 'a' is defined twice; the first stands on line 1",
            "a second task a");

    b = with_tasks("abcd");
    builder_edge(b, 0, 1, 1);
    builder_edge(b, 1, 2, 1);
    builder_edge(b, 2, 1, 1);
    builder_edge(b, 2, 3, 1);
    refuses(b, "in a cycle: b -> c -> b", "a cycle");

    b = with_tasks("a");
    builder_edge(b, 0, 0, 5);
    refuses(b, "flow.yaml:5: task 'a' depends on itself", "a self loop");

    b = with_tasks("a");
    uint32_t o = builder_object(b, "x", 1);
    builder_produces(b, 0, o, 1);
    builder_consumes(b, 0, o, 1);
    refuses(b, "reads its own output 'x'", "a self loop through an object");

    b = with_tasks("ab");
    o = builder_object(b, "x", 1);
    builder_produces(b, 0, o, 1);
    builder_produces(b, 1, o, 2);
    refuses(b, "made by two tasks, 'a' and 'b'", "two producers");

    b = with_tasks("a");
    builder_edge_named(b, "a", 1, "zz", 2, 7);
    refuses(b, "flow.yaml:7: there is no task 'zz'", "a dangling reference");

    double bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        b = with_tasks("a");
        builder_work(b, 0, bad[i], 3);
        refuses(b, "flow.yaml:3: task 'a': work is", "a bad work");
        b = with_tasks("ab");
        builder_data_edge(b, 0, 1, bad[i], 4);
        refuses(b, "flow.yaml:4: edge from 'a' to 'b': size is", "a bad edge size");
        b = with_tasks("a");
        builder_size(b, builder_object(b, "x", 1), bad[i], 4);
        refuses(b, "object 'x': size is", "a bad object size");
    }
    b = with_tasks("a");
    builder_cores(b, 0, 1.5, 2);
    refuses(b, "cores is 1.5", "half a core");
    b = with_tasks("a");
    builder_task(b, "", 0, 2);
    refuses(b, "empty name", "an empty name");
}

static void test_structure(void)
{
    /* a makes x for b and c, and y for c; a before d as well; i is an input of b */
    struct builder *b = with_tasks("abcd");
    uint32_t x = builder_object(b, "x", 1), y = builder_object(b, "y", 1),
             i = builder_object(b, "i", 1);
    builder_object(b, "unused", 6);
    builder_consumes(b, 2, x, 0);
    builder_consumes(b, 1, x, 0);
    builder_consumes(b, 1, x, 0);
    builder_consumes(b, 2, y, 0);
    builder_consumes(b, 1, i, 0);
    builder_produces(b, 0, x, 0);
    builder_produces(b, 0, y, 0);
    builder_size(b, x, 5, 0);
    builder_size(b, x, 6, 12);
    builder_edge(b, 0, 1, 0); /* needless: a data edge joins them */
    builder_edge(b, 0, 3, 0);
    builder_edge(b, 0, 3, 0); /* twice */
    struct workflow *w = builder_finish(b, NULL);
    is_int(w->nedges, 4, "edges: x to b, x to c, y to c, a before d");
    is_int(w->npairs, 3, "joined pairs");
    is_int(w->nobjects, 3, "objects, without the unused one");
    uint32_t n, found = workflow_find_object(w, "x");
    const uint32_t *readers = workflow_consumers(w, found, &n);
    ok(n == 2 && readers[0] == 1 && readers[1] == 2, "consumers of x");
    is_dbl(w->size[found], 5, 0, "the first size stays");
    ok(w->nwarnings == 1 && strstr(w->warnings[0], "flow.yaml:12"),
       "and the second is remarked on");
    found = workflow_find_object(w, "i");
    is_int(w->producer[found], NONE, "an input has no producer");
    readers = workflow_consumers(w, found, &n);
    ok(n == 1 && readers[0] == 1, "and one consumer");
    ok(w->input_off[1] == 0 && w->input_off[2] == 1 && w->input_object[0] == found,
       "seen from the task");
    is_str(workflow_text(w, w->kind[0]), "a", "the kind defaults to the name");
    workflow_free(w);

    b = with_tasks("ab");
    builder_data_edge(b, 0, 1, 3, 0);
    builder_data_edge(b, 0, 1, 4, 0);
    builder_command(b, 1, "sort -n x", 9);
    w = builder_finish(b, NULL);
    is_int(w->nobjects, 1, "a repeated data edge counts once");
    is_dbl(w->size[0], 3, 0, "the first one");
    char label[32];
    is_str(workflow_object_label(w, 0, label, sizeof label), "a->b",
           "an anonymous object has a label");
    is_int(workflow_find_object(w, "a->b"), 0, "by which it is found");
    is_str(workflow_text(w, w->kind[1]), "sort", "the kind defaults to the command's first word");
    struct error why = {0};
    ok(workflow_equal(w, w, &why), "equal to itself");
    workflow_free(w);
}

static void test_empty(void)
{
    struct workflow *w = builder_finish(builder_new("x", "test"), NULL);
    struct statistics s;
    graph_statistics(w, &s);
    ok(s.tasks == 0 && s.depth == 0 && s.width == 0 && s.width_exact,
       "an empty graph has its statistics");
    workflow_free(w);
}

/* Objects of one producer with 1, 2, 3 ... consumers, and orderings behind them. */
static void test_consumers(void)
{
    enum { MOST = 40 };
    struct builder *b = builder_new("flow.yaml", "native");
    char name[16];
    for (uint32_t t = 0; t <= MOST + 1; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t k = 1; k <= MOST; k++) {
        uint32_t object = builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", k));
        builder_produces(b, 0, object, 0);
        for (uint32_t t = 1; t <= k; t++)
            builder_consumes(b, t, object, 0);
    }
    builder_edge(b, 0, MOST + 1, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!ok(w, "objects with many consumers %s", err.text))
        return;
    uint32_t wrong = 0;
    for (uint32_t k = 1; k <= MOST; k++) {
        snprintf(name, sizeof name, "o%u", k);
        uint32_t n, object = workflow_find_object(w, name);
        const uint32_t *readers = workflow_consumers(w, object, &n);
        wrong += n != k || readers[0] != 1 || readers[k - 1] != k;
    }
    is_int(wrong, 0, "each has as many as were stated");
    workflow_free(w);
}

/* The number of a name does not depend on the order in which names are mentioned: walks with steps of
 * their own, in turns, forwards and back, over names of which some are the beginning of others. */
static void test_mentions(void)
{
    enum { NAMES = 400, WALKS = 3000 };
    struct builder *b = builder_new("flow.yaml", "test");
    uint32_t number[NAMES], seen = 0, wrong = 0;
    struct rng rng;
    rng_seed(&rng, 16);
    for (int i = 0; i < NAMES; i++)
        number[i] = NONE;
    for (unsigned walk = 0; walk < WALKS; walk++) {
        uint32_t at[2] = {(uint32_t)rng_below(&rng, NAMES), (uint32_t)rng_below(&rng, NAMES)};
        uint32_t step[2] = {(uint32_t)rng_below(&rng, 5), NAMES - (uint32_t)rng_below(&rng, 5)};
        uint32_t turns = 1 + (uint32_t)rng_below(&rng, 2), steps = (uint32_t)rng_below(&rng, 30);
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t k = i % turns, name = at[k];
            char text[20];
            int length = snprintf(text, sizeof text, "x%u", name);
            uint32_t object = builder_object(b, text, (size_t)length);
            if (number[name] == NONE)
                number[name] = seen++;
            wrong += object != number[name] || strcmp(builder_object_name(b, object), text) != 0;
            at[k] = (at[k] + step[k]) % NAMES;
        }
    }
    is_int(wrong, 0, "%u names have their own numbers, however they are mentioned", seen);
    builder_free(b);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_errors), TAP_CASE(test_consumers), TAP_CASE(test_structure),
        TAP_CASE(test_empty),  TAP_CASE(test_mentions),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
