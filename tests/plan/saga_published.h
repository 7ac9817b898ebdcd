/* A public library's makespans on data/saga-json (specs/list-published.md): the test compares with
 * them, the bench prints them. */
#pragma once

enum { COLUMNS = 13 };
static const char *const column[COLUMNS] = {"heft", "cpop",   "peft",   "etf",       "flb",
                                            "bil",  "minmin", "maxmin", "sufferage", "mct",
                                            "met",  "olb",    "fastest"};
static const struct {
    const char *file;
    double makespan[COLUMNS];
} saga[] = {
    {"agriculture_iot-crop_disease",
     {0.9, 0.9, 0.9, 1.6504, 25.11, 1.81056, 0.9, 0.9, 0.9, 0.9, 0.9, 21.0526, 0.9}},
    {"classic_benchmarks-cholesky_5",
     {90, 90, 90, 100.02, 106.02, 94.24, 98.04, 106.1, 98.06, 102.04, 230, 102.2, 230}},
    {"classic_benchmarks-fft_16",
     {24.02, 26.03, 24.02, 25.02, 24.01, 24.03, 24.01, 24.04, 26.01, 24.02, 96, 24.02, 96}},
    {"classic_benchmarks-gauss_elim_10",
     {293.58, 407.58, 293.58, 293.58, 300.51, 293.83, 293.58, 293.58, 293.58, 293.58, 715, 293.83,
      715}},
    {"classic_benchmarks-gauss_elim_5",
     {58.1, 76.1, 58.1, 58.1, 58.1, 58.19, 58.1, 58.1, 58.1, 58.1, 95, 58.19, 95}},
    {"classic_benchmarks-mapreduce_8m_4r",
     {49.06, 49.06, 49.06, 49.06, 69.03, 49.06, 49.06, 49.06, 49.06, 49.06, 169, 49.06, 169}},
    {"edge_computing-autonomous_driving",
     {1.8, 1.8, 1.88, 20.84, 64.056, 2.535, 1.88, 1.88, 1.8, 1.88, 1.88, 46.265, 1.88}},
    {"edge_computing-mtec_video_analytics",
     {14.5, 12.5, 14.5, 24.2857, 17, 19.9396, 14.5, 12.503, 12.5, 14.5, 14.5, 19.3881, 14.5}},
};
enum { GRAPHS = sizeof saga / sizeof *saga };
