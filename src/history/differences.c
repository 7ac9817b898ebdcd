/* What differs between two runs beside times. Facts are matched by sort, name and labels, files by
 * their paths; a value that several tasks of a run state under one name (members of a family), by the task, too. O(n log n) in facts and
 * files. */
#include "history/differences.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void history_changes_add(struct history_changes *c, const char *what, const char *name,
                         const char *a, const char *b)
{
    struct history_difference d = {what, mem_copy_string(name), a ? mem_copy_string(a) : NULL,
                                   b ? mem_copy_string(b) : NULL};
    array_push(&c->differences, d);
}

/* ---- facts ---- */

/* A fact by what it is called: "f1 (sigma=2)" of an item with labels. */
struct fact_key {
    char *name;
    const struct record_fact *fact;
};

static int fact_key_order(const void *a, const void *b)
{
    const struct fact_key *x = a, *y = b;
    if (x->fact->sort != y->fact->sort)
        return x->fact->sort < y->fact->sort ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->fact->value, y->fact->value);
}

/* The labels of the item behind the name, so that equal names of different labels are told apart. */
static char *fact_key_name(const struct run_record *r, const struct record_fact *f)
{
    struct strbuf name = {0};
    const char *before = " (";
    strbuf_add(&name, f->name);
    for (size_t i = 0; f->item && f->sort == FACT_VALUE && i < r->facts.n; i++) {
        const struct record_fact *label = &r->facts.at[i];
        if (label->sort != FACT_LABEL || label->item != f->item)
            continue;
        strbuf_printf(&name, "%s%s=%s", before, label->name, label->value);
        before = ",";
    }
    if (*before == ',')
        strbuf_add_char(&name, ')');
    return strbuf_steal(&name);
}

/* What people say of a run is no difference of the run; labels are in the names. */
static struct fact_key *fact_keys(const struct run_record *r, size_t *n)
{
    struct fact_key *keys = mem_new(struct fact_key, r->facts.n + 1);
    *n = 0;
    for (size_t i = 0; i < r->facts.n; i++)
        if (r->facts.at[i].sort == FACT_PARAMETER || r->facts.at[i].sort == FACT_VALUE)
            keys[(*n)++] = (struct fact_key){fact_key_name(r, &r->facts.at[i]), &r->facts.at[i]};
    if (*n)
        qsort(keys, *n, sizeof *keys, fact_key_order);
    return keys;
}

/* The same fact in both runs, whatever its value. */
static int fact_key_compare(const struct fact_key *x, const struct fact_key *y)
{
    if (x->fact->sort != y->fact->sort)
        return x->fact->sort < y->fact->sort ? -1 : 1;
    return strcmp(x->name, y->name);
}

typedef ARRAY(char *) fact_names;

static int fact_name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names that several keys share, as copies. */
static void fact_names_shared(const struct fact_key *keys, size_t n, fact_names *out)
{
    for (size_t i = 1; i < n; i++)
        if (keys[i].fact->sort == FACT_VALUE && fact_key_compare(&keys[i - 1], &keys[i]) == 0 &&
            (!out->n || strcmp(out->at[out->n - 1], keys[i].name) != 0))
            array_push(out, mem_copy_string(keys[i].name));
}

/* Behind a name that is shared stands whose value it is: without it one task's would be compared with another's. */
static void fact_keys_of_tasks(struct fact_key *keys, size_t n, const struct history_tasks *tasks,
                               const fact_names *shared)
{
    for (size_t i = 0; i < n && shared->n; i++) {
        const struct record_fact *f = keys[i].fact;
        if (f->sort != FACT_VALUE || f->task == NONE || f->task >= tasks->n ||
            !bsearch(&keys[i].name, shared->at, shared->n, sizeof *shared->at, fact_name_order))
            continue;
        struct strbuf name = {0};
        strbuf_printf(&name, "%s of %s", keys[i].name, history_task_name(tasks, f->task));
        free(keys[i].name);
        keys[i].name = strbuf_steal(&name);
    }
    if (n)
        qsort(keys, n, sizeof *keys, fact_key_order);
}

void differences_facts(struct history_changes *c, const struct run_record *a,
                       const struct history_tasks *a_tasks, const struct run_record *b,
                       const struct history_tasks *b_tasks)
{
    size_t na, nb, i = 0, k = 0;
    struct fact_key *x = fact_keys(a, &na), *y = fact_keys(b, &nb);
    fact_names shared = {0};
    fact_names_shared(x, na, &shared);
    fact_names_shared(y, nb, &shared);
    if (shared.n)
        qsort(shared.at, shared.n, sizeof *shared.at, fact_name_order);
    fact_keys_of_tasks(x, na, a_tasks, &shared);
    fact_keys_of_tasks(y, nb, b_tasks, &shared);
    for (size_t s = 0; s < shared.n; s++)
        free(shared.at[s]);
    array_free(&shared);
    while (i < na || k < nb) {
        int order = i == na ? 1 : k == nb ? -1 : fact_key_compare(&x[i], &y[k]);
        const struct fact_key *key = order > 0 ? &y[k] : &x[i];
        const char *first = order <= 0 ? x[i].fact->value : NULL;
        const char *second = order >= 0 ? y[k].fact->value : NULL;
        if (!first || !second || strcmp(first, second) != 0)
            history_changes_add(c, fact_sort_name(key->fact->sort), key->name, first, second);
        i += order <= 0;
        k += order >= 0;
    }
    for (i = 0; i < na; i++)
        free(x[i].name);
    for (k = 0; k < nb; k++)
        free(y[k].name);
    free(x);
    free(y);
}

/* ---- files ---- */

static int file_by_path(const void *a, const void *b)
{
    const struct record_file *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

static const struct record_file **files_by_path(const struct run_record *r)
{
    const struct record_file **list = mem_new(const struct record_file *, r->files.n + 1);
    for (size_t i = 0; i < r->files.n; i++)
        list[i] = &r->files.at[i];
    if (r->files.n)
        qsort(list, r->files.n, sizeof *list, file_by_path);
    return list;
}

/* The content that the newest run up to this one left at the path; zero: none is known. */
static bool file_before(struct history *h, const struct run_record *r, const char *path,
                        struct digest *out, struct error *err)
{
    struct history_origin o = {0};
    int found = history_file_at(h, r->folder, path, r->run, &o, err);
    *out = o.file.digest;
    free(o.name);
    free(o.folder);
    free(o.maker);
    free(o.file.path);
    return found >= 0;
}

static void difference_of_file(struct history_changes *c, const char *path, const struct digest *a,
                               const struct digest *b)
{
    char first[DIGEST_TEXT], second[DIGEST_TEXT];
    if ((digest_is_zero(a) && digest_is_zero(b)) || digest_equal(a, b))
        return;
    digest_text(a, first);
    digest_text(b, second);
    history_changes_add(c, "file", path, digest_is_zero(a) ? NULL : first,
                        digest_is_zero(b) ? NULL : second);
}

/* A merge of two sorted lists. Only paths that one of them lacks cost a question. */
bool differences_files(struct history *h, struct history_changes *c, const struct run_record *a,
                       const struct run_record *b, struct error *err)
{
    const struct record_file **x = files_by_path(a), **y = files_by_path(b);
    size_t i = 0, k = 0;
    bool ok = true;
    while (ok && (i < a->files.n || k < b->files.n)) {
        int order = i == a->files.n ? 1 : k == b->files.n ? -1 : strcmp(x[i]->path, y[k]->path);
        const char *path = order > 0 ? y[k]->path : x[i]->path;
        struct digest first = {0}, second = {0};
        if (order <= 0)
            first = x[i]->digest;
        else
            ok = file_before(h, a, path, &first, err);
        if (order >= 0)
            second = y[k]->digest;
        else
            ok = file_before(h, b, path, &second, err);
        if (ok)
            difference_of_file(c, path, &first, &second);
        i += order <= 0;
        k += order >= 0;
    }
    free(x);
    free(y);
    return ok;
}
