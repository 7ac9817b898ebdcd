/* `resources` in native files: what tasks ask for, and what nodes have (model/things.h).
 *
 *     tasks:  train: { resources: { gpu: 0.5, licence: 2 } }
 *     nodes:  - { name: n1, resources: { gpu: [0, 1], licence: 4 } } */
#include "formats/native/native_reading.h"
#include "model/things.h"

#include <string.h>

/* The name of an entry, checked here so that the message has its place. */
static const char *read_name(const struct native *f, yaml_ref k)
{
    const char *name = yaml_text(&f->y, k, NULL), *fault = thing_name_fault(name, strlen(name));
    if (!fault)
        return name;
    native_error(f, k, "resources has '%s': %s", name, fault);
    return NULL;
}

static bool read_amount(const struct native *f, yaml_ref v, const char *name, uint32_t *amount)
{
    double x;
    if (!native_number(f, v, name, &x))
        return false;
    return thing_amount(x, amount) ||
           native_error(f, v,
                        "resources: %s is %g; expected how many, such as 1 or 0.5: 0 to %d, in "
                        "ten-thousandths at the finest",
                        name, x, THING_MOST);
}

/* Which names may stand there is the builder's to say: it knows those of other tasks. */
bool native_read_resources(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct native *f = &r->file;
    const struct yaml *y = &f->y;
    struct strbuf list = {0};
    bool none = yaml_is_null(y, v);
    if (!none && !native_is_mapping(f, v, "resources"))
        return false;
    bool good = true;
    for (yaml_ref k = none ? YAML_NONE : yaml_first(y, v); good && k != YAML_NONE;
         k = yaml_next(y, v, k)) {
        const char *name = read_name(f, k);
        uint32_t amount = 0;
        good = name && read_amount(f, yaml_value(k), name, &amount);
        if (!good)
            break;
        strbuf_printf(&list, "%s=", name);
        thing_amount_text(amount, &list);
        strbuf_add_char(&list, ',');
    }
    if (good)
        builder_resources(r->b, task, strbuf_text(&list), list.n, yaml_line(y, v));
    strbuf_free(&list);
    return good;
}

/* The ids of one sort of thing: words without what separates them elsewhere. */
static bool read_ids(const struct native *f, yaml_ref v, const char *name, struct strbuf *out)
{
    const struct yaml *y = &f->y;
    strbuf_add_char(out, '[');
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e)) {
        const char *id;
        size_t length;
        if (!native_text(f, e, name, &id, &length))
            return false;
        if (!length || strcspn(id, "[]=,; \t\n") != length)
            return native_error(f, e,
                                "resources: %s has the id '%s'; expected a word without "
                                "blanks and []=,;",
                                name, id);
        strbuf_printf(out, "%s%s", e == yaml_first(y, v) ? "" : ",", id);
    }
    strbuf_add_char(out, ']');
    return true;
}

/* , resources: {gpu: [0, 1], licence: 4} */
void native_write_things(const char *text, struct strbuf *out)
{
    struct thing_list things;
    struct error err = {0};
    if (!thing_list_read(text, &things, &err)) { /* it was written by thing_list_text() */
        thing_list_free(&things);
        return;
    }
    strbuf_add(out, ", resources: {");
    for (size_t i = 0; i < things.sorts.n; i++) {
        const struct thing_sort *s = &things.sorts.at[i];
        strbuf_printf(out, "%s%s: ", i ? ", " : "", s->name);
        if (!s->ids.n)
            thing_amount_text(s->amount, out);
        for (size_t k = 0; k < s->ids.n; k++) {
            strbuf_add(out, k ? ", " : "[");
            yaml_write_string(out, s->ids.at[k], YAML_IN_FLOW);
        }
        strbuf_add(out, s->ids.n ? "]" : "");
    }
    strbuf_add_char(out, '}');
    thing_list_free(&things);
}

bool native_things(const struct native *f, yaml_ref v, struct strbuf *out)
{
    const struct yaml *y = &f->y;
    if (yaml_is_null(y, v))
        return true;
    if (!native_is_mapping(f, v, "resources"))
        return false;
    struct strbuf list = {0};
    bool good = true;
    for (yaml_ref k = yaml_first(y, v); good && k != YAML_NONE; k = yaml_next(y, v, k)) {
        const char *name = read_name(f, k);
        uint32_t amount;
        good = name != NULL;
        if (!good)
            break;
        strbuf_printf(&list, "%s%s=", list.n ? "," : "", name);
        if (yaml_type(y, yaml_value(k)) == YAML_SEQUENCE) {
            good = read_ids(f, yaml_value(k), name, &list);
        } else {
            good = read_amount(f, yaml_value(k), name, &amount);
            if (good)
                thing_amount_text(amount, &list);
        }
    }
    struct thing_list things = {0};
    struct error err = {0};
    if (good && !thing_list_read(strbuf_text(&list), &things, &err))
        good = native_error(f, v, "resources: %s", err.text);
    if (good)
        thing_list_text(&things, out);
    thing_list_free(&things);
    strbuf_free(&list);
    return good;
}
