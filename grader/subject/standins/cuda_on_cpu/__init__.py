"""CUDA C++ without a GPU: compiled with g++, and its kernels run on the CPU thread by thread.

`install` makes a folder with an nvcc and a g++ of ours, which a Makefile finds first on PATH. What they build
needs nothing of this package, and obeys these variables:

* CUDA_ON_CPU_ORDER (`forward`, `reversed`, `shuffled`) and CUDA_ON_CPU_SEED: which threads go first;
* CUDA_ON_CPU_REPORT: a file, or the number of a descriptor, that gets a line of JSON for whatever goes wrong;
* CUDA_ON_CPU_RECORD: the same, for launches, allocations and faults together when the program ends.

What the lines are made of is said of `record`. A program may have many threads, but launch from one only.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from .compiler import HERE, UNCHECKED, build_runtime
from .library import forget, record, run_in
from .translation import translate

__all__ = ["command", "forget", "install", "record", "run_in", "translate"]

_NAMES = ("nvcc", "g++", "c++")
_SCRIPT = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd) || exit 1
exec {python} -I -S -c 'import sys, types; p = types.ModuleType("cuda_on_cpu")
p.__path__ = [sys.argv[1]]; sys.modules[p.__name__] = p
from cuda_on_cpu.compiler import main; sys.exit(main(sys.argv[2:]))' "$here/lib/cuda_on_cpu" {name} "$@"
"""


def install(folder: str, python: str = sys.executable) -> None:
    """Put nvcc, g++ and c++ into a new folder, with all they need; it may be moved or mounted elsewhere.

    `python` is the interpreter's path where they will run. Compiling the runtime takes some seconds. Raises
    FileNotFoundError without g++ and objcopy, CalledProcessError if they fail, FileExistsError.
    """
    package = os.path.join(folder, "lib", "cuda_on_cpu")
    gxx = shutil.which("g++")
    if gxx is None or shutil.which("objcopy") is None:
        raise FileNotFoundError("g++ or objcopy is not on PATH; install g++ and binutils")
    shutil.copytree(HERE, package, ignore=shutil.ignore_patterns("__pycache__", "__init__.py", "player.py"))
    build_runtime(gxx, package)
    for name in _NAMES:
        path = os.path.join(folder, name)
        with open(path, "x", encoding="utf-8", opener=lambda at, flags: os.open(at, flags, 0o777)) as file:
            file.write(_SCRIPT.format(python=python, name=name))


def command(
    tools: str,
    sources: Sequence[str],
    output: str,
    include_dirs: Sequence[str] = (),
    *,
    sanitize: bool = True,
) -> list[str]:
    """Return the command that makes one shared library of .cu files, which it translates, and .cc files.

    `tools` is a folder that `install` made. Without `sanitize` no access to memory is checked.
    """
    options = [f"-I{folder}" for folder in include_dirs] + ([] if sanitize else [UNCHECKED])
    return [os.path.join(tools, "nvcc"), "-shared", *options, "-o", output, *sources]
