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
 * Block labels are the user's choice, so a block is what it contains: statements make a graph,
 * numbers a table. A table with a column of times (exec_time, execution_time, task_time, cycles
 * ...) belongs to a processor, which is a node named by label and number
 * ("CORE0"): a task of a listed type takes that time there and, where a `valid` column says 0,
 * cannot run. A table of communication
 * (@COMMUN, @COMMUN_QUANT, @ARCDATASIZETABLE, @WIRING ...) gives an arc's size by its type: the
 * first column after type and version, from the first such table that has the type. All graphs of a
 * file are one workflow; a task name used in two graphs gets the graph's label in front. A time
 * column is in seconds and a size in bytes as far as weft is concerned: the platform's bandwidth is
 * 1, so a communication time read as a size takes that time. */
#include "base/array.h"
#include "base/pool.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "formats/tgff/tgff_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tasks times processors: a table of every task on every node must fit into memory. */
enum { MOST_TIMES = 100000000 };

/* An @ first; @HYPERPERIOD and @TASK_GRAPH are what the generator writes. */
static int tgff_sniff(const char *path, const char *text, size_t length)
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

/* "CORE0": label and number. */
static void node_name(const struct tgff_block *b, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_add_bytes(out, b->label.at, b->label.length);
    strbuf_printf(out, "%lld", (long long)b->number);
}

/* ---- the workflow ---- */

/* The workflow under way, with counts for the remarks. */
struct building {
    const struct tgff_file *file;
    struct builder *builder;
    size_t processors;
    ARRAY(struct tgff_row) sizes;         /* of all tables of communication, sorted */
    size_t unlisted_tasks, unlisted_arcs; /* types that no table has */
};

/* The task's type looked up in every processor's table. A task that no table can run gets work 0
 * rather than no node at all. */
static void add_task_costs(struct building *x, uint32_t task, const struct tgff_statement *st)
{
    struct strbuf name = {0};
    bool somewhere = false;
    for (size_t i = 0; i < x->file->blocks.n; i++) {
        const struct tgff_block *b = &x->file->blocks.at[i];
        const struct tgff_row *row =
            tgff_is_processor(b) ? tgff_find_row(b->rows.at, b->rows.n, st->type) : NULL;
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

/* The size of an arc by its type, 0 and counted when no table has it. */
static double arc_size(struct building *x, int64_t type)
{
    const struct tgff_row *row = tgff_find_row(x->sizes.at, x->sizes.n, type);
    if (row)
        return row->value;
    x->unlisted_arcs++;
    return 0;
}

/* Names are local to a graph: `names` numbers them in the order of the TASK lines, first_task is
 * number 0's task. */
static bool tgff_add_graph(struct building *x, const struct tgff_block *b, struct intern *names)
{
    struct builder *w = x->builder;
    uint32_t first_task = builder_task_count(w);
    for (size_t i = 0; i < b->tasks.n; i++) {
        const struct tgff_statement *st = &b->tasks.at[i];
        if (intern_number(names, st->name.at, st->name.length) != i)
            return builder_error(w, st->line, "task '%.*s' is defined twice in this graph",
                                 tgff_shown(st->name), st->name.at);
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
        const struct tgff_statement *st = &b->arcs.at[i];
        uint32_t from = intern_find(names, st->from.at, st->from.length);
        uint32_t to = intern_find(names, st->to.at, st->to.length);
        const struct tgff_word *missing = from == NONE ? &st->from : &st->to;
        if (from == NONE || to == NONE)
            return builder_error(
                w, st->line, "arc '%.*s' names task '%.*s', which this graph does not have",
                tgff_shown(st->name), st->name.at, tgff_shown(*missing), missing->at);
        builder_data_edge(w, first_task + from, first_task + to, arc_size(x, st->type), st->line);
    }
    /* of several deadlines on a task the tightest counts */
    double *deadline = mem_new(double, b->tasks.n);
    for (size_t i = 0; i < b->tasks.n; i++)
        deadline[i] = INFINITY;
    bool good = true;
    for (size_t i = 0; i < b->deadlines.n && good; i++) {
        const struct tgff_statement *st = &b->deadlines.at[i];
        uint32_t on = intern_find(names, st->to.at, st->to.length);
        if (on == NONE) {
            good = builder_error(
                w, st->line, "deadline '%.*s' is on task '%.*s', which this graph does not have",
                tgff_shown(st->name), st->name.at, tgff_shown(st->to), st->to.at);
        } else if (st->value < deadline[on]) { /* the tightest of several */
            deadline[on] = st->value;
            builder_deadline(w, first_task + on, st->value, st->line);
        }
    }
    free(deadline);
    return good;
}

/* What the model cannot carry, counted. */
static void add_remarks(const struct building *x)
{
    struct builder *w = x->builder;
    size_t soft = 0, graphs = 0;
    bool periods = false;
    double period = NAN;
    for (size_t i = 0; i < x->file->blocks.n; i++) {
        const struct tgff_block *b = &x->file->blocks.at[i];
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
        builder_warn(w, 0, "no table can run the type of %zu task%s: they have work 0",
                     x->unlisted_tasks, plural(x->unlisted_tasks));
    if (!x->sizes.n && x->unlisted_arcs)
        builder_warn(w, 0, "no table of communication: arcs carry no data");
    else if (x->unlisted_arcs)
        builder_warn(w, 0, "no table lists the type of %zu arcs: they carry no data",
                     x->unlisted_arcs);
    if (periods)
        builder_warn(w, 0, "the %zu graphs have different periods; each counts once", graphs);
    if (soft)
        builder_warn(w, 0, "%zu soft deadlines are kept as deadlines", soft);
}

/* Tables first: graphs refer to them, wherever they stand. */
static bool tgff_build_workflow(struct building *x)
{
    size_t graphs = 0, tasks = 0;
    const struct tgff_file *f = x->file;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct tgff_block *b = &f->blocks.at[i];
        graphs += b->is_graph;
        tasks += b->tasks.n;
        x->processors += tgff_is_processor(b);
        for (size_t k = 0; k < b->rows.n && tgff_is_communication(b); k++)
            array_push(&x->sizes, b->rows.at[k]);
    }
    tgff_sort_rows(x->sizes.at, x->sizes.n);
    if (!graphs)
        return builder_error(x->builder, f->lines,
                             "the file has no task graph; expected a block with TASK lines");
    if (tasks * x->processors > MOST_TIMES)
        return builder_error(x->builder, f->lines,
                             "%zu task%s on %zu processor%s: more than %d times", tasks,
                             plural(tasks), x->processors, plural(x->processors), MOST_TIMES);
    for (size_t i = 0; i < x->file->blocks.n; i++) {
        if (!x->file->blocks.at[i].is_graph)
            continue;
        struct intern names;
        intern_init(&names);
        bool good = tgff_add_graph(x, &x->file->blocks.at[i], &names);
        intern_free(&names);
        if (!good)
            return false;
    }
    add_remarks(x);
    return true;
}

static struct workflow *tgff_read_workflow(const struct format_source *source, struct error *err)
{
    struct tgff_file f = {0};
    struct building x = {.file = &f, .builder = builder_new(source->path, "tgff")};
    bool good = tgff_file_read(&f, source, err) && tgff_build_workflow(&x);
    array_free(&x.sizes);
    tgff_file_free(&f);
    return scan_finish(x.builder, good, err);
}

/* ---- the platform ---- */

/* A node a processor table; bandwidth 1, so that communication times count as they stand. */
static struct platform *tgff_read_platform(const struct format_source *source, struct error *err)
{
    struct tgff_file f = {0};
    if (!tgff_file_read(&f, source, err)) {
        tgff_file_free(&f);
        return NULL;
    }
    struct platform_builder *p = platform_builder_new(source->path);
    struct strbuf name = {0};
    size_t nodes = 0;
    platform_builder_network(p, 1, NAN, NAN, 0);
    for (size_t i = 0; i < f.blocks.n; i++) {
        const struct tgff_block *b = &f.blocks.at[i];
        if (!tgff_is_processor(b))
            continue;
        node_name(b, &name);
        platform_builder_node(p, name.at, name.n, b->line);
        nodes++;
    }
    if (!nodes)
        platform_builder_error(
            p, 0,
            "no table of a processor (@CORE, @PE, @PROC ... with a column of times), so "
            "there is no platform in this file");
    strbuf_free(&name);
    tgff_file_free(&f);
    return platform_builder_finish(p, err);
}

const struct format format_tgff = {
    .name = "tgff",
    .summary = "Task Graphs For Free: periodic graphs with tables of costs by type",
    .suffixes = ".tgff",
    .sniff = tgff_sniff,
    .read_workflow = tgff_read_workflow,
    .read_platform = tgff_read_platform,
};
