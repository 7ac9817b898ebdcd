/* Generators of workflows and platforms: one row of a table each, from which the command line and
 * its help are made.
 *
 * The same generator, options and seed give the same graph on every machine: only base/rng.h draws,
 * and every figure is rounded to six significant digits, which also hides the last bits in which
 * compilers and mathematics libraries differ. All take time linear in tasks plus edges. */
#pragma once
#include "base/error.h"
#include "base/option.h"
#include "model/platform.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum generator_kind { GENERATES_WORKFLOW, GENERATES_PLATFORM };

struct generator;

/* What a generator's function receives: options already checked. */
struct generator_request {
    const struct generator *generator;
    const struct option_value *values;
    size_t nvalues;
    uint64_t seed;
};

struct generator {
    const char *name, *summary;
    enum generator_kind kind;
    const struct option *options; /* ends with a NULL name */
    /* Exactly one is set, by kind. NULL with an error when the options do not fit each other. */
    struct workflow *(*workflow)(const struct generator_request *request, struct error *err);
    struct platform *(*platform)(const struct generator_request *request, struct error *err);
};

/* ---- the registry (registry.c) ---- */
extern const struct generator *const generator_registry[]; /* workflows first; ends with NULL */
const struct generator *generator_find(const char *name);  /* NULL: no such generator */
/* "no generator 'montag'; did you mean 'montage'? ..."; always false. */
bool generator_unknown(const char *name, struct error *err);
/* Names, types, limits and choices of the values; the last of repeated values counts. */
bool generator_check_options(const struct generator *g, const struct option_value *values,
                             size_t count, struct error *err);
/* Check the options and generate. The caller frees. NULL with an error (ERROR_INPUT); asking a
 * generator for what it does not make is such an error. */
struct workflow *generator_workflow(const struct generator *g, const struct option_value *values,
                                    size_t count, uint64_t seed, struct error *err);
struct platform *generator_platform(const struct generator *g, const struct option_value *values,
                                    size_t count, uint64_t seed, struct error *err);

/* ---- for generators: a checked option's value, the default where the user gave none ---- */
const char *generator_text(const struct generator_request *r, const char *name);
int64_t generator_whole(const struct generator_request *r, const char *name);
double generator_real(const struct generator_request *r,
                      const char *name); /* numbers, bytes, seconds */
bool generator_flag(const struct generator_request *r, const char *name);
