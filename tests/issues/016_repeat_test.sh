#!/usr/bin/env bash
# Tasks and sub-workflows that are repeated: rounds join the run until a condition holds. Judged by loops of
# the shell that give the same bytes; what is up to date afterwards, what a kill leaves, what is refused.
# Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
place() { # a folder of its own
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
}
says() { # status text
    run flow.yaml
    [ $? = "$1" ] && grep -qF -- "$2" "$work/err"
}
ran() { grep -q -- "$1" "$work/out"; }

# ---- a task, beside a loop of the shell ----
place task
cat >flow.yaml <<'X'
weft: 1
tasks:
  start: { run: "echo 1 > {out}", out: start.txt }
  solve:
    run: |
      read n _ < {in.state}; read m < {in.mesh}
      echo $((n * 2 + m)) round {round} > {out.state}
      if [ $((n * 2)) -lt 300 ]; then echo more; else echo converged; fi > {out.log}
      echo {round} >> $RAN
    in: { state: start.txt, mesh: mesh.txt }
    out: { state: state.txt, log: log.txt }
    pass: [RAN]
    repeat: { until: "{out.log} contains converged", most: 20 }
  report: { run: "cat {in} > {out}", in: [state.txt, log.txt], out: report.txt }
X
echo 3 >mesh.txt
export RAN=$work/ran
: >"$RAN"
n=1 k=0
while k=$((k + 1)); old=$n n=$((n * 2 + 3)); [ $((old * 2)) -lt 300 ]; do :; done
printf '%s round %s\nconverged\n' "$n" "$k" >"$work/expected"
"$weft" run -n flow.yaml >"$work/out" 2>"$work/err" && ran "not known yet: solve, report (rounds of 'solve', asked when 'solve@round=1' is done)"
ok $? "-n says what is not known yet"
"$weft" plan flow.yaml >"$work/out" 2>"$work/err" && ran "23 tasks"
ok $? "a plan before the first run takes the most rounds"
grep -q 'how many rounds it takes is not known before it has run: its `most`, 20, are taken here' "$work/err"
ok $? "and says so"
run -q flow.yaml && cmp -s report.txt "$work/expected" && [ "$(wc -l <"$RAN")" = "$k" ]
ok $? "$k rounds give what a loop of the shell gives, each ran once"
[ -f "solve@round=$k/state.txt" ] && [ ! -e "solve@round=$((k + 1))" ] && cmp -s state.txt "solve@round=$k/state.txt"
ok $? "each round has a folder, the last one's files have the names that were written"
run flow.yaml && ran "nothing to do: $((k + 3)) tasks are up to date"
ok $? "the second time there is nothing to do, in one go"
"$weft" plan flow.yaml >"$work/out" 2>"$work/err" && ran "$((k + 3)) tasks" && ! grep -q most "$work/err"
ok $? "a plan takes as many rounds as there were last time"
run flow.yaml --why 'solve@round=3' && ran "does not run: the same command" && run flow.yaml --why solve && ran "does not run"
ok $? "--why answers for a round and for the task"
sed -i 's/echo 1 >/echo 2 >/' flow.yaml
"$weft" run -n flow.yaml >"$work/out" 2>"$work/err" && ran "asked when 'solve@round=1' is done: $k last time"
ok $? "-n says how many there were last time"
run flow.yaml && n=2 k2=0
while k2=$((k2 + 1)); old=$n n=$((n * 2 + 3)); [ $((old * 2)) -lt 300 ]; do :; done
[ "$(head -n 1 report.txt)" = "$n round $k2" ] && ran "$((k2 + 3)) tasks ran"
ok $? "another start: all rounds run again, $k2 of them"
run flow.yaml && ran "nothing to do: $((k2 + 3)) tasks"
ok $? "also with fewer rounds than there are folders"
: >"$RAN"
run -q flow.yaml -f solve && [ "$(wc -l <"$RAN")" = "$k2" ] && run flow.yaml && ran "nothing to do"
ok $? "--force runs every round again"
rm "solve@round=2/state.txt" && : >"$RAN" && run -q flow.yaml && [ "$(cat "$RAN")" = 2 ]
ok $? "a round's file that is gone is made again, and nothing else"
rm state.txt && run flow.yaml && ran "1 task ran"
ok $? "the last round's file that is gone is brought back without a round"
run flow.yaml -q state.txt && run flow.yaml report.txt
ok $? "what is made after the last round can be named as a target"

# ---- most, accept, an answer that cannot be given ----
place most
cat >flow.yaml <<'X'
weft: 1
tasks:
  walk: { run: "read n < {in}; echo $((n + 1)) > {out}", in: zero.txt, out: end.txt, repeat: { until: "{out} >= 7", most: 5 } }
  use: { run: "cat {in} > {out}", in: end.txt, out: used.txt }
  other: { run: "echo o > {out}", out: other.txt }
X
echo 0 >zero.txt
run -k flow.yaml
[ $? = 1 ] && grep -q 'walk: 5 rounds, and until does not hold: {out} >= 7; allow more rounds' "$work/out" && ran "1 not run" && [ -e other.txt ] && [ ! -e end.txt ]
ok $? "most rounds and no end: it fails, with the reason and what to do"
sed -i 's/most: 5/most: 50/' flow.yaml && run flow.yaml && [ "$(cat used.txt)" = 7 ] && ran "4 tasks ran, 6 reused"
ok $? "with more rounds it goes on where it was"
sed -i 's/most: 50/most: 3, accept: true/' flow.yaml && run flow.yaml && [ "$(cat used.txt)" = 3 ] && ran "2 tasks ran"
ok $? "accept: the last of them counts"
sed -i 's/most: 3, accept: true/most: 1/; s/>= 7/>= 1/' flow.yaml && run flow.yaml && [ "$(cat used.txt)" = 1 ]
ok $? "one round"
sed -i 's/{ until: "{out} >= 1", most: 1 }/4/' flow.yaml && run flow.yaml && [ "$(cat used.txt)" = 4 ] && "$weft" plan flow.yaml >"$work/out" && ran "7 tasks"
ok $? "a number alone: so many rounds, known from the start"
sed -i 's/repeat: 4/repeat: { until: "{out} > 5", most: 9 }/; s/echo $((n + 1))/echo word/' flow.yaml
run flow.yaml
[ $? = 1 ] && grep -q "walk: until ({out} > 5) cannot be answered after round 1: " "$work/out"
ok $? "a question without an answer fails the task"

# ---- failures within a round ----
place fails
cat >flow.yaml <<'X'
weft: 1
tasks:
  walk:
    run: |
      read n < {in}
      [ {round} != 3 ] || [ {attempt} != 1 ] || { echo flaky >&2; exit 9; }
      [ {round} != 5 ] || [ -e $WORK/mended ] || exit 7
      echo $((n + 1)) > {out}
    in: zero.txt
    out: end.txt
    retries: 1
    pass: [WORK]
    repeat: { until: "{out} >= 6", most: 10 }
X
echo 0 >zero.txt
export WORK=$work
run flow.yaml
[ $? = 1 ] && grep -q 'walk@round=5: exit status 7' "$work/out"
ok $? "a round is tried again, and fails as any task"
touch "$work/mended" && run flow.yaml && [ "$(cat end.txt)" = 6 ] && ran "3 tasks ran, 4 reused"
ok $? "mended, it goes on with that round"

# ---- families: each member iterates by itself ----
place family
cat >flow.yaml <<'X'
weft: 1
lists: { s: [1, 2, 5, 90] }
tasks:
  start: { each: s, run: "echo {s} > {out}", out: "start/{s}" }
  grow:
    each: s
    run: "read n < {in}; echo $((n * {round} + {s})) > {out}"
    in: "start/{s}"
    out: "end/{s}"
    repeat: { until: "{out} > 100", most: 20 }
  report: { run: "cat {in} > {out}", in: "end/{s}", out: report.txt }
  behind: { run: "cat end/* > {out}", after: grow, sandbox: false, out: behind.txt }
  each: { each: s, run: "cat {in} > {out}", in: "end/{s}", out: "each/{s}", after: "grow@s={s}" }
X
for s in 1 2 5 90; do
    n=$s k=0
    while [ "$k" = 0 ] || [ "$n" -le 100 ]; do k=$((k + 1)) n=$((n * k + s)); done
    echo "$n" >>"$work/members"
done
run flow.yaml && cmp -s report.txt "$work/members" && [ "$(sort -n behind.txt | tr '\n' ' ')" = "$(sort -n "$work/members" | tr '\n' ' ')" ]
ok $? "each member has as many rounds as it needs"
run flow.yaml && ran "nothing to do"
ok $? "and is up to date"
run -q flow.yaml -f grow@s=5 && run flow.yaml && ran "nothing to do"
ok $? "a member can be forced by its name"

# ---- several files under one name, by position, and said ----
place carry
cat >flow.yaml <<'X'
weft: 1
tasks:
  pair: { run: "cat {in[1]} > {out[0]}; (cat {in[0]}; echo {round}) > {out[1]}", in: [a, b], out: [x, y], repeat: 3 }
  named: { run: "cat {in.p} > {out.q}; echo {round} >> {out.q}", in: { p: a, k: b }, out: { q: z }, repeat: { most: 4, carry: { q: p } } }
  many: { run: "set -- {in.s}; cat $1 > {out.s[1]}; cat $2 > {out.s[0]}", in: { s: [a, b] }, out: { s: [u, v] }, repeat: 3 }
X
sed -i 's/{out.s\[1\]}/{out[1]}/; s/{out.s\[0\]}/{out[0]}/' flow.yaml
echo A >a && echo B >b
cp a pa && cp b pb
for k in 1 2 3; do cat pb >px; (cat pa; echo "$k") >py; cp px pa; cp py pb; done
run flow.yaml && cmp -s x pa && cmp -s y pb
ok $? "without names: the first output is the next round's first input, and so on"
[ "$(tr '\n' ' ' <z)" = "A 1 2 3 4 " ] && [ "$(cat u v | tr -d '\n')" = BA ]
ok $? "carry says which output is which input; several files under a name go together"

# ---- a sub-workflow ----
place flow
cat >step.yaml <<'X'
weft: 1
parameters: { by: 1 }
tasks:
  add: { run: "read n < {in}; echo $((n + {by})) > {out}", in: cur.txt, out: mid.txt }
  double: { run: "read n < {in}; echo $((n * 2)) > {out}", in: mid.txt, out: nxt.txt }
X
cat >flow.yaml <<'X'
weft: 1
tasks:
  init: { run: "echo 1 > {out}", out: first.txt }
  loop: { flow: step.yaml, with: { by: 2 }, in: { cur.txt: first.txt }, out: { nxt.txt: final.txt }, repeat: { until: "{out} > 500", most: 30 } }
  use: { run: "cat {in} > {out}", in: final.txt, out: used.txt, after: loop }
X
n=1 k=0
while [ "$n" -le 500 ]; do n=$(((n + 2) * 2)) k=$((k + 1)); done
run flow.yaml && [ "$(cat used.txt)" = "$n" ] && [ -e "loop@round=$k/nxt.txt" ] && ran "$((2 * k + 3)) tasks ran"
ok $? "a sub-workflow is repeated"
run flow.yaml && ran "nothing to do"
ok $? "and is up to date"
sed -i 's/most: 30/most: 30, keep: last/' flow.yaml && run flow.yaml -f && [ "$(cat used.txt)" = "$n" ] && [ ! -e "loop@round=1/mid.txt" ] && [ -e "loop@round=1/nxt.txt" ]
ok $? "keep: last leaves what until asks, and the last round's results"
run flow.yaml && ran "nothing to do"
ok $? "nothing to do though the files of rounds are gone"

# ---- keep: last of a task ----
place keep
cat >flow.yaml <<'X'
weft: 1
tasks:
  walk: { run: "(cat {in.big}; echo {round}) > {out.big}; echo {round} > {out.n}", in: { big: zero.txt }, out: { big: big.txt, n: n.txt }, repeat: { until: "{out.n} = 4", most: 9, keep: last } }
X
echo 0 >zero.txt
run flow.yaml && [ "$(tr '\n' ' ' <big.txt)" = "0 1 2 3 4 " ] && [ -z "$(find . -path '*round*' -name big.txt)" ] && [ "$(find . -path '*round*' -name n.txt | wc -l)" = 4 ]
ok $? "what rounds hand on is gone at the end, what until asks is there"
run flow.yaml && ran "nothing to do: 5 tasks"
ok $? "nothing to do then"
rm big.txt && run flow.yaml && [ "$(tr '\n' ' ' <big.txt)" = "0 1 2 3 4 " ]
ok $? "the result is made again from the start if it must be"

# ---- one after the other, and lists that are read after ----
place nested
cat >flow.yaml <<'X'
weft: 1
lists: { part: { lines: parts.txt, after: grow } }
tasks:
  grow: { run: "(cat {in}; echo {round}) > {out}", in: zero.txt, out: parts.txt, repeat: { until: "{out} contains 3", most: 9 } }
  again: { each: part, run: "read n < {in}; echo $((n + 1)) > {out}", in: zero.txt, out: "again/{part}", repeat: { until: "{out} > {part}", most: 9 } }
  third: { run: "(cat {in.x}; echo x) > {out.x}; wc -l < {out.x} > {out.n}", in: { x: again/3, all: "again/{part}" }, out: { x: third.txt, n: lines.txt }, repeat: { until: "{out.n} >= 5", most: 9 } }
X
echo 0 >zero.txt
run flow.yaml && [ "$(cat again/0 again/1 again/2 again/3 | tr '\n' ' ')" = "1 2 3 4 " ] && [ "$(tr '\n' ' ' <third.txt)" = "4 x x x x " ]
ok $? "a list is read after a repeated task, its members are repeated, and another after them"
run flow.yaml && ran "nothing to do"
ok $? "all of it is up to date in one go"

# ---- a kill in the middle ----
place killed
cat >flow.yaml <<'X'
weft: 1
tasks:
  walk:
    run: |
      echo {round} >> $RAN
      [ {round} != 6 ] || [ -e $WORK/go ] || { touch $WORK/there; sleep 100; }
      (cat {in}; echo {round}) > {out}
    in: zero.txt
    out: end.txt
    pass: [RAN, WORK]
    repeat: { until: "{out} contains 10", most: 12 }
  use: { run: "cp {in} {out}", in: end.txt, out: used.txt }
X
echo 0 >zero.txt
: >"$RAN"
"$weft" run -q flow.yaml >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 1000); do [ -e "$work/there" ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
touch "$work/go"
run flow.yaml && (echo 0; seq 10) | cmp -s - used.txt && [ "$(sort -n "$RAN" | uniq -c | awk '$1 > 1 {print $2}')" = 6 ]
ok $? "killed in round 6, the next run goes on there: no other round ran twice"
run flow.yaml && ran "nothing to do: 12 tasks"
ok $? "and there is nothing to do"

# ---- what is refused, before anything runs ----
place wrong
echo 0 >zero.txt
bad() { # what `repeat` (and others) say, and the message
    printf 'weft: 1\nparameters: { p: 1 }\ntasks:\n  first: { run: "touch ran", sandbox: false }\n  t: { run: "echo > {out}", %s }\n' "$1" >flow.yaml
    rm -f ran
    says 2 "$2" && [ ! -e ran ]
    ok $? "refused: $2"
}
io='in: { s: zero.txt }, out: { s: end.txt }'
bad "$io, repeat: { until: \"{out.nosuch} > 1\", most: 3 }" "until names {out.nosuch}, but no output is called 'nosuch'"
bad "$io, repeat: { until: \"{out.s} >\", most: 3 }" "flow.yaml:5: task 't': "
bad "$io, repeat: { until: \"{nosuch} > 1\", most: 3 }" "{nosuch} is no variable"
bad "$io, repeat: { until: \"{out[3]} > 1\", most: 3 }" "flow.yaml:5: task 't': "
bad "$io, repeat: { until: \"{out.s} > 1\" }" "\`most\` is missing: after how many rounds is it enough?"
bad "$io, repeat: { most: 0 }" "most is 0; expected a whole number of rounds, 1 to 100000"
bad "$io, repeat: { most: 1.5 }" "most is 1.5; expected a whole number"
bad "$io, repeat: { most: 1000001 }" "expected a whole number of rounds, 1 to 100000"
bad "$io, repeat: { most: many }" "most is 'many'"
bad "$io, repeat: -1" "most is -1"
bad "$io, repeat: [1]" "repeat is a list; expected a mapping"
bad "$io, repeat: { mots: 3 }" "did you mean 'most'?"
bad "$io, repeat: { most: 3, keep: some }" "keep is 'some'; expected all (the files of every round) or last"
bad "$io, repeat: { most: 3, accept: true }" "accept goes with until"
bad "$io, repeat: { most: 3, carry: { x: s } }" "carry names 'x', which is no output of the task"
bad "$io, repeat: { most: 3, carry: { s: t } }" "carry names 't', which is no input of the task"
bad "in: { a: zero.txt }, out: { b: end.txt }, repeat: 3" "no output of a round is an input of the next"
bad "in: [zero.txt, z2.txt], out: end.txt, repeat: 3" "It has 1 output and 2 inputs; name them"
bad "in: { s: [zero.txt, z2.txt] }, out: { s: end.txt }, repeat: 3" "1 output of a round would be 2 inputs of the next"
bad "out: end.txt, repeat: 3" "It has 1 output and 0 inputs"
bad "in: zero.txt, repeat: 3" "a round has no \`out\`"
bad "in: zero.txt, out: zero.txt, repeat: 3" "the first round reads 'zero.txt', and the last one's output would take its place"
bad "in: zero.txt, out: /tmp/x, repeat: 3" "lies outside of the workflow's folder"
bad "in: zero.txt, out: \"end{round}.txt\", repeat: 3" "{round} is no variable"
bad "in: zero.txt, out: \"{p}\", repeat: { until: \"{out} > {round}\", most: 3 } }
  u: { run: \"echo > 1\", out: \"1\"" "'1' is made by task 'u', too"
cat >flow.yaml <<'X'
weft: 1
lists: { round: [1, 2] }
tasks:
  t: { run: "cp {in} {out}", in: zero.txt, out: end.txt, repeat: 3 }
X
says 2 "{round} is the number of the round"
ok $? "a variable of that name"
cat >flow.yaml <<'X'
weft: 1
tasks:
  a: { run: "cat {in} > {out}", in: { s: zero.txt, o: b.txt }, out: { s: a.txt }, repeat: { until: "{out.s} > 1", most: 3 } }
  b: { run: "cat {in} > {out}", in: { s: zero.txt, o: a.txt }, out: { s: b.txt }, repeat: { until: "{out.s} > 1", most: 3 } }
X
says 2 "a cycle"
ok $? "two repeated tasks that need each other"
cat >flow.yaml <<'X'
weft: 1
tasks:
  t: { run: "cp zero.txt end.txt", in: zero.txt, out: end.txt, repeat: { until: "{out} > 1", most: 3 } }
X
run -n flow.yaml && grep -q "its command spells out 'end.txt', which has another name in each round" "$work/err"
ok $? "a command that spells out what has another name in each round gets a remark"
cat >flow.yaml <<'X'
weft: 1
tasks:
  t: { run: "cp {in} {out}", in: zero.txt, out: end.txt, repeat: { until: "{out} > 1", most: 3 } }
X
run flow.yaml; alone=$?
if command -v redis-server >/dev/null; then
    run flow.yaml --on local:2 -j 1 --force
    [ $? = $alone ] && grep -q "3 rounds, and until does not hold" "$work/out"
    ok $? "on agents it ends as it does here (016_growth_cluster_test has the rest)"
else
    ok 0 "on agents it ends as it does here # SKIP redis-server is not installed"
fi

echo "1..$count"
exit $failed
