/* What `sacct -P` prints: bars, a header line, a line a job and one for each of its steps. The job's
 * memory and disk traffic stand in its steps.
 *
 *     JobID|JobName|State|ExitCode|Start|ElapsedRaw|TotalCPU|MaxRSS|MaxDiskRead|MaxDiskWrite|NodeList
 *     812|align_7|COMPLETED|0:0|2026-11-16T09:00:00|63|01:58.2||||n3
 *     812.batch|batch|COMPLETED|0:0|2026-11-16T09:00:00|63|01:58.2|1536K|12M|3M|n3 */
#include "base/mem.h"
#include "base/pool.h"
#include "formats/logs/execution_log.h"
#include "formats/scan.h"
#include "formats/wfformat/wfformat.h"

#include <math.h>
#include <string.h>

/* The first line alone: names of jobs may hold anything. */
bool sacct_sniff(const char *text, size_t length)
{
    const char *eol = memchr(text, '\n', length < 4096 ? length : 4096);
    size_t n = eol ? (size_t)(eol - text) : 0;
    return n && memchr(text, '|', n) && memmem(text, n, "JobID", 5) && memmem(text, n, "State", 5);
}

/* [days-][[hours:]minutes:]seconds[.fraction]; NAN: none. */
static double sacct_seconds(const char *text, size_t length)
{
    double sum = 0, part;
    const char *dash = length ? memchr(text, '-', length) : NULL;
    if (!length)
        return NAN;
    if (dash) {
        if (!scan_parse_number(text, (size_t)(dash - text), &part))
            return NAN;
        sum = part * 24;
        length -= (size_t)(dash + 1 - text);
        text = dash + 1;
    }
    for (bool first = true;; first = false) {
        const char *colon = memchr(text, ':', length);
        size_t n = colon ? (size_t)(colon - text) : length;
        if (!scan_parse_number(text, n, &part))
            return NAN;
        sum = (first && dash ? sum : first ? 0 : sum * 60) + part;
        if (!colon)
            return sum;
        text = colon + 1;
        length -= n + 1;
    }
}

struct sacct_columns {
    size_t id, name, state, exit, start, raw, elapsed, cpu, memory, read, written, node;
};

static bool starts_with(const char *text, size_t n, const char *word)
{
    size_t length = strlen(word);
    return n >= length && memcmp(text, word, length) == 0;
}

/* False: it has not ended, or did not run. "CANCELLED by 1000" is one word and more. */
static bool sacct_outcome(const char *state, size_t n, int *outcome)
{
    static const struct {
        const char *state;
        int outcome;
    } known[] = {
        {"COMPLETED", TRACE_DONE},        {"FAILED", TRACE_FAILED},
        {"TIMEOUT", TRACE_TIMEOUT},       {"OUT_OF_MEMORY", TRACE_MEMORY},
        {"CANCELLED", TRACE_CANCELLED},   {"PREEMPTED", TRACE_NODE_FAILED},
        {"NODE_FAIL", TRACE_NODE_FAILED}, {"BOOT_FAIL", TRACE_NODE_FAILED},
        {"DEADLINE", TRACE_TIMEOUT},      {"REQUEUED", TRACE_CANCELLED},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts_with(state, n, known[i].state)) {
            *outcome = known[i].outcome;
            return true;
        }
    return false;
}

static double cell_bytes(const struct log_table *t, size_t column)
{
    size_t n;
    const char *text = log_table_cell(t, column, &n);
    return log_bytes(text, n);
}

/* What a job's row or a step's says of memory and disk counts for the job. */
static void sacct_add_use(const struct log_table *t, const struct sacct_columns *c, bool step,
                          struct logged_attempt *a)
{
    a->memory = fmax(a->memory, cell_bytes(t, c->memory));
    double read = cell_bytes(t, c->read), written = cell_bytes(t, c->written);
    a->read = step ? a->read + read : fmax(a->read, read);
    a->written = step ? a->written + written : fmax(a->written, written);
}

/* A job; its steps follow it. */
static void sacct_job(const struct log_table *t, const struct sacct_columns *c,
                      struct execution_log *log)
{
    struct logged_attempt a = {0};
    size_t n;
    const char *text = log_table_cell(t, c->state, &n);
    if (!sacct_outcome(text, n, &a.outcome)) {
        log->left_out++;
        return;
    }
    text = log_table_cell(t, c->raw, &n);
    if (!scan_parse_number(text, n, &a.seconds)) {
        text = log_table_cell(t, c->elapsed, &n);
        a.seconds = sacct_seconds(text, n);
    }
    text = log_table_cell(t, c->start, &n);
    a.start = log_time(text, n);
    if (isnan(a.start) || isnan(a.seconds)) { /* "Unknown", "None": cancelled before it began */
        log->left_out++;
        return;
    }
    text = log_table_cell(t, c->cpu, &n);
    a.cpu = sacct_seconds(text, n);
    text = log_table_cell(t, c->exit, &n);
    n = a.outcome == TRACE_NODE_FAILED ? 0
                                       : n; /* our statuses of it say which part of the machine */
    const char *colon = n ? memchr(text, ':', n) : NULL;
    int64_t code = 0, signal = 0;
    if (scan_parse_integer(text, colon ? (size_t)(colon - text) : n, &code) && code > 0 &&
        code < 256)
        a.status = (int)code;
    else if (colon && scan_parse_integer(colon + 1, n - (size_t)(colon + 1 - text), &signal) &&
             signal > 0 && signal < 128)
        a.status = 128 + (int)signal;
    text = log_table_cell(t, c->node, &n);
    a.node = n ? mem_copy_bytes(text, n) : NULL;
    text = log_table_cell(t, c->name, &n);
    a.kind = n ? mem_copy_bytes(text, wfformat_stem(text, n)) : mem_copy_string("");
    size_t id_length;
    const char *id = log_table_cell(t, c->id, &id_length);
    struct strbuf name = {0};
    strbuf_add_bytes(&name, text, n);
    strbuf_add(&name, n ? "#" : "");
    strbuf_add_bytes(&name, id, id_length);
    a.name = strbuf_steal(&name);
    sacct_add_use(t, c, false, &a);
    array_push(&log->attempts, a);
}

/* Steps come after their job, though not always at once: jobs are found by id. */
static bool sacct_rows(struct log_table *t, const struct sacct_columns *c,
                       struct execution_log *log, struct error *err)
{
    struct intern ids;
    ARRAY(uint32_t) attempt = {0}; /* of each id; NONE: it was left out */
    bool good;
    intern_init(&ids);
    while (log_table_row(t, &good, err)) {
        size_t n;
        const char *id = log_table_cell(t, c->id, &n);
        const char *dot = n ? memchr(id, '.', n) : NULL;
        if (!n) {
            good = error_at(err, t->file, t->line, "a row without a JobID");
            break;
        }
        uint32_t number = intern_number(&ids, id, dot ? (size_t)(dot - id) : n);
        if (number == attempt.n)
            array_push(&attempt, NONE);
        if (!dot) {
            size_t before = log->attempts.n;
            sacct_job(t, c, log); /* a second row of an id: it was queued again */
            attempt.at[number] = log->attempts.n > before ? (uint32_t)before : NONE;
        } else if (attempt.at[number] != NONE) {
            sacct_add_use(t, c, true, &log->attempts.at[attempt.at[number]]);
        }
    }
    array_free(&attempt);
    intern_free(&ids);
    return good;
}

/* Columns in any order, as the user asked for them; what is missing is told with a command that has it. */
bool sacct_read(const struct format_source *source, struct execution_log *log, struct error *err)
{
    struct log_table t;
    if (!log_table_begin(&t, source, '|', err))
        return false;
    struct sacct_columns c = {
        .id = log_table_column(&t, "JobID"),
        .name = log_table_column(&t, "JobName"),
        .state = log_table_column(&t, "State"),
        .exit = log_table_column(&t, "ExitCode"),
        .start = log_table_column(&t, "Start"),
        .raw = log_table_column(&t, "ElapsedRaw"),
        .elapsed = log_table_column(&t, "Elapsed"),
        .cpu = log_table_column(&t, "TotalCPU"),
        .memory = log_table_column(&t, "MaxRSS"),
        .read = log_table_column(&t, "MaxDiskRead"),
        .written = log_table_column(&t, "MaxDiskWrite"),
        .node = log_table_column(&t, "NodeList"),
    };
    log->ids = true;
    if (c.id == SIZE_MAX || c.name == SIZE_MAX || c.state == SIZE_MAX || c.start == SIZE_MAX ||
        (c.raw == SIZE_MAX && c.elapsed == SIZE_MAX))
        return error_at(
            err, t.file, 1,
            "expected the columns JobID, JobName, State, Start and ElapsedRaw: sacct -P "
            "-o JobID,JobName,State,ExitCode,Start,ElapsedRaw,TotalCPU,MaxRSS,"
            "MaxDiskRead,MaxDiskWrite,NodeList");
    return sacct_rows(&t, &c, log, err);
}
