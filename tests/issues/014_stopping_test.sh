#!/usr/bin/env bash
# How runs end: after a failure one more task started; tasks that a second Ctrl-C ended counted as failed and
# what was left was counted wrong; nohup did not help against SIGHUP; calls hung for ever, past two
# signals, when no thread could be started. Speaks TAP.
weft=$WEFT
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 # of a build with it: libraries are preloaded below
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
# wait_for FILE: at most 20 s
wait_for() { for _ in $(seq 200); do [ -e "$1" ] && return 0; sleep 0.1; done; return 1; }
# ends PID: within 20 s; its status
ends() { for _ in $(seq 200); do kill -0 "$1" 2>/dev/null || { wait "$1"; return $?; }; sleep 0.1; done; kill -KILL "$1"; return 99; }

# --- after a failure nothing starts ---
mkdir "$work/f"
{
    printf 'weft: 1\ntasks:\n  bad: { run: "false", priority: 100 }\n'
    for i in 1 2 3 4 5; do printf '  t%d: { run: "touch %s/f/started%d" }\n' $i "$work" $i; done
} >"$work/f/flow.yaml"
run "$work/f/flow.yaml" -j 1
[ $? = 1 ] && [ -z "$(ls "$work/f" | grep started)" ]
ok $? "after a failure no task starts"
grep -q "1 task failed" "$work/out" "$work/err" && grep -q "5 not run" "$work/out" "$work/err"
ok $? "and that is what is said"
sed -i 's/run: "false"/run: "no-such-program"/' "$work/f/flow.yaml"
run "$work/f/flow.yaml" -j 3
[ $? = 1 ] && [ -z "$(ls "$work/f" | grep started)" ]
ok $? "nor when the failure is that it cannot be started"
run "$work/f/flow.yaml" -j 1 -k
[ $? = 1 ] && [ "$(ls "$work/f" | grep -c started)" = 5 ]
ok $? "with -k they do"

# --- two signals: what was ended is left, not failed ---
mkdir "$work/s"
printf 'weft: 1\ntasks:\n  one: { run: "touch %s/s/one && sleep 100" }\n  two: { run: "sleep 100" }\n  three: { run: "true", after: one }\n' "$work" >"$work/s/flow.yaml"
"$weft" run "$work/s/flow.yaml" -j 2 >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/s/one"
kill -TERM $pid; sleep 0.3; kill -TERM $pid
ends $pid
[ $? = 1 ]
ok $? "two signals end a run"
grep -q "stopped; 3 of 3 tasks are left" "$work/err" && ! grep -q "failed" "$work/out" "$work/err"
ok $? "what was ended is left, not failed"
rm -f "$work/s/one"
"$weft" run "$work/s/flow.yaml" -j 2 --json >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/s/one"
kill -TERM $pid; sleep 0.3; kill -TERM $pid
ends $pid
grep '"skipped"' "$work/out" | tail -n 1 | grep -q '"failed":0,"skipped":3'
ok $? "also in the events"

# --- nohup ---
rm -f "$work/s/one"
printf 'weft: 1\ntasks:\n  one: { run: "touch %s/s/one && sleep 1" }\n  two: { run: "touch %s/s/two", after: one }\n' "$work" "$work" >"$work/s/flow.yaml"
(trap '' HUP; exec "$weft" run "$work/s/flow.yaml") >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/s/one"
kill -HUP $pid
ends $pid
[ $? = 0 ] && [ -e "$work/s/two" ]
ok $? "a SIGHUP that was ignored when weft started stays ignored"
rm -rf "$work/s/one" "$work/s/two" "$work/s/.weft"
"$weft" run "$work/s/flow.yaml" >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/s/one"
kill -HUP $pid
ends $pid
[ $? = 1 ] && [ ! -e "$work/s/two" ]
ok $? "one that was not stops the run"

# --- calls without threads, and calls that do not return ---
mkdir "$work/c"
cat >"$work/c/calls.c" <<'C'
#include <unistd.h>
#include "weft/task.h"
int good(const struct weft_task *t) { (void)t; return 0; }
int endless(const struct weft_task *t) { (void)t; for (;;) sleep(1); }
C
cat >"$work/c/nothread.c" <<'C'
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) { (void)t; (void)a; (void)f; (void)x; return EAGAIN; }
C
cc -shared -fPIC -I "$source/include" -o "$work/c/calls.so" "$work/c/calls.c" && cc -shared -fPIC -o "$work/c/nothread.so" "$work/c/nothread.c"
ok $? "a library of calls, and one that has no threads"
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 20); do printf '  c%d: { call: "calls.so:good" }\n' "$i"; done
    printf '  last: { run: "true", after: [c1, c20] }\n'
} >"$work/c/flow.yaml"
LD_PRELOAD=$work/c/nothread.so timeout 60 "$weft" run "$work/c/flow.yaml" >"$work/out" 2>"$work/err"
ok $? "without a thread calls are made all the same"
grep -q "no thread could be started" "$work/out" "$work/err"
ok $? "and it is said"
printf 'weft: 1\ntasks:\n  e: { call: "calls.so:endless" }\n' >"$work/c/flow.yaml"
"$weft" run "$work/c/flow.yaml" >"$work/out" 2>"$work/err" &
pid=$!
sleep 1
kill -TERM $pid; sleep 0.3; kill -TERM $pid
ends $pid
[ $? = 1 ] && grep -q "1 of 1 task is left" "$work/err"
ok $? "two signals end a run whose call does not return"

echo "1..$count"
exit $failed
