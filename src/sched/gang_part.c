/* What this node gives to tasks that span several nodes, its own among them: gang.c has the whole. */
#include "sched/gang.h"

struct gang_part *part_find(const struct sched *s, const struct gang_key *key)
{
    for (size_t i = 0; i < s->gangs->parts.n; i++)
        if (gang_key_is(&s->gangs->parts.at[i].key, key))
            return &s->gangs->parts.at[i];
    return NULL;
}

static void part_action(struct sched *s, const struct gang_part *p, bool begins)
{
    if (s->config.parts_wait)
        array_push(&s->out->parts, (struct sched_part){p->key.task, p->key.owner, p->key.epoch,
                                                       p->key.round, begins});
}

/* Is there room for a part of this task now? What it asks for is the same on each of its nodes. */
static bool part_has_room(const struct sched *s, uint32_t task, uint32_t cores, double memory)
{
    const uint32_t *demand = s->things ? fit_demand(s, task) : NULL;
    return cores <= s->free_cores && memory <= s->free_memory &&
           (!demand || things_can_take(s->things, demand));
}

void part_add(struct sched *s, const struct gang_key *key)
{
    struct gangs *g = s->gangs;
    struct gang_part *p = array_add(&g->parts);
    *p = (struct gang_part){.key = *key,
                            .state = PART_WAITS,
                            .cores = s->config.task_cores ? s->config.task_cores[key->task] : 1,
                            .memory = s->config.task_memory ? s->config.task_memory[key->task] : 0,
                            .holder = (UINT64_C(1) << 32) + ++g->holders,
                            .pause = s->config.reply_timeout};
    p->due = s->now + p->pause;
    g->waiting++;
}

/* Its room is free again. The order of the others stays (G2). */
void part_remove(struct sched *s, struct gang_part *p)
{
    struct gangs *g = s->gangs;
    size_t at = (size_t)(p - g->parts.at);
    if (p->state == PART_WAITS) {
        g->waiting--;
    } else {
        s->free_cores += p->cores;
        s->free_memory += p->memory;
        if (s->things)
            things_give(s->things, p->holder);
    }
    memmove(p, p + 1, (g->parts.n - at - 1) * sizeof *p);
    g->parts.n--;
    if (!s->count[SCHED_RUNNING] && !gang_gives(s))
        s->free_memory = s->config.memory; /* no drift */
}

void part_end(struct sched *s, struct gang_part *p)
{
    if (p->state != PART_WAITS)
        part_action(s, p, false);
    part_remove(s, p);
}

static void part_granted(struct sched *s, struct gang_part *p)
{
    struct gang_key key = p->key;
    p->state = PART_GRANTED;
    if (key.owner == s->config.node)
        gang_granted(s, &key, key.owner);
    else
        gang_send(s, SCHED_GANG_GRANT, key.owner, &key);
}

/* G2: the first that waits, then the next, as long as there is room. A grant to ourselves may start the
 * task and take the part out: the list is looked at anew. */
void parts_serve(struct sched *s)
{
    struct gangs *g = s->gangs;
    while (g->waiting) {
        struct gang_part *p = g->parts.at;
        while (p->state != PART_WAITS)
            p++;
        if (!part_has_room(s, p->key.task, p->cores, p->memory))
            return;
        g->waiting--;
        p->state = PART_ROOM;
        s->free_cores -= p->cores;
        s->free_memory -= p->memory;
        if (s->things && fit_demand(s, p->key.task))
            things_take(s->things, p->holder, fit_demand(s, p->key.task));
        if (s->config.parts_wait)
            part_action(s, p, true);
        else
            part_granted(s, p);
    }
}

void gang_room(struct sched *s, const struct sched_part *has)
{
    struct gang_key key = {has->task, has->owner, has->epoch, has->round};
    struct gang_part *p = s->gangs ? part_find(s, &key) : NULL;
    if (p && p->state == PART_ROOM)
        part_granted(s, p);
}

/* Parts that wait here and do not fit any more. */
void gang_refuse_parts(struct sched *s)
{
    struct gangs *g = s->gangs;
    for (size_t i = 0; g && i < g->parts.n;) {
        struct gang_part *p = &g->parts.at[i];
        if (p->state != PART_WAITS || p->key.owner == s->config.node || fit_here(s, p->key.task)) {
            i++;
            continue;
        }
        gang_send(s, SCHED_GANG_HERE, p->key.owner, &p->key)->load = 0;
        part_end(s, p);
    }
}

/* Who is thought dead would lose its part again at once, and run without it: it asks once more, when it
 * is known to live. */
void gang_asked(struct sched *s, const struct gang_key *key)
{
    if (node_is_down(s, key->owner))
        return;
    struct gang_part *p = part_find(s, key);
    if (p) {
        if (p->state == PART_GRANTED)
            gang_send(s, SCHED_GANG_GRANT, key->owner, key);
        return;
    }
    /* of an earlier try: its owner has let it go, or would not ask anew. Unless it is this one that is
     * from before, and late */
    for (size_t i = s->gangs->parts.n; i--;) {
        p = &s->gangs->parts.at[i];
        if (p->key.task != key->task || p->key.owner != key->owner)
            continue;
        if (p->key.epoch > key->epoch || (p->key.epoch == key->epoch && p->key.round > key->round))
            return;
        part_end(s, p);
    }
    if (fit_here(s, key->task))
        part_add(s, key);
    else
        gang_send(s, SCHED_GANG_HERE, key->owner, key)->load = 0;
}

uint32_t gang_load(const struct sched *s, uint32_t task)
{
    const struct sched_config *k = &s->config;
    if (!fit_here(s, task))
        return OFFER_REFUSED;
    bool room = part_has_room(s, task, k->task_cores ? k->task_cores[task] : 1,
                              k->task_memory ? k->task_memory[task] : 0);
    return s->gangs->waiting + !room + (s->self_aside ? OFFER_ASIDE : 0);
}

bool gang_is_waited_for(const struct sched *s)
{
    return s->gangs && s->gangs->waiting;
}

bool gang_gives(const struct sched *s)
{
    return s->gangs && s->gangs->parts.n > s->gangs->waiting;
}

double gang_pause_longer(const struct sched *s, double pause)
{
    double most = PAUSE_MOST * s->config.reply_timeout;
    return 2 * pause < most ? 2 * pause : most;
}

/* Is somebody there who still wants it (G4)? */
void parts_call(struct sched *s)
{
    struct gangs *g = s->gangs;
    for (size_t i = 0; i < g->parts.n;) {
        struct gang_part *p = &g->parts.at[i];
        if (p->key.owner != s->config.node && node_is_down(s, p->key.owner)) {
            part_end(s, p);
            continue;
        }
        if (p->key.owner != s->config.node && p->due <= s->now) {
            p->pause = gang_pause_longer(s, p->pause);
            p->due = s->now + p->pause;
            gang_send(s, SCHED_GANG_CALL, p->key.owner, &p->key);
        }
        i++;
    }
}

bool sched_gives(const struct sched *s, uint32_t task, uint32_t owner)
{
    for (size_t i = 0; s->gangs && i < s->gangs->parts.n; i++) {
        const struct gang_part *p = &s->gangs->parts.at[i];
        if (p->key.task == task && p->key.owner == owner && p->state == PART_GRANTED)
            return true;
    }
    return false;
}
