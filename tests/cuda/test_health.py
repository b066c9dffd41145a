"""The probe of a GPU: against a driver that plays one, against none, and against the real thing."""

import json
import os
import subprocess
import sys

import pytest

from grader.cuda.gpus import gpus
from grader.cuda.health import probe

UUID = "GPU-aaaa1111-0000"
CALLS = (
    "cuInit",
    "cuDeviceGet",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuMemAlloc_v2",
    "cuMemsetD32_v2",
    "cuMemcpyDtoH_v2",
    "cuDeviceGetAttribute",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuCtxSynchronize",
    "cuMemFree_v2",
    "cuDevicePrimaryCtxRelease_v2",
)


@pytest.fixture
def gpu(fake):
    return gpus()[0]


@pytest.fixture
def driver(fake_driver, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(fake_driver))


def test_a_gpu_that_does_all_it_must_is_well(gpu, driver):
    assert probe(gpu) == ""


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails_is_named_with_the_drivers_word_for_it(gpu, driver, monkeypatch, call):
    monkeypatch.setenv("FAIL", call)
    assert probe(gpu) == f"{call} failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)"


def test_wrong_memory_and_a_wrong_kernel_are_found(gpu, driver, monkeypatch):
    monkeypatch.setenv("WRONG", "cuMemsetD32_v2")
    assert probe(gpu) == "memory that was set is wrong in 1 of 256 places"
    monkeypatch.setenv("WRONG", "cuLaunchKernel")
    assert probe(gpu) == "a kernel is wrong in 1 of 256 places"


def test_a_probe_that_hangs_is_killed_and_says_where(gpu, driver, monkeypatch):
    monkeypatch.setenv("HANG", "cuCtxSynchronize")
    said = probe(gpu, within_s=3.0)
    assert said == f"the probe of {UUID} did not end within 3 s: it hung in cuCtxSynchronize"


def test_the_probe_is_shown_its_gpu_alone(gpu, monkeypatch, tmp_path):
    seen = tmp_path / "seen"
    (program := tmp_path / "python").write_text(
        f'#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES $*" > {seen}\necho oh >&2\necho no >&2\nexit 3\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    assert probe(gpu) == f"the probe of {UUID} ended with status 3: no"
    assert seen.read_text() == f"{UUID} -P -m grader.cuda.probe\n"


def test_without_a_driver_it_says_that_its_library_is_missing(tmp_path):
    # nothing is found where the linker has no cache and no path: an empty library cannot be loaded either
    (tmp_path / "libcuda.so.1").touch()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader.cuda.probe"],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path)},
    )
    assert json.loads(done.stdout)["problem"].startswith("the driver's library could not be loaded: ")
    assert "libcuda.so.1" in json.loads(done.stdout)["problem"]
    assert (done.stderr, done.returncode) == ("", 1)


@pytest.mark.gpu
def test_the_gpus_of_this_machine_are_well(forget):
    assert gpus()
    assert {gpu.uuid: probe(gpu) for gpu in gpus()} == {gpu.uuid: "" for gpu in gpus()}
