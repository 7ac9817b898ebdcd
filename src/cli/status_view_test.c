/* What a person sees of clusters that no test starts: a hundred nodes, long names, old runs; at every width. */
#include "cli/status_view.h"
#include "report/human.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 100, RUNS = 25 };

static struct weft_agent_info agents[NODES];
static struct weft_agent_work work[NODES];
static struct weft_cluster_run runs[RUNS];
static char hosts[NODES][64];

static struct weft_cluster_status large_cluster(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(hosts[i], sizeof hosts[i], "compute-node-%03u.cluster.example.org", i);
        work[i] = (struct weft_agent_work){.run = 1,
                                           .running = 4,
                                           .local = 10,
                                           .shared = 1234567,
                                           .waiting = 987654,
                                           .done = 123456,
                                           .fetched_bytes = 1.234e12,
                                           .served_bytes = 5e9,
                                           .hits = 1,
                                           .misses = 2,
                                           .cache_bytes = 999e9};
        agents[i] = (struct weft_agent_info){.node = i,
                                             .host = hosts[i],
                                             .known = true,
                                             .cores = 128,
                                             .age = 0.5,
                                             .work = &work[i],
                                             .nwork = 1};
    }
    agents[40].state = WEFT_AGENT_LEFT;
    agents[77].state = WEFT_AGENT_DEAD;
    agents[77].age = 100;
    agents[88].state = WEFT_AGENT_SILENT;
    work[99].failed = 3;
    for (uint32_t i = 0; i < RUNS; i++)
        runs[i] = (struct weft_cluster_run){
            .run = 1000 + i,
            .state = i < 2 ? WEFT_CLUSTER_RUNNING : WEFT_CLUSTER_COLLECTED,
            .created = 1e9,
            .changed = 1e9 + 90000,
            .workflow = "a workflow whose name somebody made of a whole sentence, with a dot.",
            .host = "login-1.cluster.example.org",
            .folder = "/home/somebody/projects/2026/über-größe/run-17",
            .known = true,
            .tasks = 1234567,
            .counted = true,
            .proved = i != 1,
            .done = 1000000,
            .removed = 17,
            .unproved = i == 0 ? 3 : 0};
    return (struct weft_cluster_status){.now = 2e9,
                                        .agents = agents,
                                        .nagents = NODES,
                                        .runs = runs,
                                        .nruns = RUNS,
                                        .all_runs = 500};
}

static size_t widest(const struct strbuf *text)
{
    char *copy = strdup(text->at), *rest = NULL;
    size_t most = 0;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        most = human_width(line) > most ? human_width(line) : most;
    free(copy);
    return most;
}

static size_t lines(const struct strbuf *text)
{
    size_t n = 0;
    for (const char *c = text->at; *c; c++)
        n += *c == '\n';
    return n;
}

int main(void)
{
    struct weft_cluster_status s = large_cluster();
    struct strbuf out = {0};
    struct status_style style = {.store = "redis://x", .columns = 80};
    status_agents_text(&s, &style, &out);
    ok(widest(&out) <= 80, "agents: %zu columns", widest(&out));
    has_str(out.at, "97 agents up, 1 silent, 1 dead, 1 left:\n388 tasks run on 12,416 cores, ",
            "all of them in one line");
    has_str(out.at, "\n  77  compute-node-077", "one that died is shown");
    has_str(out.at, "  dead  ", "as such");
    has_str(out.at, "\n  88  compute-node-088", "one that is silent, too");
    has_str(out.at, "\n  99  compute-node-099", "and one on which tasks failed");
    has_str(out.at, "and 80 more agents: `weft status --all`\n", "the others are counted");
    ok(lines(&out) == 25, "a screen: %zu lines", lines(&out));
    strbuf_clear(&out);
    status_runs_text(&s, &style, &out);
    ok(widest(&out) <= 80, "runs: %zu columns", widest(&out));
    has_str(out.at, "*1,000,000 of 1,234,567", "what only the store says is marked");
    has_str(out.at, "* as the store counts", "and explained");
    has_str(out.at, "run 1000: the store says of 3 more tasks that they ended",
            "what nobody proves");
    has_str(out.at, "and 475 older runs: `weft status --all`", "older ones are counted");
    for (unsigned columns = 30; columns <= 200; columns += 5) {
        style.columns = columns;
        strbuf_clear(&out);
        status_agents_text(&s, &style, &out);
        char *table = strstr(out.at, "node  "); /* the words before it wrap where they must */
        struct strbuf rest = {.at = table, .n = strlen(table)};
        size_t wide = widest(&rest);
        ok(wide <= (columns > 40 ? columns : 40), "agents at %u: %zu", columns, wide);
    }
    strbuf_clear(&out);
    style = (struct status_style){.store = "redis://x", .all = true};
    status_agents_text(&s, &style, &out);
    ok(lines(&out) == NODES + 3, "--all: every one");
    has_str(out.at, "stolen", "and every column");
    strbuf_clear(&out);
    status_agents_text(&(struct weft_cluster_status){0}, &style, &out);
    has_str(out.at, "no agents at redis://x; `weft agent` starts one", "nobody");
    strbuf_clear(&out);
    status_runs_text(&(struct weft_cluster_status){0}, &style, &out);
    has_str(out.at, "no runs", "no runs");
    strbuf_free(&out);
    return tap_done();
}
