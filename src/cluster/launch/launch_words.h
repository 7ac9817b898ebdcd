/* Lists of arguments. Private to launch. */
#pragma once
#include "base/array.h"
#include "base/mem.h"

typedef ARRAY(char *) launch_words;

/* Append a word (copied) to an array of arguments; end it with launch_arguments_end(). */
#define launch_argument(list, text) array_push((list), mem_copy_string(text))
#define launch_arguments_end(list) array_push((list), NULL)
#define launch_arguments_free(list)                                                                \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (list)->n; i_++)                                                  \
            free((list)->at[i_]);                                                                  \
        array_free(list);                                                                          \
    } while (0)
