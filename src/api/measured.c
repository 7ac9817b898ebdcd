/* A measured machine as a platform, and what a platform file has no key for as comments. */
#include "api/measured.h"
#include "report/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct platform *measured_platform(const struct machine *m, struct error *err)
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

static void measured_comment(struct strbuf *out, const char *what, const char *text)
{
    strbuf_printf(out, "# %-10s ", what);
    for (; *text; text++) /* a comment ends with its line */
        strbuf_add_char(out, (unsigned char)*text < 0x20 || *text == 0x7F ? '?' : *text);
    strbuf_add_char(out, '\n');
}

void measured_comments(const struct machine *m, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], text[160];
    strbuf_add(out, "# This machine, measured by `weft platform --measure`.\n");
    if (*m->processor)
        measured_comment(out, "processor", m->processor);
    snprintf(text, sizeof text, "%u of %u may be used", m->cores, m->present);
    measured_comment(out, "cores", text);
    snprintf(text, sizeof text, "1 is %g million rounds of the benchmark a second; runs: %.3f-%.3f",
             MEASURE_REFERENCE / 1e6, m->speed_low, m->speed_high);
    measured_comment(out, "speed", text);
    if (!isnan(m->disk_write)) {
        snprintf(text, sizeof text, "%s/s written through, %s/s read%s",
                 human_bytes(a, m->disk_write), human_bytes(b, m->disk_read),
                 m->disk_cached ? " (from memory)" : "");
        measured_comment(out, "disk", text);
    }
    measured_comment(out, "network",
                     "bandwidth and latency of the loopback; nothing else was asked");
}
