/* What OSU-CISRC-4/08-TR17 says in words, beside what the sections of this reproduction found, and why ours
 * differ where they do.
 *
 * Synthetic graphs are of two kinds: by TGFF's method, whose graphs are nearly trees, and with the 4 edges a
 * task that the report states. A cell begins with a verdict, which is computed: "yes", "no", or "more" where
 * MOS's advantage is larger than the report's. "-": the small version leaves the setting out. */
#include "study/mos_claims.h"

#include "base/plural.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TGFF, DENSE, KINDS }; /* as in mos_found.set */

/* A row with a cell for each kind of graph, and one where both are meant. */
static void claim_row(struct strbuf *md, const char *said, const struct strbuf cell[KINDS])
{
    strbuf_printf(md, "| %s | %s | %s |\n", said, strbuf_text(&cell[TGFF]),
                  strbuf_text(&cell[DENSE]));
}

void claim_row_alone(struct strbuf *md, const char *said, const char *verdict, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    strbuf_printf(md, "| %s | %s: %s | |\n", said, verdict, text);
}

const char *claim_yes(bool good)
{
    return good ? "yes" : "no";
}

/* NULL: left out. */
static const struct mos_averages *claim_set(const struct mos_study *s, int kind, int ccr, int ports)
{
    const struct mos_averages *a = &s->claims.set[kind][ccr][ports];
    return a->graphs ? a : NULL;
}

/* The longest mean latency of a scheme over all throughputs that it met. */
static double claim_longest(const struct mos_averages *a, int scheme)
{
    double most = 0;
    for (int k = 0; k < LEVELS; k++)
        if (a->met[k][scheme])
            most = fmax(most, a->latency[k][scheme]);
    return most;
}

/* The mean over all throughputs of what duplication gains. */
static double claim_gain(const struct mos_averages *a)
{
    double sum = 0;
    for (int k = 0; k < LEVELS; k++)
        sum += a->duplication[k];
    return sum / LEVELS;
}

/* Figures of one setting at k = 2, 4, 8; NAN: left out, or the scheme met the throughput nowhere. */
struct claim_ports {
    double at[PORTS];
};

static struct claim_ports claim_latencies(const struct mos_study *s, int kind, int ccr, int level,
                                          int scheme)
{
    struct claim_ports p;
    for (int k = 0; k < PORTS; k++) {
        const struct mos_averages *a = claim_set(s, kind, ccr, k);
        p.at[k] = a && a->met[level][scheme] ? a->latency[level][scheme] : NAN;
    }
    return p;
}

static struct claim_ports claim_gains(const struct mos_study *s, int kind, int ccr)
{
    struct claim_ports p;
    for (int k = 0; k < PORTS; k++) {
        const struct mos_averages *a = claim_set(s, kind, ccr, k);
        p.at[k] = a ? claim_gain(a) : NAN;
    }
    return p;
}

static bool claim_ports_there(const struct claim_ports *p)
{
    return !isnan(p->at[K_2]) && !isnan(p->at[K_4]) && !isnan(p->at[K_8]);
}

static bool claim_ports_rise(const struct claim_ports *p)
{
    return p->at[K_2] <= p->at[K_4] + 1e-3 && p->at[K_4] <= p->at[K_8] + 1e-3 &&
           p->at[K_2] < p->at[K_8];
}

static bool claim_ports_alike(const struct claim_ports *p)
{
    double least = fmin(p->at[K_2], fmin(p->at[K_4], p->at[K_8])),
           most = fmax(p->at[K_2], fmax(p->at[K_4], p->at[K_8]));
    return most - least <= claim_hair;
}

/* "yes: 1.02, 1.03, 1.03" */
static void claim_ports_cell(struct strbuf *out, const struct claim_ports *p, bool good)
{
    if (claim_ports_there(p))
        strbuf_printf(out, "%s: %.3f, %.3f, %.3f", claim_yes(good), p->at[K_2], p->at[K_4],
                      p->at[K_8]);
    else
        strbuf_add_char(out, '-');
}

static void claim_row_ports(struct strbuf *md, const char *said, const struct claim_ports p[KINDS],
                            bool (*holds)(const struct claim_ports *))
{
    struct strbuf cell[KINDS] = {{0}};
    for (int kind = 0; kind < KINDS; kind++)
        claim_ports_cell(&cell[kind], &p[kind], holds(&p[kind]));
    claim_row(md, said, cell);
    for (int kind = 0; kind < KINDS; kind++)
        strbuf_free(&cell[kind]);
}

/* A row about one setting. `tell` writes the cell. */
static void claim_row_set(struct mos_study *s, const char *said, int ccr, int ports,
                          void (*tell)(struct mos_study *s, int kind, const struct mos_averages *a,
                                       struct strbuf *out))
{
    struct strbuf cell[KINDS] = {{0}};
    for (int kind = 0; kind < KINDS; kind++) {
        const struct mos_averages *a = claim_set(s, kind, ccr, ports);
        if (a)
            tell(s, kind, a, &cell[kind]);
        else
            strbuf_add_char(&cell[kind], '-');
    }
    claim_row(&s->md, said, cell);
    for (int kind = 0; kind < KINDS; kind++)
        strbuf_free(&cell[kind]);
}

/* ---- section 5.1 ---- */

static void claim_always_met(struct mos_study *s, int kind, const struct mos_averages *a,
                             struct strbuf *out)
{
    (void)a;
    uint32_t runs = 0, missed = s->claims.missed[kind];
    for (int k = 0; k < LEVELS; k++)
        runs += s->claims.runs[kind][k];
    strbuf_printf(out, "%s: missed in %u of %u runs", claim_yes(!missed), missed, runs);
}

static void claim_seldom_flat(struct mos_study *s, int kind, const struct mos_averages *a,
                              struct strbuf *out)
{
    (void)a;
    const uint32_t *flat = s->claims.flat[kind], *runs = s->claims.runs[kind];
    uint32_t above = flat[AT_MOST] + flat[AT_75] + flat[AT_50] + flat[AT_25];
    strbuf_printf(out, "%s: in %u of %u runs at ~0, in %u at more",
                  claim_yes(!above && flat[AT_ZERO] * 4 < runs[AT_ZERO]), flat[AT_ZERO],
                  runs[AT_ZERO], above);
}

const char *claim_beside(double ours, double published)
{
    return ours > published + claim_hair ? "more" : claim_yes(ours >= published - claim_hair);
}

static void claim_figure_4a(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    (void)s, (void)kind;
    double fcp = claim_longest(a, FCP), expert = a->latency[AT_25][EXP];
    strbuf_printf(out, "FCP %s: %.2f; EXP %s: %.2f", claim_beside(fcp, 1.07), fcp,
                  claim_beside(expert, 1.16), expert);
}

static void claim_little_gain(struct mos_study *s, int kind, const struct mos_averages *a,
                              struct strbuf *out)
{
    (void)s, (void)kind;
    strbuf_printf(out, "%s: %.3f, one graph %.2f", claim_yes(claim_gain(a) <= 1 + claim_hair),
                  claim_gain(a), a->most_duplication);
}

static void claim_others_miss(struct mos_study *s, int kind, const struct mos_averages *a,
                              struct strbuf *out)
{
    (void)s, (void)kind;
    uint32_t met = 0;
    for (int k = AT_MOST; k <= AT_75; k++)
        met += a->met[k][FCP] + a->met[k][FCP_E] + a->met[k][EXP] + a->met[k][EXP_E];
    strbuf_printf(out, "%s: %u of %u graphs met by any of them, MOS %u", claim_yes(!met), met,
                  2 * a->graphs, a->met[AT_MOST][MOS] + a->met[AT_75][MOS]);
}

static void claim_figure_5a(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    (void)s, (void)kind;
    static const int scheme[] = {FCP, EXP};
    static const double published[] = {1.30, 1.37};
    static const char *const name[] = {"FCP", "; EXP"};
    for (int i = 0; i < 2; i++) {
        double ours = a->latency[AT_25][scheme[i]];
        strbuf_add(out, name[i]);
        if (a->met[AT_25][scheme[i]])
            strbuf_printf(out, " %s: %.2f (%u graphs)", claim_beside(ours, published[i]), ours,
                          a->met[AT_25][scheme[i]]);
        else
            strbuf_add(out, " no: misses T");
    }
}

/* Processors, over the throughputs that FCP met. */
static void claim_fewer_than_fcp(struct mos_study *s, int kind, const struct mos_averages *a,
                                 struct strbuf *out)
{
    (void)s, (void)kind;
    uint32_t met = 0, fewer = 0;
    for (int k = 0; k < LEVELS; k++) {
        met += a->met[k][FCP] > 0;
        fewer += a->met[k][FCP] && a->use[k][MOS] < a->use[k][FCP];
    }
    strbuf_printf(out, "%s: at %u of %u throughputs", claim_yes(met && fewer == met), fewer, met);
}

static void claim_expert_longer(struct mos_study *s, int kind, const struct mos_averages *a,
                                struct strbuf *out)
{
    (void)s, (void)kind;
    uint32_t met = 0, so = 0;
    for (int k = AT_50; k < LEVELS; k++) {
        met += a->met[k][EXP] > 0;
        so += a->met[k][EXP] && a->use[k][EXP] < a->use[k][MOS] &&
              a->latency[k][EXP] > 1 + claim_hair;
    }
    strbuf_printf(out, "%s: at %u of %u throughputs, at ~0 %.2f times as long",
                  claim_yes(met && so == met), so, met, a->latency[AT_ZERO][EXP]);
}

static void claim_modified(struct mos_study *s, int kind, const struct mos_averages *a,
                           struct strbuf *out)
{
    (void)s, (void)kind;
    double apart = 0;
    for (int k = 0; k < LEVELS; k++)
        for (int x = FCP; x <= EXP; x += EXP - FCP)
            if (a->met[k][x] && a->met[k][x + 1])
                apart = fmax(apart, fabs(a->latency[k][x] - a->latency[k][x + 1]));
    strbuf_printf(out, "%s: at most %.3f apart", claim_yes(apart <= claim_hair), apart);
}

/* All settings together. */
static void claim_shortest(struct mos_study *s, int kind, const struct mos_averages *unused,
                           struct strbuf *out)
{
    (void)unused;
    double least = INFINITY;
    uint32_t means = 0, shorter = 0, graphs = 0;
    for (int i = 0; i < CCRS; i++)
        for (int p = 0; p < PORTS; p++) {
            const struct mos_averages *a = claim_set(s, kind, i, p);
            for (int k = 0; a && k < LEVELS; k++)
                for (int x = FCP; x < SCHEMES; x++) {
                    if (!a->met[k][x])
                        continue;
                    means++;
                    shorter += a->latency[k][x] < 1;
                    if (a->latency[k][x] < least) {
                        least = a->latency[k][x];
                        graphs = a->met[k][x];
                    }
                }
        }
    strbuf_printf(out, "%s: shorter in %u of %u means, the least %.3f (%u graph%s)",
                  claim_yes(!shorter), shorter, means, least, graphs, plural(graphs));
}

/* Against CCR 0.1 at the same k. */
static void claim_miss_more(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    const struct mos_averages *few = claim_set(s, kind, CCR_01, K_4);
    uint32_t met[2] = {0};
    if (!few) {
        strbuf_add_char(out, '-');
        return;
    }
    for (int k = 0; k < LEVELS; k++)
        for (int x = FCP; x < SCHEMES; x++) {
            met[0] += few->met[k][x];
            met[1] += a->met[k][x];
        }
    strbuf_printf(out, "%s: met in %u of %u runs, at CCR 0.1 in %u", claim_yes(met[1] < met[0]),
                  met[1], a->graphs * LEVELS * (SCHEMES - FCP), met[0]);
}

static void claim_more_benefit(struct mos_study *s, int kind, const struct mos_averages *a,
                               struct strbuf *out)
{
    const struct mos_averages *few = claim_set(s, kind, CCR_01, K_4);
    if (!few || !a->met[AT_25][FCP_E] || !a->met[AT_25][EXP_E]) {
        strbuf_add_char(out, '-');
        return;
    }
    const double *now = a->latency[AT_25], *then = few->latency[AT_25];
    strbuf_printf(out, "%s: FCP-e %.2f, at CCR 0.1 %.2f; EXP-e %.2f and %.2f",
                  claim_yes(now[FCP_E] > then[FCP_E] && now[EXP_E] > then[EXP_E]), now[FCP_E],
                  then[FCP_E], now[EXP_E], then[EXP_E]);
}

/* ---- duplication ---- */

/* Where the gain is largest. */
static int claim_peak(const struct mos_averages *a)
{
    int best = 0;
    for (int k = 1; k < LEVELS; k++)
        if (a->duplication[k] > a->duplication[best])
            best = k;
    return best;
}

static const char *const claim_level[LEVELS] = {"Tmax", "0.75 Tmax", "0.5 Tmax", "0.25 Tmax", "~0"};

static void claim_gain_none(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    (void)s, (void)kind;
    strbuf_printf(out, "%s: %.3f", claim_yes(a->duplication[AT_MOST] < 1 + claim_hair),
                  a->duplication[AT_MOST]);
}

/* Figure 7 has k = 4 and k = 8. */
static void claim_gain_peak(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    const struct mos_averages *more = claim_set(s, kind, CCR_1, K_8);
    if (!more) {
        strbuf_add_char(out, '-');
        return;
    }
    int peak = claim_peak(a), other = claim_peak(more);
    strbuf_printf(out, "%s: at %s, at %s", claim_yes(peak == AT_50 && other == AT_50),
                  claim_level[peak], claim_level[other]);
}

static void claim_gain_most(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    (void)s, (void)kind;
    double most = a->duplication[claim_peak(a)];
    strbuf_printf(out, "%s: %.2f, one graph %.2f", claim_beside(most, 1.18), most,
                  a->most_duplication);
}

/* Against CCR 1 at the same k. */
static void claim_gain_less(struct mos_study *s, int kind, const struct mos_averages *a,
                            struct strbuf *out)
{
    const struct mos_averages *even = claim_set(s, kind, CCR_1, K_4);
    if (even)
        strbuf_printf(out, "%s: %.3f, CCR 1 %.3f", claim_yes(claim_gain(a) < claim_gain(even)),
                      claim_gain(a), claim_gain(even));
    else
        strbuf_add_char(out, '-');
}

static void claim_synthetic(struct mos_study *s)
{
    struct strbuf *md = &s->md;
    struct claim_ports p[KINDS];
    claim_row_set(s, "MOS always meets the throughput (abstract, 5.1)", CCR_01, K_2,
                  claim_always_met);
    claim_row_set(s, "no scheme has shorter latencies than MOS (abstract, 5.1; all settings)",
                  CCR_01, K_2, claim_shortest);
    claim_row_set(s,
                  "the schedule that is not pipelined wins in only a few cases, when T is "
                  "negligible (5.1)",
                  CCR_01, K_2, claim_seldom_flat);
    claim_row_set(s,
                  "CCR 0.1, k = 2: FCP up to 7 % longer, EXP up to 16 % at 0.25 Tmax (Figure 4a)",
                  CCR_01, K_2, claim_figure_4a);
    claim_row_set(s, "CCR 0.1, k = 2: the modified schemes are like the original ones (Figure 4a)",
                  CCR_01, K_2, claim_modified);
    claim_row_set(s, "CCR 0.1, k = 2: MOS uses fewer processors than FCP (Figure 4b)", CCR_01, K_2,
                  claim_fewer_than_fcp);
    claim_row_set(s, "CCR 0.1, k = 2: EXP uses fewer still up to 0.5 Tmax, and takes longer",
                  CCR_01, K_2, claim_expert_longer);
    for (int kind = 0; kind < KINDS; kind++)
        p[kind] = claim_latencies(s, kind, CCR_01, AT_50, FCP);
    claim_row_ports(md, "CCR 0.1: results do not change with k (FCP at 0.5 Tmax, k = 2, 4, 8)", p,
                    claim_ports_alike);
    claim_row_set(s, "CCR 0.1: duplication brings nothing significant (5.1; mean over T)", CCR_01,
                  K_2, claim_little_gain);
    claim_row_set(s, "CCR 1, k = 4: only MOS meets Tmax and 0.75 Tmax (Figure 5)", CCR_1, K_4,
                  claim_others_miss);
    claim_row_set(s, "CCR 1, k = 4: the others miss T more often than at CCR 0.1", CCR_1, K_4,
                  claim_miss_more);
    claim_row_set(s, "CCR 1, k = 4: MOS's advantage is more than at CCR 0.1 (at 0.25 Tmax)", CCR_1,
                  K_4, claim_more_benefit);
    claim_row_set(s, "CCR 1, k = 4, 0.25 Tmax: FCP 1.30, EXP 1.37 (Figure 5a)", CCR_1, K_4,
                  claim_figure_5a);
    for (int kind = 0; kind < KINDS; kind++)
        p[kind] = claim_latencies(s, kind, CCR_1, AT_25, FCP_E);
    claim_row_ports(
        md,
        "CCR 1: slightly larger benefit with larger k (Figure 5; FCP-e at 0.25 Tmax, k = 2, 4, 8)",
        p, claim_ports_rise);
    for (int kind = 0; kind < KINDS; kind++)
        p[kind] = claim_latencies(s, kind, CCR_10, AT_ZERO, FCP_E);
    claim_row_ports(md, "CCR 10: similar trends (Figure 6; FCP-e at ~0, k = 2, 4, 8)", p,
                    claim_ports_rise);
    claim_row_set(s, "CCR 1, k = 4: duplication gains nothing at Tmax (Figure 7)", CCR_1, K_4,
                  claim_gain_none);
    claim_row_set(s, "CCR 1: it gains most near 0.5 Tmax (Figure 7; k = 4 and 8)", CCR_1, K_4,
                  claim_gain_peak);
    claim_row_set(s, "CCR 1: it gains up to 13 % (Figure 7), 18 % (conclusion a)", CCR_1, K_4,
                  claim_gain_most);
    for (int kind = 0; kind < KINDS; kind++)
        p[kind] = claim_gains(s, kind, CCR_1);
    claim_row_ports(
        md, "CCR 1: the gain grows with k (Figure 7, conclusion b; mean over T, k = 2, 4, 8)", p,
        claim_ports_rise);
    claim_row_set(s,
                  "CCR 0.1 benefits less from duplication than CCR 1 (conclusion c; mean over T)",
                  CCR_01, K_4, claim_gain_less);
    claim_row_set(s, "CCR 10 benefits less than CCR 1 (conclusion c; mean over T)", CCR_10, K_4,
                  claim_gain_less);
}

/* ---- why ours differ ---- */

static void why_use_row(struct strbuf *md, const char *name, const double *use)
{
    strbuf_printf(md, "| %s |", name);
    for (int k = AT_75; k < LEVELS; k++)
        strbuf_printf(md, " %.2f |", use[k]);
    strbuf_add_char(md, '\n');
}

static void why_use_scheme(struct strbuf *md, const char *name, const struct mos_averages *a)
{
    double use[LEVELS];
    for (int k = 0; k < LEVELS; k++)
        use[k] = a->use[k][MOS];
    why_use_row(md, name, use);
}

/* Are the published figures between ours with and without duplication? At more than half of Tmax all
 * processors are in use anyway. */
static bool why_between(const struct mos_averages *a)
{
    bool good = true;
    for (int k = AT_50; k < LEVELS; k++)
        good &= a->plain_use[k] <= mos_figure_4b[k][MOS] + claim_hair &&
                a->use[k][MOS] >= mos_figure_4b[k][MOS] - claim_hair;
    return good;
}

/* The experiment behind it: the kind of graph and duplication, each changed alone. */
static void why_processors(struct mos_study *s, const struct mos_averages *tgff,
                           const struct mos_averages *dense)
{
    struct strbuf *md = &s->md;
    double published[LEVELS], copies = 0;
    for (int k = 0; k < LEVELS; k++) {
        published[k] = mos_figure_4b[k][MOS];
        copies = fmax(copies, dense->use[k][MOS] - dense->plain_use[k]);
    }
    strbuf_add(md, "\n**Processors of MOS (Figure 4(b)), CCR 0.1, k = 2.**\n\n| processors / 32 at "
                   "T / Tmax | 0.75 | 0.5 | 0.25 | ~0 |\n| --- | --- | --- | --- | --- |\n");
    why_use_row(md, "published", published);
    why_use_scheme(md, "TGFF's method", tgff);
    why_use_row(md, "TGFF's method, without duplication", tgff->plain_use);
    why_use_scheme(md, "4 edges a task", dense);
    why_use_row(md, "4 edges a task, without duplication", dense->plain_use);
    strbuf_printf(
        md,
        "\nGraphs by TGFF's method have %.1f edges a task, where the report states 4: with few "
        "edges "
        "more clusters lie beside the critical path, where nothing merges them. And copies take "
        "processors: with 4 edges a task up to %.0f of the 32, for at most %.1f %% of the latency "
        "(the report: not significantly).",
        tgff->edges / (double)tgff->tasks, PROCESSORS * copies,
        100 * (1 - 1 / dense->duplication[claim_peak(dense)]));
    if (why_between(dense))
        strbuf_add(md, " The published figures lie between ours with and without duplication: the "
                       "report's MOS copies less than ours, in which ancestors follow a copy. How "
                       "much it copies the report does not say.");
    strbuf_add_char(md, '\n');
}

static void why_duplication(struct mos_study *s)
{
    struct claim_ports ports = claim_gains(s, DENSE, CCR_1);
    const struct mos_averages *even = claim_set(s, DENSE, CCR_1, K_4),
                              *long_ones = claim_set(s, DENSE, CCR_10, K_4);
    bool both = claim_ports_there(&ports) && claim_ports_rise(&ports) && even && long_ones &&
                claim_gain(long_ones) < claim_gain(even);
    strbuf_printf(&s->md,
                  "\n**Duplication (conclusions b and c).** By TGFF's method graphs are nearly "
                  "trees. A copy there needs few ancestors, so that it pays also where transfers "
                  "are long or ports few. %s\n",
                  both ? "With the 4 edges a task that the report states, both conclusions are "
                         "ours, too (means over T, above)."
                       : "With the 4 edges a task that the report states, not both conclusions "
                         "are ours either; why is not known.");
}

static void why_section(struct mos_study *s)
{
    const struct mos_averages *tgff = claim_set(s, TGFF, CCR_01, K_2),
                              *dense = claim_set(s, DENSE, CCR_01, K_2);
    if (!tgff || !dense)
        return;
    strbuf_add(&s->md, "\n## Why ours differ\n");
    why_processors(s, tgff, dense);
    why_duplication(s);
    strbuf_add(
        &s->md,
        "\n**Where duplication gains most (Figure 7).** Its gain at each T stands in the tables "
        "above. "
        "Where it is largest moves with the graphs that are drawn (`--seed`), with k and with the "
        "kind of "
        "graph. Why the report's maxima are all near 0.5 Tmax is not known.\n\n**CCR 10 and k.** "
        "Schemes other than MOS meet the throughput on "
        "all graphs at ~0 only, "
        "and there MOS's advantage does not follow k. Why is not known.\n\n**Figure 5(a), and "
        "FCP shorter than MOS.** FCP is "
        "judged without a limit of ports, as in the report, MOS with k. EXPERT meets the "
        "throughput "
        "on few graphs, so its mean moves with the graphs that are drawn.\n\n**DVB and MPEG.** The "
        "graphs are stand-ins, made from what the tables imply. What the tables do not imply, such "
        "as how far FCP misses T, is not known of the originals. The divisions of our MPEG are "
        "alike, so one ratio holds for any number of them.\n");
}

/* The verdicts of the table whose rows begin at `rows`: a cell begins with one, or has several. */
static void claim_count(struct mos_study *s, size_t rows)
{
    for (const char *row = strbuf_text(&s->md) + rows; *row == '|';) {
        size_t n = strcspn(row, "\n");
        char *line = mem_copy_bytes(row, n);
        const char *cells = strchrnul(line + 1, '|');
        bool fails = strstr(cells, " no: ") != NULL;
        bool judged = fails || strstr(cells, " yes: ") || strstr(cells, " more: ");
        s->claims.words += judged;
        s->claims.held += judged && !fails;
        free(line);
        row += n + (row[n] != 0);
    }
}

bool mos_claims(struct mos_study *s)
{
    strbuf_add(&s->md, "\n## The report's words\n\nLatencies are means, relative to MOS; gains of "
                       "duplication are latency without / with it. \"More\": MOS's advantage is "
                       "larger than published.\n\n| the report | ours: graphs by TGFF's method | "
                       "4 edges a task |\n| --- | --- | --- |\n");
    size_t rows = s->md.n;
    claim_synthetic(s);
    if (!claim_applications(s))
        return false;
    claim_inverse(s);
    claim_count(s, rows);
    why_section(s);
    return true;
}
