/* Boundaries and ledgers: what a failed allocation leaves behind. */
#include "base/array.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "tap.h"

#include <pthread.h>
#include <string.h>

static int mem_cleaned;

static void mem_count_clean(void *of)
{
    mem_cleaned += *(int *)of;
}

static void mem_work(void *of)
{
    char **kept = of;
    int one = 1;
    struct mem_guard g;
    char *a = mem_copy_string("first"), *b = mem_copy_string("second");
    mem_guard_enter(&g, mem_count_clean, &one);
    b = mem_grow(b, 100000);
    mem_free(a);
    ARRAY(int) list = {0};
    for (int i = 0; i < 1000; i++)
        array_push(&list, i);
    mem_guard_leave(&g);
    mem_free(list.at);
    *kept = b;
}

static void test_every_failure(void)
{
    size_t failures = 0;
    for (long n = 1;; n++) {
        struct mem_ledger ledger;
        char *kept = NULL;
        size_t asked;
        mem_test_fail(n);
        mem_ledger_open(&ledger);
        if (mem_try(&ledger, mem_work, &kept, &asked)) {
            mem_ledger_keep(&ledger);
            ok(mem_test_fail(0) > 0, "all was allocated");
            is_str(kept, "second", "what is kept lives on");
            mem_free(kept);
            break;
        }
        failures++;
        mem_ledger_release(&ledger);
    }
    ok(failures > 5, "each allocation failed once");
    ok(mem_cleaned == (int)failures - 2, "the guard ran when it stood");
}

static void *mem_free_elsewhere(void *block)
{
    mem_free(block);
    return NULL;
}

static void test_other_thread(void)
{
    struct mem_ledger ledger;
    struct mem_boundary b;
    mem_ledger_open(&ledger);
    mem_boundary_enter(&b, &ledger);
    if (setjmp(b.jump) == 0) {
        pthread_t thread;
        void *block = mem_alloc(100);
        mem_alloc(200);
        pthread_create(&thread, NULL, mem_free_elsewhere, block);
        pthread_join(thread, NULL);
        mem_array(SIZE_MAX, 2);
    }
    mem_boundary_leave(&b);
    ok(b.failed && b.asked == SIZE_MAX, "an overflow is memory that is not there");
    mem_ledger_release(&ledger); /* the sanitizer tells of a block freed twice, or lost */
    ok(1, "a block that another thread freed is not freed again");
}

static void test_edge(void)
{
    struct mem_ledger ledger;
    struct mem_boundary outer;
    volatile bool inner_failed = false;
    mem_ledger_open(&ledger);
    mem_boundary_enter(&outer, &ledger);
    if (setjmp(outer.jump) == 0) {
        mem_alloc(10);
        struct mem_boundary edge;
        mem_boundary_enter(&edge, NULL);
        if (setjmp(edge.jump) == 0)
            mem_fail(77);
        mem_boundary_leave(&edge);
        inner_failed = edge.failed;
        mem_fail(edge.asked);
    }
    mem_boundary_leave(&outer);
    ok(inner_failed && outer.failed && outer.asked == 77, "an edge hands the failure on");
    mem_ledger_release(&ledger);
}

static void test_many(void)
{
    struct mem_ledger ledger, other;
    struct mem_boundary b;
    mem_ledger_open(&other);
    for (int round = 0; round < 3; round++) {
        mem_ledger_open(&ledger);
        mem_boundary_enter(&b, &ledger);
        if (setjmp(b.jump) == 0) {
            for (int i = 0; i < 200000; i++) {
                char *block = mem_alloc(16);
                if (i % 3 == 0)
                    mem_free(block);
            }
            mem_fail(1);
        }
        mem_boundary_leave(&b);
        mem_ledger_release(&ledger);
    }
    mem_ledger_keep(&other);
    ok(1, "hundreds of thousands of blocks are given back");
}

int main(void)
{
    test_every_failure();
    test_other_thread();
    test_edge();
    test_many();
    return tap_done();
}
