/* Families of a workflow: see families.h. */
#include "report/families.h"
#include "report/graph_svg.h"
#include "report/human.h"
#include "report/kinds.h"
#include "report/table.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which tasks are one ---- */

bool families_is_member(const struct workflow *w, uint32_t task)
{
    const char *name = workflow_task_name(w, task), *kind = workflow_text(w, w->kind[task]);
    size_t n = strlen(kind);
    return n && strncmp(name, kind, n) == 0 && name[n] == '@';
}

/* How much of its name is its module's: "align@s=a/sort" and "align@s=b/map" are of `align`, and so is
 * `qc/count@k=1` of `qc`. 0: it stands in the workflow's own file. A family's value may have a slash
 * of its own: such a family is as good as a module. */
static size_t module_length(const char *name)
{
    return strchr(name, '/') ? strcspn(name, "@/") : 0;
}

static void families_forget_modules(struct families *f)
{
    for (size_t i = 0; i < f->modules.n; i++)
        free(f->modules.at[i]);
    array_free(&f->modules);
}

static uint32_t *families_levels(const struct workflow *w)
{
    uint32_t *level = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (level[w->succ_task[e]] < level[t] + 1)
                level[w->succ_task[e]] = level[t] + 1;
    }
    return level;
}

static void families_number(struct families *f, const struct workflow *w, const uint32_t *level)
{
    struct intern known;
    struct strbuf key = {0};
    intern_init(&known);
    f->at.n = 0;
    families_forget_modules(f);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        const char *name = workflow_task_name(w, t);
        size_t module = f->by_module ? module_length(name) : 0;
        strbuf_clear(&key);
        /* a task that happens to begin with `sort` is no member of the family `sort` */
        strbuf_add_char(&key, module ? '/' : families_is_member(w, t) ? '@' : ' ');
        if (module)
            strbuf_add_bytes(&key, name, module);
        else if (f->by_module && !families_is_member(w, t))
            strbuf_add(&key, name);
        else
            strbuf_add(&key, workflow_text(w, w->kind[t]));
        if (f->by_level)
            strbuf_printf(&key, " %u", level[t]);
        uint32_t k = intern_number(&known, key.at, key.n);
        if (k == f->at.n) {
            array_push(&f->at,
                       (struct family_sum){.name = w->kind[t], .level = level[t], .first = t});
            if (f->by_module)
                array_push(&f->modules, module ? mem_copy_bytes(name, module) : NULL);
        }
        struct family_sum *x = &f->at.at[k];
        f->of[t] = k;
        x->tasks++;
        x->work += w->work[t];
        x->memory = w->memory[t] > x->memory ? w->memory[t] : x->memory;
        x->cores = w->cores[t] > x->cores ? w->cores[t] : x->cores;
        for (uint32_t o = w->object_off[t]; o < w->object_off[t + 1]; o++)
            x->bytes += w->size[o];
    }
    strbuf_free(&key);
    intern_free(&known);
}

/* ---- what goes between them ---- */

static int family_link_order(const void *a, const void *b)
{
    const struct family_link *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* Edges come in runs from one family to another: most cost a comparison. */
static void families_join(struct families *f, const struct workflow *w)
{
    uint32_t *last = mem_new_zero(uint32_t, w->ntasks + 1); /* per successor: joined by task + 1 */
    struct intern known;
    char key[32];
    uint32_t k = 0;
    intern_init(&known);
    f->links.n = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e], a = f->of[t], b = f->of[to];
            if (!f->links.n || f->links.at[k].from != a || f->links.at[k].to != b) {
                int n = snprintf(key, sizeof key, "%u %u", a, b);
                k = intern_number(&known, key, (size_t)n);
            }
            if (k == f->links.n)
                array_push(&f->links, (struct family_link){.from = a, .to = b});
            f->links.at[k].pairs += last[to] != t + 1;
            last[to] = t + 1;
            if (w->succ_object[e] != NONE)
                f->links.at[k].bytes += w->size[w->succ_object[e]];
        }
    if (f->links.n)
        qsort(f->links.at, f->links.n, sizeof *f->links.at, family_link_order);
    intern_free(&known);
    free(last);
}

/* Kahn's algorithm over the links, those within a family left out. */
static bool families_have_cycle(const struct families *f)
{
    size_t n = f->at.n, done = 0, left = 0;
    uint32_t *waits = mem_new_zero(uint32_t, n + 1), *queue = mem_new(uint32_t, n + 1);
    uint32_t *off = mem_new_zero(uint32_t, n + 2);
    for (size_t i = 0; i < f->links.n; i++) {
        off[f->links.at[i].from + 1]++;
        waits[f->links.at[i].to] += f->links.at[i].from != f->links.at[i].to;
    }
    for (size_t i = 0; i < n; i++) {
        off[i + 1] += off[i];
        if (!waits[i])
            queue[left++] = (uint32_t)i;
    }
    for (; done < left; done++)
        for (uint32_t i = off[queue[done]]; i < off[queue[done] + 1]; i++) {
            const struct family_link *x = &f->links.at[i];
            if (x->from != x->to && --waits[x->to] == 0)
                queue[left++] = x->to;
        }
    free(waits);
    free(queue);
    free(off);
    return left < n;
}

void families_of(struct families *f, const struct workflow *w, enum families_by by, bool acyclic)
{
    *f = (struct families){.of = mem_new(uint32_t, (size_t)w->ntasks + 1),
                           .by_module = by == FAMILIES_BY_MODULE};
    uint32_t *level = families_levels(w);
    families_number(f, w, level);
    families_join(f, w);
    if (acyclic && families_have_cycle(f)) {
        f->by_level = true;
        families_number(f, w, level);
        families_join(f, w);
    }
    free(level);
}

void families_free(struct families *f)
{
    families_forget_modules(f);
    array_free(&f->at);
    array_free(&f->links);
    free(f->of);
    *f = (struct families){0};
}

/* ---- names ---- */

void families_add_label(const struct workflow *w, uint32_t first, uint32_t more, struct strbuf *out)
{
    char count[HUMAN_SIZE];
    strbuf_add(out, workflow_task_name(w, first));
    if (more)
        strbuf_printf(out, " and %s more", human_count(count, more));
}

const char *families_name(const struct families *f, const struct workflow *w, uint32_t family)
{
    const struct family_sum *x = &f->at.at[family];
    if (f->by_module && f->modules.at[family])
        return f->modules.at[family];
    bool one = x->tasks == 1 && !families_is_member(w, x->first);
    const char *kind = workflow_text(w, x->name);
    return one || !*kind ? workflow_task_name(w, x->first) : kind;
}

/* ---- text ---- */

static void families_table(const struct families *f, const struct workflow *w, bool colour,
                           struct strbuf *out)
{
    char count[HUMAN_SIZE];
    struct table *t = table_new();
    static const char *const right[] = {"tasks", "work", "makes", "memory", "cores"};
    table_column(t, f->by_module ? "module" : "kind", TABLE_LEFT);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        table_column(t, right[i], TABLE_RIGHT);
    for (uint32_t k = 0; k < f->at.n; k++) {
        const struct family_sum *x = &f->at.at[k];
        table_row(t);
        table_cell(t, families_name(f, w, k));
        table_cell(t, human_count(count, x->tasks));
        table_number(t, x->work);
        table_bytes(t, x->bytes);
        if (x->memory > 0)
            table_bytes(t, x->memory);
        else
            table_cell(t, "-");
        table_printf(t, "%u", x->cores);
    }
    table_print(t, out, &(struct table_style){.colour = colour, .max_cell = 48});
    table_free(t);
}

void families_text(const struct families *f, const struct workflow *w, bool colour,
                   struct strbuf *out)
{
    char count[HUMAN_SIZE];
    families_table(f, w, colour, out);
    if (!f->links.n)
        return;
    strbuf_add_char(out, '\n');
    struct table *t = table_new();
    table_column(t, "from", TABLE_LEFT);
    table_column(t, "to", TABLE_LEFT);
    table_column(t, "edges", TABLE_RIGHT);
    table_column(t, "data", TABLE_RIGHT);
    for (size_t i = 0; i < f->links.n; i++) {
        const struct family_link *x = &f->links.at[i];
        table_row(t);
        table_cell(t, families_name(f, w, x->from));
        table_cell(t, families_name(f, w, x->to));
        table_cell(t, human_count(count, x->pairs));
        table_bytes(t, x->bytes);
    }
    table_print(t, out, &(struct table_style){.colour = colour, .max_cell = 48});
    table_free(t);
}

/* ---- the picture ----
 * A workflow whose tasks are the families, drawn as any other; the size of what goes between two is
 * the number of edges, written beside it. */

static void family_add_box(const struct families *f, const struct workflow *w, uint32_t k,
                           struct strbuf *out)
{
    const struct family_sum *x = &f->at.at[k];
    char text[HUMAN_SIZE];
    strbuf_add(out, families_name(f, w, k));
    if (x->tasks > 1)
        strbuf_printf(out, " × %s", human_count(text, x->tasks));
    if (x->work > 0)
        strbuf_printf(out, " · %s", human_seconds(text, x->work));
    if (x->bytes > 0)
        strbuf_printf(out, " · %s", human_bytes(text, x->bytes));
}

struct workflow *families_as_workflow(const struct families *f, const struct workflow *w)
{
    struct builder *b = builder_new(workflow_text(w, w->file), "families");
    struct strbuf name = {0};
    char title[256];
    const char *shown = workflow_display_name(w, title, sizeof title);
    builder_name(b, shown, strlen(shown));
    for (uint32_t k = 0; k < f->at.n; k++) {
        const struct family_sum *x = &f->at.at[k];
        const char *module = f->by_module ? f->modules.at[k] : NULL,
                   *kind = module ? module : workflow_text(w, x->name);
        strbuf_clear(&name);
        family_add_box(f, w, k, &name);
        if (builder_find_task(b, name.at, name.n) != NONE)
            strbuf_printf(&name, " (%u)", k); /* of another level */
        builder_task(b, name.at, name.n, 0);
        builder_kind(b, k, kind, strlen(kind));
        builder_work(b, k, x->work, 0);
        builder_memory(b, k, x->memory, 0);
    }
    for (size_t i = 0; i < f->links.n; i++)
        if (f->links.at[i].from != f->links.at[i].to)
            builder_data_edge(b, f->links.at[i].from, f->links.at[i].to,
                              (double)f->links.at[i].pairs, 0);
    strbuf_free(&name);
    return builder_finish(b, NULL);
}

/* Boxes as wide as what stands in them, and each kind in the colour that its tasks have in other pictures of the workflow. */
static void families_draw(const struct families *f, const struct workflow *w,
                          const struct workflow *drawn, struct strbuf *out,
                          struct graph_svg_options options)
{
    struct kinds kinds;
    kinds_of(&kinds, w);
    struct kinds shades = kinds;
    const char **labels = mem_new(const char *, f->at.n + 1);
    shades.colour = mem_new_zero(uint8_t, f->at.n + 1);
    for (uint32_t k = 0; k < f->at.n; k++) {
        labels[k] = workflow_task_name(drawn, k);
        shades.colour[k] = kinds.colour[f->at.at[k].first];
    }
    options.labels = labels;
    options.shades = &shades;
    report_graph_svg(drawn, out, &options);
    free(labels);
    free(shades.colour);
    kinds_free(&kinds);
}

void families_svg(const struct workflow *w, enum families_by by, bool bare, struct strbuf *out)
{
    struct families f;
    families_of(&f, w, by, true);
    struct workflow *drawn = families_as_workflow(&f, w);
    struct strbuf sizes = {0};
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_printf(&sizes, "%s task%s of %zu %s%s, %s edge%s", human_count(a, w->ntasks),
                  plural(w->ntasks), f.at.n, by == FAMILIES_BY_MODULE ? "module" : "kind",
                  plural(f.at.n), human_count(b, w->npairs), plural(w->npairs));
    if (drawn)
        families_draw(&f, w, drawn, out,
                      (struct graph_svg_options){
                          .no_critical = true, .counts = true, .bare = bare, .subtitle = sizes.at});
    strbuf_free(&sizes);
    workflow_free(drawn);
    families_free(&f);
}
