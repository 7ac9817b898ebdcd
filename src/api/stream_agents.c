/* A stream on agents starts its helpers as an ordinary run: one task for each, which an agent starts, and
 * which another starts again when that agent dies. So local:N, ssh, Slurm and clusters, leases and elastic
 * nodes are those of runs, and a stream adds nothing to them.
 *
 *     folder/.weft/stream.XXXXXX/    helpers.yaml, helper.sh, key (0600: it travels as an input, sealed)
 *
 * I1. The run belongs to the thread from its start to its end; weft_run_stop() is for any thread. */
#include "api/stream_agents.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "cluster/launch/launch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream_agents {
    struct weft_run *run;
    struct flow *flow;
    char *folder;
    pthread_t thread;
    atomic_bool ending, over;
};

/* ---- how many ---- */

/* Those that live now: others may come, and help when one of these dies. */
static uint32_t agents_of_cluster(const struct weft_stream_options *o, struct error *err)
{
    struct weft_cluster_options c = WEFT_CLUSTER_OPTIONS_INIT;
    struct weft_error error;
    uint32_t n = 0;
    c.store = o->store;
    c.key = o->key;
    struct weft_cluster *cluster = weft_cluster_open(&c, &error);
    const struct weft_cluster_status *s =
        cluster ? weft_cluster_snapshot(cluster, NULL, &error) : NULL;
    for (size_t i = 0; s && i < s->nagents; i++)
        n += s->agents[i].state == WEFT_AGENT_UP;
    if (!s)
        error_set(err, ERROR_FAILED, "%.1000s", error.text);
    else if (!n)
        error_set(err, ERROR_INFEASIBLE, "no agent lives at %.200s", weft_cluster_store(cluster));
    weft_cluster_close(cluster);
    return n;
}

/* As the target says, before anything is started. */
uint32_t stream_agents_count(const struct weft_stream_options *o, struct error *err)
{
    const char *on = o->on;
    uint32_t n = 1;
    if (launch_is_target(on) && strcmp(on, "slurm") != 0) {
        n = launch_count(on, err);
    } else if (strcmp(on, "slurm") == 0) {
        n = o->nodes ? o->nodes : 1;
    } else if (strcmp(on, "cluster") == 0) {
        n = o->nodes ? o->nodes : agents_of_cluster(o, err);
    } else {
        error_set(err, ERROR_INPUT,
                  "'%.200s': expected local:N, ssh:HOST,HOST..., slurm or cluster", on);
        return 0;
    }
    return n;
}

/* ---- the run ---- */

/* A program that was ended by a signal is started again: an item may have broken it. One that says that it
 * failed has failed. */
static void agents_write_script(const char *program, const char *addresses, struct strbuf *out)
{
    strbuf_add(out, "# What an agent runs for a stream: `weft stream --lend`.\nw='");
    for (const char *at = program; *at; at++)
        strbuf_printf(out, *at == '\'' ? "'\\''" : "%c", *at);
    strbuf_printf(out,
                  "'\n"
                  "if [ ! -x \"$w\" ]; then\n"
                  "    w=$(readlink /proc/$PPID/exe)\n"
                  "    case $w in */weft) [ -x \"$w\" ] || w=weft ;; *) w=weft ;; esac\n"
                  "fi\n"
                  "while :; do\n"
                  "    \"$w\" stream --lend '%s' --helper \"$1\" <key\n"
                  "    status=$?\n"
                  "    [ $status -gt 128 ] || exit $status\n"
                  "done\n",
                  addresses);
}

/* Three small files. The script and the key are inputs of every helper: they go where the agent is. */
static bool agents_write(struct stream_agents *a, const struct weft_stream_options *o,
                         uint32_t count, const struct seal_key *key, struct error *err)
{
    struct strbuf flow = {0}, script = {0}, path = {0};
    strbuf_add(&flow, "weft: 1\ntasks:\n");
    for (uint32_t i = 0; i < count; i++)
        strbuf_printf(&flow,
                      "  helper-%u: { run: \"sh helper.sh %u\", in: [helper.sh, key], cores: %u, "
                      "retries: 20 }\n",
                      i, i, o->cores ? o->cores : 1);
    agents_write_script(o->program ? o->program : "weft", flow_helper_addresses(a->flow), &script);
    strbuf_printf(&path, "%s/helpers.yaml", a->folder);
    bool good = file_write(path.at, flow.at, flow.n, err);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/helper.sh", a->folder);
    good = good && file_write(path.at, script.at, script.n, err);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/key", a->folder);
    good = good && seal_key_write(path.at, key, err);
    strbuf_free(&flow);
    strbuf_free(&script);
    strbuf_free(&path);
    return good;
}

/* Warnings are for people; how a run of helpers goes is not what they asked for. */
static void agents_event(void *context, const struct weft_event *e)
{
    struct stream_agents *a = context;
    if (e->kind == WEFT_EVENT_REMARK && e->remark != WEFT_REMARK_INFO && !a->ending)
        flow_remark(a->flow, e->text);
}

/* What the first helper that failed said last. */
static void agents_why(struct stream_agents *a, const struct weft_error *error, struct error *err)
{
    struct weft_cause cause;
    const char *last = NULL;
    if (weft_run_cause(a->run, 0, &cause))
        last = cause.last_lines ? cause.last_lines : cause.text;
    error_set(err, ERROR_FAILED, "the helpers on the agents have ended: %.600s%s%.600s",
              error->text, last ? "; the first that failed said: " : "", last ? last : "");
}

/* The thread: a run of helpers that ends while the stream goes on is what ends the stream. */
static void *agents_follow(void *context)
{
    struct stream_agents *a = context;
    struct weft_error error = {0};
    bool good = weft_run_start(a->run, &error);
    while (good && weft_run_step(a->run, 0.2, &error))
        ;
    good = good && weft_run_wait(a->run, &error);
    if (!atomic_load(&a->ending)) {
        struct error err = {0};
        if (good)
            snprintf(error.text, sizeof error.text, "all of them, in order");
        agents_why(a, &error, &err);
        flow_helpers_failed(a->flow, &err);
    }
    atomic_store(&a->over, true);
    return NULL;
}

/* ---- starting and ending ---- */

/* Agents of one's own have the cores of one helper, so that each gets one. */
static bool agents_open(struct stream_agents *a, const struct weft_stream_options *o,
                        struct error *err)
{
    struct weft_run_options r = WEFT_RUN_OPTIONS_INIT;
    struct weft_error error = {0};
    struct strbuf path = {0};
    r.on = o->on;
    r.nodes = o->nodes;
    r.cores = strcmp(o->on, "cluster") == 0 ? 0 : o->cores ? o->cores : 1;
    r.store = o->store;
    r.key = o->key;
    r.program = o->program;
    r.no_history = r.keep_going = true;
    r.event = agents_event;
    r.context = a;
    strbuf_printf(&path, "%s/helpers.yaml", a->folder);
    a->run = weft_run_open(path.at, &r, &error);
    strbuf_free(&path);
    return a->run || error_set(err, (enum error_kind)error.status, "%.1000s", error.text);
}

struct stream_agents *stream_agents_start(const struct weft_stream_options *o, const char *folder,
                                          uint32_t count, const struct seal_key *key,
                                          struct flow *flow, struct error *err)
{
    struct stream_agents *a = mem_new_zero(struct stream_agents, 1);
    struct strbuf path = {0};
    sigset_t all, before;
    a->flow = flow;
    strbuf_printf(&path, "%s/.weft", folder);
    mkdir(path.at, 0777);
    strbuf_add(&path, "/stream.XXXXXX");
    bool good = mkdtemp(path.at);
    a->folder = strbuf_steal(&path);
    if (!good)
        error_set(err, ERROR_FAILED, "cannot make %.400s: %s", a->folder, strerror(errno));
    good = good && agents_write(a, o, count, key, err) && agents_open(a, o, err);
    if (good) {
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        good = pthread_create(&a->thread, NULL, agents_follow, a) == 0 ||
               error_set(err, ERROR_FAILED, "cannot start a thread");
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (good)
        return a;
    weft_run_close(a->run);
    tree_remove(a->folder);
    free(a->folder);
    free(a);
    return NULL;
}

void stream_agents_end(struct stream_agents *a)
{
    if (!a)
        return;
    atomic_store(&a->ending, true);
    weft_run_stop(a->run); /* nothing is started again; helpers end by themselves */
    for (int i = 0; i < 50 && !atomic_load(&a->over); i++)
        usleep(100000);
    if (!atomic_load(&a->over))
        weft_run_stop(a->run);
    pthread_join(a->thread, NULL);
    weft_run_close(a->run);
    tree_remove(a->folder);
    free(a->folder);
    free(a);
}
