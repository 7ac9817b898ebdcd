/* Own agents. How many: on this machine and over ssh as many as the target names, from the start;
 * under Slurm as many nodes as the tasks are worth (cluster/launch/elastic.h), at most --nodes. */
#include "session/agents.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "base/plural.h"
#include "cluster/launch/own_store.h"
#include "session/key_file.h"
#include "session/log_tail.h"
#include "session/note.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds without work after which an agent leaves that nobody tells to (its client was killed, and
 * nobody attached): they do not stay for ever. Under Slurm idle nodes cost others: soon. */
static const double LINGER = 3600, LINGER_SLURM = 120;
/* Seconds in which a ready agent has joined the board, in which one that was told to leave has left
 * it, and in which Slurm's jobs have ended: each takes a second or two when all is well. */
static const double JOINING = 30, LEAVING = 30, ENDING = 10;

static void agents_launch_says(void *context, const char *line)
{
    const struct remote *r = context;
    remark(&r->session->o.remarks, REMARK_INFO, "%s", line);
}

/* Every few seconds while it is followed. Too few is mended the next time; too many leave. */
void agents_on_load(void *context, const struct client_load *load)
{
    struct remote *r = context;
    if (load->ending || !r->fleet || strcmp(r->o.on, "slurm") != 0)
        return;
    size_t n;
    const struct member *m = client_members(r->client, &n);
    for (size_t i = 0; i < n; i++)
        if (!client_is_alive(r->client, &m[i]))
            fleet_left(r->fleet, m[i].node);
    elastic_learn(&r->elastic, load->agents, load->cores);
    r->elastic.least = load->widest;
    fleet_want(r->fleet,
               elastic_nodes(&r->elastic, (uint64_t)load->ready + load->running + load->soon) +
                   load->going);
}

/* A key of its own for this run, unless the user wants one that others know, too. */
static bool agents_key(struct remote *r, struct error *err)
{
    const char *key = r->o.place.key;
    if (!key) {
        seal_key_random(&r->place.key);
        return true;
    }
    r->key_file = strcmp(key, "-") != 0 ? mem_copy_string(key) : NULL;
    return key_file_get(key, &r->place.key, err);
}

/* Cores and memory of an agent: as the user says; on this machine, which they share, an equal part;
 * else whatever their machine has (0). */
static double agents_shape(struct remote *r)
{
    const struct session *s = r->session;
    uint32_t here = 0;
    r->elastic.cores = s->o.cores;
    if (!r->elastic.cores && sscanf(r->o.on, "local:%u", &here) == 1 && here)
        r->elastic.cores = s->cores > here ? s->cores / here : 1;
    else
        here = 0;
    return s->o.memory > 0 ? s->memory : here ? s->memory / here : 0;
}

/* How many nodes of Slurm: as many as the user allows, else as many as one task spans; and no more than an
 * allocation has, if we are in one. False: a task spans more. */
static bool agents_slurm_most(struct remote *r, struct error *err)
{
    const struct session *s = r->session;
    uint32_t wide = NONE, there = fleet_most(r->fleet);
    for (uint32_t t = 0; s->w->nodes && t < s->w->ntasks; t++)
        if (s->needs.task[t] != NEED_NOT && (wide == NONE || s->w->nodes[t] > s->w->nodes[wide]))
            wide = t;
    uint32_t span = wide == NONE ? 1 : s->w->nodes[wide];
    r->elastic.most = r->o.nodes ? r->o.nodes : span;
    if (span > there)
        return error_set(
            err, ERROR_INFEASIBLE,
            "task '%s' spans %u node%s; the allocation has %u: lower its `nodes`, or ask "
            "Slurm for more",
            workflow_task_name(s->w, wide), span, plural(span), there);
    return span <= r->elastic.most ||
           error_set(
               err, ERROR_INFEASIBLE,
               "task '%s' spans %u node%s; --nodes allows %u: lower its `nodes`, or say --nodes "
               "%u",
               workflow_task_name(s->w, wide), span, plural(span), r->elastic.most, span);
}

/* Under Slurm beside us: jobs end, and the first one's agent would take it along. */
static bool agents_store(struct remote *r, bool slurm, struct error *err)
{
    struct strbuf url = {0};
    if (r->o.place.store) {
        r->store = place_store_text(r->o.place.store, err);
        return r->store != NULL;
    }
    if (!slurm)
        return true;
    struct strbuf folder = {0};
    strbuf_printf(&folder, "%s/store", r->fleet_state);
    bool good = own_store_start(folder.at, &r->place.key, &url, err);
    strbuf_free(&folder);
    r->store = strbuf_steal(&url);
    return good;
}

/* Before agents are started at a store of the user's: is it one that they would refuse? */
static bool agents_check_store(struct remote *r, struct error *err)
{
    struct store_address address = {0};
    char remark[BOARD_REMARK];
    struct board *b =
        place_address(r->store, &r->place.key, &address, err) ? board_open(&address, err) : NULL;
    bool good = b && board_check_promise(b, &address, remark, err);
    board_close(b);
    store_address_free(&address);
    return good;
}

/* The fleet's loop drives the client later: both live in this thread. */
bool agents_start(struct remote *r, struct error *err)
{
    const struct session *s = r->session;
    char folder[PATH_MAX];
    struct strbuf state = {0};
    bool slurm = strcmp(r->o.on, "slurm") == 0;
    if (!agents_key(r, err))
        return false;
    strbuf_printf(&state, "%s/agents-%d", realpath(s->ws.state, folder) ? folder : s->ws.state,
                  (int)getpid());
    r->fleet_state = strbuf_steal(&state);
    double memory = agents_shape(r);
    note_clear_agents(s->ws.state);
    if (!agents_store(r, slurm, err) || (r->o.place.store && !agents_check_store(r, err)))
        return false;
    r->fleet = fleet_new(&(struct fleet_config){.target = r->o.on,
                                                .key = r->place.key,
                                                .store = r->store,
                                                .state = r->fleet_state,
                                                .program = r->o.program ? r->o.program : "weft",
                                                .cores = r->elastic.cores,
                                                .memory = memory,
                                                .has = s->o.has,
                                                .resources = s->o.resources,
                                                .linger = slurm ? LINGER_SLURM : LINGER,
                                                .say = agents_launch_says,
                                                .context = r},
                         err);
    if (!r->fleet)
        return false;
    remote_reachable(r, NULL, r->fleet);
    r->elastic.most = fleet_most(r->fleet);
    if (slurm && !agents_slurm_most(r, err))
        return false;
    uint32_t ready = elastic_ready_tasks(s->w, &s->needs, &r->elastic.least);
    fleet_want(r->fleet, slurm ? elastic_first(&r->elastic, ready) : r->elastic.most);
    bool started = fleet_wait(r->fleet, err);
    remote_reachable(r, NULL, NULL);
    if (!started)
        return false;
    if (!fleet_store(r->fleet)[0])
        return error_set(err, ERROR_FAILED, "no agent has said where its store is");
    return place_address(fleet_store(r->fleet), &r->place.key, &r->place.address, err);
}

/* At a store of their own nobody else has ever stood: who was there and is gone again is not waited for. */
void agents_wait_joined(struct remote *r)
{
    uint32_t ever = 0;
    fleet_nodes(r->fleet, &ever);
    client_wait_agents(r->client, fleet_ready(r->fleet), r->o.place.store ? 0 : ever, JOINING);
}

bool agents_start_again(struct remote *r)
{
    double memory;
    struct error ignored = {0}; /* who asked has a reason of its own, and says that */
    if (!r->fleet || !client_refresh(r->client, JOINING, &ignored) ||
        place_cores(r->client, &memory) || !fleet_begin_again(r->fleet))
        return false;
    struct client *client = r->client;
    remote_reachable(r, NULL, r->fleet); /* a stop is the fleet's while it starts */
    bool started = fleet_wait(r->fleet, &ignored);
    remote_reachable(r, client, NULL);
    if (started)
        agents_wait_joined(r);
    return started;
}

/* Agents of this machine have hung up, and end their store and remove what is theirs; the last removes the
 * folder that they stood in. It would find half of it if we removed that now, and leave the store's keeper. */
static void agents_await_end(const char *folder)
{
    for (int i = 0; i < 1000 && file_exists(folder); i++) /* five seconds */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* What those on this machine wrote last into their logs; nothing where their logs are elsewhere. */
static void agents_last_words(const struct remote *r, struct strbuf *out)
{
    enum { NAMED = 3 }; /* they mostly say the same */
    uint32_t n = 0, named = 0;
    struct strbuf path = {0};
    fleet_nodes(r->fleet, &n);
    for (uint32_t k = 0; k < n && named < NAMED; k++) {
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/agent-%u/agent.log", r->fleet_state, k);
        char *tail = log_tail(path.at), *before = tail ? strrchr(tail, '\n') : NULL;
        const char *line = before ? before + 1 : tail;
        if (line && *line && !strstr(strbuf_text(out), line))
            strbuf_printf(out, "%s\"%s\"", named++ ? ", " : "with these last words: ", line);
        free(tail);
    }
    strbuf_free(&path);
}

bool agents_are_alone(const struct remote *r)
{
    return r->fleet && !fleet_is_elastic(r->fleet) && !r->o.place.store;
}

bool agents_deserted(void *remote, struct error *err)
{
    const struct remote *r = remote;
    struct strbuf words = {0};
    agents_last_words(r, &words);
    error_set(err, ERROR_FAILED,
              "no agent is left: those that were started for run %" PRIu64
              " have died%s%s; run again to go on with what is done",
              r->run, words.n ? ", " : "", strbuf_text(&words));
    strbuf_free(&words);
    return false;
}

/* Told to leave through the board; what the launch holds (Slurm's jobs) is let go after that. */
void agents_release(struct remote *r)
{
    uint32_t n = 0;
    const uint32_t *nodes = fleet_nodes(r->fleet, &n);
    bool own_store = !r->o.place.store;
    bool failed = r->session->state != SESSION_ENDED; /* it never began */
    uint32_t stay = n;
    if (r->client && n) /* at a store of their own they have no other work, and no data to save */
        stay = client_shut_down(r->client, own_store ? NULL : nodes, n,
                                r->stopped || failed || own_store, LEAVING);
    remote_reachable(r, NULL, NULL);
    client_close(r->client);
    r->client = NULL;
    if (n && !stay && r->target && strncmp(r->target, "local:", 6) == 0)
        agents_await_end(r->fleet_state);
    fleet_end(r->fleet, ENDING);
    r->fleet = NULL;
}

/* The store first: it writes there. */
static void agents_clear_folder(const char *folder)
{
    struct strbuf store = {0};
    strbuf_printf(&store, "%s/store", folder);
    own_store_end(store.at);
    strbuf_free(&store);
    tree_remove(folder);
}

void agents_clear(const struct remote *r)
{
    agents_clear_folder(r->fleet_state);
}

/* Who has hung up still removes his folder; that takes moments, but for a machine that does much else. */
static bool agents_have_left(const char *folder)
{
    for (int i = 0; i < 200; i++) { /* ten seconds */
        if (rmdir(folder) == 0 || errno == ENOENT)
            return true;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

/* Each agent removes its own folder, and the last the one that they stood in. */
void agents_clear_others(const char *state)
{
    struct strbuf path = {0};
    DIR *folder = opendir(state);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (strncmp(e->d_name, "agents-", 7) != 0)
            continue;
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/%s", state, e->d_name);
        size_t n = path.n;
        strbuf_add(&path, "/node.sh"); /* what Slurm's nodes ran */
        bool slurm = file_exists(path.at);
        path.at[path.n = n] = 0;
        strbuf_add(&path, "/agents");
        bool gone = slurm && agents_have_left(path.at);
        path.at[path.n = n] = 0;
        if (gone)
            agents_clear_folder(path.at);
    }
    if (folder)
        closedir(folder);
    strbuf_free(&path);
}
