/* Statements to constraints, and their expressions to SQL.
 *
 *    text --lexer--> tokens --find_body--> body --by type--> operands
 *                                                             |  emit_tokens(): to SQL
 *                                                             +--> sql_prepare() checks it
 *                                                             +--> shape_parse(), if it knows it
 *
 * The language is the paper's, section 3.2, as printed, with its looser examples: parameters in any
 * order, commas missing, a body without parentheses. Every mistake is reported at its token. SQLite
 * judges the SQL; its byte offset is led back to the token that wrote it (`pieces`). */
#include "query/constraint.h"
#include "base/suggest.h"
#include <ctype.h>
#include <stdio.h>

/* One text being read. */
struct constraint_parser {
    struct query *q;
    struct lexed *l;
    struct error *err;
    size_t at;
};

enum { MOST_CONSTRAINTS = 1000 };

/* Past the end: the end token, so that looking ahead needs no care. */
static const struct query_token *token_at(const struct constraint_parser *p, size_t index)
{
    size_t last = p->l->tokens.n - 1;
    return &p->l->tokens.at[index < last ? index : last];
}

static bool parser_take(struct constraint_parser *p, const char *word)
{
    if (!token_is(token_at(p, p->at), word))
        return false;
    p->at++;
    return true;
}

/* "expected WHAT, found ..."; always false. */
static bool say_expected(struct constraint_parser *p, size_t index, const char *what)
{
    char found[64];
    return lexed_error(p->l, token_at(p, index), p->err, "expected %s, found %s", what,
                       token_label(p->l, token_at(p, index), found, sizeof found));
}

/* ---- SQL ---- */

/* From this byte on, this token. */
struct parse_piece {
    size_t offset, token;
};

/* SQL being written. */
struct emitter {
    struct constraint_parser *p;
    struct strbuf sql;
    ARRAY(struct parse_piece) pieces; /* which token wrote which byte */
    bool bound; /* a priority or bound: the sum of nothing is 0, not unknown */
};

static bool is_unknown(const struct query_token *t)
{
    return token_is(t, "unknown");
}

/* One token, or two for `= UNKNOWN`; returns how many. */
static size_t emit_token(struct emitter *e, size_t index)
{
    const struct query_token *t = token_at(e->p, index), *next = token_at(e->p, index + 1);
    strbuf_add_char(&e->sql, ' ');
    array_push(&e->pieces, (struct parse_piece){e->sql.n, index});
    if ((token_is(t, "=") || token_is(t, "<>")) && is_unknown(next)) {
        strbuf_add(&e->sql, token_is(t, "=") ? "IS NULL" : "IS NOT NULL");
        return 2;
    }
    if (t->kind == TOKEN_STRING) {
        strbuf_add_char(&e->sql, '\'');
        for (const char *c = t->word; *c; c++) {
            if (*c == '\'')
                strbuf_add_char(&e->sql, '\'');
            strbuf_add_char(&e->sql, *c);
        }
        strbuf_add_char(&e->sql, '\'');
    } else if (e->bound && token_is(t, "sum") && token_is(next, "(")) {
        strbuf_add(&e->sql, "total");
    } else {
        strbuf_add(&e->sql, is_unknown(t) ? "NULL" : t->word);
    }
    return 1;
}

static void emit_tokens(struct emitter *e, size_t first, size_t end)
{
    for (size_t i = first; i < end;)
        i += emit_token(e, i);
}

/* The index after the parenthesis that closes the one at `open`. */
static size_t closing_parenthesis(const struct constraint_parser *p, size_t open, size_t end)
{
    int depth = 0;
    for (size_t i = open; i < end; i++) {
        depth += token_is(token_at(p, i), "(") - token_is(token_at(p, i), ")");
        if (depth == 0)
            return i + 1;
    }
    return end;
}

/* A sub-select begins here. */
static bool opens_select(const struct constraint_parser *p, size_t index)
{
    return token_is(token_at(p, index), "(") &&
           (token_is(token_at(p, index + 1), "select") || token_is(token_at(p, index + 1), "with"));
}

/* Leave out parentheses around everything. */
static void strip_parentheses(const struct constraint_parser *p, size_t *first, size_t *end)
{
    while (*end > *first + 1 && token_is(token_at(p, *first), "(") &&
           closing_parenthesis(p, *first, *end) == *end) {
        ++*first;
        --*end;
    }
}

/* A relation from arithmetic around sub-selects: every sub-select is a table of one column, and the
 * arithmetic runs over their cross product. */
static void emit_relation(struct emitter *e, size_t first, size_t end)
{
    struct constraint_parser *p = e->p;
    size_t inner = first, inner_end = end;
    strip_parentheses(p, &inner, &inner_end);
    if (token_is(token_at(p, inner), "select") || token_is(token_at(p, inner), "with")) {
        emit_tokens(e, inner, inner_end);
        return;
    }
    size_t tables = 0;
    for (int pass = 0; pass < 2; pass++) { /* the tables, then the arithmetic over them */
        size_t table = 0;
        if (pass)
            strbuf_add(&e->sql, " SELECT");
        for (size_t i = first; i < end;) {
            bool kept = i > first && (token_is(token_at(p, i - 1), "in") ||
                                      token_is(token_at(p, i - 1), "exists"));
            if (!opens_select(p, i) || kept) {
                i += pass ? emit_token(e, i) : 1;
                continue;
            }
            size_t close = closing_parenthesis(p, i, end);
            table++;
            if (pass) {
                strbuf_printf(&e->sql, " q%zu.v", table);
            } else {
                strbuf_printf(&e->sql, "%s q%zu(v) AS", table == 1 ? "WITH" : ",", table);
                emit_tokens(e, i, close);
                tables = table;
            }
            i = close;
        }
    }
    for (size_t i = 1; i <= tables; i++)
        strbuf_printf(&e->sql, "%s q%zu", i == 1 ? " FROM" : ",", i);
}

/* SQLite's word for what is wrong, at the token it means, with a suggestion. */
static bool sql_error(struct emitter *e, size_t first, const char *message, int offset)
{
    static const char *const tables[] = {"task", "proc", "dep"};
    size_t index = first;
    for (size_t i = 0; offset >= 0 && i < e->pieces.n; i++)
        if (e->pieces.at[i].offset <= (size_t)offset)
            index = e->pieces.at[i].token;
    /* a column or table that does not exist: the nearest that does */
    const char *near = NULL;
    if (!strncmp(message, "no such column: ", 16)) {
        const char *names[ATTRIBUTES], *column = strrchr(message, '.');
        for (int a = 0; a < ATTRIBUTES; a++)
            names[a] = attribute_table[a].name;
        near = suggest_nearest(column ? column + 1 : message + 16, names, ATTRIBUTES);
    } else if (!strncmp(message, "no such table: ", 15)) {
        near = suggest_nearest(message + 15, tables, 3);
        if (!near)
            return lexed_error(e->p->l, token_at(e->p, index), e->p->err,
                               "%s; expected task, proc or dep", message);
    } else if (strstr(message, "values for 1 columns")) {
        return lexed_error(e->p->l, token_at(e->p, index), e->p->err,
                           "expected one attribute, this sub-select has several: %s", message);
    }
    if (near)
        return lexed_error(e->p->l, token_at(e->p, index), e->p->err, "%s; did you mean '%s'?",
                           message, near);
    return lexed_error(e->p->l, token_at(e->p, index), e->p->err, "%s", message);
}

/* The paper's own slip: `sum(non-local-comm-time from dep)`. SQLite only says "near from"; what to
 * write is known. False: another mistake. */
static bool say_misplaced(struct constraint_parser *p, size_t first, size_t end)
{
    for (size_t i = first; i + 4 < end; i++) {
        const struct query_token *function = token_at(p, i), *attribute = token_at(p, i + 2);
        if (function->kind != TOKEN_WORD || !token_is(token_at(p, i + 1), "(") ||
            attribute->attribute < 0 || !token_is(token_at(p, i + 3), "from"))
            continue;
        lexed_error(p->l, token_at(p, i + 3), p->err,
                    "'from' inside the parentheses of '%s': close them before it, "
                    "%s(%.*s) from %s",
                    function->word, function->word, (int)attribute->length,
                    p->l->text + attribute->at, token_at(p, i + 4)->word);
        return true;
    }
    return false;
}

/* As many rows as it gives, one value, or a number that is evaluated once. */
enum relation_use { USE_RELATION, USE_VALUE, USE_BOUND };

/* Check an expression and make it ready for both ways of evaluation. */
static bool prepare_operand(struct constraint_parser *p, struct operand *o, enum relation_use use)
{
    struct emitter e = {.p = p, .bound = use == USE_BOUND};
    if (o->first >= o->end)
        return say_expected(p, o->first, "an expression");
    size_t first = o->first, end = o->end;
    strip_parentheses(p, &first, &end);
    o->given = true;
    o->unknown = end == first + 1 && is_unknown(token_at(p, first));
    if (use == USE_RELATION) {
        emit_relation(&e, o->first, o->end);
    } else if (token_is(token_at(p, first), "select")) {
        emit_tokens(&e, first, end);
    } else {
        strbuf_add(&e.sql, "SELECT");
        emit_tokens(&e, o->first, o->end);
    }
    char message[512];
    int offset;
    o->statement = sql_prepare(p->q->sql, strbuf_text(&e.sql), message, sizeof message, &offset);
    if (!o->statement && !say_misplaced(p, o->first, o->end))
        sql_error(&e, o->first, message, offset);
    else if (use != USE_BOUND) /* evaluated once */
        o->shape = shape_parse(p->q->relations, p->l, first, end);
    strbuf_free(&e.sql);
    array_free(&e.pieces);
    return o->statement;
}

/* ---- bodies ---- */

/* The six tests, in the order of enum test. */
static bool test_named(const struct query_token *t, enum test *out)
{
    static const char *const signs[] = {"<", "<=", "=", "<>", ">=", ">"};
    for (int i = 0; i < 6; i++)
        if (token_is(t, signs[i])) {
            *out = (enum test)i;
            return true;
        }
    return false;
}

/* priority = N behind the tests of a preference; false: an error. Shortens *end. */
static bool take_priority(struct constraint_parser *p, struct constraint *c, size_t first,
                          size_t *end)
{
    int depth = 0;
    for (size_t i = first; i < *end; i++) {
        depth += token_is(token_at(p, i), "(") - token_is(token_at(p, i), ")");
        if (depth || !token_is(token_at(p, i), "priority") || !token_is(token_at(p, i + 1), "="))
            continue;
        c->priority_text = (struct operand){.first = i + 2, .end = *end};
        *end = i > first && token_is(token_at(p, i - 1), ",") ? i - 1 : i;
        return prepare_operand(p, &c->priority_text, USE_BOUND);
    }
    return true;
}

/* expression test expression, one test outside of parentheses; commas around the test as the
 * signature is printed. */
static bool parse_relationship(struct constraint_parser *p, struct constraint *c, size_t first,
                               size_t end)
{
    size_t at = end, tests = 0;
    int depth = 0;
    c->measures = CONSTRAINT_RELATIONSHIP;
    strip_parentheses(p, &first, &end);
    for (size_t i = first; i < end; i++) {
        enum test test;
        depth += token_is(token_at(p, i), "(") - token_is(token_at(p, i), ")");
        if (depth || !test_named(token_at(p, i), &test))
            continue;
        if (tests++)
            return lexed_error(p->l, token_at(p, i), p->err,
                               "a second test in one relationship: expected one of < <= = <> >= > "
                               "between two expressions; write two constraints");
        at = i;
        c->test = test;
    }
    if (!tests)
        return say_expected(p, end, "a test (< <= = <> >= >) and a second expression");
    size_t left_end = at, right = at + 1;
    if (left_end > first && token_is(token_at(p, left_end - 1), ","))
        left_end--; /* (expression, test, expression) as the signature is printed */
    if (right < end && token_is(token_at(p, right), ","))
        right++;
    c->left = (struct operand){.first = first, .end = left_end};
    c->right = (struct operand){.first = right, .end = end};
    if (!prepare_operand(p, &c->left, USE_RELATION) || !prepare_operand(p, &c->right, USE_RELATION))
        return false;
    bool unknown = c->left.unknown || c->right.unknown;
    if (unknown && c->test != TEST_EQUAL && c->test != TEST_DIFFERENT)
        return lexed_error(p->l, token_at(p, at), p->err,
                           "UNKNOWN can only be tested with = or <>, found %s",
                           token_at(p, at)->word);
    return true;
}

/* `select task-finish-time from task ... order by ...` whose tasks and order do not change from
 * state to state: the same with their ids. It is what times.c reads the order from. */
static void prepare_time_sequence(struct constraint_parser *p, struct constraint *c)
{
    size_t first = c->left.first, end = c->left.end;
    strip_parentheses(p, &first, &end);
    int time = token_at(p, first + 1)->attribute;
    if (!token_is(token_at(p, first), "select") || !token_is(token_at(p, first + 2), "from") ||
        (time != TASK_FINISH_TIME && time != TASK_START_TIME))
        return;
    for (size_t i = first + 2; i < end; i++) {
        int attribute = token_at(p, i)->attribute;
        if (attribute >= 0 && attribute_table[attribute].changes)
            return;
    }
    struct emitter e = {.p = p};
    char message[512];
    int offset;
    strbuf_add(&e.sql, "SELECT task_id");
    emit_tokens(&e, first + 2, end);
    c->sequence = sql_prepare(p->q->sql, strbuf_text(&e.sql), message, sizeof message, &offset);
    c->sequence_starts = time == TASK_START_TIME;
    strbuf_free(&e.sql);
    array_free(&e.pieces);
}

/* (sequence, test). */
static bool parse_ordering(struct constraint_parser *p, struct constraint *c, size_t first,
                           size_t end)
{
    c->measures = CONSTRAINT_ORDERING;
    size_t last = end - 1;
    if (end > first && token_is(token_at(p, last), ")") &&
        closing_parenthesis(p, first, end) == end) {
        first++;
        last--;
    }
    if (end <= first || !test_named(token_at(p, last), &c->test))
        return say_expected(p, end > first ? last : first,
                            "a sequence, a comma and a test (< <= = <> >= >)");
    size_t sequence_end = last;
    if (sequence_end > first && token_is(token_at(p, sequence_end - 1), ","))
        sequence_end--;
    c->left = (struct operand){.first = first, .end = sequence_end};
    if (!prepare_operand(p, &c->left, USE_RELATION))
        return false;
    if (!order_watch_recognise(&c->order, p->l, first, sequence_end, c->test))
        c->order = (struct order_watch){0};
    else
        c->order.active = true;
    prepare_time_sequence(p, c);
    return true;
}

/* Which named parameter begins here; -1: none. */
static int parameter_at(const struct constraint_parser *p, size_t index)
{
    static const char *const names[] = {"opt_type", "priority", "function", "min", "max"};
    for (int i = 0; i < 5; i++)
        if (token_is(token_at(p, index), names[i]) && token_is(token_at(p, index + 1), "="))
            return i;
    return -1;
}

static bool parse_header(struct constraint_parser *p, struct constraint *c);

/* The value function: an expression, or a preference whose failed tests are counted. */
static bool parse_function(struct constraint_parser *p, struct constraint *c, size_t first,
                           size_t end)
{
    size_t inner = first, inner_end = end;
    strip_parentheses(p, &inner, &inner_end);
    if (!token_is(token_at(p, inner), "assert")) {
        c->measures = CONSTRAINT_VALUE;
        c->left = (struct operand){.first = first, .end = end};
        return prepare_operand(p, &c->left, USE_VALUE);
    }
    struct constraint nested = {0};
    size_t back = p->at;
    p->at = inner;
    bool good = parse_header(p, &nested);
    size_t body = p->at;
    p->at = back;
    if (!good)
        return false;
    if (nested.requirement || nested.type == CONSTRAINT_VALUE)
        return say_expected(p, inner,
                            "a relationship or ordering preference as the value function");
    if (nested.type == CONSTRAINT_ORDERING)
        return parse_ordering(p, c, body + token_is(token_at(p, body), "("),
                              inner_end - token_is(token_at(p, body), "("));
    return parse_relationship(p, c, body, inner_end);
}

/* minimize or maximize, also as min and max. */
static bool parse_opt_type(struct constraint_parser *p, struct constraint *c, size_t first,
                           size_t end)
{
    const struct query_token *t = token_at(p, first);
    bool least = token_is(t, "minimize") || token_is(t, "min");
    c->maximize = token_is(t, "maximize") || token_is(t, "max");
    if (end != first + 1 || (!least && !c->maximize))
        return say_expected(p, first, "minimize or maximize");
    return true;
}

/* By number: opt-type, priority, function, min, max. */
static bool parse_parameter(struct constraint_parser *p, struct constraint *c, int which,
                            size_t first, size_t end)
{
    struct operand *operand = which == 1   ? &c->priority_text
                              : which == 3 ? &c->min_text
                                           : &c->max_text;
    if (first >= end)
        return say_expected(p, first, "a value");
    if (which == 0)
        return parse_opt_type(p, c, first, end);
    if (which == 2)
        return parse_function(p, c, first, end);
    *operand = (struct operand){.first = first, .end = end};
    return prepare_operand(p, operand, USE_BOUND);
}

/* opt-type, priority, function, min, max: by name in any order (commas may be missing, as in the
 * paper's first example), or in this order without names. */
static bool parse_preference(struct constraint_parser *p, struct constraint *c, size_t first,
                             size_t end)
{
    unsigned seen = 0;
    /* either all by name or all by position */
    bool named = parameter_at(p, first) >= 0;
    int position = 0;
    c->measures = CONSTRAINT_VALUE;
    for (size_t i = first; i < end; position++) {
        int which = named ? parameter_at(p, i) : position;
        if (which < 0 || which > 4)
            return say_expected(p, i, "opt-type =, priority =, function =, min = or max =");
        if (seen & 1u << which)
            return lexed_error(p->l, token_at(p, i), p->err, "'%s' is given twice",
                               token_at(p, i)->word);
        seen |= 1u << which;
        size_t begin = i + (named ? 2 : 0), stop = begin;
        int depth = 0;
        for (; stop < end; stop++) {
            depth += token_is(token_at(p, stop), "(") - token_is(token_at(p, stop), ")");
            if (depth == 0 &&
                (token_is(token_at(p, stop), ",") || (named && parameter_at(p, stop) >= 0)))
                break;
        }
        if (!parse_parameter(p, c, which, begin, stop))
            return false;
        i = stop + (stop < end && token_is(token_at(p, stop), ","));
    }
    /* bits by parameter: 1 opt-type, 2 priority, 4 function, 8 min, 16 max */
    unsigned needed = c->requirement ? 4 : 4 | 1 | 8 | 16;
    if (!(seen & 4))
        return say_expected(p, end, "function = (the value to judge)");
    if (!(seen & 1) && needed & 1)
        return say_expected(p, end, "opt-type = minimize or maximize");
    if ((seen & 24) != 24 && needed & 8 && c->measures == CONSTRAINT_VALUE)
        return say_expected(p, end, "min = and max = (estimates of the value's bounds)");
    if (c->requirement && !(seen & 24))
        return say_expected(p, end, "min = or max = (the bounds the value must keep)");
    return true;
}

/* assert TYPE IMPORTANCE, in either order. */
static bool parse_header(struct constraint_parser *p, struct constraint *c)
{
    static const char *const words[] = {"relationship", "value",      "ordering",
                                        "order",        "preference", "requirement"};
    if (!parser_take(p, "assert"))
        return say_expected(p, p->at, "'assert'");
    /* one word of each kind, in either order */
    int type = -1, importance = -1;
    while (type < 0 || importance < 0) {
        const struct query_token *t = token_at(p, p->at);
        int which = -1;
        for (int i = 0; i < 6; i++)
            if (token_is(t, words[i]))
                which = i;
        bool is_type = which >= 0 && which < 4;
        if (which < 0 || (is_type ? type >= 0 : importance >= 0)) {
            const char *near = t->kind == TOKEN_WORD ? suggest_nearest(t->word, words, 6) : NULL;
            const char *wanted =
                type < 0 && importance < 0
                    ? "relationship, value or ordering"
                    : (type < 0 ? "relationship, value or ordering" : "requirement or preference");
            if (near && which < 0)
                return lexed_error(p->l, t, p->err, "expected %s, found '%s'; did you mean '%s'?",
                                   wanted, t->word, near);
            return say_expected(p, p->at, wanted);
        }
        if (is_type)
            type = which < 3 ? which : CONSTRAINT_ORDERING;
        else
            importance = which;
        p->at++;
    }
    c->type = (enum constraint_type)type;
    c->requirement = importance == 5;
    return true;
}

/* The statement on one line, for messages. */
static char *statement_on_one_line(const struct constraint_parser *p, size_t first, size_t end)
{
    const struct query_token *a = token_at(p, first), *b = token_at(p, end - 1);
    struct strbuf out = {0};
    bool blank = false;
    for (size_t i = a->at; i < b->at + b->length; i++) {
        char c = p->l->text[i];
        if (c == '-' && p->l->text[i + 1] == '-') {
            while (i < b->at && p->l->text[i] != '\n')
                i++;
            blank = true;
            continue;
        }
        if (isspace((unsigned char)c)) {
            blank = true;
            continue;
        }
        if (blank && out.n)
            strbuf_add_char(&out, ' ');
        blank = false;
        strbuf_add_char(&out, c);
    }
    return strbuf_steal(&out);
}

/* Where the body ends: the matching parenthesis, or without one the next statement. Sets *after. */
static bool find_body(struct constraint_parser *p, size_t *first, size_t *end, size_t *after)
{
    size_t last = p->l->tokens.n - 1, i = p->at;
    int depth = 0;
    bool wrapped = false;
    if (token_is(token_at(p, i), "(")) {
        size_t close = closing_parenthesis(p, i, last);
        const struct query_token *next = token_at(p, close);
        bool closed = token_is(token_at(p, close - 1), ")") && close > i + 1;
        wrapped = next->kind == TOKEN_END || token_is(next, ";") || token_is(next, "assert");
        if (!closed || (close == last && !wrapped))
            wrapped = false;
        if (wrapped) {
            /* closing_parenthesis() also stops at the end of the text: count again */
            int open = 0;
            for (size_t k = i; k < close; k++)
                open += token_is(token_at(p, k), "(") - token_is(token_at(p, k), ")");
            if (open)
                return lexed_error(p->l, token_at(p, i), p->err,
                                   "this '(' is never closed: expected ')'");
            *first = i + 1;
            *end = close - 1;
            *after = close + token_is(next, ";");
            return true;
        }
    }
    /* without parentheses around it, as the paper prints its utilisation example */
    for (; i < last; i++) {
        if (token_is(token_at(p, i), "("))
            depth++;
        if (token_is(token_at(p, i), ")") && --depth < 0)
            return lexed_error(p->l, token_at(p, i), p->err, "this ')' closes nothing");
        if (depth == 0 && (token_is(token_at(p, i), ";") || token_is(token_at(p, i), "assert")))
            break;
    }
    if (depth)
        return lexed_error(p->l, token_at(p, p->at), p->err,
                           "a '(' is never closed after this: expected ')'");
    *first = p->at;
    *end = i;
    *after = i + token_is(token_at(p, i), ";");
    return true;
}

/* One assert. The constraint belongs to the query from the first token on, however far it gets. */
static bool parse_statement(struct constraint_parser *p)
{
    struct query *q = p->q;
    if (q->constraints.n >= MOST_CONSTRAINTS)
        return lexed_error(p->l, token_at(p, p->at), p->err, "more than %d constraints",
                           MOST_CONSTRAINTS);
    size_t begin = p->at, first = 0, end = 0, after = 0;
    struct constraint *c =
        array_add(&q->constraints); /* freed with the query, however far it got */
    c->source = p->l;
    c->line = token_at(p, begin)->line;
    c->column = token_at(p, begin)->column;
    if (!parse_header(p, c) || !find_body(p, &first, &end, &after))
        return false;
    if (first >= end)
        return say_expected(p, first, "the constraint's body");
    c->text = statement_on_one_line(p, begin, after);
    p->at = after;
    for (size_t i = first; i < end; i++)
        if (token_is(token_at(p, i), ";"))
            return say_expected(p, i, "the rest of the constraint");
    if (c->type == CONSTRAINT_VALUE)
        return parse_preference(p, c, first, end);
    if (!c->requirement && !take_priority(p, c, first, &end))
        return false;
    return c->type == CONSTRAINT_ORDERING ? parse_ordering(p, c, first, end)
                                          : parse_relationship(p, c, first, end);
}

bool parse_statements(struct query *q, struct lexed *l, struct error *err)
{
    struct constraint_parser p = {.q = q, .l = l, .err = err};
    while (token_at(&p, p.at)->kind != TOKEN_END) {
        if (parser_take(&p, ";"))
            continue;
        if (!parse_statement(&p))
            return false;
    }
    return true;
}
