/* What the page is told without asking: server-sent events, numbered, so that a page that was away gets
 * what it missed (Last-Event-ID). The last EVENTS_KEPT are kept; who missed more is told to look afresh. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENTS_KEPT = 1024 };

struct event_hub {
    uint64_t next; /* number of the next event; the first is 1 */
    char *text[EVENTS_KEPT];
};

void event_hub_begin(struct event_hub *h);
void event_hub_end(struct event_hub *h);
/* `kind` a word, `data` one line of JSON. */
void event_hub_tell(struct event_hub *h, const char *kind, const char *data);

/* One page that listens. `*at` is the number of the next event for it: copies whole events that fit
 * into `room` bytes and counts `*at` on. 0: there is nothing new (or not even one event fits). */
size_t event_hub_copy(const struct event_hub *h, uint64_t *at, char *out, size_t room);
/* Where a page begins that has last seen this event (a text from a header; NULL: it is new). */
uint64_t event_hub_after(const struct event_hub *h, const char *last);
