/* The four filters of frames.h, twice: as functions of a stream in memory,
 *
 *     cc -O2 -shared -fPIC -o frames.so frames.c
 *
 * and as a program, each filter a command that stays and takes items as frames (docs/streams.md),
 *
 *     cc -O2 -DFRAMES_PROGRAM -o frames frames.c
 *     ./frames make 2000 | ./frames read | ./frames blur | ./frames edges | ./frames encode > out
 *
 * weft/item.h is in the folder that `pkg-config --cflags weft` names. */
#include "frames.h"

#ifndef FRAMES_PROGRAM
#include <weft/item.h>

#define FILTER __attribute__((visibility("default")))
FILTER int frame_read(struct weft_item *item);
FILTER int frame_blur(struct weft_item *item);
FILTER int frame_edges(struct weft_item *item);
FILTER int frame_encode(struct weft_item *item);

int frame_read(struct weft_item *item)
{
    size_t n = frames_read_length(item->in[0].at, item->in[0].size);
    uint8_t *out = n ? item->give(item, 0, n) : NULL;
    if (out)
        frames_read(item->in[0].at, item->in[0].size, out);
    return out ? 0 : 1;
}

int frame_blur(struct weft_item *item)
{
    uint8_t *out = item->give(item, 0, item->in[0].size);
    if (out)
        frames_blur(item->in[0].at, out);
    return out ? 0 : 1;
}

int frame_edges(struct weft_item *item)
{
    uint8_t *out = item->give(item, 0, item->in[0].size);
    if (out)
        frames_edges(item->in[0].at, out);
    return out ? 0 : 1;
}

/* How long it will be is known afterwards: it is made elsewhere and copied. */
int frame_encode(struct weft_item *item)
{
    uint8_t *room = malloc(2 * item->in[0].size);
    if (!room)
        return 1;
    size_t n = frames_encode(item->in[0].at, item->in[0].size, room);
    uint8_t *out = item->give(item, 0, n);
    if (out)
        memcpy(out, room, n);
    free(room);
    return out ? 0 : 1;
}
#else

static void write_frame(uint64_t number, const uint8_t *at, uint64_t n)
{
    uint64_t head[2] = {n, number};
    fwrite(head, sizeof head, 1, stdout);
    fwrite(at, 1, n, stdout);
}

/* The length of what is in `out`; 0: it is no picture. */
static size_t apply(const char *what, const uint8_t *in, size_t n, uint8_t *out)
{
    if (strcmp(what, "read") == 0) {
        size_t length = frames_read_length(in, n);
        if (length)
            frames_read(in, n, out);
        return length;
    }
    if (n < FRAMES_HEAD)
        return 0;
    if (strcmp(what, "encode") == 0)
        return frames_encode(in, n, out);
    (strcmp(what, "blur") == 0 ? frames_blur : frames_edges)(in, out);
    return n;
}

int main(int argc, char **argv)
{
    static uint8_t in[4 * FRAMES_FILE], out[8 * FRAMES_FILE];
    uint64_t head[2];
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        for (uint32_t i = 0; i < (uint32_t)atoi(argv[2]); i++)
            write_frame(i, in, frames_make(i, in));
        return 0;
    }
    if (argc != 2)
        return 2;
    while (fread(head, sizeof head, 1, stdin) == 1) {
        if (head[0] > sizeof in || fread(in, 1, head[0], stdin) != head[0])
            return 1;
        size_t n = apply(argv[1], in, head[0], out);
        if (!n)
            return 1;
        write_frame(head[1], out, n);
        fflush(stdout);
    }
    return 0;
}
#endif
