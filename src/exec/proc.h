/* What the kernel tells about a process in /proc. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The beginning of /proc/PID/FILE, with a NUL behind it; the length, or -1: it is gone, or nobody
 * may know. `pid` is a name of a folder in /proc. */
ssize_t proc_read(const char *pid, const char *file, char *text, size_t size);
/* The fields of "stat" behind the process's name, which may hold anything; NULL: it is gone. */
const char *proc_stat(const char *pid, char *text, size_t size);
/* Bytes of a process's environment that are searched for the mark of its owner. */
enum { PROC_ENVIRONMENT = 65536 };
/* The parent of a process; 0: it is gone, or a zombie. */
pid_t proc_parent(const char *pid);
/* Is it a thread of the kernel, which has no environment and never will? */
bool proc_is_kernel(const char *pid);
/* Most memory that a process, or one below it, has had since it was executed; 0: it is ending. The
 * largest, not the sum, as the kernel's own figure at the end is. `depth`: 0. */
double proc_high_water(pid_t pid, int depth);
/* Our own peak, which a child that was started by vfork inherits as its least. */
double proc_own_peak(void);
