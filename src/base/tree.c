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
