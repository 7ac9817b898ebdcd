#!/usr/bin/env bash
# A task that wrote to its input (`>> {in}`) changed it for its siblings, and everything was "done"; an input that was edited
# while its task ran and then put back left a wrong output that was "up to date"; an edit with its time put back was not seen
# at all. Now an attempt during which an input changed does not count, and says which and how. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
said() { cat "$work/out" "$work/err" | tr '\n' ' ' | tr -s ' ' | grep -q "$1"; } # in whichever lines it stands
wait_for() { local i; for i in $(seq 300); do [ -e "$1" ] && return; sleep 0.05; done; return 1; }

# ---- a task that writes to its input ----
mkdir "$work/a"
cat >"$work/a/flow.yaml" <<'END2'
weft: 1
name: appends
tasks:
  gen: { run: 'echo one > {out}', out: [data.txt] }
  bad: { run: 'echo two >> {in}; wc -l < {in} > {out}', in: [data.txt], out: [bad.txt] }
  next: { run: 'wc -l < {in} > {out}', in: [data.txt], out: [next.txt], after: [bad] }
  other: { run: 'sleep 0.2; wc -l < {in} > {out}', in: [data.txt], out: [other.txt] }
END2
run "$work/a/flow.yaml" -j 1 -k
[ $? = 1 ] && said "input 'data.txt' changed while it ran" && said "'bad'"
ok $? "a task that appends to its input fails, and the input is named"
said "had 4 bytes and has 8" && said "The next run makes the file again (task 'gen')"
ok $? "with what changed, and what becomes of it"
[ ! -e "$work/a/bad.txt" ] && [ ! -e "$work/a/next.txt" ]
ok $? "nothing of it is taken, what follows does not run"
{ [ ! -e "$work/a/other.txt" ] && said "not what it was when this run looked at it" && said "changed while task 'bad' ran"; } || [ "$(cat "$work/a/other.txt" 2>/dev/null)" = 1 ]
ok $? "its sibling has read it before, or is refused, with the name"
sed -i 's/echo two >> {in}; wc/wc/' "$work/a/flow.yaml"
run "$work/a/flow.yaml" && [ "$(cat "$work/a/bad.txt" "$work/a/other.txt" "$work/a/next.txt" | tr '\n' ' ')" = "1 1 1 " ]
ok $? "mended, the next run makes the input again, and all is right"

# in place, and the user's own file
mkdir "$work/p"
echo one >"$work/p/mine.txt"
cat >"$work/p/flow.yaml" <<'END2'
weft: 1
name: place
tasks:
  bad: { run: 'echo two >> {in}; cp {in} {out}', in: [mine.txt], out: [out.txt], sandbox: false }
END2
run "$work/p/flow.yaml"
[ $? = 1 ] && said "input 'mine.txt' changed while it ran" && said "No task makes the file"
ok $? "in place, too; of the user's own file it is said that nobody can make it again"
run "$work/p/flow.yaml" -n && said "would run 1 of 1"
ok $? "and nothing is on record"

# ---- a folder ----
mkdir -p "$work/f/ref"
echo ACGT >"$work/f/ref/genome.fa"
cat >"$work/f/flow.yaml" <<'END2'
weft: 1
name: beside
tasks:
  index: { run: 'echo 4 > {in}/genome.fa.fai; cat {in}/genome.fa > {out}', in: [ref], out: [out.txt] }
END2
run "$work/f/flow.yaml"
[ $? = 1 ] && said "input 'ref' changed while it ran" && said "genome.fa.fai"
ok $? "an index that is written into a folder that is an input: named"
run "$work/f/flow.yaml"
[ $? = 1 ] && said "genome.fa.fai"
ok $? "written again, it is named again"
rm "$work/f/ref/genome.fa.fai"
mkdir -p "$work/b"
echo bam >"$work/b/reads.bam"
cat >"$work/b/flow.yaml" <<'END2'
weft: 1
name: bai
tasks:
  index: { run: 'echo i > {in}.bai; cat {in} > {out}', in: [reads.bam], out: [out.txt] }
END2
run "$work/b/flow.yaml" && [ ! -e "$work/b/reads.bam.bai" ] && said "reads.bam.bai"
ok $? "an index beside an input stays in the sandbox, and is remarked"

# ---- edited while its task runs, then put back ----
mkdir "$work/e"
printf 'right\n' >"$work/e/in.txt"
cat >"$work/e/flow.yaml" <<END2
weft: 1
name: edited
tasks:
  slow: { run: 'touch $work/begun; until [ -e $work/edited ]; do sleep 0.05; done; cat {in} > {out}; touch $work/read; until [ -e $work/back ]; do sleep 0.05; done', in: [in.txt], out: [out.txt] }
END2
for how in 'cp' 'cp -p' 'mv'; do
    rm -f "$work/begun" "$work/edited" "$work/read" "$work/back"
    cp -p "$work/e/in.txt" "$work/save"
    run "$work/e/flow.yaml" &
    pid=$!
    wait_for "$work/begun"
    [ "$how" = mv ] && mv "$work/e/in.txt" "$work/save"
    printf 'wrong\n' >"$work/e/in.txt" && touch "$work/edited"
    wait_for "$work/read"
    $how "$work/save" "$work/e/in.txt" && touch "$work/back"
    wait $pid
    [ $? = 1 ] && said "input 'in.txt' changed while it ran" && [ ! -e "$work/e/out.txt" ]
    ok $? "edited and put back by $how: the attempt does not count"
done
said "No task makes the file"
ok $? "and says so"
run "$work/e/flow.yaml" && [ "$(cat "$work/e/out.txt")" = right ]
ok $? "the next run reads what is there"

# ---- edited between two runs, its time put back ----
cp -p "$work/e/in.txt" "$work/save"
printf 'wrong\n' >"$work/e/in.txt" && touch -r "$work/save" "$work/e/in.txt"
run "$work/e/flow.yaml" -n && said "its input 'in.txt' changed"
ok $? "an edit of the same size with its time put back is seen"
cp -p "$work/save" "$work/e/in.txt"
run "$work/e/flow.yaml" && said "nothing to do"
ok $? "and when the content is what it was, there is nothing to do"

# ---- what is no change ----
mkdir "$work/c"
printf '#!/bin/sh\necho made > "$1"\n' >"$work/c/tool.sh"
{
    echo "weft: 1"
    echo "name: chmods"
    echo "tasks:"
    for i in 1 2 3 4; do echo "  t$i: { run: 'chmod +x {in}; sleep 0.1; ./{in} {out}', in: [tool.sh], out: [out$i.txt] }"; done
} >"$work/c/flow.yaml"
run "$work/c/flow.yaml" -j 4 && [ -e "$work/c/out4.txt" ]
ok $? "chmod +x of a program that is an input, by four tasks at once, is none"
rm "$work"/c/out*.txt
(cd "$work/c" && for i in 1 2 3 4 5 6; do ln tool.sh link$i; sleep 0.04; done) & run "$work/c/flow.yaml" -j 4 && wait
ok $? "nor is a link that somebody makes to it"
mkdir "$work/o"
printf 'x\n' >"$work/o/in.txt"
cat >"$work/o/flow.yaml" <<'END2'
weft: 1
name: copies
tasks:
  a: { run: 'echo a > {out}', out: [a.txt] }
  b: { run: 'cp {in} {out} && echo more >> {out} && sed -i s/a/b/ {out}', in: [a.txt], out: [b.txt] }
  c: { run: 'sed -i s/b/c/ {in} && cp {in} {out}', in: [b.txt], out: [c.txt] }
END2
run "$work/o/flow.yaml" && [ "$(cat "$work/o/b.txt" "$work/o/c.txt" | tr '\n' ' ')" = "b more c more " ]
ok $? "a copy of an input may be written; sed -i writes to a copy of its own"
mkdir -p "$work/d/sub/.weft"
echo x >"$work/d/sub/.weft/memo" && echo y >"$work/d/sub/y"
printf 'weft: 1\nname: nested\ntasks:\n  a: { run: "echo z >> {in}/.weft/memo; ls {in} > {out}", in: [sub], out: [o.txt] }\n' >"$work/d/flow.yaml"
run "$work/d/flow.yaml" && [ "$(cat "$work/d/o.txt")" = y ]
ok $? "weft's own records in a folder that is an input are none of it"
echo "1..$count"
exit $failed
