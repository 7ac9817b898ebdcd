/* YAML through libfyaml, whose events become one flat array of nodes (the tape).
 *
 *     a: [1, 2]       0 mapping   size 1   next 5
 *                     1 "a"                next 2
 *                     2 sequence  size 2   next 5
 *                     3 "1"                next 4
 *                     4 "2"                next 5
 *
 * `next` of a container is past all that is in it, so skipping is one step, and nothing recurses.
 * Keys are checked for repeats when a mapping ends. Of scalars only the place is taken from the
 * parser; yaml_scalar.c decodes them, because version 0.7.12 gets some wrong; yaml_scan.c has
 * refused before what would make it slow. */
#include "formats/yaml/yaml.h"
#include "base/array.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "formats/yaml/yaml_scalar.h"
#include "formats/yaml/yaml_scan.h"

#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

/* ---- the parser's events into the tape ---- */

struct yaml_loading {
    struct yaml *y;
    struct error *err;
    ARRAY(struct yaml_node) nodes;
    uint32_t open[YAML_MOST_LEVELS]; /* the containers around this place */
    size_t depth;
    size_t line; /* of the last event that had one */
    bool done;   /* the document ended */
    const char *source;
    size_t length;
    size_t broken; /* the line that we have broken in two, from 1; 0: none */
    struct strbuf decoded;
    bool marked; /* marks are wanted */
    ARRAY(struct yaml_mark) marks;
    struct yaml_mark token; /* of the event */
};

/* A line number of the text as it was given. */
static size_t given_line(const struct yaml_loading *l, size_t line)
{
    return l->broken && line > l->broken ? line - 1 : line;
}

/* An error at the line of the last event. */
static bool yaml_refuse_event(struct yaml_loading *l, const char *what)
{
    return error_at(l->err, l->y->file, l->line, "%s", what);
}

/* Not every event has a token with a place; then the line before stays. */
static void set_line(struct yaml_loading *l, struct fy_token *token)
{
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    if (mark && mark->line >= 0)
        l->line = given_line(l, (size_t)mark->line + 1);
    const struct fy_mark *stop = token && l->marked ? fy_token_end_mark(token) : NULL;
    l->token = (struct yaml_mark){YAML_NONE, YAML_NONE};
    if (mark && stop && mark->input_pos <= stop->input_pos && stop->input_pos <= l->length)
        l->token = (struct yaml_mark){(uint32_t)mark->input_pos, (uint32_t)stop->input_pos};
}

/* A node begins: count it in its container. */
static bool yaml_add_node(struct yaml_loading *l, enum yaml_type type)
{
    if (l->depth) {
        struct yaml_node *parent = &l->nodes.at[l->open[l->depth - 1]];
        /* size counts keys and values here, and is halved when the mapping ends */
        if (parent->type == YAML_MAPPING && parent->size % 2 == 0 && type != YAML_SCALAR)
            return yaml_refuse_event(l,
                                     "a key of a mapping must be a text, not a list or a mapping");
        parent->size++;
    }
    if (l->nodes.n >= YAML_NONE - 1)
        return yaml_refuse_event(l, "more than four billion values");
    struct yaml_node *node = array_add(&l->nodes);
    node->type = type;
    node->line = (uint32_t)l->line;
    node->next = (uint32_t)l->nodes.n;
    if (l->marked)
        array_push(&l->marks, l->token);
    return true;
}

/* The containers around a place are a small stack, bounded by YAML_MOST_LEVELS. */
static bool open_container(struct yaml_loading *l, enum yaml_type type)
{
    if (l->depth == YAML_MOST_LEVELS)
        return error_at(l->err, l->y->file, l->line, "nested more than %d levels deep",
                        YAML_MOST_LEVELS);
    uint32_t index = (uint32_t)l->nodes.n;
    if (!yaml_add_node(l, type))
        return false;
    l->open[l->depth++] = index;
    return true;
}

static bool same_text(const struct yaml *y, const struct yaml_node *a, const struct yaml_node *b)
{
    return a->size == b->size && memcmp(y->text.at + a->text, y->text.at + b->text, a->size) == 0;
}

static bool second_key(struct yaml_loading *l, const struct yaml_node *first,
                       const struct yaml_node *second)
{
    return error_at(l->err, l->y->file, second->line,
                    "the key '%.80s' is there twice; the first stands on line %u",
                    l->y->text.at + second->text, first->line);
}

/* Pairwise for the usual handful of keys, by hashing for a mapping of a hundred thousand tasks. */
static bool check_keys(struct yaml_loading *l, const struct yaml_node *mapping)
{
    const struct yaml_node *nodes = l->nodes.at;
    uint32_t begin = (uint32_t)(mapping - nodes) + 1, end = (uint32_t)l->nodes.n;
    /* 12 keys are 66 comparisons of mostly different lengths: cheaper than a table */
    if (mapping->size <= 12) {
        for (uint32_t k = begin; k < end; k = nodes[k + 1].next)
            for (uint32_t j = begin; j < k; j = nodes[j + 1].next)
                if (same_text(l->y, &nodes[j], &nodes[k]))
                    return second_key(l, &nodes[j], &nodes[k]);
        return true;
    }
    size_t slots = 32;
    while (slots < (size_t)mapping->size * 2)
        slots *= 2;
    uint32_t *table = mem_new_zero(uint32_t, slots);
    bool good = true;
    for (uint32_t k = begin; k < end && good; k = nodes[k + 1].next) {
        size_t i = hash_bytes(l->y->text.at + nodes[k].text, nodes[k].size) & (slots - 1);
        while (table[i] && !same_text(l->y, &nodes[table[i]], &nodes[k]))
            i = (i + 1) & (slots - 1);
        if (table[i])
            good = second_key(l, &nodes[table[i]], &nodes[k]);
        table[i] = k;
    }
    free(table);
    return good;
}

/* The size of a mapping was counted in keys and values. */
static bool close_container(struct yaml_loading *l)
{
    if (!l->depth)
        return true; /* the parser closes only what it opened */
    struct yaml_node *node = &l->nodes.at[l->open[--l->depth]];
    node->next = (uint32_t)l->nodes.n;
    if (node->type != YAML_MAPPING)
        return true;
    node->size /= 2;
    return check_keys(l, node);
}

/* The text of a scalar; NULL: it has none that could be read. */
static const char *scalar_text(struct yaml_loading *l, struct fy_token *token, size_t *length)
{
    enum fy_scalar_style style = fy_token_scalar_style(token);
    const struct fy_mark *start = fy_token_start_mark(token), *stop = fy_token_end_mark(token);
    const char *source = l->source, *end = source + l->length;
    char quote = style == FYSS_SINGLE_QUOTED ? '\'' : style == FYSS_DOUBLE_QUOTED ? '"' : 0;
    bool known =
        start && stop && start->input_pos <= stop->input_pos && stop->input_pos <= l->length;
    strbuf_clear(&l->decoded);
    if (known && quote && start->input_pos && source[start->input_pos - 1] == quote) {
        if (!yaml_unquote(source + start->input_pos, end, quote, &l->decoded))
            return NULL;
    } else if (known && style == FYSS_PLAIN) {
        yaml_unfold(source + start->input_pos, source + stop->input_pos, &l->decoded);
    } else if (!known || !yaml_unblock(source, source + start->input_pos, end, &l->decoded)) {
        const char *text = fy_token_get_text(token, length);
        if (text)
            *length = strnlen(text, *length);
        return text && utf8_valid(text, *length) == *length ? text : NULL;
    }
    *length = l->decoded.n;
    return strbuf_text(&l->decoded);
}

/* A scalar's text is copied with a NUL behind it, so that readers may treat it as a C string; a
 * NUL inside is refused for the same reason. */
static bool add_scalar(struct yaml_loading *l, struct fy_token *token)
{
    size_t length = 0;
    const char *text = token ? scalar_text(l, token, &length) : "";
    if (!text || length >= UINT32_MAX)
        return yaml_refuse_event(l, "this text cannot be read; is an escape wrong?");
    if (memchr(text, 0, length))
        return yaml_refuse_event(l, "a NUL character in a text");
    if (!yaml_add_node(l, YAML_SCALAR))
        return false;
    struct yaml_node *node = &array_last(&l->nodes);
    node->plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
    node->size = (uint32_t)length;
    node->text = l->y->text.n;
    strbuf_add_bytes(&l->y->text, text, length);
    strbuf_add_char(&l->y->text, 0);
    return true;
}

/* Anchors and tags could mean anything; refusing them keeps files simple and reading safe. */
static bool plain_node(struct yaml_loading *l, const struct fy_token *anchor,
                       const struct fy_token *tag)
{
    if (anchor)
        return yaml_refuse_event(l, "anchors (&name) are not supported; write the value out");
    if (tag)
        return yaml_refuse_event(l,
                                 "tags (!name) are not supported; leave it out, or quote the text");
    return true;
}

/* Everything that is not a node is either refused or of no consequence. */
static bool take_event(struct yaml_loading *l, const struct fy_event *e)
{
    switch (e->type) {
    case FYET_DOCUMENT_START:
        set_line(l, e->document_start.document_start);
        return l->done ? yaml_refuse_event(l, "a second YAML document begins; expected one") : true;
    case FYET_DOCUMENT_END:
        l->done = true;
        return true;
    case FYET_ALIAS:
        set_line(l, e->alias.anchor);
        return yaml_refuse_event(l, "aliases (*name) are not supported; write the value out");
    case FYET_SCALAR:
        set_line(l, e->scalar.value);
        return plain_node(l, e->scalar.anchor, e->scalar.tag) && add_scalar(l, e->scalar.value);
    case FYET_MAPPING_START:
        set_line(l, e->mapping_start.mapping_start);
        return plain_node(l, e->mapping_start.anchor, e->mapping_start.tag) &&
               open_container(l, YAML_MAPPING);
    case FYET_SEQUENCE_START:
        set_line(l, e->sequence_start.sequence_start);
        return plain_node(l, e->sequence_start.anchor, e->sequence_start.tag) &&
               open_container(l, YAML_SEQUENCE);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return close_container(l);
    default:
        return true;
    }
}

/* The parser gave up: its first complaint becomes ours. */
static void parser_error(struct yaml_loading *l, struct fy_diag *diag, size_t lines)
{
    void *at = NULL;
    struct fy_diag_error *e = fy_diag_errors_iterate(diag, &at);
    while (e && e->type != FYET_ERROR)
        e = fy_diag_errors_iterate(diag, &at);
    if (e && e->line > 0)
        l->line = given_line(l, (size_t)e->line <= lines ? (size_t)e->line : lines);
    error_at(l->err, l->y->file, l->line, "not valid YAML: %s",
             e && e->msg ? e->msg : "the text cannot be parsed");
}

/* The parser is told to collect its complaints rather than print them. */
/* What libfyaml holds while we take its events: given back when our memory runs out between two of
 * them. Events are pulled, so that no frame of its is jumped over. */
struct yaml_pull {
    struct fy_diag *diag;
    struct fy_parser *parser;
    struct fy_event *event;
};

static void yaml_pull_end(void *of)
{
    struct yaml_pull *p = of;
    if (p->event)
        fy_parser_event_free(p->parser, p->event);
    if (p->parser)
        fy_parser_destroy(p->parser);
    if (p->diag)
        fy_diag_destroy(p->diag);
}

static bool run_parser(struct yaml_loading *l)
{
    const char *text = l->source;
    size_t length = l->length;
    /* no colours, no file: the complaints are collected and one is shown */
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    struct fy_diag *diag = fy_diag_create(&quiet);
    struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
        .diag = diag,
    };
    if (diag)
        fy_diag_set_collect_errors(diag, true);
    struct fy_parser *parser = diag ? fy_parser_create(&config) : NULL;
    struct yaml_pull pull = {diag, parser, NULL};
    struct mem_guard guard;
    mem_guard_enter(&guard, yaml_pull_end, &pull);
    bool good = parser && fy_parser_set_string(parser, text, length) == 0;
    if (!good)
        error_set(l->err, ERROR_FAILED, "the YAML parser cannot start");
    while (good) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event) {
            size_t lines = 1;
            for (const char *p = text, *end = text + length;
                 (p = memchr(p, '\n', (size_t)(end - p))) && p + 1 < end; p++)
                lines++;
            if (fy_parser_get_stream_error(parser)) {
                parser_error(l, diag, lines);
                good = false;
            }
            break;
        }
        pull.event = event;
        good = take_event(l, event);
        pull.event = NULL;
        fy_parser_event_free(parser, event);
    }
    mem_guard_leave(&guard);
    yaml_pull_end(&pull);
    return good;
}

/* NUL first: it is valid UTF-8, and the mark of UTF-16. */
static bool check_encoding(const char *file, const char *text, size_t length, struct error *err)
{
    size_t good = utf8_valid(text, length);
    const char *nul = memchr(text, 0, good), *bad = nul ? nul : text + good;
    if (bad == text + length)
        return true;
    size_t line = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(bad - p))); p++)
        line++;
    if (nul)
        return error_at(err, file, line,
                        "a NUL byte: not a text file, or UTF-16; expected UTF-8 text");
    return error_at(err, file, line, "byte 0x%02X is not valid UTF-8; expected UTF-8 text",
                    (unsigned char)*bad);
}

/* A document in one line, as JSON often is: libfyaml takes all of it for a key until the line ends, and
 * keeps every token, 200 bytes for each byte. A line end behind the first bracket, in a copy, says that
 * it is none. Where to; 0: this is no such document. */
static size_t one_line_break(const char *text, size_t length)
{
    enum { LONG = 1 << 16 };
    size_t at = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", text[at]))
        at++;
    if (at == length || (text[at] != '{' && text[at] != '[') || length - at < LONG ||
        memchr(text + at, '\n', LONG))
        return 0;
    return at + 1;
}

static void break_line(struct yaml_loading *l, size_t at, struct strbuf *copy)
{
    strbuf_add_bytes(copy, l->source, at);
    strbuf_add_char(copy, '\n');
    strbuf_add_bytes(copy, l->source + at, l->length - at);
    l->broken = 1;
    for (const char *p = l->source; (p = memchr(p, '\n', (size_t)(l->source + at - p))); p++)
        l->broken++;
    l->source = copy->at;
    l->length = copy->n;
}

/* `line` starts at 1: an error before any event is at the top. */
static bool yaml_load_as(struct yaml *y, const char *file, const char *text, size_t length,
                         bool marked, struct error *err)
{
    memset(y, 0, sizeof *y);
    if (!check_encoding(file, text, length, err))
        return false;
    size_t blank = 0;
    while (blank < length && strchr(" \t\r\n", text[blank]))
        blank++;
    if (blank == length)
        return error_at(err, file, 0, "the file is empty");
    if (length >= UINT32_MAX)
        return error_at(err, file, 0, "more than 4 GiB of YAML");
    struct strbuf copy = {0};
    struct yaml_loading l = {
        .y = y, .err = err, .line = 1, .source = text, .length = length, .marked = marked};
    size_t at = one_line_break(text, length);
    if (at && marked)
        return error_at(err, file, 0, "a document of one line is too long to be edited");
    if (at)
        break_line(&l, at, &copy);
    if (!yaml_scan(file, l.source, l.length, err)) {
        strbuf_free(&copy);
        return false;
    }
    y->file = mem_copy_string(file);
    bool good = run_parser(&l);
    strbuf_free(&l.decoded);
    strbuf_free(&copy);
    if (good && !l.nodes.n)
        good = error_at(err, file, 0, "the file is empty but for comments");
    if (good && !l.done)
        good = error_at(err, file, l.line, "not valid YAML: the document does not end");
    array_fit(&l.nodes);
    y->at = l.nodes.at;
    y->n = l.nodes.n;
    y->mark = l.marks.at;
    if (!good)
        yaml_free(y);
    else if (marked)
        yaml_settle_marks(y, text, length);
    return good;
}

bool yaml_load(struct yaml *y, const char *file, const char *text, size_t length, struct error *err)
{
    return yaml_load_as(y, file, text, length, false, err);
}

bool yaml_load_marked(struct yaml *y, const char *file, const char *text, size_t length,
                      struct error *err)
{
    return yaml_load_as(y, file, text, length, true, err);
}

const char *yaml_library(void)
{
    return fy_library_version();
}

void yaml_free(struct yaml *y)
{
    free(y->at);
    free(y->mark);
    strbuf_free(&y->text);
    free(y->file);
    memset(y, 0, sizeof *y);
}

/* ---- access ---- */

yaml_ref yaml_next(const struct yaml *y, yaml_ref container, yaml_ref at)
{
    if (y->at[container].type == YAML_MAPPING)
        at = yaml_value(at);
    yaml_ref next = y->at[at].next;
    return next < y->at[container].next ? next : YAML_NONE;
}

/* A walk over the keys: mappings of tasks are visited with yaml_next(), not asked by name. */
yaml_ref yaml_get(const struct yaml *y, yaml_ref mapping, const char *key)
{
    if (mapping == YAML_NONE || y->at[mapping].type != YAML_MAPPING)
        return YAML_NONE;
    size_t length = strlen(key);
    for (yaml_ref k = yaml_first(y, mapping); k != YAML_NONE; k = yaml_next(y, mapping, k))
        if (y->at[k].size == length && memcmp(y->text.at + y->at[k].text, key, length) == 0)
            return yaml_value(k);
    return YAML_NONE;
}

const char *yaml_text(const struct yaml *y, yaml_ref v, size_t *length)
{
    bool scalar = y->at[v].type == YAML_SCALAR;
    if (length)
        *length = scalar ? y->at[v].size : 0;
    return scalar ? y->text.at + y->at[v].text : "";
}

bool yaml_is_null(const struct yaml *y, yaml_ref v)
{
    if (y->at[v].type != YAML_SCALAR || !y->at[v].plain)
        return false;
    const char *text = yaml_text(y, v, NULL);
    return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

const char *yaml_found(const struct yaml *y, yaml_ref v, char *buffer, size_t size)
{
    if (yaml_type(y, v) == YAML_SEQUENCE)
        return "a list";
    if (yaml_type(y, v) == YAML_MAPPING)
        return "a mapping";
    if (yaml_is_null(y, v))
        return "nothing";
    size_t length;
    const char *text = yaml_text(y, v, &length);
    snprintf(buffer, size, length > 60 ? "'%.57s...'" : "'%s'", text);
    return buffer;
}
