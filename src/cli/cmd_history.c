/* `weft history`: runs, found by what is known of them; one run, two side by side, where a file comes
 * from; what people say of runs. */
#include "api/inside.h"
#include "base/file.h"
#include "base/plural.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "report/findings_view.h"
#include "report/human.h"
#include "report/history_view.h"
#include "report/lineage_view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct cli_option options[] = {
    {"workflow", 0, "NAME", "list: only of workflows with this in their name"},
    {"failed", 0, NULL,
     "list: only runs, or tasks, that did not end well (failed, cancelled, lost ...)"},
    {"since", 0, "TIME", "list: only what started since then: 2d, 12h, 30m, or 2026-11-15"},
    {"where", 0, "SQL",
     "list: only that of which this holds: parameters, values that results state, tags, columns"},
    {"words", 0, "WORDS",
     "list: only what has each of these words somewhere: names, commands, files, notes ..."},
    {"digest", 0, "DIGEST|FILE",
     "list: only runs that made or read this content, tasks that made it, files that have it"},
    {"tasks", 0, NULL,
     "list tasks instead of runs, each attempt: of all runs, or of RUN; with the options for "
     "lists"},
    {"files", 0, NULL, "list files instead of runs: made or read by all runs, or by RUN"},
    {"limit", 0, "N", "at most so many (default 20, of a lineage 2,000; 0: all)"},
    {"compare", 0, NULL, "two runs side by side: what got slower, by kind and by task"},
    {"file", 0, "PATH", "where a file comes from: run, task and inputs"},
    {"lineage", 0, "FILE", "what a file was made of, back to the inputs, and all that came of it"},
    {"svg", 0, "OUT", "draw the lineage into this file"},
    {"tag", 0, "WORD", "mark RUN with a word"},
    {"note", 0, "TEXT", "write down a note on RUN"},
    {"name", 0, "NAME", "give RUN a name, by which commands know it"},
    {"unsay", 0, NULL, "take that tag, note or name back"},
    {"import", 0, "FILE",
     "take a run that another system recorded: a WfFormat execution, Nextflow's trace.txt, or what "
     "sacct -P prints; or all runs of another machine's history.db"},
    {"output", 'o', "DIR", "restore: into this folder (default: where the run left it)"},
    {"export", 0, "FILE",
     "write to FILE.csv or FILE.json: the runs, or the attempts of RUN; to FILE.yaml, .dot ...: "
     "the graph of RUN as it was; to a folder DIR/: RUN as a Workflow Run RO-Crate"},
    {"to", 0, "FORMAT",
     "export RUN as crate, wfformat (with its execution), csv, json, or a format of workflows, "
     "whatever the suffix says"},
    OPTION_JSON,
    OPTION_END,
};

static const struct cli_rule history_rules[] = {
    {"workflow failed since where words digest", NULL, "file compare"},
    {"tasks files", NULL, "compare file lineage import tag note name to"},
    {"tasks", NULL, "files"},
    {"failed", NULL, "files"}, /* a file does not fail */
    {"output", "RUN", "tag note name compare file export json limit import"},
    {"tag note name", "RUN", "compare file export json limit import"},
    {"tag note name", NULL, "tag note name"}, /* one at a time: each is a step that may fail */
    {"unsay", "tag note name", NULL},
    {"lineage", NULL,
     "RUN compare file import tag note name workflow failed since where words digest"},
    {"svg", "lineage", "json export"},
    {"limit", NULL, "compare"},
    {"file", NULL, "compare RUN"},
    {"import", NULL, "RUN compare file export workflow failed since where words digest limit json"},
    {"json", NULL, "export"}, /* the suffix says what is written */
    {"to", "export", "compare file lineage"},
    {"to", "RUN", NULL},
    RULES_END,
};

/* "2d" ago, or a day; as seconds since 1970. */
static bool history_since(const struct arguments *a, double *out, struct error *err)
{
    const char *text = arguments_value(a, "since");
    double age;
    struct tm tm = {.tm_isdst = -1};
    *out = 0;
    if (!text)
        return true;
    if (quantity_seconds(text, strlen(text), &age)) {
        *out = (double)time(NULL) - age;
        return true;
    }
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (!rest || *rest)
        return error_set(err, ERROR_INPUT,
                         "--since is '%s'; expected a time ago (2d, 12h) or a day (2026-11-15)",
                         text);
    *out = (double)mktime(&tm);
    return true;
}

enum { EXPORT_NONE = -1, EXPORT_CSV, EXPORT_JSON, EXPORT_RUN };

/* By the suffix; of a run, whatever the library knows. */
static bool history_export_kind(const struct arguments *a, int *kind, struct error *err)
{
    const char *path = arguments_value(a, "export");
    *kind = EXPORT_NONE;
    if (!path)
        return true;
    const char *name = file_basename(path), *dot = strrchr(name, '.');
    bool run = a->noperands == 1 && !arguments_flag(a, "compare") && !arguments_given(a, "tasks") &&
               !arguments_given(a, "files");
    if (run && (arguments_value(a, "to") || strcmp(name, "ro-crate-metadata.json") == 0))
        *kind = EXPORT_RUN;
    else if (dot && strcmp(dot, ".json") == 0)
        *kind = EXPORT_JSON;
    else if (dot && strcmp(dot, ".csv") == 0)
        *kind = EXPORT_CSV;
    else if (run)
        *kind = EXPORT_RUN;
    else
        return error_set(err, ERROR_INPUT,
                         "--export %s: expected a name in .csv or .json; of a RUN also .yaml, or a "
                         "folder",
                         path);
    return true;
}

/* The newest twenty for people, all for files. */
static int history_list_runs(const struct arguments *a, struct weft_history *h, int exported,
                             struct strbuf *out)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_runs_filter filter = WEFT_RUNS_INIT;
    int64_t limit;
    filter.workflow = arguments_value(a, "workflow");
    filter.failed = arguments_flag(a, "failed");
    filter.where = arguments_value(a, "where");
    filter.words = arguments_value(a, "words");
    filter.digest = arguments_value(a, "digest");
    /* An export is complete unless it is limited. */
    if (!history_since(a, &filter.since, &err) ||
        !arguments_integer(a, "limit", exported < 0 ? 20 : 0, 0, 1000000000, &limit, &err))
        return cli_fail(&err);
    filter.limit = (size_t)limit;
    struct weft_runs *runs = weft_history_runs(h, &filter, &error);
    if (!runs)
        return cli_failed(&error);
    if (exported == 0)
        history_view_list_csv(&runs->list, out);
    else if (exported == 1 || arguments_flag(a, "json"))
        history_view_list_json(&runs->list, out);
    else if (runs->list.n)
        history_view_list(&runs->list, cli_colour(), out);
    else
        strbuf_add(out, "no such run\n");
    weft_runs_free(runs);
    return 0;
}

/* Looks at all there is when all is wanted: --limit 0, or an export without a limit. */
static bool history_search_of(const struct arguments *a, struct weft_history *h, int exported,
                              struct weft_search *search, struct error *err)
{
    struct weft_error error;
    int64_t limit;
    search->workflow = arguments_value(a, "workflow");
    search->failed = arguments_flag(a, "failed");
    search->where = arguments_value(a, "where");
    search->words = arguments_value(a, "words");
    search->digest = arguments_value(a, "digest");
    if (!history_since(a, &search->since, err) ||
        !arguments_integer(a, "limit", exported < 0 ? 20 : 0, 0, 1000000000, &limit, err))
        return false;
    search->limit = (size_t)limit;
    if (!limit)
        search->look = 0;
    if (a->noperands) {
        search->run = weft_history_find(h, a->operand[0], &error);
        if (search->run < 0)
            return error_set(err, ERROR_INPUT, "%s", error.text);
    }
    return true;
}

/* On standard error: it belongs to no format. */
static void history_not_whole(int64_t from)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "not all was looked at: nothing before run %lld, and of that perhaps a part; "
                  "--limit 0 looks at all, or ask for a time, a workflow, a parameter",
                  (long long)from);
    cli_say("note: ", text.at);
    strbuf_free(&text);
}

static int history_list_findings(const struct arguments *a, struct weft_history *h, int exported,
                                 struct strbuf *out)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_search search = WEFT_SEARCH_INIT;
    bool files = arguments_flag(a, "files");
    int64_t from;
    if (!history_search_of(a, h, exported, &search, &err))
        return cli_fail(&err);
    struct weft_findings *f = files ? weft_history_search_files(h, &search, &error)
                                    : weft_history_search_tasks(h, &search, &error);
    if (!f)
        return cli_failed(&error);
    if (exported == EXPORT_CSV)
        findings_view_csv(&f->model, files, out);
    else if (exported == EXPORT_JSON || arguments_flag(a, "json"))
        findings_view_json(&f->model, files, out);
    else if (f->model.list.n)
        findings_view(&f->model, files, cli_colour(), out);
    else
        strbuf_printf(out, "no such %s\n", files ? "file" : "task");
    if (!weft_findings_whole(f, &from))
        history_not_whole(from);
    weft_findings_free(f);
    return 0;
}

/* A report is for looking at; this is for reading and for scripts. */
static int history_show_run(const struct arguments *a, struct weft_history *h, int exported,
                            struct strbuf *out)
{
    struct weft_error error;
    int64_t run = weft_history_find(h, a->operand[0], &error);
    struct weft_record *r = run >= 0 ? weft_history_run(h, run, &error) : NULL;
    if (!r)
        return cli_failed(&error);
    if (exported == 0)
        history_view_run_csv(&r->run, &r->tasks, out);
    else if (exported == 1 || arguments_flag(a, "json"))
        history_view_run_json(&r->run, &r->tasks, out);
    else
        history_view_run(&r->run, &r->tasks, cli_colour(), out);
    weft_record_free(r);
    return 0;
}

/* What a crate lacks is said, and no failure: the description names it all the same. */
static int history_export_run(const struct arguments *a, struct weft_history *h)
{
    struct weft_error error;
    struct weft_exported x = WEFT_EXPORTED_INIT;
    char size[HUMAN_SIZE];
    int64_t run = weft_history_find(h, a->operand[0], &error);
    if (run < 0 || !weft_history_export(h, run, arguments_value(a, "export"),
                                        arguments_value(a, "to"), &x, &error))
        return cli_failed(&error);
    if (x.bytes > 0 || x.missing)
        printf("%u of %u file%s copied (%s)%s\n", x.files - x.missing, x.files, plural(x.files),
               human_bytes(size, x.bytes),
               x.missing ? "; the others are not there as they were, nor kept" : "");
    return 0;
}

static int history_show_changes(const struct arguments *a, struct weft_history *h, bool json,
                                struct strbuf *out)
{
    struct weft_error error;
    int64_t first = weft_history_find(h, a->operand[0], &error), second = -1;
    if (first >= 0)
        second = weft_history_find(h, a->operand[1], &error);
    struct weft_changes *c = second >= 0 ? weft_history_compare(h, first, second, &error) : NULL;
    if (!c)
        return cli_failed(&error);
    if (json)
        history_view_changes_json(&c->model, out);
    else
        history_view_changes(&c->model, cli_colour(), out);
    weft_changes_free(c);
    return 0;
}

static int history_show_file(const struct arguments *a, struct weft_history *h, const char *path,
                             bool json, struct strbuf *out)
{
    struct weft_error error;
    struct error err = {0};
    int64_t limit;
    if (!arguments_integer(a, "limit", 20, 0, 1000000000, &limit, &err))
        return cli_fail(&err);
    struct weft_story *s = weft_history_file(h, path, (size_t)limit, &error);
    if (!s)
        return cli_failed(&error);
    if (json)
        history_view_file_json(&s->model, out);
    else
        history_view_file(&s->model, out);
    weft_story_free(s);
    return 0;
}

/* The picture takes the place of the text; JSON is for programs, which draw their own. */
static int history_show_lineage(const struct arguments *a, struct weft_history *h, bool json,
                                struct strbuf *out)
{
    struct weft_error error;
    struct error err = {0};
    const char *svg = arguments_value(a, "svg");
    int64_t most;
    if (!arguments_integer(a, "limit", LINEAGE_MOST, 0, 1000000000, &most, &err))
        return cli_fail(&err);
    struct weft_lineage *l =
        weft_history_lineage_most(h, arguments_value(a, "lineage"), (size_t)most, &error);
    if (!l)
        return cli_failed(&error);
    const struct workflow *w = inside_workflow(l->graph);
    int status = 0;
    if (json)
        lineage_view_json(w, l->model.focus, l->model.nback, l->model.cut, l->model.run.at, out);
    else if (!svg)
        lineage_view(w, l->model.focus, l->model.nback, l->model.cut, out);
    if (svg) {
        status = weft_lineage_picture(l, svg, &error) ? 0 : cli_failed(&error);
        if (!weft_lineage_whole(l))
            cli_say("note: ", "there is more than the picture has: --limit N draws N tasks, 0 all");
    }
    weft_lineage_free(l);
    return status;
}

/* What cannot be asked together. */
static bool history_question_good(const struct arguments *a, int exported, struct error *err)
{
    const char *file = arguments_value(a, "file");
    bool both = arguments_flag(a, "compare");
    bool rows = arguments_given(a, "tasks") || arguments_given(a, "files");
    if (!both && !rows && a->noperands &&
        !arguments_refuse(a, "workflow failed since where words digest limit",
                          "one RUN, but for --tasks or --files of it", err))
        return false;
    if (exported == 0 && (file || both || arguments_value(a, "lineage")))
        return error_set(err, ERROR_INPUT, "--%s is exported as .json only",
                         file   ? "file"
                         : both ? "compare"
                                : "lineage");
    if (both && a->noperands != 2)
        return error_set(err, ERROR_INPUT,
                         "--compare needs two runs: weft history --compare 3 last");
    if (!both && a->noperands > 1)
        return error_set(err, ERROR_INPUT,
                         "two runs are shown with --compare: weft history --compare %s %s",
                         a->operand[0], a->operand[1]);
    return true;
}

static const char *const history_sayings[] = {"tag", "note", "name", NULL};

/* Nothing is shown: it is said, or the error is. */
static int history_say_it(const struct arguments *a, struct weft_history *h, const char *sort)
{
    struct weft_error error;
    int64_t run = weft_history_find(h, a->operand[0], &error);
    return run >= 0 && weft_history_say(h, run, sort, arguments_value(a, sort),
                                        arguments_flag(a, "unsay"), &error)
               ? 0
               : cli_failed(&error);
}

/* What was asked for, into `out`; the exit status. */
static int history_answer(const struct arguments *a, struct weft_history *h, int exported,
                          struct strbuf *out)
{
    struct error err = {0};
    bool json = exported == 1 || arguments_flag(a, "json");
    if (!history_question_good(a, exported, &err))
        return cli_fail(&err);
    if (arguments_flag(a, "compare"))
        return history_show_changes(a, h, json, out);
    for (const char *const *sort = history_sayings; *sort; sort++)
        if (arguments_value(a, *sort))
            return history_say_it(a, h, *sort);
    if (arguments_value(a, "lineage"))
        return history_show_lineage(a, h, json, out);
    if (arguments_value(a, "file"))
        return history_show_file(a, h, arguments_value(a, "file"), json, out);
    if (arguments_flag(a, "tasks") || arguments_flag(a, "files"))
        return history_list_findings(a, h, exported, out);
    if (!a->noperands)
        return history_list_runs(a, h, exported, out);
    /* a name of a run comes before a file of that name: `./last` is the file */
    struct weft_error no;
    if (weft_history_find(h, a->operand[0], &no) < 0 && file_exists(a->operand[0]))
        return exported != 0 ? history_show_file(a, h, a->operand[0], json, out)
                             : (error_set(&err, ERROR_INPUT, "--file is exported as .json only"),
                                cli_fail(&err));
    return history_show_run(a, h, exported, out);
}

/* Hosts are named, so that a history of the wrong machine is noticed at once. */
static int history_merge_other(const char *path)
{
    struct weft_error error;
    struct weft_merged in;
    if (!weft_history_merge(path, &in, &error))
        return cli_failed(&error);
    if (in.runs)
        printf("%u run%s of %s, from run %lld on", in.runs, plural(in.runs), in.hosts,
               (long long)in.first);
    else
        printf("no run that is not here already");
    if (in.there)
        printf("; %u %s here already", in.there, plural_word(in.there, "was", "were"));
    if (in.running)
        printf("; %u without an end left out", in.running);
    printf("\n");
    return 0;
}

/* The line says what was taken and what was not. */
static int history_import(const char *path)
{
    struct weft_error error;
    struct weft_imported in;
    if (weft_history_is_database(path))
        return history_merge_other(path);
    if (!weft_history_import(path, &in, &error))
        return cli_failed(&error);
    printf("run %lld: %u task%s of %s, %u attempt%s", (long long)in.run, in.tasks, plural(in.tasks),
           in.system, in.attempts, plural(in.attempts));
    if (in.left_out)
        printf("; %zu row%s left out, of tasks that did not run or have no time", in.left_out,
               plural(in.left_out));
    printf("\n");
    return 0;
}

/* `keep` and `restore`: a line for each file that is not plain, and one for all. */
static int history_report_kept(const struct arguments *a, struct weft_kept *k, const char *done)
{
    struct strbuf out = {0};
    struct weft_kept_file f;
    char size[HUMAN_SIZE];
    uint32_t now = 0, there = 0, failed = 0;
    double bytes = 0;
    for (size_t i = 0; weft_kept_file(k, i, &f); i++) {
        bool plain = f.good && strcmp(f.text, done) == 0;
        now += plain;
        there += f.good && !plain;
        failed += !f.good;
        bytes += f.bytes;
        if (plain)
            continue;
        utf8_add_visible(&out, f.path);
        strbuf_add(&out, ": ");
        utf8_add_visible(&out, f.text);
        strbuf_add_char(&out, '\n');
    }
    strbuf_printf(&out, "%s %u file%s (%s)", done, now, plural(now), human_bytes(size, bytes));
    if (there)
        strbuf_printf(&out, ", %u already", there);
    if (failed)
        strbuf_printf(&out, ", %u not", failed);
    strbuf_add_char(&out, '\n');
    (void)a;
    int status = cli_print(&out);
    strbuf_free(&out);
    weft_kept_free(k);
    return status ? status : failed ? WEFT_FAILED : 0;
}

/* What could not be kept is a line each, and status 1. */
static int history_keep(const struct arguments *a, struct weft_history *h)
{
    struct weft_error error;
    struct weft_kept *k = weft_history_keep(h, a->operand[1], &error);
    return k ? history_report_kept(a, k, "kept") : cli_failed(&error);
}

static int history_restore(const struct arguments *a, struct weft_history *h)
{
    struct weft_error error;
    int64_t run = weft_history_find(h, a->operand[1], &error);
    struct weft_kept *k =
        run >= 0 ? weft_history_restore(h, run, a->noperands > 2 ? a->operand[2] : NULL,
                                        arguments_value(a, "output"), &error)
                 : NULL;
    return k ? history_report_kept(a, k, "restored") : cli_failed(&error);
}

/* A first word that asks for something to be done; what follows is its object, so that a run of that name
 * can still be shown. NULL: none. */
static const char *history_verb(const struct arguments *a)
{
    static const char *const verbs[] = {"keep", "restore", "import", NULL};
    if (a->noperands < 2 || arguments_flag(a, "compare"))
        return NULL;
    for (const char *const *v = verbs; *v; v++)
        if (strcmp(a->operand[0], *v) == 0)
            return *v;
    return NULL;
}

/* Which options go with a verb: -o with restore, none with the others. */
static bool history_verb_good(const struct arguments *a, const char *verb, struct error *err)
{
    bool restores = verb && *verb == 'r';
    if (arguments_value(a, "output") && !restores)
        return error_set(err, ERROR_INPUT,
                         "--output goes with restore: weft history restore 3 -o DIR");
    for (const struct cli_option *o = verb ? options : NULL; o && o->name; o++)
        if (arguments_given(a, o->name) && strcmp(o->name, "output") != 0)
            return error_set(err, ERROR_INPUT, "--%s does not go with %s", o->name, verb);
    if (verb && a->noperands > (restores ? 3 : 2))
        return error_set(err, ERROR_INPUT, "weft history %s takes %s", verb,
                         restores       ? "a RUN, and the NAME of a file or task of it"
                         : *verb == 'k' ? "one RUN or FILE"
                                        : "one FILE");
    return true;
}

/* Verbs change something: they are no questions, and have no --json and no --export. */
static int history_do(const struct arguments *a, const char *verb)
{
    struct weft_error error;
    if (*verb == 'i')
        return history_import(a->operand[1]);
    struct weft_history *h = weft_history_open(NULL, &error);
    int status = !h             ? cli_failed(&error)
                 : *verb == 'k' ? history_keep(a, h)
                                : history_restore(a, h);
    weft_history_close(h);
    return status;
}

static int history_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct strbuf out = {0};
    int exported;
    const char *verb = history_verb(a);
    if (!history_verb_good(a, verb, &err))
        return cli_fail(&err);
    if (verb)
        return history_do(a, verb);
    if (arguments_value(a, "import"))
        return history_import(arguments_value(a, "import"));
    if (!history_export_kind(a, &exported, &err))
        return cli_fail(&err);
    struct weft_history *h = weft_history_open(NULL, &error);
    int status = !h                       ? cli_failed(&error)
                 : exported == EXPORT_RUN ? history_export_run(a, h)
                                          : history_answer(a, h, exported, &out);
    if (exported == EXPORT_RUN)
        ; /* is written */
    else if (!status && exported < 0)
        status = cli_print(&out);
    else if (!status && !cli_write_text(arguments_value(a, "export"), &out, &err))
        status = cli_fail(&err);
    strbuf_free(&out);
    weft_history_close(h);
    return status;
}

const struct command command_history = {
    .name = "history",
    .operands = "[RUN|FILE]",
    .least = 0,
    .most = 3,
    .summary =
        "past runs: find them, their tasks and files, look at one, compare two, follow a file",
    .details =
        "RUN is a number from the list, last, or a name that --name gave. FILE is found by its\n"
        "path, or by its content when it was copied, renamed or moved. The history is "
        "$WEFT_HISTORY, else\n"
        "$XDG_DATA_HOME/weft/history.db, else ~/.local/share/weft/history.db.\n\n"
        "keep RUN|FILE keeps what a run left, or a file, by content (.weft/objects); restore RUN\n"
        "[NAME] [-o DIR] puts it back without computing, NAME being a file or task of it.\n"
        "import FILE takes what other systems recorded, or another machine's history.db.\n\n"
        "examples:\n"
        "  weft history --failed --since 2d\n"
        "  weft history --words 'align hg38'\n"
        "  weft history last\n"
        "  weft history --where 'sigma > 1 and f1 > 0.9'\n"
        "  weft history --tasks --where \"kind = 'align' and seconds > 3600\"\n"
        "  weft history --files --words 'hg38 sorted' --since 30d\n"
        "  weft history --tasks --digest results/edges.pgm\n"
        "  weft history 3 --tag good\n"
        "  weft history --compare 3 last\n"
        "  weft history --file results/edges.pgm\n"
        "  weft history 3 --export attempts.csv\n"
        "  weft history best --export best-run/\n"
        "  weft history 3 --export run.json --to wfformat\n"
        "  weft history keep best\n"
        "  weft history restore best total.txt -o old\n"
        "  weft history import other/history.db\n",
    .options = options,
    .rules = history_rules,
    .run = history_command,
};
