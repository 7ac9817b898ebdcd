/* A normal form of small pieces: equal forms are equal pieces up to names (the converse may fail,
 * which costs time only). */
#pragma once
#include "plan/order/piece.h"

/* The form, `*length` words, to be freed. place[i]: the tail at normal place i. */
uint32_t *normal_form(const struct order_piece *p, uint32_t *place, size_t *length);
