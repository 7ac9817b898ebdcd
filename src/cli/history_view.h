/* Runs of the history as tables, JSON and CSV, for `weft history`. */
#pragma once
#include "base/json.h"
#include "cli/cli.h"
#include "session/recorded.h"

/* The figures of a run's head, as members of the object that is open. */
void history_view_head(struct json_writer *j, const struct run_record *r);
void history_view_list(const history_runs *runs, struct strbuf *out);
void history_view_list_json(const history_runs *runs, struct strbuf *out);
void history_view_list_csv(const history_runs *runs, struct strbuf *out);

void history_view_run(const struct run_record *r, const struct history_tasks *t,
                      struct strbuf *out);
void history_view_run_json(const struct run_record *r, const struct history_tasks *t,
                           struct strbuf *out);
void history_view_run_csv(const struct run_record *r, const struct history_tasks *t,
                          struct strbuf *out);

/* What got slower and what got faster, by kind and by task. */
bool history_view_compare(struct history *h, int64_t a, int64_t b, bool json, struct strbuf *out,
                          struct error *err);
/* Where a file comes from. */
bool history_view_file(struct history *h, const char *path, size_t limit, bool json,
                       struct strbuf *out, struct error *err);
