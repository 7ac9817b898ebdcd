#!/usr/bin/env bash
# kill -9 of random agents, redis-server and the client while 2,000 tasks with data run: the results are those of an
# undisturbed run, and nothing runs twice without a reason. Speaks TAP.
#   KILL_ROUNDS=100 tests/cluster/cluster_kill_test.sh      the whole of it; KILL_SEED replays the choices; WEFT names the program
command -v redis-server >/dev/null || { echo "1..0 # SKIP no redis-server"; exit 0; }
if grep -qa __asan_init "$WEFT"; then # several times slower
    export KILL_ROUNDS=${KILL_ROUNDS:-1} KILL_TASKS=${KILL_TASKS:-500}
fi
work=$(mktemp -d)
trap '[ -e "$work/keep" ] || rm -rf "$work"' EXIT
python3 "$(dirname "$0")/cluster_kill.py" "$work"
