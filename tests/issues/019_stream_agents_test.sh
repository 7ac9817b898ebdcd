#!/usr/bin/env bash
# Streams ran on one machine. On agents, filters of all three kinds get items over sealed connections; an agent that dies with its helper
# loses nothing: what it had is done again elsewhere, once, in order, and a function that keeps state goes on with it. Speaks TAP.
command -v redis-server >/dev/null || { echo "1..0 # SKIP no redis-server: agents need one"; exit 0; }
weft=$WEFT functions=$WEFT_BUILD/tests/stream_functions.so stayer=$WEFT_BUILD/tests/stayer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
touch out err
helpers() { pgrep -f "stream --lend .*--helper" | while read -r pid; do # of this test alone: by the folder they stand in
    case $(readlink "/proc/$pid/cwd") in "$work"/*) echo "$pid" ;; esac
done; }
agents() { pgrep -f "weft agent .*--state $work/"; }
waits() { # until a condition holds
    for _ in $(seq 600); do
        eval "$1" && return 0
        sleep 0.1
    done
    return 1
}

# --- three kinds of filters ---
cat >kinds.yaml <<YAML
weft: 1
tasks:
  fetch: { call: "$functions:same", in: line, out: l1 }
  stay: { run: "$stayer ' stays'", in: l1, out: l2 }
  each: { run: "(cat {in}; printf ' %s' \$WEFT_ITEM) > {out}", per_item: true, in: l2, out: l3 }
  last: { call: "$functions:same", in: l3, out: l4, replicable: false }
YAML
seq 0 29 | awk '{ print "item", $1, "stays", $1 }' >expected
seq 0 29 | sed 's/^/item /' >lines
"$weft" stream kinds.yaml --from lines --to result --on local:2 >out 2>err && cmp result expected >>out
ok $? "a function, a command that stays and one for each item, on two agents: lines in their order"
[ -z "$(helpers)" ] && [ -z "$(ls .weft 2>/dev/null)" ]
ok $? "helpers and their folder are gone"

# --- helpers are of the program that started them, whatever its name is ---
ln -s "$weft" weft-2
cp "$weft" weft-3
for name in weft-2 weft-3; do
    PATH=/usr/bin:/bin ./$name stream kinds.yaml --from lines --to result --on local:1 >out 2>err && cmp result expected >>out
    ok $? "a program of another name ($name) helps itself"
done
rm weft-2 weft-3

# --- a library that only this command has, and large items ---
mkdir own
cp "$functions" own/lib.so
printf 'weft: 1\ntasks:\n  a: { call: "lib.so:same", in: x, out: y }\n  b: { call: "lib.so:same", in: y, out: z }\n' >own/flow.yaml
mkdir large
for i in 1 2 3; do head -c 3000000 /dev/urandom >large/$i; done
"$weft" stream own/flow.yaml --from large --to made/ --on local:2 >out 2>err && diff -r large made >>out
ok $? "items of megabytes"
rm -rf made
"$weft" stream <(cat own/flow.yaml) -C own --from large --to made/ --on local:1 >out 2>err && diff -r large made >>out
ok $? "helpers that do not see the workflow get what they need"

# --- agents die ---
cat >sums.yaml <<YAML
weft: 1
tasks:
  slowly: { call: "$functions:slowly", in: x, out: y }
  total: { call: "$functions:total", in: y, out: z, replicable: false }
YAML
seq 1 300 >numbers
awk '{ s += $1; print s }' numbers >expected
"$weft" stream sums.yaml --from numbers --to result --on local:3 >out 2>err &
stream=$!
waits '[ "$(helpers | wc -l)" -ge 3 ] && [ "$(wc -l <result 2>/dev/null)" -ge 20 ]'
for victim in $(agents | tail -n 2); do # not the first, which has the store
    kin=$(pgrep -P "$victim")
    grandchildren=$(for k in $kin; do pgrep -P "$k"; done)
    kill -9 "$victim" $kin $grandchildren
    seen=$(wc -l <result)
    waits "[ \$(wc -l <result) -ge $((seen + 40)) ]"
done
wait $stream
status=$?
[ $status = 0 ] && cmp result expected >>out && grep -q "is gone; item" err
ok $? "two of three agents and their helpers are killed: every item once, in order, the sum goes on (status $status)"
waits '[ -z "$(helpers)" ] && [ -z "$(agents)" ]'
ok $? "nothing is left"

# --- an item that kills its helper ---
printf 'weft: 1\ntasks:\n  a: { call: "%s:breaks", in: x, out: y }\n' "$functions" >breaks.yaml
head -n 30 numbers | "$weft" stream breaks.yaml --from - --to result --on local:2 --tries 1 >out 2>err
status=$?
[ $status = 1 ] && grep -q "1 of 30 items was given up.*item 12.*helpers ended while it worked on this item" err && head -n 30 numbers | grep -vx 13 | cmp - result >>out
ok $? "an item that breaks every helper is given up, the others pass (status $status)"

# --- by a plan ---
cat >plan.yaml <<YAML
weft: 1
tasks:
  a: { call: "$functions:same", work: 0.01, in: x, out: [{ name: y, size: 1 }] }
  b: { call: "$functions:same", work: 0.02, in: y, out: [{ name: z, size: 1 }] }
YAML
"$weft" plan plan.yaml --on homogeneous:n=4,bandwidth=1G --with mos --set throughput=0.9Tmax -o plan.json >out 2>err &&
    head -n 50 numbers | "$weft" stream plan.yaml --plan plan.json --from - --to result --on local:2 >out 2>err && head -n 50 numbers | cmp - result >>out
ok $? "by a plan of four nodes on two agents"

# --- what is refused ---
refuses() { # status pattern text arguments
    local want=$1 pattern=$2 text=$3
    shift 3
    "$weft" stream "$@" >out 2>err
    local got=$?
    [ $got = "$want" ] && grep -q -e "$pattern" err
    ok $? "$text"
}
refuses 2 "expected a number of agents" "no agents" sums.yaml --from numbers --on local:0
refuses 2 "is a platform, and nothing is planned" "a platform without a plan" sums.yaml --from numbers --on 8
refuses 2 "are for agents" "options of agents without agents" sums.yaml --from numbers --on 8 --throughput 1 --cores 2
refuses 2 "needs a FLOW" "no workflow" --items 3
echo nonsense | "$weft" stream --lend 127.0.0.1:1 --helper 0 >out 2>err
[ $? != 0 ] && grep -q "key" err
ok $? "a helper without a key"
echo "1..$count"
exit $failed
