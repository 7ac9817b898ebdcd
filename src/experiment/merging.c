/* Writing down one new task of the merged workflow: its command, its name, the names of its
 * outputs, its columns. Outputs go to results/LABEL/..., intermediate ones to
 * results/steps/LABEL/..., where the label names only the choices that the task depends on. */
#include "experiment/merging.h"
#include "model/condition.h"
#include "model/command.h"
#include "experiment/combine.h"

#include <math.h>
#include <string.h>

/* {in} as the merged task counts its files: `place` has the number of each of `count`; NULL: they
 * are as they were. */
static void add_files_mark(const struct blueprint_token *t, const char *word, const uint32_t *place,
                           uint32_t count, struct strbuf *out)
{
    if (!place || !count) { /* as it stands */
        strbuf_printf(out, "{%s", word);
        if (t->items)
            strbuf_printf(out, "[%.*s]", (int)strcspn(t->items, "]"), t->items);
        else if (t->index != NONE)
            strbuf_printf(out, "[%u]", t->index);
        strbuf_printf(out, "%s}", t->list ? ".list" : "");
        return;
    }
    struct marking m = {.index = t->index, .items = t->items};
    struct marking_place p = marking_begin(&m, count);
    const char *before = t->list ? "{in[" : "", *between = t->list ? "," : " ";
    for (uint32_t i; marking_next(&p, &i); before = between)
        strbuf_printf(out, t->list ? "%s%u" : "%s{in[%u]}", before, place[i]);
    strbuf_add(out, t->list ? "].list}" : "");
}

enum { LONGEST_LABEL = 160 }; /* bytes: a file name may have 255 */

void merging_command(struct merging *m, const struct body *body, const uint32_t *place,
                     struct strbuf *out)
{
    const struct blueprint *b = &m->b;
    for (uint32_t i = body->token; i < body->tokens_end; i++) {
        const struct blueprint_token *t = &b->tokens.at[i];
        switch (t->type) {
        case TOKEN_TEXT:
        case TOKEN_WORD:
            strbuf_add_bytes(out, t->text, t->length);
            break;
        /* a brace that stands for itself is doubled, whatever it was in the original */
        case TOKEN_BRACE:
            strbuf_add_char(out, t->brace);
            strbuf_add_char(out, t->brace);
            break;
        case TOKEN_PARAMETER:
            command_add_doubled(out, m->value[t->index]);
            break;
        case TOKEN_OUT:
            add_files_mark(t, "out", NULL, 0, out);
            break;
        default:
            add_files_mark(t, "in", place, body->reads_end - body->read, out);
        }
    }
}

/* ---- names ---- */

/* The label of the choices in `set`, cut where it would be too long for a file name: a digest tells
 * cut ones apart. */
static void make_label(struct merging *m, const uint64_t *set)
{
    strbuf_clear(&m->label);
    combination_label(m->b.x, m->row, set, &m->label);
    if (m->label.n <= LONGEST_LABEL)
        return;
    struct digest d;
    char hex[DIGEST_TEXT];
    digest_of(m->label.at, m->label.n, &d);
    m->label.n = LONGEST_LABEL - 20;
    while (m->label.n && (m->label.at[m->label.n] & 0xC0) == 0x80) /* not within a character */
        m->label.n--;
    strbuf_printf(&m->label, "~%.16s", digest_text(&d, hex));
}

/* Computations that share a label but differ (an output read twice, say) are numbered. */
static uint32_t name_task(struct merging *m, uint32_t origin)
{
    struct strbuf *name = &m->name;
    strbuf_clear(name);
    strbuf_add(name, workflow_task_name(m->b.w, origin));
    if (m->label.n)
        strbuf_printf(name, "@%s", m->label.at);
    size_t length = name->n;
    for (unsigned i = 2; builder_find_task(m->out, name->at, name->n) != NONE; i++) {
        name->n = length;
        strbuf_printf(name, "#%u", i);
    }
    return builder_task(m->out, name->at, name->n, 0);
}

/* Append a path without what would lead out of the folder it is put into. */
static void add_path(struct strbuf *out, const char *path)
{
    bool first = true;
    while (*path) {
        size_t n = strcspn(path, "/");
        bool up = n == 2 && path[0] == '.' && path[1] == '.';
        if (n && !up && !(n == 1 && path[0] == '.')) {
            if (!first)
                strbuf_add_char(out, '/');
            strbuf_add_bytes(out, path, n);
            first = false;
        }
        path += n;
        path += *path == '/';
    }
    if (first)
        strbuf_add(out, "out");
}

/* Never a name that another task writes: a number is added. */
static uint32_t name_output(struct merging *m, uint32_t object)
{
    struct strbuf *name = &m->name;
    strbuf_clear(name);
    strbuf_add(name, m->results);
    if (m->b.w->object_edge[object] != NONE)
        strbuf_add(name, "/steps");
    strbuf_add_char(name, '/');
    if (m->label.n)
        strbuf_printf(name, "%s/", m->label.at);
    add_path(name, blueprint_file(&m->b, object));
    size_t length = name->n;
    for (unsigned i = 2; builder_find_object(m->out, name->at, name->n) != NONE; i++) {
        name->n = length;
        strbuf_printf(name, "-%u", i);
    }
    return builder_object(m->out, name->at, name->n);
}

/* ---- a new task ---- */

/* The original's columns, as far as the alternative does not change them. A changed command is
 * another kind: predictions must not mix them. */
static void merging_describe(struct merging *m, uint32_t task, const struct body *body)
{
    const struct workflow *w = m->b.w;
    struct builder *out = m->out;
    uint32_t t = body->task;
    static const struct task_change nothing = {
        .work = NAN, .memory = NAN, .cores = NAN, .timeout = NAN, .retries = NAN};
    const struct task_change *c = body->alternative ? &body->alternative->change : &nothing;
    const char *kind = c->kind      ? c->kind
                       : c->command ? body->alternative->label
                                    : workflow_text(w, w->kind[t]);
    builder_usual_kind(out, task, kind, strlen(kind));
    if (c->kind || c->command || w->flags[t] & TASK_KIND_STATED)
        builder_flag(out, task, TASK_KIND_STATED);
    if (!isnan(c->work) || w->flags[t] & TASK_HAS_WORK)
        builder_work(out, task, isnan(c->work) ? w->work[t] : c->work, 0);
    if (isnan(c->work) && w->time_off)
        for (uint32_t i = w->time_off[t]; i < w->time_off[t + 1]; i++) {
            const char *node = workflow_text(w, w->time[i].node);
            builder_time(out, task, node, strlen(node), w->time[i].seconds, 0);
        }
    builder_memory(out, task, isnan(c->memory) ? w->memory[t] : c->memory, 0);
    if (isnan(c->memory) && w->more_off)
        for (uint32_t i = w->more_off[t]; i < w->more_off[t + 1]; i++)
            builder_more_memory(out, task, w->more_memory[i], 0);
    builder_cores(out, task, isnan(c->cores) ? w->cores[t] : c->cores, 0);
    /* a merged workflow runs anew: what the file called done is not */
    uint64_t changed = COLUMN_BIT(done);
    if (!isnan(c->timeout)) {
        changed |= COLUMN_BIT(timeout);
        builder_timeout(out, task, c->timeout, 0);
    }
    if (!isnan(c->retries)) {
        changed |= COLUMN_BIT(retries);
        builder_retries(out, task, c->retries, 0);
    }
    /* all other columns as they are: a new column needs no change here */
    builder_copy_columns(out, task, w, t, changed);
    builder_copy_texts(out, task, w, t);
    if (body->is_call && *body->command)
        builder_flag(out, task, TASK_CALL);
    else if (column_is_set(w, t, COLUMN_shell)) {
        const char *shell = workflow_text(w, w->shell[t]);
        builder_shell(out, task, shell, strlen(shell), 0);
    }
}

/* An input file becomes an object on first use. */
static uint32_t merging_file_object(struct merging *m, uint32_t file, uint32_t read_as)
{
    const struct workflow *w = m->b.w;
    if (m->file_object[file] != NONE)
        return m->file_object[file];
    const char *name = blueprint_file(&m->b, file);
    uint32_t o = m->file_object[file] = builder_object(m->out, name, strlen(name));
    /* of a file that only the experiment names, the size of what it replaces is the best guess */
    uint32_t like = file < m->b.nobjects ? file : read_as;
    if (like < m->b.nobjects && w->size[like] > 0)
        builder_size(m->out, o, w->size[like], 0);
    return o;
}

static bool merging_is_optional(const struct workflow *w, uint32_t t, uint32_t object)
{
    for (uint32_t i = w->in_optional ? w->in_off[t] : 0; w->in_optional && i < w->in_off[t + 1];
         i++)
        if (w->in_object[i] == object)
            return w->in_optional[i];
    return false;
}

/* Let `task` read its inputs; false: some two of them are the same object, so that {in} must say
 * which comes where. */
static bool merging_read_inputs(struct merging *m, uint32_t task, const struct body *body)
{
    uint32_t distinct = 0;
    m->place.n = 0;
    for (uint32_t i = 0; i < m->inputs.n; i++) {
        const struct merging_input *in = &m->inputs.at[i];
        uint32_t o = in->task == NONE
                         ? merging_file_object(m, in->number, m->b.reads.at[body->read + i])
                         : m->outputs.at[m->first_output.at[in->task] + in->number];
        while (m->seen.n <= o) {
            array_push(&m->seen, 0);
            array_push(&m->seen_place, 0);
        }
        if (m->seen.at[o] != task + 1) {
            m->seen.at[o] = task + 1;
            m->seen_place.at[o] = distinct++;
            builder_consumes(m->out, task, o, 0);
        }
        if (merging_is_optional(m->b.w, body->task, m->b.reads.at[body->read + i]))
            builder_optional(m->out, task, o);
        array_push(&m->place, m->seen_place.at[o]);
    }
    return distinct == m->inputs.n;
}

uint32_t merging_task(struct merging *m, const struct body *body, const struct digest *key)
{
    const struct workflow *w = m->b.w;
    uint32_t t = body->task;
    const uint64_t *with =
        m->narrowed ? m->narrowed + m->key.n * m->words : (const uint64_t *)m->with_file;
    for (size_t k = 0; k < m->words; k++)
        m->scratch[k] = m->depends[t * m->words + k] | with[k];
    make_label(m, m->scratch);
    uint32_t task = name_task(m, t);
    if (task == NONE)
        return NONE;
    array_push(&m->key, *key);
    array_push(&m->origin, t);
    array_push(&m->first_output, (uint32_t)m->outputs.n);
    merging_describe(m, task, body);
    for (uint32_t k = 0; k < w->object_end[t] - w->object_off[t]; k++) {
        uint32_t from = blueprint_output(w, t, k), to = name_output(m, from);
        array_push(&m->outputs, to);
        builder_produces(m->out, task, to, 0);
        if (w->size[from] > 0)
            builder_size(m->out, to, w->size[from], 0);
        if (workflow_is_temporary(w, from))
            builder_temporary(m->out, to);
    }
    bool plain = merging_read_inputs(m, task, body);
    if (!plain && column_is_set(w, t, COLUMN_when)) {
        strbuf_clear(&m->text);
        condition_move_places(&m->text, workflow_text(w, w->when[t]), m->place.at,
                              (uint32_t)m->place.n);
        builder_when(m->out, task, m->text.at, m->text.n);
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] == NONE)
            builder_edge(m->out, m->instance[w->pred_task[e]], task, 0);
    if (plain && body->is_verbatim && *body->command) {
        builder_command(m->out, task, body->command, strlen(body->command));
    } else if (*body->command) {
        strbuf_clear(&m->text);
        merging_command(m, body, plain ? NULL : m->place.at, &m->text);
        builder_command(m->out, task, strbuf_text(&m->text), m->text.n);
    }
    return task;
}
