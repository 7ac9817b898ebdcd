/* DOT, read as tasks. A node is a task, its id the name; an edge orders two tasks and carries the
 * bytes that it states.
 *
 *     node   work                 work, else work_weight, Weight, size (daggen and SimGrid: flop)
 *            memory               memory or mem_weight; rungs: for further attempts, "4e9 8e9"
 *            cores, kind          kind, else category, type, the first line of the label, xlabel,
 *                                 shape
 *            command or call
 *            timeout, replicable  every optional number and switch of model/column_list.h
 *            inputs, outputs      lines "bytes name": files that no task makes, or that none reads;
 *            temporary_outputs    the same for those that may be deleted
 *            in_order, out_order  "2 0 1": where the 1st, 2nd, 3rd of its inputs stands in the order
 *                                 in which this file states them
 *            style                with rounded and dashed: already done (Snakemake)
 *            comm_weight          (OneStopParallel) the size of one object for all successors, on
 *                                 edges that state nothing
 *     edge   size                 bytes; else comm_weight, Weight
 *            object, temporary    the data object's name, shared by all edges that name it
 *
 * Values of weft's own text attributes use the escapes \\ and \n; ids and foreign attributes are
 * taken as Graphviz does. */
#include "formats/dot/dot.h"
#include "base/array.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "formats/dot/dot_contract.h"
#include "formats/dot/dot_parse.h"
#include <string.h>

struct dot_reader {
    const struct format_source *source;
    struct dot_graph graph;
    struct builder *b;
    uint32_t *settings;     /* offsets of each node's settings */
    double *output;         /* a node's comm_weight; 0: none. NULL when no node has one */
    ARRAY(uint32_t) places; /* of the list in hand */
    uint64_t minus_one, alphas, repeated;
    size_t repeated_line;
};

/* digraph or graph, after remarks; a name that only begins like it ("digraphs") is not one. */
static int dot_sniff(const char *path, const char *text, size_t length)
{
    (void)path;
    /* Only the first words matter; a comment in front of them may be long. */
    const char *p = text, *end = text + (length < 8192 ? length : 8192);
    if (length >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
            p++;
        if (p < end && (*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/'))) {
            const char *eol = memchr(p, '\n', (size_t)(end - p));
            p = eol ? eol : end;
        } else if (p + 1 < end && *p == '/' && p[1] == '*') {
            const char *close = memmem(p, (size_t)(end - p), "*/", 2);
            p = close ? close + 2 : end;
        } else {
            break;
        }
    }
    static const char *const words[] = {"strict", "digraph", "graph"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(end - p) <= len || strncasecmp(p, words[i], len) != 0)
            continue;
        if (!memchr(" \t\r\n{\"", p[len], 6))
            continue;
        return memchr(p, '{', (size_t)(end - p)) ? 3 : 2;
    }
    return 0;
}

/* ---- values ---- */

/* weft's text attributes: \\ is a backslash, \n a line break. */
static void dot_unescape(struct strbuf *out, struct dot_value v)
{
    strbuf_clear(out);
    for (uint32_t i = 0; i < v.len; i++) {
        char c = v.text[i], next = i + 1 < v.len ? v.text[i + 1] : 0;
        if (c == '\\' && (next == '\\' || next == 'n' || next == 'r')) {
            c = next == '\\' ? '\\' : next == 'n' ? '\n' : '\r';
            i++;
        }
        strbuf_add_char(out, c);
    }
}

/* Numbers of foreign tools are bare; weft's own sizes may have a unit. */
static bool dot_read_number(struct dot_reader *r, const char *what, struct dot_value v, bool bytes,
                            double *out)
{
    if (quantity_number(v.text, v.len, out) || (bytes && quantity_bytes(v.text, v.len, out)))
        return true;
    return builder_error(r->b, v.line, "%s is '%.*s'; expected a %s", what,
                         (int)(v.len > 60 ? 60 : v.len), v.text,
                         bytes ? "number of bytes" : "number");
}

/* `size`, with the one negative value that stands in real files (SimGrid's examples) for "nothing".
 */
static bool size_number(struct dot_reader *r, struct dot_value v, double *out)
{
    if (!dot_read_number(r, "size", v, true, out))
        return false;
    if (*out == -1) {
        *out = 0;
        r->minus_one++;
    }
    return true;
}

/* Styles are lists: "rounded,dashed". */
static bool value_contains(struct dot_value v, const char *word)
{
    return v.text && memmem(v.text, v.len, word, strlen(word));
}
static bool value_equals(struct dot_value v, const char *word)
{
    return v.text && v.len == strlen(word) && memcmp(v.text, word, v.len) == 0;
}

/* The first line of a label without its markup; WfGen's eight-digit task number is not part of the
 * kind. */
static void label_kind(struct strbuf *out, struct dot_value v)
{
    strbuf_clear(out);
    const char *p = v.text, *end = v.text + v.len;
    bool html = v.len >= 2 && *p == '<' && end[-1] == '>';
    if (html) {
        p++;
        end--;
    }
    while (p < end && *p != '\n') {
        if (*p == '\\' && p + 1 < end) {
            if (strchr("nlr", p[1])) {
                if (out->n)
                    break;
            } else {
                strbuf_add_char(out, p[1]);
            }
            p += 2;
        } else if (html && *p == '<') {
            if (out->n && end - p > 3 && strncasecmp(p, "<br", 3) == 0)
                break;
            const char *close = memchr(p, '>', (size_t)(end - p));
            p = close ? close + 1 : end;
        } else {
            strbuf_add_char(out, *p++);
        }
    }
    size_t n = out->n, digits = 0;
    while (n && (out->at[n - 1] == ' ' || out->at[n - 1] == '\t'))
        n--;
    while (digits < n && out->at[n - 1 - digits] >= '0' && out->at[n - 1 - digits] <= '9')
        digits++;
    if (digits == 8 && n > 9 && out->at[n - 9] == '_')
        n -= 9;
    if (out->at)
        out->at[out->n = n] = 0;
}

/* ---- nodes ---- */

/* Fill `value` with a node's settings; of equal ones the last counts. */
static void dot_collect_node(const struct dot_reader *r, uint32_t node, struct dot_value *value)
{
    memset(value, 0, DOT_ATTRIBUTES * sizeof *value);
    for (uint32_t i = r->settings[node]; i < r->settings[node + 1]; i++)
        value[r->graph.node_settings.at[i].attribute] = r->graph.node_settings.at[i].value;
}

/* Nextflow draws channels as points and operators as circles, without a label. */
static bool is_process(const struct dot_value *value)
{
    bool drawn_small =
        value_equals(value[DOT_SHAPE], "point") || value_equals(value[DOT_SHAPE], "circle");
    bool labelled = value[DOT_LABEL].text && value[DOT_LABEL].len;
    return !drawn_small || (labelled && !value_equals(value[DOT_SHAPE], "point"));
}

/* weft's own `kind` first; then where foreign tools put what a node is. */
static void set_kind(struct dot_reader *r, uint32_t task, const struct dot_value *v,
                     struct strbuf *buffer)
{
    if (v[DOT_KIND].text && v[DOT_KIND].len) {
        dot_unescape(buffer, v[DOT_KIND]);
        builder_kind(r->b, task, buffer->at, buffer->n);
        return;
    }
    static const enum dot_attribute from[] = {DOT_CATEGORY, DOT_TYPE, DOT_LABEL, DOT_XLABEL,
                                              DOT_SHAPE};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        if (from[i] == DOT_LABEL && v[DOT_NAME].text)
            break; /* weft wrote it: the label is the name, and the kind would be stated */
        if (from[i] == DOT_SHAPE && is_process(v))
            break;
        if (!v[from[i]].text || !v[from[i]].len)
            continue;
        if (value_equals(v[from[i]], "\\N"))
            continue; /* the node's name */
        label_kind(buffer, v[from[i]]);
        if (!buffer->n)
            continue;
        builder_kind(r->b, task, buffer->at, buffer->n);
        return;
    }
}

/* Lines "bytes name": objects without an edge to carry them. */
static void set_objects(struct dot_reader *r, uint32_t task, struct dot_value v, bool makes,
                        bool temporary, struct strbuf *buffer)
{
    if (!v.text)
        return;
    dot_unescape(buffer, v);
    const char *p = strbuf_text(buffer), *end = p + buffer->n;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        const char *stop = eol ? eol : end, *blank = memchr(p, ' ', (size_t)(stop - p));
        double bytes;
        if (!blank || blank + 1 == stop || !quantity_bytes(p, (size_t)(blank - p), &bytes)) {
            builder_error(r->b, v.line,
                          "%s holds '%.*s'; expected lines of the form \"bytes name\"",
                          makes ? "outputs" : "inputs", (int)(stop - p > 60 ? 60 : stop - p), p);
            return;
        }
        uint32_t object = builder_object(r->b, blank + 1, (size_t)(stop - blank - 1));
        if (bytes > 0)
            builder_size(r->b, object, bytes, v.line);
        if (temporary)
            builder_temporary(r->b, object);
        if (makes)
            builder_produces(r->b, task, object, v.line);
        else
            builder_consumes(r->b, task, object, v.line);
        p = eol ? eol + 1 : end;
    }
}

/* Where each tool puts the work: the first that is there counts. */
static void set_work(struct dot_reader *r, uint32_t task, const struct dot_value *v)
{
    static const struct {
        enum dot_attribute from;
        const char *name;
    } places[] = {{DOT_WORK, "work"}, {DOT_WORK_WEIGHT, "work_weight"}, {DOT_WEIGHT, "Weight"}};
    double value;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct dot_value at = v[places[i].from];
        if (!at.text)
            continue;
        if (dot_read_number(r, places[i].name, at, false, &value))
            builder_work(r->b, task, value, at.line);
        return;
    }
    if (v[DOT_SIZE].text && size_number(r, v[DOT_SIZE], &value))
        builder_work(r->b, task, value, v[DOT_SIZE].line);
}

/* An optional number or a switch, by its row. */
static void set_column(struct dot_reader *r, uint32_t task, enum column_id id, struct dot_value at)
{
    const struct column_row *c = &task_column[id];
    double value;
    if (!at.text)
        return;
    if (c->sort == COLUMN_OPTIONAL && dot_read_number(r, c->key, at, false, &value))
        builder_number(r->b, task, id, value, at.line);
    if (c->sort == COLUMN_SWITCH && value_equals(at, column_switch_word(c, !c->usual)))
        builder_flag(r->b, task, c->flag);
}

/* Numbers separated by blanks. Calls `add` for each; what is no number is an error. */
static void each_number(struct dot_reader *r, uint32_t task, const char *what, struct dot_value at,
                        void (*add)(struct dot_reader *r, uint32_t task, double value, size_t line))
{
    for (uint32_t i = 0; i < at.len;) {
        struct dot_value word = {at.text + i, 0, at.line};
        while (i + word.len < at.len && word.text[word.len] != ' ')
            word.len++;
        double value;
        if (word.len && !dot_read_number(r, what, word, true, &value))
            return;
        if (word.len)
            add(r, task, value, at.line);
        i += word.len + 1;
    }
}

static void add_rung(struct dot_reader *r, uint32_t task, double value, size_t line)
{
    builder_more_memory(r->b, task, value, line);
}

static void add_place(struct dot_reader *r, uint32_t task, double value, size_t line)
{
    (void)task;
    (void)line;
    /* a place that does not exist is refused by the builder */
    array_push(&r->places, value >= 0 && value < NONE ? (uint32_t)value : NONE);
}

static void dot_set_order(struct dot_reader *r, uint32_t task, struct dot_value at, bool outputs)
{
    if (!at.text)
        return;
    r->places.n = 0;
    each_number(r, task, outputs ? "out_order" : "in_order", at, add_place);
    builder_permute(r->b, task, outputs, r->places.at, (uint32_t)r->places.n, at.line);
}

/* mem_weight before memory, so that weft's own attribute wins where both stand. */
static void set_numbers(struct dot_reader *r, uint32_t task, const struct dot_value *v)
{
    double value;
    if (v[DOT_MEM_WEIGHT].text &&
        dot_read_number(r, "mem_weight", v[DOT_MEM_WEIGHT], false, &value))
        builder_memory(r->b, task, value, v[DOT_MEM_WEIGHT].line);
    if (v[DOT_MEMORY].text && dot_read_number(r, "memory", v[DOT_MEMORY], true, &value))
        builder_memory(r->b, task, value, v[DOT_MEMORY].line);
    each_number(r, task, "rungs", v[DOT_RUNGS], add_rung);
    if (v[DOT_CORES].text && dot_read_number(r, "cores", v[DOT_CORES], false, &value))
        builder_cores(r->b, task, value, v[DOT_CORES].line);
#define SET_COLUMN(name, ...) set_column(r, task, COLUMN_##name, v[DOT_##name]);
    TASK_KEYS(COLUMN_SKIP, SET_COLUMN, SET_COLUMN)
#undef SET_COLUMN
}

/* A node is a task, whatever it looks like; read_contracted() leaves out those that are none. */
static void add_node(struct dot_reader *r, uint32_t node, const struct dot_value *v,
                     struct strbuf *buffer)
{
    const char *id = intern_text(&r->graph.ids, node);
    size_t line = r->graph.node_line.at[node];
    uint32_t task;
    if (v[DOT_NAME].text) {
        dot_unescape(buffer, v[DOT_NAME]);
        task = builder_task(r->b, strbuf_text(buffer), buffer->n, line);
    } else {
        task = builder_task(r->b, id, strlen(id), line);
    }
    if (task == NONE)
        return;
    set_work(r, task, v);
    set_numbers(r, task, v);
    set_kind(r, task, v, buffer);
    struct dot_value command = v[v[DOT_CALL].text ? DOT_CALL : DOT_COMMAND];
    if (command.text) {
        dot_unescape(buffer, command);
        builder_command(r->b, task, strbuf_text(buffer), buffer->n);
        if (v[DOT_CALL].text)
            builder_flag(r->b, task, TASK_CALL);
    }
    if (v[DOT_SHELL].text) {
        dot_unescape(buffer, v[DOT_SHELL]);
        builder_shell(r->b, task, strbuf_text(buffer), buffer->n, v[DOT_SHELL].line);
    }
    if (v[DOT_NEEDS].text) {
        dot_unescape(buffer, v[DOT_NEEDS]);
        builder_needs(r->b, task, strbuf_text(buffer), buffer->n, v[DOT_NEEDS].line);
    }
    if (v[DOT_RESOURCES].text) {
        dot_unescape(buffer, v[DOT_RESOURCES]);
        builder_resources(r->b, task, strbuf_text(buffer), buffer->n, v[DOT_RESOURCES].line);
    }
    for (int i = 0; i < TASK_TEXT_COUNT; i++) {
        struct dot_value text = v[DOT_env + i];
        if (text.text) {
            dot_unescape(buffer, text);
            builder_text(r->b, task, task_text[i], strbuf_text(buffer), buffer->n, text.line);
        }
    }
    if (value_contains(v[DOT_STYLE], "dashed") &&
        (value_contains(v[DOT_STYLE], "rounded") || value_equals(r->graph.name, "snakemake_dag")))
        builder_flag(r->b, task, TASK_DONE);
    set_objects(r, task, v[DOT_OUTPUTS], true, false, buffer);
    set_objects(r, task, v[DOT_TEMPORARY_OUTPUTS], true, true, buffer);
    set_objects(r, task, v[DOT_INPUTS], false, false, buffer);
    dot_set_order(r, task, v[DOT_IN_ORDER], false);
    dot_set_order(r, task, v[DOT_OUT_ORDER], true);
    r->alphas += v[DOT_ALPHA].text != NULL;
    double bytes;
    if (v[DOT_COMM_WEIGHT].text &&
        dot_read_number(r, "comm_weight", v[DOT_COMM_WEIGHT], false, &bytes) && bytes != 0) {
        if (bytes < 0)
            builder_error(r->b, v[DOT_COMM_WEIGHT].line, "comm_weight is %g; expected 0 or more",
                          bytes);
        if (!r->output)
            r->output = mem_new_zero(double, r->graph.node_line.n);
        r->output[node] = bytes;
    }
}

/* ---- edges ---- */

/* Pairs of nodes seen so far: open addressing, at most half full. */
struct pairs {
    uint64_t *slot; /* from << 32 | to, plus 1 so that 0 is free */
    size_t mask;
};

static bool pairs_add(struct pairs *s, uint32_t from, uint32_t to)
{
    uint64_t key = ((uint64_t)from << 32 | to) + 1;
    size_t i = (size_t)hash_bytes(&key, sizeof key) & s->mask;
    for (; s->slot[i]; i = (i + 1) & s->mask)
        if (s->slot[i] == key)
            return false;
    s->slot[i] = key;
    return true;
}

static void collect_edge(const struct dot_reader *r, const struct dot_edge *e,
                         struct dot_value *value)
{
    memset(value, 0, DOT_ATTRIBUTES * sizeof *value);
    for (uint32_t i = 0; i < e->count; i++) {
        const struct dot_setting *s = &r->graph.edge_settings.at[e->first + i];
        value[s->attribute] = s->value;
    }
}

/* An edge that names an object; the object is made by its first end. */
static void add_object_edge(struct dot_reader *r, const struct dot_edge *e,
                            const struct dot_value *v, double bytes, struct strbuf *buffer)
{
    dot_unescape(buffer, v[DOT_OBJECT]);
    uint32_t object = builder_object(r->b, strbuf_text(buffer), buffer->n);
    if (bytes > 0)
        builder_size(r->b, object, bytes, e->line);
    if (value_equals(v[DOT_TEMPORARY], "true"))
        builder_temporary(r->b, object);
    builder_produces(r->b, e->from, object, e->line);
    builder_consumes(r->b, e->to, object, e->line);
}

/* In this order: an object that the edge names, a size, the producer's own size for all, plain
 * ordering. */
static void add_edge(struct dot_reader *r, const struct dot_edge *e, struct pairs *seen,
                     struct strbuf *buffer)
{
    struct dot_value v[DOT_ATTRIBUTES];
    double bytes = 0;
    bool stated = false;
    if (e->count) {
        collect_edge(r, e, v);
        static const struct {
            enum dot_attribute from;
            const char *name;
        } places[] = {{DOT_COMM_WEIGHT, "comm_weight"}, {DOT_WEIGHT, "Weight"}};
        if (v[DOT_SIZE].text)
            stated = size_number(r, v[DOT_SIZE], &bytes);
        for (size_t i = 0; i < 2 && !stated; i++)
            if (v[places[i].from].text)
                stated = dot_read_number(r, places[i].name, v[places[i].from], false, &bytes);
        if (v[DOT_OBJECT].text && v[DOT_OBJECT].len) {
            add_object_edge(r, e, v, bytes, buffer);
            return;
        }
    }
    if (e->from == e->to) {
        builder_error(r->b, e->line, "task '%s' depends on itself (an edge from it to it)",
                      builder_task_name(r->b, e->from));
        return;
    }
    if (!pairs_add(seen, e->from, e->to)) {
        if (!r->repeated++)
            r->repeated_line = e->line;
        return;
    }
    if (!stated && r->output && r->output[e->from] > 0) {
        const char *id = builder_task_name(r->b, e->from);
        char *name = mem_copy_string(id); /* the builder's pool may move while adding */
        uint32_t object = builder_object(r->b, name, strlen(name));
        free(name);
        builder_size(r->b, object, r->output[e->from], e->line);
        builder_produces(r->b, e->from, object, e->line);
        builder_consumes(r->b, e->to, object, e->line);
        return;
    }
    builder_data_edge(r->b, e->from, e->to, bytes, e->line);
}

/* The table of pairs is sized once for all edges: it never grows. */
static void dot_add_edges(struct dot_reader *r, const struct dot_edge *edges, size_t n)
{
    struct pairs seen = {.mask = 15};
    while (seen.mask < 2 * n)
        seen.mask = seen.mask * 2 + 1;
    seen.slot = mem_new_zero(uint64_t, seen.mask + 1);
    struct strbuf buffer = {0};
    for (size_t i = 0; i < n && !builder_failed(r->b); i++)
        add_edge(r, &edges[i], &seen, &buffer);
    strbuf_free(&buffer);
    free(seen.slot);
}

/* Only processes stay, joined wherever channels and operators led from one to the other. */
static void read_contracted(struct dot_reader *r)
{
    struct dot_graph *g = &r->graph;
    uint32_t n = (uint32_t)g->node_line.n, removed = 0;
    bool *process = mem_new_zero(bool, (size_t)n + 1);
    uint32_t *task = mem_new(uint32_t, (size_t)n + 1);
    struct strbuf buffer = {0};
    for (uint32_t i = 0; i < n && !builder_failed(r->b); i++) {
        struct dot_value v[DOT_ATTRIBUTES];
        dot_collect_node(r, i, v);
        process[i] = is_process(v);
        task[i] = builder_task_count(r->b);
        if (process[i])
            add_node(r, i, v, &buffer);
        else
            removed++;
    }
    strbuf_free(&buffer);
    if (!builder_failed(r->b)) {
        struct dot_pairs pairs = {0};
        uint32_t stuck = dot_contract(g, process, &pairs);
        if (stuck != NONE)
            builder_error(r->b, g->node_line.at[stuck],
                          "channels or operators depend on each other in a cycle through '%s'",
                          intern_text(&g->ids, stuck));
        for (size_t i = 0; i < pairs.n; i++)
            builder_edge(r->b, task[pairs.at[i].from], task[pairs.at[i].to],
                         g->node_line.at[pairs.at[i].from]);
        array_free(&pairs);
        builder_warn(r->b, 0, "%u channels and operators were contracted; the processes stay",
                     removed);
    }
    free(process);
    free(task);
}

/* ---- the whole ---- */

/* Nodes before edges: an edge may be stated before its ends are described. */
static void dot_read_all(struct dot_reader *r)
{
    struct strbuf buffer = {0};
    for (uint32_t i = 0; i < r->graph.node_line.n && !builder_failed(r->b); i++) {
        struct dot_value v[DOT_ATTRIBUTES];
        dot_collect_node(r, i, v);
        add_node(r, i, v, &buffer);
    }
    strbuf_free(&buffer);
    dot_add_edges(r, r->graph.edges.at, r->graph.edges.n);
}

/* Counted while reading, said once. */
static void dot_add_remarks(struct dot_reader *r)
{
    if (r->repeated && !r->graph.strict)
        builder_warn(r->b, r->repeated_line,
                     "%llu repeated edge%s, the first here; each counts once",
                     (unsigned long long)r->repeated, plural((unsigned long long)r->repeated));
    if (r->minus_one)
        builder_warn(r->b, 0, "size=-1 stands in %llu place%s; read as 0",
                     (unsigned long long)r->minus_one, plural((unsigned long long)r->minus_one));
    if (r->alphas)
        builder_warn(r->b, 0,
                     "alpha (the sequential fraction of a parallel task) of %llu task%s is ignored",
                     (unsigned long long)r->alphas, plural((unsigned long long)r->alphas));
    if (r->graph.more)
        builder_warn(r->b, 0, "something follows the first graph; it is ignored");
}

/* The graph points into the source's text, which must stay until the builder has copied the
 * names. */
static struct workflow *dot_read_workflow(const struct format_source *source, struct error *err)
{
    if (!format_require_utf8(source, err))
        return NULL;
    const char *contract = format_option(source, "contract");
    struct dot_reader r = {.source = source};
    if (!dot_parse(&r.graph, source->path, source->text, source->length, err))
        return NULL;
    r.settings = dot_group_settings(&r.graph);
    r.b = builder_new(source->path, "dot");
    builder_home(r.b, source->folder);
    builder_expect(r.b, r.graph.node_line.n, r.graph.edges.n);
    if (r.graph.name.text)
        builder_name(r.b, r.graph.name.text, r.graph.name.len);
    if (contract && strcmp(contract, "yes") == 0)
        read_contracted(&r);
    else
        dot_read_all(&r);
    dot_add_remarks(&r);
    free(r.output);
    free(r.settings);
    array_free(&r.places);
    dot_graph_free(&r.graph);
    return builder_finish(r.b, err);
}

/* For tests and benchmarks: graphs that come with their best schedule. The text is copied, since
 * parsing changes it and the workflow is read from it as well. */
bool dot_read_optimum(const struct format_source *source, uint32_t *processors, double *length,
                      struct error *err)
{
    if (!format_require_utf8(source, err))
        return false;
    char *text = mem_copy_bytes(source->text, source->length);
    struct dot_reader r = {.source = source};
    if (!dot_parse(&r.graph, source->path, text, source->length, err)) {
        free(text);
        return false;
    }
    r.settings = dot_group_settings(&r.graph);
    double longest = 0, count = 0;
    uint32_t timed = 0, nodes = (uint32_t)r.graph.node_line.n;
    struct intern used;
    intern_init(&used);
    for (uint32_t i = 0; i < nodes; i++) {
        struct dot_value v[DOT_ATTRIBUTES];
        dot_collect_node(&r, i, v);
        double start, weight;
        if (v[DOT_START].text && v[DOT_WEIGHT].text &&
            quantity_number(v[DOT_START].text, v[DOT_START].len, &start) &&
            quantity_number(v[DOT_WEIGHT].text, v[DOT_WEIGHT].len, &weight)) {
            timed++;
            longest = start + weight > longest ? start + weight : longest;
        }
        if (v[DOT_PROCESSOR].text)
            intern_number(&used, v[DOT_PROCESSOR].text, v[DOT_PROCESSOR].len);
    }
    const struct dot_value *g = r.graph.attribute;
    bool good = true;
    if (!g[DOT_PROCESSORS].text ||
        !quantity_number(g[DOT_PROCESSORS].text, g[DOT_PROCESSORS].len, &count) || count < 1 ||
        count > UINT32_MAX)
        count = used.n;
    if (!g[DOT_LENGTH].text || !quantity_number(g[DOT_LENGTH].text, g[DOT_LENGTH].len, length)) {
        *length = longest;
        good = timed == nodes && nodes > 0;
    }
    good &= count >= 1;
    *processors = (uint32_t)count;
    if (!good)
        error_at(err, source->path, 0,
                 "no schedule in it; expected \"Number of processors\" and \"Total schedule "
                 "length\" on the graph, or "
                 "Processor, \"Start time\" and Weight on every node");
    intern_free(&used);
    free(r.settings);
    dot_graph_free(&r.graph);
    free(text);
    return good;
}

static const struct option dot_options[] = {
    {"contract", OPTION_CHOICE, "no", "yes|no", 0, 0,
     "Nextflow: keep only processes, joined through the channels and operators between them "
     "(default no: every node is a task)"},
    {0},
};

const struct format format_dot = {
    .name = "dot",
    .summary =
        "Graphviz DOT: Snakemake and Nextflow dumps, daggen, SimGrid, graphs with embedded optima",
    .suffixes = ".dot .gv",
    .sniff = dot_sniff,
    .read_workflow = dot_read_workflow,
    .write_workflow = dot_write_workflow,
    .carries = CARRIES_GRAPH | CARRIES_TITLE | CARRIES_GENERIC | CARRIES(run) | CARRIES(call) |
               CARRIES(work) | CARRIES(memory) | CARRIES(rungs) | CARRIES(cores) | CARRIES(kind) |
               CARRIES(shell) | CARRIES_TEXTS | CARRIES(needs) | CARRIES(resources) | CARRIES(done),
    .options = dot_options,
};
