/* Conditions: what they mean, which mistakes they tell, and random ones against a direct evaluation
 * of the tree that they were printed from. */
#include "base/rng.h"
#include "model/condition.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/condition_test.XXXXXX";

enum { FILES = 5 };
static const char *const content[FILES] = {"PASS all 12 checks\n", " 0.93 accuracy\n", "n/a\n", "",
                                           NULL};

static struct condition_file test_file(void *context, bool out, uint32_t place)
{
    static char path[200], name[40];
    (void)context;
    snprintf(name, sizeof name, "%s%u", out ? "out" : "in", place);
    snprintf(path, sizeof path, "%s/%u", folder, place);
    return (struct condition_file){name, place < FILES && content[place] ? path : NULL};
}

static const struct condition_world test_world = {NULL, test_file};
static const struct condition_scope test_scope = {"when", FILES + 2, 0};

static void is(const char *text, bool expected)
{
    struct error err = {0};
    struct condition *c = condition_parse(text, &test_scope, &err);
    bool holds = !expected;
    ok(c && condition_holds(c, &test_world, &holds, &err) && holds == expected, "%s is %s %s", text,
       expected ? "true" : "false", err.text);
    condition_free(c);
}

static void mistake(const char *text, const char *said)
{
    struct error err = {0};
    struct condition *c = condition_parse(text, &test_scope, &err);
    ok(!c && err.kind == ERROR_INPUT && strstr(err.text, said), "%s: %s (%s)", text, said,
       err.text);
    condition_free(c);
}

static void unanswered(const char *text, const char *said)
{
    struct error err = {0};
    bool holds;
    struct condition *c = condition_parse(text, &test_scope, &err);
    ok(c && !condition_holds(c, &test_world, &holds, &err) && strstr(err.text, said), "%s: %s (%s)",
       text, said, err.text);
    condition_free(c);
}

static void test_meaning(void)
{
    is("{in[0]} contains PASS", true);
    is("{in[0]} contains 'all 12'", true);
    is("{in[0]} contains FAIL", false);
    is("not {in[0]} contains FAIL", true);
    is("{in[0]} = PASS", true);
    is("{in[0]} != PASS", false);
    is("{in[0]} = 'PASS all'", false);
    is("{in[1]} > 0.9", true);
    is("{in[1]} >= 0.93 and {in[1]} <= .93", true);
    is("{in[1]} < 1M", true);
    is("{in[1]} = 0.930", true);
    is("{in[1]} = '0.930'", false);
    is("{in[2]} = 3", false);
    is("{in[2]} != 3", true);
    is("size({in[0]}) = 19", true);
    is("size {in[3]} > 0", false);
    is("size({in[1]}) < 1Ki and size({in[1]}) < 1K", true);
    is("exists {in[0]} and exists({in[3]})", true);
    is("exists {in[4]}", false);
    is("exists {in[4]} and {in[4]} contains x", false);
    is("not exists {in[4]} or {in[4]} contains x", true);
    is("true", true);
    is("false or not false", true);
    is("fast = fast", true);
    is("fast == 'fast'", true);
    is("007 = 7", true);
    is("'007' = 7", false);
    is("12 < 100", true);
    is("abc contains bc", true);
    is("1 = 1 or 1 = 2 and 1 = 3", true);
    is("(1 = 1 or 1 = 2) and 1 = 3", false);
    is("not not not 1 = 1", false);
    is("not (1 = 2 and 1 = 1) and true", true);
    is("'say \"yes\"' contains '\"'", true);
    is("\"it's {{so}}\" contains \"'s {{\"", true);
    is("-3 < -2.5 and 1e3 = 1000", true);
    is("true = true", true);
}

static void test_mistakes(void)
{
    mistake("", "expected a file, a number or a text");
    mistake("{in[0]}", "expected `contains` or a comparison");
    mistake("{in[0]} contain PASS", "did you mean `contains`?");
    mistake("{in}", "stands for 7 files");
    mistake("{in} contains x", "name it, as in {in[0]}");
    mistake("{in[7]} contains x", "there is no {in[7]}");
    mistake("{out} contains x", "made by the task");
    mistake("{in[0:2]} contains x", "several files");
    mistake("exists 'foo.txt'", "name them in its `in`");
    mistake("size(foo) > 1", "asks about a file of the task");
    mistake("size({in[0]}) > big", "'big' is not a number");
    mistake("size({in[0]}) = '10'", "a text in quotes");
    mistake("size({in[0]}) contains 1", "contains nothing");
    mistake("{in[0]} contains {in[1]}", "is a text");
    mistake("{in[0]} > PASS", "only numbers have an order");
    mistake("a < b", "only numbers have an order");
    mistake("1 = 1 && 2 = 2", "written `and`");
    mistake("1 = 1 || 2 = 2", "written `or`");
    mistake("!exists {in[0]}", "negation is `not`");
    mistake("1 = 1 2", "expected `and`, `or` or the end");
    mistake("(1 = 1", "expected ')'");
    mistake("1 = 'x", "no end");
    mistake("1 = '{x}'", "names no value");
    mistake("1 = and", "stands in quotes");
    mistake("1 =", "expected a file, a number");
    mistake("{x} = 1", "expected a file of the task");
    mistake("exists({in[0]}", "expected ')'");
    char deep[200];
    memset(deep, '(', 100);
    snprintf(deep + 100, 20, "1 = 1");
    mistake(deep, "nest more than 32 deep");
    char *large = malloc(CONDITION_TEXT_MOST + 100);
    memset(large, 'x', CONDITION_TEXT_MOST + 50);
    large[CONDITION_TEXT_MOST + 50] = 0;
    mistake(large, "at most 65536 are read");
    free(large);
}

static void test_unanswered(void)
{
    char path[200], byte = 'x';
    unanswered("{in[2]} > 3", "begins with 'n/a'");
    unanswered("{in[3]} > 3", "is empty");
    unanswered("{in[4]} contains x", "say `exists {in[4]} and ...`");
    unanswered("size({in[4]}) > 3", "which is not there");
    snprintf(path, sizeof path, "%s/0", folder);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < CONDITION_FILE_MOST; i++)
        fwrite(&byte, 1, 1, f);
    fflush(f);
    is("{in[0]} contains y", false);
    is("size({in[0]}) = 1M", true);
    fwrite(&byte, 1, 1, f);
    fclose(f);
    unanswered("{in[0]} contains x", "more than 1000000 bytes");
    is("size({in[0]}) > 1M", true);
    unlink(path);
    unanswered("{in[0]} contains x", "No such file");
    is("exists {in[0]}", false);
}

/* ---- random conditions ---- */

/* Print a random tree with as few parentheses as it needs, and say what it is worth. `tight`: how
 * strongly what is around it binds (0 or, 1 and, 2 not). */
static bool random_tree(struct rng *r, int depth, int tight, struct strbuf *out)
{
    uint64_t what = depth ? rng_below(r, 4) : 3;
    int mine = (int)what; /* 0: or, 1: and, 2: not */
    bool parentheses = what < 3 && mine < tight, value;
    if (parentheses)
        strbuf_add(out, "(");
    if (what < 2) {
        value = random_tree(r, depth - 1, mine, out);
        strbuf_add(out, what ? " and " : " or ");
        bool right = random_tree(r, depth - 1, mine, out);
        value = what ? value && right : value || right;
    } else if (what == 2) {
        strbuf_add(out, "not ");
        value = !random_tree(r, depth - 1, 2, out);
    } else {
        static const char *const sign[] = {"=", "!=", "<", "<=", ">", ">="};
        int a = (int)rng_below(r, 5) - 2, b = (int)rng_below(r, 5) - 2, s = (int)rng_below(r, 6);
        strbuf_printf(out, "%d %s %d", a, sign[s], b);
        value = s == 0   ? a == b
                : s == 1 ? a != b
                : s == 2 ? a < b
                : s == 3 ? a <= b
                : s == 4 ? a > b
                         : a >= b;
    }
    if (parentheses)
        strbuf_add(out, ")");
    return value;
}

static void test_random(void)
{
    struct rng r;
    rng_seed(&r, 16);
    int wrong = 0;
    for (int i = 0; i < 3000; i++) {
        struct strbuf text = {0};
        struct error err = {0};
        bool expected = random_tree(&r, (int)rng_below(&r, 6), 0, &text), holds = !expected;
        struct condition *c = condition_parse(text.at, &test_scope, &err);
        if (!c || condition_asks_files(c) || !condition_holds(c, NULL, &holds, &err) ||
            holds != expected) {
            wrong++;
            ok(false, "%s: %s", text.at, err.text);
        }
        condition_free(c);
        strbuf_free(&text);
    }
    ok(!wrong, "3,000 random conditions are worth what their trees are");
}

/* Values of any bytes stand for themselves. */
static void test_values(void)
{
    struct rng r;
    rng_seed(&r, 17);
    int wrong = 0;
    for (int i = 0; i < 2000; i++) {
        static const char set[] = "ab{}\"'\\ 01.KM-()=\n,";
        char value[12] = "";
        size_t n = rng_below(&r, 11);
        for (size_t k = 0; k < n; k++)
            value[k] = set[rng_below(&r, sizeof set - 1)];
        struct strbuf text = {0};
        struct error err = {0};
        bool holds = false;
        condition_add_value(&text, value);
        strbuf_add(&text, " = ");
        condition_add_value(&text, value);
        struct condition *c = condition_parse(text.at, &test_scope, &err);
        wrong += !c || !condition_holds(c, NULL, &holds, &err) || !holds;
        condition_free(c);
        strbuf_free(&text);
    }
    ok(!wrong, "2,000 random values stand for themselves");
}

int main(void)
{
    char path[200];
    if (!mkdtemp(folder))
        return 1;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        FILE *f = content[i] ? fopen(path, "w") : NULL;
        if (f) {
            fputs(content[i], f);
            fclose(f);
        }
    }
    TAP_DO(test_meaning());
    TAP_DO(test_mistakes());
    TAP_DO(test_random());
    TAP_DO(test_values());
    TAP_DO(test_unanswered());
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        unlink(path);
    }
    rmdir(folder);
    return tap_done();
}
