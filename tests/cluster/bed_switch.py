"""The network of tests/cluster/bed_netns where the kernel has no netem: a switch in user space.

    bed_switch.py READY NODES

Makes a tun device `eth0` in each namespace nodeI (and `weft0` here), and carries packets between them by the last byte of
their address, each BED_DELAY after it was sent, BED_LOSS of them never, each node no faster than BED_RATE. Writes the file
READY when it carries. A node I is cut off while a file cut-I stands beside READY. Carries about 100 MB a second.
"""
import collections, ctypes, fcntl, os, random, re, select, struct, sys, time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def quantity(name, units):
    """A setting like 10ms, 1% or 100mbit, in the unit of the table; None when it is not set."""
    text = os.environ.get(name, "")
    if not text:
        return None
    found = re.fullmatch(r"([0-9.]+)([a-z%]*)", text)
    if not found or found[2] not in units:
        sys.exit(f"bed_switch: {name}={text}: expected a number and one of {' '.join(u for u in units if u)}")
    return float(found[1]) * units[found[2]]


def enter(path):
    with open(path) as space:
        if libc.setns(space.fileno(), CLONE_NEWNET) != 0:
            sys.exit(f"bed_switch: {path}: {os.strerror(ctypes.get_errno())}")


def device(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def main():
    ready, nodes = sys.argv[1], int(sys.argv[2])
    delay = quantity("BED_DELAY", {"us": 1e-6, "ms": 1e-3, "s": 1, "": 1e-6}) or 0
    loss = quantity("BED_LOSS", {"%": 0.01, "": 0.01}) or 0
    rate = quantity("BED_RATE", {"kbit": 125, "mbit": 125e3, "gbit": 125e6, "bit": 0.125})
    ports = {254: device("weft0")}
    for i in range(1, nodes + 1):
        enter(f"/run/netns/node{i}")
        ports[i] = device("eth0")
    enter("/proc/1/ns/net")
    poll = select.poll()
    for fd in ports.values():
        poll.register(fd, select.POLLIN)
    source = {fd: i for i, fd in ports.items()}
    dice = random.Random(1)
    free = dict.fromkeys(ports, 0.0)  # when a node has sent what it sent
    waiting = {i: collections.deque() for i in ports}  # of each sender, in the order of their times
    open(ready, "w").close()
    cut, looked = set(), 0.0
    while True:
        now = time.monotonic()
        if now > looked + 0.02:
            looked = now
            names = os.listdir(os.path.dirname(ready))
            cut = {int(name[4:]) for name in names if name.startswith("cut-")}
        first = min((q[0][0] for q in waiting.values() if q), default=None)
        # poll() counts milliseconds, and half of one late is too late for a short delay: sleep the rest
        timeout = None if first is None else max(0.0, first - now)
        for fd, events in poll.poll(None if timeout is None else int(timeout * 1000)):
            if not events & select.POLLIN:
                continue
            sender = source[fd]
            for _ in range(64):
                try:
                    packet = os.read(fd, 65536)
                except OSError:
                    break  # nothing more
                to = packet[19] if len(packet) >= 20 and packet[0] >> 4 == 4 else 0
                if to not in ports or sender in cut or to in cut or (sender != 254 and dice.random() < loss):
                    continue
                at = time.monotonic()
                if sender != 254:
                    if rate:
                        free[sender] = at = max(at, free[sender]) + len(packet) / rate
                    at += delay
                waiting[sender].append((at, ports[to], packet))
        now = time.monotonic()
        for queue in waiting.values():
            while queue and queue[0][0] <= now:
                _, fd, packet = queue.popleft()
                try:
                    os.write(fd, packet)
                except OSError:
                    pass  # too slow, or not up: lost
        rest = 0 if first is None else first - time.monotonic()
        if 0 < rest < 0.001:
            time.sleep(rest)


main()
