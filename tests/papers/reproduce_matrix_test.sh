#!/usr/bin/env bash
# `weft reproduce matrix --quick`: report, pictures and tables come out, the same from the same seed. Speaks TAP.
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

check "the small version runs" "$WEFT" reproduce matrix --quick --quiet -o "$folder/a"
"$WEFT" reproduce matrix --quick --quiet -o "$folder/b" >"$folder/summary"
check "the same seed gives the same report" cmp "$folder/a/matrix.md" "$folder/b/matrix.md"
check "four lines of summary" test "$(grep -c 'of the bound' "$folder/summary")" = 4
for part in "Figure 5" "Figure 6" "Figure 7" "Figure 8" "Figures 9 and 11" "Table 4" "Figure 10" "Figure 12" "Figure 13" "Section 4.4"; do
    check "$part is there" grep -q "^## $part" "$folder/a/matrix.md"
done
check "published beside ours: DAWS" grep -q '^| DAWS as the paper describes it (tasks by hash) | 85.9 % | [0-9.]* % |' "$folder/a/matrix.md"
check "published beside ours: Table 4" grep -q '^| Fan-Out | 85.7 % | [0-9.]* % | [0-9.]* % | [0-9.]* % | [0-9.]* % | [0-9.]* % |' "$folder/a/matrix.md"
for word in "What agrees" "What differs, and why" "What cannot be known" "no Table 5"; do
    check "the study says: $word" grep -q "$word" "$folder/a/matrix.md"
done
# The head's words follow from the tables, also of another seed.
head_is_true() { # folder: what it says of Table 4 stands there
    local dag head row
    for dag in BOT Pipeline Fan-Out Fan-In; do
        head=$(grep -o "Table 4: $dag as described, tasks by hash, is at [0-9.]* %" "$1/matrix.md" | grep -o '[0-9.]* %$')
        row=$(awk -F'|' -v dag=" $dag " '/^## Table 4/ {on = 1} on && $2 == dag {gsub(/^ | $/, "", $4); print $4; exit}' "$1/matrix.md")
        [ -n "$head" ] && [ "$head" = "$row" ] || { echo "$dag: $head, $row"; return 1; }
    done
}
check "what the head says stands in the table" head_is_true "$folder/a"
"$WEFT" reproduce matrix --quick --quiet --seed 7 -o "$folder/c" >"$folder/log"
check "also with another seed" head_is_true "$folder/c"
check "which says something else" test "$(grep '^\*\*What differs' "$folder/a/matrix.md")" != "$(grep '^\*\*What differs' "$folder/c/matrix.md")"
# Caching must pay: no line of Figure 7 has it behind.
check "caching is never worse than none" awk '/^## Figure 7/ {on = 1} /^## Figure 8/ {on = 0}
    on && /^\| [0-9]/ {rows++; if ($4 + 0 < $10 + 0) bad = 1} END {exit bad || rows < 3}' "$folder/a/matrix.md"
for picture in "$folder"/a/*.svg; do
    check "${picture##*/} is well-formed" python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$picture"
done
check "nine pictures" test "$(ls "$folder"/a/*.svg | wc -l)" -ge 9
echo "1..$count"
exit ${failed:-0}
