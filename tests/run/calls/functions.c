/* Functions for tests of `call:` tasks. */
#include <weft/task.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int nothing(const struct weft_task *task);
int slow(const struct weft_task *task);
int copy(const struct weft_task *task);
int fails_twice(const struct weft_task *task);
int fails(const struct weft_task *task);

int nothing(const struct weft_task *task)
{
    (void)task;
    return 0;
}

/* Long enough to be worth a thread. */
int slow(const struct weft_task *task)
{
    (void)task;
    usleep(2000);
    return 0;
}

/* Every input into every output, behind the task's name. */
int copy(const struct weft_task *task)
{
    for (uint32_t o = 0; o < task->nout; o++) {
        FILE *out = fopen(task->out[o], "we");
        if (!out)
            return 2;
        fprintf(out, "%s:", task->name);
        for (uint32_t i = 0; i < task->nin; i++) {
            FILE *in = fopen(task->in[i], "re");
            char text[4096];
            size_t n = in ? fread(text, 1, sizeof text, in) : 0;
            fwrite(text, 1, n, out);
            if (in)
                fclose(in);
        }
        if (fclose(out) != 0)
            return 3;
    }
    return 0;
}

int fails_twice(const struct weft_task *task)
{
    return task->attempt < 3;
}

int fails(const struct weft_task *task)
{
    (void)task;
    return 3;
}
