#!/usr/bin/env bash
# Issue 16, read once more sentence by sentence, as somebody who writes a workflow does: parameters stand in lists, files of a list are
# sorted by what stands for the variable, and slips that were told without place, cause or remedy have them. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
tasks() { "$weft" show b.yaml --tasks "$@" 2>"$work/err" | sed -n 's/^\(x@[^ ]*\) .*/\1/p' | tr '\n' ' ' >"$work/out"; }
file() { printf 'weft: 1\n%b\n' "$1" >b.yaml; }
mistake() { # status message file arguments...
    local want=$1 text=$2
    file "$3"
    shift 3
    run b.yaml "$@"
    [ $? = "$want" ] && grep -qF -- "$text" "$work/out" "$work/err"
    ok $? "$text"
}

# ---- parameters in lists ----
mkdir texts other && touch texts/a.txt texts/b.txt other/c.txt && printf 'one\ntwo\n' >names.txt && printf 'k,v\n1,x\n' >t.csv
x='tasks: { x: { each: l, run: "echo {l}" } }'
file 'parameters: { n: 3 }\nlists: { l: { from: 1, to: "{n}" } }\n'"$x"
tasks && [ "$(cat "$work/out")" = "x@l=1 x@l=2 x@l=3 " ] && tasks -p n=2 && [ "$(cat "$work/out")" = "x@l=1 x@l=2 " ]
ok $? "a range ends at a parameter"
file 'parameters: { step: 0.5 }\nlists: { l: { from: 1, to: 2, step: "{step}" } }\n'"$x"
tasks && [ "$(cat "$work/out")" = "x@l=1.0 x@l=1.5 x@l=2.0 " ]
ok $? "its step has the parameter's decimals"
file 'parameters: { f: names.txt }\nlists: { l: { lines: "{f}" } }\n'"$x"
tasks && [ "$(cat "$work/out")" = "x@l=one x@l=two " ]
ok $? "lines of a file that a parameter names"
file 'parameters: { f: t }\nlists: { l: { table: "{f}.csv" } }\ntasks: { x: { each: l, run: "echo {v}" } }'
tasks && [ "$(cat "$work/out")" = "x@k=1 " ]
ok $? "a table"
file 'parameters: { d: texts }\nlists: { l: { files: "{d}/{l}.txt" } }\n'"$x"
tasks && [ "$(cat "$work/out")" = "x@l=a x@l=b " ] && tasks -p d=other && [ "$(cat "$work/out")" = "x@l=c " ]
ok $? "a pattern: parameters are filled in, variables are found"
file 'parameters: { n: 3 }\nlists: { l: ["v{n}", "{z}", "{{n}}"], r: { rows: [{ q: "{n}", w: 1 }] } }\ntasks: { x: { each: l, run: "echo {l}" }, y: { each: q, run: "echo" } }'
tasks && [ "$(cat "$work/out")" = "x@l=v3 x@l={z} x@l={{n}} " ] && "$weft" show b.yaml --tasks | grep -q '^y@q=3 '
ok $? "values; other braces are theirs"
file 'parameters: { d: parts }\nlists: { l: { files: "{d}/{l}", after: split } }\ntasks:\n  split: { run: "mkdir {out}; touch {out}/1 {out}/2", out: "{d}" }\n  x: { each: l, run: "echo {l} > {out}", in: "{d}/{l}", out: "made/{l}" }\n  all: { run: "cat {in} > {out}", in: "made/{l}", out: all.txt }'
run b.yaml -p d=cut && [ "$(tr '\n' ' ' <all.txt)" = "1 2 " ] && run b.yaml -p d=cut && grep -q "nothing to do: 4 tasks" "$work/out"
ok $? "a list that is read while it runs"
"$weft" lint b.yaml >"$work/out" 2>"$work/err"
ok $? "a parameter that only lists name is used"
cat >flow.yaml <<'E'
weft: 1
parameters: { n: 2 }
lists: { l: { from: 1, to: "{n}" } }
tasks: { x: { each: l, run: "echo {l} > {out}", out: "x/{l}" }, sum: { run: "cat {in} > {out}", in: "x/{l}", out: sum.txt } }
E
printf 'weft: 1\nworkflow: flow.yaml\nsubstitute: { n: { parameter: n, by: [1, 3] } }\n' >exp.yaml
"$weft" experiment exp.yaml --plan-only --on 2 --json >"$work/out" 2>"$work/err" && grep -Eq '"tasks": *5\b' "$work/out"
ok $? "an experiment over it: another graph for each value, what is the same once"
mistake 2 "b.yaml:3: to is '3x' ('{n}'); expected a finite number" 'parameters: { n: 3x }\nlists: { l: { from: 1, to: "{n}" } }\n'"$x"
mistake 2 "b.yaml:3: list 'l': no file is like nowhere/{l}.txt" 'parameters: { d: nowhere }\nlists: { l: { files: "{d}/{l}.txt" } }\n'"$x"

# ---- sorted ----
mkdir s s/a s/a-b && touch s/a.x s/a-b.x s/a1.x s/a/1.y s/a-b/0.y
file 'lists: { l: { files: "s/{l}.x" } }\n'"$x"
tasks && [ "$(cat "$work/out")" = "x@l=a x@l=a-b x@l=a1 " ]
ok $? "files are sorted by what stands for the variable, not by what follows it"
file 'lists: { l: { files: "s/{p}/{q}.y" } }\n'"$x"
sed -i 's/echo {l}/echo {p}/' b.yaml && "$weft" show b.yaml --tasks >"$work/out" 2>"$work/err" && [ "$(grep -o '^x@[^ ]*' "$work/out" | tr '\n' ' ')" = "x@p=a x@p=a-b " ]
ok $? "rows of several variables as well"

# ---- a growth that repeats a name: place, cause, remedy ----
mistake 2 "b.yaml:6: task 't@c=a': a task of this name is in the run already (line 5); one of the two needs another name" \
    'lists: { c: { lines: c.txt, after: split } }\ntasks:\n  split: { run: "echo a > {out}", out: c.txt }\n  "t@c=a": { run: "true" }\n  t: { each: c, run: "true" }'
printf 'weft: 1\ntasks:\n  a: { run: ls }\n' >source.yaml
mistake 2 "b.yaml:5: task 'm/a': a task of this name is in the run already; one of the two needs another name" \
    'tasks:\n  s: { run: "cp {in} {out}", in: source.yaml, out: more.yaml }\n  m: { tasks: more.yaml, after: s }\n  "m/a": { run: "true" }'

# ---- slips ----
mistake 2 "did you mean 'count'?" 'lists: { l: [1, 2] }\ntasks: { count: { each: l, run: "echo {l}" } }' --force cuont
mistake 2 "b.yaml:3: task 'b': after names 'cuont', which is not a task; did you mean 'count'?" 'lists: { l: [1, 2] }\ntasks: { count: { each: l, run: "echo {l}" }, b: { run: ls, after: cuont } }'
mistake 2 "the key 'tasks' is missing; expected a workflow; did you mean it by 'taks'?" 'taks: { a: { run: ls } }'
mistake 1 "there is no program 'nosuchshell' in PATH" 'tasks: { a: { run: "x y", shell: nosuchshell } }'
printf 'options: { run: { jobs: x } }\n' >site.yaml
mistake 2 "weft: site.yaml:1: --jobs is 'x'; expected a whole number" 'tasks: { a: { run: ls } }' --profile site.yaml
mistake 2 "weft: --jobs is 'y'; expected a whole number" 'tasks: { a: { run: ls } }' --profile site.yaml --jobs y

# ---- keys of other tools, and ours where they are none ----
mistake 2 "b.yaml:2: task 'a': unknown key 'output'; did you mean 'out'?" 'tasks: { a: { run: ls, output: x } }'
mistake 2 "b.yaml:2: task 'a': unknown key 'input'; did you mean 'in'?" 'tasks: { a: { input: x } }'
mistake 2 "b.yaml:2: task 'a': unknown key 'threads'; did you mean 'cores'?" 'tasks: { a: { run: ls, threads: 2 } }'
mistake 2 "b.yaml:2: task 'a': unknown key 'cmd'; did you mean 'run'?" 'tasks: { a: { cmd: ls } }'
mistake 2 "b.yaml:1: the key 'tasks' is missing; expected a workflow; did you mean it by 'rules'?" 'rules: { a: { run: ls } }'
mistake 2 "task 'a': unknown key 'optional' here; it is said of an input: in: [{ name: FILE, optional: true }]" 'tasks: { a: { run: ls, optional: true } }'
mistake 2 "task 'a': unknown key 'hooks' here; it is the workflow's, and stands beside \`tasks\`" 'tasks: { a: { run: ls, hooks: { done: x } } }'
mistake 2 "b.yaml:1: the key 'tasks' is missing; expected a workflow, as in tasks: { NAME: { run: COMMAND } }" 'run: ls'
mistake 2 "b.yaml:3: unknown key 'run' here; a task has it: tasks: { NAME: { run: COMMAND } }" 'tasks: { a: { run: ls } }\nrun: ls'
mistake 2 "b.yaml:2: task 'a': its description is 'echo hi'; expected a mapping (key: value): write a: { run: COMMAND }" 'tasks: { a: echo hi }'

echo "1..$count"
exit $failed
