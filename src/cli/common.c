/* What commands share: lines on standard error, results on standard output, files as --from and --read
 * want them read, the line of progress. Nothing here decides anything: that is the library's. */
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "api/inside.h"
#include "cli/cli.h"
#include "report/gantt.h"
#include "report/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void cli_say(const char *lead, const char *text)
{
    /* What comes from files and arguments must not steer the terminal, nor pass for a line of ours.
     */
    struct strbuf line = {0};
    strbuf_printf(&line, "weft: %s", lead);
    utf8_add_visible(&line, text);
    fprintf(stderr, "%s\n", strbuf_text(&line));
    strbuf_free(&line);
}

void cli_remark(void *context, enum remark_kind kind, const char *text)
{
    const struct arguments *a = context;
    bool json = arguments_given(a, "json"), quiet = json || arguments_given(a, "quiet");
    if ((kind == REMARK_INFO && quiet) || (kind == REMARK_NOTE && json))
        return;
    cli_say("", text);
}

void cli_dropped(void *arguments, const char *line)
{
    if (!arguments_given(arguments, "quiet"))
        cli_say("dropped: ", line);
}

/* ---- standard output ----
 * A result that could not be written was not given: whoever prints, cli_end() looks at the end, says
 * so once, and the exit status tells. A closed pipe (`weft ... | head`) ends the program by SIGPIPE,
 * without a word, as it ends others: but only then, since a run goes on without its reader. */

static bool output_told;  /* a message about it was printed, or is not wanted */
static bool output_pipes; /* a closed pipe is an end like any other, not an error to be told */

/* The other end of the pipe or socket was closed, and we have noticed. */
static bool output_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

void cli_begin(void)
{
    cli_tell_functions();
    descriptors_occupy_standard();
    /* who ignores SIGPIPE wants to be told; others are ended by it, see cli_end() */
    output_pipes = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
    /* a limit on the size of files (ulimit -f) is an error of the write, and no end of a run */
    signal(SIGXFSZ, SIG_IGN);
}

int cli_output_failed(int reason)
{
    if (!output_told && !(output_pipes && output_reader_left()))
        fprintf(stderr, "weft: cannot write to standard output: %s\n",
                reason == EBADF ? "it is closed"
                : reason        ? strerror(reason)
                                : "an earlier write failed");
    output_told = true;
    return ERROR_FAILED;
}

int cli_end(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    int failed = cli_output_failed(errno);
    if (output_pipes && output_reader_left()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return status ? status : failed;
}

int cli_print(const struct strbuf *text)
{
    errno = 0;
    if (text->n)
        fwrite(text->at, 1, text->n, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : cli_output_failed(errno);
}

static struct run_log *error_log; /* of --log, while a run has one */

void cli_log(struct run_log *log)
{
    error_log = log;
}

static const struct arguments *failing; /* of the command that runs; NULL: none */

void cli_arguments(const struct arguments *a)
{
    failing = a;
}

/* "--jobs is 'x'; ...", and nobody typed it: where the profile says so. NULL: it was typed, or is no option. */
static const char *profile_place(const char *text)
{
    for (size_t i = 0; failing && strncmp(text, "--", 2) == 0 && i < failing->ngiven; i++) {
        size_t length = strlen(failing->given[i].option->name);
        if (strncmp(text + 2, failing->given[i].option->name, length) == 0 &&
            text[2 + length] == ' ')
            return failing->given[i].place;
    }
    return NULL;
}

/* What failed may be the writing itself (`-o -`): it is told here, or not at all. */
static void say_failure(const char *text)
{
    struct strbuf placed = {0};
    const char *place = profile_place(text);
    if (place)
        strbuf_printf(&placed, "%s: %s", place, text);
    text = place ? placed.at : text;
    run_log_say(error_log, text);
    cli_progress_done();
    if (!output_pipes || !output_reader_left())
        cli_say("", text);
    output_told = output_told || ferror(stdout);
    strbuf_free(&placed);
}

int cli_fail(const struct error *err)
{
    say_failure(err->text);
    return err->kind == ERROR_NONE ? ERROR_FAILED : (int)err->kind;
}

int cli_failed(const struct weft_error *error)
{
    say_failure(error->text);
    return error->status == WEFT_DONE || error->status == WEFT_NO_MEMORY ? WEFT_FAILED
                                                                         : (int)error->status;
}

bool cli_colour(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

/* $COLUMNS where somebody has set it: for pipes, and for who wants other lines than his terminal has. */
unsigned cli_columns(void)
{
    struct winsize size;
    const char *told = getenv("COLUMNS");
    int64_t n;
    if (told && quantity_integer(told, strlen(told), &n) && n >= 20 && n <= 10000)
        return (unsigned)n;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

/* ---- reading ---- */

/* Those that were given, name=value each. */
static bool cli_list_add(const struct arguments *a, const char *option, const char **list,
                         size_t *n, struct error *err)
{
    size_t at = 0;
    for (const char *text; (text = arguments_next(a, option, &at));) {
        const char *equals = strchr(text, '=');
        if (!equals || equals == text)
            return error_set(err, ERROR_INPUT, "--%s is '%s'; expected name=value", option, text);
        list[(*n)++] = text;
    }
    return true;
}

const char **cli_list(const struct arguments *a, const char *option, struct error *err)
{
    const char **list = mem_new_zero(const char *, a->ngiven + 1);
    size_t n = 0;
    if (cli_list_add(a, option, list, &n, err))
        return list;
    free(list);
    return NULL;
}

/* --assume NAME=VALUE */
static bool cli_assume(const struct arguments *a, struct error *err)
{
    size_t at = 0;
    for (const char *x; (x = arguments_next(a, "assume", &at));)
        if (!strchr(x, '=') || *x == '=')
            return error_set(err, ERROR_INPUT, "--assume is '%s'; expected NAME=VALUE", x);
    return true;
}

/* An operand behind the workflow, where a command that only reads has such. */
static bool cli_has_targets(const struct arguments *a)
{
    return !a->command->parts && strstr(a->command->operands, "TARGET");
}

/* Texts for the reader, `option` before each: the values of an option, one behind the other. */
struct cli_words {
    const char **list;
    size_t n;
    char *text; /* room for the next; NULL: they are only counted */
    size_t size;
};

static void cli_add_word(struct cli_words *w, const char *option, const char *value)
{
    w->size += strlen(option) + strlen(value) + 1;
    if (!w->text)
        return;
    w->list[w->n++] = w->text;
    w->text = stpcpy(stpcpy(w->text, option), value) + 1;
}

/* What is no option of a format and is given to its reader all the same. A run takes its part itself. */
static void cli_add_words(const struct arguments *a, struct cli_words *w)
{
    const char *params = arguments_value(a, "params"), *x;
    size_t assume = 0, until = 0, since = 0;
    if (params)
        cli_add_word(w, "--params=", params);
    while ((x = arguments_next(a, "assume", &assume)))
        cli_add_word(w, "--assume=", x);
    for (size_t i = 1; cli_has_targets(a) && i < a->noperands; i++)
        cli_add_word(w, "--until=", a->operand[i]);
    if (a->command->parts)
        return;
    while ((x = arguments_next(a, "until", &until)))
        cli_add_word(w, "--until=", x);
    while ((x = arguments_next(a, "since", &since)))
        cli_add_word(w, "--since=", x);
}

/* Parameters are options of the reader whose workflow has them. */
const char **cli_read_list(const struct arguments *a, struct error *err)
{
    struct cli_words words = {0};
    cli_add_words(a, &words);
    size_t room = (a->ngiven + a->noperands + 3) * sizeof(char *), n = 0;
    const char **list = mem_alloc(room + words.size + 1);
    memset(list, 0, room);
    if (!cli_list_add(a, "read", list, &n, err) || !cli_list_add(a, "param", list, &n, err) ||
        !cli_assume(a, err)) {
        free(list);
        return NULL;
    }
    /* behind the pointers: one block, that the caller frees */
    words = (struct cli_words){.list = list, .n = n, .text = (char *)list + room};
    cli_add_words(a, &words);
    n = words.n;
    if (strcmp(a->command->name, "sim") == 0)
        list[n++] = "--simulates=yes";
    return list;
}

const char *cli_option_help(const struct weft_option *o, char *buffer, size_t size)
{
    bool choices = o->choices != NULL;
    snprintf(buffer, size, "%s%s%s%s", o->help, choices ? " (" : "", choices ? o->choices : "",
             choices ? ")" : "");
    return buffer;
}

bool cli_format(const struct arguments *a, const char **format, struct error *err)
{
    struct weft_format f;
    const char *names[64], *near;
    size_t n = 0;
    *format = arguments_value(a, "from");
    for (size_t i = 0; *format && n < 64 && weft_format(i, &f); i++) {
        if (strcmp(f.name, *format) == 0)
            return true;
        names[n++] = f.name;
    }
    if (!*format)
        return true;
    /* --from NAME is what others call the beginning of a part of the graph */
    if (arguments_takes(a, "since") && !suggest_nearest(*format, names, n))
        return error_set(
            err, ERROR_INPUT,
            "--from is '%.200s', which is no format; did you mean --since %.200s (only "
            "what depends on it)? `weft formats` lists the formats",
            *format, *format);
    near = suggest_nearest(*format, names, n);
    return error_set(err, ERROR_INPUT,
                     "there is no format '%.200s'%s%s%s; `weft formats` lists them", *format,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool cli_risk(const struct arguments *a, double *out, struct error *err)
{
    *out = 0;
    if (!arguments_takes(a, "risk") || !arguments_value(a, "risk"))
        return true;
    if (!arguments_number(a, "risk", 0, out, err))
        return false;
    if (*out > 0 && *out < 1)
        return true;
    return error_set(err, ERROR_INPUT,
                     "--risk is '%s'; expected the probability with which a task stays below its "
                     "time, above 0 and below 1, such as 0.9",
                     arguments_value(a, "risk"));
}

/* --from and --read; the list is the caller's to free. */
static bool cli_reading(const struct arguments *a, struct weft_read_options *o, const char ***list,
                        struct weft_error *error)
{
    struct error err = {0};
    *o = (struct weft_read_options)WEFT_READ_INIT;
    *list = cli_format(a, &o->format, &err) ? cli_read_list(a, &err) : NULL;
    o->options = *list;
    error->status = (enum weft_status)err.kind;
    snprintf(error->text, sizeof error->text, "%s", err.text);
    return *list != NULL;
}

struct weft_file *cli_open(const struct arguments *a, const char *path, struct weft_error *error)
{
    struct weft_read_options o;
    const char **list;
    struct weft_file *f = cli_reading(a, &o, &list, error) ? weft_file_open(path, &o, error) : NULL;
    free(list);
    return f;
}

void cli_warnings(const struct arguments *a, const struct weft_workflow *w)
{
    if (arguments_given(a, "quiet") || arguments_given(a, "json"))
        return;
    for (size_t i = 0; weft_workflow_remark(w, i); i++)
        cli_say("note: ", weft_workflow_remark(w, i));
}

struct weft_workflow *cli_workflow(const struct arguments *a, const char *path,
                                   struct weft_error *error)
{
    struct weft_file *f = cli_open(a, path, error);
    struct weft_workflow *w = f ? weft_file_workflow(f, error) : NULL;
    weft_file_close(f);
    if (w)
        cli_warnings(a, w);
    return w;
}

static void cli_problem_remark(void *context, enum weft_remark kind, const char *text)
{
    const struct arguments *a = context;
    bool quiet = arguments_given(a, "json") || arguments_given(a, "quiet");
    if (kind != WEFT_REMARK_NOTE) /* a note is the reader's, about the file */
        cli_remark(context, (enum remark_kind)kind, text);
    else if (!quiet)
        cli_say("note: ", text);
}

bool cli_problem(const struct arguments *a, const char *path, struct weft_file *file,
                 struct weft_problem *out, struct weft_error *error)
{
    struct weft_problem_options o = WEFT_PROBLEM_INIT;
    const char **list;
    bool good = cli_reading(a, &o.read, &list, error);
    o.platform = arguments_value(a, "on");
    o.workflow = arguments_value(a, "workflow");
    o.only_plans = file != NULL;
    o.plans = arguments_takes(a, "workflow");
    o.no_predict = arguments_flag(a, "no-predict");
    struct error err = {0};
    if (good && !cli_risk(a, &o.risk, &err)) {
        error->status = (enum weft_status)err.kind;
        snprintf(error->text, sizeof error->text, "%s", err.text);
        good = false;
    }
    o.remark = cli_problem_remark;
    o.context = (void *)a;
    *out = (struct weft_problem){0};
    if (good)
        good = file ? weft_problem_take(file, &o, out, error)
                    : weft_problem_read(path, &o, out, error);
    free(list);
    return good;
}

const char *cli_workflow_title(const struct weft_workflow *w, char *buffer, size_t size)
{
    struct strbuf shown = {0};
    utf8_add_visible(&shown, weft_workflow_name(w));
    snprintf(buffer, size, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
    return buffer;
}

/* ---- progress ---- */

static struct {
    const char *what;
    double started, told;
    bool live, shown;
} line;

static bool tell(void *context, double fraction, const char *what)
{
    (void)context;
    double now = clock_seconds();
    /* Nothing for what is over in a blink; then a live line four times a second, or a plain one
     * every five. */
    if (now - line.started < 1 || now - line.told < (line.live ? 0.25 : 5))
        return true;
    line.told = now;
    line.shown = true;
    char share[16] = "";
    if (fraction >= 0)
        snprintf(share, sizeof share, " %3.0f %%", 100 * fraction);
    fprintf(stderr, line.live ? "\r\033[K%s:%s %s (%.0f s)" : "%s:%s %s (%.0f s)\n", line.what,
            share, what ? what : "", now - line.started);
    fflush(stderr);
    return true;
}

struct progress cli_progress(const char *what)
{
    line.what = what;
    line.started = clock_seconds();
    line.live = isatty(STDERR_FILENO);
    line.told = line.live ? 0 : line.started;
    line.shown = false;
    return (struct progress){tell, NULL};
}

void cli_progress_done(void)
{
    if (line.shown && line.live)
        fputs("\r\033[K", stderr);
    line.shown = false;
}

/* ---- results ---- */

bool cli_write_text(const char *path, const struct strbuf *text, struct error *err)
{
    return file_write(path, strbuf_text(text), text->n, err);
}

bool cli_write_new(const char *path, const struct strbuf *text, const char *instead,
                   struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, ERROR_INPUT, "%s is here already; %s", path, instead);
    if (fd < 0)
        return error_set(err, ERROR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
    size_t done = 0;
    ssize_t n = 0;
    while (done < text->n && (n = write(fd, text->at + done, text->n - done)) > 0)
        done += (size_t)n;
    int reason = errno;
    bool good = done == text->n;
    if (close(fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good)
        return true;
    unlink(path);
    return error_set(err, ERROR_FAILED, "%s: cannot be written: %s", path, strerror(reason));
}

/* "10..20" or "10.." in the times that users write ("90s..2m"). */
static bool cli_zoom(const struct arguments *a, struct gantt_options *o, struct error *err)
{
    const char *text = arguments_value(a, "zoom"), *dots = text ? strstr(text, "..") : NULL;
    if (!text)
        return true;
    char *from = mem_copy_bytes(text, dots ? (size_t)(dots - text) : 0);
    o->to = INFINITY;
    bool ok = dots && (!*from || quantity_seconds(from, strlen(from), &o->from)) &&
              (!dots[2] || quantity_seconds(dots + 2, strlen(dots + 2), &o->to)) && o->from >= 0 &&
              o->to > o->from;
    free(from);
    if (!ok)
        error_set(err, ERROR_INPUT, "--zoom %s: expected FROM..TO, as in 10s..2m", text);
    return ok;
}

bool cli_write_gantt(const struct arguments *a, const char *path, const struct weft_plan *plan,
                     struct error *err)
{
    struct strbuf svg = {0};
    struct gantt_options options = {0};
    if (!cli_zoom(a, &options, err))
        return false;
    if (options.to > 0 && weft_plan_kind(plan) != WEFT_PLAN_STATIC)
        return error_set(err, ERROR_INPUT, "--zoom is for plans with placements only");
    report_gantt_svg(inside_plan(plan), inside_workflow(weft_plan_workflow(plan)),
                     inside_platform(weft_plan_platform(plan)), &svg, &options);
    bool ok = cli_write_text(path, &svg, err);
    strbuf_free(&svg);
    return ok;
}

int cli_show(const char *text, size_t n)
{
    struct strbuf out = {.at = (char *)text, .n = n, .cap = n + 1};
    return cli_print(&out);
}

bool cli_tell(void *context, double fraction, const char *what)
{
    (void)context;
    return tell(NULL, fraction, what);
}

weft_progress cli_progress_of(const struct arguments *a, const char *what)
{
    cli_progress(what);
    return arguments_given(a, "quiet") || arguments_given(a, "json") ? NULL : cli_tell;
}

const char *cli_joined(const struct arguments *a, const char *name, struct strbuf *joined)
{
    size_t at = 0;
    for (const char *value; (value = arguments_next(a, name, &at));)
        strbuf_printf(joined, "%s%s", joined->n ? " " : "", value);
    return joined->n ? joined->at : NULL;
}
