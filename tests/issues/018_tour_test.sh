#!/usr/bin/env bash
# Issue 18, point 7: `make run` ends with the line that opens the page on what it just ran. The line is typed as it stands there, and the page
# that it opens has those runs. Speaks TAP.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
page=
trap '[ -z "$page" ] || kill "$page" 2>/dev/null; rm -rf "$work"' EXIT
. "$root/tests/support/tap.sh"
cd "$root" || exit 1
[ -x "$(dirname "$WEFT")/weft-ui" ] || { echo "1..0 # SKIP this build is without the page's server"; exit 0; }
WEFT=$WEFT OUT=$work/tour tools/tour >"$work/out" 2>"$work/err"
ok $? "what make run shows goes to its end"
line=$(sed -n '$ s/^In the browser: //p' "$work/out")
[ -n "$line" ]
ok $? "its last line opens the page"
bash -c "exec env $line" >"$work/address" 2>"$work/err" &
page=$!
for _ in $(seq 600); do
    [ -s "$work/address" ] && break
    sleep 0.1
done
url=$(grep -o 'http://[^ ]*' "$work/address")
ok $? "as it stands there ($(cut -c1-30 "$work/address"))"
python3 - "$url" <<'PY' >"$work/runs" 2>>"$work/err"
import http.cookiejar, json, sys, urllib.request
url = sys.argv[1]
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
opener.open(url).read()
answer = opener.open(url.split("/?")[0] + "/api/runs").read()
print(len(json.loads(answer)["runs"]))
PY
[ "$(cat "$work/runs")" -ge 2 ]
ok $? "and the page has the runs of the tour ($(cat "$work/runs"))"
echo "1..$count"
exit $failed
