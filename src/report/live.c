/* The live display as text: a few lines about a running workflow, none longer than the terminal is
 * wide. Pure: state in, text out; live_display.c decides when, and where it goes. */
#include "report/live.h"
#include "report/human.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line under way: what does not fit any more is cut, so that no line wraps and redrawing in
 * place stays right. */
struct live_line {
    struct strbuf *out;
    unsigned room; /* columns left */
    bool colour;
};

/* ANSI codes; every look is ended at once, so that a cut line leaves no colour behind. */
static const char BOLD[] = "1", DIM[] = "2", RED[] = "31", GREEN[] = "32", YELLOW[] = "33",
                  BLUE[] = "34";

/* Text in a colour (`look`, an ANSI code; NULL: none), cut to the room that is left. */
static void live_put(struct live_line *l, const char *look, const char *text)
{
    size_t bytes = human_prefix(text, l->room);
    if (!bytes)
        return;
    bool dressed = look && l->colour;
    if (dressed)
        strbuf_printf(l->out, "\033[%sm", look);
    strbuf_add_bytes(l->out, text, bytes);
    if (dressed)
        strbuf_add(l->out, "\033[0m");
    char *cut = mem_copy_bytes(text, bytes);
    l->room -= (unsigned)human_width(cut);
    free(cut);
}

/* A name from a file, in at most `columns`, with an ellipsis when it is longer. */
static void live_put_name(struct live_line *l, const char *look, const char *name, size_t columns,
                          bool ascii)
{
    struct strbuf shown = {0};
    utf8_add_visible(&shown, name);
    const char *text = strbuf_text(&shown);
    if (human_width(text) <= columns) {
        live_put(l, look, text);
    } else if (columns > 3) {
        const char *dots = ascii ? "..." : "…";
        char *head = mem_copy_bytes(text, human_prefix(text, columns - human_width(dots)));
        live_put(l, look, head);
        live_put(l, look, dots);
        free(head);
    }
    strbuf_free(&shown);
}

/* Eighths of a block: a bar of 16 cells has 128 steps. */
static void put_bar(struct live_line *l, double share, unsigned width, const char *look, bool ascii)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = share > 0 ? fmin(share, 1) : 0; /* NAN: empty */
    unsigned parts = (unsigned)(share * width * 8 + 1e-9), full = parts / 8, rest = parts % 8;
    if (ascii)
        rest = 0;
    struct strbuf done = {0}, open = {0};
    for (unsigned i = 0; i < full; i++)
        strbuf_add(&done, ascii ? "#" : "█");
    strbuf_add(&done, eighths[rest]);
    for (unsigned i = full + (rest > 0); i < width; i++)
        strbuf_add(&open, ascii ? "-" : "░");
    live_put(l, look, strbuf_text(&done));
    live_put(l, DIM, strbuf_text(&open));
    strbuf_free(&done);
    strbuf_free(&open);
}

/* Times that tick: no more digits than a glance can read. */
static char *live_ticking(char *out, double seconds)
{
    if (isnan(seconds) || seconds >= 119.5)
        return human_seconds(out, seconds);
    snprintf(out, HUMAN_SIZE, seconds < 9.95 ? "%.1f s" : "%.0f s", fmax(seconds, 0));
    return out;
}

/* Estimates: "about 40 s", not "about 41.37 s". */
static char *live_estimate(char *out, double seconds)
{
    double grain = seconds < 20 ? 1 : seconds < 120 ? 5 : seconds < 600 ? 10 : 60;
    seconds = ceil(seconds / grain) * grain;
    if (seconds >= 120 && seconds < 3600 && fmod(seconds, 60) == 0)
        snprintf(out, HUMAN_SIZE, "%.0f min", seconds / 60);
    else
        live_ticking(out, seconds < 120 ? fmax(seconds, 1) : seconds);
    if (seconds < 9.95)
        snprintf(out, HUMAN_SIZE, "%.0f s", fmax(seconds, 1));
    return out;
}

static uint64_t live_ended(const struct live_state *s)
{
    return s->done + s->reused + s->skipped;
}

/* Tasks that are neither done, running, failed nor ready: something they need is missing. */
static uint64_t live_waiting(const struct live_state *s)
{
    uint64_t known =
        live_ended(s) + s->running + s->failed + (s->ready == LIVE_UNKNOWN ? 0 : s->ready);
    return s->total > known ? s->total - known : 0;
}

/* 100 only when all is done. */
static unsigned live_percent(const struct live_state *s)
{
    return s->total ? (unsigned)((double)live_ended(s) / (double)s->total * 100 + 1e-9) : 100;
}

static void put_count(struct live_line *l, const char *look, uint64_t count, const char *what)
{
    char text[HUMAN_SIZE + 32], number[HUMAN_SIZE];
    snprintf(text, sizeof text, "%s %s", human_count(number, count), what);
    live_put(l, count ? look : DIM, text);
}

/* Name, bar, percent, counts: the bar takes what room the others leave, up to 60 cells. */
static void progress_line(const struct live_state *s, struct live_line *l, bool ascii)
{
    char counts[96], number[HUMAN_SIZE], of[HUMAN_SIZE];
    snprintf(counts, sizeof counts, " %3u %%  %s of %s", live_percent(s),
             human_count(number, live_ended(s)), human_count(of, s->total));
    unsigned columns = l->room, after = (unsigned)human_width(counts);
    live_put_name(l, BOLD, s->name ? s->name : "", columns > 60 ? 24 : 12, ascii);
    if (columns - l->room > 0)
        live_put(l, NULL, "  ");
    unsigned bar = l->room > after + 8 ? l->room - after : 0;
    bar = bar > 60 ? 60 : bar;
    if (bar)
        put_bar(l, s->total ? (double)live_ended(s) / (double)s->total : 1, bar,
                s->failed ? YELLOW : GREEN, ascii);
    live_put(l, NULL, counts);
}

/* Zeros are dim: the eye should fall on what is not. */
static void count_line(const struct live_state *s, struct live_line *l)
{
    put_count(l, NULL, s->running, "running");
    if (s->ready != LIVE_UNKNOWN) {
        live_put(l, DIM, ", ");
        put_count(l, NULL, s->ready, "ready");
    }
    live_put(l, DIM, ", ");
    put_count(l, NULL, live_waiting(s), "waiting");
    live_put(l, DIM, ", ");
    put_count(l, RED, s->failed, "failed");
    if (s->reused) {
        live_put(l, DIM, ", ");
        put_count(l, BLUE, s->reused, "reused");
    }
    if (s->skipped) {
        live_put(l, DIM, ", ");
        put_count(l, BLUE, s->skipped, "skipped");
    }
}

/* How long, how much longer, how fast; what is not known yet is left out. */
static void time_line(const struct live_state *s, struct live_line *l)
{
    char text[96], number[HUMAN_SIZE];
    live_put(l, NULL, live_ticking(number, s->seconds));
    if (!isnan(s->left)) {
        snprintf(text, sizeof text, ", about %s left", live_estimate(number, s->left));
        live_put(l, NULL, text);
    }
    if (!isnan(s->rate)) {
        snprintf(text, sizeof text, ", %s tasks/s",
                 human_number(number, s->rate < 10 ? round(s->rate * 100) / 100 : round(s->rate)));
        live_put(l, NULL, text);
    }
    if (s->stopping)
        live_put(l, YELLOW, "  stopping (Ctrl-C again: now)");
}

/* Cores and memory, each where it is known. Memory above nine tenths is a warning. */
static void load_line(const struct live_state *s, struct live_line *l, bool ascii)
{
    char text[96], number[HUMAN_SIZE], of[HUMAN_SIZE];
    unsigned bar = l->room >= 72 ? 16 : 8;
    if (!isnan(s->busy)) {
        live_put(l, DIM, "cores  ");
        put_bar(l, s->busy, bar, BLUE, ascii);
        snprintf(text, sizeof text, " %3.0f %% of %u", fmin(fmax(s->busy, 0), 9.99) * 100,
                 s->cores);
        live_put(l, NULL, text);
    }
    if (!isnan(s->memory)) {
        live_put(l, DIM, isnan(s->busy) ? "memory  " : "   memory  ");
        bool limit = isfinite(s->available) && s->available > 0;
        if (limit) {
            put_bar(l, s->memory / s->available, bar,
                    s->memory > 0.9 * s->available ? YELLOW : BLUE, ascii);
            live_put(l, NULL, " ");
        }
        live_put(l, NULL, human_bytes(number, s->memory));
        if (limit) {
            snprintf(text, sizeof text, " of %s", human_bytes(of, s->available));
            live_put(l, NULL, text);
        }
    }
}

/* Times right-aligned, so that names begin in one column. */
static void task_line(const struct live_task *t, struct live_line *l, bool ascii)
{
    char number[HUMAN_SIZE], text[HUMAN_SIZE + 8];
    live_ticking(number, t->seconds);
    size_t width = human_width(number);
    snprintf(text, sizeof text, "%*s%s  ", (int)(width < 13 ? 13 - width : 0), "", number);
    live_put(l, DIM, text);
    live_put_name(l, NULL, t->name, l->room, ascii);
}

/* One line less than the terminal has, or the cursor would scroll it and redrawing would climb. */
size_t live_lines(const struct live_state *s, const struct live_style *style, struct strbuf *out)
{
    unsigned columns = style && style->columns ? style->columns : 80;
    unsigned rows = style && style->rows ? style->rows : 24;
    bool colour = style && style->colour, ascii = style && style->ascii;
    size_t most = rows > 1 ? rows - 1 : 1, n = 0;
    most = most < LIVE_LINES ? most : LIVE_LINES;
    size_t fixed = isnan(s->busy) && isnan(s->memory) ? 3 : 4;
    for (size_t i = 0; n < most && i < fixed + s->nlongest; i++, n++) {
        struct live_line l = {out, columns, colour};
        if (i == 0)
            progress_line(s, &l, ascii);
        else if (i == 1)
            count_line(s, &l);
        else if (i == 2)
            time_line(s, &l);
        else if (i == 3 && fixed == 4)
            load_line(s, &l, ascii);
        else
            task_line(&s->longest[i - fixed], &l, ascii);
        strbuf_add_char(out, '\n');
    }
    return n;
}

/* One line for a log file: everything at once, no colour, no cursor. */
void live_plain(const struct live_state *s, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    if (s->name && *s->name) {
        utf8_add_visible(out, s->name);
        strbuf_add(out, ": ");
    }
    strbuf_printf(out, "%s of %s done (%u %%)", human_count(a, live_ended(s)),
                  human_count(b, s->total), live_percent(s));
    strbuf_printf(out, ", %s running", human_count(a, s->running));
    if (s->ready != LIVE_UNKNOWN)
        strbuf_printf(out, ", %s ready", human_count(a, s->ready));
    if (s->failed)
        strbuf_printf(out, ", %s failed", human_count(a, s->failed));
    if (s->reused)
        strbuf_printf(out, ", %s reused", human_count(a, s->reused));
    if (s->skipped)
        strbuf_printf(out, ", %s skipped", human_count(a, s->skipped));
    if (!isnan(s->rate))
        strbuf_printf(out, ", %s tasks/s",
                      human_number(a, s->rate < 10 ? round(s->rate * 100) / 100 : round(s->rate)));
    if (!isnan(s->busy))
        strbuf_printf(out, ", %.0f %% of %u core%s", fmax(s->busy, 0) * 100, s->cores,
                      plural(s->cores));
    if (!isnan(s->memory))
        strbuf_printf(out, ", %s of memory", human_bytes(a, s->memory));
    strbuf_printf(out, ", %s", live_ticking(a, s->seconds));
    if (!isnan(s->left))
        strbuf_printf(out, ", about %s left", live_estimate(a, s->left));
    if (s->stopping)
        strbuf_add(out, ", stopping");
    if (s->nlongest && s->longest[0].seconds >= 10) {
        strbuf_printf(out, ", since %s: ", live_ticking(a, s->longest[0].seconds));
        utf8_add_visible(out, s->longest[0].name);
    }
    strbuf_add_char(out, '\n');
}
