#!/usr/bin/env python3
"""Somebody in the network between a cluster's machines, without the key: relay.py LISTEN-HOST LISTEN-PORT FILE passes every connection on
to the port of 127.0.0.1 that FILE names when it comes in."""
import socket
import sys
import threading


def pass_on(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen(64)
print("listening", flush=True)
while True:
    client, _ = listener.accept()
    with open(sys.argv[3]) as f:
        port = int(f.read())
    try:
        server = socket.create_connection(("127.0.0.1", port), timeout=10)
    except OSError:
        client.close()
        continue
    for ends in ((client, server), (server, client)):
        threading.Thread(target=pass_on, args=ends, daemon=True).start()
