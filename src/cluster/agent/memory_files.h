/* Objects in memory (weft_builder_in_memory()) of a run on an agent.
 *
 * They are files in a file system in memory (tmpfs), so that all that is true of a run's files is true of
 * them: others fetch them over links, copies are compared with their digests, what died with its agent is
 * computed again. No byte of them comes to a disk, until there are too many of them.
 *
 *     STATE/runs/NUMBER/files/.memory ──▶ /dev/shm/weft-UID-AGENT/RUN/     a link, made once a run
 *                             OBJECT  ◀── spilled ── OBJECT.NAME
 *
 * Functions map them: where they are read they are not copied. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct error;
struct job;

struct job_objects {
    char *folder;     /* in memory; NULL: none, and such objects are files like others */
    double most;      /* bytes at once */
    uint32_t spilled; /* objects that had to go to the disk */
};

/* False: the environment says how much they may take, and it is no size. */
bool memory_files_check(struct error *err);
/* The agent's own folder there, and those that agents which died have left go. */
void memory_files_begin(struct agent *a);
void memory_files_end(struct agent *a);

void memory_files_open(struct job *j); /* with its workflow and folders, before its depot */
void memory_files_close(struct job *j);

/* Before a task starts: as much goes to the disk as is too much, what was used longest ago first. When that
 * is not enough, what it makes goes there, too. */
void memory_files_make_room(struct job *j, uint32_t task);
void memory_files_came(struct job *j); /* one was fetched */
/* Is there memory for a task, beside those that run and objects of all runs? What can be spilled for it goes to
 * the disk. With nothing else at work objects count for nothing, lest it waits for ever. */
bool memory_files_leave(struct agent *a, double memory);
