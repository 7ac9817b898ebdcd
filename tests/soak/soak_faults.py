"""What soak_real.py does to a run: before it starts, while it goes on, and between two of them.

A fault is a function that takes the round and, while a run goes on, its process; its name is what a report shows. Each says by what it
returns or marks how much may still be expected:

    round.mutated     files that weft knows were changed behind its back in this run: exit 0 may come with other results than those of the
                      files as they are now, but then a look (-n) must say so
    round.unrecorded  results may be lost (no space, no memory, killed): what ended may run again"""
import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import time


def owned(mark, but=()):
    """Processes that carry the round's mark in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and int(entry) not in but:
            try:
                with open(f"/proc/{entry}/environ", "rb") as f:
                    environment = f.read()
                with open(f"/proc/{entry}/stat", "rb") as f:
                    state = f.read().rsplit(b")", 1)[1].split()[0]
            except OSError:
                continue
            if mark.encode() in environment.split(b"\0") and state != b"Z":
                found.append(int(entry))
    return found


def in_round(pid, mark):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return mark.encode() in f.read().split(b"\0")
    except OSError:
        return False


def to_weft(r, p, number):
    """Before it has its handlers, it may die of it."""
    r.sent.add(number)
    send(p.pid, number)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def write(path, data):
    """In place, not by a rename."""
    with open(path, "wb") as f:
        f.write(data)


# ---- while it runs: called once, at a random moment ----

def kill_weft(r, p):
    r.killed = r.unrecorded = True
    to_weft(r, p, signal.SIGKILL)


def one_signal(number):
    def stop(r, p):
        r.stops += 1
        to_weft(r, p, number)
    stop.__name__ = f"{signal.Signals(number).name}"
    return stop


def two_signals(r, p):
    number = r.rng.choice((signal.SIGTERM, signal.SIGINT))
    r.unrecorded = True
    r.stops += 2
    to_weft(r, p, number)
    time.sleep(r.rng.random() * 0.05)
    to_weft(r, p, number)


def stop_and_continue(r, p):
    to_weft(r, p, signal.SIGSTOP)
    time.sleep(r.rng.random() * 0.3)
    to_weft(r, p, signal.SIGCONT)


def broken_pipe(r, p):
    to_weft(r, p, signal.SIGPIPE)


def kill_task(r, p):
    r.tasks_killed = True
    tasks = owned(r.mark, but=(p.pid,))
    if tasks:
        send(r.rng.choice(tasks), r.rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)))


def edit_input(r, p):
    """For good; in place or by a rename."""
    r.mutated = True
    name = r.rng.choice(sorted(r.graph.sources))
    text = r.graph.random_text()
    if r.rng.random() < 0.5:
        r.try_write(name, text)
    else:
        r.try_write(name + ".new", text)
        os.replace(r.path(name + ".new"), r.path(name))
    r.graph.sources[name] = text


def edit_and_put_back(r, p):
    """With the old time, so that size and time are as before."""
    r.mutated = True
    name = r.rng.choice(sorted(r.graph.sources))
    old = os.stat(r.path(name))
    text = r.graph.sources[name]
    r.try_write(name, bytes(reversed(text)))
    time.sleep(r.rng.random() * 0.08)
    r.try_write(name, text)
    os.utime(r.path(name), ns=(old.st_atime_ns, old.st_mtime_ns))


def touch_input(r, p):
    os.utime(r.path(r.rng.choice(sorted(r.graph.sources))))


def lose_input(r, p):
    """And put it back in the end."""
    r.mutated = True
    name = r.rng.choice(sorted(r.graph.sources))
    os.unlink(r.path(name))
    r.later.append(lambda: write(r.path(name), r.graph.sources[name]))


def damage_output(r, p):
    r.mutated = True
    made = [o for o in r.expected_names() if os.path.isfile(r.path(o))]
    if made:
        path = r.path(r.rng.choice(made))
        if r.rng.random() < 0.4:
            os.unlink(path)
        else:
            r.try_write(os.path.relpath(path, r.folder), b"damaged\n")


def fill_disk(r, p):
    """Every block, or every inode; freed after a while or when the run is over."""
    r.unrecorded = r.starved = True
    if r.rng.random() < 0.5:
        try:
            with open(r.path("ballast"), "wb", buffering=0) as f:
                while f.write(b"x" * 65536):
                    pass
        except OSError:
            pass
    else:
        os.makedirs(r.path("ballasts"), exist_ok=True)
        try:
            for i in range(100000):
                open(r.path(f"ballasts/{i}"), "xb").close()
        except OSError:
            pass
    if r.rng.random() < 0.5:
        time.sleep(r.rng.random() * 0.3)
        r.free_disk()


def lose_state(r, p):
    r.mutated = r.unrecorded = True
    shutil.rmtree(r.path(".weft"), ignore_errors=True)


def second_weft(r, p):
    """In the same folder: refused or waiting, never both at work. Its results count as well."""
    q = subprocess.run([r.weft, "run", r.path("flow.yaml"), "-q"], env=r.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=r.patience, check=False)
    if q.returncode not in (0, 1, 2):
        r.wrong(f"a second weft ended with {q.returncode}: {q.stdout[-300:]!r}")


DURING = [kill_weft] * 6 + [two_signals] * 2 + [stop_and_continue, broken_pipe, touch_input, second_weft] + [kill_task] * 3 + \
         [one_signal(s) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] + [edit_input, edit_and_put_back] * 2 + \
         [lose_input, damage_output, lose_state]


# ---- how it starts: keywords for subprocess.Popen ----

def closed(*which):
    def start(r):
        r.deaf = r.deaf or 1 in which or 2 in which
        return {"close": which}
    start.__name__ = "closed " + " ".join(map(str, which))
    return start


def full(which):
    def start(r):
        r.deaf = r.full = True
        return {which: open("/dev/full", "wb")}
    start.__name__ = f"{which} to /dev/full"
    return start


def no_reader(r):
    """A pipe that nobody reads: weft ends as others do, but when it is done."""
    r.deaf = True
    r.sent.add(signal.SIGPIPE)
    a, b = os.pipe()
    os.close(a)
    return {"stdout": os.fdopen(b, "wb")}


def limit(name, low, high):
    def start(r):
        r.unrecorded = r.starved = True
        value = int(low * (high / low) ** r.rng.random())
        return {"limits": [(getattr(resource, name), value)]}
    start.__name__ = name
    return start


STARTS = [closed(0), closed(1), closed(2), closed(0, 1, 2), full("stdout"), full("stderr"), no_reader, limit("RLIMIT_NOFILE", 6, 80),
          limit("RLIMIT_NOFILE", 20, 60), limit("RLIMIT_AS", 60 << 20, 1 << 30), limit("RLIMIT_FSIZE", 1000, 2000000)]
if os.getuid() != 0:
    STARTS += [limit("RLIMIT_NPROC", 5, 200)]


def few_processes(r):
    """A control group with room for a few processes, for a second; None where none may be made."""
    group = f"/sys/fs/cgroup/{'pids/' if os.path.isdir('/sys/fs/cgroup/pids') else ''}weft-soak-{os.getpid()}"
    try:
        os.makedirs(group, exist_ok=True)
        write(f"{group}/pids.max", b"%d" % r.rng.randint(2, 12))
    except OSError:
        return None
    r.unrecorded = r.starved = True
    return {"group": group}


# ---- tasks that misbehave: shell text, before the task's own ----

def mood(r, task):
    """For a task of the round; what may be expected is marked."""
    name, rng = task.name, r.rng
    kind = rng.choice(("fail", "crash", "killed", "slow", "slow", "stray", "undeclared", "daemon", "scribble", "overwrite", "hog", "hang", "loud"))
    first = "[ $WEFT_ATTEMPT -gt 1 ] || "
    if kind == "fail":
        return kind, rng.choice((first, "")) + f"exit {rng.randint(1, 255)}"
    if kind == "crash":
        return kind, rng.choice((first, "")) + "kill -SEGV $$"
    if kind == "killed":
        return kind, rng.choice((first, "")) + "kill -9 $$"
    if kind == "slow":
        return kind, f"sleep {rng.random() * 0.3:.3f}"
    if kind == "stray":
        return kind, f"echo stray > $WEFT_FOLDER/stray-{name}"
    if kind == "undeclared":
        return kind, "echo undeclared > undeclared.txt"
    if kind == "daemon":
        return kind, "setsid sleep 50 & (setsid sh -c 'sleep 50; true' &)"
    if kind == "scribble" and task.inputs:
        r.mutated = r.scribbled = True
        i = rng.choice(task.inputs)
        return kind, f"[ -d {i} ] || echo scribble >> {i}"
    if kind == "overwrite":
        r.mutated = True
        others = [o for t in r.graph.tasks if t is not task and t.sort != "tree" for o in t.outputs]
        if others:
            return kind, f"echo overwritten > $WEFT_FOLDER/{rng.choice(others)}"
    if kind == "hog" and task.memory and task.retries:
        return kind, first + "head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null"
    if kind == "hang" and task.timeout and task.retries:
        return kind, first + "sleep 50"
    if kind == "loud":
        return kind, "seq 20000; seq 20000 >&2"
    return "slow", "sleep 0.02"


# ---- between two runs ----

def change_command(r):
    task = r.rng.choice([t for t in r.graph.tasks if t.sort not in ("call", "mark")])
    task.version += 1
    r.write_flow()


def tear_memo(r):
    """As a write that was cut off leaves it."""
    if os.path.exists(r.path(".weft/memo")):
        with open(r.path(".weft/memo"), "ab") as f:
            f.write(random.Random(r.rng.random()).randbytes(r.rng.randint(1, 60)))


def lose_memo(r):
    r.forget = True
    if os.path.exists(r.path(".weft/memo")):
        os.unlink(r.path(".weft/memo"))


def clean(r):
    subprocess.run([r.weft, "clean", r.path("flow.yaml")], env=r.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=r.patience, check=False)


def between_damage(r):
    damage_output(r, None)


def between_edit(r):
    edit_input(r, None)


BETWEEN = [change_command, tear_memo, lose_memo, clean, between_damage, between_edit]


def no_space(error):
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
