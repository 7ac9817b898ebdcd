#!/usr/bin/env bash
# Issue 16, section 1: variables and parameters may stand in run, in, out, after, memory, cores, work, timeout, priority, kind, env and when.
# What is written out is compared with what somebody would write by hand. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work XDG_CONFIG_HOME=$work/config
cd "$work" || exit 1
cat >flow.yaml <<'F'
weft: 1
lists: { n: [2, 3] }
parameters: { p: 4 }
tasks:
  t:
    each: n
    run: "echo {n} {p} $E > {out}"
    in: { reads: "in{p}", more: { name: "opt{n}", optional: true } }
    out: "o{p}/{n}"
    memory: "{n}M"
    cores: "{n}"
    work: "{p}"
    timeout: "{n}s"
    priority: "{p}"
    kind: "k{n}"
    env: { E: "e{n}{p}" }
    when: "{n} < {p}"
    after: "f{n}"
  f2: { run: "true" }
  f3: { run: "true" }
F
expected() { # n
    cat <<F
  t@n=$1:
    run: echo $1 4 \$E > {out}
    env:
      E: e${1}4
    kind: k$1
    in: [in4, {name: opt$1, optional: true}]
    out: [o4/$1]
    after: [f$1]
    work: 4
    when: $1 < 4
    memory: ${1}000000
    cores: $1
    timeout: $1
    priority: 4
F
}
"$weft" show flow.yaml --expanded >whole.yaml 2>err
{ echo "weft: 1"; echo "tasks:"; expected 2; expected 3; printf "  f2:\n    run: 'true'\n  f3:\n    run: 'true'\n"; } >wanted.yaml
if diff wanted.yaml whole.yaml >out 2>&1; then echo "ok 1 - variables and parameters in every setting"; status=0; else
    echo "not ok 1 - variables and parameters in every setting"
    sed 's/^/# /' out err
    status=1
fi
echo "1..1"
exit $status
