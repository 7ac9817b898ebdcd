#!/usr/bin/env python3
"""Kill -9 of agents, redis-server and the client while 2,000 tasks with data run, round after round.

Called by cluster_kill_test.sh; WEFT names the program, KILL_ROUNDS, KILL_SEED and KILL_TASKS say how much.
A cluster of 4 agents of one core lives through all rounds. In each round a layered workflow is handed in and
followed; from time to time an agent dies (and comes back in its folder sooner or later, or never, and then a
fresh one joins), or the server (and is restarted on what it wrote), or the client (and another attaches).
At the end of a round the final outputs must be those of a local run that nobody disturbed, to the byte, and
every task that ran more than once must have had a reason: each of its earlier executions was on an agent
that was killed after it began (what a dead agent had just started may go on without it).

How that is known: a task appends a line to a file outside when it starts and when it ends, and so does this
program when it has killed or started an agent. Lines of one append are whole and in order.
"""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

WEFT = os.environ["WEFT"]
ROUNDS = int(os.environ.get("KILL_ROUNDS", "2"))
SEED = int(os.environ.get("KILL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
TASKS = int(os.environ.get("KILL_TASKS", "2000"))
LEASE = 2.0
AGENTS = 4
MOST = float(os.environ.get("KILL_MOST", "240"))  # seconds that a round may take
WIDTH = 50

work = sys.argv[1]
rng = random.Random(SEED)
count = failures = 0


def ok(good, text):
    global count, failures
    count += 1
    failures += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, text), flush=True)
    return good


def remark(text):
    print("# " + text, flush=True)


# ---- the workflow ----


def write_flow(folder, tasks):
    """Layers of 50: a task reads 1 to 3 results of the layer before; in every fifth layer one reads a whole
    layer and all of the next read it. Every seventh task leaves a result that nobody reads."""
    layout = random.Random(1)
    os.makedirs(folder)
    with open(os.path.join(folder, "start"), "w") as f:
        for i in range(400):
            f.write("%d %d\n" % (i, layout.randrange(1 << 30)))
    layers = max(2, tasks // WIDTH)
    with open(os.path.join(folder, "flow.yaml"), "w") as f:
        f.write("weft: 1\ntasks:\n")
        for layer in range(layers):
            for i in range(WIDTH):
                name = "t%d-%d" % (layer, i)
                if layer == 0:
                    reads = ["start"]
                elif layer % 5 == 4 and i == 0:
                    reads = ["d/%d-%d" % (layer - 1, k) for k in range(WIDTH)]
                else:
                    chosen = {i, (i * 7 + layer) % WIDTH, layout.randrange(WIDTH)}
                    if layer % 5 == 0:
                        chosen.add(0)
                    reads = ["d/%d-%d" % (layer - 1, k) for k in sorted(chosen)]
                makes = ["d/%d-%d" % (layer, i)]
                run = ('echo "begin %s $PWD" >>"$KILL_LOG"; { md5sum %s; head -c 2000 %s; } >%s'
                       % (name, " ".join(reads), reads[-1], makes[0]))
                if (layer * WIDTH + i) % 7 == 0:
                    makes.append("r/%s" % name)
                    run += "; md5sum %s >%s" % (makes[0], makes[1])
                run += '; echo "end %s $PWD" >>"$KILL_LOG"' % name
                f.write("  %s:\n    run: |\n      %s\n    in: [%s]\n    out: [%s]\n"
                        % (name, run, ", ".join(reads), ", ".join(makes)))
    return layers * WIDTH


def final_outputs(folder):
    found = {}
    for top in ("r", "d"):
        for name in sorted(os.listdir(os.path.join(folder, top))):
            with open(os.path.join(folder, top, name), "rb") as f:
                found[top + "/" + name] = f.read()
    return found


# ---- processes ----


def environment(log):
    return dict(os.environ, KILL_LOG=log, WEFT_HISTORY=os.path.join(work, "history.db"),
                WEFT_STORE="redis://127.0.0.1:%d" % port, WEFT_KEY=os.path.join(work, "key"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self):
        self.folder = os.path.join(work, "store")
        os.makedirs(self.folder)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
             "--appendonly", "yes", "--appendfsync", "always",  # with everysec it answers before it writes
             "--logfile", os.path.join(self.folder, "log")], stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        sys.exit("Bail out! redis-server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Agent:
    made = 0

    def __init__(self):
        Agent.made += 1
        self.name = "agent%d" % Agent.made
        self.folder = os.path.join(work, self.name)
        self.log = self.folder + ".log"
        self.process = None

    def start(self):
        tell("start " + self.name)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                [WEFT, "agent", "--state", self.folder, "-j", "1", "--lease", str(LEASE)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment(task_log), cwd=work)

    def kill(self):
        self.process.kill()
        self.process.wait()
        tell("kill " + self.name)

    def said(self):
        with open(self.log, errors="replace") as f:
            return f.read()


class Client:
    def __init__(self, words, folder, number):
        self.err = os.path.join(work, "client%d.err" % number)
        with open(self.err, "wb") as err:
            self.process = subprocess.Popen([WEFT] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=err, env=environment(task_log), cwd=folder)

    def said(self):
        with open(self.err, errors="replace") as f:
            return f.read()


def tell(line):
    fd = os.open(task_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (line + "\n").encode())
    os.close(fd)


# ---- why something ran again ----


def examine(path, run, confused, restored):
    """Executions of tasks of this run: how many, how many again, and those again without a reason.
    `confused`: folders of agents that others took for dead while they lived; a busy machine does that.
    `restored`: (task, folder) whose execution was for data that had died; while the agents' views of who lives
    differ, two may restore the same."""
    begun = {}    # task -> [(line, folder)]
    ended = {}    # (task, folder) -> line
    killed = {}   # folder -> [line]
    started = {}  # folder -> [line]

    def has_died(folder, after, until):
        """Killed between these lines; or dead already: a process that it left behind wrote the first."""
        dead = [k for k in killed.get(folder, []) if k < until]
        alive = [k for k in started.get(folder, []) if k < after]
        return bool(dead) and (dead[-1] > after or dead[-1] > alive[-1])

    place = re.compile(r"/(agent\d+)/runs/%d/" % run)
    with open(path) as f:
        for line, text in enumerate(f):
            words = text.split()
            if words[0] == "kill":
                killed.setdefault(words[1], []).append(line)
            elif words[0] == "start":
                started.setdefault(words[1], []).append(line)
            else:
                where = place.search(words[2] + "/")
                if not where:
                    continue
                if words[0] == "begin":
                    begun.setdefault(words[1], []).append((line, where.group(1)))
                else:
                    ended[words[1], where.group(1)] = line
    again = whole = 0
    without = []
    for task, times in begun.items():
        for at in range(1, len(times)):
            again += 1
            whole += all((task, folder) in ended for _, folder in times[:at])
            for line, folder in times[:at]:
                if folder in confused or has_died(folder, line, times[at][0]):
                    continue
                if (task, folder) in restored and (task, times[at][1]) in restored:
                    continue
                without.append("%s: on %s (line %d), then on %s (line %d)"
                               % (task, folder, line + 1, times[at][1], times[at][0] + 1))
    return len(begun), again, whole, without


# ---- rounds ----


def pause(least, most):
    time.sleep(least + (most - least) * rng.random())


def disturb(state):
    """One death, and what follows it. Returns what to do later: [(when, function)]."""
    kind = rng.choice(["agent", "agent", "agent", "server", "client"])
    now = time.monotonic()
    if kind == "server":
        server.kill()
        pause(0.05, 1.2)
        server.start()
        return "server", []
    if kind == "client":
        state["client"].process.kill()
        state["client"].process.wait()
        return "client", [(now + rng.random(), lambda: attach(state))]
    living = [a for a in agents if a.process]
    if len(living) < 2:
        return "nothing", []
    victim = rng.choice(living)
    victim.kill()
    victim.process = None
    fate = rng.choice(["soon", "late", "never"])
    if fate == "never":
        agents.remove(victim)
        fresh = Agent()
        agents.append(fresh)
        state["gone"].append(victim)
        return victim.name + " for ever", [(now + 1.5 * rng.random(), fresh.start)]
    wait = 0.5 * rng.random() if fate == "soon" else LEASE * (1.2 + rng.random())
    return "%s for %.1f s" % (victim.name, wait), [(now + wait, victim.start)]


def attach(state):
    state["clients"] += 1
    state["client"] = Client(["attach", str(state["run"]), "-q"], state["folder"], state["clients"])


def one_round(number, expected, total):
    global task_log
    folder = os.path.join(work, "round%d" % number)
    write_flow(folder, TASKS)
    state = {"folder": folder, "clients": 0, "gone": []}
    said_before = {a.name: len(a.said()) for a in agents if os.path.exists(a.log)}
    got = subprocess.run([WEFT, "submit", "flow.yaml", "-q", "--no-shared"], cwd=folder, env=environment(task_log),
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=MOST)
    if got.returncode != 0:
        ok(False, "round %d: the workflow is handed in: %s" % (number, got.stderr.strip()))
        return
    state["run"] = int(got.stdout.split()[-1])
    attach(state)
    began = time.monotonic()
    deaths, later, status = [], [], None
    next_death = began + 0.2 + rng.random()
    wanted = rng.randrange(2, 6)
    while time.monotonic() - began < MOST:
        time.sleep(0.02)
        now = time.monotonic()
        for item in [x for x in later if x[0] <= now]:
            later.remove(item)
            item[1]()
        attached = not any(x[1].__name__ == "<lambda>" for x in later)
        if attached and state["client"].process.poll() is not None:
            status = state["client"].process.returncode
            break
        if now >= next_death and len(deaths) < wanted and attached:
            what, follows = disturb(state)
            deaths.append(what)
            later += follows
            next_death = time.monotonic() + 0.1 + 1.4 * rng.random()
    seconds = time.monotonic() - began
    for item in sorted(later, key=lambda x: x[0]):
        item[1]()
    text = "round %d, run %d, %.1f s, %d deaths (%s)" % (number, state["run"], seconds, len(deaths),
                                                      ", ".join(deaths))
    if status is None:
        ok(False, text + ": it ends")
        if os.environ.get("KILL_STAY"):  # everything stands as it is until Enter is pressed
            remark("port %d, agents %s" % (port, " ".join("%s:%d" % (a.name, a.process.pid) for a in agents)))
            sys.stdin.readline()
        state["client"].process.kill()
        state["client"].process.wait()
        raise SystemExit(give_up())
    if not ok(status == 0, text + ": it is done"):
        remark("status %d: %s" % (status, state["client"].said().strip().replace("\n", "\n# ")))
    try:
        found = final_outputs(folder)
    except OSError as e:
        found = {str(e): b""}
    wrong = sorted(set(found.items()) ^ set(expected.items()))
    if not ok(not wrong, "round %d: %d final outputs are those of an undisturbed run" % (number, len(expected))):
        remark("differ: " + ", ".join(sorted({w[0] for w in wrong})[:8]))
    everyone = agents + state["gone"]
    confused, restored, lineage = set(), set(), 0
    for a in everyone:
        if os.path.exists(a.log):
            said = a.said()[said_before.get(a.name, 0):]
            restoring = re.findall(r"run %d: '(.*)' is computed again" % state["run"], said)
            lineage += len(restoring)
            restored.update((task, a.name) for task in restoring)
            if "joining again" in said:
                confused.add(a.name)
    ran, again, whole, without = examine(task_log, state["run"], confused, restored)
    remark("%d tasks ran, %d executions more; %d were computed again for their data; taken for dead alive: %s"
           % (ran, again, lineage, ", ".join(sorted(confused)) or "none"))
    ok(ran == total, "round %d: every task ran" % number)
    if not ok(not without, "round %d: what ran again ran on an agent that was killed" % number):
        for w in without[:8]:
            remark(w)
    fallen = [a.name for a in agents if a.process and a.process.poll() is not None]
    if not ok(not fallen, "round %d: no agent died of itself" % number):
        for a in agents:
            if a.name in fallen:
                remark("%s: %s" % (a.name, a.said()[-2000:].replace("\n", "\n# ")))
        raise SystemExit(give_up())
    totals["again"] += again
    totals["lineage"] += lineage
    totals["deaths"] += len(deaths)
    for a in state["gone"]:
        shutil.rmtree(a.folder, ignore_errors=True)
    shutil.rmtree(folder)


def give_up():
    """What is needed to look into it stays."""
    remark("left for a look: %s; KILL_SEED=%d" % (work, SEED))
    open(os.path.join(work, "keep"), "w").close()
    return 1


def main():
    global server, agents, totals, task_log, port
    port = free_port()
    task_log = os.path.join(work, "tasks.log")
    open(task_log, "w").close()
    totals = {"again": 0, "lineage": 0, "deaths": 0}
    remark("seed %d: KILL_SEED=%d KILL_ROUNDS=%d tests/cluster/cluster_kill_test.sh" % (SEED, SEED, ROUNDS))
    subprocess.run([WEFT, "key", os.path.join(work, "key")], check=True, stdout=subprocess.DEVNULL)
    reference = os.path.join(work, "reference")
    total = write_flow(reference, TASKS)
    subprocess.run([WEFT, "run", "flow.yaml", "-j2", "-q"], cwd=reference, env=environment(os.devnull), check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=MOST)
    expected = final_outputs(reference)
    read = set()
    with open(os.path.join(reference, "flow.yaml")) as f:
        for line in f:
            if line.startswith("    in: ["):
                read.update(line.strip()[5:-1].split(", "))
    expected = {name: data for name, data in expected.items() if name not in read}
    server = Server()
    server.start()
    agents = [Agent() for _ in range(AGENTS)]
    for a in agents:
        a.start()
    began = time.monotonic()  # sanitized agents on a busy machine take seconds
    while not all("ready" in a.said() for a in agents) and time.monotonic() - began < MOST:
        time.sleep(0.05)
    try:
        for number in range(1, ROUNDS + 1):
            one_round(number, expected, total)
    finally:
        for a in agents:
            if a.process:
                a.process.kill()
                a.process.wait()
        server.kill()
    remark("%d rounds, %d deaths, %d executions more than tasks, %d of them for data that had died"
           % (ROUNDS, totals["deaths"], totals["again"], totals["lineage"]))
    if failures:
        give_up()
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
