"""`python -m grader.examiner JOB OUTBOX`: all that an executor has to start.

Without arguments it gets ready and then reads both from its standard input, a line each.
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
    if len(sys.argv) not in {1, 3}:
        sys.stderr.write("usage: python -m grader.examiner [JOB OUTBOX]\n")
        return 2
    # whoever started us reads our records: without them we must not go on and hold devices
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return 1
    # one way to stop, however we are told; not SystemExit, which files of a course may raise
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    from grader.errors import GraderError
    from grader.examiner.exam import run

    try:
        job, outbox = sys.argv[1:] or (sys.stdin.readline().rstrip("\n"), sys.stdin.readline().rstrip("\n"))
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
