#include "cluster/wire/member.h"
#include "base/json.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static struct member member_test_read(const struct charter *writer, const struct charter *reader,
                                      const char *purpose, const char *text)
{
    struct strbuf sealed = {0};
    struct member m;
    charter_seal(writer, purpose, charter_member(3, 2), text, strlen(text), &sealed);
    struct board_member from = {
        .node = 3, .life = 2, .state = BOARD_UP, .age = 0.5, .text = sealed.at, .n = sealed.n};
    member_read(&from, reader, &m);
    strbuf_free(&sealed);
    return m;
}

static void test_whole(const struct charter *key)
{
    struct member m = member_test_read(
        key, key, "member",
        "{\"host\":\"a\",\"address\":\"10.0.0.7:41234\",\"cores\":8,\"memory\":1.6e10,"
        "\"version\":\"0.1.0\",\"pid\":123,\"started\":5,\"cache_limit\":null,\"later\":[1],"
        "\"runs\":[{\"run\":7,\"policy\":\"flds\",\"running\":2,\"hits\":5,\"busy\":1.5},"
        "{\"run\":9,\"policy\":\"a policy with a long name\"}]}");
    ok(!m.sealed && m.node == 3 && m.life == 2 && m.age == 0.5, "the board's part");
    is_str(m.host, "a", "the host");
    is_str(m.address, "10.0.0.7:41234", "where it is");
    ok(m.cores == 8 && m.memory == 1.6e10 && m.pid == 123, "what it has");
    ok(isnan(m.cache_limit), "no limit");
    is_int(m.works.n, 2, "two runs");
    const struct member_work *w = member_work(&m, 7);
    ok(w && w->running == 2 && w->hits == 5 && w->busy == 1.5 && w->misses == 0, "its work on one");
    ok(member_work(&m, 9) && strlen(member_work(&m, 9)->policy) == 15, "a long word is cut");
    ok(!member_work(&m, 8), "none on another");
    struct strbuf out = {0};
    struct json_writer j;
    json_write_start(&j, &out, false);
    if (w)
        member_work_json(w, &j);
    has_str(strbuf_text(&out), "\"hits\"", "the same fields again");
    strbuf_free(&out);
    member_free(&m);
}

static void test_strange(const struct charter *key, const struct charter *other)
{
    struct member m = member_test_read(other, key, "member", "{\"host\":\"a\"}");
    ok(m.sealed && strcmp(m.host, "?") == 0 && !m.text, "another key: nothing is known");
    member_free(&m);
    m = member_test_read(key, key, "ticket", "{\"host\":\"a\"}");
    ok(m.sealed, "nor does a ticket stand in for a member");
    member_free(&m);
    struct charter elsewhere = *key;
    elsewhere.id[0]++;
    m = member_test_read(&elsewhere, key, "member", "{\"host\":\"a\"}");
    ok(m.sealed, "nor one of another cluster with the same key");
    member_free(&m);
    struct strbuf text = {0};
    charter_seal(key, "member", charter_member(3, 1), "{}", 2, &text);
    member_read(&(struct board_member){.node = 3, .life = 2, .text = text.at, .n = text.n}, key,
                &m);
    ok(m.sealed, "nor what it said in an earlier life");
    member_free(&m);
    member_read(&(struct board_member){.node = 2, .life = 1, .text = text.at, .n = text.n}, key,
                &m);
    ok(m.sealed && !m.silent, "nor what another said");
    member_free(&m);
    member_read(&(struct board_member){.node = 3, .life = 2, .text = ""}, key, &m);
    ok(m.sealed && m.silent, "one that has said nothing yet");
    member_free(&m);
    strbuf_free(&text);
    static const char *const texts[] = {"",
                                        "null",
                                        "[1,2]",
                                        "{\"runs\":7}",
                                        "{\"runs\":[3,null]}",
                                        "{\"cores\":-1,\"host\":5,\"pid\":1e300}",
                                        "{"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        m = member_test_read(key, key, "member", texts[i]);
        ok(!m.sealed && m.cores == 0 && m.pid == 0 && m.address[0] == 0, "'%s' is borne", texts[i]);
        member_free(&m);
    }
}

int main(void)
{
    struct charter key = {.id = {1}}, other = {.id = {1}};
    seal_key_random(&key.key);
    seal_key_random(&other.key);
    TAP_DO(test_whole(&key));
    TAP_DO(test_strange(&key, &other));
    return tap_done();
}
