/* The live display: counters fed by events, and a picture of them on standard error.
 *
 * I1. Events change counters and the list of running tasks, nothing else; text is made in ticks.
 * I2. `lines` and `width` describe what is on the screen now: whoever writes there returns to the
 *     first line before (add_return), and clears what is left after.
 * I3. The cursor is hidden only while lines are on the screen; a signal handler may show it again. */
#include "report/live_display.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/human.h"
#include "report/live.h"
#include "report/summary.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    CLOCK_EVERY = 256, /* events between two looks at the clock: 0.1 us a look, so for nothing */
    FAILURES_REPORTED = 20,
    LONGEST = 5,  /* running tasks that are named */
    SAMPLES = 64, /* of the last WINDOW seconds and a little more */
};
/* Seconds: the rate is that of the last WINDOW; ten redraws a second look alive without flicker; a log
 * file is not to be filled. */
static const double WINDOW = 10, REDRAW = 0.1, PLAIN = 5;

enum display_task_state { UNSEEN, RUNNING, DONE, FAILED, REUSED, SKIPPED };

/* Running tasks are a list in the order in which they began: the first are the longest. */
struct display_slot {
    uint32_t task, before, after;
    double start, cores;
};

struct display_sample {
    double time;
    uint64_t ended;
    double busy; /* core-seconds */
};

struct live_display {
    const struct workflow *w;
    const char *name;
    char *own_name;
    const double *expected;
    double *own_expected; /* a copy, where the workflow may grow */
    uint32_t known;       /* tasks that the arrays have an entry for */
    uint32_t cores;
    double memory_limit;
    bool quiet, terminal, colour;
    double started; /* on the clock */

    uint8_t *state;    /* per task */
    uint32_t *slot_of; /* per task, while it runs */
    ARRAY(struct display_slot) slots;
    uint32_t first, last, free; /* of the list; of the slots not in use, chained by `after` */

    uint64_t done, running, failed, reused, skipped, ready, reported;
    double memory;
    double weight_total, weight_done;              /* expected seconds, work or count */
    double busy_ended, running_cores, running_sum; /* the last: sum of cores x start */
    bool stopping;

    uint32_t events; /* since the last look at the clock */
    double drawn, sampled;
    struct display_sample sample[SAMPLES]; /* a ring */
    size_t nsamples;
    size_t lines; /* on the screen, and how wide each is */
    size_t width[LIVE_LINES];
};

/* For live_display_restore(), which a signal handler calls. */
static volatile sig_atomic_t cursor_hidden;

void live_display_restore(void)
{
    static const char show[] = "\033[?25h";
    if (!cursor_hidden)
        return;
    cursor_hidden = 0;
    ssize_t ignored = write(STDERR_FILENO, show, sizeof show - 1);
    (void)ignored;
}

/* One write a redraw, so that the picture does not flicker. A terminal that does not take it (flow
 * control) must not stop the run: what it does not take within a moment is lost. */
static void write_out(const struct strbuf *text)
{
    for (size_t at = 0; at < text->n;) {
        ssize_t n = write(STDERR_FILENO, text->at + at, text->n - at);
        if (n > 0) {
            at += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};
            if (poll(&wait, 1, 50) <= 0)
                return;
        } else if (n == 0 || errno != EINTR) {
            return;
        }
    }
}

/* What a task counts in the estimate of the time left. */
static double weight_of(const struct live_display *d, uint32_t task)
{
    double weight = d->expected ? d->expected[task] : d->w->work[task];
    return weight > 0 && isfinite(weight) ? weight : 0;
}

/* NO_COLOR and TERM=dumb are heeded; without a terminal plain lines come instead. */
struct live_display *live_display_new(const struct live_display_options *options)
{
    struct live_display *d = mem_zero(sizeof *d);
    d->w = options->workflow;
    char buffer[256];
    d->own_name = mem_copy_string(
        options->name ? options->name : workflow_display_name(d->w, buffer, sizeof buffer));
    d->name = d->own_name;
    d->expected = options->expected;
    d->cores = options->cores;
    d->memory_limit = options->memory;
    d->quiet = options->quiet;
    const char *term = getenv("TERM");
    d->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    d->colour = d->terminal && !getenv("NO_COLOR");
    d->state = mem_new_zero(uint8_t, d->w->ntasks + 1);
    d->slot_of = mem_new(uint32_t, d->w->ntasks + 1);
    d->first = d->last = d->free = NONE;
    d->ready = LIVE_UNKNOWN;
    d->memory = NAN;
    for (uint32_t t = 0; t < d->w->ntasks; t++)
        d->weight_total += weight_of(d, t);
    d->known = d->w->ntasks;
    if (d->w->future && d->expected) {
        d->own_expected = mem_new(double, d->known + 1);
        memcpy(d->own_expected, d->expected, d->known * sizeof *d->expected);
        d->expected = d->own_expected;
    }
    d->started = d->drawn = d->sampled = clock_seconds();
    return d;
}

/* ---- counting: what every event costs ---- */

/* As the scheduler counts them: a task cannot have more than there are. */
static double display_cores_of(const struct live_display *d, uint32_t task)
{
    uint32_t cores = d->w->cores[task];
    return cores > d->cores && d->cores ? d->cores : cores ? cores : 1;
}

/* At the end of the list: it began last, so it has run shortest. O(1). */
static void display_task_began(struct live_display *d, const struct trace_event *e)
{
    uint32_t task = e->id;
    if (d->state[task] == RUNNING)
        return;
    if (d->state[task] == FAILED) /* another attempt */
        d->failed--;
    uint32_t at = d->free;
    if (at != NONE) {
        d->free = d->slots.at[at].after;
    } else {
        at = (uint32_t)d->slots.n;
        array_add(&d->slots);
    }
    d->slots.at[at] =
        (struct display_slot){task, d->last, NONE, e->start, display_cores_of(d, task)};
    if (d->last == NONE)
        d->first = at;
    else
        d->slots.at[d->last].after = at;
    d->last = at;
    d->slot_of[task] = at;
    d->state[task] = RUNNING;
    d->running++;
    d->running_cores += d->slots.at[at].cores;
    d->running_sum += d->slots.at[at].cores * e->start;
}

/* O(1): the slot knows its neighbours, the task its slot. */
static void leave_list(struct live_display *d, uint32_t task)
{
    uint32_t at = d->slot_of[task];
    struct display_slot *s = &d->slots.at[at];
    if (s->before == NONE)
        d->first = s->after;
    else
        d->slots.at[s->before].after = s->after;
    if (s->after == NONE)
        d->last = s->before;
    else
        d->slots.at[s->after].before = s->before;
    d->running_cores -= s->cores;
    d->running_sum -= s->cores * s->start;
    s->after = d->free;
    d->free = at;
    d->running--;
}

/* Each at once, but not thousands of them: the summary lists what is left. */
static void display_report_failure(struct live_display *d, const struct trace_event *e)
{
    if (d->quiet || ++d->reported > FAILURES_REPORTED + 1)
        return;
    struct strbuf text = {0};
    if (d->reported > FAILURES_REPORTED) {
        strbuf_add(&text, "more failures are counted, and listed at the end");
    } else {
        strbuf_add(&text, "task ");
        utf8_add_visible(&text, workflow_task_name(d->w, e->id));
        strbuf_add(&text, ": ");
        report_ending(e, 0, &text);
        if (e->attempt > 1)
            strbuf_printf(&text, " (attempt %u)", e->attempt);
    }
    live_display_say(d, strbuf_text(&text));
    strbuf_free(&text);
}

/* A failed attempt that is tried again comes back through display_task_began(). */
static void display_task_ended(struct live_display *d, const struct trace_event *e)
{
    if (d->state[e->id] == RUNNING)
        leave_list(d, e->id);
    else if (d->state[e->id] == DONE || d->state[e->id] == FAILED)
        return; /* a second report of the same attempt */
    d->busy_ended += (e->finish - e->start) * display_cores_of(d, e->id);
    d->state[e->id] = UNSEEN;
    if (e->outcome == TRACE_DONE) {
        d->state[e->id] = DONE;
        d->done++;
        d->weight_done += weight_of(d, e->id);
    } else if (trace_is_failure(e->outcome)) {
        d->state[e->id] = FAILED;
        d->failed++;
        display_report_failure(d, e);
    }
}

/* Tasks joined: what is expected of them is what was of others, on average. */
static void display_grow(struct live_display *d)
{
    uint32_t n = d->w->ntasks, room = n + n / 2 + 1;
    double mean = d->known ? d->weight_total / d->known : 0;
    d->state = mem_resize(d->state, room);
    d->slot_of = mem_resize(d->slot_of, room);
    if (d->own_expected)
        d->expected = d->own_expected = mem_resize(d->own_expected, room);
    for (; d->known < n; d->known++) {
        d->state[d->known] = UNSEEN;
        if (d->own_expected)
            d->own_expected[d->known] = mean;
        d->weight_total += weight_of(d, d->known);
    }
}

/* The clock is asked every CLOCK_EVERY events only: see the head. */
static void display_on_event(void *context, const struct trace_event *e)
{
    struct live_display *d = context;
    if (e->kind == TRACE_COUNTER) {
        /* agents join and leave: what is busy is a share of what is there now */
        if (e->id == COUNTER_CORES && e->amount >= 1)
            d->cores = (uint32_t)e->amount;
        else if (e->id == COUNTER_MEMORY)
            d->memory = e->amount;
        else if (e->id == COUNTER_READY && e->amount >= 0)
            d->ready = (uint64_t)e->amount;
    } else if (e->kind == TRACE_GROWN) {
        display_grow(d);
    } else if (e->id < d->known) {
        if (e->kind == TRACE_BEGIN)
            display_task_began(d, e);
        else if (e->kind == TRACE_TASK)
            display_task_ended(d, e);
        else if (e->kind == TRACE_REUSED && d->state[e->id] == UNSEEN) {
            d->state[e->id] = REUSED;
            d->reused++;
            d->weight_total -= weight_of(d, e->id);
        } else if (e->kind == TRACE_SKIPPED && d->state[e->id] == UNSEEN) {
            d->state[e->id] = SKIPPED;
            d->skipped++;
            d->weight_total -= weight_of(d, e->id);
        }
    }
    if (++d->events >= CLOCK_EVERY)
        live_display_tick(d);
}

struct trace_sink live_display_sink(struct live_display *d)
{
    return (struct trace_sink){display_on_event, d, NULL, NULL};
}

/* ---- figures ---- */

/* Core-seconds so far: of tasks that ended, and of those that run (sum of cores x (now - start)). */
static double busy_seconds(const struct live_display *d, double now)
{
    return d->busy_ended + d->running_cores * now - d->running_sum;
}

/* What is left, at the pace so far: by expected seconds or work where there are any, else by
 * count. What runs counts by the time it has run, where times are expected. */
static double time_left(const struct live_display *d, double now)
{
    uint64_t to_run = d->w->ntasks - d->reused - d->skipped, over = d->done + d->failed;
    if (over >= to_run)
        return to_run ? 0 : NAN;
    bool weighed = d->weight_total > 0;
    double all = weighed ? d->weight_total : (double)to_run;
    double done = weighed ? d->weight_done : (double)d->done;
    if (d->expected)
        for (uint32_t at = d->first; at != NONE; at = d->slots.at[at].after)
            done += fmin(fmax(now - d->slots.at[at].start, 0),
                         0.95 * weight_of(d, d->slots.at[at].task));
    if (now >= 1 && done > 0 && d->done > 0)
        return now * fmax(all - done, 0) / done;
    if (d->expected && d->cores && all > 0)
        return fmax(all / d->cores - now, 0);
    return NAN;
}

/* A sample every quarter of a second at most: 64 of them are more than the window. */
static void take_sample(struct live_display *d, double clock)
{
    if (d->nsamples && clock - d->sampled < 0.25)
        return;
    d->sampled = clock;
    double now = clock - d->started;
    d->sample[d->nsamples++ % SAMPLES] =
        (struct display_sample){now, d->done + d->failed, busy_seconds(d, now)};
}

/* The oldest sample in the window. */
static const struct display_sample *window_start(const struct live_display *d, double now)
{
    size_t oldest = d->nsamples > SAMPLES ? d->nsamples - SAMPLES : 0;
    for (size_t i = oldest; i < d->nsamples; i++)
        if (now - d->sample[i % SAMPLES].time <= WINDOW)
            return &d->sample[i % SAMPLES];
    return NULL;
}

/* Everything that a picture needs, at one moment. */
static void display_snapshot(const struct live_display *d, double now, struct live_state *s,
                             struct live_task longest[LONGEST])
{
    *s = (struct live_state){.name = d->name,
                             .total = d->w->ntasks,
                             .done = d->done,
                             .running = d->running,
                             .failed = d->failed,
                             .reused = d->reused,
                             .skipped = d->skipped,
                             .ready = d->ready,
                             .seconds = now,
                             .rate = NAN,
                             .busy = NAN,
                             .cores = d->cores,
                             .left = time_left(d, now),
                             .memory = d->memory,
                             .available = d->memory_limit,
                             .longest = longest,
                             .stopping = d->stopping};
    const struct display_sample *from = window_start(d, now);
    double start = from ? from->time : 0, span = now - start;
    if (span >= 1) {
        s->rate = (double)(d->done + d->failed - (from ? from->ended : 0)) / span;
        if (d->cores)
            s->busy = fmin(
                fmax((busy_seconds(d, now) - (from ? from->busy : 0)) / span / d->cores, 0), 1);
    }
    for (uint32_t at = d->first; at != NONE && s->nlongest < LONGEST; at = d->slots.at[at].after)
        longest[s->nlongest++] = (struct live_task){workflow_task_name(d->w, d->slots.at[at].task),
                                                    fmax(now - d->slots.at[at].start, 0)};
}

/* ---- the screen ---- */

/* Back to the first line of what is shown. A line may have become several since, if the terminal
 * is narrower now. */
static void add_return(struct live_display *d, unsigned columns, struct strbuf *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < d->lines; i++)
        rows += d->width[i] > columns ? (d->width[i] + columns - 1) / columns : 1;
    if (rows)
        strbuf_printf(out, "\r\033[%zuA", rows);
    d->lines = 0;
}

static struct winsize terminal_size(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    return size;
}

/* Twice the same lines: without colour to know their widths, with colour to show them. */
static void display_draw(struct live_display *d, double now)
{
    struct live_state s;
    struct live_task longest[LONGEST];
    display_snapshot(d, now, &s, longest);
    struct winsize size = terminal_size();
    /* one column less: a full last column makes some terminals go to the next line at once */
    unsigned columns = size.ws_col > 1 ? size.ws_col - 1u : 1;
    struct strbuf bare = {0}, text = {0}, out = {0};
    struct live_style style = {columns, size.ws_row, false, false};
    live_lines(&s, &style, &bare); /* for the widths */
    style.colour = d->colour;
    size_t n = live_lines(&s, &style, &text);
    if (!cursor_hidden)
        strbuf_add(&out, "\033[?25l");
    add_return(d, size.ws_col, &out);
    const char *line = strbuf_text(&text), *plain = strbuf_text(&bare);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(line, "\n"), plain_len = strcspn(plain, "\n");
        strbuf_add_bytes(&out, line, len);
        strbuf_add(&out, "\033[K\n");
        char *shown = mem_copy_bytes(plain, plain_len);
        d->width[i] = human_width(shown);
        free(shown);
        line += len + 1;
        plain += plain_len + 1;
    }
    d->lines = n;
    strbuf_add(&out, "\033[J");
    cursor_hidden = 1;
    write_out(&out);
    strbuf_free(&bare);
    strbuf_free(&text);
    strbuf_free(&out);
}

static void print_plain(struct live_display *d, double now)
{
    struct live_state s;
    struct live_task longest[LONGEST];
    display_snapshot(d, now, &s, longest);
    struct strbuf out = {0};
    strbuf_add(&out, "weft: ");
    live_plain(&s, &out);
    write_out(&out);
    strbuf_free(&out);
}

void live_display_tick(struct live_display *d)
{
    d->events = 0;
    if (d->quiet)
        return;
    double clock = clock_seconds();
    take_sample(d, clock);
    /* Nothing for what is over in a blink. */
    if (clock - d->drawn < (d->terminal ? d->lines ? REDRAW : 3 * REDRAW : PLAIN))
        return;
    d->drawn = clock;
    if (d->terminal)
        display_draw(d, clock - d->started);
    else
        print_plain(d, clock - d->started);
}

void live_display_hide(struct live_display *d)
{
    if (d->lines) {
        struct strbuf out = {0};
        add_return(d, terminal_size().ws_col, &out);
        strbuf_add(&out, "\033[J");
        write_out(&out);
        strbuf_free(&out);
    }
    live_display_restore();
}

void live_display_say(struct live_display *d, const char *text)
{
    struct strbuf out = {0};
    bool shown = d->lines > 0;
    if (shown) {
        add_return(d, terminal_size().ws_col, &out);
        strbuf_add(&out, "\033[J");
    }
    strbuf_add(&out, "weft: ");
    utf8_add_visible(&out, text);
    strbuf_add_char(&out, '\n');
    write_out(&out);
    strbuf_free(&out);
    if (shown)
        display_draw(d, clock_seconds() - d->started);
}

void live_display_stopping(struct live_display *d)
{
    d->stopping = true;
    d->drawn = 0;
    live_display_tick(d);
}

void live_display_free(struct live_display *d)
{
    if (!d)
        return;
    live_display_hide(d);
    free(d->own_name);
    free(d->state);
    free(d->slot_of);
    free(d->own_expected);
    array_free(&d->slots);
    free(d);
}
