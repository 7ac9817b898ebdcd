/* Tasks that span several nodes: the room on this machine for parts of them, and what their command
 * finds when it runs here.
 *
 *     scheduler ── part begins ──▶ waits ── room ──▶ ROOM to the scheduler ──▶ granted ── over ──▶ gone
 *                                                                   └─ own: the task's, until it ends
 *
 *   I1. The machine's cores, memory and things are counted once over all jobs (agent.busy). While a part waits for
 *       room, nothing else begins here but what data must be computed again for: what becomes free is
 *       kept for it. Parts of all runs are asked for in the order of the agents' numbers (sched/gang.c),
 *       so runs do not wait for each other in a circle.
 *   I2. The room of this agent's own part goes over to its task without being free in between, and its things
 *       likewise. On the other nodes the part holds them, and its commands are told which.
 *   I3. A part may wait, with its room, for data that is gone. What computes that again may need the part's things:
 *       a part that nothing uses yet lends them, has them back before anybody else gets any, and until then
 *       neither its task nor a command of it begins here.
 *   I4. A command that ended badly is in doubt until each other node has said, after that end, that it
 *       lives (its heartbeat). If one is gone, the attempt is no failure: the task is tried again as a
 *       whole.
 *
 * The folder of a task's gang, STATE/runs/RUN/gang/TASK:
 *
 *     hosts                     WEFT_HOSTFILE: a line a node, its own first: "alice slots=4"
 *     rsh                       WEFT_RSH: rsh HOST COMMAND ... runs a command there (part_command.c)
 *     request.XXXXXX.ask        a request of it; .out and .end are the answer */
#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "base/plural.h"
#include "cluster/agent/agent_state.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const char cluster_agent_gang_rsh_sh[]; /* gang_rsh.sh */

/* A heartbeat is dated by when its answer came: it may be so much older. */
static const double heartbeat_margin = 0.5;

/* ---- room ---- */

static struct job_part *part_of(const struct job *j, uint32_t task, uint32_t owner)
{
    for (size_t i = 0; i < j->gangs.parts.n; i++)
        if (j->gangs.parts.at[i].part.task == task && j->gangs.parts.at[i].part.owner == owner)
            return &j->gangs.parts.at[i];
    return NULL;
}

static void part_give_things(struct job *j, struct job_part *p)
{
    if (p->number != NONE && !p->lent)
        executor_give_part(j->executor, p->number);
    p->number = NONE;
    p->lent = false;
}

/* Of this agent's own, the task has not begun while the part holds them; of another's nothing is known but
 * whether its commands run here. */
static bool part_is_idle(const struct job *j, const struct job_part *p)
{
    return p->number != NONE && !p->lent && !part_has_commands(j, p->part.task, p->part.owner);
}

static void gang_take_back(struct agent *a)
{
    for (size_t i = 0; i < a->jobs.n; i++) {
        const struct job *j = a->jobs.at[i];
        for (size_t k = 0; k < j->gangs.parts.n; k++) {
            struct job_part *p = &j->gangs.parts.at[k];
            p->lent = p->lent && !executor_take_part(j->executor, p->part.task, p->number);
        }
    }
}

/* I3. */
bool gang_lend_things(struct agent *a, const struct job *j, uint32_t task)
{
    for (size_t i = 0; i < a->jobs.n; i++) {
        const struct job *other = a->jobs.at[i];
        for (size_t k = 0; k < other->gangs.parts.n; k++) {
            struct job_part *p = &other->gangs.parts.at[k];
            if (executor_has_things(j->executor, task))
                return true;
            if (!part_is_idle(other, p))
                continue;
            executor_give_part(other->executor, p->number);
            p->lent = true;
        }
    }
    bool good = executor_has_things(j->executor, task);
    if (!good)
        gang_take_back(a);
    return good;
}

bool gang_has_lent(const struct agent *a)
{
    for (size_t i = 0; i < a->jobs.n; i++)
        for (size_t k = 0; k < a->jobs.at[i]->gangs.parts.n; k++)
            if (a->jobs.at[i]->gangs.parts.at[k].lent)
                return true;
    return false;
}

void gang_hand_over_things(struct job *j, uint32_t task)
{
    struct job_part *own = part_of(j, task, j->agent->node);
    if (own)
        part_give_things(j, own);
}

static void part_give_back(struct job *j, struct job_part *p)
{
    struct job_gangs *g = &j->gangs;
    size_t at = (size_t)(p - g->parts.at);
    if (p->has_room)
        supply_give_room(j, j->w->cores[p->part.task], p->memory, clock_seconds() - p->since);
    part_give_things(j, p);
    memmove(p, p + 1, (g->parts.n - at - 1) * sizeof *p);
    g->parts.n--;
}

void gang_parts(struct job *j, const struct sched_part *parts, size_t n)
{
    struct job_gangs *g = &j->gangs;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].begins) {
            array_push(&g->parts, (struct job_part){.part = parts[i], .number = NONE});
            continue;
        }
        for (size_t k = 0; k < g->parts.n; k++) {
            struct sched_part *p = &g->parts.at[k].part;
            if (p->task != parts[i].task || p->owner != parts[i].owner ||
                p->epoch != parts[i].epoch || p->round != parts[i].round)
                continue;
            part_commands_drop(j, p);
            part_give_back(j, &g->parts.at[k--]);
        }
    }
}

const struct job_part *gang_part_given(const struct job *j, uint32_t task, uint32_t owner)
{
    const struct job_part *p = part_of(j, task, owner);
    return p && p->has_room ? p : NULL;
}

bool gang_gives_parts(const struct job *j)
{
    return j->gangs.parts.n > 0;
}

bool gang_parts_are_here(const struct agent *a)
{
    bool any = false;
    for (size_t i = 0; i < a->jobs.n && !any; i++)
        any = gang_gives_parts(a->jobs.at[i]);
    return any;
}

bool gang_waits_for_room(const struct agent *a)
{
    for (size_t i = 0; i < a->jobs.n; i++) {
        const struct job_gangs *g = &a->jobs.at[i]->gangs;
        for (size_t k = 0; k < g->parts.n; k++)
            if (!g->parts.at[k].has_room)
                return true;
    }
    return false;
}

/* I1. The scheduler may start the task, or ask for another part, while it is told. */
void gang_pump(struct job *j)
{
    struct job_gangs *g = &j->gangs;
    if (gang_has_lent(j->agent))
        gang_take_back(j->agent);
    for (size_t i = 0; i < g->parts.n && j->state == JOB_OPEN; i++) {
        struct job_part *p = &g->parts.at[i];
        if (p->has_room)
            continue;
        p->memory = executor_task_memory(j->executor, p->part.task);
        if (!supply_fits(j, j->w->cores[p->part.task], p->memory) ||
            !executor_take_part(j->executor, p->part.task, g->next_number))
            return;
        p->number = g->next_number;
        g->next_number = (g->next_number + 1) & INT32_MAX;
        supply_take_room(j, j->w->cores[p->part.task], p->memory);
        p->has_room = true;
        p->since = clock_seconds();
        struct sched_event e = {.kind = SCHED_EVENT_ROOM};
        e.room = p->part;
        driver_handle(j->driver, &e);
        i = SIZE_MAX; /* the list may be another */
    }
}

/* ---- its nodes ---- */

static struct job_gang *gang_of(struct job *j, uint32_t task)
{
    for (size_t i = 0; i < j->gangs.running.n; i++)
        if (j->gangs.running.at[i].task == task)
            return &j->gangs.running.at[i];
    return NULL;
}

static void gang_remove(struct job *j, struct job_gang *x)
{
    gang_requests_drop(j, x->task);
    if (x->folder)
        tree_remove(x->folder);
    free(x->folder);
    for (size_t i = 0; i < x->nodes.n; i++)
        free(x->nodes.at[i].name);
    array_free(&x->nodes);
    *x = array_pop(&j->gangs.running);
}

uint32_t gang_other_node(struct job *j, uint32_t task)
{
    const struct job_gang *x = gang_of(j, task);
    return x && x->nodes.n > 1 ? x->nodes.at[1].node : NONE;
}

/* Computing again would need its nodes, which may wait for the very data: a copy costs a transfer. */
void gang_leave_copies(struct job *j, uint32_t task, uint32_t node)
{
    const struct workflow *w = j->w;
    struct link *l = peer_link(j->agent, node);
    struct strbuf list = {0}, out = {0};
    uint32_t n = 0;
    for (uint32_t o = w->object_off[task]; l && o < w->object_end[task]; o++) {
        if (!j->needs.present[o] || digest_is_zero(&j->needs.content[o]))
            continue;
        bytes_put_u32(&list, o);
        bytes_put(&list, j->needs.content[o].at, sizeof j->needs.content[o].at);
        n++;
    }
    bytes_put_u64(&out, j->number);
    bytes_put_u32(&out, n);
    bytes_put(&out, list.at, list.n);
    if (n && out.n < LINK_MESSAGE_MAX)
        link_send(l, MESSAGE_KEEP, out.at, out.n, NULL, 0);
    strbuf_free(&list);
    strbuf_free(&out);
}

/* I2. */
void gang_task_ended(struct job *j, uint32_t task)
{
    struct job_gang *x = gang_of(j, task);
    struct job_part *own = part_of(j, task, j->agent->node);
    if (x)
        gang_remove(j, x);
    if (own)
        part_give_back(j, own);
}

static const char *host_of(const struct agent *a, uint32_t node)
{
    const char *host = node == a->node ? a->o->host : a->peers.at[node].host;
    return host ? host : "node";
}

/* Names are host names, but of agents on one host only one can have it: the task's own first. */
static void gang_name_nodes(struct job *j, struct job_gang *x, const uint32_t *nodes, uint32_t n)
{
    const struct agent *a = j->agent;
    array_push(&x->nodes, (struct gang_node){.node = a->node, .life = a->life});
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i] != a->node)
            array_push(&x->nodes,
                       (struct gang_node){.node = nodes[i], .life = a->peers.at[nodes[i]].life});
    for (size_t i = 0; i < x->nodes.n; i++) {
        const char *host = host_of(a, x->nodes.at[i].node);
        struct strbuf name = {0};
        bool taken = false;
        for (size_t k = 0; k < i; k++)
            taken |= strcmp(x->nodes.at[k].name, host) == 0;
        strbuf_add(&name, host);
        if (taken)
            strbuf_printf(&name, "-weft%u", x->nodes.at[i].node);
        x->nodes.at[i].name = strbuf_steal(&name);
    }
}

/* What the environment says already is somebody's will, and stays. */
static void add_variable(struct strbuf *out, const char *name, const char *value)
{
    if (strncmp(name, "WEFT_", 5) != 0 && getenv(name))
        return;
    strbuf_printf(out, "%s=%s", name, value);
    strbuf_add_bytes(out, "", 1);
}

/* So that mpirun of Open MPI, 4 (OMPI_) and 5 (PRTE_), starts its daemons through us, each from the
 * task's own node (no tree), in the foreground, where they end with their part; also inside an allocation
 * of Slurm, which would be asked otherwise. */
static void gang_add_variables(const struct job_gang *x, struct strbuf *out)
{
    char count[16];
    struct strbuf hosts = {0}, rsh = {0};
    snprintf(count, sizeof count, "%zu", x->nodes.n);
    strbuf_printf(&hosts, "%s/hosts", x->folder);
    strbuf_printf(&rsh, "%s/rsh", x->folder);
    add_variable(out, "WEFT_NODES", count);
    add_variable(out, "WEFT_HOSTFILE", hosts.at);
    add_variable(out, "WEFT_RSH", rsh.at);
    add_variable(out, "OMPI_MCA_plm", "rsh");
    add_variable(out, "OMPI_MCA_plm_rsh_agent", rsh.at);
    add_variable(out, "OMPI_MCA_plm_rsh_no_tree_spawn", "1");
    add_variable(out, "OMPI_MCA_orte_leave_session_attached", "1");
    add_variable(out, "OMPI_MCA_ras", "^slurm");
    add_variable(out, "PRTE_MCA_plm", "ssh");
    add_variable(out, "PRTE_MCA_plm_ssh_agent", rsh.at);
    add_variable(out, "PRTE_MCA_plm_ssh_no_tree_spawn", "1");
    add_variable(out, "PRTE_MCA_prte_leave_session_attached", "1");
    add_variable(out, "PRTE_MCA_ras", "^slurm");
    strbuf_free(&hosts);
    strbuf_free(&rsh);
}

/* The host file and the script, in a folder of their own with an absolute name. */
static bool gang_make_folder(struct job *j, struct job_gang *x, struct error *err)
{
    struct strbuf path = {0}, text = {0};
    char home[PATH_MAX];
    if (!realpath(j->home, home))
        return error_set(err, ERROR_FAILED, "%s: %s", j->home, strerror(errno));
    strbuf_printf(&path, "%s/gang", home);
    bool good = mkdir(path.at, 0700) == 0 || errno == EEXIST;
    strbuf_printf(&path, "/%u", x->task);
    tree_remove(path.at);
    good = good && mkdir(path.at, 0700) == 0;
    if (!good)
        error_set(err, ERROR_FAILED, "%s: cannot be made: %s", path.at, strerror(errno));
    x->folder = strbuf_steal(&path);
    for (size_t i = 0; i < x->nodes.n; i++)
        strbuf_printf(&text, "%s slots=%u\n", x->nodes.at[i].name, j->w->cores[x->task]);
    strbuf_printf(&path, "%s/hosts", x->folder);
    good = good && file_write(path.at, text.at, text.n, err);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/rsh", x->folder);
    good = good &&
           file_write(path.at, cluster_agent_gang_rsh_sh, strlen(cluster_agent_gang_rsh_sh), err);
    if (good && chmod(path.at, 0700) != 0)
        good = error_set(err, ERROR_FAILED, "%s: %s", path.at, strerror(errno));
    strbuf_free(&path);
    strbuf_free(&text);
    return good;
}

bool gang_begin(void *job, uint32_t task, struct strbuf *variables, struct error *err)
{
    struct job *j = job;
    uint32_t n = 0;
    const uint32_t *nodes = sched_gang(driver_sched(j->driver), task, &n);
    if (!nodes)
        return error_set(err, ERROR_FAILED, "it spans %u node%s, and has them no more",
                         j->w->nodes[task], plural(j->w->nodes[task]));
    struct job_gang *x = gang_of(j, task);
    if (x)
        gang_remove(j, x);
    x = array_add(&j->gangs.running);
    *x = (struct job_gang){.task = task};
    gang_name_nodes(j, x, nodes, n);
    if (!gang_make_folder(j, x, err))
        return false;
    gang_add_variables(x, variables);
    return true;
}

/* ---- doubt (I4) ---- */

bool gang_doubt(struct job *j, uint32_t task)
{
    struct job_gang *x = gang_of(j, task);
    if (x)
        x->doubted = clock_seconds();
    return x != NULL;
}

/* True: it is known now whether another node is to blame, or `*lost`. */
static bool gang_find_blame(const struct job *j, const struct job_gang *x, bool *lost)
{
    bool all = true;
    for (size_t i = 1; i < x->nodes.n; i++) {
        uint32_t node = x->nodes.at[i].node;
        const struct peer *p = &j->agent->peers.at[node];
        /* one that leaves takes its part along: tasks there may have died with it before it said so */
        *lost |= !peer_is_up(j->agent, node) || p->life != x->nodes.at[i].life || p->leaving;
        all &= p->beaten > x->doubted + heartbeat_margin;
    }
    return *lost || all;
}

static void gang_judge(struct job *j)
{
    for (size_t i = 0; i < j->gangs.running.n; i++) {
        struct job_gang *x = &j->gangs.running.at[i];
        bool lost = false;
        if (!(x->doubted > 0) || !gang_find_blame(j, x, &lost))
            continue;
        x->doubted = 0;
        executor_judge(j->executor, x->task, lost);
    }
}

void gang_tick(struct job *j)
{
    gang_judge(j);
    gang_requests_tick(j);
    part_commands_tick(j);
}

void gang_free(struct job *j)
{
    while (j->gangs.running.n)
        gang_remove(j, &j->gangs.running.at[0]);
    part_commands_free(j);
    array_free(&j->gangs.parts);
    array_free(&j->gangs.running);
    array_free(&j->gangs.requests);
}
