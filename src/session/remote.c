/* A run on agents: connect, hand in, follow, leave.
 *
 * I1. stop_client and stop_fleet name what a stop reaches. They are set after the thing is open and
 *     cleared before it is closed, so that a signal handler never calls into what is gone.
 * I2. A note stands in the workspace from the moment before a run is opened on the cluster until its
 *     results were taken: whoever is killed in between leaves the way back to it. One of a run that was
 *     not opened after all is cleared by the next (remote_alone_here()).
 * I3. The client outlives the follow, the fleet's loop outlives the client (which runs on it). */
#include "session/growing.h"
#include "session/remote.h"

#include "base/mem.h"
#include "base/tree.h"
#include "base/plural.h"
#include "cluster/launch/launch.h"
#include "exec/sandbox.h"
#include "formats/open_end.h"
#include "model/future.h"
#include "report/human.h"
#include "session/agents.h"
#include "session/following.h"
#include "session/key_file.h"
#include "session/note.h"
#include "session/surroundings.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

/* `group` stays a part of the options' text. */
static bool remote_work_options(const struct remote_options *o, struct client_work *work,
                                struct error *err)
{
    if (!o->submit || strcmp(o->submit, "best") == 0) {
        work->share = SHARE_BEST;
    } else if (strcmp(o->submit, "worst") == 0) {
        work->share = SHARE_WORST;
    } else if (strncmp(o->submit, "group:", 6) == 0 && o->submit[6]) {
        work->group = o->submit + 6;
    } else {
        return error_set(err, ERROR_INPUT,
                         "--submit is '%.100s'; expected best, worst or group:HOST,HOST...",
                         o->submit);
    }
    struct sched_policy_choice choice;
    if (!sched_policy_choose(o->policy, &choice))
        return error_set(err, ERROR_INPUT,
                         "--policy is '%.100s'; expected " SCHED_POLICY_NAMES "or auto", o->policy);
    work->policy = choice.policy;
    work->adapt = choice.adapt;
    work->shared = o->shared;
    work->priority_of_run = o->priority;
    if (!(fabs(o->priority) <= SHARE_PRIORITY_MOST))
        return error_set(err, ERROR_INPUT, "the run's priority is %g; expected -%d to %d",
                         o->priority, SHARE_PRIORITY_MOST, SHARE_PRIORITY_MOST);
    return true;
}

bool remote_check(const struct remote_options *o, struct error *err)
{
    struct client_work work = {0};
    if (o->on && strcmp(o->on, "cluster") != 0 && !launch_is_target(o->on))
        return error_set(err, ERROR_INPUT,
                         "--on is '%.100s'; expected local:N, ssh:HOST,HOST..., slurm or cluster",
                         o->on);
    return remote_work_options(o, &work, err);
}

/* ---- opening ---- */

/* It was cancelled or has ended, and the agents that were started for it alone are gone with what it made: nobody
 * will ever end it, or bring anything. */
static bool remote_is_over(const struct client *c, const struct board_run *run,
                           const struct note *note)
{
    double memory;
    return note->target && run->state >= BOARD_RUN_CANCELLED && !place_cores(c, &memory);
}

/* A run that was left going on in this folder: two at once would write the same files. One whose
 * cluster is gone has left nothing but the note. */
static bool remote_alone_here(const struct session *s, struct error *err)
{
    const char *state = s->ws.state, *folder = s->ws.folder;
    size_t n;
    bool good = true;
    uint64_t *runs = notes_list(state, &n);
    for (size_t i = 0; i < n && good; i++) {
        struct note note;
        struct cluster_place place = {0};
        struct client *client = NULL;
        bool there = note_read(state, runs[i], &note) && key_file_get(note.key, &place.key, NULL) &&
                     place_address(note.store, &place.key, &place.address, NULL) &&
                     (client = place_client(&place, NULL, &s->o.remarks, NULL));
        const struct board_run *run = there ? client_run(client, runs[i]) : NULL;
        if (run && !run->forged && !note_is_of(&note, run->id))
            run = NULL; /* another's: the store has lost its data since, and counts anew */
        bool over = run && !run->forged && remote_is_over(client, run, &note);
        if (over)
            agents_clear_others(state);
        /* whoever cannot be asked has gone, and its run with it */
        if (run && !over && (run->forged || run->state != BOARD_RUN_COLLECTED))
            good = error_set(err, ERROR_FAILED,
                             "run %" PRIu64 " of this folder goes on at %s; `weft attach %" PRIu64
                             " -C %s` follows it, `weft cancel %" PRIu64 " -C %s` ends it",
                             runs[i], note.store, runs[i], folder, runs[i], folder);
        else
            note_remove(state, runs[i]);
        client_close(client);
        place_free(&place);
        note_free(&note);
    }
    free(runs);
    return good;
}

static void remote_begin(struct remote *r, struct session *s, const struct remote_options *o)
{
    int stops = atomic_load(&r->early_stops); /* a signal may have come before us */
    *r = (struct remote){.session = s, .o = *o, .interrupt = CLIENT_INTERRUPT_STOPS};
    atomic_fetch_add(&r->early_stops, stops);
}

void remote_reachable(struct remote *r, struct client *c, struct fleet *f)
{
    atomic_store(&r->stop_client, c);
    atomic_store(&r->stop_fleet, f);
    for (int n = c || f ? atomic_exchange(&r->early_stops, 0) : 0; n > 0; n--)
        remote_stop(r);
}

static bool remote_open_client(struct remote *r, struct error *err)
{
    struct uv_loop_s *loop = r->fleet ? fleet_loop(r->fleet) : NULL;
    r->client = place_client(&r->place, loop, &r->session->o.remarks, err);
    remote_reachable(r, r->client, NULL);
    return r->client != NULL;
}

/* For the note: which file has the key. "-" has none that could be read again. */
static void remote_name_key(struct remote *r)
{
    const char *key = r->o.place.key;
    if (!key)
        r->key_file = key_file_standard();
    else if (strcmp(key, "-") != 0)
        r->key_file = mem_copy_string(key);
}

/* For submitting: agents that are not there yet may come later, so none are counted. */
bool remote_connect(struct remote *r, struct session *s, const struct remote_options *o,
                    struct error *err)
{
    remote_begin(r, s, o);
    if (!place_find(&r->place, &o->place, 0, err) || !remote_open_client(r, err) ||
        !client_check_store(r->client, err))
        return false;
    remote_name_key(r);
    return true;
}

/* Once it is known how long tasks take: is there an agent that stays as long? Those of an elastic fleet are
 * replaced by others alike, so the whole of their time counts, not what is left. */
static bool remote_lasts(const struct remote *r, uint32_t from, struct error *err)
{
    const struct session *s = r->session;
    double longest = 0;
    uint32_t first = NONE, count = 0;
    size_t n;
    const struct member *m = client_members(r->client, &n);
    for (size_t i = 0; i < n; i++)
        if (client_is_alive(r->client, &m[i]) && m[i].state == BOARD_UP)
            longest = fmax(longest, m[i].lasts > 0 ? m[i].lasts : INFINITY);
    for (uint32_t t = from; s->seconds && longest > 0 && t < s->w->ntasks; t++) {
        if (!(s->seconds[t] > longest) || s->needs.task[t] == NEED_NOT || !s->w->command[t])
            continue;
        first = count++ && s->seconds[first] >= s->seconds[t] ? first : t;
    }
    if (!count || r->o.later)
        return true;
    char takes[HUMAN_SIZE], stay[HUMAN_SIZE], more[64] = "";
    if (count > 1)
        snprintf(more, sizeof more, " (%u tasks take longer)", count);
    human_seconds(takes, s->seconds[first]);
    human_seconds(stay, longest);
    return error_set(
        err, ERROR_INFEASIBLE,
        "task '%s' takes about %s; the agents' nodes are taken back after %s%s: ask for "
        "longer (Slurm: WEFT_SBATCH=--time=%.0f, in minutes)%s",
        workflow_task_name(s->w, first), takes, stay, more, ceil(s->seconds[first] * 1.2 / 60) + 1,
        r->fleet ? "" : ", or say --later to wait for other agents");
}

/* Before anything is recorded or handed in: is there, for each task to run, an agent that has what it
 * asks for? All that live count: whoever has room for a task may steal it. Of what joins, tasks `from`
 * and on are asked about: growing costs what joins. */
static bool remote_fits(const struct remote *r, uint32_t from, struct error *err)
{
    static const struct capacity_words own = {.where = "the agents",
                                              .before = "run with",
                                              .after = " (of each agent)",
                                              .nodes = "name more in --on"},
                                       others = {.where = "the agents",
                                                 .before = "start an agent with",
                                                 .after = " (--later waits for one)",
                                                 .nodes =
                                                     "start more agents (--later waits for them)"};
    const struct session *s = r->session;
    ARRAY(struct capacity) there = {0};
    size_t n;
    const struct member *m = client_members(r->client, &n);
    for (size_t i = 0; i < n && !r->o.later; i++)
        if (client_is_alive(r->client, &m[i]) && m[i].state != BOARD_LEAVING)
            array_push(&there, member_capacity(&m[i], s->w));
    /* of an elastic fleet more are to come, each like the first */
    while (r->fleet && fleet_is_elastic(r->fleet) && there.n && there.n < r->elastic.most)
        array_push(&there, there.at[0]);
    struct capacity_misfits misfits = {0};
    if (there.n) /* with none at all, that is what is said */
        misfits = capacity_find_misfits(s->w, from, s->needs.task, there.at, there.n);
    bool good = !misfits.count ||
                capacity_refuse(s->w, &misfits, there.at, there.n, r->fleet ? &own : &others, err);
    array_free(&there);
    return good && remote_lasts(r, from, err);
}

/* A run to be followed needs somebody who runs it now: without an agent it is an error. */
bool remote_open(struct remote *r, struct session *s, const struct remote_options *o,
                 struct error *err)
{
    bool own = o->on && strcmp(o->on, "cluster") != 0;
    remote_begin(r, s, o);
    if (!remote_alone_here(s, err))
        return false;
    if (own) {
        if (!agents_start(r, err))
            return false;
        r->target = mem_copy_string(o->on);
    } else if (!place_find(&r->place, &o->place, 0, err)) {
        return false;
    }
    if (!remote_open_client(r, err) || !client_check_store(r->client, err))
        return false;
    if (own) /* ready means started: on the board each stands a moment later */
        agents_wait_joined(r);
    double memory;
    uint32_t cores = place_cores(r->client, &memory);
    while (!cores && own && agents_start_again(r))
        cores = place_cores(r->client, &memory);
    if (!cores)
        return error_set(err, ERROR_FAILED,
                         "no agent is up at %s; `weft agent --store %s` on each machine starts one",
                         r->place.address.text, r->place.address.text);
    if (!remote_fits(r, 0, err))
        return false;
    s->cores = cores;
    s->memory = memory;
    if (!own)
        remote_name_key(r);
    session_execute_by(s, &remote_executor, r);
    return true;
}

/* The same server and prefix? What the command line added about TLS does not make another of it. */
static bool remote_is_same_store(const char *a, const char *b)
{
    static const char more[] = "insecure=1";
    size_t m = strlen(a), n = strlen(b), tail = sizeof more - 1;
    if (m > tail && strcmp(a + m - tail, more) == 0)
        m -= tail + 1;
    if (n > tail && strcmp(b + n - tail, more) == 0)
        n -= tail + 1;
    return m == n && memcmp(a, b, n) == 0;
}

/* Where the results belong: as told, else the folder from which it came, if that has a note of the
 * run. The name alone would not do: whoever submits could name any folder of ours. */
static const char *remote_results_folder(const struct remote *r, const char *given,
                                         struct error *err)
{
    const struct ticket *t = &r->ticket;
    char here[PATH_MAX], there[PATH_MAX];
    if (given && (!t->shared || (realpath(given, here) && realpath(t->folder, there) &&
                                 strcmp(here, there) == 0)))
        return given;
    if (given) {
        error_set(err, ERROR_INPUT,
                  "the agents of run %" PRIu64 " worked in %s, as it is on %s: its results are "
                  "there, and none come to %s; leave -C out",
                  r->run, t->folder, t->host, given);
        return NULL;
    }
    struct strbuf state = {0};
    struct note note = {0};
    strbuf_printf(&state, "%s/.weft", t->folder);
    bool noted = note_read(state.at, r->run, &note) && note_is_of(&note, t->id) &&
                 remote_is_same_store(note.store, r->place.address.text);
    strbuf_free(&state);
    note_free(&note);
    if (noted)
        return t->folder;
    error_set(
        err, ERROR_INPUT,
        "the run was submitted on %s from %s, and no note of it stands there on this machine; "
        "-C DIR says where its results go",
        t->host, t->folder);
    return NULL;
}

/* The ticket on the board has all that is needed: workflow, name, what was done before. */
bool remote_attach(struct remote *r, struct session *s, const struct remote_options *o,
                   const struct session_options *s_options, uint64_t run, struct error *err)
{
    remote_begin(r, s, o);
    r->run = run;
    r->late = true;
    r->interrupt = CLIENT_INTERRUPT_DETACHES;
    s->o.remarks = s_options->remarks; /* the client speaks before the session is open */
    /* the folder and the name come from the ticket, where the caller did not say */
    struct session_options so = *s_options;
    struct workflow *w;
    if (!place_find(&r->place, &o->place, run, err) || !remote_open_client(r, err) ||
        !client_ticket(r->client, run, &r->ticket, err) ||
        !place_is_of(&r->place, run, r->ticket.id, err) ||
        !(so.folder = remote_results_folder(r, so.folder, err)) ||
        !(w = place_read_workflow(r->ticket.workflow.at, r->ticket.workflow.n, err)))
        return false;
    so.flow = r->ticket.name;
    if (!client_grow(r->client, run, r->ticket.id, w, &r->parts, err)) {
        workflow_free(w);
        return false;
    }
    if (!session_join(s, &so, w, r->ticket.done.at, r->ticket.done.n, err))
        return false;
    s->needs.environment =
        &r->ticket.environment; /* keys of what is done are those of its agents */
    struct note note = {0};
    bool there = note_read(s->ws.state, run, &note) && note_is_of(&note, r->ticket.id);
    if (there && r->place.noted && note.target)
        r->target = mem_copy_string(note.target); /* its agents were started for it alone */
    s->record.run = there ? note.record : 0; /* of who followed it before: recording_fill_head() */
    s->record.started = note.began;
    if (there && (r->place.noted || remote_is_same_store(note.store, r->place.address.text)))
        s->o.overwrite |= note.overwrite; /* as it was submitted */
    note_free(&note);
    double memory;
    uint32_t cores = place_cores(r->client, &memory);
    s->cores = cores ? cores : 1;
    session_execute_by(s, &remote_executor, r);
    return true;
}

/* ---- handing in ---- */

/* I2. A note that cannot be written does not stop the run: only the way back is longer. */
static void remote_leave_note(void *remote, uint64_t run, const uint8_t *id)
{
    const struct remote *r = remote;
    struct note note = {.run = run,
                        .store = (char *)r->place.address.text,
                        .key = r->key_file,
                        .target = r->target,
                        .record = r->session->record.run,
                        .began = r->session->record.started,
                        .overwrite = r->session->o.overwrite};
    struct error err = {0};
    memcpy(note.id, id, sizeof note.id);
    if (!note_write(r->session->ws.state, &note, &r->place.key, &err))
        remark(&r->session->o.remarks, REMARK_WARNING, "%s", err.text);
}

/* Again when Slurm has taken all agents meanwhile. Not by a plan: that is of those who were there. */
static bool remote_hand_in(struct remote *r, const struct client_work *work, struct error *err)
{
    struct error why = {0};
    bool good = client_submit(r->client, work, &r->submitted, &why);
    while (!good && !work->home && agents_start_again(r)) {
        error_clear(&why);
        good = client_submit(r->client, work, &r->submitted, &why);
    }
    if (!good)
        error_set(err, why.kind, "%s", why.text);
    return good;
}

/* client_submit() shares the tasks out, hands the inputs over and opens the run. With `watch` agents
 * report to us from the first moment, so that following misses nothing. */
bool remote_submit(struct remote *r, struct error *err)
{
    struct session *s = r->session;
    bool local = r->o.on && strncmp(r->o.on, "local:", 6) == 0;
    if (!following_begin_on(s, r->client, local, err))
        return false;
    double *expected = s->seconds ? run_forecast_guesses(s->seconds, s->w->ntasks) : NULL;
    struct client_work work = {.workflow = s->w,
                               .text = &s->text,
                               .needs = &s->needs,
                               .environment = &s->environment,
                               .folder = s->ws.folder,
                               .state = s->ws.state,
                               .name = s->name,
                               .keep_going = s->o.keep_going,
                               .no_sandbox = s->o.no_sandbox,
                               .overwrite = s->o.overwrite,
                               .unlimited = s->o.unlimited,
                               .retry_first = s->retry_first,
                               .priority = s->priority,
                               .seconds = expected,
                               .home = following_homes(s),
                               .watch = s->executor != NULL,
                               .adds = r->o.adds,
                               .opening = remote_leave_note,
                               .context = r};
    bool good = remote_work_options(&r->o, &work, err) && remote_fits(r, 0, err) &&
                remote_hand_in(r, &work, err);
    free(expected);
    if (!good)
        return false;
    r->run = r->submitted.run;
    if (!s->executor && !r->submitted.shared && workflow_is_open(s->w))
        remark(&s->o.remarks, REMARK_INFO,
               "the workflow grows while it runs: files of this folder that only later tasks read "
               "come from whoever attaches, and are waited for (`weft status %" PRIu64
               "` names them)",
               r->run);
    return true;
}

static void remote_say_submitted(const struct remote *r)
{
    const struct client_submitted *in = &r->submitted;
    const struct remarks *to = &r->session->o.remarks;
    const char *s = plural(in->agents);
    char size[HUMAN_SIZE];
    if (in->shared || !in->files)
        remark(to, REMARK_INFO, "run %" PRIu64 " on %u agent%s%s", in->run, in->agents, s,
               !in->shared       ? ""
               : in->agents == 1 ? ", which works in this folder"
                                 : ", which work in this folder");
    else
        remark(to, REMARK_INFO,
               "run %" PRIu64 " on %u agent%s; %u file%s handed over (%s in %u cop%s)", in->run,
               in->agents, s, in->files, plural(in->files), human_bytes(size, in->bytes),
               in->copies, in->copies == 1 ? "y" : "ies");
}

/* ---- the executor ---- */

static void remote_client_says(void *context, const char *line)
{
    remark(context, REMARK_NOTE, "%s", line);
}

/* What no agent has room for ends a run that we began, as it would have been refused at its beginning. */
static bool remote_grow(void *remote, const void *part, size_t n, struct error *err)
{
    struct remote *r = remote;
    uint32_t first = r->session->w->ntasks;
    return growing_take_part(r->session, part, n, err) && (r->late || remote_fits(r, first, err));
}

/* Without a plan, or with one that places nothing, whoever lives goes on. */
static bool remote_agents_gone(void *remote, struct error *err)
{
    struct remote *r = remote;
    return !r->follow || following_gone(r->session, r->client, r->follow, err);
}

static void remote_on_load(void *remote, const struct client_load *load)
{
    struct remote *r = remote;
    agents_on_load(r, load);
    if (r->follow && !load->ending)
        following_look_at_paces(r->session, r->client, r->follow);
}

/* Handing in waits for the network; what follows is stepped. */
static bool remote_exec_open(void *self, struct session *s, const struct run_options *o,
                             struct error *err)
{
    struct remote *r = self;
    client_listen(r->client, remote_client_says, &s->o.remarks);
    if (!r->late) {
        if (!remote_submit(r, err))
            return false;
        remote_say_submitted(r);
        if (!client_ticket(r->client, r->run, &r->ticket, err))
            return false;
    } else {
        note_set_record(s->ws.state, r->run, r->ticket.id, &s->record, &s->o.remarks);
    }
    r->follow = client_follow_open(
        r->client,
        &(struct client_following){.run = r->run,
                                   .ticket = &r->ticket,
                                   .workflow = s->w,
                                   .needs = &s->needs,
                                   .folder = s->ws.folder,
                                   .state = s->ws.state,
                                   .label = s->label,
                                   .late = r->late,
                                   .overwrite = s->o.overwrite,
                                   .interrupt = r->interrupt,
                                   .sinks = o->sinks,
                                   .nsinks = o->nsinks,
                                   .tick = o->tick,
                                   .context = o->context,
                                   .renewed = r->fleet && fleet_is_elastic(r->fleet),
                                   .orphaned = r->late && r->target,
                                   .parts = r->parts,
                                   .grow = s->w->future ? remote_grow : NULL,
                                   .grow_context = r,
                                   .adds = r->o.adds && r->ticket.adds,
                                   .gone = remote_agents_gone,
                                   .deserted = agents_are_alone(r) ? agents_deserted : NULL,
                                   .gone_context = r,
                                   .load = remote_on_load,
                                   .load_context = r},
        err);
    struct error late = {0}; /* it has just begun: nothing to refuse them for */
    for (size_t i = 0; i < r->added.n; i++) {
        if (r->follow)
            client_follow_add(r->follow, r->added.at[i].at, r->added.at[i].n, &late);
        strbuf_free(&r->added.at[i]);
    }
    array_free(&r->added);
    return r->follow != NULL;
}

/* What its tasks run in went with the ticket: nothing that is not there can be handed to them now. */
static bool remote_surrounds(const struct remote *r, const struct workflow *more, struct error *err)
{
    const struct session *s = r->session;
    struct run_environment asks = {0};
    struct surroundings_request around = {
        .workflow = more, .folder = s->ws.folder, .elsewhere = true};
    bool good = surroundings_find_values(&around, &asks, err);
    for (size_t i = 0; good && i < asks.at.n; i++) {
        const struct along *a = &asks.at.at[i];
        if (!run_environment_find(&r->ticket.environment, a->kind, a->name, strlen(a->name)))
            good = error_set(err, ERROR_INPUT,
                             "what is added asks for %s '%.100s', which did not go to the agents "
                             "with the run: name it in a task of the workflow that is opened",
                             a->kind == ALONG_SECRET ? "the secret" : "the variable", a->name);
    }
    run_environment_free(&asks);
    return good;
}

static bool remote_exec_add(void *self, const struct workflow *more, struct error *err)
{
    struct remote *r = self;
    struct strbuf part = {0};
    if (!r->o.adds || !r->ticket.adds)
        return error_set(err, ERROR_INPUT,
                         "tasks are added to a run on agents only if it was opened for that: set "
                         "`adds` in the options of weft_run_open(), and of weft_run_attach()");
    bool good = sandbox_check_names(more, err) && remote_surrounds(r, more, err) &&
                open_end_put_part(more, &part, err);
    if (good && r->follow)
        good = client_follow_add(r->follow, part.at, part.n, err);
    else if (good) {
        array_push(&r->added, part);
        return true;
    }
    strbuf_free(&part);
    return good;
}

static void remote_exec_cancel(void *self, uint32_t task)
{
    struct remote *r = self;
    if (r->follow)
        client_follow_cancel(r->follow, task);
}

static void remote_exec_show(void *self, uint32_t task)
{
    struct remote *r = self;
    if (r->follow)
        client_follow_show(r->follow, task);
}

static int remote_exec_fd(void *self)
{
    struct remote *r = self;
    return client_fd(r->client);
}

static bool remote_exec_step(void *self, double wait)
{
    struct remote *r = self;
    return client_follow_step(r->follow, wait);
}

static bool remote_exec_close(void *self, struct session *s, struct run_result *result,
                              struct error *err)
{
    struct remote *r = self;
    bool good = client_follow_close(r->follow, &r->followed, result, err);
    r->follow = NULL;
    s->detached = r->followed.detached;
    r->stopped = result->interrupted;
    /* an error of ours (a full disk) leaves the note: what is there can still be taken */
    if (!s->detached && !r->followed.missing && (good || err->kind == ERROR_FAILED))
        note_remove(s->ws.state, r->run);
    return good;
}

/* The client counts stops and acts on them in its next step; the fleet likewise. */
void remote_stop(struct remote *r)
{
    struct client *c = atomic_load(&r->stop_client);
    struct fleet *f = atomic_load(&r->stop_fleet);
    if (c)
        client_stop(c);
    if (f)
        fleet_stop(f);
    if (!c && !f)
        atomic_fetch_add(&r->early_stops, 1);
}

void remote_detach(struct remote *r)
{
    struct client *c = atomic_load(&r->stop_client);
    struct fleet *f = atomic_load(&r->stop_fleet);
    if (c)
        client_detach(c);
    else if (f) /* nothing goes on yet that could be left */
        fleet_stop(f);
}

static void remote_exec_stop(void *self)
{
    remote_stop(self);
}

const struct session_executor remote_executor = {
    .open = remote_exec_open,
    .fd = remote_exec_fd,
    .step = remote_exec_step,
    .stop = remote_exec_stop,
    .add = remote_exec_add,
    .cancel = remote_exec_cancel,
    .show = remote_exec_show,
    .close = remote_exec_close,
};

/* ---- leaving ---- */

void remote_explain_detached(const struct remote *r, struct strbuf *out)
{
    struct strbuf where = {0};
    if (r->target) /* its store and key are in the note that stands there */
        strbuf_printf(&where, " -C %s", r->session->ws.folder);
    strbuf_printf(out,
                  "run %" PRIu64 " goes on without this command; `weft attach %" PRIu64
                  "%s` follows it and brings the results, `weft cancel %" PRIu64 "%s` ends it",
                  r->run, r->run, strbuf_text(&where), r->run, strbuf_text(&where));
    strbuf_free(&where);
}

void remote_close(struct remote *r)
{
    bool detached = r->session && r->session->detached, others = false;
    /* Whoever started agents for one run ends them with it: we, or the one whose note we found. */
    if (r->fleet && !detached) {
        agents_release(r);
    } else if (r->late && r->target && !detached && !r->followed.missing && r->client &&
               r->session->state == SESSION_ENDED) { /* they were started for this run alone */
        client_shut_down(r->client, NULL, 0, true, AGENTS_OF_OTHERS_LEAVING);
        others = true;
    }
    remote_reachable(r, NULL, NULL); /* I1 */
    client_close(r->client);
    fleet_abandon(r->fleet); /* I3; NULL unless it goes on */
    if (r->fleet_state && !detached)
        agents_clear(r);
    if (others) {
        agents_clear_others(r->session->ws.state);
        note_await_agents_gone(r->session->ws.state);
    }
    ticket_free(&r->ticket);
    place_free(&r->place);
    free(r->fleet_state);
    place_forget(r->store);
    free(r->key_file);
    free(r->target);
    *r = (struct remote){0};
}
