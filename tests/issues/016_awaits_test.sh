#!/usr/bin/env bash
# Issue 16, point 5: a growing run on agents with data of their own, whose later tasks read a file of the submitter's folder. Nobody could hand it in: it comes
# from whoever attaches, and until then `weft status` says what is waited for. One that is nowhere ends the run, as on one machine. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "inputs of tasks that join" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 4
are_ready one
ok $? "an agent"
mkdir "$work/flow" && cd "$work/flow" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
lists: { v: { lines: values.txt, after: say } }
tasks:
  say: { run: 'seq 3 > {out}', out: values.txt }
  use: { each: v, run: 'cat common.txt > {out}; echo {v} >> {out}', in: common.txt, out: "u/{v}" }
  other: { each: v, run: 'echo {v} > {out}', out: "o/{v}" }
FLOW
echo common >common.txt
timeout 100 "$weft" submit flow.yaml --no-shared >"$work/out" 2>"$work/err" && grep -q "only later tasks read come from whoever attaches" "$work/err" "$work/out"
ok $? "submit says that files of later tasks come from whoever attaches"
run=$(sed -n 's/^run \([0-9]*\):.*/\1/p' "$work/out")
says() { say status "$run" && tr -s ' \n' ' ' <"$work/out" | grep -q "run $run waits for 'common.txt', which lies where it was submitted, .*flow: .weft attach $run. there brings it"; }
wait_for 60 says
ok $? "status names the file, the folder and the remedy"
wait_for 60 work_is "$run" done -ge 4
ok $? "what does not need it is done meanwhile"
grep -q '"waits": \[' "$work/status" && grep -q "waits for 'common.txt'" "$work/status"
ok $? "as JSON, too"
timeout 100 "$weft" attach "$run" >"$work/out" 2>"$work/err" && [ "$(cat u/1 u/2 u/3 | tr '\n' ' ')" = "common 1 common 2 common 3 " ]
ok $? "who attaches brings it, and gets the results"
say status && ! grep -q "waits for" "$work/out"
ok $? "then nothing is waited for"
rm -rf .weft u o values.txt common.txt
say run flow.yaml
alone=$?
rm -rf .weft u o values.txt
say run flow.yaml --on cluster --no-shared
[ $? = $alone ] && grep -q "common.txt" "$work/err"
ok $? "a file that is nowhere ends a run that is followed with status $alone, as on one machine"
finish
