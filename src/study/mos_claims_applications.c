/* What OSU-CISRC-4/08-TR17 says in words of its applications (section 5.2), of chains (5.1) and of throughput at a
 * latency (section 6), beside ours. Verdicts are computed, as in mos_claims.c. */
#include "study/mos_claims.h"

#include "model/builder.h"
#include "plan/stream/mos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t claim_ports_of[PORTS] = {2, 4, 8};
static const double claim_share[LEVELS] = {1, 0.75, 0.5, 0.25, 0};

/* ---- runs of its own ---- */

/* MOS on one graph. */
static struct mos_outcome claim_run(const struct stream_graph *g, uint32_t ports, double throughput,
                                    bool duplication)
{
    struct stream_problem q;
    struct mos_result r = {0};
    stream_problem_init(&q, g, ports);
    q.throughput = throughput;
    q.duplication = duplication;
    mos_run(&q, &r);
    struct mos_outcome out = {r.meets, r.latency, r.throughput, r.state.processors, r.pipelined};
    mos_result_free(&r);
    stream_problem_free(&q);
    return out;
}

static struct workflow *claim_chain(uint32_t n, struct error *err)
{
    struct builder *b = builder_new("<chain>", "chain");
    char name[16];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i + 1), 0);
        builder_work(b, t, 10 + 7 * i % 40, 0);
        if (i)
            builder_data_edge(b, t - 1, t, 30, 0);
    }
    return builder_finish(b, err);
}

/* The least latency of a chain is the sum of its tasks, and all its replicas together reach Tmax. */
static bool claim_chains(struct mos_study *s)
{
    static const uint32_t lengths[] = {2, 5, 10, 20, 50};
    uint32_t runs = 0, optimal = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct workflow *w = claim_chain(lengths[i], s->err);
        if (!w)
            return false;
        struct stream_graph *g = stream_graph_new(w, s->platform);
        for (int k = 0; k < LEVELS; k++, runs++) {
            struct mos_outcome out = claim_run(g, 2, claim_share[k] * PROCESSORS / g->total, true);
            optimal += out.meets && out.latency <= g->total * (1 + STREAM_TOLERANCE);
        }
        stream_graph_free(g);
        workflow_free(w);
    }
    claim_row_alone(&s->md, "chains: latency and throughput of MOS are optimal (5.1)",
                    claim_yes(optimal == runs), "%u of %u plans, 2 to 50 tasks, Tmax to ~0",
                    optimal, runs);
    return true;
}

/* How far the latency of MOS moves with k, and what duplication gains: ratios, the largest. */
struct claim_moves {
    double ports, duplication;
};

static void claim_graph_moves(const struct stream_graph *g, double throughput,
                              struct claim_moves *m)
{
    double least = INFINITY, most = 0;
    for (int k = 0; k < PORTS; k++) {
        double with = claim_run(g, claim_ports_of[k], throughput, true).latency;
        double without = claim_run(g, claim_ports_of[k], throughput, false).latency;
        least = fmin(least, with);
        most = fmax(most, with);
        m->duplication = fmax(m->duplication, without / with);
    }
    m->ports = fmax(m->ports, most / least);
}

/* Of `mpeg` the throughput is given, of the others all shares of Tmax are tried. Takes the workflow. */
static bool claim_moves_of(struct mos_study *s, struct workflow *w, double mpeg,
                           struct claim_moves *m)
{
    if (!w)
        return false;
    struct stream_graph *g = stream_graph_new(w, s->platform);
    for (int k = 0; k < (mpeg > 0 ? 1 : LEVELS); k++)
        claim_graph_moves(g, mpeg > 0 ? mpeg : claim_share[k] * PROCESSORS / g->total, m);
    stream_graph_free(g);
    workflow_free(w);
    return true;
}

/* Those whose heavy tasks bound the latency. */
static bool claim_unmoved(struct mos_study *s)
{
    static const unsigned divisions[] = {2, 4, 8, 16};
    struct claim_moves m = {1, 1};
    bool good = claim_moves_of(s, mos_graph("video", s->err), 0, &m) &&
                claim_moves_of(s, mos_graph("placenta", s->err), 0, &m);
    for (int i = 0; good && i < 4; i++)
        good = claim_moves_of(s, mos_graph_mpeg(divisions[i], s->err), divisions[i] / 700.0, &m);
    if (!good)
        return false;
    claim_row_alone(&s->md, "video, MPEG, placenta: k changes nothing (2, 4, 8)",
                    claim_yes(m.ports <= 1 + claim_hair), "latencies of MOS at most %.1f %% apart",
                    100 * (m.ports - 1));
    claim_row_alone(&s->md, "video, MPEG, placenta: duplication gains nothing",
                    claim_yes(m.duplication <= 1 + claim_hair), "at most %.1f %%",
                    100 * (m.duplication - 1));
    return true;
}

/* ---- section 5.2 ---- */

static int claim_points(const struct mos_outcome *more, const struct mos_outcome *less)
{
    return (int)lround(((int)more->processors - (int)less->processors) * 100.0 / PROCESSORS);
}

/* Above 0.25 Tmax the report has no numbers, and says that only MOS meets the throughput. */
static void claim_dvb_missed(struct mos_study *s)
{
    uint32_t met = 0, runs = 0;
    for (int p = 0; p < PORTS; p++)
        for (int k = AT_MOST; k <= AT_50; k++)
            for (int x = FCP; x < SCHEMES; x++, runs++)
                met += s->claims.dvb[p][k][x].meets;
    claim_row_alone(&s->md, "DVB: above 0.25 Tmax only MOS meets the throughput", claim_yes(!met),
                    "the others in %u of %u runs", met, runs);
}

/* Where FCP meets the throughput; and MOS's advantage at ~0 by k. */
static void claim_dvb_fcp(struct mos_study *s)
{
    uint32_t runs = 0, better = 0;
    double longer[PORTS];
    for (int p = 0; p < PORTS; p++) {
        for (int k = 0; k < LEVELS; k++) {
            const struct mos_outcome *d = s->claims.dvb[p][k];
            runs += d[FCP].meets;
            better += d[FCP].meets && d[MOS].latency < d[FCP].latency &&
                      d[MOS].processors < d[FCP].processors;
        }
        const struct mos_outcome *slow = s->claims.dvb[p][AT_ZERO];
        longer[p] = slow[FCP].latency / slow[MOS].latency;
    }
    claim_row_alone(&s->md, "DVB: where FCP meets T, MOS is shorter and uses fewer processors",
                    claim_yes(runs && better == runs), "in %u of %u runs", better, runs);
    claim_row_alone(&s->md, "DVB: MOS's advantage grows with k (FCP at ~0, k = 2, 4, 8)",
                    claim_yes(longer[K_2] < longer[K_4] && longer[K_4] < longer[K_8]),
                    "%.2f, %.2f, %.2f", longer[K_2], longer[K_4], longer[K_8]);
}

/* Video, placenta and MPEG: latencies are those of heavy tasks, so processors are what differs. */
static void claim_heavy(struct mos_study *s)
{
    const struct mos_found *f = &s->claims;
    uint32_t others = 0, runs = 0, fewer = 0, least = 0;
    double longest = 1;
    for (int x = FCP; x < SCHEMES; x++)
        others += f->video[AT_MOST][x].meets;
    for (int k = 0; k < LEVELS; k++) {
        const struct mos_outcome *v = f->video[k], *p = f->placenta[k];
        longest = v[FCP].meets ? fmax(longest, v[FCP].latency / v[MOS].latency) : longest;
        longest = p[FCP].meets ? fmax(longest, p[FCP].latency / p[MOS].latency) : longest;
        runs += p[FCP].meets;
        fewer += p[FCP].meets && p[MOS].processors < p[FCP].processors;
    }
    for (int i = 0; i < 4; i++) {
        longest = fmax(longest, f->mpeg[i][FCP].latency / f->mpeg[i][MOS].latency);
        least += f->mpeg[i][EXP].processors < f->mpeg[i][MOS].processors;
    }
    claim_row_alone(&s->md, "video: at Tmax only MOS meets the throughput (Table 3)",
                    claim_yes(!others), "%u of the %d others", others, SCHEMES - FCP);
    claim_row_alone(&s->md, "video, MPEG, placenta: FCP's latencies are like those of MOS",
                    claim_yes(longest <= 1 + claim_hair), "at most %.2f", longest);
    claim_row_alone(&s->md, "placenta: MOS uses fewer processors than FCP",
                    claim_yes(runs && fewer == runs), "at %u of %u throughputs that FCP meets",
                    fewer, runs);
    claim_row_alone(&s->md, "MPEG: EXP uses fewer processors than MOS", claim_yes(least >= 3),
                    "in %u of 4 divisions (published: in 3)", least);
}

/* What the prose states as a number. */
static void claim_numbers(struct mos_study *s)
{
    const struct mos_found *f = &s->claims;
    const struct mos_outcome *d = f->dvb[K_8][AT_ZERO];
    double worst = 0;
    uint32_t missed = 0;
    /* MOS meets Tmax, and nothing can exceed it */
    double most_of_dvb = f->dvb[K_8][AT_MOST][MOS].throughput;
    for (int p = 0; p < PORTS; p++)
        for (int k = 0; k < AT_ZERO; k++)
            for (int x = FCP; x <= EXP; x += EXP - FCP)
                if (!f->dvb[p][k][x].meets) {
                    worst =
                        fmax(worst, f->dvb[p][k][x].throughput / (most_of_dvb * claim_share[k]));
                    missed++;
                }
    claim_row_alone(&s->md, "DVB: where FCP and EXP miss T they are at least 50 % below it",
                    claim_yes(worst <= 0.5 + claim_hair), "at most %.2f of T (%u points)", worst,
                    missed);
    int points = claim_points(&d[FCP], &d[MOS]);
    claim_row_alone(&s->md, "DVB at ~0, k = 8: FCP uses 25 points more processors",
                    claim_yes(abs(points - 25) <= 3), "%d points", points);
    double fcp = d[FCP].latency / d[MOS].latency, expert = d[EXP].latency / d[MOS].latency;
    claim_row_alone(&s->md, "DVB at ~0, k = 8: FCP is 11 % longer, EXP 22 %",
                    claim_beside(fcp, 1.11), "%.2f and %.2f", fcp, expert);
    int most = 0;
    for (int k = 0; k < LEVELS; k++)
        if (f->video[k][FCP].meets)
            most = (int)fmax(most, claim_points(&f->video[k][FCP], &f->video[k][MOS]));
    claim_row_alone(&s->md, "video: MOS up to 13 points fewer processors",
                    claim_yes(abs(most - 13) <= 3), "%d points", most);
    double least = INFINITY, longest = 0;
    for (int i = 0; i < 4; i++) {
        double ratio = f->mpeg[i][EXP].latency / f->mpeg[i][MOS].latency;
        least = fmin(least, ratio);
        longest = fmax(longest, ratio);
    }
    points = claim_points(&f->mpeg[2][FCP], &f->mpeg[2][MOS]);
    claim_row_alone(&s->md, "MPEG: MOS up to 28 points fewer processors",
                    claim_yes(abs(points - 28) <= 3), "%d points", points);
    claim_row_alone(
        &s->md, "MPEG: EXP 12 % to 36 % longer, by divisions",
        claim_yes(fabs(least - 1.12) <= claim_hair && fabs(longest - 1.36) <= claim_hair),
        "%.0f %% to %.0f %%", 100 * (least - 1), 100 * (longest - 1));
}

bool claim_applications(struct mos_study *s)
{
    if (!claim_chains(s))
        return false;
    claim_dvb_missed(s);
    claim_dvb_fcp(s);
    claim_numbers(s);
    claim_heavy(s);
    return claim_unmoved(s);
}

/* ---- section 6 ---- */

/* NAN: left out. Mean over the latencies that MOS⁻¹ kept on all graphs of throughput / that of MOS⁻¹. */
static double claim_inverse_share(const struct mos_study *s, int ccr, int ports, int scheme)
{
    const struct inverse_totals *t = &s->claims.inverse[ccr][ports];
    double sum = 0;
    for (int l = 1; l < SHARES; l++)
        sum += t->found[l][MOS] ? t->sum[l][scheme] / t->found[l][MOS] : NAN;
    return sum / (SHARES - 1);
}

/* What becomes of the others' share from k = 4 to k = 8: one moves as `sign` says, or neither at all (0). */
static void claim_inverse_ports(struct mos_study *s, const char *said, int ccr, const int scheme[2],
                                int sign)
{
    double at[2][2];
    bool good = true;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++)
            at[i][k] = claim_inverse_share(s, ccr, K_4 + k, scheme[i]);
        double moved = at[i][1] - at[i][0];
        good = good && (sign ? sign * moved > 0 : fabs(moved) <= claim_hair);
    }
    if (isnan(at[0][0] + at[0][1]))
        strbuf_printf(&s->md, "| %s | - | |\n", said);
    else
        claim_row_alone(&s->md, said, claim_yes(good), "%.3f to %.3f, and %.3f to %.3f", at[0][0],
                        at[0][1], at[1][0], at[1][1]);
}

/* Plans that keep a latency, over all settings: those of MOS⁻¹, and of the best of the others. */
static void claim_inverse_kept(struct mos_study *s)
{
    uint32_t kept = 0, others = 0;
    for (int i = 0; i < CCRS; i++)
        for (int k = 0; k < PORTS; k++)
            for (int l = 0; l < SHARES; l++) {
                const uint32_t *found = s->claims.inverse[i][k].found[l];
                uint32_t best = 0;
                for (int x = FCP; x < SCHEMES; x++)
                    best = found[x] > best ? found[x] : best;
                kept += found[MOS];
                others += best;
            }
    claim_row_alone(&s->md, "MOS⁻¹ keeps latencies that the others cannot (section 6)",
                    claim_yes(kept > others), "%u plans, the best of the others %u", kept, others);
}

static void claim_inverse_most(struct mos_study *s)
{
    static const char said[] = "MOS⁻¹: up to 60 % more throughput than the others (Figure 9)";
    double least = INFINITY;
    for (int i = 0; i < CCRS; i++)
        for (int k = 0; k < PORTS; k++)
            for (int l = 1; l < SHARES; l++) {
                const struct inverse_totals *t = &s->claims.inverse[i][k];
                for (int x = FCP; x < SCHEMES; x++)
                    if (t->found[l][MOS] && t->found[l][x] == t->found[l][MOS])
                        least = fmin(least, t->sum[l][x] / t->found[l][MOS]);
            }
    if (isfinite(least))
        claim_row_alone(&s->md, said, claim_beside(1 / least, 1.6),
                        "%.0f %% more than the worst scheme that kept every latency",
                        100 * (1 / least - 1));
    else
        strbuf_printf(&s->md, "| %s | - | |\n", said);
}

void claim_inverse(struct mos_study *s)
{
    static const int fcp[] = {FCP, FCP_E}, expert[] = {EXP, EXP_E};
    claim_inverse_most(s);
    claim_inverse_kept(s);
    claim_inverse_ports(s,
                        "MOS⁻¹, CCR 0.1: k changes nothing (shares of FCP and FCP-e, k = 4 to 8)",
                        CCR_01, fcp, 0);
    claim_inverse_ports(s, "MOS⁻¹, CCR 1: a larger k helps it against FCP and FCP-e", CCR_1, fcp,
                        -1);
    claim_inverse_ports(s, "MOS⁻¹, CCR 1: EXP and EXP-e gain by a larger k", CCR_1, expert, 1);
}
