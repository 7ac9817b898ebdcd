/* Memory that is there or the program ends: running out prints one line and exits with status 1.
 * Sizes that come from input are checked by the readers before they get here. */
#pragma once
#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zero(size_t size);
void *mem_grow(void *old, size_t size); /* realloc */
/* `count` elements of `size` bytes; ends the program on overflow. */
void *mem_array(size_t count, size_t size);
void *mem_array_zero(size_t count, size_t size);
void *mem_grow_array(void *old, size_t count, size_t size);
char *mem_copy_string(const char *text);
char *mem_copy_bytes(const char *text, size_t len); /* NUL-terminated copy */

#define mem_new(T, n) ((T *)mem_array((n), sizeof(T)))
#define mem_new_zero(T, n) ((T *)mem_array_zero((n), sizeof(T)))
#define mem_resize(p, n) ((__typeof__(p))mem_grow_array((p), (n), sizeof *(p)))
