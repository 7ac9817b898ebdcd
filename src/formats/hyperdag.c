/* HyperDAG (.hdag, the HyperdagDB of OneStopParallel):
 *
 *     % remarks
 *     31 40 76             hyperedges, vertices, pins
 *     0 1 1                a row a hyperedge: id, communication weight, memory weight
 *     0 1 0                a row a vertex: id, work, type
 *     0 0                  a row a pin: hyperedge, vertex; the first pin of a hyperedge is its source
 *
 * A vertex is a task, named by its id; a type other than 0 becomes the kind "type3". A hyperedge is
 * a data object from its source to its other pins: the communication weight is its size, and the
 * memory weight adds to the source's memory (the writers of the format put the source vertex's
 * memory there). Weight 0 is ordering without data. A hyperedge with one consumer is an anonymous
 * object; others, and those that repeat a pair, are named "h" and their id. */
#include "base/array.h"
#include "base/plural.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "formats/format.h"
#include "formats/scan.h"

#include <stdlib.h>
#include <string.h>

/* A row and what the pins say about it. */
struct hyperedge {
    double size, memory;
    uint32_t source; /* NONE: no pin yet */
    uint32_t consumers;
    uint32_t object; /* NONE: ordering or anonymous */
    uint32_t line;   /* 0: no row yet */
    bool named;
};

/* A consumer; the first pin of a hyperedge is its source and not kept here. */
struct pin {
    uint32_t edge, vertex, line;
};

struct hyperdag {
    struct scan scan;
    struct builder *builder;
    struct error *err;
    int64_t nedges, nvertices, npins;
    struct hyperedge *edges;
    uint32_t *task_of; /* by vertex id */
    ARRAY(struct pin) pins;
};

/* The name in a remark is certain; three numbers alone are not, since Matrix Market's size line
 * looks the same. */
static int hyperdag_sniff(const char *path, const char *text, size_t length)
{
    struct format_source source = {
        .path = path, .text = (char *)text, .length = length < 4096 ? length : 4096};
    struct scan s;
    if (memmem(text, source.length, "HyperdagDB", 10))
        return 3;
    scan_start(&s, &source, "%");
    bool named = scan_has_suffix(path, ".hdag");
    if (strncasecmp(text, "%%MatrixMarket", 14) == 0)
        return named;
    int64_t value;
    if (!scan_line(&s) || scan_words_left(&s) != 3)
        return named;
    for (int i = 0; i < 3; i++) {
        if (!scan_integer(&s, "", 0, INT64_MAX, &value, NULL))
            return named;
    }
    return named ? 3 : 1;
}

/* A file that ends early is named as cut off, not read as smaller. */
static bool next_row(struct hyperdag *h, const char *what, int64_t row, int64_t of)
{
    if (scan_line(&h->scan))
        return true;
    return scan_error(&h->scan, h->err, "the file ends before %s %lld of %lld; is it cut off?",
                      what, (long long)row + 1, (long long)of);
}

/* Counts are believed only as far as the file is long. */
static bool read_header(struct hyperdag *h, const struct format_source *source)
{
    struct scan *s = &h->scan;
    if (!scan_line(s))
        return scan_error(s, h->err, "the file is empty; expected 'hyperedges vertices pins'");
    int64_t most = (int64_t)UINT32_MAX - 2;
    if (!scan_integer(s, "number of hyperedges", 0, most, &h->nedges, h->err) ||
        !scan_integer(s, "number of vertices", 0, most, &h->nvertices, h->err) ||
        !scan_integer(s, "number of pins", 0, most, &h->npins, h->err) ||
        !scan_require_done(s, h->err))
        return false;
    /* The shortest row, "0 1" and a newline, has 4 bytes. */
    if (h->nedges + h->nvertices + h->npins > (int64_t)(source->length / 4) + 1)
        return scan_error(
            s, h->err,
            "the header says %lld row%s, but a file of %zu bytes holds at most %zu; is it "
            "cut off?",
            (long long)h->nedges + h->nvertices + h->npins,
            plural((long long)h->nedges + h->nvertices + h->npins), source->length,
            source->length / 4 + 1);
    return true;
}

/* Ids in any order, each once. */
static bool read_hyperedges(struct hyperdag *h)
{
    struct scan *s = &h->scan;
    for (int64_t i = 0; i < h->nedges; i++) {
        int64_t id;
        double size, memory = 0;
        if (!next_row(h, "hyperedge", i, h->nedges) ||
            !scan_integer(s, "hyperedge id", 0, h->nedges - 1, &id, h->err) ||
            !scan_number(s, "communication weight", &size, h->err) ||
            (!scan_line_done(s) && !scan_number(s, "memory weight", &memory, h->err)) ||
            !scan_require_done(s, h->err))
            return false;
        struct hyperedge *e = &h->edges[id];
        if (e->line)
            return scan_error(s, h->err,
                              "hyperedge %lld is defined twice; the first stands on line %u",
                              (long long)id, e->line);
        if (size < 0 || memory < 0)
            return scan_error(s, h->err, "hyperedge %lld has a negative weight", (long long)id);
        *e = (struct hyperedge){.size = size,
                                .memory = memory,
                                .source = NONE,
                                .object = NONE,
                                .line = (uint32_t)s->line};
    }
    return true;
}

/* task_of[] translates ids, which need not be in order. */
static bool read_vertices(struct hyperdag *h)
{
    struct scan *s = &h->scan;
    for (int64_t i = 0; i < h->nvertices; i++) {
        int64_t id, type = 0;
        double work;
        if (!next_row(h, "vertex", i, h->nvertices) ||
            !scan_integer(s, "vertex id", 0, h->nvertices - 1, &id, h->err) ||
            !scan_number(s, "work", &work, h->err) ||
            (!scan_line_done(s) && !scan_integer(s, "type", 0, INT64_MAX, &type, h->err)) ||
            !scan_require_done(s, h->err))
            return false;
        char text[32];
        size_t length = scan_print_number(text, id);
        uint32_t task = builder_task(h->builder, text, length, s->line);
        builder_work(h->builder, task, work, s->line);
        if (type) {
            int kind = snprintf(text, sizeof text, "type%lld", (long long)type);
            builder_kind(h->builder, task, text, (size_t)kind);
        }
        if (builder_failed(h->builder))
            return false;
        h->task_of[id] = task;
    }
    return true;
}

/* The format's own rule: the first pin makes, the others read. */
static bool read_pins(struct hyperdag *h)
{
    struct scan *s = &h->scan;
    for (int64_t i = 0; i < h->npins; i++) {
        int64_t edge, vertex;
        if (!next_row(h, "pin", i, h->npins) ||
            !scan_integer(s, "hyperedge", 0, h->nedges - 1, &edge, h->err) ||
            !scan_integer(s, "vertex", 0, h->nvertices - 1, &vertex, h->err) ||
            !scan_require_done(s, h->err))
            return false;
        struct hyperedge *e = &h->edges[edge];
        uint32_t task = h->task_of[vertex];
        if (e->source == NONE) {
            e->source = task;
            continue;
        }
        if (task == e->source)
            return scan_error(s, h->err,
                              "hyperedge %lld: vertex %lld is its source and its consumer",
                              (long long)edge, (long long)vertex);
        e->consumers++;
        array_push(&h->pins, (struct pin){(uint32_t)edge, task, (uint32_t)s->line});
    }
    if (scan_line(s))
        return scan_error(s, h->err, "rows follow the last of %lld pins; the header says no more",
                          (long long)h->npins);
    return true;
}

static int by_edge(const void *a, const void *b)
{
    const struct pin *p = a, *q = b;
    if (p->edge != q->edge)
        return p->edge < q->edge ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

/* A pin given twice counts once: whether an object has one consumer decides if it has a name. */
static void drop_repeated_pins(struct hyperdag *h)
{
    size_t kept = 0;
    if (h->pins.n)
        qsort(h->pins.at, h->pins.n, sizeof *h->pins.at, by_edge);
    for (size_t i = 0; i < h->pins.n; i++) {
        if (kept && by_edge(&h->pins.at[kept - 1], &h->pins.at[i]) == 0)
            h->edges[h->pins.at[i].edge].consumers--;
        else
            h->pins.at[kept++] = h->pins.at[i];
    }
    if (kept < h->pins.n)
        builder_warn(h->builder, 0, "%zu repeated pins count once", h->pins.n - kept);
    h->pins.n = kept;
}

struct hyperdag_pair {
    uint64_t key; /* source, consumer */
    uint32_t edge;
};

static int by_pair(const void *a, const void *b)
{
    const struct hyperdag_pair *p = a, *q = b;
    return p->key < q->key ? -1 : p->key > q->key;
}

/* Several hyperedges between the same two tasks must be objects with names, or only one would stay.
 */
static void name_repeated_pairs(struct hyperdag *h)
{
    struct hyperdag_pair *pairs = mem_new(struct hyperdag_pair, h->pins.n);
    size_t n = 0;
    for (size_t i = 0; i < h->pins.n; i++) {
        const struct pin *p = &h->pins.at[i];
        const struct hyperedge *e = &h->edges[p->edge];
        if (e->consumers == 1 && e->size > 0)
            pairs[n++] = (struct hyperdag_pair){(uint64_t)e->source << 32 | p->vertex, p->edge};
    }
    if (n)
        qsort(pairs, n, sizeof *pairs, by_pair);
    for (size_t i = 1; i < n; i++) {
        if (pairs[i].key == pairs[i - 1].key)
            h->edges[pairs[i].edge].named = h->edges[pairs[i - 1].edge].named = true;
    }
    free(pairs);
}

/* Objects with several consumers, and those that repeat a pair, get names; the rest are anonymous
 * edges. */
static void hyperdag_build_workflow(struct hyperdag *h)
{
    struct builder *b = h->builder;
    drop_repeated_pins(h);
    name_repeated_pairs(h);
    /* memory weights of a source's hyperedges add up */
    double *memory = mem_new_zero(double, (size_t)h->nvertices);
    size_t empty = 0;
    for (int64_t i = 0; i < h->nedges; i++) {
        struct hyperedge *e = &h->edges[i];
        if (e->source == NONE) {
            empty++;
            continue;
        }
        memory[e->source] += e->memory;
        if (e->memory > 0)
            builder_memory(b, e->source, memory[e->source], e->line);
        e->named |= e->consumers != 1;
        if (e->size == 0 || !e->named)
            continue;
        char name[32];
        name[0] = 'h';
        e->object = builder_object(b, name, 1 + scan_print_number(name + 1, i));
        builder_size(b, e->object, e->size, e->line);
        builder_produces(b, e->source, e->object, e->line);
    }
    free(memory);
    if (empty)
        builder_warn(b, 0, "%zu hyperedges have no pin and are left out", empty);
    for (size_t i = 0; i < h->pins.n; i++) {
        const struct pin *p = &h->pins.at[i];
        const struct hyperedge *e = &h->edges[p->edge];
        if (e->size == 0)
            builder_edge(b, e->source, p->vertex, p->line);
        else if (e->named)
            builder_consumes(b, p->vertex, e->object, p->line);
        else
            builder_data_edge(b, e->source, p->vertex, e->size, p->line);
    }
}

/* Arrays by id are made after the header was checked against the file's size. */
static struct workflow *hyperdag_read_workflow(const struct format_source *source,
                                               struct error *err)
{
    struct hyperdag h = {.err = err, .builder = builder_new(source->path, "hyperdag")};
    scan_start(&h.scan, source, "%");
    bool good = read_header(&h, source);
    if (good) {
        h.edges = mem_new_zero(struct hyperedge, (size_t)h.nedges);
        h.task_of = mem_new_zero(uint32_t, (size_t)h.nvertices);
        builder_expect(h.builder, (size_t)h.nvertices, (size_t)h.npins);
        good = read_hyperedges(&h) && read_vertices(&h) && read_pins(&h);
    }
    if (good)
        hyperdag_build_workflow(&h);
    free(h.edges);
    free(h.task_of);
    array_free(&h.pins);
    return scan_finish(h.builder, good, err);
}

/* ---- writing ---- */

/* "type12" is 12, anything else 0. */
static int64_t type_of(const struct workflow *w, uint32_t task)
{
    const char *kind = workflow_text(w, w->kind[task]);
    int64_t type;
    return strncmp(kind, "type", 4) == 0 && scan_plain_number(kind + 4, &type) ? type : 0;
}

static bool has_one_consumer(const struct workflow *w, uint32_t object)
{
    uint32_t count;
    workflow_consumers(w, object, &count);
    return count == 1;
}

/* Does another object with this one's only consumer go between the same two tasks? Then the reader
 * names both. */
static bool repeats_pair(const struct workflow *w, uint32_t object)
{
    uint32_t count, from = w->producer[object], to = *workflow_consumers(w, object, &count);
    uint32_t lo = w->pred_off[to], end = w->pred_off[to + 1], hi = end;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (w->pred_task[mid] < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < end && w->pred_task[lo] == from; lo++) {
        uint32_t other = w->pred_object[lo];
        if (other != object && other != NONE && w->size[other] > 0 && has_one_consumer(w, other))
            return true;
    }
    return false;
}

/* Row of each object that keeps the id in its name "h12": when every named object has one that
 * fits, and the reader would name it. The others take the rows that are left, in order. Returns
 * whether names stay. */
static bool keep_object_ids(const struct workflow *w, uint32_t rows, uint32_t *row_of, bool *taken)
{
    bool fits = true;
    for (uint32_t o = 0; o < w->nobjects && fits; o++) {
        row_of[o] = NONE;
        if (!w->object_name[o] || w->producer[o] == NONE || w->size[o] == 0)
            continue;
        const char *name = workflow_text(w, w->object_name[o]);
        int64_t id;
        fits = name[0] == 'h' && scan_plain_number(name + 1, &id) && id < rows && !taken[id] &&
               (!has_one_consumer(w, o) || repeats_pair(w, o));
        if (fits) {
            row_of[o] = (uint32_t)id;
            taken[id] = true;
        }
    }
    if (!fits) {
        memset(taken, 0, rows);
        memset(row_of, 0xff, w->nobjects * sizeof *row_of);
    }
    return fits;
}

/* One hyperedge to write: an object, or the ordering edges of a task (object NONE). */
struct written {
    uint32_t object, task;
    double memory;
};

static uint32_t ordering_count(const struct workflow *w, uint32_t task)
{
    uint32_t count = 0;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        count += w->succ_object[e] == NONE || w->size[w->succ_object[e]] == 0;
    return count;
}

/* Twice: without `out` to count them for the header, then to write them. */
static size_t write_pins(const struct workflow *w, const struct written *rows, uint32_t nrows,
                         const uint32_t *id, struct strbuf *out)
{
    size_t pins = 0;
    for (uint32_t r = 0; r < nrows; r++) {
        uint32_t task = rows[r].task;
        if (out)
            strbuf_printf(out, "%u %u\n", r, id[task]);
        pins++;
        const uint32_t *consumers = NULL;
        uint32_t count = 0;
        if (rows[r].object != NONE)
            consumers = workflow_consumers(w, rows[r].object, &count);
        for (uint32_t c = 0; c < count; c++, pins++) {
            if (out)
                strbuf_printf(out, "%u %u\n", r, id[consumers[c]]);
        }
        if (rows[r].object != NONE)
            continue;
        for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
            if (w->succ_object[e] != NONE && w->size[w->succ_object[e]] > 0)
                continue;
            if (out)
                strbuf_printf(out, "%u %u\n", r, id[w->succ_task[e]]);
            pins++;
        }
    }
    return pins;
}

/* Ids of the tasks: their names, when these are the numbers 0 to n - 1 in any order; else their places.
 * Returns whether names stay. */
static bool hyperdag_number_tasks(const struct workflow *w, uint32_t *id)
{
    bool plain = true;
    for (uint32_t t = 0; t < w->ntasks && plain; t++) {
        int64_t number = 0;
        plain = scan_plain_number(workflow_task_name(w, t), &number) && number < w->ntasks;
        id[t] = (uint32_t)number;
    }
    for (uint32_t t = 0; t < w->ntasks && !plain; t++)
        id[t] = t;
    return plain;
}

/* What no row can carry, counted while the rows are chosen. */
struct hyperdag_losses {
    size_t memory, kinds;
};

/* A row for each object with a size and one for the ordering edges of a task. Objects that keep their
 * id have their row in row_of; the others take those that are not `taken`, in order. A task's whole
 * memory goes on its first row: readers add them up. */
static void choose_rows(const struct workflow *w, const uint32_t *row_of, const bool *taken,
                        struct written *rows, uint32_t nrows, struct hyperdag_losses *lost)
{
    uint32_t next = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double memory = w->memory[t];
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++) {
            if (w->size[o] == 0)
                continue;
            while (row_of[o] == NONE && next < nrows && taken[next])
                next++;
            uint32_t row = row_of[o] == NONE ? next++ : row_of[o];
            rows[row] = (struct written){o, t, memory};
            memory = 0;
        }
        if (ordering_count(w, t)) {
            while (next < nrows && taken[next])
                next++;
            rows[next++] = (struct written){NONE, t, memory};
            memory = 0;
        }
        lost->memory += memory > 0;
        const char *kind = workflow_text(w, w->kind[t]);
        lost->kinds += *kind && strcmp(kind, workflow_task_name(w, t)) != 0 && !type_of(w, t);
    }
}

/* Hyperedges, vertices, pins, as the reader expects them; ids of objects stay where they can. */
static bool hyperdag_write_workflow(const struct workflow *w, struct strbuf *out,
                                    struct strbuf *dropped, struct error *err)
{
    (void)err;
    uint32_t n = w->ntasks;
    uint32_t *id = mem_new(uint32_t, n);
    bool plain = hyperdag_number_tasks(w, id);
    uint32_t nrows = 0;
    for (uint32_t o = 0; o < w->nobjects; o++)
        nrows += w->producer[o] != NONE && w->size[o] > 0;
    for (uint32_t t = 0; t < n; t++)
        nrows += ordering_count(w, t) > 0;
    uint32_t *row_of = mem_new(uint32_t, w->nobjects);
    bool *taken = mem_new_zero(bool, nrows);
    bool object_names = keep_object_ids(w, nrows, row_of, taken);
    struct written *rows = mem_new(struct written, nrows);
    struct hyperdag_losses lost = {0};
    choose_rows(w, row_of, taken, rows, nrows, &lost);

    strbuf_printf(out, "%%%% HyperdagDB format written by weft\n%u %u %zu\n", nrows, n,
                  write_pins(w, rows, nrows, id, NULL));
    strbuf_add(out, "%% Hyperedges: ID comm_weight mem_weight\n");
    for (uint32_t r = 0; r < nrows; r++) {
        strbuf_printf(out, "%u ", r);
        strbuf_add_number(out, rows[r].object == NONE ? 0 : w->size[rows[r].object]);
        strbuf_add_char(out, ' ');
        strbuf_add_number(out, rows[r].memory);
        strbuf_add_char(out, '\n');
    }
    strbuf_add(out, "%% Vertices: ID work_weight type\n");
    for (uint32_t t = 0; t < n; t++) {
        strbuf_printf(out, "%u ", id[t]);
        strbuf_add_number(out, w->work[t]);
        strbuf_printf(out, " %lld\n", (long long)type_of(w, t));
    }
    strbuf_add(out, "%% Pins: HyperedgeID NodeID\n");
    write_pins(w, rows, nrows, id, out);

    dropped_report(w,
                   format_hyperdag.carries & ~(object_names ? 0 : CARRIES_OBJECT_NAMES) &
                       ~(plain ? 0 : CARRIES_NAMES),
                   dropped);
    dropped_count(dropped, lost.memory, "memory", "task without successor");
    dropped_count(dropped, lost.kinds, "kinds", "task");
    free(id);
    free(row_of);
    free(taken);
    free(rows);
    return true;
}

const struct format format_hyperdag = {
    .name = "hyperdag",
    .summary = "HyperDAG of OneStopParallel: hyperedges, vertices, pins",
    .suffixes = ".hdag",
    .sniff = hyperdag_sniff,
    .read_workflow = hyperdag_read_workflow,
    .write_workflow = hyperdag_write_workflow,
    .carries = CARRIES_NAMES | CARRIES(work) | CARRIES(memory) | CARRIES(kind) | CARRIES_SIZES |
               CARRIES_OBJECTS | CARRIES_OBJECT_NAMES | CARRIES_OUTPUTS,
};
