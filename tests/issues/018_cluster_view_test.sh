#!/usr/bin/env bash
# The Cluster view, and `weft drain`: agents of a real cluster are seen, leave when they are told to, in the terminal and in the page, and
# no task fails of it; a run is ended from the page. Speaks TAP.
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "the Cluster view" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
for name in one two three; do start_agent $name "$weft" agent -j 1; done
are_ready one two three
ok $? "three agents"
mkdir "$work/home" && cd "$work/home" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
name: "<img src=x onerror=alert(1)>"
lists: { i: [1, 2, 3, 4, 5, 6] }
tasks:
  wait: { each: i, run: "until [ -e GATE ]; do sleep 0.1; done; echo {i} > {out}", out: "{i}.txt" }
FLOW
sed -i "s|GATE|$work/gate|" flow.yaml
sed "s|name: .*|name: endless|; s|$work/gate|$work/never|; s|{i}.txt|e{i}.txt|" flow.yaml >endless.yaml
run=$("$weft" submit flow.yaml --no-shared -q 2>"$work/err")
ok $? "a run that waits"
node_of() { sed -n 's/.*node \([0-9]*\) ready.*/\1/p' "$work/$1.out"; }
say drain 99
[ $? = 2 ] && grep -q "no node 99" "$work/err"
ok $? "who is not there cannot be drained"
say drain frob
[ $? = 2 ] && grep -q "not the number of an agent" "$work/err"
ok $? "nor what is no number"
running() { "$weft" status --json 2>/dev/null | python3 -c 'import json, sys; s = json.load(sys.stdin); sys.exit(sum(w["running"] for a in s["agents"] for w in a["runs"]) != 3)'; }
wait_for 60 running
ok $? "each has a task"
say drain "$(node_of one)" --now --json
[ $? = 0 ] && grep -q '"weft-drained/1"' "$work/out" && grep -q "leaves at once" "$work/out"
ok $? "weft drain --now tells what the agent says"
# shellcheck disable=SC2154 # set by start_agent
wait_for 60 dead "$pid_one"
ok $? "and it leaves"
say drain "$(node_of one)"
[ $? = 1 ] && grep -q "has left already" "$work/err"
ok $? "who has left cannot leave again"
export WEFT_NODE_TWO=$(node_of two)
page=$here/page/node_modules
if [ -x "$(dirname "$weft")/weft-ui" ] && [ -f "$page/playwright-core/index.mjs" ] && [ -f "$page/axe-core/axe.min.js" ] && command -v node chromium >/dev/null; then
    "$weft" submit endless.yaml --no-shared -q >"$work/endless" 2>"$work/err"
    ok $? "a run without end"
    (cd "$here" && WEFT_ENDLESS=$(cat "$work/endless") timeout 800 node tests/ui/cluster.mjs) >"$work/page.out" 2>&1
    status=$?
    sed -nE 's/^(not )?ok [0-9]+ - (.*)/\1|\2/p' "$work/page.out" >"$work/page.rows"
    while IFS='|' read -r bad text; do
        [ -z "$bad" ]
        ok $? "page: $text"
    done <"$work/page.rows"
    [ $status = 0 ] || sed 's/^/# /' "$work/page.out"
    [ $status = 0 ]
    ok $? "the page's part goes to its end"
    # shellcheck disable=SC2154
    wait_for 60 dead "$pid_two"
    ok $? "the agent that was drained in the page has left"
else
    echo "# the page, playwright-core, node or chromium is not there: only \`weft drain\` is tested"
fi
touch "$work/gate"
say attach "$run"
ok $? "the run ends well: nothing failed because agents left"
[ "$(cat {1,2,3,4,5,6}.txt 2>/dev/null | tr -d '\n')" = 123456 ]
ok $? "with every result"
finish
