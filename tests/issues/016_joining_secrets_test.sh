#!/usr/bin/env bash
# Issue 16: a secret that only a joining task names was found by all others, in their environment and so in their logs. One that the file
# names is hidden from the start; one that only a file of tasks names, which a task writes, from when it is read. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work XDG_CONFIG_HOME=$work/config
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; cat "$work/out" "$work/err" .weft/logs/*/* 2>/dev/null | sed 's/^/# /' | head -n 30; fi
}
mkdir "$work/list" && cd "$work/list" || exit 1
cat >flow.yaml <<'YAML'
weft: 1
lists: { chunk: { lines: chunks, after: split } }
tasks:
  split: { run: "echo ${TOKEN:-nothing}; printf 'a\nb\n' > {out}", out: chunks }
  other: { run: "echo ${TOKEN:-nothing}; while [ ! -e done_a ]; do sleep 0.1; done; echo ${TOKEN:-nothing}; echo 1 > {out}", out: o, sandbox: false }
  push: { each: chunk, run: "echo $TOKEN; test $TOKEN = opensesame; : > done_{chunk}; echo 1 > {out}", out: "p_{chunk}", secret: TOKEN, sandbox: false }
YAML
TOKEN=opensesame "$weft" run flow.yaml -j 2 >"$work/out" 2>"$work/err"
ok $? "who asks for it has it, also when it joins"
! grep -rq opensesame .weft
ok $? "and nobody has written it down"
[ "$(cat .weft/logs/*/split.log)" = nothing ]
ok $? "before it joined nobody else found it"
[ "$(sort -u .weft/logs/*/other.log)" = nothing ]
ok $? "nor did who ran meanwhile"

# a task writes the file whose tasks name it: nobody could know
mkdir "$work/file" && cd "$work/file" || exit 1
cat >part.yaml <<'YAML'
weft: 1
tasks:
  push: { run: "test $TOKEN = opensesame; : > go; echo 1 > {out}", out: p, secret: TOKEN, sandbox: false }
  late: { run: "echo ${TOKEN:-nothing}; echo 1 > {out}", in: p, out: l }
YAML
cat >flow.yaml <<'YAML'
weft: 1
tasks:
  write: { run: "cp {in} {out}", in: part.yaml, out: more.yaml }
  other: { run: "while [ ! -e go ]; do sleep 0.1; done; echo ${TOKEN:-nothing}; echo 1 > {out}", out: o, sandbox: false }
  more: { tasks: more.yaml, after: write }
YAML
TOKEN=opensesame "$weft" run flow.yaml -j 2 >"$work/out" 2>"$work/err"
ok $? "a file of tasks that name a secret"
! grep -rq opensesame .weft
ok $? "no log has it, of who began before it was known neither"
[ "$(cat .weft/logs/*/*late*.log)" = nothing ]
ok $? "and who began after it joined does not find it"
echo "1..$count"
exit $failed
