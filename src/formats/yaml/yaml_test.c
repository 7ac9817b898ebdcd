#include "formats/yaml/yaml.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static bool load(struct yaml *y, const char *text, struct error *err)
{
    error_clear(err);
    return yaml_load(y, "f.yaml", text, strlen(text), err);
}

static void refused(const char *text, const char *part, const char *what)
{
    struct yaml y;
    struct error err;
    bool good = load(&y, text, &err);
    ok(!good && err.kind == ERROR_INPUT, "%s: refused", what);
    has_str(err.text, part, "%s: said so", what);
    if (good)
        yaml_free(&y);
}

static void test_access(void)
{
    static const char text[] = "# a comment\n"
                               "a: 1\n"
                               "b: [x, 'y z', \"tab\\t\"]\n"
                               "c:\n"
                               "  d: {e: f, g: }\n"
                               "  h: |\n"
                               "    one\n"
                               "    two\n"
                               "? long key\n"
                               ": - p\n"
                               "  - q\n"
                               "plain: cat x\n"
                               "  > y\n"
                               "  | z\n"
                               "n: ~\n"
                               "s: '~'\n";
    struct yaml y;
    struct error err;
    if (!ok(load(&y, text, &err), "a document of all shapes reads")) {
        printf("# %s\n", err.text);
        return;
    }
    is_int(yaml_type(&y, 0), YAML_MAPPING, "the root is a mapping");
    is_int(yaml_size(&y, 0), 7, "of seven members");
    yaml_ref b = yaml_get(&y, 0, "b");
    is_int(yaml_type(&y, b), YAML_SEQUENCE, "a flow list is a list");
    is_int(yaml_size(&y, b), 3, "of three");
    is_int(yaml_line(&y, b), 3, "on line 3");
    yaml_ref e = yaml_first(&y, b);
    ok(y.at[e].plain, "x is plain");
    e = yaml_next(&y, b, e);
    ok(!y.at[e].plain, "'y z' is quoted");
    is_str(yaml_text(&y, e, NULL), "y z", "without its quotes");
    e = yaml_next(&y, b, e);
    size_t length;
    is_str(yaml_text(&y, e, &length), "tab\t", "escapes are undone");
    is_int(length, 4, "length in bytes");
    is_int(yaml_next(&y, b, e), YAML_NONE, "the list ends");
    yaml_ref c = yaml_get(&y, 0, "c"), d = yaml_get(&y, c, "d");
    is_str(yaml_text(&y, yaml_get(&y, d, "e"), NULL), "f", "a nested mapping");
    ok(yaml_is_null(&y, yaml_get(&y, d, "g")), "no value is null");
    is_int(yaml_line(&y, yaml_get(&y, d, "g")), 5, "and has a line all the same");
    is_str(yaml_text(&y, yaml_get(&y, c, "h"), NULL), "one\ntwo\n", "a literal block");
    is_int(yaml_size(&y, yaml_get(&y, 0, "long key")), 2, "an explicit key with a list below");
    is_str(yaml_text(&y, yaml_get(&y, 0, "plain"), NULL), "cat x > y | z",
           "a plain text of several lines");
    ok(yaml_is_null(&y, yaml_get(&y, 0, "n")), "~ is null");
    ok(!yaml_is_null(&y, yaml_get(&y, 0, "s")), "'~' is not");
    is_int(yaml_get(&y, 0, "z"), YAML_NONE, "an absent key");
    is_int(yaml_get(&y, b, "z"), YAML_NONE, "a key of a list");
    int members = 0;
    for (yaml_ref k = yaml_first(&y, 0); k != YAML_NONE; k = yaml_next(&y, 0, k))
        members++;
    is_int(members, 7, "iteration skips what is nested");
    yaml_free(&y);
}

static void test_errors(void)
{
    refused("", "f.yaml: the file is empty", "nothing");
    refused(" \n\n", "empty", "blanks");
    refused("# only\n# comments\n", "empty", "comments");
    refused("a: [1, 2\n", "f.yaml:", "an open bracket");
    refused("a: 1\nb: \"x\n", "f.yaml:2:", "an open quote");
    refused("a: 1\nb: 2\na: 3\n",
            "f.yaml:3: the key 'a' is there twice; the first stands on line 1", "a key twice");
    refused("a: 1\n---\nb: 2\n", "second YAML document", "two documents");
    refused("a: &x 1\nb: 2\n", "f.yaml:1: anchors", "an anchor");
    refused("a: 1\nb: *x\n", "f.yaml:2:", "an alias");
    refused("a: !!str 1\n", "f.yaml:1: tags", "a tag");
    refused("? [a, b]\n: c\n", "f.yaml:1: a key", "a list as key");
    refused("a: b: c\n", "f.yaml:1: not valid YAML", "a mapping in a line");
    refused("a: \"\\uD83D\"\n", "f.yaml:1:", "half a character");
    refused("a: \"\\q\"\n", "f.yaml:1:", "an escape that is none");
    refused("a: \"\\0\"\n", "NUL", "an escaped NUL");
    refused("a: 1\nb: \xff\n", "f.yaml:2: byte 0xFF", "a byte that is not UTF-8");
    refused("b:\n  a: |\n  c: 1\n", "f.yaml:2: a block (| or >) without lines", "an empty block");
    refused("- a: |  # comment\n\n  b: 1\n", "f.yaml:1: a block (| or >) without lines",
            "an empty block in a list");
    refused("\ta: 1\n", "f.yaml:1:", "a tab as indentation");

    struct yaml y;
    struct error err = {0};
    ok(!yaml_load(&y, "f.yaml", "a: 1\nb\0c\n", 9, &err), "a NUL byte is refused");
    has_str(err.text, "f.yaml:2: a NUL byte", "with its line");

    /* a mapping with many keys takes the other way of finding twins */
    struct strbuf many = {0};
    for (int i = 0; i < 500; i++)
        strbuf_printf(&many, "k%d: %d\n", i, i);
    ok(load(&y, many.at, &err), "500 keys");
    is_str(yaml_text(&y, yaml_get(&y, 0, "k499"), NULL), "499", "the last is found");
    yaml_free(&y);
    strbuf_add(&many, "k7: again\n");
    refused(many.at, "f.yaml:501: the key 'k7' is there twice; the first stands on line 8",
            "one of 500");
    strbuf_free(&many);
}

/* Millions of tokens in one line: libfyaml would take them for a key, and keep them all. */
static void test_long_lines(void)
{
    enum { MEMBERS = 600000 };
    struct strbuf text = {0};
    struct error err = {0};
    struct yaml y;
    strbuf_add(&text, "\n{\"x\":[");
    for (int i = 0; i < MEMBERS; i++)
        strbuf_printf(&text, "{\"k\":%d},", i % 10);
    strbuf_add(&text, "0],\"last\":1}\n");
    ok(load(&y, text.at, &err), "a document in one line: %s", err.text);
    is_int(yaml_size(&y, yaml_get(&y, 0, "x")), MEMBERS + 1, "all of it");
    is_int(yaml_line(&y, yaml_get(&y, 0, "last")), 2, "has the line that it has");
    yaml_free(&y);
    text.at[text.n - 2] = ']';
    refused(text.at, "f.yaml:2: not valid YAML", "and so has a mistake in it");
    strbuf_clear(&text);
    strbuf_add(&text, "x: [");
    for (int i = 0; i < MEMBERS; i++)
        strbuf_add(&text, "a, bcd, ");
    strbuf_add(&text, "0]\n");
    ok(load(&y, text.at, &err), "a list of millions behind its key: %s", err.text);
    yaml_free(&y);
    strbuf_clear(&text);
    strbuf_add(&text, "a: 1\n[");
    for (int i = 0; i < MEMBERS; i++)
        strbuf_add(&text, "a, bcd, ");
    strbuf_add(&text, "0]: 3\n");
    refused(text.at, "f.yaml:2: a list or mapping of more than", "one that might be a key");
    strbuf_clear(&text);
    for (int i = 0; i < MEMBERS; i++)
        strbuf_add(&text, "a: | ");
    refused(text.at, "f.yaml:1: not valid YAML", "keys behind keys, in no time");
    strbuf_free(&text);
}

static void deep(const char *piece, size_t times, const char *what)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < times; i++)
        strbuf_add(&text, piece);
    refused(text.at, "more than", what);
    strbuf_free(&text);
}

static void test_hostile(void)
{
    deep("[", 3000000, "3 MB of [");
    deep("{", 3000000, "3 MB of {");
    deep("[\n", 1000000, "brackets on lines");
    deep("- ", 1000000, "nested lists in a line");
    refused("? ? ? ? a\n", "a key of a mapping", "nested keys");
    deep("a: [\"[\", {b: ", 200, "mixed brackets");
    deep("%x\n", 1000, "directives");
    struct strbuf text = {0};
    for (int i = 0; i < 300; i++)
        strbuf_printf(&text, "%*sa:\n", i, "");
    refused(text.at, "nested more than 100", "indentation");
    strbuf_clear(&text);
    strbuf_add(&text, "a: |\n");
    for (int i = 0; i < 100000; i++)
        strbuf_add_char(&text, '\n');
    refused(text.at, "blank lines", "100,000 blank lines");

    /* brackets that are not nesting must not be taken for it */
    strbuf_clear(&text);
    strbuf_add(&text, "a: '");
    for (int i = 0; i < 300; i++)
        strbuf_add_char(&text, '[');
    strbuf_add(&text, "'\nb: x");
    for (int i = 0; i < 300; i++)
        strbuf_add_char(&text, '{');
    strbuf_add(&text, "\nlist:\n  - c: |\n");
    for (int i = 0; i < 300; i++)
        strbuf_add(&text, "      [ unclosed\n");
    strbuf_add(&text, "    d: e # [[[\n  - |\n    {{\n");
    for (int i = 0; i < 300; i++)
        strbuf_add(&text, "  - [\"a]\", 'b''[', c, d] # {\n");
    struct yaml y;
    struct error err;
    bool good = load(&y, text.at, &err);
    ok(good, "brackets in quotes, comments, plain texts and blocks do not nest");
    if (!good)
        printf("# %s\n", err.text);
    else
        yaml_free(&y);
    strbuf_free(&text);
}

/* Each text, written as a value and as a key, in a block and in a flow list, must come back. */
static int round_trip(const char *text)
{
    struct strbuf out = {0};
    strbuf_add(&out, "top:\n  ");
    bool whole = yaml_write_string(&out, text, YAML_IN_BLOCK);
    strbuf_add(&out, ": ");
    yaml_write_string(&out, text, YAML_IN_BLOCK);
    strbuf_add(&out, "\n  -block: ");
    yaml_write_block(&out, text, 2);
    strbuf_add(&out, "\nlist: [");
    yaml_write_string(&out, text, YAML_IN_FLOW);
    strbuf_add(&out, ", {-k: ");
    yaml_write_string(&out, text, YAML_IN_FLOW);
    strbuf_add(&out, ", ");
    yaml_write_string(&out, text, YAML_IN_FLOW);
    strbuf_add(&out, ": -v}]\nvalue: ");
    yaml_write_value(&out, text, YAML_IN_BLOCK);
    strbuf_add(&out, "\nseq:\n  - ");
    yaml_write_string(&out, text, YAML_IN_BLOCK);
    strbuf_add_char(&out, '\n');
    struct yaml y;
    struct error err = {0};
    int bad = 0;
    if (!load(&y, out.at, &err)) {
        printf("# %s\n# %s\n", err.text, out.at);
        strbuf_free(&out);
        return 1;
    }
    yaml_ref top = yaml_get(&y, 0, "top"), list = yaml_get(&y, 0, "list");
    yaml_ref key = yaml_first(&y, top), map = yaml_next(&y, list, yaml_first(&y, list));
    yaml_ref found[] = {key,
                        yaml_value(key),
                        yaml_get(&y, top, "-block"),
                        yaml_first(&y, list),
                        yaml_get(&y, map, "-k"),
                        yaml_next(&y, map, yaml_first(&y, map)),
                        yaml_get(&y, 0, "value"),
                        yaml_first(&y, yaml_get(&y, 0, "seq"))};
    for (size_t i = 0; whole && i < sizeof found / sizeof *found; i++)
        if (strcmp(yaml_text(&y, found[i], NULL), text) != 0 || yaml_is_null(&y, found[i])) {
            printf("# place %zu: '%s' came back as '%s' from\n%s", i, text,
                   yaml_text(&y, found[i], NULL), out.at);
            bad++;
        }
    yaml_free(&y);
    strbuf_free(&out);
    return bad;
}

static void test_strings(void)
{
    static const char *const texts[] = {
        "plain",
        "two words",
        "",
        " ",
        " lead",
        "trail ",
        "null",
        "~",
        "Null",
        "true",
        "yes",
        "no",
        "on",
        "y",
        "N",
        "1",
        "1.5",
        "-3",
        "+4",
        "1e9",
        "0x1F",
        "0o17",
        ".inf",
        "-.INF",
        ".nan",
        "12:30:45",
        "2024-01-01",
        "=",
        "<<",
        "a: b",
        "a:",
        ":a",
        ":",
        "a #b",
        "#a",
        "a#b",
        "- a",
        "-a",
        "-",
        "--",
        "---",
        "...",
        "? a",
        "?",
        "[a]",
        "{a}",
        "a]",
        "a,b",
        "a{b",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'",
        "\"",
        "it's",
        "say \"hi\"",
        "%a",
        "@a",
        "`a",
        "a\\b",
        "tab\there",
        "line\nbreak",
        "line\nbreak\n",
        "two\n\nbreaks\n\n",
        "\nlead",
        "a\n  indented\nb",
        "a\n \nb",
        "a\n\tb\n",
        "cr\rlf\r\n",
        "\x01\x7f",
        "\xc2\x85",
        "\xe2\x80\xa8",
        "\xef\xbb\xbf-bom",
        "\xef\xbf\xbe",
        "\xe7\x95\x8c",
        "\xf0\x9f\x98\x80",
        "cp {in} {out}",
        "{in}",
        "a->b",
        "http://x:80/y",
        "a:[b",
        "::",
        "a: ",
        "x:1",
        "awk '{print $1}' < {in} | sort -k2,2 > {out} # done",
        "a  b",
        "C:\\dir",
        "echo \"a: b\"",
        "12abc",
        "1_000",
        "0.5.1",
        "~a",
        "nullable",
        "a\n",
        "a\n# not a comment\n",
        "\t",
        "- - -",
        "a |",
        "> b",
        "a: |\n  b",
    };
    int bad = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        bad += round_trip(texts[i]);
    is_int(bad, 0, "every nasty string comes back in every place");

    static const char *const pieces[] = {" ",        "\n", ":", "#",  "-",  "a",  "'",
                                         "\"",       ",",  "[", "}",  "\t", "\\", "?",
                                         "\xc3\xa9", "1",  "|", "\r", "%",  "&"};
    struct rng rng;
    rng_seed(&rng, 5);
    bad = 0;
    for (int i = 0; i < 3000; i++) {
        char text[64] = "";
        for (uint64_t n = 1 + rng_below(&rng, 8); n--;)
            strcat(text, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        bad += round_trip(text);
    }
    is_int(bad, 0, "3,000 random strings of indicators come back");

    struct strbuf out = {0};
    ok(!yaml_write_string(&out, "a\xff", YAML_IN_BLOCK), "broken bytes are told");
    is_str(out.at, "\"a\\uFFFD\"", "and replaced");
    strbuf_clear(&out);
    yaml_write_string(&out, "cp {in} {out}", YAML_IN_BLOCK);
    is_str(out.at, "cp {in} {out}", "no quotes where none are needed");
    strbuf_clear(&out);
    yaml_write_value(&out, "1.4", YAML_IN_BLOCK);
    is_str(out.at, "1.4", "a number stays one as a value");
    strbuf_clear(&out);
    yaml_write_string(&out, "1.4", YAML_IN_BLOCK);
    is_str(out.at, "'1.4'", "and is quoted as a string");
    strbuf_free(&out);
}

/* All styles, and what the parser gets wrong by itself: see yaml_scalar.h. */
static void test_scalars(void)
{
    static const char *const pairs[][2] = {
        {"a: ''''\n", "'"},
        {"a: ''''''\n", "''"},
        {"a: 'x''''y'\n", "x''y"},
        {"a: '\xc3\xa9''''''y ' # c\n", "\xc3\xa9'''y "},
        {"a: 'x ''''  \n   y\n\n  z'\n", "x '' y\nz"},
        {"a: 'x''y\n  z'\n", "x'y z"},
        {"\xc3\xa9\xe7\x95\x8c: 1\na: 'x''''y'\n", "x''y"},
        {"a: \"\"\n", ""},
        {"a: \"x\\\\\\\n  y\\\\ z\"\n", "x\\y\\ z"},
        {"a: \"x \\\n\n  y\n\n  z  \n  w\"\n", "x \ny\nz w"},
        {"a: \"x\r\n  y\"\r\n", "x y"},
        {"a: \"\\x41\\u00e9\\U0001F600\\uD83D\\uDE00\\/\\e\\_\"\n",
         "A\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80/\x1b\xc2\xa0"},
        {"a: |\n  x\n   y\n\n  z\n\n\nb: 1\n", "x\n y\n\nz\n"},
        {"a: |-  # c | d\n\n  x\n\nb: 1\n", "\nx"},
        {"a: |+\n  x\n\n\nb: 1\n", "x\n\n\n"},
        {"a: |\n  x\n  y", "x\ny"},
        {"a: |\n  x\n  \xef\xbb\xbfy \n ", "x\n\xef\xbb\xbfy \n"},
        {"a: |\n", ""},
        {"a: |\r\n  x\r\n  y\r\n", "x\ny\n"},
        {"a: |2\n    x\n  y\n", "  x\ny\n"},
        {"a: >\n  x\n  y\n\n  z\n    w\n\n    v\n  u\n", "x y\nz\n  w\n\n  v\nu\n"},
        {"a: >-\n  x' #\n\n   y\n", "x' #\n\n y"},
        {"a: x\n  y  \n\n  z # c\n", "x y\nz"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct yaml y;
        struct error err;
        if (!ok(load(&y, pairs[i][0], &err), "scalars, case %zu %s", i, err.text))
            continue;
        is_str(yaml_text(&y, yaml_get(&y, 0, "a"), NULL), pairs[i][1], "are undone as YAML says");
        yaml_free(&y);
    }
}

/* Damaged texts: any answer is fine, but an error must have a text, and nothing may crash, leak or
 * be printed. */
static void test_damaged(void)
{
    static const char seed[] =
        "weft: 1\nname: 'x y'\ndefaults: {cores: 1, memory: 100M}\ntasks:\n  a:\n"
        "    run: |\n      cp {in} {out}\n    in: [a, \"b\\n\", {name: c, size: 1}]\n"
        "  ? b\n  : out:\n    - x\n    - {name: y}\n    after: [a]\n# end\n...\n";
    static const char bytes[] = "[]{}:,-?#&*!|>'\"%@` \n\t\\a0\xc3\x80";
    struct rng rng;
    rng_seed(&rng, 11);
    fflush(stderr);
    FILE *log = tmpfile();
    int saved = dup(2);
    dup2(fileno(log), 2);
    int silent = 0;
    for (int i = 0; i < 4000; i++) {
        char text[sizeof seed];
        memcpy(text, seed, sizeof seed);
        size_t n = sizeof seed - 1;
        if (rng_below(&rng, 4) == 0)
            n = rng_below(&rng, n);
        for (uint64_t k = rng_below(&rng, 6); k--;)
            text[rng_below(&rng, sizeof seed - 1)] = bytes[rng_below(&rng, sizeof bytes - 1)];
        struct yaml y;
        struct error err = {0};
        char *copy = mem_copy_bytes(text, n);
        if (yaml_load(&y, "f", copy, n, &err))
            yaml_free(&y);
        else
            silent += err.kind != ERROR_INPUT || !*err.text;
        free(copy);
    }
    fflush(stderr);
    off_t printed = lseek(fileno(log), 0, SEEK_END);
    dup2(saved, 2);
    close(saved);
    fclose(log);
    is_int(silent, 0, "4,000 damaged texts: every refusal has its reason");
    is_int(printed, 0, "and the parser prints nothing itself");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_access),  TAP_CASE(test_errors),  TAP_CASE(test_long_lines),
        TAP_CASE(test_hostile), TAP_CASE(test_strings), TAP_CASE(test_scalars),
        TAP_CASE(test_damaged),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
