"""Makes the C++ of a torch that was built without CUDA accept tensors of CUDA devices, in two places.

Such a build has no device guard for CUDA, and its hooks for CUDA say that there is none; autograd asks both.
The guard is torch's own that does nothing, for CUDA builds that find no driver. The hooks are torch's own as
well, with two questions answered yes; where those stand in the table of virtual functions differs between
versions, and is tried.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .memory import relabel
from .torches import accelerator, aten, library, replace_empty_guard, run_backward, single_threaded, torch

_CUDA = 1
"""`DeviceType::CUDA`, c10/core/DeviceType.h."""
_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_HOOKS = "_ZN2at6detail12getCUDAHooksEv"
_ENTRIES = (2, 4, 3, *range(5, 24))
"""Virtual functions that are tried: the first two destroy the hooks, 2 and 4 are right in torch 2.13."""
_LENGTH = 48
_BEFORE = 2
"""Words in front of a table of virtual functions (Itanium C++ ABI: offset to top, type)."""
_WORD = ctypes.sizeof(ctypes.c_void_p)

_tables: list[Any] = []
"""What C++ points to from now on."""


def admit() -> None:
    """Make torch's C++ accept CUDA devices.

    Raises:
        ImportError: this torch is built for GPUs, or its C++ has changed in these places.
    """
    built_for = torch.version.cuda or torch.version.hip
    if built_for:
        raise ImportError(
            f"torch {torch.__version__} is built for GPUs ({built_for}); install a build for CPUs"
        )
    vars(torch.cuda)["_initialized"] = True
    try:
        _set_guard()
        hooks = ctypes.c_void_p.from_address(_hooks())
        _answer_yes(hooks, lambda: accelerator() is not None)
        _answer_yes(hooks, _differentiates)
    except (AttributeError, LookupError, ValueError) as error:
        raise ImportError(f"torch {torch.__version__} cannot play GPUs ({error}); install 2.13") from error


def _set_guard() -> None:
    registry = (ctypes.c_void_p * (_CUDA + 1)).in_dll(library("libc10.so"), _REGISTRY)
    # torch replaces a guard that knows no device: one whose every virtual function gives 0 is such a guard
    nothing = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: 0)
    table = (ctypes.c_void_p * _LENGTH)(*[ctypes.cast(nothing, ctypes.c_void_p).value] * _LENGTH)
    guard = ctypes.c_void_p(ctypes.addressof(table))
    registry[_CUDA] = ctypes.addressof(guard)
    replace_empty_guard()
    if registry[_CUDA] == ctypes.addressof(guard):
        registry[_CUDA] = None
        raise LookupError("its device guard for CUDA is not replaced")


def _hooks() -> int:
    function = library("libtorch_cpu.so")[_HOOKS]
    function.restype = ctypes.c_void_p
    address: int = function()
    return address


def _answer_yes(hooks: ctypes.c_void_p, enough: Callable[[], bool]) -> None:
    """Make the first of the hooks' functions that makes it `enough` return true."""
    before = hooks.value or 0
    yes = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
    words = ctypes.c_void_p * (_BEFORE + _LENGTH)
    for entry in _ENTRIES:
        table = words.from_buffer_copy(words.from_address(before - _BEFORE * _WORD))
        if table[_BEFORE + entry] == yes:
            continue
        table[_BEFORE + entry] = yes
        _tables.append(table)
        hooks.value = ctypes.addressof(table) + _BEFORE * _WORD
        if enough():
            return
        hooks.value = before
    raise LookupError("its hooks for CUDA are unknown")


def _differentiates() -> bool:
    """Tell whether autograd goes through a tensor of a CUDA device."""
    ones = relabel(torch.ones(1, device="cpu"), 0)
    leaf = ones.detach().requires_grad_()
    with single_threaded(False):
        try:
            run_backward((aten.alias(leaf),), (ones,), False, False, (leaf,), True)
        except RuntimeError:
            return False
    return True
