#!/usr/bin/env bash
# `weft run --on ssh:...` with a real sshd (tests/cluster/bed_sshd): agents and a store over there, a host that does not answer, a client
# that is killed, and nothing that stays behind. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    bash "$(dirname "$0")/bed_sshd" bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - agents over ssh # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "agents over ssh" "redis-server is not installed"
# each "machine" is this one; its agents keep to a folder of their own
export WEFT_REMOTE=$weft WEFT_REMOTE_STATE=$work/far
# an agent of a client that is killed is not anybody's child: ended here if a check fails
end_left() { processes | while read -r pid _; do kill -9 "$pid" 2>/dev/null; done; stop_all; }
trap end_left EXIT

flow() { # folder gate
    mkdir -p "$1/data"
    for i in 0 1 2; do seq $i 2000 >"$1/data/in_$i"; done
    {
        echo "weft: 1"
        echo "name: far"
        echo "tasks:"
        for i in $(seq 0 8); do
            echo "  part_$i: { run: 'sort -r {in} > {out}; echo \$WEFT_FOLDER >> $1/trail', in: [data/in_$((i % 3))], out: [mid/part_$i] }"
            echo "  sum_$i: { run: 'until [ -e $2 ]; do sleep 0.1; done; cat {in} | cksum > {out}', in: [mid/part_$i, mid/part_$(((i + 4) % 9))], out: [out/sum_$i] }"
        done
    } >"$1/flow.yaml"
}
touch "$work/open"
flow "$work/here" "$work/open"
say run "$work/here/flow.yaml"
ok $? "what it should be: a run on this machine"

flow "$work/a" "$work/open"
say run "$work/a/flow.yaml" --on ssh:a,b,c -j 1 --no-shared && grep -q "18 tasks ran" "$work/out"
ok $? "on three hosts over ssh"
diff -r "$work/here/out" "$work/a/out" >"$work/err" 2>&1
ok $? "the same results"
[ "$(sort -u "$work/a/trail" | wc -l)" = 3 ]
ok $? "all three took part"
wait_for 30 nothing_left
ok $? "no agent and no redis-server is left"
[ ! -e "$work/a/.weft/cluster" ] && ! ls "$work/a/.weft" | grep -q agents
ok $? "and no file of theirs beside the workflow"

flow "$work/b" "$work/open"
say run "$work/b/flow.yaml" --on ssh:a,down,stranger,b -j 1 --no-shared && diff -r "$work/here/out" "$work/b/out" >>"$work/err" 2>&1
ok $? "two hosts do not answer: the run goes on with the others"
grep -q "down" "$work/err" && grep -q "stranger.*" "$work/err" && grep -q "Permission denied" "$work/err"
ok $? "and says which, and why"
flow "$work/c" "$work/open"
say run "$work/c/flow.yaml" --on ssh:down
[ $? = 1 ] && grep -q "no agent could be started" "$work/err" && [ ! -e "$work/c/out" ]
ok $? "none answers: it fails, and says so"
say run "$work/c/flow.yaml" --on ssh:,
[ $? = 2 ]
ok $? "no host at all: bad input"
wait_for 30 nothing_left
ok $? "nothing is left"

# ---- the client is killed ----
flow "$work/d" "$work/gate"
"$weft" run "$work/d/flow.yaml" --on ssh:a,b -j 1 --no-shared >"$work/out" 2>"$work/err" </dev/null &
client=$!
all_wait() { [ "$(cat "$work/d/trail" 2>/dev/null | wc -l)" -ge 4 ]; }
wait_for 60 all_wait && kill -9 $client
ok $? "a client killed in the middle"
wait $client 2>/dev/null
run=$(ls "$work/d/.weft/cluster" 2>/dev/null | sed -n 's/[.]json$//p')
[ -n "$run" ]
ok $? "it has left a note"
say status "$run" -C "$work/d" --json && [ "$(grep -c '"state": "up"' "$work/out")" = 2 ]
ok $? "its agents live"
touch "$work/gate"
ended() { say status "$run" -C "$work/d" --json && grep -q '"state": "ended"' "$work/out"; }
wait_for 60 ended
ok $? "and go on until all is done"
[ ! -e "$work/d/out" ]
ok $? "with nobody to bring the results to"
say attach "$run" -C "$work/d" && diff -r "$work/here/out" "$work/d/out" >>"$work/err" 2>&1
ok $? "attach collects them"
wait_for 30 nothing_left
ok $? "and then no agent and no redis-server is left"
[ ! -e "$work/d/.weft/cluster" ] && ! ls "$work/d/.weft" | grep -q agents
ok $? "nor the note, nor the agents' folder"
finish
