#!/usr/bin/env bash
# Program and library are built as Debian hardens its packages: stack protector, FORTIFY, full RELRO, position independent, control-flow
# protection on x86. Speaks TAP.
set -u
n=0
ok() {
    n=$((n + 1))
    [ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
}
if ! grep -q '^WEFT_HARDEN:BOOL=ON' "$WEFT_BUILD/CMakeCache.txt" || ! grep -q '^WEFT_SANITIZE:STRING=OFF' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "1..0 # SKIP not a hardened build (sanitizers check more)"
    exit 0
fi
library=$(find "$WEFT_BUILD" -maxdepth 2 -name 'libweft.so.*' -type f | head -n 1)
for file in "${WEFT:?}" "$library"; do
    name=${file##*/}
    readelf -Wd "$file" | grep -qE 'BIND_NOW|FLAGS.*NOW'
    ok $? "$name: symbols are bound at the start"
    readelf -Wl "$file" | grep -q GNU_RELRO
    ok $? "$name: and then read-only"
    readelf -Wl "$file" | grep GNU_STACK | grep -qv E' '
    ok $? "$name: no executable stack"
    readelf -Wh "$file" | grep -q 'Type:.*DYN'
    ok $? "$name: position independent"
    readelf -Ws "$file" | grep -q __stack_chk_fail
    ok $? "$name: stack protector"
    readelf -Ws "$file" | grep -qE '__[a-z]+_chk(@|$)'
    ok $? "$name: checked variants of libc's functions"
    if [ "$(uname -m)" = x86_64 ]; then
        # not the note: Debian's C library is built without, so the linker leaves it out; the landing pads are in our code
        [ "$(objdump -d "$file" | grep -c endbr64)" -gt 1000 ]
        ok $? "$name: control-flow protection"
    fi
done
echo "1..$n"
