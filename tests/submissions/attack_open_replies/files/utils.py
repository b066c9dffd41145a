"""Every function is wrong, and forges a reply that breaks whoever believes it."""

import json
import struct
import sys
import time

import numpy as np


def serve_frame():
    """The frame of the machinery that holds the shared buffer, the socket and the request."""
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            if frame.f_code.co_name == "serve" and "results" in frame.f_locals:
                return frame
            frame = frame.f_back
    raise LookupError("only for a sandbox of grader")


serve_frame()  # what follows would harm whoever runs it elsewhere


def reply(start, length):
    frame = serve_frame()
    frame.f_locals["calls"].send(frame.f_locals["request"].nonce + struct.pack("<QQ", start, length))
    time.sleep(60)


def document(text, start=0):
    """Write this text where the result is read, and say so."""
    serve_frame().f_locals["results"][start:start + len(text)] = text
    reply(start, len(text))


def sigmoid(x):
    """It lies far outside the buffer."""
    reply(2**64 - 1, 2**64 - 1)


def sigmoid_prime(x):
    """It begins inside and ends outside."""
    reply(len(serve_frame().f_locals["results"]) - 1, 2**40)


def random_weights(sizes):
    """Deeper than a parser goes."""
    document(b'{"value":' + b"[" * 10_000_000)


def zeros_weights(sizes):
    """JSON, of nothing that was asked for."""
    document(b'["value", NaN, Infinity, {"raised": 1}]')


def zeros_biases(sizes):
    """An exception without its fields, with numbers that are too long to read."""
    document(b'{"raised": {"type": {"a": []}, "text": ' + b"9" * 5000 + b', "traceback": null}}')


def create_batches(data, labels, batch_size):
    """A refusal whose names are no list, and too many."""
    document(json.dumps({"refused": "no_function", "names": {"length": 1e308}}).encode())


def add_elementwise(list1, list2):
    """Arrays with shapes, types and places that nothing could have."""
    arrays = [{"a": [2**70, "<f8", [2**40, 2**40]]}, {"a": [-1, "O", [-1]]}, {"p": [0, "<f8", 10**30]}, {"o": 7}]
    document(json.dumps({"value": {"l": arrays}, "changed": [-1, 10**9, "x"]}).encode())
