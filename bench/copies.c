/* What comparing the inputs of tasks costs (copies.h). */
#include "bench/copies.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "cluster/data/depot.h"
#include "memo/inputs.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 6 };

/* A task that reads `many` small files and a large one, all of them written. */
static struct workflow *copies_workflow(const char *folder, uint32_t many, size_t small,
                                        size_t large)
{
    struct builder *b = builder_new("<bench>", "bench");
    struct error err = {0};
    char name[32], path[1100];
    uint32_t t = builder_task(b, "t", 1, 0);
    builder_command(b, t, "true", 4);
    char *content = mem_new_zero(char, large);
    for (uint32_t i = 0; i <= many; i++) {
        size_t n = (size_t)snprintf(name, sizeof name, "in%u", i);
        builder_consumes(b, t, builder_object(b, name, n), 0);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        bench_must(file_write(path, content, i < many ? small : large, &err), &err);
    }
    free(content);
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

void copies_measure(const char *folder, bool quick, struct json_writer *j)
{
    uint32_t many = 1000;
    uint32_t small = 4096;
    size_t large = (size_t)(quick ? 64 : 512) << 20;
    struct error err = {0};
    struct workflow *w = copies_workflow(folder, many, small, large);
    struct memo *memo = memo_open(NULL, NULL, &err);
    struct needs needs;
    bench_must(needs_find(&needs, w, folder, memo, &(struct need_options){0}, &err), &err);
    struct depot *d = depot_new(
        &(struct depot_config){.workflow = w, .folder = folder, .partial = folder, .memo = memo});
    usleep(50000); /* files that are younger than a tick are read again */
    uint32_t which;
    struct input_marks marks = {0};
    struct input_change change = {0};
    /* seconds: before, after, read, known */
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    bool good = inputs_begin(&needs, 0, &marks, &which, &err);
    for (int round = 0; round < ROUNDS && good; round++) {
        for (uint32_t o = 0; o < w->nobjects; o++)
            depot_found(d, o, &needs.content[o], needs.bytes[o]);
        for (int what = 0; what < 4; what++) {
            double began = clock_seconds();
            if (what == 0)
                good &= inputs_begin(&needs, 0, &marks, &which, &err);
            else if (what == 1)
                good &= inputs_unchanged(&needs, 0, &marks, &change);
            for (uint32_t o = 0; what > 1 && o < w->nobjects; o++)
                good &= depot_verify(d, o) == DEPOT_SOUND;
            least[what] = fmin(least[what], clock_seconds() - began);
        }
    }
    bench_must(good, &(struct error){.text = "a copy that nobody touched is not what it was"});
    double each = 1e6 / w->nobjects, megabytes = ((double)many * small + (double)large) / 1e6;
    printf("\ncopies: an input compared before its task %.2f us, after it %.2f us; an agent's copy "
           "%.2f us, read %.0f MB/s\n",
           least[0] * each, least[1] * each, least[3] * each, megabytes / least[2]);
    json_write_key(j, "copies");
    json_write_object_inline(j);
    json_put_number(j, "before_us", least[0] * each);
    json_put_number(j, "after_us", least[1] * each);
    json_put_number(j, "known_us", least[3] * each);
    json_put_number(j, "read_mb_s", megabytes / least[2]);
    json_write_end_object(j);
    input_marks_free(&marks);
    strbuf_free(&change.how);
    depot_free(d);
    needs_free(&needs);
    memo_close(memo, NULL);
    workflow_free(w);
}
