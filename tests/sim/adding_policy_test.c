/* The policy that docs/adding-a-policy.md shows, compiled from the page and listed as the page
 * lists it, conforms as every policy of the table must. */
#include "adding_policy.c"
#include "base/file.h"
#include "sched/policy_conformance.h"

int main(void)
{
    static const struct policy *const shown[] = {
#define ROW(NUMBER, name) &policy_##name,
#include "adding_policy.def"
#undef ROW
    };
    struct text page = {0};
    struct error err = {0};
    ok(file_read(WEFT_SOURCE_DIR "/docs/adding-a-policy.md", &page, &err), "the page %s", err.text);
    is_int(sizeof shown / sizeof *shown, 1, "the page shows one policy");
    conform(shown[0], page.at ? page.at : "");
    struct decide_input in = {.all_size = 1e9, .max_size = 1e9, .max_node = 1, .bandwidth = 1};
    is_int(decide(&in, in.t), DECIDE_PUSH, "what others push");
    is_int(shown[0]->decide(&in), DECIDE_SHARED, "it leaves to thieves");
    text_free(&page);
    return tap_done();
}
