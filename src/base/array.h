/* A growable array of any type, embedded in the struct that owns it:
 *
 *     ARRAY(double) times = {0};
 *     array_push(&times, 3.5);
 *     for (size_t i = 0; i < times.n; i++) use(times.at[i]);
 *     array_free(&times);
 */
#pragma once
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define ARRAY(T)                                                                                   \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t n, cap;                                                                             \
    }

#define array_reserve(a, want)                                                                     \
    do {                                                                                           \
        size_t array_want_ = (want);                                                               \
        if ((a)->cap < array_want_) {                                                              \
            size_t array_cap_ = (a)->cap ? (a)->cap : 8;                                           \
            while (array_cap_ < array_want_)                                                       \
                array_cap_ += array_cap_ / 2 + 8;                                                  \
            (a)->at = mem_resize((a)->at, array_cap_);                                             \
            (a)->cap = array_cap_;                                                                 \
        }                                                                                          \
    } while (0)

#define array_push(a, ...)                                                                         \
    do {                                                                                           \
        if ((a)->n == (a)->cap)                                                                    \
            array_reserve((a), (a)->n + 1);                                                        \
        (a)->at[(a)->n++] = (__VA_ARGS__);                                                         \
    } while (0)

/* Append one zeroed element and yield its address (valid until the next growth). */
#define array_add(a)                                                                               \
    ({                                                                                             \
        if ((a)->n == (a)->cap)                                                                    \
            array_reserve((a), (a)->n + 1);                                                        \
        memset(&(a)->at[(a)->n], 0, sizeof *(a)->at);                                              \
        &(a)->at[(a)->n++];                                                                        \
    })

#define array_pop(a) ((a)->at[--(a)->n])
#define array_last(a) ((a)->at[(a)->n - 1])

/* Give back the slack; the array stays usable. */
#define array_fit(a)                                                                               \
    do {                                                                                           \
        if ((a)->cap > (a)->n) {                                                                   \
            (a)->at = mem_resize((a)->at, (a)->n);                                                 \
            (a)->cap = (a)->n;                                                                     \
        }                                                                                          \
    } while (0)

#define array_free(a)                                                                              \
    do {                                                                                           \
        free((a)->at);                                                                             \
        (a)->at = NULL;                                                                            \
        (a)->n = (a)->cap = 0;                                                                     \
    } while (0)
