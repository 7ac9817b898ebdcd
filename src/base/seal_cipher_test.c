/* Frames of any size are the same bytes whichever library sealed them, and nothing that was changed opens.
 * The oracle for the bytes is libsodium alone; for libsodium, the example of RFC 8439 (2.8.2). */
#include "base/seal_cipher.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <sodium.h>

static const size_t sizes[] = {
    0, 1, 64, SEAL_CIPHER_LARGE - 1, SEAL_CIPHER_LARGE, 4097, 65536, 99999, 256 << 10, 1 << 20};

static void test_published(void)
{
    struct seal_cipher c = {.small_only = true};
    for (int i = 0; i < SEAL_CIPHER_KEY; i++)
        c.key[i] = (unsigned char)(0x80 + i);
    unsigned char nonce[] = {7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47};
    unsigned char said[] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
    unsigned char text[] =
        "Ladies and Gentlemen of the class of '99: If I could offer you only one "
        "tip for the future, sunscreen would be it.";
    static const unsigned char want[] = {0x1a, 0xe1, 0x0b, 0x59, 0x4f, 0x09, 0xe2, 0x6a,
                                         0x7e, 0x90, 0x2e, 0xcb, 0xd0, 0x60, 0x06, 0x91};
    unsigned char proof[SEAL_CIPHER_PROOF];
    seal_cipher_close(
        &c, &(struct seal_cipher_frame){nonce, said, sizeof said, text, sizeof text - 1, proof});
    ok(text[0] == 0xd3 && text[1] == 0x1a && memcmp(proof, want, sizeof want) == 0,
       "the example of RFC 8439");
}

static void test_same_bytes(void)
{
    struct rng r;
    rng_seed(&r, 5);
    struct seal_cipher both = {.key = "some key"}, small = {.key = "some key", .small_only = true};
    unsigned differ = 0, closed = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        unsigned char *a = mem_new(unsigned char, n + SEAL_CIPHER_PROOF);
        unsigned char *b = mem_new(unsigned char, n + SEAL_CIPHER_PROOF);
        unsigned char *plain = mem_new(unsigned char, n + 1);
        unsigned char nonce[SEAL_CIPHER_NONCE] = {(unsigned char)k}, said[4] = {1, 2, 3, 4};
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = plain[i] = (unsigned char)rng_below(&r, 256);
        struct seal_cipher_frame f = {nonce, said, sizeof said, a, n, a + n};
        struct seal_cipher_frame g = {nonce, said, sizeof said, b, n, b + n};
        seal_cipher_close(&both, &f);
        seal_cipher_close(&small, &g);
        differ += memcmp(a, b, n + SEAL_CIPHER_PROOF) != 0;
        closed += !seal_cipher_open(&both, &g) || memcmp(b, plain, n) != 0; /* the other's */
        closed += !seal_cipher_open(&small, &f) || memcmp(a, plain, n) != 0;
        free(a);
        free(b);
        free(plain);
    }
    is_int(differ, 0, "both libraries seal to the same bytes");
    is_int(closed, 0, "and each opens what the other sealed");
    ok(both.large && !small.large, "large frames are OpenSSL's");
    seal_cipher_wipe(&both);
    seal_cipher_wipe(&small);
}

/* One bit anywhere: of the text, its proof, what was said with it, the number. */
static void test_flips(void)
{
    enum { N = SEAL_CIPHER_LARGE + 100 };
    struct seal_cipher c = {.key = "some key"};
    unsigned char sealed[N + SEAL_CIPHER_PROOF], text[sizeof sealed],
        nonce[SEAL_CIPHER_NONCE] = {0};
    unsigned char said[4] = {0};
    memset(sealed, 'x', N);
    seal_cipher_close(&c,
                      &(struct seal_cipher_frame){nonce, said, sizeof said, sealed, N, sealed + N});
    struct seal_cipher_frame f = {nonce, said, sizeof said, text, N, text + N};
    unsigned opened = 0;
    for (size_t bit = 0; bit < 8 * sizeof sealed; bit += bit < 8 * N ? 37 : 1) {
        memcpy(text, sealed, sizeof text);
        text[bit / 8] ^= (unsigned char)(1 << bit % 8);
        opened += seal_cipher_open(&c, &f);
    }
    memcpy(text, sealed, sizeof text);
    said[1] = 1;
    opened += seal_cipher_open(&c, &f);
    said[1] = 0;
    memcpy(text, sealed, sizeof text);
    nonce[5] = 1;
    opened += seal_cipher_open(&c, &f);
    nonce[5] = 0;
    is_int(opened, 0, "a large frame in which one bit is wrong does not open");
    memcpy(text, sealed, sizeof text);
    ok(seal_cipher_open(&c, &f) && text[N - 1] == 'x', "and the right one does, afterwards");
    seal_cipher_wipe(&c);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    TAP_DO(test_published());
    TAP_DO(test_same_bytes());
    TAP_DO(test_flips());
    return tap_done();
}
