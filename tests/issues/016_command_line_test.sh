#!/usr/bin/env bash
# Issue 16, point 2: what comes from the command line. --params, what a run's record says was given, --from that means --since, options that
# a platform cannot have. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
unset WEFT_STORE WEFT_KEY
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
fails() { # part-of-message arguments...
    local part=$1
    shift
    "$weft" "$@" >out 2>err
    [ $? = 2 ] && grep -qF -- "$part" err
    ok $? "exit 2, '$part': weft $*"
}
tasks() { "$weft" show "$@" --json 2>err | sed -nE 's/^ *"tasks": ([0-9]+),/\1/p'; }

# ---- --params ----
mkdir texts
echo 'a b' >texts/one.txt
echo 'c' >texts/two.txt
cat >flow.yaml <<'END'
weft: 1
name: words
parameters: { flag: "-c", dir: counts }
lists: { doc: { files: "texts/{doc}.txt" }, n: [1, 2] }
tasks:
  count: { each: doc, run: "sort {in} | uniq {flag} > {out}", in: "texts/{doc}.txt", out: "{dir}/{doc}.txt" }
  top: { each: n, run: "cat {in} | sort | sed {n}q > {out}", in: "{dir}/{doc}.txt", out: "top{n}" }
END
cat >site.yaml <<'END'
# of this site
flag: -d
dir: elsewhere
n: [1, 2, 3]
END
[ "$(tasks flow.yaml --params site.yaml)" = 5 ]
ok $? "a list of the file"
[ "$(tasks flow.yaml --params site.yaml -p n=4)" = 3 ]
ok $? "-p wins over it"
"$weft" run flow.yaml --params site.yaml -p flag=-u -q 2>err && [ -f elsewhere/one.txt ] && [ -f top3 ]
ok $? "a run with both"
"$weft" run flow.yaml --params site.yaml -p flag=-u 2>err | grep -q "nothing to do"
ok $? "and nothing to do again"
"$weft" history 1 >out 2>err && grep -q 'given .*flag=-u; --params=site.yaml; flag: -d; dir: elsewhere; n: \[1, 2, 3\]' out
ok $? "the record says what was given"
"$weft" history 1 --json 2>err | grep -q '"given": "flag=-u; --params=site.yaml'
ok $? "as JSON, too"
"$weft" run flow.yaml -q 2>err && "$weft" history last --json 2>err | grep -q '"given": null'
ok $? "nothing was given"
for command in "show" "run -n" "plan --on 2" "sim --on 2" "compare --on 2 --with heft" "bound" "predict" "clean -n"; do
    # shellcheck disable=SC2086 # words
    "$weft" ${command%% *} flow.yaml $(cut -d ' ' -f 2- -s <<<"$command") --params site.yaml >out 2>err
    ok $? "weft $command --params"
done
echo 'n: 5,6' >n.yaml
[ "$(tasks flow.yaml --params n.yaml)" = 4 ]
ok $? "a text is taken as -p takes it"
echo 'n: ["a,b", c]' >n.yaml
"$weft" show flow.yaml --tasks --params n.yaml 2>err | grep -q 'top@n=a,b'
ok $? "a value of a list stands as it is"
echo 'n: { from: 1, to: 10 }' >n.yaml
[ "$(tasks flow.yaml --params n.yaml)" = 12 ]
ok $? "a range"
printf 'flag: -x\nfalg: 3\n' >wrong.yaml
fails "wrong.yaml:2: 'falg': there is no parameter and no list of that name; did you mean 'flag'?" show flow.yaml --params wrong.yaml
echo 'flag: [1, 2]' >wrong.yaml
fails "wrong.yaml:1: parameter 'flag' is a list; expected a text or a number" run flow.yaml --params wrong.yaml
echo 'n: [1, 1]' >wrong.yaml
fails "wrong.yaml:1: list 'n' has the value '1' twice" run flow.yaml --params wrong.yaml
echo '- n' >wrong.yaml
fails "expected a mapping" run flow.yaml --params wrong.yaml
fails "nothing.yaml: cannot open" run flow.yaml --params nothing.yaml
printf 'weft: 1\nnodes: [{ name: n1, speed: 1 }]\n' >cluster.yaml
fails "a platform has no parameters" show cluster.yaml -p n=3
fails "a platform has no parameters" show cluster.yaml --params site.yaml

# ---- --from ----
fails "did you mean --since top1" run flow.yaml --from top1
fails "did you mean 'native'" run flow.yaml --from natve
fails "did you mean --since top1" show flow.yaml --from top1
fails "did you mean --since top1" lint flow.yaml --from top1
fails "there is no format 'natve'; did you mean 'native'?" lint flow.yaml --from natve

# ---- a family is one thing ----
cat >many.yaml <<'END'
weft: 1
lists: { n: { from: 1, to: 300 } }
tasks:
  make: { each: n, run: "touch {out}", work: 2, out: { name: "a/{n}", size: 1M } }
  use: { each: n, run: "cp {in} {out}", in: "a/{n}", out: "b/{n}" }
  make_all: { run: "make -v > {out}", in: "b/{n}", out: all }
END
"$weft" show many.yaml --by kind >out 2>err && [ "$(sed '1,/^kind/d' out | awk 'NF && !/─/ {print $1, $2, $3}' | tr '\n' ';')" = "make 300 600;use 300 0;make_all 1 0;from to edges;make use 300;use make_all 300;" ]
ok $? "show --by kind: a line a family, a line for what goes between two; a task of that kind is no member"
"$weft" show many.yaml --by kind --json >out 2>err && python3 -c '
import json
x = json.load(open("out"))
assert [(k["name"], k["tasks"], k["work"], k["bytes"]) for k in x["kinds"]] == [("make", 300, 600, 3e8), ("use", 300, 0, 0), ("make_all", 1, 0, 0)]
assert [(b["from"], b["to"], b["edges"], b["bytes"]) for b in x["between"]] == [("make", "use", 300, 3e8), ("use", "make_all", 300, 0)]'
ok $? "as JSON"
"$weft" show many.yaml --by kind --svg f.svg >out 2>err && [ "$(grep -c '<g><title>' f.svg)" = 3 ] && grep -q 'make × 300 · 10 min 00 s · 300 MB' f.svg && grep -q '>300<' f.svg
ok $? "as a picture: three boxes, with counts"
printf 'weft: 1\ntasks:\n  a: { run: "x 1", kind: k, out: p }\n  b: { run: "x 2", kind: l, in: p, out: q }\n  c: { run: "x 3", kind: k, in: q, out: r }\n' >loop.yaml
"$weft" show loop.yaml --by kind --svg f.svg >out 2>err && [ "$(grep -c '<g><title>' f.svg)" = 3 ]
ok $? "kinds that are a cycle are drawn by level"
fails "--by is 'size'; expected kind" show many.yaml --by size
"$weft" show many.yaml --expanded >all.yaml 2>err && [ "$(tasks all.yaml)" = 601 ] && [ "$("$weft" show all.yaml --by kind 2>err | grep -c '^make *300 ')" = 1 ]
ok $? "show --expanded writes the graph out, and families are known in it"
"$weft" convert many.yaml again.yaml 2>err && cmp all.yaml again.yaml
ok $? "as converting to native does"
"$weft" run many.yaml -n >out 2>err && [ "$(grep -c 'and 299 more' out)" = 2 ] && grep -q '^make@n=1 and 299 more .*10 min' out
ok $? "-n: one line for members that are alike"
"$weft" run many.yaml -q 2>err && rm a/7 a/9 && "$weft" run many.yaml -n >out 2>err && grep -q '^make@n=7 ' out && grep -q '^make@n=9 ' out
ok $? "a few are listed each"
"$weft" run many.yaml --why make >out 2>err && grep -q "^make@n=7 (2 of the 300 of 'make' would run) runs: its output 'a/7' is gone" out
ok $? "--why FAMILY"
"$weft" predict many.yaml >out 2>err && grep -qE '^make@n=[0-9]+ and [0-9]+ more' out
ok $? "predict: members that are alike in one line"
"$weft" report last -o r.html >out 2>err && grep -q 'make × 300' r.html
ok $? "a report has the picture of families"

# ---- profiles ----
mkdir -p config/weft
own=config/weft/profile.yaml
cat >"$own" <<'END'
# mine
options:
  run: { jobs: 1, keep-going: true, disk: 5G }
  all: { no-predict: true }
  plan: { on: 4, set: [budget=1s] }
env: { GREET: "hi there", HAVE: profile }
END
holds() { # setting value from arguments...: what `weft profile` says
    local what=$1 value=$2 from=$3
    shift 3
    "$weft" profile --json "$@" >out 2>err || return 1
    python3 -c 'import json, sys
rows = [(s["value"], s["from"]) for s in json.load(open("out"))["settings"] if s["name"] == sys.argv[1]]
print(rows, file=open("err", "w"))
sys.exit((sys.argv[2], sys.argv[3]) not in rows)' "$what" "$value" "$from"
}
holds --jobs 1 "$work/$own:3" run
ok $? "an option of the user's profile"
holds --verbose - "built in" run && holds --retry-delay 0.1 "built in" run
ok $? "what is built in"
printf 'options: { run: { jobs: 2, quiet: true } }\non: local:1\n' >site2.yaml
holds --jobs 2 site2.yaml:1 --profile site2.yaml run && holds --on local:1 site2.yaml:2 --profile site2.yaml run
ok $? "--profile over it"
holds --disk - "built in" --profile site2.yaml run
ok $? "what it excludes is left out"
holds --jobs 3 "the command line" --profile site2.yaml run -- -j 3
ok $? "the command line over both"
HAVE=outside holds HAVE outside "the environment" && holds GREET "hi there" "$work/$own:6" && holds WEFT_HISTORY "$work/history.db" "the environment"
ok $? "variables"
holds --no-predict true "$work/$own:4" plan
ok $? "an option of all commands that have it"
"$weft" plan flow.yaml >out 2>err && grep -q "on 4 nodes" out
ok $? "a command uses it"
"$weft" plan flow.yaml --on 2 >out 2>err && grep -q "on 2 nodes" out
ok $? "or what it is told"
printf 'weft: 1\ntasks:\n  t: { run: "echo $GREET > {out}", out: greeting }\n' >greet.yaml
"$weft" run greet.yaml --profile none -f >/dev/null 2>err && [ "$(cat greeting)" = "" ] && "$weft" run greet.yaml -f >/dev/null 2>err && [ "$(cat greeting)" = "hi there" ]
ok $? "a task finds its variables; --profile none reads none"
"$weft" run flow.yaml --on local:1 -n >out 2>err && grep -q "$own:3: --disk 5G is left out: --disk does nothing beside --on" err
ok $? "a default that the command line excludes is left out, and says so"
cp "$own" before.yaml
printf 'resources: { gpu: [0, 1], licence: 4 }\n' >"$own"
holds --resources "gpu=[0,1],licence=4" "$work/$own:1" run
ok $? "resources of this machine"
printf 'weft: 1\ntasks:\n  t: { run: "echo $WEFT_GPU > {out}", out: gpu, resources: { gpu: 2 } }\n' >gpu.yaml
"$weft" run gpu.yaml -q >out 2>err && [ "$(cat gpu)" = "0,1" ]
ok $? "and a task gets them"
cp before.yaml "$own"
bad() { # text message
    printf '%s\n' "$1" >"$own"
    fails "$2" show flow.yaml
}
bad 'options: { run: { jbos: 1 } }' "profile.yaml:1: weft run has no option 'jbos'; did you mean 'jobs'?"
bad 'options: { rnu: { jobs: 1 } }' "profile.yaml:1: there is no command 'rnu'; did you mean 'run'?"
bad 'options: { all: { jbos: 1 } }' "profile.yaml:1: no command has an option 'jbos'; did you mean 'jobs'?"
bad 'options: { run: { keep-going: 3 } }' "keep-going is '3'; expected true or false"
bad 'options: { run: { jobs: {} } }' "jobs is a mapping; expected a text or a number"
bad 'optoins: {}' "unknown key 'optoins'; did you mean 'options'?"
bad 'env: { A=B: 1 }' "cannot be the name of a variable"
"$weft" help run >out 2>err
ok $? "help is there all the same"
echo '# nothing' >"$own"
"$weft" show flow.yaml >out 2>err
ok $? "a profile of comments alone"
chmod 664 "$own"
fails "may be written by others, who could make weft run anything; chmod go-w" show flow.yaml
chmod 600 "$own"
if [ "$(id -u)" = 0 ]; then
    chown 1 "$own"
    fails "belongs to somebody else (user 1)" show flow.yaml
fi
rm "$own"
fails "none.yaml: cannot open the profile" show flow.yaml --profile none.yaml
WEFT_HISTROY=x "$weft" show flow.yaml >out 2>err && grep -q "weft knows no variable WEFT_HISTROY, and passes it over; did you mean WEFT_HISTORY?" err
ok $? "a misspelt variable"
WEFT_MINE=x "$weft" show flow.yaml >out 2>err && [ ! -s err ] && WEFT_TASK=t WEFT_STORES=1 "$weft" show flow.yaml >out 2>err && [ ! -s err ]
ok $? "one of the user's own, and those of a task, are not"
for name in $(grep -rhoE '(getenv\(|secure_getenv\()"WEFT_[A-Z_]*' --include='*.c' --exclude='*_test.c' "$root/src" 2>/dev/null | sed 's/.*"//' | sort -u); do
    "$weft" profile --json | grep -q "\"$name\"" || [ "$name" = WEFT_TASK ] || [ "$name" = WEFT_LIMITS_ROOT ] # that one is for tests
    ok $? "weft profile knows $name"
done

# ---- completion: names of a workflow ----
offers() { # words...: the last is what is typed; what bash would offer is in out
    bash -c 'source "$0" || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        compopt() { :; }
        _weft
        printf "%s\n" "${COMPREPLY[@]}" | sort -u' "$root/tools/completion.bash" "$@" >out 2>err
    [ ! -s err ]
}
PATH=$(dirname "$weft"):$PATH
offers weft run flow.yaml -p "" && [ "$(tr '\n' ' ' <out)" = "dir= doc= flag= n= " ]
ok $? "-p offers parameters and lists"
offers weft run flow.yaml -p f && [ "$(cat out)" = "flag=" ]
ok $? "those that begin so"
offers weft run many.yaml ma && [ "$(tr '\n' ' ' <out)" = "make make_all many.yaml " ]
ok $? "targets: families, tasks, and files"
offers weft run many.yaml --since al && [ "$(cat out)" = "all" ]
ok $? "files that are made"
offers weft run many.yaml --order pe && grep -qx peft out && offers weft show many.yaml --by "" && [ "$(cat out)" = kind ] && offers weft profile ru && [ "$(cat out)" = run ] && offers weft run --prof && [ "$(cat out)" = --profile ]
ok $? "planners, --by, commands, --profile"
offers_line() { # what is typed: what bash would put behind the last of = and @, which take its words apart
    bash -c 'source "$0" || exit 1
        COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=(weft x =) COMP_CWORD=2
        compopt() { echo "$@" >>compopts; }
        : >compopts
        _weft
        printf "%s\n" "${COMPREPLY[@]}" | sort -u' "$root/tools/completion.bash" "$1" >out 2>err
    [ ! -s err ]
}
cat >members.yaml <<'FLOW'
weft: 1
lists: { doc: [alpha, beta] }
tasks: { t: { each: doc, run: "echo {doc} > {out}", out: "made.{doc}" } }
FLOW
offers_line "weft run members.yaml t@" && [ "$(tr '\n' ' ' <out)" = "doc=alpha doc=beta " ] && ! grep -q filenames compopts
ok $? "members of a family, whose = nobody escapes"
offers_line "weft run members.yaml --until t@doc=b" && [ "$(cat out)" = beta ]
ok $? "behind the = as well"
offers_line "weft show members.yaml made.a" && [ "$(cat out)" = made.alpha ]
ok $? "files that members make"
offers_line "weft run members.yaml -p d" && [ "$(cat out)" = "doc=" ] && ! grep -q filenames compopts
ok $? "parameters by the line that was typed"
offers_line "weft run memb" && [ "$(cat out)" = members.yaml ] && grep -q filenames compopts
ok $? "names of files are escaped as such"
{
    printf 'weft: 1\nparameters:\n  deep: 1\ntasks:\n'
    seq 100000 | sed 's/.*/  task&: { run: "true", out: "file&" }/'
} >large.yaml
timeout 20 bash -c 'source "$0"; _weft_names large.yaml targets' "$root/tools/completion.bash" >out 2>err && [ "$(grep -c '^task' out)" -gt 1000 ]
ok $? "of a large file the beginning counts"

echo "1..$count"
exit $failed
