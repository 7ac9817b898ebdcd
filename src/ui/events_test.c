#include "ui/events.h"
#include "tap.h"

int main(void)
{
    static struct event_hub hub;
    char out[4096];
    event_hub_begin(&hub);
    uint64_t early = event_hub_after(&hub, NULL);
    is_int(event_hub_copy(&hub, &early, out, sizeof out), 0, "nothing has been told");
    event_hub_tell(&hub, "runs", "{\"n\":1}");
    event_hub_tell(&hub, "runs", "{\"n\":2}");
    size_t n = event_hub_copy(&hub, &early, out, sizeof out);
    out[n] = 0;
    is_str(out, "id: 1\nevent: runs\ndata: {\"n\":1}\n\nid: 2\nevent: runs\ndata: {\"n\":2}\n\n",
           "both, in order");
    is_int(event_hub_copy(&hub, &early, out, sizeof out), 0, "each once");

    uint64_t late = event_hub_after(&hub, NULL);
    is_int(event_hub_copy(&hub, &late, out, sizeof out), 0, "a new page hears what comes");
    uint64_t back = event_hub_after(&hub, "1");
    n = event_hub_copy(&hub, &back, out, sizeof out);
    out[n] = 0;
    is_str(out, "id: 2\nevent: runs\ndata: {\"n\":2}\n\n", "who was away gets what it missed");
    is_int(event_hub_after(&hub, "77"), 1, "a number of another life: everything");
    is_int(event_hub_after(&hub, "x"), 1, "no number: everything");

    uint64_t narrow = 1;
    n = event_hub_copy(&hub, &narrow, out, 40);
    is_int(narrow, 2, "whole events only");
    is_int(event_hub_copy(&hub, &narrow, out, 4), 0, "no room, no event");
    uint64_t away = 1;
    for (int i = 0; i < EVENTS_KEPT + 5; i++)
        event_hub_tell(&hub, "runs", "{}");
    n = event_hub_copy(&hub, &away, out, sizeof out);
    out[n] = 0;
    is_str(out, "event: afresh\ndata: {}\n\n", "away for too long: look afresh");
    is_int(away, hub.next, "and go on from now");
    event_hub_end(&hub);
    return tap_done();
}
