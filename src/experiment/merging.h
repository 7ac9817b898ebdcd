/* What merging keeps while it goes through the combinations: shared by merge.c (which task is which
 * computation) and merging.c (writing a new one down), private to them. */
#pragma once
#include "base/digest.h"
#include "base/strbuf.h"
#include "experiment/blueprint.h"
#include "experiment/spread.h"
#include "model/builder.h"

/* Where a task's input comes from in this combination. */
struct merging_input {
    uint32_t task;   /* of the merged workflow; NONE: a file */
    uint32_t number; /* which output, or which file */
};

struct merging {
    struct blueprint b;
    struct builder *out;
    bool reuse;
    const char *results;
    const uint32_t *row;  /* choices of the combination at hand */
    uint32_t combination; /* its number */
    uint32_t *body;       /* per task of the original: what it does now */
    const char **value;   /* per parameter, now */
    uint32_t *instance;   /* per task of the original: its task in the merged workflow; NONE */
    uint32_t *dirty;      /* combination + 1 in which it was touched */
    uint32_t *moved;      /* combination + 1 in which `instance` or `depends` changed */
    uint64_t *depends, *scratch; /* per task of the original, `words` words: substitutions */
    size_t words;
    /* Choices that the file was read with. They belong to the labels, not to `depends`: who depends on
     * them is known when all readings are (experiment/spread.h). */
    uint32_t reading;         /* the one at hand */
    uint64_t *with_file;      /* `words` words: all of them */
    const uint64_t *narrowed; /* per task of the merged workflow: which of them; NULL: all */
    bool notes;               /* `spread` is wanted */
    struct spread spread;
    ARRAY(uint32_t) leaves;             /* instances of all leaves, combination by combination */
    uint8_t *alive;                     /* NULL: all are */
    ARRAY(struct merging_input) inputs; /* of the task at hand */
    ARRAY(uint32_t) place; /* per input of the task at hand: where it stands among the distinct */
    struct strbuf text, name, label;

    /* tasks of the merged workflow */
    ARRAY(struct digest) key;
    ARRAY(uint32_t) origin;
    ARRAY(uint32_t) first_output;     /* in `outputs` */
    ARRAY(uint32_t) outputs;          /* objects of the builder */
    uint32_t *slot, mask;             /* key -> task + 1 */
    ARRAY(uint32_t) seen, seen_place; /* per object of the builder: last task + 1 that reads it */
    uint32_t *file_object;            /* per file of the blueprint: in the builder; NONE */
    uint64_t without_reuse;
};

/* Append the command with parameters filled in. Every brace that stands for itself is doubled:
 * exact, whatever stands in parameters. `place` NULL: inputs by their numbers in the body; else
 * where each stands among the distinct ones. */
void merging_command(struct merging *m, const struct body *body, const uint32_t *place,
                     struct strbuf *out);

/* A new task of the merged workflow, from the task at hand with its inputs and its dependence
 * known. NONE: the builder has failed. */
uint32_t merging_task(struct merging *m, const struct body *body, const struct digest *key);
