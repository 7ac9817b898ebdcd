/* `weft drain`: an agent of a cluster leaves in order. Its machine is told by the agent itself, over a sealed link, so that it
 * works from wherever the cluster's key is, and not only where the process could be sent a signal. */
#include "base/json.h"
#include "base/quantity.h"
#include "cli/cluster_view.h"
#include "cli/run_screen.h"
#include "cli/signals.h"

#include <string.h>

static const struct cli_option drain_options[] = {
    {"now", 0, NULL, "end what runs there; it begins again elsewhere (default: it may end)"},
    OPTION_STORE,
    OPTION_KEY,
    {"run", 0, "RUN", "of the cluster that this run, by `weft run --on`, has left a note of"},
    {"directory", 'C', "DIR", "where that note stands (default: here)"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule drain_rules[] = {
    {"directory", "run", NULL},
    RULES_END,
};

/* The agent's own words: it knows what it still has to do. */
static int drain_report(const struct arguments *a, uint32_t node, const char *said)
{
    struct strbuf out = {0};
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-drained/1");
        json_put_integer(&j, "node", node);
        json_put_bool(&j, "now", arguments_flag(a, "now"));
        json_put_string(&j, "told", said);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!arguments_flag(a, "quiet")) {
        strbuf_printf(&out, "node %u: %s\n", node, *said ? said : "it leaves");
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* Ctrl-C meanwhile ends the waiting for the answer, not what was asked for. */
static int drain_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    int64_t run = 0, node = 0;
    const char *text = a->operand[0];
    if (!quantity_integer(text, strlen(text), &node) || node < 0 || node >= UINT32_MAX)
        error_set(&err, ERROR_INPUT,
                  "'%.100s' is not the number of an agent; `weft status` lists them", text);
    if (err.kind || !arguments_integer(a, "run", 0, 1, INT64_MAX, &run, &err))
        return cli_fail(&err);
    struct weft_cluster *cluster = cluster_view_open(a, (uint64_t)run, &error);
    const char *said = "";
    bool good = cluster != NULL;
    if (good) {
        signals_stop_cluster(cluster);
        good = weft_cluster_drain(cluster, (uint32_t)node, arguments_flag(a, "now"), &said, &error);
        signals_release();
    }
    int status = good ? drain_report(a, (uint32_t)node, said) : cli_failed(&error);
    weft_cluster_close(cluster);
    return status;
}

const struct command command_drain = {
    .name = "drain",
    .operands = "NODE",
    .least = 1,
    .most = 1,
    .summary = "let an agent of a cluster leave",
    .details =
        "The agent with this number (`weft status`) starts nothing new. What waits there goes\n"
        "to others, and so does data that only it has. It leaves when what runs has ended;\n"
        "with --now what runs is ended, and begins again elsewhere. No task fails of it. An\n"
        "agent that was started anew, or joins again, works again.\n\n"
        "examples:\n"
        "  weft drain 2\n"
        "  weft drain 2 --now\n",
    .options = drain_options,
    .rules = drain_rules,
    .run = drain_command,
};
