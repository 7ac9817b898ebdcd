#!/usr/bin/env bash
# A run on real agents in the Run view: live log, transfers, one task cancelled. Speaks TAP.
. tests/support/browser || exit 1
command -v redis-server >/dev/null || { echo "1..0 # SKIP redis-server is not installed"; exit 0; }
exec node tests/ui/agents.mjs
