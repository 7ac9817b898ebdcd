/* "Did you mean ...?": the nearest of a list of words, by the number of slips of the fingers
 * between them. O(words x length^2), for error texts only. */
#include "base/suggest.h"

#include <string.h>

#define LONGEST 64

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b; words longer than LONGEST
 * count as far. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return LONGEST;
    size_t d[3][LONGEST];
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return d[n % 3][m];
}

const char *suggest_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    /* one slip for every three letters; further away a suggestion would puzzle */
    size_t limit = strlen(word) / 3 + 1, best_distance = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = edit_distance(word, candidates[i]);
        if (d < best_distance && d < strlen(candidates[i])) {
            best = candidates[i];
            best_distance = d;
        }
    }
    return best;
}
