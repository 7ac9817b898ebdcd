/* A measured machine as a platform, and what a platform file has no key for as comments. */
#pragma once
#include "base/strbuf.h"
#include "exec/measure.h"
#include "model/platform.h"

struct platform *measured_platform(const struct machine *m, struct error *err);
void measured_comments(const struct machine *m, struct strbuf *out);
