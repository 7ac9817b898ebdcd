/* An attempt that ended badly on an agent: is this machine to blame, or the task?
 *
 *     ended badly ── a disk is full, our own writing failed, ... ──▶ the agent: may another try?
 *          │                                                            │ yes: node-failed, given back
 *          └── nothing is known against the machine ──▶ a failure ◀─────┘ no
 *
 * What counts as proof: a file system in which the task or we write is full when the attempt ends (its
 * sandbox still there), or was while it ran; the words of an error of our own; the system's words for a
 * full disk, or a bare "write error", at the end of the task's log, in which they always have room (child.c); the kernel's count of
 * what it ended for want of memory, when the task was killed; a shell that is not there. A disk that has
 * room again when the sandbox is gone was filled by the task itself, perhaps: then, when only the log
 * tells, and when the machine's memory ran out, it costs more, so that a task which does this everywhere
 * fails soon. On one machine (no run_node) nothing
 * here happens. */
#include "drive/executor_private.h"

#include "exec/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COST_OF_NODE = 1,       /* the machine is to blame */
    COST_OF_BOTH = 5,       /* the task may be: twice, and then it counts */
    KILLED_STATUS = 128 + 9 /* also what a shell gives whose command was killed */
};

struct blame {
    enum trace_trouble trouble;
    const char *place; /* of a full disk */
    const char *says;  /* what is known, where no error of our own tells */
    uint32_t cost;
};

/* Where tasks and we write; the first that is full. NULL: none is. */
static const char *find_full_place(const struct executor *x, const char *sandbox)
{
    const char *tmp = getenv("TMPDIR");
    const char *const places[] = {sandbox, x->o->folder, x->o->state, tmp && *tmp ? tmp : "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (health_is_full(places[i]))
            return places[i];
    return NULL;
}

/* The same, for attempts that run now and end when it has room again. */
static const char *note_full_place(struct executor *x, const char *sandbox)
{
    const char *place = find_full_place(x, sandbox);
    if (place) {
        x->full_place = place == sandbox ? x->o->state : place;
        x->full_at = driver_now(x->driver);
    }
    return place;
}

/* `start`: of the attempt; INFINITY: it did not begin. */
static struct blame find_blame(struct executor *x, int outcome, int status, double start,
                               const char *text, const char *log, const char *sandbox)
{
    struct blame b = {.cost = COST_OF_NODE};
    if (outcome != TRACE_FAILED && outcome != TRACE_KILLED && outcome != TRACE_NOT_STARTED)
        return b;
    b.place = note_full_place(x, sandbox);
    b.trouble = b.place ? TROUBLE_DISK : health_of_error(text);
    if (b.trouble)
        return b;
    b.cost = COST_OF_BOTH;
    if (x->full_place && x->full_at >= start) { /* what another left has gone with its sandbox */
        b.place = x->full_place;
        b.trouble = TROUBLE_DISK;
        return b;
    }
    if (outcome == TRACE_FAILED && health_of_log(log)) {
        b.trouble = TROUBLE_DISK;
        b.says = "the task's log says so";
        return b;
    }
    if (outcome == TRACE_NOT_STARTED)
        b.trouble = x->lacks_shell ? TROUBLE_SHELL : TROUBLE_NONE;
    else if (status == KILLED_STATUS && health_oom_kills() > x->oom_kills[1])
        b.trouble = TROUBLE_MEMORY;
    return b;
}

/* Asked once an attempt. False: it has failed, with a text that says what the agent knows. */
static bool may_pass_on(struct executor *x, uint32_t task, const struct blame *b, char **text)
{
    const struct run_node *node = x->o->node;
    struct strbuf why = {0};
    bool good = node->failed(node->context, task, b->trouble, b->place, b->cost,
                             b->says ? b->says : *text, &why);
    if (!good && why.n) {
        free(*text);
        *text = strbuf_steal(&why);
    }
    strbuf_free(&why);
    return good;
}

static void give_back(struct executor *x, const struct trace_event *e, uint32_t slot, uint32_t cost)
{
    x->result->attempts++;
    outbox_event(x->outbox, e);
    driver_ended(x->driver, &(struct sched_ended){.task = e->id,
                                                  .slot = slot,
                                                  .failed = true,
                                                  .returned = true,
                                                  .passed_on = (uint8_t)cost,
                                                  .start = e->start,
                                                  .finish = e->finish});
}

bool executor_pass_on(struct executor *x, const struct trace_event *e, uint32_t slot,
                      uint32_t cores, const char *sandbox, struct run_failure *failure)
{
    struct blame b =
        find_blame(x, e->outcome, e->status, e->start, failure->text, failure->log, sandbox);
    if (!b.trouble || x->stop != EXECUTOR_RUNS)
        return false;
    if (sandbox)
        executor_leave_sandbox(x, e->id, sandbox, false, false);
    /* its sandbox stood on that disk */
    if (b.place == sandbox && sandbox)
        b.place = x->o->state;
    if (b.place && sandbox && !health_is_full(b.place))
        b.cost = COST_OF_BOTH;
    if (!may_pass_on(x, e->id, &b, &failure->text))
        return false;
    free(failure->text);
    free(failure->log);
    struct trace_event event = *e;
    event.outcome = TRACE_NODE_FAILED;
    event.status = (int)b.trouble;
    x->result->busy += (e->finish - e->start) * cores;
    x->result->cpu += e->cpu;
    x->running--;
    give_back(x, &event, slot, b.cost);
    return true;
}

bool executor_pass_on_start(struct executor *x, const struct sched_start *s, int status,
                            char **text)
{
    struct blame b = find_blame(x, TRACE_NOT_STARTED, status, INFINITY, *text, NULL, NULL);
    if (!b.trouble || !may_pass_on(x, s->task, &b, text))
        return false;
    double now = driver_now(x->driver);
    give_back(x,
              &(struct trace_event){.kind = TRACE_TASK,
                                    .id = s->task,
                                    .start = now,
                                    .finish = now,
                                    .outcome = TRACE_NODE_FAILED,
                                    .status = (int)b.trouble,
                                    .attempt = s->attempt},
              s->slot, b.cost);
    return true;
}

/* Disks often: one that is full for half a second fails what writes then. What the kernel ended between the
 * last but one look and now may be ours. */
void executor_look_at_health(struct executor *x, uint32_t tick)
{
    enum { LOOK_AT_DISKS = 2 }; /* ticks */
    if (x->running && tick % LOOK_AT_DISKS == 0)
        note_full_place(x, NULL);
    if (tick)
        return;
    x->oom_kills[1] = x->oom_kills[0];
    x->oom_kills[0] = health_oom_kills();
}
