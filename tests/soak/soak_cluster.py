#!/usr/bin/env python3
"""Runs on real agents under faults, on workflows whose every byte is known: the cluster half of `make soak-real`.

    WEFT=build/release/weft tests/soak/soak_cluster.py [--seed N] [--rounds 200] [--round N] [--seconds N] [--faults NAME,NAME] [--keep]

    --seed      drawn and printed when it is not given; several with commas    --round     only this one
    --seconds   begin no round after so many                                   --faults    only these (soak_cluster_faults.py)
    --only      plain, slurm or uncollected: rounds of this kind alone (soak_special.py)
    SOAK_FUNCTIONS=   a library for `call:` tasks (functions.c); without it there are none

A round has a redis-server, three or four agents (soak_bed.py) and a workflow (soak_graph.py). It is run under faults, then to its end
without any, then once more. Looked for:

    wrong in silence   exit status 0 while a byte is not what the oracle says, or while a look (-n) says that something would run
    failing            another status, though nothing was done that excuses it; or without a word
    hanging            no task begins or ends in a minute after the last fault; told with the stacks of all
    repeats            a task runs again though each agent that had run it lived, was reached and had lost nothing
    leftovers          agents that die of themselves or do not leave; processes

How repeats are known: tasks append a line with their agent when they start, this program one when it hurts an agent and when that is
over; lines of one append are whole and in order.

Speaks TAP: a line a round. Same seed, same workflows and faults; their moments are the machine's."""
import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
import soak_cluster_faults as cluster_faults
import soak_faults as faults
from soak_bed import Agent, Relay, Store, stacks
from soak_graph import Graph


class Wrong(Exception):
    """What a round must not come to."""


class Round:
    """One cluster and one workflow through their faults."""
    kind = ""

    def __init__(self, setting, number):
        self.setting, self.number, self.rng = setting, number, random.Random(f"{setting.seed}/cluster/{number}")
        self.weft, self.patience = setting.weft, setting.patience
        self.outside = os.path.join(setting.work, f"round-{setting.seed}-{number}")
        self.folder = os.path.join(self.outside, "flow")
        self.log, self.moods = os.path.join(self.outside, "log"), os.path.join(self.outside, "mood")
        for path in (self.folder, self.moods):
            os.makedirs(path)
        open(self.log, "wb").close()
        self.mark = f"SOAK_MARK={os.getpid()}-{number}"
        self.environment = dict(os.environ, SOAK_LOG=self.log, WEFT_HISTORY=os.path.join(self.outside, "history.db"), TMPDIR=self.outside,
                                WEFT_KEY=os.path.join(self.outside, "key"), SOAK_MARK=self.mark.split("=")[1])
        self.said, self.agents, self.retired, self.leaving, self.later, self.excused = [], [], [], [], [], []
        self.may_repeat, self.attach_next, self.client, self.damaged, self.filled = set(), False, None, False, False
        self.shared, self.allocated = self.rng.random() < 0.2, self.rng.random() < 0.4
        self.write_flow()

    def write_flow(self):
        """Tasks take some hundredths of a second, so that faults meet them; some write megabytes, some fail once."""
        rng = self.rng
        self.graph = Graph(rng, self.setting.functions)
        for t in self.graph.tasks:
            if t.sort == "long" and rng.random() < 0.5:
                t.length = 60000
            text = f"sleep {0.02 + rng.random() * 0.3:.3f}\n"
            if t.retries and rng.random() < 0.3:
                text += "[ $WEFT_ATTEMPT -gt 1 ] || " + rng.choice(("exit 3", "kill -9 $$")) + "\n"
                self.may_repeat.add(t.name)
            faults.write(os.path.join(self.moods, t.name), text.encode())
        for name, text in self.graph.sources.items():
            faults.write(os.path.join(self.folder, name), text)
        with open(os.path.join(self.folder, "flow.yaml"), "w", encoding="utf-8") as f:
            f.write(self.graph.yaml(self.log, self.moods, " $SOAK_AGENT $PWD"))

    # ---- the cluster ----

    def raise_cluster(self):
        subprocess.run([self.weft, "key", self.environment["WEFT_KEY"]], check=True, stdout=subprocess.DEVNULL, env=self.environment)
        self.store = Store(self)
        self.store.start()
        self.way = Relay(self.store.port)
        self.environment["WEFT_STORE"] = f"redis://127.0.0.1:{self.way.port}"
        for _ in range(self.rng.randint(3, 4)):
            self.new_agent().start()
        self.await_agents()

    def new_agent(self):
        a = Agent(self, f"agent{len(self.agents) + len(self.retired) + 1}", self.setting.mounts and (self.rng.random() < 0.3 or not self.agents))
        self.agents.append(a)
        return a

    def await_agents(self):
        until = time.monotonic() + self.patience
        while not all(a.is_ready() for a in self.agents):
            if time.monotonic() > until:
                self.wrong("agents do not get ready: " + "; ".join(f"{a.name}: {a.said()[-300:]}" for a in self.agents if not a.is_ready()))
            time.sleep(0.02)

    def tell(self, line):
        fd = os.open(self.log, os.O_WRONLY | os.O_APPEND)
        os.write(fd, (line + "\n").encode())
        os.close(fd)

    def hurt(self, agent):
        self.tell(f"hurt {agent.name}")

    def well(self, agent):
        self.tell(f"well {agent.name}")

    def disturb_all(self):
        for a in self.agents:
            self.hurt(a)

    def calm_all(self):
        for a in self.agents:
            self.well(a)

    def after_a_while(self, seconds, action):
        self.later.append((time.monotonic() + seconds, action))

    def do_later(self, everything=False):
        """What is due; in the end all of it."""
        while True:
            due = sorted((x for x in self.later if everything or x[0] <= time.monotonic()), key=lambda x: x[0])
            if not due:
                return
            self.later.remove(due[0])
            if everything:
                time.sleep(max(0.0, min(0.3, due[0][0] - time.monotonic())))
            due[0][1]()

    # ---- clients ----

    def start(self, words):
        """A weft that is watched; its words are in self.outside."""
        with open(os.path.join(self.outside, "stdout"), "wb") as out, open(os.path.join(self.outside, "stderr"), "ab") as err:
            self.heard = os.fstat(err.fileno()).st_size
            self.client = subprocess.Popen([self.weft] + words, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           cwd=self.folder)

    def message(self):
        with open(os.path.join(self.outside, "stderr"), encoding="utf-8", errors="replace") as f:
            f.seek(self.heard)
            return f.read()

    def printed(self):
        with open(os.path.join(self.outside, "stdout"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def call(self, *words):
        """A weft that nothing is done to: status and both outputs."""
        try:
            q = subprocess.run([self.weft, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder,
                               timeout=self.patience, check=False)
        except subprocess.TimeoutExpired:
            self.hangs(f"weft {' '.join(words)}")
        return q.returncode, q.stdout.decode(errors="replace"), q.stderr.decode(errors="replace")

    def open_runs(self):
        """Numbers of runs that are noted in the folder."""
        try:
            return sorted(int(n[:-5]) for n in os.listdir(os.path.join(self.folder, ".weft/cluster")) if n.endswith(".json"))
        except FileNotFoundError:
            return []

    def wrong(self, text):
        raise Wrong(text)

    def hangs(self, what):
        pids = ([self.client.pid] if self.client and self.client.poll() is None else []) + [a.process.pid for a in self.agents if a.lives()]
        ends = [f"{a.name}: {line}" for a in self.agents for line in a.said().splitlines()[-12:]]
        q = subprocess.run([self.weft, "status"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        raise Wrong("\n".join([f"{what} hangs"] + stacks(pids) + ends + q.stdout.decode(errors="replace").splitlines() +
                              [f"last words: {self.message()[-800:]}"]))

    def look(self):
        """While somebody is followed, a hundred times a second."""

    def watch(self, planned):
        """Until the client has ended, and whoever replaced it; `planned`: [(seconds, fault)]. Its status; None: it was killed and left no run."""
        begun = time.monotonic()
        until, seen = begun + self.patience, 0
        while True:
            time.sleep(0.01)
            self.do_later()
            self.look()
            if self.later or planned or os.path.getsize(self.log) != seen:  # something happens yet, however slow the machine is
                until, seen = time.monotonic() + self.patience, os.path.getsize(self.log)
            if planned and time.monotonic() - begun >= planned[0][0] and self.client.poll() is None:
                planned.pop(0)[1](self)
            if self.client.poll() is not None:
                if not self.attach_next:
                    return self.client.returncode
                self.attach_next = False
                runs = self.open_runs()
                if not runs:
                    return None
                self.start(["attach", str(runs[-1]), "-q"])
            if time.monotonic() > until:
                self.hangs("the run")

    # ---- what is looked for ----

    def differences(self):
        """What others read stays with the agents."""
        return self.graph.differences(self.folder, self.graph.temporaries() | {i for t in self.graph.tasks for i in t.inputs})

    def confused(self):
        """Agents that others took for dead while they lived: a busy machine does that, and it says so."""
        return {a.name for a in self.agents + self.retired if "joining again" in a.said()}

    def is_made_for(self, task, then, run, begun):
        """A temporary file goes when all have read it. When what one of those made dies with its agent, both are made again: the file
        first, then what is read from it."""
        made = {o for t in self.graph.tasks if t.name == task for o in t.outputs} & self.graph.temporaries()
        readers = [t.name for t in self.graph.tasks if made & set(t.inputs)]
        return any(at > then for r in readers for at, _ in begun.get((run, r), [])[1:])

    def check_repeats(self):
        """Every earlier execution of a task of a run was on an agent that was hurt between its start and that of the later one."""
        begun, hurts, confused, found = {}, {}, self.confused(), []
        with open(self.log, encoding="utf-8", errors="replace") as f:
            for at, line in enumerate(f):
                words = line.split()
                if words[0] == "hurt":
                    hurts.setdefault(words[1], []).append([at, float("inf")])
                elif words[0] == "well":
                    for interval in hurts.get(words[1], []):
                        interval[1] = min(interval[1], at)
                elif words[0] == "S" and len(words) == 4:
                    run = re.search(r"/runs/([^/]+)/", words[3] + "/")
                    begun.setdefault((run.group(1) if run else "?", words[1]), []).append((at, words[2]))
        for (run, task), times in begun.items():
            for (at, agent), (then, other) in zip(times, times[1:]):
                # nor need the later one know yet that it was given up meanwhile: what it does is not taken
                excused = any(a <= then and b >= at for a, b in hurts.get(agent, []) + hurts.get(other, []))
                if not (excused or {agent, other} & confused or task in self.may_repeat or self.is_made_for(task, then, run, begun)):
                    found.append(f"run {run}: {task} on {agent} (line {at + 1}), again on {other} (line {then + 1})")
        self.again = sum(len(t) - 1 for t in begun.values())
        if found and not self.shared:
            self.wrong("ran again without a reason: " + "; ".join(found[:5]))

    def check_agents(self):
        for a in self.agents:
            if not a.lives() and a not in self.leaving and a.process:
                self.wrong(f"{a.name} died of itself, status {a.process.returncode}: {a.said()[-1500:]}")

    def check_done(self, what):
        """Exit status 0 is a claim."""
        differs = self.differences()
        if differs:
            self.wrong(f"{what}: exit status 0, but " + "; ".join(differs[:5]))
        status, out, err = self.call("run", "flow.yaml", "-n", "--json", "--on", "cluster")
        would = {x["task"]: x["because"] for x in json.loads(out)["would_run"]} if status == 0 else None
        if would is None or would:
            self.wrong(f"{what}: exit status 0, but a look says: {err if would is None else would}")

    # ---- a round ----

    def disturbed(self):
        rng = self.rng
        among = [cluster_faults.BY_NAME[n] for n in self.setting.faults] or cluster_faults.DURING
        chosen = [rng.choice(among) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
        moment, planned = 0.0, []
        for fault in chosen:
            moment += 0.1 + rng.random() * 1.2
            planned.append((moment, fault))
        words = ["flow.yaml", "-q", "--shared" if self.shared else "--no-shared"] + (["-k"] if rng.random() < 0.3 else []) + ["--retry-delay", "0.01"]
        by_submit = rng.random() < 0.3
        self.said.append(("submit: " if by_submit else "") + ", ".join(f.__name__ for f in chosen))
        if by_submit:
            status, out, err = self.call("submit", *words)
            if status != 0:
                self.wrong(f"submit ends with {status}: {err}")
            self.start(["attach", out.split()[-1], "-q"])
        else:
            self.start(["run"] + words + ["--on", "cluster"])
        status = self.watch(planned)
        self.said[-1] += f" -> {status}"
        self.do_later(everything=True)
        if status == 0 and self.excused and "goes on without this command" in self.message():
            self.said[-1] += " (detached)"
        elif status == 0:
            self.check_done("under faults")
        elif status is not None and -status not in (signal.SIGTERM, signal.SIGINT):  # before it had its handlers
            if not self.message().strip():
                self.wrong(f"exit status {status} without a word")
            if self.damaged and (" changed while it ran: " in self.printed() or "failed while nobody followed" in self.printed()):
                self.excused.append("an input was damaged under a task")
            # a sick machine is waited for by nobody: when no other is there, tasks fail and say so
            if self.filled and re.search("no space left on .*, and (no other agent is there|every other agent is set aside)", self.printed()):
                self.excused.append("a disk was full, and nobody else was there")
            if not self.excused:
                self.wrong(f"exit status {status}, and nothing excuses it: {self.printed()[-1500:]}{self.message()[-1500:]}")
            self.said[-1] += f" ({'; '.join(self.excused)})"

    def finish(self):
        """Nothing more is done to it: what goes on ends, and all is made."""
        self.await_agents()
        self.check_agents()
        for run in self.open_runs():
            self.start(["attach", str(run), "-q"])
            status = self.watch([])
            if status == 0:
                self.check_done(f"attached to run {run}")
            elif not self.message().strip():
                self.wrong(f"attach {run}: exit status {status} without a word")
            if run in self.open_runs():
                status, _, err = self.call("cancel", str(run), "-q")
                if status != 0 and not err.strip():
                    self.wrong(f"cancel {run}: exit status {status} without a word")
        self.start(["run", "flow.yaml", "-q", "--on", "cluster", "--shared" if self.shared else "--no-shared"])
        status = self.watch([])
        if status != 0:
            self.wrong(f"the undisturbed run ends with {status}: {self.printed()[-1500:]}{self.message()[-1500:]}")
        self.check_done("undisturbed")
        self.check_repeats()
        self.check_agents()
        before = os.path.getsize(self.log)
        status, _, err = self.call("run", "flow.yaml", "--on", "cluster")
        if status != 0 or os.path.getsize(self.log) != before:
            self.wrong(f"with nothing to do: status {status}, {err}")

    def leave(self):
        """Agents that are told to go do, and nothing of the round is left."""
        for a in [a for a in self.agents if a.lives()]:
            status = a.leave(self.patience)
            if status is None:
                self.hangs(f"{a.name}, told to leave,")
            if status != 0:
                self.wrong(f"{a.name}, told to leave, ends with {status}: {a.said()[-800:]}")
        for _ in range(100):
            left = faults.owned(self.mark, but=(self.store.process.pid,))
            if not left:
                return
            time.sleep(0.05)
        self.wrong(f"processes are left: {left}")

    def play(self):
        self.raise_cluster()
        self.disturbed()
        self.finish()
        self.leave()

    def close(self, keep):
        for pid in faults.owned(self.mark):
            faults.send(pid, 18)
            faults.send(pid, 9)
        for a in self.agents + self.retired:
            if keep and a.small_disk:
                shutil.copytree(a.folder, a.folder + "-kept", symlinks=True)
            a.close()
        if self.client and self.client.poll() is None:
            self.client.wait()
        if hasattr(self, "way"):
            self.way.close()
        if hasattr(self, "store") and self.store.process:
            self.store.kill()
        if not keep:
            shutil.rmtree(self.outside, ignore_errors=True)


class Setting:
    """From the command line."""

    def __init__(self, work, options):
        self.work, self.keep = work, options.keep
        self.weft = os.path.abspath(os.environ.get("WEFT", "build/release/weft"))
        self.seed = None
        self.seeds = [s if s != "random" else str(random.SystemRandom().randint(1, 10**9)) for s in options.seed.split(",")]
        self.rounds, self.only, self.seconds, self.kind = options.rounds, options.round, options.seconds, options.only
        self.faults = options.faults.split(",") if options.faults else []
        self.functions = os.environ.get("SOAK_FUNCTIONS")
        with open(self.weft, "rb") as f:
            self.patience = 300 if b"__asan_init" in f.read() else 60
        place = os.path.join(work, "mount")
        os.makedirs(place)
        self.mounts = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], stderr=subprocess.DEVNULL, check=False).returncode == 0
        if self.mounts:
            subprocess.run(["umount", place], check=False)


def kind_of(s, number):
    """Mostly the plain one; some rounds of two hundred are special."""
    import soak_special  # which needs Round
    if s.kind == "slurm" or (not s.kind and number % 25 == 12):
        return soak_special.SlurmRound
    if s.kind == "uncollected" or (not s.kind and number == 75):
        return soak_special.UncollectedRound
    return Round


def play_round(s, number, count):
    """Whether it went well; a line is printed."""
    begun, text, r = time.monotonic(), None, kind_of(s, number)(s, number)
    try:
        r.play()
    except (Wrong, subprocess.TimeoutExpired, RuntimeError) as e:
        text = str(e)
    except BaseException:  # somebody ends this: nothing is left
        r.close(False)
        raise
    print(f"{'not ok' if text else 'ok'} {count} - cluster round {number}: {r.kind}{len(r.graph.tasks)} tasks{', shared' if r.shared else ''}; "
          f"{' | '.join(r.said)}; {getattr(r, 'again', '?')} again, {time.monotonic() - begun:.0f} s")
    for line in (text or "").splitlines():
        print(f"#   {line}")
    if text:
        print(f"#   soak_cluster.py --seed {s.seed} --round {number}")
    sys.stdout.flush()
    r.close(s.keep and text)
    return text is None


def main():
    parser = argparse.ArgumentParser(description="Runs on real agents under faults.")
    parser.add_argument("--seed", default=os.environ.get("SOAK_SEED", "random"))
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("SOAK_ROUNDS", "200")))
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "0")))
    parser.add_argument("--faults", default="")
    parser.add_argument("--only", choices=("plain", "slurm", "uncollected"))
    parser.add_argument("--keep", action="store_true", default=bool(os.environ.get("SOAK_KEEP")))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # for floods
    begun, count, bad = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="weft-soak-") as work:
        s = Setting(work, options)
        if not s.mounts:
            print("# SKIP full disks of agents: no small disk may be mounted here (root, or unshare -rm)")
        for s.seed in s.seeds:
            print(f"# seed {s.seed}: soak_cluster.py --seed {s.seed} --round N repeats a round", flush=True)
            started = time.monotonic()
            for number in [s.only] if s.only else range(1, s.rounds + 1):
                if s.seconds and number > 1 and time.monotonic() - started > s.seconds:
                    break
                count += 1
                bad += not play_round(s, number, count)
        if s.keep and bad:
            shutil.copytree(work, work + "-kept", symlinks=True)
            print(f"# kept in {work}-kept")
    print(f"1..{count}\n# {bad} of {count} rounds went wrong, {time.monotonic() - begun:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.modules["soak_cluster"] = sys.modules["__main__"]  # for soak_special.py
    sys.exit(main())
