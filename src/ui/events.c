/* events.h: a ring of texts, each as it goes over the wire.
 *
 *     text[next % KEPT] ... text[next - 1]     the newest KEPT events; `next` only grows
 *
 * Numbers are of this life of the server. A page that comes back after a restart brings a number of the last life: it is given
 * everything that this life knows, which is at most what it would have been told anyway. */
#include "ui/events.h"
#include "base/strbuf.h"
#include <stdlib.h>
#include <string.h>

void event_hub_begin(struct event_hub *h)
{
    *h = (struct event_hub){.next = 1};
}

void event_hub_end(struct event_hub *h)
{
    for (size_t i = 0; i < EVENTS_KEPT; i++)
        free(h->text[i]);
    *h = (struct event_hub){0};
}

void event_hub_tell(struct event_hub *h, const char *kind, const char *data)
{
    struct strbuf event = {0};
    strbuf_printf(&event, "id: %llu\nevent: %s\ndata: %s\n\n", (unsigned long long)h->next, kind,
                  data);
    char **place = &h->text[h->next++ % EVENTS_KEPT];
    free(*place);
    *place = strbuf_steal(&event);
}

size_t event_hub_copy(const struct event_hub *h, uint64_t *at, char *out, size_t room)
{
    static const char afresh[] = "event: afresh\ndata: {}\n\n";
    size_t n = 0;
    if (*at + EVENTS_KEPT < h->next) { /* it was away for too long */
        if (room < sizeof afresh - 1)
            return 0;
        memcpy(out, afresh, n = sizeof afresh - 1);
        *at = h->next;
    }
    for (; *at < h->next; (*at)++) {
        const char *text = h->text[*at % EVENTS_KEPT];
        size_t length = strlen(text);
        if (n + length > room)
            break;
        memcpy(out + n, text, length);
        n += length;
    }
    return n;
}

uint64_t event_hub_after(const struct event_hub *h, const char *last)
{
    if (!last || !*last)
        return h->next;
    char *end;
    uint64_t seen = strtoull(last, &end, 10);
    /* of another life of the server: its numbers mean nothing here */
    if (*end || seen >= h->next)
        return h->next > 1 ? 1 : h->next;
    return seen + 1;
}
