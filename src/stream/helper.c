/* A helper: one thread waits for lanes to open, each lane is a thread with stations of its own.
 *
 * I1. Lanes share the filters, which nobody changes, and `halt`, which is set when the stream is gone.
 * I2. A lane's connection is its thread's alone. A lane that failed is closed; the stream asks for
 *     another, here or elsewhere. */
#include "stream/helper.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "base/file.h"
#include "stream/troop.h"
#include "stream/tether.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double joining_patience = 20; /* seconds: a loaded machine */
static const double station_grace = 10;    /* seconds for a filter to end, as in a stream here */
enum { MOST_TEXT = 1 << 30, MOST_LANES = 4096 };

struct helper {
    struct strbuf addresses;
    struct seal_key key;
    uint32_t number;
    struct tether *control;
    char *text;   /* of the workflow */
    char *folder; /* of libraries and commands, as this machine sees it */
    const struct workflow *workflow;
    struct filters filters;
    uint32_t most_ports;
    atomic_int halt;
    uint32_t nlanes;
    struct helper_lane *lanes[MOST_LANES];
};

struct helper_lane {
    struct helper *helper;
    uint32_t number;
    pthread_t thread;
    struct tether *tether;
    struct station *stations; /* by task */
    struct handling handling;
    uint64_t item;
    uint32_t nkept;
    struct chunk *kept[TROOP_KEPT];
};

/* ---- joining ---- */

/* The folder as the stream sees it, if this machine sees the same; else the one we are in. */
static bool helper_sees(const char *file, const char *digest)
{
    struct text text = {0};
    struct error ignored = {0};
    struct digest own;
    char hex[DIGEST_TEXT];
    if (!*file || !*digest || !file_read(file, &text, &ignored))
        return false;
    digest_of(text.at, text.n, &own);
    text_free(&text);
    return strcmp(digest_text(&own, hex), digest) == 0;
}

/* Those of a name with slashes. */
static void helper_make_folders(char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777); /* what is wrong with it is told by who writes the file */
        *slash = '/';
    }
}

/* Names are checked though who sends them knows the key: a mistake there must not write elsewhere here. */
static bool helper_take_files(struct helper *h, uint64_t heads, uint64_t bodies, uint32_t count,
                              struct error *err)
{
    char *about = mem_new(char, heads + 1), *content = mem_new(char, bodies + 1), *at = content;
    bool good = tether_fill(h->control, about, heads) && tether_fill(h->control, content, bodies);
    struct bytes in = {.at = about, .n = heads};
    if (!good)
        error_set(err, ERROR_FAILED, "the stream ended while it sent its files");
    for (uint32_t i = 0; good && i < count; i++) {
        size_t length;
        const char *text = bytes_text(&in, &length);
        uint32_t mode = bytes_u32(&in);
        uint64_t size = bytes_u64(&in);
        if (in.bad || size > bodies - (uint64_t)(at - content)) {
            good = error_set(err, ERROR_FAILED, "the stream sent what makes no sense");
            break;
        }
        char *name = mem_copy_bytes(text, length);
        bool inside = name[0] != '/' && !strstr(name, "..");
        if (inside)
            helper_make_folders(name);
        good = inside ? file_write(name, at, size, err)
                      : error_set(err, ERROR_FAILED, "the stream sent a file for elsewhere");
        if (good)
            chmod(name, mode & 0777);
        at += size;
        free(name);
    }
    free(about);
    free(content);
    return good;
}

/* What the stream says first, and our answer: whether we need its files. */
static bool helper_take_welcome(struct helper *h, struct error *err)
{
    const void *frame;
    size_t n, nfolder, nfile, ndigest;
    if (!tether_take(h->control, &frame, &n))
        return error_set(err, ERROR_FAILED, "the stream does not want this helper");
    struct bytes in = {.at = frame, .n = n};
    const char *folder = bytes_text(&in, &nfolder), *file = bytes_text(&in, &nfile);
    const char *digest = bytes_text(&in, &ndigest);
    uint64_t text = bytes_u64(&in), heads = bytes_u64(&in), bodies = bytes_u64(&in);
    uint32_t count = bytes_u32(&in);
    if (!bytes_end(&in) || text > MOST_TEXT || heads > MOST_TEXT || bodies > MOST_TEXT)
        return error_set(err, ERROR_FAILED, "the stream sent what makes no sense");
    char *at = mem_copy_bytes(file, nfile), *hex = mem_copy_bytes(digest, ndigest);
    uint8_t wants = !helper_sees(at, hex);
    h->folder = wants ? mem_copy_string(".") : mem_copy_bytes(folder, nfolder);
    free(at);
    free(hex);
    h->text = mem_new(char, text + 1);
    h->text[text] = 0;
    if (!tether_fill(h->control, h->text, text) || !tether_put(h->control, &wants, 1) ||
        !tether_flush(h->control))
        return error_set(err, ERROR_FAILED, "the stream ended");
    return !wants || helper_take_files(h, heads, bodies, count, err);
}

/* Control and lanes alike: the name says which it is. */
static struct tether *helper_call(struct helper *h, const char *self, struct error *err)
{
    int fd = tether_connect(h->addresses.at, err);
    return fd < 0 ? NULL : tether_open(fd, &h->key, self, true, joining_patience, &h->halt, err);
}

struct helper *helper_join(const char *addresses, const struct seal_key *key, uint32_t number,
                           struct error *err)
{
    struct helper *h = mem_new_zero(struct helper, 1);
    char self[32];
    h->key = *key;
    h->number = number;
    strbuf_add(&h->addresses, addresses);
    snprintf(self, sizeof self, "helper %u", number);
    h->control = helper_call(h, self, err);
    if (h->control && helper_take_welcome(h, err))
        return h;
    helper_close(h);
    return NULL;
}

const char *helper_text(const struct helper *h)
{
    return h->text;
}

/* ---- a lane ---- */

/* The stream does the same at the same moment (troop_forget_kept). */
static void helper_forget(struct helper_lane *l)
{
    for (uint32_t i = 0; i < l->nkept; i++)
        chunk_free(l->kept[i]);
    l->nkept = 0;
}

static void helper_keep(struct helper_lane *l, struct chunk *chunk)
{
    if (chunk && l->nkept < TROOP_KEPT)
        l->kept[l->nkept++] = chunk_share(chunk);
}

static void helper_drop_inputs(struct helper_lane *l)
{
    struct handling *h = &l->handling;
    for (uint32_t i = 0; i < h->item.nin; i++) {
        chunk_free(h->in[i]);
        h->in[i] = NULL;
    }
}

/* What a filter that keeps state is asked before and after an item. */
static bool helper_state(struct helper_lane *l, const struct filter *f, struct chunk *restore,
                         struct chunk **saved)
{
    struct handling *h = &l->handling;
    struct weft_item before = h->item;
    struct weft_piece piece = {restore ? chunk_bytes(restore) : "", restore ? restore->size : 0};
    struct chunk **out = h->out, *one[1] = {NULL};
    h->item.in = &piece;
    h->item.nin = restore ? 1 : 0;
    h->item.nout = restore ? 0 : 1;
    h->out = one;
    int status = f->remember(&h->item);
    h->item = before;
    h->out = out;
    if (saved)
        *saved = status == 0 ? one[0] : NULL;
    if (status != 0)
        snprintf(h->why, sizeof h->why, "its function for its state returned %d", status);
    return status == 0;
}

/* Verdict and outputs, then the state that the filter has now; outputs are the lane's afterwards. */
static bool helper_answer(struct helper_lane *l, enum filter_verdict verdict, struct chunk *state)
{
    struct handling *h = &l->handling;
    struct strbuf head = {0};
    const char *why = verdict == FILTER_DONE ? "" : h->why;
    bytes_put_u8(&head, (uint8_t)verdict);
    bytes_put_text(&head, why, strlen(why));
    bytes_put_u32(&head, h->item.nout);
    for (uint32_t i = 0; i <= h->item.nout; i++) {
        const struct chunk *chunk = i < h->item.nout ? h->out[i] : state;
        bytes_put_u8(&head, chunk ? PIECE_BYTES : PIECE_NONE);
        bytes_put_u64(&head, chunk ? chunk->size : 0);
    }
    bool good = tether_put(l->tether, head.at, head.n);
    for (uint32_t i = 0; i <= h->item.nout; i++) {
        struct chunk *chunk = i < h->item.nout ? h->out[i] : state;
        if (chunk)
            good = good && tether_put(l->tether, chunk_bytes(chunk), chunk->size);
        if (i < h->item.nout) {
            helper_keep(l, chunk);
            chunk_free(chunk);
            h->out[i] = NULL;
        }
    }
    strbuf_free(&head);
    return good && tether_flush(l->tether);
}

/* The pieces of a request, in h->in and `state`. False: they make no sense, or the stream is gone. */
static bool helper_take_pieces(struct helper_lane *l, struct bytes *in, struct chunk **state)
{
    struct handling *h = &l->handling;
    uint32_t n = h->item.nin;
    uint8_t kinds[TROOP_PORTS + 1];
    uint64_t numbers[TROOP_PORTS + 1];
    for (uint32_t i = 0; i <= n; i++) {
        kinds[i] = bytes_u8(in);
        numbers[i] = bytes_u64(in);
    }
    if (!bytes_end(in))
        return false;
    for (uint32_t i = 0; i < n; i++) /* before anything new is kept */
        if (kinds[i] == PIECE_KEPT && numbers[i] < l->nkept)
            h->in[i] = chunk_share(l->kept[numbers[i]]);
        else if (kinds[i] == PIECE_KEPT)
            return false;
    for (uint32_t i = 0; i <= n; i++) {
        if (kinds[i] != PIECE_BYTES)
            continue;
        struct chunk *chunk = chunk_new(numbers[i]);
        if (!chunk || !tether_fill(l->tether, chunk_bytes(chunk), numbers[i])) {
            chunk_free(chunk);
            return false;
        }
        *(i < n ? &h->in[i] : state) = chunk;
        if (i < n)
            helper_keep(l, chunk);
    }
    return true;
}

/* One item at one filter. A request that makes no sense ends the lane: the two ends have lost each other. */
static bool helper_do(struct helper_lane *l, struct bytes *in)
{
    struct helper *helper = l->helper;
    struct handling *h = &l->handling;
    uint32_t task = bytes_u32(in);
    h->item.number = bytes_u64(in);
    h->item.attempt = bytes_u32(in);
    h->item.nin = bytes_u32(in);
    if (in->bad || task >= helper->filters.n || h->item.nin > helper->most_ports ||
        h->item.nin > TROOP_PORTS) {
        h->item.nin = h->item.nout = 0;
        return false;
    }
    const struct filter *f = &helper->filters.at[task];
    struct chunk *state = NULL, *saved = NULL;
    h->item.name = f->name;
    h->item.nout = helper->workflow->object_end[task] - helper->workflow->object_off[task];
    if (l->item != h->item.number)
        helper_forget(l);
    l->item = h->item.number;
    bool good = helper_take_pieces(l, in, &state);
    if (good) {
        enum filter_verdict verdict = FILTER_DONE;
        if (state && f->remember && !helper_state(l, f, state, NULL))
            verdict = FILTER_FAILED;
        if (verdict == FILTER_DONE)
            verdict = filter_run(&helper->filters, f, &l->stations[task], h);
        if (verdict == FILTER_DONE && f->remember && !helper_state(l, f, NULL, &saved)) {
            handling_clear(h);
            verdict = FILTER_FAILED;
        }
        good = helper_answer(l, verdict, saved);
    }
    chunk_free(state);
    chunk_free(saved);
    helper_drop_inputs(l);
    return good;
}

/* True: all ended well. */
static bool helper_end_stations(struct helper_lane *l)
{
    bool good = true;
    for (uint32_t t = 0; t < l->helper->filters.n; t++) {
        struct handling *h = &l->handling;
        const struct filter *f = &l->helper->filters.at[t];
        char before[sizeof h->why];
        snprintf(before, sizeof before, "%s", h->why);
        bool ended = station_close(f, &l->stations[t], h, station_grace);
        if (!ended && good) {
            snprintf(before, sizeof before, "task '%.100s' %.300s", f->name, h->why);
            good = false;
        }
        snprintf(h->why, sizeof h->why, "%s", before);
    }
    return good;
}

/* Connects first: a lane that does not come is asked for elsewhere. */
static void *helper_work(void *lane)
{
    struct helper_lane *l = lane;
    struct helper *helper = l->helper;
    struct error ignored = {0};
    char self[64];
    const void *frame;
    size_t n;
    snprintf(self, sizeof self, "lane %u of helper %u", l->number, helper->number);
    l->tether = helper_call(helper, self, &ignored);
    bool good = l->tether;
    while (good && tether_take(l->tether, &frame, &n)) {
        char head[64 + 9 * TROOP_PORTS]; /* the frame goes with the next call */
        if (n > sizeof head)
            break;
        memcpy(head, frame, n);
        struct bytes in = {.at = head, .n = n};
        uint8_t word = bytes_u8(&in);
        if (word == TROOP_DO) {
            good = helper_do(l, &in);
        } else {
            l->handling.item.nout = 0;
            good = helper_answer(l, helper_end_stations(l) ? FILTER_DONE : FILTER_FAILED, NULL);
        }
    }
    tether_close(l->tether);
    for (uint32_t t = 0; t < helper->filters.n; t++) /* after an END there are none */
        station_kill(&l->stations[t]);
    helper_end_stations(l);
    helper_forget(l);
    handling_close(&l->handling);
    free(l->stations);
    return NULL;
}

/* ---- serving ---- */

/* A lane that cannot be opened does not connect: the stream sees it, and asks another. */
static void helper_open_lane(struct helper *h, uint32_t number)
{
    if (h->nlanes == MOST_LANES)
        return;
    struct helper_lane *l = mem_new_zero(struct helper_lane, 1);
    l->helper = h;
    l->number = number;
    l->item = UINT64_MAX;
    l->stations = mem_new_zero(struct station, h->filters.n + 1);
    handling_open(&l->handling, h->most_ports, &h->halt);
    if (pthread_create(&l->thread, NULL, helper_work, l) == 0) {
        h->lanes[h->nlanes++] = l;
        return;
    }
    handling_close(&l->handling);
    free(l->stations);
    free(l);
}

/* Tries are counted by the stream, so filters have one here. Lanes that have ended are joined at the end: each
 * costs a stack that nobody touches. */
bool helper_serve(struct helper *h, const struct workflow *w, struct error *err)
{
    const void *frame;
    size_t n;
    h->workflow = w;
    if (!filters_open(&h->filters, w, h->folder, 1, err))
        return false;
    for (uint32_t t = 0; t < h->filters.n; t++) {
        uint32_t in = w->in_off ? w->in_off[t + 1] - w->in_off[t] : 0;
        uint32_t out = w->object_end[t] - w->object_off[t];
        uint32_t most = in > out ? in : out;
        h->most_ports = most > h->most_ports ? most : h->most_ports;
    }
    chunk_stock_hold();
    while (tether_take(h->control, &frame, &n)) {
        struct bytes in = {.at = frame, .n = n};
        uint32_t lane = bytes_u32(&in);
        if (bytes_end(&in))
            helper_open_lane(h, lane);
    }
    atomic_store(&h->halt, 2); /* the stream is over, or gone: nobody waits for what runs */
    for (uint32_t i = 0; i < h->nlanes; i++) {
        pthread_join(h->lanes[i]->thread, NULL);
        free(h->lanes[i]);
    }
    chunk_stock_release();
    return true;
}

void helper_close(struct helper *h)
{
    if (!h)
        return;
    tether_close(h->control);
    filters_close(&h->filters);
    strbuf_free(&h->addresses);
    free(h->text);
    free(h->folder);
    free(h);
}
