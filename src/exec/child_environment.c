/* The environment of a child: the set's own, the same block for all, unless its task has variables
 * of its own; and what is started to end what is not ours to kill.
 *
 * I1. A task without variables of its own costs nothing here: its slot's block is used as it is.
 * I2. A name stands once: which of two a program finds depends on the program. */
#include "exec/child_private.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* Up to the '='. */
static size_t variable_name(const char *variable)
{
    return strcspn(variable, "=");
}

static bool is_named_in(const char *variable, char *const *others)
{
    size_t n = variable_name(variable);
    for (; others && *others; others++)
        if (strncmp(*others, variable, n) == 0 && ((*others)[n] == '=' || !(*others)[n]))
            return true;
    return false;
}

size_t children_inherit(char **out)
{
    size_t n = 0;
    for (char **v = environ; *v; v++)
        out[n++] = *v;
    return n;
}

/* Few variables, few slots, seldom: each block is walked. Our own stand behind what is inherited. */
void children_hide(struct children *c, const char *name)
{
    char *const names[] = {(char *)name, NULL};
    size_t kept = 0;
    for (uint32_t i = 0; i < c->config.slots; i++) {
        char **block = c->slot[i].environment;
        kept = 0;
        for (size_t k = 0; k < c->variables; k++)
            if (!is_named_in(block[k], names))
                block[kept++] = block[k];
        size_t to = kept;
        for (size_t k = c->variables; block[k]; k++)
            block[to++] = block[k];
        block[to] = NULL;
    }
    if (c->config.slots)
        c->variables = kept;
}

char *const *child_environment_of(struct children *c, struct child *x,
                                  const struct child_request *r)
{
    static const char *const always[] = {"PATH", "TMPDIR", NULL};
    const struct child_environment *own = r->environment;
    if (!own)
        return x->environment;
    c->block.n = 0;
    for (size_t i = 0; x->environment[i]; i++) {
        bool ours = i >= c->variables; /* WEFT_TASK and so on */
        if ((ours || !own->clean || is_named_in(x->environment[i], (char *const *)always)) &&
            !is_named_in(x->environment[i], own->set))
            array_push(&c->block, x->environment[i]);
    }
    for (char *const *v = own->set; v && *v; v++)
        array_push(&c->block, *v);
    array_push(&c->block, NULL);
    return c->block.at;
}

/* ---- what ends a task that others run for us ---- */

void child_keep_ending(struct child *x, char *const *words)
{
    size_t n = 0;
    child_drop_ending(x);
    if (!words)
        return;
    while (words[n])
        n++;
    x->ending = mem_new_zero(char *, n + 1);
    for (size_t i = 0; i < n; i++)
        x->ending[i] = mem_copy_string(words[i]);
}

void child_drop_ending(struct child *x)
{
    for (size_t i = 0; x->ending && x->ending[i]; i++)
        free(x->ending[i]);
    free(x->ending);
    x->ending = NULL;
}

/* With the environment that weft has, and so without the mark by which a task's leftovers are known:
 * it outlives the task on purpose. Allocates nothing. */
pid_t child_end_elsewhere(const struct children *c, const struct child *x)
{
    posix_spawn_file_actions_t quiet;
    pid_t pid = 0;
    if (!x->ending)
        return 0;
    posix_spawn_file_actions_init(&quiet);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    if (posix_spawnp(&pid, x->ending[0], &quiet, &c->attributes, x->ending, environ) != 0)
        pid = 0;
    posix_spawn_file_actions_destroy(&quiet);
    return pid;
}
