/* A native workflow being read: what native_workflow.c (the file, and what a task says) and
 * native_members.c (which tasks there are) share. Private to them. */
#pragma once
#include "formats/native/family.h"
#include "formats/native/list_sources.h"
#include "formats/native/native_module.h"
#include "formats/native/native_repeat.h"
#include "model/future.h"

/* {in.reads}: which files, by their place, stand for it. */
struct native_named {
    const char *name;
    bool out;
    uint32_t first, count; /* in named_place */
};

/* A task of the file, or a family, in a workflow that grows. */
enum native_entry {
    ENTRY_NOW,   /* it is known, and becomes tasks with this reading */
    ENTRY_LATER, /* not known yet: it depends on a list that is pending */
    ENTRY_MADE,  /* it was read before */
};

/* Which key of a task stands at a node of the file, by the last digits of its number. */
enum { NATIVE_KNOWN_KEYS = 64 };
struct native_known_key {
    yaml_ref at; /* + 1; 0: none */
    int key;
};

/* Tasks of an entry that speaks of lists with `after`, or of a file to come. */
struct native_joining {
    yaml_ref key;
    uint32_t first, count;
};

/* The defaults are read again for each task, so that they can be overridden key by key. */
struct native_reading {
    struct native file;
    struct builder *b;
    yaml_ref defaults;         /* YAML_NONE: none */
    bool keeps_results;        /* `results: keep` of the whole file, or of who includes it */
    char *folder;              /* where the files of lists stand */
    char *beside;              /* where the file itself stands, and its modules */
    struct given_values given; /* parameters and lists from outside */
    struct native params;      /* the file of --params, if given.file is not NULL */
    struct lists lists;
    struct variable_scope scope;
    ARRAY(struct family) families; /* in the order of the file */
    struct native_shared *shared;  /* with all modules of the workflow */
    struct native_module *module;  /* what it is to another file; NULL: the workflow's own */
    /* Sub-workflows in the order of the file, then what it includes. */
    ARRAY(struct native_reading *) modules;
    uint32_t first, ntasks; /* its tasks, those of its modules among them */
    struct strbuf full;     /* scratch: a name as the whole workflow has it */
    struct strbuf kind;     /* of the task that is read now, in a module */
    struct strbuf renamed;  /* of that task: files that it calls otherwise, each with its NUL */
    struct native_known_key known_keys[NATIVE_KNOWN_KEYS];
    yaml_ref key;    /* of the task that is read now */
    uint32_t family; /* whose member is read now; NONE: of none */
    /* Of the task that is read now: its named inputs and outputs. */
    uint32_t task, places[2]; /* places: inputs, outputs so far */
    ARRAY(struct native_named) named;
    ARRAY(uint32_t) named_place;
    bool naming;           /* places are noted */
    bool names_files;      /* {in.NAME}: any name of a file, not only what could be one of ours */
    struct strbuf gate;    /* what the sub-workflows around ask of the task; empty: nothing */
    uint32_t hidden;       /* of its inputs the last ones: only asked by these */
    struct strbuf command; /* scratch */
    struct strbuf kept;    /* scratch: a command whose {in} was filled in */
    /* of the task being read: a file that lies above the folder; YAML_NONE: none */
    yaml_ref outside;
    uint32_t outside_object;
    bool outside_is_made;
    bool is_file; /* and no text that weft wrote: what it says can be mended */
    /* Of a file that is not all known (native_later.c): by task of the file, enum native_entry and
     * the pending list that it waits for. Empty: all are ENTRY_NOW. */
    ARRAY(uint8_t) entry;
    ARRAY(uint32_t) waits_for;
    bool joins;          /* some task stands for those of a file: native_is_joined() */
    bool no_flows;       /* no task of the file is a sub-workflow: it was looked at */
    bool repeats;        /* some task is repeated: native_is_repeated() */
    bool repeats_openly; /* and nobody knows how often */
    bool opens;          /* a module may grow while it runs */
    /* Of such a file: entries are made in passes, those that need what a module makes after it, if it
     * turned out not to grow. By entry: the pass that made it with this reading; 0: none. */
    ARRAY(uint8_t) pass;
    uint8_t passes;
    uint32_t noted;            /* modules that were looked at for `open` */
    ARRAY(uint32_t) open;      /* modules that grow still */
    ARRAY(uint32_t) continued; /* those that went on with this reading */
    ARRAY(bool) released;      /* by task of the file: `tasks: FILE`, and the file may be read */
    uint32_t first_family, first_module;  /* while it grows: the first that is not there yet */
    ARRAY(struct native_chain *) chains;  /* of repeated tasks, those of one beside each other */
    ARRAY(struct native_round) rounds;    /* that are made with this reading */
    uint64_t combination;                 /* of the member that is made now */
    const struct native_round *round;     /* that is read now; NULL: none */
    uint32_t round_place[2];              /* its inputs, outputs so far */
    struct strbuf round_name;             /* scratch */
    ARRAY(struct native_joining) joining; /* of a file that is read as a whole: native_joins.c */
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

/* native_joins.c */
/* What is assumed of an entry or list of this file, which only a run tells; NULL: nothing. */
const char *native_assumed(struct native_reading *r, const char *name);
/* Is it read for a simulation, which tells what it assumes, and decides about `when`? */
bool native_simulates(const struct native_reading *r);
bool native_check_assumed(const struct native_reading *r);
/* Of a module that nobody will run: its lists with `after`, as they stand. Before its tasks are made. */
bool native_read_standing(struct native_reading *r);
/* Where a list is read from, and the file of an entry with `tasks`: as the whole workflow has them, the
 * list seen from the top's folder. The caller frees. */
char *native_list_place(const struct native_reading *r, uint32_t list);
char *native_joined_path(struct native_reading *r, yaml_ref key);
const struct native_reading *native_top(const struct native_reading *r);
/* The tasks from `first` on are those of the entry at `key`. */
void native_note_entry(struct native_reading *r, yaml_ref key, uint32_t first);
void native_join(struct native_reading *r, struct join row, yaml_ref at);
/* After all tasks were made. False: an error. */
bool native_tell_joins(struct native_reading *r);
/* native_later.c: which lists the task at `body` speaks of, by list. */
void native_lists_named(const struct native_reading *r, yaml_ref body, bool *named);
bool native_check_deciders(const struct native_reading *r, yaml_ref tasks);
/* native_taken.c */
/* Of a task with `when`, that is read now: what --assume says of it. False: neither yes nor no. */
bool native_assume_taken(struct native_reading *r, uint32_t task);
/* Tasks that are not taken (`when`), as things stand or as is assumed, and what needs them take no time. */
void native_take(const struct native_reading *r, struct workflow *w);

/* native_named.c */
/* The command with {in.NAME} as places; into `out`. */
bool native_fill_named(struct native_reading *r, yaml_ref at, const char *text, size_t length,
                       struct strbuf *out);

/* A condition (model/condition.h) with its variables, parameters and {in.NAME} filled in, into `out`;
 * `what` is the key that it stands under. After the task's inputs and outputs were read. */
bool native_fill_condition(struct native_reading *r, yaml_ref v, const char *what,
                           struct strbuf *out);

/* native_gate.c */
/* `when` of sub-workflow `m` at `v` (YAML_NONE: none), after its `in` was read. The scope is bound. */
bool native_read_gate(struct native_reading *r, struct native_module *m, yaml_ref v);
/* What the sub-workflows around the task ask, into r->gate, and the files that they ask behind its own. After its
 * inputs were read. `call`: it runs a function; YAML_NONE: it does not. */
bool native_gate_task(struct native_reading *r, uint32_t task, yaml_ref call);
/* A command whose {in} is its own inputs alone: in r->kept, with its length. */
const char *native_own_inputs(struct native_reading *r, const char *text, size_t *length);
bool native_assume_gate(struct native_reading *r, uint32_t task);

/* native_decisions.c */
/* With r->gate before it; YAML_NONE: that alone. */
bool native_read_when(struct native_reading *r, uint32_t task, yaml_ref v);
bool native_read_retry_on(struct native_reading *r, uint32_t task, yaml_ref v);
/* A list of failures that are tried again, and no attempt to try: a remark. */
void native_check_retries(const struct native_reading *r, yaml_ref body);

/* native_values.c */
/* Opens the file of --params, if there is one. */
bool native_open_params(struct native_reading *r, const struct option_value *given);
void native_close_params(struct native_reading *r);
/* `parameters` and `lists`, and what was given for them from outside. Opens the scope. */
bool native_read_values(struct native_reading *r);
/* Everything that was given must be of use, in the file or in a module. */
bool native_check_given(const struct native_reading *r);
/* `assert` and `hooks`: native_texts.c. */
bool native_read_assertions(struct native_reading *r, yaml_ref v);
bool native_read_hooks(struct native_reading *r, yaml_ref hooks);
bool native_read_canvas(struct native_reading *r, yaml_ref canvas);
/* native_resources.c */
bool native_read_resources(struct native_reading *r, uint32_t task, yaml_ref v);

/* native_file.c */
/* Everything of the file up to its tasks, which get their numbers; those of its modules, too. */
bool native_prepare(struct native_reading *r);
void native_free_reading(struct native_reading *r);

/* native_environment.c */
/* One of its keys, of a task or of the defaults (task NONE). Of env only what it looks like: its values
 * may name files, which native_read_env() comes after. */
bool native_read_surroundings(struct native_reading *r, uint32_t task, enum column_id id,
                              yaml_ref v);
/* The variables of the defaults and of the task. */
bool native_read_env(struct native_reading *r, uint32_t task, yaml_ref body);

/* native_workflow.c */
bool native_read_defaults(struct native_reading *r, yaml_ref defaults);
bool native_read_after(struct native_reading *r, uint32_t task, yaml_ref v);
/* The object that this file calls so. */
uint32_t native_object(struct native_reading *r, const char *name, size_t length);
/* What a task says. */
bool native_read_task(struct native_reading *r, uint32_t task, yaml_ref body);

/* Parameters that commands name are the model's. */
void native_keep_parameters(struct native_reading *r);
/* The text of a list, parameters filled in: "{d}/{s}.fq" is "data/{s}.fq". */
void native_fill_parameters(const struct native_reading *r, const char *text, size_t length,
                            struct strbuf *out);

/* native_later.c */
/* Is something of the file, or of a module of it, not known yet? */
bool native_is_open(const struct native_reading *r);
/* Does the entry at `key` go on after it was made: rounds that are to come, a module that grows (or may,
 * where it was not made yet)? */
bool native_goes_on(struct native_reading *r, yaml_ref key, bool made);
/* Modules that were made and grow become known as such. */
void native_note_open(struct native_reading *r);
/* What an entry waits for: a list; or an entry, for its file or its rounds. */
#define WAITS_FOR_ENTRY(entry) (UINT32_MAX - 1 - (uint32_t)(entry))
/* A task of the file that stands for the tasks of another, which is read when a task is done: `more: {
 * tasks: more.yaml, after: plan }`. */
bool native_find_joined(struct native_reading *r, yaml_ref tasks);
bool native_is_joined(const struct native_reading *r, yaml_ref key);
/* The name of the task that it is read after. */
const char *native_joined_after(const struct native_reading *r, yaml_ref key);
/* Is a list pending? */
bool native_has_pending(const struct native_reading *r);
/* Fill `entry` and `waits_for`: which tasks of the file, and behind them which modules that it includes,
 * can be read now. `tasks`: YAML_NONE: it has none. False: an error. */
bool native_find_later(struct native_reading *r, yaml_ref tasks);
/* The task of this file in what is there already; NONE: there is none. */
uint32_t native_find_base(struct native_reading *r, const char *name, size_t length);
static inline enum native_entry native_entry_of(const struct native_reading *r, size_t entry)
{
    return entry < r->entry.n ? (enum native_entry)r->entry.at[entry] : ENTRY_NOW;
}
/* Could the text `a` be what `b` is, for some values of their variables? */
bool native_may_meet(const char *a, const char *b);
/* The same, or one is a folder that the other lies in. */
bool native_files_meet(const char *a, const char *b);

/* native_readers.c */
/* Could a task that is not known yet read the file that the whole workflow calls so? */
bool native_may_read(const struct native_reading *r, const char *name);

/* native_future.c */
struct native_future {
    struct future base;
    struct native_reading r;
    struct native_shared shared;
    struct workflow *w;
    struct option_value *given; /* copies: the reader's caller has freed its own */
    char text[400];             /* of the item that was asked for last */
    char unknown[400];          /* the name that was asked for last */
};

/* Of a file whose reading goes on while it runs: takes `f` over, and builds what is known. */
struct workflow *native_begin_future(struct native_future *f, struct error *err);
/* Of one that nobody will run: says what is left out, of modules, too. */
void native_tell_unknown(struct native_reading *r);

/* native_members.c */
/* What the task at `body` says, as the task of this number, of this kind; NULL: its own name is. */
bool native_read_body(struct native_reading *r, uint32_t task, yaml_ref body, const char *kind);
/* The kind of a task of this file, as the whole workflow has it, in r->kind. */
const char *native_full_kind(struct native_reading *r, const char *kind);
/* A task of this file. False: an error. */
bool native_add_task(struct native_reading *r, yaml_ref key, const char *name, size_t length);
/* For messages. */
void native_name_place(struct native_reading *r, const char *name);
/* The numbers of all tasks, members of families among them. */
bool native_make_tasks(struct native_reading *r);
/* Before what they say is read: files that families leave out, of the file and its modules. */
void native_note_left_out(struct native_reading *r);
/* What each task says; those of modules, too. */
bool native_read_bodies(struct native_reading *r);
/* What the tasks of `r` and its modules make becomes known to the sub-workflow `top`. */
void native_collect_made(struct native_reading *r, struct native_reading *top);
/* The tasks from `first` on are the group `name` of this file. */
bool native_add_group(struct native_reading *r, const char *name, uint32_t first);
/* The task that this file calls so; NONE: there is none. */
uint32_t native_find_task(struct native_reading *r, const char *name, size_t length);
/* NULL: there is none. */
const struct task_group *native_find_group(struct native_reading *r, const char *name,
                                           size_t length);
/* From the first to the last task of a group that may have several ranges, those between among them. */
struct task_group native_group_hull(const struct native_reading *r, const struct task_group *g);
/* All tasks of the file: the mapping; YAML_NONE: it has none. */
yaml_ref native_tasks(const struct native_reading *r);
/* The family that would make this file but for its `except`; NULL: none, or another task does. */
const char *native_left_out(struct native_reading *r, const char *file, size_t length);
/* What stands before the names of its tasks, and before its kinds and parameters. */
static inline const char *native_prefix(const struct native_reading *r)
{
    return r->module ? r->module->prefix : "";
}
static inline const char *native_kinds(const struct native_reading *r)
{
    return r->module ? r->module->kinds : "";
}
