/* DOT, written so that Graphviz draws it and weft reads the same workflow back; dot.c lists the
 * attributes.
 *
 *     digraph "name" {
 *       "a" [work=3.5, memory=1e8, kind="x", command="cp {in} {out}", timeout=600];
 *       "b" [work=1, inputs="12 photo.pgm", in_order="1 0"];
 *       "a" -> "b" [object="soft.pgm", size=12000000, temporary="true"];
 *     } */
#include "formats/dot/dot.h"
#include "base/array.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "model/command.h"
#include "model/task_kind.h"
#include <stdio.h>
#include <string.h>

/* A text attribute of weft's own: \\ and \n as dot.c reads them. */
static void add_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '\n')
            strbuf_add(out, "\\n");
        else if (*text == '\r')
            strbuf_add(out, "\\r");
        else {
            if (*text == '"' || *text == '\\')
                strbuf_add_char(out, '\\');
            strbuf_add_char(out, *text);
        }
    }
    strbuf_add_char(out, '"');
}

/* An id means itself, backslashes included, so one with a backslash may not end as it should: such
 * names go elsewhere. */
static bool fits_id(const char *name)
{
    return !strpbrk(name, "\\\n\r");
}

static void add_id(struct strbuf *out, const char *name)
{
    strbuf_add_char(out, '"');
    for (; *name; name++) {
        if (*name == '"')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *name);
    }
    strbuf_add_char(out, '"');
}

/* A graph being written. */
struct dot_writer {
    const struct workflow *w;
    struct strbuf *out;
    uint32_t *place; /* of each object in `stated` */
    ARRAY(uint32_t) stated;
    uint32_t unlisted; /* objects that no edge carries and whose name has a line break */
};

/* The id of a task: its name where that can be an id, else a number that no name equals. */
static void add_task_id(struct dot_writer *p, uint32_t task)
{
    const char *name = workflow_task_name(p->w, task);
    if (fits_id(name)) {
        add_id(p->out, name);
        return;
    }
    char id[32];
    snprintf(id, sizeof id, "task%u", task);
    for (size_t n = strlen(id); workflow_find_task(p->w, id) != NONE && n + 1 < sizeof id; n++) {
        id[n] = '_';
        id[n + 1] = 0;
    }
    add_id(p->out, id);
}

/* [ before the first, a comma before the others. */
static void dot_begin_attribute(struct strbuf *out, bool *any, const char *name)
{
    strbuf_printf(out, "%s%s=", *any ? ", " : " [", name);
    *any = true;
}

static void dot_put_number(struct strbuf *out, bool *any, const char *name, double value)
{
    dot_begin_attribute(out, any, name);
    /* DOT's own numbers have no exponent. */
    char text[40];
    int n = number_format(text, value);
    bool quote = memchr(text, 'e', (size_t)n) != NULL;
    strbuf_printf(out, quote ? "\"%s\"" : "%s", text);
}

static void put_text(struct strbuf *out, bool *any, const char *name, const char *text)
{
    dot_begin_attribute(out, any, name);
    add_text(out, text);
}

/* Which objects of a range to list: all, or those that nobody reads, temporary or not. */
enum dot_objects { DOT_ALL, DOT_UNREAD, DOT_UNREAD_TEMPORARY };

/* inputs="bytes name\nbytes name" */
static void put_objects(struct dot_writer *p, bool *any, const char *name, const uint32_t *objects,
                        uint32_t first, uint32_t last, enum dot_objects which)
{
    struct strbuf list = {0};
    for (uint32_t i = first; i < last; i++) {
        uint32_t object = objects ? objects[i] : i;
        if (which != DOT_ALL && (p->w->object_edge[object] != NONE ||
                                 workflow_is_temporary(p->w, object) != (which != DOT_UNREAD)))
            continue;
        char buffer[512];
        const char *label = workflow_object_label(p->w, object, buffer, sizeof buffer);
        if (strchr(label, '\n')) {
            p->unlisted++;
            continue;
        }
        if (list.n)
            strbuf_add_char(&list, '\n');
        strbuf_add_number(&list, p->w->size[object]);
        strbuf_printf(&list, " %s", label);
    }
    if (list.n)
        put_text(p->out, any, name, list.at);
    strbuf_free(&list);
}

/* The optional numbers and switches, as their rows say. */
static void put_columns(struct dot_writer *p, bool *any, uint32_t t)
{
    for (enum column_id id = 0; id < TASK_KEY_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        if (c->sort == COLUMN_OWN || !column_is_set(p->w, t, id))
            continue;
        if (c->sort == COLUMN_OPTIONAL)
            dot_put_number(p->out, any, c->key, column_number(p->w, t, id));
        else
            put_text(p->out, any, c->key, column_switch_word(c, !c->usual));
    }
}

/* "4e9 8e9": the first attempt's memory stands in `memory`. */
static void put_rungs(struct dot_writer *p, bool *any, uint32_t t)
{
    const struct workflow *w = p->w;
    if (!w->more_off || w->more_off[t] == w->more_off[t + 1])
        return;
    dot_begin_attribute(p->out, any, "rungs");
    for (uint32_t i = w->more_off[t]; i < w->more_off[t + 1]; i++) {
        strbuf_add_char(p->out, i == w->more_off[t] ? '"' : ' ');
        strbuf_add_number(p->out, w->more_memory[i]);
    }
    strbuf_add_char(p->out, '"');
}

/* Objects that no edge carries stand in lists with a line each. */
static bool dot_is_listed(const struct workflow *w, uint32_t object)
{
    return workflow_is_intermediate(w, object) ||
           !strchr(workflow_text(w, w->object_name[object]), '\n');
}

/* {in} and {out} follow the order of the file that was read, while edges stand here by producer: when
 * the two differ, the places are stated. `stated` is the order in which the reader will meet the
 * objects, `wanted` the one they should have. */
static void put_order(struct dot_writer *p, bool *any, const char *name, const uint32_t *stated,
                      const uint32_t *wanted, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!dot_is_listed(p->w, stated[i]))
            return; /* the reader will not meet it, as `dropped` says */
    if (!n || memcmp(stated, wanted, n * sizeof *stated) == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        p->place[stated[i]] = i;
    dot_begin_attribute(p->out, any, name);
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(p->out, "%s%u", i ? " " : "\"", p->place[wanted[i]]);
    strbuf_add_char(p->out, '"');
}

/* Does the edge state the object's name? An anonymous one of one edge needs none, unless a size of 0
 * would turn it into pure ordering. */
static bool states_name(const struct workflow *w, uint32_t object)
{
    uint32_t readers;
    workflow_consumers(w, object, &readers);
    return w->object_name[object] || readers > 1 || w->size[object] == 0;
}

/* The reader meets a task's inputs as: the list `inputs`, then edges by producer. Its outputs as:
 * the lists, then named objects of edges, then anonymous ones, which the builder puts last. */
static void put_orders(struct dot_writer *p, bool *any, uint32_t t)
{
    const struct workflow *w = p->w;
    if (!p->place)
        p->place = mem_new(uint32_t, w->nobjects);
    p->stated.n = 0;
    for (uint32_t i = w->input_off ? w->input_off[t] : 0; w->input_off && i < w->input_off[t + 1];
         i++)
        array_push(&p->stated, w->input_object[i]);
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE)
            array_push(&p->stated, w->pred_object[e]);
    put_order(p, any, "in_order", p->stated.at, w->in_object + w->in_off[t], (uint32_t)p->stated.n);
    /* outputs that nobody reads, then those of edges with a name, then the anonymous ones */
    p->stated.n = 0;
    for (int round = 0; round < 4; round++)
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++) {
            int turn =
                w->object_edge[o] == NONE ? workflow_is_temporary(w, o) : 3 - states_name(w, o);
            if (turn == round)
                array_push(&p->stated, o);
        }
    put_order(p, any, "out_order", p->stated.at, w->out_object + w->object_off[t],
              (uint32_t)p->stated.n);
}

/* Attributes that are as usual are left out: a graph without costs stays as small as it was. */
static void dot_write_task(struct dot_writer *p, uint32_t t)
{
    const struct workflow *w = p->w;
    struct strbuf *out = p->out;
    const char *name = workflow_task_name(w, t), *kind = workflow_text(w, w->kind[t]);
    bool any = false;
    strbuf_add(out, "  ");
    add_task_id(p, t);
    if (!fits_id(name)) {
        put_text(out, &any, "weft_name", name);
        put_text(out, &any, "label", name);
    }
    if (w->flags[t] & TASK_HAS_WORK || w->work[t] != 0)
        dot_put_number(out, &any, "work", w->work[t]);
    if (w->memory[t] != 0)
        dot_put_number(out, &any, "memory", w->memory[t]);
    put_rungs(p, &any, t);
    if (w->cores[t] != 1)
        dot_put_number(out, &any, "cores", w->cores[t]);
    bool has_command = w->command && w->command[t];
    if (*kind && !task_kind_is_usual(w, t))
        put_text(out, &any, "kind", kind);
    if (has_command && w->flags[t] & TASK_CALL) {
        put_text(out, &any, "call", workflow_text(w, w->command[t]));
    } else if (has_command) { /* a graph has no parameters */
        struct strbuf command = {0};
        command_without_parameters(w, t, &command);
        put_text(out, &any, "command", strbuf_text(&command));
        strbuf_free(&command);
    }
    if (column_is_set(w, t, COLUMN_shell))
        put_text(out, &any, "shell", workflow_text(w, w->shell[t]));
    for (int i = 0; i < TASK_TEXT_COUNT; i++)
        if (column_is_set(w, t, task_text[i])) {
            char attribute[40];
            snprintf(attribute, sizeof attribute, "weft_%s", task_column[task_text[i]].key);
            put_text(out, &any, attribute, column_text(w, t, task_text[i]));
        }
    if (column_is_set(w, t, COLUMN_needs)) {
        struct strbuf words = {0};
        workflow_needs_text(w, t, &words);
        put_text(out, &any, "needs", strbuf_text(&words));
        strbuf_free(&words);
    }
    if (column_is_set(w, t, COLUMN_resources)) {
        struct strbuf words = {0};
        workflow_resources_text(w, t, &words);
        put_text(out, &any, "resources", strbuf_text(&words));
        strbuf_free(&words);
    }
    put_columns(p, &any, t);
    if (w->flags[t] & TASK_DONE)
        put_text(out, &any, "style", "rounded,dashed");
    if (w->input_off)
        put_objects(p, &any, "inputs", w->input_object, w->input_off[t], w->input_off[t + 1],
                    DOT_ALL);
    put_objects(p, &any, "outputs", NULL, w->object_off[t], w->object_end[t], DOT_UNREAD);
    if (w->object_flags)
        put_objects(p, &any, "temporary_outputs", NULL, w->object_off[t], w->object_end[t],
                    DOT_UNREAD_TEMPORARY);
    if (has_command)
        put_orders(p, &any, t);
    strbuf_add(out, any ? "];\n" : ";\n");
}

/* Edges stand by producer, in the order of the workflow's objects. */
static void write_edge(struct dot_writer *p, uint32_t from, uint32_t e)
{
    const struct workflow *w = p->w;
    struct strbuf *out = p->out;
    uint32_t object = w->succ_object[e];
    bool any = false;
    strbuf_add(out, "  ");
    add_task_id(p, from);
    strbuf_add(out, " -> ");
    add_task_id(p, w->succ_task[e]);
    if (object != NONE) {
        char buffer[512];
        if (states_name(w, object))
            put_text(out, &any, "object", workflow_object_label(w, object, buffer, sizeof buffer));
        if (w->size[object] != 0)
            dot_put_number(out, &any, "size", w->size[object]);
        if (workflow_is_temporary(w, object))
            put_text(out, &any, "temporary", "true");
    }
    strbuf_add(out, any ? "];\n" : ";\n");
}

/* Nodes first, so that a node without edges is there and the order of tasks stays. */
bool dot_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                        struct error *err)
{
    (void)err;
    struct dot_writer p = {.w = w, .out = out};
    const char *name = workflow_text(w, w->name);
    strbuf_add(out, "digraph ");
    if (*name && fits_id(name)) {
        add_id(out, name);
        strbuf_add_char(out, ' ');
    }
    strbuf_add(out, "{\n");
    for (uint32_t t = 0; t < w->ntasks; t++)
        dot_write_task(&p, t);
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            write_edge(&p, t, e);
    strbuf_add(out, "}\n");
    dropped_report(w, format_dot.carries, dropped);
    dropped_count(dropped, p.unlisted, "names with a line break", "input or output");
    if (dropped && *name && !fits_id(name))
        strbuf_add(dropped, "the workflow's name, which cannot be an id\n");
    free(p.place);
    array_free(&p.stated);
    return true;
}
