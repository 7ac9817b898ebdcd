/* `weft reproduce NAME`: one row a paper. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdint.h>

struct reproduce_options {
    const char *folder; /* where reports and pictures go; it exists */
    bool quick;         /* small versions, for tests */
    uint64_t seed;
    uint32_t runs;    /* repeats of a simulation; 0: the study's own */
    const char *data; /* folders of instances, separated by colons; NULL: none */
    bool quiet;
};

struct reproduction {
    const char *name, *summary;
    /* Write NAME.md and pictures into the folder; what goes into `out` is printed. */
    bool (*run)(const struct reproduce_options *o, struct strbuf *out, struct error *err);
};

/* Write a file of the report. */
bool reproduce_write(const struct reproduce_options *o, const char *file, const struct strbuf *text,
                     struct error *err);
