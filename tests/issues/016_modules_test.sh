#!/usr/bin/env bash
# Workflows are made of files: `include` and tasks with `flow`. Names of tasks and files, values, what is
# refused, and that agents and converters get an ordinary graph. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir -p "$work/p/lib" "$work/p/reads" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
names() { "$weft" show "$@" --tasks 2>"$work/err" | sed '1,/──/d' | awk '{print $1}' | sort | tr '\n' ' '; }
refused() { # file text: what `weft show` says, exit 2
    "$weft" show "$1" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -qF -- "$2" "$work/err"
}

# ---- a file that includes one and has a sub-workflow under `each` ----
for s in a b; do echo "read $s" >reads/$s.fq; done
echo ref >ref.fa
cat >main.yaml <<'E'
weft: 1
parameters: { depth: 3 }
lists: { s: { files: "reads/{s}.fq" } }
include: { qc: { file: lib/qc.yaml, with: { n: "{depth}" }, as: { raw.txt: all.txt } } }
tasks:
  align:
    each: s
    flow: lib/align.yaml
    with: { label: "{s}" }
    in: { reads.fq: "reads/{s}.fq", ref.fa: ref.fa }
    out: { sorted.bam: "bam/{s}.bam" }
  merge: { run: "cat {in} > {out}", in: "bam/{s}.bam", out: all.txt }
  final: { run: "cat {in} > {out}", in: lib/report.txt, out: final.txt, after: [align, qc] }
E
cat >lib/align.yaml <<'E'
weft: 1
parameters: { label: none }
tasks:
  map: { run: "sh {in[2]} {in[0]} {in[1]} > {out}; echo {label} >> {out}", in: [reads.fq, ref.fa, tool.sh], out: tmp.sam }
  sort: { run: "sort {in} > {out}", in: tmp.sam, out: sorted.bam }
E
echo 'cat $1 $2' >lib/tool.sh
cat >lib/qc.yaml <<'E'
weft: 1
name: a title of its own
parameters: { n: 1 }
lists: { k: [1, 2] }
tasks:
  count: { each: k, run: "wc -l < {in} > {out}; echo {n} {k} >> {out}", in: raw.txt, out: "c/{k}.txt" }
  report: { run: "cat {in} > {out}", in: "c/{k}.txt", out: report.txt, after: count }
E
[ "$(names main.yaml)" = "align@s=a/map align@s=a/sort align@s=b/map align@s=b/sort final merge qc/count@k=1 qc/count@k=2 qc/report " ]
ok $? "tasks of modules have the module's name before theirs"
run main.yaml && [ "$(tr '\n' ' ' <final.txt)" = "6 3 1 6 3 2 " ]
ok $? "it runs: names that are mapped meet, a parameter of the includer is the module's"
[ "$(tr '\n' ' ' <bam/b.bam)" = "b read b ref " ] && [ -f align@s=a/tmp.sam ] && [ -f align@s=b/tmp.sam ] && [ ! -e lib/tmp.sam ]
ok $? "what instances make lies in folders of their own"
[ -f lib/c/1.txt ] && [ -f lib/report.txt ]
ok $? "what an included file makes lies beside it"
run main.yaml && grep -q 'nothing to do' "$work/out"
ok $? "and nothing is left to do"
run main.yaml -p qc/n=8 && [ "$(tr '\n' ' ' <final.txt)" = "6 8 1 6 8 2 " ]
ok $? "-p qc/n is the module's, before what the includer says"
printf 'qc/n: 9\nqc/k: [5]\n' >params.yaml
run main.yaml --params params.yaml && [ "$(tr '\n' ' ' <final.txt)" = "6 9 5 " ]
ok $? "--params, too, lists as well"
run main.yaml -p align/label=x && grep -q '^x' bam/a.bam && grep -q '^x' bam/b.bam
ok $? "-p of a sub-workflow is that of all its instances"
"$weft" show main.yaml -p qc/m=1 >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -qF "did you mean 'qc/n'?" "$work/err"
ok $? "an unknown one is an error with a suggestion"
"$weft" convert main.yaml whole.yaml 2>"$work/err" && ! grep -q 'flow:\|include:' whole.yaml && run whole.yaml --force && [ "$(tr '\n' ' ' <final.txt)" = "6 3 1 6 3 2 " ]
ok $? "what is written out has no modules and computes the same"
mkdir "$work/data" && cp -r reads ref.fa "$work/data" && mkdir "$work/data/lib" && cp lib/tool.sh "$work/data/lib" && run main.yaml -C "$work/data" && [ -f "$work/data/final.txt" ] && [ -f "$work/data/lib/report.txt" ]
ok $? "-C: files stand there, modules beside the file that names them"
"$weft" show main.yaml --tasks 2>/dev/null | grep -q '^align@s=a/sort *align/sort ' && "$weft" show main.yaml --tasks 2>/dev/null | grep -q '^qc/count@k=1 *qc/count '
ok $? "a kind is known by the module"
"$weft" plan main.yaml >"$work/out" 2>"$work/err" && "$weft" sim main.yaml >"$work/out" 2>"$work/err"
ok $? "it is planned and simulated"

"$weft" show main.yaml --by module >"$work/out" 2>"$work/err" && [ "$(sed '1,/^module/d' "$work/out" | awk 'NF && !/─/ {print $1, $2, $3}' | tr '\n' ';')" = "align 4 0;merge 1 0;qc 3 0;final 1 0;from to edges;align align 2;align merge 2;align final 4;merge qc 2;qc qc 2;qc final 3;" ]
ok $? "--by module: a module, and all instances of a sub-workflow, are one"
"$weft" show main.yaml --by module --svg box.svg >"$work/out" 2>"$work/err" && [ "$(grep -c '<g><title>' box.svg)" = 4 ]
ok $? "and one box"
"$weft" show main.yaml --by modul >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q "expected kind or module" "$work/err"
ok $? "--by of something else is an error"

# ---- targets ----
rm -rf bam align@s=* .weft && run main.yaml align@s=a && [ -f bam/a.bam ] && [ ! -e bam/b.bam ]
ok $? "an instance of a sub-workflow is a target"
run main.yaml align && [ -f bam/b.bam ]
ok $? "and so is the whole family of them"
rm -rf lib/c lib/report.txt && run main.yaml qc && [ -f lib/report.txt ]
ok $? "and a module"

# ---- values: lists, words with blanks, quoting ----
cat >lists.yaml <<'E'
weft: 1
lists: { row: { table: t.tsv }, word: [x, "y,z"] }
tasks:
  one:
    each: name
    flow: lib/say.yaml
    with: { what: "{name}", words: "{word}" }
    out: { said.txt: "said/{name}.txt" }
E
printf 'name\nit is\n$(touch oops)\n"a;b"\n' >t.tsv
cat >lib/say.yaml <<'E'
weft: 1
parameters: { what: nothing }
lists: { words: [none] }
tasks:
  part: { each: words, run: "echo {what} '{words}' > {out}", out: "part/{words}" }
  all: { run: "cat {in} > {out}", in: "part/{words}", out: said.txt }
E
run lists.yaml && [ "$(cat 'said/it is.txt')" = "it is x
it is y,z" ] && [ -f 'said/$(touch oops).txt' ] && [ ! -e oops ] && grep -qF 'a;b x' 'said/a;b.txt'
ok $? "a list is given whole; values from outside are one word each; commas stay"
[ "$(names lists.yaml -p one/words=q)" = 'one@name=$(touch one@name=$(touch one@name=a;b/all one@name=a;b/part@words=q one@name=it one@name=it ' ]
ok $? "-p replaces a list of a sub-workflow"

# ---- modules in modules; both files may be read by themselves ----
cat >outer.yaml <<'E'
weft: 1
include: { mid: lib/mid.yaml }
tasks:
  top: { run: "cat {in} > {out}", in: lib/mid.txt, out: top.txt, after: [mid, mid/in/count, mid/say] }
E
cat >lib/mid.yaml <<'E'
weft: 1
include: { in: { file: qc.yaml, as: { raw.txt: start.txt } } }
tasks:
  start: { run: "echo start > {out}", out: start.txt }
  say: { flow: say.yaml, with: { what: hello, words: [v] }, out: { said.txt: mid.txt }, after: in }
E
[ "$(names outer.yaml)" = "mid/in/count@k=1 mid/in/count@k=2 mid/in/report mid/say/all mid/say/part@words=v mid/start top " ]
ok $? "prefixes nest"
run outer.yaml && [ "$(cat top.txt)" = "hello v" ] && [ -f lib/say/part/v ] && [ -f lib/start.txt ]
ok $? "and so do folders"
run outer.yaml -p mid/in/n=4 && grep -q '^4 1' lib/c/1.txt
ok $? "and parameters"
"$weft" show lib/mid.yaml >/dev/null 2>"$work/err"
ok $? "a module is a workflow by itself"
printf 'weft: 1\ninclude: { m: lib/say.yaml }\n' >only.yaml
[ "$(names only.yaml)" = "m/all m/part@words=none " ]
ok $? "a file may have nothing but modules"

# ---- except, and gathering through modules ----
cat >except.yaml <<'E'
weft: 1
lists: { a: [1, 2], b: [x, y] }
include: { m: { file: lib/grid.yaml, with: { a: "{a}" } } }
tasks:
  run: { each: [a, b], except: [{ a: 2, b: y }], flow: lib/say.yaml, with: { what: "{a}{b}" }, out: { said.txt: "out/{a}{b}" } }
  all: { run: "cat {in} > {out}", in: ["out/{a}{b}", "lib/g/{a}"], out: all }
E
printf 'weft: 1\nlists: { a: [9] }\ntasks:\n  g: { each: a, except: [{ a: 1 }], run: "echo g{a} > {out}", out: { file: "g/{a}" } }\n' >lib/grid.yaml
run except.yaml && [ "$(tr '\n' ' ' <all)" = "1x none 1y none 2x none g2 " ]
ok $? "what a module's family, or a family of sub-workflows, leaves out is not gathered"
cat >need.yaml <<'E'
weft: 1
include: { m: lib/grid.yaml }
tasks: { t: { run: "cat {in}", in: lib/g/1 } }
E
refused need.yaml "lib/grid.yaml:4: task 'm/g': except names {a} '1', which it never is"
ok $? "an error in a module has the module's file and line"

# ---- folders ----
cat >folder.yaml <<'E'
weft: 1
tasks:
  f: { flow: lib/folder.yaml, out: { sum: total.txt, keep: kept } }
  g: { run: "ls {in} > {out}", in: kept, out: listed }
E
cat >lib/folder.yaml <<'E'
weft: 1
tasks:
  a: { run: "echo 1 > {out}", out: parts/a }
  b: { run: "echo 2 > {out}", out: parts/b }
  k: { run: "touch {out}/x {out}/y", out: keep/ }
  s: { run: "cat {in[0]}/* > {out}", in: [parts, keep/x], out: sum }
E
run folder.yaml && [ "$(tr '\n' ' ' <total.txt)" = "1 2 " ] && [ "$(tr '\n' ' ' <listed)" = "x y " ] && [ -f f/parts/a ]
ok $? "folders in sub-workflows, mapped and not"

# ---- commands that spell their files out ----
printf 'weft: 1\ntasks: { a: { run: "./tool.sh x > {out}", in: tool.sh, out: made }, b: { run: "cat tool.sh.bak > {out}", in: tool.sh, out: other } }\n' >lib/spell.yaml
printf 'weft: 1\ninclude: { m: lib/spell.yaml }\n' >spell.yaml
"$weft" show spell.yaml >"$work/out" 2>&1 && [ "$(grep -c "spells out 'tool.sh'" "$work/out")" = 1 ] && grep -q "lib/spell.yaml:2: task 'm/a'" "$work/out" && ! "$weft" show lib/spell.yaml 2>&1 | grep -q 'spells out'
ok $? "a remark says so, with the module's place"

# ---- what tasks of modules say of their surroundings ----
printf 'weft: 1\nparameters: { n: 2 }\ntasks: { a: { run: "echo $X > {out}", env: { X: "n={n}" }, conda: env.yml, out: { f: made }, when: "{n} = 2" } }\n' >lib/around.yaml
printf 'weft: 1\ninclude: { m: lib/around.yaml }\n' >around.yaml
"$weft" convert around.yaml whole.yaml 2>"$work/err" && grep -q 'conda: lib/env.yml' whole.yaml && grep -q 'X: n=2' whole.yaml
ok $? "conda's file is the module's, its parameters stand in env and when"

# ---- what is refused ----
cat >r.yaml <<'E'
weft: 1
include: { b: lib/b.yaml }
E
printf 'weft: 1\ntasks:\n  x: { flow: ../r.yaml }\n' >lib/b.yaml
refused r.yaml "the modules contain themselves: r.yaml:2 names ./lib/b.yaml, ./lib/b.yaml:3 names" || refused r.yaml "the modules contain themselves: r.yaml:2 names lib/b.yaml, lib/b.yaml:3 names"
ok $? "a circle of modules, with its places"
ln -s ../r.yaml lib/again.yaml && printf 'weft: 1\ninclude: { x: again.yaml }\n' >lib/b.yaml
refused r.yaml "the modules contain themselves"
ok $? "through a link"
printf 'weft: 1\ninclude: { a: r2.yaml }\n' >r2.yaml
refused r2.yaml "the modules contain themselves: r2.yaml:2 names"
ok $? "a file that includes itself"
for i in $(seq 40); do printf 'weft: 1\ninclude: { d: d%d.yaml }\n' $((i + 1)) >d$i.yaml; done
refused d1.yaml "modules stand more than 32 deep"
ok $? "too deep"
mistake() { # text yaml-of-tasks-and-more
    printf 'weft: 1\nlists: { s: [a, b] }\n%b\n' "$2" >bad.yaml
    refused bad.yaml "$1"
    ok $? "refused: $1"
}
mistake "bad.yaml:3: module 'm': lib/no.yaml: cannot open: No such file" 'include: { m: lib/no.yaml }'
mistake "lib/align.yaml has no parameter and no list 'lable'; did you mean 'label'?" 'include: { m: { file: lib/align.yaml, with: { lable: 1 } } }'
mistake "bad.yaml:3: module 'm': as: no task of lib/align.yaml names a file 'raeds.fq'" 'include: { m: { file: lib/align.yaml, as: { raeds.fq: x } } }'
mistake "bad.yaml:4: task 't': out: no task of lib/align.yaml makes 'bam'" 'tasks:\n  t: { flow: lib/align.yaml, out: bam }'
mistake "bad.yaml:4: task 't': in: 'tmp.sam' is made by a task of lib/align.yaml; it belongs to out" 'tasks:\n  t: { flow: lib/align.yaml, in: tmp.sam }'
mistake "bad.yaml:4: task 't': 'memory' says nothing of a sub-workflow" 'tasks:\n  t: { flow: lib/align.yaml, memory: 2G }'
mistake "bad.yaml:4: task 't': 'run' says nothing of a sub-workflow" 'tasks:\n  t: { flow: lib/align.yaml, run: ls }'
mistake "out: which {s}?" 'tasks:\n  t: { flow: lib/align.yaml, out: { sorted.bam: "{s}" } }'
mistake "'reads.fq' would be several files" 'tasks:\n  t: { flow: lib/align.yaml, in: { reads.fq: "{s}" } }'
mistake "gives the parameter 'label' 2 values" 'tasks:\n  t: { flow: lib/align.yaml, with: { label: "{s}" } }'
mistake "unknown key 'fiel'; did you mean 'file'?" 'include: { m: { fiel: x } }'
mistake "'a/b' cannot be the name of a module" 'include: { a/b: x }'
mistake "'m' is a task and a module" 'include: { m: lib/say.yaml }\ntasks: { m: { run: ls } }'
mistake "after names 'm/nobody', which is not a task" 'include: { m: lib/say.yaml }\ntasks: { t: { run: ls, after: m/nobody } }'
mistake "is made by two tasks, 'm/part@words=none' and 'n/part@words=none'" 'include: { m: lib/say.yaml, n: lib/say.yaml }'
printf 'weft: 1\nhooks: { done: ls }\ntasks: { a: { run: ls } }\n' >lib/hooks.yaml
mistake "lib/hooks.yaml:2: 'hooks' holds for a whole run, and this file is a module of bad.yaml, line 3" 'include: { m: lib/hooks.yaml }'
printf 'weft: 1\nassert: makespan < 3\ntasks: { a: { run: ls } }\n' >lib/hooks.yaml
mistake "lib/hooks.yaml:2: 'assert' holds for a whole run" 'include: { m: lib/hooks.yaml }'
printf 'weft: 1\ntasks: { a: { run: "echo {sigma}" } }\n' >lib/open.yaml
mistake "{sigma} is no variable and no parameter" 'parameters: { sigma: 3 }\ninclude: { m: lib/open.yaml }\ntasks: { b: { run: "echo {sigma}" } }'
printf 'weft: 1\nnodes: { a: {} }\n' >lib/nodes.yaml
mistake "lib/nodes.yaml:" 'include: { m: lib/nodes.yaml }'
printf 'weft: 1\ntasks: { a: { run: ls, in: ../../x } }\n' >lib/up.yaml
mistake "task 'm/a': input '../x' lies above the workflow's folder" 'include: { m: lib/up.yaml }'
mkfifo lib/pipe.yaml
mistake "lib/pipe.yaml" 'include: { m: lib/pipe.yaml }'

echo "1..$count"
exit $failed
