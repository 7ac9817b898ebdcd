#!/usr/bin/env bash
# Issue 17, points 5 and 6: the lineage of a file that many runs share took minutes: each of n runs was asked n times, and each graph was read
# from its text. Who reads what is on record now, of old histories from when they are asked, and what is not shown is said. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
say() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
shown() { grep -c "^  [a-z]* (run" "$work/out"; }
mkdir "$work/f"
cat >"$work/f/flow.yaml" <<'YAML'
weft: 1
name: shared
parameters: { sigma: 1 }
tasks:
  first: { run: "seq 5 > {out}", out: a.txt }
  second: { run: "sort -r {in} > {out}", in: a.txt, out: b.txt }
  third: { run: "wc -l {in} | cut -c1 > c.txt; echo {sigma} > other.txt", in: [b.txt, a.txt], out: [c.txt, other.txt] }
YAML
flow=$work/f/flow.yaml
runs=6
for i in $(seq $runs); do say run "$flow" -q --force -p sigma=$((i % 3)) || break; done
ok $? "$runs runs of three graphs that make the same again"

say history --lineage "$work/f/a.txt" && cp "$work/out" "$work/whole" && [ "$(shown)" = $((1 + 2 * runs)) ]
ok $? "all that was made of it, in every run"
for i in $(seq $((runs - 1))); do grep -q "^  third (run $i): .*\bb.txt" "$work/whole" && grep "^  third (run $i):" "$work/whole" | grep -q "b.txt (run $i)" || break; done
[ "$i" = $((runs - 1)) ]
ok $? "a run's own file is among what its task read"
[ "$(grep -o "b.txt" "$work/whole" | wc -l)" -le $((runs * 4)) ]
ok $? "and not every file of every other run" # n * n before

say history --lineage "$work/f/a.txt" --limit 4 && [ "$(shown)" = 4 ] && grep -q "^There is more: these are the nearest 4 tasks. --limit N shows N of them, --limit 0 all.$" "$work/out" &&
    say history --lineage "$work/f/a.txt" --limit 4 --json && grep -q '"whole": false' "$work/out" &&
    say history --lineage "$work/f/a.txt" --limit 0 && cmp -s "$work/out" "$work/whole" && say history --lineage "$work/f/a.txt" --json && grep -q '"whole": true' "$work/out"
ok $? "what is left out is said, with how to see it"

# ---- families ----
mkdir "$work/g"
cat >"$work/g/flow.yaml" <<'YAML'
weft: 1
name: family
lists: { i: { from: 1, to: 40 } }
tasks:
  part: { each: i, run: "echo {i} > {out}", out: "p{i}.txt" }
  join: { run: "cat {in} > {out}", in: "p{i}.txt", out: all.txt }
YAML
WEFT_HISTORY=$work/g/history.db
say run "$work/g/flow.yaml" -q && say history --lineage "$work/g/all.txt" --svg "$work/g/all.svg" && say history --lineage "$work/g/all.txt" --json && grep -q '"task": "part@i=40"' "$work/out"
ok $? "a member of a family is called by its name"
grep -q 'part × 40' "$work/g/all.svg"
ok $? "and drawn as one of its family, by its kind"
WEFT_HISTORY=$work/history.db

# ---- what is on record of the graphs ----
if command -v sqlite3 >/dev/null; then
    sql() { sqlite3 "$WEFT_HISTORY" "$1"; }
    [ "$(sql "SELECT count(*) FROM shapes")" = 3 ]
    ok $? "each graph has its shape"
    sql "DROP TABLE shapes; DROP TABLE spans; DROP TABLE commands; ALTER TABLE tasks DROP COLUMN command; ALTER TABLE runs DROP COLUMN place; PRAGMA user_version = 6"
    say history --lineage "$work/f/a.txt" && cmp -s "$work/out" "$work/whole" && [ "$(sql "SELECT count(*) FROM shapes")" = 3 ]
    ok $? "a history of an older weft says the same, and has them from then on"
    for damage in "x''" "x'00'" "zeroblob(length(image))" "substr(image, 1, length(image) - 1)" "substr(image, 1, 24) || zeroblob(length(image) - 24)" "substr(image, 1, 40) || x'ffffffff' || substr(image, 45)"; do
        sql "UPDATE shapes SET image = CAST($damage AS BLOB)"
        say history --lineage "$work/f/a.txt" && cmp -s "$work/out" "$work/whole" || break
    done
    ok $? "a shape that is damaged is made anew"
    sql "DELETE FROM shapes"
    # as somebody who may read and not write; of root nothing is refused
    as=""
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=65534 --regid=65534 --clear-groups"; fi
    if [ -n "$as" ] && ! $as test -x "$weft" 2>/dev/null; then
        echo "ok $((count += 1)) # SKIP a history that cannot be written: nobody else can run $weft here"
    else
        sql "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
        rm -f "$WEFT_HISTORY-wal" "$WEFT_HISTORY-shm"
        chmod a+rX "$work" "$work/f" && chmod a=r "$WEFT_HISTORY" && chmod a-w "$work"
        HOME=/ $as "$weft" history --lineage "$work/f/a.txt" >"$work/f/out" 2>"$work/f/err"
        status=$?
        if $as sh -c ': >>"$WEFT_HISTORY"' 2>/dev/null; then status="it could be written"; fi
        chmod u+w "$WEFT_HISTORY" "$work"
        cp "$work/f/out" "$work/f/err" "$work"
        [ "$status" = 0 ] && [ "$(shown)" = $((1 + 2 * runs)) ] && [ "$(sql 'SELECT count(*) FROM shapes')" = 0 ]
        ok $? "none is needed: where nothing can be written the answer is the same"
    fi
fi
echo "1..$count"
exit $failed
