/* Guests: graphs that a function brings while a crew calls it (crew_new_guest()).
 *
 * A guest is a crew without threads. It has a lane for each thread of the crew that it visits, its root, and
 * thread i works in lane i alone, so that everything that crew.c says of lanes holds. Who brought it works in
 * it first; threads that find nothing in the root look into its guests.
 *
 *     root     lane 0: call ── crew_attend() ─┐     lane 1: searches ── crew_visit() ─┐
 *     guest    lane 0: tasks ◀────────────────┘     lane 1: tasks ◀───────────────────┘
 *
 * G1. All guests, also those that a guest's call brought, stand in the list of the one root, under its lock.
 * G2. A guest is over when nothing of it is left, or it was stopped, and no visitor is in it. Who brought it
 *     then takes it off the list: nobody can be in it any more.
 * G3. Who waits for a guest whose rest is in others' hands takes up other work meanwhile, one task at a time,
 *     above the call that waits. No circle can come of it: a call that waits began before what it waits for,
 *     and what lies above a call on its stack began after it.
 * G4. Stacks end. DEPTH_MOST calls deep a thread takes up nothing more and sleeps until its guest is over; those
 *     that work in the guest bring it to its end.
 * G5. Whoever sleeps for a guest is woken when it is over, and, above G4, like every sleeper when there is work. */
#include "exec/crew_private.h"

#include "base/clock.h"
#include "base/mem.h"

enum { DEPTH_MOST = 8 };

_Thread_local struct crew_thread *crew_here __attribute__((tls_model("initial-exec")));

bool crew_is_inside(void)
{
    return crew_here != NULL;
}

/* ---- work in a lane ---- */

/* Of this thread in another crew; `all`: until there is nothing more, else one task. False: there was none. */
static bool crew_man(struct crew_thread *lane, bool all)
{
    struct crew *c = lane->crew;
    struct crew_thread *before = crew_here;
    uint32_t task = crew_find(lane);
    if (task == NONE)
        return false;
    bool above = lane->calling; /* whose time includes this */
    double began = clock_seconds(), since = lane->since;
    crew_here = lane;
    lane->since = began;
    while (task != NONE && !atomic_load_explicit(&c->stop, memory_order_relaxed)) {
        task = crew_run(lane, task);
        if (!all)
            break;
        task = task == NONE ? crew_find(lane) : task;
    }
    if (!all && task != NONE) {
        crew_offer(lane, task);
        crew_rouse(c);
    }
    crew_settle(lane);
    lane->since = since;
    crew_here = before;
    if (!above && c->o.quiet) {
        double busy = atomic_load_explicit(&lane->busy, memory_order_relaxed);
        atomic_store_explicit(&lane->busy, busy + clock_seconds() - began, memory_order_relaxed);
    }
    return true;
}

/* ---- visitors ---- */

bool crew_guest_has_room(struct crew *g)
{
    return (!g->o.threads || g->visitors + 1 < g->o.threads) && crew_has_own_work(g);
}

struct crew *crew_find_guest(struct crew_thread *me)
{
    struct crew *root = me->crew->root, *g = NULL;
    if (!atomic_load(&root->nguests))
        return NULL;
    pthread_mutex_lock(&root->lock);
    for (g = root->guests; g && !crew_guest_has_room(g);)
        g = g->next_guest;
    if (g)
        g->visitors++;
    pthread_mutex_unlock(&root->lock);
    return g;
}

/* G2. Under the root's lock. */
static bool crew_guest_is_over(struct crew *g)
{
    return !g->visitors && (atomic_load(&g->stop) || atomic_load(&g->left) == 0);
}

/* Nothing of the guest is touched after the lock is given back: it may be gone. */
static void crew_leave_guest(struct crew *g)
{
    struct crew *root = g->root;
    pthread_mutex_lock(&root->lock);
    g->visitors--;
    if (crew_guest_is_over(g)) {
        pthread_cond_broadcast(&root->work);
        pthread_cond_broadcast(&root->guest_over);
    }
    pthread_mutex_unlock(&root->lock);
}

void crew_visit(struct crew_thread *me, struct crew *g)
{
    crew_rouse(g); /* there may be more of it than one can do */
    crew_man(g->thread[me->lane], true);
    crew_leave_guest(g);
}

/* ---- who brought it ---- */

/* Something else, while others have the rest of `mine` in hand: of a guest, of the root (G3). */
static bool crew_work_elsewhere(struct crew_thread *me, struct crew *mine)
{
    struct crew *g = crew_find_guest(me);
    if (!g)
        return crew_man(me, false);
    bool worked = g == mine || crew_man(g->thread[me->lane], false);
    crew_leave_guest(g);
    return worked;
}

/* Until there is something to do, or the guest is over (G5). */
static void crew_sleep_for_guest(struct crew_thread *me, struct crew *g)
{
    struct crew *root = g->root;
    crew_settle(me);
    pthread_mutex_lock(&root->lock);
    if (me->depth > DEPTH_MOST) { /* G4 */
        while (!crew_guest_is_over(g) && !crew_has_own_work(g))
            pthread_cond_wait(&root->guest_over, &root->lock);
        pthread_mutex_unlock(&root->lock);
        return;
    }
    atomic_fetch_add(&root->sleeping, 1);
    if (!crew_has_own_work(g) && !crew_has_work_locked(root)) {
        crew_wake_owner(root);
        while (!root->roused && !crew_guest_is_over(g))
            pthread_cond_wait(&root->work, &root->lock);
    }
    atomic_fetch_sub(&root->sleeping, 1);
    bool roused = root->roused > 0;
    if (roused) {
        root->roused--;
        atomic_fetch_sub(&root->searching, 1);
    }
    pthread_mutex_unlock(&root->lock);
    if (roused) /* it may leave at once: then another goes */
        crew_rouse(root);
}

void crew_attend(struct crew *g)
{
    struct crew *root = g->root;
    struct crew_thread *me = root->thread[crew_here->lane], *mine = g->thread[crew_here->lane];
    /* what others allocate on this stack is not on the account of the call that waits, nor its failure */
    struct mem_boundary *boundary = mem_boundary_step_out();
    me->depth++;
    crew_rouse(root);
    for (bool over = false; !over;) {
        while (crew_man(mine, true))
            ;
        pthread_mutex_lock(&root->lock);
        over = crew_guest_is_over(g);
        pthread_mutex_unlock(&root->lock);
        if (!over && (me->depth > DEPTH_MOST || !crew_work_elsewhere(me, g)))
            crew_sleep_for_guest(me, g);
    }
    me->depth--;
    mem_boundary_step_in(boundary);
}

struct crew *crew_new_guest(const struct crew_config *config)
{
    struct crew *root = crew_here->crew->root;
    struct crew *g = crew_make(config, root);
    g->thread = mem_new_zero(struct crew_thread *, root->threads);
    for (; g->threads < root->threads; g->threads++)
        g->thread[g->threads] = crew_thread_new(g, g->threads);
    pthread_mutex_lock(&root->lock);
    g->next_guest = root->guests;
    root->guests = g;
    atomic_fetch_add(&root->nguests, 1);
    pthread_mutex_unlock(&root->lock);
    return g;
}

/* It is over, and off the list no visitor finds it. */
void crew_free_guest(struct crew *g)
{
    struct crew *root = g->root, **at = &root->guests;
    pthread_mutex_lock(&root->lock);
    while (*at != g)
        at = &(*at)->next_guest;
    *at = g->next_guest;
    atomic_fetch_sub(&root->nguests, 1);
    pthread_mutex_unlock(&root->lock);
    crew_free(g);
}
