/* `weft sim --schedulers N` and what it shares with `weft bound`: which graph, on which cluster. */
#pragma once
#include "cli/cli.h"

struct schedulers_question {
    struct weft_workflow *workflow; /* NULL: a benchmark DAG */
    struct weft_platform *platform; /* of --on, or NULL */
    /* the workflow and those of --beside; 0: it is alone */
    size_t nruns;
    struct weft_sim_run *runs;
    struct schedulers_entry *entry; /* the same for the view: times and priorities */
    char (*run_name)[256];
    struct weft_schedulers_options options;
    const char **settings;
    char name[256]; /* of the graph, for people */
};
/* --dag NAME or a workflow as operand, --schedulers, --cores, --submit, --set, --seed. The exit
 * status; 0: read. Free in any case. */
int schedulers_question_read(struct schedulers_question *q, const struct arguments *a);
void schedulers_question_free(struct schedulers_question *q);

int sim_schedulers_run(const struct arguments *a);
