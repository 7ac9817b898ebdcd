#!/usr/bin/env bash
# `cores: 3` with `-j 1`, or 1.5 GB with `-m 500M`, ran all the same, with less than they asked for and without a word. A task runs
# only where it fits; if nowhere, the run says so before it starts. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
says() { grep -qF -- "$1" "$work/err"; }

cat >"$work/flow.yaml" <<'END'
weft: 1
tasks:
  first: { run: 'echo first > {out}', out: first.txt }
  wide: { run: 'echo $WEFT_CORES > {out}', in: first.txt, out: wide.txt, cores: 3 }
  large: { run: 'echo large > {out}', in: first.txt, out: large.txt, memory: 1.5G }
END
run "$work/flow.yaml" -j 1
[ $? = 3 ] && says "task 'wide' asks for 3 cores; this run has 1" && says "-j 3" && [ ! -e "$work/first.txt" ]
ok $? "more cores than there are: refused before anything starts, with the task, what is there, and a remedy"
run "$work/flow.yaml" -j 3 -m 500M
[ $? = 3 ] && says "task 'large' asks for 1.5G of memory; this run has 500M" && says "-m 1.5G" && [ ! -e "$work/first.txt" ]
ok $? "more memory than there is: likewise"
run "$work/flow.yaml" -j 1 -n
[ $? = 3 ] && says "3 cores"
ok $? "a dry run says the same"
[ "$("$weft" history --json 2>/dev/null | grep -c '"outcome"')" = 0 ]
ok $? "what could not begin is no run in the history"
run "$work/flow.yaml" -j 3 -m 2G && [ "$(cat "$work/wide.txt")" = 3 ]
ok $? "with enough of both it runs, and a task has the cores that it asks for"
run "$work/flow.yaml" -j 1 -m 500M
[ $? = 0 ] && grep -q "nothing to do" "$work/out"
ok $? "what is done needs nothing, on the smallest machine"
rm "$work/large.txt"
run "$work/flow.yaml" -j 1 -m 2G && [ -e "$work/large.txt" ]
ok $? "also when something else runs there"

# six tasks of two cores each, three cores: one at a time
{
    echo 'weft: 1'
    echo 'tasks:'
    for i in 1 2 3 4 5 6; do echo "  t$i: { run: 'mkdir lock && sleep 0.05 && rmdir lock', cores: 2, sandbox: false }"; done
} >"$work/pairs.yaml"
run "$work/pairs.yaml" -j 3
ok $? "tasks of two cores on three cores never run two at once"

# more after each failure, until nobody has it
hog="python3 -c 'x = bytearray(90 * 1000 * 1000)'"
cat >"$work/rungs.yaml" <<END
weft: 1
tasks:
  listed: { run: "$hog", memory: [30M, 60M, 8G] }
END
run "$work/rungs.yaml" -m 200M -j 1
[ $? = 1 ] && grep -q "the next attempt would get 8000 MB" "$work/out" && grep -q "more than 200 MB" "$work/out"
ok $? "a rung of memory that fits nowhere ends the task, with that reason"
sed -i 's/memory: .*/memory: 30M, retries: 9 }/' "$work/rungs.yaml"
run "$work/rungs.yaml" -m 100M -j 1 --retry-delay 0.01
[ $? = 1 ] && grep -q "the next attempt would get 120 MB" "$work/out"
ok $? "so does doubling"
run "$work/rungs.yaml" -m 300M -j 1 --retry-delay 0.01
ok $? "where there is enough it goes on, and ends well"

# attributes
cat >"$work/needs.yaml" <<'END'
weft: 1
tasks:
  vector: { run: 'echo > {out}', out: vector.txt, needs: [avx512, ssd], work: 1 }
END
run "$work/needs.yaml"
[ $? = 3 ] && says "needs avx512,ssd" && says "--has avx512,ssd"
ok $? "a task that needs what this machine has not is refused"
run "$work/needs.yaml" --has ssd,avx512,other
ok $? "with --has it runs"
cat >"$work/platform.yaml" <<'END'
weft: 1
nodes:
  - { name: plain, speed: 9 }
  - { name: special, speed: 1, has: [avx512, ssd] }
END
"$weft" plan "$work/needs.yaml" --on "$work/platform.yaml" --with heft -o "$work/plan.json" >"$work/out" 2>"$work/err" && grep -q special "$work/plan.json"
ok $? "a plan puts it where it can run"
"$weft" check "$work/plan.json" >"$work/out" 2>"$work/err"
ok $? "and is valid"
sed 's/"special"/"plain"/; s/"node": 1/"node": 0/' "$work/plan.json" >"$work/bad.json"
"$weft" check "$work/bad.json" >"$work/out" 2>"$work/err"
[ $? != 0 ]
ok $? "one that puts it elsewhere is not"
sed -i 's/has: .avx512, ssd./has: ssd/' "$work/platform.yaml"
"$weft" plan "$work/needs.yaml" --on "$work/platform.yaml" --with heft -o "$work/none.json" >"$work/out" 2>"$work/err"
[ $? = 3 ] && says "needs avx512,ssd"
ok $? "without such a node there is no plan, and the reason"

# the simulation of schedulers knows sizes, too
cat >"$work/sizes.yaml" <<'END'
weft: 1
tasks:
  wide: { cores: 8, work: 1, memory: 4G }
  one: { work: 1 }
END
"$weft" sim --schedulers 4 "$work/sizes.yaml" >"$work/out" 2>"$work/err"
[ $? = 3 ] && says "'wide' asks for 8 cores"
ok $? "simulated schedulers: a task that fits no node is refused"
"$weft" sim --schedulers 4 "$work/sizes.yaml" --set large=1 --set factor=4 --set memory=1G >"$work/out" 2>"$work/err"
ok $? "with a large node among the small it runs"
echo "1..$count"
exit $failed
