#!/usr/bin/env bash
# The binary interface of libweft against the one on record (tests/abi/libweft.abi). `make abi` records a new one: an addition is
# recorded as it comes; what breaks programs that were linked before moves WEFT_API, and with it the soname. Speaks TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$WEFT_BUILD/libweft.so
if ! command -v abidiff >/dev/null; then
    echo "ok 1 - the interface is as recorded # SKIP no abidiff (Debian: abigail-tools)"; echo "1..1"; exit 0
fi
if nm -D "$library" | grep -q ' U __[at]san_' || ldd "$library" | grep -qE 'lib[a-z]*san\.'; then
    echo "ok 1 - the interface is as recorded # SKIP a sanitized library"; echo "1..1"; exit 0
fi
tools/abi check "$WEFT_BUILD" >"$work/out" 2>&1
status=$?
if [ "$status" = 0 ]; then echo "ok 1 - the interface is as recorded"; else
    echo "not ok 1 - the interface is as recorded"
    sed 's/^/# /' "$work/out" | head -n 40
fi
recorded=$(sed -nE "s/.*soname='libweft\.so\.([0-9]+)'.*/\1/p" tests/abi/libweft.abi | head -n 1)
declared=$(sed -nE 's/^#define WEFT_API ([0-9]+)$/\1/p' include/weft/weft.h)
[ "$recorded" = "$declared" ]; same=$?
[ "$same" = 0 ] && echo "ok 2 - the record is of WEFT_API $declared" || echo "not ok 2 - the record is of WEFT_API $declared (it is of $recorded: make abi)"
echo "1..2"
[ "$status" = 0 ] && [ "$same" = 0 ]
