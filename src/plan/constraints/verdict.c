/* Judging complete schedules: verdict.h. */
#include "plan/constraints/verdict.h"
#include "base/mem.h"

/* How far a broken requirement is from being kept. */
static double missed_distance(struct space *s, size_t constraint)
{
    const struct constraint_info *info = &s->info[constraint];
    double measure = query_measure(s->query, constraint);
    if (info->type != CONSTRAINT_VALUE)
        return measure;
    return measure < info->low ? info->low - measure : measure - info->high;
}

/* The second starts after the first has ended, and a run can wait for that. */
bool verdict_is_firm(const struct space *s, const struct time_order *o)
{
    return s->relations->start[o->after] >= s->relations->finish[o->before];
}

static void count_loose(const struct space *s, struct schedule_verdict *v)
{
    for (size_t i = 0; i < s->stated.n; i++) {
        bool firm = verdict_is_firm(s, &s->stated.at[i]);
        if (s->info[s->stated_by.at[i]].requirement && !s->as_predicted)
            v->loose += !firm;
        else
            v->hoped += !firm;
    }
}

/* Preferences that look at the order of scheduling say how to construct (the newest task should
 * start early) and of a complete schedule nothing; the default order of scheduling is of that sort
 * too. */
struct schedule_verdict verdict_of(struct space *s)
{
    struct schedule_verdict v = {.makespan = schedule_makespan(s->schedule)};
    for (size_t i = 0; i < query_size(s->query); i++) {
        const struct constraint_info *info = &s->info[i];
        if (info->requirement) {
            if (space_is_default_order(s, i) || query_holds(s->query, i))
                continue;
            v.broken++;
            v.missed += missed_distance(s, i);
        } else if (i != s->first && !info->sees_order) {
            v.g += info->priority * query_scaled(s->query, i);
            if (info->wish)
                v.unmet += info->priority * query_measure(s->query, i);
        }
    }
    count_loose(s, &v);
    return v;
}

/* Sums of the same numbers round differently. */
static int compare_sums(double a, double b)
{
    double slack = 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
    return a < b - slack ? -1 : a > b + slack;
}

bool verdict_better(const struct schedule_verdict *a, const struct schedule_verdict *b)
{
    if (a->broken != b->broken)
        return a->broken < b->broken;
    int missed = compare_sums(a->missed, b->missed);
    if (missed)
        return missed < 0;
    if (a->loose != b->loose)
        return a->loose < b->loose;
    int worth = compare_sums(a->g, b->g);
    if (worth && compare_sums(a->unmet, b->unmet))
        return worth < 0;
    /* a wish that is met for certain is worth a longer schedule: its makespan is told, and a
     * preference for a short one that is meant to win has a priority */
    if (a->hoped != b->hoped)
        return a->hoped < b->hoped;
    return worth ? worth < 0 : compare_sums(a->makespan, b->makespan) < 0;
}

void candidate_init(struct schedule_found *c, uint32_t ntasks)
{
    *c = (struct schedule_found){.task = mem_new(uint32_t, ntasks + 1u),
                                 .slot = mem_new(struct schedule_slot, ntasks + 1u)};
}

void candidate_free(struct schedule_found *c)
{
    free(c->task);
    free(c->slot);
}

void candidate_take(struct schedule_found *c, const struct space *s)
{
    const struct relations *r = s->relations;
    for (uint32_t i = 0; i < r->depth; i++) {
        uint32_t t = r->stack[i];
        c->task[i] = t;
        c->slot[i] = (struct schedule_slot){r->proc[t], s->core[t], r->start[t], r->finish[t]};
    }
    c->found = true;
}

uint32_t candidate_lay_out(const struct schedule_found *c, struct space *s)
{
    uint32_t waiting = 0;
    space_reset(s);
    for (uint32_t i = 0; i < s->w->ntasks; i++) {
        waiting += space_slot(s, c->task[i], c->slot[i].node).start < c->slot[i].start;
        space_push(s, c->task[i], c->slot[i]);
    }
    return waiting;
}
