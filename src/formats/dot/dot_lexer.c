/* The tokens of DOT, taken from the text in place: a quoted string is rewritten where it stands
 * (it only gets shorter), so that no token is copied. Lines are counted as they are passed. */
#include "formats/dot/dot_lexer.h"
#include <string.h>
#include <strings.h>

/* `text` is changed and must outlive the tokens. */
void dot_lexer_start(struct dot_lexer *x, const char *file, char *text, size_t length)
{
    *x = (struct dot_lexer){
        .file = file, .at = text, .end = text + length, .line = 1, .line_start = true};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        x->at += 3;
}

static void skip_line(struct dot_lexer *x)
{
    char *eol = memchr(x->at, '\n', (size_t)(x->end - x->at));
    x->at = eol ? eol : x->end;
}

/* An open comment is an error at its beginning, where a person will look. */
static bool skip_comment(struct dot_lexer *x, struct error *err)
{
    size_t start = x->line;
    for (x->at += 2; x->at + 1 < x->end; x->at++) {
        if (x->at[0] == '*' && x->at[1] == '/') {
            x->at += 2;
            return true;
        }
        x->line += *x->at == '\n';
    }
    return error_at(err, x->file, start, "this comment does not end; expected */");
}

/* A # begins a remark only at the start of a line, as the C preprocessor writes it. */
static bool lexer_skip_blanks(struct dot_lexer *x, struct error *err)
{
    while (x->at < x->end) {
        char c = *x->at;
        if (c == '\n') {
            x->line++;
            x->line_start = true;
            x->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            x->at++;
        } else if (c == '#' && x->line_start) {
            skip_line(x);
        } else if (c == '/' && x->at + 1 < x->end && x->at[1] == '/') {
            skip_line(x);
        } else if (c == '/' && x->at + 1 < x->end && x->at[1] == '*') {
            if (!skip_comment(x, err))
                return false;
        } else {
            break;
        }
    }
    return true;
}

/* Bytes of UTF-8 are letters, as in Graphviz. */
static bool starts_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}
static bool lexer_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read "..." at x->at and append what it means at `to`, which is not after x->at. \" is a quote and
 * backslash-newline is nothing; every other backslash stays, because what it means depends on the
 * attribute. Returns the new end, NULL on an error. */
static char *read_quoted(struct dot_lexer *x, char *to, struct error *err)
{
    size_t start = x->line;
    char *p = x->at + 1;
    while (p < x->end && *p != '"') {
        if (*p == '\\' && p + 1 < x->end) {
            size_t newline = p[1] == '\n'                                     ? 2
                             : p + 2 < x->end && p[1] == '\r' && p[2] == '\n' ? 3
                                                                              : 0;
            if (newline) {
                p += newline;
                x->line++;
                continue;
            }
            if (p[1] != '"')
                *to++ = *p;
            *to++ = p[1]; /* also the second of two backslashes, so that \\" ends the string */
            p += 2;
            continue;
        }
        x->line += *p == '\n';
        *to++ = *p++;
    }
    if (p >= x->end) {
        error_at(err, x->file, start, "this quoted string does not end; expected a closing \"");
        return NULL;
    }
    x->at = p + 1;
    return to;
}

/* "a" + "b" is one string. */
static bool lex_quoted(struct dot_lexer *x, struct dot_token *out, struct error *err)
{
    char *to = out->text = x->at;
    for (;;) {
        to = read_quoted(x, to, err);
        if (!to)
            return false;
        struct dot_lexer ahead = *x;
        if (!lexer_skip_blanks(&ahead, err))
            return false;
        if (ahead.at >= ahead.end || *ahead.at != '+')
            break;
        ahead.at++;
        ahead.line_start = false;
        if (!lexer_skip_blanks(&ahead, err))
            return false;
        if (ahead.at >= ahead.end || *ahead.at != '"')
            return error_at(err, x->file, ahead.line, "expected a quoted string after +");
        *x = ahead;
    }
    out->len = (size_t)(to - out->text);
    return true;
}

/* <...> with balanced brackets; what is inside is for drawing, and kept as it stands. */
static bool lex_html(struct dot_lexer *x, struct dot_token *out, struct error *err)
{
    out->text = x->at;
    out->html = true;
    size_t depth = 0;
    for (; x->at < x->end; x->at++) {
        depth += *x->at == '<';
        x->line += *x->at == '\n';
        if (*x->at == '>' && --depth == 0) {
            x->at++;
            out->len = (size_t)(x->at - out->text);
            return true;
        }
    }
    return error_at(err, x->file, out->line, "this HTML string does not end; expected a closing >");
}

/* Graphviz would take "2nd" for two tokens, silently; here it is an error with a remedy. */
static bool lex_number(struct dot_lexer *x, struct dot_token *out, struct error *err)
{
    out->text = x->at;
    if (*x->at == '-')
        x->at++;
    while (x->at < x->end && lexer_is_digit(*x->at))
        x->at++;
    if (x->at < x->end && *x->at == '.') {
        x->at++;
        while (x->at < x->end && lexer_is_digit(*x->at))
            x->at++;
    }
    out->len = (size_t)(x->at - out->text);
    if (x->at < x->end && starts_name((unsigned char)*x->at)) {
        size_t len = out->len;
        while (out->text + len < x->end &&
               (starts_name((unsigned char)out->text[len]) || lexer_is_digit(out->text[len])))
            len++;
        return error_at(err, x->file, out->line,
                        "'%.*s' is neither a number nor a name; put it in double quotes",
                        (int)(len > 60 ? 60 : len), out->text);
    }
    return true;
}

/* Keywords are in any case, and only when not quoted. */
static enum dot_keyword lex_keyword(const char *text, size_t len)
{
    static const struct {
        const char *word;
        enum dot_keyword keyword;
    } words[] = {{"strict", DOT_STRICT},     {"graph", DOT_GRAPH}, {"digraph", DOT_DIGRAPH},
                 {"subgraph", DOT_SUBGRAPH}, {"node", DOT_NODE},   {"edge", DOT_EDGE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, text, len) == 0)
            return words[i].keyword;
    return DOT_NOT_KEYWORD;
}

/* False with an error. At the end of the text DOT_END, again and again. */
bool dot_lexer_next(struct dot_lexer *x, struct dot_token *out, struct error *err)
{
    if (!lexer_skip_blanks(x, err))
        return false;
    *out = (struct dot_token){.line = x->line};
    if (x->at >= x->end) {
        out->type = DOT_END;
        return true;
    }
    x->line_start = false;
    char c = *x->at, after = x->at + 1 < x->end ? x->at[1] : 0;
    if (strchr("{}[]=;,:", c) && c) {
        out->type = DOT_PUNCT;
        out->punct = c;
        x->at++;
        return true;
    }
    if (c == '-' && (after == '>' || after == '-')) {
        out->type = after == '>' ? DOT_ARROW : DOT_LINE;
        x->at += 2;
        return true;
    }
    out->type = DOT_ID;
    if (c == '"')
        return lex_quoted(x, out, err);
    if (c == '<')
        return lex_html(x, out, err);
    if (lexer_is_digit(c) || (c == '-' && (lexer_is_digit(after) || after == '.')) ||
        (c == '.' && lexer_is_digit(after)))
        return lex_number(x, out, err);
    if (starts_name((unsigned char)c)) {
        out->text = x->at;
        while (x->at < x->end && (starts_name((unsigned char)*x->at) || lexer_is_digit(*x->at)))
            x->at++;
        out->len = (size_t)(x->at - out->text);
        out->keyword = lex_keyword(out->text, out->len);
        return true;
    }
    if (c > ' ' && c < 0x7F)
        return error_at(
            err, x->file, x->line,
            "unexpected '%c'; names with other than letters, digits and _ need double quotes", c);
    return error_at(err, x->file, x->line, "unexpected byte 0x%02X outside a quoted string",
                    (unsigned char)c);
}
