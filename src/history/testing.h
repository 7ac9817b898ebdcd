/* Shared by this room's tests: a folder to write in, small workflows, runs made up. */
#pragma once
#include "history/history.h"
#include "model/builder.h"
#include "tap.h"
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char testing_folder[256];

static int testing_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

__attribute__((unused)) static void testing_clean(void)
{
    nftw(testing_folder, testing_remove, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((unused)) static void testing_start(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(testing_folder, sizeof testing_folder, "%s/weft-history-XXXXXX",
             base ? base : P_tmpdir);
    if (!mkdtemp(testing_folder))
        abort();
    atexit(testing_clean);
}

__attribute__((unused)) static const char *testing_path(const char *name)
{
    static char path[4][512];
    static int next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", testing_folder, name);
    return at;
}

/* n tasks t0, t1 ..., task t of kind k(t % kinds); t0 reads in.dat, each makes out-t. */
__attribute__((unused)) static struct workflow *testing_workflow(uint32_t n, uint32_t kinds)
{
    struct builder *b = builder_new("<test>", "test");
    for (uint32_t t = 0; t < n; t++) {
        char name[32];
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_kind(b, t, name, (size_t)snprintf(name, sizeof name, "k%u", t % kinds));
        builder_command(b, t, "true", 4);
        if (!t)
            builder_consumes(b, t, builder_object(b, "in.dat", 6), 0);
        int len = snprintf(name, sizeof name, "out-%u", t);
        builder_produces(b, t, builder_object(b, name, (size_t)len), 0);
    }
    return builder_finish(b, NULL);
}

__attribute__((unused)) static struct run_record testing_head(const struct workflow *w)
{
    return (struct run_record){
        .name = "flow",
        .file = "flow.yaml",
        .folder = "/data/project",
        .started = 1e9,
        .cores = 2,
        .memory = 8e9,
        .speed = 1,
        .tasks = w->ntasks,
        .predicted_seconds = NAN,
        .predicted_memory = NAN,
        .predicted_disk = NAN,
        .workflow = (struct workflow *)w,
    };
}

__attribute__((unused)) static struct trace_event testing_attempt(uint32_t task, double start,
                                                                  double took)
{
    return (struct trace_event){
        .kind = TRACE_TASK,
        .id = task,
        .lane = task % 2,
        .start = start,
        .finish = start + took,
        .outcome = TRACE_DONE,
        .attempt = 1,
        .cpu = took / 2,
        .memory = 1e6 * (task + 1),
        .read = 1000 * task,
        .written = 10,
    };
}
