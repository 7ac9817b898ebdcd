/* Elimination and assembly trees of sparse matrices, by CHOLMOD's symbolic analysis: the only
 * file that knows it. Costs are those of the multifrontal method
 * (docs/formats/trees-and-matrices.md); nothing is factorised.
 *
 * The pattern is made symmetric (A + A'), ordered to reduce fill, and analysed; columns or
 * supernodes become tasks from child to parent.
 *
 * CHOLMOD is loaded when the first matrix is read, not with the program: it brings a BLAS along, and
 * OpenBLAS starts a thread for every core as soon as it is loaded. Every `weft run` would pay for
 * them, and threads that are not ours would take the signals that a program waits for.
 *
 * CHOLMOD allocates by itself, outside our ledgers (base/mem.h): a guard frees its objects when
 * memory of ours runs out while they exist. */
#include "formats/mtx/etree.h"

#include "base/mem.h"
#include "formats/scan.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

const char *const etree_ordering_names[] = {"amd", "metis", "nesdis", "natural", NULL};
static const int cholmod_orderings[] = {CHOLMOD_AMD, CHOLMOD_METIS, CHOLMOD_NESDIS,
                                        CHOLMOD_NATURAL};

typedef SuiteSparse_long index_t; /* 64 bits: fill counts past 2^31 are no rarity */

/* The soname of the very version whose structures were compiled in. */
#define CHOLMOD_NAME_OF(version) "libcholmod.so." #version
#define CHOLMOD_NAME(version) CHOLMOD_NAME_OF(version)
static const char cholmod_file[] = CHOLMOD_NAME(CHOLMOD_MAIN_VERSION);

/* What is called of it. Filled once, by `cholmod_once`, and then only read. */
static struct {
    typeof(&cholmod_l_start) start;
    typeof(&cholmod_l_finish) finish;
    typeof(&cholmod_l_analyze) analyze;
    typeof(&cholmod_l_etree) etree;
    typeof(&cholmod_l_ptranspose) ptranspose;
    typeof(&cholmod_l_allocate_sparse) allocate_sparse;
    typeof(&cholmod_l_free_sparse) free_sparse;
    typeof(&cholmod_l_free_factor) free_factor;
    char missing[160]; /* why it cannot be had; "": it is there */
} cholmod;
static pthread_once_t cholmod_once = PTHREAD_ONCE_INIT;

static void cholmod_load(void)
{
    void *library =
        dlopen(cholmod_file, RTLD_NOW | RTLD_LOCAL); /* never closed: its BLAS has threads */
    const struct {
        const char *name;
        void *place; /* of a function pointer */
    } wanted[] = {
        {"cholmod_l_start", &cholmod.start},
        {"cholmod_l_finish", &cholmod.finish},
        {"cholmod_l_analyze", &cholmod.analyze},
        {"cholmod_l_etree", &cholmod.etree},
        {"cholmod_l_ptranspose", &cholmod.ptranspose},
        {"cholmod_l_allocate_sparse", &cholmod.allocate_sparse},
        {"cholmod_l_free_sparse", &cholmod.free_sparse},
        {"cholmod_l_free_factor", &cholmod.free_factor},
    };
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].name);
        memcpy(wanted[i].place, &found, sizeof found); /* C has no cast from data to function */
        if (!found)
            library = NULL;
    }
    if (!library)
        snprintf(cholmod.missing, sizeof cholmod.missing, "%s", dlerror());
}

/* One task of the tree: columns first .. first+eta-1 of the permuted matrix. */
struct front {
    index_t first, eta, mu; /* mu: rows of the front from the last pivot on */
    index_t parent;         /* front; -1: root */
};

struct analysis {
    cholmod_common common;
    cholmod_sparse *matrix; /* lower triangle of the pattern, with the diagonal */
    cholmod_factor *factor;
    struct front *fronts;
    size_t nfronts;
};

/* CHOLMOD's status as a sentence. Always false. */
static bool etree_failed(const struct analysis *a, const char *file, const char *what,
                         struct error *err)
{
    int status = a->common.status;
    const char *why = status == CHOLMOD_OUT_OF_MEMORY ? "out of memory"
                      : status == CHOLMOD_TOO_LARGE   ? "the problem is too large"
                      : status == CHOLMOD_NOT_INSTALLED
                          ? "this ordering is not in the installed library"
                          : "CHOLMOD refused";
    return error_set(err, status == CHOLMOD_OUT_OF_MEMORY ? ERROR_MEMORY : ERROR_FAILED,
                     "%s: %s: %s (status %d)", file, what, why, status);
}

/* Compressed columns of the lower triangle, each column's diagonal first, then its rows ascending
 * and distinct. The entries come in any order: counting sort by row, then by column, linear. */
static bool make_matrix(struct analysis *a, size_t n, const struct etree_entry *entries,
                        size_t count)
{
    a->matrix = cholmod.allocate_sparse(n, n, n + count, 1, 1, -1, CHOLMOD_PATTERN, &a->common);
    if (!a->matrix)
        return false;
    index_t *start = a->matrix->p, *rows = a->matrix->i;
    size_t *by_row = mem_new_zero(size_t, n + 1);
    struct etree_entry *sorted = mem_new(struct etree_entry, count);
    for (size_t i = 0; i < count; i++)
        by_row[entries[i].row > entries[i].column ? entries[i].row : entries[i].column]++;
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t here = by_row[i];
        by_row[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        struct etree_entry e = entries[i];
        if (e.row < e.column)
            e = (struct etree_entry){e.column, e.row};
        sorted[by_row[e.row]++] = e;
    }
    free(by_row);

    index_t *next = mem_new_zero(index_t, n + 1);
    for (size_t i = 0; i < count; i++)
        next[sorted[i].column]++;
    index_t at = 0;
    for (size_t j = 0; j < n; j++) {
        index_t here = next[j] + 1;
        start[j] = next[j] = at;
        at += here;
        rows[next[j]++] = (index_t)j;
    }
    for (size_t i = 0; i < count; i++) {
        index_t *end = &next[sorted[i].column];
        if (rows[*end - 1] != (index_t)sorted[i].row) /* rows ascend: a repeated one is the last */
            rows[(*end)++] = (index_t)sorted[i].row;
    }
    /* close the gaps that repeated entries left */
    index_t to = 0;
    for (size_t j = 0; j < n; j++) {
        index_t from = start[j], end = next[j];
        start[j] = to;
        while (from < end)
            rows[to++] = rows[from++];
    }
    start[n] = to;
    free(next);
    free(sorted);
    return true;
}

/* Parents in the elimination tree of the permuted matrix; false when CHOLMOD fails. */
static bool find_parents(struct analysis *a, index_t *parent)
{
    /* etree wants the upper triangle of a symmetric matrix: a transpose of the lower one, permuted.
     */
    cholmod_sparse *upper = cholmod.ptranspose(a->matrix, 0, a->factor->Perm, NULL, 0, &a->common);
    bool good = upper && cholmod.etree(upper, parent, &a->common);
    cholmod.free_sparse(&upper, &a->common);
    return good;
}

/* Fundamental supernodes, or single columns: column j joins the one before it when that is its only
 * child and the count of rows falls by just one. The factor's columns are in postorder, so a chain
 * is consecutive. */
static bool find_fronts(struct analysis *a, bool assembly)
{
    size_t n = a->factor->n;
    index_t *parent = mem_new(index_t, n), *children = mem_new_zero(index_t, n);
    const index_t *counts = a->factor->ColCount;
    if (!find_parents(a, parent)) {
        free(parent);
        free(children);
        return false;
    }
    for (size_t j = 0; j < n; j++) {
        if (parent[j] >= 0)
            children[parent[j]]++;
    }
    index_t *front_of = mem_new(index_t, n);
    a->fronts = mem_new(struct front, n);
    for (size_t j = 0; j < n; j++) {
        bool joins = assembly && j && parent[j - 1] == (index_t)j && children[j] == 1 &&
                     counts[j - 1] == counts[j] + 1;
        if (!joins)
            a->fronts[a->nfronts++] = (struct front){.first = (index_t)j};
        struct front *f = &a->fronts[a->nfronts - 1];
        f->eta++;
        f->mu = counts[j];
        f->parent = parent[j]; /* a column for now */
        front_of[j] = (index_t)a->nfronts - 1;
    }
    for (size_t i = 0; i < a->nfronts; i++) {
        if (a->fronts[i].parent >= 0)
            a->fronts[i].parent = front_of[a->fronts[i].parent];
    }
    free(parent);
    free(children);
    free(front_of);
    return true;
}

/* CHOLMOD's own supernodes, amalgamated. The first row below the pivots of one is a pivot of its
 * parent. */
static void take_supernodes(struct analysis *a)
{
    const index_t *super = a->factor->super, *row_start = a->factor->pi, *rows = a->factor->s;
    size_t n = a->factor->n;
    index_t *front_of = mem_new(index_t, n);
    a->nfronts = a->factor->nsuper;
    a->fronts = mem_new(struct front, a->nfronts);
    for (size_t i = 0; i < a->nfronts; i++) {
        for (index_t j = super[i]; j < super[i + 1]; j++)
            front_of[j] = (index_t)i;
    }
    for (size_t i = 0; i < a->nfronts; i++) {
        index_t eta = super[i + 1] - super[i], below = row_start[i + 1] - row_start[i] - eta;
        a->fronts[i] = (struct front){
            .first = super[i],
            .eta = eta,
            .mu = below + 1,
            .parent = below ? front_of[rows[row_start[i] + eta]] : -1,
        };
    }
    free(front_of);
}

/* A task is named by the first column it eliminates, in the numbering of the file, so that names
 * do not depend on the ordering chosen. Numbers are 8 bytes each. */
static void add_tasks(struct builder *b, const struct analysis *a)
{
    const index_t *permutation = a->factor->Perm;
    char name[32];
    size_t roots = 0;
    builder_expect(b, a->nfronts + 1, a->nfronts);
    for (size_t i = 0; i < a->nfronts; i++) {
        const struct front *f = &a->fronts[i];
        double eta = (double)f->eta, rest = (double)(f->mu - 1);
        size_t length = scan_print_number(name, permutation[f->first] + 1);
        uint32_t task = builder_task(b, name, length, 0);
        builder_work(b, task, eta * eta * eta * 2 / 3 + eta * eta * rest + eta * rest * rest, 0);
        builder_memory(b, task, 8 * (eta * eta + 2 * eta * rest), 0);
        roots += f->parent < 0;
    }
    uint32_t root = NONE;
    if (roots > 1) {
        root = builder_task(b, "root", 4, 0);
        builder_work(b, root, 0, 0);
        builder_warn(
            b, 0, "the matrix falls into %zu pieces: a task 'root' without work joins their trees",
            roots);
    }
    for (size_t i = 0; i < a->nfronts; i++) {
        double rest = (double)(a->fronts[i].mu - 1);
        uint32_t to = a->fronts[i].parent < 0 ? root : (uint32_t)a->fronts[i].parent;
        if (to != NONE)
            builder_data_edge(b, (uint32_t)i, to, 8 * rest * rest, 0);
    }
}

/* What CHOLMOD holds; also the guard's `clean`. */
static void etree_release(void *analysis)
{
    struct analysis *a = analysis;
    cholmod.free_factor(&a->factor, &a->common);
    cholmod.free_sparse(&a->matrix, &a->common);
    cholmod.finish(&a->common);
}

/* CHOLMOD is told to be silent: what is wrong is ours to say. Its memory is freed whatever
 * happened. */
bool etree_build(struct builder *b, size_t order, const struct etree_entry *entries, size_t count,
                 const struct etree_options *options, const char *file, struct error *err)
{
    if (!order)
        return true;
    pthread_once(&cholmod_once, cholmod_load);
    if (*cholmod.missing)
        return error_set(err, ERROR_FAILED,
                         "%s: a matrix is analysed by CHOLMOD, which cannot be loaded: %s; install "
                         "%s (Debian: libcholmod%d)",
                         file, cholmod.missing, cholmod_file, CHOLMOD_MAIN_VERSION);
    struct analysis a = {0};
    struct mem_guard guard;
    cholmod.start(&a.common);
    mem_guard_enter(&guard, etree_release, &a);
    a.common.print = 0;
    a.common.error_handler = NULL;
    a.common.nmethods = 1;
    a.common.method[0].ordering = cholmod_orderings[options->ordering];
    a.common.postorder = 1;
    a.common.supernodal = options->relax ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    bool good = make_matrix(&a, order, entries, count);
    if (good)
        a.factor = cholmod.analyze(a.matrix, &a.common);
    good = good && a.factor && a.common.status == CHOLMOD_OK;
    if (good && options->relax)
        take_supernodes(&a);
    else
        good = good && find_fronts(&a, options->assembly);
    if (good)
        add_tasks(b, &a);
    else
        etree_failed(&a, file, "the symbolic factorisation failed", err);
    free(a.fronts);
    mem_guard_leave(&guard);
    etree_release(&a);
    return good;
}
