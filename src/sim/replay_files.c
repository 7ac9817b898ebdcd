/* Files in memory during a replay: a count of uses to come for every object on every node that has it.
 *
 * A use is a reader that is planned there or a transfer that leaves from there. The file goes when the last one
 * is over. Inputs of the workflow are counted by the readers that run. O(log) an event and object. */
#include "sim/replay_files.h"
#include "base/array.h"

struct file_place {
    uint64_t key;  /* object << 32 | node */
    uint32_t uses; /* to come; of inputs of the workflow: running readers */
};

struct replay_files {
    const struct workflow *w;
    const struct plan *plan;
    const struct demands *d;
    ARRAY(struct file_place) places; /* sorted by key */
    uint8_t *under_way;              /* per demand: its transfer has begun */
};

static int compare_places(const void *a, const void *b)
{
    const struct file_place *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t place_key(uint32_t object, uint32_t node)
{
    return (uint64_t)object << 32 | node;
}

static struct file_place *find_place(const struct replay_files *f, uint32_t object, uint32_t node)
{
    struct file_place wanted = {place_key(object, node), 0};
    return bsearch(&wanted, f->places.at, f->places.n, sizeof wanted, compare_places);
}

/* One use more; the bytes that come with the first. */
static double take_place(const struct replay_files *f, uint32_t object, uint32_t node)
{
    struct file_place *x = find_place(f, object, node);
    return !x || x->uses++ ? 0 : f->w->size[object];
}

static bool is_used(const struct replay_files *f, uint32_t object, uint32_t node)
{
    const struct file_place *x = find_place(f, object, node);
    return x && x->uses;
}

/* One use less; the bytes that go with the last. */
static double use_place(const struct replay_files *f, uint32_t object, uint32_t node)
{
    struct file_place *x = find_place(f, object, node);
    if (!x || !x->uses || --x->uses)
        return 0;
    return f->w->size[object];
}

static uint32_t first_input(const struct workflow *w, uint32_t task)
{
    return w->input_off ? w->input_off[task] : 0;
}

static uint32_t end_input(const struct workflow *w, uint32_t task)
{
    return w->input_off ? w->input_off[task + 1] : 0;
}

/* Where a demand is met from when the plan does not say: the first copy. */
static uint32_t demand_source(const struct replay_files *f, uint32_t x)
{
    const struct demand *demand = &f->d->at[x];
    if (demand->source != NONE)
        return demand->source;
    return f->plan->placements.at[demands_copy(f->d, f->w->producer[demand->object], 0)].node;
}

/* Every place with its uses: equal keys are added up. */
static void list_places(struct replay_files *f)
{
    const struct workflow *w = f->w;
    for (size_t i = 0; i < f->plan->placements.n; i++) {
        const struct placement *x = &f->plan->placements.at[i];
        for (uint32_t o = w->object_off[x->task]; o < w->object_end[x->task]; o++)
            array_push(&f->places, (struct file_place){place_key(o, x->node), 0});
        for (uint32_t k = first_input(w, x->task); k < end_input(w, x->task); k++)
            array_push(&f->places, (struct file_place){place_key(w->input_object[k], x->node), 0});
    }
    for (uint32_t x = 0; x < f->d->n; x++) {
        const struct demand *demand = &f->d->at[x];
        uint32_t end = x + 1 < f->d->n ? f->d->at[x + 1].first : f->d->nwaiters;
        array_push(&f->places, (struct file_place){place_key(demand->object, demand->node),
                                                   end - demand->first});
        uint32_t source = demand_source(f, x);
        if (source != demand->node)
            array_push(&f->places, (struct file_place){place_key(demand->object, source), 1});
    }
    if (f->places.n)
        qsort(f->places.at, f->places.n, sizeof *f->places.at, compare_places);
    size_t kept = 0;
    for (size_t i = 0; i < f->places.n; i++)
        if (kept && f->places.at[kept - 1].key == f->places.at[i].key)
            f->places.at[kept - 1].uses += f->places.at[i].uses;
        else
            f->places.at[kept++] = f->places.at[i];
    f->places.n = kept;
}

struct replay_files *replay_files_new(const struct workflow *w, const struct platform *p,
                                      const struct plan *plan, const struct demands *d)
{
    if (!plan_counts_files(plan, p))
        return NULL;
    struct replay_files *f = mem_new_zero(struct replay_files, 1);
    f->w = w;
    f->plan = plan;
    f->d = d;
    f->under_way = mem_new_zero(uint8_t, d->n);
    list_places(f);
    return f;
}

void replay_files_free(struct replay_files *f)
{
    if (!f)
        return;
    array_free(&f->places);
    free(f->under_way);
    free(f);
}

/* What a run of the task writes. */
static double output_bytes(const struct workflow *w, uint32_t task)
{
    double bytes = 0;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        bytes += w->size[o];
    return bytes;
}

/* What a run of the placement has read of the workflow's own inputs and no longer needs. */
static double drop_inputs(struct replay_files *f, const struct placement *x)
{
    const struct workflow *w = f->w;
    double bytes = 0;
    for (uint32_t k = first_input(w, x->task); k < end_input(w, x->task); k++)
        bytes += use_place(f, w->input_object[k], x->node);
    return bytes;
}

double replay_files_start(struct replay_files *f, uint32_t placement)
{
    const struct workflow *w = f->w;
    const struct placement *x = &f->plan->placements.at[placement];
    double bytes = output_bytes(w, x->task);
    for (uint32_t k = first_input(w, x->task); k < end_input(w, x->task); k++)
        bytes += take_place(f, w->input_object[k], x->node);
    return bytes;
}

double replay_files_lost(struct replay_files *f, uint32_t placement)
{
    const struct placement *x = &f->plan->placements.at[placement];
    return output_bytes(f->w, x->task) + drop_inputs(f, x);
}

double replay_files_end(struct replay_files *f, uint32_t placement)
{
    const struct workflow *w = f->w;
    const struct placement *x = &f->plan->placements.at[placement];
    double bytes = 0;
    for (uint32_t o = w->object_off[x->task]; o < w->object_end[x->task]; o++)
        bytes += is_used(f, o, x->node) ? 0 : w->size[o];
    bytes += drop_inputs(f, x);
    for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++)
        if (w->pred_object[e] != NONE)
            bytes += use_place(f, w->pred_object[e], x->node);
    return bytes;
}

double replay_files_sent(struct replay_files *f, uint32_t demand)
{
    if (f->under_way[demand])
        return 0;
    f->under_way[demand] = 1;
    return f->w->size[f->d->at[demand].object];
}

void replay_files_arrived(struct replay_files *f, uint32_t demand, double *sender, double *receiver)
{
    const struct demand *x = &f->d->at[demand];
    const struct file_place *there = find_place(f, x->object, x->node);
    *sender = use_place(f, x->object, x->source);
    *receiver = there && there->uses ? 0 : f->w->size[x->object]; /* nobody there needs it */
}
