/* The command line: one table a command, one file a command. Parsing, help and completion come from
 * the tables. */
#pragma once
#include "base/error.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "session/remark.h"
#include "weft/weft.h"

struct cli_option {
    const char *name;     /* without dashes */
    char letter;          /* 0: none */
    const char *argument; /* what it takes, for the help ("FILE"); NULL: a flag */
    const char *help;
};

/* What an option cannot do alone, or not in this company. Said before anything is read or run: no
 * option is accepted and then ignored. A condition is a name as in "with", a name and its value as in
 * "on=slurm", or a word in capitals for the command's operand; several stand with blanks between. */
struct cli_rule {
    const char *options; /* the rule is about each of these */
    const char *needs;   /* they do nothing without one of these; NULL: no such rule */
    const char *beside;  /* they do nothing beside any of these; NULL: no such rule */
};

struct arguments;

struct command {
    const char *name;
    const char *operands; /* "FLOW", "IN OUT" */
    size_t least, most;   /* how many operands */
    const char *summary;
    const char *details; /* paragraphs and examples for `weft help NAME`; may be NULL */
    const struct cli_option *options; /* ends with a NULL name */
    const struct cli_rule *rules;     /* ends with NULL options; NULL: there are none */
    bool parts; /* it takes targets, --until and --since itself; else the reader does */
    int (*run)(const struct arguments *a);
};

extern const struct command *const command_registry[]; /* ends with NULL; commands.c */
const struct command *command_find(const char *name);

struct given {
    const struct cli_option *option;
    const char *value; /* NULL: a flag */
    const char *place; /* in a profile; NULL: on the command line */
    bool used;         /* somebody has asked for it */
};

struct arguments {
    const struct command *command;
    const char **operand;
    size_t noperands;
    struct given *given;
    size_t ngiven;
};

/* Parse what follows the command's name. False: an error with what to do instead. */
bool arguments_parse(struct arguments *a, const struct command *command, int argc, char **argv,
                     struct error *err);
/* Do the command's rules hold for what is given? False: an error that says which does not. */
bool arguments_fit(const struct arguments *a, struct error *err);
/* Every option that was given has been asked for. False: an error that names the first that has not. A
 * command that ends well has used them all, or it has not done what it was asked to. */
bool arguments_used(const struct arguments *a, struct error *err);
/* For what only the files tell: an error if one of these (names with blanks between) was given.
 * `what` they do nothing for: "a platform". */
bool arguments_refuse(const struct arguments *a, const char *names, const char *what,
                      struct error *err);
void arguments_free(struct arguments *a);
bool arguments_flag(const struct arguments *a, const char *name);
/* Was it given? Does not count as a use: for what an option decides beside its purpose. */
bool arguments_given(const struct arguments *a, const char *name);
bool arguments_takes(const struct arguments *a,
                     const char *name); /* has the command this option? */
const char *arguments_value(const struct arguments *a,
                            const char *name); /* the last one; NULL: not given */
/* The values of an option that may be repeated, one a call: `*at` begins at 0. NULL: no more. */
const char *arguments_next(const struct arguments *a, const char *name, size_t *at);
/* All of them with blanks between, in `joined`, which is the caller's; NULL: not given. */
struct strbuf;
const char *cli_joined(const struct arguments *a, const char *name, struct strbuf *joined);
/* A whole number from `least` to `most`, `standard` when not given. */
bool arguments_integer(const struct arguments *a, const char *name, int64_t standard, int64_t least,
                       int64_t most, int64_t *out, struct error *err);
bool arguments_number(const struct arguments *a, const char *name, double standard, double *out,
                      struct error *err);
/* --risk: a probability above 0 and below 1; 0: not given. */
bool cli_risk(const struct arguments *a, double *out, struct error *err);

/* No line longer than `columns`, but for examples. */
void command_help(const struct command *command, unsigned columns, struct strbuf *out);

/* ---- shared by commands (common.c) ---- */

/* A line "weft: LEAD TEXT" on standard error; control characters in the text show as escapes. */
void cli_say(const char *lead, const char *text);
/* A remark of the library's (struct remarks; `context`: the arguments), as --quiet and --json allow.
 */
void cli_remark(void *arguments, enum remark_kind kind, const char *text);
/* What a format could not carry: a callback of the writers, whose context is the arguments. */
void cli_dropped(void *arguments, const char *line);
/* Print "weft: ..." and return the exit status. */
int cli_fail(const struct error *err);
int cli_failed(const struct weft_error *error); /* the library's */
/* What the command was given: where a profile said what is wrong, these two name the place. NULL: none. */
void cli_arguments(const struct arguments *a);
/* Errors that these two print go into this log, too, from now on; NULL: into none. */
struct run_log;
void cli_log(struct run_log *log);
/* First and last thing in main: standard descriptors that are closed are occupied; what was written to
 * standard output has arrived, or the status that is returned says that it has not. */
void cli_begin(void);
/* A function of a task that ends this process, by exit() or a crash, is told by the task's name (functions_end.c). */
void cli_tell_functions(void);
/* Before arguments are looked at: passwords vanish from what others see of this process and from
 * what its tasks inherit. */
void cli_hide_secrets(int argc, char **argv);
/* --store, else a $WEFT_STORE that cli_hide_secrets() took; NULL: neither. */
const char *cli_store(const struct arguments *a);
int cli_end(int status);
/* Print to standard output; a write error (disk full, closed pipe) is a failure. Frees nothing. */
int cli_print(const struct strbuf *text);
/* Somebody else could not: say so, once. `reason`: the errno, 0 if it is not known. */
int cli_output_failed(int reason);
bool cli_colour(void); /* standard output is a terminal that likes colour */
unsigned cli_columns(void);

/* The texts of a repeated option NAME=VALUE (--set, --read), ended by NULL, as the library takes
 * them. NULL: one is not of that form. The caller frees the array. */
const char **cli_list(const struct arguments *a, const char *option, struct error *err);
/* --from, checked; NULL: not given. */
bool cli_format(const struct arguments *a, const char **format, struct error *err);
/* --read, -p and --params in one list; the caller frees it. */
const char **cli_read_list(const struct arguments *a, struct error *err);
/* What lists tell of an option of a planner or a generator: its help, and its choices. */
enum { CLI_OPTION_HELP = 512 };
const char *cli_option_help(const struct weft_option *o, char *buffer, size_t size);
/* The file, read, with --from and --read applied to what is taken from it. */
struct weft_file *cli_open(const struct arguments *a, const char *path, struct weft_error *error);
/* The reader's remarks, to standard error unless --quiet or --json. */
void cli_warnings(const struct arguments *a, const struct weft_workflow *w);
/* A workflow of a file, with its remarks said. */
struct weft_workflow *cli_workflow(const struct arguments *a, const char *path,
                                   struct weft_error *error);
/* weft_problem_read() by --from, --read, --on, --workflow and --no-predict; plans will do where the
 * command takes --workflow. `file`: a plan that was opened already; else NULL, and `path` counts. */
bool cli_problem(const struct arguments *a, const char *path, struct weft_file *file,
                 struct weft_problem *out, struct weft_error *error);

/* The workflow's name as a terminal may show it, in the buffer. */
const char *cli_workflow_title(const struct weft_workflow *w, char *buffer, size_t size);

/* A progress line on standard error: one live line on a terminal, a plain line every few seconds
 * when piped. */
struct progress cli_progress(const char *what);
void cli_progress_done(void);

/* The same as the library takes it; NULL when --quiet or --json asks for none. */
bool cli_tell(void *context, double fraction, const char *what);
weft_progress cli_progress_of(const struct arguments *a, const char *what);

bool cli_write_text(const char *path, const struct strbuf *text, struct error *err);
/* Never over a file that is there, not even one that appears in between; `instead`: what to do then. */
bool cli_write_new(const char *path, const struct strbuf *text, const char *instead,
                   struct error *err);
/* By --zoom FROM..TO where the command has it: only that stretch. */
bool cli_write_gantt(const struct arguments *a, const char *path, const struct weft_plan *plan,
                     struct error *err);
int cli_show(const char *text, size_t n); /* cli_print() of a text */

#define OPTION_FROM                                                                                \
    {                                                                                              \
        "from", 0, "FORMAT", "read the workflow as this format instead of looking at it"           \
    }
#define OPTION_READ                                                                                \
    {"read", 0, "NAME=VALUE", "an option of the reader (see `weft formats`); may be repeated"},    \
        {"params", 0, "FILE", "parameters and lists from a YAML file; -p wins over it"},           \
    {                                                                                              \
        "param", 'p', "NAME=VALUE",                                                                \
            "a parameter of the workflow, or a list (a,b,c), in place of its own; may be repeated" \
    }
/* A part of the workflow. Commands that run take it themselves (run_screen_part(), `parts`), others get
 * nothing else from the reader. */
#define OPTION_PART                                                                                \
    {"until", 0, "NAME", "a target, as those behind FLOW; may be repeated"},                       \
    {                                                                                              \
        "since", 0, "NAME", "only what depends on this task, family or file; may be repeated"      \
    }
#define OPTION_PART_ONLY                                                                           \
    {"until", 0, "NAME", "only this task, family or file, and what it needs; may be repeated"},    \
    {                                                                                              \
        "since", 0, "NAME", "only what depends on this task, family or file; may be repeated"      \
    }
#define OPTION_ASSUME                                                                              \
    {                                                                                              \
        "assume", 0, "NAME=VALUE",                                                                 \
            "what only a run tells: values of a list (a number, or a,b,c), rounds of a task, a "   \
            "file of its tasks, yes or no for `when`; may be repeated"                             \
    }
#define OPTION_ON                                                                                  \
    {                                                                                              \
        "on", 0, "PLATFORM",                                                                       \
            "a platform file, a number of equal nodes, or a generator (homogeneous:n=8)"           \
    }
#define OPTION_JSON                                                                                \
    {                                                                                              \
        "json", 0, NULL, "one JSON object on standard output, nothing else"                        \
    }
#define OPTION_RISK                                                                                \
    {                                                                                              \
        "risk", 0, "P", "take predicted times that tasks stay below with probability P, as 0.9"    \
    }
#define OPTION_ZOOM                                                                                \
    {                                                                                              \
        "zoom", 0, "FROM..TO", "of the Gantt chart only this stretch of time, as 10s..2m"          \
    }
#define OPTION_NO_PREDICT                                                                          \
    {                                                                                              \
        "no-predict", 0, NULL, "work that is not stated is 0, not predicted from past runs"        \
    }
#define OPTION_QUIET                                                                               \
    {                                                                                              \
        "quiet", 'q', NULL, "no remarks and no progress on standard error"                         \
    }
#define OPTION_SEED                                                                                \
    {                                                                                              \
        "seed", 0, "N", "seed of everything random (default 1)"                                    \
    }
#define RULES_END                                                                                  \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        NULL, 0, NULL, NULL                                                                        \
    }

/* weft-ui, the page's own program: beside weft, as in a build, or where it is installed. Owned; NULL: it is in neither place. */
char *cli_ui_program(void);
