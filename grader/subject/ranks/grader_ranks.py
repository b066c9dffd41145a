"""Inputs and results of programs of several processes.

    from grader_ranks import inputs, report

    case = inputs()             # the keywords of a case of `inputs.py`: arrays and numbers
    report(mean=case["values"].mean())

Both work in every rank. What is reported is the program's claim, held against `expected.py` elsewhere.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np


def inputs() -> dict[str, Any]:
    """Return the arrays and numbers of this launch, by name; the same for every rank."""
    folder = f"{os.environ['RANKS_FOLDER']}/inputs"
    values = {}
    for file in sorted(os.listdir(folder)):
        array = np.load(f"{folder}/{file}", allow_pickle=False)
        values[file.removesuffix(".npy")] = array if array.ndim else array.item()
    return values


def report(**values: Any) -> None:
    """Report results of this rank: numbers, arrays of numbers, tensors; the last one of each name counts.

    Raises:
        RuntimeError: this process is no rank.
        TypeError: a value is not numbers.
    """
    rank = getattr(sys.modules.get("sitecustomize"), "current", None)
    if rank is None or not rank.name.isdigit():
        raise RuntimeError("report(): this process is none of the ranks that were started")
    folder = f"{os.environ['RANKS_FOLDER']}/{rank.name}.values"
    os.makedirs(folder, exist_ok=True)
    for name, value in values.items():
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"report(): {name}: is not numbers but {array.dtype}")
        with open(f"{folder}/{name}.part", "wb") as file:
            np.save(file, array, allow_pickle=False)
        os.rename(f"{folder}/{name}.part", f"{folder}/{name}.npy")
