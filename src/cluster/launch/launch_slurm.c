/* Agents in Slurm's jobs, or on the nodes of an allocation we are in.
 *
 *     asked ── sbatch ──▶ pieces (array elements, or one job of several nodes) ── output file ──▶
 * ready │ squeue does not list it any more ▼ ended, or failed when it never was ready
 *
 * Readiness is read from the output files in the state folder: while jobs start, a few times a
 * second; only of those that squeue says are running. squeue is asked seldom once all are there:
 * its server has other users. */
#include "cluster/launch/launch_state.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "cluster/launch/shell.h"

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
    TAIL = 2048,       /* of an output file, for messages */
    TICK = 250,        /* milliseconds */
};
static const double ask_first = 0.5, ask_starting = 2, ask_ready = 10; /* squeue, seconds between */
static const double last_wait = 60; /* seconds from scancel until a job that stays is given up */

/* What starts and ends together: a job, an element of a job array, a step. */
struct piece {
    char id[64];        /* as squeue says it; steps: "" */
    char *path;         /* its output */
    off_t offset;       /* read so far */
    struct strbuf line; /* that has not ended yet */
    struct strbuf tail;
    uint32_t first, count, ready; /* agents; the k-th ready line is the k-th agent's */
    uint32_t slot;                /* steps: first node of the allocation */
    struct subprocess *step;
    unsigned missed; /* squeue's answers in a row that did not list it */
    bool running, cancelled, over;
    struct launch *launch;
};

/* An sbatch under way. */
struct asking {
    struct launch *launch;
    struct subprocess *starter;
    uint32_t first, count;
    char id[24];
};

struct slurm {
    ARRAY(struct piece *) pieces;
    ARRAY(struct asking *) askings;
    uint32_t nodes; /* of the allocation we are in; 0: not in one */
    bool *used;     /* which of them */
    uint32_t steps;
    char *script, *key_path, *store_path;
    bool has_key, has_store_path;
    struct subprocess *squeue, *scancel;
    struct strbuf listed; /* ids that squeue's answer has had so far, each between blanks */
    char waiting[128];
    uv_timer_t timer;
    double ask_at, ask_every;
    double deadline, gave_up_at; /* of the end; 0: it has not begun */
    unsigned refusals;           /* of squeue in a row */
};

static struct launch_agent *slurm_agent(struct launch *l, uint32_t number)
{
    return l->agents.at[number];
}

/* ---- the key ---- */

static bool slurm_any_starting(const struct launch *l)
{
    for (size_t i = 0; i < l->agents.n; i++)
        if (l->agents.at[i]->state == LAUNCH_STARTING)
            return true;
    return false;
}

static void slurm_forget_key(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s->has_key)
        return;
    unlink(s->key_path);
    s->has_key = false;
}

/* ---- ends ---- */

static void slurm_piece_over(struct launch *l, struct piece *p, int status)
{
    if (p->over)
        return;
    p->over = true;
    if (l->slurm->nodes)
        for (uint32_t i = 0; i < p->count; i++)
            l->slurm->used[p->slot + i] = false;
    while (p->tail.n && strchr(" \t\r\n", p->tail.at[p->tail.n - 1]))
        p->tail.at[--p->tail.n] = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        struct launch_agent *a = slurm_agent(l, p->first + i);
        if (a->state == LAUNCH_READY) {
            launch_over(l, a);
        } else if (a->state == LAUNCH_STARTING && l->done) {
            a->state = LAUNCH_ENDED; /* we did not want it any more */
        } else if (a->state == LAUNCH_STARTING) {
            struct strbuf why = {0};
            strbuf_printf(&why, "%s: ended before its agent was ready", a->name);
            if (p->tail.n)
                strbuf_printf(&why, ": %s", strbuf_text(&p->tail));
            strbuf_printf(&why, "; %s",
                          launch_remedy(strbuf_text(&p->tail), status,
                                        p->id[0] ? "see its output in the state folder, and "
                                                   "`scontrol show job`"
                                                 : "see its output in the state folder"));
            launch_fail(l, a, strbuf_text(&why));
            strbuf_free(&why);
        }
    }
}

static void slurm_take_line(struct launch *l, struct piece *p, const char *line)
{
    if (p->ready < p->count && launch_take_line(l, slurm_agent(l, p->first + p->ready), line))
        p->ready++;
    struct slurm *s = l->slurm;
    if (!l->config.store && l->store[0] && !s->has_store_path) {
        s->has_store_path = launch_write_private(s->store_path, l->store, 0600);
        if (!s->has_store_path)
            launch_log(l, "%s: cannot be written: %s", s->store_path, strerror(errno));
    }
}

static void slurm_read_output(struct launch *l, struct piece *p)
{
    int fd = open(p->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* not there yet */
    char chunk[8192];
    ssize_t n;
    while ((n = pread(fd, chunk, sizeof chunk, p->offset)) > 0) {
        p->offset += n;
        for (ssize_t i = 0; i < n; i++) {
            if (!chunk[i])
                continue;
            strbuf_add_char(&p->tail, chunk[i]);
            if (chunk[i] != '\n') {
                strbuf_add_char(&p->line, chunk[i]);
                continue;
            }
            if (p->line.n)
                slurm_take_line(l, p, strbuf_text(&p->line));
            strbuf_clear(&p->line);
        }
        if (p->tail.n > TAIL) {
            size_t cut = p->tail.n - TAIL;
            memmove(p->tail.at, p->tail.at + cut, TAIL + 1);
            p->tail.n = TAIL;
        }
    }
    close(fd);
}

/* ---- asking for nodes ---- */

static struct piece *slurm_piece_add(struct launch *l, uint32_t first, uint32_t count)
{
    struct piece *p = mem_new_zero(struct piece, 1);
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

static void slurm_ask_soon(struct slurm *s)
{
    s->ask_every = ask_first;
    s->ask_at = clock_seconds() + ask_first;
}

/* "12" or "12;cluster" */
static void slurm_job_number(void *context, const char *line)
{
    struct asking *q = context;
    size_t n = strspn(line, "0123456789");
    if (n > 0 && n < 20)
        snprintf(q->id, sizeof q->id, "%.*s", (int)n, line);
}

static void slurm_sbatch_ended(void *context, int status, const char *said)
{
    struct asking *q = context;
    struct launch *l = q->launch;
    struct slurm *s = l->slurm;
    for (size_t i = 0; i < s->askings.n; i++)
        if (s->askings.at[i] == q)
            s->askings.at[i--] = s->askings.at[--s->askings.n];
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
            launch_fail(l, slurm_agent(l, q->first + i), strbuf_text(&why));
        strbuf_free(&why);
    } else {
        uint32_t pieces = l->config.together ? 1 : q->count;
        for (uint32_t i = 0; i < pieces; i++) {
            struct piece *p = slurm_piece_add(l, q->first + i, l->config.together ? q->count : 1);
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
    char text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    launch_argument(words, text);
}

/* One agent a node, with all the processors of the step; the end of one leaves the others alone. */
static const char *const step_options[] = {"--ntasks-per-node=1", "--cpu-bind=none",
                                           "--kill-on-bad-exit=0", "--wait=0", "--unbuffered"};

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
    launch_argument(words, l->config.store ? l->config.store : "");
    launch_common_arguments(l, words);
}

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
    struct asking *q = mem_new_zero(struct asking, 1);
    q->launch = l;
    q->first = first;
    q->count = count;
    array_push(&s->askings, q);
    q->starter = subprocess_start(&(struct subprocess_config){
        .loop = l->config.loop,
        .arguments = (const char *const *)words.at,
        .limit = 120,
        .line = slurm_job_number,
        .ended = slurm_sbatch_ended,
        .context = q,
    });
    launch_arguments_free(&words);
}

static void slurm_step_ended(void *context, int status, const char *said)
{
    (void)said; /* it went to the output */
    struct piece *p = context;
    p->step = NULL;
    slurm_read_output(p->launch, p);
    if (!p->tail.n)
        strbuf_add(&p->tail, said);
    slurm_piece_over(p->launch, p, status);
}

static void slurm_start_step(struct launch *l, uint32_t first, uint32_t count, uint32_t slot)
{
    struct slurm *s = l->slurm;
    struct piece *p = slurm_piece_add(l, first, count);
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

static uint32_t slurm_add_agents(struct launch *l, uint32_t count)
{
    uint32_t first = (uint32_t)l->agents.n;
    for (uint32_t i = 0; i < count; i++)
        launch_add_agent(l, "Slurm job")->state = LAUNCH_STARTING;
    return first;
}

void launch_slurm_want(struct launch *l, uint32_t agents)
{
    struct slurm *s = l->slurm;
    struct launch_counts c = launch_look(l);
    /* what failed counts as had: a job that cannot start is not asked for again and again */
    uint32_t had = c.starting + c.ready + c.failed, most = launch_slurm_most(l);
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

/* ---- watching ---- */

static void slurm_job_listed(void *context, const char *line)
{
    struct launch *l = context;
    struct slurm *s = l->slurm;
    size_t n = strcspn(line, "|");
    if (!line[n])
        return;
    const char *state = line + n + 1, *reason = strchr(state, '|');
    bool pending = strncmp(state, "PENDING", 7) == 0 || strncmp(state, "CONFIGURING", 11) == 0;
    strbuf_printf(&s->listed, " %.*s%c ", (int)n, line, pending ? '-' : '+');
    if (pending && reason && reason[1] && strcmp(reason + 1, "None") != 0)
        snprintf(s->waiting, sizeof s->waiting, "%s", reason + 1);
}

static bool slurm_is_listed(const struct slurm *s, const struct piece *p, char mark)
{
    char text[sizeof p->id + 4];
    snprintf(text, sizeof text, " %s%c ", p->id, mark);
    return strstr(strbuf_text(&s->listed), text);
}

static void slurm_squeue_ended(void *context, int status, const char *said)
{
    struct launch *l = context;
    struct slurm *s = l->slurm;
    s->squeue = NULL;
    bool starting = slurm_any_starting(l);
    s->ask_every = fmin(s->ask_every * 1.25, s->deadline > 0 ? ask_first
                                             : starting      ? ask_starting
                                                             : ask_ready);
    s->ask_at = clock_seconds() + s->ask_every;
    if (status != 0) { /* its server may come back: jobs go on without it */
        if (s->refusals++ == 0)
            launch_log(l, "squeue: %s; asking again", *said ? said : "failed");
        return;
    }
    s->refusals = 0;
    for (size_t i = 0; i < s->pieces.n; i++) {
        struct piece *p = s->pieces.at[i];
        if (p->over)
            continue;
        p->running = slurm_is_listed(s, p, '+');
        if (p->running || slurm_is_listed(s, p, '-')) {
            p->missed = 0;
        } else if (++p->missed >= 2) { /* its output may still be on the way over NFS */
            slurm_read_output(l, p);
            slurm_piece_over(l, p, 0);
        }
    }
    if (!slurm_any_starting(l))
        slurm_forget_key(l);
}

static void slurm_ask_squeue(struct launch *l)
{
    struct slurm *s = l->slurm;
    bool any = false;
    for (size_t i = 0; i < s->pieces.n && !any; i++)
        any = !s->pieces.at[i]->over && !s->pieces.at[i]->step && s->pieces.at[i]->id[0];
    if (!any || s->squeue || clock_seconds() < s->ask_at)
        return;
    strbuf_clear(&s->listed);
    s->waiting[0] = 0;
    char name[48];
    snprintf(name, sizeof name, "--name=%s", l->name);
    const char *arguments[] = {"squeue", "--noheader", "--array", name, "--format=%i|%T|%r", NULL};
    s->squeue = subprocess_start(&(struct subprocess_config){
        .loop = l->config.loop,
        .arguments = arguments,
        .limit = 60,
        .line = slurm_job_listed,
        .ended = slurm_squeue_ended,
        .context = l,
    });
}

static void slurm_scancel_ended(void *context, int status, const char *said)
{
    struct launch *l = context;
    l->slurm->scancel = NULL;
    if (status != 0)
        launch_log(l, "scancel: %s", *said ? said : "failed");
}

/* Cancel what is there; without `all`, only what has not started an agent. */
static void slurm_cancel(struct launch *l, bool all)
{
    struct slurm *s = l->slurm;
    if (s->scancel)
        return;
    launch_words words = {0};
    launch_argument(&words, "scancel");
    for (size_t i = 0; i < s->pieces.n; i++) {
        struct piece *p = s->pieces.at[i];
        if (p->over || p->cancelled || (!all && p->ready > 0))
            continue;
        p->cancelled = true;
        if (p->step)
            subprocess_signal(p->step, SIGTERM);
        else
            launch_argument(&words, p->id);
    }
    launch_arguments_end(&words);
    if (words.n > 2)
        s->scancel = subprocess_start(&(struct subprocess_config){
            .loop = l->config.loop,
            .arguments = (const char *const *)words.at,
            .limit = 60,
            .ended = slurm_scancel_ended,
            .context = l,
        });
    launch_arguments_free(&words);
}

static void slurm_go_on_ending(struct launch *l)
{
    struct slurm *s = l->slurm;
    double now = clock_seconds();
    struct strbuf left = {0};
    for (size_t i = 0; i < s->pieces.n; i++)
        if (!s->pieces.at[i]->over)
            strbuf_printf(&left, " %s", s->pieces.at[i]->id);
    if (s->askings.n == 0 && left.n == 0 && !s->scancel) {
        slurm_forget_key(l);
        launch_finish(l, "");
    } else {
        slurm_cancel(l, now >= s->deadline);
        if (now >= s->deadline && s->gave_up_at == 0)
            s->gave_up_at = now + last_wait;
        if (s->gave_up_at > 0 && now >= s->gave_up_at) {
            struct strbuf why = {0};
            strbuf_printf(&why, "Slurm still lists what was cancelled; try by hand: scancel%s",
                          strbuf_text(&left));
            slurm_forget_key(l);
            for (size_t i = 0; i < s->pieces.n; i++)
                if (s->pieces.at[i]->step)
                    subprocess_signal(s->pieces.at[i]->step, SIGKILL);
            launch_finish(l, s->nodes ? "" : strbuf_text(&why));
            strbuf_free(&why);
        }
    }
    strbuf_free(&left);
}

static void slurm_tick(uv_timer_t *timer)
{
    struct launch *l = timer->data;
    struct slurm *s = l->slurm;
    for (size_t i = 0; i < s->pieces.n && !l->freed; i++) {
        struct piece *p = s->pieces.at[i];
        if (p->running && !p->over && p->ready < p->count)
            slurm_read_output(l, p);
    }
    if (l->freed)
        return;
    slurm_ask_squeue(l);
    if (s->deadline > 0)
        slurm_go_on_ending(l);
}

/* ---- from the beginning to the end ---- */

static char *slurm_path_in(const struct launch *l, const char *name)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", l->state, name);
    return strbuf_steal(&path);
}

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
    s->store_path = slurm_path_in(l, "store-address");
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

void launch_slurm_end(struct launch *l, double grace)
{
    l->slurm->deadline = clock_seconds() + (grace > 0 ? grace : 0);
    slurm_ask_soon(l->slurm);
    slurm_go_on_ending(l);
}

void launch_slurm_close(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s)
        return;
    for (size_t i = 0; i < s->pieces.n; i++)
        subprocess_abandon(s->pieces.at[i]->step);
    for (size_t i = 0; i < s->askings.n; i++)
        subprocess_abandon(s->askings.at[i]->starter);
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
    for (size_t i = 0; i < s->askings.n; i++)
        free(s->askings.at[i]);
    array_free(&s->askings);
    strbuf_free(&s->listed);
    free(s->used);
    free(s->script);
    free(s->key_path);
    free(s->store_path);
    free(s);
}
