#!/usr/bin/env bash
# Issue 17, point 5: a run is exported as a Workflow Run RO-Crate (judged by what the profiles demand), as a WfFormat
# document with its execution (which comes back by import, and keeps to the schema), as CSV. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
unset WEFT_KEEP_RESULTS
. "$(dirname "$0")/../support/tap.sh"
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 0
fi
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
history() { "$weft" history "$@" >"$work/out" 2>"$work/err"; }
judge() { python3 "$root/tests/formats/crate_judge.py" "$1" --has "${@:2}" >"$work/out" 2>"$work/err"; }
mkdir "$work/f"
seq 4 >"$work/f/first numbers.txt"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: sums
parameters: { n: 3 }
tasks:
  count: { run: "seq {n} > {out}", out: count.txt }
  folder: { run: "mkdir -p d; cp {in[0]} d/copy; echo x > d/x", in: [count.txt, "first numbers.txt"], out: d/ }
  "total #1": { run: "awk '{{s += $1}} END {{print \"sum\", s}}' {in} > {out}", in: count.txt, out: total.txt }
YAML
flow=$work/f/flow.yaml

# --- a crate ---
run "$flow" && history 1 --tag good && history 1 --note 'a "first" try'
history 1 --export "$work/crate/" && grep -q "^4 of 4 files copied" "$work/out"
ok $? "a run becomes a folder"
judge "$work/crate" files=4 inside=4 attempts=3 steps=3 controls=3 failed=0 keywords=good 'comment=a "first" try' values=n:3 stated=sum:6 status=CompletedActionStatus
ok $? "which keeps to RO-Crate 1.1 and the profiles of workflow runs: files, steps, attempts, parameters, values, notes"
grep -q '"description": "seq 3 > count.txt"' "$work/crate/ro-crate-metadata.json"
ok $? "with commands as they ran"
cmp -s "$work/f/total.txt" "$work/crate/files/total.txt" && [ "$(cat "$work/crate/files/d/copy")" = "$(seq 3)" ] && cmp -s "$work/f/first numbers.txt" "$work/crate/files/first numbers.txt"
ok $? "and what it read and left, a folder among it"
(cd "$work" && mkdir again && cp crate/workflow.yaml again/flow.yaml && cp "f/first numbers.txt" again/ && "$weft" run again/flow.yaml -q >out 2>err && cmp -s again/total.txt f/total.txt)
ok $? "the graph in it runs, with the same result"
history 1 --export "$work/crate"
[ $? = 2 ] && grep -q "it is there already" "$work/err"
ok $? "nothing is written over"

# --- what a run found done, what is gone ---
echo "sum 77" >"$work/f/total.txt"
run "$flow"
rm -rf "$work/f/d"
history last --export "$work/second/" && grep -q "^3 of 4 files copied.*not there as they were" "$work/out"
ok $? "what is not there any more is said"
judge "$work/second" files=4 inside=3 attempts=1 steps=3 failed=0 status=CompletedActionStatus && python3 - "$work/second" <<'PY' >>"$work/out" 2>&1
import json, sys
graph = {e["@id"]: e for e in json.load(open(sys.argv[1] + "/ro-crate-metadata.json"))["@graph"]}
run = graph["#run"]
made = [i["@id"] for i in run["result"] if i["@id"].startswith("f")]
assert made == ["files/total.txt"], made
assert {"@id": "files/count.txt"} in run["object"]
gone = [i for i in graph if i.startswith("file://")]
assert len(gone) == 1 and gone[0].endswith("/f/d/"), gone
PY
ok $? "and named where it was; what was found done is read, not made"
history 1 --export "$work/meta/ro-crate-metadata.json" && judge "$work/meta" files=4 inside=0 attempts=3 && [ ! -e "$work/meta/files" ]
ok $? "the description alone, without copies"

# --- failures ---
cat >"$work/f/bad.yaml" <<'YAML'
weft: 1
name: bad
tasks:
  fine: { run: "echo 1 > {out}", out: one.txt }
  broken: { run: "echo no; exit 3", in: one.txt, out: two.txt, retries: 1 }
YAML
run "$work/f/bad.yaml" -q
history last --export "$work/failed-run/"
judge "$work/failed-run" attempts=3 failed=2 status=FailedActionStatus files=1
ok $? "a run that failed: each attempt, with its error"

# --- WfFormat ---
history 1 --export "$work/run.json" --to wfformat
ok $? "with its execution in WfFormat"
python3 - "$work/run.json" <<'PY' >"$work/out" 2>"$work/err"
import json, re, sys
doc = json.load(open(sys.argv[1]))
assert doc["schemaVersion"] == "1.6" and doc["name"]
spec, done = doc["workflow"]["specification"], doc["workflow"]["execution"]
moment = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$")
assert done["makespanInSeconds"] > 0 and moment.match(done["executedAt"])
assert not done["executedAt"].startswith("1970")
known = {m["nodeName"] for m in done["machines"]}
assert len(known) == 1
tasks = {t["id"]: t for t in done["tasks"]}
assert set(tasks) == {"count", "folder", "total #1"} == {t["id"] for t in spec["tasks"]}
for t in tasks.values():
    assert 0 < t["runtimeInSeconds"] <= done["makespanInSeconds"] + 1e-3, t
    assert moment.match(t["executedAt"]) and t["executedAt"] >= done["executedAt"]
    assert set(t["machines"]) <= known and t["command"]["program"] and t["coreCount"] == 1
assert tasks["count"]["writtenBytes"] == 6 and tasks["folder"]["readBytes"] == 14
sizes = {f["id"]: f["sizeInBytes"] for f in spec["files"]}
assert sizes["count.txt"] == 6 and sizes["first numbers.txt"] == 8, sizes
assert abs(done["metrics"]["sumTaskRuntimesInSeconds"] - sum(t["runtimeInSeconds"] for t in tasks.values())) < 1e-9
PY
ok $? "times, bytes, machine, commands and sizes as they were"
"$weft" show "$work/run.json" >"$work/out" 2>"$work/err" && ! grep -qi "metric" "$work/err"
ok $? "which reads without a remark"
sums() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select count(*), sum(took), sum(cpu), sum(read), sum(written) from attempts where id >> 32 = (select max(id) from runs)").fetchone())' "$1"; }
cp "$work/history.db" "$work/before.db"
python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute("delete from runs where id > 1"); d.commit()' "$work/before.db"
WEFT_HISTORY=$work/other.db "$weft" history --import "$work/run.json" >"$work/out" 2>"$work/err" && python3 - "$work/before.db" "$work/other.db" <<'PY' >>"$work/out" 2>&1
import sqlite3, sys
ask = "select t.name, a.start, a.took, a.cpu, a.read, a.written from attempts a join runs r on r.id = a.id >> 32 join tasks t on t.id = (r.workflow << 32) + a.task where r.id = 1 order by t.name"
one, two = (sqlite3.connect(p).execute(ask).fetchall() for p in sys.argv[1:])
first = min(r[1] for r in one)
assert len(one) == 3 == len(two), (one, two)
for a, b in zip(one, two):
    assert a[0] == b[0] and abs(a[1] - first - b[1]) <= 2 and abs(a[2] - b[2]) <= 1 and abs(a[3] - b[3]) <= 1 and a[4:] == b[4:], (a, b)
PY
ok $? "and comes back by import: the same attempts, to the microsecond"

# --- the rest ---
history 1 --export "$work/attempts.csv" && [ "$(python3 -c 'import csv, sys; print(len(list(csv.DictReader(open(sys.argv[1])))))' "$work/attempts.csv")" = 3 ]
ok $? "attempts as CSV"
history 1 --export "$work/a.txt" --to dot && grep -q digraph "$work/a.txt" && ! history 1 --export "$work/b" --to nothing && grep -q "no format of runs" "$work/err" && ! history --export "$work/c.csv" --to csv && ! history 1 --to crate
ok $? "--to names a format; one that nobody knows, or without a run or a file, is refused"
echo "1..$count"
exit $failed
