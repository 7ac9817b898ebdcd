/* In and out of a call of the library: the boundary for memory, and errors.
 *
 * Threads: an api_call lives in the frame of one public function, so that calls on different
 * threads share nothing here. Calls nest (a planner of the user's calls the library): each has a
 * boundary of its own, so that a failure never jumps over the user's frames. */
#include "api/api.h"
#include "base/descriptor.h"

#include <stdio.h>
#include <string.h>

void api_error_out(const struct error *err, struct weft_error *out)
{
    if (!out)
        return;
    /* The kinds of the house are the public statuses, number by number. */
    _Static_assert((int)ERROR_FAILED == WEFT_FAILED && (int)ERROR_INPUT == WEFT_BAD_INPUT &&
                       (int)ERROR_INFEASIBLE == WEFT_INFEASIBLE && (int)ERROR_NONE == WEFT_DONE,
                   "same numbers");
    out->status = (enum weft_status)err->kind;
    if (err->kind == ERROR_NONE)
        out->text[0] = 0;
    else
        snprintf(out->text, sizeof out->text, "%s", err->text);
}

void api_begin(struct api_call *call, struct weft_error *out, struct api_account *account)
{
    call->out = out;
    call->account = account;
    call->broken = account && account->broken;
    error_clear(&call->err);
    call->ledger.id = 0;
    call->good = false;
    call->result = NULL;
    call->number = 0;
    if (!account) { /* it may open files; calls on an account change what is in memory */
        descriptors_occupy_standard();
        mem_ledger_open(&call->ledger);
    }
    struct mem_ledger *ledger = &call->ledger;
    if (account)
        ledger = account->outer ? account->outer : &account->ledger;
    mem_boundary_enter(&call->boundary, ledger);
}

bool api_end(struct api_call *call)
{
    bool good = call->good || call->result;
    mem_boundary_leave(&call->boundary);
    struct error failure = {0};
    if (call->broken) {
        error_set(
            &failure, ERROR_MEMORY,
            "out of memory in an earlier call on this handle, which is only good for freeing");
    } else if (call->boundary.failed) {
        /* A size that does not fit a size_t stands for a product that overflowed. */
        if (call->boundary.asked == SIZE_MAX)
            error_set(&failure, ERROR_MEMORY,
                      "out of memory (asked for more bytes than there are addresses)");
        else
            error_set(&failure, ERROR_MEMORY, "out of memory (asked for %zu bytes)",
                      call->boundary.asked);
    }
    if (call->broken || call->boundary.failed) {
        if (call->account)
            call->account->broken = true;
        else
            mem_ledger_release(&call->ledger);
        api_error_out(&failure, call->out);
        return false;
    }
    mem_ledger_keep(&call->ledger);
    /* A failure always has a text, so that nobody prints an empty line. */
    if (!good && call->err.kind == ERROR_NONE)
        error_set(&call->err, ERROR_FAILED, "failed without a reason: please report this");
    if (good)
        error_clear(&call->err);
    api_error_out(&call->err, call->out);
    return good;
}

void *api_result(struct api_call *call)
{
    return api_end(call) ? call->result : NULL;
}

void api_account_open(struct api_account *a)
{
    a->broken = false;
    a->outer = NULL;
    mem_ledger_open(&a->ledger);
}

void api_account_close(struct api_account *a, void (*tidy)(void *of), void *of)
{
    if (a->broken) {
        mem_ledger_release(&a->ledger);
        return;
    }
    mem_ledger_keep(&a->ledger);
    if (tidy)
        tidy(of);
}
