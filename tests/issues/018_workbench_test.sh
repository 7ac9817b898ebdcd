#!/usr/bin/env bash
# The Workbench in a real browser: boxes, wires, undo, text, two windows, a server that is killed, hostile names. Speaks TAP.
set -u
[ -x "$WEFT_BUILD/weft-ui" ] && [ -s "$WEFT_BUILD/page/dist/page.js" ] || { echo "1..0 # SKIP this weft was built without its page"; exit 0; }
[ -d page/node_modules/playwright-core ] && command -v node >/dev/null || { echo "1..0 # SKIP playwright-core is not there (tools/deps page)"; exit 0; }
command -v "${CHROMIUM:-chromium}" >/dev/null || { echo "1..0 # SKIP chromium is not installed"; exit 0; }
command -v convert >/dev/null || { echo "1..0 # SKIP imagemagick is not installed"; exit 0; }
exec node tests/ui/workbench.mjs
