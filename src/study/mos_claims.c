/* What OSU-CISRC-4/08-TR17 says in words, beside what the sections of this reproduction found. "-": the small
 * version leaves the setting out. */
#include "study/mos_study.h"

#include <math.h>
#include <stdio.h>

/* Places in the tables of mos.c: T / Tmax, CCR, k. */
enum { AT_MOST, AT_75, AT_50, AT_25, AT_ZERO };
enum { CCR_01, CCR_1, CCR_10 };
enum { K_2, K_4, K_8 };

static void claim_row(struct strbuf *md, const char *said, const char *ours)
{
    strbuf_printf(md, "| %s | %s |\n", said, ours);
}

static const struct mos_averages *claim_set(const struct mos_study *s, int ccr, int ports)
{
    const struct mos_averages *a = &s->claims.set[0][ccr][ports];
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

/* Means by k, "1.02, 1.03, 1.03". */
static void claim_by_ports(const struct mos_study *s, int ccr, int level, int scheme,
                           struct strbuf *out)
{
    for (int k = 0; k < PORTS; k++) {
        const struct mos_averages *a = claim_set(s, ccr, k);
        strbuf_add(out, k ? ", " : "");
        if (!a || (scheme >= 0 && !a->met[level][scheme]))
            strbuf_add_char(out, '-');
        else
            strbuf_printf(out, "%.3f",
                          scheme >= 0 ? a->latency[level][scheme] : a->duplication[level]);
    }
}

/* ---- section 5.1 ---- */

static void claim_guarantee(struct mos_study *s)
{
    uint32_t runs = 0;
    char text[160];
    for (int k = 0; k < LEVELS; k++)
        runs += s->claims.runs[k];
    snprintf(text, sizeof text, "missed in %u of %u runs", s->claims.missed, runs);
    claim_row(&s->md, "MOS always meets the throughput (abstract, 5.1)", text);
    snprintf(text, sizeof text, "in %u of %u runs at ~0, in %u of %u at the other four",
             s->claims.flat[AT_ZERO], s->claims.runs[AT_ZERO],
             s->claims.flat[AT_MOST] + s->claims.flat[AT_75] + s->claims.flat[AT_50] +
                 s->claims.flat[AT_25],
             runs - s->claims.runs[AT_ZERO]);
    claim_row(&s->md,
              "the schedule that is not pipelined wins in only a few cases, when T is negligible "
              "(5.1)",
              text);
}

static void claim_few_transfers(struct mos_study *s)
{
    const struct mos_averages *a = claim_set(s, CCR_01, K_2);
    struct strbuf text = {0};
    if (a)
        strbuf_printf(&text, "FCP up to %.2f; EXP %.2f at 0.25 Tmax", claim_longest(a, FCP),
                      a->latency[AT_25][EXP]);
    claim_row(&s->md,
              "CCR 0.1, k = 2: FCP up to 7 % longer, EXP up to 16 % at 0.25 Tmax (Figure 4a)",
              a ? text.at : "-");
    strbuf_clear(&text);
    strbuf_add(&text, "FCP at 0.5 Tmax, k = 2, 4, 8: ");
    claim_by_ports(s, CCR_01, AT_50, FCP, &text);
    claim_row(&s->md, "CCR 0.1: results do not change with k", text.at);
    strbuf_clear(&text);
    strbuf_add(&text, "without / with at 0.5 Tmax, k = 2, 4, 8: ");
    claim_by_ports(s, CCR_01, AT_50, -1, &text);
    claim_row(&s->md, "CCR 0.1: duplication brings nothing significant", text.at);
    strbuf_free(&text);
}

static void claim_equal_transfers(struct mos_study *s)
{
    const struct mos_averages *a = claim_set(s, CCR_1, K_4);
    struct strbuf text = {0};
    if (a)
        strbuf_printf(&text, "of %u graphs FCP meets %u and %u, EXP %u and %u; MOS all", a->graphs,
                      a->met[AT_MOST][FCP], a->met[AT_75][FCP], a->met[AT_MOST][EXP],
                      a->met[AT_75][EXP]);
    claim_row(&s->md, "CCR 1, k = 4: FCP and EXP miss Tmax and 0.75 Tmax (Figure 5)",
              a ? text.at : "-");
    strbuf_clear(&text);
    if (a)
        strbuf_printf(&text, "%.2f and %.2f", a->latency[AT_25][FCP], a->latency[AT_25][EXP]);
    claim_row(&s->md, "CCR 1, k = 4, 0.25 Tmax: FCP 1.30, EXP 1.37 (Figure 5a)", a ? text.at : "-");
    strbuf_clear(&text);
    strbuf_add(&text, "EXP at 0.25 Tmax, k = 2, 4, 8: ");
    claim_by_ports(s, CCR_1, AT_25, EXP, &text);
    claim_row(&s->md, "CCR 1: slightly larger benefit with larger k (Figure 5)", text.at);
    strbuf_clear(&text);
    strbuf_add(&text, "EXP at 0.25 Tmax, k = 2, 4, 8: ");
    claim_by_ports(s, CCR_10, AT_25, EXP, &text);
    claim_row(&s->md, "CCR 10: similar trends (Figure 6)", text.at);
    strbuf_free(&text);
}

/* Conclusion (c) of the report is the one that ours contradict; what is behind it is in docs/streams.md. */
static void claim_duplication(struct mos_study *s)
{
    static const char *const said[CCRS] = {
        "compute-intensive graphs (CCR 0.1) benefit less from duplication (conclusion c)",
        "CCR 1: up to 13 % (Figure 7), 18 % (conclusion a); none at Tmax, most near 0.5 Tmax",
        "CCR 10 benefits less than CCR 1 (conclusion c)"};
    for (int i = 0; i < CCRS; i++) {
        struct strbuf text = {0};
        const struct mos_averages *a = claim_set(s, i, K_4);
        if (a) {
            strbuf_add(&text, "k = 4, without / with at Tmax .. ~0: ");
            for (int k = 0; k < LEVELS; k++)
                strbuf_printf(&text, "%.3f%s", a->duplication[k], k + 1 < LEVELS ? ", " : "");
            strbuf_printf(&text, "; one graph %.2f", a->most_duplication);
        }
        claim_row(&s->md, said[i], a ? text.at : "-");
        strbuf_free(&text);
    }
    struct strbuf text = {0};
    strbuf_add(&text, "at 0.5 Tmax, k = 2, 4, 8: ");
    claim_by_ports(s, CCR_1, AT_50, -1, &text);
    claim_row(&s->md, "CCR 1: the gain grows with k (Figure 7, conclusion b)", text.at);
    strbuf_free(&text);
}

/* ---- sections 5.2 and 6 ---- */

static int claim_points(const struct mos_outcome *more, const struct mos_outcome *less)
{
    return (int)lround(((int)more->processors - (int)less->processors) * 100.0 / PROCESSORS);
}

static void claim_applications(struct mos_study *s)
{
    const struct mos_found *f = &s->claims;
    const struct mos_outcome *d = f->dvb[K_8][AT_ZERO];
    char text[200];
    double worst = 0;
    uint32_t missed = 0;
    static const double share[] = {1, 0.75, 0.5, 0.25};
    /* MOS meets Tmax, and nothing can exceed it */
    double most_of_dvb = f->dvb[K_8][AT_MOST][MOS].throughput;
    for (int p = 0; p < PORTS; p++)
        for (int k = 0; k < AT_ZERO; k++)
            for (int x = FCP; x <= EXP; x += EXP - FCP)
                if (!f->dvb[p][k][x].meets) {
                    worst = fmax(worst, f->dvb[p][k][x].throughput / (most_of_dvb * share[k]));
                    missed++;
                }
    snprintf(text, sizeof text, "at most %.2f of T (%u points)", worst, missed);
    claim_row(&s->md, "DVB: where FCP and EXP miss T they are at least 50 % below it", text);
    snprintf(text, sizeof text, "%d points, %.2f; EXP %.2f", claim_points(&d[FCP], &d[MOS]),
             d[FCP].latency / d[MOS].latency, d[EXP].latency / d[MOS].latency);
    claim_row(&s->md,
              "DVB at ~0, k = 8: FCP uses 25 points more processors and is 11 % longer, EXP 22 %",
              text);
    int most = 0;
    for (int k = 0; k < LEVELS; k++)
        if (f->video[k][FCP].meets)
            most = (int)fmax(most, claim_points(&f->video[k][FCP], &f->video[k][MOS]));
    snprintf(text, sizeof text, "%d points", most);
    claim_row(&s->md, "video: MOS up to 13 points fewer processors", text);
    double least = INFINITY, longest = 0;
    for (int i = 0; i < 4; i++) {
        double ratio = f->mpeg[i][EXP].latency / f->mpeg[i][MOS].latency;
        least = fmin(least, ratio);
        longest = fmax(longest, ratio);
    }
    snprintf(text, sizeof text, "%d points; EXP %.0f %% to %.0f %%",
             claim_points(&f->mpeg[2][FCP], &f->mpeg[2][MOS]), 100 * (least - 1),
             100 * (longest - 1));
    claim_row(&s->md, "MPEG: MOS up to 28 points fewer processors; EXP 12 % to 36 % longer", text);
}

static void claim_inverse(struct mos_study *s)
{
    double least = INFINITY;
    char text[200];
    for (int i = 0; i < CCRS; i++)
        for (int k = 0; k < PORTS; k++)
            for (int l = 1; l < SHARES; l++) {
                const struct inverse_totals *t = &s->claims.inverse[i][k];
                for (int x = FCP; x < SCHEMES; x++)
                    if (t->found[l][MOS] && t->found[l][x] == t->found[l][MOS])
                        least = fmin(least, t->sum[l][x] / t->found[l][MOS]);
            }
    snprintf(text, sizeof text, "%.0f %% more than the worst scheme that kept every latency",
             100 * (1 / least - 1));
    claim_row(&s->md, "MOS⁻¹: up to 60 % more throughput than the others (Figure 9)",
              isfinite(least) ? text : "-");
}

void mos_claims(struct mos_study *s)
{
    strbuf_add(&s->md, "\n## The report's words\n\nLatencies are means, relative to MOS, of graphs "
                       "by TGFF's method.\n\n| the report | ours |\n| --- | --- |\n");
    claim_guarantee(s);
    claim_few_transfers(s);
    claim_equal_transfers(s);
    claim_duplication(s);
    claim_applications(s);
    claim_inverse(s);
}
