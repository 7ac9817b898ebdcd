/* Agents in Slurm's jobs, or on the nodes of an allocation we are in.
 *
 *     asked ─ sbatch ─▶ pieces (array elements, or one job of several nodes)
 *                         │                      │
 *                         │ a line in its output │ squeue lists it no more
 *                         ▼                      ▼
 *                       ready ─ job over ─▶ ended; failed when it never was ready
 *
 * This file asks for nodes; slurm_watch.c sees what becomes of them. Jobs of one node each, so that
 * each starts as soon as it can and is given back alone; Slurm's server has other users, so one
 * sbatch asks for as many as an array may have.
 *
 * Invariants:
 *   I1. Agents are numbered as they are asked for; those of a piece are first .. first + count.
 *   I2. The key stands in a file only while some agent is starting, 0600 in a folder 0700.
 *       Inside an allocation it goes through standard input and there is no file.
 *   I3. Every subprocess (sbatch, squeue, scancel, srun) is abandoned before the launch is
 *       freed. */
#include "cluster/launch/slurm_state.h"

#include <limits.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "cluster/launch/shell.h"
#include "model/things.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char cluster_launch_slurm_node_sh[]; /* slurm_node.sh */

enum {
    ARRAY_MOST = 1000, /* elements of a job array; sites allow 1001 unless told otherwise */
    TICK = 250,        /* milliseconds: how late people may learn that an agent is ready */
};
static const double retry_pause = 10,
                    retry_most = 120;      /* seconds for each that failed, and at most */
static const double sbatch_patience = 120; /* seconds: a busy controller lets sbatch wait */

/* Numbers come from pieces (I1). */
struct launch_agent *slurm_agent(struct launch *l, uint32_t number)
{
    return l->agents.at[number];
}

/* ---- asking for nodes ---- */

static struct slurm_piece *slurm_piece_add(struct launch *l, uint32_t first, uint32_t count)
{
    struct slurm_piece *p = mem_new_zero(struct slurm_piece, 1);
    p->launch = l;
    p->first = first;
    p->count = count;
    array_push(&l->slurm->pieces, p);
    return p;
}

static void slurm_name_agents(struct launch *l, uint32_t first, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        struct launch_agent *a = slurm_agent(l, first + i);
        free(a->name);
        a->name = mem_copy_string(name);
    }
}

/* "12" or "12;cluster" */
static void slurm_job_number(void *context, const char *line)
{
    struct slurm_request *q = context;
    size_t n = strspn(line, "0123456789");
    if (n > 0 && n < 20)
        snprintf(q->id, sizeof q->id, "%.*s", (int)n, line);
}

/* A job's number makes pieces: one an element, or one for a job of several nodes. A refusal fails
 * all of the request's agents with one reason. */
static void slurm_sbatch_ended(void *context, int status, const char *said)
{
    struct slurm_request *q = context;
    struct launch *l = q->launch;
    struct slurm *s = l->slurm;
    for (size_t i = 0; i < s->requests.n; i++)
        if (s->requests.at[i] == q)
            s->requests.at[i--] = s->requests.at[--s->requests.n];
    char name[80];
    if (status != 0 || !q->id[0]) {
        struct strbuf why = {0};
        strbuf_printf(&why, "%s%s (exit status %d); %s",
                      strncmp(said, "sbatch:", 7) == 0 ? "" : "sbatch: ",
                      *said ? said : "did not tell a job's number", status,
                      launch_remedy(said, 0,
                                    "give it what it needs with WEFT_SBATCH, as in "
                                    "WEFT_SBATCH='--partition=short --time=1:00:00'"));
        for (uint32_t i = 0; i < q->count; i++)
            launch_agent_failed(l, slurm_agent(l, q->first + i), strbuf_text(&why));
        strbuf_free(&why);
    } else {
        uint32_t pieces = l->config.together ? 1 : q->count;
        for (uint32_t i = 0; i < pieces; i++) {
            struct slurm_piece *p =
                slurm_piece_add(l, q->first + i, l->config.together ? q->count : 1);
            struct strbuf path = {0};
            if (l->config.together)
                snprintf(p->id, sizeof p->id, "%s", q->id);
            else
                snprintf(p->id, sizeof p->id, "%s_%u", q->id, i);
            strbuf_printf(&path, "%s/job-%s.out", l->state, p->id);
            p->path = strbuf_steal(&path);
            snprintf(name, sizeof name, "Slurm job %s", p->id);
            slurm_name_agents(l, p->first, p->count, name);
        }
    }
    free(q);
    slurm_ask_soon(s);
}

static void slurm_add_format(launch_words *words, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void slurm_add_format(launch_words *words, const char *fmt, ...)
{
    char text[PATH_MAX + 16];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    launch_argument(words, text);
}

/* One agent a node, with all the processors of the step; the end of one leaves the others alone. */
static const char *const step_options[] = {"--ntasks-per-node=1", "--cpu-bind=none",
                                           "--kill-on-bad-exit=0", "--wait=0", "--unbuffered"};

/* The agent's part: which GPUs they are it learns on its node (slurm_node.sh), the rest is as asked. */
static void slurm_agent_things(const struct launch *l, launch_words *words)
{
    struct thing_list all = {0};
    struct error ignored = {0};
    struct strbuf rest = {0};
    uint32_t gpus = 0;
    if (thing_list_read(l->config.resources, &all, &ignored))
        for (size_t i = 0; i < all.sorts.n; i++) {
            struct thing_sort *s = &all.sorts.at[i];
            if (strcmp(s->name, "gpu") == 0) {
                gpus = s->amount / THING_ONE;
                continue;
            }
            struct thing_list one = {{s, 1, 1}};
            strbuf_add(&rest, rest.n ? "," : "");
            thing_list_text(&one, &rest);
        }
    if (gpus)
        slurm_add_format(words, "%u", gpus);
    else
        launch_argument(words, "");
    launch_argument(words, strbuf_text(&rest));
    strbuf_free(&rest);
    thing_list_free(&all);
}

/* What Slurm has to give with a node: GPUs as --gres, amounts without ids as --licenses, which a job has
 * and its steps need not ask for. */
static void slurm_ask_for_things(const struct launch *l, bool step, launch_words *words)
{
    struct thing_list all = {0};
    struct error ignored = {0};
    struct strbuf licences = {0};
    if (thing_list_read(l->config.resources, &all, &ignored))
        for (size_t i = 0; i < all.sorts.n; i++) {
            const struct thing_sort *s = &all.sorts.at[i];
            uint32_t whole = (s->amount + THING_ONE - 1) / THING_ONE;
            if (whole && strcmp(s->name, "gpu") == 0)
                slurm_add_format(words, "--gres=gpu:%u", whole);
            else if (whole && !s->ids.n && !step)
                strbuf_printf(&licences, "%s%s:%u", licences.n ? "," : "--licenses=", s->name,
                              whole);
        }
    if (licences.n)
        launch_argument(words, licences.at);
    strbuf_free(&licences);
    thing_list_free(&all);
}

/* What srun runs on a node: slurm_node.sh, with the parameters that stand at its head. */
static void slurm_node_arguments(const struct launch *l, launch_words *words)
{
    const struct slurm *s = l->slurm;
    launch_argument(words, "sh");
    launch_argument(words, s->script);
    launch_argument(words, l->state);
    launch_argument(words, l->program);
    launch_argument(words, l->remote_state);
    launch_argument(words, s->nodes ? "-" : s->key_path);
    launch_argument(words, l->name);
    launch_argument(words, l->config.cores ? "no" : "yes");
    /* in a file: it may hold a password, and everybody sees a command line */
    slurm_add_format(words, "@%s", s->given_store);
    slurm_agent_things(l, words);
    launch_common_arguments(l, words);
}

/* All cores of a node, unless the user says how many an agent has: then several agents may share a
 * node. Memory likewise: 0 means all of it to Slurm. */
static void slurm_submit(struct launch *l, uint32_t first, uint32_t count)
{
    struct slurm *s = l->slurm;
    launch_words words = {0};
    launch_argument(&words, "sbatch");
    launch_argument(&words, "--parsable");
    launch_argument(&words, "--no-requeue");
    launch_argument(&words, "--ntasks-per-node=1");
    slurm_add_format(&words, "--job-name=%s", l->name);
    launch_argument(&words, "--chdir");
    launch_argument(&words, l->state);
    if (l->config.together) {
        slurm_add_format(&words, "--nodes=%u", count);
        launch_argument(&words, "--no-kill"); /* a node that dies does not take the others along */
        launch_argument(&words, "--output=job-%j.out");
    } else {
        launch_argument(&words, "--nodes=1");
        slurm_add_format(&words, "--array=0-%u", count - 1);
        launch_argument(&words, "--output=job-%A_%a.out");
    }
    if (l->config.cores)
        slurm_add_format(&words, "--cpus-per-task=%u", l->config.cores);
    else
        launch_argument(&words, "--exclusive");
    if (l->config.memory > 0)
        slurm_add_format(&words, "--mem=%.0fM", ceil(l->config.memory / 1048576));
    else if (!l->config.cores)
        launch_argument(&words, "--mem=0");
    slurm_ask_for_things(l, false, &words);
    for (size_t i = 0; i < l->sbatch.n; i++)
        launch_argument(&words, l->sbatch.at[i]);
    struct strbuf wrap = {0};
    strbuf_add(&wrap, "exec srun");
    for (size_t i = 0; i < sizeof step_options / sizeof *step_options; i++)
        strbuf_printf(&wrap, " %s", step_options[i]);
    for (size_t i = 0; i < l->srun.n; i++) {
        strbuf_add_char(&wrap, ' ');
        shell_quote(&wrap, l->srun.at[i]);
    }
    launch_words node = {0};
    slurm_node_arguments(l, &node);
    for (size_t i = 0; i < node.n; i++) {
        strbuf_add_char(&wrap, ' ');
        shell_quote(&wrap, node.at[i]);
    }
    launch_arguments_free(&node);
    launch_argument(&words, "--wrap");
    array_push(&words, strbuf_steal(&wrap));
    launch_arguments_end(&words);
    struct slurm_request *q = mem_new_zero(struct slurm_request, 1);
    q->launch = l;
    q->first = first;
    q->count = count;
    array_push(&s->requests, q);
    q->starter = subprocess_start(&(struct subprocess_config){
        .loop = l->config.loop,
        .arguments = (const char *const *)words.at,
        .limit = sbatch_patience,
        .line = slurm_job_number,
        .ended = slurm_sbatch_ended,
        .context = q,
    });
    launch_arguments_free(&words);
}

/* Inside an allocation there is no squeue to ask: the end of srun is the end of its agents. */
static void slurm_step_ended(void *context, int status, const char *said)
{
    (void)said; /* it went to the output */
    struct slurm_piece *p = context;
    p->step = NULL;
    slurm_read_output(p->launch, p);
    if (!p->tail.n)
        strbuf_add(&p->tail, said);
    slurm_piece_over(p->launch, p, status);
}

/* Detached, as its agents are: it goes on when we are gone. Its words go to a file, which is read
 * as a job's output is. */
static void slurm_start_step(struct launch *l, uint32_t first, uint32_t count, uint32_t slot)
{
    struct slurm *s = l->slurm;
    struct slurm_piece *p = slurm_piece_add(l, first, count);
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/step-%u.out", l->state, s->steps++);
    p->path = strbuf_steal(&path);
    p->running = true;
    p->slot = slot;
    for (uint32_t i = 0; i < count; i++)
        s->used[slot + i] = true;
    char name[80];
    snprintf(name, sizeof name, "a node of Slurm's allocation %.20s", getenv("SLURM_JOB_ID"));
    slurm_name_agents(l, first, count, name);
    launch_words words = {0};
    launch_argument(&words, "srun");
    launch_argument(&words, "--overlap"); /* with the step that we may be in ourselves */
    slurm_add_format(&words, "--nodes=%u", count);
    slurm_add_format(&words, "--ntasks=%u", count);
    slurm_add_format(&words, "--relative=%u", slot);
    for (size_t i = 0; i < sizeof step_options / sizeof *step_options; i++)
        launch_argument(&words, step_options[i]);
    slurm_ask_for_things(l, true, &words);
    for (size_t i = 0; i < l->srun.n; i++)
        launch_argument(&words, l->srun.at[i]);
    slurm_node_arguments(l, &words);
    launch_arguments_end(&words);
    p->step = subprocess_start(&(struct subprocess_config){
        .loop = l->config.loop,
        .arguments = (const char *const *)words.at,
        .input = l->key, /* srun gives it to every task */
        .output = p->path,
        .stays = true,
        .ended = slurm_step_ended,
        .context = p,
    });
    launch_arguments_free(&words);
}

/* The number of the first. */
static uint32_t slurm_add_agents(struct launch *l, uint32_t count)
{
    uint32_t first = (uint32_t)l->agents.n;
    for (uint32_t i = 0; i < count; i++)
        launch_add_agent(l, "Slurm job")->state = LAUNCH_STARTING;
    return first;
}

/* What failed counts as had for a while, longer with every failure: a job that cannot start is not asked for
 * again and again, and a controller that did not answer once does not leave a run of days without nodes. */
static uint32_t slurm_failed_lately(const struct launch *l)
{
    uint32_t lately = 0;
    double now = clock_seconds(), pause = fmin(retry_pause * launch_counts(l).failed, retry_most);
    for (size_t i = 0; i < l->agents.n; i++)
        lately += l->agents.at[i]->state == LAUNCH_FAILED && now - l->agents.at[i]->failed < pause;
    return lately;
}

/* Inside an allocation, runs of nodes that are free are taken from the front; else arrays of jobs
 * are asked for. */
void launch_slurm_want(struct launch *l, uint32_t agents)
{
    struct slurm *s = l->slurm;
    struct launch_counts c = launch_counts(l);
    uint32_t had = c.starting + c.ready + slurm_failed_lately(l), most = launch_slurm_most(l);
    agents = agents < most ? agents : most;
    if (agents <= had)
        return;
    uint32_t more = agents - had;
    if (s->nodes) {
        for (uint32_t at = 0; at < s->nodes && more > 0;) {
            uint32_t run = 0;
            while (at + run < s->nodes && run < more && !s->used[at + run])
                run++;
            if (run)
                slurm_start_step(l, slurm_add_agents(l, run), run, at);
            more -= run;
            at += run ? run : 1;
        }
        return;
    }
    if (!s->has_key) {
        s->has_key = launch_write_private(s->key_path, l->key, 0600);
        if (!s->has_key)
            launch_log(l, "%s: cannot be written: %s", s->key_path, strerror(errno));
    }
    while (more > 0) {
        uint32_t count = more < ARRAY_MOST || l->config.together ? more : ARRAY_MOST;
        slurm_submit(l, slurm_add_agents(l, count), count);
        more -= count;
    }
}

/* ---- from the beginning to the end ---- */

/* In the state folder, which all nodes see. The caller owns it. */
static char *slurm_path_in(const struct launch *l, const char *name)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", l->state, name);
    return strbuf_steal(&path);
}

/* SLURM_JOB_ID: we are in an allocation, and stay on its nodes. The script is written once; its
 * parameters differ by launch only. */
bool launch_slurm_open(struct launch *l, struct error *err)
{
    struct slurm *s = l->slurm = mem_new_zero(struct slurm, 1);
    const char *inside = getenv("SLURM_JOB_ID");
    if (inside && *inside) {
        const char *nodes = getenv("SLURM_JOB_NUM_NODES");
        int64_t n;
        if (!nodes || !quantity_integer(nodes, strlen(nodes), &n) || n < 1 || n > 1 << 20)
            n = 1;
        s->nodes = (uint32_t)n;
        s->used = mem_new_zero(bool, s->nodes);
    }
    s->script = slurm_path_in(l, "node.sh");
    s->key_path = slurm_path_in(l, "key");
    s->given_store = slurm_path_in(l, "store-given");
    if (!l->config.store)
        return error_set(err, ERROR_INPUT,
                         "agents under Slurm need a store that outlives their jobs "
                         "(--store)");
    if (!launch_write_private(s->given_store, l->config.store, 0600))
        return error_set(err, ERROR_FAILED, "%s: cannot be written: %s", s->given_store,
                         strerror(errno));
    if (!launch_write_private(s->script, cluster_launch_slurm_node_sh, 0700))
        return error_set(err, ERROR_FAILED, "%s: cannot be written: %s", s->script,
                         strerror(errno));
    uv_timer_init(l->config.loop, &s->timer);
    s->timer.data = l;
    l->open++;
    uv_timer_start(&s->timer, slurm_tick, TICK, TICK);
    return true;
}

uint32_t launch_slurm_most(const struct launch *l)
{
    return l->slurm->nodes ? l->slurm->nodes : UINT32_MAX;
}

const char *launch_slurm_waiting(const struct launch *l)
{
    return l->slurm ? l->slurm->waiting : "";
}

/* Jobs have `grace` seconds: their agents were told to leave by their owner. */
void launch_slurm_end(struct launch *l, double grace)
{
    l->slurm->deadline = clock_seconds() + (grace > 0 ? grace : 0);
    slurm_ask_soon(l->slurm);
    slurm_go_on_ending(l);
}

/* Steps go on (they `stay`); what asks Slurm is ended. */
void launch_slurm_close(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s)
        return;
    for (size_t i = 0; i < s->pieces.n; i++)
        subprocess_abandon(s->pieces.at[i]->step);
    for (size_t i = 0; i < s->requests.n; i++)
        subprocess_abandon(s->requests.at[i]->starter);
    subprocess_abandon(s->squeue);
    subprocess_abandon(s->scancel);
    launch_close_handle(l, (uv_handle_t *)&s->timer);
}

void launch_slurm_free(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s)
        return;
    for (size_t i = 0; i < s->pieces.n; i++) {
        strbuf_free(&s->pieces.at[i]->line);
        strbuf_free(&s->pieces.at[i]->tail);
        free(s->pieces.at[i]->path);
        free(s->pieces.at[i]);
    }
    array_free(&s->pieces);
    for (size_t i = 0; i < s->requests.n; i++)
        free(s->requests.at[i]);
    array_free(&s->requests);
    strbuf_free(&s->listed);
    free(s->used);
    free(s->script);
    free(s->key_path);
    free(s->given_store);
    free(s);
}
