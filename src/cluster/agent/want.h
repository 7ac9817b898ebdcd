/* An object that somebody here needs and that is not here: located, fetched, or computed again.
 * Belongs to a job's supply; its states are drawn in want_machine.h. */
#pragma once
#include "base/array.h"
#include "cluster/agent/want_machine.h"
#include "model/metadata.h"
#include "base/digest.h"
#include <stdbool.h>
#include <stdint.h>

struct job;

/* A node that has it, and what it has. */
struct want_place {
    uint32_t node;
    struct digest content;
};

struct want {
    uint32_t object; /* NONE when FREE */
    enum want_state state;
    uint32_t from;                   /* FETCHING, FROM_OWNER: that node */
    double since, again;             /* seconds of the run: when it began; RESTING: until then */
    ARRAY(uint32_t) waiting;         /* numbers of held tasks, whose inputs it is one of */
    ARRAY(struct want_place) places; /* still to be tried */
    /* facts */
    bool recompute_here; /* another agent asked us to restore it */
    bool unreached;      /* of this round: one that lives and may have it could not be reached */
    bool owner_asked;    /* the owner was asked, in vain: next time it rests instead */
    bool producer_done;  /* the store said so */
    bool no_room;        /* it is lost, and no agent that is there has room for its producer */
};

/* True: the object is here. Otherwise it is wanted from now on, and `held` (NONE: nobody) waits. */
bool want_object(struct job *j, uint32_t object, uint32_t held);
/* Another agent asks us to produce it. False: we do not. */
bool want_restore(struct job *j, uint32_t object);
/* Is an input waited for that only who submitted the run has, with nobody attached? Its name, for people. */
bool want_awaits_submitter(const struct job *j, char *name, size_t n);
/* How many objects are lost whose producers no agent that is there has room for; `task`: one of these. */
uint32_t want_unfit(const struct job *j, uint32_t *task);
/* The content that it must have; NULL: any, by the digest that comes with it. */
const struct digest *want_expected(const struct job *j, uint32_t object);
/* Tell the store that it stands at `node`, with the content and the size that are known here. */
void want_tell_copy(struct job *j, uint32_t object, uint32_t node);
/* It is here: those that wait for it have one input less to wait for. */
void want_arrived(struct job *j, uint32_t object);
/* A fetch came to nothing: of a want, or of what others asked us to keep. */
void want_not_fetched(struct job *j, uint32_t object, const char *why);
/* It cannot be had: those that wait for it fail. May free and add wants and held tasks. */
void want_fail(struct job *j, uint32_t number, const char *why);
/* Of tasks that wait here: the store is asked which of their inputs are made (want_seen()), and those are
 * wanted. Unlike a want, such a question is asked once. `context` is the job (struct driver_ops). */
void want_look_ahead(void *context, const uint32_t *tasks, size_t n);
void want_seen(struct job *j, const struct meta_answer *a);
/* The store's answers to its questions. */
void want_located(struct job *j, uint32_t number, const struct meta_answer *a,
                  const struct meta_answers *all);
void want_producer_checked(struct job *j, uint32_t number, const struct meta_record *producer);
/* Those that have rested are tried again. */
void want_tick(struct job *j);
