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
. "$(dirname "$0")/../support/tap.sh"
cd "$work/t" || exit 1
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


# ---- programs that are not here, and stand-ins for them ----
# a PATH that has nothing but what tasks here use
bin=$work/bin
mkdir "$bin"
for name in timeout id ls bash sh env cat wc rm mkdir touch tr sort flock grep; do ln -s "$(command -v $name)" "$bin/$name"; done
path=$PATH
only() { PATH=$bin "$@"; }
stand_in() { # name: a script of that name, from standard input
    cat >"$bin/$1" && chmod +x "$bin/$1"
}
wrong_here() { # 'KEYS' TEXT...
    fresh <<Y
weft: 1
tasks:
  t: { run: "echo x > {out}", out: o, $1 }
Y
    shift
    local want=$1 text missing=""
    PATH=$bin run flow.yaml
    local got=$?
    for text in "$@"; do grep -qF -- "$text" "$work/err" || missing=$text; done
    [ $got = 2 ] && [ -z "$missing" ] && [ ! -e o ]
    ok $? "refused: $want${missing:+ (not said: $missing)}"
}
wrong_here 'container: "debian:12"' "flow.yaml:3: task 't': there is no podman, docker or apptainer in PATH" "WEFT_CONTAINER"
printf 'name: x\n' >"$work/tools.yaml"
wrong_here "conda: $work/tools.yaml" "flow.yaml:3: task 't': conda: there is no conda, mamba or micromamba in PATH"
wrong_here 'conda: none.yaml' "flow.yaml:3: task 't': conda:" "none.yaml" "No such file"
wrong_here 'modules: gcc/12' "flow.yaml:3: task 't': modules: there is no \`module\` command"
wrong_here "conda: $work/tools.yaml, container: \"a@sha256:1\"" "container and conda together" '`conda: none`'
export WEFT_CONTAINER="chroot /x"
wrong_here 'container: "debian:12"' "WEFT_CONTAINER is 'chroot /x'; expected podman, docker or apptainer"
export WEFT_CONTAINER="podman --root /x"
wrong_here 'container: "debian:12"' "WEFT_CONTAINER names 'podman', which is not on this machine"
unset WEFT_CONTAINER

# docker: images are known by their number, words come behind it
stand_in docker <<'S'
#!/bin/sh
case "$1 $2" in
"image inspect") [ "$5" = tools:1 ] && echo sha256:0123456789abcdef0123 || exit 1 ;;
"pull -q") exit 1 ;;
"run --rm")
    printf '%s\n' "$@" >"$HOME/words"
    while [ "$1" != 0123456789abcdef0123 ]; do
        [ "$1" = -e ] && case $2 in *=*) export "$2" ;; esac
        [ "$1" = --workdir ] && work=$2
        shift
    done
    shift
    cd "$work" && exec "$@"
    ;;
"rm -f") echo "$@" >>"$HOME/removed" ;;
*) exit 9 ;;
esac
S
fresh <<'Y'
weft: 1
defaults: { container: "tools:1" }
tasks:
  a: { run: "echo $A $B $WEFT_TASK | tr a-z A-Z > {out}", out: o, in: flow.yaml, env: { A: "x y" }, pass: B, secret: S, memory: 1G }
Y
B=passed S=hidden77 only run flow.yaml && [ "$(cat o)" = "X Y PASSED A" ]
ok $? "a task by docker"
grep -qx -- '--network' "$HOME/words" && grep -qx 'A=x y' "$HOME/words" && grep -qx 'B' "$HOME/words" && grep -qx S "$HOME/words" && ! grep -q hidden77 "$HOME/words"
ok $? "values of secrets and of what is passed are no arguments"
grep -qx "type=bind,source=$PWD,target=$PWD,readonly" "$HOME/words" && grep -q "^type=bind,source=$PWD/.weft/sandbox/.*,target=[^,]*$" "$HOME/words" && grep -qx "$(id -u):$(id -g)" "$HOME/words" && grep -qx 1000000000b "$HOME/words"
ok $? "the folder can be read, the sandbox written; user and memory are given"
sed -i 's/tools:1/tools:2/' flow.yaml && only run flow.yaml
[ $? = 2 ] && grep -q "flow.yaml:4: task 'a': container 'tools:2': docker has no such image, and cannot pull it" "$work/err"
ok $? "an image that cannot be had"
fresh <<'Y'
weft: 1
tasks:
  a: { run: "touch started; sleep 600", sandbox: false, container: "tools:1", timeout: 1 }
Y
ln -sf "$(command -v sleep)" "$bin/sleep"
rm -f "$HOME/removed"
only run flow.yaml
[ $? = 1 ] && grep -q "^rm -f weft-" "$HOME/removed"
ok $? "what ran past its time is removed where it runs"

# apptainer: a file, variables by its own names
rm "$bin/docker"
stand_in apptainer <<'S'
#!/bin/sh
[ "$1" = exec ] || exit 9
env | grep '^APPTAINERENV_' >"$HOME/variables"
printf '%s\n' "$@" >"$HOME/words"
while [ "${1%.sif}" = "$1" ]; do
    [ "$1" = --pwd ] && work=$2
    shift
done
shift
cd "$work" && exec "$@"
S
fresh <<'Y'
weft: 1
tasks:
  a: { run: "echo x > {out}", out: o, env: { A: 1 }, secret: S, container: tools.sif }
Y
echo one >tools.sif
S=hidden77 only run flow.yaml && [ "$(cat o)" = x ] && grep -qx APPTAINERENV_A=1 "$HOME/variables" && grep -qx APPTAINERENV_S=hidden77 "$HOME/variables" && ! grep -q hidden77 "$HOME/words" && grep -qx -- --cleanenv "$HOME/words"
ok $? "a task by apptainer"
S=x only run flow.yaml && nothing && echo two >tools.sif && S=x only run flow.yaml && ran 1
ok $? "another content of the file is another image"
sed -i 's/tools.sif/debian:12/' flow.yaml && S=x only run flow.yaml
[ $? = 2 ] && grep -q "apptainer pull tools.sif" "$work/err"
ok $? "an image that is no file, for apptainer"

# conda: made once, by whoever comes first
stand_in conda <<'S'
#!/bin/sh
echo "$@" >>"$HOME/conda"
case $1 in
env) mkdir -p "$5" && cat "$7" >"$5/made" && ! grep -q broken "$7" || { echo "no such package" >&2; exit 1; } ;;
run)
    export CONDA_PREFIX=$4
    shift 4
    exec "$@"
    ;;
esac
S
fresh <<'Y'
weft: 1
lists: { i: { from: 1, to: 4 } }
defaults: { conda: tools.yaml }
tasks:
  t: { each: i, run: "cat $CONDA_PREFIX/made | tr a-z A-Z > {out}", out: "o{i}", env: { A: "1" } }
  p: { run: "env > {out}", out: p, conda: none }
Y
printf 'dependencies: [gcc]\n' >tools.yaml
only run flow.yaml -j4 && [ "$(cat o1 o2 o3 o4 | sort -u)" = 'DEPENDENCIES: [GCC]' ] && [ "$(grep -c '^env create' "$HOME/conda")" = 1 ] && ! grep -q CONDA_PREFIX p
ok $? "four tasks in an environment that is made once, and one without"
only run flow.yaml && nothing && printf 'dependencies: [gcc, make]\n' >tools.yaml && only run flow.yaml -j4 && ran 4 && [ "$(grep -c '^env create' "$HOME/conda")" = 2 ]
ok $? "another content is another environment"
printf 'broken\n' >tools.yaml && only run flow.yaml
[ $? = 1 ] && grep -qr "could not make the environment" .weft/logs && grep -qr "no such package" .weft/logs
ok $? "one that cannot be made says why"

# modules
mkdir -p "$work/modules/init"
cat >"$work/modules/init/bash" <<'S'
module() { [ "$1" = load ] && [ "$2" != none/1 ] && export LOADED="$LOADED $2"; }
S
fresh <<'Y'
weft: 1
tasks:
  t: { run: "echo $LOADED > {out}", out: o, modules: [gcc/12, openmpi] }
Y
MODULESHOME=$work/modules only run flow.yaml && [ "$(cat o)" = "gcc/12 openmpi" ]
ok $? "modules are loaded in their order"
MODULESHOME=$work/modules only run flow.yaml && nothing && sed -i 's,gcc/12,gcc/13,' flow.yaml && MODULESHOME=$work/modules only run flow.yaml && ran 1 && [ "$(cat o)" = "gcc/13 openmpi" ]
ok $? "another module runs the task again"
sed -i 's,gcc/13,none/1,' flow.yaml && MODULESHOME=$work/modules only run flow.yaml
[ $? = 1 ] && grep -qr "'none/1' cannot be loaded" .weft/logs
ok $? "one that is not there is named"
PATH=$path

# ---- long commands with variables; the command wherever the task is shown ----
{
    printf 'weft: 1\ntasks:\n  t:\n    out: o\n    env: { A: b }\n    secret: S\n    run: |\n'
    seq 30000 | sed 's/^/      : /'
    printf '      echo $A $S > {out}\n'
} >"$work/long.yaml"
fresh <"$work/long.yaml"
S=hush run flow.yaml && [ "$(cat o)" = "b hush" ]
ok $? "a command past 128 KiB with variables of its own"
{
    printf 'weft: 1\ntasks:\n  t: { run: "echo $A > {out}", out: o, env: { A: '
    seq 30000 | tr -d '\n'
    printf ' } }\n'
} >"$work/long.yaml"
fresh <"$work/long.yaml"
run flow.yaml
[ $? = 1 ] && [ ! -e o ] && grep -q "its variable 'A' has [0-9]* bytes, and the system takes 131071" "$work/err" "$work/out"
ok $? "a variable past it says what to do"
fresh <<'Y'
weft: 1
tasks:
  t: { run: "echo $A; exit 3", env: { A: "x {cores}" }, secret: S, pass: [HOME] }
Y
S=hush run flow.yaml
[ $? = 1 ] && grep -qF "secret S, passing HOME, with A='x 1'" "$work/out" "$work/err"
ok $? "a failure tells what the command ran in"
run flow.yaml -n -v && grep -qF "secret S, passing HOME, with A='x 1'" "$work/out" && run flow.yaml --why t && grep -qF "with A='x 1'" "$work/out"
ok $? "and so do -n -v and --why"
echo "1..$count"
exit $failed
