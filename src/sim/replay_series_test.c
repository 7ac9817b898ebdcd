#include "sim/replay_series.h"
#include "random_plan.h"
#include "tap.h"

static double integral(const struct series *s, double end)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->at[i].value * ((i + 1 < s->n ? s->at[i + 1].time : end) - s->at[i].time);
    return sum;
}

int main(void)
{
    struct rng rng;
    rng_seed(&rng, 4);
    double busy = 0, memory = 0, used = 0;
    bool bounded = true, peaks = true, least = true;
    for (int round = 0; round < 20; round++) {
        struct random_shape shape = {
            .tasks = 60, .nodes = 4, .degree = 1.5, .ccr = 0.5, .cores = 3};
        struct workflow *w = random_workflow(&rng, &shape);
        struct platform *p = random_platform(&rng, &shape);
        struct plan *plan = random_plan(w, p, &rng, 0, true);
        struct replay_options o;
        replay_options_init(&o);
        o.noise = 0.2;
        if (round % 2) {
            o.mtbf = 10;
            o.repair = 1;
        }
        struct replay_result r;
        struct error err = {0};
        if (!ok(replay_run(w, p, plan, &o, &r, &err), "replay %d %s", round, err.text))
            return tap_done();
        struct series s;
        replay_running_series(&r, w, plan, &s);
        busy = fmax(busy, fabs(integral(&s, r.makespan) - r.compute - r.lost));
        series_free(&s);
        replay_utilization_series(&r, w, p, plan, 37, &s);
        double sum = 0;
        for (size_t i = 0; i < s.n; i++) {
            sum += s.at[i].value / 37;
            bounded = bounded && s.at[i].value >= -1e-12 && s.at[i].value <= 1 + 1e-9;
        }
        used = fmax(used, fabs(sum - r.utilization));
        is_int(s.n, 37, "a point a bin");
        series_free(&s);
        for (uint32_t node = 0; node < p->nnodes; node++) {
            replay_memory_series(&r, w, plan, node, &s);
            double most = 0, want = 0;
            for (size_t i = 0; i < s.n; i++)
                most = fmax(most, s.at[i].value);
            peaks = peaks && fabs(most - r.node_peak[node]) < 1e-9;
            for (uint32_t i = 0; i < r.nplacements; i++)
                if (plan->placements.at[i].node == node)
                    want += (r.finish[i] - r.start[i]) * w->memory[plan->placements.at[i].task];
            for (size_t i = 0; i < r.lost_runs.n; i++) {
                const struct placement *x = &plan->placements.at[r.lost_runs.at[i].placement];
                if (x->node == node)
                    want +=
                        (r.lost_runs.at[i].finish - r.lost_runs.at[i].start) * w->memory[x->task];
            }
            memory = fmax(memory, fabs(integral(&s, r.makespan) - want) / (want + 1));
            series_free(&s);
        }
        struct stretch_summary stretch;
        replay_stretch_summary(&r, w, plan, &stretch);
        least = least && stretch.median >= 1 - 1e-9 && stretch.p95 >= stretch.median &&
                stretch.max >= stretch.p95 && stretch.worst < r.nplacements;
        replay_result_free(&r);
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    ok(busy < 1e-6, "the area under the running cores is the computing (%.1e)", busy);
    ok(used < 1e-9, "the mean of the bins is the utilisation (%.1e)", used);
    ok(bounded, "no bin is over 1");
    ok(memory < 1e-9, "the area under memory is memory x time (%.1e)", memory);
    ok(peaks, "the highest point is the peak");
    ok(least, "no stretch is below 1");
    return tap_done();
}
