/* A libFuzzer target over experiment files: one that reads is merged, with and without reuse. */
#include "base/mem.h"
#include "experiment/combine.h"
#include "experiment/merge.h"
#include "formats/native/experiment.h"
#include "model/builder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void add(struct builder *b, const char *name, const char *command, const char *in,
                const char *out)
{
    uint32_t t = builder_task(b, name, strlen(name), 0);
    builder_command(b, t, command, strlen(command));
    builder_consumes(b, t, builder_object(b, in, strlen(in)), 0);
    builder_produces(b, t, builder_object(b, out, strlen(out)), 0);
}

/* The names that the examples use. */
static struct workflow *small_workflow(void)
{
    struct builder *b = builder_new("<fuzz>", "fuzz");
    builder_parameter(b, "infect", "1");
    builder_parameter(b, "recover", "{in}");
    builder_parameter(b, "beds", "3");
    add(b, "input", "draw {out} {infect}", "region.pgm", "image");
    add(b, "detect", "sobel {in} image {recover} '{x' > {out[0]}", "image", "edges");
    add(b, "display", "show {in[0]} {beds} {{}} ./edges", "edges", "../view");
    return builder_finish(b, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct workflow *w;
    if (!w)
        w = small_workflow();
    char *text = mem_copy_bytes((const char *)data, size);
    struct experiment x;
    struct error err = {0};
    bool good = experiment_file_parse("dir/exp.yaml", text, size, &x, &err);
    free(text);
    if (!good && (err.kind == ERROR_NONE || !err.text[0]))
        abort();
    if (!good)
        return 0;
    if (x.combine == COMBINE_LISTED || combinations_of_all(&x) < 1000 ||
        (x.combine == COMBINE_SAMPLE && x.sample < 1000)) {
        struct merged *m = experiment_merge(&x, w, true, &err);
        struct merged *apart = m ? experiment_merge(&x, w, false, &err) : NULL;
        if (m && (!apart || m->workflow->ntasks > m->tasks_without_reuse ||
                  apart->workflow->ntasks != m->tasks_without_reuse))
            abort();
        if (!m && !err.text[0])
            abort();
        merged_free(m);
        merged_free(apart);
    }
    experiment_free(&x);
    return 0;
}
