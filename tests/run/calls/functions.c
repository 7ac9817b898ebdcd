/* Functions for tests of `call:` tasks. */
#include <weft/task.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int nothing(const struct weft_task *task);
int slow(const struct weft_task *task);
int copy(const struct weft_task *task);
int fails_twice(const struct weft_task *task);
int fails(const struct weft_task *task);
int make_numbers(const struct weft_task *task);
int add_numbers(const struct weft_task *task);
int add_in_place(const struct weft_task *task);
int sum_to_folder(const struct weft_task *task);
int makes_nothing(const struct weft_task *task);
int writes_past_end(const struct weft_task *task);
int writes_to_input(const struct weft_task *task);

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

enum { NUMBERS = 1000 };

/* 0, 1, 2 ... into every output. */
int make_numbers(const struct weft_task *task)
{
    for (uint32_t k = 0; k < task->nout; k++) {
        double *out = weft_task_out(task, k, NUMBERS * sizeof *out);
        if (!out || (uintptr_t)out % 64)
            return 1;
        for (int i = 0; i < NUMBERS; i++)
            out[i] = i;
    }
    return 0;
}

/* The sum of all inputs, number by number, into every output. */
int add_numbers(const struct weft_task *task)
{
    for (uint32_t k = 0; k < task->nout; k++) {
        double *out = weft_task_out(task, k, NUMBERS * sizeof *out);
        if (!out)
            return 1;
        memset(out, 0, NUMBERS * sizeof *out);
        for (uint32_t j = 0; j < task->nin; j++) {
            size_t bytes;
            const double *in = weft_task_in(task, j, &bytes);
            if (!in || bytes != NUMBERS * sizeof *in)
                return 2;
            for (int i = 0; i < NUMBERS; i++)
                out[i] += in[i];
        }
    }
    return 0;
}

/* One more than the first input. Its status says when the bytes are others than it expects: a task whose
 * name begins with "p" is the last reader. */
int add_in_place(const struct weft_task *task)
{
    size_t bytes;
    const void *in = weft_task_in(task, 0, &bytes);
    double *out = weft_task_pass(task, 0, 0, &bytes);
    if (!out || bytes != NUMBERS * sizeof *out)
        return 1;
    if ((in == out) != (task->name[0] == 'p'))
        return 2;
    for (int i = 0; i < NUMBERS; i++)
        out[i]++;
    return 0;
}

/* Of all inputs, into a file of the task's name that nobody declares. */
int sum_to_folder(const struct weft_task *task)
{
    char path[4096];
    double sum = 0;
    for (uint32_t j = 0; j < task->nin; j++) {
        const double *in = weft_task_in(task, j, NULL);
        for (int i = 0; in && i < NUMBERS; i++)
            sum += in[i];
    }
    snprintf(path, sizeof path, "%s/%s.sum", task->folder, task->name);
    FILE *f = fopen(path, "we");
    if (!f)
        return 1;
    fprintf(f, "%.0f", sum);
    return fclose(f) != 0;
}

int makes_nothing(const struct weft_task *task)
{
    (void)task;
    return 0;
}

int writes_past_end(const struct weft_task *task)
{
    char *out = weft_task_out(task, 0, 100);
    memset(out, 0, 103);
    return 0;
}

int writes_to_input(const struct weft_task *task)
{
    double *in = (double *)(uintptr_t)weft_task_in(task, 0, NULL);
    in[7] = 7000;
    return make_numbers(task);
}
