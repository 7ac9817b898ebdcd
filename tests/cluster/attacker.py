#!/usr/bin/env python3
"""Somebody who can write to the cluster's Redis and has not its key. Knows the layout of docs/store.md and nothing of weft's code.

    attacker.py PORT save FILE                        every key of the server, as it is now
    attacker.py PORT load FILE [FROM TO [PATTERN]]    put them back, those with PATTERN in their name, FROM replaced by TO in names
    attacker.py PORT field FILE KEY FROM TO           one field of a hash as it was then, under another name
    attacker.py PORT state KEY RUN BYTE               the first byte of a run's record: its state
    attacker.py PORT swap KEY KEY                     two keys change places
    attacker.py PORT done KEY TASK [STATUS]           a task's record: its status (3: done)
    attacker.py PORT undo FILE KEY TASK               a task's record as it was then
    attacker.py PORT count KEY DONE FAILED REMOVED    how many tasks have ended
    attacker.py PORT edges KEY N                      N edges: all parents of everybody are done, on node 0
    attacker.py PORT do WORD...                       a command of Redis
"""
import pickle
import socket
import struct
import sys


class Redis:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")

    def __call__(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.answer()

    def answer(self):
        line = self.file.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise SystemExit("attacker: " + rest.decode())
        if kind == b"$":
            n = int(rest)
            return None if n < 0 else self.file.read(n + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest


def save(redis, path):
    with open(path, "wb") as f:
        pickle.dump({key: redis("DUMP", key) for key in redis("KEYS", "*")}, f)


def load(redis, path, old="", new="", pattern=""):
    with open(path, "rb") as f:
        for key, dump in pickle.load(f).items():
            if pattern.encode() in key:
                redis("RESTORE", key.replace(old.encode(), new.encode()) if old else key, 0, dump, "REPLACE")


def field(redis, path, key, old, new):
    with open(path, "rb") as f:
        dump = pickle.load(f)[key.encode()]
    redis("RESTORE", "attacker.scratch", 0, dump, "REPLACE")
    redis("HSET", key, new, redis("HGET", "attacker.scratch", old))
    redis("DEL", "attacker.scratch")


def state(redis, key, run, byte):
    redis("HSET", key, run, bytes([int(byte)]) + redis("HGET", key, run)[1:])


def swap(redis, one, other):
    redis("RENAME", one, "attacker.scratch")
    redis("RENAME", other, one)
    redis("RENAME", "attacker.scratch", other)


def record_size(redis, key):
    """Records are all alike: their size divides the whole; 48 before there were proofs."""
    return 64 if redis("STRLEN", key) % 64 == 0 else 48


def done(redis, key, task, status=3):
    size = record_size(redis, key)
    redis("SETRANGE", key, int(task) * size, bytes([int(status)]))
    redis("SETRANGE", key, int(task) * size + 24, struct.pack("<dd", 0.1, 0.2))


def undo(redis, path, key, task):
    with open(path, "rb") as f:
        dump = pickle.load(f)[key.encode()]
    redis("RESTORE", "attacker.scratch", 0, dump, "REPLACE")
    size = record_size(redis, key)
    at = int(task) * size
    redis("SETRANGE", key, at, redis("GETRANGE", "attacker.scratch", at, at + size - 1))
    redis("DEL", "attacker.scratch")


def count(redis, key, *numbers):
    redis("SET", key, struct.pack("<IIIII", *map(int, numbers), 0, 0))


def edges(redis, key, n):
    each = redis("STRLEN", key) // int(n)
    redis("SET", key, (b"\0\0\0\1" + b"\7" * (each - 4)) * int(n))


def do(redis, *words):
    print(redis(*words))


if __name__ == "__main__":
    globals()[sys.argv[2]](Redis(int(sys.argv[1])), *sys.argv[3:])
