/* Stand-ins for the application graphs of the MOS report. Times in seconds at speed 1, edges in
 * seconds at bandwidth 1. */
#pragma once
#include "model/workflow.h"

struct workflow *mos_graph(const char *name, struct error *err); /* dvb, video, placenta */
struct workflow *mos_graph_mpeg(unsigned divisions, struct error *err);
