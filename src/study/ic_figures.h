/* What the two files of `weft reproduce ic` share: plans of orders, cells of tables, the paper's figures. */
#pragma once
#include "model/plan.h"
#include "study/reproduction.h"

/* How many of the paper's statements about its dags come out as it says. */
struct ic_figures {
    int count, agree;
};

/* The paper's dags, their verdicts, blocks, linearisations and tables. */
bool ic_write_figures(const struct reproduction_options *o, struct strbuf *md,
                      struct ic_figures *found, struct error *err);

/* An order needs no platform; one node will do. `method` NULL: the planner's own. */
struct plan *ic_plan_with(const char *planner, const struct workflow *w, bool explain,
                          const char *method, uint64_t seed, struct error *err);
/* A cell of a Markdown table: bars of `|>` would end it. */
void ic_add_cell(struct strbuf *md, const char *text);
