/* A program that does something for us (ssh, sbatch, squeue) while the loop goes on: it is given a
 * text, its lines are told as they come, the end of what it says on stderr is kept, and its end is
 * told once. Needs a process that ignores SIGPIPE. Everything happens in the loop's thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct subprocess;

struct subprocess_config {
    uv_loop_t *loop;
    const char *const *arguments; /* ends with NULL; the first is looked for in PATH */
    const char *input;            /* given on stdin, then closed; NULL: /dev/null. Wiped after. */
    const char *output; /* a file to which stdout and stderr go, appended; NULL: they come here */
    double limit;       /* seconds until it is ended [0: never] */
    bool stays;         /* in a session of its own, and left alone by subprocess_abandon() */
    void (*line)(void *context, const char *line); /* one of stdout, without its end; may be NULL */
    /* `status`: as a shell says it (0 to 255; 128 + signal; 127: no such program). `said`: the end
     * of stderr, without blank ends, "" nothing. */
    void (*ended)(void *context, int status, const char *said);
    void *context;
};

/* Never NULL: what cannot be started ends with status 126 or 127 in the loop's next turn. It is
 * freed after `ended` returns. */
struct subprocess *subprocess_start(const struct subprocess_config *config);
void subprocess_signal(struct subprocess *e, int signal);
/* Nothing more is told. The program is ended by SIGTERM unless it `stays`. NULL is fine. */
void subprocess_abandon(struct subprocess *e);
