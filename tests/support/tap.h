/* The Test Anything Protocol in a header. A test program calls these and ends with `return
 * tap_done();`, or lists its cases and ends with `return tap_run(...)`. Every check prints one line; a failed one says where and what was expected. */
#pragma once
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

/* How many random instances a test tries: a sanitizer is there for the code, and sees all of it in a quarter of them. */
__attribute__((unused)) static unsigned tap_rounds(unsigned rounds)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return (rounds + 3) / 4;
#else
    return rounds;
#endif
}

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

/* Cases by name. `unit_sim_replay_test faults noise` runs only those two; `--list` prints the names.
 *
 * A program without set-up of its own lists its cases in a table and ends with tap_run(). One with
 * set-up wraps its calls: TAP_DO(restart(&server, w, 1)) is the case "restart". */
struct tap_case {
    const char *name;
    void (*run)(void);
};
#define TAP_CASE(function)                                                                         \
    {                                                                                              \
        .name = #function, .run = function                                                         \
    }
#define TAP_DO(call) (tap_wanted(#call) ? (void)(call) : (void)0)

static int tap_argc;
static char **tap_argv;
static int tap_cases;                   /* met so far */
static bool tap_listing, tap_named[64]; /* by argument: a case of that name was met */

/* glibc hands main's arguments to constructors: no test has to pass them on. */
__attribute__((constructor)) static void tap_arguments(int argc, char **argv)
{
    tap_argc = argc < 64 ? argc : 64;
    tap_argv = argv;
    tap_listing = argc == 2 && strcmp(argv[1], "--list") == 0;
}

/* Shall this case run? `call` is its name, or a call of it as source text. */
__attribute__((unused)) static bool tap_wanted(const char *call)
{
    size_t n = strcspn(call, "(");
    tap_cases++;
    if (tap_listing)
        printf("%.*s\n", (int)n, call);
    bool wanted = tap_argc < 2;
    for (int i = 1; i < tap_argc && !tap_listing; i++)
        if (strncmp(tap_argv[i], call, n) == 0 && !tap_argv[i][n])
            wanted = tap_named[i] = true;
    return wanted;
}

static int tap_done(void);

__attribute__((unused)) static int tap_run(const struct tap_case *cases, size_t ncases)
{
    for (size_t i = 0; i < ncases; i++)
        if (tap_wanted(cases[i].name))
            cases[i].run();
    return tap_done();
}

__attribute__((unused)) static int tap_done(void)
{
    if (tap_listing)
        return 0;
    for (int i = 1; i < tap_argc; i++) /* a misspelt name must not pass for a test */
        if (tap_cases && !tap_named[i])
            tap_ok(false, __FILE__, __LINE__, "there is a case '%s' (--list names them)",
                   tap_argv[i]);
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}
