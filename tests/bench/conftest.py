"""Real subject servers, in every layer that this machine has, and a way to write a hand-in."""

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from grader.bench.child import Child
from grader.bench.server import SubjectServer
from grader.bench.setup import Setup
from grader.bench.subject import ChildSubject
from grader.model.assignment import Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.landlock import LandlockSandbox
from grader.sandbox.namespaces import NamespacesSandbox
from grader.sandbox.process import ProcessSandbox

LAYERS = (BubblewrapSandbox, NamespacesSandbox, LandlockSandbox, ProcessSandbox)

LIMITS = Limits(call_wall_s=5.0, import_wall_s=10.0)


def start(sandbox, workspace: Path, limits: Limits = LIMITS) -> SubjectServer:
    server = SubjectServer(
        sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=Setup(preloads=("numpy", "numpy.random")),
        workspaces={"submission": workspace},
        limits=limits,
        as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
    )
    server.ready()
    return server


class Classroom:
    """One layer of isolation, one workspace; hand-ins are written into it and called."""

    def __init__(self, sandbox, workspace: Path) -> None:
        workspace.chmod(0o755)
        self.sandbox = sandbox
        self.workspace = workspace
        self._servers: list[SubjectServer] = []

    def server(self, limits: Limits = LIMITS) -> SubjectServer:
        self._servers.append(start(self.sandbox, self.workspace, limits))
        return self._servers[-1]

    def hand_in(self, code: str, limits: Limits = LIMITS, cores: tuple[int, ...] = ()) -> ChildSubject:
        (self.workspace / "work.py").write_text(dedent(code))
        server = self._servers[0] if self._servers and self.sandbox.namespaced else self.server(limits)
        return ChildSubject(Child(server, "submission", limits, cores=cores), "work", limits)

    def close(self) -> None:
        for server in self._servers:
            server.close()


@pytest.fixture
def bubblewrap() -> None:
    """Skips what is about bubblewrap where there is none."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)


@pytest.fixture
def classroom(bubblewrap, tmp_path: Path) -> Iterator[Classroom]:
    """The strong layer."""
    room = Classroom(BubblewrapSandbox(), tmp_path)
    yield room
    room.close()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(name): only the layers that make this promise")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`any_classroom` is each layer in turn; with `@pytest.mark.promise(…)`, each that makes this promise."""
    if "any_classroom" in metafunc.fixturenames:
        promises = {mark.args[0] for mark in metafunc.definition.iter_markers("promise")}
        layers = [layer for layer in LAYERS if promises <= layer.promises]
        metafunc.parametrize("any_classroom", layers, ids=lambda layer: layer.name, indirect=True)


@pytest.fixture
def any_classroom(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Classroom]:
    """One layer, of all that the test is about."""
    room = Classroom(request.param(), tmp_path)
    if missing := room.sandbox.available():
        pytest.skip(missing)
    yield room
    room.close()


HandIn = Callable[[str], ChildSubject]
