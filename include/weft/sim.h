/* libweft: sim. Part of <weft/weft.h>. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H
#include "weft/plan.h"
#include "weft/weft.h"
#endif
