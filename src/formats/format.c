/* The table of formats at work: finding a format by name, suffix or content, reading a file once
 * whatever it holds, writing whole or not at all.
 *
 * Detection asks every format how sure it is (sniff, 0 to 3) and takes the surest; among equals
 * the longest suffix that matches, then the order of the registry. A file is read into memory
 * once, because a pipe can be read only once and what it holds decides what is done with it. */
#include "formats/format.h"
#include "base/mem.h"
#include "base/path.h"
#include "formats/yaml/yaml.h"
#include "model/builder.h"
#include "model/select.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* By name, in any case: users type "DOT". */
const struct format *format_find(const char *name)
{
    for (size_t i = 0; format_registry[i]; i++) {
        if (strcasecmp(format_registry[i]->name, name) == 0)
            return format_registry[i];
    }
    return NULL;
}

/* Length of the longest suffix of this format that the path ends with, 0: none. */
static size_t suffix_match(const struct format *f, const char *path)
{
    size_t best = 0, path_length = strlen(path);
    const char *p = f->suffixes ? f->suffixes : "";
    while (*(p += strspn(p, " "))) {
        size_t n = strcspn(p, " ");
        if (n > best && n < path_length && strncasecmp(path + path_length - n, p, n) == 0)
            best = n;
        p += n;
    }
    return best;
}

/* Formats that are only read do not compete for a suffix. */
static bool can_write(const struct format *f)
{
    return f->write_workflow || f->write_platform;
}

/* The longest suffix wins: ".saga.json" before ".json". */
const struct format *format_for_path(const char *path, struct error *err)
{
    const struct format *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; format_registry[i]; i++) {
        size_t n = can_write(format_registry[i]) ? suffix_match(format_registry[i], path) : 0;
        if (n > longest) {
            longest = n;
            best = format_registry[i];
        }
    }
    if (best)
        return best;
    struct strbuf known = {0};
    for (size_t i = 0; format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        if (can_write(f) && f->suffixes)
            strbuf_printf(&known, "%s%s (%s)", known.n ? ", " : "", f->suffixes, f->name);
    }
    error_set(err, ERROR_INPUT, "%s: which format to write? Its name should end with one of: %s",
              path, strbuf_text(&known));
    strbuf_free(&known);
    return NULL;
}

enum { HEAD = 4096 }; /* bytes that tell what a file is */

enum want { WANT_ANY, WANT_WORKFLOW, WANT_PLATFORM };

/* `want` leaves out formats that could not give it, so that a platform in JSON is not taken for a
 * workflow. */
static const struct format *surest_format(const char *path, const char *text, size_t length,
                                          enum want want)
{
    const struct format *best = NULL;
    int best_score = 0;
    size_t best_suffix = 0;
    for (size_t i = 0; format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        if (!f->sniff || (want == WANT_WORKFLOW && !f->read_workflow) ||
            (want == WANT_PLATFORM && !f->read_platform))
            continue;
        int score = f->sniff(path, text, length);
        size_t suffix = suffix_match(f, path);
        if (score > best_score || (score && score == best_score && suffix > best_suffix)) {
            best = f;
            best_score = score;
            best_suffix = suffix;
        }
    }
    return best;
}

/* A NUL is not blank: it is a broken file, not an empty one. */
static bool is_blank_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    }
    return true;
}

/* Says what the file probably is, when that can be seen. Always NULL. */
static const struct format *unknown_format(const char *path, const char *text, size_t length,
                                           struct error *err)
{
    unsigned char first = length ? (unsigned char)text[0] : 0;
    unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
    size_t head = length < HEAD ? length : HEAD;
    if (is_blank_text(text, length)) {
        error_at(err, path, 0, "the file is empty");
    } else if ((first == 0xFF && second == 0xFE) || (first == 0xFE && second == 0xFF)) {
        error_at(err, path, 1,
                 "this is UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
    } else if (memmem(text, head, "\"weft-plan/", 11)) {
        error_at(err, path, 0,
                 "this is a plan, not a workflow or a platform; see weft check, sim and run");
    } else {
        struct strbuf known = {0};
        for (size_t i = 0; format_registry[i]; i++)
            strbuf_printf(&known, "%s%s", known.n ? ", " : "", format_registry[i]->name);
        error_at(err, path, 0, "not recognised as any known format; known are: %s",
                 strbuf_text(&known));
        strbuf_free(&known);
    }
    return NULL;
}

const struct format *format_detect(const char *path, const char *text, size_t length,
                                   struct error *err)
{
    const struct format *f =
        is_blank_text(text, length) ? NULL : surest_format(path, text, length, WANT_ANY);
    return f ? f : unknown_format(path, text, length, err);
}

/* When no format can give what is wanted, the file is still named for what it is, so that the
 * error can say so. */
static const struct format *detect_for(const char *path, const struct text *text, enum want want,
                                       struct error *err)
{
    const struct format *f =
        is_blank_text(text->at, text->n) ? NULL : surest_format(path, text->at, text->n, want);
    return f ? f : format_detect(path, text->at, text->n, err);
}

/* "-" reads well in a shell, not in a message. */
static const char *shown_input(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static const char *shown_out(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* ---- a file read once ---- */

struct format_file {
    char *path; /* as shown in messages */
    struct text text;
    const struct format *format;  /* stated by the caller; NULL: by the content */
    struct option_value *options; /* copies; end with a NULL name */
    struct option_value *part; /* those of them that every format has: FORMAT_UNTIL, FORMAT_SINCE */
    char *folder;              /* where its files stand; NULL: it is no file */
    bool grows;                /* who reads it lets it grow */
    struct text kept;          /* the text again, for who will annotate it; else empty */
    struct outside *outside;   /* notes what it reads; NULL: nobody does */
};

static bool is_part_option(const struct option_value *o)
{
    return strcmp(o->name, FORMAT_UNTIL) == 0 || strcmp(o->name, FORMAT_SINCE) == 0;
}

/* A file outlives the command line's arrays. Those about a part of the workflow, or all others. */
static struct option_value *copy_options(const struct option_value *options, bool part)
{
    size_t n = 0, copied = 0;
    while (options && options[n].name)
        n++;
    struct option_value *copy = mem_new_zero(struct option_value, n + 1);
    for (size_t i = 0; i < n; i++)
        if (is_part_option(&options[i]) == part)
            copy[copied++] = (struct option_value){mem_copy_string(options[i].name),
                                                   mem_copy_string(options[i].text)};
    return copy;
}

static void free_options(struct option_value *options)
{
    for (struct option_value *o = options; o->name; o++) {
        free((char *)o->name);
        free((char *)o->text);
    }
    free(options);
}

struct format_file *format_file_open(const char *path, const struct format *format,
                                     const struct option_value *options, struct error *err)
{
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    struct format_file *f = format_file_of(shown_input(path), text, format, options);
    const char *slash = strrchr(path, '/');
    f->folder = slash ? mem_copy_bytes(path, (size_t)(slash - path) + (slash == path))
                      : mem_copy_string(".");
    return f;
}

struct format_file *format_file_of(const char *name, struct text text, const struct format *format,
                                   const struct option_value *options)
{
    struct format_file *f = mem_new(struct format_file, 1);
    *f = (struct format_file){.path = mem_copy_string(name),
                              .text = text,
                              .format = format,
                              .options = copy_options(options, false),
                              .part = copy_options(options, true)};
    return f;
}

void format_file_let_grow(struct format_file *f)
{
    f->grows = true;
}

void format_file_note(struct format_file *f, struct outside *o)
{
    f->outside = o;
}

void format_file_set_folder(struct format_file *f, const char *folder)
{
    free(f->folder);
    f->folder = mem_copy_string(folder);
}

/* The options are copies, whatever their type says. */
void format_file_close(struct format_file *f)
{
    if (!f)
        return;
    free_options(f->options);
    free_options(f->part);
    free(f->folder);
    text_free(&f->text);
    text_free(&f->kept);
    free(f->path);
    free(f);
}

const char *format_file_path(const struct format_file *f)
{
    return f->path;
}

struct text format_file_take(struct format_file *f)
{
    struct text text = f->text;
    f->text = (struct text){0};
    return text;
}

/* A plan's schema stands near its beginning. */
bool format_file_is_plan(const struct format_file *f)
{
    size_t head = f->text.n < HEAD ? f->text.n : HEAD;
    return head && memmem(f->text.at, head, "\"weft-plan/", 11);
}

/* What the file holds, read as `format`: HOLDS_* bits. */
static unsigned file_holds(const struct format_file *f, const struct format *format)
{
    unsigned readable = (format->read_workflow ? HOLDS_WORKFLOW : 0) |
                        (format->read_platform ? HOLDS_PLATFORM | HOLDS_UNSURE : 0);
    return format->holds ? readable & format->holds(f->text.at, f->text.n) : readable;
}

/* The format to read it with; NULL with an error. */
static const struct format *format_of(const struct format_file *f, enum want want,
                                      struct error *err)
{
    if (is_blank_text(f->text.at, f->text.n)) {
        error_at(err, f->path, 0, "the file is empty");
        return NULL;
    }
    return f->format ? f->format : detect_for(f->path, &f->text, want, err);
}

bool format_file_is_platform(const struct format_file *f)
{
    const struct format *format = format_of(f, WANT_ANY, NULL);
    return format && (file_holds(f, format) & ~HOLDS_UNSURE) == HOLDS_PLATFORM;
}

/* Made by cmake/reader_digest.cmake from the sources of base, model and formats: a reader that
 * changes, by one character, is another reader. */
extern const char reader_digest[];

const char *format_readers(void)
{
    return reader_digest;
}

size_t format_file_length(const struct format_file *f)
{
    return f->text.n;
}

/* Absolute names mean other files once the folder has moved. */
static void digest_folder(const char *folder, struct digest_state *s)
{
    char real[PATH_MAX] = "";
    if (!folder || !realpath(folder, real))
        real[0] = 0;
    digest_string(s, real, strlen(real));
}

bool format_file_digest(const struct format_file *f, struct digest *out)
{
    const struct format *format = format_of(f, WANT_WORKFLOW, NULL);
    if (!format || !format->text_alone || !format->read_workflow || f->part->name)
        return false;
    const char *library = yaml_library();
    struct digest_state s;
    digest_begin(&s);
    digest_string(&s, reader_digest, strlen(reader_digest));
    digest_string(&s, library, strlen(library));
    digest_string(&s, format->name, strlen(format->name));
    digest_string(&s, f->path, strlen(f->path));
    for (const struct option_value *o = f->options; o->name; o++) {
        digest_string(&s, o->name, strlen(o->name));
        digest_string(&s, o->text, strlen(o->text));
    }
    digest_number(&s, UINT64_MAX); /* the end of the options */
    digest_folder(f->folder, &s);
    digest_string(&s, f->text.at, f->text.n);
    digest_end(&s, out);
    return true;
}

/* A misspelt option must not pass for one that was heeded. */
static bool options_known(const struct format_file *f, const struct format *format,
                          struct error *err)
{
    struct error why = {0};
    return format->has_parameters || format_check_options(format, f->options, &why) ||
           error_at(err, f->path, 0, "%s", why.text);
}

/* All that the reader is given, so that another can be given the same (format_read_noted()). */
static void note_source(const struct format_file *f, const struct text *text)
{
    struct strbuf name = {0};
    outside_note(f->outside, "text", true, text->at);
    outside_note(f->outside, "path", true, f->path);
    outside_note(f->outside, "folder", f->folder != NULL, f->folder ? f->folder : "");
    for (const struct option_value *o = f->options; o && o->name; o++) {
        strbuf_clear(&name);
        strbuf_printf(&name, "option %s", o->name);
        outside_note(f->outside, name.at, true, o->text);
    }
    strbuf_free(&name);
}

struct workflow *format_read_noted(struct outside *o, struct error *err)
{
    static const char option[] = "aoption ";
    const struct outside_entry *text = outside_find(o, "text"), *path = outside_find(o, "path"),
                               *folder = outside_find(o, "folder");
    ARRAY(struct option_value) options = {0};
    if (!text || !path || !folder) {
        error_set(err, ERROR_FAILED, "the workflow is damaged, or another version's");
        return NULL;
    }
    for (uint32_t i = 0; i < o->at.n; i++) {
        const char *name = intern_text(&o->names, i);
        if (strncmp(name, option, sizeof option - 1) == 0)
            array_push(&options,
                       (struct option_value){name + sizeof option - 1, o->at.at[i].bytes});
    }
    array_push(&options, (struct option_value){0});
    char *copy = mem_copy_bytes(text->bytes, text->n); /* readers change their text */
    o->plays = true;
    struct workflow *w = format_find("native")->read_workflow(
        &(struct format_source){.path = path->bytes,
                                .text = copy,
                                .length = text->n,
                                .options = options.at,
                                .folder = folder->there ? folder->bytes : NULL,
                                .grows = true,
                                .outside = o},
        err);
    free(copy);
    array_free(&options);
    return w;
}

/* The names that an option gives, ended by NULL. The caller frees the array. */
static const char **part_names(const struct option_value *part, const char *option)
{
    size_t n = 0;
    for (const struct option_value *o = part; o->name; o++)
        n++;
    const char **names = mem_new_zero(const char *, n + 1);
    n = 0;
    for (const struct option_value *o = part; o->name; o++)
        if (strcmp(o->name, option) == 0)
            names[n++] = o->text;
    return names;
}

/* What was asked for of the workflow, which it takes. Remarks are about the whole file, and stay. */
static struct workflow *file_take_part(const struct format_file *f, struct workflow *w,
                                       struct error *err)
{
    if (!w || !f->part->name)
        return w;
    const char **until = part_names(f->part, FORMAT_UNTIL),
               **since = part_names(f->part, FORMAT_SINCE);
    const char **targets = path_home_names(f->folder, until);
    const char **later = path_home_names(f->folder, since);
    struct workflow *part = workflow_select(w, targets, later, err);
    for (uint32_t i = 0; part && i < w->nwarnings; i++)
        builder_add_warning(part, w->warnings[i]);
    free(targets);
    free(later);
    free(until);
    free(since);
    workflow_free(w);
    return part;
}

/* Readers may change the text, so one that is not the last reads a copy. */
static struct workflow *file_read_workflow(struct format_file *f, bool last, struct error *err)
{
    const struct format *format = format_of(f, WANT_WORKFLOW, err);
    if (!format)
        return NULL;
    struct workflow *(*reader)(const struct format_source *, struct error *) =
        format->read_workflow;
    if (!reader) {
        error_at(err, f->path, 0, "a %s file holds no workflow%s", format->name,
                 format->read_platform ? ", but a platform: give it with --on" : "");
        return NULL;
    }
    if (!options_known(f, format, err))
        return NULL;
    bool copy = !last && (file_holds(f, format) & HOLDS_PLATFORM);
    struct text text = copy ? (struct text){mem_copy_bytes(f->text.at, f->text.n), f->text.n}
                            : format_file_take(f);
    if (f->outside)
        note_source(f, &text);
    struct format_source source = {.path = f->path,
                                   .text = text.at,
                                   .length = text.n,
                                   .options = f->options,
                                   .folder = f->folder,
                                   .grows = f->grows,
                                   .outside = f->outside};
    struct workflow *w = reader(&source, err);
    text_free(&text);
    return file_take_part(f, w, err);
}

/* Takes the text: nothing can be read after it. */
static struct platform *file_read_platform(struct format_file *f, struct error *err)
{
    const struct format *format = format_of(f, WANT_PLATFORM, err);
    if (!format)
        return NULL;
    struct platform *(*reader)(const struct format_source *, struct error *) =
        format->read_platform;
    if (!reader) {
        error_at(err, f->path, 0,
                 "a %s file holds no platform; give a platform file, such as weft's own YAML",
                 format->name);
        return NULL;
    }
    if (!options_known(f, format, err))
        return NULL;
    struct text text = format_file_take(f);
    struct format_source source = {
        .path = f->path, .text = text.at, .length = text.n, .options = f->options};
    struct platform *p = reader(&source, err);
    text_free(&text);
    return p;
}

/* The workflow first; its reader gets a copy of the text when a platform may follow. */
bool format_file_both(struct format_file *f, struct workflow **w, struct platform **p,
                      struct error *err)
{
    *p = NULL;
    *w = file_read_workflow(f, false, err);
    if (!*w)
        return false;
    const struct format *format = f->text.at ? format_of(f, WANT_WORKFLOW, NULL) : NULL;
    if (!format || !(file_holds(f, format) & HOLDS_PLATFORM))
        return true;
    /* Where only reading tells whether there is a platform, a failure says that there is none. */
    bool unsure = file_holds(f, format) & HOLDS_UNSURE;
    *p = file_read_platform(f, unsure ? NULL : err);
    if (*p || unsure)
        return true;
    workflow_free(*w);
    *w = NULL;
    return false;
}

struct workflow *format_file_workflow(struct format_file *f, struct error *err)
{
    return file_read_workflow(f, true, err);
}

struct platform *format_file_platform(struct format_file *f, struct error *err)
{
    return file_read_platform(f, err);
}

struct workflow *format_read_workflow(const char *path, const struct format *format,
                                      const struct option_value *options, struct error *err)
{
    struct format_file *f = format_file_open(path, format, options, err);
    struct workflow *w = f ? file_read_workflow(f, true, err) : NULL;
    format_file_close(f);
    return w;
}

struct platform *format_read_platform(const char *path, const struct format *format,
                                      const struct option_value *options, struct error *err)
{
    struct format_file *f = format_file_open(path, format, options, err);
    struct platform *p = f ? file_read_platform(f, err) : NULL;
    format_file_close(f);
    return p;
}

/* The text is complete before the file is touched; file_write() renames it into place. */
bool format_write_workflow(const char *path, const struct format *format, const struct workflow *w,
                           struct strbuf *dropped, struct error *err)
{
    if (!format && !(format = format_for_path(path, err)))
        return false;
    if (!format->write_workflow)
        return error_at(err, shown_out(path), 0, "weft does not write workflows as %s",
                        format->name);
    struct strbuf out = {0}, ignored = {0};
    bool good = format->write_workflow(w, &out, dropped ? dropped : &ignored, err) &&
                file_write(path, strbuf_text(&out), out.n, err);
    strbuf_free(&out);
    strbuf_free(&ignored);
    return good;
}

bool format_write_platform(const char *path, const struct format *format, const struct platform *p,
                           struct strbuf *dropped, struct error *err)
{
    if (!format && !(format = format_for_path(path, err)))
        return false;
    if (!format->write_platform)
        return error_at(err, shown_out(path), 0, "weft does not write platforms as %s",
                        format->name);
    struct strbuf out = {0}, ignored = {0};
    bool good = format->write_platform(p, &out, dropped ? dropped : &ignored, err) &&
                file_write(path, strbuf_text(&out), out.n, err);
    strbuf_free(&out);
    strbuf_free(&ignored);
    return good;
}

void format_cores(struct builder *b, uint32_t task, double cores, size_t line, size_t *rounded)
{
    double whole = ceil(cores);
    if (whole == cores || !(whole >= 1)) {
        builder_cores(b, task, cores, line);
        return;
    }
    *rounded += 1;
    builder_cores(b, task, whole, line);
}

void format_cores_remark(struct builder *b, size_t rounded)
{
    if (rounded)
        builder_warn(b, 0, "%zu task%s for a part of a core; a whole one is taken", rounded,
                     rounded == 1 ? " asks" : "s ask");
}

/* ---- priorities in the user's own file ---- */

/* The option by which everything is read, unless the user has said something about it. */
static void read_whole(struct format_file *f, const struct option_value *whole)
{
    size_t n = 0;
    for (; f->options[n].name; n++)
        if (strcmp(f->options[n].name, whole->name) == 0)
            return;
    f->options = mem_resize(f->options, n + 2);
    f->options[n] =
        (struct option_value){mem_copy_string(whole->name), mem_copy_string(whole->text)};
    f->options[n + 1] = (struct option_value){0};
}

bool format_file_to_annotate(struct format_file *f, struct error *err)
{
    const struct format *format = format_of(f, WANT_WORKFLOW, err);
    if (!format)
        return false;
    if (!format->annotate)
        return error_at(err, f->path, 0,
                        "a %s file has no place for priorities that could be added to it; `weft "
                        "convert IN OUT --order` writes a workflow that has them",
                        format->name);
    f->format = format;
    if (format->whole.name)
        read_whole(f, &format->whole);
    f->kept = (struct text){mem_copy_bytes(f->text.at, f->text.n), f->text.n};
    return true;
}

/* All or none: what was not there before goes again. Always false. */
static bool remove_fresh(const struct format_copies *copies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (copies->files.at[i].fresh)
            unlink(copies->files.at[i].path);
    return false;
}

bool format_file_annotate(struct format_file *f, const struct workflow *w, const char *path,
                          struct format_copies *out, struct error *err)
{
    struct format_source source = {
        .path = f->path, .text = f->kept.at, .length = f->kept.n, .options = f->options};
    if (!f->format->annotate(&source, w, path, out, err))
        return false;
    for (size_t i = 0; i < out->files.n; i++) {
        struct format_copy *c = &out->files.at[i];
        c->fresh = !file_exists(c->path);
        if (!file_write(c->path, strbuf_text(&c->text), c->text.n, err))
            return remove_fresh(out, i);
    }
    return true;
}

void format_copies_free(struct format_copies *copies)
{
    for (size_t i = 0; i < copies->files.n; i++) {
        free(copies->files.at[i].path);
        strbuf_free(&copies->files.at[i].text);
    }
    array_free(&copies->files);
}
