#include "formats/uses.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

struct use {
    uint32_t task, file, line;
};

struct stated_edge {
    uint32_t from, to, line; /* numbers of names */
};

struct uses {
    struct builder *b;
    struct intern files, jobs;
    ARRAY(double) size; /* of each file; NAN: not stated */
    ARRAY(uint32_t) size_line;
    ARRAY(struct use) inputs;
    ARRAY(struct use) outputs;
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
    array_push(&u->inputs, (struct use){task, file, (uint32_t)line});
}

void uses_output(struct uses *u, uint32_t task, uint32_t file, size_t line)
{
    array_push(&u->outputs, (struct use){task, file, (uint32_t)line});
}

void uses_edge(struct uses *u, const char *from, size_t from_length, const char *to,
               size_t to_length, size_t line)
{
    uint32_t source = intern_number(&u->jobs, from, from_length);
    uint32_t target = intern_number(&u->jobs, to, to_length);
    array_push(&u->edges, (struct stated_edge){source, target, (uint32_t)line});
}

/* ---- at the end ---- */

static void dangling(struct uses *u, uint32_t job, size_t line)
{
    const char *name = intern_text(&u->jobs, job);
    uint32_t count = builder_task_count(u->b);
    const char **names = mem_new(const char *, count);
    for (uint32_t t = 0; t < count; t++)
        names[t] = builder_task_name(u->b, t);
    const char *near = suggest_nearest(name, names, count);
    builder_error(u->b, line, "a dependency names the job '%.100s', which is not in the file%s%.100s%s",
                  name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
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
            dangling(u, from == NONE ? e->from : e->to, e->line);
        e->from = from;
        e->to = to;
    }
    free(task);
    return good;
}

static int compare_by_file(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static int compare_by_task(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
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

static size_t drop_repeated(struct use *at, size_t n)
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

/* Counts for the warnings. */
struct remarks {
    size_t unstated, shared, own;
    uint32_t unstated_file, unstated_line;
};

/* One job's inputs against the jobs it is stated to come after. */
static void read_inputs(struct uses *u, uint32_t task, const struct use *in, size_t n,
                        const uint32_t *writer_off, const uint32_t *object, const uint32_t *input,
                        uint32_t *parent, struct remarks *remarks)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t file = in[i].file;
        bool own = false, found = false;
        for (uint32_t w = writer_off[file]; w < writer_off[file + 1]; w++) {
            uint32_t writer = u->outputs.at[w].task;
            own |= writer == task;
            if (writer != task && parent[writer] > 0) {
                builder_consumes(u->b, task, object[w], in[i].line);
                parent[writer] = 2; /* the edge carries data */
                found = true;
            }
        }
        if (writer_off[file] == writer_off[file + 1]) {
            builder_consumes(u->b, task, input[file], in[i].line);
        } else if (!found && own) {
            remarks->own++;
        } else if (!found && !remarks->unstated++) {
            remarks->unstated_file = file;
            remarks->unstated_line = in[i].line;
        }
    }
}

static void tell_remarks(struct uses *u, const struct remarks *r)
{
    if (u->resized)
        builder_warn(u->b, u->first_resized_line,
                     "a file has another size than before, %zu times ('%.80s' is the first); the first "
                     "size of a file counts",
                     u->resized, intern_text(&u->files, u->first_resized));
    if (r->shared)
        builder_warn(u->b, 0,
                     "%zu files are written by several jobs; each writer after the first has an object of "
                     "its own, named file@job",
                     r->shared);
    if (r->unstated)
        builder_warn(u->b, r->unstated_line,
                     "%zu times a job reads a file of a job that it is not stated to depend on ('%.80s' "
                     "is the first); no edge is made of it",
                     r->unstated, intern_text(&u->files, r->unstated_file));
    if (r->own)
        builder_warn(u->b, 0, "%zu times a job reads a file that only it writes; the reading is left out",
                     r->own);
}

void uses_finish(struct uses *u)
{
    if (builder_failed(u->b) || !resolve_edges(u))
        return;
    uint32_t nfiles = u->files.n, ntasks = builder_task_count(u->b);
    struct remarks remarks = {0};
    if (u->outputs.n)
        qsort(u->outputs.at, u->outputs.n, sizeof *u->outputs.at, compare_by_file);
    u->outputs.n = drop_repeated(u->outputs.at, u->outputs.n);
    if (u->inputs.n)
        qsort(u->inputs.at, u->inputs.n, sizeof *u->inputs.at, compare_by_task);
    u->inputs.n = drop_repeated(u->inputs.at, u->inputs.n);
    if (u->edges.n)
        qsort(u->edges.at, u->edges.n, sizeof *u->edges.at, compare_edges);

    uint32_t *writer_off = mem_new_zero(uint32_t, (size_t)nfiles + 1);
    for (size_t i = 0; i < u->outputs.n; i++)
        writer_off[u->outputs.at[i].file + 1]++;
    for (uint32_t f = 0; f < nfiles; f++) {
        remarks.shared += writer_off[f + 1] > 1;
        writer_off[f + 1] += writer_off[f];
    }
    /* Objects in order of the files' first mention. */
    uint32_t *object = mem_new(uint32_t, u->outputs.n), *input = mem_new(uint32_t, nfiles);
    for (uint32_t f = 0; f < nfiles; f++) {
        input[f] = writer_off[f] == writer_off[f + 1] ? make_object(u, f, NONE) : NONE;
        for (uint32_t w = writer_off[f]; w < writer_off[f + 1]; w++) {
            uint32_t task = u->outputs.at[w].task;
            object[w] = make_object(u, f, w > writer_off[f] ? task : NONE);
            builder_produces(u->b, task, object[w], u->outputs.at[w].line);
        }
    }

    uint32_t *parent = mem_new_zero(uint32_t, ntasks); /* 1: stated, 2: and data flows */
    size_t i = 0, e = 0;
    for (uint32_t t = 0; t < ntasks; t++) {
        size_t first_input = i, first_edge = e;
        while (i < u->inputs.n && u->inputs.at[i].task == t)
            i++;
        while (e < u->edges.n && u->edges.at[e].to == t)
            parent[u->edges.at[e++].from] = 1;
        read_inputs(u, t, u->inputs.at + first_input, i - first_input, writer_off, object, input, parent,
                    &remarks);
        for (size_t k = first_edge; k < e; k++) {
            uint32_t from = u->edges.at[k].from;
            if (parent[from] == 1)
                builder_edge(u->b, from, t, u->edges.at[k].line);
        }
        for (size_t k = first_edge; k < e; k++)
            parent[u->edges.at[k].from] = 0;
    }
    tell_remarks(u, &remarks);
    free(parent);
    free(input);
    free(object);
    free(writer_off);
}
