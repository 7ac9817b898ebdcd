#!/usr/bin/env bash
# Issue 16, point 4, on agents: decisions are the same there, with data of their own and in a folder that they share; so are hooks and a
# sandbox that is kept. Speaks TAP.
weft=$WEFT
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db HOME=$work TMPDIR=$work
unset WEFT_STORE WEFT_KEY
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
command -v redis-server >/dev/null || { echo "1..0 # SKIP redis-server is not installed"; exit 0; }
python3 "$here/decisions_oracle.py" "$weft" 3 161 --on local:2 --no-shared >out 2>err
ok $? "random graphs decide as an oracle does, files on agents"
python3 "$here/decisions_oracle.py" "$weft" 3 162 --on local:2 --shared >out 2>err
ok $? "and in a shared folder"
cat >flow.yaml <<'Y'
weft: 1
name: flow
hooks: { task_failed: "cat >> failed.json", done: "cat >> done.json" }
tasks:
  bad: { run: "exit 3", out: bad.txt, may_fail: true }
  needs: { run: "cp {in} {out}", in: bad.txt, out: needs.txt }
  goes: { run: "echo x >> {out}; [ $(wc -l < {out}) -ge 3 ]", out: goes.txt, keep: true, retries: 2 }
Y
"$weft" run flow.yaml --on local:1 --no-shared --retry-delay 0.01s >out 2>err
[ $? = 0 ] && [ "$(wc -l <goes.txt)" = 3 ]
ok $? "an agent hands the sandbox to the next attempt"
grep -q '"task":"bad"' failed.json && grep -q '"untaken":1,"excused":1' done.json
ok $? "hooks are run for agents' runs, and know what was decided"
echo "1..$count"
exit "$failed"
