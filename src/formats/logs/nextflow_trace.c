/* Nextflow's trace.txt: tabs, a header line, a line a task. The fields are those that the user asked for;
 * with trace.raw they are milliseconds and bytes, else texts for people ("3m 22s", "1.2 GB"). */
#include "base/mem.h"
#include "base/quantity.h"
#include "formats/logs/execution_log.h"
#include "formats/scan.h"

#include <math.h>
#include <string.h>

/* Fields are chosen by the user: these three are what a record needs. */
bool nextflow_sniff(const char *text, size_t length)
{
    const char *eol = memchr(text, '\n', length < 4096 ? length : 4096);
    size_t n = eol ? (size_t)(eol - text) : 0;
    return n && memchr(text, '\t', n) && memmem(text, n, "name", 4) &&
           (memmem(text, n, "realtime", 8) || memmem(text, n, "duration", 8)) &&
           memmem(text, n, "status", 6);
}

/* "1d 2h 3m 4.5s 6ms", or milliseconds. NAN: none. */
static double nextflow_duration(const char *text, size_t length)
{
    double sum = 0, part;
    if (!length)
        return NAN;
    if (scan_parse_number(text, length, &part))
        return part / 1000;
    while (length) {
        const char *blank = memchr(text, ' ', length);
        size_t n = blank ? (size_t)(blank - text) : length;
        if (n && !quantity_seconds(text, n, &part))
            return NAN;
        sum += n ? part : 0;
        text += blank ? n + 1 : n;
        length -= blank ? n + 1 : n;
    }
    return sum;
}

struct nextflow_columns {
    size_t name, process, status, exit, submit, start, duration, realtime, cpu, memory, read,
        written, node;
};

static char *text_of(const struct log_table *t, size_t column)
{
    size_t n;
    const char *text = log_table_cell(t, column, &n);
    return mem_copy_bytes(text, n);
}

/* The process, else the name without the tag: "PIPE:FASTQC (sample 1)". */
static char *nextflow_kind(const struct log_table *t, const struct nextflow_columns *c)
{
    size_t n;
    const char *text = log_table_cell(t, c->process, &n);
    if (!n) {
        text = log_table_cell(t, c->name, &n);
        const char *tag = memmem(text, n, " (", 2);
        n = tag ? (size_t)(tag - text) : n;
    }
    const char *colon = n ? memrchr(text, ':', n) : NULL;
    return colon ? mem_copy_bytes(colon + 1, n - (size_t)(colon + 1 - text))
                 : mem_copy_bytes(text, n);
}

/* A row; one that did not run is counted and left out. An aborted one did if it has a time. */
static void nextflow_row(const struct log_table *t, const struct nextflow_columns *c,
                         struct execution_log *log)
{
    size_t n;
    const char *text = log_table_cell(t, c->status, &n);
    bool good = n == 9 && memcmp(text, "COMPLETED", 9) == 0;
    bool bad = n == 6 && memcmp(text, "FAILED", 6) == 0;
    bool aborted = n == 7 && memcmp(text, "ABORTED", 7) == 0;
    if (!good && !bad && !aborted) {
        log->left_out++;
        return;
    }
    struct logged_attempt a = {.outcome = good ? TRACE_DONE : bad ? TRACE_FAILED : TRACE_CANCELLED};
    int64_t status = 0;
    text = log_table_cell(t, c->exit, &n);
    if (scan_parse_integer(text, n, &status) && status >= 0 && status < 256)
        a.status = (int)status;
    text = log_table_cell(t, c->realtime, &n);
    a.seconds = nextflow_duration(text, n);
    text = log_table_cell(t, c->duration, &n);
    double whole = nextflow_duration(text, n);
    if (isnan(a.seconds))
        a.seconds = whole;
    text = log_table_cell(t, c->start, &n);
    a.start = log_time(text, n);
    if (isnan(a.start)) { /* it waited for what the duration has more than the time */
        text = log_table_cell(t, c->submit, &n);
        a.start = log_time(text, n) + (isnan(whole) ? 0 : whole - a.seconds);
    }
    text = log_table_cell(t, c->cpu, &n);
    double percent;
    n -= n && text[n - 1] == '%';
    a.cpu = scan_parse_number(text, n, &percent) ? percent / 100 * a.seconds : NAN;
    text = log_table_cell(t, c->memory, &n);
    a.memory = log_bytes(text, n);
    text = log_table_cell(t, c->read, &n);
    a.read = log_bytes(text, n);
    text = log_table_cell(t, c->written, &n);
    a.written = log_bytes(text, n);
    text = log_table_cell(t, c->node, &n);
    a.node = n ? mem_copy_bytes(text, n) : NULL;
    a.name = text_of(t, c->name);
    a.kind = nextflow_kind(t, c);
    array_push(&log->attempts, a);
}

/* What the trace has no field for is not known, and the record says so by 0 or NAN. */
bool nextflow_read(const struct format_source *source, struct execution_log *log, struct error *err)
{
    struct log_table t;
    if (!log_table_begin(&t, source, '\t', err))
        return false;
    struct nextflow_columns c = {
        .name = log_table_column(&t, "name"),
        .process = log_table_column(&t, "process"),
        .status = log_table_column(&t, "status"),
        .exit = log_table_column(&t, "exit"),
        .submit = log_table_column(&t, "submit"),
        .start = log_table_column(&t, "start"),
        .duration = log_table_column(&t, "duration"),
        .realtime = log_table_column(&t, "realtime"),
        .cpu = log_table_column(&t, "%cpu"),
        .memory = log_table_column(&t, "peak_rss"),
        .read = log_table_column(&t, "rchar"),
        .written = log_table_column(&t, "wchar"),
        .node = log_table_column(&t, "hostname"),
    };
    if (c.name == SIZE_MAX || c.status == SIZE_MAX ||
        (c.realtime == SIZE_MAX && c.duration == SIZE_MAX))
        return error_at(err, t.file, 1,
                        "a trace needs the fields name, status and realtime (or duration)");
    bool good;
    while (log_table_row(&t, &good, err))
        nextflow_row(&t, &c, log);
    return good;
}
