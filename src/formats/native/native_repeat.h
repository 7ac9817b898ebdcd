/* Tasks and sub-workflows that are repeated: the outputs of one round are the inputs of the next.
 *
 *     solve:
 *       run: step {in.state} {in.mesh} > {out.state}
 *       in: { state: start.txt, mesh: mesh.txt }
 *       out: { state: state.txt }
 *       repeat: { until: "{out.state} contains converged", most: 50 }
 *
 *     start.txt ─▶ solve@round=1 ─▶ solve@round=1/state.txt ─▶ solve@round=2 ─▶ solve@round=2/state.txt ─▶ solve ─▶ state.txt
 *     mesh.txt ────────┴─────────────────────────────────────────────┘
 *
 * A round is an ordinary task, or an instance of the sub-workflow, whose files lie in a folder of its
 * own. When it is done, `until` is asked; then the next round joins the run, or the task of the name
 * that the user wrote, which brings the last round's outputs to the names that he wrote. Who reads
 * those, or comes after it, joins with it (native_later.c, native_future.c).
 *
 * A repeated task of one member is a chain; of a family, each member has one. */
#pragma once
#include "formats/native/native.h"

struct native_reading;

enum { ROUNDS_MOST = 100000 }; /* more is a slip, or a program's business */

/* A file of a repeated task. */
struct round_file {
    char *label;  /* {in.LABEL}, or a sub-workflow's name for it; NULL: it has none */
    char *name;   /* as the file has it: what the first round reads, where the last one's goes */
    char *inside; /* of an output: its name in the folder of a round */
    uint32_t carried;      /* of an input: which output of the former round; NONE: it stays */
    double size;           /* of an output: NAN: not stated */
    bool temporary, asked; /* of an output: asked: by `until`, so that it stays */
};

struct native_chain {
    yaml_ref key;         /* of the task in the file */
    uint64_t combination; /* of its family */
    char *name;           /* "solve", "solve@s=a": the last task's */
    uint32_t most;
    yaml_ref until;  /* YAML_NONE: all `most` rounds are wanted */
    bool accepts;    /* the last of `most` counts, whatever `until` says of it */
    bool keeps_last; /* the files of other rounds are temporary */
    ARRAY(struct round_file) in, out;
    uint32_t unrolled;     /* rounds that are made at once; 0: one after the other */
    uint32_t last_time;    /* rounds that there were, as things stand; 0: nobody knows */
    uint32_t round;        /* the last that was made */
    uint32_t first, count; /* its tasks */
    uint32_t module;       /* of a sub-workflow: the last round's, in r->modules */
    uint32_t settled;      /* the last round whose tasks have the workflow's numbers */
    char *condition;       /* `until` of that round, everything filled in */
    bool due;              /* the next round is to be made */
    bool over;             /* there is none */
    bool ended;            /* and its last task was made */
    char *failure;         /* why its last task fails; NULL: it does not */
};

/* A round, or what comes after the last one, that is made with this reading. */
struct native_round {
    struct native_chain *chain;
    uint32_t number; /* 0: the last task */
    uint32_t task;   /* of a task; the last one's, too */
};

/* native_repeat.c: what `repeat` says. */
bool native_is_repeated(const struct native_reading *r, yaml_ref key);
/* Does it take as many rounds as `until` says, so that nobody knows how many before? */
bool native_is_open_repeat(const struct native_reading *r, yaml_ref key);
/* The chain of the task (or member) `name`; the scope is bound. NULL: an error. */
struct native_chain *native_read_repeat(struct native_reading *r, yaml_ref key, const char *name);
void native_free_chain(struct native_chain *c);
/* "solve@round=3", "solve@s=a,round=3". Replaces `out`. */
void native_round_title(const struct native_chain *c, uint32_t round, struct strbuf *out);
/* The name of output `place` of a round, as the file has it. Replaces `out`. */
void native_round_output(const struct native_chain *c, uint32_t round, uint32_t place,
                         struct strbuf *out);
/* `until` of a round, filled in; the caller frees. NULL: an error. The scope is bound. */
char *native_round_condition(struct native_reading *r, const struct native_chain *c,
                             uint32_t round);
/* Does it hold of the files as they are? False: it cannot be answered. */
bool native_round_holds(struct native_reading *r, const struct native_chain *c, uint32_t round,
                        const char *condition, bool *holds, struct error *err);

/* native_rounds.c: rounds as they come. */
/* With the file's tasks: the task at `key`, or the member that is bound, is repeated. */
bool native_make_chain(struct native_reading *r, yaml_ref key, const char *name);
/* After those: rounds that are due, and what comes after the last ones. */
bool native_make_rounds(struct native_reading *r);
/* What they say. `module`: the first of r->modules that is a round's; moved on. */
bool native_read_rounds(struct native_reading *r, uint32_t *module);
/* Its round is done: is there another? */
void native_decide_rounds(struct native_reading *r, struct native_chain *c);
/* Is a round of this task still to come? */
bool native_has_rounds(const struct native_reading *r, yaml_ref key);
/* While a round is read: the name that its next file has, in or out. `*length` changes with it. */
const char *native_round_name(struct native_reading *r, bool out, const char *name, size_t *length);
/* Of its last output: is it gone once the next round has read it? */
bool native_round_is_temporary(const struct native_reading *r);
