/* Above lanes whose bars are too fine to read: how many cores each colour held over time, stacked. Thousands of
 * short tasks on a few cores are noise as bars; as areas they say which kind ran when, and how much of it. */
#pragma once
#include "report/timeline.h"

enum { STACK_HEIGHT = 132 }; /* pixels, with its distance to the lanes */

/* Bars are on average narrower than a few pixels, and many. `scale`: pixels a second. */
bool timeline_stack_wanted(const struct timeline *t, double scale);
/* Between `left` and `right`, from `top` down, for the times 0 to `most`, `from` of them at the left edge. */
void timeline_stack_draw(const struct timeline *t, double left, double right, double top,
                         double from, double most, struct strbuf *out);
