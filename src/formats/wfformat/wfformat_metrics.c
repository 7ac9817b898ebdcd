/* The "metrics" of WfFormat 1.6: sums over the tasks and files, which follow from them. Read, they are
 * compared with what they sum up, since a wrong one means a cut or edited file; written, they are
 * computed. */
#include "base/mem.h"
#include "formats/wfformat/wfformat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graph's ---- */

struct wfformat_levels {
    uint32_t count, narrowest, widest;
};

/* A task is one level below the lowest of its parents. */
static struct wfformat_levels metrics_levels(const struct workflow *w)
{
    uint32_t *level = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    struct wfformat_levels out = {.narrowest = w->ntasks};
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (level[w->pred_task[e]] + 1 > level[t])
                level[t] = level[w->pred_task[e]] + 1;
        if (level[t] + 1 > out.count)
            out.count = level[t] + 1;
    }
    uint32_t *width = mem_new_zero(uint32_t, (size_t)out.count + 1);
    for (uint32_t t = 0; t < w->ntasks; t++)
        width[level[t]]++;
    for (uint32_t i = 0; i < out.count; i++) {
        out.narrowest = width[i] < out.narrowest ? width[i] : out.narrowest;
        out.widest = width[i] > out.widest ? width[i] : out.widest;
    }
    free(width);
    free(level);
    return out;
}

/* ---- reading ---- */

#define OTHER_METRIC "%s of the metrics is %g, but the file has %.17g"

/* Where a metric states another number than there is, and which; sums of times within rounding. JSON_NONE:
 * nowhere. */
static json_ref other_metric(const struct json *j, json_ref metrics, const char *name, double is,
                             double tolerance, double *stated)
{
    json_ref v = wfformat_stated(j, json_get(j, metrics, name));
    if (v == JSON_NONE)
        return JSON_NONE;
    *stated = json_type(j, v) == JSON_NUMBER ? json_number(j, v) : NAN;
    return fabs(*stated - is) <= tolerance * fmax(1, fabs(is)) ? JSON_NONE : v;
}

static void compare_metric(const struct json *j, json_ref metrics, const char *name, double is,
                           double tolerance, struct builder *b)
{
    double stated;
    json_ref v = other_metric(j, metrics, name, is, tolerance, &stated);
    if (v != JSON_NONE)
        builder_warn(b, json_line(j, v), OTHER_METRIC, name, stated, is);
}

/* The sum of a member over a list of objects; entries without it count as 0. */
static double sum_of(const struct json *j, json_ref list, const char *member)
{
    double sum = 0;
    if (list == JSON_NONE)
        return 0;
    for (json_ref v = json_first(j, list); v != JSON_NONE; v = json_next_element(j, list, v)) {
        json_ref x = json_type(j, v) == JSON_OBJECT ? json_get(j, v, member) : JSON_NONE;
        if (x != JSON_NONE && json_type(j, x) == JSON_NUMBER)
            sum += json_number(j, x);
    }
    return sum;
}

static json_ref metrics_of(const struct json *j, json_ref part)
{
    json_ref m = part == JSON_NONE ? JSON_NONE : wfformat_stated(j, json_get(j, part, "metrics"));
    return m != JSON_NONE && json_type(j, m) == JSON_OBJECT ? m : JSON_NONE;
}

void wfformat_metrics_check(const struct wfformat_document *d, struct builder *b)
{
    const struct json *j = &d->json;
    if (!d->split)
        return;
    json_ref m = metrics_of(j, json_get(j, json_get(j, 0, "workflow"), "specification"));
    if (m != JSON_NONE) {
        compare_metric(j, m, "numberOfTasks", json_size(j, d->tasks), 0, b);
        if (d->files != JSON_NONE) {
            compare_metric(j, m, "numberOfFiles", json_size(j, d->files), 0, b);
            compare_metric(j, m, "sumOfFileSizesInBytes", sum_of(j, d->files, "sizeInBytes"), 1e-12,
                           b);
        }
    }
    m = metrics_of(j, d->execution);
    if (m == JSON_NONE || d->execution_tasks == JSON_NONE)
        return;
    compare_metric(j, m, "sumTaskRuntimesInSeconds",
                   sum_of(j, d->execution_tasks, "runtimeInSeconds"), 1e-6, b);
    compare_metric(j, m, "totalNumBytesRead", sum_of(j, d->execution_tasks, "readBytes"), 1e-12, b);
    compare_metric(j, m, "totalNumBytesWritten", sum_of(j, d->execution_tasks, "writtenBytes"),
                   1e-12, b);
}

void wfformat_metrics_check_levels(const struct wfformat_document *d, struct workflow *w)
{
    const struct json *j = &d->json;
    json_ref m = JSON_NONE;
    if (d->split)
        m = metrics_of(j, json_get(j, json_get(j, 0, "workflow"), "specification"));
    if (m == JSON_NONE)
        return;
    struct wfformat_levels levels = metrics_levels(w);
    const struct {
        const char *name;
        uint32_t is;
    } metric[] = {{"numberOfLevels", levels.count},
                  {"minimumWidth", levels.narrowest},
                  {"maximumWidth", levels.widest}};
    for (size_t i = 0; i < sizeof metric / sizeof *metric; i++) {
        double stated;
        struct error text = {0};
        json_ref v = other_metric(j, m, metric[i].name, metric[i].is, 0, &stated);
        if (v == JSON_NONE)
            continue;
        error_at(&text, j->file, json_line(j, v), OTHER_METRIC, metric[i].name, stated,
                 (double)metric[i].is);
        builder_add_warning(w, text.text);
    }
}

/* ---- writing ---- */

void wfformat_metrics_write(struct json_writer *j, const struct workflow *w)
{
    struct wfformat_levels levels = metrics_levels(w);
    double bytes = 0;
    for (uint32_t o = 0; o < w->nobjects; o++)
        bytes += w->size[o];
    json_write_key(j, "metrics");
    json_write_object_inline(j);
    json_put_integer(j, "numberOfTasks", w->ntasks);
    json_put_integer(j, "numberOfFiles", w->nobjects);
    if (isfinite(bytes))
        json_put_number(j, "sumOfFileSizesInBytes", bytes);
    json_put_integer(j, "numberOfLevels", levels.count);
    json_put_integer(j, "minimumWidth", levels.narrowest);
    json_put_integer(j, "maximumWidth", levels.widest);
    json_write_end_object(j);
}
