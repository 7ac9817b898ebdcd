/* Profiles: what a person or a site wants by default. A YAML file, ~/.config/weft/profile.yaml or one that
 * is named with --profile:
 *
 *     options:
 *       run: { jobs: 4, keep-going: true }      options of commands, as on the command line
 *       all: { quiet: true }                    of every command that has it
 *     env: { LC_ALL: C }                        variables, unless they are set
 *     resources: { gpu: [0, 1], licence: 4 }    of this machine
 *     on: slurm                                 where `weft run` runs
 *
 * What commands and options there are is the command line's to know; here they are names with places.
 * A file that others could have written is refused: it could make weft run anything. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include <stdint.h>

enum profile_sort { PROFILE_OPTION, PROFILE_VARIABLE, PROFILE_RESOURCES, PROFILE_ON };

struct user_default {
    enum profile_sort sort;
    char *command; /* of an option; "all" */
    char *name;
    char *value; /* of a flag: "true" or "false" */
    char *place; /* FILE:LINE */
    bool chosen; /* of --profile, not the user's own */
};

struct user_profile {
    ARRAY(struct user_default) at; /* in the order of the files; lists as several entries */
};

/* The user's own: $XDG_CONFIG_HOME/weft/profile.yaml, else ~/.config/...; NULL: there is no place for
 * one. The caller frees. */
char *user_profile_standard(void);
/* Append what a file says. `chosen`: it was named, and must be there; else one that is not there says
 * nothing. False: an error with its place. */
bool user_profile_read(struct user_profile *p, const char *path, bool chosen, struct error *err);
void user_profile_free(struct user_profile *p);
