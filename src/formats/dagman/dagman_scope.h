/* One DAGMan file being turned into tasks: the top-level one, or a splice under its prefix. Shared
 * by dagman.c (files, nodes, splices) and dagman_apply.c (what the statements say about them). */
#pragma once
#include "base/array.h"
#include "base/pool.h"
#include "formats/dagman/dagman_submit.h"

/* A node; the array of all nodes is parallel to the builder's tasks. */
struct dagman_node {
    const struct dagman_file *file; /* where it stands */
    size_t line;
    struct dagman_span submit; /* file or name of a description */
    struct dagman_span block;  /* inline description */
    struct dagman_span dir;
    bool has_parent, has_child; /* inside the scopes that are finished so far */
    bool apart;                 /* FINAL, SERVICE, PROVISIONER: no sink or source of a splice */
    bool subdag;
    bool noop; /* DAGMan counts it as done when its turn comes, and submits nothing */
};

struct dagman_pin {
    uint32_t number, task;
};

/* A splice as seen from outside, after it has been read. */
struct dagman_child {
    ARRAY(uint32_t) sources;
    ARRAY(uint32_t) sinks;
    ARRAY(struct dagman_pin) pin_in;
    ARRAY(struct dagman_pin) pin_out;
    bool
        include_missing; /* a file that it includes is not there, and pins may be missing with it */
    bool subdag; /* SUBDAG EXTERNAL, read inline: statements about the node as a whole are passed
                    over */
};

/* A statement and the file that it stands in. */
struct dagman_placed {
    const struct dagman_statement *st;
    const struct dagman_file *file;
};

/* VARS of a splice's node by whoever splices it. */
struct dagman_outer {
    ARRAY(struct dagman_pair) pairs;
};

struct dagman_var {
    uint32_t task; /* NONE: ALL_NODES */
    struct dagman_pair pair;
};

struct dagman_scope {
    const char *prefix; /* "" or "S1+S2+" */
    const char *dir;    /* "" or "a/b/", relative to the submit directory */
    bool fragment;      /* a top-level file without any node: meant for INCLUDE, its references lead
                           nowhere */
    uint32_t first, last;                   /* its own nodes; those of its splices follow */
    ARRAY(struct dagman_placed) statements; /* INCLUDEs replaced by what they include */
    struct intern child_name;
    ARRAY(struct dagman_child *) children; /* parallel to child_name */
    struct intern description_name;        /* SUBMIT-DESCRIPTION */
    ARRAY(struct dagman_description) descriptions;
    ARRAY(struct dagman_var) vars;
    struct dagman_child *self; /* what it will look like from outside */
};

/* A scope that was read, for who writes priorities into copies of its files. */
struct dagman_noted {
    struct dagman_file *file;
    char *prefix, *dir;   /* as the scope's */
    uint32_t first, last; /* its own nodes */
    uint32_t parent;      /* among the noted, before it; NONE: the top */
    const struct dagman_statement
        *st; /* the parent's statement that names this file; NULL: the top */
};

/* What nodes and their descriptions say besides keywords and a workflow does not carry; the last ones are
 * commands of descriptions. dagman_loss_name() tells a user. */
enum dagman_loss {
    DAGMAN_LOST_VARS, /* macros of nodes whose description is not there to use them */
    DAGMAN_LOST_REQUESTS,
    DAGMAN_LOST_ARGUMENTS,
    DAGMAN_LOST_DIR,
    DAGMAN_LOST_UNLESS_EXIT,
    DAGMAN_LOST_QUEUE,
    DAGMAN_LOST_COMMANDS, /* from here on */
    DAGMAN_LOSSES = DAGMAN_LOST_COMMANDS + 10
};

/* Is a SUBDAG EXTERNAL one task, or read like a splice? */
enum dagman_subdags { SUBDAGS_TASK, SUBDAGS_INLINE, SUBDAGS_THERE };

struct dagman_reader {
    const struct format_source *source;
    struct builder *b;
    struct error *err;
    enum dagman_subdags subdags;
    const struct dagman_file *top;
    ARRAY(struct dagman_noted) noted; /* empty unless `copies` */
    bool copies;                      /* files will be copied: note scopes, keep original texts */
    uint32_t scope;                   /* the noted one that is being read; NONE: none yet */
    const struct dagman_statement *splice; /* the statement that leads into the next one */
    ARRAY(struct dagman_node) nodes;
    struct intern file_path;
    ARRAY(struct dagman_file *) files; /* parallel to file_path */
    struct intern submit_key; /* what a node says of its submit file and where: looked for once */
    ARRAY(struct dagman_description)
    submits;                  /* parallel to submit_key; without pairs when there is no such file */
    struct intern outer_name; /* nodes of splices, VARS of which stand around the splice */
    ARRAY(struct dagman_outer) outer; /* parallel to it */
    struct strbuf scratch;
    size_t scopes, placed; /* made so far: nesting can multiply without end */
    uint64_t edges;
    size_t joins; /* tasks between the parents and the children of one statement */
    size_t ignored[DAGMAN_KEYWORDS];
    size_t lost[DAGMAN_LOSSES];
    size_t rounded; /* nodes that ask for a part of a core */
    size_t noops;
};

/* An error at a statement; always false. */
bool dagman_fail(struct dagman_reader *r, const struct dagman_placed *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The line for the builder: known only in the top-level file, which its messages name. */
size_t dagman_line(const struct dagman_reader *r, const struct dagman_placed *at);
const char *dagman_loss_name(enum dagman_loss loss);
/* The node of that name in this scope, NONE if there is none. */
uint32_t dagman_find_node(struct dagman_reader *r, const struct dagman_scope *s,
                          struct dagman_span name);
/* The file that `name` means: below the submit directory with the scope's and the statement's DIR,
 * else without the latter, else beside the file that names it. NULL: nowhere, or not a regular
 * file. The caller frees. */
char *dagman_find_file(struct dagman_reader *r, const struct dagman_scope *s,
                       const struct dagman_file *from, struct dagman_span dir,
                       struct dagman_span name, bool *beside);

/* A file read and parsed, once however often it is asked for; NULL: an error. */
struct dagman_file *dagman_load_file(struct dagman_reader *r, const char *path);

/* A whole file with all that it splices and includes. reader_free() frees; r->b is the caller's. */
bool dagman_reader_read(struct dagman_reader *r, const struct format_source *source,
                        struct error *err);
void dagman_reader_free(struct dagman_reader *r);

/* Takes the VARS of the scope's statements that are about nodes of its splices, before these are read. */
bool dagman_outer_vars(struct dagman_reader *r, const struct dagman_scope *s);
/* Everything that the scope's statements say about its nodes, their edges and commands. */
bool dagman_apply(struct dagman_reader *r, struct dagman_scope *s);
