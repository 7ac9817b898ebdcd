#!/usr/bin/env bash
# Values that members of a family state under one name were compared in the order of the values, whoever had stated them: two runs in
# which two members had changed places were the same. Speaks TAP.
n=0 bad=0
ok() { # status, text
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else bad=1 && echo "not ok $n - $2" && sed 's/^/# /' "$work/out"; fi
}
weft=$(realpath "$WEFT")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db
cd "$work" || exit 1
cat >folds.yaml <<'YAML'
weft: 1
lists: { fold: [1, 2, 3] }
parameters: { turn: 0 }
tasks:
  fit: { each: fold, run: "echo accuracy $(( ({fold} + {turn}) % 3 )); echo accuracy $(( ({fold} + {turn}) % 3 )) > {out}", out: "fold{fold}.txt" }
  sum: { run: "cat {in} | wc -l | sed 's/^/lines /' > {out}", in: "fold{fold}.txt", out: sum.txt }
YAML
"$weft" run folds.yaml -q && "$weft" run folds.yaml -q -p turn=1
ok $? "two runs, in which the same values are other members'"
"$weft" history --compare 1 2 >out 2>&1
for row in "1 *1 *2" "2 *2 *0" "3 *0 *1"; do
    grep -q "value *accuracy of fit@fold=$row" out
    ok $? "compared member by member: fold $row"
done
! grep -q "value *lines" out
ok $? "what is the same is not told"
"$weft" run folds.yaml -q --force -p turn=1 && "$weft" history --compare 2 3 >out 2>&1 && grep -q "no parameter, value, command or file differs" out
ok $? "the same again: no difference"
echo "1..$n"
exit $bad
