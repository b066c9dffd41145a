"""What CUDA's errors mean, in a student's words."""

import pytest

from grader.harness.device_errors import explain
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
