/* The tables of a run's page: failures, the critical path, kinds, slowest tasks, predictions,
 * files. Each shows a limited number of rows and says how many more there are. */
#include "model/command.h"
#include "report/failures.h"
#include "report/human.h"
#include "report/page_parts.h"
#include "report/summary.h"
#include "report/svg.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows shown. A page is to be read: 200 failures of one cause say no more than ten, and a page of a
 * million tasks must still open. */
enum { FAILURES = 200, CAUSES = 30, PATH_ENDS = 12, KINDS = 60, FILES = 200, SLOWEST = 15 };

/* ---- cells ---- */

/* `right` has a letter a column: r for numbers, which stand on the right. */
static void open_table(struct page *p, const char *caption, const char *const *heads,
                       const char *right)
{
    svg_printf(p->out,
               "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
               "<caption class=\"sr\">%s</caption><thead><tr>",
               caption, caption);
    for (size_t i = 0; heads[i]; i++) {
        strbuf_add(p->out,
                   right[i] == 'r' ? "<th scope=\"col\" class=\"r\">" : "<th scope=\"col\">");
        svg_printf(p->out, "%s</th>", heads[i]);
    }
    strbuf_add(p->out, "</tr></thead><tbody>\n");
}

/* rows 0: all are shown. */
static void close_table(struct page *p, size_t rows, size_t shown, const char *what)
{
    char a[HUMAN_SIZE];
    strbuf_add(p->out, "</tbody></table></div>\n");
    if (rows > shown)
        svg_printf(p->out, "<p class=\"note\">and %s more %s</p>\n", human_count(a, rows - shown),
                   what);
}

static void page_table_cell(struct page *p, const char *text)
{
    svg_printf(p->out, "<td>%s</td>", text);
}

/* A name that may not fit its column may be broken between its words, and not inside them. */
static void page_name(struct page *p, const char *text)
{
    enum { FITS = 24 };
    if (strlen(text) <= FITS) {
        svg_escape(p->out, text);
        return;
    }
    /* a word goes with the signs behind it, as people break file names */
    for (size_t n; *text; text += n) {
        n = strcspn(text, "_-./@=,:;+");
        n += strspn(text + n, "_-./@=,:;+");
        char *word = mem_copy_bytes(text, n);
        svg_escape(p->out, word);
        strbuf_add(p->out, text[n] ? "<wbr/>" : "");
        free(word);
    }
}

static void name_cell(struct page *p, const char *text)
{
    strbuf_add(p->out, "<td class=\"name\">");
    page_name(p, text);
    strbuf_add(p->out, "</td>");
}

static void right_cell(struct page *p, const char *text)
{
    svg_printf(p->out, "<td class=\"r\">%s</td>", text);
}

static void task_cell(struct page *p, uint32_t task)
{
    char buffer[32];
    name_cell(p, figures_task_name(&p->f, task, buffer, sizeof buffer));
}

/* As that attempt ran; long ones are cut, the failures' are whole. */
static void command_cell(struct page *p, const struct trace_event *e)
{
    enum { COMMAND_SHOWN = 300 };
    struct strbuf text = {0};
    command_readable(p->r->workflow, e->id, e->attempt, &text);
    size_t shown = human_prefix(strbuf_text(&text), COMMAND_SHOWN);
    bool cut = strbuf_text(&text)[shown] != 0;
    if (cut)
        text.at[shown] = 0;
    svg_printf(p->out, "<td><code>%s%s</code></td>", strbuf_text(&text), cut ? "…" : "");
    strbuf_free(&text);
}

/* A bar of this share of the column; `bad` in red. */
static void bar_cell(struct page *p, double share, bool bad)
{
    strbuf_add(p->out, bad ? "<td class=\"b\"><i class=\"x\"" : "<td class=\"b\"><i");
    strbuf_printf(p->out, " style=\"width:%.1f%%\"></i></td>",
                  100 * fmin(fmax(share > 0 ? share : 0, 0), 1));
}

static void page_table_row(struct page *p)
{
    strbuf_add(p->out, "<tr>");
}

static void row_end(struct page *p)
{
    strbuf_add(p->out, "</tr>\n");
}

/* As the tables and the legend name it. */
static const char *kind_name(const struct page *p, uint32_t task)
{
    return intern_text(&p->f.kinds, p->f.kind_of[task]);
}

/* ---- failures ---- */

/* Lines stay lines: as a whole they would be one, since control characters are blanks in markup. */
static void page_lines(struct page *p, const char *text)
{
    strbuf_add(p->out, "<pre>");
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char *line = mem_copy_bytes(at, n);
        svg_printf(p->out, "%s", line);
        free(line);
        at += n;
        if (*at) {
            strbuf_add_char(p->out, '\n');
            at++;
        }
    }
    strbuf_add(p->out, "</pre>\n");
}

/* One cause: whose, how it ended, the command, what it last wrote, what would help. */
static void page_cause(struct page *p, const struct failure_group *g)
{
    struct strbuf names = {0}, text = {0};
    failure_names(g, &p->f, &names);
    failure_ending(g, &p->f, &text);
    svg_printf(p->out, "<div class=\"cause\"><h3>%s</h3><p>%s</p>\n", strbuf_text(&names),
               strbuf_text(&text));
    strbuf_clear(&text);
    if (failure_command(g, &p->f, &text))
        svg_printf(p->out, "<pre class=\"command\">%s</pre>\n", strbuf_text(&text));
    if (g->record && g->record->tail && *g->record->tail)
        page_lines(p, g->record->tail);
    strbuf_clear(&text);
    failure_hint(g, &text);
    if (text.n)
        svg_printf(p->out, "<p class=\"hint\">%s</p>\n", strbuf_text(&text));
    if (g->record && g->record->log)
        svg_printf(p->out, "<p class=\"note\">Log: <code>%s</code></p>\n", g->record->log);
    strbuf_add(p->out, "</div>\n");
    strbuf_free(&names);
    strbuf_free(&text);
}

/* What is to be mended, each thing once. How many there are. */
static size_t page_causes(struct page *p)
{
    struct failure_groups g;
    char a[HUMAN_SIZE];
    failure_groups_of(&g, &p->f);
    for (size_t i = 0; i < g.group.n && i < CAUSES; i++)
        page_cause(p, &g.group.at[i]);
    if (g.group.n > CAUSES)
        svg_printf(p->out, "<p class=\"note\">and %s more causes</p>\n",
                   human_count(a, g.group.n - CAUSES));
    size_t n = g.group.n;
    failure_groups_free(&g);
    return n;
}

/* First on the page when there are any. */
void page_failures(struct page *p)
{
    static const char *const heads[] = {"Task",   "Kind", "What happened", "Attempt", "Ran for",
                                        "Memory", NULL};
    size_t n = p->f.failures.n;
    if (!n)
        return;
    char a[HUMAN_SIZE];
    svg_printf(p->out,
               "<section id=\"failures\" class=\"bad\" aria-labelledby=\"failures-h\"><h2 "
               "id=\"failures-h\">%s</h2>\n",
               n == 1 ? "One task failed" : "Tasks that failed");
    /* tasks of one cause are told once, with the command and its last lines; the list of them opens */
    size_t causes = page_causes(p);
    bool folded = causes && n > 4 && n > causes;
    if (folded)
        svg_printf(p->out, "<details><summary>all %s failed tasks, one by one</summary>\n",
                   human_count(a, n));
    strbuf_add(p->out, "<p class=\"note\">The last attempt of each. ");
    if (p->r->run > 0)
        strbuf_add(p->out, "Logs are in <code>.weft/logs</code> of its folder; ");
    strbuf_add(p->out, "<code>weft run FLOW --why TASK</code> tells why a task would run again."
                       "</p>\n");
    open_table(p, "Tasks that failed", heads, "lllrrr");
    for (size_t i = 0; i < n && i < FAILURES; i++) {
        const struct trace_event *e = &p->r->events.at[p->f.failures.at[i]];
        const struct workflow *w = p->r->workflow;
        struct strbuf words = {0};
        report_ending(e, w && e->id < w->ntasks ? w->memory[e->id] : 0, &words);
        page_table_row(p);
        task_cell(p, e->id);
        page_table_cell(p, kind_name(p, e->id));
        page_table_cell(p, strbuf_text(&words));
        snprintf(a, sizeof a, "%u", e->attempt);
        right_cell(p, e->attempt ? a : "-");
        right_cell(p, human_seconds(a, e->finish - e->start));
        right_cell(p, e->memory > 0 ? human_bytes(a, e->memory) : "-");
        row_end(p);
        strbuf_free(&words);
    }
    close_table(p, n, FAILURES, "failed tasks");
    strbuf_add(p->out, folded ? "</details>\n" : "");
    page_section_end(p);
}

/* ---- the path that really happened ---- */

/* Does the task read or follow what `producer` made? */
static bool page_table_needs(const struct workflow *w, uint32_t task, uint32_t producer)
{
    for (uint32_t e = w ? w->pred_off[task] : 0; w && e < w->pred_off[task + 1]; e++)
        if (w->pred_task[e] == producer)
            return true;
    return false;
}

/* What the task waited for: a result of the one before, or a core that it held. */
static void path_row(struct page *p, uint32_t i, double longest)
{
    const struct run_figures *f = &p->f;
    uint32_t task = f->path[i], last = f->last[task];
    if (last == NONE)
        return;
    const struct trace_event *e = &p->r->events.at[last];
    char a[HUMAN_SIZE], text[64] = "the start of the run";
    double before = 0;
    if (i) {
        uint32_t previous = f->path[i - 1];
        if (f->last[previous] != NONE)
            before = p->r->events.at[f->last[previous]].finish;
        if (page_table_needs(p->r->workflow, task, previous))
            snprintf(text, sizeof text, "a result of the task above");
        else
            snprintf(text, sizeof text, "core %u, taken by the task above", e->lane + 1);
    }
    page_table_row(p);
    task_cell(p, task);
    page_table_cell(p, text);
    right_cell(p, human_seconds(a, fmax(e->start - before, 0)));
    right_cell(p, human_seconds(a, e->start));
    right_cell(p, human_seconds(a, e->finish - e->start));
    bar_cell(p, (e->finish - e->start) / longest, false);
    row_end(p);
}

void page_path(struct page *p)
{
    static const char *const heads[] = {"Task",    "Waited for", "Then idle", "Began at",
                                        "Ran for", "",           NULL};
    uint32_t n = p->f.npath;
    if (!n)
        return;
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], note[256];
    double longest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (p->f.last[p->f.path[i]] != NONE) {
            const struct trace_event *e = &p->r->events.at[p->f.last[p->f.path[i]]];
            longest = fmax(longest, e->finish - e->start);
        }
    snprintf(note, sizeof note,
             "The chain that decided when the run ended: %s %s, %s running, %s between. A run "
             "gets shorter only if this chain does.",
             human_count(a, n), n == 1 ? "task" : "tasks", human_seconds(b, p->f.path_running),
             human_seconds(c, p->f.path_waiting));
    page_section(p, "path", "The critical path that really happened", note);
    open_table(p, "Critical path", heads, "llrrrl");
    for (uint32_t i = 0; i < n; i++) {
        if (n > 2 * PATH_ENDS + 1 && i == PATH_ENDS) {
            svg_printf(p->out, "<tr><td colspan=\"6\">… %s more …</td></tr>\n",
                       human_count(a, n - 2 * PATH_ENDS));
            i = n - PATH_ENDS;
        }
        path_row(p, i, longest);
    }
    close_table(p, 0, 0, "");
    page_section_end(p);
}

/* ---- kinds and tasks ---- */

void page_kinds(struct page *p)
{
    static const char *const heads[] = {"Kind", "Ran",    "Failed",  "Together",  "Share",
                                        "",     "Median", "Longest", "Processor", "Peak memory",
                                        NULL};
    const struct run_figures *f = &p->f;
    if (!f->kind.n)
        return;
    page_section(p, "kinds", "Where the time went",
                 "Kinds of tasks, the most time first. Processor: seconds of computing for each "
                 "second that a task ran; well under 1 means waiting for disk or network.");
    open_table(p, "Kinds of tasks by time", heads, "lrrrrlrrrr");
    double all = 0;
    for (size_t i = 0; i < f->kind.n; i++)
        all += f->kind.at[i].total;
    for (size_t i = 0; i < f->kind.n && i < KINDS; i++) {
        const struct figures_kind *k = &f->kind.at[i];
        char a[HUMAN_SIZE];
        double share = all > 0 ? k->total / all : 0;
        page_table_row(p);
        name_cell(p, intern_text(&f->kinds, k->name));
        right_cell(p, human_count(a, k->ran));
        right_cell(p, human_count(a, k->failed));
        right_cell(p, human_seconds(a, k->total));
        right_cell(p, human_percent(a, share));
        bar_cell(p, share, false);
        right_cell(p, k->ran ? human_seconds(a, k->median) : "-");
        right_cell(p, k->ran ? human_seconds(a, k->longest) : "-");
        snprintf(a, sizeof a, "%.2f", k->total > 0 ? k->cpu / k->total : 0);
        right_cell(p, k->cpu > 0 ? a : "-");
        right_cell(p, k->memory > 0 ? human_bytes(a, k->memory) : "-");
        row_end(p);
    }
    close_table(p, f->kind.n, KINDS, "kinds");
    page_section_end(p);
}

/* Attempts, not tasks: a task that was tried twice may be here twice. */
void page_slowest(struct page *p)
{
    static const char *const heads[] = {"Task", "Kind",      "Ran for",     "",        "Predicted",
                                        "Core", "Processor", "Peak memory", "Command", NULL};
    const struct run_figures *f = &p->f;
    if (!f->slowest.n)
        return;
    page_section(p, "slowest", "Slowest tasks", NULL);
    open_table(p, "Slowest tasks", heads, "llrlrrrrl");
    const struct trace_event *first = &p->r->events.at[f->slowest.at[0]];
    for (size_t i = 0; i < f->slowest.n && i < SLOWEST; i++) {
        const struct trace_event *e = &p->r->events.at[f->slowest.at[i]];
        double seconds = e->finish - e->start, expected = figures_predicted(f, e->id);
        char a[HUMAN_SIZE];
        page_table_row(p);
        task_cell(p, e->id);
        page_table_cell(p, kind_name(p, e->id));
        right_cell(p, human_seconds(a, seconds));
        bar_cell(p, seconds / (first->finish - first->start), e->outcome != TRACE_DONE);
        right_cell(p, human_seconds(a, expected));
        snprintf(a, sizeof a, "%u", e->lane + 1);
        right_cell(p, a);
        snprintf(a, sizeof a, "%.2f", seconds > 0 ? e->cpu / seconds : 0);
        right_cell(p, e->cpu > 0 ? a : "-");
        right_cell(p, e->memory > 0 ? human_bytes(a, e->memory) : "-");
        command_cell(p, e);
        row_end(p);
    }
    close_table(p, 0, 0, "");
    page_section_end(p);
}

/* ---- predicted against real ---- */

/* Within a quarter is good, within a factor of 2 fair. */
static void deviation_cell(struct page *p, double predicted, double real)
{
    char text[HUMAN_SIZE] = "-";
    const char *class = "";
    if (predicted > 0 && isfinite(predicted) && real > 0 && isfinite(real)) {
        double ratio = real / predicted, off = fmax(ratio, 1 / ratio);
        class = off <= 1.25 ? "good" : off <= 2 ? "off" : "wrong";
        if (ratio >= 10 || ratio <= 0.1)
            snprintf(text, sizeof text, "%.3g times", ratio);
        else
            human_change(text, ratio - 1);
    }
    svg_printf(p->out, "<td class=\"r\"><span class=\"%s\">%s</span></td>", class, text);
}

/* Nothing is known on either side: no row. */
static void whole_row(struct page *p, const char *what, double predicted, double real, bool bytes)
{
    char a[HUMAN_SIZE];
    if (!isfinite(predicted) && !isfinite(real))
        return;
    page_table_row(p);
    page_table_cell(p, what);
    right_cell(p, bytes ? human_bytes(a, predicted) : human_seconds(a, predicted));
    right_cell(p, bytes ? human_bytes(a, real) : human_seconds(a, real));
    deviation_cell(p, predicted, real);
    row_end(p);
}

/* Means, not sums: a kind that ran twice as often is not twice as wrong. */
static void kinds_predicted(struct page *p)
{
    static const char *const heads[] = {"Kind", "Tasks", "Predicted", "Real", "Deviation", NULL};
    const struct run_figures *f = &p->f;
    size_t with = 0, shown = 0;
    for (size_t i = 0; i < f->kind.n; i++)
        with += f->kind.at[i].predicted > 0;
    if (!with)
        return;
    strbuf_add(p->out, "<div><h3>A task of each kind, on average</h3>\n");
    open_table(p, "Predicted and real seconds of a task by kind", heads, "lrrrr");
    for (size_t i = 0; i < f->kind.n && shown < KINDS; i++) {
        const struct figures_kind *k = &f->kind.at[i];
        char a[HUMAN_SIZE];
        if (!k->predicted)
            continue;
        shown++;
        page_table_row(p);
        name_cell(p, intern_text(&f->kinds, k->name));
        right_cell(p, human_count(a, k->predicted));
        right_cell(p, human_seconds(a, k->expected / k->predicted));
        right_cell(p, human_seconds(a, k->real / k->predicted));
        deviation_cell(p, k->expected, k->real);
        row_end(p);
    }
    close_table(p, with, shown, "kinds");
    strbuf_add(p->out, "</div>\n");
}

void page_predictions(struct page *p)
{
    static const char *const heads[] = {"", "Predicted", "Real", "Deviation", NULL};
    const struct run_record *r = p->r;
    bool any = isfinite(r->predicted_seconds) || isfinite(r->predicted_memory) ||
               isfinite(r->predicted_disk) || r->predicted;
    page_section(p, "predictions", "Predicted and real",
                 any ? NULL
                     : "Nothing was predicted for this run. Once a few runs are in the history, "
                       "plans and reports use what they measured.");
    if (any) {
        strbuf_add(p->out, "<div class=\"two\"><div><h3>The whole run</h3>\n");
        open_table(p, "The whole run, predicted and real", heads, "lrrr");
        whole_row(p, "Time", r->predicted_seconds, r->seconds, false);
        whole_row(p, "Memory at its peak", r->predicted_memory, r->peak_memory, true);
        whole_row(p, "Disk at its peak", r->predicted_disk, r->peak_disk, true);
        close_table(p, 0, 0, "");
        strbuf_add(p->out, "</div>\n");
        kinds_predicted(p);
        page_scatter(p);
        strbuf_add(p->out, "</div>\n");
    }
    page_section_end(p);
}

/* ---- files ---- */

void page_files(struct page *p)
{
    static const char *const heads[] = {"File", "Made by", "Size", "Content", NULL};
    const struct run_record *r = p->r;
    size_t made = 0, shown = 0;
    double bytes = 0;
    for (size_t i = 0; i < r->files.n; i++)
        if (r->files.at[i].produced) {
            made++;
            bytes += r->files.at[i].size > 0 ? r->files.at[i].size : 0;
        }
    if (!r->files.n)
        return;
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], note[160];
    snprintf(note, sizeof note, "%s made by this run (%s), %s found as they were.",
             human_count(a, made), human_bytes(b, bytes), human_count(c, r->files.n - made));
    page_section(p, "files", "Files", note);
    if (made) {
        open_table(p, "Files made by this run", heads, "llrl");
        for (size_t i = 0; i < r->files.n && shown < FILES; i++) {
            const struct record_file *file = &r->files.at[i];
            char digest[DIGEST_TEXT];
            if (!file->produced)
                continue;
            shown++;
            page_table_row(p);
            strbuf_add(p->out, "<td class=\"name\"><code>");
            page_name(p, file->path ? file->path : "");
            strbuf_add(p->out, "</code></td>");
            if (file->task < p->f.ntasks)
                task_cell(p, file->task);
            else
                page_table_cell(p, "");
            right_cell(p, human_bytes(a, file->size));
            digest_text(&file->digest, digest);
            /* enough to tell two contents apart by eye */
            digest[12] = 0;
            svg_printf(p->out, "<td><code>%s</code></td>",
                       digest_is_zero(&file->digest) ? "" : digest);
            row_end(p);
        }
        close_table(p, made, shown, "files");
    }
    page_section_end(p);
}
