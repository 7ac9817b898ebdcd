#!/usr/bin/env bash
# What the sources ask for ahead of time (base/prefetch.h) is in the machine code. GCC left out every call to a function that did
# nothing else, and a replay of ten million tasks waited for memory. Speaks TAP.
set -u
case $(uname -m) in
x86_64) instruction=prefetch ;;
aarch64) instruction=prfm ;;
*) echo "1..0 # SKIP how this processor prefetches is not known here" && exit 0 ;;
esac
command -v objdump >/dev/null || { echo "1..0 # SKIP no objdump (binutils)" && exit 0; }
n=0
for file in $(grep -lE 'prefetch_(read|write)\(' src/*/*.c); do
    n=$((n + 1))
    room=${file#src/} room=${room%%/*}
    archive=$WEFT_BUILD/libroom_$room.a
    [ -f "$archive" ] || { echo "not ok $n - $file: no $archive" && continue; }
    asked=$(grep -cE 'prefetch_(read|write)\(' "$file")
    there=$(objdump -d --no-show-raw-insn "$archive" | awk -v object="${file##*/}.o:" -v instruction="^$instruction" '
        /file format/ { inside = $1 == object; seen += inside }
        inside && $2 ~ instruction { n++ }
        END { if (seen) print n + 0 }')
    if [ -z "$there" ]; then
        echo "ok $n - $file # SKIP compiled in a group (WEFT_UNITY)"
    elif [ "$there" -ge "$asked" ]; then
        echo "ok $n - $file"
    else
        echo "not ok $n - $file asks $asked times, its code $there times"
    fi
done
echo "1..$n"
[ "$n" -gt 0 ]
