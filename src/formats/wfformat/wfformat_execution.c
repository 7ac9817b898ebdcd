/* What a WfFormat file records of the run: its machines as a platform, and who ran where and
 * when, for replaying a recorded execution. The graph is read by wfformat_read.c. */
#include "base/mem.h"
#include "formats/wfformat/wfformat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- machines ---- */

/* JSON_NONE with an error: not a list, or nobody in it. */
static json_ref machine_list(const struct wfformat_document *d, struct error *err)
{
    const struct json *j = &d->json;
    json_ref machines = wfformat_stated(j, json_get(j, d->execution, "machines"));
    if (machines != JSON_NONE && json_type(j, machines) != JSON_ARRAY) {
        json_error(j, machines, err, "\"machines\" is %s; expected an array",
                   json_type_name(json_type(j, machines)));
        return JSON_NONE;
    }
    if (machines == JSON_NONE || json_size(j, machines) == 0) {
        error_at(err, j->file, 0,
                 "the file states no machines, so it holds no platform; give one with --on");
        return JSON_NONE;
    }
    return machines;
}

/* A number of a machine; NAN: absent or (after an error) wrong. */
static double machine_number(const struct json *j, struct platform_builder *b, json_ref v,
                             const char *what)
{
    if (v == JSON_NONE)
        return NAN;
    if (json_type(j, v) != JSON_NUMBER || json_number(j, v) < 0) {
        platform_builder_error(b, json_line(j, v), "a machine's %s must be a number, 0 or more",
                               what);
        return NAN;
    }
    return json_number(j, v);
}

/* *mhz is NAN where the machine states no speed. */
static void add_machine(const struct json *j, struct platform_builder *b, json_ref machine,
                        double *mhz)
{
    size_t line = json_line(j, machine), n;
    struct wfformat_members m, cpu;
    if (json_type(j, machine) != JSON_OBJECT) {
        platform_builder_error(b, line, "a machine is %s; expected an object",
                               json_type_name(json_type(j, machine)));
        return;
    }
    wfformat_members(j, machine, &m);
    if (m.node_name == JSON_NONE || json_type(j, m.node_name) != JSON_STRING) {
        platform_builder_error(b, line, "a machine has no nodeName");
        return;
    }
    const char *name = json_string(j, m.node_name, &n);
    uint32_t node = platform_builder_node(b, name, n, line);
    double bytes = machine_number(j, b, m.memory_bytes, "memoryInBytes");
    double kb = machine_number(j, b, m.memory_kb, "memory");
    if (!isnan(bytes) || !isnan(kb))
        platform_builder_memory(b, node, isnan(bytes) ? kb * 1000 : bytes, line);
    *mhz = NAN;
    if (m.cpu == JSON_NONE)
        return;
    if (json_type(j, m.cpu) != JSON_OBJECT) {
        platform_builder_error(b, line, "machine '%s': cpu must be an object", name);
        return;
    }
    wfformat_members(j, m.cpu, &cpu);
    double cores = machine_number(j, b, cpu.cores, "core count");
    if (!isnan(cores))
        platform_builder_cores(b, node, cores, line);
    *mhz = machine_number(j, b, cpu.speed, "speed");
}

/* Speeds differ only if every machine states one and they are not all alike: then MHz relative to
 * the fastest. */
static void set_speeds(struct platform_builder *b, const double *mhz, uint32_t n)
{
    double fastest = 0, slowest = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        if (!(mhz[i] > 0))
            return;
        fastest = fmax(fastest, mhz[i]);
        slowest = fmin(slowest, mhz[i]);
    }
    for (uint32_t i = 0; i < n && slowest < fastest; i++)
        platform_builder_speed(b, i, mhz[i] / fastest, 0);
}

/* Speeds are set when all machines are known: they are relative to the fastest. */
struct platform *wfformat_read_platform(const struct format_source *source, struct error *err)
{
    struct wfformat_document d;
    if (!wfformat_open(&d, source, err))
        return NULL;
    const struct json *j = &d.json;
    struct platform *p = NULL;
    json_ref machines = machine_list(&d, err);
    if (machines != JSON_NONE) {
        struct platform_builder *b = platform_builder_new(source->path);
        size_t length;
        const char *name = d.name == JSON_NONE ? NULL : json_string(j, d.name, &length);
        if (name)
            platform_builder_name(b, name, length);
        double *mhz = mem_new(double, json_size(j, machines));
        uint32_t n = 0;
        for (json_ref v = json_first(j, machines); v != JSON_NONE && !platform_builder_failed(b);
             v = json_next_element(j, machines, v))
            add_machine(j, b, v, &mhz[n++]);
        if (!platform_builder_failed(b))
            set_speeds(b, mhz, n);
        free(mhz);
        p = platform_builder_finish(b, err);
    }
    json_free(&d.json);
    return p;
}

/* ---- times ---- */

/* `digits` decimal digits at *p, which moves past them; -1: not there. */
static int take_digits(const char **p, int digits)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        char c = (*p)[i];
        if (c < '0' || c > '9')
            return -1;
        value = value * 10 + (c - '0');
    }
    *p += digits;
    return value;
}

static double days_since_1970(int year, int month, int day)
{
    /* Years that begin in March put the leap day last (the usual civil calendar arithmetic). */
    int y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
    int era = y / 400, of_era = y % 400;
    return era * 146097.0 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 -
           719468;
}

/* Seconds since 1970 of the shapes found in real files, NAN for any other:
 *   2020-12-25T20:10:08.123+00:00   20200401T035043+0000   03-23-21T06:04:36Z (month, day, year) */
static double parse_time(const char *p)
{
    int year, month, day, hour, minute, second;
    size_t dash = strcspn(p, "-T");
    if (dash == 2 && p[2] == '-') {
        month = take_digits(&p, 2);
        p += *p == '-';
        day = take_digits(&p, 2);
        p += *p == '-';
        year = take_digits(&p, 2);
        year = year < 0 ? -1 : 2000 + year;
    } else {
        year = take_digits(&p, 4);
        p += *p == '-';
        month = take_digits(&p, 2);
        p += *p == '-';
        day = take_digits(&p, 2);
    }
    if (year < 0 || month < 1 || month > 12 || day < 1 || (*p != 'T' && *p != ' '))
        return NAN;
    p++;
    hour = take_digits(&p, 2);
    p += *p == ':';
    minute = take_digits(&p, 2);
    p += *p == ':';
    second = take_digits(&p, 2);
    if (hour < 0 || minute < 0 || second < 0)
        return NAN;
    double time = days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    if (*p == '.') {
        double unit = 0.1;
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
            time += (*p - '0') * unit;
    }
    if (*p == '+' || *p == '-') {
        int sign = *p++ == '-' ? 1 : -1;
        int hours = take_digits(&p, 2);
        p += *p == ':';
        int minutes = take_digits(&p, 2);
        time += hours < 0 ? 0 : sign * (hours * 3600 + (minutes < 0 ? 0 : minutes * 60));
    }
    return time;
}

/* Seconds as a number, or a date in one of the shapes above. */
static double time_of(const struct json *j, json_ref v)
{
    if (v == JSON_NONE)
        return NAN;
    if (json_type(j, v) == JSON_NUMBER)
        return json_number(j, v);
    return json_type(j, v) == JSON_STRING ? parse_time(json_string(j, v, NULL)) : NAN;
}

/* ---- the execution ---- */

static double entry_number(const struct json *j, json_ref v)
{
    return v != JSON_NONE && json_type(j, v) == JSON_NUMBER ? json_number(j, v) : NAN;
}

/* What is absent or of another type stays unknown: recorded files are patchy. */
static void read_entry(const struct json *j, const struct platform *p,
                       const struct wfformat_members *m, uint32_t task,
                       struct wfformat_execution *out)
{
    json_ref machine = m->machines;
    if (machine != JSON_NONE && json_type(j, machine) == JSON_ARRAY)
        machine = json_first(j, machine);
    if (machine != JSON_NONE && json_type(j, machine) == JSON_STRING)
        out->machine_of_task[task] = platform_find_node(p, json_string(j, machine, NULL));
    out->start[task] = time_of(j, m->executed_at);
    out->runtime[task] = entry_number(j, m->runtime);
    out->cpu[task] = entry_number(j, m->average_cpu) / 100 * out->runtime[task];
    out->read[task] = entry_number(j, m->bytes_read);
    out->written[task] = entry_number(j, m->bytes_written);
}

/* 1.5 names tasks by id, older files by name: as the workflow was read. */
static bool wfformat_read_entries(const struct wfformat_document *d, const struct workflow *w,
                                  const struct platform *p, struct wfformat_execution *out,
                                  struct error *err)
{
    const struct json *j = &d->json;
    json_ref list = d->split ? d->execution_tasks : d->tasks;
    for (json_ref v = list == JSON_NONE ? JSON_NONE : json_first(j, list); v != JSON_NONE;
         v = json_next_element(j, list, v)) {
        struct wfformat_members m;
        wfformat_members(j, v, &m);
        json_ref key = d->split ? m.id : m.name;
        if (key == JSON_NONE || json_type(j, key) != JSON_STRING)
            return json_error(j, v, err, "an execution entry has no %s", d->split ? "id" : "name");
        uint32_t task = workflow_find_task(w, json_string(j, key, NULL));
        if (task == NONE)
            return json_error(j, v, err,
                              "the execution names task '%s', which the workflow does not have",
                              json_string(j, key, NULL));
        read_entry(j, p, &m, task, out);
    }
    return true;
}

/* All NAN: `first` stays infinite and the starts stay NAN. */
static void make_starts_relative(struct wfformat_execution *x)
{
    double first = INFINITY;
    for (uint32_t t = 0; t < x->ntasks; t++)
        first = fmin(first, x->start[t]); /* fmin ignores NAN */
    for (uint32_t t = 0; t < x->ntasks; t++)
        x->start[t] -= first;
    x->first = first;
}

bool wfformat_read_execution(const struct format_source *source, const struct workflow *w,
                             const struct platform *p, struct wfformat_execution *out,
                             struct error *err)
{
    *out = (struct wfformat_execution){.makespan = NAN};
    struct wfformat_document d;
    if (!wfformat_open(&d, source, err))
        return false;
    const struct json *j = &d.json;
    out->ntasks = w->ntasks;
    out->machine_of_task = mem_new(uint32_t, w->ntasks);
    out->start = mem_new(double, w->ntasks);
    out->runtime = mem_new(double, w->ntasks);
    out->cpu = mem_new(double, w->ntasks);
    out->read = mem_new(double, w->ntasks);
    out->written = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        out->machine_of_task[t] = NONE;
        out->start[t] = out->runtime[t] = out->cpu[t] = out->read[t] = out->written[t] = NAN;
    }
    json_ref makespan = wfformat_stated(j, json_get(j, d.execution, "makespanInSeconds"));
    if (makespan == JSON_NONE)
        makespan = wfformat_stated(j, json_get(j, d.execution, "makespan"));
    bool good = true;
    if (makespan != JSON_NONE &&
        (json_type(j, makespan) != JSON_NUMBER || json_number(j, makespan) < 0))
        good = json_error(j, makespan, err, "the makespan must be a number, 0 or more");
    else if (makespan != JSON_NONE)
        out->makespan = json_number(j, makespan);
    good = good && wfformat_read_entries(&d, w, p, out, err);
    if (good)
        make_starts_relative(out);
    double begun = time_of(j, wfformat_stated(j, json_get(j, d.execution, "executedAt")));
    if (good && !isfinite(out->first) && isfinite(begun))
        out->first = begun;
    json_free(&d.json);
    return good;
}

void wfformat_execution_free(struct wfformat_execution *x)
{
    free(x->machine_of_task);
    free(x->start);
    free(x->runtime);
    free(x->cpu);
    free(x->read);
    free(x->written);
    *x = (struct wfformat_execution){0};
}
