#!/usr/bin/env bash
# The environment paper's Figures 2 to 4 in the page, by mouse and by the keyboard alone. Speaks TAP.
. tests/support/browser || exit 1
command -v convert >/dev/null || { echo "1..0 # SKIP imagemagick is not installed"; exit 0; }
exec node tests/ui/figures.mjs
