/* A workflow and an experiment's substitutions, prepared so that any combination can be looked at
 * in no time: every name resolved, every command cut into tokens, every task in an order that suits
 * all combinations. Private to the room.
 *
 * Objects: those of the workflow keep their numbers, files that only the experiment names follow
 * them. A body is what a task may do: body t is task t as the workflow has it, an alternative of a
 * task has a body of its own. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/experiment.h"
#include "model/workflow.h"

/* TOKEN_WORD: {task}, {cores} ..., which the merged task fills in itself. */
enum token_type { TOKEN_TEXT, TOKEN_BRACE, TOKEN_IN, TOKEN_OUT, TOKEN_PARAMETER, TOKEN_WORD };

/* A piece of a command. A word that is exactly the name of one of the task's files is that file. */
struct blueprint_token {
    uint8_t type;
    char brace;
    uint32_t index;    /* files: which, NONE: all, or `items`; parameters: which */
    const char *items; /* files: "1:4,7]" (model/command.h); NULL: all, or one */
    bool list;         /* files: the file with their names */
    const char *text;  /* TOKEN_TEXT, TOKEN_WORD: in the workflow or the experiment */
    size_t length;
};

struct body {
    uint32_t task;
    const struct alternative *alternative; /* NULL: the workflow's own */
    const char *command;                   /* "": none */
    bool is_call;
    bool is_verbatim;           /* names no parameter, and no file but by {in} and {out} */
    bool has_words;             /* some TOKEN_WORD: name, kind, cores and memory count */
    uint32_t token, tokens_end; /* in blueprint.tokens */
    uint32_t read, reads_end;   /* in blueprint.reads: what {in} stands for, in order */
};

struct blueprint {
    const struct workflow *w;
    const struct experiment *x;
    struct intern files; /* names of all objects, by their number */
    uint32_t nobjects;   /* of the workflow; files past them have no producer */
    uint32_t *output;    /* per object of the workflow: which output of its producer it is */

    ARRAY(struct body) bodies;
    ARRAY(struct blueprint_token) tokens;
    ARRAY(uint32_t) reads;

    /* per substitution; columns of the other kinds of target are not used */
    uint32_t *first_body;   /* tasks: body of alternative 0; the others follow */
    uint32_t *first_object; /* data: in `objects`: what each alternative stands for */
    ARRAY(uint32_t) objects;
    uint32_t *target; /* task, object or parameter that is replaced */

    uint32_t *data_substitution;      /* per object (all of them): NONE or which */
    uint32_t *parameter_substitution; /* per parameter */
    uint32_t *task_substitution;      /* per task */

    /* tasks that a substitution touches by itself, CSR by substitution */
    uint32_t *touch_off, *touched;
    /* tasks that a task may come after, in some combination, CSR by task; and an order for all */
    uint32_t *pred_off, *pred;
    uint32_t *order;

    uint32_t nleaves, *leaf; /* tasks that are there for their own sake: with an output that nobody
                                reads, or with none */
    bool may_prune;          /* some combination may leave a task without a purpose */
};

bool blueprint_make(struct blueprint *b, const struct experiment *x, const struct workflow *w,
                    struct error *err);
void blueprint_free(struct blueprint *b); /* also after a failure */

/* The outputs of a task in the order of {out}. */
static inline uint32_t blueprint_output(const struct workflow *w, uint32_t task, uint32_t number)
{
    uint32_t at = w->object_off[task] + number;
    return w->out_object ? w->out_object[at] : at;
}

static inline const char *blueprint_file(const struct blueprint *b, uint32_t object)
{
    return intern_text(&b->files, object);
}
