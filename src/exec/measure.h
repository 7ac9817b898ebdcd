/* This machine in figures, for plans that rest on measured ones (`weft platform --measure`).
 *
 * Speed is relative to a stated reference: one core that does MEASURE_REFERENCE rounds of the
 * benchmark a second has speed 1. A round is one multiplication, one addition and a shift of 64-bit
 * integers, one read at a random place of a table of 1 MiB, and one multiplication and addition of
 * doubles, each waiting for the one before, because the tasks of a workflow mix such things. The
 * median of several short runs counts, in processor time, so that a neighbour's burst does not;
 * how much others use the machine is a figure of its own. */
#pragma once
#include "base/error.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include <stdint.h>

#define MEASURE_REFERENCE 100e6 /* rounds a second at speed 1 */

struct machine {
    char name[256]; /* host name */
    char processor[128];
    uint32_t cores;   /* that this process may keep busy: affinity and cgroup quota counted */
    uint32_t present; /* online in the machine */
    double quota;     /* cores by the cgroup's quota; INFINITY: none */
    double memory;    /* bytes it may use: the machine's or the cgroup's, whichever is less */
    /* measured; NAN: not */
    double speed, speed_low, speed_high; /* median, slowest and fastest run */
    double utilization;                  /* load by others, 0..1 */
    double disk_write, disk_read;        /* bytes a second, written through to the disk */
    bool disk_cached;                    /* disk_read came from memory: the cache stayed */
    double loopback;                     /* bytes a second through a TCP socket to itself */
    double latency;                      /* seconds one way: half a round trip */
};

/* Name, processor, cores and memory: no time. */
void measure_inventory(struct machine *m);
/* The limits that control groups (version 2 or 1) set on this process, INFINITY without. `root` is
 * where /proc and /sys are found ("" is the usual one). */
void measure_limits(const char *root, double *quota, double *memory);

/* The speed of a core alone, in some 30 ms of processor time. */
double measure_core(void);
/* The part of this machine's cores that was busy since the last look at it, whoever kept them so; of a first look
 * (all 0) the average load of the last minute. NAN: nobody can say. */
struct measure_look {
    double busy, whole;
};
double measure_busy(struct measure_look *since);

struct measure_options {
    const char *folder;              /* where the disk is measured; NULL: the current one */
    double patience;                 /* seconds for all of it; 0: 4 */
    const struct progress *progress; /* may be NULL */
};

/* Everything, in about `patience` seconds. A disk or a socket that cannot be measured is NAN and
 * stated in `notes` (a line each; may be NULL), not an error. */
void measure_machine(struct machine *m, const struct measure_options *options,
                     struct strbuf *notes);
