#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "session/prediction.h"
#include "report/gantt.h"

#include <errno.h>
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
    bool json = arguments_flag(a, "json"), quiet = json || arguments_flag(a, "quiet");
    if ((kind == REMARK_INFO && quiet) || (kind == REMARK_NOTE && json))
        return;
    cli_say("", text);
}

void cli_dropped(struct strbuf *dropped)
{
    if (!dropped->n)
        return;
    char *rest = NULL;
    for (char *line = strtok_r(dropped->at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        cli_say("dropped: ", line);
}

int cli_fail(const struct error *err)
{
    cli_progress_done();
    cli_say("", err->text);
    return err->kind == ERROR_NONE ? ERROR_FAILED : (int)err->kind;
}

int cli_print(const struct strbuf *text)
{
    if (text->n)
        fwrite(text->at, 1, text->n, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE) /* `weft ... | head`: the reader has seen enough, and needs no message */
        return ERROR_FAILED;
    fprintf(stderr, "weft: cannot write to standard output: %s\n", strerror(errno));
    return ERROR_FAILED;
}

bool cli_colour(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

unsigned cli_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return 80;
}

/* ---- reading ---- */

struct format_file *cli_open(const struct arguments *a, const char *path, struct error *err)
{
    const char *from = arguments_value(a, "from");
    const struct format *format = from ? format_find(from) : NULL;
    if (from && !format) {
        error_set(err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them", from);
        return NULL;
    }
    size_t count;
    struct pair *pairs = arguments_pairs(a, "read", &count, err);
    if (!pairs)
        return NULL;
    struct format_option *options = mem_new_zero(struct format_option, count + 1);
    for (size_t i = 0; i < count; i++)
        options[i] = (struct format_option){pairs[i].name, pairs[i].text};
    struct format_file *f = format_file_open(path, format, options, err);
    free(options);
    pairs_free(pairs);
    return f;
}

void cli_warnings(const struct arguments *a, const struct workflow *w)
{
    if (arguments_flag(a, "quiet") || arguments_flag(a, "json"))
        return;
    for (uint32_t i = 0; i < w->nwarnings; i++)
        cli_say("note: ", w->warnings[i]);
}

/* The workflow in `file` and the platform of `on`, or in the same file, or this machine. */
static bool read_problem(const struct arguments *a, struct format_file *file, const char *on,
                         struct workflow **w, struct platform **p, struct error *err)
{
    if (on)
        *w = format_file_workflow(file, err);
    else
        format_file_both(file, w, p, err);
    if (*w) {
        cli_warnings(a, *w);
        if (!*p)
            *p = on ? machine_named(on, err) : machine_this(err);
    }
    if (*p)
        return true;
    workflow_free(*w);
    *w = NULL;
    return false;
}

bool cli_read_problem(const struct arguments *a, const char *path, struct plan **plan,
                      struct workflow **w, struct platform **p, struct error *err)
{
    *w = NULL;
    *p = NULL;
    if (plan)
        *plan = NULL;
    struct format_file *file = cli_open(a, path, err);
    if (!file)
        return false;
    bool is_plan = plan && format_file_is_plan(file);
    bool ok = is_plan ? cli_read_plan(a, file, plan, w, p, err)
                      : read_problem(a, file, arguments_value(a, "on"), w, p, err);
    format_file_close(file);
    if (ok && !is_plan && !arguments_flag(a, "no-predict"))
        prediction_apply(*w, &(struct remarks){cli_remark, (void *)a});
    return ok;
}

const char *cli_workflow_name(const struct workflow *w, char *buffer, size_t size)
{
    return workflow_display_name(w, buffer, size);
}

const char *cli_workflow_title(const struct workflow *w, char *buffer, size_t size)
{
    struct strbuf shown = {0};
    utf8_add_visible(&shown, cli_workflow_name(w, buffer, size));
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

/* ---- plans ---- */

/* What came through standard input cannot be found again under any name. */
static char *named_file(const char *path)
{
    return mem_copy_string(strcmp(path, "standard input") == 0 ? "" : path);
}

void cli_sign_plan(struct plan *plan, const struct workflow *w, const struct platform *p)
{
    char buffer[256];
    plan->workflow_name = mem_copy_string(cli_workflow_name(w, buffer, sizeof buffer));
    plan->workflow_file = named_file(workflow_text(w, w->file));
    plan->platform_name = mem_copy_string(pool_text(&p->text, p->name));
    plan->platform_file = named_file(pool_text(&p->text, p->file));
}

bool cli_read_plan(const struct arguments *a, struct format_file *file, struct plan **plan,
                   struct workflow **w, struct platform **p, struct error *err)
{
    *plan = NULL;
    *w = NULL;
    *p = NULL;
    struct plan_file *f = plan_file_from(file, err);
    if (!f)
        return false;
    const char *flow = arguments_value(a, "workflow"), *on = arguments_value(a, "on");
    if (!flow)
        flow = plan_file_workflow(f);
    if (!flow)
        error_at(err, format_file_path(file), 0,
                 "the plan does not name its workflow; give it with --workflow FILE");
    struct format_file *source = flow ? cli_open(a, flow, err) : NULL;
    if (source && read_problem(a, source, on ? on : plan_file_platform(f), w, p, err))
        *plan = plan_file_read(f, *w, *p, err);
    if (*plan && !arguments_flag(a, "no-predict"))
        prediction_of_plan(*w, *plan, *p, &(struct remarks){cli_remark, (void *)a});
    format_file_close(source);
    plan_file_close(f);
    if (*plan)
        return true;
    workflow_free(*w);
    platform_free(*p);
    *w = NULL;
    *p = NULL;
    return false;
}

bool cli_write_text(const char *path, const struct strbuf *text, struct error *err)
{
    return file_write(path, strbuf_text(text), text->n, err);
}

bool cli_write_gantt(const char *path, const struct plan *plan, const struct workflow *w,
                     const struct platform *p, struct error *err)
{
    struct strbuf svg = {0};
    report_gantt_svg(plan, w, p, &svg, NULL);
    bool ok = cli_write_text(path, &svg, err);
    strbuf_free(&svg);
    return ok;
}
