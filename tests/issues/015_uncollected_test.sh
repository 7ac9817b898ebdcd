#!/usr/bin/env bash
# Issue 15, point 2: about 190 runs that nobody collected silenced a cluster: each kept its descriptors and a part of the beat's text, and past
# 64 KB agents refused their own beats. Now an ended run costs nothing but its data, and that has an age and a size. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "runs that nobody collects" "redis-server is not installed"
RUNS=${UNCOLLECTED_RUNS:-64} # the soak has 500; what grew with them, grew past what is allowed below at 60
start_server
say key "$work/key"
export WEFT_KEY=$work/key
begin() { # name option...
    local name=$1
    shift
    start_agent "$name" "$weft" agent -j 2 "$@"
}
begin one
begin two
are_ready one two
ok $? "two agents"
mkdir "$work/flow" "$work/fail"
cat >"$work/flow/flow.yaml" <<'YAML'
weft: 1
name: small
tasks:
  t: { run: 'cat {in} > {out}', in: in.txt, out: out.txt }
YAML
echo hello >"$work/flow/in.txt"
cat >"$work/fail/flow.yaml" <<'YAML'
weft: 1
name: fails
tasks:
  t: { run: 'echo it hurts; exit 3', out: out.txt }
YAML
descriptors() { ls "/proc/$1/fd" | wc -l; }
beat() { redis-cli -p "$port" hvals '{weft.board}:X' | wc -c; } # all members' words
some() { # from to: submit so many, a few at a time
    local i submits
    for i in $(seq "$1" 4 "$2"); do
        submits=""
        for _ in 1 2 3 4; do
            timeout 60 "$weft" submit "$work/flow/flow.yaml" --no-shared -q >>"$work/numbers" 2>>"$work/err" &
            submits="$submits $!"
        done
        wait $submits
    done
}
ended() { timeout 60 "$weft" status --json >"$work/status" 2>>"$work/err" && ! grep -q '"state": "running"' "$work/status"; }
quiet() { # descriptors as few as they were
    [ "$(descriptors "$pid_one")" -le $((few_one + 12)) ] && [ "$(descriptors "$pid_two")" -le $((few_two + 12)) ]
}
few_one=$(descriptors "$pid_one") few_two=$(descriptors "$pid_two")
some 1 32
[ "$(wc -l <"$work/numbers")" = 32 ]
ok $? "32 runs are handed in"
wait_for 60 quiet
ok $? "when they have ended, their descriptors are closed ($few_one then, $(descriptors "$pid_one") now)"
early=$(beat)
say submit "$work/fail/flow.yaml" --no-shared -q && fails=$(cat "$work/out")
some 33 $RUNS
[ "$(wc -l <"$work/numbers")" = $RUNS ] && [ "$(sort -u "$work/numbers" | wc -l)" = $RUNS ]
ok $? "$RUNS runs are handed in"
wait_for 120 quiet
ok $? "and cost no descriptors ($(descriptors "$pid_one"))"
late=$(beat)
[ "$late" -lt $((2 * early + 4096)) ]
ok $? "nor does what agents say grow ($early bytes after 32 runs, $late after $RUNS)"
say status
[ "$(grep -c ' up ' "$work/out")" = 2 ] && grep -qE 'small +done' "$work/out"
ok $? "status shows them"
grep -q "kept: results of $((RUNS + 1)) " "$work/out"
ok $? "and what is kept, with its limits: $(grep kept "$work/out" | head -n 1)"

# ---- results can still be had ----
first=$(sort -n "$work/numbers" | head -n 1)
say attach "$first" -C "$work/flow" && [ "$(cat "$work/flow/out.txt")" = hello ]
ok $? "the first one's result comes home"
rm -rf "$work/flow/out.txt" "$work/flow/.weft"
wait_for 60 state_is "$fails" ended
closed() { ! ls -l "/proc/$pid_one/fd" "/proc/$pid_two/fd" | grep -q "runs/$1/"; } # no job of it is open
wait_for 60 closed "$fails"
say attach "$fails" -C "$work/fail"
[ $? = 1 ] && grep -q "it hurts" "$work/err" "$work/out"
ok $? "who attaches late is told why a task failed, with its log"

# ---- a restart ----
end_process "$pid_one"
kill -9 "$pid_two"
wait "$pid_two" 2>/dev/null
begin one
begin two
are_ready one two
ok $? "both agents start again"
few_one=$(descriptors "$pid_one") few_two=$(descriptors "$pid_two")
say submit "$work/flow/flow.yaml" --no-shared -q && next=$(cat "$work/out")
say attach "$next" && [ "$(cat "$work/flow/out.txt")" = hello ]
ok $? "a new run is taken, and its result comes home"
rm -rf "$work/flow/out.txt" "$work/flow/.weft"
last=$(sort -n "$work/numbers" | tail -n 1)
say attach "$last" -C "$work/flow" && [ "$(cat "$work/flow/out.txt")" = hello ]
ok $? "and so does that of a run from before"
wait_for 60 quiet
ok $? "descriptors stay few ($(descriptors "$pid_one"))"
[ "$(beat)" -lt $((2 * early + 4096)) ]
ok $? "and words short ($(beat) bytes)"

# ---- an agent that leaves hands all of it over ----
kill "$pid_one"
wait_for $((RUNS / 5)) dead "$pid_one" # before, sixteen runs took four seconds: 16 for 64
ok $? "an agent that leaves does not wait for each of the runs that it hands over"
has=$(ls -d "$work"/two/runs/*/files/out.txt | wc -l)
[ "$has" -ge $((RUNS - 2)) ]
ok $? "and the other has the results of $((RUNS - 2)) runs, all that were not taken ($has)"

# ---- limits ----
end_process "$pid_two"
begin one --keep-for 2s
are_ready one
rm -rf "$work/flow/out.txt" "$work/flow/.weft"
third=$(sort -n "$work/numbers" | tail -n 3 | head -n 1)
wait_for 60 state_is "$third" expired
ok $? "runs older than --keep-for expire"
fewer() { [ "$(ls "$work/one/runs" 2>/dev/null | wc -l)" -lt 5 ]; }
wait_for 60 fewer
ok $? "and their data is deleted"
say attach "$third" -C "$work/flow"
[ $? = 1 ] && grep -q "results of run $third.* are gone.*--keep-for.*submit" "$work/err"
ok $? "who attaches is told, with the remedy"
end_process "$pid_one"
begin one --keep-size 30
are_ready one
for i in 1 2 3 4 5 6 7 8; do # one after the other: what ended first goes first
    say submit "$work/flow/flow.yaml" --no-shared -q && newest=$(cat "$work/out") && wait_for 60 state_is "$newest" ended
    [ $i = 1 ] && oldest=$newest
done
wait_for 60 state_is "$oldest" expired
ok $? "more data than --keep-size: the oldest run expires"
state_is "$newest" ended
ok $? "and the newest does not"
finish
