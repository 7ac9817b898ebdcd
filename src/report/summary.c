/* What stands on the terminal after a run: how it ended, what it used, where the time went, what
 * failed and what to do about it. Text from files and logs is made visible (utf8_add_visible()), so
 * that it cannot steer the terminal. */
#include "report/summary.h"
#include "report/failures.h"
#include "report/figures.h"
#include "report/human.h"
#include "report/table.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of kinds, lines of a log, columns of a label: a summary fits on one screen. */
enum { KINDS = 5, TAIL_LINES = 10, LABEL = 15 };

struct summary {
    const struct run_record *r;
    const struct summary_options *o;
    struct run_figures f;
    struct strbuf *out;
    unsigned columns;
    bool colour;
};

/* A dim word in a column of its own. */
static void summary_label(struct summary *s, const char *text)
{
    size_t width = human_width(text);
    strbuf_add(s->out, "  ");
    if (s->colour)
        strbuf_add(s->out, "\033[2m");
    strbuf_add(s->out, text);
    if (s->colour)
        strbuf_add(s->out, "\033[0m");
    strbuf_printf(s->out, "%*s", (int)(width < LABEL ? LABEL - width : 1), "");
}

/* "1 task", "2 tasks". */
static void summary_count(struct strbuf *out, uint64_t n, const char *one, const char *many)
{
    char number[HUMAN_SIZE];
    strbuf_printf(out, "%s %s", human_count(number, n), n == 1 ? one : many);
}

/* "restored 3, ": results that were kept; `more`: something follows. */
static void summary_restored(struct summary *s, bool more)
{
    char a[HUMAN_SIZE];
    if (s->r->restored)
        strbuf_printf(s->out, "restored %s%s", human_count(a, s->r->restored), more ? ", " : "");
}

/* One line that is enough when all went well. */
static void summary_headline(struct summary *s)
{
    const struct run_record *r = s->r;
    static const char *const looks[] = {"33", "32", "31", "33", "31"};
    char a[HUMAN_SIZE];
    utf8_add_visible(s->out, r->name ? r->name : "run");
    strbuf_add(s->out, ": ");
    if (s->colour)
        strbuf_printf(s->out, "\033[1;%sm", r->outcome <= RECORD_LOST ? looks[r->outcome] : "31");
    strbuf_add(s->out, record_outcome_name(r->outcome));
    if (s->colour)
        strbuf_add(s->out, "\033[0m");
    if (!isnan(r->seconds))
        strbuf_printf(s->out, r->outcome == RECORD_DONE ? " in %s" : " after %s",
                      human_seconds(a, r->seconds));
    strbuf_add(s->out, ": ");
    if (r->outcome == RECORD_DONE && !r->ran && r->reused && !r->failed) {
        strbuf_add(s->out, r->restored ? "nothing to compute, " : "nothing to do, ");
        summary_restored(s, r->reused > r->restored);
        if (r->reused > r->restored) {
            summary_count(s->out, r->reused - r->restored, "task is", "tasks are");
            strbuf_add(s->out, " up to date");
        }
        if (r->untaken)
            strbuf_printf(s->out, ", %s skipped", human_count(a, r->untaken));
        strbuf_add_char(s->out, '\n');
        return;
    }
    summary_restored(s, true);
    summary_count(s->out, r->ran, "task ran", "tasks ran");
    if (r->reused > r->restored)
        strbuf_printf(s->out, ", %s reused", human_count(a, r->reused - r->restored));
    if (r->untaken)
        strbuf_printf(s->out, ", %s skipped", human_count(a, r->untaken));
    if (r->failed)
        strbuf_printf(s->out, ", %s failed", human_count(a, r->failed));
    if (r->excused && r->excused == r->failed)
        strbuf_add(s->out, " (and may)");
    else if (r->excused)
        strbuf_printf(s->out, " (%s of them may)", human_count(a, r->excused));
    if (r->skipped > r->untaken)
        strbuf_printf(s->out, ", %s not run", human_count(a, r->skipped - r->untaken));
    strbuf_add_char(s->out, '\n');
}

/* "predicted 16 s (+25 %)" behind a figure; nothing when nothing was predicted. */
static void summary_predicted(struct summary *s, double real, double promised, bool bytes)
{
    char a[HUMAN_SIZE];
    if (!isfinite(promised) || promised <= 0) /* 0: nothing is known of any task */
        return;
    strbuf_printf(s->out, ", predicted %s",
                  bytes ? human_bytes(a, promised) : human_seconds(a, promised));
    if (isfinite(real))
        strbuf_printf(s->out, " (%s)", human_change(a, real / promised - 1));
}

/* Each line only when there is something to say. */
static void summary_resources(struct summary *s)
{
    const struct run_record *r = s->r;
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    if (!isnan(r->seconds) && (s->f.attempts || isfinite(r->predicted_seconds))) {
        summary_label(s, "time");
        strbuf_add(s->out, human_seconds(a, r->seconds));
        summary_predicted(s, r->seconds, r->predicted_seconds, false);
        strbuf_add_char(s->out, '\n');
    }
    if (!isnan(s->f.used) && s->f.attempts) {
        summary_label(s, "cores");
        strbuf_printf(s->out, "%s of %u held by tasks", human_percent(a, s->f.used), r->cores);
        if (!isnan(s->f.computed))
            strbuf_printf(s->out, ", %s computing", human_percent(b, s->f.computed));
        strbuf_add_char(s->out, '\n');
    }
    if (isfinite(r->peak_memory) && r->peak_memory > 0) {
        summary_label(s, "memory");
        strbuf_printf(s->out, "%s at the peak", human_bytes(a, r->peak_memory));
        if (isfinite(r->memory) && r->memory > 0)
            strbuf_printf(s->out, " of %s", human_bytes(b, r->memory));
        summary_predicted(s, r->peak_memory, r->predicted_memory, true);
        strbuf_add_char(s->out, '\n');
    }
    if (isfinite(r->peak_disk) && r->peak_disk > 0) {
        summary_label(s, "disk");
        strbuf_printf(s->out, "%s at the peak", human_bytes(a, r->peak_disk));
        summary_predicted(s, r->peak_disk, r->predicted_disk, true);
        strbuf_add_char(s->out, '\n');
    }
}

/* "read 2.1 s" as it stands in the path. */
static char *summary_hop(struct summary *s, uint32_t task)
{
    struct strbuf text = {0};
    char buffer[32], a[HUMAN_SIZE];
    utf8_add_visible(&text, figures_task_name(&s->f, task, buffer, sizeof buffer));
    if (human_width(strbuf_text(&text)) > 32) {
        char *cut = mem_copy_bytes(text.at, human_prefix(text.at, 31));
        strbuf_clear(&text);
        strbuf_printf(&text, "%s…", cut);
        free(cut);
    }
    uint32_t last = s->f.last[task];
    if (last != NONE)
        strbuf_printf(&text, " %s",
                      human_seconds(a, s->r->events.at[last].finish - s->r->events.at[last].start));
    return strbuf_steal(&text);
}

/* The path in one or two lines: as many hops as fit from both ends, the number of the others in
 * the middle. */
static void path_lines(struct summary *s)
{
    uint32_t n = s->f.npath, front = 0, back = 0;
    /* two lines, without the words that stand between the ends */
    size_t room = s->columns > LABEL + 42 ? 2 * (s->columns - LABEL - 2) - 24 : 60, used = 0;
    struct strbuf head = {0}, tail = {0};
    /* hops in turn from the end and from the start: the end of the path is what finished last */
    for (bool from_back = true; front + back < n; from_back = !from_back) {
        char *text = summary_hop(s, s->f.path[from_back ? n - 1 - back : front]);
        size_t width = human_width(text) + 3;
        if (used + width > room && front + back >= 2) {
            free(text);
            break;
        }
        used += width;
        if (from_back) {
            char *rest = strbuf_steal(&tail);
            strbuf_printf(&tail, "%s%s%s", text, rest && *rest ? " > " : "", rest ? rest : "");
            free(rest);
            back++;
        } else {
            strbuf_printf(&head, "%s%s", front ? " > " : "", text);
            front++;
        }
        free(text);
    }
    struct strbuf all = {0};
    char a[HUMAN_SIZE];
    strbuf_add(&all, strbuf_text(&head));
    if (head.n)
        strbuf_add(&all, " > ");
    if (front + back < n)
        strbuf_printf(&all, "… %s more … > ", human_count(a, n - front - back));
    strbuf_add(&all, strbuf_text(&tail));
    /* broken where a hop ends */
    const char *at = strbuf_text(&all);
    size_t line_room = s->columns > LABEL + 22 ? s->columns - LABEL - 2 : 40;
    while (*at) {
        size_t fits = human_prefix(at, line_room), cut = fits;
        if (at[fits])
            for (cut = fits; cut > 3 && strncmp(at + cut - 3, " > ", 3) != 0; cut--)
                ;
        if (cut <= 3)
            cut = fits ? fits : strlen(at);
        bool broken = at[cut] && cut && at[cut - 1] == ' '; /* after " > " */
        strbuf_printf(s->out, "%*s%.*s\n", LABEL + 2, "", (int)(cut - broken), at);
        at += cut;
    }
    strbuf_free(&all);
    strbuf_free(&head);
    strbuf_free(&tail);
}

/* Waiting of less than a hundredth is noise, and is not mentioned. */
static void critical_path(struct summary *s)
{
    char a[HUMAN_SIZE];
    if (s->f.npath < 2)
        return;
    summary_label(s, "critical path");
    summary_count(s->out, s->f.npath, "task", "tasks");
    strbuf_printf(s->out, ": %s running", human_seconds(a, s->f.path_running));
    if (s->f.path_waiting > 0.01 * s->f.path_running)
        strbuf_printf(s->out, ", %s between", human_seconds(a, s->f.path_waiting));
    strbuf_add_char(s->out, '\n');
    path_lines(s);
}

/* With one kind there is nothing to compare. */
static void slowest_kinds(struct summary *s)
{
    if (s->f.kind.n < 2)
        return;
    struct table *t = table_new();
    bool forecast = false;
    for (size_t i = 0; i < s->f.kind.n && i < KINDS; i++)
        forecast = forecast || s->f.kind.at[i].predicted;
    table_column(t, "kind", TABLE_LEFT);
    table_column(t, "ran", TABLE_RIGHT);
    table_column(t, "together", TABLE_RIGHT);
    table_column(t, "share", TABLE_RIGHT);
    table_column(t, "median", TABLE_RIGHT);
    table_column(t, "longest", TABLE_RIGHT);
    if (forecast)
        table_column(t, "predicted", TABLE_RIGHT);
    double all = 0;
    for (size_t i = 0; i < s->f.kind.n; i++)
        all += s->f.kind.at[i].total;
    for (size_t i = 0; i < s->f.kind.n && i < KINDS; i++) {
        const struct figures_kind *k = &s->f.kind.at[i];
        char a[HUMAN_SIZE];
        table_row(t);
        table_cell(t, intern_text(&s->f.kinds, k->name));
        table_cell(t, human_count(a, k->ran));
        table_seconds(t, k->total);
        table_cell(t, human_percent(a, all > 0 ? k->total / all : 0));
        table_seconds(t, k->ran ? k->median : NAN);
        table_seconds(t, k->ran ? k->longest : NAN);
        if (forecast && k->predicted)
            table_seconds(t, k->expected);
    }
    strbuf_add_char(s->out, '\n');
    table_print(t, s->out, &(struct table_style){.colour = s->colour, .indent = 2, .max_cell = 30});
    table_free(t);
    if (s->f.kind.n > KINDS) {
        strbuf_add(s->out, "  and ");
        summary_count(s->out, s->f.kind.n - KINDS, "more kind\n", "more kinds\n");
    }
}

/* ---- failures ---- */

/* The last lines of a log, each behind a bar, what steers a terminal made visible. */
/* At most TAIL_LINES, each cut where it fills three lines of the terminal. */
static void add_tail(struct summary *s, const char *tail)
{
    size_t len = strlen(tail), at, lines = 0;
    /* empty lines at the end of a log would push out the ones that matter */
    while (len && (tail[len - 1] == '\n' || tail[len - 1] == '\r'))
        len--;
    for (at = len; at && lines < TAIL_LINES; at--)
        if (tail[at - 1] == '\n' && ++lines == TAIL_LINES)
            break;
    /* the cause often stands at a line's end, after a long path: three lines of the screen */
    size_t width = 3 * (s->columns > 26 ? s->columns - 6 : 20);
    while (at < len) {
        size_t end = at;
        while (end < len && tail[end] != '\n')
            end++;
        char *line = mem_copy_bytes(tail + at, end - at);
        struct strbuf shown = {0};
        for (char *c = line; *c; c++)
            if (*c == '\t')
                *c = ' ';
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r')
            line[length - 1] = 0;
        utf8_add_visible(&shown, line);
        const char *text = strbuf_text(&shown);
        size_t fits = human_prefix(text, width);
        strbuf_printf(s->out, "    | %.*s%s\n", (int)fits, text, text[fits] ? "…" : "");
        strbuf_free(&shown);
        free(line);
        at = end + 1;
    }
}

/* A line of four blanks and a text out of files. */
static void summary_line(struct summary *s, const char *before, const struct strbuf *text)
{
    if (!text->n)
        return;
    strbuf_printf(s->out, "    %s", before);
    utf8_add_visible(s->out, strbuf_text(text));
    strbuf_add_char(s->out, '\n');
}

/* Names, ending, the command, the last lines of the log, a hint, where the log is. */
static void summary_group(struct summary *s, const struct failure_group *g)
{
    struct strbuf text = {0};
    strbuf_add(s->out, "  ");
    if (s->colour)
        strbuf_add(s->out, "\033[1m");
    failure_names(g, &s->f, &text);
    utf8_add_visible(s->out, strbuf_text(&text));
    if (s->colour)
        strbuf_add(s->out, "\033[0m");
    strbuf_add(s->out, ": ");
    strbuf_clear(&text);
    failure_ending(g, &s->f, &text);
    utf8_add_visible(s->out, strbuf_text(&text));
    strbuf_add_char(s->out, '\n');
    strbuf_clear(&text);
    if (failure_command(g, &s->f, &text))
        human_command(s->out, 4, strbuf_text(&text));
    human_environment(s->out, 4, s->f.record->workflow, g->tasks[0]);
    if (g->record && g->record->tail)
        add_tail(s, g->record->tail);
    strbuf_clear(&text);
    failure_hint(g, &text);
    summary_line(s, "", &text);
    strbuf_clear(&text);
    strbuf_add(&text, g->record && g->record->log ? g->record->log : "");
    summary_line(s, "log: ", &text);
    strbuf_free(&text);
}

/* As a shell reads it back. */
static void summary_add_quoted(struct strbuf *out, const char *text)
{
    if (*text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./:=+,@%") == strlen(text)) {
        strbuf_add(out, text);
        return;
    }
    struct strbuf quoted = {0};
    strbuf_add_char(&quoted, '\'');
    for (; *text; text++)
        if (*text == '\'')
            strbuf_add(&quoted, "'\\''");
        else
            strbuf_add_char(&quoted, *text);
    strbuf_add_char(&quoted, '\'');
    utf8_add_visible(out, strbuf_text(&quoted));
    strbuf_free(&quoted);
}

/* A command to copy. */
static void add_command(const struct summary *s, const char *option, const char *task,
                        struct strbuf *line)
{
    const char *flow = s->o && s->o->flow ? s->o->flow : s->r->file ? s->r->file : "FLOW";
    strbuf_add(line, "weft run ");
    summary_add_quoted(line, flow);
    if (option) {
        strbuf_printf(line, " %s ", option);
        summary_add_quoted(line, task);
    }
}

/* The two commands that help, each with what it does. */
static void summary_what_to_do(struct summary *s, const char *task)
{
    struct strbuf again = {0}, why = {0};
    add_command(s, NULL, NULL, &again);
    add_command(s, "--why", task, &why);
    size_t width = human_width(strbuf_text(&why)) - human_width(strbuf_text(&again));
    strbuf_printf(s->out,
                  "\nwhat to do:\n  %s%*s  again: what failed and what waits for it\n  %s  why it "
                  "would run, and with what\n",
                  again.at, (int)width, "", why.at);
    strbuf_free(&again);
    strbuf_free(&why);
}

/* Each cause once; the first few in full, the number of the others, and the two commands that help. */
static void summary_failures(struct summary *s)
{
    struct failure_groups g;
    if (!s->f.failures.n)
        return;
    failure_groups_of(&g, &s->f);
    char buffer[32], a[HUMAN_SIZE];
    strbuf_add_char(s->out, '\n');
    if (s->colour)
        strbuf_add(s->out, "\033[31m");
    summary_count(s->out, s->f.failures.n, "task failed", "tasks failed");
    if (s->colour)
        strbuf_add(s->out, "\033[0m");
    if (g.group.n < s->f.failures.n && g.group.n == 1)
        strbuf_add(s->out, ", all for one cause");
    else if (g.group.n < s->f.failures.n)
        strbuf_printf(s->out, ", for %s causes", human_count(a, g.group.n));
    /* the run ended before its next attempt: the head counts it as not run */
    size_t unrepeated = s->f.failures.n - (s->r->failed ? s->r->failed : s->f.failures.n);
    if (s->r->failed < s->f.failures.n && unrepeated)
        strbuf_printf(s->out, "; the run ended before %s of them %s tried again",
                      human_count(a, unrepeated), unrepeated == 1 ? "was" : "were");
    strbuf_add(s->out, ":\n");
    for (size_t i = 0; i < g.group.n && i < SUMMARY_FAILURES; i++)
        summary_group(s, &g.group.at[i]);
    if (g.group.n > SUMMARY_FAILURES)
        strbuf_printf(s->out, "  and %s more causes (`weft report --json` has all)\n",
                      human_count(a, g.group.n - SUMMARY_FAILURES));
    failure_groups_free(&g);
    uint32_t first = s->r->events.at[s->f.failures.at[0]].id;
    summary_what_to_do(s, figures_task_name(&s->f, first, buffer, sizeof buffer));
}

/* Where to find what the run left. */
static void summary_places(struct summary *s)
{
    const char *outputs = s->o && s->o->outputs ? s->o->outputs : s->r->folder;
    if (outputs && *outputs) {
        summary_label(s, "results");
        utf8_add_visible(s->out, outputs);
        strbuf_add_char(s->out, '\n');
    }
    if (s->o && s->o->logs && *s->o->logs) {
        summary_label(s, "logs");
        utf8_add_visible(s->out, s->o->logs);
        strbuf_add_char(s->out, '\n');
    }
    if (s->r->run > 0) {
        summary_label(s, "history");
        strbuf_printf(s->out, "run %lld: weft report %lld -o run.html\n", (long long)s->r->run,
                      (long long)s->r->run);
    }
}

/* Which constraints held in what happened: those that did in a line, the others by name. */
static void summary_constraints(struct summary *s)
{
    const struct run_record *r = s->r;
    uint32_t held = 0, judged = 0;
    for (size_t i = 0; i < r->constraints.n; i++) {
        const struct record_constraint *c = &r->constraints.at[i];
        judged += c->requirement || c->wish;
        held += (c->requirement || c->wish) && c->held;
    }
    if (!r->constraints.n)
        return;
    summary_label(s, "constraints");
    strbuf_printf(s->out, "%u of %u held in what happened\n", held, judged);
    for (size_t i = 0; i < r->constraints.n; i++) {
        const struct record_constraint *c = &r->constraints.at[i];
        if (c->requirement ? c->held : c->wish && c->held)
            continue;
        if (c->requirement && s->colour)
            strbuf_add(s->out, "\033[1;31m");
        if (c->requirement || c->wish)
            strbuf_printf(s->out, "    %s", c->requirement ? "BROKEN  " : "not met ");
        else
            strbuf_printf(s->out, "    %-8.6g", c->measure);
        if (c->requirement && s->colour)
            strbuf_add(s->out, "\033[0m");
        utf8_add_visible(s->out, c->text);
        strbuf_add_char(s->out, '\n');
    }
}

void report_summary(const struct run_record *r, const struct summary_options *options,
                    struct strbuf *out)
{
    struct summary s = {.r = r,
                        .o = options,
                        .out = out,
                        .columns = options && options->columns ? options->columns : 80,
                        .colour = options && options->colour};
    figures_of(&s.f, r);
    summary_headline(&s);
    summary_resources(&s);
    critical_path(&s);
    summary_places(&s);
    slowest_kinds(&s);
    summary_constraints(&s);
    summary_failures(&s);
    figures_free(&s.f);
}
