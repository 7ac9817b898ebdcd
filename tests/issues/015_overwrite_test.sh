#!/usr/bin/env bash
# Issue 15: `submit --overwrite` without a shared folder was accepted and had no effect: who attached later kept what stood in the way. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "results that replace what stands there" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2
are_ready one
ok $? "an agent"
at=$work/flow
again() { # a folder in which somebody's own out.txt stands
    rm -rf "$at" && mkdir "$at"
    printf 'weft: 1\ntasks:\n  t: { run: "echo made > {out}", out: out.txt }\n' >"$at/flow.yaml"
    echo mine >"$at/out.txt"
}
again
say submit "$at/flow.yaml" --no-shared -q && run=$(cat "$work/out") && say attach "$run" -C "$at"
[ "$(cat "$at/out.txt")" = made ] && [ "$(cat "$at"/*before-weft*)" = mine ]
ok $? "without it, what stood there is kept"
again
say submit "$at/flow.yaml" --no-shared --overwrite -q && run=$(cat "$work/out") && say attach "$run" -C "$at"
[ "$(cat "$at/out.txt")" = made ] && ! ls "$at" | grep -q before-weft
ok $? "submit --overwrite holds for who attaches"
again
say submit "$at/flow.yaml" --no-shared --overwrite -q && run=$(cat "$work/out") && (cd "$work" && say attach "$run")
[ "$(cat "$at/out.txt")" = made ] && ! ls "$at" | grep -q before-weft
ok $? "from anywhere"
finish
