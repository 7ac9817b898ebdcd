/* A native workflow being read: what native_workflow.c (the file, and what a task says) and
 * native_members.c (which tasks there are) share. Private to them. */
#pragma once
#include "formats/native/family.h"
#include "formats/native/list_sources.h"

/* {in.reads}: which files, by their place, stand for it. */
struct native_named {
    const char *name;
    bool out;
    uint32_t first, count; /* in named_place */
};

/* The defaults are read again for each task, so that they can be overridden key by key. */
struct native_reading {
    struct native file;
    struct builder *b;
    yaml_ref defaults;         /* YAML_NONE: none */
    char *folder;              /* where the files of lists stand */
    struct given_values given; /* parameters and lists from outside */
    struct native params;      /* the file of --params, if given.file is not NULL */
    struct lists lists;
    struct variable_scope scope;
    ARRAY(struct family) families; /* in the order of the file */
    /* Files that a family would make but for its `except`, and whether another task makes one all
     * the same. */
    struct intern left_out;
    ARRAY(bool) made_elsewhere;
    uint32_t family; /* whose member is read now; NONE: of none */
    /* Of the task that is read now: its named inputs and outputs. */
    uint32_t task, places[2]; /* places: inputs, outputs so far */
    ARRAY(struct native_named) named;
    ARRAY(uint32_t) named_place;
    bool naming;           /* places are noted */
    struct strbuf command; /* scratch */
    /* of the task being read: a file that lies above the folder; YAML_NONE: none */
    yaml_ref outside;
    uint32_t outside_object;
    bool outside_is_made;
    bool is_file; /* and no text that weft wrote: what it says can be mended */
};

/* For scope_fill() where one text is wanted: it stays in the scope. */
struct native_filled {
    const char *text;
    size_t length;
};
static inline bool native_keep_filled(void *context, const char *text, size_t length)
{
    *(struct native_filled *)context = (struct native_filled){text, length};
    return true;
}

/* native_named.c */
/* The command with {in.NAME} as places; into `out`. */
bool native_fill_named(struct native_reading *r, yaml_ref at, const char *text, size_t length,
                       struct strbuf *out);

/* A condition (model/condition.h) with its variables, parameters and {in.NAME} filled in, into `out`;
 * `what` is the key that it stands under. After the task's inputs and outputs were read. */
bool native_fill_condition(struct native_reading *r, yaml_ref v, const char *what,
                           struct strbuf *out);

/* native_values.c */
/* Opens the file of --params, if there is one. */
bool native_open_params(struct native_reading *r, const struct option_value *given);
void native_close_params(struct native_reading *r);
/* `parameters` and `lists`, and what was given for them from outside. Opens the scope. */
bool native_read_values(struct native_reading *r);
/* `assert` and `hooks`: native_texts.c. */
bool native_read_assertions(struct native_reading *r, yaml_ref v);
bool native_read_hooks(struct native_reading *r, yaml_ref hooks);

/* native_workflow.c */
/* What a task says. */
bool native_read_task(struct native_reading *r, uint32_t task, yaml_ref body);

/* native_members.c */
/* All tasks, members of families among them, and what each says. */
bool native_read_tasks(struct native_reading *r, yaml_ref tasks);
/* The family of that name; NULL: there is none. */
const struct family *native_find_family(const struct native_reading *r, const char *name);
/* The family that would make this file but for its `except`; NULL: none, or another task does. */
const struct family *native_left_out(const struct native_reading *r, const char *file,
                                     size_t length);
const char *native_family_name(const struct native_reading *r, const struct family *f);
