#include "cli/cluster_session.h"

#include "cli/cluster_signals.h"
#include "report/live_display.h"
#include "report/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool cluster_work_options(const struct arguments *a, struct client_work *work, struct error *err)
{
    const char *how = arguments_value(a, "submit"), *policy = arguments_value(a, "policy");
    if (!how || strcmp(how, "best") == 0) {
        work->share = SHARE_BEST;
    } else if (strcmp(how, "worst") == 0) {
        work->share = SHARE_WORST;
    } else if (strncmp(how, "group:", 6) == 0 && how[6]) {
        work->group = how + 6;
    } else {
        return error_set(err, ERROR_INPUT,
                         "--submit is '%.100s'; expected best, worst or group:HOST,HOST...", how);
    }
    struct sched_policy_choice choice;
    if (!sched_policy_choose(policy, &choice))
        return error_set(err, ERROR_INPUT,
                         "--policy is '%.100s'; expected " SCHED_POLICY_NAMES "or auto", policy);
    work->policy = choice.policy;
    work->adapt = choice.adapt;
    bool shared = arguments_flag(a, "shared"), copied = arguments_flag(a, "no-shared");
    if (shared && copied)
        return error_set(err, ERROR_INPUT, "--shared and --no-shared: one of them");
    work->shared = shared ? CLIENT_SHARED_YES : copied ? CLIENT_SHARED_NO : CLIENT_SHARED_LOOK;
    return true;
}

bool cluster_hand_in(struct cluster_session *c, const struct run_options *o,
                     struct client_submitted *out, struct error *err)
{
    struct session *s = c->session;
    struct client_work work = {.workflow = s->w,
                               .text = &s->text,
                               .needs = &s->needs,
                               .folder = s->folder,
                               .state = s->state,
                               .name = s->name,
                               .keep_going = o->keep_going,
                               .no_sandbox = o->no_sandbox,
                               .unlimited = o->unlimited,
                               .retry_first = o->retry_first,
                               .retry_most = o->retry_most,
                               .priority = s->priority,
                               .seconds = s->seconds,
                               .watch = s->execute != NULL};
    return cluster_work_options(s->a, &work, err) && client_submit(c->client, &work, out, err);
}

/* Above the display while there is one. */
static void say_above(void *context, const char *line)
{
    struct session *s = context;
    if (s->display)
        live_display_say(s->display, line);
    else
        cli_say("", line);
}

void cluster_say_detached(const struct cluster_session *c)
{
    struct strbuf where = {0}, line = {0};
    if (c->target) /* its store and key are in the note that stands there */
        strbuf_printf(&where, " -C %s", c->session->folder);
    strbuf_printf(&line,
                  "run %" PRIu64 " goes on without this command; `weft attach %" PRIu64
                  "%s` follows it and brings the results, `weft cancel %" PRIu64 "%s` ends it",
                  c->run, c->run, strbuf_text(&where), c->run, strbuf_text(&where));
    cli_say("", line.at);
    strbuf_free(&where);
    strbuf_free(&line);
}

static bool follow(struct cluster_session *c, const struct ticket *ticket, bool late,
                   const struct run_options *o, struct run_result *result, struct error *err)
{
    struct session *s = c->session;
    bool good = client_follow(c->client,
                              &(struct client_following){.run = c->run,
                                                         .ticket = ticket,
                                                         .workflow = s->w,
                                                         .needs = &s->needs,
                                                         .folder = s->folder,
                                                         .state = s->state,
                                                         .label = o->label,
                                                         .late = late,
                                                         .interrupt = c->interrupt,
                                                         .sinks = o->sinks,
                                                         .nsinks = o->nsinks,
                                                         .tick = o->tick,
                                                         .context = o->context,
                                                         .load = c->load,
                                                         .load_context = c->load_context},
                              &c->followed, result, err);
    s->detached = c->followed.detached;
    c->stopped = result->interrupted;
    if (!s->detached && !c->followed.missing && (good || err->kind == ERROR_FAILED))
        cluster_note_remove(s->state, c->run);
    return good;
}

static bool hand_in_and_follow(struct cluster_session *c, const struct run_options *o,
                               struct run_result *result, struct error *err)
{
    struct session *s = c->session;
    client_listen(c->client, s->json ? NULL : say_above, s);
    if (c->ticket)
        return follow(c, c->ticket, true, o, result, err);
    struct client_submitted in;
    if (!cluster_hand_in(c, o, &in, err))
        return false;
    c->run = in.run;
    struct error late = {0};
    if (!cluster_note_write(s->state, in.run, c->place->address.text, &c->place->key, c->key_file,
                            c->target, &late))
        say_above(s, late.text);
    if (!s->quiet) {
        char line[256], size[HUMAN_SIZE];
        if (in.shared || !in.files)
            snprintf(line, sizeof line, "run %" PRIu64 " on %u agent%s%s", in.run, in.agents,
                     in.agents == 1 ? "" : "s",
                     !in.shared       ? ""
                     : in.agents == 1 ? ", which works in this folder"
                                      : ", which work in this folder");
        else
            snprintf(line, sizeof line,
                     "run %" PRIu64 " on %u agent%s; %u file%s handed over (%s in %u cop%s)",
                     in.run, in.agents, in.agents == 1 ? "" : "s", in.files,
                     in.files == 1 ? "" : "s", human_bytes(size, in.bytes), in.copies,
                     in.copies == 1 ? "y" : "ies");
        say_above(s, line);
    }
    struct ticket ticket;
    if (!client_ticket(c->client, in.run, &ticket, err))
        return false;
    bool good = follow(c, &ticket, false, o, result, err);
    ticket_free(&ticket);
    return good;
}

bool cluster_execute(struct session *s, const struct run_options *o, struct run_result *result,
                     struct error *err)
{
    struct cluster_session *c = s->where;
    cluster_signals_client(c->client);
    bool good = hand_in_and_follow(c, o, result, err);
    cluster_signals_release();
    return good;
}
