/* What a run told goes when the run goes (prune.c), and when it is told again (take_up.c). */
#include "history/forget.h"

bool forget_by(struct history *h, const char *const *steps, size_t n, const int64_t *values,
               struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        sqlite3_stmt *s = database_prepare(h, steps[i], err);
        for (int k = 1; s && k <= sqlite3_bind_parameter_count(s); k++)
            sqlite3_bind_int64(s, k, values[k - 1]);
        ok = s && database_run(h, s, err);
        sqlite3_finalize(s);
    }
    return ok;
}

bool forget_told(struct history *h, const int64_t *values, struct error *err)
{
    static const char *const steps[] = {
        /* names of files that no other run has */
        ("DELETE FROM paths WHERE id IN (SELECT path FROM files WHERE id BETWEEN ?1 AND ?2) AND NOT"
         " EXISTS (SELECT 1 FROM files f WHERE f.path = paths.id AND (f.id < ?1 OR f.id > ?2))"),
        "DELETE FROM files WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM attempts WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM reused WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM events WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM failures WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM spans WHERE run = ?3",
    };
    return forget_by(h, steps, sizeof steps / sizeof *steps, values, err);
}
