/* Free words as conditions in SQL: see words.h. */
#include "history/words.h"

#include <string.h>

/* As a pattern of LIKE, in quotes: what means something there means itself. */
static void words_pattern(const char *word, size_t n, struct strbuf *out)
{
    strbuf_add(out, "'%");
    for (size_t i = 0; i < n; i++) {
        if (strchr("%_!", word[i]))
            strbuf_add_char(out, '!');
        if (word[i] == '\'')
            strbuf_add_char(out, '\'');
        strbuf_add_char(out, word[i]);
    }
    strbuf_add(out, "%' ESCAPE '!'");
}

static void words_columns(const char *pattern, struct strbuf *sql)
{
    static const char *const columns[] = {"name",  "file",   "folder",  "host", "planner",
                                          "given", "system", "version", NULL};
    for (const char *const *c = columns; *c; c++)
        strbuf_printf(sql, "%sifnull(r.%s, '') LIKE %s", c == columns ? "" : " OR ", *c, pattern);
}

void words_condition(const char *words, struct strbuf *sql)
{
    static const char blanks[] = " \t\n";
    struct strbuf pattern = {0};
    for (const char *at = words ? words : ""; *(at += strspn(at, blanks));) {
        size_t n = strcspn(at, blanks);
        strbuf_clear(&pattern);
        words_pattern(at, n, &pattern);
        strbuf_add(sql, " AND (");
        words_columns(pattern.at, sql);
        strbuf_printf(sql,
                      " OR EXISTS (SELECT 1 FROM facts f JOIN names m ON m.id = f.name"
                      " WHERE f.run = r.id AND (f.value LIKE %s OR m.name LIKE %s))"
                      /* not of the run at hand: made once, when the first run asks */
                      " OR r.workflow IN (SELECT id FROM workflows"
                      " WHERE CAST(text AS TEXT) LIKE %s))",
                      pattern.at, pattern.at, pattern.at);
        at += n;
    }
    strbuf_free(&pattern);
}
