#!/usr/bin/env bash
# A misspelt {word} and {in[3]} of two inputs were handed to the command as they stood, or found only
# when it started; commands of other formats had their own braces taken for weft's. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
cd "$work" || exit 1
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 12; fi
}
# refused COMMAND-TEXT EXPECTED: every command that reads a workflow says so, before anything runs
refused() {
    printf 'weft: 1\nparameters: { sigma: 3 }\ntasks:\n  first: { run: "touch ran" }\n  t:\n    in: [x, y]\n    out: z\n    run: |\n      true\n      %s > {out}\n' "$1" >f.yaml
    touch x y
    rm -f ran z
    for command in run show plan; do
        "$weft" $command f.yaml >out 2>err
        [ $? = 2 ] && grep -qF "f.yaml:10: task 't': its command names $2" err && [ ! -e ran ]
        ok $? "weft $command: $1"
    done
}
refused 'echo {sigmma}' '{sigmma}, which is neither a parameter nor built in; did you mean {sigma}? Write {{sigmma}}'
refused 'cat {input}' '{input}, which is neither a parameter nor built in; did you mean {in}?'
refused 'cat {in[3]}' '{in[3]}, but it has 2 inputs, {in[0]} to {in[1]}'
refused 'cat {in[-1]}' '{in[-1]}'
refused "awk '{print}' {in}" '{print}'

# what stands for itself, and what is built in
cat >g.yaml <<'EOF'
weft: 1
parameters: { n: 2 }
defaults: { kind: some kind }
tasks:
  awk: { run: "awk '{{print}} {s += $1} END {print s}' {in} > {out}", in: x, out: awk.out }
  shell: { run: "v=${HOME:+home}; w=${v}; echo ${w} a{1,2} `echo abbb | grep -cE 'b{3}'` > {out}", out: shell.out }
  'the task':
    run: "echo {task} {kind} {cores} {memory} {attempt} {n} > {out}; test {attempt} = 2"
    out: words.out
    cores: 1
    memory: [10M, 20M]
    retries: 1
EOF
printf '1\n2\n' >x
"$weft" run g.yaml --retry-delay 0.01 >out 2>err
ok $? "braces of commands and built-in words"
[ "$(cat awk.out)" = "$(printf '1\n2\n3')" ] && [ "$(cat shell.out)" = "home a{1,2} 1" -o "$(cat shell.out)" = "home a1 a2 1" ]
ok $? "awk's and the shell's own braces"
[ "$(cat words.out)" = "the task some kind 1 10000000 2 2" ]
ok $? "task, kind, cores, memory, attempt"
"$weft" run g.yaml >out 2>err && grep -q 'nothing to do' out
ok $? "the attempt is no part of the key"
sed -i 's/cores: 1/cores: 2/' g.yaml
"$weft" run g.yaml -n -j 2 >out 2>err && grep -q 'would run 1 of 3' out
ok $? "the cores are, where the command names them"

# quotes around names, variables of the shell
cat >q.yaml <<'EOF'
weft: 1
tasks:
  a: { run: "cat \"{in}\" > {out}", in: two words, out: a }
  b: { run: "cat ${in} > {out}", in: x, out: b }
  c: { run: "cat \"{in}\" > {out}", in: x, out: c }
EOF
"$weft" show q.yaml >out 2>err
grep -q "task 'a': quotes around {in}: names are quoted already" err && grep -q "task 'b': \${in} is a variable of the shell" err
ok $? "remarks on quoted names and on \${in}"
! grep -q "task 'c'" out err
ok $? "and none where they do no harm"

# commands of other formats stand for themselves, also when converted
cat >m.makeflow <<'EOF'
z: x
	awk '{print} {s += $1} END {print "{in}", s, "${in}"}' x > z
EOF
"$weft" run m.makeflow >out 2>err && [ "$(cat z)" = "$(printf '1\n2\n{in} 3 ${in}')" ]
ok $? "a Makeflow rule with braces"
"$weft" convert m.makeflow m.yaml >out 2>err && rm z && "$weft" run m.yaml --force >out 2>err && [ "$(cat z)" = "$(printf '1\n2\n{in} 3 ${in}')" ]
ok $? "the same as native YAML"
cat >d.dag <<'EOF'
JOB A {
  executable = /bin/sh
  arguments = "-c 'echo {in} {{x}} {print} > d.out'"
}
EOF
"$weft" run d.dag >out 2>err && [ "$(cat d.out)" = "{in} {{x}} {print}" ]
ok $? "a DAGMan node with braces"
for to in d.yaml d.json d2.dag; do
    rm -f d.out
    "$weft" convert d.dag $to >out 2>err && "$weft" run $to --force >out 2>err && [ "$(cat d.out)" = "{in} {{x}} {print}" ]
    ok $? "and as $to"
done
printf 'weft: 1\nparameters: { n: 5 }\ntasks:\n  t: { run: "echo {n} {in} {{in}} > {out}", in: x, out: t.out }\n' >t.yaml
"$weft" convert t.yaml t.json >out 2>err && grep -q 'echo 5 x {in} > t.out' t.json && "$weft" convert t.json back.yaml >out 2>err && grep -qF 'echo {n} {in} {{in}} > {out}' back.yaml
ok $? "WfFormat has the command filled in for others, and the template for us"
"$weft" convert t.yaml t.dag >out 2>err && grep -q 'echo 5 x {in} > t.out' t.dag && grep -q 'commands of 1 task' err
ok $? "DAGMan has it filled in, with a word about it"

# an alternative of an experiment
printf 'weft: 1\nexperiment: e\nworkflow: t.yaml\nsubstitute:\n  s:\n    task: t\n    by:\n      one: { run: "echo {m} > {out}" }\n' >e.yaml
"$weft" experiment e.yaml >out 2>err
[ $? = 2 ] && grep -q "e.yaml:8: task 't': its command names {m}" err
ok $? "an unknown word in an alternative"
echo "1..$count"
exit $failed
