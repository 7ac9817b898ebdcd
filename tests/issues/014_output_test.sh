#!/usr/bin/env bash
# `weft run f.yaml >&-` ended with 0 and had written its summary over the header of the memo; the next run found "no weft journal".
# `weft run f.yaml >/dev/full` ended with 0 as well. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db XDG_CONFIG_HOME=$work/config TMPDIR=$work
unset WEFT_STORE WEFT_KEY
. "$(dirname "$0")/../support/tap.sh"
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: three
tasks:
  a: { run: 'echo a > {out}', out: a.txt }
  b: { run: 'cp {in} {out}', in: a.txt, out: b.txt }
  c: { run: 'echo done' }
YAML
flow=$work/f/flow.yaml

# descriptors 0 to 2 that are closed: no file of ours may get such a number
for closed in '>&-' '<&-' '2>&-' '<&- >&- 2>&-'; do
    rm -rf "$work/f/.weft" "$work/f/a.txt"
    eval "\"\$weft\" run \"\$flow\" $closed" >"$work/out" 2>"$work/err"
    "$weft" run "$flow" >"$work/out" 2>"$work/err" && grep -q "nothing to do" "$work/out"
    ok $? "run $closed: the memo is whole, the next run has nothing to do"
    [ "$(cat "$work/f/b.txt")" = a ]
    ok $? "and so are its results"
    "$weft" history >"$work/out" 2>"$work/err"
    ok $? "and the history"
done

# every command whose output cannot be written says so; output that nobody wants (-q) is no error
"$weft" plan examples/edges.yaml --with heft -o "$work/plan.json" >/dev/null 2>&1
"$weft" sim examples/montage-25.dag --on 4 --trace "$work/trace.json" >/dev/null 2>&1
cp -r examples/sweep "$work/sweep"
experiment=$work/sweep/experiment.yaml
commands=(
    "help" "--help" "help run" "run --help" "version" "--version"
    "run $flow --force" "run $flow" "run $flow -n" "run $flow --why b" "run $flow --json --force" "run $flow --json" "run $flow -n --json"
    "clean $flow" "clean $flow -n --json"
    "history" "history last" "history --json" "report" "report --json" "report $work/trace.json" "predict $flow" "predict $flow --json"
    "show examples/edges.yaml" "show examples/edges.yaml --json" "plan examples/edges.yaml --with heft" "plan examples/edges.yaml --with heft --json" "plan examples/edges.yaml --with heft -o -"
    "check $work/plan.json" "check $work/plan.json --json" "compare examples/edges.yaml --with heft,cpop" "compare examples/edges.yaml --with heft --json"
    "sim examples/montage-25.dag --on 4" "sim examples/montage-25.dag --on 4 --json" "bound examples/montage-25.dag"
    "convert examples/montage-25.dag - --to dot" "generate chain --set n=5" "generate" "formats" "formats --json" "planners" "planners heft" "planners --json"
    "platform" "platform --json" "key $work/new.key" "experiment $experiment --plan-only" "experiment $experiment --plan-only --list --json" "reproduce"
)
for c in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    "$weft" $c >"$work/out" 2>"$work/err"
    good=$?
    rm -f "$work/new.key"
    [ -s "$work/out" ] || { echo "# $c prints nothing (exit $good)"; continue; }
    for to in /dev/full '&-'; do
        eval "\"\$weft\" $c >$to" 2>"$work/err"
        got=$?
        rm -f "$work/new.key"
        [ $got -ne 0 ] && [ $got -le 3 ] && grep -qi "standard output" "$work/err" && [ "$(grep -ci "standard output" "$work/err")" = 1 ]
        ok $? "$c >$to: an error, once (exit $got, $good otherwise)"
    done
done
"$weft" run "$flow" -q --force >&- 2>"$work/err"
ok $? "-q has nothing to write, and needs no standard output"
"$weft" plan examples/edges.yaml --with heft -o /dev/full >"$work/out" 2>"$work/err"
[ $? -ne 0 ] && grep -q "/dev/full: cannot write" "$work/err"
ok $? "a file on a full disk is named"

# a reader that has gone ends weft as it ends other programs, without a word; if SIGPIPE is ignored, it is an error
status() { # COMMAND...: its status when nobody reads
    "$@" 2>"$work/err" | true
    echo "${PIPESTATUS[0]}"
}
big=(generate chain --set n=100000)
[ "$(status "$weft" "${big[@]}")" = 141 ] && [ ! -s "$work/err" ]
ok $? "a closed pipe: SIGPIPE, no message"
ended=$(status "$weft" convert examples/montage-25.dag - --to dot) # 0: it had written all before its reader went
{ [ "$ended" = 141 ] || [ "$ended" = 0 ]; } && ! grep -qi "standard output" "$work/err"
ok $? "the same for -o - and its like"
got=$(trap '' PIPE; status "$weft" "${big[@]}")
[ "$got" != 0 ] && [ "$got" -le 2 ] && grep -q "standard output" "$work/err"
ok $? "SIGPIPE ignored by who started it: a message, an exit status"
rm -f "$work/f/b.txt"
status "$weft" run "$flow" --json --force >/dev/null
[ "$(cat "$work/f/b.txt" 2>/dev/null)" = a ]
ok $? "a run goes on without its reader"

# a program that uses the library: descriptors are safe there, too
mkdir "$work/library"
(cd "$work/library" && "$WEFT_BUILD/examples/c/example_run" <&- >&- 2>&-; "$WEFT_BUILD/examples/c/example_run" >"$work/out" 2>"$work/err")
ok $? "a program with closed descriptors leaves a memo that the next one reads"
echo "1..$count"
exit $failed
