#!/usr/bin/env bash
# `attach` wrote the results wherever the ticket said: somebody else's run replaced a .profile. Now a note of the run must stand there, or
# -C name the folder. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "attach" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent
are_ready one
ok $? "an agent"
mkdir "$work/home" "$work/else"
echo mine >"$work/home/.profile"
cat >"$work/home/flow.yaml" <<'FLOW'
weft: 1
tasks: { evil: { run: "echo theirs > {out}", out: .profile } }
FLOW
say submit "$work/home/flow.yaml" --no-shared --overwrite -q && run=$(cat "$work/out")
ok $? "a run is submitted from a folder"
mv "$work/home/.weft/cluster" "$work/kept" # as if it had been submitted on another machine that has a folder of that name
say attach "$run"
[ $? = 2 ] && grep -q -- '-C DIR' "$work/err" && [ "$(cat "$work/home/.profile")" = mine ]
ok $? "without a note there, attach asks for -C and writes nothing"
mkdir -p "$work/home/.weft/cluster"
for f in "$work/kept"/*.json; do sed 's|redis://[^"]*|redis://127.0.0.1:1|' "$f" >"$work/home/.weft/cluster/${f##*/}"; done
say attach "$run"
[ $? = 2 ] && [ "$(cat "$work/home/.profile")" = mine ]
ok $? "nor with a note of a run on another cluster"
say attach "$run" -C "$work/else" && [ "$(cat "$work/else/.profile")" = theirs ] && [ "$(cat "$work/home/.profile")" = mine ]
ok $? "-C brings the results where it says"
mkdir "$work/again" && sed 's/theirs/ours/' "$work/home/flow.yaml" >"$work/again/flow.yaml"
say submit "$work/again/flow.yaml" --no-shared -q && run=$(cat "$work/out") && say attach "$run" && [ "$(cat "$work/again/.profile")" = ours ]
ok $? "with its note, attach finds the folder by itself"
[ ! -e "$work/again/.weft/cluster" ]
ok $? "and the note is gone with that"
finish
