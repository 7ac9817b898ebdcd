/* A lower bound on equation (1) for any partition and mapping. */
#pragma once
#include "plan/tree/setting.h"

/* Counts the way to every task with the transfers between processors of different kinds, what is
 * below it (kept in one part if a memory holds that, else sent and spread over the other
 * processors), and work that only large memories hold; bound.c draws it. O(n) a kind of processor,
 * at most 16 kinds. */
double tree_lower_bound(const struct tree_setting *s);
