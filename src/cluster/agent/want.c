/* Wants: objects that are needed here and are not here. The store is asked who has one; it is
 * fetched from an agent that has it, or, when all who had it are dead, computed again: by one
 * agent, which all the others find by the same rule. Computing again restores data and changes no
 * metadata: a task is committed once.
 *
 * I1. An object has at most one want, `want_of[object]`; a FREE want belongs to none.
 * I2. A held task stands in `waiting` of a want once for each of its inputs that is missing.
 * I3. Every state but FREE ends by itself: a question to the store is answered once, a fetch is
 *     reported once (supply_arrived()), a rest has an end, a recomputation ends as a task does.
 * I4. Adding a want may move all others: a pointer to one is not used after anything that may. */
#include "cluster/agent/agent_state.h"
#include "exec/health.h"

static const double patience = 60; /* seconds for an input that only the submitter may still have */
/* Seconds until it is tried again. Short: mostly an agent that died and is not yet known
 * to have. */
static const double rest_short = 0.3;
/* For who may come back: a submitter. */
static const double rest_long = 1;

static struct want *want_at(struct job *j, uint32_t number)
{
    return &j->supply.wants.at[number];
}

/* The one place where a want's state changes. */
static bool want_change(struct job *j, uint32_t number, enum want_event event)
{
    struct want *x = want_at(j, number);
    enum want_state next = want_next(x->state, event);
    if (next == WANT_STATES)
        return false;
    agent_trace(j->agent, "run %llu: object %u: %s -> %s", (unsigned long long)j->number, x->object,
                want_state_name(x->state), want_state_name(next));
    x->state = next;
    return true;
}

/* The store knows where copies stand, by COPY and COMPLETE of all agents. */
static void want_locate(struct job *j, uint32_t number)
{
    if (want_change(j, number, WANT_LOCATE))
        job_ask(j, META_WHERE, want_at(j, number)->object, number);
}

/* It stands at `node`, with this content: whoever fetches it knows what to expect. */
void want_tell_copy(struct job *j, uint32_t object, uint32_t node)
{
    struct digest *content = mem_new(struct digest, 1);
    *content = j->needs.content[object];
    array_push(&j->supply.said, content);
    struct meta_op *op = job_ask(j, META_COPY, object, NONE);
    op->status = 1;
    op->node = node;
    op->digest = content;
    op->bytes = j->needs.bytes[object];
}

static void want_rest(struct job *j, uint32_t number, double seconds)
{
    if (want_change(j, number, WANT_REST))
        want_at(j, number)->again = job_now(j) + seconds;
}

/* The object's want, begun if there is none. */
static uint32_t want_find(struct job *j, uint32_t object)
{
    struct supply *s = &j->supply;
    uint32_t number = s->want_of[object];
    if (number != NONE)
        return number;
    if (s->free_wants.n) {
        number = array_pop(&s->free_wants);
    } else {
        number = (uint32_t)s->wants.n;
        array_add(&s->wants);
    }
    struct want *x = want_at(j, number);
    x->object = object;
    x->since = job_now(j);
    x->recompute_here = x->unreached = x->owner_asked = x->producer_done = x->no_room = false;
    x->from = NONE;
    x->waiting.n = x->places.n = 0;
    s->want_of[object] = number;
    want_locate(j, number);
    return number;
}

/* Its room stays for the next: lists keep their capacity. */
static void want_free(struct job *j, uint32_t number)
{
    want_change(j, number, WANT_OVER);
    j->supply.want_of[want_at(j, number)->object] = NONE;
    want_at(j, number)->object = NONE;
    array_push(&j->supply.free_wants, number);
}

/* A path outside the run's folder: every machine is taken to have it. */
static bool is_absolute(const struct job *j, uint32_t object)
{
    char label[512];
    return workflow_object_label(j->w, object, label, sizeof label)[0] == '/';
}

/* An input has one content, that of the ticket; what a task makes again need not be the same to the
 * bit. NULL: whatever it is, by the digest that goes with it. */
const struct digest *want_expected(const struct job *j, uint32_t object)
{
    const struct digest *content = &j->needs.content[object];
    return j->w->producer[object] == NONE && !digest_is_zero(content) ? content : NULL;
}

bool want_object(struct job *j, uint32_t object, uint32_t held)
{
    if (j->needs.absent && j->needs.absent[object])
        return true; /* nobody makes it: the task does without, or is skipped */
    if (j->depot ? depot_has(j->depot, object) || is_absolute(j, object)
                 : j->w->producer[object] == NONE || j->needs.present[object])
        return true;
    uint32_t number = want_find(j, object);
    if (held != NONE)
        array_push(&want_at(j, number)->waiting, held);
    return false;
}

void want_arrived(struct job *j, uint32_t object)
{
    uint32_t number = j->supply.want_of[object];
    if (number == NONE)
        return;
    const struct want *x = want_at(j, number);
    for (size_t i = 0; i < x->waiting.n; i++) /* one transfer, for the first that waits */
        supply_input_arrived(j, x->waiting.at[i],
                             i || !j->depot ? 0 : depot_bytes(j->depot, object));
    want_free(j, number);
}

void want_fail(struct job *j, uint32_t number, const char *why)
{
    struct want *x = want_at(j, number);
    uint32_t object = x->object;
    __typeof__(x->waiting) waiting = x->waiting; /* failing may add and free wants (I4) */
    x->waiting = (__typeof__(x->waiting)){0};
    want_free(j, number);
    depot_unavailable(j->depot, object, why);
    agent_answer_keep(j->agent, j->number, object, false, why);
    for (size_t i = 0; i < waiting.n; i++)
        supply_held_failed(j, waiting.at[i], why);
    array_free(&waiting);
}

/* Its producer has ended. True: without outputs, and those that wait go on without it. */
static bool want_is_absent(struct job *j, uint32_t number, uint8_t status)
{
    uint32_t object = want_at(j, number)->object;
    if ((status != META_SKIPPED && status != META_EXCUSED) || !j->needs.absent)
        return false;
    executor_set_absent(j->executor, object);
    if (j->depot)
        depot_unavailable(j->depot, object, "the task that makes it has no outputs in this run");
    const struct want *x = want_at(j, number);
    for (size_t i = 0; i < x->waiting.n; i++)
        supply_input_arrived(j, x->waiting.at[i], 0);
    want_free(j, number);
    return true;
}

/* ---- nobody has it ---- */

/* Who restores what a task produced: the same for everybody with the same view of who lives. Of the
 * agents that have room for it the one whose hash with the task is largest (rendezvous hashing), so
 * that a death moves only what the dead one would have restored. NONE: nobody has. O(agents). */
static uint32_t want_owner(const struct job *j, uint32_t task)
{
    const struct agent *a = j->agent;
    const struct capacity asks = capacity_demand(j->w, task);
    uint32_t best = NONE;
    bool best_aside = false;
    uint64_t most = 0;
    for (uint32_t node = 0; node < a->peers.n || node <= a->node; node++) {
        struct capacity there = peer_capacity(a, node, j->w, 0);
        if ((node != a->node && !peer_is_up(a, node)) || !capacity_fits(&there, &asks))
            continue;
        uint64_t x = (uint64_t)task << 32 | node; /* splitmix64 */
        x += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        x ^= x >> 31;
        bool aside = aside_is(a, node); /* those come last */
        if (best == NONE || (best_aside && !aside) || (best_aside == aside && x >= most)) {
            most = x;
            best = node;
            best_aside = aside;
        }
    }
    return best;
}

/* An input of the workflow: only who submitted it may still have it. */
static void want_from_submitter(struct job *j, uint32_t number)
{
    const struct want *x = want_at(j, number);
    char label[512];
    if (j->watchers.n) {
        if (want_change(j, number, WANT_ASK_SUBMITTER))
            depot_fetch(j->depot, x->object, j->watchers.at[0], want_expected(j, x->object), false);
        return;
    }
    /* What only joined tasks read was handed in by nobody: whoever attaches has it, however late. */
    if (x->object >= j->growth.first_object || job_now(j) - x->since < patience) {
        want_rest(j, number, rest_long);
        return;
    }
    struct strbuf why = {0};
    strbuf_printf(&why,
                  "'%s' stood on agents that died, and its submitter is not there to give it "
                  "again; submit the workflow once more",
                  workflow_object_label(j->w, x->object, label, sizeof label));
    want_fail(j, number, why.at);
    strbuf_free(&why);
}

bool want_awaits_submitter(const struct job *j, char *name, size_t n)
{
    char label[512];
    for (size_t i = 0; !j->watchers.n && i < j->supply.wants.n; i++) {
        const struct want *x = &j->supply.wants.at[i];
        if (x->object == NONE || x->object < j->growth.first_object ||
            j->w->producer[x->object] != NONE || job_now(j) - x->since < rest_long)
            continue;
        snprintf(name, n, "%s", workflow_object_label(j->w, x->object, label, sizeof label));
        return true;
    }
    return false;
}

uint32_t want_unfit(const struct job *j, uint32_t *task)
{
    uint32_t lost = 0;
    for (size_t i = 0; i < j->supply.wants.n; i++) {
        const struct want *x = &j->supply.wants.at[i];
        if (x->object == NONE || !x->no_room)
            continue;
        *task = j->w->producer[x->object];
        lost++;
    }
    return lost;
}

/* Its producer is done and nobody has it: it is produced once more, here or by its owner. */
static void want_recompute(struct job *j, uint32_t number)
{
    struct want *x = want_at(j, number);
    uint32_t producer = j->w->producer[x->object], owner = want_owner(j, producer);
    x->no_room = owner == NONE && !x->recompute_here;
    if (x->no_room) { /* an agent with room for it may come; who follows the run is told (want_unfit()) */
        want_rest(j, number, rest_long);
        return;
    }
    if (owner == j->agent->node || x->recompute_here) {
        if (want_change(j, number, WANT_RECOMPUTE))
            supply_recompute(j, producer);
        return;
    }
    struct link *l = x->owner_asked ? NULL : peer_link(j->agent, owner);
    if (!l) { /* not reached; or asked before, and it rests before it is asked again */
        x->owner_asked = false;
        want_rest(j, number, rest_short);
        return;
    }
    if (!want_change(j, number, WANT_ASK_OWNER))
        return;
    x->owner_asked = true;
    x->from = owner;
    depot_fetch(j->depot, x->object, l, NULL, true);
}

/* Nobody has it who lives. That may also be because its producer is not through yet: somebody was
 * notified of its end before the store was. So the store is asked first. */
static void want_lost(struct job *j, uint32_t number)
{
    const struct want *x = want_at(j, number);
    uint32_t producer = j->w->producer[x->object];
    if (producer == NONE)
        want_from_submitter(j, number);
    else if (x->producer_done) /* and nobody had it even after that was known */
        want_recompute(j, number);
    else if (want_change(j, number, WANT_CHECK))
        job_ask(j, META_READ, producer, number);
}

void want_producer_checked(struct job *j, uint32_t number, const struct meta_record *producer)
{
    struct want *x = want_at(j, number);
    if (x->state != WANT_CHECKING || j->w->producer[x->object] != producer->task)
        return; /* the want that asked is over, and another has its number */
    if (want_is_absent(j, number, producer->status))
        return;
    x->producer_done = producer->status == META_DONE;
    if (x->producer_done)
        want_locate(j, number); /* it may have been done just now, after we asked */
    else
        want_rest(j, number, rest_short);
}

bool want_restore(struct job *j, uint32_t object)
{
    if (!job_is_scheduling(j) || !agent_is_staying(j->agent) || object >= j->w->nobjects ||
        j->w->producer[object] == NONE)
        return false;
    uint32_t number = want_find(j, object);
    want_at(j, number)->recompute_here = true;
    /* we have asked another to: views differ, or differed. Not in a circle */
    if (want_at(j, number)->state == WANT_FROM_OWNER)
        want_lost(j, number);
    return true;
}

/* ---- where it is ---- */

/* Holders one after the other; then what it means that none had it. */
static void want_next_place(struct job *j, uint32_t number)
{
    struct want *x = want_at(j, number);
    while (x->places.n) {
        struct want_place place = array_pop(&x->places);
        uint32_t node = place.node;
        struct link *l = peer_link(j->agent, node);
        const struct digest *expected = want_expected(j, x->object);
        if (l && want_change(j, number, WANT_FETCH)) {
            x->from = node;
            x->owner_asked = x->no_room = false;
            depot_fetch(j->depot, x->object, l, expected ? expected : &place.content, false);
            return;
        }
        x->unreached |= peer_is_up(j->agent, node);
    }
    if (x->unreached) /* it lives: it will be back, or expire, and then we know */
        want_rest(j, number, rest_short);
    else
        want_lost(j, number);
}

void want_located(struct job *j, uint32_t number, const struct meta_answer *a,
                  const struct meta_answers *all)
{
    struct want *x = want_at(j, number);
    uint32_t self = j->agent->node, n = a->count;
    if (x->state != WANT_LOCATING || x->object != a->item.task)
        return;
    if (want_is_absent(j, number, a->status))
        return;
    if (!j->depot) { /* a shared folder: it is there when its maker is done */
        if (a->status == META_DONE)
            want_arrived(j, x->object);
        else
            want_rest(j, number, rest_short);
        return;
    }
    x->places.n = 0;
    x->unreached = false;
    for (uint32_t i = 0; i < n; i++) { /* another first choice for every agent: spreads the load */
        uint32_t at = a->first + (i + self) % n;
        struct want_place place = {.node = all->nodes[at]};
        if (all->digests)
            place.content = all->digests[at];
        /* nothing is fetched without knowing what it must be */
        bool known = want_expected(j, x->object) || !digest_is_zero(&place.content);
        if (place.node != self && known && peer_is_up(j->agent, place.node))
            array_push(&x->places, place);
    }
    want_next_place(j, number);
}

/* That one has not brought it. */
static void want_go_on(struct job *j, uint32_t number)
{
    struct want *x = want_at(j, number);
    switch (x->state) {
    case WANT_FROM_SUBMITTER:
        want_rest(j, number, rest_long);
        break;
    case WANT_FROM_OWNER:
        want_rest(j, number, rest_short);
        break;
    case WANT_FETCHING: /* a link that was cut says nothing about who has it */
        x->unreached |= peer_is_up(j->agent, x->from) && !j->agent->peers.at[x->from].link;
        want_next_place(j, number);
        break;
    default: /* an old fetch, of a want that goes another way by now */
        break;
    }
}

/* A trouble of this machine says nothing of who has it, and computing it again would not help: other agents may
 * have better luck with those that wait. What the other side says of itself is not ours, whatever its words. */
void want_not_fetched(struct job *j, uint32_t object, const char *why)
{
    enum trace_trouble ours = depot_was_refused(j->depot) ? 0 : health_of_error(why);
    if (agent_fetch_kept(j->agent, j, object, why))
        return; /* whoever wants it here waits for that */
    uint32_t number = j->supply.want_of[object];
    if (ours && number == NONE)
        aside_count_trouble(j->agent, ours, NULL, why);
    else if (ours)
        want_fail(j, number, why);
    else if (number != NONE)
        want_go_on(j, number);
}

void want_look_ahead(void *context, const uint32_t *tasks, size_t n)
{
    struct job *j = context;
    const struct workflow *w = j->w;
    if (!j->depot || !agent_is_staying(j->agent))
        return;
    for (size_t i = 0; i < n; i++) {
        uint32_t asked = 0, end = w->in_off[tasks[i] + 1];
        for (uint32_t k = w->in_off[tasks[i]]; k < end && asked < SCHED_LOOK_MOST; k++) {
            uint32_t object = supply_object(j, k);
            if (depot_has(j->depot, object) || j->supply.want_of[object] != NONE)
                continue;
            job_ask(j, META_WHERE, object, SLOT_LOOK);
            asked++;
        }
    }
}

void want_seen(struct job *j, const struct meta_answer *a)
{
    if (a->count && agent_is_staying(j->agent))
        want_object(j, a->item.task, NONE);
}

void want_tick(struct job *j)
{
    double now = job_now(j);
    for (uint32_t i = 0; i < j->supply.wants.n; i++)
        if (want_at(j, i)->state == WANT_RESTING && want_at(j, i)->again <= now)
            want_locate(j, i);
}
