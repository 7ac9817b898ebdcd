#!/usr/bin/env bash
# Nothing limited how many processes a task starts: a fork bomb took the agent, its other tasks and the machine with it. A task past its
# limit (`processes`, 4096 when nothing is said) is ended with all that it started, and the error names the cause; others go on. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
name=6$$.25 # seconds: by these its processes are known among all others
left() { grep -lz "sleep" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do tr '\0' ' ' <"$f" 2>/dev/null | grep "sleep $name"; done | wc -l; }
flow() { # command of the bomb, and its limit
    mkdir -p "$work/d"
    rm -rf "$work"/d/* "$work/d/.weft"
    printf 'weft: 1\ntasks:\n  bomb: { run: %s, processes: %d }\n  other: { run: "sleep 3; echo fine > {out}", out: other.txt }\n' "'$1'" "$2" >"$work/d/flow.yaml"
}
nothing_left() {
    for _ in $(seq 100); do
        [ "$(left)" = 0 ] && return 0
        sleep 0.1
    done
    return 1
}

flow "for i in \$(seq 300); do sleep $name & done; wait" 100
timeout 60 "$weft" run "$work/d/flow.yaml" -k -j 2 >"$work/out" 2>"$work/err"
[ $? = 1 ]
ok $? "a task that has more processes than it may fails"
cat "$work/out" "$work/err" | tr '\n' ' ' | grep -q "it had [0-9]* processes at once, and may have 100.*processes: [0-9]"
ok $? "and the error names the cause and the remedy"
nothing_left
ok $? "nothing of it is left"
[ "$(cat "$work/d/other.txt")" = fine ]
ok $? "another task goes on beside it"

flow "for i in \$(seq 300); do setsid sleep $name & done; wait" 100
timeout 60 "$weft" run "$work/d/flow.yaml" -k -j 2 >"$work/out" 2>"$work/err"
[ $? = 1 ] && cat "$work/out" "$work/err" | tr '\n' ' ' | grep -q "processes at once, and may have 100"
ok $? "so does one whose processes leave its group"
nothing_left
ok $? "these are ended, too"

# two of two of two ...: 1023 processes if nobody stops them
cat >"$work/bomb.sh" <<'SH'
[ "$1" -ge 9 ] && exec sleep "$2"
sh "$0" $(($1 + 1)) "$2" & sh "$0" $(($1 + 1)) "$2" &
wait
SH
flow "sh $work/bomb.sh 0 $name" 150
timeout 100 "$weft" run "$work/d/flow.yaml" -k -j 2 >"$work/out" 2>"$work/err"
[ $? = 1 ] && cat "$work/out" "$work/err" | tr '\n' ' ' | grep -q "processes at once, and may have 150"
ok $? "a bomb that doubles itself is ended"
nothing_left && [ "$(cat "$work/d/other.txt")" = fine ]
ok $? "with all of it, and nobody else"

flow "for i in \$(seq 60); do sleep 0.3 & done; wait" 100
timeout 60 "$weft" run "$work/d/flow.yaml" -k -j 2 >"$work/out" 2>"$work/err"
ok $? "one that keeps to its limit goes well"
flow "for i in \$(seq 300); do sleep 0.5 & done; wait" 100
timeout 60 "$weft" run "$work/d/flow.yaml" -k -j 2 --no-limits >"$work/out" 2>"$work/err"
ok $? "--no-limits does without"
echo "1..$count"
exit $failed
