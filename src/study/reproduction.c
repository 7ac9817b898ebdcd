/* The table of studies and what they share. A new study is a file with one `const struct reproduction` and
 * a row here; the command's list, its error text and the completion follow. */
#include "study/reproduction.h"
#include "base/file.h"
#include "generate/generate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern const struct reproduction reproduction_environment, reproduction_hetpart, reproduction_ic,
    reproduction_matrix, reproduction_mos;

/* One row a line, whatever is added. */
/* clang-format off */
const struct reproduction *const reproduction_registry[] = {
    &reproduction_environment,
    &reproduction_hetpart,
    &reproduction_ic,
    &reproduction_matrix,
    &reproduction_mos,
    NULL,
};
/* clang-format on */

const struct reproduction *reproduction_find(const char *name, struct error *err)
{
    struct strbuf known = {0};
    for (size_t i = 0; reproduction_registry[i]; i++) {
        if (strcmp(reproduction_registry[i]->name, name) == 0) {
            strbuf_free(&known);
            return reproduction_registry[i];
        }
        strbuf_printf(&known, "%s%s", i ? ", " : "", reproduction_registry[i]->name);
    }
    error_set(err, ERROR_INPUT, "there is no reproduction '%s'; there are: %s", name,
              strbuf_text(&known));
    strbuf_free(&known);
    return NULL;
}

bool reproduction_write(const struct reproduction_options *o, const char *file,
                        const struct strbuf *text, struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", o->folder, file);
    bool ok = file_write(strbuf_text(&path), strbuf_text(text), text->n, err);
    strbuf_free(&path);
    return ok;
}

struct platform *reproduction_equal_nodes(const char *count, const char *bandwidth,
                                          const char *latency, struct error *err)
{
    struct option_value values[3] = {{"n", count}};
    size_t n = 1;
    if (bandwidth)
        values[n++] = (struct option_value){"bandwidth", bandwidth};
    if (latency)
        values[n++] = (struct option_value){"latency", latency};
    /* the generator draws nothing: any seed gives the same platform */
    return generator_platform(generator_find("homogeneous"), values, n, 1, err);
}

void findings_say(struct findings *f, bool agrees, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_printf(agrees ? &f->agrees : &f->differs, " %s", text);
}

void findings_compare(struct findings *f, const char *what, double ours, double paper,
                      double within)
{
    if (isfinite(ours) && isfinite(paper))
        findings_say(f, fabs(ours - paper) <= within * paper, "%s: %.4g, published %.4g.", what,
                     ours, paper);
}

void findings_write(struct findings *f, struct strbuf *md, const char *why, const char *unknown)
{
    strbuf_printf(md,
                  "**What agrees.**%s\n\n**What differs, and why.**%s%s%s\n\n**What cannot be "
                  "known.** %s\n\n",
                  f->agrees.n ? f->agrees.at : " Nothing.",
                  f->differs.n ? f->differs.at : " Nothing of what is compared here.",
                  *why ? " " : "", why, unknown);
    strbuf_free(&f->agrees);
    strbuf_free(&f->differs);
    *f = (struct findings){0};
}
