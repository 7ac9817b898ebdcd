/* Reading an experiment's workflow with the values of its combinations.
 *
 * A parameter that stands in commands alone is the model's: one reading serves all its values, and
 * merging fills them in. Any other, and a list, is filled in while the file is read, as by -p: the file
 * is read again for each combination of such values, and merging lets equal computations of all the
 * graphs meet by their keys. Combinations that differ in other things share a reading. */
#include "session/readings.h"

#include "base/mem.h"
#include "base/pool.h"
#include "experiment/combine.h"

#include <stdlib.h>
#include <string.h>

/* Each remark of the readings once. */
static struct workflow *readings_read(const struct expansion *e, const struct expand_options *o,
                                      const struct option_value *given, struct intern *told,
                                      struct error *err)
{
    struct format_file *file = format_file_open(e->x.workflow, o->format, given, err);
    struct workflow *w = file ? format_file_workflow(file, err) : NULL;
    format_file_close(file);
    for (uint32_t i = 0; w && i < w->nwarnings; i++) {
        uint32_t before = told->n;
        if (intern_number(told, w->warnings[i], strlen(w->warnings[i])) == before)
            remark(&o->remarks, REMARK_INFO, "note: %s", w->warnings[i]);
    }
    return w;
}

static bool readings_is_parameter(const struct workflow *w, const char *name)
{
    for (uint32_t i = 0; i < w->nparameters; i++)
        if (strcmp(workflow_text(w, w->parameter_name[i]), name) == 0)
            return true;
    return false;
}

/* What the experiment replaces everywhere cannot be given from outside, too: it would have no effect. */
static bool readings_check_given(const struct expansion *e, const struct expand_options *o,
                                 struct error *err)
{
    for (size_t s = 0; s < e->x.substitutions.n && e->x.combine != COMBINE_LISTED; s++)
        for (const struct option_value *g = o->read; g && g->name; g++) {
            const struct substitution *sub = &e->x.substitutions.at[s];
            if (sub->target == SUBSTITUTE_PARAMETER && strcmp(g->name, sub->what) == 0)
                return error_at(err, e->x.file, sub->line,
                                "substitution '%s' gives '%.100s' its values, and so does -p "
                                "%.100s=%.100s; leave one of them out",
                                sub->name, sub->what, sub->what, g->text);
        }
    return true;
}

/* An error of a reading, told of the experiment: the file itself was read well before. */
static bool readings_blame(const struct expansion *e, const uint32_t *row, const struct error *why,
                           struct error *err)
{
    const struct experiment *x = &e->x;
    const char *unknown = strstr(why->text, FORMAT_UNKNOWN_PARAMETER);
    struct strbuf label = {0};
    size_t line = 0;
    for (size_t s = 0; s < x->substitutions.n; s++) {
        const struct substitution *sub = &x->substitutions.at[s];
        char given[160];
        if (!sub->with_file || row[s] == CHOICE_ORIGINAL)
            continue;
        line = line ? line : sub->line;
        snprintf(given, sizeof given, "-p %.80s:", sub->what);
        if (unknown && strstr(why->text, given)) {
            strbuf_free(&label);
            return error_at(err, x->file, sub->line,
                            "substitution '%s': there is no parameter '%.100s' in %s%s", sub->name,
                            sub->what, x->workflow, unknown + strlen(FORMAT_UNKNOWN_PARAMETER));
        }
        strbuf_printf(&label, "%s%s=%s", label.n ? "," : "", sub->what, sub->by.at[row[s]].text);
    }
    error_at(err, x->file, line, "with %.300s: %s", strbuf_text(&label), why->text);
    strbuf_free(&label);
    return false;
}

/* The file with the values of `row`, which stand behind those from outside. */
static bool readings_add(struct expansion *e, const struct expand_options *o, const uint32_t *row,
                         struct intern *told, struct error *err)
{
    const struct experiment *x = &e->x;
    ARRAY(struct option_value) given = {0};
    struct error why = {0};
    for (const struct option_value *g = o->read; g && g->name; g++)
        array_push(&given, *g);
    for (size_t s = 0; s < x->substitutions.n; s++)
        if (x->substitutions.at[s].with_file && row[s] != CHOICE_ORIGINAL)
            array_push(&given, ((struct option_value){x->substitutions.at[s].what,
                                                      x->substitutions.at[s].by.at[row[s]].text}));
    array_push(&given, ((struct option_value){NULL, NULL}));
    struct workflow *w = readings_read(e, o, given.at, told, &why);
    array_free(&given);
    if (!w)
        return readings_blame(e, row, &why, err);
    e->reading[e->nreadings++] = w;
    return true;
}

/* Which reading each combination is of: rows that choose the same among what is read with the file, in
 * the order of first appearance. How many there are. */
static uint32_t readings_count(struct expansion *e, const uint32_t *choice, uint32_t count)
{
    const struct experiment *x = &e->x;
    struct intern seen;
    struct strbuf own = {0};
    intern_init(&seen);
    e->reading_of = mem_new(uint32_t, count);
    for (uint32_t c = 0; c < count; c++) {
        const uint32_t *row = choice + (size_t)c * x->substitutions.n;
        strbuf_clear(&own);
        for (size_t s = 0; s < x->substitutions.n; s++)
            if (x->substitutions.at[s].with_file)
                strbuf_printf(&own, "%u ", row[s]);
        e->reading_of[c] = intern_number(&seen, strbuf_text(&own), own.n);
    }
    uint32_t n = seen.n;
    strbuf_free(&own);
    intern_free(&seen);
    return n;
}

/* Counted before any is read. */
static bool readings_make(struct expansion *e, const struct expand_options *o, struct intern *told,
                          struct error *err)
{
    const struct experiment *x = &e->x;
    uint32_t *choice = NULL, count = 0;
    if (!combinations_make(x, &choice, &count, err))
        return false;
    uint32_t n = readings_count(e, choice, count);
    bool good = n <= MOST_READINGS ||
                error_at(err, x->file, 0,
                         "the combinations ask for %u readings of %s, and at most %d are made: "
                         "parameters that stand in names, settings or lists have too many "
                         "values; `combine: {sample: 1000}` tries some of them",
                         n, x->workflow, MOST_READINGS);
    e->reading = mem_new_zero(struct workflow *, n);
    for (uint32_t c = 0; c < count && good; c++)
        if (e->reading_of[c] == e->nreadings)
            good = readings_add(e, o, choice + (size_t)c * x->substitutions.n, told, err);
    free(choice);
    return good;
}

bool readings_open(struct expansion *e, const struct expand_options *o, struct error *err)
{
    struct intern told;
    bool any = false;
    intern_init(&told);
    e->original = readings_read(e, o, o->read, &told, err);
    bool good = e->original && readings_check_given(e, o, err);
    for (size_t s = 0; good && s < e->x.substitutions.n; s++) {
        struct substitution *sub = &e->x.substitutions.at[s];
        sub->with_file =
            sub->target == SUBSTITUTE_PARAMETER && !readings_is_parameter(e->original, sub->what);
        any |= sub->with_file;
    }
    good = good && (!any || readings_make(e, o, &told, err));
    intern_free(&told);
    return good;
}

void readings_close(struct expansion *e)
{
    for (uint32_t i = 0; i < e->nreadings; i++)
        workflow_free(e->reading[i]);
    free(e->reading);
    free(e->reading_of);
}

struct readings readings_of(const struct expansion *e)
{
    return e->reading ? (struct readings){e->nreadings, e->reading, e->reading_of}
                      : (struct readings){1, &e->original, NULL};
}
