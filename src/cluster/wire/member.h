/* What an agent says of itself on the board, as a reader sees it: who and where it is, and how each
 * run that it works on stands. The text is JSON (docs/cluster.md); unknown fields are passed over,
 * missing ones are 0. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "cluster/wire/charter.h"
#include "model/capacity.h"
#include "store/board.h"
#include <stdbool.h>
#include <stdint.h>

/* An agent's part in one run. */
struct member_work {
    uint64_t run;
    char policy[16];
    double tt;
    double held, waiting, local, shared, running, fetching; /* tasks here now */
    double unfit;                                           /* that no agent has room for */
    char asks[128]; /* what the first of them asks for, for people; "": none */
    char awaits
        [256]; /* an input that only who submitted the run has, and nobody is attached; "": none */
    double done, failed, lost;
    double steals, failed_steals, stolen, given, pushed, recomputed, dropped;
    double fetched, fetched_bytes, served, served_bytes;
    double hits, misses, cache_bytes, busy;
};

struct member {
    uint32_t node, life;
    uint8_t state; /* enum board_state */
    double age;    /* seconds since its last heartbeat when the board was looked at */
    double lease;  /* seconds, as the board has them: nobody proves it, and it only costs time */
    bool sealed;   /* with another key, or not by it: nothing below is known */
    bool silent;   /* it has just joined, and said nothing yet: sealed, too */
    char *host, *address, *version;
    uint32_t cores;
    double memory, started, cache_limit; /* NAN: no limit */
    double speed; /* of a core, as it measured it (exec/measure.h); 0: it has not yet */
    double load;  /* part of its machine that others use, 0 to 1 */
    /* of ended runs whose results nobody has taken: runs and bytes there, and how long and how much */
    double kept_runs, kept_bytes, keep_for, keep_size;
    double left, lasts; /* seconds until it goes, when it said so, of how many; lasts 0: it stays */
    char *has;          /* attributes, "avx512,ssd"; NULL: none */
    char *resources;    /* things, "gpu=[0,1],licence=4"; NULL: none */
    char *aside;        /* why it is set aside; NULL: it is not */
    int64_t pid;
    ARRAY(struct member_work) works;
    char *store_trouble; /* what the store refuses to do for it, for people; NULL: nothing */
    char *text;          /* the JSON; NULL: none */
};

void member_read(const struct board_member *from, const struct charter *charter,
                 struct member *out);
void member_free(struct member *m);
/* What one task of this workflow may ask for there. */
struct capacity member_capacity(const struct member *m, const struct workflow *w);
struct json_writer;
/* The same fields again, as an object. */
void member_work_json(const struct member_work *w, struct json_writer *j);
const struct member_work *member_work(const struct member *m, uint64_t run); /* NULL: none */
