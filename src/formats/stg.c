/* STG, the Standard Task Graph Set (Kasahara):
 *
 *     100                      tasks, not counting the two dummies
 *     0    0    0              id, time, number of predecessors, predecessors
 *     1    8    1    0
 *     ...                      100 + 2 rows: the first and the last are dummies of time 0, and tasks
 *                              like any other here
 *     # ... CP Length : 94     remarks of the generator
 *
 * A variant with communication gives each predecessor with a cost, as a pair. Hand-made files count
 * every row in the header. Which it is follows from the number of rows, unless a remark "(+dummy
 * tasks : 2)" says it. Task names are the ids. */
#include "base/array.h"
#include "base/plural.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "model/graph.h"

#include <string.h>

/* Read twice: the row at first sight, its predecessors when all tasks are there. */
struct stg_row {
    int64_t id;
    const char *predecessors; /* where they stand in the text */
    uint32_t task, count, line;
};

struct stg {
    struct scan scan;
    struct builder *builder;
    struct error *err;
    int64_t header, dummies; /* dummies: -1 not stated */
    ARRAY(struct stg_row) rows;
    bool costs; /* predecessors come with a cost each */
    bool decided;
    uint32_t deciding_line;
};

/* A number alone on the first line, then rows whose count of predecessors fits: three of them
 * decide. */
static int stg_sniff(const char *path, const char *text, size_t length)
{
    char *copy = (char *)text; /* the scanner changes nothing */
    struct format_source source = {
        .path = path, .text = copy, .length = length < 4096 ? length : 4096};
    struct scan s;
    scan_start(&s, &source, "#");
    bool named = scan_has_suffix(path, ".stg");
    int64_t n, count;
    double time;
    if (!scan_line(&s) || scan_words_left(&s) != 1 || !scan_integer(&s, "", 0, INT64_MAX, &n, NULL))
        return named;
    int rows = 0;
    while (rows < 3 && scan_line(&s) && s.next_line < s.end) {
        if (!scan_integer(&s, "", 0, INT64_MAX, &n, NULL) || !scan_number(&s, "", &time, NULL) ||
            !scan_integer(&s, "", 0, INT64_MAX, &count, NULL))
            return named;
        size_t left = scan_words_left(&s);
        if (left != (uint64_t)count && left != 2 * (uint64_t)count)
            return named;
        rows++;
    }
    return named ? 3 : rows ? 2 : 0;
}

/* "#   Tasks             : 100 (+dummy tasks : 2)" */
static void stg_read_remark(struct stg *g)
{
    static const char key[] = "(+dummy tasks :";
    struct scan *s = &g->scan;
    const char *at = memmem(s->at, (size_t)(s->next_line - s->at), key, sizeof key - 1);
    if (!at)
        return;
    at += sizeof key - 1;
    while (at < s->next_line && *at == ' ')
        at++;
    int64_t value = 0;
    const char *end = at;
    while (end < s->next_line && *end >= '0' && *end <= '9')
        end++;
    if (scan_parse_integer(at, (size_t)(end - at), &value))
        g->dummies = value;
}

/* Whether predecessors have costs is decided by the first row that has any, and then holds for
 * all. */
static bool stg_read_row(struct stg *g)
{
    struct scan *s = &g->scan;
    struct stg_row row = {.line = (uint32_t)s->line};
    double time;
    int64_t count;
    if (!scan_integer(s, "task id", 0, INT64_MAX, &row.id, g->err) ||
        !scan_number(s, "time", &time, g->err) ||
        !scan_integer(s, "number of predecessors", 0, (int64_t)UINT32_MAX - 1, &count, g->err))
        return false;
    row.count = (uint32_t)count;
    row.predecessors = s->at;
    size_t left = scan_words_left(s);
    if (left != row.count && left != 2 * (size_t)row.count)
        return scan_error(
            s, g->err,
            "%zu numbers follow the count of %u predecessors; expected %u, or %llu when "
            "each has a communication cost",
            left, row.count, row.count, 2ull * row.count);
    if (row.count) {
        bool costs = left != row.count;
        if (g->decided && costs != g->costs)
            return scan_error(s, g->err,
                              "this row has %scommunication costs, but line %u has %s; expected "
                              "all rows alike",
                              costs ? "" : "no ", g->deciding_line, costs ? "none" : "some");
        if (!g->decided)
            g->deciding_line = row.line;
        g->costs = costs;
        g->decided = true;
    }
    char name[24];
    size_t length = scan_print_number(name, row.id);
    row.task = builder_task(g->builder, name, length, s->line);
    builder_work(g->builder, row.task, time, s->line);
    array_push(&g->rows, row);
    return !builder_failed(g->builder);
}

/* A cut-off file must not pass for a smaller graph, so the header is taken at its word where the
 * closing remark says how it counts. */
static bool check_count(struct stg *g)
{
    int64_t rows = (int64_t)g->rows.n;
    if (g->dummies >= 0 && g->dummies <= 1000) {
        if (rows - g->header != g->dummies)
            return scan_error(
                &g->scan, g->err,
                "%lld row%s; expected %lld: %lld by the first line and %lld dummies by the "
                "closing remark. Is the file cut off?",
                (long long)rows, plural((long long)rows), (long long)g->header + g->dummies,
                (long long)g->header, (long long)g->dummies);
        return true;
    }
    if (rows == g->header) {
        builder_warn(
            g->builder, 1,
            "the first line counts all %lld row%s, dummies included (or the last two rows are "
            "missing)",
            (long long)rows, plural((long long)rows));
    } else if (rows - g->header != 2) {
        return scan_error(
            &g->scan, g->err,
            "the file ends after %lld row%s; expected %lld (the first line says %lld task%s, "
            "and there are two dummies)",
            (long long)rows, plural((long long)rows), (long long)g->header + 2,
            (long long)g->header, plural((long long)g->header));
    }
    return true;
}

/* Nearly every file numbers its rows 0, 1, 2 ...: then the id is the row. */
static uint32_t stg_find_task(const struct stg *g, int64_t id)
{
    if (id < (int64_t)g->rows.n && g->rows.at[id].id == id)
        return g->rows.at[id].task;
    char name[24];
    size_t length = scan_print_number(name, id);
    return builder_find_task(g->builder, name, length);
}

/* The scanner is put back on each row's predecessors: the text is read twice, and nothing is kept
 * of it. */
static bool stg_read_edges(struct stg *g)
{
    struct scan *s = &g->scan;
    for (size_t i = 0; i < g->rows.n; i++) {
        const struct stg_row *row = &g->rows.at[i];
        s->at = row->predecessors;
        s->line = row->line;
        const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
        s->next_line = newline ? newline : s->end;
        for (uint32_t k = 0; k < row->count; k++) {
            int64_t id;
            double cost = 0;
            if (!scan_integer(s, "predecessor", 0, INT64_MAX, &id, g->err) ||
                (g->costs && !scan_number(s, "communication cost", &cost, g->err)))
                return false;
            uint32_t from = stg_find_task(g, id);
            if (from == NONE)
                return scan_error(s, g->err, "task %lld: predecessor %lld is not in the file",
                                  (long long)row->id, (long long)id);
            builder_data_edge(g->builder, from, row->task, cost, s->line);
        }
        if (builder_failed(g->builder))
            return true;
    }
    return true;
}

static bool stg_read_all(struct stg *g, const struct format_source *source)
{
    struct scan *s = &g->scan;
    scan_start(s, source, "#");
    if (!scan_line(s))
        return scan_error(s, g->err, "the file is empty; expected the number of tasks");
    /* A row is at least "0 0 0": what a header claims beyond that is not there, and nothing is
     * allocated by it. */
    if (!scan_integer(s, "number of tasks", 0, INT64_MAX, &g->header, g->err) ||
        !scan_require_done(s, g->err))
        return false;
    if (g->header > (int64_t)(source->length / 5) + 1)
        return scan_error(s, g->err,
                          "the header says %lld task%s, but a file of %zu bytes holds at most %zu",
                          (long long)g->header, plural((long long)g->header), source->length,
                          source->length / 5 + 1);
    /* a predecessor takes a few bytes of the file: a rough guess for the edges */
    builder_expect(g->builder, (size_t)g->header + 2, source->length / 12);
    while (scan_any_line(s)) {
        if (scan_line_done(s))
            continue;
        if (*s->at == '#')
            stg_read_remark(g);
        else if (!stg_read_row(g))
            return false;
    }
    return check_count(g) && stg_read_edges(g);
}

static struct workflow *stg_read_workflow(const struct format_source *source, struct error *err)
{
    struct stg g = {.err = err, .dummies = -1, .builder = builder_new(source->path, "stg")};
    bool good = stg_read_all(&g, source);
    array_free(&g.rows);
    return scan_finish(g.builder, good, err);
}

/* ---- writing ---- */

/* Ids for the rows. Names that are plain numbers stay; then rows keep the tasks' order too.
 * Otherwise tasks are numbered by a topological order, so that programs which expect predecessors
 * first can read it. Returns whether names stay. */
static bool stg_number_tasks(const struct workflow *w, uint32_t *order, int64_t *id)
{
    bool plain = true;
    for (uint32_t t = 0; t < w->ntasks && plain; t++)
        plain = scan_plain_number(workflow_task_name(w, t), &id[t]);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        order[i] = plain ? i : w->topo[i];
        if (!plain)
            id[order[i]] = i;
    }
    return plain;
}

/* Objects between two tasks are one cost, their sum. */
static bool stg_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                               struct error *err)
{
    (void)err;
    uint32_t n = w->ntasks;
    uint32_t *order = mem_new(uint32_t, n);
    int64_t *id = mem_new(int64_t, n);
    bool plain = stg_number_tasks(w, order, id);
    bool costs = false;
    for (uint32_t e = 0; e < w->nedges && !costs; e++)
        costs = w->succ_object[e] != NONE && w->size[w->succ_object[e]] > 0;
    uint32_t first = n ? order[0] : 0, last = n ? order[n - 1] : 0;
    /* Two dummies only when they are what the format means: one source and one sink of time 0. */
    int dummies = n > 2 && w->work[first] == 0 && w->work[last] == 0 &&
                          w->pred_off[first] == w->pred_off[first + 1] &&
                          w->succ_off[last] == w->succ_off[last + 1]
                      ? 2
                      : 0;
    strbuf_printf(out, "%u\n", n - (uint32_t)dummies);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = order[i], count = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            count += e == w->pred_off[t] || w->pred_task[e] != w->pred_task[e - 1];
        strbuf_printf(out, "%lld ", (long long)id[t]);
        strbuf_add_number(out, w->work[t]);
        strbuf_printf(out, " %u", count);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1];) {
            uint32_t from = w->pred_task[e];
            double bytes = 0;
            for (; e < w->pred_off[t + 1] && w->pred_task[e] == from; e++)
                bytes += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
            strbuf_printf(out, " %lld", (long long)id[from]);
            if (costs) {
                strbuf_add_char(out, ' ');
                strbuf_add_number(out, bytes);
            }
        }
        strbuf_add_char(out, '\n');
    }
    strbuf_printf(out, "# Tasks             : %u (+dummy tasks : %d)\n", n - (uint32_t)dummies,
                  dummies);
    strbuf_add(out, "# CP Length           : ");
    strbuf_add_number(out, n ? graph_critical_path(w, NULL, NULL, NULL) : 0);
    strbuf_add_char(out, '\n');
    free(order);
    free(id);
    dropped_report(w, format_stg.carries & ~(plain ? 0 : CARRIES_NAMES), dropped);
    return true;
}

const struct format format_stg = {
    .name = "stg",
    .summary = "Standard Task Graph Set, with or without communication costs",
    .suffixes = ".stg",
    .sniff = stg_sniff,
    .read_workflow = stg_read_workflow,
    .write_workflow = stg_write_workflow,
    .carries = CARRIES_NAMES | CARRIES(work) | CARRIES_SIZES,
};
