"""The library that is loaded into programs adds up what CUPTI records, and writes it when they end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cuda import profile_library
from grader.cuda.profile import read_profile
from grader.cuda.profile_library import SOURCE, built_library, headers
from grader.errors import NotObservedError

PLAYED = Path(__file__).with_name("played_cupti.cc")


def test_what_a_program_does_is_written_when_it_ends(tmp_path):
    compiler = shutil.which("g++")
    try:
        include, driver, _ = headers()
    except NotObservedError:
        pytest.skip("needs the headers of CUPTI")
    if compiler is None:
        pytest.skip("needs g++")
    program = tmp_path / "program"
    flags = [*profile_library.flags(include, driver), str(SOURCE), str(PLAYED)]
    flags = ["-rdynamic", *(flag for flag in flags if flag != "-shared"), "-ldl"]
    subprocess.run([compiler, *flags, "-o", str(program)], check=True)
    out = tmp_path / "profile.json"
    subprocess.run([str(program)], env={**os.environ, "GRADER_PROFILE_OUT": str(out)}, check=True)
    (file,) = tmp_path.glob("profile.json.*")
    measured = read_profile(json.loads(file.read_text()), ["program"])
    assert [(row.device, row.name, row.count, round(row.seconds * 1e9)) for row in measured.kernels] == [
        (0, "add(float*)", 2, 800),
        (1, "scale", 1, 200),
    ]
    assert [(row.name, row.bytes) for row in measured.copies] == [
        ("memcpy HTOD", 64),
        ("memcpy PTOP", 4),
        ("memset", 8),
    ]
    assert [(row.name, row.count, round(row.seconds * 1e9)) for row in measured.api] == [
        ("cuLaunchKernelEx", 2, 80),
        ("cudaLaunchKernel", 1, 90),
        ("cudaMalloc", 1, 600),
    ]
    assert measured.devices == {0: 'a "GPU"'}


def test_the_library_loads_where_every_symbol_is_looked_for_at_once(tmp_path, monkeypatch):
    """As the driver loads it, which leaves it out without a word where a symbol is missing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        library = built_library()
    except NotObservedError as error:
        if "cannot be compiled" in str(error):
            raise
        pytest.skip(str(error))
    load = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW | os.RTLD_LOCAL).InitializeInjection"
    subprocess.run([sys.executable, "-c", load, str(library)], check=True)


def test_headers_without_those_of_the_compiler_are_enough(tmp_path):
    """The packages that torch brings have no crt/host_defines.h, which CUDA's types include."""
    try:
        include, driver, _ = headers()
    except NotObservedError:
        pytest.skip("needs the headers of CUPTI")
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder = tmp_path / "include"
    folder.mkdir()
    for file in (*driver.glob("*.h"), *include.glob("*.h")):
        if not (folder / file.name).exists():
            (folder / file.name).symlink_to(file)
    flags = profile_library.flags(folder, folder)
    subprocess.run(["g++", "-fsyntax-only", *flags, str(SOURCE)], check=True)


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(NotObservedError, match=r"needs a C\+\+ compiler; apt install g\+\+"):
        built_library()


def test_missing_headers_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(profile_library, "_includes", lambda: iter((tmp_path,)))
    with pytest.raises(NotObservedError, match="nvidia-cuda-cupti"):
        headers()


def test_missing_headers_of_the_driver_are_named(monkeypatch, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "include" / "cupti.h").touch()
    (tmp_path / "lib" / "libcupti.so.13").touch()
    monkeypatch.setattr(profile_library, "_includes", lambda: iter((tmp_path / "include",)))
    with pytest.raises(NotObservedError, match="nvidia-cuda-runtime"):
        headers()
