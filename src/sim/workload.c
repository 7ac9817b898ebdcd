/* Benchmark graphs as arithmetic: every question about a task is answered from its number, in O(1)
 * or O(levels), without a table. A workflow answers the same questions from its arrays. */
#include "sim/workload.h"
#include "base/plural.h"
#include <math.h>
#include <string.h>

static const char *const names[WORKLOAD_KINDS] = {
    [WORKLOAD_BOT] = "bot",           [WORKLOAD_FAN_OUT] = "fan-out",
    [WORKLOAD_FAN_IN] = "fan-in",     [WORKLOAD_PIPELINE] = "pipeline",
    [WORKLOAD_STACKING] = "stacking", [WORKLOAD_ALL_PAIRS] = "all-pairs",
    [WORKLOAD_WORKFLOW] = "workflow",
};

const char *workload_name(enum workload_kind kind)
{
    return (unsigned)kind < WORKLOAD_KINDS ? names[kind] : NULL;
}

enum workload_kind workload_find(const char *name)
{
    for (int k = 0; k < WORKLOAD_WORKFLOW; k++)
        if (strcmp(names[k], name) == 0)
            return (enum workload_kind)k;
    return WORKLOAD_KINDS;
}

/* ---- random numbers that need no state ---- */

/* splitmix64: every bit of the input reaches every bit of the output. */
static uint64_t hash_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Uniform in [0, 1), the same for the same seed, number and question (`what`: 0 lengths, 1 sizes).
 */
static double hash_unit(const struct workload *d, uint32_t number, uint64_t what)
{
    return (double)(hash_mix(hash_mix(d->seed * 4 + what) ^ number) >> 11) * 0x1p-53;
}

/* ---- trees: heap numbers, root 0; a fan-in counts from the other end ---- */

static bool is_tree(const struct workload *d)
{
    return d->kind == WORKLOAD_FAN_OUT || d->kind == WORKLOAD_FAN_IN;
}

/* The number of a task counted from the root of its tree. */
static uint32_t heap_of(const struct workload *d, uint32_t task)
{
    return d->kind == WORKLOAD_FAN_IN ? d->ntasks - 1 - task : task;
}

/* Children in the heap; the last one with any may have fewer than `degree`. */
static uint32_t below_count(const struct workload *d, uint32_t heap)
{
    uint64_t first = (uint64_t)heap * d->degree + 1;
    if (first >= d->ntasks)
        return 0;
    uint64_t left = d->ntasks - first;
    return left < d->degree ? (uint32_t)left : d->degree;
}

static uint32_t level_of(const struct workload *d, uint32_t heap)
{
    uint32_t level = d->nlevels - 1;
    while (d->level_first[level] > heap)
        level--;
    return level;
}

/* How many tasks stand before the index-th of a level when a tree is walked from the root, each
 * task before what hangs below it: contiguous stretches of this order are subtrees, so that equal
 * stretches are equal shares with few edges between them. */
static uint64_t walk_rank(const struct workload *d, uint32_t level, uint32_t index)
{
    uint64_t rank = 0, below = index;
    for (uint32_t k = level; k < d->nlevels; k++) {
        rank += below < d->level_count[k] ? below : d->level_count[k];
        below = below > UINT32_MAX ? below : below * d->degree;
    }
    uint32_t up = index;
    for (uint32_t k = level; k > 0; k--) {
        up /= d->degree;
        rank += up + 1;
    }
    return rank;
}

/* The first index of a level whose rank is at least `rank`. */
static uint32_t rank_bound(const struct workload *d, uint32_t level, uint64_t rank)
{
    uint32_t low = 0, high = d->level_count[level];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (walk_rank(d, level, middle) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t workload_depth(const struct workload *d, uint32_t task)
{
    if (is_tree(d)) {
        uint32_t level = level_of(d, heap_of(d, task));
        return d->kind == WORKLOAD_FAN_IN ? d->nlevels - 1 - level : level;
    }
    return d->kind == WORKLOAD_PIPELINE ? task % d->degree
                                        : d->kind == WORKLOAD_STACKING && task == d->ntasks - 1;
}

/* ---- edges ---- */

uint32_t workload_parents(const struct workload *d, uint32_t task)
{
    switch (d->kind) {
    case WORKLOAD_FAN_OUT:
        return task > 0;
    case WORKLOAD_FAN_IN:
        return below_count(d, heap_of(d, task));
    case WORKLOAD_PIPELINE:
        return task % d->degree > 0;
    case WORKLOAD_STACKING:
        return task == d->ntasks - 1 ? task : 0;
    case WORKLOAD_WORKFLOW:
        return d->workflow->pred_off[task + 1] - d->workflow->pred_off[task];
    default:
        return 0;
    }
}

uint32_t workload_parent(const struct workload *d, uint32_t task, uint32_t index)
{
    switch (d->kind) {
    case WORKLOAD_FAN_OUT:
        return (task - 1) / d->degree;
    case WORKLOAD_FAN_IN: /* the lowest number first */
        return d->ntasks - 1 -
               (heap_of(d, task) * d->degree + below_count(d, heap_of(d, task)) - index);
    case WORKLOAD_STACKING:
        return index;
    case WORKLOAD_WORKFLOW:
        return d->workflow->pred_task[d->workflow->pred_off[task] + index];
    default:
        return task - 1;
    }
}

uint32_t workload_children(const struct workload *d, uint32_t task)
{
    switch (d->kind) {
    case WORKLOAD_FAN_OUT:
        return below_count(d, task);
    case WORKLOAD_FAN_IN:
    case WORKLOAD_STACKING:
        return task < d->ntasks - 1;
    case WORKLOAD_PIPELINE:
        return task % d->degree < d->degree - 1 && task < d->ntasks - 1;
    case WORKLOAD_WORKFLOW:
        return d->workflow->succ_off[task + 1] - d->workflow->succ_off[task];
    default:
        return 0;
    }
}

uint32_t workload_child(const struct workload *d, uint32_t task, uint32_t index)
{
    switch (d->kind) {
    case WORKLOAD_FAN_OUT:
        return task * d->degree + 1 + index;
    case WORKLOAD_FAN_IN:
        return d->ntasks - 1 - (heap_of(d, task) - 1) / d->degree;
    case WORKLOAD_STACKING:
        return d->ntasks - 1;
    case WORKLOAD_WORKFLOW:
        return d->workflow->succ_task[d->workflow->succ_off[task] + index];
    default:
        return task + 1;
    }
}

/* All-pairs goes through `tile` files of A together, each tile against all of B from the file of
 * its own position on: nodes that start at once do not all ask for the same file. */
static void pair_of_task(const struct workload *d, uint32_t task, uint32_t *a, uint32_t *b)
{
    uint32_t row = task / (d->files * d->tile), first = row * d->tile;
    uint32_t wide = d->files - first < d->tile ? d->files - first : d->tile;
    uint32_t rest = task % (d->files * d->tile);
    *a = first + rest % wide;
    *b = (first + rest / wide) % d->files;
}

/* Input files that a task reads, besides what its parents wrote. */
static uint32_t file_inputs(const struct workload *d, uint32_t task)
{
    return d->kind == WORKLOAD_ALL_PAIRS ? 2 : d->kind == WORKLOAD_STACKING && task < d->ntasks - 1;
}

static uint32_t file_input(const struct workload *d, uint32_t task, uint32_t index)
{
    if (d->kind == WORKLOAD_STACKING)
        return d->ntasks + task % d->files;
    uint32_t a, b;
    pair_of_task(d, task, &a, &b);
    return d->ntasks + (index ? d->files + b : a);
}

uint32_t workload_needs(const struct workload *d, uint32_t task)
{
    const struct workflow *w = d->workflow;
    if (w)
        return workload_parents(d, task) +
               (w->input_off ? w->input_off[task + 1] - w->input_off[task] : 0);
    return workload_parents(d, task) + file_inputs(d, task);
}

uint32_t workload_need(const struct workload *d, uint32_t task, uint32_t index, uint32_t *producer)
{
    uint32_t n = workload_parents(d, task);
    if (index < n) {
        *producer = workload_parent(d, task, index);
        return d->workflow ? d->workflow->pred_object[d->workflow->pred_off[task] + index]
                           : *producer;
    }
    *producer = NONE;
    return d->workflow ? d->workflow->input_object[d->workflow->input_off[task] + index - n]
                       : file_input(d, task, index - n);
}

bool workload_has_data(const struct workload *d)
{
    return d->workflow ? d->workflow->nobjects > 0
                       : d->kind != WORKLOAD_BOT && (d->size > 0 || d->file_size > 0);
}

/* Such an object need not be kept after its reader has it. Only a fan-out has several children. */
bool workload_read_once(const struct workload *d, uint32_t object)
{
    if (d->workflow) {
        uint32_t count;
        workflow_consumers(d->workflow, object, &count);
        return count < 2;
    }
    return object < d->ntasks && d->kind != WORKLOAD_FAN_OUT;
}

uint32_t workload_file_node(const struct workload *d, uint32_t object, uint32_t nodes)
{
    if (d->workflow)
        return object % nodes;
    uint32_t file = object - d->ntasks;
    if (d->drawn_files)
        return (uint32_t)(hash_unit(d, object, 2) * nodes);
    if (d->kind == WORKLOAD_STACKING)
        return file % nodes;
    return (uint32_t)((uint64_t)(file % d->files) * nodes / d->files);
}

/* ---- sizes and lengths ---- */

double workload_length(const struct workload *d, uint32_t task)
{
    if (d->workflow)
        return d->workflow->work[task];
    return d->spread > 0 ? d->length * (1 + d->spread * (2 * hash_unit(d, task, 0) - 1))
                         : d->length;
}

double workload_mean_length(const struct workload *d)
{
    if (d->spread <= 0 && !d->workflow)
        return d->length;
    double sum = 0;
    for (uint32_t t = 0; t < d->ntasks; t++)
        sum += workload_length(d, t);
    return d->ntasks ? sum / d->ntasks : 0;
}

double workload_size(const struct workload *d, uint32_t object)
{
    if (d->workflow)
        return d->workflow->size[object];
    if (object >= d->ntasks)
        return d->file_size;
    return d->spread > 0 ? 2 * d->size * hash_unit(d, object, 1) : d->size;
}

/* ---- shares ---- */

/* Tasks that stay together: a pipe. */
static uint32_t share_grain(const struct workload *d)
{
    return d->kind == WORKLOAD_PIPELINE ? d->degree : 1;
}

/* The last pipe may be shorter. */
static uint32_t share_grains(const struct workload *d)
{
    return d->ntasks / share_grain(d) + (d->ntasks % share_grain(d) > 0);
}

/* Half the bits that numbers below n need, rounded up. */
static uint32_t half_bits(uint32_t n)
{
    uint32_t bits = 1;
    while (bits < 32 && (n - 1) >> bits)
        bits++;
    return (bits + 1) / 2;
}

/* A random permutation of the tasks without a table: four rounds of a Feistel network over the next
 * power of four, again until the number is one of a task. `back`: its inverse. */
static uint32_t workload_scatter(const struct workload *d, uint32_t number, bool back)
{
    uint32_t h = d->half_bits, mask = (1u << h) - 1;
    uint64_t x = number;
    do {
        uint32_t left = (uint32_t)(x >> h), right = (uint32_t)x & mask;
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t round = back ? 3 - i : i, same = back ? left : right,
                     other = (back ? right : left) ^
                             ((uint32_t)hash_mix((uint64_t)same << 8 | round) & mask);
            left = back ? other : same;
            right = back ? same : other;
        }
        x = (uint64_t)left << h | right;
    } while (x >= d->ntasks);
    return (uint32_t)x;
}

uint32_t workload_task(const struct workload *d, enum workload_submit how, uint32_t place)
{
    return how == WORKLOAD_SUBMIT_HASH ? workload_scatter(d, place, false) : place;
}

/* Stretches are cut in units: tasks in the order of the walk, or grains by number. */
static uint64_t share_units(const struct workload *d)
{
    return is_tree(d) ? d->ntasks : share_grains(d);
}

static uint64_t share_unit(const struct workload *d, uint32_t task)
{
    if (!is_tree(d))
        return task / share_grain(d);
    uint32_t heap = heap_of(d, task), level = level_of(d, heap);
    return walk_rank(d, level, heap - d->level_first[level]);
}

/* Equal work: the walk of a tree has no inverse that is quick, so that the work is gathered by stretches of a few
 * units first, and a cut within one of them is interpolated. A node has a thousand tasks: the error is none. */
static uint64_t *divide_evenly(const struct workload *d, uint32_t nodes)
{
    enum { STRETCH = 16 };
    uint64_t units = share_units(d), n = units / STRETCH + 1;
    double *work = mem_new_zero(double, n), total = 0, before = 0;
    uint64_t *first = mem_new(uint64_t, (size_t)nodes + 1);
    for (uint32_t t = 0; t < d->ntasks; t++) {
        double length = workload_length(d, t);
        work[share_unit(d, t) / STRETCH] += length;
        total += length;
    }
    uint32_t node = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t here = i + 1 < n ? STRETCH : units - i * STRETCH;
        for (; node < nodes && before + work[i] > total * node / nodes; node++)
            first[node] = i * STRETCH +
                          (uint64_t)round((double)here * (total * node / nodes - before) / work[i]);
        before += work[i];
    }
    /* no work at all, or what rounding left over */
    for (; node <= nodes; node++)
        first[node] = total > 0 ? units : units * node / nodes;
    first[0] = 0;
    free(work);
    return first;
}

struct workload_division workload_divide(const struct workload *d, enum workload_submit how,
                                         uint32_t nodes)
{
    return (struct workload_division){how, nodes,
                                      how == WORKLOAD_SUBMIT_EVEN ? divide_evenly(d, nodes) : NULL};
}

void workload_division_free(struct workload_division *v)
{
    free(v->first);
    v->first = NULL;
}

/* The last node whose stretch begins at or before the unit: those with an empty stretch begin where the next does. */
static uint32_t division_find(const struct workload_division *v, uint64_t unit)
{
    uint32_t low = 0, high = v->nodes;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (v->first[middle] <= unit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t unit_home(const struct workload *d, const struct workload_division *v,
                          uint64_t unit)
{
    return v->first ? division_find(v, unit) : (uint32_t)(unit * v->nodes / share_units(d));
}

/* The inverse of workload_share(): which node has this task, without looking at the others. */
uint32_t workload_home(const struct workload *d, const struct workload_division *v, uint32_t task)
{
    if (v->how == WORKLOAD_SUBMIT_WORST)
        return 0;
    if (v->how == WORKLOAD_SUBMIT_HASH)
        return workload_scatter(d, task, true) % v->nodes;
    return unit_home(d, v, share_unit(d, task));
}

/* Whether several nodes have a part of what hangs below a task, and the task: of one stretch of the walk that begins
 * with the task. */
static bool branch_is_cut(const struct workload *d, const struct workload_division *v,
                          uint32_t level, uint32_t index)
{
    uint64_t first = walk_rank(d, level, index), last = first - 1, from = index, to = from + 1;
    for (uint32_t k = level; k < d->nlevels && from < d->level_count[k]; k++) {
        last += (to < d->level_count[k] ? to : d->level_count[k]) - from;
        from *= d->degree;
        to *= d->degree;
    }
    return unit_home(d, v, first) != unit_home(d, v, last);
}

/* Branches larger than a node's share are cut all of them: only their joins are urgent, which are few and all that is
 * left at the end. */
uint32_t workload_urgency(const struct workload *d, const struct workload_division *v,
                          uint32_t task)
{
    if (!is_tree(d) || v->how == WORKLOAD_SUBMIT_HASH || v->how == WORKLOAD_SUBMIT_WORST)
        return 0;
    uint32_t heap = heap_of(d, task), level = level_of(d, heap);
    uint32_t index = heap - d->level_first[level];
    if (d->kind == WORKLOAD_FAN_OUT)
        return branch_is_cut(d, v, level, index);
    if (d->level_count[level] < v->nodes)
        return WORKLOAD_LEVELS;
    for (; d->level_count[level] >= v->nodes; level--, index /= d->degree)
        if (branch_is_cut(d, v, level, index))
            return level + 1;
        else if (!level)
            break;
    return 0;
}

/* The first unit that belongs to `node`. */
static uint64_t share_first(const struct workload *d, const struct workload_division *v,
                            uint32_t node)
{
    return v->first ? v->first[node] : (share_units(d) * node + v->nodes - 1) / v->nodes;
}

/* Trees are shared by stretches of the walk, which are one range a level; a fan-in goes through its
 * levels from the leaves, so that tasks are submitted parents first. */
bool workload_share(const struct workload *d, const struct workload_division *v, uint32_t node,
                    uint32_t range, struct workload_range *out)
{
    bool together = v->how == WORKLOAD_SUBMIT_BEST || v->how == WORKLOAD_SUBMIT_EVEN;
    if (!together || !is_tree(d)) {
        if (range)
            return false;
        *out = (struct workload_range){0, 0, 1};
        if (v->how == WORKLOAD_SUBMIT_WORST) {
            out->end = node ? 0 : d->ntasks;
        } else if (v->how == WORKLOAD_SUBMIT_HASH) {
            *out = (struct workload_range){node, d->ntasks, v->nodes};
        } else {
            uint64_t end = share_first(d, v, node + 1) * share_grain(d);
            out->first = (uint32_t)(share_first(d, v, node) * share_grain(d));
            out->end = end < d->ntasks ? (uint32_t)end : d->ntasks;
        }
        return true;
    }
    if (range >= d->nlevels)
        return false;
    bool up = d->kind == WORKLOAD_FAN_IN;
    uint32_t level = up ? d->nlevels - 1 - range : range;
    uint32_t first = rank_bound(d, level, share_first(d, v, node)) + d->level_first[level];
    uint32_t end = rank_bound(d, level, share_first(d, v, node + 1)) + d->level_first[level];
    *out = up ? (struct workload_range){d->ntasks - end, d->ntasks - first, 1}
              : (struct workload_range){first, end, 1};
    return true;
}

/* ---- for the store ---- */

/* The store asks through a table of functions (store/graph.h): the same answers, untyped. */
static uint32_t graph_parents(const void *d, uint32_t task)
{
    return workload_parents(d, task);
}

static uint32_t graph_parent(const void *d, uint32_t task, uint32_t index)
{
    return workload_parent(d, task, index);
}

static uint32_t graph_children(const void *d, uint32_t task)
{
    return workload_children(d, task);
}

static uint32_t graph_child(const void *d, uint32_t task, uint32_t index)
{
    return workload_child(d, task, index);
}

static uint32_t graph_inputs(const void *d, uint32_t task)
{
    return file_inputs(d, task);
}

static uint32_t graph_input(const void *d, uint32_t task, uint32_t index)
{
    return file_input(d, task, index);
}

static double graph_size(const void *d, uint32_t object)
{
    return workload_size(d, object);
}

/* 33 levels are enough for 2^32 tasks of degree 2. */
static void workload_make_levels(struct workload *d)
{
    uint64_t first = 0, count = 1;
    d->nlevels = 0;
    while (first < d->ntasks && d->nlevels < WORKLOAD_LEVELS) {
        uint64_t left = d->ntasks - first;
        d->level_first[d->nlevels] = (uint32_t)first;
        d->level_count[d->nlevels++] = (uint32_t)(count < left ? count : left);
        first += count;
        count *= d->degree;
    }
}

bool workload_init(struct workload *d, struct error *err)
{
    uint64_t n = d->ntasks, objects;
    d->degree = d->degree ? d->degree : 10;
    if (d->kind == WORKLOAD_WORKFLOW) {
        d->ntasks = d->workflow->ntasks;
        d->nobjects = d->workflow->nobjects;
        if (!d->ntasks)
            return error_set(err, ERROR_INPUT, "the workflow has no tasks");
        d->half_bits = half_bits(d->ntasks);
        return true;
    }
    if (d->kind == WORKLOAD_ALL_PAIRS) {
        d->tile = d->tile ? d->tile : 5;
        n = (uint64_t)d->files * d->files;
        if (!d->files)
            return error_set(err, ERROR_INPUT, "all-pairs needs files in its sets");
    } else if (d->kind == WORKLOAD_STACKING && (!d->files || n < 2)) {
        return error_set(err, ERROR_INPUT, "image stacking needs files and at least two tasks");
    }
    objects = n + (d->kind == WORKLOAD_ALL_PAIRS  ? (uint64_t)d->files * 2
                   : d->kind == WORKLOAD_STACKING ? d->files
                                                  : 0);
    /* the upper half of the numbers stays free for marks of the store and for NONE */
    if (!n || objects >= UINT32_MAX / 2)
        return error_set(err, ERROR_INPUT, "%llu task%s; expected 1 to %u", (unsigned long long)n,
                         plural((unsigned long long)n), UINT32_MAX / 2);
    if (is_tree(d) && d->degree < 2)
        return error_set(err, ERROR_INPUT, "a tree of degree %u; expected at least 2", d->degree);
    d->ntasks = (uint32_t)n;
    d->nobjects = (uint32_t)objects;
    d->half_bits = half_bits(d->ntasks);
    if (is_tree(d))
        workload_make_levels(d);
    d->graph = (struct store_graph){.context = d,
                                    .ntasks = d->ntasks,
                                    .nobjects = d->nobjects,
                                    .parents = graph_parents,
                                    .parent = graph_parent,
                                    .children = graph_children,
                                    .child = graph_child,
                                    .inputs = graph_inputs,
                                    .input = graph_input,
                                    .size = graph_size};
    return true;
}

/* Table 3: 1000 tasks a core of 0 to 100 ms, outputs of 0 to 10 MB. Section 4.1: 500 x 500 files of
 * 12 MB; image stacking of locality 30 from the data-diffusion paper. */
void workload_benchmark(struct workload *d, enum workload_kind kind, uint64_t cores)
{
    uint64_t tasks = cores * 1000;
    *d = (struct workload){.kind = kind,
                           .ntasks = tasks < UINT32_MAX ? (uint32_t)tasks : UINT32_MAX,
                           .degree = 10,
                           .length = 0.05,
                           .spread = 1,
                           .size = 5e6,
                           .seed = 1};
    if (kind == WORKLOAD_ALL_PAIRS) {
        d->files = 500;
        d->length = 0.1;
        d->spread = d->size = 0;
        d->file_size = 12e6;
    } else if (kind == WORKLOAD_STACKING) { /* locality 30 */
        d->ntasks = 23695 + 1;
        d->files = 790;
        d->length = 0.158;
        d->spread = 0;
        d->size = 10e3;
        d->file_size = 2e6;
    }
}
