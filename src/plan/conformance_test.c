/* Every planner of the registry conforms (conformance.h). Each is a case under its own name:
 * `unit_plan_conformance_test heft peft` asks these two, `--list` names them all. */
#include "plan/conformance.h"

static void test_registry(void)
{
    for (size_t k = 0; planner_registry[k]; k++)
        ok(planner_find(planner_registry[k]->name) == planner_registry[k],
           "%s: is found by its name", planner_registry[k]->name);
    struct error err = {0};
    ok(!planner_find("hfet"), "an unknown planner is not found");
    planner_unknown("hfet", &err);
    has_str(err.text, "did you mean 'heft'", "and the nearest is suggested");
    is_int(err.kind, ERROR_INPUT, "as a mistake of the user");
    error_clear(&err);
    struct option_value value = {"speed", "1"};
    ok(!planner_check_options(planner_find("heft"), &value, 1, &err),
       "an unknown option is refused");
    has_str(err.text, "'speed'", "by name");
}

int main(void)
{
    TAP_DO(test_registry());
    for (size_t k = 0; planner_registry[k]; k++)
        conform(planner_registry[k]);
    return tap_done();
}
