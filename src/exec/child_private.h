/* What the files of the children share: child.c (from start to end), child_orphans.c (what tasks leave
 * behind). Private to them; the invariants stand in child.c. */
#pragma once
#include "base/array.h"
#include "exec/child.h"

#include <spawn.h>
#include <sys/resource.h>

enum {
    OWN_VARIABLES = 5, /* WEFT_TASK, _ATTEMPT, _CORES, _FOLDER, _OWNER */
    VARIABLE = 320,    /* bytes of one: longer names and folders are cut */
};

/* What a process is to this set, by the variable that it inherited (I3). */
enum process_owner {
    OWNER_UNKNOWN, /* not to be read: another user's, ending, or in the midst of an exec */
    OWNER_OTHER,   /* not ours, and it will not be */
    OWNER_TASK,    /* it carries our mark */
};

/* One that was read. A process that gets the number of an ended one gets another file in /proc, whose
 * number comes with the listing: so nothing of those that were seen is opened again. */
struct process_seen {
    pid_t pid;
    ino_t file;
    enum process_owner owner;
    uint32_t task, attempt;
};

struct process_list {
    struct process_seen *at;
    size_t n, cap;
};

/* A slot, and the process in it. */
struct child {
    bool used;
    enum child_end end; /* why we are ending it, if we are */
    pid_t pid;
    int pidfd, log;
    uint32_t task, attempt;
    double start;
    double deadline, kill_at; /* on the clock of children.watched; kill_at: SIGKILL is due */
    double memory, used_memory;
    uint32_t processes_most, processes; /* may have, 0: any number; had, when last counted */
    double peak, own; /* of its processes, as seen while it runs; ours when it was started */
    char *log_path;
    bool written; /* the last task wrote into the log, which has not been kept */
    posix_spawn_file_actions_t actions; /* of a task without a folder of its own */
    char **environment;
    char variable[OWN_VARIABLES][VARIABLE];
    char **ending; /* words, owned; NULL: none */
};

struct children {
    struct children_config config;
    char *folder, *logs;
    int epoll, null;
    posix_spawnattr_t attributes;
    size_t variables; /* of environ */
    uint32_t running, orphans;
    bool swept;          /* nothing was started since */
    ARRAY(pid_t) groups; /* killed; their members are still to be waited for */
    int ticks;
    uint64_t entities; /* processes and threads of the machine, when tasks' were last counted */
    struct process_list seen, seen_before; /* by the looks for orphans: the last one, and room */
    ARRAY(char *) words;                   /* scratch */
    ARRAY(char *) block;                   /* scratch: the environment of the child at hand */
    double watched;                        /* seconds that somebody looked (I7) */
    double looked;                         /* clock_seconds() of the last look */
    pid_t pid;                             /* our own */
    int spare;                             /* a descriptor kept for the next child; -1: none (I8) */
    int newest;                            /* the number of the last child's descriptor */
    rlim_t descriptors;                    /* that we may have */
    bool is_short; /* the last start failed for want of something that may come back */
    struct child *slot;
};

/* child_environment.c */
/* What children inherit of this process's variables, into room for all of them. Returns how many. */
size_t children_inherit(char **out);
/* Valid until it is called again. */
char *const *child_environment_of(struct children *c, struct child *x,
                                  const struct child_request *r);
/* Words are copied; NULL: there are none. */
void child_keep_ending(struct child *x, char *const *words);
void child_drop_ending(struct child *x);
/* Start them. 0: there are none, or they cannot be started; else a group of its own, to be waited
 * for. */
pid_t child_end_elsewhere(const struct children *c, const struct child *x);

/* SIGTERM now and SIGKILL after the grace; `now`: SIGKILL. The first reason is the one that counts. */
void child_end_group(struct children *c, struct child *x, enum child_end why, bool now);

/* child_processes.c */
/* End tasks that have too many. `look`: count them if there can be any such, however few began. */
void children_count_processes(struct children *c, bool look);

/* Members of killed groups that are our children by now; others have another parent, who waits. */
void children_wait_for_groups(struct children *c, bool wait);
/* Kill what carries our mark and belongs to no task that runs. `afresh`: read also those that were read
 * at the last look. True: there may be more of them. */
bool children_end_orphans(struct children *c, bool afresh);
