/* Where boxes of the Workbench stand: tasks by the library's layout; included workflows, which it does not know, behind what they read
 * and before what reads them. */
#include "ui/workbench.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    BOX_HEAD = 48,
    BOX_PORT = 22,
    BOX_GAP = 34,
    STRIP_FROM = 4000, /* pixels: what is higher shows no names in any window */
};

/* As the page draws it; the layout must know before. */
static double box_height(unsigned in, unsigned out)
{
    return BOX_HEAD + BOX_PORT * (double)(in > out ? in : out);
}

static double box_task_height(struct weft_edit *e, size_t task)
{
    struct weft_edit_port port;
    unsigned sides[2] = {0, 0};
    for (size_t k = 0; weft_edit_port(e, task, k, &port); k++)
        sides[port.out]++;
    return box_height(sides[0], sides[1]);
}

/* Wires in a circle have no layout: then boxes stand side by side, and the problem is told. */
static double places_of_tasks(struct weft_edit *e, struct box_place *at, size_t n)
{
    struct weft_error error;
    double below = 0;
    double *height = mem_new(double, n + 1);
    struct weft_edit_spot *spots = mem_new_zero(struct weft_edit_spot, n + 1);
    for (size_t i = 0; i < n; i++)
        height[i] = box_task_height(e, i);
    bool placed = n && weft_edit_layout(e, height, BOX_GAP, spots, &error);
    for (size_t i = 0; i < n; i++) {
        at[i] = (struct box_place){.column = placed ? spots[i].column : (uint32_t)i,
                                   .y = placed ? spots[i].middle - height[i] / 2 : 0,
                                   .height = height[i]};
        below = fmax(below, at[i].y + at[i].height + 2 * BOX_GAP);
    }
    free(height);
    free(spots);
    return below;
}

/* Whoever reads stands to the right of who makes. False: in a circle, which included workflows as a whole may be in though none of their
 * tasks is; O(boxes x wires) where it is one, and there are few boxes beside an included workflow. */
static bool places_to_right(struct box_place *at, size_t n, const struct weft_edit_wire *wire,
                            size_t nwires)
{
    bool moved = true;
    for (size_t turn = 0; moved && turn <= n; turn++) {
        moved = false;
        for (size_t k = 0; k < nwires; k++) {
            struct box_place *to = &at[wire[k].to];
            if (to->column > at[wire[k].from].column)
                continue;
            to->column = at[wire[k].from].column + 1;
            moved = true;
        }
    }
    return !moved;
}

static int places_order(const void *a, const void *b)
{
    const struct box_place *x = *(struct box_place *const *)a, *y = *(struct box_place *const *)b;
    return x->y != y->y ? (x->y > y->y) - (x->y < y->y) : (x > y) - (x < y);
}

/* Boxes that came into a column of others are pushed down, so that none covers another. */
static void places_apart(struct box_place *at, size_t n)
{
    struct box_place **order = mem_new(struct box_place *, n + 1);
    double *free_from = mem_new(double, n + 1);
    for (size_t i = 0; i < n; i++) {
        order[i] = &at[i];
        free_from[i] = -INFINITY;
    }
    qsort(order, n, sizeof *order, places_order);
    for (size_t i = 0; i < n; i++) {
        struct box_place *p = order[i];
        uint32_t column = p->column < n ? p->column : (uint32_t)n - 1;
        p->y = fmax(p->y, free_from[column]);
        free_from[column] = p->y + p->height + BOX_GAP;
    }
    free(order);
    free(free_from);
}

/* What is too high to be read is cut into strips, which stand side by side, about twice as wide as high, as the canvas is: hundreds of
 * boxes above each other would be a line that says nothing.
 *
 *     ┌ 1 ┬ 2 ┐             ┌ 1 ┬ 2 ┐   ┌ 1 ┬ 2 ┐
 *     │ a │ b │             │ a │ b │   │ e │ f │
 *     │ c │ d │    ──▶      │ c │ d │   │ g │ h │
 *     │ e │ f │             └───┴───┘   └───┴───┘
 *     │ g │ h │
 *     └───┴───┘ */
static void places_in_strips(struct box_place *at, size_t n)
{
    double top = INFINITY, end = -INFINITY;
    uint32_t columns = 0;
    for (size_t i = 0; i < n; i++) {
        top = fmin(top, at[i].y);
        end = fmax(end, at[i].y + at[i].height + BOX_GAP);
        columns = at[i].column >= columns ? at[i].column + 1 : columns;
    }
    columns += columns > 1; /* wires lead out of the last one */
    double strips =
        end - top < STRIP_FROM ? 1 : floor(sqrt(2 * (end - top) / (columns * BOX_COLUMN)));
    double height = (end - top) / fmax(strips, 1);
    for (size_t i = 0; i < n && strips > 1; i++) {
        double strip = floor((at[i].y - top) / height);
        at[i].column += (uint32_t)strip * columns;
        at[i].y -= strip * height;
    }
    if (strips > 1)
        places_apart(at, n);
}

struct box_place *workbench_places(struct weft_edit *e, const struct weft_workflow *w,
                                   const workbench_wires *wires, size_t tasks)
{
    static const char *const include[] = {"include", NULL};
    struct weft_edit_key key;
    size_t n = tasks;
    while (weft_edit_at(e, include, n - tasks, &key))
        n++;
    struct box_place *at = mem_new_zero(struct box_place, n + 1);
    double below = places_of_tasks(e, at, tasks);
    if (n == tasks) {
        places_in_strips(at, n);
        return at;
    }
    for (size_t k = 0; weft_edit_at(e, include, k, &key) && tasks + k < n; k++)
        at[tasks + k] =
            (struct box_place){.y = below,
                               .height = box_height(workbench_include_side(w, key.key, false),
                                                    workbench_include_side(w, key.key, true))};
    if (!places_to_right(at, n, wires->at, wires->n)) { /* as if no wire led to the included ones */
        places_of_tasks(e, at, tasks);
        for (size_t k = tasks; k < n; k++)
            at[k].column = (uint32_t)(k - tasks);
    }
    places_apart(at, n);
    places_in_strips(at, n);
    return at;
}
