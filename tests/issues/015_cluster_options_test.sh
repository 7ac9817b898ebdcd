#!/usr/bin/env bash
# What 014_options_test.sh is for other commands, for those that need a cluster: every option of agent, submit, status, attach, cancel and drain is
# used (the program fails when a given option was never asked for) or refused with what it needs. One without a row fails. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "options" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/home" && cd "$work/home" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
parameters: { n: 1 }
tasks:
  one: { run: "echo {n} > {out}", out: one.txt }
FLOW
echo 'n: 2' >n.yaml
"$weft" plan flow.yaml --on 1 -o plan.json >/dev/null 2>&1
# command | option and value | beside these it is used; "refused": it is bad input, and says so; "-": alone
rows() {
    cat <<ROWS
agent|--store $WEFT_STORE|-
agent|--insecure-store|-
agent|--store-may-lose|-
agent|--key $work/key|-
agent|--bind 127.0.0.1:0|-
agent|--tell 127.0.0.1|-
agent|--state $work/named|-
agent|--scratch $work/scratch|-
agent|--jobs 1|-
agent|--memory 1G|-
agent|--has ssd|-
agent|--resources gpu=0,1|-
agent|--cache 1G|-
agent|--keep-for 1h|-
agent|--keep-size 1G|-
agent|--ends 50m|-
agent|--processes 1000|-
agent|--bandwidth 1G|-
agent|--lease 3|-
agent|--linger 0.2|-
agent|--for 1|-
agent|--serve-store 127.0.0.1:$port|refused
agent|--temporary|-
agent|--detach|-
agent|--quiet|-
submit|--store $WEFT_STORE|-
submit|--insecure-store|-
submit|--store-may-lose|-
submit|--key $work/key|-
submit|--submit best|-
submit|--policy flds|-
submit|--shared|-
submit|--no-shared|-
submit|--priority 1|-
submit|--later|-
submit|--directory .|-
submit|--keep-going|-
submit|--force|-
submit|--no-sandbox|-
submit|--overwrite|-
submit|--no-limits|-
submit|--retry-delay 1s|-
submit|--no-history|-
submit|--risk 0.9|-
submit|--wait|-
submit|--from native|-
submit|--read x=1|refused
submit|--params n.yaml|-
submit|--param n=3|-
submit|--plan plan.json|-
submit|--follow hint --plan plan.json|-
submit|--with heft|-
submit|--set limit=5s --with constraints --follow hint|-
submit|--seed 2 --with heft|-
submit|--until one|-
submit|--since one|-
submit|--json|-
submit|--quiet|-
status|--store $WEFT_STORE|-
status|--insecure-store|-
status|--store-may-lose|-
status|--key $work/key|-
status|--directory .|RUN
status|--watch|watch
status|--all|-
status|--json|-
status|--quiet|-
attach|--store $WEFT_STORE|-
attach|--insecure-store|-
attach|--store-may-lose|-
attach|--key $work/key|-
attach|--directory $work/else|-
attach|--overwrite|-
attach|--no-history|-
attach|--wait|-
attach|--log $work/attach.txt|-
attach|--json|-
attach|--quiet|-
cancel|--store $WEFT_STORE|-
cancel|--insecure-store|-
cancel|--store-may-lose|-
cancel|--key $work/key|-
cancel|--directory .|-
cancel|--here|refused
cancel|--json|-
cancel|--quiet|-
drain|--store $WEFT_STORE|-
drain|--insecure-store|-
drain|--store-may-lose|-
drain|--key $work/key|-
drain|--now|-
drain|--run 1|-
drain|--directory .|--run 1
drain|--json|-
drain|--quiet|-
ROWS
}
rows >"$work/table"
mkdir "$work/else" "$work/scratch"
gone() { ! grep -qlsF -- "--state $1" <(cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" " "); }
missing=""
for command in agent submit status attach cancel drain; do
    "$weft" help "$command" >"$work/help-$command"
    for option in $(sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p' "$work/help-$command"); do
        grep -q "^$command|--$option[ |]" "$work/table" || missing="$missing $command--$option"
    done
done
[ -z "$missing" ]
ok $? "every option has a row${missing:+, but:$missing}"
start_agent one "$weft" agent -j 2
are_ready one
ok $? "an agent"
submitted() { timeout 60 "$weft" submit flow.yaml --no-shared --force --quiet 2>>"$work/err"; }
run=$(submitted)
try() { # command option-words...
    local command=$1
    shift
    case $command in
    agent) say agent --state "$work/agent" --linger 0.2 "$@" ;;
    submit) say submit flow.yaml --force "$@" ;;
    status) say status "$@" ;;
    attach) say attach "$(submitted)" "$@" ;;
    cancel) # of a task that is done: an answer, whatever it is, needs all that was said
        sed 's/echo/sleep 60; echo/' flow.yaml >slow.yaml
        local slow
        slow=$(timeout 60 "$weft" submit slow.yaml --no-shared --force --quiet 2>>"$work/err") && say cancel "$slow" "$@" ;;
    drain) # an agent of its own, since it goes
        local node
        drained=$((${drained:-0} + 1))
        node=$(timeout 60 "$weft" agent --state "$work/drained-$drained" -j 1 --detach 2>>"$work/err" | sed -n 's/.*node \([0-9]*\) ready.*/\1/p')
        say drain "$node" "$@" ;;
    esac
}
# Agents that only begin and leave again do it beside each other: each takes a second, in which it looks whether it is idle.
alone='--state |--linger |--detach|--for ' # those have a form of their own
begun=""
while IFS='|' read -r command option company; do
    [ "$command$company" = agent- ] && ! grep -qE -- "^($alone)" <<<"$option" || continue
    number=$((${number:-0} + 1))
    # shellcheck disable=SC2086 # words
    { timeout 120 "$weft" agent --state "$work/agent-$number" --linger 0.2 $option >"$work/out-$number" 2>"$work/err-$number" </dev/null; echo "$? agent $option" >>"$work/beside"; } &
    begun="$begun $!"
    [ $((number % 8)) != 0 ] || { wait $begun; begun=""; }
done <"$work/table"
wait $begun
while IFS='|' read -r command option company; do
    grep -qE "^  (-., |    )${option%% *}( |$)" "$work/help-$command" || continue # of another weft
    # shellcheck disable=SC2086 # words
    case $company in
    -)
        [ "$command $option" = "agent --state $work/named" ] && set -- --linger 0.2 || set --
        if [ "$command" = agent ] && grep -qF -- " agent $option" "$work/beside"; then
            grep -qxF -- "0 agent $option" "$work/beside"
        elif [ $# -gt 0 ]; then say agent $option "$@"; elif [ "$option" = "--linger 0.2" ]; then say agent --state "$work/agent" $option; else try $command $option; fi
        ok $? "$command $option"
        [ "$option" != --detach ] || wait_for 30 gone "$work/agent" ;;
    RUN) say status "$run" $option; ok $? "$command RUN $option" ;;
    watch) timeout 2 "$weft" status $option >"$work/out" 2>"$work/err"; [ $? = 124 ] && [ "$(grep -c "agent up" "$work/out")" -ge 1 ]; ok $? "status --watch goes on" ;;
    refused) try $command $option; [ $? = 2 ] || grep -q "listen" "$work/err"; ok $? "$command $option is refused" ;;
    esac
done <"$work/table"
finish
