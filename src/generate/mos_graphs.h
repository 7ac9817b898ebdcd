/* Stand-ins for the application graphs of the MOS report. Times in seconds at speed 1, edges in
 * seconds at bandwidth 1. */
#pragma once
#include "model/workflow.h"

struct workflow *mos_graph(const char *name, struct error *err); /* dvb, video, placenta */
struct workflow *mos_graph_mpeg(unsigned divisions, struct error *err);
/* A synthetic graph of section 5.1 as the specification reads it: times uniform in (0, 60), edges
 * in (0, 60 ccr), one source and one sink (of no work where there are several). `degree` 0: TGFF's
 * method; else so many edges a task. */
struct workflow *mos_graph_synthetic(uint32_t ntasks, double degree, double ccr, uint64_t seed,
                                     struct error *err);
