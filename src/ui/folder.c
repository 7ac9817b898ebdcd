/* folder.h: a name is resolved as the system would, links included, and compared with the folder's own real path. The list
 * of files says by a look at their beginning what they are for; whoever opens one is told what it really is. */
#include "ui/folder.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A folder may hold anything: deeper, or past so many, nobody looks for a workflow. */
enum { FOLDER_DEPTH = 4, FOLDER_FILES = 2000, FOLDER_LOOK = 8192, FOLDER_LARGEST = 32 << 20 };

bool folder_holds(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return strncmp(folder, path, n) == 0 &&
           (!path[n] || path[n] == '/' || (n && folder[n - 1] == '/'));
}

void folder_has_none(const char *name, struct reply *out)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "there is no file '%s' in the folder of this page", name);
    reply_fail(out, 404, strbuf_text(&text));
    strbuf_free(&text);
}

char *folder_file(const struct laboratory *lab, const char *name, struct reply *out)
{
    struct strbuf asked = {0};
    char folder[PATH_MAX], path[PATH_MAX];
    strbuf_printf(&asked, "%s/%s", lab->folder, name);
    bool there = realpath(lab->folder, folder) && realpath(asked.at, path);
    strbuf_free(&asked);
    if (there && folder_holds(folder, path) && strcmp(folder, path) != 0)
        return mem_copy_string(path);
    folder_has_none(name, out);
    return NULL;
}

/* ---- the list ---- */

typedef ARRAY(char *) folder_paths;

/* Does some format that reads workflows or platforms have this suffix? */
static bool folder_suffix_is_known(const char *name)
{
    struct weft_format format;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && weft_format(i, &format); i++) {
        const char *at = format.suffixes;
        while (at && (at = strstr(at, dot))) {
            char after = at[strlen(dot)];
            if (after == 0 || after == ' ')
                return format.reads_workflow || format.reads_platform;
            at++;
        }
    }
    return false;
}

/* Breadth is bounded by FOLDER_FILES, depth by FOLDER_DEPTH; hidden folders (.weft, .git) are not looked into. */
static void folder_walk(const char *path, const char *prefix, int depth, folder_paths *names)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) && names->n < FOLDER_FILES;) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "node_modules") == 0)
            continue;
        struct strbuf below = {0}, name = {0};
        strbuf_printf(&name, "%s%s%s", prefix, *prefix ? "/" : "", e->d_name);
        strbuf_printf(&below, "%s/%s", path, e->d_name);
        if (e->d_type == DT_DIR && depth < FOLDER_DEPTH)
            folder_walk(below.at, name.at, depth + 1, names);
        else if (e->d_type == DT_REG && folder_suffix_is_known(e->d_name))
            array_push(names, mem_copy_string(name.at));
        strbuf_free(&below);
        strbuf_free(&name);
    }
    if (d)
        closedir(d);
}

/* Is a key at the beginning of a line of the text? */
static bool folder_has_key(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at++)
        if ((at == text || at[-1] == '\n') && at[n] == ':')
            return true;
    return false;
}

/* "workflow", "platform", "experiment" or "" of a file, by the words at its beginning. */
static const char *folder_sort(const char *folder, const char *name)
{
    struct strbuf path = {0};
    static const char *const yaml[] = {".yaml", ".yml"};
    char text[FOLDER_LOOK + 1];
    const char *dot = strrchr(name, '.');
    if (!dot || (strcmp(dot, yaml[0]) != 0 && strcmp(dot, yaml[1]) != 0))
        return "workflow";
    strbuf_printf(&path, "%s/%s", folder, name);
    FILE *f = fopen(path.at, "re");
    size_t n = f ? fread(text, 1, FOLDER_LOOK, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    strbuf_free(&path);
    return folder_has_key(text, "substitute") || folder_has_key(text, "experiment") ? "experiment"
           : folder_has_key(text, "nodes")                                          ? "platform"
           /* its tasks may come behind long lists */
           : folder_has_key(text, "tasks") || folder_has_key(text, "flow") ||
                   folder_has_key(text, "weft")
               ? "workflow"
               : "";
}

static int folder_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* GET /api/files: what can be opened, by name. */
static void answer_files(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    folder_paths names = {0};
    struct json_writer j;
    folder_walk(lab->folder, "", 0, &names);
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, folder_by_name);
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (size_t i = 0; i < names.n; i++) {
        json_write_object(&j);
        json_put_string(&j, "path", names.at[i]);
        json_put_string(&j, "sort", folder_sort(lab->folder, names.at[i]));
        json_write_end_object(&j);
        free(names.at[i]);
    }
    json_write_end_array(&j);
    array_free(&names);
}

/* Pictures as pictures; everything else as bytes that no browser shows by itself. */
static const char *folder_type(const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {{".png", "image/png"}, {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},
                 {".gif", "image/gif"}, {".webp", "image/webp"}, {".svg", "image/svg+xml"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot, types[i].suffix) == 0)
            return types[i].type;
    return "application/octet-stream";
}

/* GET /api/file?path=NAME: a file of the folder, at most FOLDER_LARGEST bytes. */
static void answer_file(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *name = request_value(r, "path");
    char *path = name ? folder_file(lab, name, out) : NULL;
    struct stat st;
    struct text text;
    struct error err = {0};
    if (!name) {
        reply_fail(out, 400, "say which file: ?path=NAME");
    } else if (path && (stat(path, &st) != 0 || !S_ISREG(st.st_mode))) {
        folder_has_none(name, out);
    } else if (path && st.st_size > FOLDER_LARGEST) {
        reply_fail(out, 413, "the file has more than 32 MiB");
    } else if (path && !file_read(path, &text, &err)) {
        reply_fail(out, 500, err.text);
    } else if (path) {
        strbuf_add_bytes(&out->body, text.at, text.n);
        out->type = folder_type(path);
        out->document = true; /* whoever opens it alone gets no script to run */
        text_free(&text);
    }
    free(path);
}

const struct ui_route folder_routes[] = {
    {false, "/api/file", answer_file},
    {false, "/api/files", answer_files},
    {0},
};
