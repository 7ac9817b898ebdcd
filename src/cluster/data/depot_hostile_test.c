/* What a depot is told that nobody should say: messages out of place, archives that want out of
 * their folder, and garbage. */
#include "cluster/data/depot_testing.h"

/* ---- one end speaks by hand ---- */

static void say_head(struct link *l, uint32_t object, uint64_t offset, uint64_t total,
                     const struct digest *digest, uint8_t form)
{
    struct strbuf m = {0};
    bytes_put_u64(&m, RUN);
    bytes_put_u32(&m, object);
    bytes_put_u64(&m, offset);
    bytes_put_u64(&m, total);
    bytes_put(&m, digest->at, sizeof digest->at);
    bytes_put_u8(&m, form);
    bytes_put_u32(&m, 0644);
    link_send(l, MESSAGE_HEAD, m.at, m.n, NULL, 0);
    strbuf_free(&m);
}

static void hostile_say(struct link *l, uint8_t kind, uint32_t object, const void *data, size_t n)
{
    struct strbuf m = {0};
    bytes_put_u64(&m, RUN);
    bytes_put_u32(&m, object);
    link_send(l, kind, m.at, m.n, data, n);
    strbuf_free(&m);
}

/* `how` is one thing that must close the link: a fetches 50 from b, which is deaf. */
static void hostile_is_refused(const char *what, void (*how)(struct link *b_end))
{
    b.deaf = true;
    struct link *l = call(&a, &b);
    count_anew(&a);
    depot_drop(a.depot, 50);
    depot_fetch(a.depot, 50, l, NULL, false);
    turn(2);
    how(b.last);
    until_closed(&a, 1);
    ok(a.violations == 1 && a.closed == 1 && a.failed == 1 && !depot_has(a.depot, 50), "%s", what);
    turn(2);
    b.deaf = false;
}

static struct digest some;

static void two_heads(struct link *l)
{
    say_head(l, 50, 0, 10, &some, 0);
    say_head(l, 50, 0, 10, &some, 0);
}
static void unasked_head(struct link *l)
{
    say_head(l, 51, 0, 10, &some, 0);
}
static void data_first(struct link *l)
{
    hostile_say(l, MESSAGE_DATA, 50, "x", 1);
}
static void unasked_data(struct link *l)
{
    hostile_say(l, MESSAGE_DATA, 51, "x", 1);
}
static void too_much_data(struct link *l)
{
    say_head(l, 50, 0, 3, &some, 0);
    hostile_say(l, MESSAGE_DATA, 50, "1234", 4);
}
static void no_data(struct link *l)
{
    say_head(l, 50, 0, 3, &some, 0);
    hostile_say(l, MESSAGE_DATA, 50, "", 0);
}
static void other_offset(struct link *l)
{
    say_head(l, 50, 5, 10, &some, 0);
}
static void offset_beyond(struct link *l)
{
    say_head(l, 50, 11, 10, &some, 0);
}
static void other_form(struct link *l)
{
    say_head(l, 50, 0, 10, &some, MESSAGE_SYMLINK);
}
static void no_digest(struct link *l)
{
    struct digest zero = {{0}};
    say_head(l, 50, 0, 10, &zero, 0);
}
static void huge_total(struct link *l)
{
    say_head(l, 50, 0, UINT64_MAX, &some, 0);
}
static void no_object(struct link *l)
{
    hostile_say(l, MESSAGE_LATER, OBJECTS, "", 0);
}
static void not_asked_to_make(struct link *l)
{
    hostile_say(l, MESSAGE_LATER, 50, "", 0);
}
static void not_unfetched(struct link *l)
{
    hostile_say(l, MESSAGE_UNFETCHED, 50, "", 0);
}
static void other_kind(struct link *l)
{
    hostile_say(l, MESSAGE_SCHED, 50, "", 0);
}
static void short_absent(struct link *l)
{
    hostile_say(l, MESSAGE_ABSENT, 50, "\7\0\0\0abc", 7);
}
static void two_fetches(struct link *l)
{
    char fetch[8 + 32 + 1] = {0};
    fetch[40] = 1;
    a.makes = true;
    hostile_say(l, MESSAGE_FETCH, 52, fetch, sizeof fetch);
    hostile_say(l, MESSAGE_FETCH, 52, fetch, sizeof fetch);
}

static void test_hostile(void)
{
    digest_of("some", 4, &some);
    hostile_is_refused("two HEADs close the link", two_heads);
    hostile_is_refused("a HEAD that nobody asked for", unasked_head);
    hostile_is_refused("DATA before HEAD", data_first);
    hostile_is_refused("DATA that nobody asked for", unasked_data);
    hostile_is_refused("more DATA than there is", too_much_data);
    hostile_is_refused("DATA of nothing", no_data);
    hostile_is_refused("an offset that was not asked for", other_offset);
    hostile_is_refused("an offset beyond the end", offset_beyond);
    hostile_is_refused("a form that does not exist", other_form);
    hostile_is_refused("no digest", no_digest);
    hostile_is_refused("a total that no file has", huge_total);
    hostile_is_refused("an object that does not exist", no_object);
    hostile_is_refused("LATER though nobody said make", not_asked_to_make);
    hostile_is_refused("UNFETCHED though nobody said UNFETCH", not_unfetched);
    hostile_is_refused("a kind that is not a depot's", other_kind);
    hostile_is_refused("a text that is cut off", short_absent);
    hostile_is_refused("two FETCHes of one object", two_fetches);
    a.makes = false;

    /* what no disk has room for */
    b.deaf = true;
    struct link *l = call(&a, &b);
    count_anew(&a);
    depot_fetch(a.depot, 50, l, NULL, false);
    turn(2);
    say_head(b.last, 50, 0, (uint64_t)1 << 60, &some, 0);
    ok(until(&a, 1) && a.failed == 1 && !a.violations, "what the disk has no room for fails");
    has_str(a.why, "full; free some space", "and it is said what to do");
    /* what is on its way is ignored until they have heard; then it can be asked for again */
    hostile_say(b.last, MESSAGE_DATA, 50, "late", 4);
    depot_fetch(a.depot, 50, l, NULL, false);
    say_head(b.last, 50, 0, 1, &some, 0);
    turn(5);
    ok(!a.violations && a.failed == 1, "what is still on its way is ignored");
    hostile_say(b.last, MESSAGE_UNFETCHED, 50, "", 0);
    digest_of("fresh", 5, &some);
    say_head(b.last, 50, 0, 5, &some, 0);
    hostile_say(b.last, MESSAGE_DATA, 50, "fresh", 5);
    ok(until(&a, 2) && a.arrived == 1 && !a.violations, "and the new one arrives");

    /* an offset that the file does not have */
    put_file(&a, 54, "five!", 5);
    struct strbuf fetch = {0};
    bytes_put_u64(&fetch, 1 << 20);
    bytes_put(&fetch, depot_digest(a.depot, 54)->at, 32);
    bytes_put_u8(&fetch, 0);
    double sent = depot_counts(a.depot).served_bytes;
    hostile_say(b.last, MESSAGE_FETCH, 54, fetch.at, fetch.n);
    strbuf_free(&fetch);
    turn(5);
    is_dbl(depot_counts(a.depot).served_bytes - sent, 5, 0,
           "beyond the end begins at the beginning");

    /* silence */
    count_anew(&a);
    depot_fetch(a.depot, 53, l, NULL, false);
    turn(2);
    depot_tick(a.depot, 5000);
    depot_tick(a.depot, 5019);
    is_int(a.failed, 0, "who is silent for 19 seconds may go on");
    say_head(b.last, 53, 0, 5, &some, 0);
    turn(5);
    depot_tick(a.depot, 5021);
    depot_tick(a.depot, 5040);
    is_int(a.failed, 0, "from the last word");
    depot_tick(a.depot, 5042);
    is_int(a.failed, 1, "who is silent for longer is given up");
    has_str(a.why, "20 seconds", "and it is said");
    b.deaf = false;
    link_close(l, "");
    until_closed(&a, 1);
    turn(3);
}

/* A folder with one entry, as somebody could send it. */
static void archive_entry(struct strbuf *m, uint8_t form, const char *path, size_t npath,
                          const char *content)
{
    bytes_put_u8(m, form);
    bytes_put_u32(m, 0644);
    bytes_put_u64(m, strlen(content));
    bytes_put_text(m, path, npath);
    bytes_put(m, content, strlen(content));
}

static void hostile_archive(const char *what, const struct strbuf *m, uint64_t total)
{
    b.deaf = true;
    struct link *l = call(&a, &b);
    count_anew(&a);
    depot_fetch(a.depot, TREE, l, NULL, false);
    turn(2);
    say_head(b.last, TREE, 0, total, &some, MESSAGE_FOLDER);
    hostile_say(b.last, MESSAGE_DATA, TREE, m->at, m->n);
    until(&a, 1);
    ok(a.failed == 1 && !depot_has(a.depot, TREE) && is_empty_folder(a.partial), "%s: %s", what,
       a.why);
    link_close(l, "");
    until_closed(&a, 1);
    turn(2);
    b.deaf = false;
}

static void test_archives(void)
{
    static const struct {
        const char *path, *what;
    } bad[] = {
        {"../escaped", "a name that leaves"},           {"/tmp/weft-escaped", "an absolute one"},
        {"sub/../../escaped", "one that leaves later"}, {"./x", "one with a dot"},
        {"a//b", "one with nothing between"},           {"nowhere/x", "one in no folder"}};
    depot_drop(a.depot, TREE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct strbuf m = {0};
        archive_entry(&m, MESSAGE_FILE, bad[i].path, strlen(bad[i].path), "x");
        hostile_archive(bad[i].what, &m, m.n);
        strbuf_free(&m);
    }
    struct strbuf m = {0};
    archive_entry(&m, MESSAGE_FILE, "a\0b", 3, "x");
    hostile_archive("a NUL in a name", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_FILE, "a", 1, "x");
    archive_entry(&m, MESSAGE_FILE, "a", 1, "y");
    hostile_archive("a name twice", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "a", 1, "/etc");
    hostile_archive("an absolute link", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "a", 1, "../x");
    hostile_archive("a link that leaves", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_FOLDER, "s", 1, "");
    archive_entry(&m, MESSAGE_SYMLINK, "s/d", 3, "..");
    archive_entry(&m, MESSAGE_SYMLINK, "e", 1, "s/d/../z");
    hostile_archive("a link that leaves through another", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "l", 1, ".");
    archive_entry(&m, MESSAGE_FILE, "l/x", 3, "x");
    hostile_archive("a file through a link", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "l", 1, ".");
    archive_entry(&m, MESSAGE_SYMLINK, "l/x", 3, "../y");
    hostile_archive("a link through a link", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "l", 1, "l");
    hostile_archive("a link to itself", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_SYMLINK, "a", 1, ".");
    archive_entry(&m, MESSAGE_SYMLINK, "b", 1, ".");
    hostile_archive("links without an end", &m, m.n);
    strbuf_clear(&m);
    archive_entry(&m, MESSAGE_FILE, "a", 1, "x");
    hostile_archive("another digest", &m, m.n);
    hostile_archive("an end in the middle", &(struct strbuf){m.at, m.n - 1, 0}, m.n - 1);
    strbuf_clear(&m);
    archive_entry(&m, 9, "a", 1, "x");
    hostile_archive("an entry of another form", &m, m.n);
    strbuf_clear(&m);
    bytes_put_u8(&m, MESSAGE_FILE);
    bytes_put_u32(&m, 04755);
    bytes_put_u64(&m, 1);
    bytes_put_text(&m, "a", 1);
    bytes_put(&m, "x", 1);
    hostile_archive("a program that would run as another", &m, m.n);
    strbuf_clear(&m);
    bytes_put_u8(&m, MESSAGE_FILE);
    bytes_put_u32(&m, 0644);
    bytes_put_u64(&m, 1);
    bytes_put_u32(&m, 0x7fffffff);
    hostile_archive("a name of two gigabytes", &m, m.n + 100);
    strbuf_free(&m);
    ok(access(folder_file(&a.folder, "escaped"), F_OK) != 0 &&
           access(folder_file(&a.folder, ".weft/escaped"), F_OK) != 0 &&
           access("/tmp/weft-escaped", F_OK) != 0,
       "nothing was written outside");
}

static void test_garbage(struct link *l)
{
    struct rng rng;
    rng_seed(&rng, 11);
    unsigned refusals = 0, tried = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t data[120];
        size_t n = rng_below(&rng, sizeof data);
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)rng_next(&rng);
        if (n >= 12 && rng_below(&rng, 4)) { /* mostly about something that exists */
            memset(data, 0, 12);
            data[0] = RUN;
            data[8] = (uint8_t)(100 + rng_below(&rng, 20));
        }
        if (n >= 20 && rng_below(&rng, 2))
            memset(data + 12, 0, 8);
        if (rng_below(&rng, 3) == 0)
            n = n > 53 ? 53 : n;
        uint8_t kind = (uint8_t)(MESSAGE_FETCH + rng_below(&rng, 7));
        if (rng_below(&rng, 50) == 0)
            depot_fetch(a.depot, (uint32_t)(100 + rng_below(&rng, 20)), l, NULL, true);
        if (rng_below(&rng, 50) == 0)
            depot_removed(a.depot, (uint32_t)(100 + rng_below(&rng, 20)));
        refusals += !depot_message(a.depot, l, kind, data, n);
        tried++;
        if (round % 500 == 0)
            depot_tick(a.depot, 9000 + round);
    }
    ok(refusals > tried / 2 && refusals < tried, "%u of %u random messages are refused", refusals,
       tried);
    depot_closed(a.depot, l);
    struct depot_counts n = depot_counts(a.depot);
    ok(n.under_way == 0 && n.waiting == 0, "and leave nothing under way");
}

int main(void)
{
    places_open();
    TAP_DO(test_hostile());
    TAP_DO(test_archives());
    TAP_DO(test_garbage(call(&a, &b)));
    places_close();
    return tap_done();
}
