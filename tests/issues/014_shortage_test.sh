#!/usr/bin/env bash
# Descriptors, processes or memory that were missing for a moment failed tasks, and were called "command
# not found". A task that ended well while weft was stopped by Ctrl-Z was "over its time limit". Short
# tasks were said to have used the memory that weft itself uses. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 # of a build with it: libraries are preloaded below
. "$(dirname "$0")/../support/tap.sh"
wait_for() { for _ in $(seq 200); do [ -e "$1" ] && return 0; sleep 0.1; done; return 1; }
ends() { for _ in $(seq 300); do kill -0 "$1" 2>/dev/null || { wait "$1"; return $?; }; sleep 0.1; done; kill -KILL "$1"; return 99; }

# --- descriptors: 60 tasks at once where 64 descriptors are allowed ---
mkdir "$work/d"
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 60); do printf '  t%d: { run: "sleep 0.2; echo %d > {out}", out: o%d.txt }\n' "$i" "$i" "$i"; done
} >"$work/d/flow.yaml"
(ulimit -n 64; exec "$weft" run "$work/d/flow.yaml" -j 60) >"$work/out" 2>"$work/err"
ok $? "more tasks at once than there are descriptors for"
[ "$(cat "$work"/d/o*.txt | sort -n | tr '\n' ' ')" = "$(seq 60 | tr '\n' ' ')" ]
ok $? "all results are there"
grep -q "tasks waited until they could start.*Too many open files" "$work/out" "$work/err"
ok $? "and that they waited is said"

# --- processes and memory: the first starts fail ---
cat >"$work/short.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
static int lacks(void)
{
    static int left = -1;
    if (left < 0)
        left = atoi(getenv("SHORT_TIMES"));
    return left > 0 ? left--, atoi(getenv("SHORT_ERRNO")) : 0;
}
#define SPAWN(name) \
    int name(pid_t *p, const char *f, const posix_spawn_file_actions_t *a, const posix_spawnattr_t *t, char *const v[], char *const e[]) \
    { \
        int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]) = dlsym(RTLD_NEXT, #name); \
        int reason = lacks(); \
        return reason ? reason : real(p, f, a, t, v, e); \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
C
cc -shared -fPIC -o "$work/short.so" "$work/short.c" -ldl
ok $? "a library by which starts fail"
mkdir "$work/p"
printf 'weft: 1\ntasks:\n  a: { run: "echo x > {out}", out: a.txt }\n  b: { run: cp {in} {out}, in: a.txt, out: b.txt }\n  c: { run: "true" }\n' | sed 's/run: cp {in} {out}/run: "cp {in} {out}"/' >"$work/p/flow.yaml"
for reason in "11 Resource temporarily unavailable" "12 Cannot allocate memory" "23 Too many open files in system"; do
    rm -rf "$work"/p/.weft "$work"/p/*.txt
    SHORT_TIMES=7 SHORT_ERRNO=${reason%% *} LD_PRELOAD=$work/short.so "$weft" run "$work/p/flow.yaml" -j 2 >"$work/out" 2>"$work/err" && [ "$(cat "$work/p/b.txt")" = x ]
    ok $? "a passing want: ${reason#* }"
    grep -q "tasks waited.*${reason#* }" "$work/out" "$work/err"
    ok $? "is named"
done
rm -rf "$work"/p/.weft "$work"/p/*.txt
SHORT_TIMES=1000000 SHORT_ERRNO=11 LD_PRELOAD=$work/short.so "$weft" run "$work/p/flow.yaml" -j 2 >"$work/out" 2>"$work/err" &
pid=$!
sleep 1
kill -TERM $pid
ends $pid
[ $? = 1 ] && grep -q "3 of 3 tasks are left" "$work/err"
ok $? "one signal ends a run whose tasks wait"

# --- the clock of a deadline ---
mkdir "$work/z"
printf 'weft: 1\ntasks:\n  t: { run: "touch %s/z/on; sleep 1; echo x > %s/z/o", timeout: 3 }\n' "$work" "$work" >"$work/z/flow.yaml"
"$weft" run "$work/z/flow.yaml" >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/z/on"
kill -STOP $pid; sleep 4; kill -CONT $pid
ends $pid
ok $? "a task that ended well while weft was stopped has ended well"
rm -rf "$work"/z/.weft "$work"/z/on
printf 'weft: 1\ntasks:\n  t: { run: "echo $$ > %s/z/on.tmp; mv %s/z/on.tmp %s/z/on; sleep 1", timeout: 3 }\n' "$work" "$work" "$work" >"$work/z/flow.yaml"
"$weft" run "$work/z/flow.yaml" >"$work/out" 2>"$work/err" &
pid=$!
wait_for "$work/z/on"
group=$(cat "$work/z/on")
kill -STOP $pid; kill -STOP -- "-$group"; sleep 4; kill -CONT $pid; sleep 0.5; kill -CONT -- "-$group"
ends $pid
ok $? "one that was stopped with weft has the rest of its time"
rm -rf "$work"/z/.weft
printf 'weft: 1\ntasks:\n  t: { run: "sleep 50", timeout: 1 }\n' >"$work/z/flow.yaml"
"$weft" run "$work/z/flow.yaml" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "time limit" "$work/out" "$work/err"
ok $? "one that takes too long is over its time limit"

# --- whose memory it is ---
mkdir "$work/m"
{
    printf 'weft: 1\ntasks:\n'
    for i in $(seq 20); do printf '  s%d: { run: "true" }\n' "$i"; done
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "  j%d: { after: s%d }\n", i, i % 20 + 1 }'
    # it holds its memory for a while: where weft itself is larger (a build with sanitizers), only what was seen running counts
    printf '  big: { run: "head -c 300000000 /dev/zero | tail -c 300000000 | (sleep 2; cat > /dev/null)" }\n'
} >"$work/m/flow.yaml"
"$weft" run "$work/m/flow.yaml" -j 2 --json >"$work/events" 2>"$work/err"
ok $? "a large workflow of small tasks"
# tasks of /bin/true: a figure of their own is a few MB, weft's is far more
awk -F'"memory":' '/"kind":"true"/ && /"memory":/ { split($2, m, /[,}]/); if (m[1] > 20000000) print }' "$work/events" >"$work/out"
[ ! -s "$work/out" ]
ok $? "small tasks are not said to have used weft's memory"
awk -F'"memory":' '/"task":"big"/ && /"memory":/ { split($2, m, /[,}]/); if (m[1] > 290000000) good = 1 } END { exit !good }' "$work/events"
ok $? "a large one is seen, also in a pipeline"

echo "1..$count"
exit $failed
