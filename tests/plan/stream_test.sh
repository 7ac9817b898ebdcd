#!/usr/bin/env bash
# Streams from the command line: plan, check, front, replay, the small reproduction.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failed=0
check() { # check NAME COMMAND...: the command succeeds
    n=$((n + 1))
    local name=$1
    shift
    if "$@" >"$folder/out" 2>"$folder/err"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$folder/out" "$folder/err" | head -20
        failed=1
    fi
}
status() { # status N COMMAND...
    local want=$1
    shift
    "$@"
    [ $? -eq "$want" ]
}
"$WEFT" generate tgff --set n=14 --seed 3 -o "$folder/flow.yaml" >/dev/null
check "mos at half of Tmax" "$WEFT" plan "$folder/flow.yaml" --on homogeneous:n=8,bandwidth=1 --with mos --set throughput=0.5Tmax --set ports=2 -o "$folder/mos.json"
check "its plan is valid, figures recomputed" bash -c "'$WEFT' check '$folder/mos.json' --on homogeneous:n=8,bandwidth=1 --json | grep -q min_cycle_times"
check "stream promises what the replay reaches" "$WEFT" plan "$folder/flow.yaml" --on homogeneous:n=8,bandwidth=1 --with stream --set throughput=0.5Tmax -o "$folder/stream.json"
check "and is valid" "$WEFT" check "$folder/stream.json" --on homogeneous:n=8,bandwidth=1
check "fcp's plan survives its file" bash -c "'$WEFT' plan '$folder/flow.yaml' --on homogeneous:n=8,bandwidth=1 --with fcp --set throughput=0.3Tmax -o '$folder/fcp.json' && '$WEFT' check '$folder/fcp.json' --on homogeneous:n=8,bandwidth=1"
check "a front, drawn" bash -c "'$WEFT' plan '$folder/flow.yaml' --on homogeneous:n=8,bandwidth=1 --with mos --front --gantt '$folder/front.svg' --json | grep -q weft-front/1 && grep -q '</svg>' '$folder/front.svg'"
cat >"$folder/ports.yaml" <<'YAML'
weft: 1
network: {bandwidth: 1, ports: 1}
nodes:
  - {name: n, count: 4}
  - {name: hub, count: 4, ports: 4}
YAML
check "nodes with ports of their own" "$WEFT" plan "$folder/flow.yaml" --on "$folder/ports.yaml" --with stream --set throughput=0.4Tmax -o "$folder/ports.json"
check "are counted by the checker" "$WEFT" check "$folder/ports.json" --on "$folder/ports.yaml"
check "and by the replay, which keeps the promise" bash -c "'$WEFT' sim '$folder/ports.json' --on '$folder/ports.yaml' --items 1000 --json | python3 -c 'import json,sys; d=json.load(sys.stdin); sys.exit(not d[\"throughput\"] >= d[\"predicted_throughput\"] * (1 - 1e-6))'"
check "a plan for one item, too" bash -c "'$WEFT' plan '$folder/flow.yaml' --on '$folder/ports.yaml' --with heft -o '$folder/heft.json' && '$WEFT' check '$folder/heft.json' --on '$folder/ports.yaml'"
check "not by mos, which says so" status 2 "$WEFT" plan "$folder/flow.yaml" --on "$folder/ports.yaml" --with mos
check "a front for one throughput" status 2 "$WEFT" plan "$folder/flow.yaml" --on 4 --with mos --front --set throughput=3
check "a front of a planner that plans no streams" status 2 "$WEFT" plan "$folder/flow.yaml" --on 4 --with heft --front
check "more than Tmax: exit 3" status 3 "$WEFT" plan "$folder/flow.yaml" --on 4 --with mos --set throughput=1e9
check "less than the least latency: exit 3" status 3 "$WEFT" plan "$folder/flow.yaml" --on 4 --with mos --set latency=1ms
cp "$folder/err" "$folder/said"
check "and says the least" grep -q "the least is" "$folder/said"
check "the small reproduction" "$WEFT" reproduce mos --quick -q -o "$folder/report"
held=$(sed -n "/^## The report's words/,/^## Why/p" "$folder/report/mos.md" | awk -F' [|] ' '/^\| / { c = $2 $3; n += c ~ /(yes|no|more): /; bad += c ~ /no: / } END { print n - bad " of " n }')
check "the head counts the verdicts of its table" grep -q "Tables 1 to 6, $held statements" "$folder/report/mos.md"
check "its head says what agrees, what differs and why, what cannot be known" test "$(sed '/^## /q' "$folder/report/mos.md" | grep -c '^\*\*What agrees\|^\*\*What differs, and why\|^\*\*What cannot be known')" = 3
tally=$(sed -n 's/^| EXP | [0-9]* | \([0-9.]*\) | \([0-9.]*\) .*/\2, published \1/p' "$folder/report/mos.md")
check "with the numbers of the tables" grep -q "Latency of EXP over.*: $tally\." "$folder/report/mos.md"
for row in 'Figures 1 to 3' 'Figures 4 to 6' 'Figure 7' 'Tables 1 and 2, 3 and 4, 5 and 6' 'Figure 8' 'Figure 9' 'Section 3, times that fluctuate' 'Sections 5 to 7 in words'; do
    check "and where the reader finds $row" grep -q "^| $row | " "$folder/report/mos.md"
done
check "in which every replay at the plan's pace reaches the promise itself" grep -q '^| mos | 1.0000 | 1.0000 | 0 |' "$folder/report/mos.md"
check "each claim of the paper has a verdict" grep -q '^| MOS always meets the throughput (abstract, 5.1) | yes: missed in 0 of 30 runs |' "$folder/report/mos.md"
for claim in 'chains: latency and throughput of MOS are optimal (5.1) | yes: 25 of 25' 'video, MPEG, placenta: k changes nothing (2, 4, 8) | yes' 'video, MPEG, placenta: duplication gains nothing | yes' 'DVB: above 0.25 Tmax only MOS meets the throughput | yes: the others in 0 of 36' 'MOS⁻¹, CCR 1: a larger k helps it against FCP and FCP-e | -'; do
    check "also: $claim" grep -qF "| $claim" "$folder/report/mos.md"
done
check "and what the report expects of fluctuating times" grep -q '^So it is here: at a variation of 0.5 the throughput falls by' "$folder/report/mos.md"
check "has its report and pictures" bash -c "grep -q 'Promise and replay' '$folder/report/mos.md' && ls '$folder'/report/*.svg"
echo "1..$n"
exit $failed
