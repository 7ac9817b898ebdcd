/* The performance studies of the environment paper (section 5), run: program graphs scheduled under
 * constraints, executed in the simulator, and judged by what was asked for. reproduce_environment.c
 * makes the report of them. */
#pragma once
#include "base/array.h"
#include "generate/image_graphs.h"
#include "study/reproduction.h"

enum { ENVIRONMENT_OUTPUTS = 5 }; /* shown in Table 1 */

extern const double environment_noise; /* of task times in the execution */
/* The constraints of Figure 8 and of Figure 9. */
extern const char environment_early_rules[], environment_assigned_rules[];

/* One program graph scheduled and executed. */
struct environment_row {
    char name[32];
    uint32_t tasks, dependencies;
    uint64_t states;
    double seconds;               /* to plan */
    double serial;                /* all tasks on one processor */
    double planned, executed;     /* makespan */
    uint32_t scheduled, selected; /* processors used, and allowed by the default constraints */
    double plain_tasks;           /* experiments: tasks without reuse */
    double finish[ENVIRONMENT_OUTPUTS]; /* Table 1: executed, in the order asked for; NAN: none */
    double early[2], early_real[2]; /* Figure 8: finish of oddvar and norge, planned, executed */
    bool fulfilled, fulfilled_real; /* the wish of a study, in the plan, in the execution */
    uint32_t outputs, combinations;
};

typedef ARRAY(struct environment_row) environment_rows;

struct environment_study {
    const struct reproduction_options *o;
    struct image_shape shapes[IMAGE_GRAPHS];
    size_t count;
    environment_rows plain, experiments, early, ordered, required, assigned;
    uint64_t edges_instances, edges_plain,
        edges_reused;    /* Figure 4: tasks without and with reuse */
    struct strbuf gantt; /* Figure 9 */
    char gantt_name[32];
    size_t display; /* most "Display Image" tasks of a graph so far */
};

/* All three studies into the study's rows. `count` and `shapes` are set by this; what it made is
 * freed by environment_free() in any case. */
bool environment_run(struct environment_study *s, const struct reproduction_options *o,
                     struct error *err);
void environment_free(struct environment_study *s);

/* ---- shared with environment_executed.c ---- */

/* The tasks without successors, in a random order; `outputs` has room for all tasks. How many. */
uint32_t environment_outputs(const struct workflow *w, uint64_t seed, uint32_t *outputs);
/* A constraint between each and the next: "requirement" or "preference". */
void environment_add_orders(struct strbuf *out, const char *importance, const uint32_t *outputs,
                            uint32_t count);
/* Some of the graphs, really executed by the runner of the options: a section of Markdown. The graphs are
 * those of environment_run(), after it. */
bool environment_execute(struct environment_study *s, struct strbuf *out, struct error *err);
