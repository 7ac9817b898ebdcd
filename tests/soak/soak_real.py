#!/usr/bin/env python3
"""Real runs of `weft run` under faults, on workflows whose every byte is known.

    WEFT=build/release/weft tests/soak/soak_real.py
    SOAK_ROUNDS=200     so many rounds
    SOAK_SECONDS=0      begin no round of a seed after so many seconds; 0: no bound
    SOAK_SEED=random    drawn and printed; or a number, or several with commas; SOAK_ROUND=17 runs only that round
    SOAK_FUNCTIONS=     a library for `call:` tasks (tests/soak/functions.c); without it there are none
    SOAK_KEEP=1         leave the folders of rounds that failed

A round makes a workflow (soak_graph.py), runs it several times under faults (soak_faults.py), and once undisturbed. Looked for:

    wrong in silence   exit status 0, or "nothing to do", while a byte is not what the oracle says
    without a word     another status, and nothing on standard error
    hanging            nothing ends in a minute: the one thing that is timed here
    repeats            a task starts that the record (-n) said was done
    leftovers          processes, sandboxes, the mark of a run, a lock

Speaks TAP: a line a round. Same seed, same workflows and faults; their moments are the machine's."""
import fcntl
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
import soak_faults as faults
from soak_graph import Graph, content

class Wrong(Exception):
    """What a round must not come to."""


class Round:
    """One workflow through its faults."""

    def __init__(self, setting, number):
        self.rng = random.Random(f"{setting.seed}/{number}")
        self.weft, self.patience, self.number = setting.weft, setting.patience, number
        self.outside = os.path.join(setting.work, f"round-{setting.seed}-{number}")
        self.folder = os.path.join(self.outside, "flow")
        self.log, self.moods = os.path.join(self.outside, "log"), os.path.join(self.outside, "mood")
        os.makedirs(self.folder)
        os.makedirs(self.moods)
        self.small_disk = setting.mounts and self.rng.random() < 0.35 and mount_small(self.folder)
        self.mark = f"SOAK_MARK={os.getpid()}-{number}"
        self.environment = dict(os.environ, SOAK_LOG=self.log, WEFT_HISTORY=os.path.join(self.outside, "history.db"))
        key, value = self.mark.split("=")
        self.environment[key] = value
        self.graph = Graph(self.rng, setting.functions)
        self.said, self.later, self.claims = [], [], None
        open(self.log, "wb").close()
        self.begin_run()
        for name, text in self.graph.sources.items():
            faults.write(self.path(name), text)
        self.write_flow()

    # ---- the folder ----

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_flow(self):
        with open(self.path("flow.yaml"), "w", encoding="utf-8") as f:
            f.write(self.graph.yaml(self.log, self.moods))

    def try_write(self, name, data):
        """A full disk is no reason to stop: the file is made right when the run is over."""
        try:
            faults.write(self.path(name), data)
        except OSError as e:
            if not faults.no_space(e):
                raise

    def expected_names(self):
        return [o for t in self.graph.tasks for o in t.outputs]

    def free_disk(self):
        for name in ("ballast", "ballasts"):
            path = self.path(name)
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.path.exists(path) and os.unlink(path)

    def differences(self):
        return self.graph.differences(self.folder, self.graph.temporaries())

    def lines(self, start=0):
        """What tasks told of their starts and ends: [("S", "t1"), ...]."""
        with open(self.log, encoding="utf-8", errors="replace") as f:
            f.seek(start)
            return [tuple(line.split()) for line in f.read().splitlines() if len(line.split()) == 2]

    # ---- running ----

    def begin_run(self):
        """Nothing has been done to this run yet: see soak_faults.py for what these mean."""
        self.mutated = self.unrecorded = self.killed = self.deaf = self.full = self.starved = self.tasks_killed = self.scribbled = False
        self.forget = False
        self.stops, self.sent = 0, set()

    def wrong(self, text):
        raise Wrong(text)

    def start(self, arguments, how):
        """A process of weft; `how` as the functions of STARTS return it."""
        def before():
            for fd in how.get("close", ()):
                os.close(fd)
            for what, value in how.get("limits", ()):
                resource.setrlimit(what, (value, resource.getrlimit(what)[1]))
        out, err = (how.get(k) or open(os.path.join(self.outside, k), "wb") for k in ("stdout", "stderr"))
        words = [self.weft, "run", self.path("flow.yaml")] + arguments
        if "group" in how:  # joined by a shell, which weft replaces
            words = ["sh", "-c", f"echo $$ > {how['group']}/cgroup.procs; exec \"$@\"", "sh"] + words
        p = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=before)
        out.close()
        err.close()
        return p

    def message(self):
        try:
            with open(os.path.join(self.outside, "stderr"), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def wait(self, p):
        """Its status. A hang is told with all that can be seen of it."""
        try:
            return p.wait(self.patience)
        except subprocess.TimeoutExpired:
            seen = []
            for pid in [p.pid] + faults.owned(self.mark, but=(p.pid,)):
                for name in ("cmdline", "wchan", "stack", "status"):
                    try:
                        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as f:
                            seen.append(f"{pid} {name}: " + " ".join(f.read().replace("\0", " ").split())[:300])
                    except OSError:
                        pass
            p.kill()
            p.wait()
            self.wrong(f"hangs for {self.patience} s\n" + "\n".join(seen) + f"\nlast lines: {self.message()[-500:]}")

    def arguments(self):
        rng = self.rng
        return ["-j", str(rng.randint(1, 4))] + rng.choice((["-q"], [], ["--json"])) + (["-k"] if rng.random() < 0.3 else []) + \
            (["--no-sandbox"] if rng.random() < 0.08 else []) + ["--retry-delay", "0.01"]

    def look(self):
        """What `-n` says would run, by name; None: it says that something is wrong instead."""
        q = subprocess.run([self.weft, "run", self.path("flow.yaml"), "-n", "--json"], env=self.environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=self.patience, check=False)
        if q.returncode != 0:
            self.looked = q.stderr.decode(errors="replace")
            return None
        return {x["task"] for x in json.loads(q.stdout)["would_run"]}

    def check_left(self):
        """After a run that ended by itself."""
        for _ in range(100):
            left = faults.owned(self.mark)
            if not left:
                break
            time.sleep(0.05)
        if left:
            self.wrong(f"processes are left: {[self.cmdline(pid) for pid in left]}")
        if os.path.isdir(self.path(".weft/sandbox")) and os.listdir(self.path(".weft/sandbox")):
            self.wrong(f"sandboxes are left: {os.listdir(self.path('.weft/sandbox'))}")
        if os.path.exists(self.path(".weft/running")):
            self.wrong(".weft/running is left")
        for name in os.listdir(self.path(".weft")) if os.path.isdir(self.path(".weft")) else ():
            if os.path.isfile(self.path(f".weft/{name}")):
                with open(self.path(f".weft/{name}"), "rb") as f:
                    try:
                        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except OSError:
                        self.wrong(f".weft/{name} is locked")

    @staticmethod
    def cmdline(pid):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
                return f.read().replace("\0", " ")
        except OSError:
            return "?"

    def check_repeats(self, since):
        """What the record had did not start."""
        if self.claims is None or self.mutated or self.forget:
            return
        again = {name for kind, name in self.lines(since) if kind == "S"} - self.claims
        if again:
            self.wrong(f"started although on record: {sorted(again)}")

    def check_silence(self, status):
        """Exit status 0 is a claim."""
        if status != 0:
            if status < 0 and -status not in self.sent:
                self.wrong(f"ended by signal {-status}")
            if status < 0 and not self.deaf:  # before it had its handlers; without a reader it ends so, too, when it is done
                self.killed = True
            if status > 3:
                self.wrong(f"exit status {status}")
            if not self.message().strip() and not self.deaf and not self.killed:
                self.wrong(f"exit status {status} without a word")
            return
        differs = self.differences()
        if differs and not self.mutated:
            self.wrong("exit status 0, but " + "; ".join(differs[:5]))
        if differs:
            found = self.look()
            if found is not None and not found:
                self.wrong("exit status 0 and nothing to do, but " + "; ".join(differs[:5]))

    def settle(self):
        """The faults are over; what somebody would put right is put right."""
        for f in os.listdir(self.moods):
            os.unlink(os.path.join(self.moods, f))
        self.free_disk()
        for action in self.later:
            action()
        self.later = []
        for name, text in self.graph.sources.items():
            if content(self.folder, name) != text:
                if not (self.mutated or self.small_disk):
                    self.wrong(f"the user's own file {name} was changed")
                faults.write(self.path(name), text)

    def disturbed(self):
        """One run under faults."""
        rng = self.rng
        self.begin_run()
        told = []
        if rng.random() < 0.4:
            between = rng.choice(faults.BETWEEN)
            between(self)
            told.append(between.__name__)
            self.claims = None
        self.begin_run()
        if rng.random() < 0.6:
            for task in rng.sample([t for t in self.graph.tasks if t.sort != "call"], 2):
                kind, text = faults.mood(self, task)
                faults.write(os.path.join(self.moods, task.name), text.encode() + b"\n")
                told.append(f"{task.name} {kind}")
        how = {}
        if rng.random() < 0.35:
            start = rng.choice(faults.STARTS + [faults.few_processes])
            how = start(self)
            if how is None:
                how, start = {}, faults.closed()
            told.append(start.__name__)
        during = [rng.choice(faults.DURING + ([faults.fill_disk] * 12 if self.small_disk else [])) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
        told += [f.__name__ for f in during]
        self.said.append(", ".join(told) or "calm")
        arguments, since = self.arguments(), os.path.getsize(self.log)
        p = self.start(arguments, how)
        if "group" in how:  # a passing shortage
            time.sleep(rng.random())
            faults.write(f"{how['group']}/pids.max", b"max")
        elif "limits" in how and how["limits"][0][0] == resource.RLIMIT_NOFILE:  # too: one that stays is waited for for a minute
            time.sleep(rng.random())
            try:
                resource.prlimit(p.pid, resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
            except OSError:  # it has ended
                pass
        for f in during:
            time.sleep(rng.random() ** 2 * 0.02 * len(self.graph.tasks))
            if p.poll() is None:
                f(self, p)
        status = self.wait(p)
        self.said[-1] += f" -> {status}"
        if self.full and status == 0 and "-q" not in arguments and "stdout" in how:
            self.wrong("standard output cannot be written, and the exit status is 0")
        self.after(status, since)

    def after(self, status, since):
        self.check_silence(status)
        if not self.killed:
            self.check_left()
        elif self.rng.random() < 0.5:  # else weft has to end them
            while faults.owned(self.mark):
                time.sleep(0.02)
        else:
            self.forget = True
        self.check_repeats(since)
        self.settle()
        alone = self.stops == 1 and not (self.unrecorded or self.mutated or self.tasks_killed or self.starved or self.deaf)
        self.claims = self.look()
        if self.claims is None:
            self.wrong(f"a look (-n) fails: {self.looked}")
        if status == 0 and self.claims and not self.mutated and not self.unrecorded:
            self.wrong(f"exit status 0, but a look says that {sorted(self.claims)} would run")
        if alone:
            ended = {name for kind, name in self.lines(since) if kind == "E"} & self.claims
            if ended:
                self.wrong(f"ended well before a stop, and not on record: {sorted(ended)}")
        if self.forget:
            self.claims = None

    def check_order(self, lines):
        """Nobody started before those he waits for had ended, as far as both ran here."""
        begun = {name: i for i, (kind, name) in reversed(list(enumerate(lines))) if kind == "S"}
        ended = {name: i for i, (kind, name) in enumerate(lines) if kind == "E"}
        maker = self.graph.producer()
        for t in self.graph.tasks:
            for before in [maker[i].name for i in t.inputs if i in maker] + t.after:
                if t.name in begun and before in ended and begun[t.name] < ended[before]:
                    self.wrong(f"{t.name} began before {before} had ended")

    def calm(self):
        """One run to the end, and one with nothing to do."""
        self.begin_run()
        since = os.path.getsize(self.log)
        status = self.wait(self.start(["-j2"], {}))
        if status != 0:
            self.wrong(f"the undisturbed run ends with {status}: {self.message()[-1500:]}")
        differs = self.differences()
        if differs:
            self.wrong("after the undisturbed run " + "; ".join(differs[:5]))
        self.check_left()
        self.check_repeats(since)
        self.check_order(self.lines(since))
        ran = {name for kind, name in self.lines() if kind == "E"}
        never = [t.name for t in self.graph.tasks if t.name not in ran]
        if never:
            self.wrong(f"never ran: {never}")
        left = self.look()
        if left is None or left:
            self.wrong(f"after the undisturbed run a look says: {self.looked if left is None else sorted(left)}")
        since = os.path.getsize(self.log)
        status = self.wait(self.start(["-j2"], {}))
        again = self.lines(since)
        if status != 0 or again or self.differences():
            self.wrong(f"with nothing to do: status {status}, started {again}, {self.differences()[:3]}")

    def play(self):
        for _ in range(self.rng.choice((1, 2, 2, 3, 4))):
            self.disturbed()
        self.calm()

    def close(self, keep):
        for pid in faults.owned(self.mark):
            faults.send(pid, 9)
        if self.small_disk:
            if keep:
                shutil.copytree(self.folder, self.folder + "-kept", symlinks=True)
            subprocess.run(["umount", "-l", self.folder], check=False)
        if not keep:
            shutil.rmtree(self.outside, ignore_errors=True)


def mount_small(folder):
    """A disk of eight megabytes and some hundred files, for this round."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=1500", "tmpfs", folder], stderr=subprocess.DEVNULL, check=False).returncode == 0


def may_mount(work):
    place = os.path.join(work, "mount")
    os.makedirs(place)
    good = mount_small(place)
    if good:
        subprocess.run(["umount", place], check=False)
    return good


class Setting:
    """From the environment."""

    def __init__(self, work):
        self.work = work
        self.weft = os.path.abspath(os.environ.get("WEFT", "build/release/weft"))
        self.seed = None
        self.seeds = [s if s != "random" else str(random.SystemRandom().randint(1, 10**9)) for s in os.environ.get("SOAK_SEED", "random").split(",")]
        self.rounds = int(os.environ.get("SOAK_ROUNDS", "200"))
        self.seconds = float(os.environ.get("SOAK_SECONDS", "0"))
        self.only = os.environ.get("SOAK_ROUND")
        self.functions = os.environ.get("SOAK_FUNCTIONS")
        self.keep = bool(os.environ.get("SOAK_KEEP"))
        with open(self.weft, "rb") as f:
            self.sanitized = b"__asan_init" in f.read()
        self.patience = 300 if self.sanitized else 60
        self.mounts = may_mount(work)
        if self.sanitized:  # which reserves terabytes of addresses
            faults.STARTS[:] = [s for s in faults.STARTS if s.__name__ != "RLIMIT_AS"]


def play_seed(s, seed, count):
    """Rounds that were played, and how many of them went wrong. `count`: before these."""
    s.seed = seed
    print(f"# seed {seed}; SOAK_SEED={seed} SOAK_ROUND=N repeats a round", flush=True)
    begun, played, bad = time.monotonic(), 0, 0
    for number in [int(s.only)] if s.only else range(1, s.rounds + 1):
        if s.seconds and played and time.monotonic() - begun > s.seconds:
            break
        played += 1
        r = Round(s, number)
        text = None
        try:
            r.play()
        except (Wrong, subprocess.TimeoutExpired) as e:
            text, bad = str(e), bad + 1
        print(f"{'not ok' if text else 'ok'} {count + played} - round {number}: {len(r.graph.tasks)} tasks"
              f"{', small disk' if r.small_disk else ''}; {' | '.join(r.said)}")
        for line in (text or "").splitlines():
            print(f"#   {line}")
        if text:
            print(f"#   SOAK_SEED={seed} SOAK_ROUND={number}")
        sys.stdout.flush()
        r.close(s.keep and text)
    return played, bad


def main():
    begun, count, bad = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="weft-soak-") as work:
        s = Setting(work)
        if not s.mounts:
            print("# SKIP full disks and inodes: no small disk may be mounted here (root, or unshare -rm)")
        if not s.functions:
            print("# SKIP tasks that are calls: SOAK_FUNCTIONS names no library")
        for seed in s.seeds:
            played, wrong = play_seed(s, seed, count)
            count, bad = count + played, bad + wrong
        if s.keep and bad:
            shutil.copytree(work, work + "-kept", symlinks=True)
            print(f"# kept in {work}-kept")
    print(f"1..{count}\n# {bad} of {count} rounds went wrong, {time.monotonic() - begun:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    # without the right to mount, perhaps in namespaces of our own
    if os.getuid() != 0 and not os.environ.get("SOAK_INSIDE") and shutil.which("unshare"):
        os.environ["SOAK_INSIDE"] = "1"
        if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.execvp("unshare", ["unshare", "-rm", sys.executable] + sys.argv)
    sys.exit(main())
