/* The shortest task there is, for bench/run.c: what is left is what weft costs. */
#include "weft/task.h"

__attribute__((visibility("default"))) int nothing(const struct weft_task *task);

int nothing(const struct weft_task *task)
{
    (void)task;
    return 0;
}
