/* Kept results: see objects.h.
 *
 * I1. The name of an object is the digest of its bytes: of a folder the very bytes that its digest is
 *     made of (memo/folder_digest.c), so that one rule verifies both.
 * I2. An object is complete when it has its name; what has another name (.making-) is nobody's after
 *     an hour without a write.
 * I3. What is restored is built beside the objects, compared, and renamed to its place; across file
 *     systems it is copied beside its place first.
 * I4. Its time of modification is that of its last use, a day exactly: a run that finds a million
 *     objects again does not write a million times. */
#include "memo/objects.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double LEFT_BEHIND = 3600; /* seconds: I2 */
static const double USED = 86400;       /* seconds: I4 */
static const char FOLDER_SUFFIX[] = ".folder", MAKING[] = ".making-", FOLDER_MARK[] = "folder";
enum { DEEPEST = 64 }; /* folders in folders: as deep as a task's folders are read (need.c) */

struct objects {
    char *folder; /* STATE/objects */
    unsigned made;
};

struct objects *objects_open(const char *state)
{
    struct objects *o = mem_new_zero(struct objects, 1);
    struct strbuf folder = {0};
    o->folder = mem_copy_string(path_in(state, "objects", &folder));
    strbuf_free(&folder);
    return o;
}

void objects_close(struct objects *o)
{
    if (!o)
        return;
    free(o->folder);
    free(o);
}

bool objects_exist(const struct objects *o)
{
    return access(o->folder, F_OK) == 0;
}

static const char *object_path(const struct objects *o, const struct digest *d, bool folder,
                               struct strbuf *out)
{
    char name[DIGEST_TEXT];
    digest_text(d, name);
    strbuf_clear(out);
    strbuf_printf(out, "%s/%.2s/%s%s", o->folder, name, name + 2, folder ? FOLDER_SUFFIX : "");
    return out->at;
}

/* A name that nobody has: nothing stands there, since it has our number. */
static const char *making_path(struct objects *o, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/%s%ld-%u", o->folder, MAKING, (long)getpid(), o->made++);
    tree_remove(out->at);
    return out->at;
}

static bool object_make_folders(const struct objects *o, const char *path, struct error *err)
{
    struct strbuf file = {0};
    strbuf_printf(&file, "%s/.", o->folder);
    bool good = make_parents(file.at, err) && (!path || make_parents(path, err));
    strbuf_free(&file);
    return good;
}

/* I4. */
static void object_touch(const char *path, const struct stat *s)
{
    if (difftime(time(NULL), s->st_mtim.tv_sec) > USED)
        utimensat(AT_FDCWD, path, NULL, 0); /* not ours to write: it goes earlier, that is all */
}

/* ---- what is in a folder ---- */

struct object_entry {
    char name[NAME_MAX + 1];
    struct digest digest;
};

static bool take_length(const unsigned char **at, size_t *left, size_t *out)
{
    uint64_t n = 0;
    if (*left < 8)
        return false;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)(*at)[i] << (8 * i);
    *at += 8;
    *left -= 8;
    *out = (size_t)n;
    return n <= *left;
}

/* The next entry of a list. 1: there is one; 0: that was all; -1: this is no such list. */
static int next_entry(const unsigned char **at, size_t *left, struct object_entry *e)
{
    size_t n;
    if (!*left)
        return 0;
    if (!take_length(at, left, &n) || n == 0 || n > NAME_MAX || *left - n < sizeof e->digest)
        return -1;
    memcpy(e->name, *at, n);
    e->name[n] = 0;
    memcpy(e->digest.at, *at + n, sizeof e->digest);
    *at += n + sizeof e->digest;
    *left -= n + sizeof e->digest;
    /* a name that leads out of the folder is none that a folder has */
    return strlen(e->name) == n && !strchr(e->name, '/') && strcmp(e->name, ".") != 0 &&
                   strcmp(e->name, "..") != 0
               ? 1
               : -1;
}

/* What every list begins with. */
static bool list_begins(const unsigned char **at, size_t *left)
{
    size_t n;
    bool good = take_length(at, left, &n) && n == sizeof FOLDER_MARK - 1 &&
                memcmp(*at, FOLDER_MARK, n) == 0;
    if (good) {
        *at += n;
        *left -= n;
    }
    return good;
}

static void add_length(struct strbuf *out, size_t n)
{
    for (int i = 0; i < 8; i++)
        strbuf_add_char(out, (char)(unsigned char)((uint64_t)n >> (8 * i)));
}

static void add_named(struct strbuf *out, const char *name)
{
    add_length(out, strlen(name));
    strbuf_add(out, name);
}

/* The list of a folder, compared with its digest. False: it is not there, or damaged; then it is
 * removed, unless `damaged` is NULL: who only asks changes nothing. */
static bool read_list(const struct objects *o, const struct digest *d, struct text *out,
                      bool *damaged)
{
    struct strbuf path = {0};
    struct error ignored = {0};
    struct digest now;
    bool good = access(object_path(o, d, true, &path), F_OK) == 0;
    if (good) {
        good = file_read(path.at, out, &ignored);
        if (good)
            digest_of(out->at, out->n, &now);
        if (!good || !digest_equal(&now, d)) {
            if (good)
                text_free(out);
            if (damaged) {
                unlink(path.at);
                *damaged = true;
            }
            good = false;
        }
    }
    strbuf_free(&path);
    return good;
}

/* ---- asking ---- */

/* `used`: it is being kept once more. */
static bool has_at(const struct objects *o, const struct digest *d, bool used, int depth)
{
    struct strbuf path = {0};
    struct stat s;
    bool there = lstat(object_path(o, d, false, &path), &s) == 0 && S_ISREG(s.st_mode);
    struct text list = {0};
    if (!there && depth < DEEPEST && lstat(object_path(o, d, true, &path), &s) == 0 &&
        read_list(o, d, &list, NULL)) {
        const unsigned char *at = (const unsigned char *)list.at;
        size_t left = list.n;
        struct object_entry e;
        int more = list_begins(&at, &left) ? 1 : -1;
        while (more == 1 && (more = next_entry(&at, &left, &e)) == 1)
            if (!has_at(o, &e.digest, used, depth + 1))
                more = -1;
        there = more == 0;
        text_free(&list);
    }
    if (there && used)
        object_touch(path.at, &s);
    strbuf_free(&path);
    return there;
}

bool objects_has(const struct objects *o, const struct digest *d)
{
    return has_at(o, d, false, 0);
}

/* ---- keeping ---- */

/* A finished object gets its name. Who else kept the same meanwhile has put the same there. */
static bool object_finish(struct objects *o, const char *making, const struct digest *d,
                          bool folder, struct error *err)
{
    struct strbuf path = {0};
    bool good = object_make_folders(o, object_path(o, d, folder, &path), err);
    if (good && rename(making, path.at) != 0)
        good = error_set(err, ERROR_FAILED, "%s: cannot be kept: %s", path.at, strerror(errno));
    if (!good)
        unlink(making);
    strbuf_free(&path);
    return good;
}

/* The copy is read unless the memo vouches for its source after it was made: what changed between must
 * not get the name of what was. */
static bool copy_is(struct memo *memo, const char *making, const char *path, const struct digest *d,
                    struct error *err)
{
    struct stat s;
    struct digest now;
    if (stat(path, &s) == 0 && memo_known(memo, path, &s, &now))
        return digest_equal(&now, d) ||
               error_set(err, ERROR_FAILED, "%s: changed while it was kept", path);
    int fd = open(making, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && digest_of_fd(fd, making, &now, err);
    if (fd >= 0)
        close(fd);
    if (good && !digest_equal(&now, d))
        good = error_set(err, ERROR_FAILED, "%s: changed while it was kept", path);
    return good;
}

/* A link is what it leads to, as in the digest. */
static bool keep_file(struct objects *o, struct memo *memo, const char *path,
                      const struct digest *d, struct error *err)
{
    struct strbuf making = {0};
    char *real = realpath(path, NULL);
    struct stat s;
    bool good = real != NULL ||
                error_set(err, ERROR_FAILED, "%s: cannot be kept: %s", path, strerror(errno));
    good =
        good && object_make_folders(o, NULL, err) && tree_copy(real, making_path(o, &making), err);
    if (good) {
        good = copy_is(memo, making.at, path, d, err);
        /* nobody writes to it any more; who may run it stays */
        if (good && stat(making.at, &s) == 0)
            chmod(making.at, (s.st_mode & 0111) | 0444);
        if (good && utimensat(AT_FDCWD, making.at, NULL, 0) != 0)
            errno = 0; /* its age then is that of the file */
        if (!good)
            unlink(making.at);
    }
    good = good && object_finish(o, making.at, d, false, err);
    free(real);
    strbuf_free(&making);
    return good;
}

static bool keep_list(struct objects *o, const struct strbuf *list, const struct digest *d,
                      struct error *err)
{
    struct strbuf making = {0};
    bool good = object_make_folders(o, NULL, err) &&
                file_write(making_path(o, &making), list->at, list->n, err) &&
                object_finish(o, making.at, d, true, err);
    strbuf_free(&making);
    return good;
}

struct object_keeping {
    struct objects *o;
    struct memo *memo;
    double *bytes;
};

static bool keep_at(const struct object_keeping *k, const char *path, int depth,
                    struct digest *digest, struct error *err);

/* Files first, then the list: a folder that is there has all that is in it. */
static bool keep_folder(const struct object_keeping *k, const char *path, int depth,
                        struct digest *digest, struct error *err)
{
    folder_names names = {0};
    struct strbuf list = {0}, below = {0};
    if (!memo_list_folder(path, &names))
        return error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    bool good = depth < DEEPEST ||
                error_set(err, ERROR_FAILED, "%s: more than %d folders deep", path, DEEPEST);
    add_named(&list, FOLDER_MARK);
    for (size_t i = 0; i < names.n && good; i++) {
        struct digest one = {0};
        good = keep_at(k, path_in(path, names.at[i], &below), depth + 1, &one, err);
        add_named(&list, names.at[i]);
        strbuf_add_bytes(&list, (const char *)one.at, sizeof one.at);
    }
    if (good) {
        digest_of(list.at, list.n, digest);
        bool there = has_at(k->o, digest, true, 0);
        good = there || keep_list(k->o, &list, digest, err);
        *k->bytes += there ? 0 : (double)list.n;
    }
    folder_names_free(&names);
    strbuf_free(&list);
    strbuf_free(&below);
    return good;
}

static bool keep_at(const struct object_keeping *k, const char *path, int depth,
                    struct digest *digest, struct error *err)
{
    struct stat s;
    double size = 0;
    if (stat(path, &s) != 0)
        return error_set(err, ERROR_FAILED, "%s: cannot be kept: %s", path, strerror(errno));
    if (S_ISDIR(s.st_mode))
        return keep_folder(k, path, depth, digest, err);
    if (!memo_digest(k->memo, path, false, digest, &size, err))
        return err->kind != ERROR_NONE
                   ? false
                   : error_set(err, ERROR_FAILED, "%s: cannot be kept: it is gone", path);
    if (has_at(k->o, digest, true, 0))
        return true;
    if (!keep_file(k->o, k->memo, path, digest, err))
        return false;
    *k->bytes += size;
    return true;
}

bool objects_keep(struct objects *o, struct memo *memo, const char *path, const struct digest *d,
                  double most, double *bytes, struct error *err)
{
    struct digest now;
    double size = 0, written = 0;
    if (!memo_digest(memo, path, false, &now, &size, err))
        return err->kind != ERROR_NONE
                   ? false
                   : error_set(err, ERROR_FAILED, "%s: cannot be kept: it is gone", path);
    if (d && !digest_equal(&now, d))
        return error_set(err, ERROR_FAILED, "%s: has changed since", path);
    if (size > most)
        return error_set(err, ERROR_FAILED,
                         "%s: %.3g GB, more than WEFT_KEEP_RESULTS lets all kept results have "
                         "(%.3g GB)",
                         path, size / 1e9, most / 1e9);
    const struct object_keeping k = {o, memo, &written};
    struct digest kept;
    bool good = keep_at(&k, path, 0, &kept, err);
    *bytes += written;
    if (good && !digest_equal(&kept, &now))
        good = error_set(err, ERROR_FAILED, "%s: changed while it was kept", path);
    return good;
}

/* ---- restoring ---- */

/* The bits that a file has which somebody makes here: what his mask leaves of `wished`. To ask for the
 * mask would be to set it, for all threads. */
static mode_t usual_mode(const char *path, mode_t wished)
{
    struct stat s = {.st_mode = 0600};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, wished);
    if (fd >= 0 && fstat(fd, &s) != 0)
        s.st_mode = 0600;
    if (fd >= 0)
        close(fd);
    unlink(path);
    return s.st_mode & 0777;
}

/* As if the task had made it: to be run if it could be. */
static bool restore_file(struct objects *o, const struct digest *d, const char *to, bool *damaged,
                         struct error *err)
{
    struct strbuf path = {0};
    struct digest now;
    struct stat s = {0};
    stat(object_path(o, d, false, &path), &s);
    mode_t mode = usual_mode(to, 0666 | (s.st_mode & 0111));
    bool good = tree_copy(path.at, to, err);
    int fd = good ? open(to, O_RDONLY | O_CLOEXEC) : -1;
    good = fd >= 0 && digest_of_fd(fd, to, &now, err);
    if (good && !digest_equal(&now, d)) {
        *damaged = true;
        unlink(path.at);
        good =
            error_set(err, ERROR_FAILED, "%s: a kept result is damaged, and was removed", path.at);
    }
    if (good && (fchmod(fd, mode) != 0 || futimens(fd, NULL) != 0))
        good = error_set(err, ERROR_FAILED, "%s: cannot be restored: %s", to, strerror(errno));
    if (good && utimensat(AT_FDCWD, path.at, NULL, 0) != 0)
        errno = 0; /* as object_touch() */
    if (fd >= 0)
        close(fd);
    strbuf_free(&path);
    return good;
}

static bool restore_at(struct objects *o, const struct digest *d, const char *to, int depth,
                       bool *damaged, struct error *err)
{
    struct text list = {0};
    struct strbuf path = {0};
    struct object_entry e;
    bool file = access(object_path(o, d, false, &path), F_OK) == 0;
    strbuf_free(&path);
    if (file)
        return restore_file(o, d, to, damaged, err);
    if (depth >= DEEPEST || !read_list(o, d, &list, damaged))
        return error_set(err, ERROR_FAILED, "%s: what was kept of it is %s", to,
                         *damaged ? "damaged" : "not there any more");
    const unsigned char *at = (const unsigned char *)list.at;
    size_t left = list.n;
    int more = list_begins(&at, &left) ? 1 : -1;
    bool good = mkdir(to, 0777) == 0 ||
                error_set(err, ERROR_FAILED, "%s: cannot be made: %s", to, strerror(errno));
    while (good && more == 1 && (more = next_entry(&at, &left, &e)) == 1)
        good = restore_at(o, &e.digest, path_in(to, e.name, &path), depth + 1, damaged, err);
    if (good && more < 0)
        good = error_set(err, ERROR_FAILED, "%s: what was kept of it cannot be read", to);
    text_free(&list);
    strbuf_free(&path);
    return good;
}

/* rename() puts no file over a folder and no folder over one with something in it: what is there steps
 * aside, and goes when the other has its place. */
static bool put_in_place(struct objects *o, const char *made, const char *path, struct error *err)
{
    struct strbuf aside = {0};
    struct stat old, new;
    bool good = true, moved = false;
    if (lstat(path, &old) == 0 && lstat(made, &new) == 0 &&
        (S_ISDIR(old.st_mode) || S_ISDIR(new.st_mode))) {
        moved = rename(path, making_path(o, &aside)) == 0;
        good = moved || tree_remove(path);
    }
    if (good && rename(made, path) != 0) {
        int reason = errno;
        if (moved)
            (void)!rename(aside.at, path);
        errno = reason;
        good = false;
    }
    if (!good)
        error_set(err, ERROR_FAILED, "%s: cannot be restored: %s", path, strerror(errno));
    if (good && moved)
        tree_remove(aside.at);
    strbuf_free(&aside);
    return good;
}

/* I3. */
static bool bring_beside(const char *made, const char *path, struct strbuf *out, struct error *err)
{
    struct stat a, b;
    const char *slash = strrchr(path, '/');
    struct strbuf above = {0};
    strbuf_add_bytes(&above, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    bool same = lstat(made, &a) == 0 && stat(above.at, &b) == 0 && a.st_dev == b.st_dev;
    strbuf_clear(out);
    if (same)
        strbuf_add(out, made);
    else
        strbuf_printf(out, "%s.weft-%ld", path, (long)getpid());
    strbuf_free(&above);
    return same || (tree_remove(out->at) && tree_copy(made, out->at, err));
}

bool objects_restore(struct objects *o, const struct digest *d, const char *path, bool *damaged,
                     struct error *err)
{
    struct strbuf making = {0}, beside = {0};
    *damaged = false;
    bool good = object_make_folders(o, NULL, err) && make_parents(path, err) &&
                restore_at(o, d, making_path(o, &making), 0, damaged, err) &&
                bring_beside(making.at, path, &beside, err) &&
                put_in_place(o, beside.at, path, err);
    if (beside.n && !good)
        tree_remove(beside.at);
    if (making.n)
        tree_remove(making.at);
    strbuf_free(&making);
    strbuf_free(&beside);
    return good;
}

/* ---- bounds ---- */

struct object_found {
    char *path;
    double used, bytes;
};
typedef ARRAY(struct object_found) objects_found;

static int least_recent_first(const void *a, const void *b)
{
    const struct object_found *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

static void find_objects(const char *folder, double now, objects_found *out)
{
    folder_names names = {0};
    struct strbuf path = {0};
    struct stat s;
    if (!folder_list(folder, &names))
        return;
    for (size_t i = 0; i < names.n; i++) {
        if (lstat(path_in(folder, names.at[i], &path), &s) != 0)
            continue;
        if (strncmp(names.at[i], MAKING, sizeof MAKING - 1) == 0) {
            if (now - (double)s.st_mtim.tv_sec > LEFT_BEHIND)
                tree_remove(path.at);
        } else if (S_ISDIR(s.st_mode) && strlen(names.at[i]) == 2) {
            char *below = mem_copy_string(path.at);
            find_objects(below, now, out);
            free(below);
        } else if (S_ISREG(s.st_mode)) {
            array_push(out, (struct object_found){mem_copy_string(path.at),
                                                  (double)s.st_mtim.tv_sec, (double)s.st_size});
        }
    }
    folder_names_free(&names);
    strbuf_free(&path);
}

void objects_evict(struct objects *o, struct objects_eviction *e)
{
    objects_found all = {0};
    double now = (double)time(NULL);
    e->count = e->left_count = 0;
    e->bytes = e->left_bytes = 0;
    find_objects(o->folder, now, &all);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, least_recent_first);
    for (size_t i = 0; i < all.n; i++)
        e->left_bytes += all.at[i].bytes;
    e->left_count = (uint32_t)all.n;
    for (size_t i = 0; i < all.n; i++) {
        if ((now - all.at[i].used > e->age || e->left_bytes > e->size) &&
            unlink(all.at[i].path) == 0) {
            e->count++;
            e->left_count--;
            e->bytes += all.at[i].bytes;
            e->left_bytes -= all.at[i].bytes;
        }
        free(all.at[i].path);
    }
    array_free(&all);
}
