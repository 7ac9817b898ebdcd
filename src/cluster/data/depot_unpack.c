/* Bytes into a folder. Nothing that is received is trusted: paths are walked part by part without
 * following links, and memory grows only with what came.
 *
 * Invariants:
 *   I1. Nothing is made outside of root_fd, whatever the names and links say.
 *   I2. A symbolic link in the folder stays inside (depot_pack.h says when), so no later entry
 *       can be written through it to somewhere else; besides, parents are opened with
 *       O_NOFOLLOW.
 *   I3. in_entry: the head is whole and the thing is made; `left` bytes of content follow. */
#include "base/bytes.h"
#include "cluster/data/depot_pack.h"
#include "cluster/wire/protocol.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_SIZE = 1 + 4 + 8 + 4 };

/* 255: NAME_MAX of every file system in use. */
bool depot_path_is_safe(const char *path)
{
    if (strlen(path) >= DEPOT_PATH_MAX)
        return false;
    for (const char *at = path;; at++) {
        size_t n = strcspn(at, "/");
        if (n == 0 || n > 255 || (n == 1 && at[0] == '.') ||
            (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* Interrupted writes go on; a full disk does not. */
bool depot_write_all(int fd, const void *data, size_t n)
{
    for (const char *at = data; n;) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

bool depot_write_error(const char *path, int reason, struct error *err)
{
    if (reason == ENOSPC || reason == EDQUOT)
        return error_set(err, ERROR_FAILED,
                         "%s: the disk is full (%s); free some space there, give the agent a "
                         "smaller --cache, or its --state another place",
                         path, strerror(reason));
    return error_set(err, ERROR_FAILED, "%s: cannot be written: %s", path, strerror(reason));
}

/* All paths are walked from root_fd, so that nobody can move the folder away underneath. */
bool depot_unpack_begin(struct depot_unpack *u, const char *root, struct error *err)
{
    *u = (struct depot_unpack){.root = mem_copy_string(root), .root_fd = -1, .fd = -1};
    if (!tree_remove(root) || mkdir(root, 0700) != 0)
        return depot_write_error(root, errno, err);
    u->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return u->root_fd >= 0 || depot_write_error(root, errno, err);
}

void depot_unpack_free(struct depot_unpack *u)
{
    if (u->root && u->root_fd >= 0)
        close(u->root_fd);
    if (u->root && u->fd >= 0)
        close(u->fd);
    free(u->root);
    strbuf_free(&u->head);
    strbuf_free(&u->target);
    strbuf_free(&u->text);
    array_free(&u->files);
    array_free(&u->folders);
    *u = (struct depot_unpack){.root_fd = -1, .fd = -1};
}

/* With the name that was sent, made harmless for a terminal. */
static bool unpack_refuse(const struct depot_unpack *u, const char *what, struct error *err)
{
    char shown[120];
    size_t n = 0;
    for (const char *at = u->head.n > HEAD_SIZE ? u->head.at + HEAD_SIZE : "";
         *at && n < sizeof shown - 1; at++)
        shown[n++] = (unsigned char)*at < 32 || *at == 127 ? '?' : *at;
    shown[n] = 0;
    return error_set(err, ERROR_FAILED, "the folder that was sent %s: '%s'", what, shown);
}

/* The folder that the entry stands in, opened without following any link; the caller closes it.
 * `depth` is how deep it is. */
static int unpack_open_parent(const struct depot_unpack *u, const char *path, const char **last,
                              int *depth)
{
    int at = dup(u->root_fd);
    *depth = 0;
    for (const char *slash; at >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char part[256];
        size_t n = (size_t)(slash - path);
        int below = -1;
        errno = ENAMETOOLONG;
        if (n < sizeof part) {
            memcpy(part, path, n);
            part[n] = 0;
            below = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        int reason = errno;
        close(at);
        errno = reason;
        at = below;
        ++*depth;
    }
    *last = path;
    return at;
}

/* May it lead there? The rule of depot_pack.h, for one that is `depth` folders deep. */
static bool unpack_link_stays(const char *target, size_t n, int depth)
{
    if (!n || target[0] == '/' || memchr(target, 0, n))
        return false;
    bool down = false;
    for (const char *at = target, *end = target + n; at < end;) {
        size_t k = strcspn(at, "/");
        if (k == 2 && at[0] == '.' && at[1] == '.') {
            if (down || --depth < 0)
                return false;
        } else if (k && !(k == 1 && at[0] == '.')) {
            down = true;
        }
        at += k;
        at += *at == '/';
    }
    return true;
}

/* The head is whole: make the thing, so that its content can follow. */
static bool unpack_begin_entry(struct depot_unpack *u, struct error *err)
{
    struct bytes in = {u->head.at, u->head.n, false};
    u->entry.form = bytes_u8(&in);
    u->entry.mode = bytes_u32(&in);
    u->entry.size = u->left = bytes_u64(&in);
    size_t n;
    const char *path = bytes_text(&in, &n);
    if (!bytes_end(&in) || strlen(path) != n || !depot_path_is_safe(path))
        return unpack_refuse(u, "has a name that may not be", err);
    if (++u->entries > DEPOT_ENTRIES_MAX)
        return unpack_refuse(u, "has too many files", err);
    bool is_file = u->entry.form == MESSAGE_FILE;
    if ((u->entry.form == MESSAGE_FOLDER && u->left) ||
        (u->entry.form == MESSAGE_SYMLINK && (!u->left || u->left >= DEPOT_PATH_MAX)) ||
        u->entry.form > MESSAGE_SYMLINK || u->entry.mode > MESSAGE_MODE)
        return unpack_refuse(u, "is not well formed", err);
    strbuf_clear(&u->target);
    digest_begin(&u->state);
    u->in_entry = true;
    if (u->entry.form == MESSAGE_SYMLINK)
        return true;
    const char *last;
    int depth, folder = unpack_open_parent(u, path, &last, &depth);
    if (folder < 0 || depth >= DEPOT_DEPTH_MAX) {
        if (folder >= 0)
            close(folder);
        return unpack_refuse(u, "has a file in no folder of it", err);
    }
    if (is_file)
        u->fd = openat(folder, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = is_file ? u->fd >= 0 : mkdirat(folder, last, 0700) == 0;
    int reason = errno;
    close(folder);
    if (!good && reason == EEXIST)
        return unpack_refuse(u, "has a name twice", err);
    return good || depot_write_error(u->root, reason, err);
}

/* The content is whole. A link is made only now, when its target is known; a file's digest is kept
 * by inode, under which unpack_digest_folder() finds it through any link. */
static bool unpack_end_entry(struct depot_unpack *u, struct error *err)
{
    const char *path = u->head.at + HEAD_SIZE;
    bool good = true;
    if (u->entry.form == MESSAGE_SYMLINK) {
        const char *last;
        int depth, folder = unpack_open_parent(u, path, &last, &depth);
        if (folder < 0)
            return unpack_refuse(u, "has a link in no folder of it", err);
        if (!unpack_link_stays(u->target.at, u->target.n, depth))
            good = unpack_refuse(u, "has a link that leads out of it", err);
        else if (symlinkat(u->target.at, folder, last) != 0)
            good = errno == EEXIST ? unpack_refuse(u, "has a name twice", err)
                                   : depot_write_error(u->root, errno, err);
        close(folder);
    } else if (u->fd >= 0) {
        struct depot_received *f = array_add(&u->files);
        struct stat s;
        good = fchmod(u->fd, u->entry.mode) == 0 && fstat(u->fd, &s) == 0;
        good = close(u->fd) == 0 && good;
        u->fd = -1;
        if (!good)
            return depot_write_error(u->root, errno, err);
        f->inode = s.st_ino;
        f->path = u->text.n;
        strbuf_add_bytes(&u->text, path, strlen(path) + 1);
        digest_end(&u->state, &f->digest);
    } else {
        array_push(&u->folders, (struct depot_unpacked_folder){u->text.n, u->entry.mode});
        strbuf_add_bytes(&u->text, path, strlen(path) + 1);
    }
    strbuf_clear(&u->head);
    u->in_entry = false;
    return good;
}

/* From the last four bytes of the fixed part of the head. */
static size_t unpack_path_length(const struct depot_unpack *u)
{
    struct bytes in = {u->head.at + HEAD_SIZE - 4, 4, false};
    return bytes_u32(&in);
}

/* Pieces may end anywhere, within a head too. Every turn takes at least a byte or ends an entry, so
 * it ends. */
bool depot_unpack_feed(struct depot_unpack *u, const void *data, size_t n, struct error *err)
{
    struct bytes in = {data, n, false};
    while (in.n || (u->in_entry && !u->left)) {
        if (u->in_entry && !u->left) {
            if (!unpack_end_entry(u, err))
                return false;
        } else if (!u->in_entry) {
            /* the part of fixed size, which tells how long the path is, then the path */
            bool fixed = u->head.n < HEAD_SIZE;
            size_t want = HEAD_SIZE + (fixed ? 0 : unpack_path_length(u));
            size_t k = want - u->head.n < in.n ? want - u->head.n : in.n;
            bytes_put(&u->head, bytes_take(&in, k), k);
            if (u->head.n < want)
                break;
            if (fixed && (!unpack_path_length(u) || unpack_path_length(u) >= DEPOT_PATH_MAX))
                return unpack_refuse(u, "is not well formed", err);
            if (!fixed && !unpack_begin_entry(u, err))
                return false;
        } else {
            size_t k = u->left < in.n ? (size_t)u->left : in.n;
            const void *piece = bytes_take(&in, k);
            u->left -= k;
            if (u->entry.form == MESSAGE_SYMLINK) {
                bytes_put(&u->target, piece, k);
            } else {
                digest_bytes(&u->state, piece, k);
                if (!depot_write_all(u->fd, piece, k))
                    return depot_write_error(u->root, errno, err);
            }
        }
    }
    return true;
}

/* ---- its digest ---- */

/* All are on one file system: the inode alone tells them apart. */
static int unpack_compare_inodes(const void *a, const void *b)
{
    const struct depot_received *x = a, *y = b;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* As memo.c does, with the digests that are known. Links among folders can be so many that a walk
 * would not end: `left` bounds it. */
static bool unpack_digest_folder(const struct depot_unpack *u, const char *path, int depth,
                                 uint64_t *left, struct digest *out, double *bytes,
                                 struct error *err)
{
    folder_names names = {0};
    if (depth >= DEPOT_DEPTH_MAX || !folder_list(path, &names))
        return error_set(err, ERROR_FAILED, "%s: cannot be read, or is too deep", path);
    struct digest_state state;
    digest_begin(&state);
    digest_string(&state, "folder", 6);
    bool good = true;
    for (size_t i = 0; i < names.n && good; i++) {
        struct strbuf below = {0};
        strbuf_printf(&below, "%s/%s", path, names.at[i]);
        struct stat s;
        struct digest one = {{0}};
        if (*left == 0 || stat(below.at, &s) != 0) {
            good = error_set(err, ERROR_FAILED, "%s: has links that lead nowhere", below.at);
        } else if (S_ISDIR(s.st_mode)) {
            --*left;
            good = unpack_digest_folder(u, below.at, depth + 1, left, &one, bytes, err);
        } else {
            --*left;
            struct depot_received key = {.inode = s.st_ino}, *found = NULL;
            if (u->files.n)
                found = bsearch(&key, u->files.at, u->files.n, sizeof key, unpack_compare_inodes);
            good = found || error_set(err, ERROR_FAILED, "%s: was not sent", below.at);
            if (found)
                one = found->digest;
            *bytes += (double)s.st_size;
        }
        digest_string(&state, names.at[i], strlen(names.at[i]));
        digest_bytes(&state, one.at, sizeof one.at);
        strbuf_free(&below);
    }
    digest_end(&state, out);
    folder_names_free(&names);
    return good;
}

/* Until now they could be written by us alone. From the last to the first: one that cannot be entered
 * any more is not gone through again. */
static bool unpack_set_modes(const struct depot_unpack *u, struct error *err)
{
    for (size_t i = u->folders.n; i--;) {
        const char *last;
        int depth, at = unpack_open_parent(u, u->text.at + u->folders.at[i].path, &last, &depth);
        bool good = at >= 0 && fchmodat(at, last, u->folders.at[i].mode, 0) == 0;
        int reason = errno;
        if (at >= 0)
            close(at);
        if (!good)
            return depot_write_error(u->root, reason, err);
    }
    return true;
}

/* The walk may pass a file several times through links: a million steps and sixteen for each entry
 * are allowed, which no honest folder needs. */
bool depot_unpack_end(struct depot_unpack *u, struct digest *digest, double *bytes,
                      struct error *err)
{
    if (u->in_entry || u->head.n)
        return error_set(err, ERROR_FAILED,
                         "the folder that was sent ends in the middle of a file");
    if (u->files.n)
        qsort(u->files.at, u->files.n, sizeof *u->files.at, unpack_compare_inodes);
    uint64_t left = 1000000 + 16 * (uint64_t)u->entries;
    *bytes = 0;
    return unpack_digest_folder(u, u->root, 0, &left, digest, bytes, err) &&
           unpack_set_modes(u, err);
}
