/* daggen's own text:
 *
 *     // remarks
 *     NODE_COUNT 366
 *     NODE 0 1,2,3 ROOT 0.0 0.0
 *     NODE 1 44,45 COMPUTATION 368293445632 0.16      id, children, type, cost, alpha
 *     NODE 44 299 TRANSFER 411041792 0.0
 *     NODE 365 - END 0.0 0.0
 *
 * A COMPUTATION is a task, named by its id, its cost the work. A TRANSFER is not a task but the
 * data between its parents and its children: an edge of its cost in bytes. ROOT and END only tie
 * the graph together and are left out. Alpha (the part of the work that more cores do not speed up)
 * has no place in the model. */
#include "base/array.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/scan.h"

#include <stdlib.h>
#include <string.h>

enum node_type { ROOT, COMPUTATION, TRANSFER, END };
static const char *const type_names[] = {"ROOT", "COMPUTATION", "TRANSFER", "END"};

/* A line of the file; children stay in the text until all ids are known. */
struct node {
    int64_t id;
    const char *children; /* the list, in the text; NULL: none */
    size_t length;
    double cost;
    enum node_type type;
    uint32_t task; /* a COMPUTATION's own, a TRANSFER's source; NONE: none */
    uint32_t line;
};

struct daggen {
    struct scan scan;
    struct builder *builder;
    struct error *err;
    int64_t stated; /* NODE_COUNT; -1: none */
    ARRAY(struct node) nodes;
    uint32_t *of_id; /* node by id, NONE: no such node */
};

/* NODE_COUNT is certain, NODE likely, and the suffix alone is a hint. */
static int daggen_sniff(const char *path, const char *text, size_t length)
{
    struct format_source source = {
        .path = path, .text = (char *)text, .length = length < 4096 ? length : 4096};
    struct scan s;
    scan_start(&s, &source, "/");
    const char *word;
    size_t n;
    bool named = scan_has_suffix(path, ".daggen");
    if (!scan_line(&s) || !scan_word(&s, &word, &n))
        return named;
    if (n == 10 && memcmp(word, "NODE_COUNT", 10) == 0)
        return 3;
    return n == 4 && memcmp(word, "NODE", 4) == 0 ? 2 : named;
}

/* The four words of the format; anything else names them. */
static bool read_type(struct daggen *g, enum node_type *out)
{
    const char *word;
    size_t length;
    if (!scan_word(&g->scan, &word, &length))
        return scan_error(&g->scan, g->err, "the line ends before the node's type");
    for (int i = 0; i < 4; i++) {
        if (strlen(type_names[i]) == length && memcmp(type_names[i], word, length) == 0) {
            *out = (enum node_type)i;
            return true;
        }
    }
    return scan_error(&g->scan, g->err,
                      "node type '%.*s' is unknown; expected ROOT, COMPUTATION, TRANSFER or END",
                      length < 40 ? (int)length : 40, word);
}

/* Tasks are made at once; transfers wait for their ends. */
static bool daggen_read_node(struct daggen *g)
{
    struct scan *s = &g->scan;
    struct node node = {.task = NONE, .line = (uint32_t)s->line};
    double alpha = 0;
    if (!scan_integer(s, "node id", 0, INT64_MAX, &node.id, g->err))
        return false;
    if (!scan_word(s, &node.children, &node.length))
        return scan_error(s, g->err, "the line ends before the node's children ('-' for none)");
    if (node.length == 1 && *node.children == '-')
        node.length = 0;
    if (!read_type(g, &node.type) || !scan_number(s, "cost", &node.cost, g->err) ||
        (!scan_line_done(s) && !scan_number(s, "alpha", &alpha, g->err)) ||
        !scan_require_done(s, g->err))
        return false;
    if (node.cost < 0)
        return scan_error(s, g->err, "node %lld: cost %g is negative", (long long)node.id,
                          node.cost);
    if (node.type == COMPUTATION) {
        char name[24];
        size_t length = scan_print_number(name, node.id);
        node.task = builder_task(g->builder, name, length, s->line);
        builder_work(g->builder, node.task, node.cost, s->line);
    }
    array_push(&g->nodes, node);
    return !builder_failed(g->builder);
}

/* NODE_COUNT, where it stands, must agree with the lines: a cut-off file must not pass for a
 * smaller one. */
static bool daggen_read_lines(struct daggen *g)
{
    struct scan *s = &g->scan;
    while (scan_line(s)) {
        const char *word = s->at;
        size_t length = 0;
        scan_word(s, &word, &length);
        if (length == 10 && memcmp(word, "NODE_COUNT", 10) == 0) {
            if (!scan_integer(s, "node count", 0, INT64_MAX, &g->stated, g->err) ||
                !scan_require_done(s, g->err))
                return false;
        } else if (length == 4 && memcmp(word, "NODE", 4) == 0) {
            if (!daggen_read_node(g))
                return false;
        } else {
            return scan_error(s, g->err, "'%.*s' is unknown; expected NODE or NODE_COUNT",
                              length < 40 ? (int)length : 40, word);
        }
    }
    if (!g->nodes.n)
        return scan_error(s, g->err, "no NODE line in the file");
    if (g->stated >= 0 && g->stated != (int64_t)g->nodes.n)
        return scan_error(s, g->err,
                          "the file has %zu NODE lines; NODE_COUNT says %lld. Is it cut off?",
                          g->nodes.n, (long long)g->stated);
    return true;
}

/* Ids are the numbers 0 to n - 1 in any order: an array finds them. */
static bool index_nodes(struct daggen *g)
{
    size_t n = g->nodes.n;
    g->of_id = mem_new(uint32_t, n);
    memset(g->of_id, 0xff, n * sizeof *g->of_id);
    for (size_t i = 0; i < n; i++) {
        const struct node *node = &g->nodes.at[i];
        if (node->id >= (int64_t)n)
            return error_at(g->err, g->scan.file, node->line,
                            "node id %lld is out of range: with %zu node%s, ids are 0 to %zu",
                            (long long)node->id, n, plural(n), n - 1);
        if (g->of_id[node->id] != NONE)
            return error_at(g->err, g->scan.file, node->line,
                            "node %lld is defined twice; the first stands on line %u",
                            (long long)node->id, g->nodes.at[g->of_id[node->id]].line);
        g->of_id[node->id] = (uint32_t)i;
    }
    return true;
}

/* The next child in a comma-separated list; *at moves on. False at the end or after an error. */
static bool next_child(struct daggen *g, const struct node *node, const char **at, uint32_t *child,
                       bool *good)
{
    const char *end = node->children + node->length;
    if (*at >= end)
        return false;
    const char *comma = memchr(*at, ',', (size_t)(end - *at));
    const char *stop = comma ? comma : end;
    int64_t id;
    if (!scan_parse_integer(*at, (size_t)(stop - *at), &id) || id < 0)
        *good = error_at(g->err, g->scan.file, node->line,
                         "node %lld: its children are not a list of ids like '1,2,3'",
                         (long long)node->id);
    else if (id >= (int64_t)g->nodes.n || g->of_id[id] == NONE)
        *good = error_at(g->err, g->scan.file, node->line,
                         "node %lld: its child %lld is not in the file", (long long)node->id,
                         (long long)id);
    else
        *child = g->of_id[id];
    *at = comma ? comma + 1 : end;
    return *good;
}

/* Children of tasks: ordering edges to tasks at once, transfers noted. */
static bool join_tasks(struct daggen *g)
{
    bool good = true;
    for (size_t i = 0; i < g->nodes.n && good; i++) {
        const struct node *node = &g->nodes.at[i];
        const char *at = node->children;
        uint32_t child = 0;
        while (next_child(g, node, &at, &child, &good)) {
            struct node *to = &g->nodes.at[child];
            if (to->type == ROOT || (node->type == TRANSFER && to->type == TRANSFER) ||
                node->type == END)
                good =
                    error_at(g->err, g->scan.file, node->line,
                             "%s node %lld has the %s node %lld as a child", type_names[node->type],
                             (long long)node->id, type_names[to->type], (long long)to->id);
            else if (node->type == COMPUTATION && to->type == COMPUTATION)
                builder_edge(g->builder, node->task, to->task, node->line);
            else if (node->type == COMPUTATION && to->type == TRANSFER && to->task != NONE)
                good = error_at(g->err, g->scan.file, node->line,
                                "TRANSFER node %lld has two parents, %s and %lld; expected one",
                                (long long)to->id, builder_task_name(g->builder, to->task),
                                (long long)node->id);
            else if (node->type == COMPUTATION && to->type == TRANSFER)
                to->task = node->task;
        }
    }
    return good;
}

/* A transfer with several children is one edge to each, of its whole cost. */
static bool join_transfers(struct daggen *g)
{
    bool good = true;
    size_t loose = 0;
    for (size_t i = 0; i < g->nodes.n && good; i++) {
        const struct node *node = &g->nodes.at[i];
        if (node->type != TRANSFER)
            continue;
        const char *at = node->children;
        uint32_t child = 0;
        bool joined = false;
        while (next_child(g, node, &at, &child, &good)) {
            if (node->task == NONE || g->nodes.at[child].type != COMPUTATION)
                continue;
            builder_data_edge(g->builder, node->task, g->nodes.at[child].task, node->cost,
                              node->line);
            joined = true;
        }
        loose += !joined;
    }
    if (good && loose)
        builder_warn(g->builder, 0,
                     "%zu TRANSFER nodes do not lie between two tasks and are left out", loose);
    return good;
}

static struct workflow *daggen_read_workflow(const struct format_source *source, struct error *err)
{
    struct daggen g = {.err = err, .stated = -1, .builder = builder_new(source->path, "daggen")};
    scan_start(&g.scan, source, "/");
    bool good = daggen_read_lines(&g) && index_nodes(&g) && join_tasks(&g) && join_transfers(&g);
    array_free(&g.nodes);
    free(g.of_id);
    return scan_finish(g.builder, good, err);
}

const struct format format_daggen = {
    .name = "daggen",
    .summary = "daggen's NODE text: computations and transfers",
    .suffixes = ".daggen",
    .sniff = daggen_sniff,
    .read_workflow = daggen_read_workflow,
};
