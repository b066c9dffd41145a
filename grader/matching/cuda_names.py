"""Names as CUDA's profilers print them: kernels, copies, functions of the runtime and the driver."""

from __future__ import annotations

import re

OF_ALL_KERNELS = frozenset({"Kernel", "Kernel2", "device_kernel"})
"""What CUTLASS calls every kernel; the first argument of the template tells them apart."""
_ARGUMENT = re.compile(r"<\s*([\w:]+)")
_COPY = re.compile(
    r"\W*(?:(?:CUDA|GPU|async|unified memory|[HD](?:to|2)[HD]|(?:host|device)[- ]to[- ](?:host|device))\s+)*"
    r"mem(?:cpy|set|ory cop(?:y|ies))(?![\w(])",
    re.IGNORECASE,
)
_RUNTIME = re.compile(
    r"\W*cuda(?:Array|Bind|Choose|Configure|Create|Ctx|Destroy|Device|Driver|D3D\d*|EGL|Event|External|Flush|Free|Func"
    r"|Get|GL|Graph|Graphics|Host|Import|Init|Ipc|Kernel|Launch|Library|Logs|Malloc|Mem|Memcpy|Memset|Mipmapped|Occupancy"
    r"|Peek|Pointer|Profiler|Runtime|Set|Setup|Signal|Stream|Thread|Unbind|User|VDPAU|Wait)(?![a-z])"
)
"""Names of the runtime of CUDA 13, and those that earlier versions had besides."""
_DRIVER = re.compile(
    r"\W*cu(?:Init|Driver|Device|Ctx|Module|Library|Kernel|Link|Mem(?:cpy|set)?|Array|Mipmapped|Multicast|Pointer|Stream"
    r"|Event|External|Launch|Func|Graph|Occupancy|Tex|Surf|Tensor|Profiler|Get|Import|Green|Coredump)(?![a-z])"
)
_VERSION = re.compile(r"(?:_v\d+|_ptsz|_ptds)+$")
_CUT_OFF = re.compile(r"\s*(?:\.{2,}|\u2026)$")
_BRACKETS = {"<": ">", "(": ")", "[": "]"}


def is_copy(name: str) -> bool:
    """Tell whether a name is that of a copy or a memset, such as `[CUDA memcpy HtoD]`."""
    return _COPY.match(name) is not None


def is_api_call(name: str) -> bool:
    """Tell whether a name is that of a function of the CUDA runtime or driver, such as `cudaMalloc`."""
    return (_RUNTIME.match(name) or _DRIVER.match(name)) is not None


def call_name(name: str) -> str:
    """Return the name of a function of the API without its version: `cudaLaunchKernel_v7000` and such."""
    return _VERSION.sub("", name.strip().partition("(")[0])


def short_name(name: str) -> str:
    """Return a kernel's own name, without result, namespaces, template arguments and parameters.

    As `grader/subject/observer/kernel_names.py` does of symbols.
    """
    plain = _CUT_OFF.sub("", name).replace("(anonymous namespace)", "_")
    words = outside_brackets(plain).split()
    base = words[-1].rpartition("::")[2] if words else name
    if base in OF_ALL_KERNELS and (argument := _ARGUMENT.search(plain)):
        return argument[1].rpartition("::")[2]
    return base


def outside_brackets(text: str) -> str:
    """Return a text without what stands in brackets."""
    outside, closing = [], []
    for character in text:
        if character in _BRACKETS:
            closing.append(_BRACKETS[character])
        elif closing and character == closing[-1]:
            closing.pop()
        elif not closing:
            outside.append(character)
    return "".join(outside)
