#!/usr/bin/env bash
# The Workbench in a real browser: boxes, wires, undo, text, two windows, a server that is killed, hostile names. Speaks TAP.
. tests/support/browser || exit 1
command -v convert >/dev/null || { echo "1..0 # SKIP imagemagick is not installed"; exit 0; }
exec node tests/ui/workbench.mjs
