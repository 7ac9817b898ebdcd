/* The tables of the agent's machines: every state has a name and is reached, nothing leads back
 * that must not, and every state leads to the end. */
#include "cluster/agent/agent_machine.h"
#include "cluster/agent/job_machine.h"
#include "cluster/agent/want_machine.h"
#include "tap.h"

struct tested_machine {
    const char *noun;
    int states, events;
    int (*next)(int state, int event); /* `states`: none */
    const char *(*name)(int state);
};

static int next_membership(int state, int event)
{
    return (int)agent_membership_next((enum agent_membership)state,
                                      (enum agent_membership_event)event);
}

static int next_departure(int state, int event)
{
    return (int)agent_departure_next((enum agent_departure)state,
                                     (enum agent_departure_event)event);
}

static int next_job(int state, int event)
{
    return (int)job_next((enum job_state)state, (enum job_event)event);
}

static int next_want(int state, int event)
{
    return (int)want_next((enum want_state)state, (enum want_event)event);
}

static const char *name_membership(int state)
{
    return agent_membership_name((enum agent_membership)state);
}

static const char *name_departure(int state)
{
    return agent_departure_name((enum agent_departure)state);
}

static const char *name_job(int state)
{
    return job_state_name((enum job_state)state);
}

static const char *name_want(int state)
{
    return want_state_name((enum want_state)state);
}

static const struct tested_machine machines[] = {
    {"membership", AGENT_MEMBERSHIPS, AGENT_MEMBERSHIP_EVENTS, next_membership, name_membership},
    {"departure", AGENT_DEPARTURES, AGENT_DEPARTURE_EVENTS, next_departure, name_departure},
    {"job", JOB_STATES, JOB_EVENTS, next_job, name_job},
    {"want", WANT_STATES, WANT_EVENTS, next_want, name_want},
};

/* A bit a state that some sequence of events leads to. */
static unsigned states_reached(const struct tested_machine *m, int from)
{
    unsigned seen = 1u << from, before = 0;
    while (seen != before) {
        before = seen;
        for (int s = 0; s < m->states; s++)
            for (int e = 0; e < m->events; e++)
                if (seen & 1u << s && m->next(s, e) != m->states)
                    seen |= 1u << m->next(s, e);
    }
    return seen;
}

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct tested_machine *m = &machines[i];
        is_int(states_reached(m, 0), (1 << m->states) - 1, "%s: every state is reached", m->noun);
        for (int s = 0; s < m->states; s++)
            ok(m->name(s) && m->name(s)[0], "%s: state %d has a name", m->noun, s);
        for (int e = 0; e < m->events; e++) {
            bool used = false;
            for (int s = 0; s < m->states; s++)
                used |= m->next(s, e) != m->states;
            ok(used, "%s: event %d means something somewhere", m->noun, e);
        }
    }
}

static void test_no_way_back(void)
{
    for (int s = 0; s < JOB_STATES; s++) {
        for (int e = 0; e < JOB_EVENTS; e++)
            ok(next_job(s, e) > s, "job: %s, %d: never back", name_job(s), e);
        ok(states_reached(&machines[2], s) & 1u << JOB_CLOSING, "job: %s can be closed",
           name_job(s));
    }
    for (int s = 0; s < AGENT_DEPARTURES; s++) {
        for (int e = 0; e < AGENT_DEPARTURE_EVENTS; e++)
            ok(next_departure(s, e) > s, "departure: %s, %d: never back", name_departure(s), e);
        ok(states_reached(&machines[1], s) & 1u << AGENT_GONE, "departure: %s ends",
           name_departure(s));
    }
}

static void test_wants_end(void)
{
    for (int s = WANT_FREE + 1; s < WANT_STATES; s++)
        is_int(next_want(s, WANT_OVER), WANT_FREE, "want: %s may be over at any time",
               name_want(s));
    is_int(next_want(WANT_FREE, WANT_OVER), WANT_STATES, "want: but only once");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_tables),
        TAP_CASE(test_no_way_back),
        TAP_CASE(test_wants_end),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
