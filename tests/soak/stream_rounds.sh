#!/usr/bin/env bash
# Streams whose filters and agents are killed, round after round: nothing lost, nothing twice, order kept, sums carried over.
#   tests/soak/stream_rounds.sh WEFT BUILD [ROUNDS]
# The longest time in which no result came is told at the end, of those between two results: what a kill costs at most.
# Rounds take turns: filters that stay, killed at random on one machine; helpers on two agents; an agent with its helper, of three.
set -u
weft=$1 build=$2 rounds=${3:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
cd "$work" || exit 1
cat >sums.yaml <<YAML
weft: 1
tasks:
  stay: { run: "$build/tests/stayer ''", in: x, out: s, retries: 50 }
  slowly: { call: "$build/tests/stream_functions.so:slowly", in: s, out: y }
  total: { call: "$build/tests/stream_functions.so:total", in: y, out: z, replicable: false }
YAML
seq 1 60 >numbers
awk '{ s += $1; print s }' numbers >expected
of_here() { # processes whose command line matches, of this round alone: by the folder that they stand in
    pgrep -f "$1" | while read -r pid; do
        case $(readlink "/proc/$pid/cwd") in "$work"*) echo "$pid" ;; esac
    done
}
pick() { shuf -n 1; }
# pause FILE PID: the longest time between two results, in ms, while the process lives
pause() {
    python3 - "$1" "$2" <<'PAUSE'
import os, sys, time
size, last, most = 0, None, 0.0
while os.path.exists(f"/proc/{sys.argv[2]}"):
    now = time.monotonic()
    new = os.stat(sys.argv[1]).st_size if os.path.exists(sys.argv[1]) else 0
    if new != size:
        most = max(most, now - last) if last else most
        size, last = new, now
    time.sleep(0.002)
print(int(1000 * most))
PAUSE
}
bad=0 kills=0 longest=0
for round in $(seq "$rounds"); do
    rm -f result
    case $((round % 3)) in
    0) on="" ;;
    1) on="--on local:2" ;;
    2) on="--on local:3" ;;
    esac
    # shellcheck disable=SC2086
    timeout 120 "$weft" stream sums.yaml --from numbers --to result $on >out 2>err &
    stream=$!
    pause result $stream >paused &
    watcher=$!
    for _ in $(seq 300); do [ -s result ] && break; kill -0 $stream 2>/dev/null || break; sleep 0.05; done
    for _ in 1 2 3; do
        case $((round % 3)) in
        0) victims=$(of_here "stayer" | pick) ;;
        1) victims=$(of_here "stream --lend" | pick) ;;
        2)
            agent=$(pgrep -f "weft agent .*--state $work/" | tail -n +2 | pick)
            victims=$agent
            for kin in $(pgrep -P "${agent:-0}"); do victims="$victims $kin $(pgrep -P "$kin")"; done
            ;;
        esac
        # shellcheck disable=SC2086
        [ -n "${victims// /}" ] && kill -9 $victims 2>/dev/null && kills=$((kills + 1))
        sleep "0.$((RANDOM % 3 + 1))"
        [ $((round % 3)) = 2 ] && break
    done
    wait $stream
    status=$?
    wait $watcher
    [ "$(cat paused)" -gt "$longest" ] && longest=$(cat paused)
    # a filter that is killed when it has answered its last item is told: that is no fault here
    [ $status = 1 ] && grep -q "after its last item" err && status=0
    if [ $status != 0 ] || ! cmp -s result expected; then
        bad=$((bad + 1))
        echo "round $round ($on): status $status"
        tail -n 5 err
        diff result expected | head -n 5
    fi
done
echo "$rounds rounds, $kills kills, $bad bad; the longest time without a result: $longest ms"
[ $bad = 0 ]
