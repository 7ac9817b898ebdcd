"""Rounds of soak_cluster.py that are special: agents of a real Slurm whose jobs end under them, and a cluster with 500 runs that nobody
collects."""
import os
import subprocess
import sys
import time

import soak_cluster_faults as cluster_faults
import soak_faults as faults
from soak_cluster import Round

MANY = 500  # runs that nobody collects


class SlurmRound(Round):
    """`weft run --on slurm` in a Slurm of two nodes (tests/cluster/bed_slurm): jobs are cancelled, or end by their time limit, and the
    client may be killed. Started again in the bed's namespaces by play()."""
    kind = "Slurm, "

    def __init__(self, setting, number):
        super().__init__(setting, number)
        self.shared, self.limited, self.alone, self.left, self.looked = False, number % 100 == 62, False, False, 0.0
        for t in self.graph.tasks:
            seconds = 0.2 + self.rng.random() * (8 if self.limited else 1)
            faults.write(os.path.join(self.moods, t.name), f"sleep {seconds:.2f}\n".encode())
            t.memory = None
        with open(os.path.join(self.folder, "flow.yaml"), "w", encoding="utf-8") as f:
            f.write(self.graph.yaml(self.log, self.moods, " n $PWD"))

    def play(self):
        if os.environ.get("SOAK_IN_SLURM"):
            self.play_inside()
            return
        bed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cluster/bed_slurm")
        q = subprocess.run(["bash", bed, "2", sys.executable, os.path.abspath(sys.argv[0]), "--seed", self.setting.seed, "--round", str(self.number),
                            "--only", "slurm"], env=dict(os.environ, SOAK_IN_SLURM="1", WEFT=self.weft, BED_CPUS="2"), stdin=subprocess.DEVNULL,
                           capture_output=True, check=False)
        out = q.stdout.decode(errors="replace")
        if q.returncode == 77:
            self.said.append("SKIP " + q.stderr.decode(errors="replace").strip().splitlines()[-1])
            return
        self.said.append("; ".join(line.split("; ", 1)[1] for line in out.splitlines() if " - cluster round " in line) or out[-300:])
        if q.returncode != 0:
            self.wrong(out + q.stderr.decode(errors="replace")[-1500:])

    def cancel_job(self):
        """Also before its agent is ready: others are asked for. Not when the client was killed: then nobody asks."""
        if self.alone:
            return
        jobs = subprocess.run(["squeue", "-h", "-t", "RUNNING", "-o", "%i"], stdout=subprocess.PIPE, check=False).stdout.split()
        if jobs:
            subprocess.run(["scancel", self.rng.choice(sorted(jobs)).decode()], check=False)

    def kill_client(self):
        self.alone = True
        cluster_faults.kill_client(self)

    def look(self):
        """Who was killed before it had asked for the next job has left a run that nobody asks for: that is said, with the remedy, which
        is taken."""
        if not self.alone or self.left or time.monotonic() < self.looked + 1 or "no agent is left, and the command" not in self.message():
            return
        self.looked = time.monotonic()
        if not subprocess.run(["squeue", "-h"], stdout=subprocess.PIPE, check=False).stdout.strip():
            self.left = True
            status, _, err = self.call("cancel", str(self.open_runs()[-1]))
            if status != 0:
                self.wrong(f"cancel ends with {status}: {err}")

    def play_inside(self):
        rng = self.rng
        self.environment.pop("WEFT_KEY")
        if self.limited:
            self.environment["WEFT_SBATCH"] = "--time=1"
        # whose jobs end by their limit needs somebody who asks for others
        among = (SlurmRound.cancel_job,) * 3 + (() if self.limited else (SlurmRound.kill_client,))
        chosen = [rng.choice(among) for _ in range(rng.choice((1, 2, 3)))]
        moment, planned = 0.0, []
        for fault in chosen:
            moment += 1.5 + 4 * rng.random()
            planned.append((moment, fault))
        self.said.append(("--time=1, " if self.limited else "") + ", ".join(f.__name__ for f in chosen))
        self.patience = max(self.patience, 150)  # Slurm looks at limits every half minute
        self.start(["run", "flow.yaml", "-q", "--on", "slurm", "--nodes", "2", "--no-shared"])
        status = self.watch(planned)
        self.said[-1] += f" -> {status}"
        if status is None or self.left:  # killed before it had handed anything in, or asked for the next job
            self.start(["run", "flow.yaml", "-q", "--on", "slurm", "--nodes", "2", "--no-shared"])
            status = self.watch([])
        if status != 0:
            self.wrong(f"exit status {status}: {self.message()[-1500:]}")
        if self.differences():
            self.wrong("exit status 0, but " + "; ".join(self.differences()[:5]))
        begun = {}
        for line in open(self.log, encoding="utf-8", errors="replace"):
            if line.startswith("S "):
                begun[line.split()[1]] = begun.get(line.split()[1], 0) + 1
        self.again = sum(n - 1 for n in begun.values())
        until = time.monotonic() + 180  # agents of a client that was killed give their node back after two minutes
        while subprocess.run(["squeue", "-h"], stdout=subprocess.PIPE, check=False).stdout.strip():
            if time.monotonic() > until:
                self.wrong("jobs are left in Slurm")
            time.sleep(0.5)


class UncollectedRound(Round):
    """An ended run costs nothing but its data: 500 of them silence nobody."""
    kind = f"{MANY} uncollected, "

    def raise_cluster(self):
        super().raise_cluster()
        for i in range(MANY):
            folder = os.path.join(self.outside, "many", str(i))
            os.makedirs(folder)
            with open(os.path.join(folder, "flow.yaml"), "w", encoding="utf-8") as f:
                f.write("weft: 1\ntasks: { t: { run: 'echo %d > {out}', out: o } }\n" % i)
            status, _, err = self.call("submit", os.path.join(folder, "flow.yaml"), "-q", "--no-shared")
            if status != 0:
                self.wrong(f"submit {i} ends with {status}: {err}")
        until = time.monotonic() + self.patience  # agents let go of what has ended after a while
        while any(len(os.listdir(f"/proc/{a.process.pid}/fd")) > 150 for a in self.agents):
            if time.monotonic() > until:
                self.wrong("descriptors: " + ", ".join(f"{a.name} {len(os.listdir(f'/proc/{a.process.pid}/fd'))}" for a in self.agents))
            time.sleep(0.2)
        status, _, err = self.call("status")
        if status != 0:
            self.wrong(f"status ends with {status}: {err}")

    def leave(self):
        """Each hands the results of all those runs over, a few at a time: in the end the last one has them all."""
        self.patience *= 10
        living = [a for a in self.agents if a.lives()]
        for a in living[:-1]:
            if a.leave(self.patience) != 0:
                self.wrong(f"{a.name}, told to leave, does not, or not well: {a.said()[-800:]}")
            self.leaving.append(a)
        top = os.path.join(living[-1].folder, "state", "runs")
        has = sum(os.path.exists(os.path.join(top, run, "files", "o")) for run in os.listdir(top))
        lost = "flush_store" in self.said[0] or "empty_store" in self.said[0] or "kill_agent" in self.said[0] or "damage_cache" in self.said[0]
        if has < MANY and not lost:
            self.wrong(f"{living[-1].name}, the last, has the results of {has} of {MANY} runs")
        self.said.append(f"{has} results with the last")
        super().leave()
