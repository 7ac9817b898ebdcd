/* Names of files as texts. Canonical spelling is a matter of bytes; only whether an absolute name lies
 * in a folder asks the file system, once a folder. */
#include "base/path.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/pool.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "s3://..." */
static bool is_url(const char *name, size_t n)
{
    size_t i = 0;
    while (i < n && (isalnum((unsigned char)name[i]) || strchr("+.-", name[i])))
        i++;
    return i && n - i >= 3 && memcmp(name + i, "://", 3) == 0;
}

/* Is the part that begins here empty, `.` or `..`? The last slash of a name begins no part. */
static bool is_odd_part(const char *at, const char *end)
{
    size_t dots = 0;
    while (at + dots < end && at[dots] == '.' && dots < 3)
        dots++;
    return dots < 3 && (at + dots == end ? dots > 0 : at[dots] == '/');
}

bool path_is_canonical(const char *name, size_t n)
{
    const char *end = name + n, *at = name;
    if (is_odd_part(at + (n && *at == '/'), end))
        return (n == 1 && *name == '.') || is_url(name, n);
    while ((at = memchr(at, '/', (size_t)(end - at)))) {
        at++;
        if (at < end && is_odd_part(at, end))
            return is_url(name, n);
    }
    return true;
}

/* Take the last part away; false: there is none, or it is `..`. */
static bool drop_part(struct strbuf *out, size_t start)
{
    size_t from = out->n;
    while (from > start && out->at[from - 1] != '/')
        from--;
    if (out->n == start || (out->n - from == 2 && memcmp(out->at + from, "..", 2) == 0))
        return false;
    out->n = from > start ? from - 1 : from;
    return true;
}

/* Is the last part `..`? It is a folder without a slash. */
static bool ends_above(const struct strbuf *out, size_t start)
{
    return out->n - start >= 2 && memcmp(out->at + out->n - 2, "..", 2) == 0 &&
           (out->n - start == 2 || out->at[out->n - 3] == '/');
}

void path_add_canonical(const char *name, size_t n, struct strbuf *out)
{
    const char *at = name, *end = name + n;
    if (is_url(name, n)) {
        strbuf_add_bytes(out, name, n);
        return;
    }
    bool absolute = n && *name == '/';
    if (absolute)
        strbuf_add_char(out, '/');
    size_t start = out->n;
    bool folder = false; /* the name ends in a slash, `.` or `..` */
    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((slash ? slash : end) - at);
        bool up = length == 2 && memcmp(at, "..", 2) == 0;
        bool here = !length || (length == 1 && *at == '.');
        folder = slash ? slash + 1 == end : here || up;
        if (!here && !(up && (drop_part(out, start) || absolute))) {
            if (out->n > start)
                strbuf_add_char(out, '/');
            strbuf_add_bytes(out, at, length);
        }
        at += length + 1;
    }
    if (out->n == start && !absolute)
        strbuf_add_char(out, '.');
    else if (folder && out->n > start && !ends_above(out, start))
        strbuf_add_char(out, '/');
    strbuf_add(out, "");
}

bool path_leads_out(const char *name)
{
    return name[0] == '.' && name[1] == '.' && (name[2] == '/' || !name[2]);
}

/* ---- the folder ---- */

enum { SPELLINGS = 3, ELSEWHERE = -1 };

struct path_home {
    char *folder;
    bool known, there;
    char *spelling[SPELLINGS]; /* absolute names of the folder, without a slash at the end */
    dev_t device;
    ino_t inode;
    struct intern folders; /* that names stood in */
    ARRAY(int) depth;      /* of each: how much of it names the folder; ELSEWHERE */
};

struct path_home *path_home_new(const char *folder)
{
    struct path_home *home = mem_new_zero(struct path_home, 1);
    home->folder = mem_copy_string(folder);
    intern_init(&home->folders);
    return home;
}

void path_home_free(struct path_home *home)
{
    if (!home)
        return;
    for (int i = 0; i < SPELLINGS; i++)
        free(home->spelling[i]);
    free(home->folder);
    intern_free(&home->folders);
    array_free(&home->depth);
    free(home);
}

/* As the shell shows it, too: its PWD keeps the links by which one came here. */
static char *spelled_from(const char *here, const char *folder)
{
    struct strbuf name = {0}, out = {0};
    if (*folder != '/')
        strbuf_printf(&name, "%s/", here);
    strbuf_add(&name, folder);
    path_add_canonical(name.at, name.n, &out);
    strbuf_free(&name);
    while (out.n > 1 && out.at[out.n - 1] == '/')
        out.at[--out.n] = 0;
    return strbuf_steal(&out);
}

static void home_look(struct path_home *home)
{
    char here[PATH_MAX];
    struct stat s, pwd, dot;
    home->known = true;
    home->there = stat(home->folder, &s) == 0 && S_ISDIR(s.st_mode);
    if (!home->there)
        return;
    home->device = s.st_dev;
    home->inode = s.st_ino;
    if (realpath(home->folder, here))
        home->spelling[0] = mem_copy_string(here);
    if (getcwd(here, sizeof here))
        home->spelling[1] = spelled_from(here, home->folder);
    const char *logical = getenv("PWD");
    if (logical && *logical == '/' && stat(logical, &pwd) == 0 && stat(".", &dot) == 0 &&
        pwd.st_dev == dot.st_dev && pwd.st_ino == dot.st_ino)
        home->spelling[2] = spelled_from(logical, home->folder);
}

/* How many bytes of this absolute folder name the home folder: the longest part of it that is the
 * very folder, however it is spelled. */
static int depth_of(const struct path_home *home, const char *folder, size_t n)
{
    char *part = mem_copy_bytes(folder, n);
    struct stat s;
    int depth = ELSEWHERE;
    for (size_t length = n; length && depth == ELSEWHERE;) {
        part[length] = 0;
        if (stat(part, &s) == 0 && s.st_dev == home->device && s.st_ino == home->inode)
            depth = (int)length;
        while (length && part[--length] != '/')
            ;
    }
    free(part);
    return depth;
}

const char *path_in_home(struct path_home *home, const char *name)
{
    if (!home || *name != '/')
        return NULL;
    if (!home->known)
        home_look(home);
    if (!home->there)
        return NULL;
    for (int i = 0; i < SPELLINGS; i++) {
        size_t n = home->spelling[i] ? strlen(home->spelling[i]) : 0;
        if (n > 1 && strncmp(name, home->spelling[i], n) == 0 && (name[n] == '/' || !name[n]))
            return name + n + (name[n] == '/');
    }
    const char *slash = strrchr(name, '/');
    size_t n = (size_t)(slash - name);
    if (!slash[1]) /* a folder */
        while (n && name[n - 1] != '/')
            n--;
    if (!n)
        return NULL;
    uint32_t number = intern_number(&home->folders, name, n);
    if (number == home->depth.n)
        array_push(&home->depth, depth_of(home, name, n));
    int depth = home->depth.at[number];
    return depth == ELSEWHERE ? NULL : name + depth + (name[depth] == '/');
}

const char **path_home_names(const char *folder, const char *const *names)
{
    size_t n = 0;
    while (names && names[n])
        n++;
    if (!n)
        return NULL;
    struct path_home *home = folder ? path_home_new(folder) : NULL;
    struct strbuf texts = {0}, plain = {0};
    size_t *at = mem_new(size_t, n);
    for (size_t i = 0; i < n; i++) {
        strbuf_clear(&plain);
        path_add_canonical(names[i], strlen(names[i]), &plain);
        const char *inside = *names[i] == '/' ? path_in_home(home, strbuf_text(&plain)) : NULL;
        at[i] = texts.n;
        strbuf_add(&texts, inside && *inside ? inside : names[i]);
        strbuf_add_char(&texts, 0);
    }
    const char **own = mem_alloc((n + 1) * sizeof *own + texts.n);
    char *text = memcpy(own + n + 1, texts.at, texts.n);
    for (size_t i = 0; i < n; i++)
        own[i] = text + at[i];
    own[n] = NULL;
    free(at);
    strbuf_free(&texts);
    strbuf_free(&plain);
    path_home_free(home);
    return own;
}
