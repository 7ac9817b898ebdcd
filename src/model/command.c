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

/* A file name as one word of a shell. */
static void command_add_quoted(struct strbuf *out, const char *name)
{
    bool plain = *name != 0;
    for (const char *c = name; *c; c++)
        plain &= plain_character(*c);
    if (plain) {
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

/* A task's inputs or outputs, in the order in which the workflow's file names them. */
struct files {
    const uint32_t *at;
    uint32_t n;
};

static struct files files_of(const struct workflow *w, uint32_t task, bool out)
{
    const uint32_t *off = out ? w->object_off : w->in_off;
    uint32_t n = off[task + 1] - off[task];
    return (struct files){n ? (out ? w->out_object : w->in_object) + off[task] : NULL, n};
}

static void add_file(const struct workflow *w, uint32_t object, struct strbuf *out)
{
    char label[512];
    command_add_quoted(out, workflow_object_label(w, object, label, sizeof label));
}

/* What stands at a brace. Anything unknown is MARK_NONE: the brace stands for itself, since shell
 * commands (awk, ${VAR}) are full of them. */
struct marking command_marking(const struct workflow *w, const char *at)
{
    if ((at[0] == '{' && at[1] == '{') || (at[0] == '}' && at[1] == '}'))
        return (struct marking){MARK_BRACE, 2, 0};
    const char *close = at[0] == '{' ? strchr(at, '}') : NULL;
    if (!close)
        return (struct marking){0};
    size_t n = (size_t)(close - at) - 1;
    const char *name = at + 1;
    for (int out = 0; out < 2; out++) {
        const char *word = out ? "out" : "in";
        size_t length = strlen(word);
        if (n < length || memcmp(name, word, length) != 0)
            continue;
        if (n == length)
            return (struct marking){out ? MARK_OUT : MARK_IN, n + 2, NONE};
        unsigned index;
        int used = 0;
        if (sscanf(name + length, "[%9u]}%n", &index, &used) == 1 && (size_t)used == n - length + 1)
            return (struct marking){out ? MARK_OUT : MARK_IN, n + 2, index};
    }
    for (uint32_t i = 0; i < w->nparameters; i++) {
        const char *parameter = workflow_text(w, w->parameter_name[i]);
        if (strlen(parameter) == n && memcmp(parameter, name, n) == 0)
            return (struct marking){MARK_PARAMETER, n + 2, i};
    }
    return (struct marking){0};
}

/* Copies the command with its marks replaced. Without `files` only parameters are: what is left
 * is the template that names a computation, whatever its files are called. */
static bool command_substitute(const struct workflow *w, uint32_t task, bool files,
                               struct strbuf *out, struct error *err)
{
    const char *at = workflow_text(w, w->command[task]);
    while (*at) {
        size_t plain = strcspn(at, "{}");
        strbuf_add_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        struct marking m = command_marking(w, at);
        if (m.mark == MARK_NONE || (m.mark != MARK_PARAMETER && !files)) {
            size_t length = m.length ? m.length : 1;
            strbuf_add_bytes(out, at, length);
            at += length;
            continue;
        }
        if (m.mark == MARK_BRACE) {
            strbuf_add_char(out, *at);
        } else if (m.mark == MARK_PARAMETER) {
            strbuf_add(out, workflow_text(w, w->parameter_value[m.index]));
        } else {
            struct files f = files_of(w, task, m.mark == MARK_OUT);
            if (m.index != NONE && m.index >= f.n)
                return error_at(err, workflow_text(w, w->file), w->line ? w->line[task] : 0,
                                "task '%.200s': its command names {%s[%u]}, but it has %u %s",
                                workflow_task_name(w, task), m.mark == MARK_OUT ? "out" : "in",
                                m.index, f.n, m.mark == MARK_OUT ? "outputs" : "inputs");
            for (uint32_t i = 0; i < f.n; i++)
                if (m.index == NONE || i == m.index) {
                    if (m.index == NONE && i)
                        strbuf_add_char(out, ' ');
                    add_file(w, f.at[i], out);
                }
        }
        at += m.length;
    }
    /* an empty command still is a text */
    strbuf_add(out, "");
    return true;
}

bool command_expand(const struct workflow *w, uint32_t task, struct strbuf *out, struct error *err)
{
    return command_substitute(w, task, true, out, err);
}

void command_template(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    command_substitute(w, task, false, out, NULL);
}

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
