/* libweft: what all its headers share. Errors, options, progress. Part of <weft/weft.h>, where the
 * rules that hold for every function stand. */
#ifndef WEFT_COMMON_H
#define WEFT_COMMON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No such task, object, node ...: what functions that look for one return. */
#define WEFT_NONE UINT32_MAX

/* The exit statuses of the program, too (there, memory counts as WEFT_FAILED). */
enum weft_status {
    WEFT_DONE = 0,
    WEFT_FAILED = 1, /* the work itself: a task failed, a plan is not valid, a file not writable */
    WEFT_BAD_INPUT = 2,  /* wrong arguments, a file that does not say what it should */
    WEFT_INFEASIBLE = 3, /* no plan can meet what was asked */
    WEFT_NO_MEMORY = 4,
};

struct weft_error {
    enum weft_status status;
    char text[1536]; /* place, cause, remedy: a line for people, without a line feed at its end */
};

/* "0.1.0": of the library that runs, which may be newer than the header. */
const char *weft_version(void);
/* WEFT_API of the library that runs. */
unsigned weft_api(void);
/* Give back a text that a function made for the caller. */
void weft_text_free(char *text);

/* An option of a planner or a generator, as their lists tell it. */
struct weft_option {
    const char *name;
    const char *type;     /* "bool", "integer", "number", "seconds", "bytes", "choice" or "text" */
    const char *standard; /* what it is when not given, as the user would write it */
    const char *choices;  /* of a choice: "a|b|c"; NULL: none */
    double least, most;   /* of numbers, inclusive; both 0: no limit */
    const char *help;     /* a line */
};

/* How far long work is: `fraction` 0..1 (negative: unknown), `what` a short text. Called a few
 * times a second, on the calling thread or a worker's, one at a time. False: stop early. */
typedef bool (*weft_progress)(void *context, double fraction, const char *what);

#ifdef __cplusplus
}
#endif
#endif
