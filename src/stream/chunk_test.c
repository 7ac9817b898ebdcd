/* Blocks of large chunks are kept for the next, and for nobody once the last holder is gone. */
#include "stream/chunk.h"
#include "tap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static void test_blocks_come_back(void)
{
    chunk_stock_hold();
    struct chunk *a = chunk_new(100000);
    memset(chunk_bytes(a), 'a', a->size);
    chunk_share(a);
    chunk_free(a);
    is_int((int)a->readers, 1, "one reader is left");
    struct chunk *b = chunk_new(100000);
    ok(b != a, "what is read is not given to another");
    chunk_free(a);
    struct chunk *c = chunk_new(99000);
    ok(c == a, "what nobody reads is, if it is about as large");
    is_int((int)c->size, 99000, "and it is as long as was asked for");
    is_int((int)c->readers, 1, "with one reader");
    struct chunk *d = chunk_new(20000);
    ok(d != b && d != c, "a much smaller one is another");
    chunk_free(b);
    chunk_free(c);
    chunk_free(d);
    chunk_stock_release(); /* what stayed would be a leak, which asan tells */
}

/* Every size has room for its last byte: asan looks on. */
static void test_sizes(void)
{
    static const size_t about[] = {0,       16,      4096,    5120,     8192,
                                   1 << 16, 1 << 20, 5 << 20, 64 << 20, 80 << 20};
    bool aligned = true, long_enough = true;
    chunk_stock_hold();
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof about / sizeof *about; i++)
            for (size_t size = about[i] ? about[i] - 1 : 0; size <= about[i] + 1; size++) {
                struct chunk *p = chunk_new(size);
                char *bytes = chunk_bytes(p);
                if (size)
                    bytes[0] = bytes[size - 1] = 1;
                aligned &= (uintptr_t)bytes % (size >= 4096 ? 64 : 16) == 0;
                long_enough &= p->size == size;
                chunk_free(p);
            }
    chunk_stock_release();
    ok(aligned, "large ones are aligned to a line of the cache");
    ok(long_enough, "all are as long as was asked for");
    ok(!chunk_new(SIZE_MAX), "what no memory holds is NULL");
}

/* ---- threads ---- */

enum { HANDED = 64, ROUNDS = 20000 };
static struct chunk *_Atomic handed[HANDED];
static atomic_uint chunk_strange;

/* Takes what another has left, looks whether it was let alone, leaves one of its own. */
static void *chunk_swapper(void *seed)
{
    uint64_t x = (uintptr_t)seed;
    chunk_stock_hold();
    for (int i = 0; i < ROUNDS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        size_t size = 4096 + (x >> 50);
        struct chunk *p = chunk_new(size);
        char *bytes = chunk_bytes(p);
        bytes[0] = bytes[size - 1] = (char)size;
        p = atomic_exchange(&handed[(x >> 33) % HANDED], p);
        if (!p)
            continue;
        bytes = chunk_bytes(p);
        if (bytes[0] != (char)p->size || bytes[p->size - 1] != (char)p->size)
            atomic_fetch_add(&chunk_strange, 1);
        chunk_free(p);
    }
    chunk_stock_release();
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, chunk_swapper, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < HANDED; i++)
        chunk_free(handed[i]);
    is_int((int)chunk_strange, 0, "no block is given to two");
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_blocks_come_back), TAP_CASE(test_sizes),
                                            TAP_CASE(test_threads)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
