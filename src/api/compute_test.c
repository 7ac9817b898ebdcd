/* weft_compute(): functions of the program on lent memory, limits of memory kept by any number of threads, objects
 * that make room, and what is said of what cannot be done. */
#include "tap.h"
#include "weft/weft.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8 };

static void *room(size_t bytes)
{
    void *at = calloc(1, bytes);
    if (!at)
        exit(1);
    return at;
}

/* ---- functions ---- */

/* The sum of all inputs' first numbers and one, filling the whole output. */
static int add_up(const struct weft_task *t)
{
    const double *size = t->context;
    double sum = 1;
    for (uint32_t i = 0; i < t->nin; i++) {
        size_t bytes;
        const double *in = weft_task_in(t, i, &bytes);
        if (!in || in[0] != in[bytes / WORD - 1])
            return 7;
        sum += in[0];
    }
    double *scratch = weft_task_scratch(t, WORD);
    if (!scratch)
        return 8;
    *scratch = sum;
    double *out = weft_task_out(t, 0, (size_t)size[t->number]);
    for (size_t i = 0; out && i < (size_t)size[t->number] / WORD; i++)
        out[i] = *scratch;
    return out ? 0 : 9;
}

static int double_it(const struct weft_task *t)
{
    size_t bytes;
    double *x = weft_task_pass(t, 0, 0, &bytes);
    for (size_t i = 0; x && i < bytes / WORD; i++)
        x[i] *= 2;
    return x ? 0 : 1;
}

static int fails(const struct weft_task *t)
{
    (void)t;
    return 3;
}

static int spoils(const struct weft_task *t)
{
    size_t bytes;
    double *in = (double *)(uintptr_t)weft_task_in(t, 0, &bytes);
    double *out = weft_task_out(t, 0, bytes);
    in[0] = -1;
    memset(out, 0, bytes);
    return 0;
}

/* Both are in their calls when the first of them is judged. */
static atomic_uint readers_here;

static int meets(const struct weft_task *t)
{
    atomic_fetch_add(&readers_here, 1);
    for (int i = 0; i < 10000 && atomic_load(&readers_here) < 2; i++)
        usleep(1000);
    (void)weft_task_in(t, 0, NULL);
    return 0;
}

static int spoils_shared(const struct weft_task *t)
{
    double *in = (double *)(uintptr_t)weft_task_in(t, 0, NULL);
    in[0] = -1;
    return meets(t);
}

static int greedy(const struct weft_task *t)
{
    (void)weft_task_out(t, 0, 1 << 20);
    return 1;
}

static int hungry(const struct weft_task *t)
{
    return weft_task_scratch(t, 1 << 20) == NULL;
}

static int removes_files(const struct weft_task *t);
static int looks_at_nothing(const struct weft_task *t);

static const struct weft_function functions[] = {
    {"meets", meets},
    {"spoils_shared", spoils_shared},
    {"add_up", add_up},
    {"double_it", double_it},
    {"fails", fails},
    {"spoils", spoils},
    {"greedy", greedy},
    {"hungry", hungry},
    {"unlent", fails},
    {"removes_files", removes_files},
    {"looks_at_nothing", looks_at_nothing},
    {NULL, NULL},
};

/* ---- lent memory ---- */

/* in ─▶ double ─▶ middle ─▶ double ─▶ out: all one stretch of memory, or out another. */
static void check_lent(bool same, const char *function, bool good, const char *text)
{
    double memory[4] = {1, 2, 3, 4}, other[4] = {0};
    struct weft_builder *b = weft_builder_new("lent");
    struct weft_error error;
    static const char *const names[] = {"in", "middle", "out"};
    char call[32];
    snprintf(call, sizeof call, ":%s", function);
    for (uint32_t i = 0; i < 3; i++)
        weft_builder_in_memory(b, weft_builder_object(b, names[i]));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t t = weft_builder_task(b, i ? "second" : "first");
        weft_builder_call(b, t, i ? call : ":double_it");
        weft_builder_reads(b, t, weft_builder_object(b, names[i]));
        weft_builder_writes(b, t, weft_builder_object(b, names[i + 1]));
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_lent lent[] = {
        {weft_workflow_find_object(w, "in"), memory, sizeof memory},
        {weft_workflow_find_object(w, "out"), same ? memory : other, sizeof memory}};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    struct weft_compute_figures f;
    o.functions = functions;
    o.lent = lent;
    o.nlent = 2;
    o.threads = 2;
    ok(weft_compute(w, &o, &f, &error) == good, "%s on lent memory: %s", function, error.text);
    if (good)
        ok(memory[0] == (same ? 4 : 2) && (same || other[3] == 16) && f.done == 2 && f.peak == 0,
           "in place, and nothing was allocated");
    else
        has_str(error.text, text, "which is said");
    weft_workflow_free(w);
}

/* ---- trees under limits ---- */

struct random_tree {
    struct weft_workflow *w;
    double *size; /* of the output by task */
    double value; /* of the root */
    double alone; /* what the largest task takes */
    double root;
    struct weft_lent lent;
};

/* Parents after children; sizes of some words to some thousands. */
static struct random_tree tree_make(uint32_t n, unsigned seed)
{
    struct random_tree x = {.size = room(n * sizeof(double)), .value = n};
    struct weft_builder *b = weft_builder_new("tree");
    struct weft_error error;
    double *reads = room(n * sizeof *reads);
    char name[16];
    srand(seed);
    for (uint32_t t = 0; t < n; t++) {
        snprintf(name, sizeof name, "t%u", t);
        uint32_t task = weft_builder_task(b, name);
        x.size[t] = WORD * (double)(1 + rand() % 2000);
        weft_builder_call(b, task, ":add_up");
        weft_builder_memory(b, task, WORD);
        uint32_t object = weft_builder_object(b, name);
        weft_builder_in_memory(b, object);
        weft_builder_size(b, object, x.size[t]);
        weft_builder_writes(b, task, object);
    }
    for (uint32_t t = 0; t + 1 < n; t++) {
        uint32_t up = t + 1 + (uint32_t)rand() % (n - t - 1 < 12 ? n - t - 1 : 12);
        weft_builder_reads(b, up, t);
        reads[up] += x.size[t];
    }
    for (uint32_t t = 0; t < n; t++) /* the root's output is the program's */
        x.alone = fmax(x.alone, reads[t] + WORD + (t + 1 < n ? x.size[t] : 0));
    x.root = x.size[n - 1];
    x.w = weft_builder_finish(b, &error);
    snprintf(name, sizeof name, "t%u", n - 1);
    x.lent = (struct weft_lent){weft_workflow_find_object(x.w, name), room((size_t)x.root),
                                (size_t)x.root};
    free(reads);
    return x;
}

static bool o_look; /* nothing is called */

static bool tree_compute(struct random_tree *x, double memory, struct weft_compute_figures *f,
                         struct weft_error *error)
{
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.functions = functions;
    o.context = x->size;
    o.lent = &x->lent;
    o.nlent = 1;
    o.threads = 3;
    o.memory = memory;
    o.look = o_look;
    memset(x->lent.at, 0, x->lent.bytes);
    return weft_compute(x->w, &o, f, error) && *(double *)x->lent.at == x->value;
}

static void test_limits(void)
{
    uint32_t wrong = 0, above = 0, idle = 0, evicted = 0;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct random_tree x = tree_make(60 + 20 * (seed % 5), seed);
        struct weft_compute_figures f, tight;
        struct weft_error error;
        wrong += !tree_compute(&x, INFINITY, &f, &error);
        wrong += !tree_compute(&x, 1e12, &f, &error);
        double needed = f.needed;
        o_look = true;
        wrong += tree_compute(&x, 1e12, &f, &error) || f.needed != needed || f.done;
        o_look = false;
        wrong += !tree_compute(&x, needed, &f, &error);
        above += f.peak > needed;
        idle += f.evictions > 0;
        double middle = x.alone + 0.5 * (needed - x.alone);
        wrong += !tree_compute(&x, middle, &tight, &error);
        above += tight.peak > middle;
        wrong += !tree_compute(&x, x.alone, &tight, &error);
        above += tight.peak > x.alone;
        evicted += needed > x.alone && tight.evicted > 0;
        idle += needed > x.alone && !tight.evictions;
        wrong += tree_compute(&x, x.alone - 1, &f, &error) || error.status != WEFT_INFEASIBLE;
        free(x.lent.at);
        free(x.size);
        weft_workflow_free(x.w);
    }
    is_int(wrong, 0, "20 trees give their sums under every limit, and are refused below the least");
    is_int(above, 0, "memory never exceeds the limit");
    is_int(idle, 0, "objects make room where they must, and only there");
    ok(evicted > 10, "they had to: %u", evicted);
}

/* ---- what goes wrong ---- */

/* One task with an input that is lent and an output of 8 bytes; what is said. */
static void check_refused(const char *call, double memory, enum weft_status status,
                          const char *text)
{
    double in[2] = {1, 2}, size = WORD;
    struct weft_builder *b = weft_builder_new("bad");
    struct weft_error error;
    uint32_t t = weft_builder_task(b, "bad"), next = weft_builder_task(b, "next");
    if (strchr(call, ':'))
        weft_builder_call(b, t, call);
    else
        weft_builder_command(b, t, call);
    weft_builder_call(b, next, ":add_up");
    weft_builder_reads(b, t, weft_builder_object(b, "in"));
    weft_builder_writes(b, t, weft_builder_object(b, "out"));
    weft_builder_reads(b, next, weft_builder_object(b, "out"));
    weft_builder_in_memory(b, weft_builder_object(b, "out"));
    weft_builder_size(b, weft_builder_object(b, "out"), WORD);
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_lent lent = {weft_workflow_find_object(w, "in"), in, sizeof in};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.functions = functions;
    o.lent = &lent;
    o.nlent = strcmp(call, ":unlent") != 0;
    o.context = &size;
    o.memory = memory;
    ok(!weft_compute(w, &o, NULL, &error) && error.status == status, "%s fails", call);
    has_str(error.text, text, "and why is said");
    weft_workflow_free(w);
}

static void test_refused(void)
{
    check_refused(":fails", 0, WEFT_FAILED, "task 'bad' failed: its function returned 3");
    check_refused(":nobody", 0, WEFT_BAD_INPUT, "'nobody', which is none of the functions");
    check_refused("true", 0, WEFT_BAD_INPUT, "is a command");
    check_refused(":unlent", 0, WEFT_BAD_INPUT, "'in' is a file here");
    check_refused(":greedy", 1000, WEFT_FAILED, "more bytes for 'out' than the workflow states");
    check_refused(":double_it", 1000, WEFT_FAILED, "more bytes for 'out' than the workflow states");
    check_refused(":hungry", 1000, WEFT_FAILED, "more scratch memory than the workflow states");
    check_refused(":fails", 4, WEFT_INFEASIBLE, "task 'bad' takes 8 bytes");
    check_refused(":fails", -4, WEFT_BAD_INPUT, "limited to -4 bytes");
}

/* ---- what makes room ---- */

/* Every file of an object is gone before its reader begins; what is read is not looked at. */
static int removes_files(const struct weft_task *t)
{
    DIR *folder = opendir(t->folder);
    for (struct dirent *e; folder && (e = readdir(folder));)
        (void)unlinkat(dirfd(folder), e->d_name, 0);
    if (folder)
        closedir(folder);
    return add_up(t);
}

static int looks_at_nothing(const struct weft_task *t)
{
    memset(weft_task_out(t, 0, WORD), 0, WORD);
    return 0;
}

/*     [in ─▶] first ── a ───────────────▶ last ─▶ out       first before second; memory for two of a, b and c:
 *             second ─ b ─▶ third ─ c ─────┘                 a has to make room for c, whosever it is */
static void check_room(const char *first, const char *third, const char *last, double value,
                       const char *text)
{
    static const char *const names[] = {"first", "second", "third", "last"};
    static const char *const makes[] = {"a", "b", "c", "out"};
    const char *const calls[] = {first, "add_up", third, last};
    double in[] = {3}, out = 0, size[] = {WORD, WORD, WORD, WORD};
    struct weft_builder *b = weft_builder_new("room");
    struct weft_error error;
    char call[32];
    bool lent_in = strcmp(first, "double_it") == 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t t = weft_builder_task(b, names[i]), object = weft_builder_object(b, makes[i]);
        snprintf(call, sizeof call, ":%s", calls[i]);
        weft_builder_call(b, t, call);
        weft_builder_in_memory(b, object);
        weft_builder_size(b, object, WORD);
        weft_builder_writes(b, t, object);
        weft_builder_memory(b, t, lent_in && i == 0 ? 0 : WORD);
    }
    weft_builder_order(b, 0, 1);
    weft_builder_reads(b, 2, weft_builder_object(b, "b"));
    weft_builder_reads(b, 3, weft_builder_object(b, "a"));
    weft_builder_reads(b, 3, weft_builder_object(b, "c"));
    if (lent_in)
        weft_builder_reads(b, 0, weft_builder_object(b, "in"));
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_lent lent[] = {{weft_workflow_find_object(w, "out"), &out, sizeof out},
                               {weft_workflow_find_object(w, "in"), in, sizeof in}};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.functions = functions;
    o.context = size;
    o.lent = lent;
    o.nlent = lent_in ? 2 : 1;
    o.threads = 2;
    o.memory = 3 * WORD; /* two objects, and what a function takes */
    bool good = weft_compute(w, &o, NULL, &error);
    ok(good == !*text && out == value, "%s, %s, %s: %g", first, third, last, out);
    is_str(error.text, text, "and what is said");
    weft_workflow_free(w);
}

static void test_room(void)
{
    check_room("add_up", "add_up", "add_up", 4, "");
    check_room("double_it", "add_up", "add_up", 9, "");
    check_room("add_up", "removes_files", "looks_at_nothing", 0,
               "task 'last' failed: its input 'a' had to make room, and could not be read again");
}

/* ---- a function that computes ---- */

static int nests(const struct weft_task *t)
{
    const unsigned *seed = t->context;
    struct random_tree x = tree_make(40, *seed);
    struct weft_compute_figures f;
    struct weft_error error;
    bool good = tree_compute(&x, x.alone, &f, &error);
    free(x.lent.at);
    free(x.size);
    weft_workflow_free(x.w);
    return !good;
}

static void test_nested(void)
{
    unsigned seed = 5;
    struct weft_builder *b = weft_builder_new("nested");
    struct weft_error error;
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    weft_builder_call(b, weft_builder_task(b, "one"), ":nests");
    struct weft_workflow *w = weft_builder_finish(b, &error);
    o.functions = (struct weft_function[]){{"nests", nests}, {NULL, NULL}};
    o.context = &seed;
    ok(weft_compute(w, &o, NULL, &error), "a function computes a workflow of its own: %s",
       error.text);
    weft_workflow_free(w);
}

/* ---- pinned ---- */

enum { PIN_TASKS = 64 };
static _Atomic uint32_t pinned_calls, unpinned_calls;

static int looks_where(const struct weft_task *t)
{
    cpu_set_t set;
    (void)t;
    CPU_ZERO(&set);
    bool one = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
    atomic_fetch_add(one ? &pinned_calls : &unpinned_calls, 1);
    return 0;
}

/* The work may be refused where hwloc is not; then it says so, and nothing was called. */
static void test_pinned(void)
{
    struct weft_builder *b = weft_builder_new("pinned");
    struct weft_error error;
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    char name[16];
    cpu_set_t before, after;
    for (uint32_t i = 0; i < PIN_TASKS; i++) {
        snprintf(name, sizeof name, "t%u", i);
        weft_builder_call(b, weft_builder_task(b, name), ":looks_where");
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    o.functions = (struct weft_function[]){{"looks_where", looks_where}, {NULL, NULL}};
    o.threads = 3; /* more than some machines have */
    o.pin = true;
    sched_getaffinity(0, sizeof before, &before);
    bool good = weft_compute(w, &o, NULL, &error);
    sched_getaffinity(0, sizeof after, &after);
    ok(good || strstr(error.text, "cannot be pinned"), "pinned, or told why not: %s", error.text);
    is_int((long)atomic_load(&pinned_calls), good ? PIN_TASKS : 0, "every call on one processor");
    is_int((long)atomic_load(&unpinned_calls), 0, "none elsewhere");
    ok(CPU_EQUAL(&before, &after), "the program's own thread is left as it was");
    weft_workflow_free(w);
}

/* One of two readers writes to what they share. Whoever is judged first finds it: neither is named for certain. */
static void test_shared(void)
{
    double memory[4] = {1, 2, 3, 4};
    struct weft_builder *b = weft_builder_new("shared");
    struct weft_error error;
    uint32_t object = weft_builder_object(b, "in");
    weft_builder_in_memory(b, object);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t t = weft_builder_task(b, i ? "reads" : "writes");
        weft_builder_call(b, t, i ? ":meets" : ":spoils_shared");
        weft_builder_reads(b, t, object);
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_lent lent[] = {{weft_workflow_find_object(w, "in"), memory, sizeof memory}};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.functions = functions;
    o.threads = 2;
    o.lent = lent, o.nlent = 1;
    ok(!weft_compute(w, &o, NULL, &error) && strstr(error.text, "or by another that reads it"),
       "who shares an input is not named for what another wrote: %s", error.text);
    weft_workflow_free(w);
}

int main(void)
{
    TAP_DO(check_lent(true, "double_it", true, ""));
    TAP_DO(check_lent(false, "double_it", true, ""));
    setenv("WEFT_CHECK_DATA", "1", 1);
    TAP_DO(check_lent(false, "spoils", false, "wrote to its input 'middle'"));
    TAP_DO(test_shared());
    TAP_DO(test_limits());
    unsetenv("WEFT_CHECK_DATA");
    TAP_DO(test_limits());
    TAP_DO(test_refused());
    TAP_DO(test_room());
    TAP_DO(test_nested());
    TAP_DO(test_pinned());
    return tap_done();
}
