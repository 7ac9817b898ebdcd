#!/bin/sh
# Runs a command on another node of a task that spans several, through weft's agents, as ssh would:
#   rsh HOST COMMAND...        HOST is one of $WEFT_HOSTFILE
# A request is a file that comes to be at once, here in the task's folder; the agent that runs the task sees it, and
# answers when the command has ended: what it wrote in a file, then its status through a pipe.
while :; do
    case ${1:-} in
    -l | -p | -o | -F | -i) shift 2 ;; # what ssh has with a value
    -*) shift ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || { echo "usage: rsh HOST COMMAND..." >&2; exit 255; }
host=$1
shift
request=$(mktemp "${0%/*}/request.XXXXXX") && mkfifo "$request.end" || exit 255
trap 'rm -f "$request" "$request.ask" "$request.end" "$request.out"' EXIT
trap 'exit 255' HUP INT TERM
printf '%s\n%s\n' "$host" "$*" >"$request" && mv "$request" "$request.ask" || exit 255
read -r status <"$request.end"
[ ! -s "$request.out" ] || cat "$request.out" >&2
exit "${status:-255}"
