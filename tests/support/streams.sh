# How tests of `weft stream` begin: source it at the top. A folder of their own that goes at the end, no history, the functions and the command
# that stays of tests/stream, and `of FILE EXPRESSION`: what an expression says of d, a file of JSON.
# shellcheck shell=bash disable=SC2034 # `functions` and `stayer` are for who sources this
weft=$WEFT functions=$WEFT_BUILD/tests/stream_functions.so stayer=$WEFT_BUILD/tests/stayer
# A stream whose source is a socket would wait for whoever never comes: nothing is begun without them.
for part in "$functions" "$stayer"; do
    [ -e "$part" ] && continue
    echo "not ok 1 - $part is not built: ninja stream_functions stayer"
    echo 1..1
    exit 1
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$work" || exit 1
of() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
touch out err
