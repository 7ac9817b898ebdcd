/* The stream's end of its helpers (troop.h).
 *
 * I1. `lock` guards hands, lanes' states and the error. A lane's tether, once LANE_OPEN, belongs to the one
 *     thread that uses the lane: it alone closes it.
 * I2. Who comes is greeted by a thread of its own, so that a stranger who says nothing keeps nobody
 *     waiting; troop_close() waits for those threads.
 * I3. A tether of a hand's control is used under the lock, for a few bytes at a time. */
#include "stream/troop.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/digest.h"
#include "base/file.h"
#include "stream/tether.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const double greeting_patience = 20; /* seconds: a loaded machine, a library of megabytes */
enum { MOST_STRANGERS = 64, MOST_SHIPPED = 1 << 28 };

enum lane_state { LANE_CLOSED, LANE_ASKED, LANE_OPEN };

struct troop_lane {
    enum lane_state state;
    uint32_t hand;
    uint32_t generation; /* how often it was opened */
    struct tether *tether;
    uint64_t item; /* whose pieces are kept at the other end */
    uint32_t nkept;
    struct chunk *kept[TROOP_KEPT]; /* held, so that their addresses are theirs alone */
};

struct hand {
    struct tether *control; /* NULL: it is not there */
    uint32_t lanes;
};

/* What is known of a task that keeps state. */
struct troop_memory {
    struct chunk *state; /* as its function gave it last; NULL: none did */
    uint32_t generation; /* of the lane that has it; 0: none has begun */
    bool keeps;          /* gave one at least once */
};

struct troop {
    struct troop_options o;
    int listening;
    struct strbuf addresses;
    char *folder, *file; /* as other processes of this machine see them */
    char *file_digest;   /* of the workflow's file; "": it is none */
    pthread_t greeter;
    bool greeting;
    atomic_bool closing;
    pthread_mutex_t lock;
    pthread_cond_t news;
    pthread_mutex_t suspects; /* held while an item is tried that may kill helpers; before `lock` */
    uint32_t shaking;         /* threads that greet */
    struct hand *hands;
    struct troop_lane *lanes;
    struct troop_memory *memories; /* by task */
    struct error error;
};

static bool troop_halted(const struct troop *c)
{
    return atomic_load_explicit(c->o.halt, memory_order_relaxed) >= 2;
}

static void __attribute__((format(printf, 2, 3))) troop_say(struct troop *c, const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (c->o.say)
        c->o.say(c->o.context, text);
}

/* For a tenth of a second or news, with the lock. */
static void troop_wait(struct troop *c)
{
    cond_wait_until(&c->news, &c->lock, clock_seconds() + 0.1);
}

/* ---- greeting ---- */

/* A file of the folder that a helper elsewhere would miss: a library, or a word of a command. */
static void troop_add_file(const struct troop *c, const char *name, struct strbuf *heads,
                           struct strbuf *bodies, uint32_t *count)
{
    struct strbuf path = {0};
    struct stat about;
    struct text text = {0};
    struct error ignored = {0};
    if (!*name || name[0] == '/' || strstr(name, ".."))
        return;
    strbuf_printf(&path, "%s/%s", c->folder, name);
    if (stat(path.at, &about) == 0 && S_ISREG(about.st_mode) &&
        (size_t)about.st_size + bodies->n < MOST_SHIPPED && file_read(path.at, &text, &ignored)) {
        bytes_put_text(heads, name, strlen(name));
        bytes_put_u32(heads, about.st_mode & 0777);
        bytes_put_u64(heads, text.n);
        bytes_put(bodies, text.at, text.n);
        ++*count;
        text_free(&text);
    }
    strbuf_free(&path);
}

/* Libraries by their place in the folder, and words of commands that name a file there: a guess, which the
 * documentation tells. Who needs more has a folder that agents see. */
static void troop_add_files(const struct troop *c, struct strbuf *heads, struct strbuf *bodies,
                            uint32_t *count)
{
    const struct workflow *w = c->o.workflow;
    for (uint32_t t = 0; w->command && t < w->ntasks; t++) {
        const char *command = w->command[t] ? workflow_text(w, w->command[t]) : "";
        if (w->flags[t] & TASK_CALL) {
            const char *colon = strrchr(command, ':');
            char *library = mem_copy_bytes(command, colon ? (size_t)(colon - command) : 0);
            troop_add_file(c, library, heads, bodies, count);
            free(library);
            continue;
        }
        for (const char *at = command; *at;) {
            size_t n = strcspn(at, " \t\n;|&<>()'\"");
            char *word = mem_copy_bytes(at, n);
            troop_add_file(c, strncmp(word, "./", 2) == 0 ? word + 2 : word, heads, bodies, count);
            free(word);
            at += n + (at[n] != 0);
        }
    }
}

/* The workflow, where its folder is, and the files for those who do not see the folder. */
static bool troop_welcome(const struct troop *c, struct tether *t)
{
    struct strbuf head = {0}, heads = {0}, bodies = {0};
    uint32_t count = 0;
    const void *frame;
    size_t n;
    troop_add_files(c, &heads, &bodies, &count);
    bytes_put_text(&head, c->folder, strlen(c->folder));
    bytes_put_text(&head, c->file, strlen(c->file));
    bytes_put_text(&head, c->file_digest, strlen(c->file_digest));
    bytes_put_u64(&head, strlen(c->o.text));
    bytes_put_u64(&head, heads.n);
    bytes_put_u64(&head, bodies.n);
    bytes_put_u32(&head, count);
    bool good = tether_put(t, head.at, head.n) && tether_put(t, c->o.text, strlen(c->o.text)) &&
                tether_flush(t) && tether_take(t, &frame, &n) && n == 1;
    if (good && *(const char *)frame)
        good = tether_put(t, heads.at, heads.n) && tether_put(t, bodies.at, bodies.n) &&
               tether_flush(t);
    strbuf_free(&head);
    strbuf_free(&heads);
    strbuf_free(&bodies);
    return good;
}

/* With the lock. Its lanes notice by themselves. */
static void troop_lose_hand(struct troop *c, uint32_t h)
{
    tether_close(c->hands[h].control);
    c->hands[h].control = NULL;
}

/* With the lock: the tether is taken, or not wanted. */
static bool troop_take_in(struct troop *c, struct tether *t, unsigned hand, long lane)
{
    if (atomic_load(&c->closing) || hand >= c->o.hands)
        return false;
    if (lane < 0) { /* one that came again replaces what it was */
        if (c->hands[hand].control)
            troop_lose_hand(c, hand);
        c->hands[hand].control = t;
        return true;
    }
    if (lane >= (long)c->o.lanes || c->lanes[lane].state != LANE_ASKED ||
        c->lanes[lane].hand != hand)
        return false;
    struct troop_lane *l = &c->lanes[lane];
    l->tether = t;
    l->state = LANE_OPEN;
    l->generation++;
    c->hands[hand].lanes++;
    return true;
}

struct newcomer {
    struct troop *troop;
    int fd;
};

/* Who does not know the key never gets past the first line. A helper says "helper N", a lane of it says
 * which it is: what was asked for by number comes back by number. */
static void *troop_greet(void *context)
{
    struct newcomer *n = context;
    struct troop *c = n->troop;
    struct error ignored = {0};
    unsigned hand = 0;
    long lane = -1;
    struct tether *t =
        tether_open(n->fd, &c->o.key, "stream", false, greeting_patience, c->o.halt, &ignored);
    (free)(n);
    bool known = t && (sscanf(tether_other(t), "lane %ld of helper %u", &lane, &hand) == 2 ||
                       (lane = -1, sscanf(tether_other(t), "helper %u", &hand) == 1));
    if (known && lane < 0)
        known = troop_welcome(c, t);
    pthread_mutex_lock(&c->lock);
    bool taken = known && troop_take_in(c, t, hand, lane);
    c->shaking--;
    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->lock);
    if (!taken)
        tether_close(t);
    return NULL;
}

/* I2. */
static void troop_meet(struct troop *c, int fd)
{
    pthread_t thread;
    struct newcomer *n = malloc(sizeof *n);
    pthread_mutex_lock(&c->lock);
    bool room = n && c->shaking < MOST_STRANGERS;
    c->shaking += room;
    pthread_mutex_unlock(&c->lock);
    if (room) {
        *n = (struct newcomer){c, fd};
        if (pthread_create(&thread, NULL, troop_greet, n) == 0) {
            pthread_detach(thread);
            return;
        }
        pthread_mutex_lock(&c->lock);
        c->shaking--;
        pthread_mutex_unlock(&c->lock);
    }
    (free)(n);
    close(fd);
}

/* Until the troop is dismissed; looks ten times a second. */
static void *troop_listen(void *troop)
{
    struct troop *c = troop;
    while (!atomic_load(&c->closing)) {
        struct pollfd p = {.fd = c->listening, .events = POLLIN};
        if (poll(&p, 1, 100) <= 0)
            continue;
        int fd = accept4(c->listening, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            troop_meet(c, fd);
    }
    return NULL;
}

/* ---- lanes ---- */

/* With the lock. Its own helper if it lives, else the one with the fewest lanes; UINT32_MAX: none. */
static uint32_t troop_choose(struct troop *c, uint32_t lane)
{
    uint32_t own = lane % c->o.hands, best = UINT32_MAX;
    for (uint32_t h = 0; h < c->o.hands; h++) {
        if (c->hands[h].control && tether_is_gone(c->hands[h].control))
            troop_lose_hand(c, h);
        if (c->hands[h].control &&
            (h == own ||
             (best != own && (best == UINT32_MAX || c->hands[h].lanes < c->hands[best].lanes))))
            best = h;
    }
    return best;
}

/* The other end does the same when it sees another item: both lists are always equal. */
static void troop_forget_kept(struct troop_lane *l)
{
    for (uint32_t i = 0; i < l->nkept; i++)
        chunk_free(l->kept[i]);
    l->nkept = 0;
}

/* I1: by the thread that uses it. The helper's end sees it and gives the lane up. */
static void troop_close_lane(struct troop *c, struct troop_lane *l)
{
    troop_forget_kept(l);
    pthread_mutex_lock(&c->lock);
    struct tether *t = l->tether;
    if (l->state == LANE_OPEN)
        c->hands[l->hand].lanes--;
    l->state = LANE_CLOSED;
    l->tether = NULL;
    pthread_mutex_unlock(&c->lock);
    tether_close(t);
}

/* With the lock: asks one helper, and waits for the lane. */
static void troop_ask(struct troop *c, uint32_t lane, uint32_t hand)
{
    struct troop_lane *l = &c->lanes[lane];
    uint8_t number[4] = {(uint8_t)lane, (uint8_t)(lane >> 8), (uint8_t)(lane >> 16),
                         (uint8_t)(lane >> 24)};
    struct tether *control = c->hands[hand].control;
    double until = clock_seconds() + greeting_patience;
    if (!tether_put(control, number, sizeof number) || !tether_flush(control)) {
        troop_lose_hand(c, hand);
        return;
    }
    l->state = LANE_ASKED;
    l->hand = hand;
    while (l->state == LANE_ASKED && c->hands[hand].control == control &&
           !tether_is_gone(control) && clock_seconds() < until && !troop_halted(c))
        troop_wait(c);
    if (l->state != LANE_ASKED)
        return;
    l->state = LANE_CLOSED;
    if (c->hands[hand].control == control) /* it does not do what it is asked for */
        troop_lose_hand(c, hand);
}

/* False: nobody will come, or all ends. */
static bool troop_open_lane(struct troop *c, uint32_t lane)
{
    struct troop_lane *l = &c->lanes[lane];
    pthread_mutex_lock(&c->lock);
    while (l->state != LANE_OPEN && !troop_halted(c) && c->error.kind == ERROR_NONE) {
        uint32_t hand = troop_choose(c, lane);
        if (hand == UINT32_MAX)
            troop_wait(c);
        else
            troop_ask(c, lane, hand);
    }
    bool good = l->state == LANE_OPEN;
    pthread_mutex_unlock(&c->lock);
    return good;
}

/* Back to its own helper, when that has come again. */
static void troop_go_home(struct troop *c, uint32_t lane)
{
    struct troop_lane *l = &c->lanes[lane];
    uint32_t own = lane % c->o.hands;
    pthread_mutex_lock(&c->lock);
    bool home = l->state == LANE_OPEN && l->hand != own && c->hands[own].control &&
                !tether_is_gone(c->hands[own].control);
    pthread_mutex_unlock(&c->lock);
    if (home)
        troop_close_lane(c, l);
}

/* ---- one item ---- */

/* In the order in which they were sent or came, as the other end does. */
static void troop_keep(struct troop_lane *l, struct chunk *chunk)
{
    if (chunk && l->nkept < TROOP_KEPT)
        l->kept[l->nkept++] = chunk_share(chunk);
}

/* A piece of the request; bytes that must follow are remembered in `send`. */
static void troop_put_piece(struct troop_lane *l, struct chunk *chunk, struct strbuf *head,
                            struct chunk **send, uint32_t *nsend)
{
    for (uint32_t i = 0; chunk && i < l->nkept; i++)
        if (l->kept[i] == chunk) {
            bytes_put_u8(head, PIECE_KEPT);
            bytes_put_u64(head, i);
            return;
        }
    bytes_put_u8(head, chunk ? PIECE_BYTES : PIECE_NONE);
    bytes_put_u64(head, chunk ? chunk->size : 0);
    if (chunk)
        send[(*nsend)++] = chunk;
}

/* What a filter that keeps state is given when its lane is a new one. */
static struct chunk *troop_state_to_send(struct troop *c, struct troop_lane *l, uint32_t task)
{
    struct troop_memory *m = &c->memories[task];
    if (!c->o.filters->at[task].state || m->generation == l->generation)
        return NULL;
    if (m->generation && !m->keeps)
        troop_say(c,
                  "task '%s' keeps state and is somewhere else now: it begins without what it knew "
                  "(a function NAME_state would carry it over)",
                  c->o.filters->at[task].name);
    m->generation = l->generation;
    return m->state;
}

/* The request, and what follows it. A part of it may have gone when it fails: the lane is closed then. */
static bool troop_send(struct troop *c, struct troop_lane *l, uint32_t task, struct handling *h)
{
    struct strbuf head = {0};
    uint32_t nsend = 0;
    struct chunk *state = troop_state_to_send(c, l, task);
    struct chunk **send = mem_new(struct chunk *, h->item.nin + 1);
    if (l->item != h->item.number)
        troop_forget_kept(l);
    l->item = h->item.number;
    bytes_put_u8(&head, TROOP_DO);
    bytes_put_u32(&head, task);
    bytes_put_u64(&head, h->item.number);
    bytes_put_u32(&head, h->item.attempt);
    bytes_put_u32(&head, h->item.nin);
    for (uint32_t i = 0; i < h->item.nin; i++)
        troop_put_piece(l, h->in[i], &head, send, &nsend);
    bytes_put_u8(&head, state ? PIECE_BYTES : PIECE_NONE);
    bytes_put_u64(&head, state ? state->size : 0);
    double began = clock_seconds();
    uint64_t bytes = head.n;
    bool good = tether_put(l->tether, head.at, head.n);
    for (uint32_t i = 0; i < nsend; i++) {
        troop_keep(l, send[i]);
        bytes += send[i]->size;
        good = good && tether_put(l->tether, chunk_bytes(send[i]), send[i]->size);
    }
    if (state)
        good = good && tether_put(l->tether, chunk_bytes(state), state->size);
    good = good && tether_flush(l->tether);
    channel_count(&c->o.channels[l->hand], bytes, clock_seconds() - began);
    strbuf_free(&head);
    free(send);
    return good;
}

/* Sizes of what follows, one a piece; UINT64_MAX: nothing was given. */
static bool troop_read_head(struct troop_lane *l, struct handling *h, uint8_t *verdict,
                            uint64_t *sizes, uint32_t nout)
{
    const void *frame;
    size_t n, length;
    if (!tether_take(l->tether, &frame, &n))
        return false;
    struct bytes in = {.at = frame, .n = n};
    *verdict = bytes_u8(&in);
    const char *why = bytes_text(&in, &length);
    if (why)
        snprintf(h->why, sizeof h->why, "%.*s", (int)length, why);
    if (bytes_u32(&in) != nout)
        return false;
    for (uint32_t i = 0; i <= nout; i++) {
        bool given = bytes_u8(&in) == PIECE_BYTES;
        uint64_t size = bytes_u64(&in);
        sizes[i] = given ? size : UINT64_MAX;
    }
    return bytes_end(&in) && *verdict <= FILTER_HALTED;
}

/* The answer, whole; false: the helper is gone, and nothing of it counts. */
static bool troop_receive(struct troop *c, struct troop_lane *l, uint32_t task, struct handling *h,
                          enum filter_verdict *verdict)
{
    uint32_t nout = h->item.nout;
    uint64_t *sizes = mem_new_zero(uint64_t, nout + 1);
    uint8_t said = FILTER_FAILED;
    struct chunk *state = NULL;
    bool good = troop_read_head(l, h, &said, sizes, nout);
    double began = clock_seconds(); /* what the filter took before is not the channel's */
    uint64_t bytes = 0;
    for (uint32_t i = 0; good && i <= nout; i++) {
        if (sizes[i] == UINT64_MAX)
            continue;
        struct chunk *chunk = chunk_new(sizes[i]);
        good = chunk && tether_fill(l->tether, chunk_bytes(chunk), sizes[i]);
        *(i < nout ? &h->out[i] : &state) = chunk;
        bytes += sizes[i];
    }
    channel_count(&c->o.channels[l->hand], bytes, clock_seconds() - began);
    free(sizes);
    if (!good) {
        chunk_free(state);
        handling_clear(h);
        return false;
    }
    for (uint32_t i = 0; i < nout; i++)
        troop_keep(l, h->out[i]);
    if (state) {
        chunk_free(c->memories[task].state);
        c->memories[task].state = state;
        c->memories[task].keeps = true;
    }
    *verdict = (enum filter_verdict)said;
    return true;
}

/* One try, whatever becomes of it. False: its helper is gone. */
static bool troop_try(struct troop *c, uint32_t lane, uint32_t task, struct handling *h,
                      enum filter_verdict *verdict)
{
    struct troop_lane *l = &c->lanes[lane];
    if (!troop_open_lane(c, lane)) {
        snprintf(h->why, sizeof h->why, "%.400s",
                 c->error.kind ? c->error.text : "no helper lives");
        *verdict = troop_halted(c) ? FILTER_HALTED : FILTER_FAILED;
        return true;
    }
    if (troop_send(c, l, task, h) && troop_receive(c, l, task, h, verdict))
        return true;
    troop_close_lane(c, l);
    return false;
}

/* A helper that goes may have been killed by the item, or by another that it had at the same time, or its
 * machine is gone. An item that has lost two is suspected, and suspects are tried one at a time: who still
 * loses its helpers then, as often as it may be tried, is given up. */
enum filter_verdict troop_run(struct troop *c, uint32_t lane, bool roams, uint32_t task,
                              struct handling *h)
{
    const struct filter *f = &c->o.filters->at[task];
    uint32_t lost = 0, alone = 0;
    while (alone < f->tries) {
        enum filter_verdict verdict;
        bool suspect = lost >= 2;
        if (suspect)
            pthread_mutex_lock(&c->suspects);
        if (roams)
            troop_go_home(c, lane);
        bool answered = troop_try(c, lane, task, h, &verdict);
        if (suspect)
            pthread_mutex_unlock(&c->suspects);
        if (answered)
            return verdict;
        if (troop_halted(c))
            return FILTER_HALTED;
        lost++;
        alone += suspect;
        troop_say(c, "helper %u is gone; item %llu: task '%s' is done again", c->lanes[lane].hand,
                  (unsigned long long)h->item.number, f->name);
    }
    snprintf(h->why, sizeof h->why, "each of %u helpers ended while it worked on this item", lost);
    return FILTER_FAILED;
}

/* With an answer, so that a filter that fails after its last item is told, as in a stream here. */
bool troop_end_lane(struct troop *c, uint32_t lane, struct handling *h)
{
    struct troop_lane *l = &c->lanes[lane];
    uint8_t word = TROOP_END, verdict = FILTER_DONE;
    uint64_t none[1];
    bool told = l->state == LANE_OPEN && tether_put(l->tether, &word, 1) &&
                tether_flush(l->tether) && troop_read_head(l, h, &verdict, none, 0);
    troop_close_lane(c, l);
    return !told || verdict == FILTER_DONE; /* who is gone has nothing to say */
}

/* ---- opening and closing ---- */

/* "": there is none, or it is no path. */
static char *troop_whole_path(const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    char *own = mem_copy_string(whole ? whole : "");
    (free)(whole);
    return own;
}

/* By it helpers find out whether they see the same folder. */
static char *troop_digest(const char *path)
{
    struct text text = {0};
    struct error ignored = {0};
    struct digest digest;
    struct stat about;
    char hex[DIGEST_TEXT] = "";
    /* what came through a pipe cannot be read again, here or elsewhere */
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && file_read(path, &text, &ignored)) {
        digest_of(text.at, text.n, &digest);
        digest_text(&digest, hex);
        text_free(&text);
    }
    return mem_copy_string(hex);
}

/* The greeter is the last thing that can fail: before it there is nothing to wait for. */
struct troop *troop_open(const struct troop_options *o, struct error *err)
{
    struct troop *c = mem_new_zero(struct troop, 1);
    c->o = *o;
    c->folder = troop_whole_path(o->folder);
    c->file = troop_whole_path(o->file);
    c->file_digest = troop_digest(c->file);
    c->hands = mem_new_zero(struct hand, o->hands + 1);
    c->lanes = mem_new_zero(struct troop_lane, o->lanes + 1);
    c->memories = mem_new_zero(struct troop_memory, o->workflow->ntasks + 1);
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->suspects, NULL);
    cond_init(&c->news);
    c->listening = tether_listen(o->bind, &c->addresses, err);
    sigset_t all, before; /* the program's handlers run on threads of its own */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    c->greeting = c->listening >= 0 && pthread_create(&c->greeter, NULL, troop_listen, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (c->greeting)
        return c;
    if (err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "cannot start a thread");
    troop_close(c);
    return NULL;
}

const char *troop_addresses(const struct troop *c)
{
    return c->addresses.at;
}

void troop_fail(struct troop *c, const struct error *err)
{
    pthread_mutex_lock(&c->lock);
    if (c->error.kind == ERROR_NONE)
        error_set(&c->error, ERROR_FAILED, "%.1000s", err->text);
    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->lock);
}

uint32_t troop_living(struct troop *c)
{
    uint32_t n = 0;
    pthread_mutex_lock(&c->lock);
    for (uint32_t h = 0; h < c->o.hands; h++)
        n += c->hands[h].control && !tether_is_gone(c->hands[h].control);
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* After the last item: no thread of the stream uses a lane any more. */
void troop_dismiss(struct troop *c)
{
    atomic_store(&c->closing, true);
    for (uint32_t i = 0; i < c->o.lanes; i++)
        troop_close_lane(c, &c->lanes[i]);
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->o.hands; i++)
        if (c->hands[i].control)
            troop_lose_hand(c, i);
    pthread_mutex_unlock(&c->lock);
}

void troop_close(struct troop *c)
{
    if (!c)
        return;
    troop_dismiss(c);
    if (c->greeting)
        pthread_join(c->greeter, NULL);
    pthread_mutex_lock(&c->lock);
    while (c->shaking) /* each has its patience */
        troop_wait(c);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->o.workflow->ntasks; i++)
        chunk_free(c->memories[i].state);
    if (c->listening >= 0)
        close(c->listening);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->suspects);
    pthread_cond_destroy(&c->news);
    strbuf_free(&c->addresses);
    free(c->folder);
    free(c->file);
    free(c->file_digest);
    free(c->hands);
    free(c->lanes);
    free(c->memories);
    free(c);
}
