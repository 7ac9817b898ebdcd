/* Commands as child processes: started by posix_spawn (no copy of our page tables), watched by a
 * pidfd, each in a process group of its own, output into a log.
 *
 * What a task does not use costs nothing: a slot's log file is made once and becomes the task's own
 * only when something was written into it. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct children;
struct limits;

/* Variables of a task's own. */
struct child_environment {
    char *const *set; /* "NAME=VALUE", NULL-terminated: in place of what it would inherit */
    bool clean;       /* of what we have it inherits PATH and TMPDIR alone */
};

struct child_request {
    uint32_t task, attempt;
    const char *name;    /* of the task, for WEFT_TASK */
    const char *program; /* its path; NULL: words[0], looked for in PATH if it has no slash */
    char *const *words;  /* NULL-terminated */
    const char *folder;  /* to run in; NULL: the children's */
    uint32_t cores;      /* for WEFT_CORES */
    double memory;       /* limit in bytes; 0: none */
    uint32_t processes;  /* most at once; 0: no limit */
    double timeout;      /* seconds; INFINITY: none. Counted while children_tick() is called */
    const struct child_environment *environment; /* NULL: the set's, as it is */
    /* What it does is done by others for it (a container's engine): words that end it there, run when
     * it did not end by itself. NULL: what it does is its own. Nothing is measured of the others. */
    char *const *ending;
};

enum child_end {
    CHILD_EXITED,
    CHILD_SIGNALLED,
    CHILD_TIMEOUT,   /* we ended it, past its time */
    CHILD_MEMORY,    /* the kernel or we ended it, past its memory */
    CHILD_CANCELLED, /* child_stop() */
    CHILD_PROCESSES, /* we ended it, with more processes than it may have */
};

struct child_result {
    uint32_t slot, task, attempt;
    enum child_end end;
    int status;           /* exit status, or 128 + signal */
    double start, finish; /* clock_seconds() */
    double cpu, memory;   /* seconds; bytes at the peak */
    double log;           /* bytes it wrote into its log */
    uint32_t processes;   /* PROCESSES: so many it had */
};

struct children_config {
    uint32_t slots;
    const char *folder;    /* where commands run */
    const char *logs;      /* folder for logs; made when something is logged */
    double grace;          /* seconds from SIGTERM to SIGKILL [5] */
    double log_most;       /* bytes of a log; more loses its middle [16 MiB] */
    struct limits *limits; /* NULL: memory is measured, not limited */
};

/* For a program whose business is to run tasks, once, from its main(): what a task leaves behind
 * becomes this process's child (PR_SET_CHILD_SUBREAPER, which concerns all of the process, so no
 * set of children does it by itself). Without it such processes are found and killed all the same,
 * but it is init that waits for them. */
void children_adopt_orphans(void);

/* Has no descriptors before it is asked for its own, or starts something: hundreds may wait for their turn. */
struct children *children_new(const struct children_config *config);
/* Who starts from now on does not inherit this variable of ours. */
void children_hide(struct children *c, const char *name);
/* From now on memory is limited, or measured (NULL); of what is started after this. */
void children_limit(struct children *c, struct limits *limits);
/* Kills whatever still runs, waits for it. NULL is fine. */
void children_free(struct children *c);

/* In place of children_free() when memory ran out in a call on them (base/mem.h) and nobody knows
 * what is whole: kills what runs, waits for it, and neither allocates nor frees. */
void children_abandon(struct children *c);

/* Readable when children_reap() has something; no other set of this process has the same. -1: there is none, and
 * errno says why. */
int children_fd(struct children *c);
/* Start in a free slot. False: an error that says why (command not found ...), and nothing of the
 * task ran. */
bool child_start(struct children *c, uint32_t slot, const struct child_request *r,
                 struct error *err);
/* Did the last child_start() fail for want of something that may be there in a moment: descriptors,
 * processes, memory? Then it is worth another try. */
bool children_short(const struct children *c);
/* Is an errno such a want? */
bool child_is_shortage(int reason);
/* Results of children that have ended, at most `most`. */
size_t children_reap(struct children *c, struct child_result *out, size_t most);
/* Time passes: limits on time and memory, long logs, processes that outlived their task. Call it
 * ten times a second while something runs. */
void children_tick(struct children *c);
/* End a task: SIGTERM, after the grace SIGKILL; with `now` SIGKILL at once. */
void child_stop(struct children *c, uint32_t slot, bool now);
uint32_t children_running(const struct children *c);
/* Does nobody live on whom a task that is over has started? False also where that is not known. */
bool children_are_alone(const struct children *c);
/* Bytes of memory that limited tasks use now. */
double children_memory(const struct children *c);
/* End processes that outlived their task, now: at the end, when no tick will come any more. */
void children_sweep(struct children *c);
/* Processes that outlived their task and were killed, so far. */
uint32_t children_orphans(const struct children *c);

/* Write over these values (NULL-terminated) in what the last task of this slot logged; where that
 * cannot be done, the log is emptied. Before it is kept. */
void child_mask_log(struct children *c, uint32_t slot, const char *const *values);
/* Where the task of this slot logs while it runs. */
const char *child_log_path(const struct children *c, uint32_t slot);
/* Keep what the last task of this slot logged: it becomes `path`. Without it the next task's log
 * starts afresh all the same. False: could not be moved. */
bool child_keep_log(struct children *c, uint32_t slot, const char *path, struct error *err);

/* A process that ran tasks was killed and could not end them: do it now, by what they inherited.
 * The number of them. Does nothing while a process of that number lives. */
uint32_t children_end_of(pid_t owner);
