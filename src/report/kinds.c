/* Kinds of tasks and their colours: the most frequent kinds get one each, the rest share the last.
 * O(tasks + kinds log kinds). */
#include "report/kinds.h"
#include "report/human.h"
#include "report/svg.h"
#include "base/mem.h"
#include "model/task_kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A palette of one's own (times, outcomes) wins over the colours of kinds. */
const char *kinds_fill(const struct kinds *k, uint32_t colour)
{
    return k->palette ? k->palette[colour < KINDS_SHOWN ? colour : KINDS_SHOWN] : svg_fill(colour);
}

/* Length of a name without the number at its end: "align_17" is an "align"; a name of digits alone
 * is its own stem. */
size_t kinds_stem(const char *name)
{
    size_t len = strlen(name), full = len;
    while (len && (isdigit((unsigned char)name[len - 1]) || strchr("_-.:# ", name[len - 1])))
        len--;
    return len ? len : full;
}

/* A kind and how many tasks it has. */
struct counted {
    uint32_t number, count;
};

/* Most frequent first; equally frequent in order of appearance. */
static int by_count(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The most frequent of `texts` get colours of their own; kind[]: per task, a number of them. */
static void kinds_colour(struct kinds *k, const struct workflow *w, const struct intern *texts,
                         const uint32_t *kind)
{
    struct counted *order = mem_new_zero(struct counted, texts->n);
    uint8_t *colour = mem_new(uint8_t, texts->n);
    for (uint32_t i = 0; i < texts->n; i++)
        order[i].number = i;
    for (uint32_t t = 0; t < w->ntasks; t++)
        order[kind[t]].count++;
    qsort(order, texts->n, sizeof *order, by_count);
    k->shown = texts->n < KINDS_SHOWN ? texts->n : KINDS_SHOWN;
    k->count[0] = 0;
    for (uint32_t i = 0; i < texts->n; i++) {
        uint32_t to = i < k->shown ? i : KINDS_SHOWN;
        colour[order[i].number] = (uint8_t)to;
        k->count[to] += order[i].count;
        if (i < k->shown || texts->n == KINDS_SHOWN + 1) { /* a single other one has a name */
            const char *name = intern_text(texts, order[i].number);
            k->name[to] = mem_copy_string(*name ? name : "(no kind)");
        }
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        k->colour[t] = colour[kind[t]];
    free(order);
    free(colour);
}

/* Kinds that nearly every task has for itself tell nothing. */
static bool kinds_tell(const struct intern *texts, const struct workflow *w)
{
    return texts->n > 1 && (texts->n <= KINDS_SHOWN || texts->n <= (uint64_t)w->ntasks * 2 / 3);
}

static void kinds_begin(struct kinds *k, const struct workflow *w)
{
    *k = (struct kinds){.colour = mem_new_zero(uint8_t, w->ntasks + 1), .shown = 1};
    k->count[0] = w->ntasks;
}

/* Has some task the kind that the builder chose, the first word of its command? */
static bool kinds_are_chosen(const struct workflow *w)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (w->kind[t] && (!t || w->kind[t] != w->kind[t - 1]) && task_kind_is_usual(w, t))
            return true;
    return false;
}

void kinds_of(struct kinds *k, const struct workflow *w)
{
    /* then it is known by its family or name, as in every picture of its runs: `sort` may be the first
     * word of two tasks that do different things */
    if (kinds_are_chosen(w)) {
        kinds_of_record(k, w);
        return;
    }
    kinds_begin(k, w);
    struct intern texts;
    intern_init(&texts);
    uint32_t *kind = mem_new(uint32_t, w->ntasks + 1);
    bool stated = false;
    for (uint32_t t = 0; t < w->ntasks; t++)
        stated = stated || w->kind[t];
    /* Stated kinds first, then the names' stems, if the stated ones tell nothing. */
    bool telling = false;
    for (int attempt = stated ? 0 : 1; attempt < 2 && !telling; attempt++) {
        intern_free(&texts);
        intern_init(&texts);
        for (uint32_t t = 0; t < w->ntasks; t++) {
            const char *text = attempt ? workflow_task_name(w, t) : workflow_text(w, w->kind[t]);
            if (!attempt && t && w->kind[t] == w->kind[t - 1])
                kind[t] = kind[t - 1]; /* neighbours are of a kind mostly */
            else
                kind[t] = intern_number(&texts, text, attempt ? kinds_stem(text) : strlen(text));
        }
        telling = kinds_tell(&texts, w);
    }
    if (telling)
        kinds_colour(k, w, &texts, kind);
    free(kind);
    intern_free(&texts);
}

void kinds_of_record(struct kinds *k, const struct workflow *w)
{
    struct task_kinds known;
    task_kinds_find(w, &known);
    kinds_begin(k, w);
    if (kinds_tell(&known.names, w))
        kinds_colour(k, w, &known.names, known.of);
    task_kinds_free(&known);
}

void kinds_free(struct kinds *k)
{
    free(k->colour);
    for (uint32_t i = 0; i <= KINDS_SHOWN; i++)
        free(k->name[i]);
    *k = (struct kinds){0};
}

/* Height of the legend; draws it when `out` is not NULL, so that measuring and drawing cannot
 * differ. */
static double legend_lay_out(const struct kinds *k, struct strbuf *out, double left, double y,
                             double width)
{
    if (!k->name[0])
        return 0;
    double x = left, height = 18;
    for (uint32_t i = 0; i <= KINDS_SHOWN; i++) {
        if (i == KINDS_SHOWN ? k->count[i] == 0 : i >= k->shown)
            continue;
        struct strbuf text = {0};
        char count[HUMAN_SIZE];
        svg_shorten(&text, k->name[i] ? k->name[i] : "other", 40);
        strbuf_printf(&text, " (%s)", human_count(count, k->count[i]));
        double entry = 32 + svg_text_width(strbuf_text(&text), 11);
        if (x > left && x + entry > left + width) {
            x = left;
            height += 18;
        }
        if (out)
            svg_legend_entry(out, x, y + height - 6, kinds_fill(k, i), strbuf_text(&text));
        x += entry;
        strbuf_free(&text);
    }
    return height;
}

double kinds_legend(const struct kinds *k, struct strbuf *out, double x, double y, double width)
{
    return legend_lay_out(k, out, x, y, width);
}

double kinds_legend_height(const struct kinds *k, double width)
{
    return legend_lay_out(k, NULL, 0, 0, width);
}
