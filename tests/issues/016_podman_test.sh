#!/usr/bin/env bash
# `container: IMAGE` with podman itself: an image of the tests' own (busybox, no registry), what is seen in it, what it leaves
# behind when its task is ended. Speaks TAP; skips where podman cannot run containers, and says why.
# shellcheck disable=SC2016 # variables in single quotes are the tasks'
weft=$WEFT
work=$(mktemp -d)
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/podman.sh"

cd "$work/t" || exit 1
run() { timeout 120 "$weft" run "$@" >"$work/out" 2>"$work/err"; }
fresh() { rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" && cat >flow.yaml; }
nothing() { grep -q "nothing to do" "$work/out" "$work/err"; }

printf 'elsewhere\n' >"$work/outside.txt"
fresh <<Y
weft: 1
defaults: { container: weft-test:1, env: { WORD: "said {task}" } }
tasks:
  look: { run: "echo \$WORD; cat {in} > {out[0]}; id -u > {out[1]}; ls / > {out[2]}; echo x > /bin/x", in: [in.txt, $work/outside.txt], out: [look.txt, uid, root], env: { WORD: inside } }
  plain: { run: cat in.txt, in: in.txt, after: look }
  pipe: { run: "cat look.txt | sort | head -n 1 > {out}", in: look.txt, out: pipe.txt }
  env: { run: "env > {out}", out: env.txt, pass: [PASSED], secret: TOKEN }
  host: { run: "ls / > {out}", out: host.txt, container: none }
Y
printf 'here\n' >in.txt
TOKEN=opensesame PASSED=1 OTHER=2 run flow.yaml
ok $? "a workflow whose tasks run in an image"
[ "$(cat look.txt)" = "$(printf 'here\nelsewhere')" ] && grep -q bin root && ! grep -q usr root && grep -q usr host.txt
ok $? "inputs are there, also those from elsewhere; the rest of the machine is not; one task took the default back"
[ "$(cat uid)" = "$(id -u)" ] && [ -O look.txt ]
ok $? "the user is the caller"
[ "$(cat pipe.txt)" = elsewhere ] && grep -qr 'inside' .weft/logs && grep -qr here .weft/logs
ok $? "a pipeline works, and what a command writes is its log"
grep -q '^WORD=said env' env.txt && grep -q '^PASSED=1' env.txt && grep -q '^TOKEN=opensesame' env.txt && grep -q '^WEFT_TASK=env' env.txt && ! grep -q OTHER env.txt
ok $? "variables: what is set, passed and secret, and no others"
! grep -rq opensesame .weft
ok $? "the secret stays in the container"
[ "$(containers)" = 0 ]
ok $? "no container is left"
TOKEN=x run flow.yaml && nothing
ok $? "nothing is done twice"
echo more >"$work/image/more" && tar -C "$work/image" -cf "$work/image.tar" . && podman import -q "$work/image.tar" weft-test:1 >/dev/null 2>&1
TOKEN=x PASSED=1 run flow.yaml -n && grep -q "would run 4 of 5\|would run 3 of 5" "$work/out"
ok $? "another image under the same name runs its tasks again, and no others"
podman tag weft-test:1 weft-test:2 && sed 's/weft-test:1/weft-test:2/' flow.yaml >other.yaml && TOKEN=x PASSED=1 run flow.yaml && run other.yaml && nothing
ok $? "the same image under another name does not"

fails() { # 'COMMAND' TEXT [KEYS]
    fresh <<Y
weft: 1
tasks:
  t: { run: "$1", container: weft-test:1, in: in.txt, out: o${3:+, $3} }
Y
    printf 'x\n' >in.txt
    run flow.yaml
    [ $? = 1 ] && [ ! -e o ] && [ "$(cat in.txt)" = x ] && [ "$(containers)" = 0 ]
    ok $? "$2"
}
fails 'echo y > in.txt; echo z > {out}' "an input cannot be written"
fails 'false | sort > {out}' "a pipeline fails with its first part"
fails 'exit 7' "a status is the container's"
grep -q 'exit status 7\|status 7' "$work/err"
ok $? "and is told"
fails 'sleep 600; echo > {out}' "a timeout ends the container, too" 'timeout: 1'
fails "trap '' TERM; sleep 600; echo > {out}" "even one that ignores to be told" 'timeout: 1'

# a command of more than 128 KiB
{
    printf 'weft: 1\ntasks:\n  t:\n    container: weft-test:1\n    out: o\n    env: { A: b }\n    run: |\n'
    seq 30000 | sed 's/^/      : /'
    printf '      echo $A > {out}\n'
} >"$work/long.yaml"
fresh <"$work/long.yaml"
run flow.yaml && [ "$(cat o)" = b ]
ok $? "a long command runs"

fresh <<'Y'
weft: 1
tasks:
  t: { run: "touch started; sleep 600", container: weft-test:1, out: o, sandbox: false }
Y
ended() { # SIGNAL: of weft
    rm -rf started .weft
    "$weft" run flow.yaml >"$work/out" 2>"$work/err" &
    local pid=$! until=$((SECONDS + 60))
    until [ -e started ] || [ $SECONDS -ge $until ]; do sleep 0.1; done
    [ -e started ]
    ok $? "a container runs"
    kill "-$1" $pid
    [ "$1" = KILL ] || { sleep 0.5; kill "-$1" $pid 2>/dev/null; }
    wait $pid 2>/dev/null
}
ended TERM
[ "$(containers)" = 0 ]
ok $? "none after SIGTERM"
ended KILL
[ "$(containers)" = 1 ]
ok $? "SIGKILL leaves nobody to end it"
printf 'weft: 1\ntasks:\n  t: { run: "true", container: weft-test:1, out: [] }\n' >flow.yaml
run flow.yaml && [ "$(containers)" = 0 ]
ok $? "none after SIGKILL and the next run"

fails 'no-such-program {in}' "a program that the image does not have"
fresh <<'Y'
weft: 1
tasks:
  t: { run: "echo > {out}", container: "localhost/weft-none:1", out: o }
Y
run flow.yaml
[ $? = 2 ] && grep -q "flow.yaml:3: task 't': container 'localhost/weft-none:1': podman has no such image" "$work/err"
ok $? "an image that is nowhere is an error before anything runs"
run flow.yaml -n && grep -q "would run 1 of 1" "$work/out"
ok $? "and looking ahead pulls nothing"

fresh <<'Y'
weft: 1
tasks:
  t: { run: "head -c 300000000 /bin/busybox /dev/zero | tr '\\0' x | sort > {out}", container: weft-test:1, out: o, memory: 20M }
Y
run flow.yaml
[ $? = 1 ] && grep -q "memory" "$work/err" && [ "$(containers)" = 0 ]
ok $? "a container that needs more than its memory is ended for that"
echo "1..$count"
exit $failed
