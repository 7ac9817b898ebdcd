/* What a person sees while a run goes on, as text: pure functions from the counts to lines. Who
 * counts, when to redraw and how to move the cursor is the command line's business. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_task {
    const char *name; /* as in the workflow: control characters are shown as '?' */
    double seconds;   /* since it began */
};

struct live_state {
    const char *name; /* of the workflow */
    uint64_t total, done, running, failed, reused, skipped;
    uint64_t ready;   /* could start now if a core were free; LIVE_UNKNOWN: not known */
    double seconds;   /* since the start */
    double rate;      /* tasks that ended a second, lately; NAN: too early to tell */
    double busy;      /* share of the cores in use, lately; NAN: not known */
    uint32_t cores;   /* 0: not known */
    double left;      /* seconds until all is done, estimated; NAN: no idea */
    double memory;    /* bytes in use by tasks; NAN: not measured */
    double available; /* bytes that tasks may use; NAN or INFINITY: no limit */
    const struct live_task *longest; /* running, the one that began first first */
    size_t nlongest;
    bool stopping; /* the user asked to stop: running tasks end, nothing begins */
};

#define LIVE_UNKNOWN UINT64_MAX

struct live_style {
    unsigned columns, rows; /* of the terminal; 0: 80 x 24 */
    bool colour;
    bool ascii; /* '#' and '-' instead of blocks */
};

/* Appends the lines (each ends with a line end and is at most `columns` wide) and returns how many
 * they are: at most `rows` - 1, and at most LIVE_LINES. */
enum { LIVE_LINES = 12 };
size_t live_lines(const struct live_state *s, const struct live_style *style, struct strbuf *out);

/* One plain line with a line end, for pipes and log files. */
void live_plain(const struct live_state *s, struct strbuf *out);
