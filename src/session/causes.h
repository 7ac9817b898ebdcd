/* Failures by their cause: 31 tasks that fail for want of one file are one thing to mend. */
#pragma once
#include "model/record.h"

/* Sets `cause` of each failure of the record, by its workflow: the same ending, the same program, the
 * same last line but for numbers and the task's own names. Those that are not the first of their cause
 * lose their tail: it says the same. At most a thousand failures, so quadratic. */
void causes_group(struct run_record *r);
