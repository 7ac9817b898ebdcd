#!/usr/bin/env bash
# Makeflow's JX was refused ("needs an evaluator"). It is read, run, given parameters; what it could do
# without end is bounded. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
refused() { # file text: what `weft show` says, exit 2
    "$weft" show "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ]
}

cat >flow.jx <<'E'
# a range, a join, a template, a category
{
  "define": { "n": 3, "names": [ "x", "y" ], "greeting": "hello" },
  "environment": { "WHO": "it's all", "BOTH": "whole" },
  "categories": { "make": { "resources": { "cores": 1, "memory": 50 }, "environment": { "BOTH": "category" } } },
  "rules": [
    { "command": template("echo {greeting} {i} $BOTH > out.{i}"), "outputs": [ "out." + i ], "category": "make" } for i in range(n),
    { "command": "cat " + join(["out." + i for i in range(n)]) + " > all; echo $WHO >> all", "inputs": [ "out." + i for i in range(n) ], "outputs": [ "all" ], },
    { "command": "cat in > result", "inputs": [ { "dag_name": "all", "task_name": "in" } ], "outputs": [ { "dag_name": name + ".res", "task_name": "result" } ], "local_job": true } for name in names
  ]
}
E
run flow.jx && [ "$(tr '\n' ' ' <x.res)" = "hello 0 category hello 1 category hello 2 category it's all " ] && cmp -s x.res y.res
ok $? "rules, categories, environments and files with another name in the task"
run flow.jx && grep -q 'nothing to do' "$work/out"
ok $? "and nothing is left to do"
run flow.jx -p n=1 -p greeting=bye && [ "$(tr '\n' ' ' <x.res)" = "bye 0 category it's all " ]
ok $? "-p gives numbers and texts"
run flow.jx -p names=u,v -p 'greeting="1"' && [ -f u.res ] && grep -q '^1 0' u.res
ok $? "-p gives lists; quotes make a text of a number"
refused flow.jx -p m=1 && grep -q "flow.jx: -p m: the file names nothing so" "$work/err"
ok $? "-p of what nobody names is an error"
"$weft" show flow.jx --tasks >"$work/out" 2>&1 && grep -q '^out.0 *make ' "$work/out" && grep -q 'local_job of 2 rules is not carried over' "$work/out"
ok $? "kinds are categories; what is not carried over is said"
cp flow.jx flow.json && "$weft" show flow.json >"$work/out" 2>&1 && grep -q '(jx)' "$work/out"
ok $? "it is known by its content"
"$weft" convert flow.jx copy.yaml 2>"$work/err" && rm -f ./*.res all out.* && run copy.yaml && grep -q "it's all" x.res
ok $? "converted to native YAML it computes the same"
printf '{"rules":[{"command":"echo {in} {x} > a","outputs":["a"]}]}' >braces.jx
run braces.jx && [ "$(cat a)" = "{in} {x}" ]
ok $? "braces belong to the command"
mkdir d && touch d/b d/a && printf '{"rules":[{"command":"cp "+f+" "+basename(f)+".copy","inputs":[f],"outputs":[basename(f)+".copy"]} for f in ["d/"+x for x in listdir("d")]]}' >list.jx
run list.jx && [ -f a.copy ] && [ -f b.copy ] && touch d/c && run list.jx && [ -f c.copy ]
ok $? "listdir sees the folder, and what is new in it"
printf '{"n": 2}' >args.json && printf '{"define":{"a":fetch("args.json")},"rules":[{"command":"touch f"+i,"outputs":["f"+i]} for i in range(a["n"])]}' >fetch.jx
run fetch.jx && [ -f f1 ] && [ ! -f f2 ]
ok $? "fetch reads a file of JSON"

mistake() { # message, text
    printf '%b' "$2" >bad.jx
    refused bad.jx && grep -qF -- "$1" "$work/err"
    ok $? "refused: $1"
}
mistake "bad.jx:2: 'sampels' stands for nothing: it is no variable of a \`for\` and not in \"define\"; did you mean 'samples'?" '{"define":{"samples":1},"rules":[\n{"command":"x"+sampels}]}'
mistake "bad.jx:1: there is no function 'rang' in JX, or weft does not know it; did you mean 'range'?" '{"rules":[{"command":"x"} for i in rang(3)]}'
mistake "range(): 1000000000 values more are too many" '{"rules":[{"command":"x"+i} for i in range(1000000000)]}'
mistake "100000 values more are too many" '{"rules":[{"command":"x"} for i in range(100000) for j in range(100000)]}'
mistake "bytes of text" "{\"define\":{$(printf '"a0":"%01000d"' 0; for i in $(seq 40); do printf ',"a%d":a%d+a%d' "$i" $((i - 1)) $((i - 1)); done)},\"rules\":[{\"command\":a40}]}"
mistake "write parentheses" '{"rules":[{"command":"x"+(7-2-1)}]}'
mistake "bad.jx:1: a rule has the unknown key 'output'; did you mean 'outputs'?" '{"rules":[{"command":"x","output":["a"]}]}'
mistake "bad.jx:2: a string that does not end" '{"rules":[\n"x'
mistake "the key \"rules\" is missing" '{"define":{}}'
mistake "weft fetches nothing from the network" '{"rules":fetch("http://localhost/x")}'
mistake "fetch(): ./nothing is no file that can be read" '{"rules":fetch("./nothing")}'
mistake "\"workflow\": there is no file" '{"rules":[{"workflow":"x.jx","args":{}}]}'
mistake "'bad.jx' contains itself" '{"rules":[{"workflow":"bad.jx","args":{}}]}'
mistake "has the unknown key 'command'" '{"rules":[{"workflow":"x.jx","command":"x"}]}'
mistake "error(): too few samples" '{"rules":error("too few samples")}'

# ---- a rule that stands for the rules of another file ----
cat >nest.jx <<'E'
{ "define": { "n": 3 }, "environment": { "WHO": "top" },
  "rules": [
    { "workflow": "sub.jx", "args": { "k": n, "name": "a" }, "inputs": [ "sub.jx", "go" ], "outputs": [ "a.all" ] },
    { "workflow": "sub.jx", "args": { "name": "b" }, "outputs": [ "b.all" ], "environment": { "WHO": "rule" } },
    { "command": "echo go > go", "outputs": [ "go" ] },
    { "command": "cat a.all b.all > nested", "inputs": [ "a.all", "b.all" ], "outputs": [ "nested" ] } ] }
E
cat >sub.jx <<'E'
{ "define": { "k": 1, "name": "x" },
  "rules": [
    { "command": template("echo $WHO {i} > {name}.{i}"), "outputs": [ template("{name}.{i}") ] } for i in range(k),
    { "command": "cat " + join([template("{name}.{i}") for i in range(k)]) + " > " + name + ".all",
      "inputs": [ template("{name}.{i}") for i in range(k) ], "outputs": [ name + ".all" ] } ] }
E
run -q nest.jx && [ "$(tr '\n' ' ' <nested)" = "top 0 top 1 top 2 rule 0 " ] && run nest.jx && grep -q "nothing to do: 8 tasks" "$work/out"
ok $? "a sub-workflow's rules are tasks of the one workflow, with its args and environment"
run nest.jx --why a.all/a.2 && grep -q "does not run" "$work/out"
ok $? "under its name"
sed 's/"k": n/"kk": n/' nest.jx >wrong.jx && refused wrong.jx && grep -q "wrong.jx:3: \"args\": '.*sub.jx' names nothing 'kk'" "$work/err"
ok $? "an argument that it does not know"
sed 's/"outputs": \[ "b.all" \], "env/"outputs": [ "c.all" ], "env/' nest.jx >wrong.jx && refused wrong.jx && grep -q "wrong.jx:4: no rule of 'sub.jx' makes 'c.all'" "$work/err"
ok $? "an output that none of its rules makes"
sed -i 's/range(k),/rang(k),/' sub.jx && refused nest.jx && grep -q "sub.jx:3: there is no function 'rang'" "$work/err"
ok $? "a mistake in it is told with its place"
start=$(date +%s)
printf '{"rules":[{"command":"true","outputs":["o."+i]} for i in range(100000)]}' >many.jx
"$weft" show many.jx >"$work/out" 2>"$work/err" && grep -q 'tasks *100,000' "$work/out"
ok $? "100,000 rules ($(($(date +%s) - start)) s)"

echo "1..$count"
exit $failed
