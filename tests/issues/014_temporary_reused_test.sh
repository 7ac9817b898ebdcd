#!/usr/bin/env bash
# A task whose input was made again, with the same result, was "done" although its temporary output was gone and a reader of it had to run: the run
# failed with "input is gone", and the one after it went well. Found by make soak-real. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
cat >flow.yaml <<'Y'
weft: 1
tasks:
  first: { in: source, out: first.txt, run: 'cut -c 1 {in} > {out}' }
  middle: { in: first.txt, out: [{ name: middle.txt, temporary: true }], run: 'cp {in} {out}' }
  later: { in: middle.txt, out: [{ name: later.txt, temporary: true }], run: 'cp {in} {out}' }
  last: { in: [later.txt, source], out: last.txt, run: 'cat {in} > {out}' }
Y
echo one >source
timeout 60 "$weft" run flow.yaml -q >out 2>&1 </dev/null && [ "$(cat last.txt)" = "$(printf 'o\none')" ] && [ ! -e middle.txt ] && [ ! -e later.txt ]
ok $? "all runs, and what is temporary goes"
echo other >source
timeout 60 "$weft" run flow.yaml -q >out 2>&1 </dev/null && [ "$(cat last.txt)" = "$(printf 'o\nother')" ]
ok $? "a result that is the same as before, and temporary files behind it that are needed again"
timeout 60 "$weft" run flow.yaml >out 2>&1 </dev/null && grep -q "nothing to do" out
ok $? "then there is nothing to do"
echo "1..$count"
exit $failed
