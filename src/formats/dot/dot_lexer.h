/* The words of the DOT language. Text of a quoted string is unescaped in place, so the source is
 * changed; a token's text points into it and stays valid as long as the source. One pass, linear.
 */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

enum dot_token_type {
    DOT_END,
    DOT_ID, /* a name, a number, a quoted string (pieces joined by + are one) or an HTML string */
    DOT_ARROW,
    DOT_LINE,  /* -- */
    DOT_PUNCT, /* one of { } [ ] = ; , : */
};

enum dot_keyword {
    DOT_NOT_KEYWORD,
    DOT_STRICT,
    DOT_GRAPH,
    DOT_DIGRAPH,
    DOT_SUBGRAPH,
    DOT_NODE,
    DOT_EDGE,
};

struct dot_token {
    enum dot_token_type type;
    enum dot_keyword keyword; /* of an unquoted name */
    bool html;                /* the text includes the outer < and > */
    char punct;
    char *text;
    size_t len;
    size_t line;
};

struct dot_lexer {
    const char *file; /* for messages */
    char *at, *end;
    size_t line;
    bool line_start; /* nothing but blanks so far on this line: a # here starts a comment line */
};

void dot_lexer_start(struct dot_lexer *x, const char *file, char *text, size_t length);
/* The next word; false with an error (unterminated string or comment, a character that DOT does not
 * know). */
bool dot_lexer_next(struct dot_lexer *x, struct dot_token *out, struct error *err);
