/* Commands whose lists of files are not those of the file: `in: [x, x]` is one object to the model, and
 * a folder that tasks make files in is itself and those files. What the command says stays true: its
 * {in} and {in[1]} become the places that the files have now.
 *
 *     in: [x, y, x]       {in}            {in[0:2,0]}
 *                         {in[2]}         {in[0]}
 *     in: counts          {in}            {in[0]}             behind it stand counts/a, counts/b ... */
#include "model/builder_state.h"
#include "model/command.h"
#include "model/condition.h"

#include "base/strbuf.h"

#include <string.h>

/* {in[0:2,0]}: the places of the files that the mark stands for, runs of them as ranges. */
static void add_files_at(struct strbuf *out, const struct marking *m, const uint32_t *place,
                         uint32_t n)
{
    struct marking_place p = marking_begin(m, n);
    uint32_t file, first = 0, end = 0;
    bool any = false;
    size_t begun = out->n;
    strbuf_add(out, m->mark == MARK_IN ? "{in[" : "{out[");
    for (bool more = true; more;) {
        more = marking_next(&p, &file);
        uint32_t at = more ? place ? place[file] : file : NONE;
        if (more && end > first && at == end) {
            end++;
            continue;
        }
        if (end > first) {
            strbuf_printf(out, "%s%u", any ? "," : "", first);
            if (end > first + 1)
                strbuf_printf(out, ":%u", end);
            any = true;
        }
        first = at;
        end = at + 1;
    }
    if (any)
        strbuf_add(out, m->list ? "].list}" : "]}");
    else
        out->n = begun; /* it stood for nothing */
}

/* The check of the commands came before: every index is one that the file has. */
static void rename_in(struct builder *b, struct workflow *w, const struct builder_naming *n)
{
    const uint32_t *place = b->naming_places.at + n->first;
    const char *text = pool_text(&w->text, b->command.at[n->task]), *at = text;
    struct strbuf out = {0};
    while (*at) {
        size_t plain = strcspn(at, "{}");
        strbuf_add_bytes(&out, at, plain);
        at += plain;
        if (!*at)
            break;
        struct marking m = command_marking(w, text, at);
        size_t length = m.length ? m.length : 1;
        if (m.mark == MARK_IN)
            add_files_at(&out, &m, place, n->n);
        else if (m.mark == MARK_OUT)
            add_files_at(&out, &m, NULL, n->outputs);
        else
            strbuf_add_bytes(&out, at, length);
        at += length;
    }
    if (strcmp(text, strbuf_text(&out)) != 0)
        b->command.at[n->task] = pool_add(&w->text, out.at, out.n);
    strbuf_free(&out);
}

/* {in[2]} of a condition likewise. */
static void rename_in_condition(struct builder *b, struct workflow *w,
                                const struct builder_naming *n)
{
    struct strbuf out = {0};
    condition_move_places(&out, pool_text(&w->text, b->when.at[n->task]),
                          b->naming_places.at + n->first, n->n);
    b->when.at[n->task] = pool_add(&w->text, out.at, out.n);
    strbuf_free(&out);
}

void builder_rename_files(struct builder *b, struct workflow *w)
{
    for (size_t i = 0; i < b->namings.n && !builder_failed(b); i++) {
        const struct builder_naming *n = &b->namings.at[i];
        if (n->task < b->when.n && b->when.at[n->task])
            rename_in_condition(b, w, n);
        if (n->task >= b->command.n || !b->command.at[n->task])
            continue;
        if (b->flags.at[n->task] & TASK_CALL)
            builder_error(
                b, b->line.at[n->task],
                "task '%s': a function gets each file once, in the order of the file; name "
                "each once, and files in place of a folder that tasks make files in",
                builder_task_name(b, n->task));
        else
            rename_in(b, w, n);
    }
}
