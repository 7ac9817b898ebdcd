/* The three tables of the public heft and peft programs:
 *
 *     X_task_connectivity.csv    T,T0,T1,...    data from the row's task to the column's; 0: no edge
 *     X_task_exe_time.csv        TP,P_0,P_1     seconds of the row's task on the column's node
 *     X_resource_BW.csv          P,P_0,P_1      bandwidth between two nodes; 0 on the diagonal
 *
 * The workflow is read from the first, together with the second when it stands beside it; the
 * platform from the third, or through the name of one of the others. The files spell the same task
 * T0 and T_0: underscores do not count when names are compared. */
#include "base/array.h"
#include "base/file.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/scan.h"

#include <stdlib.h>
#include <string.h>

static const char connectivity[] = "_task_connectivity.csv", times[] = "_task_exe_time.csv",
                  bandwidths[] = "_resource_BW.csv";

struct cell {
    const char *at;
    size_t length;
};

/* A table: a corner, a header row of column names, then rows of a name and numbers. Cells point
 * into the text. */
struct heft_table {
    const char *file;
    ARRAY(struct cell) columns;
    ARRAY(struct cell) names; /* of rows */
    ARRAY(uint32_t) lines;    /* of rows */
    ARRAY(double) values;     /* row by row */
};

static void table_free(struct heft_table *t)
{
    array_free(&t->columns);
    array_free(&t->names);
    array_free(&t->lines);
    array_free(&t->values);
}

/* Blanks and quotes around a cell do not count; commas inside quotes do not occur. */
static struct cell heft_trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t' || *from == '"'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r' || to[-1] == '"'))
        to--;
    return (struct cell){from, (size_t)(to - from)};
}

/* The next cell of the scanner's line; false at its end. */
static bool next_cell(struct scan *s, bool *more, struct cell *out)
{
    if (!*more)
        return false;
    const char *p = s->at;
    while (p < s->next_line && *p != ',' && *p != '\n')
        p++;
    *out = heft_trimmed(s->at, p);
    *more = p < s->next_line && *p == ',';
    s->at = *more ? p + 1 : p;
    return true;
}

/* Every row has as many numbers as the header has names, and none is negative. */
static bool read_table(struct heft_table *t, const struct format_source *source, struct error *err)
{
    struct scan s;
    scan_start(&s, source, "#");
    t->file = source->path;
    struct cell cell;
    bool more = true;
    if (!scan_line(&s))
        return scan_error(&s, err, "the file is empty; expected a header row of names");
    next_cell(&s, &more, &cell);
    while (next_cell(&s, &more, &cell)) {
        if (!cell.length)
            return scan_error(&s, err, "column %zu has no name", t->columns.n + 1);
        array_push(&t->columns, cell);
    }
    if (!t->columns.n)
        return scan_error(&s, err, "the header row names no column; expected 'T,T0,T1,...'");
    while (scan_line(&s)) {
        more = true;
        next_cell(&s, &more, &cell);
        array_push(&t->names, cell);
        array_push(&t->lines, (uint32_t)s.line);
        size_t count = 0;
        while (next_cell(&s, &more, &cell)) {
            double value;
            if (count == t->columns.n)
                return scan_error(&s, err, "more cells than the header row has columns (%zu)",
                                  t->columns.n);
            if (!scan_parse_number(cell.at, cell.length, &value))
                return scan_error(&s, err, "'%.*s' under '%.*s' is not a finite number",
                                  cell.length < 40 ? (int)cell.length : 40, cell.at,
                                  (int)t->columns.at[count].length, t->columns.at[count].at);
            if (value < 0)
                return scan_error(&s, err, "%g under '%.*s' is negative", value,
                                  (int)t->columns.at[count].length, t->columns.at[count].at);
            array_push(&t->values, value);
            count++;
        }
        if (count != t->columns.n)
            return scan_error(&s, err, "%zu numbers; the header row has %zu column%s", count,
                              t->columns.n, plural(t->columns.n));
    }
    return true;
}

/* Equal but for underscores. */
static bool heft_same_name(struct cell a, struct cell b)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.length && a.at[i] == '_')
            i++;
        while (k < b.length && b.at[k] == '_')
            k++;
        if (i == a.length || k == b.length)
            return i == a.length && k == b.length;
        if (a.at[i++] != b.at[k++])
            return false;
    }
}

/* Rows and columns name the same things in the same order? */
static bool require_square(const struct heft_table *t, const char *what, struct error *err)
{
    if (t->names.n != t->columns.n)
        return error_at(err, t->file, t->names.n ? t->lines.at[t->names.n - 1] : 1,
                        "%zu row%s and %zu column%s; expected a square table of %s. Is it cut off?",
                        t->names.n, plural(t->names.n), t->columns.n, plural(t->columns.n), what);
    for (size_t i = 0; i < t->names.n; i++) {
        if (!heft_same_name(t->names.at[i], t->columns.at[i]))
            return error_at(err, t->file, t->lines.at[i],
                            "row '%.*s' stands where column '%.*s' does; expected the same order",
                            (int)t->names.at[i].length, t->names.at[i].at,
                            (int)t->columns.at[i].length, t->columns.at[i].at);
    }
    return true;
}

/* The path of another table of the same set; NULL when `path` is not named like one. The caller
 * frees. */
static char *heft_sibling_path(const char *path, const char *suffix)
{
    static const char *const all[] = {connectivity, times, bandwidths};
    for (size_t i = 0; path && i < 3; i++) {
        if (scan_has_suffix(path, all[i])) {
            struct strbuf b = {0};
            strbuf_add_bytes(&b, path, strlen(path) - strlen(all[i]));
            strbuf_add(&b, suffix);
            return strbuf_steal(&b);
        }
    }
    return NULL;
}

/* The names of the published tables are certain, their corner cells a hint. */
static int heft_sniff(const char *path, const char *text, size_t length)
{
    if (scan_has_suffix(path, connectivity) || scan_has_suffix(path, times) ||
        scan_has_suffix(path, bandwidths))
        return 3;
    static const char *const corners[] = {"T,", "TP,", "P,"};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(corners[i]);
        if (length > n && memcmp(text, corners[i], n) == 0)
            return scan_has_suffix(path, ".csv") ? 2 : 1;
    }
    return 0;
}

/* ---- workflow ---- */

/* Rows must be in the graph's order: the files have no other link than the place. */
static bool add_times(struct builder *b, const struct heft_table *graph, const struct heft_table *t,
                      struct error *err)
{
    size_t nodes = t->columns.n, n = graph->names.n;
    if (t->names.n != n)
        return error_at(err, t->file, t->names.n ? t->lines.at[t->names.n - 1] : 1,
                        "times of %zu task%s; %s has %zu task%s", t->names.n, plural(t->names.n),
                        file_basename(graph->file), n, plural(n));
    for (size_t i = 0; i < n; i++) {
        if (!heft_same_name(t->names.at[i], graph->names.at[i]))
            return error_at(
                err, t->file, t->lines.at[i],
                "times of '%.*s' stand where task '%.*s' does in %s; expected the same order",
                (int)t->names.at[i].length, t->names.at[i].at, (int)graph->names.at[i].length,
                graph->names.at[i].at, file_basename(graph->file));
        for (size_t k = 0; k < nodes; k++)
            builder_time(b, (uint32_t)i, t->columns.at[k].at, t->columns.at[k].length,
                         t->values.at[i * nodes + k], t->lines.at[i]);
    }
    return true;
}

/* Without the table of times the graph is still a graph; a remark says so. */
static bool add_sibling_times(struct builder *b, const struct heft_table *graph, struct error *err)
{
    char *path = heft_sibling_path(graph->file, times);
    struct text text = {0};
    bool good = true;
    if (path && file_exists(path)) {
        struct heft_table t = {0};
        good = file_read(path, &text, err);
        struct format_source source = {.path = path, .text = text.at, .length = text.n};
        good = good && format_require_utf8(&source, err) && read_table(&t, &source, err) &&
               add_times(b, graph, &t, err);
        table_free(&t);
    } else {
        builder_warn(b, 0, "no table of times (%s) beside the graph: every task has work 0",
                     path ? file_basename(path) : "X_task_exe_time.csv");
        for (size_t i = 0; i < graph->names.n; i++)
            builder_work(b, (uint32_t)i, 0, graph->lines.at[i]);
    }
    text_free(&text);
    free(path);
    return good;
}

/* A square table: n^2 cells for n tasks, as published. */
static bool heft_add_graph(struct builder *b, const struct heft_table *t)
{
    size_t n = t->names.n;
    for (size_t i = 0; i < n; i++) {
        if (builder_task(b, t->names.at[i].at, t->names.at[i].length, t->lines.at[i]) == NONE)
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            if (t->values.at[i * n + k] > 0)
                builder_data_edge(b, (uint32_t)i, (uint32_t)k, t->values.at[i * n + k],
                                  t->lines.at[i]);
        }
    }
    return !builder_failed(b);
}

/* The other two tables are known by their names and refused with the name of the right one. */
static struct workflow *heft_read_workflow(const struct format_source *source, struct error *err)
{
    if (scan_has_suffix(source->path, times) || scan_has_suffix(source->path, bandwidths)) {
        char *graph = heft_sibling_path(source->path, connectivity);
        error_at(err, source->path, 0, "this table holds no graph; read %s", graph);
        free(graph);
        return NULL;
    }
    struct builder *b = builder_new(source->path, "heft-csv");
    struct heft_table t = {0};
    bool good = format_require_utf8(source, err) && read_table(&t, source, err) &&
                require_square(&t, "tasks", err) && heft_add_graph(b, &t) &&
                add_sibling_times(b, &t, err);
    table_free(&t);
    return scan_finish(b, good, err);
}

/* ---- platform ---- */

/* A table is directed, a link is not: both halves must agree. */
static bool heft_add_links(struct platform_builder *b, const struct heft_table *t,
                           struct error *err)
{
    size_t n = t->names.n;
    const double *value = t->values.at;
    /* The first pair's bandwidth is the network's; only pairs that differ are listed. */
    double common = n > 1 ? value[1] : NAN;
    if (common == 0)
        common = NAN;
    platform_builder_network(b, common, NAN, NAN, 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            double there = value[i * n + k], back = value[k * n + i];
            if (there != back)
                return error_at(
                    err, t->file, t->lines.at[i],
                    "bandwidth %g from '%.*s' to '%.*s', but %g back; a link is the same both "
                    "ways here",
                    there, (int)t->columns.at[i].length, t->columns.at[i].at,
                    (int)t->columns.at[k].length, t->columns.at[k].at, back);
            if (there != common)
                platform_builder_link(b, (uint32_t)i, (uint32_t)k, there, NAN, t->lines.at[i]);
        }
    }
    return true;
}

/* Nodes are called what the table of times calls them, or nothing would fit together. */
static bool check_names(const struct heft_table *t, struct error *err)
{
    char *path = heft_sibling_path(t->file, times);
    bool good = true;
    if (path && file_exists(path)) {
        struct text text = {0};
        struct heft_table own = {0};
        good = file_read(path, &text, err);
        struct format_source source = {.path = path, .text = text.at, .length = text.n};
        good = good && read_table(&own, &source, err);
        if (good && own.columns.n != t->columns.n)
            good = error_at(err, t->file, 1, "%zu node%s; %s has times on %zu", t->columns.n,
                            plural(t->columns.n), file_basename(path), own.columns.n);
        const struct cell *theirs = own.columns.at, *ours = t->columns.at;
        for (size_t i = 0; good && theirs && ours && i < own.columns.n; i++) {
            struct cell a = theirs[i], c = ours[i];
            if (a.length != c.length || memcmp(a.at, c.at, a.length) != 0)
                good = error_at(err, t->file, 1, "node '%.*s' is called '%.*s' in %s",
                                (int)c.length, c.at, (int)a.length, a.at, file_basename(path));
        }
        table_free(&own);
        text_free(&text);
    }
    free(path);
    return good;
}

/* From the table of bandwidths; nodes have speed 1, since the times are stated a node. */
static struct platform *build_platform(const struct format_source *source, struct error *err)
{
    struct heft_table t = {0};
    struct platform_builder *b = NULL;
    bool good = format_require_utf8(source, err) && read_table(&t, source, err) &&
                require_square(&t, "nodes", err) && check_names(&t, err);
    if (good) {
        b = platform_builder_new(source->path);
        for (size_t i = 0; i < t.columns.n; i++)
            platform_builder_node(b, t.columns.at[i].at, t.columns.at[i].length, 1);
        if (!platform_builder_failed(b))
            good = heft_add_links(b, &t, err);
    }
    table_free(&t);
    if (!good) {
        platform_builder_free(b);
        return NULL;
    }
    return platform_builder_finish(b, err);
}

/* From any of the three names the platform is found in the third. */
static struct platform *heft_read_platform(const struct format_source *source, struct error *err)
{
    if (!scan_has_suffix(source->path, connectivity) && !scan_has_suffix(source->path, times))
        return build_platform(source, err);
    char *path = heft_sibling_path(source->path, bandwidths);
    struct text text = {0};
    struct platform *p = NULL;
    if (file_read(path, &text, err)) {
        struct format_source other = {.path = path, .text = text.at, .length = text.n};
        p = build_platform(&other, err);
    }
    text_free(&text);
    free(path);
    return p;
}

/* The corner tells the tables apart: P of bandwidths, which is a platform and nothing else. The others
 * have one beside them, perhaps. */
static unsigned heft_holds(const char *text, size_t length)
{
    size_t at = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n\"", text[at]))
        at++;
    size_t n = at;
    while (n < length && !strchr(" \t\r\n\",", text[n]))
        n++;
    return n - at == 1 && (text[at] == 'P' || text[at] == 'p')
               ? HOLDS_PLATFORM
               : HOLDS_WORKFLOW | HOLDS_PLATFORM | HOLDS_UNSURE;
}

const struct format format_heft_csv = {
    .name = "heft-csv",
    .summary = "tables of the heft and peft programs: connectivity, times, bandwidths",
    .suffixes = NULL,
    .sniff = heft_sniff,
    .read_workflow = heft_read_workflow,
    .read_platform = heft_read_platform,
    .holds = heft_holds,
};
