/* What others say to an agent: other agents, and clients. */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"

#include <fcntl.h>
#include <unistd.h>

static void on_opened(void *context, struct link *l)
{
    struct agent *a = context;
    for (size_t i = 0; i < a->peers.n; i++)
        if (a->peers.at[i].link == l)
            a->peers.at[i].refused = 0;
}

/* Another keeps what we had, or cannot: either way it is not waited for any more. */
static void kept(struct agent *a, struct link *l, uint64_t run, struct bytes *in)
{
    uint32_t object = bytes_u32(in);
    for (size_t i = 0; i < a->handing.n; i++) {
        const struct keep *k = &a->handing.at[i];
        if (k->run == run && k->object == object && k->link == l)
            a->handing.at[i--] = array_pop(&a->handing);
    }
    if (a->leave != AGENT_STAYS && !a->handing.n)
        agent_go_on_leaving(a);
}

static void tell_kept(struct link *l, uint64_t run, uint32_t object, bool good, const char *why)
{
    struct strbuf out = {0};
    bytes_put_u64(&out, run);
    bytes_put_u32(&out, object);
    bytes_put_u8(&out, good);
    bytes_put_text(&out, why, strlen(why));
    link_send(l, MESSAGE_KEPT, out.at, out.n, NULL, 0);
    strbuf_free(&out);
}

void agent_keep_not(struct agent *a, struct link *l, const void *data, size_t n)
{
    (void)a;
    struct bytes in = {data, n, false};
    uint64_t run = bytes_u64(&in);
    for (uint32_t count = bytes_u32(&in); count-- && in.n >= 4;)
        tell_kept(l, run, bytes_u32(&in), false, "this agent does not work on that run");
}

void agent_kept(struct agent *a, uint64_t run, uint32_t object, bool good, const char *why)
{
    for (size_t i = 0; i < a->keeps.n; i++) {
        struct keep k = a->keeps.at[i];
        if (k.run != run || k.object != object)
            continue;
        tell_kept(k.link, run, object, good, why);
        a->keeps.at[i--] = array_pop(&a->keeps);
    }
}

static void probe(struct agent *a, struct link *l, struct bytes *in, uint64_t mark)
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

static void tell(struct agent *a, struct link *l, uint64_t run, bool good, const char *text)
{
    strbuf_clear(&a->scratch);
    bytes_put_u64(&a->scratch, run);
    bytes_put_u8(&a->scratch, good);
    bytes_put_text(&a->scratch, text, strlen(text));
    link_send(l, MESSAGE_RESULT, a->scratch.at, a->scratch.n, NULL, 0);
}

static void cancel(struct agent *a, struct link *l, uint64_t run, uint32_t task)
{
    struct job *j = agent_job(a, run);
    if (!j || !j->scheduling) {
        tell(a, l, run, false, "this agent does not work on that run");
    } else if (j->state >= BOARD_RUN_ENDED) {
        tell(a, l, run, false, "the run has ended");
    } else if (task == NONE) {
        board_run_state(a->board, run, BOARD_RUN_CANCELLED, agent_noted, a);
        job_state(j, BOARD_RUN_CANCELLED);
        tell(a, l, run, true, "the run is being ended");
    } else if (task >= j->w->ntasks) {
        tell(a, l, run, false, "the run has no such task");
    } else {
        job_remove(j, task);
        tell(a, l, run, true, "the task and what depends on it are being taken out");
    }
}

/* What this agent has of a run may not be known yet. */
static bool is_starting(const struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->loading.n; i++)
        if (a->loading.at[i]->run == run)
            return true;
    return !a->seen_once;
}

static void on_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    struct agent *a = context;
    struct bytes in = {data, n, false};
    uint64_t run = bytes_u64(&in);
    bool malformed = in.bad;
    struct job *j = malformed ? NULL : agent_job(a, run);
    switch (malformed ? MESSAGES : (enum message)kind) {
    case MESSAGE_RUN_CHANGED:
        agent_load(a, run, a->server_offset + clock_seconds(), BOARD_RUN_COLLECTED);
        agent_beat(a);
        break;
    case MESSAGE_PROBE:
        probe(a, l, &in, run);
        break;
    case MESSAGE_CANCEL: {
        uint32_t task = bytes_u32(&in);
        malformed = !bytes_end(&in);
        if (!malformed)
            cancel(a, l, run, task);
        break;
    }
    case MESSAGE_LEAVE: {
        bool now = bytes_u8(&in);
        malformed = !bytes_end(&in);
        if (malformed)
            break;
        tell(a, l, run, true, now ? "it leaves at once" : "it leaves when its tasks have ended");
        agent_leave(a, now);
        agent_go_on_leaving(a);
        break;
    }
    case MESSAGE_KEPT:
        kept(a, l, run, &in);
        break;
    case MESSAGE_SCHED:
    case MESSAGE_KEEP:
    case MESSAGE_WATCH:
    case MESSAGE_FETCH:
    case MESSAGE_HEAD:
    case MESSAGE_DATA:
    case MESSAGE_ABSENT:
    case MESSAGE_LATER:
    case MESSAGE_UNFETCH:
    case MESSAGE_UNFETCHED:
        if (j) {
            job_message(j, l, kind, data, n, &malformed);
        } else if (kind == MESSAGE_KEEP && a->leave != AGENT_STAYS) {
            agent_keep_not(a, l, data, n);
        } else if (kind == MESSAGE_KEEP || kind == MESSAGE_WATCH) { /* it is being read: later */
            array_push(&a->early, (struct early){run, l, kind, mem_copy_bytes(data, n), n});
            agent_load(a, run, a->server_offset + clock_seconds(), BOARD_RUN_COLLECTED);
        } else if (kind == MESSAGE_FETCH && is_starting(a, run)) {
            link_close(l, "this run is still being read"); /* ask again: it may be here */
        } else if (kind == MESSAGE_FETCH) {
            uint32_t object = bytes_u32(&in);
            static const char text[] = "no data of this run here";
            strbuf_clear(&a->scratch);
            bytes_put_u64(&a->scratch, run);
            bytes_put_u32(&a->scratch, object);
            bytes_put_text(&a->scratch, text, sizeof text - 1);
            link_send(l, MESSAGE_ABSENT, a->scratch.at, a->scratch.n, NULL, 0);
        }
        break;
    default: /* what only clients are told, or nonsense */
        malformed = true;
        break;
    }
    if (malformed)
        link_close(l, "a message that makes no sense");
}

static void on_drained(void *context, struct link *l)
{
    struct agent *a = context;
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->depot)
            depot_drained(a->jobs.at[i]->depot, l);
}

static void on_closed(void *context, struct link *l, const char *why)
{
    struct agent *a = context;
    (void)why;
    for (size_t i = 0; i < a->peers.n; i++)
        if (a->peers.at[i].link == l) {
            a->peers.at[i].link = NULL;
            a->peers.at[i].refused = clock_seconds();
        }
    for (size_t i = 0; i < a->keeps.n; i++)
        if (a->keeps.at[i].link == l)
            a->keeps.at[i--] = array_pop(&a->keeps);
    for (size_t i = 0; i < a->handing.n; i++)
        if (a->handing.at[i].link == l)
            a->handing.at[i--] = array_pop(&a->handing);
    for (size_t i = 0; i < a->early.n; i++)
        if (a->early.at[i].link == l)
            a->early.at[i].link = NULL;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_link_closed(a->jobs.at[i], l);
}

static void on_log(void *context, const char *line)
{
    agent_log(context, "%s", line);
}

struct links *agent_listen(struct agent *a, struct error *err)
{
    return links_new(&(struct links_config){.loop = &a->loop,
                                            .key = a->o->key,
                                            .bind = a->o->bind ? a->o->bind : "127.0.0.1:0",
                                            .hello = "agent",
                                            .open = on_opened,
                                            .message = on_message,
                                            .closed = on_closed,
                                            .drained = on_drained,
                                            .log = on_log,
                                            .context = a},
                     err);
}
