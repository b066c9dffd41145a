"""`python -m grader.worker JOB OUTBOX`: all that an engine has to start.

With the number of the process that starts it, it gets ready and then receives both from its standard input,
a Unix socket, as a JSON list on a line, for one job after the other; after each it logs its status. Over the
same socket the lease of a GPU comes and goes that two jobs share: the descriptors of its locks.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader.subject import linux

if TYPE_CHECKING:
    from grader.machine.lease import Lease
    from grader.worker.server_cache import ServerCache

STOP_WITHIN_S = 60
"""Seconds after which the kernel ends a worker that was to end, or whose host has ended."""
ORPHANS_WITHIN_S = 10.0
"""Seconds to wait for processes whose parents have ended, before they are killed."""
_LOCKS = 16
"""More descriptors than a lease has."""
_BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Where NumPy's libraries look, once, when they are loaded."""


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
    # What we compute beside programs is small, and threads of BLAS spin while they wait for one another: on
    # cores that others use that takes minutes. Programs of students get numbers of their own.
    for name in _BLAS_THREADS:
        os.environ.setdefault(name, "1")
    host = None
    if len(sys.argv) == 2:
        host = _host()
        threading.Thread(target=_end_with_host, args=(host.fileno(),), daemon=True).start()

    from grader.machine import orphans
    from grader.machine.memory import reuse_freed_memory
    from grader.machine.time_limit import end_process

    end_process(sys.stderr.fileno())
    orphans.adopt()
    reuse_freed_memory()
    try:
        return _serve(host)
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


def _host() -> socket.socket:
    """Take the socket to our host away from standard input, which no process that we start shall inherit."""
    host = socket.socket(fileno=os.dup(0))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return host


def _end_with_host(host: int) -> None:
    """Wait until our host has ended, which closes its end of the socket, and end then.

    The signal that tells of its end (PR_SET_PDEATHSIG) waits while a library computes in the main thread.
    """
    end = select.poll()
    end.register(host, 0)  # nothing but POLLHUP
    end.poll()
    signal.alarm(STOP_WITHIN_S)


def _serve(host: socket.socket | None) -> int:
    from grader.model.job import DONE
    from grader.worker.server_cache import ServerCache

    try:
        with closing(ServerCache()) as cache:
            if host is None:
                return _run(sys.argv[1], sys.argv[2], cache)
            for line, descriptors in _received(host):
                job, outbox = json.loads(line)
                status = _run(job, outbox, cache, host, descriptors)
                sys.stderr.flush()
                print(f"{DONE}{status}", flush=True)  # noqa: T201
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        return 130
    return 0


def _received(host: socket.socket) -> Iterator[tuple[bytes, list[int]]]:
    """Yield each line that comes, with the descriptors that came with it."""
    line, descriptors = b"", []
    while True:
        content, more, _, _ = socket.recv_fds(host, 1 << 16, _LOCKS, socket.MSG_CMSG_CLOEXEC)
        if not content:
            return
        line += content
        descriptors += more
        if line.endswith(b"\n"):  # the next one comes only when this job is done
            yield line, descriptors
            line, descriptors = b"", []


def _run(
    job: str,
    outbox: str,
    cache: ServerCache,
    host: socket.socket | None = None,
    descriptors: Sequence[int] = (),
) -> int:
    from grader.errors import GraderError
    from grader.machine.lease import Lease
    from grader.worker.run import run

    share = partial(_share, host) if host else None
    with Lease.received(descriptors) if descriptors else nullcontext():
        try:
            run(Path(job), Path(outbox), cache, share)
        except GraderError as error:
            sys.stderr.write(f"{error}\n")
            return int(error.exit_code)
    return 0


def _share(host: socket.socket, lease: Lease, uuid: str) -> None:
    """Send a lease to our host, for another worker."""
    from grader.model.job import GRANTS

    socket.send_fds(host, [b"lease"], lease.share())
    print(f"{GRANTS}{uuid}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
