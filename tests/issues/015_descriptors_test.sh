#!/usr/bin/env bash
# Issue 15, point 2: an open run cost an agent seven descriptors, whether anything of it ran there or not. One that waits costs four: its
# record, its connection to the store, and that one's epoll and timer. One that has ended costs none. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "descriptors of runs" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 1
are_ready one
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<END
weft: 1
tasks:
  t: { run: 'touch $work/begun; until [ -e $work/go ]; do sleep 0.1; done; cat {in} > {out}', in: given, out: made }
END
echo hello >"$work/flow/given"
# shellcheck disable=SC2154
descriptors() { ls "/proc/$pid_one/fd" | wc -l; }
open_runs() { ls -l "/proc/$pid_one/fd" 2>/dev/null | grep -c '/runs/.*/memo$'; }
opened() { [ "$(open_runs)" = "$1" ]; }
hand_in() { say submit "$work/flow/flow.yaml" --no-shared -q; }

hand_in
wait_for 30 test -e "$work/begun" && opened 1
ok $? "a run whose task takes the agent's core"
# what was handed over with it is closed, too: as few as there are for a second
least=1000
for _ in 1 2 3 4 5 6 7 8 9 10; do
    now=$(descriptors)
    [ "$now" -ge "$least" ] || least=$now
    sleep 0.1
done
RUNS=20
for _ in $(seq $RUNS); do hand_in; done
wait_for 30 opened $((RUNS + 1))
ok $? "$RUNS more are open and wait"
few() { [ "$(descriptors)" -le $((least + 4 * RUNS)) ]; }
wait_for 20 few
ok $? "each costs four descriptors at most ($least with one, $(descriptors) with $((RUNS + 1)))"
touch "$work/go"
none() { opened 0 && [ "$(descriptors)" -le "$least" ]; }
wait_for 60 none
ok $? "and none when it has ended ($(descriptors))"
finish
