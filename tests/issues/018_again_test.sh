#!/usr/bin/env bash
# A run tried again is the same run, wires are those that there are, moves are undone, wide windows; in chromium. Speaks TAP.
. tests/support/browser || exit 1
exec node tests/ui/again.mjs
