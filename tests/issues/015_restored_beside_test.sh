#!/usr/bin/env bash
# Issue 15, found by the soak of clusters: a task of several outputs whose agent died is computed again for one that nobody has. It wrote the
# others anew, too, where tasks read them; those then failed, or were tried again: their input "was replaced by another file". What stands
# there and is what it was stays. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "results that are computed again" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<EOF
weft: 1
tasks:
  make: { run: 'echo x >> $work/made; echo gone > {out[0]}; echo stays > {out[1]}', out: [gone, stays] }
  read: { run: 'echo x >> $work/reads; until [ -e $work/go ]; do sleep 0.1; done; cat {in} > {out}', in: stays, out: copy, needs: b }
  wait: { run: 'until [ -e $work/killed ]; do sleep 0.1; done', needs: b }
  again: { run: 'touch $work/go; cat {in} > {out}', in: gone, out: used, needs: b, after: wait }
EOF
start_agent first "$weft" agent -j 1 --lease 3
are_ready first
run=$("$weft" submit "$work/flow/flow.yaml" -q --no-shared --later 2>"$work/err")
wait_for 60 test -e "$work/made"
ok $? "one agent makes two files"
start_agent second "$weft" agent -j 3 --lease 3 --has b
are_ready second
wait_for 60 test -e "$work/reads"
ok $? "another reads one of them"
kill -9 "$pid_first"
touch "$work/killed"
say attach "$run"
ok $? "the first dies with the other, which is made again beside the reader, and the run ends well"
[ "$(wc -l <"$work/made")" = 2 ] && [ "$(wc -l <"$work/reads")" = 1 ] && [ "$(cat "$work/flow/copy" "$work/flow/used" | tr '\n' ' ')" = "stays gone " ]
ok $? "the reader ran once"
finish
