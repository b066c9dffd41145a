"""Launches, allocations and faults are written down, for the program itself and for who started it."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.subject.standins import cuda_on_cpu

LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20)); "
CALL = "import ctypes, sys; getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])((ctypes.c_double * 64)())"


def call(library, function, program=CALL, **environment):
    subprocess.run(
        (sys.executable, "-c", program, library, function),
        env={**os.environ, **environment},
        pass_fds=[int(value) for value in environment.values() if value.isdigit()],
        check=True,
        stderr=subprocess.DEVNULL,
    )


def test_launches_have_their_shape_and_all_shared_memory(run):
    assert run("right", "reduction").record["launches"] == [
        {"kernel": "reduce", "grid": [5, 1, 1], "block": [64, 1, 1], "shared_bytes": 64 * size}
        for size in (4, 8, 4)
    ]
    (launch,) = run("right", "softmax_rows").record["launches"]
    assert launch == {"kernel": "softmax", "grid": [5, 1, 1], "block": [33, 1, 1], "shared_bytes": 33 * 4}


def test_the_allocation_family_is_recorded_with_bytes(run):
    calls = [(one["call"], one["bytes"]) for one in run("wrong", "missing_barrier").record["allocations"]]
    assert sorted(calls) == [("cudaFree", 4), ("cudaFree", 256), ("cudaMalloc", 4), ("cudaMalloc", 256)]
    assert [one["call"] for one in run("wrong", "managed_memory").record["allocations"]] == [
        "cudaMallocManaged",
        "cudaMallocHost",
    ]


def test_a_handle_of_cublas_is_an_allocation_of_its_own_kind(run):
    calls = [one["call"] for one in run("blas", "plain").record["allocations"]]
    assert (calls.count("cublasCreate"), calls.count("cublasDestroy")) == (1, 1)


def test_records_begin_anew_and_orders_have_names(library):
    loaded = ctypes.CDLL(str(library("right")))
    out = (ctypes.c_double * 64)()
    cuda_on_cpu.run_in(loaded, "reversed", 0)
    loaded.reversed(out)
    assert [one["kernel"] for one in cuda_on_cpu.record(loaded)["launches"]] == ["reverse"]
    cuda_on_cpu.forget(loaded)
    assert cuda_on_cpu.record(loaded) == {"launches": [], "allocations": [], "copies": {}, "faults": []}
    with pytest.raises(ValueError, match="no order 'sideways'; choose one of forward, reversed, shuffled"):
        cuda_on_cpu.run_in(loaded, "sideways", 0)


def test_a_record_that_does_not_fit_is_cut(library):
    loaded = ctypes.CDLL(str(library("right")))
    buffer = ctypes.create_string_buffer(b"x" * 9, 10)
    assert loaded.sim_record(buffer, ctypes.c_size_t(5)) > 5
    assert buffer.raw == b'{"la\0xxxx\0'


def test_everything_is_written_when_the_program_ends(library, tmp_path: Path):
    call(library("wrong"), "missing_bounds_check", CUDA_ON_CPU_RECORD=str(tmp_path / "record"))
    told = json.loads((tmp_path / "record").read_text())
    assert [one["kernel"] for one in told["launches"]] == ["no_check"]
    assert [one["fault"] for one in told["faults"]] == ["illegal_access"]


def test_faults_go_to_a_descriptor_one_line_each(library):
    reading, writing = os.pipe()
    call(library("wrong"), "copies", CUDA_ON_CPU_REPORT=str(writing))
    os.close(writing)
    with os.fdopen(reading) as file:
        assert [json.loads(line)["fault"] for line in file] == ["refused_call"] * 8


def test_the_order_can_be_set_from_outside(library, tmp_path: Path):
    lines = []
    for order in ("forward", "reversed"):
        report = tmp_path / order
        call(
            library("wrong"), "missing_bounds_check", CUDA_ON_CPU_ORDER=order, CUDA_ON_CPU_REPORT=str(report)
        )
        lines.append(json.loads(report.read_text())["thread"])
    assert lines == [[4, 0, 0], [31, 0, 0]]


def test_a_limit_of_memory_leaves_room_for_everything_that_is_needed(library, tmp_path: Path):
    record = tmp_path / "record"
    environment = {"CUDA_ON_CPU_ORDER": "shuffled", "CUDA_ON_CPU_RECORD": str(record)}
    call(library("right"), "matmul", LIMITED + CALL, **environment)
    assert [one["kernel"] for one in json.loads(record.read_text())["launches"]] == ["multiply"]


def test_a_fault_is_told_without_its_line_where_no_program_can_be_started(library, tmp_path: Path):
    call(library("wrong"), "missing_bounds_check", CUDA_ON_CPU_REPORT=str(tmp_path / "report"), PATH="/none")
    fault = json.loads((tmp_path / "report").read_text())
    assert (fault["kernel"], fault["thread"], fault["line"]) == ("no_check", [4, 0, 0], None)
