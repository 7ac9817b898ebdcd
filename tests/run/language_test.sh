#!/usr/bin/env bash
# Families, parameters from outside and targets, as a user types them; pipelines of the shared cases, if they are here. Speaks TAP.
weft=$WEFT
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
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
    "$weft" show data/images/flow.yaml --json >out && grep -q '"tasks": 3301' out
    ok $? "the pipeline images: 3,301 tasks from nine lines"
    # Few inputs: what is judged is that all six run as they are written there. tests/pipelines_test compares them with plain loops.
    rm -f data/words/texts/doc[1-9]*.txt data/words/texts/doc0[1-9]*.txt data/images/images/img*[1-9].png data/images/images/img[1-9]*.png data/images/images/img0[1-9]0.png
    sed -i '/^sample\|^anna\|^bert/!d' data/variants/samples.tsv
    shared_pipeline() { # name shell-test options...
        local name=$1 test=$2
        shift 2
        (cd "data/$name" && "$weft" run flow.yaml -q "$@" && bash -e -o pipefail -c "$test")
        ok $? "the shared pipeline $name, as it is written"
    }
    missing() { # name what
        count=$((count + 1))
        echo "ok $count - the shared pipeline $1 # SKIP there is no $2"
    }
    PATH=/usr/bin:$PATH # the python3 and the convert that tools/deps installs
    shared_pipeline words "cat texts/*.txt | tr ' ' '\n' | sort | uniq -c | awk '{print \$1, \$2}' | sort >expected; sort total.txt | cmp - expected"
    shared_pipeline variants '[ -s cohort.txt ] && [ "$(ls merged)" = "anna.txt
bert.txt" ]'
    shared_pipeline chunks '[ "$(cat best.txt)" = "$(for f in parts/*; do awk "{s+=\$1} END {print s}" "$f"; done | sort -n | tail -n 1)" ]'
    if command -v cc >/dev/null; then shared_pipeline matrix '[ "$(awk "{n += \$1} END {print n}" summary.txt)" = 8 ]' -p std=c99 -p opt=O0,O2; else missing matrix cc; fi
    if command -v convert >/dev/null; then shared_pipeline images '[ "$(wc -l <table.tsv)" = 4 ] && awk "NF != 6 || \$5 < 0 || \$5 > 1 {exit 1}" table.tsv' -p s=1,2 -p l=30; else missing images "convert (imagemagick)"; fi
    if python3 -c 'import numpy' 2>/dev/null; then shared_pipeline ridge '[ -s model.txt ]' -p degree=1 -p alpha=0.1,1 -p fold=0,1; else missing ridge "numpy"; fi
fi
echo "1..$count"
exit $failed
