/* The tables of `weft status`. What a person looks for comes first: a line that sums the agents up, those
 * that need a look before those that are well, columns by their rank as far as the screen goes; what
 * is left out is counted. */
#include "cli/status_view.h"

#include "api/inside_cluster.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "report/human.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGENTS_SHOWN = 20, LEAST_FROM = 16 };
/* Seconds: one that is gone is of interest for a while. */
static const double FORGOTTEN = 600;

/* A sentence in lines that fit, broken at blanks; what steers a terminal is made visible. */
static void status_prose(const struct status_style *style, const char *text, struct strbuf *out)
{
    struct strbuf shown = {0};
    utf8_add_visible(&shown, text);
    for (const char *at = strbuf_text(&shown); *at;) {
        size_t fits = style->columns ? human_prefix(at, style->columns) : strlen(at), cut = fits;
        while (at[fits] && cut && at[cut] != ' ')
            cut--;
        cut = cut ? cut : fits ? fits : strlen(at); /* a word that no line holds is cut */
        strbuf_add_bytes(out, at, cut);
        strbuf_add_char(out, '\n');
        at += cut + (at[cut] == ' ');
    }
    strbuf_free(&shown);
}

/* ---- agents ---- */

/* One row: what an agent has now counts only while it lives; what it did stays. */
struct agent_row {
    const struct weft_agent_info *m;
    struct weft_agent_work sum;         /* over the runs that are shown */
    const struct weft_agent_pace *pace; /* NULL: not known */
    bool lives;
    int place; /* smaller ones are shown first */
};

/* Sums go over the runs that the query let through; what is ready or runs at an agent that is gone
 * belongs to others by now. */
static struct agent_row agent_row_of(const struct weft_agent_info *m)
{
    static const int places[] = {
        [WEFT_AGENT_UP] = 3,   [WEFT_AGENT_LEAVING] = 2, [WEFT_AGENT_SILENT] = 0,
        [WEFT_AGENT_DEAD] = 1, [WEFT_AGENT_LEFT] = 5,    [WEFT_AGENT_ASIDE] = 1};
    struct agent_row r = {.m = m,
                          .lives = m->state == WEFT_AGENT_UP || m->state == WEFT_AGENT_LEAVING ||
                                   m->state == WEFT_AGENT_ASIDE,
                          .place = places[m->state]};
    for (size_t i = 0; i < m->nwork; i++) {
        const struct weft_agent_work *w = &m->work[i];
        r.sum.running += r.lives ? w->running : 0;
        r.sum.local += r.lives ? w->local : 0;
        r.sum.shared += r.lives ? w->shared : 0;
        r.sum.waiting += r.lives ? w->waiting : 0;
        r.sum.done += w->done;
        r.sum.failed += w->failed;
        r.sum.stolen += w->stolen;
        r.sum.given += w->given;
        r.sum.fetched_bytes += w->fetched_bytes;
        r.sum.served_bytes += w->served_bytes;
        r.sum.hits += w->hits;
        r.sum.misses += w->misses;
        r.sum.cache_bytes += w->cache_bytes;
    }
    if (r.place == 3 && !(r.sum.failed > 0))
        r.place = 4;
    return r;
}

/* Stable by number. */
static int agent_row_order(const void *a, const void *b)
{
    const struct agent_row *x = a, *y = b;
    if (x->place != y->place)
        return x->place - y->place;
    return (x->m->node > y->m->node) - (x->m->node < y->m->node);
}

/* As people look for them, once it is clear which are shown. */
static int agent_row_by_node(const void *a, const void *b)
{
    const struct agent_row *x = a, *y = b;
    return (x->m->node > y->m->node) - (x->m->node < y->m->node);
}

/* Counters come as doubles, and from members that may say anything. */
static void status_count_cell(struct table *t, double x)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_count(text, (uint64_t)(x > 0 ? x : 0)));
}

/* In the order in which they stand; the rank says which go first where there is no room. */
static void agent_columns(struct table *t)
{
    static const struct {
        const char *name;
        enum table_align align;
        unsigned rank;
    } columns[] = {
        {"node", TABLE_RIGHT, 0},    {"host", TABLE_LEFT, 0},     {"state", TABLE_LEFT, 0},
        {"cores", TABLE_RIGHT, 3},   {"speed", TABLE_RIGHT, 5},   {"load", TABLE_RIGHT, 5},
        {"running", TABLE_RIGHT, 1}, {"ready", TABLE_RIGHT, 2},   {"local", TABLE_RIGHT, 7},
        {"shared", TABLE_RIGHT, 7},  {"waiting", TABLE_RIGHT, 4}, {"done", TABLE_RIGHT, 1},
        {"failed", TABLE_RIGHT, 2},  {"stolen", TABLE_RIGHT, 6},  {"given", TABLE_RIGHT, 6},
        {"fetched", TABLE_RIGHT, 6}, {"served", TABLE_RIGHT, 6},  {"hits", TABLE_RIGHT, 6},
        {"data", TABLE_RIGHT, 5},    {"seen", TABLE_RIGHT, 3},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        table_column(t, columns[i].name, columns[i].align);
        table_rank(t, columns[i].rank);
    }
}

/* In the order of agent_columns(). */
static void agent_cells(struct table *t, const struct agent_row *r)
{
    const struct weft_agent_work *w = &r->sum;
    char text[HUMAN_SIZE];
    table_row(t);
    status_count_cell(t, r->m->node);
    table_cell(t, r->m->host ? r->m->host : "?");
    table_cell(t, cluster_agent_state_name(r->m->state));
    status_count_cell(t, r->m->cores);
    if (r->pace && r->pace->speed > 0)
        table_printf(t, "%.2f", r->pace->speed);
    else
        table_cell(t, "-");
    table_cell(t, r->pace ? human_percent(text, r->pace->load) : "-");
    status_count_cell(t, w->running);
    status_count_cell(t, w->local + w->shared);
    status_count_cell(t, w->local);
    status_count_cell(t, w->shared);
    status_count_cell(t, w->waiting);
    status_count_cell(t, w->done);
    status_count_cell(t, w->failed);
    status_count_cell(t, w->stolen);
    status_count_cell(t, w->given);
    table_bytes(t, w->fetched_bytes);
    table_bytes(t, w->served_bytes);
    if (w->hits + w->misses > 0)
        table_cell(t, human_percent(text, w->hits / (w->hits + w->misses)));
    else
        table_cell(t, "-");
    table_bytes(t, w->cache_bytes);
    if (r->m->age < 60)
        table_printf(t, "%.1f s", r->m->age);
    else
        table_seconds(t, r->m->age);
}

/* "3 agents up, 1 dead: 4 tasks run on 6 cores, 12 ready, 3 waiting"; two lines where one is too
 * long. */
static void agents_headline(const struct agent_row *r, size_t n, unsigned columns,
                            struct strbuf *out)
{
    struct strbuf load = {0};
    size_t begin = out->n;
    uint32_t count[WEFT_AGENT_ASIDE + 1] = {0};
    double cores = 0, running = 0, ready = 0, waiting = 0;
    char a[HUMAN_SIZE];
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        count[r[i].m->state]++;
        cores += r[i].lives ? r[i].m->cores : 0;
        running += r[i].sum.running;
        ready += r[i].sum.local + r[i].sum.shared;
        waiting += r[i].sum.waiting;
    }
    for (int s = 0; s <= WEFT_AGENT_ASIDE; s++) {
        if (!count[s] && (s != WEFT_AGENT_UP || n > count[WEFT_AGENT_LEFT]))
            continue;
        strbuf_printf(out, "%s%s %s%s", first ? "" : ", ", human_count(a, count[s]),
                      !first          ? ""
                      : count[s] == 1 ? "agent "
                                      : "agents ",
                      cluster_agent_state_name((enum weft_agent_state)s));
        first = false;
    }
    strbuf_printf(&load, "%s task%s on ", human_count(a, (uint64_t)running),
                  running == 1 ? " runs" : "s run");
    strbuf_printf(&load, "%s core%s", human_count(a, (uint64_t)cores), plural(cores));
    strbuf_printf(&load, ", %s ready", human_number(a, ready));
    strbuf_printf(&load, ", %s waiting\n", human_number(a, waiting));
    bool one = !columns || out->n - begin + 2 + load.n - 1 <= columns;
    strbuf_printf(out, ":%s%s", one ? " " : "\n", load.at);
    strbuf_free(&load);
}

/* Agents that are long gone, or of which nothing is known, are left out unless all are asked for. */
static size_t agent_rows(const struct weft_cluster_status *s, bool all, struct agent_row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nagents; i++) {
        const struct weft_agent_info *m = &s->agents[i];
        bool gone = m->state == WEFT_AGENT_DEAD || m->state == WEFT_AGENT_LEFT;
        if (all || !gone || (m->known && m->age <= FORGOTTEN)) {
            rows[n] = agent_row_of(m);
            for (size_t k = 0; k < s->npaces && !rows[n].pace; k++)
                if (s->paces[k].node == m->node)
                    rows[n].pace = &s->paces[k];
            n++;
        }
    }
    return n;
}

/* Two sorts: the first decides who is shown, the second in which order. */
void status_agents_text(const struct weft_cluster_status *s, const struct status_style *style,
                        struct strbuf *out)
{
    struct agent_row *rows = mem_new(struct agent_row, s->nagents + 1);
    size_t n = agent_rows(s, style->all, rows),
           shown = style->all || n <= AGENTS_SHOWN ? n : AGENTS_SHOWN;
    char a[HUMAN_SIZE];
    if (!n) {
        strbuf_printf(out, "no agents at %s; `weft agent` starts one\n", style->store);
        free(rows);
        return;
    }
    agents_headline(rows, n, style->columns, out);
    qsort(rows, n, sizeof *rows, agent_row_order);
    qsort(rows, shown, sizeof *rows, agent_row_by_node);
    struct table *t = table_new();
    agent_columns(t);
    for (size_t i = 0; i < shown; i++)
        agent_cells(t, &rows[i]);
    table_print(t, out,
                &(struct table_style){.colour = style->colour,
                                      .columns = style->columns,
                                      .max_cell = style->columns ? style->columns / 4 : 0});
    table_free(t);
    for (size_t i = 0; i < shown; i++)
        if (rows[i].m->state == WEFT_AGENT_ASIDE) {
            struct strbuf why = {0};
            strbuf_printf(&why, "node %u (%s) is set aside: %s", rows[i].m->node,
                          rows[i].m->host ? rows[i].m->host : "?",
                          rows[i].m->aside ? rows[i].m->aside : "?");
            status_prose(style, why.at, out);
            strbuf_free(&why);
        }
    if (shown < n)
        strbuf_printf(out, "and %s more agent%s: `weft status --all`\n", human_count(a, n - shown),
                      plural(n - shown));
    free(rows);
}

/* ---- runs ---- */

/* How it ended, where that is known: that says more than that it did. */
static const char *run_state_words(const struct weft_cluster_run *r)
{
    if (r->state == WEFT_CLUSTER_CANCELLED)
        return "cancelling";
    if (r->state != WEFT_CLUSTER_ENDED || !r->counted || !r->proved)
        return cluster_run_state_name(r->state);
    if (r->failed && !r->removed)
        return "ended"; /* those that failed may have been allowed to */
    return r->failed ? "failed" : r->done < r->tasks ? "cancelled" : "done";
}

/* "host:folder"; of a long one the end, which tells more. */
static void run_from_cell(struct table *t, const struct weft_cluster_run *r, unsigned columns)
{
    struct strbuf from = {0};
    size_t most = columns / 3 > LEAST_FROM ? columns / 3 : LEAST_FROM;
    if (r->host && r->folder)
        strbuf_printf(&from, "%s:%s", r->host, r->folder);
    const char *text = strbuf_text(&from), *tail = text;
    while (columns && human_width(tail) > (tail == text ? most : most - 1))
        do
            tail++;
        while (((unsigned char)*tail & 0xC0) == 0x80);
    table_printf(t, "%s%s", tail > text ? "…" : "", tail);
    strbuf_free(&from);
}

/* How far it is; * where only the store says so. */
static void run_progress_cells(struct table *t, const struct weft_cluster_run *r, bool removed)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    if (!r->counted) {
        table_cell(t, "-");
        table_cell(t, "-");
        if (removed)
            table_cell(t, "-");
        return;
    }
    table_printf(t, "%s%s of %s", r->proved ? "" : "*", human_count(a, r->done),
                 human_count(b, r->tasks));
    status_count_cell(t, r->failed);
    if (removed)
        status_count_cell(t, r->removed);
}

/* The last column takes what room is left; `removed` is there when some run has such tasks. */
static void run_columns(struct table *t, bool removed)
{
    table_column(t, "run", TABLE_RIGHT);
    table_column(t, "workflow", TABLE_LEFT);
    table_column(t, "state", TABLE_LEFT);
    table_column(t, "time", TABLE_RIGHT);
    table_rank(t, 2);
    table_column(t, "done", TABLE_RIGHT);
    table_column(t, "failed", TABLE_RIGHT);
    table_rank(t, 1);
    if (removed) {
        table_column(t, "cancelled", TABLE_RIGHT);
        table_rank(t, 4);
    }
    table_column(t, "from", TABLE_LEFT);
    table_rank(t, 3);
}

/* Somebody without the key wrote to the store: said, and not counted. */
static void run_unproved_note(const struct weft_cluster_run *r, const struct status_style *style,
                              struct strbuf *out)
{
    struct strbuf line = {0};
    char a[HUMAN_SIZE];
    strbuf_printf(&line,
                  "run %" PRIu64 ": the store says of %s more task%s that %s ended, and nobody who "
                  "has the key wrote that: not counted",
                  r->run, human_count(a, r->unproved), plural(r->unproved),
                  r->unproved == 1 ? "it" : "they");
    status_prose(style, line.at, out);
    strbuf_free(&line);
}

/* What the table cannot say. */
static void run_footnotes(const struct weft_cluster_status *s, const struct status_style *style,
                          bool claimed, struct strbuf *out)
{
    char b[HUMAN_SIZE];
    if (claimed)
        status_prose(style, "* as the store counts; `weft status RUN` verifies each", out);
    for (size_t i = 0; i < s->nruns; i++)
        if (s->runs[i].counted && s->runs[i].unproved)
            run_unproved_note(&s->runs[i], style, out);
    for (size_t i = 0; i < s->nwaits; i++)
        status_prose(style, s->waits[i], out);
    if (s->all_runs > s->nruns && s->nruns != 1)
        strbuf_printf(out, "and %s older run%s%s\n", human_count(b, s->all_runs - s->nruns),
                      plural(s->all_runs - s->nruns), ": `weft status --all`");
}

/* A run whose workflow cannot be read, or whose store is silent, shows "-". */
void status_runs_text(const struct weft_cluster_status *s, const struct status_style *style,
                      struct strbuf *out)
{
    struct table *t = table_new();
    bool removed = false, claimed = false;
    for (size_t i = 0; i < s->nruns; i++) {
        removed = removed || (s->runs[i].counted && s->runs[i].removed);
        claimed = claimed || (s->runs[i].counted && !s->runs[i].proved);
    }
    run_columns(t, removed);
    for (size_t i = 0; i < s->nruns; i++) {
        const struct weft_cluster_run *r = &s->runs[i];
        table_row(t);
        table_printf(t, "%" PRIu64, r->run);
        table_cell(t, r->workflow ? r->workflow : "-");
        table_cell(t, run_state_words(r));
        /* a run that goes on is as old as the server's clock says, not ours */
        double end = r->state >= WEFT_CLUSTER_ENDED ? r->changed : s->now;
        table_seconds(t, fmax(end - r->created, 0));
        run_progress_cells(t, r, removed);
        run_from_cell(t, r, style->columns);
    }
    if (s->nruns) {
        strbuf_add_char(out, '\n');
        table_print(t, out,
                    &(struct table_style){.colour = style->colour,
                                          .columns = style->columns,
                                          .max_cell = style->columns ? style->columns / 3 : 0});
        run_footnotes(s, style, claimed, out);
    } else {
        strbuf_add(out, "no runs\n");
    }
    table_free(t);
}

/* What is wrong there, with what to do. */
void status_store_text(const struct weft_cluster_status *s, const struct status_style *style,
                       struct strbuf *out)
{
    if (s->store_trouble)
        status_prose(style, s->store_trouble, out);
}

/* Results that wait, and for how long: one line, since agents mostly have the same limits. */
void status_kept_text(const struct weft_cluster_status *s, const struct status_style *style,
                      struct strbuf *out)
{
    struct strbuf line = {0};
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    double bytes = 0, most = 0, seconds = INFINITY;
    uint32_t runs = 0;
    for (size_t i = 0; i < s->nkept; i++) {
        runs = s->kept[i].runs > runs ? s->kept[i].runs : runs;
        bytes += s->kept[i].bytes;
        most += s->kept[i].most;
        seconds = fmin(seconds, s->kept[i].seconds);
    }
    if (!runs)
        return;
    strbuf_printf(&line, "kept: results of %u ended run%s, %s", runs, plural(runs),
                  human_bytes(a, bytes));
    if (isfinite(most))
        strbuf_printf(&line, " of %s", human_bytes(b, most));
    strbuf_printf(&line, ", each for %s", human_seconds(a, seconds));
    status_prose(style, line.at, out);
    strbuf_free(&line);
}
