/* Constraint text to words. Attributes may be spelled as printed in the paper (task-finish-time) or
 * with underscores: a hyphenated word is one word when all of it, or its longest beginning, is an
 * attribute; otherwise the hyphen is a minus. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "query/relations.h"

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_END };

struct query_token {
    enum token_kind kind;
    uint32_t line, column; /* from 1 */
    uint32_t at, length;   /* in the text */
    char *word; /* words in lower case with underscores, synonyms resolved; strings without quotes;
                   signs and numbers as written */
    int attribute; /* enum attribute, or -1 */
};

struct lexed {
    const char *name;                 /* of the text, for messages */
    const char *text;                 /* borrowed */
    ARRAY(struct query_token) tokens; /* the last is TOKEN_END */
};

enum { LEXER_LARGEST = 1000000 }; /* bytes of constraint text */

bool lexer_run(struct lexed *out, const char *name, const char *text, struct error *err);
void lexed_free(struct lexed *l);

/* "rules.sql:3:14: ..."; always false. */
bool lexed_error(const struct lexed *l, const struct query_token *at, struct error *err,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* How a message names a token: "'foo'" or "the end". Writes into `buffer`. */
const char *token_label(const struct lexed *l, const struct query_token *t, char *buffer,
                        size_t size);

static inline bool token_is(const struct query_token *t, const char *word)
{
    return (t->kind == TOKEN_WORD || t->kind == TOKEN_SIGN) && strcmp(t->word, word) == 0;
}
