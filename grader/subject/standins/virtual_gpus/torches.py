"""The parts of torch that are used here or replaced; many have no public name, and their types say little."""
# ruff: noqa: SLF001  this file is the one place that knows torch's private names

from __future__ import annotations

import ctypes
import os
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
cpp: Any = import_module("torch._C")
autograd: Any = import_module("torch.autograd")
constructors: Any = import_module("torch.utils._device")._device_constructors
cudnn: Any = import_module("torch.backends.cudnn")
nccl: Any = import_module("torch.cuda.nccl")
parallel: Any = import_module("torch.nn.parallel._functions")

aten: Any = torch.ops.aten
host_kernels: Any = cpp.DispatchKeySet(cpp.DispatchKey.CPU)
below_autograd: Any = cpp._AutoDispatchBelowAutograd
run_backward: Any = autograd._engine_run_backward
single_threaded: Any = autograd.set_multithreading_enabled
to_capsule: Any = cpp._to_dlpack
from_capsule: Any = cpp._from_dlpack
accelerator: Any = cpp._accelerator_getAccelerator
replace_empty_guard: Any = cpp._ensureCUDADeviceGuardSet
AcceleratorError: Any = getattr(cpp, "AcceleratorError", RuntimeError)


def library(name: str) -> ctypes.CDLL:
    """Load one of torch's own shared libraries."""
    return ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", name))


def schema(overload: Any) -> Any:
    """Return the schema of an operator: its arguments, which it writes to, and its results."""
    return overload._schema


def overload_name(overload: Any) -> str:
    """Return `Tensor` of `add.Tensor`, and an empty name of `mm`."""
    name: str = overload._overloadname
    return "" if name == "default" else name
