/* The scheduling policies, one row each. A row says where a task that became ready goes and
 * whether a long queue of tasks that stay with their data is relaxed. Everything else that knows
 * policies (the command's --policy, its help and completion, `weft sim --policy all`, the
 * tickets of agents, the tests, the table in docs/scheduler.md) goes through this table:
 * docs/adding-a-policy.md. */
#pragma once
#include "sched/decide.h"
#include <stdbool.h>

/* NUMBER and name of each; the row is `policy_NAME`, in policies.c or in a file of its own. The
 * first is the default; new ones go to the end. A policy's number travels in tickets between
 * agents of one version. */
/* clang-format off */
#define SCHED_POLICY_LIST(ROW) \
    ROW(FLDS, flds) \
    ROW(RLDS, rlds) \
    ROW(MLB, mlb) \
    ROW(MDL, mdl) \
    /* the last line */
/* clang-format on */

#define SCHED_POLICY_NUMBER(NUMBER, name) SCHED_##NUMBER,
enum sched_policy { SCHED_POLICY_LIST(SCHED_POLICY_NUMBER) SCHED_POLICIES };

/* "flds, rlds, ..., ", for texts: the reader of help and errors sees what there is. */
#define SCHED_POLICY_COMMA(NUMBER, name) #name ", "
#define SCHED_POLICY_NAMES SCHED_POLICY_LIST(SCHED_POLICY_COMMA)

struct policy {
    const char *name;    /* on the command line: small letters */
    const char *meaning; /* the name that the paper spells out */
    const char *summary; /* one line, for the table in the documentation */

    /* A task with inputs has become ready: into the SReadyQ, where thieves find it; into this
     * node's LReadyQ; or to the node with most of its data. A function of its input alone. */
    enum decision (*decide)(const struct decide_input *in);
    /* How many tasks of an LReadyQ of `queued` are to become stealable, when `done` tasks completed
     * in the last `seconds` and `tt` seconds of work may wait; at most `queued`. NULL: never any;
     * then `share_local` and `adapt_tt` of the configuration have no meaning either. */
    uint32_t (*relax)(uint32_t queued, double done, double seconds, double tt);
    bool shares_all; /* `decide` always shares: a node that changes to this empties its LReadyQ */
};

/* NULL for a number that is none. */
const struct policy *sched_policy(enum sched_policy policy);
const char *sched_policy_name(enum sched_policy policy); /* likewise */
/* SCHED_POLICIES: no such policy. Either case. */
enum sched_policy sched_policy_find(const char *name);

/* What a user may ask for: each policy, and "auto": the first, which the scheduler changes as it
 * measures (sched_config.adapt_policy). */
struct sched_policy_choice {
    const char *name;
    enum sched_policy policy;
    bool adapt;
};
#define SCHED_POLICY_CHOICES (SCHED_POLICIES + 1)
struct sched_policy_choice sched_policy_choice(unsigned i);
/* False: no such name. Either case; NULL: the default. */
bool sched_policy_choose(const char *name, struct sched_policy_choice *out);
