/* A JX workflow being read: what jx_workflow.c (the file and its rules) and jx_nested.c (rules that stand
 * for those of another file) share. Private to them. */
#pragma once
#include "formats/jx/jx.h"
#include "model/builder.h"

#include <sys/types.h>

typedef const struct jx_node *jx_value;

struct jx_reading {
    struct jx_store store;
    struct jx_evaluation e;
    struct builder *b;
    jx_value environment, categories, default_category;
    size_t rules, locals, disks, allocations;
    /* Of a file that is a sub-workflow: of whom, which file, what stands before its tasks' names and its
     * commands, and what its rules read. */
    struct jx_reading *parent;
    dev_t device;
    ino_t inode;
    struct strbuf prefix, inherited;
    ARRAY(uint32_t) reads;
    size_t *files, *lines; /* of all of them together */
};

/* jx_workflow.c */
/* Always false: "\"cores\" of resources is a string; expected a whole number". */
bool jx_wrong_type(const struct jx_reading *r, jx_value v, const char *what, const char *expected);
/* Is every key of the object one of these, and there once? */
bool jx_check_keys(const struct jx_reading *r, jx_value object, const char *what,
                   const char *const *keys);
/* export VAR='value', a line each. */
bool jx_add_environment(const struct jx_reading *r, jx_value environment, struct strbuf *out);
/* What the task of a rule is called. */
void jx_rule_name(const struct jx_reading *r, jx_value rule, struct strbuf *out);
bool jx_read_switches(struct jx_reading *r, jx_value rule);
struct option_value;
bool jx_read_definitions(struct jx_reading *r, jx_value tree, const struct option_value *given);
jx_value jx_evaluate_workflow(struct jx_reading *r, jx_value tree);
bool jx_read_rules(struct jx_reading *r, jx_value flow);

/* jx_nested.c */
/* A rule with "workflow": the rules of that file become tasks. False: an error. */
bool jx_read_nested(struct jx_reading *r, jx_value rule);
