/* weft/run.h: an agent in this process. */
#include "api/run_handle.h"
#include "base/quantity.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "cluster/agent/agent.h"
#include "cluster/launch/store_keeper.h"
#include "cluster/launch/store_server.h"
#include "exec/measure.h"
#include "session/resources.h"
#include "session/key_file.h"
#include "session/place.h"
#include "weft/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that the running agent points to, in one block that does not move. */
struct weft_agent {
    bool broken;
    struct weft_agent_options o; /* its texts are the caller's */
    struct agent_options agent;
    struct store_address address;
    char host[256];
    char *folder; /* of a store of its own */
    char *store;  /* the URL of another's; may hold a password */
    char *resources;
    bool was_ready;
    int stop; /* eventfd: weft_agent_stop() adds, the agent's loop reads */
};

/* Folders of an agent are its owner's alone: tasks' data and logs lie there. */
static bool agent_make_state(const char *path, struct error *err)
{
    char *part = mem_copy_string(path);
    for (char *slash = *part ? strchr(part + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(part, 0700);
        *slash = '/';
    }
    free(part);
    return folder_take_private(path, "--state", err);
}

/* And the folder that it shares with others of its launch, once it is the last. */
static void agent_remove_state(const char *path)
{
    char *above = mem_copy_string(path), *slash = strrchr(above, '/');
    tree_remove(path);
    if (slash && slash > above) {
        *slash = 0;
        rmdir(above);
    }
    free(above);
}

/* Seconds without a connection after which a store ends whose agent was killed. */
static const double store_unused = 3600;

/* A store of its own is told before the agent joins: others wait for its address. */
static bool agent_open_store(struct weft_agent *s, pid_t *pid, struct error *err)
{
    const char *serve = s->o.serve_store;
    struct strbuf url = {0};
    if (serve && s->o.store)
        return error_set(err, ERROR_INPUT, "--store and --serve-store: one of them");
    if (serve && !store_server_start(s->folder, serve, &s->agent.key, &url, pid, err))
        return false;
    if (serve)
        store_keeper_start(s->folder, s->o.temporary, store_unused);
    if (serve && s->o.store_ready)
        s->o.store_ready(s->o.context, url.at);
    bool good = place_address(serve ? url.at : s->store, &s->agent.key, &s->address, err);
    strbuf_free(&url);
    return good;
}

/* From the agent's loop, once. Whether it came decides who ends a store (agent_serve). */
static void agent_is_ready(void *context, uint32_t node, const char *address)
{
    struct weft_agent *s = context;
    s->was_ready = true;
    if (s->o.ready)
        s->o.ready(s->o.context, node, address);
}

static void agent_logs(void *context, const char *line)
{
    const struct weft_agent *s = context;
    if (s->o.log)
        s->o.log(s->o.context, line);
}

/* Whoever starts a store ends it, but never one that was there before: others may be at it. */
static bool agent_serve(struct weft_agent *s, struct error *err)
{
    pid_t server = 0, before = store_server_running(s->folder);
    bool good = agent_open_store(s, &server, err) && agent_run(&s->agent, err);
    /* a store that it started is ended with it; one that was there before it failed is left */
    if (good || (!s->was_ready && server != before)) {
        store_server_stop(server);
        store_keeper_end(s->folder);
    }
    if (good && s->o.temporary)
        agent_remove_state(s->agent.state);
    return good;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; others connect to what stands there. */
static bool agent_check_reached(const char *text, bool *has_port, struct error *err)
{
    size_t n = text[0] == '[' ? 1 + strspn(text + 1, "0123456789abcdefABCDEF:.%")
                              : strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_");
    bool good = n > 0 && n < 256 && (text[0] != '[' || (n > 1 && text[n++] == ']'));
    *has_port = good && text[n] == ':';
    int64_t port = 1;
    if (*has_port)
        good = quantity_integer(text + n + 1, strlen(text + n + 1), &port) && port >= 1 &&
               port <= 65535;
    else
        good = good && !text[n];
    return good || error_set(err, ERROR_INPUT,
                             "--tell is '%.80s'; expected HOST or HOST:PORT (an IPv6 address in "
                             "brackets)",
                             text);
}

static const char *agent_given_store(const struct weft_agent_options *o)
{
    const char *named = getenv("WEFT_STORE");
    return o->store ? o->store : named && *named ? named : "redis://127.0.0.1:6379";
}

/* Slurm says it since version 23; before that, whoever starts the agent asks squeue (slurm_node.sh). */
static double agent_ends(const struct weft_agent_options *o)
{
    const char *slurm = getenv("SLURM_JOB_ID") ? getenv("SLURM_JOB_END_TIME") : NULL;
    int64_t seconds;
    if (o->ends > 0)
        return o->ends;
    return slurm && quantity_integer(slurm, strlen(slurm), &seconds) && seconds > 0
               ? (double)seconds
               : 0;
}

/* All that can be wrong with the options is found here, before anybody is told anything. */
static bool agent_begin(struct weft_agent *s, struct error *err)
{
    static const double BANDWIDTH = 1.25e8, LEASE = 5; /* gigabit Ethernet; five heartbeats */
    const struct weft_agent_options *o = &s->o;
    struct machine m;
    struct strbuf folder = {0};
    measure_inventory(&m);
    if (gethostname(s->host, sizeof s->host - 1) != 0)
        s->host[0] = '?';
    struct strbuf resources = {0};
    bool known = resources_resolve(o->resources, &resources, err);
    s->resources = strbuf_steal(&resources);
    if (!known)
        return false;
    s->agent = (struct agent_options){
        .store = &s->address,
        .bind = o->bind,
        .advertise = o->reached_as,
        .state = o->state ? o->state : ".weft-agent",
        .host = s->host,
        .cores = o->cores ? o->cores : m.cores,
        .memory = o->memory > 0 ? o->memory : m.memory,
        .has = o->has,
        .resources = s->resources,
        .scratch = o->scratch && *o->scratch ? o->scratch : NULL,
        .temporary = o->temporary,
        .cache = o->cache,
        .keep_for = o->keep_for,
        .keep_size = o->keep_size,
        .bandwidth = o->bandwidth > 0 ? o->bandwidth : BANDWIDTH,
        .lease = o->lease > 0 ? o->lease : LEASE,
        .linger = o->linger,
        .only = o->only,
        .serves = o->serve_store != NULL,
        .allocated = getenv("SLURM_JOB_ID") != NULL || o->ends > 0,
        .ends = agent_ends(o),
        .read = place_read_workflow,
        .ready = agent_is_ready,
        .log = agent_logs,
        .trace = getenv("WEFT_AGENT_TRACE") ? agent_logs : NULL,
        .context = s,
    };
    s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->stop < 0)
        return error_set(err, ERROR_FAILED, "no descriptor to be stopped by: %s", strerror(errno));
    s->agent.stop = s->stop;
    strbuf_printf(&folder, "%s/store", s->agent.state);
    s->folder = strbuf_steal(&folder);
    if (o->reached_as && !agent_check_reached(o->reached_as, &s->agent.advertise_port, err))
        return false;
    return agent_make_state(s->agent.state, err) && key_file_get(o->key, &s->agent.key, err) &&
           (s->store = place_store_text(agent_given_store(o), err)) != NULL;
}

/* Apart from running, so that a program may go into the background in between with the key read. */
EXPORT struct weft_agent *weft_agent_open(const struct weft_agent_options *options,
                                          struct weft_error *error)
{
    struct weft_agent *volatile opened = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        opened = mem_new_zero(struct weft_agent, 1);
        opened->o = (struct weft_agent_options)WEFT_AGENT_OPTIONS_INIT;
        call.good = api_options(&opened->o, options, &call.err) && agent_begin(opened, &call.err);
    }
    if (run_call_end(&call))
        return opened;
    if (!call.boundary.failed)
        weft_agent_close(opened);
    return NULL;
}

EXPORT bool weft_agent_run(struct weft_agent *s, struct weft_error *error)
{
    RUN_CALL(call, error, &s->broken)
    call.good = agent_serve(s, &call.err);
    return run_call_end(&call);
}

/* One write to an eventfd: safe in a signal handler, which is why errno is kept. */
EXPORT void weft_agent_stop(struct weft_agent *s)
{
    int before = errno;
    uint64_t one = 1;
    ssize_t written = write(s->stop, &one, sizeof one);
    (void)written; /* it fails only when 2^64 - 2 requests wait already */
    errno = before;
}

EXPORT const char *weft_agent_state(const struct weft_agent *s)
{
    return s->agent.state;
}

EXPORT void weft_agent_close(struct weft_agent *s)
{
    if (!s || s->broken)
        return;
    if (s->stop > 0)
        close(s->stop);
    store_address_free(&s->address);
    explicit_bzero(&s->agent.key, sizeof s->agent.key);
    place_forget(s->store);
    free(s->folder);
    free(s->resources);
    free(s);
}
