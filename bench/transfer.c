/* One gigabyte from one agent's depot to another's, beside plain encrypted sockets.
 *   bench_transfer [--json FILE] [--quick]
 * All go over the loopback device between two processes, from a file that was just written to a new
 * file in $TMPDIR. A plain one has the links' cipher in frames of the same size, and nothing else: it
 * reads, seals and writes; it reads, opens and writes. There are three:
 *   plain         sealed by libsodium: what the goal of 0.8 was set against
 *   plain, quick  sealed by OpenSSL, as links seal large frames (base/seal_cipher.h)
 *   plain, proved the same, and a thread of the receiver hashes the file: what an agent delivers, which
 *                 believes nothing that has not the digest that was expected
 * In turn, the best of each counts: whatever else the machine does only makes them slower. Wall time
 * decides. Processor time of each thread is told as well: the busiest decides where every thread has a
 * core, whatever this machine has. */
#include "bench/bench.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/seal_cipher.h"
#include "base/tree.h"
#include "cluster/data/depot.h"
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <uv.h>

enum { FRAME = 256 << 10, REPEATS = 5, PROOF = SEAL_CIPHER_PROOF };

static char folder[1024];
static struct workflow *flow; /* one object, "data" */
static struct digest content;
static uint64_t total;

/* Of one round, seconds: in all, and processor time. */
struct transfer_use {
    double took, sender, receiver, others; /* others: the receiver's other threads */
};

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double use_of(int who)
{
    struct rusage r;
    getrusage(who, &r);
    return seconds_of(r.ru_utime) + seconds_of(r.ru_stime);
}

/* Called before and after, the child being gone: the first time with zeros. */
static void use_since(struct transfer_use *u, double began)
{
    double thread = use_of(RUSAGE_THREAD);
    u->took = clock_seconds() - began;
    u->others = use_of(RUSAGE_SELF) - thread - u->others;
    u->receiver = thread - u->receiver;
    u->sender = use_of(RUSAGE_CHILDREN) - u->sender;
}

static double busiest(const struct transfer_use *u)
{
    return fmax(u->sender, fmax(u->receiver, u->others));
}

static void keep_best(struct transfer_use *best, const struct transfer_use *u)
{
    best->took = fmin(best->took, u->took);
    if (busiest(u) < busiest(best)) {
        best->sender = u->sender;
        best->receiver = u->receiver;
        best->others = u->others;
    }
}

/* ---- the plain socket ---- */

static void transfer_must(bool good, const char *what)
{
    struct error err = {0};
    if (!good)
        error_set(&err, ERROR_FAILED, "%s: %s", what, strerror(errno));
    bench_must(good, &err);
}

static void plain_nonce(uint64_t number, unsigned char nonce[static 12])
{
    memset(nonce, 0, 12);
    memcpy(nonce + 4, &number, sizeof number);
}

static void plain_write(int fd, const unsigned char *at, size_t n)
{
    while (n) {
        ssize_t k = write(fd, at, n);
        transfer_must(k > 0, "write");
        at += k;
        n -= (size_t)k;
    }
}

enum plain_kind { PLAIN, PLAIN_QUICK, PLAIN_PROVED, PLAIN_KINDS };

static struct seal_cipher plain_cipher(enum plain_kind kind)
{
    return (struct seal_cipher){.key = "not a secret", .small_only = kind == PLAIN};
}

static void plain_send(int socket, const char *path, enum plain_kind kind)
{
    unsigned char *buffer = mem_new(unsigned char, FRAME + PROOF), nonce[12];
    struct seal_cipher cipher = plain_cipher(kind);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    transfer_must(fd >= 0, path);
    uint64_t number = 0;
    for (ssize_t n; (n = read(fd, buffer, FRAME)) > 0;) {
        plain_nonce(number++, nonce);
        seal_cipher_close(&cipher,
                          &(struct seal_cipher_frame){
                              .nonce = nonce, .text = buffer, .n = (size_t)n, .proof = buffer + n});
        plain_write(socket, buffer, (size_t)n + PROOF);
    }
    close(fd);
    seal_cipher_wipe(&cipher);
    free(buffer);
}

/* Hashes a file behind those who write it. */
struct plain_hash {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int fd;
    uint64_t written; /* under the lock */
    struct digest digest;
};

static void *plain_hash_all(void *context)
{
    struct plain_hash *h = context;
    unsigned char *piece = mem_new(unsigned char, FRAME);
    struct digest_state s;
    digest_begin(&s);
    for (uint64_t at = 0, until; at < total;) {
        pthread_mutex_lock(&h->lock);
        while (h->written == at)
            pthread_cond_wait(&h->more, &h->lock);
        until = h->written;
        pthread_mutex_unlock(&h->lock);
        while (at < until) {
            uint64_t want = until - at < FRAME ? until - at : FRAME;
            ssize_t n = pread(h->fd, piece, (size_t)want, (off_t)at);
            transfer_must(n > 0, "read again");
            digest_bytes(&s, piece, (size_t)n);
            at += (uint64_t)n;
        }
    }
    digest_end(&s, &h->digest);
    free(piece);
    return NULL;
}

static void plain_hash_written(struct plain_hash *h, uint64_t n)
{
    pthread_mutex_lock(&h->lock);
    h->written += n;
    pthread_cond_signal(&h->more);
    pthread_mutex_unlock(&h->lock);
}

static void plain_receive(int socket, const char *path, enum plain_kind kind)
{
    unsigned char *buffer = mem_new(unsigned char, FRAME + PROOF), nonce[12];
    struct seal_cipher cipher = plain_cipher(kind);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    transfer_must(fd >= 0, path);
    struct plain_hash hash = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, fd, 0, {{0}}};
    pthread_t thread;
    if (kind == PLAIN_PROVED)
        transfer_must(pthread_create(&thread, NULL, plain_hash_all, &hash) == 0, "a thread");
    uint64_t number = 0;
    for (uint64_t left = total; left;) {
        size_t n = left < FRAME ? (size_t)left : FRAME;
        for (size_t got = 0; got < n + PROOF;) {
            ssize_t k = read(socket, buffer + got, n + PROOF - got);
            transfer_must(k > 0, "read");
            got += (size_t)k;
        }
        plain_nonce(number++, nonce);
        transfer_must(seal_cipher_open(&cipher, &(struct seal_cipher_frame){.nonce = nonce,
                                                                            .text = buffer,
                                                                            .n = n,
                                                                            .proof = buffer + n}),
                      "a frame that was changed");
        plain_write(fd, buffer, n);
        left -= n;
        if (kind == PLAIN_PROVED)
            plain_hash_written(&hash, n);
    }
    if (kind == PLAIN_PROVED)
        transfer_must(pthread_join(thread, NULL) == 0 && digest_equal(&hash.digest, &content),
                      "another content");
    close(fd);
    seal_cipher_wipe(&cipher);
    free(buffer);
}

static int listen_here(struct sockaddr_in *a)
{
    socklen_t size = sizeof *a;
    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    transfer_must(fd >= 0 && bind(fd, (struct sockaddr *)a, size) == 0 && listen(fd, 1) == 0 &&
                      getsockname(fd, (struct sockaddr *)a, &size) == 0,
                  "a socket");
    return fd;
}

static struct transfer_use plain_round(enum plain_kind kind)
{
    struct transfer_use use = {0};
    struct sockaddr_in a;
    int door = listen_here(&a);
    pid_t child = fork();
    if (child == 0) {
        int s = accept(door, NULL, NULL);
        plain_send(s, bench_below(folder, "from/data"), kind);
        _exit(0);
    }
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    transfer_must(connect(s, (struct sockaddr *)&a, sizeof a) == 0, "connect");
    use_since(&use, 0);
    double began = clock_seconds();
    plain_receive(s, bench_below(folder, "plain"), kind);
    double took = clock_seconds() - began;
    close(s);
    close(door);
    waitpid(child, NULL, 0);
    use_since(&use, began);
    use.took = took;
    unlink(bench_below(folder, "plain"));
    return use;
}

/* ---- depots ---- */

struct end {
    uv_loop_t loop;
    struct links *links;
    struct depot *depot;
    struct memo *memo;
    struct link *link;
    char place[1100], partial[1200];
    bool over, good;
};

static void end_opened(void *context, struct link *l)
{
    ((struct end *)context)->link = l;
}

static void end_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    struct end *e = context;
    if (!depot_message(e->depot, l, kind, data, n))
        link_close(l, "malformed");
}

static void end_closed(void *context, struct link *l, const char *why)
{
    struct end *e = context;
    (void)why;
    depot_closed(e->depot, l);
    e->over = true;
}

static void end_drained(void *context, struct link *l)
{
    depot_drained(((struct end *)context)->depot, l);
}

static void end_arrived(void *context, uint32_t object, bool good, const char *why)
{
    struct end *e = context;
    (void)object;
    if (!good)
        fprintf(stderr, "bench_transfer: %s\n", why);
    e->over = true;
    e->good = good;
}

static void end_open(struct end *e, const char *name, const struct seal_key *key)
{
    struct error err = {0};
    uv_loop_init(&e->loop);
    snprintf(e->place, sizeof e->place, "%s/%s", folder, name);
    snprintf(e->partial, sizeof e->partial, "%s.partial", e->place);
    mkdir(e->place, 0700);
    e->memo = memo_open(NULL, NULL, &err);
    e->depot = depot_new(&(struct depot_config){.workflow = flow,
                                                .run = 1,
                                                .folder = e->place,
                                                .partial = e->partial,
                                                .memo = e->memo,
                                                .most = 4,
                                                .loop = &e->loop,
                                                .arrived = end_arrived,
                                                .context = e});
    e->links = links_new(&(struct links_config){.loop = &e->loop,
                                                .key = *key,
                                                .bind = "127.0.0.1:0",
                                                .self = name,
                                                .open = end_opened,
                                                .message = end_message,
                                                .closed = end_closed,
                                                .drained = end_drained,
                                                .context = e},
                         &err);
    bench_must(e->links != NULL, &err);
}

static void end_close(struct end *e)
{
    links_free(e->links);
    depot_free(e->depot);
    uv_run(&e->loop, UV_RUN_DEFAULT);
    uv_loop_close(&e->loop);
    memo_close(e->memo, NULL);
}

/* In a process of its own: serves until the link is gone. */
static void serve_until_closed(const struct seal_key *key, int tell)
{
    static struct end e;
    end_open(&e, "from", key);
    memo_learn_digest(e.memo, bench_below(folder, "from/data"), &content);
    depot_added(e.depot, 0, &content, (double)total);
    const char *address = links_address(e.links);
    plain_write(tell, (const unsigned char *)address, strlen(address) + 1);
    while (!e.over)
        uv_run(&e.loop, UV_RUN_ONCE);
    end_close(&e);
}

static struct transfer_use depot_round(void)
{
    struct transfer_use use = {0};
    struct seal_key key;
    int pipes[2];
    char address[300] = "";
    seal_key_random(&key);
    transfer_must(pipe(pipes) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        serve_until_closed(&key, pipes[1]);
        _exit(0);
    }
    transfer_must(read(pipes[0], address, sizeof address - 1) > 0, "the other end");
    static struct end e;
    e = (struct end){0};
    end_open(&e, "to", &key);
    link_connect(e.links, address, "from");
    while (!e.link && !e.over)
        uv_run(&e.loop, UV_RUN_ONCE);
    use_since(&use, 0);
    double began = clock_seconds();
    depot_fetch(e.depot, 0, e.link, &content, false);
    while (!e.over)
        uv_run(&e.loop, UV_RUN_ONCE);
    double took = clock_seconds() - began;
    transfer_must(e.good, "the transfer");
    end_close(&e);
    close(pipes[0]);
    close(pipes[1]);
    waitpid(child, NULL, 0);
    use_since(&use, began);
    use.took = took;
    tree_remove(bench_below(folder, "to"));
    tree_remove(bench_below(folder, "to.partial"));
    return use;
}

/* ---- ---- */

static void make_file(void)
{
    const char *path = bench_below(folder, "from/data");
    mkdir(bench_below(folder, "from"), 0700);
    unsigned char *piece = mem_new(unsigned char, FRAME);
    struct digest_state s;
    digest_begin(&s);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    transfer_must(fd >= 0, path);
    for (uint64_t at = 0; at < total; at += FRAME) {
        randombytes_buf(piece, FRAME);
        plain_write(fd, piece, FRAME);
        digest_bytes(&s, piece, FRAME);
    }
    close(fd);
    digest_end(&s, &content);
    free(piece);
    usleep(50000); /* files that are younger than a tick are read again */
}

static struct workflow *one_object(void)
{
    struct error err = {0};
    struct builder *b = builder_new("<bench>", "bench");
    uint32_t t = builder_task(b, "t", 1, 0);
    builder_consumes(b, t, builder_object(b, "data", 4), (double)total);
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

static void print_use(struct json_writer *j, const char *what, const char *key,
                      const struct transfer_use *u)
{
    double megabytes = (double)total / 1e6, gigabytes = megabytes / 1e3;
    printf(
        "%-24s %6.0f MB/s; processor seconds a GB: sender %.2f, receiver %.2f, its threads %.2f\n",
        what, megabytes / u->took, u->sender / gigabytes, u->receiver / gigabytes,
        u->others / gigabytes);
    json_write_key(j, key);
    json_write_object_inline(j);
    json_put_number(j, "mb_s", megabytes / u->took);
    json_put_number(j, "sender_s_gb", u->sender / gigabytes);
    json_put_number(j, "receiver_s_gb", u->receiver / gigabytes);
    json_put_number(j, "threads_s_gb", u->others / gigabytes);
    json_write_end_object(j);
}

static void print_uses(struct json_writer *j,
                       const struct transfer_use best[static PLAIN_KINDS + 1])
{
    static const char *const keys[] = {"plain", "plain_quick", "plain_proved", "agents"};
    static const char *const words[] = {"plain encrypted socket", "plain, quick", "plain, proved",
                                        "between agents"};
    const struct transfer_use *agents = &best[PLAIN_KINDS];
    for (int k = 0; k <= PLAIN_KINDS; k++)
        print_use(j, words[k], keys[k], &best[k]);
    for (int k = 0; k < PLAIN_KINDS; k++) {
        char key[40];
        double here = best[k].took / agents->took, cores = busiest(&best[k]) / busiest(agents);
        printf("of %-22s %.2f here, on %ld cores; %.2f with a core for each thread\n", words[k],
               here, sysconf(_SC_NPROCESSORS_ONLN), cores);
        snprintf(key, sizeof key, "of_%s", keys[k]);
        json_put_number(j, key, here);
    }
    json_write_key(j, "goals");
    json_write_array(j);
    double plain = best[PLAIN].took / agents->took, proved = best[PLAIN_PROVED].took / agents->took;
    bench_goal(j, "1 GB between agents, of a plain encrypted socket", plain, "", "at least 0.8",
               plain >= 0.8);
    bench_goal(j, "of one that proves the digest, too", proved, "", "at least 0.8", proved >= 0.8);
    json_write_end_array(j);
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else {
            fprintf(stderr, "usage: bench_transfer [--json FILE] [--quick]\n");
            return 2;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    transfer_must(sodium_init() >= 0, "libsodium");
    total = (uint64_t)(quick ? 128 : 1024) << 20;
    bench_make_folder(folder, sizeof folder, "weft-bench-transfer");
    flow = one_object();
    make_file();
    struct transfer_use best[PLAIN_KINDS + 1], now;
    for (int k = 0; k <= PLAIN_KINDS; k++)
        best[k] = (struct transfer_use){INFINITY, INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < (quick ? 2 : REPEATS); i++)
        for (int k = 0; k <= PLAIN_KINDS; k++) {
            now = k < PLAIN_KINDS ? plain_round((enum plain_kind)k) : depot_round();
            keep_best(&best[k], &now);
        }
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-transfer/2");
    print_uses(j, best);
    workflow_free(flow);
    tree_remove(folder);
    return bench_report_end(&report);
}
