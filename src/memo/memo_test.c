#include "base/journal.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "folder_testing.h"
#include "memo/memo.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct digest key_from_number(uint32_t n)
{
    struct digest d;
    digest_of((const char *)&n, sizeof n, &d);
    return d;
}

static void add_record(struct memo *m, uint32_t n, uint32_t outputs)
{
    struct memo_input in[2] = {{n, n + 1}, {n + 2, n + 3}};
    struct digest out[3] = {key_from_number(n + 1), key_from_number(n + 2), key_from_number(n + 3)};
    struct memo_task t = {.key = key_from_number(n),
                          .name = n % 1000,
                          .command = n,
                          .ninputs = 2,
                          .noutputs = outputs};
    memo_add(m, &t, in, out);
}

static bool is_there(const struct memo *m, uint32_t n, uint32_t outputs)
{
    struct digest key = key_from_number(n);
    const struct memo_task *t = memo_find(m, &key);
    if (!t || t->command != n || t->noutputs != outputs || t->ninputs != 2 ||
        memo_inputs(m, t)[1].content != n + 3)
        return false;
    for (uint32_t i = 0; i < outputs; i++) {
        struct digest want = key_from_number(n + 1 + i);
        if (!digest_equal(&memo_outputs(m, t)[i], &want))
            return false;
    }
    return true;
}

static void test_many(const struct bench_folder *f)
{
    struct error err = {0};
    struct memo *m = memo_open(folder_file(f, "memo"), NULL, &err);
    uint32_t n = 5000, good = 0;
    for (uint32_t i = 0; i < n; i++) {
        add_record(m, i, i % 4);
        if (i % 700 == 0)
            memo_flush(m, &err);
    }
    ok(memo_close(m, &err), "records are written %s", err.text);
    struct memo_opened found;
    m = memo_open(folder_file(f, "memo"), &found, &err);
    ok(m && found.existed && !found.cut, "and read again");
    for (uint32_t i = 0; i < n; i++)
        good += is_there(m, i, i % 4);
    is_int(good, n, "each as it was");
    struct digest other = key_from_number(n + 77);
    ok(!memo_find(m, &other), "and none that was not");
    is_int((long long)memo_last(m, 42)->command, 4042, "of one name the latest counts");
    ok(memo_bytes(m) < 400 * (size_t)n, "in little memory: %zu bytes each", memo_bytes(m) / n);
    struct error second = {0};
    struct memo_opened refused;
    ok(!memo_open(folder_file(f, "memo"), &refused, &second) && refused.busy,
       "nobody else may have it meanwhile");
    struct memo *looks = memo_look(folder_file(f, "memo"), &second);
    ok(looks && memo_count(looks) == memo_count(m) && memo_last(looks, 42), "but look at it");
    memo_close(looks, &second);
    has_str(second.text, "memo", "and is told which");
    memo_close(m, &err);
}

static bool keep_even(void *context, const struct memo_task *t)
{
    (void)context;
    return t->command % 2 == 0;
}

static void test_compact(const struct bench_folder *f)
{
    struct error err = {0};
    struct memo *m = memo_open(folder_file(f, "memo"), NULL, &err);
    double before, after;
    ok(memo_compact(m, keep_even, NULL, &before, &after, &err), "half is dropped %s", err.text);
    ok(after < 0.7 * before && after > 0, "%.0f bytes are %.0f", before, after);
    ok(is_there(m, 4, 0) && !is_there(m, 5, 1), "from memory");
    add_record(m, 90001, 1);
    ok(memo_close(m, &err), "it goes on %s", err.text);
    m = memo_open(folder_file(f, "memo"), NULL, &err);
    ok(m && is_there(m, 4, 0) && !is_there(m, 5, 1) && is_there(m, 90001, 1), "and from the file");
    is_int((long long)memo_count(m), 2501, "nothing else");
    memo_close(m, &err);
    ok(access(folder_file(f, "memo.new"), F_OK) != 0, "no file is left over");
}

/* Cut anywhere: what was flushed before the last frame is there, and it says what it dropped. */
static void test_torn(const struct bench_folder *f)
{
    struct error err = {0};
    struct memo *m = memo_open(folder_file(f, "torn"), NULL, &err);
    add_record(m, 1, 1);
    memo_flush(m, &err);
    struct stat whole, first;
    stat(folder_file(f, "torn"), &first);
    add_record(m, 2, 1);
    memo_close(m, &err);
    stat(folder_file(f, "torn"), &whole);
    uint32_t good = 0, tried = 0;
    for (off_t cut = first.st_size; cut < whole.st_size; cut += 7, tried++) {
        struct text text;
        file_read(folder_file(f, "torn"), &text, &err);
        file_write(folder_file(f, "cut"), text.at, (size_t)cut, &err);
        text_free(&text);
        struct memo_opened found;
        m = memo_open(folder_file(f, "cut"), &found, &err);
        good += m && is_there(m, 1, 1) && !is_there(m, 2, 1) &&
                found.cut == (uint64_t)(cut - first.st_size);
        memo_close(m, &err);
    }
    is_int(good, tried, "a torn tail is cut off, and nothing else");
}

/* ---- by itself ---- */

static bool needs_low_numbers(void *context, const struct memo_task *t)
{
    return t->command < *(uint32_t *)context;
}

static void test_tidy(const struct bench_folder *f)
{
    struct error err = {0};
    uint32_t low = 100, n = 30000, good = 0;
    struct memo *m = memo_open(folder_file(f, "tidy"), NULL, &err);
    struct memo_tidying t = {.most = 1e9, .needed = needs_low_numbers, .context = &low};
    for (uint32_t i = 0; i < n; i++)
        add_record(m, i, 1);
    memo_flush(m, &err);
    ok(memo_tidy(m, &t, &err) && t.before == t.after, "a small one is left as it is");
    t.most = 2e6; /* of 4 MB */
    bool tidy = memo_tidy(m, &t, &err);
    ok(tidy && t.forgot && t.after < 1.2e6, "past its size: %.0f, then %.0f bytes", t.before,
       t.after);
    for (uint32_t i = 0; i < low; i++)
        good += is_there(m, i, 1);
    is_int(good, low, "what is needed stays");
    ok(is_there(m, n - 1, 1) && !is_there(m, low, 1), "the newest stay, the oldest go");
    size_t count = memo_count(m);
    memo_close(m, &err);
    m = memo_open(folder_file(f, "tidy"), NULL, &err);
    is_int((long long)memo_count(m), (long long)count, "in the file, too");
    ok(memo_tidy(m, &t, &err) && t.before == t.after, "and that was it");
    t.most = 1e3;
    low = n;
    ok(memo_tidy(m, &t, &err) && t.before == t.after, "all of it is needed: nothing can go");
    t.most = 1e9;
    for (uint32_t i = 0; i < 300000; i++)
        add_record(m, i % 10, 1 + i / 10 % 2);
    memo_flush(m, &err);
    tidy = memo_tidy(m, &t, &err);
    ok(tidy && !t.forgot && t.after < t.before / 10 && is_there(m, 7, 2),
       "records that others have replaced go: %.0f, then %.0f bytes", t.before, t.after);
    memo_close(m, &err);
}

/* What a forced run computes again is on record: the file does not grow by it. */
static void test_repeated(const struct bench_folder *f)
{
    struct error err = {0};
    struct stat once, twice, more;
    struct memo *m = NULL;
    for (uint32_t turn = 0; turn < 3; turn++) {
        m = memo_open(folder_file(f, "repeated"), NULL, &err);
        for (uint32_t i = 0; i < 500; i++)
            add_record(m, i, i % 4);
        memo_close(m, &err);
        stat(folder_file(f, "repeated"), turn ? &twice : &once);
    }
    is_int((long long)twice.st_size, (long long)once.st_size, "the same again is not written");
    m = memo_open(folder_file(f, "repeated"), NULL, &err);
    add_record(m, 7, 2); /* as many outputs as never before: another result */
    memo_flush(m, &err);
    stat(folder_file(f, "repeated"), &more);
    ok(more.st_size > twice.st_size && is_there(m, 7, 2), "another result is");
    add_record(m, 1007, 1); /* of the same name */
    add_record(m, 7, 2);
    memo_close(m, &err);
    m = memo_open(folder_file(f, "repeated"), NULL, &err);
    ok(memo_last(m, 7)->command == 7, "and a result that another one of its name came after");
    memo_close(m, &err);
}

struct compaction {
    const char *path;
    long nth; /* allocation that fails while it is compacted */
    struct memo *memo;
    int descriptors;
};

static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void compact_even(void *context)
{
    struct compaction *c = context;
    struct error err = {0};
    double before, after;
    c->memo = memo_open(c->path, NULL, &err);
    for (uint32_t i = 0; c->nth == 1 && i < 2000; i++)
        add_record(c->memo, i, 1);
    memo_flush(c->memo, &err);
    c->descriptors = count_descriptors();
    mem_test_fail(c->nth);
    memo_compact(c->memo, keep_even, NULL, &before, &after, &err);
}

/* Memory runs out at each allocation in turn: the memo is as it was, or compacted, and nothing is left. */
static void test_compact_without_memory(const struct bench_folder *f)
{
    struct error err = {0};
    size_t asked, failures = 0;
    bool whole = true, clear = true, all = false;
    char *path = mem_copy_string(folder_file(f, "oom"));
    for (long nth = 1; !all; nth++) {
        struct compaction c = {.path = path, .nth = nth};
        struct mem_ledger ledger;
        mem_ledger_open(&ledger);
        bool ended = mem_try(&ledger, compact_even, &c, &asked);
        all = mem_test_fail(0) != 0;
        clear &=
            count_descriptors() == c.descriptors && access(folder_file(f, "oom.new"), F_OK) != 0;
        memo_abandon(c.memo);
        mem_ledger_release(&ledger);
        struct memo *again = memo_open(path, NULL, &err);
        whole &= again && is_there(again, 42, 1);
        memo_close(again, &err);
        failures += !ended;
    }
    free(path);
    ok(whole && failures > 5, "memory runs out while it is compacted, %zu times: it is whole",
       failures);
    ok(clear, "and neither a descriptor nor a file is left");
}

static void test_files(const struct bench_folder *f)
{
    struct error err = {0};
    struct memo *m = memo_open(folder_file(f, "memo"), NULL, &err);
    struct digest a, b, known;
    double size;
    struct stat s;
    folder_write(f, "x", "content");
    ok(memo_digest(m, folder_file(f, "x"), true, &a, &size, &err) && size == 7, "a file");
    digest_of("content", 7, &b);
    ok(digest_equal(&a, &b), "its digest is that of its content");
    stat(folder_file(f, "x"), &s);
    ok(memo_known(m, folder_file(f, "x"), &s, &known) && digest_equal(&known, &b), "is known");
    s.st_size++;
    ok(!memo_known(m, folder_file(f, "x"), &s, &known), "not if its size differs");
    s.st_size--;
    s.st_mtim.tv_nsec ^= 1;
    ok(!memo_known(m, folder_file(f, "x"), &s, &known), "nor its time");
    s.st_mtim.tv_nsec ^= 1;
    s.st_ctim.tv_nsec ^= 1;
    ok(!memo_known(m, folder_file(f, "x"), &s, &known), "nor its time of change");
    ok(!memo_digest(m, folder_file(f, "none"), false, &a, &size, &err) && err.kind == ERROR_NONE,
       "no file is no error");

    mkdir(folder_file(f, "dir"), 0777);
    folder_write(f, "dir/one", "1");
    folder_write(f, "dir/two", "22");
    ok(memo_digest(m, folder_file(f, "dir"), true, &a, &size, &err) && size == 3, "a folder");
    folder_write(f, "dir/two", "23");
    memo_digest(m, folder_file(f, "dir"), false, &b, &size, &err);
    ok(!digest_equal(&a, &b), "differs when a file in it does");
    folder_write(f, "dir/two", "22");
    memo_digest(m, folder_file(f, "dir"), false, &b, &size, &err);
    ok(digest_equal(&a, &b), "and is the same when it is again");
    rename(folder_file(f, "dir/two"), folder_file(f, "dir/three"));
    memo_digest(m, folder_file(f, "dir"), false, &b, &size, &err);
    ok(!digest_equal(&a, &b), "names count");
    /* young files: written again at once, in the same tick, with the same size */
    bool fresh = true;
    for (int i = 0; i < 50 && fresh; i++) {
        char text[2] = {(char)('A' + i % 26), 0};
        int fd = open(folder_file(f, "y"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        fresh = write(fd, text, 1) == 1;
        close(fd);
        memo_digest(m, folder_file(f, "y"), false, &a, &size, &err);
        digest_of(text, 1, &b);
        fresh &= digest_equal(&a, &b);
    }
    ok(fresh, "a file that changes within a tick of the clock is seen to change");
    memo_close(m, &err);
}

/* A file's record as it was written before there was a time of change in it. */
struct record_of_before {
    uint64_t path;
    int64_t size, time, inode;
    struct digest digest;
    uint64_t young;
};

static bool replay_nothing(void *context, const unsigned char *at, size_t n, struct error *err)
{
    (void)context, (void)at, (void)n, (void)err;
    return true;
}

static void test_old_records(const struct bench_folder *f)
{
    static const struct journal_id identity = {.fingerprint = 0x6f6d656d74666577, .tasks = 1};
    struct error err = {0};
    struct journal j;
    bool existed;
    uint64_t cut;
    int reason;
    struct stat s;
    folder_write(f, "old", "content");
    stat(folder_file(f, "old"), &s);
    const char *path = folder_file(f, "old");
    struct record_of_before r = {.path = memo_hash(path, strlen(path)),
                                 .size = s.st_size,
                                 .time = s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec,
                                 .inode = (int64_t)s.st_ino};
    digest_of("another", 7, &r.digest);
    struct strbuf frame = {0};
    strbuf_add_char(&frame, 2);
    strbuf_add_bytes(&frame, (const char *)&r, sizeof r);
    ok(journal_open(&j, folder_file(f, "before"), &identity, false, replay_nothing, NULL, &existed,
                    &cut, &err) &&
           journal_append(&j, frame.at, frame.n, &reason) == JOURNAL_OK,
       "a memo of before %s", err.text);
    journal_close(&j);
    strbuf_free(&frame);
    struct memo *m = memo_open(folder_file(f, "before"), NULL, &err);
    struct digest d, want;
    double size;
    ok(m && memo_recorded(m, folder_file(f, "old"), &d) && digest_equal(&d, &r.digest),
       "is read %s", err.text);
    ok(!memo_known(m, folder_file(f, "old"), &s, &d), "but without a time of change not believed");
    digest_of("content", 7, &want);
    ok(memo_digest(m, folder_file(f, "old"), true, &d, &size, &err) && digest_equal(&d, &want),
       "the file is read once");
    ok(memo_known(m, folder_file(f, "old"), &s, &d) && digest_equal(&d, &want), "and known then");
    memo_close(m, &err);
}

/* The folder by two names; what a task left, and what somebody made of it. */
static void test_left(const struct bench_folder *f)
{
    struct error err = {0};
    struct memo *m = memo_open(folder_file(f, "left.memo"), NULL, &err);
    struct digest d, left;
    double size;
    struct stat s;
    mkdir(folder_file(f, "w"), 0777);
    folder_write(f, "w/mine", "mine");
    folder_write(f, "w/made", "made");
    memo_set_folder(m, folder_file(f, "w"));
    memo_digest(m, folder_file(f, "w/mine"), false, &d, &size, &err);
    ok(!memo_left(m, folder_file(f, "w/mine"), &left), "a file that was only read");
    memo_digest(m, folder_file(f, "w/made"), true, &d, &size, &err);
    ok(memo_left(m, folder_file(f, "w/made"), &left) && digest_equal(&d, &left),
       "and one that a task left");
    memo_set_folder(m, ".");
    stat(folder_file(f, "w/made"), &s);
    ok(memo_left(m, "made", &left) && memo_known(m, "made", &s, &d),
       "by its name in the folder, from wherever that is named");
    memo_close(m, &err);
    m = memo_open(folder_file(f, "left.memo"), NULL, &err);
    memo_set_folder(m, folder_file(f, "w"));
    ok(memo_left(m, folder_file(f, "w/made"), &left), "also after it was read again");
    chmod(folder_file(f, "w/made"), 0600);
    memo_digest(m, folder_file(f, "w/made"), false, &d, &size, &err);
    ok(memo_left(m, folder_file(f, "w/made"), &left), "chmod leaves it a task's");
    folder_write(f, "w/made", "edited");
    memo_digest(m, folder_file(f, "w/made"), false, &d, &size, &err);
    ok(!memo_left(m, folder_file(f, "w/made"), &left), "an edit does not");
    memo_close(m, &err);
}

int main(void)
{
    struct bench_folder f = folder_make();
    TAP_DO(test_many(&f));
    TAP_DO(test_compact(&f));
    TAP_DO(test_tidy(&f));
    TAP_DO(test_repeated(&f));
    TAP_DO(test_compact_without_memory(&f));
    TAP_DO(test_torn(&f));
    TAP_DO(test_files(&f));
    TAP_DO(test_old_records(&f));
    TAP_DO(test_left(&f));
    struct error err = {0};
    folder_write(&f, "bad", "this is not a journal, but long enough to look at its header twice");
    ok(!memo_open(folder_file(&f, "bad"), NULL, &err) && err.text[0], "another file: %s", err.text);
    is_str(folder_read(&f, "bad"),
           "this is not a journal, but long enough to look at its header twice", "stays as it is");
    tree_remove(f.path);
    return tap_done();
}
