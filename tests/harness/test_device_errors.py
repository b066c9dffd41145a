"""What CUDA's errors mean, in a student's words."""

import pytest

from grader.harness.device_errors import asks_for_gpu, explain
from grader.model.observation import Outcome

ILLEGAL = "a kernel read or wrote outside of its arrays (illegal address)"


@pytest.mark.parametrize(
    ("text", "outcome", "sentence"),
    [
        (
            "CudaAPIError: [<CUresult.CUDA_ERROR_ILLEGAL_ADDRESS: 700>] Call to cuMemcpyDtoH results in "
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            Outcome.CRASHED,
            ILLEGAL,
        ),
        (
            "CudaError: waiting for the device: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered)",
            Outcome.CRASHED,
            ILLEGAL,
        ),
        ("AcceleratorError: CUDA error: an illegal memory access was encountered", Outcome.CRASHED, ILLEGAL),
        (
            "CudaAPIError: [<CUresult.CUDA_ERROR_OUT_OF_MEMORY: 2>] Call to cuMemAlloc results in "
            "CUDA_ERROR_OUT_OF_MEMORY",
            Outcome.OUT_OF_MEMORY,
            "the GPU has no memory left for it",
        ),
        (
            "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
            Outcome.OUT_OF_MEMORY,
            "the GPU has no memory left for it",
        ),
        ("CUDA_ERROR_WONDERFUL", Outcome.CRASHED, "the GPU says CUDA_ERROR_WONDERFUL"),
    ],
)
def test_an_error_of_a_device_is_explained(text, outcome, sentence):
    assert explain(text)[:2] == (outcome, sentence)


@pytest.mark.parametrize("text", ["IndexError: out of range", "MemoryError: out of memory", ""])
def test_other_errors_are_left_alone(text):
    assert explain(text) is None


@pytest.mark.parametrize(
    ("cause", "asks"),
    [
        ("CudaSupportError: Error at driver init: Call to cuInit results in CUDA_ERROR_NO_DEVICE", True),
        (
            "the GPU says CUDA_ERROR_OPERATING_SYSTEM: CudaSupportError: Error at driver init: Call to "
            "cuInit results in CUDA_ERROR_OPERATING_SYSTEM (<CUresult.CUDA_ERROR_OPERATING_SYSTEM: 304>)",
            True,
        ),
        ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 304: OS call failed", True),
        ("NvvmSupportError: libNVVM cannot be found. Do `conda install cuda-nvcc`", True),
        ("AssertionError: Torch not compiled with CUDA enabled", True),
        ("RuntimeError: Found no NVIDIA driver on your system", True),
        (
            "RuntimeError: Attempting to deserialize, but torch.cuda.is_available() is False",
            True,
        ),
        ("CUDARuntimeError: cudaErrorNoDevice: no CUDA-capable device is detected", True),
        ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", True),
        ("RuntimeError: Unknown backend: 'gpu' requested", True),
        ("AssertionError in utils.py:3 (assert torch.cuda.is_available())", True),
        ("the program ended itself (sys.exit(No GPU))", True),
        ("RuntimeError: CUDA not available", True),
        ("NameError: name 'cuda' is not defined", False),
        ("ModuleNotFoundError: No module named 'cupy'", False),
        ("AttributeError: module 'numba.cuda' has no attribute 'no_gpu'", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'gpu.npy'", False),
        ("ValueError: cuda", False),
    ],
)
def test_an_import_that_asks_for_a_gpu_is_told_by_what_its_error_says(cause, asks):
    assert asks_for_gpu(f"importing utils.py: {cause}") == asks
