#!/usr/bin/env bash
# Who has not the key gets nothing and learns nothing; garbage, strangers and other versions are shown the door, with a line in the
# log; names of files stay in the agents' folders. Speaks TAP.
. "$(dirname "$0")/cluster_common.sh"
command -v redis-server >/dev/null || skip "a cluster and strangers" "redis-server is not installed"
start_server
say key "$work/key"
say key "$work/other"
export WEFT_KEY=$work/key
line=$(cat "$work/key")

start_agent one "$weft" agent -j 1 --lease 2
start_agent two "$weft" agent -j 1 --lease 2
are_ready one two
ok $? "two agents"
[ "$(grep -c 'ready at 127.0.0.1:' "$work/one.out" "$work/two.out" | grep -c ':1$')" = 2 ]
ok $? "they say that they listen at the loopback device"
at=$(sed -n 's/.*ready at 127.0.0.1://p' "$work/one.out")
[ "$(awk -v port="$(printf ':%04X' "$at")" '$4 == "0A" && index($2, port) { print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)" = "0100007F:$(printf %04X "$at")" ]
ok $? "and they do, there alone"

# ---- a run with names that nobody else should see ----
mkdir "$work/a"
cat >"$work/a/flow.yaml" <<'END2'
weft: 1
name: hushname
tasks:
  hushtask: { run: "echo hushcommand; until [ -e $WEFT_FOLDER/../../../../gate ]; do sleep 0.1; done; cat {in} > {out}", in: [hushin], out: [hushout] }
END2
echo hushdata >"$work/a/hushin"
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out")
ok $? "a run"
tell_tales() { grep -l "hush" "$@" >"$work/tales" 2>/dev/null; }
stranger() { # text command...: with another key: refused, and nothing is said
    local text=$1
    shift
    say "$@" --key "$work/other"
    [ $? = 1 ] && grep -q "another cluster key" "$work/err" && [ ! -s "$work/out" ] && ! tell_tales "$work/err"
    ok $? "$text with another key: refused, and nothing is said"
}
stranger "status" status
stranger "status of a run" status "$run"
stranger "attach" attach "$run" -C "$work/b"
stranger "cancel" cancel "$run"
stranger "submit" submit "$work/a/flow.yaml"
start_agent odd "$weft" agent --key "$work/other" -j 1 --lease 2
heard() { dead "$pid_odd" || [ -s "$work/odd.log" ]; }
wait_for 20 heard
! tell_tales "$work/odd.log" "$work/odd.out" && ! grep -rq hush "$work/odd" 2>/dev/null
ok $? "an agent with another key learns nothing: $(tail -n 1 "$work/odd.log" | cut -c 1-140)"
say status --json && [ "$(grep -c '"state": "up"' "$work/out")" = 2 ]
ok $? "and keeps nobody with the right one from working"
end_process "$pid_odd"
(unset WEFT_KEY && HOME=$work/nobody XDG_CONFIG_HOME=$work/nobody say status)
[ $? = 2 ] && grep -q "weft key" "$work/err" && [ ! -s "$work/out" ]
ok $? "status without a key: refused, with how one is made"
(unset WEFT_KEY && HOME=$work/nobody XDG_CONFIG_HOME=$work/nobody say agent --state "$work/nobody")
[ $? = 2 ] && grep -q "weft key" "$work/err" && [ ! -s "$work/out" ]
ok $? "an agent without a key too"
for mode in 644 640 620; do
    cp "$work/key" "$work/loose" && chmod $mode "$work/loose"
    for command in "agent --state $work/loose.d" status "submit $work/a/flow.yaml"; do
        # shellcheck disable=SC2086
        say $command --key "$work/loose"
        [ $? = 2 ] && grep -q "$work/loose" "$work/err" && grep -q "chmod" "$work/err" && [ ! -s "$work/out" ] || echo "$mode: $command"
    done
done >"$work/loose.said"
[ ! -s "$work/loose.said" ]
ok $? "a key file that others may read or write is refused, with what to do"
echo "weft-key not one" >"$work/broken" && chmod 600 "$work/broken"
say status --key "$work/broken"
[ $? = 2 ] && ! grep -q "not one" "$work/err"
ok $? "what is no key is refused, and not shown"

# ---- what the store's readers and this machine's users see ----
exec 4<>"/dev/tcp/127.0.0.1/$port" && printf 'SAVE\r\nQUIT\r\n' >&4 && timeout 20 cat <&4 >"$work/saved"
exec 4>&-
[ -s "$work/dump.rdb" ] && ! tell_tales "$work/dump.rdb"
ok $? "no name, command or content of the run stands in the server in the clear"
for pid in $agents $server; do tr '\0' '\n' <"/proc/$pid/cmdline"; tr '\0' '\n' <"/proc/$pid/environ"; done 2>/dev/null | grep -qF "$line"
[ $? != 0 ]
ok $? "the key is in no process's arguments or environment"

# ---- garbage ----
knock() { # what it sends comes from standard input; prints how many bytes it got before it was shown the door
    exec 4<>"/dev/tcp/127.0.0.1/$at" || return 1
    { cat >&4; } 2>/dev/null
    timeout 20 cat <&4 2>/dev/null | wc -c
    local status=${PIPESTATUS[0]}
    exec 4>&-
    [ "$status" != 124 ]
}
lines() { wc -l <"$work/one.log"; }
more_lines() { [ "$(lines)" -gt "$before" ]; }
refused() { # text
    before=$(lines)
    got=$(knock)
    local status=$?
    [ $status = 0 ] && [ "$got" -le 32 ] && wait_for 20 more_lines && lives "$pid_one"
    ok $? "$1: closed, with a line in the log ($(tail -n 1 "$work/one.log" | sed 's/.*link [^ ]* //' | cut -c 1-70))"
}
head -c 4096 /dev/urandom >"$work/garbage"
refused "random bytes" <"$work/garbage"
printf 'GET / HTTP/1.1\r\nHost: here\r\n\r\n' >"$work/garbage"
refused "a browser" <"$work/garbage"
head -c 5000000 /dev/zero >"$work/garbage"
refused "five million zeros" <"$work/garbage"
refused "nothing at all" </dev/null
for i in $(seq 20); do head -c $((i * 37)) /dev/urandom >"/dev/tcp/127.0.0.1/$at"; done 2>/dev/null
say status --json && [ "$(grep -c '"state": "up"' "$work/out")" = 2 ]
ok $? "twenty more, and the agents work on"
LC_ALL=C grep -q '[^[:print:][:space:]]' "$work/one.log"
[ $? != 0 ]
ok $? "nothing of the garbage is in the log"

# ---- another version ----
protocol=$(sed -n 's/.*LINK_VERSION = \([0-9]*\).*/\1/p' "$(dirname "$0")/../../src/cluster/wire/link.h")
"$weft" status --json >"$work/status" 2>/dev/null
self="agent $(node_of one).$(life_of one)"
"$WEFT_OTHER_VERSION" 127.0.0.1 "$at" "$work/key" "$protocol" "$work/one/cluster" "$self" >"$work/out" 2>"$work/err" && grep -q "^open: agent" "$work/out"
ok $? "who has the key and the same protocol is let in"
"$WEFT_OTHER_VERSION" 127.0.0.1 "$at" "$work/key" "$protocol" "$work/one/cluster" "agent 9.9" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "^refused: .*calls 'agent 9.9', and this is '$self'" "$work/out" && grep -q "calls 'agent 9.9'" "$work/one.log"
ok $? "who takes it for another is not"
"$WEFT_OTHER_VERSION" 127.0.0.1 "$at" "$work/key" "$protocol" /dev/null "$self" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "^refused: .*another cluster" "$work/out" && grep -q "another cluster" "$work/one.log"
ok $? "nor who takes it for one of another cluster"
"$WEFT_OTHER_VERSION" 127.0.0.1 "$at" "$work/key" $((protocol + 1)) "$work/one/cluster" "$self" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "^refused: .*weft 9.9.9 (protocol $((protocol + 1))).*install the same version" "$work/out" && grep -q "weft 9.9.9 (protocol $((protocol + 1)))" "$work/one.log"
ok $? "another protocol is refused, and both sides say which versions met"
"$WEFT_OTHER_VERSION" 127.0.0.1 "$at" "$work/other" "$protocol" "$work/one/cluster" "$self" >"$work/out" 2>"$work/err"
[ $? = 1 ] && ! grep -q "agent" "$work/out"
ok $? "with another key not even that: $(cat "$work/out")"

# ---- the run has not suffered ----
touch "$work/gate"
say attach "$run" && [ "$(cat "$work/a/hushout")" = hushdata ]
ok $? "after all that the run ends, and its result is right"

# ---- names that lead out of the folder ----
mkdir -p "$work/n/in" "$work/n/deep"
echo secret >"$work/n/secret"
refuses() { # text, input, output, what the message has (default: the text)
    cat >"$work/n/in/flow.yaml" <<END2
weft: 1
tasks:
  t: { run: "cat {in} > {out}", in: ["$2"], out: ["$3"] }
END2
    echo plain >"$work/n/in/plain"
    rm -rf "$work/n/in/.weft"
    say submit "$work/n/in/flow.yaml" --no-shared
    [ $? = 2 ] && grep -q "${4:-$1}" "$work/err" && [ ! -e "$work/n/x" ]
    ok $? "an object named $1 is refused"
}
refuses ../x plain ../x
refuses ../secret ../secret y
refuses deep/../../x plain deep/../../x "output '../x' lies above"
refuses .weft/x plain .weft/x
# an absolute name is one that every machine has: the task uses it in place, agents neither send nor keep it
cat >"$work/n/in/flow.yaml" <<END2
weft: 1
tasks:
  t: { run: "cat {in} > {out}", in: ["$work/n/secret"], out: [y] }
END2
say run "$work/n/in/flow.yaml" --on cluster --no-shared && [ "$(cat "$work/n/in/y")" = secret ]
ok $? "an absolute input is read where it is"
find "$work/one/runs" "$work/two/runs" -name secret 2>/dev/null | grep -q .
[ $? != 0 ]
ok $? "and kept by no agent"

# ---- a store of their own ----
start_agent own env -u WEFT_STORE "$weft" agent --serve-store 127.0.0.1:0 --lease 2
are_ready own
ok $? "an agent with a store of its own"
own=$(sed -n 's/.*store at [a-z]*:\/\/127.0.0.1:\([0-9]*\).*/\1/p' "$work/own.out")
exec 4<>"/dev/tcp/127.0.0.1/$own" && printf 'KEYS *\r\nQUIT\r\n' >&4 && timeout 20 cat <&4 >"$work/out" 2>/dev/null
exec 4>&-
! grep -q '^[*]' "$work/out"
ok $? "that tells nobody without the key: $(head -n 1 "$work/out" | tr -cd '[:print:]' | cut -c 1-50)"
[ "$(stat -c %a "$work/own")" = 700 ]
ok $? "and nobody else looks into its folder"
kill -TERM "$pid_own" && wait_for 30 dead "$pid_own"
ok $? "it leaves"
finish
