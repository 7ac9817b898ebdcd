/* The ways to a schedule that fulfils what the user wrote, one after the other until one does. */
#pragma once
#include "plan/constraints/verdict.h"

struct ways_result {
    struct schedule_found best; /* laid out in the space when found */
    struct search_result r;     /* of the published search */
    uint64_t more_states;       /* of the ways after it */
    const char *found_by;       /* NULL: the published search */
    uint32_t waiting;           /* tasks that wait though they could start */
    bool proven;                /* no schedule exists: every one there is breaks a requirement */
    struct error impossible; /* proven before any search: two requirements contradict each other */
};

/* Reads the rules into a new space and begins it; NULL with an error. */
typedef struct space *(*space_opener)(const struct plan_request *request,
                                      const struct space_manner *manner, double deadline,
                                      struct error *err);

/* `s` is begun in the published manner. With `published`, only the search of the paper. Fills
 * *out, which ways_free() frees. */
void ways_search(struct space *s, space_opener open, const struct constraints_limits *limits,
                 bool optimal, bool published, int64_t large, struct ways_result *out);
void ways_free(struct ways_result *w);
