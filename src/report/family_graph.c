/* family_graph.h: families as a workflow of their own, placed by the layered layout. Layers go down; the page draws it as is. */
#include "report/family_graph.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/families.h"
#include "report/layout.h"
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>

enum { FAMILY_HEIGHT = 44, FAMILY_LAYER = 84, FAMILY_GAP = 26, FAMILY_BEND = 10, FAMILY_ROOM = 46 };

struct family_drawing {
    const struct workflow *w;
    const struct families *f;
    struct layout l;
    double *width; /* per family */
};

/* Layers have one height, so the layer of a node says where it is; bends stand in the middle of theirs. */
static double family_y(const struct family_drawing *d, uint32_t node)
{
    return d->l.layer[node] * (double)FAMILY_LAYER + FAMILY_HEIGHT / 2.0;
}

static void family_put_box(const struct family_drawing *d, uint32_t k, const struct kinds *kinds,
                           const uint32_t *count, unsigned states, struct json_writer *j)
{
    const struct family_sum *x = &d->f->at.at[k];
    json_write_object(j);
    json_put_string(j, "name", families_name(d->f, d->w, k));
    json_put_integer(j, "tasks", x->tasks);
    json_put_integer(j, "first", x->first);
    json_put_integer(j, "colour", kinds->colour[x->first]);
    json_put_number(j, "x", d->l.x[k]);
    json_put_number(j, "y", family_y(d, k));
    json_put_number(j, "width", d->width[k]);
    json_put_number(j, "height", FAMILY_HEIGHT);
    json_write_key(j, "states");
    json_write_array(j);
    for (unsigned s = 0; s < states; s++)
        json_write_unsigned(j, count[k * states + s]);
    json_write_end_array(j);
    json_write_end_object(j);
}

/* From the bottom of one box to the top of another; bends are points. */
static void family_put_lines(const struct family_drawing *d, struct json_writer *j)
{
    uint32_t n = (uint32_t)d->f->at.n;
    json_write_key(j, "lines");
    json_write_array(j);
    for (size_t i = 0; i < d->l.segments.n; i++) {
        struct layout_segment s = d->l.segments.at[i];
        json_write_array(j);
        json_write_number(j, d->l.x[s.from]);
        json_write_number(j, family_y(d, s.from) + (s.from < n ? FAMILY_HEIGHT / 2.0 : 0));
        json_write_number(j, d->l.x[s.to]);
        json_write_number(j, family_y(d, s.to) - (s.to < n ? FAMILY_HEIGHT / 2.0 : 0));
        json_write_end_array(j);
    }
    json_write_end_array(j);
}

/* Boxes are as wide as their names, within bounds; the layout gives middles, and the page needs no idea of text. */
static void family_put_drawing(struct family_drawing *d, const struct workflow *drawn,
                               const struct kinds *kinds, const uint32_t *count, unsigned states,
                               struct json_writer *j)
{
    uint32_t n = (uint32_t)d->f->at.n;
    d->width = mem_new(double, n + 1);
    for (uint32_t k = 0; k < n; k++)
        d->width[k] =
            fmin(260, fmax(90, svg_text_width(families_name(d->f, d->w, k), 12) + FAMILY_ROOM));
    layout_new(&d->l, drawn);
    layout_place(&d->l, d->width, FAMILY_GAP, FAMILY_BEND);
    json_put_number(j, "width", d->l.width);
    json_put_number(j, "height",
                    d->l.nlayers ? (d->l.nlayers - 1) * FAMILY_LAYER + FAMILY_HEIGHT : 0);
    json_write_key(j, "boxes");
    json_write_array(j);
    for (uint32_t k = 0; k < n; k++)
        family_put_box(d, k, kinds, count, states, j);
    json_write_end_array(j);
    family_put_lines(d, j);
    layout_free(&d->l);
    free(d->width);
}

void family_graph_json(const struct workflow *w, const struct kinds *kinds, const uint8_t *state,
                       unsigned states, struct strbuf *out)
{
    struct families f;
    struct json_writer j;
    families_of(&f, w, FAMILIES_BY_KIND, true);
    struct workflow *drawn = f.at.n <= FAMILY_GRAPH_MOST ? families_as_workflow(&f, w) : NULL;
    json_write_start(&j, out, false);
    json_write_object(&j);
    json_put_number(&j, "families", (double)f.at.n);
    if (drawn) {
        uint32_t *count = mem_new_zero(uint32_t, f.at.n * states + 1);
        for (uint32_t t = 0; t < w->ntasks; t++)
            count[f.of[t] * states + state[t]]++;
        struct family_drawing d = {.w = w, .f = &f};
        family_put_drawing(&d, drawn, kinds, count, states, &j);
        free(count);
    } else {
        json_write_key(&j, "boxes");
        json_write_array(&j);
        json_write_end_array(&j);
    }
    json_write_end_object(&j);
    workflow_free(drawn);
    families_free(&f);
}
