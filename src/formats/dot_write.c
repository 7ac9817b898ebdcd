/* DOT, written so that Graphviz draws it and weft reads the same workflow back; dot.c lists the
 * attributes. */
#include "formats/dot.h"
#include "formats/dropped.h"
#include <math.h>
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

struct writer {
    const struct workflow *w;
    struct strbuf *out;
    uint32_t unlisted; /* objects that no edge carries and whose name has a line break */
};

/* The id of a task: its name where that can be an id, else a number that no name equals. */
static void add_task_id(struct writer *p, uint32_t task)
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

static void begin(struct strbuf *out, bool *any, const char *name)
{
    strbuf_printf(out, "%s%s=", *any ? ", " : " [", name);
    *any = true;
}

static void put_number(struct strbuf *out, bool *any, const char *name, double value)
{
    begin(out, any, name);
    /* DOT's own numbers have no exponent. */
    char text[40];
    int n = number_format(text, value);
    bool quote = memchr(text, 'e', (size_t)n) != NULL;
    strbuf_printf(out, quote ? "\"%s\"" : "%s", text);
}

static void put_text(struct strbuf *out, bool *any, const char *name, const char *text)
{
    begin(out, any, name);
    add_text(out, text);
}

/* inputs="bytes name\nbytes name" */
static void put_objects(struct writer *p, bool *any, const char *name, const uint32_t *objects,
                        uint32_t first, uint32_t last, bool only_unread)
{
    struct strbuf list = {0};
    for (uint32_t i = first; i < last; i++) {
        uint32_t object = objects ? objects[i] : i;
        if (only_unread && p->w->object_edge[object] != NONE)
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

static void write_task(struct writer *p, uint32_t t)
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
        put_number(out, &any, "work", w->work[t]);
    if (w->memory[t] != 0)
        put_number(out, &any, "memory", w->memory[t]);
    if (w->cores[t] != 1)
        put_number(out, &any, "cores", w->cores[t]);
    bool has_command = w->command && w->command[t];
    if (*kind && (has_command || strcmp(kind, name) != 0))
        put_text(out, &any, "kind", kind);
    if (has_command)
        put_text(out, &any, w->flags[t] & TASK_CALL ? "call" : "command",
                 workflow_text(w, w->command[t]));
    if (w->deadline && isfinite(w->deadline[t]))
        put_number(out, &any, "deadline", w->deadline[t]);
    if (w->priority && w->priority[t] != 0)
        put_number(out, &any, "priority", w->priority[t]);
    if (w->timeout && isfinite(w->timeout[t]))
        put_number(out, &any, "timeout", w->timeout[t]);
    if (w->retries && w->retries[t])
        put_number(out, &any, "retries", w->retries[t]);
    if (w->flags[t] & TASK_NOT_REPLICABLE)
        put_text(out, &any, "replicable", "false");
    if (w->flags[t] & TASK_DONE)
        put_text(out, &any, "style", "rounded,dashed");
    if (w->input_off)
        put_objects(p, &any, "inputs", w->input_object, w->input_off[t], w->input_off[t + 1],
                    false);
    put_objects(p, &any, "outputs", NULL, w->object_off[t], w->object_off[t + 1], true);
    strbuf_add(out, any ? "];\n" : ";\n");
}

static void write_edge(struct writer *p, uint32_t from, uint32_t e)
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
        uint32_t readers;
        workflow_consumers(w, object, &readers);
        char buffer[512];
        /* An anonymous object of one edge needs no name, unless a size of 0 would turn it into pure
         * ordering. */
        if (w->object_name[object] || readers > 1 || w->size[object] == 0)
            put_text(out, &any, "object", workflow_object_label(w, object, buffer, sizeof buffer));
        if (w->size[object] != 0)
            put_number(out, &any, "size", w->size[object]);
    }
    strbuf_add(out, any ? "];\n" : ";\n");
}

bool dot_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                        struct error *err)
{
    (void)err;
    struct writer p = {w, out, 0};
    const char *name = workflow_text(w, w->name);
    strbuf_add(out, "digraph ");
    if (*name && fits_id(name)) {
        add_id(out, name);
        strbuf_add_char(out, ' ');
    }
    strbuf_add(out, "{\n");
    for (uint32_t t = 0; t < w->ntasks; t++)
        write_task(&p, t);
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            write_edge(&p, t, e);
    strbuf_add(out, "}\n");
    size_t timed = 0;
    for (uint32_t t = 0; w->time_off && t < w->ntasks; t++)
        timed += w->time_off[t + 1] > w->time_off[t];
    dropped_count(dropped, timed, "times on nodes", "task");
    dropped_count(dropped, w->nparameters, "values", "parameter");
    dropped_count(dropped, w->nassertions, "texts", "assert");
    dropped_count(dropped, p.unlisted, "names with a line break", "input or output");
    if (dropped && *name && !fits_id(name))
        strbuf_add(dropped, "the workflow's name, which cannot be an id\n");
    return true;
}
