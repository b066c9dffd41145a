"""Allocations that grow with the epochs are counted and told by where they are made, on a real device."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.checks.allocations import allocated, allocated_in
from grader.checks.cuda_calls import CudaCalls
from grader.config.decode import decode
from grader.contracts.call import InputCase
from grader.model.observation import Outcome

from .conftest import case, numbers

pytest.importorskip("cupti", reason="without cupti-python nobody sees allocations")
pytestmark = pytest.mark.gpu

SOURCE = """
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
__global__ void learn(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 0.5f;
}
extern "C" {
int DLArrayAlloc(float **x, int n) { return cudaMalloc(x, n * sizeof **x); }
int DLArrayFree(float *x) { return cudaFree(x); }
int DLStep(float *x, int n) {
    learn<<<(n + 127) / 128, 128>>>(x, n);
    return cudaDeviceSynchronize();
}
int DLLoss(float *x, float *loss) { return cudaMemcpy(loss, x, sizeof *loss, cudaMemcpyDeviceToHost); }
int DLSet(float *x, float *from, int n) {
    return cudaMemcpy(x, from, n * sizeof *x, cudaMemcpyHostToDevice);
}
int DLPinned(void) {
    void *x;
    return cudaHostAlloc(&x, 4096, cudaHostAllocDefault) || cudaFreeHost(x);
}
int DLPiece(void) {
    // linked at run time: there need not be a libcuda.so to link with
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto create = (decltype(&cuMemCreate))dlsym(driver, "cuMemCreate");
    auto release = (decltype(&cuMemRelease))dlsym(driver, "cuMemRelease");
    CUmemAllocationProp about = {};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle piece;
    return create(&piece, 2 << 20, &about, 0) || release(piece);
}
}
#ifdef HANDLES
#include <cublas_v2.h>
extern "C" int DLGpuMatrixMultiply(float *x) {
    cublasHandle_t handle;
    const float one = 1, zero = 0;
    if (cublasCreate(&handle)) return 1;
    int status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, x, 8, x, 8, &zero, x + 64, 8);
    return status || cublasDestroy(handle);
}
#endif
"""

PROGRAM = """
    import ctypes, os
    import numpy as np
    work = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "libwork.so"))

    def array(n):
        x = ctypes.c_void_p()
        assert work.DLArrayAlloc(ctypes.byref(x), n) == 0
        return x

    def fit(x, epochs):
        plan = array(x.size)
        assert work.DLSet(plan, x.ctypes.data_as(ctypes.c_void_p), x.size) == 0
        losses = []
        for _ in range(epochs):
            assert work.DLStep(plan, x.size) == 0
            {each}
            loss = ctypes.c_float()
            assert work.DLLoss(plan, ctypes.byref(loss)) == 0
            losses.append(loss.value)
        return losses
"""

BY_HAND = {"fit": lambda x, epochs: [float(x[0]) / 2 ** (n + 1) for n in range(epochs)]}
X = np.abs(numbers(4096)).astype(np.float32) + 1


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build the library with the CUDA runtime linked into it; with handles if cuBLAS is to be had."""

    def built(*options: str) -> bytes:
        if shutil.which("nvcc") is None:
            pytest.skip("no nvcc")
        folder: Path = tmp_path_factory.mktemp("library")
        (folder / "work.cu").write_text(SOURCE)
        command = [
            "nvcc",
            "-shared",
            "-Xcompiler",
            "-fPIC",
            "-arch=native",
            *options,
            "-o",
            "libwork.so",
            "work.cu",
        ]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if ended.returncode and options:
            pytest.skip(f"does not build: {ended.stderr[-300:]}")
        assert ended.returncode == 0, ended.stderr
        return (folder / "libwork.so").read_bytes()

    return built


@dataclass
class GpuContext:
    """Programs that have a GPU, and inputs and oracles as a test gives them."""

    start: Any
    code: str
    library: bytes
    item: str = "flat"
    seed: str = "5eed"
    devices: int = 1

    def inputs(self, family: str) -> tuple[InputCase, ...]:
        return (case(X),)

    def expected(self, oracle: str) -> Any:
        return BY_HAND[oracle]

    def subject(self, module: str, *, observed: bool = False) -> Any:
        assert module == "work"
        return self.start(self.code, "numpy", observed=observed, files={"libwork.so": self.library})


def graded(start, library, each="pass", code=PROGRAM, **keys):
    """What a program earns that does `each` in every epoch."""
    told = {"of": "work.fit", "inputs": "numbers", "epochs": [2, 4], **keys}
    options, problems = decode(CudaCalls.Options, told)
    assert options is not None, problems
    observation = CudaCalls().observe(options, GpuContext(start, code.replace("{each}", each), library))
    assert observation.outcome is Outcome.OBSERVED, observation.note
    kept = replace(observation, facts=json.loads(json.dumps(observation.facts)))
    award = CudaCalls().award(options, kept, {})
    assert not award.undecided, award.reason
    return award


OWN = {"totals": "any", "own": "flat", "own_through": ["DLArrayAlloc"]}


def test_a_program_that_allocates_once_is_flat(start, build):
    award = graded(start, build(), **OWN | {"totals": "flat"})
    assert award.fraction == 1.0, award.reason
    assert award.reason.startswith("allocations inside DLArrayAlloc: 1 at ")
    assert award.flags == ()


@pytest.mark.parametrize("keys", [{}, OWN])
def test_arrays_that_are_allocated_in_every_epoch_are_told_by_their_function(start, build, keys):
    award = graded(start, build(), "work.DLArrayFree(array(x.size))", **keys)
    assert award.fraction == 0.0
    assert " more inside DLArrayAlloc" in award.reason
    assert "elsewhere" not in award.reason


def test_arrays_that_are_never_freed_take_more_and_more_memory(start, build):
    award = graded(start, build(), "array(10**6)", slack=1000)
    assert award.fraction == 0.0
    assert award.reason.startswith("the longer it trains the more memory is in use at one time: ")


def test_one_array_whose_size_grows_with_the_epochs_is_caught(start, build):
    award = graded(start, build(), "_ or array(epochs * 10**6)")
    assert award.fraction == 0.0
    assert award.reason.startswith("as many allocations, but larger ones the longer it trains: ")


@pytest.mark.parametrize("function", ["DLPinned", "DLPiece"])
def test_pinned_memory_and_pieces_of_the_driver_are_of_the_family(start, build, function):
    award = graded(start, build(), f"assert work.{function}() == 0")
    assert award.fraction == 0.0, award.reason
    assert award.reason.startswith("the longer it trains the more allocations: ")


def test_a_handle_made_in_every_product_is_told_beside_a_plan_that_is_flat(start, build):
    library = build("-DHANDLES", "-lcublas")
    each = "assert work.DLGpuMatrixMultiply(plan) == 0"
    award = graded(start, library, each, **OWN)
    assert award.fraction == 1.0, award.reason
    assert " more inside DLGpuMatrixMultiply" in award.reason
    award = graded(start, library, each, credit="per_case", **OWN | {"totals": "flat"})
    assert award.fraction == 0.5, award.reason


def test_the_library_that_asks_for_memory_is_named(start, build):
    library = build("-DHANDLES", "-lcublas")
    code = PROGRAM.replace("{each}", "assert work.DLGpuMatrixMultiply(plan) == 0")
    with start(code, "numpy", observed=True, files={"libwork.so": library}) as subject:
        trace = subject.call("fit", InputCase(name="some", args=(X,), kwargs={"epochs": 2})).trace
    assert trace.complete, trace.problem
    by_function = {site.function: site.library for site in trace.sites}
    assert by_function["DLArrayAlloc"] == "libwork.so"
    assert by_function["DLGpuMatrixMultiply"].startswith("libcublas")


def test_every_allocation_has_a_place_and_a_call(start, build):
    code = PROGRAM.replace("{each}", "array(8)")
    with start(code, "numpy", observed=True, files={"libwork.so": build()}) as subject:
        trace = subject.call("fit", InputCase(name="some", args=(X,), kwargs={"epochs": 5})).trace
    assert trace.complete, trace.problem
    assert allocated(trace) == allocated_in(trace, ["DLArrayAlloc"])
    assert allocated(trace).count == trace.api["cudaMalloc"] == 6
    assert trace.unseen == ()


def test_a_program_that_computes_on_the_cpu_is_no_training_of_the_gpu(start, build):
    code = """
    def fit(x, epochs): return [float(x[0]) / 2 ** (n + 1) for n in range(epochs)]
    """
    award = graded(start, build(), code=code)
    assert (award.fraction, award.reason) == (0.0, "no kernel was launched: it does not train on the GPU")
