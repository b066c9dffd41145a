"""`python -m grader.engines.remote ROOT BATCH TASK JOB RESTART`: what a scheduler starts for one task.

With `attached` as one more word it ends as soon as its standard input does, for schedulers that do not end
what a task has started.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from grader.engines.remote.node import observe_pack

ATTACHED = "attached"


def main() -> int:
    """Observe the pack of a task; 0 unless it cannot even say why not."""
    if len(sys.argv) != 6 + sys.argv[6:].count(ATTACHED):
        sys.stderr.write(f"usage: python -m grader.engines.remote ROOT BATCH TASK JOB RESTART [{ATTACHED}]\n")
        return 2
    if sys.argv[6:]:
        threading.Thread(target=_end_with_input, daemon=True).start()
    root, name, *numbers = sys.argv[1:6]
    task, job, restart = map(int, numbers)
    return observe_pack(Path(root), name, task, f"{job:012d}.{restart:04d}")


def _end_with_input() -> None:
    """Wait until whoever started us closes our standard input, or has ended, and end us by SIGTERM."""
    while os.read(sys.stdin.fileno(), 1 << 16):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
