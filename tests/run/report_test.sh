#!/usr/bin/env bash
# `weft report` and `weft platform` from the outside: a run, its page, its figures, its events; traces; a machine measured. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db XDG_CONFIG_HOME=$work/config
. "$(dirname "$0")/../support/tap.sh"
fails() { # status part-of-message command arguments...
    local want=$1 part=$2
    shift 2
    "$weft" "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$want" ] && grep -q -- "$part" "$work/err" && [ ! -s "$work/out" ]
    ok $? "exit $want, '$part': $*"
    [ $got = "$want" ] || sed 's/^/# /' "$work/err"
}
value() { grep -m1 "^  \"$1\":" | sed 's/.*: //; s/,$//'; }

fails 2 "there is no history yet" report

# --- a run with a failure, reported ---
mkdir "$work/flow"
cat >"$work/flow/flow.yaml" <<'END'
weft: 1
name: trial <b>
tasks:
  one: { run: "sh -c 'echo 1 > one.txt'", out: [one.txt], kind: make }
  two: { run: "sh -c 'cat one.txt one.txt > two.txt'", in: [one.txt], out: [two.txt], kind: double }
  bad: { run: "sh -c 'echo trouble >&2; echo more >&2; exit 3'", in: [two.txt], kind: break, retries: 1 }
  gone: { run: no-such-program-anywhere, kind: break }
END
"$weft" run -k "$work/flow/flow.yaml" --json >"$work/events" 2>"$work/err"
[ $? = 1 ]
ok $? "a run with failures exits 1"
python3 - "$work/events" <<'END'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
kinds = [l["event"] for l in lines]
bad = [l for l in lines if l["event"] == "task" and l["task"] == "bad"]
good = (lines[0]["schema"] == "weft-event/1" and kinds[0] == "started" and kinds[-1] == "done" and lines[-1]["failed"] == 2 and lines[-1]["ran"] == 2
        and kinds.count("begin") >= 4 and len(bad) == 2 and all(b["outcome"] == "failed" and b["status"] == 3 for b in bad)
        and any(l["event"] == "file" and l["path"].endswith("two.txt") and l["made"] and l["size"] == 4 for l in lines))
sys.exit(0 if good else 1)
END
ok $? "its events: started, attempts with outcomes, files, done"
"$weft" report >"$work/summary"
ok $? "weft report"
grep -q "^trial <b>: failed after .*: 2 tasks ran, 2 failed" "$work/summary" &&
    grep -q "bad: exit status 3, at attempt 2" "$work/summary" && grep -q "command not found" "$work/summary"
ok $? "tells the outcome and the failures in words"
"$weft" report last --json >"$work/json"
[ "$(value schema <"$work/json")" = '"weft-report/1"' ] && [ "$(value failed <"$work/json")" = 2 ] &&
    [ "$(value attempts <"$work/json")" -ge 5 ] && python3 -m json.tool "$work/json" >/dev/null
ok $? "the figures as JSON"
"$weft" report 1 -o "$work/run.html" >"$work/out" && [ ! -s "$work/out" ]
ok $? "the page, and nothing else said"
grep -q "<title>trial &lt;b&gt;: failed</title>" "$work/run.html" && grep -q "exit status 3" "$work/run.html" &&
    ! grep -qE "<link|<script src|https?://[^w]" "$work/run.html" && [ "$(grep -c "<script" "$work/run.html")" -le 2 ] # the Run view, where weft has its page
ok $? "is escaped and needs nothing from elsewhere"
grep -qx "<pre>trouble" "$work/run.html" && grep -qx "more</pre>" "$work/run.html"
ok $? "the last lines of a log are lines"
python3 - "$work/run.html" <<'END'
import sys
from html.parser import HTMLParser
class Check(HTMLParser):
    def __init__(self):
        super().__init__(); self.open, self.good, self.ids, self.links = [], True, [], []
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a: self.ids.append(a["id"])
        if a.get("href", "").startswith("#"): self.links.append(a["href"][1:])
        if tag not in ("meta",): self.open.append(tag)
    def handle_endtag(self, tag):
        self.good = self.good and bool(self.open) and self.open.pop() == tag
    def handle_startendtag(self, tag, attributes): pass
c = Check(); c.feed(open(sys.argv[1], encoding="utf-8").read())
missing = [l for l in c.links if l not in c.ids]
if missing: print("# no target:", missing)
sys.exit(0 if c.good and not c.open and not missing and len(c.ids) == len(set(c.ids)) else 1)
END
ok $? "its tags match, its links lead somewhere, its ids are different"
"$weft" report 1 -o "$work/again.html" && cmp -s "$work/run.html" "$work/again.html"
ok $? "the same run gives the same page"
fails 2 "run 999" report 999
fails 2 "No such file" report 1 -o "$work/nowhere/run.html"

# --- a simulated run ---
"$weft" sim examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml --trace "$work/trace.json" -q >/dev/null
"$weft" report "$work/trace.json" --workflow examples/heft-paper.yaml --json >"$work/json"
[ "$(value seconds <"$work/json")" = 80 ] && [ "$(value ran <"$work/json")" = 10 ] && [ "$(value cores <"$work/json")" = 3 ]
ok $? "a trace of a simulation: 80 s, 10 tasks on 3 cores"
"$weft" report "$work/trace.json" -o "$work/sim.html" && grep -q 'id="timeline"' "$work/sim.html"
ok $? "as a page, without its workflow"
fails 2 "has no task" report "$work/trace.json" --workflow examples/edges.yaml
echo '{"traceEvents": [{"ph": "X", "cat": "task", "name": 3}]}' >"$work/broken.json"
fails 2 "broken.json:1: a task's slice needs" report "$work/broken.json"
echo '{"a": 1}' >"$work/other.json"
fails 2 "no traceEvents" report "$work/other.json"
fails 2 "missing.json" report "$work/missing.json"

# --- this machine ---
"$weft" platform --measure --folder "$work" -o "$work/platform.yaml" -q >"$work/out" && [ ! -s "$work/out" ]
ok $? "this machine is measured"
grep -q "^# disk  *[0-9]" "$work/platform.yaml" && grep -q "^weft: 1" "$work/platform.yaml" && grep -q "speed: [0-9]" "$work/platform.yaml"
ok $? "into a platform file with the disk as a comment"
"$weft" platform "$work/platform.yaml" --json >"$work/json" && "$weft" plan examples/edges.yaml --on "$work/platform.yaml" -q >/dev/null
ok $? "which can be shown and planned for"
"$weft" platform --measure --folder "$work" --save --json -q >"$work/measured" &&
    [ "$(value schema <"$work/measured")" = '"weft-platform/1"' ] && grep -q '"loopback_latency"' "$work/measured"
ok $? "measured and saved, figures as JSON"
"$weft" platform --json >"$work/json"
[ "$(grep '"speed"' "$work/json")" = "$(grep '"speed":' "$work/measured" | head -n 1)" ]
ok $? "this machine is what was measured from then on"
"$weft" plan examples/edges.yaml --json -q | grep -q '"file": "this-machine"'
ok $? "also for plans, which name it so"
fails 2 "does nothing without --measure" platform --save
fails 2 "leave one of them out" platform --measure examples/cluster.yaml
echo "weft: 1" >"$(ls "$work"/config/weft/*.yaml)"
fails 2 "nodes" platform

echo "1..$count"
exit $failed
