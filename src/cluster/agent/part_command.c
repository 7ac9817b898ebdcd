/* Commands on the other nodes of a task that spans several: what `mpirun` starts its daemons with, in
 * place of ssh (gang_rsh.sh).
 *
 *     task's node                                            another of its nodes
 *     mpirun ─ rsh HOST COMMAND ─ request.x.ask
 *                                   │ gang_requests_tick()
 *                                   ▼
 *                               gang_request ── PART_RUN ──▶ part_command ─ child: sh -c COMMAND
 *                               (again, until answered)           │ ended, or its part is over: killed
 *     request.x.out, .end ◀──────────────────── PART_ENDED ────────┘
 *
 *   I1. A command runs only under a part that this node gives to that task of that agent, and ends with
 *       it, with all that it started (exec/child.h).
 *   I2. PART_RUN may come twice: (task, owner, id) is one command. PART_ENDED is said again whenever it
 *       is asked for again, until the part is over.
 *   I3. All of it is looked at ten times a second: a daemon is started once a task. */
#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "base/plural.h"
#include "cluster/agent/agent_state.h"
#include "exec/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    REQUEST_MOST = 1 << 20, /* bytes: a longer one is no command line */
    OUTPUT_MOST =
        1 << 16,       /* bytes of what it wrote that go back: messages of a daemon that fails */
    COMMANDS_MORE = 8, /* beside one a core */
    UNREACHABLE = 255, /* what ssh says */
};

static const double ask_every = 2; /* seconds: links that break are made again */

/* ---- on the other node ---- */

static struct part_command *command_find(struct job *j, uint32_t task, uint32_t owner, uint32_t id)
{
    for (size_t i = 0; i < j->gangs.commands.n; i++) {
        struct part_command *c = &j->gangs.commands.at[i];
        if (c->task == task && c->owner == owner && c->id == id && !c->dropped)
            return c;
    }
    return NULL;
}

static void command_forget(struct job *j, struct part_command *c)
{
    if (c->temporary)
        tree_remove(c->temporary);
    free(c->temporary);
    strbuf_free(&c->output);
    *c = array_pop(&j->gangs.commands);
}

/* For ourselves, when a task's own node is named: an answer without a link. */
static void request_answered(struct job *j, uint32_t task, uint32_t id, int status,
                             const char *output, size_t n);

static void command_tell_end(struct job *j, const struct part_command *c)
{
    const char *output = c->output.n ? c->output.at : "";
    if (c->owner == j->agent->node) {
        request_answered(j, c->task, c->id, c->status, output, c->output.n);
        return;
    }
    struct link *l = peer_link(j->agent, c->owner);
    if (!l)
        return; /* it will ask again */
    strbuf_clear(&j->scratch);
    bytes_put_u64(&j->scratch, j->number);
    bytes_put_u32(&j->scratch, c->task);
    bytes_put_u32(&j->scratch, c->id);
    bytes_put_u32(&j->scratch, (uint32_t)c->status);
    bytes_put_text(&j->scratch, output, c->output.n);
    link_send(l, MESSAGE_PART_ENDED, j->scratch.at, j->scratch.n, NULL, 0);
}

static uint32_t command_slots(const struct job *j)
{
    return j->agent->o->cores + COMMANDS_MORE;
}

static void commands_open(struct job *j)
{
    struct job_gangs *g = &j->gangs;
    struct strbuf logs = {0};
    if (g->children)
        return;
    strbuf_printf(&logs, "%s/logs", j->home);
    g->children = children_new(&(struct children_config){
        .slots = command_slots(j), .folder = j->options.folder, .logs = logs.at});
    strbuf_free(&logs);
    g->used = mem_new_zero(bool, command_slots(j));
}

/* TMPDIR=... of this command alone, which goes with it. */
static bool command_make_temporary(struct part_command *c, struct strbuf *variable,
                                   struct error *err)
{
    const char *above = getenv("TMPDIR");
    strbuf_printf(variable, "TMPDIR=%s/weft-XXXXXX", above && *above ? above : "/tmp");
    char *path = variable->at + strlen("TMPDIR=");
    if (!mkdtemp(path))
        return error_set(err, ERROR_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    c->temporary = mem_copy_string(path);
    return true;
}

/* env TMPDIR=... WEFT_GPU=... sh -c TEXT, on the node whose things they are. */
static bool command_spawn(struct job *j, const struct part_command *c, char *temporary, char *text,
                          struct error *err)
{
    const struct job_part *p = gang_part_given(j, c->task, c->owner);
    char **things = executor_part_variables(j->executor, c->task, p->number);
    ARRAY(char *) words = {0};
    array_push(&words, (char *)"env");
    array_push(&words, temporary);
    for (char **v = things; v && *v; v++)
        array_push(&words, *v);
    array_push(&words, (char *)"sh");
    array_push(&words, (char *)"-c");
    array_push(&words, text);
    array_push(&words, NULL);
    struct child_request request = {.task = c->task,
                                    .attempt = 1,
                                    .name = workflow_task_name(j->w, c->task),
                                    .words = words.at,
                                    .cores = j->w->cores[c->task],
                                    .timeout = INFINITY};
    bool good = child_start(j->gangs.children, c->slot, &request, err);
    array_free(&words);
    holding_free_variables(things);
    return good;
}

/* Why not, in the words of `err`. */
static bool command_start(struct job *j, struct part_command *c, char *text, struct error *err)
{
    struct job_gangs *g = &j->gangs;
    struct strbuf temporary = {0};
    if (!gang_part_given(j, c->task, c->owner)) /* I1 */
        return error_set(err, ERROR_FAILED, "that node does not work for this task");
    commands_open(j);
    for (c->slot = 0; c->slot < command_slots(j) && g->used[c->slot];)
        c->slot++;
    if (c->slot == command_slots(j))
        return error_set(err, ERROR_FAILED, "that node runs %u command%s already", c->slot,
                         plural(c->slot));
    bool good =
        command_make_temporary(c, &temporary, err) && command_spawn(j, c, temporary.at, text, err);
    g->used[c->slot] = good;
    strbuf_free(&temporary);
    return good;
}

bool part_has_commands(const struct job *j, uint32_t task, uint32_t owner)
{
    for (size_t i = 0; i < j->gangs.commands.n; i++) {
        const struct part_command *c = &j->gangs.commands.at[i];
        if (c->task == task && c->owner == owner && c->slot != NONE)
            return true;
    }
    return false;
}

static void command_run(struct job *j, uint32_t task, uint32_t owner, uint32_t id, char *text)
{
    struct part_command *c = command_find(j, task, owner, id);
    if (c) { /* I2 */
        if (c->slot == NONE)
            command_tell_end(j, c);
        return;
    }
    const struct job_part *p = gang_part_given(j, task, owner);
    if (p && p->lent) /* it is asked for again, and by then has its things back */
        return;
    struct error err = {0};
    c = array_add(&j->gangs.commands);
    *c = (struct part_command){.task = task, .owner = owner, .id = id};
    if (command_start(j, c, text, &err))
        return;
    c->slot = NONE;
    c->status = UNREACHABLE;
    strbuf_printf(&c->output, "weft: %s\n", err.text);
    command_tell_end(j, c);
}

void part_run_message(struct job *j, struct bytes *in, bool *malformed)
{
    uint32_t task = bytes_u32(in), owner = bytes_u32(in), id = bytes_u32(in);
    size_t n;
    const char *text = bytes_text(in, &n);
    if (!bytes_end(in) || task >= j->w->ntasks || owner >= j->agent->peers.n) {
        *malformed = true;
        return;
    }
    char *command = mem_copy_bytes(text, n);
    command_run(j, task, owner, id, command);
    free(command);
}

/* The end of its log: what it wrote last is why it failed. */
static void command_read_log(struct job *j, struct part_command *c)
{
    struct strbuf path = {0};
    struct error err = {0};
    struct stat s;
    strbuf_printf(&path, "%s/logs/part-%u", j->home, c->slot);
    int fd = child_keep_log(j->gangs.children, c->slot, path.at, &err)
                 ? open(path.at, O_RDONLY | O_CLOEXEC)
                 : -1;
    if (fd >= 0 && fstat(fd, &s) == 0) {
        char buffer[OUTPUT_MOST];
        off_t from = s.st_size > OUTPUT_MOST ? s.st_size - OUTPUT_MOST : 0;
        ssize_t n = pread(fd, buffer, sizeof buffer, from);
        strbuf_add_bytes(&c->output, buffer, n > 0 ? (size_t)n : 0);
    }
    if (fd >= 0)
        close(fd);
    unlink(path.at);
    strbuf_free(&path);
}

static void command_ended(struct job *j, const struct child_result *r)
{
    j->gangs.used[r->slot] = false;
    for (size_t i = 0; i < j->gangs.commands.n; i++) {
        struct part_command *c = &j->gangs.commands.at[i];
        if (c->slot != r->slot)
            continue;
        if (c->dropped) {
            command_forget(j, c);
            return;
        }
        if (r->log > 0)
            command_read_log(j, c);
        c->slot = NONE;
        c->status = r->status;
        command_tell_end(j, c);
        return;
    }
}

void part_commands_tick(struct job *j)
{
    struct child_result results[16];
    size_t n;
    if (!j->gangs.children)
        return;
    children_tick(j->gangs.children);
    while ((n = children_reap(j->gangs.children, results, 16)) > 0)
        for (size_t i = 0; i < n; i++)
            command_ended(j, &results[i]);
}

void part_commands_drop(struct job *j, const struct sched_part *part)
{
    for (size_t i = 0; i < j->gangs.commands.n;) {
        struct part_command *c = &j->gangs.commands.at[i];
        if (c->task != part->task || c->owner != part->owner || c->dropped) {
            i++;
        } else if (c->slot == NONE) {
            command_forget(j, c);
        } else {
            c->dropped = true;
            child_stop(j->gangs.children, c->slot, false);
            i++;
        }
    }
}

void part_commands_free(struct job *j)
{
    children_free(j->gangs.children);
    while (j->gangs.commands.n)
        command_forget(j, &j->gangs.commands.at[0]);
    array_free(&j->gangs.commands);
    free(j->gangs.used);
}

/* ---- on the task's node ---- */

static void request_forget(struct job *j, struct gang_request *r)
{
    free(r->path);
    free(r->command);
    *r = array_pop(&j->gangs.requests);
}

void gang_requests_drop(struct job *j, uint32_t task)
{
    for (size_t i = 0; i < j->gangs.requests.n;)
        if (j->gangs.requests.at[i].task == task)
            request_forget(j, &j->gangs.requests.at[i]);
        else
            i++;
}

/* What it wrote first: the status is what the script waits for. */
static void request_answer(struct job *j, const struct gang_request *r, int status,
                           const char *output, size_t n)
{
    struct strbuf path = {0};
    struct error err = {0};
    char line[16];
    int length = snprintf(line, sizeof line, "%d\n", status);
    strbuf_printf(&path, "%s.out", r->path);
    bool good = !n || file_write(path.at, output, n, &err);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s.end", r->path);
    if (!good || !file_write(path.at, line, (size_t)length, &err))
        job_log(j, err.text);
    strbuf_free(&path);
}

static void request_answered(struct job *j, uint32_t task, uint32_t id, int status,
                             const char *output, size_t n)
{
    for (size_t i = 0; i < j->gangs.requests.n; i++) {
        struct gang_request *r = &j->gangs.requests.at[i];
        if (r->task != task || r->id != id)
            continue;
        request_answer(j, r, status, output, n);
        request_forget(j, r);
        return;
    }
}

void part_ended_message(struct job *j, struct bytes *in, bool *malformed)
{
    uint32_t task = bytes_u32(in), id = bytes_u32(in);
    int status = (int)bytes_u32(in);
    size_t n;
    const char *output = bytes_text(in, &n);
    if (bytes_end(in))
        request_answered(j, task, id, status, output, n);
    else
        *malformed = true;
}

/* One that is for ourselves may be answered, and gone, when this returns. */
static void request_ask(struct job *j, uint32_t id)
{
    struct gang_request *r = j->gangs.requests.at;
    while (r->id != id)
        r++;
    r->asked = clock_seconds();
    if (r->node == j->agent->node) {
        command_run(j, r->task, r->node, r->id, r->command);
        return;
    }
    struct link *l = peer_link(j->agent, r->node);
    if (!l)
        return; /* it will be back, or the task is stopped */
    strbuf_clear(&j->scratch);
    bytes_put_u64(&j->scratch, j->number);
    bytes_put_u32(&j->scratch, r->task);
    bytes_put_u32(&j->scratch, j->agent->node);
    bytes_put_u32(&j->scratch, r->id);
    bytes_put_text(&j->scratch, r->command, strlen(r->command));
    link_send(l, MESSAGE_PART_RUN, j->scratch.at, j->scratch.n, NULL, 0);
}

/* The host, then the command. A host that is none of the task's is answered at once. */
static void request_open(struct job *j, const struct job_gang *x, const char *name)
{
    struct strbuf path = {0};
    struct text text = {0};
    struct error err = {0};
    strbuf_printf(&path, "%s/%s", x->folder, name);
    bool good = file_read(path.at, &text, &err) && text.n < REQUEST_MOST;
    unlink(path.at);
    path.at[path.n - strlen(".ask")] = 0;
    struct gang_request *r = array_add(&j->gangs.requests);
    *r = (struct gang_request){
        .task = x->task, .id = ++j->gangs.next_id, .node = NONE, .path = mem_copy_string(path.at)};
    char *host = good ? text.at : NULL, *command = host ? strchr(host, '\n') : NULL;
    if (command) {
        *command++ = 0;
        r->command = mem_copy_string(command);
        for (size_t i = 0; i < x->nodes.n; i++)
            if (strcmp(x->nodes.at[i].name, host) == 0)
                r->node = x->nodes.at[i].node;
    }
    if (r->node == NONE) {
        char why[300];
        int n = snprintf(why, sizeof why, "weft: %.200s is none of this task's nodes\n",
                         host && command ? host : "what was asked for");
        request_answered(j, r->task, r->id, UNREACHABLE, why, (size_t)n);
    } else {
        request_ask(j, r->id);
    }
    strbuf_free(&path);
    text_free(&text);
}

static void requests_find(struct job *j, const struct job_gang *x)
{
    DIR *d = x->folder ? opendir(x->folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".ask") == 0)
            request_open(j, x, e->d_name);
    }
    if (d)
        closedir(d);
}

void gang_requests_tick(struct job *j)
{
    for (size_t i = 0; i < j->gangs.running.n; i++)
        requests_find(j, &j->gangs.running.at[i]);
    for (size_t i = 0; i < j->gangs.requests.n; i++)
        if (clock_seconds() - j->gangs.requests.at[i].asked > ask_every)
            request_ask(j, j->gangs.requests.at[i].id);
}
