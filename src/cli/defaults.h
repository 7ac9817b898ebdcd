/* What holds when the command line does not say: profiles and variables of the environment. */
#pragma once
#include "cli/cli.h"

/* Takes --profile FILE out of the arguments (from argv[1] on, up to `--`), reads it and the user's own,
 * checks that every command and option in them is one, and sets the variables of `env` that are not
 * set. `--profile none`: neither is read. False: an error. Once, before anything else. */
bool defaults_load(int *argc, char **argv, struct error *err);
void defaults_free(void);
/* Adds to the arguments what the profiles say and they do not: of options that the command line gave
 * nothing is added, and what would do nothing beside them is left out, with a remark. */
void defaults_apply(struct arguments *a);

/* A variable that weft looks at. */
struct known_variable {
    const char *name, *standard, *meaning;
};
extern const struct known_variable known_variables[]; /* ends with a NULL name */
/* A line on standard error for each WEFT_... that is likely a slip. */
void defaults_check_environment(void);

struct user_profile;
const struct user_profile *defaults_profile(void);
