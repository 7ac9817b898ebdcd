/* A run that grows while it goes on: which tasks decide, what joins, and how all agents agree on it.
 *
 *     a deciding task is DONE ──▶ its agent looks at what it made ──▶ OFFER as part K on the board
 *                                                                          │ the first one stands
 *     every agent, every client ◀── GREW over links, or by asking ◀────────┘
 *         makes the same tasks from the same bytes, under the same numbers (model/future.h)
 *
 * A part is sealed for its run, and says its number and who offered it: what somebody without the key
 * puts there is not looked at, and is written over by who has something to offer. Who offered it puts its
 * tasks into the store. Whoever dies on the way is replaced: the first agent that lives looks at what is
 * still pending, and puts again what was not put. Belongs to a job. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "cluster/wire/run_part.h"
#include "model/metadata.h"
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct job;
struct link;

struct joined_part {
    struct strbuf sealed; /* as it stands on the board */
    struct run_part part;
    uint32_t first, end; /* its tasks */
    bool put;            /* fact: they are in the store */
    ARRAY(uint32_t) deciders;
};

/* A task that may decide. */
struct decider {
    uint8_t status; /* how it ended, enum meta_status; 0: not, as far as we know */
    uint32_t front; /* of the first of a group: how many from it on have decided without a gap */
};

struct job_growth {
    ARRAY(struct joined_part) parts;
    uint32_t first_object;          /* that was not known when the run was handed in */
    ARRAY(struct decider) deciders; /* by task */
    uint32_t batch;                 /* one less than how many of them are asked about at once */
    bool look;                      /* fact: something that is pending may be due */
    bool asked;                     /* fact: the board is asked for the next part, or offered one */
    bool ask_again;                 /* fact: somebody spoke of it meanwhile */
    bool none;                      /* fact: the board had none when it was asked last */
    uint32_t reads;                 /* questions about deciding tasks that are not answered */
    uint32_t puts;                  /* of tasks that are put again: not answered */
    bool broken;                    /* fact: what joins cannot join; the run ends */
    bool hold_asked;                /* fact: the board is asked who holds the run open */
    bool unheld;                    /* fact: nobody did when it was asked last */
    bool told;            /* fact: somebody else wrote to the board, and the log says so */
    struct strbuf forged; /* what stands in the place of the next part and is nobody's */
};

#define SLOT_DECIDES 0x3ffffffdu   /* of a READ about a deciding task, and of a SETTLE */
#define SLOT_PUT_AGAIN 0x3ffffffcu /* of a PUT for who died */

/* Parts as they were found on the board, in their order. */
struct sealed_parts {
    struct strbuf *at;
    size_t n, cap;
};
/* Before the job's parts are opened. What is not proved, and what comes after it, is left for later. */
void growth_open(struct job *j, const struct sealed_parts *parts);
void growth_close(struct job *j);
/* This task has ended here: done, not taken, or failed and may. */
void growth_task_ended(struct job *j, uint32_t task, enum meta_status status);
/* Look at what may be due; ten times a second and when something was done. */
void growth_turn(struct job *j);
void growth_second(struct job *j);
/* A peer is gone: what it was about to offer may be due. */
void growth_look_again(struct job *j);
void growth_answers(struct job *j, const struct meta_answers *answers);
void growth_took_record(struct job *j, const struct meta_record *r);
/* Somebody speaks of tasks that we do not know, or tells of a part. */
void growth_ask(struct job *j);
void growth_message(struct job *j, struct bytes *in);
/* All that a watcher must know before it hears of tasks. */
void growth_tell(struct job *j, struct link *l);
/* All known tasks have ended: will none join? */
bool growth_is_final(struct job *j);
/* Each known task has ended, by proved records: the run has, unless somebody adds to it at this moment. */
void growth_end_run(struct job *j);
/* A deciding task was computed again for its data: is what it made what joined? */
bool growth_is_same(struct job *j, uint32_t task);
