"""What soak_cluster.py does to a cluster while a run goes on. A fault is a function of the round; its name is what a report shows. It
may put things right by itself or leave that to the end of the run (`round.later`: moments and functions). It says

    round.hurt(agent), round.well(agent)   when an agent lost something, or others may think so: its tasks may run again
    round.excused                          a reason why the run may end otherwise than well; it must say so then

Everything else must end well whatever is done here: kills, stops, cuts, damage and floods are no excuse."""
import os
import signal
import socket
import time

import soak_faults as faults
from soak_bed import LEASE


def some_agent(r, least=1):
    """One that lives, while so many others do."""
    living = [a for a in r.agents if a.lives() and a not in r.leaving]
    return r.rng.choice(living) if len(living) > least else None


# ---- agents ----

def kill_agent(r):
    """And its return: at once, after its lease, or never, and then a fresh one joins."""
    a = some_agent(r)
    if not a:
        return
    fate = r.rng.choice(("soon", "late", "never"))
    a.kill()
    if fate == "never":
        a.gone = True
        r.agents.remove(a)
        r.retired.append(a)
        fresh = r.new_agent()
        r.after_a_while(1.5 * r.rng.random(), fresh.start)
    else:
        r.after_a_while(0.4 * r.rng.random() if fate == "soon" else LEASE * (1.2 + r.rng.random()), a.start)


def stop_agent(r):
    """Past its lease, or not: others take its tasks over, and it must not commit what it still does."""
    a = some_agent(r)
    if a:
        r.hurt(a)
        faults.send(a.process.pid, signal.SIGSTOP)
        process = a.process
        r.after_a_while(r.rng.choice((0.3, LEASE * 1.3, LEASE * 2.5)), lambda: (faults.send(process.pid, signal.SIGCONT), r.well(a)))


def leave_agent(r):
    """SIGTERM: it hands over, and goes; later it is there again."""
    a = some_agent(r)
    if a:
        r.hurt(a)
        faults.send(a.process.pid, signal.SIGTERM)
        r.leaving.append(a)
        r.after_a_while(LEASE * (1 + r.rng.random()), lambda: come_back(r, a))


def end_job(r):
    """As a batch system ends one: SIGTERM to the agent and to all its tasks at once, and SIGKILL to what is left some seconds later. Only
    agents of a batch system (round.allocated) know that; elsewhere who ends a task means the task."""
    a = some_agent(r)
    if a and not r.allocated:
        leave_agent(r)
    elif a:
        r.hurt(a)
        for pid in [a.process.pid] + a.tasks():
            faults.send(pid, signal.SIGTERM)
        r.leaving.append(a)
        r.after_a_while(2 + r.rng.random(), lambda: (a.kill(), come_back(r, a)))


def come_back(r, a):
    if a not in r.leaving:  # another fault has seen to it
        return
    if a.lives():
        r.after_a_while(0.2, lambda: come_back(r, a))
        return
    r.leaving.remove(a)
    a.start()


# ---- links ----

def cut_link(r):
    """Others do not reach an agent, for less or more than its lease. In a shared folder a run may end meanwhile."""
    a = some_agent(r)
    if a:
        r.hurt(a)
        mode = r.rng.choice(("cut", "silent"))
        a.door.cut() if mode == "cut" else setattr(a.door, "mode", mode)
        r.after_a_while(r.rng.choice((0.1, 1.0, LEASE * 2)), lambda: (setattr(a.door, "mode", "open"), r.well(a)))


def cut_from_store(r):
    """The agent does not reach the store; others do."""
    a = some_agent(r)
    if a:
        r.hurt(a)
        mode = r.rng.choice(("cut", "silent"))
        a.way.cut() if mode == "cut" else setattr(a.way, "mode", mode)
        r.after_a_while(r.rng.choice((0.2, LEASE * 1.5, LEASE * 3)), lambda: (setattr(a.way, "mode", "open"), r.well(a)))


def damage_link(r):
    """Bytes flip on the way: the link breaks, and nothing wrong arrives."""
    a = some_agent(r, least=0)
    if a:
        r.hurt(a)
        a.door.flip = r.rng.randint(1, 3)
        r.after_a_while(1.0, lambda: (setattr(a.door, "flip", 0), r.well(a)))


def slow_links(r):
    for a in r.agents:
        a.door.delay = r.rng.random() * 0.03
    r.after_a_while(2.0, lambda: [setattr(a.door, "delay", 0.0) for a in r.agents])


# ---- the store ----

def kill_store(r):
    """It comes back with what it wrote."""
    r.store.kill()
    r.disturb_all()
    r.after_a_while(r.rng.choice((0.05, 0.5, LEASE * 1.5)), lambda: (r.store.start(), r.calm_all()))


def stop_store(r):
    r.disturb_all()
    process = r.store.process
    if process:
        faults.send(process.pid, signal.SIGSTOP)
        r.after_a_while(r.rng.choice((0.5, LEASE * 1.5)), lambda: (faults.send(process.pid, signal.SIGCONT), r.calm_all()))


def slow_store(r):
    """Every answer late, for a while."""
    r.disturb_all()
    relays = [a.way for a in r.agents] + [r.way]
    for relay in relays:
        relay.delay = 0.005 + 0.05 * r.rng.random()
    r.after_a_while(3.0, lambda: ([setattr(relay, "delay", 0.0) for relay in relays], r.calm_all()))


def flush_store(r):
    """All that it knew is gone: whoever follows is told, and the next run is not harmed."""
    r.disturb_all()
    r.excused.append("the store was emptied")
    r.store.ask("FLUSHALL")
    r.calm_all()


def empty_store(r):
    """A restart without its file."""
    r.disturb_all()
    r.excused.append("the store came back empty")
    r.store.kill()
    r.store.forget()
    r.after_a_while(0.5, lambda: (r.store.start(), r.calm_all()))


# ---- the client ----

def kill_client(r):
    """The run goes on; somebody attaches."""
    r.client.kill()
    r.client.wait()
    r.attach_next = True


def stop_client(r):
    process = r.client
    faults.send(process.pid, signal.SIGSTOP)
    r.after_a_while(r.rng.choice((0.3, LEASE * 2)), lambda: faults.send(process.pid, signal.SIGCONT))


def interrupt_client(r):
    """Once: what runs may end. Twice: everything ends."""
    r.excused.append("it was told to stop")
    number = r.rng.choice((signal.SIGTERM, signal.SIGINT))
    for _ in range(r.rng.choice((1, 2))):
        faults.send(r.client.pid, number)
        time.sleep(0.05)


def cut_client(r):
    r.way.cut()
    r.after_a_while(r.rng.choice((0.2, LEASE)), lambda: setattr(r.way, "mode", "open"))


# ---- data ----

def damage_cache(r):
    """A byte of what an agent keeps is another one; or the file is gone, or cut off. While a task reads it, that voids the attempt."""
    if r.shared:
        return
    holders = [a for a in r.agents if a.lives() and a.data_files()]
    if not holders:
        return
    a = r.rng.choice(holders)
    r.hurt(a)
    path = r.rng.choice(a.data_files())
    kind = r.rng.choice(("flip", "flip", "cut off", "gone"))
    try:
        if kind == "gone":
            os.unlink(path)
        elif kind == "cut off":
            os.truncate(path, os.path.getsize(path) // 2)
        else:
            flip_byte(path, r.rng)
    except OSError:  # deleted meanwhile
        pass
    r.damaged = True
    r.tell(f"damaged {a.name} {kind} {path}")


def flip_byte(path, rng):
    os.chmod(path, 0o644)
    with open(path, "r+b") as f:
        size = os.fstat(f.fileno()).st_size
        if size:
            at = rng.randrange(size)
            f.seek(at)
            byte = f.read(1)
            f.seek(at)
            f.write(bytes([byte[0] ^ 1 << rng.randrange(8)]))


def fill_disk(r):
    """Of an agent that has a small one: nothing that runs there can be kept."""
    small = [a for a in r.agents if a.small_disk and a.lives()]
    if not small:
        return
    a = r.rng.choice(small)
    r.hurt(a)
    r.filled = True
    path = os.path.join(a.folder, "ballast")
    try:
        with open(path, "wb", buffering=0) as f:
            while f.write(b"x" * 65536):
                pass
    except OSError:
        pass
    r.after_a_while(r.rng.choice((0.5, 4.0)), lambda: (os.path.exists(path) and os.unlink(path), r.well(a)))


# ---- strangers ----

def flood(r):
    """Sockets that say nothing or nonsense, at an agent's own port."""
    a = some_agent(r, least=0)
    if not a:
        return
    sockets = []
    for _ in range(r.rng.choice((80, 400, 4200))):
        s = socket.socket()
        s.setblocking(False)
        try:
            s.connect_ex(("127.0.0.1", a.port))
            sockets.append(s)
        except OSError:
            break
    time.sleep(0.05)
    for s in sockets[::3]:
        try:
            s.send(r.rng.randbytes(200))
        except OSError:
            pass
    r.after_a_while(1.5, lambda: [s.close() for s in sockets])


# How often each is drawn.
DURING = [kill_agent] * 6 + [stop_agent] * 3 + [leave_agent, end_job] * 2 + [cut_link, cut_from_store] * 3 + [damage_link] * 2 + [slow_links] + \
         [kill_store] * 3 + [stop_store, slow_store] + [kill_client] * 3 + [stop_client, interrupt_client, cut_client] + [damage_cache] * 5 + \
         [flood] * 3 + [fill_disk] * 3 + [flush_store, empty_store]
BY_NAME = {f.__name__: f for f in DURING}
