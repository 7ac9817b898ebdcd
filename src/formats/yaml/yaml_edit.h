/* Editing YAML as people wrote it: each change is a patch of the text, so that comments, order, blanks and
 * everything that was not changed stay, byte for byte.
 *
 * Every patch is proved before it holds: the new text is read, and must say exactly what the old one said
 * but for what was asked. Where that cannot be had (a mapping in the line of a dash, a key with `?`), the
 * edit is refused and the text is what it was. Costs a reading of the text for each change. */
#pragma once
#include "base/array.h"
#include "formats/yaml/yaml.h"

/* The text from `at` on: `removed` bytes went, `inserted` came. */
struct yaml_patch {
    size_t at;
    char *removed, *inserted; /* owned */
    size_t nremoved, ninserted;
    uint32_t step; /* patches of one step are undone together */
};

struct yaml_edit {
    struct strbuf text;
    struct yaml y;     /* what it says, marked */
    uint32_t readings; /* of the text: what was found in `y` holds as long as this does */
    char *file;        /* for messages */
    ARRAY(struct yaml_patch) patches;
    size_t done;   /* patches that hold; those behind were undone */
    uint32_t step; /* of the next patch */
    bool open;     /* between yaml_edit_begin() and yaml_edit_end() */
};

/* False: the text cannot be read; nothing to end. */
bool yaml_edit_new(struct yaml_edit *e, const char *file, const char *text, size_t n,
                   struct error *err);
void yaml_edit_free(struct yaml_edit *e);

/* Between them all edits are one step. `good` false: the text is as it was at the beginning. */
void yaml_edit_begin(struct yaml_edit *e);
bool yaml_edit_end(struct yaml_edit *e, bool good);
/* False: there is nothing to undo, or to do again. */
bool yaml_edit_undo(struct yaml_edit *e);
bool yaml_edit_redo(struct yaml_edit *e);

/* A place: keys of mappings and numbers of elements, from the top: {"tasks", "blur", "in", "0"}. */
struct yaml_path {
    const char *at[12];
    size_t n;
};
/* YAML_NONE: nothing is there. */
yaml_ref yaml_edit_find(const struct yaml_edit *e, const struct yaml_path *path);

/* A text that a scalar will have, or (`is_yaml`) a value as YAML, written as in brackets. */
struct yaml_new {
    const char *text;
    bool is_yaml;
};
/* Give the place this value; mappings on the way to it are made. */
bool yaml_edit_set(struct yaml_edit *e, const struct yaml_path *path, struct yaml_new value,
                   struct error *err);
/* A list gets another element at its end. */
bool yaml_edit_append(struct yaml_edit *e, const struct yaml_path *list, struct yaml_new value,
                      struct error *err);
/* A member with its key, or an element. */
bool yaml_edit_remove(struct yaml_edit *e, const struct yaml_path *path, struct error *err);
/* Another key for a member; it keeps its place. */
bool yaml_edit_rename(struct yaml_edit *e, const struct yaml_path *path, const char *key,
                      struct error *err);
/* A member that is written in lines of its own, as `lines` have it: the first has the key, none is
 * indented more than it must be. In a mapping in braces it is written as in brackets. */
bool yaml_edit_insert_lines(struct yaml_edit *e, const struct yaml_path *mapping, const char *lines,
                            struct error *err);
/* All of it, as somebody typed it; what is the same at both ends stays. */
bool yaml_edit_replace(struct yaml_edit *e, const char *text, size_t n, struct error *err);

/* A node as it would stand in brackets, on one line. */
void yaml_edit_write(const struct yaml *y, yaml_ref v, struct strbuf *out);
