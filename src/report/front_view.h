/* A front of stream plans: latency, throughput, processors. */
#pragma once
#include "base/strbuf.h"
#include "model/plan.h"

void front_view(const struct plan *const *plans, size_t n, bool colour, struct strbuf *out);
void front_view_json(const struct plan *const *plans, size_t n, struct strbuf *out);
void front_view_draw(const struct plan *const *plans, size_t n, struct strbuf *out); /* SVG */
