/* A lower bound on equation (1) for any partition and mapping. */
#pragma once
#include "plan/tree/setting.h"

/* For every task x: the pieces from the root down to x run one after the other and hold at least
 * the path to x; what is below x either runs in them or, after them, on the other processors, at
 * best spread over all of them evenly. The fastest processor on the way may be any: the least over
 * (groups of) speeds counts. A task runs no faster than the fastest processor whose memory holds
 * it. Also: work that only large memories hold, spread over those. O(n) a group of speeds, at most
 * 16 groups. */
double tree_lower_bound(const struct tree_setting *s);
