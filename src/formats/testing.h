/* More for tests of readers and writers: what every numeric format is put through. Included by
 * *_test.c only. */
#pragma once
#include "base/clock.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/index_rows.h"
#include "tap.h"

/* This text is refused, with this message (or this part of it). */
#define refused(reader, input, message) refuses(reader, input, message, "refused: %.60s", message)

/* No prefix of a good text crashes, loops or leaks. */
__attribute__((unused)) static void survives_cuts(const struct format *format, const char *text)
{
    size_t length = strlen(text), refused = 0;
    for (size_t n = 0; n < length; n++) {
        char *copy = mem_copy_bytes(text, n);
        struct format_source source = {.path = "f", .text = copy, .length = n};
        struct error err = {0};
        struct workflow *w = format->read_workflow(&source, &err);
        refused += !w;
        if (!w && !err.text[0])
            ok(false, "cut after %zu bytes: refused without a word", n);
        workflow_free(w);
        free(copy);
    }
    ok(refused > 0, "%zu of %zu prefixes of a good file are refused with a message", refused,
       length);
}

__attribute__((unused)) static int sniff_path(const struct format *format, const char *path)
{
    struct text text = {0};
    int sure = -1;
    if (file_read(path, &text, NULL))
        sure = format->sniff(path, text.at, text.n);
    text_free(&text);
    return sure;
}

__attribute__((unused)) static const char *shared_path(const char *file)
{
    static char path[4800];
    snprintf(path, sizeof path, "%s/data/%s", tap_shared(), file);
    return path;
}

/* Call `visit` for each file of the shared data whose name begins with `prefix` and ends with
 * `suffix`; skips without the data. */
__attribute__((unused)) static void index_visit(const char *prefix, const char *suffix,
                                                void (*visit)(const struct index_row *row))
{
    if (!tap_shared()) {
        tap_skip(prefix, "no shared data");
        return;
    }
    FILE *table = fopen(shared_path("INDEX.md"), "r");
    struct index_row row;
    int visited = 0;
    while (table && index_next(table, &row)) {
        size_t length = strlen(row.file), end = strlen(suffix);
        if (strncmp(row.file, prefix, strlen(prefix)) != 0 || length < end ||
            strcmp(row.file + length - end, suffix) != 0)
            continue;
        visit(&row);
        visited++;
    }
    if (table)
        fclose(table);
    ok(visited > 0, "%d files of %s visited", visited, prefix);
}

/* Reads, with the counts of the index; the caller frees the workflow (NULL after a failure, which
 * is reported). */
__attribute__((unused)) static struct workflow *index_expect(const struct format *format,
                                                             const struct index_row *row,
                                                             const struct option_value *options)
{
    struct error err = {0};
    struct workflow *w = index_read(format, row->file, options, &err);
    if (!ok(w != NULL, "%s reads", row->file)) {
        printf("# %s\n", err.text);
        return NULL;
    }
    ok(sniff_path(format, shared_path(row->file)) >= 2, "%s is recognised", row->file);
    is_int(w->ntasks, row->tasks, "%s: tasks", row->file);
    is_int(w->npairs, row->edges, "%s: edges", row->file);
    return w;
}

/* Written and read again, the same graph; `dropped` (may be NULL) is what the writer must say. */
__attribute__((unused)) static void round_trip(const struct format *format,
                                               const struct workflow *w,
                                               const struct option_value *options,
                                               const char *dropped, const char *what)
{
    struct strbuf out = {0}, lost = {0};
    struct error err = {0};
    bool written = format->write_workflow(w, &out, &lost, &err);
    ok(written, "%s: written", what);
    struct workflow *again = written ? read_text(format, strbuf_text(&out), options, &err) : NULL;
    if (!ok(again != NULL, "%s: reads back", what))
        printf("# %s\n", err.text);
    if (dropped)
        is_str(strbuf_text(&lost), dropped, "%s: says what is dropped", what);
    if (again && !(dropped && *dropped)) {
        error_clear(&err);
        if (!ok(workflow_equal(w, again, &err), "%s: the same graph", what))
            printf("# %s\n", err.text);
    } else if (again) {
        ok(again->ntasks == w->ntasks && again->npairs == w->npairs, "%s: the same counts", what);
    }
    workflow_free(again);
    strbuf_free(&out);
    strbuf_free(&lost);
}
