#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "report/human.h"
#include "report/table.h"
#include "exec/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
    {"measure", 0, NULL, "measure this machine (3 to 5 seconds)"},
    {"folder", 0, "DIR", "measure the disk that this folder is on (default: the current one)"},
    {"output", 'o', "FILE", "write the platform to this file (native YAML)"},
    {"save", 0, NULL, "keep the measurement: plans for this machine use it from now on"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* ---- a machine as a platform ---- */

static struct platform *platform_of(const struct machine *m, struct error *err)
{
    struct platform_builder *b = platform_builder_new(m->name);
    platform_builder_name(b, m->name, strlen(m->name));
    uint32_t node = platform_builder_node(b, m->name, strlen(m->name), 0);
    platform_builder_cores(b, node, m->cores, 0);
    if (isfinite(m->memory))
        platform_builder_memory(b, node, floor(m->memory), 0);
    if (!isnan(m->speed)) /* three digits are more than the next run will repeat */
        platform_builder_speed(b, node, round(m->speed * 1000) / 1000, 0);
    if (!isnan(m->utilization))
        platform_builder_utilization(b, node, round(m->utilization * 1000) / 1000, 0);
    if (!isnan(m->loopback))
        platform_builder_network(b, round(m->loopback / 1e6) * 1e6,
                                 isnan(m->latency) ? 0 : round(m->latency * 1e9) / 1e9, NAN, 0);
    return platform_builder_finish(b, err);
}

static void add_comment(struct strbuf *out, const char *what, const char *text)
{
    strbuf_printf(out, "# %-10s ", what);
    for (; *text; text++) /* a comment ends with its line */
        strbuf_add_char(out, (unsigned char)*text < 0x20 || *text == 0x7F ? '?' : *text);
    strbuf_add_char(out, '\n');
}

/* The platform as a native file. What the format has no key for stands above it as comments. */
static bool as_yaml(const struct machine *m, const struct platform *p, struct strbuf *out,
                    struct error *err)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], text[160];
    strbuf_add(out, "# This machine, measured by `weft platform --measure`.\n");
    if (*m->processor)
        add_comment(out, "processor", m->processor);
    snprintf(text, sizeof text, "%u of %u may be used", m->cores, m->present);
    add_comment(out, "cores", text);
    snprintf(text, sizeof text, "1 is %g million rounds of the benchmark a second; runs: %.3f-%.3f",
             MEASURE_REFERENCE / 1e6, m->speed_low, m->speed_high);
    add_comment(out, "speed", text);
    if (!isnan(m->disk_write)) {
        snprintf(text, sizeof text, "%s/s written through, %s/s read%s",
                 human_bytes(a, m->disk_write), human_bytes(b, m->disk_read),
                 m->disk_cached ? " (from memory)" : "");
        add_comment(out, "disk", text);
    }
    add_comment(out, "network", "bandwidth and latency of the loopback; nothing else was asked");
    const struct format *native = format_find("native");
    struct strbuf dropped = {0};
    bool good = native->write_platform(p, out, &dropped, err);
    strbuf_free(&dropped);
    return good;
}

/* ---- output ---- */

static void put_machine(struct json_writer *j, const struct machine *m)
{
    json_write_key(j, "measured");
    json_write_object(j);
    json_put_string(j, "processor", m->processor);
    json_put_integer(j, "cores_present", m->present);
    json_put_number(j, "quota", m->quota);
    json_put_number(j, "speed_low", m->speed_low);
    json_put_number(j, "speed_high", m->speed_high);
    json_put_number(j, "reference", MEASURE_REFERENCE);
    json_put_number(j, "disk_write", m->disk_write);
    json_put_number(j, "disk_read", m->disk_read);
    json_put_bool(j, "disk_cached", m->disk_cached);
    json_put_number(j, "loopback_bandwidth", m->loopback);
    json_put_number(j, "loopback_latency", m->latency);
    json_write_end_object(j);
}

/* `m`: NULL when it was not measured just now. */
static void as_json(const struct platform *p, const struct machine *m, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-platform/1");
    json_put_string(&j, "name", pool_text(&p->text, p->name));
    json_put_number(&j, "bandwidth", p->bandwidth);
    json_put_number(&j, "latency", p->latency);
    json_put_integer(&j, "ports", p->ports);
    json_put_integer(&j, "links", (int64_t)p->nlinks);
    json_write_key(&j, "nodes");
    json_write_array(&j);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        json_write_object_inline(&j);
        json_put_string(&j, "name", platform_node_name(p, n));
        json_put_number(&j, "speed", p->speed[n]);
        json_put_integer(&j, "cores", p->cores[n]);
        json_put_number(&j, "memory", p->memory[n]);
        json_put_number(&j, "utilization", p->utilization[n]);
        json_put_bool(&j, "up", p->up[n]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    if (m)
        put_machine(&j, m);
    json_write_end_object(&j);
}

static void as_text(const struct platform *p, struct strbuf *out)
{
    enum { SHOWN = 40 };
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    struct table *t = table_new();
    table_column(t, "node", TABLE_LEFT);
    table_column(t, "speed", TABLE_RIGHT);
    table_column(t, "cores", TABLE_RIGHT);
    table_column(t, "memory", TABLE_RIGHT);
    table_column(t, "used by others", TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (uint32_t n = 0; n < p->nnodes && n < SHOWN; n++) {
        table_row(t);
        table_cell(t, platform_node_name(p, n));
        table_number(t, p->speed[n]);
        table_cell(t, human_count(a, p->cores[n]));
        table_cell(t, isfinite(p->memory[n]) ? human_bytes(a, p->memory[n]) : "unlimited");
        table_cell(t, human_percent(a, p->utilization[n]));
        table_cell(t, p->up[n] ? "" : "down");
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour(), .max_cell = 50});
    table_free(t);
    if (p->nnodes > SHOWN)
        strbuf_printf(out, "and %s more nodes\n", human_count(a, p->nnodes - SHOWN));
    strbuf_add(out, "\nnetwork: ");
    if (isfinite(p->bandwidth))
        strbuf_printf(out, "%s/s, latency %s", human_bytes(a, p->bandwidth),
                      human_seconds(b, p->latency));
    else
        strbuf_printf(out, "unlimited, latency %s", human_seconds(b, p->latency));
    if (p->ports)
        strbuf_printf(out, ", %u ports a node", p->ports);
    if (p->nlinks)
        strbuf_printf(out, ", %s pairs differ", human_count(a, p->nlinks));
    strbuf_add_char(out, '\n');
}

static bool save(const struct strbuf *yaml, bool quiet, struct error *err)
{
    char *path = machine_file();
    if (!path)
        return error_set(err, ERROR_INPUT,
                         "--save: there is no home folder; set HOME or XDG_CONFIG_HOME");
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            error_set(err, ERROR_FAILED, "%s: cannot make this folder: %s", path, strerror(errno));
            free(path);
            return false;
        }
        *slash = '/';
    }
    bool good = cli_write_text(path, yaml, err);
    if (good && !quiet) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%s; plans without --on use it, removing it undoes that", path);
        cli_say("saved: ", strbuf_text(&text));
        strbuf_free(&text);
    }
    free(path);
    return good;
}

static int measure(const struct arguments *a)
{
    bool quiet = arguments_flag(a, "quiet"), json = arguments_flag(a, "json");
    struct progress progress = cli_progress("measuring");
    struct measure_options o = {.folder = arguments_value(a, "folder"),
                                .progress = quiet ? NULL : &progress};
    struct machine m;
    struct strbuf notes = {0}, yaml = {0}, out = {0};
    struct error err = {0};
    measure_machine(&m, &o, &notes);
    cli_progress_done();
    char *rest = NULL;
    for (char *line = notes.n && !quiet ? strtok_r(notes.at, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        cli_say("note: ", line);
    const char *path = arguments_value(a, "output");
    struct platform *p = platform_of(&m, &err);
    bool good = p && as_yaml(&m, p, &yaml, &err) && (!path || cli_write_text(path, &yaml, &err)) &&
                (!arguments_flag(a, "save") || save(&yaml, quiet, &err));
    int status = good ? 0 : cli_fail(&err);
    if (good) {
        if (json)
            as_json(p, &m, &out);
        else if (!path)
            strbuf_add(&out, strbuf_text(&yaml));
        status = cli_print(&out);
    }
    platform_free(p);
    strbuf_free(&notes);
    strbuf_free(&yaml);
    strbuf_free(&out);
    return status;
}

static bool check_options(const struct arguments *a, struct error *err)
{
    bool measured = arguments_flag(a, "measure");
    if (measured && a->noperands)
        return error_set(err, ERROR_INPUT,
                         "--measure is about this machine; leave out '%s', or --measure",
                         a->operand[0]);
    static const char *const only[] = {"folder", "save", "output"};
    for (size_t i = 0; !measured && i < sizeof only / sizeof *only; i++)
        if (arguments_value(a, only[i]) || arguments_flag(a, only[i]))
            return error_set(err, ERROR_INPUT, "--%s goes with --measure%s", only[i],
                             i == 2 ? "; `weft convert` writes platform files" : "");
    return true;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    if (!check_options(a, &err))
        return cli_fail(&err);
    if (arguments_flag(a, "measure"))
        return measure(a);
    struct platform *p = a->noperands ? machine_named(a->operand[0], &err) : machine_this(&err);
    if (!p)
        return cli_fail(&err);
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        as_json(p, NULL, &out);
    else
        as_text(p, &out);
    int status = cli_print(&out);
    platform_free(p);
    strbuf_free(&out);
    return status;
}

const struct command command_platform = {
    .name = "platform",
    .operands = "[PLATFORM]",
    .least = 0,
    .most = 1,
    .summary = "look at a platform, or measure this machine as one",
    .details =
        "Shows the nodes of a platform: a file, a number of equal nodes or a generator; without "
        "an\n"
        "operand this machine, as plans without --on see it. With --measure, this machine is\n"
        "measured: cores and memory (affinity and control groups counted), speed by a short\n"
        "benchmark (1.0 is 100 million rounds a second on one core), load by others, disk and\n"
        "loopback bandwidth. --save keeps the figures in ~/.config/weft/HOST.yaml, for plans\n"
        "without --on.\n"
        "\n"
        "  weft platform\n"
        "  weft platform --measure -o platform.yaml\n"
        "  weft platform --measure --save\n"
        "  weft platform examples/cluster.yaml\n",
    .options = options,
    .run = run,
};
