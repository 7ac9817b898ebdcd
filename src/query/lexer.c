/* Constraint text to tokens. One pass, O(text); every token knows its line and column for messages,
 * and words are brought into one spelling (lower case, underscores, synonyms resolved).
 *
 * The one difficulty is the hyphen: task-finish-time is an attribute, task-id-1 is task-id minus 1.
 * scan_word() takes the longest beginning of a hyphenated word that is an attribute. What looks
 * like an attribute and is none is a mistake at once, with the nearest name. */
#include "query/lexer.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>

/* The paper's words for what SQLite calls otherwise. */
static const struct {
    const char *word, *means;
} synonyms[] = {
    {"absolute_value", "abs"}, {"average", "avg"},       {"minimum", "min"},
    {"maximum", "max"},        {"minimise", "minimize"}, {"maximise", "maximize"},
};

/* Where we are. */
struct scanner {
    struct lexed *out;
    struct error *err;
    size_t at, size;
    uint32_t line;
    size_t line_start;
};

/* Either spelling; -1: none. */
static int find_attribute(const char *word)
{
    for (int a = 0; a < ATTRIBUTES; a++)
        if (strcmp(attribute_table[a].name, word) == 0 ||
            (attribute_table[a].also && strcmp(attribute_table[a].also, word) == 0))
            return a;
    return -1;
}

/* task-..., proc-..., dep-..., non-local-...: meant to be an attribute. */
static bool looks_like_attribute(const char *word)
{
    return !strncmp(word, "task_", 5) || !strncmp(word, "proc_", 5) || !strncmp(word, "dep_", 4) ||
           !strncmp(word, "non_", 4);
}

/* By edit distance over all spellings; NULL: nothing is near. */
static const char *nearest_attribute(const char *word)
{
    const char *names[ATTRIBUTES * 2];
    size_t count = 0;
    for (int a = 0; a < ATTRIBUTES; a++) {
        names[count++] = attribute_table[a].name;
        if (attribute_table[a].also)
            names[count++] = attribute_table[a].also;
    }
    return suggest_nearest(word, names, count);
}

bool lexed_error(const struct lexed *l, const struct query_token *at, struct error *err,
                 const char *fmt, ...)
{
    char text[1024];
    struct strbuf shown = {0};
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    utf8_add_visible(&shown, text);
    error_set(err, ERROR_INPUT, "%s:%u:%u: %s", l->name, at->line, at->column, strbuf_text(&shown));
    strbuf_free(&shown);
    return false;
}

/* At most 40 characters of it. */
const char *token_label(const struct lexed *l, const struct query_token *t, char *buffer,
                        size_t size)
{
    if (t->kind == TOKEN_END)
        return "the end";
    int shown = t->length < 40 ? (int)t->length : 40;
    snprintf(buffer, size, "'%.*s%s'", shown, l->text + t->at, t->length > 40 ? "..." : "");
    return buffer;
}

/* At the present line; the caller fills word and attribute. */
static struct query_token *add_token(struct scanner *s, enum token_kind kind, size_t at,
                                     size_t length)
{
    struct query_token *t = array_add(&s->out->tokens);
    t->kind = kind;
    t->line = s->line;
    t->column = (uint32_t)(at - s->line_start + 1);
    t->at = (uint32_t)at;
    t->length = (uint32_t)length;
    t->attribute = -1;
    return t;
}

/* Blanks and comments: -- to the end of the line, and the other kind. */
static bool scan_blanks(struct scanner *s)
{
    const char *text = s->out->text;
    while (s->at < s->size) {
        char c = text[s->at];
        if (c == '\n') {
            s->at++;
            s->line++;
            s->line_start = s->at;
        } else if (isspace((unsigned char)c)) {
            s->at++;
        } else if (c == '-' && text[s->at + 1] == '-') {
            while (s->at < s->size && text[s->at] != '\n')
                s->at++;
        } else if (c == '/' && text[s->at + 1] == '*') {
            struct query_token here = {.line = s->line,
                                       .column = (uint32_t)(s->at - s->line_start + 1)};
            s->at += 2;
            while (s->at < s->size && !(text[s->at] == '*' && text[s->at + 1] == '/')) {
                if (text[s->at] == '\n') {
                    s->line++;
                    s->line_start = s->at + 1;
                }
                s->at++;
            }
            if (s->at >= s->size)
                return lexed_error(s->out, &here, s->err,
                                   "the comment that starts here has no end, expected '*/'");
            s->at += 2;
        } else {
            break;
        }
    }
    return true;
}

/* Letters, digits, underscores and anything beyond ASCII: names of tasks may be in any language. */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool starts_word(char c)
{
    return is_word(c) && !isdigit((unsigned char)c);
}

/* As attributes are spelled in the table; the caller frees it. */
static char *normal_name(const char *text, size_t length)
{
    char *word = mem_copy_bytes(text, length);
    for (size_t i = 0; i < length; i++)
        word[i] = word[i] == '-' ? '_' : (char)tolower((unsigned char)word[i]);
    return word;
}

/* An error with the nearest attribute, or all of the relation's. Always false. */
static bool unknown_attribute(struct scanner *s, const struct query_token *t, const char *word)
{
    const char *near = nearest_attribute(word);
    char shown[64];
    snprintf(shown, sizeof shown, "%s", near ? near : "");
    for (char *c = shown; *c; c++)
        *c = *c == '_' ? '-' : *c;
    enum relation relation = !strncmp(word, "task", 4)   ? RELATION_TASK
                             : !strncmp(word, "proc", 4) ? RELATION_PROC
                                                         : RELATION_DEP;
    if (near)
        return lexed_error(s->out, t, s->err, "unknown attribute '%.*s'; did you mean '%s'?",
                           (int)t->length, s->out->text + t->at, shown);
    struct strbuf names = {0};
    for (int a = relation_first(relation); a <= (int)relation_last(relation); a++)
        strbuf_printf(&names, "%s%s", names.n ? ", " : "", attribute_table[a].name);
    lexed_error(s->out, t, s->err, "unknown attribute '%.*s'; %s has %s", (int)t->length,
                s->out->text + t->at, relation_name[relation], strbuf_text(&names));
    strbuf_free(&names);
    return false;
}

/* A word, from the longest hyphenated reading down to its first part. */
static bool scan_word(struct scanner *s)
{
    const char *text = s->out->text;
    /* where each hyphenated part ends; 16 parts are more than any attribute has */
    size_t ends[16], parts = 0, at = s->at;
    do {
        while (at < s->size && is_word(text[at]))
            at++;
        ends[parts++] = at;
    } while (parts < 16 && text[at] == '-' && starts_word(text[at + 1]) && ++at);
    for (size_t k = parts; k > 0; k--) {
        char *whole = normal_name(text + s->at, ends[k - 1] - s->at);
        int attribute = find_attribute(whole);
        bool known = attribute >= 0 ||
                     (k > 1 && (!strcmp(whole, "opt_type") || !strcmp(whole, "absolute_value")));
        if (!known && k > 1) {
            bool meant = k == parts && looks_like_attribute(whole);
            /* task-id-x is task-id minus x: only when no beginning is an attribute is it a slip */
            for (size_t j = k - 1; meant && j > 1; j--) {
                char *part = normal_name(text + s->at, ends[j - 1] - s->at);
                meant = find_attribute(part) < 0;
                free(part);
            }
            if (meant) {
                unknown_attribute(s, add_token(s, TOKEN_WORD, s->at, ends[k - 1] - s->at), whole);
                free(whole);
                return false;
            }
            free(whole);
            continue;
        }
        struct query_token *t = add_token(s, TOKEN_WORD, s->at, ends[k - 1] - s->at);
        t->attribute = attribute;
        t->word = whole;
        if (attribute < 0 && looks_like_attribute(whole) && text[ends[k - 1]] != '(')
            return unknown_attribute(s, t, whole);
        const char *means = attribute >= 0 ? attribute_table[attribute].name : NULL;
        for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms && !means; i++)
            if (strcmp(synonyms[i].word, whole) == 0)
                means = synonyms[i].means;
        if (means && strcmp(means, whole) != 0) {
            t->word = mem_copy_string(means);
            free(whole);
        }
        s->at = ends[k - 1];
        return true;
    }
    return false; /* not reached: one part is always taken */
}

/* Quotes of either kind, doubled inside. */
static bool scan_string(struct scanner *s)
{
    const char *text = s->out->text;
    char quote = text[s->at];
    size_t at = s->at + 1;
    struct strbuf content = {0};
    uint32_t line = s->line;
    size_t line_start = s->line_start;
    for (;; at++) {
        if (at >= s->size) {
            struct query_token *t = add_token(s, TOKEN_STRING, s->at, 1);
            strbuf_free(&content);
            return lexed_error(s->out, t, s->err,
                               "the text that starts here has no end, expected a closing %c",
                               quote);
        }
        if (text[at] == quote) {
            if (text[at + 1] != quote)
                break;
            at++;
        }
        if (text[at] == '\n') {
            line++;
            line_start = at + 1;
        }
        strbuf_add_char(&content, text[at]);
    }
    struct query_token *t = add_token(s, TOKEN_STRING, s->at, at + 1 - s->at);
    t->word = content.at ? strbuf_steal(&content) : mem_copy_string("");
    s->at = at + 1;
    s->line = line;
    s->line_start = line_start;
    return true;
}

/* Digits, point, exponent; a letter right behind is a mistake. */
static bool scan_number(struct scanner *s)
{
    const char *text = s->out->text;
    size_t at = s->at;
    while (isdigit((unsigned char)text[at]))
        at++;
    if (text[at] == '.')
        for (at++; isdigit((unsigned char)text[at]);)
            at++;
    if (text[at] == 'e' || text[at] == 'E') {
        size_t digits = at + 1 + (text[at + 1] == '+' || text[at + 1] == '-');
        if (isdigit((unsigned char)text[digits]))
            for (at = digits; isdigit((unsigned char)text[at]);)
                at++;
    }
    struct query_token *t = add_token(s, TOKEN_NUMBER, s->at, at - s->at);
    t->word = mem_copy_bytes(text + s->at, at - s->at);
    if (is_word(text[at]))
        return lexed_error(s->out, t, s->err, "'%s%c' is no number: expected digits", t->word,
                           text[at]);
    s->at = at;
    return true;
}

/* One or two characters; != and == become SQL's. */
static bool scan_sign(struct scanner *s)
{
    static const char *const two[] = {"<=", ">=", "<>", "!=", "==", "||", "<<", ">>"};
    const char *text = s->out->text;
    size_t length = 1;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (text[s->at] == two[i][0] && text[s->at + 1] == two[i][1])
            length = 2;
    struct query_token *t = add_token(s, TOKEN_SIGN, s->at, length);
    if (!strchr("()<>=!|&+-*/%,.;~", text[s->at]))
        return lexed_error(s->out, t, s->err, "'%c' means nothing here", text[s->at]);
    t->word = mem_copy_bytes(text + s->at, length);
    if (!strcmp(t->word, "!="))
        memcpy(t->word, "<>", 2);
    else if (!strcmp(t->word, "=="))
        t->word[1] = 0;
    s->at += length;
    return true;
}

/* All tokens, ended by TOKEN_END; false with an error at the first that is none. */
bool lexer_run(struct lexed *out, const char *name, const char *text, struct error *err)
{
    *out = (struct lexed){.name = name, .text = text};
    struct scanner s = {.out = out, .err = err, .size = strlen(text), .line = 1};
    if (s.size > LEXER_LARGEST)
        return error_set(err, ERROR_INPUT,
                         "%s: %zu bytes of constraints are too many, expected at most %d", name,
                         s.size, LEXER_LARGEST);
    for (;;) {
        if (!scan_blanks(&s))
            return false;
        if (s.at >= s.size)
            break;
        char c = text[s.at];
        bool good =
            c == '"' || c == '\'' ? scan_string(&s)
            : isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)text[s.at + 1]))
                ? scan_number(&s)
            : starts_word(c) ? scan_word(&s)
                             : scan_sign(&s);
        if (!good)
            return false;
    }
    add_token(&s, TOKEN_END, s.size, 0);
    return true;
}

void lexed_free(struct lexed *l)
{
    for (size_t i = 0; i < l->tokens.n; i++)
        free(l->tokens.at[i].word);
    array_free(&l->tokens);
}
