# For the tests of clusters (sourced, not run): TAP, a redis-server, agents, waiting for what must come. Only what was started
# here is ended, by its number. Nothing here sleeps for a fixed time and hopes.
weft=$WEFT
soak_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../soak" && pwd) # before anybody changes the folder
work=$(mktemp -d)
agents="" server="" client=""
export WEFT_HISTORY=none TMPDIR=$work
unset WEFT_STORE WEFT_KEY
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        failed=1
        { tail -n 8 "$work/err"; for log in "$work"/*.log; do [ "${log##*/}" = redis.log ] || tail -n 4 "$log" | sed "s|^|${log##*/}: |"; done; } 2>/dev/null | sed 's/^/# /'
    fi
}
finish() {
    echo "1..$count"
    exit $failed
}
skip() { # what, why
    echo "ok 1 - $1 # SKIP $2"
    echo "1..1"
    exit 0
}
say() { timeout 120 "$weft" "$@" >"$work/out" 2>"$work/err"; }

lives() { kill -0 "$1" 2>/dev/null; }
dead() { ! lives "$1"; }
wait_for() { # seconds command...: until it is so
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -ge $until ] && return 1
        sleep 0.1
    done
}
end_process() { # told, told again, killed
    local how
    for how in TERM TERM KILL; do
        kill -$how "$1" 2>/dev/null || break
        wait_for 5 dead "$1" && break
    done
    wait "$1" 2>/dev/null
}
stop_all() {
    for pid in $client $agents; do kill "$pid" 2>/dev/null; done
    for pid in $client $agents $server; do end_process "$pid"; done 2>/dev/null
    if [ -n "${KEEP:-}" ]; then echo "# kept $work"; else rm -rf "$work"; fi
}
trap stop_all EXIT
trap 'exit 143' TERM INT

start_server() { # a redis-server at a free port of this machine
    local try
    for try in 1 2 3 4 5 6 7 8; do
        port=$((20000 + (RANDOM * 7 + $$ + try) % 12000))
        redis-server --port $port --bind 127.0.0.1 --dir "$work" --save '' --appendonly yes --appendfsync everysec >"$work/redis.log" 2>&1 &
        server=$!
        until grep -q "Ready to accept connections" "$work/redis.log" 2>/dev/null; do
            lives $server || continue 2
            sleep 0.05
        done
        export WEFT_STORE=redis://127.0.0.1:$port
        return
    done
    echo "not ok 1 - redis-server does not start"
    exit 1
}
start_agent() { # name command...: an agent whose folder and log have that name
    local name=$1
    shift
    : >"$work/$name.out" # at once: an earlier agent of that name was ready, too
    "$@" --state "$work/$name" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    eval "pid_$name=$!"
    agents="$agents $!"
}
is_ready() { grep -q "ready at" "$work/$1.out" 2>/dev/null; }
are_ready() { # names
    local name
    for name in "$@"; do wait_for 60 is_ready "$name" || return 1; done
}
node_of() { sed -n 's/.*node \([0-9]*\) ready at.*/\1/p' "$work/$1.out"; }

# What `weft status RUN --json` says, in $work/status.
look() { timeout 60 "$weft" status "$1" --json >"$work/status" 2>>"$work/err"; }
state_is() { look "$1" && grep -q "\"state\": \"$2\"" "$work/status"; } # run state
# A number of the agents' work on a run: of all, or of the one with that name.
work_of() { # field [name]
    awk -v field="\"$1\":" -v node="${2:+$(node_of "$2")}" '
        /"node":/ { at = $2 + 0 }
        /"policy":/ && (node == "" || at == node) { for (i = 1; i < NF; i++) if ($i == field) sum += $(i + 1) }
        END { printf "%.0f\n", sum }' "$work/status"
}
life_of() { awk -v node="$(node_of "$1")" '/"node":/ { at = $2 + 0 } /"life":/ && at == node { print $2 + 0 }' "$work/status"; }
work_is() { # run field relation number [name]: test's -eq, -ge ...
    look "$1" && [ "$(work_of "$2" "${5:-}")" "$3" "$4" ]
}
# Processes that work in this test's folders (agents, their tasks, their redis-server): pid and command, a line each.
processes() {
    local pid
    # not a process or two for each that there is: on a machine with hundreds that took seconds
    { grep -lsF -- "$work" /proc/[0-9]*/cmdline; find /proc/[0-9]*/cwd -maxdepth 0 -lname "*$work*" 2>/dev/null; } | cut -d / -f 3 | sort -u >"$work/.found"
    while read -r pid; do # those who looked are gone by now
        [ "$pid" != $$ ] && [ -e "/proc/$pid" ] && echo "$pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
    done <"$work/.found"
    return 0
}
nothing_left() { processes >"$work/err" && [ ! -s "$work/err" ]; }

# Parts of a test that wait most of their time go on beside each other. beside NAME FUNCTION ARGUMENT...: starts one, with $work and all
# that stands in it as its own. meet: waits for all, and tells what each has found, in the order in which they were started.
parts=""
beside() {
    local name=$1
    shift
    mkdir "$work/$name"
    (
        work=$work/$name found=$work.found agents="" client="" server=""
        export TMPDIR=$work
        trap 'for pid in $client $agents; do end_process "$pid"; done 2>/dev/null' EXIT
        ok() { # as above, for meet
            echo "$1 $2"
            [ "$1" = 0 ] || { tail -n 8 "$work/err"; for log in "$work"/*.log; do tail -n 4 "$log" | sed "s|^|${log##*/}: |"; done; } 2>/dev/null | sed 's/^/# /'
        } >>"$found"
        "$@"
    ) &
    agents="$agents $!"
    parts="$parts $name:$!"
}
meet() {
    local part line
    for part in $parts; do
        wait "${part#*:}"
        while read -r line; do
            case $line in
                '#'*) echo "$line" ;;
                *) ok "${line%% *}" "${part%:*}: ${line#* }" ;;
            esac
        done <"$work/${part%:*}.found"
    done
    parts=""
}

# start_relay WHAT [PORT]: a relay before PORT of this machine (a free one without it). When $relay gets SIGUSR1 it does WHAT: `cut` ends what goes
# through it, `silent` swallows it, `late` holds answers up for a while, `later` for longer, until it gets another. $relay_target and $relay_port: where it leads, and where one reaches it.
start_relay() {
    python3 - "$soak_folder" "$1" "${2:-}" >"$work/relay" 2>"$work/relay.log" <<'RELAY' &
import signal, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from soak_bed import Relay, free_port
relay = Relay(int(sys.argv[3]) if sys.argv[3] else free_port())
acts = {"cut": relay.cut, "silent": lambda: setattr(relay, "mode", "silent"), "late": lambda: setattr(relay, "late", 0.3), "later": lambda: setattr(relay, "late", 0 if relay.late else 0.6)}
signal.signal(signal.SIGUSR1, lambda *_: acts[sys.argv[2]]())
print(relay.target, relay.port, flush=True)
while True:
    signal.pause()
RELAY
    relay=$!
    agents="$agents $relay"
    wait_for 30 test -s "$work/relay"
    read -r relay_target relay_port <"$work/relay"
}
