"""A result that kernels make follows the inputs that they were given, and that of a host its own."""

from __future__ import annotations

import pytest

PROVE = """
from _grader_subject.standins.simulator.player import SimulatorPlayer

source = SimulatorPlayer()
source.install()

def call(function, inputs, doing):
    source.begin()
    source.exchange.begin(lambda number: doing, inputs)
    value = np.asarray(function(*(one.copy() for one in inputs)))
    source.exchange.end(value)
    return value, source.exchange.shown()

def prove(function, oracle, draw):
    noted, plain, own = draw(), draw(), draw()
    first, _ = call(function, noted, "note")
    second, _ = call(function, plain, "")
    third, shown = call(function, own, "exchange")
    assert np.array_equal(first, oracle(*noted)), "the first result is wrong"
    assert np.array_equal(second, oracle(*plain)), "the second result is wrong"
    return {
        "device": bool(np.array_equal(third, oracle(*noted))),
        "host": bool(np.array_equal(third, oracle(*own))),
        **shown,
    }

rng = np.random.default_rng(3)
def draw():
    return tuple(rng.integers(0, 256, size=(6, 6)) for _ in range(2))

@cuda.jit
def max_kernel(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]

@cuda.jit
def flag_kernel(A, B, C):
    if cuda.threadIdx.x == 0:
        C[0] = 1

@cuda.jit
def copy_kernel(source, target):
    i, j = cuda.grid(2)
    if i < 6 and j < 6:
        target[i, j] = source[i, j]

@cuda.jit
def add_one(C):
    i, j = cuda.grid(2)
    if i < 6 and j < 6:
        C[i, j] += 1

kept = {}
GRID = (1, 1), (8, 8)
"""

PROVEN = {
    "plain": """
        C = cuda.device_array_like(A)
        max_kernel[GRID](cuda.to_device(A), cuda.to_device(B), C)
        return C.copy_to_host()
    """,
    "arrays of the host": """
        C = np.zeros_like(A)
        max_kernel[GRID](A, B, C)
        return C
    """,
    "hints": """
        C = np.zeros_like(A)
        max_kernel[GRID](cuda.In(A), cuda.In(B), cuda.Out(C))
        return C
    """,
    "kept arrays": """
        for name, value in (("A", A), ("B", B)):
            kept.setdefault(name, cuda.device_array_like(value)).copy_to_device(value)
        C = kept.setdefault("C", cuda.device_array_like(A))
        max_kernel[GRID](kept["A"], kept["B"], C)
        return C.copy_to_host()
    """,
    "bytes": """
        C = cuda.device_array(A.shape, np.uint8)
        max_kernel[GRID](cuda.to_device(A.astype(np.uint8)), cuda.to_device(B.astype(np.uint8)), C)
        return C.copy_to_host().astype(np.int64)
    """,
    "padded": """
        def padded(one):
            wide = np.zeros((8, 8), one.dtype)
            wide[:6, :6] = one
            return cuda.to_device(wide)
        C = padded(np.zeros_like(A))
        max_kernel[GRID](padded(A), padded(B), C)
        return C.copy_to_host()[:6, :6]
    """,
    "transposed": """
        C = cuda.to_device(np.ascontiguousarray(np.zeros_like(A)))
        max_kernel[GRID](cuda.to_device(A.T.copy()), cuda.to_device(B.T.copy()), C)
        return C.copy_to_host().T
    """,
    "in place": """
        first = cuda.to_device(A)
        max_kernel[GRID](first, cuda.to_device(B), first)
        return first.copy_to_host()
    """,
    "halves": """
        C = np.zeros_like(A)
        for rows in (slice(0, 3), slice(3, 6)):
            part = cuda.device_array((3, 6), A.dtype)
            max_kernel[GRID](cuda.to_device(A[rows]), cuda.to_device(B[rows]), part)
            C[rows] = part.copy_to_host()
        return C
    """,
}
"""Programs that do the work in kernels."""

CHEATS = {
    "a flag": """
        C = cuda.to_device(np.zeros(1))
        flag_kernel[GRID](cuda.to_device(A), cuda.to_device(B), C)
        return np.maximum(A, B) if C.copy_to_host()[0] == 1 else A * 0
    """,
    "the inputs come back": """
        a, b, C = cuda.to_device(A), cuda.to_device(B), cuda.to_device(np.zeros(1))
        flag_kernel[GRID](a, b, C)
        return np.maximum(a.copy_to_host(), b.copy_to_host()) if C.copy_to_host()[0] else A
    """,
    "the answer goes up and one is added": """
        C = cuda.to_device(np.maximum(A, B) - 1)
        add_one[GRID](C)
        return C.copy_to_host()
    """,
    "the answer is copied": """
        C = cuda.device_array_like(A)
        copy_kernel[GRID](cuda.to_device(np.maximum(A, B)), C)
        return C.copy_to_host()
    """,
    "the answer is hidden behind the inputs": """
        wide = cuda.to_device(np.stack([A, B, np.maximum(A, B)]))
        C = cuda.device_array_like(A)
        copy_kernel[GRID](wide[2], C)
        return C.copy_to_host()
    """,
}
"""Programs that compute on the host; each is right for what the host has."""


def program(body):
    return f"{PROVE}\ndef work(A, B):{body}\nresult = prove(work, np.maximum, draw)\n"


def dedented(body):
    lines = body.splitlines()
    return "\n".join(line[4:] if line.startswith("        ") else line for line in lines)


@pytest.mark.parametrize("name", PROVEN)
def test_what_kernels_compute_follows_the_inputs_that_they_get(simulated, name):
    shown = simulated(program(dedented(PROVEN[name])))
    assert (shown["device"], shown["host"], shown["problem"], shown["written"]) == (True, False, "", True)
    assert shown["arrays"] >= 1


@pytest.mark.parametrize("name", CHEATS)
def test_what_the_host_computes_follows_the_inputs_of_the_host(simulated, name):
    shown = simulated(program(dedented(CHEATS[name])))
    assert (shown["device"], shown["host"]) == (False, True)


def test_kernels_that_only_carry_the_inputs_have_not_written_the_result(simulated):
    body = """
    carried = []
    for one in (A, B):
        there = cuda.device_array_like(one)
        copy_kernel[GRID](cuda.to_device(one), there)
        carried.append(there.copy_to_host())
    return np.maximum(*carried)
    """
    shown = simulated(program(body))
    assert (shown["device"], shown["host"], shown["written"]) == (True, False, False)


def test_calls_that_launch_differently_are_not_compared(simulated):
    body = """
    kept["n"] = kept.get("n", 0) + 1
    C = cuda.device_array_like(A)
    for _ in range(kept["n"]):
        max_kernel[GRID](cuda.to_device(A), cuda.to_device(B), C)
    return C.copy_to_host()
    """
    assert simulated(program(body))["problem"] == "the two calls launch differently"


def test_the_inputs_are_back_in_their_place_after_the_launch(simulated):
    body = """
    a, C = cuda.to_device(A), cuda.device_array_like(A)
    max_kernel[GRID](a, cuda.to_device(B), C)
    assert np.array_equal(a.copy_to_host(), A)
    return C.copy_to_host()
    """
    assert simulated(program(body))["device"]
