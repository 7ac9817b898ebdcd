/* Tasks and files that a search of the history found, shown: tables, JSON, CSV. */
#pragma once
#include "base/strbuf.h"
#include "history/history.h"

/* `files`: findings are files, else attempts of tasks. */
void findings_view(const history_findings *f, bool files, bool colour, struct strbuf *out);
void findings_view_json(const history_findings *f, bool files, struct strbuf *out);
void findings_view_csv(const history_findings *f, bool files, struct strbuf *out);
