"""Standard output and error: work goes on where nobody can be told of it, and the exit code says so."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import Any, TextIO

from grader.errors import ExitCode, worst

OUTPUT, ERRORS = 1, 2
_CLOSED = "it is closed"


class _Descriptor(io.FileIO):
    """An open file that takes whatever is written, also when it cannot be written any more."""

    failure: OSError | None = None
    """Why the first write failed; after it nothing more is written: whoever reads on would miss a part."""

    def write(self, data: Any) -> int:
        """Write, or act as if."""
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


class Streams:
    """Standard output and error of this process, in place of Python's own."""

    def __init__(self) -> None:
        """Take them over, unless somebody else has; those that are closed are replaced by a dead end.

        Nothing else may get their numbers: what a library complains of would end in a file of results.
        """
        while (
            number := os.open(os.devnull, os.O_RDONLY)
        ) <= ERRORS:  # what is written there fails, as before
            os.set_inheritable(number, True)
        os.close(number)
        self._output: _Descriptor | None = None
        if sys.stdout is sys.__stdout__:
            self._output = _Descriptor(OUTPUT, "w", closefd=False)
            sys.stdout = _text(self._output, sys.stdout)
        if sys.stderr is sys.__stderr__:
            sys.stderr = _text(_Descriptor(ERRORS, "w", closefd=False), sys.stderr, line_buffering=True)

    def exit_code(self, code: int) -> int:
        """The code to end with, for a command that came to this one; says what is wrong with the output."""
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


def _text(descriptor: _Descriptor, like: TextIO | None, *, line_buffering: bool = False) -> io.TextIOWrapper:
    """A stream of text with the encoding of another one; what has no character there is spelled."""
    return io.TextIOWrapper(
        io.BufferedWriter(descriptor),
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=line_buffering or descriptor.isatty(),
        write_through=bool(getattr(like, "write_through", False)),
    )
