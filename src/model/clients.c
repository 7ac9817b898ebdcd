/* Patterns of clients: their text, and the draws that planner and simulator share. */
#include "model/clients.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "model/graph.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    bool counts, is_count_needed, has_interval;
} clients_kinds[] = {
    [CLIENTS_WORKERS] = {"workers", true, true, false},
    [CLIENTS_SINGLE] = {"single", false, false, true},
    [CLIENTS_BATCHES] = {"batches", true, false, true},
    [CLIENTS_POISSON] = {"poisson", true, false, true},
};
enum { CLIENTS_KINDS = sizeof clients_kinds / sizeof *clients_kinds };

bool clients_have_work(const struct workflow *w)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (w->work[t] > 0)
            return true;
    return false;
}

double clients_mean_time(const struct workflow *w, uint32_t task, bool has_work)
{
    return has_work ? w->work[task] : 1;
}

/* What the pattern leaves out, by the workflow. */
static void clients_fill(struct clients *c, const struct workflow *w)
{
    double total = 0, tasks = w->ntasks ? w->ntasks : 1;
    bool has_work = clients_have_work(w);
    for (uint32_t t = 0; t < w->ntasks; t++)
        total += clients_mean_time(w, t, has_work);
    double mean = total > 0 ? total / tasks : 1;
    double share = fmax(2, exp2(round(log2(tasks / 48))));
    if (c->kind == CLIENTS_SINGLE)
        c->count = 1;
    else if (!(c->count > 0))
        c->count = share;
    if (c->kind == CLIENTS_WORKERS)
        c->interval = 0;
    else if (!(c->interval > 0)) /* single clients come as often as those of batches would */
        c->interval = c->kind == CLIENTS_SINGLE ? mean / share : mean;
}

/* While the longest chain runs, batches come and go: past 10^8 of them no simulation ends. */
static bool clients_can_follow(const char *text, const struct clients *c, const struct workflow *w,
                               struct error *err)
{
    double most = 1e8, chain = w->ntasks;
    if (clients_have_work(w))
        chain = graph_critical_path(w, NULL, NULL, NULL);
    if (c->kind == CLIENTS_WORKERS || chain / c->interval <= most)
        return true;
    return error_set(err, ERROR_INPUT,
                     "clients '%s': one batch every %g s is more than 10^8 while the longest chain "
                     "of tasks runs (%g s); where clients are never short, take workers:N",
                     text, c->interval, chain);
}

static bool clients_bad(const char *text, const char *why, struct error *err)
{
    return error_set(err, ERROR_INPUT,
                     "clients '%s': %s; expected workers:N, single[/T], batches[:N][/T] or "
                     "poisson[:N][/T] (N clients, T the time between them, as in poisson:16/30s)",
                     text, why);
}

bool clients_parse(const char *text, const struct workflow *w, struct clients *out,
                   struct error *err)
{
    struct clients c = {.deviation = 0.1}; /* of the published model */
    size_t length = strcspn(text, ":/"), kind = 0;
    const char *at = text + length;
    while (kind < CLIENTS_KINDS && (strlen(clients_kinds[kind].name) != length ||
                                    strncmp(clients_kinds[kind].name, text, length) != 0))
        kind++;
    if (kind == CLIENTS_KINDS || strlen(text) > 100)
        return clients_bad(text, "there is no such pattern", err);
    c.kind = (enum clients_kind)kind;
    if (*at == ':') {
        int64_t count;
        size_t n = strcspn(++at, "/");
        if (!clients_kinds[kind].counts)
            return clients_bad(text, "such clients come one at a time", err);
        if (!quantity_integer(at, n, &count) || count < 1 || count > 1000000000)
            return clients_bad(text, "the number of clients must be 1 to 10^9", err);
        c.count = (double)count;
        at += n;
    } else if (clients_kinds[kind].is_count_needed) {
        return clients_bad(text, "how many?", err);
    }
    if (*at == '/') {
        at++;
        if (!clients_kinds[kind].has_interval)
            return clients_bad(text, "workers stay, there is no time between them", err);
        if (!quantity_seconds(at, strlen(at), &c.interval) || !(c.interval > 0))
            return clients_bad(text, "the time between clients must be more than 0", err);
    }
    clients_fill(&c, w);
    if (!clients_can_follow(text, &c, w, err))
        return false;
    *out = c;
    return true;
}

void clients_describe(const struct clients *c, struct strbuf *out)
{
    switch (c->kind) {
    case CLIENTS_WORKERS:
        strbuf_printf(out, "%.0f worker%s that stay%s", c->count, plural(c->count),
                      c->count == 1 ? "s" : "");
        return;
    case CLIENTS_SINGLE:
        strbuf_printf(out, "one client at a time, at random times, %.4g s apart on average",
                      c->interval);
        return;
    case CLIENTS_BATCHES:
        strbuf_printf(out, "exactly %.0f client%s at once, every %.4g s", c->count,
                      plural(c->count), c->interval);
        return;
    case CLIENTS_POISSON:
        strbuf_printf(out,
                      "%.0f client%s at once on average, at random times, %.4g s apart on average",
                      c->count, plural(c->count), c->interval);
        return;
    }
}

/* Stream 0 is that of the arrivals. */
void clients_task_rng(struct rng *r, uint64_t seed, uint32_t task, uint32_t attempt)
{
    rng_seed_stream(r, seed, 1 + ((uint64_t)attempt << 32 | task));
}

double clients_task_time(struct rng *r, double mean, double deviation)
{
    double time = deviation > 0 ? mean * (1 + deviation * rng_normal(r)) : mean;
    return time < 0.01 * mean ? 0.01 * mean : time;
}

double clients_next_batch(const struct clients *c, struct rng *r, uint64_t *requests)
{
    double wait = c->kind == CLIENTS_BATCHES ? c->interval : rng_exponential(r, c->interval);
    double size = c->kind == CLIENTS_POISSON ? rng_exponential(r, c->count) : c->count;
    /* at least one request: an empty batch would not be one */
    *requests = size > 1 ? (uint64_t)ceil(size) : 1;
    return wait;
}
