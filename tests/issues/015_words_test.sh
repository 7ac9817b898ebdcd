#!/usr/bin/env bash
# Issue 15, point 14: what agent, submit, status, attach and cancel say, read as a stranger would. Each line here was another once: collected
# runs were `? ?:?`, "there is no run 3; there are 1, 2, 3", a cancelled run had "failed", `run=$(weft submit -q)` was "nothing to do",
# an agent that had left in order was dead. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "words" "redis-server is not installed"
says() { # text what: on standard output or error, in one line
    cat "$work/out" "$work/err" >"$work/said"
    grep -qF -- "$1" "$work/said"
    ok $? "$2"
}
start_server
say key "$work/key"
export WEFT_KEY=$work/key
say status
says "no agents at $WEFT_STORE; \`weft agent\` starts one" "a cluster without agents says how one begins"
start_agent one "$weft" agent -j 1
start_agent two "$weft" agent -j 1
are_ready one two
ok $? "two agents"
mkdir "$work/home"
cat >"$work/home/flow.yaml" <<'FLOW'
weft: 1
name: small
tasks:
  one: { run: "echo 1 > {out}", out: one.txt }
  two: { run: "cat {in} > {out}", in: one.txt, out: two.txt }
FLOW
cat >"$work/home/slow.yaml" <<'FLOW'
weft: 1
name: slow
tasks:
  long: { run: "sleep 300; echo 1 > {out}", out: long.txt }
  after: { run: "cat {in} > {out}", in: long.txt, out: after.txt }
  other: { run: "sleep 300; echo 1 > {out}", out: other.txt }
FLOW
cd "$work/home" || exit 1

# a run that is taken
run=$("$weft" submit flow.yaml -q 2>"$work/err")
[ $? = 0 ] && [ "$run" -gt 0 ]
ok $? "submit -q prints the number alone"
say attach "$run"
says "small: done in" "attach"
say status
grep -qE "^ *$run  small +collected +[0-9.]+ m?s +2 of 2 +0  .*:.*/home$" "$work/out"
ok $? "a run that was taken: what it was, how it ended and from where, not ? ?:?"
say attach "$run"
[ $? = 2 ]
ok $? "attach again: status 2"
says "the results of run $run (small) were taken already: they are on " "and it says so"
says " in $work/home" "and where they are"
! grep -q "there are" "$work/err"
ok $? "not that there is none and there is"
say cancel "$run"
[ $? = 1 ]
ok $? "cancel: status 1"
says "run $run has ended already, and its results were taken" "and why"
say status 99
[ $? = 2 ]
ok $? "a run that there is not: status 2"
says "there is no run 99 at $WEFT_STORE, nor any other whose results wait there" "and none that could be meant"

# nothing to do
run=$("$weft" submit flow.yaml -q 2>"$work/err")
[ $? = 0 ] && [ -z "$run" ] && [ ! -s "$work/err" ]
ok $? "nothing to do: -q prints nothing, with status 0"
say attach "$run"
ok $? "attach of that: nothing either, with status 0"
says "no run to attach: nothing was to do" "and says so"
say submit flow.yaml
says "small: nothing to do: 2 tasks are up to date" "without -q it is said"
say submit flow.yaml --json && grep -q '"run": null' "$work/out"
ok $? "in JSON the run is null"

# cancelled
say submit slow.yaml -q && run=$(cat "$work/out")
wait_for 30 work_is "$run" running -ge 2
say status "$run"
grep -qE "^ *$run  slow +running " "$work/out" && grep -q "2 tasks run on 2 cores" "$work/out"
ok $? "status: running"
say cancel "$run" afer
[ $? = 2 ]
ok $? "a task that there is not: status 2"
says "did you mean 'after'?" "and which was meant"
say cancel "$run" other
says "run $run: task other and what depends on it are being taken out" "cancel of a task"
say cancel "$run"
says "run $run is cancelled; what it had made so far comes with \`weft attach $run\`" "cancel"
wait_for 30 state_is "$run" ended
say status
grep -qE "^ *$run  slow +cancelled " "$work/out"
ok $? "status: cancelled, not ended"
say status 99
says "there is no run 99 at $WEFT_STORE; there is $run" "the runs that there are, without those that were taken"
say attach "$run"
[ $? = 1 ]
ok $? "attach of a cancelled run: status 1"
says "slow: cancelled after" "it was cancelled"
! grep -q "failed" "$work/said"
ok $? "it has not failed"
says "the run was stopped or cancelled; 3 of 3 tasks did not run" "and what that means"
say cancel x
[ $? = 2 ]
ok $? "no number: status 2"
says "'x' is not the number of a run; \`weft status\` lists them" "and where they are"

# one that failed, and nobody followed: its agent tells how, and what it wrote. The store alone knew of "exit status 1", and the log went
# with the run's data.
cat >fails.yaml <<'FLOW'
weft: 1
name: fails
tasks: { bad: { run: "echo the reason; exit 3", out: bad.txt } }
FLOW
for i in 1 2 3; do
    say submit fails.yaml --no-shared -q && run=$(cat "$work/out") && wait_for 30 state_is "$run" ended
    COLUMNS=80 say attach "$run"
    [ $? = 1 ] && grep -q "task bad: exit status 3" "$work/err" && grep -q "bad: exit status 3" "$work/out" && grep -q "| the reason" "$work/out"
    ok $? "attach after a task has failed: its status and what it wrote"
done
[ "$(cat .weft/logs/*/bad.log | sort -u)" = "the reason" ]
ok $? "and its log"
grep -q "weft run FLOW  *again: " "$work/out" && ! grep -q "weft run fails " "$work/out" && [ "$(awk 'length > 80' "$work/out" | grep -vc -e ─ -e 'log: ' -e "$work")" = 0 ]
ok $? "a workflow's name is not called its file, and the lines fit 80 columns"

# what tasks that went well wrote
cat >logs.yaml <<'FLOW'
weft: 1
name: logs
tasks:
  talks: { run: "echo it went well; echo 1 > {out}", out: talks.txt }
  raves: { run: "seq 100000; echo 1 > {out}", out: raves.txt }
  silent: { run: "echo 1 > {out}", out: silent.txt }
FLOW
say run logs.yaml --on cluster --no-shared
says "  logs  " "a run that went well says where its logs are"
[ "$(cat .weft/logs/*/talks.log)" = "it went well" ]
ok $? "the log of a task that went well"
[ "$(tail -n 1 .weft/logs/*/raves.log)" = 100000 ] && head -n 1 .weft/logs/*/raves.log | grep -qE '^\[the first [0-9]+ bytes are left out\]$' && [ "$(wc -c <"$(ls .weft/logs/*/raves.log)")" -lt 20000 ]
ok $? "of a long one the end"
! ls .weft/logs/*/silent.log 2>/dev/null
ok $? "and none of who wrote nothing"
rm -rf .weft/logs talks.txt raves.txt silent.txt
say submit logs.yaml --no-shared -q && run=$(cat "$work/out") && wait_for 30 state_is "$run" ended && say attach "$run"
[ "$(cat .weft/logs/*/talks.log)" = "it went well" ]
ok $? "also for who attaches when all is over"

# a shared folder has the results
say submit flow.yaml --shared --force -q && run=$(cat "$work/out") && wait_for 30 state_is "$run" ended
mkdir -p "$work/else"
say attach "$run" -C "$work/else"
[ $? = 2 ]
ok $? "attach -C elsewhere of a run whose agents share its folder: status 2"
says "its results are there, and none come to $work/else; leave -C out" "and why"
say attach "$run"
says "results        $work/home" "without -C it says where they are"

# an agent that leaves
kill "$pid_two"
wait_for 30 dead "$pid_two"
say status
grep -qE "^ *$(node_of two)  .*  left " "$work/out" && grep -q "^1 agent up, 1 left: " "$work/out"
ok $? "an agent that left in order has left, and is not dead"
log_has() { grep -q "$1" "$work/one.log"; }
wait_for 30 log_has "node $(node_of two) on .* has left"
ok $? "and the other's log says so"
say status --json && grep -q '"state": "left"' "$work/out"
ok $? "and JSON"
! grep -q "goodbye" "$work/one.log"
ok $? "no client that ends in order is said to have crashed"
say status -C "$work"
[ $? = 2 ]
ok $? "-C without a run does nothing, and is refused"
says "--directory does nothing without a RUN" "as such"
for option in "-j 2" "-m 1G" "--has ssd" "--resources gpu=0"; do
    # shellcheck disable=SC2086 # words
    say run flow.yaml --on cluster $option
    [ $? = 2 ] && grep -q "does nothing beside --on cluster" "$work/err"
    ok $? "--on cluster $option: its agents are there already"
done
finish
