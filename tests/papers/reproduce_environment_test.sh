#!/usr/bin/env bash
# The small version of `weft reproduce environment`: runs, twice with the same result, and writes a report with the
# paper's figures beside ours in which every wish is fulfilled by the schedules.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
ok() { n=$((n + 1)); if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; sed 's/^/# got /' "$work/err" | head -n 5; fi; }
"$WEFT" reproduce environment --quick -q -o "$work/report" >"$work/out" 2>"$work/err"
ok $? "reproduce environment --quick"
page=$work/report/environment.md
[ -s "$page" ]; ok $? "writes a Markdown report"
grep -q 'Stand-ins' "$page"; ok $? "that says what it stands on"
grep -q '18.0 tasks and 18.0 dependencies on average' "$page"; ok $? "graphs of the paper's average size"
grep -q 'fewer than 500 states | 6 of 6 | most of 47' "$page"; ok $? "Figure 5: states, beside the paper's"
grep -Eq 'speedup \(geometric mean\) \| [0-9.]+ \| 1.4' "$page"; ok $? "Figure 6: speedup"
grep -Eq 'speedup \(geometric mean\) \| [0-9.]+ \| 3.4' "$page"; ok $? "Figure 7: speedup of experiments"
grep -q 'instances on average | 16 | 16' "$page"; ok $? "of 16 instances"
grep -A3 'instances | 6 | 6' "$page" | grep -q 'results reused | 14'; ok $? "Figure 4: 6 instances, 14 tasks instead of 18"
grep -q 'fulfilled in the schedule | 6 of 6' "$page"; ok $? "Figure 8: one processor finishes early"
grep -q 'ordered as asked, in the schedule | 6 of 6' "$page"; ok $? "Table 1: outputs in the order asked for"
grep -q 'ordered as asked, executed | 6 of 6' "$page"; ok $? "and executed so"
grep -q 'as requirements, executed | 6 of 6' "$page"; ok $? "as requirements, too"
grep -q 'detect-edges (paper)' "$page"; ok $? "beside the published table"
grep -q 'all of them on willow | 6 of 6' "$page"; ok $? "Figure 9: tasks on the processor asked for"
grep -q 'pinned by' "$work/report/fig9.svg"; ok $? "which the picture marks as pinned"
if command -v redis-server >/dev/null; then
    grep -q 'Table 1: outputs in the order asked for | 1 of 1 | 1 of 1 | 1 of 1' "$work/report/executed.md"; ok $? "really executed by agents: the order holds"
    grep -q 'on willow | 1 of 1 | 1 of 1 | 1 of 1' "$work/report/executed.md" && grep -q 'Executed by agents' "$work/out"; ok $? "and tasks are where they were asked to be"
else
    grep -q 'Not executed: ' "$work/report/executed.md"; ok $? "nothing is executed without redis-server, and that is said"
fi
again=$(tr '\n' ' ' <"$work/report/executed.md" | sed -nE 's/.*`(weft run NAME[^`]*)`.*/\1/p')
if [ -n "$again" ] && command -v redis-server >/dev/null; then # the command that the report names, of one of its graphs
    again=${again#weft }
    (cd "$work/report/executed" && WEFT_HISTORY=none "$WEFT" ${again//NAME/representation-01-order}) >"$work/ran" 2>"$work/err"
    [ $? = 0 ] && grep -Eq 'constraints +([0-9]+) of \1 held in what happened' "$work/ran" "$work/err"
    ok $? "the report's command runs a graph again"
else
    command -v redis-server >/dev/null; [ $? != 0 ]; ok $? "without redis-server there is nothing to run again"
fi
for row in 'Figure 1' 'Figure 2' 'Figure 3' 'Figure 4' 'Figures 5 to 9, Table 1'; do
    grep -q "^| $row | " "$page"; ok $? "the head says where the reader finds $row"
done
[ "$(sed '/^## /q' "$page" | grep -c '^\*\*What agrees\|^\*\*What differs, and why\|^\*\*What cannot be known')" = 3 ]; ok $? "and before all figures what agrees, what differs and why, what cannot be known"
fulfilled=$(sed -n 's/^| graphs with all of them on willow | \([0-9]* of [0-9]*\) .*/\1/p' "$page")
grep -q "Figure 9: $fulfilled graphs" "$page"; ok $? "with the numbers of the tables"
drawn=0
for picture in 5 6 7 8 9; do rsvg-convert "$work/report/fig$picture.svg" -o "$work/picture.png" 2>"$work/err" && drawn=$((drawn + 1)); done
[ $drawn = 5 ]; ok $? "all five pictures render"
"$WEFT" reproduce environment --quick -q -o "$work/again" >/dev/null 2>"$work/err"
grep -v 'time to schedule' "$page" >"$work/a"; grep -v 'time to schedule' "$work/again/environment.md" >"$work/b"
cmp -s "$work/a" "$work/b"; ok $? "the same seed gives the same report"
echo "1..$n"
exit $bad
