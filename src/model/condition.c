/* Conditions: parsed into tests with jumps, and asked of files.
 *
 *     a and (b or c)        0  test a            `answer` is one bit; a jump looks at it
 *                           1  if false go to 5
 *                           2  test b
 *                           3  if true go to 5
 *                           4  test c
 *
 * Recursion is on parentheses only, and counted. */
#include "model/condition_steps.h"

#include "base/quantity.h"
#include "base/suggest.h"
#include "base/plural.h"

#include <ctype.h>
#include <stdio.h>

void condition_free(struct condition *c)
{
    if (!c)
        return;
    array_free(&c->steps);
    strbuf_free(&c->texts);
    free(c);
}

bool condition_asks_files(const struct condition *c)
{
    return c->asks_files;
}

/* ---- words ---- */

bool condition_number(const char *text, size_t length, double *out)
{
    return quantity_number(text, length, out) ||
           (length > 1 && strchr("KMGTPiB", text[length - 1]) && !strchr(text, ' ') &&
            strcspn(text, "kmgtpb") >= length && quantity_bytes(text, length, out));
}

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.-+:/%@,", c)) || (unsigned char)c >= 128;
}

static const char *const condition_keywords[] = {"and",  "or",       "not",  "exists",
                                                 "size", "contains", "true", "false"};
enum { KEYWORDS = sizeof condition_keywords / sizeof *condition_keywords };

static bool is_keyword(const char *word, size_t length)
{
    for (int i = 0; i < KEYWORDS; i++)
        if (strlen(condition_keywords[i]) == length &&
            memcmp(condition_keywords[i], word, length) == 0)
            return true;
    return false;
}

void condition_add_value(struct strbuf *out, const char *value)
{
    size_t n = strlen(value);
    double number;
    bool plain = n > 0;
    for (const char *c = value; *c; c++)
        plain &= is_word_character(*c);
    /* true and false stay words, so that a parameter may be a condition */
    if ((plain && condition_number(value, n, &number)) || strcmp(value, "true") == 0 ||
        strcmp(value, "false") == 0) {
        strbuf_add(out, value);
        return;
    }
    strbuf_add_char(out, '"');
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\')
            strbuf_add_char(out, '\\');
        if (*c == '{' || *c == '}')
            strbuf_add_char(out, *c);
        strbuf_add_char(out, *c);
    }
    strbuf_add_char(out, '"');
}

/* Braces that are text stand twice. */
void condition_move_places(struct strbuf *out, const char *text, const uint32_t *place, uint32_t n)
{
    for (const char *at = text; *at;) {
        uint32_t file = 0;
        int length = 0;
        if ((*at == '{' || *at == '}') && at[1] == *at) {
            strbuf_add_bytes(out, at, 2);
            at += 2;
        } else if (sscanf(at, "{in[%u]}%n", &file, &length) == 1 && length && file < n) {
            strbuf_printf(out, "{in[%u]}", place[file]);
            at += length;
        } else {
            strbuf_add_char(out, *at++);
        }
    }
}

/* ---- parsing ---- */

struct condition_parser {
    struct condition *c;
    const struct condition_scope *scope;
    const char *text, *at;
    int depth;
    struct error *err;
};

/* Always false. */
static bool condition_mistake(struct condition_parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool condition_mistake(struct condition_parser *p, const char *at, const char *format, ...)
{
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t column = (size_t)(at - p->text), skip = column > 60 ? column - 60 : 0;
    while (skip && ((unsigned char)p->text[skip] & 0xC0) == 0x80) /* not within a character */
        skip++;
    if (*at)
        return error_set(p->err, ERROR_INPUT, "%s: at '%.40s' in \"%s%.120s\": %s", p->scope->key,
                         at, skip ? "..." : "", p->text + skip, what);
    return error_set(p->err, ERROR_INPUT, "%s: at the end of \"%s%.120s\": %s", p->scope->key,
                     skip ? "..." : "", p->text + skip, what);
}

static void skip_blanks(struct condition_parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

/* The word that begins here, without passing over it: its length. */
static size_t word_here(struct condition_parser *p)
{
    skip_blanks(p);
    size_t n = 0;
    while (is_word_character(p->at[n]))
        n++;
    return n;
}

/* Passes over the keyword; false: another thing stands here. */
static bool take_keyword(struct condition_parser *p, const char *keyword)
{
    size_t n = word_here(p);
    if (n != strlen(keyword) || memcmp(p->at, keyword, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool take_character(struct condition_parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static void keep_text(struct condition *c, struct condition_operand *o, const char *text, size_t n)
{
    o->text = (uint32_t)c->texts.n;
    o->length = (uint32_t)n;
    strbuf_add_bytes(&c->texts, text, n);
}

/* 'text' or "text", a backslash before quotes and backslashes, doubled braces. */
static bool parse_quoted(struct condition_parser *p, struct condition_operand *o)
{
    const char *from = p->at;
    char quote = *p->at++;
    o->kind = OPERAND_QUOTED;
    o->text = (uint32_t)p->c->texts.n;
    for (; *p->at != quote; p->at++) {
        if (!*p->at)
            return condition_mistake(p, from, "the quotation has no end; expected another %c",
                                     quote);
        if (*p->at == '\\' && (p->at[1] == '\\' || p->at[1] == '"' || p->at[1] == '\''))
            p->at++;
        else if ((*p->at == '{' || *p->at == '}') && p->at[1] == *p->at)
            p->at++;
        else if (*p->at == '{' || *p->at == '}')
            return condition_mistake(p, p->at,
                                     "a brace within quotes that names no value; write it twice if "
                                     "it belongs to the text");
        strbuf_add_char(&p->c->texts, *p->at);
    }
    p->at++;
    o->length = (uint32_t)p->c->texts.n - o->text;
    return true;
}

/* Digits up to nine: places of files are small numbers. */
static bool parse_place(const char **at, uint32_t *place)
{
    size_t n = strspn(*at, "0123456789");
    if (!n || n > 9)
        return false;
    *place = (uint32_t)strtoul(*at, NULL, 10);
    *at += n;
    return true;
}

/* Which one file a {mark} stands for. */
static bool check_place(struct condition_parser *p, const char *from, struct condition_operand *o,
                        uint32_t count, bool all)
{
    const char *what = o->out ? "out" : "in";
    if (o->out && !p->scope->out)
        return condition_mistake(p, from, "outputs are made by the task: this is asked before it");
    if (all && count != 1)
        return condition_mistake(p, from,
                                 "{%s} stands for %u file%s here, and a condition asks one: "
                                 "name it, as in {%s[0]} or {%s.NAME}",
                                 what, count, plural(count), what, what);
    if (o->place >= count)
        return condition_mistake(p, from, "there is no {%s[%u]}; the task has %u %sputs", what,
                                 o->place, count, what);
    return true;
}

/* {in}, {in[2]}, {out[0]}: what a reader leaves of names of files. */
static bool parse_file(struct condition_parser *p, struct condition_operand *o)
{
    const char *from = p->at, *at = p->at + 1;
    o->kind = OPERAND_FILE;
    o->out = strncmp(at, "out", 3) == 0;
    if (!o->out && strncmp(at, "in", 2) != 0)
        return condition_mistake(p, from,
                                 "expected a file of the task, as {in} or {in.NAME}, or a value");
    at += o->out ? 3 : 2;
    bool all = *at == '}', several = false;
    if (*at == '[') {
        at++;
        if (!parse_place(&at, &o->place))
            return condition_mistake(p, from, "expected the place of a file, as in {in[0]}");
        several = *at == ':' || *at == ',';
        at += several ? strcspn(at, "]}") : 0;
        if (*at++ != ']')
            return condition_mistake(p, from, "expected ']', as in {in[0]}");
    }
    if (*at != '}')
        return condition_mistake(p, from,
                                 "expected one file of the task, as {in}, {in[0]} or {in.NAME}");
    if (several)
        return condition_mistake(p, from, "it stands for several files, and a condition asks one");
    p->at = at + 1;
    p->c->asks_files = true;
    keep_text(p->c, o, from, (size_t)(p->at - from));
    return check_place(p, from, o, o->out ? p->scope->out : p->scope->in, all);
}

/* A file after `exists` or `size`, in parentheses or not. */
static bool parse_file_of(struct condition_parser *p, const char *word, struct condition_operand *o)
{
    bool inner = take_character(p, '(');
    skip_blanks(p);
    if (*p->at != '{')
        return condition_mistake(p, p->at,
                                 "%s asks about a file of the task, as %s({in}) or %s({in.NAME}); "
                                 "other files are not known to it: name them in its `in`",
                                 word, word, word);
    if (!parse_file(p, o))
        return false;
    return !inner || take_character(p, ')') ||
           condition_mistake(p, p->at, "expected ')' after the file of %s", word);
}

static bool parse_operand(struct condition_parser *p, struct condition_operand *o)
{
    *o = (struct condition_operand){0};
    if (take_keyword(p, "size")) {
        if (!parse_file_of(p, "size", o))
            return false;
        o->kind = OPERAND_SIZE;
        o->is_number = true;
        return true;
    }
    size_t n = word_here(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_quoted(p, o);
    if (*p->at == '{')
        return parse_file(p, o);
    if (!n)
        return condition_mistake(p, p->at, "expected a file, a number or a text%s",
                                 *p->at == '!' ? "; negation is `not`" : "");
    if (is_keyword(p->at, n) && *p->at != 't' && *p->at != 'f')
        return condition_mistake(p, p->at,
                                 "expected a file, a number or a text; a text that is called so "
                                 "stands in quotes");
    o->kind = OPERAND_WORD;
    char word[80] = "";
    if (n < sizeof word)
        memcpy(word, p->at, n);
    o->is_number = n < sizeof word && condition_number(word, n, &o->number);
    keep_text(p->c, o, p->at, n);
    p->at += n;
    return true;
}

static bool is_literal(const struct condition_operand *o)
{
    return o->kind == OPERAND_QUOTED || o->kind == OPERAND_WORD;
}

/* An operand that can never be what the test needs is a mistake now, not when the task could start. */
static bool check_types(struct condition_parser *p, const char *from, enum condition_test test,
                        const struct condition_operand *a, const struct condition_operand *b)
{
    if (test == TEST_CONTAINS) {
        if (a->kind == OPERAND_SIZE)
            return condition_mistake(p, from, "a size is a number and contains nothing");
        return is_literal(b) || condition_mistake(p, from,
                                                  "what it is to contain is a text, not a "
                                                  "file nor its size");
    }
    bool order = test >= TEST_LESS;
    const struct condition_operand *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const struct condition_operand *x = both[i], *other = both[!i];
        if (!is_literal(x) || x->is_number || (!order && other->kind != OPERAND_SIZE))
            continue;
        return condition_mistake(
            p, from, "'%.*s' is not a number%s; %s", (int)(x->length < 80 ? x->length : 80),
            p->c->texts.at + x->text, x->kind == OPERAND_QUOTED ? " but a text in quotes" : "",
            other->kind == OPERAND_SIZE ? "a size is compared with a number, as 10M"
                                        : "only numbers have an order, texts are = or !=");
    }
    return true;
}

static bool parse_comparison(struct condition_parser *p, enum condition_test *test)
{
    static const struct {
        const char *sign;
        enum condition_test test;
    } signs[] = {{"==", TEST_EQUAL},    {"!=", TEST_OTHER}, {"<=", TEST_AT_MOST},
                 {">=", TEST_AT_LEAST}, {"=", TEST_EQUAL},  {"<", TEST_LESS},
                 {">", TEST_GREATER}};
    skip_blanks(p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(p->at, signs[i].sign, strlen(signs[i].sign)) == 0) {
            p->at += strlen(signs[i].sign);
            *test = signs[i].test;
            return true;
        }
    return false;
}

/* Always false: what stands there instead of a comparison. */
static bool no_comparison(struct condition_parser *p, const struct condition_operand *a)
{
    size_t n = word_here(p);
    char word[40] = "";
    if (n && n < sizeof word)
        memcpy(word, p->at, n);
    const char *near = n ? suggest_nearest(word, condition_keywords, KEYWORDS) : NULL;
    return condition_mistake(
        p, p->at, "expected `contains` or a comparison (= != < <= > >=) after '%.*s'%s%s%s",
        (int)(a->length < 60 ? a->length : 60), p->c->texts.at + a->text,
        near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

/* A test, or `true` and `false` alone. */
static bool parse_test(struct condition_parser *p)
{
    struct condition_step step = {0};
    skip_blanks(p);
    const char *from = p->at;
    if (take_keyword(p, "exists")) {
        step.test = TEST_EXISTS;
        if (!parse_file_of(p, "exists", &step.a))
            return false;
        array_push(&p->c->steps, step);
        return true;
    }
    bool is_true = strncmp(from, "true", 4) == 0, is_false = strncmp(from, "false", 5) == 0;
    if (!parse_operand(p, &step.a))
        return false;
    if (take_keyword(p, "contains")) {
        step.test = TEST_CONTAINS;
    } else if (!parse_comparison(p, &step.test)) {
        if (step.a.kind != OPERAND_WORD || !(is_true || is_false) ||
            step.a.length != (is_true ? 4 : 5))
            return no_comparison(p, &step.a);
        step.test = is_true ? TEST_TRUE : TEST_FALSE;
        array_push(&p->c->steps, step);
        return true;
    }
    if (!parse_operand(p, &step.b) || !check_types(p, from, step.test, &step.a, &step.b))
        return false;
    array_push(&p->c->steps, step);
    return true;
}

static bool parse_chain(struct condition_parser *p, bool both);

/* `not` any number of times, then parentheses or a test. */
static bool parse_one(struct condition_parser *p)
{
    bool negate = false;
    while (take_keyword(p, "not"))
        negate = !negate;
    const char *from = p->at;
    bool good;
    if (take_character(p, '(')) {
        if (++p->depth > CONDITION_DEPTH)
            return condition_mistake(p, from, "parentheses nest more than %d deep",
                                     CONDITION_DEPTH);
        good = parse_chain(p, false) &&
               (take_character(p, ')') || condition_mistake(p, p->at, "expected ')'"));
        p->depth--;
    } else {
        good = parse_test(p);
    }
    if (good && negate)
        array_push(&p->c->steps, (struct condition_step){.test = STEP_NOT});
    return good;
}

/* A chain of `and` (both) or of `or`s over such chains. What follows is passed over once the answer
 * is known: every jump of a chain goes to its end. */
static bool parse_chain(struct condition_parser *p, bool both)
{
    ARRAY(uint32_t) jumps = {0};
    bool good;
    while ((good = both ? parse_one(p) : parse_chain(p, true)) &&
           take_keyword(p, both ? "and" : "or")) {
        array_push(&jumps, (uint32_t)p->c->steps.n);
        array_push(&p->c->steps,
                   (struct condition_step){.test = both ? STEP_IF_FALSE : STEP_IF_TRUE});
    }
    for (size_t i = 0; i < jumps.n; i++)
        p->c->steps.at[jumps.at[i]].target = (uint32_t)p->c->steps.n;
    array_free(&jumps);
    return good;
}

struct condition *condition_parse(const char *text, const struct condition_scope *scope,
                                  struct error *err)
{
    struct condition_parser p = {.scope = scope, .text = text, .at = text, .err = err};
    if (strlen(text) > CONDITION_TEXT_MOST) {
        error_set(err, ERROR_INPUT, "%s: the condition has %zu character%s; at most %d are read",
                  scope->key, strlen(text), plural(strlen(text)), CONDITION_TEXT_MOST);
        return NULL;
    }
    p.c = mem_new_zero(struct condition, 1);
    strbuf_add(&p.c->texts, "");
    bool good = parse_chain(&p, false);
    skip_blanks(&p);
    if (good && *p.at)
        good = condition_mistake(&p, p.at, "expected `and`, `or` or the end%s",
                                 strncmp(p.at, "&&", 2) == 0   ? "; `&&` is written `and`"
                                 : strncmp(p.at, "||", 2) == 0 ? "; `||` is written `or`"
                                 : *p.at == '('                ? "; a file stands in braces"
                                                               : "");
    if (good)
        return p.c;
    condition_free(p.c);
    return NULL;
}
