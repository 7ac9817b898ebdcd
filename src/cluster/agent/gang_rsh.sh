#!/bin/sh
# Runs a command on another node of a task that spans several, through weft's agents, as ssh would:
#   rsh HOST COMMAND...        HOST is one of $WEFT_HOSTFILE
# A request is a file that comes to be at once, here in the task's folder; the agent that runs the task sees it, and
# answers in the same way when the command has ended: with what it wrote, then with its status. Who started this may be
# gone by then, and the agent, too: nobody is waited for in vain.
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
request=$(mktemp "${0%/*}/request.XXXXXX") || exit 255
trap 'rm -f "$request" "$request.ask" "$request.end" "$request.out"' EXIT
trap 'exit 255' HUP INT TERM
printf '%s\n%s\n' "$host" "$*" >"$request" && mv "$request" "$request.ask" || exit 255
pause=0.1 # seconds; what runs for long is looked at more rarely
turns=0
until [ -e "$request.end" ]; do
    [ -d "${0%/*}" ] && kill -0 "$PPID" 2>/dev/null || exit 255
    turns=$((turns + 1))
    [ $turns -lt 50 ] || pause=1
    sleep $pause
done
read -r status <"$request.end"
[ ! -s "$request.out" ] || cat "$request.out" >&2
exit "${status:-255}"
