/* From a command's text to the words that are executed: without a shell, under one, or by an
 * interpreter, as model/shell.h decides.
 *
 *     true x                      true x
 *     sort {in} > {out}           /bin/sh -c TEXT
 *     a | b                       bash -e -o pipefail -c TEXT
 *     shell: python3              python3 -c TEXT
 *     shell: Rscript              Rscript FILE
 *     #!/usr/bin/env Rscript      /usr/bin/env Rscript FILE
 *
 * One argument of a program holds 128 KiB. A longer text is a file, which the same shell reads with
 * the same options: bash -e -o pipefail -c '. FILE'. Such files stand beside the logs, which are ours,
 * and are gone when the task is over: in the task's folder it would find them. */
#include "drive/executor_private.h"

#include "base/tree.h"
#include "exec/wrapper.h"
#include "model/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_ARGUMENT = 131072 - 1 }; /* MAX_ARG_STRLEN of Linux, less the NUL */

/* ---- the file ---- */

static bool script_fails(struct executor *x, const char *path, struct error *err)
{
    x->is_short = child_is_shortage(errno);
    return error_set(err, ERROR_FAILED, "%s: cannot write the task's command: %s", path,
                     strerror(errno));
}

/* The command's text as a file, with an absolute name: the task runs elsewhere. */
static bool write_script(struct executor *x, struct active *a, struct error *err)
{
    char folder[PATH_MAX];
    if (mkdir(x->logs.at, 0775) != 0 && errno != EEXIST)
        return script_fails(x, x->logs.at, err);
    if (!realpath(x->logs.at, folder))
        return script_fails(x, x->logs.at, err);
    struct strbuf path = {0};
    /* as of the slots' logs: the set of children tells the runs of this process apart */
    strbuf_printf(&path, "%s/.script-%d-%d-%u", folder, (int)getpid(), children_fd(x->children),
                  (uint32_t)(a - x->active));
    a->script = strbuf_steal(&path);
    int fd = open(a->script, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return script_fails(x, a->script, err);
    for (size_t at = 0; at < x->command.n;) {
        ssize_t n = write(fd, x->command.at + at, x->command.n - at);
        if (n < 0 && errno != EINTR) {
            close(fd);
            return script_fails(x, a->script, err);
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return close(fd) == 0 || script_fails(x, a->script, err);
}

/* The name in single quotes, as a shell or Python wants them. */
static void add_quoted_name(struct strbuf *out, const char *name, bool python)
{
    strbuf_add_char(out, '\'');
    for (; *name; name++)
        if (*name == '\'')
            strbuf_add(out, python ? "\\'" : "'\\''");
        else if (*name == '\\' && python)
            strbuf_add(out, "\\\\");
        else
            strbuf_add_char(out, *name);
    strbuf_add_char(out, '\'');
}

/* ---- words ---- */

/* The text behind the words that are there, or its file, or what reads its file. */
static bool deliver(struct executor *x, struct active *a, enum shell_delivery delivery,
                    struct error *err)
{
    bool is_long = x->command.n > LONGEST_ARGUMENT;
    if (delivery == SHELL_ONE_OPTION && is_long)
        return error_set(err, ERROR_FAILED,
                         "its command has %zu bytes, and `%s %s` takes %d; say `shell: %s`, which "
                         "gets it as a file",
                         x->command.n, x->words.at[0], array_last(&x->words), LONGEST_ARGUMENT,
                         x->words.at[0]);
    char *last = x->command.at;
    if (delivery == SHELL_FILE || is_long) {
        if (!write_script(x, a, err))
            return false;
        last = a->script;
    }
    if (is_long && delivery != SHELL_FILE) {
        bool python = delivery == SHELL_PYTHON;
        strbuf_clear(&x->source);
        strbuf_add(&x->source, python ? "exec(compile(open(" : ". ");
        add_quoted_name(&x->source, a->script, python);
        strbuf_add(&x->source, python ? ").read(), '<command>', 'exec'))" : "");
        last = x->source.at;
    }
    array_push(&x->words, last);
    array_push(&x->words, NULL);
    return true;
}

static void push_words(struct executor *x, const char *const *words)
{
    for (; *words; words++)
        array_push(&x->words, (char *)*words);
}

/* The machine's strict shell, or an error where it must be bash; a remark where it is less. */
static bool strict_words(struct executor *x, const char **program, struct error *err)
{
    const struct strict_shell *s = shell_of_this_machine();
    bool bash = strcmp(s->text, SHELL_STRICT_TEXT) == 0;
    if (!bash && x->o->same_shell)
        return error_set(err, ERROR_FAILED,
                         "command not found: there is no bash in PATH on this machine, and the "
                         "command was meant for "
                         "one; install it, or say `shell: sh`");
    if (!s->sees_pipes && !x->shell_remarked && x->result->remarks.n < RUN_REMARKS)
        array_push(&x->result->remarks,
                   mem_copy_string("there is no bash in PATH: commands ran under sh -e, which does "
                                   "not see when a part of a pipeline fails"));
    x->shell_remarked = true;
    *program = s->program;
    push_words(x, s->words);
    return true;
}

/* "#!interpreter argument": as the kernel reads it, all that follows the first blanks is one
 * argument. The file need not be executable, nor its file system allow that. */
static bool script_words(struct executor *x, struct error *err)
{
    const char *at = x->command.at + 2;
    at += strspn(at, " \t");
    size_t line = strcspn(at, "\r\n"), n = strcspn(at, " \t\r\n"), from = n;
    if (!n || line >= sizeof x->shell.text - 1)
        return error_set(err, ERROR_INPUT,
                         "the command begins with #!, but no interpreter follows: %.80s", at);
    while (from < line && (at[from] == ' ' || at[from] == '\t'))
        from++;
    while (line > from && (at[line - 1] == ' ' || at[line - 1] == '\t'))
        line--;
    memcpy(x->shell.text, at, line);
    x->shell.text[line] = x->shell.text[n] = 0;
    array_push(&x->words, x->shell.text);
    if (from < line)
        array_push(&x->words, x->shell.text + from);
    return true;
}

bool executor_find_words(struct executor *x, uint32_t task, struct active *a, const char **program,
                         struct error *err)
{
    static const char *const sh[] = {"sh", "-c", NULL};
    /* the strictest that the image has; which one that is, the image decides, and so its key */
    static const char *const strict_inside[] = {"sh", "-c", exec_strict_inside_sh, "weft", NULL};
    const char *stated = shell_stated(x->w, task);
    bool script = strncmp(strbuf_text(&x->command), "#!", 2) == 0;
    *program = NULL;
    x->words.n = 0;
    a->strict = a->shelled = false;
    if (!stated && !script) {
        /* without shell syntax there is no shell, which would cost as much as a short task */
        array_reserve(&x->words, x->command.n / 2 + 3);
        if (command_words(x->command.at, x->words.at, x->words.cap) > 0)
            return true;
    }
    enum shell_delivery delivery = SHELL_SOURCED;
    a->shelled = true;
    switch (shell_sort_of(x->w, task, x->command.at)) {
    case SHELL_SIMPLE:
        *program = "/bin/sh";
        push_words(x, sh);
        break;
    case SHELL_STRICT:
        a->strict = true;
        if (x->w->container && x->w->container[task])
            push_words(x, strict_inside);
        else if (!strict_words(x, program, err))
            return false;
        break;
    case SHELL_NAMED:
        if (!shell_parse(stated, &x->shell, err))
            return false;
        *program = strcmp(x->shell.at[0], "sh") == 0 ? "/bin/sh" : NULL;
        push_words(x, x->shell.at);
        delivery = x->shell.delivery;
        break;
    case SHELL_SCRIPT:
        if (!script_words(x, err))
            return false;
        delivery = SHELL_FILE;
        break;
    }
    return deliver(x, a, delivery, err);
}

/* ---- what a strict shell's failure means ---- */

/* A bar that is no "||": the command has a pipeline, or something that looks like one. */
static bool has_pipe(const char *text)
{
    for (const char *at = text; (at = strchr(at, '|')) != NULL; at++)
        if (at[1] == '|')
            at++;
        else
            return true;
    return false;
}

/* Where the task itself has said nothing, its shell's strictness may be all that there is to say. */
char *executor_explain_strict(const struct executor *x, const struct child_result *c)
{
    const char *command = workflow_text(x->w, x->w->command[c->task]);
    bool pipe = has_pipe(command);
    struct strbuf text = {0};
    if (c->status == 141 && pipe)
        strbuf_add(&text, "exit status 141: a part of its pipeline wrote to one that had stopped "
                          "reading, as `head` does; if that is fine, say `shell: sh`, which looks "
                          "at the last part only");
    else if (pipe && (c->log == 0 || strstr(command, "grep")))
        strbuf_printf(&text,
                      "exit status %d of a part of its pipeline (a grep that finds nothing has 1); "
                      "if that is fine, write `(... || true)` around the part, or say `shell: sh`",
                      c->status);
    else if (c->log == 0)
        strbuf_printf(&text,
                      "exit status %d of one of its commands: the shell is strict and ends "
                      "at the first that fails (`... || true` lets one fail)",
                      c->status);
    return text.n ? strbuf_steal(&text) : NULL;
}
