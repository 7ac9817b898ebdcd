#!/usr/bin/env bash
# Which order for which clients: `weft order --for` simulates every order with the same clients, says which
# differences can be seen, and writes the best one into the user's file. `weft plan --with order` knows the
# tasks' times and the pattern of clients. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1

# eight long tasks that nothing waits for, and behind them in the file a chain of short ones
{
    echo "weft: 1"
    echo "tasks:"
    for i in 1 2 3 4 5 6 7 8; do echo "  long$i: {work: 10}"; done
    echo "  link1: {work: 8}"
    for i in 2 3 4 5 6; do echo "  link$i: {work: 8, after: [link$((i - 1))]}"; done
} >flow.yaml
"$weft" order flow.yaml --for workers:2 --repeat 100 >out 2>err
ok $? "advice for two workers"
grep -q '^clients: 2 workers that stay$' out && grep -q '^100 runs' out
ok $? "names the clients and the runs"
grep -qE '^  fifo .* 1\.[0-9]+ ±0\.[0-9]+$' out
ok $? "first in, first out is worse, with an interval"
grep -qE '^  order .* the best$' out && grep -qE '^advice: order' out
ok $? "planner order is the best, and it says to take it"
cp out first
"$weft" order flow.yaml --for workers:2 --repeat 100 >out 2>err && cmp out first
ok $? "the same again"

"$weft" order flow.yaml --for workers:100 --repeat 50 >out 2>err
grep -q "^advice: none is needed" out
ok $? "with more workers than tasks no order is needed, and it says so"

"$weft" order flow.yaml --for all --repeat 20 >out 2>err
[ $? = 0 ] && [ "$(grep -cE '^(single|poisson|batches|workers:4|workers:16|workers:64) ' out)" = 6 ] && grep -q "no order is better than none" out
ok $? "a line for each pattern of clients"

for bad in crowds workers workers:0 single:3 poisson:4/never "workers:2/3"; do
    "$weft" order flow.yaml --for "$bad" >out 2>err
    [ $? = 2 ] && grep -q "expected workers:N" err
    ok $? "'$bad' is refused, with what is expected"
done
"$weft" order flow.yaml --for workers:2 --repeat 1 >out 2>err
[ $? = 2 ]
ok $? "one run has no interval"

printf 'JOB a a.sub\nJOB b b.sub\nJOB c c.sub\nPARENT b CHILD c\n' >in.dag
"$weft" order in.dag --for workers:1 --annotate -o out.dag >out 2>err
[ $? = 0 ] && [ "$(grep -c '^PRIORITY' out.dag)" = 3 ] && grep -q '^advice:' err && [ ! -s out ]
ok $? "the best order goes into a copy of the user's file, the table to standard error"
"$weft" order in.dag --for all --annotate -o out2.dag >out 2>err
[ $? = 2 ] && [ ! -e out2.dag ]
ok $? "all clients at once make no order to write"

"$weft" plan flow.yaml --on 1 --with order --set clients=workers:2 >out 2>err
[ $? = 0 ] && grep -q completion out
ok $? "planner order states the mean completion"
"$weft" order flow.yaml --with order --set clients=workers:2 -q | head -n 4 >out
grep -qx link1 out
ok $? "and begins the chain early"
"$weft" order flow.yaml --with batch --set size=2 >out 2>err
[ $? = 0 ] && grep -q BATCH_PROVED err && [ "$(sort -u out | wc -l)" = 14 ]
ok $? "a batched schedule, proved"
echo "1..$count"
exit $failed
