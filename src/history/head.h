/* The head of a run in the database: its row, its workflow's, what was predicted. Private. */
#pragma once
#include "history/database.h"

/* Where the rows of a run belong. */
struct head_rows {
    int64_t run, workflow, folder;
    bool add_tasks; /* the workflow is new here: its tasks are to be written */
};

/* As history_begin(), in one transaction. */
bool head_add(struct history *h, const struct run_record *head, const char *text, size_t n,
              struct head_rows *r, struct error *err);
/* Inside that transaction, of a run with a number: take_up.c. 1: its record is ours, 0: it needs one, -1: an error. */
int head_take_up(struct history *h, const struct run_record *head, struct head_rows *r,
                 struct error *err);
/* The run's workflow is another than was thought; its tasks are then to be written. */
bool head_change_workflow(struct history *h, const struct run_record *head, const char *text,
                          size_t n, struct head_rows *r, struct error *err);
/* After they are: attempts of tasks that joined serve prediction, too. At most `most` are looked at. */
bool head_add_samples(struct history *h, const struct head_rows *r, uint32_t most,
                      struct error *err);
bool head_end(struct history *h, int64_t run, const struct run_record *t, struct error *err);
