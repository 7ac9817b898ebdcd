/* Recognises the common shapes of expressions: a recursive descent over tokens that SQLite has
 * accepted, into nodes of shape_nodes.h. What it does not know makes it give up, which is no error:
 * SQLite evaluates that.
 *
 *    or --> and --> not --> equality --> inequality --> sum --> product --> sign --> primary
 *                                                                                   |
 *                        (select [aggregate(] expression [)] from relation [where or])
 *
 * Conversions between texts and numbers are left to SQLite, whose rules nobody should copy. Depth
 * is bounded by DEEPEST. */
#include "query/shape_nodes.h"
#include "base/mem.h"
#include "base/quantity.h"

/* Where we are. `failed` sticks: every function returns at once after it. */
struct shape_parser {
    struct query_shape *s;
    const struct query_token *at, *end;
    int depth;
    int relation; /* whose attributes may stand here; -1: none */
    bool failed;
};

enum { DEEPEST = 100 };

static int parse_or(struct shape_parser *p);

static int give_up_shape(struct shape_parser *p)
{
    p->failed = true;
    return -1;
}

static bool next_is(const struct shape_parser *p, const char *word)
{
    return p->at < p->end && token_is(p->at, word);
}

static bool shape_take(struct shape_parser *p, const char *word)
{
    if (!next_is(p, word))
        return false;
    p->at++;
    return true;
}

/* A node changes when something below it does. */
static int shape_add_node(struct shape_parser *p, struct shape_node node)
{
    const struct shape_node *nodes = p->s->nodes.at;
    if (p->failed)
        return -1;
    if (node.kind != NODE_SELECT && node.left >= 0) {
        node.changes |= nodes[node.left].changes;
        node.nested |= nodes[node.left].nested;
    }
    if (node.kind != NODE_SELECT && node.right >= 0) {
        node.changes |= nodes[node.right].changes;
        node.nested |= nodes[node.right].nested;
    }
    array_push(&p->s->nodes, node);
    return (int)p->s->nodes.n - 1;
}

static bool node_is_text(const struct shape_parser *p, int node)
{
    return node >= 0 && p->s->nodes.at[node].type == VALUE_TEXT;
}

/* Minus, abs, not, is unknown. */
static int add_unary(struct shape_parser *p, enum node_kind kind, int left)
{
    if (p->failed || (node_is_text(p, left) && kind != NODE_IS_UNKNOWN))
        return give_up_shape(p);
    enum value_kind type =
        kind == NODE_MINUS || kind == NODE_ABS ? p->s->nodes.at[left].type : VALUE_INTEGER;
    return shape_add_node(
        p, (struct shape_node){.kind = kind, .type = type, .left = left, .right = -1});
}

/* Arithmetic, tests, and, or; numbers only, but for tests of two texts. */
static int add_binary(struct shape_parser *p, enum node_kind kind, enum test test, int left,
                      int right)
{
    if (p->failed)
        return -1;
    const struct shape_node *l = &p->s->nodes.at[left], *r = &p->s->nodes.at[right];
    bool text = l->type == VALUE_TEXT || r->type == VALUE_TEXT;
    bool unknown = l->type == VALUE_UNKNOWN || r->type == VALUE_UNKNOWN;
    /* SQLite turns texts into numbers and back by rules that are left to it */
    if (text && !(kind == NODE_TEST && (l->type == r->type || unknown)))
        return give_up_shape(p);
    enum value_kind type = VALUE_INTEGER;
    if (kind >= NODE_ADD && kind <= NODE_DIVIDE && (l->type == VALUE_REAL || r->type == VALUE_REAL))
        type = VALUE_REAL;
    return shape_add_node(
        p, (struct shape_node){
               .kind = kind, .type = type, .test = test, .left = left, .right = right});
}

static int add_constant(struct shape_parser *p, struct value v)
{
    return shape_add_node(
        p, (struct shape_node){
               .kind = NODE_CONSTANT, .type = v.kind, .constant = v, .left = -1, .right = -1});
}

/* Integers up to 2^53 are exact in a double; larger ones are SQLite's. */
static int shape_parse_number(struct shape_parser *p)
{
    const char *word = p->at->word;
    size_t length = strlen(word);
    double real;
    int64_t whole;
    if (strspn(word, "0123456789") == length) {
        if (!quantity_integer(word, length, &whole) || whole > INT64_C(1) << 53)
            return give_up_shape(p);
        p->at++;
        return add_constant(p, value_integer((double)whole));
    }
    char *end;
    real = strtod(word, &end);
    if (*end || !(real < INFINITY))
        return give_up_shape(p);
    p->at++;
    return add_constant(p, value_real(real));
}

/* The condition's top-level `id = expression` (or schedule order): finds the only row at once. */
static void find_lookup(struct query_shape *s, struct select *select)
{
    int node = select->where;
    select->lookup = -1;
    while (node >= 0) {
        const struct shape_node *n = &s->nodes.at[node];
        const struct shape_node *test = n->kind == NODE_AND ? &s->nodes.at[n->right] : n;
        if (test->kind == NODE_TEST && test->test == TEST_EQUAL)
            for (int flip = 0; flip < 2; flip++) {
                int side = flip ? test->right : test->left, other = flip ? test->left : test->right;
                const struct shape_node *a = &s->nodes.at[side], *v = &s->nodes.at[other];
                bool key = a->kind == NODE_ATTRIBUTE &&
                           (a->attribute == TASK_ID || a->attribute == PROC_ID ||
                            a->attribute == DEP_ID || a->attribute == TASK_SCHEDULE_ORDER);
                if (key && (v->kind == NODE_CONSTANT || v->kind == NODE_SELECT)) {
                    select->lookup = other;
                    select->lookup_by = a->attribute;
                    return;
                }
            }
        node = n->kind == NODE_AND ? n->left : -1;
    }
}

/* ROWS: no aggregate of ours. */
static enum aggregate aggregate_named(const struct query_token *t)
{
    static const struct {
        const char *name;
        enum aggregate aggregate;
    } names[] = {{"count", COUNT}, {"sum", SUM}, {"min", MIN}, {"max", MAX}, {"avg", AVG}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (token_is(t, names[i].name))
            return names[i].aggregate;
    return ROWS;
}

static int relation_named(const struct shape_parser *p)
{
    for (int k = 0; k < RELATIONS; k++)
        if (next_is(p, relation_name[k]))
            return k;
    return -1;
}

/* The relation comes after what is selected: look ahead for it. */
static int find_relation(struct shape_parser *p)
{
    const struct query_token *begin = p->at;
    int depth = 0, relation = -1;
    for (; p->at < p->end && relation < 0; p->at++) {
        depth += token_is(p->at, "(") - token_is(p->at, ")");
        if (depth < 0)
            break;
        if (depth == 0 && token_is(p->at, "from")) {
            p->at++;
            relation = p->at < p->end ? relation_named(p) : -1;
            break;
        }
    }
    p->at = begin;
    return relation;
}

/* After `select`, to the end of the sub-select. */
static int parse_select(struct shape_parser *p)
{
    int outer = p->relation;
    struct select select = {.what = -1, .where = -1, .lookup = -1, .inner = outer >= 0};
    int relation = find_relation(p);
    if (relation < 0 || p->s->selects.n >= 64)
        return give_up_shape(p);
    select.relation = (enum relation)relation;
    p->relation = relation;
    /* aggregate(expression), count(*), or an expression for every row */
    if (p->at + 1 < p->end && token_is(p->at + 1, "("))
        select.aggregate = aggregate_named(p->at);
    if (select.aggregate != ROWS) {
        p->at += 2;
        if (select.aggregate == COUNT && shape_take(p, "*"))
            select.aggregate = COUNT_ALL;
        else
            select.what = parse_or(p);
        if (p->failed || !shape_take(p, ")"))
            return give_up_shape(p);
    } else {
        select.what = parse_or(p);
    }
    if (p->failed || !shape_take(p, "from") || relation_named(p) != relation)
        return give_up_shape(p);
    p->at++;
    if (shape_take(p, "where"))
        select.where = parse_or(p);
    p->relation = outer;
    if (p->failed || (p->at < p->end && !next_is(p, ")")))
        return give_up_shape(p);

    /* what is understood of it: sub-selects inside what is selected are not, nor those two deep */
    const struct shape_node *what = select.what >= 0 ? &p->s->nodes.at[select.what] : NULL;
    const struct shape_node *where = select.where >= 0 ? &p->s->nodes.at[select.where] : NULL;
    bool text = what && what->type == VALUE_TEXT;
    if ((what && what->nested) || (text && select.aggregate > COUNT))
        return give_up_shape(p);
    if (select.inner && (select.aggregate == ROWS || (where && where->nested)))
        return give_up_shape(p);
    select.fixed = !where || !where->changes;
    bool changes = (what && what->changes) || !select.fixed;
    select.constant = !changes;
    select.watched = select.aggregate != ROWS && changes && !(where && where->nested);
    /* watched: kept up to date by shape_before() and shape_after() */
    find_lookup(p->s, &select);
    array_push(&p->s->selects, select);
    enum value_kind type = select.aggregate == AVG            ? VALUE_REAL
                           : what && select.aggregate > COUNT ? what->type
                           : what && select.aggregate == ROWS ? what->type
                                                              : VALUE_INTEGER;
    return shape_add_node(p, (struct shape_node){.kind = NODE_SELECT,
                                                 .type = type,
                                                 .changes = changes,
                                                 .nested = true,
                                                 .left = (int)p->s->selects.n - 1,
                                                 .right = -1});
}

/* A constant, an attribute of the relation around, abs(), a sub-select, or parentheses. */
static int parse_primary(struct shape_parser *p)
{
    if (p->failed || p->at >= p->end)
        return give_up_shape(p);
    const struct query_token *t = p->at;
    if (t->kind == TOKEN_NUMBER)
        return shape_parse_number(p);
    if (t->kind == TOKEN_STRING) {
        p->at++;
        array_push(&p->s->texts, mem_copy_string(t->word));
        return add_constant(p, value_text(array_last(&p->s->texts)));
    }
    if (t->attribute >= 0) {
        if (p->relation < 0 || (int)attribute_table[t->attribute].relation != p->relation)
            return give_up_shape(p);
        p->at++;
        return shape_add_node(p,
                              (struct shape_node){.kind = NODE_ATTRIBUTE,
                                                  .type = attribute_table[t->attribute].kind,
                                                  .changes = attribute_table[t->attribute].changes,
                                                  .attribute = (enum attribute)t->attribute,
                                                  .left = -1,
                                                  .right = -1});
    }
    if (shape_take(p, "unknown") || shape_take(p, "null"))
        return add_constant(p, value_unknown());
    if (next_is(p, "abs") && p->at + 1 < p->end && token_is(p->at + 1, "(")) {
        p->at += 2;
        int inner = parse_or(p);
        if (p->failed || !shape_take(p, ")"))
            return give_up_shape(p);
        return add_unary(p, NODE_ABS, inner);
    }
    if (shape_take(p, "(")) {
        int inner = shape_take(p, "select") ? parse_select(p) : parse_or(p);
        if (p->failed || !shape_take(p, ")"))
            return give_up_shape(p);
        return inner;
    }
    return give_up_shape(p);
}

/* Any number of signs before a primary. */
static int parse_sign(struct shape_parser *p)
{
    bool minus = false, any = false;
    while (next_is(p, "-") || next_is(p, "+")) {
        minus ^= next_is(p, "-");
        any = true;
        p->at++;
    }
    int inner = parse_primary(p);
    (void)any;
    return minus ? add_unary(p, NODE_MINUS, inner) : inner;
}

/* Left to right, as SQLite. */
static int parse_product(struct shape_parser *p)
{
    int left = parse_sign(p);
    while (!p->failed && (next_is(p, "*") || next_is(p, "/"))) {
        enum node_kind kind = next_is(p, "*") ? NODE_MULTIPLY : NODE_DIVIDE;
        p->at++;
        int right = parse_sign(p);
        left = add_binary(p, kind, 0, left, right);
    }
    return left;
}

static int parse_sum(struct shape_parser *p)
{
    int left = parse_product(p);
    while (!p->failed && (next_is(p, "+") || next_is(p, "-"))) {
        enum node_kind kind = next_is(p, "+") ? NODE_ADD : NODE_SUBTRACT;
        p->at++;
        int right = parse_product(p);
        left = add_binary(p, kind, 0, left, right);
    }
    return left;
}

static int parse_inequality(struct shape_parser *p)
{
    static const struct {
        const char *sign;
        enum test test;
    } signs[] = {{"<", TEST_LESS}, {"<=", TEST_AT_MOST}, {">=", TEST_AT_LEAST}, {">", TEST_MORE}};
    int left = parse_sum(p);
    for (size_t i = 0; i < 4 && !p->failed;) {
        if (!shape_take(p, signs[i].sign)) {
            i++;
            continue;
        }
        int right = parse_sum(p);
        left = add_binary(p, NODE_TEST, signs[i].test, left, right);
        i = 0;
    }
    return left;
}

/* Also `is null`, `is not null`, and their spelling with UNKNOWN. */
static int parse_equality(struct shape_parser *p)
{
    int left = parse_inequality(p);
    while (!p->failed && (next_is(p, "=") || next_is(p, "<>") || next_is(p, "is"))) {
        bool is = next_is(p, "is"), no = next_is(p, "<>");
        p->at++;
        if (is)
            no = shape_take(p, "not");
        bool unknown = shape_take(p, "unknown") || (is && shape_take(p, "null"));
        if (is && !unknown)
            return give_up_shape(p);
        if (unknown) {
            left = add_unary(p, NODE_IS_UNKNOWN, left);
            left = no ? add_unary(p, NODE_NOT, left) : left;
        } else {
            int right = parse_inequality(p);
            left = add_binary(p, NODE_TEST, no ? TEST_DIFFERENT : TEST_EQUAL, left, right);
        }
    }
    return left;
}

static int parse_not(struct shape_parser *p)
{
    bool no = false;
    while (shape_take(p, "not"))
        no = !no;
    int inner = parse_equality(p);
    return no ? add_unary(p, NODE_NOT, inner) : inner;
}

static int parse_and(struct shape_parser *p)
{
    int left = parse_not(p);
    while (!p->failed && shape_take(p, "and")) {
        int right = parse_not(p);
        left = add_binary(p, NODE_AND, 0, left, right);
    }
    return left;
}

static int parse_or(struct shape_parser *p)
{
    if (++p->depth > DEEPEST)
        return give_up_shape(p);
    int left = parse_and(p);
    while (!p->failed && shape_take(p, "or")) {
        int right = parse_and(p);
        left = add_binary(p, NODE_OR, 0, left, right);
    }
    p->depth--;
    return left;
}

/* NULL is no error: the statement that SQLite prepared is asked instead. */
struct query_shape *shape_parse(struct relations *r, const struct lexed *l, size_t first,
                                size_t end)
{
    struct query_shape *s = mem_new_zero(struct query_shape, 1);
    struct shape_parser p = {
        .s = s, .at = l->tokens.at + first, .end = l->tokens.at + end, .relation = -1};
    s->relations = r;
    s->rows = -1;
    s->root = shape_take(&p, "select") ? parse_select(&p) : parse_or(&p);
    if (p.failed || p.at != p.end) {
        shape_free(s);
        return NULL;
    }
    for (size_t i = 0; i < s->selects.n; i++)
        if (s->selects.at[i].aggregate == ROWS && !s->selects.at[i].inner) {
            s->rows = s->relations_count++ ? -1 : (int)i;
        }
    return s;
}

void shape_free(struct query_shape *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->selects.n; i++) {
        array_free(&s->selects.at[i].rows);
        array_free(&s->selects.at[i].saved);
    }
    for (size_t i = 0; i < s->texts.n; i++)
        free(s->texts.at[i]);
    array_free(&s->texts);
    array_free(&s->selects);
    array_free(&s->nodes);
    free(s);
}

/* ---- what kind of shape it is ---- */

bool shape_is_constant(const struct query_shape *s)
{
    return !s->nodes.at[s->root].changes;
}

enum value_kind shape_kind(const struct query_shape *s)
{
    return s->nodes.at[s->root].type;
}

size_t shape_relations(const struct query_shape *s)
{
    return s->relations_count;
}

/* Then a relationship can be counted row by row as rows change. */
bool shape_by_rows(const struct query_shape *s)
{
    if (s->rows < 0)
        return false;
    const struct select *rows = &s->selects.at[s->rows];
    if (rows->where >= 0 && s->nodes.at[rows->where].nested)
        return false;
    for (size_t i = 0; i < s->selects.n; i++)
        if ((int)i != s->rows && !s->selects.at[i].constant)
            return false;
    return true;
}

enum relation shape_relation(const struct query_shape *s)
{
    return s->selects.at[s->rows].relation;
}

/* Such a requirement is decided by task and processor alone: the search makes a table of it. */
bool shape_is_assignment(const struct query_shape *s)
{
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct shape_node *n = &s->nodes.at[i];
        if (n->kind == NODE_ATTRIBUTE && n->changes && n->attribute != TASK_ASSIGNED_PROC_ID &&
            n->attribute != PROC_TASK_LIST)
            return false;
    }
    return true;
}

/* The root's only select when the root is nothing else. */
static const struct select *only_select(const struct query_shape *s)
{
    const struct shape_node *root = &s->nodes.at[s->root];
    return root->kind == NODE_SELECT ? &s->selects.at[root->left] : NULL;
}

/* What the select takes, if that is an attribute and nothing more. */
static const struct shape_node *only_attribute(const struct query_shape *s,
                                               const struct select *select)
{
    const struct shape_node *what = select->what >= 0 ? &s->nodes.at[select->what] : NULL;
    return what && what->kind == NODE_ATTRIBUTE ? what : NULL;
}

/* Sums, maxima and counts of what only grows, over rows that do not change. */
bool shape_grows(const struct query_shape *s)
{
    const struct select *select = only_select(s);
    if (!select || select->aggregate == ROWS)
        return false;
    const struct shape_node *what = only_attribute(s, select);
    bool counts = select->aggregate == COUNT && what && what->attribute == TASK_ASSIGNED_PROC_ID;
    bool values =
        (select->aggregate == MAX || select->aggregate == SUM || select->aggregate == COUNT) &&
        what && attribute_table[what->attribute].grows;
    return select->fixed && (counts || values);
}

bool shape_lists_times(const struct query_shape *s, bool *starts, const uint32_t **tasks,
                       size_t *count)
{
    const struct select *select = only_select(s);
    const struct shape_node *what = select ? only_attribute(s, select) : NULL;
    if (!what || select->aggregate != ROWS || !select->fixed ||
        (what->attribute != TASK_START_TIME && what->attribute != TASK_FINISH_TIME))
        return false;
    *starts = what->attribute == TASK_START_TIME;
    *tasks = select->rows.at;
    *count = select->rows.n;
    return true;
}

bool shape_is_regular(const struct query_shape *s)
{
    const struct select *select = only_select(s);
    const struct shape_node *what = select ? only_attribute(s, select) : NULL;
    return what && select->fixed &&
           (what->attribute == TASK_START_TIME || what->attribute == TASK_FINISH_TIME ||
            what->attribute == PROC_FINISH_TIME);
}

bool shape_stays(const struct query_shape *s)
{
    for (size_t i = 0; i < s->selects.n; i++)
        if (!s->selects.at[i].constant &&
            (s->selects.at[i].aggregate != ROWS || !s->selects.at[i].fixed))
            return false;
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct shape_node *n = &s->nodes.at[i];
        if (n->kind == NODE_ATTRIBUTE && n->changes && n->attribute != TASK_ASSIGNED_PROC_ID &&
            n->attribute != TASK_START_TIME && n->attribute != TASK_FINISH_TIME &&
            n->attribute != TASK_SCHEDULE_ORDER)
            return false;
    }
    return true;
}

/* The search knows a lower bound for this one. */
bool shape_is_makespan(const struct query_shape *s)
{
    const struct select *select = only_select(s);
    const struct shape_node *what = select ? only_attribute(s, select) : NULL;
    return what && select->aggregate == MAX && select->where < 0 &&
           (what->attribute == TASK_FINISH_TIME || what->attribute == PROC_FINISH_TIME);
}

bool shape_is_scheduled_count(const struct query_shape *s)
{
    const struct select *select = only_select(s);
    if (!select || select->relation != RELATION_TASK)
        return false;
    const struct shape_node *what = only_attribute(s, select);
    if (select->aggregate == COUNT && select->where < 0)
        return what && what->changes && what->attribute != TASK_EXEC_TIME;
    if (select->aggregate != COUNT_ALL && select->aggregate != COUNT)
        return false;
    if (select->aggregate == COUNT && (!what || what->changes))
        return false;
    /* count(*) where task_assigned_proc_id <> UNKNOWN */
    const struct shape_node *where = select->where >= 0 ? &s->nodes.at[select->where] : NULL;
    if (!where || where->kind != NODE_NOT)
        return false;
    const struct shape_node *is = &s->nodes.at[where->left];
    const struct shape_node *of = is->kind == NODE_IS_UNKNOWN ? &s->nodes.at[is->left] : NULL;
    return of && of->kind == NODE_ATTRIBUTE && of->changes && of->attribute != TASK_EXEC_TIME;
}

/* Up to 64 fixed rows are as good as none; processors are few. */
bool shape_scans(const struct query_shape *s)
{
    for (size_t i = 0; i < s->selects.n; i++) {
        const struct select *select = &s->selects.at[i];
        if (select->constant || select->watched || select->lookup >= 0)
            continue;
        if (select->relation != RELATION_PROC && !(select->fixed && select->rows.n < 64))
            return true;
    }
    return false;
}
