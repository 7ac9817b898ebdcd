# Counted checks in TAP, for test scripts: source it at the top. `$work` is the script's own folder; what the last command said (files
# `out` and `err`, there or where the script stands) is shown under a check that failed. The script ends with `echo "1..$count"; exit $failed`.
# shellcheck shell=bash disable=SC2034 # `failed` is for who sources this
count=0 failed=0
tap_said() { # what was said, wherever the script keeps it
    local folder=.
    [ -e out ] || [ -e err ] || folder=${work:-.}
    tail -qn 20 "$folder/out" "$folder/err" 2>/dev/null | cut -c1-300 | sed 's/^/# /'
}
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        echo "not ok $count - $2"
        failed=1
        tap_said
    fi
}
