#!/usr/bin/env bash
# A run that is started from the page on jobs of a queue (a real Slurm on loopback). Speaks TAP.
. tests/support/page_start slurm env BED_CPUS=2 bash tests/cluster/bed_slurm 1
