#!/usr/bin/env bash
# A task with 3,000 inputs waited 2 to 9 s for its links when the folder's path was long: a link whose
# target has more than 59 bytes takes a block of the disk. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
deep=$work/$(printf 'a%.0s' {1..60})/$(printf 'b%.0s' {1..60})
mkdir -p "$deep/in/sub/x"
{
    printf 'weft: 1\ntasks:\n  t:\n    run: |\n      find . -type l -printf "%%l\\n" | awk "{ if (length(\\$0) > 59) print }" > {out[1]}\n      cat {in} > {out[0]}\n    out: [all.txt, long.txt]\n    in:\n'
    for i in $(seq 3000); do
        f=in/f$i.txt
        [ $((i % 100)) = 0 ] && f=in/sub/x/f$i.txt
        echo "$i" >"$deep/$f"
        echo "      - $f"
    done
} >"$deep/flow.yaml"
"$weft" run "$deep/flow.yaml" >"$work/out" 2>"$work/err"
ok $? "a task with 3,000 inputs in a deep folder"
seq 3000 | cmp -s - "$deep/all.txt"
ok $? "reads them all, in order"
[ ! -s "$deep/long.txt" ]
ok $? "through links that need no block of the disk"
! grep -q undeclared "$work/err" "$work/out"
ok $? "none of which is taken for something undeclared"
# ext4 passes over every inode that was freed of late in the same group of the disk: sandboxes have theirs
marks=$(lsattr -d "$deep/.weft/sandbox" 2>/dev/null | cut -d' ' -f1)
case $marks in "" | *T*) true ;; *) [ "$(stat -f -c %T "$deep")" != ext2/ext3 ] ;; esac
ok $? "sandboxes are spread over the disk"
(cd "$deep" && rm all.txt && "$weft" run flow.yaml --on local:1) >"$work/out" 2>"$work/err" && seq 3000 | cmp -s - "$deep/all.txt"
ok $? "the same on an agent"
echo "1..$count"
exit $failed
