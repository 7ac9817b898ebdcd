/* Commands: `{in}`, `{out[1]}` and `{parameter}` replaced by file names and values, and the
 * question whether a command needs a shell.
 *
 * A file name is put in as one word of a shell, quoted where it must be; a parameter's value as
 * it stands, because it may hold several words on purpose. A command that uses nothing of a
 * shell's language is split into words here, which saves a process for each task. */
#include "model/command.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters that no shell gives a meaning to, wherever they stand. Bytes of UTF-8 are plain. */
static bool plain_character(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_-./,:+=@%^", c)) || (unsigned char)c >= 128;
}

bool command_needs_quotes(const char *name)
{
    bool plain = *name != 0;
    for (const char *c = name; *c; c++)
        plain &= plain_character(*c);
    return !plain;
}

void command_add_quoted(struct strbuf *out, const char *name)
{
    if (!command_needs_quotes(name)) {
        strbuf_add(out, name);
        return;
    }
    strbuf_add_char(out, '\'');
    for (const char *c = name; *c; c++)
        if (*c == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, *c);
    strbuf_add_char(out, '\'');
}

static void command_add_data(struct strbuf *out, const char *text, bool bare)
{
    if (bare)
        strbuf_add(out, text);
    else
        command_add_quoted(out, text);
}

/* A task's inputs or outputs, in the order in which the workflow's file names them. */
struct files {
    const uint32_t *at;
    uint32_t n;
};

static struct files files_of(const struct workflow *w, uint32_t task, bool out)
{
    uint32_t first = (out ? w->object_off : w->in_off)[task];
    uint32_t n = (out ? w->object_end[task] : w->in_off[task + 1]) - first;
    return (struct files){n ? (out ? w->out_object : w->in_object) + first : NULL, n};
}

static void add_file(const struct workflow *w, uint32_t object, bool bare, struct strbuf *out)
{
    char label[512];
    const char *name = workflow_object_label(w, object, label, sizeof label);
    if (*name == '-') /* no option of the program's */
        strbuf_add(out, "./");
    command_add_data(out, name, bare);
}

/* ---- what stands at a brace ---- */

const char *const command_built_in[COMMAND_WORDS] = {"in",    "out",    "task",   "kind",
                                                     "cores", "memory", "attempt"};
static const enum mark built_in_mark[COMMAND_WORDS] = {
    MARK_IN, MARK_OUT, MARK_TASK, MARK_KIND, MARK_CORES, MARK_MEMORY, MARK_ATTEMPT};

bool command_is_file_word(const char *name)
{
    return strcmp(name, "in") == 0 || strcmp(name, "out") == 0;
}

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

static bool continues_name(char c)
{
    return begins_name(c) || isdigit((unsigned char)c) || c == '-';
}

/* Characters of a name; 0: none begins here. */
static size_t name_length(const char *at)
{
    size_t n = begins_name(*at);
    while (n && continues_name(at[n]))
        n++;
    return n;
}

bool command_is_name(const char *text, size_t length)
{
    return length > 0 && name_length(text) >= length;
}

void command_add_doubled(struct strbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        strbuf_add_char(out, *c);
        if (*c == '{' || *c == '}')
            strbuf_add_char(out, *c);
    }
    strbuf_add(out, "");
}

/* What could be a name, up to its closing brace: `word`, `in.reads`, `in[3]`, `in[-1]`. 0: it could
 * not. Stops at the first character that does not fit, so that a text of many braces costs its
 * length. */
static size_t word_length(const char *at)
{
    size_t n = name_length(at), more;
    while (n && at[n] == '.' && (more = name_length(at + n + 1)) > 0)
        n += 1 + more;
    if (n && at[n] == '[') {
        bool file = (n == 2 && memcmp(at, "in", 2) == 0) || (n == 3 && memcmp(at, "out", 3) == 0);
        for (n++; isdigit((unsigned char)at[n]) ||
                  (file && (continues_name(at[n]) || at[n] == ':' || at[n] == ','));)
            n++;
        if (at[n++] != ']')
            return 0;
        n += file && strncmp(at + n, ".list", 5) == 0 ? 5 : 0;
    }
    return n && at[n] == '}' ? n : 0;
}

/* A number of at most nine digits, and where it ends. False: there is none. */
static bool item_number(const char **at, uint32_t *out)
{
    size_t n = strspn(*at, "0123456789");
    if (!n || n > 9)
        return false;
    *out = (uint32_t)strtoul(*at, NULL, 10);
    *at += n;
    return true;
}

/* "3" or "1:4": from the first up to the one before the second; "0:0" is none. False: it is neither. */
static bool item_range(const char **at, uint32_t *first, uint32_t *end)
{
    if (!item_number(at, first))
        return false;
    *end = *first + 1;
    if (**at != ':')
        return true;
    ++*at;
    return item_number(at, end) && (*end > *first || !*end);
}

/* What follows {in in {in[12]}, {in[1:4,7].list}, {in.list}: `n` bytes at `at`. False: it means
 * nothing. */
static bool word_files(const char *at, size_t n, struct marking *m)
{
    const char *end = at + n;
    m->index = NONE;
    if (n && *at == '[') {
        const char *items = ++at;
        uint32_t first, last;
        do
            if (!item_range(&at, &first, &last))
                return false;
        while (*at == ',' && at++);
        if (*at++ != ']')
            return false;
        if (memchr(items, ',', (size_t)(at - items)) || memchr(items, ':', (size_t)(at - items)))
            m->items = items;
        else
            m->index = first;
    }
    m->list = end - at == 5 && memcmp(at, ".list", 5) == 0;
    return at == end || m->list;
}

struct marking_place marking_begin(const struct marking *m, uint32_t count)
{
    return m->items           ? (struct marking_place){m->items, 0, 0}
           : m->index != NONE ? (struct marking_place){NULL, m->index, m->index + 1}
                              : (struct marking_place){NULL, 0, count};
}

bool marking_next(struct marking_place *p, uint32_t *file)
{
    while (p->next == p->end) {
        if (!p->items || *p->items == ']' || !item_range(&p->items, &p->next, &p->end))
            return false;
        p->items += *p->items == ',';
    }
    *file = p->next++;
    return true;
}

/* An odd number of dollars. */
bool command_behind_dollar(const char *text, const char *at)
{
    const char *from = at;
    while (from > text && from[-1] == '$')
        from--;
    return (at - from) % 2;
}

/* Whatever a parameter is called: older files may have names with blanks. */
static uint32_t parameter_at(const struct workflow *w, const char *name)
{
    for (uint32_t i = 0; i < w->nparameters; i++) {
        const char *parameter = workflow_text(w, w->parameter_name[i]);
        size_t n = strlen(parameter);
        if (strncmp(parameter, name, n) == 0 && name[n] == '}')
            return i;
    }
    return NONE;
}

struct marking command_marking(const struct workflow *w, const char *text, const char *at)
{
    if ((at[0] == '{' && at[1] == '{') || (at[0] == '}' && at[1] == '}'))
        return (struct marking){.mark = MARK_BRACE, .length = 2};
    if (at[0] != '{')
        return (struct marking){0};
    size_t n = word_length(at + 1);
    if (command_behind_dollar(text, at))
        return (struct marking){.mark = n ? MARK_SHELL : MARK_NONE};
    size_t name = name_length(at + 1);
    for (int i = 0; n && i < COMMAND_WORDS; i++) {
        if (strlen(command_built_in[i]) != name || memcmp(command_built_in[i], at + 1, name) != 0)
            continue;
        bool file = built_in_mark[i] <= MARK_OUT;
        struct marking m = {.mark = built_in_mark[i], .length = n + 2, .index = NONE};
        if (!file && parameter_at(w, at + 1) != NONE)
            break;
        if (n == name || (file && word_files(at + 1 + name, n - name, &m)))
            return m;
        break;
    }
    uint32_t parameter = parameter_at(w, at + 1);
    if (parameter != NONE)
        return (struct marking){.mark = MARK_PARAMETER,
                                .length =
                                    strlen(workflow_text(w, w->parameter_name[parameter])) + 2,
                                .index = parameter};
    return (struct marking){.mark = n ? MARK_UNKNOWN : MARK_NONE, .length = n ? n + 2 : 0};
}

/* ---- filling in ---- */

/* What is filled in: everything, for running it; no files and no attempt, for the template that names
 * a computation; parameters only, for formats that have none. */
struct filling {
    enum { FILL_ALL, FILL_VALUES, FILL_PARAMETERS } fill;
    struct command_attempt attempt;
    bool bare; /* no shell will read it: nothing is quoted */
};

/* A mark's place in its command tells the lists of one task apart. */
static void add_list_name(struct strbuf *out, size_t place)
{
    strbuf_printf(out, ".weft-list-%zu", place);
}

/* Where the list is, for the command that reads it. */
static void add_list(const struct filling *fill, size_t place, struct strbuf *out)
{
    struct strbuf path = {0};
    if (fill->attempt.lists)
        strbuf_printf(&path, "%s/", fill->attempt.lists);
    add_list_name(&path, place);
    command_add_data(out, path.at, fill->bare);
    strbuf_free(&path);
}

static bool is_absent(const struct marking *m, const uint8_t *absent, uint32_t object)
{
    return absent && m->mark == MARK_IN && absent[object];
}

/* False: {in[7]} with fewer inputs. `place`: of the mark in its command. */
static bool add_files(const struct workflow *w, uint32_t task, const struct marking *m,
                      const struct filling *fill, size_t place, struct strbuf *out,
                      struct error *err)
{
    struct files f = files_of(w, task, m->mark == MARK_OUT);
    struct marking_place p = marking_begin(m, f.n);
    bool first = true;
    for (uint32_t i; marking_next(&p, &i);) {
        if (i >= f.n)
            return error_at(err, workflow_text(w, w->file), w->line ? w->line[task] : 0,
                            "task '%.200s': its command names {%s[%u]}, but it has %u %s",
                            workflow_task_name(w, task), m->mark == MARK_OUT ? "out" : "in", i, f.n,
                            m->mark == MARK_OUT ? "outputs" : "inputs");
        if (m->list || is_absent(m, fill->attempt.absent, f.at[i]))
            continue;
        if (!first)
            strbuf_add_char(out, ' ');
        add_file(w, f.at[i], fill->bare, out);
        first = false;
    }
    if (m->list)
        add_list(fill, place, out);
    return true;
}

bool command_has_lists(const struct workflow *w, uint32_t task)
{
    return strstr(workflow_text(w, w->command[task]), ".list}") != NULL;
}

bool command_next_list(const struct workflow *w, uint32_t task, const uint8_t *absent, size_t *at,
                       struct strbuf *name, struct strbuf *names)
{
    const char *text = workflow_text(w, w->command[task]), *p = text + *at;
    char label[512];
    while (*(p += strcspn(p, "{}"))) {
        struct marking m = command_marking(w, text, p);
        size_t place = (size_t)(p - text);
        p += m.length ? m.length : 1;
        if (!m.list)
            continue;
        struct files f = files_of(w, task, m.mark == MARK_OUT);
        struct marking_place i = marking_begin(&m, f.n);
        strbuf_clear(name);
        strbuf_clear(names);
        strbuf_add(names, "");
        add_list_name(name, place);
        for (uint32_t file; marking_next(&i, &file) && file < f.n;)
            if (!is_absent(&m, absent, f.at[file]))
                strbuf_printf(names, "%s\n",
                              workflow_object_label(w, f.at[file], label, sizeof label));
        *at = (size_t)(p - text);
        return true;
    }
    return false;
}

/* What stands for a mark other than files. False: nothing, it stands for itself. */
static bool add_value(const struct workflow *w, uint32_t task, const struct filling *f,
                      const struct marking *m, struct strbuf *out)
{
    if (f->fill == FILL_PARAMETERS && m->mark != MARK_PARAMETER)
        return false;
    switch (m->mark) {
    case MARK_PARAMETER:
        if (f->fill == FILL_PARAMETERS)
            command_add_doubled(out, workflow_text(w, w->parameter_value[m->index]));
        else
            strbuf_add(out, workflow_text(w, w->parameter_value[m->index]));
        return true;
    case MARK_TASK:
        command_add_data(out, workflow_task_name(w, task), f->bare);
        return true;
    case MARK_KIND:
        command_add_data(out, workflow_text(w, w->kind[task]), f->bare);
        return true;
    case MARK_CORES:
        strbuf_printf(out, "%u", w->cores[task]);
        return true;
    case MARK_MEMORY:
        strbuf_printf(out, "%.0f", f->attempt.memory > 0 ? f->attempt.memory : w->memory[task]);
        return true;
    case MARK_ATTEMPT:
        if (f->fill != FILL_ALL)
            return false;
        strbuf_printf(out, "%u", f->attempt.number);
        return true;
    default:
        return false;
    }
}

/* Copies a template with its marks replaced. */
static bool template_fill(const struct workflow *w, uint32_t task, const char *text,
                          const struct filling *f, struct strbuf *out, struct error *err)
{
    const char *at = text;
    while (*at) {
        size_t plain = strcspn(at, "{}");
        strbuf_add_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        struct marking m = command_marking(w, text, at);
        bool files = m.mark == MARK_IN || m.mark == MARK_OUT;
        if (m.mark == MARK_BRACE && f->fill == FILL_ALL)
            strbuf_add_char(out, *at);
        else if (files && f->fill == FILL_ALL) {
            if (!add_files(w, task, &m, f, (size_t)(at - text), out, err))
                return false;
        } else if (!add_value(w, task, f, &m, out))
            strbuf_add_bytes(out, at, m.length ? m.length : 1);
        at += m.length ? m.length : 1;
    }
    /* an empty command still is a text */
    strbuf_add(out, "");
    return true;
}

static bool command_fill(const struct workflow *w, uint32_t task, const struct filling *f,
                         struct strbuf *out, struct error *err)
{
    return template_fill(w, task, workflow_text(w, w->command[task]), f, out, err);
}

/* What it names is there: builder_check_commands() has looked. */
void command_expand_value(const struct workflow *w, uint32_t task, const char *text,
                          const struct command_attempt *attempt, struct strbuf *out)
{
    template_fill(w, task, text, &(struct filling){.attempt = *attempt, .bare = true}, out, NULL);
}

void command_value_template(const struct workflow *w, uint32_t task, const char *text,
                            struct strbuf *out)
{
    template_fill(w, task, text, &(struct filling){.fill = FILL_VALUES, .bare = true}, out, NULL);
}

bool command_expand(const struct workflow *w, uint32_t task, struct strbuf *out, struct error *err)
{
    return command_fill(w, task, &(struct filling){.attempt = {.number = 1}}, out, err);
}

bool command_expand_attempt(const struct workflow *w, uint32_t task,
                            const struct command_attempt *attempt, struct strbuf *out,
                            struct error *err)
{
    return command_fill(w, task, &(struct filling){.attempt = *attempt}, out, err);
}

/* A mark that cannot be filled in stands as it is written: the task's own error tells of it. */
bool command_readable(const struct workflow *w, uint32_t task, uint32_t attempt, struct strbuf *out)
{
    if (!w || !w->command || task >= w->ntasks || !w->command[task])
        return false;
    struct strbuf filled = {0};
    const struct command_attempt as = {.number = attempt ? attempt : 1};
    if (w->flags[task] & TASK_CALL)
        strbuf_printf(out, "call %s", workflow_text(w, w->command[task]));
    else
        strbuf_add(out, command_expand_attempt(w, task, &as, &filled, NULL)
                            ? strbuf_text(&filled)
                            : workflow_text(w, w->command[task]));
    strbuf_free(&filled);
    return true;
}

void command_template(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    command_fill(w, task, &(struct filling){.fill = FILL_VALUES}, out, NULL);
}

void command_without_parameters(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    command_fill(w, task, &(struct filling){.fill = FILL_PARAMETERS}, out, NULL);
}

/* ---- texts that are no templates ---- */

/* Two braces of a kind in a row would be one, and a word in braces a name. Others stay: most commands
 * with braces look as they did. */
void command_escape(const char *text, size_t length, struct strbuf *out)
{
    const char *end = text + length, *closing = NULL; /* of a word that was doubled */
    for (const char *at = text; at < end; at++) {
        bool brace = *at == '{' || *at == '}';
        bool twice = brace && ((at > text && at[-1] == *at) || (at + 1 < end && at[1] == *at));
        size_t word = *at == '{' && !command_behind_dollar(text, at) ? word_length(at + 1) : 0;
        if (word)
            closing = at + 1 + word;
        strbuf_add_char(out, *at);
        if (twice || word || at == closing)
            strbuf_add_char(out, *at);
    }
    strbuf_add(out, "");
}

bool command_is_literal(const struct workflow *w, uint32_t task, struct strbuf *expanded)
{
    struct strbuf again = {0};
    strbuf_clear(expanded);
    bool good = command_expand(w, task, expanded, NULL);
    if (good)
        command_escape(strbuf_text(expanded), expanded->n, &again);
    good = good && strcmp(strbuf_text(&again), workflow_text(w, w->command[task])) == 0;
    strbuf_free(&again);
    return good;
}

/* ---- words ---- */

/* Words that mean something to a shell before any program is looked for. */
static bool is_builtin(const char *word)
{
    static const char *const names[] = {
        ".",        ":",        "[[",    "alias", "break",    "case",   "cd",
        "command",  "continue", "eval",  "exec",  "exit",     "export", "for",
        "function", "if",       "local", "read",  "readonly", "return", "set",
        "shift",    "source",   "time",  "times", "trap",     "type",   "ulimit",
        "umask",    "unset",    "until", "wait",  "while",    "!",      "{"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

/* The first character that only a shell understands; quoted ones are harmless. */
static bool needs_shell(const char *text)
{
    char quote = 0;
    for (const char *c = text; *c; c++) {
        if (quote == '\'') {
            quote = *c == '\'' ? 0 : quote;
        } else if (*c == '\\') {
            if (!c[1] || c[1] == '\n' || quote)
                return true;
            c++;
        } else if (quote) {
            if (*c == '$' || *c == '`')
                return true;
            quote = *c == '"' ? 0 : quote;
        } else if (*c == '\'' || *c == '"') {
            quote = *c;
        } else if (strchr("|&;<>()$`*?[]#~!{}", *c)) {
            return true;
        }
    }
    return quote != 0;
}

/* Split in place into at most `most` - 1 words and a NULL. 0: it needs a shell, or has too many
 * words. The text is changed only when the result is not 0. */
size_t command_words(char *text, char **words, size_t most)
{
    text += strspn(text, " \t\r\n");
    size_t end = strlen(text), count = 0;
    while (end && isspace((unsigned char)text[end - 1]))
        end--;
    if (!end || needs_shell(text) || memchr(text, '\n', end))
        return 0;
    size_t first = strcspn(text, " \t\"'\\");
    /* `A=1 prog` and quoted program names */
    if (memchr(text, '=', first) || text[first] == '"' || text[first] == '\'' ||
        text[first] == '\\')
        return 0; /* an assignment, or a name worth a shell's opinion */
    char head[16] = "";
    if (first < sizeof head) {
        memcpy(head, text, first);
        if (is_builtin(head))
            return 0;
    }
    for (char *c = text; *c; c++) /* count first: the text must stay as it is if they do not fit */
        count += !isspace((unsigned char)*c) && (c == text || isspace((unsigned char)c[-1]));
    if (count + 1 > most)
        return 0;
    count = 0;
    char *from = text, *to = text;
    while (*from) {
        from += strspn(from, " \t\r\n");
        if (!*from)
            break;
        /* words only get shorter (quotes and backslashes go), so writing never overtakes reading */
        words[count++] = to;
        char quote = 0;
        for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
            if (quote ? *from == quote : *from == '\'' || *from == '"')
                quote = quote ? 0 : *from;
            else {
                from += !quote && *from == '\\';
                *to++ = *from;
            }
        }
        from += *from != 0;
        *to++ = 0;
    }
    words[count] = NULL;
    return count;
}
