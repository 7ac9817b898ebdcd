/* What the commands of a cluster share: where its store is, its key, and the client that speaks to
 * it. A run on agents of its own (`weft run --on ssh:...`) leaves a note of both in .weft/cluster
 * while it goes on, so that `weft attach` finds it after the client is gone. */
#pragma once
#include "cli/cli.h"
#include "session/key_file.h"
#include "cluster/client/client.h"
#include "store/board.h"

#define OPTION_STORE                                                                               \
    {                                                                                              \
        "store", 0, "URL",                                                                         \
            "where the cluster's Redis is (default: $WEFT_STORE, else redis://127.0.0.1:6379)"     \
    }

#define OPTION_KEY                                                                                 \
    {                                                                                              \
        "key", 0, "FILE",                                                                          \
            "the cluster's key, made by `weft key`; -: from standard input (default: $WEFT_KEY, "  \
            "else ~/.config/weft/key)"                                                             \
    }

struct cluster_place {
    struct store_address address;
    struct seal_key key;
    bool noted; /* found in a note that a run here has left */
};

/* `store`: a URL. With `auth=key` the password and the certificate to believe come from the key. */
bool cluster_address(const char *store, const struct seal_key *key, struct store_address *out,
                     struct error *err);
/* By --store and --key, else the note of this run (0: none), else by environment and defaults. */
bool cluster_place(const struct arguments *a, uint64_t run, struct cluster_place *out,
                   struct error *err);
void cluster_place_free(struct cluster_place *p);
/* The client; what it has to say goes to standard error unless --quiet or --json. NULL: an error.
 */
struct client *cluster_client(const struct arguments *a, const struct cluster_place *p,
                              struct uv_loop_s *loop, struct error *err);
void cluster_say(void *context, const char *line);

/* A run's number in an operand. */
bool cluster_run_number(const char *text, uint64_t *run, struct error *err);
/* The workflow in a ticket. NULL: an error. */
struct workflow *cluster_read_workflow(const char *text, size_t n, struct error *err);
const char *cluster_state_name(enum board_run_state state);

/* ---- notes, in STATE/cluster ---- */

struct cluster_note {
    uint64_t run;
    char *store, *key; /* key: the file */
    char *target;      /* of `--on`; NULL: agents that others started */
};
/* Writes the key beside it, 0600, when the agents are the run's own. */
bool cluster_note_write(const char *state, uint64_t run, const char *store,
                        const struct seal_key *key, const char *key_file, const char *target,
                        struct error *err);
bool cluster_note_read(const char *state, uint64_t run, struct cluster_note *out);
void cluster_note_remove(const char *state, uint64_t run);
void cluster_note_free(struct cluster_note *n);
/* The runs of which there is a note, by number; the caller frees. */
uint64_t *cluster_notes(const char *state, size_t *n);
