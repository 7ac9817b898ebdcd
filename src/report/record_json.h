/* What `weft report --json` prints: weft-report/1 (docs/reports.md). */
#pragma once
#include "base/strbuf.h"
#include "model/record.h"

void record_json(const struct run_record *r, struct strbuf *out);
