#!/usr/bin/env bash
# Issue 17, point 5: the history could be asked for names and times only. Runs are found by parameters, labels, values of results, tags; files by
# their content; two runs differ in what they were given, what they ran and what came of it. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
runs() { "$weft" history --where "$1" --json 2>"$work/err" >"$work/out" && sed -n 's/.*"run": \([0-9]*\),.*/\1/p' "$work/out" | tr '\n' ' '; } # the numbers, newest first
refused() { "$weft" history --where "$1" >"$work/out" 2>"$work/err"; [ $? = 2 ] && grep -q "$2" "$work/err"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: study
parameters: { sigma: 1, filter: sobel }
tasks:
  data: { run: "seq 20 > {out}", out: n.txt }
  score: { run: "echo f1 0.9{sigma} > {out}; echo recall: 0.5 >> {out}", in: n.txt, out: score.txt }
  fixed: { run: "echo '{\"model\": {\"depth\": 3, \"kind\": \"tree\"}, \"good\": true}' > {out}", in: n.txt, out: fixed.json }
  prose: { run: "echo 'depth 7 says nothing' > {out}", in: n.txt, out: prose.txt }
  alone: { run: "echo 12.5 > {out}", in: n.txt, out: loss.txt }
YAML
flow=$work/f/flow.yaml
for sigma in 1 2 10; do say run "$flow" -q -p sigma=$sigma || break; done
ok $? "three runs, which differ in a parameter"

# ---- found ----
[ "$(runs 'sigma > 1')" = "3 2 " ] && [ "$(runs 'sigma >= 9 or sigma < 2')" = "3 1 " ]
ok $? "by a parameter, as a number and not as a text"
[ "$(runs 'sigma > 1 and f1 > 0.915')" = "2 " ]
ok $? "by a parameter and a value that a result states (0.910 is not more)"
[ "$(runs "filter = 'sobel' and model.depth = 3 and model.kind = 'tree' and good and loss = 12.5 and sigma = 10")" = "3 " ]
ok $? "by words, values of JSON, a file that is one number; also what this run found as it was"
[ "$(runs "outcome = 'done' and seconds < 1000 and tasks = 5 and workflow like 'stu%'")" = "3 2 1 " ]
ok $? "by what runs have of their own"
[ "$(runs "select run from facts where value = 'sobel' and run < 3")" = "2 1 " ]
ok $? "by a SELECT over the tables"
refused 'sgima > 1' "did you mean 'sigma'" && refused 'depth = 7' "no run has a parameter, label or value 'depth'"
ok $? "a name that nobody has is an error with the nearest one; prose states nothing"
refused "random() > 0" "not authorized" && refused "julianday('now') > 0" "not authorized" && refused "started > unixepoch()" "not authorized" &&
    refused "1); delete from runs" "takes one expression" && refused "select sql from sqlite_master" "prohibited\|not authorized" && refused "readfile('x') = 1" "no such function\|not authorized"
ok $? "no clock, no file, no die, no schema, nothing but reading"
[ "$(runs '1 = 1')" = "3 2 1 " ]
ok $? "and the runs are still there"

# ---- an experiment: labels ----
cat >"$work/f/try.exp.yaml" <<'YAML'
weft: 1
experiment: try
workflow: flow.yaml
substitute:
  s: { parameter: sigma, by: [1, 2, 10] }
YAML
say experiment "$work/f/try.exp.yaml" -q
ok $? "an experiment: three combinations in one run"
[ "$(runs 's > 1 and f1 > 0.915 and run = 4')" = "4 " ] && [ "$(runs 's > 5 and f1 > 0.915 and run = 4')" = "" ]
ok $? "what a result states belongs to the labels that it has, and to no others"

# ---- said ----
say history 2 --tag good && say history 3 --tag good && say history 2 --note 'the best so far' && say history 2 --name best && [ "$(runs "tag = 'good'")" = "3 2 " ]
ok $? "tags find runs"
say history best && grep -q "note *the best so far" "$work/out" && grep -q "parameter *sigma = 2" "$work/out" && grep -q "value *f1 = 0.92 *(score)" "$work/out"
ok $? "a run by its name, with what is known of it"
say history 3 --tag good --unsay && [ "$(runs "tag = 'good'")" = "2 " ] && ! say history 3 --tag good --unsay && say history 3 --name best && [ "$(runs "name = 'best'")" = "3 " ]
ok $? "taken back; a name is of one run"
! say history 99 --tag x && grep -q "there is no run 99" "$work/err" && ! say history --tag x
ok $? "of a run that is there"

# ---- files ----
cp "$work/f/loss.txt" "$work/renamed.dat"
say history "$work/renamed.dat" && grep -q "its content" "$work/out" && grep -q "made by task alone as $work/f/loss.txt" "$work/out"
ok $? "a file that was copied and renamed is recognised"
say history "$work/f/score.txt" && grep -q "run 3 (study.*made by task score" "$work/out"
ok $? "a file by its path"
echo nobody >"$work/other"
! say history "$work/other" && grep -q "nor one with its content" "$work/err"
ok $? "what nobody made is nobody's"

# ---- two runs ----
say history --compare 1 2 && grep -q "parameter *sigma *1 *2" "$work/out" && grep -q "value *f1 *0.91 *0.92" "$work/out" && grep -q "command *score *echo f1 0.91" "$work/out" && grep -q "file *score.txt *[0-9a-f]\{12\} *[0-9a-f]\{12\}" "$work/out"
ok $? "parameters, values, commands and contents that differ"
! grep -q "depth\|loss\|n.txt" "$work/out"
ok $? "and nothing that does not"
say run "$flow" -q -p sigma=10 --force && say history --compare 3 last && grep -q "no parameter, value, command or file differs" "$work/out"
ok $? "the same again: no difference"

# ---- lineage: a file made here is copied, renamed and read by another workflow elsewhere ----
mkdir "$work/g" && cp "$work/f/score.txt" "$work/g/taken.txt"
cat >"$work/g/next.yaml" <<'YAML'
weft: 1
name: next
tasks:
  sum: { run: "cksum < {in} > {out}", in: taken.txt, out: sum.txt }
  last: { run: "cat {in} > {out}", in: sum.txt, out: last.txt }
YAML
say run "$work/g/next.yaml" -q && say history --lineage "$work/g/last.txt" && [ "$(grep -c "^  " "$work/out")" = 4 ] && grep -q "^  data (run 5): -> $work/f/n.txt$" "$work/out" &&
    grep -q "^  score (run 5): $work/f/n.txt -> $work/f/score.txt$" "$work/out" && grep -q "^  sum (run 6): $work/f/score.txt -> sum.txt$" "$work/out" && grep -q "Nothing was made of it" "$work/out"
ok $? "back to the first input, across a copy and a reused file"
cp "$work/f/n.txt" "$work/f/n.bak" && say run "$flow" -q -p sigma=1 && say history --lineage "$work/f/n.txt" --json && python3 - "$work/out" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
side = lambda s: sorted((t["run"], t["task"]) for t in d["tasks"] if t["side"] == s)
assert d["whole"] and side("back") == [(5, "data")], side("back")
score = [(r, t) for r, t in side("forward") if t == "score"]
assert score == [(1, "score"), (2, "score"), (3, "score"), (5, "score"), (7, "score")], score
assert (6, "sum") in side("forward") and (6, "last") in side("forward") and not [x for x in side("forward") if x[0] == 2 and x[1] != "score"]
PY
ok $? "forward to every result of every run, also elsewhere, and to nothing that was only found"
say history --lineage "$work/g/taken.txt" --svg "$work/l.svg" && grep -q "score (run 5)" "$work/l.svg"
ok $? "as a picture"
# a chain of 40: arrays that moved gave files of other tasks, and cycles
mkdir "$work/chain" && {
    echo "weft: 1"
    echo "name: chain"
    echo "tasks:"
    echo "  t0: { run: 'echo 0 > {out}', out: c0 }"
    for i in $(seq 39); do echo "  t$i: { run: 'cat {in} > {out}; echo $i >> {out}', in: c$((i - 1)), out: c$i, after: t$((i - 1)) }"; done
} >"$work/chain/flow.yaml"
export WEFT_HISTORY=$work/chain.db
say run "$work/chain/flow.yaml" -q && say history --lineage "$work/chain/c20" && [ "$(grep -cE '^  t[0-9]+ \(run' "$work/out")" = 40 ] && grep -q "t20 (run [0-9]*): c19 -> c20" "$work/out" && grep -q "t39 (run [0-9]*): c38 -> c39" "$work/out"
ok $? "of a long chain"
say history "$work/chain/c20" && grep -q "from c19 (run [0-9]*, task t19)" "$work/out"
ok $? "and what one of its tasks read"
digest=$("$weft" history last --json | sed -nE 's/.*"path": "c20".*"digest": "([0-9a-f]{64})".*/\1/p')
say history --file "$digest" && grep -q "made by task t20 as" "$work/out" && ! say history --file "${digest%?}x"
ok $? "a content by its digest alone"
printf 'weft: 1\nname: folder\ntasks:\n  f: { run: "mkdir -p d; echo > d/x", out: d/ }\n' >"$work/chain/folder.yaml"
say run "$work/chain/folder.yaml" -q && say history --file "$work/chain/d" && grep -q "made by task f" "$work/out"
ok $? "a folder, with and without its slash"
export WEFT_HISTORY=$work/history.db

# ---- an old graph again ----
sed -i 's/seq 20/seq 30/' "$flow"
say run --of 2 -q && [ "$(cat "$work/f/score.txt" 2>/dev/null | head -n 1)" = "f1 0.92" ] && [ "$(wc -l <"$work/f/n.txt")" = 20 ] && (cd / && say run --of 2 -n) && grep -q "nothing to do\|up to date" "$work/out" "$work/err"
ok $? "run as it was, where it was, though its file has changed and from wherever one stands"
say history 2 --export "$work/old.yaml" && grep -q "sigma: 2" "$work/old.yaml" && grep -q "seq 20" "$work/old.yaml" && say run "$work/old.yaml" -n
ok $? "written as a file that runs"
say run --of best score.txt -n && ! say run --of 2 -p sigma=3 && grep -q "does nothing beside" "$work/err" && ! say run --of 99 && grep -q "there is no run 99" "$work/err" && ! say run && grep -q "needs a FLOW, or --of" "$work/err"
ok $? "by its name, with targets; what does nothing is refused"

# ---- one of an older weft ----
if command -v sqlite3 >/dev/null; then
    sqlite3 "$work/history.db" "BEGIN; DROP TABLE spans; DROP TABLE commands; ALTER TABLE tasks DROP COLUMN command; DROP INDEX files_by_digest; DROP TABLE facts; DROP TABLE names; ALTER TABLE runs DROP COLUMN system; ALTER TABLE runs DROP COLUMN version; ALTER TABLE runs DROP COLUMN place; PRAGMA user_version = 5; COMMIT"
    say history "$work/renamed.dat" && grep -q "made by task alone" "$work/out" && say run "$flow" -q -p sigma=2 --force && [ "$(runs 'sigma = 2')" = "9 " ]
    ok $? "is brought up to date: its files are found by content, new runs by parameters"
fi
echo "1..$count"
exit $failed
