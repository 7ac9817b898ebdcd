/* This agent's machine fails tasks that are not to blame: when it is set aside, and when it is back
 * (sched/aside.c says what that means for tasks). */
#pragma once
#include "model/record.h"
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct job;
struct strbuf;

struct aside {
    bool is;        /* set aside */
    bool due;       /* is to be, at the next turn */
    bool seen_full; /* a disk is full, and not by tasks that run: room on it is enough to be back */
    uint32_t in_a_row; /* failures of this machine since a task went well */
    uint32_t times;    /* that it was set aside since then */
    double until;      /* clock_seconds(): not back before, unless there is room */
    char place[512];   /* of the full disk; "": none */
    char why[512];     /* for people; "": it is well */
};

/* A task, or something of the agent's own, met trouble of this machine. */
void aside_count_trouble(struct agent *a, enum trace_trouble trouble, const char *place,
                         const char *text);
/* The same, and once is enough: no run can be worked on here. */
void aside_now(struct agent *a, enum trace_trouble trouble, const char *text);
/* A task went well. */
void aside_count_success(struct agent *a);
void aside_turn(struct agent *a); /* before the jobs have theirs: is it due? */
/* pace.c: how quick it is, and how much of it others use. */
void pace_second(struct agent *a);
void aside_second(struct agent *a); /* once a second: is it back? */
/* Whether others come before this node or that one. */
bool aside_is(const struct agent *a, uint32_t node);
/* For the executor (run_node.failed). `job` is the job. */
bool aside_node_failed(void *job, uint32_t task, enum trace_trouble trouble, const char *place,
                       uint32_t cost, const char *text, struct strbuf *why);
/* A scheduler that begins learns who is set aside. */
void aside_tell_job(struct job *j, uint32_t node, bool is);
