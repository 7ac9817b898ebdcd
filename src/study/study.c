/* The table of studies and what they share. A new study is a file with one `const struct study` and
 * a row here; the command's list, its error text and the completion follow. */
#include "study/study.h"
#include "base/file.h"
#include "generate/generate.h"

#include <string.h>

extern const struct study study_environment, study_hetpart, study_ic, study_matrix, study_mos;

/* clang-format off: one row a line, whatever is added */
const struct study *const study_registry[] = {
    &study_environment, &study_hetpart, &study_ic, &study_matrix, &study_mos, NULL,
};
/* clang-format on */

const struct study *study_find(const char *name, struct error *err)
{
    struct strbuf known = {0};
    for (size_t i = 0; study_registry[i]; i++) {
        if (strcmp(study_registry[i]->name, name) == 0) {
            strbuf_free(&known);
            return study_registry[i];
        }
        strbuf_printf(&known, "%s%s", i ? ", " : "", study_registry[i]->name);
    }
    error_set(err, ERROR_INPUT, "there is no reproduction '%s'; there are: %s", name,
              strbuf_text(&known));
    strbuf_free(&known);
    return NULL;
}

bool study_write(const struct study_options *o, const char *file, const struct strbuf *text,
                 struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", o->folder, file);
    bool ok = file_write(strbuf_text(&path), strbuf_text(text), text->n, err);
    strbuf_free(&path);
    return ok;
}

struct platform *study_equal_nodes(const char *count, const char *bandwidth, const char *latency,
                                   struct error *err)
{
    struct generator_value values[3] = {{"n", count}};
    size_t n = 1;
    if (bandwidth)
        values[n++] = (struct generator_value){"bandwidth", bandwidth};
    if (latency)
        values[n++] = (struct generator_value){"latency", latency};
    /* the generator draws nothing: any seed gives the same platform */
    return generator_platform(generator_find("homogeneous"), values, n, 1, err);
}
