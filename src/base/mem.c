/* Allocation that never returns NULL, and the ledgers that make running out an error of one call.
 *
 * The blocks of all open ledgers stand in one hash table of (address, ledger), in shards with a
 * lock each, so that a block may be freed by another thread than the one that allocated it. Open
 * addressing, at most half full, deletion by moving entries back (Knuth 6.4, algorithm R).
 *
 * I1. A block is taken out of the table before it is given back to malloc: another thread may get
 *     the same address at once and enter it again.
 * I2. An entry whose ledger is closed means nothing. Closing is therefore O(1); such entries are
 *     overwritten when their address comes back, and dropped when a shard grows.
 * I3. Ids of ledgers are never used twice (64 bits).
 * I4. A thread that holds a shard's lock may take the lock of the open ledgers, never the reverse.
 * I5. Guards run before the jump, while the frames they belong to still exist.
 *
 * The table keeps complements of addresses, so that a leak checker does not take a lost block for
 * one that somebody still knows. */
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#undef free

enum {
    SHARDS = 64,          /* more than the threads that allocate at once on any machine of ours */
    FIRST_CAPACITY = 64,  /* of a shard: a kilobyte, so that short calls do not grow it */
    KEEP_CAPACITY = 4096, /* a shard larger than this is given back when no ledger is open */
    LARGE = 4 << 20, /* bytes from which on a block asks for large pages: its rest costs little */
    PAGE = 4096,
};

struct mem_entry {
    uintptr_t hidden; /* ~address; 0: free */
    uint64_t ledger;
};

struct mem_shard {
    pthread_mutex_t lock;
    struct mem_entry *at;
    size_t capacity, used; /* capacity: a power of two or 0 */
} __attribute__((aligned(64)));

static struct mem_shard mem_shards[SHARDS] = {
    [0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static pthread_mutex_t mem_ledgers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mem_ledger *mem_ledgers; /* the open ones */
static uint64_t mem_last_id;
static atomic_uint mem_open;      /* how many; read without the lock by mem_free */
static atomic_long mem_countdown; /* of mem_test_fail */

/* Initial-exec: a load relative to the thread pointer also in the shared library. 8 bytes of the
 * space that the dynamic linker reserves for this. */
static _Thread_local struct mem_boundary *mem_here __attribute__((tls_model("initial-exec")));

/* ---- the table ---- */

static uint64_t mem_hash(uintptr_t hidden)
{
    /* malloc's addresses differ from bit 4 up; the upper half of a product mixes them all. */
    return (uint64_t)hidden * 0x9E3779B97F4A7C15ull;
}

static struct mem_shard *mem_shard_of(uintptr_t hidden)
{
    return &mem_shards[mem_hash(hidden) >> 58]; /* the 6 highest bits: SHARDS is 2^6 */
}

static size_t mem_slot_of(const struct mem_shard *s, uintptr_t hidden)
{
    return (size_t)(mem_hash(hidden) >> 20) & (s->capacity - 1);
}

static struct mem_entry *mem_entry_find(const struct mem_shard *s, uintptr_t hidden)
{
    if (!s->capacity)
        return NULL;
    for (size_t i = mem_slot_of(s, hidden);; i = (i + 1) & (s->capacity - 1)) {
        if (s->at[i].hidden == hidden)
            return &s->at[i];
        if (!s->at[i].hidden)
            return NULL;
    }
}

/* The slot must exist: there is always a free one, because the table is at most half full. */
static void mem_entry_put(struct mem_shard *s, uintptr_t hidden, uint64_t ledger)
{
    size_t i = mem_slot_of(s, hidden);
    while (s->at[i].hidden && s->at[i].hidden != hidden)
        i = (i + 1) & (s->capacity - 1);
    s->used += !s->at[i].hidden;
    s->at[i] = (struct mem_entry){hidden, ledger};
}

static void mem_entry_delete(struct mem_shard *s, struct mem_entry *e)
{
    size_t hole = (size_t)(e - s->at), mask = s->capacity - 1;
    for (size_t i = (hole + 1) & mask; s->at[i].hidden; i = (i + 1) & mask) {
        size_t home = mem_slot_of(s, s->at[i].hidden);
        /* An entry moves back unless its home lies behind the hole, up to where it stands. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            s->at[hole] = s->at[i];
            hole = i;
        }
    }
    s->at[hole].hidden = 0;
    s->used--;
}

static bool mem_ledger_is_open(uint64_t id)
{
    bool found = false;
    pthread_mutex_lock(&mem_ledgers_lock);
    for (const struct mem_ledger *l = mem_ledgers; l && !found; l = l->next)
        found = l->id == id;
    pthread_mutex_unlock(&mem_ledgers_lock);
    return found;
}

/* Does this entry still mean anything (I2)? `known` remembers the last ledger that was found open:
 * neighbours mostly belong to one. */
static bool mem_entry_lives(const struct mem_entry *e, uint64_t *known)
{
    if (!e->hidden)
        return false;
    if (e->ledger != *known && !mem_ledger_is_open(e->ledger))
        return false;
    *known = e->ledger;
    return true;
}

/* Room for one more. False: no memory for the table itself, which is as it was. */
static bool mem_shard_reserve(struct mem_shard *s)
{
    if (2 * (s->used + 1) <= s->capacity)
        return true;
    struct mem_entry *old = s->at;
    size_t before = s->capacity, live = 0, capacity = FIRST_CAPACITY;
    uint64_t known = 0;
    for (size_t i = 0; i < before; i++)
        live += mem_entry_lives(&old[i], &known);
    while (capacity < 4 * (live + 1))
        capacity *= 2;
    struct mem_entry *at = calloc(capacity, sizeof *at);
    if (!at)
        return false;
    s->at = at;
    s->capacity = capacity;
    s->used = 0;
    for (size_t i = 0; i < before; i++) /* a ledger that opens meanwhile has a new id: none here */
        if (mem_entry_lives(&old[i], &known))
            mem_entry_put(s, old[i].hidden, old[i].ledger);
    free(old);
    return true;
}

/* Enter a block on a ledger's account; false: no memory for the entry. */
static bool mem_ledger_enter(void *block, uint64_t ledger)
{
    uintptr_t hidden = ~(uintptr_t)block;
    struct mem_shard *s = mem_shard_of(hidden);
    pthread_mutex_lock(&s->lock);
    bool good = mem_shard_reserve(s);
    if (good)
        mem_entry_put(s, hidden, ledger);
    pthread_mutex_unlock(&s->lock);
    return good;
}

/* Take a block off whatever account it is on; that ledger's id, 0 when it was on none. */
static uint64_t mem_ledger_strike(const void *block)
{
    uintptr_t hidden = ~(uintptr_t)block;
    struct mem_shard *s = mem_shard_of(hidden);
    uint64_t ledger = 0;
    pthread_mutex_lock(&s->lock);
    struct mem_entry *e = mem_entry_find(s, hidden);
    if (e) {
        ledger = e->ledger;
        mem_entry_delete(s, e);
    }
    pthread_mutex_unlock(&s->lock);
    return ledger;
}

/* ---- ledgers ---- */

void mem_ledger_open(struct mem_ledger *l)
{
    pthread_mutex_lock(&mem_ledgers_lock);
    *l = (struct mem_ledger){.id = ++mem_last_id, .next = mem_ledgers};
    if (mem_ledgers)
        mem_ledgers->previous = l;
    mem_ledgers = l;
    atomic_fetch_add(&mem_open, 1);
    pthread_mutex_unlock(&mem_ledgers_lock);
}

/* No ledger is open: no entry means anything. Large shards are given back, small ones are kept for
 * the next call. */
static void mem_shards_trim(void)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct mem_shard *s = &mem_shards[i];
        pthread_mutex_lock(&s->lock);
        if (s->capacity > KEEP_CAPACITY && !atomic_load(&mem_open)) {
            free(s->at);
            s->at = NULL;
            s->capacity = s->used = 0;
        }
        pthread_mutex_unlock(&s->lock);
    }
}

void mem_ledger_keep(struct mem_ledger *l)
{
    if (!l->id)
        return;
    pthread_mutex_lock(&mem_ledgers_lock);
    if (l->previous)
        l->previous->next = l->next;
    else
        mem_ledgers = l->next;
    if (l->next)
        l->next->previous = l->previous;
    bool last = atomic_fetch_sub(&mem_open, 1) == 1;
    pthread_mutex_unlock(&mem_ledgers_lock);
    l->id = 0;
    /* Without the lock: the size of a neighbouring shard at some moment tells enough. All shards
     * grow alike, because the hash spreads addresses evenly. */
    if (last && __atomic_load_n(&mem_shards[0].capacity, __ATOMIC_RELAXED) > KEEP_CAPACITY)
        mem_shards_trim();
}

void mem_ledger_release(struct mem_ledger *l)
{
    for (size_t i = 0; l->id && i < SHARDS; i++) {
        struct mem_shard *s = &mem_shards[i];
        pthread_mutex_lock(&s->lock);
        for (size_t k = 0; k < s->capacity;) {
            if (s->at[k].hidden && s->at[k].ledger == l->id) {
                void *block = (void *)~s->at[k].hidden;
                mem_entry_delete(s, &s->at[k]); /* I1; may move another entry here: look again */
                free(block);
            } else {
                k++;
            }
        }
        pthread_mutex_unlock(&s->lock);
    }
    mem_ledger_keep(l);
}

/* ---- boundaries ---- */

void mem_boundary_enter(struct mem_boundary *b, struct mem_ledger *ledger)
{
    b->outer = mem_here;
    b->guards = NULL;
    b->ledger = ledger ? ledger : mem_here ? mem_here->ledger : NULL;
    b->asked = 0;
    b->failed = false;
    mem_here = b;
}

void mem_boundary_leave(struct mem_boundary *b)
{
    mem_here = b->outer;
}

bool mem_try(struct mem_ledger *ledger, void (*work)(void *of), void *of, size_t *asked)
{
    struct mem_boundary b;
    mem_boundary_enter(&b, ledger);
    if (setjmp(b.jump) == 0)
        work(of);
    mem_boundary_leave(&b);
    *asked = b.asked;
    return !b.failed;
}

struct mem_ledger *mem_boundary_ledger(void)
{
    return mem_here ? mem_here->ledger : NULL;
}

struct mem_boundary *mem_boundary_step_out(void)
{
    struct mem_boundary *here = mem_here;
    mem_here = NULL;
    return here;
}

void mem_boundary_step_in(struct mem_boundary *b)
{
    mem_here = b;
}

void mem_guard_enter(struct mem_guard *g, void (*clean)(void *of), void *of)
{
    *g = (struct mem_guard){clean, of, mem_here ? mem_here->guards : NULL};
    if (mem_here)
        mem_here->guards = g;
}

void mem_guard_leave(struct mem_guard *g)
{
    /* Nearly always the newest one of the innermost boundary. */
    for (struct mem_boundary *b = mem_here; b; b = b->outer)
        for (struct mem_guard **at = &b->guards; *at; at = &(*at)->outer)
            if (*at == g) {
                *at = g->outer;
                return;
            }
}

void mem_fail(size_t size)
{
    struct mem_boundary *b = mem_here;
    if (!b) {
        fprintf(stderr, "weft: out of memory (asked for %zu bytes)\n", size);
        exit(1);
    }
    b->failed = true;
    b->asked = size;
    while (b->guards) {
        struct mem_guard *g = b->guards;
        b->guards = g->outer; /* first: a guard that fails itself does not run twice */
        g->clean(g->of);
    }
    longjmp(b->jump, 1);
}

long mem_test_fail(long nth)
{
    return atomic_exchange(&mem_countdown, nth);
}

/* Is it this allocation's turn to fail? */
static bool mem_test_fails(void)
{
    return __builtin_expect(atomic_load_explicit(&mem_countdown, memory_order_relaxed) > 0, 0) &&
           atomic_fetch_sub(&mem_countdown, 1) == 1;
}

/* ---- allocation ---- */

/* Arrays of millions of tasks stand on large pages where the system has them: a walk through a gigabyte in
 * no order misses the processor's table of pages at each step otherwise, and each small page is a fault when
 * it is first touched. A system that refuses changes nothing. */
static void mem_use_large_pages(void *block, size_t size)
{
    uintptr_t first = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)block + size) & ~(uintptr_t)(PAGE - 1);
    if (end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* What malloc gave for `size`, on this thread's account. */
static void *mem_account(void *block, size_t size)
{
    if (!block)
        mem_fail(size);
    if (__builtin_expect(size >= LARGE, 0))
        mem_use_large_pages(block, size);
    if (__builtin_expect(!mem_here || !mem_here->ledger, 1))
        return block;
    if (!mem_ledger_enter(block, mem_here->ledger->id)) {
        free(block);
        mem_fail(size);
    }
    return block;
}

static size_t mem_product(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_fail(SIZE_MAX);
    return bytes ? bytes : 1;
}

void *mem_alloc(size_t size)
{
    if (mem_here && mem_test_fails())
        mem_fail(size);
    return mem_account(malloc(size ? size : 1), size);
}

void *mem_zero(size_t size)
{
    if (mem_here && mem_test_fails())
        mem_fail(size);
    return mem_account(calloc(1, size ? size : 1), size);
}

void *mem_grow(void *old, size_t size)
{
    if (mem_here && mem_test_fails())
        mem_fail(size);
    if (!old)
        return mem_account(malloc(size ? size : 1), size);
    uint64_t ledger = 0;
    if (__builtin_expect(atomic_load_explicit(&mem_open, memory_order_relaxed), 0))
        ledger = mem_ledger_strike(old);
    void *block = realloc(old, size ? size : 1);
    /* An entry was just struck, so that its shard has room to put it back. A block that moved may
     * meet a full shard; then nobody would give it back, and it goes at once. */
    if (!block) {
        if (ledger)
            mem_ledger_enter(old, ledger);
        mem_fail(size);
    }
    if (__builtin_expect(size >= LARGE, 0))
        mem_use_large_pages(block, size);
    if (ledger && !mem_ledger_enter(block, ledger)) {
        free(block);
        mem_fail(size);
    }
    return block;
}

void mem_free(void *block)
{
    if (block && __builtin_expect(atomic_load_explicit(&mem_open, memory_order_relaxed), 0))
        mem_ledger_strike(block);
    free(block);
}

void *mem_array(size_t count, size_t size)
{
    return mem_alloc(mem_product(count, size));
}

void *mem_array_zero(size_t count, size_t size)
{
    return mem_zero(mem_product(count, size));
}

void *mem_grow_array(void *old, size_t count, size_t size)
{
    return mem_grow(old, mem_product(count, size));
}

char *mem_copy_bytes(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len)
        memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

char *mem_copy_string(const char *text)
{
    return mem_copy_bytes(text, strlen(text));
}
