/* The rounds of repeated tasks, as tasks: see native_repeat.h. Making and reading them are two passes, as
 * of all tasks of a file (native_members.c); what is made now stands in r->rounds in between.
 *
 *     a chain     due ──native_make_rounds──▶ waits for its round ──native_decide_rounds──▶ due
 *                                                                          │
 *                                  all chains of the task:  ended ◀── over ┘
 *
 * I1. Chains of one task stand beside each other, in the order of its members: the last tasks are made
 *     together, so that the family is one range of numbers for who comes after it.
 * I2. Nothing of a chain depends on how it came about: a run that goes on after a crash asks `until` of
 *     the same files, and makes the same rounds under the same names.
 * I3. A chain that cannot go on (no answer, no rounds left) ends with a task that fails and says why: so
 *     others go on with --keep-going, and history, hooks and exit status know it. */
#include "formats/native/native_reading.h"
#include "model/command.h"
#include "model/condition.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool native_has_rounds(const struct native_reading *r, yaml_ref key)
{
    bool any = false;
    for (size_t i = 0; i < r->chains.n; i++) {
        any |= r->chains.at[i]->key == key;
        if (r->chains.at[i]->key == key && !r->chains.at[i]->over)
            return true;
    }
    return !any && native_is_open_repeat(r, key) && r->lists.waits;
}

/* How many rounds it takes only a run tells: as many as the user says, as there were, or `most`. */
static bool assume_rounds(struct native_reading *r, struct native_chain *c)
{
    size_t line = yaml_line(&r->file.y, c->until);
    const char *text = native_assumed(r, yaml_text(&r->file.y, c->key, NULL));
    char *end = NULL;
    unsigned long given = text ? strtoul(text, &end, 10) : 0;
    if (text && (*end || !*text || given < 1 || given > c->most))
        return native_error(&r->file, c->until,
                            "--assume: '%.80s' rounds of '%.80s'; expected 1 to its `most`, %u",
                            text, c->name, c->most);
    c->unrolled = text ? (uint32_t)given : c->last_time ? c->last_time : c->most;
    if (!text && !c->last_time)
        builder_warn(r->b, line,
                     "%s: how many rounds it takes is" FORMAT_NOT_KNOWN "it has run: its `most`, "
                     "%u, are taken here",
                     r->file.where, c->most);
    else if (!text && native_simulates(r))
        builder_warn(r->b, line, "%s: %u round%s assumed, as there were the last time",
                     r->file.where, c->unrolled, c->unrolled == 1 ? " is" : "s are");
    return true;
}

bool native_make_chain(struct native_reading *r, yaml_ref key, const char *name)
{
    struct native_chain *c = native_read_repeat(r, key, name);
    if (!c)
        return false;
    array_push(&r->chains, c);
    if (c->until == YAML_NONE) {
        c->unrolled = c->most;
    } else if (!r->lists.waits) { /* nobody will run it: as many as there were, or may be */
        builder_outside(r->b);
        return assume_rounds(r, c);
    }
    return true;
}

/* ---- making ---- */

static const struct family *family_of(const struct native_reading *r, yaml_ref key)
{
    for (size_t i = 0; i < r->families.n; i++)
        if (r->families.at[i].key == key)
            return &r->families.at[i];
    return NULL;
}

static void bind_chain(struct native_reading *r, const struct native_chain *c)
{
    const struct family *f = family_of(r, c->key);
    if (f)
        family_bind(f, &r->scope, c->combination);
    native_name_place(r, c->name);
}

static void unbind_chain(struct native_reading *r, const struct native_chain *c)
{
    const struct family *f = family_of(r, c->key);
    if (f)
        family_unbind(f, &r->scope);
}

/* What lies in the folder of a round is made by the sub-workflows around it, too. */
static void note_round_made(struct native_reading *r, const struct native_chain *c, uint32_t round)
{
    struct strbuf name = {0}, outer = {0};
    for (uint32_t i = 0; i < c->out.n && r->module; i++) {
        if (round)
            native_round_output(c, round, i, &name);
        else
            strbuf_clear(&name), strbuf_add(&name, c->out.at[i].name);
        for (struct native_reading *top = r; top->module; top = top->module->parent) {
            native_outer_name(r, top, name.at, name.n, &outer);
            if (top->module->instance)
                module_makes(top->module, outer.at);
        }
    }
    strbuf_free(&name);
    strbuf_free(&outer);
}

/* The next round of a chain; the scope is bound. */
static bool make_round(struct native_reading *r, struct native_chain *c)
{
    struct native_round round = {c, ++c->round, builder_task_count(r->b)};
    struct join row = {.by = c->first, .nby = c->count}; /* the round before */
    struct strbuf title = {0};
    char number[16];
    bool good;
    snprintf(number, sizeof number, "%u", round.number);
    native_round_title(c, round.number, &title);
    note_round_made(r, c, round.number);
    r->scope.round = number;
    r->round = &round;
    r->round_place[0] = r->round_place[1] = 0;
    if (native_is_flow(r, c->key)) {
        good = native_make_flow(r, c->key, title.at);
        c->module = (uint32_t)r->modules.n - 1;
    } else {
        good = native_add_task(r, c->key, title.at, title.n);
    }
    r->round = NULL;
    r->scope.round = NULL;
    strbuf_free(&title);
    c->first = row.first = round.task;
    c->count = row.count = builder_task_count(r->b) - c->first;
    if (c->round == 1)
        native_note_entry(r, c->key, c->first);
    else if (!r->lists.waits && c->until != YAML_NONE)
        native_join(r, row, c->key);
    array_push(&r->rounds, round);
    if (good && c->until != YAML_NONE) {
        free(c->condition);
        c->condition = native_round_condition(r, c, c->round);
        good = c->condition != NULL;
    }
    return good;
}

/* All chains of a task have ended: the task itself, or the family. `i`: its first. */
static bool make_last(struct native_reading *r, size_t i)
{
    yaml_ref key = r->chains.at[i]->key;
    uint32_t first = builder_task_count(r->b);
    bool good = true;
    for (; good && i < r->chains.n && r->chains.at[i]->key == key; i++) {
        struct native_chain *c = r->chains.at[i];
        note_round_made(r, c, 0);
        c->ended = true;
        array_push(&r->rounds, (struct native_round){c, 0, builder_task_count(r->b)});
        struct join row = {builder_task_count(r->b), 1, c->first, c->count};
        good = native_add_task(r, key, c->name, strlen(c->name));
        if (good && !r->lists.waits && c->until != YAML_NONE)
            native_join(r, row, key);
    }
    return good &&
           (!family_of(r, key) || native_add_group(r, yaml_text(&r->file.y, key, NULL), first));
}

/* O(chains) beside what is made: a file has few tasks that are repeated. */
bool native_make_rounds(struct native_reading *r)
{
    bool good = true;
    for (size_t i = 0; i < r->chains.n && good; i++) {
        struct native_chain *c = r->chains.at[i];
        if (!c->due)
            continue;
        bind_chain(r, c);
        do
            good = make_round(r, c);
        while (good && c->round < c->unrolled);
        unbind_chain(r, c);
        c->due = false;
        c->over = c->unrolled > 0;
    }
    for (size_t i = 0, n; i < r->chains.n && good; i += n) {
        yaml_ref key = r->chains.at[i]->key;
        bool over = true;
        for (n = 0; i + n < r->chains.n && r->chains.at[i + n]->key == key; n++)
            over = over && r->chains.at[i + n]->over;
        if (over && !r->chains.at[i]->ended)
            good = make_last(r, i);
    }
    r->file.where[0] = 0;
    return good;
}

/* ---- reading ---- */

const char *native_round_name(struct native_reading *r, bool out, const char *name, size_t *length)
{
    const struct native_round *round = r->round;
    const struct native_chain *c = round->chain;
    uint32_t place = r->round_place[out]++, from = round->number - !out;
    uint32_t output = out ? place : place < c->in.n ? c->in.at[place].carried : NONE;
    if (output == NONE || output >= c->out.n)
        return name;
    if (round->number == 1) { /* a command that spells it out works in no round, or in the first */
        strbuf_add_bytes(&r->renamed, name, *length);
        strbuf_add_char(&r->renamed, 0);
    }
    if (!from)
        return name;
    native_round_output(c, from, output, &r->round_name);
    *length = r->round_name.n;
    return r->round_name.at;
}

bool native_round_is_temporary(const struct native_reading *r)
{
    const struct native_chain *c = r->round->chain;
    uint32_t place = r->round_place[1] - 1;
    return c->keeps_last && place < c->out.n && !c->out.at[place].asked;
}

/* Shown where the task is: how it went, and what can be done about it. */
static void add_failure(const struct native_chain *c, struct strbuf *command)
{
    struct strbuf quoted = {0};
    command_add_quoted(&quoted, c->failure);
    strbuf_add(command, "echo ");
    command_add_doubled(command, quoted.at);
    strbuf_add(command, " >&2; exit 1");
    strbuf_free(&quoted);
}

/* The files of the last round at the names that the user wrote. Copies: whoever changes one of them does
 * not change the round's; on file systems that can, they share what they hold. */
static bool read_last(struct native_reading *r, const struct native_round *round)
{
    const struct native_chain *c = round->chain;
    size_t line = yaml_line(&r->file.y, c->key);
    struct strbuf command = {0}, name = {0};
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct round_file *f = &c->out.at[i];
        native_round_output(c, c->round, i, &name);
        uint32_t from = native_object(r, name.at, name.n);
        uint32_t to = native_object(r, f->name, strlen(f->name));
        builder_consumes(r->b, round->task, from, line);
        builder_produces(r->b, round->task, to, line);
        if (!isnan(f->size))
            builder_size(r->b, to, f->size, line);
        if (f->temporary)
            builder_temporary(r->b, to);
        strbuf_printf(&command, "%scp -RHT --preserve=mode --reflink=auto -- {in[%u]} {out[%u]}",
                      i ? " && " : "", i, i);
    }
    if (c->failure) {
        strbuf_clear(&command);
        add_failure(c, &command);
    }
    builder_command(r->b, round->task, command.at, command.n);
    strbuf_clear(&name);
    strbuf_printf(&name, "%s/last", yaml_text(&r->file.y, c->key, NULL));
    const char *kind = native_full_kind(r, name.at);
    builder_kind(r->b, round->task, kind, strlen(kind));
    strbuf_free(&command);
    strbuf_free(&name);
    return !builder_failed(r->b);
}

/* Two tasks make a file: told now, and not when the last round is done. */
static bool check_last_outputs(struct native_reading *r, const struct native_chain *c)
{
    for (size_t i = 0; i < c->out.n; i++) {
        const char *name = c->out.at[i].name;
        uint32_t object = native_object(r, name, strlen(name));
        uint32_t maker = object == NONE ? NONE : builder_producer(r->b, object);
        if (maker != NONE &&
            strcmp(builder_task_name(r->b, maker) + strlen(native_prefix(r)), c->name) != 0)
            return native_error(&r->file, c->key, "'%.200s' is made by task '%.200s', too", name,
                                builder_task_name(r->b, maker));
    }
    return true;
}

/* `keep: last` of a sub-workflow: everything that its tasks make, the objects from `object` on, but for
 * what `until` asks. */
static void drop_round_files(struct native_reading *r, const struct native_round *round,
                             uint32_t object)
{
    const struct native_chain *c = round->chain;
    struct strbuf name = {0};
    uint32_t *asked = mem_new(uint32_t, c->out.n);
    for (uint32_t i = 0; i < c->out.n; i++) {
        native_round_output(c, round->number, i, &name);
        asked[i] = c->out.at[i].asked ? native_object(r, name.at, name.n) : NONE;
    }
    for (; object < builder_object_count(r->b); object++) {
        bool stays = builder_producer(r->b, object) == NONE;
        for (size_t i = 0; i < c->out.n; i++)
            stays = stays || asked[i] == object;
        if (!stays)
            builder_temporary(r->b, object);
    }
    free(asked);
    strbuf_free(&name);
}

static bool read_round(struct native_reading *r, const struct native_round *round, uint32_t *module)
{
    const struct native_chain *c = round->chain;
    const char *title = yaml_text(&r->file.y, c->key, NULL);
    const struct family *f = family_of(r, c->key);
    char number[16];
    bool good;
    if (!round->number)
        return read_last(r, round);
    snprintf(number, sizeof number, "%u", round->number);
    r->scope.round = number;
    r->round = round;
    r->round_place[0] = r->round_place[1] = 0;
    r->family = f ? (uint32_t)(f - r->families.at) : NONE;
    if (native_is_flow(r, c->key)) {
        uint32_t object = builder_object_count(r->b);
        good = native_read_flow(r, c->key, r->modules.at[(*module)++]);
        if (good && c->keeps_last)
            drop_round_files(r, round, object);
    } else {
        const char *kind = native_full_kind(r, title);
        builder_kind(r->b, round->task, kind, strlen(kind));
        good = native_read_body(r, round->task, yaml_value(c->key), kind);
    }
    r->family = NONE;
    r->round = NULL;
    r->scope.round = NULL;
    return good;
}

/* In the order in which they were made: modules of r->modules are found by it. */
bool native_read_rounds(struct native_reading *r, uint32_t *module)
{
    bool good = true;
    for (size_t i = 0; i < r->rounds.n && good && !builder_failed(r->b); i++) {
        bind_chain(r, r->rounds.at[i].chain);
        good = read_round(r, &r->rounds.at[i], module);
        unbind_chain(r, r->rounds.at[i].chain);
    }
    for (size_t i = 0; i < r->rounds.n && good && !builder_failed(r->b); i++)
        if (r->rounds.at[i].number == 1)
            good = check_last_outputs(r, r->rounds.at[i].chain);
    r->rounds.n = 0;
    r->file.where[0] = 0;
    return good;
}

/* ---- deciding ---- */

/* The round's tasks are done, so its files are those that the run has on record. */
void native_decide_rounds(struct native_reading *r, struct native_chain *c)
{
    struct error err = {0};
    struct strbuf why = {0};
    bool holds = false;
    const char *until = yaml_text(&r->file.y, c->until, NULL);
    if (!native_round_holds(r, c, c->round, c->condition, &holds, &err)) {
        c->over = true;
        strbuf_printf(&why, "%s: until (%.200s) cannot be answered after round %u: %s", c->name,
                      until, c->round, err.text);
    } else if (!holds && c->round >= c->most && !c->accepts) {
        c->over = true;
        strbuf_printf(
            &why,
            "%s: %u round%s, and until does not hold: %.200s; allow more rounds (most), or "
            "say `accept: true` if the last one is good enough",
            c->name, c->round, plural(c->round), until);
    }
    if (why.n)
        c->failure = strbuf_steal(&why);
    c->over = c->over || holds || c->round >= c->most;
    c->due = !c->over;
}
