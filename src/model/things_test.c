/* Things that tasks hold: texts, and the stock against a judge that counts every hold anew. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/capacity.h"
#include "model/things.h"
#include "tap.h"

#include <string.h>

static void reads(const char *text, const char *want)
{
    struct thing_list list;
    struct error err = {0};
    struct strbuf out = {0};
    ok(thing_list_read(text, &list, &err), "'%s' is read %s", text, err.text);
    thing_list_text(&list, &out);
    is_str(strbuf_text(&out), want, "and written back");
    strbuf_free(&out);
    thing_list_free(&list);
}

static void refuses_text(const char *text, const char *part)
{
    struct thing_list list;
    struct error err = {0};
    ok(!thing_list_read(text, &list, &err) && strstr(err.text, part), "'%s' is refused: %s", text,
       err.text);
    thing_list_free(&list);
}

static void test_texts(void)
{
    reads("", "");
    reads("gpu=0,1 licence=4", "gpu=[0,1],licence=4");
    reads("gpu=0,1,licence=4", "gpu=[0,1],licence=4");
    reads("licence=4, gpu=[3]", "gpu=[3],licence=4");
    reads("gpu=2", "gpu=[0,1]");
    reads("gpu=0", "gpu=0");
    reads("bandwidth=2.5;gpu=GPU-8a,MIG-1", "bandwidth=2.5,gpu=[GPU-8a,MIG-1]");
    reads("key=blue", "key=[blue]");
    refuses_text("gpu", "gpu=0,1");
    refuses_text("gpu=", "says nothing");
    refuses_text("=3", "begins with a letter");
    refuses_text("g pu=3", "letters, digits");
    refuses_text("gpu=1.5", "whole number");
    refuses_text("gpu=65", "up to 64");
    refuses_text("a=-1", "how many");
    refuses_text("a=1e9", "how many");
    refuses_text("a=0.00001", "how many");
    refuses_text("a=[1,1]", "twice");
    refuses_text("a=1 A=2", "twice");
}

/* ---- the stock ---- */

enum { SORTS = 3, OWNERS = 12 };

struct held {
    bool holds;
    uint32_t demand[SORTS];
};

/* Written apart from things.c: nobody has more than there is, of no id more than one whole, a part on
 * one id, whole ones on as many. */
static bool sound(const struct things *t, const struct held *held, const uint32_t *amount,
                  uint32_t named)
{
    for (uint32_t i = 0; i < SORTS; i++) {
        uint64_t used[THING_IDS] = {0}, sum = 0;
        for (uint32_t o = 0; o < OWNERS; o++) {
            uint32_t asks = held[o].holds ? held[o].demand[i] : 0;
            uint64_t ids = things_held(t, o, i);
            sum += asks;
            if (!(named >> i & 1)) {
                if (ids)
                    return false;
                continue;
            }
            uint32_t n = asks < THING_ONE ? asks > 0 : asks / THING_ONE;
            if ((uint32_t)__builtin_popcountll(ids) != n)
                return false;
            for (uint32_t k = 0; k < 64; k++)
                if (ids >> k & 1)
                    used[k] += asks < THING_ONE ? asks : THING_ONE;
        }
        if (sum > amount[i])
            return false;
        for (uint32_t k = 0; k < 64; k++)
            if (used[k] > (k < amount[i] / THING_ONE ? THING_ONE : 0))
                return false;
    }
    return true;
}

static void test_stock(void)
{
    struct rng rng;
    bool good = true, all = true, back = true;
    uint32_t taken = 0, refused = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        rng_seed_stream(&rng, seed, 0);
        uint32_t amount[SORTS], named = 3; /* two sorts with ids, one without */
        for (uint32_t i = 0; i < SORTS; i++)
            amount[i] = THING_ONE * (1 + (uint32_t)rng_below(&rng, 4));
        struct things *t = things_new(amount, named, SORTS);
        struct held held[OWNERS] = {0};
        for (int step = 0; step < 60; step++) {
            uint32_t o = (uint32_t)rng_below(&rng, OWNERS);
            if (held[o].holds) {
                things_give(t, o);
                held[o].holds = false;
            } else {
                for (uint32_t i = 0; i < SORTS; i++) {
                    uint32_t parts = (uint32_t)rng_below(&rng, 5);
                    held[o].demand[i] = parts < 3 ? parts * THING_ONE / 2
                                        : i < 2   ? THING_ONE * (parts - 2)
                                                  : parts * 7500;
                }
                bool can = things_can_take(t, held[o].demand);
                held[o].holds = things_take(t, o, held[o].demand);
                all = all && can == held[o].holds;
                taken += held[o].holds;
                refused += !held[o].holds;
            }
            good = good && sound(t, held, amount, named);
        }
        for (uint32_t o = 0; o < OWNERS; o++)
            things_give(t, o);
        for (uint32_t i = 0; i < SORTS; i++) {
            uint32_t everything[SORTS] = {0};
            everything[i] = amount[i];
            back = back && things_can_take(t, everything);
        }
        things_free(t);
    }
    ok(good, "never more than there is, no id twice, parts on one id");
    ok(all, "what can be taken is");
    ok(back, "and all comes back");
    ok(taken > 1000 && refused > 1000, "%u were given, %u had to wait", taken, refused);
}

static void test_rule(void)
{
    uint32_t two = 2 * THING_ONE, half = THING_ONE / 2, one = THING_ONE, some = 3000;
    struct things *t = things_new(&two, 1, 1);
    ok(things_take(t, 1, &half) && things_held(t, 1, 0) == 1, "the first half is of the first id");
    ok(things_take(t, 2, &half) && things_held(t, 2, 0) == 1, "the second half, too");
    ok(things_take(t, 3, &half) && things_held(t, 3, 0) == 2, "the third of the second");
    ok(!things_take(t, 4, &one), "a whole one is not two halves");
    things_give(t, 1);
    ok(!things_take(t, 4, &one), "of different ids");
    ok(things_take(t, 5, &some) && things_held(t, 5, 0) == 1, "of equal room the first id");
    things_give(t, 3);
    ok(things_take(t, 4, &one) && things_held(t, 4, 0) == 2,
       "and one that nobody touches is whole");
    is_int(things_exhausted(t), 0, "some of the first is left");
    uint64_t second = 2;
    things_give(t, 4);
    ok(things_take_ids(t, 6, &some, &second) && things_held(t, 6, 0) == 2, "an id may be named");
    ok(!things_take_ids(t, 7, &one, &second), "if it has room");
    things_free(t);
}

static void test_demands(void)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    static const char *const texts[] = {"gpu=1,licence=2", "", "licence=2 gpu=1.0", "gpu=0.5",
                                        "gpu=0"};
    for (uint32_t t = 0; t < 5; t++) {
        char name[8];
        snprintf(name, sizeof name, "t%u", t);
        uint32_t task = builder_task(b, name, strlen(name), 0);
        builder_resources(b, task, texts[t], strlen(texts[t]), 0);
    }
    struct workflow *w = builder_finish(b, &err);
    if (!ok(w != NULL, "a workflow with resources %s", err.text))
        return;
    ok(w->nasks == 3 && w->nresources == 2 && w->asks[0] == w->asks[2] && !w->asks[1] &&
           !w->asks[4] && w->asks[3] != w->asks[0],
       "equal demands are one");
    struct strbuf text = {0};
    workflow_resources_text(w, 2, &text);
    is_str(text.at, "gpu=1,licence=2", "by name");
    struct capacity node = {.cores = 1, .memory = 1}, asks = capacity_demand(w, 0);
    capacity_set_things(&node, w, "licence=2 gpu=0,1 other=7");
    ok(capacity_fits(&node, &asks), "fits a node that has it");
    capacity_set_things(&node, w, "licence=1 gpu=0,1");
    ok(!capacity_fits(&node, &asks), "and none that has too little of one");
    strbuf_free(&text);
    workflow_free(w);
}

static void refuses_demand(const char *first, const char *text, const char *part)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    uint32_t one = builder_task(b, "a", 1, 0), two = builder_task(b, "b", 1, 0);
    builder_resources(b, one, first, strlen(first), 0);
    builder_resources(b, two, text, strlen(text), 0);
    ok(!builder_finish(b, &err) && strstr(err.text, part), "'%s': %s", text, err.text);
}

static void test_demands_refused(void)
{
    refuses_demand("", "gpu", "expected how many");
    refuses_demand("", "gpu=x", "expected how many");
    refuses_demand("", "gpu=-1", "expected how many");
    refuses_demand("", "gpu=0.00001", "ten-thousandths");
    refuses_demand("", "gpu=1,gpu=1", "twice");
    refuses_demand("gpu=1", "GPU=1", "write them alike");
    refuses_demand("", "task=1", "another name");
    refuses_demand("", "1x=1", "begins with a letter");
    refuses_demand("", "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1",
                   "more than 16");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_texts),   TAP_CASE(test_stock),           TAP_CASE(test_rule),
        TAP_CASE(test_demands), TAP_CASE(test_demands_refused),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
