"""`python -m grader.engines.remote ROOT BATCH TASK JOB RESTART`: what a scheduler starts for one task."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.engines.remote.node import observe_pack


def main() -> int:
    """Observe the pack of a task; 0 unless it cannot even say why not."""
    if len(sys.argv) != 6:
        sys.stderr.write("usage: python -m grader.engines.remote ROOT BATCH TASK JOB RESTART\n")
        return 2
    root, name, *numbers = sys.argv[1:]
    task, job, restart = map(int, numbers)
    return observe_pack(Path(root), name, task, f"{job:012d}.{restart:04d}")


if __name__ == "__main__":
    sys.exit(main())
