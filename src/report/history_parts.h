/* What the views of the history share: cells, columns, members of JSON, fields of CSV. Private to them. */
#pragma once
#include "base/json.h"
#include "base/strbuf.h"
#include "history/history.h"
#include "report/table.h"

/* The first `left` columns are texts, the others numbers; `titles` ends with NULL. */
void history_add_columns(struct table *t, const char *const *titles, size_t left);
/* And frees it. */
void history_print_table(struct table *t, bool colour, struct strbuf *out);
/* "sigma=2 f1=0.93" */
void history_facts_cell(struct table *t, const struct run_record *r);
/* As member "facts" of the object that is open; `t` NULL: without the names of tasks. */
void history_put_facts(struct json_writer *j, const struct run_record *r,
                       const struct history_tasks *t);
/* RFC 4180: quoted where it must be; nothing for NULL. */
void history_csv_text(struct strbuf *out, const char *text);
/* Followed by `after`; nothing for what is not known. */
void history_csv_number(struct strbuf *out, double value, char after);
