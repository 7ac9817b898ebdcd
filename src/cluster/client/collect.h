/* Collecting: final outputs come home while and after a run. Private to the client. */
#pragma once
#include "cluster/client/client.h"
#include "store/store.h"

struct collect;

struct collect_config {
    struct client *client;
    const struct workflow *workflow;
    struct needs *needs;
    const char *folder;
    bool shared; /* nothing is copied: files are looked at where they are */
    void (*here)(void *context, uint32_t object); /* it has come, or was there */
    void *context;
};

struct collect *collect_new(const struct collect_config *config);
void collect_free(struct collect *c);
/* Its workflow has grown. */
void collect_grow(struct collect *c);
/* Its producer is done: fetch it. Asked again: nothing happens. */
void collect_want(struct collect *c, uint32_t object);
/* Its producer is not done after all: it is not waited for. What has come stays where it is. */
void collect_forget(struct collect *c, uint32_t object);
void collect_answer(struct collect *c, const struct meta_answer *a, const struct meta_answers *all);
void collect_arrived(struct collect *c, uint32_t object, bool good, const char *why);
void collect_tick(struct collect *c);
/* All that was wanted is here, or (`final`) given up. */
bool collect_is_idle(const struct collect *c);
void collect_count(const struct collect *c, uint32_t *here, double *bytes, uint32_t *missing);
const char *collect_why(const struct collect *c); /* of the last one missing */
