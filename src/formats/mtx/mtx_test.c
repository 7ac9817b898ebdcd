#include "formats/registry.h"
#include "formats/mtx/etree.h"
#include "formats/testing.h"
#include "base/rng.h"
#include "model/graph.h"

static const struct option_value dag[] = {{"tree", "dag"}, {NULL, NULL}};
static const struct option_value natural[] = {{"ordering", "natural"}, {NULL, NULL}};
static const struct option_value assembly[] = {
    {"tree", "assembly"}, {"ordering", "natural"}, {NULL, NULL}};
static const struct option_value relaxed[] = {{"tree", "assembly"}, {"relax", "yes"}, {NULL, NULL}};

/* ---- an independent symbolic factorisation: a dense table, elimination by the book ---- */

enum { MOST = 40 };

struct factor {
    int n;
    bool filled[MOST][MOST]; /* lower triangle of L */
    int parent[MOST], count[MOST];
};

static void factorise(struct factor *f)
{
    for (int k = 0; k < f->n; k++) {
        for (int i = k + 1; i < f->n; i++) {
            for (int j = k + 1; j <= i; j++)
                f->filled[i][j] |= f->filled[i][k] && f->filled[j][k];
        }
    }
    for (int k = 0; k < f->n; k++) {
        f->parent[k] = -1;
        f->count[k] = 1;
        for (int i = k + 1; i < f->n; i++) {
            f->count[k] += f->filled[i][k];
            if (f->filled[i][k] && f->parent[k] < 0)
                f->parent[k] = i;
        }
    }
}

static uint32_t task_of(const struct workflow *w, int column)
{
    char name[16];
    snprintf(name, sizeof name, "%d", column + 1);
    return workflow_find_task(w, name);
}

static double published_work(double eta, double rest)
{
    return 2.0 / 3 * eta * eta * eta + eta * eta * rest + eta * rest * rest;
}

/* The task's one successor, or -1; *bytes is what it sends. */
static int parent_of(const struct workflow *w, uint32_t t, double *bytes)
{
    *bytes = 0;
    if (w->succ_off[t] == w->succ_off[t + 1])
        return -1;
    uint32_t e = w->succ_off[t];
    if (w->succ_object[e] != NONE)
        *bytes = w->size[w->succ_object[e]];
    const char *name = workflow_task_name(w, w->succ_task[e]);
    return strcmp(name, "root") == 0 ? -1 : atoi(name) - 1;
}

static bool same_elimination_tree(const struct workflow *w, const struct factor *f)
{
    int roots = 0;
    for (int k = 0; k < f->n; k++) {
        double bytes, rest = f->count[k] - 1;
        uint32_t t = task_of(w, k);
        roots += f->parent[k] < 0;
        if (t == NONE || parent_of(w, t, &bytes) != f->parent[k] || bytes != 8 * rest * rest ||
            w->memory[t] != 8 * (1 + 2 * rest) ||
            fabs(w->work[t] - published_work(1, rest)) > 1e-9 * w->work[t])
            return false;
    }
    bool virtual_root = workflow_find_task(w, "root") != NONE;
    return virtual_root == (roots > 1) && w->ntasks == (uint32_t)f->n + virtual_root;
}

/* Supernodes by definition, without consecutive numbers: a column continues its only child when the
 * count falls by one. */
static bool same_assembly_tree(const struct workflow *w, const struct factor *f)
{
    int children[MOST] = {0}, child[MOST], last[MOST], eta[MOST], supernodes = 0;
    for (int k = 0; k < f->n; k++) {
        if (f->parent[k] >= 0) {
            children[f->parent[k]]++;
            child[f->parent[k]] = k;
        }
    }
    int first[MOST]; /* by column: the first column of its supernode */
    for (int k = 0; k < f->n; k++) {
        bool joins = children[k] == 1 && f->count[child[k]] == f->count[k] + 1;
        first[k] = joins ? first[child[k]] : k;
        if (!joins) {
            supernodes++;
            eta[k] = 0;
        }
        eta[first[k]]++;
        last[first[k]] = k;
    }
    for (int k = 0; k < f->n; k++) {
        if (first[k] != k)
            continue;
        double bytes, rest = f->count[last[k]] - 1, e = eta[k];
        uint32_t t = task_of(w, k);
        int parent = f->parent[last[k]];
        if (t == NONE || parent_of(w, t, &bytes) != (parent < 0 ? -1 : first[parent]) ||
            bytes != 8 * rest * rest || w->memory[t] != 8 * (e * e + 2 * e * rest) ||
            fabs(w->work[t] - published_work(e, rest)) > 1e-9 * w->work[t])
            return false;
    }
    return w->ntasks == (uint32_t)supernodes + (workflow_find_task(w, "root") != NONE);
}

static void test_random(void)
{
    struct rng r;
    rng_seed(&r, 11);
    int elimination = 0, assemblies = 0, solves = 0;
    enum { ROUNDS = 300 };
    for (int round = 0; round < ROUNDS; round++) {
        static struct factor f;
        memset(&f, 0, sizeof f);
        f.n = 1 + (int)rng_below(&r, MOST);
        int want = (int)rng_below(&r, (uint64_t)(2 * f.n) + 1), edges = 0;
        bool general = rng_below(&r, 2);
        struct strbuf entries = {0}, text = {0};
        int listed = 0;
        for (int k = 0; k < want; k++) {
            int i = (int)rng_below(&r, (uint64_t)f.n), j = (int)rng_below(&r, (uint64_t)f.n);
            if (!general && i < j)
                continue;
            strbuf_printf(&entries, "%d %d\n", i + 1, j + 1);
            listed++;
            f.filled[i > j ? i : j][i > j ? j : i] |= i != j;
        }
        for (int i = 0; i < f.n; i++) {
            for (int j = 0; j < i; j++)
                edges += f.filled[i][j];
        }
        strbuf_printf(&text, "%%%%MatrixMarket matrix coordinate pattern %s\n%d %d %d\n%s",
                      general ? "general" : "symmetric", f.n, f.n, listed, strbuf_text(&entries));
        struct error err = {0};
        struct workflow *w = general ? NULL : read_text(&format_mtx, strbuf_text(&text), dag, &err);
        solves += general || (w && w->npairs == (uint32_t)edges);
        workflow_free(w);
        factorise(&f);
        w = read_text(&format_mtx, strbuf_text(&text), natural, &err);
        elimination += w && same_elimination_tree(w, &f);
        workflow_free(w);
        w = read_text(&format_mtx, strbuf_text(&text), assembly, &err);
        assemblies += w && same_assembly_tree(w, &f);
        workflow_free(w);
        strbuf_free(&entries);
        strbuf_free(&text);
    }
    is_int(solves, ROUNDS, "random matrices: edges of the triangular solve");
    is_int(elimination, ROUNDS,
           "random matrices: elimination trees and counts as a brute-force factorisation's");
    is_int(assemblies, ROUNDS, "random matrices: assembly trees as the definition's");
}

static void test_features(void)
{
    struct error err = {0};
    /* an arrow: column 4 follows three independent ones */
    static const char arrow[] = "%%MatrixMarket matrix coordinate real symmetric\n% remark\n4 4 "
                                "7\n1 1 9\n2 2 9\n3 3 9\n4 4 9\n"
                                "4 1 -.5\n4 2 1e3\n4 3 nan\n";
    struct workflow *w = read_text(&format_mtx, arrow, natural, &err);
    ok(w && w->ntasks == 4 && graph_tree_shape(w) == TREE_IN,
       "an arrow's elimination tree is a star");
    is_dbl(w->memory[task_of(w, 0)], 24, 0, "memory of a column with two rows");
    is_dbl(w->work[task_of(w, 0)], 2.0 / 3 + 2, 1e-12, "its work");
    uint32_t object = workflow_find_object(w, "1->4");
    ok(object != NONE && w->size[object] == 8, "its contribution");
    workflow_free(w);

    w = read_text(&format_mtx, arrow, dag, &err);
    ok(w && w->npairs == 3, "the solve");
    is_dbl(w->work[task_of(w, 3)], 7, 0, "row 4: three multiply-adds and a division");
    is_dbl(w->memory[task_of(w, 3)], 32, 0, "row 4: four numbers");
    ok(workflow_find_object(w, "x_1") != NONE, "objects are the unknowns");
    workflow_free(w);

    w = read_text(&format_mtx,
                  "%%matrixMARKET MATRIX Coordinate PATTERN Symmetric\n%%GraphBLAS type "
                  "bool\n\n3\t3\t1\n2\t1\n",
                  NULL, &err);
    ok(w && w->ntasks == 4 && workflow_find_task(w, "root") != NONE,
       "any case, tabs; two pieces get a root");
    ok(w && graph_tree_shape(w) == TREE_IN && has_warning(w, "2 pieces"), "so that it is one tree");
    workflow_free(w);
    w = read_text(&format_mtx,
                  "\n%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 0.5 -1\n", NULL,
                  &err);
    ok(w && w->npairs == 1, "a blank first line, complex values, no diagonal");
    workflow_free(w);
    w = read_text(&format_mtx,
                  "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n2 1 3\n1 2 -3\n",
                  NULL, &err);
    ok(w && w->npairs == 1 && has_warning(w, "1 entries above the diagonal"),
       "both triangles stored");
    workflow_free(w);
    w = read_text(&format_mtx,
                  "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 3 1\n2 1 1\n2 3 1\n",
                  dag, &err);
    ok(w && w->npairs == 3 && has_edge(w, "3", "1") && has_edge(w, "1", "2"),
       "triangular but for the numbering: every entry counts");
    workflow_free(w);
    w = read_text(&format_mtx,
                  "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 3 1\n2 1 1\n3 2 1\n",
                  dag, &err);
    ok(w && w->npairs == 2 && has_warning(w, "lower triangle counts (2 of 3"),
       "otherwise the lower triangle");
    workflow_free(w);
    w = read_text(&format_mtx, "%%MatrixMarket matrix coordinate real general\n0 0 0\n", NULL,
                  &err);
    ok(w && w->ntasks == 0, "order 0");
    workflow_free(w);
    w = read_text(&format_mtx, "%%MatrixMarket matrix coordinate pattern general\n2000 2000 0\n",
                  NULL, &err);
    ok(w && w->ntasks == 2001, "hypersparse, of a modest order");
    workflow_free(w);
    ok(format_mtx.sniff("a.txt", "%%MatrixMarket x", 16) == 3 &&
           format_mtx.sniff("a.mm", "1 2", 3) == 2 && format_mtx.sniff("a.txt", "1 2", 3) == 0,
       "recognised by banner or name");
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

static void test_errors(void)
{
    refused(&format_mtx, "", "test-file: the file is empty");
    refused(&format_mtx, "67 67 294\n5 1 -.27\n",
            "test-file:1: no banner; expected '%%MatrixMarket matrix");
    refused(&format_mtx, "%%MatrixMarket mangled coordinate pattern symmetric\n1 1 1\n1 1\n",
            "test-file:1: the banner's object is 'mangled'; expected one of: matrix");
    refused(&format_mtx, "%%MatrixMarket matrix\n1 1 1\n1 1\n",
            "test-file:1: the banner's format is 'missing'");
    refused(&format_mtx, "%%MatrixMarket matrix array pattern symmetric\n1 1\n",
            "test-file:1: 'array pattern' is no Matrix Market format");
    refused(&format_mtx, "%%MatrixMarket matrix array real general\n1 1\n5\n",
            "test-file:1: a dense matrix (array)");
    refused(&format_mtx, "%%MatrixMarket matrix coordinate quaternion general\n",
            "test-file:1: the banner's field is 'quaternion'");
    refused(&format_mtx, "%%MatrixMarket matrix coordinate real odd\n",
            "test-file:1: the banner's symmetry is 'odd'");
    refused(&format_mtx, BANNER "% and then\n% nothing",
            "test-file:3: the file ends before the line 'rows columns entries'");
    refused(&format_mtx, BANNER "3 4 0\n", "test-file:2: the matrix is rectangular, 3 x 4");
    refused(&format_mtx, BANNER "3 3 1000000000000000\n1 1 1\n",
            "test-file:2: 1000000000000000 entries, but the rest of the file holds at most");
    refused(&format_mtx, BANNER "3 3 9223372036854775808\n",
            "test-file:2: number of entries '9223372036854775808'");
    refused(&format_mtx, BANNER "1000000000 1000000000 1\n1 1 1\n",
            "test-file:2: order 1000000000: a task a row");
    refused(&format_mtx, BANNER "100000000 100000000 1\n1 1 1\n",
            "test-file:2: order 100000000 with 1 entries: nearly every row is empty");
    refused(&format_mtx, BANNER "3 3 -1\n", "test-file:2: number of entries -1 is out of range");
    refused(&format_mtx, BANNER "3 3 3\n1 1 1\n2 2 1\n",
            "test-file:4: the file ends after 2 of 3 entries");
    refused(&format_mtx, BANNER "3 3 1\n1 1 1\n2 2 1\n",
            "test-file:4: more lines than the 1 entries");
    refused(&format_mtx, BANNER "3 3 1\n1 4 1\n",
            "test-file:3: column 4 is out of range: expected 1 to 3");
    refused(&format_mtx, BANNER "3 3 1\n0 1 1\n", "test-file:3: row 0 is out of range");
    refused(&format_mtx, BANNER "3 3 1\n3000000000 1 1\n",
            "test-file:3: row 3000000000 is out of range");
    refused(&format_mtx, BANNER "3 3 1\n1 1\n",
            "test-file:3: the line ends before the entry's value");
    refused(&format_mtx, BANNER "3 3 1\n1 1 abc\n", "test-file:3: value 'abc' is not a number");
    refused(&format_mtx, BANNER "3 3 1\n1 1 1 1\n", "test-file:3: '1' is one word too many");
    static const struct option_value bad[][2] = {{{"tree", "oak"}, {NULL, NULL}},
                                                 {{"ordering", "colamd"}, {NULL, NULL}},
                                                 {{"relax", "yes"}, {NULL, NULL}}};
    static const char *const said[] = {"tree=oak: expected one of elimination|assembly|dag",
                                       "ordering=colamd: expected one of amd|metis",
                                       "relax=yes is for tree=assembly"};
    for (int i = 0; i < 3; i++) {
        struct error err = {0};
        ok(!read_text(&format_mtx, BANNER "1 1 0\n", bad[i], &err), "a wrong option");
        has_str(err.text, said[i], "is named");
    }
    survives_cuts(&format_mtx, BANNER "% x\n3 3 4\n1 1 1\n2 1 1\n3 2 -1e5\n3 3 0.5\n");
}

/* Every ordering gives a tree over all columns, AMD's and METIS's with less fill than the natural
 * one on a grid. */
static void test_orderings(void)
{
    enum { SIDE = 20, N = SIDE * SIDE };
    struct strbuf text = {0};
    strbuf_printf(&text, "%%%%MatrixMarket matrix coordinate pattern symmetric\n%d %d %d\n", N, N,
                  2 * SIDE * (SIDE - 1));
    for (int i = 0; i < N; i++) {
        if (i % SIDE)
            strbuf_printf(&text, "%d %d\n", i + 1, i);
        if (i >= SIDE)
            strbuf_printf(&text, "%d %d\n", i + 1, i + 1 - SIDE);
    }
    double work[4], assembled = 0;
    for (int i = 0; etree_ordering_names[i]; i++) {
        const struct option_value options[] = {{"ordering", etree_ordering_names[i]}, {NULL, NULL}};
        struct error err = {0};
        struct workflow *w = read_text(&format_mtx, strbuf_text(&text), options, &err);
        if (!ok(w && w->ntasks == N && graph_tree_shape(w) != TREE_NOT, "%s: a tree of %d columns",
                etree_ordering_names[i], N))
            printf("# %s\n", err.text);
        work[i] = 0;
        for (uint32_t t = 0; w && t < w->ntasks; t++)
            work[i] += w->work[t];
        workflow_free(w);
    }
    ok(work[0] < 0.8 * work[3] && work[1] < 0.9 * work[3] && work[2] < 0.9 * work[3],
       "orderings save work: amd %g, metis %g, nesdis %g, natural %g", work[0], work[1], work[2],
       work[3]);
    struct error err = {0};
    struct workflow *plain =
        read_text(&format_mtx, strbuf_text(&text),
                  (const struct option_value[]){{"tree", "assembly"}, {NULL, NULL}}, &err);
    struct workflow *w = read_text(&format_mtx, strbuf_text(&text), relaxed, &err);
    ok(w && plain && w->ntasks < plain->ntasks && graph_tree_shape(w) == TREE_IN,
       "relax=yes has fewer supernodes (%u < %u)", w ? w->ntasks : 0, plain ? plain->ntasks : 0);
    for (uint32_t t = 0; w && t < w->ntasks; t++)
        assembled += w->work[t];
    ok(assembled >= 0.5 * work[0], "and does not lose work");
    workflow_free(w);
    workflow_free(plain);
    strbuf_free(&text);
}

/* The files that are bad on purpose, and those whose stored entries are not edges of a solve. */
static const struct {
    const char *file, *error;
    long edges;
} special[] = {
    {"mtx/mangled1.mtx", "mangled1.mtx:1: the banner's object is 'mangled'", 0},
    {"mtx/mangled_format.mtx", "mangled_format.mtx:1: 'array pattern' is no Matrix Market format",
     0},
    {"mtx/west0067_noheader.mtx", "west0067_noheader.mtx:1: no banner", 0},
    {"mtx/lp_afiro.mtx", "lp_afiro.mtx:65: the matrix is rectangular, 27 x 51", 0},
    {"mtx/simple.mtx", NULL, 40}, /* both triangles stored: 80 entries, 40 pairs */
    {"mtx/ani1.mtx", NULL, 86},   /* symmetric pattern stored as general: the lower half of 172 */
    {"mtx/west0067.mtx", NULL, 100}, /* unsymmetric, with cycles: the lower triangle of 292 */
    {"mtx/GD98_a.mtx", NULL, 17},    /* the same: of 50 */
};

static void visit(const struct index_row *row)
{
    struct index_row want = *row;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(special[i].file, row->file) != 0)
            continue;
        if (special[i].error) {
            struct error err = {0};
            struct workflow *w = index_read(&format_mtx, row->file, NULL, &err);
            ok(!w && err.kind == ERROR_INPUT, "%s is refused", row->file);
            has_str(err.text, special[i].error, "... and says so");
            workflow_free(w);
            return;
        }
        want.edges = special[i].edges;
    }
    workflow_free(index_expect(&format_mtx, &want, dag));
    struct error err = {0};
    struct workflow *w = index_read(&format_mtx, row->file, NULL, &err);
    bool joined = w && workflow_find_task(w, "root") != NONE;
    ok(w && w->ntasks == row->tasks + joined && graph_tree_shape(w) != TREE_NOT,
       "%s: its elimination tree", row->file);
    struct workflow *fronts = index_read(&format_mtx, row->file, relaxed, &err);
    ok(fronts && fronts->ntasks <= row->tasks + joined && graph_tree_shape(fronts) != TREE_NOT,
       "%s: its assembly tree", row->file);
    workflow_free(w);
    workflow_free(fronts);
}

/* The published elimination trees obey the cost model of etree.h: from memory and edge size follow
 * eta and mu, and from these the work. */
static void visit_published(const struct index_row *row)
{
    FILE *f = fopen(shared_path(row->file), "r");
    double memory, work, size;
    long tasks = 0, wrong = 0;
    while (f && fscanf(f, "%*d %*d %lf %lf %lf", &memory, &work, &size) == 3) {
        double rest = sqrt(size), eta = round(sqrt(size + memory) - rest);
        tasks++;
        wrong += eta * eta + 2 * eta * rest != memory ||
                 fabs(published_work(eta, rest) / 1000 - work) > 1e-9 * (1 + work);
    }
    if (f)
        fclose(f);
    ok(tasks == row->tasks && !wrong, "%s: %ld tasks, %ld with other costs than our model's",
       row->file, tasks, wrong);
}

int main(void)
{
    TAP_DO(test_features());
    TAP_DO(test_errors());
    TAP_DO(test_random());
    TAP_DO(test_orderings());
    index_visit("mtx/", ".mtx", visit);
    index_visit("trees/elim-", ".tree", visit_published);
    return tap_done();
}
