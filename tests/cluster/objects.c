/* A program whose functions hand objects in memory to each other through agents, for 022_agents_memory_test.sh: public
 * headers and the shared library alone. Built as a module, too, it is the functions.
 *
 *   objects FUNCTIONS.so FOLDER COUNT BYTES      agents have OBJECTS_BYTES in their environment, perhaps OBJECTS_GATE,
 *                                               and OBJECTS_NAP, microseconds that a task rests
 *
 *     make0 ... makeN     an object of BYTES each
 *     mix0 ... mixN       another of two of those: of makeI and makeI+1, the last of makeN and make0
 *     gate                waits for the file OBJECTS_GATE, and says in OBJECTS_GATE.pid in which process
 *     sum                 of all mixes, when gate has ended: into the file sum.txt
 *
 * Prints what sum.txt must be. */
#include <weft/weft.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Byte `at` of what task number `i` makes. */
static unsigned char make_byte(uint32_t i, size_t at)
{
    return (unsigned char)((i + 1) * 2654435761u >> (at % 3) * 8) ^ (unsigned char)(at * 31);
}

static uint32_t number_of(const struct weft_task *t)
{
    return (uint32_t)atoi(t->name + strcspn(t->name, "0123456789"));
}

/* So that others take some of the tasks. */
static void nap(void)
{
    const char *stated = getenv("OBJECTS_NAP");
    usleep(stated ? (useconds_t)atol(stated) : 20000);
}

int make(const struct weft_task *t);
int make(const struct weft_task *t)
{
    size_t bytes = (size_t)atoll(getenv("OBJECTS_BYTES"));
    unsigned char *out = weft_task_out(t, 0, bytes);
    for (size_t k = 0; out && k < bytes; k++)
        out[k] = make_byte(number_of(t), k);
    nap();
    return out ? 0 : 1;
}

int mix(const struct weft_task *t);
int mix(const struct weft_task *t)
{
    size_t n, m;
    const unsigned char *a = weft_task_in(t, 0, &n), *b = weft_task_in(t, 1, &m);
    unsigned char *out = a && b && n == m ? weft_task_out(t, 0, n) : NULL;
    for (size_t k = 0; out && k < n; k++)
        out[k] = a[k] ^ (unsigned char)(3 * b[k]);
    nap();
    return out ? 0 : 1;
}

int gate(const struct weft_task *t);
int gate(const struct weft_task *t)
{
    const char *name = getenv("OBJECTS_GATE");
    char path[4096];
    unsigned char *out = weft_task_out(t, 0, 1);
    if (name) {
        snprintf(path, sizeof path, "%s.pid", name);
        FILE *f = fopen(path, "w");
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
    while (name && access(name, F_OK) != 0)
        usleep(20000);
    *out = 1;
    return 0;
}

int sum(const struct weft_task *t);
int sum(const struct weft_task *t)
{
    uint64_t all = 0;
    for (uint32_t i = 1; i < t->nin; i++) {
        size_t n;
        const unsigned char *in = weft_task_in(t, i, &n);
        for (size_t k = 0; in && k < n; k++)
            all = all * 31 + in[k];
        if (!in)
            return 1;
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRIu64 "\n", all);
    char *out = weft_task_out(t, 0, (size_t)n);
    memcpy(out, text, (size_t)n);
    return 0;
}

#ifndef OBJECTS_FUNCTIONS
static unsigned char mix_byte(uint32_t i, uint32_t count, size_t at)
{
    return make_byte(i, at) ^ (unsigned char)(3 * make_byte((i + 1) % count, at));
}

static char function[4200];
static const char *functions;

static uint32_t add(struct weft_builder *b, const char *name, const char *what, const char *out)
{
    uint32_t t = weft_builder_task(b, name), object = weft_builder_object(b, out);
    snprintf(function, sizeof function, "%s:%s", functions, what);
    weft_builder_call(b, t, function);
    weft_builder_writes(b, t, object);
    if (strcmp(what, "sum") != 0)
        weft_builder_in_memory(b, object);
    return t;
}

static struct weft_workflow *graph(uint32_t count, struct weft_error *error)
{
    struct weft_builder *b = weft_builder_new("objects");
    char name[32], out[32], in[32];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "make%u", i);
        snprintf(out, sizeof out, "made/%u", i);
        add(b, name, "make", out);
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "mix%u", i);
        snprintf(out, sizeof out, "mixed/%u", i);
        uint32_t t = add(b, name, "mix", out);
        for (uint32_t k = 0; k < 2; k++) {
            snprintf(in, sizeof in, "made/%u", (i + k) % count);
            weft_builder_reads(b, t, weft_builder_object(b, in));
        }
    }
    add(b, "gate", "gate", "open");
    uint32_t last = add(b, "sum", "sum", "sum.txt");
    weft_builder_reads(b, last, weft_builder_object(b, "open"));
    for (uint32_t i = 0; i < count; i++) {
        snprintf(in, sizeof in, "mixed/%u", i);
        weft_builder_reads(b, last, weft_builder_object(b, in));
    }
    return weft_builder_finish(b, error);
}

int main(int argc, char **argv)
{
    struct weft_error error;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    if (argc < 5)
        return 2;
    functions = argv[1];
    uint32_t count = (uint32_t)atoi(argv[3]);
    size_t bytes = (size_t)atoll(argv[4]);
    o.folder = argv[2];
    o.on = "cluster";
    o.not_shared = true;
    o.no_history = true;
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < bytes; k++)
            all = all * 31 + mix_byte(i, count, k);
    printf("%" PRIu64 "\n", all);
    struct weft_workflow *w = graph(count, &error);
    struct weft_run *run = w ? weft_run_open_workflow(w, &o, &error) : NULL;
    bool good = run && weft_run_start(run, &error);
    if (good)
        fprintf(stderr, "run %llu\n", (unsigned long long)weft_run_cluster_number(run));
    good = good && weft_run_wait(run, &error);
    if (!good)
        fprintf(stderr, "objects: %s\n", error.text);
    weft_run_close(run);
    weft_workflow_free(w);
    return good ? 0 : 1;
}
#endif
