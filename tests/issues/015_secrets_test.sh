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
