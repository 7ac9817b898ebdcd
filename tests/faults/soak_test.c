/* Fault simulation of the real schedulers over the real store, seed by seed.
 *   soak_test                       a few hundred seeds, for CI
 *   soak_test --seconds T [--first S]   as many as fit into the time; prints where it is
 *   soak_test --seeds N [--first S]     exactly so many
 *   soak_test --seed S              one, and what happened in it: the replay of a failing one */
#include "base/clock.h"
#include "world.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const fault_names[] = {
    "lost messages",  "doubled messages", "late messages",  "crashes",       "false alarms",
    "partitions",     "failovers",        "slow nodes",     "failing tasks", "removals",
    "policy changes", "nodes that leave", "all nodes leave"};

enum { FAULTS = sizeof fault_names / sizeof *fault_names };

struct totals {
    uint64_t seeds, events, crashes, partitions, failovers, replays, resent, adoptions, lost,
        doubled, done, picky, unfit, leaves, returned, asides, passed_on, holding, joined, skipped,
        excused, exoduses, strangers, ahead;
};

static void add(struct totals *t, const struct fault_world_result *r)
{
    t->seeds++;
    t->events += r->events;
    t->crashes += r->crashes;
    t->partitions += r->partitions;
    t->failovers += r->failovers;
    t->replays += r->replays;
    t->resent += r->resent;
    t->adoptions += r->adoptions;
    t->lost += r->lost;
    t->doubled += r->doubled;
    t->done += r->done;
    t->picky += r->picky;
    t->holding += r->holding;
    t->unfit += r->unfit;
    t->leaves += r->leaves;
    t->returned += r->returned;
    t->asides += r->asides;
    t->passed_on += r->passed_on;
    t->joined += r->joined;
    t->skipped += r->skipped;
    t->excused += r->excused;
    t->exoduses += r->exoduses;
    t->strangers += r->strangers;
    t->ahead += r->ahead;
}

static void show(uint64_t seed, const struct fault_world_result *r)
{
    printf("# seed %llu: %u nodes, %u tasks, %llu events, %.3f s;", (unsigned long long)seed,
           r->nodes, r->tasks, (unsigned long long)r->events, r->time);
    for (int i = 0; i < FAULTS; i++)
        if (r->faults >> i & 1)
            printf(" %s%s", fault_names[i], r->faults >> (i + 1) ? "," : "");
    printf("\n# %u done, %u failed or removed; %u messages lost, %u doubled; %u crashes, %u of the "
           "living adopted, %u partitions, %u failovers, %u journals replayed; digest %016llx\n",
           r->done, r->ended_otherwise, r->lost, r->doubled, r->crashes, r->adoptions,
           r->partitions, r->failovers, r->replays, (unsigned long long)r->digest);
    printf("# %u tasks fit some nodes alone; %u leaves, %u tasks given back\n", r->picky, r->leaves,
           r->returned);
    printf("# %u tasks joined, %u were skipped, %u failed and may\n", r->joined, r->skipped,
           r->excused);
}

/* Until the count or the time is over, or one fails. */
static bool run_seeds(const struct fault_world_options *options, uint64_t first, uint64_t count,
                      double seconds, const char *program, struct totals *t)
{
    double began = clock_seconds(), told = began;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct fault_world_result r;
        fault_world_run(seed, options, &r);
        add(t, &r);
        if (r.trouble[0]) {
            printf("# seed %llu: %s\n", (unsigned long long)seed, r.trouble);
            show(seed, &r);
            printf("# again: %s --seed %llu\n", program, (unsigned long long)seed);
            return false;
        }
        double now = clock_seconds();
        if (seconds > 0 && now - told > 10) {
            printf("# seeds %llu to %llu pass, %.0f s\n", (unsigned long long)first,
                   (unsigned long long)seed, now - began);
            fflush(stdout);
            told = now;
        }
        if (seconds > 0 && now - began > seconds)
            break;
    }
    return true;
}

static bool same(uint64_t seed, const struct fault_world_options *options)
{
    struct fault_world_result a, b;
    fault_world_run(seed, options, &a);
    fault_world_run(seed, options, &b);
    return memcmp(&a, &b, sizeof a) == 0;
}

static void for_ci(const struct fault_world_options *options, const struct totals *t)
{
    struct fault_world_options memory = {0};
    struct fault_world_result a, b;
    bool good = true;
    for (uint64_t seed = 1; seed <= 10; seed++)
        good &= same(seed, options);
    ok(good, "a seed replays to the bit");
    fault_world_run(7, options, &a);
    fault_world_run(7, &memory, &b);
    ok(a.digest != 0 && !b.trouble[0], "and without a journal it passes too");
    fault_world_run(8, options, &b);
    ok(a.digest != b.digest, "another seed is another run");
    ok(t->crashes && t->partitions && t->failovers && t->replays && t->resent && t->adoptions &&
           t->lost && t->doubled && t->leaves && t->returned && t->asides && t->passed_on,
       "every fault happened: %llu crashes, %llu partitions, %llu failovers, %llu batches sent "
       "again",
       (unsigned long long)t->crashes, (unsigned long long)t->partitions,
       (unsigned long long)t->failovers, (unsigned long long)t->resent);
    ok(t->joined && t->skipped && t->excused,
       "%llu tasks joined, %llu were skipped, %llu failed and may", (unsigned long long)t->joined,
       (unsigned long long)t->skipped, (unsigned long long)t->excused);
    ok(t->exoduses && t->strangers,
       "all nodes left at once %llu times, %llu schedulers began without having heard of all "
       "others",
       (unsigned long long)t->exoduses, (unsigned long long)t->strangers);
    ok(t->ahead > 0, "%llu tasks started ahead of the store", (unsigned long long)t->ahead);
    ok(t->holding > 0, "%llu tasks held things of their nodes", (unsigned long long)t->holding);
    ok(t->picky && t->unfit,
       "%llu tasks fitted some nodes alone, after %llu events one waited for a node",
       (unsigned long long)t->picky, (unsigned long long)t->unfit);
    for (int i = 0; i < FAULTS; i++) {
        struct fault_world_options one = {.faults = 1u << i};
        good = true;
        for (uint64_t seed = 1; seed <= 10 && good; seed++) {
            fault_world_run(seed, &one, &a);
            good = !a.trouble[0];
        }
        ok(good, "%s alone%s%s", fault_names[i], good ? "" : ": ", a.trouble);
    }
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 200, one = 0;
    double seconds = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) {
            seconds = atof(argv[i + 1]);
            count = UINT64_MAX / 2;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            count = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--first") == 0) {
            first = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0) {
            one = strtoull(argv[i + 1], NULL, 10);
        }
    }
    char folder[256];
    snprintf(folder, sizeof folder, "%s/weft-soak-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    struct fault_world_options options = {.folder = mkdtemp(folder)};
    struct totals t = {0};
    bool good;
    if (one) {
        struct fault_world_result r;
        fault_world_run(one, &options, &r);
        TAP_DO(show(one, &r));
        good = ok(!r.trouble[0], "seed %llu%s%s", (unsigned long long)one, r.trouble[0] ? ": " : "",
                  r.trouble);
    } else {
        double began = clock_seconds();
        good = run_seeds(&options, first, count, seconds, argv[0], &t);
        ok(good, "%llu seeds from %llu on: %llu events, %llu tasks done",
           (unsigned long long)t.seeds, (unsigned long long)first, (unsigned long long)t.events,
           (unsigned long long)t.done);
        printf("# %.1f s\n", clock_seconds() - began);
        if (argc == 1 && good)
            for_ci(&options, &t);
    }
    rmdir(folder);
    return tap_done();
}
