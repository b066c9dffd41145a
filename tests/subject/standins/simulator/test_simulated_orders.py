"""A right kernel gives the same in every order of its threads; a race does not."""

import pytest

ORDERS = ("forward", "reversed", "shuffled")

IN_ALL_ORDERS = """
import json
kept = []
for order in ("forward", "reversed", "shuffled"):
    simulator.run_in(order, 3)
    kept.append(run())
result = kept
"""

MAXIMUM = """
@cuda.jit
def kernel(A, B, C):
    bx, tx = cuda.blockIdx.x, cuda.threadIdx.x
    if bx < C.shape[0] and tx < C.shape[1]:
        C[INDEX] = max(A[INDEX], B[INDEX])

A, B = np.random.default_rng(1).integers(-99, 99, (2, 30, 30))
def run():
    C = cuda.device_array(A.shape, A.dtype)
    kernel[30, 30](cuda.to_device(A), cuda.to_device(B), C)
    return bool((C.copy_to_host() == np.maximum(A, B)).all())
"""

PRODUCT = """
@cuda.jit
def kernel(A, C):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    C[i, j] = 0
    for k in range(A.shape[1]):
        C[i, j] += A[i, k] * A[j, k]

A = np.random.default_rng(1).integers(-9, 9, (32, 5)).astype(np.float32)
def run():
    C = cuda.device_array((32, 32), A.dtype)
    kernel[(1,), (32, 32)](cuda.to_device(A), C)
    return bool((C.copy_to_host() == A @ A.T).all())
"""

ATOMIC_MAXIMUM = """
@cuda.jit
def kernel(a, most):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.max(most, 0, a[i])

a = np.random.default_rng(1).permutation(1000)
def run():
    most = np.zeros(1, a.dtype)
    kernel[8, 128](a, most)
    return int(most[0]) == 999
"""

LOCKED_COUNT = """
@cuda.jit
def kernel(lock, count):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)

def run():
    count = np.zeros(1, np.int64)
    kernel[4, 16](np.zeros(1, np.int64), count)
    return int(count[0]) == 64
"""

REDUCTION = """
@cuda.jit
def kernel(a, sums):
    s = cuda.shared.array(64, numba.int64)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step:
        if t < step:
            s[t] += s[t + step]
        BARRIER
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]

a = np.random.default_rng(1).integers(-99, 99, 256)
def run():
    sums = np.zeros(4, np.int64)
    kernel[4, 64](a, sums)
    return bool((sums == a.reshape(4, 64).sum(1)).all())
"""

NEIGHBOURS = """
@cuda.jit
def kernel(a, b):
    s = cuda.shared.array(8, numba.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    BARRIER
    b[t] = s[t - 1] if t else s[0]

a = np.arange(8, dtype=np.float32)
def run():
    b = np.zeros_like(a)
    kernel[1, 8](a, b)
    return b.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
"""


@pytest.mark.parametrize(
    "kernel",
    [
        MAXIMUM.replace("INDEX", "bx, tx"),
        MAXIMUM.replace("INDEX", "tx, bx"),
        PRODUCT,
        ATOMIC_MAXIMUM,
        LOCKED_COUNT,
        REDUCTION.replace("BARRIER", "cuda.syncthreads()"),
        NEIGHBOURS.replace("BARRIER", "cuda.syncthreads()"),
    ],
    ids=["max by rows", "max by columns", "product", "atomic max", "lock", "reduction", "neighbours"],
)
def test_right_kernels_are_right_in_all_orders(simulated, kernel):
    assert simulated(kernel + IN_ALL_ORDERS) == [True, True, True]


def test_a_missing_barrier_shows_as_a_difference_between_orders(simulated):
    right = dict(zip(ORDERS, simulated(NEIGHBOURS.replace("BARRIER", "pass") + IN_ALL_ORDERS), strict=True))
    assert right == {"forward": True, "reversed": False, "shuffled": False}
    right = dict(zip(ORDERS, simulated(REDUCTION.replace("BARRIER", "pass") + IN_ALL_ORDERS), strict=True))
    assert right == {"forward": False, "reversed": True, "shuffled": False}


@pytest.mark.parametrize("shape", ["1, 64", "64, 1"], ids=["within a block", "between blocks"])
@pytest.mark.parametrize(
    "statement",
    [
        "most[0] += 1",
        "most[0] = max(most[0], cuda.grid(1) + 1)",
        "if most[0] <= cuda.grid(1): most[0] = cuda.grid(1) + 1",
    ],
)
def test_an_operation_that_should_have_been_atomic_loses_results_when_threads_are_interrupted(
    simulated, shape, statement
):
    kernel = f"""
@cuda.jit
def kernel(most):
    {statement}

def run():
    most = np.zeros(1, np.int64)
    kernel[{shape}](most)
    return int(most[0])
"""
    forward, *shuffled = simulated(
        kernel
        + """
result = [run()]
for seed in range(8):
    simulator.run_in("shuffled", seed)
    result.append(run())
"""
    )
    assert forward == 64
    assert min(shuffled) < 64


LOG = """
log = []

@cuda.jit
def kernel(note):
    note((cuda.blockIdx.x, cuda.threadIdx.x, cuda.threadIdx.y))
    cuda.syncthreads()
    note((cuda.blockIdx.x, cuda.threadIdx.x, cuda.threadIdx.y))

def run():
    log.clear()
    kernel[2, (2, 2)](log.append)
    return list(log)
"""


def test_forward_is_the_order_of_thread_numbers_and_reversed_its_opposite(simulated):
    forward, back, shuffled = simulated(LOG + IN_ALL_ORDERS)
    block = [[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert forward == [[b, x, y] for b in (0, 1) for _ in range(2) for _, x, y in block]
    assert back == forward[::-1]
    assert sorted(shuffled) == sorted(forward)
    assert shuffled not in (forward, back)


def test_a_seed_gives_the_same_order_again_and_another_one_another(simulated):
    first, again, other = simulated(
        LOG
        + """
result = []
for seed in (1, 1, 2):
    simulator.run_in("shuffled", seed)
    result.append(run())
"""
    )
    assert first == again != other


def test_an_unknown_order_is_refused(simulated):
    with pytest.raises(
        Exception, match=r"ValueError: no order 'random'; choose one of forward, reversed, shuffled"
    ):
        simulated("simulator.run_in('random', 0)")
