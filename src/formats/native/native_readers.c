/* Could a task that is not known yet read this file? What is temporary goes when nobody will read it, also
 * while the workflow grows (drive/disk.h): the files of earlier rounds under `keep: last`, for one.
 *
 *     who may come                          what he may read
 *     an entry that waits                   what the texts of its `in` could be, and what is in such folders
 *     tasks of a file, an included module   anything: their names are not known yet
 *     the next round of a task              the outputs of the round before, and inputs that are not carried
 *     the last task of a repeated one       the outputs of the last round
 *     a list that is pending                what it is read from
 *
 * Too much may be said, and never too little: a file that stays costs room and nothing else. */
#include "base/tree.h"
#include "formats/native/native_reading.h"

#include <string.h>

/* `name` as the whole workflow has it, and a name or pattern of this file. */
static bool text_may_be(const struct native_reading *r, const char *text, const char *name)
{
    struct strbuf outer = {0};
    native_outer_name(r, NULL, text, strlen(text), &outer);
    bool meets = native_files_meet(outer.at, name);
    strbuf_free(&outer);
    return meets;
}

/* Of a task: what stands under `in`. */
static bool inputs_may_be(const struct native_reading *r, yaml_ref body, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref in = yaml_type(y, body) == YAML_MAPPING ? yaml_get(y, body, "in") : YAML_NONE;
    bool meets = false;
    for (yaml_ref v = in; in != YAML_NONE && v < y->at[in].next && !meets; v++)
        meets = yaml_type(y, v) == YAML_SCALAR && text_may_be(r, yaml_text(y, v, NULL), name);
    return meets;
}

/* Does it lie in a folder of a round of this chain? */
static bool is_in_rounds(const struct native_reading *r, const struct native_chain *c,
                         const char *name)
{
    struct strbuf title = {0}, folder = {0}, outer = {0};
    strbuf_printf(&title, "%s%cround=", c->name, strchr(c->name, '@') ? ',' : '@');
    module_add_folder(title.at, &folder);
    folder.at[--folder.n] = 0; /* of any number: without the slash */
    for (uint32_t i = 0; i < c->out.n && !outer.n; i++) {
        struct strbuf output = {0};
        native_round_output(c, c->round, i, &output);
        native_outer_name(r, NULL, output.at, output.n, &outer);
        char *at = strstr(outer.at, folder.at);
        if (at)
            outer.at[outer.n = (size_t)(at - outer.at) + folder.n] = 0;
        else
            strbuf_clear(&outer); /* it is mapped to a place of its own */
        strbuf_free(&output);
    }
    bool inside = outer.n && strncmp(name, outer.at, outer.n) == 0;
    strbuf_free(&title);
    strbuf_free(&folder);
    strbuf_free(&outer);
    return inside;
}

static bool chain_may_read(const struct native_reading *r, const struct native_chain *c,
                           const char *name)
{
    struct strbuf output = {0};
    bool may = false;
    if (c->ended)
        return false;
    for (uint32_t i = 0; i < c->out.n && !may; i++) {
        native_round_output(c, c->round, i, &output);
        may = text_may_be(r, output.at, name);
    }
    strbuf_free(&output);
    if (may || c->over || is_in_rounds(r, c, name))
        return may;
    if (native_is_flow(r, c->key)) /* its tasks may read what nobody hands them */
        return true;
    for (uint32_t i = 0; i < c->in.n && !may; i++)
        may = c->in.at[i].carried == NONE && text_may_be(r, c->in.at[i].name, name);
    return may;
}

bool native_may_read(const struct native_reading *r, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r);
    size_t entry = 0;
    bool may = false;
    for (uint32_t i = 0; i < r->lists.at.n && !may; i++)
        if (r->lists.at.at[i].pending) {
            char *place = native_list_place(r, i);
            may = native_files_meet(place, name);
            free(place);
        }
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE && !may;
         k = yaml_next(y, tasks, k), entry++)
        if (native_entry_of(r, entry) == ENTRY_LATER)
            may = native_is_joined(r, k) || native_is_flow(r, k) ||
                  inputs_may_be(r, yaml_value(k), name);
    for (; entry < r->entry.n && !may; entry++) /* what it includes */
        may = r->entry.at[entry] == ENTRY_LATER;
    for (size_t i = 0; i < r->chains.n && !may; i++)
        may = chain_may_read(r, r->chains.at[i], name);
    for (size_t i = 0; i < r->open.n && !may; i++)
        may = native_may_read(r->modules.at[r->open.at[i]], name);
    return may;
}
