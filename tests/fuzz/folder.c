/* Libfuzzer targets over what a native workflow reads beside its own text: lists, tables and other
 * workflow files. The bytes are a small folder, in which a reader finds what it names:
 *
 *     weft: 1                     up to the first mark: the workflow
 *     include: { a: a.yaml }
 *     === a.yaml                  a mark, and the name of the file that follows
 *     weft: 1
 *     ...
 *
 * FUZZ_TABLES: the bytes are one table (and one list of lines) of a workflow that stays the same.
 * FUZZ_LISTS: the first line is a value of -p, the rest the workflow. Whatever the bytes: a workflow
 * that the native writer can write and read back, or an error with a text. */
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "formats/registry.h"
#include "model/future.h"
#include "model/graph.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

static void remove_folder(void)
{
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml", "t.tsv", "l.txt"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Only files of these names: the bytes choose them, and must not choose others. */
__attribute__((unused)) static void put_file(const char *name, const char *text, size_t n)
{
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml", "t.tsv", "l.txt"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, name);
            FILE *f = fopen(path, "w");
            must(f && fwrite(text, 1, n, f) == n && fclose(f) == 0, "no room for a file");
        }
}

#ifdef FUZZ_MODULES
/* The parts behind the marks become files; the workflow is what stands before the first. */
static size_t unpack(char *text, size_t n)
{
    char *mark = memmem(text, n, "\n=== ", 5), *end = text + n;
    size_t first = mark ? (size_t)(mark - text) + 1 : n;
    while (mark) {
        char *name = mark + 5, *eol = memchr(name, '\n', (size_t)(end - name));
        if (!eol)
            break;
        char *next = memmem(eol, (size_t)(end - eol), "\n=== ", 5);
        char title[32];
        snprintf(title, sizeof title, "%.*s", (int)(eol - name < 30 ? eol - name : 30), name);
        put_file(title, eol + 1,
                 next && next > eol ? (size_t)(next - eol) : (size_t)(end - eol - 1));
        mark = next;
    }
    text[first] = 0;
    return first;
}
#endif

/* Agents get a workflow as the text that the native writer makes of it. */
static void must_come_back(const struct workflow *w)
{
    struct strbuf out = {0}, dropped = {0};
    struct error err = {0};
    format_native.write_workflow(w, &out, &dropped, &err);
    struct format_source source = {.path = "written", .text = out.at, .length = out.n};
    struct workflow *back = dropped.n ? NULL : format_native.read_workflow(&source, &err);
    if (!dropped.n && (!back || !workflow_equal(w, back, &err)))
        fprintf(stderr, "fuzz: %s\n%s\n", err.text, strbuf_text(&out));
    must(dropped.n || (back && err.kind == ERROR_NONE), "what was written does not read the same");
    workflow_free(back);
    strbuf_free(&out);
    strbuf_free(&dropped);
}

/* As a run would: whatever decides is done, and what became known joins. A few times: the bytes may say
 * that it goes on for a hundred thousand rounds. */
static void let_grow(struct workflow *w)
{
    struct future *f = w->future;
    for (int turn = 0; f && turn < 6; turn++) {
        struct error err = {0};
        struct future_part part = {0};
        size_t n = f->ops->items(f), of, left = 0;
        bool *ready = mem_new(bool, n + 1);
        for (size_t i = 0; i < n; i++) {
            struct future_item item = f->ops->item(f, i);
            must(item.name && (!item.count || item.first + item.count <= w->ntasks),
                 "an item of tasks that are not there");
            left += ready[i] = item.count > 0;
        }
        for (size_t i = 0; f->ops->unknown(f, i, &of); i++)
            must(of < n, "what is not known waits for nothing");
        bool good = left && f->ops->expand(f, w, ready, NULL, &part, &err);
        must(!left || good || (err.kind != ERROR_NONE && err.text[0]), "no part and no error");
        if (good && part.workflow)
            good = workflow_append(w, part.workflow, part.links.at, part.links.n, &err);
        future_part_free(&part);
        free(ready);
        if (!good || w->ntasks > 10000)
            break;
    }
}

static void read_flow(char *text, size_t n, const struct option_value *options)
{
    char path[128];
    struct error err = {0};
    snprintf(path, sizeof path, "%s/flow.yaml", folder);
    struct format_source source = {.path = path, .text = text, .length = n, .options = options};
    struct workflow *w = format_native.read_workflow(&source, &err);
    must(w || (err.kind != ERROR_NONE && err.text[0]), "no workflow and no error");
    must(!w || err.kind == ERROR_NONE, "a workflow and an error");
    if (w && w->ntasks < 10000)
        must_come_back(w);
    workflow_free(w);
    err = (struct error){0};
    source.grows = true;
    w = format_native.read_workflow(&source, &err);
    must(w || (err.kind != ERROR_NONE && err.text[0]), "no workflow that grows and no error");
    if (w && w->ntasks < 10000)
        let_grow(w);
    workflow_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/weft-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        must(mkdtemp(folder), "no folder");
        atexit(remove_folder);
    }
    char *text = mem_copy_bytes((const char *)data, size);
#if defined FUZZ_TABLES
    char flow[] = "weft: 1\nlists: { row: { table: t.tsv } }\ntasks:\n"
                  "  a: { each: row, run: \"echo {task}\" }\n  b: { run: ls, after: a }\n",
         lines[] = "weft: 1\nlists: { row: { lines: t.tsv } }\ntasks:\n"
                   "  a: { each: row, run: \"echo {row}\", out: \"o/{row}\" }\n"
                   "  b: { run: \"cat {in}\", in: \"o/{row}\" }\n";
    put_file("t.tsv", text, size);
    read_flow(flow, strlen(flow), NULL);
    read_flow(lines, strlen(lines), NULL);
#elif defined FUZZ_LISTS
    char *eol = memchr(text, '\n', size);
    size_t first = eol ? (size_t)(eol - text) : size;
    text[first] = 0;
    struct option_value options[] = {{"s", text}, {NULL, NULL}};
    if (eol && !memchr(text, 0, first))
        read_flow(eol + 1, size - first - 1, options);
#else
    size_t first = unpack(text, size);
    read_flow(text, first, NULL);
    for (const char *const *p = (const char *const[]){"a.yaml", "b.yaml", "c.yaml", NULL}; *p; p++)
        put_file(*p, "weft: 1\ntasks: {}\n", 18); /* the next must not depend on this one */
#endif
    free(text);
    return 0;
}
