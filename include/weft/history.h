/* libweft: history. Part of <weft/weft.h>. */
#ifndef WEFT_HISTORY_H
#define WEFT_HISTORY_H
#include "weft/plan.h"
#include "weft/weft.h"
#endif
