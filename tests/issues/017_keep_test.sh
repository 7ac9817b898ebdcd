#!/usr/bin/env bash
# Issue 17, point 5: results are kept by content and restored without computing. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
unset WEFT_KEEP_RESULTS
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
ran() { wc -l <"$work/f/ran" 2>/dev/null || echo 0; }
objects() { find "$work/f/.weft/objects" -type f ! -name '.making*' 2>/dev/null; }

mkdir "$work/f"
cat >"$work/f/flow.yaml" <<YAML
weft: 1
name: flow
results: keep
parameters: { n: 1 }
tasks:
  one: { run: 'echo one >> $work/f/ran; seq {n} > {out}; chmod +x {out}', out: one.txt }
  dir: { run: 'echo dir >> $work/f/ran; mkdir -p d/below d/empty; cp {in} d/below/x; echo {n} > d/y', in: one.txt, out: d/ }
  two: { run: 'echo two >> $work/f/ran; cat one.txt d/below/x d/y > {out}', in: [one.txt, d/], out: two.txt }
YAML
flow=$work/f/flow.yaml
run "$flow" && [ "$(ran)" = 3 ] && [ "$(objects | wc -l)" = 5 ]
ok $? "results of a workflow that says so are kept, equal ones once"
sum1=$(cat "$work/f/two.txt" | cksum)
run "$flow" -p n=5 && [ "$(ran)" = 6 ] && sum5=$(cksum <"$work/f/two.txt") && [ "$sum1" != "$sum5" ]
ok $? "with another parameter they are computed"
before=$(find "$work/f" -path '*/.weft' -prune -o -type f -print | xargs cksum)
"$weft" run "$flow" -n >"$work/out" 2>"$work/err" && grep -q "restored 3" "$work/out" && grep -q "one is restored: its output 'one.txt' is another, and was kept" "$work/out"
ok $? "-n says what would be restored"
[ "$before" = "$(find "$work/f" -path '*/.weft' -prune -o -type f -print | xargs cksum)" ]
ok $? "and changes nothing"
"$weft" run "$flow" --why two >"$work/out" 2>"$work/err" && grep -q "two is restored" "$work/out"
ok $? "--why says so of one task"
"$weft" run "$flow" -n --json >"$work/out" 2>"$work/err" && grep -q '"restored"' "$work/out" && grep -q '"run": 0' "$work/out"
ok $? "so does JSON"
run "$flow" && [ "$(ran)" = 6 ] && grep -q "restored 3" "$work/out" && [ "$(cksum <"$work/f/two.txt")" = "$sum1" ] && [ -x "$work/f/one.txt" ] && [ ! -x "$work/f/two.txt" ]
ok $? "the parameter set back: restored, nothing computed"
[ -d "$work/f/d/empty" ] && cmp -s "$work/f/d/below/x" "$work/f/one.txt" && [ "$(cat "$work/f/d/y")" = 1 ]
ok $? "folders, too, with what is empty in them"
"$weft" history last >"$work/out" 2>"$work/err" && grep -q "run 3: flow, done" "$work/out" && "$weft" history "$work/f/two.txt" >"$work/out" 2>"$work/err" && grep -q "run 3 .*two" "$work/out"
ok $? "a run that restores is on record, with what it put back"
good=0
for i in 5 1 5 1 5; do run "$flow" -p n=$i && [ "$(ran)" = 6 ] && grep -q "restored 3" "$work/out" || good=1; done
[ $good = 0 ] && [ "$(cksum <"$work/f/two.txt")" = "$sum5" ]
ok $? "back and forth, as often as one likes"
run "$flow" -p n=5 && [ "$(ran)" = 6 ] && grep -q "3 tasks are up to date" "$work/out" && ! grep -q restored "$work/out"
ok $? "what stands is not restored"
rm -rf "$work/f/two.txt" "$work/f/d"
run "$flow" -p n=5 && [ "$(ran)" = 6 ] && grep -q "restored 2" "$work/out" && [ "$(cksum <"$work/f/two.txt")" = "$sum5" ]
ok $? "what was removed is restored, a folder among it"
echo mine >"$work/f/two.txt"
run "$flow" -p n=5 && [ "$(ran)" = 6 ] && [ "$(cat "$work/f/two.txt.before-weft")" = mine ] && [ "$(cksum <"$work/f/two.txt")" = "$sum5" ] && grep -q "two.txt is kept as" "$work/err"
ok $? "what somebody wrote in its place is put aside, and told"

# an edit of the user's file in place does not reach what is kept
echo more >>"$work/f/one.txt"
rm "$work/f/one.txt"
run "$flow" -p n=5 && [ "$(ran)" = 6 ] && [ "$(cat "$work/f/one.txt")" = "$(seq 5)" ]
ok $? "an edit in place does not reach what is kept"

# damage: noticed, dropped, computed
rm -rf "$work/f/one.txt" "$work/f/two.txt"
for o in $(objects); do chmod u+w "$o"; echo x >>"$o"; done
run "$flow" -p n=5 && [ "$(ran)" -gt 6 ] && [ "$(cksum <"$work/f/two.txt")" = "$sum5" ] && grep -q "damaged, and removed" "$work/err"
ok $? "a damaged result is noticed, dropped and computed"
[ -z "$(find "$work/f/.weft/objects" -name '.making*')" ]
ok $? "nothing is left half made"
n=$(ran)
rm -rf "$work/f/one.txt" "$work/f/two.txt"
run "$flow" -p n=5 && [ "$(ran)" = "$n" ] && grep -q "restored 2" "$work/out"
ok $? "and is kept anew"

# a task that is not deterministic above one whose object is damaged: what is below sees the new content
mkdir "$work/r"
cat >"$work/r/flow.yaml" <<'YAML'
weft: 1
results: keep
tasks:
  a: { run: "date +%N > {out}", out: a.txt }
  b: { run: "cp {in} {out}", in: a.txt, out: b.txt }
  c: { run: "cp {in} {out}", in: b.txt, out: c.txt }
YAML
run "$work/r/flow.yaml"
rm "$work/r/a.txt" "$work/r/c.txt"
for o in $(find "$work/r/.weft/objects" -type f); do chmod u+w "$o"; echo x >>"$o"; done
run "$work/r/flow.yaml" && cmp -s "$work/r/a.txt" "$work/r/b.txt" && cmp -s "$work/r/a.txt" "$work/r/c.txt"
ok $? "what is below a result that was damaged follows the new one"

# only where asked
mkdir "$work/t"
cat >"$work/t/flow.yaml" <<'YAML'
weft: 1
parameters: { n: 1 }
tasks:
  a: { run: "echo {n} > {out}", out: a.txt, results: keep }
  b: { run: "sed s/^/b/ {in} > {out}", in: a.txt, out: b.txt }
  t: { run: "cp {in} {out}", in: a.txt, out: { name: t.txt, temporary: true }, results: keep }
  u: { run: "sed s/^/u/ {in} > {out}", in: t.txt, out: u.txt }
YAML
run "$work/t/flow.yaml" && [ "$(find "$work/t/.weft/objects" -type f | wc -l)" = 1 ]
ok $? "of a task that says so alone; temporary files are not kept"
run "$work/t/flow.yaml" -p n=2 && run "$work/t/flow.yaml" && grep -q "restored 1, 3 tasks ran" "$work/out"
ok $? "the others run"
mkdir "$work/k"
sed 's/, results: keep//' "$work/t/flow.yaml" >"$work/k/flow.yaml"
run "$work/k/flow.yaml" && [ ! -e "$work/k/.weft/objects" ] && run "$work/k/flow.yaml" --keep-results && [ -e "$work/k/.weft/objects" ]
ok $? "--keep-results keeps what is there already"
for bad in 'results: yes' 'results: [keep]'; do
    printf 'weft: 1\n%s\ntasks: { a: { run: "true" } }\n' "$bad" >"$work/bad.yaml"
    run "$work/bad.yaml"
    [ $? = 2 ] && grep -q "bad.yaml:2" "$work/err" || break
done
ok $? "what is neither keep nor leave is refused with its place"

# bounds
WEFT_KEEP_RESULTS=nonsense run "$flow"
[ $? = 2 ] && grep -q WEFT_KEEP_RESULTS "$work/err"
ok $? "a bound that is none is refused"
mkdir "$work/b"
cat >"$work/b/flow.yaml" <<'YAML'
weft: 1
results: keep
parameters: { n: 1 }
tasks:
  big: { run: "head -c 60000 /dev/zero > {out}; echo {n} >> {out}", out: big }
YAML
export WEFT_KEEP_RESULTS=100K
run "$work/b/flow.yaml" && touch -d '1 hour ago' $(find "$work/b/.weft/objects" -type f) && run "$work/b/flow.yaml" -p n=2 && grep -q "1 kept result (.*) was let go.*WEFT_KEEP_RESULTS" "$work/err" && [ "$(find "$work/b/.weft/objects" -type f | wc -l)" = 1 ]
ok $? "past the size the least recently used goes, and that is said"
touch -d '3 days ago' $(find "$work/b/.weft/objects" -type f)
WEFT_KEEP_RESULTS=2d run "$work/b/flow.yaml" -p n=3 && grep -q "let go" "$work/err" && [ "$(find "$work/b/.weft/objects" -type f | wc -l)" = 1 ]
ok $? "past the age it goes"
WEFT_KEEP_RESULTS=10K run "$work/b/flow.yaml" -p n=4 && grep -q "1 result could not be kept: .*big.*WEFT_KEEP_RESULTS" "$work/err"
ok $? "what is larger than all may be is not kept, and that is said"
unset WEFT_KEEP_RESULTS

# clean
cd "$work/f" || exit 1
run "$flow" && run "$flow" -p n=5
"$weft" clean "$flow" >"$work/out" 2>"$work/err" && grep -q "kept result.* stay" "$work/err"
ok $? "clean says what stays"
n=$(ran)
run "$flow" && [ "$(ran)" = "$n" ] && grep -q "restored 3" "$work/out"
ok $? "and lets go no record by which something is restored"
"$weft" clean "$flow" --kept -n >"$work/out" 2>"$work/err" && grep -q "would remove .* kept results" "$work/out" && [ -n "$(objects)" ]
ok $? "clean --kept -n counts"
"$weft" clean "$flow" --kept >"$work/out" 2>"$work/err" && grep -q "removed .* kept results" "$work/out" && [ -z "$(objects)" ]
ok $? "clean --kept removes them"
run "$flow" -p n=5 && [ "$(ran)" -gt "$n" ] && [ "$(cksum <two.txt)" = "$sum5" ]
ok $? "then it computes"
cd "$work" || exit 1

# a disk that is full while it is kept: the run goes on and says so. A limit on the size of files stands for it.
mkdir "$work/full"
cat >"$work/full/flow.yaml" <<'YAML'
weft: 1
results: keep
tasks:
  big: { run: "ulimit -f unlimited 2>/dev/null; head -c 3000000 /dev/zero | tr '\\0' x > {out}", out: big }
YAML
(ulimit -S -f 1000; trap '' XFSZ; exec "$weft" run "$work/full/flow.yaml") >"$work/out" 2>"$work/err"
[ $? = 0 ] && grep -q "1 result could not be kept: .*big" "$work/err" && [ "$(stat -c %s "$work/full/big")" = 3000000 ] && [ -z "$(find "$work/full/.weft/objects" -type f)" ]
ok $? "what cannot be kept is said; the run is done, nothing is left half made"
run "$work/full/flow.yaml" && [ "$(find "$work/full/.weft/objects" -type f | wc -l)" = 1 ]
ok $? "the next run keeps it"
rm "$work/full/big"
(ulimit -S -f 1000; trap '' XFSZ; exec "$weft" run "$work/full/flow.yaml") >"$work/out" 2>"$work/err"
[ $? = 0 ] && grep -q "could not be restored" "$work/err" && [ "$(stat -c %s "$work/full/big")" = 3000000 ]
ok $? "what cannot be restored is computed, and that is said"

# kill -9 at any time: what is kept is whole, and the next run gives the same
mkdir "$work/kill"
{
    printf 'weft: 1\nresults: keep\nparameters: { n: 1 }\ntasks:\n'
    for i in $(seq 12); do echo "  t$i: { run: 'head -c 400000 /dev/zero | tr \"\\0\" {n} > {out}; echo $i >> {out}', out: o$i }"; done
} >"$work/kill/flow.yaml"
good=0
for i in $(seq 8); do
    "$weft" run "$work/kill/flow.yaml" -p n=$((i % 3)) -q >"$work/out" 2>"$work/err" &
    pid=$!
    until [ "$(find "$work/kill/.weft/objects" -newer "$work/out" 2>/dev/null | wc -l)" -gt $((RANDOM % 12)) ] || ! kill -0 $pid 2>/dev/null; do :; done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    for o in $(find "$work/kill/.weft/objects" -type f ! -name '.making*' 2>/dev/null); do
        name=$(b2sum -l 256 "$o" | cut -d' ' -f1)
        case $o in */"${name:0:2}/${name:2}") ;; *) good=1 ;; esac
    done
done
[ $good = 0 ]
ok $? "after kill -9 every object is what its name says"
good=0
for n in 0 1 2; do
    run "$work/kill/flow.yaml" -p n=$n -q || good=1
    for i in $(seq 12); do [ "$(head -c 1 "$work/kill/o$i")" = $n ] && [ "$(stat -c %s "$work/kill/o$i")" = $((400001 + ${#i})) ] || good=1; done
done
[ $good = 0 ]
ok $? "and every result is right"
find "$work/kill/.weft/objects" -name '.making*' -exec touch -d '2 hours ago' {} +
"$weft" clean "$work/kill/flow.yaml" >"$work/out" 2>"$work/err"
[ -z "$(find "$work/kill/.weft/objects" -name '.making*')" ]
ok $? "what was half made goes"

# on agents: what comes home is kept alike
mkdir "$work/a"
cp "$work/f/flow.yaml" "$work/a/flow.yaml"
sed -i "s|$work/f/ran|$work/a/ran|" "$work/a/flow.yaml"
if command -v redis-server >/dev/null; then
    run "$work/a/flow.yaml" --on local:2 && run "$work/a/flow.yaml" --on local:2 -p n=5 && n=$(wc -l <"$work/a/ran") &&
        run "$work/a/flow.yaml" --on local:2 && grep -q "restored" "$work/out" && [ "$(wc -l <"$work/a/ran")" = "$n" ] && [ "$(cksum <"$work/a/two.txt")" = "$sum1" ]
    ok $? "on agents: what comes home is kept, and restored without them"
    cp -r "$work/a" "$work/a2"
    run "$work/a2/flow.yaml" -p n=5 && grep -q "restored" "$work/out" && [ "$(cksum <"$work/a2/two.txt")" = "$sum5" ]
    ok $? "and here, where files between tasks must stand"
else
    ok 0 "# skip no redis-server"
    ok 0 "# skip no redis-server"
fi
echo "1..$count"
exit $failed
