"""The student's process: imports a file of the submission and calls its functions on request.

Everything here runs beside student code and can be tampered with by it; the worker believes none of it.
"""

from __future__ import annotations

import _sitebuiltins
import builtins
import importlib
import mmap
import os
import runpy
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, NoReturn

from . import landlock, linux, python_text, seccomp, standins
from .protocol import CallRequest, Calls, Reply
from .questions import Questions
from .wire import Decoder, Encoder, TooLarge

TEXT = 4000
_SINGLE = (int, float, complex, str, bytes)
"""Types of which equal values are alike: nobody sees whether one took another's place."""
_HIDDEN_FRAMES = ("observer/", "standins/", "python_text.py")
"""Files of ours whose frames between a student's function and its caller no traceback shows."""


def prepare(order: dict[str, Any], outputs: int, folders: Sequence[str]) -> None:
    """Give up every right and take on the limits; nothing of the student has run yet.

    `folders` hold the files, the course's own first: a submission replaces no file of the course.
    """
    limits = order["limits"]
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (outputs, 1), (outputs, 2)):
        os.dup2(source, target)
    os.close(null)
    linux.set_limits(
        data_bytes=(limits["memory_mb"] + limits["reserve_mb"]) * 2**20,
        processes=limits["user_processes"],
        file_bytes=limits["file_mb"] * 2**20,
        open_files=limits["open_files"],
        cpu_s=limits["cpu_s"],
    )
    if order["uid"] is not None:
        linux.become(order["uid"])
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    # after a change of uid a process may not look at itself; this one holds no secret
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    for folder in folders:
        os.chdir(folder)
        os.listdir()
    sys.path[:0] = folders
    sys.argv = [""]
    python_text.check_imported_text()
    for name in ("exit", "quit"):  # `site` defines them, which the interpreter of a check does not import
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    paths = order["paths"]
    if paths is not None and landlock.abi():
        read, write = [*folders, *paths["read"]], [os.environ["HOME"], *paths["write"]]
        landlock.restrict(read=read, write=write)
    seccomp.refuse_calls(network=order["namespaced"], pinned=bool(order["cores"]))


def serve(calls: Calls, shared_buffer: mmap.mmap, order: dict[str, Any], folders: Sequence[str]) -> NoReturn:
    """Answer requests until the worker has no more; never returns."""
    arguments_bytes = order["arguments_bytes"]
    whole = memoryview(shared_buffer)
    arguments, results = whole[:arguments_bytes], whole[arguments_bytes:]
    questions = Questions(calls)
    student = _Student(folders, questions, devices=bool(order["devices"]))
    while True:
        request = CallRequest.read(calls.recv())
        if request is None:
            os._exit(0)
        questions.nonce = request.nonce
        decoder = Decoder(arguments, views=True)
        reply = student.answer(decoder.open(request.start, request.length), decoder)
        questions.end()
        try:
            encoder = Encoder(results)
            start, length = encoder.close(reply(encoder))
        except TooLarge:
            encoder = Encoder(results)
            start, length = encoder.close({"refused": "too_large"})
        calls.send(Reply(request.nonce, start, length).pack())


def _observer(questions: Questions, *, devices: bool, whole: bool) -> Any:
    """Return the observer of every call of a program that has devices, or a stand-in for them; or None.

    It is the same in every child, so that no program can tell by it whether a call is timed; `whole` is only
    asked for in children in which nothing is timed.
    """
    observer = sys.modules.get(f"{__package__}.observer")
    if observer is None:
        return None
    if (player := standins.active_player) is not None:
        observed = whole or player.observes_every_call
        return observer.PlayedObserver(questions.launch, player) if observed else None
    return observer.Observer(questions.launch, whole=whole) if devices or whole else None


Answer = Callable[[Encoder], dict[str, Any]]
"""Encodes the result of a request, after all that ran for it."""


class _Student:
    """Student's module, with a method per request."""

    def __init__(self, folders: Sequence[str], questions: Questions, *, devices: bool) -> None:
        """Let the program use devices if `devices` says that it may."""
        self._folders = folders
        self._questions = questions
        self._devices = devices
        self._synchronise: Callable[[], None] = lambda: None
        if devices:  # what still runs on a device when a function returns belongs to its time
            from .cuda_driver import synchronise

            self._synchronise = synchronise
        self._whole = False
        self._observer: Any = None
        self._module: ModuleType | None = None
        self._last: Any = None

    def answer(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Carry out a request."""
        requests = {
            "import": self.load,
            "call": self.call,
            "again": self.again,
            "records": self.records,
            "run": self.run,
            "tool": self.tool,
        }
        try:
            return requests[document["do"]](document, decoder)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are the student's too
            raised = _describe(error, self._folders)
            return lambda encoder: {"raised": raised}
        finally:
            _flush()

    def load(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Import a file of the submission, with an observer beside it if there are devices."""
        del decoder
        self._whole = document["observed"]
        self._observer = _observer(self._questions, devices=self._devices, whole=self._whole)
        self._module = importlib.import_module(document["module"])
        return lambda encoder: {"value": None}

    def call(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Call a function of the imported module."""
        function = getattr(self._module, document["function"], None)
        if not callable(function):
            names = [n for n, v in vars(self._module).items() if callable(v) and not n.startswith("_")]
            within = [
                n
                for n, v in vars(self._module).items()
                if isinstance(v, type) and document["function"] in vars(v)
            ]
            kind = "" if function is None else type(function).__name__
            hints = {"names": names[:50], "within": within[:1], "type": kind}
            return lambda encoder: {"refused": "no_function", **hints}
        args, kwargs = self._arguments(document, decoder)
        before = [_outline(v) for v in (*args, *kwargs.values())]
        more = {}
        if standins.active_player is not None:
            standins.active_player.next_call()
        if self._observer is None:
            value = function(*args, **kwargs)
            self._synchronise()
        elif self._whole:
            value, more["trace"] = self._observer.watch(
                lambda: function(*args, **kwargs), (*args, *kwargs.values())
            )
        else:
            value = self._observer.call(lambda: function(*args, **kwargs), (*args, *kwargs.values()))
        self._last = value
        after = [_outline(v) for v in (*args, *kwargs.values())]
        changed = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if not _same(a, b)]
        return lambda encoder: {"value": encoder.encode(value), "changed": changed, **more}

    def again(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Return the last result once more: the worker times what a call costs beside the function itself."""
        self._arguments(document, decoder)
        self._synchronise()
        return lambda encoder: {"value": encoder.encode(self._last)}

    def records(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Return the observer's records of the calls since the last time."""
        del document, decoder
        records = [] if self._observer is None else self._observer.records()
        return lambda encoder: {"value": None, "traces": records}

    def _arguments(self, document: dict[str, Any], decoder: Decoder) -> tuple[list[Any], dict[str, Any]]:
        def argument(plain: Any) -> Any:
            return self._questions.function(plain) or decoder.decode(plain)

        return list(map(argument, document["args"])), {k: argument(v) for k, v in document["kwargs"].items()}

    def run(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Run a file as a program, in a copy of the submission that it may write to."""
        del decoder
        folder = f"{tempfile.gettempdir()}/run"
        for source in reversed(self._folders):
            shutil.copytree(source, folder, dirs_exist_ok=True)
        os.chdir(folder)
        sys.argv = [document["script"], *document["argv"]]
        with open(document["script"], "rb") as script:
            python_text.check_text(script.read(), document["script"])
        try:
            runpy.run_path(document["script"], run_name="__main__")
        except SystemExit as error:
            status = error.code if type(error.code) is int else int(error.code is not None)
            return lambda encoder: {"value": status}
        return lambda encoder: {"value": 0}

    def tool(self, document: dict[str, Any], decoder: Decoder) -> Answer:
        """Run a tool of ours over the files, which are data to it: nothing is imported from among them."""
        sys.path[:] = [path for path in sys.path if path not in self._folders]
        tool = sys.modules[f"{__package__}.tools.{document['tool']}"]
        value = tool.main(*map(decoder.decode, document["args"]))
        return lambda encoder: {"value": encoder.encode(value)}


def _outline(value: Any) -> Any:
    """Copy the containers of an argument, and the form of its arrays, whose bytes the worker compares."""
    if type(value) in (list, tuple):
        return [_outline(v) for v in value]
    if type(value) is dict:
        return {k: _outline(v) for k, v in value.items()}
    if type(value).__name__ == "ndarray" and hasattr(value, "strides"):
        return value, value.shape, value.strides, value.dtype, value.flags.writeable
    return value


def _same(a: Any, b: Any) -> bool:
    if type(a) is list and type(b) is list:
        return len(a) == len(b) and all(map(_same, a, b))
    if type(a) is dict and type(b) is dict:
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    if type(a) is tuple and type(b) is tuple:  # of arrays: `_outline` leaves no others
        return a[0] is b[0] and a[1:] == b[1:]
    return a is b or (type(a) is type(b) and type(a) in _SINGLE and a == b)


def _describe(error: BaseException, folders: Sequence[str]) -> dict[str, str]:
    """Describe an exception with the frames of the student's files only; `folders` hold those."""
    frames = traceback.extract_tb(error.__traceback__)
    beside = ("<frozen", __file__, *(f"{os.path.dirname(__file__)}/{name}" for name in _HIDDEN_FRAMES))
    student_frames = [f for f in frames if not f.filename.startswith(beside)]
    trace = traceback.format_list(student_frames)
    try:
        text = str(error)
        if isinstance(error, SyntaxError):
            text = _syntax_error(error, folders)
            trace += traceback.format_exception_only(error)
        elif isinstance(error, SystemExit) and error.code is None:
            text = ""
    except Exception:  # an exception of the student's may refuse to be text
        text = ""
    return {
        "place": _place(frames, folders),
        "type": type(error).__name__[:200],
        "text": text[:TEXT],
        "traceback": "".join(trace)[-TEXT:],
    }


def _place(frames: traceback.StackSummary, folders: Sequence[str]) -> str:
    """Return `file:line` of the deepest frame in a file of the submission or the course; or nothing."""
    for frame in reversed(frames):
        for folder in folders:
            if frame.filename.startswith(f"{folder}/"):
                return f"{frame.filename.removeprefix(f'{folder}/')}:{frame.lineno}"[:200]
    return ""


def _syntax_error(error: SyntaxError, folders: Sequence[str]) -> str:
    """Return `file:line: message`; without a line the name of the exception and its text."""
    file, line, message = error.filename, error.lineno, error.msg
    if not file or not line:
        return f"{type(error).__name__}: {error}"
    for folder in folders:
        file = file.removeprefix(f"{folder}/")
    return f"{file}:{line}: {message}"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the student may have closed or replaced it
            stream.flush()
    linux.flush_standard_output()
