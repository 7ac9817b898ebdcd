/* A session whose workflow grows while it runs: which tasks decide, and what becomes of what is kept by
 * task when others join.
 *
 *     session_open     lists whose task need not run are read at once (growing_look_ahead)
 *     the run          a deciding task is done: the list is read, the part appended (struct run_growth)
 *     session_add()    a program adds tasks of its own, the same way */
#pragma once
#include "session/session.h"

/* After the needs were found. False: an error with its place. */
bool growing_begin(struct session *s, struct error *err);
/* What the run calls; NULL: it stays as it is. */
const struct run_growth *growing_of(struct session *s);
/* After a run that went well: says what was never known, because what decides was not taken. */
void growing_conclude(const struct session *s);
/* Elsewhere: what is handed in of it, s->text. */
void growing_put_source(struct session *s);
/* Elsewhere: what joins while it runs, as agents have it. */
bool growing_take_part(struct session *s, const void *bytes, size_t n, struct error *err);
void growing_free(struct session *s);
