/* Edge detection on grey images (PGM, 8 bits): the filters of the experiment in this folder.
 *
 *     edges draw a|b IMAGE TRUTH      draw a test image and the map of its true edges
 *     edges gauss SIGMA IN OUT        smooth
 *     edges sobel IN OUT              strength of the gradient: a full step of n levels gives n
 *     edges prewitt IN OUT
 *     edges canny LOW HIGH IN OUT     thin edges (0 or 255): non-maximum suppression, hysteresis;
 *                                     LOW and HIGH are strengths as sobel has them
 *     edges compare IN TRUTH          precision, recall, F1 and Pratt's figure of merit
 *     edges show IN                   the image as text
 *
 * Everything is deterministic. Borders are continued outwards by their last pixel. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 26 };

struct image {
    int width, height;
    float *at;
};

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "edges: %s%s%s\n", what, *detail ? ": " : "", detail);
    exit(2);
}

static struct image image_new(int width, int height)
{
    struct image m = {width, height, calloc((size_t)width * (size_t)height, sizeof(float))};
    if (!m.at)
        fail("out of memory", "");
    return m;
}

/* The nearest pixel that is there. */
static float pixel(const struct image *m, int x, int y)
{
    x = x < 0 ? 0 : x >= m->width ? m->width - 1 : x;
    y = y < 0 ? 0 : y >= m->height ? m->height - 1 : y;
    return m->at[(size_t)y * (size_t)m->width + (size_t)x];
}

static float *place(struct image *m, int x, int y)
{
    return &m->at[(size_t)y * (size_t)m->width + (size_t)x];
}

/* ---- files ---- */

/* The next number of a PGM's head; '#' begins a remark. */
static int head_number(FILE *f, const char *path)
{
    int c = getc(f), n = 0, digits = 0;
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#') {
        while (c == '#' && c != '\n' && c != EOF)
            do
                c = getc(f);
            while (c != '\n' && c != EOF);
        c = getc(f);
    }
    for (; c >= '0' && c <= '9' && n < MOST_PIXELS; c = getc(f), digits++)
        n = 10 * n + (c - '0');
    if (!digits)
        fail("not a PGM file", path);
    return n;
}

static struct image read_pgm(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail("cannot open", path);
    int p = getc(f), kind = getc(f);
    if (p != 'P' || (kind != '2' && kind != '5'))
        fail("not a PGM file (P2 or P5)", path);
    int width = head_number(f, path), height = head_number(f, path), most = head_number(f, path);
    if (width < 1 || height < 1 || most < 1 || most > 255 || width > MOST_PIXELS / height)
        fail("a PGM file of 8 bits is expected", path);
    struct image m = image_new(width, height);
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++) {
        int v = kind == '5' ? getc(f) : head_number(f, path);
        if (v == EOF)
            fail("cut off", path);
        m.at[i] = (float)v * 255 / (float)most;
    }
    fclose(f);
    return m;
}

static void write_pgm(const struct image *m, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        fail("cannot write", path);
    fprintf(f, "P5\n%d %d\n255\n", m->width, m->height);
    for (size_t i = 0; i < (size_t)m->width * (size_t)m->height; i++) {
        float v = m->at[i] < 0 ? 0 : m->at[i] > 255 ? 255 : m->at[i];
        putc((int)lrintf(v), f);
    }
    if (fclose(f) != 0)
        fail("cannot write", path);
}

/* ---- test images ---- */

static uint32_t draw_state;

static float random_unit(void)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 17;
    draw_state ^= draw_state << 5;
    return (float)(draw_state >> 8) / (1 << 24);
}

/* Region a: a river that winds from left to right, and a lake. */
static float region_a(int x, int y, int size)
{
    float u = (float)x / (float)size, v = (float)y / (float)size;
    float middle = 0.35f + 0.12f * sinf(9 * u), dx = u - 0.68f, dy = v - 0.72f;
    if (fabsf(v - middle) < 0.05f)
        return 60;
    return dx * dx + 1.6f * dy * dy < 0.022f ? 40 : 150;
}

/* Region b: fields in different shades, cut by a road. */
static float region_b(int x, int y, int size)
{
    float u = (float)x / (float)size, v = (float)y / (float)size;
    if (fabsf(u - 0.4f * v - 0.35f) < 0.03f)
        return 220;
    if (u > 0.62f)
        return v > 0.55f ? 70 : 120;
    return v > 0.3f && v < 0.8f && u < 0.3f ? 170 : 95;
}

static void draw(const char *which, const char *image, const char *truth)
{
    enum { SIZE = 192 };
    float (*region)(int, int, int) = which[0] == 'a' ? region_a : region_b;
    if (strcmp(which, "a") != 0 && strcmp(which, "b") != 0)
        fail("there are the regions a and b", which);
    struct image clean = image_new(SIZE, SIZE), noisy = image_new(SIZE, SIZE),
                 edge = image_new(SIZE, SIZE);
    draw_state = which[0] == 'a' ? 12345 : 54321;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            float noise = 0; /* of a bell shape: twelve draws have a variance of 1 */
            for (int i = 0; i < 12; i++)
                noise += random_unit();
            *place(&clean, x, y) = region(x, y, SIZE);
            *place(&noisy, x, y) = pixel(&clean, x, y) + 8 * (noise - 6);
        }
    /* the darker side of every step, one pixel wide */
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            float v = pixel(&clean, x, y);
            if (pixel(&clean, x + 1, y) > v || pixel(&clean, x - 1, y) > v ||
                pixel(&clean, x, y + 1) > v || pixel(&clean, x, y - 1) > v)
                *place(&edge, x, y) = 255;
        }
    write_pgm(&noisy, image);
    write_pgm(&edge, truth);
    free(clean.at);
    free(noisy.at);
    free(edge.at);
}

/* ---- filters ---- */

/* Rows, then columns: a Gaussian is the product of two. */
static struct image gauss(const struct image *in, double sigma)
{
    if (!(sigma > 0 && sigma <= 50))
        fail("sigma is between 0 and 50", "");
    int reach = (int)ceil(3 * sigma);
    float *weight = malloc((size_t)(reach + 1) * sizeof *weight), sum = 0;
    if (!weight)
        fail("out of memory", "");
    for (int i = 0; i <= reach; i++) {
        weight[i] = (float)exp(-i * i / (2 * sigma * sigma));
        sum += i ? 2 * weight[i] : weight[i];
    }
    struct image rows = image_new(in->width, in->height), out = image_new(in->width, in->height);
    for (int pass = 0; pass < 2; pass++) {
        const struct image *from = pass ? &rows : in;
        struct image *to = pass ? &out : &rows;
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++) {
                float v = 0;
                for (int i = -reach; i <= reach; i++)
                    v += weight[abs(i)] * (pass ? pixel(from, x, y + i) : pixel(from, x + i, y));
                *place(to, x, y) = v / sum;
            }
    }
    free(weight);
    free(rows.at);
    return out;
}

struct gradient {
    struct image x, y, strength;
};

/* `middle` is the weight of the middle row: 2 is Sobel, 1 Prewitt. */
static struct gradient gradient(const struct image *in, float middle)
{
    struct gradient g = {image_new(in->width, in->height), image_new(in->width, in->height),
                         image_new(in->width, in->height)};
    float scale = 1 / (middle + 2);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            float gx = 0, gy = 0;
            for (int k = -1; k <= 1; k++) {
                float weight = k ? 1 : middle;
                gx += weight * (pixel(in, x + 1, y + k) - pixel(in, x - 1, y + k));
                gy += weight * (pixel(in, x + k, y + 1) - pixel(in, x + k, y - 1));
            }
            *place(&g.x, x, y) = gx * scale;
            *place(&g.y, x, y) = gy * scale;
            *place(&g.strength, x, y) = hypotf(gx, gy) * scale;
        }
    return g;
}

static void gradient_free(struct gradient *g)
{
    free(g->x.at);
    free(g->y.at);
    free(g->strength.at);
}

/* Is a pixel the strongest across its edge? Of two equal ones the first (left, upper) is. */
static int is_ridge(const struct gradient *g, int x, int y)
{
    float gx = pixel(&g->x, x, y), gy = pixel(&g->y, x, y), v = pixel(&g->strength, x, y);
    float ax = fabsf(gx), ay = fabsf(gy);
    int dx = 1, dy = 0; /* the direction of the gradient, to the nearest 45 degrees */
    if (ay > 2.4142f * ax)
        dx = 0, dy = 1;
    else if (ay > 0.4142f * ax)
        dx = gx * gy > 0 ? 1 : -1, dy = 1;
    return v > pixel(&g->strength, x - dx, y - dy) && v >= pixel(&g->strength, x + dx, y + dy);
}

static struct image canny(const struct image *in, double low, double high)
{
    if (!(low > 0 && low <= high))
        fail("expected 0 < LOW <= HIGH", "");
    struct gradient g = gradient(in, 2);
    struct image out = image_new(in->width, in->height);
    int *stack = malloc((size_t)in->width * (size_t)in->height * sizeof *stack), top = 0;
    if (!stack)
        fail("out of memory", "");
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (pixel(&g.strength, x, y) >= high && is_ridge(&g, x, y)) {
                *place(&out, x, y) = 255;
                stack[top++] = y * in->width + x;
            }
    /* hysteresis: weak ridges count where they continue strong ones */
    while (top) {
        int at = stack[--top], x0 = at % in->width, y0 = at / in->width;
        for (int y = y0 - 1; y <= y0 + 1; y++)
            for (int x = x0 - 1; x <= x0 + 1; x++)
                if (x >= 0 && y >= 0 && x < in->width && y < in->height && pixel(&out, x, y) == 0 &&
                    pixel(&g.strength, x, y) >= low && is_ridge(&g, x, y)) {
                    *place(&out, x, y) = 255;
                    stack[top++] = y * in->width + x;
                }
    }
    free(stack);
    gradient_free(&g);
    return out;
}

/* ---- judging ---- */

enum { NOWHERE = 1 << 20 };

/* Squared distance to the nearest marked pixel at most `reach` rows and columns away, or NOWHERE.
 */
static int distance(const struct image *m, float level, int x, int y, int reach)
{
    int best = NOWHERE;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++)
            if (x + dx >= 0 && y + dy >= 0 && x + dx < m->width && y + dy < m->height &&
                dx * dx + dy * dy < best && pixel(m, x + dx, y + dy) >= level)
                best = dx * dx + dy * dy;
    return best;
}

/* An edge is a pixel of at least a third of the strongest response. It is right within one pixel of
 * a true edge; Pratt's figure weighs distances (up to 10 pixels) with 1 / (1 + d^2 / 9). */
static void compare(const struct image *in, const struct image *truth)
{
    enum { REACH = 10 };
    if (in->width != truth->width || in->height != truth->height)
        fail("the two images differ in size", "");
    float level = 0;
    long found = 0, right = 0, edges = 0, seen = 0;
    double merit = 0;
    for (size_t i = 0; i < (size_t)in->width * (size_t)in->height; i++)
        level = in->at[i] > level ? in->at[i] : level;
    level = level > 0 ? level / 3 : 1;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            if (pixel(in, x, y) >= level) {
                int d = distance(truth, 128, x, y, REACH);
                found++;
                right += d <= 2;
                merit += d <= REACH * REACH ? 1 / (1 + d / 9.0) : 0;
            }
            if (pixel(truth, x, y) >= 128) {
                edges++;
                seen += distance(in, level, x, y, 1) <= 2;
            }
        }
    double precision = found ? (double)right / (double)found : 0;
    double recall = edges ? (double)seen / (double)edges : 0;
    double sum = precision + recall;
    printf("pixels %ld\ntrue %ld\nprecision %.4f\nrecall %.4f\nf1 %.4f\nmerit %.4f\n", found, edges,
           precision, recall, sum > 0 ? 2 * precision * recall / sum : 0,
           found || edges ? merit / (double)(found > edges ? found : edges) : 0);
}

static void show(const struct image *in)
{
    enum { COLUMNS = 64 };
    int across = in->width < COLUMNS ? in->width : COLUMNS;
    int down = in->height * across / in->width / 2;
    for (int r = 0; r < (down ? down : 1); r++) {
        for (int c = 0; c < across; c++) { /* the strongest pixel of each cell: lines stay lines */
            float v = 0;
            int y0 = r * in->height / (down ? down : 1),
                y1 = (r + 1) * in->height / (down ? down : 1);
            for (int y = y0; y < y1; y++)
                for (int x = c * in->width / across; x < (c + 1) * in->width / across; x++)
                    v = pixel(in, x, y) > v ? pixel(in, x, y) : v;
            putchar(" .:-=+*#%@"[(int)(v * 9.99f / 255)]);
        }
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct image in = {0}, out = {0};
    if (strcmp(what, "draw") == 0 && argc == 5) {
        draw(argv[2], argv[3], argv[4]);
        return 0;
    }
    if (strcmp(what, "gauss") == 0 && argc == 5) {
        in = read_pgm(argv[3]);
        out = gauss(&in, strtod(argv[2], NULL));
    } else if ((strcmp(what, "sobel") == 0 || strcmp(what, "prewitt") == 0) && argc == 4) {
        in = read_pgm(argv[2]);
        struct gradient g = gradient(&in, what[0] == 's' ? 2 : 1);
        out = g.strength;
        g.strength.at = NULL;
        gradient_free(&g);
    } else if (strcmp(what, "canny") == 0 && argc == 6) {
        in = read_pgm(argv[4]);
        out = canny(&in, strtod(argv[2], NULL), strtod(argv[3], NULL));
    } else if (strcmp(what, "compare") == 0 && argc == 4) {
        in = read_pgm(argv[2]);
        struct image truth = read_pgm(argv[3]);
        compare(&in, &truth);
        free(truth.at);
    } else if (strcmp(what, "show") == 0 && argc == 3) {
        in = read_pgm(argv[2]);
        show(&in);
    } else {
        fail("expected draw, gauss, sobel, prewitt, canny, compare or show with its files", what);
    }
    if (out.at)
        write_pgm(&out, argv[argc - 1]);
    free(in.at);
    free(out.at);
    return fflush(stdout) == 0 ? 0 : 1;
}
