/* The table of a link's states: every state has a name, is reached, and leads to the end. */
#include "cluster/wire/link_machine.h"
#include "tap.h"

/* States that some sequence of events leads to, from this one on. */
static unsigned machine_reach(enum link_state from)
{
    unsigned seen = 1u << from, before = 0;
    while (seen != before) {
        before = seen;
        for (int s = 0; s < LINK_STATES; s++)
            for (int e = 0; e < LINK_EVENTS; e++)
                if (seen & 1u << s && link_next(s, e) != LINK_STATES)
                    seen |= 1u << link_next(s, e);
    }
    return seen;
}

int main(void)
{
    is_int(machine_reach(LINK_NEW), (1 << LINK_STATES) - 1, "every state is reached");
    for (int s = 0; s < LINK_STATES; s++) {
        ok(link_state_name(s) && link_state_name(s)[0], "state %d has a name", s);
        ok(machine_reach(s) & 1u << LINK_CLOSED, "%s: the end is reached", link_state_name(s));
        if (s < LINK_CLOSING)
            is_int(link_next(s, LINK_END), LINK_CLOSING, "%s: what goes wrong closes it",
                   link_state_name(s));
        for (int e = 0; e < LINK_EVENTS; e++) {
            enum link_state next = link_next(s, e);
            ok(next == LINK_STATES || next > (enum link_state)s ||
                   (s == LINK_CONNECTING && e == LINK_ADDRESS),
               "%s, %s: never back", link_state_name(s), link_event_name(e));
        }
    }
    ok(machine_reach(LINK_CLOSED) == 1u << LINK_CLOSED, "nothing follows the end");
    return tap_done();
}
