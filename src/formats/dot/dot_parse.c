/* The grammar of DOT, by recursive descent over the tokens of dot_lexer.c: statements, attribute
 * lists, subgraphs, edges between sets of nodes. Attributes that weft does not know are dropped
 * as they are read.
 *
 * A subgraph as an endpoint stands for its nodes. Every mention of a node is pushed on a stack
 * (`members`), so that a subgraph's nodes are those pushed since it began. */
#include "formats/dot/dot_parse.h"
#include "formats/dot/dot_lexer.h"
#include <string.h>

/* A subgraph inside a subgraph takes a stack frame: drawings nest a few deep, and 100 MB of { must
 * not end the program. */
enum { DEEPEST = 200 };
/* {a b c} -> {d e f} is a product: a short text can ask for more edges than any memory holds. */
#define MOST_EDGES ((uint64_t)1 << 28)

/* Defaults set by `node [...]` and `edge [...]`, inherited by subgraphs and lost at their end. */
struct scope {
    struct dot_value node[DOT_ATTRIBUTES], edge[DOT_ATTRIBUTES]; /* defaults */
};

struct endpoint {
    size_t first, last; /* range of members[] */
};

struct parser {
    struct dot_lexer lexer;
    struct dot_token token; /* the next one */
    struct dot_graph *g;
    struct error *err;
    unsigned depth;
    /* Every mention of a node, as a stack: a subgraph's members are those since it began. */
    ARRAY(uint32_t) members;
    ARRAY(uint32_t) seen; /* stamp of a node, to take each once */
    uint32_t stamp;
    ARRAY(struct endpoint)
    chain; /* endpoints of the edge statements that are open, innermost last */
    uint64_t edges_asked;
};

/* "unexpected X; expected Y" at the token's line. */
static bool parser_fail(struct parser *p, const char *what)
{
    const struct dot_token *t = &p->token;
    if (t->type == DOT_END)
        return error_at(p->err, p->lexer.file, t->line, "the file ends too early; expected %s",
                        what);
    char punct[2] = {t->punct, 0};
    const char *text = t->type == DOT_ID      ? t->text
                       : t->type == DOT_ARROW ? "->"
                       : t->type == DOT_LINE  ? "--"
                                              : punct;
    size_t len = t->type == DOT_ID ? t->len : strlen(text);
    return error_at(p->err, p->lexer.file, t->line, "unexpected '%.*s'; expected %s",
                    (int)(len > 60 ? 60 : len), text, what);
}

static bool parser_advance(struct parser *p)
{
    return dot_lexer_next(&p->lexer, &p->token, p->err);
}

static bool at_punct(const struct parser *p, char c)
{
    return p->token.type == DOT_PUNCT && p->token.punct == c;
}

/* DOT_ATTRIBUTES: not one of ours. Linear, but the first letter decides most. */
static uint32_t attribute_of(const char *text, size_t len)
{
    /* clang-format off */
    static const char *const names[DOT_ATTRIBUTES] = {
        [DOT_WORK] = "work",
        [DOT_MEMORY] = "memory",
        [DOT_CORES] = "cores",
        [DOT_KIND] = "kind",
        [DOT_COMMAND] = "command",
        [DOT_CALL] = "call",
        [DOT_SHELL] = "shell",
        [DOT_NEEDS] = "needs",
        [DOT_RESOURCES] = "resources",
        [DOT_RUNGS] = "rungs",
        [DOT_INPUTS] = "inputs",
        [DOT_OUTPUTS] = "outputs",
        [DOT_TEMPORARY_OUTPUTS] = "temporary_outputs",
        [DOT_IN_ORDER] = "in_order",
        [DOT_OUT_ORDER] = "out_order",
        [DOT_TEMPORARY] = "temporary",
        [DOT_NAME] = "weft_name",
        [DOT_OBJECT] = "object",
        [DOT_SIZE] = "size",
        [DOT_ALPHA] = "alpha",
        [DOT_CATEGORY] = "category",
        [DOT_WEIGHT] = "Weight",
        [DOT_START] = "Start time",
        [DOT_PROCESSOR] = "Processor",
        [DOT_WORK_WEIGHT] = "work_weight",
        [DOT_COMM_WEIGHT] = "comm_weight",
        [DOT_MEM_WEIGHT] = "mem_weight",
        [DOT_TYPE] = "type",
        [DOT_LABEL] = "label",
        [DOT_XLABEL] = "xlabel",
        [DOT_SHAPE] = "shape",
        [DOT_STYLE] = "style",
        [DOT_PROCESSORS] = "Number of processors",
        [DOT_LENGTH] = "Total schedule length",
#define DOT_TEXT(name) [DOT_##name] = ("weft_" #name), /* not what others call so */
        TASK_TEXTS(DOT_TEXT)
#undef DOT_TEXT
#define DOT_COLUMN(name, ...) [DOT_##name] = #name,
        TASK_KEYS(COLUMN_SKIP, DOT_COLUMN, DOT_COLUMN)
#undef DOT_COLUMN
    };
    /* clang-format on */
    for (uint32_t i = 0; i < DOT_ATTRIBUTES; i++)
        if (names[i][0] == text[0] && strlen(names[i]) == len && memcmp(names[i], text, len) == 0)
            return i;
    return DOT_ATTRIBUTES;
}

static struct dot_value token_value(const struct dot_token *t)
{
    return (struct dot_value){t->text, (uint32_t)t->len, (uint32_t)t->line};
}

/* What an attribute list is for. */
struct target {
    struct dot_value *table; /* a table to fill (defaults, the graph's own), or */
    uint32_t node;           /* a node whose settings to append, or */
    bool edge;               /* the edge settings to append to */
};

/* Into a table of defaults, or appended to the settings of a node or edge, where the last counts.
 */
static void parser_set_attribute(struct parser *p, const struct target *to, uint32_t attribute,
                                 struct dot_value value)
{
    if (attribute == DOT_ATTRIBUTES)
        return;
    if (to->table)
        to->table[attribute] = value;
    else if (to->edge)
        array_push(&p->g->edge_settings, (struct dot_setting){attribute, 0, value});
    else
        array_push(&p->g->node_settings, (struct dot_setting){attribute, to->node, value});
}

/* [a=1, b="x"; c] [d=2] ... */
static bool attribute_lists(struct parser *p, const struct target *to)
{
    while (at_punct(p, '[')) {
        size_t open = p->token.line;
        if (!parser_advance(p))
            return false;
        while (!at_punct(p, ']')) {
            if (p->token.type == DOT_END)
                return error_at(p->err, p->lexer.file, open,
                                "this attribute list does not end; expected ]");
            if (p->token.type != DOT_ID)
                return parser_fail(p, "the name of an attribute or ]");
            struct dot_token name = p->token;
            if (!parser_advance(p))
                return false;
            struct dot_value value = {"true", 4, (uint32_t)name.line};
            if (at_punct(p, '=')) {
                if (!parser_advance(p))
                    return false;
                if (p->token.type != DOT_ID)
                    return parser_fail(p, "the value of an attribute");
                value = token_value(&p->token);
                if (!parser_advance(p))
                    return false;
            }
            parser_set_attribute(
                p, to, name.len ? attribute_of(name.text, name.len) : DOT_ATTRIBUTES, value);
            if ((at_punct(p, ',') || at_punct(p, ';')) && !parser_advance(p))
                return false;
        }
        if (!parser_advance(p))
            return false;
    }
    return true;
}

/* The node of that id, made on first mention with the defaults of its scope, as Graphviz does. */
static uint32_t mention_node(struct parser *p, const struct scope *scope,
                             const struct dot_token *id)
{
    struct dot_graph *g = p->g;
    uint32_t node = intern_number(&g->ids, id->text, id->len);
    if (node == g->node_line.n) {
        array_push(&g->node_line, (uint32_t)id->line);
        array_push(&p->seen, 0);
        const struct target to = {.node = node};
        for (uint32_t a = 0; a < DOT_ATTRIBUTES; a++)
            if (scope->node[a].text)
                parser_set_attribute(p, &to, a, scope->node[a]);
    }
    array_push(&p->members, node);
    return node;
}

/* Keep each member of the range once. The stack must end with it. */
static void unique_members(struct parser *p, struct endpoint *range)
{
    if (range->last - range->first < 2)
        return;
    if (++p->stamp == 0) {
        memset(p->seen.at, 0, p->seen.n * sizeof *p->seen.at);
        p->stamp = 1;
    }
    size_t to = range->first;
    for (size_t i = range->first; i < range->last; i++) {
        uint32_t node = p->members.at[i];
        if (p->seen.at[node] != p->stamp) {
            p->seen.at[node] = p->stamp;
            p->members.at[to++] = node;
        }
    }
    range->last = p->members.n = to;
}

/* Every node of one end with every node of the other. All edges of a statement share its
 * settings. */
static bool parser_join_ends(struct parser *p, struct endpoint from, struct endpoint to,
                             size_t line, uint32_t first, uint32_t count)
{
    p->edges_asked += (uint64_t)(from.last - from.first) * (to.last - to.first);
    if (p->edges_asked > MOST_EDGES)
        return error_at(p->err, p->lexer.file, line, "more than %llu edges",
                        (unsigned long long)MOST_EDGES);
    for (size_t i = from.first; i < from.last; i++)
        for (size_t k = to.first; k < to.last; k++)
            array_push(&p->g->edges, (struct dot_edge){p->members.at[i], p->members.at[k],
                                                       (uint32_t)line, first, count});
    return true;
}

static bool parse_statements(struct parser *p, struct scope *scope, struct dot_value *graph_table);

/* The parser stands on `subgraph` or `{`. Its members stay on the stack. */
static bool parse_subgraph(struct parser *p, const struct scope *outer)
{
    if (++p->depth > DEEPEST)
        return error_at(p->err, p->lexer.file, p->token.line, "subgraphs nested more than %d deep",
                        DEEPEST);
    if (p->token.keyword == DOT_SUBGRAPH) {
        if (!parser_advance(p))
            return false;
        if (p->token.type == DOT_ID && !parser_advance(p))
            return false;
    }
    if (!at_punct(p, '{'))
        return parser_fail(p, "{");
    size_t open = p->token.line;
    struct scope *inner = mem_new(struct scope, 1);
    *inner = *outer;
    struct dot_value ignored[DOT_ATTRIBUTES]; /* a subgraph's own attributes are about drawing */
    bool good = parser_advance(p) && parse_statements(p, inner, ignored);
    free(inner);
    if (!good)
        return false;
    if (!at_punct(p, '}'))
        return error_at(p->err, p->lexer.file, open, "this { has no matching }");
    p->depth--;
    return parser_advance(p);
}

/* node:port:compass */
static bool skip_ports(struct parser *p)
{
    while (at_punct(p, ':')) {
        if (!parser_advance(p))
            return false;
        if (p->token.type != DOT_ID)
            return parser_fail(p, "the name of a port");
        if (!parser_advance(p))
            return false;
    }
    return true;
}

/* One end of an edge: a node with an optional port, or a subgraph. */
static bool parse_endpoint(struct parser *p, const struct scope *scope, struct endpoint *out)
{
    out->first = p->members.n;
    if (p->token.keyword == DOT_SUBGRAPH || at_punct(p, '{')) {
        if (!parse_subgraph(p, scope))
            return false;
    } else if (p->token.type == DOT_ID && !p->token.keyword) {
        mention_node(p, scope, &p->token);
        if (!parser_advance(p))
            return false;
        if (!skip_ports(p))
            return false;
    } else {
        return parser_fail(p, "a node or a subgraph");
    }
    out->last = p->members.n;
    unique_members(p, out);
    return true;
}

/* a -> {b c} -> d [size=1]. The parser stands behind the first endpoint, on an edge operator. */
static bool edge_statement(struct parser *p, const struct scope *scope, struct endpoint first)
{
    size_t base = p->chain.n, line = p->token.line;
    array_push(&p->chain, first);
    while (p->token.type == DOT_ARROW || p->token.type == DOT_LINE) {
        if (p->token.type == DOT_LINE)
            return error_at(p->err, p->lexer.file, p->token.line,
                            "-- in a directed graph; edges of a digraph are written a -> b");
        if (!parser_advance(p))
            return false;
        struct endpoint next;
        if (!parse_endpoint(p, scope, &next))
            return false;
        array_push(&p->chain, next);
    }
    uint32_t at = (uint32_t)p->g->edge_settings.n;
    const struct target to = {.edge = true};
    for (uint32_t a = 0; a < DOT_ATTRIBUTES; a++)
        if (scope->edge[a].text)
            parser_set_attribute(p, &to, a, scope->edge[a]);
    if (!attribute_lists(p, &to))
        return false;
    uint32_t count = (uint32_t)p->g->edge_settings.n - at;
    for (size_t i = base; i + 1 < p->chain.n; i++)
        if (!parser_join_ends(p, p->chain.at[i], p->chain.at[i + 1], line, at, count))
            return false;
    p->chain.n = base;
    return true;
}

/* One of: defaults, an attribute of the graph, a node, an edge, a subgraph. */
static bool parse_graph_statement(struct parser *p, struct scope *scope,
                                  struct dot_value *graph_table)
{
    enum dot_keyword k = p->token.keyword;
    if (k == DOT_GRAPH || k == DOT_NODE || k == DOT_EDGE) {
        const struct target to = {.table = k == DOT_GRAPH  ? graph_table
                                           : k == DOT_NODE ? scope->node
                                                           : scope->edge};
        if (!parser_advance(p))
            return false;
        if (!at_punct(p, '['))
            return parser_fail(p, "[ and attributes after graph, node or edge");
        return attribute_lists(p, &to);
    }
    struct endpoint first;
    if (p->token.type == DOT_ID && !k) {
        struct dot_token id = p->token;
        if (!parser_advance(p))
            return false;
        if (at_punct(p, '=')) { /* an attribute of the graph */
            if (!parser_advance(p))
                return false;
            if (p->token.type != DOT_ID)
                return parser_fail(p, "the value of an attribute");
            uint32_t a = id.len ? attribute_of(id.text, id.len) : DOT_ATTRIBUTES;
            parser_set_attribute(p, &(struct target){.table = graph_table}, a,
                                 token_value(&p->token));
            return parser_advance(p);
        }
        first.first = p->members.n;
        uint32_t node = mention_node(p, scope, &id);
        first.last = p->members.n;
        if (!skip_ports(p))
            return false;
        if (p->token.type != DOT_ARROW && p->token.type != DOT_LINE)
            return attribute_lists(p, &(struct target){.node = node});
    } else if (!parse_endpoint(p, scope, &first)) {
        return false;
    }
    if (p->token.type == DOT_ARROW || p->token.type == DOT_LINE)
        return edge_statement(p, scope, first);
    return true;
}

static bool parse_statements(struct parser *p, struct scope *scope, struct dot_value *graph_table)
{
    while (p->token.type != DOT_END && !at_punct(p, '}')) {
        if (at_punct(p, ';')) {
            if (!parser_advance(p))
                return false;
            continue;
        }
        if (!parse_graph_statement(p, scope, graph_table))
            return false;
        if (p->depth == 0)
            p->members.n = 0;
    }
    return true;
}

/* The first graph of the text; what follows is only noticed. */
static bool whole_graph(struct parser *p)
{
    if (!parser_advance(p))
        return false;
    if (p->token.type == DOT_END)
        return error_at(p->err, p->lexer.file, 0, "there is nothing in it; expected a digraph");
    if (p->token.keyword == DOT_STRICT) {
        p->g->strict = true;
        if (!parser_advance(p))
            return false;
    }
    if (p->token.keyword == DOT_GRAPH)
        return error_at(
            p->err, p->lexer.file, p->token.line,
            "an undirected graph: its edges do not say which task comes first; expected a digraph");
    if (p->token.keyword != DOT_DIGRAPH)
        return parser_fail(p, "digraph");
    if (!parser_advance(p))
        return false;
    if (p->token.type == DOT_ID) {
        p->g->name = token_value(&p->token);
        if (!parser_advance(p))
            return false;
    }
    if (!at_punct(p, '{'))
        return parser_fail(p, "{");
    size_t open = p->token.line;
    struct scope *top = mem_new_zero(struct scope, 1);
    bool good = parser_advance(p) && parse_statements(p, top, p->g->attribute);
    free(top);
    if (!good)
        return false;
    if (!at_punct(p, '}'))
        return error_at(p->err, p->lexer.file, p->token.line,
                        "the file ends inside the graph that begins on line %zu; expected }", open);
    struct error ignored = {0}; /* what follows is not ours: only note that it is there */
    p->g->more = !dot_lexer_next(&p->lexer, &p->token, &ignored) || p->token.type != DOT_END;
    return true;
}

/* 4 GiB is what 32-bit places and lengths can address. */
bool dot_parse(struct dot_graph *g, const char *file, char *text, size_t length, struct error *err)
{
    *g = (struct dot_graph){0};
    if (length > UINT32_MAX)
        return error_at(err, file, 0, "larger than 4 GiB, the most this reader takes");
    intern_init(&g->ids);
    struct parser p = {.g = g, .err = err};
    dot_lexer_start(&p.lexer, file, text, length);
    bool good = whole_graph(&p);
    array_free(&p.members);
    array_free(&p.seen);
    array_free(&p.chain);
    if (!good)
        dot_graph_free(g);
    return good;
}

void dot_graph_free(struct dot_graph *g)
{
    intern_free(&g->ids);
    array_free(&g->node_line);
    array_free(&g->node_settings);
    array_free(&g->edges);
    array_free(&g->edge_settings);
}

/* A counting sort, stable, so that of equal attributes the last one in the file still comes last.
 */
uint32_t *dot_group_settings(struct dot_graph *g)
{
    size_t nodes = g->node_line.n, n = g->node_settings.n;
    uint32_t *offset = mem_new_zero(uint32_t, nodes + 2);
    for (size_t i = 0; i < n; i++)
        offset[g->node_settings.at[i].node + 2]++;
    for (size_t i = 0; i < nodes; i++)
        offset[i + 2] += offset[i + 1];
    struct dot_setting *sorted = mem_new(struct dot_setting, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        sorted[offset[g->node_settings.at[i].node + 1]++] = g->node_settings.at[i];
    free(g->node_settings.at);
    g->node_settings.at = sorted;
    g->node_settings.cap = n ? n : 1;
    return offset;
}
