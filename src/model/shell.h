/* What a task's command runs under: nothing, a shell, or an interpreter that the task names.
 *
 *     the command's text                              runs under
 *     ----------------------------------------------  -------------------------------------------
 *     begins with "#!"                                that interpreter, the text being a file
 *     the task says `shell: PROGRAM OPTIONS`          that program
 *     no shell syntax (command_words())               nothing: the words are executed
 *     one simple command, redirections at most        /bin/sh: any shell does the same with it
 *     anything else                                   the strict shell, bash -e -o pipefail
 *
 * `shell: sh` is /bin/sh -c, which is what weft did before shells were strict. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"

enum shell_sort {
    SHELL_SIMPLE, /* without a shell, or under any: it makes no difference */
    SHELL_STRICT, /* the strict one of this machine */
    SHELL_NAMED,  /* the task's own */
    SHELL_SCRIPT, /* "#!" */
};

/* `text` is the command of the task, filled in, or its template (command_template()): files that it
 * has not filled in count as words. O(length). Of a call: SHELL_SIMPLE. */
enum shell_sort shell_sort_of(const struct workflow *w, uint32_t task, const char *text);

/* Would every shell, strict or not, do the same with this text? `w`: whose {in} and {out} may stand
 * in it; NULL: none. */
bool shell_is_simple(const struct workflow *w, const char *text);

/* The task's own; NULL: it names none. */
const char *shell_stated(const struct workflow *w, uint32_t task);

/* How a program gets the text of a command. */
enum shell_delivery {
    SHELL_SOURCED,    /* -c TEXT, as shells do; a long text by `. FILE` */
    SHELL_PYTHON,     /* -c TEXT; a long text by exec(open(FILE)...) */
    SHELL_ONE_OPTION, /* an option of its own, -e TEXT: nothing else will do */
    SHELL_FILE,       /* the name of a file that holds it */
};

enum { SHELL_WORDS = 16 }; /* of a shell and its options, with the NULL */

/* A shell and its options, ready for the text. */
struct shell_words {
    char text[256];              /* that `at` points into */
    const char *at[SHELL_WORDS]; /* NULL-terminated */
    size_t n;
    enum shell_delivery delivery;
};

/* `shell: ...` taken apart. False: it is no program with options; `err` says what is wrong. */
bool shell_parse(const char *stated, struct shell_words *out, struct error *err);

/* What the key of a computation says about its shell; NULL: nothing, as in keys of old, because it
 * runs as it did then. `strict` is the text of the strict shell that counts. `buffer`: SHELL_NAME
 * bytes. */
enum { SHELL_NAME = 300 };
const char *shell_in_key(const struct workflow *w, uint32_t task, const char *text,
                         const char *strict, char *buffer);

/* The strict shell, as its text: what runs on agents have, or are refused. */
#define SHELL_STRICT_TEXT "bash -e -o pipefail"

/* The strict shell that this machine has: bash, else a POSIX sh with -e, and pipefail if it knows
 * that. Looked for once, in PATH. */
struct strict_shell {
    const char *text;         /* SHELL_STRICT_TEXT, "sh -e -o pipefail" or "sh -e" */
    const char *program;      /* its path */
    const char *const *words; /* up to -c, NULL-terminated */
    bool sees_pipes;          /* a failing part of a pipeline fails it */
};
const struct strict_shell *shell_of_this_machine(void);
