/* Threads that stay where they are: each on a core of its own, spread over the machine by hwloc. What a thread is the first
 * to write comes from the memory beside its core: the kernel sees to that. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

struct pins;

/* Places for so many threads, of the cores that this process may use; more threads than cores share them. NULL: it cannot be
 * done here, and why (weft was built without hwloc; there is none; the system refuses). */
struct pins *pins_new(uint32_t threads, struct error *err);
/* The calling thread stays in that place from now on. From any thread. */
void pins_hold(const struct pins *p, uint32_t place);
void pins_free(struct pins *p); /* NULL is fine */
