/* Rules of JX that stand for the rules of another file. Makeflow runs such a file by itself, in the same
 * folder, with "args" in place of what it defines; here its rules become tasks of the one workflow, so
 * that all of it is planned, checked and run together.
 *
 *     { "workflow": "sim.jx", "args": { "n": 5 }, "outputs": [ "b" ] }     tasks b/x, b/b
 *
 * Lines of the file count behind those of the files before it: the builder knows whose they are. */
#include "base/array.h"
#include "base/file.h"
#include "base/tree.h"
#include "formats/format.h"
#include "formats/jx/jx_reading.h"

#include <string.h>
#include <sys/stat.h>

enum { JX_FILES_DEEP = 32, JX_FILES_MOST = 10000 }; /* sub-workflows in each other, in all */

/* Is the file one of those that it would stand in, or are there too many? */
static bool check_nested(const struct jx_reading *r, jx_value file, const struct stat *s)
{
    int depth = 0;
    for (const struct jx_reading *x = r; x; x = x->parent, depth++)
        if (x->device == s->st_dev && x->inode == s->st_ino)
            return builder_error(r->b, file->line, "\"workflow\": '%.200s' contains itself",
                                 file->text);
    if (depth > JX_FILES_DEEP || ++*r->files > JX_FILES_MOST)
        return builder_error(
            r->b, file->line,
            "\"workflow\": sub-workflows stand more than %d deep in each other, or "
            "there are more than %d",
            JX_FILES_DEEP, JX_FILES_MOST);
    return true;
}

/* "args" in place of what "define" has; each must be of use. They are values of the including file, which
 * lives longer than the reading of this one. */
static bool take_args(const struct jx_reading *r, struct jx_reading *child, jx_value args)
{
    if (args && args->type != JX_OBJECT)
        return jx_wrong_type(r, args, "\"args\"", "an object");
    for (uint32_t i = 0; args && i < args->n; i += 2)
        array_push(&child->e.definitions, (struct jx_definition){.name = args->item[i]->text,
                                                                 .tree = args->item[i + 1],
                                                                 .given = true});
    return true;
}

static bool check_args(const struct jx_reading *r, const struct jx_reading *child, jx_value rule)
{
    for (size_t i = 0; i < child->e.definitions.n; i++)
        if (child->e.definitions.at[i].given && !child->e.definitions.at[i].used)
            return builder_error(r->b, rule->line, "\"args\": '%.200s' names nothing '%.80s'",
                                 child->e.file, child->e.definitions.at[i].name);
    return true;
}

/* Files of the rule: what it says that it makes is made, and what none of its rules reads comes before
 * all of them, as where it is run as one. */
static bool join_nested(struct jx_reading *r, const struct jx_reading *child, jx_value rule,
                        uint32_t first)
{
    const char *file = jx_member(rule, "workflow")->text;
    for (int out = 0; out < 2; out++) {
        jx_value files = jx_member(rule, out ? "outputs" : "inputs");
        uint32_t n = !files ? 0 : files->type == JX_ARRAY ? files->n : 1;
        for (uint32_t i = 0; i < n; i++) {
            jx_value v = files->type == JX_ARRAY ? files->item[i] : files;
            if (v->type != JX_STRING || !v->n)
                return jx_wrong_type(r, v, out ? "an entry of outputs" : "an entry of inputs",
                                     "the name of a file");
            uint32_t object = builder_object(r->b, v->text, v->n);
            uint32_t maker = object == NONE ? NONE : builder_producer(r->b, object);
            if (out && (maker == NONE || maker < first))
                return builder_error(r->b, v->line, "no rule of '%.200s' makes '%.200s'", file,
                                     v->text);
            bool read = strcmp(v->text, file) == 0;
            for (size_t k = 0; k < child->reads.n && !out && !read; k++)
                read = child->reads.at[k] == object;
            for (uint32_t t = first; t < builder_task_count(r->b) && !out && !read; t++)
                builder_consumes(r->b, t, object, v->line);
            if (!out && r->parent)
                array_push(&r->reads, object);
        }
    }
    return !builder_failed(r->b);
}

/* The text of the file, evaluated; its rules become tasks of the same builder. */
static bool read_nested_text(struct jx_reading *r, struct jx_reading *child, jx_value rule,
                             const struct text *text)
{
    uint32_t first = builder_task_count(r->b);
    size_t lines = 2;
    for (size_t i = 0; i < text->n; i++)
        lines += text->at[i] == '\n';
    child->store.base = (uint32_t)*r->lines;
    *r->lines += lines;
    if (*r->lines > UINT32_MAX / 2)
        return builder_error(r->b, rule->line, "the sub-workflows have too many lines together");
    builder_source(r->b, child->e.file, child->store.base);
    if (!format_require_utf8(
            &(struct format_source){.path = child->e.file, .text = text->at, .length = text->n},
            r->e.err))
        return false;
    jx_value tree = jx_parse(&child->store, child->e.file, text->at, text->n, r->e.err);
    jx_value flow = tree && take_args(r, child, jx_member(rule, "args")) &&
                            jx_read_definitions(child, tree, NULL)
                        ? jx_evaluate_workflow(child, tree)
                        : NULL;
    r->e.outside = true;
    return flow && jx_read_rules(child, flow) && check_args(r, child, rule) &&
           join_nested(r, child, rule, first);
}

/* The reading of the file is over with it: its names and values are in the builder by then, and its
 * store, which may be large, goes before the next one is read. What the rule and those around it set in the
 * environment stands before every command, as Makeflow's own child would have it. */
bool jx_read_nested(struct jx_reading *r, jx_value rule)
{
    static const char *const keys[] = {"workflow",    "args",      "inputs",     "outputs",
                                       "environment", "local_job", "allocation", NULL};
    jx_value file = jx_member(rule, "workflow");
    if (file->type != JX_STRING || !file->n)
        return jx_wrong_type(r, file, "\"workflow\"", "the name of a file");
    if (!jx_check_keys(r, rule, "a rule with \"workflow\", whose rules have the rest,", keys))
        return false;
    struct strbuf path = {0};
    struct stat s = {0};
    struct text text = {0};
    struct error why = {0};
    path_in(r->e.folder, file->text, &path);
    bool good = (stat(path.at, &s) == 0 && S_ISREG(s.st_mode)) ||
                builder_error(r->b, file->line, "\"workflow\": there is no file '%.200s'", path.at);
    good = good && check_nested(r, file, &s);
    if (good && !file_read(path.at, &text, &why))
        good = builder_error(r->b, file->line, "%s", why.text);
    struct jx_reading child = {.b = r->b,
                               .parent = r,
                               .device = s.st_dev,
                               .inode = s.st_ino,
                               .files = r->files,
                               .lines = r->lines};
    child.e = (struct jx_evaluation){
        .store = &child.store, .file = path.at, .folder = r->e.folder, .err = r->e.err};
    jx_rule_name(r, rule, &child.prefix);
    strbuf_add_char(&child.prefix, '/');
    strbuf_add(&child.inherited, strbuf_text(&r->inherited));
    good = good && jx_read_switches(r, rule) &&
           jx_add_environment(r, r->environment, &child.inherited) &&
           jx_add_environment(r, jx_member(rule, "environment"), &child.inherited) &&
           read_nested_text(r, &child, rule, &text);
    r->rules += child.rules;
    r->disks += child.disks;
    r->locals += child.locals;
    r->allocations += child.allocations;
    text_free(&text);
    array_free(&child.e.definitions);
    array_free(&child.reads);
    strbuf_free(&child.prefix);
    strbuf_free(&child.inherited);
    jx_store_free(&child.store);
    strbuf_free(&path);
    return good;
}
