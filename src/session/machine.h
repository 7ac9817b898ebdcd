/* This machine as a platform, and platforms by the name that a user gives: what `--on` of the
 * planning commands means, and the speed that a run is recorded with. */
#pragma once
#include "base/error.h"
#include "model/platform.h"

/* Where `weft platform --measure --save` keeps what it measured of this machine:
 * $XDG_CONFIG_HOME/weft/HOST.yaml, else ~/.config/weft/HOST.yaml. NULL: there is no home. The
 * caller frees. */
char *machine_file(void);
/* As measured and saved, else its cores and memory (control groups counted) at speed 1. */
struct platform *machine_this(struct error *err);
/* As measured and saved; 0: it was not, and counts as 1. */
double machine_speed(void);
/* A platform file, a number of equal nodes, a generator with options
 * ("homogeneous:n=8,bandwidth=1e6"), or "this-machine". The name stands in the result as its file,
 * so that a plan can name its platform again. */
struct platform *machine_named(const char *spec, struct error *err);
/* Kernel and architecture, "Linux 6.1.0 x86_64". The caller frees. */
char *machine_system(void);
