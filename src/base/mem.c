#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p, size_t size)
{
    if (!p) {
        fprintf(stderr, "weft: out of memory (asked for %zu bytes)\n", size);
        exit(1);
    }
    return p;
}

static size_t times(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        or_die(NULL, (size_t)-1);
        return 1;
    }
    return bytes ? bytes : 1;
}

void *mem_alloc(size_t size)
{
    return or_die(malloc(size ? size : 1), size);
}

void *mem_zero(size_t size)
{
    return or_die(calloc(1, size ? size : 1), size);
}

void *mem_grow(void *old, size_t size)
{
    return or_die(realloc(old, size ? size : 1), size);
}

void *mem_array(size_t count, size_t size)
{
    return mem_alloc(times(count, size));
}

void *mem_array_zero(size_t count, size_t size)
{
    return mem_zero(times(count, size));
}

void *mem_grow_array(void *old, size_t count, size_t size)
{
    return mem_grow(old, times(count, size));
}

char *mem_copy_bytes(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len)
        memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

char *mem_copy_string(const char *text)
{
    return mem_copy_bytes(text, strlen(text));
}
