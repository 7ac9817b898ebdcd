/* `weft import`: another tool's graph becomes a workflow of our own, and what is left to do is said.
 * `weft convert` translates and is silent about that; this is for who has come to stay. */
#include "api/inside.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "report/families.h"
#include "report/human.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option import_options[] = {
    OPTION_FROM, OPTION_READ, OPTION_PART_ONLY, OPTION_QUIET, OPTION_END,
};

/* Files that are programs of other tools: only the tool knows the graph, and this is how it tells. */
static const struct import_program {
    const char *pattern, *what, *tool, *command;
} import_programs[] = {
    {"Snakefile*", "a program", "Snakemake", "snakemake --dag > dag.dot"},
    {"*.smk", "a program", "Snakemake", "snakemake --dag > dag.dot"},
    {"*.nf", "a program", "Nextflow", "nextflow run FILE -preview -with-dag dag.dot"},
    {"[Mm]akefile", "a Makefile", "make", "make -Bnd | make2graph > dag.dot"},
    {"GNUmakefile", "a Makefile", "make", "make -Bnd | make2graph > dag.dot"},
    {"*.mk", "a Makefile", "make", "make -Bnd -f FILE | make2graph > dag.dot"},
    {"*.cwl", "a workflow in CWL", "cwltool", "cwltool --print-dot FILE > dag.dot"},
    {"*.wdl", "a workflow in WDL", "womtool", "womtool graph FILE > dag.dot"},
    {"dvc.yaml", "a pipeline of DVC", "dvc", "dvc dag --dot > dag.dot"},
};

/* False: it is one, and the error says how to go on. */
static bool import_is_graph(const char *path, struct error *err)
{
    const char *base = file_basename(path);
    for (size_t i = 0; i < sizeof import_programs / sizeof *import_programs; i++) {
        const struct import_program *p = &import_programs[i];
        if (fnmatch(p->pattern, base, 0) != 0)
            continue;
        struct strbuf command = {0};
        const char *file = strstr(p->command, "FILE");
        strbuf_printf(&command, "%.*s%s%s", (int)(file ? file - p->command : 0), p->command,
                      file ? path : "", file ? file + strlen("FILE") : p->command);
        error_set(err, ERROR_INPUT,
                  "%s: this is %s, whose graph %s knows; ask for it, and import the answer: `%s`, "
                  "then `weft import dag.dot`",
                  path, p->what, p->tool, strbuf_text(&command));
        strbuf_free(&command);
        return false;
    }
    return true;
}

/* Where it goes: what was given, else FILE with our suffix. NULL: an error. */
static char *import_target(const struct arguments *a, struct error *err)
{
    struct strbuf path = {0};
    if (a->noperands > 1) {
        if (fnmatch("*.yaml", a->operand[1], 0) != 0 && fnmatch("*.yml", a->operand[1], 0) != 0) {
            error_set(err, ERROR_INPUT,
                      "%s: what is imported is a workflow of weft's own, NAME.yaml; `weft convert` "
                      "writes other formats",
                      a->operand[1]);
            return NULL;
        }
        return mem_copy_string(a->operand[1]);
    }
    const char *in = a->operand[0], *base = file_basename(in), *dot = strrchr(base, '.');
    strbuf_printf(&path, "%.*s.yaml", (int)(dot > base ? dot - in : (ptrdiff_t)strlen(in)), in);
    char *out = mem_copy_string(path.at);
    strbuf_free(&path);
    return out;
}

/* Kinds with their counts, the first few. */
static void import_add_kinds(const struct workflow *w, const struct families *f, struct strbuf *out)
{
    enum { SHOWN = 6 };
    for (uint32_t i = 0; i < f->at.n && i < SHOWN; i++) {
        const char *kind = workflow_text(w, f->at.at[i].name);
        strbuf_add(out, i ? ", " : "");
        utf8_add_visible(out, *kind ? kind : families_name(f, w, i));
        if (f->at.at[i].tasks > 1)
            strbuf_printf(out, " (%u)", f->at.at[i].tasks);
    }
    if (f->at.n > SHOWN)
        strbuf_printf(out, ", and %zu more", (size_t)f->at.n - SHOWN);
}

/* What a run would stop at: tasks without a command, inputs that are not here. True: there are commands. */
static bool import_add_open_ends(const struct weft_workflow *w, const char *out_path,
                                 const struct families *f, struct strbuf *out)
{
    char count[HUMAN_SIZE];
    uint32_t n = weft_workflow_tasks(w), silent = 0, absent = 0;
    const char *first = NULL;
    struct weft_task_info task;
    struct weft_object_info object;
    for (uint32_t t = 0; t < n; t++)
        silent += weft_workflow_task(w, t, &task) && !task.command;
    for (uint32_t i = 0; i < weft_workflow_objects(w); i++) {
        if (!weft_workflow_object(w, i, &object) || object.producer != WEFT_NONE || !*object.name)
            continue;
        char *path = file_beside(out_path, object.name);
        if (access(path, F_OK) != 0) {
            first = first ? first : object.name;
            absent++;
        }
        free(path);
    }
    if (silent) {
        strbuf_printf(out, "%s of its tasks %s no command: write `run`, `in` and `out`",
                      silent == n ? "All" : human_count(count, silent),
                      plural_word(silent, "has", "have"));
        strbuf_add(out, f->at.n < n ? ",\none description a kind (`lists` and `each`): " : ": ");
        import_add_kinds(inside_workflow(w), f, out);
        strbuf_add_char(out, '\n');
    }
    if (absent) {
        strbuf_printf(out, "%s file%s that no task makes %s not here, as ",
                      human_count(count, absent), plural(absent), plural_word(absent, "is", "are"));
        utf8_add_visible(out, first);
        strbuf_add_char(out, '\n');
    }
    return silent < n;
}

/* What came of it, what is open, and what to type next. */
static int import_tell(const struct weft_workflow *w, const char *in, const char *path)
{
    struct strbuf out = {0};
    struct families f = {0};
    const struct workflow *inside = inside_workflow(w);
    char count[HUMAN_SIZE], edges[HUMAN_SIZE];
    families_of(&f, inside, FAMILIES_BY_KIND, false);
    strbuf_printf(&out, "%s has the %s task%s and %s edge%s of %s (%s)\n", path,
                  human_count(count, weft_workflow_tasks(w)), plural(weft_workflow_tasks(w)),
                  human_count(edges, weft_workflow_edges(w)), plural(weft_workflow_edges(w)), in,
                  workflow_text(inside, inside->format));
    bool runs = import_add_open_ends(w, path, &f, &out);
    strbuf_printf(&out, "next:\n  weft show %s --by kind\n", path);
    if (runs)
        strbuf_printf(&out, "  weft lint %s\n  weft run %s -n\n", path, path);
    else
        strbuf_printf(&out, "  weft plan %s --on 4\n", path);
    families_free(&f);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static struct weft_workflow *import_read(const struct arguments *a, struct weft_error *error)
{
    struct weft_file *file = cli_open(a, a->operand[0], error);
    struct weft_workflow *w = file ? weft_file_workflow(file, error) : NULL;
    weft_file_close(file);
    return w;
}

/* As text, then into a file that is not there yet: what somebody has written is never written over. */
static int import_write(const struct arguments *a, const struct weft_workflow *w, const char *path)
{
    struct error err = {0};
    struct weft_error error;
    struct weft_write_options o = WEFT_WRITE_INIT;
    size_t n = 0;
    o.format = "native";
    o.dropped = cli_dropped;
    o.context = (void *)a;
    char *text = weft_workflow_write_text(w, &o, &n, &error);
    if (!text)
        return cli_failed(&error);
    struct strbuf bytes = {.at = text, .n = n, .cap = n + 1};
    bool good = cli_write_new(path, &bytes, "`weft import FILE OUT.yaml` writes another one", &err);
    weft_text_free(text);
    return good ? 0 : cli_fail(&err);
}

static int import_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    const char *in = a->operand[0];
    if (!arguments_given(a, "from") && !import_is_graph(in, &err))
        return cli_fail(&err);
    char *path = import_target(a, &err);
    if (!path)
        return cli_fail(&err);
    struct weft_workflow *w = import_read(a, &error);
    if (!w) {
        free(path);
        return cli_failed(&error);
    }
    int status;
    const struct workflow *inside = inside_workflow(w);
    if (strcmp(workflow_text(inside, inside->format), "native") == 0) {
        error_set(&err, ERROR_INPUT, "%s: this is a workflow of weft's own already: `weft run %s`",
                  in, in);
        status = cli_fail(&err);
    } else {
        cli_warnings(a, w);
        status = import_write(a, w, path);
    }
    if (!status && !arguments_flag(a, "quiet"))
        status = import_tell(w, in, path);
    weft_workflow_free(w);
    free(path);
    return status;
}

const struct command command_import = {
    .name = "import",
    .operands = "FILE [OUT]",
    .least = 1,
    .most = 2,
    .summary = "make another tool's graph a workflow of weft's, and say how to go on",
    .details = "Reads any format (see `weft formats`), writes OUT (FILE with .yaml) and says what "
               "is still\n"
               "missing for a run. It never overwrites a file. Of programs (a Snakefile, a "
               "Nextflow script,\n"
               "a Makefile) it says how their tool tells its graph.\n\n"
               "examples:\n"
               "  snakemake --dag > dag.dot && weft import dag.dot\n"
               "  weft import montage.dax flow.yaml\n",
    .options = import_options,
    .run = import_command,
};
