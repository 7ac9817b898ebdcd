/* Agents that a run starts for itself (`--on local:3`, `ssh:a,b`, `slurm`): before it, more of them
 * under Slurm while it goes on, released after it. The part of a remote that has a fleet. */
#pragma once
#include "session/remote.h"

/* Seconds for agents to leave that another command started for the run that has ended now. */
#define AGENTS_OF_OTHERS_LEAVING 20

/* r->fleet and r->place: agents are up. Waits for them; remote_stop() ends that. */
bool agents_start(struct remote *r, struct error *err);
/* Until those that are ready stand on the board. */
void agents_wait_joined(struct remote *r);
/* Their jobs ended between being ready and the run's opening, and none is left: others are up now. False: some
 * live, or nobody asks (again). */
bool agents_start_again(struct remote *r);
/* They have nothing more to do: tell them to leave, close the client, end the fleet. */
void agents_release(struct remote *r);
/* Are they all that this run will have? They were started for it, at a store of their own, and none is started later. */
bool agents_are_alone(const struct remote *r);
/* As client_following.deserted, then: the error has the last lines of their logs. */
bool agents_deserted(void *remote, struct error *err);
/* They are gone, or never came: their store is ended and their folder removed. */
void agents_clear(const struct remote *r);
/* The same for Slurm's of another command that left a run in this state folder, on this machine. */
void agents_clear_others(const char *state);
/* For client_following.load, `context` a remote: asks Slurm for more nodes as tasks become ready.
 * Nothing elsewhere. */
void agents_on_load(void *context, const struct client_load *load);
