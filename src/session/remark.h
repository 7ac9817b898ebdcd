/* What a session has to say to people: it prints nothing itself, its caller decides.
 *
 * A remark is one line of text without an end of line and without a program's name before it. Texts
 * that come from files may stand in it as they are: who shows one on a terminal makes control
 * characters visible first. */
#pragma once

enum remark_kind {
    REMARK_INFO,    /* how things go; a program that was told to be quiet leaves it out */
    REMARK_NOTE,    /* from the cluster while a run is followed, or about the input */
    REMARK_WARNING, /* something is not as it was asked for, and the run goes on all the same */
};

/* Who listens. `say` NULL: nobody. Called in the thread that called the session. */
struct remarks {
    void (*say)(void *context, enum remark_kind kind, const char *text);
    void *context;
};

void remark(const struct remarks *r, enum remark_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
