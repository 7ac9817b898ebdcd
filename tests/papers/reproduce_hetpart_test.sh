#!/usr/bin/env bash
# The small version of `weft reproduce hetpart`: runs, and writes a report with the paper's figures beside ours.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
ok() { n=$((n + 1)); if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; sed 's/^/# got /' "$work/err" | head -n 5; fi; }
"$WEFT" reproduce hetpart --quick -q -o "$work/report" >"$work/out" 2>"$work/err"
ok $? "reproduce hetpart --quick"
page=$(ls "$work"/report/*.md 2>/dev/null | head -n 1)
[ -s "$page" ]; ok $? "writes a Markdown report"
grep -q 'HomPart-ML' "$page"; ok $? "with the ratios of HomPart to HetPart1"
grep -qE '15\.8|1\.158' "$page"; ok $? "and the paper's own figures"
ls "$work"/report/*.svg >/dev/null 2>&1; ok $? "and bar charts"
for row in 'Figures 1 to 3' 'Table 1' 'Table 2' 'Figures 4 to 10, Table 3'; do
    grep -q "^| $row | " "$work/report/hetpart.md"; ok $? "the head says where the reader finds $row"
done
for judged in 'Figure 4' 'Figure 5' 'Figure 6' 'Figure 7' 'Figure 8' 'Figure 9' 'Figure 10' 'Table 3'; do
    sed '/^| in the paper/q' "$page" | grep -q "$judged: .*published"; ok $? "the head judges $judged"
done
[ "$(sed '/^## /q' "$page" | grep -c '^\*\*What agrees\|^\*\*What differs, and why\|^\*\*What cannot be known')" = 3 ]; ok $? "before all figures stands what agrees, what differs and why, what cannot be known"
ours=$(awk -F'|' '/^### HetPart1 as published/ {on = 1} on && $2 == " all " {print $3 + 0; exit}' "$page")
grep -q "HomPart-ML over HetPart1 as published: $ours, published 1.158" "$page"; ok $? "with the numbers of the tables"
for picture in "$work"/report/*.svg; do rsvg-convert "$picture" -o "$work/picture.png" 2>"$work/err" || { ok 1 "$picture renders"; break; }; done
ok 0 "that render"
echo "1..$n"
exit $bad
