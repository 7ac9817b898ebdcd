#!/usr/bin/env bash
# Issue 16, section 7: words for people. `weft lint` finds each mistake that it has a rule for, with its place and a remedy, and nothing in
# workflows that are right; `weft init` writes a workflow that runs. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
mkdir texts
echo x | tee texts/a.txt texts/b.txt data.txt tool.awk >/dev/null
printf '#!/bin/sh\necho\n' >tool.sh
lint() { # task text...: of a file with a task that makes mid.txt and this one; what lint says is in out, the status is lint's
    printf 'weft: 1\nlists: { s: { files: "texts/{s}.txt" } }\ntasks:\n  mid: { each: s, run: "cp {in} {out}", in: "texts/{s}.txt", out: "mid/{s}" }\n  t:\n' >f.yaml
    printf '    %s\n' "$@" >>f.yaml
    "$weft" lint f.yaml >out 2>err
}
finds() { # rule text-of-it task-lines...
    local rule=$1 text=$2
    shift 2
    lint "$@"
    [ $? = 1 ] && [ "$(wc -l <out)" = 1 ] && grep -qF "$text" out && grep -q "^f.yaml:[45]: task '[a-z@=]*'.* \[$rule\]\$" out && [ ! -s err ]
    ok $? "$rule: $1"
}
clean() {
    lint "$@"
    [ $? = 0 ] && [ ! -s out ] && [ ! -s err ]
    ok $? "nothing: $1"
}

# ---- each rule, and what comes near it and is right ----
finds undeclared "'tool.awk' is here, but not in the task's \`in\`" 'run: awk -f tool.awk {in} > {out}' 'in: data.txt' 'out: z'
finds undeclared "'tool.sh' is here, but not" 'run: ./tool.sh > {out}' 'out: z'
finds undeclared "'data.txt' is here, but not" 'run: sort --reverse --output={out} --files0-from=data.txt' 'out: z'
finds undeclared "names 'mid/a', which 'mid@s=a' makes, but it is not in the task's \`in\`" 'run: cat mid/a > {out}' 'out: z'
clean 'run: awk -f tool.awk {in[1]} > {out}' 'in: [tool.awk, data.txt]' 'out: z'
clean 'run: cat texts/a.txt > {out}' 'in: texts' 'out: z'
clean "run: echo 'data.txt is fine' > {out}" 'out: z'
clean 'run: cat data.txt > {out}' 'out: z' 'sandbox: false'
chmod -x tool.sh
finds executable "'tool.sh' is not executable: chmod +x tool.sh" 'run: ./tool.sh > {out}' 'in: tool.sh' 'out: z'
clean 'run: sh ./tool.sh > {out}' 'in: tool.sh' 'out: z'
finds missing "it reads 'dota.txt', which no task makes and which is not there; looked in ." 'run: cat {in} > {out}' 'in: dota.txt' 'out: z'
grep -q "did you mean 'data.txt'?" out
ok $? "with the name that was meant"
finds quotes 'names are quoted already where it is needed: write {in} without quotes' "run: 'cat \"{in}\" > {out}'" 'in: data.txt' 'out: z'
finds missing "it reads 'tex/*.txt', which no task makes" 'run: cat {in} > {out}' 'in: tex/*.txt' 'out: z'
echo x >'a b.txt'
finds quotes 'write {in} without quotes' "run:" "  cat \"{in}\" > {out}" "in: 'a b.txt'" 'out: z'
finds quotes 'write {out} without quotes' "run: \"cat {in} > '{out}'\"" 'in: data.txt' 'out: z'
clean "run: \"bash -c 'cat \\\"\$0\\\"' {in} > {out}\"" 'in: data.txt' 'out: z'
clean "run: echo \"one {in} two\" > {out}" 'in: data.txt' 'out: z'
finds positional 'the shell fills in $1 here' "run: 'awk \"{print \$1}\" {in} > {out}'" 'in: data.txt' 'out: z'
clean "run: 'awk \"{print \\\$1}\" {in} > {out}'" 'in: data.txt' 'out: z'
clean "run: \"awk '{print \$1}' {in} > {out}\"" 'in: data.txt' 'out: z'
clean 'run: |' '  echo "$(awk '"'{print \$1}'"' {in})" > {out}' 'in: data.txt' 'out: z'
clean "run: 'f() { echo \"\$1\"; }; f x > {out}'" 'out: z'
clean 'run: set -- a b; echo "$1" > {out}' 'out: z'
clean 'run: print("$1 {in}"); open({in[0]!r}) if 0 else open("{out}", "w")' 'in: data.txt' 'out: z' 'shell: python3'
finds lost "ends by writing 'notes.txt', which is not in its \`out\`" 'run: cp {in} {out}; date > notes.txt' 'in: data.txt' 'out: z'
clean 'run: sort {in} > tmp; uniq tmp > {out}' 'in: data.txt' 'out: z'
clean 'run: date > d/x' 'out: d/'
clean 'run: cp {in} {out} 2>/dev/null >&2' 'in: data.txt' 'out: z'
finds folder "goes to '/tmp' and then names its files" 'run: cd /tmp && cat {in} > {out}' 'in: data.txt' 'out: z'
clean 'run: (cd /tmp && ls) > {out}' 'out: z'
finds unread "'z' is temporary, and no task reads it" 'run: date > {out}' 'out: { name: z, temporary: true }'
finds cores "asks for 4 cores, and its command says nothing of them" 'run: sort {in} > {out}' 'cores: 4' 'in: data.txt' 'out: z'
clean 'run: sort --parallel={cores} {in} > {out}' 'cores: 4' 'in: data.txt' 'out: z'
clean 'run: sort --parallel=4 {in} > {out}' 'cores: 4' 'in: data.txt' 'out: z'
clean 'run: sh {in} > {out}' 'cores: 4' 'in: tool.sh' 'out: z'
finds blanks "begins or ends with a blank" 'run: date > {out}' 'out: "z "'
clean 'run: |' '  cat > {out} <<EOF' '  "$1" > notes.txt' '  EOF' 'out: z'

# ---- lists and parameters ----
printf 'weft: 1\nparameters: { sigma: 1, used: 2 }\nlists: { n: [1], m: [2], reads: { files: "texts/{r}.txt" } }\ntasks:\n  t: { each: m, run: "echo {used} > {out}", out: "z{m}" }\n  u: { run: "cat {in} > {out}", in: "texts/{r}.txt", out: y }\n' >f.yaml
"$weft" lint f.yaml >out 2>err
[ $? = 1 ] && [ "$(wc -l <out)" = 2 ] && grep -q "^f.yaml:2: nothing names the parameter {sigma} \[unused\]" out && grep -q "^f.yaml:3: no task names the list 'n'" out
ok $? "a list and a parameter that nothing names"

# ---- families, JSON, options ----
printf 'weft: 1\nlists: { s: { from: 1, to: 1000 } }\ntasks:\n  t: { each: s, run: "cat \\"{in}\\" > {out}", in: data.txt, out: "z{s}" }\n' >f.yaml
"$weft" lint f.yaml >out 2>err
[ "$(cat out)" = "f.yaml:4: task 't@s=1' and 999 more: names are quoted already where it is needed: write {in} without quotes around it [quotes]" ]
ok $? "a family is one finding"
"$weft" lint f.yaml --json >out 2>err
[ $? = 1 ] && python3 -c 'import json; f = json.load(open("out")); assert f["schema"] == "weft-lint/1"; x, = f["findings"]; assert (x["rule"], x["line"], x["task"], x["more"]) == ("quotes", 4, "t@s=1", 999)'
ok $? "as JSON"
"$weft" lint f.yaml -q >out 2>err
[ $? = 1 ] && [ ! -s out ]
ok $? "--quiet: the status alone"
"$weft" lint nothing.yaml >out 2>err
[ $? = 2 ]
ok $? "what cannot be read is 2"

# ---- what is right ----
for flow in "$root"/examples/genomics/genomics.yaml "$root"/examples/monte-carlo/monte-carlo.yaml "$root"/examples/sweep/epidemic.yaml "$root"/examples/edges/edges.yaml "$root"/examples/heft-paper.yaml "$root"/examples/montage-25.dag; do
    "$weft" lint "$flow" >out 2>err
    ok $? "nothing suspicious: ${flow#"$root"/}"
done
cases=${WEFT_SHARED:-$root/../shared}/cases/pipelines
if [ -d "$cases" ]; then
    python3 "$cases/make-data" "$work/data" "$root/examples/genomics"
    for flow in words images matrix variants ridge; do
        "$weft" lint "data/$flow/flow.yaml" >out 2>err
        ok $? "nothing suspicious: the pipeline $flow"
    done
else
    echo "# skipped: the shared pipelines are not here"
fi

# ---- weft init ----
mkdir first && cd first || exit 1
"$weft" init >out 2>err
ok $? "weft init"
"$weft" lint flow.yaml >out 2>err && "$weft" run flow.yaml -q >out 2>err && [ -s total.txt ]
ok $? "what it writes runs at once, and nothing in it is suspicious"
"$weft" run flow.yaml >out 2>err && grep -q "nothing to do" out
ok $? "and is done"
grep -q '^# .*lists' flow.yaml && grep -q '^ *# .*each' flow.yaml && grep -qi '^ *# .*gather' flow.yaml
ok $? "its comments tell of lists, each, and gathering"
"$weft" init >out 2>err
[ $? = 2 ] && grep -q "flow.yaml is here already; .*weft init NAME" err
ok $? "it overwrites nothing"
cp flow.yaml before && "$weft" init >out 2>err
cmp -s flow.yaml before
ok $? "not a byte"
"$weft" init other >out 2>err && [ -f other.yaml ] && grep -q '^name: other' other.yaml && "$weft" run other.yaml -q >out 2>err
ok $? "weft init NAME"
"$weft" init sub/more.yaml >out 2>err
[ $? = 2 ] && grep -q "sub" err
ok $? "a folder that is not there"
"$weft" init 'a: b' >out 2>err && "$weft" show 'a: b.yaml' >out 2>err && grep -q '^a: b (native)' out
ok $? "a name that YAML would misread"
cd ..

# ---- the messages of a run ----
printf 'weft: 1\ntasks:\n  t: { run: "cat {in} > {out}", in: "texts/{a,b}.txt", out: z }\n' >f.yaml
"$weft" run f.yaml >out 2>err
[ $? = 2 ] && grep -qF 'names are literal: a `{` stands for itself; lists of files are made with `lists:`' err
ok $? "braces of a shell in a name"
printf 'weft: 1\ntasks:\n  t: { run: "sh tool.sh > {out}", out: z }\n' >f.yaml
"$weft" run f.yaml >out 2>err
[ $? = 1 ] && grep -qF "'tool.sh' is here, but not in the task's \`in\`" out err
ok $? "a script that is not declared"
cp data.txt 'two words'
printf 'weft: 1\ntasks:\n  t: { run: "cat \\"{in}\\" > {out}", in: "two words", out: z }\n' >f.yaml
"$weft" run f.yaml >out 2>err
[ $? = 1 ] && grep -qF "names are quoted already" out err
ok $? "quotes around {in}"

echo "1..$count"
exit $failed
