/* The head of `weft reproduce mos`: written last, from what all sections found. */
#include "base/plural.h"
#include "study/mos_study.h"

#include <math.h>

/* Every numbered figure and table of the report, and what it says in words. */
static const char contents[] =
    "| in the report | here |\n| --- | --- |\n"
    "| Figures 1 to 3 | Worked examples |\n"
    "| Algorithms | planner `mos`, its inverse with `--set latency` (docs/streams.md) |\n"
    "| Figures 4 to 6 | Synthetic graphs: CCR 0.1, 1 and 10 (with --quick 0.1 and 1) |\n"
    "| Figure 7 | the lines on duplication there |\n"
    "| Tables 1 and 2, 3 and 4, 5 and 6 | Applications, the ratios and the processors used |\n"
    "| Figure 8 | MPEG compression |\n"
    "| Figure 9 | The inverse |\n"
    "| Section 3, times that fluctuate | Fluctuating times |\n"
    "| Sections 5 to 7 in words | The report's words, Why ours differ |\n"
    "| nothing there | Promise and replay, Executed |\n";

static void mos_find(const struct mos_study *s, struct findings *f)
{
    static const char *const names[SCHEMES] = {"MOS", "FCP", "FCP-e", "EXP", "EXP-e"};
    uint32_t runs = 0, missed = 0;
    for (int kind = 0; kind < 2; kind++) {
        missed += s->claims.missed[kind];
        for (int i = 0; i < LEVELS; i++)
            runs += s->claims.runs[kind][i];
    }
    findings_say(
        f, s->examples_agree == s->examples,
        "%u of %u quantities of the worked examples (Figures 1 to 3, section 4.1.3) are as "
        "published.",
        s->examples_agree, s->examples);
    findings_say(f, s->claims.held == s->claims.words,
                 "Of what the report says in words of Figures 4 to 9 and Tables 1 to 6, %u of %u "
                 "statements that are judged here hold with every kind of graph (The report's "
                 "words).",
                 s->claims.held, s->claims.words);
    findings_say(f, !missed, "MOS misses its throughput in %u of %u runs, published: never.",
                 missed, runs);
    for (int x = FCP; x < SCHEMES; x++) {
        const struct mos_tally *t = &s->tally[x];
        if (!t->points)
            continue;
        double ours = t->ours / t->points, published = t->published / t->points;
        findings_say(f, fabs(ours - published) <= 0.05 * published,
                     "Latency of %s over that of MOS, mean of the %u points that both have (Tables "
                     "1, 3 and 5, Figures 4, 5 and 8): %.3f, published %.3f.",
                     names[x], t->points, ours, published);
        if (t->missed)
            findings_say(f, false,
                         "%s misses the throughput at %u point%s that it is published for.",
                         names[x], t->missed, plural(t->missed));
        if (t->met)
            findings_say(f, false,
                         "%s meets the throughput at %u point%s where it is published to miss it.",
                         names[x], t->met, plural(t->met));
    }
}

void mos_write_head(const struct mos_study *s, struct strbuf *md)
{
    bool quick = s->o->quick;
    struct findings f = {0};
    mos_find(s, &f);
    strbuf_printf(
        md,
        "# MOS: latency and throughput of streams\n\nVydyanathan et al., *Optimizing Latency and "
        "Throughput of Application Workflows on Clusters*, OSU-CISRC-4/08-TR17: sections 5 and 6, "
        "on 32 processors. `weft reproduce mos%s --seed %llu`. Means agree here when they are "
        "within 5 %%.\n\n",
        quick ? " --quick" : "", (unsigned long long)s->o->seed);
    findings_write(
        &f, md,
        "The application graphs are **stand-ins**, FCP and EXPERT are reconstructed from the "
        "report, and synthetic graphs are drawn anew; section by section stands what the report "
        "says in words.",
        "The application graphs: the originals are lost, and these were made from the text and "
        "from "
        "what its tables imply (processor counts of FCP are built in, those of MOS and the missing "
        "entries are not). The graphs of Figures 1 and 3, which are reconstructed. The values of "
        "bars that no text names: Figures 4 to 9 are drawings.");
    strbuf_printf(
        md,
        "Synthetic graphs: %u graphs of 10 to %u tasks, times uniform with mean 30, edges "
        "uniform with mean 30 CCR.\n\n%s",
        mos_graph_count(s), quick ? 16 : 50, contents);
}
