/* Intermediate files of a run: how many bytes of them are alive, and the end of those that are
 * temporary and have been read by all. Known only when the run knows its files (`needs`); without
 * that every call does nothing. */
#pragma once
#include "memo/need.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stdint.h>

struct disk;

/* Counts what is there already. All three stay the caller's; `needs` may be NULL. O(tasks
 * + edges). */
struct disk *disk_new(const struct workflow *w, struct needs *needs, const char *folder);
void disk_free(struct disk *d); /* NULL is fine */

/* The workflow has grown: tasks from `first` on and objects from `object` on are new. `open`: more may
 * come, and read temporary files that nobody known will: one that they could read stays until they are
 * known. */
void disk_grow(struct disk *d, uint32_t first, uint32_t object, bool open);
/* A task has ended well: what it produced is there (`produced`: by this run, not found), what it
 * read may have served. NULL is fine. */
void disk_task_done(struct disk *d, uint32_t task, bool produced);
/* At the end: temporary files that an interrupted run left, and that nobody will read any more. */
void disk_remove_unread(struct disk *d);

/* It has left the folder, and is to come back; it is in the folder again. */
void disk_moved_out(struct disk *d, uint32_t object);
void disk_moved_in(struct disk *d, uint32_t object);

double disk_live(const struct disk *d); /* bytes alive now */
double disk_peak(const struct disk *d); /* at most at once */
/* Has the first changed since the last question? */
bool disk_take_changed(struct disk *d);
/* Bytes of intermediate files that a task will leave, as the workflow states them. */
double disk_expected(const struct workflow *w, uint32_t task);
