/* Fetching and serving between three depots. */
#include "cluster/data/depot_testing.h"

#include "cluster/data/depot_pack.h"

#include <sys/resource.h>

static void test_names(void)
{
    static const char *good[] = {"a",       "a/b", "./a",      "..a", "a..",
                                 ".hidden", "a b", ".wefty/x", "a/",  "a/b/"};
    static const char *bad[] = {"",       "/a",    "..",      "../a",         "a/..",
                                "a/../b", "a//b",  "a//",     ".weft/",       "../",
                                "/",      "a/../", ".",       "./",           "a/./b",
                                "a/.",    ".weft", ".weft/x", "./.weft/memo", "./../a"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(depot_name_is_safe(good[i]), "'%s' is a name", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!depot_name_is_safe(bad[i]), "'%s' is none", bad[i]);
    char longer[5000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    ok(!depot_name_is_safe(longer), "nor is a very long one");
    struct error err = {0};
    ok(!depot_check_names(flow, &err), "a workflow with such a name is refused");
    has_str(err.text, "../outside", "and which is said");
}

static void test_small(struct link *l)
{
    put_file(&b, 10, "hello", 5);
    put_file(&b, 11, "", 0);
    put_file(&b, PROGRAM, "#!/bin/sh\n", 10);
    chmod(file_of(&b, PROGRAM), 0755);
    chmod(file_of(&b, 10), 0640);
    chmod(file_of(&b, 11), 0400);
    stands(&b, PROGRAM);
    stands(&b, 10);
    stands(&b, 11);
    count_anew(&a);
    count_anew(&b);
    struct digest want = *depot_digest(b.depot, 10);
    depot_fetch(a.depot, 10, l, &want, false);
    depot_fetch(a.depot, 10, l, &want, false);
    depot_fetch(a.depot, 11, l, NULL, false);
    depot_fetch(a.depot, PROGRAM, l, NULL, false);
    ok(depot_is_fetching(a.depot, 10), "it is under way");
    ok(until(&a, 3) && a.arrived == 3, "three files arrive: %s", a.why);
    turn(3);
    is_int(a.arrived, 3, "one that is asked for twice, once");
    is_str(folder_read(&a.folder, name_of(10)), "hello", "its content");
    struct stat s;
    ok(stat(file_of(&a, 11), &s) == 0 && s.st_size == 0, "an empty one");
    ok(stat(file_of(&a, PROGRAM), &s) == 0 && (s.st_mode & 07777) == 0755,
       "a program can be executed");
    ok(stat(file_of(&a, 10), &s) == 0 && (s.st_mode & 07777) == 0640, "another cannot");
    ok(stat(file_of(&a, 11), &s) == 0 && (s.st_mode & 07777) == 0400,
       "what was private stays private");
    ok(depot_has(a.depot, 10) && depot_bytes(a.depot, 10) == 5 &&
           digest_equal(depot_digest(a.depot, 10), &want),
       "the depot knows it");
    struct digest known;
    stat(file_of(&a, 10), &s);
    ok(memo_known(a.memo, file_of(&a, 10), &s, &known) && digest_equal(&known, &want),
       "the memo need not read it");
    ok(is_empty_folder(a.partial), "nothing is left over");
    is_int(b.served, 3, "they are counted where they come from");
    struct depot_counts n = depot_counts(a.depot);
    ok(n.here == 3 && n.bytes == 15 && n.fetched == 3 && !n.under_way && !n.waiting, "and here");

    /* what is here is not fetched; what is not there is not got */
    depot_fetch(a.depot, 10, l, &want, false);
    is_int(a.arrived, 4, "what is here arrives at once");
    depot_fetch(a.depot, 12, l, NULL, false);
    ok(until(&a, 5) && a.failed == 1, "what is not there does not");
    has_str(a.why, "not here", "and it is said");
    want.at[0] ^= 1;
    depot_fetch(a.depot, 10, l, &want, false);
    ok(until(&a, 6) && a.failed == 2, "another content than the one wanted is refused");
    has_str(a.why, "another content", "and it is said");
    turn(3);
    depot_fetch(a.depot, ABSOLUTE, l, NULL, false);
    depot_fetch(a.depot, OUTSIDE, l, NULL, false);
    is_int(a.failed, 4, "names that lead out are not fetched");
    is_int(a.violations + b.violations, 0, "nobody said anything wrong");
    depot_drop(a.depot, 10);
    ok(!depot_has(a.depot, 10) && access(file_of(&a, 10), F_OK) != 0, "dropped, it is gone");
}

/* The other way over the same link, many at once. */
static void test_many(struct link *l)
{
    char text[64];
    count_anew(&a);
    for (uint32_t o = 20; o < 120; o++) {
        snprintf(text, sizeof text, "content of %u", (unsigned)o);
        put_file(&b, o, text, strlen(text));
        depot_fetch(a.depot, o, l, NULL, false);
    }
    struct depot_counts n = depot_counts(a.depot);
    ok(n.under_way == 3 && n.waiting == 97, "three are under way, the others wait");
    ok(until(&a, 100) && a.arrived == 100, "a hundred arrive");
    is_int(a.peak, 3, "three at once");
    bool in_order = true;
    for (uint32_t i = 0; i < 100; i++)
        in_order = in_order && a.order[i] == 20 + i;
    ok(in_order, "in the order of asking");
    is_str(folder_read(&a.folder, name_of(77)), "content of 77", "each its own");
    put_file(&a, 12, "back", 4);
    count_anew(&b);
    depot_fetch(b.depot, 12, b.last, NULL, false);
    ok(until(&b, 1) && b.arrived == 1, "and one the other way, over the same link");
}

static void test_make(struct link *l)
{
    count_anew(&a);
    count_anew(&b);
    for (uint32_t o = 20; o < 30; o++) {
        depot_drop(a.depot, o);
        depot_drop(b.depot, o);
    }
    b.makes = true;
    for (uint32_t o = 20; o < 28; o++)
        depot_fetch(a.depot, o, l, NULL, true);
    turn(10);
    is_int(b.asked_to_make, 8, "what they make takes no turn: all eight are asked for");
    struct depot_counts n = depot_counts(a.depot);
    ok(n.under_way == 0 && n.waiting == 8, "and wait");
    depot_tick(a.depot, 1000);
    depot_tick(a.depot, 2000);
    is_int(a.failed, 0, "as long as it takes");
    put_file(&b, 21, "made", 4);
    ok(until(&a, 1) && a.arrived == 1, "made, it arrives");
    is_str(folder_read(&a.folder, name_of(21)), "made", "as it was made");
    depot_unavailable(b.depot, 22, "the task failed");
    ok(until(&a, 2) && a.failed == 1, "what cannot be made does not");
    is_str(a.why, "the task failed", "and it is said why");
    put_file(&a, 23, "here", 4);
    ok(a.arrived == 2 && !depot_is_fetching(a.depot, 23), "one that comes into being here ends");
    turn(5);
    put_file(&b, 23, "late", 4);
    turn(5);
    is_int(a.arrived, 2, "they do not send it any more");
    b.makes_at_once = true;
    depot_fetch(a.depot, 28, l, NULL, true);
    ok(until(&a, 4) && a.arrived == 3, "one that is made at once arrives");
    b.makes = b.makes_at_once = false;
    depot_fetch(a.depot, 29, l, NULL, true);
    ok(until(&a, 5) && a.failed == 2, "who makes nothing says so");
    link_close(l, "");
    until_closed(&a, 1);
    ok(a.failed == 7 && depot_counts(a.depot).waiting == 0, "with the link ends what waits for it");
    has_str(a.why, "ended", "and it is said");
    until_closed(&b, 1);
    put_file(&b, 20, "nobody", 6);
    is_int(a.violations + b.violations, 0, "nobody said anything wrong");
}

/* What is used is what it was when it came, or is not used. */
static void test_verify(struct link *l)
{
    struct stat s;
    put_file(&b, 12, "twelve", 6);
    count_anew(&a);
    depot_fetch(a.depot, 12, l, NULL, false);
    ok(until(&a, 1) && depot_verify(a.depot, 12) == DEPOT_SOUND, "a copy that came is what it was");
    chmod(file_of(&a, 12), 0600);
    ok(depot_verify(a.depot, 12) == DEPOT_SOUND, "also with other permission bits");
    ok(depot_verify(a.depot, 13) == DEPOT_LOST, "what is not here is not");
    stat(file_of(&a, 12), &s);
    struct timespec times[2] = {s.st_atim, s.st_mtim};
    folder_write(&a.folder, name_of(12), "twelwe");
    utimensat(AT_FDCWD, file_of(&a, 12), times, 0);
    unsigned lost = a.lost;
    ok(depot_verify(a.depot, 12) == DEPOT_LOST,
       "a byte is flipped, its time put back: it is not what it was");
    ok(!depot_has(a.depot, 12) && access(file_of(&a, 12), F_OK) != 0 && a.lost == lost + 1,
       "it is gone, and its owner is told");
    depot_fetch(a.depot, 12, l, NULL, false);
    ok(until(&a, 2) && depot_verify(a.depot, 12) == DEPOT_SOUND, "it can be fetched again");
    struct digest other;
    digest_of("twelwe", 6, &other);
    depot_removed(a.depot, 12);
    depot_found(a.depot, 12, &other, 6);
    ok(depot_verify(a.depot, 12) == DEPOT_LOST,
       "what an earlier life left is read before it is used");
}

static void test_folder(struct link *l)
{
    struct error err = {0};
    const char *root = file_of(&b, TREE);
    char command[2000];
    snprintf(
        command, sizeof command,
        "cd %s && mkdir -p tree/sub/deep tree/empty tree/.weft && printf one >tree/one && "
        "printf two >tree/sub/two && head -c 700000 /dev/zero >tree/sub/deep/zero && "
        ": >tree/nothing && printf x >tree/run.sh && chmod 755 tree/run.sh && "
        "ln -s sub/two tree/inside && ln -s ../../one tree/sub/deep/up && "
        "ln -s sub tree/also && printf out >outside && ln -s ../outside tree/leaves && "
        "ln -s $PWD/outside tree/absolute && printf w >tree/.weft/w && "
        "chmod 600 tree/one && chmod 700 tree/sub && chmod 555 tree/sub/deep && chmod 750 tree",
        b.folder.path);
    if (system(command) != 0)
        abort();
    stands(&b, TREE);
    count_anew(&a);
    depot_fetch(a.depot, TREE, l, NULL, false);
    ok(until(&a, 1) && a.arrived == 1, "a folder arrives: %s", a.why);
    snprintf(command, sizeof command, "diff -r %s %s", root, file_of(&a, TREE));
    is_int(system(command), 0, "with everything in it");
    char target[64] = "";
    ok(readlink(folder_file(&a.folder, "tree/sub/deep/up"), target, 63) == 9 &&
           strcmp(target, "../../one") == 0,
       "a link that stays inside is a link");
    struct stat s;
    ok(lstat(folder_file(&a.folder, "tree/leaves"), &s) == 0 && S_ISREG(s.st_mode) &&
           lstat(folder_file(&a.folder, "tree/absolute"), &s) == 0 && S_ISREG(s.st_mode),
       "one that leads out is what it leads to");
    ok(stat(folder_file(&a.folder, "tree/run.sh"), &s) == 0 && (s.st_mode & 07777) == 0755,
       "a program can be executed");
    ok(stat(folder_file(&a.folder, "tree/one"), &s) == 0 && (s.st_mode & 07777) == 0600 &&
           stat(folder_file(&a.folder, "tree/sub"), &s) == 0 && (s.st_mode & 07777) == 0700 &&
           stat(folder_file(&a.folder, "tree/sub/deep"), &s) == 0 && (s.st_mode & 07777) == 0555 &&
           stat(folder_file(&a.folder, "tree"), &s) == 0 && (s.st_mode & 07777) == 0750,
       "files and folders have the permission bits of their makers");
    struct digest digest;
    double bytes;
    ok(memo_digest(a.memo, file_of(&a, TREE), false, &digest, &bytes, &err) &&
           digest_equal(&digest, depot_digest(b.depot, TREE)) &&
           bytes == depot_bytes(a.depot, TREE) && bytes == depot_bytes(b.depot, TREE),
       "the memo says the same of it");
    ok(is_empty_folder(a.partial), "nothing is left over");

    /* again, in place of another; then one that has changed where it comes from */
    depot_removed(a.depot, TREE);
    folder_write(&a.folder, "tree/foreign", "x");
    depot_fetch(a.depot, TREE, l, NULL, false);
    ok(until(&a, 2) && a.arrived == 2 && access(folder_file(&a.folder, "tree/foreign"), F_OK) != 0,
       "it takes the place of another");
    depot_drop(a.depot, TREE);
    folder_write(&b.folder, "tree/one", "ONE");
    count_anew(&b);
    depot_fetch(a.depot, TREE, l, NULL, false);
    ok(until(&a, 3) && a.failed == 1 && b.lost == 1 && !depot_has(b.depot, TREE),
       "a changed one is lost where it stood");
    has_str(a.why, "changed", "and it is said");
    snprintf(command, sizeof command, "cd %s && rm -r tree && mkdir tree", b.folder.path);
    if (system(command) != 0)
        abort();
    stands(&b, TREE);
    depot_fetch(a.depot, TREE, l, NULL, false);
    ok(until(&a, 4) && a.arrived == 3 && stat(file_of(&a, TREE), &s) == 0 && S_ISDIR(s.st_mode),
       "an empty folder arrives");
}

static void test_large(struct link *l, size_t size)
{
    char *data = noise(size, 1);
    put_file(&b, BIG, data, size);
    put_file(&c, BIG, data, size);
    free(data);
    count_anew(&a);
    count_anew(&b);
    double begin = clock_seconds(), cpu = clock_cpu_seconds();
    double before = depot_counts(a.depot).fetched_bytes;
    depot_fetch(a.depot, BIG, l, depot_digest(b.depot, BIG), false);
    ok(until(&a, 1) && a.arrived == 1, "a large file arrives %s", a.why);
    double took = clock_seconds() - begin;
    cpu = clock_cpu_seconds() - cpu;
    ok(same_files(file_of(&a, BIG), file_of(&b, BIG)), "as it is");
    printf("# %.1f MB in %.3f s: %.0f MB/s; both ends' work by one core: %.0f MB/s\n",
           (double)size / 1e6, took, (double)size / 1e6 / took, (double)size / 1e6 / cpu);

    /* cut in the middle: goes on, from another */
    depot_drop(a.depot, BIG);
    a.cut_after = before + (double)size * 1.6;
    count_anew(&a);
    depot_fetch(a.depot, BIG, l, NULL, false);
    ok(until(&a, 1) && a.failed == 1, "the link is cut in the middle");
    until_closed(&b, 1);
    ok(!is_empty_folder(a.partial), "what came is kept");
    struct link *other = call(&a, &c);
    double got = depot_counts(a.depot).fetched_bytes;
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 2) && a.arrived == 1, "another gives the rest %s", a.why);
    ok(depot_counts(a.depot).fetched_bytes - got < 0.6 * (double)size, "and only the rest");
    is_int(depot_counts(a.depot).resumed, 1, "which is counted");
    ok(same_files(file_of(&a, BIG), file_of(&b, BIG)), "the whole is as it is");
    ok(is_empty_folder(a.partial), "nothing is left over");

    /* cut again, and the depot starts anew */
    depot_drop(a.depot, BIG);
    a.cut_after = depot_counts(a.depot).fetched_bytes + (double)size * 0.5;
    count_anew(&a);
    count_anew(&c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 1) && a.failed == 1, "cut again");
    until_closed(&c, 1);
    depot_free(a.depot);
    depot_open(&a);
    other = call(&a, &c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 2) && a.arrived == 1 && depot_counts(a.depot).resumed == 1,
       "a new depot goes on where the old one was");
    ok(same_files(file_of(&a, BIG), file_of(&b, BIG)), "the whole is as it is");

    /* cut, and what is there is another content meanwhile */
    depot_drop(a.depot, BIG);
    a.cut_after = depot_counts(a.depot).fetched_bytes + (double)size * 0.3;
    count_anew(&a);
    count_anew(&c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    until(&a, 1);
    until_closed(&c, 1);
    data = noise(size, 2);
    put_file(&c, BIG, data, size);
    free(data);
    other = call(&a, &c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 2) && a.arrived == 1 && depot_counts(a.depot).resumed == 1,
       "another content begins again %s", a.why);
    ok(same_files(file_of(&a, BIG), file_of(&c, BIG)), "and is whole");

    /* the beginning is spoilt here: seen, thrown away, and then got */
    depot_drop(a.depot, BIG);
    a.cut_after = depot_counts(a.depot).fetched_bytes + (double)size * 0.3;
    count_anew(&a);
    count_anew(&c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    until(&a, 1);
    until_closed(&c, 1);
    char part[256];
    snprintf(part, sizeof part, "%s/%d.part", a.partial, BIG);
    int fd = open(part, O_WRONLY);
    ok(fd >= 0 && pwrite(fd, "spoilt", 6, 4000) == 6, "a partial file is spoilt");
    close(fd);
    other = call(&a, &c);
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 2) && a.failed == 2, "it is seen");
    has_str(a.why, "damaged", "and said");
    depot_fetch(a.depot, BIG, other, NULL, false);
    ok(until(&a, 3) && a.arrived == 1, "the next time it begins again");
    link_close(other, "");
    until_closed(&a, 2);
}

static void test_damage(struct link *l)
{
    /* of the same size, and its times put back: only its content tells */
    struct stat s;
    char *data = noise(600000, 3);
    put_file(&b, 40, data, 600000);
    stat(file_of(&b, 40), &s);
    int fd = open(file_of(&b, 40), O_WRONLY);
    ok(pwrite(fd, "damage", 6, 300000) == 6, "a bit rots");
    futimens(fd, (struct timespec[2]){s.st_atim, s.st_mtim});
    close(fd);
    depot_drop(a.depot, 40);
    count_anew(&a);
    count_anew(&b);
    depot_fetch(a.depot, 40, l, NULL, false);
    ok(until(&a, 1) && a.failed == 1 && !depot_has(a.depot, 40), "the receiver sees it");
    has_str(a.why, "damaged", "and says so");
    ok(is_empty_folder(a.partial) && access(file_of(&a, 40), F_OK) != 0, "nothing is left of it");
    depot_fetch(a.depot, 40, l, NULL, false);
    ok(until(&a, 2) && a.failed == 2 && b.lost == 1 && !depot_has(b.depot, 40),
       "asked again, the giver looks itself, and has lost it");
    put_file(&b, 40, data, 600000);
    depot_fetch(a.depot, 40, l, NULL, false);
    ok(until(&a, 3) && a.arrived == 1, "made again, it arrives");

    depot_drop(a.depot, 40);
    if (truncate(file_of(&b, 40), 1000) != 0)
        abort();
    depot_fetch(a.depot, 40, l, NULL, false);
    ok(until(&a, 4) && a.failed == 3 && b.lost == 2, "a shorter one is lost");
    unlink(file_of(&b, 41));
    depot_drop(a.depot, 41);
    depot_fetch(a.depot, 41, l, NULL, false);
    ok(until(&a, 5) && a.failed == 4 && b.lost == 3, "so is one that was deleted");
    free(data);
    is_int(a.violations + b.violations, 0, "nobody said anything wrong");
}

/* The system refuses to write: EFBIG stands for a full disk, which takes the same way. */
static void test_no_room(struct link *l)
{
    struct rlimit old, small;
    char *data = noise(600000, 5);
    put_file(&b, 60, data, 600000);
    free(data);
    depot_drop(a.depot, 60);
    count_anew(&a);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){300000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    depot_fetch(a.depot, 60, l, NULL, false);
    until(&a, 1);
    setrlimit(RLIMIT_FSIZE, &old);
    ok(a.failed == 1 && is_empty_folder(a.partial), "what cannot be written fails, without a rest");
    has_str(a.why, "cannot be written", "and it is said");
    turn(5);
    depot_fetch(a.depot, 60, l, NULL, false);
    ok(until(&a, 2) && a.arrived == 1 && !a.violations && !b.violations, "later it arrives");
    struct error err = {0};
    depot_write_error("x", ENOSPC, &err);
    has_str(err.text, "disk is full", "a full disk has a text of its own");
}

/* Arguments: the size of the large file in MiB, to measure. */
int main(void)
{
    const char *megabytes = getenv("DEPOT_MEGABYTES"); /* of the large file, to measure transfers */
    size_t size = (megabytes ? (size_t)strtoul(megabytes, NULL, 10) : 24) << 20;
    places_open();
    TAP_DO(test_names());
    struct link *l = call(&a, &b);
    TAP_DO(test_small(l));
    TAP_DO(test_verify(l));
    TAP_DO(test_many(l));
    TAP_DO(test_make(l));
    l = call(&a, &b);
    TAP_DO(test_folder(l));
    TAP_DO(test_large(l, size));
    l = call(&a, &b);
    TAP_DO(test_damage(l));
    TAP_DO(test_no_room(l));

    drop_all(&a);
    is_int(depot_counts(a.depot).here, 0, "dropped, nothing is here");
    is_dbl(depot_counts(a.depot).bytes, 0, 0, "nor any bytes");
    b.makes = true;
    depot_drop(b.depot, 70);
    count_anew(&a);
    depot_fetch(a.depot, 70, l, NULL, true);
    turn(5);
    depot_free(b.depot);
    depot_open(&b);
    ok(until(&a, 1) && a.failed == 1, "who waits for a depot that ends is told");
    has_str(a.why, "ended", "why");
    depot_fetch(a.depot, 70, l, NULL, true); /* still under way at the end */
    places_close();
    return tap_done();
}
