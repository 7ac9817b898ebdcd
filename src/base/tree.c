/* Folders and whole trees of files: listing in a fixed order, making, removing. Nothing here
 * follows a symbolic link out of the tree it was given. */
#include "base/tree.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* In `out`, which is cleared; "." adds nothing. */
const char *path_in(const char *folder, const char *name, struct strbuf *out)
{
    strbuf_clear(out);
    if (name[0] != '/' && strcmp(folder, ".") != 0)
        strbuf_printf(out, "%s/", folder);
    strbuf_add(out, name);
    return strbuf_text(out);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appended to `names`. The order of readdir() differs between file systems; this does not. */
bool folder_list(const char *path, folder_names *names)
{
    DIR *d = opendir(path);
    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            array_push(names, mem_copy_string(e->d_name));
    closedir(d);
    if (names->n)
        qsort(names->at, names->n, sizeof *names->at, compare_names);
    return true;
}

void folder_names_free(folder_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i]);
    array_free(names);
}

/* Somebody else may have removed it meanwhile: that is fine. */
static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s;
    (void)kind;
    (void)ftw;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

static int open_folder(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)ftw;
    if (kind == FTW_D || kind == FTW_DNR)
        (void)!chmod(path, (s->st_mode & 0777) | 0700);
    return 0;
}

/* A file goes at once; a folder from the bottom up. 32 open descriptors bound the walk, not its
 * depth. */
bool tree_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return true;
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0)
        return true;
    /* folders that their maker left without the right to write: they are ours to open */
    return errno == EACCES && nftw(path, open_folder, 32, FTW_PHYS) == 0 &&
           nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0;
}

/* Some file systems cannot rename without replacing: there it is looked first. */
bool rename_new(const char *from, const char *to)
{
    struct stat s;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (lstat(to, &s) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

/* ---- copying ---- */

/* The bytes of one open file into another: by the file system, by the kernel, by hand. */
static bool copy_bytes(int in, int out)
{
    enum { PIECE = 1 << 20 };
    if (ioctl(out, FICLONE, in) == 0)
        return true;
    ssize_t n;
    while ((n = copy_file_range(in, NULL, out, NULL, 1 << 30, 0)) > 0)
        ;
    if (n == 0)
        return true;
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return false;
    char *piece = mem_new(char, PIECE);
    while ((n = read(in, piece, PIECE)) > 0)
        for (ssize_t done = 0, k; done < n; done += k)
            if ((k = write(out, piece + done, (size_t)(n - done))) < 0) {
                free(piece);
                return false;
            }
    free(piece);
    return n == 0;
}

/* Nobody may read it before it has the bits of the original. */
static bool copy_regular(const char *from, const char *to, const struct stat *s)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return false;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = out >= 0 && copy_bytes(in, out) && fchmod(out, s->st_mode & 0777) == 0 &&
                futimens(out, (struct timespec[2]){s->st_atim, s->st_mtim}) == 0;
    int reason = errno;
    close(in);
    if (out >= 0 && close(out) != 0 && good) {
        reason = errno;
        good = false;
    }
    errno = reason;
    return good;
}

static bool copy_link(const char *from, const char *to)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = 0;
    return symlink(target, to) == 0;
}

/* A folder's own bits come last: it may be one that cannot be written. */
static bool copy_any(const char *from, const char *to)
{
    struct stat s;
    if (lstat(from, &s) != 0)
        return false;
    if (S_ISLNK(s.st_mode))
        return copy_link(from, to);
    if (S_ISREG(s.st_mode))
        return copy_regular(from, to, &s);
    if (!S_ISDIR(s.st_mode)) {
        errno = EINVAL;
        return false;
    }
    folder_names names = {0};
    struct strbuf a = {0}, b = {0};
    bool good = mkdir(to, 0700) == 0 && folder_list(from, &names);
    for (size_t i = 0; i < names.n && good; i++)
        good = copy_any(path_in(from, names.at[i], &a), path_in(to, names.at[i], &b));
    good = good && chmod(to, s.st_mode & 0777) == 0;
    int reason = errno;
    folder_names_free(&names);
    strbuf_free(&a);
    strbuf_free(&b);
    errno = reason;
    return good;
}

bool tree_copy(const char *from, const char *to, struct error *err)
{
    struct stat s;
    if (lstat(to, &s) == 0)
        return error_set(err, ERROR_FAILED, "%s: is there already", to);
    if (copy_any(from, to))
        return true;
    error_set(err, ERROR_FAILED, "%s: cannot be copied to %s: %s", from, to, strerror(errno));
    tree_remove(to);
    return false;
}

/* Links are not followed. fts keeps no state outside its handle: others may walk at the same time. */
double tree_bytes(const char *path)
{
    double sum = 0;
    char *paths[] = {(char *)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; walk && (e = fts_read(walk)) != NULL;)
        if (e->fts_info != FTS_DP && e->fts_statp)
            sum += (double)e->fts_statp->st_size;
    if (walk)
        fts_close(walk);
    return sum;
}

/* The folders above `path`, not `path` itself. A link to a folder will do. */
bool make_parents(const char *path, struct error *err)
{
    char *copy = mem_copy_string(path);
    bool good = true;
    for (char *slash = strchr(copy + 1, '/'); slash && good; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        struct stat s;
        if (mkdir(copy, 0777) != 0 &&
            (errno != EEXIST || stat(copy, &s) != 0 || !S_ISDIR(s.st_mode)))
            good = error_set(err, ERROR_FAILED, "%s: cannot make the folder: %s", copy,
                             strerror(errno));
        *slash = '/';
    }
    free(copy);
    return good;
}

/* Whoever can write there decides what has been computed, and where logs and keys go: in /tmp any user
 * can make such a folder before us. Where not everybody can make one, it was made by who may change the
 * workflow just as well: its owner, or his group. A link to it has an owner of its own. */
bool folder_check_owner(const char *path, struct error *err)
{
    struct stat link, s, above;
    struct strbuf parent = {0};
    const char *last = strrchr(path, '/'); /* by name: ".." of a link leads elsewhere */
    if (last)
        strbuf_add_bytes(&parent, path, last == path ? 1 : (size_t)(last - path));
    bool there = lstat(path, &link) == 0 && stat(path, &s) == 0 &&
                 stat(last ? strbuf_text(&parent) : ".", &above) == 0;
    strbuf_free(&parent);
    if (!there || !S_ISDIR(s.st_mode))
        return error_set(err, ERROR_FAILED, "%s: %s", path,
                         there ? "stands where weft's own folder belongs, and is none"
                               : strerror(errno));
    uid_t me = geteuid();
    const uid_t owner[] = {link.st_uid, s.st_uid};
    for (int i = 0; i < 2; i++)
        if (owner[i] != me && owner[i] != 0 && owner[i] != above.st_uid &&
            (above.st_mode & S_IWOTH))
            return error_set(err, ERROR_INPUT,
                             "%s: this folder is user %u's, who could make weft believe anything; "
                             "remove it, or work in a folder of your own",
                             path, (unsigned)owner[i]);
    if (!(s.st_mode & S_IWOTH))
        return true;
    return (s.st_uid == me && chmod(path, s.st_mode & 07777 & ~(mode_t)S_IWOTH) == 0) ||
           error_set(err, ERROR_INPUT,
                     "%s: everybody may write to this folder, and could make weft believe "
                     "anything; `chmod o-w` it, or work in a folder of your own",
                     path);
}

bool folder_take_private(const char *path, const char *option, struct error *err)
{
    struct stat link, s;
    uid_t me = geteuid();
    if (mkdir(path, 0700) == 0)
        return true;
    if (errno != EEXIST)
        return error_set(err, ERROR_INPUT, "%s: cannot be made: %s; %s names another folder", path,
                         strerror(errno), option);
    if (lstat(path, &link) != 0 || stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return error_set(err, ERROR_INPUT, "%s: not a folder", path);
    if (s.st_uid != me || (link.st_uid != me && link.st_uid != 0))
        return error_set(err, ERROR_INPUT,
                         "%s: this %s is user %u's, and an agent keeps data of its own there; "
                         "%s names another",
                         path, s.st_uid != me ? "folder" : "link",
                         (unsigned)(s.st_uid != me ? s.st_uid : link.st_uid), option);
    return !(s.st_mode & 077) || chmod(path, 0700) == 0 ||
           error_set(err, ERROR_INPUT, "%s: cannot be closed to others: %s", path, strerror(errno));
}
