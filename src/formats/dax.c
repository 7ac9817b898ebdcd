/* Pegasus DAX, XML of versions 2.x and 3.x. The only file that knows expat.
 *
 * A job's id is its task's name, its transformation (name) the kind, runtime the work in seconds on
 * the reference machine. See uses.h for how edges and files go together.
 *
 *     <adag name="montage" jobCount="25">
 *       <job id="ID00000" name="mProjectPP" runtime="13.59">        a task, its kind, its work
 *         <uses file="region.hdr" link="input" size="304"/>         an object that it reads
 *         <uses file="p2mass.fits" link="output" size="4222080"/>   one that it makes
 *       </job>
 *       <child ref="ID00005"> <parent ref="ID00000"/> </child>      an edge
 *     </adag> */
#include "base/quantity.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/uses.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* expat takes lengths as int: the text goes in pieces of 64 MB. Values longer than MOST_TEXT are
 * no numbers. */
enum { MOST_LEVELS = 100, MOST_TEXT = 256, PIECE = 1 << 26 };

struct dax_reading {
    XML_Parser parser;
    struct builder *b;
    struct uses *uses;
    size_t depth;
    bool has_root;
    uint32_t task; /* the job we are in; NONE: none */
    uint32_t file; /* the file of the <uses> we are in */
    bool has_file, has_runtime;
    char *child;      /* the ref of the <child> we are in */
    double job_count; /* as the header claims; NAN: it does not */
    size_t without_runtime, negative_runtime, negative_size;
    /* text of a <metadata> or <profile> that matters */
    enum { TEXT_NONE, TEXT_SIZE, TEXT_RUNTIME, TEXT_CORES } wanted;
    char text[MOST_TEXT];
    size_t text_length;
};

static size_t line_of(const struct dax_reading *r)
{
    return XML_GetCurrentLineNumber(r->parser);
}

/* An error that ends the parse. */
static void dax_stop_parsing(struct dax_reading *r)
{
    XML_StopParser(r->parser, XML_FALSE);
}

/* NULL: the element has no such attribute. */
static const char *dax_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* The name without its namespace prefix. */
static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* Attributes and texts alike, with blanks around them. */
static bool dax_read_number(struct dax_reading *r, const char *what, const char *text, double *out)
{
    while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r')
        text++;
    size_t length = strlen(text);
    while (length && strchr(" \n\t\r", text[length - 1]))
        length--;
    if (quantity_number(text, length, out))
        return true;
    return builder_error(r->b, line_of(r), "%s is '%.60s'; expected a finite number", what, text);
}

/* jobCount is only compared, never trusted. */
static void begin_root(struct dax_reading *r, const char *name, const char **attributes)
{
    if (strcmp(name, "adag") != 0) {
        builder_error(r->b, line_of(r),
                      "the root element is <%.60s>; expected <adag>, a Pegasus DAX", name);
        return;
    }
    r->has_root = true;
    const char *title = dax_attribute(attributes, "name"),
               *count = dax_attribute(attributes, "jobCount");
    if (title)
        builder_name(r->b, title, strlen(title));
    if (count && !quantity_number(count, strlen(count), &r->job_count))
        r->job_count = NAN; /* of no use but for a warning */
}

/* The synthetic gallery draws runtimes and sizes from normal distributions, and some of
 * Epigenomics_997's came out below 0: such a runtime is 0, such a size is none, and both are
 * counted for a warning. */
static void set_runtime(struct dax_reading *r, const char *text)
{
    double value;
    if (!dax_read_number(r, "runtime", text, &value))
        return;
    r->negative_runtime += value < 0;
    builder_work(r->b, r->task, value < 0 ? 0 : value, line_of(r));
    r->has_runtime = true;
}

static void dax_set_size(struct dax_reading *r, const char *text)
{
    double bytes;
    if (!dax_read_number(r, "size", text, &bytes))
        return;
    if (bytes < 0)
        r->negative_size++;
    else
        uses_size(r->uses, r->file, bytes, line_of(r));
}

/* Sub-workflows (<dax>, <dag>) are tasks like any other. */
static void begin_job(struct dax_reading *r, const char *element, const char **attributes)
{
    const char *id = dax_attribute(attributes, "id"), *kind = dax_attribute(attributes, "name");
    if (!kind)
        kind = dax_attribute(attributes, "file"); /* <dax> and <dag> */
    if (!id) {
        builder_error(r->b, line_of(r), "a <%s> has no id", element);
        return;
    }
    r->task = builder_task(r->b, id, strlen(id), line_of(r));
    if (kind && *kind)
        builder_kind(r->b, r->task, kind, strlen(kind));
    const char *runtime = dax_attribute(attributes, "runtime"),
               *cores = dax_attribute(attributes, "cores");
    double value;
    r->has_runtime = false;
    if (runtime)
        set_runtime(r, runtime);
    if (cores && dax_read_number(r, "cores", cores, &value))
        builder_cores(r->b, r->task, value, line_of(r));
}

/* In 2.x the file is `file`, in 3.x `name`. */
static void begin_uses(struct dax_reading *r, const char **attributes)
{
    const char *name = dax_attribute(attributes, "file"), *link = dax_attribute(attributes, "link");
    const char *size = dax_attribute(attributes, "size");
    if (!name)
        name = dax_attribute(attributes, "name");
    if (!name || !*name) {
        builder_error(r->b, line_of(r), "a <uses> of job '%s' names no file",
                      builder_task_name(r->b, r->task));
        return;
    }
    /* Executables are listed like files in 3.x but have no direction. */
    bool in = link && (strcmp(link, "input") == 0 || strcmp(link, "inout") == 0);
    bool out = link && (strcmp(link, "output") == 0 || strcmp(link, "inout") == 0);
    if (!in && !out)
        return;
    r->file = uses_file(r->uses, name, strlen(name));
    r->has_file = true;
    if (in)
        uses_input(r->uses, r->task, r->file, line_of(r));
    if (out)
        uses_output(r->uses, r->task, r->file, line_of(r));
    if (size)
        dax_set_size(r, size);
}

/* <metadata key="size"> inside <uses> speaks of the file, others of the job. */
static void begin_text(struct dax_reading *r, const char **attributes)
{
    const char *key = dax_attribute(attributes, "key");
    if (!key)
        return;
    if (r->has_file)
        r->wanted = strcmp(key, "size") == 0 ? TEXT_SIZE : TEXT_NONE;
    else if (strcmp(key, "runtime") == 0)
        r->wanted = TEXT_RUNTIME;
    else if (strcmp(key, "cores") == 0)
        r->wanted = TEXT_CORES;
    r->text_length = 0;
}

/* What matters stands at fixed depths: jobs at 2, their files at 3. Anything else is passed over.
 */
static void on_start(void *context, const char *name, const char **attributes)
{
    struct dax_reading *r = context;
    if (builder_failed(r->b))
        return;
    name = local_name(name);
    if (++r->depth > MOST_LEVELS)
        builder_error(r->b, line_of(r), "elements are nested more than %d deep", MOST_LEVELS);
    else if (r->depth == 1)
        begin_root(r, name, attributes);
    else if (r->depth == 2 &&
             (strcmp(name, "job") == 0 || strcmp(name, "dax") == 0 || strcmp(name, "dag") == 0))
        begin_job(r, name, attributes);
    else if (r->task != NONE && r->depth == 3 && strcmp(name, "uses") == 0)
        begin_uses(r, attributes);
    else if (r->task != NONE && r->depth <= 4 &&
             (strcmp(name, "metadata") == 0 || strcmp(name, "profile") == 0))
        begin_text(r, attributes);
    else if (r->depth == 2 && strcmp(name, "child") == 0) {
        const char *ref = dax_attribute(attributes, "ref");
        if (!ref)
            builder_error(r->b, line_of(r), "a <child> has no ref");
        else
            r->child = mem_copy_string(ref);
    } else if (r->depth == 3 && r->child && strcmp(name, "parent") == 0) {
        const char *ref = dax_attribute(attributes, "ref");
        if (!ref)
            builder_error(r->b, line_of(r), "a <parent> has no ref");
        else
            uses_edge(r->uses, ref, strlen(ref), r->child, strlen(r->child), line_of(r));
    }
    if (builder_failed(r->b))
        dax_stop_parsing(r);
}

/* A runtime that an attribute stated before stays. */
static void end_text(struct dax_reading *r)
{
    double value;
    r->text[r->text_length] = 0;
    if (r->wanted == TEXT_SIZE)
        dax_set_size(r, r->text);
    if (r->wanted == TEXT_RUNTIME && !r->has_runtime)
        set_runtime(r, r->text);
    if (r->wanted == TEXT_CORES && dax_read_number(r, "cores", r->text, &value))
        builder_cores(r->b, r->task, value, line_of(r));
    r->wanted = TEXT_NONE;
}

/* Leaving a job or a <child>, by depth: names need not be compared again. */
static void on_end(void *context, const char *name)
{
    struct dax_reading *r = context;
    (void)name;
    if (builder_failed(r->b))
        return;
    if (r->wanted != TEXT_NONE)
        end_text(r);
    if (r->depth == 3)
        r->has_file = false;
    if (r->depth == 2 && r->task != NONE) {
        r->without_runtime += !r->has_runtime;
        r->task = NONE;
    }
    if (r->depth == 2) {
        free(r->child);
        r->child = NULL;
    }
    r->depth--;
    if (builder_failed(r->b))
        dax_stop_parsing(r);
}

/* expat may deliver a text in several pieces. */
static void dax_on_text(void *context, const char *text, int length)
{
    struct dax_reading *r = context;
    if (r->wanted == TEXT_NONE)
        return;
    size_t space = MOST_TEXT - 1 - r->text_length,
           n = (size_t)length < space ? (size_t)length : space;
    memcpy(r->text + r->text_length, text, n);
    r->text_length += n;
}

/* A workflow needs no entities of its own, and expanding them is how small files become gigabytes.
 */
static void on_entity(void *context, const char *name, int is_parameter, const char *value,
                      int length, const char *base, const char *system, const char *public,
                      const char *notation)
{
    struct dax_reading *r = context;
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public,
        (void)notation;
    builder_error(r->b, line_of(r),
                  "the entity '%.60s' is declared; entity declarations are refused", name);
    dax_stop_parsing(r);
}

/* Entities are refused when they are declared (on_entity), so none can be expanded. */
static bool dax_parse_text(struct dax_reading *r, const struct format_source *source)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, dax_on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    XML_SetParamEntityParsing(r->parser, XML_PARAM_ENTITY_PARSING_NEVER);
    const char *at = source->text, *end = at + source->length;
    do {
        size_t left = (size_t)(end - at), n = left < PIECE ? left : PIECE;
        if (XML_Parse(r->parser, at, (int)n, n == left) != XML_STATUS_OK) {
            /* after a mistake of our own finding this is "aborted", and the first error stands */
            return builder_error(r->b, line_of(r), "not valid XML: %s",
                                 XML_ErrorString(XML_GetErrorCode(r->parser)));
        }
        at += n;
    } while (at < end);
    return true;
}

/* Counts instead of a remark a job: published files have thousands of such jobs. */
static void warn_header(struct dax_reading *r)
{
    uint32_t jobs = builder_task_count(r->b);
    if (!isnan(r->job_count) && r->job_count != jobs)
        builder_warn(r->b, 0, "the header claims %.0f jobs; there are %u", r->job_count, jobs);
    if (r->negative_runtime)
        builder_warn(r->b, 0, "%zu of %u job%s a negative runtime; their work is 0",
                     r->negative_runtime, jobs, plural_word(jobs, " has", "s have"));
    if (r->negative_size)
        builder_warn(r->b, 0, "%zu uses of a file state a negative size; it is left out",
                     r->negative_size);
    if (r->without_runtime)
        builder_warn(r->b, 0, "%zu of %u job%s no runtime; their work is 0", r->without_runtime,
                     jobs, plural_word(jobs, " has", "s have"));
}

/* "dax-2.1" from the version attribute of the first tag; read ahead because the builder wants it
 * first. */
static void format_label(const struct format_source *source, char *label, size_t size)
{
    snprintf(label, size, "dax");
    const char *root = strstr(source->text, "<adag"), *end = root ? strchr(root, '>') : NULL;
    const char *version = root ? strstr(root, " version=\"") : NULL;
    if (!version || !end || version > end)
        return;
    version += strlen(" version=\"");
    size_t n = strspn(version, "0123456789.");
    if (n && n < 8)
        snprintf(label, size, "dax-%.*s", (int)n, version);
}

/* A guard: our memory ran out in a handler. Expat holds no lock, and its frames, which the jump
 * leaves, keep nothing but pointers into the parser. */
static void dax_free_parser(void *of)
{
    struct dax_reading *r = of;
    if (r->parser)
        XML_ParserFree(r->parser);
}

/* An empty file is named as such, before expat calls it "no element found". */
static struct workflow *dax_read_workflow(const struct format_source *source, struct error *err)
{
    size_t blank = 0;
    while (blank < source->length && strchr(" \t\r\n", source->text[blank]) && source->text[blank])
        blank++;
    if (blank == source->length) {
        error_at(err, source->path, 0, "the file is empty");
        return NULL;
    }
    char label[32];
    format_label(source, label, sizeof label);
    struct dax_reading r = {.task = NONE, .job_count = NAN};
    r.b = builder_new(source->path, label);
    builder_home(r.b, source->folder);
    r.uses = uses_new(r.b);
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        builder_error(r.b, 0, "the XML parser cannot start");
    struct mem_guard guard;
    mem_guard_enter(&guard, dax_free_parser, &r);
    if (r.parser && dax_parse_text(&r, source)) {
        uses_finish(r.uses);
        warn_header(&r);
    }
    mem_guard_leave(&guard);
    if (r.parser)
        XML_ParserFree(r.parser);
    uses_free(r.uses);
    free(r.child);
    return builder_finish(r.b, err);
}

/* Any XML is "perhaps", so that a foreign one gets an error about <adag> rather than "not
 * recognised". */
static int dax_sniff(const char *path, const char *text, size_t length)
{
    (void)path;
    enum { LOOK = 8192 };
    const char *end = text + (length < LOOK ? length : LOOK), *p = text;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (p < end && strchr(" \t\r\n", *p) && *p)
        p++;
    if (p == end || *p != '<')
        return 0;
    if (memmem(p, (size_t)(end - p), "<adag", 5) ||
        memmem(p, (size_t)(end - p), "pegasus.isi.edu/schema/DAX", 26))
        return 3;
    return 1;
}

const struct format format_dax = {
    .name = "dax",
    .summary = "Pegasus DAX, XML of versions 2 and 3",
    .suffixes = ".dax .xml",
    .sniff = dax_sniff,
    .read_workflow = dax_read_workflow,
};
