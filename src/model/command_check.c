/* Words in braces, looked at before anything runs: each is a parameter, is built in, or is an error
 * at its line. A command that would get a name wrong (quoted twice, a shell's variable where a file
 * was meant) gets a remark. O(bytes of the commands); one without a brace costs a strchr(). */
#include "model/builder_state.h"
#include "model/command.h"
#include "model/environment.h"

#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/plural.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* One command on its way through the check. */
struct command_check {
    struct builder *b;
    const struct workflow *w;
    uint32_t task;
    const char *text;
    uint32_t inputs, outputs; /* that the file names */
    const uint32_t *place;    /* which of the task's inputs each is; NULL: they are the same */
};

/* The line on which this place of the command stands. Of a folded text the first line is all that is
 * known. */
static size_t line_of(const struct command_check *c, const char *at)
{
    size_t line = c->task < c->b->command_line.n ? c->b->command_line.at[c->task] : 0;
    if (!line)
        return c->b->line.at[c->task];
    for (const char *p = c->text; p < at; p++)
        line += *p == '\n';
    return line;
}

/* What other programs call it; NULL: nothing that we know of. */
static const char *foreign_word(const char *word)
{
    static const struct {
        const char *theirs, *ours;
    } words[] = {{"input", "in"},      {"inputs", "in"},   {"output", "out"}, {"outputs", "out"},
                 {"threads", "cores"}, {"cpus", "cores"},  {"mem", "memory"}, {"name", "task"},
                 {"rule", "kind"},     {"process", "kind"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].theirs, word) == 0)
            return words[i].ours;
    return NULL;
}

/* The nearest of variables, parameters and built-in words. NULL: none is near. */
static const char *nearest_word(const struct workflow *w, const char *const *variables,
                                size_t nvariables, const char *word)
{
    size_t count = 0;
    const char **names = mem_new(const char *, nvariables + COMMAND_WORDS + w->nparameters);
    for (size_t i = 0; i < nvariables; i++)
        names[count++] = variables[i];
    for (size_t i = 0; i < w->nparameters; i++)
        names[count++] = workflow_text(w, w->parameter_name[i]);
    for (size_t i = 0; i < COMMAND_WORDS; i++)
        names[count++] = command_built_in[i];
    const char *near = suggest_nearest(word, names, count);
    free(names);
    return near ? near : foreign_word(word);
}

/* "{input[0]}" is looked up as "input", and the suggestion is "{in[0]}". */
void command_unknown(const struct workflow *w, const char *const *variables, size_t nvariables,
                     const char *at, size_t length, struct strbuf *out)
{
    char word[80], rest[80] = "";
    snprintf(word, sizeof word, "%.*s", (int)(length - 2), at + 1);
    size_t name = strcspn(word, "[.");
    snprintf(rest, sizeof rest, "%s", word + name);
    word[name] = 0;
    const char *near = nearest_word(w, variables, nvariables, word);
    strbuf_printf(out, "its command names {%s%s}", word, rest);
    if (near && strcmp(near, word) == 0) /* {in.reads}, {in[x]} */
        strbuf_printf(out, "; expected {%s}%s", word,
                      command_is_file_word(word) ? ", or one of them, counted from 0: {in[0]}"
                                                 : "");
    else if (near)
        strbuf_printf(out, ", which is neither a parameter nor built in; did you mean {%s%s}?",
                      near, command_is_file_word(near) && *rest == '[' ? rest : "");
    else
        strbuf_add(out, ", which is neither a parameter nor built in ({in}, {out}, {task}, {kind}, "
                        "{cores}, {memory}, {attempt})");
    strbuf_printf(out, "%s {{%s%s}} if the braces belong to the command",
                  near && strcmp(near, word) != 0 ? " Write" : "; write", word, rest);
}

static void refuse_unknown(const struct command_check *c, const char *at, size_t length)
{
    struct strbuf why = {0};
    command_unknown(c->w, (const char *const *)c->b->variables.at, c->b->variables.n, at, length,
                    &why);
    builder_error(c->b, line_of(c, at), "task '%s': %s", builder_task_name(c->b, c->task), why.at);
    strbuf_free(&why);
}

/* The first file of the mark that the task does not have. */
static bool names_missing_file(const struct marking *m, uint32_t count, uint32_t *file)
{
    struct marking_place p = marking_begin(m, count);
    while (marking_next(&p, file))
        if (*file >= count)
            return true;
    return false;
}

static void refuse_index(const struct command_check *c, const char *at, enum mark mark,
                         uint32_t index, uint32_t count)
{
    const char *word = mark == MARK_OUT ? "out" : "in";
    char counted[80] = "";
    if (count == 1)
        snprintf(counted, sizeof counted, ", {%s[0]}", word);
    else if (count)
        snprintf(counted, sizeof counted, ", {%s[0]} to {%s[%u]}", word, word, count - 1);
    builder_error(
        c->b, line_of(c, at), "task '%s': its command names {%s[%u]}, but it has %u %sput%s%s",
        builder_task_name(c->b, c->task), word, index, count, word, plural(count), counted);
}

/* Does the command set this variable of the shell's itself: `word=`, `for word`, `read word`? */
static bool sets_variable(const char *text, const char *word, size_t n)
{
    for (const char *p = text; (p = strstr(p, word)); p++) {
        bool begins = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        if (!begins || (p > text && (p[-1] == '{' || p[-1] == '$')))
            continue;
        if (p[n] == '=' || p[n] == '+' || isspace((unsigned char)p[n]) || p[n] == ';' || !p[n])
            return true;
    }
    return false;
}

/* `${in}` is the shell's variable, and mostly unset: who came from elsewhere meant the file. */
static void remark_shell_variable(const struct command_check *c, const char *at)
{
    char word[80];
    size_t n = strcspn(at + 1, "}[.");
    if (n >= sizeof word)
        return;
    snprintf(word, sizeof word, "%.*s", (int)n, at + 1);
    bool ours = false;
    for (int i = 0; i < COMMAND_WORDS; i++)
        ours |= strcmp(command_built_in[i], word) == 0;
    for (uint32_t i = 0; i < c->w->nparameters; i++)
        ours |= strcmp(workflow_text(c->w, c->w->parameter_name[i]), word) == 0;
    if (ours && !sets_variable(c->text, word, n))
        builder_warn(c->b, line_of(c, at),
                     "task '%s': ${%s} is a variable of the shell, which its command does not set; "
                     "{%s} without the dollar is weft's",
                     builder_task_name(c->b, c->task), word, word);
}

/* "{in}" in quotes of its own: right for plain names, wrong for one that weft quotes. */
static void remark_quotes(const struct command_check *c, const char *at, const struct marking *m)
{
    const struct workflow *w = c->w;
    char quote = at > c->text ? at[-1] : 0, label[512];
    if ((quote != '"' && quote != '\'') || at[m->length] != quote)
        return;
    bool out = m->mark == MARK_OUT;
    uint32_t n = out ? c->outputs : c->inputs;
    const uint32_t *list =
        out ? w->out_object + w->object_off[c->task] : w->in_object + w->in_off[c->task];
    bool wrong = false;
    struct marking_place p = marking_begin(m, n);
    for (uint32_t i; !m->list && !wrong && marking_next(&p, &i);) {
        uint32_t object = list[!out && c->place ? c->place[i] : i];
        wrong = command_needs_quotes(workflow_object_label(w, object, label, sizeof label));
    }
    if (wrong)
        builder_warn(c->b, line_of(c, at),
                     "task '%s': quotes around %.*s: names are quoted already, each by itself; "
                     "leave the quotes out",
                     builder_task_name(c->b, c->task), (int)m->length, at);
}

/* `{ in }`: a shell's or awk's group, but hardly one of that name. */
static void check_blanks(const struct command_check *c, const char *at)
{
    const char *from = at + 1 + strspn(at + 1, " \t");
    size_t n = strcspn(from, " \t{}");
    if (from == at + 1 || !n || n > 60 || from[n + strspn(from + n, " \t")] != '}')
        return;
    char word[64];
    snprintf(word, sizeof word, "{%.*s}", (int)n, from);
    enum mark m = command_marking(c->w, word, word).mark;
    if (m == MARK_IN || m == MARK_OUT)
        builder_warn(c->b, line_of(c, at),
                     "task '%s': %.*s stands for itself, because of its blanks; %s is weft's",
                     builder_task_name(c->b, c->task), (int)(strchr(at, '}') + 1 - at), at, word);
}

static void check_mark(const struct command_check *c, const char *at, const struct marking *m)
{
    uint32_t count = m->mark == MARK_OUT ? c->outputs : c->inputs, wrong;
    switch (m->mark) {
    case MARK_UNKNOWN:
        refuse_unknown(c, at, m->length);
        break;
    case MARK_IN:
    case MARK_OUT:
        if (names_missing_file(m, count, &wrong))
            refuse_index(c, at, m->mark, wrong, count);
        else
            remark_quotes(c, at, m);
        if (!count && m->index == NONE && !m->items && c->b->line.at[c->task])
            builder_warn(c->b, line_of(c, at),
                         "task '%s': {%s} stands for nothing: it has no %sputs",
                         builder_task_name(c->b, c->task), m->mark == MARK_OUT ? "out" : "in",
                         m->mark == MARK_OUT ? "out" : "in");
        break;
    case MARK_MEMORY:
        if (!(c->b->memory.at[c->task] > 0))
            builder_error(
                c->b, line_of(c, at),
                "task '%s': its command names {memory}, but the task states none; say how "
                "much, such as `memory: 2G`",
                builder_task_name(c->b, c->task));
        break;
    case MARK_SHELL:
        remark_shell_variable(c, at);
        break;
    case MARK_NONE:
        if (*at == '{')
            check_blanks(c, at);
        break;
    default:
        break;
    }
}

static void check_one_command(const struct command_check *c)
{
    for (const char *at = c->text; *(at += strcspn(at, "{}"));) {
        struct marking m = command_marking(c->w, c->text, at);
        check_mark(c, at, &m);
        at += m.length ? m.length : 1;
    }
}

/* ---- values of env ---- */

/* Always false. */
static bool refuse_value(const struct command_check *c, const char *name, const char *at,
                         const struct marking *m, const char *why)
{
    builder_error(c->b, c->b->line.at[c->task], "task '%s': its env has %s with %.*s%s",
                  builder_task_name(c->b, c->task), name, (int)m->length, at, why);
    return false;
}

static bool check_value_mark(const struct command_check *c, const char *name, const char *at,
                             const struct marking *m)
{
    uint32_t count = m->mark == MARK_OUT ? c->outputs : c->inputs, wrong;
    struct strbuf why = {0};
    switch (m->mark) {
    case MARK_UNKNOWN:
        command_unknown(c->w, (const char *const *)c->b->variables.at, c->b->variables.n, at,
                        m->length, &why);
        builder_error(c->b, c->b->line.at[c->task], "task '%s': %s of its env: %s",
                      builder_task_name(c->b, c->task), name, why.at + strlen("its command "));
        strbuf_free(&why);
        return false;
    case MARK_IN:
    case MARK_OUT:
        if (m->list)
            return refuse_value(c, name, at, m, ", which only commands have");
        if (c->place)
            return refuse_value(
                c, name, at, m,
                ", but reads a folder that tasks make files in; write the name out");
        if (names_missing_file(m, count, &wrong))
            return refuse_value(c, name, at, m, ", but the task has no such file");
        return true;
    case MARK_MEMORY:
        return c->b->memory.at[c->task] > 0 ||
               refuse_value(c, name, at, m,
                            ", but the task states none; say how much, such as "
                            "`memory: 2G`");
    case MARK_SHELL:
        builder_error(
            c->b, c->b->line.at[c->task],
            "task '%s': its env has %s with $%.*s, and no shell fills it in; set it in the "
            "command, or `pass` the variable",
            builder_task_name(c->b, c->task), name, (int)(strcspn(at, "}") + 1), at);
        return false;
    default:
        return true;
    }
}

static void check_env(struct command_check *c, const char *text)
{
    struct strbuf name = {0}, value = {0};
    bool good = true;
    while (good && environment_next(&text, &name, &value))
        for (const char *at = c->text = value.at; good && *(at += strcspn(at, "{}"));) {
            struct marking m = command_marking(c->w, c->text, at);
            good = check_value_mark(c, name.at, at, &m);
            at += m.length ? m.length : 1;
        }
    strbuf_free(&name);
    strbuf_free(&value);
}

/* A variable that is both set and secret: the secret holds, and the other was in vain. */
static void remark_hidden_env(struct builder *b, const struct workflow *w, uint32_t t)
{
    const char *env = pool_text(&w->text, b->env.at[t]);
    struct strbuf name = {0}, value = {0};
    while (environment_next(&env, &name, &value)) {
        const char *secrets = pool_text(&w->text, b->secret.at[t]), *word;
        for (size_t n; (word = environment_word(&secrets, &n));)
            if (n == name.n && memcmp(word, name.at, n) == 0)
                builder_warn(b, b->line.at[t],
                             "task '%s': %s stands in `env` and in `secret`: the secret holds; "
                             "leave it out of one of them",
                             builder_task_name(b, t), name.at);
    }
    strbuf_free(&name);
    strbuf_free(&value);
}

static void check_envs(struct builder *b, const struct workflow *w)
{
    size_t naming = 0;
    for (uint32_t t = 0; t < b->env.n && t < b->secret.n; t++) {
        bool again =
            t && b->env.at[t] == b->env.at[t - 1] && b->secret.at[t] == b->secret.at[t - 1];
        if (b->env.at[t] && b->secret.at[t] && !again) /* once a family */
            remark_hidden_env(b, w, t);
    }
    for (uint32_t t = 0; t < b->env.n && !builder_failed(b); t++) {
        const char *text = b->env.at[t] ? pool_text(&w->text, b->env.at[t]) : "";
        while (naming < b->namings.n && b->namings.at[naming].task < t)
            naming++;
        if (!strchr(text, '{'))
            continue;
        bool other = naming < b->namings.n && b->namings.at[naming].task == t;
        struct command_check c = {.b = b,
                                  .w = w,
                                  .task = t,
                                  .inputs = w->in_off ? w->in_off[t + 1] - w->in_off[t] : 0,
                                  .outputs = w->object_off[t + 1] - w->object_off[t],
                                  .place = other ? b->naming_places.at : NULL};
        check_env(&c, text);
    }
}

void builder_check_commands(struct builder *b, const struct workflow *w)
{
    check_envs(b, w);
    size_t naming = 0; /* they are in the order of tasks */
    struct command_check last = {0};
    str_id fine = 0; /* the command that was checked last, and nothing was said about it */
    bool fine_memory = false;
    for (uint32_t t = 0; t < b->command.n && !builder_failed(b); t++) {
        const char *text = b->command.at[t] ? pool_text(&w->text, b->command.at[t]) : "";
        while (naming < b->namings.n && b->namings.at[naming].task < t)
            naming++;
        if (!strchr(text, '{') || b->flags.at[t] & TASK_CALL)
            continue;
        struct command_check c = {.b = b,
                                  .w = w,
                                  .task = t,
                                  .text = text,
                                  .inputs = w->in_off[t + 1] - w->in_off[t],
                                  .outputs = w->object_end[t] - w->object_off[t]};
        if (naming < b->namings.n && b->namings.at[naming].task == t) {
            const struct builder_naming *n = &b->namings.at[naming];
            c.inputs = n->n;
            c.outputs = n->outputs;
            c.place = b->naming_places.at + n->first;
        }
        /* what was fine for the task before is fine for one like it */
        bool has_memory = b->memory.at[t] > 0;
        if (fine && !c.place && b->command.at[t] == fine && c.inputs == last.inputs &&
            c.outputs == last.outputs && has_memory == fine_memory)
            continue;
        uint32_t remarks = w->nwarnings;
        check_one_command(&c);
        fine = c.place || w->nwarnings > remarks ? 0 : b->command.at[t];
        fine_memory = has_memory;
        last = c;
    }
}
