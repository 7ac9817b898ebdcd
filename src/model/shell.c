/* Which shell a command runs under, from its text alone.
 *
 * A strict shell costs a little (bash starts slower than other shells), and it makes results of old
 * invalid, so it is used where it makes a difference. Where it can be proved to make none, a command
 * runs as it always did, with the key that it always had: a single simple command, whose words no
 * shell changes, with files as targets of its redirections. Its status is the status of the whole,
 * with -e and pipefail or without. */
#include "model/shell.h"

#include "base/mem.h"
#include "base/program.h"
#include "model/command.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- is it one simple command? ---- */

/* Programs that shells have built in, each with ideas of its own (what `echo` does with a backslash),
 * beside those that command_words() knows. */
static bool shell_has_builtin(const char *word, size_t n)
{
    static const char names[] =
        " bg bind builtin caller chdir compgen complete compopt coproc declare dirs disown do done "
        "elif else enable esac fc fg fi getopts hash help history in jobs kill let logout mapfile "
        "popd printf pushd pwd readarray select shopt suspend test then typeset unalias ";
    char name[24];
    if (n + 3 > sizeof name)
        return false;
    name[0] = ' ';
    memcpy(name + 1, word, n);
    memcpy(name + 1 + n, " ", 2);
    return strstr(names, name) != NULL;
}

/* The words that a redirected command is left with. `echo` is every shell's own, but all agree as
 * long as there is no backslash and nothing that may be an option. */
static bool shell_agrees_on(const char *words)
{
    words += strspn(words, " \t");
    size_t n = strcspn(words, " \t");
    if (n == 4 && memcmp(words, "echo", 4) == 0)
        return !strchr(words, '\\') && !strstr(words, " -") && !strstr(words, "\t-") &&
               !strstr(words, "'-") && !strstr(words, "\"-");
    return !shell_has_builtin(words, n);
}

/* Blank the operators of redirections out, so that their targets are words like others, and digits
 * before them, too. False: one that shells understand differently, or that hides the program. */
static bool blank_redirections(char *text, bool *any)
{
    char quote = 0;
    size_t begin = strspn(text, " \t\r\n0123456789");
    *any = false;
    for (char *c = text; *c; c++) {
        if (quote) {
            c += quote == '"' && *c == '\\' && c[1];
            quote = *c == quote ? 0 : quote;
        } else if (*c == '\\' && c[1]) {
            c++;
        } else if (*c == '\'' || *c == '"') {
            quote = *c;
        } else if (*c == '<' || *c == '>') {
            if (c < text + begin + 1 || (*c == '<' && strchr("<>", c[1]) && c[1]))
                return false;
            if (c[0] == '>' && c[1] == '>')
                *c++ = ' ';
            if (c[1] == '&') { /* of a descriptor; of a file only in bash */
                if (!isdigit((unsigned char)c[2]))
                    return false;
                c[1] = ' ';
            }
            *c = ' ';
            *any = true;
        }
    }
    return true;
}

/* The text with every {in} and {out} that is not filled in as a plain word: never longer. */
static void copy_with_words(const struct workflow *w, const char *text, char *to)
{
    for (const char *at = text; *at;) {
        struct marking m = w && *at == '{' ? command_marking(w, text, at) : (struct marking){0};
        if (m.mark == MARK_IN || m.mark == MARK_OUT || m.mark == MARK_ATTEMPT) {
            *to++ = 'f';
            at += m.length;
        } else {
            *to++ = *at++;
        }
    }
    *to = 0;
}

/* Would every shell, strict or not, do the same with this command? Asked for the key of every task:
 * short texts, which most are, stand on the stack. */
bool shell_is_simple(const struct workflow *w, const char *text)
{
    enum { SHORT = 512 };
    char room[SHORT], *some[SHORT / 2 + 3];
    size_t length = strlen(text), most = length / 2 + 3;
    char *copy = length < SHORT ? room : mem_new(char, length + 1);
    char **words = length < SHORT ? some : mem_new(char *, most);
    bool redirected = false;
    copy_with_words(w, text, copy);
    /* without redirections it is executed by itself, and no shell's builtin comes in between */
    bool simple = command_words(copy, words, most) > 0;
    if (!simple && !strstr(text, "/dev/tcp/") && !strstr(text, "/dev/udp/") &&
        blank_redirections(copy, &redirected) && redirected && shell_agrees_on(copy))
        simple = command_words(copy, words, most) > 0;
    if (copy != room) {
        free(words);
        free(copy);
    }
    return simple;
}

/* ---- which shell ---- */

const char *shell_stated(const struct workflow *w, uint32_t task)
{
    return w->shell && w->shell[task] ? workflow_text(w, w->shell[task]) : NULL;
}

enum shell_sort shell_sort_of(const struct workflow *w, uint32_t task, const char *text)
{
    if (w->flags[task] & TASK_CALL)
        return SHELL_SIMPLE;
    if (strncmp(text, "#!", 2) == 0)
        return SHELL_SCRIPT;
    if (shell_stated(w, task))
        return SHELL_NAMED;
    return shell_is_simple(w, text) ? SHELL_SIMPLE : SHELL_STRICT;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `env` is not what reads the text: the program behind its options and variables does. */
static const char *interpreter_name(const struct shell_words *s)
{
    size_t i = 0;
    if (strcmp(base_name(s->at[0]), "env") == 0)
        for (i = 1; i + 1 < s->n && (s->at[i][0] == '-' || strchr(s->at[i], '='));)
            i++;
    return base_name(s->at[i < s->n ? i : 0]);
}

/* The options decide where the text goes: behind one that takes it (-c, -euc; -e of others than
 * shells), or, for a shell or Python without such an option, behind a -c of ours. */
static void shell_deliver(struct shell_words *s)
{
    static const char *const shells[] = {"sh",   "bash", "dash", "ash",  "ksh", "ksh93",
                                         "mksh", "zsh",  "yash", "posh", NULL};
    const char *name = interpreter_name(s);
    const char *last = s->n > 1 ? s->at[s->n - 1] : "";
    bool option = last[0] == '-' && last[1] && last[1] != '-';
    bool is_shell = is_one_of(name, shells), is_python = strncmp(name, "python", 6) == 0;
    char end = option ? last[strlen(last) - 1] : 0;
    if (!is_shell && !is_python) {
        s->delivery = option && (end == 'c' || end == 'e') ? SHELL_ONE_OPTION : SHELL_FILE;
        return;
    }
    s->delivery = is_shell ? SHELL_SOURCED : SHELL_PYTHON;
    if (end != 'c')
        s->at[s->n++] = "-c";
    s->at[s->n] = NULL;
}

bool shell_parse(const char *stated, struct shell_words *out, struct error *err)
{
    char *words[SHELL_WORDS - 1]; /* there may be a -c to add */
    *out = (struct shell_words){0};
    size_t length = strlen(stated);
    if (length < sizeof out->text) {
        memcpy(out->text, stated, length + 1);
        out->n = command_words(out->text, words, SHELL_WORDS - 1);
    }
    if (!out->n)
        return error_set(err, ERROR_INPUT,
                         "shell is '%.80s'; expected a program with its options, as in sh, bash "
                         "-euo pipefail -c, python3",
                         stated);
    for (size_t i = 0; i < out->n; i++)
        out->at[i] = words[i];
    shell_deliver(out);
    return true;
}

/* `sh`, which is what everything ran under once. */
static bool is_plain_sh(const struct shell_words *s)
{
    return s->n == 2 && strcmp(s->at[1], "-c") == 0 &&
           (strcmp(s->at[0], "sh") == 0 || strcmp(s->at[0], "/bin/sh") == 0);
}

const char *shell_in_key(const struct workflow *w, uint32_t task, const char *text,
                         const char *strict, char *buffer)
{
    struct shell_words s;
    struct error ignored; /* cleared by hand where it is used: this is called for every task */
    const char *stated = shell_stated(w, task);
    switch (shell_sort_of(w, task, text)) {
    case SHELL_SIMPLE:
        return NULL;
    case SHELL_STRICT:
        return strict;
    case SHELL_SCRIPT:
        return "#!";
    case SHELL_NAMED:
        break;
    }
    error_clear(&ignored);
    if (!stated || !shell_parse(stated, &s, &ignored))
        return stated;
    if (is_plain_sh(&s))
        return NULL;
    size_t n = 0; /* words, so that blanks make no difference; the text was shorter than the room */
    for (size_t i = 0; i < s.n && n + strlen(s.at[i]) + 2 < SHELL_NAME; i++) {
        memcpy(buffer + n, s.at[i], strlen(s.at[i]));
        n += strlen(s.at[i]);
        buffer[n++] = ' ';
    }
    buffer[n] = 0;
    return buffer;
}

/* ---- of this machine ---- */

static struct strict_shell strict_here;
static char strict_program[4096];

/* I1. Written once, under pthread_once(), and read-only from then on. */
static void find_strict_shell(void)
{
    static const char *const bash[] = {"bash", "-e", "-o", "pipefail", "-c", NULL};
    static const char *const sh_pipes[] = {"sh", "-e", "-o", "pipefail", "-c", NULL};
    static const char *const sh[] = {"sh", "-e", "-c", NULL};
    if (program_find("bash", strict_program, sizeof strict_program)) {
        strict_here = (struct strict_shell){SHELL_STRICT_TEXT, strict_program, bash, true};
        return;
    }
    const char *const question[] = {"/bin/sh", "-c", "set -o pipefail", NULL};
    if (program_succeeds(question))
        strict_here = (struct strict_shell){"sh -e -o pipefail", "/bin/sh", sh_pipes, true};
    else
        strict_here = (struct strict_shell){"sh -e", "/bin/sh", sh, false};
}

const struct strict_shell *shell_of_this_machine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_strict_shell);
    return &strict_here;
}
