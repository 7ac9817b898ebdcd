/* `weft order --for`: what simulation says of orders for clients, as people read it. */
#include "cli/ordering.h"
#include "base/plural.h"

#include <stdio.h>
#include <string.h>

/* The usual ones, from clients that come by to machines of one's own. */
static const char *const advice_patterns[] = {"single",    "poisson",    "batches",
                                              "workers:4", "workers:16", "workers:64"};
enum { ADVICE_PATTERNS = sizeof advice_patterns / sizeof *advice_patterns };

struct weft_advice *ordering_advise(const struct weft_workflow *w, const char *clients,
                                    uint32_t repeat, uint64_t seed, struct weft_error *error)
{
    struct weft_advice_options o = WEFT_ADVICE_INIT;
    o.repeat = repeat;
    o.seed = seed;
    return weft_advice_make(w, clients, &o, error);
}

/* Those of which no run tells that they are worse than the best, but for the best itself. */
static size_t advice_as_good(const struct weft_advice *a, struct strbuf *out, bool *fifo)
{
    struct weft_advised row;
    size_t n = 0;
    *fifo = false;
    for (size_t i = 0; weft_advice_order(a, i, &row); i++) {
        bool is_fifo = strcmp(row.planner, "fifo") == 0;
        *fifo |= is_fifo && !row.worse;
        if (i && !row.worse && !is_fifo)
            strbuf_printf(out, "%s%s", n++ ? ", " : "", row.planner);
    }
    return n;
}

void ordering_show_advice(const struct weft_advice *a, struct strbuf *out)
{
    struct weft_advised row, best;
    struct strbuf names = {0};
    uint32_t runs;
    bool fifo;
    strbuf_printf(out, "clients: %s\n", weft_advice_clients(a, &runs));
    strbuf_printf(out, "%u run%s, in each the same clients and times for every order\n\n", runs,
                  plural(runs));
    strbuf_printf(out, "  %-14s %-24s %s\n", "order", "seconds", "over the best");
    for (size_t i = 0; weft_advice_order(a, i, &row); i++) {
        char time[64];
        snprintf(time, sizeof time, "%.4g ±%.2g", row.mean, row.half_width);
        strbuf_printf(out, "  %-14s %-25s", row.planner, time); /* the sign has two bytes */
        if (i)
            strbuf_printf(out, "%.3f ±%.3f%s\n", row.ratio, row.ratio_half_width,
                          row.worse ? "" : "  no difference to be seen");
        else
            strbuf_add(out, "the best\n");
    }
    weft_advice_order(a, 0, &best);
    size_t n = advice_as_good(a, &names, &fifo);
    if (fifo)
        strbuf_add(out,
                   "\nadvice: none is needed. Tasks as they become eligible (fifo) end as soon "
                   "as in the best order, as far as these runs can tell.\n");
    else
        strbuf_printf(out, "\nadvice: %s%s%s%s\n", best.planner,
                      n ? " (as good, as far as these runs can tell: " : "", strbuf_text(&names),
                      n ? ")" : "");
    strbuf_free(&names);
}

/* Time in the best order over that in none, with its interval: the inverse of what is known. */
static void advice_gain(const struct weft_advice *a, char *text, size_t size)
{
    struct weft_advised row;
    for (size_t i = 0; weft_advice_order(a, i, &row); i++)
        if (strcmp(row.planner, "fifo") == 0)
            snprintf(text, size, "%.3f ±%.3f", 1 / row.ratio,
                     row.ratio_half_width / (row.ratio * row.ratio));
}

bool ordering_advise_all(const struct weft_workflow *w, uint32_t repeat, uint64_t seed,
                         struct strbuf *out, struct weft_error *error)
{
    struct strbuf names = {0};
    bool good = true, fifo;
    strbuf_printf(out, "%-11s %-14s %-15s %s\n", "clients", "advice", "over fifo's",
                  "as good, as far as the runs can tell");
    for (int i = 0; i < ADVICE_PATTERNS && good; i++) {
        struct weft_advice *a = ordering_advise(w, advice_patterns[i], repeat, seed, error);
        struct weft_advised best;
        char gain[64] = "";
        good = a != NULL;
        if (!good)
            break;
        weft_advice_order(a, 0, &best);
        advice_gain(a, gain, sizeof gain);
        strbuf_clear(&names);
        advice_as_good(a, &names, &fifo);
        if (fifo)
            strbuf_printf(out, "%-11s %-14s %-15s  no order is better than none (fifo)\n",
                          advice_patterns[i], "none", gain);
        else
            strbuf_printf(out, "%-11s %-14s %-15s  %s\n", advice_patterns[i], best.planner, gain,
                          strbuf_text(&names));
        weft_advice_free(a);
    }
    strbuf_free(&names);
    return good;
}
