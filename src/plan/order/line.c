/* The super-dag of one phase being taken apart, block by block; line.h says how it is used.
 *
 * Blocks whose predecessors are gone stand in queues, one a shape: blocks of one shape are
 * interchangeable, so a choice looks at shapes only, however many blocks there are. `present` lists
 * the shapes with a queue, `at` is its inverse: adding and removing are O(1). */
#include "plan/order/line.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void linear_free(struct linear *l)
{
    array_free(&l->elements);
    array_free(&l->sequence);
    array_free(&l->order);
}

bool line_fail(struct linear *l, const char *why, uint32_t a, uint32_t b)
{
    l->failure = why;
    l->blame[0] = a;
    l->blame[1] = b;
    return false;
}

uint32_t line_waiting_block(const struct skeleton *s, uint32_t h, uint32_t block)
{
    uint32_t to = s->tail_block[h];
    return to == NONE || to == block || s->phase[h] != s->phase[s->tail[s->tail_off[block]]] ? NONE
                                                                                             : to;
}

void line_expose(struct order_line *l, uint32_t block)
{
    uint32_t i = block - l->first, n = l->number[i];
    l->next[i] = NONE;
    if (l->queued[n]++ == 0) {
        l->queue_head[n] = i;
        l->at[n] = (uint32_t)l->present.n;
        array_push(&l->present, n);
    } else {
        l->next[l->queue_tail[n]] = i;
    }
    l->queue_tail[n] = i;
}

uint32_t line_take(struct order_line *l, uint32_t n)
{
    uint32_t i = l->queue_head[n];
    l->queue_head[n] = l->next[i];
    if (--l->queued[n] == 0) {
        uint32_t last = array_last(&l->present);
        l->present.at[l->at[n]] = last;
        l->at[last] = l->at[n];
        l->present.n--;
        l->at[n] = NONE;
    }
    return l->first + i;
}

/* Remove the block: what waits for it may be exposed. */
void line_remove(struct order_line *l, uint32_t block)
{
    const struct skeleton *s = l->s;
    for (uint32_t i = s->head_off[block]; i < s->head_off[block + 1]; i++) {
        uint32_t to = line_waiting_block(s, s->head[i], block);
        if (to != NONE && --l->waiting[to - l->first] == 0)
            line_expose(l, to);
    }
    array_push(&l->out->sequence, block);
}

static void number_shapes(struct order_line *l)
{
    uint32_t *number_of = l->b->number_of; /* all NONE between calls */
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t shape = l->b->all[l->first + i].shape;
        if (number_of[shape] == NONE) {
            number_of[shape] = l->nshapes;
            l->shape_id[l->nshapes++] = shape;
        }
        l->number[i] = number_of[shape];
    }
    for (uint32_t i = 0; i < l->nshapes; i++)
        number_of[l->shape_id[i]] = NONE;
}

void line_begin(struct order_line *l, struct blocks *b, uint32_t phase, struct linear *out)
{
    struct skeleton *s = b->s;
    *out = (struct linear){.blame = {NONE, NONE}, .budget = 100000000};
    uint32_t first = s->phase_block[phase], count = s->phase_block[phase + 1] - first;
    *l = (struct order_line){.b = b, .s = s, .out = out, .first = first, .count = count};
    l->waiting = mem_new_zero(uint32_t, count);
    l->next = mem_new(uint32_t, count);
    l->shape_id = mem_new(uint32_t, count);
    l->number = mem_new(uint32_t, count);
    l->queue_head = mem_new(uint32_t, count);
    l->queue_tail = mem_new(uint32_t, count);
    l->queued = mem_new_zero(uint32_t, count);
    l->at = mem_new(uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = s->head_off[first + i]; k < s->head_off[first + i + 1]; k++) {
            uint32_t to = line_waiting_block(s, s->head[k], first + i);
            if (to != NONE)
                l->waiting[to - first]++;
        }
    number_shapes(l);
}

void line_end(struct order_line *l)
{
    free(l->waiting);
    free(l->next);
    free(l->shape_id);
    free(l->number);
    free(l->queue_head);
    free(l->queue_tail);
    free(l->queued);
    free(l->at);
    array_free(&l->present);
}

void line_expose_sources(struct order_line *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (!l->waiting[i])
            line_expose(l, l->first + i);
}

int block_atom_falling(const void *a, const void *b)
{
    const struct block_atom *x = a, *y = b;
    int slope = atom_compare(y->atom, x->atom);
    if (slope)
        return slope;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}
