/* Where the nodes of a YAML document stand in its text. The parser tells where its tokens are; of these only
 * the beginnings (and the ends of plain scalars) can be relied on, so ends are looked for here.
 *
 *     run: "a b"  # why          the value's mark has the quotes, and ends before the comment
 *     run: |                     begins at the '|', ends at the end of its last line
 *       a b
 *     in: [a, b]                 begins and ends with the brackets
 *     in:                        begins at its first dash, ends with its last element
 *       - a
 *     out:                       nothing: empty, behind the colon */
#include "formats/yaml/yaml.h"
#include <string.h>

struct mark_source {
    struct yaml *y;
    const char *source, *end;
};

static const struct yaml_mark nowhere = {YAML_NONE, YAML_NONE};

static struct yaml_mark mark_between(const struct mark_source *m, const char *start,
                                     const char *end)
{
    return (struct yaml_mark){(uint32_t)(start - m->source), (uint32_t)(end - m->source)};
}

/* `at` is the opening quote. */
static struct yaml_mark mark_quoted(const struct mark_source *m, const char *at)
{
    char quote = *at;
    for (const char *p = at + 1; p < m->end; p++) {
        if (quote == '"' && *p == '\\')
            p++;
        else if (*p == quote && quote == '\'' && p + 1 < m->end && p[1] == quote)
            p++;
        else if (*p == quote)
            return mark_between(m, at, p + 1);
    }
    return nowhere;
}

/* Lines are those of the text, whatever YAML makes of them. */
static const char *line_begin(const struct mark_source *m, const char *at)
{
    while (at > m->source && at[-1] != '\n')
        at--;
    return at;
}

static const char *line_end(const struct mark_source *m, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(m->end - at));
    return end ? end : m->end;
}

static bool line_is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == end;
}

/* The head of a block ("|", ">-", "|2 # why") in a line; NULL: there is none. */
static const char *block_head(const char *line, const char *end)
{
    for (const char *p = end; p-- > line;) {
        if (*p != '|' && *p != '>')
            continue;
        const char *q = p + 1;
        while (q < end && strchr("+-123456789", *q))
            q++;
        const char *after = q;
        while (q < end && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        if ((q == end || (*q == '#' && q > after)) && (p == line || p[-1] == ' ' || p[-1] == '\t'))
            return p;
    }
    return NULL;
}

/* A block whose first line of content is around `at`. */
static struct yaml_mark mark_block(const struct mark_source *m, const char *at)
{
    const char *line = line_begin(m, at), *head = NULL;
    while (line > m->source && !head) {
        const char *before = line_begin(m, line - 1);
        head = block_head(before, line - 1);
        if (!head && !line_is_blank(before, line - 1))
            return nowhere;
        line = before;
    }
    if (!head)
        return nowhere;
    const char *p = line_end(m, head), *end = p, *blank = NULL;
    const char *keeps = memchr(head, '+', 3);
    size_t indent = SIZE_MAX;
    while (p < m->end) {
        const char *next = p + 1, *stop = line_end(m, next);
        size_t spaces = 0;
        while (next + spaces < stop && next[spaces] == ' ')
            spaces++;
        if (line_is_blank(next, stop)) {
            blank = stop;
        } else {
            if (indent == SIZE_MAX)
                indent = spaces;
            if (spaces < indent || !indent)
                break;
            end = stop;
            blank = NULL;
        }
        p = stop;
    }
    return mark_between(m, head, keeps && keeps < line_end(m, head) && blank ? blank : end);
}

/* Plain ones are where the parser says; of the others it tells where their content begins. */
static void mark_scalar(struct mark_source *m, yaml_ref v)
{
    struct yaml_mark *mark = &m->y->mark[v];
    const struct yaml_node *node = &m->y->at[v];
    if (node->plain) {
        if (!node->size)
            *mark = nowhere; /* nothing: looked for behind its key */
        return;
    }
    if (mark->start == YAML_NONE)
        return;
    const char *at = m->source + mark->start;
    if (at > m->source && (at[-1] == '"' || at[-1] == '\''))
        *mark = mark_quoted(m, at - 1);
    else
        *mark = mark_block(m, at);
}

/* Values that are nothing: behind the colon of their key. */
static void mark_nothing(struct mark_source *m, yaml_ref mapping)
{
    const struct yaml *y = m->y;
    for (yaml_ref k = yaml_first(y, mapping); k != YAML_NONE; k = yaml_next(y, mapping, k)) {
        struct yaml_mark *mark = &m->y->mark[yaml_value(k)];
        if (mark->start != YAML_NONE || yaml_type(y, yaml_value(k)) != YAML_SCALAR ||
            y->at[yaml_value(k)].size || y->mark[k].end == YAML_NONE)
            continue;
        const char *p = m->source + y->mark[k].end;
        while (p < m->end && *p == ' ')
            p++;
        if (p < m->end && *p == ':')
            *mark = mark_between(m, p + 1, p + 1);
    }
}

/* The bracket that closes, behind the last element and whatever stands there. */
static struct yaml_mark mark_flow(const struct mark_source *m, uint32_t start, uint32_t last)
{
    for (const char *p = m->source + last; p < m->end; p++) {
        if (*p == '}' || *p == ']')
            return mark_between(m, m->source + start, p + 1);
        if (*p == '#')
            p = line_end(m, p);
        else if (!strchr(" \t\r\n,", *p))
            return nowhere;
    }
    return nowhere;
}

/* After everything inside it. */
static void mark_container(struct mark_source *m, yaml_ref v)
{
    const struct yaml *y = m->y;
    struct yaml_mark *mark = &m->y->mark[v];
    yaml_ref first = yaml_first(y, v), last = YAML_NONE;
    for (yaml_ref k = first; k != YAML_NONE; k = yaml_next(y, v, k))
        last = yaml_type(y, v) == YAML_MAPPING ? yaml_value(k) : k;
    if (mark->start == YAML_NONE || (last != YAML_NONE && y->mark[last].end == YAML_NONE)) {
        *mark = nowhere;
        return;
    }
    char begin = m->source[mark->start];
    if (begin == '{' || begin == '[')
        *mark = mark_flow(m, mark->start, last == YAML_NONE ? mark->start + 1 : y->mark[last].end);
    else if (last == YAML_NONE)
        *mark = nowhere;
    else
        *mark =
            (struct yaml_mark){yaml_type(y, v) == YAML_MAPPING ? y->mark[first].start : mark->start,
                               y->mark[last].end};
}

void yaml_settle_marks(struct yaml *y, const char *source, size_t length)
{
    struct mark_source m = {y, source, source + length};
    for (yaml_ref v = 0; v < y->n; v++)
        if (yaml_type(y, v) == YAML_SCALAR)
            mark_scalar(&m, v);
    for (yaml_ref v = 0; v < y->n; v++)
        if (yaml_type(y, v) == YAML_MAPPING)
            mark_nothing(&m, v);
    for (yaml_ref v = (yaml_ref)y->n; v-- > 0;)
        if (yaml_type(y, v) != YAML_SCALAR)
            mark_container(&m, v);
}
