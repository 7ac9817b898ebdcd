#!/usr/bin/env bash
# Found by soak_cluster.py. A task without outputs that had run on agents was never on record, and ran again every time; one that was
# computed again for its lost data was tried three times as its first attempt, and failed the run; who came to a run when its temporary
# files were gone could not record what had read them, and computed all of it again. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "what is recorded" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2 --lease 1
are_ready one
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<FLOW
weft: 1
tasks:
  made: { run: 'echo made > {out}', out: made }
  mark: { run: 'echo mark >> $work/marks', after: made }
  read: { run: 'echo read {in} >> $work/marks', in: made }
FLOW
say run "$work/flow/flow.yaml" --on cluster --no-shared -q
[ "$(sort "$work/marks")" = "mark
read made" ]
ok $? "tasks without outputs run"
say run "$work/flow/flow.yaml" --on cluster --no-shared && grep -q 'nothing to do' "$work/out" "$work/err" && [ "$(wc -l <"$work/marks")" = 2 ]
ok $? "once"

mkdir "$work/lost"
cat >"$work/lost/flow.yaml" <<FLOW
weft: 1
tasks:
  flaky: { run: 'echo \$WEFT_ATTEMPT >> $work/attempts; [ \$WEFT_ATTEMPT -gt 1 ] && echo good > {out}', out: middle, retries: 1 }
  gate: { run: 'echo up >> $work/up; until [ -e $work/go ]; do sleep 0.05; done; echo open > {out}', in: middle, out: gate }
  last: { run: 'cat {in} > {out}', in: [middle, gate], out: last }
FLOW
"$weft" run "$work/lost/flow.yaml" --on cluster --no-shared -q >"$work/lost.out" 2>"$work/lost.log" &
client=$!
wait_for 60 test -e "$work/up"
start_agent two "$weft" agent -j 2 --lease 1
are_ready two
# shellcheck disable=SC2154 # start_agent sets it
kill -9 "$pid_one"
touch "$work/go"
wait $client
[ $? = 0 ] && [ "$(cat "$work/lost/last")" = "good
open" ]
ok $? "a task that needs its second attempt has it also when it is computed again for its lost data"
[ "$(tail -n 2 "$work/attempts" | tr '\n' ' ')" = "1 2 " ] && [ "$(wc -l <"$work/attempts")" = 4 ]
ok $? "and is told which attempt it is"

mkdir "$work/late"
cat >"$work/late/flow.yaml" <<FLOW
weft: 1
tasks:
  large: { run: 'echo large > {out}', out: large, temporary: true }
  small: { run: 'wc -c < {in} > {out}', in: large, out: small }
  gate: { run: 'until [ -e $work/late-go ]; do sleep 0.05; done; echo open > {out}', in: small, out: gate }
FLOW
say submit "$work/late/flow.yaml" --no-shared -q && run=$(cat "$work/out")
was_dropped() { [ -n "$(find "$work/two/runs" -path '*/files/small' 2>/dev/null)" ] && [ -z "$(find "$work/two/runs" -path '*/files/large')" ]; }
wait_for 60 was_dropped
ok $? "a temporary file goes when what reads it is done"
touch "$work/late-go"
say attach "$run" -q && [ "$(cat "$work/late/gate")" = open ]
ok $? "somebody comes then"
say run "$work/late/flow.yaml" --on cluster --no-shared -n && grep -q 'nothing to do' "$work/out"
ok $? "and has all of it on record"
finish
