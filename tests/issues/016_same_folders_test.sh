#!/usr/bin/env bash
# Folders of a sandbox are used again by the next task of its lane (making and removing four of them was a third of what weft itself did about
# a task). A task must find what it would find in a sandbox that was made anew, whoever was there before it. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" -q >"$work/out" 2>"$work/err"; }
mkdir -p a/b data
echo 1 >a/1 && echo 2 >a/b/2 && echo x >data/x

# One lane: each task comes after the one before it, and says what it finds.
cat >flow.yaml <<'F'
weft: 1
defaults: { shell: sh }
tasks:
  t1: { run: "l=$(find . ! -type l -printf '%y %m %p\n' | sort); echo \"$l\" > {out}", in: [a/1, a/b/2], out: o/p/1 }
  t2: { run: "l=$(find . ! -type l -printf '%y %m %p\n' | sort); mkdir -p junk/deep o/more; touch junk/deep/f a/b/new a/extra; chmod 700 a; echo \"$l\" > {out}", in: [a/1, a/b/2], out: o/p/2, after: t1 }
  t3: { run: "l=$(find . ! -type l -printf '%y %m %p\n' | sort); mkdir junk o/more; echo \"$l\" > {out}", in: [a/1, a/b/2], out: o/p/3, after: t2 }
  t4: { run: "l=$(find . ! -type l -printf '%y %m %p\n' | sort); echo \"$l\" > {out}", in: data/x, out: four, after: t3 }
  t5: { run: "l=$(find . -printf '%y %m %p\n' | sort); cat data/x a/1 > /dev/null; echo \"$l\" > {out}", in: [data, a], out: five, after: t4 }
  t6: { run: "mkdir data o; find . -type d | sort > {out}", in: a/1, out: six, after: t5 }
  t7: { run: "l=$(find . ! -type l -printf '%y %m %p\n' | sort); echo \"$l\" > {out}", in: [a/1, a/b/2], out: o/p/7, after: t6 }
F
run flow.yaml -j1
ok $? "tasks of different shapes, one after the other"
for t in 1 2 3 7; do # each alone, in a sandbox made anew
    rm -rf fresh && mkdir fresh && cp -r a data fresh/
    sed -n -e 1,3p -e "/^  t$t:/{s/, after: t[0-9]//;p}" flow.yaml >fresh/flow.yaml
    (cd fresh && run flow.yaml -j1) && cmp -s "fresh/o/p/$t" "o/p/$t" && [ -s "o/p/$t" ]
    ok $? "t$t finds what it finds alone: $(tr '\n' ' ' <"o/p/$t")"
done
[ "$(grep '^d' four | sed 's/.* //' | tr '\n' ' ')" = ". ./data " ]
ok $? "fewer folders than the one before: $(tr '\n' ' ' <four)"
[ "$(grep -c '^l' five)" = 2 ] && ! grep -q '^d.*/' five
ok $? "links to folders, where folders were"
[ "$(tr '\n' ' ' <six)" = ". ./a ./data ./o " ]
ok $? "and folders where links were"
[ -z "$(ls .weft/sandbox 2>/dev/null)" ]
ok $? "nothing is left when the run is over"

# A daemon that outlives its task writes into the folder in which it was.
cat >daemon.yaml <<'F'
weft: 1
tasks:
  first: { run: "(setsid sh -c 'for i in 1 2 3 4 5 6 7 8; do touch late.$i a/late.$i; sleep 0.05; done' > /dev/null 2>&1 < /dev/null &) ; sleep 0.1; echo > {out}", in: a/1, out: one }
  second: { run: "sleep 0.3; find . -name 'late*' > {out}", in: a/1, out: two, after: first }
F
run daemon.yaml -j1 && [ -e two ] && [ ! -s two ]
ok $? "what a daemon of the task before writes is not found: $(tr '\n' ' ' <two)"

# A whole family, two lanes.
cat >family.yaml <<'F'
weft: 1
lists: { n: { from: 1, to: 40 } }
tasks:
  make: { each: n, run: "mkdir tmp && echo {n} > tmp/x && cat tmp/x {in} > {out}", in: a/b/2, out: "m/{n}/x" }
  read: { each: n, run: "ls m > {out}; cat {in} >> {out}", in: "m/{n}/x", out: "r/{n}" }
F
run family.yaml -j2 && [ "$(cat r/* | sort | uniq -c | awk '$1 == 42' | wc -l)" = 1 ] && [ "$(tr '\n' ' ' <r/17)" = "17 17 2 " ]
ok $? "members see their own files: $(tr '\n' ' ' <r/17)"

echo "1..$count"
exit $failed
