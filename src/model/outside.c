/* Notes of what a reader looked at: see outside.h. Each thing is looked at once, so that what was read
 * and what is noted are the same bytes, also while somebody writes to the file. */
#include "model/outside.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

void outside_init(struct outside *o)
{
    *o = (struct outside){0};
    intern_init(&o->names);
}

void outside_free(struct outside *o)
{
    for (size_t i = 0; i < o->at.n; i++)
        free(o->at.at[i].bytes);
    array_free(&o->at);
    intern_free(&o->names);
    *o = (struct outside){0};
}

/* Where it stands on this machine, in `out`. */
const char *outside_path(const struct outside *o, const char *path, struct strbuf *out)
{
    size_t n = o->folder ? strlen(o->folder) : 0;
    bool here = o->folder && strcmp(o->folder, ".") == 0 && path[0] != '/';
    bool below = o->folder && !here && strncmp(path, o->folder, n) == 0 && path[n] == '/';
    if (!o->real || (!here && !below))
        return path;
    strbuf_clear(out);
    strbuf_printf(out, "%s/%s", o->real, here ? path : path + n + 1);
    return out->at;
}

/* Names of files, of folders and of answers do not meet: each kind has its letter. */
static uint32_t find_entry(const struct outside *o, char kind, const char *path)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%c%s", kind, path);
    uint32_t number = intern_find(&o->names, name.at, name.n);
    strbuf_free(&name);
    return number;
}

/* `x` is the notes' from now on. Valid until the next. */
static const struct outside_entry *note_entry(struct outside *o, char kind, const char *path,
                                              struct outside_entry x)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%c%s", kind, path);
    intern_number(&o->names, name.at, name.n);
    strbuf_free(&name);
    array_push(&o->at, x);
    return &o->at.at[o->at.n - 1];
}

/* NULL: it plays, and nobody has noted it. */
static const struct outside_entry *look_at_file(struct outside *o, const char *path)
{
    uint32_t number = find_entry(o, 'f', path);
    struct text text = {0};
    struct error err = {0};
    struct strbuf real = {0};
    struct outside_entry x;
    if (number != UINT32_MAX || o->plays)
        return number != UINT32_MAX ? &o->at.at[number] : NULL;
    const char *where = outside_path(o, path, &real);
    struct stat s;
    if (stat(where, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
        /* a pipe would wait for who writes to it, a device may never end */
        x.there = error_set(&err, ERROR_INPUT, "%.400s is no regular file", where);
    else
        x.there = file_read(where, &text, &err);
    x.n = x.there ? text.n : strlen(err.text);
    x.bytes = mem_copy_bytes(x.there ? text.at : err.text, x.n);
    if (x.there)
        text_free(&text);
    strbuf_free(&real);
    return note_entry(o, 'f', path, x);
}

/* Names with a NUL after each, sorted: a folder that was listed is the same text wherever it is played. */
static const struct outside_entry *look_at_folder(struct outside *o, const char *path)
{
    uint32_t number = find_entry(o, 'd', path);
    folder_names names = {0};
    struct strbuf real = {0}, text = {0};
    struct outside_entry x;
    if (number != UINT32_MAX || o->plays)
        return number != UINT32_MAX ? &o->at.at[number] : NULL;
    x.there = folder_list(outside_path(o, path, &real), &names);
    for (size_t i = 0; i < names.n; i++)
        strbuf_add_bytes(&text, names.at[i], strlen(names.at[i]) + 1);
    x.n = text.n;
    x.bytes = mem_copy_bytes(text.n ? text.at : "", text.n);
    folder_names_free(&names);
    strbuf_free(&real);
    strbuf_free(&text);
    return note_entry(o, 'd', path, x);
}

bool outside_read(struct outside *o, const char *path, struct text *out, struct error *err)
{
    if (!o)
        return file_read(path, out, err);
    const struct outside_entry *x = look_at_file(o, path);
    if (!x)
        return error_set(err, ERROR_INPUT,
                         "%s: was not read when the run was handed in, or when it grew", path);
    if (!x->there)
        return error_set(err, ERROR_INPUT, "%.*s", (int)x->n, x->bytes);
    *out = (struct text){mem_copy_bytes(x->bytes, x->n), x->n};
    return true;
}

bool outside_list(struct outside *o, const char *path, folder_names *names)
{
    if (!o)
        return folder_list(path, names);
    const struct outside_entry *x = look_at_folder(o, path);
    if (!x || !x->there) {
        errno = ENOENT;
        return false;
    }
    for (size_t i = 0; i < x->n; i += strlen(x->bytes + i) + 1)
        array_push(names, mem_copy_string(x->bytes + i));
    return true;
}

const struct outside_entry *outside_find(const struct outside *o, const char *name)
{
    uint32_t number = find_entry(o, 'a', name);
    return number == UINT32_MAX ? NULL : &o->at.at[number];
}

void outside_note(struct outside *o, const char *name, bool there, const char *text)
{
    note_entry(o, 'a', name,
               (struct outside_entry){there, mem_copy_bytes(text, strlen(text)), strlen(text)});
}

uint32_t outside_number(const struct outside *o, const char *path)
{
    uint32_t number = o ? find_entry(o, 'f', path) : UINT32_MAX;
    return number == UINT32_MAX || !o->at.at[number].there ? 0 : number + 1;
}

/* Entries in the order in which they were noted, so that equal notes are equal bytes. */
void outside_put(const struct outside *o, struct strbuf *out)
{
    bytes_put_u32(out, (uint32_t)o->at.n);
    for (uint32_t i = 0; i < o->at.n; i++) {
        const char *name = intern_text(&o->names, i);
        bytes_put_text(out, name, strlen(name));
        bytes_put_u8(out, o->at.at[i].there);
        bytes_put_text(out, o->at.at[i].bytes, o->at.at[i].n);
    }
}

/* Bytes come from a board or over a wire: a name twice, or less than was promised, is damage. */
bool outside_take(struct bytes *in, struct outside *o)
{
    outside_init(o);
    for (uint32_t n = bytes_u32(in); n && !in->bad; n--) {
        size_t length, size;
        const char *name = bytes_text(in, &length);
        bool there = bytes_u8(in);
        const char *bytes = bytes_text(in, &size);
        if (!name || !bytes || intern_find(&o->names, name, length) != UINT32_MAX)
            return false;
        intern_number(&o->names, name, length);
        array_push(&o->at, (struct outside_entry){there, mem_copy_bytes(bytes, size), size});
    }
    return !in->bad;
}
