/* libweft: plans. Who runs what, where and when; the planners that make them, and the one checker
 * that judges them, whoever made them. Part of <weft/weft.h>. */
#ifndef WEFT_PLAN_H
#define WEFT_PLAN_H
#include "weft/platform.h"
#include "weft/common.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_plan;

/* ---- planners ---- */

enum weft_planner_accepts {
    WEFT_ACCEPTS_DAG = 1,    /* any workflow */
    WEFT_ACCEPTS_TREE = 2,   /* trees */
    WEFT_ACCEPTS_STREAM = 4, /* makes a mapping of a stream */
    WEFT_ACCEPTS_SMALL = 8,  /* exact search: comparisons leave it out past a few dozen tasks */
    WEFT_ACCEPTS_SLOW = 16,  /* more than n log n: comparisons leave it out past 20,000 tasks */
    WEFT_ACCEPTS_META = 32,  /* runs other planners */
    WEFT_ACCEPTS_ORDER = 64, /* makes an order */
};

struct weft_planner {
    const char *name, *family, *summary;
    const char *paper, *guarantee, *tie_rule; /* NULL: none */
    unsigned accepts;
    bool own; /* registered by this program */
};
/* Planner number `i` from 0: the library's, then registered ones. False: there are no more. The
 * texts of a registered one live until it is removed. */
bool weft_planner(size_t i, struct weft_planner *out);
/* Its number by its name; SIZE_MAX: none, and `error` tells a name that is near. */
size_t weft_planner_find(const char *name, struct weft_error *error);
/* Its option number `k`; false: there are no more. */
bool weft_planner_option(size_t i, size_t k, struct weft_option *out);
/* Can it take this workflow? If not, `error` tells why. */
bool weft_planner_suits(const char *name, const struct weft_workflow *w,
                        const struct weft_platform *p, struct weft_error *error);

/* ---- making plans ---- */

struct weft_plan_options {
    size_t size;
    const char *const *options; /* of the planner, "name=value", ends with NULL; NULL: none */
    uint64_t seed;              /* of everything random */
    bool explain;               /* planners that can say why say so in the plan's notes */
    weft_progress progress; /* false: stop early, with the best plan so far where there is one */
    void *context;          /* of both callbacks */
    /* How often somebody has asked to hurry so far; searches that trade quality for time ask a few
     * times a second. May be NULL. */
    unsigned (*hurry)(void *context);
};
#define WEFT_PLAN_INIT                                                                             \
    {                                                                                              \
        sizeof(struct weft_plan_options), NULL, 1, false, NULL, NULL, NULL                         \
    }

/* Plan as `weft plan` does. `planner` NULL: what suits the workflow (its own constraints, a tree
 * that must fit in memory, else "auto"). The plan passed the checker. It keeps the workflow and the
 * platform, which may be freed before it. */
struct weft_plan *weft_plan_make(const struct weft_workflow *w, const struct weft_platform *p,
                                 const char *planner, const struct weft_plan_options *options,
                                 struct weft_error *error);
/* Streams: the plans none of which is beaten in latency, throughput and processors together, by rising
 * processors and throughput, from `points` runs of the planner ("mos" or "stream"), and fewer on 1/2,
 * 1/4 ... of the nodes. Free each plan, then the array
 * with weft_plans_free(), which does both. */
struct weft_plan **weft_plan_front(const struct weft_workflow *w, const struct weft_platform *p,
                                   const char *planner, unsigned points,
                                   const struct weft_plan_options *options, size_t *n,
                                   struct weft_error *error);
void weft_plans_free(struct weft_plan **plans, size_t n);

/* A plan file for this workflow and platform; weft_problem_read() finds those that it names. */
struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                 const struct weft_platform *p, struct weft_error *error);
bool weft_plan_write(const struct weft_plan *plan, const char *path, struct weft_error *error);
char *weft_plan_write_text(const struct weft_plan *plan, size_t *n, struct weft_error *error);
/* As a trace for Chrome or Perfetto. */
char *weft_plan_trace(const struct weft_plan *plan, size_t *n, struct weft_error *error);
void weft_plan_free(struct weft_plan *plan);

/* ---- files that may hold any of them ---- */

struct weft_file;
enum weft_file_kind { WEFT_FILE_WORKFLOW, WEFT_FILE_PLATFORM, WEFT_FILE_PLAN };
/* Read a file ("-": standard input) once, to ask what it holds before taking it. What it holds is
 * taken once; after that there is only closing. */
struct weft_file *weft_file_open(const char *path, const struct weft_read_options *options,
                                 struct weft_error *error);
void weft_file_close(struct weft_file *f);
enum weft_file_kind weft_file_kind(const struct weft_file *f);
struct weft_workflow *weft_file_workflow(struct weft_file *f, struct weft_error *error);
struct weft_platform *weft_file_platform(struct weft_file *f, struct weft_error *error);

/* Priorities in the user's own file: before the workflow is taken, say that it will be annotated (false:
 * its format has no place for priorities; DAGMan's has). Then, with the priorities of `w`
 * (weft_workflow_prioritize()), the same file, byte for byte but for what they need, is written to
 * `path`, and copies of the files that it splices beside them. `wrote` hears of each file, `path` last;
 * `*overridden`: how many priorities of the user's own no longer count. Both may be NULL. */
bool weft_file_to_annotate(struct weft_file *f, struct weft_error *error);
bool weft_file_annotate(struct weft_file *f, const struct weft_workflow *w, const char *path,
                        void (*wrote)(void *context, const char *path), void *context,
                        size_t *overridden, struct weft_error *error);

enum weft_remark { WEFT_REMARK_INFO, WEFT_REMARK_NOTE, WEFT_REMARK_WARNING };

/* A workflow with what it is to be planned for, as the commands put them together. */
struct weft_problem {
    struct weft_workflow *workflow;
    struct weft_platform *platform;
    struct weft_plan *plan; /* of a plan file; else NULL */
};
struct weft_problem_options {
    size_t size;
    struct weft_read_options read; /* of workflows */
    const char
        *platform; /* as weft_platform_named() takes it. NULL: the one in the file if it holds
                             one (of a plan: the one it names), else this machine */
    const char *workflow; /* of a plan: this file instead of the one it names */
    bool plans;           /* a plan file will do as well */
    bool only_plans;      /* nothing else will */
    /* Tasks with a command and without a stated work stay at 0 instead of getting what past runs
     * predict for them. */
    bool no_predict;
    void (*remark)(void *context, enum weft_remark kind, const char *text); /* may be NULL */
    void *context;
    /* Predicted times are taken so long that a task stays below with this probability: above 0 and
     * below 1; 0.9 plans for the slow ones [0: as predicted, the middle] */
    double risk;
};
#define WEFT_PROBLEM_INIT                                                                          \
    {                                                                                              \
        sizeof(struct weft_problem_options), WEFT_READ_INIT, NULL, NULL, false, false, false,      \
            NULL, NULL, 0                                                                          \
    }
/* Read all of it; weft_problem_free() what is there. */
bool weft_problem_read(const char *path, const struct weft_problem_options *options,
                       struct weft_problem *out, struct weft_error *error);
/* The same from a file that was opened; it stays the caller's to close. */
bool weft_problem_take(struct weft_file *f, const struct weft_problem_options *options,
                       struct weft_problem *out, struct weft_error *error);
void weft_problem_free(struct weft_problem *problem);

/* ---- looking at a plan: everything shown lives as long as the plan ---- */

enum weft_plan_kind { WEFT_PLAN_STATIC, WEFT_PLAN_PARTITION, WEFT_PLAN_STREAM, WEFT_PLAN_ORDER };
enum weft_plan_kind weft_plan_kind(const struct weft_plan *plan);
const char *weft_plan_planner(const struct weft_plan *plan); /* NULL: the file does not say */
double weft_plan_seconds(const struct weft_plan *plan);      /* that planning took */
/* The workflow and the platform that it keeps: handles of the plan's. */
const struct weft_workflow *weft_plan_workflow(const struct weft_plan *plan);
const struct weft_platform *weft_plan_platform(const struct weft_plan *plan);

/* NAN when the plan has no objective of that name ("makespan", "lower_bound", ...). */
double weft_plan_objective(const struct weft_plan *plan, const char *name);
/* Objective number `i`: its name, and `*value`; NULL: there are no more. */
const char *weft_plan_objective_name(const struct weft_plan *plan, size_t i, double *value);
/* What the planner has to say to people, line number `i`; NULL: there are no more. */
const char *weft_plan_note(const struct weft_plan *plan, size_t i);

/* One copy of a task: it holds the cores `core` to `core` + its cores - 1 of its node. */
struct weft_placement {
    uint32_t task, copy, node, core;
    double start, finish; /* seconds */
};
/* The placements in order of their start. Returns how many. */
size_t weft_plan_placements(const struct weft_plan *plan, const struct weft_placement **placements);

struct weft_transfer {
    uint32_t object, from, to;
    double start, finish;
};
size_t weft_plan_transfers(const struct weft_plan *plan, const struct weft_transfer **transfers);

/* A cluster of a stream's mapping: these tasks (and copies of others) on each of these nodes. */
struct weft_stream_cluster {
    const uint32_t *tasks, *duplicates, *nodes;
    size_t ntasks, nduplicates, nnodes;
    double replicas;
};
bool weft_plan_cluster(const struct weft_plan *plan, size_t i, struct weft_stream_cluster *out);
/* A part of a tree on one node. */
struct weft_part {
    uint32_t root, node;
    const uint32_t *tasks;
    const uint32_t *order; /* NULL: not given */
    size_t ntasks;
    double memory; /* its least peak; NAN: not stated */
};
bool weft_plan_part(const struct weft_plan *plan, size_t i, struct weft_part *out);
/* The order of an order plan: every task once. 0: the plan is none. */
size_t weft_plan_order(const struct weft_plan *plan, const uint32_t **tasks);
/* Of an order plan: "optimal", ..., and why; NULL: not stated. */
const char *weft_plan_verdict(const struct weft_plan *plan, const char **proof);
uint32_t weft_plan_nodes_used(const struct weft_plan *plan);

/* ---- checking ---- */

/* Judge a plan by the rules of `weft check`: the number of violations, 0 for a valid plan. The
 * first is described in `error`. */
size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error);

struct weft_check;
/* The same with all of them (at most 1,000 are kept). NULL only when it cannot be judged at all. */
struct weft_check *weft_check_new(const struct weft_plan *plan, struct weft_error *error);
void weft_check_free(struct weft_check *c);
size_t weft_check_total(const struct weft_check *c);
struct weft_violation {
    const char *kind;   /* "precedence", "memory", ...: docs/formats.md */
    const char *detail; /* a sentence with names and numbers */
    uint32_t task;      /* WEFT_NONE: not about one task */
};
bool weft_check_violation(const struct weft_check *c, size_t i, struct weft_violation *out);
/* What the checker recomputed; NAN: nothing of that name. */
double weft_check_objective(const struct weft_check *c, const char *name);

/* ---- constraints ---- */

struct weft_constraints;
struct weft_constraint {
    const char *text; /* where it stands, and what it says */
    bool requirement; /* else a preference */
    bool wish;        /* a preference that holds or does not; others are more or less well met */
    bool held;
    double measure; /* of a value constraint its value, else its failed tests; NAN: not known */
};
/* Each constraint of the workflow, and of `options` ("assert=...", "assert-file=..."; may be NULL), judged on
 * the places and times of a static plan, whichever planner made it. None: an empty list. */
struct weft_constraints *weft_plan_constraints(const struct weft_plan *plan,
                                               const struct weft_plan_options *options,
                                               struct weft_error *error);
/* Can the constraints of a workflow be read? No plan is made. False: `error` says which cannot, where and why. */
bool weft_workflow_constraints(const struct weft_workflow *w, struct weft_error *error);
/* Constraint number `i`; false: there are no more. */
bool weft_constraints_get(const struct weft_constraints *c, size_t i, struct weft_constraint *out);
void weft_constraints_free(struct weft_constraints *c);

/* ---- comparing planners ---- */

struct weft_compare;
struct weft_compare_row {
    const char *planner;
    double makespan; /* NAN: no plan */
    double speedup, efficiency, slr;
    double seconds; /* to plan */
    uint32_t nodes_used;
    bool valid;
    const char *failure; /* why there is no plan; NULL: there is one */
};
struct weft_compare_options {
    size_t size;
    const char *const *planners; /* ends with NULL; NULL: all that suit and end in sensible time */
    const char *budget;          /* of each searching planner: "1s" */
    uint64_t seed;
    weft_progress progress;
    void *context;
};
#define WEFT_COMPARE_INIT                                                                          \
    {                                                                                              \
        sizeof(struct weft_compare_options), NULL, "1s", 1, NULL, NULL                             \
    }
/* Plan with each and check; best first. */
struct weft_compare *weft_compare_new(const struct weft_workflow *w, const struct weft_platform *p,
                                      const struct weft_compare_options *options,
                                      struct weft_error *error);
void weft_compare_free(struct weft_compare *c);
bool weft_compare_row(const struct weft_compare *c, size_t i, struct weft_compare_row *out);
/* What rows are measured against: all tasks on one node, the longest chain; and how many planners
 * were left out as too slow. */
void weft_compare_scale(const struct weft_compare *c, double *sequential, double *critical_path,
                        size_t *left_out);

/* ---- a planner of one's own ----
 * Once registered it is a planner like the others: weft_planner() lists it, weft_plan_make() runs
 * it by its name, comparisons include it, plans are checked and signed as ever. The registry is one
 * for the process, because a planner is code, which a process has once, and because whoever reads
 * a plan or an experiment's `planner: NAME` in some other thread must find it too. It is guarded by
 * a lock; registering while other threads plan is safe. */

struct weft_draft; /* a plan in the making; lives while `run` runs */

struct weft_planner_own {
    size_t size;
    const char *name, *family, *summary; /* copied */
    unsigned accepts;                    /* WEFT_ACCEPTS_DAG ... */
    const struct weft_option *options;   /* ends with a NULL name; NULL: none; copied */
    /* Make the plan with the weft_draft_* functions. May be called on several threads at once.
     * False: there is none; weft_draft_fail() says why. */
    bool (*run)(void *context, struct weft_draft *draft);
    void *context;
    bool in_auto; /* "auto" tries it as well: it must place every task once, and be quick */
};
#define WEFT_PLANNER_INIT                                                                          \
    {                                                                                              \
        sizeof(struct weft_planner_own), NULL, "own", "", WEFT_ACCEPTS_DAG, NULL, NULL, NULL,      \
            false                                                                                  \
    }
bool weft_planner_register(const struct weft_planner_own *planner, struct weft_error *error);
/* Forget it. Nobody may be planning with it. False: none of that name was registered. */
bool weft_planner_unregister(const char *name);

const struct weft_workflow *weft_draft_workflow(const struct weft_draft *d);
const struct weft_platform *weft_draft_platform(const struct weft_draft *d);
uint64_t weft_draft_seed(const struct weft_draft *d);
/* An option as given, else its standard; NULL: there is no such option. */
const char *weft_draft_option(const struct weft_draft *d, const char *name);
/* Seconds of a task on a node, INFINITY: it cannot run there. */
double weft_draft_time(const struct weft_draft *d, uint32_t task, uint32_t node);
bool weft_draft_progress(struct weft_draft *d, double fraction, const char *what);
/* These return false when memory ran out: then `run` returns false. */
bool weft_draft_place(struct weft_draft *d, const struct weft_placement *placement);
bool weft_draft_transfer(struct weft_draft *d, const struct weft_transfer *transfer);
bool weft_draft_objective(struct weft_draft *d, const char *name, double value);
bool weft_draft_note(struct weft_draft *d, const char *line);
/* For planners of orders: every task once. */
bool weft_draft_order(struct weft_draft *d, const uint32_t *tasks, size_t n);
void weft_draft_fail(struct weft_draft *d, enum weft_status status, const char *why);

#ifdef __cplusplus
}
#endif
#endif
