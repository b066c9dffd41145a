"""The calls of some items in one fresh process without a sandbox; which, it reads as JSON from its input."""

from __future__ import annotations

import importlib.util
import json
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.random import default_rng


@cache
def module(file: Path) -> ModuleType:
    """A file as a module of its own: the submission's and the reference's have the same name."""
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def main() -> None:
    """Draw the inputs of each item as its check did, and call every function as often."""
    plan: dict[str, Any] = json.load(sys.stdin)
    inputs = module(Path(plan["inputs"]))
    for item in plan["items"]:
        functions = []
        for folder in item["folders"]:
            for of in item["functions"]:
                file, _, name = of.rpartition(".")
                functions.append(getattr(module(Path(folder, f"{file}.py")), name))
        for number in range(item["draws"]):
            rng = default_rng([int(item["seed"], 16), number])
            for case in getattr(inputs, item["family"])(rng):
                for function in functions:
                    for _ in range(item["times"]):
                        function(*deepcopy(case.args), **deepcopy(dict(case.kwargs)))


if __name__ == "__main__":
    main()
