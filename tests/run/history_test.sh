#!/usr/bin/env bash
# `weft history` and `weft predict` from the outside, on a history made by `weft run`. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db
. "$(dirname "$0")/../support/tap.sh"
fails() { # status part-of-message arguments...
    local want=$1 part=$2
    shift 2
    "$weft" "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$want" ] && grep -q -- "$part" "$work/err" && [ ! -s "$work/out" ]
    ok $? "exit $want, '$part': weft $*"
    [ $got = "$want" ] || sed 's/^/# /' "$work/err"
}
says() { # part-of-output arguments...
    local part=$1
    shift
    "$weft" "$@" >"$work/out" 2>"$work/err" && grep -q -- "$part" "$work/out"
    ok $? "'$part': weft $*"
}
json() { # python-expression arguments...
    local expression=$1
    shift
    "$weft" "$@" --json 2>"$work/err" |
        python3 -c "import json, sys; d = json.load(sys.stdin); sys.exit(not ($expression))"
    ok $? "$expression: weft $* --json"
}

mkdir "$work/flow"
cat >"$work/flow/demo.yaml" <<'END'
weft: 1
name: demo
tasks:
  small: { run: "head -c 100000 /dev/urandom > {out}", out: [a.bin], kind: make }
  large: { run: "head -c 900000 /dev/urandom > {out}", out: [b.bin], kind: make }
  sum_a: { run: "cksum {in} > {out}", in: [a.bin], out: [a.sum], kind: sum }
  sum_b: { run: "cksum {in} > {out}", in: [b.bin], out: [b.sum], kind: sum }
  all: { run: "cat {in} note.txt > {out}", in: [a.sum, b.sum, note.txt], out: [all.txt] }
END
echo "note" >"$work/flow/note.txt"
flow=$work/flow/demo.yaml
sed 's/cksum/false #/; s/name: demo/name: broken/' "$flow" >"$work/flow/broken.yaml"

# --- nothing yet ---
fails 2 "there is no history yet" history
fails 2 "there is no history yet" predict "$flow"
[ ! -e "$WEFT_HISTORY" ]
ok $? "looking makes no history"
"$weft" plan "$flow" -q >"$work/out" 2>"$work/err" && ! [ -s "$work/err" ]
ok $? "a plan without a history says nothing about one"

# --- two runs ---
"$weft" run "$flow" -q >"$work/out" 2>&1 && "$weft" run "$flow" --force -q >"$work/out" 2>&1
status=$?
ok $status "two runs"
[ $status = 0 ] || sed 's/^/# /' "$work/out"
says "^  2 .*demo *done *5 *0 *0" history
json 'd["schema"] == "weft-history/1" and [r["run"] for r in d["runs"]] == [2, 1]' history
json 'd["runs"][0]["outcome"] == "done" and d["runs"][0]["seconds"] > 0 and d["runs"][0]["tasks"] == 5' history
json 'len(d["runs"]) == 1' history --limit 1
json 'd["runs"] == []' history --workflow other
json 'len(d["runs"]) == 2' history --workflow dem --since 1h
json 'd["runs"] == []' history --failed
"$weft" run "$work/flow/broken.yaml" -q >"$work/out" 2>&1
[ $? = 1 ]
ok $? "a run that fails"
json 'len(d["runs"]) == 1 and d["runs"][0]["workflow"] == "broken" and d["runs"][0]["failed"] > 0' history --failed

# --- one run ---
says "^run 2: demo, done" history 2
says "attempts that failed" history last
json 'd["run"] == 2 and sorted(a["task"] for a in d["attempts"]) == ["all", "large", "small", "sum_a", "sum_b"]' history 2
json 'all(a["outcome"] == "done" and a["status"] == 0 and a["finish"] > a["start"] for a in d["attempts"])' history 2
json '{f["path"]: f["task"] for f in d["files"]}["all.txt"] == "all"' history 2
json '[f["size"] for f in d["files"] if f["path"] == "b.bin"] == [900000]' history 2
json 'all(f["made"] and len(f["digest"]) == 64 for f in d["files"] if f["task"])' history 2
fails 2 "there is no run 9" history 9
fails 2 "'x' is no run" history x
fails 2 "--compare" history 1 2

# --- two runs side by side ---
says "mean time by kind" history --compare 1 2
json '[c["run"] for c in d["compare"]] == [1, 2] and {t["task"] for t in d["tasks"]} == {"all", "large", "small", "sum_a", "sum_b"}' history --compare 1 2
json 'all(abs(t["ratio"] - t["after"] / t["before"]) < 1e-9 for t in d["tasks"])' history --compare 1 2
fails 2 "--compare needs two runs" history --compare 1

# --- where a file comes from ---
says "made by task all" history --file "$work/flow/all.txt"
json 'd["origins"][0]["task"] == "all" and d["origins"][0]["current"]' history --file "$work/flow/all.txt"
json '{i["path"]: i["task"] for i in d["origins"][0]["inputs"]} == {"a.sum": "sum_a", "b.sum": "sum_b", "note.txt": None}' history --file "$work/flow/all.txt"
(cd "$work/flow/.." && json 'd["origins"][0]["task"] == "sum_a"' history --file ./flow/../flow/a.sum) >"$work/sub"
sed "s/^\(not \)\?ok [0-9]*/\1ok $((count + 1))/" "$work/sub"
count=$((count + 1))
grep -q '^not' "$work/sub" && failed=1
echo changed >"$work/flow/all.txt"
says "has changed since" history --file "$work/flow/all.txt"
fails 2 "no run on record" history --file "$work/flow/nothing"

# --- exports ---
"$weft" history --export "$work/runs.csv" && [ "$(wc -l <"$work/runs.csv")" = 4 ]
ok $? "runs as CSV: a head and a line each"
"$weft" history 2 --export "$work/attempts.csv" &&
    python3 - "$work/attempts.csv" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
sys.exit(not (len(rows) == 5 and {r["kind"] for r in rows} == {"make", "sum", "all"}))
END
ok $? "attempts as CSV"
"$weft" history 2 --export "$work/two.json" && "$weft" history 2 --json | cmp -s - "$work/two.json"
ok $? "one run as JSON is what --json prints"
fails 2 "expected a name in .csv or .json" history --export "$work/x.txt"

# --- prediction ---
json 'd["schema"] == "weft-predict/1" and {k["kind"]: k["samples"] for k in d["kinds"]}["sum"] == 4' predict "$flow"
json 'all(t["low"] <= t["seconds"] <= t["high"] and t["samples"] and t["method"] != "unknown" for t in d["tasks"])' predict "$flow"
says "how well each kind is predicted" predict "$flow"
sed 's/kind: sum/kind: never/' "$flow" >"$work/flow/new.yaml"
json '[t["seconds"] for t in d["tasks"] if t["method"] == "unknown"] == [None, None]' predict "$work/flow/new.yaml"
"$weft" plan "$flow" -o "$work/plan.json" >"$work/out" 2>"$work/err" &&
    grep -q "the work of 5 of 5 tasks.*is predicted" "$work/err"
ok $? "a plan is made on predicted times, and says so"
json 'd["objectives"]["makespan"] > 0' plan "$flow"
json 'd["objectives"]["makespan"] == 0' plan "$flow" --no-predict
"$weft" run "$flow" --force -q >"$work/out" 2>&1
json 'd["valid"]' check "$work/plan.json"
WEFT_HISTORY=none json 'd["objectives"]["makespan"] == 0' plan "$flow"
WEFT_HISTORY=none json 'd["valid"]' check "$work/plan.json"
sed 's/kind: make/kind: make, work: 7/' "$flow" >"$work/flow/stated.yaml"
json '[p["finish"] - p["start"] for p in d["placements"] if p["task"] in ("small", "large")] == [7, 7]' plan "$work/flow/stated.yaml"

# --- damage ---
cp "$WEFT_HISTORY" "$work/damaged.db"
head -c 20000 /dev/urandom >"$work/damaged.db"
WEFT_HISTORY=$work/damaged.db fails 1 "damaged" history
WEFT_HISTORY=$work/damaged.db "$weft" run "$flow" --force -q >"$work/out" 2>"$work/err" && grep -q "damaged" "$work/err"
ok $? "a run goes on without a history, and says why"
WEFT_HISTORY=$work/damaged.db "$weft" plan "$flow" -q >"$work/out" 2>"$work/err" && grep -q "nothing is predicted" "$work/err"
ok $? "so does a plan"

# --- kill -9 ---
cat >"$work/flow/long.yaml" <<'END'
weft: 1
name: long
tasks:
  quick: { run: "true" }
  slow: { run: "sleep 30", after: [quick] }
END
"$weft" run "$work/flow/long.yaml" -q >"$work/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
    sleep 0.1
    "$weft" history last --json 2>/dev/null | grep -q '"task": "quick"' && break
done
json 'd["outcome"] == "running" and d["workflow"] == "long"' history last
kill -9 $pid
wait $pid 2>/dev/null
json 'd["outcome"] == "lost" and d["seconds"] is None and [a["task"] for a in d["attempts"]] == ["quick"]' history last
for child in $(pgrep -f "^sleep 30$"); do
    [ "$(readlink "/proc/$child/cwd")" = "$work/flow" ] && kill "$child"
done

echo "1..$count"
exit $failed
