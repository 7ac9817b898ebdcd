/* Is the process that began a run still there? A number alone does not tell: numbers are used
 * again. Private. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct process {
    int64_t pid;
    int64_t born;   /* clock ticks since boot; 0: not known */
    char boot[128]; /* this boot and this space of process numbers; "": not known */
};

void process_self(struct process *out);
/* False only when it is certain: the same boot and the process is gone or another one, or the
 * machine was started anew. */
bool process_may_live(const struct process *p);
