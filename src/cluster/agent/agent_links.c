/* What others say to an agent: other agents, and clients. Whoever speaks has proved the cluster's
 * key; a message that makes no sense closes its link all the same.
 *
 * I1. A link that closes is forgotten everywhere before this returns to the links, which free it:
 *     peers, keeps, handing, early, watchers, depots (links_closed()). */
#include "cluster/agent/agent_state.h"
#include "cluster/agent/watch.h"
#include "cluster/wire/message.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- keeping data for others ---- */

/* The answer to one object of a KEEP. */
static void send_kept(struct link *l, uint64_t run, uint32_t object, bool good, const char *why)
{
    struct strbuf out = {0};
    bytes_put_u64(&out, run);
    bytes_put_u32(&out, object);
    bytes_put_u8(&out, good);
    bytes_put_text(&out, why, strlen(why));
    link_send(l, MESSAGE_KEPT, out.at, out.n, NULL, 0);
    strbuf_free(&out);
}

void agent_refuse_keep(struct link *l, const void *data, size_t n)
{
    struct bytes in = {data, n, false};
    uint64_t run = bytes_u64(&in);
    for (uint32_t count = bytes_u32(&in); count-- && in.n >= 4;) {
        send_kept(l, run, bytes_u32(&in), false, "this agent does not work on that run");
        bytes_take(&in, sizeof(struct digest));
    }
}

void agent_answer_keep(struct agent *a, uint64_t run, uint32_t object, bool good, const char *why)
{
    for (size_t i = 0; i < a->keeps.n; i++) {
        struct keep k = a->keeps.at[i];
        if (k.run != run || k.object != object)
            continue;
        send_kept(k.link, run, object, good, why);
        a->keeps.at[i--] = array_pop(&a->keeps);
        ended_kept(a, run);
    }
}

/* A task here may have wanted it before the KEEP came, from a link that does not lead there: whoever leaves
 * and asks us to keep it is the last who has it. */
bool agent_fetch_kept(struct agent *a, struct job *j, uint32_t object, const char *why)
{
    for (size_t i = 0; i < a->keeps.n; i++) {
        struct keep *k = &a->keeps.at[i];
        if (k->run != j->number || k->object != object || k->begun)
            continue;
        struct keep now = *k; /* what is fetched may be here at once, and answer */
        k->begun = true;
        depot_fetch(j->depot, object, now.link, &now.content, false);
        return true;
    }
    agent_answer_keep(a, j->number, object, false, why);
    return false;
}

/* ---- clients ---- */

/* Does a file stand here with that content? So a client learns whether a file system is shared. */
static void answer_probe(struct agent *a, struct link *l, struct bytes *in, uint64_t mark)
{
    size_t npath, ntoken;
    const char *path = bytes_text(in, &npath), *token = bytes_text(in, &ntoken);
    char name[4096], found[256];
    bool yes = false;
    if (bytes_end(in) && npath < sizeof name && ntoken && ntoken < sizeof found) {
        memcpy(name, path, npath);
        name[npath] = 0;
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t n = fd >= 0 ? read(fd, found, sizeof found) : -1;
        yes = n > 0 && (size_t)n == ntoken && memcmp(found, token, (size_t)n) == 0;
        if (fd >= 0)
            close(fd);
    }
    strbuf_clear(&a->scratch);
    bytes_put_u64(&a->scratch, mark);
    bytes_put_u8(&a->scratch, yes);
    link_send(l, MESSAGE_PROBED, a->scratch.at, a->scratch.n, NULL, 0);
}

/* The answer to CANCEL and LEAVE: a line for people. */
static void send_answer(struct agent *a, struct link *l, uint64_t run, bool good, const char *text)
{
    strbuf_clear(&a->scratch);
    bytes_put_u64(&a->scratch, run);
    bytes_put_u8(&a->scratch, good);
    bytes_put_text(&a->scratch, text, strlen(text));
    link_send(l, MESSAGE_RESULT, a->scratch.at, a->scratch.n, NULL, 0);
}

/* A task and what depends on it, or (NONE) the whole run: then the board has the last word, and all
 * agents learn of it there. */
static void cancel_run(struct agent *a, struct link *l, uint64_t run, uint32_t task)
{
    struct job *j = agent_job(a, run);
    if ((!j || !job_is_scheduling(j)) && !ended_run(a, run)) {
        send_answer(a, l, run, false, "this agent does not work on that run");
    } else if (!j || j->state >= JOB_ENDED) {
        send_answer(a, l, run, false, "the run has ended");
    } else if (task == NONE) {
        agent_set_run_state(a, j, BOARD_RUN_CANCELLED);
        job_board_state(j, BOARD_RUN_CANCELLED);
        send_answer(a, l, run, true, "the run is being ended");
    } else if (task >= j->w->ntasks) {
        send_answer(a, l, run, false, "the run has no such task");
    } else {
        job_remove(j, task);
        send_answer(a, l, run, true, "being taken out");
    }
}

/* ---- messages ---- */

/* What this agent has of a run may not be known yet. */
static bool may_still_load(const struct agent *a, uint64_t run)
{
    return agent_is_loading(a, run) || !agent_has_seen_runs(a);
}

void agent_refuse_fetch(struct link *l, const void *data, size_t n)
{
    static const char text[] = "no data of this run here";
    struct bytes in = {data, n, false};
    struct strbuf out = {0};
    bytes_put_u64(&out, bytes_u64(&in));
    bytes_put_u32(&out, bytes_u32(&in));
    bytes_put_text(&out, text, sizeof text - 1);
    link_send(l, MESSAGE_ABSENT, out.at, out.n, NULL, 0);
    strbuf_free(&out);
}

/* It waits until the run is read, or was not. */
static void keep_early(struct agent *a, struct link *l, uint64_t run, uint8_t kind,
                       const void *data, size_t n)
{
    array_push(&a->early, (struct early){run, l, kind, mem_copy_bytes(data, n), n});
    if (!agent_wake_run(a, run))
        agent_load_early(a, run);
}

/* A message for a run that is no job here. Of schedulers' and data's talk nothing is missed. */
static void message_without_job(struct agent *a, struct link *l, uint8_t kind, const void *data,
                                size_t n)
{
    struct bytes in = {data, n, false};
    uint64_t run = bytes_u64(&in);
    const struct ended_run *ended = ended_run(a, run);
    bool may_wake = ended && ended->on_board;
    bool refused = agent_tell_refused(a, l, run);
    switch (kind) {
    case MESSAGE_KEEP:
        if (agent_is_staying(a) && !refused && (may_wake || !ended))
            keep_early(a, l, run, kind, data, n);
        else
            agent_refuse_keep(l, data, n);
        break;
    case MESSAGE_WATCH: /* it is being read, or will be: later */
        if (!refused && (ended ? may_wake && ended->here : true))
            keep_early(a, l, run, kind, data, n);
        break;
    case MESSAGE_LASTS:
    case MESSAGE_PLACED:
        if (!ended)
            keep_early(a, l, run, kind, data, n);
        break;
    case MESSAGE_FETCH:
        if (may_wake)
            keep_early(a, l, run, kind, data, n);
        else if (may_still_load(a, run))
            link_close(l, "this run is still being read"); /* ask again: it may be here */
        else
            agent_refuse_fetch(l, data, n);
        break;
    default:
        break;
    }
}

static bool agent_take_run_changed(void *context, struct message_in *m)
{
    agent_load_early(context, m->run);
    agent_look(context);
    return true;
}

static bool agent_take_probe(void *context, struct message_in *m)
{
    answer_probe(context, m->from, &m->in, m->run);
    return true;
}

static bool agent_take_cancel(void *context, struct message_in *m)
{
    uint32_t task = bytes_u32(&m->in);
    if (!bytes_end(&m->in))
        return false;
    cancel_run(context, m->from, m->run, task);
    return true;
}

static bool agent_take_leave(void *context, struct message_in *m)
{
    struct agent *a = context;
    bool now = bytes_u8(&m->in);
    if (!bytes_end(&m->in))
        return false;
    send_answer(a, m->from, m->run, true,
                now ? "it leaves at once" : "it leaves when its tasks have ended");
    agent_leave(a, now);
    agent_go_on_leaving(a);
    return true;
}

static bool agent_take_refused(void *context, struct message_in *m)
{
    uint32_t node = bytes_u32(&m->in);
    size_t n;
    bytes_text(&m->in, &n);
    struct job *j = agent_job(context, m->run);
    if (!bytes_end(&m->in))
        return false;
    if (j)
        job_without(j, node);
    return true;
}

static bool agent_take_kept(void *context, struct message_in *m)
{
    char why[256];
    uint32_t object = bytes_u32(&m->in);
    bool good = bytes_u8(&m->in);
    size_t n;
    const char *text = bytes_text(&m->in, &n);
    if (!bytes_end(&m->in))
        return false;
    snprintf(why, sizeof why, "%.*s", (int)(n < sizeof why ? n : sizeof why - 1), text);
    agent_handed_over(context, m->from, m->run, object, good ? NULL : why);
    return true;
}

/* Schedulers' talk, data, and what clients want of a run that is worked on. */
static bool agent_take_for_job(void *context, struct message_in *m)
{
    bool malformed = false;
    struct job *j = agent_job(context, m->run);
    if (j)
        job_message(j, m->from, m->kind, m->data, m->n, &malformed);
    else
        message_without_job(context, m->from, m->kind, m->data, m->n);
    return !malformed;
}

/* What is not for agents, or not as long as its row in messages.def says, comes to none of them. */
static const struct message_receiver agent_receiver = {
    .end = MESSAGE_AGENT,
    .handler =
        {
            [MESSAGE_RUN_CHANGED] = agent_take_run_changed,
            [MESSAGE_PROBE] = agent_take_probe,
            [MESSAGE_CANCEL] = agent_take_cancel,
            [MESSAGE_LEAVE] = agent_take_leave,
            [MESSAGE_KEPT] = agent_take_kept,
            [MESSAGE_REFUSED] = agent_take_refused,
        },
    .otherwise = agent_take_for_job,
};

/* Every message begins with the number of its run, or with a mark of the asker's own. */
static void links_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    if (!message_dispatch(&agent_receiver, context, l, kind, data, n))
        link_close(l, "a message that makes no sense");
}

/* ---- links ---- */

static void links_opened(void *context, struct link *l)
{
    peer_link_opened(context, l);
}

/* A link has room again: whoever sends data over it goes on. */
static void links_drained(void *context, struct link *l)
{
    struct agent *a = context;
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->depot)
            depot_drained(a->jobs.at[i]->depot, l);
}

/* I1. */
static void links_closed(void *context, struct link *l, const char *why)
{
    struct agent *a = context;
    (void)why;
    peer_link_closed(a, l);
    for (size_t i = 0; i < a->keeps.n; i++)
        if (a->keeps.at[i].link == l)
            a->keeps.at[i--] = array_pop(&a->keeps);
    agent_handing_closed(a, l);
    for (size_t i = 0; i < a->early.n; i++)
        if (a->early.at[i].link == l)
            a->early.at[i].link = NULL;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_link_closed(a->jobs.at[i], l);
}

static void links_log(void *context, const char *line)
{
    agent_log(context, "%s", line);
}

static void links_trace(void *context, const char *line)
{
    agent_trace(context, "%s", line);
}

struct links *agent_listen(struct agent *a, struct error *err)
{
    struct links_config config = {.loop = &a->loop,
                                  .key = a->o->key,
                                  .bind = a->o->bind ? a->o->bind : "127.0.0.1:0",
                                  .self = "agent that has not joined",
                                  .open = links_opened,
                                  .message = links_message,
                                  .closed = links_closed,
                                  .drained = links_drained,
                                  .log = links_log,
                                  .trace = a->o->trace ? links_trace : NULL,
                                  .context = a};
    memcpy(config.cluster, a->charter.id, sizeof config.cluster);
    return links_new(&config, err);
}
