/* See things.h. Texts about things come from files and command lines: every number is checked before it
 * is used. The stock's rule is deterministic, so that whoever hands out in the same order gives the same
 * ids: a scheduler, a simulation and the checker of plans rely on it. */
#include "model/things.h"

#include "base/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and amounts ---- */

const char *thing_name_fault(const char *name, size_t length)
{
    if (!length || !isalpha((unsigned char)name[0]))
        return "expected a name that begins with a letter";
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return "expected a name of letters, digits and _";
    return NULL;
}

/* Whole units of THING_ONE, so that parts add up without rounding. */
bool thing_amount(double x, uint32_t *amount)
{
    double whole = round(x * THING_ONE);
    /* 0.1 is no double: what is meant is near it */
    if (!(x >= 0) || x > THING_MOST || fabs(x * THING_ONE - whole) > 1e-6)
        return false;
    *amount = (uint32_t)whole;
    return true;
}

void thing_amount_text(uint32_t amount, struct strbuf *out)
{
    strbuf_add_number(out, (double)amount / THING_ONE);
}

void thing_variable(const char *name, struct strbuf *out)
{
    strbuf_add(out, "WEFT_");
    for (; *name; name++)
        strbuf_add_char(out, (char)toupper((unsigned char)*name));
}

/* ---- lists ---- */

static void thing_sort_free(struct thing_sort *s)
{
    free(s->name);
    for (size_t i = 0; i < s->ids.n; i++)
        free(s->ids.at[i]);
    array_free(&s->ids);
}

void thing_list_free(struct thing_list *l)
{
    for (size_t i = 0; i < l->sorts.n; i++)
        thing_sort_free(&l->sorts.at[i]);
    array_free(&l->sorts);
}

/* O(sorts), of which a node has a few. */
const struct thing_sort *thing_list_find(const struct thing_list *l, const char *name)
{
    for (size_t i = 0; i < l->sorts.n; i++)
        if (strcmp(l->sorts.at[i].name, name) == 0)
            return &l->sorts.at[i];
    return NULL;
}

/* O(ids), at most THING_IDS, which is what a mask holds. */
static bool add_id(struct thing_sort *s, const char *id, size_t length, struct error *err)
{
    for (size_t i = 0; i < s->ids.n; i++)
        if (strlen(s->ids.at[i]) == length && memcmp(s->ids.at[i], id, length) == 0)
            return error_set(err, ERROR_INPUT, "%s has the id '%.*s' twice", s->name, (int)length,
                             id);
    if (s->ids.n == THING_IDS)
        return error_set(err, ERROR_INPUT,
                         "%s has more than %d ids on one node; without ids there may be more",
                         s->name, THING_IDS);
    array_push(&s->ids, mem_copy_bytes(id, length));
    s->amount += THING_ONE;
    return true;
}

/* One number, not in brackets: how many. Of `gpu` they have ids all the same. */
static bool read_count(struct thing_sort *s, double count, struct error *err)
{
    if (!thing_amount(count, &s->amount))
        return error_set(err, ERROR_INPUT,
                         "%s is %g; expected how many there are, up to %d, or their ids: %s=0,1",
                         s->name, count, THING_MOST, s->name);
    if (strcmp(s->name, "gpu") != 0)
        return true;
    if (s->amount % THING_ONE || s->amount / THING_ONE > THING_IDS)
        return error_set(err, ERROR_INPUT, "gpu is %g; expected a whole number up to %d", count,
                         THING_IDS);
    uint32_t n = s->amount / THING_ONE;
    s->amount = 0;
    for (uint32_t i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "%u", i);
        if (!add_id(s, id, strlen(id), err))
            return false;
    }
    return true;
}

/* What stands after NAME=, up to the next name. `n` words, the first at `at`. */
static bool read_values(struct thing_sort *s, const char *at, const char *end, struct error *err)
{
    size_t words = 0;
    bool brackets = false;
    double count = 0;
    bool number = false;
    for (const char *p = at; p < end;) {
        size_t n = strcspn(p, "[], \t;");
        brackets |= *p == '[' || *p == ']';
        if (p + n > end)
            n = (size_t)(end - p);
        if (!n) {
            p++;
            continue;
        }
        number = !words++ && quantity_number(p, n, &count);
        p += n;
    }
    if (words == 1 && !brackets && number)
        return read_count(s, count, err);
    if (!words && !brackets)
        return error_set(err, ERROR_INPUT, "%s= says nothing; expected how many, or ids: %s=0,1",
                         s->name, s->name);
    for (const char *p = at; p < end;) {
        size_t n = strcspn(p, "[], \t;");
        if (p + n > end)
            n = (size_t)(end - p);
        if (n && !add_id(s, p, n, err))
            return false;
        p += n ? n : 1;
    }
    return true;
}

/* Where the next NAME= begins, or the end. */
static const char *next_name(const char *at)
{
    const char *equals = strchr(at, '=');
    if (!equals)
        return at + strlen(at);
    while (equals > at && !strchr("[], \t;", equals[-1]))
        equals--;
    return equals;
}

static int compare_sorts(const void *a, const void *b)
{
    return strcmp(((const struct thing_sort *)a)->name, ((const struct thing_sort *)b)->name);
}

bool thing_list_read(const char *text, struct thing_list *out, struct error *err)
{
    *out = (struct thing_list){0};
    const char *at = text ? text + strspn(text, ", \t;") : "";
    while (*at) {
        size_t n = strcspn(at, "=");
        const char *fault = thing_name_fault(at, n);
        if (!at[n] || fault)
            return error_set(err, ERROR_INPUT, "'%.*s': %s, then = and how many or which: gpu=0,1",
                             (int)(n < 60 ? n : 60), at, fault ? fault : "a name of things");
        if (out->sorts.n == THING_LISTED)
            return error_set(err, ERROR_INPUT, "more than %d sorts of things on one node",
                             THING_LISTED);
        struct thing_sort *s = array_add(&out->sorts);
        s->name = mem_copy_bytes(at, n);
        for (size_t i = 0; i + 1 < out->sorts.n; i++)
            if (strcasecmp(out->sorts.at[i].name, s->name) == 0)
                return error_set(err, ERROR_INPUT, "%s is given twice", s->name);
        const char *values = at + n + 1, *end = next_name(values);
        if (!read_values(s, values, end, err))
            return false;
        at = end;
    }
    if (out->sorts.n > 1)
        qsort(out->sorts.at, out->sorts.n, sizeof *out->sorts.at, compare_sorts);
    return true;
}

void thing_list_text(const struct thing_list *l, struct strbuf *out)
{
    for (size_t i = 0; i < l->sorts.n; i++) {
        const struct thing_sort *s = &l->sorts.at[i];
        strbuf_printf(out, "%s%s=", i ? "," : "", s->name);
        if (!s->ids.n) {
            thing_amount_text(s->amount, out);
            continue;
        }
        for (size_t k = 0; k < s->ids.n; k++)
            strbuf_printf(out, "%c%s", k ? ',' : '[', s->ids.at[k]);
        strbuf_add_char(out, ']');
    }
}

/* ---- who holds what ---- */

struct things *things_new(const uint32_t *amount, uint32_t named, uint32_t n)
{
    struct things *t = mem_new_zero(struct things, 1);
    t->n = n;
    t->stock = mem_new_zero(struct thing_stock, n);
    for (uint32_t i = 0; i < n; i++)
        things_set(t, i, amount[i], named >> i & 1);
    return t;
}

void things_set(struct things *t, uint32_t thing, uint32_t amount, bool named)
{
    struct thing_stock *s = &t->stock[thing];
    for (size_t i = 0; i < t->holds.n; i++)
        if (t->holds.at[i].thing == thing)
            return;
    uint32_t ids = named ? amount / THING_ONE : 0;
    ids = ids < THING_IDS ? ids : THING_IDS;
    free(s->room);
    *s = (struct thing_stock){.amount = amount, .free = amount, .named = named};
    s->ids = s->untouched = ids == 64 ? UINT64_MAX : (UINT64_C(1) << ids) - 1;
    s->room = ids ? mem_new(uint32_t, ids) : NULL;
    for (uint32_t k = 0; s->room && k < ids; k++)
        s->room[k] = THING_ONE;
}

void things_free(struct things *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        free(t->stock[i].room);
    free(t->stock);
    array_free(&t->holds);
    free(t);
}

/* The id with the least room that is enough for a part; 0: none. Of equals the first. */
static uint64_t best_id(const struct thing_stock *s, uint32_t part)
{
    uint64_t best = 0;
    uint32_t least = UINT32_MAX;
    for (uint64_t left = s->ids; left; left &= left - 1) {
        uint32_t room = s->room[__builtin_ctzll(left)];
        if (room >= part && room < least) {
            least = room;
            best = left & -left;
        }
    }
    return best;
}

/* The ids that would be given; 0: not enough is there. */
static uint64_t choose_ids(const struct thing_stock *s, uint32_t demand)
{
    if (demand < THING_ONE)
        return best_id(s, demand);
    uint64_t chosen = 0, left = s->untouched;
    for (uint32_t n = demand / THING_ONE; n; n--) {
        if (!left)
            return 0;
        chosen |= left & -left;
        left &= left - 1;
    }
    return demand % THING_ONE ? 0 : chosen;
}

/* These very ids: as many as it asks for, and with room. */
static bool ids_are_free(const struct thing_stock *s, uint32_t demand, uint64_t ids)
{
    uint32_t each = demand < THING_ONE ? demand : THING_ONE;
    uint32_t wanted = demand < THING_ONE ? 1 : demand / THING_ONE;
    if (ids & ~s->ids || (uint32_t)__builtin_popcountll(ids) != wanted)
        return false;
    for (uint64_t left = ids; left; left &= left - 1)
        if (s->room[__builtin_ctzll(left)] < each)
            return false;
    return true;
}

bool things_can_take(const struct things *t, const uint32_t *demand)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct thing_stock *s = &t->stock[i];
        if (demand[i] && !(s->named ? choose_ids(s, demand[i]) != 0 : demand[i] <= s->free))
            return false;
    }
    return true;
}

static void take_one(struct things *t, uint64_t owner, uint32_t thing, uint32_t demand,
                     uint64_t ids)
{
    struct thing_stock *s = &t->stock[thing];
    array_push(&t->holds, (struct thing_hold){owner, thing, demand, ids});
    if (!s->named) {
        s->free -= demand;
        return;
    }
    for (uint64_t left = ids; left; left &= left - 1)
        s->room[__builtin_ctzll(left)] -= demand < THING_ONE ? demand : THING_ONE;
    s->untouched &= ~ids;
}

/* All or nothing. `ids`: those of a plan or another machine, of each sort; 0: by our own rule. */
bool things_take_ids(struct things *t, uint64_t owner, const uint32_t *demand, const uint64_t *ids)
{
    if (!things_can_take(t, demand))
        return false;
    for (uint32_t i = 0; ids && i < t->n; i++)
        if (demand[i] && ids[i] && !ids_are_free(&t->stock[i], demand[i], ids[i]))
            return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (demand[i])
            take_one(t, owner, i, demand[i],
                     !t->stock[i].named ? 0
                     : ids && ids[i]    ? ids[i]
                                        : choose_ids(&t->stock[i], demand[i]));
    return true;
}

bool things_take(struct things *t, uint64_t owner, const uint32_t *demand)
{
    return things_take_ids(t, owner, demand, NULL);
}

/* From behind, since the last takes the place of one that goes. */
void things_give(struct things *t, uint64_t owner)
{
    for (size_t k = t->holds.n; k--;) {
        const struct thing_hold h = t->holds.at[k];
        if (h.owner != owner)
            continue;
        struct thing_stock *s = &t->stock[h.thing];
        if (!s->named)
            s->free += h.amount;
        for (uint64_t left = h.ids; left; left &= left - 1) {
            uint32_t id = (uint32_t)__builtin_ctzll(left);
            s->room[id] += h.amount < THING_ONE ? h.amount : THING_ONE;
            if (s->room[id] == THING_ONE)
                s->untouched |= left & -left;
        }
        t->holds.at[k] = array_pop(&t->holds);
    }
}

uint64_t things_held(const struct things *t, uint64_t owner, uint32_t thing)
{
    for (size_t k = 0; k < t->holds.n; k++)
        if (t->holds.at[k].owner == owner && t->holds.at[k].thing == thing)
            return t->holds.at[k].ids;
    return 0;
}

/* Sorts of which not even the smallest part is left: nothing that asks for them can start. */
uint32_t things_exhausted(const struct things *t)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->stock[i].named ? !best_id(&t->stock[i], 1) : !t->stock[i].free)
            mask |= UINT32_C(1) << i;
    return mask;
}
