/* The list of formats: one line a format, which is `const struct format format_NAME` in a file of its
 * own. Detection asks each, so the order matters only for ties: the more specific first. */
#pragma once
#include "formats/format.h"

/* clang-format off */
#define FORMATS(X) \
    X(native) \
    X(wfformat) \
    X(saga) \
    X(hetpart_cluster) \
    X(dax) \
    X(pegasus) \
    X(dagman) \
    X(cws) \
    X(dot) \
    X(stg) \
    X(tgff) \
    X(jx) \
    X(makeflow) \
    X(hyperdag) \
    X(daggen) \
    X(heft_csv) \
    X(tree) \
    X(mtx)
/* clang-format on */

#define FORMAT_DECLARE(name) extern const struct format format_##name;
FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE
