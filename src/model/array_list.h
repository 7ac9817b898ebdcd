/* Every array of struct workflow, named once, with how many entries it has: what workflow_free()
 * frees and what an image of a workflow carries (model/image.c), which counts them against the size
 * of the struct, so that a new one cannot be forgotten.
 *
 *     #define WORKFLOW_ARRAY(name, count) ...       `count` is an expression over `w`
 *     WORKFLOW_ARRAYS
 *     #undef WORKFLOW_ARRAY
 *
 * In this order, so that the array a count is read from (time_off for time) comes before it. */
#pragma once
#include "model/column_list.h"

#define WORKFLOW_TEXT_ARRAY(name) WORKFLOW_ARRAY(name, (size_t)w->ntasks)
#define WORKFLOW_COLUMN_ARRAY(name, ...) WORKFLOW_ARRAY(name, (size_t)w->ntasks)

/* clang-format off */
#define WORKFLOW_ARRAYS \
    WORKFLOW_ARRAY(work, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(memory, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(cores, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(task_name, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(kind, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(flags, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(line, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(command, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(shell, (size_t)w->ntasks) \
    TASK_TEXTS(WORKFLOW_TEXT_ARRAY) \
    WORKFLOW_ARRAY(when, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(retry_on, (size_t)w->ntasks) \
    TASK_COLUMNS(COLUMN_SKIP, WORKFLOW_COLUMN_ARRAY, COLUMN_SKIP) \
    WORKFLOW_ARRAY(needs, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(asks, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(amount, (size_t)w->nasks * THING_SORTS) \
    WORKFLOW_ARRAY(not_before, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(time_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(time, w->time_off ? (size_t)w->time_off[w->ntasks] : 0) \
    WORKFLOW_ARRAY(more_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(more_memory, w->more_off ? (size_t)w->more_off[w->ntasks] : 0) \
    WORKFLOW_ARRAY(in_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(in_object, w->in_off ? (size_t)w->in_off[w->ntasks] : 0) \
    WORKFLOW_ARRAY(in_optional, w->in_off ? (size_t)w->in_off[w->ntasks] : 0) \
    WORKFLOW_ARRAY(out_object, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(succ_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(succ_task, (size_t)w->nedges) \
    WORKFLOW_ARRAY(succ_object, (size_t)w->nedges) \
    WORKFLOW_ARRAY(pred_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(pred_task, (size_t)w->nedges) \
    WORKFLOW_ARRAY(pred_object, (size_t)w->nedges) \
    WORKFLOW_ARRAY(object_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(input_off, (size_t)w->ntasks + 1) \
    WORKFLOW_ARRAY(input_object, (size_t)w->ninputs) \
    WORKFLOW_ARRAY(size, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(producer, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(object_name, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(object_flags, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(object_edge, (size_t)w->nobjects) \
    WORKFLOW_ARRAY(input_task, (size_t)w->ninputs) \
    WORKFLOW_ARRAY(topo, (size_t)w->ntasks) \
    WORKFLOW_ARRAY(parameter_name, (size_t)w->nparameters) \
    WORKFLOW_ARRAY(parameter_value, (size_t)w->nparameters) \
    WORKFLOW_ARRAY(attribute, (size_t)w->nattributes) \
    WORKFLOW_ARRAY(resource, (size_t)w->nresources) \
    WORKFLOW_ARRAY(assertion, (size_t)w->nassertions) \
    WORKFLOW_ARRAY(assertion_line, (size_t)w->nassertions)
/* clang-format on */
