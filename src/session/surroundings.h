/* What the tasks of a run are to run in, found where weft was started: images, files of conda, variables
 * that are passed, secrets. It goes with the run to whoever runs its tasks.
 *
 * A secret is the variable of that name, else the file ~/.config/weft/secrets/NAME (or in
 * $XDG_CONFIG_HOME/weft/secrets), which nobody but its owner may read or write. */
#pragma once
#include "base/error.h"
#include "model/environment.h"

struct surroundings_request {
    const struct workflow *workflow;
    const char *folder;   /* of the workflow */
    const uint8_t *needs; /* per task, enum need: what must run; NULL: all */
    bool fetch;           /* images that are not here may be pulled */
    bool rewritten;       /* it was read from a text of weft's own: lines are not its file's */
    bool elsewhere;       /* tasks run on other machines: what this one lacks is no mistake */
};

/* What keys need: images and contents, each once. Without `fetch` an image that is not here is left
 * out. False: ERROR_INPUT, with what to do. */
bool surroundings_find_contents(const struct surroundings_request *q, struct run_environment *e,
                                struct error *err);
/* What commands need: values of variables and secrets of the tasks that must run, and the programs that
 * run them. A secret that is not there is an error. */
bool surroundings_find_values(const struct surroundings_request *q, struct run_environment *e,
                              struct error *err);
