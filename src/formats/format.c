#include "formats/format.h"

#include <string.h>
#include <strings.h>

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

static bool can_write(const struct format *f)
{
    return f->write_workflow || f->write_platform;
}

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

enum want { WANT_ANY, WANT_WORKFLOW, WANT_PLATFORM };

static const struct format *surest(const char *path, const char *text, size_t length,
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

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    }
    return true;
}

static const struct format *unknown_format(const char *path, const char *text, size_t length,
                                           struct error *err)
{
    unsigned char first = length ? (unsigned char)text[0] : 0;
    unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
    size_t head = length < 4096 ? length : 4096;
    if (is_blank(text, length)) {
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
    const struct format *f = is_blank(text, length) ? NULL : surest(path, text, length, WANT_ANY);
    return f ? f : unknown_format(path, text, length, err);
}

static const struct format *detect_for(const char *path, const struct text *text, enum want want,
                                       struct error *err)
{
    const struct format *f =
        is_blank(text->at, text->n) ? NULL : surest(path, text->at, text->n, want);
    return f ? f : format_detect(path, text->at, text->n, err);
}

/* "-" reads well in a shell, not in a message. */
static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

struct workflow *format_read_workflow(const char *path, const struct format *format,
                                      const struct format_option *options, struct error *err)
{
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    path = shown(path);
    struct workflow *w = NULL;
    if (!format)
        format = detect_for(path, &text, WANT_WORKFLOW, err);
    if (format && is_blank(text.at, text.n)) {
        error_at(err, path, 0, "the file is empty");
    } else if (format && !format->read_workflow) {
        error_at(err, path, 0, "a %s file holds no workflow%s", format->name,
                 format->read_platform ? ", but a platform: give it with --on" : "");
    } else if (format) {
        struct format_source source = {path, text.at, text.n, options};
        w = format->read_workflow(&source, err);
    }
    text_free(&text);
    return w;
}

struct platform *format_read_platform(const char *path, const struct format *format,
                                      const struct format_option *options, struct error *err)
{
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    path = shown(path);
    struct platform *p = NULL;
    if (!format)
        format = detect_for(path, &text, WANT_PLATFORM, err);
    if (format && is_blank(text.at, text.n)) {
        error_at(err, path, 0, "the file is empty");
    } else if (format && !format->read_platform) {
        error_at(err, path, 0,
                 "a %s file holds no platform; give a platform file, such as weft's own YAML",
                 format->name);
    } else if (format) {
        struct format_source source = {path, text.at, text.n, options};
        p = format->read_platform(&source, err);
    }
    text_free(&text);
    return p;
}

static unsigned holds(const struct format *f, const struct text *text)
{
    if (f->holds)
        return f->holds(text->at, text->n);
    return (f->read_workflow ? HOLDS_WORKFLOW : 0) | (f->read_platform ? HOLDS_PLATFORM : 0);
}

bool format_is_platform(const char *path)
{
    struct text text;
    if (strcmp(path, "-") == 0 || !file_read(path, &text, NULL))
        return false;
    const struct format *f = format_detect(path, text.at, text.n, NULL);
    bool only = f && holds(f, &text) == HOLDS_PLATFORM;
    text_free(&text);
    return only;
}

bool format_has_platform(const char *path)
{
    struct text text;
    /* Standard input can be read only once, and that is for the workflow. */
    if (strcmp(path, "-") == 0 || !file_read(path, &text, NULL))
        return false;
    struct platform *p = NULL;
    const struct format *f = format_detect(path, text.at, text.n, NULL);
    if (f && holds(f, &text) == (HOLDS_WORKFLOW | HOLDS_PLATFORM)) {
        struct format_source source = {path, text.at, text.n, NULL};
        p = f->read_platform(&source, NULL);
    }
    text_free(&text);
    bool has = p != NULL;
    platform_free(p);
    return has;
}

bool format_write_workflow(const char *path, const struct format *format, const struct workflow *w,
                           struct strbuf *dropped, struct error *err)
{
    if (!format && !(format = format_for_path(path, err)))
        return false;
    if (!format->write_workflow)
        return error_at(err, path, 0, "weft does not write workflows as %s", format->name);
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
        return error_at(err, path, 0, "weft does not write platforms as %s", format->name);
    struct strbuf out = {0}, ignored = {0};
    bool good = format->write_platform(p, &out, dropped ? dropped : &ignored, err) &&
                file_write(path, strbuf_text(&out), out.n, err);
    strbuf_free(&out);
    strbuf_free(&ignored);
    return good;
}
