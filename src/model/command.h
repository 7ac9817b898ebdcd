/* A task's command: what `{in}`, `{out}` and `{parameter}` stand for, and whether it needs a shell.
 *
 *     {in}  {out}          all input (output) files in the order of the file,
 *                          each quoted for a shell
 *     {in[0]}  {out[1]}    one of them, from 0
 *     {name}               the parameter of that name
 *     {{  }}               a brace
 *
 * Any other brace stands for itself, so that awk '{print $1}' needs no escapes. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/workflow.h"

/* What stands at a brace of a command: how many characters it takes; MARK_NONE: nothing of ours,
 * the brace stands for itself. */
enum mark { MARK_NONE, MARK_IN, MARK_OUT, MARK_PARAMETER, MARK_BRACE };

struct marking {
    enum mark mark;
    size_t length;
    uint32_t index; /* of {in[3]}; NONE: all of them. Of a parameter: which */
};

/* `at` points at a brace of either kind. */
struct marking command_marking(const struct workflow *w, const char *at);

/* Append the command of `task` with everything filled in. False: {in[7]} with fewer inputs. */
bool command_expand(const struct workflow *w, uint32_t task, struct strbuf *out, struct error *err);

/* Append only with the parameters filled in and {in}, {out} as they stand: what the computation is,
 * whatever its files are called. */
void command_template(const struct workflow *w, uint32_t task, struct strbuf *out);

/* Words of a command without shell syntax (quotes and backslashes are understood; no variables,
 * patterns, redirections, pipes, lists, builtins): NULL-terminated words in `words`, which holds
 * pointers into `text`, changed in place. Returns how many, 0: it needs a shell, `text` is as
 * before. `most`: room in `words`, with the NULL. */
size_t command_words(char *text, char **words, size_t most);
