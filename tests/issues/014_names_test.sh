#!/usr/bin/env bash
# One file under two names was two files: './x.txt' was "not there", an absolute name of another task's
# output read the stale one; 'out: ../x' was found only when the task started. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }

# spellings
cat >f.yaml <<EOF
weft: 1
tasks:
  last: { run: "cat {in} > {out}", in: [$PWD/c.txt, b//../a.txt], out: sub/./last.txt }
  c: { run: "cat {in} > {out}", in: .//b.txt, out: ./c.txt }
  b: { run: "cat {in} > {out}; echo b >> {out}", in: ./a.txt, out: b.txt }
  a: { run: "cat {in} > {out}; echo a >> {out}", in: ./x.txt, out: $PWD/sub/../a.txt }
EOF
echo x >x.txt
echo stale >a.txt && cp a.txt b.txt && cp a.txt c.txt
run f.yaml -j 4
ok $? "spellings of one file are one file" && [ "$(tr '\n' ' ' <sub/last.txt)" = "x a b x a " ]
ok $? "nobody read the stale one"
run f.yaml && grep -q 'nothing to do' "$work/out"
ok $? "and nothing is left to do"
"$weft" show f.yaml --json >"$work/out" 2>"$work/err" && grep -q '"edges": *4' "$work/out"
ok $? "weft show has the edges"
"$weft" convert f.yaml g.yaml 2>"$work/err" && ! grep -q "$work" g.yaml && grep -q 'in: \[c.txt, a.txt\]' g.yaml
ok $? "weft convert writes the names that are meant"

# by a link, from elsewhere, with -C
ln -s p "$work/alias"
sed "s,$PWD/c.txt,$work/alias/c.txt," f.yaml >h.yaml
echo y >x.txt
(cd / && run "$work/alias/h.yaml" --force -j 4) && [ "$(tr '\n' ' ' <sub/last.txt)" = "y a b y a " ]
ok $? "an absolute name through a link"
mkdir "$work/q" && sed "s,$PWD,$work/q," f.yaml >"$work/elsewhere.yaml" && echo z >"$work/q/x.txt"
run "$work/elsewhere.yaml" -C "$work/q" -j 4 && [ "$(tr '\n' ' ' <"$work/q/sub/last.txt")" = "z a b z a " ]
ok $? "an absolute name in the folder of -C"

# two makers under two names, an output named twice, a cycle
printf 'weft: 1\ntasks:\n  a: { run: "true", out: x }\n  b: { run: "true", out: ./x }\n' >two.yaml
"$weft" show two.yaml 2>"$work/err"
[ $? = 2 ] && grep -q "two.yaml:4: object 'x' is made by two tasks, 'a' and 'b'" "$work/err"
ok $? "two makers of one file"
printf 'weft: 1\ntasks:\n  a: { run: "true", out: [x, y/../x] }\n' >two.yaml
"$weft" show two.yaml 2>"$work/err"
[ $? = 2 ] && grep -q "two.yaml:3: task 'a': out names 'x' twice" "$work/err"
ok $? "an output named twice"

# above the folder
for key in in out; do
    printf 'weft: 1\ntasks:\n  first: { run: "touch ran" }\n  t:\n    %s: sub/../../x\n    run: "true"\n' $key >above.yaml
    for command in run show plan; do
        rm -f ran
        "$weft" $command above.yaml >"$work/out" 2>"$work/err"
        [ $? = 2 ] && grep -q "above.yaml:5: task 't': ${key}put '../x' lies above the workflow's folder.*absolute name" "$work/err" && [ ! -e ran ]
        ok $? "weft $command: $key: ../x"
    done
    printf 'weft: 1\ntasks:\n  t: { run: "test %s = in || cp x.txt ../x", sandbox: false, %s: ../x }\n' $key $key >inplace.yaml
    touch "$work/x"
    run inplace.yaml
    ok $? "$key: ../x of a task in place"
done
printf 'weft: 1\ntasks:\n  t: { run: "true", in: sub/.. }\n' >dot.yaml
"$weft" show dot.yaml 2>"$work/err"
[ $? = 2 ] && grep -q "dot.yaml:3: task 't': in names the workflow's folder itself" "$work/err"
ok $? "in: ."

# a name that looks like an option
echo dash >./-n
printf 'weft: 1\ntasks:\n  t: { run: "cat {in} > {out}", in: ./-n, out: dash.txt }\n' >dash.yaml
run dash.yaml && [ "$(cat dash.txt)" = dash ]
ok $? "./-n is no option"

# other formats
printf './m.txt: x.txt\n\tcp x.txt m.txt\n\nn.txt: m.txt\n\tcp m.txt n.txt\n' >m.makeflow
run m.makeflow -j 2 && [ "$(cat n.txt)" = y ]
ok $? "Makeflow: ./m.txt is m.txt"
printf 'm.txt: ../x x.txt\n\ttouch ran m.txt\n' >up.makeflow
rm -f ran
run up.makeflow
[ $? = 2 ] && grep -q "up.makeflow:1: task 'm.txt': '../x' lies above the workflow's folder" "$work/err" && [ ! -e ran ]
ok $? "Makeflow: ../x is refused before anything runs"
touch "$work/x" && run up.makeflow --no-sandbox && [ -e ran ]
ok $? "but for a run without sandboxes"
echo "1..$count"
exit $failed
