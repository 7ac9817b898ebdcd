/* What becomes of Slurm's jobs: their output files say when agents are ready, squeue when a job is
 * over, scancel ends it.
 *
 * Readiness is read from the output files in the state folder: while jobs start, a few times a
 * second; only of those that squeue says are running. squeue is asked seldom once all are there:
 * its server has other users.
 *
 * Invariants:
 *   I1. A piece is `over` once, for all of its agents; each of them is then ended or failed.
 *   I2. A job counts as ended after two answers of squeue in a row that did not list it: its last
 *       output may still be on its way over NFS after the first.
 *   I3. One squeue and one scancel at a time. */
#include "cluster/launch/slurm_state.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TAIL = 2048 }; /* of an output file, for messages */
/* Seconds between two questions to squeue: about a new job, while some start, when all are
 * there. The pause grows by a quarter each time, up to these. */
static const double ask_first = 0.5, ask_starting = 2, ask_ready = 10;
static const double last_wait = 60; /* seconds from scancel until a job that stays is given up */

/* ---- the key ---- */

/* While one is, its job may still read the key. */
static bool slurm_any_starting(const struct launch *l)
{
    for (size_t i = 0; i < l->agents.n; i++)
        if (l->agents.at[i]->state == LAUNCH_STARTING)
            return true;
    return false;
}

/* I2 of launch_slurm.c. */
static void slurm_forget_key(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s->has_key)
        return;
    unlink(s->key_path);
    s->has_key = false;
}

/* ---- pieces ---- */

/* Slurm, or somebody with scancel, has ended the job: that says nothing about the next one. It writes so
 * into the output of a job that ran; one that waited has none. */
static bool slurm_was_taken(const struct slurm_piece *p)
{
    return p->id[0] &&
           (p->tail.n ? strstr(strbuf_text(&p->tail), " CANCELLED AT ") != NULL : !p->ran);
}

/* Its last words are the reason when an agent never was ready; after launch_end() nobody wants to
 * hear it. */
void slurm_piece_over(struct launch *l, struct slurm_piece *p, int status)
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
            launch_agent_ended(l, a);
        } else if (a->state == LAUNCH_STARTING && l->done) {
            a->state = LAUNCH_ENDED; /* we did not want it any more */
        } else if (a->state == LAUNCH_STARTING && slurm_was_taken(p)) {
            launch_log(l, "%s was cancelled before its agent was ready", a->name);
            launch_agent_ended(l, a);
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
            launch_agent_failed(l, a, strbuf_text(&why));
            strbuf_free(&why);
        }
    }
}

/* The k-th ready line is the k-th agent's: which of a job's nodes says it first does not matter. */
static void slurm_take_line(struct launch *l, struct slurm_piece *p, const char *line)
{
    if (p->ready < p->count && launch_take_line(l, slurm_agent(l, p->first + p->ready), line))
        p->ready++;
}

/* Only what is new, by offset; lines may come in pieces. The end of it is kept for messages. */
void slurm_read_output(struct launch *l, struct slurm_piece *p)
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

/* ---- squeue ---- */

void slurm_ask_soon(struct slurm *s)
{
    s->ask_every = ask_first;
    s->ask_at = clock_seconds() + ask_first;
}

/* "12_3|PENDING|Resources": id, state, reason. What is pending is marked -, what runs +. */
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

/* Each id stands between blanks, so that 1_1 is not found in 1_12. */
static bool slurm_is_listed(const struct slurm *s, const struct slurm_piece *p, char mark)
{
    char text[sizeof p->id + 4];
    snprintf(text, sizeof text, " %s%c ", p->id, mark);
    return strstr(strbuf_text(&s->listed), text);
}

/* An answer that failed says nothing about jobs: the controller may be restarting. */
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
        struct slurm_piece *p = s->pieces.at[i];
        if (p->over)
            continue;
        p->running = slurm_is_listed(s, p, '+');
        p->ran |= p->running;
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

/* By the launch's name: one question for all of its jobs. */
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

/* What it could not cancel stays listed; slurm_go_on_ending() hands it to the user in the end. */
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
        struct slurm_piece *p = s->pieces.at[i];
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

/* Called by every tick once the end has begun: jobs that never started are cancelled at once, the
 * others after the grace; what Slurm still lists a minute later is left to the user, with the
 * command that ends it. */
void slurm_go_on_ending(struct launch *l)
{
    struct slurm *s = l->slurm;
    double now = clock_seconds();
    struct strbuf left = {0};
    for (size_t i = 0; i < s->pieces.n; i++)
        if (!s->pieces.at[i]->over)
            strbuf_printf(&left, " %s", s->pieces.at[i]->id);
    if (s->requests.n == 0 && left.n == 0 && !s->scancel) {
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

/* A callback may free the launch: it is looked at before each use. */
void slurm_tick(uv_timer_t *timer)
{
    struct launch *l = timer->data;
    struct slurm *s = l->slurm;
    for (size_t i = 0; i < s->pieces.n && !l->freed; i++) {
        struct slurm_piece *p = s->pieces.at[i];
        if (p->running && !p->over && p->ready < p->count)
            slurm_read_output(l, p);
    }
    if (l->freed)
        return;
    slurm_ask_squeue(l);
    if (s->deadline > 0)
        slurm_go_on_ending(l);
}
