/* Two runs side by side, with their commands as they ran.
 *
 * Two graphs of 10,000 tasks take 0.1 s to read. Of most tasks nothing needs to be read: their lines are
 * the same in both texts, and use no parameter that differs. Of the others only name, command and files
 * are wanted, and what weft's writer writes in one line of a plain form is taken from there:
 *
 *     NAME:
 *       run: sort {in} > {out}
 *       in: [a.txt, {name: b.txt, size: 7}]
 *       out:
 *         - c.txt
 *
 * Where one of them stands otherwise (an escape, a block of lines) the reader of workflows reads them all,
 * and where the whole text is laid out otherwise, all of it. */
#include "base/pool.h"
#include "base/mem.h"
#include "history/changes.h"
#include "model/builder.h"
#include "model/command.h"
#include "session/recorded.h"
#include "session/recorded_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TASKS "\ntasks:\n"

/* Bytes of the text. */
struct compare_part {
    const char *at;
    size_t n;
};

struct compare_task {
    struct compare_part name, body;
    bool in_both, wanted;
};

struct compare_side {
    char *text;
    size_t n;
    const char *tasks;      /* where the line is */
    struct workflow *given; /* a graph with its parameters */
    ARRAY(struct compare_task) task;
};

/* ---- a text in its parts ---- */

/* A word that every YAML reader takes as it stands, wherever it stands. */
static bool compare_is_word(struct compare_part p)
{
    bool good = p.n > 0 && (isalnum((unsigned char)*p.at) || strchr("_./", *p.at));
    for (size_t i = 0; good && i < p.n; i++)
        good = isalnum((unsigned char)p.at[i]) || (p.at[i] && strchr("_./-+=@%", p.at[i]));
    return good;
}

static struct compare_part compare_line(const char *at)
{
    return (struct compare_part){at, strcspn(at, "\n")};
}

static bool compare_ends(struct compare_part p, const char *end)
{
    size_t n = strlen(end);
    return p.n >= n && memcmp(p.at + p.n - n, end, n) == 0;
}

/* False: it is laid out otherwise. */
static bool compare_split(struct compare_side *s)
{
    s->tasks = strstr(s->text, TASKS);
    if (!s->tasks)
        return false;
    const char *at = s->tasks + strlen(TASKS);
    while (strncmp(at, "  ", 2) == 0 && at[2] != ' ' && at[2] != '?') {
        struct compare_part line = compare_line(at);
        size_t colon = compare_ends(line, ": {}") ? 4 : compare_ends(line, ":") ? 1 : 0;
        if (!colon || !at[line.n])
            return false;
        struct compare_task t = {.name = {at + 2, line.n - 2 - colon},
                                 .body = {at + line.n + 1, 0}};
        at = recorded_block_end(t.body.at, 2);
        t.body.n = (size_t)(at - t.body.at);
        array_push(&s->task, t);
    }
    return *at == 0;
}

/* The parameters alone, read as the whole would be. */
static bool compare_read_given(struct compare_side *s)
{
    struct strbuf head = {0};
    recorded_add_head(s->text, s->tasks, &head);
    strbuf_add(&head, "  none: {}\n");
    s->given = recorded_read(head.at, head.n);
    strbuf_free(&head);
    return s->given != NULL;
}

/* ---- which tasks need to be read ---- */

static const char *compare_value(const struct workflow *w, const char *name)
{
    for (uint32_t i = 0; i < w->nparameters; i++)
        if (strcmp(workflow_text(w, w->parameter_name[i]), name) == 0)
            return workflow_text(w, w->parameter_value[i]);
    return NULL;
}

/* Marks, as "{sigma}", of parameters of `a` that `b` has not, or with another value. False: one that a text
 * may have in another spelling. */
static bool compare_add_marks(const struct workflow *a, const struct workflow *b,
                              struct intern *marks)
{
    bool good = true;
    struct strbuf mark = {0};
    for (uint32_t i = 0; i < a->nparameters; i++) {
        const char *name = workflow_text(a, a->parameter_name[i]);
        const char *value = workflow_text(a, a->parameter_value[i]);
        const char *other = compare_value(b, name);
        if (other && strcmp(other, value) == 0)
            continue;
        good &= compare_is_word((struct compare_part){name, strlen(name)});
        strbuf_clear(&mark);
        strbuf_printf(&mark, "{%s}", name);
        intern_number(marks, mark.at, mark.n);
    }
    strbuf_free(&mark);
    return good;
}

static bool compare_has_mark(struct compare_part body, const struct intern *marks)
{
    for (uint32_t i = 0; i < marks->n; i++) {
        const char *mark = intern_text(marks, i);
        if (memmem(body.at, body.n, mark, strlen(mark)))
            return true;
    }
    return false;
}

/* Tasks of one graph alone are not compared. False: this one may be in the other in another spelling. */
static bool compare_is_alone(const struct compare_side *s)
{
    for (size_t i = 0; i < s->task.n; i++)
        if (!s->task.at[i].in_both && !compare_is_word(s->task.at[i].name))
            return false;
    return true;
}

/* Those that are in both, and whose lines differ or have a mark. */
static bool compare_want(struct compare_side *a, struct compare_side *b, const struct intern *marks)
{
    struct intern names;
    intern_init(&names);
    for (size_t i = 0; i < b->task.n; i++)
        intern_number(&names, b->task.at[i].name.at, b->task.at[i].name.n);
    bool good = names.n == b->task.n; /* else one stands there twice */
    for (size_t i = 0; good && i < a->task.n; i++) {
        struct compare_task *t = &a->task.at[i];
        uint32_t other = intern_find(&names, t->name.at, t->name.n);
        if (other == UINT32_MAX)
            continue;
        struct compare_task *u = &b->task.at[other];
        t->in_both = u->in_both = true;
        t->wanted = u->wanted = t->body.n != u->body.n ||
                                memcmp(t->body.at, u->body.at, t->body.n) != 0 ||
                                compare_has_mark(t->body, marks);
    }
    intern_free(&names);
    return good && compare_is_alone(a) && compare_is_alone(b);
}

/* ---- tasks that are wanted ---- */

/* A name, or {name: NAME, ...}; `rest` is what follows. False: it stands otherwise. */
static bool compare_item(struct compare_part text, struct compare_part *name, size_t *rest)
{
    static const char entry[] = "{name: ";
    bool sized = text.n > strlen(entry) && memcmp(text.at, entry, strlen(entry)) == 0;
    size_t from = sized ? strlen(entry) : 0, end = from;
    while (end < text.n && !strchr(",]}", text.at[end]))
        end++;
    *name = (struct compare_part){text.at + from, end - from};
    while (sized && end < text.n && text.at[end] != '}')
        end++;
    *rest = end + sized;
    return compare_is_word(*name) && *rest <= text.n;
}

static void compare_add_file(struct builder *b, uint32_t task, struct compare_part name, bool out)
{
    uint32_t o = builder_object(b, name.at, name.n);
    if (out)
        builder_produces(b, task, o, 0);
    else
        builder_consumes(b, task, o, 0);
}

/* [a, b] */
static bool compare_row(struct builder *b, uint32_t task, struct compare_part row, bool out)
{
    size_t at = 1, rest;
    if (row.n < 2 || row.at[0] != '[' || row.at[row.n - 1] != ']')
        return false;
    for (;; at += rest + 2) {
        struct compare_part name;
        if (!compare_item((struct compare_part){row.at + at, row.n - at}, &name, &rest))
            return false;
        compare_add_file(b, task, name, out);
        if (at + rest == row.n - 1)
            return true;
        if (memcmp(row.at + at + rest, ", ", 2) != 0)
            return false;
    }
}

/* A line for each: "      - a". Where they end; NULL: one stands otherwise. */
static const char *compare_rows(struct builder *b, uint32_t task, const char *at, const char *end,
                                bool out)
{
    static const char dash[] = "      - ";
    while (at < end && strncmp(at, dash, strlen(dash)) == 0) {
        struct compare_part line = compare_line(at), name;
        size_t rest;
        line.at += strlen(dash);
        line.n -= strlen(dash);
        if (!compare_item(line, &name, &rest) || rest != line.n)
            return NULL;
        compare_add_file(b, task, name, out);
        at = line.at + line.n + 1;
    }
    return at;
}

/* What stands between double quotes, with \" and \\ at most. */
static bool compare_unescape(struct compare_part text, struct strbuf *out)
{
    bool good = true;
    for (size_t i = 0; good && i < text.n; i++) {
        bool escape = text.at[i] == '\\';
        i += escape;
        good = i < text.n && (text.at[i] == '"' || text.at[i] == '\\') == escape;
        strbuf_add_char(out, text.at[i]);
    }
    return good;
}

/* {kind} and its like: not told by these lines alone. */
static bool compare_needs_more(struct compare_part command)
{
    static const char *const words[] = {"{kind", "{cores", "{memory"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(command.at, command.n, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Plain, or between quotes; single ones with none inside. */
static bool compare_command(struct builder *b, uint32_t task, struct compare_part text)
{
    struct strbuf command = {0};
    char quote = text.n >= 2 && strchr("'\"", *text.at) ? *text.at : 0;
    bool good = quote ? text.at[text.n - 1] == quote
                      : text.n && (isalnum((unsigned char)*text.at) || strchr("_./", *text.at));
    if (quote)
        text = (struct compare_part){text.at + 1, text.n - 2};
    if (good && quote == '\'')
        good = !memchr(text.at, quote, text.n);
    if (good && quote == '"') {
        good = compare_unescape(text, &command);
        text = (struct compare_part){strbuf_text(&command), command.n};
    }
    good = good && text.n && !compare_needs_more(text);
    if (good)
        builder_command(b, task, text.at, text.n);
    strbuf_free(&command);
    return good;
}

static bool compare_add_task(struct builder *b, const struct compare_task *t)
{
    if (!compare_is_word(t->name))
        return false;
    uint32_t task = builder_task(b, t->name.at, t->name.n, 0);
    const char *at = t->body.at, *end = at + t->body.n;
    while (at < end) {
        struct compare_part line = compare_line(at);
        const char *next = at + line.n + 1;
        bool out = strncmp(at, "    out:", 8) == 0, in = strncmp(at, "    in:", 7) == 0;
        size_t key = out ? 8 : 7;
        if (strncmp(at, "    run: ", 9) == 0) {
            if (!compare_command(b, task, (struct compare_part){at + 9, line.n - 9}))
                return false;
        } else if (strncmp(at, "    call:", 9) == 0 || strncmp(at, "    ? ", 6) == 0) {
            return false;
        } else if ((in || out) && line.n == key) {
            next = compare_rows(b, task, next, end, out);
        } else if (in || out) {
            if (!compare_row(b, task, (struct compare_part){at + key + 1, line.n - key - 1}, out))
                return false;
        } else {
            next = recorded_block_end(next, 4); /* after, environment: nothing of the command */
        }
        if (!next || (next < end && strncmp(next, "     ", 5) == 0))
            return false; /* it goes on in the next line */
        at = next;
    }
    return true;
}

/* NULL: one of them stands otherwise. */
static struct workflow *compare_build(const struct compare_side *s)
{
    struct builder *b = builder_new("history", "native");
    const struct workflow *w = s->given;
    bool good = true;
    for (uint32_t i = 0; i < w->nparameters; i++)
        builder_parameter(b, workflow_text(w, w->parameter_name[i]),
                          workflow_text(w, w->parameter_value[i]));
    for (size_t i = 0; good && i < s->task.n; i++)
        good = !s->task.at[i].wanted || compare_add_task(b, &s->task.at[i]);
    if (good)
        return builder_finish(b, NULL);
    builder_free(b);
    return NULL;
}

/* The lines of those that are wanted, by the reader of workflows. */
static struct workflow *compare_read_part(const struct compare_side *s)
{
    struct strbuf part = {0};
    recorded_add_head(s->text, s->tasks, &part);
    for (size_t i = 0; i < s->task.n; i++) {
        const struct compare_task *t = &s->task.at[i];
        if (!t->wanted)
            continue;
        const char *key = t->name.at - 2; /* with its blanks */
        strbuf_add_bytes(&part, key, (size_t)(t->body.at - key));
        recorded_add_body(t->body.at, t->body.at + t->body.n, &part);
    }
    struct workflow *w = recorded_read(part.at, part.n);
    strbuf_free(&part);
    return w;
}

/* A graph in which the tasks that are wanted are, with their commands and files. NULL: it cannot be read. */
static struct workflow *compare_read(const struct compare_side *s, bool parts)
{
    struct workflow *w = parts ? compare_build(s) : NULL;
    if (!w && parts)
        w = compare_read_part(s);
    return w ? w : recorded_read(s->text, s->n);
}

/* ---- two of them ---- */

/* Commands of tasks that both workflows have, files and parameters filled in. */
static void compare_commands(const struct workflow *a, const struct workflow *b,
                             struct history_changes *out)
{
    struct strbuf first = {0}, second = {0};
    for (uint32_t t = 0; t < a->ntasks; t++) {
        const char *name = workflow_task_name(a, t);
        uint32_t other = workflow_find_task(b, name);
        if (other == NONE)
            continue;
        strbuf_clear(&first);
        strbuf_clear(&second);
        command_readable(a, t, 1, &first);
        command_readable(b, other, 1, &second);
        if (strcmp(strbuf_text(&first), strbuf_text(&second)) != 0)
            history_changes_add(out, "command", name, strbuf_text(&first), strbuf_text(&second));
    }
    strbuf_free(&first);
    strbuf_free(&second);
}

/* Which tasks are wanted of both. False: they need to be read whole. */
static bool compare_choose(struct compare_side *a, struct compare_side *b)
{
    struct intern marks;
    intern_init(&marks);
    bool good = compare_split(a) && compare_split(b) && compare_read_given(a) &&
                compare_read_given(b) && compare_add_marks(a->given, b->given, &marks) &&
                compare_add_marks(b->given, a->given, &marks) && compare_want(a, b, &marks);
    intern_free(&marks);
    return good;
}

static void compare_side_free(struct compare_side *s)
{
    workflow_free(s->given);
    array_free(&s->task);
    free(s->text);
}

/* A graph that was not kept has no commands to compare; the rest stands. */
bool recorded_compare(struct history *h, int64_t first, int64_t second, struct history_changes *out,
                      struct error *err)
{
    if (!history_compare(h, first, second, out, err))
        return false;
    int64_t number = history_workflow_number(h, first);
    if (number && number == history_workflow_number(h, second))
        return true; /* one text: its commands are the same, parameters and all */
    struct compare_side a = {0}, b = {0};
    a.text = history_workflow_text(h, first, &a.n, NULL);
    b.text = history_workflow_text(h, second, &b.n, NULL);
    if (a.text && b.text) {
        bool parts = compare_choose(&a, &b);
        struct workflow *before = compare_read(&a, parts), *after = compare_read(&b, parts);
        if (before && after)
            compare_commands(before, after, out);
        workflow_free(before);
        workflow_free(after);
    }
    compare_side_free(&a);
    compare_side_free(&b);
    return true;
}
