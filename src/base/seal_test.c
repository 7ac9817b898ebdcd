/* Keys and their files, pieces at rest, and conversations whose bytes arrive in any cut, or wrong.
 */
#include "base/seal.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct seal_key key;
static char folder[] = P_tmpdir "/weft-seal-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- keys ---- */

static void test_key_text(void)
{
    struct seal_key other;
    struct error err = {0};
    char text[SEAL_KEY_TEXT], name[9], again[9];
    seal_key_text(&key, text);
    size_t n = strlen(text);
    ok(n < SEAL_KEY_TEXT && text[n - 1] == '\n' && strchr(text, '\n') == text + n - 1,
       "a key is one line");
    ok(seal_key_parse(text, n, &other, &err) && memcmp(&key, &other, sizeof key) == 0,
       "and comes back");
    ok(seal_key_parse(text, n - 1, &other, &err), "also without the newline");
    unsigned wrong = 0;
    for (size_t i = 0; i < n - 1; i++) {
        char kept = text[i];
        text[i] = kept == '0' ? '1' : '0';
        wrong += seal_key_parse(text, n, &other, NULL);
        text[i] = kept;
    }
    is_int(wrong, 0, "one changed character anywhere is noticed");
    unsigned cut = 0;
    for (size_t i = 0; i < n - 1; i++)
        cut += seal_key_parse(text, i, &other, NULL);
    is_int(cut, 0, "so is a line that is cut anywhere");
    ok(!seal_key_parse("hello\n", 6, &other, &err), "a text is no key");
    has_str(err.text, "weft key", "and the error says how to get one");
    seal_key_name(&key, name);
    seal_key_random(&other);
    seal_key_name(&other, again);
    ok(strlen(name) == 8 && strcmp(name, again) != 0, "keys have names that differ");
    has_str(text, name, "a key's line ends with its name");
}

static void test_derive(void)
{
    uint8_t a[64], b[64], c[4];
    struct seal_key other;
    seal_derive(&key, "redis-password", a, sizeof a);
    seal_derive(&key, "redis-password", b, sizeof b);
    ok(memcmp(a, b, sizeof a) == 0, "the same purpose gives the same secret");
    seal_derive(&key, "redis-passwore", b, sizeof b);
    ok(memcmp(a, b, sizeof a) != 0, "another purpose another one");
    seal_key_random(&other);
    seal_derive(&other, "redis-password", b, sizeof b);
    ok(memcmp(a, b, sizeof a) != 0, "and so does another key");
    seal_derive(&key, "redis-password", c, sizeof c);
    ok(memcmp(a, &key, sizeof key) != 0 && memcmp(a, c, 4) == 0, "short ones are possible");
}

static void test_key_file(void)
{
    struct seal_key got;
    struct error err = {0};
    struct stat st;
    const char *path = in_folder("key");
    umask(0);
    ok(seal_key_write(path, &key, &err), "a key is written");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "for its owner only");
    ok(seal_key_read(path, &got, &err) && memcmp(&got, &key, sizeof key) == 0, "and read");
    ok(!seal_key_make(path, &err), "never overwritten");
    has_str(err.text, "never overwritten", "with an error");
    error_clear(&err);
    ok(seal_key_read(path, &got, &err) && memcmp(&got, &key, sizeof key) == 0, "it is as before");
    static const mode_t loose[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644, 0666, 0777};
    unsigned let = 0;
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        chmod(path, loose[i]);
        let += seal_key_read(path, &got, NULL);
    }
    is_int(let, 0, "what others may read, write or execute is refused");
    ok(!seal_key_read(path, &got, &err), "also");
    has_str(err.text, "chmod 600", "with the remedy");
    has_str(err.text, "0777", "and the mode");
    chmod(path, 0400);
    ok(seal_key_read(path, &got, NULL), "0400 will do");
    chmod(path, 0600);

    char to[200];
    snprintf(to, sizeof to, "%s", in_folder("by-link"));
    ok(symlink("key", to) == 0 && seal_key_read(to, &got, NULL), "a symbolic link to it will do");
    ok(!seal_key_make(to, NULL), "but none is written through");
    error_clear(&err);
    ok(!seal_key_read(folder, &got, &err), "a folder is no key");
    has_str(err.text, "not a regular file", "and says so");
    error_clear(&err);
    ok(mkfifo(in_folder("pipe"), 0600) == 0 && !seal_key_read(in_folder("pipe"), &got, &err),
       "a pipe is refused, not waited for");
    error_clear(&err);
    ok(!seal_key_read(in_folder("nothing"), &got, &err), "one that is not there");
    has_str(err.text, "weft key", "says how to make it");
    error_clear(&err);
    ok(!seal_key_make(in_folder("no/such/folder"), &err), "nor can one be made nowhere");

    if (geteuid() == 0) {
        error_clear(&err);
        ok(chown(in_folder("key"), 12345, (gid_t)-1) == 0 &&
               !seal_key_read(in_folder("key"), &got, &err),
           "somebody else's key is refused");
        has_str(err.text, "belongs to user 12345", "and it says whose it is");
        ok(chown(in_folder("key"), 0, (gid_t)-1) == 0, "given back");
    } else {
        tap_skip("somebody else's key", "only root can give a file away");
    }
    static const char *const contents[] = {"", "\n", "weft-key-1 \n", "weft-key-1 zz\n",
                                           "a much longer text than any key could ever be, and "
                                           "then some more of it, and more, and more of it\n"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        error_clear(&err);
        unlink(in_folder("bad"));
        if (!file_write(in_folder("bad"), contents[i], strlen(contents[i]), NULL))
            printf("# %s\n", strerror(errno));
        chmod(in_folder("bad"), 0600);
        ok(!seal_key_read(in_folder("bad"), &got, &err), "no key: content %zu", i);
        has_str(err.text, "bad: not a key", "said with the file's name");
    }
}

/* ---- pieces ---- */

static void test_pieces(void)
{
    struct strbuf box = {0}, out = {0}, twice = {0};
    static const struct seal_place run_7 = {.purpose = "run", .cluster = {1}, .number = 7},
                                   nowhere = {.purpose = ""};
    struct seal_place elsewhere = run_7;
    strbuf_add(&box, "before");
    seal_piece(&key, &run_7, "workflow text", 13, &box);
    seal_piece(&key, &run_7, "workflow text", 13, &twice);
    ok(memcmp(box.at, "before", 6) == 0 && box.n == 6 + twice.n, "a piece is appended");
    ok(memcmp(box.at + 6, twice.at, twice.n) != 0, "the same piece is never sealed the same");
    ok(!memmem(box.at, box.n, "workflow", 8), "and cannot be read");
    strbuf_add(&out, "x");
    ok(seal_open_piece(&key, &run_7, box.at + 6, box.n - 6, &out), "but opened");
    ok(out.n == 14 && memcmp(out.at, "xworkflow text", 15) == 0, "to what it was");
    elsewhere.purpose = "ru";
    ok(!seal_open_piece(&key, &elsewhere, box.at + 6, box.n - 6, &out), "not for another purpose");
    elsewhere = run_7;
    elsewhere.number = 8;
    ok(!seal_open_piece(&key, &elsewhere, box.at + 6, box.n - 6, &out), "not for another number");
    elsewhere = run_7;
    elsewhere.cluster[15] = 1;
    ok(!seal_open_piece(&key, &elsewhere, box.at + 6, box.n - 6, &out), "not in another cluster");
    struct seal_key other;
    seal_key_random(&other);
    ok(!seal_open_piece(&other, &run_7, box.at + 6, box.n - 6, &out), "not with another key");
    unsigned wrong = 0, cut = 0;
    for (size_t i = 6; i < box.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            box.at[i] ^= (char)(1 << bit);
            wrong += seal_open_piece(&key, &run_7, box.at + 6, box.n - 6, &out);
            box.at[i] ^= (char)(1 << bit);
        }
    for (size_t n = 0; n < box.n - 6; n++)
        cut += seal_open_piece(&key, &run_7, box.at + 6, n, &out);
    is_int(wrong, 0, "no flipped bit goes unnoticed");
    is_int(cut, 0, "no cut either");
    ok(out.n == 14 && memcmp(out.at, "xworkflow text", 15) == 0, "nothing was added by those");
    strbuf_clear(&box);
    strbuf_free(&out);
    seal_piece(&key, &nowhere, NULL, 0, &box);
    ok(seal_open_piece(&key, &nowhere, box.at, box.n, &out) && out.n == 0, "an empty piece");
    strbuf_free(&box);
    strbuf_free(&out);
    strbuf_free(&twice);
}

/* A proof holds for one key, place, id and text. */
static void test_proofs(void)
{
    static const uint8_t id[SEAL_ID] = {7}, other_id[SEAL_ID] = {8};
    struct seal_place place = {.purpose = "run", .cluster = {1}, .number = 7};
    struct seal_prover by, other;
    uint8_t proof[SEAL_PROOF], again[SEAL_PROOF];
    seal_prover_make(&key, &place, id, &by);
    seal_prove(&by, "done", 4, proof);
    seal_prove(&by, "done", 4, again);
    ok(memcmp(proof, again, sizeof proof) == 0, "the same is proved by the same bytes");
    ok(seal_proves(&by, "done", 4, proof, SEAL_PROOF) && seal_proves(&by, "done", 4, proof, 8),
       "a proof holds, also a short one");
    ok(!seal_proves(&by, "gone", 4, proof, SEAL_PROOF) &&
           !seal_proves(&by, "done", 3, proof, SEAL_PROOF) &&
           !seal_proves(&by, "done", 4, proof, 7),
       "not for another text, nor one that is too short");
    unsigned wrong = 0;
    for (int bit = 0; bit < 8 * SEAL_PROOF; bit++) {
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        wrong += seal_proves(&by, "done", 4, proof, SEAL_PROOF);
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    is_int(wrong, 0, "nor with a flipped bit");
    struct seal_key another;
    seal_key_random(&another);
    seal_prover_make(&another, &place, id, &other);
    ok(!seal_proves(&other, "done", 4, proof, SEAL_PROOF), "nor under another key");
    seal_prover_make(&key, &place, other_id, &other);
    ok(!seal_proves(&other, "done", 4, proof, SEAL_PROOF), "nor of another run");
    place.number = 8;
    seal_prover_make(&key, &place, id, &other);
    ok(!seal_proves(&other, "done", 4, proof, SEAL_PROOF), "nor at another number");
    place.number = 7;
    place.cluster[0] = 2;
    seal_prover_make(&key, &place, id, &other);
    ok(!seal_proves(&other, "done", 4, proof, SEAL_PROOF), "nor in another cluster");
}

/* ---- conversations ---- */

struct end {
    struct seal *s;
    struct strbuf out;   /* what it says */
    struct strbuf heard; /* its frames, each with its length before it */
    unsigned opened, frames;
    bool broken;
    struct error err;
};

static const char *realm[2] = {"here", "here"}; /* of the answerer and the caller */
static const char *called = "I answer";

static void end_make(struct end *e, bool caller, uint32_t version, const char *program,
                     const char *self)
{
    *e = (struct end){.s = seal_new(&key, caller, version, program,
                                    &(struct seal_names){.realm = realm[caller],
                                                         .self = self,
                                                         .other = caller ? called : NULL})};
    seal_begin(e->s, &e->out);
}

static void end_free(struct end *e)
{
    seal_free(e->s);
    strbuf_free(&e->out);
    strbuf_free(&e->heard);
}

static void end_hears(struct end *e, const void *data, size_t n)
{
    for (;;) {
        const void *frame = NULL;
        size_t size = 0;
        enum seal_progress p = seal_take(e->s, data, n, &e->out, &frame, &size, &e->err);
        n = 0;
        if (p == SEAL_OPEN) {
            e->opened++;
        } else if (p == SEAL_FRAME) {
            e->frames++;
            strbuf_printf(&e->heard, "%zu:", size);
            if (size)
                strbuf_add_bytes(&e->heard, frame, size);
        } else {
            e->broken |= p == SEAL_BROKEN;
            return;
        }
    }
}

/* All that one said goes to the other. */
static void carry(struct end *from, struct end *to)
{
    struct strbuf moved = from->out;
    from->out = (struct strbuf){0};
    end_hears(to, moved.at, moved.n);
    strbuf_free(&moved);
}

static void meet(struct end *caller, struct end *answerer)
{
    end_make(caller, true, 1, "0.1", "I call");
    end_make(answerer, false, 1, "0.1", "I answer");
    carry(answerer, caller);
    carry(caller, answerer);
    carry(answerer, caller);
}

static void test_conversation(void)
{
    struct end c, a;
    end_make(&c, true, 1, "0.1", "I call");
    end_make(&a, false, 1, "0.1", "I answer");
    ok(c.out.n == 0 && a.out.n == 32, "the answerer begins, with 32 bytes");
    carry(&a, &c);
    ok(!memmem(c.out.at, c.out.n, "I call", 6), "who calls cannot be read");
    ok(!seal_at_rest(c.s) && !seal_at_rest(a.s), "not a good place to end");
    carry(&c, &a);
    ok(a.opened == 1 && seal_is_open(a.s) && !seal_is_open(c.s), "the answerer is open first");
    is_str(seal_other(a.s), "I call", "and has heard who calls");
    carry(&a, &c);
    ok(c.opened == 1 && seal_is_open(c.s), "then the caller");
    is_str(seal_other(c.s), "I answer", "and knows who answers");
    ok(seal_at_rest(c.s) && seal_at_rest(a.s), "now they may end");
    seal_frame(c.s, "to", 2, " you", 4, &c.out);
    seal_frame(c.s, NULL, 0, NULL, 0, &c.out);
    seal_frame(a.s, NULL, 0, "to me", 5, &a.out);
    ok(!memmem(c.out.at, c.out.n, "you", 3), "frames cannot be read");
    carry(&c, &a);
    carry(&a, &c);
    is_str(strbuf_text(&a.heard), "6:to you0:", "frames arrive in order");
    is_str(strbuf_text(&c.heard), "5:to me", "both ways");
    char *big = mem_new_zero(char, SEAL_FRAME_MAX);
    seal_frame(c.s, NULL, 0, big, SEAL_FRAME_MAX, &c.out);
    end_hears(&a, c.out.at, c.out.n - 1);
    ok(!seal_at_rest(a.s) && a.frames == 2, "all but a byte of the largest frame");
    end_hears(&a, c.out.at + c.out.n - 1, 1);
    ok(seal_at_rest(a.s) && a.frames == 3, "and the last byte");
    free(big);
    end_free(&c);
    end_free(&a);
}

/* Everything the answerer says is recorded once; the caller hears it in random pieces. */
static void test_cuts(void)
{
    struct rng rng;
    rng_seed(&rng, 7);
    unsigned bad = 0, rounds = 10000;
    for (unsigned round = 0; round < rounds; round++) {
        struct end c, a;
        struct strbuf want = {0};
        end_make(&c, true, 1, "0.1", "I call");
        end_make(&a, false, 1, "0.1", "I answer");
        /* challenge, then the answer with frames behind it, each in pieces of 1 to `most` bytes */
        size_t most = 1 + rng_below(&rng, 1 + (uint64_t)(round % 200));
        for (int turn = 0; turn < 2; turn++) {
            if (turn == 1) {
                carry(&c, &a);
                unsigned frames = (unsigned)rng_below(&rng, 6);
                for (unsigned i = 0; i < frames; i++) {
                    char text[120];
                    size_t n = rng_below(&rng, sizeof text);
                    memset(text, (int)('a' + i), n);
                    seal_frame(a.s, text, n / 3, text, n - n / 3, &a.out);
                    strbuf_printf(&want, "%zu:", n);
                    strbuf_add_bytes(&want, text, n);
                }
            }
            for (size_t at = 0; at < a.out.n;) {
                size_t n = 1 + rng_below(&rng, most);
                n = n > a.out.n - at ? a.out.n - at : n;
                end_hears(&c, a.out.at + at, n);
                at += n;
            }
            strbuf_clear(&a.out);
        }
        bad += c.broken || c.opened != 1 || !seal_at_rest(c.s) ||
               strcmp(strbuf_text(&c.heard), strbuf_text(&want)) != 0;
        strbuf_free(&want);
        end_free(&c);
        end_free(&a);
    }
    is_int(bad, 0, "%u streams in random pieces give the same frames", rounds);
}

/* Large and small frames in turn, the large ones' bytes written where they are opened, in pieces of any
 * size: what is heard is what was said. */
static void test_room(void)
{
    struct rng rng;
    rng_seed(&rng, 9);
    struct end c, a;
    meet(&c, &a);
    struct strbuf want = {0};
    char *big = mem_new(char, SEAL_FRAME_MAX);
    for (int i = 0; i < 24; i++) {
        size_t n = i % 3 == 2 ? rng_below(&rng, 50) : rng_below(&rng, SEAL_FRAME_MAX);
        memset(big, 'a' + i, n);
        seal_frame(c.s, big, n / 3, big, n - n / 3, &c.out);
        strbuf_printf(&want, "%zu:", n);
        strbuf_add_bytes(&want, big, n);
    }
    size_t roomy = 0;
    for (size_t at = 0; at < c.out.n;) {
        size_t n = 1 + rng_below(&rng, 300000), room = 0;
        n = n < c.out.n - at ? n : c.out.n - at;
        char *to = seal_room(a.s, &room);
        if (to) {
            n = n < room ? n : room;
            memcpy(to, c.out.at + at, n);
            seal_filled(a.s, n);
            roomy += n;
        }
        end_hears(&a, to ? NULL : c.out.at + at, to ? 0 : n);
        at += n;
    }
    ok(!a.broken && a.heard.n == want.n && memcmp(a.heard.at, want.at, want.n) == 0,
       "frames whose rest was written in place are the same");
    ok(roomy > c.out.n / 2, "and most of their bytes were");
    free(big);
    strbuf_free(&want);
    end_free(&c);
    end_free(&a);
}

static void test_versions(void)
{
    struct end c, a;
    end_make(&c, true, 2, "0.2.0", "I call");
    end_make(&a, false, 1, "0.1.0", "I answer");
    carry(&a, &c);
    carry(&c, &a);
    ok(a.broken && !a.opened, "another version is refused");
    has_str(a.err.text, "is weft 0.2.0 (protocol 2), this is weft 0.1.0 (protocol 1)",
            "the answerer's log names both");
    ok(!memmem(a.out.at, a.out.n, "0.1.0", 5), "the refusal cannot be read by others");
    carry(&a, &c);
    ok(c.broken && !c.opened, "and the caller hears");
    has_str(c.err.text,
            "is weft 0.1.0 (protocol 1), this is weft 0.2.0 (protocol 2): install the same",
            "what to do");
    is_str(seal_other(c.s), "", "who answers was not told");
    struct error err = {0};
    const void *frame;
    size_t size;
    is_int(seal_take(c.s, "x", 1, &c.out, &frame, &size, &err), SEAL_BROKEN, "broken stays broken");
    has_str(err.text, "install the same", "for the same reason");
    end_free(&c);
    end_free(&a);
}

static void test_strangers(void)
{
    struct end c, a, thief;
    struct seal_key kept = key;
    end_make(&a, false, 1, "0.1", "I answer");
    seal_key_random(&key);
    end_make(&thief, true, 1, "0.1", "thief");
    key = kept;
    carry(&a, &thief);
    carry(&thief, &a);
    ok(a.broken && a.out.n == 0, "another key is told nothing");
    has_str(a.err.text, "another key", "but the log is");
    end_free(&thief);
    end_free(&a);

    /* a call that was recorded, against a new challenge */
    end_make(&c, true, 1, "0.1", "I call");
    end_make(&a, false, 1, "0.1", "I answer");
    end_make(&thief, false, 1, "0.1", "I answer");
    carry(&a, &c);
    end_hears(&thief, c.out.at, c.out.n);
    ok(thief.broken && thief.out.n == 32, "an old call does not fit a new challenge");
    end_free(&thief);
    carry(&c, &a);
    a.out.at[a.out.n - 1] ^= 1;
    carry(&a, &c);
    ok(c.broken && !c.opened, "an answer that was changed does not open");
    end_free(&c);
    end_free(&a);

    /* what one said is not accepted when it comes back */
    meet(&c, &a);
    seal_frame(c.s, "x", 1, NULL, 0, &c.out);
    end_hears(&c, c.out.at, c.out.n);
    ok(c.broken && c.frames == 0, "a frame that is sent back to its sender");
    end_free(&c);
    end_free(&a);
}

/* One bit of each byte of the handshake and of a frame, one after the other. */
static void test_flips(void)
{
    unsigned let = 0, tried = 0;
    size_t n = SIZE_MAX;
    for (size_t at = 0; at < n; at++) {
        struct end c, a;
        end_make(&c, true, 1, "0.1", "I call");
        end_make(&a, false, 1, "0.1", "I answer");
        carry(&a, &c);
        n = c.out.n;
        c.out.at[at] ^= 4;
        carry(&c, &a);
        let += a.opened;
        tried++;
        end_free(&c);
        end_free(&a);
    }
    ok(let == 0 && tried > 60, "no bit of a call can change (%u tried)", tried);
    n = SIZE_MAX;
    let = tried = 0;
    for (size_t at = 0; at < n; at++) {
        struct end c, a;
        end_make(&c, true, 1, "0.1", "I call");
        end_make(&a, false, 1, "0.1", "I answer");
        carry(&a, &c);
        carry(&c, &a);
        n = a.out.n;
        a.out.at[at] ^= 4;
        carry(&a, &c);
        let += c.opened;
        tried++;
        end_free(&c);
        end_free(&a);
    }
    /* the highest bit of X25519 keys means nothing, but it is hashed */
    ok(let == 0 && tried > 50, "nor of an answer (%u tried)", tried);
    n = SIZE_MAX;
    let = tried = 0;
    for (size_t at = 0; at < n; at++) {
        struct end c, a;
        meet(&c, &a);
        seal_frame(c.s, "0123456789", 10, NULL, 0, &c.out);
        seal_frame(c.s, "0123456789", 10, NULL, 0, &c.out);
        n = c.out.n / 2;
        c.out.at[at] ^= 4;
        carry(&c, &a);
        let += a.frames;
        tried++;
        end_free(&c);
        end_free(&a);
    }
    ok(let == 0 && tried == 30, "nor of a frame");
}

static void test_frames_out_of_order(void)
{
    struct end c, a;
    struct strbuf one = {0}, two = {0};
    meet(&c, &a);
    seal_frame(c.s, "1", 1, NULL, 0, &one);
    seal_frame(c.s, "2", 1, NULL, 0, &two);
    end_hears(&a, two.at, two.n);
    ok(a.broken && a.frames == 0, "a frame that was left out is noticed");
    end_free(&c);
    end_free(&a);
    meet(&c, &a);
    strbuf_clear(&one);
    seal_frame(c.s, "1", 1, NULL, 0, &one);
    end_hears(&a, one.at, one.n);
    end_hears(&a, one.at, one.n);
    ok(a.broken && a.frames == 1, "a frame that comes twice is noticed");
    end_free(&c);
    end_free(&a);
    meet(&c, &a);
    end_hears(&a, "\1\0\20", 3);
    ok(!a.broken, "three bytes of a length say nothing");
    end_hears(&a, "\0", 1);
    has_str(a.err.text, "oversized", "one byte more than the largest frame is noticed at once");
    end_free(&c);
    end_free(&a);
    strbuf_free(&one);
    strbuf_free(&two);
}

static void meet_as(struct end *c, struct end *a, const char *self)
{
    end_make(c, true, 1, "0.1", "I call");
    end_make(a, false, 1, "0.1", self);
    carry(a, c);
    carry(c, a);
    carry(a, c);
}

/* Both have the key: each must be who the other takes it for. */
static void test_names(void)
{
    struct end c, a;
    realm[0] = "elsewhere";
    meet_as(&c, &a, "I answer");
    ok(!c.opened && !a.opened && c.broken && a.broken, "two clusters with one key do not open");
    has_str(a.err.text, "another cluster (here, this is elsewher) that has the same key",
            "the answerer says");
    has_str(c.err.text, "it refuses: it is of another cluster", "and the caller is told");
    end_free(&c);
    end_free(&a);
    realm[0] = "here";
    meet_as(&c, &a, "somebody else");
    ok(!c.opened && !a.opened, "nor does who was not called");
    has_str(a.err.text, "it calls 'I answer', and this is 'somebody else'", "the answerer says");
    has_str(c.err.text, "it refuses: it calls 'I answer', and this is 'somebody else'",
            "and the caller is told");
    end_free(&c);
    end_free(&a);
    called = "";
    meet_as(&c, &a, "I answer");
    ok(!c.opened && !a.opened, "nobody in particular is nobody");
    end_free(&c);
    end_free(&a);
    char self[SEAL_NAMES_MAX], program[200];
    memset(self, 'h', sizeof self);
    memset(program, 'p', sizeof program);
    self[SEAL_NAMES_MAX - 6] = program[sizeof program - 1] = 0;
    end_make(&c, true, 1, program, self);
    end_make(&a, false, 1, program, "");
    carry(&a, &c);
    carry(&c, &a);
    carry(&a, &c);
    ok(c.opened && a.opened, "the largest name and an empty one");
    is_int(strlen(seal_other(a.s)), SEAL_NAMES_MAX - 6, "come whole");
    is_str(seal_other(c.s), "", "both");
    end_free(&c);
    end_free(&a);
    called = "I answer";
    seal_free(NULL);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    seal_key_random(&key);
    TAP_DO(test_key_text());
    TAP_DO(test_derive());
    TAP_DO(test_key_file());
    TAP_DO(test_pieces());
    TAP_DO(test_proofs());
    TAP_DO(test_conversation());
    TAP_DO(test_room());
    TAP_DO(test_cuts());
    TAP_DO(test_versions());
    TAP_DO(test_strangers());
    TAP_DO(test_flips());
    TAP_DO(test_frames_out_of_order());
    TAP_DO(test_names());
    static const char *const names[] = {"key", "by-link", "pipe", "bad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    is_int(rmdir(folder), 0, "nothing else was left behind");
    return tap_done();
}
