/* The columns that are texts, as a builder takes them: shells, and those of TASK_TEXTS; and all columns
 * of a task at once, from another workflow. */
#include "model/builder_state.h"
#include "model/environment.h"
#include "model/shell.h"

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

void builder_shell(struct builder *b, uint32_t task, const char *shell, size_t len, size_t line)
{
    struct shell_words words;
    struct error err = {0};
    if (task >= b->task_name.n)
        return;
    /* as with kinds: the last task that named one mostly named the same */
    str_id last = b->shell.n ? array_last(&b->shell) : 0;
    const char *text = pool_text(&b->w->text, last);
    if (len && !(last && strlen(text) == len && memcmp(text, shell, len) == 0)) {
        last = pool_add(&b->w->text, shell, len);
        if (!shell_parse(pool_text(&b->w->text, last), &words, &err)) {
            builder_error(b, line, "task '%s': %s", builder_task_name(b, task), err.text);
            return;
        }
    }
    if (len || task < b->shell.n) {
        column_extend(&b->shell, (size_t)task + 1, 0);
        b->shell.at[task] = len ? last : 0;
    }
}

void builder_copy_columns(struct builder *b, uint32_t task, const struct workflow *w, uint32_t t,
                          uint64_t without)
{
    for (int i = 0; i < TASK_TEXT_COUNT; i++) {
        const char *text = column_text(w, t, task_text[i]);
        if (text && !(without >> task_text[i] & 1))
            builder_text(b, task, task_text[i], text, strlen(text), 0);
    }
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        if (c->sort == COLUMN_OWN || without >> id & 1 || !column_is_set(w, t, id))
            continue;
        if (c->sort == COLUMN_SWITCH)
            builder_flag(b, task, c->flag);
        else
            builder_number(b, task, id, column_number(w, t, id), 0);
    }
}
