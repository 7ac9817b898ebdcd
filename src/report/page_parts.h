/* Inside the page of a run: its pictures and its tables. Each appends one section, or nothing when
 * there is nothing to show. */
#pragma once
#include "base/strbuf.h"
#include "report/figures.h"
#include "report/kinds.h"

struct page {
    const struct run_record *r;
    struct run_figures f;
    struct kinds kinds; /* colours of the tasks; empty without a workflow */
    struct strbuf *out;
};

/* `title` is escaped; `note` (may be NULL) stands under it. Closed by page_section_end(). */
void page_section(struct page *p, const char *id, const char *title, const char *note);
void page_section_end(struct page *p);
/* Around a picture; scrolls by itself when it is wider than the page. */
void page_figure(struct page *p, const char *class, const char *label);
void page_figure_end(struct page *p);

void page_timeline(struct page *p);
void page_load(struct page *p); /* cores, memory and queue over time */
void page_graph(struct page *p);
void page_scatter(struct page *p); /* a figure inside a section */

void page_failures(struct page *p);
void page_path(struct page *p);
void page_kinds(struct page *p);
void page_slowest(struct page *p);
void page_predictions(struct page *p);
void page_files(struct page *p);
