/* Decisions: see decide.h. What a condition asked may be gone when the next run asks again (a temporary
 * file, one that stayed on an agent): then the decision is found by its own key, a digest of the
 * condition and the contents of the inputs, among the records of computations. */
#include "memo/decide.h"

#include "base/tree.h"
#include "model/condition.h"

#include <string.h>

/* The content of a file that is not there: of no file, since no digest is this. */
static const struct digest absent_content = {{'a', 'b', 's', 'e', 'n', 't'}};

void needs_decide(struct needs *n)
{
    if (!n->absent)
        n->absent = mem_new_zero(uint8_t,
                                 n->object_room > n->w->nobjects ? n->object_room : n->w->nobjects);
}

void need_absent(struct needs *n, uint32_t object)
{
    n->absent[object] = 1;
    n->content[object] = absent_content;
    n->present[object] = 0;
    n->bytes[object] = 0;
}

void need_without_outputs(struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    for (uint32_t o = w->object_off[task]; n->absent && o < w->object_end[task]; o++)
        need_absent(n, o);
}

/* ---- on record ---- */

/* False: an input's content is not known. */
static bool decision_key(const struct needs *n, uint32_t task, struct digest *key)
{
    const struct workflow *w = n->w;
    const char *when = workflow_text(w, w->when[task]);
    struct digest_state s;
    digest_begin(&s);
    digest_string(&s, "weft-when/1", 11);
    digest_string(&s, when, strlen(when));
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        const struct digest *content = &n->content[w->in_object[i]];
        if (digest_is_zero(content))
            return false;
        digest_bytes(&s, content->at, sizeof content->at);
    }
    digest_end(&s, key);
    return true;
}

void need_decided(struct needs *n, uint32_t task, bool taken)
{
    const struct workflow *w = n->w;
    struct memo_task t = {.command = taken};
    bool gone = false;
    if (!n->memo || n->hashed_elsewhere || !w->when || !w->when[task])
        return;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && !gone; i++)
        gone = need_may_be_gone(n, w->in_object[i]);
    if (!gone || !decision_key(n, task, &t.key) || memo_find(n->memo, &t.key))
        return;
    memcpy(&t.name, t.key.at, sizeof t.name);
    memo_add(n->memo, &t, NULL, NULL);
}

/* ---- asking ---- */

struct decision_files {
    const struct deciding *d;
    uint32_t task;
    bool missing; /* one that is not absent is not here */
    struct strbuf path;
    char label[512];
};

static struct condition_file decision_file(void *context, bool out, uint32_t place)
{
    struct decision_files *f = context;
    const struct deciding *d = f->d;
    (void)out;
    uint32_t object = d->w->in_object[d->w->in_off[f->task] + place];
    const char *name = workflow_object_label(d->w, object, f->label, sizeof f->label);
    bool absent = d->absent && d->absent[object];
    path_in(d->folder, name, &f->path);
    f->missing |= !absent && d->needs && !d->needs->present[object] && name[0] != '/';
    return (struct condition_file){name, absent ? NULL : f->path.at};
}

/* Are the contents of all its inputs known, so that files stand for what they are? */
static bool inputs_are_known(const struct deciding *d, uint32_t task)
{
    const struct workflow *w = d->w;
    for (uint32_t i = w->in_off[task]; d->needs && i < w->in_off[task + 1]; i++)
        if (digest_is_zero(&d->needs->content[w->in_object[i]]))
            return false;
    return d->needs != NULL;
}

static enum task_decision ask_condition(const struct deciding *d, uint32_t task,
                                        const struct condition *c, struct error *err)
{
    struct decision_files f = {.d = d, .task = task};
    const struct condition_world world = {&f, decision_file};
    struct error why = {0};
    bool holds = false;
    bool good = condition_holds(c, &world, &holds, &why);
    strbuf_free(&f.path);
    if (f.missing && !d->starts)
        return DECISION_OPEN;
    if (good)
        return holds ? DECISION_TAKEN : DECISION_SKIPPED;
    error_set(err, ERROR_FAILED, "its `when` cannot be answered: %s", why.text);
    return DECISION_FAILED;
}

static enum task_decision decide_when(const struct deciding *d, uint32_t task, struct error *err)
{
    const struct workflow *w = d->w;
    const struct condition_scope scope = {.key = "when",
                                          .in = w->in_off[task + 1] - w->in_off[task]};
    struct condition *c = condition_parse(workflow_text(w, w->when[task]), &scope, err);
    if (!c)
        return DECISION_FAILED;
    enum task_decision decision = DECISION_OPEN;
    if (d->starts || !condition_asks_files(c) || inputs_are_known(d, task))
        decision = ask_condition(d, task, c, err);
    condition_free(c);
    struct digest key;
    const struct memo_task *known = NULL;
    if (decision == DECISION_OPEN && d->needs && d->needs->memo &&
        decision_key(d->needs, task, &key))
        known = memo_find(d->needs->memo, &key);
    return known ? known->command ? DECISION_TAKEN : DECISION_SKIPPED : decision;
}

enum task_decision decide_task(const struct deciding *d, uint32_t task, uint32_t *because,
                               struct error *err)
{
    const struct workflow *w = d->w;
    *because = NONE;
    for (uint32_t i = w->in_off ? w->in_off[task] : 0; w->in_off && i < w->in_off[task + 1]; i++) {
        uint32_t object = w->in_object[i];
        if (d->absent && d->absent[object] && w->producer[object] != NONE &&
            !(w->in_optional && w->in_optional[i])) {
            *because = w->producer[object];
            return DECISION_SKIPPED;
        }
    }
    return w->when && w->when[task] ? decide_when(d, task, err) : DECISION_TAKEN;
}
