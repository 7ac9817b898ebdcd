/* Shared by this room's tests: a case in which every allocation fails once. */
#pragma once
#include "base/mem.h"
#include "tap.h"
#include "weft/weft.h"

#include <stdio.h>
#include <string.h>

/* What a case does: true when all went well. Whatever it made it frees, in either case. */
typedef bool api_case(struct weft_error *error);

/* Of its allocations the first `most` are tried one by one, then ever fewer: the loops of a planner
 * allocate thousands of times at the same places. */
__attribute__((unused)) static void api_fail_each(const char *what, api_case *run, long most)
{
    long n = 1, failures = 0, wrong = 0;
    struct weft_error error;
    for (;; n += n < most ? 1 : n / 8) {
        mem_test_fail(n);
        bool good = run(&error);
        bool happened = mem_test_fail(0) <= 0;
        if (!happened) {
            ok(good, "%s: goes well after %ld failures", what, failures);
            if (!good)
                printf("# %s\n", error.text);
            break;
        }
        failures++;
        /* It may have gone well all the same, where a part that failed was optional. */
        if (!good && error.status != WEFT_NO_MEMORY) {
            if (!wrong++)
                printf("# allocation %ld: status %d, '%s'\n", n, (int)error.status, error.text);
        } else if (!good && !strstr(error.text, "out of memory")) {
            wrong++;
        }
    }
    is_int(wrong, 0, "%s: each failure is told as one of memory", what);
}
