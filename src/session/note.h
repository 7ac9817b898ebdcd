/* Notes of runs that go on on a cluster, in STATE/cluster: where the store of each is and which key
 * opens it, so that who comes later (`weft attach`, another `weft run`) finds the run after its
 * client is gone. One is written when a run is handed in and removed when its results were taken. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "model/record.h"
#include "session/remark.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct note {
    uint64_t run;
    uint8_t id[SEAL_ID]; /* of the run: numbers come again when a store has lost its data */
    char *store;         /* URL */
    char *key;           /* the file */
    char *target;        /* of `--on`; NULL: agents that others started */
    int64_t record;      /* its number in the history of whoever followed it last; 0: none */
    double began;        /* as that record has it, in seconds since 1970 */
    bool overwrite;      /* results replace what weft did not make, whoever brings them home */
};

/* With n->key NULL the key is written beside the note, 0600. The note is only read from. */
bool note_write(const char *state, const struct note *n, const struct seal_key *key,
                struct error *err);
/* False: there is none, or it cannot be used. Free with note_free(). */
bool note_read(const char *state, uint64_t run, struct note *out);
/* Who follows the run of this id has begun a record of it: whoever comes later goes on with that one. Where
 * the note cannot be written, that is a remark: they will have a record of their own. */
void note_set_record(const char *state, uint64_t run, const uint8_t id[static SEAL_ID],
                     const struct run_record *record, const struct remarks *remarks);
/* Is it of this run, and not of one that had its number at another time? */
bool note_is_of(const struct note *n, const uint8_t id[static SEAL_ID]);
/* And the folders of agents that have left. */
void note_remove(const char *state, uint64_t run);
/* Agents that were told to leave remove what is theirs: wait for it, two seconds at most. */
void note_await_agents_gone(const char *state);
void note_free(struct note *n);
/* The runs of which there is a note, in no order; the caller frees. */
uint64_t *notes_list(const char *state, size_t *n);
/* Folders of agents that were started for runs of this folder and killed with who started them: nobody works
 * in them. To be called when no run of this folder goes on. */
void note_clear_agents(const char *state);
