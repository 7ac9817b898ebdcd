#!/usr/bin/env bash
# Issue 17, point 4: tasks were predicted by the first word of their command, so that `python a.py` and `python b.py` were one kind; memory that nobody
# knew was "predicted 0 B"; of communication, utilisation and disk nothing was predicted; plans took the middle of an interval. Speaks TAP.
weft=$WEFT
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work TZ=UTC
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
field() { # file task key: a value of weft predict --json
    python3 -c 'import json,sys; t={t["task"]: t for t in json.load(open(sys.argv[1]))["tasks"]}[sys.argv[2]][sys.argv[3]]; print("null" if t is None else t)' "$@"
}
cd "$work" || exit 1

# ---- against an oracle: figures, quantiles, one sample, none, times of next to nothing ----
bad=0
for seed in 1 2 3 4 5 6; do
    risk=$(python3 -c "print([0.9, 0.5, 0.1, 0.99, 0.75, 0.95][$seed - 1])")
    mkdir "$work/$seed" && cd "$work/$seed" || exit 1
    export WEFT_HISTORY=$work/$seed/history.db
    python3 "$here/predict_oracle.py" $seed && "$weft" history --import trace.txt >"$work/out" 2>"$work/err" &&
        "$weft" predict flow.yaml --json --risk "$risk" >said.json 2>"$work/err" && python3 "$here/predict_oracle.py" $seed said.json "$risk" || bad=$((bad + 1))
done
[ $bad = 0 ]
ok $? "time, quantiles, memory, bytes, disk and cores as an oracle has them, in 6 of 6"
cd "$work" && export WEFT_HISTORY=$work/history.db
for p in 0 1 -0.1 nan inf x ''; do
    say predict 1/flow.yaml --risk "$p"
    [ $? = 2 ] || { bad=$((bad + 1)); echo "# --risk '$p' is taken"; }
done
[ $bad = 0 ]
ok $? "--risk is a probability"

# ---- kinds ----
mkdir k && cd k || exit 1
cat >flow.yaml <<'YAML'
weft: 1
name: scripts
lists: { n: [1, 2, 3] }
tasks:
  a: { run: "python3 a.py > {out}", in: a.py, out: a.txt }
  b: { run: "python3 b.py > {out}", in: [b.py, a.txt], out: b.txt }
  each: { each: n, run: "python3 a.py {n} > {out}", in: a.py, out: "each{n}.txt" }
YAML
echo 'print("a" * 1000)' >a.py
echo 'print("b" * 50)' >b.py
say run flow.yaml -n && grep -q '^predicted: unknown on .*, peak memory unknown, peak disk' "$work/out" && ! grep -q '0 B' "$work/out"
ok $? "before the first run nothing is promised"
say run flow.yaml -n -v && grep -q 'time unknown, memory unknown' "$work/out"
ok $? "nor of a task"
say run flow.yaml -n --json && grep -q '"predicted_seconds": null' "$work/out" && grep -q '"predicted_memory": null' "$work/out"
ok $? "nor to programs"
say run flow.yaml -q && say run flow.yaml --force && ! grep -q 'predicted 0 B' "$work/out"
ok $? "nor behind what was measured"
say predict flow.yaml --json && [ "$(field "$work/out" a kind)" = a ] && [ "$(field "$work/out" b kind)" = b ] && [ "$(field "$work/out" each@n=2 kind)" = each ] &&
    [ "$(field "$work/out" a samples)" = 2 ] && [ "$(field "$work/out" each@n=2 samples)" = 6 ]
ok $? "two scripts are two kinds, a family is one"
[ "$(field "$work/out" a written)" = 1001 ] && [ "$(field "$work/out" b written)" = 51 ] && [ "$(field "$work/out" a transfer)" = null ]
ok $? "what each writes; how long inputs travel nobody knows, since none has"
sed -i 's/  b:.*/  c: { run: "python3 b.py > {out}", in: b.py, out: b.txt }/' flow.yaml
say predict flow.yaml && grep -Eq '^c  *c  *unknown  *-  *-  *- .* 0  unknown$' "$work/out"
ok $? "a third script is unknown, whatever else python ran"

# ---- a history of an older weft: under the first word ----
python3 - "$WEFT_HISTORY" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO kinds(name) VALUES('python3')")
new = db.execute("SELECT id FROM kinds WHERE name = 'python3'").fetchone()[0]
old = "(SELECT id FROM kinds WHERE name IN ('a', 'b'))"
db.execute("UPDATE attempts SET kind = ? WHERE kind IN " + old, (new,))
db.execute("UPDATE tasks SET kind = ? WHERE kind IN " + old, (new,))
db.commit()
PY
say predict flow.yaml --json && [ "$(field "$work/out" a samples)" = 2 ] && [ "$(field "$work/out" each@n=2 samples)" = 6 ] && [ "$(field "$work/out" c samples)" = 0 ]
ok $? "an old history is read by the names of its tasks"
say run flow.yaml -q --force && say predict flow.yaml --json && [ "$(field "$work/out" a samples)" = 3 ] && [ "$(field "$work/out" c samples)" = 1 ]
ok $? "and goes on"

# ---- machines ----
python3 - "$WEFT_HISTORY" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE runs SET host = 'fast', speed = 4")
db.execute("UPDATE attempts SET took = 2000000")
db.commit()
PY
say predict flow.yaml --json && [ "$(field "$work/out" a seconds | cut -c1-6)" = 8.0 ] || [ "$(field "$work/out" a seconds | cut -c1-6)" = 7.9999 ]
ok $? "2 s at speed 4 are 8 s at speed 1"
grep -q '"machines": \[{"host": "fast", "speed": 4, "samples": 3}\]' "$work/out" && say predict flow.yaml && grep -q 'fast (speed 4) 3' "$work/out"
ok $? "where a prediction comes from is said"
mkdir -p "$work/config/weft"
printf 'weft: 1\nnodes: [{ name: here, speed: 2 }]\n' >"$work/config/weft/$(hostname | tr -c 'A-Za-z0-9._\n-' _).yaml"
say run flow.yaml -n --force && grep -Eq '^a +4 s ' "$work/out"
ok $? "which are 4 s on a machine of speed 2"
rm -r "$work/config"

# ---- risk in plans ----
python3 - "$WEFT_HISTORY" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE runs SET speed = NULL")
for i, (row,) in enumerate(db.execute("SELECT id FROM attempts ORDER BY id").fetchall()):
    db.execute("UPDATE attempts SET took = ? WHERE id = ?", (1000000 * (1 + i % 5), row))
db.commit()
PY
makespan() { "$weft" "$@" --json 2>"$work/err" | tee "$work/out" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["objectives"]["makespan"] if "objectives" in d else d["predicted_seconds"])'; }
usual=$(makespan plan flow.yaml --with heft) middle=$(makespan plan flow.yaml --with heft --risk 0.5) careful=$(makespan plan flow.yaml --with heft --risk 0.9)
python3 -c "import sys; sys.exit(not (0 < $usual == $middle < $careful))"
ok $? "a plan at --risk 0.9 is longer ($careful s, else $usual s), and at 0.5 as ever"
a=$(makespan run flow.yaml -n --force) b=$(makespan run flow.yaml -n --force --risk 0.9)
python3 -c "import sys; sys.exit(not (0 < $a < $b))"
ok $? "so is what a run is expected to take"
say plan flow.yaml --with heft --risk 0.9 --no-predict
[ $? = 2 ]
ok $? "without predictions there is no risk to take"

# ---- the error over time ----
say predict --error --json && python3 - "$WEFT_HISTORY" "$work/out" <<'PY'
import json, sqlite3, statistics, struct, sys
db = sqlite3.connect(sys.argv[1])
said = {(e["run"], e["kind"]): e for e in json.load(open(sys.argv[2]))["errors"]}
mine = {}
for run, words, flow, speed in db.execute("SELECT p.run, p.tasks, r.workflow, r.speed FROM predictions p JOIN runs r ON r.id = p.run").fetchall():
    for task, took in db.execute("SELECT task, took FROM attempts WHERE id >> 32 = ? AND outcome = 0", (run,)).fetchall():
        seconds, low, high, memory, seen = struct.unpack_from("ffffI", words, 20 * task)
        kind = db.execute("SELECT k.name FROM tasks t JOIN kinds k ON k.id = t.kind WHERE t.id = ?", ((flow << 32) + task,)).fetchone()[0]
        if seen:
            real = took * 1e-6 * (speed or 1)
            mine.setdefault((run, kind), []).append((seconds / real, low <= real <= high))
good = set(said) == set(mine) and len(mine) > 2
for key, rows in mine.items():
    e = said.get(key, {})
    ratios = sorted(r for r, _ in rows)
    good = good and e["attempts"] == len(rows) and abs(e["inside"] - sum(i for _, i in rows) / len(rows)) < 1e-9
    good = good and abs(e["ratio"] - ratios[len(rows) // 2]) < 1e-5 * e["ratio"] and abs(e["error"] - sorted(abs(r - 1) for r in ratios)[len(rows) // 2]) < 1e-4 * (1 + e["error"])
sys.exit(not good)
PY
ok $? "what was predicted beside what happened, by run and kind, as an oracle has it"
say predict --error --limit 1 && [ "$(grep -c ' scripts ' "$work/out")" -ge 1 ] && ! say predict && ! say predict flow.yaml --error
ok $? "a table; a workflow or --error, not both"
echo "1..$count"
exit $failed
