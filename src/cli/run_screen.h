/* A run in a terminal: what `weft run`, `experiment`, `attach` and `submit` share. The options that
 * they have in common, the live display or the events as JSON while it goes on, the summary. The run
 * itself is the library's (weft/run.h). */
#pragma once
#include "cli/cli.h"
#include "sched/policies.h"
#include "weft/run.h"

struct run_screen {
    const char *flow; /* to name in commands; NULL: as the run has it */
    const struct arguments *a;
    bool quiet, json;
    struct weft_run *run; /* set once it is open */
    struct live_display *display;
    struct event_json *events;
    struct run_log *log;      /* of --log; NULL: none */
    bool stopping;            /* the user knows that it is stopping */
    struct progress progress; /* of planning */
    char program[4096];
    const char **read; /* of --read, for the library */
    const char **targets, **since;
    struct strbuf resources; /* of --resources, one after the other */
};

#define OPTION_OVERWRITE                                                                           \
    {                                                                                              \
        "overwrite", 0, NULL,                                                                      \
            "replace files that weft did not make (default: they are kept as NAME.before-weft)"    \
    }

#define OPTION_FOLLOW                                                                              \
    {                                                                                              \
        "follow", 0, "HOW",                                                                        \
            "strict: placements, order on each core, waits; order: its order, no core idles; "     \
            "hint: priorities (default: strict under constraints, else order)"                     \
    }

#define OPTION_LOG                                                                                 \
    {                                                                                              \
        "log", 0, "FILE", "append what happens to this file, with the time: -q --log for cron"     \
    }

/* The options that a command must have among its own. */
#define RUN_OPTIONS                                                                                \
    {"jobs", 'j', "N", "cores that tasks may use at once (default: all of this machine)"},         \
        {"memory", 'm', "SIZE", "memory that tasks may use at once (default: all)"},               \
        {"has", 0, "WORDS", "attributes of this machine that tasks may need: avx512,ssd"},         \
        {"resources", 0, "LIST",                                                                   \
         "things of this machine that tasks may hold: gpu=0,1 licence=4, gpu=auto; may be "        \
         "repeated"},                                                                              \
        {"disk", 0, "SIZE", "most bytes of intermediate files alive at once"},                     \
        {"in-memory", 0, NULL,                                                                     \
         "the folder is in memory: files between tasks count in --memory, too"},                   \
        {"memory-for-data", 0, "SIZE",                                                             \
         "of --memory: what data of functions have; beyond it objects go to disk and come back"},  \
        {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},  \
        {"keep-going", 'k', NULL, "after a failure, run what does not depend on it"},              \
        {"force", 'f', NULL, "run the targets again, done or not; without targets, everything"},   \
        {"dry-run", 'n', NULL, "say what would run and why, with predicted time, memory, disk"},   \
        {"verbose", 'v', NULL, "with -n: the command of each task, as it would run"},              \
        {"resume", 0, NULL,                                                                        \
         "go on after a crash (a plain run does too; this says what it found)"},                   \
        {"no-sandbox", 0, NULL, "run every task in the workflow's folder itself"},                 \
        {"keep-results", 0, NULL, "keep what tasks make by content, to restore it later"},         \
        {"keep-failed", 0, NULL, "keep the sandbox of a task that failed, to look at"},            \
        OPTION_OVERWRITE,                                                                          \
        {"no-limits", 0, NULL, "measure the memory of tasks, but do not enforce it"},              \
        {"retry-delay", 0, "SECONDS", "before the second attempt, then doubled (default 0.1)"},    \
        {"no-history", 0, NULL, "leave no record of this run, and predict nothing"}, OPTION_WAIT

#define OPTION_WAIT                                                                                \
    {                                                                                              \
        "wait", 0, NULL, "wait while another weft is at work in the folder (default: an error)"    \
    }

#define OPTION_STORE                                                                               \
    {"store", 0, "URL",                                                                            \
     "where the cluster's Redis is; @FILE: as the file says, which only you may read (default: "   \
     "$WEFT_STORE, else redis://127.0.0.1:6379)"},                                                 \
    {                                                                                              \
        "insecure-store", 0, NULL, "a Redis on another machine may do without TLS"                 \
    }

#define OPTION_STORE_MAY_LOSE                                                                      \
    {                                                                                              \
        "store-may-lose", 0, NULL, "take a Redis that is set to lose data (appendonly no ...)"     \
    }

#define OPTION_KEY                                                                                 \
    {                                                                                              \
        "key", 0, "FILE",                                                                          \
            "the cluster's key, made by `weft key`; -: from standard input (default: $WEFT_KEY, "  \
            "else ~/.config/weft/key)"                                                             \
    }

/* How work is handed in; a command that does it has these among its options. */
#define CLUSTER_WORK_OPTIONS                                                                       \
    {"submit", 0, "HOW",                                                                           \
     "which agents get tasks: best (all, equal shares; default), worst (one), group:HOST,HOST"},   \
        {"policy", 0, "NAME",                                                                      \
         "of stealing: " SCHED_POLICY_NAMES "or auto: by the volume transferred (default flds)"},  \
        {"shared", 0, NULL,                                                                        \
         "agents see the workflow's folder too: they work in it, nothing moves"},                  \
        {"no-shared", 0, NULL, "copy files even when agents see the folder (default: look)"},      \
        {"priority", 0, "N",                                                                       \
         "of this run: each more doubles its share of the agents (default 0)"},                    \
    {                                                                                              \
        "later", 0, NULL, "begin though a task fits no agent that is there: it waits for one"      \
    }

/* What the user said, for the library; events come to the screen. False: an error. */
bool run_screen_options(struct run_screen *s, const struct arguments *a, struct weft_run_options *o,
                        struct error *err);
/* Operands from `first` on and what an option names, ends with NULL; the caller frees the list. */
const char **run_screen_names(const struct arguments *a, const char *option, size_t first);
/* TARGET... from operand `first` on, --until and --since, for commands with OPTION_PART. */
void run_screen_part(struct run_screen *s, struct weft_run_options *o, size_t first);
/* A weft_event_function; its context is the screen. */
void run_screen_event(void *screen, const struct weft_event *event);
/* Start the open run, show it, sum it up. The exit status. */
int run_screen_follow(struct run_screen *s);
/* --dry-run, --why TASK: the exit status. */
int run_screen_show(struct run_screen *s);
int run_screen_why(struct run_screen *s, const char *task);
/* Closes the run and the log. The exit status: `status`, unless the log could not be written. */
int run_screen_close(struct run_screen *s, int status);

/* The number of a run on a cluster, in an operand. */
bool run_screen_number(const char *text, uint64_t *run, struct error *err);
