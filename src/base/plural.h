/* Counts with their nouns: "1 task", "2 tasks". Every format that puts a count before a noun asks
 * here, so that no line says "1 tasks" (tools/lint looks). */
#pragma once
#include <stdint.h>

/* The ending of a noun: printf("%u task%s", n, plural(n)). */
static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* For nouns and verbs that have more than an ending: plural_word(n, "copy", "copies"). */
static inline const char *plural_word(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}
