/* Functions for tests of `call:` tasks. */
#include <weft/task.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
int writes_past_scratch(const struct weft_task *task);
int takes_scratch(const struct weft_task *task);
int writes_past_file(const struct weft_task *task);
int asks_again(const struct weft_task *task);
int writes_to_input(const struct weft_task *task);
int asks_twice(const struct weft_task *task);
int leaves(const struct weft_task *task);
int leaves_at_once(const struct weft_task *task);
int leaves_its_thread(const struct weft_task *task);
int forks(const struct weft_task *task);
int crashes(const struct weft_task *task);
int reads_or_not(const struct weft_task *task);

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

/* Of a task without objects: twice, each its own, and there is nothing else to have. In the environment: written past the second. */
int takes_scratch(const struct weft_task *task)
{
    size_t bytes = 1;
    char *first = weft_task_scratch(task, 1000), *second = weft_task_scratch(task, 5000);
    if (!first || !second || weft_task_in(task, 0, &bytes) || bytes || weft_task_out(task, 0, 8) ||
        weft_task_pass(task, 0, 0, &bytes) || weft_task_scratch(task, (size_t)-1))
        return 1;
    memset(first, 1, 1000);
    memset(second, 2, getenv("PAST_SCRATCH") ? 5001 : 5000);
    return first[999] == 1 && (size_t)first % 64 == 0 ? 0 : 2;
}

int writes_past_scratch(const struct weft_task *task)
{
    char *scratch = weft_task_scratch(task, 100);
    memset(scratch, 0, 103);
    return make_numbers(task);
}

/* Its second output. */
int writes_past_file(const struct weft_task *task)
{
    char *out = weft_task_out(task, 1, 100);
    memset(out, 0, 103);
    return weft_task_out(task, 0, 100) == NULL;
}

/* Ten bytes would have done for a first guess. */
int asks_again(const struct weft_task *task)
{
    char *out = weft_task_out(task, 0, 10);
    if (!out)
        return 1;
    memset(out, 'a', 10);
    out = weft_task_out(task, 0, 20);
    if (!out)
        return 2;
    memset(out, 'b', 20);
    return 0;
}

int writes_to_input(const struct weft_task *task)
{
    double *in = (double *)(uintptr_t)weft_task_in(task, 0, NULL);
    in[7] = 7000;
    return make_numbers(task);
}

/* Room for its output, and then for another size of it. */
int asks_twice(const struct weft_task *task)
{
    char *large = weft_task_out(task, 0, 10);
    if (!large)
        return 4;
    memset(large, 'x', 10);
    char *small = weft_task_out(task, 0, 3);
    if (!small)
        return 5;
    memset(small, 'y', 3);
    return weft_task_out(task, 0, 3) == small ? 0 : 6;
}

/* What no function may do. */
int leaves(const struct weft_task *task)
{
    if (task->number != UINT32_MAX)
        exit(0);
    return 0;
}

int leaves_at_once(const struct weft_task *task)
{
    (void)task;
    _exit(0);
}

int leaves_its_thread(const struct weft_task *task)
{
    (void)task;
    pthread_exit(NULL);
}

/* Its children end as they like. (By exit() the sanitizer would look for leaks there, and find what weft holds.) */
#ifdef __SANITIZE_ADDRESS__
enum { FORKS = 1 };
#else
enum { FORKS = 2 };
#endif
int forks(const struct weft_task *task)
{
    (void)task;
    for (int how = 0; how < FORKS; how++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0 && how)
            exit(5);
        if (child == 0)
            _exit(5);
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 5)
            return 1;
    }
    return 0;
}

int crashes(const struct weft_task *task)
{
    if (task->number != UINT32_MAX)
        abort();
    return 0;
}

/* Says of its one input how large it is, if it is there. */
int reads_or_not(const struct weft_task *task)
{
    size_t bytes;
    const void *in = weft_task_in(task, 0, &bytes);
    char text[64];
    int n = in ? snprintf(text, sizeof text, "with %zu", bytes)
               : snprintf(text, sizeof text, "without");
    char *out = weft_task_out(task, 0, (size_t)n);
    if (!out)
        return 4;
    memcpy(out, text, (size_t)n);
    return 0;
}
