/* TGFF, Task Graphs For Free:
 *
 *     @HYPERPERIOD 300
 *     @TASK_GRAPH 0 {
 *         PERIOD 300
 *         TASK t0_0 TYPE 1
 *         ARC a0_0 FROM t0_0 TO t0_1 TYPE 0
 *         HARD_DEADLINE d0_0 ON t0_1 AT 300
 *     }
 *     @CORE 0 {
 *     # price area
 *       79.05 0.219                      the table's own attributes
 *     # type version valid task_time     column names stand in remarks only
 *       0    0       1     10
 *     }
 *
 * Block labels are the user's choice, so a block is what it contains: statements make a graph, numbers a table. A table with a column
 * of times (exec_time, execution_time, task_time, cycles ...) belongs to a processor, which is a node named by label and number
 * ("CORE0"): a task of a listed type takes that time there and, where a `valid` column says 0, cannot run. A table of communication
 * (@COMMUN, @COMMUN_QUANT, @ARCDATASIZETABLE, @WIRING ...) gives an arc's size by its type: the first column after type and version, from
 * the first such table that has the type. All graphs of a file are one workflow; a task name used in two graphs gets the
 * graph's label in front. A time column is in seconds and a size in bytes as far as weft is concerned: the platform's bandwidth
 * is 1, so a communication time read as a size takes that time. */
#include "base/array.h"
#include "base/pool.h"
#include "formats/format.h"
#include "formats/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_COLUMNS = 64, MOST_TIMES = 100000000 };

struct word {
    const char *at;
    size_t length;
};

struct statement {
    struct word name, from, to; /* arcs: from and to; deadlines: on in `to` */
    int64_t type;               /* -1: none stated */
    double value;               /* of a deadline */
    uint32_t line;
    bool soft;
};

struct type_row {
    int64_t type;
    double value;
    uint32_t order; /* in the file: of several rows of a type, the first valid one counts */
    bool valid;
};

struct block {
    struct word label;
    int64_t number;
    uint32_t line;
    bool is_graph;
    double period;
    ARRAY(struct statement) tasks;
    ARRAY(struct statement) arcs;
    ARRAY(struct statement) deadlines;
    /* table: which columns the remark before the rows names; -1 none */
    int type_column, valid_column, time_column, size_column;
    ARRAY(struct type_row) rows; /* sorted by type once read */
};

struct tgff {
    struct scan scan;
    struct error *err;
    ARRAY(struct block) blocks;
};

static bool is(struct word w, const char *text)
{
    return strlen(text) == w.length && strncasecmp(w.at, text, w.length) == 0;
}

static bool starts(struct word w, const char *text)
{
    return strlen(text) <= w.length && strncasecmp(w.at, text, strlen(text)) == 0;
}

/* For "%.*s" in messages. */
static int shown(struct word w)
{
    return w.length < 60 ? (int)w.length : 60;
}

static bool next_word(struct scan *s, struct word *w)
{
    return scan_word(s, &w->at, &w->length);
}

static int sniff(const char *path, const char *text, size_t length)
{
    struct format_source source = {
        .path = path, .text = (char *)text, .length = length < 4096 ? length : 4096};
    struct scan s;
    scan_start(&s, &source, "#");
    bool named = scan_has_suffix(path, ".tgff");
    if (!scan_line(&s) || *s.at != '@')
        return named;
    if (named || memmem(text, source.length, "@HYPERPERIOD", 12) ||
        memmem(text, source.length, "@TASK_GRAPH", 11))
        return 3;
    return 2;
}

/* ---- reading the blocks ---- */

/* TASK name KEY value ...: the keys in any order; ones that we do not know (HOST, PREEMPT ...) are passed over with their value. */
static bool read_statement(struct tgff *g, struct statement *out)
{
    struct scan *s = &g->scan;
    *out = (struct statement){.type = -1, .value = NAN, .line = (uint32_t)s->line};
    if (!next_word(s, &out->name))
        return scan_error(s, g->err, "the line ends before the name");
    struct word key;
    while (next_word(s, &key)) {
        if (is(key, "TYPE")) {
            if (!scan_integer(s, "type", 0, INT64_MAX, &out->type, g->err))
                return false;
        } else if (is(key, "AT")) {
            if (!scan_number(s, "deadline", &out->value, g->err))
                return false;
        } else {
            struct word value;
            if (!next_word(s, &value))
                return scan_error(s, g->err, "'%.*s' has no value", shown(key), key.at);
            if (is(key, "FROM"))
                out->from = value;
            else if (is(key, "TO") || is(key, "ON"))
                out->to = value;
        }
    }
    return true;
}

static bool read_graph_line(struct tgff *g, struct block *b, struct word first)
{
    struct scan *s = &g->scan;
    struct statement st;
    b->is_graph = true;
    if (is(first, "PERIOD"))
        return scan_number(s, "period", &b->period, g->err);
    if (!is(first, "TASK") && !is(first, "ARC") && !is(first, "HARD_DEADLINE") &&
        !is(first, "SOFT_DEADLINE"))
        return scan_error(s, g->err,
                          "'%.*s' is unknown; expected TASK, ARC, HARD_DEADLINE, SOFT_DEADLINE, PERIOD or a "
                          "row of numbers",
                          shown(first), first.at);
    if (!read_statement(g, &st))
        return false;
    if (is(first, "TASK")) {
        array_push(&b->tasks, st);
    } else if (is(first, "ARC")) {
        if (!st.from.length || !st.to.length)
            return scan_error(s, g->err, "arc '%.*s' needs FROM and TO", shown(st.name), st.name.at);
        array_push(&b->arcs, st);
    } else {
        st.soft = is(first, "SOFT_DEADLINE");
        if (!st.to.length || isnan(st.value))
            return scan_error(s, g->err, "deadline '%.*s' needs ON and AT", shown(st.name), st.name.at);
        array_push(&b->deadlines, st);
    }
    return true;
}

/* "# type version valid task_time": the columns of the rows that follow. Rules and prose are remarks too; only one that begins with
 * "type" names the columns that we read. */
static void read_remark(struct scan *s, struct block *b)
{
    s->at++; /* the # */
    struct word w;
    int column = 0;
    int type = -1, valid = -1, time = -1, size = -1;
    while (column < MOST_COLUMNS && next_word(s, &w)) {
        if (column == 0 && !is(w, "type"))
            break;
        if (is(w, "type"))
            type = column;
        else if (is(w, "valid"))
            valid = column;
        else if (!is(w, "version")) {
            bool timed = is(w, "exec_time") || is(w, "execution_time") || is(w, "task_time") ||
                         is(w, "cycles") || is(w, "time") || is(w, "wcet");
            if (time < 0 && timed)
                time = column;
            if (size < 0)
                size = column;
        }
        column++;
    }
    if (column > 0) {
        b->type_column = type;
        b->valid_column = valid;
        b->time_column = time;
        b->size_column = size;
    } else {
        /* Another kind of row follows (price, area): until a remark names types again, rows are attributes. A rule such as
         * "#-----" names nothing and changes nothing. */
        bool prose = false;
        for (; s->at < s->next_line; s->at++)
            prose |= isalpha((unsigned char)*s->at) != 0;
        if (prose)
            b->type_column = -1;
    }
}

static bool is_communication(struct word label)
{
    return starts(label, "COMM") || starts(label, "ARC") || starts(label, "WIR") ||
           starts(label, "BUS") || starts(label, "LINK") || starts(label, "EDGE");
}

static bool read_table_row(struct tgff *g, struct block *b)
{
    struct scan *s = &g->scan;
    struct type_row row = {
        .type = -1, .value = NAN, .order = (uint32_t)s->line, .valid = true};
    bool communication = is_communication(b->label);
    int wanted = communication ? b->size_column : b->time_column;
    double value;
    for (int column = 0; !scan_line_done(s); column++) {
        if (column == b->type_column) {
            if (!scan_integer(s, "type", 0, INT64_MAX, &row.type, g->err))
                return false;
            continue;
        }
        if (!scan_number(s, "value", &value, g->err))
            return false;
        if (column == b->valid_column)
            row.valid = value != 0;
        else if (column == wanted)
            row.value = value;
    }
    if (b->type_column < 0 || wanted < 0)
        return true;
    if (isnan(row.value))
        return scan_error(s, g->err, "the row ends before the column that its remark names (column %d)",
                          wanted + 1);
    if (row.value < 0)
        return scan_error(s, g->err, "%g is negative", row.value);
    array_push(&b->rows, row);
    return true;
}

/* "@LABEL 3 {" or "@HYPERPERIOD 300" */
static bool read_block_head(struct tgff *g, struct block *b, bool *has_body)
{
    struct scan *s = &g->scan;
    struct word w;
    *b = (struct block){.type_column = -1,
                        .valid_column = -1,
                        .time_column = -1,
                        .size_column = -1,
                        .period = NAN,
                        .line = (uint32_t)s->line};
    next_word(s, &b->label);
    b->label.at++;
    b->label.length--;
    if (!b->label.length)
        return scan_error(s, g->err, "'@' without a label");
    *has_body = false;
    while (next_word(s, &w)) {
        if (*has_body)
            return scan_error(s, g->err, "'%.*s' after '{'; expected a new line", shown(w), w.at);
        double period;
        if (w.length == 1 && *w.at == '{')
            *has_body = true;
        else if (!scan_parse_integer(w.at, w.length, &b->number) &&
                 !scan_parse_number(w.at, w.length, &period))
            return scan_error(s, g->err, "'%.*s' after '@%.*s'; expected a number and '{'", shown(w),
                              w.at, shown(b->label), b->label.at);
    }
    return true;
}

static int by_type(const void *a, const void *b)
{
    const struct type_row *p = a, *q = b;
    if (p->type != q->type)
        return p->type < q->type ? -1 : 1;
    if (p->valid != q->valid)
        return p->valid ? -1 : 1;
    return p->order < q->order ? -1 : p->order > q->order;
}

static void block_free(struct block *b)
{
    array_free(&b->tasks);
    array_free(&b->arcs);
    array_free(&b->deadlines);
    array_free(&b->rows);
}

/* Fill the last block, up to its closing brace. */
static bool read_block_body(struct tgff *g)
{
    struct scan *s = &g->scan;
    struct block *b = &array_last(&g->blocks);
    while (scan_any_line(s)) {
        if (scan_line_done(s))
            continue;
        if (*s->at == '#') {
            read_remark(s, b);
            continue;
        }
        char c = *s->at;
        if (c == '}') {
            s->at++;
            if (b->rows.n)
                qsort(b->rows.at, b->rows.n, sizeof *b->rows.at, by_type);
            return scan_require_done(s, g->err);
        }
        if (c == '@')
            return scan_error(s, g->err, "a new block begins before the '}' of the one on line %u", b->line);
        struct word first;
        bool good;
        if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') {
            good = read_table_row(g, b);
        } else {
            next_word(s, &first);
            good = read_graph_line(g, b, first);
        }
        if (!good)
            return false;
    }
    return scan_error(s, g->err, "the file ends before the '}' of the block on line %u; is it cut off?",
                      b->line);
}

static bool read_blocks(struct tgff *g, const struct format_source *source)
{
    struct scan *s = &g->scan;
    if (!format_require_utf8(source, g->err))
        return false;
    scan_start(s, source, "#");
    while (scan_line(s)) {
        if (*s->at != '@')
            return scan_error(s, g->err, "expected a block such as '@TASK_GRAPH 0 {'");
        struct block b;
        bool has_body = false;
        if (!read_block_head(g, &b, &has_body))
            return false;
        if (!has_body) {
            /* "@HYPERPERIOD 8", or a brace on the next line */
            struct scan ahead = *s;
            struct word w;
            if (!scan_line(&ahead) || !next_word(&ahead, &w) || !is(w, "{"))
                continue;
            *s = ahead;
        }
        array_push(&g->blocks, b);
        if (!read_block_body(g))
            return false;
    }
    return true;
}

static void tgff_free(struct tgff *g)
{
    for (size_t i = 0; i < g->blocks.n; i++)
        block_free(&g->blocks.at[i]);
    array_free(&g->blocks);
}

static bool is_processor(const struct block *b)
{
    return !b->is_graph && b->rows.n && !is_communication(b->label);
}

static void node_name(const struct block *b, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_add_bytes(out, b->label.at, b->label.length);
    strbuf_printf(out, "%lld", (long long)b->number);
}

/* The row of a type, NULL: not listed. */
static const struct type_row *find_row(const struct type_row *rows, size_t n, int64_t type)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].type < type)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && rows[lo].type == type ? &rows[lo] : NULL;
}

/* ---- the workflow ---- */

struct building {
    const struct tgff *g;
    struct builder *builder;
    size_t processors;
    ARRAY(struct type_row) sizes; /* of all tables of communication, sorted */
    size_t unlisted_tasks, unlisted_arcs; /* types that no table has */
};

static void add_task_costs(struct building *x, uint32_t task, const struct statement *st)
{
    struct strbuf name = {0};
    bool somewhere = false;
    for (size_t i = 0; i < x->g->blocks.n; i++) {
        const struct block *b = &x->g->blocks.at[i];
        const struct type_row *row = is_processor(b) ? find_row(b->rows.at, b->rows.n, st->type) : NULL;
        if (!row || !row->valid)
            continue;
        node_name(b, &name);
        builder_time(x->builder, task, name.at, name.n, row->value, st->line);
        somewhere = true;
    }
    strbuf_free(&name);
    if (!somewhere) {
        builder_work(x->builder, task, 0, st->line);
        x->unlisted_tasks++;
    }
    if (st->type >= 0) {
        char kind[32];
        int length = snprintf(kind, sizeof kind, "type%lld", (long long)st->type);
        builder_kind(x->builder, task, kind, (size_t)length);
    }
}

static double arc_size(struct building *x, int64_t type)
{
    const struct type_row *row = find_row(x->sizes.at, x->sizes.n, type);
    if (row)
        return row->value;
    x->unlisted_arcs++;
    return 0;
}

/* Names are local to a graph: `names` numbers them in the order of the TASK lines, first_task is number 0's task. */
static bool add_graph(struct building *x, const struct block *b, struct intern *names)
{
    struct builder *w = x->builder;
    uint32_t first_task = builder_task_count(w);
    for (size_t i = 0; i < b->tasks.n; i++) {
        const struct statement *st = &b->tasks.at[i];
        if (intern_number(names, st->name.at, st->name.length) != i)
            return builder_error(w, st->line, "task '%.*s' is defined twice in this graph",
                                 shown(st->name), st->name.at);
        uint32_t task;
        if (builder_find_task(w, st->name.at, st->name.length) == NONE) {
            task = builder_task(w, st->name.at, st->name.length, st->line);
        } else {
            struct strbuf full = {0};
            node_name(b, &full);
            strbuf_add_char(&full, '.');
            strbuf_add_bytes(&full, st->name.at, st->name.length);
            task = builder_task(w, full.at, full.n, st->line);
            strbuf_free(&full);
        }
        if (task == NONE)
            return false;
        add_task_costs(x, task, st);
    }
    for (size_t i = 0; i < b->arcs.n; i++) {
        const struct statement *st = &b->arcs.at[i];
        uint32_t from = intern_find(names, st->from.at, st->from.length);
        uint32_t to = intern_find(names, st->to.at, st->to.length);
        const struct word *missing = from == NONE ? &st->from : &st->to;
        if (from == NONE || to == NONE)
            return builder_error(w, st->line, "arc '%.*s' names task '%.*s', which this graph does not have",
                                 shown(st->name), st->name.at, shown(*missing), missing->at);
        builder_data_edge(w, first_task + from, first_task + to, arc_size(x, st->type), st->line);
    }
    double *deadline = mem_new(double, b->tasks.n);
    for (size_t i = 0; i < b->tasks.n; i++)
        deadline[i] = INFINITY;
    bool good = true;
    for (size_t i = 0; i < b->deadlines.n && good; i++) {
        const struct statement *st = &b->deadlines.at[i];
        uint32_t on = intern_find(names, st->to.at, st->to.length);
        if (on == NONE) {
            good = builder_error(w, st->line,
                                 "deadline '%.*s' is on task '%.*s', which this graph does not have",
                                 shown(st->name), st->name.at, shown(st->to), st->to.at);
        } else if (st->value < deadline[on]) { /* the tightest of several */
            deadline[on] = st->value;
            builder_deadline(w, first_task + on, st->value, st->line);
        }
    }
    free(deadline);
    return good;
}

static void add_remarks(const struct building *x)
{
    struct builder *w = x->builder;
    size_t soft = 0, graphs = 0;
    bool periods = false;
    double period = NAN;
    for (size_t i = 0; i < x->g->blocks.n; i++) {
        const struct block *b = &x->g->blocks.at[i];
        graphs += b->is_graph;
        for (size_t k = 0; k < b->deadlines.n; k++)
            soft += b->deadlines.at[k].soft;
        periods |= !isnan(period) && !isnan(b->period) && b->period != period;
        if (!isnan(b->period))
            period = b->period;
    }
    if (!x->processors)
        builder_warn(w, 0, "no table of costs: every task has work 0");
    else if (x->unlisted_tasks)
        builder_warn(w, 0, "no table can run the type of %zu tasks: they have work 0", x->unlisted_tasks);
    if (!x->sizes.n && x->unlisted_arcs)
        builder_warn(w, 0, "no table of communication: arcs carry no data");
    else if (x->unlisted_arcs)
        builder_warn(w, 0, "no table lists the type of %zu arcs: they carry no data", x->unlisted_arcs);
    if (periods)
        builder_warn(w, 0, "the %zu graphs have different periods; each counts once", graphs);
    if (soft)
        builder_warn(w, 0, "%zu soft deadlines are kept as deadlines", soft);
}

static bool build(struct building *x)
{
    const struct tgff *g = x->g;
    size_t graphs = 0, tasks = 0;
    for (size_t i = 0; i < g->blocks.n; i++) {
        const struct block *b = &g->blocks.at[i];
        graphs += b->is_graph;
        tasks += b->tasks.n;
        x->processors += is_processor(b);
        for (size_t k = 0; k < b->rows.n && !b->is_graph && is_communication(b->label); k++)
            array_push(&x->sizes, b->rows.at[k]);
    }
    if (x->sizes.n)
        qsort(x->sizes.at, x->sizes.n, sizeof *x->sizes.at, by_type);
    if (!graphs)
        return scan_error(&g->scan, g->err,
                          "the file has no task graph; expected a block with TASK lines");
    if (tasks * x->processors > MOST_TIMES)
        return scan_error(&g->scan, g->err, "%zu tasks on %zu processors: more than %d times", tasks,
                          x->processors, MOST_TIMES);
    for (size_t i = 0; i < x->g->blocks.n; i++) {
        if (!x->g->blocks.at[i].is_graph)
            continue;
        struct intern names;
        intern_init(&names);
        bool good = add_graph(x, &x->g->blocks.at[i], &names);
        intern_free(&names);
        if (!good)
            return false;
    }
    add_remarks(x);
    return true;
}

static struct workflow *read_workflow(const struct format_source *source, struct error *err)
{
    struct tgff g = {.err = err};
    struct building x = {.g = &g, .builder = builder_new(source->path, "tgff")};
    bool good = read_blocks(&g, source) && build(&x);
    array_free(&x.sizes);
    tgff_free(&g);
    return scan_finish(x.builder, good, err);
}

/* ---- the platform ---- */

static struct platform *read_platform(const struct format_source *source, struct error *err)
{
    struct tgff g = {.err = err};
    if (!read_blocks(&g, source)) {
        tgff_free(&g);
        return NULL;
    }
    struct platform_builder *p = platform_builder_new(source->path);
    struct strbuf name = {0};
    size_t nodes = 0;
    platform_builder_network(p, 1, NAN, NAN, 0);
    for (size_t i = 0; i < g.blocks.n; i++) {
        const struct block *b = &g.blocks.at[i];
        if (!is_processor(b))
            continue;
        node_name(b, &name);
        platform_builder_node(p, name.at, name.n, b->line);
        nodes++;
    }
    if (!nodes)
        platform_builder_error(p, 0,
                               "no table of a processor (@CORE, @PE, @PROC ... with a column of times), so "
                               "there is no platform in this file");
    strbuf_free(&name);
    tgff_free(&g);
    return platform_builder_finish(p, err);
}

const struct format format_tgff = {
    .name = "tgff",
    .summary = "Task Graphs For Free: periodic graphs with tables of costs by type",
    .suffixes = ".tgff",
    .sniff = sniff,
    .read_workflow = read_workflow,
    .read_platform = read_platform,
};
