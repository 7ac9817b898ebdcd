"""A random workflow whose every byte is known: what soak_real.py runs under faults, and what should come of it.

Nothing here is weft's: the outputs are computed from the inputs by Python's own hashlib, from the same description from which the YAML
is written. Tasks of several sorts:

    sum     each output is the SHA-256 of "NAME K VERSION" and of all inputs, by sha256sum in a pipeline
    long    the same, repeated to a few hundred kilobytes
    tree    its one output is a folder with two files
    call    each output is an FNV checksum, by a function in the process of weft (functions.c)
    mark    no files at all: it appends its name to a file outside, and runs once

Edges are files, or `after`. Some outputs are temporary, some tasks have retries, a timeout, a memory limit.

Every command first reads a file `mood/NAME` outside of the folder, in which the faults of soak_faults.py stand as shell text: so a task
can misbehave while its command stays the same."""
import hashlib
import os

FNV_START, FNV_PRIME, WORD = 0xcbf29ce484222325, 0x100000001b3, 0xffffffffffffffff
LONG = 4000  # times 65 bytes


def fnv(data):
    """What functions.c computes."""
    h = FNV_START
    for byte in data:
        h = ((h ^ byte) * FNV_PRIME) & WORD
    return h


class Task:
    """One task: names of files in order; `sort` as above."""

    def __init__(self, name, sort):
        self.name, self.sort, self.version = name, sort, 1
        self.inputs, self.outputs, self.after = [], [], []
        self.temporary = False
        self.retries, self.timeout, self.memory, self.cores, self.length = 0, None, None, 1, LONG

    def command(self, log, mood, where):
        """The shell text. `{in}` and `{out}` are weft's; everything with a path is outside of the folder. `where` is told with the name."""
        name = self.name
        head = f"echo S {name}{where} >> {log}; [ ! -e {mood}/{name} ] || . {mood}/{name}; "
        tail = f"echo E {name}{where} >> {log}"
        if self.sort == "mark":
            return head + tail
        files = " ".join(f"cat {i}/one {i}/two;" if i.startswith("d") else f"cat {i};" for i in self.inputs)
        body = ""
        if self.sort == "tree":
            body = "mkdir -p {out}; "
            for part in ("one", "two"):
                body += f"(echo {name} {part} {self.version}; {files}) | sha256sum > {{out}}/{part}; "
            return head + body + tail
        for k in range(len(self.outputs)):
            text = f"(echo {name} {k} {self.version}; {files}) | sha256sum"
            if self.sort == "long":
                body += f"line=$( {text} | cut -c 1-64); seq {self.length} | sed s/.*/$line/ > {{out[{k}]}}; "
            else:
                body += f"{text} > {{out[{k}]}}; "
        return head + body + tail

    def results(self, contents):
        """Contents of the outputs by name; those of folders are mappings. `contents` has the inputs."""
        data = b""
        for i in self.inputs:
            c = contents[i]
            data += b"".join(c[k] for k in sorted(c)) if isinstance(c, dict) else c
        if self.sort == "tree":
            return {self.outputs[0]: {part: sha_line(f"{self.name} {part} {self.version}\n".encode() + data) for part in ("one", "two")}}
        found = {}
        for k, name in enumerate(self.outputs):
            if self.sort == "call":
                found[name] = b"%016x\n" % fnv(f"{self.name} {k}\n".encode() + data)
            elif self.sort == "long":
                found[name] = (sha_line(f"{self.name} {k} {self.version}\n".encode() + data)[:64] + b"\n") * self.length
            else:
                found[name] = sha_line(f"{self.name} {k} {self.version}\n".encode() + data)
        return found


def sha_line(data):
    """As sha256sum prints it for standard input."""
    return hashlib.sha256(data).hexdigest().encode() + b"  -\n"


def content(folder, name):
    """Bytes, a mapping of them for a folder, None when it is not there."""
    path = os.path.join(folder, name)
    if os.path.isdir(path):
        return {n: content(path, n) for n in os.listdir(path)}
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return None


class Graph:
    """Tasks in an order in which they may run, the files they read that nobody makes, and what they must come to."""

    def __init__(self, rng, functions):
        self.rng, self.functions = rng, functions
        self.sources = {f"in{i}": self.random_text() for i in range(rng.randint(2, 6))}
        self.tasks = []
        for n in range(rng.randint(12, 45)):
            self.tasks.append(self.random_task(n))

    def random_text(self):
        return b"".join(b"%d\n" % self.rng.randint(0, 10**9) for _ in range(self.rng.choice((1, 3, 200))))

    def random_task(self, n):
        rng = self.rng
        sorts = ["sum"] * 8 + ["long", "tree", "mark"] + (["call", "call"] if self.functions else [])
        t = Task(f"t{n}", rng.choice(sorts))
        made = [(o, x) for x in self.tasks for o in x.outputs]
        if t.sort == "call":  # functions read files only
            made = [(o, x) for o, x in made if x.sort != "tree"]
        if t.sort != "mark":
            recent = [o for o, _ in made[-12:]]
            pool = recent + list(self.sources)
            t.inputs = rng.sample(pool, min(len(pool), rng.choice((1, 1, 2, 2, 3, 5))))
            count = 1 if t.sort in ("tree", "long") else rng.choice((1, 1, 1, 2, 3))
            t.outputs = [f"{'d' if t.sort == 'tree' else 'o'}{n}_{k}" if rng.random() < 0.7 or t.sort == "tree" else f"out/{n}/{k}" for k in range(count)]
            t.temporary = rng.random() < 0.12
        others = [x.name for x in self.tasks[-8:]]
        if others and (t.sort == "mark" or rng.random() < 0.15):
            t.after = rng.sample(others, min(len(others), rng.choice((1, 1, 2))))
        if rng.random() < 0.3:
            t.retries = rng.choice((1, 2, 3))
        if rng.random() < 0.1 and t.sort != "call":
            t.timeout = "20s"
        if rng.random() < 0.08 and t.sort != "call":
            t.memory = "100M"
        return t

    def yaml(self, log, mood, where=""):
        """The workflow for weft."""
        lines = ["weft: 1", "name: soak", "tasks:"]
        for t in self.tasks:
            lines.append(f"  {t.name}:")
            if t.sort == "call":
                lines.append(f"    call: '{self.functions}:checksum'")
            else:
                lines += ["    run: |", "      " + t.command(log, mood, where)]
            for key, value in (("in", t.inputs), ("out", t.outputs), ("after", t.after)):
                if value:
                    lines.append(f"    {key}: [{', '.join(value)}]")
            for key, value in (("retries", t.retries), ("timeout", t.timeout), ("memory", t.memory)):
                if value:
                    lines.append(f"    {key}: {value}")
            if t.temporary:
                lines.append("    temporary: true")
        return "\n".join(lines) + "\n"

    def expected(self):
        """Every file by name: bytes, or for a folder a mapping of them. Sources included."""
        contents = dict(self.sources)
        for t in self.tasks:
            contents.update(t.results(contents))
        return contents

    def temporaries(self):
        """Outputs that may be gone after a run."""
        return {o for t in self.tasks if t.temporary for o in t.outputs}

    def differences(self, folder, may_miss):
        """Outputs below a folder that are not as the oracle says; those of `may_miss` need not be there."""
        expected, found = self.expected(), []
        for name in (o for t in self.tasks for o in t.outputs):
            got = content(folder, name)
            if got != expected[name] and not (got is None and name in may_miss):
                found.append(f"{name} is {'not there' if got is None else repr(got)[:80]}, expected {repr(expected[name])[:80]}")
        return found

    def producer(self):
        """The task of each output."""
        return {o: t for t in self.tasks for o in t.outputs}
