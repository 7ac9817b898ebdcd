/* Filters for tests of streams, and the program of a filter that stays: see main(). What they compute is
 * a hash of their name, their port and what they read, so that a test can compute the same apart. */
#include <weft/item.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mix(struct weft_item *item);
int mix_in_order(struct weft_item *item);
int mix_or_none(struct weft_item *item);
int mix_third_time(struct weft_item *item);
int mix_hands_on(struct weft_item *item);
int poisoned(struct weft_item *item);
int same(struct weft_item *item);
int give_64(struct weft_item *item);
int total(struct weft_item *item);
int total_state(struct weft_item *item);
int breaks(struct weft_item *item);
int slowly(struct weft_item *item);
int tires(struct weft_item *item);

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return hash;
}

int mix(struct weft_item *item)
{
    uint64_t hash = hash_bytes(0xcbf29ce484222325, item->name, strlen(item->name));
    for (uint32_t i = 0; i < item->nin; i++)
        hash = hash_bytes(hash, item->in[i].at, item->in[i].size);
    for (uint32_t i = 0; i < item->nout; i++) {
        uint64_t *out = item->give(item, i, sizeof *out);
        if (!out)
            return 1;
        *out = hash + i;
    }
    return 0;
}

/* A filter with state: fails unless items come one by one, in their order. Its name ends with a number. */
int mix_in_order(struct weft_item *item)
{
    static uint64_t next[1024];
    uint64_t *mine = &next[atoi(item->name + 1) % 1024];
    if (item->number == 0)
        *mine = 0;
    if (*mine != item->number)
        return 2;
    ++*mine;
    return mix(item);
}

/* Every fifth item ends here. */
int mix_or_none(struct weft_item *item)
{
    return item->number % 5 == 3 ? 0 : mix(item);
}

/* Every third item needs three tries, and leaves half a result behind each time. */
int mix_third_time(struct weft_item *item)
{
    int status = mix(item);
    return item->number % 3 == 0 && item->attempt < 3 ? 7 : status;
}

/* Hands its first input on as it is, and thinks better of it: every third item fails once after that, and
 * the others give something else. The input must be there all the time, for it and for others. */
int mix_hands_on(struct weft_item *item)
{
    if (item->pass(item, 0, 0) != 0 || item->pass(item, 0, 0) != 0)
        return 1;
    return item->number % 3 == 0 && item->attempt < 2 ? 7 : mix(item);
}

int poisoned(struct weft_item *item)
{
    return item->number % 10 == 7 ? 5 : mix(item);
}

int same(struct weft_item *item)
{
    return item->pass(item, 0, 0);
}

int give_64(struct weft_item *item)
{
    void *out = item->give(item, 0, 64);
    if (!out)
        return 1;
    memset(out, 0, 64);
    return 0;
}

/* The sum of all numbers so far, as text. Its state is one number, which a helper that comes later is given. */
static uint64_t sum;
int total(struct weft_item *item)
{
    char text[32] = "";
    memcpy(text, item->in[0].at, item->in[0].size < 31 ? item->in[0].size : 31);
    sum += strtoull(text, NULL, 10);
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)sum);
    void *out = item->give(item, 0, (size_t)n);
    if (!out)
        return 1;
    memcpy(out, text, (size_t)n);
    return 0;
}

int total_state(struct weft_item *item)
{
    if (item->nin) {
        memcpy(&sum, item->in[0].at, sizeof sum);
        return 0;
    }
    void *out = item->give(item, 0, sizeof sum);
    if (!out)
        return 1;
    memcpy(out, &sum, sizeof sum);
    return 0;
}

/* Item 12 breaks the process. */
int breaks(struct weft_item *item)
{
    if (item->number == 12)
        raise(SIGKILL);
    return item->pass(item, 0, 0);
}

int slowly(struct weft_item *item)
{
    usleep(20000);
    return item->pass(item, 0, 0);
}

/* Ten times as slow from item 100 on. */
int tires(struct weft_item *item)
{
    usleep(item->number < 100 ? 2000 : 20000);
    return item->pass(item, 0, 0);
}
