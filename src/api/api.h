/* Inside the library: the handles with the model behind them, and the one way in and out of a
 * call.
 *
 *     EXPORT struct weft_thing *weft_thing_make(..., struct weft_error *error)
 *     {
 *         API_CALL(call, error)
 *             call.result = thing_make(..., &call.err);
 *         return api_result(&call);
 *     }
 *
 *     EXPORT bool weft_thing_do(..., struct weft_error *error)
 *     {
 *         API_CALL(call, error)
 *             call.good = thing_do(..., &call.err);
 *         return api_end(&call);
 *     }
 *
 * API_CALL opens a ledger and enters a boundary (base/mem.h): when memory runs out inside, control
 * continues after its statement, api_end() gives back what the call had allocated, fills the error
 * and returns false. No `return`, `break` or `goto` leaves the statement. What it assigns to locals
 * outside it must not be read afterwards (setjmp does not keep them): `call` itself holds what is
 * to survive. When all is well, what was allocated lives on in the handles, and `error` is
 * cleared.
 *
 * A handle that calls change (a builder, a run) owns a ledger for its whole life instead, with
 * API_CALL_ON(call, error, &handle->account): after a failure the handle is broken (`call.broken`),
 * every further call on it says so, and freeing it releases the ledger instead of walking
 * structures that may be half changed. See struct api_account.
 *
 * Handles count their references: a plan keeps its workflow and its platform, so that they may be
 * freed in any order and on any thread. */
#pragma once
#include "base/error.h"
#include "base/mem.h"
#include "base/option.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"
#include "weft/weft.h"

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- handles ---- */

struct weft_workflow {
    atomic_uint references;
    struct workflow *model; /* owned, frozen: any number of threads read it */
    char name[256];         /* for people: its own, else its file's stem */
};

struct machine; /* exec/measure.h */
struct weft_platform {
    atomic_uint references;
    struct platform *model;   /* owned, frozen */
    struct machine *measured; /* owned; NULL: it was not measured by this call */
};

struct weft_plan {
    struct plan *model;             /* owned */
    struct weft_workflow *workflow; /* references of its own */
    struct weft_platform *platform;
};

struct format_file;
struct weft_file {
    struct format_file *file; /* owned */
};

/* A handle for a model, which it then owns; a reference for the caller. NULL gives NULL, so that
 * readers' results go straight in. */
struct weft_workflow *api_workflow(struct workflow *model);
struct weft_platform *api_platform(struct platform *model);
/* Takes the plan; keeps (refers to) the others. */
/* It is signed with where the two come from, unless it is already. */
struct weft_plan *api_plan(struct plan *model, const struct weft_workflow *w,
                           const struct weft_platform *p);
/* In two steps, for several plans at once: a call that fails gives back memory, not references, so
 * that they are taken after the last allocation. */
struct weft_plan *api_plan_unkept(struct plan *model, const struct weft_workflow *w,
                                  const struct weft_platform *p);
struct weft_plan *api_plan_keep(struct weft_plan *plan, const struct weft_workflow *w,
                                const struct weft_platform *p);
/* One more reference, to be given back by weft_..._free(). NULL is fine. */
struct weft_workflow *api_workflow_keep(const struct weft_workflow *w);
struct weft_platform *api_platform_keep(const struct weft_platform *p);

/* ---- calls ---- */

/* The ledger of a handle that calls change. Zeroed memory is not one: api_account_open(). */
struct api_account {
    struct mem_ledger ledger;
    struct mem_ledger *outer; /* the account of a call outside this one instead; NULL: `ledger` */
    bool broken;              /* memory ran out in a call on it: only freeing is left */
};

struct api_call {
    struct mem_boundary boundary;
    struct mem_ledger ledger; /* of this call; closed when it works on an account */
    struct api_account *account;
    struct error err;
    struct weft_error *out;
    bool broken;   /* the account was broken before: nothing was done */
    bool good;     /* the verdict of what stands inside the call */
    size_t number; /* what else a call wants to remember */
    void *result;  /* or this: not NULL is good */
};

void api_begin(struct api_call *call, struct weft_error *out, struct api_account *account);
/* The end of every call: copies the error out, or clears it. False: failed, and nothing of the
 * call is left. */
bool api_end(struct api_call *call);
/* The same for calls that return something: NULL when they failed. */
void *api_result(struct api_call *call);

#define API_CALL_ON(call, out, account)                                                            \
    struct api_call call;                                                                          \
    api_begin(&call, (out), (account));                                                            \
    if (!call.broken && setjmp(call.boundary.jump) == 0)

#define API_CALL(call, out) API_CALL_ON(call, out, NULL)

/* An account that lives with its handle. The handle itself is allocated in a call of its own and
 * is not on the account:
 *
 *     API_CALL(call, error)
 *         call.result = mem_new_zero(struct weft_builder, 1);
 *     struct weft_builder *b = api_result(&call);
 *     if (b)
 *         api_account_open(&b->account);
 */
void api_account_open(struct api_account *a);
/* Before the handle is freed. `tidy(of)` frees what the handle holds in the orderly way; a broken
 * account is released block by block instead. NULL: what it holds lives on elsewhere. */
void api_account_close(struct api_account *a, void (*tidy)(void *of), void *of);

/* The error of the house as the caller's; success clears it. `out` may be NULL. */
void api_error_out(const struct error *err, struct weft_error *out);

/* ---- what several files of the library share ---- */

/* A list of "name=value" that ends with NULL, taken apart. */
struct api_pairs {
    struct option_value *at; /* n of them, then one of NULLs */
    size_t n;
    char *storage;
};
/* 0, or a probability between 0 and 1. */
bool api_risk(double risk, struct error *err);
bool api_pairs_split(struct api_pairs *pairs, const char *const *options, struct error *err);
void api_pairs_free(struct api_pairs *pairs);
/* Row number `k` of a table, as lists show it; false: there are no more. */
bool api_option(const struct option *table, size_t k, struct weft_option *out);

/* A copy of an options struct of the caller's, who may have been compiled with an older header:
 * what his struct does not have stays as it is in `own` (the standard). False: no size was set. */
bool api_options(void *own, size_t size, const void *theirs, struct error *err);
/* For a struct with a `size` field; NULL leaves the standard. */
#define api_options(own, theirs, err) (api_options)((own), sizeof *(own), (theirs), (err))
