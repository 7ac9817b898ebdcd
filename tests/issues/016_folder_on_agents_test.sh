#!/usr/bin/env bash
# `out: d/` is a folder (issue 16, section 3): on agents that do not see the workflow's folder it was refused, as a name with an empty
# part. The judge is the same run on this machine. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work XDG_CONFIG_HOME=$work/config
. "$(dirname "$0")/../support/tap.sh"
cat >"$work/flow.yaml" <<'F'
weft: 1
lists: { i: [1, 2, 3] }
tasks:
  make: { run: "mkdir -p {out}/sub; echo a > {out}/sub/a; echo b > {out}/b; ln -s b {out}/link", out: d/ }
  read: { each: i, run: "cat {in}/sub/a {in}/link > {out}", in: d/, out: "r{i}" }
  copy: { run: "mkdir -p {out}; cp -r {in} {out}", in: [d/, "r{i}", given/], out: dd/ }
F
for where in here agents; do
    mkdir -p "$work/$where/given/in" && cd "$work/$where" && echo g >given/in/g && cp "$work/flow.yaml" . || exit 1
    on=() && [ $where = here ] || on=(--on local:2 --no-shared)
    "$weft" run flow.yaml "${on[@]}" >"$work/out" 2>"$work/err"
    ok $? "folders between tasks, $where"
done
rm -rf "$work/here/.weft" "$work/agents/.weft"
diff -r "$work/here/dd" "$work/agents/dd" >"$work/out" 2>&1 && [ -s "$work/agents/dd/d/sub/a" ]
ok $? "the same results"
cd "$work/agents" || exit 1
for name in "../x/" "a//" ".weft/" "/"; do
    printf 'weft: 1\ntasks:\n  t: { run: "mkdir -p {out}", out: "%s" }\n' "$name" >bad.yaml
    ! "$weft" run bad.yaml --on local:1 --no-shared >"$work/out" 2>"$work/err" || { [ "$name" = "a//" ] && [ -d a ]; }
    ok $? "a folder that must not be one, or means another name: $name"
done
echo "1..$count"
exit $failed
