/* Thrift: who looks at a run takes next to nothing from it. Of a run that goes on, single tasks (Gantt, table, graph) are read
 * only while all that was spent on reading stays below THRIFT_SHARE of a core; in between the page has counts by kind, which the
 * run tells itself (session/glance.h). A run of some thousand tasks never notices; of one of a million that lasts seconds, single
 * tasks are shown when it is over, or when somebody asks for them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Processor seconds that a question about this run took. From any thread. */
void thrift_spent(int64_t run, double seconds);
double thrift_clock(void); /* processor seconds of this thread */

/* Seconds until single tasks of a run may be read; 0: now, and the caller does. `elapsed`: since the run began; `over`: tasks that
 * have ended. */
double thrift_wait(int64_t run, double elapsed, uint32_t tasks, uint32_t over);
