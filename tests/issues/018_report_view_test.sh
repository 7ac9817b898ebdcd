#!/usr/bin/env bash
# `weft report -o run.html` is the Run view in one file, without a server: opened from the disk in chromium, with and without scripts; names
# and logs that would break out of it do not. Speaks TAP.
if [ ! -x "$(dirname "$WEFT")/weft-ui" ] || [ ! -f "$WEFT_BUILD/page/dist/report.js" ]; then
    echo "1..0 # skip weft was built without its page: libmicrohttpd or the page's npm packages are not there"
    exit 0
fi
for program in node chromium; do
    command -v $program >/dev/null || { echo "1..0 # skip $program is not there (tools/deps test)"; exit 0; }
done
if [ ! -f page/node_modules/playwright-core/index.mjs ] || [ ! -f page/node_modules/axe-core/axe.min.js ]; then
    echo "1..0 # skip playwright-core or axe-core is not there (tools/deps page)"
    exit 0
fi
exec node tests/ui/report.mjs
