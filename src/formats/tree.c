/* Tree lists, as published with HomPart and HetPart:
 *
 *     % id parent m w f
 *     1 3 15 0.124 3869
 *     3 0 29 0.72 0          parent 0: the root
 *
 * A line a task, ids 1..n in any order. m is the task's own memory, w its work, f the size of the
 * data that joins it to its parent. The tree grows from the root (parent -> child); with
 * direction=in, as for elimination trees, every edge is turned.
 *
 * The root's f has no other end. Published figures count it, so it is kept: as the object
 * "root-input" that only the root reads, or "root-output" that only the root makes when the
 * direction is in. */
#include "base/array.h"
#include "base/plural.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "model/graph.h"

#include <string.h>

static const char root_input[] = "root-input", root_output[] = "root-output";

/* A line; edges wait until all ids are known. */
struct tree_row {
    double file; /* f */
    uint32_t id, parent, line;
};

struct tree_reading {
    struct scan scan;
    struct builder *builder;
    struct error *err;
    bool inward;
    ARRAY(struct tree_row) rows;
};

/* Four rows of five numbers. STG and HyperDAG files fail at the count. */
static int tree_sniff(const char *path, const char *text, size_t length)
{
    struct format_source source = {
        .path = path, .text = (char *)text, .length = length < 4096 ? length : 4096};
    struct scan s;
    scan_start(&s, &source, "%");
    bool named = scan_has_suffix(path, ".tree") || scan_has_suffix(path, ".nf");
    int rows = 0;
    while (rows < 4 && scan_line(&s) && (s.next_line < s.end || length <= 4096)) {
        double value;
        int64_t id, parent;
        if (scan_words_left(&s) != 5 || !scan_integer(&s, "", 1, INT64_MAX, &id, NULL) ||
            !scan_integer(&s, "", 0, INT64_MAX, &parent, NULL) ||
            !scan_number(&s, "", &value, NULL) || !scan_number(&s, "", &value, NULL) ||
            !scan_number(&s, "", &value, NULL))
            return named;
        rows++;
    }
    return !rows ? named : named ? 3 : 2;
}

/* The task is made here, its edge when all ids are known. */
static bool tree_read_row(struct tree_reading *t)
{
    struct scan *s = &t->scan;
    struct tree_row row = {.line = (uint32_t)s->line};
    int64_t id, parent;
    double memory, work;
    if (!scan_integer(s, "id", 1, (int64_t)UINT32_MAX - 2, &id, t->err) ||
        !scan_integer(s, "parent", 0, (int64_t)UINT32_MAX - 2, &parent, t->err) ||
        !scan_number(s, "memory", &memory, t->err) || !scan_number(s, "work", &work, t->err) ||
        !scan_number(s, "edge size", &row.file, t->err) || !scan_require_done(s, t->err))
        return false;
    if (row.file < 0)
        return scan_error(s, t->err, "task %lld: edge size %g is negative", (long long)id,
                          row.file);
    if (id == parent)
        return scan_error(s, t->err, "task %lld is its own parent; the root's parent is 0",
                          (long long)id);
    char name[24];
    size_t length = scan_print_number(name, id);
    uint32_t task = builder_task(t->builder, name, length, s->line);
    builder_memory(t->builder, task, memory, s->line);
    builder_work(t->builder, task, work, s->line);
    row.id = (uint32_t)id;
    row.parent = (uint32_t)parent;
    array_push(&t->rows, row);
    return !builder_failed(t->builder);
}

/* Nothing to keep when it is 0. */
static bool place_root_file(struct tree_reading *t, uint32_t task, const struct tree_row *row)
{
    struct builder *b = t->builder;
    if (row->file == 0)
        return true;
    const char *name = t->inward ? root_output : root_input;
    uint32_t object = builder_object(b, name, strlen(name));
    builder_size(b, object, row->file, row->line);
    if (t->inward)
        builder_produces(b, task, object, row->line);
    else
        builder_consumes(b, task, object, row->line);
    return true;
}

/* Task numbers are row numbers, because every row made a task. */
static bool tree_join_parents(struct tree_reading *t)
{
    size_t n = t->rows.n;
    uint32_t *task_of = mem_new(uint32_t, n + 1);
    uint32_t root = NONE;
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const struct tree_row *row = &t->rows.at[i];
        if (row->id > n)
            good = error_at(t->err, t->scan.file, row->line,
                            "id %u is out of range: the file has %zu task%s, so ids are 1 to %zu",
                            row->id, n, plural(n), n);
        else
            task_of[row->id] = (uint32_t)i;
    }
    for (size_t i = 0; i < n && good; i++) {
        const struct tree_row *row = &t->rows.at[i];
        if (row->parent > n) {
            good = error_at(t->err, t->scan.file, row->line,
                            "task %u: parent %u is not in the file", row->id, row->parent);
        } else if (row->parent == 0 && root != NONE) {
            good =
                error_at(t->err, t->scan.file, row->line,
                         "task %u is a second root; the first is task %u on line %u. Expected one "
                         "parent of 0",
                         row->id, t->rows.at[root].id, t->rows.at[root].line);
        } else if (row->parent == 0) {
            root = (uint32_t)i;
            good = place_root_file(t, root, row);
        } else {
            uint32_t parent = task_of[row->parent], task = (uint32_t)i;
            builder_data_edge(t->builder, t->inward ? task : parent, t->inward ? parent : task,
                              row->file, row->line);
        }
    }
    free(task_of);
    /* Without a root there is a cycle, which the builder will name. */
    return good;
}

static bool tree_read_all(struct tree_reading *t, const struct format_source *source)
{
    const char *direction = format_option(source, "direction");
    t->inward = direction && strcmp(direction, "in") == 0;
    scan_start(&t->scan, source, "%");
    builder_expect(t->builder, source->length / 24, source->length / 24);
    while (scan_line(&t->scan)) {
        if (!tree_read_row(t))
            return false;
    }
    if (!t->rows.n)
        return scan_error(
            &t->scan, t->err,
            "no task in the file; expected lines of 'id parent memory work edge-size'");
    return tree_join_parents(t);
}

static struct workflow *tree_read_workflow(const struct format_source *source, struct error *err)
{
    struct tree_reading t = {.err = err, .builder = builder_new(source->path, "tree")};
    bool good = tree_read_all(&t, source);
    array_free(&t.rows);
    return scan_finish(t.builder, good, err);
}

/* ---- writing ---- */

/* Ids 1..n: the names, when they are just that; otherwise by the reversed topological order,
 * because the published readers want every parent's id larger than its children's. Returns whether
 * names stay. */
static bool tree_number_tasks(const struct workflow *w, bool inward, uint32_t *order, uint32_t *id)
{
    uint32_t n = w->ntasks;
    bool plain = true;
    for (uint32_t t = 0; t < n && plain; t++) {
        int64_t number = 0; /* names are distinct, so being within 1..n is enough */
        plain = scan_plain_number(workflow_task_name(w, t), &number) && number >= 1 && number <= n;
        id[t] = (uint32_t)number;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = plain ? i : inward ? w->topo[i] : w->topo[n - 1 - i];
        if (!plain)
            id[order[i]] = i + 1;
    }
    return plain;
}

/* Bytes between a task and its parent (or, for the root, from outside or to outside). */
static double file_size(const struct workflow *w, uint32_t task, bool inward, uint32_t *parent)
{
    const uint32_t *off = inward ? w->succ_off : w->pred_off;
    const uint32_t *other = inward ? w->succ_task : w->pred_task;
    const uint32_t *object = inward ? w->succ_object : w->pred_object;
    double bytes = 0;
    *parent = NONE;
    for (uint32_t e = off[task]; e < off[task + 1]; e++) {
        *parent = other[e];
        bytes += object[e] == NONE ? 0 : w->size[object[e]];
    }
    if (*parent != NONE)
        return bytes;
    if (inward) {
        for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
            bytes += w->size[o];
    } else if (w->input_off) {
        for (uint32_t i = w->input_off[task]; i < w->input_off[task + 1]; i++)
            bytes += w->size[w->input_object[i]];
    }
    return bytes;
}

/* The root's own object is carried under its fixed name; every other input or unread output is
 * lost. */
static void tree_report(const struct workflow *w, bool inward, bool plain, struct strbuf *dropped)
{
    uint64_t carried = format_tree.carries & ~(plain ? 0 : CARRIES_NAMES);
    uint32_t outside = 0;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t consumers;
        workflow_consumers(w, o, &consumers);
        outside += w->producer[o] == NONE || !consumers;
    }
    uint32_t kept = workflow_find_object(w, inward ? root_output : root_input);
    if (kept != NONE && outside == 1)
        carried |= CARRIES_INPUTS | CARRIES_OUTPUTS;
    dropped_report(w, carried, dropped);
    if (inward && dropped)
        strbuf_add(dropped, "direction of the edges (read it back with direction=in)\n");
}

/* A graph that is no tree is refused with the first task that has two predecessors. */
static bool tree_write_workflow(const struct workflow *w, struct strbuf *out,
                                struct strbuf *dropped, struct error *err)
{
    enum tree_shape shape = w->ntasks ? graph_tree_shape(w) : TREE_NOT;
    if (shape == TREE_NOT) {
        for (uint32_t t = 0; t < w->ntasks; t++) {
            uint32_t first = w->pred_off[t], end = w->pred_off[t + 1];
            if (end > first && w->pred_task[first] != w->pred_task[end - 1])
                return error_set(
                    err, ERROR_INPUT,
                    "not a tree: task '%s' follows '%s' and '%s'. A tree list holds one "
                    "connected tree; write another format",
                    workflow_task_name(w, t), workflow_task_name(w, w->pred_task[first]),
                    workflow_task_name(w, w->pred_task[end - 1]));
        }
        return error_set(
            err, ERROR_INPUT,
            "not a tree: %u task%s in several pieces. A tree list holds one connected tree; "
            "write another format",
            w->ntasks, plural(w->ntasks));
    }
    bool inward = shape == TREE_IN;
    uint32_t *order = mem_new(uint32_t, w->ntasks), *id = mem_new(uint32_t, w->ntasks);
    bool plain = tree_number_tasks(w, inward, order, id);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = order[i], parent;
        double bytes = file_size(w, task, inward, &parent);
        strbuf_printf(out, "%u %u ", id[task], parent == NONE ? 0 : id[parent]);
        strbuf_add_number(out, w->memory[task]);
        strbuf_add_char(out, ' ');
        strbuf_add_number(out, w->work[task]);
        strbuf_add_char(out, ' ');
        strbuf_add_number(out, bytes);
        strbuf_add_char(out, '\n');
    }
    free(order);
    free(id);
    tree_report(w, inward, plain, dropped);
    return true;
}

static const struct option tree_options[] = {
    {"direction", OPTION_CHOICE, "out", "out|in", 0, 0,
     "edges from parent to child (out, default) or from child to parent"},
    {0},
};

const struct format format_tree = {
    .name = "tree",
    .summary = "tree list of HomPart and HetPart: id, parent, memory, work, edge size",
    .suffixes = ".tree .nf",
    .sniff = tree_sniff,
    .read_workflow = tree_read_workflow,
    .write_workflow = tree_write_workflow,
    .carries = CARRIES_NAMES | CARRIES(work) | CARRIES(memory) | CARRIES_SIZES,
    .options = tree_options,
};
