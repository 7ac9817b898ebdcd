/* Makeflow's workflows in JSON and JX: the text is evaluated, its rules become tasks.
 *
 *     { "define": { "n": 3 },                                    -p n=5 stands in its place
 *       "environment": { "LC_ALL": "C" },
 *       "categories": { "sim": { "resources": { "cores": 2 } } },
 *       "rules": [ { "command": "./sim " + i + " > out." + i,
 *                    "inputs": [ "sim" ], "outputs": [ "out." + i ],
 *                    "category": "sim" } for i in range(n) ] }
 *
 * A task is called as its first output, its kind is its category. A rule with "workflow" stands for the
 * rules of another file, which join under its name, with "args" in place of what that file defines:
 *
 *     { "workflow": "sim.jx", "args": { "n": 5 }, "inputs": [ "a" ], "outputs": [ "b" ] }
 *
 *     tasks of sim.jx: b/x, b/b ...; its files are ours, as where Makeflow runs it in our folder */
#include "base/array.h"
#include "base/file.h"
#include "base/suggest.h"
#include "formats/format.h"
#include "formats/jx/jx_reading.h"
#include "formats/registry.h"
#include "formats/scan.h"
#include "model/command.h"
#include "model/shell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Always false: "\"cores\" of resources is a string; expected a whole number". */
bool jx_wrong_type(const struct jx_reading *r, jx_value v, const char *what, const char *expected)
{
    return builder_error(r->b, v->line, "%s is %s; expected %s", what, jx_type_name(v), expected);
}

/* Is every key of the object one of these, and there once? */
bool jx_check_keys(const struct jx_reading *r, jx_value object, const char *what,
                   const char *const *keys)
{
    size_t count = 0;
    while (keys[count])
        count++;
    for (uint32_t i = 0; i < object->n; i += 2) {
        const char *key = object->item[i]->text;
        size_t k = 0;
        while (k < count && strcmp(keys[k], key) != 0)
            k++;
        const char *near = k < count ? NULL : suggest_nearest(key, keys, count);
        if (k == count)
            return builder_error(
                r->b, object->item[i]->line, "%s has the unknown key '%.80s'%s%s%s", what, key,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        for (uint32_t j = 0; j < i && object->n <= 64; j += 2)
            if (strcmp(object->item[j]->text, key) == 0)
                return builder_error(r->b, object->item[i]->line, "%s has the key '%.80s' twice",
                                     what, key);
    }
    return true;
}

/* ---- files ---- */

/* What stands around the command where the task knows a file by another name. */
struct jx_renames {
    struct strbuf before, after;
};

/* The sandbox holds files under the workflow's names: inputs get a link of the task's name, outputs are
 * moved when the command has ended well. */
static void add_link(struct jx_renames *x, const char *name, const char *own, bool out)
{
    if (strchr(own, '/')) {
        strbuf_add(&x->before, "mkdir -p \"$(dirname ");
        command_add_quoted(&x->before, own);
        strbuf_add(&x->before, ")\" || exit\n");
    }
    if (out) {
        strbuf_add(&x->after, "mv ");
        command_add_quoted(&x->after, own);
        strbuf_add_char(&x->after, ' ');
        command_add_quoted(&x->after, name);
        strbuf_add(&x->after, " || exit\n");
    } else {
        strbuf_add(&x->before, "ln -s \"$PWD\"/");
        command_add_quoted(&x->before, name);
        strbuf_add_char(&x->before, ' ');
        command_add_quoted(&x->before, own);
        strbuf_add(&x->before, " || exit\n");
    }
}

/* "x", or {"dag_name": "x.5", "task_name": "x"}. NULL: an error. */
static const char *file_name(const struct jx_reading *r, jx_value v, bool out,
                             struct jx_renames *renames)
{
    static const char *const keys[] = {"dag_name", "task_name", NULL};
    const char *what = out ? "an entry of outputs" : "an entry of inputs";
    jx_value name = v, own = NULL;
    if (v->type == JX_OBJECT) {
        if (!jx_check_keys(r, v, what, keys))
            return NULL;
        name = jx_member(v, "dag_name");
        own = jx_member(v, "task_name");
        if (!name) {
            builder_error(r->b, v->line, "%s has no \"dag_name\"", what);
            return NULL;
        }
    }
    jx_value wrong = name->type != JX_STRING ? name : own;
    if (wrong && wrong->type != JX_STRING) {
        jx_wrong_type(r, wrong, what, "a string");
        return NULL;
    }
    if (!name->n || (own && !own->n)) {
        builder_error(r->b, v->line, "the name of a file is empty");
        return NULL;
    }
    if (own && strcmp(own->text, name->text) != 0)
        add_link(renames, name->text, own->text, out);
    return name->text;
}

/* One file may stand without its array. */
static bool read_files(struct jx_reading *r, jx_value rule, bool out, uint32_t task,
                       struct jx_renames *renames)
{
    jx_value files = jx_member(rule, out ? "outputs" : "inputs");
    if (!files)
        return true;
    uint32_t n = files->type == JX_ARRAY ? files->n : 1;
    if (files->type != JX_ARRAY && files->type != JX_STRING)
        return jx_wrong_type(r, files, out ? "outputs" : "inputs", "an array of files");
    for (uint32_t i = 0; i < n; i++) {
        jx_value file = files->type == JX_ARRAY ? files->item[i] : files;
        const char *name = file_name(r, file, out, renames);
        if (!name)
            return false;
        uint32_t object = builder_object(r->b, name, strlen(name));
        if (out)
            builder_produces(r->b, task, object, file->line);
        else
            builder_consumes(r->b, task, object, file->line);
        if (!out && r->parent)
            array_push(&r->reads, object);
    }
    return !builder_failed(r->b);
}

/* ---- what a rule needs ---- */

/* Each is carried over, counted for a remark, or refused: none is passed over in silence. */
static bool read_resource(struct jx_reading *r, uint32_t task, const char *key, jx_value v)
{
    double x = v->type == JX_INTEGER ? (double)v->integer : v->type == JX_NUMBER ? v->number : -1;
    char what[64];
    snprintf(what, sizeof what, "\"%s\" of resources", key);
    if (!(x >= 0) || (strcmp(key, "memory") != 0 && x != floor(x)) || x > 1e15)
        return jx_wrong_type(r, v, what, "a whole number, 0 or more");
    if (strcmp(key, "cores") == 0 && x >= 1)
        builder_cores(r->b, task, x, v->line);
    else if (strcmp(key, "memory") == 0)
        builder_memory(r->b, task, x * 1048576, v->line); /* MB, as Makeflow counts them */
    else if (strcmp(key, "wall-time") == 0 && x > 0)
        builder_timeout(r->b, task, x, v->line);
    else if (strcmp(key, "disk") == 0)
        r->disks++;
    else if (strcmp(key, "gpus") == 0 && x > 0) {
        snprintf(what, sizeof what, "gpu=%.0f", x);
        builder_resources(r->b, task, what, strlen(what), v->line);
    } else if (strcmp(key, "mpi-processes") == 0 && x > 1) {
        return builder_error(r->b, v->line,
                             "\"mpi-processes\" of %g: weft starts them by `nodes` of its own "
                             "format",
                             x);
    }
    return !builder_failed(r->b);
}

/* Called for the category first: the rule's own go before. */
static bool read_resources(struct jx_reading *r, uint32_t task, jx_value of)
{
    static const char *const keys[] = {"cores",     "memory",        "disk", "gpus",
                                       "wall-time", "mpi-processes", NULL};
    jx_value resources = of ? jx_member(of, "resources") : NULL;
    if (!resources)
        return true;
    if (resources->type != JX_OBJECT)
        return jx_wrong_type(r, resources, "\"resources\"", "an object");
    if (!jx_check_keys(r, resources, "\"resources\"", keys))
        return false;
    for (uint32_t i = 0; i < resources->n; i += 2)
        if (!read_resource(r, task, resources->item[i]->text, resources->item[i + 1]))
            return false;
    return true;
}

/* VAR='value' before the command, from the whole, its category and the rule: the last one holds. */
bool jx_add_environment(const struct jx_reading *r, jx_value environment, struct strbuf *out)
{
    if (!environment)
        return true;
    if (environment->type != JX_OBJECT)
        return jx_wrong_type(r, environment, "\"environment\"", "an object");
    for (uint32_t i = 0; i < environment->n; i += 2) {
        const char *name = environment->item[i]->text;
        jx_value v = environment->item[i + 1];
        size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (!n || name[n] || (*name >= '0' && *name <= '9'))
            return builder_error(r->b, environment->item[i]->line,
                                 "\"environment\": '%.80s' cannot be the name of a variable", name);
        if (v->type != JX_STRING)
            return jx_wrong_type(r, v, "a value of \"environment\"", "a string");
        strbuf_printf(out, "export %s=", name);
        command_add_quoted(out, v->text);
        strbuf_add_char(out, '\n');
    }
    return true;
}

/* A category that is not described is a kind without requirements. */
static bool read_category(struct jx_reading *r, jx_value rule, uint32_t task, jx_value *category)
{
    jx_value name = jx_member(rule, "category");
    name = name ? name : r->default_category;
    *category = NULL;
    if (!name)
        return true;
    if (name->type != JX_STRING)
        return jx_wrong_type(r, name, "\"category\"", "a string");
    if (name->n)
        builder_kind(r->b, task, name->text, name->n);
    *category = r->categories ? jx_member(r->categories, name->text) : NULL;
    return true;
}

/* ---- rules ---- */

/* Variables, links, the command, moves: a line each. A plain command stays plain, and its key that of
 * the same command in a Makeflow file. */
static void rule_command(struct jx_reading *r, uint32_t task, jx_value command,
                         const struct strbuf *environment, const struct jx_renames *renames)
{
    struct strbuf text = {0};
    strbuf_add(&text, strbuf_text(environment));
    strbuf_add(&text, strbuf_text(&renames->before));
    if (renames->after.n)
        strbuf_printf(&text, "(%s\n) || exit\n", command->text);
    else
        strbuf_add(&text, command->text);
    strbuf_add(&text, strbuf_text(&renames->after));
    builder_literal_command(r->b, task, text.at, text.n);
    if (!shell_is_simple(NULL, text.at)) /* Makeflow runs it by /bin/sh -c, not strictly */
        builder_shell(r->b, task, "sh", 2, command->line);
    strbuf_free(&text);
}

/* The first output names the task, or the sub-workflow. */
void jx_rule_name(const struct jx_reading *r, jx_value rule, struct strbuf *out)
{
    jx_value outputs = jx_member(rule, "outputs"), first = outputs;
    if (outputs && outputs->type == JX_ARRAY)
        first = outputs->n ? outputs->item[0] : NULL;
    if (first && first->type == JX_OBJECT)
        first = jx_member(first, "dag_name");
    strbuf_add(out, strbuf_text(&r->prefix));
    if (!first || first->type != JX_STRING || !first->n)
        strbuf_printf(out, "rule%zu", r->rules);
    else
        strbuf_add(out, first->text);
}

static uint32_t rule_task(struct jx_reading *r, jx_value rule)
{
    struct strbuf name = {0};
    uint32_t task = NONE;
    jx_rule_name(r, rule, &name);
    if (builder_find_task(r->b, name.at, name.n) != NONE)
        builder_error(r->b, rule->line, "file '%.200s' is made by two rules",
                      name.at + r->prefix.n);
    else
        task = builder_task(r->b, name.at, name.n, rule->line);
    strbuf_free(&name);
    return task;
}

/* NULL: an error. */
static jx_value rule_text(const struct jx_reading *r, jx_value rule)
{
    jx_value command = jx_member(rule, "command"), args = jx_member(rule, "args");
    if (args)
        builder_error(r->b, args->line, "\"args\" goes with \"workflow\"");
    else if (!command)
        builder_error(r->b, rule->line, "a rule has no \"command\"");
    else if (command->type != JX_STRING)
        jx_wrong_type(r, command, "\"command\"", "a string");
    else if (!command->text[strspn(command->text, " \t\r\n")])
        builder_error(r->b, command->line, "\"command\" is blank");
    else
        return command;
    return NULL;
}

/* Hints for Makeflow's own scheduler: remarks. */
bool jx_read_switches(struct jx_reading *r, jx_value rule)
{
    jx_value local = jx_member(rule, "local_job"), allocation = jx_member(rule, "allocation");
    if (local && local->type != JX_BOOLEAN)
        return jx_wrong_type(r, local, "\"local_job\"", "true or false");
    r->locals += local && local->truth;
    r->allocations += allocation != NULL;
    return true;
}

/* Outputs first: a file that another rule makes is an error at this rule. */
static bool read_rule(struct jx_reading *r, jx_value rule)
{
    static const char *const keys[] = {"command",  "inputs",    "outputs",    "local_job",
                                       "category", "resources", "allocation", "environment",
                                       "workflow", "args",      NULL};
    if (rule->type != JX_OBJECT)
        return jx_wrong_type(r, rule, "a rule", "an object");
    if (!jx_check_keys(r, rule, "a rule", keys))
        return false;
    if (jx_member(rule, "workflow"))
        return jx_read_nested(r, rule);
    jx_value command = rule_text(r, rule), category;
    uint32_t task = command ? rule_task(r, rule) : NONE;
    if (task == NONE)
        return false;
    r->rules++;
    struct jx_renames renames = {0};
    struct strbuf environment = {0};
    strbuf_add(&environment, strbuf_text(&r->inherited));
    size_t n = strcspn(command->text, " \t;|&<>");
    const char *slash = memrchr(command->text, '/', n);
    const char *program = slash ? slash + 1 : command->text;
    if (program < command->text + n)
        builder_usual_kind(r->b, task, program, (size_t)(command->text + n - program));
    bool good =
        read_files(r, rule, true, task, &renames) && read_files(r, rule, false, task, &renames) &&
        read_category(r, rule, task, &category) && read_resources(r, task, category) &&
        read_resources(r, task, rule) && jx_add_environment(r, r->environment, &environment) &&
        (!category || jx_add_environment(r, jx_member(category, "environment"), &environment)) &&
        jx_add_environment(r, jx_member(rule, "environment"), &environment) &&
        jx_read_switches(r, rule);
    if (good)
        rule_command(r, task, command, &environment, &renames);
    strbuf_free(&renames.before);
    strbuf_free(&renames.after);
    strbuf_free(&environment);
    return good && !builder_failed(r->b);
}

/* ---- the file ---- */

/* Checked once, and not with each rule that has it. */
static bool read_categories(struct jx_reading *r)
{
    static const char *const keys[] = {"environment", "resources", "allocation", NULL};
    if (!r->categories)
        return true;
    if (r->categories->type != JX_OBJECT)
        return jx_wrong_type(r, r->categories, "\"categories\"", "an object");
    for (uint32_t i = 0; i < r->categories->n; i += 2) {
        jx_value category = r->categories->item[i + 1];
        if (category->type != JX_OBJECT)
            return jx_wrong_type(r, category, "a category", "an object");
        if (!jx_check_keys(r, category, "a category", keys))
            return false;
    }
    return true;
}

bool jx_read_rules(struct jx_reading *r, jx_value flow)
{
    static const char *const keys[] = {"rules",      "define",           "environment",
                                       "categories", "default_category", NULL};
    jx_value rules;
    if (flow->type != JX_OBJECT)
        return jx_wrong_type(r, flow, "the workflow", "an object with \"rules\"");
    if (!jx_check_keys(r, flow, "the workflow", keys))
        return false;
    rules = jx_member(flow, "rules");
    if (!rules)
        return builder_error(r->b, flow->line, "the key \"rules\" is missing");
    if (rules->type != JX_ARRAY)
        return jx_wrong_type(r, rules, "\"rules\"", "an array");
    r->environment = jx_member(flow, "environment");
    r->categories = jx_member(flow, "categories");
    r->default_category = jx_member(flow, "default_category");
    if (!read_categories(r))
        return false;
    builder_expect(r->b, rules->n, 0);
    for (uint32_t i = 0; i < rules->n; i++)
        if (!read_rule(r, rules->item[i]))
            return false;
    return true;
}

/* `-p n=5`: a number, a list, an object as JX writes them, or else a text. */
static jx_value given_tree(struct jx_reading *r, const char *text)
{
    struct error ignored = {0};
    size_t n = strlen(text);
    jx_value v = strchr("-.0123456789[{\"tfn", *text) && *text
                     ? jx_parse(&r->store, "-p", text, n, &ignored)
                     : NULL;
    bool constant = v && (v->type <= JX_OBJECT || v->type == JX_UNARY);
    return constant ? v : jx_string(&r->store, text, n, 1);
}

/* -p x=1,2,3 where the file has a list. */
static jx_value given_list(struct jx_reading *r, const char *text)
{
    jx_items items = {0};
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        char *item = mem_copy_bytes(p, n);
        array_push(&items, given_tree(r, item));
        free(item);
        p += n;
        if (!*p)
            break;
    }
    struct jx_node *v = jx_new(&r->store, JX_ARRAY, 1);
    if (v) {
        v->n = (uint32_t)items.n;
        v->item = jx_store_take(&r->store, items.n * sizeof(jx_value));
        memcpy(v->item, items.at, items.n * sizeof(jx_value));
    }
    array_free(&items);
    return v;
}

/* What was given for the names, and what "define" has for others. */
bool jx_read_definitions(struct jx_reading *r, jx_value tree, const struct option_value *given)
{
    jx_value define = NULL;
    for (uint32_t i = 0; tree->type == JX_OBJECT && i < tree->n; i += 2)
        if (tree->item[i]->type == JX_STRING && strcmp(tree->item[i]->text, "define") == 0)
            define = tree->item[i + 1];
    if (define && define->type != JX_OBJECT)
        return builder_error(r->b, define->line,
                             "\"define\" is no object; expected {\"name\": value, ...}");
    for (const struct option_value *g = given; g && g->name; g++) {
        if (strcmp(g->name, "--params") == 0)
            return builder_error(r->b, 0,
                                 "--params goes with weft's own format; give -p "
                                 "NAME=VALUE");
        struct jx_definition *old = jx_definition_find(&r->e, g->name);
        struct jx_definition d = {
            .name = g->name, .tree = given_tree(r, g->text), .given = true, .value = NULL};
        if (!d.tree)
            return builder_error(r->b, 0, "-p %.80s is too large", g->name);
        if (old)
            *old = d;
        else
            array_push(&r->e.definitions, d);
    }
    for (uint32_t i = 0; define && i < define->n; i += 2) {
        jx_value name = define->item[i];
        if (name->type != JX_STRING)
            return builder_error(r->b, name->line, "a name of \"define\" is no string");
        struct jx_definition *old = jx_definition_find(&r->e, name->text);
        if (old && !old->given)
            return builder_error(r->b, name->line, "'%.80s' is defined twice", name->text);
        if (!old) {
            array_push(&r->e.definitions,
                       (struct jx_definition){.name = name->text, .tree = define->item[i + 1]});
            continue;
        }
        old->used = true;
        const char *text = NULL;
        for (const struct option_value *g = given; g && g->name; g++)
            if (strcmp(g->name, name->text) == 0)
                text = g->text;
        if (define->item[i + 1]->type == JX_ARRAY && old->tree->type != JX_ARRAY && text)
            old->tree = given_list(r, text);
        if (!old->tree)
            return builder_error(r->b, 0, "-p %.80s is too large", old->name);
    }
    return true;
}

/* Everything but "define", whose values are made when they are asked for. */
jx_value jx_evaluate_workflow(struct jx_reading *r, jx_value tree)
{
    if (tree->type != JX_OBJECT)
        return jx_evaluate(&r->e, tree, NULL);
    struct jx_node *rest = jx_make(&r->e, JX_OBJECT, tree);
    if (!rest)
        return NULL;
    rest->item = jx_store_take(&r->store, (size_t)tree->n * sizeof(jx_value) + 1);
    for (uint32_t i = 0; i < tree->n; i += 2)
        if (tree->item[i]->type != JX_STRING || strcmp(tree->item[i]->text, "define") != 0) {
            rest->item[rest->n++] = tree->item[i];
            rest->item[rest->n++] = tree->item[i + 1];
        }
    return jx_evaluate(&r->e, rest, NULL);
}

/* Everything that was given must be of use. */
static bool check_given(const struct jx_reading *r)
{
    for (size_t i = 0; i < r->e.definitions.n; i++)
        if (r->e.definitions.at[i].given && !r->e.definitions.at[i].used)
            return builder_error(r->b, 0, "-p %.80s: the file names nothing so",
                                 r->e.definitions.at[i].name);
    return true;
}

/* What a reader of Makeflow's files would miss. */
static void jx_remarks(const struct jx_reading *r)
{
    if (r->locals)
        builder_warn(r->b, 0, "local_job of %zu rules is not carried over", r->locals);
    if (r->disks)
        builder_warn(r->b, 0, "disk of %zu rules is not carried over", r->disks);
    if (r->allocations)
        builder_warn(r->b, 0, "allocation of %zu rules is not carried over", r->allocations);
    if (r->rules)
        builder_warn(r->b, 0, "no run times: Makeflow files state none, every task's work is 0");
}

static struct workflow *jx_read_workflow(const struct format_source *source, struct error *err)
{
    if (!format_require_utf8(source, err))
        return NULL;
    size_t files = 0, lines = 2;
    struct stat s;
    for (size_t i = 0; i < source->length; i++)
        lines += source->text[i] == '\n';
    struct jx_reading r = {.b = builder_new(source->path, "jx"), .files = &files, .lines = &lines};
    if (stat(source->path, &s) == 0) {
        r.device = s.st_dev;
        r.inode = s.st_ino;
    }
    struct error found = {0};
    char *folder =
        source->folder ? mem_copy_string(source->folder) : file_beside(source->path, ".");
    builder_home(r.b, source->folder);
    r.e = (struct jx_evaluation){
        .store = &r.store, .file = source->path, .folder = folder, .err = &found};
    jx_value tree = jx_parse(&r.store, source->path, source->text, source->length, &found);
    jx_value flow = tree && jx_read_definitions(&r, tree, source->options)
                        ? jx_evaluate_workflow(&r, tree)
                        : NULL;
    if (flow && jx_read_rules(&r, flow) && check_given(&r))
        jx_remarks(&r);
    if (r.e.outside)
        builder_outside(r.b);
    array_free(&r.e.definitions);
    jx_store_free(&r.store);
    free(folder);
    if (found.kind == ERROR_NONE)
        return builder_finish(r.b, err);
    builder_free(r.b);
    *err = found;
    return NULL;
}

/* .jx; or an object, after remarks, in whose beginning "rules" is a key. */
static int jx_sniff(const char *path, const char *text, size_t length)
{
    enum { LOOK = 16384 };
    if (scan_has_suffix(path, ".jx"))
        return 3;
    const char *p = text, *end = text + (length < LOOK ? length : LOOK);
    if (end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (p < end && strchr(" \t\r\n#", *p)) {
        const char *line = *p == '#' ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        p = *p == '#' ? (line ? line + 1 : end) : p + 1;
    }
    if (p >= end || *p != '{')
        return 0;
    while ((p = memmem(p, (size_t)(end - p), "\"rules\"", 7))) {
        for (p += 7; p < end && strchr(" \t\r\n", *p);)
            p++;
        if (p < end && *p == ':')
            return 2;
    }
    return 0;
}

const struct format format_jx = {
    .name = "jx",
    .summary = "Makeflow's JSON and JX, evaluated",
    .suffixes = ".jx",
    .sniff = jx_sniff,
    .read_workflow = jx_read_workflow,
    .has_parameters = true,
    .text_alone = true,
};
