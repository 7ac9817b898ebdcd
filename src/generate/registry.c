/* The table of generators and the checks of their options. A generator is a row here and a file's
 * static functions; help, completion and tests follow from the row. */
#include "generate/generate.h"
#include "generate/generators.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row a line, whatever is added. Workflows first, then platforms. */
/* clang-format off */
const struct generator *const generator_registry[] = {
    &generator_layered,
    &generator_random,
    &generator_tgff,
    &generator_fft,
    &generator_gauss,
    &generator_cholesky,
    &generator_stencil,
    &generator_forkjoin,
    &generator_intree,
    &generator_outtree,
    &generator_prufer,
    &generator_chain,
    &generator_montage,
    &generator_airsn,
    &generator_inspiral,
    &generator_sdss,
    &generator_diamond,
    &generator_laplace,
    &generator_bag,
    &generator_fanin,
    &generator_fanout,
    &generator_pipeline,
    &generator_homogeneous,
    &generator_fourfold,
    &generator_heterogeneous,
    NULL,
};
/* clang-format on */

/* Linear: two dozen names. */
const struct generator *generator_find(const char *name)
{
    for (const struct generator *const *g = generator_registry; *g; g++)
        if (strcmp((*g)->name, name) == 0)
            return *g;
    return NULL;
}

bool generator_unknown(const char *name, struct error *err)
{
    const char *names[sizeof generator_registry / sizeof *generator_registry];
    size_t count = 0;
    for (const struct generator *const *g = generator_registry; *g; g++)
        names[count++] = (*g)->name;
    const char *near = suggest_nearest(name, names, count);
    if (near)
        return error_set(err, ERROR_INPUT,
                         "no generator '%s'; did you mean '%s'? `weft generate` lists them", name,
                         near);
    return error_set(err, ERROR_INPUT, "no generator '%s'; `weft generate` lists them", name);
}

static const struct generator_option *generator_find_option(const struct generator *g,
                                                            const char *name)
{
    for (const struct generator_option *o = g->options; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

/* Always false; with the nearest name, else all of them. */
static bool generator_unknown_option(const struct generator *g, const char *name, struct error *err)
{
    const char *names[64];
    size_t count = 0;
    char list[512] = "";
    for (const struct generator_option *o = g->options; o->name && count < 64; o++) {
        names[count++] = o->name;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", o->name);
    }
    const char *near = suggest_nearest(name, names, count);
    if (near)
        return error_set(err, ERROR_INPUT, "generator '%s' has no option '%s'; did you mean '%s'?",
                         g->name, name, near);
    return error_set(err, ERROR_INPUT, "generator '%s' has no option '%s'; it has %s", g->name,
                     name, list);
}

static bool generator_is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = choices; len && at;) {
        const char *end = strchrnul(at, '|');
        if ((size_t)(end - at) == len && memcmp(at, text, len) == 0)
            return true;
        at = *end ? end + 1 : NULL;
    }
    return false;
}

/* Yes and no as people type them: 1 true, 0 false, -1 neither. */
static int generator_truth(const char *text)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) == 0)
            return 1;
        if (strcmp(text, no[i]) == 0)
            return 0;
    }
    return -1;
}

static bool parse_number(const struct generator_option *o, const char *text, double *out)
{
    size_t len = strlen(text);
    int64_t whole;
    switch (o->type) {
    case GENERATOR_INTEGER:
        if (!quantity_integer(text, len, &whole))
            return false;
        *out = (double)whole;
        return true;
    case GENERATOR_BYTES:
        return quantity_bytes(text, len, out);
    case GENERATOR_SECONDS:
        return quantity_seconds(text, len, out);
    default:
        return quantity_number(text, len, out);
    }
}

/* What a value of this type looks like, for error texts. */
static const char *what_is_wanted(enum generator_type type)
{
    switch (type) {
    case GENERATOR_INTEGER:
        return "a whole number";
    case GENERATOR_BYTES:
        return "a size such as 200, 12M or 1.5Gi";
    case GENERATOR_SECONDS:
        return "a time such as 10, 50ms or 2h";
    default:
        return "a number";
    }
}

/* The text is checked, not kept: generators ask for it again by name. */
static bool check_value(const struct generator *g, const struct generator_option *o,
                        const char *text, struct error *err)
{
    if (o->type == GENERATOR_CHOICE) {
        if (generator_is_choice(o->choices, text))
            return true;
        return error_set(err, ERROR_INPUT, "generator '%s': %s=%s: expected one of %s", g->name,
                         o->name, text, o->choices);
    }
    if (o->type == GENERATOR_BOOL) {
        if (generator_truth(text) >= 0)
            return true;
        return error_set(err, ERROR_INPUT, "generator '%s': %s=%s: expected yes or no", g->name,
                         o->name, text);
    }
    double value;
    if (!parse_number(o, text, &value))
        return error_set(err, ERROR_INPUT, "generator '%s': %s=%s: expected %s", g->name, o->name,
                         text, what_is_wanted(o->type));
    if ((o->least != 0 || o->most != 0) && (value < o->least || value > o->most))
        return error_set(err, ERROR_INPUT,
                         "generator '%s': %s=%s is out of range: expected %.12g to %.12g", g->name,
                         o->name, text, o->least, o->most);
    return true;
}

/* All values before anything is generated: a mistake in the last one costs nothing. */
bool generator_check_options(const struct generator *g, const struct generator_value *values,
                             size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct generator_option *o = generator_find_option(g, values[i].name);
        if (!o)
            return generator_unknown_option(g, values[i].name, err);
        if (!check_value(g, o, values[i].text, err))
            return false;
    }
    return true;
}

/* The generator sees only options that are in its table and within their limits. */
struct workflow *generator_workflow(const struct generator *g, const struct generator_value *values,
                                    size_t count, uint64_t seed, struct error *err)
{
    if (!generator_check_options(g, values, count, err))
        return NULL;
    if (!g->workflow) {
        error_set(err, ERROR_INPUT, "generator '%s' makes a platform, not a workflow", g->name);
        return NULL;
    }
    struct generator_request request = {g, values, count, seed};
    return g->workflow(&request, err);
}

struct platform *generator_platform(const struct generator *g, const struct generator_value *values,
                                    size_t count, uint64_t seed, struct error *err)
{
    if (!generator_check_options(g, values, count, err))
        return NULL;
    if (!g->platform) {
        error_set(err, ERROR_INPUT, "generator '%s' makes a workflow, not a platform", g->name);
        return NULL;
    }
    struct generator_request request = {g, values, count, seed};
    return g->platform(&request, err);
}

/* ---- values, for the generators ---- */

/* Asking for an option that is not in the table is a mistake in the generator, not in the input. */
static const struct generator_option *own_option(const struct generator_request *r,
                                                 const char *name)
{
    const struct generator_option *o = generator_find_option(r->generator, name);
    if (!o) {
        fprintf(stderr, "generator '%s' asks for its option '%s', which it does not have\n",
                r->generator->name, name);
        abort();
    }
    return o;
}

/* The last of repeated values counts. */
const char *generator_text(const struct generator_request *r, const char *name)
{
    const char *text = own_option(r, name)->standard;
    for (size_t i = 0; i < r->nvalues; i++)
        if (strcmp(r->values[i].name, name) == 0)
            text = r->values[i].text;
    return text;
}

/* Cannot fail: the value was checked before the generator was called. */
double generator_real(const struct generator_request *r, const char *name)
{
    double value = 0;
    parse_number(own_option(r, name), generator_text(r, name), &value);
    return value;
}

int64_t generator_whole(const struct generator_request *r, const char *name)
{
    return (int64_t)generator_real(r, name);
}

bool generator_flag(const struct generator_request *r, const char *name)
{
    return generator_truth(generator_text(r, name)) == 1;
}
