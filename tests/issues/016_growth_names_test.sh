#!/usr/bin/env bash
# Issue 16, "Bad input": a growth that repeats a name. What joins a run may bring a value, a task or a file that is there already: the run
# ends with status 2, the place and what to change, here and on agents; what had been made stays. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=none TMPDIR=$work XDG_CONFIG_HOME=$work/config
. "$(dirname "$0")/../support/tap.sh"
refused() { # message: of the workflow on standard input
    cat >"$work/flow.yaml"
    for on in "" "--on local:2 --shared" "--on local:2 --no-shared"; do
        rm -rf "${work:?}/t" && mkdir "$work/t" && cd "$work/t" && cp "$work/flow.yaml" . || exit 1
        # shellcheck disable=SC2086 # words
        timeout 120 "$weft" run flow.yaml $on >"$work/out" 2>"$work/err"
        [ $? = 2 ] && grep -qF -- "$1" "$work/err"
        ok $? "$1 ${on:-here}"
    done
}
refused "flow.yaml:2: list 'c' has the value 'x' twice, the second time in line 3" <<'F'
weft: 1
lists: { c: { lines: c.txt, after: split } }
tasks:
  split: { run: "printf 'x\ny\nx\n' > {out}", out: c.txt }
  use: { each: c, run: "echo {c} > {out}", out: "u/{c}" }
F
refused "one must make another" <<'F'
weft: 1
lists: { c: { lines: c.txt, after: one }, d: { lines: d.txt, after: two } }
tasks:
  one: { run: "printf 'x\ny\n' > {out}", out: c.txt }
  two: { run: "printf 'y\nz\n' > {out}", out: d.txt }
  use: { each: c, run: "echo {c} > {out}", out: "u/{c}" }
  more: { each: d, run: "echo {d} > {out}", out: "u/{d}" }
F
refused "more.yaml:4: the key 't' is there twice; the first stands on line 3" <<'F'
weft: 1
tasks:
  plan: { run: "printf 'weft: 1\ntasks:\n  t: {{ run: \"echo > {{out}}\", out: a }}\n  t: {{ run: \"echo > {{out}}\", out: b }}\n' > {out}", out: more.yaml }
  more: { tasks: more.yaml, after: plan }
F
refused "task 'more/t': it makes 'made', but task 'other' makes 'made'; one must make another" <<'F'
weft: 1
tasks:
  other: { run: "echo > {out}", out: made }
  plan: { run: "printf 'weft: 1\ntasks:\n  t: {{ run: \"echo > {{out}}\", out: made }}\n' > {out}", out: more.yaml }
  more: { tasks: more.yaml, after: plan }
F
echo "1..$count"
exit $failed
