#!/usr/bin/env bash
# A run on real agents that nobody follows any more, in the Run view. Speaks TAP.
. tests/support/browser || exit 1
command -v redis-server >/dev/null || { echo "1..0 # SKIP redis-server is not installed"; exit 0; }
exec node tests/ui/alone.mjs
