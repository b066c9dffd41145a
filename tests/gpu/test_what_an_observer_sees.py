"""Launches, copies and allocations of every library are seen; what is not seen is said to be so."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec

import numpy as np
import pytest

from grader.model.observation import Outcome

from .conftest import case, numbers
from .test_a_program_with_a_gpu import DOUBLE

pytestmark = pytest.mark.gpu
by_cupti = pytest.mark.skipif(find_spec("cupti") is None, reason="needs cupti-python")


@by_cupti
def test_a_numba_call_is_seen_by_the_observer_and_by_numba_alike(start):
    x = numbers(1000)
    with start(DOUBLE, observed=True) as subject:
        for _ in range(2):
            call = subject.call("double", case(x))
            assert call.outcome is Outcome.OBSERVED, call.note
            trace = call.trace
            assert (trace.source, trace.complete, trace.problem) == ("cupti", True, "")
            (launch,) = trace.launches
            assert (launch.kernel, launch.grid, launch.block) == ("twice", (4, 1, 1), (256, 1, 1))
            assert 0 < launch.seconds < 0.1
            (own,) = trace.framework_launches
            assert (own.kernel, own.grid, own.block) == ("twice", (4, 1, 1), (256, 1, 1))
            assert (trace.copies["host_to_device"].count, trace.copies["host_to_device"].bytes) == (1, 8000)
            assert (trace.copies["device_to_host"].count, trace.copies["device_to_host"].bytes) == (1, 8000)
            assert sum(traffic.bytes for traffic in trace.allocations.values()) == 16_000
            assert trace.peak_bytes >= 16_000


def test_kernels_get_the_noted_inputs_and_the_program_keeps_its_own(start):
    y, x = numbers(1000, 1), numbers(1000, 2)
    with start(DOUBLE, observed=True) as subject:
        noted = subject.call("double", case(y), proof="note")
        plain = subject.call("double", case(numbers(1000, 3)))
        call = subject.call("double", case(x), proof="exchange")
        assert noted.trace.exchange.written
        assert plain.trace.exchange is None
        assert (call.trace.exchange.arrays, call.trace.exchange.problem) == (1, "")
        assert call.trace.exchange.written
        assert np.array_equal(call.value, 2 * y)


@by_cupti
def test_calls_that_are_timed_are_recorded_as_well_and_after_them(start):
    with start(DOUBLE) as subject:
        for size in (1000, 500):
            assert subject.call("double", case(numbers(size))).trace is None
        traces = subject.records()
        assert [trace.problem for trace in traces] == ["", ""]
        assert [trace.copies["host_to_device"].bytes for trace in traces] == [8000, 4000]
        assert [(trace.launch_count, len(trace.framework_launches)) for trace in traces] == [(1, 1)] * 2
        assert "api" in traces[0].unseen
        assert subject.records() == ()


def test_a_call_whose_inputs_are_exchanged_looks_like_a_timed_one_before_its_launch(start):
    y, x = numbers(1000, 1), numbers(1000, 2)
    with start(DOUBLE) as subject:
        subject.call("double", case(y), proof="note")
        timed = subject.call("double", case(numbers(1000, 3)))
        call = subject.call("double", case(x), proof="exchange")
        assert np.array_equal(call.value, 2 * y)
        assert (timed.launches_asked, call.launches_asked) == (1, 1)


def test_calls_without_any_gpu_work_have_an_empty_and_complete_record(start):
    with start(DOUBLE + "\n    def nothing(x): return 2 * x\n", observed=True) as subject:
        trace = subject.call("nothing", case(numbers(10))).trace
        assert (trace.complete, trace.launch_count, dict(trace.copies), dict(trace.allocations)) == (
            True,
            0,
            {},
            {},
        )


@by_cupti
def test_a_program_that_switches_the_observer_off_leaves_a_void_record(start):
    code = (
        DOUBLE
        + """
    def quietly(x):
        from cupti import cupti
        for kind in (cupti.ActivityKind.CONCURRENT_KERNEL, cupti.ActivityKind.MEMORY2):
            cupti.activity_disable(kind)
        return double(x)
    """
    )
    with start(code, observed=True) as subject:
        trace = subject.call("quietly", case(numbers(10))).trace
        assert not trace.complete
        assert "of its own" in trace.problem


def test_torch_is_seen_with_its_allocations(start):
    pytest.importorskip("torch")
    code = """
        import torch
        def product(x):
            a = torch.from_numpy(x).to("cuda")
            return (a @ a.T).cpu().numpy()
    """
    with start(code, "numpy", "torch", observed=True) as subject:
        call = subject.call("product", case(numbers(64 * 64).reshape(64, 64)))
        assert call.outcome is Outcome.OBSERVED, call.note
        assert call.trace.complete
        assert call.trace.launch_count >= 1
        assert call.trace.framework_launches is None or call.trace.framework_launches == ()
        assert "cudaMalloc" in call.trace.allocations
        assert call.trace.api["cudaMalloc"] == call.trace.allocations["cudaMalloc"].count


LIBRARY = """
#include <cuda_runtime.h>
__global__ void thrice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 3;
}
extern "C" int triple(float *x, int n, int times) {
    for (int k = 0; k < times; ++k) {
        float *d;
        if (cudaMalloc(&d, n * sizeof *d)) return 1;
        cudaMemcpy(d, x, n * sizeof *d, cudaMemcpyHostToDevice);
        thrice<<<(n + 127) / 128, 128>>>(d, n);
        cudaMemcpy(x, d, n * sizeof *d, cudaMemcpyDeviceToHost);
        cudaFree(d);
    }
    return 0;
}
"""


@by_cupti
def test_a_library_with_the_runtime_linked_into_it_is_seen(start, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    (tmp_path / "triple.cu").write_text(LIBRARY)
    built = tmp_path / "triple.so"
    subprocess.run(
        ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-arch=native", "-o", built, tmp_path / "triple.cu"],
        check=True,
    )
    code = """
        import ctypes, os
        import numpy as np
        library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "triple.so"))
        def triple(x, times):
            y = x.copy()
            assert library.triple(y.ctypes.data_as(ctypes.c_void_p), y.size, times) == 0
            return y
    """
    x = numbers(1000).astype(np.float32)
    with start(code, "numpy", observed=True, files={"triple.so": built.read_bytes()}) as subject:
        call = subject.call("triple", case(x, 5))
        assert call.outcome is Outcome.OBSERVED, call.note
        trace = call.trace
        assert trace.complete, trace.problem
        assert [launch.kernel for launch in trace.launches] == ["thrice"] * 5
        assert trace.launches[0].grid == (8, 1, 1)
        assert (trace.allocations["cudaMalloc"].count, trace.allocations["cudaMalloc"].bytes) == (5, 20_000)
        assert (trace.api["cudaMalloc"], trace.api["cudaFree"], trace.frees["cudaFree"]) == (5, 5, 5)
        assert trace.peak_bytes == 4000
