/* A workflow and its substitutions made ready for merging: commands cut into tokens once, every
 * file a number, and for each substitution the tasks that it touches. So a combination costs the
 * tasks that differ from the one before, and no text is parsed twice.
 *
 *   body    what a task does: as in the workflow, or by one alternative; its reads and tokens
 *   token   a piece of a command: text, {in}, {out}, a parameter, a brace
 *
 * O(size of workflow and alternatives). What can be wrong about names is said here, with its line.
 */
#include "experiment/blueprint.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/plural.h"
#include "model/command.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* Numbers of files: objects of the workflow first, in its own order; names that only alternatives
 * mention come after them. */
static void name_objects(struct blueprint *b)
{
    const struct workflow *w = b->w;
    struct strbuf text = {0};
    char label[512];
    intern_init(&b->files);
    b->nobjects = w->nobjects;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        strbuf_clear(&text);
        strbuf_add(&text, workflow_object_label(w, o, label, sizeof label));
        /* labels of anonymous objects may be alike */
        size_t length = text.n;
        for (unsigned i = 2; intern_find(&b->files, strbuf_text(&text), text.n) != NONE; i++) {
            text.n = length;
            strbuf_printf(&text, "#%u", i);
        }
        intern_number(&b->files, strbuf_text(&text), text.n);
    }
    strbuf_free(&text);
    b->output = mem_new_zero(uint32_t, w->nobjects);
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t k = 0; k < w->object_end[t] - w->object_off[t]; k++)
            b->output[blueprint_output(w, t, k)] = k;
}

/* One file under all its spellings. */
static uint32_t blueprint_file_number(struct blueprint *b, const char *name)
{
    struct strbuf text = {0};
    path_add_canonical(name, strlen(name), &text);
    uint32_t number = intern_number(&b->files, text.at, text.n);
    strbuf_free(&text);
    return number;
}

/* "... there is no task 'detct' in flow.yaml; did you mean 'detect'?" */
static bool blueprint_unknown(const struct blueprint *b, const struct substitution *s,
                              const char *thing, const char *const *names, size_t count,
                              struct error *err)
{
    const char *near = suggest_nearest(s->what, names, count);
    return error_at(err, b->x->file, s->line,
                    "substitution '%s': there is no %s '%.100s' in %s%s%s%s", s->name, thing,
                    s->what, workflow_text(b->w, b->w->file), near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

/* Always false, with the nearest name that there is. */
static bool unknown_target(const struct blueprint *b, const struct substitution *s,
                           struct error *err)
{
    const struct workflow *w = b->w;
    size_t count = s->target == SUBSTITUTE_TASK   ? w->ntasks
                   : s->target == SUBSTITUTE_DATA ? b->nobjects
                                                  : w->nparameters;
    const char **names = mem_new(const char *, count);
    for (uint32_t i = 0; i < count; i++)
        names[i] = s->target == SUBSTITUTE_TASK   ? workflow_task_name(w, i)
                   : s->target == SUBSTITUTE_DATA ? blueprint_file(b, i)
                                                  : workflow_text(w, w->parameter_name[i]);
    static const char *const things[] = {[SUBSTITUTE_TASK] = "task",
                                         [SUBSTITUTE_DATA] = "data object",
                                         [SUBSTITUTE_PARAMETER] = "parameter"};
    blueprint_unknown(b, s, things[s->target], names, count, err);
    free(names);
    return false;
}

/* NONE: there is nothing of that name. */
static uint32_t find_target(const struct blueprint *b, const struct substitution *s)
{
    const struct workflow *w = b->w;
    if (s->target == SUBSTITUTE_TASK)
        return workflow_find_task(w, s->what);
    if (s->target == SUBSTITUTE_DATA) {
        uint32_t o = intern_find(&b->files, s->what, strlen(s->what));
        return o < b->nobjects ? o : workflow_find_object(w, s->what);
    }
    for (uint32_t i = 0; i < w->nparameters; i++)
        if (strcmp(workflow_text(w, w->parameter_name[i]), s->what) == 0)
            return i;
    return NONE;
}

/* What each substitution replaces. Two for one target would contradict each other. */
static bool find_targets(struct blueprint *b, struct error *err)
{
    const struct experiment *x = b->x;
    size_t n = x->substitutions.n;
    b->target = mem_new(uint32_t, n);
    b->first_body = mem_new_zero(uint32_t, n);
    b->first_object = mem_new_zero(uint32_t, n);
    for (size_t s = 0; s < n; s++) {
        const struct substitution *sub = &x->substitutions.at[s];
        b->target[s] = sub->with_file ? NONE : find_target(b, sub);
        if (b->target[s] == NONE && !sub->with_file)
            return unknown_target(b, sub, err);
        for (size_t i = 0; i < s; i++)
            if (x->substitutions.at[i].target == sub->target && b->target[i] == b->target[s] &&
                (!sub->with_file || strcmp(x->substitutions.at[i].what, sub->what) == 0))
                return error_at(err, x->file, sub->line,
                                "substitutions '%s' and '%s' both replace '%.100s'; put their "
                                "alternatives into one",
                                x->substitutions.at[i].name, sub->name, sub->what);
        if (sub->target == SUBSTITUTE_DATA) {
            /* who made the replaced data may have nobody left to make it for */
            b->may_prune |= b->w->producer[b->target[s]] != NONE;
            b->first_object[s] = (uint32_t)b->objects.n;
            for (size_t i = 0; i < sub->by.n; i++)
                array_push(&b->objects, blueprint_file_number(b, sub->by.at[i].text));
        }
    }
    return true;
}

/* ---- bodies ---- */

/* Which of its files a word of the command is. Valid for one body: `stamp` is its number + 1. */
struct places {
    ARRAY(uint32_t) in_stamp, out_stamp, place;
};

/* Files that alternatives bring in get numbers while bodies are made. */
static void places_grow(struct places *p, uint32_t count)
{
    while (p->in_stamp.n < count) {
        array_push(&p->in_stamp, 0);
        array_push(&p->out_stamp, 0);
        array_push(&p->place, 0);
    }
}

/* Ends a word of a shell command. A file inside quotes is one too. */
static bool blueprint_separates(char c)
{
    return !c || strchr(" \t\r\n'\"`;|&<>()", c);
}

static void blueprint_add_text(struct blueprint *b, const char *at, size_t length)
{
    if (length)
        array_push(&b->tokens,
                   (struct blueprint_token){.type = TOKEN_TEXT, .text = at, .length = length});
}

/* Text between two braces (or ends) of a command: words that are files become files. */
static void cut_words(struct blueprint *b, struct body *body, const struct places *p,
                      uint32_t stamp, const char *at, size_t length)
{
    const char *end = at + length, *from = at;
    while (at < end) {
        const char *word = at;
        while (at < end && !blueprint_separates(*at))
            at++;
        bool bounded =
            (word == body->command || blueprint_separates(word[-1])) && (at < end || !*at);
        const char *name = word;
        if (at - name > 2 && name[0] == '.' && name[1] == '/')
            name += 2;
        for (int part = 0; bounded && part < 2 && name < at; part++) {
            uint32_t o = intern_find(&b->files, name, (size_t)(at - name));
            if (o < p->place.n && (p->in_stamp.at[o] == stamp || p->out_stamp.at[o] == stamp)) {
                blueprint_add_text(b, from, (size_t)(name - from));
                array_push(&b->tokens,
                           (struct blueprint_token){.type = p->in_stamp.at[o] == stamp ? TOKEN_IN
                                                                                       : TOKEN_OUT,
                                                    .index = p->place.at[o]});
                from = at;
                body->is_verbatim = false;
                break;
            }
            const char *equals = memrchr(name, '=', (size_t)(at - name)); /* --input=a.pgm */
            if (!equals)
                break;
            name = equals + 1;
        }
        while (at < end && blueprint_separates(*at))
            at++;
    }
    blueprint_add_text(b, from, (size_t)(end - from));
}

/* A word that an alternative has in braces and nothing is called by. The workflow's own were looked at
 * when it was read. */
static bool blueprint_unknown_word(const struct blueprint *b, const struct body *body,
                                   const char *at, size_t length, struct error *err)
{
    struct strbuf why = {0};
    command_unknown(b->w, NULL, 0, at, length, &why);
    error_at(err, b->x->file, body->alternative ? body->alternative->line : 0, "task '%.100s': %s",
             workflow_task_name(b->w, body->task), why.at);
    strbuf_free(&why);
    return false;
}

/* Braces by the rules of commands (model/command.h), words between them by cut_words(). */
static bool cut_command(struct blueprint *b, struct body *body, const struct places *p,
                        uint32_t stamp, struct error *err)
{
    const char *at = body->command;
    if (body->is_call) { /* no command line: its braces mean nothing */
        blueprint_add_text(b, at, strlen(at));
        return true;
    }
    while (*at) {
        size_t plain = strcspn(at, "{}");
        cut_words(b, body, p, stamp, at, plain);
        at += plain;
        if (!*at)
            break;
        struct marking m = command_marking(b->w, body->command, at);
        struct blueprint_token token = {
            .index = m.index, .brace = *at, .items = m.items, .list = m.list};
        switch (m.mark) {
        case MARK_IN:
            token.type = TOKEN_IN;
            break;
        case MARK_OUT:
            token.type = TOKEN_OUT;
            break;
        case MARK_PARAMETER:
            token.type = TOKEN_PARAMETER;
            body->is_verbatim = false;
            break;
        case MARK_TASK:
        case MARK_KIND:
        case MARK_CORES:
        case MARK_MEMORY:
        case MARK_ATTEMPT:
            token = (struct blueprint_token){.type = TOKEN_WORD, .text = at, .length = m.length};
            body->has_words = true;
            break;
        case MARK_UNKNOWN:
            return blueprint_unknown_word(b, body, at, m.length, err);
        default: /* a brace, or the shell's: `${` stays as it is */
            token.type = TOKEN_BRACE;
        }
        array_push(&b->tokens, token);
        at += m.length ? m.length : 1;
    }
    return true;
}

/* In the order in which {in} counts; the edges' order where the workflow states none. */
static void read_as_in_workflow(struct blueprint *b, uint32_t t)
{
    const struct workflow *w = b->w;
    if (w->in_off) {
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            array_push(&b->reads, w->in_object[i]);
        return;
    }
    for (uint32_t i = w->input_off ? w->input_off[t] : 0; w->input_off && i < w->input_off[t + 1];
         i++)
        array_push(&b->reads, w->input_object[i]);
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE)
            array_push(&b->reads, w->pred_object[e]);
}

/* Each combination has files of its own, in folders of its own: those that the tasks of one make do not
 * come to lie in a folder that they were gathered from. */
static bool check_folders(const struct blueprint *b, uint32_t t, const struct body *body,
                          struct error *err)
{
    const struct workflow *w = b->w;
    uint32_t wrong = NONE;
    for (uint32_t i = body->read; i < body->reads_end && w->object_flags; i++)
        if (b->reads.at[i] < b->nobjects && workflow_object_is(w, b->reads.at[i], OBJECT_GATHERED))
            wrong = b->reads.at[i];
    for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
        if (workflow_object_is(w, o, OBJECT_INSIDE))
            wrong = o;
    if (wrong == NONE)
        return true;
    return error_at(
        err, workflow_text(w, w->file), w->line ? w->line[t] : 0,
        "task '%.100s': '%.200s' %s; in an experiment each combination has files of its "
        "own: name the files instead of the folder",
        workflow_task_name(w, t), blueprint_file(b, wrong),
        workflow_object_is(w, wrong, OBJECT_INSIDE) ? "lies in a folder that the task makes"
                                                    : "is a folder that tasks make files in");
}

static bool add_body(struct blueprint *b, struct places *p, uint32_t t, const struct alternative *a,
                     struct error *err)
{
    const struct workflow *w = b->w;
    struct body body = {.task = t, .alternative = a, .read = (uint32_t)b->reads.n};
    if (a && a->change.has_inputs) {
        b->may_prune = true;
        for (size_t i = 0; i < a->change.input.n; i++)
            array_push(&b->reads, blueprint_file_number(b, a->change.input.at[i]));
    } else {
        read_as_in_workflow(b, t);
    }
    body.reads_end = (uint32_t)b->reads.n;
    if (!check_folders(b, t, &body, err))
        return false;
    const char *command = w->command ? workflow_text(w, w->command[t]) : "";
    body.is_call = (w->flags[t] & TASK_CALL) != 0;
    if (a && a->change.command) {
        command = a->change.command;
        body.is_call = a->change.is_call;
    }
    body.command = command;
    body.is_verbatim = true;
    uint32_t stamp = (uint32_t)b->bodies.n + 1;
    places_grow(p, b->files.n);
    uint32_t nouts = w->object_end[t] - w->object_off[t];
    /* backwards, so that of equal names the first counts; inputs after outputs: a file that is both
     * is read */
    for (uint32_t k = nouts; k--;) {
        uint32_t o = blueprint_output(w, t, k);
        p->out_stamp.at[o] = stamp;
        p->place.at[o] = k;
    }
    for (uint32_t i = body.reads_end; i-- > body.read;) {
        p->in_stamp.at[b->reads.at[i]] = stamp;
        p->place.at[b->reads.at[i]] = i - body.read;
    }
    body.token = (uint32_t)b->tokens.n;
    if (!cut_command(b, &body, p, stamp, err))
        return false;
    body.tokens_end = (uint32_t)b->tokens.n;
    for (uint32_t i = body.token; i < body.tokens_end; i++) {
        const struct blueprint_token *k = &b->tokens.at[i];
        uint32_t count = k->type == TOKEN_IN ? body.reads_end - body.read : nouts;
        struct marking m = {.index = k->index, .items = k->items};
        struct marking_place place = marking_begin(&m, count);
        uint32_t file = 0;
        bool files = k->type == TOKEN_IN || k->type == TOKEN_OUT, beyond = false;
        while (files && !beyond && marking_next(&place, &file))
            beyond = file >= count;
        if (beyond)
            return error_at(err, a ? b->x->file : workflow_text(w, w->file),
                            a         ? a->line
                            : w->line ? w->line[t]
                                      : 0,
                            "task '%.100s': its command names {%s[%u]}, but it has %u %s%s",
                            workflow_task_name(w, t), k->type == TOKEN_IN ? "in" : "out", file,
                            count, k->type == TOKEN_IN ? "input" : "output", plural(count));
    }
    array_push(&b->bodies, body);
    return true;
}

/* First those of the workflow, numbered as its tasks; then one an alternative, in order. */
static bool add_bodies(struct blueprint *b, struct error *err)
{
    const struct experiment *x = b->x;
    struct places p = {0};
    bool good = true;
    for (uint32_t t = 0; t < b->w->ntasks && good; t++)
        good = add_body(b, &p, t, NULL, err);
    for (size_t s = 0; s < x->substitutions.n && good; s++) {
        const struct substitution *sub = &x->substitutions.at[s];
        b->first_body[s] = (uint32_t)b->bodies.n;
        for (size_t i = 0; i < sub->by.n && good && sub->target == SUBSTITUTE_TASK; i++)
            good = add_body(b, &p, b->target[s], &sub->by.at[i], err);
    }
    array_free(&p.in_stamp);
    array_free(&p.out_stamp);
    array_free(&p.place);
    return good;
}

/* ---- who is touched, who comes after whom ---- */

/* From task, file and parameter to the substitution that replaces it; NONE: none does. */
static void index_substitutions(struct blueprint *b)
{
    const struct experiment *x = b->x;
    b->data_substitution = mem_new(uint32_t, b->files.n);
    b->parameter_substitution = mem_new(uint32_t, b->w->nparameters);
    for (uint32_t o = 0; o < b->files.n; o++)
        b->data_substitution[o] = NONE;
    for (uint32_t i = 0; i < b->w->nparameters; i++)
        b->parameter_substitution[i] = NONE;
    b->task_substitution = mem_new(uint32_t, b->w->ntasks);
    for (uint32_t t = 0; t < b->w->ntasks; t++)
        b->task_substitution[t] = NONE;
    uint32_t *const columns[] = {[SUBSTITUTE_DATA] = b->data_substitution,
                                 [SUBSTITUTE_TASK] = b->task_substitution,
                                 [SUBSTITUTE_PARAMETER] = b->parameter_substitution};
    for (size_t s = 0; s < x->substitutions.n; s++)
        if (b->target[s] != NONE) /* else the workflow was read with its value */
            columns[x->substitutions.at[s].target][b->target[s]] = (uint32_t)s;
}

struct blueprint_link {
    uint32_t from, to;
};
typedef ARRAY(struct blueprint_link) links;

/* Links grouped by their first end. */
static uint32_t *blueprint_group(const links *all, uint32_t groups, uint32_t **to)
{
    uint32_t *off = mem_new_zero(uint32_t, (size_t)groups + 2);
    *to = mem_new(uint32_t, all->n);
    for (size_t i = 0; i < all->n; i++)
        off[all->at[i].from + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        off[g + 2] += off[g + 1];
    for (size_t i = 0; i < all->n; i++)
        (*to)[off[all->at[i].from + 1]++] = all->at[i].to;
    return off;
}

/* Files that alternatives bring in have no producer. */
static void blueprint_add_producer(const struct blueprint *b, links *preds, uint32_t task,
                                   uint32_t object)
{
    if (object < b->nobjects && b->w->producer[object] != NONE)
        array_push(preds, (struct blueprint_link){task, b->w->producer[object]});
}

/* Who is touched by which substitution, and who may come before whom in any combination. */
static void link_tasks(struct blueprint *b)
{
    const struct experiment *x = b->x;
    const struct workflow *w = b->w;
    links touches = {0}, preds = {0};
    for (size_t i = 0; i < b->bodies.n; i++) {
        const struct body *body = &b->bodies.at[i];
        for (uint32_t k = body->read; k < body->reads_end; k++) {
            uint32_t o = b->reads.at[k], s = b->data_substitution[o];
            blueprint_add_producer(b, &preds, body->task, o);
            if (s == NONE)
                continue;
            array_push(&touches, (struct blueprint_link){s, body->task});
            for (size_t j = 0; j < x->substitutions.at[s].by.n; j++)
                blueprint_add_producer(b, &preds, body->task,
                                       b->objects.at[b->first_object[s] + j]);
        }
        for (uint32_t k = body->token; k < body->tokens_end; k++)
            if (b->tokens.at[k].type == TOKEN_PARAMETER &&
                b->parameter_substitution[b->tokens.at[k].index] != NONE)
                array_push(&touches,
                           (struct blueprint_link){b->parameter_substitution[b->tokens.at[k].index],
                                                   body->task});
    }
    for (size_t s = 0; s < x->substitutions.n; s++)
        if (x->substitutions.at[s].target == SUBSTITUTE_TASK)
            array_push(&touches, (struct blueprint_link){(uint32_t)s, b->target[s]});
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] == NONE)
                array_push(&preds, (struct blueprint_link){t, w->pred_task[e]});
    b->touch_off = blueprint_group(&touches, (uint32_t)x->substitutions.n, &b->touched);
    b->pred_off = blueprint_group(&preds, w->ntasks, &b->pred);
    array_free(&touches);
    array_free(&preds);
}

/* One order for every combination: of the graph that has the edges of all of them. */
static bool find_order(struct blueprint *b, struct error *err)
{
    uint32_t n = b->w->ntasks, head = 0, tail = 0;
    links succs = {0};
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t e = b->pred_off[t]; e < b->pred_off[t + 1]; e++)
            array_push(&succs, (struct blueprint_link){b->pred[e], t});
    uint32_t *to, *off = blueprint_group(&succs, n, &to), *left = mem_new(uint32_t, n);
    array_free(&succs);
    b->order = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++)
        if (!(left[t] = b->pred_off[t + 1] - b->pred_off[t]))
            b->order[tail++] = t;
    for (; head < tail; head++)
        for (uint32_t e = off[b->order[head]]; e < off[b->order[head] + 1]; e++)
            if (!--left[to[e]])
                b->order[tail++] = to[e];
    bool good = tail == n;
    for (uint32_t t = 0; t < n && !good; t++)
        if (left[t]) {
            error_at(err, b->x->file, 0,
                     "with these substitutions task '%.100s' would wait for itself: an alternative "
                     "reads what is made from its own task's output",
                     workflow_task_name(b->w, t));
            break;
        }
    free(left);
    free(off);
    free(to);
    return good;
}

/* Tasks with an output that nobody reads, or without outputs: what an experiment is for. */
static void find_leaves(struct blueprint *b)
{
    const struct workflow *w = b->w;
    b->leaf = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool leaf = w->object_off[t] == w->object_end[t];
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
            leaf |= w->object_edge[o] == NONE;
        if (leaf)
            b->leaf[b->nleaves++] = t;
    }
}

bool blueprint_make(struct blueprint *b, const struct experiment *x, const struct workflow *w,
                    struct error *err)
{
    memset(b, 0, sizeof *b);
    b->x = x;
    b->w = w;
    name_objects(b);
    if (!find_targets(b, err) || !add_bodies(b, err))
        return false;
    index_substitutions(b);
    link_tasks(b);
    find_leaves(b);
    return find_order(b, err);
}

void blueprint_free(struct blueprint *b)
{
    void *columns[] = {b->output,       b->first_body,
                       b->first_object, b->target,
                       b->touch_off,    b->data_substitution,
                       b->touched,      b->task_substitution,
                       b->pred_off,     b->parameter_substitution,
                       b->pred,         b->order,
                       b->leaf};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        free(columns[i]);
    intern_free(&b->files);
    array_free(&b->bodies);
    array_free(&b->tokens);
    array_free(&b->reads);
    array_free(&b->objects);
}
