/* What makes two failures one: a text of everything about a failure that does not depend on which
 * task it is. Names of the task and of its files become "@", numbers "#". */
#include "session/causes.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES_MOST = 32,
    TEXT_MOST = 400
}; /* of a task's files; of a line: enough to tell causes apart */

struct own_names {
    const char *at[NAMES_MOST];
    size_t n;
};

static void own_names_of(const struct workflow *w, uint32_t task, struct own_names *names)
{
    *names = (struct own_names){0};
    if (!w || task >= w->ntasks)
        return;
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        if (names->n < NAMES_MOST / 2 && w->object_name && w->object_name[w->out_object[i]])
            names->at[names->n++] = workflow_text(w, w->object_name[w->out_object[i]]);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
        if (names->n < NAMES_MOST - 1 && w->object_name && w->object_name[w->in_object[i]])
            names->at[names->n++] = workflow_text(w, w->object_name[w->in_object[i]]);
    names->at[names->n++] = workflow_task_name(w, task);
}

/* How long the name is that begins here; 0: none. A name is a whole word: "a" is not in "cat". */
static size_t own_name_at(const struct own_names *names, const char *start, const char *at)
{
    size_t longest = 0;
    if (at > start && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        return 0;
    for (size_t i = 0; i < names->n; i++) {
        size_t n = strlen(names->at[i]);
        if (n > longest && strncmp(at, names->at[i], n) == 0 && !isalnum((unsigned char)at[n]) &&
            at[n] != '_')
            longest = n;
    }
    return longest;
}

static void cause_add(struct strbuf *out, const struct own_names *names, const char *text)
{
    const char *end = text ? text + strnlen(text, TEXT_MOST) : NULL;
    for (const char *at = text; at && at < end;) {
        size_t n = own_name_at(names, text, at);
        if (n) {
            strbuf_add_char(out, '@');
            at += n;
        } else if (isdigit((unsigned char)*at)) {
            strbuf_add_char(out, '#');
            at += strspn(at, "0123456789");
        } else {
            strbuf_add_char(out, *at++);
        }
    }
    strbuf_add_char(out, '\n');
}

/* The program that a command names first. */
static void cause_add_program(struct strbuf *out, const struct own_names *names, const char *text)
{
    size_t n = text ? strcspn(text, " \t\n") : 0;
    char *word = mem_copy_bytes(text ? text : "", n);
    cause_add(out, names, word);
    free(word);
}

static const char *cause_last_line(const char *tail)
{
    const char *line = tail ? strrchr(tail, '\n') : NULL;
    return line ? line + 1 : tail;
}

static char *cause_text(const struct run_record *r, const struct record_failure *f)
{
    struct strbuf out = {0};
    struct own_names names;
    own_names_of(r->workflow, f->task, &names);
    strbuf_printf(&out, "%d %d ", f->outcome, f->status);
    cause_add_program(&out, &names, f->command);
    cause_add(&out, &names, f->reason);
    cause_add(&out, &names, cause_last_line(f->tail));
    return strbuf_steal(&out);
}

void causes_group(struct run_record *r)
{
    size_t n = r->failures.n;
    char **text = mem_new(char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct record_failure *f = &r->failures.at[i];
        text[i] = cause_text(r, f);
        size_t k = 0;
        while (r->failures.at[k].cause != k || strcmp(text[k], text[i]) != 0)
            if (++k == i)
                break;
        f->cause = (uint32_t)k;
        if (k < i) {
            free(f->tail);
            f->tail = NULL;
        }
    }
    for (size_t i = 0; i < n; i++)
        free(text[i]);
    free(text);
}
