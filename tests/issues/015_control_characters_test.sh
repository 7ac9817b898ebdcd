#!/usr/bin/env bash
# Names of tasks, files and workflows, and what tasks write, may hold control characters: a terminal never gets them. Speaks TAP.
set -u
weft=${WEFT:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY="$work/history.db"
cd "$work" || exit 1
printf 'weft: 1\nname: "n\\e[31mred"\ntasks:\n  "t\\e[2Jx": { run: "printf \x27\\\\033[31mhello\\\\007\\\\n\x27; exit 3" }\n  "u\\e]0;title\\a": { run: "true", out: "f\\e[1m" }\n' >flow.yaml
n=0
while read -r command; do
    # shellcheck disable=SC2086 # words
    "$weft" $command >out 2>&1
    n=$((n + 1))
    if { [ -s out ] || [ "$command" = "lint flow.yaml" ]; } && ! grep -q "$(printf '[\001-\010\013-\037\177]')" out; then
        echo "ok $n - weft $command"
    else
        echo "not ok $n - weft $command"
        cat -v out | head -n 20 | sed 's/^/# /'
    fi
done <<'COMMANDS'
run flow.yaml
run flow.yaml -n
run flow.yaml -n -v
run flow.yaml --why x
run nothing.yaml
show flow.yaml
show flow.yaml --tasks
show flow.yaml --by kind
show flow.yaml --expanded
lint flow.yaml
history
history last
report last
plan flow.yaml --on 2
predict flow.yaml
compare flow.yaml --on 2 --with heft
convert flow.yaml x.stg
COMMANDS
echo "1..$n"
