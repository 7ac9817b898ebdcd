#!/usr/bin/env python3
"""What `weft predict` must say, worked out from the samples by definition. predict_oracle.py SEED
writes trace.txt (a log of Nextflow's), its inputs and flow.yaml; with a file of `weft predict --json`
beside it, compares: predict_oracle.py SEED JSON RISK [SPEED]."""
import json, math, random, sys

def draw(seed):
    """Samples of three kinds: grows with bytes, does not, has one; and times of 0, wild ones."""
    r = random.Random(seed)
    kinds = {"grow": [], "flat": [], "once": [], "few": []}
    for i in range(r.randrange(6, 60)):
        read = int(math.exp(r.uniform(7, 16)))
        took = max(1, int(1000 * 1e-6 * read * math.exp(r.gauss(0, 0.2))))
        if r.random() < 0.1:
            took = r.choice([1, took * 50])
        kinds["grow"].append((read, took, 50, read * 3, read // 2))
    for i in range(r.randrange(6, 60)):
        kinds["flat"].append((1000, int(math.exp(r.uniform(5, 8))), r.randrange(1, 200), r.choice([0, 4096 * r.randrange(1, 999)]), r.randrange(5000)))
    kinds["once"].append((5, 700, 100, 8192, 0))
    for i in range(3):
        kinds["few"].append((100, r.randrange(1, 5000), 80, 4096, 10))
    return kinds

def median(v):
    v = sorted(v)
    n = len(v)
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2

def line(x, y, out):
    """Theil and Sen without sample `out`; None where fewer than three pairs differ."""
    left = [i for i in range(len(x)) if i != out]
    slopes = [(y[b] - y[a]) / (x[b] - x[a]) for a in left for b in left if x[b] - x[a] >= 0.01]
    if len(slopes) < 3:
        return None
    slope = min(3, max(0, median(slopes)))
    return slope, median([y[i] - slope * x[i] for i in left])

def quantile(residuals, p):
    v = sorted(residuals)
    n = len(v)
    rank = math.ceil(p * (n + 1) - 1e-9) if p > 0.5 else math.floor(p * (n + 1) + 1e-9)
    value = v[min(max(rank, 1), n) - 1]
    return max(0, value) if p > 0.5 else min(0, value) if p < 0.5 else 0

class Fit:
    def __init__(self, x, y):
        n = len(x)
        self.few = n < 5
        self.slope, self.base = 0, median(y)
        self.least, self.most, self.middle = min(x), max(x), median(x)
        if self.few:
            self.low = min(y) - self.base - math.log(2)
            self.high = max(y) - self.base + math.log(2)
            return
        flat = [y[i] - median([y[k] for k in range(n) if k != i]) for i in range(n)]
        self.residuals = flat
        whole = line(x, y, None)
        if whole and whole[0] > 0:
            tilted = []
            for i in range(n):
                s, a = line(x, y, i)
                tilted.append(y[i] - s * x[i] - a)
            score = lambda v: sum(min(abs(e), 2.3026) for e in v) / n
            if score(tilted) < 0.9 * score(flat):
                self.slope, self.base = whole
                self.residuals = tilted
    def at(self, x, p):
        x = self.middle if x is None else min(max(x, self.least - 2.3026), self.most + 2.3026)
        y = self.base + self.slope * x
        if not self.few:
            return y + quantile(self.residuals, p)
        return y + (self.high if p > 0.5 else -self.low) * (p - 0.5) / 0.45

def main():
    seed = int(sys.argv[1])
    kinds = draw(seed)
    sizes = {"grow": 123456, "flat": 1000, "once": 5, "few": 100}
    if len(sys.argv) == 2:
        with open("trace.txt", "w") as f:
            f.write("name\tprocess\tstatus\tstart\trealtime\t%cpu\tpeak_rss\trchar\twchar\n")
            for kind, rows in kinds.items():
                for i, (read, took, cpu, rss, wrote) in enumerate(rows):
                    f.write(f"{kind} ({i})\t{kind}\tCOMPLETED\t{1762768800000 + i}\t{took}\t{cpu}%\t{rss}\t{read}\t{wrote}\n")
        with open("flow.yaml", "w") as f:
            f.write("weft: 1\nname: other\ntasks:\n")
            for kind, size in sizes.items():
                open(kind + ".in", "wb").truncate(size)
                f.write(f"  {kind}_1: {{ run: 'python3 {kind}.py', in: {kind}.in }}\n")
            f.write("  never_1: { run: 'python3 never.py' }\n")
        return
    said = {t["task"]: t for t in json.load(open(sys.argv[2]))["tasks"]}
    risk = float(sys.argv[3])
    bad = 0
    def same(kind, what, mine):
        nonlocal bad
        theirs = said[kind + "_1"][what]
        # bytes are whole
        good = theirs is None if mine is None else theirs is not None and abs(theirs - mine) <= 1e-6 * abs(mine) + (0.51 if what in ("written", "disk") else 0)
        if not good:
            bad += 1
            print(f"# seed {seed}: {what} of {kind}: {theirs}, expected {mine}")
    for kind, rows in kinds.items():
        x = [math.log1p(r[0]) for r in rows]
        at = math.log1p(sizes[kind])
        time = Fit(x, [math.log(r[1] / 1000) for r in rows])
        for what, p in (("seconds", 0.5), ("low", 0.05), ("high", 0.95), ("at_risk", risk)):
            same(kind, what, math.exp(time.at(at, p)))
        measured = [(a, r) for a, r in zip(x, rows) if r[3] > 0]
        same(kind, "memory", math.exp(Fit([a for a, _ in measured], [math.log(r[3]) for _, r in measured]).at(at, 0.95)) if measured else None)
        wrote = Fit(x, [math.log1p(r[4]) for r in rows])
        same(kind, "written", math.expm1(wrote.at(at, 0.5)))
        same(kind, "disk", math.expm1(wrote.at(at, 0.95)))
        same(kind, "busy", math.exp(Fit([0] * len(rows), [math.log(round(r[2] / 100 * r[1] / 1000, 6) / (r[1] / 1000)) for r in rows]).at(None, 0.5)))
        same(kind, "read", sizes[kind])
    for what in ("seconds", "low", "high", "at_risk", "memory", "written", "disk", "busy", "transfer"):
        same("never", what, None)
    sys.exit(bad > 0)

main()
