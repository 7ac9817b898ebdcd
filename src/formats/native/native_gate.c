/* `when` of a sub-workflow: a condition that each of its tasks has before its own.
 *
 *     align:
 *       flow: align.yaml
 *       in: { reads.fq: "reads/{s}.fq", qc.txt: "qc/{s}.txt" }
 *       when: "{in.qc.txt} contains PASS"              its names of files, the includer's values
 *
 *     align@s=a/map:  when: ({in[1]} contains PASS) and (what it says itself)
 *
 * A gate task before them would do for files that they read, but who only comes after a skipped task runs. So each is asked by
 * itself, by the code that asks any task, here and on agents. The files that are asked stand behind the task's own inputs, and
 * {in} is only its own ones: {in[0:1]}. */
#include "formats/native/native_reading.h"
#include "model/command.h"
#include "model/condition.h"

#include <stdio.h>
#include <string.h>

/* The files that the includer gives are called by the names that the module has for them. */
static uint32_t gate_name_files(struct native_reading *r, const struct native_module *m)
{
    r->named.n = r->named_place.n = 0;
    r->places[0] = r->places[1] = 0;
    for (uint32_t i = 0; i < m->inner.n; i++) {
        if (m->outer.at[i].use != MODULE_IN)
            continue;
        struct native_named x = {intern_text(&m->inner, i), false, r->places[0], 1};
        array_push(&r->named, x);
        array_push(&r->named_place, r->places[0]++);
    }
    return r->places[0];
}

/* Which of them it names; those are of use, whether or not a task of the module reads them. */
static void gate_note_asked(struct native_module *m, const char *text)
{
    char mark[32];
    uint32_t place = 0;
    for (uint32_t i = 0; i < m->inner.n; i++) {
        if (m->outer.at[i].use != MODULE_IN)
            continue;
        snprintf(mark, sizeof mark, "{in[%u]}", place++);
        bool asked = strstr(text, mark) != NULL;
        m->outer.at[i].named |= asked;
        array_push(&m->asked, asked ? i : NONE);
    }
}

bool native_read_gate(struct native_reading *r, struct native_module *m, yaml_ref v)
{
    struct error err = {0};
    if (v == YAML_NONE)
        return true;
    const struct condition_scope scope = {.key = "when", .in = gate_name_files(r, m)};
    r->names_files = true;
    bool good = native_fill_condition(r, v, "when", &m->when);
    r->names_files = false;
    r->named.n = r->named_place.n = 0;
    if (!good)
        return false;
    struct condition *c = condition_parse(strbuf_text(&m->when), &scope, &err);
    if (!c)
        return native_error(&r->file, v, "%s", err.text);
    gate_note_asked(m, strbuf_text(&m->when));
    condition_free(c);
    return true;
}

/* The condition of one module around the task. */
static void gate_add(struct native_reading *r, uint32_t task, const struct native_module *m)
{
    uint32_t *place = mem_new_zero(uint32_t, m->asked.n + 1);
    size_t line = yaml_line(&r->file.y, r->key);
    for (size_t i = 0; i < m->asked.n; i++) {
        if (m->asked.at[i] == NONE)
            continue;
        const char *name = m->outer.at[m->asked.at[i]].outer;
        native_outer_name(m->parent, NULL, name, strlen(name), &r->full);
        builder_consumes(r->b, task, builder_object(r->b, r->full.at, r->full.n), line);
        place[i] = r->places[0]++;
    }
    strbuf_add(&r->gate, r->gate.n ? " and (" : "(");
    condition_move_places(&r->gate, strbuf_text(&m->when), place, (uint32_t)m->asked.n);
    strbuf_add_char(&r->gate, ')');
    free(place);
}

bool native_gate_task(struct native_reading *r, uint32_t task, yaml_ref call)
{
    uint32_t own = r->places[0];
    strbuf_clear(&r->gate);
    for (const struct native_reading *x = r; x->module; x = x->module->parent)
        if (x->module->when.n)
            gate_add(r, task, x->module);
    r->hidden = r->places[0] - own;
    return !r->hidden || call == YAML_NONE ||
           native_error(&r->file, call,
                        "call: a function gets all files that its task reads, and `when` of the "
                        "sub-workflow that it is in asks some that are not its own; ask values "
                        "there, or let a task with run ask them");
}

/* What `{in}` and `{in.list}` stand for where inputs follow that are not the command's. */
const char *native_own_inputs(struct native_reading *r, const char *text, size_t *length)
{
    const char *end = text + *length;
    struct strbuf *out = &r->kept;
    strbuf_clear(out);
    for (const char *p = text; p < end; p++) {
        bool list = strncmp(p, "{in.list}", 9) == 0;
        if (p[0] == '{' && p[1] == '{') {
            strbuf_add(out, "{{");
            p++;
        } else if ((!list && strncmp(p, "{in}", 4) != 0) || command_behind_dollar(text, p)) {
            strbuf_add_char(out, *p);
        } else {
            strbuf_printf(out, list ? "{in[0:%u].list}" : "{in[0:%u]}", r->places[0] - r->hidden);
            p += list ? 8 : 3;
        }
    }
    *length = out->n;
    return strbuf_text(out);
}

/* --assume align=no: none of its tasks. */
bool native_assume_gate(struct native_reading *r, uint32_t task)
{
    for (const struct native_reading *x = r; x->module; x = x->module->parent) {
        const struct native_module *m = x->module;
        const char *text = m->when.n ? native_assumed(m->parent, m->title) : NULL;
        bool yes = text && strcmp(text, "yes") == 0;
        if (text && !yes && strcmp(text, "no") != 0)
            return native_error(&m->parent->file, m->key,
                                "--assume %.80s=%.80s: '%.80s' has `when`; expected yes or no",
                                m->title, text, m->title);
        if (text)
            array_push(&r->shared->decided, (struct native_decided){task, yes});
        if (text && !yes)
            return true;
    }
    return true;
}
