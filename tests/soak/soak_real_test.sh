#!/usr/bin/env bash
# A few rounds of soak_real.py, about twenty seconds, of a fixed seed: a test of every change should not fail by what it drew. `make soak-real`
# draws, and is the whole of it.
# Speaks TAP.
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }
SOAK_FUNCTIONS=$WEFT_BUILD/tests/soak_functions.so SOAK_SEED=${SOAK_SEED:-1} SOAK_SECONDS=${SOAK_SECONDS:-9} SOAK_ROUNDS=${SOAK_ROUNDS:-6} \
    exec python3 tests/soak/soak_real.py
