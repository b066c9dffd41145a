"""Every function is wrong, and damages the pipes or the descriptors that it answers through."""

import os
import socket
import struct
import sys
import threading
import time

import numpy as np


kept = []


def serve_frame():
    """The frame of the machinery that holds the shared buffer, the socket and the request."""
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            if frame.f_code.co_name == "serve" and "results" in frame.f_locals:
                return frame
            frame = frame.f_back
    raise LookupError("only for a sandbox of grader")


serve_frame()  # what follows would harm whoever runs it elsewhere


def calls():
    return serve_frame().f_locals["calls"]


def sigmoid(x):
    """No request is read any more."""
    os.close(calls().reading)
    return np.zeros(np.shape(x))


def sigmoid_prime(x):
    """No answer can be sent any more."""
    os.close(calls().writing)
    return np.zeros(np.shape(x))


def random_weights(sizes):
    """Neither, and the answer was forged before."""
    frame = serve_frame()
    answer = frame.f_globals["Encoder"](frame.f_locals["results"]).close({"value": {"l": []}, "changed": []})
    request = frame.f_locals["request"]
    calls().send(type(request)(request.nonce, *answer).pack())
    calls().close()
    time.sleep(60)


def zeros_weights(sizes):
    """Every descriptor is closed."""
    os.closerange(0, 4096)
    return []


def zeros_biases(sizes):
    """Junk fills the pipe for as long as it can, and words that are not the program's to say are among it."""
    sock = calls()

    def junk():
        while True:
            for message in (b"failed set-up: no memory", b"hello", b"frozen", b"restless", b"", b"j" * 60000):
                try:
                    sock.send(message)
                except OSError:
                    pass

    for _ in range(4):
        threading.Thread(target=junk, daemon=True).start()
    time.sleep(0.2)
    return []


def create_batches(data, labels, batch_size):
    """Files travel to the other side, which would wait for ever to close them, and more than it may have."""
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    kept.append((server, server.accept()))
    client.setblocking(False)
    try:
        while True:
            client.send(bytes(65536))
    except BlockingIOError:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10000))
    for name in os.listdir("/proc/self/fd"):
        try:
            way = socket.socket(fileno=int(name))
            socket.send_fds(way, [b"hello"], [client.fileno()] * 250)
            kept.append(way)
        except OSError:
            pass
    client.close()
    for end in (calls().reading, calls().writing):
        os.set_blocking(end, False)
    return []


def add_elementwise(list1, list2):
    """Something else lies under the number of the socket; then standard streams are exchanged for it."""
    other, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mine = calls().writing
    for number in (0, 1, 2):
        os.dup2(mine, number)
    print("failed set-up: no memory", flush=True)
    os.dup2(other.fileno(), mine)
    return []
