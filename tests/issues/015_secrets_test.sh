#!/usr/bin/env bash
# The password of a store reached the command lines of agents, where every `ps` shows it, and the environment of tasks. Now it is in
# neither, however it was given: on the command line, in $WEFT_STORE, in a file. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "secrets" "redis-server is not installed"
start_server
redis-cli -p "$port" config set requirepass sesame >/dev/null 2>&1
url=redis://:sesame@127.0.0.1:$port
unset WEFT_STORE
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
# a task that looks at its environment and at what everybody sees of all processes
cat >"$work/flow/flow.yaml" <<'FLOW'
weft: 1
tasks:
  look: { run: "env > {out[0]}; (cat /proc/[0-9]*/cmdline 2>/dev/null || true) | tr '\\0' ' ' > {out[1]}", out: [env.txt, ps.txt] }
FLOW
clean() { # nothing of the password in what the task saw, which was something
    grep -q PATH "$work/flow/env.txt" && grep -q weft "$work/flow/ps.txt" && ! grep -q sesame "$work/flow/env.txt" "$work/flow/ps.txt"
}
bare() { "$weft" "$@" >"$work/out" 2>"$work/err"; } # say() has a `timeout`, which shows the password itself
bare run "$work/flow/flow.yaml" --on local:2 --store "$url" && clean
ok $? "--store: agents of its own have the password in no argument, the task in no variable"
rm -rf "$work/flow/.weft" "$work/flow"/*.txt
WEFT_STORE=$url bare run "$work/flow/flow.yaml" --on local:2 --store "$url" && clean
ok $? "\$WEFT_STORE as well"
(umask 077 && echo "$url" >"$work/store")
rm -rf "$work/flow/.weft" "$work/flow"/*.txt
say run "$work/flow/flow.yaml" --on local:2 --store "@$work/store" && clean
ok $? "--store @FILE"
WEFT_STORE=$url start_agent one "$weft" agent
are_ready one
ok $? "an agent by \$WEFT_STORE"
rm -rf "$work/flow/.weft" "$work/flow"/*.txt
say run "$work/flow/flow.yaml" --on cluster --store "@$work/store" && clean
ok $? "its tasks see nothing, either"
start_agent two "$weft" agent --store "$url"
are_ready two
ok $? "an agent by --store"
# shellcheck disable=SC2154 # start_agent sets it
! tr '\0' ' ' <"/proc/$pid_two/cmdline" | grep -q sesame
ok $? "whose command line does not show the password"

# No core file of a process that has the key. The kernel says at its end whether one was made; of `sleep` there is one, or nothing is shown.
cat >"$work/ends" <<'PY'
import os, resource, signal, subprocess, sys, time
log, word, command = sys.argv[1], sys.argv[2], sys.argv[3:]
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
p = subprocess.Popen(command, stdout=open(log, "w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
until = time.time() + 60
while word and word not in open(log).read() and time.time() < until:
    time.sleep(0.05)
time.sleep(0 if word else 1)
os.kill(p.pid, signal.SIGQUIT)
status = os.waitpid(p.pid, 0)[1]
if not os.WIFSIGNALED(status):
    sys.exit(2)
sys.exit(1 if os.WCOREDUMP(status) else 0)
PY
mkdir "$work/cores" && cd "$work/cores" || exit 1
ends() { python3 "$work/ends" "$@"; }
case $(head -c 1 /proc/sys/kernel/core_pattern) in
    '|' | /) dumps=no ;; # somebody else's program or folder would get it
    *) ends "$work/core.out" "" sleep 60; [ $? = 1 ] && dumps=yes ;;
esac
if [ "$dumps" = yes ]; then
    rm -f core*
    WEFT_STORE=$url ends "$work/core.out" "ready at" "$weft" agent -j 1 --state "$work/cored"
    [ $? = 0 ] && [ -z "$(ls)" ]
    ok $? "an agent that crashes leaves no core file"
    cat >"$work/flow/long.yaml" <<'FLOW'
weft: 1
tasks: { long: { run: "ulimit -c > {out}; sleep 5", out: long.txt } }
FLOW
    WEFT_STORE=$url ends "$work/core.out" "long" "$weft" run "$work/flow/long.yaml" --on cluster --no-shared --json
    [ $? = 0 ] && [ -z "$(ls)" ]
    ok $? "nor does a client"
else
    for who in agent client; do ok 0 "no core file of an $who # SKIP core files do not come into this folder"; done
fi
cd "$work" || exit 1
for address in 'a b' 'h:0' 'h:99999' '::1' '[::1' 'h:1:2'; do
    say agent --state "$work/three" --tell "$address"
    [ $? = 2 ] && grep -q 'expected HOST or HOST:PORT' "$work/err"
    ok $? "--tell '$address' is refused"
done
chmod 644 "$work/store"
say status --store "@$work/store"
[ $? = 2 ] && grep -q 'chmod 600' "$work/err"
ok $? "a file that others may read is refused"
say status --store "@$work/nothing"
[ $? = 2 ] && grep -q 'nothing: cannot be read' "$work/err"
ok $? "one that is not there, too"
finish
