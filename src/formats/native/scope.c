/* Scopes: what the words in braces of one task stand for. See family.h.
 *
 * Cost: a text without a brace is passed on as it is; one that is cut into pieces (scope_template) costs
 * their copies. A gathered name costs its combinations: groups of rows are made once (lists_group()), so that
 * grouping n rows by k values costs O(n), not O(n k). */
#include "formats/native/family.h"
#include "base/suggest.h"
#include "model/command.h"

#include <stdio.h>
#include <string.h>

void scope_init(struct variable_scope *s, struct lists *lists)
{
    s->lists = lists;
    s->row = mem_new(uint32_t, lists->at.n);
    s->bound = mem_new_zero(column_set, lists->at.n);
    for (size_t i = 0; i < lists->at.n; i++)
        s->row[i] = UINT32_MAX;
}

void scope_free(struct variable_scope *s)
{
    free(s->row);
    free(s->bound);
    array_free(&s->parameters);
    strbuf_free(&s->text);
    *s = (struct variable_scope){0};
}

/* ---- words ---- */

/* The name between the braces at `p`; 0: this brace is none of ours. `${name}` is the shell's. */
static size_t word_at(const char *text, const char *p)
{
    size_t n = strcspn(p + 1, "{}");
    return command_behind_dollar(text, p) || p[1 + n] != '}' || !command_is_name(p + 1, n) ? 0 : n;
}

size_t scope_next_word(const char *text, const char **p)
{
    for (const char *at = strchr(*p, '{'); at; at = strchr(at + 1, '{')) {
        size_t n = at[1] == '{' ? 0 : word_at(text, at);
        if (n) {
            *p = at + 1;
            return n;
        }
        at += at[1] == '{';
    }
    return 0;
}

static bool is_bound(const struct variable_scope *s, const struct variable *v)
{
    return s->bound[v->list] >> v->column & 1;
}

/* Always false: what the word could have been. */
static bool unknown_word(const struct variable_scope *s, const struct native *n, yaml_ref at,
                         const char *what, const char *word, size_t length)
{
    const char **names = mem_new(const char *, s->lists->variables.n + s->parameters.n + 1);
    char copy[120];
    size_t count = 0;
    for (size_t i = 0; i < s->lists->variables.n; i++)
        names[count++] = lists_name(s->lists, s->lists->variables.at[i].name);
    for (size_t i = 0; i < s->parameters.n; i++)
        names[count++] = s->parameters.at[i].name;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 100 ? length : 100), word);
    const char *near = suggest_nearest(copy, names, count);
    native_error(n, at,
                 "%s: {%s} is no variable and no parameter%s%s%s {{%s}} if the braces belong to "
                 "the name",
                 what, copy, near ? "; did you mean {" : "", near ? near : "",
                 near ? "}? Write" : "; `lists:` makes variables; write", copy);
    free(names);
    return false;
}

static struct scope_parameter *find_parameter(const struct variable_scope *s, const char *word,
                                              size_t length)
{
    for (size_t i = 0; i < s->parameters.n; i++) {
        struct scope_parameter *p = &s->parameters.at[i];
        if (strncmp(p->name, word, length) == 0 && !p->name[length])
            return p;
    }
    return NULL;
}

void scope_fix_parameters(struct variable_scope *s, const char *text)
{
    const char *p = text;
    for (size_t n; (n = scope_next_word(text, &p)) > 0; p += n) {
        struct scope_parameter *x = find_parameter(s, p, n);
        if (x)
            x->fixed = true;
    }
}

bool scope_is_outside(const struct variable_scope *s, const char *text)
{
    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
        size_t word = p[1] == '{' ? 0 : word_at(text, p);
        uint32_t v = word ? lists_find_variable(s->lists, p + 1, word) : UINT32_MAX;
        const struct scope_parameter *x = word ? find_parameter(s, p + 1, word) : NULL;
        if ((v != UINT32_MAX && s->lists->at.at[s->lists->variables.at[v].list].outside) ||
            (x && x->outside))
            return true;
        p += p[1] == '{';
    }
    return false;
}

static bool is_round(const struct variable_scope *s, const char *word, size_t length)
{
    return s->round && length == 5 && memcmp(word, "round", 5) == 0;
}

/* What stands for a word that is no variable; NULL: nothing does. */
static const char *other_value(const struct variable_scope *s, const char *word, size_t length)
{
    if (s->task && length == 4 && memcmp(word, "task", 4) == 0)
        return s->task;
    if (s->kind && length == 4 && memcmp(word, "kind", 4) == 0)
        return s->kind;
    if (is_round(s, word, length))
        return s->round;
    const struct scope_parameter *p = find_parameter(s, word, length);
    return p ? p->value : NULL;
}

/* ---- filling in ---- */

/* Everything is bound. */
static void fill_bound(struct variable_scope *s, const char *text, size_t length,
                       struct strbuf *out)
{
    const char *end = text + length;
    strbuf_clear(out);
    for (const char *p = text; p < end;) {
        size_t plain = strcspn(p, "{}"), word;
        strbuf_add_bytes(out, p, plain);
        p += plain;
        if (p >= end)
            break;
        if (p[1] == *p) {
            strbuf_add_char(out, *p);
            p += 2;
        } else if (*p == '{' && (word = word_at(text, p)) > 0) {
            uint32_t v = lists_find_variable(s->lists, p + 1, word);
            strbuf_add(out, v != UINT32_MAX ? scope_bound_value(s, &s->lists->variables.at[v])
                                            : other_value(s, p + 1, word));
            p += word + 2;
        } else {
            strbuf_add_char(out, *p++);
        }
    }
    strbuf_add(out, "");
}

/* A value in a command: of what comes from outside the file, one word; braces stay braces. */
static void add_command_value(struct strbuf *out, const char *value, bool outside)
{
    struct strbuf word = {0};
    if (!value[strcspn(value, "{}")]) { /* nothing to double: at once */
        if (outside)
            command_add_quoted(out, value);
        else
            strbuf_add(out, value);
        return;
    }
    if (outside)
        command_add_quoted(&word, value);
    else
        strbuf_add(&word, value);
    command_add_doubled(out, strbuf_text(&word));
    strbuf_free(&word);
}

/* ---- texts that were cut before ---- */

/* A word at `p` that is a variable of a list, and cannot be anything else; UINT32_MAX: it is not. */
static uint32_t only_variable(const struct variable_scope *s, const char *p, size_t word)
{
    uint32_t v = word ? lists_find_variable(s->lists, p + 1, word) : UINT32_MAX;
    return v == UINT32_MAX || find_parameter(s, p + 1, word) ? UINT32_MAX : v;
}

/* Does a word in a command stand for itself here? The model knows what it means. */
static bool is_left_alone(const struct variable_scope *s, const char *p, size_t word)
{
    bool round = word == 5 && memcmp(p + 1, "round", 5) == 0;
    return !word || (!round && !s->closed && !find_parameter(s, p + 1, word) &&
                     lists_find_variable(s->lists, p + 1, word) == UINT32_MAX);
}

/* What is not simple is filled in word by word each time. */
static void template_cut(const struct variable_scope *s, size_t length, struct scope_template *t)
{
    const char *text = t->text, *start = text, *p = text;
    t->simple = memchr(text, '}', length) != NULL; /* scope_concerns() saw a brace */
    t->n = 0;
    while (t->simple && p < text + length) {
        p += strcspn(p, t->command ? "{" : "{}");
        if (p >= text + length)
            break;
        size_t word = p[1] == '{' || *p == '}' ? 0 : word_at(text, p);
        uint32_t v = only_variable(s, p, word);
        if (v == UINT32_MAX && t->command && is_left_alone(s, p, word)) {
            p += p[1] == '{' ? 2 : 1;
            continue;
        }
        t->simple = v != UINT32_MAX && t->n + 1 < TEMPLATE_PIECES;
        if (t->simple)
            t->piece[t->n++] =
                (struct template_piece){(uint32_t)(start - text), (uint32_t)(p - start), v};
        start = p += word + 2;
    }
    if (t->simple)
        t->piece[t->n++] = (struct template_piece){(uint32_t)(start - text),
                                                   (uint32_t)(text + length - start), UINT32_MAX};
}

/* NULL: it is not simple, or not all of it is bound. */
static const struct scope_template *template_of(struct variable_scope *s, const char *text,
                                                size_t length, bool command)
{
    uint32_t slot = (uint32_t)((uintptr_t)text * 0x9E3779B97F4A7C15u >> 60);
    struct scope_template *t = &s->templates[slot];
    if (t->text != text || t->command != command || t->variables != s->lists->variables.n) {
        t->text = text;
        t->command = command;
        t->variables = (uint32_t)s->lists->variables.n;
        t->simple = false;
        if (length < UINT32_MAX)
            template_cut(s, length, t);
    }
    for (uint32_t i = 0; t->simple && i + 1 < t->n; i++)
        if (!is_bound(s, &s->lists->variables.at[t->piece[i].variable]))
            return NULL;
    return t->simple ? t : NULL;
}

/* One look at the room for a piece and its value: a million members have some four texts each. */
static void template_fill(struct variable_scope *s, const struct scope_template *t)
{
    struct strbuf *out = &s->text;
    out->n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct template_piece *x = &t->piece[i];
        const struct variable *v =
            x->variable == UINT32_MAX ? NULL : &s->lists->variables.at[x->variable];
        const char *value = v ? scope_bound_value(s, v) : "";
        size_t length = strlen(value);
        strbuf_reserve(out, x->length + length);
        memcpy(out->at + out->n, t->text + x->first, x->length);
        out->n += x->length;
        if (v && t->command) {
            add_command_value(out, value, s->lists->at.at[v->list].outside);
            continue;
        }
        memcpy(out->at + out->n, value, length);
        out->n += length;
    }
    strbuf_add(out, "");
}

enum { GATHERED = 8 }; /* lists in one text: nobody has written more than four */

/* A list whose columns `free` a text runs through. */
struct gathered_list {
    uint32_t list, row; /* row: as it was bound before */
    column_set bound, free;
    uint32_t grouping, at, end; /* places in its rows */
};

struct gathering {
    struct gathered_list list[GATHERED];
    int n;
};

/* Which variables of the text are free, by list; every word is known. */
static bool find_free(struct variable_scope *s, const struct native *n, yaml_ref at,
                      const char *what, const char *text, struct gathering *g)
{
    for (const char *p = strchr(text, '{'); p; p = strchr(p, '{')) {
        size_t word = p[1] == '{' ? 0 : word_at(text, p);
        if (!word) {
            p += 1 + (p[1] == '{');
            continue;
        }
        uint32_t v = lists_find_variable(s->lists, p + 1, word);
        if (v == UINT32_MAX) {
            if (!other_value(s, p + 1, word))
                return unknown_word(s, n, at, what, p + 1, word);
        } else if (!is_bound(s, &s->lists->variables.at[v])) {
            const struct variable *x = &s->lists->variables.at[v];
            int i = 0;
            while (i < g->n && g->list[i].list != x->list)
                i++;
            if (i == GATHERED)
                return native_error(n, at, "%s: variables of more than %d lists run free", what,
                                    GATHERED);
            if (i == g->n)
                g->list[g->n++] = (struct gathered_list){
                    .list = x->list, .row = s->row[x->list], .bound = s->bound[x->list]};
            g->list[i].free |= (column_set)1 << x->column;
        }
        p += word + 2;
    }
    return true;
}

/* Always false: the first free variable of a text that may have none. */
static bool free_variable(const struct variable_scope *s, const struct native *n, yaml_ref at,
                          const char *what, const struct gathering *g)
{
    const struct list *x = &s->lists->at.at[g->list[0].list];
    uint32_t column = (uint32_t)__builtin_ctzll(g->list[0].free);
    const char *name = lists_name(s->lists, s->lists->variables.at[x->first + column].name);
    return native_error(n, at,
                        "%s: which {%s}? Only in names of inputs and in `after` it stands for all "
                        "its values; `each: %s` makes a task for each of them",
                        what, name, name);
}

const char *scope_value(const struct variable_scope *s, const struct native *n, yaml_ref at,
                        const char *what, const char *word, size_t length)
{
    uint32_t v = lists_find_variable(s->lists, word, length);
    const struct variable *x = v == UINT32_MAX ? NULL : &s->lists->variables.at[v];
    const char *value = x ? NULL : other_value(s, word, length);
    if (x && is_bound(s, x))
        return scope_bound_value(s, x);
    if (x) {
        struct gathering g = {.n = 1, .list = {{.list = x->list}}};
        g.list[0].free = (column_set)1 << x->column;
        free_variable(s, n, at, what, &g);
    } else if (!value) {
        unknown_word(s, n, at, what, word, length);
    }
    return value;
}

/* Gathering. A text with free variables stands for a name a combination of their values. What is bound
 * already (by the task's `each`) chooses the rows: with {sample} bound to A and {lane} free,
 *
 *     row  sample lane
 *       0    A     1    ┐ group of A: the names of "reads/{sample}_{lane}.fq"
 *       2    A     2    ┘ are reads/A_1.fq and reads/A_2.fq
 *
 * Free variables of several lists turn like the digits of a counter. */

/* Sets the list to the first row of its group, and counts its free columns as bound. */
static void gather_begin(struct variable_scope *s, struct gathered_list *x)
{
    x->grouping = lists_group(s->lists, x->list, x->bound, x->free);
    const struct grouping *g = &s->lists->groupings.at[x->grouping];
    uint32_t group = x->row == UINT32_MAX ? 0 : g->group_of[x->row];
    x->at = g->off[group];
    x->end = g->off[group + 1];
    s->row[x->list] = g->row[x->at];
    s->bound[x->list] = x->bound | x->free;
}

/* The next combination, the last list turning fastest. False: that was the last. */
static bool gather_next(struct variable_scope *s, struct gathering *g)
{
    for (int i = g->n; i--;) {
        struct gathered_list *x = &g->list[i];
        const struct grouping *rows = &s->lists->groupings.at[x->grouping];
        if (++x->at < x->end) {
            s->row[x->list] = rows->row[x->at];
            return true;
        }
        x->at = rows->off[x->row == UINT32_MAX ? 0 : rows->group_of[x->row]];
        s->row[x->list] = rows->row[x->at];
    }
    return false;
}

/* As it was before. */
static void release_gathered(struct variable_scope *s, const struct gathering *g)
{
    for (int i = 0; i < g->n; i++) {
        s->row[g->list[i].list] = g->list[i].row;
        s->bound[g->list[i].list] = g->list[i].bound;
    }
}

/* Names that one text stands for, and all texts together: more do not fit into memories. */
enum { GATHER_MOST = 1 << 24, GATHERED_IN_ALL = 1 << 30 };

bool scope_fill(struct variable_scope *s, const struct native *n, yaml_ref at, const char *what,
                bool gather, scope_use use, void *context)
{
    size_t length;
    const char *text = yaml_text(&n->y, at, &length);
    if (!scope_concerns(text, length))
        return use(context, text, length);
    const struct scope_template *t = template_of(s, text, length, false);
    if (t) {
        template_fill(s, t);
        return use(context, s->text.at, s->text.n);
    }
    struct gathering g = {.n = 0};
    if (!find_free(s, n, at, what, text, &g))
        return false;
    if (g.n && !gather)
        return free_variable(s, n, at, what, &g);
    for (int i = 0; i < g.n; i++)
        gather_begin(s, &g.list[i]);
    uint64_t names =
        1; /* at most GATHERED factors of LIST_VALUES_MOST: the second passes the limit */
    for (int i = 0; i < g.n && names <= GATHER_MOST; i++)
        names *= g.list[i].end - g.list[i].at;
    s->gathered += g.n ? names : 0;
    if (names > GATHER_MOST || s->gathered > GATHERED_IN_ALL) {
        release_gathered(s, &g);
        return names > GATHER_MOST
                   ? native_error(n, at, "%s stands for more than %d names", what, GATHER_MOST)
                   : native_error(n, at, "the file gathers more than %d names in all",
                                  GATHERED_IN_ALL);
    }
    bool good;
    s->gathers = g.n > 0;
    t = template_of(s, text, length, false); /* it is bound now */
    do {
        if (t)
            template_fill(s, t);
        else
            fill_bound(s, text, length, &s->text);
        good = use(context, s->text.at, s->text.n);
    } while (good && g.n && gather_next(s, &g));
    s->gathers = false;
    release_gathered(s, &g);
    return good;
}

/* Words that mean something in every command. */
static bool is_built_in(const char *word, size_t length)
{
    for (int i = 0; i < COMMAND_WORDS; i++)
        if (strncmp(command_built_in[i], word, length) == 0 && !command_built_in[i][length])
            return true;
    return false;
}

/* `quoted`: data from outside is one word of a shell. */
static bool fill_template(struct variable_scope *s, const struct native *n, yaml_ref at,
                          const char *what, const char *text, size_t length, bool quoted)
{
    const char *end = text + length;
    const struct scope_template *t =
        quoted && text == yaml_text(&n->y, at, NULL) ? template_of(s, text, length, true) : NULL;
    if (t) {
        template_fill(s, t);
        return true;
    }
    strbuf_clear(&s->text);
    for (const char *p = text; p < end;) {
        size_t plain = strcspn(p, "{"), word;
        strbuf_add_bytes(&s->text, p, plain);
        p += plain;
        if (p >= end)
            break;
        word = p[1] == '{' ? 0 : word_at(text, p);
        uint32_t v = word ? lists_find_variable(s->lists, p + 1, word) : UINT32_MAX;
        const struct scope_parameter *fixed = word ? find_parameter(s, p + 1, word) : NULL;
        if (fixed && fixed->fixed) {
            add_command_value(&s->text, fixed->value, quoted && fixed->outside);
            p += word + 2;
            continue;
        }
        if (word && v == UINT32_MAX && is_round(s, p + 1, word)) {
            strbuf_add(&s->text, s->round);
            p += word + 2;
            continue;
        }
        if (v == UINT32_MAX && word && s->closed && !is_built_in(p + 1, word))
            return unknown_word(s, n, at, what, p + 1, word);
        if (v == UINT32_MAX) { /* the model knows what it means */
            size_t skip = p[1] == '{' ? 2 : 1;
            strbuf_add_bytes(&s->text, p, skip);
            p += skip;
            continue;
        }
        const struct variable *x = &s->lists->variables.at[v];
        if (!is_bound(s, x)) {
            struct gathering g = {.n = 1, .list = {{.list = x->list}}};
            g.list[0].free = (column_set)1 << x->column;
            return free_variable(s, n, at, what, &g);
        }
        add_command_value(&s->text, scope_bound_value(s, x),
                          quoted && s->lists->at.at[x->list].outside);
        p += word + 2;
    }
    strbuf_add(&s->text, "");
    return true;
}

bool scope_fill_command(struct variable_scope *s, const struct native *n, yaml_ref at,
                        const char *text, size_t length)
{
    return fill_template(s, n, at, "run", text, length, true);
}

bool scope_fill_value(struct variable_scope *s, const struct native *n, yaml_ref at,
                      const char *what, const char *text, size_t length)
{
    return fill_template(s, n, at, what, text, length, false);
}
