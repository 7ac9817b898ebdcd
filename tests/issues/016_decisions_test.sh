#!/usr/bin/env bash
# Issue 16, point 4: when, optional, may_fail, retry_on, keep, --keep-failed. Random graphs against an oracle that works decisions out by
# itself (decisions_oracle.py). Speaks TAP.
weft=$WEFT
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db HOME=$work TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
flow() { # the body of tasks, on standard input
    { printf 'weft: 1\nname: flow\nparameters: { mode: fast, n: 3 }\nlists: { doc: [a, b] }\ntasks:\n'; cat; } >flow.yaml
}
refused() { # part of the message; tasks on standard input
    flow
    "$weft" run flow.yaml >out 2>err
    [ $? = 2 ] && grep -qF -- "$1" err
    ok $? "refused: $1"
}
run() { "$weft" run flow.yaml "$@" >out 2>err; }
summary() { head -n 1 out | sed 's/ in [^:]*: / /'; }

# ---- what is skipped, and what goes on ----
flow <<'Y'
  qc: { run: "echo PASS > {out}", out: qc.txt }
  good: { when: "{in.qc} contains PASS", run: "cp {in.qc} {out}", in: { qc: qc.txt }, out: good.txt }
  bad: { when: "{in.qc} contains FAIL", run: "cp {in.qc} {out}", in: { qc: qc.txt }, out: bad.txt }
  below: { run: "cp {in} {out}", in: bad.txt, out: below.txt }
  after: { run: "echo x > {out}", after: bad, out: after.txt }
  slow: { when: "{mode} = slow", run: "echo slow > {out}", out: slow.txt }
  member: { each: doc, when: "{doc} != b", run: "echo {doc} > {out}", out: "{doc}.out" }
  all: { run: "(echo '{in.s}.'; cat {in.list}; cat {in}; ls) > {out}", in: { g: good.txt, s: { name: slow.txt, optional: true }, b: { name: below.txt, optional: true }, e: { name: extra.in, optional: true }, m: { name: "{doc}.out", optional: true } }, out: all.txt }
Y
run
ok $? "a run in which tasks are skipped ends well"
[ "$(summary)" = "flow: done 5 tasks ran, 4 skipped" ]
ok $? "and counts them: $(summary)"
[ "$(tr '\n' ' ' <all.txt)" = ". good.txt a.out PASS a a.out all.txt good.txt " ]
ok $? "what is absent is empty in {in.s}, and in none of {in}, {in.list}, the sandbox: $(tr '\n' ' ' <all.txt)"
[ ! -e bad.txt ] && [ ! -e slow.txt ] && [ -e after.txt ]
ok $? "who only comes after a skipped task runs"
run
grep -q 'nothing to do: 5 tasks are up to date, 4 skipped' out
ok $? "again: nothing to do"
run -n
grep -q "nothing to do" out && grep -q "below is skipped: it needs what 'bad' makes, which is skipped" out
ok $? "-n says what is skipped"
run --why slow
grep -q 'slow is skipped: its `when` does not hold: "fast" = slow' out
ok $? "--why says why"
run slow.txt
ok $? "a target that is skipped"
grep -q "target 'slow.txt' is not made: task 'slow' is skipped" err && grep -q ': 1 task is skipped' out
ok $? "is told of"
run -p mode=slow
[ "$(summary)" = "flow: done 2 tasks ran, 4 reused, 3 skipped" ] && [ "$(sed -n 1p all.txt)" = "slow.txt." ]
ok $? "a task that was skipped and is taken now runs, and who reads it: $(summary)"
sed -i 's/{mode} = slow/{mode} = slow or {n} > 7/' flow.yaml
run -p mode=slow
grep -q 'nothing to do: 6 tasks are up to date, 3 skipped' out
ok $? "a changed condition recomputes nothing that is taken all the same"
run
[ "$(sed -n 1p all.txt)" = "." ] && [ -e slow.txt ] && ! grep -q slow all.txt
ok $? "what an earlier run left of a skipped task lies there, and is not read"
"$weft" run flow.yaml -f --json 2>err >out
grep -q '"event":"skipped".*"task":"below".*"because":"bad"' out && grep -q '"event":"skipped".*"task":"slow".*"when"' out &&
    grep '"event":"done"' out | grep -q '"failed":0,"skipped":4,"untaken":4,"excused":0'
ok $? "events tell of each"
"$weft" history last --json >out 2>err
grep -q '"skipped_tasks"' out && grep -q '"untaken": 4' out
ok $? "and the history"

# ---- what is asked of files ----
printf '0.93 of all\n' >score && head -c 3000 /dev/zero | tr '\0' x >big && head -c 1000001 /dev/zero >huge && printf 'n/a\n' >none
flow <<'Y'
  yes1: { when: "{in} > 0.9 and {in} <= 0.93", run: "true", in: score }
  yes2: { when: "size({in}) = 3K and not {in} contains y", run: "true", in: big }
  yes3: { when: "exists {in[0]} and (size({in[1]}) > 1M or {in[0]} = 'x')", run: "true", in: [score, huge] }
  no1: { when: "{in} < 0.9 or {mode} = slow", run: "false", in: score }
  no2: { when: "not exists {in}", run: "false", in: score }
Y
run
ok $? "numbers, sizes, texts"
[ "$(summary)" = "flow: done 3 tasks ran, 2 skipped" ]
ok $? "as they are: $(summary)"
for case in 'huge|{in} contains x|more than 1000000 bytes' 'none|{in} > 1|begins with '"'n/a'"; do
    IFS='|' read -r file when part <<<"$case"
    flow <<<"  t: { when: \"$when\", run: 'true', in: $file, retries: 3 }"
    run
    [ $? = 1 ] && grep -qF -- "$part" out && ! grep -q 'attempt 2' out err
    ok $? "a condition that cannot be answered fails its task, once: $part"
done
flow <<'Y'
  maker: { when: "{n} = 0", run: "echo x > {out}", out: x.txt }
  asks: { when: "{in} contains x", run: "true", in: { name: x.txt, optional: true } }
Y
run
[ $? = 1 ] && grep -q 'say `exists {in\[0\]} and ...`' out
ok $? "so does one about a file that is not there"

# ---- mistakes, when the file is read ----
refused '{moed} is no variable and no parameter; did you mean {mode}?' <<<'  t: { when: "{moed} = 1", run: "true" }'
refused "no input is called 'gc'; did you mean 'qc'?" <<<'  t: { when: "{in.gc} contains x", run: "true", in: { qc: a } }'
refused "flow.yaml:6: task 't': when:" <<<'  t: { when: "{in} contain x", run: "true", in: a }'
refused 'did you mean `contains`?' <<<'  t: { when: "{in} contain x", run: "true", in: a }'
refused 'name them in its `in`' <<<'  t: { when: "exists a.txt", run: "true" }'
refused 'stands for 2 files' <<<'  t: { when: "{in} contains x", run: "true", in: [a, b] }'
refused 'asked before it' <<<'  t: { when: "{out} contains x", run: "true", out: a }'
refused 'only numbers have an order' <<<'  t: { when: "{mode} > 3", run: "true" }'
refused 'which {doc}?' <<<'  t: { when: "{doc} = a", run: "true" }'
refused "expected ')'" <<<'  t: { when: "(1 = 1", run: "true" }'
refused "did you mean 'memory'?" <<<'  t: { run: "true", retries: 1, retry_on: [memroy] }'
refused 'expected 1 to 255' <<<'  t: { run: "true", retries: 1, retry_on: [300] }'
refused '0 is no failure' <<<'  t: { run: "true", retries: 1, retry_on: 0 }'
refused 'retry_on is empty' <<<'  t: { run: "true", retries: 1, retry_on: [] }'
refused 'optional belongs to the task that reads the file' <<<'  t: { run: "true", out: { name: x, optional: true } }'

# ---- failures ----
rm -rf .weft ./*.txt
flow <<'Y'
  bad: { run: "echo half > {out}; exit 3", out: bad.txt, may_fail: true }
  with: { run: "echo '[{in}]' > {out}", in: { name: bad.txt, optional: true }, out: with.txt }
  needs: { run: "cp {in} {out}", in: bad.txt, out: needs.txt }
Y
run
ok $? "a failure that may happen: exit 0"
[ "$(summary)" = "flow: done 1 task ran, 1 skipped, 1 failed (and may)" ] && [ "$(cat with.txt)" = "[]" ]
ok $? "and the run says so: $(summary)"
sed -i 's/, may_fail: true//' flow.yaml
run
[ $? = 1 ]
ok $? "without it: exit 1"
flow <<'Y'
  three: { run: "echo {attempt} >> FOLDER/three; exit 3", retries: 2, retry_on: [3], may_fail: true, sandbox: false }
  seven: { run: "echo {attempt} >> FOLDER/seven; exit 7", retries: 2, retry_on: [3, memory], may_fail: true, sandbox: false }
  killed: { run: "echo {attempt} >> FOLDER/killed; kill -KILL $$", retries: 2, retry_on: SIGKILL, may_fail: true, sandbox: false }
  timed: { run: "echo {attempt} >> FOLDER/timed; exec sleep 60", timeout: 0.2s, retries: 1, retry_on: [timeout], may_fail: true, sandbox: false }
Y
sed -i "s|FOLDER|$work|" flow.yaml
run --retry-delay 0.01s
[ $? = 0 ] && [ "$(wc -l <three)" = 3 ] && [ "$(wc -l <seven)" = 1 ] && [ "$(wc -l <killed)" = 3 ] && [ "$(wc -l <timed)" = 2 ]
ok $? "retry_on chooses: $(wc -l <three) $(wc -l <seven) $(wc -l <killed) $(wc -l <timed)"

# ---- keep ----
echo 1 >in.txt
flow <<'Y'
  t: { run: "cat {in} >> seen; echo x >> {out}; [ $(wc -l < {out}) -ge 3 ]", in: in.txt, out: o.txt, keep: true, retries: 1 }
Y
run
[ $? = 1 ] && [ ! -e o.txt ]
ok $? "two attempts are not enough"
run
[ $? = 0 ] && [ "$(wc -l <o.txt)" = 3 ] && [ -z "$(ls .weft/kept)" ]
ok $? "the next run goes on where they ended, and nothing of it is left then"
rm -f o.txt && "$weft" run flow.yaml -f >out 2>err
echo 2 >in.txt
run
[ $? = 1 ]
ok $? "with another input it begins anew"
flow <<'Y'
  t: { run: "echo x >> {out}; [ $(wc -l < {out}) -ge 2 ] || { : > FOLDER/began; exec sleep 600; }", in: in.txt, out: k.txt, keep: true }
Y
sed -i "s|FOLDER|$work|" flow.yaml
"$weft" run flow.yaml >out 2>err &
pid=$!
for _ in $(seq 600); do [ -e began ] && break; sleep 0.1; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null
run
[ $? = 0 ] && [ "$(wc -l <k.txt)" = 2 ]
ok $? "also after weft was killed"
flow <<'Y'
  f: { run: "echo half > {out}; exit 1", out: f.txt }
Y
run --keep-failed
grep -q "the sandbox of task 'f' is kept: .*/failed/f" err && [ "$(cat .weft/failed/f/f.txt)" = half ]
ok $? "--keep-failed keeps a sandbox to look at"
"$weft" clean flow.yaml >out 2>err && [ -z "$(ls .weft/failed)" ]
ok $? "and weft clean removes it"

# ---- written and read again ----
flow <<'Y'
  qc: { run: "echo 'a \"b\" {{c}}' > {out}", out: qc.txt }
  t: { when: "{in.qc} contains 'a \"b\" {{c}}' and {mode} = fast", run: "true", in: { x: [qc.txt, qc.txt], qc: qc.txt, o: { name: other, optional: true } }, may_fail: true, keep: true, retries: 2, retry_on: [SIGTERM, timeout] }
Y
"$weft" convert flow.yaml again.yaml >out 2>err && "$weft" convert again.yaml third.yaml >>out 2>&1 && cmp again.yaml third.yaml &&
    grep -q 'retry_on: \[143,timeout\]' again.yaml && grep -q 'optional: true' again.yaml && "$weft" run again.yaml >out 2>err
ok $? "written, read again and run"

# ---- the hook of a failed task: once for each that no attempt follows, whatever says so ----
cat >hooks.yaml <<'Y'
weft: 1
hooks: { task_failed: "cat >> failed.jsonl" }
tasks:
  plain: { run: "exit 3" }
  again: { run: "exit 3", retries: 2 }
  other: { run: "exit 3", retries: 2, retry_on: [137] }
  late: { run: "test {attempt} = 1 && exit 137; exit 4", retries: 3, retry_on: [137] }
  rungs: { run: "exit 3", memory: [10M, 20M] }
  cured: { run: "test {attempt} = 2", retries: 2 }
Y
"$weft" run hooks.yaml --keep-going >out 2>err
[ "$(python3 -c 'import json; print(*sorted(e["task"] + ":" + str(e["attempt"]) for e in map(json.loads, open("failed.jsonl"))))' 2>>err)" = "again:3 late:2 other:1 plain:1 rungs:2" ]
ok $? "hook task_failed runs when no attempt follows: $(sed 's/.*"task":"\([a-z]*\)".*"attempt":\([0-9]*\).*/\1:\2/' failed.jsonl 2>/dev/null | sort | tr '\n' ' ')"

# another failure ends the run while a task waits for its next attempt: the head counted it as not run, the list as failed
flow <<'Y'
  again: { run: "touch $HERE/first; exit 4", retries: 9, pass: [HERE] }
  other: { run: "until [ -e $HERE/first ]; do sleep 0.01; done; sleep 0.03; exit 5", pass: [HERE] }
Y
HERE=$work run -j2
python3 - out >>err 2>&1 <<'P'
import re, sys
text = open(sys.argv[1]).read()
head = int(re.search(r", (\d+) failed", text.split("\n")[0])[1])
listed, rest = re.search(r"\n(\d+) tasks? failed(.*):\n", text).groups()
left = re.search(r"ended before (\d+) of them", rest)
sys.exit(head + int(left[1] if left else 0) != int(listed))
P
ok $? "the head of a failed run and its list of failures count alike"

# ---- an oracle ----
python3 "$here/decisions_oracle.py" "$weft" 12 16 >out 2>err
ok $? "12 random graphs, each run four times, decide as an oracle does"
echo "1..$count"
exit "$failed"
