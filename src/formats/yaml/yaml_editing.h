/* Inside the editing of YAML: what a change means, apart from how it looks in the text. */
#pragma once
#include "formats/yaml/yaml_edit.h"

enum edit_sort {
    EDIT_REPLACE, /* the node `at` is `value` now */
    EDIT_EMPTY,   /* the node `at` is nothing now */
    EDIT_REMOVE,  /* the entry that begins with node `at` is gone */
    EDIT_RENAME,  /* the key `at` is `key` now */
    EDIT_INSERT,  /* the container (or nothing) `at` has `value` at its end, under `key` */
};

struct edit_change {
    enum edit_sort sort;
    yaml_ref at;
    const char *key;   /* as it is, not quoted */
    const char *value; /* as yaml_edit_write() writes it */
};

bool edit_patch(struct yaml_edit *e, size_t at, size_t removed, const struct strbuf *text,
                const struct edit_change *change, struct error *err);
