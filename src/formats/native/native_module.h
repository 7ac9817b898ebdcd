/* Modules: workflow files whose tasks join those of another.
 *
 *     include: { qc: lib/qc.yaml }              tasks qc/count ...   files lib/...
 *     tasks:
 *       align:                                  tasks align@s=a/map, align@s=a/sort ...
 *         each: s                               what it makes lies in align@s=a/, but for
 *         flow: lib/align.yaml                  what `out` says
 *         in: { reads.fq: "reads/{s}.fq" }      its reads.fq is our reads/a.fq
 *         out: { sorted.bam: "bam/{s}.bam" }
 *
 * A module is read by a struct native_reading of its own into the builder of all: it has lists,
 * parameters and defaults of its own. Names of tasks get a prefix, names of files go through the map
 * of each module on the way up. A file is loaded once, however many instances it has. */
#pragma once
#include "formats/native/family.h"
#include "model/future.h"

#include <sys/types.h>

struct native_reading;

enum {
    MODULE_DEPTH = 32,     /* modules in modules: more is a slip */
    MODULES_MOST = 1000000 /* in all */
};

/* A module's file, loaded; kept until the workflow is read. */
struct module_source {
    dev_t device;
    ino_t inode;
    struct yaml y;
    enum module_growth { GROWTH_UNKNOWN, GROWTH_NONE, GROWTH_MAYBE } grows; /* native_peek.c */
};

/* A range of tasks that `after` may name: a family, a module, an instance. */
struct task_group {
    uint32_t first, count;
};

/* Further tasks of a group whose module grows. */
struct group_more {
    uint32_t group;
    struct task_group range;
};

/* A task with `when` of which the user says whether it is taken. */
struct native_decided {
    uint32_t task;
    bool taken;
};

/* What all readings of a workflow share. */
struct native_shared {
    /* Files that a family would make but for its `except`: who, and whether another task makes one
     * all the same. */
    struct intern left_out;
    ARRAY(str_id) left_out_by; /* in `families` */
    ARRAY(bool) made_elsewhere;
    struct pool families;
    struct intern group_names;
    ARRAY(struct task_group) groups; /* parallel to group_names */
    ARRAY(struct group_more) more_groups;
    ARRAY(struct native_decided) decided;
    struct intern open;  /* names of what only a run tells: --assume */
    struct intern known; /* names of parameters and lists, with the prefixes of modules */
    ARRAY(struct module_source *) sources;
    /* While it grows (native_future.c): what is there already, edges from there, and the first group
     * that is not there yet. */
    const struct workflow *base;
    struct future_part *part;
    uint32_t first_group, first_more;
    size_t lines; /* of all files so far */
    uint32_t modules;
    dev_t device; /* of the workflow's own file; both 0: it has none */
    ino_t inode;
};

/* A file of a module that is a file of who includes it. */
struct module_name {
    char *outer;
    yaml_ref at; /* in the including file */
    enum module_use { MODULE_AS, MODULE_IN, MODULE_OUT } use;
    bool named; /* by a task of the module */
};

struct native_module {
    struct native_reading *parent;
    yaml_ref at;          /* where the parent names it */
    yaml_ref key;         /* of its entry: the task, or of `include` */
    char *title;          /* that entry's name: "align" */
    char *name;           /* "qc", "align@s=a" */
    char *prefix, *kinds; /* "b/align@s=a/" of its tasks; "b/align/" of kinds and parameters */
    char *folder;         /* where its names of files begin, seen from the parent: "" or "lib/" */
    char *instance;       /* of a sub-workflow: the folder of what it makes; NULL: it is included */
    struct intern inner;  /* names that are mapped */
    ARRAY(struct module_name) outer; /* parallel to inner */
    struct intern made;              /* what its tasks make, and the folders above */
    ARRAY(bool) made_itself;         /* parallel to made; false: a folder above */
    ARRAY(struct module_value) with;
    struct strbuf when;    /* a condition on all its tasks; empty: none (native_gate.c) */
    ARRAY(uint32_t) asked; /* by place of that: which of `outer` it asks; NONE: it does not */
    const struct module_source *source;
};

void shared_init(struct native_shared *s);
void shared_free(struct native_shared *s);

/* native_module.c */
/* One entry of `include`: `qc: FILE`, or `qc: { file: FILE, as: ..., with: ... }`. */
bool native_include_module(struct native_reading *r, yaml_ref key);
/* The mapping of `include`; YAML_NONE: there is none, or it is empty. */
yaml_ref native_includes(const struct native_reading *r);
/* Loads the file at `path`, the first time that it is named. NULL: an error at `at`. */
struct module_source *native_load_module(struct native_reading *r, yaml_ref at, const char *path);

/* native_peek.c: what a module would be, seen from its text. */
/* Could the file, or a module of it, grow while it runs? `at`: where it is named in this file. */
bool native_may_grow(struct native_reading *r, yaml_ref at, const char *file);
/* Names and patterns of files that the tasks of the included module read (make), as this file has
 * them. The caller frees them and the array. */
struct peeked_files {
    char **at;
    size_t n, cap;
};
void native_peek_files(struct native_reading *r, yaml_ref include, bool out,
                       struct peeked_files *files);
/* Is the task at `key` a sub-workflow? */
bool native_is_flow(const struct native_reading *r, yaml_ref key);
/* Tasks of a file that a task wrote (native_is_joined()): as included, under the entry's name. */
bool native_make_joined(struct native_reading *r, yaml_ref key);
/* An instance of it, with its tasks: "align@s=a". The scope is bound. */
bool native_make_flow(struct native_reading *r, yaml_ref key, const char *name);
/* What the tasks of instance `module` say, and what comes before them. The scope is bound. */
bool native_read_flow(struct native_reading *r, yaml_ref key, struct native_reading *module);
/* After all tasks were read: is what the includer says of the module true? */
bool native_check_module(const struct native_reading *r);
void native_close_modules(struct native_reading *r);

/* native_names.c */
/* The name of a file of `r` as the module `top` above it has it, in `out`, which is replaced. NULL:
 * as the whole workflow has it. */
void native_outer_name(const struct native_reading *r, const struct native_reading *top,
                       const char *name, size_t length, struct strbuf *out);
/* A remark where the command of a module's task spells out a file that has another name here. */
void native_warn_spelled(const struct native_reading *r, yaml_ref at, const char *command);
/* One level up, from the module to who includes it. Both names are canonical. */
void module_map_name(const struct native_module *m, const char *name, struct strbuf *out);
/* `inner` is `outer` where the module is included. False: it was mapped before. */
bool module_map(struct native_module *m, const char *inner, size_t length, struct module_name x);
void module_makes(struct native_module *m, const char *name); /* a canonical name */
bool module_is_made(const struct native_module *m, const char *name);
/* A task's name or an instance's as one part of a path: no slash, not `.` nor `..`. */
void module_add_folder(const char *name, struct strbuf *out);
