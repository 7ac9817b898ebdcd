/* A program that adds tasks to a run, for 016_adding_test.sh: public headers and the shared library alone.
 *
 *   adder [on=local:2] [attach=RUN] [links=N] [gate=K:FILE] [reads=FILE] [twice=K] [shared=1] [apart=1] [plain=1] [burst=N] FOLDER
 *
 * link0 writes a file; whenever a link has ended, the next one is added, which reads what that one made, up to N.
 * gate: link K waits for FILE; reads: each added one reads FILE, too; twice: link K has a name that is there;
 * plain: without `adds`; burst: link1 comes with so many tasks beside it. A line for each thing that happens. */
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *on, *gate, *reads, *folder;
    uint64_t attach;
    uint32_t links, gated, twice, burst;
    bool shared, apart, plain;
} given = {.links = 5, .gated = UINT32_MAX};

static struct weft_run *run;
static uint32_t added;

static struct weft_workflow *make_link(uint32_t i)
{
    struct weft_error error;
    struct weft_builder *b = weft_builder_new("chain");
    char name[32], before[32], out[32], command[600];
    snprintf(name, sizeof name, i && i == given.twice ? "link0" : "link%u", i);
    snprintf(before, sizeof before, "link%u.out", i - 1);
    snprintf(out, sizeof out, "link%u.out", i);
    snprintf(command, sizeof command, "%s%s%s(%s%s; echo %u) > %s",
             i == given.gated ? "until [ -e " : "", i == given.gated ? given.gate : "",
             i == given.gated ? " ]; do sleep 0.05; done; " : "", i ? "cat " : "true",
             i ? before : "", i, out);
    uint32_t t = weft_builder_task(b, name);
    weft_builder_command(b, t, command);
    if (i)
        weft_builder_reads(b, t, weft_builder_object(b, before));
    if (i && given.reads)
        weft_builder_reads(b, t, weft_builder_object(b, given.reads));
    weft_builder_writes(b, t, weft_builder_object(b, out));
    for (uint32_t k = 0; i == 1 && k < given.burst; k++) {
        snprintf(name, sizeof name, "beside%u", k);
        snprintf(out, sizeof out, "beside%u.out", k);
        snprintf(command, sizeof command, "until [ -e %s ]; do sleep 0.05; done; echo $PPID > %s",
                 given.gate ? given.gate : "/", out);
        t = weft_builder_task(b, name);
        weft_builder_command(b, t, command);
        weft_builder_writes(b, t, weft_builder_object(b, out));
    }
    struct weft_workflow *w = weft_builder_finish(b, &error);
    if (!w)
        printf("broken %s\n", error.text);
    return w;
}

static void happened(void *context, const struct weft_event *e)
{
    struct weft_error error;
    uint32_t link;
    (void)context;
    if (e->kind == WEFT_EVENT_GROWN)
        printf("grown\n");
    if (e->kind == WEFT_EVENT_ENDED || e->kind == WEFT_EVENT_REUSED)
        printf("ended %s\n", e->name);
    if ((e->kind == WEFT_EVENT_ENDED || e->kind == WEFT_EVENT_REUSED) && run &&
        sscanf(e->name, "link%u", &link) == 1 && link == added && added < given.links) {
        struct weft_workflow *more = make_link(++added);
        if (!weft_run_add(run, more, &error))
            printf("refused %s\n", error.text);
        weft_workflow_free(more);
    }
    fflush(stdout);
}

static void take_argument(char *word)
{
    char *value = strchr(word, '=');
    if (!value) {
        given.folder = word;
        return;
    }
    *value++ = 0;
    if (strcmp(word, "on") == 0)
        given.on = value;
    else if (strcmp(word, "attach") == 0)
        given.attach = strtoull(value, NULL, 10);
    else if (strcmp(word, "links") == 0)
        given.links = (uint32_t)atoi(value);
    else if (strcmp(word, "burst") == 0)
        given.burst = (uint32_t)atoi(value);
    else if (strcmp(word, "twice") == 0)
        given.twice = (uint32_t)atoi(value);
    else if (strcmp(word, "reads") == 0)
        given.reads = value;
    else if (strcmp(word, "shared") == 0)
        given.shared = true;
    else if (strcmp(word, "apart") == 0)
        given.apart = true;
    else if (strcmp(word, "plain") == 0)
        given.plain = true;
    else if (strcmp(word, "gate") == 0) {
        given.gated = (uint32_t)atoi(value);
        given.gate = strchr(value, ':') + 1;
    }
}

int main(int argc, char **argv)
{
    struct weft_error error;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    for (int i = 1; i < argc; i++)
        take_argument(argv[i]);
    o.folder = given.folder;
    o.on = given.attach ? NULL : given.on;
    o.cores = given.on && strcmp(given.on, "cluster") == 0 ? 0 : 1;
    o.shared = given.shared;
    o.not_shared = given.apart;
    o.adds = !given.plain;
    o.no_history = true;
    o.event = happened;
    o.program = getenv("WEFT");
    struct weft_workflow *w = make_link(0);
    run = given.attach ? weft_run_attach(given.attach, &o, &error)
                       : weft_run_open_workflow(w, &o, &error);
    for (uint32_t t = 0; run && t < weft_workflow_tasks(weft_run_workflow(run)); t++) {
        uint32_t link;
        const char *name = weft_workflow_task_name(weft_run_workflow(run), t);
        if (sscanf(name, "link%u", &link) == 1 && link > added)
            added = link;
    }
    bool good = run && weft_run_start(run, &error);
    if (good)
        printf("run %llu\n", (unsigned long long)weft_run_cluster_number(run));
    fflush(stdout);
    good = good && weft_run_wait(run, &error);
    const struct weft_result *r = run ? weft_run_result(run) : NULL;
    if (r)
        printf("over tasks %u done %u reused %u\n", r->tasks, r->done, r->reused);
    struct weft_error late;
    if (good && weft_run_add(run, w, &late))
        printf("added too late\n");
    if (!good)
        fprintf(stderr, "adder: %s\n", error.text);
    weft_run_close(run);
    weft_workflow_free(w);
    return good ? 0 : (int)error.status;
}
