#!/usr/bin/env bash
# Issue 17, point 5: runs could be searched, their tasks and files could not. Both are found by words, parameter, label, value, time and
# content; what is asked is judged by the raw tables (python's sqlite3, apart from our code). Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
found() { # what options...: "run:name" of each finding, in order
    local what=$1 key=task
    shift
    [ "$what" = files ] && key=path
    say history "--$what" --json "$@" && sed -n "s/.*{\"run\": \([0-9]*\),.*\"$key\": \"\([^\"]*\)\".*/\1:\2/p" "$work/out" | tr '\n' ' '
}
refused() { say history "${@:2}"; [ $? = 2 ] && grep -q -- "$1" "$work/err"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: study
parameters: { sigma: 1 }
tasks:
  data: { run: "seq 20 > {out}", out: n.txt }
  score: { run: "echo f1 0.9{sigma} > {out}", in: n.txt, out: score.txt }
  other: { run: "echo f1 0.1; echo loss 3 > {out}", in: n.txt, out: "s=4,t=x/loss.txt" }
  poor: { run: "test {sigma} -lt 2", in: score.txt, may_fail: true } # after score: the order of the rows is asked for
YAML
flow=$work/f/flow.yaml
for sigma in 1 2 3; do say run "$flow" -q -p sigma=$sigma || break; done
ok $? "three runs, which differ in a parameter"
say history --where "tag = 'good' or name = 'best'" && grep -q "no such run" "$work/out" && [ -z "$(found tasks --where "note like '%x%'")" ]
ok $? "tags, names and notes may be asked for before anybody has given one"

# ---- tasks ----
[ "$(found tasks --where 'sigma > 1 and f1 > 0.925')" = "3:score " ]
ok $? "a task by a parameter of its run and a value that its result states"
[ "$(found tasks --where "task = 'score'")" = "3:score 2:score 1:score " ] && [ "$(found tasks --where "task = 'score'" --limit 2)" = "3:score 2:score " ]
ok $? "by its name, newest first, at most so many"
[ "$(found tasks --where 'f1 is null and sigma = 3' | wc -w)" = 1 ] && [ "$(found tasks --where 'f1 is null and sigma = 3')" = "3:poor " ]
ok $? "one that states nothing has null there, whatever others of its run state"
[ "$(found tasks --where 's = 4 and loss > 2')" = "1:other " ] && [ "$(found tasks --where "t = 'x'")" = "1:other " ] && [ -z "$(found tasks --where 's = 4 and f1 > 0')" ]
ok $? "by a label of its result, which is not another task's"
[ "$(found tasks --failed)" = "3:poor 2:poor " ] && [ "$(found tasks --where "outcome = 'failed' and status = 1")" = "3:poor 2:poor " ]
ok $? "those that failed"
[ "$(found tasks --words 'SEQ study')" = "1:data " ] && [ -z "$(found tasks --words 'seq nowhere')" ]
ok $? "by words of its command and its run, each of which must be somewhere"
[ "$(found tasks --digest "$work/f/score.txt")" = "3:score " ] && cp "$work/f/n.txt" "$work/moved" && [ "$(found tasks --digest "$work/moved")" = "1:data " ]
ok $? "by the content that it made, as a file has it that was copied"
[ "$(found tasks --since 1d | wc -w)" = 8 ] && [ -z "$(found tasks --since 2100-01-01)" ] && [ "$(found tasks --where "started > 2e9" | wc -w)" = 0 ]
ok $? "by time"
say history 2 --tag good && [ "$(found tasks --where "tag = 'good'")" = "2:poor 2:score " ]
ok $? "by what somebody said of its run"
say history 2 --tasks --where "task = 'score'" && grep -q "^  2 .* score " "$work/out" && ! grep -q "^  [13] " "$work/out"
ok $? "of one run, as a table"
[ "$(found tasks --where 'select id from runs where id < 3 and id > 1')" = "2:poor 2:score " ]
ok $? "of runs that a SELECT gives"

# ---- files ----
[ "$(found files --words score)" = "3:score.txt 2:score.txt 1:score.txt " ] && [ "$(found files --words 'N.txt STUDY')" = "1:n.txt " ]
ok $? "files by words of their path and their run"
[ "$(found files --where "f1 < 0.93 and sigma > 1")" = "2:score.txt " ] && [ "$(found files --where "size > 40 and made")" = "1:n.txt " ]
ok $? "by a value, a parameter, their size"
[ "$(found files --digest "$work/moved")" = "1:n.txt " ] && digest=$(sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$work/out") && [ "$(found files --digest "$digest")" = "1:n.txt " ] && [ "$(found files --where "digest = '$digest'")" = "1:n.txt " ]
ok $? "by content, and by its digest"
say history --digest "$work/moved" --json && [ "$(grep -c '"run":' "$work/out")" = 1 ]
ok $? "runs by content, too"
say history --files --export "$work/files.csv" && [ "$(head -n 1 "$work/files.csv" | tr -d '\r')" = run,workflow,folder,host,path,task,made,size,digest,started ] && [ "$(wc -l <"$work/files.csv")" = 6 ] && say history --tasks --export "$work/tasks.csv" && [ "$(wc -l <"$work/tasks.csv")" = 9 ] && say history --tasks --export "$work/tasks.json" && grep -q '"tasks":' "$work/tasks.json"
ok $? "as CSV and JSON"

# ---- what is refused ----
refused "did you mean 'seconds'" --tasks --where 'secnds > 1' && refused "no run has" --files --where 'seconds_of_file > 1' && refused "does nothing beside --files" --files --failed && refused "leave one of them out" --tasks --files && refused "expected a digest" --files --digest nobody && refused "not authorized" --tasks --where "random() > 1" && refused "does nothing for one RUN" 2 --words x && refused "may read the history" --tasks --where "seconds > julianday('now')"
ok $? "names that nobody has, clocks, what does nothing"

# ---- judged by the tables, and a history of before ----
cat >"$work/judge.py" <<'PY'
import json, random, sqlite3, subprocess, sys
weft, path, seed = sys.argv[1:4]
db = sqlite3.connect(path)
rng = random.Random(int(seed))
rows = db.execute("""select a.id, a.id >> 32, t.name, a.took * 1e-6, a.outcome, a.status, (select value from facts f join names n on n.id = f.name
    where n.name = 'sigma' and f.run = a.id >> 32), (select value from facts f join names n on n.id = f.name where n.name = 'f1' and f.run = a.id >> 32
    and f.task = a.task) from attempts a join runs r on r.id = a.id >> 32 join tasks t on t.id = (r.workflow << 32) + a.task order by 1""").fetchall()
middle = sorted(r[3] for r in rows)[len(rows) // 2]
parts = [("seconds > %r" % middle, lambda r: r[3] > middle), ("seconds <= %r" % middle, lambda r: r[3] <= middle), ("seconds > 1e6", lambda r: False),
         ("sigma > 1", lambda r: r[6] > 1), ("f1 > 0.915", lambda r: r[7] is not None and r[7] > 0.915), ("f1 is null", lambda r: r[7] is None),
         ("task between 'o' and 'q'", lambda r: "o" <= r[2] <= "q"), ("outcome <> 'done'", lambda r: r[4] != 0), ("status = 0", lambda r: r[5] == 0),
         ("run in (1, 3)", lambda r: r[1] in (1, 3)), ("case when sigma = 2 and status = 0 then 1 else 0 end", lambda r: r[6] == 2 and r[5] == 0)]
for _ in range(25):
    chosen = rng.sample(parts, rng.randint(1, 3))
    joint = rng.choice(["and", "and", "or"])
    text = f" {joint} ".join(p[0] for p in chosen)
    holds = all if joint == "and" else any
    mine = [(r[1], r[2]) for r in sorted(rows, reverse=True) if holds(bool(p[1](r)) for p in chosen)]
    reply = subprocess.run([weft, "history", "--tasks", "--where", text, "--limit", "0", "--json"], capture_output=True, text=True)
    theirs = [(x["run"], x["task"]) for x in json.loads(reply.stdout)["tasks"]] if reply.returncode == 0 else reply.stderr
    if mine != theirs:
        sys.exit(f"{text}\n{mine}\n{theirs}")

# files: conditions on paths alone are narrowed by the paths that there are, others are not
rows = db.execute("select f.id, f.id >> 32, p.path, f.size, f.made from files f left join paths p on p.id = f.path").fetchall()
parts = [("path like '%.txt'", lambda r: r[2].endswith(".txt")), ("path like 'SC%'", lambda r: r[2].startswith("sc")), ("path like '%.png'", lambda r: False),
         ("path not like 'n%'", lambda r: not r[2].startswith("n")), ("path is null", lambda r: False), ("path is not null", lambda r: True),
         ("length(path) > 6", lambda r: len(r[2]) > 6), ("coalesce(path, 'x') = 'x'", lambda r: False), ("size > 10", lambda r: r[3] > 10),
         ("path = 'n.txt' and run < 3", lambda r: r[2] == "n.txt" and r[1] < 3), ("made", lambda r: r[4]), ("run <> 2", lambda r: r[1] != 2)]
for _ in range(25):
    chosen = rng.sample(parts, rng.randint(1, 3))
    joint = rng.choice(["and", "and", "or"])
    text = f" {joint} ".join(p[0] for p in chosen)
    holds = all if joint == "and" else any
    mine = [(r[1], r[2]) for r in sorted(rows, reverse=True) if holds(bool(p[1](r)) for p in chosen)]
    reply = subprocess.run([weft, "history", "--files", "--where", text, "--limit", "0", "--json"], capture_output=True, text=True)
    theirs = [(x["run"], x["path"]) for x in json.loads(reply.stdout)["files"]] if reply.returncode == 0 else reply.stderr
    if mine != theirs:
        sys.exit(f"files: {text}\n{mine}\n{theirs}")
PY
if command -v python3 >/dev/null; then
    python3 "$work/judge.py" "$weft" "$WEFT_HISTORY" 17 >"$work/out" 2>"$work/err"
    ok $? "50 random questions agree with the tables"
fi
if command -v sqlite3 >/dev/null; then
    sqlite3 "$WEFT_HISTORY" "BEGIN; DROP TABLE spans; DROP TABLE commands; ALTER TABLE tasks DROP COLUMN command; DROP INDEX facts_by_run; CREATE INDEX facts_by_run ON facts(run); ALTER TABLE runs DROP COLUMN place; PRAGMA user_version = 7; COMMIT"
    [ "$(found tasks --where 'sigma > 1 and f1 > 0.925')" = "3:score " ] && [ "$(sqlite3 "$WEFT_HISTORY" 'select count(*) from spans')" -ge 1 ] && [ "$(found tasks --where 'seconds > 1e6')" = "" ] && [ "$(found tasks --failed)" = "3:poor 2:poor " ] && [ "$(sqlite3 "$WEFT_HISTORY" 'select count(*) from spans')" = 3 ]
    ok $? "a history of before answers, and knows more of its runs when it was asked"
    [ -z "$(found tasks --words seq)" ] && say run "$flow" -q --force && [ "$(found tasks --words seq)" = "4:data 1:data " ]
    ok $? "commands are known of workflows that run from now on"
fi
echo "1..$count"
exit $failed
