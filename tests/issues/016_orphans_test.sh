#!/usr/bin/env bash
# Issue 16, "How good": what is not the tasks' own work. The look for processes that outlive their task opens only those that it has not
# seen before; it ends the same ones as ever, while the run goes on: one that was seen while its task ran, one that began after
# that look, one that changed its program meanwhile. What is not the task's is left alone. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
beside=""
trap '[ -z "$beside" ] || kill "$beside"; rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
# `other` runs all the time, so the looks go on; `watch` succeeds only if each daemon is ended before it is over
cat >flow.yaml <<FLOW
weft: 1
tasks:
  leave:
    run: |
      setsid sh -c 'echo \$\$ > $work/old; exec sleep 300' </dev/null >/dev/null 2>&1 &
      setsid sh -c 'echo \$\$ > $work/turned; while ! [ -e $work/turn ]; do sleep 0.1; done; exec sleep 300' </dev/null >/dev/null 2>&1 &
      sleep 2.5
      touch $work/turn
      setsid sh -c 'echo \$\$ > $work/young; exec sleep 300' </dev/null >/dev/null 2>&1 &
      while ! [ -s $work/young ]; do sleep 0.1; done
      touch {out}
    out: left
  other: { run: 'while ! [ -e $work/over ]; do sleep 0.1; done; touch {out}', out: beside }
  watch:
    in: left
    run: |
      ended=0
      for name in old turned young; do
          for i in \$(seq 600); do kill -0 \$(cat $work/\$name) 2>/dev/null || break; sleep 0.1; done
          kill -0 \$(cat $work/\$name) 2>/dev/null || ended=\$((ended + 1))
      done
      touch $work/over
      echo \$ended > {out}
    out: ended
FLOW
sleep 300 &
beside=$!
"$weft" run flow.yaml -j 3 >"$work/out" 2>"$work/err"
ok $? "a run whose task leaves three daemons"
[ "$(cat ended)" = 3 ]
ok $? "all three are ended while other tasks run"
kill -0 "$beside"
ok $? "a process beside the run is left alone"

# the last look reads all of them, whatever was seen before
cat >flow.yaml <<FLOW
weft: 1
tasks:
  leave: { run: 'setsid sh -c "echo \\\$\\\$ > $work/last; exec sleep 300" </dev/null >/dev/null 2>&1 & while ! [ -s $work/last ]; do sleep 0.1; done; touch {out}', out: left2 }
FLOW
"$weft" run flow.yaml >"$work/out" 2>"$work/err" && ! kill -0 "$(cat "$work/last")" 2>/dev/null
ok $? "and what the last task leaves is gone when the run is over"
echo "1..$count"
exit $failed
