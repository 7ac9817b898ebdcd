/* Tasks that span several nodes (`nodes: 4`), in an agent: the room that this node gives to them, their
 * host files, and commands on their other nodes. Belongs to a job; job_gang.c, part_command.c. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "cluster/wire/link.h"
#include "sched/sched.h"

struct bytes;
struct children;
struct agent;
struct job;

/* A part of a task, its own or another agent's, that this machine has room for or is to find it. */
struct job_part {
    struct sched_part part;
    bool has_room;
    uint32_t number;      /* under which it holds its things; NONE: none, or the task itself does */
    bool lent;            /* but for now, what is computed again has them */
    double memory, since; /* as counted; since when it has its room */
};

/* One of the nodes of a task that runs here. */
struct gang_node {
    uint32_t node, life;
    char *name; /* in its host file */
};

struct job_gang {
    uint32_t task;
    char *folder;                  /* with its host file, and the requests of its command */
    ARRAY(struct gang_node) nodes; /* this one first */
    double doubted;                /* clock_seconds() when its command ended badly; 0: it did not */
};

/* A command that a task here wants to run on another of its nodes. */
struct gang_request {
    uint32_t task, id, node;
    char *path; /* of its files, but for what comes behind the last dot */
    char *command;
    double asked; /* clock_seconds(), last */
};

/* A command that runs here for a task of another agent. */
struct part_command {
    uint32_t task, owner, id;
    uint32_t slot; /* of the children; NONE: it has ended */
    bool dropped;  /* nobody waits for it: its part is over */
    int status;
    char *temporary; /* a folder of its own: daemons of agents on one host would meet in another */
    struct strbuf output; /* what it wrote, its end */
};

struct job_gangs {
    ARRAY(struct job_part) parts; /* in the order in which the scheduler asked */
    ARRAY(struct job_gang) running;
    ARRAY(struct gang_request) requests;
    ARRAY(struct part_command) commands;
    struct children *children; /* of the commands; NULL: there was none yet */
    bool *used;                /* their slots */
    uint32_t next_id, next_number;
};

/* The scheduler's word on parts (driver_ops.parts). */
void gang_parts(struct job *j, const struct sched_part *parts, size_t n);
/* Room for parts that wait for it, before anything else gets it. */
void gang_pump(struct job *j);
/* The part that this node gives to that task, with its room; NULL: none. */
const struct job_part *gang_part_given(const struct job *j, uint32_t task, uint32_t owner);
/* What must be computed again for some task lacks things that parts here hold, and nothing uses: they lend
 * them. False: it has to wait. */
bool gang_lend_things(struct agent *a, const struct job *j, uint32_t task);
/* Are some lent? Then they go back before others get any. */
bool gang_has_lent(const struct agent *a);
/* A task here is about to take the things that its own part held for it. */
void gang_hand_over_things(struct job *j, uint32_t task);
/* Of a task that runs here: the first of its other nodes; NONE: it has none. */
uint32_t gang_other_node(struct job *j, uint32_t task);
/* What it has made goes to that node, too: it is not computed again when this one dies. */
void gang_leave_copies(struct job *j, uint32_t task, uint32_t node);
/* Does this node give any, also to other agents' tasks? */
bool gang_gives_parts(const struct job *j);
/* Of any job: is a part here, or does one wait for room on this machine? */
bool gang_parts_are_here(const struct agent *a);
bool gang_waits_for_room(const struct agent *a);
/* A task that spans several nodes has ended here, in whatever way: its room and its files go. */
void gang_task_ended(struct job *j, uint32_t task);
/* For the executor (run_gang): the variables of its command. */
bool gang_begin(void *job, uint32_t task, struct strbuf *variables, struct error *err);
/* It ended badly, and spans several nodes: may another one be to blame? Then gang_tick() judges. */
bool gang_doubt(struct job *j, uint32_t task);
void gang_tick(struct job *j); /* ten times a second */
/* What it has goes; commands that run are ended. */
void gang_free(struct job *j);

/* part_command.c */
void part_run_message(struct job *j, struct bytes *in, bool *malformed);
void part_ended_message(struct job *j, struct bytes *in, bool *malformed);
/* Does one run here for that task? */
bool part_has_commands(const struct job *j, uint32_t task, uint32_t owner);
void part_commands_drop(struct job *j, const struct sched_part *part);
void part_commands_tick(struct job *j);
void part_commands_free(struct job *j);
/* Requests of commands here: new ones, and those to be sent again. */
void gang_requests_tick(struct job *j);
void gang_requests_drop(struct job *j, uint32_t task);
