#!/usr/bin/env bash
# Issue 17, point 6: several writers at once, kill -9 at any time and a full disk: of the history nothing that was recorded is lost, and no run fails
# because of it. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work XDG_CONFIG_HOME=$work/config HOME=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
flow() { # folder name tasks
    mkdir -p "$1"
    printf 'weft: 1\nname: %s\nlists: { n: [%s] }\ntasks:\n  t: { each: n, run: "echo {n} > {out}", out: "t{n}" }\n' "$2" "$(seq -s, 1 "$3")" >"$1/flow.yaml"
}

# ---- eight writers ----
for i in 1 2 3 4 5 6 7 8; do flow w$i writer$i 10; done
for i in 1 2 3 4 5 6 7 8; do
    (for k in 1 2; do "$weft" run w$i/flow.yaml -q -j1 --force || exit 1; done) >out$i 2>err$i &
    pids[i]=$!
done
bad=0
for i in 1 2 3 4 5 6 7 8; do wait "${pids[i]}" || bad=1; done
cat out[1-8] err[1-8] >out
[ $bad = 0 ] && [ ! -s out ]
ok $? "eight writers at once, two runs each: none failed, and none was warned"
python3 - "$WEFT_HISTORY" <<'PY' >out
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
runs = db.execute("SELECT id, name, outcome, ran FROM runs").fetchall()
print(len(runs), "runs")
good = len(runs) == 16 and all(r[2] == 1 and r[3] == 10 for r in runs)
for r in runs:
    n = db.execute("SELECT count(*), count(DISTINCT task), sum(outcome) FROM attempts WHERE id >> 32 = ?", (r[0],)).fetchone()
    f = db.execute("SELECT count(*) FROM files WHERE id >> 32 = ? AND made", (r[0],)).fetchone()[0]
    if n != (10, 10, 0) or f != 10:
        print(r, n, f)
        good = False
print(db.execute("PRAGMA integrity_check").fetchone()[0])
sys.exit(not good or db.execute("PRAGMA integrity_check").fetchone()[0] != "ok")
PY
ok $? "nothing of it is lost: 16 runs, 160 attempts, 160 files"

# ---- killed at any time ----
flow k killed 40
sed -i 's/echo/sleep 0.01; echo/' k/flow.yaml
python3 - "$weft" "$WEFT_HISTORY" <<'PY' >out 2>err
import os, random, sqlite3, subprocess, sys, time
weft, path = sys.argv[1:]
r = random.Random(7)
killed = 0
for i in range(8):
    p = subprocess.Popen([weft, "run", "k/flow.yaml", "-q", "-j2", "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(r.choice([0.01, 0.1, 0.4, 0.9]) * r.random())  # before it opens the history, while it writes, at its end
    killed += p.poll() is None
    p.kill()
    p.wait()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    for run, ran in db.execute("SELECT id, ran FROM runs WHERE outcome = 1").fetchall():
        assert db.execute("SELECT count(DISTINCT task) FROM attempts WHERE id >> 32 = ? AND outcome = 0", (run,)).fetchone()[0] == ran, run
    assert db.execute("SELECT count(*) FROM runs WHERE name LIKE 'writer%' AND outcome = 1").fetchone()[0] == 16
    db.close()
    subprocess.run([weft, "history", "--json"], stdout=subprocess.DEVNULL, check=True)
assert killed > 0
print("killed", killed, "times")
PY
ok $? "killed at any time: the history opens, and what has its end is whole; $(cat out)"
"$weft" run k/flow.yaml -q --force >out 2>err && "$weft" history last --json >out 2>err && grep -q '"ran": 40' out
ok $? "and the next run is recorded"

# ---- a full disk ----
if unshare -rm true 2>/dev/null; then
    mkdir small
    flow first first 1
    flow full full 60
    unshare -rm bash -c '
        mount -t tmpfs -o size=600k tmpfs small || exit 9
        export WEFT_HISTORY=$PWD/small/history.db
        "$0" run first/flow.yaml -q >out 2>err; echo $? >status
        dd if=/dev/zero of=small/rest bs=1k count=900 2>/dev/null
        "$0" run full/flow.yaml -j2 >>out 2>>err; echo $? >>status
        rm small/rest
        "$0" history >>out 2>>err; echo $? >>status
        "$0" run full/flow.yaml --force -q >>out 2>err2; echo $? >>status' "$weft"
    [ "$(tr -d "\n" <status)" = 0000 ] && [ "$(ls full/t* | wc -l)" = 60 ]
    ok $? "a disk that is full: the run is done, exit status 0, and the history can be read"
    grep -q 'record' err && grep -q 'disk is full\|disk I/O\|not recorded\|not whole' err
    ok $? "the user is told: $(grep 'record' err | head -n 1 | sed "s|$work|...|g" | cut -c1-140)"
    [ ! -s err2 ]
    ok $? "with room again runs are recorded again"
else
    for text in "the run is done" "the user is told" "recorded again"; do ok 0 "a full disk: $text # SKIP no mount namespaces here"; done
fi
echo "1..$count"
exit $failed
