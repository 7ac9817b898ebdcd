#!/usr/bin/env bash
# `weft ui`: who may ask its server, and what it answers. Speaks TAP.
if [ ! -x "$(dirname "$WEFT")/weft-ui" ] || [ ! -f "$WEFT_BUILD/page/dist/page.js" ]; then
    echo "1..0 # skip weft was built without its page: libmicrohttpd or the page's npm packages are not there"
    exit 0
fi
exec python3 tests/ui/page_server.py
