/* The dags of the Cloud Workflow Simulator and of pegasus-mpi-cluster (PMC): the same suffix as
 * DAGMan, other words.
 *
 *     TASK id transformation seconds                                                       (CWS)
 *     TASK id [-m MB] [-c cpus] [-t tries] [-p priority] program argument ...              (PMC)
 *     FILE name bytes
 *     INPUTS id file ...
 *     OUTPUTS id file ...
 *     EDGE parent child
 *
 * EDGE lines alone say what comes first; a file that a parent makes and its child reads gives that
 * edge its bytes. In some files INPUTS and OUTPUTS imply more edges than are stated: they are
 * counted in a remark, and edges=files takes them instead. A file that several tasks write is one
 * object a writer ("file@task" from the second on). */
#include "base/array.h"
#include "base/pool.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "formats/scan.h"
#include <string.h>
#include <strings.h>

struct cws_span {
    const char *at;
    size_t n;
};

/* "task reads or writes file", by line; resolved when every task is known. */
struct cws_use {
    struct cws_span task;
    uint32_t file, line;
    bool writes;
};

/* EDGE, by names: either end may be a later TASK. */
struct edge {
    struct cws_span from, to;
    size_t line;
};

/* A writer of a file and the object it makes there. */
struct writing {
    uint32_t file, task, object;
};

struct cws_reader {
    struct builder *b;
    struct scan scan;
    struct error *err;
    bool by_files;
    struct intern files;
    ARRAY(double) size; /* NAN: not stated */
    ARRAY(uint32_t) size_line;
    ARRAY(struct cws_use) uses;
    ARRAY(struct edge) edges;
    ARRAY(struct writing) writings; /* grouped by file after sorting */
    size_t shared;                  /* files with several writers */
    size_t negative, rounded;       /* files with a negative size, tasks with a part of a core */
};

static bool cws_is_word(struct cws_span word, const char *text)
{
    return word.n == strlen(text) && strncasecmp(word.at, text, word.n) == 0;
}

/* All of the first ten lines must begin with one of the five words. */
static int cws_sniff(const char *path, const char *text, size_t length)
{
    (void)path;
    struct format_source source = {
        .path = "", .text = (char *)text, .length = length < 8192 ? length : 8192};
    struct scan s;
    scan_start(&s, &source, "#");
    int seen = 0;
    while (seen < 10 && scan_line(&s)) {
        struct cws_span word, next;
        if (!scan_word(&s, &word.at, &word.n) || !scan_word(&s, &next.at, &next.n))
            return seen >= 2 ? 2 : 0;
        if (!cws_is_word(word, "TASK") && !cws_is_word(word, "EDGE") &&
            !cws_is_word(word, "FILE") && !cws_is_word(word, "INPUTS") &&
            !cws_is_word(word, "OUTPUTS"))
            return 0;
        seen++;
    }
    return seen ? 3 : 0;
}

static bool cws_next_word(struct cws_reader *r, const char *what, struct cws_span *out)
{
    return scan_word(&r->scan, &out->at, &out->n) ||
           scan_error(&r->scan, r->err, "expected %s", what);
}

/* A word as a number, 0 or more, with an error that names it. */
static bool number_word(struct cws_reader *r, struct cws_span w, const char *what, double *out)
{
    if (scan_parse_number(w.at, w.n, out) && *out >= 0)
        return true;
    return scan_error(&r->scan, r->err, "%s is '%.*s'; expected a number, 0 or more", what,
                      (int)(w.n > 60 ? 60 : w.n), w.at);
}

/* Files are numbered by first mention; a size of -1: not stated. */
static uint32_t file_number(struct cws_reader *r, struct cws_span name)
{
    uint32_t file = intern_number(&r->files, name.at, name.n);
    if (file == r->size.n) {
        array_push(&r->size, -1);
        array_push(&r->size_line, 0);
    }
    return file;
}

/* FILE name bytes */
static bool cws_read_file(struct cws_reader *r)
{
    struct cws_span name, bytes;
    double size;
    if (!cws_next_word(r, "FILE and the name of a file", &name) ||
        !cws_next_word(r, "the file's size", &bytes))
        return false;
    /* as in DAX files: recorded where a size could not be found out */
    bool negative = scan_parse_number(bytes.at, bytes.n, &size) && size < 0;
    if ((!negative && !number_word(r, bytes, "the file's size", &size)) ||
        !scan_require_done(&r->scan, r->err))
        return false;
    uint32_t file = file_number(r, name);
    r->negative += negative;
    if (negative)
        return true;
    if (r->size.at[file] >= 0 && r->size.at[file] != size) {
        builder_warn(r->b, r->scan.line, "file '%.*s' has a second size; the first stays",
                     (int)name.n, name.at);
    } else {
        r->size.at[file] = size;
        r->size_line.at[file] = (uint32_t)r->scan.line;
    }
    return true;
}

/* -m, -c, -t, -p, -f and -F, each with a value, in PMC's order-free way */
static bool cws_read_options(struct cws_reader *r, uint32_t task, struct cws_span *w)
{
    double value;
    while (w->n > 1 && *w->at == '-') {
        struct cws_span option = *w, argument;
        if (!cws_next_word(r, "the value of this option", &argument))
            return false;
        if (cws_is_word(option, "-m") || cws_is_word(option, "--request-memory")) {
            if (!number_word(r, argument, "the memory", &value))
                return false;
            builder_memory(r->b, task, value * 1048576, r->scan.line);
        } else if (cws_is_word(option, "-c") || cws_is_word(option, "--request-cpus")) {
            if (!number_word(r, argument, "the number of cpus", &value))
                return false;
            /* 0 states no wish, as in PMC's default */
            format_cores(r->b, task, value > 0 ? value : 1, r->scan.line, &r->rounded);
        } else if (cws_is_word(option, "-t") || cws_is_word(option, "--tries")) {
            if (!number_word(r, argument, "the number of tries", &value))
                return false;
            builder_retries(r->b, task, value > 1 ? value - 1 : 0, r->scan.line);
        } else if (cws_is_word(option, "-p") || cws_is_word(option, "--priority")) {
            if (!scan_parse_number(argument.at, argument.n, &value))
                return scan_error(&r->scan, r->err, "the priority is '%.*s'; expected a number",
                                  (int)argument.n, argument.at);
            builder_priority(r->b, task, value, r->scan.line);
        } else if (!cws_is_word(option, "-f") && !cws_is_word(option, "-F") &&
                   !cws_is_word(option, "--pipe-forward") &&
                   !cws_is_word(option, "--file-forward")) {
            return scan_error(&r->scan, r->err,
                              "unknown option '%.*s'; expected -m, -c, -t, -p, -f or -F",
                              (int)option.n, option.at);
        }
        if (!cws_next_word(r, "a program after the options", w))
            return false;
    }
    return true;
}

/* "Montage::mProjectPP:1.0" is of kind mProjectPP, as the same task is in a DAX file. The version
 * may be empty. */
static void cws_set_kind(struct builder *b, uint32_t task, struct cws_span name)
{
    const char *end = name.at + name.n, *start = memmem(name.at, name.n, "::", 2);
    start = start && start + 2 < end ? start + 2 : name.at;
    const char *colon = memchr(start, ':', (size_t)(end - start));
    builder_kind(b, task, start, (size_t)((colon && colon > start ? colon : end) - start));
}

/* CWS and PMC are told apart line by line: a plain word and one number is a transformation and
 * its run time; options or arguments make it a PMC command. */
static bool cws_read_task(struct cws_reader *r)
{
    struct cws_span id, name, last = {0};
    if (!cws_next_word(r, "TASK and an id", &id) ||
        !cws_next_word(r, "a transformation or a program", &name))
        return false;
    uint32_t task = builder_task(r->b, id.at, id.n, r->scan.line);
    if (task == NONE)
        return error_set(r->err, ERROR_INPUT, "%s", builder_first_error(r->b)->text);
    bool options = name.n > 1 && *name.at == '-';
    if (!cws_read_options(r, task, &name))
        return false;
    const char *kind = memrchr(name.at, '/', name.n);
    kind = kind ? kind + 1 : name.at;
    double seconds;
    /* the command as it stands in the file, quotes included: it is a shell line already */
    const char *rest = r->scan.at;
    bool one_more = scan_words_left(&r->scan) == 1;
    if (!options && kind == name.at && one_more && scan_word(&r->scan, &last.at, &last.n) &&
        scan_parse_number(last.at, last.n, &seconds)) { /* CWS */
        if (!number_word(r, last, "the run time", &seconds))
            return false;
        builder_work(r->b, task, seconds, r->scan.line);
        cws_set_kind(r->b, task, name);
        return true;
    }
    const char *end = rest;
    while (end < r->scan.end && *end != '\n')
        end++;
    while (end > rest && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    builder_literal_command(r->b, task, name.at,
                            (size_t)(end > name.at + name.n ? end - name.at : (ptrdiff_t)name.n));
    builder_kind(r->b, task, kind, (size_t)(name.at + name.n - kind));
    return true;
}

/* INPUTS and OUTPUTS: noted by names, resolved when all tasks are there. */
static bool read_uses(struct cws_reader *r, bool writes)
{
    struct cws_span task, file;
    if (!cws_next_word(r, "the id of a task", &task))
        return false;
    while (scan_word(&r->scan, &file.at, &file.n))
        array_push(&r->uses,
                   (struct cws_use){task, file_number(r, file), (uint32_t)r->scan.line, writes});
    return true;
}

/* Lines in any order: what refers to tasks is kept by name until the end. */
static bool cws_read_lines(struct cws_reader *r)
{
    bool any = false;
    while (scan_line(&r->scan)) {
        struct cws_span w = {0};
        scan_word(&r->scan, &w.at, &w.n);
        any = true;
        bool good;
        if (cws_is_word(w, "FILE")) {
            good = cws_read_file(r);
        } else if (cws_is_word(w, "TASK")) {
            good = cws_read_task(r);
        } else if (cws_is_word(w, "INPUTS") || cws_is_word(w, "OUTPUTS")) {
            good = read_uses(r, cws_is_word(w, "OUTPUTS"));
        } else if (cws_is_word(w, "EDGE")) {
            struct edge e = {.line = r->scan.line};
            good = cws_next_word(r, "EDGE parent child", &e.from) &&
                   cws_next_word(r, "EDGE parent child", &e.to) &&
                   scan_require_done(&r->scan, r->err);
            if (good)
                array_push(&r->edges, e);
        } else {
            good = scan_error(&r->scan, r->err,
                              "'%.*s' is unknown; expected TASK, EDGE, FILE, INPUTS or OUTPUTS",
                              (int)(w.n > 60 ? 60 : w.n), w.at);
        }
        if (!good)
            return false;
    }
    return any || error_at(r->err, r->scan.file, 0,
                           "there is nothing in it; expected TASK and EDGE lines");
}

/* ---- edges and data ---- */

/* The task of a name that a line refers to; an error at that line if there is none. */
static bool known_task(struct cws_reader *r, struct cws_span name, size_t line, const char *where,
                       uint32_t *task)
{
    *task = builder_find_task(r->b, name.at, name.n);
    return *task != NONE ||
           error_at(r->err, r->scan.file, line, "%s names '%.*s', but there is no such TASK", where,
                    (int)(name.n > 200 ? 200 : name.n), name.at);
}

/* By file, then by task: the first writer of a file keeps its name. */
static int compare_writings(const void *a, const void *b)
{
    const struct writing *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static int cws_compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* One object a file and writer. */
static bool cws_make_objects(struct cws_reader *r)
{
    for (size_t i = 0; i < r->uses.n; i++) {
        uint32_t task;
        if (!r->uses.at[i].writes)
            continue;
        if (!known_task(r, r->uses.at[i].task, r->uses.at[i].line, "OUTPUTS", &task))
            return false;
        array_push(&r->writings, (struct writing){r->uses.at[i].file, task, NONE});
    }
    if (r->writings.n)
        qsort(r->writings.at, r->writings.n, sizeof *r->writings.at, compare_writings);
    struct strbuf name = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->writings.n; i++) {
        struct writing *w = &r->writings.at[i];
        if (n && r->writings.at[n - 1].file == w->file && r->writings.at[n - 1].task == w->task)
            continue; /* listed twice */
        strbuf_clear(&name);
        strbuf_add(&name, intern_text(&r->files, w->file));
        if (n && r->writings.at[n - 1].file == w->file) {
            r->shared++;
            strbuf_printf(&name, "@%s", builder_task_name(r->b, w->task));
        }
        w->object = builder_object(r->b, name.at, name.n);
        if (r->size.at[w->file] > 0)
            builder_size(r->b, w->object, r->size.at[w->file], r->size_line.at[w->file]);
        builder_produces(r->b, w->task, w->object, 0);
        r->writings.at[n++] = *w;
    }
    r->writings.n = n;
    strbuf_free(&name);
    return true;
}

/* The stated edges as sorted pairs, each once. */
static bool stated_pairs(struct cws_reader *r, uint64_t **pairs, size_t *count)
{
    uint64_t *at = *pairs = mem_new(uint64_t, r->edges.n + 1);
    *count = 0;
    for (size_t i = 0; i < r->edges.n; i++) {
        uint32_t from, to;
        struct edge *e = &r->edges.at[i];
        if (!known_task(r, e->from, e->line, "EDGE", &from) ||
            !known_task(r, e->to, e->line, "EDGE", &to))
            return false;
        if (!r->by_files)
            builder_edge(r->b, from, to, e->line);
        at[i] = (uint64_t)from << 32 | to;
    }
    if (r->edges.n)
        qsort(at, r->edges.n, sizeof *at, cws_compare_pairs);
    for (size_t i = 0; i < r->edges.n; i++)
        if (!*count || at[*count - 1] != at[i])
            at[(*count)++] = at[i];
    return true;
}

/* Connect the readers. `implied` collects the pairs that only the files state. */
static bool join_files(struct cws_reader *r, const uint64_t *pairs, size_t npairs)
{
    /* writers by file; they are sorted by file already */
    uint32_t *first = mem_new_zero(uint32_t, r->size.n + 2); /* of each file's writings */
    for (size_t i = 0; i < r->writings.n; i++)
        first[r->writings.at[i].file + 1]++;
    for (size_t f = 0; f < r->size.n; f++)
        first[f + 1] += first[f];
    ARRAY(uint64_t) implied = {0};
    bool good = true;
    for (size_t i = 0; good && i < r->uses.n; i++) {
        const struct cws_use *u = &r->uses.at[i];
        uint32_t task;
        if (u->writes)
            continue;
        good = known_task(r, u->task, u->line, "INPUTS", &task);
        for (uint32_t k = first[u->file]; good && k < first[u->file + 1]; k++) {
            const struct writing *w = &r->writings.at[k];
            uint64_t key = (uint64_t)w->task << 32 | task;
            if (w->task == task)
                continue; /* it reads what it writes: a file changed in place */
            bool stated = npairs && bsearch(&key, pairs, npairs, sizeof *pairs, cws_compare_pairs);
            if (!stated)
                array_push(&implied, key);
            if (stated || r->by_files)
                builder_consumes(r->b, task, w->object, u->line);
        }
        if (good && first[u->file] == first[u->file + 1]) {
            const char *name = intern_text(&r->files, u->file);
            uint32_t object = builder_object(r->b, name, strlen(name));
            if (r->size.at[u->file] > 0)
                builder_size(r->b, object, r->size.at[u->file], r->size_line.at[u->file]);
            builder_consumes(r->b, task, object, u->line);
        }
    }
    if (implied.n)
        qsort(implied.at, implied.n, sizeof *implied.at, cws_compare_pairs);
    size_t distinct = 0;
    for (size_t i = 0; i < implied.n; i++)
        distinct += !i || implied.at[i] != implied.at[i - 1];
    if (good && distinct && !r->by_files)
        builder_warn(r->b, 0,
                     "INPUTS and OUTPUTS imply %zu edge%s that no EDGE states; they are left out "
                     "(edges=files takes them)",
                     distinct, plural(distinct));
    if (good && r->shared)
        builder_warn(r->b, 0,
                     "%zu time%s a file has one more writer; each writer's is an object of its own",
                     r->shared, plural(r->shared));
    array_free(&implied);
    free(first);
    return good;
}

/* `first` is ours, so that an error of the lines wins over what the builder would say of half a
 * graph. */
static struct workflow *cws_read_workflow(const struct format_source *source, struct error *err)
{
    if (!format_require_utf8(source, err))
        return NULL;
    const char *edges = format_option(source, "edges");
    struct error first = {0};
    struct cws_reader r = {
        .b = builder_new(source->path, "cws"), .err = &first, .by_files = edges && edges[0] == 'f'};
    builder_home(r.b, source->folder);
    scan_start(&r.scan, source, "#");
    intern_init(&r.files);
    uint64_t *pairs = NULL;
    size_t npairs = 0;
    bool good = cws_read_lines(&r) && cws_make_objects(&r) && stated_pairs(&r, &pairs, &npairs) &&
                join_files(&r, pairs, npairs);
    free(pairs);
    intern_free(&r.files);
    array_free(&r.size);
    array_free(&r.size_line);
    array_free(&r.uses);
    array_free(&r.edges);
    array_free(&r.writings);
    format_cores_remark(r.b, r.rounded);
    if (r.negative)
        builder_warn(r.b, 0, "%zu FILE line%s a negative size; it is left out", r.negative,
                     r.negative == 1 ? " states" : "s state");
    if (!good) {
        builder_free(r.b);
        error_set(err, first.kind, "%s", first.text);
        return NULL;
    }
    return builder_finish(r.b, err);
}

static const struct option cws_options[] = {
    {"edges", OPTION_CHOICE, "stated", "stated|files", 0, 0,
     "order tasks by EDGE lines (default) or by the files that INPUTS and OUTPUTS name"},
    {0},
};

const struct format format_cws = {
    .name = "cws",
    .summary = "dags of the Cloud Workflow Simulator and of pegasus-mpi-cluster (TASK, EDGE, FILE)",
    .sniff = cws_sniff,
    .read_workflow = cws_read_workflow,
    .options = cws_options,
};
