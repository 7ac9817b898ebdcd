#include "cli/cli.h"
#include "cli/reproduce.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

extern const struct reproduction reproduction_environment, reproduction_hetpart, reproduction_ic,
    reproduction_matrix, reproduction_mos;

static const struct reproduction *const reproductions[] = {
    &reproduction_environment, &reproduction_hetpart, &reproduction_ic,
    &reproduction_matrix,      &reproduction_mos,     NULL};

static const struct cli_option options[] = {
    {"output", 'o', "FOLDER", "where the report and its pictures go (default reproduce-NAME)"},
    {"quick", 0, NULL, "a small version, in seconds"},
    {"runs", 0, "N", "repeats of every simulation (default: as many as the study needs)"},
    {"data", 0, "FOLDER[:FOLDER]",
     "instances to use beside generated ones (hetpart: trees, matrices)"},
    OPTION_SEED,
    OPTION_QUIET,
    OPTION_END,
};

bool reproduce_write(const struct reproduce_options *o, const char *file, const struct strbuf *text,
                     struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", o->folder, file);
    bool ok = cli_write_text(strbuf_text(&path), text, err);
    strbuf_free(&path);
    return ok;
}

static const struct reproduction *find(const char *name, struct error *err)
{
    struct strbuf known = {0};
    for (size_t i = 0; reproductions[i]; i++) {
        if (strcmp(reproductions[i]->name, name) == 0) {
            strbuf_free(&known);
            return reproductions[i];
        }
        strbuf_printf(&known, "%s%s", i ? ", " : "", reproductions[i]->name);
    }
    error_set(err, ERROR_INPUT, "there is no reproduction '%s'; there are: %s", name,
              strbuf_text(&known));
    strbuf_free(&known);
    return NULL;
}

static int list(void)
{
    struct strbuf out = {0};
    for (size_t i = 0; reproductions[i]; i++)
        strbuf_printf(&out, "%-10s %s\n", reproductions[i]->name, reproductions[i]->summary);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    if (!a->noperands)
        return list();
    struct error err = {0};
    char folder[256];
    struct reproduce_options o = {.quick = arguments_flag(a, "quick"),
                                  .quiet = arguments_flag(a, "quiet")};
    int64_t seed, runs;
    const struct reproduction *r = find(a->operand[0], &err);
    if (!r || !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) ||
        !arguments_integer(a, "runs", 0, 0, 1000000, &runs, &err))
        return cli_fail(&err);
    snprintf(folder, sizeof folder, "reproduce-%s", r->name);
    o.folder = arguments_value(a, "output") ? arguments_value(a, "output") : folder;
    o.seed = (uint64_t)seed;
    o.runs = (uint32_t)runs;
    o.data = arguments_value(a, "data");
    if (mkdir(o.folder, 0777) && errno != EEXIST) {
        error_set(&err, ERROR_FAILED, "cannot make folder %s: %s", o.folder, strerror(errno));
        return cli_fail(&err);
    }
    struct strbuf out = {0};
    bool ok = r->run(&o, &out, &err);
    cli_progress_done();
    int status = ok ? cli_print(&out) : cli_fail(&err);
    strbuf_free(&out);
    return status;
}

const struct command command_reproduce = {
    .name = "reproduce",
    .operands = "[STUDY]",
    .least = 0,
    .most = 1,
    .summary = "repeat a published study and set its figures beside ours",
    .details =
        "Without STUDY: lists the studies. Writes a report (Markdown) and pictures (SVG).\n\n"
        "examples:\n"
        "  weft reproduce ic\n"
        "  weft reproduce hetpart --data trees:matrices\n"
        "  weft reproduce ic --quick -o report\n",
    .options = options,
    .run = run,
};
