"""The cluster of one round of soak_cluster.py: a redis-server, agents, and a relay before each of them, through which a fault can cut,
silence, slow or damage what goes to it and nothing else.

    client ──▶ relay ──▶ redis-server ◀── relay ◀── agent a       every agent has a relay of its own to the store,
       └─────▶ relay ──▶ agent a ◀── relay ◀── agent b ...        and one in front of the port that it tells others

All of it is on this machine, in the round's folder, and carries its mark."""
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import soak_faults as faults

LEASE = 2.0


def free_port():
    """Below those that the system gives to whoever connects: it must still be free when its server is started, or started again."""
    while True:
        port = random.SystemRandom().randrange(10000, 20000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Relay:
    """Passes connections on to a port of this machine. Changed from outside at any time: `mode` is "open", "cut" (connections break and
    are refused) or "silent" (nothing moves, nobody is told); `delay` holds up every piece, `late` those of answers; `flip` damages one byte of so many pieces."""

    def __init__(self, target):
        self.target, self.mode, self.delay, self.late, self.flip = target, "open", 0.0, 0.0, 0
        self.ends, self.closed = set(), False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.mode == "cut":
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for s in (client, server):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ends |= {client, server}
            for ends in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source, sink, answers):
        try:
            while data := source.recv(65536):
                while self.mode == "silent" and not self.closed:
                    time.sleep(0.02)
                if self.delay or (answers and self.late):
                    time.sleep(self.delay + (self.late if answers else 0))
                if self.flip and len(data) > 200:
                    self.flip -= 1
                    at = len(data) // 2
                    data = data[:at] + bytes([data[at] ^ 4]) + data[at + 1:]
                sink.sendall(data)
        except OSError:
            pass
        self.end({source, sink})

    def end(self, ends):
        for s in ends:
            self.ends.discard(s)
            for step in (lambda s=s: s.shutdown(socket.SHUT_RDWR), s.close):
                try:
                    step()
                except OSError:
                    pass

    def cut(self):
        self.mode = "cut"
        self.end(set(self.ends))

    def close(self):
        self.closed = True
        self.end({self.listener})
        self.cut()


class Store:
    """A redis-server that answers only for what is on its disk, so that a kill loses nothing."""

    def __init__(self, round_):
        self.folder, self.environment = os.path.join(round_.outside, "store"), round_.environment
        os.makedirs(self.folder)
        self.port, self.process = free_port(), None

    def start(self):
        with open(self.folder + ".log", "ab") as log:
            self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                                             "--appendonly", "yes", "--appendfsync", "always"], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.environment)
        for _ in range(1000):
            if self.ask("PING").startswith(b"+PONG"):
                return
            time.sleep(0.02)
        raise RuntimeError("redis-server does not start")

    def ask(self, *words):
        """One command, by hand; what came first of the answer."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as s:
                s.sendall(b"".join([b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words]))
                return s.recv(4096)
        except OSError:
            return b""

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def forget(self):
        shutil.rmtree(self.folder)
        os.makedirs(self.folder)


class Agent:
    """One agent with its folder and its two relays; started and killed as often as one likes."""

    def __init__(self, round_, name, small_disk=False):
        self.round, self.name = round_, name
        self.folder = os.path.join(round_.outside, name)
        os.makedirs(self.folder)
        self.small_disk = small_disk and mount_small(self.folder)
        self.port = free_port()
        self.door, self.way = Relay(self.port), Relay(round_.store.port)
        self.log, self.process, self.gone = self.folder + ".log", None, False

    def start(self):
        """Again in its folder, if it has one. Others find it when it is ready."""
        r = self.round
        environment = dict(r.environment, SOAK_AGENT=self.name, WEFT_STORE=f"redis://127.0.0.1:{self.way.port}", WEFT_AGENT_TRACE="1")
        if r.allocated:
            environment["SLURM_JOB_ID"] = "1"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [r.weft, "agent", "--bind", f"127.0.0.1:{self.port}", "--tell", f"127.0.0.1:{self.door.port}", "--state",
                 os.path.join(self.folder, "state"), "-j", "2", "--lease", str(LEASE)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        r.tell(f"well {self.name}")

    def is_ready(self):
        return "ready at" in self.said()

    def said(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def lives(self):
        return self.process is not None and self.process.poll() is None

    def tasks(self):
        """Processes of its tasks, by the name in their environment."""
        return [pid for pid in faults.owned(f"SOAK_AGENT={self.name}", but=(self.process.pid,)) if faults.in_round(pid, self.round.mark)]

    def kill(self):
        self.round.tell(f"hurt {self.name}")
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def data_files(self):
        """What it keeps of runs, as paths."""
        top = os.path.join(self.folder, "state", "runs")
        return sorted(os.path.join(where, n) for where, _, names in os.walk(top) if f"{os.sep}files" in where for n in names)

    def leave(self, patience):
        """Told to go: its status, or None when it does not."""
        faults.send(self.process.pid, signal.SIGCONT)
        faults.send(self.process.pid, signal.SIGTERM)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def close(self):
        self.door.close()
        self.way.close()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.small_disk:
            subprocess.run(["umount", "-l", self.folder], check=False)


def mount_small(folder):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], stderr=subprocess.DEVNULL, check=False).returncode == 0


def stacks(pids):
    """Where they are, for a hang: by gdb where it is, else what the kernel says."""
    seen = []
    for pid in pids:
        if shutil.which("gdb"):
            try:
                got = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all bt 25"], stdin=subprocess.DEVNULL,
                                     capture_output=True, timeout=60, check=False).stdout.decode(errors="replace")
                seen += [f"{pid}: {line}" for line in got.splitlines() if line.startswith(("#", "Thread"))]
                continue
            except subprocess.TimeoutExpired:
                pass
        for name in ("wchan", "stack", "status"):
            try:
                with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as f:
                    seen.append(f"{pid} {name}: " + " ".join(f.read().split())[:300])
            except OSError:
                pass
    return seen
