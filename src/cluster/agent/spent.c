/* What an agent remembers of runs (spent.h). The file is 17 bytes an entry, id and state, appended; the
 * last entry of an id counts.
 *
 * I1. Every run of `runs` is found through `table`, which is never more than half full.
 * I2. The file holds at most 4 x SPENT_MOST entries: then it is written anew, with the younger half. */
#include "cluster/agent/spent.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRY = SEAL_ID + 1, FILE_MOST = 4 * SPENT_MOST, TABLE_LEAST = 64 };

/* The place of an id in the table, or the free one where it belongs. Ids are random: any bytes hash. */
static uint32_t *spent_place(const struct spent *s, const uint8_t id[static SEAL_ID])
{
    uint64_t hash;
    memcpy(&hash, id, sizeof hash);
    for (size_t i = hash & (s->places - 1);; i = (i + 1) & (s->places - 1)) {
        uint32_t number = s->table[i];
        if (!number || memcmp(s->runs.at[number - 1].id, id, SEAL_ID) == 0)
            return &s->table[i];
    }
}

static void spent_build_table(struct spent *s)
{
    size_t size = TABLE_LEAST;
    while (size < 4 * (s->runs.n + 1))
        size *= 2;
    free(s->table);
    s->table = mem_new_zero(uint32_t, size);
    s->places = size;
    for (size_t i = 0; i < s->runs.n; i++)
        *spent_place(s, s->runs.at[i].id) = (uint32_t)i + 1;
}

/* False: it is known, and as far already. */
static bool spent_keep(struct spent *s, const uint8_t id[static SEAL_ID], uint8_t state)
{
    uint32_t *place = spent_place(s, id);
    if (*place) {
        struct spent_run *r = &s->runs.at[*place - 1];
        bool further = state > r->state;
        r->state = further ? state : r->state;
        return further;
    }
    struct spent_run r = {.state = state};
    memcpy(r.id, id, sizeof r.id);
    array_push(&s->runs, r);
    *place = (uint32_t)s->runs.n;
    if (2 * s->runs.n > s->places)
        spent_build_table(s);
    return true;
}

/* The older half goes; the file is replaced as a whole (I2). */
static bool spent_shrink(struct spent *s, size_t keep, struct error *err)
{
    struct strbuf all = {0};
    size_t from = s->runs.n > keep ? s->runs.n - keep : 0;
    if (from)
        memmove(s->runs.at, s->runs.at + from, (s->runs.n - from) * sizeof *s->runs.at);
    s->runs.n -= from;
    spent_build_table(s);
    for (size_t i = 0; i < s->runs.n; i++) {
        strbuf_add_bytes(&all, (const char *)s->runs.at[i].id, SEAL_ID);
        strbuf_add_char(&all, (char)s->runs.at[i].state);
    }
    bool good = file_write(s->path, strbuf_text(&all), all.n, err);
    strbuf_free(&all);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = good ? open(s->path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
    return good;
}

bool spent_open(struct spent *s, const char *path, struct error *err)
{
    *s = (struct spent){.fd = -1, .path = mem_copy_string(path)};
    struct text old = {0};
    spent_build_table(s);
    s->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (s->fd < 0)
        return error_set(err, ERROR_FAILED, "%s: %s", path, strerror(errno));
    if (!file_read(path, &old, err))
        return false;
    for (size_t at = 0; at + ENTRY <= old.n; at += ENTRY)
        spent_keep(s, (const uint8_t *)old.at + at, (uint8_t)old.at[at + SEAL_ID]);
    /* what was cut off would shift all that follows it */
    bool whole = old.n % ENTRY == 0 && old.n / ENTRY <= FILE_MOST && s->runs.n <= SPENT_MOST;
    text_free(&old);
    return whole || spent_shrink(s, SPENT_MOST / 2, err);
}

void spent_close(struct spent *s)
{
    if (s->path && s->fd >= 0)
        close(s->fd);
    free(s->path);
    array_free(&s->runs);
    free(s->table);
    *s = (struct spent){.fd = -1};
}

enum board_run_state spent_state(const struct spent *s, const uint8_t id[static SEAL_ID])
{
    const uint32_t *place = spent_place(s, id);
    return *place ? (enum board_run_state)s->runs.at[*place - 1].state : BOARD_RUN_OPEN;
}

bool spent_note(struct spent *s, const uint8_t id[static SEAL_ID], enum board_run_state state,
                struct error *err)
{
    char entry[ENTRY];
    if (!spent_keep(s, id, (uint8_t)state))
        return true;
    memcpy(entry, id, SEAL_ID);
    entry[SEAL_ID] = (char)state;
    struct stat st;
    if (write(s->fd, entry, sizeof entry) != (ssize_t)sizeof entry || fdatasync(s->fd) != 0 ||
        fstat(s->fd, &st) != 0)
        return error_set(err, ERROR_FAILED, "%s: cannot be written: %s", s->path, strerror(errno));
    if (s->runs.n > SPENT_MOST || st.st_size / ENTRY > FILE_MOST)
        return spent_shrink(s, SPENT_MOST / 2, err);
    return true;
}
