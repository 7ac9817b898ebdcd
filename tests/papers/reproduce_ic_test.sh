#!/bin/bash
# `weft reproduce ic --quick`: report, pictures and tables come out; `weft convert --order` writes priorities.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
check() { # check DESCRIPTION COMMAND...: one line of TAP
    local what=$1
    shift
    count=$((count + 1))
    if "$@" >"$folder/log" 2>&1; then
        echo "ok $count - $what"
    else
        echo "not ok $count - $what"
        sed 's/^/# /' "$folder/log"
        failed=1
    fi
}
not() { ! "$@"; }

check "the small version runs" "$WEFT" reproduce ic --quick --quiet -o "$folder/a"
check "Figure 3 is scheduled optimally" grep -q '^| Figure 3, top left (7 blocks) | 20 | IC_PROVED | IC_PROVED | 127 ' "$folder/a/ic.md"
check "Figure 8 too" grep -q '^| Figures 3 (bottom) and 8.* | 16 | IC_PROVED ' "$folder/a/ic.md"
check "G3 has no IC-optimal order" grep -q '^| Figure 5: G3 | 7 | IC_NONE ' "$folder/a/ic.md"
check "nor has G4" grep -q '^| Figure 5: G4 | 13 | IC_NONE ' "$folder/a/ic.md"
check "AIRSN is IC-optimal" grep -q '^| AIRSN | [0-9]* | IC_PROVED ' "$folder/a/ic.md"
check "table 2, left, last row" grep -q '^     2     6     \[9\]   \[11\]' "$folder/a/ic.md"
check "table 3, bottom right, last row" grep -q '^     3     5     \[8\]    \[9\]   \[10\]' "$folder/a/ic.md"
check "its head says what agrees" grep -q '^\*\*What agrees.\*\* 7 of 7 statements' "$folder/a/ic.md"
check "what differs and why" grep -q '^\*\*What differs, and why.\*\*.*no difference can be seen' "$folder/a/ic.md"
check "and what cannot be known" grep -q '^\*\*What cannot be known.\*\*' "$folder/a/ic.md"
for numbered in "Figure 1" "Figure 2" "Figure 3" "Figures 4, 5, 8" "Figures 6, 7" "Table 1" "Table 2" "Table 3"; do
    check "$numbered is found, or why not" grep -q "^| $numbered | [^|]* |$" "$folder/a/ic.md"
done
check "Table 1 stands there" grep -q '^| n1 | E1(n1) + E2(0) ' "$folder/a/ic.md"
check "Hall's figure has a number beside it" grep -qE '^\| Hall et al\. 2007 \|.*at most [0-9.]+ % \(.*median -?[0-9.]+ %' "$folder/a/ic.md"
check "what cannot be told apart is marked" grep -qE '±[0-9.]+ = \|' "$folder/a/ic.md"
check "the small version is the same again" "$WEFT" reproduce ic --quick --quiet -o "$folder/b"
check "to the byte" cmp "$folder/a/ic.md" "$folder/b/ic.md"
check "a Montage of 1,349 images" "$WEFT" generate montage --set images=1349 -o "$folder/m.yaml" -q
check "has the published 7,881 jobs" sh -c "'$WEFT' show '$folder/m.yaml' | grep -q 'tasks  *7,881$'"
for picture in "$folder"/a/*.svg; do
    check "${picture##*/} is well-formed" python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$picture"
done
check "an unknown study is refused" not "$WEFT" reproduce nothing

cat >"$folder/in.dag" <<'DAG'
JOB a a.sub
JOB b b.sub
JOB c c.sub
JOB d d.sub
PARENT b CHILD c d
DAG
check "priorities are written" "$WEFT" convert "$folder/in.dag" "$folder/out.dag" --order ic --quiet
check "the job that frees others comes first" grep -q '^PRIORITY b 4' "$folder/out.dag"
check "every job has one" test "$(grep -c '^PRIORITY' "$folder/out.dag")" = 4
check "an order needs a planner of orders" not "$WEFT" convert "$folder/in.dag" "$folder/x.dag" --order heft
"$WEFT" convert "$folder/in.dag" "$folder/x.dag" --order heft >"$folder/text" 2>&1
check "and the message says so" grep -q 'family order' "$folder/text"
echo "1..$count"
exit ${failed:-0}
