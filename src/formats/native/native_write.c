/* Native workflows, written so that reading gives the same graph back. Tasks stand in the order of
 * the workflow.
 *
 * Texts are written plain where every YAML reader takes them so, quoted or as blocks where not
 * (yaml_write.c). A value that is the usual one is left out, a list of up to LONGEST_ROW entries
 * stands on one line. Anonymous objects get names, since native objects exist by being named. */
#include "base/array.h"
#include "base/path.h"
#include "formats/dropped.h"
#include "formats/native/native.h"
#include "model/command.h"
#include "model/task_kind.h"
#include "model/things.h"
#include "formats/registry.h"

#include <math.h>
#include <string.h>

enum {
    LONGEST_KEY =
        1000, /* YAML allows "key:" up to 1,024 characters; longer ones are written "? key" */
    LONGEST_ROW = 6, /* a list of more entries gets a line for each */
};

struct native_writing {
    const struct workflow *w;
    struct strbuf *out;
    size_t broken; /* texts that were not UTF-8 */
    /* Names of all objects when some are anonymous: their labels, made different where two are
     * alike. */
    struct intern labels;
    uint32_t *label; /* NULL: every object has a name */
};

/* "producer->consumer" may also be the name of another object, or the label of one ("a->b"->"c" and
 * "a"->"b->c"). */
static void label_objects(struct native_writing *s)
{
    const struct workflow *w = s->w;
    bool anonymous = false;
    for (uint32_t o = 0; o < w->nobjects; o++)
        anonymous |= !w->object_name[o];
    if (!anonymous)
        return;
    intern_init(&s->labels);
    s->label = mem_new(uint32_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->object_name[o]) {
            const char *name = workflow_text(w, w->object_name[o]);
            s->label[o] = intern_number(&s->labels, name, strlen(name));
        }
    struct strbuf text = {0};
    for (uint32_t o = 0; o < w->nobjects; o++) {
        if (w->object_name[o])
            continue;
        strbuf_clear(&text);
        strbuf_printf(&text, "%s->%s", workflow_task_name(w, w->producer[o]),
                      workflow_task_name(w, w->succ_task[w->object_edge[o]]));
        if (!path_is_canonical(text.at, text.n)) { /* a name of a file, when it is read */
            char *raw = strbuf_steal(&text);
            path_add_canonical(raw, strlen(raw), &text);
            free(raw);
        }
        size_t length = text.n;
        for (unsigned i = 2; intern_find(&s->labels, text.at, text.n) != NONE; i++) {
            text.n = length;
            strbuf_printf(&text, "#%u", i);
        }
        s->label[o] = intern_number(&s->labels, text.at, text.n);
    }
    strbuf_free(&text);
}

/* A text in which braces stand for themselves: the reader fills in what single ones hold. */
static void write_name(struct native_writing *s, const char *text, enum yaml_place place)
{
    if (!strpbrk(text, "{}")) {
        s->broken += !yaml_write_string(s->out, text, place);
        return;
    }
    struct strbuf doubled = {0};
    command_add_doubled(&doubled, text);
    s->broken += !yaml_write_string(s->out, doubled.at, place);
    strbuf_free(&doubled);
}

/* Its name, or the label that label_objects() gave it. */
static const char *object_name(const struct native_writing *s, uint32_t object)
{
    return s->label ? intern_text(&s->labels, s->label[object])
                    : workflow_text(s->w, s->w->object_name[object]);
}

/* A key's text is tried in place; only when it comes out too long is it written again in the long
 * form. */
static void write_key(struct native_writing *s, const char *indent, const char *key)
{
    strbuf_add(s->out, indent);
    size_t start = s->out->n;
    s->broken += !yaml_write_string(s->out, key, YAML_IN_BLOCK);
    if (s->out->n - start <= LONGEST_KEY) {
        strbuf_add_char(s->out, ':');
        return;
    }
    s->out->n = start;
    strbuf_add(s->out, "? ");
    yaml_write_string(s->out, key, YAML_IN_BLOCK);
    strbuf_printf(s->out, "\n%s:", indent);
}

static void write_number(struct native_writing *s, const char *key, double value)
{
    strbuf_printf(s->out, "    %s: ", key);
    strbuf_add_number(s->out, value);
    strbuf_add_char(s->out, '\n');
}

/* ---- lists: on one line when short ---- */

/* A list being written: its key appears with the first entry, so that an empty list leaves no
 * trace. */
struct native_list {
    const char *key;
    size_t count, written;
};

static void list_next(struct native_writing *s, struct native_list *l)
{
    bool row = l->count <= LONGEST_ROW;
    if (!l->written)
        strbuf_printf(s->out, row ? "    %s: [" : "    %s:", l->key);
    if (!row)
        strbuf_add(s->out, "\n      - ");
    else if (l->written)
        strbuf_add(s->out, ", ");
    l->written++;
}

static void list_end(struct native_writing *s, const struct native_list *l)
{
    if (l->written)
        strbuf_add(s->out, l->count <= LONGEST_ROW ? "]\n" : "\n");
}

/* `with_size`: sizes and marks are stated once, where the object is made (or first read). */
static void list_object(struct native_writing *s, struct native_list *l, uint32_t object,
                        bool with_size, bool optional)
{
    list_next(s, l);
    enum yaml_place place = l->count <= LONGEST_ROW ? YAML_IN_FLOW : YAML_IN_BLOCK;
    const char *name = object_name(s, object);
    bool sized = with_size && s->w->size[object] > 0;
    bool temporary = with_size && workflow_is_temporary(s->w, object);
    bool in_memory = with_size && workflow_object_is(s->w, object, OBJECT_IN_MEMORY);
    if (!sized && !temporary && !optional && !in_memory) {
        write_name(s, name, place);
        return;
    }
    strbuf_add(s->out, "{name: ");
    write_name(s, name, YAML_IN_FLOW);
    if (sized) {
        strbuf_add(s->out, ", size: ");
        strbuf_add_number(s->out, s->w->size[object]);
    }
    strbuf_add(s->out, temporary ? ", temporary: true" : "");
    strbuf_add(s->out, in_memory ? ", in_memory: true" : "");
    strbuf_add(s->out, optional ? ", optional: true}" : "}");
}

/* The size of a workflow's input is stated once, where its first reader stands; that of any other
 * object by its producer. */
static void list_input(struct native_writing *s, struct native_list *l, uint32_t object,
                       uint32_t task, bool optional)
{
    const struct workflow *w = s->w;
    list_object(s, l, object,
                w->producer[object] == NONE && w->input_task[w->object_edge[object]] == task,
                optional);
}

/* in, out and after. Where tasks have commands the order of the file is kept, since {in} follows
 * it. */
static void write_lists(struct native_writing *s, uint32_t t)
{
    const struct workflow *w = s->w;
    uint32_t data = 0, ordering = 0;
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        *(w->pred_object[e] == NONE ? &ordering : &data) += 1;
    uint32_t input = w->input_off ? w->input_off[t] : 0;
    uint32_t input_end = w->input_off ? w->input_off[t + 1] : 0;
    struct native_list in = {"in", data + (input_end - input), 0};
    if (w->in_off) { /* commands: the order counts */
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            list_input(s, &in, w->in_object[i], t, w->in_optional && w->in_optional[i]);
    } else {
        for (uint32_t i = input; i < input_end; i++)
            list_input(s, &in, w->input_object[i], t, false);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] != NONE)
                list_input(s, &in, w->pred_object[e], t, false);
    }
    list_end(s, &in);

    struct native_list out = {"out", w->object_end[t] - w->object_off[t], 0};
    for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
        list_object(s, &out, w->out_object ? w->out_object[o] : o, true, false);
    list_end(s, &out);

    struct native_list after = {"after", ordering, 0};
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] == NONE) {
            list_next(s, &after);
            write_name(s, workflow_task_name(w, w->pred_task[e]),
                       ordering <= LONGEST_ROW ? YAML_IN_FLOW : YAML_IN_BLOCK);
        }
    list_end(s, &after);
}

/* ---- tasks ---- */

/* Of two times for one node only the last is written: a key of YAML stands once. */
static void write_times(struct native_writing *s, uint32_t t)
{
    const struct workflow *w = s->w;
    if (!w->time_off || w->time_off[t] == w->time_off[t + 1])
        return;
    strbuf_add(s->out, "    times: {");
    for (uint32_t i = w->time_off[t]; i < w->time_off[t + 1]; i++) {
        bool again = false; /* the last of two times for a node counts, and a key may stand once */
        for (uint32_t j = i + 1; j < w->time_off[t + 1] && !again; j++)
            again =
                strcmp(workflow_text(w, w->time[i].node), workflow_text(w, w->time[j].node)) == 0;
        if (again)
            continue;
        if (s->out->at[s->out->n - 1] != '{')
            strbuf_add(s->out, ", ");
        s->broken += !yaml_write_string(s->out, workflow_text(w, w->time[i].node), YAML_IN_FLOW);
        strbuf_add(s->out, ": ");
        strbuf_add_number(s->out, w->time[i].seconds);
    }
    strbuf_add(s->out, "}\n");
}

static void write_memories(struct native_writing *s, uint32_t t)
{
    const struct workflow *w = s->w;
    strbuf_add(s->out, "    memory: [");
    strbuf_add_number(s->out, w->memory[t]);
    for (uint32_t i = w->more_off[t]; i < w->more_off[t + 1]; i++) {
        strbuf_add(s->out, ", ");
        strbuf_add_number(s->out, w->more_memory[i]);
    }
    strbuf_add(s->out, "]\n");
}

/* Is the kind what the reader would choose by itself: the first word of run, else the name? */
static bool native_is_default_kind(const struct workflow *w, uint32_t t, const char *command)
{
    const char *kind = workflow_text(w, w->kind[t]);
    /* what is stated groups tasks whatever their names are; a family's name says the same */
    if (w->flags[t] & TASK_KIND_STATED && !task_kind_fits(kind, workflow_task_name(w, t)))
        return false;
    if (!*command || (w->flags[t] & TASK_CALL))
        return strcmp(kind, workflow_task_name(w, t)) == 0;
    command += strspn(command, " \t\n");
    size_t length = strcspn(command, " \t\n");
    return strlen(kind) == length && memcmp(kind, command, length) == 0;
}

/* The optional numbers and switches, as their rows say. */
static void write_generic(struct native_writing *s, uint32_t t)
{
    for (enum column_id id = 0; id < TASK_KEY_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        if (c->sort == COLUMN_OWN || !column_is_set(s->w, t, id))
            continue;
        if (c->sort == COLUMN_OPTIONAL)
            write_number(s, c->key, column_number(s->w, t, id));
        else
            strbuf_printf(s->out, "    %s: %s\n", c->key, column_switch_word(c, !c->usual));
    }
}

/* Only what differs from the defaults is written: a task that says nothing is `name: {}`. */
/* resources: {gpu: 0.5, licence: 2} */
static void write_resources(struct native_writing *s, uint32_t t)
{
    const uint32_t *demand = workflow_demand(s->w, t);
    bool any = false;
    strbuf_add(s->out, "    resources: {");
    for (uint32_t i = 0; i < s->w->nresources; i++) {
        if (!demand[i])
            continue;
        strbuf_printf(s->out, "%s%s: ", any ? ", " : "", workflow_text(s->w, s->w->resource[i]));
        thing_amount_text(demand[i], s->out);
        any = true;
    }
    strbuf_add(s->out, "}\n");
}

static void native_write_task(struct native_writing *s, uint32_t t)
{
    const struct workflow *w = s->w;
    struct strbuf *out = s->out;
    write_key(s, "  ", workflow_task_name(w, t));
    strbuf_add_char(out, '\n');
    size_t start = out->n;
    const char *command = w->command ? workflow_text(w, w->command[t]) : "";
    if (*command) {
        strbuf_add(out, w->flags[t] & TASK_CALL ? "    call: " : "    run: ");
        s->broken += !yaml_write_block(out, command, 4);
        strbuf_add_char(out, '\n');
    }
    if (column_is_set(w, t, COLUMN_shell)) {
        strbuf_add(out, "    shell: ");
        write_name(s, workflow_text(w, w->shell[t]), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    native_write_environment(w, t, out, &s->broken);
    if (*workflow_text(w, w->kind[t]) && !native_is_default_kind(w, t, command)) {
        strbuf_add(out, "    kind: ");
        write_name(s, workflow_text(w, w->kind[t]), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    write_lists(s, t);
    if (w->flags[t] & TASK_HAS_WORK)
        write_number(s, "work", w->work[t]);
    if (column_is_set(w, t, COLUMN_when)) {
        strbuf_add(out, "    when: ");
        s->broken += !yaml_write_string(out, workflow_text(w, w->when[t]), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    if (column_is_set(w, t, COLUMN_retry_on))
        strbuf_printf(out, "    retry_on: [%s]\n", workflow_text(w, w->retry_on[t]));
    write_times(s, t);
    if (w->more_off && w->more_off[t] < w->more_off[t + 1])
        write_memories(s, t);
    else if (w->memory[t] > 0)
        write_number(s, "memory", w->memory[t]);
    if (w->cores[t] != 1)
        write_number(s, "cores", w->cores[t]);
    if (column_is_set(w, t, COLUMN_needs)) {
        strbuf_add(out, "    needs: [");
        workflow_needs_text(w, t, out);
        strbuf_add(out, "]\n");
    }
    if (column_is_set(w, t, COLUMN_resources))
        write_resources(s, t);
    write_generic(s, t);
    if (out->n == start) { /* nothing to say: the key alone */
        out->n--;
        strbuf_add(out, " {}\n");
    }
}

static void native_write_hooks(struct native_writing *s)
{
    bool any = false;
    for (int i = 0; i < WORKFLOW_HOOKS; i++) {
        if (!s->w->hook[i])
            continue;
        strbuf_add(s->out, any ? "" : "hooks:\n");
        any = true;
        strbuf_printf(s->out, "  %s: ", workflow_hook_name[i]);
        s->broken += !yaml_write_block(s->out, workflow_text(s->w, s->w->hook[i]), 2);
        strbuf_add_char(s->out, '\n');
    }
}

/* Tasks in the order of the workflow, so that reading gives the same numbers again. */
bool native_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err)
{
    (void)err;
    struct native_writing s = {.w = w, .out = out};
    label_objects(&s);
    strbuf_add(out, "weft: 1\n");
    if (*workflow_text(w, w->name)) {
        strbuf_add(out, "name: ");
        s.broken += !yaml_write_string(out, workflow_text(w, w->name), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    if (w->nparameters)
        strbuf_add(out, "parameters:\n");
    for (uint32_t i = 0; i < w->nparameters; i++) {
        write_key(&s, "  ", workflow_text(w, w->parameter_name[i]));
        strbuf_add_char(out, ' ');
        s.broken += !yaml_write_value(out, workflow_text(w, w->parameter_value[i]), YAML_IN_BLOCK);
        strbuf_add_char(out, '\n');
    }
    if (w->nassertions)
        strbuf_add(out, "assert:\n");
    for (uint32_t i = 0; i < w->nassertions; i++) {
        strbuf_add(out, "  - ");
        s.broken += !yaml_write_block(out, workflow_text(w, w->assertion[i]), 2);
        strbuf_add_char(out, '\n');
    }
    native_write_hooks(&s);
    strbuf_add(out, w->ntasks ? "tasks:\n" : "tasks: {}\n");
    for (uint32_t t = 0; t < w->ntasks; t++)
        native_write_task(&s, t);
    dropped_report(w, format_native.carries, dropped);
    dropped_count(dropped, s.broken, "bytes that are not UTF-8", "text");
    if (s.label) {
        intern_free(&s.labels);
        free(s.label);
    }
    return true;
}
