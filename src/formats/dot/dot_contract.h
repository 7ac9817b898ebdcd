/* Contraction: the graph of some nodes only, joined wherever the others led from one to the other.
 */
#pragma once
#include "formats/dot/dot_parse.h"

struct dot_pair {
    uint32_t from, to;
};

struct dot_pairs {
    struct dot_pair *at;
    size_t n, cap;
};

/* Append a pair for every two nodes with keep[] between which a way runs through other nodes only
 * (each pair once, in order of the first; a node may lead to itself). Returns a node on a cycle of
 * the others, UINT32_MAX when there is none. Linear in the graph and the result, unless the others
 * branch and meet again many times. The caller frees with array_free(). */
uint32_t dot_contract(const struct dot_graph *g, const bool *keep, struct dot_pairs *out);
