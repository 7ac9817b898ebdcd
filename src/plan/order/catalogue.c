/* Recognises blocks with a known IC-optimal order (specification 3.1) by degrees and a walk along
 * the strand, in time linear in the block, and leaves the tails in that order. catalogue.h draws
 * the families. V, L and Q need no walk: any order of their tails is as good as any other. */
#include "plan/order/catalogue.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *catalogue_name(struct catalogue_entry e, char *buffer, size_t size)
{
    switch (e.family) {
    case FAMILY_NONE:
        return "";
    case FAMILY_V:
        snprintf(buffer, size, "V_%u", e.a);
        break;
    case FAMILY_L:
        snprintf(buffer, size, "L_%u", e.a);
        break;
    case FAMILY_W:
        snprintf(buffer, size, "W_%u,%u", e.a, e.b);
        break;
    case FAMILY_M:
        snprintf(buffer, size, "M_%u,%u", e.a, e.b);
        break;
    case FAMILY_N:
        snprintf(buffer, size, "N_%u", e.a);
        break;
    case FAMILY_C:
        snprintf(buffer, size, "C_%u", e.a);
        break;
    case FAMILY_Q:
        snprintf(buffer, size, "Q_%u,%u", e.a, e.b);
        break;
    case FAMILY_HUB:
        snprintf(buffer, size, "hub_%u", e.a);
        break;
    }
    return buffer;
}

/* A block as the recognisers see it: degrees and their extremes, counted once. */
struct view {
    struct skeleton *s;
    uint32_t *tails, *heads;
    uint32_t ntails, nheads, arcs;
    uint32_t least_out, most_out, least_in, most_in;
};

static uint32_t out_degree(const struct view *v, uint32_t t)
{
    return v->s->child_off[t + 1] - v->s->child_off[t];
}
static uint32_t in_degree(const struct view *v, uint32_t h)
{
    return v->s->parent_off[h + 1] - v->s->parent_off[h];
}

static struct view look_at(struct skeleton *s, uint32_t block)
{
    struct view v = {.s = s,
                     .tails = s->tail + s->tail_off[block],
                     .heads = s->head + s->head_off[block],
                     .ntails = s->tail_off[block + 1] - s->tail_off[block],
                     .nheads = s->head_off[block + 1] - s->head_off[block],
                     .least_out = NONE,
                     .least_in = NONE};
    for (uint32_t i = 0; i < v.ntails; i++) {
        uint32_t d = out_degree(&v, v.tails[i]);
        v.arcs += d;
        v.least_out = d < v.least_out ? d : v.least_out;
        v.most_out = d > v.most_out ? d : v.most_out;
    }
    for (uint32_t i = 0; i < v.nheads; i++) {
        uint32_t d = in_degree(&v, v.heads[i]);
        v.least_in = d < v.least_in ? d : v.least_in;
        v.most_in = d > v.most_in ? d : v.most_in;
    }
    return v;
}

/* A strand is a path of "beads" joined by shared "links" of degree 2: tails joined by heads (W), or
 * heads joined by tails (M). */
struct strand {
    const uint32_t *bead_off, *bead_to; /* from beads to links */
    const uint32_t *link_off, *link_to; /* and back */
};

static bool is_shared(const struct strand *x, uint32_t link)
{
    return x->link_off[link + 1] - x->link_off[link] == 2;
}

static uint32_t shared_links(const struct strand *x, uint32_t bead)
{
    uint32_t count = 0;
    for (uint32_t a = x->bead_off[bead]; a < x->bead_off[bead + 1]; a++)
        count += is_shared(x, x->bead_to[a]);
    return count;
}

/* Is it a path, when all links have degree 1 or 2 and the block is connected? As many shared links
 * as beads less one, no bead on more than two. Fills `order` with the beads along it, from the end
 * `first` (NONE: the end that comes first in the list). */
static bool walk_strand(const struct strand *x, const uint32_t *beads, uint32_t nbeads,
                        uint32_t first, uint32_t *order)
{
    uint64_t shared = 0;
    for (uint32_t i = 0; i < nbeads; i++) {
        uint32_t n = shared_links(x, beads[i]);
        if (n > 2)
            return false;
        if (n < 2 && first == NONE)
            first = beads[i];
        shared += n;
    }
    if (shared != 2 * ((uint64_t)nbeads - 1) || first == NONE)
        return false;
    uint32_t at = first, from = NONE;
    for (uint32_t i = 0; i < nbeads; i++) {
        order[i] = at;
        uint32_t next = NONE, via = NONE;
        for (uint32_t a = x->bead_off[at]; a < x->bead_off[at + 1]; a++) {
            uint32_t link = x->bead_to[a];
            if (link == from || !is_shared(x, link))
                continue;
            uint32_t one = x->link_to[x->link_off[link]], two = x->link_to[x->link_off[link] + 1];
            next = one == at ? two : one;
            via = link;
        }
        if (next == NONE && i + 1 < nbeads)
            return false;
        at = next;
        from = via;
    }
    return true;
}

static void view_take_order(struct view *v, const uint32_t *order)
{
    memcpy(v->tails, order, v->ntails * sizeof *order);
}

/* Tails of degree d along a strand; with d = 2 also the zigzag N, whose last tail has one child
 * only. */
static struct catalogue_entry try_tail_strand(struct view *v)
{
    struct catalogue_entry none = {0};
    struct strand x = {v->s->child_off, v->s->child, v->s->parent_off, v->s->parent};
    bool is_even = v->least_out == v->most_out;
    bool is_zigzag = v->most_out <= 2 && v->nheads == v->ntails && v->arcs == 2 * v->ntails - 1;
    if (v->most_in != 2 || (!is_even && !is_zigzag))
        return none;
    uint32_t first = NONE;
    for (uint32_t i = 0; is_zigzag && i < v->ntails && first == NONE; i++)
        for (uint32_t a = v->s->child_off[v->tails[i]]; a < v->s->child_off[v->tails[i] + 1]; a++)
            if (in_degree(v, v->s->child[a]) == 1)
                first = v->tails[i];
    uint32_t *order = mem_new(uint32_t, v->ntails);
    bool found = walk_strand(&x, v->tails, v->ntails, first, order);
    if (found)
        view_take_order(v, order);
    free(order);
    if (!found)
        return none;
    return is_zigzag ? (struct catalogue_entry){FAMILY_N, v->ntails, 0}
                     : (struct catalogue_entry){FAMILY_W, v->ntails, v->most_out};
}

/* Heads of d parents along a strand: each head's private tails, then the one it shares with the
 * next. */
static struct catalogue_entry try_head_strand(struct view *v)
{
    struct catalogue_entry none = {0};
    struct strand x = {v->s->parent_off, v->s->parent, v->s->child_off, v->s->child};
    if (v->most_out != 2 || v->least_in != v->most_in)
        return none;
    uint32_t *beads = mem_new(uint32_t, v->nheads), *order = mem_new(uint32_t, v->ntails), at = 0;
    bool found = walk_strand(&x, v->heads, v->nheads, NONE, beads);
    for (uint32_t i = 0; found && i < v->nheads; i++) {
        uint32_t next = i + 1 < v->nheads ? beads[i + 1] : NONE, last = NONE;
        for (uint32_t a = x.bead_off[beads[i]]; a < x.bead_off[beads[i] + 1]; a++) {
            uint32_t t = x.bead_to[a];
            if (!is_shared(&x, t))
                order[at++] = t;
            else if (next != NONE &&
                     (x.link_to[x.link_off[t]] == next || x.link_to[x.link_off[t] + 1] == next))
                last = t; /* shared with the next; that shared with the one before has run */
        }
        if (last != NONE)
            order[at++] = last;
    }
    found &= at == v->ntails;
    if (found)
        view_take_order(v, order);
    free(beads);
    free(order);
    return found ? (struct catalogue_entry){FAMILY_M, v->nheads, v->most_in} : none;
}

static struct catalogue_entry try_cycle(struct view *v)
{
    struct catalogue_entry none = {0};
    if (v->ntails != v->nheads || v->least_out != 2 || v->most_out != 2 || v->least_in != 2 ||
        v->most_in != 2)
        return none;
    uint32_t *order = mem_new(uint32_t, v->ntails), at = v->tails[0];
    uint32_t via = v->s->child[v->s->child_off[at] + 1]; /* go round through the other child */
    for (uint32_t i = 0; i < v->ntails; i++) {
        order[i] = at;
        const uint32_t *c = v->s->child + v->s->child_off[at];
        via = c[0] == via ? c[1] : c[0];
        const uint32_t *p = v->s->parent + v->s->parent_off[via];
        at = p[0] == at ? p[1] : p[0];
    }
    view_take_order(v, order);
    free(order);
    return (struct catalogue_entry){FAMILY_C, v->ntails, 0};
}

/* One tail that all shared heads have as a parent, beside one private tail each. */
static struct catalogue_entry try_hub(struct view *v)
{
    struct catalogue_entry none = {0};
    if (v->most_in != 2 || v->least_out != 1 || v->most_out < 2)
        return none;
    uint32_t hub = NONE;
    for (uint32_t i = 0; i < v->ntails; i++)
        if (out_degree(v, v->tails[i]) > 1) {
            if (hub != NONE)
                return none;
            hub = i;
        }
    /* connected, and no other tail has two children: every other tail shares its one child with the
     * hub */
    if (v->arcs != v->ntails - 1 + v->most_out || v->most_out != v->nheads)
        return none;
    uint32_t t = v->tails[hub];
    memmove(v->tails + 1, v->tails, hub * sizeof *v->tails);
    v->tails[0] = t;
    return (struct catalogue_entry){FAMILY_HUB, v->nheads, 0};
}

struct catalogue_entry catalogue_recognise(struct skeleton *s, uint32_t block)
{
    struct catalogue_entry e = {0};
    if (s->merged[block])
        return e;
    struct view v = look_at(s, block);
    if (v.ntails == 1)
        return (struct catalogue_entry){FAMILY_V, v.nheads, 0};
    if (v.nheads == 1)
        return (struct catalogue_entry){FAMILY_L, v.ntails, 0};
    if (v.arcs == (uint64_t)v.ntails * v.nheads)
        return (struct catalogue_entry){FAMILY_Q, v.ntails, v.nheads};
    if ((e = try_tail_strand(&v)).family == FAMILY_NONE &&
        (e = try_head_strand(&v)).family == FAMILY_NONE &&
        (e = try_cycle(&v)).family == FAMILY_NONE)
        e = try_hub(&v);
    return e;
}
