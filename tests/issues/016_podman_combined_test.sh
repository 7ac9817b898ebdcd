#!/usr/bin/env bash
# `container: IMAGE` together with what else a task may have: families, growth, `when`, secrets, retries, folders, limits of memory, here
# and on agents, which see the folder or do not; and ends by timeout and signal. Speaks TAP; skips where
# podman cannot run containers, and says why.
# shellcheck disable=SC2016 # variables in single quotes are the tasks'
weft=$WEFT
work=$(mktemp -d)
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/podman.sh"
for name in mkdir chmod cp test; do ln -s busybox "$work/image/bin/$name"; done
tar -C "$work/image" -cf "$work/image.tar" . && podman import -q "$work/image.tar" weft-test:1 >/dev/null 2>&1
run() { timeout 240 "$weft" run "$@" >"$work/out" 2>"$work/err"; }
secret=open-sesame-7421
cat >"$work/flow.yaml" <<'Y'
weft: 1
lists: { i: { from: 1, to: 3 }, c: { lines: c.txt, after: split } }
defaults: { container: "weft-test:1" }
tasks:
  make: { each: i, run: "echo $TOKEN $PASSED {i} > {out}; echo log $TOKEN", out: "m/{i} x.txt", secret: TOKEN, pass: [PASSED] }
  gather: { run: "cat {in} | wc -l > {out[0]}; cat {in.list} > {out[1]}", in: "m/{i} x.txt", out: [g.txt, names.txt] }
  taken: { run: "echo yes > {out}", in: g.txt, out: w.txt, when: "{in} = 3" }
  untaken: { run: "echo no > {out}", in: g.txt, out: n.txt, when: "{in} = 4" }
  folder: { run: "mkdir -p {out}/sub; echo a > {out}/sub/a; chmod 700 {out}/sub", out: d/ }
  reads: { run: "cat {in}/sub/a > {out}", in: d/, out: rd.txt }
  again: { run: "test {attempt} = 2 && id -u > {out} || exit 3", out: again.txt, retries: 2, retry_on: [3] }
  more: { run: "head -c 60000000 /dev/zero | tr '\\0' x | sort | wc -c > {out}", out: more.txt, memory: [30M, 900M] }
  split: { run: "seq 2 > {out}", out: c.txt }
  use: { each: c, run: "echo {c} > {out}", out: "u/{c}" }
  sum: { run: "cat {in} > {out}", in: "u/{c}", out: sum.txt }
  script: { run: "#!/bin/sh\nread x < g.txt; echo \"$x $A\" > {out}", in: g.txt, out: script.txt, env: { A: "a 'b' \"c\" $d" } }
Y
right() { # what lies between tasks stays with agents that do not see the folder
    [ -n "$1" ] || { [ "$(cat m/2\ x.txt)" = "$secret yes 2" ] && [ -O d/sub/a ] && [ "$(cat g.txt)" = 3 ]; } || return 1
    [ "$(cat w.txt sum.txt rd.txt more.txt | tr '\n' ' ')" = "yes 1 2 a 60000001 " ] &&
        [ "$(cat again.txt)" = "$(id -u)" ] && [ "$(cat names.txt)" = "$(printf 'm/%s x.txt\n' 1 2 3)" ] && [ ! -e n.txt ] &&
        [ "$(cat script.txt)" = "3 a 'b' \"c\" \$d" ] && [ -O w.txt ] && [ "$(containers)" = 0 ]
}
export TOKEN=$secret PASSED=yes
for where in "" "--on local:2 --shared" "--on local:2 --no-shared"; do
    rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" && cp "$work/flow.yaml" . || exit 1
    # shellcheck disable=SC2086 # words
    run flow.yaml $where
    ok $? "all of it together: ${where:-here}"
    right "${where#--on local:2 --shared}"
    ok $? "results, owners and nothing left: ${where:-here}"
    ! grep -rq "$secret" .weft && ! grep -q "$secret" "$work/out" "$work/err"
    ok $? "the secret is in no log and no record: ${where:-here}"
    [ "$where" = "--on local:2 --no-shared" ] || { run flow.yaml && grep -q "nothing to do" "$work/out"; }
    ok $? "and nothing is left to do: ${where:-here}"
done

for where in "" "--on local:2 --no-shared"; do
    rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" || exit 1
    printf 'weft: 1\ndefaults: { container: "weft-test:1" }\ntasks:\n  t: { run: "trap true TERM; sleep 600; sleep 600", out: o, timeout: 2 }\n' >flow.yaml
    # shellcheck disable=SC2086
    run flow.yaml $where
    [ $? = 1 ] && grep -q "timeout\|its time" "$work/err" "$work/out" && [ "$(containers)" = 0 ]
    ok $? "a timeout ends the container: ${where:-here}"
done
rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" || exit 1
printf 'weft: 1\ntasks:\n  t: { run: "sleep 600", container: "weft-test:1", out: o }\n' >flow.yaml
ended() { # words of run, behind them a signal is sent to it
    "$weft" run flow.yaml "$@" >"$work/out" 2>"$work/err" &
    local pid=$! until=$((SECONDS + 60))
    until [ "$(podman ps -q | wc -l)" = 1 ] || [ $SECONDS -ge $until ]; do sleep 0.2; done
    [ "$(podman ps -q | wc -l)" = 1 ]
    ok $? "a container runs: ${*:-here}"
    kill -TERM $pid
    sleep 0.5
    kill -TERM $pid 2>/dev/null
    wait $pid 2>/dev/null
    until=$((SECONDS + 30))
    until [ "$(containers)" = 0 ] || [ $SECONDS -ge $until ]; do sleep 0.2; done
    [ "$(containers)" = 0 ] && [ ! -e o ]
    ok $? "and is gone with its run: ${*:-here}"
}
ended
ended --on local:2 --no-shared
echo "1..$count"
exit $failed
