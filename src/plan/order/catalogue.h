/* The families of bipartite building blocks whose IC-optimal orders are known, at any size. Names
 * as in the literature; tails above, heads below:
 *
 *        V_3       L_3         W_2,3           M_2,3          N_3          C_3        Q_2,2
 *
 *         o      o  o  o     o       o     o o   o   o o   o   o   o   o   o   o      o   o
 *       / | \     \ | /     /| \   / |\     \| /   \ |/    | \ | \ |   | \ | \ | \    | X |
 *      o  o  o      o      o o   o   o o     o       o     o   o   o   o   o   o  *   o   o
 *
 *      * leads back to the first head
 *
 *     V_d    one tail, d heads
 *     L_d    (Lambda) d tails, one head
 *     W_s,d  a strand of s tails of d children each; neighbours share one head
 *     M_s,d  its dual: a strand of s heads of d parents each; neighbours share one tail
 *     N_s    a zigzag that begins with a head of one parent and ends with a tail of one child
 *     C_s    a cycle of s tails and s heads
 *     Q_s,k  every one of s tails has every one of k heads
 *     hub    one tail h with heads of its own, and heads that h shares with one private tail each
 *            (AIRSN's fringe) */
#pragma once
#include "plan/order/skeleton.h"

enum family {
    FAMILY_NONE,
    FAMILY_V,
    FAMILY_L,
    FAMILY_W,
    FAMILY_M,
    FAMILY_N,
    FAMILY_C,
    FAMILY_Q,
    FAMILY_HUB
};

struct catalogue_entry {
    enum family family;
    uint32_t a, b; /* the indices in its name */
};

/* Which family is block b, if any? Puts its tails (s->tail) into the order of its IC-optimal
 * schedule. Linear in its arcs. */
struct catalogue_entry catalogue_recognise(struct skeleton *s, uint32_t block);
/* "W_5,2"; "" for FAMILY_NONE. */
const char *catalogue_name(struct catalogue_entry entry, char *buffer, size_t size);
