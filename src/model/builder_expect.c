/* Room for what is to come: a reader that knows how much says so, and columns are made once. Without it they
 * grow by half again and again, and each time what is there is copied into pages that nobody has touched yet:
 * for a million members of a family that took a sixth of their time. Only hints, and they come from files:
 * believed up to a few million. */
#include "model/builder_state.h"

enum { EXPECT_TASKS = 4000000, EXPECT_EDGES = 16000000, EXPECT_OBJECTS = 8000000 };

static void expect_tasks(struct builder *b, size_t tasks)
{
    array_reserve(&b->task_name, tasks);
    array_reserve(&b->kind, tasks);
    array_reserve(&b->work, tasks);
    array_reserve(&b->memory, tasks);
    array_reserve(&b->cores, tasks);
    array_reserve(&b->flags, tasks);
    array_reserve(&b->line, tasks);
    name_index_expect(&b->w->task_index, (uint32_t)tasks);
}

void builder_expect(struct builder *b, size_t tasks, size_t edges)
{
    if (tasks > EXPECT_TASKS || edges > EXPECT_EDGES)
        return;
    expect_tasks(b, tasks);
    array_reserve(&b->readings, edges);
}

struct builder_counts builder_counts_now(const struct builder *b)
{
    return (struct builder_counts){b->object_name.n, b->readings.n, b->made.n, b->w->text.n};
}

static void expect_objects(struct builder *b, size_t objects)
{
    array_reserve(&b->object_name, objects);
    array_reserve(&b->size, objects);
    array_reserve(&b->producer, objects);
    array_reserve(&b->only_reader, objects);
    name_index_expect(&b->w->object_index, (uint32_t)objects);
}

void builder_expect_alike(struct builder *b, const struct builder_counts *before, size_t times)
{
    size_t objects = b->object_name.n - before->objects,
           readings = b->readings.n - before->readings;
    size_t made = b->made.n - before->made, text = b->w->text.n - before->text;
    size_t all = b->object_name.n + objects * times;
    /* more of one task are gathered: the others mostly name the same */
    if (objects > 16 || readings > 16 || times > EXPECT_TASKS || all > EXPECT_OBJECTS)
        return;
    expect_objects(b, all);
    array_reserve(&b->readings, b->readings.n + readings * times);
    array_reserve(&b->made, b->made.n + made * times);
    if (b->command.n)
        array_reserve(&b->command, b->command.n + times);
    if (b->command_line.n)
        array_reserve(&b->command_line, b->command_line.n + times);
    if (text < 4096) /* the first numbers are the shortest */
        pool_expect(&b->w->text, (text + 8) * times);
}
