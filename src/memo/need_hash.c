/* Hashes of tasks: see need_hash.h. A record of every task goes through here when it ends: what several ask for is
 * made once, and the hash of the command is a branch of the key's own beginning. */
#include "memo/need_hash.h"

#include "model/command.h"
#include "model/environment.h"
#include "model/shell.h"

#include <string.h>

uint64_t need_short_digest(const struct digest *d)
{
    uint64_t x;
    memcpy(&x, d->at, sizeof x);
    return x;
}

/* What the task does, without what it reads. The version comes first: a change of what is hashed
 * changes it, and old records are not taken for new ones. Version 2 has the shell, version 3 what the
 * command runs in beside it; what runs as it did when there was none to choose keeps version 1 and its
 * records. */
static void hash_what(const struct needs *n, uint32_t task, struct digest_state *s)
{
    const struct workflow *w = n->w;
    struct strbuf text = {0};
    char label[512];
    if (w->command && w->command[task])
        command_template(w, task, &text);
    char named[SHELL_NAME];
    bool inside = w->container && w->container[task]; /* then the image decides */
    const char *shell = text.n
                            ? shell_in_key(w, task, text.at,
                                           n->elsewhere || inside ? SHELL_STRICT_TEXT
                                                                  : shell_of_this_machine()->text,
                                           named)
                            : NULL;
    struct strbuf around = {0};
    if (environment_is_stated(w, task))
        environment_in_key(w, task, n->environment, &around);
    digest_string(s, around.n ? "weft-key/3" : shell ? "weft-key/2" : "weft-key/1", 10);
    if (around.n)
        digest_string(s, around.at, around.n);
    if (shell || around.n)
        digest_string(s, shell ? shell : "", shell ? strlen(shell) : 0);
    strbuf_free(&around);
    digest_number(s, w->flags[task] & (TASK_CALL | TASK_IN_PLACE));
    digest_string(s, strbuf_text(&text), text.n);
    uint32_t first = w->object_off[task], end = w->object_end[task];
    digest_number(s, end - first);
    for (uint32_t i = first; i < end; i++) {
        const char *name =
            workflow_object_label(n->w, w->out_object ? w->out_object[i] : i, label, sizeof label);
        digest_string(s, name, strlen(name));
    }
    strbuf_free(&text);
}

/* With its outputs a task's files tell it from others that do the same; a task without any is told by
 * its name (`named`): `b: sleep 1` is not done when `a: sleep 1` is. */
bool need_hash_task(const struct needs *n, uint32_t task, bool named, struct digest *key,
                    uint64_t *command)
{
    const struct workflow *w = n->w;
    struct digest_state s;
    char label[512];
    digest_begin(&s);
    hash_what(n, task, &s);
    if (command) { /* what need_hash_command() gives, from the same beginning */
        struct digest_state begun = s;
        struct digest d;
        digest_end(&begun, &d);
        *command = need_short_digest(&d);
    }
    if (named) {
        const char *name = workflow_task_name(w, task);
        digest_string(&s, name, strlen(name));
    }
    for (uint32_t i = w->in_off ? w->in_off[task] : 0; w->in_off && i < w->in_off[task + 1]; i++) {
        uint32_t object = w->in_object[i];
        if (digest_is_zero(&n->content[object]))
            return false;
        const char *name = workflow_object_label(n->w, object, label, sizeof label);
        digest_string(&s, name, strlen(name));
        digest_bytes(&s, n->content[object].at, sizeof n->content[object].at);
    }
    digest_end(&s, key);
    return true;
}

/* For who asks why a task runs: told by the command, or by what it reads? */
uint64_t need_hash_command(const struct needs *n, uint32_t task)
{
    struct digest_state s;
    struct digest d;
    digest_begin(&s);
    hash_what(n, task, &s);
    digest_end(&s, &d);
    return need_short_digest(&d);
}

bool need_hash(const struct needs *n, uint32_t task, struct need_hashes *h)
{
    if (!h->made)
        h->known = need_hash_task(n, task, n->w->object_end[task] == n->w->object_off[task],
                                  &h->key, &h->command);
    h->made = true;
    return h->known;
}
