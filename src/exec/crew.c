/* A crew of threads and the graph that they carry out: see crew.h.
 *
 *     sources ──┐                  ┌── deque ◀── released by what this thread ended
 *               ├─▶ thread ── call ┤
 *     deques ───┘                  └── ring of ends ── crew_take() ──▶ owner
 *     of others (stolen)
 *
 * I1. crew_waits(t) is the number of edges into t whose task has not ended well. Who takes it to 0 makes
 *     t ready, once: it keeps it for itself as its next task or puts it into its own deque. What the
 *     task before wrote is seen by then: the counter is taken down with release and acquire.
 * I2. A deque that is full lets tasks pass to `spilled`, a list through `next` under the lock.
 *     Nothing is allocated by the threads.
 * I3. Who puts a task where others may take it looks, after that, whether somebody searches or else
 *     sleeps, and rouses one. Who goes to sleep looks, after it has said so, whether there is a task.
 *     All of it sequentially consistent, so that one of the two sees the other.
 * I4. Of those that look for work at most one is roused at a time: it inherits `searching`, and
 *     rouses the next when it finds something.
 * I5. An end stands in its thread's ring before its successors are released. The owner takes those
 *     that ended before it began to look: then whatever they waited for is there, too.
 * I6. `left` counts tasks that have neither ended nor been lost below a failure; threads take off
 *     theirs in lots, at the latest before they sleep.
 * I7. With `ending`, a thread that comes out of a call touches nothing but the lock: it wakes nobody.
 * I8. With a ration every task waits for one thing more, its admission: an end gives memory back, and
 *     who told that admits those that now fit, in the ration's order (exec/ration.h). */
#include "exec/crew_private.h"

#include "base/calling.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include "exec/pins.h"
#include "exec/ration.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Seconds that a thread searches before it sleeps: about what sleeping and being woken costs. */
static const double search_most = 20e-6;
/* Seconds after which an end is worth waking the owner for. */
static const double untold_most = 0.002;

/* ---- ready tasks ---- */

static bool crew_before(const struct crew *c, uint32_t a, uint32_t b)
{
    return crew_heap_before(c->o.priority, a, b);
}

/* One that sleeps may go and search; under the lock (I4). */
static void crew_rouse_locked(struct crew *c)
{
    if (atomic_load(&c->sleeping) <= c->roused)
        return;
    c->roused++;
    atomic_fetch_add(&c->searching, 1);
    pthread_cond_signal(&c->work);
}

void crew_rouse(struct crew *c)
{
    c = c->root;
    if (atomic_load(&c->searching) || !atomic_load(&c->sleeping))
        return;
    pthread_mutex_lock(&c->lock);
    if (!atomic_load(&c->searching))
        crew_rouse_locked(c);
    pthread_mutex_unlock(&c->lock);
}

void crew_offer(struct crew_thread *me, uint32_t task)
{
    struct crew *c = me->crew;
    if (!c->heap.at && deque_push(&me->ready, task))
        return;
    pthread_mutex_lock(&c->lock);
    if (c->heap.at) {
        crew_heap_push(&c->heap, task);
    } else {
        c->next[task] = c->spilled;
        c->spilled = task;
        atomic_fetch_add(&c->nspilled, 1);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Some of the sources, in their order; the deque is empty. */
static uint32_t crew_take_source(struct crew_thread *me)
{
    struct crew *c = me->crew;
    uint32_t taken = atomic_load(&c->taken);
    if (taken >= c->nsources)
        return NONE;
    uint32_t share = (c->nsources - taken) / (2 * c->threads) + 1;
    uint32_t n = share < CHUNK ? share : CHUNK, first = atomic_fetch_add(&c->taken, n);
    if (first >= c->nsources)
        return NONE;
    n = n < c->nsources - first ? n : c->nsources - first;
    while (n-- > 1)
        deque_push(&me->ready, c->source[first + n]);
    return c->source[first];
}

static uint32_t crew_take_locked(struct crew *c)
{
    uint32_t task;
    if (!atomic_load(c->heap.at ? &c->heap.n : &c->nspilled))
        return NONE;
    pthread_mutex_lock(&c->lock);
    if (c->heap.at) {
        task = crew_heap_pop(&c->heap);
    } else {
        task = c->spilled;
        if (task != NONE) {
            c->spilled = c->next[task];
            atomic_fetch_sub(&c->nspilled, 1);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return task;
}

/* xorshift: whom to look at first. */
static uint32_t crew_draw(struct crew_thread *me, uint32_t below)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return (uint32_t)(me->random >> 32) % below;
}

/* What is begun goes before what is not: the own deque, others' lists, sources, deques of others. */
uint32_t crew_find(struct crew_thread *me)
{
    struct crew *c = me->crew;
    if (atomic_load_explicit(&c->stop, memory_order_relaxed))
        return NONE;
    uint32_t task = deque_pop(&me->ready);
    if (task == NONE)
        task = crew_take_locked(c);
    if (task == NONE)
        task = crew_take_source(me);
    uint32_t from = task == NONE && c->threads > 1 ? crew_draw(me, c->threads) : 0;
    for (uint32_t i = 0; task == NONE && i < c->threads; i++) {
        struct crew_thread *other = c->thread[(from + i) % c->threads];
        if (other != me)
            task = deque_steal(&other->ready);
    }
    return task;
}

bool crew_has_own_work(struct crew *c)
{
    if (atomic_load(&c->stop))
        return false;
    bool any = atomic_load(&c->taken) < c->nsources || atomic_load(&c->nspilled) ||
               atomic_load(&c->heap.n);
    for (uint32_t i = 0; i < c->threads && !any; i++)
        any = deque_has_some(&c->thread[i]->ready);
    return any;
}

/* By who goes to sleep (I3). */
bool crew_has_work_locked(struct crew *c)
{
    bool any = crew_has_own_work(c);
    for (struct crew *g = c->guests; g && !any; g = g->next_guest)
        any = crew_guest_has_room(g);
    return any;
}

/* ---- telling the owner ---- */

void crew_wake_owner(struct crew *c)
{
    if (!c->ending)
        c->o.wake(c->o.context);
}

/* Its ring is full: until the owner has taken some. */
static void crew_await_room(struct crew_thread *me, uint64_t head)
{
    struct crew *c = me->crew;
    pthread_mutex_lock(&c->lock);
    c->blocked++;
    while (!c->ending && head - atomic_load(&me->tail) >= c->ring) {
        crew_wake_owner(c);
        pthread_cond_wait(&c->room, &c->lock);
    }
    c->blocked--;
    pthread_mutex_unlock(&c->lock);
}

static void crew_tell(struct crew_thread *me, uint32_t task, int status, double finish)
{
    struct crew *c = me->crew;
    uint64_t head = atomic_load_explicit(&me->head, memory_order_relaxed);
    uint64_t waiting = head - atomic_load_explicit(&me->tail, memory_order_acquire);
    if (waiting >= c->ring)
        crew_await_room(me, head);
    me->ring[head % c->ring] = (struct crew_end){task, me->lane, status, me->since, finish};
    atomic_store_explicit(&me->head, head + 1, memory_order_release);
    if (waiting != c->ring / 2 && finish - me->woke < untold_most && !status)
        return;
    me->woke = finish;
    pthread_mutex_lock(&c->lock);
    crew_wake_owner(c);
    pthread_mutex_unlock(&c->lock);
}

void crew_settle(struct crew_thread *me)
{
    if (!me->ended)
        return;
    atomic_fetch_sub(&me->crew->left, (int64_t)me->ended);
    me->ended = 0;
}

/* ---- one task ---- */

/* Nothing below it will ever be ready. */
static void crew_failed(struct crew_thread *me, uint32_t task)
{
    struct crew *c = me->crew;
    const struct workflow *w = c->w;
    if (!c->lost) {
        atomic_store(&c->stop, true);
        return;
    }
    uint32_t list = task, lost = 0;
    if (c->o.ration)
        ration_lost(c->o.ration, task);
    pthread_mutex_lock(&c->lock);
    for (c->next[task] = NONE; list != NONE;) {
        uint32_t t = list;
        list = c->next[t];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t below = w->succ_task[e];
            if (c->lost[below])
                continue;
            c->lost[below] = 1;
            lost++;
            if (c->o.ration)
                ration_lost(c->o.ration, below);
            c->next[below] = list; /* it waits, and will: no other list has it */
            list = below;
        }
    }
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_sub(&c->left, (int64_t)lost);
}

/* The best of those that became ready is this thread's next task. Lines of the counters come at once, not one by one. */
static uint32_t crew_release(struct crew_thread *me, uint32_t task)
{
    struct crew *c = me->crew;
    const struct workflow *w = c->w;
    uint32_t next = NONE;
    bool offered = false;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        prefetch_write(crew_waits(c, w->succ_task[e]));
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t ready = w->succ_task[e];
        if (atomic_fetch_sub_explicit(crew_waits(c, ready), 1, memory_order_acq_rel) != 1)
            continue;
        if (next == NONE && !c->heap.at) {
            next = ready;
            continue;
        }
        offered = true;
        if (!c->heap.at && crew_before(c, ready, next)) {
            crew_offer(me, next);
            next = ready;
        } else {
            crew_offer(me, ready);
        }
    }
    if (offered)
        crew_rouse(c);
    return next;
}

/* Something was given back: others are admitted (I8). */
static void crew_admit(struct crew_thread *me)
{
    struct crew *c = me->crew;
    bool offered = false;
    for (uint32_t t; (t = ration_next(c->o.ration)) != NONE;)
        if (atomic_fetch_sub_explicit(crew_waits(c, t), 1, memory_order_acq_rel) == 1) {
            crew_offer(me, t);
            offered = true;
        }
    if (ration_trouble(c->o.ration))
        atomic_store(&c->stop, true);
    if (offered)
        crew_rouse(c);
}

static void crew_frame_init(struct crew_frame *f, struct crew *c)
{
    f->task = (struct weft_task){
        .attempt = 1, .folder = c->o.folder, .context = c->o.given, .data = &data_bare};
    if (c->o.data)
        data_slot_init(&f->slot, c->o.data, true);
}

static int crew_call(struct crew_thread *me, struct crew_frame *f, uint32_t task)
{
    struct crew *c = me->crew;
    bool above = me->calling;
    const char *name_above = calling_task;
    f->task.name = workflow_task_name(c->w, task);
    f->task.number = task;
    if (c->o.data)
        data_begin(&f->slot, &f->task, task);
    struct data_bare_block *bare = data_bare_begin();
    me->calling = true;
    calling_task = f->task.name;
    int status = c->o.call[task](&f->task);
    calling_task = name_above;
    data_bare_end(bare);
    me->calling = above;
    return c->o.data ? data_end(&f->slot, &f->task, status) : status;
}

/* While another call of this lane waits for a guest, with a frame of its own. */
static int crew_call_above(struct crew_thread *me, uint32_t task)
{
    struct crew_frame f = {0};
    crew_frame_init(&f, me->crew);
    int status = crew_call(me, &f, task);
    data_slot_free(&f.slot);
    return status;
}

uint32_t crew_run(struct crew_thread *me, uint32_t task)
{
    struct crew *c = me->crew;
    bool call = c->o.call[task] != NULL;
    int status = 0;
    if (call)
        status = me->calling ? crew_call_above(me, task) : crew_call(me, &me->frame, task);
    else if (c->o.data)
        data_skip(&me->frame.slot, task);
    atomic_store_explicit(crew_waits(c, task), WAITS_ENDED + (status ? CREW_FAILED : CREW_DONE),
                          memory_order_relaxed);
    if (c->o.quiet && !status) {
        _Atomic uint64_t *count = call ? &me->well : &me->passed;
        uint64_t n = atomic_load_explicit(count, memory_order_relaxed);
        atomic_store_explicit(count, n + 1, memory_order_relaxed);
    } else {
        double finish = clock_seconds();
        crew_tell(me, task, status, finish);
        if (!c->o.quiet)
            me->since = finish; /* one look at the clock a task: the next begins now */
    }
    if (++me->ended >= LOT)
        crew_settle(me);
    if (status) {
        crew_failed(me, task);
        if (c->o.ration && c->lost) /* what it would have taken is there for others */
            crew_admit(me);
        return NONE;
    }
    if (c->o.ration) /* before a reader of what it made can end */
        ration_ended(c->o.ration, task, call);
    uint32_t next = crew_release(me, task);
    if (c->o.ration)
        crew_admit(me);
    return next;
}

/* ---- a thread ---- */

/* Its time since it found a task is over. */
static void crew_pause(struct crew_thread *me)
{
    double now = clock_seconds();
    double busy = atomic_load_explicit(&me->busy, memory_order_relaxed);
    if (me->crew->o.quiet)
        atomic_store_explicit(&me->busy, busy + now - me->since, memory_order_relaxed);
    me->since = now;
}

/* Until there is work, perhaps; false: never again. With `searching` counted on true. */
static bool crew_sleep(struct crew_thread *me)
{
    struct crew *c = me->crew;
    crew_settle(me);
    pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->sleeping, 1);
    bool has = crew_has_work_locked(c);
    if (!has) {
        /* who has nothing to do tells, perhaps that all is over */
        crew_wake_owner(c);
        while (!c->roused && !c->ending)
            pthread_cond_wait(&c->work, &c->lock);
    }
    bool goes = !c->ending;
    atomic_fetch_sub(&c->sleeping, 1);
    if (has || !goes)
        atomic_fetch_add(&c->searching, 1); /* else who roused it has counted it */
    else
        c->roused--;
    pthread_mutex_unlock(&c->lock);
    return goes;
}

/* A task, or a guest that it has entered; neither: there was nothing for a while. */
static uint32_t crew_look(struct crew_thread *me, struct crew **guest)
{
    struct crew *c = me->crew;
    uint32_t task = NONE;
    double until = clock_seconds() + search_most;
    *guest = crew_find_guest(me);
    for (uint32_t look = 1; !*guest && (task = crew_find(me)) == NONE; look++) {
        if (look % LOOKS)
            continue;
        *guest = crew_find_guest(me);
        if (*guest || clock_seconds() > until || atomic_load(&c->stop))
            break;
        sched_yield(); /* there may be more threads than cores */
    }
    return *guest ? NONE : task;
}

/* NONE: it is over. */
static uint32_t crew_search(struct crew_thread *me)
{
    struct crew *c = me->crew, *guest;
    uint32_t task = crew_find(me);
    if (task != NONE)
        return task;
    crew_pause(me);
    atomic_fetch_add(&c->searching, 1);
    for (;;) {
        task = crew_look(me, &guest);
        bool last = atomic_fetch_sub(&c->searching, 1) == 1;
        if ((task != NONE || guest) && last && (crew_has_own_work(c) || atomic_load(&c->nguests)))
            crew_rouse(c);
        if (task != NONE)
            break;
        if (guest) {
            crew_visit(me, guest);
            atomic_fetch_add(&c->searching, 1);
        } else if (!crew_sleep(me)) {
            break;
        }
    }
    me->since = clock_seconds();
    return task;
}

static void *crew_work(void *context)
{
    struct crew_thread *me = context;
    struct crew *c = me->crew;
    pthread_mutex_lock(&c->lock); /* until all are there */
    pthread_mutex_unlock(&c->lock);
    me->since = me->woke = clock_seconds();
    crew_here = me;
    if (c->o.pins)
        pins_hold(c->o.pins, me->lane);
    for (uint32_t task; (task = crew_search(me)) != NONE;)
        while (task != NONE && !atomic_load_explicit(&c->stop, memory_order_relaxed))
            task = crew_run(me, task);
    pthread_mutex_lock(&c->lock);
    c->alive--;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- the owner ---- */

/* O(threads) an end. */
size_t crew_take(struct crew *c, struct crew_end *out, size_t most)
{
    double until = clock_seconds(); /* I5 */
    size_t n = 0;
    for (; n < most; n++) {
        struct crew_thread *first = NULL;
        struct crew_end end = {0};
        for (uint32_t i = 0; i < c->threads; i++) {
            struct crew_thread *t = c->thread[i];
            uint64_t tail = atomic_load_explicit(&t->tail, memory_order_relaxed);
            if (tail == atomic_load_explicit(&t->head, memory_order_acquire) ||
                t->ring[tail % c->ring].finish > until ||
                (first && t->ring[tail % c->ring].finish >= end.finish))
                continue;
            first = t;
            end = t->ring[tail % c->ring];
        }
        if (!first)
            break;
        out[n] = end;
        atomic_fetch_add_explicit(&first->tail, 1, memory_order_release);
    }
    pthread_mutex_lock(&c->lock);
    if (n && c->blocked)
        pthread_cond_broadcast(&c->room);
    pthread_mutex_unlock(&c->lock);
    return n;
}

void crew_count(struct crew *c, struct crew_counts *out)
{
    *out = (struct crew_counts){.active = c->threads - atomic_load(&c->sleeping)};
    for (uint32_t i = 0; i < c->threads; i++) {
        out->well += atomic_load_explicit(&c->thread[i]->well, memory_order_relaxed);
        out->passed += atomic_load_explicit(&c->thread[i]->passed, memory_order_relaxed);
        out->busy += atomic_load_explicit(&c->thread[i]->busy, memory_order_relaxed);
    }
}

bool crew_over(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool asleep = atomic_load(&c->sleeping) == c->threads && !c->roused && !c->guests;
    bool over = asleep && (atomic_load(&c->stop) || atomic_load(&c->left) == 0);
    pthread_mutex_unlock(&c->lock);
    return over;
}

enum crew_verdict crew_verdict(const struct crew *c, uint32_t task)
{
    uint32_t waits = atomic_load_explicit(crew_waits(c, task), memory_order_relaxed);
    return waits > WAITS_ENDED ? (enum crew_verdict)(waits - WAITS_ENDED) : CREW_NOT_BEGUN;
}

void crew_stop(struct crew *c)
{
    atomic_store(&c->stop, true);
}

/* ---- from beginning to end ---- */

/* What waits for nothing, in the order of priorities; the others' counts of edges. O(tasks + edges),
 * and a sort when the numbers of tasks are not in that order. */
static void crew_count_waits(struct crew *c)
{
    const struct workflow *w = c->w;
    c->rows = w->ntasks / SPREAD + 1;
    c->waits = mem_new_zero(_Atomic uint32_t, (size_t)c->rows *SPREAD);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t n = w->pred_off[t + 1] - w->pred_off[t] + (c->o.ration != NULL); /* I8 */
        atomic_init(crew_waits(c, t), n);
        c->nsources += n == 0;
    }
    uint32_t n = c->nsources;
    c->source = mem_new(uint32_t, n);
    if (c->o.ration)
        for (uint32_t t; (t = ration_next(c->o.ration)) != NONE;)
            if (atomic_fetch_sub(crew_waits(c, t), 1) == 1)
                crew_heap_push(&c->heap, t);
    if (c->heap.at) { /* through it, once */
        for (uint32_t t = 0; t < w->ntasks; t++)
            if (!c->o.ration && w->pred_off[t + 1] == w->pred_off[t])
                crew_heap_push(&c->heap, t);
        c->nsources = 0;
        return;
    }
    bool sorted = true;
    for (uint32_t t = 0, i = 0; t < w->ntasks; t++)
        if (w->pred_off[t + 1] == w->pred_off[t]) {
            c->source[i] = t;
            sorted &= !i || !crew_before(c, t, c->source[i - 1]);
            i++;
        }
    if (sorted)
        return;
    c->heap.at = mem_new(uint32_t, n); /* for a moment */
    for (uint32_t i = 0; i < n; i++)
        crew_heap_push(&c->heap, c->source[i]);
    for (uint32_t i = 0; i < n; i++)
        c->source[i] = crew_heap_pop(&c->heap);
    free(c->heap.at);
    c->heap.at = NULL;
}

static void crew_thread_free(struct crew_thread *t)
{
    free(t->ring);
    data_slot_free(&t->frame.slot);
    (free)(t); /* of aligned_alloc() */
}

struct crew_thread *crew_thread_new(struct crew *c, uint32_t lane)
{
    struct crew_thread *t = aligned_alloc(CACHE_LINE, sizeof *t);
    if (!t)
        mem_fail(sizeof *t);
    memset((void *)t, 0, sizeof *t);
    t->crew = c;
    t->lane = lane;
    t->random = 0x9e3779b97f4a7c15u * (lane + 1);
    t->ring = mem_new(struct crew_end, c->ring);
    crew_frame_init(&t->frame, c);
    return t;
}

void crew_free(struct crew *c)
{
    uint32_t lanes = c->root == c ? c->o.threads : c->threads;
    for (uint32_t i = 0; i < lanes; i++)
        if (c->thread[i])
            crew_thread_free(c->thread[i]);
    free(c->thread);
    free(c->waits);
    free(c->next);
    free(c->source);
    free(c->lost);
    free(c->heap.at);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->room);
    pthread_cond_destroy(&c->guest_over);
    (free)(c);
}

/* As many threads as the system gives; under the lock, for which they wait. */
static void crew_start(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->o.threads; i++) {
        c->thread[i] = crew_thread_new(c, i);
        if (pthread_create(&c->thread[i]->thread, NULL, crew_work, c->thread[i]) != 0)
            break;
        c->threads++;
    }
    c->alive = c->threads;
    pthread_mutex_unlock(&c->lock);
}

struct crew *crew_make(const struct crew_config *config, struct crew *root)
{
    struct crew *c = aligned_alloc(CACHE_LINE, sizeof *c);
    if (!c)
        mem_fail(sizeof *c);
    memset((void *)c, 0, sizeof *c);
    c->o = *config;
    c->w = config->workflow;
    c->root = root ? root : c;
    c->ring = root ? GUEST_RING : RING;
    c->spilled = NONE;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->room, NULL);
    pthread_cond_init(&c->guest_over, NULL);
    atomic_init(&c->left, (int64_t)c->w->ntasks);
    c->next = mem_new(uint32_t, c->w->ntasks);
    c->lost = config->keep_going ? mem_new_zero(uint8_t, c->w->ntasks) : NULL;
    c->heap.priority = config->priority;
    c->heap.at = config->ordered ? mem_new(uint32_t, c->w->ntasks) : NULL;
    crew_count_waits(c);
    return c;
}

struct crew *crew_new(const struct crew_config *config)
{
    struct crew *c = crew_make(config, NULL);
    c->thread = mem_new_zero(struct crew_thread *, c->o.threads);
    crew_start(c);
    if (c->threads)
        return c;
    crew_free(c);
    return NULL;
}

bool crew_free_within(struct crew *c, double seconds)
{
    if (!c)
        return true;
    double until = clock_seconds() + seconds;
    crew_stop(c);
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_broadcast(&c->work);
    pthread_cond_broadcast(&c->room);
    uint32_t alive = c->alive;
    pthread_mutex_unlock(&c->lock);
    while (isfinite(seconds) && alive && clock_seconds() < until) {
        usleep(1000);
        pthread_mutex_lock(&c->lock);
        alive = c->alive;
        pthread_mutex_unlock(&c->lock);
    }
    for (uint32_t i = 0; i < c->threads; i++)
        if (isfinite(seconds) && alive)
            pthread_detach(c->thread[i]->thread);
        else
            pthread_join(c->thread[i]->thread, NULL);
    if (isfinite(seconds) && alive)
        return false; /* I7 */
    crew_free(c);
    return true;
}
