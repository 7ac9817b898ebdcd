#!/usr/bin/env bash
# 'in: counts' did not wait for who makes counts/a.txt, and read what lay there; 'in: [x, x]' was one
# file, and {in[1]} another one. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
in_folder() { mkdir "$work/$1" && cd "$work/$1" || exit 1; }
refused() { # text: weft show f.yaml says so
    "$weft" show f.yaml >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q "$1" "$work/err"
}

# ---- a folder that tasks make files in ----
in_folder gather
cat >f.yaml <<'EOF'
weft: 1
parameters: { word: one }
tasks:
  merge: { run: "cat {in}/* {in}/sub/c.txt > {out}; echo {in} >> {out}", in: counts, out: total.txt }
  names: { run: "ls {in[1]} | tr '\\n' ' ' > {out}", in: [x.txt, ./counts/], out: names.txt }
  a: { run: "sleep 0.2; echo {word} > {out}", out: counts/a.txt }
  b: { run: "cp {in} {out}", in: counts/a.txt, out: [counts/b.txt] }
  c: { run: "sleep 0.3; echo c > {out}", out: counts/sub/c.txt }
EOF
echo x >x.txt
mkdir counts && echo stale >counts/a.txt
sed -i 's/cat {in}\/\* /cat {in}\/*.txt /' f.yaml
run f.yaml -j 4 --overwrite
ok $? "who reads a folder" && [ "$(tr '\n' ' ' <total.txt)" = "one one c counts/ " ]
ok $? "waits for all who make something in it"
[ "$(cat names.txt)" = "a.txt b.txt sub " ]
ok $? "and sees all of it"
run f.yaml && grep -q 'nothing to do' "$work/out"
ok $? "nothing to do"
echo own >counts/own.txt
run f.yaml -n && grep -q 'would run 2 of 5' "$work/out"
ok $? "a file of one's own in it is an input"
run f.yaml && [ "$(tr '\n' ' ' <total.txt)" = "one one own c counts/ " ]
ok $? "and is read"
sed -i 's/word: one/word: two/' f.yaml
run f.yaml && [ "$(tr '\n' ' ' <total.txt)" = "two two own c counts/ " ]
ok $? "a file in it changed: the reader ran again"
run f.yaml --force && run f.yaml && grep -q 'nothing to do' "$work/out"
ok $? "nothing to do"
rm total.txt counts/a.txt
run f.yaml && [ "$(tr '\n' ' ' <total.txt)" = "two two own c counts/ " ]
ok $? "a file in it is gone: it is made again"
"$weft" show f.yaml --json >"$work/out" 2>"$work/err" && grep -q '"edges": *7' "$work/out"
ok $? "the graph has the edges"
"$weft" convert f.yaml g.yaml >"$work/out" 2>"$work/err" && "$weft" convert g.yaml h.yaml >"$work/out" 2>"$work/err" && cmp -s g.yaml h.yaml
ok $? "written and read again it is the same"
run g.yaml && grep -q 'nothing to do' "$work/out"
ok $? "with the same keys"

# ---- a folder and a file in it, in any order ----
in_folder order
mkdir -p d/e && echo 1 >d/1 && echo 2 >d/2 && echo 3 >d/e/3
printf 'weft: 1\ntasks:\n  a: { run: "cat d/1 d/2 d/e/3 > {out}", in: [d/1, d/e/3, d/e, d/], out: a }\n  b: { run: "cat d/1 d/2 d/e/3 > {out}", in: [d, d/e, d/1], out: b }\n' >f.yaml
run f.yaml && [ "$(cat a b d/1 d/2 d/e/3 | tr '\n' ' ')" = "1 2 3 1 2 3 1 2 3 " ]
ok $? "a file of a folder named before the folder"

# ---- a folder that a task makes ----
in_folder makes
cat >f.yaml <<'EOF'
weft: 1
parameters: { word: one }
tasks:
  part: { run: "cp {in} {out}", in: d/x.txt, out: part.txt }
  whole: { run: "cat {in}/* > {out}", in: d, out: whole.txt }
  make: { run: "mkdir {out} && sleep 0.2 && echo {word} > {out}/x.txt && echo y > {out}/y.txt", out: d }
EOF
run f.yaml -j 3
ok $? "who reads a file in a folder waits for who makes the folder" && [ "$(cat part.txt whole.txt | tr '\n' ' ')" = "one one y " ]
ok $? "and reads what was made"
run f.yaml && grep -q 'nothing to do' "$work/out"
ok $? "nothing to do"
sed -i 's/word: one/word: two/' f.yaml
run f.yaml -j 3 && [ "$(cat part.txt whole.txt | tr '\n' ' ')" = "two two y " ]
ok $? "a change comes through"
sed -i 's/out: d }/out: d, temporary: true }/' f.yaml
rm -rf d part.txt
run f.yaml -j 3 && [ ! -e d ] && [ "$(cat part.txt whole.txt | tr '\n' ' ')" = "two two y " ]
ok $? "a temporary folder goes when all readers are done"
cat >g.yaml <<'EOF'
weft: 1
tasks:
  make: { run: "echo x > {out}x.txt; cp {out}x.txt {out[0]}y.txt", out: e/ }
  use: { run: "cat {in[0]}/x.txt {in[1]} > {out}", in: [e, e/y.txt], out: use.txt }
  both: { run: "echo 1 > {out[1]}; echo 2 > {out[0]}/2", out: [f/, f/1] }
EOF
run g.yaml -j 3
ok $? "out: e/ is a folder, made for the task" && [ "$(tr '\n' ' ' <use.txt)" = "x x " ] && [ "$(cat f/1 f/2 | tr '\n' ' ')" = "1 2 " ]
ok $? "and what is in it can be named beside it"
printf 'weft: 1\ntasks:\n  a: { run: "echo x > h", out: h/ }\n' >h.yaml
run h.yaml; [ $? = 1 ]
ok $? "a file in place of a folder is a failure"

# ---- what cannot be ----
printf 'weft: 1\ntasks:\n  p: { run: "mkdir d", out: d }\n  q: { run: "touch {out}", out: d/x }\n' >f.yaml
refused "f.yaml:4: task 'q' makes 'd/x' in the folder 'd', which task 'p' makes"
ok $? "a folder and a file in it by two tasks"
printf 'weft: 1\ntasks:\n  r: { run: "cat {in}/* > {out}", in: d, out: d/all }\n' >f.yaml
refused "f.yaml:3: task 'r' reads the folder 'd' and makes 'd/all' in it"
ok $? "a task that makes a file in a folder that it reads"
printf 'weft: 1\ntasks:\n  r: { run: "cat {in}/* > {out}", in: d, out: z }\n  s: { run: "cp z {out}", in: z, out: d/x }\n' >f.yaml
refused "cycle"
ok $? "a cycle through a folder"
printf 'weft: 1\ntasks:\n  r: { run: "cat {in[1]} > {out}", in: d, out: z }\n  s: { run: "echo > {out}", out: d/x }\n' >f.yaml
refused "names {in\[1\]}, but it has 1 input, {in\[0\]}"
ok $? "what follows from a folder is no {in[1]}"
printf 'weft: 1\nexperiment: e\nworkflow: f.yaml\nsubstitute:\n  s: { task: s, by: { one: "echo 1 > {out}", two: "echo 2 > {out}" } }\n' >e.yaml
sed -i 's/in\[1\]/in/' f.yaml
"$weft" experiment e.yaml >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q "f.yaml:3: task 'r': 'd' is a folder that tasks make files in; in an experiment" "$work/err"
ok $? "experiments say that they cannot"

# ---- agents ----
if command -v redis-server >/dev/null; then
    in_folder agents
    printf 'weft: 1\ntasks:\n  r: { run: "cat {in}/* > {out}", in: d, out: z }\n  s: { run: "echo 1 > {out}", out: d/x }\n  e: { run: "echo 2 > {out}x", out: e/ }\n' >f.yaml
    timeout -s KILL 120 "$weft" run f.yaml --on local:2 >"$work/out" 2>"$work/err" && [ "$(cat z e/x | tr '\n' ' ')" = "1 2 " ]
    ok $? "agents that work in the folder do as one machine does"
    timeout -s KILL 120 "$weft" run f.yaml --on local:2 --no-shared --force >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -qE "folder 'd', which another reads|object 'e/'" "$work/err"
    ok $? "others say that they cannot, and the run ends"
else
    count=$((count + 1))
    echo "ok $count # skip no redis-server"
fi

# ---- one file twice ----
in_folder twice
echo 1 >x && echo 2 >y
cat >f.yaml <<'EOF'
weft: 1
tasks:
  a: { run: "paste {in} > {out}", in: [x, y, ./x], out: a }
  b: { run: "paste {in[2]} {in[1]} {in[0]} > {out}", in: [x, x, y], out: b }
  c: { run: "paste {in} > {out}", in: [x, y, y], out: c }
  d: { run: "echo '{{in}}' ${in-unset} {in} > {out}", in: [x, x], out: d }
EOF
run f.yaml
ok $? "one file twice" && [ "$(cat a b c | tr '\t\n' '  ')" = "1 2 1 2 1 1 1 2 2 " ] && [ "$(cat d)" = "{in} unset x x" ]
ok $? "stands where it was written, each time"
sed -i 's/in: \[x, y, .\/x\], out: a/in: [x, x, y], out: a/' f.yaml
run f.yaml && [ "$(tr '\t\n' '  ' <a)" = "1 1 2 " ]
ok $? "another order is another command"
"$weft" convert f.yaml g.yaml 2>"$work/err" && rm a b c d && run g.yaml && [ "$(cat a b c | tr '\t\n' '  ')" = "1 1 2 2 1 1 1 2 2 " ]
ok $? "also when it was converted"
printf 'weft: 1\ntasks:\n  a: { run: "cat {in[2]}", in: [x, x] }\n' >f.yaml
refused "names {in\[2\]}, but it has 2 inputs"
ok $? "{in[2]} of two that are one"
printf 'weft: 1\ntasks:\n  a: { call: "lib.so:f", in: [x, x] }\n' >f.yaml
refused "f.yaml:3: task 'a': a function gets each file once"
ok $? "a function is not given one file twice without a word"
echo "1..$count"
exit $failed
