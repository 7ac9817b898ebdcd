/* Making a memo small again: into a new journal beside the old one, which it replaces by a rename, whole
 * or not at all.
 *
 * Two things make it large. Records that later ones have taken the place of are still in the file, since
 * it is only appended to: writing it anew drops them. And what was computed once stays known, also of
 * inputs and commands that nobody will have again: past a size, the oldest of these go. What is dropped
 * is computed, or read, once more if it is ever asked for. */
#include "memo/memo_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FLUSH_AT = 1 << 20,     /* bytes of records: one write is worth it then */
    STALE_LEAST = 16 << 20, /* bytes that are not worth writing it anew for */
};

/* Which records stay. */
struct compact_choice {
    bool (*keep)(void *context, const struct memo_task *t);
    void *context;
    bool (*keep_file)(const struct memo_file *f); /* NULL: all */
};

/* The new journal while it is written. */
struct compact_target {
    struct memo *memo;
    char *path;
};

/* Also a guard's, when memory runs out: the old journal is untouched. */
static void compact_give_up(void *target)
{
    struct compact_target *to = target;
    memo_abandon(to->memo);
    unlink(to->path);
}

static bool compact_fill(struct memo *m, struct memo *to, const struct compact_choice *c,
                         struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < m->tasks.n && good; i++) {
        const struct memo_task *t = &m->tasks.at[i];
        if (memo_find(m, &t->key) == t && c->keep(c->context, t))
            memo_add(to, t, memo_inputs(m, t), memo_outputs(m, t));
        if (to->frame.n > FLUSH_AT)
            good = memo_flush(to, err);
    }
    for (size_t i = 0; i < m->files.n && good; i++) {
        const struct memo_file *f = &m->files.at[i];
        if (c->keep_file && !c->keep_file(f))
            continue;
        memo_learn_file(to, f);
        memo_write_file(to, f);
        if (to->frame.n > FLUSH_AT)
            good = memo_flush(to, err);
    }
    return good && memo_flush(to, err);
}

/* The new one takes the old one's place, in the folder and in the handle. */
static bool compact_replace(struct memo *m, struct compact_target *to, struct error *err)
{
    if (fdatasync(to->memo->journal.fd) != 0 && errno != EINVAL)
        return error_set(err, ERROR_FAILED, "%s: %s", to->path, strerror(errno));
    if (rename(to->path, m->path) != 0)
        return error_set(err, ERROR_FAILED, "%s: %s", m->path, strerror(errno));
    struct memo old = *m;
    *m = *to->memo;
    free(m->path);
    m->path = old.path;
    m->folder = old.folder;
    old.path = old.folder = NULL;
    *to->memo = old;
    return true;
}

static bool compact_by(struct memo *m, const struct compact_choice *c, double *before,
                       double *after, struct error *err)
{
    *before = *after = (double)m->journal.end;
    if (!m->kept || !memo_flush(m, err))
        return !m->kept;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s.new", m->path);
    struct compact_target to = {.path = path.at};
    unlink(to.path); /* of one that was killed at it */
    struct mem_guard guard;
    mem_guard_enter(&guard, compact_give_up, &to);
    to.memo = memo_open(to.path, NULL, err);
    bool good = to.memo && compact_fill(m, to.memo, c, err) && compact_replace(m, &to, err);
    mem_guard_leave(&guard);
    if (!good)
        unlink(to.path);
    else
        *after = (double)m->journal.end;
    memo_close(to.memo, NULL);
    strbuf_free(&path);
    return good;
}

bool memo_compact(struct memo *m, bool (*keep)(void *context, const struct memo_task *t),
                  void *context, double *before, double *after, struct error *err)
{
    return compact_by(m, &(struct compact_choice){.keep = keep, .context = context}, before, after,
                      err);
}

/* ---- by itself ---- */

struct compact_age {
    const struct memo *m;
    const struct memo_tidying *t;
    size_t young; /* records from this number on are kept, whoever needs them */
};

/* Records stand in the order of time: that of their first result, if it stayed the same. */
static bool compact_keep_young(void *context, const struct memo_task *t)
{
    const struct compact_age *a = context;
    return (size_t)(t - a->m->tasks.at) >= a->young || a->t->needed(a->t->context, t);
}

static bool compact_keep_all(void *context, const struct memo_task *t)
{
    (void)context;
    (void)t;
    return true;
}

/* What a task left is remembered: it tells weft's files from others. */
static bool compact_keep_used(const struct memo_file *f)
{
    return f->left || f->used;
}

/* Bytes that it would have without what later records have taken the place of; and where the half of
 * `most` that stays whoever needs it begins. */
static double compact_live_bytes(const struct memo *m, double most, size_t *young)
{
    double live = (double)m->files.n * (double)memo_file_bytes(), recent = 0;
    *young = 0;
    for (size_t i = m->tasks.n; i--;) {
        const struct memo_task *t = &m->tasks.at[i];
        if (memo_find(m, &t->key) != t)
            continue;
        live += (double)memo_task_bytes(t);
        recent += (double)memo_task_bytes(t);
        if (recent > most / 2 && !*young)
            *young = i + 1;
    }
    return live;
}

/* Bytes that would go by age: a quarter at least must, or the next run would write it all again. */
static double compact_old_bytes(struct memo *m, const struct compact_age *a)
{
    double old = 0;
    for (size_t i = 0; i < a->young; i++) {
        const struct memo_task *t = &m->tasks.at[i];
        if (memo_find(m, &t->key) == t && !a->t->needed(a->t->context, t))
            old += (double)memo_task_bytes(t);
    }
    for (size_t i = 0; i < m->files.n; i++)
        old += compact_keep_used(&m->files.at[i]) ? 0 : (double)memo_file_bytes();
    return old;
}

/* A small journal is not looked at: O(1) after most runs. */
bool memo_tidy(struct memo *m, struct memo_tidying *t, struct error *err)
{
    t->before = t->after = (double)m->journal.end;
    t->forgot = false;
    if (!m->kept || (t->before < STALE_LEAST && t->before < t->most))
        return true;
    struct compact_age age = {.m = m, .t = t};
    double live = compact_live_bytes(m, t->most, &age.young);
    if (live > t->most && compact_old_bytes(m, &age) > live / 4) {
        t->forgot = true;
        return compact_by(m,
                          &(struct compact_choice){.keep = compact_keep_young,
                                                   .context = &age,
                                                   .keep_file = compact_keep_used},
                          &t->before, &t->after, err);
    }
    if (t->before < 2 * live + STALE_LEAST)
        return true;
    return memo_compact(m, compact_keep_all, NULL, &t->before, &t->after, err);
}
