#!/usr/bin/env bash
# Fair shares, priorities of runs and nodes that differ existed on agents alone: the simulation knew one run, and nodes without
# attributes. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
bag() { # name, tasks, seconds, more keys
    { echo 'weft: 1'; echo "lists: { i: { from: 1, to: $2 } }"; echo 'tasks:'; echo "  t: { each: i, work: $3${4:+, $4} }"; } >"$1.yaml"
}
sim() { "$weft" sim "$@" >out 2>err; }
of() { # field, number of the run: from the JSON of --beside
    grep "^ *\"$1\":" out | sed -n "$2p" | sed 's/.*: //; s/,$//'
}
is() { awk "BEGIN { exit !($1) }"; }

bag long 800 60
bag short 2 1
sim long.yaml --schedulers 4 --beside short.yaml@600 --json
is "$(of end 2) < 665 && $(of end 1) > 6000 && $(of slowdown 2) < 65"
ok $? "a run of two tasks waits for a core, not for a run of hours: $(of end 2) s, $(of end 1) s"
sim long.yaml --schedulers 4 --beside short.yaml@600:-20 --json
is "$(of first 2) < 665 && $(of end 2) < $(of end 1) / 5"
ok $? "so with the lowest priority"

# Two bags of 8,000 s on 8 cores. Priority 1 has two thirds until it is through: at 1,500 s. The other then at 2,000 s.
bag low 800 10
sim low.yaml --schedulers 4 --beside low.yaml@0:1 --json
is "$(of end 2) > 1470 && $(of end 2) < 1530 && $(of end 1) > 1980 && $(of end 1) < 2020"
ok $? "cores by priority, within 2 %: $(of end 2) s, $(of end 1) s"
sim low.yaml --schedulers 4 --beside low.yaml@0 --json
is "$(of fairness 1) > 0.999 && $(of slowdown 1) > 1.95 && $(of slowdown 2) > 1.95"
ok $? "equals are slowed down alike"
sim low.yaml --schedulers 4 --beside low.yaml@0:1 && grep -q "slowdown" out && grep -q "fairness 0\.98" out
ok $? "a table for people"
cp low.yaml at@home.yaml
sim low.yaml --schedulers 4 --beside at@home.yaml --json && [ "$(of submitted 2)" = 0 ]
ok $? "a name with @ is a name"

refused() { # status, word, arguments
    local status=$1 word=$2
    shift 2
    sim "$@"
    [ $? = "$status" ] && grep -q -- "$word" err && [ ! -s out ]
    ok $? "exit $status, '$word': $*"
}
refused 2 "No such file" low.yaml --schedulers 2 --beside none.yaml
refused 2 "does nothing without --schedulers" low.yaml --beside low.yaml
refused 2 "needs a workflow" --dag bot --schedulers 2 --beside low.yaml
refused 2 "priority" low.yaml --schedulers 2 --beside low.yaml@0:99
refused 2 "policy all" low.yaml --schedulers 2 --policy all --beside low.yaml
bag held 4 1 "resources: { gpu: 1 }"
refused 2 "resources" held.yaml --schedulers 2 --set resources=gpu=0,1 --beside held.yaml

# ---- nodes that differ ----
bag plain 40 10
bag picky 12 10 "needs: [avx512]"
cat >nodes.yaml <<'END'
weft: 1
nodes:
  - { name: plain, cores: 4, count: 3 }
  - { name: wide, cores: 2, has: [avx512] }
  - { name: off, cores: 64, has: [avx512], up: false }
END
sim picky.yaml --schedulers all --on nodes.yaml --json
is "$(of makespan 1) > 59.9 && $(of makespan 1) < 61"
ok $? "what needs an attribute runs where it is: 120 s of work on the two cores that have it take $(of makespan 1) s"
sim picky.yaml --schedulers all --on nodes.yaml --beside plain.yaml --json
is "$(of end 1) < 85 && $(of end 2) < 60"
ok $? "also beside another run: $(of end 1) s, $(of end 2) s"
refused 3 "needs avx512, which none of the nodes of --on has" picky.yaml --schedulers 3 --on nodes.yaml
refused 3 "needs avx512, which none of the nodes has (12 tasks fit nowhere): simulate --set has=avx512" picky.yaml --schedulers 3
sim picky.yaml --schedulers 3 --set has=ssd,avx512
ok $? "nodes that are alike have attributes by --set has"
refused 2 "does nothing here" plain.yaml --schedulers 3 --set has=avx512
bag large 2 1 "cores: 8"
refused 3 "asks for 8 cores; the largest of the nodes of --on has 4" large.yaml --schedulers all --on nodes.yaml
bag hungry 2 1 "memory: 8G"
refused 3 "simulate --set memory=8G" hungry.yaml --schedulers 2 --set memory=1G
refused 2 "needs a platform" picky.yaml --schedulers all
refused 2 "does nothing for a platform" picky.yaml --schedulers all --on nodes.yaml --cores 4
refused 2 "says what its nodes have" picky.yaml --schedulers all --on nodes.yaml --set memory=1G
refused 2 "4 nodes that are up" picky.yaml --schedulers 5 --on nodes.yaml
refused 2 "does nothing for a benchmark" --dag bot --schedulers 2 --on nodes.yaml

# ---- runs that grow (issue 16) ----
cat >grows.yaml <<'END'
weft: 1
lists: { part: { files: "parts/{part}", after: split } }
tasks:
  split: { run: "touch {out}a", out: parts/, work: 3 }
  sort: { each: part, run: "sort {in} > {out}", in: "parts/{part}", out: "first/{part}", work: 5 }
  all: { run: "cat {in} > {out}", in: "first/{part}", out: all.txt, work: 2 }
END
sim grows.yaml --schedulers 2 && grep -q "grows: 1 task" out && grep -q "not known before 'split' has run" err
ok $? "what nobody knows yet is left out, and said"
sim grows.yaml --schedulers 2 -p part=a,b,c,d --json && [ "$(of tasks 1)" = 6 ] && [ ! -s err ]
ok $? "its size may be given"
mkdir parts && touch parts/a parts/b
sim grows.yaml --schedulers 2 --json && [ "$(of tasks 1)" = 4 ] && [ ! -s err ]
ok $? "or is that of last time"
echo "1..$count"
exit $failed
