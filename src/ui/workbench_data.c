/* The data behind a port: what a file is, its first lines, its picture. Files of the laboratory's folder alone, and never as a page:
 * they are hostile (workbench_path() and the server's headers see to that). */
#include "base/digest.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/workbench.h"
#include "weft/weft.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DATA_HEAD = 1 << 16,     /* bytes that are looked at */
    DATA_LINES = 60,         /* and shown */
    DATA_DIGEST = 1 << 28,   /* larger files are not hashed while somebody waits: 0.3 s */
    DATA_PICTURE = 24 << 20, /* more is no preview */
};

/* What a browser can show, by the suffix; pbm, pgm, ppm and pnm are drawn by the page itself. */
static const struct picture_type {
    const char *suffix, *type;
} picture_types[] = {
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".pbm", "application/octet-stream"},
    {".pgm", "application/octet-stream"},
    {".ppm", "application/octet-stream"},
    {".pnm", "application/octet-stream"},
};

/* NULL: no picture. Only what is listed is ever served as bytes. */
static const char *picture_type(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof picture_types / sizeof *picture_types; i++)
        if (strcasecmp(dot, picture_types[i].suffix) == 0)
            return picture_types[i].type;
    return NULL;
}

/* A character that is cut at the end of what was read does not make a text bytes. */
static const char *data_sort(const char *name, const char *head, size_t n, bool whole)
{
    const char *dot = strrchr(name, '.');
    size_t good = utf8_valid(head, n);
    if (picture_type(name))
        return "picture";
    if (memchr(head, 0, n) || (good < n && (whole || n - good > 4)))
        return "bytes";
    return dot && (strcasecmp(dot, ".tsv") == 0 || strcasecmp(dot, ".csv") == 0) ? "table" : "text";
}

/* Lines of the beginning; the last one may be cut. Returns whether there are more. */
static bool put_head(struct json_writer *j, char *head, size_t n)
{
    size_t shown = 0;
    char *p = head, *end = head + n;
    json_write_key(j, "lines");
    json_write_array(j);
    for (; p < end && shown < DATA_LINES; shown++) {
        char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop)
            stop = end;
        *stop = 0;
        json_write_string(j, p);
        p = stop + 1;
    }
    json_write_end_array(j);
    return p < end;
}

/* Size, time, digest and what can be shown of it. */
static void put_file(struct json_writer *j, const char *name, int fd, const struct stat *s)
{
    char *head = mem_alloc(DATA_HEAD + 1);
    ssize_t n = pread(fd, head, DATA_HEAD, 0);
    struct digest d;
    struct error err = {0};
    char hex[DIGEST_TEXT];
    const char *sort = data_sort(name, head, n > 0 ? (size_t)n : 0, n < DATA_HEAD);
    json_put_string(j, "sort", sort);
    json_put_number(j, "bytes", (double)s->st_size);
    json_put_number(j, "changed", (double)s->st_mtime);
    if (s->st_size <= DATA_DIGEST && digest_of_fd(fd, name, &d, &err))
        json_put_string(j, "digest", digest_text(&d, hex));
    bool lines = n > 0 && (strcmp(sort, "text") == 0 || strcmp(sort, "table") == 0);
    bool more = lines && put_head(j, head, (size_t)n);
    json_put_bool(j, "more", more || s->st_size > DATA_HEAD);
    free(head);
}

/* Names, without those that are hidden. */
static void put_folder(struct json_writer *j, const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, alphasort), shown = 0;
    json_put_string(j, "sort", "folder");
    json_write_key(j, "lines");
    json_write_array(j);
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.' && shown++ < DATA_LINES)
            json_write_string(j, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    json_write_end_array(j);
    json_put_integer(j, "entries", shown);
    json_put_bool(j, "more", shown > DATA_LINES);
}

/* ?file=NAME */
void answer_data(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *name = request_value(r, "file");
    struct stat s;
    struct json_writer j;
    char *path = workbench_path(lab, name, out);
    if (!path)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool there = fd >= 0 && fstat(fd, &s) == 0;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    if (there && S_ISDIR(s.st_mode))
        put_folder(&j, path);
    else if (there && S_ISREG(s.st_mode))
        put_file(&j, name, fd, &s);
    else
        json_put_string(&j, "sort", there ? "other" : "none");
    json_write_end_object(&j);
    if (fd >= 0)
        close(fd);
    free(path);
}

/* ---- families ---- */

enum { MEMBERS_MOST = 200 }; /* of a family's files; who wants another one searches */

/* Does a name fit a pattern, in which {variable} stands for some text? Only the last variable is ever made longer: where an
 * earlier one could be, too, the later ones have what it would give up. */
static bool name_fits(const char *pattern, const char *name)
{
    const char *after = NULL, *mark = NULL; /* behind the last variable, and where it ends now */
    while (*name) {
        const char *close = *pattern == '{' ? strchr(pattern, '}') : NULL;
        if (close) {
            after = pattern = close + 1;
            mark = ++name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (after) {
            pattern = after;
            name = ++mark;
        } else {
            return false;
        }
    }
    return !*pattern;
}

/* ?file=WORKFLOW&pattern={doc}.txt&words=PART: the files behind a port of a family. */
void answer_members(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *file = request_value(r, "file"), *pattern = request_value(r, "pattern");
    const char *words = request_value(r, "words");
    struct weft_error error;
    struct weft_object_info o;
    struct json_writer j;
    int64_t found = 0;
    if (!pattern || strlen(pattern) > 1000) {
        reply_fail(out, 400, "expected ?file=WORKFLOW&pattern=NAME");
        return;
    }
    char *path = workbench_path(lab, file, out);
    struct weft_workflow *w = path ? weft_workflow_read(path, NULL, &error) : NULL;
    if (path && !w)
        reply_error(out, &error);
    if (w) {
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        json_write_key(&j, "files");
        json_write_array(&j);
        for (uint32_t i = 0; weft_workflow_object(w, i, &o); i++) {
            if (!name_fits(pattern, o.name) || (words && !strstr(o.name, words)))
                continue;
            if (found++ < MEMBERS_MOST)
                json_write_string(&j, o.name);
        }
        json_write_end_array(&j);
        json_put_integer(&j, "found", found);
        json_write_end_object(&j);
    }
    weft_workflow_free(w);
    free(path);
}

/* ?file=NAME: its bytes, if it is a picture. */
void answer_picture(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *name = request_value(r, "file");
    struct stat s;
    char *path = workbench_path(lab, name, out);
    if (!path)
        return;
    int fd = picture_type(name) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0 || fstat(fd, &s) < 0 || !S_ISREG(s.st_mode)) {
        reply_fail(out, 404, "there is no such picture");
    } else if (s.st_size > DATA_PICTURE) {
        reply_fail(out, 413, "the picture is too large to be shown: it has more than 24 MiB");
    } else {
        char *bytes = mem_alloc((size_t)s.st_size + 1);
        ssize_t n = pread(fd, bytes, (size_t)s.st_size, 0);
        strbuf_add_bytes(&out->body, bytes, n > 0 ? (size_t)n : 0);
        out->type = picture_type(name);
        free(bytes);
    }
    if (fd >= 0)
        close(fd);
    free(path);
}
