/* What Vydyanathan et al. 2008 print for their three applications (Tables 1 to 6): latency relative to
 * MOS and processors used, by required throughput (rows) and scheme (columns). Included by mos.c
 * alone. */
#pragma once
#include "study/mos_study.h"

#include <math.h>

/* Published ratios; 0: the scheme missed the throughput, NAN: not stated. */
struct mos_published {
    double latency[LEVELS][SCHEMES], processors[LEVELS][SCHEMES];
};

static const struct mos_published dvb_2 = {{{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {1, 0, 1.02, 0, 0},
                                            {1, 1.04, 1.04, 1.14, 1.14}},
                                           {{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {11, 0, 32, 0, 0},
                                            {3, 15, 15, 1, 32}}};
static const struct mos_published dvb_4 = {{{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {1, 0, 1, 0, 0},
                                            {1, 1.08, 1.08, 1.20, 1.20}},
                                           {{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {16, 0, 32, 0, 0},
                                            {8, 15, 15, 1, 32}}};
static const struct mos_published dvb_8 = {{{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {1, 0, 1, 0, 0},
                                            {1, 1.11, 1.11, 1.22, 1.22}},
                                           {{NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {NAN, NAN, NAN, NAN, NAN},
                                            {13, 0, 32, 0, 0},
                                            {7, 15, 15, 1, 32}}};
static const struct mos_published video = {
    {{1, 0, 0, 0, 0}, {1, 0, 0, 0, 1.01}, {1, 1, 1, 0, 1.01}, {1, 1, 1, 0, 1.01}, {1, 1, 1, 2, 2}},
    {{32, 0, 0, 0, 0},
     {30, 0, 0, 0, 32},
     {25, 29, 29, 0, 32},
     {17, 21, 21, 0, 32},
     {11, 15, 15, 1, 32}}};
static const struct mos_published placenta = {
    {{1, 0, 0, 0, 0}, {1, 1, 1, 0, 1}, {1, 1, 1, 0, 1}, {1, 1, 1, 0, 1}, {1, 1, 1, 1.69, 1.69}},
    {{32, 0, 0, 0, 0},
     {29, 32, 32, 0, 32},
     {21, 24, 24, 0, 32},
     {13, 16, 16, 0, 32},
     {4, 9, 9, 1, 32}}};
