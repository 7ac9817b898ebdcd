#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/prediction.h"
#include "generate/generate.h"
#include "report/gantt.h"
#include "exec/measure.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
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

char *cli_machine_file(void)
{
    struct machine m;
    measure_inventory(&m);
    for (char *c = m.name; *c; c++) /* a folder's worth of machines may share one home */
        if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
            *c = '_';
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path = {0};
    if (config && *config == '/')
        strbuf_printf(&path, "%s/weft/%s.yaml", config, m.name);
    else if (home && *home == '/')
        strbuf_printf(&path, "%s/.config/weft/%s.yaml", home, m.name);
    else
        return NULL;
    return strbuf_steal(&path);
}

struct platform *cli_this_machine(struct error *err)
{
    char *path = cli_machine_file();
    struct platform *measured = NULL;
    bool there = path && file_exists(path);
    if (there)
        measured = format_read_platform(path, NULL, NULL, err);
    free(path);
    if (there) {
        if (measured)
            measured->file = pool_add(&measured->text, "this-machine", strlen("this-machine"));
        return measured;
    }
    struct machine m;
    measure_inventory(&m);
    struct platform_builder *b = platform_builder_new("this-machine");
    platform_builder_name(b, "this machine", strlen("this machine"));
    uint32_t node = platform_builder_node(b, "localhost", strlen("localhost"), 0);
    platform_builder_cores(b, node, m.cores, 0);
    if (isfinite(m.memory))
        platform_builder_memory(b, node, m.memory, 0);
    return platform_builder_finish(b, err);
}

/* "homogeneous:n=8,speed=2" -> a platform, by its generator. */
static struct platform *generated(const char *spec, struct error *err)
{
    char *text = mem_copy_string(spec), *colon = strchr(text, ':');
    struct generator_value values[32];
    size_t count = 0;
    char *rest = NULL;
    if (colon)
        *colon = 0;
    const struct generator *g = generator_find(text);
    struct platform *p = NULL;
    for (char *item = colon ? strtok_r(colon + 1, ",", &rest) : NULL; item && count < 32;
         item = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(item, '=');
        if (!equals) {
            error_set(err, ERROR_INPUT, "--on %s: '%s' is not name=value", spec, item);
            free(text);
            return NULL;
        }
        *equals = 0;
        values[count++] = (struct generator_value){item, equals + 1};
    }
    if (g && g->kind == GENERATES_PLATFORM)
        p = generator_platform(g, values, count, 1, err);
    else
        error_set(
            err, ERROR_INPUT,
            "--on %s: no such file, and no generator of platforms is called '%s'; `weft generate` "
            "lists them",
            spec, text);
    free(text);
    return p;
}

struct platform *cli_platform_named(const char *spec, struct error *err)
{
    if (strcmp(spec, "this-machine") == 0)
        return cli_this_machine(err);
    int64_t count;
    if (file_exists(spec) || strcmp(spec, "-") == 0)
        return format_read_platform(spec, NULL, NULL, err);
    char text[64];
    struct platform *p;
    if (quantity_integer(spec, strlen(spec), &count)) {
        snprintf(text, sizeof text, "homogeneous:n=%lld", (long long)count);
        p = generated(text, err);
    } else if (strchr(spec, '/') || strchr(spec, '.')) {
        /* Meant as a file: say what is wrong with the file. */
        return format_read_platform(spec, NULL, NULL, err);
    } else {
        p = generated(spec, err);
    }
    /* The spec stands in for a file name, so that a plan can name its platform again. */
    if (p)
        p->file = pool_add(&p->text, spec, strlen(spec));
    return p;
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
            *p = on ? cli_platform_named(on, err) : cli_this_machine(err);
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
    if (ok && !is_plan)
        prediction_apply(a, *w);
    return ok;
}

const char *cli_workflow_name(const struct workflow *w, char *buffer, size_t size)
{
    if (w->name)
        return workflow_text(w, w->name);
    const char *base = file_basename(workflow_text(w, w->file));
    size_t len = strcspn(base, ".");
    snprintf(buffer, size, "%.*s", (int)(len ? len : strlen(base)), base);
    return buffer;
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
    if (*plan)
        prediction_of_plan(a, *w, *plan, *p);
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
