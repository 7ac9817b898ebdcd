/* The inputs of tasks. What is not here is looked for in the store, fetched from an agent that has
 * it, or, when all who had it are dead, computed again: by one agent, which all the others find by
 * the same rule. Computing again restores data and changes no metadata: a task is committed once.
 *
 * A task that waits for its inputs takes no core, so what must be computed again for it always
 * finds one. */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"
#include "base/tree.h"

#include <math.h>

enum {
    RECOMPUTE_TRIES = 3,
    AHEAD_MOST = 64, /* wants that prefetching may add to */
};

static const double patience = 60; /* seconds for an input that only the submitter may still have */

static double now_in(const struct job *j)
{
    return driver_now(j->driver);
}

static bool is_everywhere(const struct job *j, uint32_t object)
{
    char label[512];
    return workflow_object_label(j->w, object, label, sizeof label)[0] == '/';
}

struct meta_op *supply_ask(struct job *j, enum meta_kind kind, uint32_t task, uint32_t slot)
{
    struct meta_op *op = array_add(&j->ops);
    op->kind = (uint8_t)kind;
    op->task = task;
    op->slot = slot;
    op->node = j->agent->node;
    return op;
}

/* ---- tasks that wait ---- */

static uint32_t held_new(struct job *j, const struct sched_start *s, bool again)
{
    uint32_t number;
    if (j->free_held.n) {
        number = array_pop(&j->free_held);
    } else {
        number = (uint32_t)j->held.n;
        array_add(&j->held);
    }
    j->held.at[number] = (struct held){.start = *s, .again = again};
    if (again)
        j->held.at[number].start.slot = HELD_MARK | number;
    return number;
}

/* Nobody may name it any more when it is another's. */
static void held_free(struct job *j, uint32_t number)
{
    for (size_t i = 0; i < j->wants.n; i++) {
        struct want *x = &j->wants.at[i];
        for (size_t k = x->object == NONE ? 0 : x->waiting.n; k--;)
            if (x->waiting.at[k] == number)
                x->waiting.at[k] = array_pop(&x->waiting);
    }
    j->held.at[number].start.task = NONE;
    array_push(&j->free_held, number);
}

/* Its inputs are all here, so no want names it. */
static void held_done(struct job *j, uint32_t number)
{
    j->held.at[number].start.task = NONE;
    array_push(&j->free_held, number);
}

static void make_runnable(struct job *j, uint32_t number)
{
    if (j->runnable_at == j->runnable.n)
        j->runnable_at = j->runnable.n = 0;
    array_push(&j->runnable, number);
    if (j->held.at[number].again) { /* others wait for it, here or elsewhere: first in the row */
        for (size_t i = j->runnable.n - 1; i > j->runnable_at; i--)
            j->runnable.at[i] = j->runnable.at[i - 1];
        j->runnable.at[j->runnable_at] = number;
    }
}

static void use_inputs(struct job *j, uint32_t task, int by)
{
    const struct workflow *w = j->w;
    if (!j->depot)
        return;
    double now = now_in(j);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        j->used[w->in_object[i]] += (uint32_t)by;
        j->touched[w->in_object[i]] = now;
    }
}

/* ---- wants ---- */

static void next_place(struct job *j, uint32_t number);
static void restore(struct job *j, uint32_t number);

static void ask_where(struct job *j, uint32_t number)
{
    struct want *x = &j->wants.at[number];
    x->state = WANT_ASKING;
    supply_ask(j, META_WHERE, x->object, number);
}

static void rest(struct job *j, struct want *x, double seconds)
{
    x->state = WANT_RESTING;
    x->again = now_in(j) + seconds;
}

static uint32_t want_find(struct job *j, uint32_t object)
{
    uint32_t number = j->want_of[object];
    if (number != NONE)
        return number;
    if (j->free_wants.n) {
        number = array_pop(&j->free_wants);
    } else {
        number = (uint32_t)j->wants.n;
        array_add(&j->wants);
    }
    struct want *x = &j->wants.at[number];
    x->object = object;
    x->since = now_in(j);
    x->make_here = x->unreached = x->asked_owner = x->is_done = false;
    x->from = NONE;
    x->waiting.n = x->places.n = 0;
    j->want_of[object] = number;
    ask_where(j, number);
    return number;
}

static void want_free(struct job *j, uint32_t number)
{
    j->want_of[j->wants.at[number].object] = NONE;
    j->wants.at[number].object = NONE;
    array_push(&j->free_wants, number);
}

/* True: it is here. `held` (NONE: nobody) waits for it otherwise. */
static bool want(struct job *j, uint32_t object, uint32_t held)
{
    if (depot_has(j->depot, object) || is_everywhere(j, object))
        return true;
    uint32_t number = want_find(j, object);
    if (held != NONE)
        array_push(&j->wants.at[number].waiting, held);
    return false;
}

static void here(struct job *j, uint32_t object)
{
    uint32_t number = j->want_of[object];
    if (number == NONE)
        return;
    struct want *x = &j->wants.at[number];
    for (size_t i = 0; i < x->waiting.n; i++) {
        struct held *h = &j->held.at[x->waiting.at[i]];
        h->fetched += i ? 0 : depot_bytes(j->depot, object); /* one transfer, for the first */
        if (h->missing && --h->missing == 0)
            make_runnable(j, x->waiting.at[i]);
    }
    want_free(j, number);
}

static void held_fails(struct job *j, uint32_t number, const char *why);

static void want_fails(struct job *j, uint32_t number, const char *why)
{
    struct want *x = &j->wants.at[number];
    uint32_t object = x->object;
    __typeof__(x->waiting) waiting = x->waiting; /* failing may add and free wants */
    x->waiting = (__typeof__(x->waiting)){0};
    want_free(j, number);
    depot_cannot(j->depot, object, why);
    agent_kept(j->agent, j->number, object, false, why);
    for (size_t i = 0; i < waiting.n; i++)
        held_fails(j, waiting.at[i], why);
    array_free(&waiting);
}

/* ---- computing again ---- */

/* Who restores what a task made: the same for everybody with the same view of who lives. */
static uint32_t owner_of(const struct job *j, uint32_t task)
{
    const struct agent *a = j->agent;
    uint32_t best = a->node;
    uint64_t most = 0;
    for (uint32_t node = 0; node < a->peers.n || node <= a->node; node++) {
        if (node != a->node && (!agent_is_up(a, node) || a->peers.at[node].leaving))
            continue;
        uint64_t x = (uint64_t)task << 32 | node; /* splitmix64 */
        x += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        x ^= x >> 31;
        if (x >= most) {
            most = x;
            best = node;
        }
    }
    return best;
}

static uint32_t find_recomputation(const struct job *j, uint32_t task)
{
    for (uint32_t i = 0; i < j->held.n; i++)
        if (j->held.at[i].start.task == task && j->held.at[i].again)
            return i;
    return NONE;
}

static void recompute(struct job *j, uint32_t task)
{
    const struct workflow *w = j->w;
    if (find_recomputation(j, task) != NONE)
        return;
    uint32_t number = held_new(j, &(struct sched_start){.task = task, .attempt = 1}, true);
    uint32_t missing = 0;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
        missing += !want(j, w->in_object[i], number);
    use_inputs(j, task, 1);
    j->held.at[number].missing = missing;
    agent_log(j->agent, "run %llu: '%s' is computed again: its results died with their agent",
              (unsigned long long)j->number, workflow_task_name(w, task));
    if (!missing)
        make_runnable(j, number);
}

static void held_fails(struct job *j, uint32_t number, const char *why)
{
    const struct workflow *w = j->w;
    struct held *h = &j->held.at[number];
    struct sched_start start = h->start;
    if (start.task == NONE)
        return;
    bool again = h->again;
    use_inputs(j, start.task, -1);
    held_free(j, number);
    if (!again) {
        struct error err = {0};
        error_set(&err, ERROR_FAILED, "an input could not be brought here: %s", why);
        executor_refuse(j->executor, &start, &err);
        return;
    }
    for (uint32_t o = w->object_off[start.task]; o < w->object_off[start.task + 1]; o++)
        if (j->want_of[o] != NONE)
            want_fails(j, j->want_of[o], why);
        else
            depot_cannot(j->depot, o, why);
}

/* ---- where it is ---- */

static void from_submitter(struct job *j, uint32_t number)
{
    struct want *x = &j->wants.at[number];
    char label[512];
    if (j->watchers.n) {
        x->state = WANT_FETCHING;
        x->from = NONE;
        depot_fetch(j->depot, x->object, j->watchers.at[0], NULL, false);
        return;
    }
    if (now_in(j) - x->since < patience) {
        rest(j, x, 1);
        return;
    }
    struct strbuf why = {0};
    strbuf_printf(&why,
                  "'%s' stood on agents that died, and its submitter is not there to give it "
                  "again; submit the workflow once more",
                  workflow_object_label(j->w, x->object, label, sizeof label));
    want_fails(j, number, why.at);
    strbuf_free(&why);
}

/* Nobody has it who lives. That may also be because its producer is not through yet: somebody heard
 * of its end before the store did. So the store is asked first. */
static void lost(struct job *j, uint32_t number)
{
    struct want *x = &j->wants.at[number];
    uint32_t producer = j->w->producer[x->object];
    if (producer == NONE) {
        from_submitter(j, number);
        return;
    }
    if (x->is_done) { /* and nobody had it even after that was known */
        restore(j, number);
        return;
    }
    x->state = WANT_CHECKING;
    supply_ask(j, META_READ, producer, number);
}

static void restore(struct job *j, uint32_t number)
{
    struct want *x = &j->wants.at[number];
    uint32_t producer = j->w->producer[x->object];
    uint32_t owner = owner_of(j, producer);
    if (owner == j->agent->node || x->make_here) {
        x->state = WANT_MAKING;
        recompute(j, producer);
        return;
    }
    struct link *l = x->asked_owner ? NULL : agent_link(j->agent, owner);
    if (!l) {
        x->asked_owner = false;
        rest(j, x, 0.3);
        return;
    }
    x->asked_owner = true;
    x->from = owner;
    x->state = WANT_FETCHING;
    depot_fetch(j->depot, x->object, l, NULL, true);
}

static void next_place(struct job *j, uint32_t number)
{
    struct want *x = &j->wants.at[number];
    while (x->places.n) {
        uint32_t node = array_pop(&x->places);
        struct link *l = agent_is_up(j->agent, node) ? agent_link(j->agent, node) : NULL;
        if (l) {
            x->from = node;
            x->state = WANT_FETCHING;
            x->asked_owner = false; /* says of the fetch under way that it is one */
            depot_fetch(j->depot, x->object, l, NULL, false);
            return;
        }
        x->unreached |= agent_is_up(j->agent, node);
    }
    if (x->unreached) /* it lives: it will be back, or be buried, and then we know */
        rest(j, x, 0.3);
    else
        lost(j, number);
}

static void places_known(struct job *j, uint32_t number, const uint32_t *nodes, uint32_t n)
{
    struct want *x = &j->wants.at[number];
    uint32_t self = j->agent->node;
    x->places.n = 0;
    x->unreached = false;
    for (uint32_t i = 0; i < n; i++) /* another first choice for every agent: spreads the load */
        if (nodes[(i + self) % n] != self && agent_is_up(j->agent, nodes[(i + self) % n]))
            array_push(&x->places, nodes[(i + self) % n]);
    next_place(j, number);
}

void supply_arrived(struct job *j, uint32_t object, bool good, const char *why)
{
    uint32_t number = j->want_of[object];
    if (good) {
        j->needs.content[object] = *depot_digest(j->depot, object);
        j->needs.bytes[object] = depot_bytes(j->depot, object);
        j->needs.present[object] = 1;
        j->touched[object] = now_in(j);
        supply_ask(j, META_COPY, object, NONE)->status = 1;
        here(j, object);
        agent_kept(j->agent, j->number, object, true, "");
        return;
    }
    agent_kept(j->agent, j->number, object, false, why);
    if (number == NONE)
        return;
    struct want *x = &j->wants.at[number];
    if (x->state != WANT_FETCHING)
        return;
    bool cut =
        x->from != NONE && agent_is_up(j->agent, x->from) && !j->agent->peers.at[x->from].link;
    x->unreached |= cut;
    if (x->from == NONE)
        rest(j, x, 1);
    else if (x->asked_owner)
        rest(j, x, 0.3);
    else
        next_place(j, number);
}

bool supply_make(struct job *j, uint32_t object)
{
    if (!j->scheduling || j->agent->leave != AGENT_STAYS || object >= j->w->nobjects ||
        j->w->producer[object] == NONE)
        return false;
    uint32_t number = want_find(j, object);
    struct want *x = &j->wants.at[number];
    x->make_here = true;
    if (x->state == WANT_FETCHING &&
        x->asked_owner) /* views differ, or differed: not in a circle */
        lost(j, number);
    return true;
}

/* ---- starting and ending ---- */

static bool is_call(const struct job *j, uint32_t task)
{
    return j->w->flags[task] & TASK_CALL;
}

static uint32_t cores_of(const struct job *j, uint32_t task)
{
    uint32_t cores = j->w->cores[task];
    return cores < j->options.cores ? cores : j->options.cores;
}

/* Has it a lane of its own, and the machine a core? Calls have their threads. */
static bool finds_room(const struct job *j, uint32_t task)
{
    if (is_call(j, task) || !j->w->command[task])
        return true;
    return executor_has_lane(j->executor) && j->agent->busy < j->agent->o->cores;
}

static void start_now(struct job *j, const struct sched_start *s)
{
    if (executor_start(j->executor, s))
        j->agent->busy += cores_of(j, s->task);
}

void supply_start(struct job *j, const struct sched_start *s)
{
    const struct workflow *w = j->w;
    bool inputs = j->depot && w->in_off[s->task] < w->in_off[s->task + 1];
    if (!inputs && j->state == BOARD_RUN_OPEN && j->agent->leave == AGENT_STAYS &&
        j->runnable_at == j->runnable.n && finds_room(j, s->task)) {
        start_now(j, s);
        return;
    }
    uint32_t number = held_new(j, s, false), missing = 0;
    for (uint32_t i = w->in_off[s->task]; inputs && i < w->in_off[s->task + 1]; i++) {
        bool is_here = want(j, w->in_object[i], number);
        missing += !is_here;
        j->hits += is_here;
        j->misses += !is_here;
    }
    use_inputs(j, s->task, 1);
    j->held.at[number].missing = missing;
    if (!missing)
        make_runnable(j, number);
}

bool supply_stop(struct job *j, uint32_t task)
{
    for (uint32_t i = 0; i < j->held.n; i++) {
        struct held *h = &j->held.at[i];
        if (h->start.task != task || h->again)
            continue;
        double now = now_in(j);
        driver_ended(
            j->driver,
            &(struct sched_ended){
                .task = task, .slot = h->start.slot, .failed = true, .start = now, .finish = now});
        use_inputs(j, task, -1);
        for (size_t k = j->runnable_at; k < j->runnable.n; k++)
            if (j->runnable.at[k] == i)
                j->runnable.at[k] = NONE;
        held_free(j, i);
        return true;
    }
    return false;
}

void supply_pump(struct job *j)
{
    while (j->runnable_at < j->runnable.n && j->agent->leave == AGENT_STAYS) {
        uint32_t number = j->runnable.at[j->runnable_at];
        if (number == NONE) { /* stopped meanwhile */
            j->runnable_at++;
            continue;
        }
        struct held *h = &j->held.at[number];
        if (j->state > BOARD_RUN_OPEN && !h->again)
            break;
        if (!finds_room(j, h->start.task))
            break;
        j->runnable_at++;
        struct sched_start start = h->start;
        if (h->again) {
            j->needs.task[start.task] = NEED_RESTORE; /* whatever the record says: it is wanted */
        } else {
            if (j->depot)
                j->fetched[start.task] = h->fetched;
            held_done(j, number);
        }
        start_now(j, &start);
    }
    executor_hand_over(j->executor);
}

static void made(struct job *j, uint32_t task, bool copies)
{
    const struct workflow *w = j->w;
    for (uint32_t o = w->object_off[task]; o < w->object_off[task + 1]; o++) {
        if (!j->needs.present || !j->needs.present[o])
            continue;
        if (copies)
            supply_ask(j, META_COPY, o, NONE)->status = 1;
        else if (j->needs.bytes[o] != w->size[o])
            supply_ask(j, META_OBJECT, o, NONE)->bytes = j->needs.bytes[o];
        j->touched[o] = now_in(j);
        depot_made(j->depot, o, &j->needs.content[o], j->needs.bytes[o]);
        here(j, o);
    }
}

bool supply_ended(struct job *j, struct sched_ended *e)
{
    bool again = (e->slot & HELD_MARK) != 0;
    if (!is_call(j, e->task) && j->w->command[e->task] && e->finish > e->start) {
        uint32_t cores = cores_of(j, e->task);
        j->agent->busy -= cores < j->agent->busy ? cores : j->agent->busy;
    }
    if (!again) {
        if (j->depot) {
            use_inputs(j, e->task, -1);
            e->fetched = j->fetched[e->task];
            j->fetched[e->task] = 0;
            if (!e->failed)
                made(j, e->task, false);
        }
        return false;
    }
    uint32_t number = e->slot & ~HELD_MARK;
    struct held *h = &j->held.at[number];
    j->needs.task[e->task] = NEED_PARENT;
    if (!e->failed) {
        use_inputs(j, e->task, -1);
        held_done(j, number);
        j->recomputed++;
        made(j, e->task, true);
    } else if (++h->tries < RECOMPUTE_TRIES) {
        h->missing = 0;
        make_runnable(j, number);
    } else {
        held_fails(j, number, "a task whose results were lost failed when it was computed again");
    }
    return true;
}

/* ---- ahead ---- */

void supply_prefetch(struct job *j)
{
    uint32_t next[16];
    const struct workflow *w = j->w;
    if (!j->depot || j->wants.n - j->free_wants.n > AHEAD_MOST)
        return;
    uint32_t n = sched_upcoming(driver_sched(j->driver), next, 16);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = w->in_off[next[i]]; k < w->in_off[next[i] + 1]; k++)
            want(j, w->in_object[k], NONE);
}

/* ---- answers ---- */

static void answer_where(struct job *j, const struct meta_answer *a, const uint32_t *nodes)
{
    const struct want *x = &j->wants.at[a->slot];
    if (x->object == a->item.task && x->state == WANT_ASKING)
        places_known(j, a->slot, nodes, a->count);
}

static void answer_producer(struct job *j, uint32_t number, const struct meta_record *producer)
{
    struct want *x = &j->wants.at[number];
    if (x->object == NONE || x->state != WANT_CHECKING ||
        j->w->producer[x->object] != producer->task)
        return;
    x->is_done = producer->status == META_DONE;
    if (x->is_done)
        ask_where(j, number); /* it may have been done just now, after we asked */
    else
        rest(j, x, 0.3);
}

void supply_answers(struct job *j, const struct meta_answers *all)
{
    size_t record = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct meta_answer *a = &all->at[i];
        if (a->kind == META_READ || a->kind == META_WHERE) {
            if (a->slot >= EVICT_MARK)
                evict_answer(j, a, all, record);
            else if (a->slot < j->wants.n && a->kind == META_WHERE)
                answer_where(j, a, a->count ? all->nodes + a->first : NULL);
            else if (a->slot < j->wants.n)
                answer_producer(j, a->slot, &all->records[record]);
        }
        record += a->kind == META_READ;
    }
}

void supply_tick(struct job *j)
{
    if (!j->depot)
        return;
    double now = now_in(j);
    for (uint32_t i = 0; i < j->wants.n; i++)
        if (j->wants.at[i].object != NONE && j->wants.at[i].state == WANT_RESTING &&
            j->wants.at[i].again <= now)
            ask_where(j, i);
    if (!j->evicts.n && j->agent->o->cache > 0 && depot_look(j->depot).bytes > j->agent->o->cache)
        evict_look(j);
}

void supply_free(struct job *j)
{
    for (size_t i = 0; i < j->wants.n; i++) {
        array_free(&j->wants.at[i].waiting);
        array_free(&j->wants.at[i].places);
    }
    array_free(&j->wants);
    array_free(&j->free_wants);
    array_free(&j->held);
    array_free(&j->free_held);
    array_free(&j->runnable);
    array_free(&j->evicts);
    array_free(&j->ops);
    free(j->want_of);
    free(j->used);
    free(j->touched);
    free(j->fetched);
}
