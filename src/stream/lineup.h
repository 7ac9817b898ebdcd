/* Who does what with an item: a workflow, and perhaps a plan, as a stream executes them.
 *
 * A post is a cluster of the plan, with a worker for each of its replicas; without a plan there is one
 * post that has all tasks. Its duties are its copies of tasks, in the order in which its workers go
 * through them for each item. A holding is an object at a post: what one duty there leaves for others,
 * what came from another post (a voyage), or what the source gave.
 *
 *     post 0, 3 workers                                post 1, 1 worker
 *     source ─▶ [film] decode ─▶ [frame] faces ...     [frame] text ─▶ [words]
 *                                  └───── voyage ─────▶ ┘
 *
 * All is numbers into arrays, fixed before the first item. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/plan.h"

enum duty_kind {
    DUTY_WAITS,    /* no command: lets its time pass */
    DUTY_FUNCTION, /* call: lib.so:name */
    DUTY_STAYS,    /* a command that stays, items as frames */
    DUTY_PROGRAM,  /* a command for each item, with files */
};

/* A range of one of the lineup's arrays. */
struct span {
    uint32_t first, n;
};

struct duty {
    uint32_t task, post;
    enum duty_kind kind;
    bool serial;        /* items come in their order, one at a time */
    struct span in;     /* of `ports`: holdings that it reads */
    struct span out;    /* of `ports`: holdings that it makes */
    struct span after;  /* of `ports`: holdings without data that it waits for */
    uint32_t done;      /* the holding that says it has ended; NONE: nobody asks */
    struct span drops;  /* of `drops`: holdings that nobody here reads after it */
    uint32_t last;      /* of `last`, one for each input: it is dropped here, and named once */
    struct span leaves; /* of `voyages`: what goes to other posts when it has ended */
    double start;       /* in the plan's schedule, for item 0 */
};

struct voyage {
    uint32_t object;   /* NONE: no data, an order */
    uint32_t from, to; /* holdings */
    uint32_t from_post, to_post;
    double start; /* in the plan's schedule, for item 0 */
    bool waits;   /* takes its time: what it carries was made by a filter that waits, too */
};

struct post {
    struct span duties;
    struct span nodes; /* of `nodes`: one a worker; without a plan they mean nothing */
    uint32_t first;    /* worker */
    uint32_t workers;
};

/* A holding that the source fills or the sink takes. */
struct landing {
    uint32_t holding, object, post;
};

struct lineup {
    const struct workflow *w;
    const struct plan *plan; /* NULL: none */
    uint32_t nholdings, nworkers, most_ports;
    double period;             /* of the plan's schedule; 0: none */
    ARRAY(struct duty) duties; /* by post */
    ARRAY(struct post) posts;
    ARRAY(struct voyage) voyages; /* by the duty they follow */
    ARRAY(uint32_t) ports, drops, nodes;
    ARRAY(bool) last;
    ARRAY(struct landing) inputs, results; /* results: by object */
    uint32_t ninputs;                      /* objects that the source gives */
};

/* `workers`: how many without a plan. The workflow and the plan must outlive it. */
bool lineup_make(struct lineup *l, const struct workflow *w, const struct plan *plan,
                 uint32_t workers, struct error *err);
void lineup_free(struct lineup *l);
