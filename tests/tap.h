/* The Test Anything Protocol in a header. A test program calls these and ends with `return
 * tap_done();`. Every check prints one line; a failed one says where and what was expected. */
#pragma once
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool tap_ok(bool good, const char *file,
                                                                 int line, const char *fmt, ...)
{
    printf("%s %d - ", good ? "ok" : "not ok", ++tap_count);
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    if (!good) {
        tap_failed++;
        printf("# failed at %s:%d\n", file, line);
    }
    fflush(stdout);
    return good;
}

#define ok(good, ...) tap_ok((good), __FILE__, __LINE__, __VA_ARGS__)

#define is_int(got, want, ...)                                                                     \
    ({                                                                                             \
        long long tap_got_ = (long long)(got), tap_want_ = (long long)(want);                      \
        bool tap_good_ = ok(tap_got_ == tap_want_, __VA_ARGS__);                                   \
        if (!tap_good_)                                                                            \
            printf("# got %lld, expected %lld\n", tap_got_, tap_want_);                            \
        tap_good_;                                                                                 \
    })

/* Equal within `tolerance`, absolute. */
#define is_dbl(got, want, tolerance, ...)                                                          \
    ({                                                                                             \
        double tap_got_ = (got), tap_want_ = (want);                                               \
        bool tap_good_ =                                                                           \
            ok(tap_got_ == tap_want_ || fabs(tap_got_ - tap_want_) <= (tolerance), __VA_ARGS__);   \
        if (!tap_good_)                                                                            \
            printf("# got %.17g, expected %.17g\n", tap_got_, tap_want_);                          \
        tap_good_;                                                                                 \
    })

#define is_str(got, want, ...)                                                                     \
    ({                                                                                             \
        const char *tap_got_ = (got), *tap_want_ = (want);                                         \
        bool tap_good_ =                                                                           \
            ok(tap_got_ && tap_want_ && strcmp(tap_got_, tap_want_) == 0, __VA_ARGS__);            \
        if (!tap_good_)                                                                            \
            printf("# got '%s'\n# expected '%s'\n", tap_got_ ? tap_got_ : "(null)",                \
                   tap_want_ ? tap_want_ : "(null)");                                              \
        tap_good_;                                                                                 \
    })

/* The text contains the part. */
#define has_str(got, part, ...)                                                                    \
    ({                                                                                             \
        const char *tap_got_ = (got), *tap_part_ = (part);                                         \
        bool tap_good_ = ok(tap_got_ && strstr(tap_got_, tap_part_), __VA_ARGS__);                 \
        if (!tap_good_)                                                                            \
            printf("# '%s'\n# does not contain '%s'\n", tap_got_ ? tap_got_ : "(null)",            \
                   tap_part_);                                                                     \
        tap_good_;                                                                                 \
    })

__attribute__((unused)) static void tap_skip(const char *what, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
    fflush(stdout);
}

/* The folder of shared data beside the checkout, or NULL: tests that need it skip then, and say so.
 */
__attribute__((unused)) static const char *tap_shared(void)
{
    const char *path = getenv("WEFT_SHARED");
    static char found[4096];
    snprintf(found, sizeof found, "%s", path ? path : WEFT_SOURCE_DIR "/../shared");
    char probe[4200];
    snprintf(probe, sizeof probe, "%s/data/INDEX.md", found);
    FILE *f = fopen(probe, "r");
    if (!f)
        return NULL;
    fclose(f);
    return found;
}

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}
