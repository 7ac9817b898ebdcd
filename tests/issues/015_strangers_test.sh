#!/usr/bin/env bash
# 4,200 sockets that connect to the agents and say nothing ended a `weft run`. Strangers have a small limit of their own now. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "strangers" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent one "$weft" agent -j 2
start_agent two "$weft" agent -j 2
are_ready one two
ok $? "two agents"
mkdir "$work/f"
{
    echo 'weft: 1'
    echo 'lists: { i: { from: 1, to: 60 } }'
    echo 'tasks:'
    echo '  make: { each: i, run: "seq {i} > {out}", out: "p/{i}" }'
    echo '  sum: { run: "cat {in} | wc -l > {out}", in: "p/{i}", out: lines.txt }'
} >"$work/f/flow.yaml"
first=$(sed -n 's/.*ready at //p' "$work/one.out") second=$(sed -n 's/.*ready at //p' "$work/two.out")
# keeps 2,100 sockets open to each, and opens a new one for each that is closed
python3 - "$first" "$second" "$work/flooding" <<'FLOOD' &
import resource, selectors, socket, sys, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
want = min(2100, (min(hard, 8192) - 50) // 2)
end, opened = time.time() + 60, 0
sockets = {1: [], 2: []}
while time.time() < end:
    for number in (1, 2):
        alive = []
        for s in sockets[number]:
            try:
                if s.recv(1) == b"":
                    s.close()
                    continue
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                continue
            alive.append(s)
        host, port = sys.argv[number].rsplit(":", 1)
        while len(alive) < want:
            s = socket.socket()
            s.setblocking(False)
            try:
                s.connect((host, int(port)))
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                break
            alive.append(s)
            opened += 1
        sockets[number] = alive
    open(sys.argv[3], "w").write(str(opened))
    time.sleep(0.05)
FLOOD
client=$! # ended with the test
wait_for 30 test -s "$work/flooding"
ok $? "strangers keep thousands of sockets open to the agents"
say run "$work/f/flow.yaml" --on cluster --no-shared && [ "$(cat "$work/f/lines.txt")" = 1830 ]
ok $? "a run goes on and is right"
say status && [ "$(grep -c " up " "$work/out")" = 2 ]
ok $? "and the agents stand on the board"
many() { [ "$(cat "$work/flooding")" -gt 3000 ] 2>/dev/null; } # it may just be written
wait_for 30 many
ok $? "while thousands of strangers came"
finish
