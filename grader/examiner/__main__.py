"""`python -m grader.examiner JOB OUTBOX`: all that an executor has to start.

With the number of the process that starts it, it gets ready and then reads both from its standard input, a
line each.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Run the job; 0 once every item has a record, whatever it says."""
    if len(sys.argv) not in {2, 3}:
        sys.stderr.write("usage: python -m grader.examiner (JOB OUTBOX | PID)\n")
        return 2
    # whoever started us reads our records: without them we must not go on and hold devices
    parent = os.getppid() if len(sys.argv) == 3 else int(sys.argv[1])  # it may be gone before we look
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return 1
    # one way to stop, however we are told; not SystemExit, which files of a course may raise
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    from grader.errors import GraderError
    from grader.examiner.exam import run

    try:
        lines = sys.argv[1:] if len(sys.argv) == 3 else (sys.stdin.readline() for _ in range(2))
        job, outbox = (line.rstrip("\n") for line in lines)
        if not outbox:  # whoever started us had no job after all
            return 0
        run(Path(job), Path(outbox))
    except GraderError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
