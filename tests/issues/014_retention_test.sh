#!/usr/bin/env bash
# Logs, memo and history grew without a rule. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
unset WEFT_KEEP_LOGS WEFT_KEEP_HISTORY WEFT_KEEP_MEMO
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: flow
tasks:
  talk: { run: 'head -c 5000 /dev/zero | tr "\0" x; cat {in} > {out}; exit $(cat status)', in: [start, status], out: result }
YAML
flow=$work/f/flow.yaml logs=$work/f/.weft/logs
echo 0 >"$work/f/status"
for i in $(seq 16); do
    echo "$i" >"$work/f/start"
    echo $((i == 2 ? 3 : 0)) >"$work/f/status"
    run "$flow"
done
[ "$(ls "$logs" | wc -l)" = 16 ] && grep -q "^failed 5000" "$logs/2/.run" && grep -q "^done 5000" "$logs/3/.run"
ok $? "sixteen runs have left logs, and say how they ended"

look() { # what the next hour's run does: a run, late enough after the last look
    touch -d '2 hours ago' "$logs/.looked"
    echo "$RANDOM$RANDOM" >"$work/f/start"
    run "$flow"
}
printf 'weft: 1\ntasks:\n  quiet: { run: "true" }\n' >"$work/f/quiet.yaml"
run "$work/f/quiet.yaml" && [ "$(ls "$logs" | wc -l)" = 16 ]
ok $? "a run that wrote nothing leaves no folder"
# by age: the ten newest stay, those of failed runs six times as long
touch -d '40 days ago' "$logs"/*/.run
touch -d '10 minutes ago' "$logs"/1[0-6]/.run
look
[ "$(cd "$logs" && echo *)" = "10 11 12 13 14 15 16 18 2 8 9" ]
ok $? "past their age logs go; the ten newest and those of a failed run stay"
grep -q "the logs of [0-9]* old runs were removed.*WEFT_KEEP_LOGS" "$work/err"
ok $? "which is told"
touch -d '300 days ago' "$logs/2/.run"
look
[ ! -e "$logs/2" ] && ! grep -q "WEFT_KEEP_LOGS" "$work/err"
ok $? "much later those of the failed run go, too; that is not told again"
# by size: of those that went well the oldest first, never this run's own
echo 4 >"$work/f/status"
look
bad=$(ls -t "$logs" | head -n 1)
echo 0 >"$work/f/status"
export WEFT_KEEP_LOGS=12K
look
[ -e "$logs/$bad" ] && [ "$(ls "$logs" | wc -l)" = 2 ]
ok $? "past the size the oldest go, those of the failed run stay"
WEFT_KEEP_LOGS=6K look
[ "$(ls "$logs" | wc -l)" = 1 ] && [ ! -e "$logs/$bad" ]
ok $? "then these; the last run's stay"
WEFT_KEEP_LOGS=1K look
[ "$(ls "$logs" | wc -l)" = 1 ]
ok $? "however large"
export WEFT_KEEP_LOGS=all
look && look && [ "$(ls "$logs" | wc -l)" = 3 ]
ok $? "all: nothing goes"
rm "$logs"/*/.run
WEFT_KEEP_LOGS=20K look
[ "$(ls "$logs" | wc -l)" = 2 ]
ok $? "logs of an older weft, or of a run that was cut off, are measured"
unset WEFT_KEEP_LOGS
for bad in WEFT_KEEP_LOGS=ten WEFT_KEEP_LOGS=100 WEFT_KEEP_HISTORY=1d,x WEFT_KEEP_MEMO=3d; do
    env "$bad" "$weft" run "$flow" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q "${bad%%=*} is '" "$work/err"
    ok $? "$bad: refused"
done

# the history
sql() { python3 -c 'import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); print(*(" ".join(map(str, r)) for r in d.execute(sys.argv[2])), sep="\n"); d.commit()' "$WEFT_HISTORY" "$1"; }
for _ in $(seq 10); do echo "$RANDOM$RANDOM" >"$work/f/start"; run "$flow"; done
total=$(sql "SELECT count(*) FROM runs")
sql "UPDATE runs SET started = started - 400 * 86400" >/dev/null
echo x >"$work/f/start" && run "$flow"
left=$(sql "SELECT count(*) FROM runs")
[ "$total" -gt 25 ] && [ "$left" = 20 ] && grep -q "oldest runs of the history were removed; WEFT_KEEP_HISTORY" "$work/err"
ok $? "runs past their age go ($total, then $left), the twenty newest stay; it is told"
[ "$(sql "SELECT (SELECT count(*) FROM attempts WHERE id >> 32 NOT IN (SELECT id FROM runs)) + (SELECT count(*) FROM files WHERE id >> 32 NOT IN (SELECT id FROM runs)) + (SELECT count(*) FROM failures WHERE id >> 32 NOT IN (SELECT id FROM runs)) + (SELECT count(*) FROM tasks WHERE id >> 32 NOT IN (SELECT id FROM workflows)) + (SELECT count(*) FROM shapes WHERE workflow NOT IN (SELECT id FROM workflows)) + (SELECT count(*) FROM workflows WHERE id NOT IN (SELECT workflow FROM runs)) + (SELECT count(*) FROM paths WHERE id NOT IN (SELECT path FROM files))")" = 0 ]
ok $? "with all that was theirs alone"
echo y >"$work/f/start" && run "$flow" && ! grep -q "WEFT_KEEP_HISTORY" "$work/err" && [ "$(sql "SELECT count(*) FROM runs")" = 20 ]
ok $? "one more goes without a word"
"$weft" history --limit 0 >"$work/out" 2>"$work/err" && "$weft" report >"$work/out" 2>"$work/err"
ok $? "and the rest can be read"
sql "UPDATE runs SET started = $(date +%s)" >/dev/null
echo z >"$work/f/start" && WEFT_KEEP_HISTORY=all run "$flow" && [ "$(sql "SELECT count(*) FROM runs")" = 21 ]
ok $? "all: nothing goes"
echo zz >"$work/f/start" && WEFT_KEEP_HISTORY=1K run "$flow" && [ "$(sql "SELECT count(*) FROM runs")" = 20 ]
ok $? "past the size the oldest go"

# the memo
mkdir "$work/m"
{ echo 'weft: 1'; echo 'tasks:'; for i in $(seq 40); do echo "  t$i: { run: 'cp {in} {out}', in: start, out: out$i }"; done; } >"$work/m/flow.yaml"
for i in $(seq 12); do
    echo "$i" >"$work/m/start"
    WEFT_KEEP_MEMO=20K run "$work/m/flow.yaml"
    grep -h "WEFT_KEEP_MEMO" "$work/err" >>"$work/told"
done
[ "$(stat -c %s "$work/m/.weft/memo")" -lt 40000 ] && [ -s "$work/told" ]
ok $? "a memo past its size forgets the oldest records ($(stat -c %s "$work/m/.weft/memo") bytes), and says so"
run "$work/m/flow.yaml" && grep -q "nothing to do: 40" "$work/out"
ok $? "but none of the workflow as it is"
echo 11 >"$work/m/start" && run "$work/m/flow.yaml" && [ "$(cat "$work/m/out7")" = 11 ]
ok $? "what was forgotten is computed again"
"$weft" clean "$work/m/flow.yaml" --all >"$work/out" 2>"$work/err" && [ ! -e "$work/m/out7" ]
ok $? "and weft still knows the files that it made"
echo "1..$count"
exit $failed
