/* Matrix Market: a sparse matrix as a task graph. What graph, and by which ordering, are options:
 *
 *     tree=elimination   a task a column of the Cholesky factor, an in-tree (default)
 *     tree=assembly      a task a fundamental supernode; with relax=yes, amalgamated as CHOLMOD does
 *                        by default
 *     tree=dag           the sparse triangular solve L x = b: a task a row
 *
 * Only the pattern counts. A general matrix is taken as A + A' for the trees. This file reads the
 * entries; etree.c makes trees of them. */
#include "base/array.h"
#include "formats/mtx/etree.h"
#include "formats/format.h"
#include "formats/scan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A task is made for each row. Matrices with next to no entries for their order would make millions
 * of unconnected tasks from a file of a few bytes: beyond this order they must have an entry for
 * every 16 rows. */
enum { ORDER_ANYHOW = 100000, MOST_ORDER = 1 << 27, ROWS_PER_ENTRY = 16 };

/* A matrix being read; of its entries only the places are kept. */
struct mtx {
    struct scan scan;
    struct builder *builder;
    struct error *err;
    bool symmetric; /* also skew-symmetric and hermitian: one triangle stored */
    int values;     /* numbers after the two indices: 0, 1, 2 */
    int64_t order, nentries;
    ARRAY(struct etree_entry) entries; /* off the diagonal, 0-based */
    size_t above;                      /* entries above the diagonal of a symmetric matrix */
};

/* Without the banner the suffix still claims it, so that the error can say what is missing. */
static int mtx_sniff(const char *path, const char *text, size_t length)
{
    while (length && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t'))
        text++, length--;
    if (length >= 14 && strncasecmp(text, "%%MatrixMarket", 14) == 0)
        return 3;
    return scan_has_suffix(path, ".mtx") || scan_has_suffix(path, ".mm") ? 2 : 0;
}

/* ---- reading ---- */

/* Words of the banner, in any case; the error lists what is allowed. */
static bool next_word_is_one_of(struct mtx *m, const char *what, const char *const *words,
                                int *which)
{
    const char *word;
    size_t length;
    struct strbuf expected = {0};
    bool there = scan_word(&m->scan, &word, &length);
    for (int i = 0; words[i]; i++) {
        if (there && strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0) {
            *which = i;
            strbuf_free(&expected);
            return true;
        }
        strbuf_printf(&expected, "%s%s", i ? ", " : "", words[i]);
    }
    scan_error(&m->scan, m->err, "the banner's %s is '%.*s'; expected one of: %s", what,
               there ? (length < 40 ? (int)length : 40) : 7, there ? word : "missing",
               strbuf_text(&expected));
    strbuf_free(&expected);
    return false;
}

/* %%MatrixMarket object format field symmetry */
static bool read_banner(struct mtx *m)
{
    static const char *const objects[] = {"matrix", NULL};
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const fields[] = {"real", "double", "integer", "complex", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian",
                                             NULL};
    struct scan *s = &m->scan;
    /* blank lines may stand before the banner, remarks may not */
    do {
        if (!scan_any_line(s))
            return scan_error(
                s, m->err, "the file is empty; expected '%%%%MatrixMarket matrix coordinate ...'");
    } while (scan_line_done(s));
    const char *word = "";
    size_t length = 0;
    int which, format, field, symmetry;
    scan_word(s, &word, &length);
    if (length != 14 || strncasecmp(word, "%%MatrixMarket", 14) != 0)
        return scan_error(
            s, m->err,
            "no banner; expected '%%%%MatrixMarket matrix coordinate real symmetric' or the "
            "like as the first line");
    if (!next_word_is_one_of(m, "object", objects, &which) ||
        !next_word_is_one_of(m, "format", formats, &format) ||
        !next_word_is_one_of(m, "field", fields, &field) ||
        !next_word_is_one_of(m, "symmetry", symmetries, &symmetry) || !scan_require_done(s, m->err))
        return false;
    if (format == 1)
        return scan_error(
            s, m->err,
            field == 4 ? "'array pattern' is no Matrix Market format; expected 'coordinate'"
                       : "a dense matrix (array): every entry is there, so it has no pattern "
                         "to make a graph of; expected 'coordinate'");
    /* a pattern has no values, a complex number two */
    m->values = field == 4 ? 0 : field == 3 ? 2 : 1;
    m->symmetric = symmetry != 0;
    return true;
}

/* Counts are checked against the size of the file before anything is allocated by them. */
static bool read_sizes(struct mtx *m)
{
    struct scan *s = &m->scan;
    int64_t columns;
    if (!scan_line(s))
        return scan_error(s, m->err,
                          "the file ends before the line 'rows columns entries'; is it cut off?");
    if (!scan_integer(s, "number of rows", 0, INT64_MAX, &m->order, m->err) ||
        !scan_integer(s, "number of columns", 0, INT64_MAX, &columns, m->err) ||
        !scan_integer(s, "number of entries", 0, INT64_MAX, &m->nentries, m->err) ||
        !scan_require_done(s, m->err))
        return false;
    if (m->order != columns)
        return scan_error(s, m->err,
                          "the matrix is rectangular, %lld x %lld; a task graph needs a square one",
                          (long long)m->order, (long long)columns);
    /* The shortest entry, "1 1" and a newline, has 4 bytes. */
    int64_t room = (int64_t)(s->end - s->next_line) / 4 + 1;
    if (m->nentries > room)
        return scan_error(
            s, m->err, "%lld entries, but the rest of the file holds at most %lld; is it cut off?",
            (long long)m->nentries, (long long)room);
    if (m->order > MOST_ORDER)
        return scan_error(s, m->err, "order %lld: a task a row would be more than %d tasks",
                          (long long)m->order, MOST_ORDER);
    if (m->order > ORDER_ANYHOW && m->order / ROWS_PER_ENTRY > m->nentries)
        return scan_error(
            s, m->err,
            "order %lld with %lld entries: nearly every row is empty, and each would be a "
            "task. Leave the empty rows and columns out of the matrix",
            (long long)m->order, (long long)m->nentries);
    return true;
}

/* Values do not count, but must be there and be numbers; a matrix may well hold NaN. */
static bool skip_value(struct mtx *m)
{
    struct scan *s = &m->scan;
    const char *word;
    size_t length;
    double value;
    if (!scan_word(s, &word, &length))
        return scan_error(s, m->err, "the line ends before the entry's value");
    if (scan_parse_number(word, length, &value))
        return true;
    const char *p = word + (*word == '-' || *word == '+');
    size_t rest = length - (size_t)(p - word);
    if ((rest == 3 && (strncasecmp(p, "nan", 3) == 0 || strncasecmp(p, "inf", 3) == 0)) ||
        (rest == 8 && strncasecmp(p, "infinity", 8) == 0))
        return true;
    return scan_error(s, m->err, "value '%.*s' is not a number", length < 40 ? (int)length : 40,
                      word);
}

/* The diagonal is dropped: every row has its own task anyway. */
static bool mtx_read_entries(struct mtx *m)
{
    struct scan *s = &m->scan;
    array_reserve(&m->entries, (size_t)m->nentries);
    for (int64_t i = 0; i < m->nentries; i++) {
        int64_t row, column;
        if (!scan_line(s))
            return scan_error(s, m->err, "the file ends after %lld of %lld entries; is it cut off?",
                              (long long)i, (long long)m->nentries);
        if (!scan_integer(s, "row", 1, m->order, &row, m->err) ||
            !scan_integer(s, "column", 1, m->order, &column, m->err))
            return false;
        for (int k = 0; k < m->values; k++) {
            if (!skip_value(m))
                return false;
        }
        if (!scan_require_done(s, m->err))
            return false;
        m->above += m->symmetric && column > row;
        if (row != column)
            array_push(&m->entries, (struct etree_entry){(uint32_t)row - 1, (uint32_t)column - 1});
    }
    if (scan_line(s))
        return scan_error(s, m->err, "more lines than the %lld entries that the size line says",
                          (long long)m->nentries);
    return true;
}

/* ---- the triangular solve ---- */

/* Sort by (row, column) and drop repeated entries: two passes of counting sort, linear. Returns how
 * many were dropped. */
static size_t sort_entries(struct mtx *m)
{
    size_t n = (size_t)m->order, count = m->entries.n;
    struct etree_entry *from = m->entries.at, *to = mem_new(struct etree_entry, count);
    size_t *start = mem_new(size_t, n + 1);
    for (int pass = 0; pass < 2; pass++) {
        memset(start, 0, (n + 1) * sizeof *start);
        for (size_t i = 0; i < count; i++)
            start[(pass ? from[i].row : from[i].column) + 1]++;
        for (size_t i = 0; i < n; i++)
            start[i + 1] += start[i];
        for (size_t i = 0; i < count; i++)
            to[start[pass ? from[i].row : from[i].column]++] = from[i];
        struct etree_entry *swap = from;
        from = to;
        to = swap;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!kept || from[i].row != from[kept - 1].row || from[i].column != from[kept - 1].column)
            from[kept++] = from[i];
    }
    m->entries.at = from; /* after two passes, the array that the entries own */
    m->entries.n = kept;
    free(to);
    free(start);
    return count - kept;
}

/* Do all entries, as edges column -> row, make a graph without cycles? Then the matrix is
 * triangular but for its numbering. */
static bool matrix_is_acyclic(const struct mtx *m)
{
    size_t n = (size_t)m->order, count = m->entries.n, ready = 0;
    const struct etree_entry *e = m->entries.at;
    uint32_t *waiting = mem_new_zero(uint32_t, n), *queue = mem_new(uint32_t, n);
    size_t *start = mem_new_zero(size_t, n + 2);
    uint32_t *rows = mem_new(uint32_t, count);
    for (size_t i = 0; i < count; i++) {
        start[e[i].column + 2]++;
        waiting[e[i].row]++;
    }
    for (size_t i = 1; i <= n; i++)
        start[i + 1] += start[i];
    for (size_t i = 0; i < count; i++)
        rows[start[e[i].column + 1]++] = e[i].row;
    for (uint32_t i = 0; i < n; i++) {
        if (!waiting[i])
            queue[ready++] = i;
    }
    for (size_t done = 0; done < ready; done++) {
        for (size_t k = start[queue[done]]; k < start[queue[done] + 1]; k++) {
            if (--waiting[rows[k]] == 0)
                queue[ready++] = rows[k];
        }
    }
    free(waiting);
    free(queue);
    free(start);
    free(rows);
    return ready == n;
}

/* Row i computes x_i = (b_i - sum of a_ij x_j) / a_ii: work 2 operations an off-diagonal entry and
 * one division; memory 8 bytes for each entry of the row with its diagonal; it makes the object
 * "x_i" of 8 bytes, which every row with an entry in column i reads. Names are the row numbers of
 * the file. */
static void build_solve(struct mtx *m)
{
    struct builder *b = m->builder;
    if (m->symmetric) {
        for (size_t i = 0; i < m->entries.n; i++) {
            struct etree_entry *e = &m->entries.at[i];
            if (e->column > e->row)
                *e = (struct etree_entry){e->column, e->row};
        }
    }
    /* both triangles of a symmetric matrix name the same pair */
    size_t repeated = sort_entries(m);
    if (m->symmetric && m->above)
        builder_warn(b, 0,
                     "%zu entries above the diagonal of a symmetric matrix: each pair counts once",
                     m->above);
    else if (repeated)
        builder_warn(b, 0, "%zu repeated entries count once", repeated);
    if (!m->symmetric && !matrix_is_acyclic(m)) {
        size_t lower = 0, all = m->entries.n;
        for (size_t i = 0; i < all; i++) {
            if (m->entries.at[i].column < m->entries.at[i].row)
                m->entries.at[lower++] = m->entries.at[i];
        }
        m->entries.n = lower;
        builder_warn(
            b, 0,
            "not a triangular matrix, however numbered: only its lower triangle counts (%zu of %zu "
            "entries off the diagonal)",
            lower, all);
    }
    size_t n = (size_t)m->order, entry = 0;
    builder_expect(b, n, m->entries.n);
    char name[32];
    for (size_t row = 0; row < n; row++) {
        size_t length = scan_print_number(name, (int64_t)(row + 1));
        uint32_t task = builder_task(b, name, length, 0);
        size_t first = entry;
        while (entry < m->entries.n && m->entries.at[entry].row == row)
            entry++;
        builder_work(b, task, 2.0 * (double)(entry - first) + 1, 0);
        builder_memory(b, task, 8.0 * (double)(entry - first + 1), 0);
    }
    /* an object for each x_j that somebody reads, made at its first reader */
    uint32_t *object = mem_new(uint32_t, n);
    memset(object, 0xff, n * sizeof *object);
    for (size_t i = 0; i < m->entries.n; i++) {
        uint32_t from = m->entries.at[i].column;
        if (object[from] == NONE) {
            name[0] = 'x';
            name[1] = '_';
            object[from] =
                builder_object(b, name, 2 + scan_print_number(name + 2, (int64_t)from + 1));
            builder_size(b, object[from], 8, 0);
            builder_produces(b, from, object[from], 0);
        }
        builder_consumes(b, m->entries.at[i].row, object[from], 0);
    }
    free(object);
}

/* ---- options ---- */

/* The number of the value that was given; the first is the default. */
static int choose_option(const struct format_source *source, const char *name,
                         const char *const *values)
{
    const char *given = format_option(source, name);
    for (int i = 0; given && values[i]; i++)
        if (strcmp(given, values[i]) == 0)
            return i;
    return 0;
}

static bool mtx_read_all(struct mtx *m, const struct format_source *source)
{
    static const char *const trees[] = {"elimination", "assembly", "dag", NULL};
    static const char *const relaxes[] = {"no", "yes", NULL};
    int tree = choose_option(source, "tree", trees);
    int relax = choose_option(source, "relax", relaxes);
    int ordering = choose_option(source, "ordering", etree_ordering_names);
    if (relax && tree != 1)
        return error_set(m->err, ERROR_INPUT, "option relax=yes is for tree=assembly only");
    scan_start(&m->scan, source, "%");
    if (!read_banner(m) || !read_sizes(m) || !mtx_read_entries(m))
        return false;
    if (tree == 2) {
        build_solve(m);
        return true;
    }
    if (m->symmetric && m->above)
        builder_warn(m->builder, 0,
                     "%zu entries above the diagonal of a symmetric matrix: each pair counts once",
                     m->above);
    struct etree_options options = {
        .ordering = ordering, .assembly = tree == 1, .relax = relax == 1};
    return etree_build(m->builder, (size_t)m->order, m->entries.at, m->entries.n, &options,
                       source->path, m->err);
}

static struct workflow *mtx_read_workflow(const struct format_source *source, struct error *err)
{
    struct mtx m = {.err = err, .builder = builder_new(source->path, "matrix-market")};
    bool good = mtx_read_all(&m, source);
    array_free(&m.entries);
    return scan_finish(m.builder, good, err);
}

static const struct option mtx_options[] = {
    {"tree", OPTION_CHOICE, "elimination", "elimination|assembly|dag", 0, 0,
     "a task a column, a supernode, or a row of the solve"},
    {"ordering", OPTION_CHOICE, "amd", "amd|metis|nesdis|natural", 0, 0,
     "fill-reducing ordering before the factorisation"},
    {"relax", OPTION_CHOICE, "no", "no|yes", 0, 0, "assembly tree amalgamated as CHOLMOD does"},
    {0},
};

const struct format format_mtx = {
    .name = "mtx",
    .summary =
        "Matrix Market: elimination tree, assembly tree or triangular solve of a sparse matrix",
    .suffixes = ".mtx .mm",
    .sniff = mtx_sniff,
    .read_workflow = mtx_read_workflow,
    .options = mtx_options,
};
