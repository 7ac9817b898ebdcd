#!/usr/bin/env bash
# Issue 22: what functions do that they should not was passed over in silence. exit() in one ended `weft run` with status 0 and nothing said; a
# `timeout` was accepted and never kept; and room for an output that is a file could be asked for in one size only. Who can do without an object in
# memory was taken for up to date with it when its maker was skipped. Speaks TAP.
weft=$WEFT functions=$WEFT_BUILD/tests/test_functions.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
run() { # options
    timeout 60 "$weft" run flow.yaml "$@" >out 2>err </dev/null
}

# ---- exit() ----
flow() { # what one task more does, beside it
    cat >flow.yaml <<YAML
weft: 1
tasks:
  first: { call: "$functions:nothing" }
  bad: { call: "$functions:leaves", after: [first] }
  last: { call: "$functions:nothing", after: [bad] }
$1
YAML
}
ends_weft() { # function, status, what is said, what that means
    for more in "" '  beside: { run: "true" }'; do
        flow "$more"
        sed -i "s/:leaves/:$1/" flow.yaml
        rm -rf .weft
        run
        [ $? = "$2" ] && grep -q "error: task 'bad': its function has $3" err
        ok $? "$4 (${more:+beside a command, }status $2, named)"
    done
    sed -i "s/:$1/:nothing/" flow.yaml
    run && grep -q "done in" out
    ok $? "the next run goes on"
}
ends_weft leaves 1 "called exit()" "a function that calls exit() does not make a run that is done"
ends_weft leaves_at_once 1 "called _exit()" "nor does one that calls _exit()"
ends_weft leaves_its_thread 1 "called pthread_exit()" "one that ends its thread does not let the run wait for ever"
flow ""
sed -i "s/:leaves/:forks/" flow.yaml
rm -rf .weft
run && [ ! -s err ]
ok $? "children of a function may end as they like"

# ---- a crash ----
ends_weft crashes 134 "crashed (SIGABRT)" "one that crashes is named before weft dies of it"

# It takes one agent after the other. They were this run's own: nobody could bring another, and the run waited for ever.
sed -i "s|:nothing\", after: .first|:crashes\", after: [first|; s|call: \"|call: \"$PWD/|; s|$PWD//|/|" flow.yaml
timeout 200 "$weft" run flow.yaml --force --on local:2 >out 2>err </dev/null
[ $? = 1 ] && grep -q "no agent is left: those that were started for run" err
ok $? "on agents of its own the run ends"
grep -q "last words: .*task 'bad': its function has crashed (SIGABRT)" err
ok $? "and says whose function it was"
for _ in $(seq 600); do
    pgrep -f "$work" >/dev/null || break
    sleep 0.1
done
! pgrep -f "$work" >left
ok $? "and nothing of it is left ($(tr '\n' ' ' <left))"

# ---- limits that only processes have ----
for key in "timeout: 2s" "processes: 3"; do
    cat >flow.yaml <<YAML
weft: 1
tasks:
  t: { call: "$functions:nothing", $key }
YAML
    run
    [ $? = 2 ] && grep -q "flow.yaml:3: task 't': ${key%%:*} goes with run; a call has none" err
    ok $? "${key%%:*} of a call is refused"
done

# ---- another size ----
for memory in "" ", in_memory: true"; do
    cat >flow.yaml <<YAML
weft: 1
tasks:
  two: { call: "$functions:asks_twice", out: [{ name: x, size: 10$memory }] }
  sum: { call: "$functions:copy", in: [x], out: y }
YAML
    [ -z "$memory" ] || sed -i '/sum:/d' flow.yaml
    rm -rf .weft x y
    run && [ "$(cat x)" = yyy ]
    ok $? "room of another size for ${memory:+a result, }a file"
done
sed -i '$a\  use: { call: "'"$functions"':nothing", in: [x] }' flow.yaml
rm -rf .weft x
run && [ ! -e x ]
ok $? "and in memory"

# ---- scratch memory of tasks without objects ----
# There was none to have: the function, and weft with it, died of asking.
for more in "" '  beside: { run: "true" }'; do
    cat >flow.yaml <<YAML
weft: 1
tasks:
  a: { call: "$functions:takes_scratch" }
  b: { call: "$functions:takes_scratch", after: [a] }
$more
YAML
    rm -rf .weft
    run
    ok $? "a task without objects has scratch memory${more:+, beside a command}"
    PAST_SCRATCH=1 WEFT_CHECK_DATA=1 run --force
    [ $? = 1 ] && grep -q "a: it wrote past the end of its scratch memory" out err
    ok $? "and is named when it writes past its end"
done

# ---- an object in memory that is not made this time ----
flow() { # taken or not
    cat >flow.yaml <<YAML
weft: 1
tasks:
  may: { call: "$functions:asks_twice", when: "$1 == 1", out: [{ name: x, size: 3, in_memory: true }] }
  sum: { call: "$functions:reads_or_not", in: [{ name: x, optional: true }], out: y }
YAML
}
rm -rf .weft x y
flow 1
run && [ "$(cat y)" = "with 3" ]
ok $? "a reader that can do without has it"
flow 0
run && [ "$(cat y)" = without ]
ok $? "its maker is skipped: the reader's result of before is not taken"
run && grep -q "nothing to do: 1 task is up to date, 1 skipped" out
ok $? "and not computed at each run"
flow 1
run && [ "$(cat y)" = "with 3" ]
ok $? "its maker is taken again"
echo "1..$count"
exit $failed
