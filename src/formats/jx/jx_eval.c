/* JX trees to values.
 *
 * Operators of one precedence in a row: the manual has them grouped from the left, every Makeflow so
 * far groups them from the right (7-2-1 is 6 there). Where both ways give the same, as with
 * "out." + i + ".txt", that is the value; where they do not, it is an error that asks for
 * parentheses: a workflow must not mean one thing here and another there. */
#include "formats/jx/jx.h"
#include "base/mem.h"
#include "base/suggest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef const struct jx_node *jx_value;

jx_value jx_error(const struct jx_evaluation *e, jx_value at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(e->err, e->file, at->line - e->store->base, fmt, args);
    va_end(args);
    return NULL;
}

const char *jx_type_name(jx_value v)
{
    static const char *const names[] = {"null",     "a boolean", "an integer", "a number",
                                        "a string", "an array",  "an object"};
    return v->type <= JX_OBJECT ? names[v->type] : "an expression";
}

/* ---- making values ---- */

struct jx_node *jx_make(const struct jx_evaluation *e, enum jx_type type, jx_value at)
{
    struct jx_node *v = jx_new(e->store, type, at->line);
    if (!v)
        jx_error(e, at, "the file makes more than %d values", JX_NODES_MOST);
    return v;
}

jx_value jx_make_string(const struct jx_evaluation *e, const char *text, size_t n, jx_value at)
{
    struct jx_node *v = jx_string(e->store, text, n, at->line);
    if (!v)
        jx_error(e, at, "the file makes more than %d bytes of text", JX_TEXT_MOST);
    return v;
}

jx_value jx_make_array(const struct jx_evaluation *e, const jx_items *items, jx_value at)
{
    struct jx_node *v = jx_make(e, JX_ARRAY, at);
    if (v && items->n) {
        v->n = (uint32_t)items->n;
        v->item = jx_store_take(e->store, items->n * sizeof(jx_value));
        memcpy(v->item, items->at, items->n * sizeof(jx_value));
    }
    return v;
}

/* Two nodes for all would do; they would have no line of their own. */
static jx_value make_boolean(const struct jx_evaluation *e, bool truth, jx_value at)
{
    struct jx_node *v = jx_make(e, JX_BOOLEAN, at);
    if (v)
        v->truth = truth;
    return v;
}

void jx_add_number(struct strbuf *out, jx_value v)
{
    if (v->type == JX_INTEGER)
        strbuf_printf(out, "%lld", (long long)v->integer);
    else
        strbuf_printf(out, "%.16g", v->number);
}

/* ---- names ---- */

/* From the end: of a key that stands twice in an object the last one counts, as in JSON's readers. */
jx_value jx_member(jx_value object, const char *key)
{
    for (uint32_t i = object->n; i >= 2; i -= 2)
        if (strcmp(object->item[i - 2]->text, key) == 0)
            return object->item[i - 1];
    return NULL;
}

struct jx_definition *jx_definition_find(struct jx_evaluation *e, const char *name)
{
    for (size_t i = 0; i < e->definitions.n; i++)
        if (strcmp(e->definitions.at[i].name, name) == 0)
            return &e->definitions.at[i];
    return NULL;
}

/* What a name of `define` or of the command line stands for. */
static jx_value define_value(struct jx_evaluation *e, size_t i)
{
    struct jx_definition *d = &e->definitions.at[i];
    d->used = true;
    if (d->value)
        return d->value;
    if (d->busy)
        return jx_error(e, d->tree, "'%.80s' is defined by itself", d->name);
    d->busy = true;
    jx_value v = jx_evaluate(e, d->tree, NULL);
    d->busy = false;
    d->value = v;
    return v;
}

/* Steps count what a file may cost: a small one with nested loops over objects could else take hours. */
jx_value jx_find(struct jx_evaluation *e, const struct jx_scope *scope, const char *name,
                 bool *found)
{
    *found = true;
    for (; scope; scope = scope->outer) {
        if (scope->name && strcmp(scope->name, name) == 0)
            return scope->value;
        jx_value member = scope->name ? NULL : jx_member(scope->value, name);
        e->steps += scope->name ? 1 : scope->value->n;
        if (member)
            return member;
    }
    struct jx_definition *d = jx_definition_find(e, name);
    *found = d != NULL;
    return d ? define_value(e, (size_t)(d - e->definitions.at)) : NULL;
}

/* Inner names go before outer ones, and all of them before "define". The error has the remedy: a
 * name that is meant to be given from outside. */
static jx_value find_symbol(struct jx_evaluation *e, jx_value symbol, const struct jx_scope *scope)
{
    bool found;
    jx_value v = jx_find(e, scope, symbol->text, &found);
    if (found)
        return v;
    const char **names = mem_new(const char *, e->definitions.n + 1), *near;
    for (size_t i = 0; i < e->definitions.n; i++)
        names[i] = e->definitions.at[i].name;
    near = suggest_nearest(symbol->text, names, e->definitions.n);
    jx_error(
        e, symbol,
        "'%.80s' stands for nothing: it is no variable of a `for` and not in \"define\"%s%s%s; "
        "-p %.80s=VALUE gives it a value",
        symbol->text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
        symbol->text);
    free(names);
    return NULL;
}

/* ---- operators ---- */

static const char *const operator_text[JX_OPERATORS] = {
    "*", "/", "%", "+", "-", "==", "!=", "<", "<=", ">", ">=", "and", "or", "not"};

/* Integers and doubles mix freely, but in arrays that are compared. */
static bool is_number(jx_value v)
{
    return v->type == JX_INTEGER || v->type == JX_NUMBER;
}

static double number_of(jx_value v)
{
    return v->type == JX_INTEGER ? (double)v->integer : v->number;
}

/* Values nest no deeper than what made them, but for arrays of arrays in definitions. */
static bool values_equal(jx_value a, jx_value b, int depth)
{
    if (is_number(a) && is_number(b) && !depth) /* as Makeflow: 1 == 1.0, but not [1] == [1.0] */
        return number_of(a) == number_of(b);
    if (a->type != b->type || a->n != b->n || depth > JX_DEPTH)
        return false;
    switch (a->type) {
    case JX_BOOLEAN:
        return a->truth == b->truth;
    case JX_INTEGER:
        return a->integer == b->integer;
    case JX_NUMBER:
        return a->number == b->number;
    case JX_STRING:
        return memcmp(a->text, b->text, a->n) == 0;
    case JX_ARRAY:
    case JX_OBJECT:
        for (uint32_t i = 0; i < a->n; i++)
            if (!values_equal(a->item[i], b->item[i], depth + 1))
                return false;
        return true;
    default:
        return true;
    }
}

static jx_value unfit(const struct jx_evaluation *e, jx_value at, enum jx_operator op, jx_value a,
                      jx_value b)
{
    return jx_error(e, at, "%s and %s do not go together with '%s'", jx_type_name(a),
                    jx_type_name(b), operator_text[op]);
}

/* What does not fit is refused: Makeflow wraps around, which no workflow can mean. Division goes
 * towards zero, as in C. */
static jx_value integer_operation(const struct jx_evaluation *e, jx_value at, enum jx_operator op,
                                  int64_t a, int64_t b)
{
    int64_t r = 0;
    bool over = false;
    if ((op == JX_DIVIDE || op == JX_MODULO) && b == 0)
        return jx_error(e, at, "division by zero");
    switch (op) {
    case JX_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case JX_SUBTRACT:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case JX_MULTIPLY:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    default:
        over = b == -1 && a == INT64_MIN;
        r = over ? 0 : op == JX_DIVIDE ? a / b : a % b;
    }
    if (over)
        return jx_error(e, at, "the result of '%s' does not fit into 64 bits", operator_text[op]);
    struct jx_node *v = jx_make(e, JX_INTEGER, at);
    if (v)
        v->integer = r;
    return v;
}

/* No result is infinite or no number: it could not be written into a command. */
static jx_value number_operation(const struct jx_evaluation *e, jx_value at, enum jx_operator op,
                                 double a, double b)
{
    if (op == JX_MODULO) { /* of whole parts, as Makeflow has it */
        if (!(fabs(a) < 9e18 && fabs(b) < 9e18))
            return jx_error(e, at, "the operands of '%%' are too large");
        jx_value whole = integer_operation(e, at, op, (int64_t)a, (int64_t)b);
        struct jx_node *v = whole ? jx_make(e, JX_NUMBER, at) : NULL;
        if (v)
            v->number = (double)whole->integer;
        return v;
    }
    if (op == JX_DIVIDE && b == 0)
        return jx_error(e, at, "division by zero");
    double r = op == JX_ADD ? a + b : op == JX_SUBTRACT ? a - b : op == JX_MULTIPLY ? a * b : a / b;
    if (!isfinite(r))
        return jx_error(e, at, "the result of '%s' is too large", operator_text[op]);
    struct jx_node *v = jx_make(e, JX_NUMBER, at);
    if (v)
        v->number = r;
    return v;
}

/* Into a text: numbers and booleans as they are written. */
static bool add_scalar(struct strbuf *out, jx_value v)
{
    if (v->type == JX_STRING)
        strbuf_add_bytes(out, v->text, v->n);
    else if (v->type == JX_BOOLEAN)
        strbuf_add(out, v->truth ? "true" : "false");
    else if (is_number(v))
        jx_add_number(out, v);
    else
        return false;
    return true;
}

/* Arrays share their items; texts are made anew, and count against JX_TEXT_MOST. */
static jx_value concatenation(struct jx_evaluation *e, jx_value at, jx_value a, jx_value b)
{
    jx_value made = NULL;
    if (a->type == JX_ARRAY && b->type == JX_ARRAY) {
        jx_items items = {0};
        if (!jx_room(e->store, (uint64_t)a->n + b->n))
            return jx_error(e, at, "the file makes more than %d values", JX_NODES_MOST);
        e->store->nodes += a->n + b->n;
        for (uint32_t i = 0; i < a->n; i++)
            array_push(&items, a->item[i]);
        for (uint32_t i = 0; i < b->n; i++)
            array_push(&items, b->item[i]);
        made = jx_make_array(e, &items, at);
        array_free(&items);
        return made;
    }
    struct strbuf text = {0};
    if (add_scalar(&text, a) && add_scalar(&text, b))
        made = jx_make_string(e, strbuf_text(&text), text.n, at);
    else
        unfit(e, at, JX_ADD, a, b);
    strbuf_free(&text);
    return made;
}

/* Equality is defined for all values, an order for numbers and for strings. */
static jx_value comparison(const struct jx_evaluation *e, jx_value at, enum jx_operator op,
                           jx_value a, jx_value b)
{
    int order;
    if (op == JX_EQUAL || op == JX_UNEQUAL)
        return make_boolean(e, values_equal(a, b, 0) == (op == JX_EQUAL), at);
    if (is_number(a) && is_number(b))
        order = number_of(a) < number_of(b) ? -1 : number_of(a) > number_of(b);
    else if (a->type == JX_STRING && b->type == JX_STRING)
        order = strcmp(a->text, b->text);
    else
        return unfit(e, at, op, a, b);
    bool holds = op == JX_LESS         ? order < 0
                 : op == JX_LESS_EQUAL ? order <= 0
                 : op == JX_GREATER    ? order > 0
                                       : order >= 0;
    return make_boolean(e, holds, at);
}

static jx_value binary(struct jx_evaluation *e, jx_value at, enum jx_operator op, jx_value a,
                       jx_value b)
{
    if (op == JX_AND || op == JX_OR) {
        if (a->type != JX_BOOLEAN || b->type != JX_BOOLEAN)
            return unfit(e, at, op, a, b);
        return make_boolean(e, op == JX_AND ? a->truth && b->truth : a->truth || b->truth, at);
    }
    if (op >= JX_EQUAL)
        return comparison(e, at, op, a, b);
    if (op == JX_ADD && (a->type == JX_STRING || b->type == JX_STRING || a->type == JX_ARRAY))
        return concatenation(e, at, a, b);
    if (!is_number(a) || !is_number(b))
        return unfit(e, at, op, a, b);
    return a->type == JX_INTEGER && b->type == JX_INTEGER
               ? integer_operation(e, at, op, a->integer, b->integer)
               : number_operation(e, at, op, number_of(a), number_of(b));
}

/* From the left or from the right. */
static jx_value fold_chain(struct jx_evaluation *e, jx_value chain, const jx_value *operand,
                           bool left)
{
    jx_value v = operand[left ? 0 : chain->n - 1];
    for (uint32_t i = 1; v && i < chain->n; i++) {
        e->steps++;
        v = left ? binary(e, chain, chain->ops[i - 1], v, operand[i])
                 : binary(e, chain, chain->ops[chain->n - 1 - i], operand[chain->n - 1 - i], v);
    }
    return v;
}

/* Sums of doubles may differ in the last place. */
static bool nearly_equal(jx_value a, jx_value b)
{
    if (a->type == JX_NUMBER && b->type == JX_NUMBER)
        return fabs(a->number - b->number) <= 1e-12 * fmax(fabs(a->number), fabs(b->number));
    return a->type == b->type && values_equal(a, b, 1);
}

/* A row of texts or of `and` means one thing whichever way it is grouped. */
static bool is_plain_row(jx_value chain, const jx_value *operand)
{
    if (chain->ops[0] == JX_AND || chain->ops[0] == JX_OR || chain->n == 2)
        return true;
    for (uint32_t i = 0; i + 1 < chain->n; i++)
        if (chain->ops[i] != JX_ADD)
            return false;
    /* of two neighbours one is a text: no two numbers are added */
    for (uint32_t i = 0; i + 1 < chain->n; i++)
        if (operand[i]->type != JX_STRING && operand[i + 1]->type != JX_STRING)
            return false;
    return true;
}

/* Of the first two one is a text, and neither is an array. */
static bool is_text_row(jx_value chain, const jx_value *operand)
{
    bool text = false;
    for (uint32_t i = 0; i < 2 && i < chain->n && operand[i]; i++) {
        if (operand[i]->type == JX_ARRAY && !i)
            return false;
        text |= operand[i]->type == JX_STRING;
    }
    return text && chain->ops[0] == JX_ADD;
}

/* All texts at once: a row of n costs O(n), not O(n^2). */
static jx_value join_row(struct jx_evaluation *e, jx_value chain, const jx_value *operand)
{
    struct strbuf text = {0};
    jx_value made = NULL;
    bool good = true;
    for (uint32_t i = 0; i < chain->n && good; i++) {
        good = add_scalar(&text, operand[i]);
        if (!good)
            unfit(e, chain, JX_ADD, operand[i ? i - 1 : 0], operand[i ? i : 1]);
    }
    if (good)
        made = jx_make_string(e, strbuf_text(&text), text.n, chain);
    strbuf_free(&text);
    return made;
}

static jx_value evaluate_chain(struct jx_evaluation *e, jx_value chain,
                               const struct jx_scope *scope)
{
    jx_value few[8] = {NULL}, v = NULL,
             *operand = chain->n <= 8 ? few : mem_new_zero(jx_value, chain->n);
    bool good = true;
    for (uint32_t i = 0; i < chain->n && good; i++) {
        operand[i] = jx_evaluate(e, chain->item[i], scope);
        good = operand[i] != NULL;
    }
    if (good && is_plain_row(chain, operand)) {
        v = is_text_row(chain, operand) ? join_row(e, chain, operand)
                                        : fold_chain(e, chain, operand, true);
    } else if (good) {
        struct error first = {0}, second = {0}, *err = e->err;
        e->err = &first;
        v = fold_chain(e, chain, operand, true);
        e->err = &second;
        jx_value right = fold_chain(e, chain, operand, false);
        e->err = err;
        if (!v && !right)
            *err = first;
        else if (!v || !right || !nearly_equal(v, right))
            v = jx_error(e, chain,
                         "several operators in a row: the manual groups them from the left, "
                         "Makeflow from the right, and the results differ; write parentheses");
    }
    if (operand != few)
        free(operand);
    return v;
}

/* A plus before a string is allowed, and does nothing: as in Makeflow. */
static jx_value evaluate_unary(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope)
{
    jx_value a = jx_evaluate(e, tree->item[0], scope);
    if (!a)
        return NULL;
    if (tree->op == JX_NOT)
        return a->type == JX_BOOLEAN
                   ? make_boolean(e, !a->truth, tree)
                   : jx_error(e, tree, "'not' of %s; expected a boolean", jx_type_name(a));
    if (tree->op == JX_ADD)
        return is_number(a) || a->type == JX_STRING
                   ? a
                   : jx_error(e, tree, "'+' before %s; expected a number", jx_type_name(a));
    if (!is_number(a))
        return jx_error(e, tree, "'-' before %s; expected a number", jx_type_name(a));
    if (a->type == JX_INTEGER)
        return integer_operation(e, tree, JX_SUBTRACT, 0, a->integer);
    return number_operation(e, tree, JX_SUBTRACT, 0, a->number);
}

/* ---- parts ---- */

/* A negative index counts from the end. What is not there is an error, not null. */
static jx_value evaluate_lookup(struct jx_evaluation *e, jx_value tree,
                                const struct jx_scope *scope)
{
    jx_value of = jx_evaluate(e, tree->item[0], scope),
             by = of ? jx_evaluate(e, tree->item[1], scope) : NULL;
    if (!by)
        return NULL;
    if (of->type == JX_OBJECT && by->type == JX_STRING) {
        jx_value v = jx_member(of, by->text);
        e->steps += of->n;
        return v ? v : jx_error(e, tree, "the object has no key '%.80s'", by->text);
    }
    if (of->type == JX_ARRAY && by->type == JX_INTEGER) {
        int64_t i = by->integer < 0 ? by->integer + (int64_t)of->n : by->integer;
        if (i < 0 || i >= (int64_t)of->n)
            return jx_error(e, tree, "there is no item %lld in an array of %u",
                            (long long)by->integer, of->n);
        return of->item[i];
    }
    return jx_error(e, tree,
                    "%s has no item by %s; an array has them by integers, an object by strings",
                    jx_type_name(of), jx_type_name(by));
}

/* *at: within 0 and n, as Python has it. False: an error. */
static bool slice_end(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope,
                      uint32_t n, int64_t *at)
{
    if (!tree)
        return true;
    jx_value v = jx_evaluate(e, tree, scope);
    if (!v)
        return false;
    if (v->type != JX_INTEGER)
        return jx_error(e, tree, "the end of a slice is %s; expected an integer",
                        jx_type_name(v)) != NULL;
    *at = v->integer < 0 ? v->integer + (int64_t)n : v->integer;
    *at = *at < 0 ? 0 : *at > (int64_t)n ? (int64_t)n : *at;
    return true;
}

static jx_value evaluate_slice(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope)
{
    jx_value of = jx_evaluate(e, tree->item[0], scope);
    if (!of)
        return NULL;
    if (of->type != JX_ARRAY)
        return jx_error(e, tree, "a slice of %s; expected an array", jx_type_name(of));
    int64_t from = 0, to = of->n;
    if (!slice_end(e, tree->item[1], scope, of->n, &from) ||
        !slice_end(e, tree->item[2], scope, of->n, &to))
        return NULL;
    struct jx_node *v = jx_make(e, JX_ARRAY, tree);
    if (v && to > from) { /* a part of the same items */
        v->n = (uint32_t)(to - from);
        v->item = of->item + from;
    }
    return v;
}

/* Clause k and those behind it; items are appended. Depth: JX_CLAUSES. */
static bool run_clauses(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope,
                        uint32_t k, jx_items *items)
{
    if (k >= tree->n) {
        jx_value v = jx_evaluate(e, tree->item[0], scope);
        if (v)
            array_push(items, v);
        return v != NULL;
    }
    jx_value list = jx_evaluate(e, tree->item[k + 1], scope), condition = tree->item[k + 2];
    if (!list)
        return false;
    if (list->type != JX_ARRAY)
        return jx_error(e, tree->item[k + 1], "`for` runs through %s; expected an array",
                        jx_type_name(list)) != NULL;
    struct jx_scope inner = {scope, tree->item[k]->text, NULL};
    for (uint32_t i = 0; i < list->n; i++) {
        inner.value = list->item[i];
        jx_value holds = condition ? jx_evaluate(e, condition, &inner) : NULL;
        if (condition && !holds)
            return false;
        if (holds && holds->type != JX_BOOLEAN)
            return jx_error(e, condition, "the condition of a `for` is %s; expected a boolean",
                            jx_type_name(holds)) != NULL;
        if ((!holds || holds->truth) && !run_clauses(e, tree, &inner, k + 3, items))
            return false;
    }
    return true;
}

/* An item with `for` stands for any number of items, none included. */
static jx_value evaluate_array(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope)
{
    jx_items items = {0};
    bool good = true;
    for (uint32_t i = 0; i < tree->n && good; i++) {
        jx_value item = tree->item[i];
        if (item->type == JX_COMPREHENSION) {
            good = run_clauses(e, item, scope, 1, &items);
        } else {
            jx_value v = jx_evaluate(e, item, scope);
            good = v != NULL;
            array_push(&items, v);
        }
    }
    jx_value v = good ? jx_make_array(e, &items, tree) : NULL;
    array_free(&items);
    return v;
}

/* Keys are expressions, too: {name + "_k": 1}. */
static jx_value evaluate_object(struct jx_evaluation *e, jx_value tree,
                                const struct jx_scope *scope)
{
    jx_items items = {0};
    for (uint32_t i = 0; i < tree->n; i++) {
        jx_value v = jx_evaluate(e, tree->item[i], scope);
        if (v && !(i & 1) && v->type != JX_STRING)
            v = jx_error(e, tree->item[i], "a key of an object is %s; expected a string",
                         jx_type_name(v));
        if (!v) {
            array_free(&items);
            return NULL;
        }
        array_push(&items, v);
    }
    jx_value v = jx_make_array(e, &items, tree);
    array_free(&items);
    if (v)
        ((struct jx_node *)v)->type = JX_OBJECT;
    return v;
}

static jx_value evaluate_node(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope)
{
    switch ((enum jx_type)tree->type) {
    case JX_SYMBOL:
        return find_symbol(e, tree, scope);
    case JX_UNARY:
        return evaluate_unary(e, tree, scope);
    case JX_CHAIN:
        return evaluate_chain(e, tree, scope);
    case JX_CALL:
        return jx_call(e, tree, scope);
    case JX_LOOKUP:
        return evaluate_lookup(e, tree, scope);
    case JX_SLICE:
        return evaluate_slice(e, tree, scope);
    case JX_ARRAY:
        return evaluate_array(e, tree, scope);
    case JX_OBJECT:
        return evaluate_object(e, tree, scope);
    case JX_COMPREHENSION: /* stands in arrays alone */
    case JX_NULL:
    case JX_BOOLEAN:
    case JX_INTEGER:
    case JX_NUMBER:
    case JX_STRING:
        break;
    }
    return tree;
}

/* Every step and every level is counted here. O(1) besides what the node itself costs. */
jx_value jx_evaluate(struct jx_evaluation *e, jx_value tree, const struct jx_scope *scope)
{
    if (e->depth >= JX_EVAL_DEPTH)
        return jx_error(e, tree, "definitions stand in each other more than %d deep",
                        JX_EVAL_DEPTH);
    if (++e->steps > JX_STEPS_MOST)
        return jx_error(e, tree, "the file takes more than %d steps to evaluate", JX_STEPS_MOST);
    e->depth++;
    jx_value v = evaluate_node(e, tree, scope);
    e->depth--;
    return v;
}

/* ---- out ---- */

static void print_text(struct strbuf *out, jx_value v)
{
    strbuf_add_char(out, '"');
    for (const char *p = v->text; *p; p++) {
        static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
        const char *known = strchr(from, *p);
        if (known)
            strbuf_printf(out, "\\%c", to[known - from]);
        else if ((unsigned char)*p < 32)
            strbuf_printf(out, "\\u%04x", (unsigned)*p);
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '"');
}

void jx_print(jx_value v, struct strbuf *out)
{
    switch ((enum jx_type)v->type) {
    case JX_BOOLEAN:
        strbuf_add(out, v->truth ? "true" : "false");
        break;
    case JX_INTEGER:
    case JX_NUMBER:
        jx_add_number(out, v);
        break;
    case JX_STRING:
        print_text(out, v);
        break;
    case JX_ARRAY:
    case JX_OBJECT:
        strbuf_add_char(out, v->type == JX_ARRAY ? '[' : '{');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                strbuf_add_char(out, v->type == JX_OBJECT && i % 2 ? ':' : ',');
            jx_print(v->item[i], out);
        }
        strbuf_add_char(out, v->type == JX_ARRAY ? ']' : '}');
        break;
    default:
        strbuf_add(out, "null");
    }
}
