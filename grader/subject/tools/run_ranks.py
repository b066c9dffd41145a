"""Runs a program of several processes; unlike other tools it starts student code.

So all that it answers is a claim: a program of the same user can make it answer anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..pid1 import COURSE_FILES
from ..ranks.launch import RankLauncher


def main(order: Mapping[str, Any]) -> dict[str, Any]:
    """Run the program in a copy of the submission with the course's files laid over it.

    `order` has `file`, `arguments`, `processes`, `launcher` (`torchrun`, or `spawn` for a program that starts
    its processes itself), `within_s`, `blocked_s` (in which no process computes), `output_bytes` (of each
    process), `environment` and `inputs` (arrays and numbers by name). Answers as `RankLauncher.run` does.
    """
    submission = os.getcwd()
    folders = [COURSE_FILES, submission] if os.path.isdir(COURSE_FILES) else [submission]
    return RankLauncher(order, folders).run()
