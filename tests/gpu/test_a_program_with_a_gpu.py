"""Programs in a sandbox compute on a leased GPU, soundly; what one does to it hurts no other."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model.observation import Outcome

from .conftest import case, numbers

pytestmark = pytest.mark.gpu

DOUBLE = """
    import os
    import numpy as np
    from numba import cuda

    @cuda.jit
    def twice(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = 2 * x[i]

    def double(x):
        out = cuda.device_array_like(x)
        twice[-(-x.size // 256), 256](cuda.to_device(x), out)
        return out.copy_to_host()
"""


def test_every_result_is_right_although_the_program_is_stopped_around_each_call(start):
    with start(DOUBLE) as subject:
        for seed in range(35):
            x = numbers(100_000, seed)
            call = subject.call("double", case(x))
            assert call.outcome is Outcome.OBSERVED, call.note
            assert np.array_equal(call.value, 2 * x)


def test_a_program_sees_the_leased_gpu_alone_whatever_it_sets(start):
    code = """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5,6,7"
        from numba import cuda
        def seen():
            files = [name for name in os.listdir("/dev") if name[:6] == "nvidia" and name[6:].isdigit()]
            return [len(cuda.gpus), files]
    """
    with start(code) as subject:
        call = subject.call("seen", case())
        assert call.outcome is Outcome.OBSERVED, call.note
        assert call.value[0] == 1
        assert len(call.value[1]) == 1


def test_torch_computes_there_too(start):
    pytest.importorskip("torch")
    code = """
        import torch
        def product(x):
            a = torch.from_numpy(x).to("cuda")
            return (a @ a.T).cpu().numpy()
    """
    x = numbers(64 * 64).reshape(64, 64)
    with start(code, "numpy", "torch") as subject:
        call = subject.call("product", case(x))
        assert call.outcome is Outcome.OBSERVED, call.note
        assert np.allclose(call.value, x @ x.T)


ILLEGAL = """
    @cuda.jit
    def outside(x):
        x[cuda.threadIdx.x + 1_000_000_000_000] = 1
    def returns_at_once(x):
        outside[1, 32](cuda.to_device(x))
        return x
    def copies_back(x):
        d_x = cuda.to_device(x)
        outside[1, 32](d_x)
        return d_x.copy_to_host()
"""


@pytest.mark.parametrize("function", ["returns_at_once", "copies_back"])
def test_an_illegal_address_is_told_and_the_next_program_is_well(start, function):
    code = DOUBLE + ILLEGAL
    with start(code) as subject:
        call = subject.call(function, case(numbers(100)))
        assert call.outcome is Outcome.CRASHED
        assert "a kernel read or wrote outside of its arrays (illegal address)" in call.note
        assert not subject.alive, "after such an error a process gets nothing else"
    with start(code) as subject:
        assert subject.call("double", case(numbers(100))).outcome is Outcome.OBSERVED


def test_a_kernel_that_never_ends_is_ended_and_the_next_program_is_well(start):
    code = (
        DOUBLE
        + """
    @cuda.jit
    def spin(x):
        while x[0] == x[0]:
            x[1] += 1
    def endless(x):
        d_x = cuda.to_device(np.zeros(2))
        spin[1, 1](d_x)
        return d_x.copy_to_host()
    """
    )
    with start(code) as subject:
        assert subject.call("endless", case(numbers(2))).outcome is Outcome.TIMED_OUT
    with start(code) as subject:
        assert subject.call("double", case(numbers(100))).outcome is Outcome.OBSERVED


def test_whoever_keeps_more_of_the_gpus_memory_than_allowed_is_told_so(start):
    code = (
        DOUBLE
        + """
    kept = []
    def keep(n):
        kept.extend(cuda.device_array(2**30, np.uint8) for _ in range(n))
        return n
    """
    )
    with start(code) as subject:
        assert subject.call("keep", case(4)).outcome is Outcome.OBSERVED
        call = subject.call("keep", case(8))
        assert call.outcome is Outcome.OUT_OF_MEMORY
        assert "MiB of the GPU's memory are taken after the call; 8192 MiB are allowed" in call.note
        assert not subject.alive
    with start(code) as subject:
        call = subject.call("keep", case(10_000))
        assert call.outcome is Outcome.OUT_OF_MEMORY
        assert "the GPU has no memory left for it" in call.note
    with start(code) as subject:
        assert subject.call("double", case(numbers(100))).outcome is Outcome.OBSERVED
