/* Windows on twins; twin_window.h says what they are. */
#include "plan/search/twin_window.h"
#include "plan/search/tabu.h"
#include <math.h>
#include <stdlib.h>

struct twin_window *twin_window_new(const struct problem *p)
{
    struct twin_window *window = mem_new_zero(struct twin_window, 1);
    struct twins *k = &window->kept;
    window->beyond = mem_new(uint32_t, p->m);
    k->problem = p;
    k->first = mem_new(uint32_t, p->n);
    k->spare = mem_new(uint32_t, p->n);
    k->head = mem_new(uint32_t, p->m);
    k->last = mem_new(uint32_t, p->m);
    return window;
}

void twin_window_free(struct twin_window *window)
{
    struct twins *k = &window->kept;
    array_free(&window->inside);
    array_free(&window->forward);
    array_free(&window->backward);
    array_free(&k->all);
    array_free(&k->supply);
    free(window->beyond);
    free(k->first);
    free(k->spare);
    free(k->head);
    free(k->last);
    free(window);
}

/* ---- open and closed ---- */

static enum twin_era twin_era_of(const struct twin *x, double from, double to)
{
    if (x->start < from)
        return TWIN_EARLIER;
    return x->start < to ? TWIN_INSIDE : TWIN_LATER;
}

void twin_window_share(struct twins *w, struct twin_window *window, double from, double to)
{
    window->forward.n = window->backward.n = 0;
    w->window = window;
    for (uint32_t i = 0; i < w->all.n; i++) {
        struct twin *x = &w->all.at[i];
        if (x->node == NONE)
            continue;
        double slack = w->makespan - x->finish - x->rest;
        x->era = twin_era_of(x, from, to);
        x->foreign = x->era != TWIN_INSIDE;
        if (x->era == TWIN_EARLIER)
            x->finish += slack / 2;
        if (x->era == TWIN_LATER)
            x->rest += slack / 2;
        if (x->era == TWIN_INSIDE) {
            array_push(&w->stale, i);
            array_push(&w->loose, i);
        }
    }
    twin_window_close(w);
}

/* Twins are in the order in which they were loaded, which is nearly that of time: quicker to pass through than
 * the chains of the nodes. */
void twin_window_open(struct twins *w, double from, double to)
{
    struct twin_window *window = w->window;
    window->inside.n = 0;
    for (uint32_t v = 0; v < w->problem->m; v++)
        window->beyond[v] = NONE;
    for (uint32_t i = 0; i < w->all.n; i++) {
        struct twin *x = &w->all.at[i];
        if (x->node == NONE)
            continue;
        if (!x->foreign)
            x->era = twin_era_of(x, from, to);
        if (x->era == TWIN_INSIDE)
            array_push(&window->inside, i);
        if (x->era != TWIN_LATER)
            continue;
        const struct twin *before = x->before == NONE ? NULL : &w->all.at[x->before];
        if (!before ||
            (before->foreign ? before->era : twin_era_of(before, from, to)) != TWIN_LATER)
            window->beyond[x->node] = i;
    }
    w->makespan = twin_window_inside(w);
}

void twin_window_close(struct twins *w)
{
    struct twin_window *window = w->window;
    window->closing = true;
    for (size_t i = 0; i < window->forward.n; i++) {
        struct twin *x = &w->all.at[window->forward.at[i]];
        x->waits_forward = false;
        if (x->node != NONE && !x->foreign)
            array_push(&w->stale, window->forward.at[i]);
    }
    for (size_t i = 0; i < window->backward.n; i++) {
        struct twin *x = &w->all.at[window->backward.at[i]];
        x->waits_backward = false;
        if (x->node != NONE && !x->foreign)
            array_push(&w->loose, window->backward.at[i]);
    }
    window->forward.n = window->backward.n = 0;
    twins_settle(w);
    window->closing = false;
}

double twin_window_longest(const struct twins *w, size_t *twins)
{
    double longest = 0;
    *twins = 0;
    for (size_t i = 0; i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        if (x->node == NONE || x->foreign)
            continue;
        ++*twins;
        if (x->finish + x->rest > longest)
            longest = x->finish + x->rest;
    }
    return longest;
}

/* ---- kept ---- */

void twin_window_keep(struct twins *w)
{
    struct twin_window *window = w->window;
    twins_copy_state(&window->kept, w);
    window->kept_inside = window->inside.n;
    window->kept_way_end = window->way_end;
}

/* Who has to wait since then stays on the list: it is computed in vain when the window closes. */
void twin_window_return(struct twins *w)
{
    struct twin_window *window = w->window;
    twins_copy_state(w, &window->kept);
    window->inside.n = window->kept_inside;
    window->way_end = window->kept_way_end;
    w->stale.n = w->loose.n = 0;
}

/* ---- what is asked ---- */

uint32_t twin_window_last(const struct twins *w, uint32_t node)
{
    uint32_t beyond = w->window->beyond[node];
    return beyond == NONE ? w->last[node] : w->all.at[beyond].before;
}

double twin_window_inside(struct twins *w)
{
    const struct twin *all = w->all.at;
    double longest = 0;
    uint32_t end = NONE;
    for (size_t i = 0; i < w->window->inside.n; i++) {
        uint32_t t = w->window->inside.at[i];
        double way = all[t].finish + all[t].rest;
        if (all[t].node == NONE || way < longest * TABU_TRULY)
            continue;
        if (end == NONE || way * TABU_TRULY > longest || all[t].start >= all[end].start)
            end = t;
        if (way > longest)
            longest = way;
    }
    w->window->way_end = end;
    return longest;
}

void twin_window_defer_forward(struct twins *w, uint32_t twin)
{
    if (!w->all.at[twin].waits_forward)
        array_push(&w->window->forward, twin);
    w->all.at[twin].waits_forward = true;
}

void twin_window_defer_backward(struct twins *w, uint32_t twin)
{
    if (!w->all.at[twin].waits_backward)
        array_push(&w->window->backward, twin);
    w->all.at[twin].waits_backward = true;
}
