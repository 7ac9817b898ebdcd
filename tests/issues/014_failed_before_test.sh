#!/usr/bin/env bash
# `--why` of a task that had failed said that there is no record that it ever ran. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: flow
tasks:
  good: { run: 'cp {in} {out}', in: start, out: good.txt }
  bad: { run: 'echo words >&2; exit $(cat status)', in: [status, good.txt], out: bad.txt }
  far/away: { run: 'sleep 9', timeout: 100ms }
YAML
echo x >"$work/f/start"
echo 3 >"$work/f/status"
flow=$work/f/flow.yaml
run "$flow" --why good && grep -q "good runs: there is no record that it ever ended well" "$work/out"
ok $? "before the first run there is no record"
run "$flow" -k
run "$flow" --why bad && grep -q "bad runs: it failed when it last ran, in run 1 of 2[0-9-]* [0-9:]*: exit status 3" "$work/out"
ok $? "after a failure: that it failed, when and how"
log=$(sed -n 's/.*; its log: //p' "$work/out") && grep -q words "$log"
ok $? "and where its log is"
run "$flow" --why far/away && grep -q "it failed when it last ran, in run 1 .*over its time limit" "$work/out"
ok $? "a time limit"
run "$flow" -n && grep -q "it failed when it last ran, in run 1" "$work/out"
ok $? "-n says so, too"
(cd "$work/f" && "$weft" run flow.yaml --why bad >"$work/out" 2>"$work/err") && grep -q "its log: ./.weft/logs/1/bad.log" "$work/out"
ok $? "from another folder the log has another name"
rm -rf "$work/f/.weft/logs"
run "$flow" --why bad && grep -q "it failed" "$work/out" && ! grep -q "its log" "$work/out"
ok $? "a log that is gone is not named"

# an older failure, of a task that the last run did not come to
run "$flow" -k && echo 4 >"$work/f/status"
cat >"$work/f/two.yaml" <<'YAML'
weft: 1
name: flow
tasks:
  other: { run: 'false', out: other.txt }
  bad: { run: 'echo words >&2; exit $(cat {in})', in: [status, other.txt], out: bad.txt }
YAML
run "$work/f/two.yaml"
run "$flow" --why bad && grep -q "in run 2 " "$work/out"
ok $? "an older failure is remembered until it ran again"
echo 0 >"$work/f/status"
sed -i 's/echo words >&2; exit/touch {out}; exit/; /far.away/d' "$flow"
run "$flow" && run "$flow" --why bad && grep -q "does not run" "$work/out"
ok $? "it ends well"
echo 00 >"$work/f/status"
run "$flow" --why bad && grep -q "bad runs: its input 'status' changed since it last ran$" "$work/out"
ok $? "and its failures are forgotten"
echo 5 >"$work/f/status"
run "$flow" -k
run "$flow" --why bad && grep -q "bad runs: its input 'status' changed since it last ran; it failed when it last ran, in run" "$work/out"
ok $? "until it fails again: what changed since it ended well, and that it failed"
WEFT_HISTORY=none "$weft" run "$flow" --why bad >"$work/out" 2>"$work/err"
ok $? "without a history"
echo "1..$count"
exit $failed
