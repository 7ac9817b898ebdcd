/* Hashes of tasks: see need_hash.h. A record of every task goes through here when it ends: what several ask for is
 * made once, and the hash of the command is a branch of the key's own beginning. */
#include "memo/need_hash.h"
#include "model/memory_file.h"

#include "base/mem.h"
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
            workflow_object_name(n->w, w->out_object ? w->out_object[i] : i, label, sizeof label);
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
        const char *name = workflow_object_name(n->w, object, label, sizeof label);
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

/* What it runs in may become known later: of such a task nothing is kept. */
static bool hash_stands(const struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    bool stands = w->in_off && w->flags[task] & TASK_CALL && !environment_is_stated(w, task);
    for (uint32_t i = stands ? w->in_off[task] : 0; stands && i < w->in_off[task + 1]; i++)
        stands = need_in_memory(n, w->in_object[i]);
    for (uint32_t i = w->object_off[task]; stands && i < w->object_end[task]; i++)
        stands = need_in_memory(n, w->out_object ? w->out_object[i] : i);
    return stands;
}

void need_keep_hashes(struct needs *n, uint32_t task)
{
    struct need_hashes h = {0};
    if (!hash_stands(n, task) || !need_hash(n, task, &h))
        return;
    const struct workflow *w = n->w;
    if (task >= n->nhashes || n->nname_hashes < w->nobjects) { /* the first, or it has grown */
        n->hashes = mem_resize(n->hashes, w->ntasks);
        n->name_hashes = mem_resize(n->name_hashes, (size_t)w->nobjects + 1);
        memset(n->hashes + n->nhashes, 0, (w->ntasks - n->nhashes) * sizeof *n->hashes);
        memset(n->name_hashes + n->nname_hashes, 0,
               (w->nobjects - n->nname_hashes) * sizeof *n->name_hashes);
        n->nhashes = w->ntasks;
        n->nname_hashes = w->nobjects;
    }
    n->hashes[task] = h;
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++) {
        uint32_t object = w->out_object ? w->out_object[i] : i;
        n->name_hashes[object] = need_hash_name(n, object);
    }
}

uint64_t need_hash_name(const struct needs *n, uint32_t object)
{
    char label[512];
    if (object < n->nname_hashes && n->name_hashes[object])
        return n->name_hashes[object];
    const char *name = workflow_object_name(n->w, object, label, sizeof label);
    return memo_hash(name, strlen(name));
}

bool need_hash(const struct needs *n, uint32_t task, struct need_hashes *h)
{
    if (!h->made && task < n->nhashes && n->hashes[task].made)
        *h = n->hashes[task];
    if (!h->made)
        h->known = need_hash_task(n, task, n->w->object_end[task] == n->w->object_off[task],
                                  &h->key, &h->command);
    const char *name = h->made ? NULL : workflow_task_name(n->w, task);
    if (name)
        h->name = memo_hash(name, strlen(name));
    h->made = true;
    return h->known;
}
