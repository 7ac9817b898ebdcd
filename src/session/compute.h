/* A workflow of functions carried out at once by a crew, without folder, memo or history: what weft_compute() does. */
#pragma once
#include "base/error.h"
#include "exec/crew.h"
#include "model/plan.h"
#include "model/workflow.h"

/* A function of the program, which tasks call as ":name". */
struct compute_function {
    const char *name;
    weft_task_function call;
};

/* Memory of the program that is an object (exec/data.h). */
struct compute_lent {
    uint32_t object;
    void *at;
    size_t bytes;
};

struct compute_request {
    const struct workflow *workflow;
    uint32_t threads; /* 0: all cores; inside a call: all threads of the crew that made it */
    const struct compute_function *functions;
    size_t nfunctions;
    void *given; /* `context` of struct weft_task */
    const struct compute_lent *lent;
    size_t nlent;
    double memory;             /* most bytes of objects and scratch memory; 0: no limit */
    const char *folder;        /* for objects that make room; NULL: $TMPDIR, else /tmp */
    const struct plan *follow; /* NULL: an order that suits */
    bool look;                 /* nothing is called */
    bool pin;                  /* threads stay on cores of their own */
};

struct compute_figures {
    uint32_t done;
    double seconds, busy, peak;
    double needed;  /* with a limit: by the order, one after the other */
    double evicted; /* bytes */
    uint32_t evictions;
};

/* `figures` is filled as far as it went. */
bool compute_workflow(const struct compute_request *o, struct compute_figures *figures,
                      struct error *err);
