/* What a task says about decisions while it runs: `when`, and after which failures it is tried again. */
#include "formats/native/native_reading.h"
#include "model/condition.h"
#include "model/retry.h"

#include <string.h>

/* After its inputs were read, which it may name. */
bool native_read_when(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct condition_scope scope = {.key = "when", .in = r->places[0]};
    struct error err = {0};
    if (v == YAML_NONE) {
        builder_when(r->b, task, r->gate.at, r->gate.n);
        return r->lists.waits || native_assume_gate(r, task);
    }
    if (!native_fill_condition(r, v, "when", &r->command))
        return false;
    struct condition *c = condition_parse(strbuf_text(&r->command), &scope, &err);
    if (!c) { /* names and values were filled in: people wrote something else */
        const char *written = yaml_text(&r->file.y, v, NULL);
        if (strcmp(written, strbuf_text(&r->command)) == 0)
            return native_error(&r->file, v, "%s", err.text);
        return native_error(&r->file, v, "%s (written: %.200s)", err.text, written);
    }
    condition_free(c);
    if (r->gate.n) {
        strbuf_printf(&r->gate, " and (%s)", strbuf_text(&r->command));
        builder_when(r->b, task, r->gate.at, r->gate.n);
    } else {
        builder_when(r->b, task, r->command.at, r->command.n);
    }
    return r->lists.waits || (native_assume_taken(r, task) && native_assume_gate(r, task));
}

static bool read_retry_word(const struct native_reading *r, yaml_ref v, struct strbuf *list)
{
    const char *text;
    size_t length;
    struct error err = {0};
    if (!native_text(&r->file, v, "an entry of retry_on", &text, &length))
        return false;
    return retry_add(list, text, &err) || native_error(&r->file, v, "%s", err.text);
}

/* A word or a list of them. */
bool native_read_retry_on(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    struct strbuf list = {0};
    bool many = yaml_type(y, v) == YAML_SEQUENCE, good = true;
    for (yaml_ref e = many ? yaml_first(y, v) : v; e != YAML_NONE && good;
         e = many ? yaml_next(y, v, e) : YAML_NONE)
        good = read_retry_word(r, e, &list);
    if (good && !list.n)
        good = native_error(&r->file, v,
                            "retry_on is empty; without it all failures are tried again, and "
                            "with `retries: 0` none");
    if (good)
        builder_retry_on(r->b, task, list.at, list.n, yaml_line(y, v));
    strbuf_free(&list);
    return good;
}

/* Does the task, or do the defaults, say that there are further attempts? */
static bool has_attempts(const struct native_reading *r, yaml_ref body)
{
    const struct yaml *y = &r->file.y;
    yaml_ref memory = yaml_get(y, body, "memory"), retries = yaml_get(y, body, "retries");
    return retries != YAML_NONE || (memory != YAML_NONE && yaml_type(y, memory) == YAML_SEQUENCE);
}

void native_check_retries(const struct native_reading *r, yaml_ref body)
{
    yaml_ref said = yaml_get(&r->file.y, body, "retry_on");
    if (said == YAML_NONE || has_attempts(r, body) ||
        (r->defaults != YAML_NONE && has_attempts(r, r->defaults)))
        return;
    builder_warn(r->b, yaml_line(&r->file.y, said),
                 "%s: retry_on without retries: nothing is tried again; say `retries: 2`",
                 r->file.where);
}
