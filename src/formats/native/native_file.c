/* Native workflows, read: the keys of the file, its values and lists, then its tasks. Two passes over
 * the tasks, those of modules among them: the first makes them, so that `after` can name later
 * ones. */
#include "base/file.h"
#include "formats/native/native_reading.h"

#include <sys/stat.h>

/* In braces in what a task says, but for its command and the names of its files. */
static const char *fill_setting(void *context, yaml_ref v, size_t *length)
{
    struct native_reading *r = context;
    struct native_filled f = {0};
    char what[80]; /* the key is not at hand: as it is written, people find it */
    snprintf(what, sizeof what, "'%.70s'", yaml_text(&r->file.y, v, NULL));
    if (!scope_fill(&r->scope, &r->file, v, what, false, native_keep_filled, &f))
        return NULL;
    *length = f.length;
    return f.text;
}

/* Always false: what holds for a whole run stands in the file that is run. */
static bool refuse_in_module(const struct native_reading *r, yaml_ref k)
{
    const struct native_reading *top = r->module->parent;
    return native_error(
        &r->file, k,
        "'%s' holds for a whole run, and this file is a module of %.200s, line %zu; "
        "it belongs to the file that is run",
        yaml_text(&r->file.y, k, NULL), top->file.y.file,
        yaml_line(&top->file.y, r->module->at) - top->file.y.base);
}

/* The name of a module's file is that of the workflow that it is by itself. */
static bool read_name(struct native_reading *r, yaml_ref v)
{
    const char *text;
    size_t length;
    if (!native_text(&r->file, v, "name", &text, &length))
        return false;
    if (!r->module)
        builder_name(r->b, text, length);
    return true;
}

/* Keys of the file in any order; the tasks last, because all others may stand below them. */
bool native_prepare(struct native_reading *r)
{
    static const char *const keys[] = {"weft",    "name",    "defaults", "parameters",
                                       "assert",  "lists",   "hooks",    "tasks",
                                       "include", "results", "canvas",   NULL};
    const struct yaml *y = &r->file.y;
    r->keeps_results = r->module && r->module->parent->keeps_results;
    for (yaml_ref k = yaml_first(y, 0); k != YAML_NONE; k = yaml_next(y, 0, k)) {
        yaml_ref v = yaml_value(k);
        bool good = true;
        switch (native_key(&r->file, k, keys)) {
        case -1:
            return false;
        case 1:
            good = read_name(r, v);
            break;
        case 4:
            good = r->module ? refuse_in_module(r, k) : native_read_assertions(r, v);
            break;
        case 6:
            good = r->module ? refuse_in_module(r, k) : native_read_hooks(r, v);
            break;
        case 9:
            good = native_results(&r->file, v, "results", &r->keeps_results);
            break;
        case 10:
            good = native_read_canvas(r, v);
            break;
        default:
            break;
        }
        if (!good)
            return false;
    }
    yaml_ref defaults = yaml_get(y, 0, "defaults");
    if (r->module) {
        r->given.prefix = r->module->kinds;
        r->given.with = r->module->with.at;
        r->given.nwith = r->module->with.n;
    }
    if (!native_read_values(r) || (defaults != YAML_NONE && !native_read_defaults(r, defaults)))
        return false;
    r->file.fill = fill_setting;
    r->file.fill_context = r;
    if (r->module && !r->lists.waits && !native_read_standing(r))
        return false;
    return native_make_tasks(r);
}

static bool read_whole(struct native_reading *r)
{
    if (!native_prepare(r) || !native_check_given(r) || (!r->lists.waits && !native_tell_joins(r)))
        return false;
    native_note_left_out(r);
    return native_read_bodies(r) && (r->lists.waits || native_check_assumed(r));
}

void native_free_reading(struct native_reading *r)
{
    native_close_modules(r);
    for (size_t i = 0; i < r->families.n; i++)
        family_free(&r->families.at[i]);
    array_free(&r->families);
    array_free(&r->entry);
    array_free(&r->waits_for);
    array_free(&r->released);
    array_free(&r->pass);
    array_free(&r->open);
    array_free(&r->continued);
    for (size_t i = 0; i < r->chains.n; i++)
        native_free_chain(r->chains.at[i]);
    array_free(&r->chains);
    array_free(&r->rounds);
    array_free(&r->joining);
    strbuf_free(&r->round_name);
    array_free(&r->named);
    array_free(&r->named_place);
    strbuf_free(&r->command);
    strbuf_free(&r->full);
    strbuf_free(&r->kind);
    strbuf_free(&r->renamed);
    strbuf_free(&r->gate);
    strbuf_free(&r->kept);
    scope_free(&r->scope);
    lists_free(&r->lists);
    free(r->folder);
    free(r->beside);
    if (r->module)
        return; /* its text is shared */
    native_close_params(r);
    native_close(&r->file);
}

/* A reading on the heap: modules point to it, and it may go on while the workflow runs. */
static struct native_future *native_begin(const struct format_source *source, struct error *err)
{
    struct native_future *f = mem_new_zero(struct native_future, 1);
    struct native_reading *r = &f->r;
    struct stat s;
    *r = (struct native_reading){.defaults = YAML_NONE, .family = NONE, .shared = &f->shared};
    if (!native_open(&r->file, source, "tasks", err)) {
        free(f);
        return NULL;
    }
    r->b = builder_new(source->path, "native");
    builder_home(r->b, source->folder);
    r->is_file = source->folder != NULL;
    shared_init(&f->shared);
    f->shared.lines = r->file.y.n ? r->file.y.at[r->file.y.n - 1].line + (size_t)1 : 1;
    r->file.outside = source->outside;
    if (!(source->outside && source->outside->plays) && stat(source->path, &s) == 0) {
        f->shared.device = s.st_dev;
        f->shared.inode = s.st_ino;
    }
    lists_init(&r->lists);
    r->lists.waits = source->grows;
    r->beside = file_beside(source->path, ".");
    r->folder = source->folder ? mem_copy_string(source->folder) : file_beside(source->path, ".");
    return f;
}

/* The YAML is freed before the graph is frozen: the peak of memory is one of the two. Not where it
 * is needed for what becomes known later. */
struct workflow *native_read_workflow(const struct format_source *source, struct error *err)
{
    struct native_future *f = native_begin(source, err);
    if (!f)
        return NULL;
    struct builder *b = f->r.b;
    bool good = native_open_params(&f->r, source->options) && read_whole(&f->r);
    if (good && native_is_open(&f->r)) {
        if (source->grows)
            return native_begin_future(f, err);
        native_tell_unknown(&f->r);
    }
    bool takes = good && (f->shared.decided.n || native_simulates(&f->r));
    struct workflow *w = takes ? builder_finish(b, err) : NULL;
    if (w)
        native_take(&f->r, w);
    native_free_reading(&f->r);
    shared_free(&f->shared);
    free(f);
    if (takes)
        return w;
    if (good)
        return builder_finish(b, err);
    builder_free(b);
    return NULL;
}
