/* Runs that the page starts: `weft run`, a process of its own. It goes on when the server ends or dies, and is on record like every
 * other, so that the page follows it as it follows those of a terminal. */
#pragma once
#include "ui/request.h"

/* ?flow=FILE: what would run, and why. */
void answer_dry(const struct laboratory *lab, const struct request *r, struct reply *out);
/* {"flow": FILE, "on": "local:2", "jobs": "4", "force": true, "keep_going": true, "targets": ["a"]} */
void answer_start(const struct laboratory *lab, const struct request *r, struct reply *out);
/* `weft experiment`, of this file, which is taken over; pages are told of its end as "experiment". */
void starting_experiment(const struct laboratory *lab, char *file, struct reply *out);
/* What became of those that this server has started. */
void answer_started(const struct laboratory *lab, const struct request *r, struct reply *out);
/* Ends of processes, told to pages. */
void starting_look(const struct laboratory *lab);
/* A file of the folder, by a name from outside: relative, a regular file, and nothing that leads out of the folder, neither ".."
 * nor a link. Owned; NULL: `out` says why. */
char *starting_file(const struct laboratory *lab, const char *name, struct reply *out);
