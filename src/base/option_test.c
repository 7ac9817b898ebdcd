/* Options by name: what a table takes and refuses, in which words, and how it describes itself. */
#include "base/option.h"
#include "tap.h"

static const struct option table[] = {
    {"fast", OPTION_BOOL, "off", NULL, 0, 0, "hurry"},
    {"tasks", OPTION_INTEGER, "10", NULL, 1, 100, "how many"},
    {"share", OPTION_NUMBER, "0.5", NULL, 0, 0, "of all"},
    {"limit", OPTION_SECONDS, "1s", NULL, 0, 0, "stop then"},
    {"size", OPTION_BYTES, "1k", NULL, 0, 0, "of a file"},
    {"copies", OPTION_COUNT, NULL, NULL, 0, 1e6, "of each"},
    {"kind", OPTION_CHOICE, "in", "in|out", 0, 0, "which way"},
    {"note", OPTION_TEXT, "", NULL, 0, 0, "anything"},
    {0},
};

static void test_values(void)
{
    static const struct {
        const char *name, *text, *said; /* NULL: taken */
        double number;
    } cases[] = {
        {"fast", "yes", NULL, 1},
        {"fast", "off", NULL, 0},
        {"fast", "maybe", "thing 'x': fast=maybe: expected yes or no", 0},
        {"tasks", "100", NULL, 100},
        {"tasks", "0", "thing 'x': tasks=0 is out of range: expected 1 to 100", 0},
        {"tasks", "1.5", "thing 'x': tasks=1.5: expected a whole number", 0},
        {"share", "-1e3", NULL, -1000},
        {"share", "nan", "expected a number", 0},
        {"limit", "200ms", NULL, 0.2},
        {"limit", "soon", "expected a time such as", 0},
        {"size", "1.5Ki", NULL, 1536},
        {"size", "big", "expected a size such as", 0},
        {"copies", "20K", NULL, 20000},
        {"copies", "1.5", "copies=1.5: expected a whole number", 0},
        {"kind", "out", NULL, 0},
        {"kind", "ou", "kind=ou: expected one of in|out", 0},
        {"kind", "", "expected one of", 0},
        {"note", "", NULL, 0},
        {"knd", "in", "thing 'x' has no option 'knd'; did you mean 'kind'?", 0},
        {"velocity", "1", "has no option 'velocity'; it has: fast, tasks,", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct option_value value = {cases[i].name, cases[i].text};
        bool good = options_check(table, "thing 'x'", &value, 1, &err);
        ok(good == !cases[i].said, "%s=%s: %s", value.name, value.text, good ? "taken" : err.text);
        if (cases[i].said)
            has_str(err.text, cases[i].said, "in these words");
        else
            is_dbl(option_number(option_find(table, value.name), value.text), cases[i].number, 0,
                   "its number");
    }
}

static void test_lists(void)
{
    struct error err = {0};
    struct option_value values[] = {{"tasks", "3"}, {"kind", "out"}, {"tasks", "4"}};
    ok(options_check(table, "thing", values, 3, &err), "a list");
    is_str(option_text(table, values, 3, "tasks"), "4", "the last one given counts");
    is_str(option_text(table, values, 3, "limit"), "1s", "else the default");
    ok(!option_text(table, values, 3, "speed"), "an option that there is not");
    ok(!options_check(NULL, "thing", values, 1, &err), "no table takes nothing");
    has_str(err.text, "thing has no option 'tasks': it has none at all", "and says so");
}

static void test_help(void)
{
    char text[64];
    option_describe(table + 5, text, sizeof text);
    is_str(text, "copies=N      of each\nkind=in|out   which way\nnote=TEXT     any",
           "aligned, and cut off where it must be");
    option_describe(NULL, text, sizeof text);
    is_str(text, "", "nothing of nothing");
    is_str(option_type_name(OPTION_SECONDS), "seconds", "a type by its name");
}

int main(void)
{
    TAP_DO(test_values());
    TAP_DO(test_lists());
    TAP_DO(test_help());
    return tap_done();
}
