/* The charter of a cluster (charter.h). Relies on base/seal.h for what a seal and a proof are; keeps a
 * copy of the key, wiped at the end.
 *
 *     who comes first        draws an id, seals it for this prefix, offers it      the board keeps the first offer
 *     who comes later        opens what stands there                               it does not open: another key
 *     an agent that remembers it   compares; puts it back where it is gone          another id: says so and leaves
 *
 * All that is sealed or proved in a cluster has the id in it, so that nothing of one cluster holds in
 * another that has the same key. */
#include "cluster/wire/charter.h"

#include "base/bytes.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double answer_most = 10;  /* seconds for the board's answer */
static const double restored_most = 2; /* seconds in which an agent's next heartbeat comes */

void charter_name(const uint8_t id[static SEAL_ID], char name[static CHARTER_NAME])
{
    for (int i = 0; i < 4; i++)
        snprintf(name + 2 * i, 3, "%02x", id[i]);
}

/* The prefix is part of what is authenticated: a charter that was copied to another prefix does not
 * open there, and with it no ticket does. */
static struct seal_place charter_place(const struct store_address *address, char purpose[static 96])
{
    snprintf(purpose, 96, "cluster %s", address->prefix);
    return (struct seal_place){.purpose = purpose};
}

static bool charter_read(const struct seal_key *key, const struct store_address *address,
                         const void *data, size_t n, uint8_t id[static SEAL_ID])
{
    char purpose[96];
    struct seal_place place = charter_place(address, purpose);
    struct strbuf plain = {0};
    bool good = seal_open_piece(key, &place, data, n, &plain) && plain.n == SEAL_ID;
    if (good)
        memcpy(id, plain.at, SEAL_ID);
    strbuf_free(&plain);
    return good;
}

/* What is put there when there is none. */
static void charter_offer(const struct seal_key *key, const struct store_address *address,
                          const struct charter_founder *founder, struct strbuf *out)
{
    const struct text *remembered = founder ? founder->remembered : NULL;
    char purpose[96];
    struct seal_place place = charter_place(address, purpose);
    uint8_t id[SEAL_ID];
    if (remembered && charter_read(key, address, remembered->at, remembered->n, id)) {
        bytes_put(out, remembered->at, remembered->n);
        return;
    }
    seal_random(id, sizeof id);
    seal_piece(key, &place, id, sizeof id, out);
}

static void charter_came(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct strbuf *out = context;
    (void)why;
    if (good)
        bytes_put(out, data, n);
}

/* The answer, in `out`. */
static bool charter_ask(struct board *b, const struct board_charter *ask, struct strbuf *out)
{
    strbuf_clear(out);
    board_charter(b, ask, charter_came, out);
    return board_wait(b, answer_most) && out->n;
}

/* Who knows of no cluster founds none if an agent may be about to put its id back: each does with its next
 * heartbeat. */
static void charter_await(struct board *b, struct strbuf *out)
{
    double until = clock_seconds() + restored_most;
    struct board_charter look = {.offer = ""};
    while (!charter_ask(b, &look, out) && !*board_trouble(b) && clock_seconds() < until)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

bool charter_open(struct charter *c, struct board *b, const struct store_address *address,
                  const struct seal_key *key, const struct charter_founder *founder,
                  struct error *err)
{
    struct strbuf offer = {0}, before = {0};
    *c = (struct charter){.key = *key};
    if (!founder || !(founder->alone || founder->remembered->n))
        charter_await(b, &c->sealed);
    charter_offer(key, address, founder, &offer);
    struct board_charter ask = {
        .offer = offer.at, .noffer = offer.n, .last_run = founder ? founder->last_run : 0};
    bool good = charter_ask(b, &ask, &c->sealed);
    if (good && !charter_read(key, address, c->sealed.at, c->sealed.n, c->id)) {
        /* of another key: it goes if nobody of that cluster is there any more */
        bytes_put(&before, c->sealed.at, c->sealed.n);
        ask.instead = before.at;
        ask.ninstead = before.n;
        good = charter_ask(b, &ask, &c->sealed);
    }
    bool own = good && charter_read(key, address, c->sealed.at, c->sealed.n, c->id);
    char name[9];
    seal_key_name(key, name);
    if (!good)
        error_set(err, ERROR_FAILED, "the store at %s does not answer: %s", address->text,
                  board_trouble(b));
    else if (!own)
        error_set(err, ERROR_FAILED,
                  "the agents at %s have another cluster key than this one (%s); --key names the "
                  "key's file, and another prefix in the store's address makes another cluster",
                  address->text, name);
    strbuf_free(&offer);
    strbuf_free(&before);
    if (!own)
        charter_free(c);
    return own;
}

void charter_free(struct charter *c)
{
    strbuf_free(&c->sealed);
    explicit_bzero(c, sizeof *c);
}

enum charter_standing charter_standing(const struct charter *c, const struct store_address *address,
                                       const struct board_view *view, uint8_t id[static SEAL_ID])
{
    if (view->ncharter == c->sealed.n && memcmp(view->charter, c->sealed.at, c->sealed.n) == 0)
        return CHARTER_STANDS;
    if (!charter_read(&c->key, address, view->charter, view->ncharter, id))
        return CHARTER_GONE;
    return memcmp(id, c->id, SEAL_ID) == 0 ? CHARTER_STANDS : CHARTER_CHANGED;
}

/* ---- sealed pieces ---- */

static struct seal_place place_of(const struct charter *c, const char *purpose, uint64_t number)
{
    struct seal_place place = {.purpose = purpose, .number = number};
    memcpy(place.cluster, c->id, sizeof place.cluster);
    return place;
}

void charter_seal(const struct charter *c, const char *purpose, uint64_t number, const void *data,
                  size_t n, struct strbuf *out)
{
    struct seal_place place = place_of(c, purpose, number);
    seal_piece(&c->key, &place, data, n, out);
}

bool charter_unseal(const struct charter *c, const char *purpose, uint64_t number, const void *data,
                    size_t n, struct strbuf *out)
{
    struct seal_place place = place_of(c, purpose, number);
    return seal_open_piece(&c->key, &place, data, n, out);
}

/* ---- states of runs ---- */

struct board_change charter_change(const struct charter *c, uint64_t run,
                                   const uint8_t id[static SEAL_ID], enum board_run_state state)
{
    struct seal_place place = place_of(c, "run state", run);
    struct seal_prover by;
    struct board_change change = {.run = run, .state = state};
    uint8_t word = (uint8_t)state;
    seal_prover_make(&c->key, &place, id, &by);
    seal_prove(&by, &word, sizeof word, change.proof);
    memcpy(change.id, id, sizeof change.id);
    return change;
}

struct seal_prover charter_prover(const struct charter *c, uint64_t run,
                                  const uint8_t id[static SEAL_ID])
{
    struct seal_place place = place_of(c, "tasks of a run", run);
    struct seal_prover by;
    seal_prover_make(&c->key, &place, id, &by);
    return by;
}

bool charter_proves(const struct charter *c, const struct board_run *run)
{
    struct seal_place place = place_of(c, "run state", run->run);
    struct seal_prover by;
    seal_prover_make(&c->key, &place, run->id, &by);
    return run->state < BOARD_RUN_STATES &&
           seal_proves(&by, &run->state, sizeof run->state, run->proof, sizeof run->proof);
}
