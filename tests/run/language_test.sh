#!/usr/bin/env bash
# Families, parameters from outside and targets, as a user types them; pipelines of the shared cases, if they are here. Speaks TAP.
weft=$WEFT
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db
cd "$work" || exit 1
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}
fails() { # part-of-message arguments...
    local part=$1
    shift
    "$weft" "$@" >out 2>err
    [ $? = 2 ] && grep -qF -- "$part" err
    ok $? "exit 2, '$part': weft $*"
    grep -qF -- "$part" err || sed 's/^/# /' err
}
ran() { # tasks that ran, sorted: names; after: weft run ... --json
    "$weft" run "$@" --json 2>err | python3 -c '
import json, sys
names = [e["task"] for e in map(json.loads, sys.stdin) if e.get("event") == "task" and e.get("outcome") == "done"]
print(" ".join(sorted(names)))'
}

mkdir texts
echo 'a b a' >texts/one.txt
echo 'b' >"texts/two words.txt"
cat >flow.yaml <<'END'
weft: 1
name: words
parameters: { flag: "-c" }
lists: { doc: { files: "texts/{doc}.txt" }, n: [1, 2] }
tasks:
  count: { each: doc, run: "tr ' ' '\\n' < {in} | sort | uniq {flag} > {out}; echo {doc} >> names", in: "texts/{doc}.txt", out: "counts/{doc}.txt" }
  merge: { run: "cat {in} > {out}", in: "counts/{doc}.txt", out: total.txt }
  head: { each: n, run: "head -n {n} {in} > {out}", in: total.txt, out: "head{n}" }
END
[ "$(ran flow.yaml)" = "count@doc=one count@doc=two words head@n=1 head@n=2 merge" ]
ok $? "a family, one that gathers it, a family that reads that"
[ "$(tr -s ' \n' ' ' <total.txt)" = " 2 a 1 b 1 b " ]
ok $? "with names that a shell would break"
[ "$(ran flow.yaml)" = "" ]
ok $? "and nothing to do again"
[ "$(ran flow.yaml -f head1)" = "head@n=1" ]
ok $? "a file as a target, forced: its maker alone"
echo c >>texts/one.txt
[ "$(ran flow.yaml count)" = "count@doc=one" ]
ok $? "a family as a target: what follows waits"
[ "$(ran flow.yaml --since merge --until head@n=2)" = "head@n=2 merge" ]
ok $? "from one task to another"
[ "$(ran flow.yaml -p n=3)" = "head@n=3" ]
ok $? "a list from outside"
[ "$(ran flow.yaml -p flag=)" = "count@doc=one count@doc=two words head@n=1 head@n=2 merge" ]
ok $? "a parameter from outside"
fails "'totl.txt' is no task, no family and no file that a task makes; did you mean 'total.txt'?" run flow.yaml totl.txt
fails "no task makes 'texts/one.txt': it is an input" run flow.yaml texts/one.txt
fails "-p falg: there is no parameter and no list of that name; did you mean 'flag'?" run flow.yaml -p falg=3
fails "expected name=value" plan flow.yaml --on 2 -p n
"$weft" show flow.yaml -p n=1,2,3,4 --json >out && grep -q '"tasks": 7' out
ok $? "-p on other commands"
"$weft" convert flow.yaml whole.yaml -q && "$weft" run whole.yaml -q -n >out && grep -q 'would run' out
ok $? "written out, an ordinary workflow"

cases=${WEFT_SHARED:-$examples/../../shared}/cases/pipelines
if [ ! -d "$cases" ]; then
    echo "# skipped: the shared pipelines are not here"
else
    python3 "$cases/make-data" "$work/data" "$examples/genomics"
    (cd data/words && "$weft" run flow.yaml -q && cat texts/*.txt | tr ' ' '\n' | sort | uniq -c | awk '{print $1, $2}' | sort >expected && sort total.txt | cmp - expected)
    ok $? "the pipeline words, as it is written, has the right counts"
    (cd data/variants && "$weft" run flow.yaml -q && [ -s cohort.txt ] && [ "$(find merged -type f | wc -l)" = 8 ])
    ok $? "the pipeline variants: a table, grouped by a column"
    if command -v cc >/dev/null; then
        (cd data/matrix && "$weft" run flow.yaml -q && [ "$(awk '{n += $1} END {print n}' summary.txt)" = 48 ])
        ok $? "the pipeline matrix: named inputs"
    fi
    "$weft" show data/images/flow.yaml --json >out && grep -q '"tasks": 3301' out
    ok $? "the pipeline images: 3,301 tasks from nine lines"
fi
echo "1..$count"
exit $failed
