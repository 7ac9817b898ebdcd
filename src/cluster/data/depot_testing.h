/* Depots in one process, over real links on the loopback device, for the tests of depots. */
#pragma once
#include "cluster/data/depot.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/rng.h"
#include "cluster/wire/protocol.h"
#include "drive/testing.h"
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OBJECTS = 128, RUN = 7, BIG = 120, PROGRAM = 1, TREE = 2, ABSOLUTE = 3, OUTSIDE = 4 };

struct place {
    struct links *links;
    struct depot *depot;
    struct memo *memo;
    struct bench_folder folder;
    char partial[128];
    const char *name;
    struct link *last; /* accepted or opened last */
    /* what happened */
    unsigned arrived, failed, asked_to_make, lost, violations, served, peak, closed;
    uint32_t order[512]; /* in which they arrived */
    char why[1600];
    bool makes, makes_at_once;
    double cut_after; /* close the link once so many bytes came; 0: never */
    bool deaf;        /* ignores what comes */
};

static uv_loop_t loop;
static struct seal_key key;
static struct workflow *flow;
static struct place a, b, c;

static inline void put_file(struct place *p, uint32_t object, const void *data, size_t n);

static inline void on_open(void *context, struct link *l)
{
    ((struct place *)context)->last = l;
}

static inline void on_message(void *context, struct link *l, uint8_t kind, const void *data,
                              size_t n)
{
    struct place *p = context;
    if (p->deaf)
        return;
    if (!depot_message(p->depot, l, kind, data, n)) {
        p->violations++;
        link_close(l, "malformed");
        return;
    }
    struct depot_counts now = depot_counts(p->depot);
    p->peak = now.under_way > p->peak ? now.under_way : p->peak;
    if (p->cut_after > 0 && now.fetched_bytes >= p->cut_after) {
        p->cut_after = 0;
        link_close(l, "cut");
    }
}

static inline void on_closed(void *context, struct link *l, const char *why)
{
    struct place *p = context;
    (void)why;
    p->closed++;
    if (p->last == l)
        p->last = NULL;
    depot_closed(p->depot, l);
}

static inline void on_drained(void *context, struct link *l)
{
    depot_drained(((struct place *)context)->depot, l);
}

static inline void on_arrived(void *context, uint32_t object, bool good, const char *why)
{
    struct place *p = context;
    if (p->arrived < 512)
        p->order[p->arrived] = object;
    p->arrived += good;
    p->failed += !good;
    snprintf(p->why, sizeof p->why, "%s", why);
}

static inline bool on_make(void *context, uint32_t object)
{
    struct place *p = context;
    p->asked_to_make++;
    if (p->makes_at_once)
        put_file(p, object, "at once", 7);
    return p->makes;
}

static inline void on_lost(void *context, uint32_t object, const char *why)
{
    struct place *p = context;
    (void)object;
    p->lost++;
    snprintf(p->why, sizeof p->why, "%s", why);
}

static inline void on_served(void *context, uint32_t object, double bytes)
{
    (void)object;
    (void)bytes;
    ((struct place *)context)->served++;
}

static inline void depot_open(struct place *p)
{
    p->depot = depot_new(&(struct depot_config){.workflow = flow,
                                                .run = RUN,
                                                .folder = p->folder.path,
                                                .partial = p->partial,
                                                .memo = p->memo,
                                                .most = 3,
                                                .loop = &loop,
                                                .arrived = on_arrived,
                                                .make = on_make,
                                                .lost = on_lost,
                                                .served = on_served,
                                                .context = p});
}

static inline void place_open(struct place *p, const char *hello)
{
    struct error err = {0};
    *p = (struct place){.folder = folder_make(), .name = hello};
    snprintf(p->partial, sizeof p->partial, "%s/.weft/partial", p->folder.path);
    p->memo = memo_open(NULL, NULL, &err);
    depot_open(p);
    p->links = links_new(&(struct links_config){.loop = &loop,
                                                .key = key,
                                                .bind = "127.0.0.1:0",
                                                .self = hello,
                                                .open = on_open,
                                                .message = on_message,
                                                .closed = on_closed,
                                                .drained = on_drained,
                                                .context = p},
                         &err);
    if (!p->links) {
        printf("# %s\n", err.text);
        exit(1);
    }
}

static inline void turn(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        poll(NULL, 0, 1);
    }
}

/* Turn the loop until so many fetches have ended at this place. */
static inline bool until(struct place *p, unsigned ended)
{
    double end = clock_seconds() + 60;
    while (p->arrived + p->failed < ended && clock_seconds() < end) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    return p->arrived + p->failed >= ended;
}

static inline void until_closed(struct place *p, unsigned closed)
{
    double end = clock_seconds() + 20;
    while (p->closed < closed && clock_seconds() < end)
        uv_run(&loop, UV_RUN_ONCE);
}

static inline struct link *call(struct place *from, struct place *to)
{
    from->last = to->last = NULL;
    struct link *l = link_connect(from->links, links_address(to->links), to->name);
    double end = clock_seconds() + 10;
    while ((!from->last || !to->last) && clock_seconds() < end)
        uv_run(&loop, UV_RUN_ONCE);
    return l;
}

static inline void count_anew(struct place *p)
{
    p->arrived = p->failed = p->lost = p->violations = p->served = p->peak = p->closed = 0;
    p->asked_to_make = 0;
    p->why[0] = 0;
}

static inline const char *name_of(uint32_t object)
{
    return workflow_text(flow, flow->object_name[object]);
}

static inline const char *file_of(const struct place *p, uint32_t object)
{
    return folder_file(&p->folder, name_of(object));
}

/* It stands there, and the depot knows it. */
static inline void stands(struct place *p, uint32_t object)
{
    struct digest digest;
    double bytes;
    struct error err = {0};
    if (!memo_digest(p->memo, file_of(p, object), true, &digest, &bytes, &err))
        abort();
    depot_added(p->depot, object, &digest, bytes);
}

static inline void put_file(struct place *p, uint32_t object, const void *data, size_t n)
{
    struct error err = {0};
    make_parents(file_of(p, object), &err);
    file_write(file_of(p, object), data, n, &err);
    stands(p, object);
}

static inline void drop_all(struct place *p)
{
    for (uint32_t o = 0; o < OBJECTS; o++)
        if (o != ABSOLUTE && o != OUTSIDE)
            depot_drop(p->depot, o);
}

static inline bool same_files(const char *one, const char *two)
{
    struct text x = {0}, y = {0};
    struct error err = {0};
    bool same = file_read(one, &x, &err) && file_read(two, &y, &err) && x.n == y.n &&
                memcmp(x.at, y.at, x.n) == 0;
    text_free(&x);
    text_free(&y);
    return same;
}

static inline bool is_empty_folder(const char *path)
{
    char command[300];
    snprintf(command, sizeof command, "test -z \"$(ls -A %s 2>/dev/null)\"", path);
    return system(command) == 0;
}

static inline void *noise(size_t n, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    uint64_t *data = malloc(n + 8);
    for (size_t i = 0; i < n / 8 + 1; i++)
        data[i] = rng_next(&rng);
    return data;
}

static inline struct workflow *make_flow(void)
{
    struct error err = {0};
    struct builder *w = builder_new("<test>", "test");
    for (uint32_t o = 0; o < OBJECTS; o++) {
        char name[64];
        snprintf(name, sizeof name, o % 2 ? "o%u" : "folder/o%u", (unsigned)o);
        const char *use = o == TREE       ? "tree"
                          : o == ABSOLUTE ? "/etc/passwd"
                          : o == OUTSIDE  ? "../outside"
                                          : name;
        uint32_t t = builder_task(w, name, strlen(name), 0);
        builder_consumes(w, t, builder_object(w, use, strlen(use)), 0);
    }
    return builder_finish(w, &err);
}

static inline void places_open(void)
{
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    seal_key_random(&key);
    flow = make_flow();
    bool named = true;
    for (uint32_t o = 0; o < OBJECTS; o++)
        named = named && (o == TREE || o == ABSOLUTE || o == OUTSIDE ||
                          strtoul(strrchr(name_of(o), 'o') + 1, NULL, 10) == o);
    ok(named, "objects have the numbers that the tests think");
    place_open(&a, "a");
    place_open(&b, "b");
    place_open(&c, "c");
}

static inline void places_close(void)
{
    struct place *all[3] = {&a, &b, &c};
    for (int i = 0; i < 3; i++)
        links_free(all[i]->links);
    uv_run(&loop, UV_RUN_DEFAULT);
    ok(uv_loop_close(&loop) == 0, "the loop is empty");
    for (int i = 0; i < 3; i++) {
        struct error err = {0};
        depot_free(all[i]->depot);
        memo_close(all[i]->memo, &err);
        tree_remove(all[i]->folder.path);
    }
    workflow_free(flow);
}
