#!/usr/bin/env bash
# Issue 16, point 5, on agents: lists and files of tasks that are read when a task is done, and rounds, join a run that agents work on. Who decides may
# die at any moment, whoever comes later or attaches sees the same tasks, and what somebody without the key puts on the board joins nothing. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "runs on agents that grow" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key

# ---- the same bytes as on one machine ----
# three levels: chunks of a list, a list that a chunk's summary makes, what gathers it; and an input that only joined tasks read
three() { # folder
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
    echo common >common.txt
    cat >flow.yaml <<'FLOW'
weft: 1
name: levels
lists:
  chunk: { files: "parts/{chunk}", after: split }
  word: { lines: words.txt, after: sum }
tasks:
  split: { run: 'mkdir parts; for i in 1 2 3 4 5; do echo "w$i w$((i + 10))" > parts/c$i; done', out: parts }
  work: { each: chunk, run: 'cat {in} > {out}', in: ["parts/{chunk}", common.txt], out: "w/{chunk}" }
  sum: { run: 'cat {in} | tr " " "\n" | grep w | sort > {out}', in: "w/{chunk}", out: words.txt }
  each: { each: word, run: 'echo {word} $(wc -l < {in}) > {out}', in: words.txt, out: "e/{word}" }
  all: { run: 'cat {in} > {out}', in: "e/{word}", out: all.txt }
FLOW
}
three alone
say run flow.yaml && [ "$(wc -l <all.txt)" = 10 ]
ok $? "a run of three levels on one machine"
three shared
say run flow.yaml --on local:2 -j 1 && cmp -s all.txt ../alone/all.txt && grep -q "18 tasks ran" "$work/out"
ok $? "on two agents in one folder: the same bytes, all tasks counted"
say run flow.yaml --on local:2 -j 1 && grep -q "nothing to do: 18 tasks" "$work/out"
ok $? "again: nothing to do"
rm all.txt e/w3
say run flow.yaml --on local:2 -j 1 && cmp -s all.txt ../alone/all.txt && grep -q "2 tasks ran, 16 reused" "$work/out"
ok $? "what is lost of it is made again, and no more"
three apart
say run flow.yaml --on local:2 -j 1 --no-shared && cmp -s all.txt ../alone/all.txt
ok $? "on two agents with data of their own"
three events
timeout 120 "$weft" run flow.yaml --on local:2 -j 1 --json >"$work/told" 2>"$work/err"
ok $? "events"
grep -q '"event":"grown"' "$work/told" && [ "$(grep -c '"event":"task".*"outcome":"done"' "$work/told")" = 18 ]
ok $? "tell when it grows"

mkdir "$work/more" && cd "$work/more" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
tasks:
  plan: { run: 'printf "weft: 1\ntasks:\n  a: { run: \"echo a > a.txt\", out: a.txt }\n  b: { run: \"cat a.txt > b.txt\", in: a.txt, out: b.txt }\n" > {out}', out: more.yaml }
  more: { tasks: more.yaml, after: plan }
  end: { run: 'echo end > {out}', after: more, out: end.txt }
FLOW
for how in --shared --no-shared; do
    rm -rf .weft ./*.txt more.yaml
    say run flow.yaml --on local:2 -j 1 $how && [ "$(cat b.txt end.txt)" = "$(printf 'a\nend')" ]
    ok $? "tasks of a file that a task wrote, $how"
done
mkdir "$work/rounds" && cd "$work/rounds" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
tasks:
  walk: { run: "read n < {in}; echo $((n + 1)) > {out}", in: zero.txt, out: end.txt, repeat: { until: "{out} >= 4", most: 9 } }
  last: { run: 'cat {in} > {out}', in: end.txt, out: last.txt }
FLOW
echo 0 >zero.txt
for how in --shared --no-shared; do
    rm -rf .weft last.txt end.txt walk*
    say run flow.yaml --on local:2 -j 1 $how && [ "$(cat last.txt)" = 4 ]
    ok $? "rounds of a repeated task, $how"
done

# a family decides, and what joins asks for all that a task can ask for
mkdir "$work/mix" && cd "$work/mix" || exit 1
cat >flow.yaml <<'FLOW'
weft: 1
lists:
  s: [1, 2, 3, 4, 5, 6]
  f: { files: "out/{f}.txt", after: make }
  g: { lines: g.txt, after: pick }
tasks:
  make: { each: s, run: 'echo {s} > {out}', out: "out/{s}.txt" }
  use: { each: f, run: 'echo $X {f} > {out}', in: "out/{f}.txt", out: "u/{f}", env: { X: hello }, resources: { gpu: 1 }, needs: fast }
  pick: { run: 'printf "a\nb\n" > {out}', in: "u/{f}", out: g.txt }
  wide: { each: g, run: 'wc -l < "$WEFT_HOSTFILE" > {out}', out: "wide/{g}", nodes: 2 }
  maybe: { each: g, run: 'echo {g} > {out}', when: "{g} == a", out: "m/{g}" }
FLOW
say run flow.yaml --on local:2 -j 1 --has fast --resources gpu=0,1
[ $? = 0 ] && [ "$(cat u/* wide/* | sort | uniq -c | tr -s ' \n' ' ')" = " 2 2 1 hello 1 1 hello 2 1 hello 3 1 hello 4 1 hello 5 1 hello 6 " ] && [ "$(ls m)" = a ]
ok $? "a family that decides; env, resources, needs, nodes and when of what joins"

# ---- what cannot join ----
bad() { # name, what the deciding task writes
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
    cat >flow.yaml <<FLOW
weft: 1
lists: { v: { lines: values.txt, after: say } }
tasks:
  say: { run: '$2', out: values.txt }
  use: { each: v, run: 'echo {v} > {out}', out: "u/{v}", cores: ${3:-1} }
FLOW
}
bad twice 'printf "a\nb\na\n" > {out}'
say run flow.yaml
alone=$? words=$(grep -o "list 'v'.*" "$work/err" | head -n 1)
say run flow.yaml --on local:2 -j 1 --force
[ $? = $alone ] && [ -n "$words" ] && grep -qF "$words" "$work/err"
ok $? "a value that comes twice ends the run as on one machine: $words"
bad none ': > {out}'
say run flow.yaml
alone=$?
say run flow.yaml --on local:2 -j 1 --force
[ $? = $alone ]
ok $? "and an empty list, with status $alone"

bad large 'echo a > {out}' 99
say run flow.yaml --on local:2 -j 1
[ $? = 3 ] && grep -q "99 cores" "$work/err"
ok $? "tasks that no agent has room for: status 3, and what they ask for"

# ---- a cluster that stays: agents that die, come late, and others who look ----
start_agent one "$weft" agent -j 1 --lease 2
are_ready one
ok $? "an agent"
gate() { # name: decides at once; its members wait for the gate
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
    cat >flow.yaml <<FLOW
weft: 1
name: $1
lists: { v: { lines: values.txt, after: say } }
tasks:
  say: { run: 'echo \$PPID > $work/$1.who; echo say >> $work/$1.ran; seq 6 > {out}', out: values.txt }
  use: { each: v, run: 'echo {v} >> $work/$1.ran; until [ -e $work/$1.gate ]; do sleep 0.05; done; echo {v} > {out}', out: "u/{v}" }
  all: { run: 'cat {in} > {out}', in: "u/{v}", out: all.txt }
FLOW
}
ran() { [ -e "$work/$1.ran" ] && [ "$(wc -l <"$work/$1.ran")" -ge "$2" ]; }
total_is() { look "$1" && grep -q "\"tasks\": $2" "$work/status"; }
gate late
say submit flow.yaml -q --shared
run=$(cat "$work/out")
wait_for 30 ran late 2 && wait_for 20 total_is "$run" 8
ok $? "status knows the tasks that joined"
start_agent two "$weft" agent -j 2 --lease 2
are_ready two && wait_for 40 ran late 4
ok $? "an agent that comes late works on them"
timeout 120 "$weft" attach "$run" -C "$work/late" >"$work/out" 2>"$work/err" &
client=$!
touch "$work/late.gate"
wait $client && [ "$(sort "$work/late/all.txt" | tr '\n' ' ')" = "1 2 3 4 5 6 " ] && [ "$(grep -c say "$work/late.ran")" = 1 ]
ok $? "who attaches gets what it made"
client=""

# the agent that ended the deciding task dies, when the others have begun and at any moment before; another of its name comes
revive() { # the one with this number; it starts with the folder that it had
    local name
    for name in one two; do
        eval "[ \$pid_$name = $1 ]" || continue
        kill -KILL "$1"
        wait "$1" 2>/dev/null
        start_agent $name "$weft" agent -j 1 --lease 2
        are_ready $name
    done
}
for try in 1 2 3 4; do
    gate "dies$try"
    [ $try = 1 ] || touch "$work/dies$try.gate"
    say submit flow.yaml -q --shared
    run=$(cat "$work/out")
    wait_for 30 ran "dies$try" "$((try == 1 ? 3 : 1))"
    [ $try -lt 3 ] || sleep 0.0$((try * 2))
    revive "$(cat "$work/dies$try.who")" 2>/dev/null
    touch "$work/dies$try.gate"
    timeout 120 "$weft" attach "$run" >"$work/out" 2>"$work/err" && [ "$(sort all.txt | tr '\n' ' ')" = "1 2 3 4 5 6 " ]
    ok $? "the agent that decided is killed, and the run ends well ($try)"
done

gate cancelled
say submit flow.yaml -q --shared
run=$(cat "$work/out")
wait_for 30 ran cancelled 2
say cancel "$run" use@v=6 && say cancel "$run"
ok $? "a task that joined can be cancelled by name, and the run"
wait_for 40 state_is "$run" ended
ok $? "and it ends"
touch "$work/cancelled.gate"

# ---- somebody who may write to Redis and has not the key ----
gate forged
sed -i "s|seq 6|until [ -e $work/forged.first ]; do sleep 0.05; done; seq 6|" flow.yaml
say submit flow.yaml -q --shared
run=$(cat "$work/out")
redis-cli -p "$port" set "{weft.board}:T.$run.0" "not sealed by anybody who knows" >/dev/null
redis-cli -p "$port" copy "{weft.board}:T.$((run - 1)).0" "{weft.board}:T.$run.1" >/dev/null
touch "$work/forged.first" "$work/forged.gate"
timeout 120 "$weft" attach "$run" >"$work/out" 2>"$work/err" && [ "$(sort all.txt | tr '\n' ' ')" = "1 2 3 4 5 6 " ]
ok $? "what somebody wrote in a part's place joins nothing, and the true one does"
grep -q "run $run: what stands on the board as joining it was written by nobody" "$work"/one.log "$work"/two.log
ok $? "and the log says so"
finish
