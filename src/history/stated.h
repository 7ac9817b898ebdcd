/* What a result states: values by name, in a text that people and programs write anyway. Private. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATED_BYTES 65536 /* a larger file is data, not a statement */
#define STATED_MOST 256    /* values of one file */

struct stated {
    char *name, *value;
};
typedef ARRAY(struct stated) stated_list;

/* The values in the file at `path`, whose last part names a value that stands alone: a JSON object, of
 * which the numbers, words and truths count ("a.b" for those inside), or lines of which each is a name
 * and a number ("f1 0.93", also with ':', '=' or ','), or one number. Anything else, a file that cannot
 * be read among it, states nothing. */
void stated_read(const char *path, stated_list *out);
/* "name=value,name=value" in the parts of a path, the suffix of the last left out: its labels. A number
 * for the set of them, 0: it has none. */
uint32_t stated_labels(const char *path, stated_list *out);
void stated_free(stated_list *list);
