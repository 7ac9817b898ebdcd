#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "tap.h"

/* A document in memory of exactly its size, so that the sanitizers see a step past its end. */
struct doc {
    struct json j;
    struct error err;
    char *text;
    bool good;
};

static struct doc parse_bytes(const char *text, size_t n)
{
    struct doc d = {.text = mem_copy_bytes(text, n)};
    d.good = json_parse(&d.j, "f.json", d.text, n, &d.err);
    return d;
}

static struct doc parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void done(struct doc *d)
{
    json_free(&d->j);
    free(d->text);
}

static void refused(const char *text, const char *part)
{
    struct doc d = parse(text);
    char name[64]; /* on one line, as TAP wants it */
    snprintf(name, sizeof name, "%s", text);
    for (char *p = name; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    if (ok(!d.good && d.err.kind == ERROR_INPUT, "refused: %s", name))
        has_str(d.err.text, part, "says why");
    done(&d);
}

static void accepts_string(const char *text, const char *want)
{
    struct doc d = parse(text);
    if (ok(d.good && json_type(&d.j, 0) == JSON_STRING, "string %s", text)) {
        size_t length;
        is_str(json_string(&d.j, 0, &length), want, "its text");
        is_int(length, strlen(want), "its length");
    }
    done(&d);
}

static void test_strings(void)
{
    accepts_string("\"\"", "");
    accepts_string("\"a\"", "a");
    accepts_string("  \"seven77\"  ", "seven77");
    accepts_string("\"eight888\"", "eight888");
    accepts_string("\"a rather long string without anything special in it\"",
                   "a rather long string without anything special in it");
    accepts_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    accepts_string("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00z\"",
                   "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    accepts_string("\"Gr\xC3\xBC\xC3\x9F"
                   "e \xF0\x9F\x98\x80 \\\"x\\\"\"",
                   "Gr\xC3\xBC\xC3\x9F"
                   "e \xF0\x9F\x98\x80 \"x\"");
    accepts_string("\"\x7F\"", "\x7F");
    refused("\"\\u12\"", "four hexadecimal");
    refused("\"\\u12g4\"", "four hexadecimal");
    refused("\"\\ud800\"", "surrogate");
    refused("\"\\ud800\\u0041\"", "surrogate");
    refused("\"\\udc00\"", "surrogate");
    refused("\"a\\u0000b\"", "NUL");
    refused("\"a\\x\"", "unknown escape");
    refused("\"a\nb\"", "control character 0x0A");
    refused("\"abc", "ends inside a string");
    refused("\"abc\\", "ends inside a string");
    refused("\"abc\\u00", "four hexadecimal");
    refused("\"\xC3\"", "not valid UTF-8");
    refused("\"\xC0\x80\"", "not valid UTF-8");
    refused("\"\xED\xA0\x80\"", "not valid UTF-8");
    refused("\"\xF5\x80\x80\x80\"", "not valid UTF-8");
    refused("\"\xE2\x82\"", "not valid UTF-8");
    struct doc d = parse_bytes("\"a\0b\"", 5);
    ok(!d.good, "a raw NUL in a string is refused");
    done(&d);

    /* each place in the 8-byte step, each kind of special byte */
    for (int length = 0; length < 20; length++) {
        char text[64], want[32];
        memset(text, 'x', sizeof text);
        memset(want, 'x', sizeof want);
        text[0] = '"';
        memcpy(text + 1 + length, "\\n\"", 4);
        want[length] = '\n';
        want[length + 1] = 0;
        struct doc e = parse(text);
        if (!e.good || strcmp(json_string(&e.j, 0, NULL), want) != 0)
            ok(false, "escape after %d bytes", length);
        done(&e);
        text[1 + length] = 0x1F;
        struct doc f = parse(text);
        if (f.good)
            ok(false, "control character after %d bytes", length);
        done(&f);
    }
    ok(true, "escapes at every distance from the start");
}

static void test_long_string(void)
{
    size_t n = ((size_t)1 << 24) + 3;
    char *text = mem_alloc(n + 3);
    memset(text, 'y', n + 2);
    text[0] = text[n + 1] = '"';
    text[n + 2] = 0;
    struct json j;
    struct error err = {0};
    size_t length = 0;
    ok(json_parse(&j, "f", text, n + 2, &err), "a long string");
    json_string(&j, 0, &length);
    is_int(length, n, "its exact length");
    is_int(sizeof(struct json_value), 16, "a value takes 16 bytes");
    json_free(&j);
    free(text);
}

static void test_numbers(void)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "-1",
                                       "12",
                                       "123456789012345",
                                       "9007199254740993",
                                       "12345678901234567890",
                                       "18446744073709551616",
                                       "0.1",
                                       "-0.5",
                                       "3.14159265358979",
                                       "0.30000000000000004",
                                       "1e0",
                                       "1E5",
                                       "1e+5",
                                       "1e-5",
                                       "1.5e300",
                                       "4.9e-324",
                                       "2.2250738585072014e-308",
                                       "1e-400",
                                       "1.7976931348623157e308",
                                       "123456789e22",
                                       "9007199254740992e22",
                                       "9007199254740993e-3",
                                       "0.000000000000000000000000000000123",
                                       "100000000000000000000000",
                                       "0e999999999999",
                                       "1e-99999999999999999999",
                                       "0.1234567890123456789012345678901234567890",
                                       "1e22",
                                       "1e23",
                                       "10.00000000000000000000",
                                       "0.00000",
                                       "8.5",
                                       "1234567.125"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct doc d = parse(good[i]);
        double want = strtod(good[i], NULL);
        if (ok(d.good && json_type(&d.j, 0) == JSON_NUMBER, "number %s", good[i]))
            ok(json_number(&d.j, 0) == want && signbit(json_number(&d.j, 0)) == signbit(want),
               "as strtod reads it");
        done(&d);
    }
    refused("01", "must not begin with 0");
    refused("-", "a digit");
    refused("+1", "a value");
    refused(".5", "a value");
    refused("1.", "after the decimal point");
    refused("1.e5", "after the decimal point");
    refused("1e", "digit of the exponent");
    refused("1e+", "digit of the exponent");
    refused("1e400", "beyond the range");
    refused("[1,-1e99999999999999999999]", "beyond the range");
    refused("0x10", "after the end");
    refused("NaN", "a value");
    refused("-Infinity", "a digit");

    struct rng r;
    rng_seed(&r, 7);
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[64];
        snprintf(text, sizeof text, i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.3e" : "%.12g", value);
        struct doc d = parse(text);
        wrong += !d.good || json_number(&d.j, 0) != strtod(text, NULL);
        done(&d);
        snprintf(text, sizeof text, "%.*f", (int)(i % 9), rng_uniform(&r, -1e6, 1e6));
        struct doc e = parse(text);
        wrong += !e.good || json_number(&e.j, 0) != strtod(text, NULL);
        done(&e);
    }
    is_int(wrong, 0, "random numbers read as strtod reads them");
}

static void test_structure(void)
{
    struct doc d = parse(
        "\xEF\xBB\xBF{ \"a\": [1, [], {\"x\": null}, true], \"b\": false,\n \"a\": \"last\" }\n");
    ok(d.good, "a document with a byte order mark");
    const struct json *j = &d.j;
    is_int(json_size(j, 0), 3, "members");
    ok(json_is_string(j, json_get(j, 0, "a"), "last"), "the last of equal keys is found");
    is_int(json_get(j, 0, "c"), JSON_NONE, "an absent key");
    is_int(json_get(j, json_get(j, 0, "b"), "c"), JSON_NONE, "a key of a scalar");
    is_int(json_get(j, JSON_NONE, "c"), JSON_NONE, "a key of nothing");
    json_ref k = json_first(j, 0), array = json_member_value(j, k);
    ok(json_is_string(j, k, "a"), "the first key");
    is_int(json_size(j, array), 4, "elements");
    int types[4], n = 0;
    for (json_ref v = json_first(j, array); v != JSON_NONE; v = json_next_element(j, array, v))
        types[n++] = (int)json_type(j, v);
    ok(n == 4 && types[0] == JSON_NUMBER && types[1] == JSON_ARRAY && types[2] == JSON_OBJECT &&
           types[3] == JSON_TRUE,
       "walking over nested and empty containers");
    k = json_next_member(j, 0, k);
    ok(json_is_string(j, k, "b") && json_type(j, k + 1) == JSON_FALSE, "the second member");
    k = json_next_member(j, 0, k);
    is_int(json_line(j, k), 2, "line of the third");
    is_int(json_next_member(j, 0, k), JSON_NONE, "no fourth");
    is_int(json_first(j, k), JSON_NONE, "a string has no elements");
    done(&d);

    refused("", "empty");
    refused("  \n ", "empty");
    refused("[1,2", "ends inside an array that began in line 1");
    refused("\n{\"a\":\n[1", "ends inside an array that began in line 3");
    refused("{\"a\":1", "ends inside an object");
    refused("{\"a\":", "ends inside an object");
    refused("{\"a\"", "':' after a key");
    refused("{\"a\":1,}", "a key in double quotes");
    refused("{a:1}", "a key in double quotes");
    refused("[1,]", "a value was expected, found ']'");
    refused("[1 2]", "',' or ']'");
    refused("{\"a\":1 \"b\"", "',' or '}'");
    refused("[1}", "found '}'");
    refused("]", "a value");
    refused("[tru]", "a value");
    refused("{} x", "after the end");
    refused("[1]\n[2]", "f.json:2:");
    refused("[1, // no\n2]", "a value");
    refused("{\"a\": \"x\\ny\\nz\",\n\"b\": ?}", "f.json:2:");
    refused("[\"a\\nb\",\n\"\\u000a\",\n\n\"bad \\q\"]", "f.json:4:");
    struct doc e = parse_bytes("[1]\0", 4);
    ok(!e.good, "a NUL after the document is refused");
    done(&e);
    static const char utf16[] = "\xFF\xFE{\0}\0", wide[] = "{\0\"\0", big[] = "\0\0\0{";
    struct doc u = parse_bytes(utf16, 6), v = parse_bytes(wide, 4), x = parse_bytes(big, 4);
    has_str(u.err.text, "UTF-16", "UTF-16 with its mark");
    has_str(v.err.text, "UTF-16", "UTF-16 without");
    has_str(x.err.text, "UTF-16", "UTF-32");
    done(&u);
    done(&v);
    done(&x);
}

static void test_depth(void)
{
    char text[2048];
    memset(text, '[', 512);
    memset(text + 512, ']', 512);
    text[1024] = 0;
    struct doc d = parse(text);
    ok(d.good, "512 levels");
    done(&d);
    memset(text, '[', 513);
    memset(text + 513, ']', 513);
    text[1026] = 0;
    refused(text, "512 levels");
    size_t n = 10000000;
    char *many = mem_alloc(n + 1);
    memset(many, '[', n);
    many[n] = 0;
    struct json j;
    struct error err = {0};
    ok(!json_parse(&j, "f", many, n, &err), "ten million brackets");
    has_str(err.text, "nested more than 512", "are too deep");
    free(many);
}

/* Lines by the cursor are those of json_line(), also when strings hide line ends. */
static void test_lines(void)
{
    struct doc d = parse("[1,\n\"a\\nb\\nc\", 2,\r\n\n[3, \"\\u000A\"], {\"k\\n\":\n4},\n5]");
    ok(d.good, "a document with line ends in strings");
    struct json_cursor c = {0};
    static const size_t want[] = {1, 1, 2, 2, 4, 4, 4, 4, 4, 5, 6};
    int wrong = d.j.n != sizeof want / sizeof *want;
    for (json_ref v = 0; !wrong && v < d.j.n; v++)
        wrong |= json_line(&d.j, v) != want[v] || json_cursor_line(&d.j, &c, v) != want[v];
    is_int(wrong, 0, "lines of all values");
    is_int(json_cursor_line(&d.j, &c, 2), 2, "the cursor can go back");
    struct error err = {0};
    json_error(&d.j, 10, &err, "wrong %d", 5);
    is_str(err.text, "f.json:6: wrong 5", "an error at a value");
    done(&d);
}

static void test_writer(void)
{
    struct strbuf b = {0};
    struct json_writer w;
    json_write_start(&w, &b, true);
    json_write_object(&w);
    json_put_string(&w, "name", "a \"b\"\n\x01\x7F\xFF\xC3\xA9");
    json_put_number(&w, "x", 0.1);
    json_put_number(&w, "inf", INFINITY);
    json_put_integer(&w, "low", INT64_MIN);
    json_put_bool(&w, "yes", true);
    json_write_key(&w, "rows");
    json_write_array(&w);
    for (int i = 0; i < 2; i++) {
        json_write_object_inline(&w);
        json_put_integer(&w, "i", i);
        json_write_key(&w, "l");
        json_write_array(&w);
        json_write_integer(&w, 1);
        json_write_null(&w);
        json_write_end_array(&w);
        json_write_end_object(&w);
    }
    json_write_end_array(&w);
    json_write_key(&w, "empty");
    json_write_array(&w);
    json_write_end_array(&w);
    json_write_end_object(&w);
    is_str(strbuf_text(&b),
           "{\n  \"name\": \"a \\\"b\\\"\\n\\u0001\\u007f\xEF\xBF\xBD\xC3\xA9\",\n  \"x\": 0.1,\n"
           "  \"inf\": null,\n  \"low\": -9223372036854775808,\n  \"yes\": true,\n  \"rows\": [\n"
           "    {\"i\": 0, \"l\": [1, null]},\n    {\"i\": 1, \"l\": [1, null]}\n  ],\n  "
           "\"empty\": []\n}\n",
           "pretty with inline rows");
    strbuf_clear(&b);
    json_write_start(&w, &b, false);
    json_write_array(&w);
    json_write_object(&w);
    json_put_integer(&w, "a", 1);
    json_put_integer(&w, "b", -2);
    json_write_end_object(&w);
    json_write_array_inline(&w);
    json_write_end_array(&w);
    json_write_end_array(&w);
    is_str(strbuf_text(&b), "[{\"a\":1,\"b\":-2},[]]", "compact");
    strbuf_free(&b);
}

/* ---- random documents: written, read back, compared with the same random walk ---- */

static void random_text(struct rng *r, char *out)
{
    static const uint32_t some[] = {'a',  'z', ' ',  '"',  '\\',   '/',
                                    '\n', 1,   0x7F, 0xE9, 0x20AC, 0x1F600};
    size_t n = rng_below(r, 20);
    for (size_t i = 0; i < n; i++)
        out += utf8_encode(out, some[rng_below(r, sizeof some / sizeof *some)]);
    *out = 0;
}

static double random_number(struct rng *r)
{
    return rng_below(r, 2) ? (double)(int64_t)rng_below(r, 2000) - 1000 : rng_normal(r) * 1e6;
}

static void write_random(struct json_writer *w, struct rng *r, int depth)
{
    char text[128];
    uint64_t kind = rng_below(r, depth > 4 ? 4 : 6);
    if (kind == 0) {
        json_write_null(w);
    } else if (kind == 1) {
        json_write_bool(w, rng_below(r, 2));
    } else if (kind == 2) {
        json_write_number(w, random_number(r));
    } else if (kind == 3) {
        random_text(r, text);
        json_write_string(w, text);
    } else {
        uint64_t n = rng_below(r, 6), is_inline = rng_below(r, 2);
        if (kind == 4) {
            is_inline ? json_write_array_inline(w) : json_write_array(w);
        } else {
            is_inline ? json_write_object_inline(w) : json_write_object(w);
        }
        for (uint64_t i = 0; i < n; i++) {
            if (kind == 5) {
                random_text(r, text);
                json_write_key(w, text);
            }
            write_random(w, r, depth + 1);
        }
        kind == 4 ? json_write_end_array(w) : json_write_end_object(w);
    }
}

static bool same_random(const struct json *j, json_ref v, struct rng *r, int depth)
{
    char text[128];
    uint64_t kind = rng_below(r, depth > 4 ? 4 : 6);
    if (kind == 0)
        return json_type(j, v) == JSON_NULL;
    if (kind == 1)
        return json_type(j, v) == (rng_below(r, 2) ? JSON_TRUE : JSON_FALSE);
    if (kind == 2)
        return json_type(j, v) == JSON_NUMBER && json_number(j, v) == random_number(r);
    if (kind == 3) {
        random_text(r, text);
        return json_is_string(j, v, text);
    }
    uint64_t n = rng_below(r, 6);
    rng_below(r, 2);
    if (json_type(j, v) != (kind == 4 ? JSON_ARRAY : JSON_OBJECT) || json_size(j, v) != n)
        return false;
    json_ref x = json_first(j, v);
    for (uint64_t i = 0; i < n; i++) {
        if (kind == 5) {
            random_text(r, text);
            if (!json_is_string(j, x, text) || !same_random(j, x + 1, r, depth + 1))
                return false;
            x = json_next_member(j, v, x);
        } else {
            if (!same_random(j, x, r, depth + 1))
                return false;
            x = json_next_element(j, v, x);
        }
    }
    return x == JSON_NONE;
}

static void test_random(void)
{
    int wrong = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct strbuf b = {0};
        struct json_writer w;
        struct rng r;
        rng_seed(&r, seed);
        json_write_start(&w, &b, seed % 2);
        write_random(&w, &r, 0);
        struct doc d = parse(strbuf_text(&b));
        rng_seed(&r, seed);
        wrong += !d.good || !same_random(&d.j, 0, &r, 0);
        done(&d);
        /* every cut of it is an error or (a number cut short) a smaller document; never a crash */
        for (size_t n = 0; n < b.n && seed < 50; n++) {
            struct doc cut = parse_bytes(b.at, n);
            wrong += cut.good && json_type(&cut.j, 0) >= JSON_STRING && n + 1 < b.n;
            done(&cut);
        }
        strbuf_free(&b);
    }
    is_int(wrong, 0, "random documents survive writing and reading");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_strings),   TAP_CASE(test_long_string), TAP_CASE(test_numbers),
        TAP_CASE(test_structure), TAP_CASE(test_depth),       TAP_CASE(test_lines),
        TAP_CASE(test_writer),    TAP_CASE(test_random),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
