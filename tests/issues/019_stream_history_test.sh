#!/usr/bin/env bash
# Streams left no record, and nobody could tell how busy a channel was. Now a stream is a run of the history: its figures are asked for
# like values of results, while it runs, too; channels stand beside nodes. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
touch out err
of() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
asks() { "$weft" history --where "$1" --json >out 2>err && [ "$(of out 'len(d["runs"])')" = "$2" ]; }
waits() { # until a condition holds
    for _ in $(seq 600); do
        eval "$1" && return 0
        sleep 0.1
    done
    return 1
}

# --- by a plan, rehearsed: two nodes, and the channel between them is busy for 20 of 40 ms ---
cat >flow.yaml <<'YAML'
weft: 1
name: rehearsed
tasks:
  a: { work: 0.03, replicable: false, out: [{ name: x, size: 20 }] }
  b: { work: 0.03, replicable: false, in: [x] }
YAML
"$weft" plan flow.yaml --on homogeneous:n=2,bandwidth=1000 --with mos --set throughput=0.75Tmax -o plan.json >out 2>err &&
    "$weft" stream flow.yaml --plan plan.json --items 20 --json >stream.json 2>err
ok $? "a stream by a plan"
[ "$(of stream.json 'd["channels"][0]["transfers"]')" = 20 ] && [ "$(of stream.json 'd["channels"][0]["bytes"]')" = 400 ] &&
    [ "$(of stream.json '0.2 < d["channels"][0]["busy"] < 0.8')" = True ] && [ "$(of stream.json 'd["run"]')" = 1 ]
ok $? "its channel: transfers, bytes, how busy; and its number in the history"
"$weft" stream flow.yaml --plan plan.json --items 3 >out 2>err && grep -q "channel  *transfers" out && grep -q " - .* 3  *60 B " out
ok $? "they stand in the summary"
asks 'stream.items = 20 and stream.throughput > 0 and stream.promised_throughput > stream.throughput * 0.5' 1
ok $? "the history is asked for a stream by its figures"
asks "filter = 'b' and filter.items = 20" 1 && asks "filter = 'b' and filter.items = 21" 0 && asks 'channel.transfers = 20 and channel.busy > 0.1' 1 && asks 'node.busy > 0.1' 2
ok $? "by those of a filter, a channel, a node"
asks "outcome = 'done' and planner = 'mos' and workflow = 'rehearsed'" 2
ok $? "both ended well, by mos"
"$weft" history 1 >out 2>err && grep -q "stream.items = 20" out
ok $? "weft history 1 shows them"
"$weft" stream flow.yaml --plan plan.json --items 2 --no-history -q >out 2>err && asks 'run > 2' 0
ok $? "--no-history leaves none"

# --- while it runs ---
printf 'weft: 1\nname: clock\ntasks:\n  same: { run: "cat {in} > {out}", per_item: true, in: x, out: y }\n' >clock.yaml
"$weft" stream clock.yaml --from clock:20 --to result -q >out 2>err &
stream=$!
waits "asks \"workflow = 'clock' and outcome = 'running' and stream.items > 3\" 1"
ok $? "figures of a stream that goes on"
kill -INT $stream
wait $stream
ok $? "it is stopped, and ends well"
asks "workflow = 'clock' and outcome = 'done' and stream.items = $(wc -l <result)" 1
ok $? "and the last figures are those of its end"

# --- items that are given up ---
printf 'weft: 1\nname: fails\ntasks:\n  picky: { run: "grep -v 3 {in} > {out}", per_item: true, in: x, out: y, retries: 0 }\n' >fails.yaml
seq 1 5 | "$weft" stream fails.yaml --from - --to result -q >out 2>err
[ $? = 1 ] && asks "workflow = 'fails' and outcome = 'failed' and stream.given_up = 1" 1 && "$weft" history last >out 2>err && grep -q "item 2: " out
ok $? "an item that was given up: the run has failed, and says which and why"

# --- a history that cannot be written is said, and the stream goes on ---
seq 1 3 | WEFT_HISTORY=$work/flow.yaml/none "$weft" stream clock.yaml --from - --to result >out 2>err && [ "$(wc -l <result)" = 3 ] && grep -q "not recorded" err
ok $? "without a history it runs, and says so"
echo "1..$count"
exit $failed
