#include "base/strbuf.h"
#include "experiment/combine.h"
#include "experiment/testing.h"
#include "tap.h"

static void add(struct experiment *x, const char *name, unsigned count)
{
    struct substitution *s = substitute(x, name, SUBSTITUTE_PARAMETER, name);
    for (unsigned i = 0; i < count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%u", i);
        by(s, label, label);
    }
}

static void all_of_them(void)
{
    struct experiment x;
    uint32_t *rows, n;
    start_experiment(&x);
    add(&x, "a", 2);
    add(&x, "b", 3);
    is_int(combinations_of_all(&x), 6, "two times three");
    ok(combinations_make(&x, &rows, &n, NULL), "all combinations");
    is_int(n, 6, "are six");
    for (uint32_t i = 0; i < 6; i++)
        ok(rows[2 * i] == i / 3 && rows[2 * i + 1] == i % 3, "the last turns fastest: %u", i);
    struct strbuf out = {0};
    combination_label(&x, rows + 10, NULL, &out);
    is_str(strbuf_text(&out), "a=1,b=2", "a label");
    strbuf_clear(&out);
    combination_label(&x, rows + 10, &(uint64_t){2}, &out);
    is_str(strbuf_text(&out), "b=2", "of some substitutions only");
    strbuf_clear(&out);
    combination_label(&x, (uint32_t[]){CHOICE_ORIGINAL, 1}, NULL, &out);
    is_str(strbuf_text(&out), "b=1", "what stays as it was is not named");
    strbuf_free(&out);
    free(rows);
    experiment_free(&x);
}

static void sampled(void)
{
    enum { WANT = 40, ROUNDS = 2000 };
    struct experiment x;
    uint32_t *rows, n, hits[100] = {0};
    start_experiment(&x);
    add(&x, "a", 10);
    add(&x, "b", 10);
    x.combine = COMBINE_SAMPLE;
    x.sample = WANT;
    bool ordered = true;
    for (x.seed = 0; x.seed < ROUNDS; x.seed++) {
        combinations_make(&x, &rows, &n, NULL);
        ordered &= n == WANT;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = 10 * rows[2 * i] + rows[2 * i + 1];
            ordered &= !i || at > 10 * rows[2 * i - 2] + rows[2 * i - 1];
            hits[at]++;
        }
        free(rows);
    }
    ok(ordered, "samples are of the size asked for, in order, without repeats");
    /* Each has a chance of 0.4 a round: 800 hits, a deviation of 22. */
    uint32_t least = ROUNDS, most = 0;
    for (uint32_t i = 0; i < 100; i++) {
        least = hits[i] < least ? hits[i] : least;
        most = hits[i] > most ? hits[i] : most;
    }
    ok(least > 690 && most < 910, "and none is favoured: %u to %u hits of 800", least, most);
    x.sample = 1000;
    combinations_make(&x, &rows, &n, NULL);
    is_int(n, 100, "a sample larger than all is all");
    free(rows);

    for (unsigned i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        add(&x, name, 10);
    }
    ok(combinations_of_all(&x) == UINT64_MAX, "10^22 are past counting");
    x.seed = 7;
    ok(combinations_make(&x, &rows, &n, NULL) && n == 1000, "but can be sampled");
    uint32_t *again, different = 0;
    combinations_make(&x, &again, &n, NULL);
    is_int(memcmp(rows, again, 22000 * sizeof *rows), 0, "the same seed, the same sample");
    for (uint32_t i = 1; i < n; i++)
        different += memcmp(rows + 22 * i, rows + 22 * (i - 1), 22 * sizeof *rows) != 0;
    is_int(different, 999, "no two alike");
    free(rows);
    free(again);
    x.combine = COMBINE_ALL;
    struct error err = {0};
    ok(!combinations_make(&x, &rows, &n, &err), "all of them are too many");
    has_str(err.text, "sample", "and the message says what to do");
    experiment_free(&x);
}

static void listed(void)
{
    struct experiment x;
    uint32_t *rows, n, want[] = {1, 2, CHOICE_ORIGINAL, 0, 1, 2, 0, CHOICE_ORIGINAL};
    start_experiment(&x);
    add(&x, "a", 2);
    add(&x, "b", 3);
    x.combine = COMBINE_LISTED;
    for (size_t i = 0; i < 8; i++)
        array_push(&x.listed, want[i]);
    ok(combinations_make(&x, &rows, &n, NULL), "listed combinations");
    is_int(n, 3, "each once");
    ok(rows[0] == 1 && rows[2] == CHOICE_ORIGINAL && rows[4] == 0, "in the order of the list");
    free(rows);
    experiment_free(&x);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(all_of_them),
        TAP_CASE(sampled),
        TAP_CASE(listed),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
