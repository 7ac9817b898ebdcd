/* `weft platform`: look at one, or measure this machine. */
#include "api/inside.h"
#include "base/json.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "exec/measure.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    {"measure", 0, NULL, "measure this machine (3 to 5 seconds)"},
    {"folder", 0, "DIR", "measure the disk that this folder is on (default: the current one)"},
    {"output", 'o', "FILE", "write the platform to this file (native YAML)"},
    {"save", 0, NULL, "keep the measurement: plans for this machine use it from now on"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule platform_rules[] = {
    {"folder save output", "measure", NULL},
    {"measure", NULL, "PLATFORM"}, /* it is about this machine */
    RULES_END,
};

/* ---- output ---- */

static void platform_put_machine(struct json_writer *j, const struct machine *m)
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
static void platform_json(const struct platform *p, const struct machine *m, struct strbuf *out)
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
    const char *rule = memory_rule_name(p->memory_rule);
    json_write_key(&j, "memory");
    if (rule)
        json_write_string(&j, rule);
    else
        json_write_null(&j);
    json_write_key(&j, "nodes");
    json_write_array(&j);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        json_write_object_inline(&j);
        json_put_string(&j, "name", platform_node_name(p, n));
        json_put_number(&j, "speed", p->speed[n]);
        json_put_integer(&j, "cores", p->cores[n]);
        json_put_number(&j, "memory", p->memory[n]);
        if (p->disk[n] > 0)
            json_put_number(&j, "disk", p->disk[n]);
        json_put_number(&j, "utilization", p->utilization[n]);
        json_put_bool(&j, "up", p->up[n]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    if (m)
        platform_put_machine(&j, m);
    json_write_end_object(&j);
}

static void platform_text(const struct platform *p, struct strbuf *out)
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
        strbuf_printf(out, "and %s more node%s\n", human_count(a, p->nnodes - SHOWN),
                      plural(p->nnodes - SHOWN));
    strbuf_add(out, "\nnetwork: ");
    if (isfinite(p->bandwidth))
        strbuf_printf(out, "%s/s, latency %s", human_bytes(a, p->bandwidth),
                      human_seconds(b, p->latency));
    else
        strbuf_printf(out, "unlimited, latency %s", human_seconds(b, p->latency));
    if (p->ports)
        strbuf_printf(out, ", %u ports a node", p->ports);
    if (p->nlinks)
        strbuf_printf(out, ", %s pair%s", human_count(a, p->nlinks),
                      plural_word(p->nlinks, " differs", "s differ"));
    strbuf_add_char(out, '\n');
    if (p->memory_rule != MEMORY_UNSTATED)
        strbuf_printf(out, "memory counts: %s\n", memory_rule_name(p->memory_rule));
}

static void platform_remark(void *context, const char *line)
{
    (void)context;
    cli_say("note: ", line);
}

/* From then on it is what `weft plan` and predictions take this machine for. */
static bool platform_save(const struct weft_platform *p, bool quiet, struct weft_error *error)
{
    char *path = weft_platform_save(p, error);
    if (path && !quiet) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%s; plans without --on use it, removing it undoes that", path);
        cli_say("saved: ", strbuf_text(&text));
        strbuf_free(&text);
    }
    weft_text_free(path);
    return path != NULL;
}

static int platform_show(const struct arguments *a, const struct weft_platform *p)
{
    struct weft_error error;
    struct strbuf out = {0};
    size_t n;
    char *yaml = NULL;
    if (arguments_flag(a, "json"))
        platform_json(inside_platform(p), p->measured, &out);
    else if (!p->measured)
        platform_text(inside_platform(p), &out);
    else if (!arguments_value(a, "output"))
        yaml = weft_platform_write_text(p, NULL, &n, &error);
    int status = yaml ? cli_show(yaml, n) : cli_print(&out);
    weft_text_free(yaml);
    strbuf_free(&out);
    return status;
}

/* Takes seconds, and says so: nothing else of weft measures unasked. */
static int platform_measure(const struct arguments *a)
{
    bool quiet = arguments_flag(a, "quiet");
    struct weft_error error;
    struct weft_measure_options o = WEFT_MEASURE_INIT;
    const char *path = arguments_value(a, "output");
    o.folder = arguments_value(a, "folder");
    cli_progress("measuring");
    o.progress = quiet ? NULL : cli_tell;
    o.remark = quiet ? NULL : platform_remark;
    struct weft_platform *p = weft_platform_measure(&o, &error);
    cli_progress_done();
    bool good = p && (!path || weft_platform_write(p, path, NULL, &error)) &&
                (!arguments_flag(a, "save") || platform_save(p, quiet, &error));
    int status = good ? platform_show(a, p) : cli_failed(&error);
    weft_platform_free(p);
    return status;
}

static int platform_command(const struct arguments *a)
{
    struct weft_error error;
    if (arguments_flag(a, "measure"))
        return platform_measure(a);
    struct weft_platform *p = weft_platform_named(a->noperands ? a->operand[0] : NULL, &error);
    int status = p ? platform_show(a, p) : cli_failed(&error);
    weft_platform_free(p);
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
    .rules = platform_rules,
    .run = platform_command,
};
