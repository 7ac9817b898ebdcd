/* A run as one HTML page that needs nothing else: no script, font or style from elsewhere, so it
 * can be mailed, archived and read offline. Light and dark, wide and narrow.
 *
 * Bounded: a million tasks give a few MB (the pictures merge what they cannot show apart, tables
 * show the first of many and say how many more there are). Everything that comes from files is
 * escaped. The same record gives the same page. */
#pragma once
#include "base/strbuf.h"
#include "model/record.h"

void report_page(const struct run_record *r, struct strbuf *out);
