#!/usr/bin/env bash
# A command of more than 128 KiB could not start: a program takes no longer argument. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
# flow SHELL: long tasks that write what they see
mkdir "$work/t"
flow() {
    {
        printf 'weft: 1\ntasks:\n  t:\n    out: o.txt\n%s    run: |\n' "${1:+    shell: $1
}"
        cat
    } >"$work/t/flow.yaml"
    rm -rf "$work/t/.weft" "$work/t/o.txt"
}
padding() { awk 'BEGIN { for (i = 0; i < 4000; i++) print "      # a line of forty bytes or so, no more " i }'; }

{ echo '      echo "$0 $#" > {out}'; padding; echo '      set -o | grep -c "errexit.*on\|pipefail.*on" >> {out}'; } | flow ""
run "$work/t/flow.yaml" && [ "$(tr '\n' ' ' <"$work/t/o.txt")" = "bash 0 2 " ]
ok $? "a long script runs under the same shell, with its options and its \$0"
{ echo '      echo x > {out}'; padding; echo '      false'; echo '      true'; } | flow ""
run "$work/t/flow.yaml"
[ $? = 1 ] && [ ! -e "$work/t/o.txt" ]
ok $? "as strictly"
{ echo '      false | echo "$0" > {out}'; padding; } | flow sh
run "$work/t/flow.yaml" && [ "$(cat "$work/t/o.txt")" = sh ]
ok $? "under sh as well"
{ echo '      import sys'; padding; echo '      open("{out}", "w").write(repr(sys.argv))'; } | flow python3
run "$work/t/flow.yaml" && [ "$(cat "$work/t/o.txt")" = "['-c']" ]
ok $? "and Python"
{ padding; echo '      BEGIN { print "x" > "{out}" }'; } | flow '"awk -f"'
run "$work/t/flow.yaml" && [ "$(cat "$work/t/o.txt")" = x ]
ok $? "an interpreter that gets a file anyway"
{ padding; echo '      print "x";'; } | flow '"perl -e"'
run "$work/t/flow.yaml"
[ $? = 1 ] && grep -q 'say `shell: perl`' "$work/err" "$work/out"
ok $? "one that takes an argument only is told what to do"
{ echo '      echo x > {out}'; padding; } | flow "" && echo '    memory: 100M' >>"$work/t/flow.yaml"
run "$work/t/flow.yaml" && [ "$(cat "$work/t/o.txt")" = x ]
ok $? "with a limit of memory, too"
# many words, without shell syntax
mkdir "$work/w"
{ printf 'weft: 1\ntasks:\n  t: { run: "/bin/echo'; awk 'BEGIN { for (i = 0; i < 30000; i++) printf " word%d", i }'; printf ' > {out}", out: o.txt }\n  u: { run: "/bin/true'; awk 'BEGIN { for (i = 0; i < 30000; i++) printf " word%d", i }'; printf '" }\n'; } >"$work/w/flow.yaml"
run "$work/w/flow.yaml" && [ "$(wc -w <"$work/w/o.txt")" = 30000 ]
ok $? "30,000 words, with a shell and without"
ls -A "$work"/t/.weft/logs/* "$work"/w/.weft/logs/* 2>/dev/null | grep -q '^\.script'
[ $? = 1 ]
ok $? "no file of a command is left behind"
echo "1..$count"
exit $failed
