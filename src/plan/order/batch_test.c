/* Batched schedules against all of them: every choice of every batch, by recursion over sets of
 * tasks, sinks and all. */
#include "plan/order/batch.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "tap.h"

enum { ORACLE_TASKS = 9 };

static struct workflow *random_workflow(struct rng *r, uint32_t n, double density)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t v = 1; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (rng_unit(r) < density)
                builder_edge(b, u, v, 0);
    return builder_finish(b, &err);
}

static uint32_t eligible_set(const struct workflow *w, uint32_t done)
{
    uint32_t set = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool good = !(done >> t & 1);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            good = good && done >> w->pred_task[e] & 1;
        set |= (uint32_t)good << t;
    }
    return set;
}

struct oracle {
    const struct workflow *w;
    uint32_t size;
    uint32_t best[ORACLE_TASKS + 1], now[ORACLE_TASKS + 1];
    bool any;
};

/* All subsets of the eligible tasks of the size of a batch. */
static void oracle_try(struct oracle *o, uint32_t done, uint32_t step)
{
    uint32_t all = (1u << o->w->ntasks) - 1, eligible = eligible_set(o->w, done);
    if (done == all) {
        bool larger = !o->any;
        for (uint32_t i = 0; i < step && !larger; i++) {
            if (o->now[i] < o->best[i])
                return;
            larger = o->now[i] > o->best[i];
        }
        memcpy(o->best, o->now, sizeof o->best);
        o->any = true;
        return;
    }
    uint32_t there = (uint32_t)__builtin_popcount(eligible);
    uint32_t give = o->size < there ? o->size : there;
    for (uint32_t set = eligible; set; set = (set - 1) & eligible) {
        if ((uint32_t)__builtin_popcount(set) != give)
            continue;
        o->now[step] = (uint32_t)__builtin_popcount(eligible_set(o->w, done | set));
        oracle_try(o, done | set, step + 1);
    }
}

/* That the order is what its counts say: cut into batches, every task eligible at its batch. */
static bool schedule_is_sound(const struct workflow *w, uint32_t size,
                              const struct batch_schedule *s)
{
    uint32_t done = 0, at = 0;
    for (uint32_t b = 0; b < s->nbatches; b++) {
        uint32_t eligible = eligible_set(w, done), there = (uint32_t)__builtin_popcount(eligible);
        uint32_t set = 0;
        for (uint32_t k = 0; k < size && k < there; k++)
            set |= 1u << s->order[at++];
        if (set & ~eligible)
            return false;
        done |= set;
        if ((uint32_t)__builtin_popcount(eligible_set(w, done)) != s->eligible[b])
            return false;
    }
    return at == w->ntasks && done == (1u << w->ntasks) - 1;
}

static void test_against_all(void)
{
    struct rng r;
    rng_seed(&r, 17);
    int unsound = 0, worse = 0, unproved = 0, guesses = 0, claims = 0;
    for (int i = 0; i < 300; i++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, ORACLE_TASKS),
                 size = 1 + (uint32_t)rng_below(&r, 4);
        struct workflow *w = random_workflow(&r, n, rng_uniform(&r, 0.05, 0.6));
        struct oracle o = {.w = w, .size = size};
        oracle_try(&o, 0, 0);
        struct batch_schedule s;
        batch_solve(w, size, 1000000, NULL, &s);
        unproved += !s.is_optimal;
        unsound += !schedule_is_sound(w, size, &s);
        worse += memcmp(s.eligible, o.best, s.nbatches * sizeof *o.best) != 0;
        batch_schedule_free(&s);
        batch_solve(w, size, 0, NULL, &s); /* the greedy rule alone */
        claims += s.is_optimal;
        unsound += !schedule_is_sound(w, size, &s);
        guesses += memcmp(s.eligible, o.best, s.nbatches * sizeof *o.best) == 0;
        batch_schedule_free(&s);
        workflow_free(w);
    }
    is_int(unproved, 0, "300 random dags of up to 9 tasks are all decided");
    is_int(unsound, 0, "every schedule is one");
    is_int(worse, 0, "none has a larger sequence of eligible counts");
    ok(claims <= 10, "without a budget hardly anything is proved (%d)", claims);
    ok(guesses > 150, "the greedy rule finds it on most (%d of 300)", guesses);
}

static void test_larger(void)
{
    struct rng r;
    rng_seed(&r, 5);
    struct workflow *w = random_workflow(&r, 300, 0.01);
    struct batch_schedule s, t;
    batch_solve(w, 16, 10000, NULL, &s);
    ok(!s.is_optimal && s.nbatches >= 300 / 16, "300 tasks: a heuristic schedule of %u batches",
       s.nbatches);
    uint32_t *order = mem_new(uint32_t, 300);
    for (uint32_t i = 0; i < 300; i++)
        order[i] = w->topo[i];
    batch_solve(w, 16, 10000, order, &t);
    uint32_t i = 0;
    while (i < s.nbatches && i < t.nbatches && s.eligible[i] == t.eligible[i])
        i++;
    ok(i == s.nbatches || i == t.nbatches || t.eligible[i] > s.eligible[i],
       "another order can only help");
    free(order);
    batch_schedule_free(&s);
    batch_schedule_free(&t);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_against_all),
        TAP_CASE(test_larger),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
