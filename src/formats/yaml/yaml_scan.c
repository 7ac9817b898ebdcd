/* A look over YAML before libfyaml sees it: what makes version 0.7.12 slow or wrong is refused
 * with a line. It knows just enough of the language to skip quoted texts, flow collections and
 * blocks, so that what stands inside them is not taken for something else. Linear in the text. */
#include "formats/yaml/yaml_scan.h"

#include <string.h>

enum {
    MOST_BLANK_LINES = 1000, /* libfyaml takes time quadratic in a run of blank lines */
    MOST_DIRECTIVES = 16,
    LONGEST_KEY =
        2 << 20, /* it keeps all tokens of a list or mapping that might be a key, up to 200
                               bytes for each byte: one in a single line, and not behind a colon */
};

/* What a line's tokens came to. */
enum finding { GOOD, TOO_DEEP, TOO_LONG, EMPTY_BLOCK };

struct yaml_scanner {
    const char *at, *end;
    size_t line;
    size_t column; /* where the content of a block scalar in this line must be right of */
};

/* The newline, or the end of the text. */
static const char *end_of_line(const struct yaml_scanner *s)
{
    if (s->at >= s->end)
        return s->end;
    const char *p = memchr(s->at, '\n', (size_t)(s->end - s->at));
    return p ? p : s->end;
}

/* From the opening quote past the closing one, over lines. '' and \" do not close. */
static void skip_quoted(struct yaml_scanner *s)
{
    char quote = *s->at++;
    for (; s->at < s->end; s->at++) {
        bool doubled =
            s->at + 1 < s->end && quote == '\'' && s->at[0] == quote && s->at[1] == quote;
        bool escape = s->at + 1 < s->end && quote == '"' && s->at[0] == '\\';
        if (*s->at == quote && !doubled)
            break;
        s->at += doubled || escape;
        s->line += *s->at == '\n';
    }
    s->at += s->at < s->end;
}

/* At an opening bracket: past its closing one. `as_value`: it stands behind a colon, and so does not
 * begin a key. */
static enum finding skip_flow(struct yaml_scanner *s, bool as_value)
{
    size_t depth = 0,
           key_depth = 0;   /* of the outermost bracket that may begin a key; 0: none does */
    const char *key = NULL; /* where that stands */
    char before = '[',
         token = as_value ? ':' : ','; /* the last byte, and the last that is no blank */
    while (s->at < s->end) {
        char c = *s->at;
        if (key_depth && s->at - key > LONGEST_KEY)
            return TOO_LONG;
        if ((c == '"' || c == '\'') && strchr(" \t\n,[]{}:", before)) {
            size_t line = s->line;
            skip_quoted(s);
            key_depth = s->line == line ? key_depth : 0;
            before = token = 'q';
            continue;
        }
        if (c == '#' && (before == ' ' || before == '\n' || before == '\t')) {
            s->at = end_of_line(s);
            before = 'c';
            continue;
        }
        s->at++;
        s->line += c == '\n';
        if (c == '\n')
            key_depth = 0; /* a key has one line */
        if ((c == '[' || c == '{') && ++depth > YAML_MOST_LEVELS)
            return TOO_DEEP;
        if ((c == '[' || c == '{') && !key_depth && token != ':') {
            key_depth = depth;
            key = s->at;
        }
        if ((c == ']' || c == '}') && key_depth == depth)
            key_depth = 0;
        if ((c == ']' || c == '}') && --depth == 0)
            return GOOD;
        before = c;
        token = c == ' ' || c == '\t' || c == '\r' || c == '\n' ? token : c;
    }
    return GOOD;
}

/* Is this | or > the head of a block scalar: then indicators, blanks and a comment at most? */
static bool is_block_head(const struct yaml_scanner *s, const char *stop)
{
    const char *p = s->at + 1;
    while (p < stop && strchr("0123456789+-", *p))
        p++;
    const char *after = p;
    while (p < stop && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == stop || (*p == '#' && p > after);
}

/* At the head of a block scalar: to the end of its last line. False: the next line belongs to
 * something else already. */
static bool skip_block(struct yaml_scanner *s)
{
    bool has_lines = false;
    for (;;) {
        s->at = end_of_line(s);
        if (s->at == s->end)
            return true;
        const char *content = s->at + 1;
        while (content < s->end && *content == ' ')
            content++;
        size_t column = (size_t)(content - s->at - 1);
        bool blank = content == s->end || *content == '\n' || *content == '\r';
        if (!blank && column <= s->column)
            return has_lines;
        has_lines |= !blank;
        s->at++;
        s->line++;
    }
}

/* The rest of a line from the start of a token on. */
static enum finding scan_tokens(struct yaml_scanner *s, size_t key_column)
{
    const char *stop =
        s->at; /* the line's end, looked for once a line: lines have millions of tokens */
    bool behind_colon = false;
    while (s->at < s->end && *s->at != '\n') {
        char c = *s->at;
        if (s->at >= stop)
            stop = end_of_line(s);
        if (c == '[' || c == '{') {
            enum finding found = skip_flow(s, behind_colon);
            if (found != GOOD)
                return found;
        } else if (c == '"' || c == '\'') {
            skip_quoted(s);
        } else if ((c == '|' || c == '>') && is_block_head(s, stop)) {
            return skip_block(s) ? GOOD : EMPTY_BLOCK;
        } else if (c == '#') {
            s->at = end_of_line(s);
            return GOOD;
        }
        /* on to the next token of the line: after ": " */
        if (s->at > stop) /* over lines */
            stop = end_of_line(s);
        const char *p = s->at;
        while (p < stop && !(p[0] == ':' && (p + 1 == stop || p[1] == ' ' || p[1] == '\t')) &&
               !(p[0] == '#' && p > s->at && p[-1] == ' '))
            p++;
        if (p == stop || *p == '#') {
            s->at = stop;
            return GOOD;
        }
        s->column = key_column;
        behind_colon = true;
        for (p++; p < stop && (*p == ' ' || *p == '\t');)
            p++;
        s->at = p;
    }
    return GOOD;
}

/* Runs of blank lines and directives, whatever they are part of. */
static bool scan_lines(const char *file, const char *text, size_t length, struct error *err)
{
    size_t blank = 0, directives = 0, line = 1;
    const char *end = text + length;
    for (const char *p = text, *line_end; p < end; p = line_end + 1, line++) {
        line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end)
            line_end = end;
        const char *q = p;
        while (q < line_end && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        blank = q == line_end ? blank + 1 : 0;
        if (blank > MOST_BLANK_LINES)
            return error_at(err, file, line, "more than %d blank lines in a row", MOST_BLANK_LINES);
        directives += *p == '%';
        if (directives > MOST_DIRECTIVES)
            return error_at(err, file, line,
                            "more than %d lines begin with %%; expected one YAML document",
                            MOST_DIRECTIVES);
    }
    return true;
}

/* s.column is where the content of a block must be right of: the key or dash that it belongs to. */
bool yaml_scan(const char *file, const char *text, size_t length, struct error *err)
{
    struct yaml_scanner s = {.at = text, .end = text + length, .line = 1};
    while (s.at < s.end) {
        const char *start = s.at;
        s.column = 0;
        for (;;) { /* indentation, and the dashes of nested lists */
            while (s.at < s.end && *s.at == ' ')
                s.at++;
            if (s.end - s.at < 2 || (*s.at != '-' && *s.at != '?') || s.at[1] != ' ')
                break;
            s.column = (size_t)(s.at - start);
            s.at++;
        }
        size_t line = s.line;
        enum finding found = scan_tokens(&s, (size_t)(s.at - start));
        if (found == TOO_DEEP)
            return error_at(err, file, line, "brackets are nested more than %d deep",
                            YAML_MOST_LEVELS);
        if (found == TOO_LONG)
            return error_at(
                err, file, line,
                "a list or mapping of more than %d MB in one line, which might be a key; "
                "begin a new line behind its first bracket",
                LONGEST_KEY >> 20);
        if (found == EMPTY_BLOCK) /* libfyaml 0.7.12 would swallow the lines of its neighbours */
            return error_at(err, file, line,
                            "a block (| or >) without lines; indent them, or write '' for no text");
        if (s.at < s.end) {
            s.at++;
            s.line++;
        }
    }
    return scan_lines(file, text, length, err);
}
