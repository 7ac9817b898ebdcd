#!/usr/bin/env bash
# What a command runs in could only be said inside the command itself: variables, secrets, an image, an environment of conda,
# modules. Speaks TAP. Containers, conda and modules by stand-ins here; real podman in 016_podman_test.
# shellcheck disable=SC2016 # variables in single quotes are the tasks'
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work HOME=$work/home XDG_CONFIG_HOME=$work/config
unset TOKEN WEFT_CONTAINER MODULESHOME LMOD_PKG BASH_ENV
mkdir -p "$HOME" "$work/config" "$work/t"
cd "$work/t" || exit 1
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/err" 2>/dev/null | head -n 12; fi
}
run() { timeout 60 "$weft" run "$@" >"$work/out" 2>"$work/err"; }
flow() { cat >flow.yaml; } # and nothing of an earlier one
fresh() { rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" && flow; }
ran() { grep -q "$1 tasks\{0,1\} ran" "$work/out" "$work/err"; } # number
nothing() { grep -q "nothing to do" "$work/out" "$work/err"; }
refused() { # status text...: it fails so, and says all of it, before anything runs
    local want=$1 text missing=""
    shift
    run flow.yaml
    local got=$?
    for text in "$@"; do grep -qF -- "$text" "$work/err" || missing=$text; done
    [ $got = "$want" ] && [ -z "$missing" ] && [ ! -e o ]
    ok $? "refused with $want: $1${missing:+ (not said: $missing)}"
}

# ---- env ----
fresh <<'Y'
weft: 1
name: env
parameters: { level: high }
lists: { doc: [a, b c] }
defaults: { env: { WHO: default, LANG: C, LEVEL: "{level}" } }
tasks:
  one:
    run: echo "$WHO|$LANG|$LEVEL|$THREADS|$FILES|$BRACE|$TWO" > {out.o}
    in: { x: flow.yaml }
    out: { o: one.txt }
    cores: 2
    env: { WHO: "{task}", LANG: , THREADS: "{cores}", FILES: "{in.x} {out[0]}", BRACE: "{{x}}", TWO: "1\n2" }
  doc: { each: doc, run: 'printf "%s|%s" "$DOC" "$WHO" > {out}', out: "doc-{doc}", env: { DOC: "<{doc}>" } }
Y
LANG=de_DE.UTF-8 run flow.yaml -j2 && [ "$(cat one.txt)" = "$(printf 'one|de_DE.UTF-8|high|2|flow.yaml one.txt|{x}|1\n2')" ]
ok $? "variables: the task's before the defaults', words in braces filled in and not quoted, one taken back"
[ "$(cat doc-a)" = '<a>|default' ] && [ "$(cat 'doc-b c')" = '<b c>|default' ]
ok $? "of each member of a family"
run flow.yaml && nothing && sed -i 's/THREADS: "{cores}"/THREADS: "{cores}0"/' flow.yaml && sed -i 's/in: { x: flow.yaml }/in: { x: x }/' flow.yaml && touch x && run flow.yaml && ran 1 && run flow.yaml && nothing
ok $? "another value runs the task again, and no other"
sed -i 's/WHO: default/WHO: nobody/' flow.yaml && run flow.yaml && ran 2 && [ "$(cat doc-a)" = '<a>|nobody' ]
ok $? "a default's other value, those who use it"
sed 's/ env: .*/ }/; s/^    env:.*//' flow.yaml | sed 's/, *}$/ }/; s/^defaults:.*//' >plain.yaml
"$weft" convert flow.yaml again.yaml >"$work/out" 2>"$work/err" && rm -rf .weft && run again.yaml && [ "$(cat doc-a)" = '<a>|nobody' ] && [ "$(cat one.txt)" = "$(printf 'one|%s|high|20|x one.txt|{x}|1\n2' "${LANG-}")" ]
ok $? "converted to native YAML and back it is the same"
"$weft" convert again.yaml stg.stg >"$work/out" 2>"$work/err" && grep -q "dropped: variables of 3 tasks" "$work/err"
ok $? "a format without a place for them says so"

# ---- pass ----
fresh <<'Y'
weft: 1
tasks:
  all: { run: "env > {out}", out: all }
  some: { run: "env > {out}", out: some, pass: [KEPT, ABSENT], env: { OWN: 1 } }
  none: { run: "env > {out}", out: none, pass: [] }
Y
KEPT=1 OTHER=2 run flow.yaml && grep -q '^OTHER=2' all && grep -q '^KEPT=1' all
ok $? "without pass a task has all variables, as ever"
grep -q '^KEPT=1' some && grep -q '^OWN=1' some && grep -q '^PATH=' some && ! grep -q 'OTHER\|ABSENT\|^HOME=' some
ok $? "with it those alone, and PATH"
! grep -q 'KEPT\|OTHER' none && grep -q '^PATH=' none
ok $? "an empty list passes none"
KEPT=another OTHER=3 run flow.yaml && nothing
ok $? "what is passed is no part of the key"

# ---- secret ----
fresh <<'Y'
weft: 1
tasks:
  s: { run: "echo it is $TOKEN; echo -n $TOKEN | wc -c > {out}", out: o, secret: TOKEN }
  t: { run: "echo ${TOKEN-none} > {out}", out: t }
  u: { run: "echo $TOKEN >&2; exit 3", secret: [TOKEN] }
Y
refused 2 "flow.yaml:3: task 's': there is no secret 'TOKEN'" "config/weft/secrets/TOKEN" "mode 600"
mkdir -p "$work/config/weft/secrets" && printf 'opensesame\n' >"$work/config/weft/secrets/TOKEN" && chmod 644 "$work/config/weft/secrets/TOKEN"
refused 2 "has mode 644" "chmod 600"
chmod 600 "$work/config/weft/secrets/TOKEN"
run flow.yaml
[ $? = 1 ] && [ "$(cat o)" = 10 ] && [ "$(cat t)" = none ]
ok $? "a secret of a file of mode 600, for those who ask"
rm -f o && TOKEN=hidden99 run flow.yaml -k
[ "$(cat o)" = 8 ] && [ "$(cat t)" = none ]
ok $? "a variable goes first, and is hidden from tasks that did not ask"
grep -qr 'it is \*\*\*\*\*\*\*\*' .weft/logs
ok $? "a log that would show it has asterisks"
"$weft" history >"$work/h" 2>&1
"$weft" report -o "$work/page.html" >>"$work/h" 2>&1
run flow.yaml -n -v
! grep -rqE 'opensesame|hidden99' .weft "$work/history.db" "$work/h" "$work/page.html" "$work/out" "$work/err"
ok $? "neither record, history, page, log nor message has it"
TOKEN=other run flow.yaml -n && ! grep -q "t s\b" "$work/out" && ! grep -q "^s " "$work/out"
ok $? "and the key has not: another value runs nothing again"
(unset TOKEN; rm -f "$work/config/weft/secrets/TOKEN"; run flow.yaml t) && nothing
ok $? "who has nothing to do needs no secret"

# ---- mistakes ----
wrong() { # 'KEYS' TEXT: at their place
    fresh <<Y
weft: 1
tasks:
  t:
    run: "echo x > {out}"
    out: o
    $1
Y
    shift
    refused 2 "$@"
}
wrong 'env: [A]' "flow.yaml:6: task 't': env is a list"
wrong 'env: { 1A: x }' "flow.yaml:6: task 't': env has '1A', which cannot be the name of a variable"
wrong 'env: { WEFT_TASK: x }' "flow.yaml:6:" "variables that begin with WEFT_ are weft's own"
wrong 'env: { A: [x] }' "flow.yaml:6: task 't': env: A is a list; expected a text"
wrong 'env: { A: "{corse}" }' "task 't': A of its env" "did you mean {cores}?"
wrong 'env: { A: "{memory}" }' "but the task states none"
wrong 'env: { A: "{in[0]}" }' "the task has no such file"
wrong 'env: { A: "${HOME}/x" }' 'no shell fills it in' '`pass` the variable'
wrong 'pass: [A B]' "flow.yaml:6: task 't': pass has 'A B'"
wrong 'secret: 2' "flow.yaml:6: task 't': secret has '2', which cannot be the name of a variable"
wrong 'container: "a b"' "flow.yaml:6: task 't': container is 'a b'; expected an image"
wrong 'modules: [-x]' "flow.yaml:6: task 't': modules has '-x', which is an option"
wrong 'conda: [a, b]' "flow.yaml:6: task 't': conda is a list"
wrong 'secrets: A' "flow.yaml:6:" "did you mean 'secret'?"
printf 'weft: 1\ntasks:\n  t: { call: "x.so:f", env: { A: 1 } }\n' >flow.yaml
refused 2 "flow.yaml:3: task 't': env goes with run; a call has none"

echo "1..$count"
exit $failed
