#!/usr/bin/env bash
# A large workflow is read from an image of what it was read as (.weft/image-FLOW): the same results, whatever happens to text and image.
# Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
run() { (cd "$work" && timeout 100 "$weft" run flow.yaml "$@") >"$work/out" 2>&1 </dev/null; }
image=$work/.weft/image-flow.yaml
{
    printf 'weft: 1\ntasks:\n'
    printf '  made: { out: made.txt, run: "echo 1 > {out}" }\n'
    seq -f '  # a remark that makes it long enough for an image, number %.0f' 20000
} >"$work/flow.yaml"
[ "$(stat -c %s "$work/flow.yaml")" -gt 1048576 ]
ok $? "a workflow of more than a megabyte"
run -n
[ $? = 0 ] && [ ! -e "$image" ]
ok $? "looking at it writes no image"
run -q
[ $? = 0 ] && [ -s "$image" ] && [ "$(cat "$work/made.txt")" = 1 ]
ok $? "running it does"
run
[ $? = 0 ] && grep -q "nothing to do" "$work/out"
ok $? "then there is nothing to do"
# the same size, time and inode: only reading the text tells
touch -r "$work/flow.yaml" "$work/time"
sed 's/echo 1/echo 2/' "$work/flow.yaml" >"$work/new" && cat "$work/new" >"$work/flow.yaml" && touch -r "$work/time" "$work/flow.yaml"
run -q
[ $? = 0 ] && [ "$(cat "$work/made.txt")" = 2 ]
ok $? "a text that changed behind its time is read"
sed -i 's/echo 2/echo 3/' "$image"
run
[ $? = 0 ] && grep -q "nothing to do" "$work/out" && [ "$(cat "$work/made.txt")" = 2 ]
ok $? "an image that was changed is not believed"
grep -q "echo 3" "$image"
[ $? = 1 ]
ok $? "and written anew"
run --with heft --force -q
run
[ $? = 0 ] && grep -q "nothing to do" "$work/out"
ok $? "after a run by a planner nothing is to do either"
# what stands in other files is not in the text
rm "$image"
{ printf 'weft: 1\n"l\\u0069sts": { x: { lines: values.txt } }\ntasks:\n  m: { each: x, out: "m{x}.txt", run: "echo {x} > {out}" }\n' &&
    sed 1,3d "$work/flow.yaml"; } >"$work/new" && mv "$work/new" "$work/flow.yaml"
echo 1 >"$work/values.txt"
run -q
[ $? = 0 ] && [ "$(cat "$work/m1.txt")" = 1 ] && [ ! -e "$image" ]
ok $? "a workflow with lists from other files has no image"
echo 2 >>"$work/values.txt"
run -q
[ $? = 0 ] && [ "$(cat "$work/m2.txt")" = 2 ]
ok $? "and sees them change"
sed -i 's/^"l.*/parameters: { y: 1 }/; s/^  m: .*/  m: { out: m.txt, run: "echo {y} > {out}" }/' "$work/flow.yaml"
run -q
run -q
[ $? = 0 ] && [ "$(cat "$work/m.txt")" = 1 ] && [ -e "$image" ]
ok $? "parameters are in the text"
run -q -p y=2
[ $? = 0 ] && [ "$(cat "$work/m.txt")" = 2 ]
ok $? "or on the command line"
(cd "$work" && "$weft" clean --all flow.yaml) >"$work/out" 2>&1
[ $? = 0 ] && [ ! -e "$image" ]
ok $? "clean --all removes it"
echo "1..$count"
exit $failed
