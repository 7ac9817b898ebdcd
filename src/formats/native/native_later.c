/* Which tasks of a native file are not known yet: those that run through a list that is read when a
 * task is done (`lists: { chunk: { files: "parts/{chunk}", after: split } }`), that name one of its
 * variables, that come after such a task or read what it makes; and so on down.
 *
 * What a family will make is known as a pattern only: models/{chunk}. A name that such a pattern could
 * give counts as made by it, so that nobody runs too early; that somebody waits a little longer than
 * he must costs time and nothing else.
 *
 * Modules that the file includes are entries, too, behind its tasks: one reads and makes what its tasks
 * read and make, and goes on while something in it is not known. A task that is repeated goes on while
 * rounds are to come. Who comes after what goes on is later itself.
 *
 *     entry     itself known?    goes on?       its followers
 *     list      no               -              LATER: wait for the list
 *     solve     yes              rounds         LATER: wait for the entry
 *     qc        yes              its module     LATER: wait for the entry
 *     others    yes              no             NOW
 *
 * Cost: a walk over the file, and for each task that is not known one over those that are. Most pairs
 * differ in their first characters. */
#include "base/file.h"
#include "base/suggest.h"
#include "base/tree.h"
#include "formats/native/native_reading.h"
#include "model/command.h"

#include <string.h>

bool native_is_joined(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(key);
    return r->joins && yaml_type(y, body) == YAML_MAPPING &&
           yaml_get(y, body, "tasks") != YAML_NONE;
}

const char *native_joined_after(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref after = yaml_get(y, yaml_value(key), "after");
    return after == YAML_NONE ? "" : yaml_text(y, after, NULL);
}

/* Does a module of this entry grow while it runs? It was made, or could. */
static bool entry_may_grow(struct native_reading *r, yaml_ref key, bool include)
{
    const struct yaml *y = &r->file.y;
    yaml_ref file = yaml_value(key);
    if (yaml_type(y, file) == YAML_MAPPING)
        file = yaml_get(y, file, include ? "file" : "flow");
    return file != YAML_NONE && yaml_type(y, file) == YAML_SCALAR &&
           native_may_grow(r, file, yaml_text(y, file, NULL));
}

/* One look at the file, so that others are not asked of every task. False: an error. */
bool native_find_joined(struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    yaml_ref includes = native_includes(r), said = yaml_get(y, 0, "include");
    bool flows = false;
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k)) {
        if (yaml_type(y, yaml_value(k)) != YAML_MAPPING)
            continue;
        r->joins = r->joins || yaml_get(y, yaml_value(k), "tasks") != YAML_NONE;
        r->repeats = r->repeats || yaml_get(y, yaml_value(k), "repeat") != YAML_NONE;
        r->repeats_openly = r->repeats_openly || (r->lists.waits && native_is_open_repeat(r, k));
        bool flow = native_is_flow(r, k);
        flows = flows || flow;
        r->opens = r->opens || (flow && entry_may_grow(r, k, false));
    }
    r->no_flows = !flows;
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes);
         k != YAML_NONE && !r->opens; k = yaml_next(y, includes, k))
        r->opens = entry_may_grow(r, k, true);
    return said == YAML_NONE || yaml_is_null(y, said) ||
           native_is_mapping(&r->file, said, "include");
}

/* ---- modules ---- */

bool native_is_open(const struct native_reading *r)
{
    for (size_t i = 0; i < r->entry.n; i++)
        if (r->entry.at[i] == ENTRY_LATER)
            return true;
    for (size_t i = 0; i < r->chains.n; i++)
        if (!r->chains.at[i]->over)
            return true;
    for (size_t i = 0; i < r->open.n; i++) /* modules are MODULE_DEPTH deep at most */
        if (native_is_open(r->modules.at[r->open.at[i]]))
            return true;
    return false;
}

void native_note_open(struct native_reading *r)
{
    for (; r->noted < r->modules.n; r->noted++)
        if (native_is_open(r->modules.at[r->noted]))
            array_push(&r->open, r->noted);
}

/* Keys, and a task that it is read after. */
static bool check_joined(const struct native_reading *r, yaml_ref tasks, yaml_ref key)
{
    static const char *const keys[] = {"tasks", "after", NULL};
    const struct yaml *y = &r->file.y;
    const char *name = yaml_text(y, key, NULL), *after = native_joined_after(r, key);
    yaml_ref body = yaml_value(key);
    for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k))
        if (native_key(&r->file, k, keys) < 0)
            return false;
    char *entry = mem_copy_bytes(after, strcspn(after, "@"));
    bool known = yaml_get(y, tasks, entry) != YAML_NONE && strcmp(entry, name) != 0;
    free(entry);
    return known ||
           native_error(&r->file, key,
                        "task '%.80s': `tasks: FILE` goes with `after: TASK`, the task that "
                        "writes the file%s%.80s%s",
                        name, *after ? "; '" : "", after, *after ? "' is no task" : "");
}

bool native_has_pending(const struct native_reading *r)
{
    if ((r->joins || r->repeats_openly || r->opens) && !r->entry.n)
        return true;
    for (size_t i = 0; i < r->lists.at.n; i++)
        if (r->lists.at.at[i].pending)
            return true;
    return false;
}

/* ---- texts that may be the same ---- */

enum { ANYTHING = -1, MEET_MOST = 400 };

/* Characters, {words} as ANYTHING. Too long: cut, which makes more alike and never less. */
static int meet_tokens(const char *text, int *out)
{
    int n = 0;
    const char *word = text;
    size_t length = scope_next_word(text, &word);
    for (const char *p = text; *p && n < MEET_MOST - 1;) {
        if (length && p + 1 == word) {
            out[n++] = ANYTHING;
            p = word + length + 1;
            word = p;
            length = scope_next_word(text, &word);
        } else {
            out[n++] = (unsigned char)*p;
            p += 1 + ((*p == '{' || *p == '}') && p[1] == *p); /* {{ is a brace */
        }
    }
    if (n == MEET_MOST - 1)
        out[n++] = ANYTHING;
    return n;
}

/* meet[j]: can the rest of `a` from i on be the rest of `b` from j on? From the ends backwards. */
static bool tokens_meet(const int *a, int n, const int *b, int m)
{
    bool row[2][MEET_MOST + 1] = {{false}};
    for (int i = n; i >= 0; i--) {
        bool *now = row[i & 1];
        const bool *below = row[(i + 1) & 1];
        for (int j = m; j >= 0; j--) {
            if (i == n || j == m) {
                bool rest = true; /* only what can be nothing is left */
                for (int k = i; k < n && rest; k++)
                    rest = a[k] == ANYTHING;
                for (int k = j; k < m && rest; k++)
                    rest = b[k] == ANYTHING;
                now[j] = rest;
            } else if (a[i] == ANYTHING || b[j] == ANYTHING) {
                now[j] = below[j] || now[j + 1] || below[j + 1];
            } else {
                now[j] = a[i] == b[j] && below[j + 1];
            }
        }
    }
    return row[0][0];
}

bool native_may_meet(const char *a, const char *b)
{
    int x[MEET_MOST], y[MEET_MOST], n = 0, m = 0;
    size_t same = strcspn(a, "{}"), other = strcspn(b, "{}");
    if (strncmp(a, b, same < other ? same : other) != 0)
        return false; /* before the first word they differ */
    n = meet_tokens(a, x);
    m = meet_tokens(b, y);
    return tokens_meet(x, n, y, m);
}

/* A file of one name and a file of the other: the same, or one is a folder that the other lies in. */
bool native_files_meet(const char *a, const char *b)
{
    struct strbuf below = {0};
    bool meet = native_may_meet(a, b);
    for (int i = 0; i < 2 && !meet; i++) {
        const char *folder = i ? b : a;
        strbuf_clear(&below);
        strbuf_printf(&below, "%s%s{x}", folder,
                      *folder && folder[strlen(folder) - 1] == '/' ? "" : "/");
        meet = native_may_meet(below.at, i ? a : b);
    }
    strbuf_free(&below);
    return meet;
}

/* ---- what a task of the file says ---- */

/* Every text under `key` of a task. */
#define each_text(y, body, key, v)                                                                 \
    for (yaml_ref v##_in = yaml_get((y), (body), (key)), v = v##_in == YAML_NONE ? 0 : v##_in,     \
                  v##_end = v##_in == YAML_NONE ? 0 : (y)->at[v##_in].next;                        \
         v < v##_end; v++)                                                                         \
        if (yaml_type((y), v) == YAML_SCALAR)

/* The pending list behind a word; UINT32_MAX: none. A word that nobody knows may be a column of a table
 * that was not read. */
static uint32_t pending_word(const struct native_reading *r, const char *word, size_t length,
                             bool may_be_column)
{
    const struct lists *l = &r->lists;
    uint32_t v = lists_find_variable(l, word, length);
    if (v == UINT32_MAX) {
        uint32_t list = lists_find_list(l, word, length);
        if (list != UINT32_MAX)
            return l->at.at[list].pending ? list : UINT32_MAX;
    } else {
        return l->at.at[l->variables.at[v].list].pending ? l->variables.at[v].list : UINT32_MAX;
    }
    for (size_t i = 0; i < r->scope.parameters.n; i++)
        if (strncmp(r->scope.parameters.at[i].name, word, length) == 0 &&
            !r->scope.parameters.at[i].name[length])
            return UINT32_MAX;
    for (int i = 0; i < COMMAND_WORDS; i++)
        if (strlen(command_built_in[i]) == length && memcmp(command_built_in[i], word, length) == 0)
            return UINT32_MAX;
    for (size_t i = 0; i < l->at.n && may_be_column; i++)
        if (l->at.at[i].pending && !l->at.at[i].ncolumns)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* The first pending list that the task itself speaks of. */
static uint32_t pending_in_task(const struct native_reading *r, yaml_ref body)
{
    const struct yaml *y = &r->file.y;
    uint32_t found = UINT32_MAX;
    if (yaml_type(y, body) != YAML_MAPPING)
        return UINT32_MAX;
    each_text(y, body, "each", e)
    {
        size_t length;
        const char *name = yaml_text(y, e, &length);
        found = found != UINT32_MAX ? found : pending_word(r, name, length, true);
    }
    for (yaml_ref k = yaml_first(y, body); k != YAML_NONE && found == UINT32_MAX;
         k = yaml_next(y, body, k)) {
        bool command = strcmp(yaml_text(y, k, NULL), "run") == 0;
        for (yaml_ref v = yaml_value(k); v < y->at[k + 1].next && found == UINT32_MAX; v++) {
            const char *text = yaml_type(y, v) == YAML_SCALAR ? yaml_text(y, v, NULL) : "";
            const char *p = text;
            for (size_t n; found == UINT32_MAX && (n = scope_next_word(text, &p)) > 0; p += n)
                found = pending_word(r, p, n, !command);
        }
    }
    return found;
}

void native_lists_named(const struct native_reading *r, yaml_ref body, bool *named)
{
    const struct yaml *y = &r->file.y;
    const struct lists *l = &r->lists;
    for (yaml_ref v = body; v < y->at[body].next; v++) {
        const char *text = yaml_type(y, v) == YAML_SCALAR ? yaml_text(y, v, NULL) : "", *p = text;
        for (size_t n; (n = scope_next_word(text, &p)) > 0; p += n) {
            uint32_t variable = lists_find_variable(l, p, n);
            if (variable != UINT32_MAX)
                named[l->variables.at[variable].list] = true;
        }
    }
    if (yaml_type(y, body) == YAML_MAPPING)
        each_text(y, body, "each", e)
        {
            size_t length;
            const char *name = yaml_text(y, e, &length);
            uint32_t variable = lists_find_variable(l, name, length);
            uint32_t list = variable != UINT32_MAX ? l->variables.at[variable].list
                                                   : lists_find_list(l, name, length);
            if (list != UINT32_MAX)
                named[list] = true;
        }
}

/* A list is read after it: then it cannot wait for that list, whatever a pattern could mean. */
static bool decides(const struct native_reading *r, const char *name)
{
    for (uint32_t i = 0; i < r->lists.at.n; i++)
        if (r->lists.at.at[i].pending && strcmp(lists_after(&r->lists, &r->file, i), name) == 0)
            return true;
    return false;
}

/* An entry of the file as the others see it. */
struct later_entry {
    yaml_ref key;
    bool include;                /* a module that the file includes */
    struct peeked_files in, out; /* of that: what its tasks read, make */
};

/* Does `entry` read what `maker` makes? By the texts of tasks, and what modules were seen to have. */
static bool reads_from(const struct native_reading *r, const struct later_entry *entry,
                       const struct later_entry *maker)
{
    const struct yaml *y = &r->file.y;
    struct peeked_files in = {0}, out = {0};
    bool meet = false;
    bool exact = !entry->include && decides(r, yaml_text(y, entry->key, NULL));
    if (!entry->include && yaml_type(y, yaml_value(entry->key)) == YAML_MAPPING)
        each_text(y, yaml_value(entry->key), "in", i)
            array_push(&in, (char *)yaml_text(y, i, NULL));
    if (!maker->include && yaml_type(y, yaml_value(maker->key)) == YAML_MAPPING)
        each_text(y, yaml_value(maker->key), "out", o)
            array_push(&out, (char *)yaml_text(y, o, NULL));
    const struct peeked_files *reads = entry->include ? &entry->in : &in;
    const struct peeked_files *makes = maker->include ? &maker->out : &out;
    for (size_t i = 0; i < reads->n && !meet; i++)
        for (size_t o = 0; o < makes->n && !meet; o++)
            meet = exact ? strcmp(reads->at[i], makes->at[o]) == 0
                         : native_files_meet(reads->at[i], makes->at[o]);
    array_free(&in);
    array_free(&out);
    return meet;
}

/* Does the entry come after `later`, or read what it makes? */
static bool comes_after(const struct native_reading *r, const struct later_entry *entry,
                        const struct later_entry *later)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(entry->key);
    const char *name = yaml_text(y, later->key, NULL);
    bool after = false;
    if (!entry->include && yaml_type(y, body) != YAML_MAPPING)
        return false;
    if (!entry->include) {
        struct strbuf member = {0}, inside = {0};
        strbuf_printf(&member, "%s@{x}", name);
        strbuf_printf(&inside, "%s/{x}", name);
        each_text(y, body, "after", a)
        {
            const char *text = yaml_text(y, a, NULL);
            after = after || native_may_meet(text, name) || native_may_meet(text, member.at) ||
                    native_may_meet(text, inside.at);
        }
        strbuf_free(&member);
        strbuf_free(&inside);
    }
    return after || reads_from(r, entry, later);
}

/* ---- all of them ---- */

/* Every list with `after` is read after a task of the file, or a member of a family. */
bool native_check_deciders(const struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    for (uint32_t i = 0; i < r->lists.at.n; i++) {
        const struct list *l = &r->lists.at.at[i];
        if (!l->pending && !l->later)
            continue;
        const char *after = lists_after(&r->lists, &r->file, i);
        char *entry = mem_copy_bytes(after, strcspn(after, "@/"));
        yaml_ref includes = native_includes(r);
        bool known = (tasks != YAML_NONE && yaml_get(y, tasks, entry) != YAML_NONE) ||
                     (includes != YAML_NONE && yaml_get(y, includes, entry) != YAML_NONE);
        free(entry);
        if (known)
            continue;
        if (tasks == YAML_NONE)
            return native_error(&r->file, l->at,
                                "list '%.80s' is read after '%.80s', which is no task",
                                lists_name(&r->lists, l->name), after);
        const char **names = mem_new(const char *, yaml_size(y, tasks) + 1), *near;
        size_t count = 0;
        for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k))
            names[count++] = yaml_text(y, k, NULL);
        near = suggest_nearest(after, names, count);
        native_error(&r->file, l->at, "list '%.80s' is read after '%.80s', which is no task%s%s%s",
                     lists_name(&r->lists, l->name), after, near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
        free(names);
        return false;
    }
    return true;
}

/* Some pending list must be able to become known. */
static bool check_progress(const struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    const struct list *first = NULL;
    uint32_t which = 0;
    for (size_t i = 0; i < r->entry.n; i++)
        if (r->entry.at[i] == ENTRY_LATER && r->waits_for.at[i] >= r->lists.at.n)
            return true; /* that one was looked at */
    for (uint32_t i = 0; i < r->lists.at.n; i++) {
        if (!r->lists.at.at[i].pending)
            continue;
        const char *after = lists_after(&r->lists, &r->file, i);
        size_t length = strcspn(after, "@/"), entry = 0;
        char *decider = mem_copy_bytes(after, length);
        bool module =
            tasks == YAML_NONE || after[length] == '/' || yaml_get(y, tasks, decider) == YAML_NONE;
        free(decider);
        if (module)
            return true; /* it is known, or waits itself */
        for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE;
             k = yaml_next(y, tasks, k), entry++) {
            const char *name = yaml_text(y, k, NULL);
            if (strncmp(name, after, length) == 0 && !name[length] &&
                r->entry.at[entry] != ENTRY_LATER)
                return true;
        }
        which = first ? which : i;
        first = first ? first : &r->lists.at.at[i];
    }
    return !first ||
           native_error(&r->file, first->at,
                        "list '%.80s' is read after task '%.80s', which is not known before a list "
                        "is read that depends on it: a cycle",
                        lists_name(&r->lists, first->name),
                        lists_after(&r->lists, &r->file, which));
}

/* Who waits for the rounds of a task that is not known itself waits for what that waits for. */
static bool resolve_waits(struct native_reading *r, const struct later_entry *all)
{
    for (size_t e = 0; e < r->entry.n; e++) {
        size_t steps = 0;
        while (r->entry.at[e] == ENTRY_LATER && r->waits_for.at[e] >= r->lists.at.n) {
            size_t next = WAITS_FOR_ENTRY(r->waits_for.at[e]);
            bool own = r->waits_for.at[next] == WAITS_FOR_ENTRY(next); /* its file */
            if (r->entry.at[next] != ENTRY_LATER || (own && native_is_joined(r, all[next].key)))
                break;
            if (own || steps++ > r->entry.n)
                return native_error(&r->file, all[e].key,
                                    "'%.80s' needs what a repeated task or a module makes that is "
                                    "not known yet, and that needs what it makes: a cycle",
                                    yaml_text(&r->file.y, all[e].key, NULL));
            r->waits_for.at[e] = r->waits_for.at[next];
        }
    }
    return true;
}

/* The file that the entry names, if it stands there already, or another in its place (of who does not
 * wait). */
static void release_standing(struct native_reading *r, size_t entry, yaml_ref key)
{
    char *path = native_joined_path(r, key);
    bool given = native_assumed(r, yaml_text(&r->file.y, key, NULL)) != NULL;
    r->released.at[entry] = given || file_exists(path);
    if (!given && r->released.at[entry] && native_simulates(r))
        builder_warn(r->b, yaml_line(&r->file.y, key),
                     "the tasks of '%.80s' are assumed as they stand in %.200s from the last run",
                     yaml_text(&r->file.y, key, NULL), path);
    free(path);
}

/* What the entry waits for by itself. False: an error. */
static bool judge_entry(struct native_reading *r, yaml_ref tasks, const struct later_entry *x,
                        size_t entry)
{
    bool joined = !x->include && native_is_joined(r, x->key);
    if (joined && !check_joined(r, tasks, x->key))
        return false;
    if (joined && !r->lists.waits && !r->released.at[entry])
        release_standing(r, entry, x->key);
    r->waits_for.at[entry] = !joined                 ? pending_in_task(r, yaml_value(x->key))
                             : r->released.at[entry] ? UINT32_MAX
                                                     : WAITS_FOR_ENTRY(entry);
    r->entry.at[entry] = r->waits_for.at[entry] != UINT32_MAX ? ENTRY_LATER : ENTRY_NOW;
    return true;
}

struct later_list {
    struct later_entry *at;
    size_t n, cap;
};

/* Tasks of the file, then what it includes. */
static void list_entries(struct native_reading *r, yaml_ref tasks, struct later_list *all)
{
    const struct yaml *y = &r->file.y;
    yaml_ref includes = native_includes(r);
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k))
        array_push(all, (struct later_entry){.key = k});
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes); k != YAML_NONE;
         k = yaml_next(y, includes, k)) {
        array_push(all, (struct later_entry){.key = k, .include = true});
        native_peek_files(r, k, false, &array_last(all).in);
        native_peek_files(r, k, true, &array_last(all).out);
    }
    while (r->entry.n < all->n) {
        array_push(&r->entry, ENTRY_NOW);
        array_push(&r->waits_for, UINT32_MAX);
        array_push(&r->released, false);
        array_push(&r->pass, 0);
    }
}

static void free_entries(struct later_list *all)
{
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->at[i].in.n; k++)
            free(all->at[i].in.at[k]);
        for (size_t k = 0; k < all->at[i].out.n; k++)
            free(all->at[i].out.at[k]);
        array_free(&all->at[i].in);
        array_free(&all->at[i].out);
    }
    array_free(all);
}

/* Was it made, now or before? Then it stays so. */
static bool is_made(const struct native_reading *r, size_t entry)
{
    return r->entry.at[entry] == ENTRY_MADE || r->pass.at[entry];
}

bool native_goes_on(struct native_reading *r, yaml_ref key, bool made)
{
    const struct yaml *y = &r->file.y;
    yaml_ref includes = native_includes(r);
    bool include = includes != YAML_NONE && key > includes && key < y->at[includes].next;
    if (!include && native_is_repeated(r, key))
        return native_has_rounds(r, key);
    if (!r->opens || (!include && !native_is_flow(r, key)))
        return false;
    for (size_t i = 0; i < r->open.n; i++)
        if (r->modules.at[r->open.at[i]]->module->key == key &&
            native_is_open(r->modules.at[r->open.at[i]]))
            return true;
    return !made && entry_may_grow(r, key, include);
}

/* Those who come after what is not known, and so on. What was made stays: nothing of it waits for what is
 * to come, or it would not have been made. */
static void spread_later(struct native_reading *r, const struct later_list *all)
{
    ARRAY(uint32_t) later = {0}; /* those whose followers are to be found */
    for (uint32_t e = 0; e < all->n; e++)
        if (r->entry.at[e] == ENTRY_LATER || native_goes_on(r, all->at[e].key, is_made(r, e)))
            array_push(&later, e);
    for (size_t i = 0; i < later.n; i++) {
        uint32_t known = later.at[i];
        for (uint32_t e = 0; e < all->n; e++)
            if (e != known && r->entry.at[e] == ENTRY_NOW && !is_made(r, e) &&
                comes_after(r, &all->at[e], &all->at[known])) {
                bool waits =
                    r->entry.at[known] == ENTRY_LATER; /* else for its rounds, its module */
                r->entry.at[e] = ENTRY_LATER;
                r->waits_for.at[e] = waits ? r->waits_for.at[known] : WAITS_FOR_ENTRY(known);
                array_push(&later, e);
            }
    }
    array_free(&later);
}

bool native_find_later(struct native_reading *r, yaml_ref tasks)
{
    struct later_list all = {0};
    bool good = native_check_deciders(r, tasks);
    native_note_open(r);
    list_entries(r, tasks, &all);
    for (size_t e = 0; e < all.n && good; e++)
        if (!is_made(r, e))
            good = judge_entry(r, tasks, &all.at[e], e);
    if (good)
        spread_later(r, &all);
    good = good && resolve_waits(r, all.at);
    free_entries(&all);
    return good && (!r->lists.waits || check_progress(r, tasks));
}
