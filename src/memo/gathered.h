/* The content of a folder that tasks make files in (OBJECT_GATHERED): of what else lies there. */
#pragma once
#include "memo/need.h"

/* Into the needs. False: something in it cannot be read. O(files there). */
bool gathered_read(struct needs *n, uint32_t object, struct error *err);
