#!/usr/bin/env bash
# What a command runs in, on agents: variables of the task, of who started the run, secrets that travel sealed. Speaks TAP.
# shellcheck disable=SC2016 # variables in single quotes are the tasks'
# shellcheck source=tests/cluster/cluster_common.sh
. tests/cluster/cluster_common.sh
command -v redis-server >/dev/null || skip "a cluster" "redis-server is not installed"
start_server
"$weft" key "$work/key" >/dev/null 2>&1
export WEFT_KEY=$work/key HOME=$work/home
mkdir -p "$HOME"
unset TOKEN PASSED
redis-cli -p "$port" monitor >"$work/wire" 2>/dev/null &
agents="$agents $!" # ended with them
# engines by stand-ins: the agents have one of their own, which does not know every image
mkdir "$work/there" "$work/here" "$work/f"
cat >"$work/here/podman" <<'S'
#!/bin/sh
case "$1 $2" in
"image inspect") for image; do :; done; case $image in tools:1) echo 0123456789abcdef ;; tools:2) echo fedcba9876543210 ;; 0123456789abcdef) ;; *) exit 1 ;; esac ;;
"run --rm")
    while [ "$1" != 0123456789abcdef ]; do
        [ "$1" = -e ] && case $2 in *=*) export "$2" ;; esac
        [ "$1" = --workdir ] && work=$2
        shift
    done
    shift
    export INSIDE=1
    cd "$work" && exec "$@"
    ;;
*) exit 1 ;;
esac
S
chmod +x "$work/here/podman"
cp "$work/here/podman" "$work/there/podman"
PASSED=agent ONLY=agent PATH=$work/there:$PATH start_agent a "$weft" agent -j 1
PASSED=agent ONLY=agent PATH=$work/there:$PATH start_agent b "$weft" agent -j 1
are_ready a b
ok $? "two agents"
cat >"$work/f/flow.yaml" <<'Y'
weft: 1
name: f
lists: { i: { from: 1, to: 3 } }
defaults: { env: { WHO: "{task}", CORES: "{cores}" } }
tasks:
  env: { each: i, run: "echo $WHO $CORES $NUMBER > {out}", out: "env{i}", env: { NUMBER: "<{i}>" } }
  pass: { run: "env > {out}", out: pass, pass: [PASSED, UNSET] }
  all: { run: "env > {out}", out: all }
  secret: { run: "echo it is $TOKEN; echo -n $TOKEN | wc -c > {out}", out: secret, secret: TOKEN }
  shell: { run: "import os; open('{out}', 'w').write(os.environ['WHO'])", shell: python3, out: shell }
  inside: { run: "echo $INSIDE $WHO | tr a-z A-Z > {out}", out: inside, container: "tools:1" }
  broken: { run: "echo now $TOKEN >&2; exit 3", secret: TOKEN, after: [env, pass, all, secret, shell, inside] }
Y
cd "$work/f" || exit 1
PATH=$work/here:$PATH
on() { timeout 120 "$weft" run flow.yaml --on cluster "$@" >"$work/out" 2>"$work/err"; }
on
[ $? = 2 ] && grep -q "flow.yaml: task 'secret': there is no secret 'TOKEN'" "$work/err"
ok $? "a secret that is not here is missed before anything is handed in"
TOKEN=opensesame PASSED=mine MINE=1 on
[ $? = 1 ] && grep -q "task broken: exit status 3" "$work/err"
ok $? "a run on agents, and a failure at its end"
[ "$(cat env1)" = "env@i=1 1 <1>" ] && [ "$(cat env3)" = "env@i=3 1 <3>" ] && [ "$(cat shell)" = shell ]
ok $? "variables of tasks, and their shell"
grep -qx PASSED=mine pass && ! grep -q 'ONLY=\|MINE=\|UNSET=\|TOKEN=' pass && grep -q '^PATH=' pass
ok $? "what is passed is what it is here"
grep -qx PASSED=agent all && grep -qx ONLY=agent all && ! grep -q 'MINE=\|TOKEN=' all
ok $? "without pass a task has the agent's variables"
[ "$(cat secret)" = 10 ]
ok $? "the secret is there"
[ "$(cat inside)" = "1 INSIDE" ]
ok $? "a container, by the agent's engine"
grep -q '\*\*\*\*' "$work/err" || grep -rq '\*\*\*\*' .weft/logs
ok $? "the log of the failure has asterisks"
grep -q '"' "$work/wire" && ! grep -q opensesame "$work/wire"
ok $? "nothing that Redis has seen tells the secret"
! grep -rqs opensesame .weft "$work/a" "$work/b" "$work/out" "$work/err" "$work"/*.log
ok $? "nor a file of an agent or of this folder"
TOKEN=another PASSED=other on -n && ! grep -q "pass\|secret" "$work/out"
ok $? "values are no part of keys"
# a run that was handed in and left is taken home with the same keys
cat >late.yaml <<'Y'
weft: 1
name: late
tasks:
  t: { run: "echo $A $TOKEN > {out}", out: late, env: { A: "1" }, secret: TOKEN, container: "tools:1" }
Y
run=$(TOKEN=opensesame timeout 60 "$weft" submit late.yaml -q 2>"$work/err") && say attach "$run" -C "$work/f" && [ "$(cat late)" = "1 opensesame" ]
ok $? "submitted, and attached to without the secret"
timeout 60 "$weft" run late.yaml --on cluster -n >"$work/out" 2>"$work/err" && grep -q "nothing to do\|would run 0" "$work/out" "$work/err"
ok $? "what was attached to is done"
sed -i 's/tools:1/tools:2/' late.yaml
TOKEN=x timeout 60 "$weft" run late.yaml --on cluster >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -rq "this machine has no image fedcba9876543210" .weft/logs "$work/err"
ok $? "an agent that has another image under this name fails the task"
finish
