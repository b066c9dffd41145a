"""The library of dlsys_a2 builds without a word, and on a GPU its kernels agree with the oracles."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "dlsys_a2"
OPERATIONS = set(re.findall(r"int (DL\w+)\(", (FOLDER / "reference/src/c_runtime_api.h").read_text()))
PACKAGE = Path(__file__).with_name("test_dlsys_a2.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("nvcc") is None, reason="nvcc is not on the path; install the CUDA toolkit"
    ),
]


def has_cublas():
    source = "#include <cublas_v2.h>\n"
    arguments = ["nvcc", "-E", "-x", "cu", "-"]
    return (
        subprocess.run(arguments, input=source, capture_output=True, check=False, text=True).returncode == 0
    )


def run_make(folder, *arguments):
    arguments = ["make", "--no-print-directory", *arguments]
    environment = {**os.environ, "MAKEFLAGS": ""}
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, check=False, text=True)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds a submission of this name once, with switches for make: its folder, and what the tools said."""
    built = {}

    def once(submission, *switches):
        key = submission, switches
        if key not in built:
            if not {"TILED=1"} & set(switches) and not has_cublas():
                pytest.skip("cuBLAS is not installed")
            folder = tmp_path_factory.mktemp(submission)
            shutil.copytree(FOLDER / submission, folder, dirs_exist_ok=True)
            make = run_make(folder, *switches)
            said = "".join(line for line in make.stdout.splitlines(True) if not line.startswith("nvcc "))
            built[key] = folder, said + make.stderr, make.returncode
        folder, said, status = built[key]
        assert status == 0, said
        return folder, said

    return once


@pytest.mark.parametrize(
    ("submission", "switches"),
    [("reference", ["TILED=1"]), ("reference", []), ("starter", ["TILED=1"])],
    ids=["tiled", "cuBLAS", "starter"],
)
def test_nvcc_has_nothing_to_say(build, submission, switches):
    folder, said = build(submission, *switches)
    assert said == ""
    assert (folder / "build/lib/libc_runtime_api.so").is_file()


def test_the_library_has_every_function_of_its_header(build):
    folder, _ = build("reference", "TILED=1")
    library = ctypes.CDLL(str(folder / "build/lib/libc_runtime_api.so"))
    assert len(OPERATIONS) == 15
    assert [name for name in sorted(OPERATIONS) if not hasattr(library, name)] == []


def test_other_switches_build_anew_and_the_same_ones_do_nothing(build):
    folder, _ = build("reference", "TILED=1")
    assert "nvcc" not in run_make(folder, "TILED=1").stdout
    assert "-arch=sm_80 " in run_make(folder, "TILED=1", "ARCH=sm_80").stdout


# On a GPU.


PATHS = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
"""Where the packages of this process lie, which may not be Python's own folders."""


def agree(folder, tmp_path):
    """Each row of drivers and families that deviates, with how."""
    report = tmp_path / "report.json"
    subprocess.run(
        [sys.executable, PACKAGE, folder, report],
        env={**os.environ, "DLSYS_LIBRARY": str(folder), "PYTHONPATH": PATHS},
        check=True,
    )
    return {row: deviations for row, deviations in json.loads(report.read_text()).items() if deviations}


@pytest.mark.gpu
@pytest.mark.parametrize("switches", [["TILED=1"], []], ids=["tiled", "cuBLAS"])
def test_the_reference_agrees_with_every_oracle_on_a_gpu(build, tmp_path, switches):
    folder, _ = build("reference", *switches)
    assert agree(folder, tmp_path) == {}


@pytest.mark.gpu
def test_the_tests_of_the_course_pass_on_a_gpu(build):
    folder, _ = build("reference", "TILED=1")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_gpu_op.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "python")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert "12 passed" in ran.stdout, ran.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("switches", [["TILED=1"], []], ids=["tiled", "cuBLAS"])
def test_the_program_learns_on_a_gpu(build, switches):
    folder, _ = build("reference", *switches)
    shutil.copytree(FOLDER / "given", folder, dirs_exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "tests/mnist_dlsys.py", "-l", "-m", "mlp", "-c", "gpu", "-e", "10"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "python")},
        capture_output=True,
        check=True,
        text=True,
    )
    losses = [float(loss) for loss in re.findall(r"loss = ([0-9.]+)", ran.stdout)]
    (accuracy,) = re.findall(r"validation set accuracy=([0-9.]+)", ran.stdout)
    assert len(losses) == 10
    assert losses[-1] < losses[0] / 5
    assert float(accuracy) > 0.93
