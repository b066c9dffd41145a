"""Times functions of one file in a process of its own, without grader: the truth about what is planted.

python quiet.py COURSE FOLDER FAMILY CALLS FUNCTION…

Prints the median seconds, by the wall and of CPU time, of each function of `max_functions.py` in FOLDER.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from statistics import median

import numpy as np

from grader.coursecode import course_module
from grader.machine.cores import Cores


def main() -> None:
    """One call of each function a round, on fresh inputs; the first round compiles and is not counted."""
    course, folder, family, calls, *functions = sys.argv[1:]
    draw = getattr(course_module(Path(course, "assignments", "planted", "inputs.py")), family)
    sys.path.insert(0, folder)
    os.sched_setaffinity(0, Cores().pick(1))  # as grader's children are
    module = import_module("max_functions")
    rng = np.random.default_rng()
    wall_s: dict[str, list[float]] = {name: [] for name in functions}
    cpu_s: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(int(calls) + 1):
        for name in functions:
            (one,) = draw(rng)
            function = getattr(module, name)
            begun, computed = time.perf_counter(), time.process_time()
            function(*one.args)
            ended = time.perf_counter()
            if number:
                wall_s[name].append(ended - begun)
                cpu_s[name].append(time.process_time() - computed)
    took = {name: {"wall_s": median(wall_s[name]), "cpu_s": median(cpu_s[name])} for name in functions}
    print(json.dumps(took))


if __name__ == "__main__":
    main()
