/* A state of the search as three relations: task, proc, dep (section 3.1 of Ahrens et al. 1997).
 *
 * One state is laid out at a time. Scheduling a task is a push, taking the last one back a pop: a
 * search walks from state to state along the tree of states and pays for the tasks in which they
 * differ. A push changes one row of task, one of proc and the rows of dep that lead into the task
 * (tasks are pushed after their predecessors), which is what makes incremental evaluation cheap.
 * The push that completes the schedule changes all processors without tasks as well: now it is
 * known that they finish at 0. */
#pragma once
#include "base/strbuf.h"
#include "model/costs.h"
#include "query/value.h"

enum relation { RELATION_TASK, RELATION_PROC, RELATION_DEP, RELATIONS };

/* Every attribute, in the order of the tables' columns. */
enum attribute {
    TASK_ID,
    TASK_NAME,
    TASK_KIND,
    TASK_ASSIGNED_PROC_ID,
    TASK_EXEC_TIME,
    TASK_START_TIME,
    TASK_FINISH_TIME,
    TASK_SCHEDULE_ORDER,
    TASK_PATH_LENGTH,
    TASK_PATH_RANK,
    TASK_WORK,
    TASK_MEMORY,
    TASK_CORES,
    TASK_DEADLINE,
    TASK_PRIORITY,
    PROC_ID,
    PROC_NAME,
    PROC_FINISH_TIME,
    PROC_TOTAL_RUNNING_TIME,
    PROC_TASK_LIST,
    PROC_TASK_COUNT,
    PROC_UTILIZATION,
    PROC_SPEED,
    PROC_MEMORY,
    PROC_CORES,
    DEP_ID,
    DEP_FROM_TASK_ID,
    DEP_TO_TASK_ID,
    DEP_OBJECT,
    DEP_SIZE,
    DEP_NON_LOCAL_COMM_TIME,
    DEP_COMM_TIME,
    ATTRIBUTES
};

struct attribute_row {
    const char *name; /* with underscores; hyphens are taken too */
    const char *also; /* another spelling, NULL: none */
    enum relation relation;
    enum value_kind kind;
    bool changes; /* from state to state */
    bool grows;   /* unknown (or 0) at first, never smaller afterwards */
    const char *help;
};
extern const struct attribute_row attribute_table[ATTRIBUTES];
extern const char *const relation_name[RELATIONS];
enum attribute relation_first(enum relation relation); /* of its attributes; they are contiguous */
enum attribute relation_last(enum relation relation);

struct load {
    uint32_t tasks;
    double finish, running;
};

struct relations {
    const struct workflow *w;
    const struct platform *p;
    const struct costs *costs;

    /* the same in all states */
    double *path_length; /* per task: longest way to an output, communication included */
    uint32_t *path_rank; /* per task: 1 for the longest path */
    double *mean_time;   /* per task: execution time while its processor is not known */
    double *remote_time; /* per dependency: seconds between two processors, the mean */

    /* the state laid out now */
    uint32_t *proc; /* per task: NONE while not scheduled */
    double *start, *finish;
    uint32_t *order;   /* 1, 2, ... as they were scheduled; 0: not */
    struct load *load; /* per processor */
    double *comm;      /* per dependency; NAN: unknown */
    uint32_t *stack;   /* the scheduled tasks, in order */
    struct load *undo; /* per stack entry: its processor's load before */
    uint32_t depth;
    bool unused_finish; /* also in partial schedules a processor without tasks finishes at 0 */

    struct strbuf list; /* the last task list asked for */
};

/* The empty state. `path_length` and `order` (all tasks by falling path length) are copied. */
struct relations *relations_new(const struct costs *costs, const double *path_length,
                                const uint32_t *order);
void relations_free(struct relations *r);

void relations_push(struct relations *r, uint32_t task, uint32_t proc, double start, double finish);
uint32_t relations_pop(struct relations *r); /* the task that is no longer scheduled */

/* Every task is scheduled: what is unused now stays so. */
static inline bool relations_completed(const struct relations *r)
{
    return r->depth == r->w->ntasks;
}
uint32_t relations_rows(const struct relations *r, enum relation relation);
/* Texts stay valid until the workflow goes; a task list until the next is asked for. */
struct value relations_value(struct relations *r, enum attribute a, uint32_t row);
