/* Two trials beside the report: plans whose times fluctuate (its section 3 expects latency to suffer more than
 * throughput), and plans that are executed, tasks as filters that wait their time.
 *
 * Executed parts take real time and their figures differ a little from run to run: the machine's own load is
 * in them. Times are scaled so that an item comes every 25 ms. */
#include "study/mos_study.h"

#include "generate/generate.h"
#include "model/stream.h"
#include "plan/planner.h"
#include "sim/stream.h"
#include "stream/flow.h"

#include <math.h>
#include <stdio.h>

static const char *const trial_planners[] = {"mos", "stream"};

static struct plan *trial_plan(const struct mos_study *s, const char *planner,
                               const struct workflow *w, const struct platform *p,
                               const char *throughput)
{
    struct option_value options[] = {{"throughput", throughput}, {"ports", "4"}, {"effort", "0.2"}};
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .replayer = s->o->replayer,
                                   .options = options,
                                   .noptions = planner == trial_planners[1] ? 3 : 2,
                                   .seed = s->o->seed};
    return planner_run(planner_find(planner), &request, s->err);
}

/* ---- fluctuating times ---- */

enum { NOISES = 5 };
static const double noises[NOISES] = {0, 0.1, 0.2, 0.3, 0.5};

/* Against the same plan without noise. */
struct trial_noise {
    double throughput, least, latency, most, tail;
};

/* One plan under each noise, fed at a share of its promised rate. */
static bool trial_replay(const struct mos_study *s, const struct workflow *w,
                         const struct plan *plan, double load, struct trial_noise *sum)
{
    double still = NAN;
    for (int i = 0; i < NOISES; i++) {
        struct stream_options o;
        struct stream_result r;
        stream_options_init(&o);
        o.items = s->o->quick ? 200 : 1000;
        o.fed = FEED_PERIOD;
        o.period = 1 / (load * plan_objective(plan, "throughput"));
        o.noise = noises[i];
        o.seed = s->o->seed;
        if (!stream_run(w, s->platform, plan, &o, &r, s->err))
            return false;
        if (i == 0)
            still = r.latency_mean;
        double rate = r.throughput * o.period;
        sum[i].throughput += rate;
        sum[i].least = fmin(sum[i].least, rate);
        sum[i].latency += r.latency_mean / still;
        sum[i].most = fmax(sum[i].most, r.latency_mean / still);
        sum[i].tail += r.latency_p99 / still;
        stream_result_free(&r);
    }
    return true;
}

static void trial_noise_table(struct strbuf *md, double load, uint32_t runs,
                              const struct trial_noise *sum)
{
    strbuf_printf(md,
                  "\nItems at %g times the promised rate:\n\n| variation of times | throughput / "
                  "rate of the items, mean | least | mean latency / without variation, mean | most "
                  "| 99 %% latency, mean |\n| --- | --- | --- | --- | --- | --- |\n",
                  load);
    for (int i = 0; i < NOISES; i++)
        strbuf_printf(md, "| %g | %.3f | %.3f | %.3f | %.3f | %.3f |\n", noises[i],
                      sum[i].throughput / runs, sum[i].least, sum[i].latency / runs, sum[i].most,
                      sum[i].tail / runs);
}

/* What the report expects, by the largest variation at the promised rate. */
static void trial_noise_verdict(struct strbuf *md, uint32_t runs, const struct trial_noise *sum)
{
    double slower = 1 - sum[NOISES - 1].throughput / runs;
    double longer = sum[NOISES - 1].latency / runs - 1;
    strbuf_printf(
        md,
        "\n%s: at a variation of %g the throughput falls by %.1f %% and the latency rises "
        "by %.0f %%, items coming at the promised rate.\n",
        longer > slower ? "So it is here" : "Not so here", noises[NOISES - 1], 100 * slower,
        100 * longer);
}

bool mos_fluctuating(struct mos_study *s)
{
    static const double loads[] = {1, 0.9};
    uint32_t count = s->o->quick ? 2 : 20;
    strbuf_printf(&s->md,
                  "\n## Fluctuating times (section 3)\n\nThe report expects fluctuations of task "
                  "times to be felt in the latency, where they add up along the critical path, "
                  "more than in the throughput, where only the bottleneck counts. Plans of `mos` "
                  "at 0.5 Tmax (k = 4, CCR 0.1 and 1, %u graphs), replayed with task times that "
                  "vary (lognormal, mean as planned; the variation is the coefficient).\n",
                  count);
    for (int l = 0; l < 2; l++) {
        struct trial_noise sum[NOISES];
        for (int i = 0; i < NOISES; i++)
            sum[i] = (struct trial_noise){.least = INFINITY};
        for (uint32_t i = 0; i < count; i++) {
            struct mos_config c = {false, i % 2 ? 1 : 0.1, 4};
            struct workflow *w = mos_study_graph(s, &c, i, count);
            struct plan *plan = w ? trial_plan(s, "mos", w, s->platform, "0.5Tmax") : NULL;
            bool good = plan && trial_replay(s, w, plan, loads[l], sum);
            plan_free(plan);
            workflow_free(w);
            if (!good)
                return false;
        }
        trial_noise_table(&s->md, loads[l], count, sum);
        if (l == 0)
            trial_noise_verdict(&s->md, count, sum);
    }
    return true;
}

/* ---- executed ---- */

/* What came of one plan: promised, replayed, measured. */
struct trial_run {
    double promised, promised_latency, replayed, replayed_latency, measured, measured_latency;
};

static bool trial_execute(const struct mos_study *s, const struct workflow *w,
                          const struct platform *p, const struct plan *plan, uint32_t items,
                          struct trial_run *out)
{
    struct stream_options o;
    struct stream_result r;
    struct flow_figures figures;
    stream_options_init(&o);
    o.items = items;
    o.fed = FEED_PERIOD;
    if (!stream_run(w, p, plan, &o, &r, s->err))
        return false;
    double steady = plan_objective(plan, "steady_latency");
    out->promised = plan_objective(plan, "throughput");
    out->promised_latency = isnan(steady) ? plan_objective(plan, "latency") : steady;
    out->replayed = r.throughput;
    out->replayed_latency = r.latency_mean;
    stream_result_free(&r);
    struct flow *f = flow_open(
        &(struct flow_options){.workflow = w, .plan = plan, .platform = p, .items = items}, s->err);
    bool good = f && flow_run(f, s->err);
    if (good) {
        flow_figures(f, &figures);
        out->measured = figures.throughput;
        out->measured_latency = figures.latency_mean;
    }
    flow_close(f);
    return good;
}

/* Equal nodes so quick that half of Tmax is an item every 25 ms. */
static struct platform *trial_platform(double total, uint32_t nodes, struct error *err)
{
    char count[16], speed[32];
    snprintf(count, sizeof count, "%u", nodes);
    snprintf(speed, sizeof speed, "%.17g", total / (0.5 * nodes * 0.025));
    struct option_value values[] = {
        {"n", count}, {"speed", speed}, {"bandwidth", speed}, {"latency", "0"}};
    return generator_platform(generator_find("homogeneous"), values, 4, 1, err);
}

/* Takes the workflow. */
static bool trial_row(struct mos_study *s, const char *name, struct workflow *w, uint32_t nodes,
                      int planner, uint32_t items, struct trial_run *out)
{
    double total = 0;
    for (uint32_t t = 0; w && t < w->ntasks; t++)
        total += w->work[t];
    struct platform *p = w ? trial_platform(total, nodes, s->err) : NULL;
    struct plan *plan = p ? trial_plan(s, trial_planners[planner], w, p, "0.5Tmax") : NULL;
    bool good = plan && trial_execute(s, w, p, plan, items, out);
    if (good)
        strbuf_printf(&s->md, "| %s | %u | %s | %.2f | %.4f | %.4f | %.1f | %.3f | %.3f |\n", name,
                      nodes, trial_planners[planner], out->promised, out->replayed / out->promised,
                      out->measured / out->promised, 1000 * out->promised_latency,
                      out->measured_latency / out->promised_latency,
                      out->measured_latency / out->replayed_latency);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
    return good;
}

/* Graphs of the report's kind on 4 to 16 processors; the least over all by planner. */
static bool trial_random(struct mos_study *s, uint32_t count, uint32_t items)
{
    double least[2] = {INFINITY, INFINITY}, latency[2] = {0};
    for (uint32_t i = 0; i < count; i++)
        for (int x = 0; x < 2; x++) {
            struct mos_config c = {false, i % 2 ? 1 : 0.1, 4};
            struct trial_run r;
            char name[32];
            snprintf(name, sizeof name, "random %u", i + 1);
            uint32_t nodes = count > 1 ? 4 + i * 12 / (count - 1) : 8;
            if (!trial_row(s, name, mos_study_graph(s, &c, i, count), nodes, x, items, &r))
                return false;
            least[x] = fmin(least[x], r.measured / r.promised);
            latency[x] = fmax(latency[x], r.measured_latency / r.promised_latency);
        }
    strbuf_printf(&s->md,
                  "\nOver the %u random graphs: `mos` at least %.3f of its promised throughput, "
                  "latency at most %.3f of the promised; `stream` %.3f and %.3f.\n",
                  count, least[0], latency[0], least[1], latency[1]);
    return true;
}

bool mos_executed(struct mos_study *s)
{
    uint32_t items = s->o->quick ? 30 : 200;
    strbuf_printf(
        &s->md,
        "\n## Executed\n\nPlans at 0.5 Tmax, k = 4, run by the code of `weft stream`: every "
        "replica is a "
        "thread, filters wait their time, transfers take theirs. An item comes about every 25 ms; "
        "%u items. Measured on this machine, so these figures differ from run to run.\n\n| graph | "
        "processors | planner | promised items/s | replayed / promised | measured / promised | "
        "promised latency (ms) | measured latency / promised | / replayed |\n| --- | --- | --- | "
        "--- | --- | --- | --- | --- | --- |\n",
        items);
    static const char *const names[] = {"dvb", "video", "placenta"};
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < (s->o->quick ? 1 : 2); x++) {
            struct trial_run r;
            if (!trial_row(s, names[i], mos_graph(names[i], s->err), PROCESSORS, x, items, &r))
                return false;
        }
    return trial_random(s, s->o->quick ? 1 : 20, items);
}
