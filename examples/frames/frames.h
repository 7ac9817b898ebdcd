/* A video-like pipeline, equal for weft, a shell pipeline and oneTBB: a frame is read (a PGM becomes
 * numbers), blurred (5 x 5, binomial), its edges are found (Sobel), and it is encoded (run lengths).
 * Pictures between the filters: width and height, 4 bytes each, then a byte a point. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_WIDTH = 320, FRAMES_HEIGHT = 240, FRAMES_HEAD = 8 };

struct frames_size {
    uint32_t width, height;
};

static inline struct frames_size frames_size_of(const uint8_t *picture)
{
    struct frames_size s;
    memcpy(&s, picture, sizeof s);
    return s;
}

/* Frame `n`: a bright square that moves over a pattern, as a PGM file. Returns its length. */
static inline size_t frames_make(uint32_t n, uint8_t *out)
{
    size_t at = (size_t)sprintf((char *)out, "P5\n%d %d\n255\n", FRAMES_WIDTH, FRAMES_HEIGHT);
    uint32_t left = (n * 3) % (FRAMES_WIDTH - 40), top = (n * 2) % (FRAMES_HEIGHT - 40);
    for (uint32_t y = 0; y < FRAMES_HEIGHT; y++)
        for (uint32_t x = 0; x < FRAMES_WIDTH; x++)
            out[at++] = x >= left && x < left + 40 && y >= top && y < top + 40
                            ? 230
                            : (uint8_t)((x / 16 + y / 16) % 2 * 60);
    return at;
}
enum { FRAMES_FILE = FRAMES_WIDTH * FRAMES_HEIGHT + 32 };

/* How long a picture will be; 0: this is none. */
static inline size_t frames_read_length(const uint8_t *file, size_t n)
{
    unsigned width, height, most;
    int head = 0;
    char text[40];
    snprintf(text, sizeof text, "%.*s", (int)(n < 32 ? n : 32), (const char *)file);
    if (sscanf(text, "P5 %u %u %u%n", &width, &height, &most, &head) != 3 || most != 255 ||
        !width || !height || width > 65535 || height > 65535)
        return 0;
    size_t points = (size_t)width * height;
    return n == (size_t)head + 1 + points ? FRAMES_HEAD + points : 0;
}

static inline void frames_read(const uint8_t *file, size_t n, uint8_t *out)
{
    struct frames_size s;
    char text[40];
    snprintf(text, sizeof text, "%.*s", (int)(n < 32 ? n : 32), (const char *)file);
    sscanf(text, "P5 %u %u", &s.width, &s.height);
    size_t points = (size_t)s.width * s.height;
    memcpy(out, &s, sizeof s);
    memcpy(out + FRAMES_HEAD, file + n - points, points);
}

static inline uint8_t frames_at(const uint8_t *picture, struct frames_size s, int64_t x, int64_t y)
{
    x = x < 0 ? 0 : x >= s.width ? s.width - 1 : x;
    y = y < 0 ? 0 : y >= s.height ? s.height - 1 : y;
    return picture[FRAMES_HEAD + (size_t)y * s.width + (size_t)x];
}

static inline void frames_blur(const uint8_t *in, uint8_t *out)
{
    static const int weight[] = {1, 4, 6, 4, 1};
    struct frames_size s = frames_size_of(in);
    memcpy(out, in, FRAMES_HEAD);
    for (int64_t y = 0; y < s.height; y++)
        for (int64_t x = 0; x < s.width; x++) {
            int sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    sum += weight[dy + 2] * weight[dx + 2] * frames_at(in, s, x + dx, y + dy);
            out[FRAMES_HEAD + y * s.width + x] = (uint8_t)(sum / 256);
        }
}

static inline void frames_edges(const uint8_t *in, uint8_t *out)
{
    struct frames_size s = frames_size_of(in);
    memcpy(out, in, FRAMES_HEAD);
    for (int64_t y = 0; y < s.height; y++)
        for (int64_t x = 0; x < s.width; x++) {
            int across = 0, down = 0;
            for (int d = -1; d <= 1; d++) {
                int w = d ? 1 : 2;
                across += w * (frames_at(in, s, x + 1, y + d) - frames_at(in, s, x - 1, y + d));
                down += w * (frames_at(in, s, x + d, y + 1) - frames_at(in, s, x + d, y - 1));
            }
            int sum = abs(across) + abs(down);
            out[FRAMES_HEAD + y * s.width + x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
}

/* Pairs of a length and a value. `out` has room for twice the picture. Returns the length. */
static inline size_t frames_encode(const uint8_t *in, size_t n, uint8_t *out)
{
    size_t at = FRAMES_HEAD;
    memcpy(out, in, FRAMES_HEAD);
    for (size_t i = FRAMES_HEAD, k; i < n; i = k) {
        for (k = i + 1; k < n && k - i < 255 && in[k] == in[i]; k++)
            ;
        out[at++] = (uint8_t)(k - i);
        out[at++] = in[i];
    }
    return at;
}
