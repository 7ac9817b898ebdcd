#!/usr/bin/env bash
# Issue 14, point 11: a failure showed neither the command as it ran nor what to do about it, 31 failures for want of one file were 31
# paragraphs, `weft report` of a failed run had nothing of it, and a crontab line had no log. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
has() { # text what: a line of the output
    grep -qF -- "$1" "$work/out"
    ok $? "$2"
}
cd "$work" || exit 1

# 31 tasks and one mistake
{
    printf 'weft: 1\nname: many\nparameters: { level: 7 }\ntasks:\n'
    for i in $(seq 31); do printf '  align_%d: { run: "./tool.sh --level {level} {in} > {out}", in: reads.txt, out: "sam/%d.sam" }\n' "$i" "$i"; done
} >many.yaml
echo 'cat "$3"' >tool.sh
chmod +x tool.sh
echo acgt >reads.txt
run many.yaml -k
[ $? = 1 ]
ok $? "31 tasks fail"
has "31 tasks failed, all for one cause:" "for one cause"
grep -qE '^  align_[0-9]+, align_[0-9]+, align_[0-9]+ and 28 more: exit status 127' out
ok $? "the first are named, the others counted"
grep -qE '^    \$ \./tool\.sh --level 7 reads\.txt > sam/[0-9]+\.sam$' out
ok $? "the command, with files and parameters filled in"
[ "$(grep -c 'tool.sh --level' out)" = 1 ]
ok $? "once"
has "'tool.sh' is here, but not in the task's \`in\`" "the hint fits"
grep -q '^    | .*tool.sh' out
ok $? "its last lines"

# the same of a past run, from elsewhere
mkdir elsewhere
(cd elsewhere && "$weft" report) >out 2>err
has "31 tasks failed, all for one cause:" "weft report of a past run"
has "'tool.sh' is here" "with the hint"
"$weft" report --json >out 2>err
python3 - "$work/out" <<'END2'
import json, sys
causes = json.load(open(sys.argv[1]))["causes"]
c = causes[0]
sys.exit(not (len(causes) == 1 and c["count"] == 31 and len(c["tasks"]) == 31 and "--level 7 reads.txt" in c["command"]
              and "tool.sh" in c["last_lines"] and "`in`" in c["hint"] and c["log"].startswith("/")))
END2
ok $? "as JSON"
"$weft" report -o page.html >out 2>err && grep -q 'class="command">./tool.sh --level 7 reads.txt &gt; sam/' page.html && [ "$(grep -c 'class="cause"' page.html)" = 1 ]
ok $? "on the page"
"$weft" history last >out 2>err
grep -qE '^  \$ \./tool\.sh --level 7 reads\.txt' out
ok $? "weft history RUN"
"$weft" history last --json >out 2>err && grep -q '"command": "./tool.sh --level 7 reads.txt > sam/1.sam"' out
ok $? "its JSON has every attempt's command"
"$weft" history last --export attempts.csv >out 2>err && head -n 1 attempts.csv | grep -q ',command' && grep -q 'tool.sh --level 7' attempts.csv
ok $? "and so has its CSV"

# other mistakes, each with its own hint
cat >kinds.yaml <<'YAML'
weft: 1
tasks:
  typo: { run: "cat {in} | gerp x > {out}", in: reads.txt, out: t.txt }
  denied: { run: "./plain.sh {in} > {out}", in: [plain.sh, reads.txt], out: d.txt }
  quoted: { run: "cat \"{in}\" > {out}", in: "my reads.txt", out: q.txt }
  long:
    run: |
      echo one
      echo two >&2
      exit 3
    in: reads.txt
    out: l.txt
YAML
cp reads.txt 'my reads.txt'
echo 'cat' >plain.sh
run kinds.yaml -k
has "4 tasks failed:" "four causes are four"
has "there is no program 'gerp' in PATH where weft was started; did you mean 'grep'?" "a program that is nowhere"
has "'plain.sh' is not executable: chmod +x plain.sh" "a file that may not be executed"
has "names are quoted already where it is needed: write {in} without quotes around it" "quotes around quotes"
grep -A2 '^    \$ echo one$' out | tail -n 1 | grep -qx '      exit 3'
ok $? "a command of several lines"

# before it runs, and while
run many.yaml -n -v
grep -qx '  \$ ./tool.sh --level 7 reads.txt > sam/1.sam' out
ok $? "-n -v"
run many.yaml -n --json && grep -q '"command": "./tool.sh --level 7 reads.txt > sam/1.sam"' out
ok $? "-n --json"
run many.yaml --why align_3
grep -qx '  \$ ./tool.sh --level 7 reads.txt > sam/3.sam' out
ok $? "--why"
run many.yaml --json
grep '"event":"begin"' out | grep -q '"command":"./tool.sh --level 7 reads.txt > sam/1.sam"'
ok $? "events: when it begins"
grep '"event":"task"' out | grep '"outcome":"failed"' | grep -q '"command":"./tool.sh'
ok $? "and when it has failed"
"$weft" plan many.yaml --trace t.json >out 2>err && grep -q '"command": *"./tool.sh --level 7' t.json
ok $? "a trace"

# cron
run many.yaml -k -q --log cron.log
[ $? = 1 ]
ok $? "-q --log: the exit status tells"
cp cron.log out
! grep -vqE '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} weft\[[0-9]+\]: ' out
ok $? "every line has the time and the process"
has "31 of 31 tasks to run" "the start"
[ "$(grep -c ': task align_[0-9]*: exit status 127' out)" = 31 ]
ok $? "each failure"
has "  'tool.sh' is here" "the cause, with its hint"
tail -n 1 out | grep -q 'many: failed after .*31 failed'
ok $? "the end"
! grep -q "$(printf '\033')" out
ok $? "no codes for terminals"
before=$(wc -l <cron.log)
run nothing.yaml -q --log cron.log
[ $? = 2 ] && tail -n 1 cron.log | grep -q 'nothing.yaml: cannot open' && [ "$(wc -l <cron.log)" = $((before + 1)) ]
ok $? "a run that cannot begin says so there, too; lines are appended"
sed -i 's/in: reads.txt/in: [reads.txt, tool.sh]/; s/{in} >/reads.txt >/' many.yaml
run many.yaml -q --log cron.log && tail -n 1 cron.log | grep -q 'many: done after .*31 ran' && [ ! -s out ]
ok $? "a run that ends well"
run many.yaml -q --log cron.log && tail -n 1 cron.log | grep -q 'nothing to do, 31 tasks are up to date'
ok $? "nothing to do"
run many.yaml -q --log missing/cron.log
[ $? = 2 ] && grep -q 'missing/cron.log' err
ok $? "a log that cannot be opened"
run many.yaml -f -q --log /dev/full
[ $? = 1 ] && grep -q 'No space left' err
ok $? "a log that cannot be written"
# hooks: commands of the workflow's own, with what happened on their standard input
mkdir hooks
cd hooks || exit 1
cat >flow.yaml <<'YAML'
weft: 1
name: watched
hooks:
  done: cat >> told; echo "done in $PWD" >> told
  failed: cat >> told
  task_failed: |
    cat >> told.$$
    mv told.$$ failed.$$
tasks:
  good: { run: "echo x > {out}", out: x.txt }
  bad1: { run: "echo no such luck >&2; exit 4", after: good, retries: 1 }
  bad2: { run: "exit 5", after: good }
  after: { run: "true", after: bad1 }
YAML
run flow.yaml -k
[ $? = 1 ] && [ "$(cat failed.* | wc -l)" = 2 ]
ok $? "hook task_failed: once a task, after its last attempt"
python3 - <<'END2'
import glob, json, os, sys
events = {e["task"]: e for e in (json.loads(open(f).read()) for f in glob.glob("failed.*"))}
b = events["bad1"]
good = (b["schema"] == "weft-hook/1" and b["event"] == "task_failed" and b["workflow"] == "watched" and b["status"] == 4 and b["attempt"] == 2
        and b["command"].startswith("echo no such") and b["last_lines"] == "no such luck" and b["folder"] == os.getcwd() and events["bad2"]["status"] == 5)
end = json.loads(open("told").read())
good = good and end["event"] == "failed" and end["outcome"] == "failed" and end["failed"] == 2 and end["run"] > 0
good = good and sorted(t for c in end["causes"] for t in c["tasks"]) == ["bad1", "bad2"]
sys.exit(not good)
END2
ok $? "the events, as JSON"
sed -i 's/exit [45]/true/' flow.yaml
rm -f told
run flow.yaml && grep -q '"event":"done"' told && grep -q "^done in $PWD$" told && [ ! -s "$work/err" ]
ok $? "hook done, in the workflow's folder"
rm -f told
run flow.yaml && [ ! -e told ]
ok $? "nothing to do: nothing has happened"
run flow.yaml -n -f && [ ! -e told ]
ok $? "a dry run has no hooks"
rm -f told
run flow.yaml -f --on local:1 && grep -q '"event":"done"' told
ok $? "hooks of a run on agents, here"
sed -i 's/^  done: .*/  done: echo oh dear; exit 9/' flow.yaml
run flow.yaml -f && grep -q "hook 'done' failed: exit status 9 (oh dear)" "$work/err"
ok $? "a hook that fails is a remark"
grep -q "oh dear" .weft/logs/*/hooks.log
ok $? "what it wrote is kept"
sed -i 's/^  done: .*/  donee: true/' flow.yaml
run flow.yaml
[ $? = 2 ] && grep -q "did you mean 'done'" "$work/err"
ok $? "a hook that there is not"
cd ..

echo "1..$count"
exit $failed
