/* One agent of a launch. Private to launch.
 *
 *     FREE ─ asked for ─▶ WAITING ─ its turn ─▶ STARTING ─ its line ─▶ READY ─ job over ─▶ ENDED
 *      ▲                                           │                    │          (Slurm)
 *      │                                           └─ never ready ─▶ FAILED
 *      └─────── its owner has seen that it left (here, ssh) ────────────┘ (from READY)
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct launch;
struct subprocess;

enum launch_state {
    LAUNCH_FREE,    /* a host that was not asked for yet, or whose agent has left */
    LAUNCH_WAITING, /* until another has started the store, or fewer are being started */
    LAUNCH_STARTING,
    LAUNCH_READY,
    LAUNCH_FAILED,
    LAUNCH_ENDED,
};

struct launch_agent {
    struct launch *launch;
    uint32_t number;
    uint8_t state; /* enum launch_state */
    bool serves;   /* was told to start the store */
    char *name, *address;
    char *host, *bind; /* ssh: where, and the address it was told to listen at, or NULL */
    struct subprocess *starter;
    double failed; /* clock_seconds() when it did */
};
