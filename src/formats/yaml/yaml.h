/* YAML, read into a flat tape that remembers lines.
 *
 * The parser (libfyaml) is used as a stream of events only: no document tree, no recursion, no
 * aliases to expand. What comes out is one array of nodes in document order; a container knows
 * where it ends, so skipping it is one step. Costs 24 bytes a node and a copy of each scalar.
 * yaml.c is the only file that knows libfyaml. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum yaml_type { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
    uint32_t type : 2, plain : 1; /* plain: a scalar without quotes and not a block */
    uint32_t line;                /* from 1 */
    uint32_t next;                /* index of the node after this one (past its whole content) */
    uint32_t size;                /* members or elements of a container, bytes of a scalar */
    uint64_t text;                /* a scalar's place in yaml.text */
};

/* Where a node stands in the source: its bytes, quotes and brackets included. A value that is nothing has
 * an empty mark behind its colon; YAML_NONE: its place is not known. */
struct yaml_mark {
    uint32_t start, end;
};

/* A parsed document; node 0 is the root. Independent of the text it was read from. */
struct yaml {
    struct yaml_node *at;
    size_t n;
    struct yaml_mark *mark; /* by node; NULL, but after yaml_load_marked() */
    struct strbuf text;
    char *file;  /* for messages */
    size_t base; /* where this file's lines begin among those of several (model/builder.h); 0 */
};

typedef uint32_t yaml_ref; /* index of a node; YAML_NONE: absent */
#define YAML_NONE UINT32_MAX

/* One document of UTF-8 text. Refused with the line: syntax errors, a second document, anchors,
 * aliases and tags, keys that are not scalars or that come twice in a mapping, NUL characters, more
 * than 100 levels. `text` must be followed by a NUL. After a failure there is nothing to free. */
bool yaml_load(struct yaml *y, const char *file, const char *text, size_t length,
               struct error *err);
/* The same, and where each node stands: for who changes the text. A document of one very long line has no
 * marks, and is refused. */
bool yaml_load_marked(struct yaml *y, const char *file, const char *text, size_t length,
                      struct error *err);
/* yaml_marks.c: from where the parser's tokens are to where nodes begin and end. */
void yaml_settle_marks(struct yaml *y, const char *source, size_t length);
void yaml_free(struct yaml *y);
const char *yaml_library(void); /* the version of the parser under it */

static inline enum yaml_type yaml_type(const struct yaml *y, yaml_ref v)
{
    return (enum yaml_type)y->at[v].type;
}
static inline size_t yaml_line(const struct yaml *y, yaml_ref v)
{
    return y->base + y->at[v].line;
}
static inline uint32_t yaml_size(const struct yaml *y, yaml_ref container)
{
    return y->at[container].size;
}

/* Members: for (yaml_ref k = yaml_first(y, m); k != YAML_NONE; k = yaml_next(y, m, k)) the key is
 * node k (a scalar), its value is yaml_value(k). Elements: the same loop, node k is the element. */
static inline yaml_ref yaml_first(const struct yaml *y, yaml_ref container)
{
    return y->at[container].type != YAML_SCALAR && y->at[container].size ? container + 1
                                                                         : YAML_NONE;
}
static inline yaml_ref yaml_value(yaml_ref key)
{
    return key + 1;
}
yaml_ref yaml_next(const struct yaml *y, yaml_ref container, yaml_ref at);
/* The value under `key`; YAML_NONE when absent or when `mapping` is none. */
yaml_ref yaml_get(const struct yaml *y, yaml_ref mapping, const char *key);

/* Text of a scalar, NUL-terminated and without NULs inside; `length` may be NULL. Containers give
 * "". */
const char *yaml_text(const struct yaml *y, yaml_ref v, size_t *length);
/* Nothing there: an empty plain scalar, ~ or null. */
bool yaml_is_null(const struct yaml *y, yaml_ref v);
/* "a list", "a mapping", "'text'" (cut when long), "nothing": what a message says was found. Uses
 * `buffer`. */
const char *yaml_found(const struct yaml *y, yaml_ref v, char *buffer, size_t size);

/* ---- writing ---- */

/* How a scalar may stand: as a key or value of a block, or inside [ ] and { }. */
enum yaml_place { YAML_IN_BLOCK, YAML_IN_FLOW };

/* Append a string so that any YAML reader gives back this very string: plain when possible, quoted
 * when it would be taken for something else (a number, null, yes, an indicator ...), escaped when
 * it holds what only escapes can carry. Bytes that are not UTF-8 become U+FFFD; returns false then.
 */
bool yaml_write_string(struct strbuf *out, const char *text, enum yaml_place place);
/* The same, but what looks like a number or a truth value stays plain: for texts that came as such.
 */
bool yaml_write_value(struct strbuf *out, const char *text, enum yaml_place place);
/* A value that may have several lines, as a literal block where that is exact; `indent` is the
 * column of its key. */
bool yaml_write_block(struct strbuf *out, const char *text, size_t indent);
