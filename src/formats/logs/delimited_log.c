/* Logs that are tables: a header line, then a line an attempt, cells between tabs or bars. */
#include "formats/logs/execution_log.h"
#include "formats/scan.h"
#include "base/plural.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The cells of the line at t->at; false: there is no line. Blank lines are passed over. */
static bool split_line(struct log_table *t, const char **cell, size_t *length, size_t *n)
{
    const char *eol;
    do {
        if (t->at >= t->end)
            return false;
        eol = memchr(t->at, '\n', (size_t)(t->end - t->at));
        eol = eol ? eol : t->end;
        t->line++;
        if (eol > t->at && !(eol == t->at + 1 && *t->at == '\r'))
            break;
        t->at = eol + 1;
    } while (true);
    const char *p = t->at, *stop = eol > p && eol[-1] == '\r' ? eol - 1 : eol;
    *n = 0;
    while (*n < LOG_COLUMNS_MOST) {
        const char *next = memchr(p, t->delimiter, (size_t)(stop - p));
        cell[*n] = p;
        length[(*n)++] = (size_t)((next ? next : stop) - p);
        if (!next)
            break;
        p = next + 1;
    }
    t->at = eol + 1;
    return true;
}

bool log_table_begin(struct log_table *t, const struct format_source *source, char delimiter,
                     struct error *err)
{
    *t = (struct log_table){.file = source->path,
                            .at = source->text,
                            .end = source->text + source->length,
                            .delimiter = delimiter};
    return split_line(t, t->header, t->header_length, &t->columns) ||
           error_at(err, t->file, 0,
                    "the file is empty; expected a line with the names of columns");
}

bool log_table_row(struct log_table *t, bool *good, struct error *err)
{
    size_t n;
    *good = true;
    if (!split_line(t, t->cell, t->length, &n))
        return false;
    if (n != t->columns)
        *good = error_at(err, t->file, t->line, "%zu cells; the first line names %zu column%s", n,
                         t->columns, plural(t->columns));
    return *good;
}

size_t log_table_column(const struct log_table *t, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < t->columns; i++)
        if (t->header_length[i] == length && strncasecmp(t->header[i], name, length) == 0)
            return i;
    return SIZE_MAX;
}

const char *log_table_cell(const struct log_table *t, size_t column, size_t *length)
{
    *length = column < t->columns ? t->length[column] : 0;
    if (*length == 1 && *t->cell[column] == '-')
        *length = 0;
    return *length ? t->cell[column] : "";
}

double log_bytes(const char *text, size_t length)
{
    double value;
    size_t n = 0;
    while (n < length && (strchr("+-.", text[n]) || (text[n] >= '0' && text[n] <= '9')))
        n++;
    if (!n || !scan_parse_number(text, n, &value))
        return 0;
    while (n < length && text[n] == ' ')
        n++;
    const char *units = "BKMGTP", *unit = n < length ? strchr(units, text[n]) : units;
    return unit && value > 0 ? value * exp2(10 * (double)(unit - units)) : 0;
}

/* As milliseconds 1973, as seconds the year 5138. */
#define LEAST_MILLISECONDS 1e11

/* Local time, as both systems write it. */
double log_time(const char *text, size_t length)
{
    char copy[40];
    double number;
    if (!length || length >= sizeof copy)
        return NAN;
    /* Nextflow's raw traces have milliseconds, sacct under SLURM_TIME_FORMAT=%s seconds */
    if (scan_parse_number(text, length, &number))
        return number < LEAST_MILLISECONDS ? number : number / 1000;
    memcpy(copy, text, length);
    copy[length] = 0;
    struct tm tm = {.tm_isdst = -1};
    const char *rest =
        strptime(copy, strchr(copy, 'T') ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &tm);
    if (!rest)
        return NAN;
    double fraction = 0;
    if (*rest == '.' && !scan_parse_number(rest, strlen(rest), &fraction))
        return NAN;
    return (double)mktime(&tm) + fraction;
}
