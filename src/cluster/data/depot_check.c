/* Is what stands here what it was? (depot_verify)
 *
 * What has its size, inode and times since it was last read need not be read. The rest is read and
 * hashed: small things at once, large ones by a thread of the loop's pool, since an agent that reads
 * ten gigabytes in its loop is dead for the others meanwhile.
 *
 *     depot_verify() ── large ──▶ check_read()      on a thread; touches its struct depot_check alone
 *           │                          │
 *           ▼                          ▼
 *     SOUND or LOST              check_done()       on the loop: `lost`, `checked`
 *
 * I1. At most one check of an object at a time; it is in d->checks until check_done().
 * I2. A depot that ends lets go of its checks (d NULL): check_done() frees them.
 * I3. What changed while it was read is read again: its times of before and after are compared. */
#include "cluster/data/depot_state.h"

#include <sys/stat.h>
#include <uv.h>

enum { CHECK_AT_ONCE = 16 << 20 }; /* bytes: some 20 to 80 ms */

struct depot_check {
    uv_work_t work;
    struct depot *d; /* NULL: nobody waits for it any more */
    uint32_t object;
    char *path;
    struct stat before;
    struct digest digest;
    bool read;
    struct error err;
};

/* A memo that knows nothing reads everything. */
static void check_read_all(void *check)
{
    struct depot_check *c = check;
    struct memo *memo = memo_open(NULL, NULL, &c->err);
    double bytes;
    c->read = memo_digest(memo, c->path, false, &c->digest, &bytes, &c->err);
    memo_close(memo, NULL);
}

/* Memory that runs out here must not end the agent: what was not read is not believed. */
static void check_read(uv_work_t *work)
{
    struct depot_check *c = work->data;
    size_t asked;
    if (!mem_try(NULL, check_read_all, c, &asked))
        c->read = error_set(&c->err, ERROR_FAILED, "memory ran out while it was read");
}

static void check_free(struct depot_check *c)
{
    free(c->path);
    free(c);
}

/* Deleted, and told. */
static void check_lost(struct depot *d, uint32_t object, const struct error *err)
{
    char label[DEPOT_LABEL];
    struct error why = {0};
    error_set(
        &why, ERROR_FAILED,
        "the copy of '%.300s' here is damaged (%.300s): it is dropped, and fetched or computed "
        "again",
        depot_label(d, object, label),
        err->kind != ERROR_NONE ? err->text : "it has another content than it had, or is gone");
    depot_drop(d, object);
    if (d->config.lost)
        d->config.lost(d->config.context, object, why.text);
}

/* It was read whole, and is what it was. */
static bool check_is_good(const struct depot *d, const struct depot_check *c)
{
    return c->read && depot_has(d, c->object) &&
           digest_equal(&c->digest, &d->objects[c->object].digest);
}

static bool check_same_times(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A file that was not touched meanwhile is known from now on. */
static void check_settle(struct depot *d, const struct depot_check *c)
{
    struct stat now;
    if (!check_is_good(d, c)) {
        if (depot_has(d, c->object))
            check_lost(d, c->object, &c->err);
        return;
    }
    d->state[c->object] &= (uint8_t)~OBJECT_DOUBTED;
    if (stat(c->path, &now) == 0 && check_same_times(&c->before, &now)) /* I3 */
        memo_learn_digest(d->config.memo, c->path, &c->digest);
}

static void check_done(uv_work_t *work, int status)
{
    struct depot_check *c = work->data;
    struct depot *d = c->d;
    if (!d) { /* I2 */
        check_free(c);
        return;
    }
    for (size_t i = 0; i < d->checks.n; i++)
        if (d->checks.at[i] == c) {
            d->checks.at[i] = array_pop(&d->checks);
            break;
        }
    uint32_t object = c->object;
    if (status == 0) /* else it was never begun: whoever waits asks again */
        check_settle(d, c);
    check_free(c);
    if (d->config.checked)
        d->config.checked(d->config.context, object);
}

void depot_check_free(struct depot *d)
{
    for (size_t i = 0; i < d->checks.n; i++) {
        d->checks.at[i]->d = NULL;
        uv_cancel((uv_req_t *)&d->checks.at[i]->work);
    }
    array_free(&d->checks);
}

/* Does a thread read it already? */
static bool check_goes_on(const struct depot *d, uint32_t object)
{
    for (size_t i = 0; i < d->checks.n; i++)
        if (d->checks.at[i]->object == object)
            return true;
    return false;
}

enum depot_verdict depot_verify(struct depot *d, uint32_t object)
{
    char label[DEPOT_LABEL];
    struct digest known;
    struct stat s;
    if (depot_label(d, object, label)[0] == '/')
        return DEPOT_SOUND;
    if (!depot_has(d, object))
        return DEPOT_LOST;
    if (check_goes_on(d, object))
        return DEPOT_LATER;
    const char *path = depot_path(d, object);
    const struct digest *digest = &d->objects[object].digest;
    bool doubted = d->state[object] & OBJECT_DOUBTED, there = stat(path, &s) == 0;
    if (there && !doubted && memo_known(d->config.memo, path, &s, &known) &&
        digest_equal(&known, digest))
        return DEPOT_SOUND;
    struct depot_check *c = mem_new_zero(struct depot_check, 1);
    *c = (struct depot_check){.d = d, .object = object, .path = mem_copy_string(path)};
    c->work.data = c;
    c->before = there ? s : (struct stat){0};
    /* of a folder only what changed is read, unless nothing of it is believed */
    bool large =
        there && d->objects[object].bytes > CHECK_AT_ONCE && (doubted || !S_ISDIR(s.st_mode));
    if (large && d->config.loop &&
        uv_queue_work(d->config.loop, &c->work, check_read, check_done) == 0) {
        array_push(&d->checks, c);
        return DEPOT_LATER;
    }
    double bytes;
    if (there && !doubted)
        c->read = memo_digest(d->config.memo, path, false, &c->digest, &bytes, &c->err);
    else if (there)
        check_read_all(c);
    check_settle(d, c);
    check_free(c);
    return depot_has(d, object) ? DEPOT_SOUND : DEPOT_LOST;
}
