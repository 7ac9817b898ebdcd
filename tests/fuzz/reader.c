/* A libFuzzer target over one reader, chosen when it is built (FORMAT): whatever the bytes, the
 * reader returns a valid model or an error with a text, leaks nothing and touches nothing. What
 * reads is also written back, if the format writes. */
#include "base/mem.h"
#include "formats/format.h"
#include "model/graph.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct format FORMAT;

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

static char *copy(const uint8_t *data, size_t size)
{
    return mem_copy_bytes((const char *)data, size);
}

/* Agents get a workflow as the text that the native writer makes of it. */
static void must_come_back(const struct format *f, const struct workflow *w,
                           const struct strbuf *out)
{
    struct error err = {0};
    char *text = mem_copy_bytes(out->at, out->n);
    struct format_source source = {.path = "written", .text = text, .length = out->n};
    struct workflow *back = f->read_workflow(&source, &err);
    if (!back || !workflow_equal(w, back, &err))
        fprintf(stderr, "fuzz: %s\n%s\n", err.text, out->at);
    must(back && err.kind == ERROR_NONE, "what was written does not read as the same");
    workflow_free(back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format *f = &FORMAT;
    struct error err = {0};
    char *text = copy(data, size);
    f->sniff("input", text, size);
    if (f->read_workflow) {
        struct format_source source = {.path = "input", .text = text, .length = size};
        struct workflow *w = f->read_workflow(&source, &err);
        must(w || (err.kind != ERROR_NONE && err.text[0]), "no workflow and no error");
        must(!w || err.kind == ERROR_NONE, "a workflow and an error");
        if (w && f->write_workflow) {
            struct strbuf out = {0}, dropped = {0};
            f->write_workflow(w, &out, &dropped, &err);
            if (strcmp(f->name, "native") == 0 && !dropped.n)
                must_come_back(f, w, &out);
            strbuf_free(&out);
            strbuf_free(&dropped);
        }
        workflow_free(w);
    }
    free(text);
    error_clear(&err);
    if (f->read_platform) {
        text = copy(data, size);
        struct format_source source = {.path = "input", .text = text, .length = size};
        struct platform *p = f->read_platform(&source, &err);
        must(p || (err.kind != ERROR_NONE && err.text[0]), "no platform and no error");
        platform_free(p);
        free(text);
    }
    return 0;
}
