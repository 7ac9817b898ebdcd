/* Fronts on several machines: subtrees of them are commands, what they leave to each other is files.
 *
 *     analysis ──▶ p12: fronts 3 .. 12 ── c12 ──▶ p40: front 40 ── c40 ──▶ ...      c: a contribution, deleted when it was read
 *     (of all)            └─▶ l12                       └─▶ l40                     l: columns of L
 *
 * A part is a whole subtree of little work, or one front above those: fronts are numbered children first, so that a
 * subtree is a stretch of numbers, and its columns a stretch of L. It is named by its last front. The tree of parts is
 * what weft plans, with what each takes in memory; the file of the analysis is mapped, and each part looks at its own
 * rows of it alone. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that a process takes beside its fronts: libraries, buffers of the BLAS, the pages of the analysis. */
static const double part_process = 96e6;

static const char part_magic[8] = "fronts1";

struct parts_head {
    char magic[8];
    uint64_t fronts, rows, places, entries; /* places: of `index` */
};

static bool parts_trouble(struct weft_error *error, const char *what, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "%s '%s': %s", what, name, strerror(errno));
    return factor_failed(error, WEFT_FAILED, text);
}

static double part_operations(const struct front *s)
{
    return (double)s->width * s->rows * s->rows;
}

/* By front: the part that it is in. Subtrees of at most `work` operations are one. */
static uint32_t *parts_cut(const struct factor *f, double work)
{
    uint32_t *part = malloc((f->fronts + 1) * sizeof *part);
    double *below = calloc(f->fronts + 1, sizeof *below);
    for (uint32_t s = 0; part && below && s < f->fronts; s++) {
        below[s] += part_operations(&f->front[s]);
        if (f->front[s].parent != UINT32_MAX)
            below[f->front[s].parent] += below[s];
    }
    for (uint32_t s = f->fronts; part && below && s--;) {
        uint32_t up = f->front[s].parent;
        part[s] = up != UINT32_MAX && below[up] <= work ? part[up] : s;
    }
    free(below);
    return part;
}

/* The first front of a part. */
static uint32_t part_first(const uint32_t *part, uint32_t last)
{
    uint32_t first = last;
    while (first && part[first - 1] == last)
        first--;
    return first;
}

/* What a part's fronts take at once, one after the other, and the columns that they leave. */
static double part_memory(const struct factor *f, const uint32_t *part, uint32_t last)
{
    double held = 0, peak = 0;
    for (uint32_t s = part_first(part, last); s <= last; s++) {
        const struct front *x = &f->front[s];
        double now = (double)front_panel_bytes(x) + (double)front_left_bytes(x), read = 0, own = 0;
        for (uint32_t c = x->child; c != UINT32_MAX; c = f->front[c].sibling) {
            double bytes = (double)front_left_bytes(&f->front[c]);
            read += part[c] == last ? 0 : bytes;
            own += part[c] == last ? bytes : 0;
        }
        peak = fmax(peak, held + now + read);
        held += (double)front_left_bytes(x) - own;
    }
    return peak + part_process;
}

/* ---- writing ---- */

static bool parts_write_analysis(const struct factor *f, const uint32_t *part, const char *path,
                                 struct weft_error *error)
{
    const struct front *last = &f->front[f->fronts - 1];
    size_t places = last->row + (size_t)last->rows, rows = f->figures.rows;
    const int *start = f->a->p;
    struct parts_head head = {
        .fronts = f->fronts, .rows = rows, .places = places, .entries = (uint64_t)start[rows]};
    memcpy(head.magic, part_magic, sizeof head.magic);
    FILE *out = fopen(path, "w");
    const struct {
        const void *at;
        size_t size, n;
    } pieces[] = {{&head, sizeof head, 1},
                  {f->front, sizeof *f->front, f->fronts},
                  {f->a->x, sizeof(double), head.entries},
                  {f->a->p, sizeof(int), rows + 1},
                  {f->a->i, sizeof(int), head.entries},
                  {f->order, sizeof(int), rows},
                  {f->index, sizeof *f->index, places},
                  {f->place, sizeof *f->place, places},
                  {part, sizeof *part, f->fronts}};
    bool good = out != NULL;
    for (size_t i = 0; good && i < sizeof pieces / sizeof *pieces; i++)
        good = fwrite(pieces[i].at, pieces[i].size, pieces[i].n, out) == pieces[i].n;
    if (out && fclose(out) != 0)
        good = false;
    return good || parts_trouble(error, "cannot write", path);
}

/* A program's path as a word of a command in a YAML text between single quotes: for the shell in its own quotes where it has
 * more than names have, its braces doubled, as commands want them, and quotes doubled for YAML. */
static void part_put_program(const char *program, FILE *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";
    bool quoted = program[strspn(program, plain)];
    fputs(quoted ? "''" : "", out);
    for (const char *at = program; *at; at++)
        if (*at == '\'')
            fputs("''\\''''", out);
        else if (*at == '{' || *at == '}')
            fprintf(out, "%c%c", *at, *at);
        else
            fputc(*at, out);
    fputs(quoted ? "''" : "", out);
}

/* One line a part. Sizes and memory are what the planner of trees goes by. */
static void part_describe(const struct factor *f, const uint32_t *part, uint32_t last,
                          const char *program, FILE *out)
{
    double bytes = 0, work = 0;
    const struct front *root = &f->front[last];
    fprintf(out, "  p%u: { run: '", last);
    part_put_program(program, out);
    fprintf(out, " --part %u', in: [analysis", last);
    for (uint32_t s = part_first(part, last); s <= last; s++) {
        bytes += (double)front_panel_bytes(&f->front[s]);
        work += part_operations(&f->front[s]);
        for (uint32_t c = f->front[s].child; c != UINT32_MAX; c = f->front[c].sibling)
            if (part[c] != last)
                fprintf(out, ", c%u", c);
    }
    fprintf(out, "], out: [{ name: l%u, size: %.0f }", last, bytes);
    if (root->parent != UINT32_MAX)
        fprintf(out, ", { name: c%u, size: %zu, temporary: true }", last, front_left_bytes(root));
    /* about 5 GFLOP/s, and what a process costs */
    fprintf(out, "], work: %.6g, memory: %.0f }\n", 0.02 + work * 2e-10,
            part_memory(f, part, last));
}

bool factor_write_parts(const struct factor *f, const char *folder, double work,
                        const char *program, struct weft_error *error)
{
    char path[4096];
    uint32_t *part = f->fronts ? parts_cut(f, work) : NULL, roots = 0;
    if (!part)
        return factor_failed(error, WEFT_NO_MEMORY, "no memory, or no fronts, for parts");
    mkdir(folder, 0777); /* that it is not there shows in what follows */
    snprintf(path, sizeof path, "%s/analysis", folder);
    bool good = parts_write_analysis(f, part, path, error);
    snprintf(path, sizeof path, "%s/flow.yaml", folder);
    FILE *out = good ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "# fronts of a sparse factorisation, by weft-factor --parts\nweft: 1\n"
                     "defaults: { env: { OPENBLAS_NUM_THREADS: '1' } }\ntasks:\n");
        for (uint32_t s = 0; s < f->fronts; s++) {
            roots += f->front[s].parent == UINT32_MAX;
            if (part[s] == s)
                part_describe(f, part, s, program, out);
        }
        if (roots > 1) { /* planners of trees want one */
            fprintf(out, "  end: { run: 'true', in: [analysis");
            for (uint32_t s = 0; s < f->fronts; s++)
                if (f->front[s].parent == UINT32_MAX)
                    fprintf(out, ", l%u", s);
            fprintf(out, "], work: 0.01 }\n");
        }
    }
    free(part);
    if (good && (!out || fclose(out) != 0))
        good = parts_trouble(error, "cannot write", path);
    return good;
}

/* ---- reading ---- */

/* All of a file, mapped; NULL: an error. */
static void *parts_map(const char *name, size_t *bytes, struct weft_error *error)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    void *at = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        *bytes = (size_t)st.st_size;
        at = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (at == MAP_FAILED)
        parts_trouble(error, "cannot read", name);
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static void *parts_copy(const char **at, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (copy)
        memcpy(copy, *at, bytes);
    *at += bytes;
    return copy;
}

/* What factor_analyze() found, but for its workflow. Copied, so that factor_free() need not know. `*part` is the
 * caller's. */
static struct factor *parts_load(const char *name, uint32_t **part, struct weft_error *error)
{
    size_t bytes = 0;
    void *map = parts_map(name, &bytes, error);
    const struct parts_head *h = map;
    struct factor *f = map ? calloc(1, sizeof *f) : NULL;
    *part = NULL;
    if (!f)
        return NULL;
    size_t ints = h->rows + 1 + h->entries + h->rows + 2 * h->places + h->fronts;
    bool good = bytes > sizeof *h && memcmp(h->magic, part_magic, sizeof h->magic) == 0 &&
                bytes == sizeof *h + h->fronts * sizeof(struct front) +
                             h->entries * sizeof(double) + ints * sizeof(int);
    if (good) {
        const char *at = (const char *)(h + 1);
        f->file = -1;
        f->o.threads = 1;
        f->fronts = (uint32_t)h->fronts;
        f->figures.rows = (uint32_t)h->rows;
        f->front = parts_copy(&at, h->fronts * sizeof(struct front));
        f->a = calloc(1, sizeof *f->a);
        void *value = parts_copy(&at, h->entries * sizeof(double));
        void *start = parts_copy(&at, (h->rows + 1) * sizeof(int));
        void *index = parts_copy(&at, h->entries * sizeof(int));
        if (f->a)
            *f->a = (cholmod_sparse){
                .nrow = h->rows, .ncol = h->rows, .p = start, .i = index, .x = value};
        f->order = parts_copy(&at, h->rows * sizeof(int));
        f->index = parts_copy(&at, h->places * sizeof(uint32_t));
        f->place = parts_copy(&at, h->places * sizeof(uint32_t));
        *part = parts_copy(&at, h->fronts * sizeof(uint32_t));
        good = f->front && f->a && value && start && index && f->order && f->index && f->place &&
               *part;
    }
    munmap(map, bytes);
    if (good)
        return f;
    factor_failed(error, WEFT_BAD_INPUT,
                  "that is no analysis of weft-factor --parts, or memory is short");
    return NULL; /* the process ends: nothing is taken apart */
}

/* ---- one part ---- */

struct part {
    struct factor *f;
    const uint32_t *part;
    uint32_t last;
    double **left; /* by front: what one of this part left */
    struct weft_error *error;
};

static const double *part_left(void *context, uint32_t child, uint32_t input)
{
    struct part *p = context;
    char name[32];
    size_t bytes = 0;
    (void)input;
    if (p->part[child] == p->last)
        return p->left[child];
    snprintf(name, sizeof name, "c%u", child);
    const double *at = parts_map(name, &bytes, p->error);
    if (at && bytes == front_left_bytes(&p->f->front[child]))
        return at;
    factor_failed(p->error, WEFT_FAILED, "what a child left has another size than it should have");
    return NULL;
}

/* Children of this part are used up; the columns are in their file. */
static int part_front(struct part *p, uint32_t number, FILE *columns)
{
    const struct front *s = &p->f->front[number];
    struct front_source source = {part_left, p};
    double *panel = malloc(front_panel_bytes(s) + 1);
    double *rest = front_border(s) ? malloc(front_left_bytes(s)) : NULL;
    int status = 2;
    if (panel && (rest || !front_border(s)))
        status = front_compute(p->f, s, panel, rest, &source);
    if (status == 1)
        factor_failed(p->error, WEFT_FAILED, "the matrix is not positive definite");
    if (!status && fwrite(panel, 1, front_panel_bytes(s), columns) != front_panel_bytes(s))
        status = 3;
    for (uint32_t c = s->child; c != UINT32_MAX; c = p->f->front[c].sibling) {
        free(p->left[c]);
        p->left[c] = NULL;
    }
    free(panel);
    p->left[number] = rest;
    return status;
}

int factor_part(uint32_t last, struct weft_error *error)
{
    uint32_t *part;
    char name[32];
    struct factor *f = parts_load("analysis", &part, error);
    if (!f)
        return 2;
    if (last >= f->fronts || part[last] != last) {
        factor_failed(error, WEFT_BAD_INPUT, "there is no such part");
        return 2;
    }
    openblas_set_num_threads(1);
    atomic_store(&f->blas, 1);
    struct part p = {f, part, last, calloc(f->fronts + 1, sizeof(double *)), error};
    snprintf(name, sizeof name, "l%u", last);
    FILE *columns = p.left ? fopen(name, "w") : NULL;
    int status = columns ? 0 : 3;
    for (uint32_t s = part_first(part, last); !status && s <= last; s++)
        status = part_front(&p, s, columns);
    if (columns && fclose(columns) != 0)
        status = 3;
    snprintf(name, sizeof name, "c%u", last);
    FILE *rest = !status && p.left[last] ? fopen(name, "w") : NULL;
    size_t bytes = front_left_bytes(&f->front[last]);
    if (!status && p.left[last] && (!rest || fwrite(p.left[last], 1, bytes, rest) != bytes))
        status = 3;
    if (rest && fclose(rest) != 0)
        status = 3;
    if (status == 3)
        parts_trouble(error, "cannot write", name);
    return status;
}

/* ---- all of them ---- */

struct factor *factor_read_parts(const char *folder, cholmod_common *common,
                                 struct weft_error *error)
{
    char name[4096];
    uint32_t *part;
    snprintf(name, sizeof name, "%s/analysis", folder);
    struct factor *f = parts_load(name, &part, error);
    if (!f)
        return NULL;
    const struct front *end = &f->front[f->fronts - 1];
    size_t entries = end->panel + (size_t)end->width * end->rows;
    f->common = common;
    f->l = malloc((entries + 1) * sizeof *f->l);
    bool good = f->l || factor_failed(error, WEFT_NO_MEMORY, "no memory for the factor");
    for (uint32_t s = 0; good && s < f->fronts; s++) {
        if (part[s] != s)
            continue;
        snprintf(name, sizeof name, "%s/l%u", folder, s);
        size_t first = f->front[part_first(part, s)].panel;
        size_t n = f->front[s].panel + (size_t)f->front[s].width * f->front[s].rows - first;
        FILE *in = fopen(name, "r");
        good = in || parts_trouble(error, "columns are missing: has `weft run` ended well?", name);
        if (in && (fread(f->l + first, sizeof *f->l, n, in) != n || fgetc(in) != EOF)) {
            char text[4200];
            snprintf(
                text, sizeof text,
                "'%s' has another size than the analysis says: it is of another matrix, or cut off",
                name);
            good = factor_failed(error, WEFT_BAD_INPUT, text);
        }
        if (in)
            fclose(in);
    }
    free(part);
    return good ? f : NULL;
}

double factor_residual(const struct factor *f, const double *x, const double *b)
{
    size_t n = f->figures.rows;
    double *r = calloc(n + 1, sizeof *r), *row = calloc(n + 1, sizeof *row);
    double worst = 0, norm = 0, x_most = 0, b_most = 0;
    const int *p = f->a->p, *index = f->a->i;
    const double *value = f->a->x;
    for (size_t j = 0; r && row && j < n; j++)
        for (int e = p[j]; e < p[j + 1]; e++) {
            size_t i = (size_t)index[e];
            r[i] += value[e] * x[f->order[j]];
            row[i] += fabs(value[e]);
            if (i == j)
                continue;
            r[j] += value[e] * x[f->order[i]];
            row[j] += fabs(value[e]);
        }
    for (size_t i = 0; r && row && i < n; i++) {
        worst = fmax(worst, fabs(r[i] - b[f->order[i]]));
        norm = fmax(norm, row[i]);
        x_most = fmax(x_most, fabs(x[i]));
        b_most = fmax(b_most, fabs(b[i]));
    }
    bool good = r && row;
    for (size_t i = 0; good && i < n; i++)
        good = isfinite(r[i]); /* fmax() passes over what is no number */
    free(r);
    free(row);
    return !good ? INFINITY : worst > 0 ? worst / (norm * x_most + b_most) : 0;
}
