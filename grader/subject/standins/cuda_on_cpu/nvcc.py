"""Options of nvcc as those that g++ has for the same; what only a GPU would notice is left out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAME = {
    "--compile": "-c",
    "--debug": "-g",
    "--define-macro": "-D",
    "--device-c": "-c",
    "--generate-dependencies": "-M",
    "--include-path": "-I",
    "--library": "-l",
    "--library-path": "-L",
    "--optimize": "-O",
    "--output-file": "-o",
    "--preprocess": "-E",
    "--shared": "-shared",
    "--system-include": "-isystem",
    "--undefine-macro": "-U",
    "-dc": "-c",
}
_JOINED = {"-D", "-I", "-L", "-O", "-U", "-l"}
"""Of these g++ wants the value in the same word, or may have it there."""
_WITH_VALUE = _words("""
    -Werror -Xcudafe -Xfatbin -Xnvlink -Xptxas -arch -ccbin -code -cudart -default-stream -diag-suppress
    -fmad -ftz -gencode -maxrregcount -prec-div -prec-sqrt -rdc -split-compile -t --compiler-bindir
    --cudart --default-stream --diag-suppress --fmad --generate-code --gpu-architecture --gpu-code
    --maxrregcount --nvlink-options --ptxas-options --relocatable-device-code --threads
""")
_WITHOUT_VALUE = _words("""
    -G -Wno-deprecated-gpu-targets -dlto -expt-extended-lambda -expt-relaxed-constexpr -extended-lambda
    -keep -lineinfo -m64 -res-usage -restrict -use_fast_math -v --device-debug --expt-extended-lambda
    --expt-relaxed-constexpr --extended-lambda --generate-line-info --keep --resource-usage --restrict
    --use_fast_math --verbose
""")
_FOR_THE_HOST = {"-Xcompiler", "--compiler-options"}
_FOR_THE_LINKER = {"-Xlinker", "--linker-options"}
_STANDARD = {"-std", "--std"}
_GPU_CODE = {"-cubin", "-fatbin", "-optix-ir", "-ptx", "--cubin", "--fatbin", "--ptx"}


class Unsupported(Exception):
    """An option that asks for what cannot be had without a GPU's compiler."""


def as_gxx(arguments: Sequence[str]) -> list[str]:
    """Return arguments for g++. Raises Unsupported for an output that only nvcc makes."""
    done: list[str] = []
    rest = list(reversed(arguments))
    while rest:
        argument = rest.pop()
        name, equals, value = argument.partition("=")
        if not argument.startswith("-"):
            done.append(argument)
        elif name in _GPU_CODE:
            raise Unsupported(f"{name} makes code for a GPU; here kernels are compiled for the CPU")
        elif name in _WITHOUT_VALUE:
            continue
        elif name in _WITH_VALUE | _FOR_THE_HOST | _FOR_THE_LINKER | _STANDARD:
            value = value if equals else rest.pop() if rest else ""
            if name in _FOR_THE_HOST:
                done += _of_host(value)
            elif name in _FOR_THE_LINKER:
                done.append(f"-Wl,{value}")
            elif name in _STANDARD:
                done.append(f"-std={value}")
        elif name in _SAME and _SAME[name] in _JOINED:
            done.append(_SAME[name] + (value if equals else rest.pop() if rest else ""))
        else:
            done.append(_SAME.get(name, argument))
            if name in _SAME and equals:
                done.append(value)
    return done


def _of_host(value: str) -> list[str]:
    """Split a value of -Xcompiler: nvcc splits at commas, the shell that it starts g++ with at blanks."""
    if value.startswith("-Wl,"):
        return [value]
    return [word for part in value.split(",") for word in shlex.split(part)]
