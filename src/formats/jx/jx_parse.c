/* JX texts to trees: recursive descent, bounded by JX_DEPTH; operators of one precedence are one
 * node, however many they are. Stores of nodes stand here, too.
 *
 *     expression   chains of level 4 (or), 3 (and), 2 (== < ...), 1 (+ -), 0 (* / %)
 *     chain        one level below, operators of this level between                 parse_chain()
 *     sign         - + not !, any number of them                                    parse_sign()
 *     postfix      an atom, then [index], [from:to], .function(...)                 parse_postfix()
 *     atom         "text" 12 1.5 true name name(...) [...] {...} (expression)       parse_atom()
 *     item of []   an expression, then `for x in list if condition`, up to 16 times parse_clauses()
 *
 * The depth is counted in parse_sign(), which every way down passes. */
#include "formats/jx/jx.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the store ---- */

enum { JX_CHUNK = 1 << 16 };

void *jx_store_take(struct jx_store *s, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    if (!s->chunks.n || s->size - s->used < bytes) {
        s->size = bytes > JX_CHUNK ? bytes : JX_CHUNK;
        s->used = 0;
        array_push(&s->chunks, mem_new(char, s->size));
    }
    void *at = array_last(&s->chunks) + s->used;
    s->used += bytes;
    return at;
}

void jx_store_free(struct jx_store *s)
{
    for (size_t i = 0; i < s->chunks.n; i++)
        free(s->chunks.at[i]);
    array_free(&s->chunks);
    *s = (struct jx_store){0};
}

bool jx_room(const struct jx_store *s, uint64_t nodes)
{
    return nodes <= JX_NODES_MOST - s->nodes;
}

struct jx_node *jx_new(struct jx_store *s, enum jx_type type, uint32_t line)
{
    if (!jx_room(s, 1))
        return NULL;
    s->nodes++;
    struct jx_node *v = jx_store_take(s, sizeof *v);
    *v = (struct jx_node){.type = (uint8_t)type, .line = line};
    return v;
}

struct jx_node *jx_string(struct jx_store *s, const char *text, size_t n, uint32_t line)
{
    if (n > JX_TEXT_MOST - s->text)
        return NULL;
    struct jx_node *v = jx_new(s, JX_STRING, line);
    if (!v)
        return NULL;
    s->text += n;
    char *copy = jx_store_take(s, n + 1);
    memcpy(copy, text, n);
    copy[n] = 0;
    v->text = copy;
    v->n = (uint32_t)n;
    return v;
}

/* ---- words ---- */

struct jx_parser {
    struct jx_store *store;
    const char *file, *p, *end;
    uint32_t line;
    int depth;
    bool bare_not; /* what was read last is `not x` without parentheses */
    struct error *err;
};

typedef const struct jx_node *jx_tree;

enum { JX_LEVELS = 5 }; /* of precedence */
static jx_tree parse_chain(struct jx_parser *s, int level);
#define parse_expression(s) parse_chain((s), JX_LEVELS - 1)

/* Always NULL, and so is the next. */
static jx_tree parse_error(const struct jx_parser *s, const char *what)
{
    error_at(s->err, s->file, s->line - s->store->base, "%s", what);
    return NULL;
}

static jx_tree parse_full(const struct jx_parser *s)
{
    error_at(s->err, s->file, s->line - s->store->base,
             "the text is too large: more than %d values", JX_NODES_MOST);
    return NULL;
}

/* Blanks and remarks. */
static void skip_blanks(struct jx_parser *s)
{
    while (s->p < s->end) {
        if (*s->p == '#')
            while (s->p < s->end && *s->p != '\n')
                s->p++;
        else if (*s->p == '\n' || isspace((unsigned char)*s->p))
            s->line += *s->p++ == '\n';
        else
            return;
    }
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Of the name or word that begins here; 0: none does. */
static size_t word_length(const struct jx_parser *s)
{
    const char *p = s->p;
    if (p >= s->end || isdigit((unsigned char)*p))
        return 0;
    while (p < s->end && is_word_char(*p))
        p++;
    return (size_t)(p - s->p);
}

/* Is this word next, and not a longer one that begins with it? Then it is passed. */
static bool next_word(struct jx_parser *s, const char *word)
{
    skip_blanks(s);
    size_t n = word_length(s);
    if (n != strlen(word) || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool next_char(struct jx_parser *s, char c)
{
    skip_blanks(s);
    if (s->p >= s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

/* ---- strings and numbers ---- */

static bool parse_hex(struct jx_parser *s, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, s->p++) {
        if (s->p >= s->end || !isxdigit((unsigned char)*s->p))
            return false;
        char c = *s->p;
        *code = *code * 16 + (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
}

/* Texts are UTF-8 inside, however they were written. */
static void add_utf8(struct strbuf *out, uint32_t c)
{
    if (c >= 0x10000) {
        strbuf_add_char(out, (char)(0xF0 | c >> 18));
        strbuf_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
        strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
    } else if (c >= 0x800) {
        strbuf_add_char(out, (char)(0xE0 | c >> 12));
        strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
    } else if (c >= 0x80) {
        strbuf_add_char(out, (char)(0xC0 | c >> 6));
    }
    strbuf_add_char(out, (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c));
}

/* \u0041, and a pair of them for what lies past 16 bits. */
static bool parse_unicode(struct jx_parser *s, struct strbuf *out)
{
    uint32_t c, low;
    if (!parse_hex(s, &c) || c == 0 || (c >= 0xDC00 && c < 0xE000))
        return false;
    if (c >= 0xD800 && c < 0xDC00) {
        if (s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u')
            return false;
        s->p += 2;
        if (!parse_hex(s, &low) || low < 0xDC00 || low >= 0xE000)
            return false;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    add_utf8(out, c);
    return true;
}

/* After the backslash. Makeflow lets unknown ones pass as their letter; they are slips. */
static bool parse_escape(struct jx_parser *s, struct strbuf *out)
{
    static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
    if (s->p >= s->end)
        return false;
    char c = *s->p++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known)
        strbuf_add_char(out, to[known - from]);
    return known || (c == 'u' && parse_unicode(s, out));
}

/* After the quote. */
static jx_tree parse_string(struct jx_parser *s)
{
    struct strbuf text = {0};
    uint32_t line = s->line;
    while (s->p < s->end && *s->p != '"') {
        if (*s->p == '\\') {
            s->p++;
            if (!parse_escape(s, &text)) {
                strbuf_free(&text);
                return parse_error(s, "an escape that means nothing; expected \\n, \\t, \\\", "
                                      "\\\\, \\/ or \\u and four digits");
            }
            continue;
        }
        s->line += *s->p == '\n';
        strbuf_add_char(&text, *s->p++);
    }
    if (s->p >= s->end) {
        strbuf_free(&text);
        s->line = line;
        return parse_error(s, "a string that does not end; expected a \"");
    }
    s->p++;
    jx_tree v = jx_string(s->store, strbuf_text(&text), text.n, line);
    strbuf_free(&text);
    return v ? v : parse_full(s);
}

/* 12, 1.5, .5, 1e3: what is written with a point or an exponent is a double. */
static jx_tree parse_number(struct jx_parser *s)
{
    const char *start = s->p;
    bool whole = true;
    while (s->p < s->end &&
           (isdigit((unsigned char)*s->p) || *s->p == '.' || ((*s->p | 32) == 'e') ||
            ((*s->p == '+' || *s->p == '-') && (s->p[-1] | 32) == 'e'))) {
        whole &= isdigit((unsigned char)*s->p) != 0;
        s->p++;
    }
    char text[64], *stop;
    size_t n = (size_t)(s->p - start);
    if (n >= sizeof text || (s->p < s->end && is_word_char(*s->p)))
        return parse_error(s, "a number that is none");
    memcpy(text, start, n);
    text[n] = 0;
    struct jx_node *v = jx_new(s->store, whole ? JX_INTEGER : JX_NUMBER, s->line);
    if (!v)
        return parse_full(s);
    errno = 0;
    if (whole)
        v->integer = strtoll(text, &stop, 10);
    else
        v->number = strtod(text, &stop);
    if (*stop || stop == text || (whole && errno == ERANGE) || (!whole && !isfinite(v->number)))
        return parse_error(s, whole ? "a number that does not fit into 64 bits"
                                    : "a number that is none");
    return v;
}

/* ---- expressions ---- */

/* A node with these items, which are copied and freed. */
static jx_tree parsed_items(struct jx_parser *s, enum jx_type type, uint32_t line, jx_items *items)
{
    struct jx_node *v = jx_new(s->store, type, line);
    if (v && items->n) {
        v->n = (uint32_t)items->n;
        v->item = jx_store_take(s->store, items->n * sizeof(jx_tree));
        memcpy(v->item, items->at, items->n * sizeof(jx_tree));
    }
    array_free(items);
    return v ? v : parse_full(s);
}

/* Always NULL. */
static jx_tree drop_items(jx_items *items)
{
    array_free(items);
    return NULL;
}

/* `item for x in list if condition for ...` */
static jx_tree parse_clauses(struct jx_parser *s, jx_tree item)
{
    jx_items items = {0};
    uint32_t line = s->line;
    array_push(&items, item);
    while (next_word(s, "for")) {
        skip_blanks(s);
        size_t n = word_length(s);
        if (!n || items.n > 3 * JX_CLAUSES) {
            parse_error(s, n ? "more than 16 `for` behind one item"
                             : "expected the name of a variable behind `for`");
            return drop_items(&items);
        }
        struct jx_node *symbol = jx_string(s->store, s->p, n, s->line);
        s->p += n;
        if (!symbol)
            return drop_items(&items) ? NULL : parse_full(s);
        if (!next_word(s, "in")) {
            parse_error(s, "expected `in` behind the variable of a `for`");
            return drop_items(&items);
        }
        jx_tree list = parse_expression(s), condition = NULL;
        if (list && next_word(s, "if") && !(condition = parse_expression(s)))
            list = NULL;
        if (!list)
            return drop_items(&items);
        array_push(&items, symbol);
        array_push(&items, list);
        array_push(&items, condition);
    }
    if (items.n == 1) {
        array_free(&items);
        return item;
    }
    return parsed_items(s, JX_COMPREHENSION, line, &items);
}

/* Items with commas between them up to `close`; a comma may stand behind the last. */
static bool parse_items(struct jx_parser *s, char close, bool clauses, jx_items *items)
{
    while (!next_char(s, close)) {
        jx_tree item = parse_expression(s);
        item = item && clauses ? parse_clauses(s, item) : item;
        if (!item)
            return false;
        array_push(items, item);
        if (next_char(s, ','))
            continue;
        if (!next_char(s, close)) {
            error_at(s->err, s->file, s->line - s->store->base, "expected a comma or '%c'%s", close,
                     s->p >= s->end ? ", and the text ends" : "");
            return false;
        }
        return true;
    }
    return true;
}

/* After the bracket. */
static jx_tree parse_array(struct jx_parser *s)
{
    jx_items items = {0};
    uint32_t line = s->line;
    return parse_items(s, ']', true, &items) ? parsed_items(s, JX_ARRAY, line, &items)
                                             : drop_items(&items);
}

/* After the brace. A key twice is told when the object is used. */
static jx_tree parse_object(struct jx_parser *s)
{
    jx_items items = {0};
    uint32_t line = s->line;
    while (!next_char(s, '}')) {
        jx_tree key = parse_expression(s), value = NULL;
        if (key && !next_char(s, ':'))
            parse_error(s, "expected a colon behind a key");
        else if (key)
            value = parse_expression(s);
        if (!value)
            return drop_items(&items);
        array_push(&items, key);
        array_push(&items, value);
        if (next_char(s, ','))
            continue;
        if (next_char(s, '}'))
            break;
        parse_error(s, "expected a comma or '}'");
        return drop_items(&items);
    }
    return parsed_items(s, JX_OBJECT, line, &items);
}

/* `first` is the first argument of a method; NULL: there is none. */
static jx_tree parse_call(struct jx_parser *s, const char *name, size_t n, jx_tree first)
{
    jx_items items = {0};
    uint32_t line = s->line;
    jx_tree title = jx_string(s->store, name, n, line);
    if (!title)
        return parse_full(s);
    array_push(&items, title);
    if (first)
        array_push(&items, first);
    return parse_items(s, ')', false, &items) ? parsed_items(s, JX_CALL, line, &items)
                                              : drop_items(&items);
}

/* true, a variable, or a function with its arguments. */
static jx_tree parse_name(struct jx_parser *s)
{
    const char *name = s->p;
    size_t n = word_length(s);
    uint32_t line = s->line;
    s->p += n;
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (n == strlen(words[i]) && memcmp(name, words[i], n) == 0) {
            struct jx_node *v = jx_new(s->store, i == 2 ? JX_NULL : JX_BOOLEAN, line);
            if (v)
                v->truth = i == 0;
            return v ? v : parse_full(s);
        }
    if (next_char(s, '('))
        return parse_call(s, name, n, NULL);
    struct jx_node *v = jx_string(s->store, name, n, line);
    if (v)
        v->type = JX_SYMBOL;
    return v ? v : parse_full(s);
}

/* What stands by itself: a literal, a name, or anything in brackets. */
static jx_tree parse_atom(struct jx_parser *s)
{
    skip_blanks(s);
    if (s->p >= s->end)
        return parse_error(s, "the text ends where a value is expected");
    if (next_char(s, '"'))
        return parse_string(s);
    if (next_char(s, '['))
        return parse_array(s);
    if (next_char(s, '{'))
        return parse_object(s);
    if (next_char(s, '(')) {
        jx_tree v = parse_expression(s);
        if (v && !next_char(s, ')'))
            return parse_error(s, "expected ')'");
        return v;
    }
    if (isdigit((unsigned char)*s->p) || *s->p == '.')
        return parse_number(s);
    if (word_length(s))
        return parse_name(s);
    error_at(s->err, s->file, s->line - s->store->base, "'%c' where a value is expected",
             isprint((unsigned char)*s->p) ? *s->p : '?');
    return NULL;
}

/* [index], [from:to] behind a value. */
static jx_tree parse_index(struct jx_parser *s, jx_tree of)
{
    jx_tree from = NULL, to = NULL;
    jx_items items = {0};
    uint32_t line = s->line;
    bool slice = next_char(s, ':');
    if (!slice) {
        from = parse_expression(s);
        if (!from)
            return NULL;
        slice = next_char(s, ':');
    }
    if (slice && !next_char(s, ']')) {
        to = parse_expression(s);
        if (!to)
            return NULL;
        if (!next_char(s, ']'))
            return parse_error(s, "expected ']'");
    } else if (!slice && !next_char(s, ']')) {
        return parse_error(s, "expected ']'");
    }
    array_push(&items, of);
    array_push(&items, from);
    if (slice)
        array_push(&items, to);
    return parsed_items(s, slice ? JX_SLICE : JX_LOOKUP, line, &items);
}

/* A value with indices and methods behind it. */
static jx_tree parse_postfix(struct jx_parser *s)
{
    jx_tree v = parse_atom(s);
    for (int count = 0; v; count++) {
        if (count >= JX_DEPTH)
            return parse_error(s, "too many indices and methods behind one value");
        if (next_char(s, '[')) {
            v = parse_index(s, v);
        } else if (next_char(s, '.')) {
            skip_blanks(s);
            const char *name = s->p;
            size_t n = word_length(s);
            s->p += n;
            if (!n || !next_char(s, '('))
                return parse_error(s, "expected the name of a function and '(' behind a point");
            v = parse_call(s, name, n, v);
        } else {
            return v;
        }
    }
    return NULL;
}

static jx_tree parse_sign(struct jx_parser *s);

/* Signs may follow each other, as deep as brackets may. */
static jx_tree parse_unary(struct jx_parser *s, enum jx_operator op)
{
    uint32_t line = s->line;
    jx_tree operand = parse_sign(s);
    jx_items items = {0};
    if (!operand)
        return NULL;
    array_push(&items, operand);
    jx_tree v = parsed_items(s, JX_UNARY, line, &items);
    if (v)
        ((struct jx_node *)v)->op = (uint8_t)op;
    return v;
}

/* Every way down passes here, and is counted. */
static jx_tree parse_sign(struct jx_parser *s)
{
    jx_tree v;
    bool no = false;
    if (s->depth >= JX_DEPTH)
        return parse_error(s, "nested more than 200 levels deep");
    s->depth++;
    if (next_char(s, '-'))
        v = parse_unary(s, JX_SUBTRACT);
    else if (next_char(s, '+'))
        v = parse_unary(s, JX_ADD);
    else if ((no = next_word(s, "not") ||
                   (s->end - s->p > 1 && s->p[1] != '=' && next_char(s, '!'))))
        v = parse_unary(s, JX_NOT);
    else
        v = parse_postfix(s);
    s->depth--;
    s->bare_not = no;
    return v;
}

static const struct {
    const char *word;
    enum jx_operator op;
    int level;
} operators[] = {
    {"*", JX_MULTIPLY, 0}, {"/", JX_DIVIDE, 0},      {"%", JX_MODULO, 0},
    {"+", JX_ADD, 1},      {"-", JX_SUBTRACT, 1},    {"==", JX_EQUAL, 2},
    {"!=", JX_UNEQUAL, 2}, {"<=", JX_LESS_EQUAL, 2}, {">=", JX_GREATER_EQUAL, 2},
    {"<", JX_LESS, 2},     {">", JX_GREATER, 2},     {"and", JX_AND, 3},
    {"&&", JX_AND, 3},     {"or", JX_OR, 4},         {"||", JX_OR, 4},
};

/* The operator of this level that stands next; -1: none does. */
static int next_operator(struct jx_parser *s, int level)
{
    skip_blanks(s);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *word = operators[i].word;
        size_t n = strlen(word);
        if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
            continue;
        if (isalpha((unsigned char)*word) && word_length(s) != n)
            continue;
        if (operators[i].level != level)
            return -1;
        s->p += n;
        return (int)operators[i].op;
    }
    return -1;
}

/* The manual has `not` bind less than a comparison, Makeflow as a sign does: where it makes a
 * difference, the text must say what is meant. */
static jx_tree parse_chain(struct jx_parser *s, int level)
{
    jx_tree first = level ? parse_chain(s, level - 1) : parse_sign(s);
    bool bare_not = s->bare_not;
    jx_items items = {0};
    ARRAY(uint8_t) ops = {0};
    if (!first)
        return NULL;
    array_push(&items, first);
    uint32_t line = s->line;
    for (int op; (op = next_operator(s, level)) >= 0;) {
        jx_tree operand = level ? parse_chain(s, level - 1) : parse_sign(s);
        bare_not |= s->bare_not;
        if (operand && bare_not && level <= 2)
            operand =
                parse_error(s, "what does `not` hold for? Write (not a) == b or not (a == b)");
        if (!operand) {
            array_free(&ops);
            return drop_items(&items);
        }
        array_push(&items, operand);
        array_push(&ops, (uint8_t)op);
    }
    if (items.n == 1) {
        array_free(&items);
        return first;
    }
    uint8_t *kept = jx_store_take(s->store, ops.n);
    memcpy(kept, ops.at, ops.n);
    array_free(&ops);
    jx_tree v = parsed_items(s, JX_CHAIN, line, &items);
    if (v)
        ((struct jx_node *)v)->ops = kept;
    s->bare_not = false;
    return v;
}

const struct jx_node *jx_parse(struct jx_store *store, const char *file, const char *text, size_t n,
                               struct error *err)
{
    struct jx_parser s = {.store = store,
                          .file = file,
                          .p = text,
                          .end = text + n,
                          .line = 1 + store->base,
                          .err = err};
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        s.p += 3;
    jx_tree v = parse_expression(&s);
    if (!v)
        return NULL;
    next_char(&s, ';');
    skip_blanks(&s);
    return s.p == s.end ? v : parse_error(&s, "something stands behind the end of the expression");
}
