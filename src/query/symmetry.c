/* Which processors can constraints tell apart? Two equal processors that no constraint names are
 * interchangeable, and a search need not try both. A look over the tokens: ids and names of
 * processors may be compared with each other, with UNKNOWN, counted, or name a processor by itself;
 * anything else (ids in arithmetic, order, limit, window functions) gives up. The answer errs on
 * the safe side. */
#include "query/constraint.h"

/* Attributes that tell one processor from another. */
static bool names_processor(const struct query_token *t)
{
    return t->attribute == PROC_ID || t->attribute == PROC_NAME ||
           t->attribute == TASK_ASSIGNED_PROC_ID;
}

/* The tests = and <>. */
static bool is_equality(const struct query_token *t)
{
    return token_is(t, "=") || token_is(t, "<>");
}

/* Named: that one is different from all others. */
static void single_out(const struct query *q, const char *name, bool *single)
{
    uint32_t node = platform_find_node(q->relations->p, name);
    if (node != NONE)
        single[node] = true;
}

/* `proc_name = "x"`, `proc_name in ("x", "y")`, or the other way round: names single processors. */
static bool named_alone(const struct query *q, const struct query_token *t, bool *single)
{
    if (t->attribute != PROC_NAME)
        return false;
    if (is_equality(t + 1) && t[2].kind == TOKEN_STRING) {
        single_out(q, t[2].word, single);
        return true;
    }
    const struct query_token *in = token_is(t + 1, "not") ? t + 2 : t + 1;
    if (!token_is(in, "in") || !token_is(in + 1, "("))
        return false;
    for (in += 2; in->kind == TOKEN_STRING; in += 2) {
        single_out(q, in->word, single);
        if (token_is(in + 1, ")"))
            return true;
        if (!token_is(in + 1, ","))
            return false;
    }
    return false;
}

/* Compared with another processor or with UNKNOWN, or only counted. */
static bool compared_alike(const struct query_token *t, const struct query_token *begin)
{
    if (is_equality(t + 1) && (names_processor(t + 2) || token_is(t + 2, "unknown")))
        return true;
    if (t >= begin + 2 && is_equality(t - 1) && names_processor(t - 2))
        return true;
    if (token_is(t + 1, "is") &&
        (token_is(t + 2, "null") || token_is(t + 2, "unknown") || token_is(t + 2, "not")))
        return !token_is(t + 2, "not") || token_is(t + 3, "null") || token_is(t + 3, "unknown");
    const struct query_token *open = t - 1;
    if (open > begin && token_is(open, "distinct"))
        open--;
    return open > begin && token_is(open, "(") && token_is(open - 1, "count") &&
           token_is(t + 1, ")");
}

/* Is `t` the attribute that this side of a relationship selects? */
static bool selected_by(const struct constraint *c, const struct operand *o,
                        const struct query_token *t)
{
    if (!o->given)
        return false;
    const struct query_token *at = c->source->tokens.at + o->first;
    while (token_is(at, "("))
        at++;
    return token_is(at, "select") && at + 1 == t && token_is(t + 1, "from");
}

/* Does this side give processors, or UNKNOWN? */
static bool selects_processor(const struct constraint *c, const struct operand *o)
{
    const struct query_token *at = c->source->tokens.at + o->first;
    while (token_is(at, "("))
        at++;
    return o->unknown ||
           (token_is(at, "select") && selected_by(c, o, at + 1) && names_processor(at + 1));
}

/* May equal processors change places without this operand noticing? Notes who is named alone. */
static bool operand_alike(const struct query *q, const struct constraint *c,
                          const struct operand *o, bool *single)
{
    if (!o->given)
        return true;
    const struct query_token *begin = c->source->tokens.at + o->first;
    const struct query_token *end = c->source->tokens.at + o->end;
    bool equal = c->measures == CONSTRAINT_RELATIONSHIP &&
                 (c->test == TEST_EQUAL || c->test == TEST_DIFFERENT) &&
                 selects_processor(c, &c->left) && selects_processor(c, &c->right);
    bool reads_proc = false, named = false, ordered = false;
    for (const struct query_token *t = begin; t < end; t++) {
        if (token_is(t, "rowid") || token_is(t, "oid") || token_is(t, "_rowid_") ||
            token_is(t, "limit") || token_is(t, "group_concat") || token_is(t, "over"))
            return false;
        ordered |= token_is(t, "order");
        reads_proc |= token_is(t, "proc");
        if (!names_processor(t))
            continue;
        bool alone = named_alone(q, t, single);
        named |= alone;
        if (!alone && !compared_alike(t, begin) && !(equal && selected_by(c, o, t)))
            return false;
    }
    if (ordered && reads_proc)
        return false;
    /* a scalar takes the first row of several: fine for aggregates and for one processor */
    bool is_scalar = c->measures == CONSTRAINT_VALUE || o == &c->min_text || o == &c->max_text;
    if (is_scalar && reads_proc && !named)
        return o->shape && shape_relations(o->shape) == 0;
    return true;
}

/* One operand that cannot be judged spoils it for all. */
bool query_symmetry(const struct query *q, bool *single)
{
    for (size_t i = 0; i < q->constraints.n; i++) {
        const struct constraint *c = &q->constraints.at[i];
        if (!operand_alike(q, c, &c->left, single) || !operand_alike(q, c, &c->right, single))
            return false;
    }
    return true;
}

bool constraint_sees_order(const struct constraint *c)
{
    const struct operand *sides[] = {&c->left, &c->right};
    for (int k = 0; k < 2; k++)
        for (size_t t = sides[k]->first; sides[k]->given && t < sides[k]->end; t++)
            if (c->source->tokens.at[t].attribute == TASK_SCHEDULE_ORDER)
                return true;
    return false;
}

bool query_sees_order(const struct query *q)
{
    for (size_t i = 0; i < q->constraints.n; i++)
        if (constraint_sees_order(&q->constraints.at[i]))
            return true;
    return false;
}
