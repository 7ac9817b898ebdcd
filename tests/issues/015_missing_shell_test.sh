#!/usr/bin/env bash
# Issue 15, point 3: a shell that one of two agents has not is that machine's failure. No agent is set aside for it, and where nobody has it
# the run fails and names it. An idle agent without the shell does not steal the task back from the one that has it and is busy: it did, until
# the task had used up its tries elsewhere; nor does a third agent that lacks it, too, hand it to the first. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "a shell that is missing" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/bin" "$work/flow"
printf '#!/bin/sh\nexec /bin/sh "$@"\n' >"$work/bin/rare-shell" && chmod +x "$work/bin/rare-shell"
start_agent with env PATH="$work/bin:$PATH" "$weft" agent -j 1
start_agent without "$weft" agent -j 1
are_ready with without
ok $? "two agents, of which one has a shell that the other has not"
flow() { # tasks
    rm -rf "$work/flow" "$work/ran" && mkdir "$work/flow"
    printf 'weft: 1\ndefaults: { shell: rare-shell }\ntasks:\n' >"$work/flow/flow.yaml"
    for i in $(seq 1 "$1"); do echo "  t$i: { run: 'echo $i >> $work/ran; sleep 0.3; echo $i > {out}', out: o$i }"; done >>"$work/flow/flow.yaml"
}
flow 1
say run "$work/flow/flow.yaml" --on cluster --no-shared && [ "$(cat "$work/flow/o1")" = 1 ] && [ "$(cat "$work/ran")" = 1 ]
ok $? "a task that needs it ends well, without a retry, wherever it was put first"
flow 6
say run "$work/flow/flow.yaml" --on cluster --no-shared
ok $? "so do six"
[ "$(sort "$work/ran" | tr -d '\n')" = 123456 ]
ok $? "each ran once, where the shell is"
start_agent neither "$weft" agent -j 1
are_ready neither
flow 6
say run "$work/flow/flow.yaml" --on cluster --no-shared && [ "$(sort "$work/ran" | tr -d '\n')" = 123456 ]
ok $? "so it is beside two agents that lack it"
end_process "$pid_neither"
say status
[ "$(grep -c ' up ' "$work/out")" = 2 ] && ! grep -qi "aside" "$work/out"
ok $? "no agent is set aside for it"
end_process "$pid_with"
flow 1
say run "$work/flow/flow.yaml" --on cluster --no-shared
[ $? = 1 ] && grep -q "shell or interpreter is missing on .*rare-shell.*no other agent is there" "$work/out" "$work/err"
ok $? "where nobody has it, the run fails and says what is missing and where"
finish
