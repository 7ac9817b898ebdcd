/* What a complete schedule is worth to the user: which requirements it breaks, and how well it
 * fulfils the preferences. Every way of searching is judged by the same rules in the same space,
 * whatever it weighed or left out while it searched. */
#pragma once
#include "plan/constraints/search.h"

struct schedule_verdict {
    size_t broken;   /* requirements */
    double missed;   /* failed tests and distances of those */
    size_t loose;    /* orders that requirements ask for and that hold only if all times do; 0 where
                        these are as good (then they count as `hoped`) */
    double unmet;    /* failed tests of wishes, by priority */
    double g;        /* preferences, but for those that only say how to construct */
    size_t hoped;    /* orders that wishes ask for and that hold only if all times do */
    double makespan; /* among equals, the shorter one */
};

/* A complete schedule, outside of any space: tasks in the order they were scheduled. */
struct schedule_found {
    bool found;
    uint32_t *task;
    struct schedule_slot *slot;
    struct schedule_verdict verdict;
};

/* Does the order hold in the schedule laid out however long its tasks take? */
bool verdict_is_firm(const struct space *s, const struct time_order *o);
/* Of the schedule that is laid out. */
struct schedule_verdict verdict_of(struct space *s);
bool verdict_better(const struct schedule_verdict *a, const struct schedule_verdict *b);

void candidate_init(struct schedule_found *c, uint32_t ntasks);
void candidate_free(struct schedule_found *c);
/* The schedule laid out in `s`. */
void candidate_take(struct schedule_found *c, const struct space *s);
/* Lay it out in another space of the same request. Returns how many tasks wait though data and
 * processor are there. */
uint32_t candidate_lay_out(const struct schedule_found *c, struct space *s);
