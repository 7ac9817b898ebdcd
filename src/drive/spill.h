/* Files that a plan writes out of memory while a run goes on, and reads again (model/plan.h, plan_eviction). For runs whose
 * folder is in memory, beside which there is a folder on a disk.
 *
 *     here ── `after` has ended ──▶ leaving ──▶ out ── `to` is to start ──▶ coming ──▶ back ── `to` has ended ──▶ over
 *     counts as alive ─────────────────────┤     counts as nothing     ├── room that `to` was given
 *
 * Copies are made on libuv's threads; all else happens on the loop's. What is out when a run ends early is read again then, so
 * that the next run finds it. */
#pragma once
#include "base/error.h"
#include "drive/disk.h"
#include "drive/run.h"
#include <uv.h>

struct spill;

struct spill_config {
    uv_loop_t *loop;
    const struct run_options *options; /* options->spill is there */
    struct disk *disk;
    struct run_result *result; /* what was written and read is counted there */
    /* A copy has been made, from the loop: there is room, or a task may start. */
    void (*moved)(void *context);
    /* A file could not be written out. */
    void (*trouble)(void *context, const struct error *err);
    void *context;
};

/* Makes the folder. What the configuration points to must stay until spill_free(). NULL: it cannot be. */
struct spill *spill_new(const struct spill_config *config, struct error *err);
/* Nothing is on its way any more. NULL is fine. */
void spill_free(struct spill *s);

/* Bytes that the task has to have room for beside its own: files of it that are out, or will be. */
double spill_room_needed(const struct spill *s, uint32_t task);
/* The task has ended well, or need not run: what was to leave then, leaves. */
void spill_task_done(struct spill *s, uint32_t task);
/* An attempt of it has ended: what came back for it counts as alive from now on. True: its room is another. */
bool spill_attempt_over(struct spill *s, uint32_t task);
/* It is to start. False: files of it are on their way (`err` as it was), or could not be read again (`err`). */
bool spill_bring(struct spill *s, uint32_t task, struct error *err);
bool spill_is_moving(const struct spill *s);
/* At the end, when nothing is on its way: what is out comes back, here and now, and the folder goes. False: some stays there,
 * and `err` says where. */
bool spill_end(struct spill *s, struct error *err);
