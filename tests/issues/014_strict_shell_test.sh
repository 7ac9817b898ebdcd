#!/usr/bin/env bash
# `false | sort > {out}` and a failing line in the middle of a script were counted as done and
# remembered; so was what a broken archive left of itself. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
# task 'COMMAND' [MORE KEYS]: a workflow of one task that makes o.txt
task() {
    rm -rf "$work/t" && mkdir "$work/t"
    printf '%s\n' 'weft: 1' 'tasks:' '  t:' "    run: $1" '    out: o.txt' >"$work/t/flow.yaml"
    shift
    [ $# = 0 ] || printf '    %s\n' "$@" >>"$work/t/flow.yaml"
}
fails() { # 'COMMAND' TEXT [MORE]
    local command=$1 text=$2
    shift 2
    task "$command" "$@"
    run "$work/t/flow.yaml"
    [ $? = 1 ] && [ ! -e "$work/t/o.txt" ]
    ok $? "$text fails, and leaves nothing"
    run "$work/t/flow.yaml" -n && grep -q "would run 1 of 1" "$work/out"
    ok $? "... and is not remembered"
}
works() { # 'COMMAND' TEXT [MORE]: o.txt holds x
    local command=$1 text=$2
    shift 2
    task "$command" "$@"
    run "$work/t/flow.yaml" && [ "$(cat "$work/t/o.txt")" = x ]
    ok $? "$text works"
}

fails '"false | sort > {out}"' "a pipeline whose first part fails"
printf 'x' | gzip | head -c 12 >"$work/broken.gz"
fails "zcat $work/broken.gz | sort > {out}" "a broken archive"
fails "'{ echo x > {out}; false; echo y; }'" "a failing command in the middle of a list"
fails "$(printf '|\n      echo x > {out}\n      false\n      echo y')" "a failing line in the middle of a script"
fails '"echo x | (cat; exit 3) | sort > {out}"' "a part in the middle"
fails '"false | sort > {out}"' "a limited task, which waits at a gate," "memory: 100M"

fails '"echo a | grep x | sort > {out}"' "grep without a match"
run "$work/t/flow.yaml"
grep -q 'grep that finds nothing' "$work/err" "$work/out" && grep -q 'shell: sh' "$work/err" "$work/out"
ok $? "the message says what helps"
fails '"yes | head -n 1 > {out}"' "SIGPIPE"
run "$work/t/flow.yaml"
grep -q 'stopped reading' "$work/err" "$work/out"
ok $? "the message says what it was"
works '"echo x | (grep y || true; cat; echo x) > {out}"' "|| true"
works '"false | echo x > {out}"' "a pipeline under sh" "shell: sh"
works '"yes x | head -n 1 > {out}"' "head under sh" "shell: sh"
works '"[[ abc == a* ]] && echo x > {out}"' "what only bash has"
works '"[ $0 = bash ] && echo x > {out}"' "bash is there as bash"
works '"set -o | grep -q nounset.*on; echo x > {out}"' "options of a shell that is named" 'shell: "bash -euo pipefail -c"'
fails '"echo $no_such_variable > {out}"' "an unset variable under -u" 'shell: "bash -euo pipefail"'
works "$(printf '|\n      import sys\n      open("{out}", "w").write("x\\n")')" "Python" "shell: python3"
works "$(printf '|\n      #!/usr/bin/env python3\n      import sys\n      open("{out}", "w").write("x\\n" if len(sys.argv) == 1 else "y")')" "a script with an interpreter"
works "$(printf '|\n      BEGIN { print "x" > "{out}" }')" "a program that gets a file" 'shell: "awk -f"'
[ -z "$(ls -A "$work"/t/.weft/logs/*/.script-* 2>/dev/null)" ]
ok $? "no file of a command is left behind"

task '"false | echo x > {out}"' "shell: sh"
run "$work/t/flow.yaml"
run "$work/t/flow.yaml" -n && grep -q "nothing to do\|would run 0 of" "$work/out"
ok $? "done under sh"
sed -i '/shell:/d' "$work/t/flow.yaml"
run "$work/t/flow.yaml" -n && grep -q "would run 1 of 1" "$work/out"
ok $? "the shell belongs to the key"

task 'x' 'shell: "a | b"'
run "$work/t/flow.yaml"
[ $? = 2 ] && grep -q "flow.yaml:6: .*expected a program with its options" "$work/err"
ok $? "a shell that is none is refused with its place"
printf '%s\n' 'weft: 1' 'tasks:' '  t: { call: "a.so:f", shell: sh }' >"$work/t/flow.yaml"
run "$work/t/flow.yaml"
[ $? = 2 ] && grep -q "a call has none" "$work/err"
ok $? "a call has no shell"

# --- without bash ---
mkdir "$work/bin"
for program in sh cat sort false true echo ls redis-server; do ln -s "$(command -v $program)" "$work/bin/"; done
task '"false | sort > {out}"'
PATH=$work/bin run "$work/t/flow.yaml"
status=$?
if sh -c 'set -o pipefail' 2>/dev/null; then [ $status = 1 ]; else [ $status = 0 ] && grep -q "no bash in PATH" "$work/err" "$work/out"; fi
ok $? "without bash: pipefail if sh has it, else a remark"
run "$work/t/flow.yaml" -n && grep -q "would run 1 of 1" "$work/out"
ok $? "what ran without bash is not taken for what runs with it"
task "$(printf '|\n      echo x > {out}\n      false\n      echo y')"
PATH=$work/bin run "$work/t/flow.yaml"
[ $? = 1 ]
ok $? "without bash a script still ends at its first failure"

task '"false | sort > {out}"'
PATH=$work/bin run "$work/t/flow.yaml" --on local:1
[ $? = 1 ] && grep -q "no bash in PATH on this machine" "$work/err" "$work/out"
ok $? "an agent without bash refuses what was meant for one"

# --- Makeflow's rules are sh's ---
mkdir "$work/m"
printf 'o.txt :\n\tfalse | echo x > o.txt\n' >"$work/m/flow.makeflow"
run "$work/m/flow.makeflow" && [ "$(cat "$work/m/o.txt")" = x ]
ok $? "a Makeflow rule runs under sh"

# --- on agents ---
task '"false | sort > {out}"'
run "$work/t/flow.yaml" --on local:1
[ $? = 1 ] && [ ! -e "$work/t/o.txt" ]
ok $? "an agent's shell is strict"
task '"false | echo x > {out}"' "shell: sh"
run "$work/t/flow.yaml" --on local:1 && [ "$(cat "$work/t/o.txt")" = x ]
ok $? "and what a task says about its shell goes with it"

echo "1..$count"
exit $failed
