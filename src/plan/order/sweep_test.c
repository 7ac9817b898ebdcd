/* The Sweep, priority and atoms on random profiles, against their definitions. */
#include "base/mem.h"
#include "base/rng.h"
#include "plan/order/shape.h"
#include "plan/order/sweep.h"
#include "tap.h"

enum { LONGEST = 6 };

struct profile {
    uint32_t n, rise[LONGEST + 1];
};

static struct profile random_profile(struct rng *r)
{
    struct profile p = {.n = 1 + (uint32_t)rng_below(r, LONGEST)};
    for (uint32_t t = 1; t <= p.n; t++)
        p.rise[t] = p.rise[t - 1] + (uint32_t)rng_below(r, rng_below(r, 3) ? 3 : 6);
    return p;
}

/* Equation (1) as it stands. */
static bool priority_by_definition(const struct profile *a, const struct profile *b)
{
    for (uint32_t x = 0; x <= a->n; x++)
        for (uint32_t y = 0; y <= b->n; y++) {
            uint32_t sum = x + y, first = sum < a->n ? sum : a->n;
            if (a->rise[x] + b->rise[y] > a->rise[first] + b->rise[sum - first])
                return false;
        }
    return true;
}

/* Is there a way through the p-dimensional table that is largest at every sum? All of it is tried.
 */
static bool optimal_by_brute_force(const struct profile *p, uint32_t count)
{
    uint32_t size = 1;
    for (uint32_t k = 0; k < count; k++)
        size *= p[k].n + 1;
    uint32_t most[4 * LONGEST + 1] = {0};
    uint32_t *value = mem_new_zero(uint32_t, size), *sum = mem_new_zero(uint32_t, size);
    bool *yes = mem_new_zero(bool, size);
    for (uint32_t i = 0; i < size; i++) {
        for (uint32_t k = 0, rest = i; k < count; rest /= p[k].n + 1, k++) {
            value[i] += p[k].rise[rest % (p[k].n + 1)];
            sum[i] += rest % (p[k].n + 1);
        }
        most[sum[i]] = value[i] > most[sum[i]] ? value[i] : most[sum[i]];
    }
    for (uint32_t i = 0; i < size; i++) {
        yes[i] = i == 0;
        uint32_t step = 1;
        for (uint32_t k = 0, rest = i; k < count; rest /= p[k].n + 1, step *= p[k].n + 1, k++)
            yes[i] |= rest % (p[k].n + 1) && yes[i - step];
        yes[i] &= value[i] == most[sum[i]];
    }
    bool answer = yes[size - 1];
    free(value);
    free(sum);
    free(yes);
    return answer;
}

/* The turns run every summand fully and gain the largest sum at every step. */
static bool turns_are_best(const struct profile *p, uint32_t count, const uint32_t *turn)
{
    uint32_t at[4] = {0}, total = 0, now = 0, best[4 * LONGEST + 1] = {0};
    uint32_t index[4] = {0};
    for (uint32_t k = 0; k < count; k++)
        total += p[k].n;
    for (bool more = true; more;) { /* every point of the table */
        uint32_t sum = 0, value = 0;
        for (uint32_t k = 0; k < count; k++) {
            sum += index[k];
            value += p[k].rise[index[k]];
        }
        best[sum] = value > best[sum] ? value : best[sum];
        uint32_t k = 0;
        while (k < count && ++index[k] > p[k].n)
            index[k++] = 0;
        more = k < count;
    }
    for (uint32_t t = 0; t < total; t++) {
        uint32_t k = turn[t];
        if (k >= count || at[k] == p[k].n)
            return false;
        now += p[k].rise[at[k] + 1] - p[k].rise[at[k]];
        at[k]++;
        if (now != best[t + 1])
            return false;
    }
    return true;
}

static void test_random(void)
{
    struct rng r;
    rng_seed(&r, 5);
    int priority_wrong = 0, two_wrong = 0, all_wrong = 0, pairwise_wrong = 0, atoms_wrong = 0,
        optimal = 0;
    for (int i = 0; i < 20000; i++) {
        struct profile p[4];
        uint32_t count = 2 + (uint32_t)rng_below(&r, 3);
        const uint32_t *rises[4];
        uint32_t sizes[4], ids[4];
        struct shapes shapes;
        shapes_init(&shapes, 1000000);
        for (uint32_t k = 0; k < count; k++) {
            p[k] = k && rng_below(&r, 3) == 0 ? p[k - 1] : random_profile(&r);
            rises[k] = p[k].rise;
            sizes[k] = p[k].n;
            ids[k] = shapes_add(&shapes, p[k].rise, p[k].n);
        }
        bool over = priority_by_definition(&p[0], &p[1]);
        priority_wrong += shapes_priority(&shapes, ids[0], ids[1]) != over;
        struct sweep s;
        bool two = sweep_two(p[0].rise, p[0].n, p[1].rise, p[1].n, &s);
        two_wrong += two != optimal_by_brute_force(p, 2);
        if (two) {
            two_wrong += s.first_over_second != over ||
                         s.second_over_first != priority_by_definition(&p[1], &p[0]);
            sweep_free(&s);
        } else {
            two_wrong += over;
        }
        uint32_t *turn = sweep_all(rises, sizes, count);
        bool all = optimal_by_brute_force(p, count), pairwise = true;
        all_wrong += (turn != NULL) != all || (turn && !turns_are_best(p, count, turn));
        optimal += all;
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = a + 1; b < count; b++)
                pairwise &= shapes_sweepable(&shapes, ids[a], ids[b]);
        pairwise_wrong += pairwise != all;
        const struct order_shape *x = &shapes.all.at[ids[0]];
        uint32_t length = 0, gain = 0;
        for (uint32_t k = 0; k < x->natoms; k++) {
            length += x->atoms[k].length;
            gain += x->atoms[k].gain;
            atoms_wrong += k && atom_compare(x->atoms[k - 1], x->atoms[k]) < 0;
        }
        atoms_wrong += length != p[0].n || gain != p[0].rise[p[0].n];
        free(turn);
        shapes_free(&shapes);
    }
    is_int(priority_wrong, 0, "priority by windows is equation (1)");
    is_int(two_wrong, 0, "2-IC-Sweep finds what brute force finds, and reads off both priorities");
    is_int(all_wrong, 0, "IC-Sweep too, with an order that is best at every step");
    is_int(pairwise_wrong, 0, "a sum can be swept iff every two summands can");
    is_int(atoms_wrong, 0, "atoms add up to the profile, their slopes never rise");
    ok(optimal > 1000 && optimal < 19000, "both answers occur: %d of 20000 sums have an order",
       optimal);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_random),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
