/* The table of best known plans (docs/best-known.md): real graphs of 100 to 1,000 tasks and generated
 * ones, for which no optimum is known. Each is planned again, with a budget in moves, so that a row can
 * be repeated from its seed on any machine; what is shorter than the page says is a new best.
 *
 * The page is the memory: its rows are read back, and with `write` it is written anew with the shorter
 * makespan and the higher bound of both. */
#include "bench/quality.h"
#include "base/strbuf.h"
#include "formats/format.h"
#include "session/machine.h"
#include <math.h>

enum { KNOWN_ROWS = 64, KNOWN_SEEDS = 3, KNOWN_NAME = 96 };

static const char *const known_files[] = {
    "stg/n100_rand0000.stg",
    "stg/n100_rand0015.stg",
    "stg/n100_rand0031.stg",
    "stg/n100_rand0060.stg",
    "stg/n100_rand0099.stg",
    "stg/n100_rand0130.stg",
    "stg/n100_rand0165.stg",
    "stg/n100_rand0179.stg",
    "stg/fft.stg",
    "stg/robot.stg",
    "stg/n1000_rand0090.stg",
    "stg/n1000_rand0100.stg",
    "wfformat/bwa-chameleon-small-001.json",
    "wfformat/cutandrun-dirt02-001.json",
    "wfformat/montage-chameleon-dss-075d-001.json",
    "wfformat/seismology-chameleon-100p-001.json",
    "wfformat/soykb-chameleon-10fastq-10ch-001.json",
    "wfformat/taxprofiler-dirt02-001.json",
    "dax/CyberShake_100.xml",
    "dax/Epigenomics_100.xml",
    "dax/Epigenomics_997.xml",
    "dax/Inspiral_100.xml",
    "dax/Montage_100.xml",
};

/* Eight equal nodes; sizes are bytes, times seconds. */
static const char known_platform[] = "homogeneous:n=8,bandwidth=100M";

struct known_row {
    char graph[KNOWN_NAME], kind[40];
    uint32_t tasks, copies;
    double makespan, bound;
    uint64_t seed;
};

struct known_page {
    struct known_row row[KNOWN_ROWS];
    uint32_t count;
};

/* The rows of the page as it is; none when there is no page yet. */
static void known_read(struct known_page *page, const char *path)
{
    struct error err = {0};
    struct text text;
    if (!file_exists(path) || !file_read(path, &text, &err))
        return;
    char *copy = strndup(text.at, text.n);
    for (char *save = NULL, *line = strtok_r(copy, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        struct known_row r = {0};
        double gap;
        if (page->count < KNOWN_ROWS &&
            sscanf(line, "| `%95[^`]` | %u | %lf | %u | %lf | %39[^|] | %lf %% | %" SCNu64, r.graph,
                   &r.tasks, &r.makespan, &r.copies, &r.bound, r.kind, &gap, &r.seed) == 8) {
            r.kind[strcspn(r.kind, "|")] = 0;
            while (*r.kind && r.kind[strlen(r.kind) - 1] == ' ')
                r.kind[strlen(r.kind) - 1] = 0;
            page->row[page->count++] = r;
        }
    }
    free(copy);
    text_free(&text);
}

static struct known_row *known_find(struct known_page *page, const char *graph)
{
    for (uint32_t i = 0; i < page->count; i++)
        if (strcmp(page->row[i].graph, graph) == 0)
            return &page->row[i];
    return NULL;
}

/* "bound 12 (kind; ...), 3 % below" or "proven optimal ... (kind)": auto's last note. */
static void known_kind(const struct plan *plan, char *out, size_t size)
{
    snprintf(out, size, "?");
    for (size_t i = 0; i < plan->notes.n; i++) {
        const char *note = plan->notes.at[i], *open = strrchr(note, '(');
        if (open && (strncmp(note, "bound ", 6) == 0 || strncmp(note, "proven ", 7) == 0))
            snprintf(out, size, "%.*s", (int)strcspn(open + 1, ";)"), open + 1);
    }
}

/* The best of a few seeds. */
static struct known_row known_plan(const char *graph, const struct workflow *w,
                                   const struct platform *p, const char *moves)
{
    struct known_row best = {.makespan = INFINITY, .tasks = w->ntasks};
    snprintf(best.graph, sizeof best.graph, "%s", graph);
    for (uint64_t seed = 1; seed <= KNOWN_SEEDS; seed++) {
        struct option_value option = {"budget", moves};
        struct plan_request request = {
            .workflow = w, .platform = p, .options = &option, .noptions = 1, .seed = seed};
        struct error err = {0};
        struct plan *plan = planner_run(planner_find("auto"), &request, &err);
        bench_must(plan != NULL, &err);
        double makespan = plan_makespan(plan);
        if (makespan < best.makespan * (1 - 1e-9)) {
            best.makespan = makespan;
            best.bound = plan_objective(plan, "lower_bound");
            best.copies = (uint32_t)(plan->placements.n - w->ntasks);
            best.seed = seed;
            known_kind(plan, best.kind, sizeof best.kind);
        }
        plan_free(plan);
        if (best.bound >= best.makespan * (1 - 1e-9))
            break; /* nothing is shorter, whatever the seed */
    }
    return best;
}

/* Tell how the new row compares, and keep the better of both. */
static bool known_compare(struct known_page *page, struct known_row fresh)
{
    struct known_row *old = known_find(page, fresh.graph);
    const char *verdict = "new";
    bool beaten = false;
    if (old) {
        beaten = fresh.makespan < old->makespan * (1 - 1e-6);
        verdict = beaten                                         ? "BEATEN"
                  : fresh.makespan <= old->makespan * (1 + 1e-6) ? "as known"
                                                                 : "longer";
        /* with copies or without, the bounds speak of different plans */
        if (!beaten && (fresh.copies > 0) == (old->copies > 0) &&
            fresh.bound > old->bound * (1 + 1e-6)) {
            old->bound = fmin(fresh.bound, old->makespan);
            memcpy(old->kind, fresh.kind, sizeof old->kind);
        }
    }
    printf("%-48s %5u %14.10g %14.10g %6.2f%% %-24s %s", fresh.graph, fresh.tasks, fresh.makespan,
           fresh.bound, 100 * (fresh.makespan / fresh.bound - 1), fresh.kind, verdict);
    if (old && strcmp(verdict, "as known") != 0)
        printf(": %.10g was known", old->makespan);
    printf("\n");
    fflush(stdout);
    if (!old && page->count < KNOWN_ROWS)
        page->row[page->count++] = fresh;
    else if (beaten)
        *old = fresh;
    return beaten;
}

/* The table between the two marks of the page; what people wrote around it stays. */
static void known_write(const struct known_page *page, const char *path)
{
    static const char begin[] = "<!-- table -->\n", end[] = "<!-- end of table -->\n";
    struct error err = {0};
    struct text text = {0};
    bench_must(file_read(path, &text, &err), &err);
    char *all = strndup(text.at, text.n), *from = strstr(all, begin), *to = strstr(all, end);
    text_free(&text);
    if (!from || !to)
        error_set(&err, ERROR_INPUT, "%s: no marks around the table", path);
    bench_must(from && to, &err);
    struct strbuf out = {0};
    strbuf_printf(&out, "%.*s%s", (int)(from - all), all, begin);
    strbuf_add(&out,
               "| graph | tasks | best known | copies | bound | kind of bound | gap | seed |\n"
               "|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < page->count; i++) {
        const struct known_row *r = &page->row[i];
        strbuf_printf(&out, "| `%s` | %u | %.10g | %u | %.10g | %s | %.2f %% | %" PRIu64 " |\n",
                      r->graph, r->tasks, r->makespan, r->copies, r->bound, r->kind,
                      r->bound > 0 ? 100 * (r->makespan / r->bound - 1) : 0, r->seed);
    }
    strbuf_add(&out, to);
    bench_must(file_write(path, strbuf_text(&out), strlen(strbuf_text(&out)), &err), &err);
    strbuf_free(&out);
    free(all);
}

int quality_table(const char *path, const char *shared, const char *moves, bool write)
{
    struct known_page page = {0};
    struct error err = {0};
    uint32_t beaten = 0;
    known_read(&page, path);
    printf("auto, budget=%s, seeds 1 to %d, against %s\n", moves, KNOWN_SEEDS, path);
    for (size_t i = 0; i < sizeof known_files / sizeof *known_files; i++) {
        char file[8400];
        snprintf(file, sizeof file, "%s/data/%s", shared, known_files[i]);
        struct workflow *w = format_read_workflow(file, NULL, NULL, &err);
        struct platform *p = w ? machine_named(known_platform, &err) : NULL;
        bench_must(p != NULL, &err);
        beaten += known_compare(&page, known_plan(known_files[i], w, p, moves));
        workflow_free(w);
        platform_free(p);
    }
    for (size_t i = 0; i < quality_nsizes; i++) {
        struct rng rng;
        rng_seed(&rng, 42 + i);
        const struct quality_size *size = &quality_sizes[i];
        struct workflow *w = quality_layered(size->tasks, size->width, size->ccr, &rng);
        struct platform *p = quality_nodes(size->nodes, 4, &rng);
        char name[KNOWN_NAME];
        snprintf(name, sizeof name, "layered, %u nodes, CCR %g", size->nodes, size->ccr);
        if (size->tasks <= 3000)
            beaten += known_compare(&page, known_plan(name, w, p, moves));
        workflow_free(w);
        platform_free(p);
    }
    printf("%u of %u best known plans are beaten%s\n", beaten, page.count,
           beaten && !write ? "; --write keeps them" : "");
    if (write)
        known_write(&page, path);
    return 0;
}

/* How much of a gap is the bound? Small graphs of the same kind, which the exact search can prove. */
void quality_evidence(void)
{
    printf("\nsmall layered graphs (12 to 18 tasks in layers of 4 on 3 nodes, speeds 1 to 4), 20 "
           "each:\n"
           "%5s %7s %18s %18s %16s\n",
           "ccr", "proven", "optimum / bound", "auto / optimum", "copies / optimum");
    static const double ccrs[] = {0.1, 1, 5};
    for (size_t k = 0; k < 3; k++) {
        uint32_t proven = 0;
        double bound = 0, found = 0, copied = 0;
        for (uint32_t g = 0; g < 20; g++) {
            struct rng rng;
            rng_seed(&rng, 1000 * k + g);
            struct workflow *w = quality_layered(12 + g % 7, 4, ccrs[k], &rng);
            struct platform *p = quality_nodes(3, 4, &rng);
            struct error err = {0};
            struct option_value single[] = {{"budget", "200000moves"}, {"duplication", "false"}};
            struct option_value limit = {"limit", "5s"};
            struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
            struct plan *any = planner_run(planner_find("auto"), &request, &err);
            request.options = &limit;
            request.noptions = 1;
            struct plan *best = planner_run(planner_find("optimal"), &request, &err);
            request.options = single;
            request.noptions = 2;
            struct plan *one = planner_run(planner_find("auto"), &request, &err);
            double optimum = plan_makespan(best);
            if (plan_objective(best, "lower_bound") >= optimum * (1 - 1e-9)) {
                proven++;
                bound += optimum / quality_bound(w, p);
                found += plan_makespan(one) / optimum;
                copied += plan_makespan(any) / optimum;
            }
            plan_free(any);
            plan_free(best);
            plan_free(one);
            workflow_free(w);
            platform_free(p);
        }
        printf("%5g %7u %18.4f %18.4f %16.4f\n", ccrs[k], proven, bound / proven, found / proven,
               copied / proven);
    }
}
