/* Memory that is there, or the work ends: nobody who allocates checks for NULL.
 *
 * What "ends" means depends on where the thread stands. In the program `weft`, and on any thread
 * that never entered a boundary, running out prints one line and exits with status 1. Inside a
 * boundary it is an error of the call: the call's guards run, everything that was allocated for
 * the call is given back, and control returns to where the boundary was entered.
 *
 *     weft_workflow_read()            the library's edge (src/api/api.h)
 *       mem_ledger_open               from here on, blocks are entered into a ledger
 *       mem_boundary_enter, setjmp
 *         ... readers, builders, planners: plain code ...
 *         mem_alloc fails ──────────▶ guards, newest first (close the file, free the parser)
 *       ◀──────────────── longjmp ──  mem_ledger_release: free() every block of the ledger
 *
 * A ledger is the set of blocks allocated on its account and not freed since, by any thread: that
 * is why `free` means mem_free in our sources (every room is compiled with this header first).
 * While no ledger is open, mem_free costs one load more than free.
 *
 * The jump may not cross frames of a library that would be left broken (SQLite inside a virtual
 * table, libfyaml, expat, libuv): a callback that such a library calls enters a boundary of its
 * own (an edge, without a ledger), returns the library's own error when it fails, and whoever
 * called the library raises it again with mem_fail().
 *
 * Sizes that come from input are checked by the readers before they get here. */
#pragma once
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *mem_alloc(size_t size);
void *mem_zero(size_t size);
void *mem_grow(void *old, size_t size); /* realloc; the block stays on the account it was on */
/* `count` elements of `size` bytes; a product that overflows is memory that is not there. */
void *mem_array(size_t count, size_t size);
void *mem_array_zero(size_t count, size_t size);
void *mem_grow_array(void *old, size_t count, size_t size);
char *mem_copy_string(const char *text);
char *mem_copy_bytes(const char *text, size_t len); /* NUL-terminated copy */
void mem_free(void *block);                         /* NULL is fine; also for blocks of malloc */
/* There is no memory for `size` bytes: ends as a failed mem_alloc does. */
_Noreturn void mem_fail(size_t size);

#define mem_new(T, n) ((T *)mem_array((n), sizeof(T)))
#define mem_new_zero(T, n) ((T *)mem_array_zero((n), sizeof(T)))
#define mem_resize(p, n) ((__typeof__(p))mem_grow_array((p), (n), sizeof *(p)))
#define free(block) mem_free(block)

/* ---- ledgers: what to give back ----
 * Fields are private. A ledger is opened and closed by any thread, and must not move meanwhile. */
struct mem_ledger {
    uint64_t id; /* 0: closed */
    struct mem_ledger *next, *previous;
};

void mem_ledger_open(struct mem_ledger *l);
/* Close it; its blocks live on, in the structures that hold them. Cost: O(1). */
void mem_ledger_keep(struct mem_ledger *l);
/* Close it and free every block that is still on its account. Cost: O(blocks on any account). */
void mem_ledger_release(struct mem_ledger *l);

/* ---- boundaries: where to return to ----
 * A boundary belongs to the thread that entered it and lives in the frame that calls setjmp:
 *
 *     struct mem_boundary b;
 *     mem_boundary_enter(&b, ledger);
 *     if (setjmp(b.jump) == 0)
 *         work();
 *     mem_boundary_leave(&b);
 *     if (b.failed) ...              b.asked bytes were not there
 *
 * They nest; a failure goes to the innermost. `ledger` NULL: an edge, on the account of the
 * boundary outside it (none: on nobody's). Locals that work() changes and that are read after a
 * failure must be volatile or live in a struct, as setjmp asks. */
struct mem_guard {
    void (*clean)(void *of);
    void *of;
    struct mem_guard *outer;
};

struct mem_boundary {
    jmp_buf jump;
    struct mem_boundary *outer;
    struct mem_guard *guards; /* newest first */
    struct mem_ledger *ledger;
    size_t asked;
    bool failed;
};

void mem_boundary_enter(struct mem_boundary *b, struct mem_ledger *ledger);
void mem_boundary_leave(struct mem_boundary *b);
/* The three in one: true when work(of) came to its end. False: `*asked` bytes were not there. */
bool mem_try(struct mem_ledger *ledger, void (*work)(void *of), void *of, size_t *asked);
/* The account of this thread, for a thread that is to work on it too; NULL: none. The other thread
 * enters a boundary with it, and the owner closes the ledger only after that thread was joined. */
struct mem_ledger *mem_boundary_ledger(void);

/* This thread works for others for a while, from inside its boundaries: as if it had none, until it steps in again with
 * what it was given. */
struct mem_boundary *mem_boundary_step_out(void);
void mem_boundary_step_in(struct mem_boundary *b);

/* What a jump would lose besides blocks (a descriptor, a parser of another library, a lock): call
 * `clean(of)` when the work fails between these two calls. `g` lives in the caller's frame, or in a
 * block of what it guards, on the thread that entered it; the two calls stand in one boundary.
 * Nothing happens on threads without one. */
void mem_guard_enter(struct mem_guard *g, void (*clean)(void *of), void *of);
void mem_guard_leave(struct mem_guard *g);

/* ---- for tests ---- */
/* The nth allocation from now that is made inside a boundary, by any thread, fails (1: the next;
 * 0: none). Returns how many were still to go: 0 when the failure has happened. */
long mem_test_fail(long nth);
