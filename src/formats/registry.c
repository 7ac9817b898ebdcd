/* The table of formats as an array, from the list in registry.h. */
#include "formats/registry.h"

const struct format *const format_registry[] = {
#define FORMAT_ROW(name) &format_##name,
    FORMATS(FORMAT_ROW)
#undef FORMAT_ROW
        NULL,
};
