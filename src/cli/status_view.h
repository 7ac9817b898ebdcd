/* What `weft status` shows: the agents of a cluster and its runs as tables that fit the screen. */
#pragma once
#include "base/strbuf.h"
#include "weft/run.h"

struct status_style {
    const char *store;
    unsigned columns; /* that no line exceeds; 0: no limit */
    bool colour;
    bool all; /* every row */
};

void status_agents_text(const struct weft_cluster_status *s, const struct status_style *style,
                        struct strbuf *out);
void status_runs_text(const struct weft_cluster_status *s, const struct status_style *style,
                      struct strbuf *out);
void status_kept_text(const struct weft_cluster_status *s, const struct status_style *style,
                      struct strbuf *out);
void status_store_text(const struct weft_cluster_status *s, const struct status_style *style,
                       struct strbuf *out);
