/* The things of this machine (model/things.h) as a user names them: `--resources gpu=0,1 licence=4`, or
 * `gpu=auto`: what this process may use. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"

/* Into the form that everybody takes, "gpu=[0,1],licence=4", appended. NULL and "": nothing. With
 * `gpu=auto` the ids are those of CUDA_VISIBLE_DEVICES, else those that Slurm gave
 * (SLURM_STEP_GPUS, SLURM_JOB_GPUS), else those of /dev/nvidia0, 1 ...; none of them: an error. */
bool resources_resolve(const char *text, struct strbuf *out, struct error *err);
