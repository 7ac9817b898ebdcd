#!/usr/bin/env bash
# The image pipeline of docs/streams.md (examples/frames): 200 frames through functions in memory, through commands that stay and through a
# shell pipeline, the same bytes. bench_flow does the 2,000 of the specification, and has the clock. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cp "$root"/examples/frames/* "$work"
cd "$work" || exit 1
cc -O2 -DFRAMES_PROGRAM -o frames frames.c >out 2>err && cc -O2 -shared -fPIC -I"$root/include" -o frames.so frames.c >>out 2>>err
ok $? "the example builds, as a program and as a library"
./frames make 200 >in && ./frames read <in | ./frames blur | ./frames edges | ./frames encode >expected
[ "$(stat -c %s expected)" -gt 20000 ]
ok $? "a shell pipeline"
"$weft" stream frames.yaml --from frames:in --to frames:made >out 2>err && cmp made expected >>out
ok $? "functions in memory: the same, byte by byte"
"$weft" stream commands.yaml --from frames:in --to frames:stayed >out 2>err && cmp stayed expected >>out
ok $? "commands that stay: the same"
echo "no picture" >bad && "$weft" stream frames.yaml --from bad --to frames:none --tries 1 -q >out 2>err
[ $? = 1 ] && grep -q "frame_read\|read" err
ok $? "what is no picture is said"
echo "1..$count"
exit $failed
