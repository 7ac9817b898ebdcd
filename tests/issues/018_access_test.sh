#!/usr/bin/env bash
# Who may reach the page's server from where: loopback alone by default; another address only with TLS and a password or the cluster's key.
# Speaks TAP.
if [ ! -x "$(dirname "$WEFT")/weft-ui" ] || [ ! -f "$WEFT_BUILD/page/dist/page.js" ]; then
    echo "1..0 # skip weft was built without its page: libmicrohttpd or the page's npm packages are not there"
    exit 0
fi
for program in python3 openssl; do
    command -v $program >/dev/null || { echo "1..0 # skip $program is not there"; exit 0; }
done
exec python3 tests/ui/page_access.py
