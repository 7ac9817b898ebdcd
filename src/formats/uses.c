/* Jobs with stated edges and files (DAX, Pegasus), joined: uses.h says by which rules.
 *
 * Everything is collected first, since edges may name jobs that come later. Then outputs are
 * sorted by file, inputs by job, edges by job, and one walk over the jobs marks the stated
 * parents of each and looks for them among the writers of its inputs.
 *
 *     outputs (by file)     inputs (by job)       edges (by job)
 *     f1: A                 B: f1, f2             B: from A          f1, f2 are data on A -> B
 *     f2: A, C              D: f2                 D: from C          f2@C is data on C -> D
 *                                                 E: from A          no file: ordering */
#include "formats/uses.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/plural.h"

#include <math.h>
#include <string.h>

/* A job reads or writes a file. */
struct file_use {
    uint32_t task, file, line;
};

/* An edge as stated; after resolve_edges() `from` and `to` are tasks. */
struct stated_edge {
    uint32_t from, to, line; /* numbers of names */
};

struct uses {
    struct builder *b;
    struct intern files, jobs;
    ARRAY(double) size; /* of each file; NAN: not stated */
    ARRAY(uint32_t) size_line;
    ARRAY(struct file_use) inputs;
    ARRAY(struct file_use) outputs;
    ARRAY(struct stated_edge) edges;
    size_t resized, first_resized_line;
    uint32_t first_resized;
};

struct uses *uses_new(struct builder *b)
{
    struct uses *u = mem_new_zero(struct uses, 1);
    u->b = b;
    intern_init(&u->files);
    intern_init(&u->jobs);
    return u;
}

void uses_free(struct uses *u)
{
    intern_free(&u->files);
    intern_free(&u->jobs);
    array_free(&u->size);
    array_free(&u->size_line);
    array_free(&u->inputs);
    array_free(&u->outputs);
    array_free(&u->edges);
    free(u);
}

uint32_t uses_file(struct uses *u, const char *name, size_t length)
{
    uint32_t file = intern_number(&u->files, name, length);
    while (u->size.n <= file) {
        array_push(&u->size, NAN);
        array_push(&u->size_line, 0);
    }
    return file;
}

/* Only the first contradiction is kept for the remark: published files have thousands. */
void uses_size(struct uses *u, uint32_t file, double bytes, size_t line)
{
    if (isnan(u->size.at[file])) {
        u->size.at[file] = bytes;
        u->size_line.at[file] = (uint32_t)line;
    } else if (u->size.at[file] != bytes && !u->resized++) {
        u->first_resized = file;
        u->first_resized_line = line;
    }
}

void uses_input(struct uses *u, uint32_t task, uint32_t file, size_t line)
{
    array_push(&u->inputs, (struct file_use){task, file, (uint32_t)line});
}

void uses_output(struct uses *u, uint32_t task, uint32_t file, size_t line)
{
    array_push(&u->outputs, (struct file_use){task, file, (uint32_t)line});
}

void uses_edge(struct uses *u, const char *from, size_t from_length, const char *to,
               size_t to_length, size_t line)
{
    uint32_t source = intern_number(&u->jobs, from, from_length);
    uint32_t target = intern_number(&u->jobs, to, to_length);
    array_push(&u->edges, (struct stated_edge){source, target, (uint32_t)line});
}

/* ---- at the end ---- */

/* The error names the nearest job there is. */
static void uses_dangling_job(struct uses *u, uint32_t job, size_t line)
{
    const char *name = intern_text(&u->jobs, job);
    uint32_t count = builder_task_count(u->b);
    const char **names = mem_new(const char *, count);
    for (uint32_t t = 0; t < count; t++)
        names[t] = builder_task_name(u->b, t);
    const char *near = suggest_nearest(name, names, count);
    builder_error(u->b, line,
                  "a dependency names the job '%.100s', which is not in the file%s%.100s%s", name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
}

/* Names to tasks, in place. */
static bool resolve_edges(struct uses *u)
{
    uint32_t *task = mem_new(uint32_t, u->jobs.n);
    for (uint32_t j = 0; j < u->jobs.n; j++) {
        const char *name = intern_text(&u->jobs, j);
        task[j] = builder_find_task(u->b, name, strlen(name));
    }
    bool good = true;
    for (size_t i = 0; i < u->edges.n && good; i++) {
        struct stated_edge *e = &u->edges.at[i];
        uint32_t from = task[e->from], to = task[e->to];
        good = from != NONE && to != NONE;
        if (!good)
            uses_dangling_job(u, from == NONE ? e->from : e->to, e->line);
        e->from = from;
        e->to = to;
    }
    free(task);
    return good;
}

static int compare_by_file(const void *a, const void *b)
{
    const struct file_use *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static int compare_by_task(const void *a, const void *b)
{
    const struct file_use *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static int compare_edges(const void *a, const void *b)
{
    const struct stated_edge *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Of sorted uses each pair once; returns how many stay. */
static size_t drop_repeated(struct file_use *at, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++)
        if (!out || at[out - 1].task != at[i].task || at[out - 1].file != at[i].file)
            at[out++] = at[i];
    return out;
}

/* The object of a file: the first writer's has its name, later ones the writer's name too. */
static uint32_t make_object(struct uses *u, uint32_t file, uint32_t later_writer)
{
    struct strbuf text = {0};
    strbuf_add(&text, intern_text(&u->files, file));
    if (later_writer != NONE) {
        strbuf_printf(&text, "@%s", builder_task_name(u->b, later_writer));
        while (intern_find(&u->files, text.at, text.n) != NONE ||
               builder_find_object(u->b, text.at, text.n) != NONE)
            strbuf_add_char(&text, '@');
    }
    uint32_t object = builder_object(u->b, text.at, text.n);
    if (!isnan(u->size.at[file]))
        builder_size(u->b, object, u->size.at[file], u->size_line.at[file]);
    strbuf_free(&text);
    return object;
}

/* Files against stated edges, job by job. */
struct joining {
    struct uses *u;
    uint32_t *writer_off; /* of each file: its part of u->outputs, which is sorted by file */
    uint32_t *object;     /* of each output */
    uint32_t *input;      /* of each file that nobody writes */
    uint8_t *parent;      /* of the job at hand: 1 stated, 2 and data flows */
    size_t unstated, shared, own; /* for the warnings */
    uint32_t unstated_file, unstated_line;
};

/* Sorted and without repeats: files list a file twice more often than one would think. */
static void sort_uses(struct uses *u)
{
    if (u->outputs.n)
        qsort(u->outputs.at, u->outputs.n, sizeof *u->outputs.at, compare_by_file);
    if (u->inputs.n)
        qsort(u->inputs.at, u->inputs.n, sizeof *u->inputs.at, compare_by_task);
    if (u->edges.n)
        qsort(u->edges.at, u->edges.n, sizeof *u->edges.at, compare_edges);
    u->outputs.n = drop_repeated(u->outputs.at, u->outputs.n);
    u->inputs.n = drop_repeated(u->inputs.at, u->inputs.n);
}

/* In order of the files' first mention. */
static void uses_make_objects(struct joining *j)
{
    struct uses *u = j->u;
    uint32_t nfiles = u->files.n, *off = j->writer_off;
    for (size_t i = 0; i < u->outputs.n; i++)
        off[u->outputs.at[i].file + 1]++;
    for (uint32_t f = 0; f < nfiles; f++) {
        j->shared += off[f + 1] > 1;
        off[f + 1] += off[f];
    }
    for (uint32_t f = 0; f < nfiles; f++) {
        j->input[f] = off[f] == off[f + 1] ? make_object(u, f, NONE) : NONE;
        for (uint32_t w = off[f]; w < off[f + 1]; w++) {
            uint32_t task = u->outputs.at[w].task;
            j->object[w] = make_object(u, f, w > off[f] ? task : NONE);
            builder_produces(u->b, task, j->object[w], u->outputs.at[w].line);
        }
    }
}

/* One input of a job: from its stated parents among the writers. A writer that is no parent makes
 * no edge and is counted. */
static void join_input(struct joining *j, const struct file_use *in)
{
    struct uses *u = j->u;
    uint32_t begin = j->writer_off[in->file], end = j->writer_off[in->file + 1];
    bool own = false, found = false;
    if (begin == end) {
        builder_consumes(u->b, in->task, j->input[in->file], in->line);
        return;
    }
    for (uint32_t w = begin; w < end; w++) {
        uint32_t writer = u->outputs.at[w].task;
        own |= writer == in->task;
        if (writer != in->task && j->parent[writer]) {
            builder_consumes(u->b, in->task, j->object[w], in->line);
            j->parent[writer] = 2;
            found = true;
        }
    }
    if (!found && own) {
        j->own++;
    } else if (!found && !j->unstated++) {
        j->unstated_file = in->file;
        j->unstated_line = in->line;
    }
}

/* A stated edge that no file took becomes plain ordering. `parent` is cleared again as it goes:
 * O(uses + edges) in all. */
static void join_all(struct joining *j)
{
    struct uses *u = j->u;
    uint32_t ntasks = builder_task_count(u->b);
    size_t i = 0, e = 0;
    for (uint32_t t = 0; t < ntasks; t++) {
        size_t first = e;
        for (; e < u->edges.n && u->edges.at[e].to == t; e++)
            j->parent[u->edges.at[e].from] = 1;
        for (; i < u->inputs.n && u->inputs.at[i].task == t; i++)
            join_input(j, &u->inputs.at[i]);
        for (size_t k = first; k < e; k++) {
            const struct stated_edge *edge = &u->edges.at[k];
            if (j->parent[edge->from] == 1)
                builder_edge(u->b, edge->from, t, edge->line);
            j->parent[edge->from] = 0;
        }
    }
}

/* One remark a cause, with the count and the first place. */
static void tell_remarks(const struct joining *j)
{
    const struct uses *u = j->u;
    if (u->resized)
        builder_warn(u->b, u->first_resized_line,
                     "a file has another size than before, %zu time%s ('%.80s' is the first); the "
                     "first size of a file counts",
                     u->resized, plural(u->resized), intern_text(&u->files, u->first_resized));
    if (j->shared)
        builder_warn(u->b, 0,
                     "%zu file%s written by several jobs; each writer after the first has an "
                     "object of its own, named file@job",
                     j->shared, plural_word(j->shared, " is", "s are"));
    if (j->unstated)
        builder_warn(u->b, j->unstated_line,
                     "%zu time%s a job reads a file of a job that it is not stated to depend on "
                     "('%.80s' is the first); no edge is made of it",
                     j->unstated, plural(j->unstated), intern_text(&u->files, j->unstated_file));
    if (j->own)
        builder_warn(u->b, 0,
                     "%zu time%s a job reads a file that only it writes; the reading is left out",
                     j->own, plural(j->own));
}

void uses_finish(struct uses *u)
{
    if (builder_failed(u->b) || !resolve_edges(u))
        return;
    sort_uses(u);
    struct joining j = {
        .u = u,
        .writer_off = mem_new_zero(uint32_t, (size_t)u->files.n + 1),
        .object = mem_new(uint32_t, u->outputs.n),
        .input = mem_new(uint32_t, u->files.n),
        .parent = mem_new_zero(uint8_t, builder_task_count(u->b)),
    };
    uses_make_objects(&j);
    join_all(&j);
    tell_remarks(&j);
    free(j.parent);
    free(j.input);
    free(j.object);
    free(j.writer_off);
}
