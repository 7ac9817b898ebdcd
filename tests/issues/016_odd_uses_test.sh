#!/usr/bin/env bash
# The language used in odd ways: slips in words, targets that never come or are spelled in full, folders that
# were made by several runs. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
place() { # a folder of its own
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
}
weft() { "$weft" "$@" >"$work/out" 2>"$work/err"; }
says() { # status text what: the workflow on standard input is run, and that is said
    cat >flow.yaml
    weft run flow.yaml
    [ $? = "$1" ] && grep -qF -- "$2" "$work/err"
    ok $? "$3"
}

# ---- slips in words ----
place words
mkdir texts && echo a >texts/a.txt
says 2 "did you mean {sigma}?" "a slip in a command finds the variable" <<'E'
weft: 1
lists: { sigma: [1, 2] }
tasks: { x: { each: sigma, run: "echo {sigmo} > {out}", out: "o{sigma}" } }
E
says 2 "'{sigmo}G': {sigmo} is no variable and no parameter; did you mean {sigma}? Write {{sigmo}}" "one in a setting is shown as it is written" <<'E'
weft: 1
lists: { sigma: [1, 2] }
tasks: { x: { each: sigma, memory: "{sigmo}G", run: "echo > {out}", out: "o{sigma}" } }
E
says 2 "task 'x@a=q': memory is 'qG' ('{a}G'); expected a size" "a wrong value is told with what the variable stands for" <<'E'
weft: 1
lists: { a: [1, q] }
tasks: { x: { each: a, memory: "{a}G", run: "echo > {out}", out: "o{a}" } }
E
says 2 "did you mean 'texts/a.txt'?" "a slip in the name of a folder" <<'E'
weft: 1
tasks: { x: { run: "cat {in} > {out}", in: text/a.txt, out: o } }
E
says 2 "looked in ." "a task is not asked whether it meant its own output" <<'E'
weft: 1
tasks: { x: { run: "cat {in} > {out}", in: data/far.txt, out: date/far.txt } }
E
! grep -q "did you mean" "$work/err"
ok $? "which it cannot wait for"
says 2 'no file is like parts/{c} in .; if a task makes them, say which: `after: TASK`' "files that a task is to make first" <<'E'
weft: 1
lists: { c: { files: "parts/{c}" } }
tasks:
  split: { run: "mkdir {out}; echo > {out}/a", out: parts }
  x: { each: c, run: "cat {in} > {out}", in: "parts/{c}", out: "o/{c}" }
E
says 3 "of those a task gets whole ones, or a part of one; round its" "one and a half of what has ids cannot be had" <<'E'
weft: 1
tasks: { x: { run: "echo > {out}", out: o, resources: { gpu: 1.5 } } }
E
cat >flow.yaml <<'E'
weft: 1
tasks: { x: { run: "echo $TOKEN > {out}", out: o, env: { TOKEN: a }, secret: TOKEN } }
E
weft lint flow.yaml
[ $? = 1 ] && grep -qF 'TOKEN stands in `env` and in `secret`: the secret holds' "$work/out"
ok $? "a variable that is set and secret is remarked"

# ---- a list that is read later: what is not known is not suspicious, and targets must come ----
place chunks
cat >flow.yaml <<'E'
weft: 1
name: chunks
parameters: { n: 200 }
lists: { chunk: { files: "parts/{chunk}", after: split } }
tasks:
  split: { run: "mkdir -p {out}; seq {n} | split -l 77 - {out}/chunk_", out: parts }
  train: { each: chunk, run: "awk '{s+=$1} END {print s}' {in} > {out}", in: "parts/{chunk}", out: "models/{chunk}" }
  pick: { run: "sort -n {in} | tail -1 > {out}", in: "models/{chunk}", out: best.txt }
E
weft lint flow.yaml
ok $? "weft lint finds nothing in it"
weft run flow.yaml train@chunk=nope
[ $? = 2 ] && grep -qF "'train@chunk=nope' is no task, no family and no file that a task makes" "$work/err"
ok $? "a member that never comes is an error, once the list is read"
weft run flow.yaml models/nope
[ $? = 2 ] && grep -qF "'models/nope' is no task" "$work/err"
ok $? "a file of one as well, also when nothing has to run"
weft run flow.yaml "$work/chunks/best.txt" && [ "$(cat best.txt)" = 8932 ]
ok $? "a target by its whole name is that file"
weft run flow.yaml -p n=300 && weft run flow.yaml -p chunk=chunk_aa && [ ! -e parts.before-weft ] && ! grep -q "weft did not make it" "$work/err"
ok $? "a folder that two runs made is weft's own, whatever the next reads of it"

place whole
cat >flow.yaml <<'E'
weft: 1
tasks: { a: { run: "echo 1 > {out}", out: d/a }, b: { run: "cat {in} > {out}", in: d/a, out: b } }
E
weft run "$work/whole/../whole/flow.yaml" "$work/whole/./d//a" && [ -e d/a ] && [ ! -e b ]
ok $? "a target by its whole name, however it is spelled"
weft run flow.yaml -n --since "$work/whole/d/a" && grep -q "would run 1 of 2" "$work/out"
ok $? "and with --since"

# ---- a temporary file that somebody asks for ----
place temporary
cat >flow.yaml <<'E'
weft: 1
lists: { r: { rows: [{ s: a, l: 1 }, { s: a, l: 2 }] } }
tasks:
  make: { each: r, run: "echo {s}{l} > {out}", out: { name: "soft/{s}{l}", temporary: true } }
  use: { run: "cat {in} > {out}", in: "soft/{s}{l}", out: all }
E
weft run flow.yaml && [ ! -e soft/a1 ] && weft run flow.yaml soft/a1 && [ "$(cat soft/a1)" = a1 ] && [ ! -e soft/a2 ]
ok $? "a temporary file that is a target is made, and stays"
weft run flow.yaml soft/a1 && grep -q "nothing to do" "$work/out" && weft run flow.yaml && grep -q "nothing to do" "$work/out"
ok $? "then there is nothing to do, neither for it nor for the rest"
weft run flow.yaml --until make && [ -e soft/a1 ] && [ -e soft/a2 ]
ok $? "those of a family as well"
weft run flow.yaml -p s=a
[ $? = 2 ] && grep -qF "it is a variable of the list 'r', whose variables go together" "$work/err"
ok $? "a column cannot be given by itself"

# ---- words of counts, names and options ----
place small
cat >flow.yaml <<'E'
weft: 1
lists: { l: [1] }
tasks: { a: { each: l, work: 0, run: "echo > {out}", out: "o{l}" } }
E
: >"$work/said"
tell() { "$weft" "$@" >>"$work/said" 2>&1; }
tell show flow.yaml; tell show flow.yaml --by kind; tell lint flow.yaml; tell plan flow.yaml --on 1; tell plan flow.yaml --on 1 --with auto; tell compare flow.yaml --on 1
tell plan flow.yaml --on 1 --with auto --json; tell sim flow.yaml --on 1; tell sim flow.yaml --schedulers 1; tell bound flow.yaml --on 1; tell order flow.yaml
tell run flow.yaml -n; tell run flow.yaml; tell run flow.yaml; tell predict flow.yaml; tell history; tell platform 1; tell clean flow.yaml
cat >experiment.yaml <<'E'
weft: 1
workflow: plain.yaml
substitute: { p: { parameter: p, by: [1] } }
E
cat >plain.yaml <<'E'
weft: 1
parameters: { p: 1 }
tasks: { a: { run: "echo {p} > {out}", out: o } }
E
tell experiment experiment.yaml --plan-only --on 1; tell experiment experiment.yaml
cp "$work/said" "$work/out"
! grep -E '(^|[^0-9.,:])1 ([a-z]+ )?(tasks|nodes|files|runs|members|rows|parts|values|edges|rounds|combinations|substitutions|attempts|lines|agents|cores|objects|inputs|outputs|jobs|columns|items|transfers|events|levels|schedulers|kinds|entries|copies)\b' "$work/said" >"$work/err"
ok $? "one of a thing is not called by its plural, whatever command counts it"
! grep -E -- '(^|[ :])-0($|[ ,}])' "$work/said" >"$work/err"
ok $? "nothing is -0"
weft run flow.yaml -p l=3,4,3
[ $? = 2 ] && grep -qF "weft: -p l=3,4,3: the value '3' stands twice" "$work/err"
ok $? "a value twice in -p is told of -p, not of a line of the file"
weft run flow.yaml -p l=3,,4
[ $? = 2 ] && grep -qF "weft: -p l=3,,4: a value is empty" "$work/err"
ok $? "and so is an empty one"
weft run flow.yaml && weft run flow.yaml --why "$work/small/../small/o1" && grep -q '^a@l=1 does not run' "$work/out"
ok $? "--why takes a file by its whole name"
weft run flow.yaml --why ./o1 && grep -q '^a@l=1 does not run' "$work/out"
ok $? "and by one that begins with a dot"

# ---- {in.list} without a sandbox ----
place "a folder of lists"
mkdir in && for i in $(seq 300); do echo "$i" >"in/$i"; done
cat >flow.yaml <<'Y'
weft: 1
lists: { n: { from: 1, to: 300 }, k: [1, 2, 3] }
tasks:
  all: { each: k, sandbox: false, run: "xargs cat < {in.some.list} > {out}; wc -l < {in.list} >> {out}; dirname {in.list} > where{k}; sleep 0.1", in: { some: "in/{n}", one: in/7 }, out: "all{k}" }
Y
weft run flow.yaml -j3 && [ "$(head -n 300 all2 | sort -n | tail -n 1)" = 300 ] && [ "$(tail -n 1 all3)" = 301 ]
ok $? "a task without a sandbox finds what {in.list} names, in a folder whose name has blanks"
[ "$(cat where1 where2 where3 | sort -u | wc -l)" = 3 ] && ! ls -d "$(cat where1)" 2>/dev/null && [ -z "$(find . -name '.weft-list-*')" ]
ok $? "each at once in a place of its own, and nothing is left"
rm -f all? && sed -i 's/sandbox: false, //' flow.yaml
weft run flow.yaml -j3 --no-sandbox && [ "$(wc -l <all1)" = 301 ]
ok $? "nor does --no-sandbox take it away"
sed -i 's/sleep 0.1/exit 3/' flow.yaml
! weft run flow.yaml --no-sandbox && [ -z "$(find . -name '.weft-list-*')" ]
ok $? "and a failure leaves none"
echo "1..$count"
exit $failed
