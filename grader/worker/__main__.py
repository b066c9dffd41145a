"""`python -m grader.worker JOB OUTBOX`: all that an engine has to start.

With the number of the process that starts it, it gets ready and then reads both from its standard input, as a
JSON list on a line, for one job after the other; after each it tells its status in a line of its log.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from grader.subject import linux

if TYPE_CHECKING:
    from grader.worker.server_cache import ServerCache

STOP_WITHIN_S = 60
"""How long after it was told to end, or its host has ended, the kernel ends a worker that still runs."""
ORPHANS_WITHIN_S = 10.0
"""How long we wait for processes whose parents have ended, before we kill them."""


def main() -> int:
    """Run the job; 0 once every item has a record, whatever it says."""
    if len(sys.argv) not in {2, 3}:
        sys.stderr.write("usage: python -m grader.worker (JOB OUTBOX | PID)\n")
        return 2
    # whoever started us reads our records: without them we must not go on and hold devices
    parent = os.getppid() if len(sys.argv) == 3 else int(sys.argv[1])  # it may be gone before we look
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return 1
    signal.signal(signal.SIGTERM, _stop)  # whoever ignored it before us: we must end with our host
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup, for example
        signal.signal(signal.SIGHUP, _stop)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if len(sys.argv) == 2:
        threading.Thread(target=_end_with_host, daemon=True).start()

    from grader.machine import orphans

    orphans.adopt()
    try:
        return _serve()
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # a second one must not cut this short
            signal.signal(number, signal.SIG_IGN)
        orphans.reap(ORPHANS_WITHIN_S)
        orphans.reap(ORPHANS_WITHIN_S, kill=True)
        gc.freeze()  # the interpreter would look for garbage among all objects while it ends


def _stop(number: int, frame: object) -> None:
    """Begin to end: one way, however we are told; not SystemExit, which files of a course may raise.

    An exception can be lost where it arises, in a callback for example, so the kernel ends us in any case.
    """
    signal.alarm(STOP_WITHIN_S)
    raise KeyboardInterrupt


def _end_with_host() -> None:
    """See to it that we end when our host has: its end of our standard input is closed then.

    The signal that tells of its end (PR_SET_PDEATHSIG) waits while a library computes in the main thread.
    """
    host = select.poll()
    host.register(0, 0)  # nothing but POLLHUP
    host.poll()
    signal.alarm(STOP_WITHIN_S)


def _serve() -> int:
    from grader.model.job import DONE
    from grader.worker.server_cache import ServerCache

    try:
        with closing(ServerCache()) as kept:
            if len(sys.argv) == 3:
                return _examined(sys.argv[1], sys.argv[2], kept)
            for line in sys.stdin:
                job, outbox = json.loads(line)
                status = _examined(job, outbox, kept)
                sys.stderr.flush()
                print(f"{DONE}{status}", flush=True)  # noqa: T201
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        return 130
    return 0


def _examined(job: str, outbox: str, kept: ServerCache) -> int:
    from grader.errors import GraderError
    from grader.worker.exam import run

    try:
        run(Path(job), Path(outbox), kept)
    except GraderError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
