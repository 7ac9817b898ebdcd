/* Crews: every task once, after all that it waits for, whatever the graph and the number of threads;
 * ends in order; failures, stops and one that does not return. */
#include "base/clock.h"
#include "base/rng.h"
#include "exec/crew.h"
#include "model/builder.h"
#include "tap.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the functions see: tasks are called "0", "1" ... */
static const struct workflow *graph;
static _Atomic uint32_t *calls_made;
static _Atomic uint32_t early, open_gate;
static uint32_t failing;

static int count_task(const struct weft_task *task)
{
    uint32_t t = (uint32_t)strtoul(task->name, NULL, 10);
    for (uint32_t e = graph->pred_off[t]; e < graph->pred_off[t + 1]; e++)
        if (atomic_load_explicit(&calls_made[graph->pred_task[e]], memory_order_relaxed) != 1)
            atomic_fetch_add(&early, 1);
    atomic_fetch_add_explicit(&calls_made[t], 1, memory_order_relaxed);
    return t == failing ? 7 : 0;
}

static int wait_for_gate(const struct weft_task *task)
{
    int status = count_task(task);
    while (!atomic_load(&open_gate))
        usleep(1000);
    return status;
}

/* The owner sleeps until it is woken. */
struct owner {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool wakes;
};

static void wake(void *context)
{
    struct owner *o = context;
    pthread_mutex_lock(&o->lock);
    o->wakes = true;
    pthread_cond_signal(&o->woken);
    pthread_mutex_unlock(&o->lock);
}

static void sleep_until_woken(struct owner *o)
{
    pthread_mutex_lock(&o->lock);
    while (!o->wakes)
        pthread_cond_wait(&o->woken, &o->lock);
    o->wakes = false;
    pthread_mutex_unlock(&o->lock);
}

/* Task t waits for `degree` of the `window` before it; with `window` 1 it is a chain. */
static struct workflow *random_graph(uint32_t n, uint32_t degree, uint32_t window, uint64_t seed)
{
    struct builder *b = builder_new("<test>", "test");
    struct rng r;
    char name[16];
    rng_seed(&r, seed);
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", t), 0);
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < degree; k++)
            builder_edge(b, t - 1 - (uint32_t)rng_below(&r, t < window ? t : window), t, 0);
    return builder_finish(b, NULL);
}

/* One task before `n`, one behind them: more than a deque holds. */
static struct workflow *wide_graph(uint32_t n)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < n + 2; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", t), 0);
    for (uint32_t t = 1; t <= n; t++) {
        builder_edge(b, 0, t, 0);
        builder_edge(b, t, n + 1, 0);
    }
    return builder_finish(b, NULL);
}

struct outcome {
    uint64_t ends, failed, before_parents;
    bool freed;
};

static weft_task_function *calls_of(uint32_t n, weft_task_function f)
{
    weft_task_function *call = malloc(n * sizeof *call);
    for (uint32_t t = 0; t < n; t++)
        call[t] = f;
    return call;
}

static struct outcome carry_out(struct workflow *w, struct crew_config o)
{
    struct outcome out = {0};
    struct owner owner = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    weft_task_function *call = calls_of(w->ntasks, count_task);
    double *priority = calloc(w->ntasks, sizeof *priority);
    uint8_t *told = calloc(w->ntasks, 1);
    struct crew_end ends[100];
    graph = w;
    calls_made = calloc(w->ntasks, sizeof *calls_made);
    atomic_store(&early, 0);
    o.workflow = w;
    o.call = call;
    o.priority = o.priority ? o.priority : priority;
    o.folder = "f";
    o.wake = wake;
    o.context = &owner;
    struct crew *c = crew_new(&o);
    for (bool over = false; !over;) {
        over = crew_over(c);
        size_t n = 0;
        while ((n = crew_take(c, ends, 100)) > 0)
            for (size_t i = 0; i < n; i++) {
                uint32_t t = ends[i].task;
                out.ends++;
                out.failed += ends[i].status != 0;
                for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
                    out.before_parents += !told[w->pred_task[e]];
                told[t]++;
            }
        if (!over)
            sleep_until_woken(&owner);
    }
    if (o.quiet) {
        struct crew_counts counts;
        crew_count(c, &counts);
        out.ends += counts.well + counts.passed;
    }
    out.freed = crew_free_within(c, INFINITY);
    free(call);
    free(priority);
    free(told);
    return out;
}

static void check_all(struct workflow *w, struct crew_config o, const char *what)
{
    struct outcome out = carry_out(w, o);
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        wrong += atomic_load(&calls_made[t]) != 1;
    ok(!wrong && !atomic_load(&early), "%s, %u threads: each once, after what it waits for", what,
       o.threads);
    ok(out.ends == w->ntasks && !out.before_parents && out.freed,
       "%s: every end once, after those of parents (%lu, %lu)", what, (unsigned long)out.ends,
       (unsigned long)out.before_parents);
    free((void *)calls_made);
    workflow_free(w);
}

static void test_graphs(void)
{
    failing = NONE;
    for (uint32_t threads = 1; threads <= 5; threads += 2)
        for (int mode = 0; mode < 3; mode++) {
            struct crew_config o = {.threads = threads, .quiet = mode == 1, .ordered = mode == 2};
            check_all(random_graph(20000, 0, 1, 1), o, "independent");
            check_all(random_graph(20000, 1, 1, 1), o, "chain");
            check_all(random_graph(20000, 4, 50, threads), o, "random");
            check_all(wide_graph(12000), o, "wide");
        }
}

/* With one thread and `ordered` the order is that of priorities among what is ready. */
static void test_order(void)
{
    enum { N = 500 };
    struct workflow *w = random_graph(N, 0, 1, 1);
    double priority[N];
    struct rng r;
    rng_seed(&r, 3);
    for (uint32_t t = 0; t < N; t++)
        priority[t] = (double)rng_below(&r, 50);
    struct owner owner = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    weft_task_function *call = calls_of(N, count_task);
    graph = w;
    calls_made = calloc(N, sizeof *calls_made);
    struct crew *c = crew_new(&(struct crew_config){.workflow = w,
                                                    .threads = 1,
                                                    .call = call,
                                                    .priority = priority,
                                                    .ordered = true,
                                                    .wake = wake,
                                                    .context = &owner});
    while (!crew_over(c))
        sleep_until_woken(&owner);
    struct crew_end ends[N];
    bool falling = crew_take(c, ends, N) == N;
    for (uint32_t i = 1; i < N && falling; i++)
        falling = priority[ends[i].task] <= priority[ends[i - 1].task];
    ok(falling, "larger priorities first");
    crew_free_within(c, INFINITY);
    free(call);
    free((void *)calls_made);
    workflow_free(w);
}

static void test_failure(void)
{
    enum { N = 3000 };
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        struct workflow *w = random_graph(N, 1, 3, 5);
        uint8_t below[N] = {0};
        uint32_t lost = 0;
        failing = 1000;
        below[failing] = 1;
        for (uint32_t t = failing + 1; t < N; t++)
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
                below[t] |= below[w->pred_task[e]];
        for (uint32_t t = 0; t < N; t++)
            lost += below[t];
        struct outcome out =
            carry_out(w, (struct crew_config){.threads = 2, .keep_going = keep_going});
        is_int((long)out.failed, 1, "one has failed");
        uint32_t called = 0;
        for (uint32_t t = 0; t < N; t++)
            called += below[t] && t != failing && atomic_load(&calls_made[t]);
        is_int(called, 0, "nothing below it was called");
        if (keep_going)
            is_int((long)out.ends, N - lost + 1, "all else was");
        failing = NONE;
        free((void *)calls_made);
        workflow_free(w);
    }
}

/* What a crew that was not waited for leaves to its calls: lost by its contract, and known here, so that
 * the leak sanitizer finds no fault in it. */
static struct crew *volatile left_behind;

/* Nothing new after a stop; a call that does not return is not waited for. */
static void test_stop(void)
{
    enum { N = 100 };
    struct workflow *w = random_graph(N, 0, 1, 1);
    struct owner owner = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    weft_task_function *call = calls_of(N, wait_for_gate);
    double *priority = calloc(N, sizeof *priority);
    graph = w;
    calls_made = calloc(N, sizeof *calls_made);
    atomic_store(&open_gate, 0);
    struct crew *c = crew_new(&(struct crew_config){.workflow = w,
                                                    .threads = 2,
                                                    .call = call,
                                                    .priority = priority,
                                                    .wake = wake,
                                                    .context = &owner});
    left_behind = c;
    uint32_t begun = 0;
    while (begun < 2) {
        begun = 0;
        for (uint32_t t = 0; t < N; t++)
            begun += atomic_load(&calls_made[t]);
        usleep(1000);
    }
    crew_stop(c);
    ok(!crew_over(c), "two calls have not returned");
    ok(!crew_free_within(c, 0.01), "and are not waited for");
    atomic_store(&open_gate, 1); /* what they use stays: it is lost, as was said */
    begun = 0;
    usleep(20000);
    for (uint32_t t = 0; t < N; t++)
        begun += atomic_load(&calls_made[t]);
    is_int(begun, 2, "none follows them");
}

/* ---- guests ---- */

enum { FAN = 4, BY_HAND = 3, SEEN_MOST = 64 };
static struct workflow *fan;
static _Atomic uint32_t leaves, seen_threads;
static pthread_t seen[SEEN_MOST];
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void note_thread(void)
{
    pthread_mutex_lock(&seen_lock);
    uint32_t n = atomic_load(&seen_threads), i = 0;
    while (i < n && !pthread_equal(seen[i], pthread_self()))
        i++;
    if (i == n && n < SEEN_MOST) {
        seen[n] = pthread_self();
        atomic_store(&seen_threads, n + 1);
    }
    pthread_mutex_unlock(&seen_lock);
}

static void nobody_to_wake(void *context)
{
    (void)context;
}

/* Carries out `w`, every task by `f`, inside the call. Its first failure. */
static int bring(struct workflow *w, weft_task_function f, void *given, uint32_t threads)
{
    double *priority = calloc(w->ntasks, sizeof *priority);
    weft_task_function *call = calls_of(w->ntasks, f);
    struct crew_end end = {0};
    struct crew_counts counts;
    struct crew *g = crew_new_guest(&(struct crew_config){.workflow = w,
                                                          .threads = threads,
                                                          .call = call,
                                                          .priority = priority,
                                                          .quiet = true,
                                                          .given = given,
                                                          .wake = nobody_to_wake});
    crew_attend(g);
    crew_take(g, &end, 1);
    crew_count(g, &counts);
    crew_free_guest(g);
    free(call);
    free(priority);
    return end.status ? end.status : counts.well == w->ntasks ? 0 : 99;
}

static const int levels[] = {0, 1, 2, 3};

/* A tree of guests: each call brings FAN more, until the last level. */
static int brings(const struct weft_task *task)
{
    const int *level = task->context;
    const char *name = task->name;
    note_thread();
    if (*level == BY_HAND) {
        atomic_fetch_add(&leaves, 1);
        return 0;
    }
    int status = bring(fan, brings, (void *)(level + 1), *level == 1 ? 2 : 0);
    return status ? status : task->name != name || task->context != level;
}

static struct outcome carry_out_by(struct workflow *w, weft_task_function f, uint32_t threads,
                                   bool quiet)
{
    struct outcome out = {0};
    struct owner owner = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    weft_task_function *call = calls_of(w->ntasks, f);
    double *priority = calloc(w->ntasks, sizeof *priority);
    struct crew_end end;
    struct crew_counts counts;
    atomic_store(&seen_threads, 0);
    struct crew *c = crew_new(&(struct crew_config){.workflow = w,
                                                    .threads = threads,
                                                    .call = call,
                                                    .priority = priority,
                                                    .quiet = quiet,
                                                    .given = (void *)levels,
                                                    .wake = wake,
                                                    .context = &owner});
    for (bool over = false; !over;) {
        sleep_until_woken(&owner);
        over = crew_over(c);
        while (crew_take(c, &end, 1)) {
            out.ends++;
            out.failed += end.status != 0;
        }
    }
    crew_count(c, &counts);
    out.ends += counts.well;
    out.freed = crew_free_within(c, INFINITY);
    free(call);
    free(priority);
    return out;
}

static void test_guests(void)
{
    fan = random_graph(FAN, 0, 1, 1);
    for (uint32_t threads = 1; threads <= 5; threads += 2)
        for (int quiet = 0; quiet < 2; quiet++) {
            struct workflow *w = random_graph(30, 1, 4, threads);
            atomic_store(&leaves, 0);
            struct outcome out = carry_out_by(w, brings, threads, quiet);
            ok(out.ends == 30 && !out.failed && out.freed, "%u threads: guests of guests (%lu)",
               threads, (unsigned long)out.ends);
            is_int((long)atomic_load(&leaves), 30 * FAN * FAN * FAN, "every call of theirs");
            ok(atomic_load(&seen_threads) <= threads, "by the crew's own threads (%u)",
               atomic_load(&seen_threads));
            workflow_free(w);
        }
    workflow_free(fan);
}

/* Two tasks that wait for each other need two threads. Of the first pair, on both threads of the crew, the one that was
 * not called by who brought it brings the second pair: one of that is for the thread that waits for the first. Were it
 * to sleep, nobody would ever come. */
static _Atomic uint32_t met[2];

static int meets_again(const struct weft_task *task)
{
    (void)task;
    atomic_fetch_add(&met[1], 1);
    while (atomic_load(&met[1]) < 2)
        sched_yield();
    return 0;
}

static int meets(const struct weft_task *task)
{
    const pthread_t *owner = task->context;
    atomic_fetch_add(&met[0], 1);
    while (atomic_load(&met[0]) < 2)
        sched_yield();
    return pthread_equal(*owner, pthread_self()) ? 0 : bring(fan, meets_again, NULL, 0);
}

static int brings_pair(const struct weft_task *task)
{
    pthread_t self = pthread_self();
    (void)task;
    return bring(fan, meets, &self, 0);
}

static void test_no_core_sleeps(void)
{
    struct workflow *w = random_graph(1, 0, 1, 1);
    fan = random_graph(2, 0, 1, 1);
    struct outcome out = carry_out_by(w, brings_pair, 2, true);
    ok(out.ends == 1 && !out.failed, "who waits for a guest takes up other work");
    workflow_free(fan);
    workflow_free(w);
}

static int brings_failure(const struct weft_task *task)
{
    (void)task;
    failing = 2;
    return bring(fan, count_task, NULL, 0);
}

static void test_guest_fails(void)
{
    struct workflow *w = random_graph(1, 0, 1, 1);
    graph = fan = random_graph(200, 1, 1, 1);
    calls_made = calloc(200, sizeof *calls_made);
    struct outcome out = carry_out_by(w, brings_failure, 2, true);
    is_int((long)out.failed, 1, "a guest that fails is its function's to tell");
    ok(atomic_load(&calls_made[2]) == 1 && atomic_load(&calls_made[3]) == 0, "none after it");
    failing = NONE;
    free((void *)calls_made);
    workflow_free(fan);
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_graphs());
    TAP_DO(test_order());
    TAP_DO(test_failure());
    TAP_DO(test_guests());
    TAP_DO(test_no_core_sleeps());
    TAP_DO(test_guest_fails());
    TAP_DO(test_stop());
    return tap_done();
}
