#!/usr/bin/env bash
# `weft run -n` and `--why` made .weft, the memo and a history, failed where nothing can be written, and while another run went on. That other run
# was not named, and could not be waited for. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
pids=()
trap 'for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/home/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
skip() { count=$((count + 1)); echo "ok $count - # SKIP $1"; }
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
# (SQLite makes an index beside the history while it reads, and removes it)
state() { find "$work/f" -printf '%p %i %s %T@ %M\n' | sort; find "$work/home" -type f -printf '%p %i %s %T@ %M\n' 2>/dev/null | sort; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: flow
tasks:
  a: { run: 'cp {in} {out}', in: start, out: a.txt }
  b: { run: 'cat {in} > {out}', in: a.txt, out: b.txt }
YAML
cat >"$work/f/experiment.yaml" <<'YAML'
weft: 1
experiment: x
workflow: flow.yaml
substitute:
  how: { task: b, by: { cat: {}, tac: { run: 'tac {in} > {out}' } } }
YAML
echo one >"$work/f/start"
flow=$work/f/flow.yaml
looks=("run $flow -n" "run $flow -n --json" "run $flow --why b" "run $flow -n --with heft" "run $flow -n --force" "clean $flow -n" "experiment $work/f/experiment.yaml --plan-only" "experiment $work/f/experiment.yaml -n"
    "show $flow" "predict $flow" "plan $flow")
look_all() { # WHEN: nothing may fail, nothing may change
    for c in "${looks[@]}"; do
        before=$(state)
        # shellcheck disable=SC2086 # words
        "$weft" $c >"$work/out" 2>"$work/err"
        ok $? "$1: ${c/$work\//}"
        [ "$before" = "$(state)" ]
        ok $? "and nothing was made or written"
    done
}
[ ! -e "$work/home" ] && looks_first=("${looks[@]}") && looks=("${looks_first[@]:0:9}")
look_all "before the first run"
[ ! -e "$work/f/.weft" ] && [ ! -e "$work/home" ]
ok $? "no .weft, no history"
looks=("${looks_first[@]}")
run "$flow" && echo two >"$work/f/start"
looks+=("history" "history last" "history --json" "report")
look_all "after a run"
run "$flow" -n && grep -q "would run 2 of 2" "$work/out" && grep -q "predicted" "$work/out"
ok $? "it knows what changed"
[ "$(stat -c %a "$WEFT_HISTORY")" = 600 ]
ok $? "the history is its owner's alone"

# a file system that cannot be written
cat >"$work/ro" <<'SH'
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77
shift
touch "$WORK/f/x" 2>/dev/null && exit 78
"$@"
SH
export WORK=$work
for c in "${looks[@]}"; do
    # shellcheck disable=SC2086 # words
    unshare -rm sh "$work/ro" "$work" "$weft" $c >"$work/ro.out" 2>"$work/ro.err"
    got=$?
    [ $got = 77 ] || [ $got = 78 ] && { skip "no read-only mount here"; break; }
    # (the outputs of this shell are open already)
    cp "$work/ro.err" "$work/err" && [ $got = 0 ] && ! grep -q "cannot\|read-only\|not recorded" "$work/err"
    ok $? "read-only: ${c/$work\//}"
done

# while another run has the folder
cat >"$work/f/long.yaml" <<'YAML'
weft: 1
name: long
tasks:
  wait: { run: 'touch begun; while [ ! -e go ]; do sleep 0.02; done' }
YAML
"$weft" run "$work/f/long.yaml" >"$work/long.out" 2>&1 &
pids+=($!)
long=$!
for _ in $(seq 500); do [ -e "$work/f/begun" ] && break; sleep 0.02; done
run "$flow" -n && grep -q "would run 2 of 2" "$work/out"
ok $? "while another run goes on: -n"
run "$flow" --why a && grep -q "a runs: its input 'start' changed" "$work/out"
ok $? "and --why"
run "$flow"
[ $? = 1 ] && grep -q "process $long (.*weft run .*long.yaml), since [0-9]" "$work/err" && grep -q -- "--wait" "$work/err"
ok $? "a run names who has the folder: process, command, since when, and the remedy"
"$weft" run "$flow" --wait >"$work/wait.out" 2>"$work/wait.err" &
pids+=($!)
waiting=$!
for _ in $(seq 500); do grep -q "waiting: process $long" "$work/wait.err" && break; sleep 0.02; done
grep -q "waiting: process $long" "$work/wait.err"
ok $? "--wait says whom it waits for"
"$weft" run "$flow" --wait >"$work/out" 2>"$work/err" &
stopped=$!
sleep 0.5
kill -TERM $stopped
wait $stopped
[ $? = 143 ]
ok $? "a signal ends the waiting"
touch "$work/f/go"
wait $waiting
[ $? = 0 ] && [ "$(cat "$work/f/b.txt")" = two ] && grep -q "2 tasks ran" "$work/wait.out"
ok $? "and when the folder is free it runs"
[ ! -e "$work/f/.weft/holder" ]
ok $? "nobody has it any more"

# whose folder it is
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/other/.weft" && chmod 1777 "$work/other" && cp "$flow" "$work/other" && echo x >"$work/other/start"
    chown 12345 "$work/other/.weft"
    run "$work/other/flow.yaml"
    [ $? = 2 ] && grep -q "user 12345's" "$work/err" && [ -z "$(ls "$work/other/.weft")" ]
    ok $? "a .weft of another user in a folder that is not his is refused"
    chown 12345 "$work/other"
    run "$work/other/flow.yaml"
    ok $? "in his own folder it is his to have"
    chown 0 "$work/other" && chmod 2775 "$work/other" && run "$work/other/flow.yaml"
    ok $? "in a folder of a group it is a member's"
    chmod 777 "$work/other/.weft"
    run "$work/other/flow.yaml"
    [ $? = 2 ] && grep -q "chmod o-w" "$work/err"
    ok $? "but not if everybody may write to it"
fi
chmod 777 "$work/f/.weft" && run "$flow" && [ "$(stat -c %a "$work/f/.weft")" = 775 ]
ok $? "one's own is closed to others"
rm -rf "$work/f/.weft/memo" && echo precious >"$work/precious" && ln -s "$work/precious" "$work/f/.weft/memo"
run "$flow"
[ $? = 1 ] && grep -q "it is a link" "$work/err" && [ "$(cat "$work/precious")" = precious ]
ok $? "a link in the place of the memo is not followed"
rm "$work/f/.weft/memo" && rm -rf "$work/f/.weft/running" && ln -s "$work/precious" "$work/f/.weft/holder" && run "$flow" --force && [ "$(cat "$work/precious")" = precious ]
ok $? "nor one in the place of another file"
echo "1..$count"
exit $failed
