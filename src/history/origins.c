/* Where a file comes from: by its path, under every folder that runs ran in; by its content, whatever
 * it is called now. */
#include "history/reader.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ORIGIN_COLUMNS                                                                             \
    "SELECT f.id >> 32, r.started, r.name, r.folder, t.name, f.object, f.task, p.path,"            \
    " f.digest, f.key, f.size, f.made"

static int origins_rows(struct history *h, sqlite3_stmt *s, history_origins *out, struct error *err)
{
    int row;
    while ((row = database_step(h, s, err)) == 1) {
        struct history_origin o = {
            .run = sqlite3_column_int64(s, 0),
            .started = sqlite3_column_double(s, 1),
            .name = database_text(s, 2),
            .folder = database_text(s, 3),
            .maker = database_text(s, 4),
        };
        reader_read_file(s, 5, &o.file);
        array_push(out, o);
    }
    return row;
}

/* The file as path `rest` under the folder numbered `folder`, by hash first, then by the path itself:
 * see database_path_hash(). */
static bool origins_under(struct history *h, int64_t folder, const char *rest, size_t limit,
                          history_origins *out, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        ORIGIN_COLUMNS
        " FROM paths p JOIN files f ON f.path = p.id JOIN runs r ON r.id = f.id >> 32"
        " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + f.task"
        " WHERE p.hash = ?1 AND p.folder = ?2 AND p.path = ?3 ORDER BY f.id DESC LIMIT ?4",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_path_hash(folder, rest));
    sqlite3_bind_int64(s, 2, folder);
    database_bind_text(s, 3, rest);
    sqlite3_bind_int64(s, 4, limit ? (int64_t)limit : -1);
    int row = origins_rows(h, s, out, err);
    database_close_query(s, &guard);
    return row == 0;
}

/* Equal runs by object, so that the order is the same every time. */
static int newest_first(const void *a, const void *b)
{
    const struct history_origin *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? 1 : -1;
    return (x->file.object > y->file.object) - (x->file.object < y->file.object);
}

/* Where a file came from: under every folder that contains it, and by its whole path. */
bool history_file(struct history *h, const char *path, size_t limit, history_origins *out,
                  struct error *err)
{
    memset(out, 0, sizeof *out);
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(h, &guard, "SELECT id, path FROM folders ORDER BY id", err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        int64_t id = sqlite3_column_int64(s, 0);
        const char *folder = (const char *)sqlite3_column_text(s, 1);
        size_t n = folder ? strlen(folder) : 0;
        /* "/" itself becomes empty, and every path is inside */
        while (n && folder[n - 1] == '/')
            n--;
        bool inside =
            folder && *folder && strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1];
        /* A workflow may name its files by their whole path, wherever it ran. */
        if ((inside && !origins_under(h, id, path + n + 1, limit, out, err)) ||
            !origins_under(h, id, path, limit, out, err)) {
            row = -1;
            break;
        }
    }
    database_close_query(s, &guard);
    if (row < 0) {
        history_origins_free(out);
        return false;
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, newest_first);
    while (limit && out->n > limit) {
        struct history_origin *o = &out->at[--out->n];
        free(o->name);
        free(o->folder);
        free(o->maker);
        free(o->file.path);
    }
    return true;
}

int history_file_at(struct history *h, const char *folder, const char *path, int64_t run,
                    struct history_origin *out, struct error *err)
{
    struct mem_guard guard;
    history_origins found = {0};
    sqlite3_stmt *s = database_kept(
        h, &guard, KEPT_FILE_AT,
        ORIGIN_COLUMNS
        /* one step in the index of the path's files, however many they are */
        " FROM files f JOIN paths p ON p.id = f.path JOIN runs r ON r.id = f.id >> 32"
        " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + f.task WHERE f.id = (SELECT max("
        " (SELECT max(g.id) FROM files g WHERE g.path = q.id AND g.id < ?3))"
        " FROM folders d JOIN paths q ON q.hash = path_hash(d.id, ?2) AND q.folder = d.id"
        " AND q.path = ?2 WHERE d.path = ?1)",
        err);
    if (!s)
        return -1;
    database_bind_text(s, 1, folder ? folder : "");
    database_bind_text(s, 2, path);
    sqlite3_bind_int64(s, 3, database_row(run + 1, 0));
    int row = origins_rows(h, s, &found, err);
    database_end_kept(s, &guard);
    int result = row < 0 ? -1 : (int)found.n;
    if (found.n)
        *out = found.at[0];
    array_free(&found); /* its texts are the caller's */
    return result;
}

bool history_holders(struct history *h, const struct history_origin *o, int64_t until,
                     int64_t *runs, size_t most, size_t *n, struct error *err)
{
    struct mem_guard guard;
    *n = 0;
    sqlite3_stmt *s = database_kept(
        h, &guard, KEPT_HOLDERS,
        "SELECT id FROM runs WHERE folder = ?1 AND id >= ?3 AND id < ifnull("
        " (SELECT min((SELECT f.id FROM files f WHERE f.path = p.id AND f.id >= ?4"
        " AND f.id < ?7 << 32 AND f.digest IS NOT ?5 ORDER BY f.id LIMIT 1)) >> 32"
        " FROM folders d JOIN paths p ON p.hash = path_hash(d.id, ?2) AND p.folder = d.id"
        " AND p.path = ?2 WHERE d.path = ?1), ?7)"
        " ORDER BY id LIMIT ?6",
        err);
    if (!s)
        return false;
    database_bind_text(s, 1, o->folder ? o->folder : "");
    database_bind_text(s, 2, o->file.path);
    sqlite3_bind_int64(s, 3, o->run);
    sqlite3_bind_int64(s, 4, database_row(o->run + 1, 0));
    if (!digest_is_zero(&o->file.digest))
        sqlite3_bind_blob(s, 5, o->file.digest.at, sizeof o->file.digest.at, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, (int64_t)most);
    sqlite3_bind_int64(s, 7, until ? until : INT32_MAX); /* numbers of runs are smaller: head.c */
    int row;
    while ((row = database_step(h, s, err)) == 1)
        runs[(*n)++] = sqlite3_column_int64(s, 0);
    database_end_kept(s, &guard);
    return row == 0;
}

/* The index has six bytes of each digest: the rest is compared. */
bool history_content(struct history *h, const struct digest *content, size_t limit,
                     history_origins *out, struct error *err)
{
    memset(out, 0, sizeof *out);
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        ORIGIN_COLUMNS
        " FROM files f INDEXED BY files_by_digest JOIN paths p ON p.id = f.path"
        " JOIN runs r ON r.id = f.id >> 32 LEFT JOIN tasks t ON t.id = (r.workflow << 32) + f.task"
        " WHERE substr(f.digest, 1, 6) = substr(?1, 1, 6) AND f.digest = ?1"
        " ORDER BY f.id DESC LIMIT ?2",
        err);
    if (!s)
        return false;
    sqlite3_bind_blob(s, 1, content->at, sizeof content->at, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, limit ? (int64_t)limit : -1);
    int row = origins_rows(h, s, out, err);
    database_close_query(s, &guard);
    if (row < 0)
        history_origins_free(out);
    return row == 0;
}

void history_origins_free(history_origins *origins)
{
    for (size_t i = 0; i < origins->n; i++) {
        struct history_origin *o = &origins->at[i];
        free(o->name);
        free(o->folder);
        free(o->maker);
        free(o->file.path);
    }
    array_free(origins);
}
