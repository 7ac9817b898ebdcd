/* Opening filters, and calling those that are functions. What the keys of a task mean for a stream is
 * decided here: a key that is not honoured is refused, not passed over. */
#include "stream/filter.h"

#include "base/calling.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "model/command.h"
#include "model/environment.h"
#include "model/shell.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- functions ---- */

/* Libraries beside the workflow go before those that the system finds, as in runs. They stay loaded until
 * the stream is closed: another thread may be in one. */
weft_filter_function filters_function(struct filters *f, const char *command, struct error *err)
{
    const char *colon = strrchr(command, ':');
    if (!colon) {
        error_set(err, ERROR_INPUT, "call '%.200s': expected library:function", command);
        return NULL;
    }
    struct strbuf path = {0};
    char *library = mem_copy_bytes(command, (size_t)(colon - command));
    strbuf_printf(&path, "%s%s/%s", f->folder[0] == '/' ? "" : "./", f->folder, library);
    bool beside = library[0] != '/' && access(path.at, F_OK) == 0;
    void *handle = dlopen(beside ? path.at : library, RTLD_NOW | RTLD_LOCAL);
    weft_filter_function function = NULL;
    if (!handle) {
        error_set(err, ERROR_INPUT, "call '%.200s': cannot load the library: %.400s", command,
                  dlerror());
    } else {
        array_push(&f->libraries, handle);
        *(void **)&function = dlsym(handle, colon + 1);
        if (!function)
            error_set(err, ERROR_INPUT, "call '%.200s': the library has no function '%.80s'",
                      command, colon + 1);
    }
    free(library);
    strbuf_free(&path);
    return function;
}

weft_filter_function filters_state_function(struct filters *f, const char *command)
{
    struct strbuf name = {0};
    struct error none = {0};
    strbuf_printf(&name, "%s_state", command);
    weft_filter_function found = filters_function(f, name.at, &none);
    strbuf_free(&name);
    return found;
}

/* Take back what was given at a port; an input that went there is an input again. */
static void handling_drop(struct handling *h, uint32_t port)
{
    for (uint32_t i = 0; h->nmoved && i < h->item.nin; i++)
        if (h->moved[i] == port + 1) {
            h->moved[i] = 0;
            h->nmoved--;
            h->out[port] = NULL;
        }
    chunk_free(h->out[port]);
    h->out[port] = NULL;
}

/* A function replaces its output by giving it again. */
static void *handling_give(struct weft_item *item, uint32_t port, size_t size)
{
    struct handling *h = (struct handling *)item;
    if (port >= item->nout)
        return NULL;
    if (h->out[port])
        handling_drop(h, port);
    h->out[port] = chunk_new(size);
    return h->out[port] ? chunk_bytes(h->out[port]) : NULL;
}

/* An input as an output: the same bytes, by their last reader as they are, else with one reader more. */
static int handling_pass(struct weft_item *item, uint32_t out, uint32_t in)
{
    struct handling *h = (struct handling *)item;
    if (out >= item->nout || in >= item->nin)
        return -1;
    if (h->out[out])
        handling_drop(h, out);
    struct chunk *chunk = h->in[in];
    if (!chunk) {
        chunk = chunk_new(0);
    } else if (h->last && h->last[in] && !h->moved[in]) {
        h->moved[in] = out + 1;
        h->nmoved++;
    } else {
        chunk_share(chunk);
    }
    h->out[out] = chunk;
    return chunk ? 0 : -1;
}

void handling_open(struct handling *h, uint32_t most_ports, const atomic_int *halt)
{
    *h = (struct handling){.halt = halt};
    h->view = mem_new_zero(struct weft_piece, most_ports + 1);
    h->in = mem_new_zero(struct chunk *, most_ports + 1);
    h->out = mem_new_zero(struct chunk *, most_ports + 1);
    h->moved = mem_new_zero(uint32_t, most_ports + 1);
    h->item.in = h->view;
    h->item.give = handling_give;
    h->item.pass = handling_pass;
}

void handling_close(struct handling *h)
{
    free(h->view);
    free(h->in);
    free(h->out);
    free(h->moved);
}

void handling_clear(struct handling *h)
{
    for (uint32_t i = 0; i < h->item.nout; i++)
        handling_drop(h, i);
}

/* Functions are called here; the other two kinds have files of their own. */
enum filter_verdict filter_run(const struct filters *all, const struct filter *f, struct station *s,
                               struct handling *h)
{
    if (f->kind == DUTY_STAYS)
        return filter_stays_run(all, f, s, h);
    if (f->kind == DUTY_PROGRAM)
        return filter_program_run(all, f, s, h);
    for (uint32_t i = 0; i < h->item.nin; i++)
        h->view[i] = h->in[i] ? (struct weft_piece){chunk_bytes(h->in[i]), h->in[i]->size}
                              : (struct weft_piece){"", 0};
    calling_task = f->name;
    int status = f->function(&h->item);
    calling_task = NULL;
    if (status == 0)
        return FILTER_DONE;
    snprintf(h->why, sizeof h->why, "its function returned %d", status);
    handling_clear(h);
    return FILTER_FAILED;
}

/* ---- commands ---- */

static void filter_push_word(struct filter *f, size_t *n, const char *word)
{
    f->words = mem_resize(f->words, *n + 2);
    f->words[(*n)++] = mem_copy_string(word);
    f->words[*n] = NULL;
}

/* Without a shell, under the strict one, or under the task's own (model/shell.h). */
static bool filter_command_words(struct filter *f, const struct workflow *w, uint32_t task,
                                 struct error *err)
{
    struct strbuf text = {0};
    size_t n = 0;
    struct shell_words shell;
    if (!command_expand(w, task, &text, err))
        return false;
    enum shell_sort sort = shell_sort_of(w, task, text.at);
    char *copy = mem_copy_string(text.at), *words[256];
    size_t simple = sort == SHELL_SIMPLE ? command_words(copy, words, 256) : 0;
    bool good = true;
    if (simple) {
        for (size_t i = 0; i < simple; i++)
            filter_push_word(f, &n, words[i]);
    } else if (sort == SHELL_NAMED) {
        good = shell_parse(shell_stated(w, task), &shell, err);
        for (size_t i = 0; good && i < shell.n; i++)
            filter_push_word(f, &n, shell.at[i]);
        if (good && shell.delivery == SHELL_FILE)
            good = error_set(err, ERROR_INPUT,
                             "task '%s': '%s' takes its text as a file, which a stream does not "
                             "make; put it into a file and run that",
                             f->name, shell_stated(w, task));
    } else if (sort == SHELL_SCRIPT) {
        good =
            error_set(err, ERROR_INPUT,
                      "task '%s': its command begins with #!, which a stream does not start; put "
                      "it into a file and run that",
                      f->name);
    } else {
        const struct strict_shell *strict = shell_of_this_machine();
        for (size_t i = 0; strict->words[i]; i++)
            filter_push_word(f, &n, strict->words[i]);
        f->program = mem_copy_string(strict->program);
    }
    if (good && !simple)
        filter_push_word(f, &n, text.at);
    if (good && !f->program)
        f->program = mem_copy_string(f->words[0]);
    free(copy);
    strbuf_free(&text);
    return good;
}

/* Ours, with what `env` sets. */
static void filter_variables(struct filter *f, const struct workflow *w, uint32_t task,
                             const char *folder)
{
    struct strbuf set = {0};
    struct command_attempt first = {.number = 1};
    size_t ours = 0, n = 0;
    size_t count = w->env && w->env[task] ? environment_expand(w, task, &first, &set) : 0;
    while (environ[ours])
        ours++;
    f->environment = mem_new_zero(char *, ours + count + 3);
    const char *at = set.at;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        f->environment[n++] = mem_copy_string(at);
    for (size_t i = 0; i < ours; i++) {
        size_t name = strcspn(environ[i], "=") + 1;
        bool hidden = false;
        for (size_t k = 0; k < count; k++)
            hidden |= strncmp(environ[i], f->environment[k], name) == 0;
        if (!hidden)
            f->environment[n++] = mem_copy_string(environ[i]);
    }
    struct strbuf own = {0};
    strbuf_printf(&own, "WEFT_TASK=%s", f->name);
    f->environment[n++] = strbuf_steal(&own);
    char *whole = realpath(folder, NULL); /* a program for each item runs elsewhere */
    strbuf_printf(&own, "WEFT_FOLDER=%s", whole ? whole : folder);
    (free)(whole);
    f->environment[n++] = strbuf_steal(&own);
    strbuf_free(&set);
}

/* Ports of commands are files by name: those that stay need only their number. */
static void filter_names(struct filter *f, const struct workflow *w, uint32_t task)
{
    f->nin = w->in_off[task + 1] - w->in_off[task];
    f->nout = w->object_end[task] - w->object_off[task];
    f->in = mem_new_zero(const char *, f->nin + 1);
    f->out = mem_new_zero(const char *, f->nout + 1);
    for (uint32_t i = 0; i < f->nin; i++)
        f->in[i] = workflow_text(w, w->object_name[w->in_object[w->in_off[task] + i]]);
    for (uint32_t i = 0; i < f->nout; i++)
        f->out[i] = workflow_text(w, w->object_name[w->out_object[w->object_off[task] + i]]);
}

/* ---- opening ---- */

/* Keys of a task that mean something to `weft run` and nothing here. */
static bool filter_can_do_without(const struct workflow *w, uint32_t task)
{
    bool any = false;
    for (uint32_t i = w->in_optional ? w->in_off[task] : 0;
         w->in_optional && i < w->in_off[task + 1]; i++)
        any |= w->in_optional[i];
    return any;
}

/* What rounds end with has a kind of its own (formats/native). */
static bool filter_is_repeated(const struct workflow *w, uint32_t task)
{
    const char *part = w->kind[task] ? strrchr(workflow_text(w, w->kind[task]), '/') : NULL;
    return part && strcmp(part, "/last") == 0;
}

static const char *filter_foreign_key(const struct workflow *w, uint32_t task, bool command,
                                      bool waits)
{
    if (filter_is_repeated(w, task))
        return "repeat";
    if (filter_can_do_without(w, task))
        return "optional";
    if (!waits && w->needs && w->needs[task])
        return "needs";
    if (!waits && w->asks && w->asks[task])
        return "resources";
    if (command && w->flags[task] & TASK_IN_PLACE)
        return "sandbox";
    if (command && w->flags[task] & TASK_KEEP)
        return "keep";
    if (!waits && w->flags[task] & TASK_KEEPS_RESULTS)
        return "results";
    if (w->when && w->when[task])
        return "when";
    if (w->nodes && w->nodes[task] > 1)
        return "nodes";
    if (w->retry_on && w->retry_on[task])
        return "retry_on";
    if (w->flags[task] & TASK_MAY_FAIL)
        return "may_fail";
    if (w->deadline && isfinite(w->deadline[task]))
        return "deadline";
    if (w->processes && w->processes[task])
        return "processes";
    if (command && w->container && w->container[task])
        return "container";
    if (command && w->conda && w->conda[task])
        return "conda";
    if (command && w->modules && w->modules[task])
        return "modules";
    if (command && w->pass && w->pass[task])
        return "pass";
    if (command && w->secret && w->secret[task])
        return "secret";
    return NULL;
}

/* Said before the first item is taken, with the place in the file. */
static bool filter_check(const struct filter *f, const struct workflow *w, uint32_t task,
                         struct error *err)
{
    const char *file = w->file ? workflow_text(w, w->file) : NULL;
    size_t line = w->line ? w->line[task] : 0;
    const char *key = filter_foreign_key(w, task, f->kind == DUTY_STAYS || f->kind == DUTY_PROGRAM,
                                         f->kind == DUTY_WAITS);
    if (key)
        return error_at(err, file, line,
                        "task '%s': `%s` is for runs; a stream does not do it: leave it out",
                        f->name, key);
    if (f->kind == DUTY_FUNCTION && isfinite(f->timeout))
        return error_at(err, file, line,
                        "task '%s': a function cannot be ended, so its `timeout` would do nothing; "
                        "leave it out, or run a command",
                        f->name);
    if (w->flags[task] & TASK_PER_ITEM && f->kind != DUTY_PROGRAM)
        return error_at(err, file, line,
                        "task '%s': `per_item` is for commands (`run`); leave it out", f->name);
    return true;
}

static bool filter_open(struct filters *all, struct filter *f, const struct workflow *w,
                        uint32_t task, uint32_t tries, struct error *err)
{
    f->name = workflow_task_name(w, task);
    f->kind = !w->command || !w->command[task] ? DUTY_WAITS
              : w->flags[task] & TASK_CALL     ? DUTY_FUNCTION
              : w->flags[task] & TASK_PER_ITEM ? DUTY_PROGRAM
                                               : DUTY_STAYS;
    f->timeout = w->timeout ? w->timeout[task] : INFINITY;
    f->tries = w->retries && w->retries[task] ? w->retries[task] + 1 : tries;
    f->state = w->flags[task] & TASK_NOT_REPLICABLE;
    if (!filter_check(f, w, task, err))
        return false;
    if (f->kind == DUTY_FUNCTION) {
        f->function = filters_function(all, workflow_text(w, w->command[task]), err);
        if (!f->function && err && err->kind) /* the place goes before the cause */
        {
            struct error cause = *err;
            error_clear(err);
            error_at(err, w->file ? workflow_text(w, w->file) : NULL, w->line ? w->line[task] : 0,
                     "task '%s': %.1200s", f->name, cause.text);
        }
        if (f->function && f->state)
            f->remember = filters_state_function(all, workflow_text(w, w->command[task]));
        return f->function;
    }
    if (f->kind == DUTY_WAITS)
        return true;
    filter_names(f, w, task);
    filter_variables(f, w, task, all->folder);
    return filter_command_words(f, w, task, err);
}

/* What belongs to no task. */
static bool filters_check(const struct workflow *w, struct error *err)
{
    const char *file = w->file ? workflow_text(w, w->file) : NULL;
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        if (w->hook[i])
            return error_at(err, file, 0,
                            "`hooks` are for runs; a stream does not run them: leave them out");
    if (w->future)
        return error_at(err, file, 0,
                        "some of its tasks become known when others are done, which is for runs: a "
                        "stream has the same tasks for every item");
    return true;
}

bool filters_open(struct filters *f, const struct workflow *w, const char *folder, uint32_t tries,
                  struct error *err)
{
    *f = (struct filters){.n = w->ntasks, .folder = mem_copy_string(folder)};
    f->at = mem_new_zero(struct filter, w->ntasks + 1);
    if (!filters_check(w, err))
        return false;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!filter_open(f, &f->at[t], w, t, tries, err))
            return false;
    return true;
}

void filters_close(struct filters *f)
{
    for (uint32_t i = 0; f->at && i < f->n; i++) {
        struct filter *x = &f->at[i];
        for (char **word = x->words; word && *word; word++)
            free(*word);
        for (char **word = x->environment; word && *word; word++)
            free(*word);
        free(x->words);
        free(x->environment);
        free(x->program);
        free(x->in);
        free(x->out);
    }
    for (size_t i = 0; i < f->libraries.n; i++)
        dlclose(f->libraries.at[i]);
    array_free(&f->libraries);
    free(f->at);
    free(f->folder);
}

/* ---- ends of processes ---- */

/* Nobody is asked to end: who is killed here has lost its item, or its stream was stopped twice. */
int station_kill(struct station *s)
{
    int status = -1;
    if (!s->pid)
        return status;
    kill(-s->pid, SIGKILL); /* its group: what it started goes with it */
    kill(s->pid, SIGKILL);
    while (waitpid(s->pid, &status, 0) < 0)
        if (errno != EINTR) {
            status = -1; /* somebody else's SIGCHLD took it */
            break;
        }
    s->pid = 0;
    return status;
}

const char *station_end_text(int status, char *buffer, size_t size)
{
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(buffer, size, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (status >= 0)
        snprintf(buffer, size, "ended with status %d", WEXITSTATUS(status));
    else
        snprintf(buffer, size, "is gone");
    return buffer;
}
