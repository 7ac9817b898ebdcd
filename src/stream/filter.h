/* Filters: what is done with an item. Functions of a shared library, commands that stay, commands that
 * are started for each item.
 *
 * A filter is read by all workers. What one worker needs of its own for it, a process and its pipes, is
 * a station. What is known of the call that goes on, the item, its chunks and why it failed, is a
 * handling: one a worker, too. */
#pragma once
#include "stream/lineup.h"
#include "stream/chunk.h"
#include "weft/item.h"

#include <sys/types.h>

struct filter {
    enum duty_kind kind;
    const char *name;
    weft_filter_function function;
    weft_filter_function remember; /* NAME_state, of one that keeps state; NULL: none */
    char *program;                 /* of a command: its path, or what PATH is searched for */
    char **words;                  /* NULL-terminated */
    char **environment;            /* NULL-terminated, whole */
    const char **in, **out;        /* names of its files */
    uint32_t nin, nout;
    double timeout; /* seconds for an item; INFINITY: none */
    uint32_t tries; /* of an item */
    bool state;     /* is not replicable: a new process knows nothing of what the old one knew */
};

struct filters {
    struct filter *at; /* by task */
    uint32_t n;
    char *folder; /* where commands run and libraries are looked for */
    ARRAY(void *) libraries;
    /* A line for people, from any thread; NULL: nobody listens. */
    void (*say)(void *context, const char *text);
    void *context;
};
/* Loads functions and makes commands ready; starts nothing. Tasks that say what a stream cannot do
 * are refused. */
bool filters_open(struct filters *f, const struct workflow *w, const char *folder, uint32_t tries,
                  struct error *err);
void filters_close(struct filters *f);
/* One function, "lib.so:name", that belongs to no task: a source, a sink. */
weft_filter_function filters_function(struct filters *f, const char *command, struct error *err);
/* Its NAME_state, if there is one. */
weft_filter_function filters_state_function(struct filters *f, const char *command);

struct station_port {
    int fd; /* -1: none */
    size_t done;
    struct chunk *chunk; /* of an output: what has come so far */
    uint64_t head[2];    /* length, number */
};
struct station {
    pid_t pid; /* 0: none runs */
    uint32_t starts;
    bool answered, reminded; /* it has ever answered; somebody was told that it does not */
    struct station_port *in, *out;
    char *folder; /* of a program: where its files stand */
};

enum filter_verdict { FILTER_DONE, FILTER_FAILED, FILTER_HALTED };

struct handling {
    struct weft_item item; /* first: a function's calls come back with it */
    struct weft_piece *view;
    struct chunk **in, **out; /* out: given so far, NULL: none */
    /* An input that nobody reads after this call may become an output as it is, without being counted:
     * `last` says which (NULL: none), `moved` where it went, the output's number plus 1. */
    const bool *last;
    uint32_t *moved;
    uint32_t nmoved;
    const atomic_int *halt; /* 2: leave at once */
    char why[512];          /* of a failure */
};
void handling_open(struct handling *h, uint32_t most_ports, const atomic_int *halt);
void handling_close(struct handling *h);
/* Outputs that were given are thrown away; inputs that were handed on are inputs again. */
void handling_clear(struct handling *h);

/* One try. h->in[0 .. nin-1] are set, NULL: an item without bytes. DONE: h->out has what it gave, the
 * caller's from now on. A filter that waits is not run here. */
enum filter_verdict filter_run(const struct filters *all, const struct filter *f, struct station *s,
                               struct handling *h);
/* No more items: pipes are closed, the process gets `seconds` to end, then it is killed. False: it did
 * not end well, h->why says how. */
bool station_close(const struct filter *f, struct station *s, struct handling *h, double seconds);

/* ---- private to the filters ---- */
enum filter_verdict filter_stays_run(const struct filters *all, const struct filter *f,
                                     struct station *s, struct handling *h);
enum filter_verdict filter_program_run(const struct filters *all, const struct filter *f,
                                       struct station *s, struct handling *h);
/* Kill the process with all that it started, and wait for it; its status, -1: there was none. */
int station_kill(struct station *s);
/* How a process ended, in words. */
const char *station_end_text(int status, char *buffer, size_t size);
