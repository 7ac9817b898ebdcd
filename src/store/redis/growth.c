/* Shards for what joins a workflow that grows (model/growth.h). A part has shards of its own, behind
 * those that are there: numbers of tasks and shards stay, and nothing that is under way is touched.
 *
 *     shards   0 .. base_shards - 1      the workflow as it began, ranges of equal length
 *              base_shards ..            one for each part that joined, or more of a large one
 *
 * Every client makes the same, in the order of the parts; the first that asks creates a shard, and it
 * says of which part it is. A task that joined may have parents in shards before it: whoever ends one
 * notifies it as he would any child in another shard. Who ended one without knowing of the part did not;
 * so whoever puts the tasks of a part has their parents SETTLEd first, and again while they wait. */
#include "model/growth.h"
#include "store/fingerprint.h"
#include "store/redis/state.h"

#include <stdio.h>

/* The last whose first task is not behind it. */
uint32_t redis_joined_shard(const struct redis *r, uint32_t task)
{
    uint32_t low = r->base_shards, high = r->nshards;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->shards[middle]->first <= task)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Its home must not move when the run grows: that of an old input is found among the old shards. */
uint32_t redis_input_home(const struct redis *r, uint32_t object)
{
    uint32_t low = r->base_shards, high = r->nshards;
    if (object < r->base_objects || low == high)
        return object % r->base_shards;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->shards[middle]->first_object <= object)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* With several shards children are counted as busy while they are notified; room for half as many more. */
static void lengthen_busy(struct redis *r)
{
    uint32_t before = r->busy_room, tasks = r->w->ntasks;
    if (before >= tasks)
        return;
    r->busy_room = tasks + tasks / 2;
    r->busy = mem_resize(r->busy, r->busy_room);
    memset(r->busy + before, 0, (r->busy_room - before) * sizeof *r->busy);
}

/* What was asked about other tasks goes on: a new shard has a queue of its own, and its creation is first
 * in it. */
static void add_part_shard(struct redis *r, const struct growth_part *part, uint32_t first,
                           uint32_t end)
{
    char text[160];
    uint32_t i = r->nshards;
    if (i >= REDIS_SHARDS_MOST) {
        redis_trouble(r, true, "redis: run '%s' has grown more than %u times", r->prefix,
                      REDIS_SHARDS_MOST);
        return;
    }
    /* as often as their number doubles: the array holds pointers, which calls have too */
    if ((i & (i - 1)) == 0 || i == r->base_shards) {
        uint32_t room = 1;
        while (room <= i)
            room *= 2;
        r->shards = mem_resize(r->shards, room);
    }
    struct redis_shard *shard = redis_shard_new(r, i, first, end);
    shard->first_object = part->object;
    snprintf(text, sizeof text, "weft-store/5 %016llx %u+%u %u+ %u",
             (unsigned long long)store_fingerprint(r->w, first, end), first, end - first,
             part->object, r->base_shards);
    shard->wanted = mem_copy_string(text);
    r->shards[r->nshards++] = shard;
    struct redis_call *c = redis_call_new(r, shard, REDIS_CALL_OPEN);
    for (const char *p = text; *p; p++)
        array_push(&c->bytes, (unsigned char)*p);
    if (r->joined.kind == META_JOIN)
        redis_encode_join(r, shard, &r->joined);
}

/* As often as one likes: parts that have their shards are passed over. */
void redis_make_part_shards(struct redis *r)
{
    const struct workflow *w = r->w;
    const struct growth *g = w->growth;
    if (!g || r->parts == g->parts.n)
        return;
    lengthen_busy(r);
    for (; r->parts < g->parts.n && !r->troubled; r->parts++) {
        const struct growth_part *part = &g->parts.at[r->parts];
        uint32_t end = r->parts + 1 < g->parts.n ? part[1].task : w->ntasks;
        uint32_t tasks = end - part->task;
        uint32_t edges = w->pred_off[end] - w->pred_off[part->task];
        uint32_t shards = tasks / REDIS_SHARD_TASKS + edges / REDIS_SHARD_EDGES + 1;
        uint32_t each = tasks / shards + (tasks % shards != 0);
        for (uint32_t first = part->task; first < end; first += each)
            add_part_shard(r, part, first, end - first > each ? first + each : end);
    }
}
