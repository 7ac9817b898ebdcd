/* weft's simulator beside SimGrid on the same plans. Skipped where SimGrid is not installed.
 *
 * free: the makespans agree to 1e-6. fair: the same where the models coincide, which is when all
 * messages have the same latency (SimGrid gives a flow a share in inverse proportion to its
 * latency, as TCP does; ours does not). How far they are apart elsewhere is printed. */
#include "describe.h"
#include "formats/format.h"
#include "plan/planner.h"
#include "random_plan.h"
#include "sim/replay.h"
#include "tap.h"
#include <dirent.h>
#include <unistd.h>

#ifdef WEFT_WITNESS

/* SimGrid's makespan of the plan, NAN when it failed. */
static double witness(const struct workflow *w, const struct platform *p, const struct plan *plan,
                      const char *network)
{
    char path[] = P_tmpdir "/weft-witness-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return NAN;
    double makespan = NAN;
    bool good = describe_plan(file, w, p, plan, network);
    good = fclose(file) == 0 && good;
    if (good) {
        char command[512];
        snprintf(command, sizeof command, "%s %s", WEFT_WITNESS, path);
        FILE *answer = popen(command, "r");
        if (answer) {
            if (fscanf(answer, "makespan %lf", &makespan) != 1)
                makespan = NAN;
            char rest[256];
            while (fgets(rest, sizeof rest, answer))
                ;
            pclose(answer);
        }
    }
    unlink(path);
    return makespan;
}

/* Relative difference; INFINITY when either failed. */
static double difference(const struct workflow *w, const struct platform *p,
                         const struct plan *plan, const char *network, double *ours)
{
    struct replay_options o;
    replay_options_init(&o);
    o.network = network;
    struct replay_result r;
    struct error err = {0};
    bool good = replay_run(w, p, plan, &o, &r, &err);
    *ours = r.makespan;
    replay_result_free(&r);
    double theirs = witness(w, p, plan, network);
    if (!good || isnan(theirs)) {
        printf("# ours %s (%s), SimGrid's %g\n", good ? "ran" : "failed", err.text, theirs);
        return INFINITY;
    }
    return theirs > 0 ? fabs(*ours - theirs) / theirs : fabs(*ours);
}

static void random_plans(void)
{
    struct rng r;
    rng_seed(&r, 2024);
    double worst_free = 0, worst_fair = 0, worst_latency = 0, slower = 0;
    int free_count = 0, fair_count = 0, latency_count = 0;
    for (int i = 0; i < 100; i++) {
        struct random_shape shape = {.tasks = 10 + (uint32_t)rng_below(&r, 80),
                                     .nodes = 2 + (uint32_t)rng_below(&r, 7),
                                     .degree = 0.5 + 2 * rng_unit(&r),
                                     .ordering = 0.1,
                                     .ccr = i % 4 == 0 ? 5 : 0.5 + i % 3,
                                     .cores = i % 5 == 0 ? 4 : 1,
                                     .links = i % 2,
                                     .latency = i % 4 < 2 ? 0 : 0.05};
        struct workflow *w = random_workflow(&r, &shape);
        struct platform *p = random_platform(&r, &shape);
        struct plan *plan = random_plan(w, p, &r, 0, i % 2);
        double free_time, fair_time;
        double d = difference(w, p, plan, "free", &free_time);
        worst_free = fmax(worst_free, d);
        free_count++;
        d = difference(w, p, plan, "fair", &fair_time);
        if (shape.links && shape.latency > 0) {
            worst_latency = fmax(worst_latency, d);
            latency_count++;
        } else {
            worst_fair = fmax(worst_fair, d);
            fair_count++;
        }
        slower = fmax(slower, fair_time / free_time);
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    ok(worst_free <= 1e-6, "free: %d random plans agree with SimGrid to 1e-6 (worst %.1e)",
       free_count, worst_free);
    ok(worst_fair <= 1e-6, "fair: %d random plans agree with SimGrid to 1e-6 (worst %.1e)",
       fair_count, worst_fair);
    ok(worst_latency < INFINITY, "fair: %d plans where pairs differ in latency run in both",
       latency_count);
    printf("# there SimGrid shares by latency and we do not: worst difference %.1f %%\n",
           100 * worst_latency);
    ok(slower > 1.05, "contention matters in these plans: fair is up to %.2f times free", slower);
}

static struct plan *planned(const struct workflow *w, const struct platform *p, const char *name)
{
    struct error err = {0};
    const struct planner *planner = planner_find(name);
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct plan *plan = planner ? planner_run(planner, &request, &err) : NULL;
    if (!plan)
        printf("# %s\n", planner ? err.text : "no such planner");
    return plan;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void examples(void)
{
    static const char *const planners[] = {"heft", "random"};
    struct dirent **names;
    int n = scandir(WEFT_SOURCE_DIR "/examples", &names, NULL, compare_names);
    int count = 0;
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, WEFT_SOURCE_DIR "/examples/%s", names[i]->d_name);
        bool regular = names[i]->d_type == DT_REG && !strstr(names[i]->d_name, ".md");
        struct error err = {0};
        struct format_file *file = regular ? format_file_open(path, NULL, NULL, &err) : NULL;
        struct workflow *w = file && !format_file_is_platform(file) && !format_file_is_plan(file)
                                 ? format_file_workflow(file, &err)
                                 : NULL;
        format_file_close(file);
        /* a workflow with times of its own names its nodes */
        const char *on = w && w->time_off ? WEFT_SOURCE_DIR "/examples/heft-paper-nodes.yaml"
                                          : WEFT_SOURCE_DIR "/examples/cluster.yaml";
        struct error none = {0};
        struct platform *p = w ? format_read_platform(on, NULL, NULL, &none) : NULL;
        for (int k = 0; p && k < 2; k++) {
            struct plan *plan = planned(w, p, planners[k]);
            if (!plan)
                continue;
            double ours;
            double d = difference(w, p, plan, "free", &ours);
            ok(d <= 1e-6, "%s by %s under free: %.6g s, difference %.1e", names[i]->d_name,
               planners[k], ours, d);
            d = difference(w, p, plan, "fair", &ours);
            ok(d <= 0.01, "%s by %s under fair: %.6g s, difference %.1e", names[i]->d_name,
               planners[k], ours, d);
            plan_free(plan);
            count++;
        }
        platform_free(p);
        workflow_free(w);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    ok(count >= 4, "%d plans of the examples", count);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(random_plans),
        TAP_CASE(examples),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

#else

int main(void)
{
    tap_skip("SimGrid executes the same plans", "built without SimGrid (Debian: libsimgrid-dev)");
    return tap_done();
}

#endif
