#!/usr/bin/env bash
# `weft stream --on ssh:...` with a real sshd (tests/cluster/bed_sshd): filters of three kinds on two hosts that see nothing of this
# command's folder but what it sends, a host that does not answer, and nothing that stays behind. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    bash "$(dirname "$0")/../cluster/bed_sshd" bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - a stream over ssh # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a stream over ssh" "redis-server is not installed"
export WEFT_REMOTE=$weft WEFT_REMOTE_STATE=$work/far
end_left() { processes | while read -r pid _; do kill -9 "$pid" 2>/dev/null; done; stop_all; }
trap end_left EXIT
mkdir "$work/home"
cd "$work/home" || exit 1
cp "$WEFT_BUILD/tests/stream_functions.so" lib.so
cat >flow.yaml <<YAML
weft: 1
tasks:
  fetch: { call: "lib.so:same", in: line, out: l1 }
  stay: { run: "$WEFT_BUILD/tests/stayer ' stays'", in: l1, out: l2 }
  each: { run: "(cat {in}; printf ' %s' \$WEFT_ITEM) > {out}", per_item: true, in: l2, out: l3 }
YAML
seq 0 39 | sed 's/^/item /' >lines
awk '{ print $0, "stays", $2 }' lines >expected
say stream flow.yaml --from lines --to result --on ssh:a,b --json && cmp result expected >>"$work/err" 2>&1
ok $? "filters of three kinds on two hosts: every line, in order"
grep -q '"helper": 0' "$work/out" && grep -q '"helper": 1' "$work/out"
ok $? "what went to each is counted"
wait_for 30 nothing_left
ok $? "no agent, helper or redis-server is left"
say stream flow.yaml --from lines --to result --on ssh:a,down && cmp result expected >>"$work/err" 2>&1
ok $? "a host that does not answer: the other does it"
say stream flow.yaml --from lines --to result --on ssh:down
[ $? != 0 ] && grep -q "no agent could be started" "$work/err"
ok $? "none that answers: that is said"
finish
