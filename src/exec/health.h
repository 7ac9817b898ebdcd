/* Is this machine to blame when tasks fail on it? What can be known of that: how full its disks are, what
 * the kernel says that it ended for want of memory, what our own writing and starting met. */
#pragma once
#include "model/trouble.h"
#include <stdbool.h>
#include <stdint.h>

/* Is the file system of this path full: no blocks, or no inodes, that we may use? What cannot be looked
 * at is not. */
bool health_is_full(const char *path);
/* Has it so much room again that work is worth while: a twentieth, or 1 GB? */
bool health_has_room(const char *path);
/* What an error of our own says about the machine, by the system's words in it. NONE: nothing. */
enum trace_trouble health_of_error(const char *text);
/* What a task's log says about it: its end has the system's words for a full disk. NONE: it has not. A disk
 * that is full for a moment only is known by nothing else. */
enum trace_trouble health_of_log(const char *path);
/* Processes that the kernel has ended for want of memory since it started; 0: it does not say. */
uint64_t health_oom_kills(void);
