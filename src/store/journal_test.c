/* The journal against kill -9, torn ends, damage, full disks and foreign files. */
#include "base/file.h"
#include "base/rng.h"
#include "base/crc32c.h"
#include "base/journal.h"
#include "store/testing.h"
#include "tap.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define TASKS 4000
#ifdef __SANITIZE_ADDRESS__
#define KILLS 24 /* forking a sanitized process takes its time */
#else
#define KILLS 120
#endif
static char folder[4096], path[4200];
static bool no_sync; /* where the disk's own speed is not what is tested */

static struct store *open_store(const struct workflow *w, bool eager, struct store_opened *found,
                                struct error *err)
{
    struct store_embedded_config c = {
        .workflow = w, .journal = path, .eager = eager, .no_sync = no_sync};
    error_clear(err);
    return store_embedded_open(&c, found, err);
}

static uint8_t status_of(struct store *s, uint32_t task)
{
    return ask(s, OP(GET, .task = task), NULL).status;
}

/* Of all tasks, in one batch. */
static void statuses(struct store *s, uint8_t *status)
{
    static struct meta_op ops[TASKS];
    struct meta_answers all;
    struct error err = {0};
    for (uint32_t t = 0; t < TASKS; t++)
        ops[t] = OP(GET, .task = t);
    store_submit(s, ops, TASKS);
    store_flush(s, &err);
    store_poll(s, &all, &err);
    for (size_t i = 0; i < TASKS; i++)
        status[i] = i < all.n ? all.at[i].status : 255;
}

/* ---- kill -9 ---- */

/* In memory that the killed child shares: what its store has reported. */
struct reported {
    uint32_t done[TASKS]; /* answered by a strict store */
    uint64_t durable;     /* an eager store's word */
    uint32_t eager_order[TASKS];
};

/* Complete tasks in batches until killed. Task order is 0, 1, 2 ...: parents come first. */
static void child_strict(const struct workflow *w, struct reported *r, uint32_t from, uint64_t seed)
{
    struct error err = {0};
    struct store *s = open_store(w, false, NULL, &err);
    struct rng rng;
    rng_seed(&rng, seed);
    struct meta_answers all;
    ARRAY(struct meta_op) ops = {0};
    uint32_t next = from;
    while (s && next < TASKS) {
        ops.n = 0;
        for (uint64_t n = 1 + rng_below(&rng, 60); n && next < TASKS; n--, next++) {
            array_push(&ops, OP(PUT, .task = next, .node = 0));
            array_push(&ops, OP(START, .task = next, .node = 0, .epoch = 1, .attempt = 1));
            array_push(&ops, OP(COMPLETE, .task = next, .node = 0, .epoch = 1, .attempt = 1,
                                .time = next));
        }
        store_submit(s, ops.at, ops.n);
        if (rng_below(&rng, 3) == 0)
            store_wait(s);
        store_poll(s, &all, &err);
        for (size_t i = 0; i < all.n; i++)
            if (all.at[i].kind == META_COMPLETE && all.at[i].outcome == META_OK)
                __atomic_store_n(&r->done[all.at[i].item.task], 1, __ATOMIC_RELEASE);
    }
    while (s) /* all is submitted; keep polling until the kill comes */
        if (!store_poll(s, &all, &err))
            break;
        else
            for (size_t i = 0; i < all.n; i++)
                if (all.at[i].kind == META_COMPLETE && all.at[i].outcome == META_OK)
                    __atomic_store_n(&r->done[all.at[i].item.task], 1, __ATOMIC_RELEASE);
    _exit(1);
}

static void child_eager(const struct workflow *w, struct reported *r, uint32_t from, uint64_t seed)
{
    struct error err = {0};
    struct store *s = open_store(w, true, NULL, &err);
    struct rng rng;
    rng_seed(&rng, seed);
    struct meta_answers all;
    uint32_t next = from;
    while (s) {
        for (uint64_t n = 1 + rng_below(&rng, 60); n && next < TASKS; n--, next++) {
            struct meta_op ops[2] = {OP(PUT, .task = next, .node = 0),
                                     OP(COMPLETE, .task = next, .node = 0, .epoch = 1)};
            store_submit(s, ops, 2);
        }
        store_poll(s, &all, &err);
        __atomic_store_n(&r->durable, store_durable(s), __ATOMIC_RELEASE);
    }
    _exit(1);
}

static void test_kill(const struct workflow *w, int rounds, bool eager)
{
    struct reported *r =
        mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct error err = {0};
    struct rng rng;
    rng_seed(&rng, eager ? 5 : 6);
    uint64_t lost = 0, kept = 0, holes = 0, torn = 0, orphans = 0;
    uint32_t from = 0;
    bool opened = true;
    unlink(path);
    for (int round = 0; round < rounds && opened; round++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            if (eager)
                child_eager(w, r, from, (uint64_t)round);
            else
                child_strict(w, r, from, (uint64_t)round);
        }
        struct timespec nap = {0, (long)rng_below(&rng, 8000000)};
        nanosleep(&nap, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct store_opened found;
        struct store *s = open_store(w, eager, &found, &err);
        opened = s != NULL;
        if (!s)
            break;
        torn += found.cut > 0;
        uint32_t before = from, end = from;
        static uint8_t status_now[TASKS];
        statuses(s, status_now);
        while (end < TASKS && status_now[end] == META_DONE)
            end++;
        for (uint32_t t = before; t < TASKS; t++) {
            uint8_t status = status_now[t];
            if (t > end && status == META_DONE)
                holes++;
            if (!eager && r->done[t] && status != META_DONE)
                lost++;
            if (status == META_QUEUED || status == META_RUNNING)
                orphans++;
        }
        /* two operations a task */
        if (eager && before + r->durable / 2 > end)
            lost++;
        kept += end - before;
        /* Begin anew when it is nearly full; otherwise go on where it stopped. */
        from = end;
        for (; from < TASKS && status_now[from] != META_ABSENT; from++)
            ask(s, OP(COMPLETE, .task = from, .node = 0, .epoch = 1), NULL);
        store_close(s, &err);
        r->durable = 0;
        if (from > TASKS - 500) {
            unlink(path);
            from = 0;
            memset(r->done, 0, sizeof r->done);
        }
    }
    ok(opened, "%s: the journal opens after each of %d kills %s", eager ? "eager" : "strict",
       rounds, err.text);
    is_int(lost, 0, "nothing that was reported durable is lost (%llu tasks kept)",
           (unsigned long long)kept);
    is_int(holes, 0, "what is there is a prefix of what was done");
    ok(kept > 0, "and there was something to lose");
    printf("# %llu torn ends, %llu tasks begun and not done\n", (unsigned long long)torn,
           (unsigned long long)orphans);
    munmap(r, sizeof *r);
}

/* ---- torn and damaged files ---- */

/* Without the care (and the syncs) of file_write(). */
static void put_file(const char *data, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        printf("Bail out! cannot write a test file\n");
        exit(1);
    }
}

static struct text good_file(const struct workflow *w, uint64_t *ends, int groups)
{
    struct error err = {0};
    struct text text = {0};
    unlink(path);
    struct store *s = open_store(w, false, NULL, &err);
    for (int g = 0; s && g < groups; g++) {
        struct meta_op ops[2] = {OP(PUT, .task = (uint32_t)g, .node = 0),
                                 OP(COMPLETE, .task = (uint32_t)g, .node = 0, .epoch = 1)};
        store_submit(s, ops, 2);
        store_flush(s, &err);
        text_free(&text);
        file_read(path, &text, &err);
        ends[g] = text.n;
    }
    store_close(s, &err);
    return text;
}

static void test_torn(const struct workflow *w)
{
    uint64_t ends[6];
    struct text text = good_file(w, ends, 6);
    struct error err = {0};
    uint64_t wrong = 0, unsaid = 0;
    for (size_t n = 0; n <= text.n; n++) {
        put_file(text.at, n);
        struct store_opened found;
        struct store *s = open_store(w, false, &found, &err);
        int whole = 0;
        while (whole < 6 && ends[whole] <= n)
            whole++;
        for (uint32_t t = 0; s && t < 6; t++)
            wrong += (status_of(s, t) == META_DONE) != ((int)t < whole);
        wrong += s == NULL;
        uint64_t expected = n - (whole ? ends[whole - 1] : n < 40 ? 0 : 40);
        unsaid += s && found.cut != expected;
        /* and it can be written to again */
        if (s && n % 16 == 0)
            wrong += ask(s, OP(PUT, .task = 9, .node = 0), NULL).outcome != META_OK;
        store_close(s, &err);
    }
    is_int(wrong, 0, "cut at each of %zu bytes: exactly the whole groups are there", text.n);
    is_int(unsaid, 0, "and what was cut off is said");

    uint64_t silent = 0, changed = 0;
    for (size_t i = 0; i < ends[4]; i++) { /* a bit of any byte before the last group */
        text.at[i] ^= 16;
        put_file(text.at, text.n);
        struct store *s = open_store(w, false, NULL, &err);
        silent += s != NULL;
        store_close(s, NULL);
        struct text now = {0};
        file_read(path, &now, &err);
        changed += now.n != text.n || memcmp(now.at, text.at, text.n) != 0;
        text_free(&now);
        text.at[i] ^= 16;
    }
    is_int(silent, 0, "a bit flipped anywhere before the last group is an error");
    is_int(changed, 0, "that leaves the file as it is");
    text.at[60] ^= 1;
    put_file(text.at, text.n);
    open_store(w, false, NULL, &err);
    has_str(err.text, "damaged at byte 40 (frame 0)", "it says where");
    text.at[60] ^= 1;
    text.at[8] = 9;
    put_file(text.at, text.n);
    open_store(w, false, NULL, &err);
    has_str(err.text, "journal version 9, but this program reads version 1",
            "a journal of another version");
    is_int(err.kind, ERROR_INPUT, "is bad input");
    text_free(&text);
}

static void test_foreign(const struct workflow *w)
{
    struct error err = {0};
    put_file("hello", 5);
    ok(!open_store(w, false, NULL, &err), "a short file that is no journal is refused");
    has_str(err.text, "no weft journal", "and said");
    char long_text[200];
    memset(long_text, 'x', sizeof long_text);
    put_file(long_text, sizeof long_text);
    ok(!open_store(w, false, NULL, &err), "a long one too");
    unlink(path);
    struct store *s = open_store(w, false, NULL, &err);
    struct store *second = open_store(w, false, NULL, &err);
    ok(!second, "a journal in use is refused");
    has_str(err.text, "another weft is using", "and said");
    store_close(s, &err);
    struct workflow *other = make_workflow(TASKS, "u");
    ok(!open_store(other, false, NULL, &err), "the journal of another workflow is refused");
    has_str(err.text, "another workflow", "and said");
    workflow_free(other);
    char old[4200];
    memcpy(old, path, sizeof old);
    snprintf(path, sizeof path, "%s/none/j", folder);
    ok(!open_store(w, false, NULL, &err), "a folder that is not there");
    has_str(err.text, "No such file", "is said");
    snprintf(path, sizeof path, "%s", folder);
    ok(!open_store(w, false, NULL, &err), "a folder is no journal");
    memcpy(path, old, sizeof old);
}

/* ---- disk full ---- */

static void test_full(const struct workflow *w)
{
    struct error err = {0};
    unlink(path);
    struct store *s = open_store(w, false, NULL, &err);
    struct meta_answers all;
    struct rlimit old, tight;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    tight = old;
    tight.rlim_cur = 20000;
    setrlimit(RLIMIT_FSIZE, &tight);
    bool failed = false;
    uint32_t next = 0, answered = 0;
    for (; next < TASKS && !failed; next++) {
        struct meta_op ops[2] = {OP(PUT, .task = next, .node = 0),
                                 OP(COMPLETE, .task = next, .node = 0, .epoch = 1)};
        store_submit(s, ops, 2);
        store_wait(s);
        failed = !store_poll(s, &all, &err);
        answered += (uint32_t)all.n / 2;
    }
    setrlimit(RLIMIT_FSIZE, &old);
    ok(failed && next < TASKS, "a full disk is told (after %u tasks)", answered);
    has_str(err.text, "wait in memory: make space", "with what to do");
    struct text text = {0};
    struct error ignored = {0};
    file_read(path, &text, &ignored);
    ok(text.n <= 20000 && text.n > 10000, "the file ends with its last whole group");
    text_free(&text);
    error_clear(&err);
    ok(store_retry(s, &err) && store_flush(s, &err), "with space again, it goes on %s", err.text);
    while (store_poll(s, &all, &err) && all.n)
        answered += (uint32_t)all.n / 2;
    is_int(answered, next, "every operation is answered");
    ok(store_close(s, &err), "closed");
    s = open_store(w, false, NULL, &err);
    uint32_t done = 0;
    for (uint32_t t = 0; s && t < next; t++)
        done += status_of(s, t) == META_DONE;
    is_int(done, next, "and all of them are on disk");

    setrlimit(RLIMIT_FSIZE, &tight);
    ask(s, OP(PUT, .task = next, .node = 0), NULL);
    error_clear(&err);
    ok(!store_close(s, &err), "closing with a full disk says that something is missing");
    setrlimit(RLIMIT_FSIZE, &old);
    s = open_store(w, false, NULL, &err);
    ok(s && status_of(s, 0) == META_DONE && status_of(s, next) == META_ABSENT,
       "what was recorded is still there");
    store_close(s, &err);
}

/* The definition: a division of polynomials. */
static uint32_t crc_bit_by_bit(const char *at, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)at[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

static void test_crc(void)
{
    is_int(crc32c(0, "123456789", 9), 0xE3069283u, "CRC-32C of the standard's example");
    is_int(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xE3069283u, "in two parts");
    char text[200];
    bool same = true;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 37 + i / 7);
    for (size_t at = 0; at < 9; at++)
        for (size_t n = 0; n + at <= sizeof text; n++)
            same &= crc32c(0, text + at, n) == crc_bit_by_bit(text + at, n);
    ok(same, "of any length from any place, as the definition says");
}

/* ---- memory that runs out ---- */

static void submit_batch(void *store)
{
    static struct meta_op ops[3 * 500];
    for (uint32_t t = 0; t < 500; t++) {
        ops[3 * t] = OP(PUT, .task = t, .node = 0);
        ops[3 * t + 1] = OP(START, .task = t, .node = 0, .epoch = 1, .attempt = 1);
        ops[3 * t + 2] = OP(COMPLETE, .task = t, .node = 0, .epoch = 1, .attempt = 1, .time = t);
    }
    store_submit(store, ops, 3 * 500);
}

/* The caller allocates while it has the lock that the writer waits for: closing would never end. */
static void test_memory(const struct workflow *w)
{
    size_t failures = 0, asked;
    bool whole = true;
    for (long nth = 1;; nth++) {
        struct error err = {0};
        unlink(path);
        struct store *s = open_store(w, nth % 2 == 0, NULL, &err);
        mem_test_fail(nth);
        bool ended = mem_try(NULL, submit_batch, s, &asked);
        bool happened = mem_test_fail(0) == 0;
        whole &= store_close(s, &err);
        s = open_store(w, false, NULL, &err);
        whole &= s && store_close(s, &err);
        failures += !ended;
        if (ended && !happened)
            break;
    }
    ok(failures > 3 && whole, "memory runs out %zu times: it can be closed and opened again",
       failures);
}

int main(void)
{
    struct workflow *w = make_workflow(TASKS, "t");
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/journal", folder);
    TAP_DO(test_crc());
    no_sync = true;
    TAP_DO(test_torn(w));
    TAP_DO(test_foreign(w));
    TAP_DO(test_full(w));
    TAP_DO(test_memory(w));
    no_sync = false;
    TAP_DO(test_kill(w, KILLS, false));
    TAP_DO(test_kill(w, KILLS / 2, true));
    remove_folder(folder);
    workflow_free(w);
    return tap_done();
}
