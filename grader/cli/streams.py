"""Standard output and error that survive write errors: work goes on, and the exit code reports it."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from types import FrameType
from typing import Any, TextIO

from grader.coursecode import PACKAGE
from grader.errors import ExitCode, worst

OUTPUT, ERRORS = 1, 2
_CLOSED = "it is closed"


class _Descriptor(io.FileIO):
    """A file that discards output after a write has failed."""

    failure: OSError | None = None
    """The first write error; nothing is written after it, because a reader would miss a part."""

    def write(self, data: Any) -> int:
        """Write, or discard after an error."""
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


class Streams:
    """Standard output and error of this process, in place of Python's own."""

    def __init__(self) -> None:
        """Replace both streams, unless they are replaced already; closed ones lead to /dev/null.

        Their descriptors must stay in use: otherwise messages of libraries would end up in a file of results.
        """
        while (
            number := os.open(os.devnull, os.O_RDONLY)
        ) <= ERRORS:  # what is written there fails, as before
            os.set_inheritable(number, True)
        os.close(number)
        self._output: _Descriptor | None = None
        if sys.stdout is sys.__stdout__:
            self._output = _Descriptor(OUTPUT, "w", closefd=False)
            sys.stdout = _text(self._output, sys.stdout, kind=_CommandOutput)
        if sys.stderr is sys.__stderr__:
            sys.stderr = _text(_Descriptor(ERRORS, "w", closefd=False), sys.stderr, line_buffering=True)

    def exit_code(self, code: int) -> int:
        """Return the exit code of a command with that code; print an output error, if there was one."""
        sys.stdout.flush()
        failure = self._output and self._output.failure
        if not failure:
            return code
        if failure.errno == errno.EPIPE:  # who reads has seen enough: as if SIGPIPE had ended us
            return code or 128 + signal.SIGPIPE
        why = _CLOSED if failure.errno == errno.EBADF else failure.strerror
        advice = "files are complete, the printed text is not; send it elsewhere"
        sys.stderr.write(f"grader: standard output: cannot be written ({why}); {advice}\n")
        return worst([ExitCode(code), ExitCode.NOT_OBSERVED]) if code in set(ExitCode) else code


class _CommandOutput(io.TextIOWrapper):
    """Standard output, to which only commands write: what files of a course print goes to standard error."""

    def write(self, text: str) -> int:
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - who writes decides where it goes
        while frame is not None:
            if str(frame.f_globals.get("__name__", "")).startswith(f"{PACKAGE}."):
                return sys.stderr.write(text)
            frame = frame.f_back
        return super().write(text)


def _text(
    descriptor: _Descriptor,
    like: TextIO | None,
    *,
    line_buffering: bool = False,
    kind: type[io.TextIOWrapper] = io.TextIOWrapper,
) -> io.TextIOWrapper:
    """Wrap a descriptor as text, with the encoding of another stream; other characters are escaped."""
    return kind(
        io.BufferedWriter(descriptor),
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=line_buffering or descriptor.isatty(),
        write_through=bool(getattr(like, "write_through", False)),
    )
