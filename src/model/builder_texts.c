/* The columns that are texts (TASK_TEXTS), as a builder takes them. */
#include "model/builder_state.h"
#include "model/environment.h"

#include <string.h>

/* The last task that had one mostly had the same: families of a million share a text. */
static str_id text_of_last(struct builder *b, str_id last, const char *text, size_t len)
{
    const char *before = pool_text(&b->w->text, last);
    if (last && strlen(before) == len && memcmp(before, text, len) == 0)
        return last;
    return pool_add(&b->w->text, text, len);
}

void builder_text(struct builder *b, uint32_t task, enum column_id id, const char *text, size_t len,
                  size_t line)
{
    struct error err = {0};
    if (task >= b->task_name.n)
        return;
    char *copy = mem_copy_bytes(text, len); /* with a NUL behind it; and the pool may move */
    if (len && !environment_check(id, copy, &err)) {
        builder_error(b, line, "task '%s': %s", builder_task_name(b, task), err.text);
        free(copy);
        return;
    }
    switch ((int)id) {
#define SET_TEXT(name)                                                                             \
    case COLUMN_##name:                                                                            \
        if (len || task < b->name.n) {                                                             \
            str_id last = b->name.n ? array_last(&b->name) : 0;                                    \
            column_extend(&b->name, (size_t)task + 1, 0);                                          \
            b->name.at[task] = len ? text_of_last(b, last, copy, len) : 0;                         \
        }                                                                                          \
        break;
        TASK_TEXTS(SET_TEXT)
#undef SET_TEXT
    default:
        break;
    }
    free(copy);
}
