/* Seconds on the monotonic clock, for measuring how long something took. Never for decisions of a
 * scheduler. */
#pragma once
double clock_seconds(void);
double clock_cpu_seconds(void); /* of this thread */
