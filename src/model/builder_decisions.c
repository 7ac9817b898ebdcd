/* What tasks say about decisions while they run: conditions, inputs that they can do without, failures
 * that are tried again. */
#include "model/builder_state.h"
#include "model/retry.h"

#include <string.h>

void builder_when(struct builder *b, uint32_t task, const char *condition, size_t len)
{
    if (task < b->task_name.n && len)
        column_set(&b->when, task, 0, pool_add(&b->w->text, condition, len));
}

void builder_retry_on(struct builder *b, uint32_t task, const char *list, size_t len, size_t line)
{
    struct error err = {0};
    if (task >= b->task_name.n || (!len && task >= b->retry_on.n))
        return;
    str_id last = b->retry_on.n ? array_last(&b->retry_on) : 0;
    if (len && strcmp(pool_text(&b->w->text, last), list) != 0) {
        last = pool_add(&b->w->text, list, len);
        if (!retry_check(pool_text(&b->w->text, last), &err))
            builder_error(b, line, "task '%s': %s", builder_task_name(b, task), err.text);
    }
    column_set(&b->retry_on, task, 0, len ? last : 0);
}

void builder_copy_texts(struct builder *b, uint32_t task, const struct workflow *w, uint32_t t)
{
    struct strbuf words = {0};
    workflow_needs_text(w, t, &words);
    if (words.n)
        builder_needs(b, task, words.at, words.n, 0);
    strbuf_clear(&words);
    if (workflow_demand(w, t))
        workflow_resources_text(w, t, &words);
    if (words.n)
        builder_resources(b, task, words.at, words.n, 0);
    strbuf_free(&words);
    const char *when = w->when ? workflow_text(w, w->when[t]) : "";
    builder_when(b, task, when, strlen(when));
    const char *list = w->retry_on ? workflow_text(w, w->retry_on[t]) : "";
    builder_retry_on(b, task, list, strlen(list), 0);
}

void builder_optional(struct builder *b, uint32_t task, uint32_t object)
{
    if (object < b->object_name.n && task < b->task_name.n)
        array_push(&b->optionals, (struct builder_reading){task, object});
}
