/* Where a cluster is: the address of its store and the key that its members share; and the client
 * (cluster/client/client.h) that speaks to it. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "cluster/client/client.h"
#include "model/guide.h"
#include "session/remark.h"
#include "store/board.h"

/* As a user says it; each may be NULL. */
struct place_options {
    const char *store;  /* URL [$WEFT_STORE, else redis://127.0.0.1:6379] */
    const char *key;    /* file, "-": standard input [$WEFT_KEY, else ~/.config/weft/key] */
    const char *folder; /* in whose .weft to look for the note of a run [here] */
};

struct cluster_place {
    struct store_address address;
    struct seal_key key;
    bool noted;          /* found in a note that a run has left */
    uint8_t id[SEAL_ID]; /* of that run, if so */
};

/* Is the run of this number and id the one whose note told of the place? Without a note it is. */
bool place_is_of(const struct cluster_place *p, uint64_t run, const uint8_t id[static SEAL_ID],
                 struct error *err);
/* What a user gave as a store: a URL, @FILE (a file that only the user may read), or - (a line on
 * standard input, after the key's). The URL, which may hold a password: wiped by place_forget(). */
char *place_store_text(const char *given, struct error *err);
void place_forget(char *text);
/* `store`: as above, but for -. With `auth=key` the password and the certificate to believe come from the key. */
bool place_address(const char *store, const struct seal_key *key, struct store_address *out,
                   struct error *err);
/* As the options say, else by the note of this run (0: none), else by environment and defaults. */
bool place_find(struct cluster_place *p, const struct place_options *o, uint64_t run,
                struct error *err);
void place_free(struct cluster_place *p);
/* A client at this place, which must outlive it. `remarks` gets what the client has to say; must
 * outlive it too. `loop`: NULL for one of its own. */
struct client *place_client(const struct cluster_place *p, struct uv_loop_s *loop,
                            const struct remarks *remarks, struct error *err);
/* The cores and bytes of all agents that live. */
uint32_t place_cores(const struct client *c, double *memory);

struct outside;
/* What a ticket has of a workflow that grows: what it was read from, and parts that joined already. */
void place_put_source(const struct outside *from, const struct strbuf *parts, size_t n,
                      struct strbuf *out);
/* The text of a workflow becomes that of one to which a program adds tasks (formats/open_end.h). */
void place_put_open_end(struct strbuf *text);
/* It becomes that of one that keeps to a plan: places are numbers of agents. */
void place_put_guide(const struct guide *g, struct strbuf *text);
/* What the text, which stands there as the native format has it, was read as. */
void place_put_image(const struct workflow *w, struct strbuf *text);
/* The workflow in a ticket. NULL: an error. */
struct workflow *place_read_workflow(const char *text, size_t n, struct error *err);
const char *place_run_state_name(enum board_run_state state);
