"""Lay the course's files over a submission, run its build command, and return the products."""

from __future__ import annotations

import errno
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from numpy import frombuffer, uint8

from ..usage_watch import ToolLimit
from .cuda_renames import RENAMED
from .diagnostics import SOURCES, TELLING, TEXT, Reader
from .source import PYTHON_2

LINE_BYTES = 4000
LINES = 100_000
"""How many lines of output are parsed."""
LOOK_EVERY_S = 0.05
PYTHON_BYTES = 2**20
SOURCE_BYTES = 2**22
MOST_SILENCED = 20
_SILENCING = re.compile(
    rb"^[ \t]{0,80}#[ \t]{0,80}pragma[ \t]{1,80}"
    rb"(?:(?:GCC|clang)[ \t]{1,80}(?:diagnostic[ \t]{1,80}ignored|system_header)|(?:nv_)?diag_suppress)"
    rb"|_Pragma[ \t]{0,80}\([ \t]{0,80}\"(?:GCC|clang)[ \t]{1,80}diagnostic[ \t]{1,80}ignored"
)
COMPARED_BYTES = 2**22
MADE = (".a", ".cubin", ".d", ".dll", ".dylib", ".exe", ".fatbin", ".lib", ".o", ".obj", ".ptx", ".so")
"""What is handed in of these is left out: make would take an object that is there for a fresh one."""
NOT_MADE = "was not made"
"""What is said of a product that is not there."""
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""


def main(order: dict[str, Any]) -> dict[str, Any]:
    """Build the submission of the present folder in a copy.

    `order` has `given` (the folder of the course's files, or empty), `command`, `products` (paths),
    `within_s`, `output_bytes`, `product_bytes` (of all of them), `compatibility` (whether nvcc is to read
    a header first that defines `RENAMED`), `before`, texts that are put in front of files, by path, and
    `without`, files that are left out.

    The answer has `status` (None if it did not end in time), `output`, `counts`, `diagnostics` and `kernels`
    as `Reader` says, diagnostics with their line of "source", `python_2` (the submission's own files that
    were written for it, each with "file", "line", "message"), `silenced` (places, `file:line`, of the
    submission's own that have a compiler not warn), `replaced` (files that are the course's, and that were
    handed in with other content), `products` (bytes by path) and `lacking` (why some could not be
    taken, by path).
    """
    folder = os.path.join(os.path.realpath(tempfile.gettempdir()), "build")
    submitted = lay(os.getcwd(), order["given"], folder)
    for path in order["without"]:
        os.unlink(os.path.join(folder, path))
        submitted.remove(path)
    for path, text in order["before"].items():
        with suppress(OSError):  # a folder of that name, for example: nothing is compiled there
            _put_before(os.path.join(folder, path), text)
    replaced = _replaced(os.getcwd(), order["given"])
    python_2 = [problem for file in submitted if (problem := _python_2(folder, file))]
    silenced = [place for file in submitted for place in _silenced(folder, file)][:MOST_SILENCED]
    reader = Reader(folder, set(files_below(order["given"])) if order["given"] else ())
    transcript = Transcript(order["output_bytes"], reader)
    environment = _environment(order["compatibility"])
    status = _run(order["command"], folder, environment, order["within_s"], transcript)
    products: dict[str, Any] = {}
    lacking: dict[str, str] = {}
    left = order["product_bytes"]
    for path in order["products"] if status == 0 else ():
        try:
            products[path] = frombuffer(_take(folder, path, left), uint8)
            left -= len(products[path])
        except (OSError, ValueError) as error:
            lacking[path] = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            if str(error) == NOT_MADE and "a.out" not in submitted and "a.out" in os.listdir(folder):
                lacking[path] += f" (a.out was, as by a compiler without -o {path})"
    return {
        "status": status,
        "output": transcript.text().replace(f"{folder}/", ""),
        "counts": reader.counts,
        "diagnostics": [
            {**diagnostic, "source": _source(folder, diagnostic)} for diagnostic in reader.diagnostics
        ],
        "kernels": _demangled(reader.kernels),
        "python_2": python_2,
        "silenced": silenced,
        "replaced": replaced,
        "products": products,
        "lacking": lacking,
    }


def lay(submission: str, course_folder: str, folder: str) -> list[str]:
    """Copy the submission and lay the course's files over it; which files are the submission's own.

    The course's Makefile is the one that make finds, whatever others were handed in.
    """
    course = set(files_below(course_folder)) if course_folder else set()
    submitted = submitted_files(submission, course_folder)
    for source, paths in ((submission, submitted), (course_folder, sorted(course))):
        for path in paths:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(source, path), target)
    os.makedirs(folder, exist_ok=True)
    return submitted


def submitted_files(submission: str, course_folder: str) -> list[str]:
    """List the files of a submission that are built: no products, and none that the course has as well."""
    course = set(files_below(course_folder)) if course_folder else set()
    makefiles = {os.path.dirname(path) for path in course if os.path.basename(path) in _MAKEFILES}
    return [
        path
        for path in files_below(submission)
        if path not in course
        and not path.endswith(MADE)
        and not (os.path.dirname(path) in makefiles and os.path.basename(path) in _MAKEFILES)
    ]


def _put_before(file: str, text: str) -> None:
    """Put a text in front of a file's own, or into a new file."""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    content = b""
    if os.path.exists(file):
        with open(file, "rb") as source:
            content = source.read()
    with open(file, "wb") as target:
        target.write(text.encode() + content)


def _replaced(submission: str, course_folder: str) -> list[str]:
    """List files of the submission that differ from the course's, which take their place."""
    both = set(files_below(submission)) & set(files_below(course_folder)) if course_folder else set()
    return sorted(
        path
        for path in both
        if _text(os.path.join(submission, path)) != _text(os.path.join(course_folder, path))
    )


def _text(path: str) -> bytes:
    """Return the content of a file, whatever its lines end with."""
    with open(path, "rb") as file:
        return file.read(COMPARED_BYTES).replace(b"\r\n", b"\n").rstrip()


def files_below(folder: str) -> Iterator[str]:
    """Yield the files of a folder, by paths relative to it."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = os.path.join(parent, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield os.path.relpath(path, folder)


def _environment(compatibility: bool) -> dict[str, str]:
    """Return variables from which nvcc takes options, whatever starts it: no Makefile need pass them on."""
    more = {"NVCC_APPEND_FLAGS": "-Xptxas=-v"}
    if compatibility:
        header = os.path.join(os.path.realpath(tempfile.gettempdir()), "renamed.h")
        with open(header, "w", encoding="utf-8") as file:
            file.writelines(f"#define {old} {new}\n" for old, new in RENAMED.items())
        more["NVCC_PREPEND_FLAGS"] = f"-include={header}"
    return {**os.environ, **more}


class Transcript:
    """Output of a program, read line by line; head and tail of all but ptxas statistics are kept."""

    def __init__(self, keep_bytes: int, reader: Reader) -> None:
        self._half = keep_bytes // 2
        self._head = b""
        self._tail = b""
        self._bytes = 0
        self._read = 0
        self._line = b""
        self._reader = reader

    def add(self, data: bytes) -> None:
        """Add the next piece."""
        whole, newline, rest = (self._line + data).rpartition(b"\n")
        self._line = rest[:LINE_BYTES]
        self._take(whole + newline)

    def text(self) -> str:
        """Return head and tail, and how much is missing between them; nothing may be added any more."""
        self._take(self._line)
        missing = self._bytes - len(self._head) - len(self._tail)
        gap = f"\n… {missing} bytes left out …\n".encode() if missing else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")

    def _take(self, lines: bytes) -> None:
        if not TELLING.search(lines) or self._read > LINES:  # of endless output only so much is parsed
            self._keep(lines)
            return
        for line in lines.splitlines(keepends=True):
            self._read += 1
            if not self._reader.read(line[:LINE_BYTES].decode("utf-8", "replace").rstrip()):
                self._keep(line)

    def _keep(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]
        self._bytes += len(data)


def _run(
    command: Sequence[str],
    folder: str,
    environment: dict[str, str],
    within_s: float,
    transcript: Transcript,
) -> int | None:
    """Run the command to its end, or end it and all it started in time."""
    limit = ToolLimit(within_s)
    source, sink = os.pipe()
    with open(source, "rb", buffering=0) as printed:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno == errno.ENOMEM:
                raise MemoryError from error
            transcript.add(f"sh: 1: {command[0]}: not found ({error.strerror})\n".encode())
            return 127
        finally:
            os.close(sink)
        while not limit.is_over():
            ended = process.poll() is not None
            if select.select([printed], [], [], 0 if ended else LOOK_EVERY_S)[0]:
                if not (data := printed.read(2**16)):
                    break
                transcript.add(data)
            elif ended:  # something that it left behind still holds the pipe
                break
        while process.poll() is None and not limit.is_over():
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_EVERY_S)
        ended = process.returncode is not None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode if ended else None


def _take(folder: str, path: str, at_most: int) -> bytes:
    """Read a product; a link, or what is no file, is not followed out of the folder."""
    where = os.path.join(folder, path)
    if not os.path.lexists(where):
        raise ValueError(NOT_MADE)
    if os.path.realpath(where) != os.path.normpath(where):
        raise ValueError("is a link")
    if not stat.S_ISREG(os.lstat(where).st_mode):
        raise ValueError("is no file")
    with open(where, "rb") as file:
        content = file.read(at_most + 1)
    if len(content) > at_most:
        raise ValueError("is too large")
    return content


def _source(folder: str, diagnostic: dict[str, Any]) -> str:
    """Return the line that a diagnostic is about, as nvcc shows it expanded; empty outside of the folder."""
    if not diagnostic["line"] or os.path.isabs(diagnostic["file"]):
        return ""
    try:
        with open(os.path.join(folder, diagnostic["file"]), "rb") as file:
            line = next(islice(file, diagnostic["line"] - 1, None), b"")
    except OSError:
        return ""
    return line.decode("utf-8", "replace").strip()[:TEXT]


def _demangled(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the kernels under the names that their source has, without parameters."""
    names = "\n".join(kernel["kernel"] for kernel in kernels)
    if not names or shutil.which("c++filt") is None:
        return kernels
    filtered = subprocess.run(["c++filt", "-p"], input=names, capture_output=True, text=True, check=False)
    plain = filtered.stdout.splitlines()
    if len(plain) != len(kernels):
        return kernels
    return [{**kernel, "kernel": name} for kernel, name in zip(kernels, plain, strict=True)]


def _silenced(folder: str, file: str) -> Iterator[str]:
    """Yield where a source of C, C++ or CUDA has its compiler leave warnings out."""
    if not file.endswith(SOURCES):
        return
    with open(os.path.join(folder, file), "rb") as source:
        for number, line in enumerate(source.read(SOURCE_BYTES).splitlines(), start=1):
            if _SILENCING.search(line):
                yield f"{file}:{number}"


def _python_2(folder: str, file: str) -> dict[str, Any] | None:
    """Return where a file shows that it was written for Python 2; None if it does not."""
    import ast

    if not file.endswith(".py"):
        return None
    with open(os.path.join(folder, file), "rb") as source:
        content = source.read(PYTHON_BYTES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except SyntaxError as error:
        if any(hint in error.msg for hint in PYTHON_2):
            message = re.sub(r"\. (?:Did|Perhaps).*", "", error.msg)
            return {"file": file, "line": error.lineno or 0, "message": message}
    except (ValueError, RecursionError, MemoryError):
        pass
    return None
