/* Tasks that a program adds to a run that it follows: they are offered to the board as the run's next part, and
 * join here and at the agents as whatever joins does (follow_growth.c).
 *
 *   I1. What was added has joined when it stands on the board; not before, and then for good, whoever dies.
 *   I2. Who may add holds the run open, on the board, and ends it himself: when all known tasks have ended,
 *       he has heard of each, and has nothing more to add. Agents end it when nobody holds it any more.
 *   I3. Whether a part came before the end or the end before the part, the board decides in one step. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/follow.h"
#include "cluster/wire/run_part.h"
#include "model/future.h"

#include <inttypes.h>
#include <string.h>

enum { PARTS_MOST = 4000 };          /* each takes a shard of the store, of which there are 4096 */
static const double HOLD_AGAIN = 10; /* seconds: a few times in CLIENT_HOLDS */
static const double END_AGAIN =
    1; /* seconds, if the board did not hear of the end, or refused it */

/* One of the agents that we speak to puts the tasks into the store, each in its turn; when it dies the first
 * that lives does. NONE: nobody is there. */
static struct run_part next_part(const struct client_follow *f)
{
    const struct client *c = f->c;
    struct run_part p = {.number = f->parts, .node = NONE};
    for (size_t i = 0; i < c->peers.n && p.node == NONE; i++) {
        const struct client_peer *peer = c->peers.at[(f->parts + i) % c->peers.n];
        if (peer->open && peer->refuses != f->o.run) {
            p.node = peer->node;
            p.life = peer->life;
        }
    }
    return p;
}

/* One at a time, sealed for its place: the next number may be somebody else's when it comes there. */
static void offer_first(struct client_follow *f)
{
    struct client *c = f->c;
    struct run_part p = next_part(f);
    bytes_put(&p.bytes, f->adds.at[0].at, f->adds.at[0].n);
    strbuf_clear(&f->offer);
    run_part_seal(&p, &c->charter, f->o.run, f->o.ticket->id, &f->offer);
    run_part_free(&p);
    strbuf_free(&c->part.text);
    c->part = (struct client_part){.run = f->o.run, .number = f->parts, .offers = true};
    board_offer_part(c->board,
                     &(struct board_part){.run = f->o.run,
                                          .number = f->parts,
                                          .offer = f->offer.at,
                                          .noffer = f->offer.n,
                                          .instead = f->in_the_way.n ? f->in_the_way.at : NULL,
                                          .ninstead = f->in_the_way.n,
                                          .if_open = true},
                     follow_part_came, c);
}

static void adds_drop(struct client_follow *f)
{
    for (size_t i = 0; i < f->adds.n; i++)
        strbuf_free(&f->adds.at[i]);
    f->adds.n = 0;
}

/* It ends before what was added could join: stopped, which its result says, or (I2) given up by agents. */
static void adds_come_late(struct client_follow *f)
{
    adds_drop(f);
    if (f->state >= BOARD_RUN_ENDED && !f->stopping)
        error_set(&f->error, ERROR_FAILED,
                  "tasks were added to run %" PRIu64
                  " when it had ended: this program had given its "
                  "agents no sign for %d s (weft_run_step() does)",
                  f->o.run, CLIENT_HOLDS);
    else
        client_say(f->c, "run %" PRIu64 " is being ended: what was added last does not join it",
                   f->o.run);
}

void follow_adds_tick(struct client_follow *f)
{
    struct client *c = f->c;
    if (!f->o.adds || f->phase != PHASE_FOLLOWING || !f->known)
        return;
    double now = clock_seconds();
    if (f->state == BOARD_RUN_OPEN && now - f->held > HOLD_AGAIN) {
        f->held = now;
        board_hold_run(c->board, f->o.run, CLIENT_HOLDS, NULL, NULL);
    }
    if (f->adds.n && f->state != BOARD_RUN_OPEN)
        adds_come_late(f);
    else if (f->adds.n && !c->part.run && f->broken.kind == ERROR_NONE)
        offer_first(f);
}

/* By the board's answer or by an agent that has seen it there before us. Agents are told at once. */
void follow_adds_joined(struct client_follow *f, const void *sealed, size_t n)
{
    struct client *c = f->c;
    f->ending_asked = 0;
    strbuf_clear(&f->in_the_way);
    if (!f->adds.n || f->offer.n != n || memcmp(f->offer.at, sealed, n) != 0)
        return;
    struct strbuf out = {0};
    bytes_put_u64(&out, f->o.run);
    bytes_put_u32(&out, f->parts);
    if (n + 64 < LINK_MESSAGE_MAX)
        bytes_put(&out, sealed, n);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->open)
            link_send(c->peers.at[i]->link, MESSAGE_GREW, out.at, out.n, NULL, 0);
    strbuf_free(&out);
    strbuf_clear(&f->offer);
    strbuf_free(&f->adds.at[0]);
    memmove(&f->adds.at[0], &f->adds.at[1], --f->adds.n * sizeof *f->adds.at);
}

/* A run that does not go on takes nothing: the next look says what became of it. */
void follow_adds_refused(struct client_follow *f, bool good, const char *why)
{
    strbuf_clear(&f->offer);
    if (good)
        client_ask_refresh(f->c);
    else
        error_set(&f->error, ERROR_FAILED, "what was added to run %" PRIu64 " cannot join it: %s",
                  f->o.run, why);
}

/* It was written by somebody without the key: our next offer takes its place. */
void follow_adds_distrust(struct client_follow *f, const struct strbuf *there)
{
    strbuf_clear(&f->in_the_way);
    strbuf_add_bytes(&f->in_the_way, there->at, there->n);
}

/* Of what is still to be read nothing will be: a task that decides did not come to its end, or there is none. */
static bool nothing_is_pending(const struct client_follow *f)
{
    struct future *x = f->w->future;
    bool none = true;
    for (size_t i = 0, n = x ? x->ops->items(x) : 0; i < n && none; i++) {
        struct future_item item = x->ops->item(x, i);
        bool lost = item.count == 0;
        for (uint32_t t = item.first; t < item.first + item.count && !lost; t++)
            lost = f->seen[t] != FOLLOW_SEEN_DONE && f->seen[t] != FOLLOW_SEEN_REUSED;
        none = lost;
    }
    return none;
}

/* I2. Asked again if nothing comes of it: somebody else who adds may have been quicker (I3). */
bool follow_may_end(struct client_follow *f)
{
    if (!f->o.adds)
        return !workflow_is_open(f->w);
    double now = clock_seconds();
    if (f->adds.n || !nothing_is_pending(f) ||
        (f->ending_asked > 0 && now - f->ending_asked < END_AGAIN))
        return false;
    f->ending_asked = now;
    return true;
}

bool client_follow_add(struct client_follow *f, const void *part, size_t n, struct error *err)
{
    if (!f->o.adds)
        return error_set(err, ERROR_INPUT,
                         "run %" PRIu64
                         " was not opened for tasks to be added to it: on agents set "
                         "`adds` in the options of who opens it",
                         f->o.run);
    if (f->phase != PHASE_FOLLOWING || f->error.kind != ERROR_NONE || f->ending_asked > 0 ||
        f->state >= BOARD_RUN_ENDED)
        return error_set(err, ERROR_INPUT,
                         "the run is not going on: tasks are added between its start and its end");
    if (f->parts + f->adds.n >= PARTS_MOST)
        return error_set(err, ERROR_INPUT,
                         "run %" PRIu64
                         " has grown %d times, and on agents none grows more often: add "
                         "more tasks at once",
                         f->o.run, PARTS_MOST);
    struct strbuf bytes = {0};
    bytes_put(&bytes, part, n);
    array_push(&f->adds, bytes);
    follow_adds_tick(f);
    return true;
}

/* Who leaves in order need not be waited for. */
void follow_adds_close(struct client_follow *f)
{
    if (f->o.adds && f->state == BOARD_RUN_OPEN && f->c->board)
        board_hold_run(f->c->board, f->o.run, 0, NULL, NULL);
    adds_drop(f);
    array_free(&f->adds);
    strbuf_free(&f->offer);
    strbuf_free(&f->in_the_way);
}
