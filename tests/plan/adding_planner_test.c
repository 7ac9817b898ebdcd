/* The planner that docs/adding-a-planner.md shows, compiled from the page and listed as the page
 * lists it, conforms as every planner of the registry must. */
#include "adding_planner.c"
#include "plan/conformance.h"

int main(void)
{
    static const struct planner *const shown[] = {
#define PLANNER(x) &planner_##x,
#include "adding_planner.def"
#undef PLANNER
    };
    is_int(sizeof shown / sizeof *shown, 1, "the page shows one planner");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        conform(shown[i]);
    return tap_done();
}
