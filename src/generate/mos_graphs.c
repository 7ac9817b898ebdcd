/* The application graphs of the MOS report (OSU-CISRC-4/08-TR17), as the specification rebuilds
 * them: the originals are lost, so these are stand-ins made from what the text says and what its
 * tables imply. Figures are literal: changing one changes the tables of `weft reproduce mos`. */
#include "generate/mos_graphs.h"
#include "base/rng.h"
#include "generate/generate.h"
#include "model/builder.h"

#include <stdio.h>
#include <string.h>

/* An edge that takes so long at bandwidth 1. */
struct mos_arc {
    unsigned char from, to;
    double time;
};

static const char *const dvb_names[] = {
    "input",       "label components", "median filter", "k-curvature",
    "load models", "corners",          "sobel",         "select components",
    "hough",       "convex hull",      "angles",        "gradient map",
    "threshold",   "match 1",          "match 2",       "match 3",
    "probe",       "extend",           "select",        "result"};
static const double dvb_times[] = {16.6, 9.8, 12.8, 14.2, 5.8,  14.3, 9.8,  15.8, 4,   15.3,
                                   12,   9.2, 3.7,  9.8,  15.5, 12.3, 11.4, 9.3,  9.2, 10.6};
static const struct mos_arc dvb_arcs[] = {
    {0, 1, 18.3},  {0, 2, 16.9},   {0, 3, 11.8},   {0, 4, 26.3},   {1, 5, 22.5},   {3, 5, 27.2},
    {2, 6, 28.2},  {1, 7, 19},     {2, 8, 15.2},   {5, 9, 24},     {7, 9, 20},     {5, 10, 22.5},
    {3, 10, 16.9}, {6, 11, 12.4},  {6, 12, 24.2},  {8, 12, 15.7},  {9, 13, 25.9},  {10, 13, 13.7},
    {4, 13, 14.5}, {9, 14, 18.9},  {10, 14, 15.7}, {4, 14, 20.3},  {10, 15, 11.9}, {11, 15, 20.6},
    {4, 15, 28.5}, {13, 16, 26.7}, {14, 16, 14.7}, {12, 16, 14.8}, {14, 17, 22},   {15, 17, 28.1},
    {12, 17, 22},  {16, 18, 21.9}, {17, 18, 17.9}, {18, 19, 15.5}};

static const char *const video_names[] = {
    "grab",     "decode 1",  "decode 2", "decode 3", "decode 4", "motion 1", "motion 2", "motion 3",
    "motion 4", "recognise", "track",    "faces",    "plates",   "paths",    "crowd",    "alarm"};
static const double video_times[] = {0.5, 8, 7, 7, 7, 9.5, 7, 6.5, 7, 460, 440, 10, 7, 7, 6.5, 10};
static const struct mos_arc video_arcs[] = {
    {0, 1, 0.85},   {0, 2, 0.45},    {0, 3, 0.45},    {0, 4, 0.45},    {1, 5, 0.584},
    {2, 6, 0.696},  {3, 7, 0.516},   {4, 8, 0.686},   {5, 9, 0.405},   {6, 9, 0.536},
    {7, 10, 0.551}, {8, 10, 0.464},  {9, 11, 0.735},  {9, 12, 0.54},   {10, 13, 0.755},
    {10, 14, 0.83}, {11, 15, 0.514}, {12, 15, 0.802}, {13, 15, 0.763}, {14, 15, 0.7}};

static const char *const placenta_names[] = {"read", "normalise",           "slide registration",
                                             "warp", "n-point correlation", "classify",
                                             "mask", "reconstruct",         "measure"};
static const double placenta_times[] = {1, 1, 5900, 1, 4090, 1, 1, 2, 1};
static const struct mos_arc placenta_arcs[] = {
    {0, 1, 0.332}, {1, 2, 0.287}, {2, 3, 0.169}, {1, 4, 0.533}, {4, 5, 0.103},
    {1, 6, 0.351}, {3, 7, 0.549}, {5, 7, 0.14},  {6, 7, 0.377}, {7, 8, 0.408}};

/* The common builder: names, times and arcs as tables. */
static struct workflow *mos_build_graph(const char *name, const char *const *names,
                                        const double *times, size_t ntasks,
                                        const struct mos_arc *arcs, size_t narcs, struct error *err)
{
    struct builder *b = builder_new("<stand-in>", "stand-in");
    builder_name(b, name, strlen(name));
    for (size_t i = 0; i < ntasks; i++)
        builder_work(b, builder_task(b, names[i], strlen(names[i]), 0), times[i], 0);
    for (size_t i = 0; i < narcs; i++)
        builder_data_edge(b, arcs[i].from, arcs[i].to, arcs[i].time, 0);
    return builder_finish(b, err);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* `name` is one of three; anything else is the last. */
struct workflow *mos_graph(const char *name, struct error *err)
{
    if (strcmp(name, "dvb") == 0)
        return mos_build_graph(name, dvb_names, dvb_times, COUNT(dvb_times), dvb_arcs,
                               COUNT(dvb_arcs), err);
    if (strcmp(name, "video") == 0)
        return mos_build_graph(name, video_names, video_times, COUNT(video_times), video_arcs,
                               COUNT(video_arcs), err);
    return mos_build_graph("placenta", placenta_names, placenta_times, COUNT(placenta_times),
                           placenta_arcs, COUNT(placenta_arcs), err);
}

/* Estimation, transform and coding of each division take 70, 16 and 12 parts of a hundred; joining
 * takes 2. */
struct workflow *mos_graph_mpeg(unsigned divisions, struct error *err)
{
    static const struct {
        const char *name;
        double share;
    } steps[] = {{"estimate", 700}, {"transform", 160}, {"code", 120}};
    struct builder *b = builder_new("<stand-in>", "stand-in");
    char name[32];
    builder_name(b, "mpeg", 4);
    /* divisions are independent between split and join */
    uint32_t split = builder_task(b, "split", 5, 0);
    builder_work(b, split, 0, 0);
    for (unsigned d = 0; d < divisions; d++)
        for (unsigned k = 0; k < 3; k++) {
            uint32_t t = builder_task(
                b, name, (size_t)snprintf(name, sizeof name, "%s %u", steps[k].name, d + 1), 0);
            builder_work(b, t, steps[k].share / divisions, 0);
            builder_data_edge(b, k ? t - 1 : split, t, 0.02, 0);
        }
    uint32_t joined = builder_task(b, "join", 4, 0);
    builder_work(b, joined, 20.0 / divisions, 0);
    for (unsigned d = 0; d < divisions; d++)
        builder_data_edge(b, 3 * d + 3, joined, 0.02, 0);
    for (uint32_t t = 0; t <= joined; t++)
        builder_flag(b, t, TASK_NOT_REPLICABLE);
    return builder_finish(b, err);
}

/* ---- synthetic ---- */

/* Join all ends of the graph by a task of no work, when there are several. */
static void join_ends(struct builder *b, const char *name, uint32_t ntasks, const uint32_t *off,
                      bool sinks)
{
    uint32_t ends = 0;
    for (uint32_t t = 0; t < ntasks; t++)
        ends += off[t] == off[t + 1];
    if (ends < 2)
        return;
    uint32_t joint = builder_task(b, name, strlen(name), 0);
    builder_work(b, joint, 0, 0);
    for (uint32_t t = 0; t < ntasks; t++)
        if (off[t] == off[t + 1])
            builder_edge(b, sinks ? t : joint, sinks ? joint : t, 0);
}

struct workflow *mos_graph_synthetic(uint32_t ntasks, double degree, double ccr, uint64_t seed,
                                     struct error *err)
{
    char n[16], mean[32], name[24];
    snprintf(n, sizeof n, "%u", ntasks);
    snprintf(mean, sizeof mean, "%g", degree);
    struct option_value values[] = {
        {"n", n}, {"work-min", "0"}, {"work-max", "60"}, {"mean-degree", mean}};
    struct workflow *w = generator_workflow(generator_find("tgff"), values, 4, seed, err);
    if (!w)
        return NULL;
    /* edges are drawn anew: TGFF's sizes have another distribution */
    struct rng rng;
    rng_seed_stream(&rng, seed, 1);
    struct builder *b = builder_new("<generated>", "generated");
    builder_name(b, "synthetic", 9);
    for (uint32_t t = 0; t < w->ntasks; t++)
        builder_work(b, builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0),
                     w->work[t], 0);
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            builder_data_edge(b, t, w->succ_task[e], rng_uniform(&rng, 0, 60 * ccr), 0);
    join_ends(b, "sink", w->ntasks, w->succ_off, true);
    join_ends(b, "source", w->ntasks, w->pred_off, false);
    workflow_free(w);
    return builder_finish(b, err);
}
