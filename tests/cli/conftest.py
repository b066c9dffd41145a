"""A tiny real course, and `grader` at work on it: in this process, or as the installed program."""

from __future__ import annotations

import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from grader.cli.main import main
from grader.coursecode import PACKAGE
from grader.machine import orphans
from grader.sandbox.bubblewrap import BubblewrapSandbox
from tests.forked_workers import WORKERS

GRADER = str(Path(sys.executable).with_name("grader"))
WITHIN_S = 600
HANDLED = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
RIGHT = """
    def double(x): return 2 * x
    def square(x): return x * x
    def mark():
        import os, time
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
    def stay():
        import time
        time.sleep(3600)
"""

COURSE = {
    "course.yaml": "title: A tiny course\n",
    "assignments/tiny/assignment.py": """
        from grader.api import Assignment, Limits, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="tiny", title="Tiny", accepts=("work.py", "more.py"),
                               limits=Limits(import_wall_s=20.0, call_wall_s=60.0))]

        @hookimpl
        def grader_checks():
            from .checks import Breaks, KillsOnce, Waits
            return [Breaks, KillsOnce, Waits]
    """,
    "assignments/tiny/inputs.py": """
        from grader.api import case

        def numbers(rng):
            yield case("a number", int(rng.integers(3, 100)))
            yield case("zero", 0)
    """,
    "assignments/tiny/expected.py": """
        def double(x): return x + x
        def square(x): return x**2
    """,
    "assignments/tiny/reference/work.py": RIGHT,
    "assignments/tiny/checks.py": """
        import os
        import signal
        from dataclasses import dataclass
        from pathlib import Path

        from grader.contracts.check import CheckKind
        from grader.model.observation import Observation, Outcome
        from grader.model.options import option
        from grader.model.score import Award

        class _Kind(CheckKind):
            @dataclass(frozen=True, slots=True, kw_only=True)
            class Options:
                path: str = option("A file outside.", default="")

            def observe(self, options, context):
                self.act(options, context)
                return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

            def award(self, options, observation, related):
                return Award(fraction=1.0, reason="it was looked at")

        class Breaks(_Kind):
            name = "breaks"

            def act(self, options, context):
                raise ZeroDivisionError("nobody thought of this")

        class KillsOnce(_Kind):
            name = "kills_once"

            def act(self, options, context):
                if Path(options.path).exists():
                    Path(options.path).unlink()
                    os.kill(os.getpid(), signal.SIGKILL)

        class Waits(_Kind):
            name = "waits"

            def act(self, options, context):
                from grader.contracts.call import InputCase

                nothing = InputCase(name="nothing", args=())
                with context.subject("work") as subject:
                    subject.call("mark", nothing)
                    with open(options.path, "w") as told:
                        told.write("here")
                    subject.call("stay", nothing)
    """,
}

DOUBLE = {
    "id": "double",
    "title": "double doubles",
    "points": 1,
    "check": "matches_reference",
    "of": "work.double",
    "inputs": "numbers",
}
SQUARE = DOUBLE | {"id": "square", "title": "square squares", "points": 2, "of": "work.square"}


def run_in_process(
    command: list[str], environment: Mapping[str, str], cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Call the console script's function with the environment, folder and streams of a new process."""
    handlers = {number: signal.getsignal(number) for number in HANDLED}
    with ExitStack() as process:
        for number, handler in handlers.items():
            process.callback(signal.signal, number, handler)
        process.enter_context(patch.dict(os.environ, environment, clear=True))
        process.callback(sys.modules.update, forget_course_code())  # other tests may go on with theirs
        process.callback(forget_course_code)
        process.enter_context(patch.object(tempfile, "tempdir", None))
        process.enter_context(patch.object(sys, "argv", command))
        process.enter_context(patch.object(sys, "dont_write_bytecode", False))  # as without PYTHON… variables
        process.enter_context(chdir(cwd))
        process.enter_context(WORKERS.in_use())
        stdout, stderr, _ = process.enter_context(CliRunner().isolation())
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        printed = (stream.getvalue().decode().replace("\r\n", "\n") for stream in (stdout, stderr))
        return subprocess.CompletedProcess(command, int(ended.value.code or 0), *printed)


def forget_course_code() -> dict[str, ModuleType]:
    """Take the modules of any course out of those that were imported; what was taken out."""
    names = [name for name in sys.modules if f"{name}.".startswith(f"{PACKAGE}.")]
    return {name: sys.modules.pop(name) for name in names}


class CourseFolder:
    """The course's files, submissions for it, and what `grader` says of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "course"
        self.out = folder / "results"
        self.submissions_folder = folder / "submissions"
        self.cwd = folder / "elsewhere"
        self.tmp = folder / "tmp"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TMPDIR": str(self.tmp),
            "GRADER_COURSE": str(self.folder),
            "GRADER_LEASES": os.environ["GRADER_LEASES"],
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        }
        for place in (self.submissions_folder, self.cwd, self.tmp, folder / "home"):
            place.mkdir()
        for name, text in COURSE.items():
            self.write(name, text)
        self.rubric(DOUBLE, SQUARE)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def rubric(self, *items: Mapping[str, Any], **keys: Any) -> None:
        points = sum(item["points"] for item in items)
        whole = {"schema": 1, "assignment": "tiny", "points": points, **keys, "items": items}
        self.write("rubrics/tiny.yaml", json.dumps(whole))  # JSON is YAML, too

    def sandbox(self, where: str, kind: str, body: str = "pass") -> None:
        """Have the course bring a sandbox that is tried first: like an existing one, but for `body`."""
        self.write(
            "assignments/zz_sandbox/assignment.py",
            f"""
            from grader.api import hookimpl

            @hookimpl
            def grader_sandboxes():
                from grader.sandbox.{where} import {kind}

                class Chosen({kind}):
                    name = "chosen"
                    strength = 99
                    {body}

                return [Chosen]
            """,
        )

    def submit(self, student: str = "ann", code: str = RIGHT, *, name: str = "work.py") -> str:
        archive = self.submissions_folder / f"{student}.tar.gz"
        content = dedent(code).encode()
        member = tarfile.TarInfo(name)
        member.size = len(content)
        with tarfile.open(archive, "w:gz") as file:
            file.addfile(member, io.BytesIO(content))
        return str(archive)

    def command(self, *arguments: str) -> list[str]:
        return [GRADER, *arguments, *(("--out", str(self.out)) if arguments[0] == "run" else ())]

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this process, which saves starting Python and importing for each.

        What only an interpreter that starts looks at, such as PYTHONPATH, gets one.
        """
        if any(name.startswith("PYTHON") for name in environment):
            return self.installed(*arguments, **environment)
        return run_in_process(self.command(*arguments), self.environment | environment, self.cwd)

    def run_once(self, kept: Path, *arguments: str) -> None:
        """Run it, or take over what it left when another test of the module ran it on the same files.

        `kept` is a folder of the module's; it need not exist yet.
        """
        places = {"results": self.out, "submissions": self.submissions_folder, "elsewhere": self.cwd}
        if not kept.exists():
            done = self.run(*arguments)
            assert done.returncode == 0
            assert "grader: " not in done.stderr, "a remark, beside the sums"
            for name, place in places.items():
                shutil.copytree(place, kept / name)
        for name, place in places.items():
            shutil.copytree(kept / name, place, dirs_exist_ok=True)

    def installed(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command in a process of its own, as a person does."""
        return subprocess.run(
            self.command(*arguments),
            env=self.environment | environment,
            cwd=self.cwd,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )

    @contextmanager
    def start(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Begin, in a session of its own as a terminal would have it; a test that fails ends it."""
        with orphans.start(  # or a command in this process would take it for one that fell to it
            self.command(*arguments),
            env=self.environment | environment,
            cwd=self.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise

    def results(self, student: str = "ann") -> Path:
        return self.out / "tiny" / student

    def records(self, student: str = "ann") -> list[dict[str, Any]]:
        lines = (self.results(student) / "evidence.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def observed(self, student: str = "ann") -> list[str]:
        """The items of all records of an observation, in their order."""
        return [r["observation"]["item"] for r in self.records(student) if r["record"] == "observation"]

    def points(self, student: str = "ann") -> dict[str, float]:
        card = json.loads((self.results(student) / "score.json").read_text())
        return {item["id"]: item["points"] for item in card["items"]}


@pytest.fixture(scope="session")
def new_course() -> type[CourseFolder]:
    """For those who need one for many tests."""
    return CourseFolder


@pytest.fixture
def course(tmp_path: Path) -> CourseFolder:
    return CourseFolder(tmp_path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what the first test of a module has graded, so that the others need not."""
    return tmp_path_factory.mktemp("kept") / "graded"


class Signal:
    """A named pipe through which a check says that it is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self.end = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def wait(self) -> None:
        assert select.select([self.end], [], [], WITHIN_S)[0], "the check was never reached"
        os.read(self.end, len("here"))  # two may have come


@pytest.fixture
def signal_pipe(tmp_path: Path) -> Iterator[Signal]:
    pipe = Signal(tmp_path / "signal")
    yield pipe
    os.close(pipe.end)


@pytest.fixture
def bubblewrap() -> None:
    """Skips what is about bubblewrap where there is none."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)


@pytest.fixture
def no_bubblewrap(tmp_path: Path) -> dict[str, str]:
    """An environment in which only the weakest sandbox is there."""
    empty = tmp_path / "no_programs"
    empty.mkdir()
    return {"PATH": str(empty)}


@pytest.fixture(scope="session")
def course_folder() -> type[CourseFolder]:
    """The class, for courses that several tests share."""
    return CourseFolder
