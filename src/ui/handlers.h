/* The handlers, one an address (routes.c). */
#pragma once
#include "ui/request.h"

void answer_about(const struct laboratory *lab, const struct request *r, struct reply *out);
/* ?where=SQL&workflow=PART&failed=1&limit=N: what `weft history --json` prints. */
void answer_runs(const struct laboratory *lab, const struct request *r, struct reply *out);
/* What `weft report --json` prints. */
void answer_run(const struct laboratory *lab, const struct request *r, struct reply *out);
/* What `weft report -o` writes. */
void answer_run_page(const struct laboratory *lab, const struct request *r, struct reply *out);
/* Parameters, values, labels, tags, notes. */
void answer_run_facts(const struct laboratory *lab, const struct request *r, struct reply *out);
/* ?before=N&after=N: what `weft history --compare --json` prints. */
void answer_compare(const struct laboratory *lab, const struct request *r, struct reply *out);
/* {"sort": "note", "text": "...", "unsay": false}: tag, note or name a run. */
void answer_say(const struct laboratory *lab, const struct request *r, struct reply *out);
