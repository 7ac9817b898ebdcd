/* The table of generators and the checks of their options. A generator is a row here and a file's
 * static functions; help, completion and tests follow from the row. */
#include "generate/generate.h"
#include "generate/generators.h"
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

/* The last of repeated values counts. */
bool generator_check_options(const struct generator *g, const struct option_value *values,
                             size_t count, struct error *err)
{
    char owner[96];
    snprintf(owner, sizeof owner, "generator '%s'", g->name);
    return options_check(g->options, owner, values, count, err);
}

/* The generator sees only options that are in its table and within their limits. */
struct workflow *generator_workflow(const struct generator *g, const struct option_value *values,
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

struct platform *generator_platform(const struct generator *g, const struct option_value *values,
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
static const struct option *own_option(const struct generator_request *r, const char *name)
{
    const struct option *o = option_find(r->generator->options, name);
    if (!o) {
        fprintf(stderr, "generator '%s' asks for its option '%s', which it does not have\n",
                r->generator->name, name);
        abort();
    }
    return o;
}

const char *generator_text(const struct generator_request *r, const char *name)
{
    return option_text(own_option(r, name), r->values, r->nvalues, name);
}

/* Cannot fail: the value was checked before the generator was called. */
double generator_real(const struct generator_request *r, const char *name)
{
    return option_number(own_option(r, name), generator_text(r, name));
}

int64_t generator_whole(const struct generator_request *r, const char *name)
{
    return (int64_t)generator_real(r, name);
}

bool generator_flag(const struct generator_request *r, const char *name)
{
    return generator_real(r, name) != 0;
}
