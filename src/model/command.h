/* A task's command: what `{in}`, `{out}` and `{parameter}` stand for, and whether it needs a shell.
 *
 *     {in}  {out}          all input (output) files in the order of the file,
 *                          each quoted for a shell
 *     {in[0]}  {out[1]}    one of them, from 0
 *     {in[1:4]}  {in[0,3]} some: 1, 2 and 3; 0 and 3; {in[0:0]} none
 *     {in.list}            a file with all their names, a line each; {in[1:4].list} of some
 *     {name}               the parameter of that name
 *     {task}  {kind}       the task's name and kind, quoted for a shell
 *     {cores}              as stated
 *     {memory}             bytes that this attempt may use
 *     {attempt}            1, 2 ...: the one thing here that is no part of what the computation is
 *     {{  }}               a brace
 *
 * `${name}` is the shell's. Any other brace around what could not be a name stands for itself, so
 * that awk '{print $1}', {a,b} and find's {} need no escapes. What could be a name and is none
 * (MARK_UNKNOWN) builder_finish() refuses. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/workflow.h"

/* What stands at a brace of a command: how many characters it takes. MARK_NONE: nothing of ours, the
 * brace stands for itself. */
enum mark {
    MARK_NONE,
    MARK_IN,
    MARK_OUT,
    MARK_PARAMETER,
    MARK_BRACE,
    MARK_TASK,
    MARK_KIND,
    MARK_CORES,
    MARK_MEMORY,
    MARK_ATTEMPT,
    MARK_SHELL,  /* ${word}: one brace long, as MARK_NONE */
    MARK_UNKNOWN /* could be a name, and nothing has it; as MARK_NONE where it is expanded */
};

struct marking {
    enum mark mark;
    size_t length;
    uint32_t index;    /* of {in[3]}; NONE: all of them, or `items`. Of a parameter: which */
    const char *items; /* of {in[1:4,7]}: "1:4,7]"; NULL: all, or one */
    bool list;         /* {in.list}: the name of a file that has the names */
};

/* The files that a mark stands for, of `count`: for (i = 0; marking_next(m, count, &i, &file);) */
struct marking_place {
    const char *items;
    uint32_t next, end;
};
struct marking_place marking_begin(const struct marking *m, uint32_t count);
/* False: that was all. `file` may be past `count`: a mistake of the command's. */
bool marking_next(struct marking_place *p, uint32_t *file);

/* `at` points at a brace of either kind in the command `text`. */
struct marking command_marking(const struct workflow *w, const char *text, const char *at);

/* Names of what is built in, in the order of their marks, MARK_IN first: for suggestions. */
enum { COMMAND_WORDS = 7 };
extern const char *const command_built_in[COMMAND_WORDS];
/* May a parameter have this name? {in} and {out} always are files; the other words that are built in
 * a parameter may take over, as one of that name did before they were. */
bool command_is_file_word(const char *name);
/* Say what is wrong with the word in braces at `at` (MARK_UNKNOWN), and what may have been meant. */
void command_unknown(const struct workflow *w, const char *const *variables, size_t nvariables,
                     const char *at, size_t length, struct strbuf *out);
/* Is this a name, as it can stand in braces: letters, digits, _ and -, no digit in front? */
bool command_is_name(const char *text, size_t length);
/* Is the brace at `at` the shell's, as in ${name}? `$${in}` is its process number and our file. */
bool command_behind_dollar(const char *text, const char *at);
/* Append a text with every brace doubled: it then stands for itself, wherever braces are filled in. */
void command_add_doubled(struct strbuf *out, const char *text);
/* Would a shell give one of its characters a meaning? Such a name is quoted where it is put in. */
bool command_needs_quotes(const char *name);
/* A file's name, or any other text that is data, as one word of a shell. */
void command_add_quoted(struct strbuf *out, const char *name);

/* Append the command of `task` with everything filled in, as its first attempt has it. False:
 * {in[7]} with fewer inputs. */
bool command_expand(const struct workflow *w, uint32_t task, struct strbuf *out, struct error *err);
/* The same for any attempt. */
struct command_attempt {
    uint32_t number;       /* 1 is the first */
    double memory;         /* what it may use, in bytes; 0: as stated */
    const uint8_t *absent; /* by object: inputs that are not there, and are left out; NULL: none */
    const char *lists; /* folder in which the files behind {in.list} stand; NULL: the task's own */
};
bool command_expand_attempt(const struct workflow *w, uint32_t task,
                            const struct command_attempt *attempt, struct strbuf *out,
                            struct error *err);

/* The same for a text that no shell will read: a value of `env`. Names of files and tasks stand as they
 * are, several files with blanks between them. */
void command_expand_value(const struct workflow *w, uint32_t task, const char *text,
                          const struct command_attempt *attempt, struct strbuf *out);
/* As command_template() of such a text. */
void command_value_template(const struct workflow *w, uint32_t task, const char *text,
                            struct strbuf *out);

/* The files that {in.list} names, which the task must find in its folder when it starts: the next one
 * from *at on (0: the first), its name and its text. False: there is none left. */
bool command_next_list(const struct workflow *w, uint32_t task, const uint8_t *absent, size_t *at,
                       struct strbuf *name, struct strbuf *names);
/* Does its command name one? */
bool command_has_lists(const struct workflow *w, uint32_t task);

/* The command for people to read, everything filled in as that attempt had it (0: the first); `call
 * LIBRARY:FUNCTION` of a call. False, and nothing appended: the task has none. */
bool command_readable(const struct workflow *w, uint32_t task, uint32_t attempt,
                      struct strbuf *out);

/* Append only with {in}, {out} and {attempt} as they stand: what the computation is, whatever its
 * files are called. */
void command_template(const struct workflow *w, uint32_t task, struct strbuf *out);

/* Append the command with its parameters filled in, as a template that needs none. */
void command_without_parameters(const struct workflow *w, uint32_t task, struct strbuf *out);

/* Append a text so that as a command it stands for itself: braces that would mean something are
 * doubled. */
void command_escape(const char *text, size_t length, struct strbuf *out);
/* Is this command no more than a text: would command_escape() of what it expands to give it back?
 * `expanded` is filled with that. */
bool command_is_literal(const struct workflow *w, uint32_t task, struct strbuf *expanded);

/* Words of a command without shell syntax (quotes and backslashes are understood; no variables,
 * patterns, redirections, pipes, lists, builtins): NULL-terminated words in `words`, which holds
 * pointers into `text`, changed in place. Returns how many, 0: it needs a shell, `text` is as
 * before. `most`: room in `words`, with the NULL. */
size_t command_words(char *text, char **words, size_t most);
