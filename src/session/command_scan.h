/* A task's command as a shell would take it apart, without running or expanding anything: words, where
 * each stands, and the places where quoting is likely to surprise. For lint, which is silent where it
 * is not sure: what the scanner does not understand (a heredoc) ends the scan. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "model/workflow.h"

enum scan_role {
    SCAN_ARGUMENT,
    SCAN_PROGRAM, /* a simple command begins with it */
    SCAN_WRITTEN, /* > NAME, >> NAME */
    SCAN_READ,    /* < NAME */
    SCAN_CLOSE,   /* no word: a ")" */
};

struct scan_word {
    enum scan_role role;
    size_t text; /* in command_scan.text, quotes taken away, NUL-terminated */
    bool plain;  /* the text is all of it: no {in}, no variable, no pattern */
    bool files;  /* {in} or {out} stands in it */
};

struct command_scan {
    struct strbuf text;
    ARRAY(struct scan_word) words;
    bool whole;         /* false: something was not understood, and what follows is not here */
    bool functions;     /* it defines functions, or sets "$1" itself */
    const char *quoted; /* the first {in} or {out} that has quotes around it; NULL: none */
    size_t quoted_length;
    const char *positional; /* the first $1 .. $9 that a shell would fill in; NULL: none */
};

/* Of the task's command as it stands in the file. Clear before the first use; may be used again. */
void command_scan(struct command_scan *s, const struct workflow *w, uint32_t task);
void command_scan_free(struct command_scan *s);
static inline const char *scan_text(const struct command_scan *s, const struct scan_word *x)
{
    return s->text.at + x->text;
}
