/* Folders and whole trees of files: listing in a fixed order, making, removing. Nothing here
 * follows a symbolic link out of the tree it was given. */
#include "base/tree.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A file goes at once; a folder from the bottom up. 32 open descriptors bound the walk, not its
 * depth. */
bool tree_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return true;
    return nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0;
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
 * can make such a folder before us. A link to it has an owner of its own. */
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
        if (owner[i] != me && owner[i] != 0 && owner[i] != above.st_uid)
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
