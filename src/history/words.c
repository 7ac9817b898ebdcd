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

bool words_next(const char **at, struct strbuf *pattern)
{
    static const char blanks[] = " \t\n";
    const char *word = *at + strspn(*at, blanks);
    size_t n = strcspn(word, blanks);
    strbuf_clear(pattern);
    *at = word + n;
    if (!n)
        return false;
    words_pattern(word, n, pattern);
    return true;
}

void words_of_run(const char *pattern, struct strbuf *sql)
{
    static const char *const columns[] = {"name",  "file",   "folder",  "host",  "planner",
                                          "given", "system", "version", "place", NULL};
    strbuf_add_char(sql, '(');
    for (const char *const *c = columns; *c; c++)
        strbuf_printf(sql, "ifnull(r.%s, '') LIKE %s OR ", *c, pattern);
    strbuf_printf(sql,
                  "EXISTS (SELECT 1 FROM facts f JOIN names m ON m.id = f.name"
                  " WHERE f.run = r.id AND (f.value LIKE %s OR m.name LIKE %s)))",
                  pattern, pattern);
}

void words_condition(const char *words, struct strbuf *sql)
{
    struct strbuf pattern = {0};
    const char *at = words ? words : "";
    while (words_next(&at, &pattern)) {
        strbuf_add(sql, " AND (");
        words_of_run(pattern.at, sql);
        /* not of the run at hand: made once, when the first run asks */
        strbuf_printf(sql,
                      " OR r.workflow IN (SELECT id FROM workflows"
                      " WHERE CAST(text AS TEXT) LIKE %s))",
                      pattern.at);
    }
    strbuf_free(&pattern);
}
