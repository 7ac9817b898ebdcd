/* Following a run: what agents report goes to the listeners as if it happened here
 * (follow_events.c); what was missed (before we came, while a link was down) is read from the
 * store; final outputs are collected (collect.c). The phases are drawn in follow.h.
 *
 * Invariants:
 *   I1. A listener hears of every task's end once, whether an agent or the store told us.
 *   I2. A run is COLLECTED on the board only when every final output is here: until then agents
 *       keep their copies, and another attach may fetch them.
 *   I3. Everything happens in client_follow_step(), out of the client's ticker and sockets: no
 *       threads, no signal handlers.
 *   I4. Whoever follows may die at any moment: the run goes on, and nothing here is needed by the
 *       agents. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/follow.h"
#include "base/tree.h"
#include "base/plural.h"
#include "model/future.h"
#include "memo/standing.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double GAP = 3;     /* seconds that more tasks have ended than we were told */
static const double ENDING = 15; /* seconds for agents to end a run that was cancelled here */

static const double STORE_CLOSING = 5; /* seconds that deleting a run's keys may take */

/* Whoever opens a link is asked to report. An agent that has lost our link tells again what failed;
 * what it did meanwhile is read from the store. */
static void follow_peer_opened(void *context, struct client_peer *p)
{
    struct client_follow *f = context;
    struct strbuf *head = &f->c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, f->o.run);
    link_send(p->link, MESSAGE_WATCH, head->at, head->n, NULL, 0);
    follow_tell_lengths(f, p->link);
    follow_tell_places(f, p->link);
}

/* ---- what becomes of the run ---- */

/* Tasks that could start now, and those that only wait for some that run: for whoever brings more
 * agents. O(V + E), so once every few seconds. */
static void follow_look_ahead(const struct client_follow *f, struct client_load *load)
{
    const struct workflow *w = f->w;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (f->seen[t] >= FOLLOW_SEEN_FAILED)
            continue;
        uint32_t span = workflow_span(w, t);
        if (f->seen[t] == FOLLOW_SEEN_RUNNING) {
            load->running += span;
            load->widest = span > load->widest ? span : load->widest;
            continue;
        }
        enum follow_seen worst = FOLLOW_SEEN_DONE;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1] && worst != FOLLOW_SEEN_NOTHING;
             e++) {
            enum follow_seen parent = (enum follow_seen)f->seen[w->pred_task[e]];
            if (parent < FOLLOW_SEEN_DONE)
                worst = parent == FOLLOW_SEEN_RUNNING ? FOLLOW_SEEN_RUNNING : FOLLOW_SEEN_NOTHING;
        }
        load->ready += worst == FOLLOW_SEEN_DONE ? span : 0;
        load->soon += worst == FOLLOW_SEEN_RUNNING ? span : 0;
        if (worst != FOLLOW_SEEN_NOTHING && span > load->widest)
            load->widest = span;
    }
}

/* The board has it: now agents that are told to look see it, and do not take their second. */
static void follow_state_set(void *context, bool good, const char *why)
{
    struct client *c = context;
    (void)why; /* what the board refuses is asked for again */
    if (good)
        client_send_all(c, MESSAGE_RUN_CHANGED, c->changing);
}

void follow_set_state(struct client_follow *f, enum board_run_state state)
{
    struct board_change change = charter_change(&f->c->charter, f->o.run, f->o.ticket->id, state);
    change.parts = f->o.adds ? &f->parts : NULL;
    change.holds = f->o.adds;
    f->c->changing = f->o.run;
    board_run_state(f->c->board, &change, follow_state_set, f->c);
}

/* The store refuses what agents give it (its memory is full): said once, and again when it is something
 * else. */
static void follow_check_store(struct client_follow *f)
{
    const char *trouble = client_store_trouble(f->c);
    if (*trouble && strncmp(trouble, f->said_store, sizeof f->said_store - 1) != 0) {
        client_say(f->c, "%s", trouble);
        snprintf(f->said_store, sizeof f->said_store, "%.511s", trouble);
    }
}

/* After every look at the board: the run's state is the board's, whoever changed it (another client
 * may have cancelled it). */
static void follow_looked(void *context)
{
    struct client_follow *f = context;
    const struct board_run *r = client_run(f->c, f->o.run);
    if (!r) {
        f->absent = f->absent > 0 ? f->absent : clock_seconds();
        if (f->phase == PHASE_FOLLOWING &&
            (f->known || clock_seconds() - f->absent > FOLLOW_FORGED))
            error_set(&f->error, ERROR_FAILED,
                      "run %" PRIu64 " has vanished from the board: the store lost its data, or "
                      "somebody deleted it there; hand the workflow in again (what came here "
                      "before is not computed again)",
                      f->o.run);
        return;
    }
    f->absent = 0;
    if (!follow_believes(f, r))
        return;
    f->known = true;
    f->created = r->created;
    f->state = (enum board_run_state)r->state;
    follow_check_agents(f);
    struct client_load load = {.ending = f->state != BOARD_RUN_OPEN};
    uint32_t agents = follow_count_agents(f, &load);
    if (f->state >= BOARD_RUN_ENDED) {
        if (isnan(f->ended_at))
            f->ended_at = r->changed;
        load.ending = true;
    } else {
        follow_check_deserted(f, agents);
        follow_check_unfit(f);
        follow_check_store(f);
        follow_check_aside(f);
        follow_check_refused(f);
        follow_check_time(f);
    }
    if (f->state == BOARD_RUN_STOPPING && f->stopping < 1)
        f->stopping = 1;
    if (f->state == BOARD_RUN_CANCELLED && f->stopping < 2)
        f->stopping = 2;
    double now = clock_seconds();
    if (f->o.load && now - f->loaded >= follow_look_pause(f)) {
        f->loaded = now;
        follow_look_ahead(f, &load);
        follow_count_going(f, &load);
        f->o.load(f->o.load_context, &load);
    }
}

/* Each stop once, however many came between two ticks. After the third, or a detachment, the run
 * goes on without us. */
static void follow_heed_stops(struct client_follow *f)
{
    struct client *c = f->c;
    int stops = client_stops(c);
    if (f->phase == PHASE_SIGNING_OFF) { /* all is here; only the store's answer is left */
        if (atomic_load(&c->detach) || stops > f->handled)
            f->phase = PHASE_OVER;
        return;
    }
    if (atomic_load(&c->detach) || (stops && f->o.interrupt == CLIENT_INTERRUPT_DETACHES)) {
        f->out.detached = true;
        f->phase = PHASE_OVER;
        return;
    }
    for (; f->handled < stops && f->phase != PHASE_OVER; f->handled++) {
        f->result.interrupted = true;
        if (f->handled == 0) {
            follow_set_state(f, BOARD_RUN_STOPPING);
            f->stopping = f->stopping > 1 ? f->stopping : 1;
        } else if (f->handled == 1) {
            follow_set_state(f, BOARD_RUN_CANCELLED);
            f->stopping = 2;
            f->ending_since = clock_seconds();
        } else {
            f->out.detached = true;
            f->phase = PHASE_OVER;
        }
    }
}

/* Two stops end it, whatever agents and the store do: what it waited for is said. */
static void follow_check_ending(struct client_follow *f)
{
    if (f->ending_since == 0 || clock_seconds() - f->ending_since < ENDING)
        return;
    struct client_load load = {0};
    uint32_t agents = follow_count_agents(f, &load);
    const struct client *c = f->c;
    const char *what = c->said_silent || board_silence(c->board) > ENDING
                           ? "the store does not answer"
                       : f->phase == PHASE_COLLECTING ? "its results are not all here"
                       : agents                       ? "its agents have not ended its tasks"
                                                      : "no agent is there";
    error_set(&f->error, ERROR_FAILED,
              "run %" PRIu64 " was told to end, and after %.0f s %s (%u of %u tasks have ended); "
              "`weft status %" PRIu64 "` shows what becomes of it",
              f->o.run, ENDING, what, f->reported_ended, f->w->ntasks, f->o.run);
}

/* What is known now of tasks whose inputs were told before or after them. */
static void follow_record_learned(struct client_follow *f)
{
    struct error err = {0};
    for (size_t i = 0; i < f->unlearned.n;) {
        if (f->o.needs->late && f->o.ticket->shared) /* elsewhere it may be another */
            need_read_late(f->o.needs, f->unlearned.at[i]);
        if (need_learn(f->o.needs, f->unlearned.at[i]))
            f->unlearned.at[i] = array_pop(&f->unlearned);
        else
            i++;
    }
    if (!memo_flush(f->o.needs->memo, &err))
        client_say(f->c, "%s", err.text);
}

/* A reading is over that found ends which nobody proves: read again, and when it stays so the run cannot
 * be followed to its end. What really ended is proved a moment later. */
static void follow_check_unproved(struct client_follow *f, double now)
{
    if (f->reading)
        return;
    if (!f->unproved) {
        f->unproved_since = 0;
        return;
    }
    f->unproved = false;
    if (f->unproved_since == 0)
        f->unproved_since = now;
    if (now - f->unproved_since > FOLLOW_FORGED)
        error_set(
            &f->error, ERROR_FAILED,
            "the store at %s says of tasks of run %" PRIu64
            " that they have ended, and nobody who has the cluster's key wrote that; they are not "
            "taken as done, and nothing was deleted",
            f->c->o.address->text, f->o.run);
    else
        follow_read_store(f);
}

/* The store knows how many have ended; agents told us of some. When it knows of more for GAP
 * seconds, a link was down or an agent died: the rest is read from the store. The last task's agent
 * may have died before it ended the run: then we do. */
static void follow_each_second(struct client_follow *f, double now)
{
    f->second = now;
    follow_record_learned(f);
    if (f->phase != PHASE_FOLLOWING)
        return;
    follow_ask_count(f);
    if (follow_counted(f) >= f->w->ntasks && f->reported_ended >= f->w->ntasks &&
        f->state < BOARD_RUN_ENDED && !f->ending && f->known && follow_may_end(f)) {
        f->ending = !f->o.adds;
        follow_set_state(f, BOARD_RUN_ENDED);
    }
    follow_check_unproved(f, now);
    if (!f->reading)
        follow_heard_failures(f);
    follow_read_removed(f);
    if (follow_counted(f) <= f->reported_ended)
        f->behind = 0;
    else if (f->behind == 0)
        f->behind = now;
    else if (now - f->behind > GAP && !f->reading) {
        f->behind = 0;
        follow_read_store(f);
    }
}

/* `context` is the client (client_sign_off says why). */
static void follow_signed_off(void *context, bool good, const char *why)
{
    struct client_sign_off *s = &((struct client *)context)->sign_off;
    s->come = true;
    s->good = good;
    snprintf(s->why, sizeof s->why, "%s", why ? why : "");
}

/* In a folder that agents share with us, temporary files whose readers are all done: those that their
 * agent did not come to remove. */
static void follow_remove_temporaries(struct client_follow *f)
{
    const struct workflow *w = f->w;
    struct strbuf path = {0};
    char label[512];
    for (uint32_t o = 0; f->o.ticket->shared && w->object_flags && o < w->nobjects; o++) {
        uint32_t n = 0;
        if (!workflow_is_temporary(w, o) || !workflow_is_intermediate(w, o))
            continue;
        const uint32_t *readers = workflow_consumers(w, o, &n);
        bool needed = false;
        for (uint32_t i = 0; i < n && !needed; i++)
            needed = !follow_is_done(f, readers[i]);
        const struct later_edge *e;
        growth_each_later(w, w->producer[o], e) needed |=
            e->object == o && !follow_is_done(f, e->task);
        const char *name = workflow_object_label(w, o, label, sizeof label);
        if (!needed && name[0] != '/')
            tree_remove(path_in(f->o.folder, name, &path));
    }
    strbuf_free(&path);
}

/* Instead of its ticket, with the workflow and what is secret: what it was, and where its results are. */
static void follow_seal_remains(const struct client_follow *f, struct strbuf *sealed)
{
    const struct ticket *t = f->o.ticket;
    char host[256] = "localhost", folder[PATH_MAX];
    gethostname(host, sizeof host - 1);
    struct run_remains r = {.name = t->name,
                            .host = t->host,
                            .folder = t->folder,
                            .taken_by = host,
                            .taken_to =
                                realpath(f->o.folder, folder) ? folder : (char *)f->o.folder,
                            .tasks = f->w->ntasks,
                            .seconds = isnan(f->ended_at) ? 0 : fmax(f->ended_at - f->created, 0),
                            .shared = t->shared};
    uint32_t seen[FOLLOW_SEEN_KINDS];
    follow_count_seen(f, seen);
    r.failed = seen[FOLLOW_SEEN_FAILED] + seen[FOLLOW_SEEN_EXCUSED];
    r.done = seen[FOLLOW_SEEN_DONE] + seen[FOLLOW_SEEN_REUSED] + seen[FOLLOW_SEEN_SKIPPED];
    r.removed = r.tasks - r.done - r.failed;
    run_remains_seal(&r, &f->c->charter, f->o.run, sealed);
}

/* All is home: say so, unless something is missing that another attach may still find. */
static void follow_begin_sign_off(struct client_follow *f)
{
    struct client *c = f->c;
    collect_count(f->collect, &f->out.collected, &f->out.bytes, &f->out.missing);
    if (f->out.missing) {
        f->phase = PHASE_OVER;
        return;
    }
    follow_remove_temporaries(f);
    f->phase = PHASE_SIGNING_OFF;
    c->sign_off = (struct client_sign_off){.run = f->o.run};
    struct board_change change =
        charter_change(&c->charter, f->o.run, f->o.ticket->id, BOARD_RUN_COLLECTED);
    struct strbuf remains = {0};
    follow_seal_remains(f, &remains);
    change.text = remains.at;
    change.n = remains.n;
    board_run_state(c->board, &change, follow_signed_off, c);
    strbuf_free(&remains);
}

/* Agents delete their copies now; the run's keys in the store go with the store. */
static void follow_end_sign_off(struct client_follow *f)
{
    struct client *c = f->c;
    if (!c->sign_off.good)
        client_say(c, "the store at %s refuses: %s", c->o.address->text, c->sign_off.why);
    f->phase = PHASE_OVER;
    client_send_all(c, MESSAGE_RUN_CHANGED, f->o.run);
    store_redis_closing(c->store, true, STORE_CLOSING);
}

/* The order matters: stops first, then what the phase waits for, then the display, which may ask
 * for a stop. */
static void follow_tick(void *context)
{
    struct client_follow *f = context;
    double now = clock_seconds();
    follow_heed_stops(f);
    follow_check_ending(f);
    if (f->c->store_error.kind != ERROR_NONE && f->phase != PHASE_SIGNING_OFF)
        error_set(&f->error, f->c->store_error.kind, "%s", f->c->store_error.text);
    if (f->phase == PHASE_OVER || f->error.kind != ERROR_NONE)
        return;
    client_hurry(f->c, f->reported_ended >= f->w->ntasks);
    if (now - f->second >= (f->c->hurry ? 0.02 : 1))
        follow_each_second(f, now);
    follow_growth_tick(f);
    follow_adds_tick(f);
    follow_wishes_tick(f);
    if (f->phase == PHASE_FOLLOWING && f->state >= BOARD_RUN_ENDED && f->known && !f->reading &&
        follow_has_all_parts(f)) {
        f->phase = PHASE_READING;
        follow_read_store(f);
    }
    if (f->phase == PHASE_READING && !f->reading) {
        follow_check_unproved(f, now);
        if (!f->reading && f->error.kind == ERROR_NONE && follow_heard_failures(f) &&
            follow_tally(f) && follow_heard_all(f, now))
            f->phase = PHASE_COLLECTING;
    }
    collect_tick(f->collect);
    if (f->phase == PHASE_COLLECTING && collect_is_idle(f->collect))
        follow_begin_sign_off(f);
    if (f->phase == PHASE_SIGNING_OFF && f->c->sign_off.come)
        follow_end_sign_off(f);
    follow_report_counters(f);
    if (f->o.tick && f->o.tick(f->o.context, f->stopping))
        client_stop(f->c);
}

/* Nothing is left but to close. */
static bool follow_is_over(const struct client_follow *f)
{
    return f->phase == PHASE_OVER || f->error.kind != ERROR_NONE;
}

/* ---- from beginning to end ---- */

/* From the depot. */
static void follow_arrived(void *context, uint32_t object, bool good, const char *why)
{
    struct client_follow *f = context;
    collect_arrived(f->collect, object, good, why);
}

/* What weft did not make is kept when a result takes its place. */
static bool follow_clear_way(void *context, uint32_t object, const char *from, struct error *err)
{
    struct client_follow *f = context;
    struct needs *n = f->o.needs;
    char label[512];
    if (f->o.overwrite || standing_at(n, object) < STANDING_CHANGED ||
        standing_is_same(n, object, from))
        return true;
    struct strbuf kept = {0};
    bool good = standing_keep(n, object, false, &kept, err);
    if (good)
        run_result_kept(&f->result, workflow_object_label(f->w, object, label, sizeof label),
                        kept.at);
    strbuf_free(&kept);
    return good;
}

/* A final output is here: with it its maker may be on record, if nobody told of it. */
static void follow_output_here(void *context, uint32_t object)
{
    struct client_follow *f = context;
    follow_learn_task(f, f->w->producer[object]);
}

/* What was done before the run, and the inputs as they were handed in: listeners see the whole
 * story. */
static void follow_report_beginning(struct client_follow *f)
{
    const struct needs *n = f->o.needs;
    for (size_t i = 0; i < f->o.ticket->done.n; i++) {
        uint32_t t = f->o.ticket->done.at[i];
        if (t >= f->w->ntasks || follow_is_done(f, t))
            continue;
        follow_task_ended(f, t, FOLLOW_SEEN_REUSED);
        follow_report(f, &(struct trace_event){.kind = TRACE_REUSED, .id = t});
    }
    for (size_t i = 0; i < f->o.ticket->skipped.n; i++) {
        uint32_t t = f->o.ticket->skipped.at[i];
        if (t >= f->w->ntasks || follow_is_done(f, t))
            continue;
        follow_task_ended(f, t, FOLLOW_SEEN_SKIPPED);
        follow_report(
            f, &(struct trace_event){.kind = TRACE_SKIPPED,
                                     .id = t,
                                     .other = n->task[t] == NEED_SKIPPED ? n->because[t] : NONE});
    }
    for (uint32_t o = f->w->nobjects; o-- && f->w->producer[o] == NONE;)
        if (n->present[o] && f->w->object_name[o])
            follow_report_file(
                f, &(struct trace_file){.object = o,
                                        .task = NONE,
                                        .path = workflow_text(f->w, f->w->object_name[o]),
                                        .digest = n->content[o],
                                        .size = n->bytes[o]});
}

/* Tasks that are neither done nor failed were skipped, or are still running elsewhere. */
static void follow_fill_result(struct client_follow *f)
{
    struct run_result *r = &f->result;
    uint32_t seen[FOLLOW_SEEN_KINDS];
    follow_count_seen(f, seen);
    r->done += seen[FOLLOW_SEEN_DONE];
    r->reused += seen[FOLLOW_SEEN_REUSED];
    r->failed += seen[FOLLOW_SEEN_FAILED] + seen[FOLLOW_SEEN_EXCUSED];
    r->excused += seen[FOLLOW_SEEN_EXCUSED];
    r->untaken += seen[FOLLOW_SEEN_SKIPPED];
    r->skipped = f->w->ntasks - r->done - r->reused - r->failed;
    /* tasks that did not run though none failed: somebody stopped or cancelled it, before we came or
     * while we followed; the board knows only that it has ended */
    follow_count_cancelled(f);
    r->interrupted |=
        r->skipped > r->untaken && (f->stopping > 1 || (r->failed == r->excused && !r->cancelled));
    run_result_count_kept(r);
    follow_remark_again(f);
    double end = isnan(f->ended_at) ? client_now(f->c) : f->ended_at;
    r->seconds = end > f->created ? end - f->created : 0;
    collect_count(f->collect, &f->out.collected, &f->out.bytes, &f->out.missing);
}

/* In the order of what people want to know first. */
static bool follow_judge(struct client_follow *f, struct error *err)
{
    const struct run_result *r = &f->result;
    if (f->error.kind != ERROR_NONE)
        return error_set(err, f->error.kind, "%s", f->error.text);
    if (f->broken.kind != ERROR_NONE && !f->out.detached)
        return error_set(err, f->broken.kind, "%s", f->broken.text);
    if (f->out.detached)
        return true;
    if (f->out.missing)
        return error_set(err, ERROR_FAILED,
                         "%u result%s could not be brought home (%s); `weft attach %" PRIu64
                         "` tries again",
                         f->out.missing, plural(f->out.missing), collect_why(f->collect), f->o.run);
    if (!run_result_judge(r, err))
        return false;
    if (r->skipped > r->untaken)
        return error_set(err, ERROR_FAILED, "%s; %u of %u task%s did not run",
                         f->handled ? "stopped" : "the run was stopped or cancelled",
                         r->skipped - r->untaken, f->w->ntasks, plural(f->w->ntasks));
    return true;
}

/* Inputs that lie here as they were handed in: an agent may ask for one when those that had it are
 * gone. */
static void follow_offer_inputs(struct client_follow *f)
{
    struct strbuf path = {0};
    const struct client_following *o = &f->o;
    char label[512];
    for (size_t i = 0; i < o->ticket->files.n; i++) {
        const struct ticket_file *t = &o->ticket->files.at[i];
        struct error err = {0};
        struct digest now;
        double size;
        if (t->object >= f->w->nobjects)
            continue;
        const char *name = workflow_object_label(f->w, t->object, label, sizeof label);
        if (name[0] != '/' &&
            memo_digest(o->needs->memo, path_in(o->folder, name, &path), false, &now, &size,
                        &err) &&
            digest_equal(&now, &t->digest))
            depot_added(f->c->depot, t->object, &now, size);
    }
    strbuf_free(&path);
}

/* Inputs have the content that they had when they were handed in, even if the files have changed
 * since: keys are computed from that. */
static void follow_prepare(struct client_follow *f)
{
    struct strbuf partial = {0};
    const struct client_following *o = &f->o;
    f->seen = mem_new_zero(uint8_t, f->w->ntasks + 1);
    f->node = mem_new_zero(uint32_t, f->w->ntasks + 1);
    f->learned = mem_new_zero(uint8_t, f->w->ntasks + 1);
    f->marks = mem_new_zero(uint8_t, f->w->ntasks + 1);
    f->blamed = mem_new_zero(uint32_t, f->w->ntasks + 1);
    f->logged = mem_new_zero(uint32_t, f->w->ntasks + 1);
    f->reported = mem_new_zero(uint8_t, f->w->nobjects + 1);
    f->task_room = f->w->ntasks;
    f->object_room = f->w->nobjects;
    f->parts = o->parts;
    for (size_t i = 0; i < o->ticket->files.n; i++) {
        const struct ticket_file *t = &o->ticket->files.at[i];
        if (t->object < f->w->nobjects) { /* as it was when it was handed in */
            o->needs->content[t->object] = t->digest;
            o->needs->bytes[t->object] = t->bytes;
        }
    }
    strbuf_printf(&partial, "%s/partial", o->state);
    f->c->depot = depot_new(&(struct depot_config){.workflow = f->w,
                                                   .run = o->run,
                                                   .folder = o->folder,
                                                   .partial = partial.at,
                                                   .memo = o->needs->memo,
                                                   .most = 16,
                                                   .arrived = follow_arrived,
                                                   .clear = follow_clear_way,
                                                   .context = f});
    strbuf_free(&partial);
    if (!o->ticket->shared)
        follow_offer_inputs(f);
    if (!o->ticket->shared && o->parts) /* that joined before we came */
        follow_offer_joined(f, 0);
    f->collect = collect_new(&(struct collect_config){.client = f->c,
                                                      .workflow = f->w,
                                                      .needs = o->needs,
                                                      .folder = o->folder,
                                                      .shared = o->ticket->shared,
                                                      .here = follow_output_here,
                                                      .context = f});
}

/* The depot and the store go back to the client (I1 of client.c). */
static void follow_free(struct client_follow *f)
{
    struct client *c = f->c;
    c->listener = (struct client_listener){0};
    depot_free(c->depot);
    c->depot = NULL;
    struct strbuf partial = {0};
    strbuf_printf(&partial, "%s/partial", f->o.state);
    rmdir(partial.at); /* what is in there can go on another time */
    strbuf_free(&partial);
    client_store_close(c);
    collect_free(f->collect);
    free(f->seen);
    free(f->node);
    free(f->learned);
    free(f->marks);
    free(f->blamed);
    array_free(&f->untold);
    free(f->logged);
    free(f->reported);
    free(f->ran);
    follow_adds_close(f);
    follow_wishes_close(f);
    array_free(&f->unlearned);
    array_free(&f->placed);
    array_free(&f->counters);
    free(f);
}

/* Links that are open already are told once; a run that we have just submitted was watched from
 * before its beginning, and what came since then is replayed. */
struct client_follow *client_follow_open(struct client *c, const struct client_following *o,
                                         struct error *err)
{
    if (!client_store(c, o->run, o->ticket->id, o->workflow, err))
        return NULL;
    struct client_follow *f = mem_new_zero(struct client_follow, 1);
    f->most_ran = NONE;
    f->c = c;
    f->o = *o;
    f->w = o->workflow;
    f->ended_at = NAN;
    f->created = client_now(c);
    follow_prepare(f);
    follow_report_beginning(f);
    c->listener = (struct client_listener){.opened = follow_peer_opened,
                                           .handlers = follow_handlers,
                                           .answers = follow_answers,
                                           .looked = follow_looked,
                                           .tick = follow_tick,
                                           .context = f};
    client_connect(c);
    follow_check_agents(f);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->open && c->watched != o->run)
            follow_peer_opened(f, c->peers.at[i]);
    client_replay_early(c, o->run);
    client_forget_early(c);
    if (o->late)
        follow_read_store(f);
    return f;
}

bool client_follow_step(struct client_follow *f, double wait)
{
    if (!follow_is_over(f))
        stepper_step(&f->c->stepper, wait);
    return !follow_is_over(f);
}

/* The result is the caller's from now on. */
bool client_follow_close(struct client_follow *f, struct client_followed *out,
                         struct run_result *result, struct error *err)
{
    if (!follow_is_over(f))
        f->out.detached = true; /* its owner has seen enough */
    follow_record_decisions(f);
    follow_record_learned(f);
    follow_fill_result(f);
    bool good = follow_judge(f, err);
    client_hurry(f->c, false);
    client_settle(f->c);
    *out = f->out;
    *result = f->result;
    follow_free(f);
    return good;
}

bool client_follow(struct client *c, const struct client_following *o, struct client_followed *out,
                   struct run_result *result, struct error *err)
{
    *out = (struct client_followed){0};
    *result = (struct run_result){0};
    struct client_follow *f = client_follow_open(c, o, err);
    if (!f)
        return false;
    while (client_follow_step(f, -1))
        ;
    return client_follow_close(f, out, result, err);
}
