/* Every reader against damaged files: each sample of tests/data/formats cut, bent and garbled in
 * many small ways. Whatever comes, a reader returns a model or an error of ERROR_INPUT whose text
 * names the file; and what it does read can be written and read again. Run under the sanitizers,
 * this also finds what leaks or reaches past an end. */
#include "base/mem.h"
#include "base/rng.h"
#include "formats/format.h"
#include "tap.h"

#include <ctype.h>
#include <dirent.h>

static const char folder[] = WEFT_SOURCE_DIR "/tests/data/formats";

enum { CUTS = 120, FLIPS = 250, LINES = 60, NUMBERS = 60 };

struct sample {
    const char *name; /* its path: some formats look for files beside it */
    char *text;
    size_t length;
    const struct format *format;
    size_t tried, read, failures;
};

static void fail(struct sample *s, const char *text, const char *what, const char *detail)
{
    if (++s->failures > 3) /* one cause often shows many times */
        return;
    ok(false, "%s: %s: %s", s->name, what, detail);
    printf("# ---- the text\n");
    for (const char *p = text; *p; p++) {
        if (p == text || p[-1] == '\n')
            printf("# ");
        putchar(*p);
    }
    printf("\n# ----\n");
}

static void judge_error(struct sample *s, const char *text, const struct error *err)
{
    if (err->kind != ERROR_INPUT || !strstr(err->text, folder) || strstr(err->text, "(null)"))
        fail(s, text, "a poor message", err->text[0] ? err->text : "none");
}

/* Write it in `format` and read that again: the same number of tasks, or a reason not to write. */
static void round_trip(struct sample *s, const char *text, const struct workflow *w,
                       const struct format *format)
{
    struct strbuf out = {0}, dropped = {0};
    struct error err = {0};
    if (format->write_workflow(w, &out, &dropped, &err)) {
        char *copy = mem_copy_bytes(strbuf_text(&out), out.n);
        struct format_source source = {.path = s->name, .text = copy, .length = out.n};
        struct workflow *again = format->read_workflow(&source, &err);
        if (!again || again->ntasks != w->ntasks || again->npairs != w->npairs)
            fail(s, text, format->name, again ? "read back differently" : err.text);
        workflow_free(again);
        free(copy);
    } else if (!err.text[0]) {
        fail(s, text, format->name, "not written, without a word");
    }
    strbuf_free(&out);
    strbuf_free(&dropped);
}

static void try(struct sample *s, const char *text, size_t length)
{
    s->tried++;
    char *copy = mem_copy_bytes(text, length);
    struct error err = {0};
    s->format->sniff(s->name, copy, length);
    if (s->format->read_workflow) {
        struct format_source source = {.path = s->name, .text = copy, .length = length};
        struct workflow *w = s->format->read_workflow(&source, &err);
        if (!w) {
            judge_error(s, text, &err);
        } else {
            s->read++;
            if (s->format->write_workflow)
                round_trip(s, text, w, s->format);
            if (s->tried % 4 == 0)
                round_trip(s, text, w, format_find("native"));
        }
        workflow_free(w);
    }
    free(copy);
    if (s->format->read_platform) {
        copy = mem_copy_bytes(text, length);
        struct format_source source = {.path = s->name, .text = copy, .length = length};
        error_clear(&err);
        struct platform *p = s->format->read_platform(&source, &err);
        if (!p)
            judge_error(s, text, &err);
        platform_free(p);
        free(copy);
    }
}

/* The text with bytes [from, to) replaced. */
static void try_replaced(struct sample *s, size_t from, size_t to, const char *by, size_t length)
{
    struct strbuf b = {0};
    strbuf_add_bytes(&b, s->text, from);
    strbuf_add_bytes(&b, by, length);
    strbuf_add_bytes(&b, s->text + to, s->length - to);
    try(s, strbuf_text(&b), b.n);
    strbuf_free(&b);
}

static void cuts(struct sample *s)
{
    size_t step = s->length / CUTS + 1;
    for (size_t n = 0; n < s->length; n += step) {
        try(s, s->text, n);
        try(s, s->text + n, s->length - n);
    }
}

static void flips(struct sample *s)
{
    struct rng rng;
    rng_seed(&rng, 20);
    static const char bytes[] = "\0\n\t \"'{}[]()<>/\\#%,:;=-+.0129eEaZ\x80\xC3\xFF";
    for (size_t i = 0; i < FLIPS; i++) {
        size_t at = rng_below(&rng, s->length);
        try_replaced(s, at, at + rng_below(&rng, 2), &bytes[rng_below(&rng, sizeof bytes - 1)], 1);
    }
}

static void lines(struct sample *s)
{
    size_t at = 0;
    for (size_t i = 0; i < LINES && at < s->length; i++) {
        const char *end = memchr(s->text + at, '\n', s->length - at);
        size_t next = end ? (size_t)(end + 1 - s->text) : s->length;
        try_replaced(s, at, next, "", 0);                               /* lost */
        try_replaced(s, at, at, s->text + at, next - at);               /* twice */
        try_replaced(s, s->length, s->length, s->text + at, next - at); /* again at the end */
        at = next;
    }
}

static void numbers(struct sample *s)
{
    static const char *const by[] = {"-1",  "nan",        "1e999",  "99999999999999999999",
                                     "",    "0",          "1e-400", "inf",
                                     "0x1", "4294967296", "1.5",    "9223372036854775807"};
    size_t seen = 0;
    for (size_t at = 0; at < s->length && seen < NUMBERS; at++) {
        if (!isdigit((unsigned char)s->text[at]))
            continue;
        size_t end = at;
        while (end < s->length && (isdigit((unsigned char)s->text[end]) || s->text[end] == '.'))
            end++;
        for (size_t i = 0; i < sizeof by / sizeof *by; i++)
            try_replaced(s, at, end, by[i], strlen(by[i]));
        seen++;
        at = end;
    }
}

static void run(const char *name)
{
    char path[4096];
    struct text text;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_read(path, &text, &err)) {
        ok(false, "%s", err.text);
        return;
    }
    struct sample s = {path, text.at, text.n, format_detect(path, text.at, text.n, &err), 0, 0, 0};
    if (ok(s.format, "%s is of a known format %s", name, err.text)) {
        cuts(&s);
        flips(&s);
        lines(&s);
        numbers(&s);
        ok(!s.failures, "%s: %zu changed files, %zu of them read, no failure", name, s.tried,
           s.read);
    }
    text_free(&text);
}

int main(void)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    size_t files = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && !strstr(name, ".md")) {
            run(name);
            files++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    size_t formats = 0;
    while (format_registry[formats])
        formats++;
    ok(files >= formats, "a sample of every format at least: %zu files, %zu formats", files,
       formats);
    return tap_done();
}
