#!/usr/bin/env bash
# Issue 17, point 5: weft history keep, restore, import of another machine's history, words. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
unset WEFT_KEEP_RESULTS
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
history() { "$weft" history "$@" >"$work/out" 2>"$work/err"; }
sql() { python3 -c 'import sqlite3, sys; [print("|".join(map(str, r))) for r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]' "$@"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: sums
parameters: { n: 3 }
tasks:
  count: { run: "seq {n} > {out}", out: count.txt }
  folder: { run: "mkdir -p d; cp {in} d/copy; echo x > d/x", in: count.txt, out: d/ }
  total: { run: "awk '{s += $1} END {print s}' {in} > {out}", in: count.txt, out: total.txt }
YAML
flow=$work/f/flow.yaml
run "$flow"
history keep 1 && grep -q "^kept 3 files" "$work/out"
ok $? "what a run left is kept"
history keep 1 && grep -q "3 already" "$work/out"
ok $? "twice kept is once kept"
run "$flow" -p n=5
history keep 1 && grep -q "3 already" "$work/out"
ok $? "also when the files are others by now"
history restore 1 -o "$work/old" && grep -q "^restored 3 files" "$work/out" && [ "$(cat "$work/old/total.txt")" = 6 ] && [ "$(cat "$work/old/d/copy")" = "$(seq 3)" ] && [ "$(cat "$work/f/total.txt")" = 15 ]
ok $? "restored into another folder, a folder among it; nothing else changes"
history restore 1 -o "$work/old" && grep -q "3 already" "$work/out"
ok $? "what is there is not written again"
history restore 2 total.txt -o "$work/new" && [ "$(cat "$work/new/total.txt")" = 15 ] && [ "$(ls "$work/new")" = total.txt ]
ok $? "one file, which still stands where the run left it"
history restore 2 folder -o "$work/new" && [ "$(cat "$work/new/d/copy")" = "$(seq 5)" ]
ok $? "and a folder"
history restore 1 total && [ "$(cat "$work/f/total.txt")" = 6 ] && [ "$(cat "$work/f/total.txt.before-weft")" = 15 ]
ok $? "in place, by the name of the task: what is not kept is put aside"
history restore 2 total.txt
[ $? = 1 ] && grep -q "total.txt: is not kept" "$work/out"
ok $? "what is not kept is said, status 1"
history restore 1 nonsense
[ $? = 2 ] && grep -q "nonsense" "$work/err"
ok $? "a name that the run does not have is refused"
history keep "$work/f/count.txt" && grep -q "^kept 1 file" "$work/out"
ok $? "one file is kept"
history keep "$work/nowhere"
[ $? = 2 ]
ok $? "one that is not there is refused"
history keep 1 --json
[ $? = 2 ] && history 1 -o x
[ $? = 2 ]
ok $? "options that mean nothing with it are refused"
# a run that found its files done restores them, too
run "$flow" -p n=5
printf '  more: { run: "cp {in} {out}", in: total.txt, out: more.txt }\n' >>"$flow"
run "$flow" -p n=5 && history keep last && grep -q "kept 2 files.*2 already" "$work/out"
ok $? "what a run found done belongs to it"
rm -rf "$work/f"/*.txt "$work/f/d"
history restore last && [ "$(cat "$work/f/total.txt" "$work/f/more.txt" | xargs)" = "15 15" ] && run "$flow" -p n=5 && grep -q "4 tasks are up to date" "$work/out"
ok $? "restored in place it is up to date"
object=$(find "$work/f/.weft/objects" -type f -size 3c | head -n 1)
chmod u+w "$object" && echo zz >"$object"
rm -rf "$work/f/total.txt" "$work/f/more.txt"
history restore last
[ $? = 1 ] && grep -q "damaged" "$work/out" && [ ! -e "$object" ]
ok $? "a damaged object is noticed and dropped"

# words
history 1 --note 'promising: Riemann hypothesis' && history 2 --tag hg38
history --words riemann && grep -q "^ *1 " "$work/out" && ! grep -q "^ *2 " "$work/out"
ok $? "words in notes, whatever the case of letters"
history --words 'hg38 sums' && grep -q "^ *2 " "$work/out" && ! grep -q "^ *1 " "$work/out"
ok $? "several words: each of them"
history --words 'awk' && grep -q "^ *1 " "$work/out" && history --words 'more.txt' && ! grep -q "^ *1 " "$work/out" && history --words "$(hostname)" && grep -q "^ *1 " "$work/out"
ok $? "in commands, names of files, hosts"
history --words "100%'; drop table runs; --" && grep -q "no such run" "$work/out" && history --words '%' && grep -q "no such run" "$work/out" && history && grep -q "^ *1 " "$work/out"
ok $? "what means something in SQL means itself"

# another machine's history
mkdir "$work/g"
sed 's/name: sums/name: elsewhere/; s/seq {n}/seq 7/' "$flow" >"$work/g/flow.yaml"
WEFT_HISTORY=$work/other.db "$weft" run "$work/g/flow.yaml" -q 2>"$work/err"
WEFT_HISTORY=$work/other.db "$weft" run "$work/g/flow.yaml" -q -f -p n=4
WEFT_HISTORY=$work/other.db "$weft" history 1 --name best
WEFT_HISTORY=$work/other.db "$weft" history 2 --note far
sql "$work/other.db" "update runs set host = 'faraway'" && python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("update runs set host = \"faraway\""); c.commit()' "$work/other.db"
before=$(cksum <"$work/other.db")
history 1 --name best
last=$(sql "$WEFT_HISTORY" 'select max(id) from runs')
history import "$work/other.db" && grep -q "^2 runs of faraway, from run $((last + 1)) on" "$work/out"
ok $? "the runs of another history come, with their host"
[ "$before" = "$(cksum <"$work/other.db")" ] && [ -z "$(ls "$work" | grep merging)" ]
ok $? "which is only read"
history import "$work/other.db" && grep -q "2 were here already" "$work/out" && [ "$(sql "$WEFT_HISTORY" 'select max(id) from runs')" = $((last + 2)) ]
ok $? "twice imported is once kept"
dump() { # what a run is, without its numbers
    WEFT_HISTORY=$1 "$weft" history "$2" --json | sed "s/\"run\": [0-9]*/run/" | grep -v '"name": "name"' | sed 's/,$//'
}
good=0
for i in 1 2; do diff <(dump "$work/other.db" $i) <(dump "$WEFT_HISTORY" $((last + i))) >"$work/out" || good=1; done
[ $good = 0 ]
ok $? "each is what it was: attempts, files, facts"
history best && grep -q "run 1:" "$work/out"
ok $? "a name that a run of ours has stays with it"
history "$work/g/total.txt" && grep -q "run $((last + 2))" "$work/out" && history --where "host = 'faraway' and n = 4" && grep -q "^ *$((last + 2)) " "$work/out" && history --words far && grep -q "^ *$((last + 2)) " "$work/out"
ok $? "they are found by file, parameter and words"
run "$flow" -p n=6 && history last && grep -q "run $((last + 3)):" "$work/out"
ok $? "the next run has the next number"
"$weft" predict "$work/g/flow.yaml" >"$work/out" 2>"$work/err"
ok $? "and prediction reads them"
history import "$WEFT_HISTORY"
[ $? = 2 ] && grep -q "this history itself" "$work/err"
ok $? "it does not eat itself"
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("create table x(y)"); c.commit()' "$work/foreign.db"
history import "$work/foreign.db"
[ $? = 2 ] && grep -q "not a history of weft" "$work/err"
ok $? "a database that is none of ours is refused"
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("pragma user_version = 99"); c.commit()' "$work/other.db"
history import "$work/other.db"
[ $? = 2 ] && grep -q "newer weft" "$work/err"
ok $? "so is one of a newer weft"
head -c 3000 "$WEFT_HISTORY" >"$work/cut.db"
history import "$work/cut.db"
[ $? = 2 ] && history && grep -q faraway "$work/out" || history --where "host = 'faraway'"
ok $? "so is a damaged one, and ours is as it was"
echo "1..$count"
exit $failed
