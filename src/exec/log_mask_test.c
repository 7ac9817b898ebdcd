/* Secrets in logs, against a text that is masked by hand: also where one stands across the pieces in
 * which the file is read, and where the descriptor appends. */
#include "exec/log_mask.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void by_hand(char *text, size_t n, const char *value)
{
    size_t length = strlen(value);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(text + i, value, length) == 0) {
            memset(text + i, '*', length);
            i += length - 1;
        }
}

static void mask_test(const char *what, char *text, size_t n, const char *const *values)
{
    char path[] = "/tmp/weft-mask-XXXXXX";
    int fd = mkostemp(path, O_APPEND | O_CLOEXEC);
    char *found = mem_new(char, n + 1);
    if (!ok(fd >= 0 && write(fd, text, n) == (ssize_t)n, "%s: a log", what))
        return;
    unlink(path);
    ok(log_mask(fd, values), "%s: is gone through", what);
    for (const char *const *v = values; *v; v++)
        if (strlen(*v) >= LOG_MASK_LEAST)
            by_hand(text, n, *v);
    ok(pread(fd, found, n + 1, 0) == (ssize_t)n && memcmp(found, text, n) == 0,
       "%s: nothing else is changed", what);
    close(fd);
    free(found);
}

int main(void)
{
    char small[] = "token: opensesame, opensesameopensesame, opensesam; abc\n";
    mask_test("a small one", small, sizeof small - 1,
              (const char *const[]){"opensesame", "abc", NULL});
    char none[] = "";
    mask_test("an empty one", none, 0, (const char *const[]){"opensesame", NULL});
    size_t n = 1 << 20;
    char *large = mem_new(char, n);
    struct rng r;
    rng_seed(&r, 3);
    for (size_t i = 0; i < n; i++)
        large[i] = (char)('a' + rng_below(&r, 3));
    /* short enough to stand everywhere, and on every border */
    mask_test("a large one", large, n, (const char *const[]){"abcab", "ccccc", NULL});
    for (size_t i = 0; i < n; i++)
        large[i] = 'x';
    for (size_t i = 262144 - 5; i + 10 < n; i += 262144 - 9)
        memcpy(large + i, "opensesame", 10);
    mask_test("borders", large, n, (const char *const[]){"opensesame", NULL});
    free(large);
    return tap_done();
}
