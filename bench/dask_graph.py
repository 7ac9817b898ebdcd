"""What dask_peer.py and dask_metg.py share: two workers of one thread, and a graph handed over to them."""
import logging
import sys
import time

import dask
from distributed import Client, LocalCluster, wait


def cluster():
    """All processes of their own, on loopback."""
    dask.config.set({"distributed.admin.log-length": 0, "distributed.diagnostics.nvml": False})
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL)


def connect(at):
    client = Client(at)
    client.wait_for_workers(2, timeout=60)  # else it would wait for ever
    return client


def read_graph(path):
    """One line a task, the numbers of its parents."""
    with open(path) as lines:
        return [[int(word) for word in line.split()] for line in lines]


def run(client, graph, call, name):
    """Seconds, and the futures of the tasks that nobody reads. call(t): the function of task t and its first arguments; the results of its
    parents follow."""
    def key(number):
        return "%s-%d" % (name, number)

    tasks = {key(t): (*call(t), *[key(p) for p in parents]) for t, parents in enumerate(graph)}
    read = {p for parents in graph for p in parents}
    last = [key(t) for t in range(len(graph)) if t not in read]
    start = time.monotonic()
    futures = client.get(tasks, last, sync=False)
    wait(futures)
    seconds = time.monotonic() - start
    bad = [f for f in futures if f.status != "finished"]
    if bad:
        sys.exit("%s: a task ended as %s" % (sys.argv[0], bad[0].status))
    return seconds, futures
